"""Poses, twists and Jacobians of soft trees, and wrenches on them."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import jounce as jn
from oracles import soft_lagrange
from soft_build import build_soft, central, cut, error, heavy_robot, heavy_tree, rod_of, row_errors
from soft_models import SoftSpec, random_module, random_soft_state

KINDS = ("revolute", "rigid", "planar", "spatial", "variable radius")
ADJOINT = ("body", "world", "mixed")


def vee(A: np.ndarray) -> np.ndarray:
    """The twist [linear; angular] of a matrix in se(3)."""
    return np.array([*A[:3, 3], A[2, 1], A[0, 2], A[1, 0]])


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("soft", ["uniform", "varying"])
def test_poses_and_their_derivatives(soft, floating):
    rng = np.random.default_rng(1)
    spec = heavy_tree(rng, KINDS if soft == "uniform" else ("revolute", "gaussian"), floating=floating)
    robot = build_soft(spec)
    q, v = random_soft_state(rng, spec, 5)
    names = [f"m{i}" for i in range(len(spec.modules))]
    truth = soft_lagrange.far_poses(spec, q, v)
    tolerance = 1e-12 if soft == "uniform" else 1e-9
    assert row_errors(robot.pose_derivatives(q, v, frames=names), truth) < tolerance
    kinematics = robot.forward_kinematics(q, v, frames=names)
    assert error(kinematics.pose, truth[0]) < tolerance
    for i, name in enumerate(names):
        T, dT = truth[0, i], truth[1, i]
        assert error(robot.pose(name, q), T) < tolerance
        assert error(robot.twist(name, q, v)[0], vee(np.linalg.solve(T, dT))) < 10 * tolerance
        assert (
            error(robot.twist(name, q, v, frame="world", velocity_frame="body")[0], vee(dT @ np.linalg.inv(T)))
            < 10 * tolerance
        )
        assert row_errors(robot.twist(name, q, v), kinematics.twist[:, i]) < 1e-14


def test_a_frame_of_a_soft_body_is_at_its_far_end():
    b = jn.Builder()
    rod = jn.soft.Rod(0.4, 0.02, 1000.0, 1e5, strain=jn.soft.constant_curvature(planar=True))
    b.add("rod", "world", body=rod)
    b.add("base", "rod", at=0.0)
    b.add("middle", "rod", at=0.2)
    b.add("tip", "rod", at=0.4)
    robot = b.build()
    angle, stretch = 1.2, 0.05
    for name, s in (("base", 0.0), ("middle", 0.5), ("tip", 1.0), ("rod", 1.0)):
        bend, radius = angle * s, (0.4 + stretch) / angle
        pose = np.eye(4)
        pose[:3, :3] = [[np.cos(bend), 0, -np.sin(bend)], [0, 1, 0], [np.sin(bend), 0, np.cos(bend)]]
        pose[:3, 3] = [-radius * (1 - np.cos(bend)), 0, radius * np.sin(bend)]
        np.testing.assert_allclose(robot.pose(name, [angle, stretch]), pose, atol=1e-15)
    assert robot.frame_names == ("rod", "base", "middle", "tip")
    assert robot.body_names == ("rod",)


@pytest.mark.parametrize(("kind", "tolerance"), [("spatial", 1e-13), ("gaussian", 1e-10)])
def test_points_along_a_rod_against_rods_cut_there(kind, tolerance):
    rng = np.random.default_rng(2)
    rod = random_module(rng, kind, -1)
    places = rod.length * np.array([0.07, 0.4, 0.41, 0.9])
    b = jn.Builder()
    b.add("rod", "world", placement=rod.placement, body=rod_of(rod, None))
    for i in rng.permutation(4):
        b.add(f"p{i}", "rod", at=places[i])
    robot = b.build()
    q, v = random_soft_state(rng, SoftSpec((rod,)), 4)
    pieces = SoftSpec(tuple(replace(p, parent=i - 1) for i, p in enumerate(cut(rod, *places))))
    truth = soft_lagrange.far_poses(pieces, np.tile(q, 5), np.tile(v, 5))
    found = robot.pose_derivatives(q, v, frames=["p0", "p1", "p2", "p3", "rod"])
    assert row_errors(found, truth) < tolerance


def test_points_along_a_body_of_variable_radius():
    """Its backbone is that of a rod that bends about x and stretches."""
    swelling = jn.soft.VariableRadius(0.2, 0.02, 1062.0, 1e6, nodes=(6, 4), check=False)
    rod = jn.soft.Rod(0.2, 0.02, 1062.0, 1e6, strain=jn.soft.constant_strain("bend_x", "stretch"))
    robots = []
    for body in (swelling, rod):
        b = jn.Builder()
        b.add("soft", "world", body=body)
        for i, s in enumerate((0.0, 0.05, 0.19, 0.2)):
            b.add(f"p{i}", "soft", at=s)
        robots.append(b.build())
    q, v = np.array([0.8, 0.01, 1e-3, -1e-3]), np.random.default_rng(0).normal(size=(4, 4))
    names = robots[0].frame_names
    a, b = robots[0].pose_derivatives(q, v, frames=names), robots[1].pose_derivatives(q[:2], v[:, :2], frames=names)
    assert row_errors(a, b) < 1e-13


def test_a_backbone_has_the_frames_of_the_core():
    """At places in any order, twice, at both ends; for many states, on any joint."""
    rng = np.random.default_rng(7)
    places = 0.3 * np.array([0.9, 0.0, 0.41, 0.07, 1.0, 0.41])
    b = jn.Builder()
    b.add("turn", "world", jn.Revolute((1, 2, 0.5)), placement=jn.placement((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6)))
    b.add("rod", "turn", body=jn.soft.Rod(0.3, 0.01, 1000.0, 1e6, strain=jn.soft.polynomial(2)))
    for i, s in enumerate(places):
        b.add(f"p{i}", "rod", at=s)
    robot = b.build(allow_massless=True)
    q = rng.uniform(-0.3, 0.3, (130, 2, robot.nq)) * np.append(1.0, [1.0] * 9 + [0.03] * 3)
    found = robot.backbone("rod", q, places)
    truth = robot.forward_kinematics(q, frames=[f"p{i}" for i in range(6)]).pose
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-12)
    np.testing.assert_allclose(robot.backbone("rod", q[3, 1], places), found[3, 1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(robot.backbone("rod", q[0], places[::-1])[:, ::-1], found[0], rtol=0, atol=1e-14)


def test_a_backbone_takes_as_many_calls_for_many_places_as_for_few():
    """NumPy's calls are what takes time: there were more than a hundred for each place."""
    b = jn.Builder()
    b.add("rod", "world", body=jn.soft.Rod(0.3, 0.01, 1000.0, 1e6, strain=jn.soft.polynomial(3)))
    robot = b.build()
    q = np.full(robot.nq, 1e-3)

    def calls(count: int) -> int:
        places, events = np.linspace(0.0, 0.3, count), []
        robot.backbone("rod", q, places)
        sys.setprofile(lambda frame, event, what: events.append(event))
        robot.backbone("rod", q, places)
        sys.setprofile(None)
        return sum(event in ("call", "c_call") for event in events)

    assert calls(41) < 250
    assert calls(82) < calls(41) + 25


@pytest.mark.parametrize("velocity_frame", ADJOINT)
@pytest.mark.parametrize("frame", ADJOINT)
def test_jacobians_make_the_twists_at_every_order(frame, velocity_frame):
    robot, q, v = heavy_robot(3, KINDS, 5, floating=True)
    binomial = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 2, 1, 0, 0], [1, 3, 3, 1, 0], [1, 4, 6, 4, 1]])
    for name in robot.frame_names:
        J = robot.jacobian_derivatives(name, q, v[:4], frame=frame, velocity_frame=velocity_frame)
        twist = robot.twist(name, q, v, frame=frame, velocity_frame=velocity_frame)
        for k in range(5):
            assert error(sum(binomial[k, j] * J[k - j] @ v[j] for j in range(k + 1)), twist[k]) < 1e-12
        np.testing.assert_allclose(
            robot.jacobian(name, q, frame=frame, velocity_frame=velocity_frame), J[0], rtol=1e-13, atol=1e-13
        )


def test_jacobians_are_the_derivatives_of_poses():
    robot, q, _ = heavy_robot(4, KINDS, 1, floating=True)
    for name in robot.body_names[-3:]:
        J, T = robot.jacobian(name, q), robot.pose(name, q)
        scale = np.where(np.arange(robot.nv) < 6, 1.0, 0.1)
        slopes = [
            vee(
                np.linalg.solve(T, central(lambda t, e=e, name=name: robot.pose(name, robot.integrate(q, t * e)), 2e-2))
            )
            for e in np.diag(scale)
        ]
        assert error(J * scale, np.array(slopes).T) < 1e-10


@pytest.mark.parametrize("wrench_frame", ADJOINT)
@pytest.mark.parametrize("frame", ADJOINT)
def test_wrenches_on_soft_frames(frame, wrench_frame):
    """tau changes by -J^T w, with J in the axes of w; at rest at order 0, and in motion by Leibniz' rule."""
    robot, q, v = heavy_robot(5, KINDS, 4, floating=True)
    rng = np.random.default_rng(6)
    soft = [b.name for b in robot.bodies if b.soft is not None]
    wrenches = {name: rng.normal(size=(3, 6)) for name in soft}
    change = robot.inverse_dynamics(q, v, wrenches=wrenches, wrench_frame=wrench_frame, frame=frame)
    change = robot.inverse_dynamics(q, v, frame=frame) - change
    expected = np.zeros_like(change)
    for name, w in wrenches.items():
        J = robot.jacobian_derivatives(name, q, v[:2], frame=wrench_frame, velocity_frame=frame)
        for k, row in enumerate(((1,), (1, 1), (1, 2, 1))):
            expected[k] += sum(c * J[k - j].T @ w[j] for j, c in enumerate(row))
    scale = np.abs(robot.inverse_dynamics(q, v, frame=frame)).max(axis=1)
    assert (np.abs(change - expected).max(axis=1) < 1e-12 * scale + 1e-11 * np.abs(expected).max(axis=1)).all()
    assert np.abs(expected).max() > 0.1
    single = {name: w[0] for name, w in wrenches.items()}
    once = robot.inverse_dynamics(q, v[0], v[1], wrenches=single, wrench_frame=wrench_frame, frame=frame)
    assert error(once, robot.inverse_dynamics(q, v[0], v[1], frame=frame) - expected[0]) < 1e-11
    acc = robot.forward_dynamics(q, v[0], once, wrenches=single, wrench_frame=wrench_frame, frame=frame)
    assert error(acc, v[1]) < 1e-7


def test_momentum_and_centre_of_mass():
    robot, q, v = heavy_robot(7, KINDS, 3, floating=True)
    A = robot.centroidal_momentum_matrix(q)
    momentum = robot.centroidal_momentum(q, v[0])
    assert error(A @ v[0], momentum) < 1e-12
    mass = sum(b.soft.mass if b.soft is not None else b.inertia.mass for b in robot.bodies)
    weight = -robot.gravity_force(q)[:3]  # on the base, in its axes
    rotation = robot.pose("m0", q)[:3, :3]
    assert error(rotation @ weight, mass * robot.gravity) < 1e-12
    centre = robot.center_of_mass_derivatives(q, v)
    assert error(mass * centre[1], momentum[:3]) < 1e-12
    rates = robot.centroidal_momentum_derivatives(q, v)
    assert error(mass * centre[2], rates[1, :3]) < 1e-12
    B = robot.centroidal_momentum_matrix_derivatives(q, v[:1])
    assert error(B[0] @ v[1] + B[1] @ v[0], rates[1]) < 1e-11
