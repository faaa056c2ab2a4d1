"""Custom joints, defined by the pose that they give a body: jounce derives everything else.

The function is recorded once (recording/record.py). With R and p its rotation and position, the screw of coordinate c
in body axes is

    v = R^T dp/dq_c,     [w] = R^T dR/dq_c,

which is also a recorded function; the core runs both over Taylor series, as it does for the sections of soft bodies. A
joint is one massless section that carries the body. A joint with one coordinate, whose screw is constant and turns by a
radian or slides by a metre per unit, is a hinge, a helical joint or a slide placed elsewhere, and runs as that.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, frozen, quoted, whole
from jounce.parts.joints import FRICTION_SPEED, Joint, Limits, Options, Primitive, Rotor
from jounce.parts.pose import inverse, shift
from jounce.parts.sections import Sections, SoftBody, Station
from jounce.recording.functions import Functions, moving_frame
from jounce.recording.record import Expressions, Number, Tape
from jounce.recording.simplify import simplified
from jounce.units import labels

Array = NDArray[np.float64]


class CustomJoint(Joint):
    """A joint whose pose is a function of its coordinates, written with NumPy.

    Args:
        pose: function of q (n,) that returns the pose (4, 4) of the body in the joint frame: a rotation and a
            translation, smooth, and affected by every coordinate. It may use arithmetic, ``@``, np.array, stack, sum,
            sin, cos, tan, exp, log, sqrt, arctan, sinh, cosh, tanh, powers, `jounce.soft.stumpff` and `jounce.Spline`,
            and may not branch on q: it is called a few times on construction, and never again.
        n: number of coordinates, 1 to 6.
        scale: (n,) or one number, how far from zero the coordinates typically go: `pose` is checked in that range, and
            random configurations are drawn from it. Coordinates with limits range between these instead.
        damping, friction, friction_speed, stiffness, rest: one number or (n,), as for other joints.
        limits: `Limits` of its coordinate, or a sequence of n, with None for a coordinate without limits.
        rotor: `Rotor` with an axis; only if n is 1.
        coordinate_names, coordinate_units: n strings each, for trajectories and plots; units are "m", "rad", "1",
            "1/m", or "?".
        name: of the joint; the body's name when left out.

    Velocities are the rates of the coordinates.

    >>> import jounce as jn
    >>> def rolling(q):  # a knee: the shin rolls on a round head of 3 cm as it turns
    ...     c, s = np.cos(q[0]), np.sin(q[0])
    ...     return np.array([[c, 0, s, 0.03 * q[0]], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]])
    >>> b = jn.Builder()
    >>> b.add("shin", "world", jn.CustomJoint(rolling, n=1, damping=0.1), inertia=jn.Inertia(3.0, com=(0, 0, -0.2)))
    >>> b.build().mass_matrix([0.0]).round(4)
    array([[0.0867]])
    """

    nq = nv = 0

    scale: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    coordinate_limits: tuple[Limits | None, ...]
    coordinate_rest: Array

    def __init__(
        self,
        pose: Callable[[Any], Any],
        n: int,
        *,
        scale: ArrayLike = 1.0,
        damping: ArrayLike = 0.0,
        friction: ArrayLike = 0.0,
        friction_speed: ArrayLike = FRICTION_SPEED,
        stiffness: ArrayLike = 0.0,
        rest: ArrayLike = 0.0,
        limits: Limits | Sequence[Limits | None] | None = None,
        rotor: Rotor | None = None,
        coordinate_names: Sequence[str] = (),
        coordinate_units: Sequence[str] = (),
        name: str | None = None,
    ) -> None:
        n = whole("n", n, 1, 6)
        self._set(nq=n, nv=n)
        super().__init__(
            damping=damping,
            friction=friction,
            friction_speed=friction_speed,
            stiffness=stiffness,
            rotor=rotor,
            name=name,
        )
        if rotor is not None and rotor.axis is None:
            raise ValueError("rotor has no axis: a CustomJoint has none to take, expected Rotor(ratio, inertia, axis)")
        names, units = labels("coordinate_", coordinate_names, coordinate_units, n)
        each = _limits(limits, n)
        reach = np.broadcast_to(array_of("scale", scale, (), (n,)), (n,))
        if not (reach > 0).all():
            raise ValueError(f"scale is {quoted(scale)}, expected positive numbers")
        functions = _functions(pose, *_range(each, reach))
        recorded = functions.recorded("pose", (4, 4))
        derived = Expressions(recorded.tape, moving_frame(recorded, n))
        frame = simplified(derived)
        _check_motion(functions, recorded, frame, *_range(each, reach))
        self._set(
            rest=0.0 if n > 1 else float(np.ravel(array_of("rest", rest, (), (1,)))[0]),
            scale=frozen(reach),
            names=names,
            units=units,
            limits=each[0] if n == 1 else None,
            coordinate_limits=each,
            coordinate_rest=frozen(np.broadcast_to(array_of("rest", rest, (), (n,)), (n,))),
            _recorded=frame,
            _primitive=_primitive(derived.values(np.zeros(n))) if _has_constant_screw(frame, n) else None,
        )

    def changed(self, **options: Any) -> CustomJoint:
        """The same joint with another damping, stiffness, rest, limits or name; see `Joint.changed`."""
        made, n = copy.copy(self), self.nv
        own = {key: options.pop(key) for key in ("rest", "limits") if key in options}
        current = {key: getattr(self, key) for key in Options.__annotations__ if key not in ("rest", "limits")}
        if np.any(options.get("armature", 0.0)):
            raise ValueError(f"armature is {quoted(options['armature'])}, but a CustomJoint has none: give a rotor")
        Joint.__init__(made, **(current | options))
        each = _limits(own["limits"], n) if "limits" in own else self.coordinate_limits
        rest = array_of("rest", own.get("rest", self.coordinate_rest), (), (n,))
        made._set(
            limits=each[0] if n == 1 else None,
            coordinate_limits=each,
            coordinate_rest=frozen(np.broadcast_to(rest, (n,))),
            rest=float(rest.ravel()[0]) if n == 1 else 0.0,
        )
        if "limits" in own:
            frame = self._recorded
            p, R = frame.outputs[:3], frame.outputs[3:12]
            pose = [x for i in range(3) for x in (*R[3 * i : 3 * i + 3], p[i])]
            recorded = Expressions(frame.tape, [*pose, 0.0, 0.0, 0.0, 1.0])
            _check_motion(_functions(None, *made.range), recorded, frame, *made.range)
        return made

    @property
    def range(self) -> tuple[Array, Array]:
        """The typical range of its coordinates: lower (n,) and upper (n,)."""
        return _range(self.coordinate_limits, self.scale)

    def pose(self, q: ArrayLike) -> Array:
        """(..., 4, 4) of the body in the joint frame, for q (..., n)."""
        numbers = self._recorded.values(np.asarray(q, dtype=np.float64))[..., :12]
        result = np.zeros((*numbers.shape[:-1], 4, 4))
        result[..., :3, 3], result[..., 3, 3] = numbers[..., :3], 1.0
        result[..., :3, :3] = numbers[..., 3:].reshape(*numbers.shape[:-1], 3, 3)
        return result

    def primitives(self) -> tuple[Primitive, ...]:
        return () if self._primitive is None else (self._primitive,)

    @cached_property
    def section(self) -> SoftBody | None:
        """The joint as the core sees it, unless it is a primitive."""
        return _Section(self) if self._primitive is None else None

    def _describe(self) -> str:
        return f"n={self.nv}"

    def __getstate__(self) -> dict[str, object]:
        return {key: value for key, value in self.__dict__.items() if key != "section"}

    _recorded: Expressions
    _primitive: Primitive | None


class _Pose:
    """Holds a function as the attribute that `Functions` looks for."""

    def __init__(self, pose: Any) -> None:
        self.pose = pose


class _Section(SoftBody):
    length = 0.0

    def __init__(self, joint: CustomJoint) -> None:
        self.joint, self.n, self.scale = joint, joint.nv, joint.scale
        self.viscosity = np.diag(joint.damping)
        self.stiffness = np.zeros((self.n, self.n))
        if not joint.coordinate_rest.any():
            self.stiffness = np.diag(joint.stiffness)

    def recorded_energy(self) -> Expressions | None:
        joint = self.joint
        if not joint.coordinate_rest.any() or not joint.stiffness.any():
            return None
        tape = Tape(self.n)
        total: Any = 0.0
        for i, (k, rest) in enumerate(zip(joint.stiffness.tolist(), joint.coordinate_rest.tolist(), strict=True)):
            stretch = Number(tape, i) - rest
            total = total + 0.5 * k * stretch * stretch
        return Expressions(tape, [total])

    def _sections(self, marks: tuple[float, ...]) -> Sections:
        return Sections((0,), stations=(Station(),), recorded=self.joint._recorded)


def _has_constant_screw(frame: Expressions, n: int) -> bool:
    return n == 1 and all(frame.is_constant(i) for i in range(12, 18))


def _primitive(at_zero: Array) -> Primitive | None:
    """The built-in motion that is pose(0) exp(screw q), if there is one, from `moving_frame` at q = 0."""
    start, v, w = np.eye(4), at_zero[12:15], at_zero[15:]
    start[:3, 3], start[:3, :3] = at_zero[:3], at_zero[3:12].reshape(3, 3)
    if not np.isfinite(at_zero).all():
        return None
    along = w if w.any() else v
    if abs(along @ along - 1) > 1e-14:
        return None
    if not w.any():
        return Primitive("prismatic", frozen(v), 1.0, frozen(start))
    about, pitch = shift(np.cross(w, v)), float(w @ v)
    slides = abs(pitch) > 1e-15 * np.abs(v).max()
    ends = frozen(start @ about), frozen(inverse(about))
    return Primitive("helical", frozen(w), pitch, *ends) if slides else Primitive("revolute", frozen(w), 0.0, *ends)


def _limits(given: Any, n: int) -> tuple[Limits | None, ...]:
    if given is None:
        return (None,) * n
    each = (given,) if isinstance(given, Limits) else given
    if not isinstance(each, Sequence) or len(each) != n or not all(x is None or isinstance(x, Limits) for x in each):
        wanted = "a jounce.Limits" if n == 1 else f"{n}, each a jounce.Limits or None"
        raise ValueError(f"limits is {quoted(given)}, expected {wanted}")
    return tuple(each)


def _range(limits: Sequence[Limits | None], scale: Array) -> tuple[Array, Array]:
    """Where coordinates are in ordinary use: between limits, within the scale, or as far from a single limit."""
    lower, upper = [], []
    for each, s in zip(limits, scale.tolist(), strict=True):
        low, high = (-np.inf, np.inf) if each is None else (each.lower, each.upper)
        lower.append(low if np.isfinite(low) else -s if -s < high else high - 2 * s)
        upper.append(high if np.isfinite(high) else s if s > low else low + 2 * s)
    return np.array(lower), np.array(upper)


def _functions(pose: Any, lower: Array, upper: Array) -> Functions:
    return Functions("", _Pose(pose), len(lower), upper / 2 - lower / 2, upper / 2 + lower / 2)


def _check_motion(functions: Functions, pose: Expressions, frame: Expressions, lower: Array, upper: Array) -> None:
    """Checks a recorded pose (4, 4), and what `moving_frame` makes of it, in the range of the coordinates."""
    functions.check_poses(pose)
    functions.check_smooth("pose", frame)
    _check_screws(functions.places, lower, upper, frame, functions.n)


def _check_screws(places: Array, lower: Array, upper: Array, frame: Expressions, n: int) -> None:
    """Checks that the coordinates move the body, each in a different way: at all places, and at the worst near them."""

    def sizes(q: Array) -> Array:
        screws = frame.values(q)[..., 12:].reshape(*q.shape[:-1], n, 6)
        return np.asarray(np.linalg.svd(screws, compute_uv=False), dtype=np.float64)

    q, step = np.clip(places, lower, upper), upper / 4 - lower / 4
    most = max(float(sizes(q).max()), 1e-9)

    def independence(q: Array) -> Array:
        return np.asarray(sizes(q)[..., -1] / most)

    least = independence(q)
    moves = np.concatenate([np.eye(n), -np.eye(n)])
    for _ in range(60):  # compass search from every place at once
        if least.min() < 1e-7:
            break
        with np.errstate(over="ignore"):
            tried = np.clip(q[:, None] + step * moves, lower, upper)
        found = independence(tried)
        best = found.argmin(axis=1)
        better = np.take_along_axis(found, best[:, None], axis=1)[:, 0] < least
        if not better.any():
            step = step / 2
        q = np.where(better[:, None], np.take_along_axis(tried, best[:, None, None], axis=1)[:, 0], q)
        least = np.where(better, np.take_along_axis(found, best[:, None], axis=1)[:, 0], least)
    if least.min() >= 1e-7:
        return
    at = q[int(least.argmin())]
    still = np.flatnonzero(np.linalg.norm(frame.values(at)[12:].reshape(n, 6), axis=1) <= 1e-6 * most)
    what = f"coordinate {still[0]} does not move the body" if len(still) else "coordinates move the body alike"
    raise ValueError(f"pose(q): {what} at q = {at.tolist()}, expected each coordinate to move it independently")
