"""Results that are computed here are finite or an error, like those of the core (answers.cpp)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from jounce.errors import RangeError


@contextmanager
def finite_answers(what: str) -> Iterator[Callable[..., None]]:
    """Silences NumPy's warnings; returns a function that raises RangeError unless all results given to it are finite.

    >>> with finite_answers("the square") as expect_finite:
    ...     expect_finite(np.array([1e200]) ** 2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    jounce.errors.RangeError: the square has no answer in double precision: it is infinite, ...
    """

    def expect_finite(*results: NDArray[np.float64]) -> None:
        for x in results:
            if not np.isfinite(x).all():
                raise RangeError(
                    f"{what} has no answer in double precision: it is {'nan' if np.isnan(x).any() else 'infinite'}, "
                    "because intermediate results exceed 1e308; check the arguments, and the robot's masses, lengths "
                    "and functions, for very large or very small numbers"
                )

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        yield expect_finite
