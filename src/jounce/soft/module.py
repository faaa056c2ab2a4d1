"""Custom soft bodies, defined by the positions of their points: jounce derives everything else.

A module gives its far end and its material points as functions of its coordinates. They are recorded once (see
record.py): the core gets the list of operations for the positions and for their derivatives by q, and runs both over
Taylor series. Each point is a station with three translations, dp/dq_c; the far end's body Jacobian follows from its
pose,

    v = R^T dp/dq_c,     [w] = R^T dR/dq_c.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import counted, quoted, whole
from jounce.parts.sections import Mass, Sections, SoftBody, Station
from jounce.recording.functions import Functions, moving_frame
from jounce.recording.record import Expressions, Number, Tape
from jounce.units import labels

Array = NDArray[np.float64]


class Module:
    """A soft body given by functions of its coordinates, written with NumPy; subclassing this is optional.

    It has

    * ``n``: number of coordinates;
    * ``pose(q)``: (4, 4) pose of its far end in its near end, for q (n,);
    * ``points(q)``: (P, 3) positions of its material points in its near end, m;
    * ``masses``: (P,) of those points, kg;

    and optionally

    * ``energy(q)``: elastic energy, J;
    * ``dissipation(q, v)``: Rayleigh's function, W: half the dissipated power; the damping force is its gradient by v;
    * ``inputs(q)``: (m,) what its inputs do work on: a volume for a pressure, minus a length for a tendon, the
      coordinate for a force; ``input_names`` names them;
    * ``scale``: (n,) typical size of its coordinates, for random configurations; 0.1 when left out;
    * ``coordinate_names``, ``coordinate_units``: (n,) strings for its coordinates, for trajectories and plots; units
      are "m", "rad", "1", "1/m", or "?" for any other.

    The functions may use arithmetic, ``@``, np.array, stack, sum, sin, cos, tan, exp, log, sqrt, arctan, sinh, cosh,
    tanh, powers and `jounce.soft.stumpff`. They are called when the robot is built, not afterwards, and may not
    branch on q. They must be smooth, and the pose a rotation and a translation, at least while each coordinate is
    within ``scale``: this is checked at some fifty points.

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
        """(P, 3) positions of the material points."""
        raise NotImplementedError(f"{type(self).__name__} has no points(q)")


def is_module(given: object) -> bool:
    """Whether an object has what a `Module` must have."""
    return all(hasattr(given, key) for key in ("n", "pose", "points", "masses"))


class ModuleBody(SoftBody):
    """A module as jounce uses it, its functions recorded and checked; `name` is for error messages."""

    length = 0.0

    def __init__(self, name: str, module: Any) -> None:
        self.name, self.module = name, module
        self.n = whole(f"body of {name!r}: n", module.n, 1, 1000)
        self._functions = Functions(
            f"body of {name!r}: ", module, self.n, getattr(module, "scale", np.full(self.n, 0.1))
        )
        self.scale = self._functions.scale
        self.masses = self._functions.numbers("masses", module.masses)
        with np.errstate(over="ignore"):
            total = self.masses.sum()
        if self.masses.ndim != 1 or (self.masses < 0).any() or not 0 < total < np.inf:
            raise ValueError(
                f"body of {name!r}: masses is {quoted(self.masses.tolist())}, "
                "expected (P,) non-negative numbers, not all zero"
            )
        self.stiffness = self.viscosity = np.zeros((self.n, self.n))
        names, units = getattr(module, "coordinate_names", ()), getattr(module, "coordinate_units", ())
        self.coordinate_names, self.coordinate_units = labels(f"body of {name!r}: coordinate_", names, units, self.n)
        recorded, check_smooth = self._functions.recorded, self._functions.check_smooth
        self._functions.check_poses(recorded("pose", (4, 4)))
        recorded("points", (len(self.masses), 3))
        width = 12 + 6 * self.n
        check_smooth("pose", self._stations, slice(0, width))
        check_smooth("points", self._stations, slice(width, None))
        self.input_names = ()
        self._inputs = None
        if hasattr(module, "inputs"):
            count = self._functions.numbers("inputs(q)", self._functions.called("inputs", np.zeros(self.n))).size
            self._inputs = recorded("inputs", (count,))
            names = getattr(module, "input_names", ())
            listed = isinstance(names, Sequence) and not isinstance(names, str) and all(names)
            if not listed or not all(isinstance(x, str) for x in names) or len(names) not in (0, count):
                raise ValueError(
                    f"body of {name!r}: input_names is {quoted(names)}, expected {count} names, one for each input"
                )
            self.input_names = tuple(names) or tuple(f"input {i + 1}" for i in range(count))
        self._energy = recorded("energy", ()) if hasattr(module, "energy") else None
        has_loss = hasattr(module, "dissipation")
        self._dissipation = recorded("dissipation", (), rates=True) if has_loss else None
        for key, given, by in (
            ("inputs", self._inputs, range(self.n)),
            ("energy", self._energy, range(self.n)),
            ("dissipation", self._dissipation, range(self.n, 2 * self.n)),
        ):
            if given is not None:
                check_smooth(key, given.gradient(by))

    def __reduce__(self) -> tuple[Any, ...]:
        return ModuleBody, (self.name, self.module)

    def __repr__(self) -> str:
        return f"{type(self.module).__name__}({counted(self.n, 'coordinate')})"

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
        out = moving_frame(Expressions(tape, list(pose.ravel())), n)
        moves = np.array(Expressions(tape, list(points.ravel())).gradient(range(n)).outputs, dtype=object)
        moves = moves.reshape(len(self.masses), 3, n)
        unit = [float(x) for x in np.eye(3).ravel()]
        for point, move in zip(points, moves, strict=True):
            out += [*point, *unit]
            for c in range(n):
                out += [*move[:, c], 0.0, 0.0, 0.0]
        return Expressions(tape, out)
