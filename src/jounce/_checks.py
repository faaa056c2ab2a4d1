"""Checks of what a user gives, with errors that name it, what came and what was expected."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def array_of(name: str, value: object, *shapes: tuple[int, ...]) -> NDArray[np.float64]:
    """`value` as a float64 array of one of the shapes, with finite entries."""
    expected = " or ".join(map(str, shapes))
    try:
        given = np.asarray(value)
    except ValueError:  # ragged
        given = np.asarray(None)
    if given.dtype.kind not in "buif":
        raise ValueError(f"{name} must be real numbers of shape {expected}, got {value!r}")
    if given.shape not in shapes:
        raise ValueError(f"{name} has shape {given.shape}, expected {expected}")
    result = given.astype(np.float64)
    if not np.isfinite(result).all():
        raise ValueError(f"{name} is {result.tolist()}, expected finite numbers")
    return result


def reals(name: str, value: object) -> NDArray[np.float64]:
    """`value` as a float64 array of any shape."""
    try:
        given = np.asarray(value)
    except ValueError:  # ragged
        given = np.asarray(None)
    if given.dtype.kind not in "buif":
        raise ValueError(f"{name} must be an array of real numbers, got {value!r}")
    return given.astype(np.float64, copy=False)


def whole(name: str, value: object, least: int, most: int) -> int:
    """An integer within bounds."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{name} is {value!r}, expected {least} to {most}")
    return int(value)


def one_of(name: str, value: object, *choices: str) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {value!r}, expected {' or '.join(map(repr, choices))}")
    return value


def real(name: str, value: object) -> float:
    """A number, infinity allowed."""
    given = np.asarray(value)
    if given.shape != () or given.dtype.kind not in "buif" or np.isnan(given):
        raise ValueError(f"{name} is {value!r}, expected a number")
    return float(given)


def frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """A copy that cannot be written to, nor be made writable again."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy.view()


def unit(name: str, value: object) -> NDArray[np.float64]:
    """A (3,) direction, made unit length."""
    axis = array_of(name, value, (3,))
    largest = float(np.abs(axis).max())
    if largest < 1e-12:
        raise ValueError(f"{name} is {axis.tolist()}, expected a direction that is not zero")
    axis /= largest
    return axis / np.linalg.norm(axis)


def pose(name: str, value: object) -> NDArray[np.float64]:
    """A (4, 4) rigid transformation; its rotation may be off by rounding, which is removed."""
    matrix = array_of(name, value, (4, 4))
    if np.abs(matrix[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-9:
        raise ValueError(f"{name} has last row {matrix[3].tolist()}, expected [0, 0, 0, 1]")
    rotation = matrix[:3, :3]
    if np.abs(rotation @ rotation.T - np.eye(3)).max() > 1e-6 or np.linalg.det(rotation) < 0:
        raise ValueError(f"{name} has an upper left block that is not a rotation: {rotation.tolist()}")
    u, _, vt = np.linalg.svd(rotation)
    matrix[:3, :3] = u @ vt
    return matrix


def text(name: str, value: object) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is {value!r}, expected a text that is not empty")
    return value


def printable(words: str) -> str:
    r"""A text that stays on its line and moves no cursor: control characters of names as "\x1b".

    >>> printable("left\nfinger")
    'left\\nfinger'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in words)


def shapes(of: object, *keys: str) -> str:
    """The class and the shapes of some of its arrays, for a repr that fits on a line."""
    parts = ", ".join(f"{key} {np.shape(getattr(of, key))}" for key in keys)
    return f"<jounce.{type(of).__name__}: {parts}>"


def near(name: str, names: Iterable[str]) -> str:
    """A hint for an unknown name: the near matches, or the first few of all names."""
    known = list(names)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(map(repr, close)) + "?"
    shown = ", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else "")
    return f"there are {shown}" if known else "there are none"
