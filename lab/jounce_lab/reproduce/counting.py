"""Numbers that count operations on them, and arrays that count them by shape: work without a clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Counted:
    """A number that counts additions, products, quotients and functions across all instances.

    >>> x = as_counted(np.ones(3))
    >>> operations(lambda: x @ x)
    5
    """

    __slots__ = ("value",)
    count = 0
    zeros_are_free = False  # whether sums with 0 and products with 0, 1 and -1 are left out

    def __init__(self, value: float) -> None:
        self.value = value

    def _with(self, other: Any, function: Callable[[float, float], float], free: tuple[float, ...] = ()) -> Counted:
        right = other.value if isinstance(other, Counted) else other
        Counted.count += not (Counted.zeros_are_free and (self.value in free or right in free))
        return Counted(function(self.value, right))

    def __add__(self, other: Any) -> Counted:
        return self._with(other, lambda a, b: a + b, (0.0,))

    def __sub__(self, other: Any) -> Counted:
        return self._with(other, lambda a, b: a - b, (0.0,))

    def __rsub__(self, other: Any) -> Counted:
        return self._with(other, lambda a, b: b - a, (0.0,))

    def __mul__(self, other: Any) -> Counted:
        return self._with(other, lambda a, b: a * b, (0.0, 1.0, -1.0))

    def __truediv__(self, other: Any) -> Counted:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Counted:
        return self._with(other, lambda a, b: b / a)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Counted:
        return Counted(-self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def sin(self) -> Counted:
        return self._with(0.0, lambda a, _: float(np.sin(a)))

    def cos(self) -> Counted:
        return self._with(0.0, lambda a, _: float(np.cos(a)))


def as_counted(x: Any) -> NDArray[Any]:
    """An array of `Counted`."""
    given = np.asarray(x, dtype=float)
    result = np.empty(given.shape, dtype=object)
    for at, value in np.ndenumerate(given):
        result[at] = Counted(float(value))
    return result


def values(x: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers of an array of `Counted`."""
    plain = [c.value if isinstance(c, Counted) else float(c) for c in np.ravel(x)]
    return np.array(plain).reshape(np.shape(x))


def operations(call: Callable[[], object], zeros: bool = True) -> int:
    """How many operations on `Counted` numbers a call takes; without `zeros`, those that a 0 or a 1 makes idle are not.

    >>> x = as_counted(np.eye(3))
    >>> operations(lambda: x @ x), operations(lambda: x @ x, zeros=False)
    (45, 0)
    """
    before, Counted.zeros_are_free = Counted.count, not zeros
    try:
        call()
    finally:
        Counted.zeros_are_free = False
    return Counted.count - before


class Tallied(np.ndarray):
    """An array of floats whose products with other arrays are counted: all of them, and those without a zero.

    >>> Tallied.reset()
    >>> x = np.eye(3).view(Tallied) @ np.ones((3, 3))
    >>> Tallied.dense, Tallied.sparse
    (45, 9)
    """

    dense = 0
    sparse = 0

    @staticmethod
    def reset() -> None:
        Tallied.dense = Tallied.sparse = 0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(x) for x in inputs]
        if "out" in options:
            options["out"] = tuple(np.asarray(x) for x in options["out"])
        result = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.matmul:
            a, b = np.atleast_2d(plain[0]), plain[1] if plain[1].ndim > 1 else plain[1][:, None]
            Tallied.dense += a.shape[0] * b.shape[1] * (2 * a.shape[1] - 1)
            products = (a != 0).astype(int) @ (b != 0).astype(int)
            Tallied.sparse += int(products.sum() + np.maximum(products - 1, 0).sum())
        elif ufunc in (np.add, np.subtract, np.multiply):
            Tallied.dense += np.size(result)
            Tallied.sparse += int(np.count_nonzero(result))
        return result.view(Tallied) if isinstance(result, np.ndarray) else result
