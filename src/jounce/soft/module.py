"""Soft bodies of your own, from the places of their points: everything else jounce derives.

A module says where its far end and its material points are, as functions of its coordinates. They are recorded once
(see record.py): the core gets the list of operations for the places and for their derivatives by q, and runs both
over Taylor series. Each point is a station of the carrier with three translations, dp/dq_c; the far end's body
Jacobian comes from its pose,

    v = R^T dp/dq_c,     [w] = R^T dR/dq_c.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import is_masked, quoted, whole
from ..units import labels
from .body import Mass, Sections, SoftBody, Station
from .record import Expressions, Number, Tape, is_number, record

Array = NDArray[np.float64]


class Module:
    """A soft body given by functions of its coordinates, which you write with NumPy; deriving from this is no must.

    It has

    * ``n``: how many coordinates;
    * ``pose(q)``: (4, 4) pose of its far end in its near end, for q (n,);
    * ``points(q)``: (P, 3) places of its material points in its near end, m;
    * ``masses``: (P,) of those points, kg;

    and where it wants

    * ``energy(q)``: elastic energy, J;
    * ``dissipation(q, v)``: Rayleigh's function, W: half the power that is lost; the damping force is its gradient by
      v;
    * ``inputs(q)``: (m,) what its inputs do work on: a volume for a pressure, minus a length for a tendon, the
      coordinate for a force; ``input_names`` names them;
    * ``scale``: (n,) how large its coordinates are in ordinary use, for random configurations; 0.1 when left out;
    * ``coordinate_names``, ``coordinate_units``: (n,) texts for its coordinates, for trajectories and plots; units are
      "m", "rad", "1", "1/m", or "?" where they are none of these.

    The functions may use arithmetic, ``@``, np.array, stack, sum, sin, cos, tan, exp, log, sqrt, arctan, sinh, cosh,
    tanh, powers and `jounce.soft.stumpff`. They are called when the robot is built, not afterwards, and may not
    branch on q. They must be smooth, and the pose a rotation and a translation, at least where each coordinate is
    within ``scale``: that is checked at some fifty places.

    >>> import jounce as jn
    >>> class Bellows(jn.soft.Module):  # a spring along z with its mass in five slices
    ...     n = 1
    ...     masses = np.full(5, 0.02)
    ...     def pose(self, q):
    ...         return np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1 + q[0]], [0, 0, 0, 1]])
    ...     def points(self, q):
    ...         return np.array([[0, 0, (0.1 + q[0]) * s] for s in (0.1, 0.3, 0.5, 0.7, 0.9)])
    ...     def energy(self, q):
    ...         return 50.0 * q[0] ** 2
    >>> b = jn.Builder()
    >>> b.add("bellows", parent="world", body=Bellows())
    >>> robot = b.build()
    >>> robot.mass_matrix([0.0]).round(6), robot.inverse_dynamics([0.01], [0.0], [0.0]).round(4)
    (array([[0.033]]), array([1.4905]))
    """

    n: int
    masses: ArrayLike
    input_names: tuple[str, ...] = ()

    def pose(self, q: Any) -> Any:
        """(4, 4) pose of the far end."""
        raise NotImplementedError(f"{type(self).__name__} has no pose(q)")

    def points(self, q: Any) -> Any:
        """(P, 3) places of the material points."""
        raise NotImplementedError(f"{type(self).__name__} has no points(q)")


def is_module(given: object) -> bool:
    """Whether an object has what a `Module` must have."""
    return all(hasattr(given, key) for key in ("n", "pose", "points", "masses"))


class ModuleBody(SoftBody):
    """A module as jounce uses it, its functions recorded and checked; `name` is for the errors."""

    length = 0.0

    def __init__(self, name: str, module: Any) -> None:
        self.name, self.module = name, module
        self.n = whole(f"body of {name!r}: n", module.n, 1, 1000)
        self.masses = self._numbers("masses", module.masses)
        with np.errstate(over="ignore"):
            total = self.masses.sum()
        if self.masses.ndim != 1 or (self.masses < 0).any() or not 0 < total < np.inf:
            raise ValueError(
                f"body of {name!r}: masses is {quoted(self.masses.tolist())}, expected (P,) numbers >= 0, some more"
            )
        self.stiffness = self.viscosity = np.zeros((self.n, self.n))
        names, units = getattr(module, "coordinate_names", ()), getattr(module, "coordinate_units", ())
        self.coordinate_names, self.coordinate_units = labels(f"body of {name!r}: coordinate_", names, units, self.n)
        self.scale = self._numbers("scale", getattr(module, "scale", np.full(self.n, 0.1)), (self.n,))
        self._q = np.concatenate([np.zeros((1, self.n)), 0.3 * self.scale * _directions(self.n)])
        self._places = _places(self.scale)
        self._check_poses(self._recorded("pose", (4, 4)))
        self._recorded("points", (len(self.masses), 3))
        width = 12 + 6 * self.n
        self._check_smooth("pose", self._stations, slice(0, width))
        self._check_smooth("points", self._stations, slice(width, None))
        self.input_names = ()
        self._inputs = None
        if hasattr(module, "inputs"):
            count = self._numbers("inputs(q)", self._called("inputs", self._q[0])).size
            self._inputs = self._recorded("inputs", (count,))
            names = getattr(module, "input_names", ())
            listed = isinstance(names, Sequence) and not isinstance(names, str) and all(names)
            if not listed or not all(isinstance(x, str) for x in names) or len(names) not in (0, count):
                raise ValueError(
                    f"body of {name!r}: input_names is {quoted(names)}, expected {count} names, one for each input"
                )
            self.input_names = tuple(names) or tuple(f"input {i + 1}" for i in range(count))
        self._energy = self._recorded("energy", ()) if hasattr(module, "energy") else None
        has_loss = hasattr(module, "dissipation")
        self._dissipation = self._recorded("dissipation", (), rates=True) if has_loss else None
        for key, given, by in (
            ("inputs", self._inputs, range(self.n)),
            ("energy", self._energy, range(self.n)),
            ("dissipation", self._dissipation, range(self.n, 2 * self.n)),
        ):
            if given is not None:
                self._check_smooth(key, given.gradient(by))

    def __reduce__(self) -> tuple[Any, ...]:
        return ModuleBody, (self.name, self.module)

    def __repr__(self) -> str:
        return f"{type(self.module).__name__}({self.n} coordinates)"

    def recorded_energy(self) -> Expressions | None:
        return self._energy

    def recorded_dissipation(self) -> Expressions | None:
        return self._dissipation

    def recorded_inputs(self) -> Expressions | None:
        return self._inputs

    def _sections(self, marks: tuple[float, ...]) -> Sections:
        masses = (Mass(), *(Mass(float(m)) for m in self.masses))
        return Sections((0,), stations=tuple(Station(m) for m in masses), recorded=self._stations)

    @cached_property
    def _stations(self) -> Expressions:
        """Position, rotation and Jacobian of the far end, then of each point."""
        n = self.n
        tape = Tape(n)
        q = np.array([Number(tape, i) for i in range(n)], dtype=object)
        pose = np.asarray(self.module.pose(q), dtype=object)
        points = np.asarray(self.module.points(q), dtype=object)
        R, p = pose[:3, :3], pose[:3, 3]
        slopes = np.array(Expressions(tape, list(pose[:3].ravel())).gradient(range(n)).outputs, dtype=object)
        slopes = slopes.reshape(3, 4, n)
        out: list[Any] = [*p, *R.ravel()]
        for c in range(n):
            turn = R.T @ slopes[:, :3, c]
            out += [*(R.T @ slopes[:, 3, c])]
            out += [0.5 * (turn[k, j] - turn[j, k]) for j, k in ((1, 2), (2, 0), (0, 1))]
        moves = np.array(Expressions(tape, list(points.ravel())).gradient(range(n)).outputs, dtype=object)
        moves = moves.reshape(len(self.masses), 3, n)
        unit = [float(x) for x in np.eye(3).ravel()]
        for point, move in zip(points, moves, strict=True):
            out += [*point, *unit]
            for c in range(n):
                out += [*move[:, c], 0.0, 0.0, 0.0]
        return Expressions(tape, out)

    # Checks

    def _numbers(self, what: str, value: Any, shape: tuple[int, ...] | None = None) -> Array:
        try:
            given = np.asarray(None if is_masked(value) else value)
            if given.dtype == object and all(is_number(x) for x in given.flat):
                given = given.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            given = np.asarray(None)
        if given.dtype.kind not in "buif":
            raise ValueError(f"body of {self.name!r}: {what} is {quoted(value)}, expected real numbers")
        with np.errstate(over="ignore"):
            numbers = given.astype(np.float64)
        if shape is not None and numbers.shape != shape:
            raise ValueError(f"body of {self.name!r}: {what} has shape {numbers.shape}, expected {shape}")
        if not np.isfinite(numbers).all():
            raise ValueError(f"body of {self.name!r}: {what} is {quoted(numbers.tolist())}, expected finite numbers")
        return numbers

    def _called(self, key: str, *arguments: Array) -> Any:
        given = getattr(self.module, key)
        if not callable(given):
            raise ValueError(f"body of {self.name!r}: {key} is {quoted(given)}, expected a function")
        return given(*(a.copy() for a in arguments))

    def _recorded(self, key: str, shape: tuple[int, ...], *, rates: bool = False) -> Expressions:
        """A function of the module, recorded; checked to give finite numbers, the same ones as the recording."""
        arguments = "(q, v)" if rates else "(q)"
        places = [(q, q[::-1].copy()) if rates else (q,) for q in self._q]
        wanted = [self._numbers(f"{key}{arguments}", self._called(key, *place), shape) for place in places]
        try:
            tape, value = record(getattr(self.module, key), *([self.n] * (1 + rates)))
        except (TypeError, AttributeError) as unknown:
            crossed = "; np.cross of single vectors needs NumPy 2.3, and takes arrays (1, 3) before"
            hint = crossed if str(unknown).startswith("Cannot cast ufunc 'multiply'") else ""
            raise ValueError(
                f"body of {self.name!r}: {key}{arguments} cannot be recorded: {unknown}{hint}"
            ) from unknown
        if value.shape != shape or not all(
            isinstance(x, (Number, int, float, np.integer, np.floating)) for x in value.flat
        ):
            raise ValueError(f"body of {self.name!r}: {key}{arguments} has shape {value.shape}, expected {shape}")
        expressions = Expressions(tape, [x if isinstance(x, Number) else float(x) for x in value.flat])
        for place, numbers in zip(places, wanted, strict=True):
            again = expressions.values(np.concatenate(place)).reshape(shape)
            if not np.allclose(
                again, numbers, rtol=1e-9, atol=1e-12 * max(1.0, float(np.abs(numbers).max(initial=0.0)))
            ):
                raise ValueError(
                    f"body of {self.name!r}: {key}{arguments} is not what was recorded of it: it must be a function of "
                    "its arguments alone, without branches"
                )
        self._check_finite(key, "value", expressions.values(self._tried(rates)), rates)
        return expressions

    def _check_poses(self, pose: Expressions) -> None:
        poses = pose.values(self._places).reshape(-1, 4, 4)
        R = poses[:, :3, :3]
        off = np.abs(R @ R.swapaxes(1, 2) - np.eye(3)).max(axis=(1, 2))
        low = np.abs(poses[:, 3] - (0.0, 0.0, 0.0, 1.0)).max(axis=1)
        fine = (off <= 1e-8) & (low <= 1e-12) & (np.linalg.det(R) > 0)
        if not fine.all():
            first = int(np.argmin(fine))
            raise ValueError(
                f"body of {self.name!r}: pose(q) at q = {self._places[first].tolist()} is {poses[first].tolist()}, "
                "expected a rotation and a translation, last row [0, 0, 0, 1]" + self._hint(first)
            )

    def _check_smooth(self, key: str, slopes: Expressions, part: slice = slice(None)) -> None:
        """That the derivatives of a function, and their rates along some direction, are finite."""
        rates = slopes.tape.inputs > self.n
        at = self._tried(rates)
        found = slopes.derivatives(np.stack([at, np.ones_like(at)], axis=1))[:, :, part]
        for row, what in enumerate(("gradient", "second derivative")):
            self._check_finite(key, what, found[:, row], rates)

    def _check_finite(self, key: str, what: str, found: Array, rates: bool) -> None:
        """That a row for each place that was tried is finite."""
        fine = np.isfinite(found).all(axis=1)
        if fine.all():
            return
        first = int(np.argmin(fine))
        at = self._tried(rates)[first]
        where = f"q = {at[: self.n].tolist()}" + (f", v = {at[self.n :].tolist()}" if rates else "")
        raise ValueError(
            f"body of {self.name!r}: {key}{'(q, v)' if rates else '(q)'} has no finite {what} at {where}, expected a "
            f"smooth function{self._hint(first)}"
        )

    def _tried(self, rates: bool) -> Array:
        """(P, n) places, or (P, 2 n) with velocities: none at every other place, the first among them."""
        moving = (np.arange(len(self._places)) % 2 == 1)[:, None]
        velocities = np.where(moving, self._places[::-1], 0.0)
        return np.concatenate([self._places, velocities], axis=1) if rates else self._places

    def _hint(self, place: int) -> str:
        """Where the place is not at rest, the scale says that it is one to try."""
        return f". Its scale, {self.scale.tolist()}, says how far q goes" if self._places[place].any() else ""


def _directions(n: int) -> Array:
    """Some shapes to try the functions at."""
    return np.random.default_rng(0).uniform(-1.0, 1.0, (3, n))


def _places(scale: Array) -> Array:
    """(P, n): at rest, along the first axes, and anywhere within the scale."""
    n = len(scale)
    axes = np.eye(n)[: min(n, 10)]
    anywhere = np.random.default_rng(1).uniform(-1.0, 1.0, (24, n))
    parts = np.concatenate([np.zeros((1, n)), 0.9 * axes, -0.9 * axes, 1e-3 * anywhere[:4], anywhere])
    return np.asarray(scale * parts + 0.0)  # no zeros with a sign
