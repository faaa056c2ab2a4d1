"""The notebooks of the documentation run, show what they did, and show figures once."""

from __future__ import annotations

import importlib.util
import json
import re
import sysconfig
import warnings
from pathlib import Path

import pytest

from time_limits import HANG

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
ROBOTS = Path(sysconfig.get_paths()["purelib"], "cmeel.prefix/share/example-robot-data/robots")
each_notebook = pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.name)


def cells(file: Path) -> list[dict]:
    found = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


def tools() -> object:
    """.ci/notebooks.py"""
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / ".ci/notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@each_notebook
def test_cells_run_in_order(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a kernel."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    sources = ["".join(cell["source"]) for cell in cells(file)]
    if "example-robot-data" in "".join(sources) and not ROBOTS.exists():
        pytest.skip("example-robot-data is not installed")
    names: dict[str, object] = {}
    for source in sources:
        if "save=" in source and importlib.util.find_spec("viser") is None:
            continue
        with warnings.catch_warnings():
            if "save=" in source:  # viser's own
                warnings.simplefilter("ignore")
            exec(compile(source, file.name, "exec"), names)
    plt.close("all")


@each_notebook
def test_notebooks_are_stored_with_what_they_showed(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert len(text) < 300_000
    assert not re.search(r"/(home|tmp|root|Users)/", re.sub(r'"image/png": "[^"]*"', "", text))
    ran = cells(file)
    assert [cell["execution_count"] for cell in ran] == list(range(1, len(ran) + 1))
    for cell in ran:
        kinds = [output["output_type"] for output in cell["outputs"]]
        assert set(kinds) <= {"execute_result", "display_data"}, "".join(cell["source"])
        assert len(kinds) <= 1
    assert sum("plot(" in "".join(cell["source"]) and len(cell["outputs"]) == 1 for cell in ran) >= 2


DRAWN = ["motion.plot()", "motion.plot();", "figure = motion.plot()", "figure", "motion.plot()\nplt.show()"]


@pytest.mark.parametrize("cell", [*DRAWN, "saved"])
def test_figures_appear_once(cell: str) -> None:
    shown = figures()[cell]
    assert [sorted(output["data"]) for output in shown] == [["image/png", "text/plain"]]


_FIGURES: dict[str, list[dict]] = {}


def figures() -> dict[str, list[dict]]:
    """What a kernel shows for cells that draw a figure."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    if not _FIGURES:
        first = "import jounce as jn, matplotlib.pyplot as plt, tempfile\nrobot = jn.robots.panda()"
        first += "\nmotion = jn.simulate(robot, robot.neutral(), [0] * 7, [0, 0.1])"
        sources = [*DRAWN, "saved = motion.plot(tempfile.mkdtemp() + '/motion.png')", "saved"]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in [first, *sources]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nbclient.NotebookClient(book, timeout=HANG, startup_timeout=HANG, kernel_name="python3").execute()
        _FIGURES.update({cell.source: cell.outputs for cell in book.cells})
    return _FIGURES


def test_metadata_says_nothing_about_the_machine() -> None:
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    book.metadata["language_info"] = {"version": "3.99"}
    book.cells[0].metadata["execution"] = {"iopub.execute_input": "2026-01-01"}
    plain = tools().plain(book)
    assert "3.99" not in nbformat.writes(plain)
    assert "2026" not in nbformat.writes(plain)
