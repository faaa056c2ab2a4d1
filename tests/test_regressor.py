"""The inertial-parameter regressor, against inverse dynamics with other parameters and against Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from build import joint_of, jounce_model
from trees import random_stack, random_tree
from urdf_peer import pinocchio, urdf_path, urdf_peer


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
@pytest.mark.parametrize("seed", range(4))
def test_inverse_dynamics_is_linear_in_the_parameters(seed, frame, instruction_set):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 14, floating=seed % 2 == 0)
    robot = jounce_model(tree)
    q, v = robot.random_configuration(rng, 3), rng.uniform(-1, 1, (3, 6, robot.nv))
    tau = robot.inverse_dynamics(q, v, frame=frame)
    Y = robot.inverse_dynamics_regressor(q, v, frame=frame)
    assert Y.shape == (3, 5, robot.nv, 10 * len(robot.body_names))
    scale = np.abs(tau).max(axis=(0, 2), keepdims=True)
    np.testing.assert_allclose((Y @ robot.inertial_parameters) / scale, tau / scale, atol=1e-12)


def test_joints_that_carry_nothing_of_a_body_feel_nothing_of_it():
    """Exact zeros: fingers do not affect each other."""
    builder = jn.Builder()
    for name, parent in (("palm", "world"), ("left", "palm"), ("right", "palm")):
        builder.add(name, parent, jn.Revolute((0.6, 0.0, 0.8)), inertia=jn.Inertia(1.0, com=(0.1, 0.2, 0.3)))
    Y = builder.build().inverse_dynamics_regressor([0.1, 0.2, 0.3], np.ones((3, 3))).reshape(2, 3, 3, 10)
    carried = np.array([[True, True, True], [False, True, False], [False, False, True]])
    assert (Y[:, ~carried] == 0).all()
    assert Y[:, carried].any(axis=-1).all()


def test_each_parameter_by_itself():
    """Columns against inverse dynamics of robots that differ in one body's inertia."""
    rng = np.random.default_rng(1)
    tree = random_tree(rng, 9, floating=True)
    robot = jounce_model(tree)
    q, v = robot.random_configuration(rng), random_stack(rng, tree, 5)
    Y = robot.inverse_dynamics_regressor(q, v)
    moving = [i for i, b in enumerate(tree.bodies) if b.joint != "fixed"]
    for place, changed in enumerate(moving):
        builder = jn.Builder(gravity=tree.gravity)
        for i, b in enumerate(tree.bodies):
            inertia = jn.Inertia(b.mass, b.com, b.inertia)
            if i == changed:
                inertia = jn.Inertia(1.3, (0.3, -0.1, 0.2), [[2.0, 0.1, 0.2], [0.1, 1.7, 0.3], [0.2, 0.3, 1.9]])
            parent = "world" if b.parent < 0 else tree.bodies[b.parent].name
            builder.add(b.name, parent, joint_of(b), b.placement, inertia)
        other = builder.build()
        change = other.inertial_parameters - robot.inertial_parameters
        assert (np.flatnonzero(change) // 10 == place).all()
        difference = other.inverse_dynamics(q, v) - robot.inverse_dynamics(q, v)
        np.testing.assert_allclose(Y @ change, difference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("name", "base"), [("talos_reduced.urdf", "floating"), ("panda.urdf", "fixed")])
def test_agrees_with_pinocchio(name, base):
    peer = urdf_peer(urdf_path(name), base)
    robot = peer.robot
    rng = np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), *rng.uniform(-1, 1, (2, robot.nv))
    pinocchio.computeJointTorqueRegressor(peer.model, peer.data, peer.q_to_pin(q), peer.v_to_pin(v), peer.v_to_pin(a))
    expected = np.asarray(peer.data.jointTorqueRegressor)[peer.v_index]
    joints = [peer.model.getJointId(joint) for joint in robot.joint_names]
    expected = np.concatenate([expected[:, 10 * (j - 1) : 10 * j] for j in joints], axis=1)
    found = robot.inverse_dynamics_regressor(q, v, a)
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    parameters = np.concatenate([peer.model.inertias[j].toDynamicParameters() for j in joints])
    np.testing.assert_allclose(robot.inertial_parameters, parameters, atol=1e-12 * np.abs(parameters).max())


def test_joints_that_follow_others():
    builder = jn.Builder()
    body = jn.Inertia(1.0, com=(0.1, 0.0, -0.4), rotational=(0.02, 0.03, 0.01))
    builder.add("first", "world", jn.Revolute((0, 1, 0)), inertia=body)
    builder.add("second", "first", jn.Revolute((1, 0, 0), follows=jn.Follow("first", 1.5, 0.2)), inertia=body)
    robot = builder.build()
    v = np.random.default_rng(0).normal(size=(4, 1))
    Y = robot.inverse_dynamics_regressor([0.3], v)
    assert Y.shape == (3, 1, 20)
    np.testing.assert_allclose(Y @ robot.inertial_parameters, robot.inverse_dynamics([0.3], v), rtol=1e-12)


def test_bad_input():
    robot = jn.robots.aerial_manipulator()
    with pytest.raises(ValueError, match=r"v has shape .* of at least 2 rows"):
        robot.inverse_dynamics_regressor(robot.neutral(), np.zeros((1, robot.nv)))
    with pytest.raises(ValueError, match="v has shape"):
        robot.inverse_dynamics_regressor(robot.neutral(), np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="frame is 'up'"):
        robot.inverse_dynamics_regressor(robot.neutral(), np.zeros((2, robot.nv)), frame="up")


def test_more_rows_than_the_highest_order_has():
    robot = jounce_model(random_tree(np.random.default_rng(0), 3))
    v = np.zeros((jn.MAX_ORDER + 3, robot.nv))
    assert robot.inverse_dynamics_regressor(robot.neutral(), v[1:]).shape[0] == jn.MAX_ORDER + 1
    with pytest.raises(ValueError, match=f"^v has {len(v)} rows, expected at most {len(v) - 1}: the highest order is"):
        robot.inverse_dynamics_regressor(robot.neutral(), v)


def test_more_dimensions_than_numpy_can_broadcast() -> None:
    robot = jn.robots.aerial_manipulator()
    try:
        v = np.zeros((1,) * 40 + (robot.nv,))
    except ValueError:
        pytest.skip("NumPy 1 has no arrays of more than 32 dimensions")
    with pytest.raises(ValueError, match=r"^the batch dimensions do not broadcast: v "):
        robot.inverse_dynamics_regressor(robot.neutral(), v, np.zeros(robot.nv))


# --- robots with other parameters -----------------------------------------------------------------------


def test_parameters_of_a_body_are_pinocchios():
    rng = np.random.default_rng(0)
    for _ in range(20):
        theirs = pinocchio.Inertia.Random()
        ours = jn.Inertia(theirs.mass, theirs.lever, theirs.inertia, physical=False)
        expected = theirs.toDynamicParameters()
        np.testing.assert_allclose(ours.parameters, expected, rtol=0, atol=1e-15 * np.abs(expected).max() * 10)
        again = jn.Inertia.from_parameters(expected, physical=False)
        np.testing.assert_allclose(again.com, ours.com, atol=1e-14)
        np.testing.assert_allclose(again.rotational, ours.rotational, atol=1e-13 * np.abs(expected).max())
        place = jn.placement(rng.normal(size=3), rpy=rng.normal(size=3))
        point = jn.Inertia(2.0, rng.normal(size=3)).moved(place)  # no moments but rounding, which is no fault of a body
        np.testing.assert_allclose(jn.Inertia.from_parameters(point.parameters).rotational, 0.0, atol=1e-13)
    assert jn.Inertia.from_parameters(np.zeros(10)).is_zero


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.zeros(9), r"parameters has shape \(9,\), expected \(10,\)"),
        ([-1.0, *np.zeros(9)], "parameters have a mass of -1, expected a non-negative number"),
        ([0.0, 1.0, *np.zeros(8)], r"parameters have a first moment, \[1.0, 0.0, 0.0\], without mass"),
        (
            [1.0, 0, 0, 0, 1.0, 0, 0.1, 0, 0, 0.1],
            "parameters: the inertia about the centre of mass has princip",
        ),
        ([1.0, 1.0, 0, 0, 0, 0, 0.1, 0, 0, 0.1], "about the centre of mass has a negative principal moment"),
        ([0.0, 0, 0, 0, 1.0, 0, 1.0, 0, 0, 1.0], "about the centre of mass is not zero although mass is"),
        ([np.nan, *np.zeros(9)], "parameters is .*, expected finite numbers"),
    ],
)
def test_parameters_that_no_body_has(given, words):
    with pytest.raises(ValueError, match=words):
        jn.Inertia.from_parameters(given)
    robot = jn.robots.panda()
    parameters = robot.inertial_parameters
    if len(given) == 10:
        parameters[10:20] = given
        with pytest.raises(ValueError, match=f"body 'link2': .*{words}" if np.isfinite(given).all() else words):
            robot.with_inertial_parameters(parameters)
    with pytest.raises(ValueError, match=r"parameters has shape \(10,\), expected \(70,\)"):
        robot.with_inertial_parameters(parameters[:10])
    with pytest.raises(ValueError, match="physical is 2, expected True or False"):
        robot.with_inertial_parameters(robot.inertial_parameters, physical=2)


def test_a_robot_with_its_own_parameters_is_the_same():
    robot = urdf_peer(urdf_path("panda.urdf"), "fixed").robot
    same = robot.with_inertial_parameters(robot.inertial_parameters)
    assert all(a.inertia is b.inertia for a, b in zip(robot.bodies, same.bodies, strict=True))
    assert same.mass == robot.mass


def test_a_robot_with_other_parameters_moves_by_the_regressor():
    """Though bodies are fixed to others, and joints have armatures, damping and rotors."""
    peer = urdf_peer(urdf_path("panda.urdf"), "fixed")
    robot = peer.robot.replace(armature=0.1)
    rng = np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    parameters = robot.inertial_parameters * rng.uniform(0.9, 1.1, len(robot.body_names)).repeat(10)
    other = robot.with_inertial_parameters(parameters)
    np.testing.assert_allclose(other.inertial_parameters, parameters, rtol=0, atol=1e-14 * parameters.max())
    fixed = sum(b.inertia.mass for b in robot.bodies if not b.moves and b.name == "panda_link0")
    assert other.mass == pytest.approx(parameters[::10].sum() + fixed, rel=1e-14)
    Y = robot.inverse_dynamics_regressor(q, v, a)
    rest = robot.inverse_dynamics(q, v, a) - Y @ robot.inertial_parameters
    expected = Y @ parameters + rest
    np.testing.assert_allclose(other.inverse_dynamics(q, v, a), expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    model = peer.model.copy()
    for joint, scale in zip(robot.joint_names, parameters[::10] / robot.inertial_parameters[::10], strict=True):
        body = model.inertias[j := model.getJointId(joint)]
        model.inertias[j] = pinocchio.Inertia(scale * body.mass, body.lever, scale * body.inertia)
    there = pinocchio.rnea(model, model.createData(), peer.q_to_pin(q), peer.v_to_pin(v), peer.v_to_pin(a))
    np.testing.assert_allclose(other.inverse_dynamics(q, v, a) - 0.1 * a, peer.v_from_pin(there), rtol=1e-11)


def test_what_is_fixed_can_be_removed_or_replaced_after_its_carrier_was_identified():
    """As a measured gripper in the place of another: its mass is counted once."""
    robot = urdf_peer(urdf_path("panda.urdf"), "fixed").robot
    hand = next(b.inertia for b in robot.bodies if b.name == "panda_hand")
    identified = robot.with_inertial_parameters(1.05 * robot.inertial_parameters)
    fingers = sum(b.inertia.mass for b in identified.bodies if "finger" in b.name)
    bare = identified.remove("panda_hand")
    assert bare.mass == pytest.approx(identified.mass - hand.mass - fingers, rel=1e-14)
    other = jn.Inertia(0.9, com=(0.0, 0.0, 0.05), rotational=(1e-3, 1e-3, 1e-3))
    swapped = identified.replace(inertia={"panda_hand": other})
    q = robot.random_configuration(0)
    step = robot.replace(inertia={"panda_hand": other}).gravity_force(q) - robot.gravity_force(q)
    expected = 1.05 * robot.gravity_force(q) + step
    np.testing.assert_allclose(swapped.gravity_force(q), expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_what_is_fixed_becomes_massless_if_it_weighs_more_than_was_identified():
    robot = urdf_peer(urdf_path("panda.urdf"), "fixed").robot
    parameters = robot.inertial_parameters
    last = list(robot.body_names).index("panda_link7")
    parameters[10 * last : 10 * last + 10] *= 0.1
    words = r"of 'panda_link7' leave no inertia for it beside what is fixed to it, 'panda_hand' \(0.73 kg\)"
    with pytest.warns(jn.ModelWarning, match=words):
        other = robot.with_inertial_parameters(parameters)
    np.testing.assert_allclose(other.inertial_parameters, parameters, rtol=0, atol=1e-14 * parameters.max())
    assert {b.name: b.inertia.mass for b in other.bodies}["panda_hand"] == 0


def test_a_body_without_mass_of_its_own_takes_no_rounding_errors():
    """All of its mass is on what is fixed to it, and the parameters come back through a file."""
    builder = jn.Builder()
    builder.add("flange", "world", jn.Revolute())
    tool = jn.Inertia(0.7, com=(0.1, 0.2, 0.3), rotational=(1e-3, 2e-3, 2e-3))
    builder.add("tool", "flange", jn.Fixed(), jn.placement((0.3, 0.1, 0.2), rpy=(0.3, 0.2, 0.1)), tool)
    robot = builder.build()
    parameters = robot.inertial_parameters * (1 + np.finfo(float).eps * np.array([1, -1] * 5))
    other = robot.with_inertial_parameters(parameters)
    assert [b.inertia.mass for b in other.bodies] == [0.0, 0.7]


def test_what_rotors_and_drives_add_does_not_depend_on_the_parameters():
    rng = np.random.default_rng(0)
    builder = jn.Builder()
    body = jn.Inertia(1.0, com=(0.1, 0.0, -0.4), rotational=(0.02, 0.03, 0.04))
    builder.add("base", "world", jn.Spherical(), inertia=body)
    builder.add("wheel", "base", jn.Revolute((0, 1, 0), rotor=jn.Rotor(50.0, 2e-4), damping=0.3), inertia=body)
    builder.add("arm", "wheel", jn.Revolute((1, 0, 0), armature=0.2, friction=0.1, stiffness=2.0), inertia=body)
    robot = builder.build()
    q, v = robot.random_configuration(rng), rng.normal(size=(3, robot.nv))
    Y = robot.inverse_dynamics_regressor(q, v)
    added = robot.inverse_dynamics(q, v) - Y @ robot.inertial_parameters
    assert np.abs(added).max() > 0.1
    parameters = robot.inertial_parameters + 0.01 * np.eye(30)[[0, 14, 26]].sum(axis=0)
    other = robot.with_inertial_parameters(parameters)
    tau = other.inverse_dynamics(q, v)
    np.testing.assert_allclose(Y @ parameters + added, tau, rtol=0, atol=1e-13 * np.abs(tau).max())
    bare = robot.with_inertial_parameters(np.zeros(30))
    np.testing.assert_allclose(bare.inverse_dynamics(q, v), added, rtol=0, atol=1e-13 * np.abs(tau).max())


def test_parameters_of_soft_robots():
    builder = jn.Builder()
    builder.add("rod", "world", body=jn.soft.Rod(0.3, 0.01, 1e3, 1e5))
    with pytest.raises(ValueError, match="inertial parameters are those of rigid bodies; 'rod' is soft"):
        builder.build().with_inertial_parameters([])
