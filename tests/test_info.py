"""``jounce info``: what it shows of a robot, and what it says about other files."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from jounce.display.info import show
from jounce.loading import describe
from time_limits import HANG, within
from urdf_peer import urdf_path

pytest.importorskip("rich")
from rich.console import Console

COMMAND = [sys.executable, "-c", "from jounce.cli import main; main()", "info"]

ARM = """<robot name="arm"> <link name="base"/> <link name="frame"/> <link name="tip"/>
  <link name="upper"> <inertial> <mass value="2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/> </inertial> </link>
  <link name="lower"> <inertial> <mass value="0.5"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial> </link>
  <joint name="mount" type="fixed"> <parent link="base"/> <child link="frame"/> </joint>
  <joint name="shoulder" type="revolute"> <parent link="base"/> <child link="upper"/> <axis xyz="0 -1 0"/>
    <limit lower="-1.5" upper="1.5" effort="7" velocity="3"/> <dynamics damping="0.2" friction="1"/> </joint>
  <joint name="slide" type="prismatic"> <parent link="upper"/> <child link="lower"/> <axis xyz="1 1 0"/>
    <limit lower="0" upper="0.4" effort="1500" velocity="0.1"/>
    <mimic joint="shoulder" multiplier="0.1" offset="-0.2"/> </joint>
  <joint name="end" type="continuous"> <parent link="lower"/> <child link="tip"/> </joint>
</robot>"""

SHOWN = """
link      joint     motion                    range                  mass    speed    effort  damping
base                fixed
├╴ frame  mount     fixed
upper     shoulder  revolute -y               ±1.5 rad               2 kg    3 rad/s  7 N m   0.2
lower     slide     prismatic (0.707, 0.707, 0)  = 0.1 shoulder - 0.2   0.5 kg  0.1 m/s  1500 N
tip       end       revolute x                any
"""


def shown(source: object, width: int | None = None, **options: object) -> str:
    out = StringIO()
    show(describe(source, **options), Console(file=out, width=width or 80, force_terminal=width is not None))
    return out.getvalue()


def test_names_are_texts() -> None:
    """Neither rich markup nor control characters: a name stays on its line."""
    text = shown(ARM.replace('"upper"', '"[red]up[/blue]"').replace('"slide"', '"sl&#10;ide"'))
    assert "[red]up[/blue]  shoulder" in text
    assert "sl\\nide" in text
    assert len(text.splitlines()) == len(shown(ARM).splitlines())


def test_everything_is_there() -> None:
    text = shown(ARM)
    assert text.startswith("arm, URDF, <string>\n")
    assert "2.5 kg; 5 links, 2 of them fixed; at most 3 joints in a row\n" in text
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for line in SHOWN.strip().splitlines():
        assert " ".join(line.split()) in lines
    assert "  dry friction of joint 'shoulder' is left out: friction=0.01 includes it" in text
    assert "  link 'tip' moves but neither it nor anything below it has inertia\n" in text
    assert "  the inertia of 'upper' has principal moments" in text


def test_columns_line_up() -> None:
    table = [line for line in shown(ARM).splitlines() if line.startswith(("link ", "upper ", "lower "))]
    for word in ("joint", "motion", "range", "mass", "speed", "effort"):
        column = table[0].index(word)
        for line in table[1:]:
            assert line[column - 1] == " "
            assert line[column] != " "


def test_a_narrow_terminal_gets_fewer_columns() -> None:
    wide, narrow = shown(ARM, 200), shown(ARM, 75)
    assert "effort" in wide
    assert "effort" not in narrow
    assert "= 0.1 shoulder - 0.2" in narrow


def test_branches() -> None:
    """Frames first, then the branches, each in the order of the file; a chain stays in its column."""
    edges = [("a", "b"), ("b", "b1"), ("a", "c"), ("c", "c1"), ("c", "c2")]
    joint = '<joint name="{0}{1}" type="{2}"><parent link="{0}"/><child link="{1}"/></joint>'
    joints = "".join(joint.format(*edge, "fixed" if edge[1] == "b1" else "continuous") for edge in edges)
    links = "".join(f'<link name="{name}"/>' for name in ("a", "b", "b1", "c", "c1", "c2"))
    drawn = shown(f"<robot>{links}{joints}</robot>").splitlines()
    tree = [line[:8].rstrip() for line in drawn[drawn.index("") + 2 :][:6]]
    assert tree == ["a", "├─ b", "│  b1", "└─ c", "   ├─ c1", "   └─ c2"]


def test_deep_and_wide_trees_take_no_time() -> None:
    """A comb: a side branch at each of 1500 links, so that the full drawing would take a million characters."""
    links = "".join(f'<link name="l{i}"/><link name="s{i}"/>' for i in range(1501))
    joint = '<joint name="j{0}{2}" type="continuous"><parent link="l{1}"/><child link="{0}{2}"/></joint>'
    joints = "".join(joint.format("l", i - 1, i) + joint.format("s", i - 1, i) for i in range(1, 1501))
    links = links.replace('<link name="s0"/>', "")
    with within(10):
        text = shown(f"<robot>{links}{joints}</robot>")
    assert max(map(len, text.splitlines())) < 300


def test_one_of_a_kind_is_not_several() -> None:
    text = shown("""<robot name="swing"> <link name="a"/> <link name="b"/> <joint name="j" type="continuous">
      <parent link="a"/> <child link="b"/> </joint> </robot>""")
    assert "1 degree of freedom (nq 1, nv 1); 0 kg; 2 links, 1 of them fixed; at most 1 joint in a row" in text
    text = shown('<robot name="stone"> <link name="a"/> </robot>')
    assert "0 degrees of freedom (nq 0, nv 0); 0 kg; 1 link, 1 of them fixed; at most 0 joints in a row" in text


def test_limits_on_rates_have_columns_where_there_are_any() -> None:
    text = """<robot name="swing" version="1.2"> <link name="a"/> <link name="b"/> <joint name="j" type="prismatic">
      <parent link="a"/> <child link="b"/> <limit lower="0" upper="1" velocity="2" effort="3"{}/> </joint> </robot>"""
    lines = shown(text.format(' acceleration="4.5" deceleration="6" jerk="12000"')).splitlines()
    head, row = next((head, row) for head, row in zip(lines[2:], lines[4:], strict=False) if head.startswith("link"))
    assert head.split()[-5:] == ["speed", "effort", "acceleration", "deceleration", "jerk"]
    assert row.endswith("2 m/s  3 N     4.5 m/s²      6 m/s²        12000 m/s³")
    assert "acceleration" not in shown(text.format(""))


def test_floating_base_and_quiet_robots() -> None:
    text = shown(urdf_path("go2.urdf"), base="floating")
    assert "18 degrees of freedom (nq 19, nv 18); " in text
    assert "root_joint" in text
    assert "nothing ignored, nothing odd" in text


def test_command() -> None:
    path = urdf_path("panda.urdf")
    done = subprocess.run([*COMMAND, str(path)], capture_output=True, text=True, timeout=HANG, check=True)
    assert "panda_finger_joint2" in done.stdout
    assert "= panda_finger_joint1" in done.stdout
    assert "\x1b" not in done.stdout  # no colours in a pipe


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("<robot><link/></robot>", [], "robot.urdf, line 1: <link>: has no attribute 'name'"),
        (ARM, ["--base", "flying"], "--base is 'flying', expected 'fixed' or 'floating'"),
        (None, [], "robot.urdf: does not exist"),
    ],
)
def test_command_on_a_bad_file(content: str | None, options: list[str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    if content is not None:
        path.write_text(content)
    done = subprocess.run([*COMMAND, str(path), *options], capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == (2 if options else 1)
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_command_needs_no_matplotlib() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from jounce.cli import main; main()"
    command = [sys.executable, "-c", code, "info", str(urdf_path("solo.urdf"))]
    assert "FL_HFE" in subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=True).stdout


def test_constraints_are_listed() -> None:
    pytest.importorskip("mujoco")
    body = '<body name="{0}"> <joint name="{0}"/> <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/> </body>'
    ties = """<weld name="grip" body1="a" body2="b"/> <joint name="gear" joint1="a" joint2="b" polycoef="0.5 -2 0 3"/>
      <joint name="lock" joint1="a"/>"""
    world = body.format("a") + body.format("b")
    text = f"<mujoco> <worldbody> {world} </worldbody> <equality> {ties} </equality> </mujoco>"
    lines = shown(text).splitlines()
    start = lines.index("constraints")
    assert lines[start + 1 : start + 4] == [
        "  grip: fixed, a to b",
        "  gear: gear, a = 0.5 - 2 b + 3 b^3",
        "  lock: gear, a = 0",
    ]
    assert "3 constraints of 8 rows" in lines[1]
    assert "constraints" not in shown(text, constraints=False)
