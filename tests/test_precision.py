"""Answers beyond double precision are errors, and those degraded by rounding come with a warning."""

from __future__ import annotations

import warnings

import mpmath as mp
import numpy as np
import pytest

import jounce as jn
from jounce.core_tables import BodyRecord, compiled
from trees import random_rotation


def long_arm(length: float, links: int = 4) -> jn.Model:
    """Long links that turn about vertical axes."""
    builder, parent = jn.Builder(gravity=(0, 0, 0)), "world"
    for i in range(links):
        place = np.eye(4)
        place[0, 3] = length if i else 0.0
        inertia = jn.Inertia(1.0, com=(0.25, 0, 0), rotational=(0.02, 0.03, 0.04))
        builder.add(f"link{i}", parent, jn.Revolute((0, 0, 1)), placement=place, inertia=inertia)
        parent = f"link{i}"
    return builder.build()


def exact_acceleration(length: float, angles: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """From rest, by the mass matrix in 60 digits: centres of mass at the ends of sums of vectors in the plane."""
    with mp.workdps(60):
        n, M = len(angles), mp.zeros(len(angles))
        heading = [mp.fsum(mp.mpf(float(x)) for x in angles[: i + 1]) for i in range(n)]
        joint = [mp.matrix([0, 0])]
        for i in range(n - 1):
            joint.append(joint[i] + mp.mpf(length) * mp.matrix([mp.cos(heading[i]), mp.sin(heading[i])]))
        for k in range(n):
            com = joint[k] + mp.mpf(0.25) * mp.matrix([mp.cos(heading[k]), mp.sin(heading[k])])
            lever = [com - joint[i] for i in range(k + 1)]
            for i in range(k + 1):
                for j in range(k + 1):
                    M[i, j] += lever[i][0] * lever[j][0] + lever[i][1] * lever[j][1] + mp.mpf(0.04)
        return np.array([float(x) for x in mp.lu_solve(M, mp.matrix([mp.mpf(float(x)) for x in tau]))])


ANGLES, TAU = np.array([0.3, -0.4, 0.9, 0.2]), np.array([1.0, -2.0, 0.5, 3.0])


@pytest.mark.parametrize("length", [1.0, 30.0, 300.0])
def test_usual_levers_are_silent_and_exact(length: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = long_arm(length).forward_dynamics(ANGLES, np.zeros(4), TAU)
    exact = exact_acceleration(length, ANGLES, TAU)
    assert np.abs(found - exact).max() < 1e-13 * length**2 * np.abs(exact).max()


@pytest.mark.parametrize("length", [3e3, 1e4, 3e4])
@pytest.mark.parametrize("call", ["forward_dynamics", "inverse_mass_matrix", "inverse_mass_matrix_apply", "linearize"])
def test_long_levers_warn_with_the_error(length: float, call: str) -> None:
    robot, rest = long_arm(length), np.zeros(4)
    ask = {
        "forward_dynamics": lambda: robot.forward_dynamics(ANGLES, rest, TAU),
        "inverse_mass_matrix": lambda: robot.inverse_mass_matrix(ANGLES) @ TAU,
        "inverse_mass_matrix_apply": lambda: robot.inverse_mass_matrix_apply(ANGLES, TAU),
        "linearize": lambda: robot.linearize(ANGLES, rest, TAU).acceleration,
    }[call]
    with pytest.warns(jn.PrecisionWarning, match=r"the inertia that the joint of body 'link\d' moves is") as caught:
        found = ask()
    told = float(str(caught[0].message).split("may be off by ")[1].split()[0])
    exact = exact_acceleration(length, ANGLES, TAU)
    error = np.abs(found - exact).max() / np.abs(exact).max()
    assert told / 300 < error < 30 * told


def test_levers_beyond_double_precision() -> None:
    robot = long_arm(1e6)
    with pytest.raises(jn.SingularError, match="or so little that rounding hides it, as at the end of a long"):
        robot.forward_dynamics(ANGLES, np.zeros(4), TAU)


def test_the_warning_names_the_state() -> None:
    """One state of a batch: when folded, the last link's lever arm about the root is short."""
    robot = long_arm(1e4, links=3)
    q = np.zeros((11, 3))
    q[:, 1:] = np.pi, 0.3  # folded back
    q[6] = 0.1
    with pytest.warns(jn.PrecisionWarning, match="in state 6"):
        robot.forward_dynamics(q, np.zeros(3), np.ones(3))


def cart_and_arm() -> jn.Model:
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(), inertia=jn.Inertia(2.0, rotational=(0.3, 0.4, 0.5)))
    builder.add("cart", "base", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(1.0, com=(0.1, 0.2, 0.3)))
    builder.add("arm", "cart", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, com=(0.1, 0.2, 0.3)))
    return builder.build()


@pytest.mark.parametrize("order", [0, 1, 5])
def test_overflow_is_an_error(order: int) -> None:
    robot = cart_and_arm()
    q, v, tau = robot.neutral(), np.zeros((order + 2, robot.nv)), np.zeros((order + 1, robot.nv))
    v[0, 3:6] = 1e155
    with pytest.raises(jn.RangeError, match=r"inverse dynamics has no answer .*, because intermediate results exceed"):
        robot.inverse_dynamics(q, v)
    with pytest.raises(jn.RangeError, match="forward dynamics has no answer in double precision: it is"):
        robot.forward_dynamics(q, v[0], tau)
    with pytest.raises(jn.RangeError, match="the motion of frames has no answer"):
        robot.forward_kinematics(q, np.vstack([v, v]))
    v[:] = 0
    q[7] = 1e160  # of the cart
    for call in (robot.mass_matrix, robot.inverse_mass_matrix):
        with pytest.raises(jn.SingularError):
            call(q)
    with pytest.raises(jn.RangeError, match=", in state 2"):
        robot.mass_matrix(np.stack([robot.neutral()] * 2 + [q]))


@pytest.mark.parametrize(
    ("joint", "call", "arguments"),
    [
        ({"stiffness": 1e300}, "potential_energy", ([1e10],)),
        ({"stiffness": 1.0, "rest": 1e200}, "potential_energy", ([1e10],)),
        ({"armature": 1e300}, "kinetic_energy", ([0.1], [1e10])),
    ],
)
def test_springs_and_rotors_that_overflow(joint: dict[str, float], call: str, arguments: tuple[list[float]]) -> None:
    builder = jn.Builder()
    builder.add("arm", "world", jn.Revolute((0, 1, 0), **joint), inertia=jn.Inertia(1.0, com=(0.0, 0.0, -0.5)))
    with pytest.raises(jn.RangeError, match="energy has no answer in double precision"):
        getattr(builder.build(), call)(*arguments)


def test_large_numbers_that_need_not_overflow() -> None:
    robot = cart_and_arm()
    v = np.zeros((2, robot.nv))
    v[0, :3] = 1e150
    assert np.isfinite(robot.inverse_dynamics(robot.neutral(), v)).all()


class Slider(jn.soft.Module):
    """A point on a track whose energy is undefined beyond q = 2."""

    n = 1
    scale = np.array([0.5])
    masses = np.array([0.1])

    def pose(self, q):
        return np.array([[1, 0, 0, q[0]], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=object)

    def points(self, q):
        return np.array([[q[0], 0.0 * q[0], 0.0 * q[0]]], dtype=object)

    def energy(self, q):
        return -((4.0 - q[0] ** 2) ** 0.5)


def test_functions_that_leave_the_numbers() -> None:
    builder = jn.Builder()
    builder.add("slider", parent="world", body=Slider())
    robot = builder.build()
    assert np.isfinite(robot.inverse_dynamics([1.0], [0.1], [0.0])).all()
    for call in (robot.inverse_dynamics, robot.forward_dynamics):
        with pytest.raises(jn.RangeError, match="functions"):
            call([3.0], [0.1], [0.0])


def test_one_call_in_many_is_enough() -> None:
    robot = cart_and_arm()
    q, v = np.stack([robot.neutral()] * 2000), np.zeros((2000, 2, robot.nv))
    v[1234, 0, 3:6] = 1e160
    with pytest.raises(jn.RangeError, match=", in state 1234"):
        robot.inverse_dynamics(q, v)


@pytest.mark.parametrize("seed", range(5))
def test_directions_of_one_joint_are_perpendicular_to_all_digits(seed: int) -> None:
    """A planar joint turns about the normal of its plane, and not about one that is off by the last digit of either."""
    x, y, _ = random_rotation(np.random.default_rng(seed))
    for joint in (jn.Planar(x, y), jn.Planar(y, x), jn.Cylindrical(x), jn.Universal(x, y)):
        bodies = [BodyRecord("body", -1, joint, np.eye(4), jn.Inertia(1.0))]
        first, *others = compiled(bodies, np.zeros(3))["rotation"]
        for turn in others:
            np.testing.assert_array_equal(turn, np.round(turn))
            assert np.linalg.det(turn) == 1
        assert np.abs(first @ first.T - np.eye(3)).max() < 1e-15
