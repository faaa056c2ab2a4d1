"""One family of errors: every exception of jounce's own is a `jn.Error`, and a ValueError or RuntimeError as before."""

from __future__ import annotations

import errno
import importlib
import pickle
import pkgutil
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from jounce import control
from jounce.study.deadline import OutOfTime

DOCUMENTED = {jn.LoadError, jn.SimulationError, jn.SingularError, jn.NoEquilibrium, control.NoRegulator}


def own_exceptions() -> set[type]:
    """All exceptions defined by jounce's modules, except modules whose libraries are not installed."""
    found: set[type] = set()
    for module in pkgutil.walk_packages(jn.__path__, "jounce."):
        try:
            names = vars(importlib.import_module(module.name)).values()
        except ImportError:
            continue
        found |= {x for x in names if isinstance(x, type) and issubclass(x, BaseException)}
    return {x for x in found if x.__module__.startswith("jounce")}


def test_all_have_one_ancestor() -> None:
    errors = {x for x in own_exceptions() if not issubclass(x, Warning)} - {OutOfTime}  # which nobody gets to see
    assert errors > DOCUMENTED
    for error in errors - {jn.Error}:
        assert issubclass(error, jn.Error), error
        assert issubclass(error, (ValueError, RuntimeError)), error
        assert error.__doc__, error


def test_parents_are_what_they_were() -> None:
    assert issubclass(jn.LoadError, ValueError)
    assert issubclass(jn.SingularError, ValueError)
    assert issubclass(control.NoRegulator, ValueError)
    assert issubclass(jn.NoEquilibrium, RuntimeError)
    assert issubclass(jn.SimulationError, RuntimeError)
    assert not issubclass(jn.LoadWarning, jn.Error)  # a warning is not an error


def test_all_are_on_the_page() -> None:
    page = (Path(__file__).parents[1] / "docs" / "reliability.md").read_text()
    for error in DOCUMENTED | {jn.Error}:
        assert f"`{error.__name__}`" in page or f".{error.__name__}`" in page, error


def test_files() -> None:
    with pytest.raises(jn.Error):
        jn.load("<robot/>")


def missing_files(folder: Path) -> list[tuple[str, Callable[[], object]]]:
    """Names of files that do not exist, and calls that need them."""
    calls: list[tuple[str, Callable[[], object]]] = [
        (str(folder / "arm.urdf"), lambda: jn.load(folder / "arm.urdf")),
        (str(folder / "no" / "arm.urdf"), lambda: jn.load(str(folder / "no" / "arm.urdf"))),
        (str(folder / "motion.npz"), lambda: jn.Trajectory.load(folder / "motion.npz")),
    ]
    if find_spec("mujoco"):
        model = folder / "scene.xml"
        model.write_text('<mujoco> <include file="parts.xml"/> </mujoco>')
        calls.append(("parts.xml", lambda: jn.load(model)))
    return calls


def test_missing_files(tmp_path: Path) -> None:
    """Each is reported by one error, for code that catches jounce's errors and for code that catches Python's."""
    for name, call in missing_files(tmp_path):
        with pytest.raises(jn.LoadError) as caught:
            call()
        error = caught.value
        assert isinstance(error, FileNotFoundError)
        assert (error.errno, error.filename) == (errno.ENOENT, name)
        assert re.search(rf"{re.escape(name)}.*does not exist", str(error))
        assert "Errno" not in str(error)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.filename) == (type(error), str(error), name)


def test_statics() -> None:
    builder = jn.Builder()
    builder.add("falls", "world", jn.Prismatic((0, 0, 1)), inertia=jn.Inertia(1.0))
    with pytest.raises(jn.Error) as caught:
        builder.build().equilibrium()
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is jn.NoEquilibrium
    assert str(again) == str(caught.value)


def hover(actuated: object = None) -> jn.Linearization:
    robot = jn.robots.quadrotor_arm()
    q = robot.neutral()
    return robot.linearize(q, np.zeros(robot.nv), robot.gravity_force(q), actuated=actuated)  # type: ignore[arg-type]


def test_regulators() -> None:
    pytest.importorskip("scipy")
    with pytest.raises(control.NoRegulator, match="the system is not stabilizable: no input reaches"):
        control.lqr(hover(["shoulder"]), np.ones(16), np.ones(1))
    with pytest.raises(control.NoRegulator, match="no stabilizing solution: does Q penalize"):
        control.lqr(hover(), np.zeros(16), np.ones(8))
    with pytest.raises(ValueError, match=r"^lin is <jounce.Model.*>, expected a Linearization"):
        control.lqr(jn.robots.quadrotor_arm(), np.ones(16), np.ones(8))  # type: ignore[arg-type]


@pytest.mark.parametrize("dt", [1e5, 1e300])
def test_a_time_that_is_too_long(dt: float) -> None:
    """Formerly NumPy's LinAlgError, or matrices that are not finite."""
    pytest.importorskip("scipy")
    unstable = hover()
    unstable.A = unstable.A + np.eye(16)
    with pytest.raises(jn.SingularError, match=re.escape(f"dt is {dt:g}, ")):
        unstable.discretize(dt)
    with pytest.raises(jn.SingularError):
        control.lqr(unstable, np.ones(16), np.ones(8), dt=dt)


@pytest.mark.parametrize(("a", "b"), [(1e200, 1.0), (1.0, 1e200), (1e308, 1e308)])
def test_numbers_that_are_too_large(a: float, b: float) -> None:
    one = np.ones((3, 1, 1))
    with pytest.raises(jn.SingularError, match="no answer in double precision"):
        control.riccati([0, 1, 2], a * one, b * one, [1.0], [1.0], [1.0])


@pytest.mark.parametrize("a", [1e17, 1e19, 1e100, -1e19, -1e100, -8e307])
def test_numbers_that_are_large(a: float) -> None:
    """x' = a x + u, all weights 1: P immediately becomes a + sqrt(a² + 1), which is 2 a or -1 / 2 a."""
    one = np.ones((3, 1, 1))
    K, P = control.riccati([0, 1, 2], a * one, one, [1.0], [1.0], [1.0])
    np.testing.assert_allclose(P[:-1], 2 * a if a > 0 else -0.5 / a, rtol=1e-12)
    np.testing.assert_array_equal(K, P)
