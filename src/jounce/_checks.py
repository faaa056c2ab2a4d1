"""Checks of user input, with errors that name the argument, the value given and the value expected."""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from collections.abc import Iterable
from typing import Literal, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from jounce._elsewhere import FRAMES
from jounce._printable import printable as printable
from jounce.errors import BatchWarning, PrecisionWarning

Frame = Literal["body", "world", "mixed"]  # the axes of twists and wrenches


def quoted(value: object) -> str:
    """The value given, as a Python repr on one line, shortened to fit a message."""
    try:
        words = re.sub(r"\n\s*", " ", repr(value))
    except Exception:  # a repr that fails, or a number with thousands of digits
        words = a_class(value)
    return words if len(words) <= 300 else f"{words[:200]} ... {words[-50:]}"


def a_class(value: object) -> str:
    """The class of the value given, with its article.

    >>> a_class(3), a_class("three")
    ('an int', 'a str')
    """
    name = type(value).__name__
    return f"{'an' if name.startswith((*'aeioAEIO', 'nd')) else 'a'} {name}"


def counted(count: int, one: str, several: str | None = None) -> str:
    """A number of things.

    >>> counted(1, "row"), counted(2, "body", "bodies")
    ('1 row', '2 bodies')
    """
    return f"{count} {one if count == 1 else several or one + 's'}"


def is_masked(value: object) -> bool:
    """Whether it is a masked array; avoids importing numpy.ma, which is slow."""
    return isinstance(value, np.ndarray) and hasattr(value, "mask")


def _numbers(name: str, value: object, expected: str) -> NDArray[np.float64]:
    """`value` as float64, of any shape, finite or not."""
    if is_masked(value):
        raise ValueError(f"{name} is a masked array, expected one without a mask")
    try:
        given = np.asarray(value)
    except (ValueError, TypeError):  # ragged
        given = np.asarray(None)
    if given.dtype.kind not in "buif":
        raise ValueError(f"{name} must be {expected}, got {quoted(value)}")
    with np.errstate(over="ignore"):  # values beyond double precision become infinite
        found = given.astype(np.float64, copy=False)
    if given.dtype.char == "g" and given.dtype.itemsize > found.dtype.itemsize and np.isfinite(found).all():
        warn_of_long_double(name)
    return found


def warn_of_long_double(name: str) -> None:
    """Of numbers that are read with fewer digits than they have, also in the core."""
    words = f"{name} holds long doubles, which are read as doubles: answers have at most 16 digits"
    warnings.warn(words, PrecisionWarning, stacklevel=callers())


def warn_of_batch(words: str) -> None:
    """Of a stack that looks like one row for each state, for the core."""
    warnings.warn(words, BatchWarning, stacklevel=callers())


def expect_order(order: object, highest: int, given: str) -> None:
    """`order=` is the highest derivative in the result, or None; also for the core. `given` says what decides it."""
    if order is not None and not (is_whole(order) and order == highest):
        raise ValueError(f"order is {quoted(order)}, expected {highest}, the highest derivative in the result: {given}")


def callers() -> int:
    """The ``stacklevel`` of the first caller outside jounce, for a warning by the calling function."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "jounce":
        frame, level = frame.f_back, level + 1
    return level


def array_of(name: str, value: object, *shapes: tuple[int, ...]) -> NDArray[np.float64]:
    """`value` as a new float64 array of one of the shapes, with finite entries."""
    expected = " or ".join(map(str, shapes))
    given = _numbers(name, value, f"real numbers of shape {expected}")
    if given.shape not in shapes:
        raise ValueError(f"{name} has shape {given.shape}, expected {expected}")
    if not np.isfinite(given).all():
        raise ValueError(f"{name} is {quoted(given.tolist())}, expected finite numbers")
    return given.copy()


def reals(name: str, value: object) -> NDArray[np.float64]:
    """`value` as a float64 array of any shape."""
    return _numbers(name, value, "an array of real numbers")


def rows_of(name: str, value: object, size: int, symbol: str) -> NDArray[np.float64]:
    """`value` as a float64 array (..., size), with finite entries."""
    given = reals(name, value)
    if given.shape[-1:] != (size,):
        raise ValueError(f"{name} has shape {given.shape}, expected (..., {size}): this model has {symbol} = {size}")
    if not np.isfinite(given).all():
        raise ValueError(f"{name} contains nan or inf, expected finite numbers")
    return np.require(given, requirements=("C", "A"))  # sums over other layouts round differently


def dimensions(name: str, value: object) -> int:
    """The number of dimensions of an array; its contents are checked elsewhere."""
    if isinstance(value, np.ndarray):
        return value.ndim
    try:
        return np.asarray(value).ndim
    except (ValueError, TypeError):  # ragged
        raise ValueError(f"{name} must be an array of real numbers, got {quoted(value)}") from None


def batch_of(**given: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that batch dimensions, given by argument name, broadcast to."""
    try:
        return np.broadcast_shapes(*given.values())
    except (ValueError, RuntimeError):  # NumPy raises the latter for more than 32 dimensions
        words = ", ".join(f"{name} {shape}" for name, shape in given.items())
        raise ValueError(f"the batch dimensions do not broadcast: {words}") from None


def depth(value: object) -> int:
    """The number of dimensions of what should be an array; whether it is one is checked elsewhere."""
    try:
        return np.asarray(value).ndim
    except (ValueError, TypeError):  # ragged
        return 0


def whole(name: str, value: object, least: int, most: int) -> int:
    """An integer within bounds."""
    if not is_whole(value) or not least <= value <= most:
        raise ValueError(f"{name} is {quoted(value)}, expected {least} to {most}")
    return int(value)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a Python or NumPy integer; neither True nor a time difference counts as one."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))


def flag(name: str, value: object) -> bool:
    """True or False; 1 and 0 are accepted."""
    if not isinstance(value, (bool, np.bool_)) and not (is_whole(value) and value in (0, 1)):
        raise ValueError(f"{name} is {quoted(value)}, expected True or False")
    return bool(value)


def one_of(name: str, value: object, *choices: str) -> str:
    """One of the given words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {quoted(value)}, expected {' or '.join(map(repr, choices))}")
    return value


def axes(name: str, value: object) -> Frame:
    """The axes of twists and wrenches."""
    if not isinstance(value, str) or value not in ("body", "world", "mixed"):
        raise ValueError(not_axes(name, value))
    return cast(Frame, value)


def not_axes(name: str, value: object) -> str:
    """What to say of a value that is no `Frame`, also in the core: with our name, if it is that of another library.

    >>> not_axes("frame", "LOCAL_WORLD_ALIGNED")
    "frame is 'LOCAL_WORLD_ALIGNED', expected 'body', 'world' or 'mixed': that is 'mixed'"
    """
    given = quoted(value)
    word = (re.findall(r"\w+", given) or [""])[-1].lower()  # of an enumeration: pinocchio.ReferenceFrame.LOCAL
    ours = FRAMES.get(word, word)
    hint = f": that is {ours!r}" if ours in ("body", "world", "mixed") else ""
    return f"{name} is {given}, expected 'body', 'world' or 'mixed'{hint}"


def real(name: str, value: object) -> float:
    """A number, infinity allowed."""
    given = np.asarray(None)
    if not is_masked(value):
        with contextlib.suppress(ValueError, TypeError):  # ragged
            given = np.asarray(value)
    if given.shape != () or given.dtype.kind not in "buif" or np.isnan(given):
        raise ValueError(f"{name} is {quoted(value)}, expected a number")
    return float(given)


def generator(name: str, value: object) -> np.random.Generator:
    """A random generator, or one that starts from the given seed."""
    if is_whole(value) and value >= 0:
        return np.random.default_rng(int(value))
    if not all(callable(getattr(value, key, None)) for key in ("uniform", "normal")):
        raise ValueError(
            f"{name} is {quoted(value)}, expected a non-negative seed, or a generator such as "
            "numpy.random.default_rng(0)"
        )
    return value  # type: ignore[return-value]


def frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """A read-only copy that cannot be made writable again."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy.view()


def unit(name: str, value: object) -> NDArray[np.float64]:
    """A (3,) direction, normalised."""
    axis = array_of(name, value, (3,))
    largest = float(np.abs(axis).max())
    if largest < 1e-12:
        raise ValueError(f"{name} is {axis.tolist()}, expected a non-zero direction")
    axis /= largest
    return axis / np.linalg.norm(axis)


def pose(name: str, value: object) -> NDArray[np.float64]:
    """A (4, 4) rigid transformation; its rotation may be off by rounding, which is removed."""
    matrix = array_of(name, value, (4, 4))
    if np.abs(matrix[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-9:
        raise ValueError(f"{name} has last row {matrix[3].tolist()}, expected [0, 0, 0, 1]")
    rotation = matrix[:3, :3]
    off = np.abs(rotation @ rotation.T - np.eye(3)).max() if np.abs(rotation).max() < 2 else np.inf
    if off > 1e-6 or np.linalg.det(rotation) < 0:
        raise ValueError(f"{name} has an upper left block that is not a rotation: {rotation.tolist()}")
    u, _, vt = np.linalg.svd(rotation)
    matrix[:3, :3] = u @ vt
    return matrix


def text(name: str, value: object) -> str:
    """A non-empty string."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is {quoted(value)}, expected a non-empty string")
    return value


def shapes(of: object, *keys: str) -> str:
    """The class and the shapes of some of its arrays, for a one-line repr."""
    parts = ", ".join(f"{key} {np.shape(getattr(of, key))}" for key in keys)
    return f"<jounce.{type(of).__name__}: {parts}>"


def close(name: str, names: Iterable[str], alike: float = 0.5) -> list[str]:
    """Up to three of the names that are much like another one, at least to this part, the likeliest first."""
    import difflib  # on demand: few programs make mistakes

    return difflib.get_close_matches(name[:200], names, n=3, cutoff=alike)


def near(name: str, names: Iterable[str]) -> str:
    """A hint for an unknown name: close matches, or the first few names."""
    known = list(names)
    alike = close(name, known)
    if alike:
        return "did you mean " + " or ".join(map(repr, alike)) + "?"
    shown = ", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else "")
    return f"there are {shown}" if known else "there are none"
