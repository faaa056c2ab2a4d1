"""The papers' experiments in their reduced form: what holds, what does not, and what is written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from jounce.reproduce import EXPERIMENTS, Claim, Result, find, nine_joints, paper_c
from jounce.reproduce.claims import off
from jounce.reproduce.panda import panda
from jounce.reproduce.report import write_report
from jounce.reproduce.runner import reproduce
from oracles import paper_b
from oracles import paper_c as oracle_c
from trees import random_configuration, random_stack, random_tree

# What does not hold, by how its text begins, and what depends on how busy the machine is. All else holds.
FALSE = {
    "A-fig3": ["The base is fully actuated"],
    "A-fig4": [],
    "A-table5": ["Its derivative, as printed", "The general line of Algorithm 1", "The balance of momentum"],
    "B-section5": [
        "The extended inverse dynamics, EIDAmb",
        "D_1 of the extended",
        "D_2, by s",
        "The inverse of the mass matrix without",
    ],
    "B-fig5": [],
    "C-panda": [
        "The backward step (20)",
        "a^(n) has q^(n)",
        "The two forms of U",
        "Gravity with V_0'",
        "Its derivative (47)",
    ],
    "C-timing": [],
}
TIMED = (
    "Mean time",
    "The computations remain",
    "At a fixed order",
    "At N =",
    "Repeated jtimes",
    "The algorithms become",
    "They scale better",
    "The scaling is on par",
    "The articulated-body algorithm",
    "The recursive formulation",
    "The recursion ",
    "Times will reduce",
)
UNCHECKED = (
    "Of the methods listed",
    "Spatial screws allow",
    "The methods are preferable",
    "No existing approach",
    "Hand-crafted",
    "Sparse matrices",
)


@pytest.fixture(scope="module", params=EXPERIMENTS)
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Result]:
    told: list[float] = []
    result = EXPERIMENTS[request.param].run(
        tmp_path_factory.mktemp(request.param), quick=True, tell=lambda done, _: told.append(done)
    )
    assert told == sorted(told)
    assert told[-1] <= 1
    return request.param, result


def expected(name: str, claim: Claim) -> str:
    if claim.text.startswith(UNCHECKED):
        return "cannot be checked"
    return "does not hold" if any(claim.text.startswith(text) for text in FALSE[name]) else "holds"


def test_verdicts(done: tuple[str, Result]) -> None:
    name, result = done
    for claim in result.claims:
        if not claim.text.startswith(TIMED):
            assert claim.verdict == expected(name, claim), claim
        assert claim.where[0] == name[0]  # which paper
        assert claim.ours or claim.why, claim
        assert claim.why or claim.verdict == "holds" or claim.text.startswith(TIMED), claim
    for text in FALSE[name]:
        assert any(claim.text.startswith(text) for claim in result.claims), text


def test_files(done: tuple[str, Result]) -> None:
    _, result = done
    assert result.figures
    assert result.data
    assert result.left_out
    for path, caption in result.figures:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert caption
    for path in result.data:
        header, first = path.read_text(encoding="utf-8").splitlines()[:2]
        assert header.count(",") == first.count(",") > 0
    json.dumps(result.as_json())


def test_page_needs_nothing_else(done: tuple[str, Result], tmp_path: Path) -> None:
    name, result = done
    page = write_report({name: result}, tmp_path / "report.html", 1.0).read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == len(result.figures)
    assert not re.search(r"https?://|<script|<link", page)
    assert page.count('class="chip') == 3 + len(result.claims)  # the legend, and each claim


def test_list_and_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce("list", Path("unused")) == {}
    printed = capsys.readouterr().out
    assert all(name in printed for name in EXPERIMENTS)
    assert find("c-PANDA").name == "C-panda"
    with pytest.raises(ValueError, match=r"no experiment is named 'A-figure3': did you mean A-fig3"):
        find("A-figure3")


def test_command(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from jounce.cli import main; main()", "reproduce"]
    environment = {**os.environ, "COLUMNS": "100"}
    good = [*command, "C-panda", "--quick", "--output", str(tmp_path)]
    run = subprocess.run(good, capture_output=True, text=True, env=environment, timeout=120, check=True)
    assert "does not hold" in run.stdout
    found = json.loads((tmp_path / "C-panda.json").read_text(encoding="utf-8"))
    assert {claim["verdict"] for claim in found["claims"]} == {"holds", "does not hold"}
    bad = subprocess.run([*command, "C-pandas"], capture_output=True, text=True, timeout=60, check=False)
    assert bad.returncode != 0
    assert "did you mean C-panda" in bad.stderr


# --- what the experiments have of their own, against the oracles ---------------------------------------


def test_nine_joints_are_those_of_the_oracle() -> None:
    ours = nine_joints.difference_errors([1e-6], states=3)
    theirs = paper_b.finite_difference_errors(jounce_model, [1e-6], states=3)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=0.2)  # rounding is part of it


def test_recursion_of_paper_c() -> None:
    rng = np.random.default_rng(2)
    tree = random_tree(rng, 6, joints=("revolute",), serial=True)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 5)
    assert off(paper_c.inverse_dynamics(jounce_model(tree), q, v), oracle_c.inverse_dynamics(tree, q, v)) < 1e-12


def test_panda_is_that_of_the_description() -> None:
    """The geometry is that of example-robot-data's file."""
    from jounce.bench.race import LeftOut
    from jounce.bench.subjects import subject

    try:
        file: jn.Model = subject("Panda").model
    except LeftOut as reason:
        pytest.skip(str(reason))
    q = np.random.default_rng(0).uniform(-1, 1, 7)
    whole = np.concatenate([q, np.zeros(file.nq - 7)])
    np.testing.assert_allclose(panda().pose("link7", q), file.pose("panda_link7", whole), atol=1e-9)
