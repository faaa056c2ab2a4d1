"""Dry friction: its Taylor series to 96 digits, its derivatives, closed formulas of motions, files, and MuJoCo."""

from __future__ import annotations

import math
import warnings

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

import jounce as jn

Array = NDArray[np.float64]
ORDER = 6
BODY = jn.Inertia(1.3, com=(0.1, 0.05, -0.4), rotational=(0.3, 0.2, 0.1))


def curved(q: Array) -> Array:
    c, s = np.cos(q[0]), np.sin(q[0])
    return np.array([[c, 0, s, 0.1 * q[0]], [0, 1, 0, 0.3 * q[1]], [-s, 0, c, 0], [0, 0, 0, 1]])


JOINTS = {
    "revolute": lambda **o: jn.Revolute((0, 1, 0), **o),
    "prismatic": lambda **o: jn.Prismatic((0, 1, 0), **o),
    "helical": lambda **o: jn.Helical((0, 1, 0), 0.2, **o),
    "cylindrical": lambda **o: jn.Cylindrical((0, 1, 0), **o),
    "planar": lambda **o: jn.Planar(**o),
    "universal": lambda **o: jn.Universal(**o),
    "spherical": lambda **o: jn.Spherical(**o),
    "free": lambda **o: jn.Free(**o),
    "by a function": lambda **o: jn.CustomJoint(curved, n=2, **o),
}
each_joint = pytest.mark.parametrize("joint", JOINTS)


def robot_with(joint: str, rubs: bool) -> tuple[jn.Model, Array, Array]:
    """A pendulum on that joint; with the friction and the speeds of the joint's coordinates, or without friction."""
    n = JOINTS[joint]().nv
    force, speed = np.linspace(0.5, 2.0, n), np.linspace(0.3, 0.8, n)
    options = {"friction": force, "friction_speed": speed} if rubs else {}
    b = jn.Builder()
    b.add("base", "world", jn.Revolute((1, 0, 0), damping=0.1), inertia=BODY)
    b.add("arm", "base", JOINTS[joint](**options), inertia=BODY)
    return b.build(), np.concatenate([[0.0], force]), np.concatenate([[1.0], speed])


def series(function: object, rows: Array) -> Array:
    """Derivatives 0 to ORDER of a function of the velocity with those derivatives, from its Taylor series."""
    with mp.workdps(96):
        x = [mp.mpf(float(row)) / mp.factorial(k) for k, row in enumerate(rows)]
        taylor = mp.taylor(lambda t: function(mp.polyval(x[::-1], t)), 0, ORDER)  # type: ignore[operator]
        return np.array([float(c * mp.factorial(k)) for k, c in enumerate(taylor)])


def motion(robot: jn.Model, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return robot.random_configuration(rng), 0.4 * rng.normal(size=(ORDER + 2, robot.nv))


@each_joint
def test_forces_to_sixth_order(joint: str) -> None:
    (robot, force, speed), (smooth, _, _) = robot_with(joint, True), robot_with(joint, False)
    q, v = motion(robot)
    found = robot.inverse_dynamics(q, v) - smooth.inverse_dynamics(q, v)
    for j in range(robot.nv):
        f, s = mp.mpf(force[j]), mp.mpf(speed[j])
        expected = series(lambda x, f=f, s=s: f * mp.tanh(x / s), v[:-1, j])
        np.testing.assert_allclose(found[:, j], expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(found[0], force * np.tanh(v[0] / speed), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found[0], robot.damping_force(q, v[0]) - smooth.damping_force(q, v[0]), atol=1e-13)
    np.testing.assert_allclose(
        robot.generalized_inverse_dynamics(q, v), smooth.generalized_inverse_dynamics(q, v), rtol=1e-12, atol=1e-12
    )


@each_joint
def test_motions_and_back(joint: str) -> None:
    """Forward and hybrid dynamics undo inverse dynamics; a batch is its states, in any axes.

    Friction near standstill is like strong damping: from order to order, rounding grows with the rate |M^-1 D|.
    """
    robot, _, _ = robot_with(joint, True)
    q, v = motion(robot)
    tau = robot.inverse_dynamics(q, v)
    _, D, M = robot.inverse_dynamics_derivatives(q, v[0], v[1])
    rate = 1.0 + np.linalg.norm(np.linalg.solve(M, D), 2)
    scale = 1e-3 * rate ** np.arange(ORDER + 1.0)[:, None] * (1.0 + np.abs(tau).max())
    assert (np.abs(robot.forward_dynamics(q, v[0], tau) - v[1:]) < 1e-10 * scale).all()
    held = np.arange(robot.nv) < 1
    acc, force = robot.hybrid_dynamics(q, v[0], v[1:], tau, prescribed=held)
    assert (np.abs(acc - v[1:]) < 1e-10 * scale).all()
    assert (np.abs(force - tau) < 1e-10 * scale).all()
    many = robot.inverse_dynamics(np.stack([q] * 11), np.stack([k * v / 5 for k in range(11)]))
    np.testing.assert_allclose(many[5], tau, rtol=1e-12, atol=1e-12 * np.abs(tau).max())
    for frame in ("world", "mixed"):
        moved = robot.change_velocity_frame(q, v, "body", frame)
        turned = robot.change_force_frame(q, v, tau, "body", frame)
        found = robot.inverse_dynamics(q, moved, frame=frame)
        assert (np.abs(found - turned) < 1e-10 * np.abs(turned).max(axis=-1, keepdims=True)).all()


@each_joint
def test_derivatives_to_sixth_order(joint: str) -> None:
    """d tau^(k) / d v^(m) is greater by binom(k, m) times derivative k - m of f / s sech(v / s)^2."""
    (robot, force, speed), (smooth, _, _) = robot_with(joint, True), robot_with(joint, False)
    q, v = motion(robot)
    (by_q, by_v), (same_q, same_v) = (each.inverse_dynamics_derivatives(q, v) for each in (robot, smooth))
    np.testing.assert_allclose(by_q, same_q, rtol=1e-10, atol=1e-10 * np.abs(by_q).max())
    expected = np.zeros_like(by_v)
    for j in range(robot.nv):
        f, s = mp.mpf(force[j]), mp.mpf(speed[j])
        slope = series(lambda x, f=f, s=s: f / s * mp.sech(x / s) ** 2, v[:-1, j])
        for k in range(ORDER + 1):
            for m in range(k + 1):
                expected[k, m, j, j] = math.comb(k, m) * slope[k - m]
    for k in range(ORDER + 1):
        np.testing.assert_allclose((by_v - same_v)[k], expected[k], rtol=0, atol=1e-10 * np.abs(by_v[k]).max())


def test_linearization_and_forward_derivatives() -> None:
    """Against differences of forward dynamics."""
    robot, _, _ = robot_with("universal", True)
    q, (v, tau) = robot.neutral() + 0.3, np.random.default_rng(1).normal(size=(2, 3))
    h, units = 1e-5, np.eye(3)
    after, before = (np.array([robot.forward_dynamics(q, v + x * e, tau) for e in units]).T for x in (h, -h))
    slope = (after - before) / (2 * h)
    np.testing.assert_allclose(robot.forward_dynamics_derivatives(q, v, tau)[1], slope, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(robot.linearize(q, v, tau).A[3:, 3:], slope, rtol=1e-7, atol=1e-7)


def test_a_follower_passes_its_friction_to_its_leader() -> None:
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("lead", "world", jn.Revolute(), inertia=BODY)
    rubs = jn.Prismatic(follows=jn.Follow("lead", -3.0, 0.2), friction=0.7, friction_speed=0.5)
    b.add("follower", "world", rubs, inertia=jn.Inertia(1.0))
    robot = b.build()
    for v in (-0.4, 0.0, 0.2):
        np.testing.assert_allclose(robot.damping_force([0.1], [v]), 3 * 0.7 * np.tanh(3 * v / 0.5), rtol=1e-14)


def test_constraints_carry_friction() -> None:
    """Two geared wheels: the motion is that of one wheel with the friction of both."""
    b = jn.Builder(gravity=(0, 0, 0))
    for name, force in (("motor", 0.2), ("wheel", 0.5)):
        joint = jn.Revolute(friction=force, friction_speed=0.1)
        b.add(name, "world", joint, inertia=jn.Inertia(1.0, rotational=(1, 1, 2)))
    b.close("gear", "motor", "wheel", jn.Gear((0.0, 2.0)))
    robot = b.build()
    w = 0.07
    acc = robot.forward_dynamics([0.0, 0.0], [w, 2 * w], [1.5, 0.0])
    expected = (1.5 - 0.2 * np.tanh(w / 0.1) - 2 * 0.5 * np.tanh(2 * w / 0.1)) / (2.0 + 4 * 2.0)
    np.testing.assert_allclose(acc, [expected, 2 * expected], rtol=1e-12)


@pytest.mark.parametrize("method", ["taylor", "rkmk", "implicit"])
def test_a_mass_that_slides_to_a_halt(method: str) -> None:
    """m v' = -f tanh(v / s) has the solution sinh(v / s) = sinh(v0 / s) exp(-f t / (m s))."""
    mass, force, speed, start = 2.0, 3.0, 0.1, 0.5
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("block", "world", jn.Prismatic(friction=force, friction_speed=speed), inertia=jn.Inertia(mass))
    times = np.linspace(0.0, 0.6, 13)
    found = jn.simulate(b.build(), [0.0], [start], times, method=method).v[:, 0]
    expected = speed * np.arcsinh(np.sinh(start / speed) * np.exp(-force * times / (mass * speed)))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_far_above_its_speed_it_is_constant() -> None:
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("block", "world", jn.Prismatic(friction=3.0, friction_speed=1e-9), inertia=jn.Inertia(1.0))
    robot = b.build()
    for v in (1e-3, 1.0, 1e200):
        found = robot.inverse_dynamics([0.0], [[v], [-v], [v], [2 * v]])
        np.testing.assert_array_equal(found[:, 0], [3.0 - v, v, 2 * v])
        np.testing.assert_array_equal(robot.inverse_dynamics_derivatives([0.0], [-v], [v])[1], [[0.0]])
    slope = robot.inverse_dynamics_derivatives([0.0], [40e-9], [0.0])[1]  # where 1 - tanh^2 would be zero
    np.testing.assert_allclose(slope, 3e9 / np.cosh(40.0) ** 2, rtol=1e-12)


def test_bad_friction() -> None:
    with pytest.raises(ValueError, match=r"^friction is \[-1.0\], expected non-negative numbers"):
        jn.Revolute(friction=-1.0)
    for bad in (0.0, 1e-300):
        with pytest.raises(ValueError, match=r"^friction_speed is \[.*\], expected speeds of at least 1e-09"):
            jn.Revolute(friction=1.0, friction_speed=bad)
    b = jn.Builder()
    b.add("arm", "world", jn.Revolute(), inertia=BODY)
    with pytest.raises(ValueError, match="constraint 'pin': its joint has friction"):
        b.close("pin", "world", "arm", jn.Revolute(friction=1.0))


URDF = """<robot name="arm"> <link name="base"/> <link name="upper"> <inertial> <mass value="2"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/> </inertial> </link>
  <joint name="shoulder" type="continuous"> <axis xyz="0 1 0"/> <parent link="base"/> <child link="upper"/>
  <dynamics damping="0.2" friction="1.5"/> </joint> </robot>"""
MJCF = """<mujoco> <option gravity="0 0 0"/> <worldbody>
  <body name="a"> <joint name="a" axis="0 1 0" frictionloss="0.4"/>
    <inertial pos="0 0 0.2" mass="2" diaginertia="0.1 0.2 0.1"/>
    <body name="b"> <joint name="b" type="ball" frictionloss="0.3"/>
      <inertial pos="0.1 0 0.2" mass="1" diaginertia="0.1 0.1 0.1"/> </body> </body> </worldbody> </mujoco>"""


def test_friction_of_a_urdf() -> None:
    with pytest.warns(jn.LoadWarning) as heard:
        robot = jn.load(URDF)
    assert len(heard) == 1
    assert "dry friction of joint 'shoulder' is left out: friction=0.01 includes it" in str(heard[0].message)
    assert robot.damping_force([0.0], [5.0]) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jn.load(URDF, friction=False).damping_force([0.0], [5.0]) == 1.0
        rubs = jn.load(URDF, friction=0.05)
    np.testing.assert_allclose(rubs.damping_force([0.0], [0.03]), 0.2 * 0.03 + 1.5 * np.tanh(0.6), rtol=1e-14)
    assert jn.load(URDF, friction=0.05, damping=False).damping_force([0.0], [5.0]) == 1.5
    with pytest.raises(jn.LoadError, match=r"<dynamics>.*: friction is -1.5, expected a non-negative number"):
        jn.load(URDF.replace('friction="1.5"', 'friction="-1.5"'))


@pytest.mark.parametrize("speed", [0.0, -1.0, True, "fast", np.inf, np.nan, [0.01]])
def test_bad_speeds(speed: object) -> None:
    with pytest.raises(ValueError, match=r"^friction is .*, expected a"):
        jn.load(URDF, friction=speed)  # type: ignore[arg-type]


def test_friction_loss_of_mjcf() -> None:
    """Where all joints move much faster than the speed, MuJoCo's friction is at its limit, too."""
    mujoco = pytest.importorskip("mujoco")
    with pytest.warns(
        jn.LoadWarning, match=r"left out: .*friction loss of joints 'a', 'b' \(friction=0.01 includes it\)"
    ):
        jn.load(MJCF)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = jn.load(MJCF, friction=0.001)
    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = robot.random_configuration(rng), rng.choice([-1.0, 1.0], 4) * rng.uniform(2.0, 3.0, 4)
        data.qpos[:], data.qvel[:] = [q[0], q[4], q[1], q[2], q[3]], v
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(robot.forward_dynamics(q, v, np.zeros(4)), data.qacc, rtol=1e-6, atol=1e-6)
    switched = MJCF.replace('<option gravity="0 0 0"/>', '<option> <flag frictionloss="disable"/> </option>')
    assert not jn.load(switched, friction=0.01).damping_force(q, v).any()
