"""The race with other libraries: the harness, not the times."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jounce_lab.bench import cases, figure, goals, page, peers, race, report, run, subjects
from jounce_lab.bench.cases import Case
from jounce_lab.bench.ours import our_call
from jounce_lab.bench.peers import PEERS, Peer
from jounce_lab.bench.race import Call, Problem
from time_limits import HANG


def _wrong(problem: Problem) -> Call:
    call = our_call(problem)
    return Call("wrong", call.run, lambda: call.answer() * (1 + 1e-7))


def _same(problem: Problem) -> Call:
    call = our_call(problem)
    return Call("same", call.run, call.answer)


def _fails(problem: Problem) -> Call:
    raise RuntimeError("broken\nhere")


def _too_large(problem: Problem) -> Call:
    raise race.LeftOut("too large")


class _Peer(Peer):
    """A peer whose call is given directly instead of its module."""

    make: object

    def call(self, problem: Problem) -> Call | None:
        return self.make(problem)  # type: ignore[operator, no-any-return]


def _peer(name: str, make: object, package: str = "") -> Peer:
    peer = _Peer(name, package, name, "")
    object.__setattr__(peer, "make", make)
    return peer


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    made = [_peer("Pinocchio", _same), _peer("CasADi", _wrong), _peer("adam", _fails), _peer("JAX jet", _too_large)]
    made += [_peer("MuJoCo", _same, "no_such_package"), _peer("CasADi, cse", lambda _: None)]
    table = {peer.name: peer for peer in made}
    chosen = [Case("inverse dynamics", "N = 7", order, tuple(table)) for order in (0, 5)]
    return json.loads(json.dumps(run.results_of(chosen, False, table)))


def test_only_a_peer_that_agrees_is_timed(results: dict) -> None:
    by_name = {entry["peer"]: entry for entry in results["cases"][1]["peers"]}
    assert by_name["Pinocchio"]["status"] == "raced"
    assert by_name["Pinocchio"]["error"] == 0
    low, high = by_name["Pinocchio"]["spread"]
    assert 0.1 < low <= high < 10
    assert by_name["CasADi"]["status"] == "disagrees"
    assert "ratio" not in by_name["CasADi"]
    assert by_name["CasADi"]["error"] == pytest.approx(1e-7, rel=1e-3)
    assert by_name["adam"]["why"] == "RuntimeError: broken"
    assert by_name["JAX jet"] == {"peer": "JAX jet", "status": "left out", "why": "too large"}
    assert by_name["MuJoCo"]["status"] == "not installed"
    assert by_name["CasADi, cse"]["status"] == "left out"
    assert run.has_faults(results)


def test_results_name_the_machine_and_judge_the_goals(results: dict) -> None:
    assert {"processor", "instruction_set", "date", "versions"} <= results["machine"].keys()
    assert {g["holds"] for g in results["goals"]} == {None}  # no race with a goal agreed
    names = {case.name for case in cases.cases(full=True)}
    for goal in goals.goals("avx512"):
        assert goal.case in names
        assert goal.peer in PEERS
    asked = {(case.name, peer) for case in cases.cases(full=True) for peer in case.peers}
    assert {(goal.case, goal.peer) for goal in goals.goals("avx2")} <= asked


def test_words_are_no_markup(results: dict) -> None:
    """Processor names, and error messages of other libraries, are shown verbatim."""
    from rich.console import Console

    out = io.StringIO()
    odd = json.loads(json.dumps(results))
    odd["machine"]["processor"] = "[red]chip[/blue]"
    for case in odd["cases"]:
        case["name"] = "[/race]"
        for peer in case["peers"]:
            peer["why"], peer["peer"] = "[/oops]", "[/peer]"
    for goal in odd["goals"]:
        goal["status"] = goal["case"] = "[/goal]"
    report.show(odd, Console(file=out, width=200))
    for words in ("[red]chip[/blue]", "[/race]", "[/oops]", "[/peer]", "[/goal]"):
        assert words in out.getvalue()


def test_a_goal_is_judged() -> None:
    goal = goals.goals("avx2")[0]
    entry = {"peer": goal.peer, "status": "raced", "ratio": goal.ratio * 0.99, "spread": [1, 2]}
    found = {"machine": {"instruction_set": "avx2"}, "cases": [{"name": goal.case, "peers": [entry]}]}
    assert goals.judged(found)[0]["holds"] is False
    entry["ratio"] = goal.ratio
    assert goals.judged(found)[0]["holds"] is True


def test_tables_go_between_the_markers(results: dict, tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("a\n<!-- bench -->\nwas here\n<!-- /bench -->\nb\n<!-- bench: all -->\n<!-- /bench -->\nc\n")
    page.write_into(file, results)
    once = file.read_text()
    page.write_into(file, results)
    assert file.read_text() == once
    assert "was here" not in once
    assert once.startswith("a\n<!-- bench -->\n" + results["machine"]["processor"])
    assert "| inverse dynamics, r = 5, N = 7 |" in once
    assert "disagrees" in once
    assert once.endswith("<!-- /bench -->\nc\n")
    file.write_text("nothing")
    with pytest.raises(ValueError, match="has no <!-- bench -->"):
        page.write_into(file, results)


def test_pictures(results: dict, tmp_path: Path) -> None:
    assert [path.name for path in figure.draw(results, tmp_path)] == ["time_over_order.png"]


@pytest.mark.parametrize(("factor", "error"), [(1.0, 0.0), (1 + 1e-6, 1e-6), (np.nan, np.inf)])
def test_disagreement_is_relative_to_each_row(factor: float, error: float) -> None:
    ours = np.array([[1.0, 2.0], [1e4, -2e4]])
    theirs = ours.copy()
    theirs[0] *= factor
    assert race.disagreement(ours, theirs) == pytest.approx(error, rel=1e-6)


def test_unknown_race_is_refused_with_the_names() -> None:
    with pytest.raises(ValueError, match=r"no race is named 'Spot'.*\n.*Panda"):
        run.selected(False, ["Spot"])


def test_missing_robot_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(subjects._FILES, "Nobody", ("nobody.urdf", "fixed"))
    found = run.raced(Case("mass matrix", "Nobody"), 0.01)
    assert found["left_out"] == "example-robot-data is not installed"


def _agreement(case: Case, name: str) -> float:
    peer = PEERS[name]
    if not peer.is_installed:
        pytest.skip(f"{peer.distribution} is not installed")
    problem = case.problem()
    call = peer.call(problem)
    assert call is not None
    return race.disagreement(call.part(our_call(problem).answer()), call.answer())


@pytest.mark.parametrize("name", ["Pinocchio", "MuJoCo"])
@pytest.mark.parametrize("quantity", ["inverse dynamics", "forward dynamics"])
@pytest.mark.parametrize("robot", ["N = 11", "Panda, independent joints", "ANYmal"])
def test_libraries_agree(quantity: str, robot: str, name: str) -> None:
    try:
        assert _agreement(Case(quantity, robot), name) < 1e-10
    except race.LeftOut as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("case", cases._control(), ids=lambda case: case.name)
def test_regulators_of_others_agree(case: Case) -> None:
    for name in case.peers:
        if PEERS[name].is_installed:
            assert _agreement(case, name) < 1e-8


@pytest.mark.parametrize("quantity", cases._MATRICES)
def test_matrices_of_pinocchio_agree(quantity: str) -> None:
    assert _agreement(Case(quantity, "N = 11"), "Pinocchio") < 1e-10


@pytest.mark.parametrize("quantity", ["inverse dynamics", "forward dynamics", *cases._MATRICES])
@pytest.mark.parametrize("robot", ["Panda", "TALOS"])
def test_joints_that_follow_agree_with_what_pinocchio_says_of_independent_ones(robot: str, quantity: str) -> None:
    """Loaded by default, with coupled fingers and damped joints: Pinocchio's equations, projected."""
    try:
        assert subjects.subject(robot).independent is not None
        assert _agreement(Case(quantity, robot), "Pinocchio") < 1e-9
    except race.LeftOut as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("name", ["Pinocchio", "Pinocchio, lcaba", "jounce, r = 0"])
@pytest.mark.parametrize("order", [0, 3])
@pytest.mark.parametrize("robot", ["ANYmal", "TALOS", "TALOS, independent joints"])
def test_robots_on_their_feet_agree(robot: str, order: int, name: str) -> None:
    try:
        case = Case("constrained dynamics", robot, order)
        assert _agreement(case, name) < 1e-8
        assert len(case.problem().model.constraints) == (4 if robot == "ANYmal" else 2)
    except race.LeftOut as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("name", [name for name in PEERS if name.startswith("CasADi")])
def test_graphs_agree(name: str) -> None:
    assert _agreement(Case("inverse dynamics", "N = 7", 2), name) < 1e-12


@pytest.mark.parametrize("name", cases._GRAPHS["forward"] + ("CasADi, cse, compiled",))
@pytest.mark.parametrize(("robot", "order"), [("N = 7", 0), ("N = 7", 3), ("N = 11", 1)])
def test_graphs_of_forward_dynamics_agree(robot: str, order: int, name: str) -> None:
    assert _agreement(Case("forward dynamics", robot, order), name) < 1e-12


def test_taylor_mode_agrees() -> None:
    assert _agreement(Case("inverse dynamics", "N = 11", 0), "JAX jet") < 1e-12


def test_batches_agree() -> None:
    batch = Case("inverse dynamics", "N = 7", 1, states=5)
    assert _agreement(batch, "jounce, one state") < 1e-12
    assert _agreement(batch, "jounce, one thread") == 0
    assert _agreement(Case("inverse dynamics", "N = 7", 0, states=5), "Pinocchio") < 1e-12


def test_batch_of_a_compiled_graph_agrees() -> None:
    assert _agreement(Case("forward dynamics", "N = 7", 1, states=3), "CasADi, cse, compiled") < 1e-12


def test_every_peer_module_imports_without_its_library() -> None:
    hidden = {peer.package for peer in PEERS.values() if peer.package}
    modules = [f"jounce_lab.bench.peers{peer.source.split(':')[0]}" for peer in PEERS.values() if peer.package]
    code = f"import sys; sys.modules.update(dict.fromkeys({hidden})); import {', '.join(sorted(set(modules)))}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=HANG)
    assert peers.Peer("x", "no_such_package", "x", "").version is None


def test_command(tmp_path: Path) -> None:
    arguments = ["bench", "--only", "inverse dynamics, r = 5, N = 6", "--output", str(tmp_path)]
    command = [sys.executable, "-m", "jounce_lab", *arguments]
    environment = {**os.environ, "COLUMNS": "140", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=HANG, check=True)
    assert "inverse dynamics, r = 5, N = 6" in done.stdout
    assert "Goals" in done.stdout
    assert json.loads((tmp_path / "results.json").read_text())["format"] == 1
