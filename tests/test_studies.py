"""Studies: samples, members, results, and what becomes of them when something is killed."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from jounce import study as st
from time_limits import HANG

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="the packages of the extra 'study' need Python 3.11 or newer"
)


class Scenario:
    """Returns a number of the member, and notes in a file who computed it; fails, or is slow, where asked."""

    def __init__(self, log: Path | None = None, faults: dict[int, str] | None = None, seconds: float = 0.0) -> None:
        self.log, self.faults, self.seconds = None if log is None else str(log), faults or {}, seconds

    def __call__(self, robot: jn.Model, member: st.Member) -> float:
        if self.log:
            with open(self.log, "a", encoding="utf-8") as file:
                file.write(f"{member.index}\n")
        time.sleep(self.seconds)
        fault = self.faults.get(member.index, "")
        if fault:
            exec(fault, {"jn": jn, "st": st, "np": np, "robot": robot})
        return member["a"] + float(member.rng.random()) + robot.mass

    def computed(self) -> list[int]:
        return [int(line) for line in Path(str(self.log)).read_text(encoding="utf-8").split()]


def value(flight: st.Flight) -> float:
    return float(flight.motion)


def small(scenario: object = None, **changes: object) -> st.Study:
    options: dict[str, object] = {
        "robot": jn.robots.quadrotor_arm(),
        "parameters": {"a": st.Uniform(0.0, 1.0, unit="s"), "load": st.Grid([0.0, 0.1], unit="kg")},
        "edits": {"load": st.Payload("tool")},
        "scenario": scenario or Scenario(),
        "measures": {"value": value},
        "samples": 10,
        "piece": 3,
    }
    return st.Study(**{**options, **changes})  # type: ignore[arg-type]


# --- samples ----------------------------------------------------------------------------------------------


def test_distributions_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    u = np.linspace(0.01, 0.99, 99)
    for own, its in (
        (st.Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
        (st.LogUniform(1e-3, 1e2), stats.loguniform(1e-3, 1e2)),
        (st.Normal(2.0, 0.5), stats.norm(2.0, 0.5)),
        (st.Normal(2.0, 0.5, low=1.8, high=4.0), stats.truncnorm(-0.4, 4.0, 2.0, 0.5)),
        (st.Drawn(stats.triang(0.5, 0.0, 2.0)), stats.triang(0.5, 0.0, 2.0)),
    ):
        np.testing.assert_allclose(own.at(u), its.ppf(u), rtol=1e-12)


def test_grids_make_all_combinations_and_share_their_sample() -> None:
    study = small(parameters={"x": st.Grid([1.0, 2.0]), "a": st.Uniform(0, 1), "y": st.Grid([5.0, 6.0, 7.0])}, edits={})
    assert study.shape == (2, 3, 10)
    cube = study.table().reshape(2, 3, 10, 3)
    assert (cube[..., 0] == np.array([1.0, 2.0])[:, None, None]).all()
    assert (cube[..., 2] == np.array([5.0, 6.0, 7.0])[:, None]).all()
    assert (cube[..., 1] == cube[0, 0, :, 1]).all()
    assert len(set(cube[0, 0, :, 1].tolist())) == 10


@pytest.mark.parametrize("method", ["sobol", "halton", "latin", "random"])
def test_samples_cover_and_repeat(method: str) -> None:
    two = {"a": st.Uniform(0.0, 1.0), "b": st.Uniform(0.0, 1.0)}
    study = small(parameters=two, edits={}, samples=64, method=method)
    table = study.table()
    assert (table == study.table()).all()
    assert (table != replace(study, seed=1).table()).all()
    assert abs(table.mean(axis=0) - 0.5).max() < (0.2 if method == "random" else 0.03)


def test_members_are_random_by_themselves() -> None:
    study = small()
    one = study.member(7).rng.normal(size=3)
    assert (one == study.member(7).rng.normal(size=3)).all()
    assert (one != study.member(8).rng.normal(size=3)).all()
    assert (one != replace(study, seed=1).member(7).rng.normal(size=3)).all()


def test_edits_are_those_of_models() -> None:
    robot = jn.robots.panda().replace(friction=0.5)
    assert (st.Gravity()(robot, 1.62).gravity == [0, 0, -1.62]).all()
    assert st.Mass("link2")(robot, 2.0).mass == pytest.approx(robot.mass + robot.bodies[1].inertia.mass)
    assert st.Payload("link7", (0, 0, 0.1))(robot, 2.0).mass == pytest.approx(robot.mass + 2.0)
    assert (st.Drive("friction", factor=True)(robot, 3.0).friction == 1.5).all()
    assert st.Drive("damping", "q3")(robot, 3.0).damping.tolist() == [0, 0, 3, 0, 0, 0, 0]
    assert st.Drive("friction", "q3", factor=True)(robot, 2.0).friction.tolist() == [0.5, 0.5, 1, 0.5, 0.5, 0.5, 0.5]
    assert st.Limit("effort", "q1")(robot, 50.0).effort_limit.tolist() == [50, 87, 87, 87, 12, 12, 12]


# --- results ----------------------------------------------------------------------------------------------


def test_results_have_names_units_and_parameters() -> None:
    found = small().run(workers=1)
    table = small().table()
    robot = jn.robots.quadrotor_arm()
    assert found.sizes == {"member": 20}
    assert (found["a"].values == table[:, 0]).all()
    assert found["a"].attrs["units"] == "s"
    expected = [small().member(i).rng.random() + row[0] + robot.mass + row[1] for i, row in enumerate(table)]
    np.testing.assert_allclose(found["value"], expected, rtol=1e-14)
    assert (found["status"] == 0).all()
    assert json.loads(found.attrs["jounce study"])["seed"] == "0"


def test_processes_find_the_same_bits(tmp_path: Path) -> None:
    study = small(Scenario(faults={4: "raise st.MemberError('it fell')"}))
    one = study.run(workers=1)
    assert study.run(workers=2).identical(one)
    assert study.run(workers=2, store=tmp_path / "a.zarr").load().identical(one)
    assert one["reason"].values[4] == "it fell"


def test_failures_are_results() -> None:
    stopped = (
        "jn.simulate(robot, robot.neutral(), np.zeros(robot.nv), [0, 1], lambda t, q, v: v * np.nan, method='rkmk')"
    )
    faults = {
        1: "raise st.MemberError('it fell at 1 s')",
        2: stopped,
        3: "while True: pass",
        4: "raise jn.SingularError('no solution')",
        6: "raise ZeroDivisionError('by zero')",
    }
    study = small(
        Scenario(faults=faults),
        measures={"value": value, "odd": lambda flight: np.inf if flight.parameters.index == 5 else 1.0},
        time_limit=2.0,
    )
    with pytest.warns(RuntimeWarning, match=r"1 of 20 members .* number 6: ZeroDivisionError: by zero"):
        found = study.run(workers=1)
    assert found["status"].values.tolist() == [0, 1, 2, 3, 4, 5, 6] + 13 * [0]
    reasons = found["reason"].values
    assert reasons[1] == "it fell at 1 s"
    assert "not finite" in reasons[2]
    assert reasons[3] == "it took longer than 2 s"
    assert reasons[5] == "odd is inf"
    assert np.isnan(found["value"].values[1:7]).all()
    assert np.isfinite(found["value"].values[7:]).all()
    assert st.failures(found) == {
        "done": 14, "failed": 1, "stopped": 1, "out of time": 1, "no solution": 1, "not finite": 1, "error": 1
    }  # fmt: skip
    with pytest.raises(st.MemberError, match="it fell"):
        study.flight(1)


def test_a_member_that_ends_its_process_is_a_result(tmp_path: Path) -> None:
    crash = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    scenario = Scenario(tmp_path / "log", faults={7: crash})
    found = small(scenario).run(workers=2)
    assert np.flatnonzero(found["status"].values).tolist() == [7]
    assert found["status"].values[7] == 7
    assert found["reason"].values[7] == "its process died of signal 9"
    assert found.drop_sel(member=7)["value"].equals(small().run(workers=1).drop_sel(member=7)["value"])


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    """Finished pieces are not computed again, and what is there can be read."""
    scenario = Scenario(tmp_path / "log")
    whole = small().run(workers=1)

    class Enough(BaseException):
        pass

    counted = []

    def measure(flight: st.Flight) -> float:
        if stop and flight.parameters.index == 13:
            raise Enough
        counted.append(flight.parameters.index)
        return value(flight)

    stop = [True]
    study = small(scenario, measures={"value": value})
    object.__setattr__(study, "measures", {"value": measure})
    plain = study.fingerprint()
    object.__setattr__(study, "fingerprint", lambda: plain)
    with pytest.raises(Enough):
        study.run(store=tmp_path / "s.zarr", workers=1)
    half = st.read(tmp_path / "s.zarr")
    assert half["status"].values.tolist() == 12 * [0] + 8 * [-1]
    assert half["value"].values[:12].tolist() == whole["value"].values[:12].tolist()
    stop.clear()
    found = study.run(store=tmp_path / "s.zarr", workers=1)
    assert counted == [*range(13), *range(12, 20)]
    assert found["value"].values.tolist() == whole["value"].values.tolist()
    assert study.run(store=tmp_path / "s.zarr", workers=1).load().identical(found.load())
    assert len(counted) == 21


def test_short_pieces_are_written_together(tmp_path: Path) -> None:
    """400 pieces of one member: the driver spends less than 1 ms on each, where a write of its own takes 2 or 3."""
    resource = pytest.importorskip("resource")
    spent = []
    for i, members in enumerate((2, 2, 402)):
        before = resource.getrusage(resource.RUSAGE_SELF)
        found = small(edits={}, samples=members // 2, piece=1).run(store=tmp_path / f"{i}.zarr", workers=2)
        after = resource.getrusage(resource.RUSAGE_SELF)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert (found["status"] == 0).all()
    assert spent[2] - spent[1] < 0.4


def test_a_finished_piece_does_not_wait_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last member goes on until all others are stored, also those that ended soon after a write."""
    from jounce.study import store

    monkeypatch.setattr(store, "_REST", 1e9)
    monkeypatch.setattr(store, "_LONGEST", 1.0)
    place = str(tmp_path / "s.zarr")

    def patient(robot: jn.Model, member: st.Member) -> float:
        import time

        end = time.monotonic() + HANG
        while member.index == 19 and (st.read(place)["status"].values[:-1] != 0).any() and time.monotonic() < end:
            time.sleep(0.05)
        return time.monotonic() < end

    found = small(patient, piece=1).run(store=place, workers=2)
    assert found["value"].values.all()


def test_what_is_done_has_measures_while_a_run_goes_on(tmp_path: Path) -> None:
    """Also where a measure is read before the run goes on, and the status after it."""
    study, seen = small(piece=1), []

    def measure(flight: st.Flight) -> float:
        if flight.parameters.index == 1:
            seen.append(st.read(tmp_path / "s.zarr"))
            seen[0]["value"].load()
        return value(flight)

    object.__setattr__(study, "measures", {"value": measure})
    assert (study.run(store=tmp_path / "s.zarr", workers=1)["status"] == 0).all()
    half = seen[0].load()
    assert half["status"].values.tolist() == [0] + 19 * [-1]
    assert np.isfinite(half["value"].values).tolist() == [True] + 19 * [False]


def test_the_later_of_two_runs_writes(tmp_path: Path) -> None:
    """A run that was taken for dead, and whose study was begun again, ends; the other has all results."""
    study, later = small(), list[int]()

    def measure(flight: st.Flight) -> float:
        if flight.parameters.index == 13 and not later:
            later.append(13)
            study.run(store=tmp_path / "s.zarr", workers=1)
        return value(flight)

    prints = study.fingerprint()
    object.__setattr__(study, "measures", {"value": measure})
    object.__setattr__(study, "fingerprint", lambda: prints)
    with pytest.raises(st.StudyError, match=r"s\.zarr is written by another run of this study, which began later; "):
        study.run(store=tmp_path / "s.zarr", workers=1)
    assert st.read(tmp_path / "s.zarr").load().identical(small().run(workers=1))


def test_what_is_not_of_a_study_is_left_alone(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/mine/thesis.tex", b"years")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years", encoding="utf-8")
    (tmp_path / "file").write_text("years", encoding="utf-8")
    for place in ("memory://mine", tmp_path / "mine", tmp_path / "file"):
        with pytest.raises(st.StudyError, match=r"(mine|file) holds something else than the results of a study"):
            small().run(store=place, workers=1)
    assert fsspec.filesystem("memory").cat("/mine/thesis.tex") == b"years"
    assert (tmp_path / "mine" / "thesis.tex").read_text(encoding="utf-8") == "years"
    (tmp_path / "empty").mkdir()
    assert (small().run(store=tmp_path / "empty", workers=1)["status"] == 0).all()


def test_a_store_of_another_study_is_refused(tmp_path: Path) -> None:
    study = small(title="Mine")
    study.run(store=tmp_path / "s.zarr", workers=1)
    for other, words in (
        (replace(study, seed=1), r"parameters, seed \(0, not 1\)"),
        (replace(study, piece=4), r"piece \(3, not 4\)"),
        (replace(study, measures={"value": lambda flight: 2 * value(flight)}), "measures"),
        (replace(study, scenario=Scenario(faults={1: "pass"})), "scenario"),
        (replace(study, edits={}), "edits"),
        (replace(study, robot=jn.robots.quadrotor_arm(0.1)), "robot"),
    ):
        with pytest.raises(st.StudyError, match=f"belongs to another study, 'Mine', which differs in {words}$"):
            other.run(store=tmp_path / "s.zarr", workers=1)
    zarr = pytest.importorskip("zarr")
    zarr.open_group(tmp_path / "t.zarr", mode="w")
    with pytest.raises(st.StudyError, match=r"t\.zarr holds something else than the results of a study"):
        study.run(store=tmp_path / "t.zarr", workers=1)


def test_a_store_of_zarrs_old_format_is_not_read(tmp_path: Path) -> None:
    """Its arrays may be pickles, which versions of Zarr's codecs that are still in use run."""
    zarr, study = pytest.importorskip("zarr"), small()
    study.run(store=tmp_path / "s.zarr", workers=1)
    new = zarr.open_group(tmp_path / "s.zarr", mode="r")
    old = zarr.open_group(tmp_path / "t.zarr", mode="w", zarr_format=2, attributes=new.attrs.asdict())
    for name in new.array_keys():
        values = new[name][:]
        array = old.create_array(name, shape=values.shape, dtype=new[name].dtype, fill_value=new[name].fill_value)
        array[:] = values
        array.attrs["_ARRAY_DIMENSIONS"] = ["member"]
    assert set(old.array_keys()) == set(new.array_keys())
    with pytest.raises(FileNotFoundError):
        st.read(tmp_path / "t.zarr")
    with pytest.raises(st.StudyError, match=r"t\.zarr holds something else than the results of a study"):
        study.run(store=tmp_path / "t.zarr", workers=1)


def test_places_of_fsspec() -> None:
    study = small()
    found = study.run(store="memory://studies/s.zarr", workers=1)
    assert found.load().identical(study.run(store="memory://studies/s.zarr", workers=1).load())
    assert found.identical(study.run(workers=1))


def test_a_fingerprint_is_that_of_what_is_computed(tmp_path: Path) -> None:
    """The same in another process and after pickling; other with other code, also of functions that are called."""
    code = """
import numpy as np
from mine import helper
import jounce as jn
from jounce import study as st
FACTOR = {factor}
def scenario(robot, member):
    # {comment}
    return FACTOR * helper(member["a"])
study = st.Study(robot=jn.robots.panda(), parameters={{"a": st.Uniform(0, 1)}}, scenario=scenario,
                 measures={{"value": lambda flight: flight.motion}}, samples=2)
print(study.fingerprint()["scenario"], study.fingerprint()["robot"])
"""
    prints = []
    for factor, comment, own in (
        (1.0, "one", "x + 1"),
        (1.0, "two", "x + 1"),
        (2.0, "one", "x + 1"),
        (1.0, "one", "x"),
    ):
        (tmp_path / "mine.py").write_text(f"def helper(x):\n    return {own}\n", encoding="utf-8")
        (tmp_path / "main.py").write_text(code.format(factor=factor, comment=comment), encoding="utf-8")
        command = [sys.executable, "-B", str(tmp_path / "main.py")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=True)
        prints.append(done.stdout.split())
    assert prints[0] == prints[1]
    assert len({scenario for scenario, _ in prints}) == 3
    assert len({robot for _, robot in prints}) == 1
    study = small()
    assert pickle.loads(pickle.dumps(study)).fingerprint() == study.fingerprint()


# --- errors before the work starts -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"robot": 3}, "robot is 3, expected a jounce.Model or a function of a Member"),
        ({"parameters": {"a": 3.0}}, "parameter 'a' is 3.0, expected a distribution"),
        ({"parameters": {"a/b": st.Grid([1.0])}}, "parameters: a name is 'a/b'"),
        ({"edits": {"lod": st.Payload("tool")}}, "edits: no parameter is named 'lod': did you mean 'load'"),
        ({"edits": {"load": 3}}, "edit 'load' is 3, expected a function"),
        ({"measures": {}}, "measures is empty"),
        ({"measures": {"a": value}}, "'a' is the name of a parameter and of a measure"),
        ({"measures": {"value": "peak"}}, "measure 'value' is 'peak', expected a function"),
        ({"samples": None}, "samples is missing: how often 'a' shall be drawn"),
        ({"samples": 0}, "samples is 0, expected 1 to"),
        ({"method": "lhs"}, "method is 'lhs', expected 'sobol' or 'halton'"),
        ({"method": "saltelli"}, "method is 'saltelli', which takes parameters with distributions, and no Grid"),
        ({"seed": -1}, "seed is -1"),
        ({"time_limit": 0.0}, "time_limit is 0.0"),
        ({"piece": 0}, "piece is 0"),
    ],
)
def test_bad_studies_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        small(**changes)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: st.Uniform(1.0, 0.0), "low and high are 1.0 and 0.0, expected low < high"),
        (lambda: st.LogUniform(0.0, 1.0), "expected 0 < low < high"),
        (lambda: st.Normal(0.0, -1.0), "deviation is -1.0"),
        (lambda: st.Grid([]), "expected one or more finite numbers"),
        (lambda: st.Grid([1.0, 1.0]), "expected each of them once"),
        (lambda: st.Drawn(3), "distribution is 3, expected one of scipy.stats"),
        (lambda: st.Drive("frictoin"), "quantity is 'frictoin'"),
        (lambda: st.Limit("torque"), "quantity is 'torque'"),
        (lambda: small().run(workers=0), "workers is 0"),
        (lambda: small().run("tcp://127.0.0.1:1"), "expected a dask.distributed.Client"),  # type: ignore[arg-type]
    ],
)
def test_bad_parts_are_refused(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]


def test_what_cannot_be_sent_is_named() -> None:
    lock = __import__("threading").Lock()
    study = small(measures={"value": value, "locked": lambda flight: lock.locked()})
    with pytest.raises(
        st.StudyError, match=r"measure 'locked' is .* cannot be sent to other processes: .*0 of 7 pieces"
    ):
        study.run(workers=2)
    assert (study.run(workers=1)["locked"] == 0).all()


def test_import_brings_none_of_the_packages() -> None:
    code = """
import sys, jounce, jounce.study
print(sorted({"dask", "distributed", "xarray", "zarr", "scipy", "fsspec", "matplotlib"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, check=True)
    assert done.stdout == "[]\n"


# --- measures ---------------------------------------------------------------------------------------------


def swing() -> st.Flight:
    """A pendulum of 1 kg and 1 m under a constant torque, with limits."""
    builder = jn.Builder()
    limits = jn.Limits(-4.0, 2.0, velocity=10.0, effort=8.0)
    builder.add(
        "bob", "world", jn.Revolute((0, 1, 0), limits=limits, name="hinge"), inertia=jn.Inertia(1.0, (0, 0, -1))
    )
    robot, times = builder.build(), np.linspace(0.0, 1.0, 2001)
    motion = jn.simulate(robot, [0.1], [0.0], times, lambda t, q, v: np.array([-2 - 3 * t]), method="rkmk")
    return st.Flight(robot, st.Member({}, 0, 0), motion)


def test_measures_are_what_they_say() -> None:
    flight = swing()
    robot, motion = flight.robot, flight.motion
    assert st.PeakTorque()(flight) == 5.0
    assert st.PeakTorque(["hinge"])(flight) == 5.0
    assert st.PeakTorqueRate()(flight) == pytest.approx(3.0, rel=1e-9)
    energy = [robot.kinetic_energy(s.q, s.v) + robot.potential_energy(s.q) for s in (motion[0], motion[-1])]
    assert (motion.v <= 0).all()  # so all power is positive
    assert st.Energy()(flight) == pytest.approx(energy[1] - energy[0], rel=1e-6)
    expected = min(1 - 5 / 8, 1 - np.abs(motion.v).max() / 10, (motion.q.min() + 4) / 3, (2 - motion.q.max()) / 3)
    assert st.Margin()(flight) == pytest.approx(expected, rel=1e-12)
    assert st.TrackingError(lambda t: [0.1])(flight) == pytest.approx(np.abs(motion.q - 0.1).max())
    place = robot.pose("bob", [0.1])[:3, 3]
    assert st.TrackingError(lambda t: place, frame="bob")(flight) == 0.0  # the frame is in the hinge
    off = st.TrackingError(lambda t: [0.1], norm="rms")(flight)
    assert off == pytest.approx(np.sqrt(np.mean((motion.q - 0.1) ** 2)))


def test_the_margin_of_some_joints() -> None:
    """Those of an arm, while its gripper is closed, which is a limit; on a base, whose q is longer than its v."""
    body, builder = jn.Inertia(1.0, (0, 0, 0), np.eye(3)), jn.Builder(gravity=(0, 0, 0))
    builder.add("base", "world", jn.Free(), inertia=body)
    builder.add("arm", "base", jn.Revolute((0, 1, 0), limits=jn.Limits(-1.0, 1.0, velocity=4.0)), inertia=body)
    builder.add("finger", "arm", jn.Prismatic((1, 0, 0), limits=jn.Limits(0.0, 0.1, effort=2.0)), inertia=body)
    robot = builder.build()
    q, v = robot.neutral(), np.zeros(robot.nv)
    q[robot.position("arm")], v[robot.coordinate("arm")] = 0.25, 1.0
    flight = st.Flight(robot, st.Member({}, 0, 0), jn.simulate(robot, q, v, [0.0, 1e-6]))
    assert st.Margin()(flight) == pytest.approx(0.0, abs=1e-6)
    assert st.Margin(["arm"])(flight) == pytest.approx(0.75, abs=1e-5)  # of 1 - 0.25 and 1 - 1 / 4
    assert st.Margin("finger")(flight) == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(ValueError, match="these joints have none"):
        st.Margin(["base"])(flight)


def test_the_spectral_abscissa_is_that_of_a_pendulum() -> None:
    builder = jn.Builder()
    builder.add("bob", "world", jn.Revolute((0, 1, 0), damping=0.5), inertia=jn.Inertia(1.0, com=(0, 0, 1)))
    robot = builder.build()  # it stands upright
    flight = st.Flight(robot, st.Member({}, 0, 0), jn.Trajectory.of(robot, [0.0], [[0.0]]))
    assert st.SpectralAbscissa()(flight) == pytest.approx(-0.25 + np.sqrt(0.25**2 + 9.81))
    held = st.SpectralAbscissa(lambda robot, member: [[20.0, 3.5]])
    assert held(flight) == pytest.approx(-2.0)  # (0.5 + 3.5) / 2, and 20 - 9.81 > 4


def test_a_measure_of_another_scenario_says_so() -> None:
    with pytest.warns(RuntimeWarning, match="the scenario returned a float, and the measure needs a jounce.Trajectory"):
        small(measures={"peak": st.PeakTorque()}).run(workers=1)


# --- reading ----------------------------------------------------------------------------------------------


def given(**options: object) -> st.Study:
    """A study whose measure is a function of the parameters."""
    two = {"a": st.Uniform(0.0, 1.0), "b": st.Uniform(0.0, 1.0)}
    settings: dict[str, object] = {"parameters": two, "edits": {}, "piece": None, **options}
    return small(lambda robot, member: member["a"] + 2 * member["b"] + 3 * member["a"] * member["b"], **settings)


def test_quantiles_and_worst_members() -> None:
    found = given(samples=256).run(workers=1)
    values = found["value"].values
    np.testing.assert_allclose(st.quantiles(found, [0.1, 0.9])["value"], np.quantile(values, [0.1, 0.9]))
    worst = st.worst(found, "value", 3)
    assert worst["value"].values.tolist() == sorted(values, reverse=True)[:3]
    member = given(samples=256).member(int(worst["member"][0]))
    assert (member["a"], member["b"]) == (worst["a"].values[0], worst["b"].values[0])
    assert st.worst(found, "value", 1, largest=False)["value"].item() == values.min()
    with pytest.raises(ValueError, match="no measure is named 'vale': did you mean 'value'"):
        st.worst(found, "vale")


def test_measures_say_which_members_are_worst() -> None:
    flight = swing()
    study = st.Study(
        robot=flight.robot,
        parameters={"reach": st.Grid([0.1, 0.5, 0.3])},
        scenario=lambda robot, member: jn.Trajectory.of(robot, [0.0, 1.0], np.full((2, 1), member["reach"])),
        measures={"margin": st.Margin(), "torque": st.PeakTorque()},
    )
    found = study.run(workers=1)
    assert st.worst(found, "margin", 3)["reach"].values.tolist() == [0.5, 0.3, 0.1]
    assert st.worst(found, "margin", 1, largest=True)["reach"].item() == 0.1
    free = replace(study, robot=flight.robot.replace(limits=jn.Limits()))
    with pytest.warns(RuntimeWarning, match="Margin is the distance to limits, and the robot has none"):
        assert (free.run(workers=1)["status"] > 0).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"edits": {"load": st.Payload("tol")}},
        {"edits": {"load": st.Mass("tol")}},
        {"edits": {"load": st.Drive("damping", "elbo")}},
        {"edits": {"load": st.Limit("effort", "elbo")}},
        {"measures": {"peak": st.PeakTorque(["elbo"])}},
        {"measures": {"rate": st.PeakTorqueRate(["elbo"])}},
        {"measures": {"work": st.Energy(["elbo"])}},
        {"measures": {"margin": st.Margin(["elbo"])}},
        {"measures": {"off": st.TrackingError(lambda t: np.zeros(3), "tol")}},
    ],
    ids=["payload", "mass", "drive", "limit", "peak", "rate", "work", "margin", "off"],
)
def test_names_that_the_robot_does_not_have(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"^(edit|measure) '\w+': .*did you mean '(elbow|tool)'"):
        small(**changes)


def test_intervals_cover_as_often_as_they_say() -> None:
    """Of 400 studies of random members: means, quantiles and probabilities."""
    rng, hits = np.random.default_rng(0), np.zeros(3)
    found = given(samples=64, method="random").run(workers=1)
    truth = 1.0, np.log(2), 0.3  # of an exponential distribution: its mean, its median, a probability
    for _ in range(400):
        found["value"].values = rng.exponential(size=64)
        for i, (measure, what) in enumerate(
            (("value", "mean"), ("value", 0.5), (found["value"] > -np.log(0.3), "mean"))
        ):
            last = st.convergence(found, measure, what, confidence=0.9).isel(count=-1)
            hits[i] += float(last["low"]) <= truth[i] <= float(last["high"])
    assert (hits / 400 > 0.85).all()
    assert (hits / 400 < 0.95).all()


def test_sobol_indices_are_those_of_the_formula() -> None:
    """y = a + 2 b + 3 a b: a part (5/2)^2/12 by a, (7/2)^2/12 by b, 9/144 by both."""
    found = given(samples=2048, method="saltelli").run(workers=1)
    assert found.sizes["member"] == 4 * 2048
    parts = np.array([2.5**2 / 12, 3.5**2 / 12, 9 / 144])
    indices = st.sobol_indices(found, "value")
    np.testing.assert_allclose(indices["first_order"], parts[:2] / parts.sum(), atol=0.01)
    np.testing.assert_allclose(indices["total"], (parts[:2] + parts[2]) / parts.sum(), atol=0.01)
    assert (indices["first_order_low"] < indices["first_order"]).all()
    assert (indices["first_order"] < indices["first_order_high"]).all()
    with pytest.raises(ValueError, match="expected one with method='saltelli'"):
        st.sobol_indices(given().run(workers=1), "value")


def test_unstacked_results_have_a_dimension_for_each_grid() -> None:
    study = small(parameters={"x": st.Grid([1.0, 2.0]), "a": st.Uniform(0, 1), "y": st.Grid([5.0, 6.0, 7.0])}, edits={})
    found = study.run(workers=1)
    cube = st.unstacked(found)
    assert dict(cube.sizes) == {"x": 2, "y": 3, "sample": 10}
    for number in (0, 17, 59):
        member, point = study.member(number), cube.where(cube.member == number, drop=True)
        assert (float(point.x[0]), float(point.y[0]), float(point.a[0])) == (member["x"], member["y"], member["a"])
        assert point["value"].item() == found["value"].values[number]


def test_pages_and_pictures(tmp_path: Path) -> None:
    found = given(samples=64, method="saltelli").run(workers=1)
    st.plot(found, path=tmp_path / "a.png")
    st.plot_map(found, "a", "b", "value", path=tmp_path / "b.png")
    st.plot_convergence(st.convergence(found, "value"), "value", path=tmp_path / "c.png")
    st.plot_indices(st.sobol_indices(found, "value"), path=tmp_path / "d.png")
    assert all((tmp_path / f"{name}.png").stat().st_size > 10_000 for name in "abcd")
    page = st.report(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 3
    assert "<script" not in page
    assert "http" not in page
    two = {"x": st.Grid([1.0, 2.0]), "y": st.Grid([5.0, 6.0])}
    measures = {"<b>": lambda flight: flight.parameters["x"], "other": lambda flight: [1.0, np.nan][int(flight.motion)]}
    options = {"edits": {}, "samples": None, "title": "<i>"}
    grid = small(lambda robot, member: member.index > 0, parameters=two, measures=measures, **options).run(workers=1)
    page = st.report(grid, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;" in page
    assert "<i>" not in page


# --- files and the command line ---------------------------------------------------------------------------

TOML = """
robot = "arm.urdf"
title = "An arm"
samples = 3

[parameters.load]
uniform = [0.0, 1.0]
unit = "kg"
edit = { payload = { frame = "link2", at = [0.0, 0.0, -0.5] } }

[parameters.rub]
grid = [0.0, 0.5]
edit = { drive = ["damping", "hinge2"] }

[scenario]
time = 0.2
hold = 3.0
q = { hinge1 = 0.5 }

[measures]
"peak torque" = { peak_torque = {} }
energy = { energy = { joints = ["hinge2"] } }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    builder, parent = jn.Builder(), "world"
    for name in ("1", "2"):
        inertia = jn.Inertia(1.0, (0, 0, -0.25), (0.02, 0.02, 0.01))
        place = jn.placement((0, 0, -0.5 if name == "2" else 0))
        limits = jn.Limits(-3.0, 3.0, velocity=10.0, effort=50.0)
        builder.add(f"link{name}", parent, jn.Revolute((0, 1, 0), limits=limits, name=f"hinge{name}"), place, inertia)
        parent = f"link{name}"
    builder.build().to_urdf(tmp_path / "arm.urdf", name="arm")
    (tmp_path / "arm.toml").write_text(TOML, encoding="utf-8")
    return tmp_path


def command(folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "jounce", "study", *words]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == code, done.stderr
    return done


def test_the_command(folder: Path) -> None:
    done = command(folder, "arm.toml", "--workers", "1", "--report", "arm.html")
    assert done.stdout.startswith("An arm: 6 members, in arm.zarr\n6 done\n\nmeasure ")
    assert done.stdout.endswith("J\nwrote arm.html\n")
    assert (folder / "arm.html").read_text(encoding="utf-8").count("data:image") == 1
    there = "jounce: arm.zarr is there already: --resume goes on with it, --store names another place\n"
    assert command(folder, "arm.toml", code=2).stderr == there
    assert "6 done" in command(folder, "arm.toml", "--resume").stdout
    code = """
import numpy as np
import jounce as jn
from jounce.study import *
def scenario(robot, member):
    return helper(member)
def helper(member):
    return member["a"]
study = Study(robot=jn.robots.panda(), parameters={"a": Uniform(0, 1)}, scenario=scenario,
              measures={"m": lambda flight: flight.motion}, samples=4)
"""
    (folder / "own.py").write_text(code, encoding="utf-8")
    assert command(folder, "own.py", "--workers", "2").stdout.startswith("Study: 4 members, in own.zarr\n4 done\n")
    found = st.read(folder / "own.zarr")
    assert (found["m"].values == found["a"].values).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("samples = 3", "sample = 3"), "nothing is named 'sample': did you mean 'samples'"),
        (("uniform =", "unifrom ="), "parameters.load: nothing is named 'unifrom': did you mean 'uniform'"),
        (("drive =", "drives ="), "parameters.rub.edit: nothing is named 'drives': did you mean 'drive'"),
        (("{ peak_torque = {} }", "{ peak = {} }"), "measures.peak torque: nothing is named 'peak'"),
        (("hinge1 = 0.5", "hinge3 = 0.5"), "scenario.q: no coordinate is named 'hinge3': did you mean 'hinge"),
        (("uniform = [0.0, 1.0]", "uniform = [1.0, 0.0]"), "low and high are 1.0 and 0.0"),
        (("[scenario]", "[scenari]"), "nothing is named 'scenari': did you mean 'scenario'"),
        (("time = 0.2", "time = -1"), "scenario: time and rate are -1 and 100"),
        (('robot = "arm.urdf"', "robot = "), "is not TOML"),
        (('robot = "arm.urdf"', 'robot = "leg.urdf"'), "leg.urdf"),
    ],
)
def test_faults_of_files_are_named(folder: Path, change: tuple[str, str], words: str) -> None:
    from jounce.study.files import study_from

    assert change[0] in TOML
    (folder / "arm.toml").write_text(TOML.replace(*change), encoding="utf-8")
    with pytest.raises(jn.LoadError) as fault:
        study_from(folder / "arm.toml")
    assert words in str(fault.value)


def test_files_that_are_no_studies(tmp_path: Path) -> None:
    from jounce.study.files import study_from

    with pytest.raises(jn.LoadError, match=r"arm\.yaml: expected a name that ends in \.py or \.toml"):
        study_from(tmp_path / "arm.yaml")
    with pytest.raises(FileNotFoundError, match=r"arm\.toml: there is no such file"):
        study_from(tmp_path / "arm.toml")
    (tmp_path / "empty_study.py").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(jn.LoadError, match=r"has 0 studies as variables, expected one"):
        study_from(tmp_path / "empty_study.py")
