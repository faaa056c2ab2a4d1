"""What robots look like, as files say: shapes, placements, colours and paths, against Pinocchio and MuJoCo."""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from jounce.loading.folders import Folders
from jounce.loading.mesh_paths import MeshPaths
from jounce.loading.regular_files import OutsideError, regular_bytes
from jounce.view import Box, Capsule, Cylinder, Ellipsoid, MeshFile, Sphere, Triangles, Undrawn, Visual

STL = b"solid, and never read here"


def quietly(*args: object, **options: object) -> jn.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        return jn.load(*args, **options)  # type: ignore[arg-type]


def urdf(*visuals: str, top: str = "") -> str:
    return f'<robot name="r"> {top} <link name="a"> {"".join(visuals)} </link> </robot>'


def of(text: object, **options: object) -> list[Visual]:
    return [v for b in quietly(text, **options).bodies for v in b.visuals]


def mesh(name: str) -> str:
    return f'<visual> <geometry> <mesh filename="{name}"/> </geometry> </visual>'


# URDF


def test_shapes_of_a_urdf() -> None:
    shapes = {
        '<box size="1 2 3"/>': Box((1.0, 2.0, 3.0)),
        '<sphere radius="0.5"/>': Sphere(0.5),
        '<cylinder radius="0.1" length="2"/>': Cylinder(0.1, 2.0),
        '<capsule radius="0.1" length="2"/>': Capsule(0.1, 2.0),
        '<ellipsoid radii="1 2 3"/>': Ellipsoid((1.0, 2.0, 3.0)),
    }
    found = of(urdf(*(f"<visual> <geometry> {xml} </geometry> </visual>" for xml in shapes)))
    assert [v.shape for v in found] == list(shapes.values())
    assert all(np.array_equal(v.placement, np.eye(4)) and v.colour is None for v in found)


def test_collisions_are_no_looks() -> None:
    assert not of(urdf('<collision> <geometry> <sphere radius="1"/> </geometry> </collision>'))


def test_colours_of_a_urdf() -> None:
    def one(material: str) -> str:
        return f'<visual> <geometry> <sphere radius="1"/> </geometry> {material} </visual>'

    top = '<material name="red"> <color rgba="1 0 0 0.5"/> </material>'
    top += '<material name="odd"> <color rgba="x"/> </material>'
    own = '<material name="own"> <color rgba="0 0 2 1"/> </material>'
    names = [one(f'<material name="{name}"/>') for name in ("red", "own", "nowhere", "odd")]
    colours = [v.colour for v in of(urdf(*names, one(own), top=top))]
    assert colours == [(1, 0, 0, 0.5), (0, 0, 1, 1), None, None, (0, 0, 1, 1)]


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        ("<visual/>", "has no <geometry>"),
        ("<visual> <geometry/> </visual>", "has no shape"),
        ('<visual> <geometry> <sphere radius="big"/> </geometry> </visual>', "radius is 'big'"),
        ('<visual> <geometry> <box size="1 -1 1"/> </geometry> </visual>', "non-negative"),
        ("<visual> <geometry> <box/> </geometry> </visual>", "no attribute 'size'"),
        ('<visual> <origin rpy="a b c"/> <geometry> <sphere radius="1"/> </geometry> </visual>', "rpy is"),
        ("<visual> <geometry> <mesh/> </geometry> </visual>", "no attribute 'filename'"),
    ],
)
def test_a_visual_that_is_wrong_does_no_harm(xml: str, reason: str) -> None:
    (visual,) = of(urdf(xml))
    assert isinstance(visual.shape, Undrawn)
    assert "link 'a'" in visual.shape.what
    assert reason in visual.shape.reason


def test_the_world_itself_may_have_looks() -> None:
    text = """<robot> <link name="world"> <visual> <geometry> <sphere radius="1"/> </geometry> </visual> </link>
      <link name="arm"> <inertial> <mass value="1"/> <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
      </inertial> </link>
      <joint name="j" type="continuous"> <parent link="world"/> <child link="arm"/> </joint> </robot>"""
    robot = jn.load(text)
    for model in (robot, robot.constrained({"arm": jn.Fixed()}), jn.Builder.from_model(robot).build()):
        assert [v.shape for v in pickle.loads(pickle.dumps(model)).scenery] == [Sphere(1.0)]


# Against Pinocchio

SUBJECTS = [
    "ur_description/urdf/ur5_robot.urdf",
    "solo_description/robots/solo12.urdf",
    "panda_description/urdf/panda.urdf",
    "double_pendulum_description/urdf/double_pendulum_simple.urdf",
    "finger_edu_description/robots/finger_edu.urdf",
    "quadruped_description/urdf/quadruped.urdf",
]


def example_robots() -> Path:
    """The folder of the package example-robot-data."""
    found = [Path(place) / "cmeel.prefix/share/example-robot-data/robots" for place in sys.path]
    folder = next((place for place in found if place.is_dir()), None)
    if folder is None:
        pytest.skip("example-robot-data is not installed")
    return folder


@pytest.mark.parametrize("name", SUBJECTS)
def test_placements_are_pinocchios(name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    from jounce.conversions import Pinocchio

    path = example_robots() / name
    robot = quietly(path, mimic="independent")
    model = pin.buildModelFromUrdf(str(path))
    geometry = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.VISUAL, package_dirs=[str(path.parents[4])])
    q = robot.random_configuration(np.random.default_rng(1))
    data, placed = model.createData(), pin.GeometryData(geometry)
    pin.updateGeometryPlacements(model, data, geometry, placed, Pinocchio(robot, model).to(q))
    ours = {f"{b.name}_{i}": (b.name, v) for b in robot.bodies for i, v in enumerate(b.visuals)}
    assert ours
    assert set(ours) == {g.name for g in geometry.geometryObjects}
    for i, g in enumerate(geometry.geometryObjects):
        body, visual = ours[g.name]
        assert np.allclose(robot.pose(body, q) @ visual.placement, placed.oMg[i].homogeneous, atol=1e-9)
        if isinstance(visual.shape, MeshFile):
            assert os.path.samefile(visual.shape.path, g.meshPath)
            assert np.allclose(visual.shape.scale, g.meshScale)
        if visual.colour is not None and g.overrideMaterial:
            assert np.allclose(visual.colour, g.meshColor)


# MJCF, against MuJoCo

MJCF = """<mujoco> <compiler meshdir="shapes"/>
  <asset> <mesh name="wedge" file="wedge.stl" scale="2 0.5 1" refpos="0.1 0.2 0.3" refquat="0.9 0.1 0.2 0.3"/>
    <mesh name="inline" vertex="0 0 0  1 0 0  0 1 0  0 0 1" face="0 2 1  0 1 3  0 3 2  1 2 3" scale="0.1 0.2 0.3"/>
    <material name="blue" rgba="0 0 1 1"/> </asset>
  <worldbody> <geom type="plane" size="0 0 1"/> <geom type="box" size="1 1 0.1" pos="0 0 -1"/>
    <body name="base" pos="0 0 1"> <joint name="lift" type="slide" axis="0 0 1"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="10 20 30" rgba="1 0 0 1" mass="1"/>
      <geom type="mesh" mesh="wedge" pos="0 0.3 0" euler="0 40 0" material="blue" mass="0"/>
      <body name="arm" pos="0.5 0 0"> <joint name="turn" axis="0 1 0" pos="0 0 0.1" ref="20"/> <inertial mass="1"
          pos="0 0 0" diaginertia="1 1 1"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0.4 0.1 0"/> <geom type="sphere" size="0.1"/>
        <geom type="ellipsoid" size="0.1 0.2 0.3"/> <geom type="cylinder" size="0.1 0.2" group="2"/>
        <geom type="mesh" mesh="inline"/> <geom type="box" size="1 1 1" group="3"/>
      </body> </body> </worldbody> </mujoco>"""


def wedge() -> bytes:
    """A solid without symmetries, as binary STL."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0.2, 0.3, 1.5]], dtype=np.float32)
    faces = np.zeros(4, dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("mark", "<u2")])
    faces["corners"] = corners[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
    return bytes(80) + (4).to_bytes(4, "little") + faces.tobytes()


@pytest.fixture
def mjcf(tmp_path: Path) -> Path:
    (tmp_path / "shapes").mkdir()
    (tmp_path / "shapes" / "wedge.stl").write_bytes(wedge())
    (tmp_path / "robot.xml").write_text(MJCF)
    return tmp_path / "robot.xml"


@pytest.mark.parametrize("as_model", [False, True], ids=["file", "MjModel"])
def test_geoms_are_mujocos(mjcf: Path, as_model: bool) -> None:
    mujoco = pytest.importorskip("mujoco")
    from jounce.conversions import MuJoCo

    model = mujoco.MjModel.from_xml_path(str(mjcf))
    robot = quietly(model if as_model else mjcf)
    q = robot.random_configuration(np.random.default_rng(2))
    data = mujoco.MjData(model)
    data.qpos = MuJoCo(robot, model).to(q)
    mujoco.mj_kinematics(model, data)
    assert [v.shape for v in robot.scenery] == [Box((2.0, 2.0, 0.2))]
    ours = {b.name: [(robot.pose(b.name, q) @ v.placement, v) for v in b.visuals] for b in robot.bodies}
    for body, geoms in {"base": [2, 3], "arm": [4, 5, 6, 7, 8]}.items():
        assert len(ours[body]) == len(geoms)
        for (pose, visual), i in zip(ours[body], geoms, strict=True):
            turn, at = data.geom_xmat[i].reshape(3, 3), data.geom_xpos[i]
            if model.geom_type[i] != mujoco.mjtGeom.mjGEOM_MESH:
                assert np.allclose(pose[:3, :3], turn, atol=1e-9)
                assert np.allclose(pose[:3, 3], at, atol=1e-9)
                continue
            found = _world_vertices(visual, pose)
            mesh = model.geom_dataid[i]
            vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]] @ turn.T + at
            apart = np.linalg.norm(found[:, None] - vertices[None], axis=2)
            assert apart.min(axis=0).max() < 1e-5  # every vertex of each is one of the other
            assert apart.min(axis=1).max() < 1e-5
    colours = [v.colour for _, v in ours["base"]]
    assert colours == [(1, 0, 0, 1), (0, 0, 1, 1)]
    sizes = [v.shape for _, v in ours["arm"][:4]]
    assert sizes[0] == Capsule(pytest.approx(0.05), pytest.approx(float(np.hypot(0.4, 0.1))))
    assert sizes[1:] == [Sphere(0.1), Ellipsoid((0.1, 0.2, 0.3)), Cylinder(0.1, 0.4)]


def _world_vertices(visual: Visual, pose: np.ndarray) -> np.ndarray:
    """The vertices of a mesh where we draw it."""
    if isinstance(visual.shape, Triangles):
        raw = visual.shape.vertices
    else:
        pytest.importorskip("trimesh")
        from jounce.view.meshes import parts_of

        assert isinstance(visual.shape, MeshFile)
        raw = np.concatenate([part.vertices for part in parts_of(visual.shape)])
    return np.asarray(raw, dtype=float) @ pose[:3, :3].T + pose[:3, 3]


def test_a_mesh_of_mjcf_outside_its_folder_is_not_looked_for(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "in").mkdir()
    (tmp_path / "wedge.stl").write_bytes(wedge())
    text = MJCF.replace('meshdir="shapes"', 'meshdir=".."')
    (tmp_path / "in" / "robot.xml").write_text(text)

    def shapes(**options: object) -> list[object]:
        found = [v.shape for v in of(tmp_path / "in" / "robot.xml", **options)]
        return [shape for shape in found if isinstance(shape, (Undrawn, MeshFile))]

    why = f"is outside the folder of the file: pass allow={str(tmp_path)!r} to jounce.load"
    assert shapes(untrusted=True) == [Undrawn("wedge.stl", why)]
    for options in ({}, {"allow": tmp_path, "untrusted": True}):
        assert [type(shape) for shape in shapes(**options)] == [MeshFile]


def test_heights_that_are_written_out_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """All words at once took thirty times as much as the text, without a look for Ctrl-C."""
    from jounce.loading import height_fields

    for text in ("", " ", "1", "1 2 3", "  1.5\n-2e3\t7 ", "12345678 9 "):
        for piece in (1, 3, 100):
            monkeypatch.setattr(height_fields, "_PIECE", piece)
            assert np.array_equal(height_fields.numbers_in(text), np.array(text.split(), dtype=np.float64))
    monkeypatch.undo()
    source = height_fields.FieldSource(None, ("700", "1000"), "1.5 2.25 " * 350_000)
    tracemalloc.start()
    try:
        assert isinstance(source.shape((1.0, 1.0, 1.0, 1.0)), Triangles)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
    with pytest.raises(ValueError, match="could not convert"):
        height_fields.numbers_in("1 x 2")


FIELD = """<mujoco> <compiler meshdir="ground"/>
  <asset> <hfield name="png" file="hills.png" size="2 1 0.5 0.1"/>
    <hfield name="bin" file="hills.bin" size="1 3 0.2 1"/>
    <hfield name="here" nrow="3" ncol="2" elevation="1 2  3 4  5 7" size="1 1 1 0.1"/>
    <hfield name="flat" nrow="4" ncol="4" size="1 1 1 0.1"/> </asset>
  <worldbody> <geom type="hfield" hfield="png" rgba="0 1 0 1"/> <geom type="hfield" hfield="here" pos="0 0 2"/>
    <geom type="hfield" hfield="flat"/>
    <body name="b"> <joint/> <inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>
      <geom type="hfield" hfield="bin" euler="0 0 30"/> </body> </worldbody> </mujoco>"""


def _hills(folder: Path) -> Path:
    images = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(4)
    (folder / "ground").mkdir()
    images.fromarray(rng.integers(20, 200, (7, 9), dtype=np.uint8)).save(folder / "ground" / "hills.png")
    heights = rng.normal(size=(5, 6)).astype("<f4")
    (folder / "ground" / "hills.bin").write_bytes(np.array(heights.shape, dtype="<i4").tobytes() + heights.tobytes())
    (folder / "robot.xml").write_text(FIELD)
    return folder / "robot.xml"


@pytest.mark.parametrize("as_model", [False, True], ids=["file", "MjModel"])
def test_height_fields_are_mujocos(tmp_path: Path, as_model: bool) -> None:
    mujoco = pytest.importorskip("mujoco")
    pytest.importorskip("trimesh")
    from jounce.view.meshes import parts_of

    path = _hills(tmp_path)
    model = mujoco.MjModel.from_xml_path(str(path))
    robot = quietly(model if as_model else path)
    drawn = [*robot.scenery, *robot.bodies[0].visuals]
    assert drawn[0].colour == (0, 1, 0, 1)
    for visual, name in zip(drawn, ("png", "here", "flat", "bin"), strict=True):
        (part,) = parts_of(visual.shape)
        ours = np.unique(part.vertices.astype(np.float32).round(5), axis=0)
        field = model.hfield(name)
        size, rows, columns = field.size, int(field.nrow[0]), int(field.ncol[0])
        z = size[2] * field.data.reshape(rows, columns)
        if name == "flat" and not as_model:
            rows, columns, z = 2, 2, z[:2, :2]
        x, y = np.meshgrid(np.linspace(-size[0], size[0], columns), np.linspace(-size[1], size[1], rows))
        top = np.stack([x, y, z], axis=-1).reshape(-1, 3)
        apart = np.linalg.norm(ours[:, None] - top[None], axis=2)
        assert apart.min(axis=0).max() < 1e-4  # every height is drawn
        below = ours[apart.min(axis=1) > 1e-4]
        assert np.allclose(below[:, 2], -size[3])  # and a base below them
        corners = part.vertices[part.faces].astype(float)
        volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
        cells = (z[:-1, :-1] + z[1:, 1:]) / 3 + (z[:-1, 1:] + z[1:, :-1]) / 6  # over the two triangles of each
        area = 4 * size[0] * size[1] / cells.size
        assert volume == pytest.approx(area * cells.sum() + 4 * size[0] * size[1] * size[3], rel=1e-5)


def test_height_fields_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    pytest.importorskip("trimesh")
    from jounce.view.mesh_parsing import MeshError
    from jounce.view.meshes import parts_of

    path = _hills(tmp_path)
    (tmp_path / "ground" / "hills.png").write_bytes(b"not a picture")
    (tmp_path / "ground" / "hills.bin").write_bytes(b"\x02\0\0\0\x02\0\0\0" + bytes(12))
    robot = quietly(path)
    for visual, reason in (
        (robot.scenery[0], "is not a picture"),
        (robot.bodies[0].visuals[0], "is not a height field: 2 x 2"),
    ):
        with pytest.raises(MeshError, match=reason):
            parts_of(visual.shape)
    (tmp_path / "ground" / "hills.png").unlink()
    assert quietly(path).scenery[0].shape == Undrawn("hills.png", "does not exist")
    (tmp_path / "robot.xml").write_text(FIELD.replace("5 7", "5 x"))
    with contextlib.suppress(jn.LoadError):
        assert isinstance(quietly(path).scenery[1].shape, Undrawn)


# Paths


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a robot and its mesh, and things around it that are none of its business."""
    for folder in ("ws/arm/urdf/parts", "ws/arm/meshes", "ws/other/meshes", "secret"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("arm/meshes/a.stl", "arm/urdf/b.stl", "arm/urdf/parts/e.stl", "other/meshes/c.stl", "../secret/d.stl"):
        (tmp_path / "ws" / file).write_bytes(STL)
    return tmp_path


def find(package: Path, name: str, *allow: Path, untrusted: bool = False) -> MeshFile | Undrawn:
    return MeshPaths(Folders(package / "ws/arm/urdf/arm.urdf", allow, untrusted)).find(name)


def real(mesh: MeshFile) -> Path:
    return regular_bytes(mesh.path, 10_000, mesh.within)[0]


OWN = {  # in the folder of the file
    "b.stl": "ws/arm/urdf/b.stl",
    "./b.stl": "ws/arm/urdf/b.stl",
    "file://b.stl": "ws/arm/urdf/b.stl",
    "package://urdf/b.stl": "ws/arm/urdf/b.stl",
    "package://parts/e.stl": "ws/arm/urdf/parts/e.stl",
}
AROUND = {
    "package://arm/meshes/a.stl": "ws/arm/meshes/a.stl",
    "package:///arm/meshes/a.stl": "ws/arm/meshes/a.stl",
    "model://arm/meshes/a.stl": "ws/arm/meshes/a.stl",
    "package://arm/meshes/../urdf/b.stl": "ws/arm/urdf/b.stl",
    "package://ws/other/meshes/c.stl": "ws/other/meshes/c.stl",
    "package://arm/../other/meshes/c.stl": "ws/other/meshes/c.stl",
    "../meshes/a.stl": "ws/arm/meshes/a.stl",
    "../../../secret/d.stl": "secret/d.stl",
}


@pytest.mark.parametrize("name", [*OWN, *AROUND])
def test_meshes_that_are_found(package: Path, name: str) -> None:
    file = (OWN | AROUND)[name]
    found = find(package, name)
    assert isinstance(found, MeshFile)
    assert Path(found.path) == package / file
    assert real(found) == (package / file).resolve()


@pytest.mark.parametrize("name", [*OWN, *AROUND])
def test_an_untrusted_file_finds_those_in_its_folder(package: Path, name: str) -> None:
    found = find(package, name, untrusted=True)
    assert isinstance(found, MeshFile) == (name in OWN)
    if isinstance(found, MeshFile):
        assert found.within == (str((package / "ws/arm/urdf").resolve()),)
        assert real(found) == (package / OWN[name]).resolve()


def test_no_name_of_a_folder_above_opens_it(package: Path) -> None:
    """Any of them: a file in /home/somebody/in could name package://home or package://somebody."""
    secret = package / "secret/d.stl"
    above = [folder for folder in secret.parents if folder in (package / "ws/arm/urdf").parents and folder.name]
    assert len(above) > 1
    for folder in above:
        for scheme in ("package", "model", "PACKAGE"):
            name = f"{scheme}://{folder.name}/{secret.relative_to(folder)}"
            assert isinstance(find(package, name), MeshFile)
            found = find(package, name, untrusted=True)
            assert isinstance(found, Undrawn)
            assert f"not found: pass allow={str(folder)!r} to jounce.load" in found.reason
            assert isinstance(find(package, name, folder, untrusted=True), MeshFile)
    for untrusted in (True, False):
        found = find(package, "package://nowhere/a.stl", untrusted=untrusted)
        assert isinstance(found, Undrawn)
        assert found.reason.endswith("with the folder 'nowhere', or with the one that it is in")


@pytest.mark.parametrize("untrusted", [False, True])
@pytest.mark.parametrize(
    ("name", "reason", "outside"),
    [
        ("package://other/meshes/c.stl", "'other', which was not found", False),
        ("package://urdf/no.stl", "does not exist", False),
        ("package://../../secret/d.stl", "not found", False),
        ("package://", "not found", False),
        ("/nowhere/passwd", "does not exist", True),
        ("file:///nowhere/passwd", "does not exist", True),
        ("../no.stl", "does not exist", True),
        ("\\\\server\\share\\a.stl", "does not exist", True),
        ("http://example.org/a.stl", "'http', which is not read", False),
        ("nul\0l.stl", "does not exist", False),
        ("x" * 5000, "does not exist", False),
    ],
)
def test_meshes_that_are_not(package: Path, name: str, reason: str, outside: bool, untrusted: bool) -> None:
    found = find(package, name, untrusted=untrusted)
    assert isinstance(found, Undrawn)
    assert ("is outside the folder of the file: pass allow=" if outside and untrusted else reason) in found.reason
    assert len(found.what) < 100


def test_folders_that_are_allowed(package: Path) -> None:
    for untrusted in (False, True):
        for folder in (package / "ws", package / "ws/other"):
            found = find(package, "package://other/meshes/c.stl", folder, untrusted=untrusted)
            assert isinstance(found, MeshFile)
            assert Path(found.path) == package / "ws/other/meshes/c.stl"
        secret = find(package, "../../../secret/d.stl", package / "secret", untrusted=untrusted)
        assert isinstance(secret, MeshFile)
    assert isinstance(MeshPaths(Folders(None)).find(str(package / "secret/d.stl")), Undrawn)
    assert isinstance(MeshPaths(Folders(None, [package / "secret"])).find("d.stl"), MeshFile)
    assert isinstance(MeshPaths(Folders(None, [package / "secret"])).find("../ws/arm/urdf/b.stl"), Undrawn)


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_links_must_not_lead_out(package: Path) -> None:
    (package / "ws/arm/urdf/link.stl").symlink_to(package / "secret/d.stl")
    (package / "ws/arm/urdf/fine.stl").symlink_to(package / "ws/arm/urdf/b.stl")
    (package / "ws/arm/urdf/folder").symlink_to(package / "secret")
    for name in ("link.stl", "folder/d.stl"):
        found = find(package, name, untrusted=True)
        assert isinstance(found, Undrawn)
        assert f"is outside the folder of the file: pass allow={str(package / 'secret')!r}" in found.reason
        with pytest.raises(OutsideError, match="secret"):
            real(MeshFile(str(package / "ws/arm/urdf" / name), (str(package / "ws/arm/urdf"),)))
        trusted = find(package, name)
        assert isinstance(trusted, MeshFile)
        assert real(trusted) == (package / "secret/d.stl").resolve()
    found = find(package, "fine.stl", untrusted=True)
    assert isinstance(found, MeshFile)
    assert real(found) == (package / "ws/arm/urdf/b.stl").resolve()


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_a_file_that_is_a_link_belongs_where_it_leads(package: Path) -> None:
    (package / "ws/arm/urdf/arm.urdf").write_text(urdf(mesh("package://arm/meshes/a.stl"), mesh("b.stl")))
    (package / "install").mkdir()
    (package / "install/arm.urdf").symlink_to(package / "ws/arm/urdf/arm.urdf")
    assert all(isinstance(v.shape, MeshFile) for v in of(package / "install/arm.urdf"))


# What a model carries


def test_visuals_travel_in_pickles_as_paths(package: Path) -> None:
    path = package / "ws/arm/urdf/arm.urdf"
    path.write_text(urdf(mesh("package://arm/meshes/a.stl")))
    robot = jn.load(path)
    path.unlink()  # it is not needed any more
    sent = pickle.dumps(robot)
    (visual,) = pickle.loads(sent).bodies[0].visuals
    assert isinstance(visual.shape, MeshFile)
    assert Path(visual.shape.path) == package / "ws/arm/meshes/a.stl"
    assert len(sent) < 3000
    assert pickle.dumps(pickle.loads(sent)) == sent


def test_the_working_directory_may_change(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (package / "ws/arm/urdf/arm.urdf").write_text(urdf(mesh("b.stl")))
    monkeypatch.chdir(package / "ws/arm/urdf")
    robot = jn.load("arm.urdf")
    monkeypatch.chdir("/")
    (visual,) = robot.bodies[0].visuals
    assert isinstance(visual.shape, MeshFile)
    assert Path(visual.shape.path).samefile(package / "ws/arm/urdf/b.stl")


def test_visuals_cannot_be_changed(mjcf: Path) -> None:
    pytest.importorskip("mujoco")
    robot = quietly(mjcf)
    visual = next(v for b in robot.bodies for v in b.visuals)
    with pytest.raises(AttributeError):
        visual.colour = None  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        visual.placement[0, 3] = 1.0
    shape = next(v.shape for b in robot.bodies for v in b.visuals if isinstance(v.shape, Triangles))
    with pytest.raises(ValueError, match="read-only"):
        shape.vertices[0, 0] = 1.0
    with pytest.raises(TypeError):
        robot.bodies[0].visuals[0] = visual  # type: ignore[index]


def test_loading_reads_no_mesh_and_costs_little(package: Path) -> None:
    """Visuals wait until one looks: a file that has them loads nearly as fast as one that has none."""
    link = """<link name="l{i}"> <inertial> <mass value="1"/> <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
      </inertial> {visual} </link>"""
    joint = """<joint name="j{i}" type="continuous"> <parent link="l{p}"/> <child link="l{i}"/> <axis xyz="0 0 1"/>
      <origin xyz="0 0 1" rpy="0 0.1 0"/> </joint>"""

    def text(visual: str) -> str:
        links = "".join(link.format(i=i, visual=visual) for i in range(60))
        return f"<robot>{links}{''.join(joint.format(i=i, p=i - 1) for i in range(1, 60))}</robot>"

    def best(source: str) -> float:
        times = []
        for _ in range(7):
            begin = time.process_time()
            jn.load(source)
            times.append(time.process_time() - begin)
        return min(times)

    clad = '<visual> <origin xyz="0 0 1" rpy="0 1 0"/> <geometry> <mesh filename="a.stl"/> </geometry> </visual>'
    bare, full = text(""), text(clad)
    assert len(jn.load(full).bodies[0].visuals) == 1
    ratio = min(best(full) / best(bare) for _ in range(5))
    assert ratio < 1.12  # 1.04 on a quiet machine, of which reading the longer file is a part
