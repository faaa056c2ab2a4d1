"""Changed robots of every kind, against the robots that they are made from.

With some joints at rest, the forces of the others are those of the robot in which they are locked. The block of the
mass matrix that belongs to a subtree depends on that subtree alone. And a mass matrix is the sum of J^T G J over the
bodies, G the inertia of each.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import jounce as jn
from coupled_robots import FOLLOWERS, Robot, rod
from kinds import EVERY, KINDS, TIED

LOCKABLE = {k: r for k, r in EVERY.items() if r.model.nv > 1 and not r.ties}


def agree(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-12) -> None:
    size = max(float(np.abs(expected).max(initial=0.0)), 1e-3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * size)


def columns(model: jn.Model, names: object) -> np.ndarray:
    return np.concatenate([np.zeros(0, int), *(np.arange(model.nv)[model.coordinate(n)] for n in names)])


def state(robot: Robot, seed: int) -> tuple[np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return robot.configuration(rng), rng


def carried(name: str, names: tuple[str, ...]) -> str:
    """The name of a shape in a robot in which the joint of its body may be locked."""
    return name if name in names else name.removesuffix(".shape")


# --- lock -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", LOCKABLE)
def test_locked_joints_are_joints_at_rest(kind: str, seed: int) -> None:
    """Joints, custom ones, followers, soft bodies: motion, forces, energy, and the frames."""
    robot, model = LOCKABLE[kind], LOCKABLE[kind].model
    q, rng = state(robot, seed)
    some = [n for n in model.joint_names if rng.random() < 0.5] or [model.joint_names[-1]]
    free = [n for n in model.joint_names if n not in some]
    locked = model.lock({n: q[model.position(n)] for n in some})
    assert locked.joint_names == tuple(carried(n, locked.joint_names) for n in free)
    own = np.concatenate([np.zeros(0), *(q[model.position(n)] for n in free)])
    at = columns(model, free)
    v, a = np.zeros((2, model.nv))
    v[at], a[at] = rng.normal(size=(2, len(at)))
    tolerance = 1e-9 if model._soft else 1e-11  # the sections of a rod are where its marks are
    agree(locked.inverse_dynamics(own, v[at], a[at]), model.inverse_dynamics(q, v, a)[at], tolerance)
    agree(locked.mass_matrix(own), model.mass_matrix(q)[np.ix_(at, at)], tolerance)
    shared = [n for n in model.frame_names if n in locked.frame_names]
    assert set(shared) == set(model.frame_names)
    for name in shared:
        agree(locked.pose(name, own), model.pose(name, q), 1e-11)
        agree(locked.twist(name, own, v[at][None]), model.twist(name, q, v[None]), 1e-11)


@pytest.mark.parametrize("axis", [None, (0.6, 0.0, 0.8)])
def test_a_locked_rotor_is_carried(axis: object) -> None:
    b = jn.Builder()
    body = jn.Inertia.box(2.0, (0.3, 0.2, 0.1))
    b.add("base", "world", jn.Spherical(), inertia=body)
    b.add("arm", "base", jn.Revolute((1, 0, 0), rotor=jn.Rotor(50.0, 0.02, axis)), inertia=body)
    b.add("tail", "base", jn.Prismatic((0, 1, 0), rotor=jn.Rotor(-20.0, 0.03, (0, 0, 1))), body=rod())
    robot, q = b.build(), np.array([0.0, 0.6, 0.0, 0.8, 0.7, 0.1, 0.3, -0.2, 0.1])
    for some in (["arm"], ["tail"], ["arm", "tail"]):
        free = [n for n in robot.joint_names if n not in some]
        at = columns(robot, free)
        locked = robot.lock({n: q[robot.position(n)] for n in some})
        own = np.concatenate([q[robot.position(n)] for n in free])
        agree(locked.mass_matrix(own), robot.mass_matrix(q)[np.ix_(at, at)], 1e-11)


def test_a_locked_joint_leaves_nothing_of_its_drive() -> None:
    b = jn.Builder()
    for name, on in (("a", "world"), ("b", "a")):
        joint = jn.Revolute((0, 1, 0), armature=3.0, damping=2.0, stiffness=5.0, limits=jn.Limits(-1, 1))
        b.add(name, on, joint, inertia=jn.Inertia(1.0, com=(0, 0, -0.5)))
    locked = b.build().lock({"b": 0.0})
    assert locked.mass_matrix([0.0])[0, 0] == 3.0 + 2 * 0.25
    assert locked.frame_names == ("a", "b")
    assert locked.lower.tolist() == [-1.0]
    assert locked.bodies[1].joint_name == "b"


def test_everything_locked_stands_still() -> None:
    robot = EVERY["every joint"].model
    q = robot.random_configuration(np.random.default_rng(0))
    still = robot.lock({n: q[robot.position(n)] for n in robot.joint_names})
    assert (still.nq, still.nv) == (0, 0)
    for name in robot.frame_names:
        agree(still.pose(name, np.zeros(0)), robot.pose(name, q))


@pytest.mark.parametrize("kind", ["two feet", "followers in a loop", "two rods"])
def test_constraints_stay(kind: str) -> None:
    robot, model = TIED[kind], TIED[kind].model
    q, rng = state(robot, 0)
    name = {"two feet": "right", "followers in a loop": "d", "two rods": "hand"}[kind]
    free = [n for n in model.joint_names if n != name]
    locked = model.lock({name: q[model.position(name)]})
    own = np.concatenate([q[model.position(n)] for n in free])
    assert locked.constraint_names == model.constraint_names
    agree(locked.residual(own), model.residual(q))
    agree(locked.constraint_jacobian(own), model.constraint_jacobian(q)[:, columns(model, free)])
    acc = locked.forward_dynamics(own, np.zeros(locked.nv), rng.normal(size=locked.nv))
    agree(locked.constraint_jacobian(own) @ acc, np.zeros(len(locked.residual(own))), 1e-9)


def geared(polynomial: object = (0.1, -2.0)) -> jn.Model:
    b = jn.Builder()
    for name in ("motor", "wheel", "arm"):
        b.add(name, "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, (0, 0, -1), (1, 1, 1)))
    b.close("gear", "motor", "wheel", jn.Gear(polynomial))
    return b.build()


def test_a_gear_with_a_locked_joint_holds_the_other() -> None:
    robot = geared((0.1, -2.0, 0.5))
    held = robot.lock({"motor": 0.3})
    q = held.project(held.neutral())
    agree(q, np.array([0.1 - 2 * 0.3 + 0.5 * 0.09, 0.0]), 1e-9)
    assert held.forward_dynamics(q, [0, 0], [3.0, 1.0])[0] == pytest.approx(0.0, abs=1e-12)
    back = geared().lock({"wheel": 0.5})
    agree(back.project(back.neutral()), np.array([(0.5 - 0.1) / -2, 0.0]), 1e-9)
    assert back.constraint_names == ("gear",)


@pytest.mark.parametrize(
    ("make", "positions", "words"),
    [
        (lambda: KINDS["rigid"].model, {"amr": 0.0}, "positions: no joint is named 'amr': did you mean 'arm'"),
        (lambda: KINDS["rigid"].model, {"zero": 0.0}, "joint 'zero' follows 'arm', expected a position of 'arm'"),
        (lambda: KINDS["rigid"].model, {"tip": 0.0}, "no joint is named 'tip'"),
        (lambda: KINDS["rigid"].model, {"arm": [0.0, 1.0]}, r"positions\['arm'\] has shape \(2,\)"),
        (lambda: KINDS["rigid"].model, {"arm": np.nan}, r"positions\['arm'\] is nan, expected finite"),
        (lambda: KINDS["rigid"].model, ["arm"], "positions is .*, expected a mapping"),
        (lambda: KINDS["floating"].model, {"arm": np.ones(7)}, r"the quaternion in positions\['arm'\] is"),
        (lambda: TIED["four-bar"].model, dict.fromkeys(("crank", "coupler", "rocker"), 0.0), "constraint 'pin' ties"),
        (geared, {"motor": 0.0, "wheel": 0.1}, r"constraint 'gear' ties .* unconstrained\(\['gear'\]\)"),
        (lambda: geared((0, 1, 2)), {"wheel": 0.1}, "cannot be inverted: lock 'motor' instead"),
    ],
)
def test_errors_of_lock(make: object, positions: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make().lock(positions)


def test_a_contact_of_what_is_locked_says_so() -> None:
    held = jn.robots.quadrotor_arm().constrained({"tool": jn.Spherical()})
    everything = {n: held.neutral()[held.position(n)] for n in held.joint_names}
    with pytest.raises(ValueError, match="constraint 'tool' ties 'world' to 'tool', between which nothing is left"):
        held.lock(everything)
    assert held.unconstrained().lock(everything).nv == 0


# --- replace --------------------------------------------------------------------------------------------


def test_replaced_drives() -> None:
    robot = EVERY["every joint"].model
    q, rng = robot.random_configuration(np.random.default_rng(0)), np.random.default_rng(1)
    a, v = rng.normal(size=(2, robot.nv))
    plain = robot.replace(armature=0.0, damping=0.0, stiffness=0.0)
    moving = columns(robot, [n for n in robot.joint_names if n != "e"])  # not the free one
    armed = plain.replace(armature=0.7)
    expected = np.zeros(robot.nv)
    expected[moving] = 0.7
    agree(armed.mass_matrix(q) - plain.mass_matrix(q), np.diag(expected))
    each = plain.replace(damping={"a": (0.1, 0.2), "e": 3.0})
    expected = np.zeros(robot.nv)
    expected[robot.coordinate("a")], expected[robot.coordinate("e")] = (0.1, 0.2), 3.0
    agree(each.damping_force(q, v), expected * v)
    rough = plain.replace(friction={"f": 0.3}, friction_speed=0.5)
    expected = np.zeros(robot.nv)
    expected[robot.coordinate("f")] = 0.3 * np.tanh(v[robot.coordinate("f")] / 0.5)
    agree(rough.damping_force(q, v) - plain.damping_force(q, v), expected)
    sprung = plain.replace(stiffness={"f": 4.0, "c": 2.0}, rest={"f": 0.5})
    expected = np.zeros(robot.nv)
    expected[robot.coordinate("f")] = 4 * (q[robot.position("f")] - 0.5)
    expected[robot.coordinate("c")] = 2 * q[robot.position("c")]
    agree(sprung.elastic_force(q), expected)
    assert robot.replace(limits={"f": jn.Limits(-2, 3)}).upper[robot.position("f")] == 3
    still = robot.replace(limits=jn.Limits(-1, 1, 2, 3))
    assert still.effort_limit[robot.coordinate("c")] == 3
    assert np.isinf(still.lower[robot.position("a")]).all()
    moon = robot.replace(gravity=(0, 0, -1.62))
    assert moon.gravity.tolist() == [0, 0, -1.62]
    agree(moon.gravity_force(q), robot.replace(gravity=(0, 0, -16.2)).gravity_force(q) / 10)
    same = robot.replace()
    agree(same.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a), 0)


def test_replaced_drives_of_followers_and_custom_joints() -> None:
    robot = FOLLOWERS["siblings that share a leader"].model
    follower = next(b for b in robot.bodies if b.joint.follows)
    ratio, leader = follower.joint.follows.ratio, follower.joint.follows.joint
    q, v = robot.neutral(), np.ones(robot.nv)
    plain = robot.replace(damping=0.0)
    damped = plain.replace(damping={follower.joint_name: 2.0})
    agree(damped.damping_force(q, v)[robot.coordinate(leader)], 2.0 * ratio**2)

    def sleeve(q):
        c, s = np.cos(q[1]), np.sin(q[1])
        return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, q[0]], [0, 0, 0, 1]])

    b = jn.Builder()
    b.add("sleeve", "world", jn.CustomJoint(sleeve, 2, damping=1.0, name="slip"), inertia=jn.Inertia.sphere(1.0, 0.1))
    custom = b.build().replace(damping=3.0, stiffness={"slip": (10.0, 20.0)}, rest={"slip": (0.1, 0.2)})
    agree(custom.damping_force([0, 0], [1.0, 1.0]), np.array([3.0, 3.0]))
    rubbed = custom.replace(friction={"slip": (0.5, 0.0)}, friction_speed=2.0)
    agree(rubbed.damping_force([0, 0], [1.0, 1.0]), np.array([3.0 + 0.5 * np.tanh(0.5), 3.0]))
    agree(custom.elastic_force([0.3, 0.3]), np.array([2.0, 2.0]))
    agree(custom.replace(limits=jn.Limits(-1, 1)).upper, np.ones(2))
    agree(b.build().damping_force([0, 0], [1.0, 1.0]), np.ones(2))  # which has not changed


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("rigid", {"damping": {"amr": 1.0}}, "damping: no joint is named 'amr': did you mean 'arm'"),
        ("rigid", {"damping": -1.0}, "joint 'arm': damping is .*, expected non-negative numbers"),
        ("rigid", {"damping": [1.0, 2.0]}, r"damping has shape \(2,\)"),
        ("rigid", {"limits": (0, 1)}, "limits is .*, expected a jounce.Limits"),
        ("rigid", {"limits": {"arm": (0, 1)}}, "joint 'arm': limits is .*, expected a jounce.Limits"),
        ("rigid", {"damping": {"arm": None}}, "damping: the value for 'arm' is None"),
        ("rigid", {"gravity": 9.81}, r"gravity has shape \(\), expected \(3,\)"),
        ("spherical", {"rest": {"ball": 1.0}}, "rest: 'ball' is a Spherical joint, which has none"),
        ("spherical", {"stiffness": {"ball": (1, 2, 3)}}, "joint 'ball': stiffness is .*, expected the same number"),
        ("soft", {"stiffness": {"rod": 1.0}}, "stiffness: 'rod' is the shape of a soft body"),
        ("joints by functions", {"armature": {"left": 1.0}}, "armature: 'left' is a CustomJoint joint"),
    ],
)
def test_errors_of_replace(kind: str, given: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        EVERY[kind].model.replace(**given)


# --- attach ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
def test_attached_robots_keep_their_own_dynamics(kind: str) -> None:
    """On a carrier that is at rest, turned so that gravity is that of the other's own world."""
    given = EVERY[kind].model
    model = given.unconstrained([c.name for c in given.constraints if c.contact])
    q, rng = state(EVERY[kind], 1)
    b = jn.Builder(gravity=model.gravity)
    b.add("cart", "world", jn.Free(), inertia=jn.Inertia.box(3.0, (1, 2, 3)))
    b.add("plate", "cart", jn.Fixed(), jn.placement((1, 0, 0), rpy=(0, 0, 1)))
    place = jn.placement((0, 2, 0), axis=(1, 2, 3), angle=0.7)
    both = b.build().attach(model, "plate", place, prefix="its ")
    upright = b.build().pose("plate", b.build().neutral()) @ place
    start = np.linalg.inv(upright)
    turn = jn.placement(start[:3, 3], rotation=start[:3, :3])
    x, y, z, w = _quaternion(turn[:3, :3])
    whole = np.concatenate([turn[:3, 3], [x, y, z, w], q])
    assert both.joint_names == ("cart", *("its " + n for n in model.joint_names))
    v, a = np.zeros((2, both.nv))
    v[6:], a[6:] = rng.normal(size=(2, model.nv))
    agree(both.inverse_dynamics(whole, v, a)[6:], model.inverse_dynamics(q, v[6:], a[6:]), 1e-11)
    agree(both.mass_matrix(whole)[6:, 6:], model.mass_matrix(q), 1e-11)
    for name in model.frame_names:
        agree(both.pose("its " + name, whole), model.pose(name, q), 1e-11)
    assert both.input_names == tuple(_prefixed(n) for n in model.input_names)
    agree(both.actuation_matrix(whole)[6:], model.actuation_matrix(q), 1e-11)
    own = pickle.loads(pickle.dumps(both))
    agree(own.mass_matrix(whole), both.mass_matrix(whole), 0)
    assert own.input_names == both.input_names


def _quaternion(R: np.ndarray) -> np.ndarray:
    pin = pytest.importorskip("pinocchio")
    return pin.Quaternion(R).coeffs()


def _prefixed(name: str) -> str:
    return "its " + name


@pytest.mark.parametrize("kind", TIED)
def test_constraints_come_along(kind: str) -> None:
    """Those with the other's world tie it to the carrier, whose motion they do not restrict."""
    other, model = TIED[kind], TIED[kind].model
    q, _ = state(other, 0)
    placed = any(c.contact and c.held for c in model.constraints)
    b = jn.Builder(gravity=model.gravity)
    b.add("cart", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(1.0))
    if placed:
        with pytest.raises(ValueError, match="other: contact 'its right foot' is held at a place in the world"):
            b.build().attach(model, "cart", prefix="its ")
        both, whole = b.build().attach(model, "world", prefix="its "), np.append(0.0, q)
    else:
        place = jn.placement((0.1, 0.2, 0.3), axis=(1, 2, 3), angle=0.7)
        both, whole = b.build().attach(model, "cart", place, prefix="its "), np.append(0.4, q)
    assert both.constraint_names == tuple("its " + n for n in model.constraint_names)
    J = both.constraint_jacobian(whole)
    agree(J[:, 1:], model.constraint_jacobian(q), 1e-11)
    agree(both.residual(whole), model.residual(q), 1e-11)
    on_the_ground = [c for c in both.constraints if c.contact]
    if not on_the_ground:
        agree(J[:, 0], np.zeros(len(J)))


def test_two_of_a_kind_need_a_prefix() -> None:
    arm = jn.robots.panda()
    with pytest.raises(ValueError, match=r"other has bodies named .*, as the robot has: give another prefix"):
        arm.attach(arm)
    two = arm.attach(arm, prefix="b")
    with pytest.raises(ValueError, match="give another prefix"):
        two.attach(arm, prefix="b")
    assert two.nv == 14


def test_shared_inputs_are_not_shared_between_robots() -> None:
    finger = KINDS["soft"].model
    pair = finger.attach(finger, prefix="other ")
    assert len(pair.input_names) == 2 * len(finger.input_names)
    assert set(finger.input_names) < set(pair.input_names)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"other": 5}, "other is 5, expected a jounce.Model"),
        ({"to": "tol"}, "to is no body or frame of the robot: 'tol': did you mean 'tool'"),
        ({"to": 5}, "to is no body or frame of the robot: 5"),
        ({"placement": np.zeros((4, 4))}, "placement has last row"),
        ({"prefix": None}, "prefix is None, expected a string"),
        ({"other": jn.robots.panda().replace(gravity=(0, 0, 0))}, r"other has gravity \[0.0, 0.0, 0.0\]"),
    ],
)
def test_errors_of_attach(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        jn.robots.quadrotor_arm().attach(**({"other": jn.robots.panda(), "to": "tool"} | given))


# --- subtree and chain ----------------------------------------------------------------------------------

TREES = {k: r for k, r in EVERY.items() if not r.ties and not any(p.follows for p in r.parts) and r.model.nv}


@pytest.mark.parametrize("kind", TREES)
def test_a_subtree_has_its_block_of_the_mass_matrix(kind: str) -> None:
    robot, model = TREES[kind], TREES[kind].model
    q, _ = state(robot, 2)
    for body in model.bodies:
        part = model.subtree(body.name)
        at = columns(model, part.joint_names)
        own = np.concatenate([np.zeros(0), *(q[model.position(n)] for n in part.joint_names)])
        agree(part.mass_matrix(own), model.mass_matrix(q)[np.ix_(at, at)], 1e-11)
        ground = _carrier(model, body, q)
        turned = part.replace(gravity=ground[:3, :3].T @ model.gravity)
        moved = any(b.moves for b in _above(model, body)) or body.at is not None
        agree((turned if moved else part).gravity_force(own), model.gravity_force(q)[at], 1e-11)
        start = ground if moved else np.eye(4)
        for name in part.frame_names:
            agree(start @ part.pose(name, own), model.pose(name, q), 1e-11)


def _above(model: jn.Model, body: object) -> list[object]:
    found = []
    while body.parent >= 0:
        body = model.bodies[body.parent]
        found.append(body)
    return found


def _carrier(model: jn.Model, body: object, q: np.ndarray) -> np.ndarray:
    """The pose of the frame that carries a body's joint."""
    if body.parent < 0:
        return np.eye(4)
    above = model.bodies[body.parent].name
    return model.pose(above, q) if body.at is None else model.backbone(above, q, [body.at])[0]


def weighed(model: jn.Model, q: np.ndarray, names: list[str]) -> np.ndarray:
    """The sum of J^T G J over some rigid bodies, J their Jacobians in body axes."""
    total = np.zeros((model.nv, model.nv))
    for body in model.bodies:
        if body.name in names:
            m, c = body.inertia.mass, body.inertia.com
            cross = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
            about = body.inertia.rotational - m * cross @ cross
            G = np.block([[m * np.eye(3), -m * cross], [m * cross, about]])
            J = model.jacobian(body.name, q)
            total += J.T @ G @ J
    return total


def test_a_chain_has_the_mass_of_its_own_bodies() -> None:
    robot = jn.robots.aerial_manipulator()
    q = robot.random_configuration(np.random.default_rng(0))
    tips = [b.name for i, b in enumerate(robot.bodies) if all(c.parent != i for c in robot.bodies)]
    for tip in tips:
        part = robot.chain(robot.body_names[0], tip)
        at = columns(robot, part.joint_names)
        own = np.concatenate([q[robot.position(n)] for n in part.joint_names])
        kept = [n for n in part.frame_names if n != robot.body_names[0]]
        assert 1 <= len(kept) < len(robot.frame_names) - 1
        agree(part.mass_matrix(own), weighed(robot, q, kept)[np.ix_(at, at)])
        base = np.linalg.inv(robot.pose(robot.body_names[0], q))
        for name in part.frame_names:
            agree(part.pose(name, own), base @ robot.pose(name, q))


def test_what_is_fixed_to_a_chain_stays() -> None:
    b = jn.Builder()
    mass = jn.Inertia.sphere(1.0, 0.1)
    b.add("stand", "world", jn.Fixed(), jn.placement((0, 0, 2), rpy=(0.1, 0, 0)), mass)
    b.add("arm", "stand", jn.Revolute((0, 1, 0)), jn.placement((1, 0, 0)), mass)
    b.add("camera", "arm", jn.Fixed(), jn.placement((0, 1, 0)), mass)
    b.add("fan", "arm", jn.Revolute(), inertia=mass)
    b.add("hand", "arm", jn.Revolute(), jn.placement((1, 0, 0)), mass)
    b.add("finger", "hand", jn.Revolute(), inertia=mass)
    b.add("sign", "stand", jn.Fixed(), inertia=mass)
    robot = b.build()
    with pytest.warns(jn.ModelWarning, match=r"what moves on the chain is left out, 'fan', 'finger' \(2 kg\)"):
        part = robot.chain("stand", "hand")
    assert part.joint_names == ("arm", "hand")
    assert set(part.frame_names) == {"stand", "arm", "hand", "camera", "sign"}
    q = np.array([0.3, 0.2, 0.5, 0.1])
    for name in part.frame_names:  # the stand is where it was
        agree(part.pose(name, q[[0, 2]]), robot.pose(name, q))
    agree(part.mass_matrix(q[[0, 2]]), weighed(robot, q, ["arm", "camera", "hand"])[np.ix_([0, 2], [0, 2])])
    lone = robot.remove("fan").remove("finger")
    assert lone.chain("world", "hand").frame_names == part.frame_names
    below = robot.subtree("arm")
    for name in below.frame_names:
        agree(below.pose(name, q), robot.pose(name, q))
    agree(below.gravity_force(q), robot.gravity_force(q))
    assert robot.chain("hand", "finger").pose("hand", [0.0]).tolist() == np.eye(4).tolist()


def test_a_chain_on_a_soft_body_begins_at_its_far_end() -> None:
    b = jn.Builder()
    b.add("rod", "world", body=rod())
    b.add("eye", "rod", at=0.1)
    b.add("tip", "rod")
    b.add("hand", "rod", jn.Revolute((0, 1, 0)), jn.placement((0, 0, 0.1)), jn.Inertia(1.0, (0, 0, 0.2)))
    robot = b.build()
    part = robot.chain("rod", "hand")
    assert (part.joint_names, set(part.frame_names)) == (("hand",), {"rod", "tip", "hand"})  # the eye moves otherwise
    q = np.array([0.5, 0.2, 0.1, 0.3])
    agree(part.pose("hand", q[3:]), np.linalg.inv(robot.pose("rod", q)) @ robot.pose("hand", q))


def test_cut_followers_are_named() -> None:
    robot = KINDS["branches"].model  # the hand on the right follows the left one
    with pytest.raises(ValueError, match="joint 'hand' follows 'left', which would be cut away: lock 'left' first"):
        robot.subtree("hand")
    with pytest.raises(ValueError, match="joint 'hand' follows 'left'"):
        robot.chain("arm", "hand")
    assert robot.lock({"left": 0.2}).subtree("hand").joint_names == ()
    assert robot.subtree("left").joint_names == ("left",)


def test_a_follower_is_led_by_the_joint_at_the_end() -> None:
    """Though the one between them is cut away."""
    b = jn.Builder()
    mass = jn.Inertia.sphere(1.0, 0.1)
    b.add("base", "world", jn.Revolute(), inertia=mass)
    b.add("lead", "base", jn.Revolute(), inertia=mass)
    b.add("side", "base", jn.Revolute(follows=jn.Follow("lead", 2.0, 0.1)), inertia=mass)
    b.add("end", "lead", jn.Revolute((0, 1, 0), follows=jn.Follow("side", 3.0, 0.2)), inertia=mass)
    robot = b.build()
    part = robot.chain("base", "end")
    agree(part.pose("end", [0.3]), robot.pose("end", [0.0, 0.3]))


def test_cut_constraints_are_named() -> None:
    bar = TIED["four-bar"].model
    words = r"constraint 'pin' ties 'coupler' to 'rocker', which would be cut away: .* unconstrained\(\['pin'\]\)"
    with pytest.raises(ValueError, match=words):
        bar.subtree("crank")
    assert bar.unconstrained(["pin"]).subtree("crank").joint_names == ("crank", "coupler")
    closed = KINDS["closed"].model
    with pytest.raises(ValueError, match="constraint 'loop'"):
        closed.chain("world", "hand")
    feet = TIED["two feet"].model
    assert feet.subtree("left").constraint_names == ("left foot",)  # held wherever it is
    with pytest.raises(ValueError, match="ties 'right foot' to 'world', which would be another one"):
        feet.subtree("right")
    assert feet.subtree("base").constraint_names == feet.constraint_names
    geared = TIED["geared pair"].model
    with pytest.raises(ValueError, match="constraint 'gear' ties 'motor' to 'wheel', which would be cut away"):
        geared.subtree("motor")


def test_errors_of_cuts() -> None:
    robot = jn.robots.quadrotor_arm()
    with pytest.raises(ValueError, match="no body or frame is named 'tol': did you mean 'tool'"):
        robot.subtree("tol")
    with pytest.raises(ValueError, match="tip is no body or frame: 'world'"):
        robot.chain("tool", "world")
    with pytest.raises(ValueError, match="base is no body or frame: 'tol': did you mean 'tool'"):
        robot.chain("tol", "forearm")
    with pytest.raises(ValueError, match="tip is 'forearm', which does not hang below base, 'tool'"):
        robot.chain("tool", "forearm")
    with pytest.raises(ValueError, match="base is 'rod', which bends: 'eye' is not at its far end"):
        KINDS["soft"].model.chain("rod", "eye")


# --- payload and unconstrained --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
def test_a_payload_is_a_body_more(kind: str) -> None:
    model = EVERY[kind].model
    q, rng = state(EVERY[kind], 3)
    load, place = jn.Inertia.box(2.0, (0.1, 0.2, 0.3)), jn.placement((0.1, 0.2, 0.3), axis=(1, 2, 3), angle=0.4)
    v, a = rng.normal(size=(2, model.nv))
    for name in model.frame_names:
        b = jn.Builder.from_model(model)
        b.add("load", name, jn.Fixed(), place, load)
        found, expected = model.payload(name, load, place), b.build(allow_massless=True)
        agree(found.inverse_dynamics(q, v, a), expected.inverse_dynamics(q, v, a), 1e-11)
        twice = found.payload(name, load, place)
        agree(twice.mass_matrix(q) - found.mass_matrix(q), found.mass_matrix(q) - model.mass_matrix(q), 1e-10)
        assert found.constraint_names == model.constraint_names


def test_errors_of_payload_and_unconstrained() -> None:
    robot = jn.robots.quadrotor_arm()
    with pytest.raises(ValueError, match=r"inertia is 2.0, expected a jounce.Inertia"):
        robot.payload("tool", 2.0)
    with pytest.raises(ValueError, match="no body or frame is named 'tol'"):
        robot.payload("tol", jn.Inertia(1.0))
    held = robot.constrained({"tool": jn.Spherical()})
    assert held.unconstrained().constraints == ()
    with pytest.raises(ValueError, match="no constraint is named 'tol': did you mean 'tool'"):
        held.unconstrained(["tol"])
    with pytest.raises(ValueError, match="constraints is 'tool', expected a list of names"):
        held.unconstrained("tool")


# --- looks ----------------------------------------------------------------------------------------------

URDF = """<robot name="r"><link name="base"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 1"/><geometry><sphere radius="0.1"/></geometry></visual></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""


def looks(robot: jn.Model) -> dict[str, list[str]]:
    found = {b.name: [type(v.shape).__name__ for v in b.visuals] for b in robot.bodies}
    return {name: shapes for name, shapes in found.items() if shapes}


def test_looks_travel() -> None:
    robot = jn.load(URDF)
    before = looks(robot)
    assert before == {"base": ["Box"], "arm": ["Sphere"]}
    load = jn.Inertia(1.0)
    for same in (
        robot.lock({"hinge": 0.3}), robot.replace(damping=0.1), robot.payload("arm", load), robot.chain("base", "arm"),
        robot.chain("world", "arm"), robot.unconstrained(), robot.subtree("base"),
    ):  # fmt: skip
        assert looks(same) == before
    assert looks(robot.subtree("arm")) == {"arm": ["Sphere"]}
    two = robot.attach(robot, "arm", jn.placement((0, 0, 1)), prefix="b_")
    assert looks(two) == before | {"b_base": ["Box"], "b_arm": ["Sphere"]}
    assert looks(pickle.loads(pickle.dumps(two))) == looks(two)


def test_a_locked_soft_body_keeps_its_shape() -> None:
    """As a mesh around the backbone: its ends, its girth, and that it is closed nowhere else than there."""
    b = jn.Builder()
    b.add("rod", "world", jn.Revolute((0, 1, 0)), jn.placement((1, 0, 0)), body=jn.soft.Rod(0.5, 0.02, 1e3, 1e5))
    b.add("eye", "rod", at=0.2)
    robot = b.build()
    q = np.array([0.4, 1.0, 0.5, 0.1])
    still = robot.lock({"rod.shape": q[1:]})
    assert still.joint_names == ("rod",)
    (look,) = next(x for x in still.bodies if x.name == "rod").visuals
    pose = still.pose("rod", q[:1]) @ look.placement
    points = look.shape.vertices @ pose[:3, :3].T + pose[:3, 3]
    line = robot.backbone("rod", q)[:, :3, 3]
    apart = np.linalg.norm(points[:, None] - line, axis=-1).min(axis=1)
    assert apart.max() < 0.0225
    for end in (line[0], line[-1]):
        assert np.linalg.norm(points - end, axis=1).min() < 0.021
    assert looks(pickle.loads(pickle.dumps(still))) == {"rod": ["Triangles"]}


def test_scenery_travels() -> None:
    pytest.importorskip("mujoco")
    xml = """<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody><geom type="plane" size="1 1 1"/>
    <geom type="sphere" size="0.1" pos="0 0 3"/>
    <body name="arm"><joint name="hinge"/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>"""
    robot = jn.load(xml)
    count = len(robot.scenery)
    assert count >= 1
    for same in (robot.lock({"hinge": 0.1}), robot.replace(damping=1.0), robot.subtree("arm"), robot.unconstrained()):
        assert len(same.scenery) == count
    place = jn.placement((0.1, 0.2, 0.3), axis=(0, 0, 1), angle=0.5)
    two = robot.attach(robot, placement=place, prefix="b")
    assert len(two.scenery) == 2 * count
    np.testing.assert_allclose(two.scenery[-1].placement, place @ robot.scenery[-1].placement)
    on_arm = robot.attach(robot, "arm", place, prefix="b")
    assert len(on_arm.scenery) == count
    assert len(on_arm.bodies[0].visuals) == len(robot.bodies[0].visuals) + count
    assert len(pickle.loads(pickle.dumps(on_arm)).bodies[0].visuals) == len(on_arm.bodies[0].visuals)
