"""Changes of robots that look right and are not: each merges, is refused, or says by name what it did."""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import fields

import numpy as np
import pytest

import jounce as jn
from urdf_peer import urdf_path

LINK = jn.Inertia(1.0, (0.0, 0.0, 0.2), (0.02, 0.02, 0.01))
INF = np.inf


def panda() -> jn.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        return jn.load(urdf_path("panda.urdf"))


def chained(*joints: jn.Joint) -> jn.Model:
    b = jn.Builder()
    for i, joint in enumerate(joints):
        b.add(f"b{i}", f"b{i - 1}" if i else "world", joint, jn.placement((0, 0, 0.4 * bool(i))), LINK)
    return b.build()


# --- limits ---------------------------------------------------------------------------------------------


def test_of_limits_those_that_are_not_given_stay() -> None:
    robot = panda()
    strong = robot.replace(limits={"panda_joint1": jn.Limits(effort=50)})
    assert (strong.lower[0], strong.upper[0], strong.velocity_limit[0]) == (-2.8973, 2.8973, 2.175)
    assert (robot.effort_limit[0], strong.effort_limit[0]) == (87.0, 50.0)
    assert strong.effort_limit[1:].tolist() == robot.effort_limit[1:].tolist()
    everywhere = robot.replace(limits=jn.Limits(velocity=1.0))
    assert everywhere.lower.tolist() == robot.lower.tolist()
    assert everywhere.velocity_limit.tolist() == [1.0] * robot.nv
    freed = robot.replace(limits={"panda_joint1": jn.Limits(lower=-INF)})  # an infinite number is given, too
    assert (freed.lower[0], freed.upper[0], freed.effort_limit[0]) == (-INF, 2.8973, 87.0)
    none = robot.replace(limits={"panda_joint1": jn.Limits()})
    assert (none.lower[0], none.upper[0], none.velocity_limit[0], none.effort_limit[0]) == (-INF, INF, INF, INF)


def test_limits_that_do_not_fit_those_that_stay_are_refused() -> None:
    with pytest.raises(ValueError, match="joint 'b0': lower is 3, above upper, 2"):
        chained(jn.Revolute(limits=jn.Limits(-1, 2))).replace(limits={"b0": jn.Limits(lower=3)})


def test_limits_of_joints_given_by_functions_stay() -> None:
    def slide(q):
        return np.array([[1, 0, 0, q[0]], [0, 1, 0, q[1]], [0, 0, 1, 0], [0, 0, 0, 1]])

    b = jn.Builder()
    b.add("xy", "world", jn.CustomJoint(slide, 2, limits=[jn.Limits(-1, 2, effort=5), None]), inertia=LINK)
    robot = b.build()
    assert robot.replace(limits=jn.Limits(upper=3)).upper.tolist() == [3, 3]
    assert robot.replace(limits=jn.Limits(upper=3)).effort_limit.tolist() == [5, INF]
    assert robot.replace(limits={"xy": [None, jn.Limits(velocity=2)]}).effort_limit.tolist() == [INF, INF]


@pytest.mark.parametrize("name", [f.name for f in fields(jn.Limits) if f.init])
def test_limits_know_what_was_given(name: str) -> None:
    largest = -INF if name == "lower" else INF
    given = jn.Limits(**{name: largest})
    assert given.given == {name}
    if name != "deceleration":  # without it, that of acceleration counts
        assert given == jn.Limits()
        assert hash(given) == hash(jn.Limits())
    assert jn.Limits().given == set()
    for again in (copy.copy(given), copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
        assert (again, again.given) == (given, {name})
    none = pickle.loads(pickle.dumps(jn.Limits()))
    assert none.given == set()
    assert "given" not in repr(given)
    assert jn.Limits(-1, 2).given == {"lower", "upper"}


# --- one number for all joints ---------------------------------------------------------------------------


def geared() -> jn.Model:
    return chained(
        jn.Revolute((0, 1, 0), rotor=jn.Rotor(50.0, 2e-4)),
        jn.Revolute((0, 1, 0), damping=0.5),
        jn.Revolute((0, 1, 0), follows=jn.Follow("b1", 2.0), damping=0.3),
    )


def test_an_armature_for_all_says_which_rotors_stay() -> None:
    with pytest.warns(jn.ModelWarning, match="rotors stay as they are, in place of an armature: those of 'b0'"):
        robot = geared().replace(armature=0.1)
    assert robot.armature.tolist() == [0.0, 0.1]
    assert robot.bodies[0].joint.rotor == jn.Rotor(50.0, 2e-4)
    with pytest.raises(ValueError, match="armature: 'b0' has a rotor, which has none"):
        geared().replace(armature={"b0": 0.1})


def test_a_number_for_all_is_for_joints_with_coordinates() -> None:
    robot = panda()
    assert [b.joint_name for b in robot.bodies if b.joint.follows] == ["panda_finger_joint2"]
    rough = robot.replace(friction=1.0)
    v = np.full(robot.nv, 5.0)
    np.testing.assert_allclose(rough.damping_force(robot.neutral(), v) - robot.damping_force(robot.neutral(), v), 1.0)
    with pytest.warns(
        jn.ModelWarning, match="joints that follow others keep their own damping, unless given by name: 'b2'"
    ):
        damped = geared().replace(damping=2.0)
    assert damped.damping.tolist() == [2.0, 2.0]
    np.testing.assert_allclose(damped.damping_force([0, 0], [1.0, 1.0]), [2.0, 2.0 + 4 * 0.3])
    assert not geared().replace(damping=0.0).damping_force([0, 0], [1.0, 1.0]).any()  # none for any joint
    assert geared().replace(damping={"b2": 1.0}).bodies[2].joint.damping == 1.0


def test_numbers_by_coordinate() -> None:
    b = jn.Builder()
    b.add("base", "world", jn.Free(), inertia=LINK)
    b.add("arm", "base", jn.Universal(), inertia=LINK)
    b.add("motor", "arm", jn.Revolute((0, 1, 0), rotor=jn.Rotor(9.0, 1e-3)), inertia=LINK)
    b.add("side", "arm", jn.Revolute(follows=jn.Follow("motor"), damping=0.7), inertia=LINK)
    b.add("rod", "arm", body=jn.soft.Rod(0.3, 0.01, 1e3, 1e5))
    robot = b.build()
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    free, own, shape = np.arange(6), np.array([6, 7, 8]), np.arange(9, robot.nv)
    numbers = np.zeros(robot.nv)
    numbers[free], numbers[own] = rng.uniform(1, 2, 6), (0.1, 0.2, 0.3)
    damped = robot.replace(damping=numbers)
    assert damped.damping.tolist() == numbers.tolist()
    added = damped.damping_force(q, v) - robot.damping_force(q, v)
    np.testing.assert_allclose(added, numbers * v, atol=1e-14)
    assert damped.bodies[3].joint.damping == 0.7  # which has no coordinate
    for key in ("armature", "damping", "friction", "stiffness"):
        some = robot.replace(**{key: {"arm": (0.3, 0.4)}})
        assert getattr(some, key)[6:8].tolist() == [0.3, 0.4]
        again = some.replace(**{key: getattr(some, key)})
        assert getattr(again, key).tolist() == getattr(some, key).tolist()
    rest = np.zeros(robot.nv)
    rest[8] = 0.4
    assert robot.replace(rest=rest).bodies[2].joint.rest == 0.4
    for key, at, words in (
        ("damping", shape[0], "'rod' is the shape of a soft body, whose material decides its damping"),
        ("armature", 8, "'motor' has a rotor, which has none"),
        ("rest", 6, "'arm' is a Universal joint, which has none"),
    ):
        wrong = np.zeros(robot.nv)
        wrong[at] = 0.5
        with pytest.raises(ValueError, match=f"^{key} is .* there, expected 0: {words}$"):
            robot.replace(**{key: wrong})
    with pytest.raises(ValueError, match=r"^damping has shape \(2,\), expected \(\) or \(\d+,\)$"):
        robot.replace(damping=[1.0, 2.0])


def test_another_inertia() -> None:
    robot = panda()
    heavy = jn.Inertia(2.0, (0.0, 0.0, 0.1), (0.03, 0.02, 0.01))
    changed = robot.replace(inertia={"panda_hand": heavy})
    assert robot.mass == pytest.approx(sum(b.inertia.mass for b in robot.bodies), rel=1e-15)
    assert changed.mass == pytest.approx(robot.mass - 0.73 + 2.0, rel=1e-14)
    b = jn.Builder.from_model(robot.payload("panda_hand", jn.Inertia(0.0)))
    b._bodies = [x if x.name != "panda_hand" else type(x)(**{**x.__dict__, "inertia": heavy}) for x in robot.bodies]
    q, v, a = robot.random_configuration(0), *np.ones((2, robot.nv))
    np.testing.assert_array_equal(changed.inverse_dynamics(q, v, a), b.build().inverse_dynamics(q, v, a))
    for given, words in (
        (heavy, "inertia is .*, expected a mapping from names of bodies to jounce.Inertia"),
        ({"panda_hnd": heavy}, "inertia: no body or frame is named 'panda_hnd': did you mean 'panda_hand'"),
        ({"panda_hand": 2.0}, "inertia of 'panda_hand' is 2.0, expected a jounce.Inertia"),
        ({"panda_hand": None}, "inertia of 'panda_hand' is None, expected a jounce.Inertia"),
    ):
        with pytest.raises(ValueError, match=words):
            robot.replace(inertia=given)
    b = jn.Builder()
    b.add("rod", "world", body=jn.soft.Rod(0.3, 0.01, 1e3, 1e5))
    with pytest.raises(ValueError, match="inertia: 'rod' is soft, and has the mass of its material"):
        b.build().replace(inertia={"rod": heavy})
    assert b.build().mass == pytest.approx(1e3 * 0.3 * np.pi * 0.01**2, rel=1e-12)


# --- lock, payload, chain --------------------------------------------------------------------------------


def test_a_position_far_outside_its_limits() -> None:
    robot = panda()
    with pytest.warns(
        jn.ModelWarning, match="^positions: 'panda_finger_joint1' is held at 20, far outside its limits, 0 to 0.04: "
    ):
        robot.lock({"panda_finger_joint1": 20.0})
    with pytest.warns(jn.ModelWarning, match="'panda_joint4' is held at -90, far outside its limits"):
        robot.lock({"panda_joint4": -90.0, "panda_joint1": 0.1})
    robot.lock({"panda_joint4": 0.0, "panda_finger_joint1": 0.0401, "panda_joint1": -2.8973})  # not far
    slack = chained(jn.Revolute(limits=jn.Limits(upper=1.0)), jn.Revolute(limits=jn.Limits(effort=3.0)))
    slack.lock({"b0": 100.0, "b1": 100.0})  # no range to be far from


def test_a_position_is_judged_by_the_range_of_its_joint() -> None:
    """In nanometres as in kilometres."""
    for unit in (1e-9, 1.0, 1e9):
        robot = chained(jn.Prismatic(limits=jn.Limits(3 * unit, 4 * unit)))
        robot.lock({"b0": 4.05 * unit})
        with pytest.warns(jn.ModelWarning, match="far outside"):
            robot.lock({"b0": 4.2 * unit})


def test_a_payload_in_millimetres() -> None:
    robot, load = panda(), jn.Inertia(0.5, (0.0, 0.0, 0.05), (1e-3, 1e-3, 1e-3))
    robot.payload("panda_hand", load)
    with pytest.warns(jn.ModelWarning, match=r"^inertia reaches 50 m away from 'panda_hand', on a robot 1\.\d+ m long"):
        robot.payload("panda_hand", jn.Inertia(0.5, (0.0, 0.0, 50.0)))
    with pytest.warns(jn.ModelWarning, match="inertia reaches 50"):
        robot.payload("panda_hand", load, jn.placement((0, 0, 50.0)))
    with pytest.warns(jn.ModelWarning, match="inertia reaches"):
        robot.payload("panda_hand", jn.Inertia.box(0.5, (60.0, 60.0, 80.0)))
    point = jn.Builder()
    point.add("ball", "world", jn.Free(), inertia=jn.Inertia(1.0))
    point.build().payload("ball", jn.Inertia(1.0, (0, 0, 5.0)))  # nothing to judge by


def test_a_body_and_a_hand_in_millimetres() -> None:
    """Wherever a mass comes from, not only as a payload."""
    robot, hand = panda(), jn.Inertia(0.7, (0.0, 0.0, 50.0), (1e-3, 1e-3, 1e-3))
    with pytest.warns(jn.ModelWarning, match="^inertia reaches 50 m away from 'panda_hand'") as said:
        robot.replace(inertia={"panda_hand": hand})
    assert said[0].filename == __file__
    b = jn.Builder()
    b.add("jaw", "world", jn.Prismatic(), inertia=jn.Inertia(0.1))
    jaw, far = b.build(), jn.placement((0, 0, 60.0))
    with pytest.warns(jn.ModelWarning, match="^placement is 60 m away from 'panda_hand', which moves, and neither"):
        robot.attach(jaw, "panda_hand", far)
    robot.attach(jaw, "panda_hand", jn.placement((0, 0, 0.06)))
    robot.attach(robot, "world", far, prefix="other_")  # robots may stand apart
    table = [(0, 0.3, 0, -np.pi / 2), (0, 0, 0.3, 0), (0, 0, 0.2, 0)]
    with pytest.warns(
        jn.ModelWarning, match="^the inertia of 'link1' reaches 50 m away from it, on a robot 0.8 m long"
    ):
        jn.from_dh(table, inertias=[hand] * 3)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_a_payload_is_judged_by_the_robot(unit: float) -> None:
    b = jn.Builder()
    b.add("a", "world", jn.Revolute((0, 1, 0)), jn.placement((1e3 * unit, 0, 0)), jn.Inertia(1.0, (0, 0, 0.2 * unit)))
    b.add("b", "a", jn.Revolute((0, 1, 0)), jn.placement((0, 0, unit)), jn.Inertia(1.0))
    robot = b.build()
    robot.payload("b", jn.Inertia(1.0, (0, 0, 9 * unit)))
    with pytest.warns(jn.ModelWarning, match="inertia reaches"):
        robot.payload("b", jn.Inertia(1.0, (0, 0, 11 * unit)))


def test_a_chain_says_what_it_loses_and_what_it_keeps_beyond_its_tip() -> None:
    robot = panda()
    with pytest.warns(jn.ModelWarning) as told:
        arm = robot.chain("panda_link0", "panda_link8")
    (said,) = (str(w.message) for w in told)
    assert said == (
        "what moves on the chain is left out, 'panda_leftfinger', 'panda_rightfinger' (0.03 kg): lock its joints first "
        "to keep it, or remove it first; what is fixed to the tip stays, 'panda_hand' (0.73 kg): remove it first to "
        "leave it out"
    )
    bare = robot.remove("panda_hand").chain("panda_link0", "panda_link8")
    held = robot.lock({"panda_finger_joint1": 0.02}).chain("panda_link0", "panda_leftfinger")
    assert arm.mass - bare.mass == pytest.approx(0.73)
    assert held.mass == pytest.approx(robot.mass)
    assert held.nv == bare.nv == 7


def test_a_chain_may_lose_what_its_joints_do_not_carry() -> None:
    """The other arm of a robot that becomes fixed at its torso."""
    b = jn.Builder()
    b.add("torso", "world", jn.Free(), inertia=LINK)
    for side in ("left", "right"):
        b.add(side, "torso", jn.Revolute(), inertia=LINK)
    assert b.build().chain("torso", "left").joint_names == ("left",)
    b.add("eye", "left", jn.Revolute(), inertia=jn.Inertia(0.0))
    assert b.build(allow_massless=True).chain("torso", "left").joint_names == ("left",)  # nothing that weighs
    with pytest.warns(jn.ModelWarning, match="'right'"):
        b.build(allow_massless=True).chain("world", "left")


# --- remove ----------------------------------------------------------------------------------------------


def test_a_body_is_removed_with_all_it_carries() -> None:
    robot = panda()
    bare = robot.remove("panda_hand")
    assert bare.joint_names == tuple(f"panda_joint{i}" for i in range(1, 8))
    gone = set(robot.frame_names) - set(bare.frame_names)
    assert gone == {"panda_hand", "panda_hand_tcp", "panda_leftfinger", "panda_rightfinger"}
    assert robot.mass - bare.mass == pytest.approx(0.76)
    assert {b.name for b in bare.bodies if b.visuals} == {b.name for b in robot.bodies if b.visuals} - gone
    assert robot.remove(robot.frame_index("panda_hand")).frame_names == bare.frame_names
    assert robot.remove("panda_link0").frame_names == ()
    with pytest.raises(ValueError, match="no body or frame is named 'panda_hnd': did you mean 'panda_hand'"):
        robot.remove("panda_hnd")


def test_what_needs_a_removed_body_is_named() -> None:
    robot = panda()
    with pytest.raises(ValueError, match="joint 'panda_finger_joint2' follows 'panda_finger_joint1', which would be"):
        robot.remove("panda_leftfinger")
    assert robot.remove("panda_rightfinger").joint_names == robot.joint_names
    b = jn.Builder()
    for name, on in (("a", "world"), ("b", "a"), ("c", "b"), ("d", "a")):
        b.add(name, on, jn.Revolute((0, 1, 0)), jn.placement((0, 0, 0.3)), LINK)
    b.close("inner", "b", "c", jn.Distance(0.5), placement_a=jn.placement((0.4, 0, 0)))
    tree = b.build()
    assert tree.remove("b").constraint_names == ()  # it goes with both of its ends
    for first, second, words in (
        ("c", "d", "constraint 'tie' ties 'd' to 'c', which would be cut away: leave it out first, with unconstr"),
        ("world", "c", "constraint 'tie' ties 'c' to 'world', which stays: leave it out first, with unconstrained"),
        ("c", "world", "constraint 'tie' ties 'c' to 'world', which stays"),
    ):
        b = jn.Builder.from_model(tree)
        b.close("tie", first, second, jn.Distance(0.5))
        with pytest.raises(ValueError, match=words):
            b.build().remove("b")
        assert b.build().unconstrained(["tie"]).remove("b").joint_names == ("a", "d")
    held = tree.constrained({"c": jn.Spherical()})
    with pytest.raises(ValueError, match="constraint 'c' ties 'c' to 'world', which stays"):
        held.remove("b")
    b = jn.Builder.from_model(tree.unconstrained())
    b.close("gear", "c", "d", jn.Gear((0.0, 2.0)))
    with pytest.raises(ValueError, match="constraint 'gear' ties 'd' to 'c', which would be cut away"):
        b.build().remove("c")
