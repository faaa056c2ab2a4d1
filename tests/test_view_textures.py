"""Pictures on shapes: where they come from, how they lie, what comes of those that are missing, and how they travel."""

from __future__ import annotations

import io
import pickle
import sys
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jounce as jn
from jounce.parts.texture import SIDES, NoPicture, Pattern, PictureFile, Pixels, Texture
from jounce.parts.visual import Box, Capsule, Cylinder, Ellipsoid, MeshFile, Sphere, Triangles, Visual

pytest.importorskip("viser")
trimesh = pytest.importorskip("trimesh")
images = pytest.importorskip("PIL.Image")
from jounce.view import ViewWarning, pictures  # noqa: E402
from jounce.view.glb import as_glb  # noqa: E402
from jounce.view.meshes import Part, coated, parts_of  # noqa: E402
from jounce.view.pictures import PictureError, mean_colour, packed, rows_of  # noqa: E402
from jounce.view.textures import Coat  # noqa: E402

PAINTS = ((230, 20, 20), (20, 230, 20), (20, 20, 230), (230, 230, 20), (20, 230, 230), (230, 20, 230))
COLOURS = dict(zip(SIDES, PAINTS, strict=True))
SHAPES = (
    Box((0.6, 0.4, 0.8)),
    Sphere(0.3),
    Ellipsoid((0.3, 0.2, 0.5)),
    Cylinder(0.2, 0.9),
    Capsule(0.2, 0.6),
)


@pytest.fixture(autouse=True)
def others_may_warn() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        warnings.simplefilter("ignore", jn.LoadWarning)
        yield


def smooth(width: int = 64, height: int = 48) -> np.ndarray:
    """Red grows to the right, green upwards; blue tells the middle."""
    u, v = np.meshgrid((np.arange(width) + 0.5) / width, 1 - (np.arange(height) + 0.5) / height)
    return np.stack([255 * u, 255 * v, 0 * u + 90], axis=-1).round().astype(np.uint8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    images.fromarray(smooth()).save(tmp_path / "smooth.png")
    for side, colour in COLOURS.items():
        rows = smooth(32, 32) // 4
        rows[:] = rows + np.array(colour, dtype=np.uint8) * 0.7
        images.fromarray(rows).save(tmp_path / f"{side}.png")
    cells = np.zeros((96, 128, 3), dtype=np.uint8)
    for k, letter in enumerate(".U..LFRB.D.."):
        for side in SIDES:
            if side[0].upper() == letter and side != "back":
                i, j = divmod(k, 4)
                cells[32 * i : 32 * i + 32, 32 * j : 32 * j + 32] = np.asarray(images.open(tmp_path / f"{side}.png"))
    images.fromarray(cells).save(tmp_path / "cells.png")
    return tmp_path


def glb(part: Part) -> bytes:
    assert part.wrap is not None
    return as_glb(part.vertices, part.faces, part.wrap.normals, part.wrap.uv, part.wrap.picture)


def drawn(part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points on a surface as it is sent, their normals, and the colours (0 to 255) of the picture there."""
    assert part.wrap is not None
    mesh = trimesh.load(io.BytesIO(glb(part)), file_type="glb", force="mesh")
    picture = np.asarray(mesh.visual.material.baseColorTexture.convert("RGB"), dtype=float)
    share = np.array([0.2, 0.3, 0.5])
    points, uv = (np.einsum("fij,i->fj", np.asarray(x)[mesh.faces], share) for x in (mesh.vertices, mesh.visual.uv))
    rows = ((1 - uv[:, 1]) % 1 * picture.shape[0]).astype(int) % picture.shape[0]
    columns = (uv[:, 0] % 1 * picture.shape[1]).astype(int) % picture.shape[1]
    return points, np.asarray(mesh.face_normals), picture[rows, columns]


# How they lie


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("uniform", [False, True])
def test_cubes_are_seen_from_the_middle(folder: Path, shape: Any, uniform: bool) -> None:
    """A ray from the middle through the point, scaled to the unit shape unless it is uniform, meets the side of a cube:
    the colour there is what OpenGL's table says."""
    files = tuple(PictureFile(str(folder / f"{side}.png"), (str(folder),)) for side in SIDES)
    points, normals, colours = drawn(coated(shape, Coat(Texture(files, True, uniform=uniform), None)))
    assert (np.einsum("ij,ij->i", points, normals) > 0).all()  # they look outwards
    sides = rows_of(Texture(files, True))
    wrong = 0
    for point, colour in zip(points, colours, strict=True):
        ray = point / unit_size(shape)
        if isinstance(shape, Capsule) and abs(point[2]) > shape.length / 2:
            end = np.sign(point[2])
            ray[2] = end * (1 + (abs(point[2]) - shape.length / 2) / shape.radius)
        if uniform:
            ray = ray * unit_size(shape)
        k = int(np.abs(ray).argmax())
        x, y, z = ray
        side = 2 * k + (ray[k] < 0)
        s, t = ((-z, -y), (z, -y), (x, z), (x, -z), (x, -y), (-x, -y))[side]  # of GL_TEXTURE_CUBE_MAP
        s, t = (s / abs(ray[k]) + 1) / 2, (t / abs(ray[k]) + 1) / 2
        expected = sides[side][min(int(32 * t), 31), min(int(32 * s), 31)]
        wrong += np.abs(expected - colour).max() > 25
    assert wrong <= 0.02 * len(points)


def unit_size(shape: Any) -> np.ndarray:
    if isinstance(shape, Box):
        return np.array(shape.size) / 2
    if isinstance(shape, Ellipsoid):
        return np.array(shape.radii)
    if isinstance(shape, Sphere):
        return np.full(3, shape.radius)
    return np.array([shape.radius, shape.radius, shape.length / 2])


def flat_place(shape: Any, point: np.ndarray, normal: np.ndarray) -> tuple[float, float]:
    """Where a point is on the picture, from the upper left: the coordinates that MuJoCo gives to its shapes."""
    x, y, z = point / unit_size(shape)
    turn = np.arctan2(y, x) / (2 * np.pi) % 1
    if isinstance(shape, Box):
        a, b = [c for k, c in enumerate((x, y, z)) if k != int(np.abs(normal).argmax())]
        return (a + 1) / 2, 1 - (b + 1) / 2
    if isinstance(shape, (Sphere, Ellipsoid)):
        return turn, 0.5 - np.arcsin(np.clip(z / np.linalg.norm([x, y, z]), -1, 1)) / np.pi
    if isinstance(shape, Cylinder):
        return ((x + 1) / 2, (y + 1) / 2) if abs(normal[2]) > 0.9 else (turn, (1 - z) / 2)
    beyond = abs(point[2]) - shape.length / 2
    if beyond <= 1e-6:
        return turn, (1 - z) / 2
    rise = np.arctan2(beyond, np.hypot(*point[:2])) / (np.pi / 2)
    return turn, 1 - rise if point[2] > 0 else rise


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize(("repeat", "uniform"), [((1.0, 1.0), False), ((3.0, 2.0), False), ((2.0, 4.0), True)])
def test_pictures_go_around_shapes(shape: Any, repeat: tuple[float, float], uniform: bool) -> None:
    texture = Texture((Pixels("p", smooth()),), repeat=repeat, uniform=uniform)
    points, normals, colours = drawn(coated(shape, Coat(texture, None)))
    often = np.array(repeat) * (unit_size(shape)[:2] if uniform else 1.0)
    places = np.array([flat_place(shape, *pair) for pair in zip(points, normals, strict=True)]) * often
    expected = np.stack([255 * (places[:, 0] % 1), 255 * (1 - places[:, 1] % 1), 0 * places[:, 0] + 90], axis=1)
    near = np.abs(expected - colours)
    near = np.minimum(near, 255 - near)  # on either side of a seam
    assert np.quantile(near.max(axis=1), 0.97) < 16


def test_pictures_on_meshes_without_coordinates_cover_their_extent(tmp_path: Path) -> None:
    trimesh.creation.box((0.4, 0.6, 0.2)).apply_translation((1.0, 2.0, 3.0)).export(tmp_path / "b.stl")
    mesh = MeshFile(str(tmp_path / "b.stl"), (str(tmp_path),))
    (part,) = parts_of(mesh, Coat(Texture((Pixels("p", smooth()),)), None))
    points, normals, colours = drawn(part)
    top = normals[:, 2] > 0.9
    assert np.allclose(colours[top, 0], 255 * ((points[top, 0] - 1) / 0.4 + 0.5), atol=6)
    assert np.allclose(colours[top, 1], 255 * ((points[top, 1] - 2) / 0.6 + 0.5), atol=6)


def test_a_colour_tints_a_picture_as_in_mujoco() -> None:
    rows = smooth()
    tinted = Coat(Texture((Pixels("p", rows),)), (0.5, 1.0, 0.0, 1.0))
    assert tinted.colour == pytest.approx(mean_colour((rows * [0.5, 1.0, 0.0]).astype(np.uint8)), abs=0.01)
    plain = Coat(Texture((Pixels("p", rows),), tinted=False), (0.5, 1.0, 0.0, 1.0))
    assert plain.colour == pytest.approx(mean_colour(rows))


@pytest.mark.parametrize("cube", [False, True])
def test_shapes_without_volume_or_of_any_size_do_no_harm(cube: bool) -> None:
    coat = Coat(Texture((Pattern("checker", (8, 8), (1, 0, 0), (0, 1, 0)),), cube), None)
    for shape in (Box((0, 0, 0)), Box((1, 0, 0)), Sphere(0.0), Sphere(1e30), Capsule(1e-320, 1.0), Cylinder(0.0, 0.0)):
        assert glb(coated(shape, coat)).startswith(b"glTF")


# What they are


@pytest.mark.parametrize("kind", ["checker", "gradient", "flat"])
@pytest.mark.parametrize("mark", ["none", "edge", "cross"])
def test_patterns_are_mujocos(kind: str, mark: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    for form, width, height in (("2d", 31, 20), ("cube", 17, 17)):
        model = mujoco.MjModel.from_xml_string(
            f"""<mujoco> <asset> <texture name="t" type="{form}" builtin="{kind}" mark="{mark}" width="{width}"
            height="{height}" rgb1="0.1 0.55 0.9" rgb2="1 0.3 0.2" markrgb="0.2 0.9 0.1"/> </asset> </mujoco>"""
        )
        peer = np.array(model.tex_data).reshape(-1, width, 3).astype(int)
        pattern = Pattern(kind, (width, height), (0.1, 0.55, 0.9), (1.0, 0.3, 0.2), mark, (0.2, 0.9, 0.1))
        own = rows_of(Texture((pattern,), form == "cube"))
        assert np.abs(np.concatenate(own) - peer if form == "cube" else own - peer).max() <= 1


def test_random_marks_are_as_many_as_they_should_be() -> None:
    rows = rows_of(Texture((Pattern("flat", (200, 200), (1, 1, 1), (1, 1, 1), "random", density=0.05),)))
    assert isinstance(rows, np.ndarray)
    assert (rows == 0).all(axis=-1).mean() == pytest.approx(0.05, abs=0.01)


def test_a_pattern_is_never_huge() -> None:
    assert max(rows_of(Texture((Pattern("checker", (10**6, 10**6), (1, 1, 1), (0, 0, 0)),))).shape) <= 512  # type: ignore[union-attr]


MATERIALS = """
  <texture name="flat" type="2d" file="smooth.png" hflip="true"/>
  <texture name="down" type="2d" file="smooth.png" vflip="true"/>
  <texture name="board" type="2d" builtin="checker" width="8" height="6" rgb1="0.1 0.2 0.3" rgb2="0.9 0.8 0.7"/>
  <texture name="six" fileright="right.png" fileleft="left.png" fileup="up.png" filefront="front.png" rgb1="0 1 0"/>
  <texture name="one" type="cube" file="up.png"/> <texture name="sky" type="skybox" builtin="gradient" width="4"/>
  <texture name="cells" type="cube" file="cells.png" gridsize="3 4" gridlayout=".U..LFR..D.." rgb1="0.2 0.4 0.6"/>
  <texture name="unused" type="2d" file="smooth.png"/>"""
NAMES = ("flat", "down", "board", "six", "one", "sky", "cells")


@pytest.fixture
def mjcf(folder: Path) -> Path:
    (folder / "pictures").mkdir()
    for file in folder.glob("*.png"):
        file.rename(folder / "pictures" / file.name)
    materials = "".join(
        f'<material name="{name}" texture="{name}" texrepeat="{i + 1} 2" texuniform="{str(i % 2 == 0).lower()}"/>'
        for i, name in enumerate(NAMES)
    )
    geoms = "".join(f'<geom type="box" size="0.1 0.2 0.3" material="{name}"/>' for name in NAMES)
    mesh = """<mesh name="tri" vertex="0 0 0  1 0 0  0 1 0  0 0 1" face="0 2 1  0 1 3  0 3 2  1 2 3"
      texcoord="0 0  1 0  0 1  0.5 0.5"/>"""
    text = f"""<mujoco> <compiler texturedir="pictures"/> <asset> {MATERIALS} {materials} {mesh} </asset>
      <worldbody> {geoms} <body name="b"> <joint/> <geom type="mesh" mesh="tri" material="flat" rgba="1 0 0 1"/>
      <geom type="sphere" size="0.1" rgba="0 0 1 1"/> </body> </worldbody> </mujoco>"""
    (folder / "scene.xml").write_text(text)
    return folder / "scene.xml"


def test_textures_of_mjcf_are_those_that_mujoco_compiles(mjcf: Path) -> None:
    """Of a file, of a model and of a spec: the pictures, how often they are repeated, and the texture coordinates."""
    mujoco = pytest.importorskip("mujoco")
    robot, model = jn.load(mjcf), jn.load(mujoco.MjModel.from_xml_path(str(mjcf)))
    spec = jn.load(mujoco.MjSpec.from_file(str(mjcf)))
    assert len(robot.scenery) == len(NAMES)
    for other in (model, spec):
        for own, peer in zip(robot.scenery, other.scenery, strict=True):
            assert own.texture is not None
            assert peer.texture is not None
            assert isinstance(peer.texture.pictures[0], Pixels)
            assert np.array_equal(np.array(rows_of(own.texture)), np.array(rows_of(peer.texture)))
            for key in ("repeat", "uniform", "cube", "tinted"):
                assert getattr(own.texture, key) == getattr(peer.texture, key)
    (own, plain), (peer, _) = robot.bodies[0].visuals, model.bodies[0].visuals
    assert plain.texture is None
    assert own.texture is not None
    assert own.colour == peer.colour == (1.0, 0.0, 0.0, 1.0)
    for visual in (own, peer):
        assert isinstance(visual.shape, Triangles)
        assert visual.shape.uv is not None
        for corner, place in (((0, 0, 0), (0, 1)), ((1, 0, 0), (1, 1)), ((0, 1, 0), (0, 0)), ((0, 0, 1), (0.5, 0.5))):
            at = np.linalg.norm(visual.shape.vertices - corner, axis=1) < 1e-6
            assert at.any()
            assert np.allclose(visual.shape.uv[at], place)


def test_loading_reads_no_picture(mjcf: Path) -> None:
    pytest.importorskip("mujoco")
    for file in (mjcf.parent / "pictures").glob("*.png"):
        file.write_bytes(b"no picture")
    robot = jn.load(mjcf)
    assert robot.scenery[0].texture is not None
    with pytest.raises(PictureError, match=r"smooth.png is not a picture that can be read"):
        rows_of(robot.scenery[0].texture)


URDF = """<robot name="r"> <material name="wood"> <texture filename="{}"/> </material>
  <link name="a"> <visual> <geometry> <box size="1 1 1"/> </geometry> <material name="wood"/> </visual>
    <visual> <geometry> <sphere radius="1"/> </geometry> <material name="own"> <color rgba="1 0 0 1"/>
      <texture filename="smooth.png"/> </material> </visual>
    <visual> <geometry> <mesh filename="t.stl"/> </geometry> <material name="wood"/> </visual>
    <visual> <geometry> <mesh filename="t.obj"/> </geometry> <material name="wood"/> </visual>
    <visual> <geometry> <sphere radius="1"/> </geometry> </visual> </link> </robot>"""
COLOURED = "mtllib m.mtl\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"


@pytest.fixture
def urdf(folder: Path) -> Path:
    trimesh.creation.box().export(folder / "t.stl")
    (folder / "t.obj").write_text(COLOURED)
    (folder / "r.urdf").write_text(URDF.format("smooth.png"))
    return folder / "r.urdf"


def test_textures_of_urdf(urdf: Path) -> None:
    robot = jn.load(urdf)
    box, sphere, stl, obj, plain = robot.bodies[0].visuals
    assert plain.texture is None
    file = PictureFile(str(urdf.parent / "smooth.png"), None)
    assert box.texture == sphere.texture == stl.texture == obj.texture == Texture((file,), tinted=False)
    assert sphere.colour == (1.0, 0.0, 0.0, 1.0)
    assert obj.texture is not None
    coat = Coat(obj.texture, obj.colour)
    for mesh in (stl.shape, obj.shape):  # without colours of their own
        assert isinstance(mesh, MeshFile)
        (part,) = parts_of(mesh, coat)
        assert part.wrap is not None
    points, _, colours = drawn(part)
    assert np.allclose(colours[:, :2], 255 * points[:, :2], atol=6)  # by the coordinates of the OBJ
    (urdf.parent / "m.mtl").write_text("newmtl a\nKd 1 0 0\n")
    assert isinstance(obj.shape, MeshFile)
    (part,) = parts_of(obj.shape, coat)  # which come first
    assert part.wrap is None
    assert part.colour == pytest.approx((1.0, 0.0, 0.0, 1.0), abs=0.01)
    (part,) = parts_of(obj.shape, Coat(Texture(obj.texture.pictures), None))  # of MuJoCo
    assert part.wrap is not None


def test_all_are_drawn_and_a_painted_robot_has_none(urdf: Path, tmp_path: Path) -> None:
    robot = jn.load(urdf)

    def messages(**options: Any) -> list[str]:
        with robot.show(**options) as viewer:
            return [type(h).__name__ for n, h in viewer._server.scene._handle_from_node_name.items() if "/a/" in n]

    assert messages() == ["GlbHandle"] * 4 + ["IcosphereHandle"]
    assert "GlbHandle" not in messages(colour="#ff0000")
    assert "GlbHandle" not in messages(opacity=0.5)
    robot.show(save=tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 0


# What is missing


def promises(path: Path, width: int) -> None:
    """Writes a PNG of which the header promises width x width pixels."""
    rows = io.BytesIO()
    images.new("L", (1, 1)).save(rows, format="PNG")
    content = rows.getvalue()
    head = b"IHDR" + width.to_bytes(4, "big") * 2 + content[24:29]
    path.write_bytes(content[:12] + head + zlib.crc32(head).to_bytes(4, "big") + content[33:])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone.png", "gone.png does not exist"),
        ("../other/p.png", "p.png does not exist"),
        ("package://nowhere/p.png", "package 'nowhere', which was not found"),
        ("http://example.org/p.png", "has an address of type 'http'"),
        ("broken.png", "broken.png is not a picture that can be read"),
        ("text.png", "text.png is not a picture that can be read"),
        ("huge.png", "has more than the 50,000,000 pixels"),
        ("large.png", "has more than the 50,000,000 pixels"),
        ("long.png", "long.png .* MB"),
    ],
)
def test_pictures_that_cannot_be_drawn_are_named(
    urdf: Path, monkeypatch: pytest.MonkeyPatch, name: str, reason: str
) -> None:
    """And what they would be on is drawn without them."""
    monkeypatch.setattr(pictures, "MAX_BYTES", 100_000)
    (urdf.parent / "text.png").write_text("no picture")
    (urdf.parent / "broken.png").write_bytes((urdf.parent / "smooth.png").read_bytes()[:100])
    (urdf.parent / "long.png").write_bytes((urdf.parent / "smooth.png").read_bytes() + bytes(200_000))
    promises(urdf.parent / "huge.png", 60_000)
    promises(urdf.parent / "large.png", 7_100)
    urdf.write_text(URDF.format(name))
    robot = jn.load(urdf)
    with pytest.warns(ViewWarning, match=reason) as heard, robot.show() as viewer:
        found = [type(h).__name__ for n, h in viewer._server.scene._handle_from_node_name.items() if "/a/" in n]
    assert len([w for w in heard if issubclass(w.category, ViewWarning)]) == 1
    assert found == ["BoxHandle", "GlbHandle", "MeshHandle", "MeshHandle", "IcosphereHandle"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_links_must_not_lead_out(urdf: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "p.png"
    outside.write_bytes((urdf.parent / "smooth.png").read_bytes())
    (urdf.parent / "link.png").symlink_to(outside)
    urdf.write_text(URDF.format("link.png"))
    (first, *_) = jn.load(urdf, untrusted=True).bodies[0].visuals
    assert first.texture is not None
    with pytest.raises(PictureError, match=r"link\.png is outside the folder of the file: pass allow=.*outside"):
        rows_of(first.texture)
    for options in ({}, {"allow": outside.parent, "untrusted": True}):
        (first, *_) = jn.load(urdf, **options).bodies[0].visuals
        assert first.texture is not None
        assert rows_of(first.texture)[0].size


def test_textures_of_mjcf_stay_in_their_folders(mjcf: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("mujoco")
    outside = tmp_path_factory.mktemp("outside")
    images.fromarray(smooth()).save(outside / "p.png")
    for name, allow, kind in ((f"../../{outside.name}/p.png", (), NoPicture), (str(outside / "p.png"), (), NoPicture),
                              (str(outside / "p.png"), outside, PictureFile)):  # fmt: skip
        text = mjcf.read_text().replace('"smooth.png" hflip', f'"{name}" hflip')
        (mjcf.parent / "other.xml").write_text(text)
        texture = jn.load(mjcf.parent / "other.xml", allow=allow, untrusted=True).scenery[0].texture
        assert texture is not None
        assert isinstance(texture.pictures[0], kind)
    text = jn.load(mjcf.read_text()).scenery[0].texture  # without a folder
    assert text is not None
    assert text.pictures[0] == NoPicture(
        "smooth.png", "is in no folder that is read: pass allow= to jounce.load with the folder that it is in"
    )


@pytest.mark.parametrize(
    "texture",
    [
        'type="2d" builtin="checker" width="x" height="-3" rgb1="1 2"',
        'type="2d" builtin="checker" width="1e300" height="nan" rgb1="nan 0 inf"',
        'builtin="gradient" width="0" mark="nothing"',
        'file="up.png" gridsize="0 -1" gridlayout="ZZ"',
        'file="up.png" gridsize="12 12" gridlayout="RL"',
        'type="2d"',
        "",
    ],
)
def test_odd_textures_do_no_harm(mjcf: Path, texture: str) -> None:
    """MuJoCo, which never sees them, would refuse most."""
    pytest.importorskip("mujoco")
    text = f"""<mujoco> <compiler texturedir="pictures"/> <asset> <texture name="t" {texture}/> <material name="m"
      texture="t" texrepeat="0 -1"/> </asset> <worldbody> <geom type="box" size="1 1 1" material="m"/> <body> <joint/>
      <geom size="1"/> </body> </worldbody> </mujoco>"""
    (mjcf.parent / "odd.xml").write_text(text)
    robot = jn.load(mjcf.parent / "odd.xml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ViewWarning)
        robot.show().close()


# How they travel


def test_pictures_travel_in_pickles_as_paths(mjcf: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    robot = jn.load(mjcf)
    packed_up = pickle.dumps(robot)
    assert len(packed_up) < 12_000
    again = pickle.loads(packed_up)
    for own, other in zip(robot.scenery, again.scenery, strict=True):
        assert own.texture == other.texture
    model = pickle.loads(pickle.dumps(jn.load(mujoco.MjModel.from_xml_path(str(mjcf)))))
    for own, other in zip(robot.scenery, model.scenery, strict=True):
        assert own.texture is not None
        assert other.texture is not None
        assert np.array_equal(np.array(rows_of(own.texture)), np.array(rows_of(other.texture)))


def test_pictures_stay_on_robots_made_from_robots(urdf: Path) -> None:
    cart = jn.Builder()
    cart.add("cart", "world", jn.Prismatic(axis=(1, 0, 0)), inertia=jn.Inertia(1.0))
    both = cart.build().attach(jn.load(urdf), "cart", prefix="top_")
    textures = [v.texture for b in both.bodies for v in b.visuals]
    assert sum(texture is not None for texture in textures) == 4


def test_mjcf_is_written_with_textures(mjcf: Path, tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    robot = jn.load(mjcf)
    robot.to_mjcf(mjcf.parent / "again.xml")
    again = jn.load(mjcf.parent / "again.xml")
    for own, other in zip(robot.scenery, again.scenery, strict=True):
        assert own.texture == other.texture
        assert own.colour == other.colour
    model = jn.load(mujoco.MjModel.from_xml_path(str(mjcf.parent / "again.xml")))
    for own, other in zip(robot.scenery, model.scenery, strict=True):
        assert own.texture is not None
        assert other.texture is not None
        assert np.array_equal(np.array(rows_of(own.texture)), np.array(rows_of(other.texture)))
    with pytest.warns(jn.SaveWarning, match=r"texture of 'world'.*MJCF has pictures in files only"):
        model.to_mjcf()


def test_urdf_is_written_with_textures(urdf: Path) -> None:
    pytest.importorskip("mujoco")
    robot = jn.load(urdf)
    robot.to_urdf(urdf.parent / "again.urdf")
    again = jn.load(urdf.parent / "again.urdf")
    assert [v.texture for v in again.bodies[0].visuals] == [v.texture for v in robot.bodies[0].visuals]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.SaveWarning)
        robot.to_mjcf(urdf.parent / "again.xml")
    peer = [v.texture for v in jn.load(urdf.parent / "again.xml").bodies[0].visuals]
    assert [None if t is None else t.pictures for t in peer] == [
        None if v.texture is None else v.texture.pictures for v in robot.bodies[0].visuals
    ]


def test_what_urdf_cannot_say_of_textures_is_mentioned(mjcf: Path) -> None:
    pytest.importorskip("mujoco")
    with pytest.warns(jn.SaveWarning, match="URDF has no such textures"):
        jn.load(mjcf).to_urdf()


def test_pictures_cannot_be_changed() -> None:
    rows = smooth()
    pixels = Pixels("p", rows)
    rows[:] = 0
    assert pixels.rows.any()
    with pytest.raises(ValueError, match="read-only"):
        pixels.rows[0] = 0
    copy = pickle.loads(pickle.dumps(Visual(Sphere(1.0), np.eye(4), None, Texture((pixels,)))))
    assert np.array_equal(copy.texture.pictures[0].rows, pixels.rows)


def test_what_is_sent_is_small() -> None:
    """A board of two colours as PNG, a photograph as JPEG."""
    board = rows_of(Texture((Pattern("checker", (512, 512), (0, 0, 0), (1, 1, 1)),)))
    assert isinstance(board, np.ndarray)
    assert packed(board).startswith(b"\x89PNG")
    noise = np.random.default_rng(0).integers(0, 256, (256, 256, 3)).astype(np.uint8)
    assert packed(noise).startswith(b"\xff\xd8")
    assert len(packed(board)) < 3000


def test_a_grid_that_is_finer_than_its_picture(tmp_path: Path) -> None:
    images.fromarray(np.zeros((1, 1, 3), dtype=np.uint8)).save(tmp_path / "tiny.png")
    (tmp_path / "robot.xml").write_text("""<mujoco> <asset> <texture name="t" type="cube" file="tiny.png" gridsize="3 4"
        gridlayout=".U..LFRB.D.."/> <material name="m" texture="t"/> </asset> <worldbody> <body> <joint/>
        <geom type="box" size="1 1 1" material="m" contype="0" conaffinity="0"/> </body> </worldbody> </mujoco>""")
    robot = jn.load(tmp_path / "robot.xml")
    with pytest.warns(ViewWarning, match=r"tiny\.png has fewer pixels than its grid of 3 x 4 asks for"):
        robot.show().close()


def test_a_picture_that_is_not_tinted_is_packed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images.fromarray(smooth()).save(tmp_path / "wood.png")
    shapes = "".join(
        f"""<visual> <geometry> <box size="1 1 1"/> </geometry> <material name="m{i}"> <color rgba="0.{i} 0 0 1"/>
        <texture filename="wood.png"/> </material> </visual>"""
        for i in range(5)
    )
    (tmp_path / "robot.urdf").write_text(f'<robot name="r"> <link name="a"> {shapes} </link> </robot>')
    made = []
    monkeypatch.setattr("jounce.view.scene.Coat", lambda *given: made.append(given) or Coat(*given))
    jn.load(tmp_path / "robot.urdf").show().close()
    assert len(made) == 1


def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often pictures are decoded, patterns made, and either packed, from now on."""
    calls: dict[str, int] = {}

    def note(place: str, name: str) -> None:
        module = sys.modules[f"jounce.view.{place}"]
        made = getattr(module, name)

        def call(*given: Any) -> Any:
            calls[name] = calls.get(name, 0) + 1
            return made(*given)

        monkeypatch.setattr(module, name, call)

    note("textures", "packed")
    for name in ("as_rows", "pattern_rows", "pattern_sides", "packed"):
        note("pictures", name)
    return calls


def scene_of(folder: Path, textures: str, materials: list[str]) -> jn.Model:
    """A robot with a ball for each material."""
    assets = "".join(f'<material name="m{i}" {said}/>' for i, said in enumerate(materials))
    balls = "".join(f'<geom size="0.1" pos="{i} 0 0" material="m{i}"/>' for i in range(len(materials)))
    body = f"<body> <joint/> {balls} </body>"
    (folder / "many.xml").write_text(
        f"<mujoco> <asset> {textures} {assets} </asset> <worldbody> {body} </worldbody> </mujoco>"
    )
    return jn.load(folder / "many.xml")


def test_a_picture_is_decoded_once_however_often_it_is_repeated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    flat = (
        '<texture name="t" type="2d" file="smooth.png"/> <texture name="u" type="2d" file="smooth.png" hflip="true"/>'
    )
    flat += '<texture name="c" type="cube" file="smooth.png"/>'
    repeats = [f'texture="t" texrepeat="{i} 1"' for i in range(1, 9)]
    robot = scene_of(
        folder, flat, [*repeats, *(f'{said} texuniform="true"' for said in repeats), 'texture="u"', 'texture="c"']
    )
    robot.show().close()
    assert calls == {"as_rows": 1, "packed": 3}  # as it is, turned, and on a cube
    calls.clear()
    scene_of(folder, flat, [f'texture="t" rgba="1 0.{i} 1 1"' for i in (2, 2, 3, 3)]).show().close()
    assert calls == {"as_rows": 1, "packed": 2}  # in two colours


def test_a_pattern_is_made_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    said = 'builtin="gradient" width="64" height="64" rgb1="1 0 0"'
    textures = "".join(
        f'<texture name="a{i}" type="2d" {said}/> <texture name="b{i}" type="cube" {said}/>' for i in range(10)
    )
    robot = scene_of(
        folder, textures, [f'texture="{kind}{i}" texrepeat="{i + 1} 1"' for i in range(10) for kind in "ab"]
    )
    robot.show().close()
    assert calls == {"pattern_rows": 1, "pattern_sides": 1, "packed": 2}


def test_pictures_of_a_robot_have_so_many_pixels(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    images.fromarray(smooth()[:, ::-1]).save(folder / "other.png")
    size = smooth().shape[0] * smooth().shape[1]
    monkeypatch.setattr(pictures, "MAX_ALL_PIXELS", 3 * size)  # decoded and sent, and decoded
    textures = '<texture name="s" type="2d" file="smooth.png"/> <texture name="o" type="2d" file="other.png"/>'
    textures += '<texture name="p" type="2d" builtin="checker" width="4096" height="4096"/>'
    robot = scene_of(folder, textures, ['texture="s"', 'texture="o"', 'texture="p"', 'texture="s" texrepeat="2 2"'])
    with pytest.warns(
        ViewWarning, match=r"other\.png has too many pixels: with those before it, more than the 9,216"
    ) as heard:
        robot.show().close()
    assert "a pattern has too many pixels" in str(heard[0].message)
    assert calls == {"as_rows": 2, "packed": 1}
    robot.show(colour="#ff0000").close()  # of a painted robot there are none


def test_150_large_patterns_are_few_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not made."""
    made: list[Pattern] = []
    monkeypatch.setattr(pictures, "pattern_rows", lambda given: made.append(given) or np.zeros((4, 4, 3), np.uint8))
    several = pictures.Pictures()
    for i in range(150):
        several.rows(Pattern("gradient", (4096, 4096), (0, 0, i / 200), (1, 1, 1)))
    assert len(made) == 150
    assert pictures.MAX_ALL_PIXELS - several._left == 150 * 512**2


def test_a_picture_on_a_mesh_of_many_sizes_is_packed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    images.fromarray(smooth()).save(tmp_path / "wood.png")
    (tmp_path / "a.mtl").write_text("newmtl wood\nmap_Kd wood.png\n")
    (tmp_path / "a.obj").write_text(
        "mtllib a.mtl\nusemtl wood\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"
    )
    shapes = "".join(
        f'<visual> <geometry> <mesh filename="a.obj" scale="{k} {k} {k}"/> </geometry> </visual>' for k in range(1, 6)
    )
    (tmp_path / "robot.urdf").write_text(f'<robot name="r"> <link name="a"> {shapes} </link> </robot>')
    jn.load(tmp_path / "robot.urdf").show().close()
    assert calls["packed"] == 1


def test_a_model_that_leaves_its_textures_in_their_files(tmp_path: Path) -> None:
    """MuJoCo 4 has no pixels of them then; showing such a model failed."""
    mujoco = pytest.importorskip("mujoco")
    if not hasattr(mujoco, "mjtPassthrough"):
        pytest.skip("needs MuJoCo 4")
    images = pytest.importorskip("PIL.Image")
    images.new("RGB", (8, 8), (200, 0, 0)).save(tmp_path / "a.png")
    text = f"""<mujoco> <compiler passthrough="textures"/>
      <asset> <texture name="red" type="2d" file="{tmp_path}/a.png"/> <material name="m" texture="red"/> </asset>
      <worldbody> <body> <joint/> <geom size="1" material="m"/> </body> </worldbody> </mujoco>"""
    (tmp_path / "robot.xml").write_text(text)
    jn.load(tmp_path / "robot.xml").show(save=tmp_path / "page.html")
    robot = jn.load(mujoco.MjModel.from_xml_string(text))
    with pytest.warns(jn.view.ViewWarning, match="not shown: red has no pixels in the model$"):
        robot.show(save=tmp_path / "page.html")
