"""Files that are wrong, hostile or huge: each quickly gives a robot or a `LoadError` that names the fault."""

from __future__ import annotations

import copy
import os
import re
import time
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jounce as jn
from jounce.loading import xml_source
from time_limits import within
from urdf_peer import urdf_path

GOOD = """<robot name="arm">
  <link name="base"/>
  <link name="upper"> <inertial> <origin xyz="0 0 0.1"/> <mass value="2"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/> </inertial> </link>
  <link name="lower"> <inertial> <mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/> </inertial> </link>
  <joint name="shoulder" type="revolute"> <parent link="base"/> <child link="upper"/> <axis xyz="0 0 1"/>
    <origin xyz="0 0 1" rpy="0 0 0"/> <limit lower="-1" upper="1" effort="5" velocity="2"/> </joint>
  <joint name="elbow" type="continuous"> <parent link="upper"/> <child link="lower"/> <dynamics damping="0.1"/> </joint>
</robot>"""


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def test_the_good_one() -> None:
    assert jn.load(GOOD).joint_names == ("shoulder", "elbow")


BAD = {
    # names and the tree
    "unknown parent": (
        changed('link="upper"/> <child link="lower"', 'link="uper"/> <child link="lower"'),
        "<string>, line 9: <joint name=\"elbow\">: parent link 'uper' does not exist; did you mean 'upper'",
    ),
    "unknown child": (
        changed('child link="lower"', 'child link="x"'),
        "child link 'x' does not exist; there are 'base'",
    ),
    "own parent": (changed('parent link="upper"', 'parent link="lower"'), "parent and child are both 'lower'"),
    "two parents": (
        changed('child link="lower"', 'child link="upper"').replace('parent link="upper"', 'parent link="lower"'),
        "line 9: <joint name=\"elbow\">: child link 'upper' is already the child of joint 'shoulder'",
    ),
    "two roots": (
        changed("</robot>", '<link name="loose"/></robot>'),
        "line 10: <link name=\"loose\">: has no parent, and neither has 'base': a robot has one root, this file has 2",
    ),
    "cycle of all": (
        changed('parent link="base"', 'parent link="lower"').replace('<link name="base"/>', ""),
        "closes a cycle of 2 links ('",
    ),
    "cycle apart": (changed('parent link="base"', 'parent link="lower"'), "closes a cycle of 2 links"),
    "same link twice": (changed('name="lower"', 'name="upper"'), "second link of that name, the other is at line 3"),
    "same joint twice": (changed('"elbow"', '"shoulder"'), "second joint of that name, the other is at line 7"),
    "lines as given": ("\n\n<robot/>", "<string>, line 3: <robot>"),
    "no links": ("<robot/>", "<string>, line 1: <robot>: has no <link>"),
    "link without a name": (changed('<link name="base"/>', "<link/>"), "line 2: <link>: has no attribute 'name'"),
    "empty name": (changed('name="elbow"', 'name=" "'), "attribute 'name' is empty"),
    # joints
    "no type": (changed(' type="continuous"', ""), "has no attribute 'type'"),
    "unknown type": (
        changed('"continuous"', '"ball"'),
        "type is 'ball', expected one of revolute, continuous, prismatic",
    ),
    "no parent": (changed('<parent link="base"/>', ""), '<joint name="shoulder">: has no <parent>'),
    "no child": (
        changed('<child link="upper"/>', "<child/>"),
        "<joint name=\"shoulder\"> <child>: has no attribute 'link'",
    ),
    "two children": (
        changed('<child link="upper"/>', '<child link="upper"/>' * 2),
        "is the second <child>, expected one",
    ),
    "zero axis": (
        changed("0 0 1", "0 0 0").replace('<axis xyz="0 0 1', '<axis xyz="0 0 0'),
        "non-zero direction",
    ),
    "short axis": (
        changed('<axis xyz="0 0 1"', '<axis xyz="0 1"'),
        "<axis>: xyz is '0 1', expected 3 numbers separated by",
    ),
    "commas": (
        changed('xyz="0 0 1" rpy', 'xyz="0,0,1" rpy'),
        "<origin>: xyz is '0,0,1', expected 3 numbers separated by",
    ),
    "four angles": (changed('rpy="0 0 0"', 'rpy="0 0 0 1"'), "rpy is '0 0 0 1', expected 3 numbers"),
    "both rotations": (changed('rpy="0 0 0"', 'rpy="0 0 0" quat_xyzw="0 0 0 1"'), "has both rpy and quat_xyzw"),
    "long quaternion": (changed('rpy="0 0 0"', 'quat_xyzw="0 0 0 2"'), "quat_xyzw has length 2, expected 1"),
    "a word": (changed('rpy="0 0 0"', 'rpy="0 zero 0"'), "rpy is '0 zero 0', expected 3 numbers"),
    "not a number": (changed('rpy="0 0 0"', 'rpy="0 nan 0"'), "rpy is '0 nan 0', expected 3 numbers"),
    "infinite": (changed('rpy="0 0 0"', 'rpy="0 inf 0"'), "rpy is '0 inf 0', expected finite numbers"),
    "a Python number": (changed('rpy="0 0 0"', 'rpy="0 1_0 0"'), "rpy is '0 1_0 0', expected 3 numbers"),
    "negative damping": (
        changed('damping="0.1"', 'damping="-1"'),
        "<dynamics>: damping is -1, expected a non-negative",
    ),
    "negative effort": (
        changed('effort="5"', 'effort="-5"'),
        "<limit>: effort is -5, expected a non-negative number",
    ),
    "limit of nan": (changed('lower="-1"', 'lower="nan"'), "lower is 'nan', expected a number"),
    # inertias
    "negative mass": (changed('value="2"', 'value="-2"'), 'line 3: <link name="upper"> <inertial> <mass>: value is -2'),
    "no mass": (changed('<mass value="2"/>', ""), '<link name="upper"> <inertial>: has no <mass>'),
    "mass without value": (changed('<mass value="2"/>', "<mass/>"), "<mass>: has no attribute 'value'"),
    "mass of nan": (changed('value="2"', 'value="nan"'), "value is 'nan', expected a number"),
    "huge mass": (
        changed('value="2"', 'value="1e300"'),
        "value is '1e300', expected a finite number of a robot's size",
    ),
    "no inertia": (re.sub("<inertia .*/>", "", GOOD, count=1), "<inertial>: has no <inertia>"),
    "no ixy": (changed(' ixy="0"', ""), "<inertia>: has no attribute 'ixy'"),
    "two inertials": (changed("</inertial>", "</inertial><inertial/>"), "is the second <inertial>"),
    "expression": (changed('value="2"', 'value="${m}"'), "value is '${m}', expected a number, not a xacro expression"),
    # XML
    "not closed": (GOOD[:-3], "<string>, line 10, column 1: not well-formed: "),
    "wrong tag": (changed("</joint>", "</link>"), "line 8, column 95: not well-formed: "),
    "attribute twice": (
        changed('<link name="base"', '<link name="base" name="b"'),
        "not well-formed: ",
    ),
    "rubbish after": (GOOD + "rest", "not well-formed: "),
    "entity": (changed('"base"', '"&base;"'), "not well-formed: "),
    "surrogate": (changed('"base"', '"\ud800"'), "has an encoding that cannot be read"),
    "xacro": (
        changed("</robot>", '<xacro:include filename="x"/></robot>'),
        "line 10: <xacro:include>: this is a xacro file, a template: run `xacro robot.xacro > robot.urdf`",
    ),
    "xacro deeper": (changed('<mass value="2"/>', '<xacro:box m="2"/>'), "<xacro:box>: this is a xacro file"),
    # other things
    "SDF": ('<sdf version="1.7"><model name="m"/></sdf>', "seems to be SDF: convert it to URDF or MJCF"),
    "HTML": ("<html><body/></html>", "seems to be a web page: if it comes from GitHub"),
    "COLLADA": ("<COLLADA/>", "seems to be a mesh; expected <robot> (URDF) or <mujoco> (MJCF)"),
    "something": ("<foo/>", "has the outermost element <foo>; expected <robot>"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_named(name: str) -> None:
    text, fragment = BAD[name]
    with within(1), pytest.raises(jn.LoadError, match=re.escape(fragment)):
        jn.load(text)


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        (b"", "is empty"),
        (b" \n\0", "is empty"),
        (b"\x7fELF\x02\x01", "is not XML but seems to be a program"),
        (b"\x89PNG\r\n", "is not XML but seems to be a picture"),
        (b"PK\x03\x04", "is not XML but seems to be a zip archive"),
        (b"PXR-USDC\0", "is not XML but seems to be USD"),
        (b"#usda 1.0", "is not XML but seems to be USD"),
        (b"solid cube\nfacet", "is not XML but seems to be a mesh"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is not XML but seems to be a Git LFS pointer"),
        (b'{"links": []}', "is not XML but seems to be JSON"),
        (bytes(range(256)), "is a binary file, expected URDF or MJCF"),
        (b"joints: 3", "is not XML: it does not begin with '<'"),
        (b"<?xml version='1.0' encoding='klingon'?><robot/>", "has an encoding that cannot be read"),
        (b"<?xml version='1.0' encoding='utf-32'?><robot/>", "encoding"),
        (b"<robot name='\xff'/>", "line 1, column 14: not well-formed: "),
        (GOOD.encode("utf-16")[:101], "not well-formed"),
        (b"\xff\xfe", "not well-formed"),
    ],
)
def test_other_files_are_named(content: bytes, fragment: str, tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_bytes(content)
    with within(1), pytest.raises(jn.LoadError, match=re.escape(fragment)) as caught:
        jn.load(path)
    assert str(caught.value).startswith(f"{path}")


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "panda.urdf").write_text(GOOD)
    cases = {
        tmp_path: f"{tmp_path}: is a directory, expected a URDF or MJCF file, such as 'panda.urdf' in it",
        tmp_path / "pandas.urdf": "pandas.urdf: does not exist; did you mean 'panda.urdf'?",
        tmp_path / "no" / "where.urdf": "where.urdf: does not exist",
        tmp_path / "panda.urdf" / "x": "x: cannot be read: ",  # followed by the system's message
        "x" * 5000: "xxx: cannot be read: ",
        "a\0b": r"a\x00b: cannot be read: ",  # which no terminal takes for a command
        "": "source is empty, expected the path of a URDF or MJCF file, or XML text",
    }
    if os.path.exists("/dev/zero"):
        cases[Path("/dev/zero")] = "/dev/zero: is a device or a pipe"
        os.mkfifo(tmp_path / "pipe")
        cases[tmp_path / "pipe"] = "is a device or a pipe"
    for path, fragment in cases.items():
        with within(1), pytest.raises(jn.LoadError, match=re.escape(fragment)) as refused:
            jn.load(path)
        assert str(refused.value).count("cannot be read") == fragment.count("cannot be read")  # said once, not twice


def test_messages_stay_short() -> None:
    word = "x" * 1_000_000
    for text in (
        changed('"elbow"', f'"{word}" foo="').replace('parent link="upper"', 'parent link="none"'),
        changed('xyz="0 0 1" rpy', f'xyz="{word}" rpy'),
        changed('xyz="0 0 1" rpy', f'xyz="{"1 " * 1_000_000}" rpy'),
        changed('value="2"', f'value="{"1" * 1_000_000}"'),
        changed('parent link="upper"', f'parent link="{word}"'),
        changed('"continuous"', f'"{word}"'),
        f"<{word}/>",
        changed("</robot>", f'<link name="{word}"/></robot>'),
    ):
        with within(1), pytest.raises(jn.LoadError) as caught:
            jn.load(text)
        assert len(str(caught.value)) < 500


# Hostile files


def bomb() -> str:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    return f'<!DOCTYPE robot [<!ENTITY e0 "ha">{entities}]><robot name="&e11;"/>'


@pytest.mark.parametrize(
    "text",
    [
        bomb(),
        f'<!DOCTYPE robot [<!ENTITY a "{"a" * 100_000}">]><robot>{"&a;" * 10_000}</robot>',
        '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
        '<!DOCTYPE robot [<!ENTITY % x SYSTEM "http://localhost/x"> %x;]><robot/>',
        '<!DOCTYPE robot SYSTEM "http://localhost/robot.dtd"><robot/>',
    ],
    ids=["billion laughs", "quadratic", "file", "parameter", "external"],
)
def test_document_types_are_refused(text: str) -> None:
    with within(1), pytest.raises(jn.LoadError, match="<string>, line 1: has a document type"):
        jn.load(text)


@pytest.mark.parametrize("tag", ["a", "visual", "link", "gazebo"])
def test_deep_nesting(tag: str) -> None:
    for text in (f"<robot>{f'<{tag}>' * 100_000}{f'</{tag}>' * 100_000}</robot>", f"<robot>{f'<{tag}>' * 100_000}"):
        with within(1), pytest.raises(jn.LoadError, match="line 1: elements are nested more than 100 deep"):
            jn.load(text)


def test_deep_nesting_in_a_parsed_tree() -> None:
    root = inner = ElementTree.Element("robot")
    for _ in range(5000):
        inner = ElementTree.SubElement(inner, "link")
    with within(1), pytest.raises(jn.LoadError, match="nested more than 100 deep"):
        jn.load(root)


def test_too_many_elements() -> None:
    with within(10), pytest.raises(jn.LoadError, match="more than 1000000 elements"):
        jn.load("<robot>" + "<a/>" * 1_100_000 + "</robot>")


def test_too_large(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    with path.open("wb") as file:
        file.truncate(10**12)  # takes no disk space
    with within(1), pytest.raises(jn.LoadError, match="has 1000000 MB, more than the 100 MB that are read"):
        jn.load(path)
    monkeypatch.setattr(xml_source, "MAX_BYTES", 100)
    with pytest.raises(jn.LoadError, match="has 0 MB"):
        jn.load(GOOD)


def test_large_attributes() -> None:
    many = " ".join(f'a{i}="{i}"' for i in range(50_000))
    with within(2):
        assert jn.load(changed("<robot", f"<robot {many}")).nv == 2


def many_links(count: int, star: bool, inside: str = "") -> str:
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    links = (f'<link name="l{i}">{inertial}</link>' for i in range(count))
    joints = (
        f'<joint name="j{i}" type="continuous"><parent link="l{0 if star else i - 1}"/><child link="l{i}"/>'
        f"{inside.format(i - 1) if i > 1 else ''}</joint>"
        for i in range(1, count)
    )
    return f"<robot>{''.join(links)}{''.join(joints)}</robot>"


@pytest.mark.parametrize(
    ("most", "inside"),
    [(10_000, ""), (3_000, '<mimic joint="j{}" multiplier="-1"/>')],
    ids=["chain", "star of mimics"],
)
def test_thousands_of_links(most: int, inside: str) -> None:
    """In linear time: ten times as many links take not much more than ten times as long.

    All axes are the same, through the centres of mass. In a chain the acceleration of a link is the sum of those of the
    joints up to it, and the force of a joint the sum of what the links beyond it need; in a star each link turns with
    the one joint, in either direction.
    """
    times = {}
    for count in (most // 10, most):
        text = many_links(count, bool(inside), inside)
        begin = time.process_time()
        robot = jn.load(text)
        times[count] = time.process_time() - begin
        assert len(robot.frame_names) == count
        assert robot.bodies[-1].joint.follows == (jn.Follow("j1", 1 if count % 2 == 0 else -1) if inside else None)
        rng = np.random.default_rng(count)
        q, v, a = rng.uniform(-1, 1, (3, robot.nv))
        expected = (count - 1) * a if inside else np.cumsum(np.cumsum(a)[::-1])[::-1]
        found = robot.inverse_dynamics(q, v, a)
        assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    assert times[most] < 20 * times[most // 10] + 1


def test_faults_in_ten_thousand_links() -> None:
    text = many_links(10_000, False)
    for old, new, fragment in (
        ('parent link="l9000"', 'parent link="l9000x"', "parent link 'l9000x' does not exist"),
        ('parent link="l0"', 'parent link="l9999"', "closes a cycle of 9999 links ('l"),
        ("</robot>", "".join(f'<link name="m{i}"/>' for i in range(10_000)) + "</robot>", "this file has 10001 parts"),
    ):
        assert old in text
        with within(10), pytest.raises(jn.LoadError, match=re.escape(fragment)):
            jn.load(text.replace(old, new, 1))


def test_many_oddities_make_one_short_warning() -> None:
    lost = many_links(2_000, True, '<mimic joint="nobody{}"/>')
    with within(10), pytest.warns(jn.LoadWarning, match="and 1995 more of the kind") as heard:
        jn.load(lost)
    assert len(heard) == 1
    assert len(str(heard[0].message)) < 1000


def test_mimics_that_multiply_beyond_measure() -> None:
    grows = many_links(200, True, '<mimic joint="j{}" multiplier="10"/>')
    with within(1), pytest.raises(jn.LoadError, match="multiplies to a number that is not finite"):
        jn.load(grows)


# Mutations of real files


def outcome(source: bytes) -> None:
    """A robot with finite numbers, or a `LoadError`; nothing else, and quickly."""
    with within(2), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", jn.LoadWarning)
        try:
            robot = jn.load(source)
        except jn.LoadError:
            return
        zero = np.zeros(robot.nv)
        assert np.isfinite(robot.inverse_dynamics(robot.neutral(), zero, zero)).all()


ROBOTS = [urdf_path(name).read_bytes() for name in ("panda.urdf", "double_pendulum.urdf", "allegro_right_hand.urdf")]
VALUES = [
    b"",
    b"0",
    b"-1",
    b"nan",
    b"-inf",
    b"1e308",
    b"1e-320",
    b"1 2",
    b"0 0 0",
    b"1 2 3",
    b"world",
    b"fixed",
    b"floating",
]
VALUES += [
    b"planar",
    b"prismatic",
    b"base_link",
    b"panda_link1",
    b"panda_joint1",
    b"${x}",
    b"&amp;",
    b"<",
    b"\xff",
    b"0x10",
]
TOKEN = re.compile(rb'"[^"]*"|<[^>]*>|[\w:]+')  # values, tags, words
FUZZ = settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A robot with a few of its tokens removed, duplicated, exchanged or replaced."""
    content = draw(st.sampled_from(ROBOTS))
    for _ in range(draw(st.integers(1, 4))):
        tokens = list(TOKEN.finditer(content))
        if not tokens:
            break
        token = tokens[draw(st.integers(0, len(tokens) - 1))]
        other = tokens[draw(st.integers(0, len(tokens) - 1))]
        value = draw(st.sampled_from(VALUES))
        quoted = b'"' + value + b'"' if token[0].startswith(b'"') else value
        new = draw(st.sampled_from([quoted, quoted, quoted, b"", token[0] * 2, other[0]]))
        content = content[: token.start()] + new + content[token.end() :]
    return content


@st.composite
def restructured(draw: st.DrawFn) -> bytes:
    """A robot that stays well-formed: whole elements and attributes removed, duplicated, moved or changed."""
    root = ElementTree.fromstring(draw(st.sampled_from(ROBOTS)))
    for _ in range(draw(st.integers(1, 4))):
        elements = [e for e in root.iter() if e.tag in RELEVANT]
        element = draw(st.sampled_from(elements))
        action = draw(st.sampled_from(["value", "value", "value", "drop", "twice", "move", "rename", "attribute"]))
        if action in ("value", "attribute") and element.attrib:
            key = draw(st.sampled_from(sorted(element.attrib)))
            value = element.attrib.pop(key)
            if action == "value":
                numbers = draw(st.lists(st.floats(), min_size=1, max_size=3))
                words = " ".join(map(repr, numbers))
                others = [e.get(key, value) for e in elements]
                element.set(key, draw(st.sampled_from([words, words, *others])))
        elif action == "rename":
            element.tag = draw(st.sampled_from(sorted(RELEVANT)))
        elif len(element):
            child = draw(st.sampled_from(list(element)))
            if action in ("drop", "move"):
                element.remove(child)
            if action in ("twice", "move"):
                draw(st.sampled_from(elements)).append(copy.deepcopy(child))  # the copy cannot be inside itself
    return ElementTree.tostring(root)


RELEVANT = {"robot", "link", "joint", "inertial", "mass", "inertia", "origin", "axis", "parent", "child", "limit"}
RELEVANT |= {"dynamics", "mimic"}


@FUZZ
@given(mutated())
def test_mutated_text(content: bytes) -> None:
    outcome(content)


@FUZZ
@given(mutated().flatmap(lambda c: st.integers(0, len(c)).map(lambda n: c[:n])))
def test_cut_off(content: bytes) -> None:
    outcome(content)


@FUZZ
@given(restructured())
def test_restructured(content: bytes) -> None:
    outcome(content)


@FUZZ
@given(st.binary(max_size=300), st.sampled_from([b"", b"<", b"<?xml ", b"<robot>", b"\xff\xfe<\0", b"<robot name='"]))
def test_random_bytes(content: bytes, start: bytes) -> None:
    with pytest.raises(jn.LoadError):
        jn.load(start + content)
