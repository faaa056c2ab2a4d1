"""The examples in the documentation run."""

from __future__ import annotations

import doctest
import importlib.util
import re
import shutil
import subprocess
import sysconfig
import warnings
from pathlib import Path

import numpy as np
import pytest
from jounce._core import CoreModel

import jounce as jn
from jounce.loading import formats

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ROBOTS = Path(sysconfig.get_paths()["purelib"], "cmeel.prefix/share/example-robot-data")
BLOCK = re.compile(r'^```python(?: title="needs (\w+)")?\n(.*?)^```', re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_code_blocks_run_in_order(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_formats", {**formats._formats})  # to which a page may add one
    names: dict[str, object] = {}
    for needs, code in BLOCK.findall(page.read_text()):
        if needs and importlib.util.find_spec(needs) is None:
            continue
        if "example-robot-data" in code and not ROBOTS.exists():
            continue
        with warnings.catch_warnings():
            if needs:  # ignore warnings from importing other libraries
                warnings.simplefilter("ignore")
            exec(compile(code, page.name, "exec"), names)
    if not names:
        pytest.skip("it has no Python, or none that runs with what is installed")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_no_code_block_is_skipped_by_its_first_line(page: Path) -> None:
    text = page.read_text()
    odd = set(re.findall(r"^ *```python.*$", text, re.MULTILINE)) - {"```python"}
    assert len(BLOCK.findall(text)) == len(re.findall(r"^ *```python", text, re.MULTILINE)), odd
    assert all(re.fullmatch(r'```python title="needs \w+"', line) for line in odd), odd


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch")
def test_changes_that_pages_show_apply() -> None:
    """All that `.ci/try_page.py` does, except building it."""
    page = (ROOT / "docs/adding_an_algorithm.md").read_text()
    changes = re.findall(r"^```diff\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(changes) == 4
    for change in changes:
        command = ["patch", "-p1", "--dry-run", "--fuzz=0"]
        done = subprocess.run(command, cwd=ROOT, input=change, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", [n for n in dir(CoreModel) if ">>>" in (getattr(CoreModel, n).__doc__ or "")])
def test_examples_of_compiled_methods(name: str) -> None:
    text = getattr(CoreModel, name).__doc__
    test = doctest.DocTestParser().get_doctest(text, {"np": np, "jn": jn}, name, None, 0)
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert result.attempted > 0
    assert result.failed == 0


def test_every_public_name_has_a_docstring() -> None:
    for name in jn.__all__:
        assert name == "MAX_ORDER" or getattr(jn, name).__doc__, name
    for name in dir(jn.Model):
        if not name.startswith("_") and callable(getattr(jn.Model, name)):
            assert getattr(jn.Model, name).__doc__, name


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_and_pictures_exist(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", _prose(page)):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_to_headings(page: Path) -> None:
    """On GitHub as on the site, which name headings differently where there are signs between spaces."""
    for file, anchor in re.findall(r"\]\(([\w./-]*)#([^)\s]+)\)", _prose(page)):
        headings = re.findall(r"^#+ (.*)$", _prose(page.parent / file if file else page), re.MULTILINE)
        words = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
        assert anchor in [each.replace(" ", "-") for each in words], "not there on GitHub"
        assert anchor in [re.sub(r"[-\s]+", "-", each) for each in words], "not there on the site"


def _prose(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
