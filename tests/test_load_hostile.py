"""MJCF that asks for too much, or for files outside its folder: refused by name, and quickly."""

from __future__ import annotations

import math
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import jounce as jn
from jounce.loading import describe
from jounce.loading.mjcf_compiler import compile_mjcf
from loading_child import Child
from time_limits import HANG

mujoco = pytest.importorskip("mujoco")

BALL = '<geom size="0.1" mass="1"/>'
INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
ONE = f'<body name="b"> <joint name="j"/> {BALL} <site name="s"/> </body>'


def mjcf(world: str, before: str = "", after: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{world}</worldbody>{after}</mujoco>"


def replicate(count: int, inside: str) -> str:
    return f'<replicate count="{count}">{inside}</replicate>'


def part(inside: str) -> str:
    return f"<mujocoinclude>{inside}</mujocoinclude>"


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    process = Child()
    yield process
    process.stop()


def refused(child: Child, source: str | Path, message: str, **options: Any) -> str:
    outcome = child.load(str(source), **options)
    assert outcome.kind in ("LoadError", "MissingFileError"), outcome
    assert re.search(message, outcome.message), outcome.message
    assert len(outcome.message) < 1000
    assert "\n" not in outcome.message
    return outcome.message


def loaded(child: Child, source: str | Path, joints: tuple[str, ...] | None = None, **options: Any) -> None:
    outcome = child.load(str(source), **options)
    assert outcome.kind == "loads", outcome
    assert joints is None or tuple(outcome.joints) == joints


# Excessive texts


MANY = "asks for .* elements, more than any robot has"
LONG = "mujoco's compiler takes more than 1 s; if you trust the file, compile it yourself and pass the mujoco.MjModel"
ENDS = "mujoco's compiler breaks down, or needs more than 4 GB; if you trust the file, compile it yourself"

TOO_MUCH = {
    "behind broken XML": (
        mjcf(replicate(3000, replicate(3000, "<body/>")), '<compiler meshdir="a&b"/>'),
        r"<string>, line 1, column \d+: not well-formed",
    ),
    "counts in counts": (mjcf(replicate(3000, replicate(3000, "<body/>"))), rf"line 1: <replicate> {MANY}"),
    "points of a flex": (mjcf('<flexcomp name="f" count="3000 3000 1" dim="2"/>'), rf"line 1: <flexcomp> {MANY}"),
    "bodies written out": (mjcf(f"<body> <joint/> {BALL} </body>" * 20_000), LONG),
    "attributes": (
        mjcf("<body " + " ".join(f'a{i}="1"' for i in range(100_000)) + "/>"),
        "line 1: <worldbody> <body>: has 100000 attributes, expected at most 200",
    ),
    "elements": (mjcf("<site/>" * 200_000), "line 1: more than 100000 elements"),
    "actuators by default": (
        mjcf(
            ONE,
            '<default> <general actdim="1000000" dyntype="user"/> </default>',
            "<actuator>" + '<general joint="j"/>' * 900 + "</actuator>",
        ),
        "mujoco's compiler.*(memory|4 GB)",
    ),
    "a plugin without a name": (mjcf('<flexcomp name="f" count="3 3 1" dim="2"> <plugin/> </flexcomp>'), "compiler"),
    "a name for a format": (mjcf('<geom class="%s%n" size="1"/>'), "<geom>: class is '%s%n', expected no '%'"),
    "a model without a file": (mjcf("", "<asset> <model/> </asset>"), "<asset> <model>: has no attribute 'file'"),
    "another case": (
        mjcf('<INCLUDE file="x.xml"/>'),
        "<INCLUDE>: file 'x.xml' is not read: XML given as text reads no",
    ),
    "an include with something inside": (mjcf('<include file="x"><body/></include>'), "has elements inside"),
    "a document type": ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco model="&a;"/>', "line 1: has a document type"),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_texts_that_ask_for_too_much(child: Child, name: str) -> None:
    text, message = TOO_MUCH[name]
    refused(child, text, message)


@pytest.mark.parametrize(
    "text",
    [
        mjcf(ONE, '<size nkey="9000000"/>'),
        mjcf(ONE, '<size nuserdata="900000000" memory="100T" njmax="2000000000" nuser_body="9000000"/>'),
        mjcf(ONE, after='<sensor> <user name="u" dim="1000000000"/> </sensor>'),
        mjcf(ONE, '<asset> <hfield name="h" size="1 1 1 1" nrow="100000" ncol="100000"/> </asset>'),
        mjcf(ONE, '<asset> <texture name="t" builtin="flat" width="100000" height="100000"/> </asset>'),
        mjcf(
            ONE,
            '<compiler> <lengthrange inttotal="1e7" timestep="1e-3" mode="all"/> </compiler>',
            '<actuator> <muscle joint="j"/> <motor joint="j"/> </actuator>',
        ),
    ],
    ids=["keyframes", "tables", "sensor", "height field", "picture", "muscles"],
)
def test_what_no_dynamics_need_takes_no_time(child: Child, text: str) -> None:
    loaded(child, text, ("j",))


def test_what_is_not_too_much(child: Child) -> None:
    loaded(child, mjcf(replicate(10, replicate(20, "<body> <joint/> <geom size='1'/> </body>"))))
    loaded(child, mjcf(f"<body> <joint/> {BALL}" * 200 + "</body>" * 200))
    loaded(child, mjcf('<flexcomp name="f" type="grid" count="5 5 1" dim="2"/>'))


def test_warnings_of_the_process_are_heard() -> None:
    plain = mjcf(ONE, '<option wind="0 0 nan"/>')
    heard = compile_mjcf(plain, "plain")[2]
    assert heard == ["mujoco's compiler: XML contains a 'NaN'. Please check it carefully."]
    assert compile_mjcf(plain.replace(ONE, replicate(2, ONE)), "copies")[2] == heard


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 cannot be told where not to look for modules")
def test_no_module_comes_from_the_working_directory(tmp_path: Path) -> None:
    """Nor into processes that packages start which MuJoCo imports, in this one and in that with limits."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    for name in ("ctypes", "glfw", "json", "mujoco", "numpy", "runpy", "subprocess", "typing"):
        (folder / f"{name}.py").write_text(f"open({str(folder / 'ran')!r}, 'w')")
    body = "<body> <joint/> <geom size='1' mass='1'/> </body>"
    program = tmp_path / "program.py"
    program.write_text(f"""
import os, sys, warnings
import jounce as jn
warnings.simplefilter("ignore")
for body in ("{body}", "<replicate count='2'> {body} </replicate>"):
    print(jn.load(f"<mujoco> <worldbody> {{body}} </worldbody> </mujoco>").nv)
print(os.environ.get("PYTHONSAFEPATH"))
""")
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=HANG, cwd=folder, check=False
    )
    assert (done.stdout, done.stderr) == ("1\n2\nNone\n", "")
    assert not (folder / "ran").exists()


def test_without_an_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "")
    assert jn.load(mjcf(ONE)).nv == 1
    with pytest.raises(
        jn.LoadError, match=r"<string>: has to be compiled by a Python interpreter .* there is none; if"
    ):
        jn.load(mjcf(replicate(2, ONE)))
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(
        jn.LoadError, match=r"compiled in a process of its own: No such file or directory; if you trust"
    ):
        jn.load(mjcf(replicate(2, ONE)))


def test_elements_made_in_python() -> None:
    root = ElementTree.fromstring(mjcf(ONE))
    assert jn.load(root).joint_names == ("j",)
    world = root.find("worldbody")
    assert world is not None
    for tag, message in {'site/><include file="x"': "is not a name that an element", "a b": "is not a name"}.items():
        odd = ElementTree.SubElement(world, tag)
        with pytest.raises(jn.LoadError, match=message):
            jn.load(root)
        world.remove(odd)
    odd = ElementTree.SubElement(world, "site", {"name": "a\0b"})
    with pytest.raises(jn.LoadError, match=r"<site name=.*>: name is 'a.x00b', expected characters that XML allows"):
        jn.load(root)
    world.remove(odd)
    for _ in range(5000):
        world = ElementTree.SubElement(world, "body")
    with pytest.raises(jn.LoadError, match="nested more than 450 deep"):
        jn.load(root)
    with pytest.raises(jn.LoadError, match=r"mujoco's compiler: .*unrecognized attribute: 'x'.*<body name=.b.>"):
        jn.load(ElementTree.fromstring(mjcf('<body name="b" x="1"/>')))


# Excessive files


def test_counts_multiply_across_includes(child: Child, tmp_path: Path) -> None:
    files = {"a.xml": 100, "b.xml": 100, "c.xml": 100}
    insides = ['<include file="b.xml"/>', '<include file="c.xml"/>', ONE]
    for (name, count), inside in zip(files.items(), insides, strict=True):
        (tmp_path / name).write_text(part("\n" + replicate(count, inside)))
    (tmp_path / "robot.xml").write_text(mjcf('\n\n<include file="a.xml"/>'))
    refused(child, tmp_path / "robot.xml", r"c\.xml, line 2: <replicate> asks for 1e\+06 elements, more than any robot")


def test_models_multiply(child: Child, tmp_path: Path) -> None:
    (tmp_path / "m0.xml").write_text(f'<mujoco model="m0"> <worldbody> {ONE} </worldbody> </mujoco>')
    attach = "".join(f'<attach model="m{{0}}" body="b" prefix="p{i}_"/>' for i in range(10))
    for i in range(1, 8):
        asset = f'<asset> <model name="m{i - 1}" file="m{i - 1}.xml"/> </asset>'
        (tmp_path / f"m{i}.xml").write_text(mjcf(f'<body name="b"> {attach.format(i - 1)} </body>', asset))
    loaded(child, tmp_path / "m2.xml")
    refused(child, tmp_path / "m7.xml", f"m7.xml: ({LONG}|{ENDS})")
    asset = '<asset> <model name="m" file="self.xml"/> </asset>'
    (tmp_path / "self.xml").write_text(mjcf("", asset))
    refused(child, tmp_path / "self.xml", 'line 1: <model name="m">: is inside 10 other models, expected fewer')
    several = "".join(f'<model name="n{i}" file="m0.xml"/>' for i in range(1001))
    (tmp_path / "several.xml").write_text(mjcf("", f"<asset> {several} </asset>"))
    refused(child, tmp_path / "several.xml", 'name="n1000">: with this file there are more than 1000')
    large = "".join(f'<include file="large{i}.xml"/>' for i in range(3))
    for i in range(3):
        (tmp_path / f"large{i}.xml").write_text(part("<site/>" * 50_000))
    (tmp_path / "robot.xml").write_text(mjcf(large))
    refused(
        child,
        tmp_path / "robot.xml",
        "<include>: together with the files before it, this has more than 100000 elements",
    )
    (tmp_path / "arm.urdf").write_text('<robot name="arm"> <link name="l"/> </robot>')
    (tmp_path / "robot.xml").write_text(mjcf("", '<asset> <model name="m" file="arm.urdf"/> </asset>'))
    refused(child, tmp_path / "robot.xml", r"arm\.urdf, line 1: <robot .*>: expected <mujoco>")


def test_attached_models_are_those_of_mujoco(tmp_path: Path) -> None:
    """With meshes that determine inertia in one and not in the other, found relative to their own files."""
    for folder in (tmp_path / "parts" / "shapes", tmp_path / "shapes"):
        folder.mkdir(parents=True)
        (folder / "wedge.stl").write_bytes(stl(2.0 if "parts" in str(folder) else 1.0))
    arm = f"""<mujoco model="arm"> <compiler meshdir="shapes" inertiafromgeom="true"/>
      <asset> <mesh file="wedge.stl"/> </asset> <default> <joint damping="2"/> </default>
      <worldbody> <body name="arm"> {INERTIAL} <joint name="a" axis="0 1 0"/> <geom type="mesh" mesh="wedge"/> </body>
      </worldbody> <actuator> <motor joint="a" gear="3"/> </actuator> </mujoco>"""
    (tmp_path / "parts" / "arm.xml").write_text(arm)
    main = mjcf(
        """<body name="base"> <freejoint/> <geom type="mesh" mesh="wedge"/> <site name="s" pos="0 0 1"/>
        <attach model="arm" body="arm" prefix="left_"/> <attach model="arm" body="arm" prefix="right_"/> </body>""",
        """<compiler meshdir="shapes"/>
        <asset> <mesh file="wedge.stl"/> <model name="arm" file="parts/arm.xml"/> </asset>""",
    )
    (tmp_path / "robot.xml").write_text(main)
    same_models(tmp_path / "robot.xml")
    assert describe(tmp_path / "robot.xml").model().joint_names == ("base", "left_a", "right_a")


def same_models(path: Path) -> None:
    theirs, ours = mujoco.MjModel.from_xml_path(str(path)), compile_mjcf(path, "robot")[0]
    for key in ("body_mass", "body_inertia", "body_ipos", "body_pos", "body_quat", "jnt_axis", "dof_damping", "qpos0"):
        np.testing.assert_allclose(getattr(ours, key), getattr(theirs, key), rtol=1e-12, atol=1e-12)
    assert ours.names == theirs.names


def stl(size: float) -> bytes:
    """A tetrahedron."""
    points = size * np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rows = [struct.pack("<12fH", 0, 0, 0, *points[list(face)].ravel(), 0) for face in faces]
    return bytes(80) + struct.pack("<I", len(faces)) + b"".join(rows)


def drum(corners: int) -> str:
    """A cylinder as OBJ."""
    turns = [2 * math.pi * i / corners for i in range(corners)]
    points = [f"v {math.cos(t):.9f} {math.sin(t):.9f} {z}" for z in (0, 1) for t in turns] + ["v 0 0 0", "v 0 0 1"]
    faces = []
    for i, j in ((i + 1, i % corners + 2 if i + 1 < corners else 1) for i in range(corners)):
        low, high = 2 * corners + 1, 2 * corners + 2
        faces += [(i, j, corners + i), (j, corners + j, corners + i), (j, i, low), (corners + i, corners + j, high)]
    return "\n".join([*points, *(f"f {a} {b} {c}" for a, b, c in faces)])


@pytest.mark.parametrize("inertia", ["legacy", "exact", "shell", "convex"])
def test_inertia_of_meshes_is_that_of_mujoco(tmp_path: Path, inertia: str) -> None:
    (tmp_path / "drum.obj").write_text(drum(30))
    (tmp_path / "wedge.stl").write_bytes(stl(1.0))
    points = " ".join(f"{x:.6f}" for x in np.random.default_rng(1).normal(size=300))
    asset = f"""<asset> <mesh file="drum.obj" inertia="{inertia}"/> <mesh file="wedge.stl" inertia="{inertia}"/>
      <mesh name="cloud" vertex="{points}" inertia="{inertia}"/> </asset>"""
    bodies = (
        f'<body name="{m}"> <joint name="{m}"/> <geom type="mesh" mesh="{m}"/> <geom type="box" mesh="{m}"/> </body>'
        for m in ("drum", "wedge", "cloud")
    )
    (tmp_path / "robot.xml").write_text(mjcf("".join(bodies), asset))
    same_models(tmp_path / "robot.xml")


# Which files are read


def pipe(path: Path) -> Path:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(path)
    return path


def test_pipes_are_not_waited_for(child: Child, tmp_path: Path) -> None:
    pipe(tmp_path / "pipe.xml")
    model = '<asset> <model name="m" file="pipe.xml"/> </asset>'
    mesh = '<asset> <mesh name="m" file="pipe.xml" content_type="model/stl"/> </asset>'
    flex = '<flexcomp name="f" type="mesh" file="pipe.xml" dim="2"/>'
    needed = '<body name="b"> <joint/> <geom type="mesh" mesh="m"/> </body>'
    for text in (mjcf('<include file="pipe.xml"/>'), mjcf("", model), mjcf(needed, mesh), mjcf(flex)):
        (tmp_path / "robot.xml").write_text(text)
        refused(child, tmp_path / "robot.xml", "file 'pipe.xml' is a device or a pipe, expected a file")
    refused(child, tmp_path / "pipe.xml", "pipe.xml: is a device or a pipe")


def test_pictures_and_shapes_that_weigh_nothing_are_not_read(child: Child, tmp_path: Path) -> None:
    for name in ("p.png", "p.stl", "p.obj", "p.skn"):
        pipe(tmp_path / name)
    asset = """<asset> <mesh file="p.stl"/> <mesh name="o" file="p.obj" class="large"/>
      <texture file="p.png" type="2d"/> <texture name="sky" type="skybox" fileup="p.png" filedown="/dev/zero"/>
      <texture name="grid" type="cube" file="p.png" gridsize="3 4" gridlayout=".U..LFRB.D.."/>
      <material name="m" texture="p"/> <hfield name="h" size="1 1 1 1" file="p.png"/> <skin name="s" file="p.skn"/>
      </asset> <default> <default class="large"> <mesh scale="2 2 2"/> </default> </default>"""
    shapes = '<geom type="mesh" mesh="p" material="m"/> <geom type="box" mesh="o"/>'
    world = f'<geom type="hfield" hfield="h"/> <body> <joint name="j"/> {INERTIAL} {shapes} </body>'
    (tmp_path / "robot.xml").write_text(mjcf(world, asset))
    loaded(child, tmp_path / "robot.xml", ("j",))
    loaded(child, mjcf(world, asset), ("j",))


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Robots in one folder, the files they name in another."""
    for folder in ("robot/parts", "robot/shapes", "other/deep"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("robot/parts/own.xml", "other/deep/part.xml"):
        (tmp_path / name).write_text(part(ONE))
    (tmp_path / "robot" / "shapes" / "own.stl").write_bytes(stl(1.0))
    (tmp_path / "other" / "shape.stl").write_bytes(stl(1.0))
    (tmp_path / "other" / "model.xml").write_text(mjcf(ONE))
    return tmp_path


def robot(folder: Path, text: str) -> Path:
    path = folder / "robot" / "robot.xml"
    path.write_text(text)
    return path


NEEDS = '<body> <joint name="j"/> <geom type="mesh" mesh="m"/> </body>'


def outside(folder: Path) -> dict[str, tuple[str, str]]:
    """Texts, and the folders they need."""
    include, mesh = '<include file="{}"/>', '<asset> <mesh name="m" file="{}"/> </asset>'
    deep, other = str(folder / "other" / "deep"), str(folder / "other")
    return {
        "include above": (mjcf(include.format("../other/deep/part.xml")), deep),
        "include by path": (mjcf(include.format(folder / "other/deep/part.xml")), deep),
        "include by way of a part": (mjcf(include.format("parts/../../other/deep/part.xml")), deep),
        "include with backslashes": (mjcf(include.format("..\\other\\deep\\part.xml")), deep),
        "mesh above": (mjcf(NEEDS, mesh.format("../other/shape.stl")), other),
        "mesh by path": (mjcf(NEEDS, mesh.format(folder / "other/shape.stl")), other),
        "mesh by a folder": (mjcf(NEEDS, '<compiler meshdir="../other"/>' + mesh.format("shape.stl")), other),
        "mesh by assets": (mjcf(NEEDS, f'<compiler assetdir="{other}"/>' + mesh.format("shape.stl")), other),
        "model": (
            mjcf(
                '<attach model="m" body="b" prefix="m_"/>',
                '<asset> <model name="m" file="../other/model.xml"/> </asset>',
            ),
            other,
        ),
    }


CASES = list(outside(Path()))


@pytest.mark.parametrize("name", CASES)
def test_files_outside_the_folder_are_read_for_those_who_are_trusted(folders: Path, name: str) -> None:
    text, needed = outside(folders)[name]
    path = robot(folders, text)
    joints = "m_j" if name == "model" else "j"
    assert jn.load(path).joint_names == (joints,)
    with pytest.raises(jn.LoadError, match=r"robot\.xml, line 1: <.*file '.*, which is outside .*robot; to") as fault:
        jn.load(path, untrusted=True)
    said = re.search(r"pass allow='([^']*)'", str(fault.value))
    assert said is not None
    assert said[1] == needed
    several = [Path(said[1]), [said[1]], (folders / "robot" / "parts", folders)]
    for allow in several if "include" in name else several[:1]:
        assert jn.load(path, allow=allow, untrusted=True).joint_names == (joints,)
    with pytest.raises(jn.LoadError, match="outside"):
        jn.load(path, allow=folders / "robot" / "parts", untrusted=True)


def test_a_missing_mesh_that_gives_inertia_is_named_at_once(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after the minute that a process which compiles may take on the clock."""
    monkeypatch.setattr("jounce.loading.mjcf_compiler.MAX_WAIT", HANG)
    path = robot(folders, mjcf(NEEDS, '<asset> <mesh name="m" file="none.stl"/> </asset>'))
    with pytest.raises(FileNotFoundError, match=r"file 'none\.stl' does not exist; the inertia of a body"):
        jn.load(path)


def test_files_in_the_folder_are_read(folders: Path) -> None:
    mesh = '<compiler meshdir="shapes"/> <asset> <mesh name="m" file="own.stl"/> </asset>'
    for text in (mjcf('<include file="parts/own.xml"/>'), mjcf(NEEDS, mesh)):
        path = robot(folders, text)
        for untrusted in (False, True):
            assert jn.load(os.path.relpath(path), untrusted=untrusted).joint_names == ("j",)
    stripped = mesh.replace('"shapes"', '"shapes" strippath="true"').replace("own.stl", "C:\\far\\own.stl")
    assert jn.load(robot(folders, mjcf(NEEDS, stripped))).joint_names == ("j",)


def test_a_part_names_files_from_its_own_folder(folders: Path) -> None:
    (folders / "robot" / "parts" / "deep").mkdir()
    (folders / "robot" / "parts" / "deep" / "leaf.xml").write_text(part(ONE))
    (folders / "robot" / "parts" / "stem.xml").write_text(part('<include file="deep/leaf.xml"/>'))
    assert jn.load(robot(folders, mjcf('<include file="parts/stem.xml"/>'))).joint_names == ("j",)
    (folders / "robot" / "parts" / "stem.xml").write_text(part('<include file="../../other/deep/part.xml"/>'))
    with pytest.raises(jn.LoadError, match=r"stem\.xml, line 1: <worldbody> <include>: .*outside the folder"):
        jn.load(robot(folders, mjcf('<include file="parts/stem.xml"/>')), untrusted=True)
    (folders / "robot" / "parts" / "stem.xml").write_text(part('\n<include file="nowhere.xml"/>'))
    with pytest.raises(jn.LoadError, match=r"stem\.xml, line 2: <worldbody> <include>: file 'nowhere.xml' does not"):
        jn.load(robot(folders, mjcf('<include file="parts/stem.xml"/>')))


def test_nothing_outside_is_so_much_as_looked_at(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even following links counts; on Windows that alone would send a password to //host/share."""
    path, seen = robot(folders, mjcf('<include file="//host/share/x.xml"/>')), []
    real = os.path.realpath
    monkeypatch.setattr("os.path.realpath", lambda given: seen.append(str(given)) or real(given))
    with pytest.raises(jn.LoadError, match="outside"):
        jn.load(path, untrusted=True)
    assert seen
    assert not [given for given in seen if "host" in given]


def test_long_names_outside_make_no_long_messages(folders: Path) -> None:
    for world in ('<include file="{}"/>', '<flexcomp name="f" type="mesh" file="{}"/>'):
        with pytest.raises(jn.LoadError, match=r"is outside the folder of the main file, .*: pass allow= to") as fault:
            jn.load(robot(folders, mjcf(world.format("../" + "x/" * 2000))), untrusted=True)
        assert len(str(fault.value)) < 1000


def test_links_are_followed_before_the_check(folders: Path) -> None:
    path = robot(folders, mjcf('<include file="linked.xml"/>'))
    link = folders / "robot" / "linked.xml"
    link.symlink_to(folders / "other" / "deep" / "part.xml")
    deep = re.escape(str(folders / "other" / "deep"))
    with pytest.raises(jn.LoadError, match=rf"is a link to {deep}.part.xml, which is outside .* pass allow='{deep}'"):
        jn.load(path, untrusted=True)
    assert jn.load(path).joint_names == ("j",)
    assert jn.load(path, allow=folders / "other" / "deep", untrusted=True).joint_names == ("j",)
    link.unlink()
    link.symlink_to(folders / "robot" / "parts" / "own.xml")
    assert jn.load(path, untrusted=True).joint_names == ("j",)
    (folders / "robot" / "away").symlink_to(folders / "other", target_is_directory=True)
    with pytest.raises(jn.LoadError, match=rf"is a link to .*, which is outside .* pass allow='{deep}'"):
        jn.load(robot(folders, mjcf('<include file="away/deep/part.xml"/>')), untrusted=True)


def test_a_robot_that_is_a_link_itself(folders: Path) -> None:
    """As package managers install them: every file is a link into the source."""
    robot(folders, mjcf('<include file="parts/own.xml"/>'))
    (folders / "installed" / "parts").mkdir(parents=True)
    for name in ("robot.xml", "parts/own.xml"):
        (folders / "installed" / name).symlink_to(folders / "robot" / name)
    assert jn.load(folders / "installed" / "robot.xml").joint_names == ("j",)
    with pytest.raises(jn.LoadError, match=r"installed.robot\.xml: leads to .*robot.robot\.xml, which is outside the"):
        jn.load(folders / "installed" / "robot.xml", untrusted=True)
    assert jn.load(folders / "installed" / "robot.xml", untrusted=True, allow=folders / "robot").joint_names == ("j",)


def test_texts_read_nothing_unless_allowed(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folders / "robot")
    text, no_files = (
        mjcf('<include file="parts/own.xml"/>'),
        "is not read: XML given as text reads no files; pass allow=",
    )
    for source in (text, text.encode(), ElementTree.fromstring(text)):
        with pytest.raises(jn.LoadError, match=no_files):
            jn.load(source)
        for allow in (".", folders / "robot", [folders / "other", folders / "robot"]):
            assert jn.load(source, allow=allow).joint_names == ("j",)
        with pytest.raises(jn.LoadError, match="does not exist"):
            jn.load(source, allow=folders / "other")
    mesh = mjcf(NEEDS, '<asset> <mesh name="m" file="shapes/own.stl"/> </asset>')
    with pytest.raises(jn.LoadError, match=no_files):
        jn.load(mesh)
    assert jn.load(mesh, allow=".").joint_names == ("j",)
    absolute = mjcf(f'<include file="{folders / "other/deep/part.xml"}"/>')
    with pytest.raises(jn.LoadError, match=r"which is outside the folders of allow=; to read it nevertheless, pass"):
        jn.load(absolute, allow=".")
    assert jn.load(absolute, allow=folders / "other").joint_names == ("j",)


def test_names_that_are_no_files(child: Child, folders: Path) -> None:
    for name, message in {
        "parts": "file 'parts' is a directory",
        "parts/own.xml/x": "does not exist",
        "none.xml": "file 'none.xml' does not exist",
        "http://localhost/x.xml": "does not exist",
        "file:///etc/passwd": "does not exist",
        "/dev/zero": "outside",
        "//host/share/x.xml": "outside",
        "../" * 100 + "etc/passwd": "outside",
        "x" * 5000: "cannot be read: File name too long|does not exist",
        "": "attribute 'file' is empty",
        "robot.xml": "is already included",
    }.items():
        refused(child, robot(folders, mjcf(f'<include file="{name}"/>')), message, untrusted=True)
    for name, message in {
        "/dev/zero": "is a device or a pipe",
        "//host/share/x.xml": "does not exist",
        "../" * 100 + "etc": "is a directory",
        "/etc/passwd": "not XML",
    }.items():
        refused(child, robot(folders, mjcf(f'<include file="{name}"/>')), message)
    (folders / "robot" / "loop").symlink_to(folders / "robot", target_is_directory=True)
    (folders / "robot" / "part.xml").write_text(part('<site/> <include file="loop/part.xml"/>'))
    refused(child, robot(folders, mjcf('<include file="part.xml"/>')), "file 'loop/part.xml' is already included")
    twice = mjcf('<include file="parts/own.xml"/>' * 2)
    refused(child, robot(folders, twice), "file 'parts/own.xml' is already included")
    (folders / "robot" / "parts" / "own.xml").write_text(part(""))
    refused(child, robot(folders, mjcf('<include file="parts/own.xml"/>')), "'parts/own.xml' is empty")
    refused(child, robot(folders, mjcf('<camera file="x"/>')), "<camera>: names a file, 'x', expected none")


@pytest.mark.parametrize(
    ("allow", "message"),
    [
        (5, "allow is 5, expected a folder or a sequence of folders"),
        ([None], r"allow is \[None\], expected a folder or a sequence of folders"),
        ("nowhere", "allow has 'nowhere', expected a folder that exists"),
        (["a\0b"], "allow has .*, expected a folder that exists"),
        (__file__, "allow has '.*test_load_hostile.py', expected a folder that exists"),
    ],
    ids=["number", "none", "missing", "null character", "file"],
)
def test_what_is_no_folder(allow: Any, message: str) -> None:
    urdf = '<robot name="r"> <link name="l"/> </robot>'
    for source in (mjcf(ONE), urdf):
        with pytest.raises(ValueError, match=message) as fault:
            jn.load(source, allow=allow)
        assert not isinstance(fault.value, jn.LoadError)


def test_lines_are_those_of_the_files(folders: Path) -> None:
    own = folders / "robot" / "parts" / "own.xml"
    own.write_text(part(f"\n\n{ONE}\n<body name='c'\n\n mass='1'/>"))
    path = robot(folders, mjcf('\n<include file="parts/own.xml"/>\n\n<body x="1"/>'))
    with pytest.raises(jn.LoadError, match=rf"compiler: .*'mass'.*Element 'body', line 4 of {re.escape(str(own))}$"):
        jn.load(path)
    own.write_text(part(ONE))
    with pytest.raises(jn.LoadError, match=r"compiler: .*'x'.*Element 'body', line 4$"):
        jn.load(path)
    (folders / "other" / "model.xml").write_text("\n\n" + mjcf("<body y='1'/>"))
    path = robot(folders, mjcf("", '\n<asset> <model name="m" file="../other/model.xml"/> </asset>'))
    with pytest.raises(jn.LoadError, match=r"'y'.*'body', line 3 of .*model.xml, Element 'model', line 2$"):
        jn.load(path, allow=folders / "other")
    own.write_text("<mujocoinclude>\n<body>\n</mujocoinclude>")
    with pytest.raises(jn.LoadError, match=rf"^{re.escape(str(own))}, line 3, column 3: not well-formed: mismatched"):
        jn.load(robot(folders, mjcf('<include file="parts/own.xml"/>')))


# URDF


def test_urdf_of_too_many_links() -> None:
    links = "".join(f'<link name="l{i}"/>' for i in range(20_001))
    with pytest.raises(jn.LoadError, match="<robot>: has 20001 links, expected at most 20000: more than any robot has"):
        jn.load(f"<robot>{links}</robot>")


# Random files

SEEDS = {
    "MJCF": f"""<mujoco model="m"> <compiler angle="radian" autolimits="true"/> <option gravity="0 0 -9.81"/>
  <default> <joint damping="0.1" armature="0.01"/> <default class="c"> <geom density="500"/> </default> </default>
  <asset> <mesh name="shell" file="shell.stl"/> <texture name="t" file="t.png"/> <material name="m" texture="t"/>
  </asset>
  <worldbody> <geom type="plane" size="1 1 1"/> <body name="a" pos="0 0 1" quat="1 0 0 0"> <freejoint name="f"/> {BALL}
    <body name="b" childclass="c" euler="0.1 0.2 0.3"> <joint name="j" axis="0 1 0" range="-1 1" ref="0.1"/>
      <geom type="box" size="0.1 0.2 0.3"/> <site name="s" pos="1 0 0"/>
      <body name="d"> <joint name="o" type="ball"/> {INERTIAL} <geom type="mesh" mesh="shell"/> </body> </body> </body>
  </worldbody> <tendon> <fixed name="k"> <joint joint="j" coef="2"/> </fixed> </tendon>
  <actuator> <motor joint="j" gear="3"/> <position joint="j" kp="9"/> </actuator> <size nkey="1"/> </mujoco>""",
    "URDF": """<robot name="r"> <link name="base"/> <link name="a"> <inertial> <origin xyz="0 0 1" rpy="0 1 0"/>
  <mass value="2"/> <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial> </link> <link name="b"/>
  <joint name="j" type="revolute"> <origin xyz="1 0 0"/> <axis xyz="0 0 1"/> <parent link="base"/> <child link="a"/>
    <limit lower="-1" upper="1" effort="5" velocity="3"/> <dynamics damping="0.1" friction="0.2"/> </joint>
  <joint name="k" type="prismatic"> <parent link="a"/> <child link="b"/> <mimic joint="j" multiplier="2"/>
    <limit effort="1" velocity="1"/> </joint> </robot>""",
}
WORDS = [
    "0",
    "-1",
    "1e308",
    "nan",
    "inf",
    "2147483648",
    "9000000",
    "",
    "a" * 500,
    "/dev/zero",
    "..",
    "&",
    "<",
    '"',
    "\0",
]


def mutated(text: str, rng: np.random.Generator) -> str:
    """With some words, attributes or elements replaced, duplicated or removed."""
    for _ in range(rng.integers(1, 4)):
        kind = rng.choice([r'(?<=")[^"]*(?=")', r'\w+="[^"]*"', r"<[^<>]*>", r"."])
        found = [match.span() for match in re.finditer(kind, text)]
        (start, end), (other, its_end) = (found[i] for i in rng.integers(len(found), size=2))
        piece = str(rng.choice([*WORDS, text[other:its_end], text[start:end] * 2]))
        text = text[:start] + piece + text[end:]
    return text


@pytest.mark.parametrize("kind", SEEDS)
def test_files_at_random_load_or_are_refused(child: Child, kind: str) -> None:
    loaded(child, SEEDS[kind])
    rng = np.random.default_rng(0)
    kinds = set()
    for _ in range(300):
        text = mutated(SEEDS[kind], rng)
        outcome = child.load(text)
        assert outcome.kind in ("loads", "LoadError", "MissingFileError"), (outcome, text)
        assert len(outcome.message) < 1000
        kinds.add(outcome.kind)
    assert {"loads", "LoadError"} <= kinds


def test_names_that_many_want_take_time_in_proportion() -> None:
    """Bodies "x", "x/x", ... with joints "x/x", "x", ... all want one name for their anchor: 50 MB took minutes."""
    from jounce.loading.mjcf_names import unused

    class Counted(set[str]):
        looks = 0

        def __contains__(self, name: object) -> bool:
            self.looks += 1
            return super().__contains__(name)

    taken = Counted()
    found = [unused("x/x", taken) for _ in range(5000)]
    assert found[:3] == ["x/x", "x/x 2", "x/x 3"]
    assert len(set(found)) == 5000
    assert taken.looks < 40 * 5000
    assert [unused("a", Counted({"a", *more}), " (site)") for more in ((), ("a (site)",))] == ["a (site)", "a (site) 2"]
