"""Meshes that would take their reader any time: it has some seconds, then their body is drawn as its box."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
import strangers
from jounce.view import MeshFile
from time_limits import HANG, within

pytest.importorskip("trimesh")
from jounce.loading.apart import Apart
from jounce.parts.texture import Pattern, Texture
from jounce.view import mesh_files, mesh_parsing, meshes
from jounce.view.mesh_child import packed_parts, unpacked_parts
from jounce.view.mesh_files import MeshReader, SlowMeshError
from jounce.view.mesh_parsing import MeshError, RawPart, _unit, parsed
from jounce.view.plain_meshes import is_plain
from jounce.view.textures import Coat

OFF = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
POINTS = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
FACET = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"> {unit}
<library_geometries> <geometry id="g"> <mesh>
  <source id="p"> <float_array id="a" count="9">0 0 0 1 0 0 0 1 0</float_array> <technique_common>
    <accessor source="#a" count="3" stride="3"> <param name="X" type="float"/> <param name="Y" type="float"/>
    <param name="Z" type="float"/> </accessor> </technique_common> </source>
  <vertices id="v"> <input semantic="POSITION" source="#p"/> </vertices>
  <triangles count="{count}"> <input semantic="VERTEX" source="#v" offset="0"/> <p>{faces}</p> </triangles> </mesh>
</geometry> </library_geometries> <library_nodes> {library} </library_nodes>
<library_visual_scenes> <visual_scene id="w"> {nodes} </visual_scene> </library_visual_scenes>
<scene> <instance_visual_scene url="#w"/> </scene> </COLLADA>"""
NODE = '<node> <instance_geometry url="#g"/> </node>'


def dae(nodes: str = NODE, faces: str = "0 1 2", count: int = 1, unit: str = "", library: str = "") -> str:
    return DAE.format(nodes=nodes, faces=faces, count=count, unit=unit, library=library)


def doubled(times: int) -> str:
    """A scene of 2^times triangles, each node being two of the one before."""
    last = f'<node id="n0"> {NODE} </node>'
    twice = (f'<node id="n{i + 1}">' + 2 * f'<instance_node url="#n{i}"/>' + "</node>" for i in range(times))
    return dae(f'<node> <instance_node url="#n{times}"/> </node>', library="".join([last, *twice]))


SLOW = {
    "usemtl.obj": lambda: POINTS + "".join(f"usemtl m{i}\nf 1 2 3\n" for i in range(20_000)),
    "solids.stl": lambda: ("solid a\n" + FACET + "endsolid a\n") * 20_000,
    "nodes.dae": lambda: dae(NODE * 20_000),
    "doubled.dae": lambda: doubled(40),
    "scene.dae": lambda: dae(NODE * 1000, faces="0 1 2 " * 450_000, count=450_000),
}
FULL = 2_900_000  # bytes, about as many as are read without a process
PLAIN: dict[str, Callable[[], str]] = {  # what takes longest of what is
    "materials.obj": lambda: POINTS + "".join(f"usemtl m{i}\nf 1 2 3\n" for i in range(400)) + "f 1 2 3\n" * 300_000,
    "polygons.obj": lambda: POINTS + "".join("f " + "1 2 3 " * i + "\n" for i in range(1, 970)),
    "sizes.obj": lambda: POINTS + "f 1 2 3\nf 1//1 2//1 3//1 1//1\n" * (FULL // 30),
    "colours.obj": lambda: "v 0 0 0\nv 0 0 0 1 1 1\n" * (FULL // 22) + "f 1 2 3\n",
    "comments.obj": lambda: POINTS + "#\n" * (FULL // 2) + "f 1 2 3\n",
    "spaces.obj": lambda: POINTS + " " * FULL + "f 1 2 3\n",
    "solids.stl": lambda: ("solid a\n" + FACET * 650 + "endsolid a\n") * 49,
    "nodes.dae": lambda: dae(NODE * 1300),
    "scene.dae": lambda: dae(NODE * 7, faces="0 1 2 " * 450_000, count=450_000),
    "faces.dae": lambda: dae(faces="0 1 2 " * 450_000, count=450_000),
    "attributes.dae": lambda: dae("<node " + " ".join(f'a{i}="1"' for i in range(240_000)) + f">{NODE}</node>"),
}


def saved(folder: Path, name: str, text: str) -> MeshFile:
    (folder / name).write_text(text)
    return MeshFile(str(folder / name), None)


@pytest.mark.night
@pytest.mark.parametrize("name", SLOW)
def test_what_is_slow_is_given_up(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own, which is gone then; the next mesh is read in another."""
    pytest.importorskip("collada")
    mesh, started = saved(tmp_path, name, SLOW[name]()), seen(monkeypatch)
    first, second, third = (saved(tmp_path, f"{i}.off", OFF) for i in range(3))
    with within(1.0), MeshReader(0.2) as reader:
        assert len(reader.read(first, {})) == 1
        assert len(reader.read(second, {})) == 1
        assert len(started) == 1
        with pytest.raises(SlowMeshError, match=r"^takes more than 0\.2 s to be read, see mesh_seconds$"):
            reader.read(mesh, {})
        assert started[0]._process.returncode is not None
        assert len(reader.read(third, {})) == 1
    assert len(started) == 2
    assert all(child._process.returncode is not None for child in started)


@pytest.mark.night
def test_all_meshes_of_a_robot_together(tmp_path: Path) -> None:
    """Many that are each just quick enough, or too slow, or plain: after six times as long no more are read."""
    slow = saved(tmp_path, "usemtl.obj", SLOW["usemtl.obj"]())
    apart = saved(tmp_path, "part.obj", POINTS + "".join(f"usemtl m{i}\nf 1 2 3\n" for i in range(500)))
    plain = saved(tmp_path, "plain.obj", PLAIN["colours.obj"]())
    for mesh, seconds, at_most in ((slow, 0.1, 8), (apart, 0.05, 100), (plain, 0.1, 8)):
        count, fault = 0, ""
        with MeshReader(seconds) as reader:
            while "is not read: those before it took" not in fault and count < 200:
                count += 1
                again = Path(f"{mesh.path}.{count}{Path(mesh.path).suffix}")
                again.hardlink_to(mesh.path)
                try:
                    reader.read(MeshFile(str(again), None), {})
                except SlowMeshError as slow_one:
                    fault = str(slow_one)
        assert 1 <= count <= at_most, (mesh.path, count)


def binary(folder: Path, name: str, faces: int) -> MeshFile:
    """A binary STL of triangles at random."""
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    rows = np.zeros(faces, dtype=record)
    rows["corners"] = np.random.default_rng(0).normal(size=(faces, 3, 3))
    (folder / name).write_bytes(bytes(80) + faces.to_bytes(4, "little") + rows.tobytes())
    return MeshFile(str(folder / name), None)


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is drawn, in whatever size; its fault and what it lacks are remembered, too."""
    read, plain = list[str](), mesh_files.regular_bytes
    monkeypatch.setattr(mesh_files, "regular_bytes", lambda path, *a: (read.append(str(path)), plain(path, *a))[1])
    (tmp_path / "m.mtl").write_text("newmtl a\nmap_Kd none.png\n")
    text = f"mtllib m.mtl\n{POINTS}vt 0 0\nvt 1 0\nvt 0 1\nusemtl a\nf 1/1 2/2 3/3\n"
    names = [saved(tmp_path, name, text).path for name, text in (("a.obj", text), ("no.obj", "no mesh"))]
    names.append(binary(tmp_path, "b.stl", 10).path)
    for reader in (MeshReader(), MeshReader()):
        read.clear()
        with reader:
            for i in range(1, 20):
                for name in names:
                    missing: dict[str, str] = {}
                    shape = MeshFile(name, None, (i, i, i))
                    if name.endswith("no.obj"):
                        with pytest.raises(MeshError):
                            meshes.parts_of(shape, None, missing, reader)
                        continue
                    (part,) = meshes.parts_of(shape, None, missing, reader)
                    assert name.endswith("b.stl") or part.vertices.max() == i
                    assert missing == ({"none.png": "does not exist"} if name.endswith("a.obj") else {})
        assert sorted(Path(path).name for path in read if not path.endswith("none.png")) == [
            "a.obj",
            "b.stl",
            "m.mtl",
            "no.obj",
        ]


def test_what_is_read_here_counts_among_all(tmp_path: Path) -> None:
    """Binary STL, edges, and pictures on shapes: after six times the seconds, nothing more is read."""
    images = pytest.importorskip("PIL.Image")
    pytest.importorskip("viser")
    images.fromarray(np.random.default_rng(0).integers(0, 255, (300, 300, 3), dtype=np.uint8)).save(tmp_path / "p.png")
    box, place = '<geometry> <box size="1 1 1"/> </geometry>', '<geometry> <mesh filename="{}"/> </geometry>'
    for i in range(3):
        binary(tmp_path, f"{i}.stl", 5000)
    paint = '<material name="{0}"> <color rgba="{0} 0 0 1"/> <texture filename="p.png"/> </material>'
    for looks, left_out in (
        ([place.format(f"{i}.stl") for i in range(3)], ["1.stl", "2.stl"]),
        ([place.format("0.stl"), box + paint.format("0.5")], ["p.png"]),
        ([box + paint.format(f"0.{i}") for i in range(3)] + [place.format("2.stl")], ["2.stl"]),
    ):
        visuals = "".join(f"<visual> {look} </visual>" for look in looks)
        (tmp_path / "robot.urdf").write_text(f'<robot name="r"> <link name="a"> {visuals} </link> </robot>')
        robot = quietly(tmp_path / "robot.urdf")
        with pytest.warns(jn.view.ViewWarning) as heard, robot.show(mesh_seconds=1e-4):
            pass
        for name in left_out:
            assert f"{tmp_path / name} is not read: those before it took" in str(heard[0].message)
        with robot.show(mesh_seconds=10.0):
            pass


def test_a_robot_has_only_so_many_faces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("viser")
    from jounce.view import scene

    monkeypatch.setattr(scene, "MAX_ALL_FACES", 25)
    visual = '<visual> <geometry> <mesh filename="a.stl"/> </geometry> </visual>'
    binary(tmp_path, "a.stl", 10)
    (tmp_path / "robot.urdf").write_text(f'<robot name="r"> <link name="a"> {3 * visual} </link> </robot>')
    with pytest.warns(
        jn.view.ViewWarning, match=r"a\.stl has too many faces: with those before it, more than the 25 of"
    ):
        viewer = quietly(tmp_path / "robot.urdf").show()
    with viewer:
        drawn = [type(handle).__name__ for handle in viewer._server.scene._handle_from_node_name.values()]
    assert drawn.count("MeshHandle") == 2


def quietly(path: Path) -> jn.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        return jn.load(path)


LARGE = {
    "mesh": "binary(folder, 'a.stl', 1_500_000); call = lambda: parts_of(MeshFile(str(folder / 'a.stl'), None))",
    "picture": "name = folder / 'p.png'; Image.new('RGBA', (7000, 7000)).save(name)\n"
    "call = lambda: rows_of(Texture((PictureFile(str(name), None),)))",
    "height field": "name = folder / 'p.png'; Image.new('RGB', (7000, 7000)).save(name)\n"
    "call = lambda: parts_of(HeightFile(str(name), None, (1, 1, 1, 1)))",
}


@pytest.mark.night
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("name", LARGE)
def test_looks_while_what_is_large_is_made_ready(tmp_path: Path, name: str) -> None:
    """Ctrl-C is heard: at most a tenth of a second of processor time between two looks for it."""
    pytest.importorskip("PIL")
    program = f"""
import sys
from pathlib import Path
from PIL import Image
sys.path.insert(0, {str(Path(__file__).parent)!r})
from looks import longest
from test_view_slow_meshes import binary
from jounce.parts.texture import PictureFile, Texture
from jounce.parts.visual import HeightFile, MeshFile
from jounce.view.meshes import parts_of
from jounce.view.pictures import rows_of
folder = Path({str(tmp_path)!r})
{LARGE[name]}
print(*longest(call))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr
    gap, looks = done.stdout.split()
    assert int(looks) > 2
    assert float(gap) < 0.1


def seen(monkeypatch: pytest.MonkeyPatch) -> list[Apart]:
    """The processes that are started from now on."""
    started: list[Apart] = []

    def start(*args: object, **options: object) -> Apart:
        started.append(Apart(*args, **options))  # type: ignore[arg-type]
        return started[-1]

    monkeypatch.setattr(mesh_files, "Apart", start)
    return started


@pytest.mark.parametrize("name", [n if n == "nodes.dae" else pytest.param(n, marks=pytest.mark.night) for n in PLAIN])
def test_what_is_read_without_a_process_is_quick(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Much quicker than in ten seconds."""
    pytest.importorskip("collada")
    mesh, started = saved(tmp_path, name, PLAIN[name]()), seen(monkeypatch)
    too_many = pytest.raises(MeshError, match="more than the 2,000,000 faces")
    with within(5.0), MeshReader() as reader, too_many if name == "scene.dae" else contextlib.nullcontext():
        reader.read(mesh, {})
    assert not started


def test_plain_or_not() -> None:
    assert is_plain((POINTS + "f 1 2 3\n" * 1000).encode(), "obj")
    assert is_plain((POINTS + "o a\n" * 400).encode(), "obj")
    for text in (POINTS + "o a\n" * 401, POINTS + " \tusemtl a\r\n" * 401, "g\n" * 401, "\n".join("abc" * 401)):
        assert not is_plain(text.encode(), "obj")
    assert not is_plain(b" " * 3_000_001, "obj")
    assert not is_plain(b"SOLID" * 101, "stl")
    assert not is_plain(b"<a/>" * 4001, "dae")
    assert not is_plain(b"<instance_node/>", "dae")
    assert not is_plain(b"<a>" + b"<a/>" * 4000 + b"</a>", "dae")
    assert not is_plain(b"<a><instance_node/></a>", "dae")
    for placing in ("instance_geometry", "instance_controller"):
        scene = "<a>" + f"<b:{placing}\nurl='#g'/>" * 9 + "0\t" * 1_000_000 + "</a>"
        assert is_plain(scene.encode(), "dae")
        assert not is_plain(scene.replace("0\t", f"<b:{placing}/>\t", 2).encode(), "dae")
    assert not is_plain(b"<instance_geometry url='#g'/>" * 9 + b"0 " * 1_000_000, "dae")
    assert not is_plain(b"<a:instance_geometry\nurl='#g'/>" * 11 + b"0\t" * 1_000_000, "dae")
    for kind in ("ply", "off", "glb"):
        assert not is_plain(b"", kind)


def test_parts_in_odd_places_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers find materials in comments and behind faces, join lines, and drop bytes that they cannot decode."""
    started, pieces = seen(monkeypatch), "v 0 0 0\n" * 1000
    for odd in ("#usemtl m{}\nf 1 2 3\n", "f 1 2 3 usemtl m{}\n", "v 0 0 0 usemtl m{}\n", "f 1 2 3\\\nusemtl m{}\n"):
        text = (pieces + "".join(odd.format(i) for i in range(401))).encode()
        assert not is_plain(text, "obj"), odd
    for kind, text in (
        ("obj", b"#\nuse\xffmtl a\nf 1 2 3\n"),
        ("obj", b"#\\\nusemtl a\nf 1 2 3\n"),
        ("stl", b"so\xfflid a\nendso\xfflid\n"),
    ):
        assert is_plain(b"#\n" if kind == "obj" else b"solid a\nendsolid\n", kind)
        assert not is_plain(text, kind)
    mesh = saved(tmp_path, "a.obj", POINTS + "".join(f"#usemtl m{i}\nf 1 2 3\n" for i in range(500)))
    with MeshReader() as reader:
        assert len(reader.read(mesh, {})) == 500
    assert len(started) == 1


def test_looking_whether_a_mesh_is_plain_takes_time_in_proportion() -> None:
    """Of 56 KB it took 0.13 s, of 3 MB six minutes, without a look for Ctrl-C."""
    with within(1.0):
        for unit in ("<vcount", "<vcount ", "<", "<!--", "<a:", "&#", "vcount>", "<instance_geometry "):
            is_plain(("<" + unit * (2_900_000 // len(unit))).encode(), "dae")
            is_plain(("<a>" + unit * (2_900_000 // len(unit))).encode(), "dae")
        for unit in (" ", "\t\n", "v", "u", "usemt", "#", "f ", "\r"):
            is_plain((unit * (2_900_000 // len(unit))).encode(), "obj")


@pytest.mark.night
def test_a_plain_mesh_with_many_or_large_pictures_is_read_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, started = pytest.importorskip("PIL.Image"), seen(monkeypatch)
    for count, side, processes in ((3, 2, 0), (60, 2, 1), (3, 3000, 1)):
        started.clear()
        names = range(count)
        for i in names:
            images.fromarray(np.full((side, side, 3), i, dtype=np.uint8)).save(tmp_path / f"{i}.png")
        materials = "".join(f"newmtl m{i}\nmap_Kd {i}.png\n" for i in names)
        (tmp_path / "m.mtl").write_text(materials + "newmtl no\nmap_Kd none.png\n")
        uses = "".join(f"usemtl m{i}\nf 1/1 2/2 3/3\n" for i in names)
        mesh = saved(tmp_path, "a.obj", f"mtllib m.mtl\n{POINTS}vt 0 0\nvt 1 0\nvt 0 1\n{uses}")
        missing: dict[str, str] = {}
        with MeshReader() as reader:
            parts = reader.read(mesh, missing)
        pictures = [part.picture for part in parts if part.picture is not None]
        assert sorted(int(picture[0, 0, 0]) for picture in pictures) == list(names)
        assert missing == {"none.png": "does not exist"}
        assert len(started) == processes


def test_a_mesh_of_many_colours_takes_time_in_proportion() -> None:
    parts = [RawPart(np.eye(3), np.array([[0, 1, 2]]), (i / 20_000, 0.0, 0.0, 1.0)) for i in range(20_000)]
    with within(1.0):
        assert len(meshes._joined(parts * 2, None)) == 20_000


def test_the_unit_of_collada_takes_time_in_proportion() -> None:
    with within(0.5):
        assert _unit(b"<unit " * 16_000) == 1.0
        assert _unit(b"<unit meter= " * 8_000) == 1.0
        assert _unit(b"<unit " + b"meter" * 10_000 + b">") == 1.0
    assert _unit(b'<a> <unit name="x"/> <unit name="inch" meter = "0.0254"/> </a>') == 0.0254


def test_what_comes_back_from_the_process_is_what_was_read() -> None:
    rng = np.random.default_rng(0)
    parts = [
        RawPart(rng.normal(size=(4, 3)), rng.integers(0, 4, (5, 3))),
        RawPart(rng.normal(size=(4, 3)), rng.integers(0, 4, (5, 3)), (0.1, 0.2, 0.3, 1.0), rng.normal(size=(4, 2))),
        RawPart(
            np.zeros((0, 3)), np.zeros((0, 3), dtype=int), None, None, rng.integers(0, 255, (3, 2, 3), dtype=np.uint8)
        ),
    ]
    for part, back in zip(parts, unpacked_parts(*packed_parts(parts)), strict=True):
        assert part.colour == back.colour
        for key in ("vertices", "faces", "uv", "picture"):
            mine, theirs = getattr(part, key), getattr(back, key)
            assert (mine is None and theirs is None) or np.array_equal(mine, theirs)


@pytest.mark.night
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_a_process_that_breaks_down_is_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = seen(monkeypatch)
    mesh, second, third = (saved(tmp_path, f"{i}.off", OFF) for i in range(3))
    with MeshReader() as reader:
        reader.read(mesh, {})
        started[0]._process.terminate()
        with pytest.raises(MeshError, match="breaks its reader, or needs more than 4 GB"):
            reader.read(second, {})
        assert len(reader.read(third, {})) == 1
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with MeshReader() as reader, pytest.raises(MeshError, match="read without a process of its own: No such file"):
        reader.read(mesh, {})


def test_no_module_comes_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is on the path to modules of whoever types Python's commands, and may be a stranger's meanwhile."""
    for name in ("collada", "networkx", "trimesh", "numpy", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    mesh = saved(tmp_path, "a.off", OFF)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    with MeshReader() as reader:
        assert len(reader.read(mesh, {})) == 1
    assert not (tmp_path / "ran").exists()


@pytest.mark.night
def test_an_error_is_the_same_from_both(tmp_path: Path) -> None:
    def no_files(name: str) -> bytes:
        raise MeshError("is not there")

    with pytest.raises(MeshError) as here:
        parsed(b"OFF no", "off", no_files, {})
    with MeshReader() as reader, pytest.raises(MeshError) as there:
        reader.read(saved(tmp_path, "a.off", "OFF no"), {})
    assert str(here.value) == str(there.value)


# On a page

URDF = """<robot name="r"> <link name="base"> <inertial> <mass value="1"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial>
  <visual> <geometry> <box size="1 1 1"/> </geometry> </visual>
  <visual> <geometry> <mesh filename="usemtl.obj"/> </geometry> </visual> </link>
  <link name="shell"> <visual> <geometry> <mesh filename="usemtl.obj"/> </geometry> </visual> </link>
  <link name="arm"> <inertial> <mass value="1"/> <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial>
  <visual> <geometry> <sphere radius="1"/> </geometry> </visual> </link>
  <joint name="f" type="fixed"> <parent link="base"/> <child link="shell"/> </joint>
  <joint name="j" type="continuous"> <parent link="base"/> <child link="arm"/> </joint> </robot>"""


def test_a_body_with_a_slow_mesh_is_drawn_as_its_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("viser")
    (tmp_path / "usemtl.obj").write_text(SLOW["usemtl.obj"]())
    (tmp_path / "robot.urdf").write_text(URDF)
    robot, started = jn.load(tmp_path / "robot.urdf", "floating"), seen(monkeypatch)
    message = r"^not shown: .*usemtl\.obj takes more than 0\.2 s to be read, see mesh_seconds$"
    with pytest.warns(jn.view.ViewWarning, match=message):
        viewer = robot.show(mesh_seconds=0.2)
    with viewer:
        nodes = viewer._server.scene._handle_from_node_name
        kinds = {name: type(handle).__name__ for name, handle in nodes.items()}
    base = [kind for name, kind in kinds.items() if name.startswith("/robot/base/")]
    assert base == ["BoxHandle", "BoxHandle"]
    assert [kind for name, kind in kinds.items() if name.startswith("/robot/arm/")] == ["IcosphereHandle"]
    assert not [name for name in kinds if name.startswith("/robot/shell/")]
    assert len(started) == 1


@pytest.mark.parametrize("seconds", [0, -1, np.nan, np.inf, "long", None])
def test_bad_seconds(seconds: object) -> None:
    pytest.importorskip("viser")
    with pytest.raises(ValueError, match=r"^mesh_seconds is "):
        jn.load(URDF).show(mesh_seconds=seconds)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name",
    [
        "talos_full_v2",
        *(pytest.param(n, marks=pytest.mark.night) for n in ("anymal_c_simple_description/anymal", "panda")),
    ],
)
def test_showing_these_robots_starts_no_process(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which would take half a second and more."""
    pytest.importorskip("viser")
    pytest.importorskip("pinocchio")  # which brings them
    started = seen(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = jn.load(f"example-robot-data:{name}")
        with robot.show():
            pass
    assert not started


@pytest.mark.night
@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="processes are counted in /proc")
def test_nothing_is_left_after_a_reader(tmp_path: Path) -> None:
    gc.collect()
    before = children()
    with MeshReader() as reader:
        reader.read(saved(tmp_path, "a.off", OFF), {})
        assert len(children() - before) == 1
    assert not children() - before


def children() -> set[str]:
    """Of this process, those that have ended and are not waited for included."""
    found: set[str] = set()
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(FileNotFoundError):  # a thread that has ended meanwhile
            found |= set(Path(f"/proc/self/task/{task}/children").read_text().split())
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_while_a_mesh_is_read(tmp_path: Path) -> None:
    """The reader is gone, and nothing is waited for."""
    mesh = saved(tmp_path, "usemtl.obj", SLOW["usemtl.obj"]())
    program = f"""
import os, signal, sys, threading, time
from jounce.view import MeshFile
from jounce.view.mesh_files import MeshReader
signal.signal(signal.SIGINT, signal.default_int_handler)
reader = MeshReader(100.0)

def interrupt():
    while reader._child is None:
        time.sleep(0.05)
    process = reader._child._process
    os.kill(os.getpid(), signal.SIGINT)
    process.wait({HANG})
    sys.stdout.write(f"{{process.returncode}}\\n")  # whole lines: two threads write

threading.Thread(target=interrupt).start()
try:
    reader.read(MeshFile({mesh.path!r}, None), {{}})
except KeyboardInterrupt:
    sys.stdout.write(f"heard {{reader._child}}\\n")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(done.stdout.split("\n")) == {"heard None", "-9", ""}


# What small files ask for


def polygons(*counts: str) -> str:
    said = f"<vcount>{' '.join(counts)}</vcount> <p>"
    return (
        dae().replace('<triangles count="1">', "<polylist>").replace("</triangles>", "</polylist>").replace("<p>", said)
    )


def test_polygons_of_many_corners_are_read_in_the_process_with_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers make room for as many corners as the file says: 90 million took 3 GB."""
    pytest.importorskip("collada")
    for even in (
        polygons("3"),
        polygons("3").replace("<vcount>", "<vcount a='>'>"),
        polygons("3").replace("<vcount>", "<vcount/> <vcount>"),
        polygons("3<!-- <vcount>2000000000</vcount> -->"),
    ):
        assert is_plain(even.encode(), "dae")
    for odd in (
        polygons("90000 " * 1000),
        polygons("-90000 " * 1000),
        polygons("2000000000"),
        polygons("<![CDATA[2000000000]]>"),
        polygons("&#50;000000000"),
        polygons("1e9"),
        polygons("9" * 5000),
        polygons("3").replace("vcount", "a:vcount").replace(">3<", ">2000000000<"),
        polygons("2000000000").replace("<vcount>", "<vcount a='>'>"),
        polygons("2000000000").replace("<vcount>", "<vcount/> <vcount>"),
        *(polygons(f"3 {between} 2000000000") for between in ("<!-- -->", "<?a b?>", "<![CDATA[ ]]>")),
        *(polygons(f"2000{between}000000") for between in ("<!-- -->", "<?a b?>", "<![CDATA[]]>")),
        polygons("3")[:-1],
    ):
        assert not is_plain(odd.encode(), "dae")
    started = seen(monkeypatch)
    with MeshReader() as reader:
        assert len(reader.read(saved(tmp_path, "a.dae", polygons("3")), {})) == 1
        assert not started
        with pytest.raises(MeshError, match=r"breaks its reader|more memory than|not a mesh that can be read"):
            reader.read(saved(tmp_path, "b.dae", polygons("2000000000")), {})
    assert len(started) == 1


def no_files(name: str) -> bytes:
    raise MeshError("is not there")


def test_a_mesh_that_is_placed_many_times_has_so_many_faces(monkeypatch: pytest.MonkeyPatch) -> None:
    """And vertices; not only once it has been sent by the process that read it, which took gigabytes there and here."""
    pytest.importorskip("collada")
    monkeypatch.setattr(mesh_parsing, "MAX_FACES", 4)
    few, many = dae(NODE * 4), dae(NODE * 5)
    points = ["OFF\n{} 1 0\n{}3 0 1 2\n".format(count, "0 0 0\n1 0 0\n0 1 0\n" * (count // 3)) for count in (12, 15)]
    for kind, good, bad in (("dae", few, many), ("off", *points)):
        assert parsed(good.encode(), kind, no_files, {})
        with pytest.raises(MeshError, match="has more than the 4 faces that are drawn, or vertices for so many"):
            parsed(bad.encode(), kind, no_files, {})


def test_a_picture_on_many_parts_of_a_mesh_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some hundred of 20 million pixels took minutes."""
    pytest.importorskip("collada")
    images, file, decoded = pytest.importorskip("PIL.Image"), io.BytesIO(), []
    images.new("RGB", (4, 4), (200, 0, 0)).save(file, format="PNG")
    plain = mesh_parsing.as_rows
    monkeypatch.setattr(mesh_parsing, "as_rows", lambda picture: (decoded.append(picture), plain(picture))[1])
    text = strangers.ROOF.format(picture="p.png")
    node = text[text.index("<node>") : text.index("</visual_scene>")]
    for said in (text, text.replace('semantic="TEXCOORD" source', 'semantic="COLOR" source')):
        decoded.clear()
        parts = parsed(said.replace(node, 7 * node).encode(), "dae", lambda name: file.getvalue(), {})
        assert len(parts) == 7
        assert len(decoded) == 1


def test_a_robot_has_only_so_many_shapes_and_pictures_on_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each shape has its own copy of a picture: 20,000 boxes with one of a megabyte took 40 GB."""
    images = pytest.importorskip("PIL.Image")
    pytest.importorskip("viser")
    from jounce.view import scene

    images.fromarray(np.random.default_rng(0).integers(0, 255, (30, 30, 3), dtype=np.uint8)).save(tmp_path / "p.png")
    box = '<geometry> <box size="1 1 1"/> </geometry> <material name="m"> <texture filename="p.png"/> </material>'
    (tmp_path / "robot.urdf").write_text(
        f'<robot name="r"> <link name="a"> {6 * f"<visual> {box} </visual>"} </link> </robot>'
    )
    robot = quietly(tmp_path / "robot.urdf")

    def drawn() -> list[str]:
        with robot.show() as viewer:
            handles = viewer._server.scene._handle_from_node_name.items()
            return sorted(type(handle).__name__ for name, handle in handles if name.startswith("/robot/a/"))

    assert drawn() == ["GlbHandle"] * 6
    monkeypatch.setattr(scene, "MAX_PICTURES", 5000)
    with pytest.warns(
        jn.view.ViewWarning, match=r"p\.png is a picture on too many shapes: with those before it, more t"
    ):
        kinds = drawn()
    assert set(kinds) == {"GlbHandle", "MeshHandle"}
    assert len(kinds) == 6
    monkeypatch.setattr(scene, "MAX_SHAPES", 4)
    with pytest.warns(jn.view.ViewWarning, match="box is one of too many: more than the 4 shapes of a robot"):
        assert len(drawn()) == 4
    monkeypatch.undo()
    with pytest.warns(jn.view.ViewWarning, match=r"p\.png is not read: those before it took"):
        robot.show(mesh_seconds=1e-6).close()


def test_a_long_name_is_not_repeated_for_each_visual() -> None:
    """2,000 visuals with a fault on a link with a name of 5 MB took 10 GB."""
    name = "a" * 10_000
    robot = jn.load(f'<robot name="r"> <link name="{name}"> <visual/> <visual/> </link> </robot>')
    for visual in robot.bodies[0].visuals:
        assert isinstance(visual.shape, jn.view.Undrawn)
        assert len(visual.shape.what) < 100


def test_a_cube_of_pictures_cuts_a_mesh_into_so_many_faces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1.9 million large triangles became 18 million, and more than 9 GB."""
    from jounce.view import cube_map

    pattern = Texture((Pattern("gradient", (4, 4), (1, 0, 0), (0, 1, 0)),), cube=True)
    mesh, coat = binary(tmp_path, "a.stl", 100), Coat(pattern, None)
    (part,) = meshes.parts_of(mesh, coat)
    assert len(part.faces) > 1000
    monkeypatch.setattr(cube_map, "MAX_FACES", 1000)
    with pytest.raises(
        MeshError, match="has more than the 1,000 faces that are drawn, once it is cut for the picture on"
    ):
        meshes.parts_of(mesh, coat)
