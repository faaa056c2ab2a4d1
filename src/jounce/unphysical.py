"""Bodies whose inertia no real body has: model files, published parameters and identification give such."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jounce.core_tables import BodyRecord, moments
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed


def unphysical(bodies: Sequence[BodyRecord]) -> list[str]:
    """The moving bodies whose inertia, together with all that is fixed to them, no real body has.

    Alone, such an inertia does no harm if it is negligible in the body it is fixed to, and files are full of such
    placeholders.
    """
    suspects = [i for i, b in enumerate(bodies) if b.inertia.fault]
    if not suspects:
        return []
    carrier: list[int] = []
    pose: list[NDArray[np.float64]] = []
    for i, b in enumerate(bodies):
        if not isinstance(b.joint, Fixed):
            carrier.append(i)
            pose.append(np.eye(4))
        else:
            carrier.append(carrier[b.parent] if b.parent >= 0 else -1)
            pose.append(pose[b.parent] @ b.placement if b.parent >= 0 else b.placement)
    doubtful = {carrier[i] for i in suspects}
    parts: dict[int, list[tuple[float, NDArray[np.float64], NDArray[np.float64]]]] = {}
    for i, b in enumerate(bodies):
        if carrier[i] >= 0 and carrier[i] in doubtful:
            parts.setdefault(carrier[i], []).append(moments(b.inertia, pose[i]))
    wholes = {bodies[i].name: _whole(found) for i, found in parts.items()}
    return [name for name, whole in wholes.items() if whole.fault and not _like_point(whole)]


def _whole(parts: list[tuple[float, NDArray[np.float64], NDArray[np.float64]]]) -> Inertia:
    mass = sum(m for m, _, _ in parts)
    first, second = sum(h for _, h, _ in parts), sum(s for _, _, s in parts)
    com = first / mass if mass > 0 else np.zeros(3)
    about_com = second - mass * np.outer(com, com)
    return Inertia(mass, com, np.trace(about_com) * np.eye(3) - about_com, physical=False)


def _like_point(inertia: Inertia) -> bool:
    """Whether it is a point mass up to rounding: within some 30 micrometres."""
    return float(np.abs(inertia.rotational).max()) < 1e-9 * inertia.mass
