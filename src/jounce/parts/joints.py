"""The joints that can carry a body.

A joint moves the body frame in the joint frame, which `Builder.add` places in the parent. Each joint describes its
motion as a sequence of primitives (turn about, slide along, or turn freely), which is all the compiled core needs.

=============  ============================  ============================  =====================================
joint          q                             v                             pose of the body in the joint frame
=============  ============================  ============================  =====================================
Free           x y z, qx qy qz qw            twist [linear; angular]       Trans(x y z) Rot(quaternion)
Fixed          -                             -                             identity
Revolute       angle                         rate                          Rot(axis, q)
Prismatic      distance                      rate                          Trans(axis q)
Helical        angle                         rate                          Trans(axis pitch q) Rot(axis, q)
Cylindrical    distance, angle               rates                         Trans(axis q0) Rot(axis, q1)
Planar         x, y, angle                   rates                         Trans(x q0 + y q1) Rot(x cross y, q2)
Universal      angle, angle                  rates                         Rot(first, q0) Rot(second, q1)
Spherical      qx qy qz qw                   angular velocity              Rot(quaternion)
=============  ============================  ============================  =====================================

The velocities of ``Free`` and ``Spherical`` are relative to the parent, in body axes. Metres and radians throughout.
"""

from __future__ import annotations

import copy
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, frozen, quoted, real, text, unit

if TYPE_CHECKING:
    from typing_extensions import Unpack

Array = NDArray[np.float64]
Kind = Literal["revolute", "prismatic", "helical", "spherical", "free"]
_HERE: Array = frozen(np.eye(4))


@dataclass(frozen=True, eq=False)
class Primitive:
    """One step of a joint's motion: turn about and slide along `axis`, or turn (and move) freely.

    It starts from a frame with pose `start`; what follows has pose `end` in the frame that it moves.
    """

    kind: Kind
    axis: Array
    slide: float = 0.0  # metres along the axis per unit of the coordinate
    start: Array = field(default_factory=lambda: _HERE)
    end: Array = field(default_factory=lambda: _HERE)


FRICTION_SPEED = 0.01  # rad/s or m/s
LEAST_SPEED = 1e-9  # far below what encoders resolve; derivatives of the force grow with its inverse
_Z = frozen(np.array([0.0, 0.0, 1.0]))


_FREE = float("inf")  # the default of a limit, told by identity from an infinite number that is given
_FREE_BELOW = -_FREE


@dataclass(frozen=True)
class Limits:
    """Limits on a joint with one coordinate; infinity, the default, is none.

    jounce stores them (``robot.lower`` and ``upper``, ``velocity_limit``, ``effort_limit``, ``jerk_limit``, ...) and
    compares motions with them (`Model.check_limits`); the dynamics ignore them.

    Args:
        lower, upper: of the position, rad or m.
        velocity: speed in either direction, rad/s or m/s.
        effort: force in either direction, N m or N.
        acceleration: rad/s^2 or m/s^2.
        deceleration: that of a joint that slows down: its velocity and acceleration have opposite signs. When left out,
            `acceleration` is the limit there too, as in URDF 1.2 and in MoveIt. Positive, like the others.
        jerk: rad/s^3 or m/s^3.
        effort_rate: how fast the force may change, N m/s or N/s.

    Attributes:
        given: the names of those that were given, infinite ones included; `Model.replace` leaves the others as they
            are.

    >>> Limits(-2.9, 2.9, velocity=2.2, effort=87.0, acceleration=15.0)
    Limits(lower=-2.9, upper=2.9, velocity=2.2, effort=87.0, acceleration=15.0, deceleration=None, jerk=inf,
        effort_rate=inf)
    >>> sorted(Limits(effort=50.0, upper=np.inf).given)
    ['effort', 'upper']
    """

    lower: float = _FREE_BELOW
    upper: float = _FREE
    velocity: float = _FREE
    effort: float = _FREE
    _: KW_ONLY
    acceleration: float = _FREE
    deceleration: float | None = None
    jerk: float = _FREE
    effort_rate: float = _FREE
    given: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        limits = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        free = {f.name: f.default for f in fields(self)}
        object.__setattr__(self, "given", frozenset(key for key, x in limits.items() if x is not free[key]))
        for key, value in limits.items():
            if value is not None or key != "deceleration":
                object.__setattr__(self, key, real(key, value))
        if self.lower > self.upper:
            raise ValueError(f"lower is {self.lower:g}, above upper, {self.upper:g}")
        if self.velocity < 0 or self.effort < 0:
            raise ValueError(
                f"velocity and effort are {self.velocity:g} and {self.effort:g}, expected non-negative numbers"
            )
        for key in ("acceleration", "deceleration", "jerk", "effort_rate"):
            value = getattr(self, key)
            if value is not None and value <= 0:
                raise ValueError(f"{key} is {value:g}, expected a positive number")


@dataclass(frozen=True)
class Follow:
    """The coupling of a joint to another: q = ratio * q_joint + offset (URDF's ``mimic``)."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        text("joint", self.joint)
        for key in ("ratio", "offset"):
            object.__setattr__(self, key, float(array_of(key, getattr(self, key), ())))


@dataclass(frozen=True)
class Rotor:
    """The rotor of a joint's motor: it is mounted on the parent and turns `ratio` times as fast as the joint.

    Unlike `armature`, the reflected inertia (ratio^2 times the rotor's own), it also includes the gyroscopic moments
    of a wheel spinning on a turning body, and the effect of the parent's motion on the rotor.

    Args:
        ratio: gear ratio: the rotor's angle per unit of the joint's coordinate (rad per metre for a joint that
            slides); negative if it turns the other way.
        inertia: about its own axis, kg m^2. Its mass, and its moments about other axes, belong to the parent's
            `Inertia`.
        axis: (3,) of the rotor, in the joint frame; the joint's axis when left out.
    """

    ratio: float
    inertia: float
    axis: ArrayLike | None = None

    def __post_init__(self) -> None:
        for key in ("ratio", "inertia"):
            object.__setattr__(self, key, float(array_of(f"{key} of a rotor", getattr(self, key), ())))
        if self.ratio == 0:
            raise ValueError("ratio of a rotor is 0, expected the rotor's speed as a multiple of the joint's")
        if self.inertia <= 0:
            raise ValueError(f"inertia of a rotor is {self.inertia:g}, expected a positive number")
        if self.axis is not None:
            object.__setattr__(self, "axis", frozen(unit("axis of a rotor", self.axis)))


class Options(TypedDict, total=False):
    """The options of every joint; see `Joint`."""

    armature: ArrayLike
    damping: ArrayLike
    friction: ArrayLike
    friction_speed: ArrayLike
    stiffness: ArrayLike
    rest: float
    limits: Limits | None
    follows: Follow | None
    rotor: Rotor | None
    name: str | None


class Joint:
    """What all joints share.

    Args:
        armature: reflected inertia of the drive: adds ``armature * dv/dt`` to the force.
        damping: adds ``damping * v``.
        friction: dry friction, N m or N: adds ``friction * tanh(v / friction_speed)``, which is Coulomb's
            ``friction * sign(v)`` except near standstill.
        friction_speed: rad/s or m/s. At this speed, friction has reached 76 % of its full value; at three times this
            speed, 99.5 %. Below it, the joint creeps instead of sticking. Smaller values make motions stiffer, and the
            rate of the force larger where the joint turns back: friction / friction_speed times its acceleration.
        stiffness: adds ``stiffness * (q - rest)``; for `Spherical` and `Free` a torsion spring ``stiffness * log(R)``
            (and ``stiffness * position``), in body axes, which must be the same for the three axes.
        rest: rest position of the spring; joints with one coordinate only.
        limits: `Limits`; joints with one coordinate only.
        follows: `Follow`, for a joint without a coordinate of its own; joints with one coordinate only.
        rotor: `Rotor` of its motor, instead of `armature`; joints with one coordinate only.
        name: of the joint; the body's name when left out.

    Each of the first five is one number for all coordinates of the joint or an array (nv,).
    """

    nq: ClassVar[int]
    nv: ClassVar[int]

    armature: Array
    damping: Array
    friction: Array
    friction_speed: Array
    stiffness: Array
    rest: float
    limits: Limits | None
    follows: Follow | None
    rotor: Rotor | None
    name: str | None

    def __init__(
        self,
        *,
        armature: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
        friction: ArrayLike = 0.0,
        friction_speed: ArrayLike = FRICTION_SPEED,
        stiffness: ArrayLike = 0.0,
        rest: float = 0.0,
        limits: Limits | None = None,
        follows: Follow | None = None,
        rotor: Rotor | None = None,
        name: str | None = None,
    ) -> None:
        for key, value in (
            ("armature", armature),
            ("damping", damping),
            ("friction", friction),
            ("friction_speed", friction_speed),
            ("stiffness", stiffness),
        ):
            numbers = np.broadcast_to(array_of(key, value, (), (self.nv,)), (self.nv,))
            if key != "stiffness" and (numbers < 0).any():
                raise ValueError(f"{key} is {numbers.tolist()}, expected non-negative numbers")
            object.__setattr__(self, key, frozen(numbers))
        if (self.friction_speed < LEAST_SPEED).any():
            raise ValueError(
                f"friction_speed is {self.friction_speed.tolist()}, expected speeds of at least {LEAST_SPEED:g}, below "
                "which friction acts: 0.01 rad/s, for example"
            )
        length = float(array_of("rest", rest, ()))
        for key, given, kind in (
            ("rest", length or None, float),
            ("limits", limits, Limits),
            ("follows", follows, Follow),
            ("rotor", rotor, Rotor),
        ):
            if given is not None and self.nv != 1:
                raise ValueError(f"{key} is for joints with one coordinate, not for {type(self).__name__}")
            if given is not None and not isinstance(given, kind):
                raise ValueError(f"{key} is {quoted(given)}, expected a jounce.{kind.__name__}")
        if rotor is not None and self.armature.any():
            raise ValueError("armature and rotor were both given: a rotor has the inertia that an armature stands for")
        name = name if name is None else text("name", name)
        self._set(rest=length, limits=limits, follows=follows, rotor=rotor, name=name)

    def __setattr__(self, key: str, value: object) -> None:
        if not type(self).__module__.startswith("jounce.") and not hasattr(self, key):
            return self._set(**{key: value})  # a subclass keeps what it is made of
        raise AttributeError(f"a joint cannot be changed: {type(self).__name__}.{key}")

    def __delattr__(self, key: str) -> None:
        raise AttributeError(f"a joint cannot be changed: {type(self).__name__}.{key}")

    def _set(self, **values: object) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def changed(self, **options: Unpack[Options]) -> Joint:
        """The same joint with other options.

        >>> Revolute((0, 1, 0), armature=0.2).changed(damping=0.1).damping
        array([0.1])
        """
        made = copy.copy(self)
        Joint.__init__(made, **({key: getattr(self, key) for key in Options.__annotations__} | options))  # type: ignore[arg-type]
        made._check()
        return made

    def _check(self) -> None:
        """Checks of a particular joint on its options."""

    def primitives(self) -> tuple[Primitive, ...]:
        """The motion as a sequence of primitives, starting at the parent."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._describe()})"

    def _describe(self) -> str:
        return ""

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__

    def __setstate__(self, state: dict[str, object]) -> None:
        for key, value in state.items():
            self._set(**{key: frozen(value) if isinstance(value, np.ndarray) else value})


class _AxisJoint(Joint):
    axis: Array

    def __init__(self, axis: ArrayLike = (0.0, 0.0, 1.0), **options: Unpack[Options]) -> None:
        super().__init__(**options)
        self._set(axis=frozen(unit("axis", axis)))

    def _describe(self) -> str:
        return "axis=" + _tidy(self.axis)


class Fixed(Joint):
    """No motion: the body becomes part of its parent and stays as a named frame."""

    nq, nv = 0, 0

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(name=name)

    def primitives(self) -> tuple[Primitive, ...]:
        return ()


class Revolute(_AxisJoint):
    """Turns about `axis` (3,), given in the joint frame. URDF's ``revolute`` and ``continuous``."""

    nq, nv = 1, 1

    def primitives(self) -> tuple[Primitive, ...]:
        return (Primitive("revolute", self.axis),)


class Prismatic(_AxisJoint):
    """Slides along `axis` (3,)."""

    nq, nv = 1, 1

    def primitives(self) -> tuple[Primitive, ...]:
        return (Primitive("prismatic", self.axis, 1.0),)


class Helical(_AxisJoint):
    """A screw: turns about `axis` (3,) and advances `pitch` metres per radian along it."""

    nq, nv = 1, 1
    pitch: float

    def __init__(
        self,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        pitch: float = 0.0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(axis, **options)
        self._set(pitch=float(array_of("pitch", pitch, ())))

    def primitives(self) -> tuple[Primitive, ...]:
        return (Primitive("helical", self.axis, self.pitch),)

    def _describe(self) -> str:
        return f"{super()._describe()}, pitch={self.pitch:g}"


class Cylindrical(_AxisJoint):
    """Slides along and turns about `axis` (3,), independently."""

    nq, nv = 2, 2

    def primitives(self) -> tuple[Primitive, ...]:
        return (Primitive("prismatic", self.axis, 1.0), Primitive("revolute", self.axis))


class Planar(Joint):
    """Slides along the orthogonal directions `x` and `y` (3,) and turns about their normal."""

    nq, nv = 3, 3
    x: Array
    y: Array

    def __init__(
        self,
        x: ArrayLike = (1.0, 0.0, 0.0),
        y: ArrayLike = (0.0, 1.0, 0.0),
        **options: Unpack[Options],
    ) -> None:
        super().__init__(**options)
        first, second = unit("x", x), unit("y", y)
        if abs(first @ second) > 1e-6:
            raise ValueError(f"x and y are {_tidy(first)} and {_tidy(second)}, expected orthogonal directions")
        self._set(x=frozen(first), y=frozen(second - (first @ second) * first))

    def primitives(self) -> tuple[Primitive, ...]:
        normal = np.cross(self.x, self.y)
        return (
            Primitive("prismatic", self.x, 1.0),
            Primitive("prismatic", self.y, 1.0),
            Primitive("revolute", normal),
        )

    def _describe(self) -> str:
        return f"x={_tidy(self.x)}, y={_tidy(self.y)}"


class Universal(Joint):
    """Turns about `first` (3,), fixed in the parent, then about `second` (3,), fixed in the body."""

    nq, nv = 2, 2
    first: Array
    second: Array

    def __init__(
        self,
        first: ArrayLike = (1.0, 0.0, 0.0),
        second: ArrayLike = (0.0, 1.0, 0.0),
        **options: Unpack[Options],
    ) -> None:
        super().__init__(**options)
        one, two = unit("first", first), unit("second", second)
        if np.linalg.norm(np.cross(one, two)) < 1e-6:
            raise ValueError(f"first and second are both {_tidy(one)}, expected axes that are not parallel")
        self._set(first=frozen(one), second=frozen(two))

    def primitives(self) -> tuple[Primitive, ...]:
        return (Primitive("revolute", self.first), Primitive("revolute", self.second))

    def _describe(self) -> str:
        return f"first={_tidy(self.first)}, second={_tidy(self.second)}"


class _BallJoint(Joint):
    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__(**options)
        self._check()

    def _check(self) -> None:
        for triple in self.stiffness.reshape(-1, 3):
            if (triple != triple[0]).any():
                raise ValueError(
                    f"stiffness is {self.stiffness.tolist()}, expected the same number for the three axes: "
                    "a spring that differs between them has no potential"
                )


class Spherical(_BallJoint):
    """Turns freely: q is a unit quaternion (x y z w), v the angular velocity in body axes."""

    nq, nv = 4, 3

    def primitives(self) -> tuple[Primitive, ...]:
        return (Primitive("spherical", _Z),)


class Free(_BallJoint):
    """Moves freely, as the base of a flying or walking robot does: q position and quaternion, v the body twist."""

    nq, nv = 7, 6

    def primitives(self) -> tuple[Primitive, ...]:
        return (Primitive("free", _Z),)


def _tidy(vector: Array) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in vector) + ")"
