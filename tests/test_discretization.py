"""Soft bodies with too few nodes for how they are bent: right, or warned of."""

from __future__ import annotations

import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from jounce._core import UnwatchedNodes

import jounce as jn
from bent_bodies import faults
from jounce.dynamics.discretization import Discretization

TURN = 2 * np.pi


def alone(gravity: float = 0.0, length: float = 1.0, **options: object) -> jn.Model:
    builder = jn.Builder(gravity=(0, 0, gravity))
    options = {"radius": 0.01 * length, "density": 1000.0, "young": 1e6} | options
    builder.add("rod", "world", body=jn.soft.Rod(length, **options))
    return builder.build()


@pytest.mark.parametrize("turns", [2.0, 4.0, 8.0])
def test_too_many_turns_are_warned_of_and_the_number_of_nodes_does(turns):
    robot, q = alone(), [TURN * turns, 0.0, 0.0]
    truth = alone(nodes=150).mass_matrix(q)
    with pytest.warns(jn.DiscretizationWarning, match="the mass matrix is off by .* body 'rod' .* nodes=") as caught:
        found = robot.mass_matrix(q)
    error = np.abs(found - truth).max() / np.abs(truth).max()
    assert error > 5e-7
    said = str(caught[0].message)
    assert 0.3 < float(said.split("off by ")[1].split()[0]) / error < 3 or turns == 8
    enough = alone(nodes=int(said.split("nodes=")[1].split()[0]))
    assert np.abs(enough.mass_matrix(q) - truth).max() < 1e-6 * np.abs(truth).max()  # without a warning


def test_usual_shapes_pass_without_a_second_look(monkeypatch):
    robot, rng = alone(), np.random.default_rng(0)
    monkeypatch.setattr(type(robot._discretization), "finer", lambda *given: pytest.fail("it was computed again"))
    for turn in rng.uniform(0.0, 0.5, 20):
        angle = rng.uniform(0.0, TURN)
        q = np.array([TURN * turn * np.cos(angle), TURN * turn * np.sin(angle), rng.uniform(-0.2, 0.2)])
        v = rng.normal(size=(4, 3))
        robot.forward_dynamics(q, v[0], robot.inverse_dynamics(q, v))


@pytest.mark.parametrize("order", range(6))
def test_accelerations_from_torques_of_a_finer_rod(order):
    """At one turn: large forces nearly cancel, and each derivative is worse than the one before."""
    robot, fine, rng = alone(), alone(nodes=40), np.random.default_rng(order)
    for _ in range(3):
        q, v = np.array([TURN, 0.0, 0.0]), rng.normal(size=(order + 2, 3))
        tau = fine.inverse_dynamics(q, v)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = robot.forward_dynamics(q, v[0], tau)
        off = np.abs(found - v[1:]).max(axis=1) / np.abs(v[1:]).max(axis=1)
        assert caught or (off < np.where(np.arange(order + 1) > 2, 1e-3, 1e-6)).all()


@pytest.mark.parametrize(("order", "nodes", "plenty"), [(3, 5, 30), pytest.param(6, 8, 60, marks=pytest.mark.night)])
def test_too_few_nodes_of_a_polynomial(order, nodes, plenty):
    """Accelerations are far off, though the mass matrix is not. Of order 6, 30 nodes are off by 2e-6 themselves."""
    strain = jn.soft.polynomial({"bend_y": order, "shear_x": order, "stretch": order})
    robot, fine = alone(strain=strain, nodes=nodes), alone(strain=strain, nodes=plenty)
    rng = np.random.default_rng(0)
    q, v = 0.05 * rng.normal(size=robot.nq), rng.normal(size=(2, robot.nv))
    tau = fine.inverse_dynamics(q, v)
    with pytest.warns(jn.DiscretizationWarning, match="forward dynamics") as caught:
        robot.forward_dynamics(q, v[0], tau)
    enough = alone(strain=strain, nodes=advised(caught))
    assert np.abs(enough.forward_dynamics(q, v[0], tau) - v[1]).max() < 1e-6 * np.abs(v[1]).max()  # without a warning


def advised(caught: pytest.WarningsRecorder) -> int:
    """The number of nodes that would do."""
    return int(str(caught[0].message).split("nodes=")[1].split()[0])


def test_the_nodes_that_would_do_for_a_route_do():
    """A finger curled up by its tendon, three turns, whose shape needs fewer nodes than the tendon."""
    length, wide, narrow = 0.15, 0.006, 0.003
    pull = jn.soft.Tendon("pull", lambda s: (0.8 * (wide + (narrow - wide) * s / length), 0.0))
    strain = jn.soft.polynomial({"bend_y": 3, "stretch": 1})
    options = {"length": length, "radius": (wide, narrow), "strain": strain, "actuators": [pull]}
    robot, q = alone(**options), [20.196, 19.075, 5.4937, 0.8227, -0.02545, -0.01497]
    with pytest.warns(jn.DiscretizationWarning, match="actuation matrix") as caught:
        robot.actuation_matrix(q)
    found = alone(nodes=advised(caught), **options).actuation_matrix(q)  # without a warning
    s, w = np.polynomial.legendre.leggauss(2000)
    s, w = length * (s + 1) / 2, length * w / 2
    away, slope = 0.8 * (wide + (narrow - wide) * s / length), 0.8 * (narrow - wide) / length
    bases = [np.polynomial.legendre.legval(2 * s / length - 1, np.eye(4)[k]) / length for k in range(4)]
    along = 1 + sum(x * b for x, b in zip(q[4:], bases[:2], strict=True))
    along -= away * sum(x * b for x, b in zip(q[:4], bases, strict=True))
    unit = -along / np.hypot(along, slope)  # of minus the length of the tendon, by its tangent along the rod
    truth = [w @ (unit * -away * b) for b in bases] + [w @ (unit * b) for b in bases[:2]]
    np.testing.assert_allclose(found[:, 0], truth, rtol=0, atol=1e-6 * np.abs(truth).max())


@pytest.mark.parametrize("turned", [3 * TURN, 4 * TURN])
def test_the_nodes_that_would_do_for_what_is_zero_do(turned):
    """The weight of whole turns about the vertical is zero along them, whatever the sum of some nodes is."""
    with pytest.warns(jn.DiscretizationWarning, match="gravity force") as caught:
        alone(-9.81).gravity_force([turned, 0.0, 0.0])
    found = alone(-9.81, nodes=advised(caught)).gravity_force([turned, 0.0, 0.0])  # without a warning
    assert np.abs(found[:2]).max() < 1e-12 * 9.81 * 1000 * np.pi * 0.01**2


def test_two_numbers_of_nodes_that_are_wrong_alike():
    """Most of a torque is elastic here, and both of 4 and 6 nodes are so wrong that they may happen to agree."""
    robot, fine, rng = alone(nodes=4, young=1e7), alone(nodes=40, young=1e7), np.random.default_rng(0)
    silent = 0
    for _ in range(400):
        q, v = np.append(rng.uniform(-6, 6, 2) * TURN, 0.01), rng.normal(size=(2, 3))
        truth = fine.inverse_dynamics(q, *v)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = robot.inverse_dynamics(q, *v)
        if np.abs(found - truth).max() > 1e-6 * np.abs(truth).max():
            silent += not caught
    assert silent == 0


def test_a_stiffness_is_right_however_few_the_nodes():
    strain = jn.soft.polynomial({"bend_y": 13})
    few, many = (jn.soft.Rod(1.0, (0.02, 0.01), 1000.0, 1e6, strain=strain, nodes=n) for n in (4, 60))
    np.testing.assert_allclose(few.stiffness, many.stiffness, rtol=0, atol=1e-11 * np.abs(many.stiffness).max())
    uniform = [jn.soft.Rod(1.0, (0.02, 0.01), 1000.0, 1e6, nodes=n).stiffness for n in (None, 4, 60)]
    np.testing.assert_array_equal(uniform[1:], uniform[:-1])  # so torques of one balance another to the last digit


def test_one_warning_for_a_batch_which_names_the_state():
    robot, q = alone(), np.zeros((40, 3))
    q[:, 0] = np.where(np.arange(40) < 17, 1.0, 4 * TURN)
    out = np.empty((40, 3, 3))
    with pytest.warns(jn.DiscretizationWarning, match="in state 17:") as caught:
        robot.mass_matrix(q, out=out)
    assert len(caught) == 1
    one_by_one = [_quietly(robot.mass_matrix, each) for each in q]
    np.testing.assert_array_equal(out, one_by_one)  # what is returned is what is always returned


def test_one_warning_for_the_backbones_of_many_states():
    """Which are computed some at a time."""
    robot = alone(strain=jn.soft.polynomial({"bend_y": 2}))
    q = np.zeros((5000, 3))
    q[3000:] = 6000.0, 1500.0, -1000.0
    with pytest.warns(jn.DiscretizationWarning, match="the backbone is off by .* in state 3000:") as caught:
        robot.backbone("rod", q, [1.0])
    assert len(caught) == 1


def test_what_is_found_out_is_not_found_out_again(monkeypatch):
    """Also of errors that are hardly too large."""
    asked = []
    explain = Discretization.explain
    monkeypatch.setattr(Discretization, "explain", lambda *given: asked.append(given) or explain(*given))
    robot = alone()
    for turns in np.linspace(1.8, 2.1, 13):
        for _ in range(2):
            _quietly(robot.mass_matrix, [TURN * turns, 0.0, 0.0])
    assert 0 < len(asked) <= 4


@pytest.mark.parametrize(("turns", "order"), [(2.2, 0), (0.1, 5)])
def test_what_is_found_to_be_right_is_not_asked_for_again(monkeypatch, turns, order):
    """Where nodes are too few for a shape but do for torques, and where accelerations may have lost their digits."""
    builder, rng = jn.Builder(), np.random.default_rng(0)
    builder.add("base", "world", jn.Free(), inertia=jn.Inertia(0.8, rotational=(4e-3, 4e-3, 7e-3)))
    for i in range(3):
        place = jn.placement(xyz=(0.1 * np.cos(2.1 * i), 0.1 * np.sin(2.1 * i), 0.0))
        builder.add(f"rod {i}", "base", placement=place, body=jn.soft.Rod(0.3, 0.01, 1000.0, 1e6))
    robot = builder.build()
    q = robot.neutral()
    q[7::3] = TURN * turns
    asked = []
    for name in ("explain", "finer_does"):
        own = getattr(Discretization, name)
        monkeypatch.setattr(Discretization, name, lambda *given, own=own: asked.append(given) or own(*given))
    for v in 0.3 * rng.normal(size=(8, order + 2, robot.nv)):
        for _ in range(2):
            asked.clear()
            tau = robot.inverse_dynamics(q, v)
            if order > 2:
                _quietly(robot.forward_dynamics, q, v[0], tau)
        assert not asked


def test_actuation_matrices_of_many_states_are_asked_for_together(monkeypatch):
    pull = jn.soft.Tendon("pull", lambda s: (0.008 - 0.004 * s, 0.0))
    robot, q = alone(actuators=[pull]), np.zeros((500, 3))
    q[:, 0] = np.linspace(1.2, 1.3, 500) * TURN
    robot.actuation_matrix(q)
    asked, inputs = [], type(robot._inputs)
    matrix = inputs.matrix
    monkeypatch.setattr(inputs, "matrix", lambda *given: asked.append(given) or matrix(*given))
    robot.actuation_matrix(q)
    assert 2 <= len(asked) <= 4


def test_threads_that_ask_at_once_do_not_get_the_same_finer_robot_for_two(monkeypatch):
    asked, finer = [], Discretization.finer

    def slow(self, times=0):
        asked.append(times)
        time.sleep(0.1)  # lets the other thread ask
        return finer(self, times)

    monkeypatch.setattr(Discretization, "finer", slow)
    robot, v = alone(length=0.3), 0.3 * np.random.default_rng(0).normal(size=(2, 3))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: robot.inverse_dynamics([2.2 * TURN, 0.0, 0.0], *v), range(2)))
    assert asked.count(0) == 2  # both have asked
    assert 1 in asked


def _quietly(call, *given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*given)


def test_the_body_that_is_to_blame_is_named():
    builder = jn.Builder()
    for i in range(3):
        builder.add(f"part {i}", f"part {i - 1}" if i else "world", body=jn.soft.Rod(0.3, 0.01, 1000.0, 1e6))
    q = np.zeros(9)
    q[3] = 5 * TURN
    with pytest.warns(jn.DiscretizationWarning, match="how body 'part 1' is bent"):
        builder.build().mass_matrix(q)


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**20])
def test_the_size_of_a_rod_does_not_matter(scale):
    bends = jn.soft.constant_curvature(elongation=False)
    robots = [alone(length=length, strain=bends) for length in (1.0, scale)]
    for turns in (0.5, 1.9, 2.1, 3.0):
        warned = []
        for robot in robots:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                robot.mass_matrix([TURN * turns, 0.0])
            warned.append([str(w.message) for w in caught])
        assert warned[0] == warned[1]


def test_every_call_that_integrates_along_a_body_is_checked():
    strain = jn.soft.polynomial({"bend_y": 2})
    builder = jn.Builder()
    tendon = jn.soft.Tendon("string", lambda s: (0.004 * np.cos(9 * s), 0.004))
    builder.add("rod", "world", body=jn.soft.Rod(1.0, 0.01, 1000.0, 1e6, strain=strain, nodes=4, actuators=[tendon]))
    builder.add("tip", "rod", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(0.1, com=(0, 0, 0.1)))
    robot = builder.build()
    q, v = np.array([270.0, 60.0, -75.0, 0.3]), np.array([[0.3, 0.2, 0.5, 1.0], [0.1, -0.4, 0.2, 0.3]])
    tau = np.ones(4)
    calls = {
        "inverse_dynamics": (q, v), "forward_dynamics": (q, v[0], tau), "mass_matrix": (q,),
        "coriolis_matrix": (q, v[0]),
        "gravity_force": (q,), "inverse_mass_matrix": (q,), "inverse_mass_matrix_apply": (q, tau),
        "inverse_dynamics_passive": (q, *v, v[0]), "forward_kinematics": (q, v),
        "pose": ("tip", q), "twist": ("tip", q, v), "jacobian": ("tip", q), "jacobian_derivatives": ("tip", q, v),
        "center_of_mass": (q,), "centroidal_momentum": (q, v[0]), "centroidal_momentum_matrix": (q,),
        "kinetic_energy": (q, v[0]), "potential_energy": (q,), "bias_force": (q, v[0]), "actuation_matrix": (q,),
        "generalized_inverse_dynamics": (q, v), "mass_matrix_derivatives": (q, v), "backbone": ("rod", q),
        "inverse_dynamics_derivatives": (q, v), "forward_dynamics_derivatives": (q, v[0], tau),
        "linearize": (q, v[0], tau),
        "closed_form": (q, v), "constrained_dynamics": (q, v[0], tau),
    }  # fmt: skip
    for name, given in calls.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(robot, name)(*given)
        assert [w.category for w in caught] == [jn.DiscretizationWarning], name


def test_a_helical_route_gets_the_nodes_it_takes():
    """The length of a helix of six turns on a straight rod, and how it changes with stretch."""
    away, length, turns = 0.008, 0.3, 6

    def route(s: float) -> tuple[float, float]:
        return away * np.cos(TURN * turns * s / length), away * np.sin(TURN * turns * s / length)

    robot = alone(length=length, radius=0.01, actuators=[jn.soft.Tendon("helix", route)])
    around = TURN * turns * away
    slope = -length / np.hypot(length, around)  # of minus the length, by elongation
    np.testing.assert_allclose(robot.actuation_matrix(np.zeros(3))[2, 0], slope, rtol=1e-9)


def test_nodes_chosen_for_a_reach_and_an_order():
    reach = np.array([8 * TURN, 8 * TURN, 0.2])
    robot = alone(nodes="auto", reach=reach, order=2)
    nodes, rng = robot.bodies[0].soft.nodes, np.random.default_rng(0)
    assert 20 < nodes < 100
    fine = alone(nodes=2 * nodes)
    for q in rng.uniform(-1, 1, (5, 3)) * reach:
        v = rng.normal(size=(4, 3))
        a, b = robot.inverse_dynamics(q, v), fine.inverse_dynamics(q, v)
        assert (np.abs(a - b).max(axis=1) < 1e-7 * np.abs(b).max(axis=1)).all()
    twisted = {"strain": jn.soft.polynomial({"bend_y": 3, "shear_x": 1})}
    reach = TURN * np.array([2.0, 1.0, 1.0, 1.0, 0.02, 0.02])
    robot = alone(nodes="auto", reach=reach, **twisted)
    fine = alone(nodes=2 * robot.bodies[0].soft.nodes, **twisted)
    for q in rng.uniform(-1, 1, (20, 6)) * reach:  # accelerations multiply errors of forces
        v, tau = rng.normal(size=6), rng.normal(size=(3, 6))
        a, b = robot.forward_dynamics(q, v, tau), fine.forward_dynamics(q, v, tau)
        assert (np.abs(a - b).max(axis=1) < 1e-7 * np.abs(b).max(axis=1)).all()
    swelling = jn.soft.VariableRadius(0.2, 0.02, 1062.0, 1e5, nodes="auto", reach=[6 * TURN, 0.02, 0.004, 0.004])
    assert swelling.resolution > jn.soft.VariableRadius(0.2, 0.02, 1062.0, 1e5).resolution
    with pytest.raises(ValueError, match="needs reach="):
        alone(nodes="auto")
    with pytest.raises(ValueError, match="for nodes='auto' only"):
        alone(nodes=12, reach=reach)
    with pytest.raises(ValueError, match=r"reach has shape \(2,\)"):
        alone(nodes="auto", reach=[1.0, 2.0])
    with pytest.raises(ValueError, match="more than 200 would do"):
        alone(nodes="auto", reach=[500 * TURN, 0, 0])


def test_a_simulation_says_when_and_its_trial_states_say_nothing():
    robot = alone(damping=0.01)
    with pytest.warns(jn.DiscretizationWarning, match=r"forward dynamics is off .*, at t = 0\.02 s:") as caught:
        jn.simulate(robot, [4 * TURN, 0, 0], np.zeros(3), [0.02, 0.04, 0.06], method="implicit")
    assert len(caught) == 1


def test_what_is_not_to_be_checked_is_not():
    q = [8 * TURN, 0.0, 0.0]
    alone(check=False).mass_matrix(q)
    with UnwatchedNodes():
        alone().mass_matrix(q)
    with pytest.raises(ValueError, match="check is 'no', expected"):
        alone(check="no")


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_right_or_warned(first):
    found = [fault for seed in range(first, first + 20) for fault in faults(seed, pool=8, most=4)]
    assert not found, "\n".join(found)


def test_a_motion_that_is_differentiated_too_often_for_its_digits_is_warned_of():
    """Shapes are those of every day, and yet 1e-2 of the fifth derivative of the acceleration is lost."""
    robot = alone(damping=0.1)
    rng = np.random.default_rng(0)
    q, v = np.array([0.1, 0.05, -0.02]), rng.normal(size=(7, 3))
    tau = robot.inverse_dynamics(q, v)
    with pytest.warns(jn.PrecisionWarning, match="derivative 5 of forward dynamics is off by .* by rounding") as caught:
        found = robot.forward_dynamics(q, v[0], tau)
    assert len(caught) == 1
    assert caught[0].category is jn.PrecisionWarning
    assert np.abs(found - v[1:]).max(axis=1)[5] > 1e-3


def test_what_is_zero_is_off_by_no_more_than_itself():
    """The weight of four turns about the vertical has no part along them; and what two turns have is rounding."""
    robot = alone(-9.81)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.gravity_force([2 * TURN, 0.0, 0.0])
    with pytest.warns(jn.DiscretizationWarning, match=r"gravity force is off by 1e\+00 of .*; nodes=\d+ would do"):
        robot.gravity_force([4 * TURN, 0.0, 0.0])


def test_the_number_of_nodes_does_not_depend_on_what_was_asked_before():
    robot, asked = alone(), [3 * TURN, 3.9 * TURN, 6 * TURN]
    again = [alone() for _ in asked]
    for fresh, turned in zip(again, asked, strict=True):
        with pytest.warns(jn.DiscretizationWarning) as caught:
            robot.mass_matrix([turned, 0.0, 0.0])
        with pytest.warns(jn.DiscretizationWarning) as alike:
            fresh.mass_matrix([turned, 0.0, 0.0])
        assert str(caught[0].message) == str(alike[0].message)


@pytest.mark.parametrize("turned", [TURN, 1.4 * TURN])
def test_a_robot_at_rest_is_not_warned_of(turned):
    """Forces cancel, and what is left of them are errors."""
    robot, q = alone(-9.81, damping=0.05), np.array([turned, 0.1, 0.0])
    tau = robot.inverse_dynamics(q, np.zeros(3), np.zeros(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = jn.simulate(robot, q, np.zeros(3), np.linspace(0, 4, 9), tau, method="implicit")
    assert np.abs(run.a).max() < 1e-9


def test_a_linearization_at_rest_is_not_warned_of():
    """The acceleration there is a rounding error, which differs with the nodes by all of it; A and B do not."""
    strain = jn.soft.polynomial({"bend_y": 3, "stretch": 1})
    tendons = [jn.soft.Tendon("wire", (0.005, 0.0))]
    options = {"young": 1e7, "damping": 0.02, "strain": strain, "actuators": tendons}
    robot, fine = alone(9.81, **options), alone(9.81, nodes=60, check=False, **options)
    rest, still = robot.equilibrium([2.0]), np.zeros(robot.nv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = robot.linearize(rest.q, still, still, u=[2.0])
        robot.forward_dynamics_derivatives(rest.q, still, robot.actuation_matrix(rest.q) @ [2.0])
    better = fine.linearize(rest.q, still, still, u=[2.0])
    for x, y in ((found.A, better.A), (found.B, better.B)):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-6 * np.abs(y).max())


@pytest.mark.parametrize("seed", [500188, 500703, 501075, 501221, 501694])
def test_stiff_and_damped_bodies_multiply_errors_from_order_to_order(seed):
    """Of 1e-9 in the acceleration they made 10 % of its second derivative; drawn by lot, and silent before."""
    assert not faults(seed)


@pytest.mark.night
@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_right_or_warned_at_night(first):
    found = [fault for seed in range(first, first + 100) for fault in faults(10_000 + seed)]
    assert not found, "\n".join(found)


def test_what_is_found_out_is_said_of_states_near_it(monkeypatch):
    """With their own errors; and of all motions, whose forces and accelerations are off differently."""
    asked = []
    explain = Discretization.explain
    monkeypatch.setattr(Discretization, "explain", lambda *given: asked.append(given) or explain(*given))
    robot, reference = alone(), alone(nodes=60)
    rng = np.random.default_rng(0)
    said = 0
    for _ in range(50):
        q = np.array([3 * TURN, 0.0, 0.0]) + rng.uniform(-0.1, 0.1, 3)
        v, tau = rng.normal(size=3), rng.normal(size=(2, 3))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = robot.forward_dynamics(q, v, tau)
        better = reference.forward_dynamics(q, v, tau)
        off = np.abs(found - better).max(axis=1) / np.abs(better).max(axis=1)
        for warning in caught:
            message = str(warning.message)
            order = int(message[11]) if message.startswith("derivative") else 0
            error = float(message.split("off by ")[1].split()[0])
            assert 0.5 * off[order] < error < 2 * off[order]
            said += 1
    assert said == 50
    assert len(asked) < 10
    with pytest.warns(jn.DiscretizationWarning, match="nodes="):
        robot.forward_dynamics([5 * TURN, 0.0, 0.0], v, tau)
    assert len(asked) < 11
