"""Robots from strangers, drawn by lot: files that try in every way to have something outside their folder read.

As a program, it loads them, shows them and saves pages of them, and prints what was opened outside as JSON:

    python tests/strangers.py FOLDER --count 300 --seed 0

Given a trace of the system calls of such a run, as ``strace`` writes it, `outside` finds the same in there.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"
BODY = '<body> <joint/> <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/> {} </body>'
BALL = BODY.format("<geom size='1'/>")
MARK = b"NOBODY-ELSES-BUSINESS"  # in all files outside
KINDS = ("stl", "obj", "dae", "png", "xml", "mtl", "bin", "glb")
SYSTEM = ("/etc/passwd", "/etc/hosts", "/dev/zero", "/dev/stdin", "/proc/self/environ", "/proc/version", "/dev/full")


ROOF = """<?xml version="1.0"?> <COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset> <unit meter="1" name="m"/> <up_axis>Z_UP</up_axis> </asset>
<library_images> <image id="i"> <init_from>{picture}</init_from> </image> </library_images>
<library_effects> <effect id="e"> <profile_COMMON>
  <newparam sid="s"> <surface type="2D"> <init_from>i</init_from> </surface> </newparam>
  <newparam sid="t"> <sampler2D> <source>s</source> </sampler2D> </newparam>
  <technique sid="c"> <lambert> <diffuse> <texture texture="t" texcoord="UV"/> </diffuse> </lambert> </technique>
  </profile_COMMON> </effect> </library_effects>
<library_materials> <material id="m"> <instance_effect url="#e"/> </material> </library_materials>
<library_geometries> <geometry id="g"> <mesh>
  <source id="p"> <float_array id="a" count="18">0 0 0 0 1 0 1 0 1 1 1 1 2 0 0 2 1 0</float_array> <technique_common>
    <accessor source="#a" count="6" stride="3"> <param name="X" type="float"/> <param name="Y" type="float"/>
    <param name="Z" type="float"/> </accessor> </technique_common> </source>
  <source id="q"> <float_array id="b" count="12">0 0 0 1 0.5 0 0.5 1 1 0 1 1</float_array> <technique_common>
    <accessor source="#b" count="6" stride="2"> <param name="S" type="float"/> <param name="T" type="float"/>
    </accessor> </technique_common> </source>
  <vertices id="v"> <input semantic="POSITION" source="#p"/> </vertices>
  <triangles material="s" count="4"> <input semantic="VERTEX" source="#v" offset="0"/>
    <input semantic="TEXCOORD" source="#q" offset="1" set="0"/>
    <p>0 0 2 2 3 3 0 0 3 3 1 1 2 2 4 4 5 5 2 2 5 5 3 3</p> </triangles> </mesh> </geometry> </library_geometries>
<library_visual_scenes> <visual_scene id="w"> <node> <instance_geometry url="#g"> <bind_material> <technique_common>
  <instance_material symbol="s" target="#m"> <bind_vertex_input semantic="UV" input_semantic="TEXCOORD" input_set="0"/>
  </instance_material> </technique_common> </bind_material> </instance_geometry> </node> </visual_scene>
</library_visual_scenes> <scene> <instance_visual_scene url="#w"/> </scene> </COLLADA>"""


def stl() -> bytes:
    return bytes(80) + (1).to_bytes(4, "little") + np.eye(4, 3, dtype="<f4").tobytes() + b"\0\0"


def png() -> bytes:
    from PIL import Image, PngImagePlugin

    said, made = PngImagePlugin.PngInfo(), io.BytesIO()
    said.add_text("Comment", MARK.decode())
    rows = np.random.default_rng(0).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    Image.fromarray(rows).save(made, format="PNG", pnginfo=said)
    return made.getvalue() + MARK


def glb(name: str) -> bytes:
    """With its numbers and its picture in files of that name."""
    triangle = {"attributes": {"POSITION": 0, "TEXCOORD_0": 0}, "indices": 0, "material": 0}
    said = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [triangle]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"uri": name, "byteLength": 36}],
        "images": [{"uri": name}],
        "textures": [{"source": 0}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
    }
    text = json.dumps(said).encode()
    text += b" " * (-len(text) % 4)
    head = b"glTF" + b"".join(n.to_bytes(4, "little") for n in (2, 20 + len(text), len(text), 0x4E4F534A))
    return head + text


def content(kind: str, name: str = "a") -> bytes:
    """A file of that kind that is in order, and names others."""
    texts = {
        "obj": f"# {MARK.decode()}\nmtllib {name}.mtl\nusemtl a\n{TRIANGLE}",
        "mtl": f"newmtl a\nKd 1 0 0\nmap_Kd {name}.png\n# {MARK.decode()}\n",
        "xml": f"<mujocoinclude> <!-- {MARK.decode()} --> {BALL} </mujocoinclude>",
        "dae": f"<COLLADA><!-- {MARK.decode()} --></COLLADA>",
        "glb": MARK.decode(),
    }
    heights = b"\2\0\0\0\2\0\0\0" + np.zeros(4, "<f4").tobytes()
    return {"stl": stl(), "png": png(), "bin": heights}.get(kind) or texts[kind].encode()


class Strangers:
    """The robots.

    Args:
        folder: where everything is made: ``up/load``, the folder of the robots, ``outside``, and ``up/side``.
        seed: of all choices.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder.resolve()
        self.home = self.folder / "up" / "load"
        self.rng = np.random.default_rng(seed)
        for place in (self.home / "parts", self.folder / "outside", self.folder / "up" / "side"):
            place.mkdir(parents=True)
            for kind in KINDS:
                (place / f"a.{kind}").write_bytes(content(kind))
        for kind in KINDS:
            (self.home / f"b.{kind}").write_bytes(content(kind, "parts/a"))
            for i, to in enumerate((self.folder / "outside" / f"a.{kind}", f"../side/a.{kind}", f"link0.{kind}")):
                (self.home / f"link{i}.{kind}").symlink_to(to)
            (self.home / f"device.{kind}").symlink_to("/dev/zero")
            (self.home / f"system.{kind}").symlink_to("/etc/passwd")
            os.mkfifo(self.home / f"pipe.{kind}")
        for i, to in enumerate((self.folder / "outside", "../side", "..", "/", "folder1/..")):
            (self.home / f"folder{i}").symlink_to(to)
        for i, to in enumerate((self.folder / "outside/a.mtl", "../side/a.mtl", "parts/a.mtl", "pipe.mtl")):
            (self.home / f"named{i}.obj").write_text(f"mtllib {to}\nusemtl a\n{TRIANGLE}")
        for i, to in enumerate((self.folder / "outside/a.png", "../side/a.png", "folder0/a.png", "file:///etc/passwd")):
            (self.home / f"painted{i}.mtl").write_text(f"newmtl a\nmap_Kd {to}\nmap_Bump {to}\n")
            (self.home / f"painted{i}.obj").write_text(f"mtllib painted{i}.mtl\nusemtl a\n{TRIANGLE}")
            (self.home / f"painted{i}.dae").write_text(ROOF.format(picture=to))
            (self.home / f"painted{i}.glb").write_bytes(glb(str(to)))

    def one_of(self, *words: str) -> str:
        return words[int(self.rng.integers(len(words)))]

    def name(self, *kinds: str) -> str:
        """Of a file of one of these kinds, in some writing."""
        kind = self.one_of(*kinds)
        inside = [
            f"b.{kind}",
            f"parts/a.{kind}",
            *(f"{w}.{kind}" for w in ("link0", "link1", "link2", "pipe", "device")),
        ]
        inside += [f"system.{kind}", *(f"folder{i}/a.{kind}" for i in range(5)), f"folder2/side/a.{kind}"]
        inside += [f"named{i}.obj" for i in range(4)] if kind == "obj" else []
        inside += [f"painted{i}.{kind}" for i in range(4)] if kind in ("obj", "dae", "glb") else []
        outside = [f"../side/a.{kind}", f"../../outside/a.{kind}", str(self.folder / f"outside/a.{kind}")]
        outside += [f"parts/../../side/a.{kind}", f"parts/../folder0/a.{kind}", self.one_of(*SYSTEM)]
        name = self.one_of(self.one_of(*inside), self.one_of(*outside))
        above = self.one_of(*(part for part in self.home.parts[1:]), "..", ".", "etc", "dev")
        return self.one_of(
            name,
            name,
            name,
            name.replace("/", "\\"),
            name.replace("..", "%2e%2e"),
            name.replace("/", "//"),
            name.upper(),
            f"{name} ",
            f"{name}\0.stl",
            f"./{name}",
            f"~/{name}",
            f"file://{name}",
            f"file:///{name}",
            f"FILE:{name}",
            f"package://{above}/{name}",
            f"model://{above}/{name}",
            f"package://{above}/{os.path.relpath(self.folder / 'outside', self.folder)}/a.{kind}",
            f"package://{name}",
            f"package:/{above}/../{name}",
            f"http://localhost/{name}",
            f"file:{name}",
            f"package://{self.one_of('folder0', 'folder1', 'folder3', 'parts')}/{name}",
            f"/proc/self/{self.one_of('root', 'cwd')}/{name}",
            f"{self.one_of('C:', '//server/share', '//?/C:')}/{name}".replace("/", self.one_of("/", "\\")),
            "parts/../" * 300 + name,
            "n" * 300 + f"/../{name}",
            name.replace("a.", "a\u0301."),
            "".join(
                c if self.rng.random() > 0.05 else self.one_of(".", "/", "..", "\\", "%2f", "\u2025") for c in name
            ),
        )

    def urdf(self) -> str:
        mesh, picture = _quoted(self.name("stl", "obj", "dae", "glb")), _quoted(self.name("png"))
        return f"""<robot name="r"> <link name="a"> <visual> <geometry> <mesh filename="{mesh}"/> </geometry> </visual>
          <visual> <geometry> <box size="1 1 1"/> </geometry> <material name="m"> <texture filename="{picture}"/>
          </material> </visual> </link> </robot>"""

    def mjcf(self) -> str:
        named = {key: _quoted(self.name(*kinds)) for key, kinds in {
            "mesh": ("stl", "obj"), "part": ("xml",), "model": ("xml",), "png": ("png",), "field": ("png", "bin"),
            "flex": ("obj", "stl")}.items()}  # fmt: skip
        where = self.one_of("", "", "..", "../..", str(self.folder), "/", "folder0", "parts", "../side")
        folders = f'<compiler {self.one_of("meshdir", "assetdir", "texturedir")}="{where}"/>' if where else ""
        asset = f"""<mesh name="m" file="{named["mesh"]}"/> <texture name="t" type="2d" file="{named["png"]}"/>
          <material name="t" texture="t"/> <hfield name="h" file="{named["field"]}" size="1 1 1 1"/>"""
        if self.rng.random() < 0.2:
            asset += f' <model name="x" file="{named["model"]}"/>'
        world = BODY.format('<geom type="mesh" mesh="m" material="t"/> <geom type="hfield" hfield="h"/>')
        if self.rng.random() < 0.2:
            world += f' <include file="{named["part"]}"/>'
        if self.rng.random() < 0.05:
            world += f' <flexcomp name="f" type="mesh" dim="2" file="{named["flex"]}"/>'
        if self.rng.random() < 0.05:
            world += ' <body> <joint/> <geom type="mesh" mesh="m"/> </body>'
        if self.rng.random() < 0.1:
            asset += f' <texture name="c" type="cube" fileright="{named["png"]}"/> <material name="c" texture="c"/>'
            world += ' <geom size="1" material="c"/>'
        if self.rng.random() < 0.02:
            asset += f' <skin file="{named["mesh"]}"/>'
        if self.rng.random() < 0.02:
            world += f' <plugin plugin="mujoco.sdf.bowl"> <config key="file" value="{named["mesh"]}"/> </plugin>'
        return f"<mujoco> {folders} <asset> {asset} </asset> <worldbody> {world} </worldbody> </mujoco>"

    def file(self) -> Path:
        """The next one, in some encoding; at times it is itself a link, a pipe or a device."""
        path = self.home / "robot.xml"
        path.unlink(missing_ok=True)
        odd = self.rng.random()
        if odd < 0.01:
            path.symlink_to(
                self.one_of("../side/a.xml", "/etc/passwd", "/dev/zero", "pipe.xml", "folder0/a.xml", "b.xml")
            )
            return path
        text = self.urdf() if self.rng.random() < 0.6 else self.mjcf()
        text = text.replace("\0", self.one_of("", "&#0;", "\0"))
        encoding = self.one_of(
            "utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252", "utf-7"
        )
        head = "" if encoding in ("utf-8", "utf-8-sig") else f'<?xml version="1.0" encoding="{encoding}"?>'
        path.write_bytes(f"{head}{text}".encode(encoding, errors="replace"))
        return path


def _quoted(name: str) -> str:
    return name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


# What was opened


def outside(opened: Iterable[str], folder: Path) -> list[str]:
    """Which of these are bait: files beside the folder of the robots, and some of the system's."""
    home, made = str(folder / "up" / "load"), str(folder) + os.sep
    return sorted(
        {
            path
            for path in opened
            if (path.startswith(made) and path != home and not path.startswith((home + os.sep, str(folder / "pages"))))
            or path in SYSTEM[:1] + SYSTEM[2:]  # the resolver of names reads /etc/hosts
        }
    )


def of_trace(lines: Iterable[str]) -> Iterator[str]:
    """The paths that were opened to be read, from the lines of ``strace -f -y -e trace=open,openat,openat2``.

    Neither those that were made, nor the folders on the way to a file, which are opened so that they cannot be read.
    """
    for line in lines:
        if "O_CREAT" not in line and "O_PATH" not in line and (found := re.search(r"= \d+<([^<>]*)>", line)):
            yield found[1]


class Opened:
    """Notes what this process opens to read it, by the path that the system says it has."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._plain, self._busy = os.open, False
        os.open = self._open  # type: ignore[assignment]
        sys.addaudithook(self._hear)

    def _open(self, *args: object, **options: object) -> int:
        self._busy = True
        try:
            handle = self._plain(*args, **options)  # type: ignore[arg-type]
        finally:
            self._busy = False
        if not int(args[1]) & os.O_PATH:  # type: ignore[call-overload]
            self.paths.add(os.readlink(f"/proc/self/fd/{handle}"))
        return handle

    def _hear(self, event: str, args: tuple[object, ...]) -> None:
        if event == "open" and not self._busy and isinstance(args[0], (str, bytes)):
            self.paths.add(os.path.realpath(os.fsdecode(args[0])))


# The program


def show(robot: object, page: Path | None) -> None:
    """Reads all that it looks like; saves a page, if there is a path for one."""
    if page is not None:
        robot.show(save=page)  # type: ignore[attr-defined]
        assert MARK not in page.read_bytes(), "what is no mesh and no picture is in a page"
        return
    for _ in faults(robot):
        pass


def faults(robot: object) -> Iterator[str]:
    """Reads all that it looks like; why some of it cannot be drawn."""
    from jounce.errors import LoadError
    from jounce.parts.visual import HeightFile, MeshFile, Triangles, Undrawn
    from jounce.view.meshes import parts_of
    from jounce.view.textures import Coat

    for visual in (*robot.scenery, *(v for body in robot.bodies for v in body.visuals)):  # type: ignore[attr-defined]
        shape, missing = visual.shape, dict[str, str]()
        if isinstance(shape, Undrawn):
            yield f"{shape.what} {shape.reason}"
        try:
            if isinstance(shape, (MeshFile, HeightFile, Triangles)):
                parts_of(shape, missing=missing)
        except LoadError as fault:
            yield f"{shape} {fault}"
        yield from (f"{name} {why}" for name, why in missing.items())
        try:
            if visual.texture is not None:
                Coat(visual.texture, visual.colour)
        except LoadError as fault:
            yield str(fault)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pages", type=int, default=100, help="a page of every so many")
    parser.add_argument("--trusted", action="store_true", help="to see that something would be found")
    parser.add_argument("--links", action="store_true", help="the same, with links that are followed anywhere")
    given = parser.parse_args()
    made, pages = Strangers(given.folder, given.seed), given.folder / "pages"
    pages.mkdir()

    import jounce as jn
    from jounce.loading import regular_files

    if given.links:
        regular_files._followed = lambda path, within: os.path.realpath(path)
    assert regular_files._STEPS
    opened = Opened()  # not before: the module would find that what stands in for os.open knows no folders
    warnings.simplefilter("ignore")
    kinds: dict[str, int] = {}
    for i in range(given.count):
        path = made.file()
        paged = i % given.pages == given.pages - 1
        source = path if path.is_symlink() or i % 10 else path.read_bytes()
        try:
            robot = jn.load(source, untrusted=not given.trusted)
            show(robot, pages / "page.html" if paged else None)
            kind = "loads"
        except jn.LoadError as fault:
            kind = type(fault).__name__ if MARK.decode() not in str(fault) else f"tells: {fault}"
        kinds[kind] = kinds.get(kind, 0) + 1
    print(json.dumps({"outside": outside(opened.paths, made.folder), "kinds": kinds, "opened": len(opened.paths)}))


if __name__ == "__main__":
    main()
