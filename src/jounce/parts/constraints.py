"""Constraints on a robot beyond its joints: closed loops, contacts, gears.

A loop is closed by a joint: the motions that the joint blocks are the constraint. Constraints that no joint describes
have a class here. The core treats all of them alike, as rows on the motion of a frame B relative to a frame A; see
`constraint.hpp`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import frozen, near, one_of, quoted, real, reals, unit
from jounce._checks import pose as a_pose
from jounce.parts.joints import (
    Cylindrical,
    Fixed,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

Array = NDArray[np.float64]


class _Tie:
    """A constraint that no joint describes. Immutable."""

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError(f"a constraint cannot be changed: {type(self).__name__}.{key}")

    def __delattr__(self, key: str) -> None:
        raise AttributeError(f"a constraint cannot be changed: {type(self).__name__}.{key}")

    def _set(self, **values: object) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v.tolist() if isinstance(v, np.ndarray) else v!r}" for k, v in self.__dict__.items())
        return f"{type(self).__name__}({given})"

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__

    def __setstate__(self, state: dict[str, object]) -> None:
        self._set(**{k: frozen(v) if isinstance(v, np.ndarray) else v for k, v in state.items()})


class Distance(_Tie):
    """Keeps two points `length` metres apart: a massless rod with a ball joint at each end."""

    length: float

    def __init__(self, length: float) -> None:
        given = real("length", length)
        if not 0 < given < np.inf:
            raise ValueError(f"length is {quoted(length)}, expected a positive number of metres")
        self._set(length=given)


class OnPlane(_Tie):
    """Keeps a point on the plane through the first frame's origin with the given `normal` (3,), in its axes.

    As a contact, in the world's axes, or in those of the contact's pose: `Contact` chooses.
    """

    normal: Array

    def __init__(self, normal: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        self._set(normal=frozen(unit("normal", normal)))


class OnLine(_Tie):
    """Keeps a point on the line through the first frame's origin along `axis` (3,), in its axes.

    As a contact, in the world's axes, or in those of the contact's pose: `Contact` chooses.
    """

    axis: Array

    def __init__(self, axis: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        self._set(axis=frozen(unit("axis", axis)))


class Rolling(_Tie):
    """A wheel or a ball that rolls on a plane without slipping.

    The second frame's origin is its centre. The contact point has no velocity relative to the plane: three rows, of
    which only the one along the normal is holonomic. So a robot on wheels has more independent positions than
    velocities.

    Args:
        radius: m.
        axis: (3,) of the wheel, in the second frame's axes; a ball when left out.
        normal: (3,) of the plane, in the first frame's axes, towards the wheel; the plane passes through that frame's
            origin.
    """

    radius: float
    axis: Array | None
    normal: Array

    def __init__(self, radius: float, axis: ArrayLike | None = None, normal: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        given = real("radius", radius)
        if not 0 < given < np.inf:
            raise ValueError(f"radius is {quoted(radius)}, expected a positive number of metres")
        self._set(
            radius=given,
            axis=None if axis is None else frozen(unit("axis", axis)),
            normal=frozen(unit("normal", normal)),
        )


class Gear(_Tie):
    """Ties two joints with one coordinate each: q_second = polynomial(q_first).

    `Follow` eliminates the second coordinate; a gear keeps both, and gives the force between them. A joint tied to
    itself by a constant, ``(0.3, 0.0)``, is held there.

    Args:
        polynomial: (degree + 1,) coefficients, constant first: ``(0.0, -2.0)`` turns the second joint backwards, twice
            as fast.
    """

    polynomial: Array

    def __init__(self, polynomial: ArrayLike) -> None:
        given = reals("polynomial", polynomial)
        if given.ndim != 1 or not 2 <= len(given) <= 100 or not np.isfinite(given).all():
            raise ValueError(f"polynomial is {quoted(polynomial)}, expected 2 to 100 finite coefficients")
        self._set(polynomial=frozen(given))


Kind = Joint | Distance | OnPlane | OnLine | Rolling | Gear
_CLOSING = (Fixed, Revolute, Prismatic, Helical, Cylindrical, Universal, Planar, Spherical)


@dataclass(frozen=True, eq=False)
class Contact:
    """A contact of a frame with the world.

    Args:
        kind: the motions it allows: a joint, `OnPlane`, `OnLine`, `Distance` or `Rolling`.
        pose: (4, 4) world pose where the frame is held, so that positions can be compared with it. When left out, the
            frame is held wherever it is.
        axes: which axes the directions of `kind` are in, such as the normal of a plane, and with them the rows of
            `Model.constraint_jacobian` and their multipliers: those of the "world", or those of the held "frame". When
            left out, they are the axes of the pose, which are the frame's if that is ``robot.pose(name, q)``: a wall
            whose normal is meant in world axes becomes a slope. Without a pose, they are the frame's own for a joint
            and the world's for the others.

    >>> import jounce as jn
    >>> robot = jn.robots.panda()
    >>> q = [0, 0.5, 0, -1.5, 0, 1.0, 0]
    >>> wall = jn.Contact(jn.OnPlane((1, 0, 0)), pose=robot.pose("link7", q), axes="world")
    >>> robot.constrained({"link7": wall}).constraint_jacobian(q).round(3)  # its velocity along the world's x
    array([[0.   , 0.079, 0.   , 0.159, 0.   , 0.074, 0.   ]])
    """

    kind: Kind
    pose: Array | None = None
    axes: Literal["world", "frame"] | None = None

    def __init__(
        self, kind: Kind, pose: ArrayLike | None = None, *, axes: Literal["world", "frame"] | None = None
    ) -> None:
        if not isinstance(kind, (Joint, _Tie)):
            raise ValueError(
                f"kind is {quoted(kind)}, expected a joint such as jounce.Fixed(), OnPlane, OnLine, Distance or Rolling"
            )
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "pose", None if pose is None else frozen(a_pose("pose of a contact", pose)))
        object.__setattr__(self, "axes", None if axes is None else one_of("axes", axes, "world", "frame"))


@dataclass(frozen=True, eq=False)
class ConstraintRecord:
    """A constraint as given: the names of two frames (joints for a gear), and the poses of A and B in them."""

    name: str
    kind: Kind
    a: str
    b: str
    pose_a: Array = field(default_factory=lambda: np.eye(4))
    pose_b: Array = field(default_factory=lambda: np.eye(4))
    held: bool = True  # A is at the given pose; otherwise in the world, where B is
    contact: bool = False
    upright: bool = False  # if it is not held: A has the world's axes, otherwise B's

    @property
    def named(self) -> str:
        """The frame that its force refers to: the first one, or that of a contact; never the world."""
        return self.b if self.contact or self.a == "world" else self.a

    @property
    def is_constant(self) -> bool:
        """Whether its rows are constant in A's axes."""
        return not isinstance(self.kind, (Distance, Universal, Rolling, Gear))

    @property
    def rows(self) -> int:
        """How many degrees of freedom it removes from the velocity."""
        return len(_rows(self.kind)["rows"])

    @property
    def holonomic(self) -> int:
        """How many of its rows are holonomic; these come first."""
        return 1 if isinstance(self.kind, Rolling) else self.rows


def a_kind(name: str, given: object) -> Kind:
    """The given kind, checked: one that can close a loop or be a contact."""
    what = f"constraint {quoted(name)}"
    if isinstance(given, _Tie):
        return given  # type: ignore[return-value]
    if not isinstance(given, Joint):
        raise ValueError(
            f"{what} is {quoted(given)}, expected a joint such as jounce.Revolute(axis=(0, 0, 1)), or jounce.Distance, "
            "OnPlane, OnLine, Rolling or Gear"
        )
    if type(given) not in _CLOSING:
        names = ", ".join(c.__name__ for c in _CLOSING)
        raise ValueError(
            f"{what} is a {type(given).__name__} joint, which cannot close a loop: expected one of {names}"
        )
    for key in ("stiffness", "rest", "damping", "friction", "armature"):
        if np.any(getattr(given, key)):
            raise ValueError(f"{what}: its joint has {key}, which only joints of the tree have")
    for key in ("limits", "follows", "rotor"):
        if getattr(given, key) is not None:
            raise ValueError(f"{what}: its joint has {key}, which only joints of the tree have")
    return given


def contact_records(
    contacts: Mapping[str, Kind | Contact], frame_names: tuple[str, ...], fixed: Collection[str], taken: list[str]
) -> list[ConstraintRecord]:
    """The records of {frame name: contact}; `fixed` are the frames that are fixed in the world."""
    if not isinstance(contacts, Mapping):
        raise ValueError(f"contacts is {quoted(contacts)}, expected a mapping from frame names to joints")
    records = []
    for name, given in contacts.items():
        if not isinstance(name, str) or name not in frame_names:
            hint = near(name if isinstance(name, str) else quoted(name), frame_names)
            raise ValueError(f"contacts: no body or frame is named {quoted(name)}: {hint}")
        if name in fixed:
            raise ValueError(f"contacts: {quoted(name)} is already fixed in the world")
        if name in taken:
            raise ValueError(f"contacts: there is a constraint named {quoted(name)} already")
        contact = given if isinstance(given, Contact) else Contact(a_kind(name, given))
        kind = a_kind(name, contact.kind)
        if isinstance(kind, Gear):
            raise ValueError(f"constraint {quoted(name)}: a gear is between two joints: use Builder.close")
        if contact.pose is None and isinstance(kind, Distance):
            raise ValueError(f"constraint {quoted(name)}: a distance needs to know from where: Contact(..., pose=...)")
        records.append(_contact_record(name, kind, contact))
    return records


def _contact_record(name: str, kind: Kind, contact: Contact) -> ConstraintRecord:
    axes = contact.axes or ("frame" if contact.pose is not None or isinstance(kind, Joint) else "world")
    if contact.pose is None:
        if axes == "frame" and isinstance(kind, Rolling):
            raise ValueError(
                f"constraint {quoted(name)}: the plane that it rolls on does not turn with it, so axes='frame' needs "
                "to know where the plane is: Contact(..., pose=...)"
            )
        if axes == "world" and isinstance(kind, Universal):
            raise ValueError(
                f"constraint {quoted(name)}: the second axis of a Universal turns with the frame, so axes='world' "
                "needs to know how that is turned: Contact(..., pose=...)"
            )
        return ConstraintRecord(name, kind, "world", name, held=False, contact=True, upright=axes == "world")
    a, b = contact.pose.copy(), np.eye(4)
    if axes == "world":
        a[:3, :3] = np.eye(3)
        if not isinstance(kind, Rolling):  # whose axis is the wheel's
            b[:3, :3] = contact.pose[:3, :3].T
    return ConstraintRecord(name, kind, "world", name, a, b, contact=True)


def compiled_constraint(
    record: ConstraintRecord, frames: Mapping[str, int], coordinates: Mapping[str, slice]
) -> dict[str, object]:
    """The constraint in the form that the core takes."""
    kind = record.kind
    table: dict[str, Any] = {"turning": 0, "axis": np.zeros(3), "other": np.zeros(3), "length": 0.0, **_rows(kind)}
    gear = isinstance(kind, Gear)
    hold = "frame" if record.held else "upright" if record.upright else "here"
    return {
        "name": record.name,
        "hold": hold,
        "count": len(table["rows"]),
        "holonomic": len(table["rows"]),
        "on_a": record.named == record.a,
        "a": -1 if gear or record.a == "world" else frames[record.a],
        "b": -1 if gear or record.b == "world" else frames[record.b],
        "pose_a": record.pose_a,
        "pose_b": record.pose_b,
        "joints": [coordinates[record.a].start, coordinates[record.b].start] if gear else [],
        "polynomial": kind.polynomial if isinstance(kind, Gear) else np.zeros(0),
        **table,
    }


def constant_rows(kind: Kind) -> Array:
    """(count, 6) rows on [v; w] of B in A, in A's axes; zero where they depend on the configuration."""
    rows: Array = _rows(kind)["rows"]
    return rows


def _rows(kind: Kind) -> dict[str, Any]:
    """The constant rows on [v; w] of a constraint, and its other data."""
    none = np.zeros((0, 3))
    if isinstance(kind, Distance):
        return {"tie": "distance", "rows": np.zeros((1, 6)), "length": kind.length}
    if isinstance(kind, OnPlane):
        return {"tie": "joint", "rows": _on(kind.normal[None], none)}
    if isinstance(kind, OnLine):
        return {"tie": "joint", "rows": _on(_across(kind.axis), none)}
    if isinstance(kind, Rolling):
        rows = _on(np.vstack([kind.normal[None], _across(kind.normal)]), none)
        other = np.zeros(3) if kind.axis is None else kind.axis
        wheel = {"axis": kind.normal, "other": other, "length": kind.radius}
        return {"tie": "rolling", "rows": rows, "holonomic": 1, **wheel}
    if isinstance(kind, Gear):
        return {"tie": "gear", "rows": np.zeros((1, 6))}
    if isinstance(kind, Universal):
        rows = np.vstack([np.eye(6)[:3], np.zeros((1, 6))])
        angle = float(kind.first @ kind.second)
        return {"tie": "universal", "rows": rows, "axis": kind.first, "other": kind.second, "length": angle}
    if isinstance(kind, Planar):
        normal = np.cross(kind.x, kind.y)
        return {"tie": "joint", "rows": _on(normal[None], _across(normal)), "turning": 2, "axis": normal}
    if isinstance(kind, Spherical):
        return {"tie": "joint", "rows": _on(np.eye(3), none)}
    if isinstance(kind, Fixed):
        return {"tie": "joint", "rows": np.eye(6), "turning": 3}
    assert isinstance(kind, (Revolute, Prismatic, Cylindrical, Helical))
    axis = kind.axis
    across = _across(axis)
    if isinstance(kind, Revolute):
        return {"tie": "joint", "rows": _on(np.eye(3), across), "turning": 2, "axis": axis}
    if isinstance(kind, Prismatic):
        return {"tie": "joint", "rows": _on(across, np.eye(3)), "turning": 3, "axis": axis}
    if isinstance(kind, Cylindrical):
        return {"tie": "joint", "rows": _on(across, across), "turning": 2, "axis": axis}
    rows = np.vstack([_on(across, across), np.concatenate([axis, -kind.pitch * axis])[None]])
    return {"tie": "joint", "rows": rows, "turning": 2, "axis": axis, "length": kind.pitch}


def _on(linear: Array, angular: Array) -> Array:
    """Rows on v, then rows on w."""
    rows = np.zeros((len(linear) + len(angular), 6))
    rows[: len(linear), :3], rows[len(linear) :, 3:] = linear, angular
    return rows


def _across(axis: Array) -> Array:
    """(2, 3) directions perpendicular to an axis."""
    x = np.roll(np.eye(3)[int(np.argmax(np.abs(axis)))], 1)
    x = x - (x @ axis) * axis
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x)])
