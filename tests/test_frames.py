"""Bodies and frames that are looked up once: the same poses, twists and Jacobians as one by one."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import jounce as jn
from kinds import KINDS


def same(found: np.ndarray, expected: np.ndarray) -> None:
    """Up to rounding: with more rows, or other frames, the core may go another way."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * max(1.0, np.abs(expected).max(initial=0.0)))


@pytest.mark.parametrize("kind", KINDS)
def test_frames_are_those_asked_for_one_by_one(kind: str) -> None:
    robot = KINDS[kind].model
    rng = np.random.default_rng(0)
    names = [*rng.permutation(robot.frame_names)[:4].tolist(), robot.frame_names[0]]  # in any order, and twice
    some = robot.frames(names)
    assert some.names == tuple(names)
    assert len(some) == len(names)
    for lead in ((), (3,)):
        q, stack = robot.random_configuration(rng, lead), rng.normal(size=(*lead, 3, robot.nv))
        for frame in ("body", "world", "mixed"):
            axes = {"frame": frame, "velocity_frame": "body"}
            poses, twists = some.pose(q), some.twist(q, stack, order=2, **axes)
            kin = robot.forward_kinematics(q, stack, frames=some, **axes)
            jacobians = some.jacobian(q, **axes), some.jacobian_derivatives(q, stack, order=3, **axes)
            plain = some.twist(q, stack[(0,) * len(lead)][0], **axes)
            for i, name in enumerate(names):
                same(poses[..., i, :, :], robot.pose(name, q))
                same(kin.pose[..., i, :, :], robot.pose(name, q))
                one = robot.twist(name, q, stack, **axes)
                same(twists[..., i, :], one)
                same(kin.twist[..., i, :], one)
                one = robot.twist(name, q, stack[(0,) * len(lead)][0], **axes)
                same(plain[..., i, :], one)
                same(jacobians[0][..., i, :, :], robot.jacobian(name, q, **axes))
                same(jacobians[1][..., i, :, :], robot.jacobian_derivatives(name, q, stack, **axes))
        rates = robot.pose_derivatives(q, stack, frames=some)
        same(rates, robot.pose_derivatives(q, stack, frames=names))
    none, q, n = robot.frames([]), robot.neutral(), robot.nv
    assert none.pose(q).shape == (0, 4, 4)
    assert none.jacobian(q).shape == (0, 6, n)
    assert none.jacobian_derivatives(q, np.ones(n)).shape == (2, 0, 6, n)


def test_frames_of_another_robot_are_looked_up_there() -> None:
    robot = jn.robots.aerial_manipulator()
    hands, q = robot.frames(["B7", "B4"]), robot.neutral()
    other = robot.lock({"q5": 0.5})
    assert other.frame_index("B7") != robot.frame_index("B7")
    kin = other.forward_kinematics(other.neutral(), frames=hands)
    assert kin.names == ("B7", "B4")
    same(kin["B7"], other.pose("B7", other.neutral()))
    again = pickle.loads(pickle.dumps(hands))
    assert again.names == hands.names
    same(again.pose(q), hands.pose(q))
    assert robot.frames(hands) is hands
    assert robot.frames([robot.frame_index("B4")]).names == ("B4",)
    assert repr(hands) == "<jounce.Frames: B7, B4>"


def test_what_is_no_list_of_names_is_refused() -> None:
    robot = jn.robots.panda()
    for bad in ("link7", 5, None, b"link7"):
        with pytest.raises(ValueError, match=r"frames is .*, expected a list of names"):
            robot.frames(bad)
    with pytest.raises(ValueError, match="no body or frame is named 'link9': did you mean"):
        robot.frames(["link1", "link9"])
    with pytest.raises(ValueError, match="v must be an array of real numbers, got None"):
        robot.frames(["link1"]).twist(robot.neutral(), None)
    with pytest.raises(ValueError, match=r"q has shape \(3,\)"):
        robot.frames(["link1"]).pose(np.zeros(3))
    with pytest.raises(ValueError, match=r"q has shape \(3,\)"):
        robot.frames(["link1"]).jacobian(np.zeros(3))
    with pytest.raises(ValueError, match="order is 3, expected 1"):
        robot.frames(["link1"]).jacobian_derivatives(robot.neutral(), np.ones(7), order=3)
    with pytest.raises(ValueError, match="frame"):
        robot.frames(["link1"]).jacobian(robot.neutral(), frame="LOCAL")
