"""How fast small changes of a motion grow, decay and oscillate: the eigenvalues of M dv' + D dv + K dq = 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.interruptible import eigenvalues

Array = NDArray[np.float64]


def rates(M: Array, D: Array, K: Array) -> NDArray[np.complex128]:
    """The eigenvalues (2 nv,) of the system, 1/s.

    Raises:
        LinAlgError: M is singular, or the numbers are not finite.
    """
    inverse, one = np.linalg.inv(M), np.eye(len(M))
    found: NDArray[np.complex128] = eigenvalues(np.block([[0 * one, one], [-inverse @ K, -inverse @ D]]))
    return found
