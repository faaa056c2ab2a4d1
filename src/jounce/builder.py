"""Building a robot body by body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, flag, frozen, near, pose, quoted, text
from jounce.core_tables import BodyRecord, massless_bodies, rigidly
from jounce.model import Model, a_model
from jounce.parts.constraints import ConstraintRecord, Gear, Kind, a_kind
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Joint
from jounce.parts.sections import SoftBody
from jounce.soft.module import ModuleBody, is_module

if TYPE_CHECKING:
    from jounce.parts.visual import Visual


class Builder:
    """Collects bodies and makes a `Model` of them.

    Args:
        gravity: (3,) acceleration of free fall in world axes, m/s^2.

    >>> import jounce as jn
    >>> b = jn.Builder()
    >>> b.add("arm", parent="world", joint=jn.Revolute(axis=(0, 1, 0)), inertia=jn.Inertia(1.0, com=(0, 0, -0.5)))
    >>> robot = b.build()
    >>> robot.inverse_dynamics([np.pi / 2], [0.0], [0.0]).round(3)  # torque that holds the arm out
    array([4.905])
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        self._gravity = frozen(array_of("gravity", gravity, (3,)))
        self._bodies: list[BodyRecord] = []
        self._index: dict[str, int] = {}
        self._constraints: list[ConstraintRecord] = []
        self._scenery: Sequence[Visual] = ()
        self._keyframes: Mapping[str, Mapping[str, NDArray[np.float64]]] = {}

    @classmethod
    def from_model(cls, model: Model) -> Builder:
        """A builder that starts with the bodies and the gravity of a robot, to add more.

        The robot itself does not change. Its coordinates keep their places; those of added joints follow.

        >>> import jounce as jn
        >>> b = Builder.from_model(jn.robots.quadrotor_arm())
        >>> b.add("finger", parent="tool", body=jn.soft.Rod(length=0.1, radius=0.01, density=1100.0, young=1e5))
        >>> b.build().joint_names
        ('base', 'shoulder', 'elbow', 'finger')
        """
        builder = cls(a_model("model", model).gravity)
        builder._bodies = list(model.bodies)
        builder._index = {b.name: i for i, b in enumerate(builder._bodies)}
        builder._constraints = list(model.constraints)
        builder._scenery = model.scenery
        builder._keyframes = model._keyframes
        return builder

    def add(
        self,
        name: str,
        parent: str,
        joint: Joint | None = None,
        placement: ArrayLike | None = None,
        inertia: Inertia | None = None,
        *,
        body: SoftBody | Any = None,
        at: float | None = None,
        visuals: Sequence[Visual] = (),
    ) -> None:
        """Adds a body.

        Args:
            name: of the body, unique.
            parent: name of a body added before, or "world".
            joint: that connects it to the parent; `Fixed` when left out.
            placement: (4, 4) pose of the joint frame in the parent's body frame, such as `jounce.placement` gives; the
                identity when left out. The body's own frame is the joint frame, moved by the joint.
            inertia: none when left out.
            body: a soft body, such as a `jounce.soft.Rod` or a `jounce.soft.Module` of your own, in place of
                `inertia`. It begins at the joint frame; the frame with its name, in which children are placed, is at
                its far end.
            at: where along a soft parent this body is attached, in metres of its rest length; its far end when left
                out.
            visuals: what it looks like: `jounce.view.Visual`, each a shape with its place in the body's frame. The
                dynamics do not depend on them.
        """
        text("name", name)
        text(f"parent of {quoted(name)}", parent)
        if name == "world":
            raise ValueError("name is 'world', which is taken by the world itself")
        if name in self._index:
            above = self._bodies[self._index[name]].parent
            has = self._bodies[above].name if above >= 0 else "world"
            raise ValueError(f"name is {quoted(name)}, which was added before, on {has!r}: a body has one parent")
        if parent == name:
            raise ValueError(f"parent of {quoted(name)} is itself, which would be a cycle")
        if parent != "world" and parent not in self._index:
            hint = near(parent, ["world", *self._index])
            raise ValueError(f"parent of {quoted(name)} is {quoted(parent)}, which was not added before: {hint}")
        if joint is None:
            joint = Fixed()
        if not isinstance(joint, Joint):
            raise ValueError(
                f"joint of {quoted(name)} is {quoted(joint)}, expected one such as jounce.Revolute(axis=(0, 0, 1))"
            )
        if inertia is not None and not isinstance(inertia, Inertia):
            raise ValueError(f"inertia of {quoted(name)} is {quoted(inertia)}, expected a jounce.Inertia")
        if body is not None:
            if not isinstance(body, SoftBody) and is_module(body):
                body = ModuleBody(name, body)
            if not isinstance(body, SoftBody):
                raise ValueError(f"body of {quoted(name)} is {quoted(body)}, expected one such as jounce.soft.Rod(...)")
            if inertia is not None:
                raise ValueError(f"body and inertia of {quoted(name)} were both given: a soft body has its own mass")
        mark = None if at is None else self._mark(f"at of {quoted(name)}", parent, at)
        placed = np.eye(4) if placement is None else pose(f"placement of {quoted(name)}", placement)
        looks = _visuals(f"visuals of {quoted(name)}", visuals)
        above = -1 if parent == "world" else self._index[parent]
        self._index[name] = len(self._bodies)
        self._bodies.append(BodyRecord(name, above, joint, placed, inertia or Inertia(0.0), body, mark, looks))

    def close(
        self,
        name: str,
        first: str,
        second: str,
        joint: Kind,
        *,
        placement_a: ArrayLike | None = None,
        placement_b: ArrayLike | None = None,
        at_a: float | None = None,
        at_b: float | None = None,
    ) -> None:
        """Closes a loop: ties two bodies together, in addition to the joints of the tree.

        The constraint forbids every motion that the joint does not allow: `Fixed` is a weld, `Revolute` a hinge,
        `Spherical` a point. All methods that solve for motions satisfy it; `Model.project` projects configurations
        onto it.

        Args:
            name: of the constraint, unique.
            first, second: names of bodies added before, or "world"; for a `Gear`, of joints with one coordinate, or
                the same joint twice, to hold it with a constant polynomial.
            joint: as in `add`, with the second body as child of the first; or `Distance`, `OnPlane`, `OnLine`,
                `Rolling`, `Gear`.
            placement_a: (4, 4) place on the first body, in its frame; the identity when left out.
            placement_b: (4, 4) place on the second body, in its frame.
            at_a, at_b: place along a soft body, in metres of its rest length; its far end when left out.

        >>> import jounce as jn
        >>> b = jn.Builder()
        >>> for arm, x in (("left", 0.0), ("right", 0.5)):
        ...     hinge = jn.placement((x, 0, 0))
        ...     b.add(arm, "world", jn.Revolute((0, 1, 0)), hinge, jn.Inertia(1.0, com=(0, 0, -0.5)))
        >>> b.close("rope", "left", "right", jn.Distance(0.5))
        >>> robot = b.build()
        >>> robot.forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 0.0]).shape
        (2,)
        """
        text("name", name)
        if name in [c.name for c in self._constraints]:
            raise ValueError(f"name is {quoted(name)}, which is the name of another constraint")
        kind = a_kind(name, joint)
        what = f"constraint {quoted(name)}"
        if isinstance(kind, Gear):
            if any(x is not None for x in (placement_a, placement_b, at_a, at_b)):
                raise ValueError(f"{what}: a gear is between joints, which have no placement")
            for key, given in (("first", first), ("second", second)):
                self._expect_coordinate(what, key, given)
            if first == second and kind.polynomial[1:].any():
                raise ValueError(
                    f"{what}: first and second are both {quoted(first)}, which only a constant polynomial can hold"
                )
            self._constraints.append(ConstraintRecord(name, kind, first, second))
            return
        for key, given in (("first", first), ("second", second)):
            text(f"{key} of {what}", given)
            if given != "world" and given not in self._index:
                hint = near(given, ["world", *self._index])
                raise ValueError(f"{what}: {key} is {quoted(given)}, which was not added before: {hint}")
        if first == second and at_a == at_b:
            raise ValueError(f"{what}: first and second are both {quoted(first)}: a body cannot be tied to itself")
        trial = list(self._bodies)  # so that errors leave the builder unchanged
        places = []
        for letter, body, placement, at in (("a", first, placement_a, at_a), ("b", second, placement_b, at_b)):
            placed = np.eye(4) if placement is None else pose(f"placement_{letter} of {what}", placement)
            if at is not None:
                place, mark = self._mark(f"at_{letter} of {what}", body, at), f"{name}.{letter}"
                if mark in self._index:
                    raise ValueError(f"{what}: at_{letter} needs a frame named {mark!r}, the name of another body")
                trial.append(BodyRecord(mark, self._index[body], Fixed(), np.eye(4), Inertia(0.0), None, place))
                body = mark
            places.append((body, frozen(placed)))
        (a, pose_a), (b, pose_b) = places
        part, place = rigidly(trial, a)
        if (part, place) == rigidly(trial, b):
            both = "the world" if part == "world" else quoted(part)
            raise ValueError(
                f"{what}: {quoted(first)} and {quoted(second)} do not move relative to each other: "
                f"both are parts of {both}"
            )
        for added in trial[len(self._bodies) :]:
            self._index[added.name] = len(self._bodies)
            self._bodies.append(added)
        self._constraints.append(ConstraintRecord(name, kind, a, b, pose_a, pose_b))

    def _expect_coordinate(self, what: str, key: str, given: str) -> None:
        """Checks that a joint has one coordinate of its own."""
        joints = {b.joint_name: b.joint for b in self._bodies if b.joint.nv}
        if not isinstance(given, str) or given not in joints:
            hint = near(given if isinstance(given, str) else quoted(given), joints)
            raise ValueError(f"{what}: {key} is {quoted(given)}, which is not a joint added before: {hint}")
        if joints[given].nv != 1 or joints[given].follows:
            raise ValueError(f"{what}: {key} is {quoted(given)}, expected a joint with one coordinate of its own")

    def _mark(self, what: str, parent: str, at: float) -> float | None:
        """Where on its parent the body is: None for the far end."""
        soft = None if parent == "world" else self._bodies[self._index[parent]].soft
        if soft is None:
            raise ValueError(f"{what} is {quoted(at)}, but its parent {quoted(parent)} is not soft: give a placement")
        if soft.length == 0:
            raise ValueError(
                f"{what} is {quoted(at)}, but its parent {quoted(parent)} can carry others at its far end only"
            )
        s = float(array_of(what, at, ()))
        if not 0 <= s <= soft.length * (1 + 1e-12):
            raise ValueError(f"{what} is {s:g}, expected 0 to {soft.length:g}, the length of {quoted(parent)}")
        return None if s >= soft.length else s

    def build(self, *, allow_massless: bool = False) -> Model:
        """The robot.

        Args:
            allow_massless: whether joints may move bodies without any inertia. By default that is a ``ValueError``;
                such a robot has kinematics and inverse dynamics, but no forward dynamics.
        """
        if not flag("allow_massless", allow_massless):
            _check_movable(self._bodies)
        return Model(self._bodies, self._gravity, self._constraints, self._scenery, self._keyframes)


def _visuals(what: str, given: Sequence[Visual]) -> Sequence[Visual]:
    if isinstance(given, tuple) and not given:  # without importing what draws
        return given
    from jounce.parts.visual import checked_visuals

    return checked_visuals(what, given)


def _check_movable(bodies: Sequence[BodyRecord]) -> None:
    massless = massless_bodies(bodies)
    if massless:
        raise ValueError(
            f"body {massless[0]!r} moves but has no inertia, nor has any body below it: "
            "give it an inertia, its joint an armature, or make the joint Fixed"
        )
