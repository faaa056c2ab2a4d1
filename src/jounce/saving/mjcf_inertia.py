"""Inertias that MuJoCo's compiler accepts, with the same dynamics.

It refuses moving bodies without mass or with a moment of zero, up to 1e-15 kg and kg m^2, and any moments that no body
can have: negative ones, or one larger than the others together. The former get that much. The latter are common for
small parts that are fixed to others, so what moves as one gets its whole inertia in one place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jounce.core_tables import BodyRecord, moments
from jounce.parts.inertia import Inertia
from jounce.parts.pose import quaternions
from jounce.saving.document import Element, add, number, numbers
from jounce.saving.left_out import LeftOut

Array = NDArray[np.float64]
_LEAST = 1e-15  # mjMINVAL
_ROUNDING = 1e-12  # relative; MuJoCo itself allows none
_NOTHING = Inertia(0.0)


def inertias(bodies: Sequence[BodyRecord], left_out: LeftOut) -> list[Inertia]:
    """What to write for each body."""
    carrier, pose = _carriers(bodies)
    found = [body.inertia for body in bodies]
    for i in sorted({carrier[k] for k, inertia in enumerate(found) if not _accepted(inertia)}):
        parts = [k for k in range(len(bodies)) if carrier[k] == i]
        if i < 0:  # of no effect
            parts = [k for k in parts if not _accepted(found[k])]
            whole = _NOTHING
        else:
            whole = _together([moments(bodies[k].inertia, pose[k]) for k in parts])
        for k in parts:
            found[k] = _NOTHING
        if i >= 0:
            found[i] = whole
        if not _accepted(whole):
            left_out.refuse("moments of inertia that no body has, of", bodies[i].name)
    for i, body in enumerate(bodies):
        if body.moves and not any(_enough(found[k]) for k in range(len(bodies)) if carrier[k] == i):
            found[i] = _at_least(found[i])
    return found


def add_inertial(element: Element, inertia: Inertia) -> None:
    """An <inertial>: moments along their principal axes, which MuJoCo takes as they are."""
    if inertia.is_zero:
        return
    said = {"pos": numbers(inertia.com), "mass": number(inertia.mass)}
    principal, axes = _principal(inertia)
    if (axes != np.eye(3)).any():
        said["quat"] = numbers(quaternions(axes))
    add(element, "inertial", said | {"diaginertia": numbers(principal)})


def _carriers(bodies: Sequence[BodyRecord]) -> tuple[list[int], list[Array]]:
    """The moving body that each is part of, -1 for the world, and its pose there."""
    carrier: list[int] = []
    pose: list[Array] = []
    for i, body in enumerate(bodies):
        if body.moves:
            carrier.append(i)
            pose.append(np.eye(4))
        else:
            carrier.append(carrier[body.parent] if body.parent >= 0 else -1)
            pose.append(pose[body.parent] @ body.placement if body.parent >= 0 else body.placement)
    return carrier, pose


def _together(parts: list[tuple[float, Array, Array]]) -> Inertia:
    """The inertia of several parts, given by their mass, first and second moment."""
    mass = sum(m for m, _, _ in parts)
    first, second = sum(h for _, h, _ in parts), sum(s for _, _, s in parts)
    com = first / mass if mass > 0 else np.zeros(3)
    about_com = second - mass * np.outer(com, com)
    return Inertia(mass, com, np.trace(about_com) * np.eye(3) - about_com, physical=False)


def _principal(inertia: Inertia) -> tuple[Array, Array]:
    """The principal moments, and their axes as columns: those of the body where the matrix is diagonal."""
    matrix = inertia.rotational
    if (matrix == np.diag(np.diag(matrix))).all():
        return _rounded(np.diag(matrix)), np.eye(3)
    values, axes = np.linalg.eigh(matrix)
    return _rounded(values), axes if np.linalg.det(axes) > 0 else axes * (1.0, 1.0, -1.0)


def _rounded(principal: Array) -> Array:
    """With the largest no more than the others together, if only rounding makes it so."""
    values = np.array(principal)
    largest = int(np.argmax(values))
    excess = 2 * values[largest] - values.sum()
    if excess > 0 and excess <= _ROUNDING * values[largest]:
        values[[k for k in range(3) if k != largest]] += excess
    return values


def _accepted(inertia: Inertia) -> bool:
    """Whether a body could have the moments."""
    principal, _ = _principal(inertia)
    return bool(principal.min() >= 0 and 2 * principal.max() <= principal.sum())


def _enough(inertia: Inertia) -> bool:
    return bool(inertia.mass >= _LEAST and _principal(inertia)[0].min() >= _LEAST)


def _at_least(inertia: Inertia) -> Inertia:
    """With the least mass and moments of a moving body."""
    principal, axes = _principal(inertia)
    if principal.min() < _LEAST:
        principal = principal + _LEAST
    return Inertia(max(inertia.mass, _LEAST), inertia.com, axes @ np.diag(principal) @ axes.T, physical=False)
