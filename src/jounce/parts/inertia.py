"""The mass properties of a rigid body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, flag, frozen


@dataclass(frozen=True, init=False, eq=False)
class Inertia:
    """Mass, centre of mass and rotational inertia of a rigid body.

    Args:
        mass: kg, not negative.
        com: (3,) centre of mass in the body frame, m.
        rotational: (3, 3) inertia matrix about the centre of mass in body axes, kg m^2, or its (3,) diagonal.
            A point mass when left out.
        physical: whether an inertia that no real body has (a negative principal moment, one that exceeds the sum of
            the other two, moments without mass) raises a ``ValueError``. Model files contain such inertias; the
            equations accept them unless a matrix becomes singular.

    >>> rod = Inertia(2.0, com=(0, 0, 0.5), rotational=(1 / 6, 1 / 6, 0.0))
    >>> rod.mass
    2.0
    """

    mass: float
    com: NDArray[np.float64]
    rotational: NDArray[np.float64]

    def __init__(
        self,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        rotational: ArrayLike | None = None,
        *,
        physical: bool = True,
    ) -> None:
        value = float(array_of("mass", mass, ()))
        if value < 0:
            raise ValueError(f"mass is {value}, expected a non-negative number")
        moments = np.zeros((3, 3)) if rotational is None else array_of("rotational", rotational, (3, 3), (3,))
        if moments.ndim == 1:
            moments = np.diag(moments)
        _check_symmetric(moments)
        if flag("physical", physical) and (fault := _fault(value, moments)):
            raise ValueError(f"rotational {fault}")
        object.__setattr__(self, "mass", value)
        object.__setattr__(self, "com", frozen(array_of("com", com, (3,))))
        object.__setattr__(self, "rotational", frozen(moments / 2 + moments.T / 2))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unchecked, (self.mass, self.com, self.rotational)

    @property
    def is_zero(self) -> bool:
        """Whether mass and rotational inertia are both zero."""
        return self.mass == 0 and not self.rotational.any()

    @property
    def fault(self) -> str | None:
        """Why no real body has this inertia; None if one could."""
        return _fault(self.mass, self.rotational)


def _unchecked(mass: float, com: ArrayLike, rotational: ArrayLike) -> Inertia:
    return Inertia(mass, com, rotational, physical=False)


def _check_symmetric(moments: NDArray[np.float64]) -> None:
    if float(np.abs(moments - moments.T).max()) > 1e-6 * float(np.abs(moments).max()):
        raise ValueError(f"rotational is not symmetric: {moments.tolist()}")


def _fault(mass: float, moments: NDArray[np.float64]) -> str | None:
    scale = float(np.abs(moments).max())
    if scale == 0:
        return None
    if mass == 0:
        return "is not zero although mass is: no body has that"
    principal = np.linalg.eigvalsh(moments / scale / 2 + moments.T / scale / 2)  # scaled, so that no sum overflows
    if principal[0] < -1e-9:
        return f"has a negative principal moment: {_tidy(scale * principal)}"
    if principal[2] > (principal[0] + principal[1]) * (1 + 1e-6) + 1e-12:
        return (
            f"has principal moments {_tidy(scale * principal)}: the largest exceeds the sum of the others, "
            "which no body of positive density has"
        )
    return None


def _tidy(numbers: NDArray[np.floating]) -> str:
    return ", ".join(f"{x:.3g}" for x in numbers)
