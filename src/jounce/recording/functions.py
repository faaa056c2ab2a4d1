"""User-defined functions of coordinates: recorded (record.py), and checked in the range where they will be used.

They are called with numbers at a few points, recorded, and the recordings compared with the results; poses must be
poses and derivatives finite at some fifty points within the scale of the coordinates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce._checks import counted, is_masked, quoted
from jounce.recording.record import Expressions, Number, is_number, record

Array = NDArray[np.float64]


class Functions:
    """The functions of n coordinates that an object has as attributes; error messages start with `what`.

    They are tried at `places` (P, n), at most `scale` away from `middle`.
    """

    def __init__(self, what: str, source: Any, n: int, scale: Any, middle: Array | float = 0.0) -> None:
        self.what, self.source, self.n = what, source, n
        self.scale = self.numbers("scale", scale, (n,))
        self._q = middle + np.concatenate([np.zeros((1, n)), 0.3 * self.scale * _directions(n)])
        self.places = middle + _places(self.scale)

    def numbers(self, what: str, value: Any, shape: tuple[int, ...] | None = None) -> Array:
        try:
            given = np.asarray(None if is_masked(value) else value)
            if given.dtype == object and all(is_number(x) for x in given.flat):
                given = given.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            given = np.asarray(None)
        if given.dtype.kind not in "buif":
            raise ValueError(f"{self.what}{what} is {quoted(value)}, expected real numbers")
        with np.errstate(over="ignore"):
            numbers = given.astype(np.float64)
        if shape is not None and numbers.shape != shape:
            raise ValueError(f"{self.what}{what} has shape {numbers.shape}, expected {shape}")
        if not np.isfinite(numbers).all():
            raise ValueError(f"{self.what}{what} is {quoted(numbers.tolist())}, expected finite numbers")
        return numbers

    def called(self, key: str, *arguments: Array) -> Any:
        given = getattr(self.source, key)
        if not callable(given):
            raise ValueError(f"{self.what}{key} is {quoted(given)}, expected a function")
        try:
            return given(*(a.copy() for a in arguments))
        except IndexError as beyond:
            raise ValueError(
                f"{self.what}{key} does not take {counted(self.n, 'coordinate')}, which n says: {beyond}"
            ) from beyond

    def recorded(self, key: str, shape: tuple[int, ...], *, rates: bool = False) -> Expressions:
        """A function of the module, recorded; checks that it returns finite numbers that the recording reproduces."""
        arguments = "(q, v)" if rates else "(q)"
        places = [(q, q[::-1].copy()) if rates else (q,) for q in self._q]
        wanted = [self.numbers(f"{key}{arguments}", self.called(key, *place), shape) for place in places]
        try:
            tape, value = record(getattr(self.source, key), *([self.n] * (1 + rates)))
        except (TypeError, AttributeError) as unknown:
            crossed = "; np.cross of single vectors needs NumPy 2.3, and takes arrays (1, 3) before"
            hint = crossed if str(unknown).startswith("Cannot cast ufunc 'multiply'") else ""
            raise ValueError(f"{self.what}{key}{arguments} cannot be recorded: {unknown}{hint}") from unknown
        if value.shape != shape or not all(
            isinstance(x, (Number, int, float, np.integer, np.floating)) for x in value.flat
        ):
            raise ValueError(f"{self.what}{key}{arguments} has shape {value.shape}, expected {shape}")
        expressions = Expressions(tape, [x if isinstance(x, Number) else float(x) for x in value.flat])
        for place, numbers in zip(places, wanted, strict=True):
            again = expressions.values(np.concatenate(place)).reshape(shape)
            if not np.allclose(
                again, numbers, rtol=1e-9, atol=1e-12 * max(1.0, float(np.abs(numbers).max(initial=0.0)))
            ):
                raise ValueError(
                    f"{self.what}{key}{arguments} is not what was recorded of it: it must be a function of "
                    "its arguments alone, without branches"
                )
        self._check_finite(key, "value", expressions.values(self._tried(rates)), rates)
        return expressions

    def check_poses(self, pose: Expressions) -> None:
        poses = pose.values(self.places).reshape(-1, 4, 4)
        R = poses[:, :3, :3]
        off = np.abs(R @ R.swapaxes(1, 2) - np.eye(3)).max(axis=(1, 2))
        low = np.abs(poses[:, 3] - (0.0, 0.0, 0.0, 1.0)).max(axis=1)
        fine = (off <= 1e-8) & (low <= 1e-12) & (np.linalg.det(R) > 0)
        if not fine.all():
            first = int(np.argmin(fine))
            raise ValueError(
                f"{self.what}pose(q) at q = {self.places[first].tolist()} is {poses[first].tolist()}, "
                "expected a rotation and a translation, last row [0, 0, 0, 1]" + self._hint(first)
            )

    def check_smooth(self, key: str, slopes: Expressions, part: slice = slice(None)) -> None:
        """Checks that the derivatives of a function, and their rates along some direction, are finite."""
        rates = slopes.tape.inputs > self.n
        at = self._tried(rates)
        found = slopes.derivatives(np.stack([at, np.ones_like(at)], axis=1))[:, :, part]
        for row, what in enumerate(("gradient", "second derivative")):
            self._check_finite(key, what, found[:, row], rates)

    def _check_finite(self, key: str, what: str, found: Array, rates: bool) -> None:
        """Checks that the row of each point tried is finite."""
        fine = np.isfinite(found).all(axis=1)
        if fine.all():
            return
        first = int(np.argmin(fine))
        at = self._tried(rates)[first]
        where = f"q = {at[: self.n].tolist()}" + (f", v = {at[self.n :].tolist()}" if rates else "")
        raise ValueError(
            f"{self.what}{key}{'(q, v)' if rates else '(q)'} has no finite {what} at {where}, expected a "
            f"smooth function{self._hint(first)}"
        )

    def _tried(self, rates: bool) -> Array:
        """(P, n) points, or (P, 2 n) with velocities, which are zero at every other point, starting with the first."""
        moving = (np.arange(len(self.places)) % 2 == 1)[:, None]
        velocities = np.where(moving, self.places[::-1], 0.0)
        return np.concatenate([self.places, velocities], axis=1) if rates else self.places

    def _hint(self, place: int) -> str:
        """For a point other than the rest position, a reminder that the scale put it in range."""
        return f". Its scale, {self.scale.tolist()}, says how far q goes" if self.places[place].any() else ""


def moving_frame(pose: Expressions, n: int) -> list[Any]:
    """Position (3), rotation (9) and screws (n, 6), in its own axes, of a recorded pose (4, 4)."""
    whole = np.array(pose.outputs, dtype=object).reshape(4, 4)
    R, p = whole[:3, :3], whole[:3, 3]
    slopes = np.array(Expressions(pose.tape, list(whole[:3].ravel())).gradient(range(n)).outputs, dtype=object)
    slopes = slopes.reshape(3, 4, n)
    out: list[Any] = [*p, *R.ravel()]
    for c in range(n):
        turn = R.T @ slopes[:, :3, c]
        out += [*(R.T @ slopes[:, 3, c]), turn[2, 1], turn[0, 2], turn[1, 0]]
    return out


def _directions(n: int) -> Array:
    """Some shapes to try the functions at."""
    return np.random.default_rng(0).uniform(-1.0, 1.0, (3, n))


def _places(scale: Array) -> Array:
    """(P, n): at rest, along the first axes, and anywhere within the scale."""
    n = len(scale)
    axes = np.eye(n)[: min(n, 10)]
    anywhere = np.random.default_rng(1).uniform(-1.0, 1.0, (24, n))
    parts = np.concatenate([np.zeros((1, n)), 0.9 * axes, -0.9 * axes, 1e-3 * anywhere[:4], anywhere])
    return np.asarray(scale * parts + 0.0)  # no negative zeros
