"""The mass properties of a rigid body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import array_of, frozen


@dataclass(frozen=True, init=False, eq=False)
class Inertia:
    """Mass, centre of mass and rotational inertia of a rigid body.

    Args:
        mass: kg, not negative.
        com: (3,) centre of mass in the body frame, m.
        rotational: (3, 3) inertia matrix about the centre of mass in body axes, kg m^2, or its (3,) diagonal.
            Left out, the body is a point mass.

    An inertia that no real body has (not symmetric, a negative principal moment, one that exceeds the sum of the
    other two) is a ``ValueError``.

    >>> rod = Inertia(2.0, com=(0, 0, 0.5), rotational=(1 / 6, 1 / 6, 0.0))
    >>> rod.mass
    2.0
    """

    mass: float
    com: NDArray[np.float64]
    rotational: NDArray[np.float64]

    def __init__(self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), rotational: ArrayLike | None = None) -> None:
        value = float(array_of("mass", mass, ()))
        if value < 0:
            raise ValueError(f"mass is {value}, expected a number that is not negative")
        moments = np.zeros((3, 3)) if rotational is None else array_of("rotational", rotational, (3, 3), (3,))
        if moments.ndim == 1:
            moments = np.diag(moments)
        _check_rotational(value, moments)
        object.__setattr__(self, "mass", value)
        object.__setattr__(self, "com", frozen(array_of("com", com, (3,))))
        object.__setattr__(self, "rotational", frozen((moments + moments.T) / 2))

    def __reduce__(self) -> tuple[Any, ...]:
        return Inertia, (self.mass, self.com, self.rotational)

    @property
    def is_zero(self) -> bool:
        """Whether there is no mass and no rotational inertia at all."""
        return self.mass == 0 and not self.rotational.any()


def _check_rotational(mass: float, moments: NDArray[np.float64]) -> None:
    scale = float(np.abs(moments).max())
    if scale == 0:
        return
    if mass == 0:
        raise ValueError("rotational is not zero although mass is: no body has that")
    if float(np.abs(moments - moments.T).max()) > 1e-6 * scale:
        raise ValueError(f"rotational is not symmetric: {moments.tolist()}")
    principal = np.linalg.eigvalsh((moments + moments.T) / 2)
    if principal[0] < -1e-9 * scale:
        raise ValueError(f"rotational has a negative principal moment: {principal.tolist()}")
    if principal[2] > (principal[0] + principal[1]) * (1 + 1e-6) + 1e-12 * scale:
        raise ValueError(
            f"rotational has principal moments {principal.tolist()}: the largest exceeds the sum of the others, "
            "which no body of positive density has"
        )
