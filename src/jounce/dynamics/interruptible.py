"""Ctrl-C during what NumPy computes: between two looks for signals at most a tenth of a second of processor time.

Python looks between two calls. One call of LAPACK for a large matrix goes on for seconds without a look, so another
thread makes it, while this one waits and looks. And what is computed for many states at once is computed for some of
them at a time.
"""

from __future__ import annotations

import contextvars
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
T = TypeVar("T")
STATES = 2000  # of a robot of 12 coordinates: any call for them takes less than a tenth of a second
_USUAL = 12
_LARGE = 150  # rows of a matrix from which on waiting on another thread is worth its start
_LOOK = 0.02  # s


def interruptible(call: Callable[[Array], T], matrix: Array) -> T:
    """What a call of LAPACK gives for a matrix. After Ctrl-C it goes on for nobody until it is done, then ends.

    >>> float(interruptible(np.linalg.eigvalsh, np.diag(np.full(200, 2.0))).max())
    2.0
    """
    return call(matrix) if min(matrix.shape[-2:]) < _LARGE else aside(lambda: call(matrix))


def aside(call: Callable[[], T]) -> T:
    """What a call gives that may take long without a look: another thread makes it, while the main one looks."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    found: list[Any] = []
    done, context = threading.Event(), contextvars.copy_context()

    def run() -> None:
        try:
            found.append((context.run(call), None))
        except BaseException as fault:
            found.append((None, fault))
        done.set()

    threading.Thread(target=run, daemon=True).start()
    while not done.wait(_LOOK):
        pass
    result, fault = found[0]
    if fault is not None:
        raise fault
    return result  # type: ignore[no-any-return]


def eigenvalues(matrix: NDArray[Any]) -> NDArray[Any]:
    """Of a square matrix.

    NumPy lets no other thread run while it makes one with up to 500 rows, which may take a second, unless there are
    several: so another one, of zeros, which takes no time, comes along.
    """
    if len(matrix) < _LARGE:
        return np.linalg.eigvals(matrix)
    return interruptible(lambda pair: np.linalg.eigvals(pair)[0], np.stack([matrix, np.zeros_like(matrix)]))


class States:
    """The states of a call, some at a time.

    Args:
        size: coordinates of the robot, whose cube is what a state costs.
        given: arguments of the call by name, arrays or mappings of arrays, and how many dimensions those of one state
            have. If they do not fit together there is only one piece, so that the call itself says so.
    """

    def __init__(self, size: int, **given: tuple[Any, int]) -> None:
        self._given = given
        self._most = max(1, int(STATES * min(1.0, (_USUAL / max(size, 1)) ** 3)))
        self.lead: tuple[int, ...] = ()
        try:
            shapes = {np.shape(x)[: np.ndim(x) - n] for value, n in given.values() for x in _arrays(value)} - {()}
            if shapes:  # a single state has none, and no time for more
                self.lead = np.broadcast_shapes(*shapes)
        except (ValueError, TypeError, RuntimeError):  # NumPy raises the last for more dimensions than it broadcasts
            pass
        self._count = math.prod(self.lead)

    @property
    def many(self) -> bool:
        """Whether there is more than one piece."""
        return self._count > self._most

    def pieces(self) -> Iterator[tuple[slice, dict[str, Any]]]:
        """Where each piece is among the states, in a row, and the arguments for it."""
        flat = {
            name: {key: self._flat(x, n) for key, x in value.items()}
            if isinstance(value, Mapping)
            else self._flat(value, n)
            for name, (value, n) in self._given.items()
            if value is not None
        }
        for first in range(0, self._count, self._most):
            some = slice(first, min(first + self._most, self._count))
            yield (
                some,
                {
                    name: {key: x[some] for key, x in value.items()} if isinstance(value, dict) else value[some]
                    for name, value in flat.items()
                },
            )

    def _flat(self, x: Any, dimensions: int) -> NDArray[Any]:
        array = np.asarray(x)
        own = array.shape[array.ndim - dimensions :]
        return np.broadcast_to(array, (*self.lead, *own)).reshape(-1, *own)


def _arrays(value: Any) -> Sequence[Any]:
    return () if value is None else list(value.values()) if isinstance(value, Mapping) else [value]


class Gathered:
    """Results of pieces, put together as they come."""

    def __init__(self, lead: Sequence[int]) -> None:
        self._lead, self._arrays = tuple(lead), dict[str, NDArray[Any]]()
        self._named: Sequence[str] = ()

    def put(self, some: slice, mapping: Mapping[str, NDArray[Any]] | None = None, **results: NDArray[Any]) -> None:
        """The results for some states, one of which may be a mapping."""
        self._named = tuple(mapping or ())
        for name, result in (results | {f" {key}": x for key, x in (mapping or {}).items()}).items():
            if name not in self._arrays:
                self._arrays[name] = np.empty((math.prod(self._lead), *result.shape[1:]), dtype=result.dtype)
            self._arrays[name][some] = result

    @property
    def mapping(self) -> dict[str, NDArray[Any]]:
        """The mapping among the results."""
        return {key: self[f" {key}"] for key in self._named}

    def __getitem__(self, name: str) -> NDArray[Any]:
        array = self._arrays[name]
        return array.reshape(*self._lead, *array.shape[1:])
