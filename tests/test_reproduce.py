"""The papers' experiments in their reduced form: what holds, what does not, and what is written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from jounce.reproduce import EXPERIMENTS, Claim, Result, d_sim1, d_sim2, find, nine_joints, paper_c, paper_d
from jounce.reproduce.claims import off
from jounce.reproduce.panda import panda
from jounce.reproduce.report import write_report
from jounce.reproduce.runner import reproduce
from oracles import paper_b
from oracles import paper_c as oracle_c
from oracles import paper_d as oracle_d
from soft_models import Joint, RigidBody, SoftSpec, constant_basis, constant_curvature, reference
from soft_models import Rod as RodSpec
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
    "D-sim1": [
        "The transformation of a planar body",
        "Algorithm 1 with (17)",
        "Algorithm 1 with (18)",
        "Algorithm 1 with (35)",
        "Algorithm 1 with (47)",
        "The Lamé constants",
        "The strain J^T J",
        "The columns of the mass matrix are AID",
        "-n + Q = GID",
        "The bump exp(-L /",
        "Hooke's law of section V.B",
        "From rest under u = (2 0 0 2 1 0.4) MPa",
    ],
    "D-sim2": ["As printed, at 0.666 GPa"],
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
    "Algorithms 1 and 2 take",
    "The mass matrix from inverse dynamics takes",
    "Forward dynamics ",
)
UNCHECKED = (
    "Of the methods listed",
    "Spatial screws allow",
    "The methods are preferable",
    "No existing approach",
    "Hand-crafted",
    "Sparse matrices",
    "No single recursive",
    "Chambers of pneumatic",
    "The recursion holds for densities",
    "A validation by experiment",
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
    assert page.count('class="chip') == 4 + len(result.claims)  # the legend, and each claim


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


def test_recursion_of_paper_d() -> None:
    """Ours has modules of sections and one point each, the oracle joints, rigid bodies and rods."""
    rng = np.random.default_rng(6)
    axis, points, mass, length = np.array([0.6, 0.0, 0.8]), rng.normal(size=(4, 3)), rng.uniform(0.1, 1.0, 4), 0.4
    com = mass @ points / mass.sum()
    r = points - com
    inertia = (mass @ (r**2).sum(axis=1)) * np.eye(3) - np.einsum("p,pi,pj", mass, r, r)
    phi = constant_curvature(length, planar=False, elongation=True)
    rod = RodSpec(
        parent=1, length=length, radii=(0.02, 0.02), density=900.0, young=1e5, poisson=0.4, viscosity=0.0,
        section="line", nodes=6, basis=constant_basis(phi), amplitudes=3, uniform=True,
    )  # fmt: skip
    joint = Joint(parent=-1, kind="revolute", axis=axis)
    body = RigidBody(parent=0, mass=mass.sum(), com=com, inertia=inertia)
    spec = SoftSpec((joint, body, rod), np.zeros(3))
    density = 900.0 * np.pi * 0.02**2
    chain = [paper_d.hinge(np.eye(4), axis, points, mass), paper_d.rod(np.eye(4), length, density, list(phi.T), 6)]
    q, v, a = rng.normal(size=(3, 4)) * (1, 1, 1, 0.05)
    ours = paper_d.generalized_inverse_dynamics(chain, q, v, a)
    assert off(ours, oracle_d.generalized_inverse_dynamics(spec, q, v, a)) < 1e-12
    for equation in paper_d.PRINTED:
        assert off(paper_d.generalized_inverse_dynamics(chain, q, v, a, printed=equation), ours) > 1e-6


@pytest.mark.parametrize(
    ("key", "robot", "part", "near"),
    [
        ("simulation1_tenth_of_the_pressure", lambda: d_sim1.arm(nodes=(80, 48)), 0.1, None),
        ("simulation2_at_0.666_MPa", lambda: d_sim2.arm(d_sim2.LIKELY), 0.0, 10 * d_sim2.START),
    ],
)
def test_rest_of_paper_d(key: str, robot: Callable[[], jn.Model], part: float, near: np.ndarray | None) -> None:
    """The arms of D-sim1 and D-sim2 rest where those of the oracles do."""
    wanted = reference()["equilibria"][key]
    arm = robot()
    pressures = part * d_sim1.PRESSURES if part else None
    rest = arm.equilibrium(pressures, q0=near)
    tip = arm.pose(arm.body_names[-1], rest.q)[:3, 3]
    np.testing.assert_allclose(tip, wanted["tip"], rtol=0, atol=1e-7)


def test_outline_ends_at_the_tip() -> None:
    q = np.array([0.4, 0.02, 0.003, 0.0, -0.9, 0.01, 0.0, 0.002, 0.5, 0.0, 0.001, 0.0])
    end = d_sim1.outline(q)[-1]
    middle = end[len(end) // 2 - 1 : len(end) // 2 + 1].mean(axis=0)
    np.testing.assert_allclose(middle, d_sim1.arm(nodes=(20, 8)).pose("body 3", q)[1:3, 3], rtol=0, atol=1e-4)


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
