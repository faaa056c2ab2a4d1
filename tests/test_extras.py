"""Without a package of an extra, what needs it says which extra to install, and everything else works."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jounce as jn
from jounce._extras import EXTRAS, NEEDS_PYTHON
from time_limits import HANG

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # which pytest brings

ROOT = Path(__file__).parents[1]
BALL = '<mujoco> <worldbody> <body> <freejoint/> <geom size="0.1"/> </body> </worldbody> </mujoco>'


def slider() -> jn.Model:
    builder = jn.Builder()
    builder.add("slider", "world", jn.Prismatic(), inertia=jn.Inertia(1.0))
    return builder.build()


def motion() -> jn.Trajectory:
    return jn.simulate(slider(), [0.0], [1.0], [0.0, 1.0], progress=False)


def study() -> Any:
    parameters = {"a": jn.study.Uniform(0.0, 1.0)}
    measures = {"value": lambda flight: flight.parameters["a"]}
    return jn.study.Study(
        robot=slider(), parameters=parameters, scenario=lambda robot, member: None, measures=measures, samples=2
    )


def browser() -> None:
    from jounce.view.browser import Browser

    Browser()


def picture() -> None:
    from jounce.view.pictures import checked_picture

    checked_picture(b"")


CALLS: list[tuple[str, str, Callable[[], object]]] = [
    ("matplotlib", "a figure", lambda: jn.plot([0.0, 1.0], np.zeros((2, 1)))),
    ("matplotlib", "a figure", lambda: motion().plot()),
    ("rich", "a progress bar", lambda: jn.simulate(slider(), [0.0], [1.0], [0.0, 1.0], progress=True)),
    ("viser", "showing robots", lambda: slider().show()),
    ("trimesh", "showing robots", lambda: motion().show(slider())),
    ("trimesh", "reading meshes", lambda: jn.Inertia.from_mesh("no.stl", mass=1.0)),
    ("mujoco", "<string>: MJCF", lambda: jn.load(BALL)),
    ("imageio_ffmpeg", "MP4, unlike GIF,", lambda: motion().video(slider(), "motion.mp4")),
    ("imageio", "MP4, unlike GIF,", lambda: motion().video(slider(), "motion.mp4")),
    ("distributed", "a cluster", lambda: study().run("tcp://127.0.0.1:8786")),  # type: ignore[arg-type]
    ("zarr", "a study", lambda: study().run()),
    ("cloudpickle", "a study", lambda: study().run(workers=2)),
    ("threadpoolctl", "a study", lambda: study().run(workers=1)),
    ("scipy", "a sample of low discrepancy", lambda: study().table()),
    ("xarray", "a study", lambda: jn.study.read("none")),
    ("websockets", "a browser without a window", browser),
    ("PIL", "reading pictures", picture),
]


@pytest.mark.parametrize(("package", "what", "call"), CALLS, ids=[f"{package}, {what}" for package, what, _ in CALLS])
def test_what_is_missing_is_named(
    package: str, what: str, call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    if EXTRAS[package] in NEEDS_PYTHON and sys.version_info < (3, 11):
        pytest.skip(f"the extra {EXTRAS[package]!r} needs {NEEDS_PYTHON[EXTRAS[package]]}")
    for name in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    extra = EXTRAS[package]
    newer = f" on {NEEDS_PYTHON[extra]} or newer" if extra in NEEDS_PYTHON else ""
    words = f"{what} needs the package {package}: pip install 'jounce[{extra}]'{newer} ("
    with pytest.raises((ImportError, jn.LoadError), match=f"^{re.escape(words)}"):
        call()


def test_the_extras_bring_these_packages() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    through = {"imageio": "imageio-ffmpeg", "PIL": "viser"}  # which need them
    for package, extra in EXTRAS.items():
        name = through.get(package, package.replace("_", "-"))
        assert any(re.match(rf"{name}\b", line) for line in extras[extra]), package


def test_the_command_line() -> None:
    for package in ("rich", "typer"):
        code = f"import sys; sys.modules[{package!r}] = None; from jounce.cli import main; main()"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, check=False)
        assert done.returncode == 1
        assert done.stderr.startswith(
            f"jounce: the command line needs the package {package}: pip install 'jounce[demo]' ("
        )
