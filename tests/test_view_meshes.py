"""Meshes: what comes of files that are good, and the reason given for those that are not."""

from __future__ import annotations

import io
import os
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from jounce.view import MeshFile, Triangles
from jounce.view.creases import creased

trimesh = pytest.importorskip("trimesh")
from jounce.view import creases, mesh_files, mesh_parsing, meshes  # noqa: E402
from jounce.view.glb import as_glb  # noqa: E402
from jounce.view.mesh_parsing import MeshError  # noqa: E402
from jounce.view.meshes import Part, parts_of  # noqa: E402
from jounce.view.pictures import PictureError, checked_picture  # noqa: E402
from jounce.view.stl import binary_stl  # noqa: E402
from strangers import ROOF  # noqa: E402

TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0.2, 0.3, 1.5]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
DAE = """<?xml version="1.0"?> <COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset> <unit meter="{unit}" name="u"/> <up_axis>{up}</up_axis> </asset>
<library_effects> <effect id="e"> <profile_COMMON> {surface} <technique sid="t"> <lambert> <diffuse> {diffuse}
  </diffuse> </lambert> </technique> </profile_COMMON> </effect> </library_effects>
<library_materials> <material id="m"> <instance_effect url="#e"/> </material> </library_materials>
<library_geometries> <geometry id="g"> <mesh>
  <source id="p"> <float_array id="a" count="12">0 0 0 1 0 0 0 2 0 0.2 0.3 1.5</float_array> <technique_common>
    <accessor source="#a" count="4" stride="3"> <param name="X" type="float"/> <param name="Y" type="float"/>
    <param name="Z" type="float"/> </accessor> </technique_common> </source>
  <vertices id="v"> <input semantic="POSITION" source="#p"/> </vertices>
  <triangles material="s" count="4"> <input semantic="VERTEX" source="#v" offset="0"/>
    <p>0 2 1 0 1 3 0 3 2 1 2 3</p> </triangles> </mesh> </geometry> </library_geometries>
<library_visual_scenes> <visual_scene id="w"> <node> <matrix>1 0 0 10 0 1 0 0 0 0 1 0 0 0 0 1</matrix>
  <instance_geometry url="#g"> <bind_material> <technique_common> <instance_material symbol="s" target="#m"/>
  </technique_common> </bind_material> </instance_geometry> </node> </visual_scene> </library_visual_scenes>
<scene> <instance_visual_scene url="#w"/> </scene> </COLLADA>"""


def dae(unit: float = 1.0, up: str = "Z_UP", diffuse: str = "<color>1 0.2 0 1</color>", surface: str = "") -> str:
    return DAE.format(unit=unit, up=up, diffuse=diffuse, surface=surface)


def file(folder: Path, name: str, content: str | bytes) -> MeshFile:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return MeshFile(str(path), (str(folder),))


def no_files(name: str) -> bytes:
    raise MeshError("is not there")


def glb(part: Part) -> bytes:
    assert part.wrap is not None
    return as_glb(part.vertices, part.faces, part.wrap.normals, part.wrap.uv, part.wrap.picture)


def bounds(mesh: MeshFile, reader: mesh_files.MeshReader | None = None) -> np.ndarray:
    every = np.concatenate([part.vertices for part in parts_of(mesh, reader=reader)])
    return np.stack([every.min(axis=0), every.max(axis=0)])


def test_formats(tmp_path: Path) -> None:
    solid = trimesh.Trimesh(TETRAHEDRON, FACES, process=False)
    with mesh_files.MeshReader() as reader:
        for kind in ("stl", "obj", "ply", "off", "glb"):
            mesh = file(tmp_path, f"t.{kind}", solid.export(file_type=kind))
            assert np.allclose(bounds(mesh, reader), [[0, 0, 0], [1, 2, 1.5]], atol=1e-6), kind
            assert sum(len(part.faces) for part in parts_of(mesh, reader=reader)) == 4
    assert np.allclose(bounds(file(tmp_path, "T.STL", solid.export(file_type="stl"))), [[0, 0, 0], [1, 2, 1.5]])


@pytest.mark.parametrize("up", ["Z_UP", "Y_UP"])
def test_collada(tmp_path: Path, up: str) -> None:
    """The unit counts, the matrix of a node does, and which way is up does not: as RViz has it."""
    pytest.importorskip("collada")
    mesh = file(tmp_path, "t.dae", dae(0.5, up))
    assert np.allclose(bounds(mesh), [[5, 0, 0], [5.5, 1, 0.75]])
    (part,) = parts_of(mesh)
    assert part.colour == pytest.approx((1.0, 0.2, 0.0, 1.0), abs=0.01)


def test_collada_with_a_broken_material_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("collada")
    broken = dae(
        diffuse='<texture texture="nowhere"/>',
        surface='<newparam sid="nowhere"> <sampler2D> <source>gone</source> </sampler2D> </newparam>',
    )
    assert np.allclose(bounds(file(tmp_path, "t.dae", broken)), [[10, 0, 0], [11, 2, 1.5]])


def test_scale_and_mirror(tmp_path: Path) -> None:
    solid = trimesh.Trimesh(TETRAHEDRON, FACES, process=False)
    plain = file(tmp_path, "t.stl", solid.export(file_type="stl"))
    mirrored = MeshFile(plain.path, plain.within, (-1.0, 2.0, 3.0))
    assert np.allclose(bounds(mirrored), [[-1, 0, 0], [0, 4, 4.5]])
    for mesh, size in ((plain, 1.0), (mirrored, 6.0)):  # faces still look outwards: the volume is positive
        (part,) = parts_of(mesh)
        corners = part.vertices[part.faces].astype(float)
        volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
        assert volume == pytest.approx(size * 0.5, rel=1e-5)


def test_materials_of_an_obj_come_from_its_folder_alone(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    for folder in (inside, outside):
        (folder / "m.mtl").write_text("newmtl a\nKd 1 0 0\n")
    text = "mtllib {}\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    (red,) = parts_of(file(inside, "t.obj", text.format("m.mtl")))
    assert red.colour == pytest.approx((1.0, 0.0, 0.0, 1.0), abs=0.01)
    (inside / "m.mtl").unlink()
    for name in ("../out/m.mtl", str(outside / "m.mtl")):
        (plain,) = parts_of(file(inside, "t.obj", text.format(name)))
        assert plain.colour != red.colour


def test_pictures_on_meshes(tmp_path: Path) -> None:
    """A roof of two slopes, red on the left and blue on the right: the picture is on it, and the ridge stays sharp."""
    images = pytest.importorskip("PIL.Image")
    inside, outside = tmp_path / "in", tmp_path / "out"
    (inside / "pictures").mkdir(parents=True)
    outside.mkdir()
    colours = np.zeros((64, 2048, 3), dtype=np.uint8)
    colours[:, :1024, 0] = colours[:, 1024:, 2] = 255
    for place in (inside / "pictures" / "p.png", outside / "p.png"):
        images.fromarray(colours).save(place)
    roof = (
        "mtllib m.mtl\nusemtl a\nv 0 0 0\nv 0 1 0\nv 1 0 1\nv 1 1 1\nv 2 0 0\nv 2 1 0\n"
        "vt 0 0\nvt 0 1\nvt 0.5 0\nvt 0.5 1\nvt 1 0\nvt 1 1\n"
        "f 1/1 3/3 4/4\nf 1/1 4/4 2/2\nf 3/3 5/5 6/6\nf 3/3 6/6 4/4\n"
    )
    (inside / "m.mtl").write_text("newmtl a\nKd 1 1 1\nmap_Kd pictures/p.png\n")
    mesh = file(inside, "t.obj", roof)
    (part,) = parts_of(mesh)
    assert part.wrap is not None
    assert part.colour == pytest.approx((0.5, 0.0, 0.5, 1.0), abs=0.1)  # the mean, where it has to be one colour
    drawn = trimesh.load(io.BytesIO(glb(part)), file_type="glb", force="mesh")
    picture = np.asarray(drawn.visual.material.baseColorTexture.convert("RGB"), dtype=float)
    assert max(picture.shape) == 1024
    middle, uv = drawn.vertices[drawn.faces].mean(axis=1), drawn.visual.uv[drawn.faces].mean(axis=1)
    at = picture[((1 - uv[:, 1]) * picture.shape[0]).astype(int), (uv[:, 0] * picture.shape[1]).astype(int)]
    assert len(at) == 4
    for place, colour in zip(middle, at, strict=True):
        assert np.allclose(colour, [255, 0, 0] if place[0] < 1 else [0, 0, 255], atol=12)
    slope = np.sqrt(0.5) * np.where(drawn.vertices[drawn.faces].mean(axis=1)[:, :1] < 1, [[-1, 0, 1]], [[1, 0, 1]])
    assert np.allclose(drawn.vertex_normals[drawn.faces], slope[:, None], atol=1e-3)

    (inside / "m.mtl").write_text("newmtl a\nKd 1 1 1\nmap_Kd ../out/p.png\n")
    assert all(p.wrap is None for p in parts_of(mesh))  # outside
    (inside / "p.png").write_bytes(b"not a picture")
    assert all(p.wrap is None for p in parts_of(mesh))


def test_pictures_of_collada(tmp_path: Path) -> None:
    """The roof again: red below 1, blue above, lighter at the far end; from the folder of the file, or from none."""
    pytest.importorskip("collada")
    images = pytest.importorskip("PIL.Image")
    (tmp_path / "in" / "pictures").mkdir(parents=True)
    colours = np.zeros((64, 64, 3), dtype=np.uint8)
    colours[:, :32, 0] = colours[:, 32:, 2] = 200
    colours[:32] += 50  # the upper half
    images.fromarray(colours).save(tmp_path / "in" / "pictures" / "p.png")
    images.fromarray(colours).save(tmp_path / "out.png")
    for name in ("pictures/p.png", "./pictures/p.png", "file://pictures/p.png", "pictures\\p.png"):
        missing: dict[str, str] = {}
        (part,) = parts_of(file(tmp_path / "in", "t.dae", ROOF.format(picture=name)), missing=missing)
        assert not missing
        assert part.wrap is not None
        assert part.colour == pytest.approx((0.5, 0.1, 0.5, 1.0), abs=0.1)
        drawn = trimesh.load(io.BytesIO(glb(part)), file_type="glb", force="mesh")
        picture = np.asarray(drawn.visual.material.baseColorTexture.convert("RGB"), dtype=float)
        middle, uv = drawn.vertices[drawn.faces].mean(axis=1), drawn.visual.uv[drawn.faces].mean(axis=1)
        assert len(middle) == 4
        for (x, y, _), (u, v) in zip(middle, uv, strict=True):
            found = picture[int((1 - v) * len(picture)), int(u * len(picture))]
            light = 50 * (y > 0.5)
            assert np.allclose(found, [200 + light, light, light] if x < 1 else [light, light, 200 + light], atol=12)

    (tmp_path / "in" / "text.png").write_text("no picture")
    for name, reason in (
        ("gone.png", "does not exist"),
        ("../out.png", "outside the folders that may be read"),
        ("text.png", "is not a picture that can be read"),
    ):
        missing = {}
        (part,) = parts_of(file(tmp_path / "in", "t.dae", ROOF.format(picture=name)), missing=missing)
        assert part.wrap is None
        assert list(missing) == [name]
        assert reason in missing[name]


def test_an_obj_with_coordinates_but_without_materials_has_no_colour(tmp_path: Path) -> None:
    text = "{}v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"
    for head in ("", "mtllib gone.mtl\nusemtl a\n"):
        (part,) = parts_of(file(tmp_path, "t.obj", text.format(head)))
        assert part.colour is None
        assert part.wrap is None


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("t.stl", b"", "not a mesh that can be read|has no faces"),
        ("t.stl", b"no mesh at all, but a text that is long enough to be taken for one", "not a mesh|no faces"),
        ("t.stl", bytes(80) + b"\xff\xff\xff\xff" + bytes(50), "not a mesh that can be read|has no faces"),
        ("t.stl", b"version https://git-lfs.github.com/spec/v1", "Git LFS"),
        ("t.dae", b"<html/>", "not a mesh that can be read"),
        ("t.dae", b"<!DOCTYPE x [<!ENTITY a 'b'>]> <COLLADA/>", "document type"),
        ("t.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "without vertices|not a mesh that can be read"),
        ("t.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite"),
        ("t.obj", b"v 0 0 1e30\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite"),
        ("t.obj", b"v 0 0 0\n", "no faces|not a mesh that can be read"),
        ("t.glb", b"glTF" + bytes(20), "not a mesh that can be read"),
        ("t.mesh", b"anything", "of kind 'mesh'"),
        ("t", b"anything", "of kind ''"),
    ],
)
def test_what_is_no_mesh(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    with pytest.raises(MeshError, match=reason):
        parts_of(file(tmp_path, name, content))


def test_what_is_missing_or_huge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = file(tmp_path, "t.stl", trimesh.Trimesh(TETRAHEDRON, FACES).export(file_type="stl"))
    monkeypatch.setattr(meshes, "MAX_FACES", 3)
    with pytest.raises(MeshError, match="4 faces, more than the 3"):
        parts_of(mesh)
    monkeypatch.setattr(mesh_files, "MAX_BYTES", 100)
    with pytest.raises(MeshError, match="MB"):
        parts_of(mesh)
    Path(mesh.path).unlink()
    with pytest.raises(MeshError, match="No such file"):
        parts_of(mesh)


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
def test_links_and_pipes(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    file(tmp_path, "t.stl", trimesh.Trimesh(TETRAHEDRON, FACES).export(file_type="stl"))
    (tmp_path / "in" / "t.stl").symlink_to(tmp_path / "t.stl")
    with pytest.raises(MeshError, match="leads out"):
        parts_of(MeshFile(str(tmp_path / "in" / "t.stl"), (str(tmp_path / "in"),)))
    os.mkfifo(tmp_path / "in" / "pipe.stl")
    with pytest.raises(MeshError, match="a device or a pipe"):
        parts_of(MeshFile(str(tmp_path / "in" / "pipe.stl"), (str(tmp_path / "in"),)))


def test_triangles_without_a_file() -> None:
    (part,) = parts_of(Triangles("t", TETRAHEDRON.astype(np.float32), FACES.astype(np.int32)))
    assert part.faces.shape == (4, 3)
    with pytest.raises(MeshError, match="without vertices"):
        parts_of(Triangles("t", TETRAHEDRON.astype(np.float32), FACES.astype(np.int32) + 1))


def test_vertices_merge_where_they_are_the_same_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of rows is that of numbers made of them; rows of the same number are told apart all the same."""
    rng = np.random.default_rng(3)
    points = rng.integers(-2, 3, size=(400, 3)).astype(np.float32)
    for mix in (creases._MIX, np.zeros(3, dtype=np.uint64)):
        monkeypatch.setattr(creases, "_MIX", mix)
        places, joined = creases._merged(points)
        assert np.array_equal(places[joined], points)
        assert len(places) == len(np.unique(points, axis=0))


def test_binary_stl_is_read_as_trimesh_reads_it() -> None:
    content = trimesh.creation.icosphere(subdivisions=2).export(file_type="stl")
    peer = trimesh.load(io.BytesIO(content), file_type="stl", process=False)
    corners = binary_stl(content)
    assert corners is not None
    assert np.array_equal(corners, np.asarray(peer.vertices, dtype=np.float32)[peer.faces])
    assert binary_stl(content + b" ") is None
    assert binary_stl(content[:60]) is None
    assert binary_stl(trimesh.creation.box().export(file_type="stl_ascii").encode()) is None


def test_edges_of_a_cube_are_sharp_and_those_of_a_sphere_are_not() -> None:
    for solid, corners in ((trimesh.creation.box(), 24), (trimesh.creation.icosphere(subdivisions=3), 642)):
        soup = solid.vertices[solid.faces].reshape(-1, 3).astype(np.float32)  # as an STL has it
        vertices, faces = creased(soup, np.arange(len(soup), dtype=np.int32).reshape(-1, 3))
        assert len(vertices) == corners
        assert np.array_equal(vertices[faces].reshape(-1, 3), soup)


def test_collada_that_is_not_plain_xml(tmp_path: Path) -> None:
    """Readers of Collada unpack archives, to any size, and read other encodings, in which a check sees nothing."""
    import zipfile

    with zipfile.ZipFile(tmp_path / "zip.dae", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.dae", b" " * 2**20)
    (tmp_path / "wide.dae").write_bytes('<!DOCTYPE a [<!ENTITY x "n">]><COLLADA/>'.encode("utf-16"))
    heads = {
        "other": 'version="1.0" encoding="utf-7"',
        "far": 'version="1.0"' + 400 * " " + "encoding='utf-7' standalone=\"no\" ",
        "dotted": 'version="1.0" encoding="JISX0208.1983-0"',
        "twice": 'version="1.0" encoding="utf-8" encoding="utf-7"',
        "first": 'version=\'"\' encoding="utf-7"',
        "none": 'version="1.0"',
    }
    for name, head in heads.items():
        (tmp_path / f"{name}.dae").write_text(f"<?xml {head}?><COLLADA/>")
    for name, why in (
        ("zip", "expected XML in UTF-8"),
        ("wide", "expected XML"),
        ("other", "is in utf-7"),
        ("far", "is in utf-7"),
        ("dotted", r"is in JISX0208\.1983-0"),
        ("twice", "declaration is broken"),
        ("first", "declaration is broken"),
        ("none", "DaeIncompleteError|has no faces|not a mesh that can be read"),
    ):
        with pytest.raises(MeshError, match=why):
            parts_of(MeshFile(str(tmp_path / f"{name}.dae"), (str(tmp_path),)))


def test_pictures_that_take_long_for_their_size() -> None:
    """A scan of a JPEG that changes nothing takes 48 bytes, a strip of a TIFF eight; each has its own cost."""
    images, made = pytest.importorskip("PIL.Image"), io.BytesIO()
    images.new("RGB", (64, 64), (9, 99, 199)).save(made, format="JPEG", progressive=True)
    begin, end = made.getvalue()[:-2], b"\xff\xd9"
    scan = begin[begin.rindex(b"\xff\xda") :]
    have = begin.count(b"\xff\xda")
    assert checked_picture(begin + scan * (100 - have) + end).size == (64, 64)
    with pytest.raises(PictureError, match=r"^has more than the 100 scans that are read$"):
        checked_picture(begin + scan * (101 - have) + end)
    for rows, good in ((50_000, True), (50_001, False)):
        made = io.BytesIO()
        images.new("L", (1, rows)).save(made, format="TIFF", tiffinfo={278: 1})
        if good:
            assert checked_picture(made.getvalue()).size == (1, rows)
        else:
            with pytest.raises(PictureError, match=r"^is in more than the 50,000 pieces that are read$"):
                checked_picture(made.getvalue())


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("big", [False, True])
def test_tables_of_a_tiff_are_not_made_lists_of_first(big: bool, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """19 MB of strips, or of fractions that say nothing, took four seconds and a gigabyte until they were refused."""
    from jounce.view.tiff_check import tiff_fault

    images = pytest.importorskip("PIL.Image")

    def tiff(*tables: tuple[int, int, int], count: int = 0) -> bytes:
        """With tables (tag, type, length), and `count` of them, as it says; the file ends with the last."""
        head = ("8xQ", "Q", "HHQQ") if big else ("4xI", "H", "HHII")
        mark = (b"II" if order == "<" else b"MM") + struct.pack(f"{order}H", 43 if big else 42)
        if big and order == ">":
            mark = b"MM+\0"  # as Pillow has it
        start = bytearray(struct.pack(order + head[0], 16 if big else 8))
        start[:4] = mark
        said = b"".join(struct.pack(order + head[2], *table, 0) for table in tables)
        return bytes(start) + struct.pack(order + head[1], count or len(tables)) + said

    monkeypatch.setattr(images, "open", None)
    for tag in (273, 324):
        with pytest.raises(PictureError, match=r"^is in more than the 50,000 pieces that are read$"):
            checked_picture(tiff((256, 3, 1), (tag, 4, 50_001)))
        assert not tiff_fault(tiff((tag, 4, 50_000)))
    with pytest.raises(PictureError, match=r"^has a table of more than the 100,000 numbers that are read$"):
        checked_picture(tiff((256, 3, 1), (700, 5, 100_001), count=9) + b"odd")
    assert not tiff_fault(tiff((700, 5, 100_000), (700, 1, 3_000_000), (34675, 7, 3_000_000)))
    with pytest.raises(PictureError, match=r"^has more than the 1,000 tables that are read$"):
        checked_picture(tiff(*[(700, 1, 1)] * 1001))
    for odd in (b"", b"II", b"II*", b"II*\0", b"MM\0*" + b"\xff" * 4, tiff()[:-1], b"MM+\0" + b"\xff" * 12, b"IIno"):
        assert not tiff_fault(odd)


def test_what_binds_materials_is_removed_in_linear_time() -> None:
    assert (
        mesh_parsing._without_bindings(b"a<bind_material>b</bind_material>c<bind_material>d") == b"ac<bind_material>d"
    )
    many = b"<bind_material>" * 500_000
    assert mesh_parsing._without_bindings(many) == many


def test_glb_files_that_claim_more_than_they_have(tmp_path: Path) -> None:
    import json
    import struct

    def glb(said: dict[str, object]) -> MeshFile:
        text = json.dumps(said).encode()
        text += b" " * (-len(text) % 4)
        head = struct.pack("<4sII", b"glTF", 2, 20 + len(text)) + struct.pack("<II", len(text), 0x4E4F534A)
        (tmp_path / "claims.glb").write_bytes(head + text)
        return MeshFile(str(tmp_path / "claims.glb"), (str(tmp_path),))

    vertices = {"componentType": 5126, "count": 300_000_000, "type": "VEC3"}
    for accessor in (vertices, vertices | {"bufferView": 0}):
        with pytest.raises(MeshError, match="it describes more numbers than it has"):
            parts_of(glb({"asset": {"version": "2.0"}, "accessors": [accessor]}))


def test_glb_files_with_a_picture_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    images = pytest.importorskip("PIL.Image")
    picture = io.BytesIO()
    images.fromarray(np.zeros((20, 30, 3), dtype=np.uint8)).save(picture, format="png")
    square = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=np.float32)
    content = as_glb(square, np.array([[0, 1, 2]]), np.ones((3, 3)), square[:, :2], picture.getvalue())
    assert mesh_parsing.parsed(content, "glb", no_files, {})[0].picture is not None
    monkeypatch.setattr("jounce.view.pictures.MAX_PIXELS", 599)
    with pytest.raises(MeshError, match="a picture in it has more than the 599 pixels that are drawn"):
        mesh_parsing.parsed(content, "glb", no_files, {})


def test_a_cone_whose_faces_are_in_any_order() -> None:
    count = 20_000
    turn = np.linspace(0, 2 * np.pi, count, endpoint=False)
    rim = np.stack([np.cos(turn), np.sin(turn), np.zeros(count)], axis=1)
    vertices = np.concatenate([[[0, 0, 1.0]], rim]).astype(np.float32)
    faces = np.stack([np.zeros(count), 1 + np.arange(count), 1 + (1 + np.arange(count)) % count], axis=1).astype(
        np.int32
    )
    mixed = np.random.default_rng(0).permutation(faces)
    split, corners = creased(vertices, mixed)
    assert len(split) == count + 1  # smooth all around, the tip too
    np.testing.assert_array_equal(split[corners], vertices[mixed])
