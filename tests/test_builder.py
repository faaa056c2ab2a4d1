"""A builder made from a robot, soft bodies on loaded robots, and calls that must refuse soft bodies."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

import jounce as jn
from jounce.conversions import MuJoCo, Pinocchio
from jounce.dynamics.closed_form import ClosedForm

LINK = """<link name="{}"> <inertial> <origin xyz="0 0 0.1"/> <mass value="0.5"/>
  <inertia ixx="0.002" iyy="0.002" izz="0.001" ixy="0" ixz="0" iyz="0"/> </inertial> </link>"""
JOINT = """<joint name="{0}" type="revolute"> <parent link="{1}"/> <child link="{2}"/> <origin xyz="0 0 0.2"/>
  <axis xyz="0 1 0"/> <limit lower="-2" upper="2" effort="9" velocity="5"/> {3} </joint>"""
ARM = "\n".join(
    [
        "<robot name='arm'>",
        *(LINK.format(name) for name in ("ground", "upper", "lower", "palm")),
        JOINT.format("shoulder", "ground", "upper", ""),
        JOINT.format("elbow", "upper", "lower", ""),
        JOINT.format("wrist", "lower", "palm", "<mimic joint='elbow' multiplier='-0.5'/>"),
        "</robot>",
    ]
)
ROD = jn.soft.Rod(
    0.1, (0.01, 0.006), 1100.0, 1e5, damping=0.02, actuators=[jn.soft.Tendon("tendon", route=(0.004, 0.0))]
)


def fingered(base: str = "fixed", young: float | None = None) -> jn.Model:
    b = jn.Builder.from_model(jn.load(ARM, base, gravity=(1.0, 2.0, -9.0)))
    rod = ROD if young is None else jn.soft.Rod(0.1, (0.01, 0.006), 1100.0, young)
    place = np.eye(4)
    place[2, 3] = 0.2
    b.add("finger", parent="palm", placement=place, body=rod)
    b.add("nail", parent="finger", at=0.07, inertia=jn.Inertia(0.002))
    return b.build()


def motion(robot: jn.Model, rows: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return robot.random_configuration(rng), rng.normal(size=(rows, robot.nv))


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_the_same_robot_again(base: str) -> None:
    robot = jn.load(ARM, base, gravity=(1.0, 2.0, -9.0))
    again = jn.Builder.from_model(robot).build()
    q, v = motion(robot)
    assert again.frame_names == robot.frame_names
    np.testing.assert_array_equal(again.gravity, robot.gravity)
    np.testing.assert_array_equal(again.inverse_dynamics(q, v), robot.inverse_dynamics(q, v))


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_finger_on_a_loaded_arm(base: str) -> None:
    arm, robot = jn.load(ARM, base), fingered(base)
    assert robot.joint_names == (*arm.joint_names, "finger")
    assert len(arm.bodies) == len(robot.bodies) - 2  # the arm is unchanged
    for name in arm.joint_names:
        assert robot.coordinate(name) == arm.coordinate(name)
    q, v = motion(robot, 4)
    tau = robot.inverse_dynamics(q, v)
    np.testing.assert_allclose(robot.forward_dynamics(q, v[0], tau), v[1:], rtol=0, atol=1e-6 * np.abs(v).max())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(robot)).inverse_dynamics(q, v), tau)
    np.testing.assert_allclose(robot.pose("palm", q), arm.pose("palm", q[: arm.nq]), rtol=0, atol=1e-14)


def test_a_stiff_finger_is_a_rigid_one() -> None:
    """Held straight, its mass acts like that of a rigid body with the same moments."""
    robot = fingered(young=0.0)
    rigid, m, h = jn.load(ARM, gravity=(1.0, 2.0, -9.0)), 0.0, np.zeros(3)
    J = np.zeros((3, 3))
    for mass in robot.bodies[-2].soft.sections(()).masses():
        m, J = m + mass.mass, J + mass.second
    s, weights = np.polynomial.legendre.leggauss(20)
    z = 0.05 * (1 + s)
    line = 1100.0 * np.pi * (0.01 - 0.04 * z) ** 2 * 0.05 * weights
    assert m == pytest.approx(line.sum())
    h[2] = line @ z
    J[2, 2] += line @ z**2
    com = h / m
    b = jn.Builder.from_model(rigid)
    place = np.eye(4)
    place[2, 3] = 0.2
    about = np.trace(J) * np.eye(3) - J - m * (com @ com * np.eye(3) - np.outer(com, com))
    b.add("finger", "palm", placement=place, inertia=jn.Inertia(m, com, about))
    place = np.eye(4)
    place[2, 3] = 0.07
    b.add("nail", "finger", placement=place, inertia=jn.Inertia(0.002))
    q, v = np.array([0.4, -0.9]), np.random.default_rng(1).normal(size=(4, 2))
    soft = robot.inverse_dynamics(np.append(q, np.zeros(3)), np.pad(v, ((0, 0), (0, 3))))[:, :2]
    np.testing.assert_allclose(soft, b.build().inverse_dynamics(q, v), rtol=1e-9, atol=1e-12)


def test_what_cannot_be_added() -> None:
    b = jn.Builder.from_model(jn.load(ARM))
    with pytest.raises(ValueError, match=r"'palm', which was added before, on 'lower'"):
        b.add("palm", "world")
    with pytest.raises(ValueError, match=r"parent of 'finger' is 'plam'.*: did you mean 'palm'"):
        b.add("finger", "plam", body=ROD)
    with pytest.raises(ValueError, match=r"model is 'arm\.urdf', expected a jounce\.Model"):
        jn.Builder.from_model("arm.urdf")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda r, q, v: r.closed_form(q + 0j, v), "q has complex numbers, expected real numbers: 'finger' is soft"),
        (lambda r, q, v: ClosedForm(r, q, v + 0j), "v has complex numbers, expected real numbers: 'finger' is soft"),
        (lambda r, q, v: r.inverse_dynamics_regressor(q, v), "regressor is that of rigid bodies"),
        (lambda r, q, v: r.inertial_parameters, "inertial parameters are those of rigid bodies"),
        (lambda r, q, v: MuJoCo(r, SimpleNamespace(nq=2, nv=2)), "soft bodies, 'finger', which MuJoCo has no coord"),
        (lambda r, q, v: Pinocchio(r, SimpleNamespace(nq=2, nv=2)), "soft bodies, 'finger', which Pinocchio has no"),
        (lambda r, q, v: r.backbone("palm", q), "no soft body is named 'palm'"),
    ],
)  # fmt: skip
def test_what_soft_bodies_have_not(call: Callable[..., object], says: str) -> None:
    robot = fingered()
    with pytest.raises(ValueError, match=says):
        call(robot, *motion(robot))
