"""The kinds of robots that every call is tried on.

Each has a joint that follows another with ratio zero, which is a fixed joint: in `FIXED`, the same robots have a fixed
joint there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

import jounce as jn
from coupled_robots import FOLLOWERS, SOFT, Maker, Robot, maker, rod
from custom_twins import said_by_functions
from trees import ALL_JOINTS as JOINTS
from trees import ONE_DOF

FOLLOW = jn.Follow


def with_a_joint_that_stays(some: Maker, on: str, leader: str) -> Robot:
    """Adds to one of the bodies a body whose joint has ratio zero, with a joint on it and a frame at the end."""
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
    "closed": with_a_joint_that_stays(
        maker(43)
        .add("arm", "world", "revolute", **SPRING)
        .add("ball", "arm", "spherical", **SPRING)
        .add("slide", "ball", "prismatic", **SPRING)
        .add("far", "world", "revolute", **SPRING)
        .add("hand", "far", "revolute", **SPRING)
        .tie(jn.Cylindrical((0.6, 0.0, 0.8)), "slide", "hand", "loop")
        .tie(jn.Gear((0.1, 0.5, 0.2)), "arm", "end", "gear"),
        "slide",
        "arm",
    ),
    "held": with_a_joint_that_stays(
        maker(44)
        .add("arm", "world", "free", stiffness=80.0)
        .add("leg", "arm", "revolute", **SPRING)
        .add("foot", "leg", "revolute", **SPRING)
        .tie(jn.Spherical(), "tip")
        .tie(jn.Contact(jn.OnPlane((0.1, 0.2, 1.0)), np.eye(4)), "foot"),
        "arm",
        "leg",
    ),
}
FIXED = {kind: robot.fixed("zero") for kind, robot in KINDS.items()}

_every = maker(38)
for _name, _parent, _joint in (
    ("base", "world", "planar"),
    ("a", "base", "universal"),
    ("b", "a", "spherical"),
    ("c", "base", "helical"),
    ("d", "c", "cylindrical"),
    ("e", "world", "free"),
    ("f", "e", "prismatic"),
):
    _every.add(_name, _parent, _joint, damping=0.1)


def _cylinder() -> tuple[Robot, Robot]:
    """A link between a base and a hand: as a rod that cannot deform, with its frame at the far end, and as a body."""
    length, radius, density = 0.4, 0.03, 900.0
    mass = density * np.pi * radius**2 * length
    across, along = mass * (3 * radius**2 + length**2) / 12, mass * radius**2 / 2
    stiff = jn.soft.Rod(length, radius, density, 1e5, strain=np.zeros((6, 0)))
    rod_link = (
        maker(42)
        .add("base", "world", "free", stiffness=30.0)
        .add("link", "base", "revolute", soft=stiff, damping=0.1, **SPRING)
        .add("tip", "link", "revolute", **SPRING)
        .robot()
    )
    base, link, tip = rod_link.parts
    massless = {"mass": 0.0, "com": np.zeros(3), "inertia": np.zeros((3, 3))}
    end = np.eye(4)
    end[2, 3] = length
    near = replace(link, spec=replace(link.spec, name="near", **massless), soft=None)
    own = {"mass": mass, "com": np.array([0, 0, -length / 2]), "inertia": np.diag([across, across, along])}
    far = replace(near, spec=replace(near.spec, name="link", parent=1, joint="fixed", placement=end, **own))
    far = replace(far, spec=replace(far.spec, damping=0.0, stiffness=0.0))
    return rod_link, Robot((base, near, far, replace(tip, spec=replace(tip.spec, parent=2))))


STIFF, RIGID = _cylinder()

_PLANE = {"axis": np.array([0.0, 1.0, 0.0])}


def _shift(x: float) -> np.ndarray:
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


TIED: dict[str, Robot] = {
    "four-bar": maker(51)  # in a plane: two of the five rows of its hinge suffice
    .add("crank", "world", "revolute", placement=_shift(0.0), **_PLANE)
    .add("coupler", "crank", "revolute", placement=_shift(0.3), **_PLANE)
    .add("rocker", "world", "revolute", placement=_shift(0.6), **_PLANE)
    .tie(jn.Revolute((0, 1, 0)), "coupler", "rocker", "pin", placement_a=_shift(0.7))
    .robot(),
    "two feet": maker(52)
    .add("base", "world", "free")
    .add("left", "base", "revolute", damping=0.3)
    .add("left foot", "left", "revolute")
    .add("right", "base", "prismatic")
    .add("right foot", "right", "revolute")
    .tie(jn.Spherical(), "left foot")
    .tie(jn.Contact(jn.OnPlane((0.0, 0.1, 1.0)), np.eye(4)), "right foot")
    .robot(),
    "geared pair": maker(53)
    .add("arm", "world", "revolute")
    .add("motor", "arm", "revolute", armature=0.1)
    .add("wheel", "arm", "revolute")
    .add("hand", "wheel", "universal")
    .tie(jn.Gear((0.1, -0.5, 0.2)), "motor", "wheel", "gear")
    .robot(),
    "two rods": maker(54)
    .add("left", "world", "fixed", soft=rod())
    .add("right", "world", "fixed", soft=rod())
    .add("hand", "right", "revolute")
    .tie(jn.Spherical(), "left", "right", "grip", at_a=0.2)
    .tie(jn.Distance(0.3), "world", "hand", "rope")
    .robot(),
    "followers in a loop": maker(55)
    .add("a", "world", "revolute")
    .add("b", "a", "revolute", follows=FOLLOW("a", 0.8, 0.1))
    .add("c", "b", "spherical")
    .add("d", "world", "revolute")
    .add("e", "d", "prismatic", follows=FOLLOW("a", -0.5))
    .add("f", "e", "revolute", follows=FOLLOW("d", 1.2, -0.2))
    .tie(jn.OnLine((0.0, 0.6, 0.8)), "c", "f", "rail", placement_a=_shift(0.3))
    .robot(),
    "rolling": maker(56)
    .add("wheel", "world", "free")
    .add("pendulum", "wheel", "revolute", damping=0.1)
    .add("arm", "pendulum", "spherical")
    .tie(jn.Rolling(0.3, axis=(0.0, 1.0, 0.0)), "world", "wheel", "road")
    .robot(),
    "a ball in a bowl": maker(57)  # with each of the other ties
    .add("bowl", "world", "free", stiffness=30.0)
    .add("ball", "bowl", "free")
    .add("arm", "world", "spherical")
    .add("screw", "arm", "cylindrical")
    .add("lid", "screw", "planar")
    .tie(jn.Rolling(0.2, normal=(0.0, 0.6, 0.8)), "bowl", "ball", "rolls")
    .tie(jn.Universal((1, 0, 0), (0, 0.6, 0.8)), "lid", "bowl", "hinge")
    .robot(),
}


class SaidByFunctions(Robot):
    """The same robot, its joints given by functions."""

    @cached_property
    def model(self) -> jn.Model:
        return said_by_functions(super().model)


def with_functions(robot: Robot) -> Robot:
    return SaidByFunctions(robot.parts, robot.gravity, robot.ties, robot.home)


_rubbing = (
    maker(42)
    .add("base", "world", "free", friction=0.3)
    .add("arm", "base", "revolute", friction=0.6, damping=0.1)
    .add("slide", "arm", "prismatic", follows=FOLLOW("arm", -0.7, 0.1), friction=0.5)
    .add("hand", "arm", "universal", friction=0.4)
    .add("ball", "base", "spherical", friction=0.2)
)
_rubbing_loop = (
    maker(43)
    .add("left", "world", "revolute", friction=0.4)
    .add("top", "left", "spherical", friction=0.3)
    .add("right", "world", "universal", friction=0.5)
    .add("rod", "right", "revolute", friction=0.2, soft=rod())
    .tie(jn.Distance(0.4), "top", "rod")
)
EVERY: dict[str, Robot] = {
    "rod that cannot deform": STIFF,
    **KINDS,
    **{f"followers, {name}": robot for name, robot in FOLLOWERS.items()},
    **SOFT,
    **{f"constraints, {name}": robot for name, robot in TIED.items()},
    "every joint": _every.robot(),
    "friction": _rubbing.robot(),
    "friction, joints by functions": with_functions(_rubbing.robot()),
    "constraints, friction": _rubbing_loop.robot(),
    "joints by functions": with_functions(KINDS["branches"]),
    "joints by functions, closed": with_functions(TIED["geared pair"]),
    "one joint": maker(39).add("arm", "world", "revolute").robot(),
    "a body that flies": maker(40).add("arm", "world", "free").robot(),
    "nothing moves": maker(41).add("arm", "world", "fixed").add("hand", "arm", "fixed").robot(),
}


def random_robot(seed: int) -> Robot:
    """Any joints, some following others, and rods; every other robot has a loop or a contact, if possible."""
    some = maker(1000 + seed)
    rng, leaders = some.rng, []
    for i in range(int(rng.integers(1, 7))):
        joint = str(rng.choice(JOINTS))
        options: dict[str, object] = {k: rng.uniform(0, 0.5) for k in ("armature", "damping") if rng.random() < 0.3}
        if joint in ONE_DOF and leaders and rng.random() < 0.4:
            options["follows"] = FOLLOW(str(rng.choice(leaders)), rng.uniform(-2, 2), rng.uniform(-1, 1))
        if joint == "fixed" and rng.random() < 0.4:
            strain = (jn.soft.constant_curvature(planar=True), jn.soft.constant_strain("bend_x", "twist"))
            options = {"soft": rod(strain=strain[int(rng.integers(2))])}
        if joint in ONE_DOF:
            leaders.append(f"b{i}")
        parent = "world" if i == 0 or rng.random() < 0.2 else f"b{rng.integers(i)}"
        some.add(f"b{i}", parent, joint, **options)
    return _tied(some) if rng.random() < 0.5 else some.robot()


def _tied(some: Maker) -> Robot:
    """With a tie between two bodies, or of one with the world, that leaves some motions and has well-separated rows.

    Unchanged if the randomly drawn tie does not.
    """
    rng, names, robot = some.rng, [p.spec.name for p in some.parts], some.robot()
    if len(names) < 2:  # so that one is left that is not tied
        return robot
    axis = rng.normal(size=3)
    kinds = [
        jn.Spherical(),
        jn.Revolute(axis),
        jn.Cylindrical(axis),
        jn.Helical(axis, 0.2),
        jn.Universal(axis, (0, 1, 0)),
    ]
    kinds += [jn.OnPlane(axis), jn.OnLine(axis), jn.Distance(0.4), jn.Rolling(0.3), jn.Rolling(0.3, axis=(0, 1, 0))]
    kind, first, second = kinds[int(rng.integers(len(kinds)))], str(rng.choice(names)), str(rng.choice(["", *names]))
    if not second and isinstance(kind, jn.Distance):  # needs a reference point
        kind = jn.Contact(kind, np.eye(4))
    try:
        tied = some.tie(kind, first, second).robot()
    except ValueError:  # fixed bodies are not tied
        return robot
    sizes = np.linalg.svd(tied.model.constraint_jacobian(tied.home), compute_uv=False)
    rows = sum(c.rows for c in tied.model.constraints)
    return tied if rows < tied.model.nv and sizes[-1] > 0.05 * sizes[0] else robot
