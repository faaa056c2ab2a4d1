"""Limits on acceleration, deceleration, jerk and the rate of forces: stored, read, written, and what is beyond them."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
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
    (broken,) = robot.check_limits([5.0, 0.0], [[9.0, 0.0], [9.0, -2.5]])
    assert (broken.joint, broken.quantity, broken.value) == ("table.y", "acceleration", -2.5)


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


# --- what is beyond them --------------------------------------------------------------------------------


def test_a_swing_is_beyond_each_limit_where_calculus_says() -> None:
    """A sine of amplitude a at the circular frequency w: its derivatives are as large as a w, a w², a w³."""
    a, w, count = 0.8, 3.0, 400
    time = np.linspace(0.0, 2 * np.pi / w, count, endpoint=False)
    motion = np.array([a * w**k * np.sin(w * time + k * np.pi / 2) for k in range(4)])
    most = 0.9 * a * w ** np.arange(4)
    limits = {"lower": -most[0], "upper": most[0], "velocity": most[1], "acceleration": most[2], "jerk": most[3]}
    found = slider(**limits).check_limits(motion[0][:, None], motion[1:].T[:, :, None])
    assert [each.quantity for each in found] == ["position", "velocity", "acceleration", "jerk"]
    assert [each.unit for each in found] == ["m", "m/s", "m/s²", "m/s³"]
    for each, values, limit in zip(found, motion, most, strict=True):
        np.testing.assert_array_equal(each.where, np.abs(values) > limit)
        worst = np.abs(values).max()
        assert abs(each.value) == pytest.approx(worst, rel=1e-9)
        assert each.limit == np.sign(each.value) * limit
        assert each.excess == abs(each.value) - limit
        assert values[each.index] == each.value
        assert each.time is None
    wider = {key: x / 0.9 for key, x in limits.items()}
    assert slider(**wider).check_limits(motion[0][:, None], motion[1:].T[:, :, None]) == ()


def test_deceleration_is_while_velocity_and_acceleration_have_opposite_signs() -> None:
    v = np.array([1.0, 1.0, -1.0, -1.0, 0.0, 0.0])
    a = np.array([6.0, -6.0, 6.0, -6.0, 6.0, -6.0])
    stack, q = np.stack([v, a], axis=-1)[..., None], np.zeros((6, 1))
    found = slider(acceleration=8, deceleration=5).check_limits(q, stack)
    assert [(each.quantity, each.where.tolist()) for each in found] == [
        ("deceleration", [False, True, True] + [False] * 3)
    ]
    found = slider(acceleration=5, deceleration=8).check_limits(q, stack)
    assert [(each.quantity, each.where.tolist()) for each in found] == [
        ("acceleration", [True, False, False, True, True, True])
    ]
    (one,) = slider(acceleration=5).check_limits(q, stack)
    assert one.quantity == "acceleration"
    assert one.where.all()


def test_forces_and_their_rates() -> None:
    robot = slider(effort=10, effort_rate=100)
    found = robot.check_limits([0.0], tau=[[9.0], [-120.0], [1e9]])
    assert [(each.quantity, each.unit, each.value, each.limit) for each in found] == [
        ("effort rate", "N/s", -120.0, -100.0)
    ]
    assert [each.quantity for each in robot.check_limits([0.0], tau=[[11.0]])] == ["effort"]
    (turn,) = robot_with(jn.Revolute(limits=jn.Limits(effort_rate=1))).check_limits([0.0], None, [[0.0], [2.0]])
    assert turn.unit == "N m/s"


def test_batches_broadcast_and_say_where() -> None:
    robot = robot_with(jn.Free(), jn.Revolute(limits=jn.Limits(-1, 1, velocity=2, effort=3)))
    q = np.zeros((4, 1, 8))
    q[..., 6], q[2, ..., 7] = 1.0, -1.5
    v, tau = np.zeros((3, 1, 7)), np.full((1, 7), 9.0)
    v[1, 0, 6] = 2.5
    found = robot.check_limits(q, v, tau)
    assert [each.quantity for each in found] == ["position", "velocity", "effort"]
    assert all(each.where.shape == (4, 3) and each.joint == "b1" for each in found)
    assert found[0].where.any(axis=1).tolist() == [False, False, True, False]
    assert found[1].where.any(axis=0).tolist() == [False, True, False]
    assert found[2].where.all()
    assert (found[0].index, found[1].index) == ((2, 0), (0, 1))
    one = robot.check_limits(q[2, 0])
    assert [(each.value, each.limit, each.index, each.where.shape) for each in one] == [(-1.5, -1.0, (), ())]
    assert robot.check_limits(np.zeros((0, 8))) == ()


def test_of_states_that_are_equal_but_for_rounding_the_first_is_named() -> None:
    v = np.array([0.0, 2.0, 2.0 + 2**-50, -2.0, 1.5])[:, None, None]
    (one,) = slider(velocity=1.0).check_limits(np.zeros((5, 1)), v)
    assert one.index == (1,)


def test_joints_that_follow_have_limits_too() -> None:
    finger, thumb = jn.Limits(-1, 1, velocity=1), jn.Limits(-0.5, 0.5, velocity=0.9, acceleration=4, deceleration=2)
    robot = robot_with(
        jn.Prismatic(limits=finger, name="finger"),
        jn.Prismatic(limits=thumb, follows=jn.Follow("finger", -0.5, 0.2), name="thumb"),
        jn.Prismatic(limits=thumb, follows=jn.Follow("thumb", 2.0), name="other"),  # -finger + 0.4
    )
    assert not robot.check_limits([-0.1], [[0.8], [1.0]])
    found = robot.check_limits([-0.3], [[0.95], [-3.0]])
    assert [(each.joint, each.quantity) for each in found] == [
        ("other", "position"),
        ("other", "velocity"),
        ("other", "deceleration"),
    ]
    assert [each.value for each in found] == pytest.approx([0.7, -0.95, 3.0], rel=1e-12)
    assert not robot.check_limits([0.0], tau=[[1e9]])


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e6])
def test_what_just_reaches_a_limit_is_within_it_in_any_unit(scale: float) -> None:
    reached = 0.3 * scale * (1 + 2**-50)
    robot = slider(lower=0.0, upper=0.3 * scale, velocity=0.3 * scale, effort=0.3 * scale)
    assert not robot.check_limits([reached], [[-reached]], [[reached]])
    assert not robot.check_limits([-1e-16 * scale])
    beyond = 0.3 * scale * (1 + 1e-6)
    found = robot.check_limits([-1e-6 * scale], [[-beyond]], [[beyond]])
    assert [each.excess for each in found] == pytest.approx([1e-6 * scale, 3e-7 * scale, 3e-7 * scale], rel=1e-6)


def test_it_prints_well() -> None:
    robot = jn.robots.panda()
    v = np.zeros((3, 3, 7))
    v[1:, 0, 0], v[2, 1, 3] = (2.4, -2.5), -13.0
    q = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.8, 0.0])
    found = robot.check_limits(q, v)
    text = (
        "beyond 2 limits:\n"
        "  q1: velocity is -2.5 rad/s (index 2), 0.325 beyond the limit, -2.175; so are 2 of 3 states\n"
        "  q4: acceleration is -13 rad/s² (index 2), 0.5 beyond the limit, -12.5"
    )
    assert str(found) == repr(found) == text
    assert str(found[1]) == text.rpartition("\n  ")[2]
    not_given = "velocity, acceleration, jerk, effort, effort rate"
    assert str(robot.check_limits(q)) == f"within all limits that were compared; not given: {not_given}"
    assert pickle.loads(pickle.dumps(found)).unchecked == ("effort", "effort rate")
    assert str(robot.check_limits(q, np.zeros((3, 7)), np.zeros((2, 7)))) == "within all limits"
    assert "(index 2, 0)" in str(robot.check_limits(q, v.reshape(3, 1, 3, 7)))
    assert "1 limit:" in str(robot.check_limits(q, v[1]))
    assert repr(pickle.loads(pickle.dumps(found))) == text
    odd = robot_with(jn.Revolute(limits=jn.Limits(upper=0), name="two\nlines")).check_limits([1.0])
    assert str(odd).splitlines() == ["beyond 1 limit:", "  two\\nlines: position is 1 rad, 1 beyond the limit, 0"]


def test_a_motion_says_when() -> None:
    robot = slider(velocity=1.0, acceleration=9.0)
    fall = jn.simulate(robot, [0.0], [0.0], np.linspace(0.0, 0.2, 21))  # against gravity, at 9.81 m/s²
    found = fall.check_limits(robot)
    assert [each.quantity for each in found] == ["velocity", "acceleration"]
    first = fall.time[found[0].where].min()
    assert first == pytest.approx(0.11)  # the first that is later than 1 / 9.81 s
    assert found[0].time == pytest.approx(0.2)
    assert found[0].value == pytest.approx(-9.81 * 0.2, rel=1e-9)
    assert " at 0.2 s (index 20), 0.962 beyond the limit, -1; so are 10 of 21 states" in str(found)
    assert not fall.check_limits(slider(velocity=2.0))
    with pytest.raises(ValueError, match=r"^robot is .*, whose coordinates are not those of this motion$"):
        fall.check_limits(jn.robots.panda())
    with pytest.raises(ValueError, match=r"^robot is 3, expected a jounce\.Model"):
        fall.check_limits(3)  # type: ignore[arg-type]


def test_velocities_without_derivatives_are_not_taken_for_a_stack() -> None:
    """Rows of a batch would be compared with limits of acceleration and jerk."""
    robot, q = slider(velocity=1.0), np.zeros((3, 1))
    with pytest.raises(ValueError, match=r"^v has shape \(3, 1\), one row for each of the \(3,\) configurations"):
        robot.check_limits(q, [[0.0], [0.5], [2.0]])
    with pytest.raises(
        ValueError, match=r"^tau has shape \(3, 1\), one row .* derivatives, that is tau\[\.\.\., None, :\], and"
    ):
        robot.check_limits(q, None, np.zeros((3, 1)))
    assert robot.check_limits(q, np.array([[0.0], [0.5], [2.0]])[..., None, :])[0].index == (2,)
    assert not robot.check_limits(q, np.array([[0.5], [2.0], [2.0]])[None])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.check_limits([0.0, 1.0]), r"^q has shape \(2,\)"),
        (lambda r: r.check_limits([np.nan]), r"^q\[0\] is nan"),
        (
            lambda r: r.check_limits([0.0], [1.0]),
            r"^v has shape \(1,\), expected a stack \(\.\.\., K, 1\): v and its time",
        ),
        (lambda r: r.check_limits([0.0], np.zeros((0, 1))), r"^v has shape \(0, 1\), expected a stack"),
        (lambda r: r.check_limits([0.0], [[0.0, 1.0]]), r"^v has shape \(1, 2\), expected \(\.\.\., 1\)"),
        (lambda r: r.check_limits([0.0], [[np.inf]]), "^v contains nan or inf"),
        (
            lambda r: r.check_limits([0.0], np.zeros((33, 1))),
            "^v has 33 rows, expected at most 32: the highest order is 30$",
        ),
        (lambda r: r.check_limits([0.0], None, np.zeros((32, 1))), "^tau has 32 rows, expected at most 31: "),
        (lambda r: r.check_limits([0.0], tau="much"), "^tau "),
        (
            lambda r: r.check_limits(np.zeros((2, 1)), np.zeros((3, 1, 1))),
            r"^the batch dimensions do not broadcast: q \(2,\), v \(3,\), tau \(\)$",
        ),
    ],
)
def test_bad_questions_are_refused_by_name(ask: Callable[[jn.Model], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask(slider(velocity=1.0))


def test_numbers_beyond_all_robots_do_not_disturb() -> None:
    robot = robot_with(
        jn.Revolute(limits=jn.Limits(velocity=1, acceleration=1, deceleration=2, effort=1), name="a"),
        jn.Revolute(limits=jn.Limits(velocity=1), follows=jn.Follow("a", 100.0)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = robot.check_limits([0.0], [[1e308], [-1e308]], [[-1e308]])
    assert [(each.joint, each.quantity) for each in found] == [
        ("a", "velocity"),
        ("b1", "velocity"),
        ("a", "deceleration"),
        ("a", "effort"),
    ]
