"""MoveIt's joint_limits.yaml: what counts in it is what counts there; hostile files are refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from time_limits import within

pytest.importorskip("yaml")
OWN = jn.Limits(-2.0, 2.0, velocity=3.0, effort=40.0, acceleration=8.0, deceleration=9.0, jerk=500.0, effort_rate=700.0)


def arm() -> jn.Model:
    builder = jn.Builder()
    link = jn.Inertia(1.0, rotational=(1, 1, 1))
    builder.add("base", "world", jn.Free(name="floating"), inertia=link)
    builder.add("upper", "base", jn.Revolute(limits=OWN, name="shoulder"), inertia=link)
    builder.add("lower", "upper", jn.Prismatic(name="elbow"), inertia=link)
    builder.add("finger", "lower", jn.Revolute(follows=jn.Follow("elbow"), name="finger"), inertia=link)
    return builder.build()


def given(folder: Path, text: str | bytes) -> jn.Model:
    file = folder / "joint_limits.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return arm().with_limits(file)


def limits(robot: jn.Model, joint: str) -> jn.Limits | None:
    return next(body.joint.limits for body in robot.bodies if body.joint_name == joint)


def test_a_joint_of_ones_own_has_them(tmp_path: Path) -> None:
    def pose(q: list[float]) -> np.ndarray:
        return np.array([[1, 0, 0, q[0]], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])

    builder = jn.Builder()
    joint = jn.CustomJoint(pose, n=1, limits=jn.Limits(-1, 1), name="slide")
    builder.add("cart", "world", joint, inertia=jn.Inertia(1.0))
    file = tmp_path / "limits.yaml"
    file.write_text("joint_limits: {slide: {has_acceleration_limits: true, max_acceleration: 3}}")
    robot = builder.build().with_limits(file)
    assert (robot.upper, robot.acceleration_limit) == (1.0, 3.0)


MOVEIT = """# beside the URDF

# For beginners, we downscale velocity and acceleration limits.
default_velocity_scaling_factor: 0.1
default_acceleration_scaling_factor: 0.1

joint_limits:
  shoulder:
    has_velocity_limits: true
    max_velocity: 2.6100000000000003
    has_acceleration_limits: true
    max_acceleration: 5
    has_jerk_limits: false
    max_jerk: 0
  elbow:
    has_position_limits: true
    min_position: -0.25
    max_position: 1e-1
    has_velocity_limits: yes
    max_velocity: .5
    has_deceleration_limits: true
    max_deceleration: -4.5
    has_effort_limits: true
    max_effort: 12
    angle_wraparound: false
  finger:
    has_jerk_limits: true
    max_jerk: 7
"""


def test_a_file_changes_what_it_mentions(tmp_path: Path) -> None:
    robot = given(tmp_path, MOVEIT)
    assert limits(robot, "shoulder") == jn.Limits(
        -2.0, 2.0, velocity=2.6100000000000003, effort=40.0, acceleration=5.0, deceleration=9.0, effort_rate=700.0
    )
    assert limits(robot, "elbow") == jn.Limits(-0.25, 0.1, velocity=0.5, effort=12.0, deceleration=4.5)
    assert limits(robot, "finger") == jn.Limits(jerk=7.0)
    assert robot.jerk_limit.tolist() == [math.inf] * 8
    assert limits(arm(), "shoulder") == OWN


def test_scaling_factors_are_no_limits(tmp_path: Path) -> None:
    robot = given(tmp_path, MOVEIT)
    assert robot.velocity_limit[6:].tolist() == [2.6100000000000003, 0.5]
    with pytest.raises(jn.LoadError, match=r"has no joint_limits, expected a file like MoveIt's"):
        given(tmp_path, "default_velocity_scaling_factor: 0.1\n")


def test_parameters_of_ros_have_it_inside_of_others(tmp_path: Path) -> None:
    inside = "".join(f"      {line}\n" for line in MOVEIT.splitlines())
    for outer in ("/**:\n  ros__parameters:\n    robot_description_planning:\n", "robot_description_planning:\n"):
        robot = given(tmp_path, outer + inside)
        assert limits(robot, "finger") == jn.Limits(jerk=7.0)


def test_degrees_as_in_the_files_of_universal_robots(tmp_path: Path) -> None:
    text = """joint_limits:
      shoulder: {has_position_limits: true, max_position: !degrees  360.0, min_position: !degrees -360.0,
        has_velocity_limits: true, max_velocity: !degrees  180.0, has_effort_limits: true, max_effort: !radians 330}"""
    found = limits(given(tmp_path, text), "shoulder")
    assert found is not None
    assert (found.lower, found.upper, found.velocity, found.effort) == (-2 * np.pi, 2 * np.pi, np.pi, 330.0)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("has_velocity_limits: false, max_velocity: 2", {"velocity": math.inf}),
        ("has_effort_limits: off", {"effort": math.inf}),
        ("has_acceleration_limits: false", {"acceleration": math.inf}),
        ("has_deceleration_limits: False", {"deceleration": None}),  # ros2_control then takes that of acceleration
        ("has_deceleration_limits: true, max_deceleration: 4", {"deceleration": 4.0}),  # ros2_control's sign
        ("has_position_limits: false, max_position: 1", {}),  # for MoveIt, there is no way to take them away
        ("max_position: 1", {"upper": 1.0}),  # of positions, MoveIt does not look at the "has"
        ("has_jerk_limits: true, max_jerk: .inf", {"jerk": math.inf}),
        ("has_soft_limits: true, k_position: 3.0, soft_lower_limit: -1", {}),
        ("", {}),
    ],
)
def test_what_counts_is_what_counts_for_moveit(words: str, expected: dict[str, float], tmp_path: Path) -> None:
    from dataclasses import replace

    robot = given(tmp_path, f"joint_limits: {{shoulder: {{{words}}}}}")
    assert limits(robot, "shoulder") == replace(OWN, **expected)


def test_what_does_not_count_gets_a_word(tmp_path: Path) -> None:
    text = "joint_limits: {shoulder: {max_velocity: 1.0, max_velocty: 2.0}, elbow: {max_jerk: 1}, finger: {a: 1, b: 2}}"
    with pytest.warns(jn.LoadWarning) as told:
        robot = given(tmp_path, text)
    assert limits(robot, "shoulder") == OWN
    (one,) = (str(each.message) for each in told)
    assert Path(told[0].filename).name == Path(__file__).name
    assert "'max_velocty' of joint 'shoulder' is not a limit: did you mean 'max_velocity'" in one
    assert "max_velocity of joint 'shoulder' does not count without has_velocity_limits: true, nor for MoveIt;" in one
    assert one.endswith("; and 2 more of the kind")


FAULTS = {
    "an unknown joint": (
        "joint_limits:\n  sholder: {}",
        "line 2: no joint is named 'sholder': did you mean 'shoulder'?",
    ),
    "a body": ("joint_limits: {upper: {}}", "line 1: no joint is named 'upper': there are 'floating', 'shoulder', "),
    "a free joint": ("joint_limits: {floating: {}}", "joint 'floating': has 6 coordinates, expected a joint with one"),
    "words": (
        "joint_limits:\n  elbow:\n    has_jerk_limits: true\n    max_jerk: high",
        "line 4: joint 'elbow': max_jerk is 'high', expected a number",
    ),
    "a quoted number": ("joint_limits: {elbow: {max_position: '1'}}", "max_position is '1', expected a number"),
    "not a number": ("joint_limits: {elbow: {max_position: .nan}}", "max_position is '.nan', expected a number"),
    "minutes": ("joint_limits: {elbow: {max_position: 1:30}}", "max_position is '1:30', expected a number"),
    "a list": ("joint_limits: {elbow: {max_position: [1]}}", "max_position is a sequence, expected a number"),
    "a tag": (
        "joint_limits: {elbow: {max_position: !!python/name:os.system 1}}",
        "max_position is '1', expected a number",
    ),
    "no flag": (
        "joint_limits: {elbow: {has_jerk_limits: maybe}}",
        "has_jerk_limits is 'maybe', expected true or false",
    ),
    "a number as a flag": (
        "joint_limits: {elbow: {has_jerk_limits: 1}}",
        "has_jerk_limits is '1', expected true or false",
    ),
    "no maximum": ("joint_limits: {elbow: {has_jerk_limits: true}}", "has_jerk_limits is true, expected a max_jerk"),
    "no ends": (
        "joint_limits: {elbow: {has_position_limits: true}}",
        "has_position_limits is true, expected a min_position or max_position",
    ),
    "zero": (
        "joint_limits: {elbow: {has_acceleration_limits: true, max_acceleration: 0}}",
        "max_acceleration is 0, expected a positive number",
    ),
    "a negative speed": (
        "joint_limits: {elbow: {has_velocity_limits: true, max_velocity: -1}}",
        "max_velocity is -1, expected a number that is not negative",
    ),
    "ends that cross": ("joint_limits: {shoulder: {min_position: 3}}", "joint 'shoulder': lower is 3, above upper, 2"),
    "a joint twice": ("joint_limits:\n  elbow: {}\n  elbow: {}", "line 3: 'elbow' is there a second time"),
    "a key twice": ("joint_limits: {elbow: {max_jerk: 1, max_jerk: 2}}", "line 1: 'max_jerk' is there a second time"),
    "a key that is no name": ("joint_limits: {[a]: {}}", "line 1: a sequence is no name"),
    "twice": (
        "a: {joint_limits: {}}\nb: {joint_limits: {}}",
        "has joint_limits 2 times, expected a file like MoveIt's",
    ),
    "a joint that is a number": (
        "joint_limits: {elbow: 3}",
        "joint 'elbow': is '3', expected limits such as max_velocity",
    ),
    "joints that are a list": ("joint_limits: [elbow]", "line 1: joint_limits is a sequence, expected joints"),
    "nothing": ("joint_limits:", "line 1: joint_limits is empty, expected joints"),
    "an empty file": ("", "has no joint_limits"),
    "a list at the top": ("- joint_limits", "has no joint_limits"),
    "no YAML": ("joint_limits: {elbow: ", "is not YAML: while parsing a flow"),
    "binary": (b"\x00\x01\x02", "is not YAML: "),
    "two documents": ("joint_limits: {}\n---\njoint_limits: {}", "is not YAML: expected a single document"),
    "URDF": ("<robot name='r'> <link name='a'/> </robot>", "has no joint_limits"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_named_with_file_line_and_key(name: str, tmp_path: Path) -> None:
    text, message = FAULTS[name]
    with pytest.raises(jn.LoadError) as caught:
        given(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'joint_limits.yaml'}")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{b}: &{b} {{<<: [{', '.join([f'*{a}'] * 9)}]}}\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "references": (BOMB + "joint_limits: *i", "line 2: *a stands for something above, expected that to be written out"),
    "references to merge": (MERGES + "joint_limits: *i", "line 2: *a stands for"),
    "itself": ("joint_limits: &a {elbow: *a}", "line 1: *a stands for"),
    "a program": ("!!python/object/apply:os.system ['touch {}']", "has no joint_limits"),
    "nested lists": ("[\n" * 50_000, "is nested too deeply"),
    "nested mappings": ("joint_limits: " + "{a: " * 40_000, "is nested too deeply"),
    "nested dashes": ("- " * 90_000, "is nested too deeply"),
    "a large file": ("#" * 300_000, "has 0 MB, more than the 0 MB that are read"),
    "a long number": (f"joint_limits: {{elbow: {{max_position: {'1' * 100_000}}}}}", "expected a number"),
    "many unknown words": (
        "joint_limits:\n  elbow:\n" + "".join(f"    max_{i}: 1\n" for i in range(1000)) + "  sholder: {}",
        "no joint is named 'sholder'",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_soon(name: str, tmp_path: Path) -> None:
    text, message = HOSTILE[name]
    made = tmp_path / "made"
    with within(10.0), pytest.raises(jn.LoadError) as caught:
        given(tmp_path, text.replace("{}", str(made)) if name == "a program" else text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert not made.exists()


def test_files_that_are_none(tmp_path: Path) -> None:
    robot = arm()
    with pytest.raises(FileNotFoundError, match=r"nowhere\.yaml: does not exist$") as caught:
        robot.with_limits(tmp_path / "nowhere.yaml")
    assert isinstance(caught.value, jn.LoadError)
    with pytest.raises(jn.LoadError, match=r"is a directory, expected a file such as"):
        robot.with_limits(tmp_path)
    with pytest.raises(jn.LoadError, match=r"is a device or a pipe, expected a file$"):
        robot.with_limits("/dev/zero")
    with pytest.raises(jn.LoadError, match="cannot be read: "):
        robot.with_limits("a\0b")
    for wrong in (None, 3, "", b"", ["a"]):
        with pytest.raises(ValueError, match=r"^path is .*, expected the name of a file, such as 'joint_limits.yaml'$"):
            robot.with_limits(wrong)  # type: ignore[arg-type]


def test_without_pyyaml_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    with pytest.raises(jn.LoadError, match=r"needs the package PyYAML: pip install 'jounce\[yaml\]'"):
        given(tmp_path, MOVEIT)
