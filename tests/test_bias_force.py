"""Forces at zero acceleration, with damping and friction or without."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from kinds import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_without_damping_it_is_less_by_the_force_of_damping(kind: str) -> None:
    robot = KINDS[kind].model
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng, (3,)), rng.normal(size=(3, robot.nv))
    without = robot.bias_force(q, v, damping=False)
    expected = robot.bias_force(q, v) - robot.damping_force(q, v)
    np.testing.assert_allclose(without, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_it_is_what_pinocchio_calls_nonlinear_effects() -> None:
    pin = pytest.importorskip("pinocchio")
    text = """<robot name="arm"> <link name="base"/> <link name="upper"> <inertial> <origin xyz="0.1 0 0.3"/>
      <mass value="2"/> <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/> </inertial> </link>
      <link name="lower"> <inertial> <origin xyz="0 0.2 0.1"/> <mass value="1"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/> </inertial> </link>
      <joint name="a" type="revolute"> <parent link="base"/> <child link="upper"/> <axis xyz="0 1 0"/>
      <limit lower="-3" upper="3" effort="9" velocity="9"/> <dynamics damping="0.7"/> </joint>
      <joint name="b" type="revolute"> <parent link="upper"/> <child link="lower"/> <axis xyz="1 0 0"/>
      <limit lower="-3" upper="3" effort="9" velocity="9"/> <dynamics damping="1.3"/> </joint> </robot>"""
    robot, model = jn.load(text), pin.buildModelFromXML(text)
    q, v = np.array([0.3, -0.4]), np.array([2.0, -3.0])
    nle = pin.nonLinearEffects(model, model.createData(), q, v)
    np.testing.assert_allclose(robot.bias_force(q, v, damping=False), nle, rtol=1e-12)
    np.testing.assert_allclose(robot.bias_force(q, v), nle + np.array([0.7, 1.3]) * v, rtol=1e-12)


@pytest.mark.parametrize("bad", [2, "yes", None, [True], 0.5])
def test_what_is_neither_true_nor_false_is_refused(bad: object) -> None:
    robot = jn.robots.panda()
    with pytest.raises(ValueError, match=r"damping is .*, expected True or False"):
        robot.bias_force(robot.neutral(), np.zeros(7), damping=bad)
