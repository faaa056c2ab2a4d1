"""Files from strangers: what is outside their folder is not opened, whatever they name, loaded, shown or saved."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
import strangers
from jounce.loading import regular_files
from jounce.loading.regular_files import OutsideError, regular_bytes
from time_limits import HANG

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what a process opens is seen in /proc")
LOOKS = (
    '<robot name="r"> <link name="a"> <visual> <geometry> <mesh filename="{}"/> </geometry> </visual> </link> </robot>'
)


def run(folder: Path, *options: str, before: tuple[str, ...] = ()) -> dict[str, object]:
    for module in ("mujoco", "trimesh", "viser"):
        pytest.importorskip(module)
    command = [*before, sys.executable, strangers.__file__, str(folder), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10 * HANG, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@linux
def test_robots_at_random_open_nothing_outside(tmp_path: Path) -> None:
    found = run(tmp_path, "--count", "60", "--pages", "30")
    assert found["outside"] == []
    kinds = found["kinds"]
    assert isinstance(kinds, dict)
    assert set(kinds) <= {"loads", "LoadError", "MissingFileError"}
    assert min(kinds["loads"], kinds["LoadError"]) > 10


@pytest.mark.night
@linux
def test_the_same_robots_open_much_outside_if_they_are_trusted(tmp_path: Path) -> None:
    """So they would if a check were missing."""
    found = run(tmp_path, "--count", "60", "--trusted")["outside"]
    assert isinstance(found, list)
    assert len(found) > 5


@pytest.mark.night
@linux
def test_the_same_robots_open_much_outside_if_links_are_followed(tmp_path: Path) -> None:
    """Files are opened as they are without a tracer, step by step, in what these robots are drawn for."""
    found = run(tmp_path, "--count", "150", "--links")["outside"]
    assert isinstance(found, list)
    assert len(found) > 5


@pytest.mark.night
@linux
@pytest.mark.parametrize("seed", range(10))
def test_ten_thousand_robots_under_a_tracer(tmp_path: Path, seed: int) -> None:
    """Of the system calls, so whoever makes them: of this process and of those that it starts."""
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    trace = tmp_path.with_suffix(".trace")
    calls = ("strace", "-f", "-y", "--seccomp-bpf", "-qq", "-e", "trace=open,openat,openat2", "-o", str(trace))
    try:
        found = run(tmp_path, "--count", "1000", "--seed", str(seed), before=calls)
        with trace.open(errors="replace") as lines:
            opened = set(strangers.of_trace(lines))
    finally:
        trace.unlink(missing_ok=True)
    assert found["outside"] == []
    assert any(path.startswith(str(tmp_path.resolve() / "up" / "load")) for path in opened)
    assert strangers.outside(opened, tmp_path.resolve()) == []


# Opening


@posix
def test_a_file_that_is_a_link_out_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.urdf").write_text("<robot name='r'> <link name='a'/> </robot>")
    (tmp_path / "in" / "robot.urdf").symlink_to(tmp_path / "secret.urdf")
    assert jn.load(tmp_path / "in" / "robot.urdf").nv == 0
    with pytest.raises(jn.LoadError, match=r"in.robot\.urdf: leads to .*secret\.urdf, which is outside the folders"):
        jn.load(tmp_path / "in" / "robot.urdf", untrusted=True)
    assert jn.load(tmp_path / "in" / "robot.urdf", untrusted=True, allow=tmp_path).nv == 0


@posix
@pytest.mark.parametrize("what", ["the file", "its folder", "a folder above"])
def test_what_becomes_a_link_between_the_look_and_the_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    home, file = tmp_path / "home", tmp_path / "home" / "deep" / "er" / "a.stl"
    outside = tmp_path / "outside" / "er"
    for folder in (file.parent, outside):
        folder.mkdir(parents=True)
        (folder / "a.stl").write_bytes(b"inside" if folder == file.parent else b"secret")
    assert regular_bytes(file, 100, (str(home),)) == (file, b"inside")
    target = {"the file": file, "its folder": file.parent, "a folder above": file.parent.parent}[what]
    followed = regular_files._followed

    def exchanged(path: str | os.PathLike[str], within: tuple[str, ...]) -> str:
        found = followed(path, within)
        target.rename(tmp_path / "away")
        target.symlink_to({"the file": outside / "a.stl", "its folder": outside}.get(what, outside.parent))
        return found

    monkeypatch.setattr(regular_files, "_followed", exchanged)
    with pytest.raises(jn.LoadError, match=r"is a device or a pipe|outside the folders"):
        regular_bytes(file, 100, (str(home),))
    assert target.is_symlink()


EXCHANGE = """
import ctypes, os, sys
calls, pairs = ctypes.CDLL(None), [name.encode() for name in sys.argv[1:]]
if calls.renameat2(-100, pairs[0], -100, pairs[1], 2):
    sys.exit(1)
print(flush=True)
while os.getppid() != 1:
    for one, other in zip(pairs[::2], pairs[1::2]):
        calls.renameat2(-100, one, -100, other, 2)
"""


@pytest.mark.night
@linux
def test_files_and_folders_that_are_exchanged_for_links_all_the_time(tmp_path: Path) -> None:
    """Read and looked at some thousand times meanwhile: never what is outside."""
    home, outside = tmp_path / "home", tmp_path / "outside"
    for folder, content in ((home, "inside"), (outside, "secret")):
        (folder / "deep" / "er").mkdir(parents=True)
        (folder / "deep" / "er" / "a.stl").write_text(content)
    pairs = []
    for name in ("deep", "deep/er", "deep/er/a.stl"):
        (home / f"{name}.link").symlink_to(outside / name)
        pairs += [str(home / name), str(home / f"{name}.link")]
    found = set()
    with subprocess.Popen([sys.executable, "-ISc", EXCHANGE, *pairs], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        if not other.stdout.readline():
            pytest.skip("needs a file system that exchanges names")
        try:
            for _ in range(20_000):
                try:
                    found.add(regular_bytes(home / "deep" / "er" / "a.stl", 100, (str(home),))[1])
                except (OSError, jn.LoadError) as fault:
                    found.add(type(fault).__name__)
        finally:
            other.kill()
    assert b"inside" in found
    assert "OutsideError" in found
    assert b"secret" not in found


@posix
def test_a_folder_that_becomes_a_link_itself_is_not_what_may_be_read(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    for folder, content in ((home, b"inside"), (outside, b"secret")):
        folder.mkdir()
        (folder / "a.stl").write_bytes(content)
    assert regular_bytes(home / "a.stl", 100, (str(home),))[1] == b"inside"
    home.rename(tmp_path / "away")
    home.symlink_to(outside)
    with pytest.raises(OutsideError):
        regular_bytes(home / "a.stl", 100, (str(home),))


@posix
def test_what_a_mesh_names_outside_is_not_even_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trimesh")
    home = tmp_path / "home"
    home.mkdir()
    (home / "m.obj").write_text(f"mtllib {tmp_path}/outside/x.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl x\nf 1 2 3\n")
    (home / "r.urdf").write_text(LOOKS.format("m.obj"))
    robot, real, looked = jn.load(home / "r.urdf", untrusted=True), os.lstat, []
    monkeypatch.setattr(os, "lstat", lambda path, **options: looked.append(str(path)) or real(path, **options))
    pytest.importorskip("viser")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        robot.show(save=home / "page.html")
    assert any(path.endswith("m.obj") for path in looked)
    assert not [path for path in looked if path.startswith(str(tmp_path / "outside"))]


@posix
def test_where_files_cannot_be_opened_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows the path is looked at again."""
    monkeypatch.setattr(regular_files, "_STEPS", False)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"inside")
    (tmp_path / "a").write_bytes(b"secret")
    assert regular_bytes(tmp_path / "in" / "a", 100, (str(tmp_path / "in"),))[1] == b"inside"
    with pytest.raises(OutsideError):
        regular_bytes(tmp_path / "in" / ".." / "a", 100, (str(tmp_path / "in"),))
    real, plain = os.path.realpath, os.open

    def exchanged(path: str, flags: int, **options: int) -> int:
        (tmp_path / "in" / "a").unlink()
        (tmp_path / "in" / "a").symlink_to(tmp_path / "a")
        return plain(path, flags, **options)

    monkeypatch.setattr(os, "open", exchanged)
    with pytest.raises(OutsideError):
        regular_bytes(tmp_path / "in" / "a", 100, (str(tmp_path / "in"),))
    assert real(tmp_path / "in" / "a") == real(tmp_path / "a")


@posix
@pytest.mark.parametrize("within", [False, True])
def test_only_regular_files_are_opened(tmp_path: Path, within: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    folders = (str(tmp_path),) if within else None
    with pytest.raises(jn.LoadError, match="is a device or a pipe"):
        regular_bytes(tmp_path / "pipe", 100, folders)
    for name in ("folder", "."):
        with pytest.raises(IsADirectoryError):
            regular_bytes(tmp_path / name, 100, folders)
    if not within:
        with pytest.raises(jn.LoadError, match="is a device or a pipe"):
            regular_bytes("/dev/zero", 100)


MESH = "<visual> <geometry> <mesh filename='{}'/> </geometry> </visual>"
PAINT = """<visual> <geometry> <box size="1 1 1"/> </geometry>
  <material name="{0}"> <texture filename="{0}"/> </material> </visual>"""
PARTS = (
    "<worldbody> <include file='{}'/> </worldbody>",
    "<asset> <model name='x' file='{}'/> </asset> <worldbody> <attach model='x' body='b' prefix='p'/> </worldbody>",
    "<worldbody> <flexcomp name='f' type='mesh' dim='2' file='{}'/> </worldbody>",
)
DRAWN = """<mujoco> <asset> <mesh name="m" file="{0}"/> <hfield name="h" file="{0}" size="1 1 1 1"/>
  <texture name="t" type="2d" file="{0}"/> <material name="t" texture="t"/> </asset> <worldbody>
  <geom type="mesh" mesh="m"/> <geom type="hfield" hfield="h"/> <geom size="1" material="t"/> </worldbody> </mujoco>"""


@posix
def test_no_message_tells_what_is_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a link, a name or a package says: the answer is the same if there is nothing."""
    for module in ("mujoco", "trimesh"):
        pytest.importorskip(module)
    home, outside = tmp_path / "home", tmp_path / "outside"
    home.mkdir()
    links = {"to": outside, "relative": "../outside", "into": outside / "a.stl", "through": outside / "../home/own.stl"}
    for name, target in links.items():
        (home / f"{name}.stl").symlink_to(target)
    (home / "own.stl").write_bytes(strangers.stl())
    (home / "far.stl").symlink_to("into.stl")
    (home / "m.obj").write_text("mtllib to.stl/x.mtl\nusemtl x\n" + strangers.TRIANGLE)
    names = [f"{name}.stl" for name in (*links, "far")]
    names += [f"{start}/{end}" for start in ("to.stl", "relative.stl", "../outside") for end in ("a.stl", "no/a.stl")]
    names += [str(outside / "a.stl"), "package://to.stl/a.stl", "package://outside/a.stl", "package://to.stl/../a.stl"]

    def said() -> list[str]:
        few = ("into.stl", "to.stl/a.stl", "through.stl")
        texts = [f"<mujoco> {part.format(name)} </mujoco>" for part in PARTS for name in few]
        looks = "".join(MESH.format(name) + PAINT.format(name) for name in [*names, "m.obj"])
        texts += [f'<robot name="r"> <link name="a"> {looks} </link> </robot>', *map(DRAWN.format, few)]
        return [words for text in texts for words in answers(text)]

    def answers(text: str) -> list[str]:
        (home / "robot.xml").write_text(text)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return list(strangers.faults(jn.load(home / "robot.xml", untrusted=True)))
        except jn.LoadError as fault:
            return [str(fault)]

    looked: list[str] = []
    for call in ("stat", "lstat", "readlink", "open"):
        plain = getattr(os, call)
        seen = lambda path, *a, plain=plain, **o: (looked.append(str(path)), plain(path, *a, **o))[1]  # noqa: E731
        monkeypatch.setattr(os, call, seen)
    nothing = said()
    assert sum("outside" in words for words in nothing) > 40
    assert not [path for path in looked if path.startswith(str(outside)) or path in ("outside", "secret")]
    monkeypatch.undo()
    outside.mkdir()
    assert said() == nothing
    (outside / "a.stl").mkdir()
    assert said() == nothing
    (outside / "a.stl").rmdir()
    (outside / "a.stl").write_bytes(strangers.stl())
    (outside / "no").symlink_to(home)
    assert said() == nothing
    (outside / "a.stl").unlink()
    (outside / "a.stl").symlink_to(home / "own.stl")
    assert said() == nothing
    for path in (outside / "a.stl", outside / "no"):
        path.unlink()
    outside.rmdir()
    outside.symlink_to(home)
    assert said() == nothing


@posix
def test_links_within_are_followed(tmp_path: Path) -> None:
    """As the system does, from folder to folder of those that may be read, in circles only so often."""
    home, other = tmp_path / "home", tmp_path / "other"
    for folder in (home / "deep", other):
        folder.mkdir(parents=True)
        (folder / "a.stl").write_text(folder.name)
    (tmp_path / "link").symlink_to("home")
    for name, target in {
        "1": "deep",
        "2": "1/../deep/./a.stl",
        "3": other / "a.stl",
        "4": "../home//3",
        "5": "6",
    }.items():
        (home / name).symlink_to(target)
    (home / "6").symlink_to("5")
    (home / "deep" / "up").symlink_to("../..")
    within = (str(home.resolve()), str(other.resolve()))
    for name in (
        "deep/a.stl",
        "1/a.stl",
        "2",
        "3",
        "4",
        "deep/up/other/a.stl",
        "1/up/home/2",
        "../home/1/../deep/a.stl",
    ):
        found, content = regular_bytes(home / name, 100, within)
        assert found == (home / name).resolve(), name
        assert content == (home / name).read_bytes()
    for name in ("5", "1/../5"):
        with pytest.raises(OSError, match="Too many levels"):
            regular_bytes(home / name, 100, within)
    for name in (
        "3",
        "4",
        "deep/up/other/a.stl",
        "deep/up/nothing/../home/deep/a.stl",
        "deep/up",
        "../link/deep/a.stl",
    ):
        with pytest.raises(OutsideError):
            regular_bytes(home / name, 100, within[:1])
    robot = home / "robot.urdf"
    robot.write_text(LOOKS.format(tmp_path / "link" / "1" / "a.stl"))
    for main in (tmp_path / "link" / "robot.urdf", robot):
        (visual,) = jn.load(main, untrusted=True, allow=tmp_path / "link").bodies[0].visuals
        assert visual.shape.path == str(home.resolve() / "1" / "a.stl")


# Where the mode comes from, and where it goes


def test_a_spec_cannot_be_untrusted() -> None:
    mujoco = pytest.importorskip("mujoco")
    body = "<body name='b'> <joint/> <geom size='1'/> </body>"
    spec = mujoco.MjSpec.from_string(f"<mujoco> <worldbody> {body} </worldbody> </mujoco>")
    with pytest.raises(jn.LoadError, match="is read by MuJoCo, wherever its files are: untrusted=True needs a file"):
        jn.load(spec, untrusted=True)
    assert jn.load(spec.compile(), untrusted=True).nv == 1


@pytest.mark.parametrize("untrusted", ["yes", 2, None])
def test_bad_modes(untrusted: object) -> None:
    with pytest.raises(ValueError, match=r"^untrusted is .*, expected True or False"):
        jn.load("<robot name='r'> <link name='a'/> </robot>", untrusted=untrusted)  # type: ignore[arg-type]


def test_a_format_of_ones_own_reads_within_the_same_folders(tmp_path: Path) -> None:
    from jounce.loading import Options, Source
    from jounce.loading.folders import Folders

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "robot.new").write_text("text")
    source = Source(tmp_path / "in" / "robot.new", "robot", Folders(tmp_path / "in" / "robot.new", (), True))
    assert source.content == b"text"
    assert source.folders.within == (str((tmp_path / "in").resolve()),)
    assert Source(tmp_path / "in" / "robot.new", "robot").folders.within is None
    assert Source("text", "robot").folders.within == ()
    assert Options().untrusted is False


COMMANDS: dict[str, Callable[[Path, Path], list[str]]] = {
    "info": lambda file, out: ["info", str(file)],
    "view": lambda file, out: ["view", str(file), "--save", str(out / "page.html")],
    "convert": lambda file, out: ["convert", str(file), str(out / "robot.xml"), "--skip", "visuals"],
    "simulate": lambda file, out: ["simulate", str(file), "--time", "0.01"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_have_the_same_option(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("mujoco", "typer", "rich", *(("viser",) if command == "view" else ())):
        pytest.importorskip(module)
    from jounce.cli import main

    (tmp_path / "in").mkdir()
    part = "<mujocoinclude> <body name='b'> <joint name='j'/> <geom size='1'/> </body> </mujocoinclude>"
    (tmp_path / "part.xml").write_text(part)
    file = tmp_path / "in" / "robot.xml"
    file.write_text("<mujoco> <worldbody> <include file='../part.xml'/> </worldbody> </mujoco>")
    for options, good in (([], True), (["--untrusted"], False), (["--untrusted", "--allow", str(tmp_path)], True)):
        monkeypatch.setattr(sys, "argv", ["jounce", *COMMANDS[command](file, tmp_path), *options])
        with pytest.raises(SystemExit) as ended:
            main()
        assert (ended.value.code in (0, None)) == good, capsys.readouterr().err
        said = f"{ended.value.code} {capsys.readouterr().err}"
        assert good or "which is outside the folder of the main file" in said


def test_info_says_what_will_not_be_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("typer", "rich"):
        pytest.importorskip(module)
    from jounce.cli import main

    (tmp_path / "in").mkdir()
    (tmp_path / "a.stl").write_bytes(strangers.stl())
    looks = (
        "".join(MESH.format(f"../a{i}.stl") for i in range(20)) + MESH.format("../a0.stl") + PAINT.format("../p.png")
    )
    (tmp_path / "in" / "many.urdf").write_text(f'<robot name="r"> <link name="a"> {looks} </link> </robot>')
    (tmp_path / "in" / "one.urdf").write_text(LOOKS.format("../a.stl"))
    allow = f"is outside the folder of the file: pass --allow {str(tmp_path)!r}"
    for options, lines in (
        (["one.urdf", "--untrusted"], [f"not drawn: ../a.stl {allow}"]),
        (["one.urdf", "--untrusted", "--allow", str(tmp_path)], []),
        (["one.urdf"], []),
        (["many.urdf", "--untrusted"], [f"not drawn: ../a9.stl {allow}", "not drawn: 11 more"]),
    ):
        monkeypatch.setattr(sys, "argv", ["jounce", "info", str(tmp_path / "in" / options[0]), *options[1:]])
        with pytest.raises(SystemExit):
            main()
        said = capsys.readouterr().out
        assert all(line in said for line in lines), said
        assert ("not drawn" in said) == bool(lines)


def test_a_pickled_robot_keeps_its_folders(tmp_path: Path) -> None:
    import pickle

    (tmp_path / "a.stl").write_bytes(strangers.stl())
    (tmp_path / "robot.urdf").write_text(LOOKS.format("a.stl"))
    for untrusted, within in ((True, (str(tmp_path.resolve()),)), (False, None)):
        robot = pickle.loads(pickle.dumps(jn.load(tmp_path / "robot.urdf", untrusted=untrusted)))
        assert robot.bodies[0].visuals[0].shape.within == within


# Programs

PAINTED = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n(x) print\n".ljust(100)
VIEWS = ((0, 36), (1, 24), (2, 100), (3, 100))  # pieces of the bytes, the last in another buffer


def painted_glb(image: dict[str, object], odd: bytes = b"", content: bytes = b"", **said: object) -> bytes:
    """A triangle with a picture.

    Args:
        image: where it says that the picture is.
        odd: chunks in front of that with the bytes.
        content: what is there after the numbers; a picture when left out.
        said: of the file, instead of what is usual.
    """
    body = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes() + (content or strangers.png())
    views = VIEWS if "buffers" in said else VIEWS[:-1]
    usual: dict[str, object] = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
        "accessors": [{"bufferView": i, "componentType": 5126, "count": 3, "type": f"VEC{3 - i}"} for i in (0, 1)],
        "bufferViews": [{"buffer": i // 3, "byteLength": n, "byteOffset": 36 * (i > 1)} for i, n in views],
        "buffers": [{"byteLength": len(body)}],
        "images": [image],
        "textures": [{"source": 0}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
    }
    text = json.dumps(usual | said).encode()
    chunks = ((b"JSON", text + b" " * (-len(text) % 4)), (b"BIN\0", body + bytes(-len(body) % 4)))
    first, last = (struct.pack("<I4s", len(each), kind) + each for kind, each in chunks)
    return struct.pack("<4sII", b"glTF", 2, 12 + len(first + odd + last)) + first + odd + last


def postscript_glbs() -> dict[str, bytes]:
    """Each way for a picture in a GLB to be another one than it seems."""
    written = "data:image/png;base64,"
    address = {"uri": written + base64.b64encode(POSTSCRIPT).decode()}
    elsewhere = {"uri": written + base64.b64encode(bytes(36) + POSTSCRIPT).decode(), "byteLength": 136}
    which = {"diffuseTexture": {"index": 0}, "specularGlossinessTexture": {"index": 0}}
    mixed = [{"extensions": {"KHR_materials_pbrSpecularGlossiness": which}}]
    seems = bytes(36) + strangers.png()
    odd = struct.pack("<I4s", len(seems), b"odd!") + seems
    return {
        "in its address": painted_glb(address),
        "that is mixed": painted_glb(address, materials=mixed),
        "in another buffer": painted_glb({"bufferView": 3}, buffers=[{"byteLength": 136}, elsewhere]),
        "in another chunk": painted_glb({"bufferView": 2}, odd, POSTSCRIPT),
    }


@posix
def test_no_program_runs_for_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow has Ghostscript run what begins like PostScript, whatever it is called."""
    pytest.importorskip("viser")
    plugin = pytest.importorskip("PIL.EpsImagePlugin")
    home, ran, program = tmp_path / "home", tmp_path / "ran", tmp_path / "programs" / "gs"
    for folder in (home, program.parent):
        folder.mkdir()
    program.write_text(f"#!/bin/sh\necho $@ >> {ran}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(plugin, "gs_binary", None)
    for name in ("a.mtl", "a.png"):
        (home / name).write_bytes(POSTSCRIPT)
        (home / f"m{name}.mtl").write_text(f"newmtl a\nmap_Kd {name}\n")
        (home / f"{name}.obj").write_text(f"mtllib m{name}.mtl\n{PAINTED}usemtl a\nf 1/1 2/2 3/3\n")
        (home / f"{name}.dae").write_text(strangers.ROOF.format(picture=name))
    for name, content in postscript_glbs().items():
        (home / f"{name}.glb").write_bytes(content)
    meshes = sorted(path.name for path in home.glob("*.[odg][bal][jeb]"))
    assert len(meshes) == 8
    looks = "".join(MESH.format(name) for name in meshes)
    looks += PAINT.format("a.png") + PAINT.format("a.mtl")
    (home / "robot.urdf").write_text(f'<robot name="r"> <link name="a"> {looks} </link> </robot>')
    with pytest.warns(jn.view.ViewWarning, match="not shown"):
        jn.load(home / "robot.urdf", untrusted=True).show(save=tmp_path / "page.html")
    assert not ran.exists(), ran.read_text()


# Terminals

ODD = "a\x9b31m\u202e"  # what XML can hold of what moves cursors, sets colours and turns the direction of a line
JOINT = f"""<robot name="{ODD}"> <link name="{ODD}"/> <link name="b"> <inertial> <mass value="1"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial> <visual name="{ODD}"> <geometry>
  <mesh filename="{ODD}.stl"/> </geometry> </visual>
  <visual> <geometry> <mesh filename="m.obj"/> </geometry> </visual> </link>
  <joint name="{ODD}" type="revolute"> <parent link="{ODD}"/> <child link="b"/> {{}} </joint> </robot>"""


def test_no_message_moves_the_cursor(tmp_path: Path) -> None:
    """Nor sets colours: neither a name in a robot's file, nor one in a mesh, which may have any characters."""
    for module in ("mujoco", "viser"):
        pytest.importorskip(module)
    (tmp_path / "m.obj").write_text(f"mtllib m.mtl\n{PAINTED}usemtl a\nf 1/1 2/2 3/3\n")
    (tmp_path / "m.mtl").write_text("newmtl a\nmap_Kd \x1b]0;evil\x07.png\n")
    (tmp_path / "robot.urdf").write_text(JOINT.format(""))
    body = f"<body name='{ODD}'> <joint name='{ODD}' {{}}/> <geom size='1' {{}}/> </body>"
    geom = f"<mujoco> <worldbody> {body} </worldbody> </mujoco>"
    texts = [JOINT.format(f"<axis xyz='{ODD}'/>"), JOINT.format("").replace('name="b"', f'name="{ODD}"')]
    texts += [geom.format("type='slide' axis='0 0 0'", ""), geom.format("", f"material='{ODD}'")]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        robot = jn.load(tmp_path / "robot.urdf", untrusted=True)
        robot.show(save=tmp_path / "page.html")
        said = [*map(str, (warning.message for warning in heard)), repr(robot), *str(robot).split("\n")]
    assert {warning.category for warning in heard} == {jn.LoadWarning, jn.view.ViewWarning}
    for text in texts:
        with pytest.raises(jn.LoadError) as fault:
            jn.load(text)
        said.append(str(fault.value))
    with pytest.raises(FileNotFoundError) as missing:
        jn.load(tmp_path / f"{ODD}.urdf")
    assert missing.value.filename == str(tmp_path / f"{ODD}.urdf")
    for message in (*said, str(missing.value)):
        assert message.isprintable()
    assert any(r"a\x9b31m\u202e.stl does not exist" in message for message in said)
    assert any(r"\x1b]0;evil\x07.png does not exist" in message for message in said)


@pytest.mark.parametrize("command", ["view", "simulate"])
def test_no_command_moves_the_cursor(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("typer", "rich", "viser"):
        pytest.importorskip(module)
    from jounce.cli import main

    (tmp_path / "robot.urdf").write_text(JOINT.format('<limit lower="0" upper="1" effort="1" velocity="1"/>'))
    monkeypatch.setattr(sys, "argv", ["jounce", *COMMANDS[command](tmp_path / "robot.urdf", tmp_path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    said = "".join(capsys.readouterr())
    assert r"a\x9b31m\u202e" in said
    assert said.replace("\n", "").isprintable()


@pytest.mark.parametrize("command", ["info", "simulate"])
def test_a_long_name_does_not_widen_every_line(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column is as wide as its longest name: a file of 1 MB had 90 MB printed, one of 100 MB terabytes."""
    for module in ("typer", "rich"):
        pytest.importorskip(module)
    from jounce.cli import main

    names = ["x" * 100_000, *(f"l{i}" for i in range(30))]
    inertial = re.search("<inertial>.*</inertial>", JOINT, re.DOTALL)
    assert inertial
    links = "".join(f'<link name="{name}"> {inertial[0]} </link>' for name in names)
    joints = "".join(
        f'<joint name="j{b}" type="continuous"> <parent link="{a}"/> <child link="{b}"/> </joint>'
        for a, b in zip(names[1:] + names[:1], names[2:] + names[:1], strict=False)
    )
    (tmp_path / "robot.urdf").write_text(f'<robot name="r"> {links} {joints} </robot>')
    monkeypatch.setattr(sys, "argv", ["jounce", *COMMANDS[command](tmp_path / "robot.urdf", tmp_path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    said = capsys.readouterr().out
    assert f"{'x' * 99}...{'x' * 10}" in said
    assert max(map(len, said.splitlines())) < 1000


# Pages


@pytest.mark.parametrize("untrusted", [False, True])
def test_pages_embed_only_what_decodes_as_a_mesh_or_a_picture(tmp_path: Path, untrusted: bool) -> None:
    """Comments, what follows a picture, names of materials, and files that are neither: none of it travels."""
    pytest.importorskip("viser")
    home, page = tmp_path / "home", tmp_path / "page.html"
    home.mkdir()
    for kind in strangers.KINDS:
        (home / f"a.{kind}").write_bytes(strangers.content(kind))
    (home / "text.png").write_bytes(strangers.MARK)
    (home / "text.obj").write_bytes(strangers.MARK)
    visuals = [f'<geometry> <mesh filename="{name}"/> </geometry>' for name in ("a.obj", "a.stl", "text.obj", "a.glb")]
    visuals += [
        f'<geometry> <box size="1 1 1"/> </geometry> <material name="{i}"> <texture filename="{name}"/> </material>'
        for i, name in enumerate(("a.png", "text.png", "a.mtl"))
    ]
    looks = "".join(f"<visual> {visual} </visual>" for visual in visuals)
    (home / "robot.urdf").write_text(f'<robot name="r"> <link name="a"> {looks} </link> </robot>')
    with pytest.warns(jn.view.ViewWarning, match=r"text\.obj has no faces; .*text\.png is not a picture"):
        jn.load(home / "robot.urdf", untrusted=untrusted).show(save=page)
    saved = page.read_bytes()
    assert len(saved) > 1e5
    for content in _with_what_it_packs(saved):
        assert strangers.MARK not in content


def _with_what_it_packs(page: bytes) -> list[bytes]:
    """The page, and the recording in it as it was before it was encoded and compressed."""
    import base64
    import re
    import zlib

    found = [page]
    for piece in re.findall(rb"[A-Za-z0-9+/]{200,}={0,2}", page):
        raw = base64.b64decode(piece + b"=" * (-len(piece) % 4))
        found.append(raw)
        for bits in (31, 15, -15):
            try:
                found.append(zlib.decompressobj(bits).decompress(raw))
            except zlib.error:
                continue
    return found
