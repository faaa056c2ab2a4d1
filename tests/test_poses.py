"""The small kit of poses, against matrix exponentials in 50 digits, SciPy's Rotation, and differences of motions."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import jounce as jn
from jounce import poses

ANGLES = [0.0, 1e-200, 1e-20, 1e-9, 1e-6, 1e-4, 1e-3, 0.019, 0.02, 0.021, 0.1, 1.0, 2.0, 3.0, 3.14, np.pi - 1e-6]
ANGLES += [np.pi - 1e-9, np.pi - 1e-15]
AXES = [
    np.eye(3)[0],
    -np.eye(3)[2],
    np.array([1.0, 2.0, -2.0]) / 3,
    np.array([1.0, 1e-9, 0.0]),
    np.array([0.6, -0.8, 1e-5]),
]
TURNS = np.array([angle * axis / np.linalg.norm(axis) for angle in ANGLES for axis in AXES])
PLACES = np.random.default_rng(0).normal(size=TURNS.shape)
TWISTS = np.concatenate([PLACES, TURNS], axis=-1)


def exact(twist: np.ndarray) -> np.ndarray:
    """exp of the 4x4 matrix of a twist, in 50 digits."""
    v, (x, y, z) = twist[:3].tolist(), twist[3:].tolist()
    with mpmath.workdps(50):
        made = mpmath.expm(mpmath.matrix([[0, -z, y, v[0]], [z, 0, -x, v[1]], [-y, x, 0, v[2]], [0, 0, 0, 0]]))
        return np.array([[float(made[i, j]) for j in range(4)] for i in range(4)])


def test_exponentials_are_exact() -> None:
    found = poses.exp(TWISTS)
    expected = np.array([exact(each) for each in TWISTS])
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-15 * np.abs(expected).max())
    small = np.linalg.norm(TURNS, axis=-1) < 0.5  # they have all their digits
    R, exactly = found[small, :3, :3], expected[small, :3, :3]
    assert (np.abs(R - exactly) <= 2e-15 * np.abs(exactly) * (1 - np.eye(3)) + 1.2e-16 * np.eye(3)).all()


def test_logarithms_bring_back_the_twist() -> None:
    found = poses.log(np.array([exact(each) for each in TWISTS]))
    size = np.linalg.norm(TURNS, axis=-1)
    off = np.linalg.norm(found[:, 3:] - TURNS, axis=-1)
    assert (off <= 1e-15 * np.maximum(size, 1e-3) + 1e-15 * (size > 3)).all()
    small = (size > 1e-150) & (size < 3)
    assert (off[small] / size[small]).max() < 4e-15  # relative to the angle, however small
    np.testing.assert_allclose(found[:, :3], PLACES, rtol=0, atol=5e-15 * np.abs(PLACES).max())


def test_half_turns() -> None:
    """Both axes are right; the one that is returned gives the same rotation."""
    axes = np.random.default_rng(1).normal(size=(50, 3))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    axes = np.vstack([axes, np.eye(3), -np.eye(3)])
    R = 2 * axes[:, :, None] * axes[:, None] - np.eye(3)
    w = poses.to_rotation_vector(R)
    np.testing.assert_allclose(np.linalg.norm(w, axis=-1), np.pi, rtol=1e-15)
    np.testing.assert_allclose(np.abs((w * axes).sum(axis=-1)), np.pi, rtol=1e-14)
    np.testing.assert_allclose(poses.from_rotation_vector(w)[:, :3, :3], R, rtol=0, atol=1e-15)


def test_rotations_agree_with_scipy() -> None:
    Rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    theirs = Rotation.from_rotvec(TURNS)
    mine = poses.from_rotation_vector(TURNS)[..., :3, :3]
    np.testing.assert_allclose(mine, theirs.as_matrix(), rtol=0, atol=1e-15)
    np.testing.assert_allclose(poses.to_quaternion(mine), theirs.as_quat(canonical=True), rtol=0, atol=1e-15)
    np.testing.assert_allclose(poses.from_quaternion(theirs.as_quat())[..., :3, :3], mine, rtol=0, atol=1e-15)
    angles = np.random.default_rng(2).uniform(-1.5, 1.5, (100, 3)) * [2, 1, 2]
    np.testing.assert_allclose(
        poses.from_rpy(angles)[..., :3, :3], Rotation.from_euler("xyz", angles).as_matrix(), atol=1e-15
    )
    np.testing.assert_allclose(poses.to_rpy(poses.from_rpy(angles)), angles, rtol=0, atol=2e-14)
    np.testing.assert_allclose(
        poses.to_rpy(mine[:60]), Rotation.from_matrix(mine[:60]).as_euler("xyz"), rtol=0, atol=1e-14
    )


@pytest.mark.parametrize("off", [0.0, 1e-300, 1e-16, 1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize("sign", [1, -1])
def test_roll_pitch_yaw_where_two_of_them_turn_about_one_axis(off: float, sign: int) -> None:
    angles = np.random.default_rng(3).uniform(-3, 3, (100, 3))
    angles[:, 1] = sign * (np.pi / 2 - off)
    R, X = poses.from_rpy(angles)[..., :3, :3], poses.exp(TWISTS[-1])[:3, :3]
    for each in (R, R @ X @ X.T):  # the latter with entries that are rounding errors
        found = poses.to_rpy(each)
        assert (np.abs(found[:, 1]) <= np.pi / 2).all()
        np.testing.assert_allclose(poses.from_rpy(found)[..., :3, :3], each, rtol=0, atol=3e-15)


def test_one_at_a_time_and_in_batches_and_what_placement_makes() -> None:
    batch = TWISTS[:24].reshape(2, 3, 4, 6)
    H = poses.exp(batch)
    assert H.shape == (2, 3, 4, 4, 4)
    calls = (poses.log, poses.adjoint, poses.inverse, poses.to_quaternion, poses.to_rotation_vector, poses.to_rpy)
    for call in calls:
        whole = call(H)
        for at in np.ndindex(2, 3, 4):
            np.testing.assert_array_equal(whole[at], call(H[at]))
        assert call(np.zeros((0, 4, 4))).shape[0] == 0
    for at in np.ndindex(2, 3, 4):
        np.testing.assert_array_equal(poses.exp(batch[at]), H[at])
    place, turn = (0.1, 0.2, 0.3), np.array([0.4, -0.5, 0.6])
    same = {
        "rpy": poses.from_rpy(turn, place),
        "quaternion": poses.from_quaternion(poses.to_quaternion(H[1, 2, 3]), place),
        "rotation_vector": poses.from_rotation_vector(turn, place),
    }
    given = {"rpy": turn, "quaternion": poses.to_quaternion(H[1, 2, 3]), "rotation_vector": turn}
    for way, expected in same.items():
        np.testing.assert_allclose(jn.placement(place, **{way: given[way]}), expected, rtol=0, atol=3e-16)
    assert poses.from_rpy(np.zeros((5, 3)), np.zeros((2, 1, 3))).shape == (2, 5, 4, 4)


def test_degrees() -> None:
    turn = np.array([30.0, -40.0, 50.0])
    for way in ("rpy", "rotation_vector"):
        make, read = getattr(poses, f"from_{way}"), getattr(poses, f"to_{way}")
        H = make(turn, degrees=True)
        np.testing.assert_array_equal(H, make(np.radians(turn)))
        np.testing.assert_allclose(read(H, degrees=True), turn, rtol=1e-14)
        np.testing.assert_allclose(jn.placement(**{way: turn}, degrees=True), H, rtol=0, atol=3e-16)
    np.testing.assert_allclose(
        jn.placement(axis=(0, 0, 1), angle=90, degrees=True), jn.placement(axis=(0, 0, 1), angle=np.pi / 2), atol=1e-15
    )
    with pytest.raises(ValueError, match="degrees is True, expected it with rpy, an angle or a rotation_vector"):
        jn.placement(quaternion=(0, 0, 0, 1), degrees=True)
    with pytest.raises(ValueError, match="rpy and rotation_vector were given, expected one way"):
        jn.placement(rpy=turn, rotation_vector=turn)


def test_the_adjoint_takes_twists_out_and_wrenches_in() -> None:
    robot = jn.robots.aerial_manipulator()
    q, v = robot.random_configuration(0), np.linspace(-1, 1, robot.nv)
    H = robot.pose("B7", q)
    body, world = (robot.twist("B7", q, v, frame=f, velocity_frame="body") for f in ("body", "world"))
    np.testing.assert_allclose(poses.adjoint(H) @ body, world, rtol=0, atol=1e-13)
    np.testing.assert_allclose(poses.adjoint(poses.inverse(H)) @ world, body, rtol=0, atol=1e-13)
    np.testing.assert_allclose(H @ poses.exp(body) @ poses.inverse(H), poses.exp(world), rtol=0, atol=1e-13)
    push = np.arange(1.0, 7.0)
    tau = [robot.inverse_dynamics(q, v, v, wrenches={"B7": w}, wrench_frame=f)
           for w, f in ((push, "world"), (poses.adjoint(H).T @ push, "body"))]  # fmt: skip
    np.testing.assert_allclose(*tau, rtol=0, atol=1e-12)


def test_errors_of_poses_lead_there() -> None:
    rng = np.random.default_rng(4)
    H, T = poses.exp(rng.normal(size=(2, 20, 6)))
    np.testing.assert_allclose(H @ poses.exp(poses.error(H, T)), T, rtol=0, atol=1e-14)
    np.testing.assert_allclose(poses.exp(poses.error(H, T, frame="world")) @ H, T, rtol=0, atol=1e-14)
    mixed = poses.error(H, T, frame="mixed")
    np.testing.assert_array_equal(mixed[:, :3], T[:, :3, 3] - H[:, :3, 3])
    turned = poses.from_rotation_vector(mixed[:, 3:])[:, :3, :3] @ H[:, :3, :3]
    np.testing.assert_allclose(turned, T[:, :3, :3], rtol=0, atol=1e-14)
    assert not poses.error(H, H, frame="mixed")[:, :3].any()
    assert np.abs(poses.error(H, H)).max() < 1e-15
    free = jn.Builder()
    free.add("box", "world", jn.Free(), inertia=jn.Inertia.box(1.0, (0.1, 0.2, 0.3)))
    box = free.build()
    q0, q1 = box.random_configuration(1, (2,))
    np.testing.assert_allclose(
        poses.error(box.pose("box", q0), box.pose("box", q1)), box.difference(q0, q1), atol=1e-14
    )
    np.testing.assert_allclose(poses.from_quaternion(q0[3:], q0[:3]), box.pose("box", q0), atol=1e-15)


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
def test_the_rate_of_an_error_is_the_twist(frame: str) -> None:
    """Near zero, in the axes of the same name: so an error fed back through the Jacobian of that frame decays."""
    robot, h = jn.robots.panda(), 1e-6
    q, v = robot.random_configuration(0), np.linspace(-1, 1, 7)
    there = robot.pose("link7", robot.integrate(q, h * v))
    rate = poses.error(robot.pose("link7", q), there, frame=frame) / h
    np.testing.assert_allclose(rate, robot.twist("link7", q, v, frame=frame), atol=2e-5)


BAD = {
    "a shape": (lambda: poses.exp(np.zeros(5)), r"twist has shape \(5,\), expected \(\.\.\., 6\)"),
    "a matrix": (lambda: poses.log(np.eye(3)), r"pose has shape \(3, 3\), expected \(\.\.\., 4, 4\)"),
    "a row": (lambda: poses.inverse(np.ones((4, 4))), r"pose has a last row that is not \[0, 0, 0, 1\]"),
    "no rotation": (lambda: poses.to_rpy(np.diag([1.0, 1, -1])), "pose is not a rotation: "),
    "one of many": (lambda: poses.to_rpy([np.eye(3), 2 * np.eye(3)]), "pose is not a rotation in state 1: "),
    "huge": (lambda: poses.log(np.diag([1e200, 1, 1, 1])), "pose is not a rotation"),
    "nan": (lambda: poses.adjoint(np.full((4, 4), np.nan)), "pose contains nan or inf"),
    "a target": (lambda: poses.error(np.eye(4), np.eye(3)), "target has shape"),
    "batches": (lambda: poses.error(np.stack([np.eye(4)] * 2), np.stack([np.eye(4)] * 3)), "do not broadcast: pose"),
    "axes": (lambda: poses.error(np.eye(4), np.eye(4), frame="LOCAL"), "frame is 'LOCAL', expected .*: that is 'body'"),
    "a length": (lambda: poses.from_quaternion((0, 0, 0, 2)), "quaternion has length 2, expected x y z w of length 1"),
    "a place": (lambda: poses.from_rpy((0, 0, 0), (0, 0)), r"xyz has shape \(2,\)"),
    "a flag": (lambda: poses.from_rpy((0, 0, 0), degrees="yes"), "degrees is 'yes', expected True or False"),
    "words": (lambda: poses.from_rotation_vector("abc"), "vector must be an array of real numbers"),
}


@pytest.mark.parametrize("label", BAD)
def test_bad_poses_are_refused_by_name(label: str) -> None:
    call, words = BAD[label]
    with pytest.raises(ValueError, match=words):
        call()
