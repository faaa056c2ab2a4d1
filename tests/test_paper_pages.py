"""The pages on the papers: each numbered equation, table, figure and algorithm, with a call, an experiment or why not.

A reader who has only the paper looks a number up in the first column of a table; what stands beside it exists.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import jounce as jn
from jounce_lab.reproduce import EXPERIMENTS

ROOT = Path(__file__).parents[1]
PAPERS = {  # equations, tables, figures, algorithms
    "A": (70, 5, 4, 4),
    "B": (91, 9, 5, 0),
    "C": (47, 0, 5, 0),
    "D": (64, 1, 5, 2),
}
KINDS = {"Table": 1, "Fig": 2, "Algorithm": 3}
ROMAN = {"I": 1}


def rows(paper: str) -> list[list[str]]:
    """Of the first table of the page, "What is implemented where"."""
    page = (ROOT / f"docs/paper_{paper.lower()}.md").read_text(encoding="utf-8")
    section = page.split("## What is implemented where", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[1:]]


def numbered(text: str) -> set[tuple[int, int]]:
    """What a first column names: (kind, number), kind 0 for equations; ranges are written "(3)-(7)" and "1 to 4"."""
    found = set()
    for first, last in re.findall(r"\((\d+)\)(?:-\((\d+)\))?", text):
        found |= {(0, n) for n in range(int(first), int(last or first) + 1)}
    for word, kind in KINDS.items():
        for numbers in re.findall(rf"{word}s?\.?e?s? ((?:\d+|I)(?:(?:, | and | to )\d+)*)", text):
            for first, last in re.findall(r"(\d+|I)(?: to (\d+))?", numbers):
                start = ROMAN.get(first) or int(first)
                found |= {(kind, n) for n in range(start, int(last or start) + 1)}
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_everything_that_has_a_number_is_on_the_page(paper: str) -> None:
    wanted = {(kind, n) for kind, count in enumerate(PAPERS[paper]) for n in range(1, count + 1)}
    found = set().union(*(numbered(row[0]) for row in rows(paper)))
    assert not wanted - found, sorted(wanted - found)
    assert not found - wanted, sorted(found - wanted)


@pytest.mark.parametrize("paper", PAPERS)
def test_each_has_a_call_or_an_experiment_or_the_reason(paper: str) -> None:
    files = {
        file.name for part in ("src", "lab", "tests", "include", "bindings") for file in (ROOT / part).rglob("*.*")
    }
    for row in rows(paper):
        assert len(row) == 4, row
        beside = " ".join(row[2:])
        assert re.search(r"`|not needed|\]\(", row[2]), f"{row[0]} has nothing beside it"
        for name in re.findall(r"\brobot\.(\w+)", beside):
            assert hasattr(jn.Model, name), f"{row[0]}: robot.{name}"
        for path in re.findall(r"\bjn\.([\w.]+)", beside):
            value: object = jn
            for part in path.split("."):
                value = getattr(value, part)
        for name in re.findall(r"`jounce reproduce ([\w-]+)", beside) + re.findall(r", `([A-D]-\w+)`", beside):
            assert name in EXPERIMENTS, f"{row[0]}: {name}"
        for name in re.findall(r"`(?:[\w/]+/)?(\w+\.(?:py|hpp|cpp))`", beside):
            assert name in files, f"{row[0]}: {name}"


def test_the_pages_are_read_as_written() -> None:
    assert numbered("Fig. 1, Algorithm 1") == {(2, 1), (3, 1)}
    assert numbered("(27), (29)-(31), Tables 3 and 4, Figs. 2 to 4") == {
        (0, 27), (0, 29), (0, 30), (0, 31), (1, 3), (1, 4), (2, 2), (2, 3), (2, 4)
    }  # fmt: skip
    assert numbered("Table I, (1)") == {(1, 1), (0, 1)}


@pytest.mark.parametrize("paper", PAPERS)
def test_future_work_is_answered(paper: str) -> None:
    page = (ROOT / f"docs/paper_{paper.lower()}.md").read_text(encoding="utf-8")
    assert page.rstrip().split("\n## ")[-1].startswith("What its authors wished for next"), "the last section"


def test_citation_file_and_page_agree() -> None:
    """Authors, arXiv numbers and DOIs."""
    if importlib.util.find_spec("yaml") is None:
        pytest.skip("needs PyYAML")
    import yaml

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    page = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
    papers = [reference for reference in cited["references"] if reference["type"] != "software"]
    assert len(papers) == len(PAPERS)
    for reference in papers:
        assert reference["title"] in page
        assert all(author["family-names"] in page for author in reference["authors"])
        assert all(each["value"].removeprefix("arXiv:") in page for each in reference.get("identifiers", ()))
        assert reference.get("doi", "") in page
    for reference in cited["references"]:
        if reference["type"] == "software":
            assert reference["repository-code"] in page
