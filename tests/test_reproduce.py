"""The papers' experiments in reduced form: what holds, what does not, and the output."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from jounce_lab.bench.cases import Case
from jounce_lab.bench.race import LeftOut
from jounce_lab.reproduce import (
    EXPERIMENTS,
    Claim,
    Result,
    a_authors,
    a_axes,
    a_casadi,
    a_operations,
    a_scaling,
    counting,
    d_operations,
    d_sim1,
    d_sim2,
    find,
    graph,
    nine_joints,
    paper_a,
    paper_c,
    paper_c_second,
    paper_d,
)
from jounce_lab.reproduce import paper_d_modules as modules
from jounce_lab.reproduce.authors import PUBLISHED, by_paper
from jounce_lab.reproduce.claims import VERDICTS, judged, off
from jounce_lab.reproduce.panda import (
    FIGURES,
    SAMPLES,
    THINNED,
    curves_of,
    motion,
    panda,
    published,
    published_curves,
    times,
)
from jounce_lab.reproduce.paper_b import Tree
from jounce_lab.reproduce.paper_b_inverse import forward_dynamics, linearization
from jounce_lab.reproduce.report import write_report
from jounce_lab.reproduce.runner import reproduce
from night import nightly
from oracles import paper_c as oracle_c
from oracles import paper_d as oracle_d
from oracles import soft_lagrange, virtual_work
from soft_models import Joint, RigidBody, SoftSpec, constant_basis, constant_curvature, reference
from soft_models import Rod as RodSpec
from time_limits import HANG
from trees import BodySpec, TreeSpec, random_configuration, random_stack, random_tree

# Claims by the start of their text: those that do not hold, and those that hold with a qualification. All others hold,
# but for those that depend on machine load.
FALSE = {
    "A-table5": ["Its derivative, to the letter", "The balance of momentum"],
    "B-section5": ["With its line 1, (67), it is the D_1"],
    "C-panda": ["The two forms of U", "(47), with A^(k)"],
    "D-sim1": [
        "The Lamé constants",
        "The columns of the mass matrix are AID",
        "-n + Q = GID",
        "Simulation 1's nu is one",
    ],
}
READ = {  # in one reading
    "A-fig4": ["Spatial screws allow"],
    "B-section5": ["The extended inverse dynamics, EIDAmb"],
    "C-panda": ["Gravity is J^T M U V_0'"],
}
DAMAGED = {  # read from a damaged copy
    "B-section5": [
        *(f"D_{i} by Tables 4 to 9 agrees" for i in range(1, 5)),
        "It is the derivative of EIDAmb by H",
        "D_2, by s",
        "The inverse of the mass matrix without",
        "Line 12 of Table 5",
        "Line 18 of Table 6",
        "Line 11 of Table 9",
    ],
    "C-panda": ["The backward step (20)", "a^(n) has"],
    "D-sim1": [
        "The recursion of Theorem 1",
        "The transformation of a planar body",
        "(17), in Algorithm 1",
        "(18), in Algorithm 1",
        "(35), from which",
        "(47), in Algorithm 1",
        "(49), the inertial terms",
        "The strain tensor",
    ],
}
CHANGED = {  # with a change to what is printed
    "A-table5": ["The same with the derivative of S"],
    "D-sim1": [
        "The columns of the mass matrix come",
        "-n + Q comes",
        "The bump makes",
        "It does at a tenth",
        "It does with the three-dimensional law",
    ],
    "D-sim2": ["At E = 0.666 MPa", "The steady state is consistent"],
}
QUALIFIED = {
    "does not hold": FALSE,
    "holds, in one reading": READ,
    "holds, read from a damaged copy": DAMAGED,
    "holds with a change": CHANGED,
}
TIMED = (
    "The algorithms become",
    "The scaling is on par",
    "The articulated-body algorithm",
    "Times will reduce",
)
UNCHECKED = (
    "Of the methods listed",
    "The methods are preferable",
    "No existing approach",
    "From rest under u = (2 0 0 2 1 0.4) MPa",
    "Mean time of a call",
    "No single recursive",
    "Chambers of pneumatic",
    "The recursion holds for densities",
    "A validation by experiment",
)


BY_DAY = EXPERIMENTS.keys() - {"A-fig4", "D-sim2"}  # these count operations for seconds


@pytest.fixture(scope="module", params=nightly(EXPERIMENTS, but=BY_DAY))
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
    for verdict, claims in QUALIFIED.items():
        if claim.text.startswith(tuple(claims.get(name, ()))):
            return verdict
    return "holds"


def test_verdicts(done: tuple[str, Result]) -> None:
    name, result = done
    for claim in result.claims:
        if not claim.text.startswith(TIMED):
            assert claim.verdict == expected(name, claim), claim
        assert claim.where[0] == name[0]  # which paper
        assert claim.ours or claim.why, claim
        if claim.verdict == "does not hold":  # the place and the two numbers
            assert re.search(r"\(\d+\)|section|Table", claim.where), claim
            assert re.search(r"\d", claim.paper), claim
            assert re.search(r"\d", claim.ours), claim
        assert claim.why or claim.verdict in ("holds", "does not hold") or claim.text.startswith(TIMED), claim
    for claims in QUALIFIED.values():
        for text in claims.get(name, ()):
            assert any(claim.text.startswith(text) for claim in result.claims), text


@pytest.mark.night
@pytest.mark.parametrize("name", ["A-fig3", "B-section5", "C-timing"])  # these depend on the clock
def test_another_run_says_the_same(name: str, tmp_path: Path) -> None:
    first, second = (EXPERIMENTS[name].run(tmp_path, quick=True).claims for _ in range(2))
    for a, b in zip(first, second, strict=True):
        assert replace(a, ours="") == replace(b, ours="")


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
    assert page.count('class="chip') == len(VERDICTS) + len(result.claims)  # the legend, and each claim


def test_list_and_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce("list", Path("unused")) == {}
    printed = capsys.readouterr().out
    assert all(name in printed for name in EXPERIMENTS)
    assert find("c-PANDA").name == "C-panda"
    with pytest.raises(ValueError, match=r"no experiment is named 'A-figure3': did you mean A-fig3"):
        find("A-figure3")


def test_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jounce_lab", "reproduce"]
    environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": os.pathsep.join(sys.path)}
    good = [*command, "C-panda", "--quick", "--output", str(tmp_path)]
    run = subprocess.run(good, capture_output=True, text=True, env=environment, timeout=HANG, check=True)
    assert "does not hold" in run.stdout
    found = json.loads((tmp_path / "C-panda.json").read_text(encoding="utf-8"))
    assert {claim["verdict"] for claim in found["claims"]} == set(VERDICTS[:3]) | {"does not hold"}
    bad = subprocess.run(
        [*command, "C-pandas"], capture_output=True, text=True, env=environment, timeout=HANG, check=False
    )
    assert bad.returncode == 2
    assert "did you mean C-panda" in bad.stderr


# --- the experiments' own code, against the oracles ----------------------------------------------------


def test_nine_joints_by_the_tables_of_paper_b() -> None:
    """The tables, on a robot that a model accepts, agree with the library."""
    rng = np.random.default_rng(3)
    robot = nine_joints.random_robot(rng)
    q, v, tau = nine_joints.random_state(rng, robot)
    tree, a = Tree.of(robot), robot.forward_dynamics(q, v, tau)
    assert off(forward_dynamics(tree, q, v, tau), a) < 1e-13
    A, B = linearization(tree, q, v, a)
    lin = robot.linearize(q, v, tau, actuated=robot.joint_names[1:])
    assert off(A, lin.A) < 1e-13
    assert off(B, lin.B) < 1e-13


def test_inertias_as_paper_b_draws_them() -> None:
    """Symmetric, positive definite, entries in [0, 1], distributed as among whole matrices drawn at once."""
    rng = np.random.default_rng(0)
    drawn = np.array(nine_joints.random_inertias(rng, 60))
    assert (drawn == drawn.swapaxes(1, 2)).all()
    assert 0 <= drawn.min() < drawn.max() <= 1
    assert np.linalg.eigvalsh(drawn).min() > 0
    whole = rng.uniform(size=(2 * 10**5, 6, 6))
    whole = (whole + whole.swapaxes(1, 2)) / 2
    whole = whole[np.linalg.eigvalsh(whole).min(axis=1) > 0]
    assert len(whole) > 10
    assert abs(np.trace(drawn, axis1=1, axis2=2).mean() - np.trace(whole, axis1=1, axis2=2).mean()) < 0.4
    with pytest.raises(ValueError, match="no body of positive density"):
        jn.Inertia(float(drawn[0, 0, 0]), rotational=drawn[0, 3:, 3:])


def test_formulas_of_paper_c() -> None:
    """Recursion and closed form, against forces computed from positions alone."""
    rng = np.random.default_rng(2)
    tree = random_tree(rng, 4, joints=("revolute",), serial=True)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 4)
    robot, truth = jounce_model(tree), virtual_work.inverse_dynamics(tree, q, v)
    passive = robot.inverse_dynamics(q, v) - paper_c.closed_form(robot, q, v).torque(0)  # armature, springs: not in C
    links = paper_c.links_of(robot)
    recursion = paper_c.inverse_dynamics(links, tree.gravity, q, v)
    assert off(oracle_c.inverse_dynamics(tree, q, v), truth) < 1e-12
    assert off(recursion[0] + passive[0], truth[0]) < 1e-12
    form = paper_c.closed_form(robot, q, v)
    assert off(np.array([form.torque(k) for k in range(3)]), recursion) < 1e-12
    assert off(paper_c.inverse_dynamics(links, tree.gravity, q, v, printed=True), recursion) > 1e-3


def test_second_order_by_hand() -> None:
    """What paper C's algorithms of any order are compared with, on an arm without gravity and springs."""
    rng = np.random.default_rng(5)
    arm = random_tree(rng, 5, joints=("revolute",), serial=True)
    bodies = tuple(replace(b, armature=0.0, damping=0.0, stiffness=0.0) for b in arm.bodies)
    tree = replace(arm, bodies=bodies, gravity=np.zeros(3))
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 4)
    robot, truth = jounce_model(tree), virtual_work.inverse_dynamics(tree, q, v)
    assert off(paper_c_second.recursive(paper_c.links_of(robot), q, v), truth) < 1e-12
    assert off(paper_c_second.closed(paper_c.closed_form(robot, q, v)), truth) < 1e-12


def test_curves_of_paper_c(tmp_path: Path) -> None:
    """The points here, from files like those of the authors, in which each figure has seven paths of 10,001 points."""
    thinned, index = published_curves(), np.arange(SAMPLES + 1)
    (tmp_path / "results").mkdir()
    for stem, low, high in FIGURES.values():
        name = next(name for name, figure in FIGURES.items() if figure[0] == stem)
        paths = ["N\n73 374 M\n507 374 L\nS\n"]
        for curve in thinned[name].T:
            y = 374 - 343 * (np.interp(index, index[::THINNED], curve) - low) / (high - low)
            x = 73 + 434 * index / SAMPLES
            steps = "\n".join(f"{a:.3f} {b:.3f} {'L' if i else 'M'}" for i, (a, b) in enumerate(zip(x, y, strict=True)))
            paths.append(f"N\n{steps}\nS\n")
        (tmp_path / "results" / f"{stem}.eps").write_text("%!PS\n" + "GR\n".join(paths))
    read = curves_of(tmp_path)
    for name, (_, low, high) in FIGURES.items():
        assert thinned[name].shape == (201, 7)
        assert np.abs(read[name][::THINNED] - thinned[name]).max() < 2e-6 * (high - low)
    (tmp_path / "results/Q.eps").write_text("\nN\n73 374 M\n507 374 L\nS\n")
    with pytest.raises(ValueError, match=r"Q.eps has 0 curves of 10001 points, expected 7"):
        curves_of(tmp_path)


def test_figures_of_paper_c_by_positions_alone() -> None:
    """Three of their points, by forces from positions differentiated in high precision, not by jounce's."""
    robot, at = published(), [7, 100, 163]
    q, v = motion(times()[at], 5)
    links = enumerate(robot.bodies)
    specs = [
        BodySpec(b.name, i - 1, "revolute", b.placement, b.inertia.mass, b.inertia.com, b.inertia.rotational)
        for i, b in links
    ]
    tree, curves = TreeSpec(tuple(specs), np.zeros(3)), published_curves()
    for k, i in enumerate(at):
        truth = virtual_work.inverse_dynamics(tree, q[k], v[k])
        for order, name in enumerate(("Fig. 2", "Fig. 3", "Fig. 4", "Fig. 5")):
            _, low, high = FIGURES[name]
            assert np.abs(truth[order] - curves[name][i]).max() < 2e-6 * (high - low)


def test_casadi_graphs_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """At N = 101, from smaller trees: at low orders the function itself compares with the graph."""
    pytest.importorskip("casadi")
    monkeypatch.setattr(a_casadi, "ORDERS", range(2))
    for kind in a_scaling.KINDS:
        first, second = a_casadi.instructions(kind)
        assert 2.5 < second / first < 3.5
    monkeypatch.setattr(a_casadi, "_of", lambda kind, branches, links, order: branches * links**2)
    with pytest.raises(ArithmeticError, match=r"dynamics has 2000 instructions, not \d+"):
        a_casadi.instructions("inverse")


def test_growth_is_judged(tmp_path: Path) -> None:
    ours = np.array([[100, 200], [150, 300], [220, 440]])
    counts = {"inverse": [1000, 3000, 9000], "forward": [1000, 2900, 3500]}
    assert [claim.verdict for claim in a_casadi.claims(counts, ours)] == ["holds", "does not hold"]
    cubes = {kind: [3**r for r in a_casadi.ORDERS] for kind in counts}
    path = a_casadi.draw(cubes, np.ones((11, 2)), tmp_path / "c.png")
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("frame", a_axes.FRAMES)
def test_axes_are_compared(frame: str) -> None:
    """`operations` compares the forces with the library's; the work is quadratic in the order from some order on."""
    robot = jn.robots.aerial_manipulator(3, 2)
    counts = [a_axes.operations(robot, order, frame) for order in range(1, 6)]
    assert len(set(np.diff(counts, 2))) == 1
    assert counts == sorted(counts)


def test_body_axes_take_least() -> None:
    for order in (0, 5):
        made = a_axes.compared(order)
        assert made["body"] < made["hybrid"] < made["world"]


def test_labels_exclude_each_other() -> None:
    claim = judged("x", "C, (1)", "", 1.0, True, "why", damage="read so")
    assert (claim.verdict, claim.why) == ("holds, read from a damaged copy", "read so why")
    assert judged("x", "C, (1)", "", 1.0, False, damage="read so").verdict == "does not hold"
    with pytest.raises(ValueError, match="'x' holds, in one reading and holds with a change: expected one of them"):
        judged("x", "C, (1)", "", 1.0, True, reading="a", change="b")


def test_clones_are_known_by_their_files(tmp_path: Path) -> None:
    for paper, (_, file) in PUBLISHED.items():
        (tmp_path / paper / file).parent.mkdir(parents=True)
        (tmp_path / paper / file).write_text("")
    assert by_paper([tmp_path / paper for paper in "DAC"]) == {paper: tmp_path / paper for paper in "ACD"}
    with pytest.raises(
        ValueError, match=r"authors is '.*', expected a clone of https://github.com/ahmed11406/Dynamics"
    ):
        by_paper([tmp_path])


@pytest.mark.parametrize(("branches", "links"), [(2, 3), (5, 1)])
def test_algorithms_of_paper_a(branches: int, links: int) -> None:
    robot, rng = jn.robots.aerial_manipulator(branches, links), np.random.default_rng(links)
    q, v = robot.random_configuration(rng), rng.normal(size=(5, robot.nv))
    truth = robot.inverse_dynamics(q, v, frame="world")
    tree, C = paper_a.Tree.of(robot), robot.pose("B1", q)
    base, joints = v[:, :6][:, paper_a.SWAP], np.vstack([q[7:], v[:, 6:]])
    wrench, tau = paper_a.inverse_dynamics(tree, C, base, joints, 3)
    assert off(np.hstack([wrench[:, paper_a.SWAP], tau]), truth) < 1e-12
    bias: list[np.ndarray] = []
    acc, rates = paper_a.forward_dynamics(tree, C, base[0], joints[:2], wrench, tau, bias)
    in_body = robot.change_velocity_frame(q, v[:2], "world", "body")
    form = robot.closed_form(q, in_body).spatial  # (22) at order 0, with the wrench through each joint of Proposition 1
    through = form.G_c @ (form.M @ (form.dV() - form.G) - form.ad.T @ form.M @ form.V)
    back = np.linalg.inv(form.Ad)
    for j, MA in enumerate(robot.articulated_inertia(q)):
        rows = slice(6 * j, 6 * j + 6)
        in_world = back[rows, rows].T @ MA @ back[rows, rows]
        assert off(bias[0][j], jn.angular_first(through[rows] - in_world @ form.dV()[rows])) < 1e-9
    assert off(acc, base[1:]) < 1e-9
    assert off(rates, joints[2:]) < 1e-8
    with pytest.raises(ValueError, match="expected a free base"):
        paper_a.Tree.of(panda())


def test_operations_are_counted() -> None:
    a, b = counting.as_counted(np.ones((6, 6))), counting.as_counted(np.ones((6, 6)))
    assert counting.operations(lambda: a @ b) == 6 * 6 * 11
    assert counting.operations(lambda: (a + 1.0, 2 * a, a - b, 1 / a, np.sin(a), -a)) == 5 * 36
    counts = [a_operations.counted(jn.robots.aerial_manipulator(5, 1), r) for r in range(4)]
    assert not np.diff(counts, 3, axis=0).any()  # quadratic in r
    assert np.diff(counts, 2, axis=0).all()
    counting.Tallied.reset()
    x = np.diag([1.0, 2.0]).view(counting.Tallied)
    np.testing.assert_array_equal(x @ np.ones(2) + 1.0, [2.0, 3.0])
    assert (counting.Tallied.dense, counting.Tallied.sparse) == (6 + 2, 2 + 2)


def test_graph_differentiates() -> None:
    """sin(t) (t t - 3), twice: 2 sin + 4 t cos - (t t - 3) sin."""
    sizes = []
    for shared in (False, True):
        made = graph.Graph(shared)
        t = made.variable()
        y = [t.sin() * (t * t - 3.0), 2.0]
        for _ in range(2):
            y = made.derivative(y, t)
        at = 0.7
        wanted = 2 * np.sin(at) + 4 * at * np.cos(at) - (at * at - 3) * np.sin(at)
        np.testing.assert_allclose(graph.evaluated(y, {id(t): at}), [wanted, 0.0], rtol=1e-14)
        sizes.append(made.size(y))
    assert sizes[1] < sizes[0]


AUTHORS_STUB = {
    "gabi_fbs.hpp": """#pragma once
#include <Eigen/Dense>
#include <vector>
namespace gabi {
using Mat4 = Eigen::Matrix4d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using In = Eigen::Ref<const Eigen::MatrixXd>;
struct GabiOut {
  Eigen::MatrixXd Vder_flat, qhigh;
  void allocate(int N, int r) { Vder_flat.setConstant(6 * N, r + 2, 7), qhigh.setConstant(N, r + 1, 8); }
};
struct GabiFBSRunner {
  void setModel(int, const std::vector<std::vector<int>>&, const std::vector<int>&, const Mat4&,
                const std::vector<Mat4>&, const std::vector<Vec6>&, const std::vector<Mat6>&, int) {}
  void compute(const Mat4&, const Vec6&, const std::vector<double>&, const std::vector<double>&, const In&,
               const In&, const In&, int, double, GabiOut*) {}
};
}
""",
    "grne_id.hpp": """#pragma once
#include "se3_spatial.hpp"
namespace grne {
struct IdOut {
  Eigen::MatrixXd Qbase, Qjoint;
  void allocate(int N, int r) { Qbase.setZero(6, r + 1), Qjoint.setZero(N, r + 1); }
};
struct GrneIdRunner {
  int N;
  void setModel(int n, const std::vector<std::vector<int>>&, const std::vector<int>&, const Mat4&,
                const std::vector<Mat4>&, const std::vector<Vec6>&, const std::vector<Mat6>&, int) { N = n; }
  void compute(const Mat4&, const gabi::In& V, const gabi::In& q, const gabi::In&, int r, double, IdOut* out) {
    out->Qbase = V.leftCols(r + 1), out->Qjoint = q.leftCols(r + 1);
  }
};
}
""",
    "gabi_fbs.cpp": "",
    "grne_id.cpp": "",
}


def test_code_of_the_authors_is_built(tmp_path: Path) -> None:
    """With a stub that has their interface and returns its input."""
    with pytest.raises(ValueError, match=r"has no grne_id.hpp, grne_id.cpp, .*expected a clone"):
        a_authors.Authors(tmp_path)
    for name, text in AUTHORS_STUB.items():
        (tmp_path / name).write_text(text)
    problem = Case("inverse dynamics", "N = 7", 1).problem()
    try:
        call = a_authors.Authors(tmp_path).call(problem)
    except LeftOut as reason:
        pytest.skip(str(reason))
    m, q = problem.model, problem.q
    spatial = m.change_velocity_frame(q, problem.v, "body", "world")
    given = np.hstack([spatial[:2, :6], np.vstack([q[7:], spatial[0, 6:]])])
    np.testing.assert_allclose(call.answer(), m.change_force_frame(q, spatial, given, "world", "body"), atol=1e-12)
    (tmp_path / "gabi_fbs.cpp").write_text("nonsense")
    a_authors.built.cache_clear()
    with pytest.raises(LeftOut, match="it does not compile"):
        a_authors.built(tmp_path)


def test_verdicts_do_not_depend_on_the_machine() -> None:
    """Claims judged by a clock have times that are far apart, or are not judged."""
    times = a_scaling.Times()
    for r, (ours, theirs) in enumerate([(3.0, 9.0), (4.0, 40.0), (5.0, 500.0)]):
        peers = [{"peer": a_scaling.CASADI, "status": "raced", "microseconds": theirs}]
        times.add("inverse", 101, r, {"microseconds": ours, "peers": peers})
    assert a_scaling.faster(times, 101).verdict == "holds"
    times.found[a_scaling.CASADI, "inverse", 101, 2] = 25.0  # five times as long as jounce, three at r = 0
    assert a_scaling.faster(times, 101).verdict == "does not hold"
    times = a_scaling.Times()
    missing = [{"peer": name, "status": "not installed", "why": "pip"} for name in (a_scaling.CASADI, "Pinocchio")]
    times.add("inverse", 101, 0, {"microseconds": 1.0, "peers": missing})
    assert a_scaling.faster(times, 101).verdict == a_scaling.pinocchio(times).verdict == "cannot be checked"


def test_modules_of_paper_d() -> None:
    """Series in time against tangent operators: two kinematics of a module, one recursion; and Lagrange's."""
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
    chain = [modules.hinge(np.eye(4), axis, points, mass), modules.rod(np.eye(4), length, density, list(phi.T), 6)]
    q, v, a = rng.normal(size=(3, 4)) * (1, 1, 1, 0.05)
    ours = modules.generalized_inverse_dynamics(chain, q, v, a)
    assert off(ours, oracle_d.generalized_inverse_dynamics(spec, q, v, a)) < 1e-12
    assert off(ours, soft_lagrange.forces(spec, q, np.stack([v, a])).inertial[0]) < 1e-12
    for equation in paper_d.LITERAL:
        assert off(modules.generalized_inverse_dynamics(chain, q, v, a, literal=equation), ours) > 1e-6


def test_counted_operations() -> None:
    """Elimination of n unknowns takes the known number of operations; the counting numbers also compute correctly."""
    for n in (1, 2, 5):
        A, b = np.random.default_rng(n).normal(size=(n, n)) + 3 * n * np.eye(n), np.arange(1.0, n + 1)
        before = d_operations.Counted.made
        x = d_operations._solved(d_operations.counted(A), d_operations.counted(b))
        lower = n * (n - 1) // 2  # factors, and sums and products on the right side, twice
        assert d_operations.Counted.made - before == 2 * (n - 1) * n * (2 * n - 1) // 6 + 5 * lower + n
        np.testing.assert_allclose([number.value for number in x], np.linalg.solve(A, b), rtol=1e-12)


@pytest.mark.parametrize(
    ("key", "robot", "part", "near"),
    [
        ("simulation1_tenth_of_the_pressure", lambda: d_sim1.arm(nodes=(80, 48)), 0.1, None),
        ("simulation2_at_0.666_MPa", lambda: d_sim2.arm(d_sim2.MEANT), 0.0, 10 * d_sim2.START),
    ],
)
def test_rest_of_paper_d(key: str, robot: Callable[[], jn.Model], part: float, near: np.ndarray | None) -> None:
    """The arms of D-sim1 and D-sim2 come to rest where those of the oracles do."""
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
    from jounce_lab.bench.subjects import subject

    try:
        file: jn.Model = subject("Panda").model
    except LeftOut as reason:
        pytest.skip(str(reason))
    q = np.random.default_rng(0).uniform(-1, 1, 7)
    whole = np.concatenate([q, np.zeros(file.nq - 7)])
    np.testing.assert_allclose(panda().pose("link7", q), file.pose("panda_link7", whole), atol=1e-9)
