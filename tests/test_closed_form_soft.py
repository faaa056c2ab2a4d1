"""The closed form of robots with soft bodies: the recursions, Lagrange's equations, and differences in time."""

from __future__ import annotations

from dataclasses import replace
from math import factorial

import numpy as np
import pytest

import jounce as jn
from calls import error
from coupled_robots import FOLLOW, SOFT, Leaf, Robot, maker, rod
from jounce.dynamics.closed_form import ClosedForm
from oracles import soft_lagrange
from soft_build import build_soft, central, heavy_tree, row_errors
from soft_models import Rod, random_soft_state

ROWS = 8  # of v


def swelling(**options: object) -> jn.soft.VariableRadius:
    return jn.soft.VariableRadius(0.2, 0.02, 1062.0, 50.0, wall=0.004, nodes=(3, 3), check=False, **options)


MORE: dict[str, Robot] = {
    "joints before, on and after a rod": maker(41)
    .add("arm", "world", "revolute")
    .add("slide", "arm", "prismatic")
    .add("rod", "slide", "universal", soft=rod(strain=jn.soft.constant_strain("bend_y", "twist", "shear_x")))
    .add("ball", "rod", "spherical")
    .add("tool", "ball", "fixed")
    .robot(),
    "bodies along a rod": maker(42)
    .add("rod", "world", "fixed", soft=rod(0.5, strain=jn.soft.polynomial({"bend_y": 1, "stretch": 0})))
    .add("near", "rod", "revolute", at=0.0)
    .add("load", "rod", "fixed", at=0.2)
    .add("fin", "rod", "planar", at=0.2)
    .add("branch", "rod", "revolute", at=0.35, soft=rod(0.2))
    .add("tip", "branch", "fixed")
    .robot(),
    "every kind of soft body on a floating base": maker(43)
    .add("base", "world", "free")
    .add("rod", "base", "revolute", soft=rod(strain=jn.soft.constant_curvature(planar=True)))
    .add("leaf", "rod", "fixed", soft=Leaf())
    .add("body", "base", "prismatic", soft=swelling())
    .add("load", "body", "fixed", at=0.1)
    .add("flyer", "leaf", "free")
    .robot(),
    "followers across a rod": maker(44)
    .add("arm", "world", "revolute")
    .add("rod", "arm", "fixed", soft=rod())
    .add("left", "rod", "revolute", follows=FOLLOW("right", -0.8, 0.1))
    .add("right", "rod", "revolute", at=0.1)
    .add("hand", "left", "prismatic", follows=FOLLOW("arm", 0.3))
    .robot(),
    "a rod that cannot deform": maker(45)
    .add("arm", "world", "revolute")
    .add("rod", "arm", "fixed", soft=rod(strain=np.zeros((6, 0))))
    .add("hand", "rod", "revolute")
    .robot(),
}
ROBOTS = SOFT | MORE
each_robot = pytest.mark.parametrize("name", ROBOTS)


def state(robot: Robot, rows: int = ROWS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return robot.configuration(rng), robot.rates(rng, (rows,))


# --- against the recursions -----------------------------------------------------------------------------


@each_robot
def test_every_term_of_the_equations_of_motion(name: str) -> None:
    """In body axes, up to the fourth derivative."""
    robot = ROBOTS[name].model
    q, v = state(ROBOTS[name])
    form = robot.closed_form(q, v).body
    M, g = robot.mass_matrix_derivatives(q, v[:4]), robot.gravity_force_derivatives(q, v[:4])
    C, P = robot.coriolis_matrix_derivatives(q, v[:5]), robot.torque_coefficients(q, v[:5])
    assert error(form.mass_matrix(), robot.mass_matrix(q)) < 1e-12
    assert error(form.coriolis_matrix(), robot.coriolis_matrix(q, v[0])) < 1e-12
    assert error(form.gravity_force(), robot.gravity_force(q)) < 1e-12
    for n in range(5):
        assert error(form.mass_matrix(n), M[n], scale=M[0]) < 1e-12, n
        assert error(form.coriolis_matrix(n), C[n]) < 1e-12, n
        assert error(form.gravity_force(n), g[n], scale=g[0]) < 1e-12, n
    for k in range(6):
        assert error(form.P(k + 1, 4), P[k], scale=P[-1]) < 1e-12, k


@each_robot
def test_torque_to_order_six(name: str) -> None:
    robot = ROBOTS[name].model
    q, v = state(ROBOTS[name], seed=1)
    form = ClosedForm(robot, q, v).body
    truth = robot.generalized_inverse_dynamics(q, v) + robot.gravity_force_derivatives(q, v[:6])
    for n in range(7):
        assert error(form.torque(n), truth[n]) < 1e-12, n


def test_inverse_dynamics_where_nothing_is_elastic() -> None:
    robot = (
        maker(46)
        .add("base", "world", "free")
        .add("rod", "base", "revolute", soft=jn.soft.Rod(0.3, (0.02, 0.015), 1050.0, 0.0, nodes=5, check=False))
        .add("hand", "rod", "revolute", follows=FOLLOW("rod", 0.5))
        .robot()
    )
    q, v = state(robot)
    form, truth = robot.model.closed_form(q, v), robot.model.inverse_dynamics(q, v)
    for n in range(7):
        assert error(form.body.torque(n), truth[n]) < 1e-12, n
    in_world = robot.model.change_velocity_frame(q, v, "body", "world")
    truth = robot.model.inverse_dynamics(q, in_world[:3], frame="world")
    assert error(form.spatial.torque(), truth[0]) < 1e-12
    assert error(form.spatial.torque_rate(), truth[1]) < 1e-12


@each_robot
def test_world_frame(name: str) -> None:
    robot = ROBOTS[name].model
    q, v = state(ROBOTS[name], 3, seed=2)
    form, rows = robot.closed_form(q, v).spatial, robot.change_velocity_frame(q, v, "body", "world")
    g = robot.gravity_force_derivatives(q, rows[:1], frame="world")
    force = robot.generalized_inverse_dynamics(q, rows, frame="world") + g
    C = robot.coriolis_matrix(q, rows[0], frame="world")
    dM = robot.mass_matrix_derivatives(q, rows[:1], frame="world")[1]
    assert error(form.v, rows) < 1e-13
    assert error(form.mass_matrix, robot.mass_matrix(q, frame="world")) < 1e-12
    assert error(form.coriolis_matrix, C) < 1e-12
    assert error(form.coriolis_matrix + form.coriolis_matrix.T, dM, scale=C) < 1e-12
    assert error(form.h, C @ rows[0]) < 1e-12
    assert error(form.g, g[0]) < 1e-12
    assert error(form.dg, g[1], scale=g[0]) < 1e-12
    assert error(form.torque(), force[0]) < 1e-12
    assert error(form.torque_rate(), force[1]) < 1e-12


@each_robot
def test_the_last_link_of_a_body_has_its_frame(name: str) -> None:
    robot = ROBOTS[name].model
    q, v = state(ROBOTS[name], 4)
    form = robot.closed_form(q, v)
    own = [b.name for b in robot.bodies if b.moves]
    last = [len(form.links) - 1 - form.links[::-1].index(b) for b in own]
    in_body = robot.forward_kinematics(q, v, frames=own).twist
    for n in range(4):
        assert error(form.body.V(n).reshape(-1, 6)[last], in_body[n]) < 1e-12
    axes = {"frame": "world", "velocity_frame": "world"}
    in_world = robot.forward_kinematics(q, form.spatial.v, frames=own, **axes).twist
    assert error(form.spatial.V.reshape(-1, 6)[last], in_world[0]) < 1e-12
    assert error(form.spatial.dV().reshape(-1, 6)[last], in_world[1]) < 1e-12


# --- against Lagrange's equations -----------------------------------------------------------------------

UNIFORM = ("revolute", "prismatic", "rigid", "planar", "spatial", "variable radius")
VARYING = ("revolute", "rigid", "gaussian", "general")


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize(("kinds", "tolerance"), [(UNIFORM, 1e-11), (VARYING, 1e-8)], ids=["uniform", "varying"])
def test_random_trees_to_the_third_derivative(kinds: tuple[str, ...], tolerance: float, floating: bool) -> None:
    rng = np.random.default_rng(3)
    spec = heavy_tree(rng, kinds, floating=floating)
    spec = replace(spec, modules=tuple(replace(m, nodes=12) if isinstance(m, Rod) else m for m in spec.modules))
    robot = build_soft(spec, exact_nodes=True)
    q, v = random_soft_state(rng, spec, 5)
    form, truth = robot.closed_form(q, v).body, soft_lagrange.forces(spec, q, v)
    unit = np.sqrt(np.diagonal(soft_lagrange.mass_matrix(spec, q)))
    found = np.array([form.torque(n) for n in range(4)])
    assert row_errors(found, truth.inertial - truth.gravity, unit) < tolerance
    weight = np.array([form.gravity_force(n) for n in range(4)])
    assert row_errors(weight, -truth.gravity, unit) < tolerance
    assert (
        row_errors(form.mass_matrix()[None], soft_lagrange.mass_matrix(spec, q)[None], np.outer(unit, unit)) < tolerance
    )


# --- derivatives by differences -------------------------------------------------------------------------

TERMS = ("a", "L", "A", "J", "V", "b", "U", "C", "screws", "mass_matrix", "coriolis_matrix", "gravity_force", "torque")


@pytest.mark.parametrize("name", ["swelling", "module of a user", "bodies along a rod", "followers across a rod"])
def test_every_term_is_the_derivative_of_the_one_before(name: str) -> None:
    robot = ROBOTS[name].model
    q, v = state(ROBOTS[name], 6)
    assert robot.nq == robot.nv
    orders = np.array([factorial(k) for k in range(7)])

    def at(t: float) -> ClosedForm:
        """Along the polynomial whose derivatives are v."""
        position = q + sum(t ** (k + 1) / orders[k + 1] * row for k, row in enumerate(v))
        rows = [sum(t ** (k - j) / orders[k - j] * v[k] for k in range(j, 6)) for j in range(6)]
        return robot.closed_form(position, rows)

    now, h = at(0.0), 0.02
    forms = {k * h: at(k * h) for k in range(-4, 5)}
    for term in TERMS:
        for n in range(3):
            rate = central(lambda t, x=term, n=n: getattr(forms[round(t / h) * h].body, x)(n), h)
            assert error(getattr(now.body, term)(n + 1), rate, scale=getattr(now.body, term)(n)) < 1e-8, (term, n)
    for term, own in (("S", now.spatial.dS), ("V", now.spatial.dV()), ("g", now.spatial.dg)):
        rate = central(lambda t, x=term: getattr(forms[round(t / h) * h].spatial, x), h)
        assert error(own, rate) < 1e-8, term
    torque_rate = central(lambda t: forms[round(t / h) * h].spatial.torque(), h)
    assert error(now.spatial.torque_rate(), torque_rate) < 1e-8


@each_robot
def test_mass_matrix_rate_less_twice_coriolis_is_skew(name: str) -> None:
    q, v = state(ROBOTS[name], 3)
    form = ROBOTS[name].model.closed_form(q, v).body
    for n in range(3):
        C = form.coriolis_matrix(n)
        assert error(C + C.T, form.mass_matrix(n + 1), scale=C) < 1e-12


def test_rigid_joints_have_constant_screws() -> None:
    q, v = state(SOFT["rod on a floating base"])
    form = SOFT["rod on a floating base"].model.closed_form(q, v)
    rows = np.repeat(np.array(form.links) == "rod", 6)
    assert np.abs(form.body.screws(1)[rows]).max() > 1e-3
    assert not form.body.screws(1)[~rows].any()
    assert form.body.screws() is form.body.X
    rigid = jn.robots.aerial_manipulator()
    assert not ClosedForm(rigid, rigid.neutral(), np.ones(rigid.nv)).body.screws(3).any()


def test_a_rod_does_not_move_with_the_shape_of_another() -> None:
    """Whatever the memory of the answer contained before."""
    builder, rod = jn.Builder(), jn.soft.Rod(0.3, 0.02, 1000.0, 1e4)
    builder.add("first", "world", body=rod)
    builder.add("second", "first", body=rod)
    robot = builder.build()
    q, v = np.full(robot.nq, 0.1), np.ones((3, robot.nv))
    first, second = robot.coordinate("first"), robot.coordinate("second")
    _, found = robot._sections(q, v)
    own = np.abs(found[:, :, :, second]).max(axis=(0, 2, 3)) > 0
    assert own.any()
    assert not own.all()
    for _ in range(5):
        dirt = [np.full(found.shape, np.nan) for _ in range(3)]
        del dirt
        screws = robot._sections(q, v)[1]
        assert np.all(screws[:, own][..., first] == 0)
        assert np.all(screws[:, ~own][..., second] == 0)


# --- input ----------------------------------------------------------------------------------------------


def test_other_numbers_than_real_ones_are_refused_by_name() -> None:
    sympy = pytest.importorskip("sympy")
    robot = SOFT["module of a user"].model
    q, v = state(SOFT["module of a user"], 2)
    symbols = sympy.symbols(f"x:{robot.nv}")
    for bad_q, bad_v, message in (
        (q + 1e-30j, v, "q has complex numbers, expected real numbers: 'leaf' is soft"),
        (q, v.astype(complex), "v has complex numbers, expected real numbers: 'leaf' is soft"),
        (symbols, v, "q has symbols or other objects, expected real numbers: 'leaf' is soft"),
        (q, [symbols, symbols], "v has symbols or other objects, expected real numbers: 'leaf' is soft"),
        (q[1:], v, r"q has shape \(3,\), expected \(4,\)"),
        (q, v[:, 1:], r"v has shape \(2, 3\), expected \(4,\) or \(rows, 4\)"),
        (q, np.zeros((jn.MAX_ORDER + 3, 4)), "v has 33 rows, expected at most 32: the highest order is 30"),
    ):
        with pytest.raises(ValueError, match=message):
            robot.closed_form(bad_q, bad_v)
    floating = SOFT["rod on a floating base"]
    q, v = state(floating)
    q[3:7] *= 1.001
    with pytest.raises(ValueError, match=r"quaternion of length 1\.001000, expected 1"):
        floating.model.closed_form(q, v)


def test_a_velocity_without_its_derivatives() -> None:
    robot = SOFT["two rods in series"].model
    q, v = state(SOFT["two rods in series"], 1)
    form = robot.closed_form(q, v[0])
    assert error(form.body.mass_matrix(1), robot.mass_matrix_derivatives(q, v)[1]) < 1e-12
    assert error(form.spatial.coriolis_matrix, robot.coriolis_matrix(q, v[0])) < 1e-12
    needing = (
        form.spatial.torque,
        form.spatial.dh,
        form.body.torque,
        *(lambda x=x: x(2) for x in (form.body.screws, form.body.J)),
    )
    for missing in needing:
        with pytest.raises(ValueError, match="v has 1 row, expected 2 or more"):
            missing()


def test_the_highest_order() -> None:
    """X of the far end of a rod on the world is its Jacobian, whose derivatives go up to the same order."""
    robot = SOFT["rod of constant curvature"].model
    q, v = state(SOFT["rod of constant curvature"], jn.MAX_ORDER)
    J = robot.jacobian_derivatives("rod", q, v)
    form = robot.closed_form(q, v).body
    for n in range(jn.MAX_ORDER + 1):
        assert error(form.screws(n)[-6:], J[n]) < 1e-11, n


def test_a_robot_that_cannot_move() -> None:
    robot = maker(47).add("rod", "world", "fixed", soft=rod(strain=np.zeros((6, 0)))).robot().model
    form = robot.closed_form([], np.zeros((2, 0)))
    assert set(form.links) == {"rod"}
    assert form.body.torque().shape == form.spatial.torque().shape == (0,)
