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
