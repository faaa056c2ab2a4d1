"""Limits on acceleration, deceleration, jerk and the rate of forces: stored, read and written."""

from __future__ import annotations

import pickle
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest

import jounce as jn

BOX = jn.Inertia(1.5, (0.1, 0.2, -0.1), (0.1, 0.2, 0.25))
INF = np.inf


def robot_with(*joints: jn.Joint) -> jn.Model:
    """A chain."""
    builder = jn.Builder()
    for i, joint in enumerate(joints):
        builder.add(f"b{i}", f"b{i - 1}" if i else "world", joint, inertia=BOX)
    return builder.build()


def slider(**limits: float) -> jn.Model:
    return robot_with(jn.Prismatic(limits=jn.Limits(**limits)))


# --- stored ---------------------------------------------------------------------------------------------


def test_they_are_where_their_joints_are() -> None:
    robot = robot_with(
        jn.Free(),
        jn.Revolute(limits=jn.Limits(acceleration=3, jerk=5, effort_rate=6)),
        jn.Spherical(),
        jn.Prismatic(limits=jn.Limits(acceleration=7, deceleration=8)),
        jn.Fixed(),
        jn.Universal(),
        jn.Helical(limits=jn.Limits(deceleration=9)),
    )
    assert robot.acceleration_limit.tolist() == [INF] * 6 + [3] + [INF] * 3 + [7] + [INF] * 2 + [INF]
    assert robot.deceleration_limit.tolist() == [INF] * 6 + [3] + [INF] * 3 + [8] + [INF] * 2 + [9]
    assert robot.jerk_limit.tolist() == [INF] * 6 + [5] + [INF] * 7
    assert robot.effort_rate_limit.tolist() == [INF] * 6 + [6] + [INF] * 7
    assert robot_with().deceleration_limit.shape == (0,)


def test_they_are_given_by_name() -> None:
    with pytest.raises(TypeError):
        jn.Limits(-1, 1, 2, 3, 4)  # type: ignore[misc]


def test_a_deceleration_that_is_not_given_follows_the_acceleration() -> None:
    """Also when that is changed later."""
    limits = replace(jn.Limits(acceleration=5.0), acceleration=10.0)
    assert robot_with(jn.Revolute(limits=limits)).deceleration_limit.tolist() == [10.0]
    assert jn.Limits(acceleration=5) == jn.Limits(acceleration=5.0)


def test_they_survive_pickling() -> None:
    limits = jn.Limits(-1, 2, 3, 4, acceleration=5, deceleration=6, jerk=7, effort_rate=8)
    robot = pickle.loads(pickle.dumps(robot_with(jn.Revolute(limits=limits))))
    assert robot.bodies[0].joint.limits == limits


def test_the_coordinates_of_a_joint_of_ones_own_have_them() -> None:
    def pose(q: list[float]) -> np.ndarray:
        return np.array([[1, 0, 0, q[0]], [0, 1, 0, q[1]], [0, 0, 1, 0], [0, 0, 0, 1]])

    limits = [None, jn.Limits(-1.0, 1.0, acceleration=2.0, jerk=3.0)]
    robot = robot_with(jn.CustomJoint(pose, n=2, limits=limits, coordinate_names=("x", "y"), name="table"))
    assert robot.deceleration_limit.tolist() == [INF, 2.0]


@pytest.mark.parametrize("key", ["acceleration", "deceleration", "jerk", "effort_rate"])
@pytest.mark.parametrize(("value", "message"), [
    (0.0, "^{} is 0, expected a positive number$"),
    (-2.0, "^{} is -2, expected a positive number$"),
    (np.nan, "^{} is nan, expected a number$"),
    ("5", "^{} is '5', expected a number$"),
    ([5.0], r"^{} is \[5.0\], expected a number$"),
])  # fmt: skip
def test_bad_ones_are_named(key: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message.format(key)):
        jn.Limits(**{key: value})  # type: ignore[arg-type]


# --- URDF 1.2 -------------------------------------------------------------------------------------------

URDF = """<robot name="r" version="1.2"> <link name="base"/>
  <link name="a"> <inertial> <mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial> </link>
  <link name="b"> <inertial> <mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial> </link>
  <joint name="turn" type="revolute"> <parent link="base"/> <child link="a"/> <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="50" acceleration="7.5" deceleration="10" jerk="3750"/> </joint>
  <joint name="slide" type="prismatic"> <parent link="a"/> <child link="b"/> <axis xyz="1 0 0"/>
    <limit lower="0" upper="0.5" velocity="1" effort="20" acceleration="4"/> </joint> </robot>"""


def test_a_urdf_has_them() -> None:
    robot = jn.load(URDF)
    assert robot.acceleration_limit.tolist() == [7.5, 4.0]
    assert robot.deceleration_limit.tolist() == [10.0, 4.0]
    assert robot.jerk_limit.tolist() == [3750.0, INF]
    assert robot.velocity_limit.tolist() == [3.0, 1.0]


@pytest.mark.parametrize("said", ["", ' version="1.0"', ' version="1.1"', ' version="new"'])
def test_before_version_12_there_is_a_word_about_them(said: str) -> None:
    """ROS ignores them in such a file."""
    with pytest.warns(
        jn.LoadWarning, match=r"jerk of 2 joints \('turn', 'slide'\) are read, but ROS ignores them"
    ) as told:
        robot = jn.load(URDF.replace(' version="1.2"', said))
    assert len(told) == 1
    assert robot.acceleration_limit.tolist() == [7.5, 4.0]
    plain = URDF.replace(' acceleration="7.5" deceleration="10" jerk="3750"', "").replace(' acceleration="4"', "")
    jn.load(plain.replace(' version="1.2"', said))


def test_later_versions_have_them() -> None:
    for said in ("1.3", "2.0", "2"):
        assert jn.load(URDF.replace("1.2", said)).jerk_limit.tolist() == [3750.0, INF]


def test_odd_ones_in_a_urdf() -> None:
    with pytest.raises(
        jn.LoadError, match=r'line 7: <joint name="turn"> <limit>: jerk is -1, expected a positive number$'
    ):
        jn.load(URDF.replace('jerk="3750"', 'jerk="-1"'))
    with pytest.raises(jn.LoadError, match=r"deceleration is 'fast', expected a number$"):
        jn.load(URDF.replace('deceleration="10"', 'deceleration="fast"'))
    with pytest.warns(jn.LoadWarning, match=r"joint 'slide' has acceleration 0 in <limit>, which is left out"):
        assert jn.load(URDF.replace('acceleration="4"', 'acceleration="0"')).acceleration_limit.tolist() == [7.5, INF]
    assert jn.load(URDF.replace('acceleration="4"', 'acceleration="1e308"')).acceleration_limit.tolist() == [7.5, INF]


WRITTEN = {
    "all": jn.Limits(-1, 2, 3, 4, acceleration=5, deceleration=6, jerk=7),
    "a wheel": jn.Limits(acceleration=5, jerk=0.1),
    "deceleration alone": jn.Limits(deceleration=0.1),
    "unlimited when it slows down": jn.Limits(acceleration=5, deceleration=INF),
    "none": jn.Limits(-1, 2, 3, 4),
}


@pytest.mark.parametrize("limits", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("joint", [jn.Revolute, jn.Prismatic])
def test_they_come_back_from_a_urdf(joint: type[jn.Revolute], limits: jn.Limits) -> None:
    text = robot_with(joint(limits=limits)).to_urdf()
    assert jn.load(text).bodies[-1].joint.limits == limits
    assert ('<robot name="robot" version="1.2">' in text) == (limits != WRITTEN["none"])


def test_they_can_be_left_out_of_a_urdf() -> None:
    robot = robot_with(jn.Revolute(limits=replace(WRITTEN["all"], effort_rate=8)))
    text = robot.to_urdf(skip="rates")
    assert "version" not in text.replace("?xml version", "")
    assert jn.load(text).bodies[-1].joint.limits == WRITTEN["none"]
    assert (
        robot_with(jn.Revolute(limits=WRITTEN["a wheel"])).to_urdf(skip="rates") == robot_with(jn.Revolute()).to_urdf()
    )


def test_a_urdf_has_no_rates_of_forces() -> None:
    robot = slider(lower=-1, upper=2, velocity=3, effort=4, effort_rate=8)
    with pytest.warns(
        jn.SaveWarning, match=r"^left out of the URDF: effort_rate of joint 'b0': URDF has no such limit$"
    ):
        text = robot.to_urdf()
    assert jn.load(text).bodies[-1].joint.limits == WRITTEN["none"]


LIMITED = robot_with(jn.Revolute(limits=WRITTEN["all"]), jn.Prismatic(limits=WRITTEN["a wheel"]))


def test_mujoco_reads_it() -> None:
    mujoco = pytest.importorskip("mujoco")
    assert mujoco.MjModel.from_xml_string(LIMITED.to_urdf()).jnt_range.tolist()[0] == [-1.0, 2.0]


@pytest.mark.parametrize("skip", [(), "rates"])
def test_pinocchio_reads_it(skip: str) -> None:
    pin = pytest.importorskip("pinocchio")
    if not skip and int(version("cmeel-urdfdom").split(".")[0]) < 6:
        pytest.skip("this Pinocchio reads no URDF 1.2")
    assert pin.buildModelFromXML(LIMITED.to_urdf(skip=skip)).velocityLimit.tolist() == [3.0, 1e308]
