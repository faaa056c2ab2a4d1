"""Twists and wrenches in the order of other texts: angular part first."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import flag, reals


def angular_first(x: ArrayLike, *, matrix: bool = False) -> NDArray[np.float64]:
    """Twists from [linear; angular] to [angular; linear], wrenches from [force; moment] to [moment; force], and back.

    jounce, Pinocchio and paper B have the linear part first, papers A and C, Featherstone and Drake the angular part.

    Args:
        x: (..., 6); with `matrix`, (..., 6, 6), such as an inertia, of which rows and columns are exchanged. Of a
            Jacobian (6, nv) take ``angular_first(J.T).T``.
        matrix: whether the last two axes are exchanged, or only the last one.

    >>> import jounce as jn
    >>> jn.angular_first([1, 2, 3, 0.1, 0.2, 0.3])
    array([0.1, 0.2, 0.3, 1. , 2. , 3. ])
    """
    given, both = reals("x", x), flag("matrix", matrix)
    expected = (6, 6) if both else (6,)
    if given.shape[-len(expected) :] != expected:
        raise ValueError(f"x has shape {given.shape}, expected (..., {', '.join(map(str, expected))})")
    return np.roll(given, 3, axis=(-2, -1) if both else -1)
