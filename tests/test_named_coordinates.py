"""Joint names wherever some of the coordinates are meant, and seeds wherever a generator is."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from kinds import EVERY

MOVING = {k: r for k, r in EVERY.items() if r.model.nv}


@pytest.mark.parametrize("kind", MOVING)
def test_prescribed_joints_by_name(kind: str) -> None:
    robot, model, rng = MOVING[kind], MOVING[kind].model, np.random.default_rng(0)
    q, v, acc, tau = robot.configuration(rng, (2,)), *rng.normal(size=(3, 2, model.nv))
    for names in ([], [model.joint_names[-1]], list(model.joint_names), np.array(model.joint_names[:1])):
        mask = np.zeros(model.nv, bool)
        for name in names:
            mask[model.coordinate(name)] = True
        options = [{"prescribed": names}, {"prescribed": mask}, {"prescribed": mask.tolist()}]
        try:
            *found, expected = [model.hybrid_dynamics(q, v, acc, tau, **o) for o in options]
        except jn.Error:  # constraints forbid the motion
            continue
        for each in found:
            np.testing.assert_array_equal(each, expected)


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
