"""A simulation starts on its constraints, or says what to do: the same for all methods."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from test_constraints_rank import HINGE, SOLID, shift
from test_natural_sizes import four_bar

METHODS = ("taylor", "rkmk", "implicit")
each_method = pytest.mark.parametrize("method", METHODS)


def quadruped(kind: object) -> jn.Model:
    """A trunk with four legs of two joints, on feet that are held where they are."""
    b = jn.Builder()
    b.add("trunk", "world", jn.Free(), inertia=jn.Inertia(20.0, rotational=[0.4, 0.8, 1.0]))
    leg = jn.Inertia(1.0, (0.02, 0, -0.1), [0.01, 0.01, 0.002])
    for name, x, y in (("lf", 0.3, 0.2), ("rf", 0.3, -0.2), ("lh", -0.3, 0.2), ("rh", -0.3, -0.2)):
        b.add(f"{name} hip", "trunk", jn.Revolute((1, 0, 0)), jn.placement((x, y, 0)), leg)
        b.add(f"{name} knee", f"{name} hip", jn.Revolute((0, 1, 0)), jn.placement((0, 0, -0.2)), leg)
        b.add(f"{name} foot", f"{name} knee", jn.Fixed(), jn.placement((0.05, 0, -0.3)))
    return b.build().constrained({f"{name} foot": kind for name in ("lf", "rf", "lh", "rh")})


def energy(robot: jn.Model, q: np.ndarray, v: np.ndarray) -> float:
    return float(v @ robot.mass_matrix(q) @ v / 2)


def test_a_robot_that_falls_onto_its_feet_must_say_so() -> None:
    robot = quadruped(jn.OnPlane((0, 0, 1)))
    q, v = robot.neutral(), np.zeros(robot.nv)
    v[2] = -1.0
    with pytest.raises(jn.ConstraintError, match=r"v0 violates the constraints by 1.0e\+00, .*'impact' .*'project'"):
        jn.simulate(robot, q, v, [0.0, 1e-4])
    for start, after in (("impact", robot.impact(q, v).v), ("project", robot.project(q, v)[1])):
        ends = [jn.simulate(robot, q, v, [0.0, 1e-4], method=m, start=start)[-1] for m in METHODS]
        for end in ends:
            assert energy(robot, end.q, end.v) == pytest.approx(energy(robot, q, after), rel=2e-2, abs=1e-3)
            np.testing.assert_allclose(end.v, ends[0].v, atol=1e-9)


@each_method
def test_every_state_of_a_run_starts_another(method: str) -> None:
    """At other tolerances, too: what it returns obeys, also between steps."""
    robot = four_bar(jn.Revolute(HINGE)).build()
    q, v = robot.project([0.5, 0.5, 2.0], [10.0, 0.0, 0.0])
    run = jn.simulate(robot, q, v, np.linspace(0.0, 1.0, 41), method=method, rtol=1e-4, atol=1e-5)
    for state in run:
        jn.simulate(robot, state.q, state.v, [0.0, 1e-4], method=method, rtol=1e-12, atol=1e-13)


@each_method
@pytest.mark.parametrize(("rtol", "fine"), [(1e-9, False), (1e-3, True)])
def test_a_state_may_be_off_by_as_much_as_a_step_may(method: str, rtol: float, fine: bool) -> None:
    robot = four_bar(jn.OnLine(HINGE)).build()
    q, v = robot.project([0.5, 0.5, 2.0], [3.0, 0.0, 0.0])
    for off_q, off_v, said in ((1e-5, 0.0, "q0 violates the constraints"), (0.0, 1e-5, "v0 violates the constraints")):
        start = q + np.array([off_q, 0, 0]), v + np.array([off_v, 0, 0])
        if fine:
            jn.simulate(robot, *start, [0.0, 0.1], method=method, rtol=rtol, atol=rtol)
        else:
            with pytest.raises(jn.ConstraintError, match=f"{said} by .*, most of all 'pin'"):
                jn.simulate(robot, *start, [0.0, 0.1], method=method, rtol=rtol, atol=rtol / 10)


def test_a_loop_that_rounded_digits_keep_open_starts() -> None:
    """As nearly closed as it can be."""
    b = four_bar(jn.Revolute(HINGE))
    b.add("other", "crank", jn.Revolute(HINGE), shift(0.1, 2e-8), jn.Inertia(0.6, (0.15, 0, 0.01), SOLID))
    b.close("other pin", "other", "rocker", jn.Revolute(HINGE), placement_a=shift(0.3), placement_b=shift(0.2))
    robot = b.build()
    with pytest.warns(jn.ConstraintWarning, match="cannot be satisfied exactly"):
        q = robot.project([0.5, 0.5, 2.0, 0.5])
    jn.simulate(robot, q, np.zeros(4), [0.0, 1e-3])


def test_words() -> None:
    robot = four_bar(jn.OnLine(HINGE)).build()
    with pytest.raises(ValueError, match="start is 'jump', expected 'project' or 'impact'"):
        jn.simulate(robot, np.zeros(3), np.zeros(3), [0.0, 1.0], start="jump")  # type: ignore[arg-type]
    free = jn.robots.aerial_manipulator()
    run = jn.simulate(free, free.neutral(), np.ones(free.nv), [0.0, 0.1], start="impact")  # nothing to obey
    np.testing.assert_array_equal(run.v[0], np.ones(free.nv))
