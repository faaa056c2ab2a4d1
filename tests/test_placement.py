"""Poses from positions and rotations in the usual ways, against Pinocchio and MuJoCo."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import jounce as jn


def test_a_position_alone() -> None:
    expected = np.eye(4)
    expected[:3, 3] = (1, -2, 3)
    np.testing.assert_array_equal(jn.placement((1, -2, 3)), expected)
    np.testing.assert_array_equal(jn.placement(), np.eye(4))


@pytest.mark.parametrize("seed", range(5))
def test_every_way_is_pinocchios(seed: int) -> None:
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    angles, xyz = rng.uniform(-3, 3, (2, 3))
    R = pin.rpy.rpyToMatrix(*angles)
    quaternion = pin.Quaternion(R).coeffs()  # x y z w
    vector = pin.log3(R)
    found = [
        jn.placement(xyz, angles),
        jn.placement(xyz, quaternion=quaternion),
        jn.placement(xyz, quaternion=-quaternion),
        jn.placement(xyz, axis=3 * vector, angle=np.linalg.norm(vector)),
        jn.placement(xyz, rotation=R),
    ]
    for pose in found:
        np.testing.assert_allclose(pose, pin.SE3(R, xyz).homogeneous, atol=1e-14)


def test_small_angles_keep_their_digits() -> None:
    turn = jn.placement(axis=(1, 0, 0), angle=1e-9)
    assert turn[2, 1] == 1e-9
    assert turn[1, 1] == 1.0


def test_a_rotation_is_cleared_of_rounding() -> None:
    off = np.eye(3) + 1e-8 * np.ones((3, 3))
    turn = jn.placement(rotation=off)[:3, :3]
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-15)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rpy": (0, 0, 1), "quaternion": (0, 0, 0, 1)}, "rpy and quaternion were given, expected one way"),
        ({"axis": (0, 0, 1), "angle": 1, "rotation": np.eye(3)}, "axis and angle and rotation were given"),
        ({"axis": (0, 0, 1)}, "axis was given without angle"),
        ({"angle": 1.0}, "angle was given without axis"),
        ({"axis": (0, 0, 0), "angle": 1.0}, "axis is .*, expected a non-zero direction"),
        ({"quaternion": (1, 0, 0, 1)}, "quaternion is .*, of length 1.41421, expected x y z w of length 1"),
        ({"quaternion": (0, 0, 0, 2)}, "quaternion is .*, of length 2, expected x y z w of length 1"),
        ({"quaternion": (0, 3e300, 4e300, 0)}, r"quaternion is .*, of length 5e\+300, expected"),
        ({"quaternion": (1, 0, 0)}, r"quaternion has shape \(3,\)"),
        ({"rotation": 2 * np.eye(3)}, "rotation has an upper left block that is not a rotation"),
        ({"rotation": -np.eye(3)}, "rotation has an upper left block that is not a rotation"),
        ({"rpy": (0, np.nan, 0)}, "rpy is .*, expected finite numbers"),
        ({"xyz": "there"}, "xyz must be real numbers"),
        ({"angle": "much", "axis": (0, 0, 1)}, "angle must be real numbers"),
    ],
)
def test_errors(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        jn.placement(**given)


@pytest.mark.parametrize("given", [{"rpy": (0, 90, 0)}, {"rpy": (0.0, 0.0, -180.0)}, {"axis": (0, 0, 1), "angle": 45}])
def test_angles_that_look_like_degrees(given: dict[str, object]) -> None:
    with pytest.warns(jn.ModelWarning, match=r"^(rpy|angle) is .* rad, which looks like degrees: degrees=True") as said:
        jn.placement(**given)  # type: ignore[arg-type]
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jn.placement(**given, degrees=True)  # type: ignore[arg-type]
        for yaw in (40.5, 14.0, -6.3, 3):  # that of a robot that has turned often, too
            jn.placement(rpy=(0, 0, yaw))
