"""Partial derivatives of soft dynamics against eighth-order central differences."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import jounce as jn
from soft_build import build_soft, central, coarse, error, heavy_tree
from soft_models import SoftSpec, VariableRadiusBody, random_module, random_soft_state

KINDS = {
    "uniform": ("revolute", "rigid", "planar", "spatial", "variable radius"),
    "varying": ("revolute", "gaussian"),
    "solid": ("prismatic", "variable radius"),
}
CASES = [("uniform", False), ("uniform", True), ("varying", True), ("solid", False)]


@cache
def case(kind: str, floating: bool) -> tuple[jn.Model, np.ndarray, np.ndarray, np.ndarray]:
    """A robot, a configuration, a stack of five rows, and steps for differences, small but not too small."""
    rng = np.random.default_rng(len(kind))
    spec = heavy_tree(rng, KINDS[kind], floating=floating, slow=True)
    if kind == "solid":
        modules = (replace(m, law="svk", poisson=0.3) if isinstance(m, VariableRadiusBody) else m for m in spec.modules)
        spec = SoftSpec(tuple(modules), spec.gravity)
    q, v = random_soft_state(rng, spec, 5)
    steps = np.abs(random_soft_state(np.random.default_rng(0), spec, 40)[1]).max(axis=0)
    return build_soft(coarse(spec), exact_nodes=True), q, v, 0.02 * steps


def unit_of(robot: jn.Model, q: np.ndarray) -> np.ndarray:
    return np.sqrt(np.diagonal(robot.mass_matrix(q)))


def columns(function, step: np.ndarray) -> np.ndarray:
    """d function / d coordinate, (..., nv, nv), of a function of a displacement (nv,)."""
    slopes = [central(lambda t, e=e: function(t * e), 1.0) for e in np.diag(step)]
    return np.stack(slopes, axis=-1) / step


@pytest.mark.parametrize(("kind", "floating"), CASES)
def test_inverse_dynamics(kind, floating):
    robot, q, v, step = case(kind, floating)
    wrench = {robot.body_names[-1]: np.array([0.3, -0.2, 0.5, 0.01, 0.02, -0.03])}
    found = robot.inverse_dynamics_derivatives(q, v[0], v[1], wrenches=wrench)
    by_q = columns(lambda d: robot.inverse_dynamics(robot.integrate(q, d), v[0], v[1], wrenches=wrench), step)
    by_v = columns(lambda d: robot.inverse_dynamics(q, v[0] + d, v[1], wrenches=wrench), step)
    unit = unit_of(robot, q)
    units = np.outer(unit, unit)
    assert error(found[0], by_q, units) < 1e-8
    assert error(found[1], by_v, units) < 1e-8
    assert error(found[2], robot.mass_matrix(q), units) < 1e-12


@pytest.mark.parametrize(("kind", "floating"), CASES)
@pytest.mark.parametrize("wrench_frame", ["world", "mixed"])
def test_inverse_dynamics_with_wrenches_in_other_axes(kind, floating, wrench_frame):
    robot, q, v, step = case(kind, floating)
    how = {"wrenches": {robot.body_names[-1]: np.array([3.0, -2.0, 5.0, 0.1, 0.2, -0.3])}, "wrench_frame": wrench_frame}
    found = robot.inverse_dynamics_derivatives(q, v[0], v[1], **how)
    by_q = columns(lambda d: robot.inverse_dynamics(robot.integrate(q, d), v[0], v[1], **how), step)
    unit = unit_of(robot, q)
    assert error(found[0], by_q, np.outer(unit, unit)) < 1e-8


def test_strain_that_varies_much():
    """For a rod with hardly any stiffness and few nodes, bent and sheared: the brackets of its strains matter."""
    builder = jn.Builder()
    builder.add(
        "rod", "world", body=jn.soft.Rod(0.5, 0.02, 1e3, 1.0, strain=jn.soft.polynomial(2), nodes=2, check=False)
    )
    robot, rng = builder.build(), np.random.default_rng(3)
    (q, v, a), step = rng.normal(size=(3, robot.nv)), np.full(robot.nv, 0.02)
    wrench = {"rod": np.array([3.0, -2.0, 5.0, 0.1, 0.2, -0.3])}
    K, D, _ = robot.inverse_dynamics_derivatives(3 * q, v, a, wrenches=wrench)
    by_q = columns(lambda d: robot.inverse_dynamics(3 * q + d, v, a, wrenches=wrench), step)
    assert error(K, by_q) < 1e-10
    assert error(D, columns(lambda d: robot.inverse_dynamics(3 * q, v + d, a, wrenches=wrench), step)) < 1e-10


@pytest.mark.parametrize(("kind", "floating"), [("uniform", True), ("solid", False)])
def test_inverse_dynamics_in_stacks(kind, floating):
    """Derivatives of every tau^(k), by q and by every v^(m)."""
    robot, q, v, step = case(kind, floating)
    by_q, by_v = robot.inverse_dynamics_derivatives(q, v)
    assert by_q.shape == (4, robot.nv, robot.nv)
    assert by_v.shape == (4, 5, robot.nv, robot.nv)
    unit = unit_of(robot, q)
    units = np.outer(unit, unit)
    slopes = columns(lambda d: robot.inverse_dynamics(robot.integrate(q, d), v), step)
    for k in range(4):
        assert error(by_q[k], slopes[k], units) < 1e-8
    for m in range(5):
        slopes = columns(lambda d, m=m: robot.inverse_dynamics(q, v + np.eye(5)[m][:, None] * d), step)
        for k in range(4):
            size = max(1.0, np.abs(slopes[k] / units).max())
            assert np.abs((by_v[k, m] - slopes[k]) / units).max() < 1e-8 * max(
                size, np.abs(slopes / units).max() * 1e-3
            )


@pytest.mark.parametrize(("kind", "floating"), CASES)
def test_forward_dynamics(kind, floating):
    robot, q, v, step = case(kind, floating)
    tau = robot.inverse_dynamics(q, v[0], v[1])
    by_q, by_v, by_tau = robot.forward_dynamics_derivatives(q, v[0], tau)
    units = np.outer(1 / unit_of(robot, q), unit_of(robot, q))
    slopes = columns(lambda d: robot.forward_dynamics(robot.integrate(q, d), v[0], tau), step)
    # The gaussian rod's mass matrix is nearly singular: the difference loses digits there, not the derivative.
    tolerance = 1e-8 if kind != "varying" else 1e-5
    assert error(by_q, slopes, units) < tolerance
    assert error(by_v, columns(lambda d: robot.forward_dynamics(q, v[0] + d, tau), step), units) < tolerance
    assert error(by_tau @ robot.mass_matrix(q), np.eye(robot.nv), units) < tolerance
    K, D, _ = robot.inverse_dynamics_derivatives(q, v[0], v[1])
    assert error(by_tau @ K, -by_q, units) < tolerance
    assert error(by_tau @ D, -by_v, units) < tolerance


def test_forward_dynamics_in_stacks():
    robot, q, v, step = case("uniform", True)
    tau = robot.inverse_dynamics(q, v[:3])
    by_q, by_v, by_tau = robot.forward_dynamics_derivatives(q, v[0], tau)
    unit = 1 / unit_of(robot, q)
    slopes = columns(lambda d: robot.forward_dynamics(robot.integrate(q, d), v[0], tau), step)
    rates = columns(lambda d: robot.forward_dynamics(q, v[0] + d, tau), step)
    for k in range(2):
        assert error(by_q[k], slopes[k], np.outer(unit, 1 / unit)) < 1e-7
        assert error(by_v[k], rates[k], np.outer(unit, 1 / unit)) < 1e-7
        assert error(by_tau[k, k], robot.inverse_mass_matrix(q), np.outer(unit, unit)) < 1e-11


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
def test_linearization_is_that_of_the_motion(frame):
    """A and B give the change of the acceleration and of the velocity with the state."""
    robot, q, v, step = case("uniform", True)
    velocity = robot.change_velocity_frame(q, v[:1], "body", frame)[0]
    tau = robot.inverse_dynamics(q, np.stack([velocity, 0 * velocity]), frame=frame)[0]
    lin = robot.linearize(q, velocity, tau, frame=frame)
    n = robot.nv
    assert lin.A.shape == (2 * n, 2 * n)
    assert lin.B.shape == (2 * n, n)
    unit = 1 / unit_of(robot, q)
    inverse = robot.inverse_mass_matrix(q, frame=frame)
    assert error(lin.B[n:], inverse, np.outer(unit, unit)) < 1e-10
    assert not lin.B[:n].any()
    if frame == "body":
        by_q, by_v, _ = robot.forward_dynamics_derivatives(q, velocity, tau)
        assert error(lin.A[n:, :n], by_q, np.outer(unit, 1 / unit)) < 1e-12
        assert error(lin.A[n:, n:], by_v, np.outer(unit, 1 / unit)) < 1e-12
        assert error(lin.A[:n, n:], np.eye(n)) < 1e-15
    shapes = np.r_[6:n]  # plain coordinates: their displacement is the same in all frames
    by_v = columns(lambda d: robot.forward_dynamics(q, velocity + d, tau, frame=frame), step)
    assert error(lin.A[n:, n:][:, shapes], by_v[:, shapes], np.outer(unit, 1 / unit[shapes])) < 1e-8


def test_the_stiffness_of_a_shape_is_symmetric():
    """At rest, dtau/dq of a conservative robot is a Hessian."""
    robot, q, _, _ = case("solid", False)
    rest = np.zeros(robot.nv)
    K, D, _ = robot.inverse_dynamics_derivatives(q, rest, rest)
    assert error(K.T, K) < 1e-12
    assert error(D.T, D) < 1e-12
    assert np.linalg.eigvalsh(D).min() > -1e-12 * np.abs(D).max()


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-6, 1e-3])
def test_straight_and_nearly_straight_rods_have_derivatives(size):
    spec = SoftSpec((random_module(np.random.default_rng(3), "spatial", -1),))
    robot = build_soft(spec)
    q, v = random_soft_state(np.random.default_rng(4), spec, 2)
    step = 0.02 * np.array([1.0, 1.0, 0.05])
    K, D, _ = robot.inverse_dynamics_derivatives(size * q, *v)
    unit = unit_of(robot, q)
    units = np.outer(unit, unit)
    assert error(K, columns(lambda d: robot.inverse_dynamics(size * q + d, *v), step), units) < 1e-10
    assert error(D, columns(lambda d: robot.inverse_dynamics(size * q, v[0] + d, v[1]), step), units) < 1e-10
    by_q, _ = robot.inverse_dynamics_derivatives(size * q, np.concatenate([v, v, v]))
    assert (
        error(
            by_q[4], columns(lambda d: robot.inverse_dynamics(size * q + d, np.concatenate([v, v, v])), step)[4], units
        )
        < 1e-9
    )


def test_a_wrong_derivative_is_seen():
    """At a velocity off by a millionth, the derivatives differ, and the comparison detects it."""
    robot, q, v, step = case("uniform", True)
    K, _, _ = robot.inverse_dynamics_derivatives(q, v[0], v[1])
    slower, _, _ = robot.inverse_dynamics_derivatives(q, v[0] * (1 + 1e-6), v[1])
    unit = unit_of(robot, q)
    by_q = columns(lambda d: robot.inverse_dynamics(robot.integrate(q, d), v[0], v[1]), step)
    weights = np.outer(unit, unit)
    assert error(K, by_q, weights) < 1e-8 < error(slower, by_q, weights)
