"""How the value of one parameter changes the robot: the changes that models have, each as a function (robot, value).

Any other function of these two is one, too. What depends on several parameters belongs in a function that makes the
robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jounce._checks import near, one_of, quoted
from jounce.model import Model
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Limits
from jounce.parts.placement import placement

_DRIVES = ("armature", "damping", "friction", "friction_speed", "stiffness", "rest")
_SCALED = ("armature", "damping", "friction", "stiffness")
_LIMITS = ("lower", "upper", "velocity", "effort", "acceleration", "deceleration", "jerk", "effort_rate")


@dataclass(frozen=True)
class Payload:
    """A point mass, kg, at a body or frame.

    Args:
        frame: its name.
        at: (3,) where, in the axes of the frame, m.
    """

    frame: str
    at: Sequence[float] = (0.0, 0.0, 0.0)

    def expect_names(self, robot: Model) -> None:
        """Raises an error if the robot does not have what is named."""
        robot.frame_index(self.frame)

    def __call__(self, robot: Model, value: float) -> Model:
        return robot.payload(self.frame, Inertia(value), placement(self.at))


@dataclass(frozen=True)
class Mass:
    """A body's mass and moments, times the value."""

    body: str

    def expect_names(self, robot: Model) -> None:
        """Raises an error if the robot does not have what is named."""
        own = [body.name for body in robot.bodies]
        if self.body not in own:
            raise ValueError(f"no body is named {quoted(self.body)}: {near(self.body, own)}")

    def __call__(self, robot: Model, value: float) -> Model:
        self.expect_names(robot)
        new = next(body.inertia for body in robot.bodies if body.name == self.body)
        return robot.replace(
            inertia={self.body: Inertia(new.mass * value, new.com, new.rotational * value, physical=False)}
        )


@dataclass(frozen=True)
class Drive:
    """A number of a joint: its armature, damping, friction, friction_speed, stiffness or rest.

    Args:
        quantity: one of these.
        joint: its name; all joints when left out.
        factor: whether the value multiplies what the robot has instead of replacing it.
    """

    quantity: str
    joint: str | None = None
    factor: bool = False

    def __post_init__(self) -> None:
        one_of("quantity", self.quantity, *(_SCALED if self.factor else _DRIVES))

    def expect_names(self, robot: Model) -> None:
        """Raises an error if the robot does not have what is named."""
        _expect_joint(robot, self.joint)

    def __call__(self, robot: Model, value: float) -> Model:
        new: Any = value
        if self.factor:
            new = value * getattr(robot, self.quantity)
            if self.joint is not None:
                new = new[robot.coordinate(self.joint)]
                new = float(new[0]) if new.size == 1 else new
        change: Any = {self.quantity: new if self.joint is None else {self.joint: new}}
        return robot.replace(**change)


@dataclass(frozen=True)
class Limit:
    """A limit of a joint: lower, upper, velocity, effort, acceleration, deceleration, jerk or effort_rate."""

    quantity: str
    joint: str | None = None

    def __post_init__(self) -> None:
        one_of("quantity", self.quantity, *_LIMITS)

    def expect_names(self, robot: Model) -> None:
        """Raises an error if the robot does not have what is named."""
        _expect_joint(robot, self.joint)

    def __call__(self, robot: Model, value: float) -> Model:
        new = Limits(**{self.quantity: value})
        return robot.replace(limits=new if self.joint is None else {self.joint: new})


@dataclass(frozen=True)
class Gravity:
    """The size of gravity, m/s^2, in its direction."""

    def __call__(self, robot: Model, value: float) -> Model:
        size = float(np.linalg.norm(robot.gravity))
        return robot.replace(gravity=robot.gravity * (value / size) if size else np.array([0.0, 0.0, -value]))


def _expect_joint(robot: Model, name: str | None) -> None:
    known = [body.joint_name for body in robot.bodies]
    if name is not None and name not in known:
        raise ValueError(f"no joint is named {quoted(name)}: {near(name, known)}")
