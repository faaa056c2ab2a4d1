"""The kinds of robots that every call is tried on.

Each has a joint that follows another with ratio zero, which is a fixed joint: `FIXED` are the same robots said so.
"""

from __future__ import annotations

import jounce as jn
from coupled_robots import Maker, Robot, maker, rod

FOLLOW = jn.Follow


def with_a_joint_that_stays(some: Maker, on: str, leader: str) -> Robot:
    """On one of the bodies, a body whose joint has ratio zero, with a joint on it and a frame at the end."""
    some.add("zero", on, "revolute", follows=FOLLOW(leader, 0.0), armature=0.2, damping=0.3, stiffness=5.0)
    some.add("end", "zero", "revolute", stiffness=20.0)
    return some.add("tip", "end", "fixed").robot()


SPRING = {"stiffness": 20.0}  # so that each of them can be at rest
KINDS: dict[str, Robot] = {
    "rigid": with_a_joint_that_stays(
        maker(31).add("arm", "world", "revolute", **SPRING).add("slide", "arm", "prismatic", **SPRING), "arm", "arm"
    ),
    "floating": with_a_joint_that_stays(
        maker(32).add("arm", "world", "free", stiffness=80.0).add("leg", "arm", "revolute", damping=0.4, **SPRING),
        "arm",
        "leg",
    ),
    "spherical": with_a_joint_that_stays(
        maker(33).add("arm", "world", "revolute", **SPRING).add("ball", "arm", "spherical", **SPRING), "ball", "arm"
    ),
    "siblings": with_a_joint_that_stays(
        maker(34)
        .add("arm", "world", "revolute", **SPRING)
        .add("left", "arm", "revolute", follows=FOLLOW("lead", -0.8, 0.1))
        .add("lead", "arm", "revolute", **SPRING)
        .add("right", "arm", "prismatic", follows=FOLLOW("lead", 0.3)),
        "right",
        "lead",
    ),
    "chain": with_a_joint_that_stays(
        maker(35)
        .add("arm", "world", "revolute", **SPRING)
        .add("fore", "arm", "helical", follows=FOLLOW("arm", 1.4, -0.2), damping=0.2)
        .add("hand", "fore", "revolute", follows=FOLLOW("fore", -0.6)),
        "fore",
        "hand",
    ),
    "branches": with_a_joint_that_stays(
        maker(36)
        .add("arm", "world", "free", stiffness=80.0)
        .add("left", "arm", "revolute", **SPRING)
        .add("right", "arm", "revolute", **SPRING)
        .add("hand", "right", "revolute", follows=FOLLOW("left", 0.7, 0.2)),
        "right",
        "left",
    ),
    "soft": with_a_joint_that_stays(
        maker(37)
        .add("arm", "world", "revolute", **SPRING)
        .add("rod", "arm", "fixed", soft=rod(young=2e4, actuators=[jn.soft.Tendon("cable", (0.01, 0.0))]))
        .add("eye", "rod", "fixed", at=0.1),
        "rod",
        "arm",
    ),
}
FIXED = {kind: robot.fixed("zero") for kind, robot in KINDS.items()}
