"""Joint names wherever some of the coordinates are meant, and seeds wherever a generator is."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from jounce.dynamics.named_coordinates import names
from kinds import EVERY

MOVING = {k: r for k, r in EVERY.items() if r.model.nv}


@pytest.mark.parametrize("kind", MOVING)
def test_prescribed_joints_by_name(kind: str) -> None:
    robot, model, rng = MOVING[kind], MOVING[kind].model, np.random.default_rng(0)
    q, v, acc, tau = robot.configuration(rng, (2,)), *rng.normal(size=(3, 2, model.nv))
    for joints in ([], [model.joint_names[-1]], list(model.joint_names), np.array(model.joint_names[:1])):
        mask = np.zeros(model.nv, bool)
        for name in joints:
            mask[model.coordinate(name)] = True
        options = [{"prescribed": joints}, {"prescribed": mask}, {"prescribed": mask.tolist()}]
        try:
            *found, expected = [model.hybrid_dynamics(q, v, acc, tau, **o) for o in options]
        except jn.Error:  # constraints forbid the motion
            continue
        for each in found:
            np.testing.assert_array_equal(each, expected)


@pytest.mark.parametrize("kind", MOVING)
def test_every_coordinate_has_a_name(kind: str) -> None:
    """Which is taken where its number is."""
    robot, model, rng = MOVING[kind], MOVING[kind].model, np.random.default_rng(0)
    known = names(model)
    for i, name in enumerate(known.v):
        assert model.coordinate(name) == slice(i, i + 1)
    for i, name in enumerate(known.q):
        assert model.position(name) == slice(i, i + 1)
    assert model.v_names == known.v
    q, (v, tau) = robot.configuration(rng, ()), robot.rates(rng, (2,))
    v = robot.motion(q, v[None])[0]
    columns = rng.permutation(model.nv)[: model.nv // 2 + 1]
    by_name = model.linearize(q, v, tau, actuated=[known.v[i] for i in columns])
    np.testing.assert_array_equal(by_name.actuated, columns)
    np.testing.assert_array_equal(by_name.B, model.linearize(q, v, tau, actuated=columns).B)


def test_names_of_one_coordinate() -> None:
    robot = jn.robots.quadrotor_arm()
    q, zero = robot.neutral(), np.zeros(robot.nv)
    thrust = ["base.vz", "base.wx", "base.wy", "base.wz", "shoulder", "elbow"]
    np.testing.assert_array_equal(robot.linearize(q, zero, zero, actuated=thrust).actuated, range(2, 8))
    found = robot.constrained_inverse_dynamics(q, zero, zero, actuated=["base.vz", "shoulder", "elbow", "base.wy"])
    assert np.flatnonzero(found.tau).tolist() == [2]
    motion = (np.arange(2.0), *(np.tile(x, (2, 1)) for x in (q, zero, robot.gravity_force(q))))
    weights = np.ones(16), np.ones(6), np.ones(16)
    np.testing.assert_array_equal(jn.control.tvlqr(robot, motion, *weights, actuated=thrust).actuated, range(2, 8))
    with pytest.raises(ValueError, match=r"^prescribed splits joint 'base', coordinates 0 to 5: expected all of them"):
        robot.hybrid_dynamics(q, zero, zero, zero, prescribed=["base.vz"])
    for given in (["base", "base.vz"], ["elbow", "elbow"]):
        with pytest.raises(ValueError, match=r"expected names of joints or coordinates, a mask .*, each once"):
            robot.linearize(q, zero, zero, actuated=given)
    said = r"no joint is named 'base.z': the coordinates of 'base' in v are 'base.vx', 'base.vy', .*'base.wz'$"
    with pytest.raises(ValueError, match=said):
        robot.coordinate("base.z")
    with pytest.raises(ValueError, match=r"no joint is named 'base.vz': the coordinates of 'base' in q are 'base.x', "):
        robot.position("base.vz")


def test_a_joint_is_meant_before_a_coordinate() -> None:
    b = jn.Builder()
    for name, joint in (("a", jn.Universal()), ("a.1", jn.Revolute())):
        b.add(name, "world", joint, inertia=jn.Inertia(1.0, (0, 0, 0), (1.0, 1.0, 1.0)))
    robot = b.build()
    assert (robot.coordinate("a.0"), robot.coordinate("a.1")) == (slice(0, 1), slice(2, 3))


def test_unknown_names() -> None:
    robot = jn.robots.quadrotor_arm()
    q, zero = robot.neutral(), np.zeros(robot.nv)
    for call in (
        lambda: robot.hybrid_dynamics(q, zero, zero, zero, prescribed=["elbo"]),
        lambda: robot.linearize(q, zero, zero, actuated=["elbo"]),
        lambda: robot.constrained_inverse_dynamics(q, zero, zero, actuated=["elbo"]),
        lambda: robot.coordinate("elbo"),
        lambda: robot.position("elbo"),
    ):
        with pytest.raises(ValueError, match="no joint is named 'elbo': did you mean 'elbow'"):
            call()
    with pytest.raises(ValueError, match="prescribed has shape"):
        robot.hybrid_dynamics(q, zero, zero, zero, prescribed=[0, 1])


@pytest.mark.parametrize("kind", EVERY)
def test_a_seed_is_a_generator(kind: str) -> None:
    robot = EVERY[kind].model
    for seed in (0, np.int64(7), 2**70):
        expected = robot.random_configuration(np.random.default_rng(int(seed)), (2, 3))
        np.testing.assert_array_equal(robot.random_configuration(seed, (2, 3)), expected)


@pytest.mark.parametrize("bad", [-1, 1.0, True, None, "0", np.random])
def test_what_is_no_seed(bad: object) -> None:
    if bad is np.random:  # which has the functions of a generator
        assert jn.robots.panda().random_configuration(bad).shape == (7,)
    else:
        with pytest.raises(ValueError, match=r"rng is .*, expected a non-negative seed, or a generator"):
            jn.robots.panda().random_configuration(bad)
