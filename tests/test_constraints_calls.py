"""Calls of robots with constraints, besides their motion: each against something that shares no code with it."""

from __future__ import annotations

import functools
import warnings
from math import comb

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.special
from jounce._core import UnwatchedNodes

import jounce as jn
from jounce.dynamics.constraints.wrenches import constraint_wrenches
from kinds import TIED
from linkages import HINGE, closed, four_bar, geared_parallelogram, quadruped, random_joints, shift, two_arms
from trees import random_pose

KINDS = [
    jn.Distance(0.4),
    jn.OnPlane((1, 2, 3)),
    jn.OnLine((3, 1, 2)),
    jn.Rolling(0.2),
    jn.Rolling(0.2, (1, 2, 0), (2, 0, 1)),
]


# Coordinates of joints that close loops, against the same joint in the tree.


def hung_and_closed(joint: jn.Joint, rng: np.random.Generator) -> jn.Model:
    """A body on a joint, also tied to its parent by the same joint at the same place, which changes nothing."""
    b = jn.Builder()
    b.add("base", "world", jn.Free(), inertia=jn.Inertia(1.0, (0.1, 0, 0), [1.0, 1.0, 1.0]))
    place, hand = random_pose(rng), random_pose(rng)
    b.add("arm", "base", joint, place, jn.Inertia(2.0, (0, 0.1, 0), [1.0, 1.0, 1.0]))
    b.add("hand", "arm", jn.Fixed(), hand)
    b.close("loop", "base", "hand", joint, placement_a=place, placement_b=np.linalg.inv(hand))
    return b.build()


@pytest.mark.parametrize("i", range(1, 8))
def test_loop_coordinates_are_those_of_the_joint_in_the_tree(i):
    rng = np.random.default_rng(i)
    joint = random_joints(rng)[i]
    robot = hung_and_closed(joint, rng)
    q, v = robot.random_configuration(rng, (3, 4)), rng.normal(size=(3, 4, robot.nv))
    if isinstance(joint, jn.Helical):
        q[..., 7:] *= 5  # beyond half a turn
    expected_q, expected_v = q[..., 7:], v[..., 6:]
    if isinstance(joint, jn.Spherical):
        expected_q = np.where(expected_q[..., 3:] < 0, -expected_q, expected_q)
    assert np.abs(robot.residual(q)).max() < 1e-13  # however often it has turned
    where, rate = robot.loop_coordinate("loop", q, v)
    np.testing.assert_allclose(where, expected_q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(rate, expected_v, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(robot.loop_coordinate("loop", q), where)
    one = robot.loop_coordinate("loop", q[1, 2], v[1, 2])
    np.testing.assert_allclose(one[0], where[1, 2], rtol=0, atol=1e-14)
    np.testing.assert_allclose(one[1], rate[1, 2], rtol=0, atol=1e-14)
    assert robot.loop_coordinate("loop", q[0, 0], v)[0].shape == where.shape


def test_loop_coordinate_of_half_a_turn():
    rng = np.random.default_rng(0)
    robot = hung_and_closed(jn.Spherical(), rng)
    for axis in np.vstack([np.eye(3), rng.normal(size=(5, 3))]):
        q = robot.neutral()
        q[7:] = *(axis / np.linalg.norm(axis)), 0.0
        found = robot.loop_coordinate("loop", q)
        np.testing.assert_allclose(found * np.sign(found @ q[7:]), q[7:], atol=1e-15)


def test_loop_coordinates_of_distance_and_line():
    rng = np.random.default_rng(1)
    for kind, nearest in ((jn.Distance(0.4), 0.4), (jn.OnLine((3, 1, 2)), None)):
        robot, q = closed(3, kind)
        v = rng.normal(size=robot.nv)
        where, rate = robot.loop_coordinate("0", q, v)
        h = 1e-6
        ahead, behind = (robot.loop_coordinate("0", robot.integrate(q, s * h * v)) for s in (1, -1))
        np.testing.assert_allclose(rate, (ahead - behind) / (2 * h), rtol=1e-8)
        assert nearest is None or abs(where - nearest).max() < 1e-12


def test_loop_coordinate_names_what_has_none():
    robot = quadruped(jn.Spherical())[0]
    with pytest.raises(ValueError, match="no constraint is named 'x'"):
        robot.loop_coordinate("x", robot.neutral())
    with pytest.raises(ValueError, match="contact 'lf_foot' is held wherever it is"):
        robot.loop_coordinate("lf_foot", robot.neutral())
    for kind in (jn.OnPlane(), jn.Rolling(0.1)):
        robot, q = closed(0, kind)
        with pytest.raises(ValueError, match=f"constraint '0' is an? {type(kind).__name__}, which has no coordinates"):
            robot.loop_coordinate("0", q)
    held = jn.robots.panda()
    held = held.constrained({held.body_names[-1]: jn.Contact(jn.Fixed(), pose=np.eye(4))})
    assert held.loop_coordinate(held.body_names[-2 + 1], held.neutral()).shape == (0,)


# Inverse operational-space inertia


@pytest.mark.parametrize("seed", range(4))
def test_inverse_constraint_inertia(seed):
    rng = np.random.default_rng(seed)
    robot, q = closed(seed, *KINDS[: seed + 1], jn.Revolute(HINGE))
    q = np.stack([q, robot.random_configuration(rng)])
    A = robot.inverse_constraint_inertia(q)
    J = robot.constraint_jacobian(q)
    expected = J @ np.linalg.solve(robot.mass_matrix(q), np.swapaxes(J, -1, -2))
    np.testing.assert_allclose(A, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_array_equal(A, np.swapaxes(A, -1, -2))
    np.testing.assert_allclose(robot.inverse_constraint_inertia(q[1]), A[1], rtol=0, atol=1e-12 * np.abs(A).max())


# Impact


def energy(robot: jn.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return 0.5 * np.einsum("...i,...ij,...j", v, robot.mass_matrix(q), v)


@pytest.mark.parametrize("seed", range(6))
def test_impact_against_dense_equations(seed):
    rng = np.random.default_rng(seed)
    robot, q = closed(seed, KINDS[seed % 5], random_joints(rng)[seed + 1])
    v = rng.normal(size=robot.nv)
    hit = robot.impact(q, v)
    M, J = robot.mass_matrix(q), robot.constraint_jacobian(q)
    rows = len(J)
    kkt = np.block([[M, -J.T], [J, np.zeros((rows, rows))]])
    after, impulse = np.split(np.linalg.solve(kkt, np.concatenate([M @ v, np.zeros(rows)])), [robot.nv])
    np.testing.assert_allclose(hit.v, after, atol=1e-9)
    np.testing.assert_allclose(hit.multipliers, impulse, rtol=1e-8, atol=1e-9)
    assert energy(robot, q, hit.v) < energy(robot, q, v)


@pytest.mark.parametrize("wrench_frame", ["body", "mixed", "world"])
def test_impulses_are_wrenches_like_forces(wrench_frame):
    """Multipliers become wrenches as in the core: every kind, loops and contacts, batched."""
    rng = np.random.default_rng(5)
    for i, kind in enumerate([*KINDS, *random_joints(rng)]):
        robot, q = closed(i, kind, kind, bodies=14)
        contact = jn.Contact(jn.Distance(1.0), np.eye(4)) if isinstance(kind, jn.Distance) else kind
        robot = robot.constrained({robot.body_names[3]: contact})
        result = robot.constrained_dynamics(q, np.zeros(robot.nv), rng.normal(size=robot.nv), wrench_frame=wrench_frame)
        found = constraint_wrenches(robot, q, result.multipliers, wrench_frame)
        for name, force in result.forces.items():
            np.testing.assert_allclose(found[name], force, atol=1e-10 * max(1.0, np.abs(force).max()), err_msg=name)
    b = jn.Builder()
    for name in "xy":
        b.add(name, "world", jn.Revolute(), inertia=jn.Inertia(1.0, (0, 1, 0), [1.0, 1.0, 1.0]))
    b.close("gear", "x", "y", jn.Gear((0.1, 2.0, 0.5)))
    robot = b.build()
    result = robot.constrained_dynamics([0.3, 0.2], [0.0, 0.0], [1.0, 2.0])
    found = constraint_wrenches(robot, np.array([0.3, 0.2]), result.multipliers, wrench_frame)["gear"]
    np.testing.assert_allclose(found, result.forces["gear"], rtol=1e-13)


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_impact_on_one_normal_loses_energy_and_bounces(e):
    rng = np.random.default_rng(7)
    for kind in (jn.OnPlane((1, 2, 3)), jn.Distance(0.4)):
        robot, q = closed(4, kind)
        v = rng.normal(size=(50, robot.nv))
        hit = robot.impact(q, v, restitution=e)
        before, after = robot.residual(q, v)[1], robot.residual(q, hit.v)[1]
        np.testing.assert_allclose(after, -e * before, atol=1e-12)
        lost = energy(robot, q, v) - energy(robot, q, hit.v)
        expected = 0.5 * (1 - e**2) * before[:, 0] ** 2 / robot.inverse_constraint_inertia(q)[0, 0]
        np.testing.assert_allclose(lost, expected, atol=1e-12)


def test_impact_of_contacts_along_given_normals():
    robot, q = quadruped(jn.Spherical())
    rng = np.random.default_rng(0)
    v = rng.normal(size=robot.nv)
    n = np.array([0.2, -0.1, 1.0]) / np.linalg.norm([0.2, -0.1, 1.0])
    hit = robot.impact(q, v, restitution={"lf_foot": 0.5}, normals={"lf_foot": n})
    axes = {"frame": "mixed", "velocity_frame": "body"}
    for name in robot.constraint_names:
        old, new = (robot.twist(name, q, x[None], **axes)[0, :3] for x in (v, hit.v))
        np.testing.assert_allclose(new, -0.5 * n * (n @ old) if name == "lf_foot" else 0, atol=1e-10)
    options = {"restitution": {"lf_foot": 0.5}, "normals": {"lf_foot": n}, "wrench_frame": "mixed"}
    impulses = robot.impact(q, v, **options).impulses
    jump = sum(robot.jacobian(name, q, **axes).T @ impulse for name, impulse in impulses.items())
    np.testing.assert_allclose(robot.mass_matrix(q) @ (hit.v - v), jump, atol=1e-10)


def test_impact_where_rows_depend_on_each_other():
    """A four-bar in space has two redundant hinge rows: the least impulses, and a unique velocity."""
    robot = four_bar()
    q = robot.project([0.5, -0.3, -1.2])
    v = np.array([1.0, -0.4, 2.0])
    hit = robot.impact(q, v)
    M, J = robot.mass_matrix(q), robot.constraint_jacobian(q)
    Z = scipy.linalg.null_space(J, rcond=1e-9)
    np.testing.assert_allclose(hit.v, Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ M @ v), atol=1e-12)
    np.testing.assert_allclose(hit.multipliers, np.linalg.pinv(J.T, rcond=1e-9) @ M @ (hit.v - v), atol=1e-12)


def test_impact_in_other_axes():
    robot, q = quadruped(jn.Spherical())
    v = np.random.default_rng(1).normal(size=robot.nv)
    hit = robot.impact(q, v)
    for frame in ("world", "mixed"):
        other = robot.impact(q, robot.change_velocity_frame(q, v[None], "body", frame)[0], frame=frame)
        np.testing.assert_allclose(robot.change_velocity_frame(q, other.v[None], frame, "body")[0], hit.v, atol=1e-11)
        for name, impulse in hit.impulses.items():
            np.testing.assert_allclose(other.impulses[name], impulse, atol=1e-11)


def test_impact_refuses_what_makes_no_sense():
    robot, q = quadruped(jn.Spherical())
    v = np.ones(robot.nv)
    bad = [
        ({"restitution": 1.5}, "restitution is 1.5, expected 0 to 1"),
        ({"restitution": 0.5}, "restitution is 0.5, but no constraint has a normal"),
        ({"restitution": {"x": 0.5}}, "restitution: no constraint is named 'x'"),
        ({"restitution": {"lf_foot": 0.5}}, "restitution\\['lf_foot'\\]: the constraint has no normal"),
        ({"normals": {"lf_foot": (0, 0, 0)}}, "normals\\['lf_foot'\\] is .*, expected a non-zero direction"),
        ({"normals": [1]}, "normals is \\[1\\], expected a mapping"),
        ({"normals": {"x": (0, 0, 1)}}, "normals: no constraint is named 'x'"),
        ({"frame": "base"}, "frame is 'base', expected"),
        ({"wrench_frame": 3}, "wrench_frame is 3, expected"),
    ]
    for options, message in bad:
        with pytest.raises(ValueError, match=message):
            robot.impact(q, v, **options)
    with pytest.raises(ValueError, match="v has shape"):
        robot.impact(q, v[1:])
    plane = closed(0, jn.OnPlane())[0]
    with pytest.raises(ValueError, match="normals\\['0'\\] is for a OnPlane, which takes none"):
        plane.impact(plane.neutral(), np.zeros(plane.nv), normals={"0": (0, 0, 1)})
    slider, q = closed(0, jn.Prismatic((0, 0, 1)))
    a = slider.pose(slider.constraints[0].a, q) @ slider.constraints[0].pose_a
    with pytest.raises(ValueError, match="along which the constraint lets its frame move"):
        slider.impact(q, np.zeros(slider.nv), restitution=0.5, normals={"0": a[:3, 2]})
    b = jn.Builder()
    b.add("block", "world", jn.Prismatic((0, 0, 1)), inertia=jn.Inertia(1.0))
    b.close("floor", "world", "block", jn.OnPlane())
    b.close("glue", "world", "block", jn.OnPlane())
    with pytest.raises(jn.ConstraintError, match=r"constraint '.*' contradicts others: no velocity satisfies"):
        b.build().impact([0.0], [-1.0], restitution={"floor": 0.5})


# Independent coordinates


@pytest.mark.parametrize("seed", range(5))
def test_independent_coordinates_span_all_motions(seed):
    rng = np.random.default_rng(seed)
    robot, q = closed(seed, KINDS[seed], random_joints(rng)[seed + 1])
    found = robot.independent_coordinates(q)
    J = robot.constraint_jacobian(q)
    n = robot.nv - np.linalg.matrix_rank(J, 1e-9)
    assert found.velocities == n == len(found.columns) == found.G.shape[1]
    assert found.positions == n + (2 if isinstance(KINDS[seed], jn.Rolling) else 0)
    assert np.abs(J @ found.G).max() < 1e-10
    np.testing.assert_array_equal(found.G[found.columns], np.eye(n))
    _, v = robot.project(q, rng.normal(size=robot.nv))
    np.testing.assert_allclose(found.G @ v[found.columns], v, atol=1e-10)
    for name in found.names:
        assert set(range(robot.nv)[robot.coordinate(name)]) & set(found.columns.tolist())


def test_independent_coordinates_by_name():
    robot = four_bar()
    q = robot.project([0.5, -0.3, -1.2])
    assert robot.independent_coordinates(q).velocities == 1
    for i, name in enumerate(robot.joint_names):
        chosen = robot.independent_coordinates(q, [name])
        assert chosen.names == (name,)
        h = 1e-6
        ahead = robot.project(q + h * chosen.G[:, 0])
        np.testing.assert_allclose(ahead, q + h * chosen.G[:, 0], atol=1e-10)
        assert chosen.G[i, 0] == 1
    with pytest.raises(ValueError, match="names have 2 coordinates, expected 1"):
        robot.independent_coordinates(q, ["crank", "rocker"])
    with pytest.raises(ValueError, match="no joint is named 'cranc': did you mean 'crank'"):
        robot.independent_coordinates(q, ["cranc"])
    with pytest.raises(ValueError, match="names is 'crank', expected a list of names of joints or coordinates"):
        robot.independent_coordinates(q, "crank")
    with pytest.raises(ValueError, match="expected each coordinate once"):
        robot.independent_coordinates(q, ["crank", "crank"])
    with pytest.raises(ValueError, match=r"q has the batch shape \(2,\), for which names has to be given"):
        robot.independent_coordinates(np.stack([q, q]))
    with pytest.raises(ValueError, match="q has shape"):
        robot.independent_coordinates(q[:2])


def test_independent_coordinates_of_many_states():
    robot = four_bar()
    q = robot.project([0.5, -0.3, -1.2], held={"crank": np.linspace(0.2, 0.8, 6).reshape(2, 3, 1)})
    many = robot.independent_coordinates(q, ["crank"])
    assert many.G.shape == (2, 3, 3, 1)
    for i in np.ndindex(2, 3):
        np.testing.assert_array_equal(many.G[i], robot.independent_coordinates(q[i], ["crank"]).G)
    assert robot.independent_coordinates(q[:0], ["crank"]).G.shape == (0, 3, 3, 1)
    b = jn.Builder()
    b.add("drone", "world", jn.Free(name="base"), inertia=jn.Inertia(1.0, (0, 0, 0), (1.0, 1.0, 1.0)))
    table = b.build().constrained({"drone": jn.OnPlane()})
    found = table.independent_coordinates(table.neutral())
    assert found.names == ("base.vx", "base.vy", "base.wx", "base.wy", "base.wz")  # each as `names` takes it
    tilted = table.integrate(table.neutral(), np.outer([0.0, 0.1, 0.2], [0, 0, 0, 1, 0, 0]))
    many = table.independent_coordinates(tilted, found.names)
    np.testing.assert_allclose(
        many.G[:, 2, 1], -np.tan([0.0, 0.1, 0.2]), rtol=1e-12, atol=1e-15
    )  # it stays on the plane
    with pytest.raises(jn.ConstraintError, match=r"'base.vz', .* are not independent .*'base.vz' .*, in state 0$"):
        table.independent_coordinates(tilted, [*found.names[:1], "base.vz", *found.names[2:]])


def test_coordinates_that_are_not_independent():
    b = jn.Builder()
    for name in ("a", "b", "c"):
        b.add(name, "world", jn.Revolute(), inertia=jn.Inertia(1.0, (0, 0, 0), [1.0, 1.0, 1.0]))
    b.close("gear", "a", "b", jn.Gear((0.0, 3.0)))
    robot = b.build()
    with pytest.raises(jn.ConstraintError, match=r"'a', 'b' are not independent .* leave '[ab]' no motion of its own"):
        robot.independent_coordinates(robot.neutral(), ["a", "b"])
    assert robot.independent_coordinates(robot.neutral()).names == ("b", "c")
    free = jn.robots.aerial_manipulator()
    found = free.independent_coordinates(free.neutral())
    assert found.velocities == found.positions == free.nv
    np.testing.assert_array_equal(found.G, np.eye(free.nv))


# Inverse dynamics under constraints


def optimum(robot: jn.Model, q, v, a, columns, W, V) -> tuple[np.ndarray, np.ndarray]:
    """The forces of motors and multipliers, from null spaces."""
    J = robot.constraint_jacobian(q)
    f = robot.inverse_dynamics(q, v, a)
    B = np.eye(robot.nv)[:, columns]
    if V is None or np.abs(V).max() < 1e-9:  # only motors count: they supply what constraints cannot
        Z, root = scipy.linalg.null_space(J, rcond=1e-9), np.linalg.inv(scipy.linalg.sqrtm(W))
        tau = root @ np.linalg.pinv(Z.T @ B @ root, rcond=1e-9) @ Z.T @ f
        share = (
            np.diag(1 / robot._natural_sizes()[2])
            if V is None
            else np.linalg.inv(scipy.linalg.sqrtm(V / np.abs(V).max()))
        )
        return tau, share @ np.linalg.pinv(J.T @ share, rcond=1e-9) @ (f - B @ tau)
    root = np.linalg.inv(scipy.linalg.sqrtm(scipy.linalg.block_diag(W, V)))
    both = root @ np.linalg.pinv(np.hstack([B, J.T]) @ root, rcond=1e-9) @ f
    return both[: len(columns)], both[len(columns) :]


def along(robot: jn.Model, q: np.ndarray, stack: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The state at a nearby time, on a motion whose velocity is a polynomial."""
    coefficients = stack / np.array([float(np.prod(np.arange(1, k + 1))) for k in range(len(stack))])[:, None]
    velocity = np.polynomial.Polynomial
    polynomials = [velocity(c) for c in coefficients.T]
    steps = 1 if robot.nq == robot.nv else 1000
    if steps == 1:
        q = q + np.array([p.integ()(t) for p in polynomials])
    else:
        middle = (np.arange(steps) + 0.5) * t / steps
        for v in np.array([p(middle) for p in polynomials]).T:
            q = robot.integrate(q, v * t / steps)
    return q, np.array([p(t) for p in polynomials]), np.array([p.deriv()(t) for p in polynomials])


def robots_that_share_forces() -> dict[str, tuple]:
    rng = np.random.default_rng(11)
    arms, q = two_arms()
    bar = four_bar()
    legs, standing = quadruped(jn.Spherical(), held=True)
    soles, _ = quadruped(jn.Universal((0, 0, 1), (1, 0, 0)), held=True)
    rod, turned = geared_parallelogram()
    psd = rng.normal(size=(12, 4))
    return {
        "four-bar, all motors": (bar, bar.project([0.5, -0.3, -1.2]), [0, 1, 2], None, None),
        "four-bar, crank": (bar, bar.project([0.5, -0.3, -1.2]), [0], None, None),
        "arms": (arms, q, list(range(6)), np.diag([1.0, 2, 3, 4, 5, 6]), None),
        "arms, forces weighed": (arms, q, list(range(6)), None, np.diag(np.arange(1.0, 7))),
        "arms, forces weighed little": (arms, q, list(range(6)), None, 1e-12 * (np.ones((6, 6)) + np.eye(6))),
        "arms, five motors": (arms, q, [1, 2, 3, 4, 5], None, None),
        "rod and gear": (rod, turned, [0, 1], None, None),
        "rod and gear, forces weighed": (rod, turned, [0, 1], None, np.diag([1.0, 3.0])),
        "quadruped": (legs, standing, list(range(6, 18)), None, None),
        "quadruped, forces weighed": (legs, standing, list(range(6, 18)), None, psd @ psd.T + 0.1 * np.eye(12)),
        "quadruped, four rows a foot": (soles, standing, list(range(6, 18)), None, None),
    }


@pytest.mark.parametrize("name", robots_that_share_forces())
def test_constrained_inverse_dynamics_and_its_rates(name):
    robot, q, columns, W, V = robots_that_share_forces()[name]
    rng = np.random.default_rng(3)
    order = 3
    q, stack = robot.project(q, rng.normal(size=(10, robot.nv)))
    result = robot.constrained_inverse_dynamics(
        q, stack[: order + 2], actuated=columns, weight=W, force_weight=V, wrench_frame="mixed"
    )
    one = np.eye(len(columns)) if W is None else W
    tau, multipliers = optimum(robot, q, stack[0], stack[1], columns, one, V)
    np.testing.assert_allclose(result.tau[0, columns], tau, atol=1e-9 * max(1.0, np.abs(tau).max()))
    np.testing.assert_allclose(result.multipliers[0], multipliers, atol=1e-9 * max(1.0, np.abs(multipliers).max()))
    # Rates, from the optimum a little earlier and later.
    h = 4e-3
    times = h * np.arange(-4, 5)
    values = [np.concatenate(optimum(robot, *along(robot, q, stack, t), columns, one, V)) for t in times]
    fit = np.polynomial.polynomial.polyfit(times / h, np.array(values), 8)
    rates = np.concatenate([result.tau[:, columns], result.multipliers], axis=-1)
    for k in (1, 2, 3):
        expected = fit[k] * scipy.special.factorial(k) / h**k
        size = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(rates[k], expected, atol=(1e-7, 1e-5, 1e-3)[k - 1] * size, err_msg=f"order {k}")
    # The forces are those of the constraints under these motor forces.
    again = robot.constrained_dynamics(q, stack[0], result.tau)
    size = np.abs(stack[1 : order + 2]).max(axis=-1, keepdims=True) + 1
    assert (np.abs(again.acc - stack[1 : order + 2]) < 1e-8 * size).all()
    if "gear" not in result.forces:  # whose forces act on coordinates, not on bodies
        none = jn.Builder.from_model(robot)
        none._constraints = []
        pushes = {n: w for n, w in result.forces.items() if n != "plate" and n != "pin"}
        for loop, first, second in (("plate", "l2", "r2"), ("pin", "coupler", "rocker")):
            if loop in result.forces:
                other = opposite(robot, q, stack, first, second, result.forces[loop])
                pushes = {first: result.forces[loop], second: other}
        loose = none.build().forward_dynamics(q, stack[0], result.tau, wrenches=pushes, wrench_frame="mixed")
        assert (np.abs(loose - stack[1 : order + 2]) < 1e-8 * size).all()


def opposite(robot: jn.Model, q, stack, first: str, second: str, wrench: np.ndarray) -> np.ndarray:
    """The opposite wrench, about the origin of another body, with derivatives."""
    place = robot.pose_derivatives(q, stack[: len(wrench)], frames=[first, second])[:, :, :3, 3]
    lever = place[:, 0] - place[:, 1]
    moment = wrench[:, 3:].copy()
    for k in range(len(wrench)):
        moment[k] += sum(scipy.special.comb(k, j) * np.cross(lever[j], wrench[k - j, :3]) for j in range(k + 1))
    return -np.concatenate([wrench[:, :3], moment], axis=-1)


def test_constrained_inverse_dynamics_of_batches_frames_and_wrenches():
    robot, q = quadruped(jn.Spherical())
    rng = np.random.default_rng(2)
    states = [robot.project(robot.integrate(q, 0.1 * rng.normal(size=18)), rng.normal(size=(4, 18))) for _ in range(3)]
    q, stack = np.stack([s[0] for s in states]), np.stack([s[1] for s in states])
    wrench = {"base": rng.normal(size=(3, 3, 6))}
    motors = np.arange(18) >= 6
    all_ = robot.constrained_inverse_dynamics(q, stack, actuated=motors, wrenches=wrench)
    assert all_.tau.shape == (3, 3, 18)
    assert all_.forces["lf_foot"].shape == (3, 3, 6)
    for i in range(3):
        one = robot.constrained_inverse_dynamics(q[i], stack[i], actuated=motors, wrenches={"base": wrench["base"][i]})
        np.testing.assert_allclose(one.tau, all_.tau[i], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.forces["rh_foot"], all_.forces["rh_foot"][i], rtol=1e-9, atol=1e-9)
        plain = robot.constrained_inverse_dynamics(
            q[i], *stack[i, :2], actuated=motors, wrenches={"base": wrench["base"][i, 0]}
        )
        np.testing.assert_allclose(plain.tau, one.tau[0], rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(plain.forces["lf_foot"], one.forces["lf_foot"][0], rtol=1e-9, atol=1e-10)
    for frame in ("world", "mixed"):
        other = robot.constrained_inverse_dynamics(
            q, robot.change_velocity_frame(q, stack, "body", frame), actuated=motors, wrenches=wrench, frame=frame
        )
        np.testing.assert_allclose(other.tau, all_.tau, rtol=1e-7, atol=1e-7)


def test_motions_that_break_constraints_or_cannot_be_produced():
    robot, q = quadruped(jn.Spherical())
    q, stack = robot.project(q, np.random.default_rng(4).normal(size=(3, 18)))
    broken = stack.copy()
    broken[1, robot.coordinate("rf_shank")] += 1e-3
    with pytest.raises(jn.ConstraintError, match=r"breaks constraint 'rf_foot': derivative 1 of J v is 2\.\de-04"):
        robot.constrained_inverse_dynamics(q, broken)
    with pytest.raises(jn.ConstraintError, match=r"breaks constraint 'rf_foot': derivative 1 of J v .* in state 1"):
        robot.constrained_inverse_dynamics(q, np.stack([stack, broken]))
    one = quadruped(jn.Spherical())[0]
    hopper = jn.Model(one.bodies, one.gravity, one.constraints[:1])  # on one point foot it can only fall
    q, stack = hopper.project(q, np.random.default_rng(4).normal(size=(3, 18)))
    with pytest.raises(jn.ConstraintError, match=r"cannot be produced .*: \d\.\de\+\d\d N or N m is left on joint"):
        hopper.constrained_inverse_dynamics(q, stack, actuated=np.arange(18) >= 6)
    falls = hopper.forward_dynamics(q, stack[0], np.zeros((2, 18)))
    none = hopper.constrained_inverse_dynamics(q, np.vstack([stack[:1], falls]), actuated=np.arange(18) >= 6)
    assert np.abs(none.tau).max() < 1e-8
    off = np.vstack([stack[:1], falls])
    off[2] += 0.1 * hopper.independent_coordinates(q).G[:, 0]
    with pytest.raises(jn.ConstraintError, match="N or N m of derivative 1 is left on joint"):
        hopper.constrained_inverse_dynamics(q, off, actuated=np.arange(18) >= 6)


def test_weights_that_make_no_sense():
    robot = four_bar()
    q, stack = robot.project([0.5, -0.3, -1.2], np.ones((2, 3)))
    bad = [
        ({"weight": 0.0}, "weight is 0.0, expected a positive number"),
        ({"weight": [1.0, 2.0]}, r"weight has shape \(2,\), expected \(\) or \(3,\) or \(3, 3\)"),
        (
            {"weight": [[1.0, 2.0, 0], [0, 1, 0], [0, 0, 1]]},
            "weight is .*, expected a symmetric matrix of the 3 actuated",
        ),
        (
            {"force_weight": -1.0},
            "force_weight is -1.0, expected a non-negative number, or a positive semidefinite matrix",
        ),
        ({"force_weight": [1.0]}, r"force_weight has shape \(1,\), expected \(\) or \(5,\)"),
        ({"actuated": ["cranc"]}, "no joint is named 'cranc'"),
        ({"frame": "x"}, "frame is 'x'"),
    ]
    for options, message in bad:
        with pytest.raises(ValueError, match=message):
            robot.constrained_inverse_dynamics(q, stack, **options)
    with pytest.raises(ValueError, match="v"):
        robot.constrained_inverse_dynamics(q, stack[0])


def test_without_constraints_it_is_inverse_dynamics():
    robot = jn.robots.aerial_manipulator()
    rng = np.random.default_rng(0)
    q, stack = robot.random_configuration(rng), rng.normal(size=(4, robot.nv))
    result = robot.constrained_inverse_dynamics(q, stack)
    np.testing.assert_allclose(result.tau, robot.inverse_dynamics(q, stack), rtol=1e-9, atol=1e-9)
    assert result.forces == {}


# Hybrid dynamics


def trio_of_gears() -> tuple[jn.Model, np.ndarray]:
    b = jn.Builder()
    for name, parent in (("x", "world"), ("y", "x"), ("z", "world")):
        b.add(name, parent, jn.Revolute(), shift(0.1), jn.Inertia(1.0, (0.3, 1, 0.1), [1.0, 1.0, 1.0]))
    b.close("first", "x", "y", jn.Gear((0.1, 2.0, 0.5, -0.3)))
    b.close("second", "y", "z", jn.Gear((0.1, 1.0, 0.5)))
    return b.build(), np.array([0.1, 0.2, 0.3])


def partly_prescribed() -> dict[str, tuple]:
    bar, legs = four_bar(jn.OnLine(HINGE)), quadruped(jn.Spherical())
    arms, gears = two_arms(), trio_of_gears()
    start = bar.project([0.5, -0.3, -1.2])
    wheel = closed(4, KINDS[4], bodies=12)
    return {
        "crank": (bar, start, ["crank"]),
        "coupler": (bar, start, ["coupler"]),
        "all of a loop but one": (bar, start, ["crank", "rocker"]),
        "base": (*legs, ["base"]),
        "leg": (*legs, ["lf_hip", "lf_thigh", "lf_shank"]),
        "all": (*legs, list(legs[0].joint_names)),
        "arms, inside the loop": (*arms, ["l0", "r1", "r2"]),
        "first of the gears": (*gears, ["x"]),
        "last of the gears": (*gears, ["z"]),
        "two of the gears": (*gears, ["x", "y"]),
        "wheel": (*wheel, [wheel[0].joint_names[2], wheel[0].joint_names[-1]]),
    }


@pytest.mark.parametrize("name", partly_prescribed())
def test_hybrid_dynamics_obeys_constraints_at_every_order(name):
    robot, q, prescribed = partly_prescribed()[name]
    rng = np.random.default_rng(6)
    order = 3
    q, stack = robot.project(q, rng.normal(size=(order + 2, robot.nv)))
    mask = np.zeros(robot.nv, dtype=bool)
    for joint in prescribed:
        mask[robot.coordinate(joint)] = True
    given = rng.normal(size=(order + 1, robot.nv))
    acc, tau = robot.hybrid_dynamics(q, stack[0], stack[1:], given, prescribed=mask)
    np.testing.assert_array_equal(acc[:, mask], stack[1:, mask])
    np.testing.assert_array_equal(tau[:, ~mask], given[:, ~mask])
    # Order 0 from dense equations: the acceleration is unique.
    M, h = robot.mass_matrix(q), robot.bias_force(q, stack[0])
    J, dJ = robot.constraint_jacobian_derivatives(q, stack[:1])
    free, J_free = M[np.ix_(~mask, ~mask)], J[:, ~mask]
    rows = len(J)
    kkt = np.block([[free, -J_free.T], [J_free, np.zeros((rows, rows))]])
    right = np.concatenate(
        [(given[0] - h - M[:, mask] @ stack[1, mask])[~mask], -dJ @ stack[0] - J[:, mask] @ stack[1, mask]]
    )
    found = np.linalg.lstsq(kkt, right, rcond=1e-10)[0]
    np.testing.assert_allclose(acc[0, ~mask], found[: (~mask).sum()], rtol=1e-9, atol=1e-9)
    # The motion obeys the constraints, and its forces cause it: the remainder comes from the constraints.
    motion = np.vstack([stack[:1], acc])
    J = robot.constraint_jacobian_derivatives(q, motion[:-1])
    left = robot.inverse_dynamics(q, motion) - tau
    multipliers = np.zeros((order + 1, rows))
    for k in range(order + 2):
        broken = sum(scipy.special.comb(k, j) * J[j] @ motion[k - j] for j in range(k + 1))
        assert np.abs(broken).max() < 1e-9 * (1 + np.abs(motion).max()), k
    for k in range(order + 1):
        rest = left[k] - sum(scipy.special.comb(k, j) * J[j].T @ multipliers[k - j] for j in range(1, k + 1))
        multipliers[k], *_ = np.linalg.lstsq(J[0].T, rest, rcond=1e-9)
        size = 1 + np.abs(left[k]).max() + np.abs(M @ acc[k]).max()
        assert np.abs(J[0].T @ multipliers[k] - rest).max() < 1e-8 * size, k


def test_prescribed_accelerations_that_break_a_constraint():
    robot, q = four_bar(jn.OnLine(HINGE)), [0.5, -0.3, -1.2]
    q, stack = robot.project(q, np.ones((3, 3)))
    mask = np.array([True, False, True])
    fine = robot.hybrid_dynamics(q, stack[0], stack[1:], np.zeros((2, 3)), prescribed=mask)[0]
    np.testing.assert_allclose(fine, stack[1:], atol=1e-10)
    for order in (0, 1):
        broken = stack[1:].copy()
        broken[order, 2] += 0.1
        with pytest.raises(
            jn.ConstraintError, match=r"constraint 'pin' contradicts others, or a prescribed acceleration"
        ):
            robot.hybrid_dynamics(q, stack[0], broken, np.zeros((2, 3)), prescribed=mask)
    robot, q = trio_of_gears()
    q, stack = robot.project(q, np.ones((2, 3)))
    stack[1, 2] += 1.0
    with pytest.raises(jn.ConstraintError, match="constraint 'second' contradicts"):
        robot.hybrid_dynamics(q, *stack, np.zeros(3), prescribed=np.array([False, True, True]))


# Equilibrium


def bar_energy(crank: float, spring: float) -> tuple[float, np.ndarray]:
    """Energy of `four_bar` by trigonometry, with its rocker up, and q."""
    pin = 0.3 * np.array([np.cos(crank), -np.sin(crank)])  # x and z; a turn about y takes x to -z
    away = np.array([0.6, 0.0]) - pin
    d = np.linalg.norm(away)
    along = (0.7**2 - 0.5**2 + d**2) / (2 * d)
    up = np.array([-away[1], away[0]]) / d
    tip = pin + along * away / d + np.sqrt(0.7**2 - along**2) * up
    coupler = -np.arctan2(*(tip - pin)[::-1])
    rocker = -np.arctan2(*(tip - [0.6, 0.0])[::-1])
    heights = 0.5 * 0.5 * pin[1] + 0.8 * (pin[1] + tip[1]) / 2 + 0.6 * 0.5 * tip[1]
    return 9.81 * heights + 0.5 * spring * crank**2, np.array([crank, coupler - crank, rocker])


def without_constraints(robot: jn.Model) -> jn.Model:
    return jn.Model(robot.bodies, robot.gravity)


@pytest.mark.parametrize("pin", [None, jn.OnLine(HINGE), jn.Spherical()])
def test_equilibrium_of_a_four_bar_with_a_spring(pin):
    spring = 6.0
    robot = four_bar(pin, spring)
    start = bar_energy(-0.4, spring)[1]
    assert np.abs(robot.residual(start)).max() < 1e-12
    rest = robot.equilibrium(q0=start)
    options = {"bounds": (-1.5, 1.5), "options": {"xatol": 1e-12}}
    lowest = scipy.optimize.minimize_scalar(lambda x: bar_energy(x, spring)[0], **options)
    np.testing.assert_allclose(rest.q, bar_energy(lowest.x, spring)[1], atol=1e-6)
    assert rest.stable
    assert np.abs(rest.residual).max() < 1e-12
    assert np.abs(robot.residual(rest.q)).max() < 1e-10
    # The constraint's force alone supports the open chain.
    J = robot.constraint_jacobian(rest.q)
    np.testing.assert_allclose(robot.bias_force(rest.q, np.zeros(3)), J.T @ rest.multipliers, atol=1e-11)
    # The stiffness along the loop is the second derivative of the energy.
    h = 1e-4
    e = [bar_energy(rest.q[0] + s * h, spring)[0] for s in (-1, 0, 1)]
    G = robot.independent_coordinates(rest.q, ["crank"]).G[:, 0]
    np.testing.assert_allclose(G @ rest.stiffness @ G, (e[0] - 2 * e[1] + e[2]) / h**2, rtol=1e-5)


def fin(weld: object) -> jn.Model:
    """Two soft rods that lean on each other, joined at the tip."""
    b = jn.Builder()
    rod = jn.soft.Rod(0.2, 0.004, 1100.0, 1e6, strain=jn.soft.constant_curvature(planar=True))
    for name, x, tilt in (("left", -0.03, 0.15), ("right", 0.03, -0.15)):
        at = shift(x)
        at[:3, :3] = scipy.linalg.expm(tilt * np.array([[0.0, 0, 1], [0, 0, 0], [-1, 0, 0]]))
        b.add(name, "world", jn.Fixed(), at, body=rod)
    b.close("tip", "left", "right", weld)
    return b.build()


@pytest.mark.parametrize("weld", [jn.Revolute(HINGE), jn.OnLine(HINGE)])
def test_equilibrium_of_a_fin_of_two_soft_rods(weld):
    robot = fin(weld)
    push = {"left": np.array([0.02, 0.0, 0.0, 0.0, 0.0, 0.0])}
    rest = robot.equilibrium(wrenches=push, wrench_frame="mixed")
    assert rest.stable
    assert np.abs(robot.residual(rest.q)).max() < 1e-10
    load = robot.pose("left", rest.q)[0, 3]
    tree = without_constraints(robot)

    def energy_of(q: np.ndarray) -> float:
        return float(tree.potential_energy(q)) - 0.02 * float(robot.pose("left", q)[0, 3])

    felt = np.abs(robot.constraint_jacobian(rest.q)).max(axis=1) > 1e-9  # in the plane
    tied = {"type": "eq", "fun": lambda q: 100 * robot.residual(q)[felt]}
    start = rest.q + 0.02
    with UnwatchedNodes():  # SciPy tries shapes that are inside out
        found = scipy.optimize.minimize(energy_of, start, constraints=tied, options={"ftol": 1e-15, "maxiter": 500})
    np.testing.assert_allclose(found.x, rest.q, atol=2e-4)
    assert energy_of(rest.q) <= found.fun + 1e-9
    assert load > robot.pose("left", robot.equilibrium().q)[0, 3]
    # Both rods separately, under the force at the tip.
    wrench = rest.forces["tip"]
    lever = robot.pose("left", rest.q)[:3, 3] - robot.pose("right", rest.q)[:3, 3]
    back = -np.concatenate([wrench[:3], wrench[3:] + np.cross(lever, wrench[:3])])
    both = {"left": wrench + push["left"], "right": back}
    zero = np.zeros(robot.nv)
    assert np.abs(tree.inverse_dynamics(rest.q, zero, zero, wrenches=both, wrench_frame="mixed")).max() < 1e-12


def test_equilibrium_on_contacts():
    """A quadruped with springs in its knees sinks; its feet stay in place and bear its weight."""
    robot, q = quadruped(jn.Spherical())
    springs = jn.Builder(robot.gravity)
    for body in robot.bodies:
        joint = body.joint
        if isinstance(joint, jn.Revolute):
            joint = jn.Revolute(joint.axis, stiffness=60.0, rest=float(q[robot.position(body.name)][0]))
        parent = "world" if body.parent < 0 else robot.bodies[body.parent].name
        springs.add(body.name, parent, joint, body.placement, body.inertia)
    robot = springs.build().constrained(dict.fromkeys(robot.constraint_names, jn.Spherical()))
    rest = robot.equilibrium(q0=q, wrench_frame="mixed")
    assert rest.stable
    assert rest.q[2] < 0.5
    for name in robot.constraint_names:
        np.testing.assert_allclose(robot.pose(name, rest.q)[:3, 3], robot.pose(name, q)[:3, 3], atol=1e-9)
    total = sum(force[:3] for force in rest.forces.values())
    mass = sum(b.inertia.mass for b in robot.bodies)
    np.testing.assert_allclose(total, [0, 0, 9.81 * mass], atol=1e-9)
    still = robot.constrained_dynamics(rest.q, np.zeros(robot.nv), np.zeros(robot.nv))
    assert np.abs(still.acc).max() < 1e-7


@pytest.mark.parametrize("held", [True, False])
def test_equilibrium_of_a_wheel_that_rolls(held):
    """It is heavy on one side, and a spring pulls at it: x = radius times angle throughout."""
    radius, stiffness = 0.2, 40.0
    b = jn.Builder()
    b.add("x", "world", jn.Prismatic((1, 0, 0), stiffness=stiffness, rest=0.1), inertia=jn.Inertia(0.1))
    b.add("z", "x", jn.Prismatic((0, 0, 1)), shift(z=radius), jn.Inertia(0.1))
    b.add("wheel", "z", jn.Revolute(HINGE), inertia=jn.Inertia(2.0, (0.1, 0, 0), [0.02] * 3))
    kind = jn.Rolling(radius, axis=HINGE)
    robot = b.build().constrained({"wheel": jn.Contact(kind, np.eye(4)) if held else kind})
    rest = robot.equilibrium(q0=robot.neutral())
    x = scipy.optimize.brentq(lambda x: stiffness * (x - 0.1) - 2.0 * 9.81 * 0.1 * np.cos(x / radius) / radius, -1, 1)
    np.testing.assert_allclose(rest.q, [x, 0.0, x / radius], atol=1e-10)
    assert rest.stable
    np.testing.assert_allclose(rest.multipliers[0], 2.1 * 9.81, rtol=1e-10)


def test_equilibrium_at_the_top_is_not_stable():
    robot = four_bar(jn.OnLine(HINGE))
    rest = robot.equilibrium(q0=robot.project([-0.1032, -0.4675, -0.9583]))
    crank, h = rest.q[0], 1e-4
    below, there, above = (bar_energy(crank + s * h, 0.0)[0] for s in (-1, 0, 1))
    np.testing.assert_allclose(np.sin(rest.q), np.sin(bar_energy(crank, 0.0)[1]), atol=1e-9)  # its rocker is up
    assert abs(above - below) / (2 * h) < 1e-6
    assert above - 2 * there + below < 0
    assert not rest.stable


def test_no_equilibrium_under_constraints():
    b = jn.Builder()
    b.add("bead", "world", jn.Free(), inertia=jn.Inertia(1.0, (0, 0, 0), [1.0, 1.0, 1.0]))
    b.close("wire", "world", "bead", jn.OnLine((0, 0, 1)))
    with pytest.raises(jn.NoEquilibrium):
        b.build().equilibrium()


# Bad input


class NoStrain(jn.soft.Strain):
    n = 0

    def basis(self, s: float, length: float) -> np.ndarray:
        return np.zeros((6, 0))


def some_bodies() -> jn.Builder:
    b = jn.Builder()
    solid = jn.Inertia(1.0, (0, 0, 0), [1.0, 1.0, 1.0])
    b.add("a", "world", jn.Revolute(), inertia=solid)
    b.add("b", "a", jn.Revolute(), inertia=solid)
    b.add("ball", "b", jn.Spherical(), inertia=solid)
    b.add("twin", "world", jn.Revolute(follows=jn.Follow("a")), inertia=solid)
    b.add("tool", "b", jn.Fixed())
    b.add("pole", "world", jn.Fixed())
    b.add("rod", "world", body=jn.soft.Rod(0.2, 0.01, 1000.0, 1e6))
    b.add("stiff", "a", body=jn.soft.Rod(0.2, 0.01, 1000.0, 1e6, strain=NoStrain()))
    return b


HINGED = jn.Revolute()
GEAR = jn.Gear((0.0, 1.0))
BAD_LOOPS = [
    (("x", "a", "bb", HINGED), {}, r"constraint 'x': second is 'bb', which was not added before: did you mean 'b'"),
    (("x", 3, "b", HINGED), {}, r"first of constraint 'x' is 3, expected a non-empty string"),
    (("", "a", "b", HINGED), {}, r"name is '', expected a non-empty string"),
    (("x", "a", "a", HINGED), {}, r"constraint 'x': first and second are both 'a': a body cannot be tied to itself"),
    (("x", "b", "tool", HINGED), {}, r"'b' and 'tool' do not move relative to each other: both are parts of 'b'"),
    (("x", "a", "stiff", HINGED), {}, r"'a' and 'stiff' do not move relative to each other: both are parts of 'a'"),
    (("x", "pole", "world", HINGED), {}, r"'pole' and 'world' do not .*: both are parts of the world"),
    (("x", "rod", "rod", HINGED), {"at_a": 0.2}, r"'rod' and 'rod' do not move .*: both are parts of 'rod'"),
    (("x", "rod", "pole", HINGED), {"at_a": 0.0}, r"'rod' and 'pole' do not move .*: both are parts of the world"),
    (
        ("x", "rod", "b", HINGED),
        {"at_a": 0.3},
        r"at_a of constraint 'x' is 0.3, expected 0 to 0.2, the length of",
    ),
    (("x", "a", "b", HINGED), {"at_b": 0.1}, r"at_b of constraint 'x' is 0.1, but its parent 'b' is not soft"),
    (("x", "a", "b", HINGED), {"placement_a": np.ones((4, 4))}, r"placement_a of constraint 'x' has last row"),
    (("x", "a", "b", HINGED), {"placement_b": np.eye(3)}, r"placement_b of constraint 'x' has shape \(3, 3\)"),
    (("x", "a", "b", None), {}, r"constraint 'x' is None, expected a joint such as jounce.Revolute"),
    (("x", "a", "b", jn.Revolute), {}, r"constraint 'x' is <class .*>, expected a joint"),
    (
        ("x", "a", "b", jn.Free()),
        {},
        r"constraint 'x' is a Free joint, which cannot close a loop: expected one of Fixed",
    ),
    (("x", "a", "b", jn.Revolute(stiffness=1.0)), {}, r"constraint 'x': its joint has stiffness"),
    (("x", "a", "b", jn.Revolute(rest=1.0)), {}, r"constraint 'x': its joint has rest"),
    (("x", "a", "b", jn.Revolute(damping=1.0)), {}, r"constraint 'x': its joint has damping"),
    (("x", "a", "b", jn.Revolute(armature=1.0)), {}, r"constraint 'x': its joint has armature"),
    (("x", "a", "b", jn.Revolute(limits=jn.Limits(0, 1))), {}, r"constraint 'x': its joint has limits"),
    (("x", "a", "b", jn.Revolute(follows=jn.Follow("a"))), {}, r"constraint 'x': its joint has follows"),
    (("x", "a", "tool", GEAR), {}, r"constraint 'x': second is 'tool', which is not a joint added before"),
    (("x", "ball", "b", GEAR), {}, r"constraint 'x': first is 'ball', expected a joint with one coordinate of its own"),
    (
        ("x", "a", "twin", GEAR),
        {},
        r"constraint 'x': second is 'twin', expected a joint with one coordinate of",
    ),
    (("x", "a", "a", GEAR), {}, r"constraint 'x': first and second are both 'a'"),
    (("x", "a", "b", GEAR), {"at_a": 0.1}, r"constraint 'x': a gear is between joints, which have no placement"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), BAD_LOOPS)
def test_loops_that_cannot_be(arguments, options, message):
    b = some_bodies()
    with pytest.raises(ValueError, match=message):
        b.close(*arguments, **options)
    b.close("x", "world", "tool", jn.Fixed())  # it is unchanged
    assert len(b.build().bodies) == len(some_bodies().build().bodies)
    with pytest.raises(ValueError, match="name is 'x', which is the name of another constraint"):
        b.close("x", "world", "rod", jn.Fixed())


def test_a_joint_is_held_by_a_gear_with_itself():
    """As by a gear with another joint that does not drive it."""
    alone, driven = some_bodies(), some_bodies()
    alone.close("x", "b", "b", jn.Gear((0.3, 0.0)))
    driven.close("x", "a", "b", jn.Gear((0.3, 0.0, 0.0)))
    alone, driven = alone.build(), driven.build()
    rng = np.random.default_rng(0)
    q = alone.project(alone.random_configuration(rng))
    assert q[alone.position("b")] == pytest.approx(0.3, abs=1e-15)
    v, tau = alone.project(q, rng.normal(size=alone.nv))[1], rng.normal(size=(3, alone.nv))
    one, other = (robot.constrained_dynamics_derivatives(q, v, tau) for robot in (alone, driven))
    for key in ("acc", "acc_q", "acc_v", "acc_tau", "jacobian", "speed_q"):
        np.testing.assert_allclose(getattr(one, key), getattr(other, key), rtol=0, atol=1e-9)
    for key in ("forces", "forces_q", "forces_v", "forces_tau"):
        np.testing.assert_allclose(getattr(one, key)["x"], getattr(other, key)["x"], rtol=0, atol=1e-9)
    assert np.abs(one.forces_q["x"][..., 1, :]).max() > 1e-3
    hit, peer = (robot.impact(q, v + 1.0).impulses["x"] for robot in (alone, driven))
    np.testing.assert_allclose(hit, peer, rtol=0, atol=1e-12)
    assert hit[0] == 0
    assert abs(hit[1]) > 1e-3


def test_loop_within_a_soft_body():
    """Two points of a rod move relative to each other, and a failed mark leaves nothing behind."""
    b = some_bodies()
    with pytest.raises(ValueError, match="at_b of constraint 'bow'"):
        b.close("bow", "rod", "rod", jn.Distance(0.1), at_a=0.05, at_b=3.0)
    b.close("bow", "rod", "rod", jn.Distance(0.1), at_a=0.05)
    robot = b.build()
    assert robot.frame_names.count("bow.a") == 1
    q = robot.project(robot.integrate(robot.neutral(), np.full(robot.nv, 0.1)))
    np.testing.assert_allclose(robot.loop_coordinate("bow", q), [0.1], atol=1e-9)


def test_kinds_that_cannot_be():
    bad = [
        (lambda: jn.Distance(0), "length is 0, expected a positive number of metres"),
        (lambda: jn.Distance(-1.0), "length is -1.0, expected a positive"),
        (lambda: jn.Distance(np.inf), "length is inf, expected a positive"),
        (lambda: jn.Distance("1"), "length is '1', expected a number"),
        (lambda: jn.OnPlane((0, 0, 0)), "normal is .*, expected a non-zero direction"),
        (lambda: jn.OnLine((0, 1)), r"axis has shape \(2,\), expected \(3,\)"),
        (lambda: jn.Rolling(0.0), "radius is 0.0, expected a positive number of metres"),
        (lambda: jn.Rolling(1.0, (0, 0, 0)), "axis is .*, expected a non-zero direction"),
        (lambda: jn.Gear(1.0), "polynomial is 1.0, expected 2 to 100 finite coefficients"),
        (lambda: jn.Gear((1.0, np.nan)), "polynomial is .*, expected 2 to 100 finite coefficients"),
    ]
    for make, message in bad:
        with pytest.raises(ValueError, match=message):
            make()


def test_contacts_that_cannot_be():
    robot = some_bodies().build()
    bad = [
        ({"toool": HINGED}, "contacts: no body or frame is named 'toool': did you mean 'tool'"),
        ({3: HINGED}, "contacts: no body or frame is named 3"),
        (["tool"], r"contacts is \['tool'\], expected a mapping"),
        (None, "contacts is None, expected a mapping"),
        ({"tool": 3}, "constraint 'tool' is 3, expected a joint"),
        ({"tool": jn.Revolute(stiffness=1.0)}, "constraint 'tool': its joint has stiffness"),
        ({"tool": GEAR}, "constraint 'tool': a gear is between two joints"),
        ({"tool": jn.Distance(1.0)}, "constraint 'tool': a distance needs to know from where"),
        ({"pole": jn.Fixed()}, "contacts: 'pole' is already fixed in the world"),
    ]
    for contacts, message in bad:
        with pytest.raises(ValueError, match=message):
            robot.constrained(contacts)
    with pytest.raises(ValueError, match="kind is 3, expected a joint"):
        jn.Contact(3)
    with pytest.raises(ValueError, match="there is a constraint named 'tool' already"):
        robot.constrained({"tool": jn.Fixed()}).constrained({"tool": jn.Fixed()})
    with pytest.raises(ValueError, match="pose of a contact has last row"):
        jn.Contact(jn.Fixed(), np.ones((4, 4)))


def test_calls_with_wrong_arguments():
    robot = some_bodies().build().constrained({"tool": jn.Spherical(), "ball": jn.OnPlane()})
    q, rest = robot.neutral(), np.zeros(robot.nv)
    stack = np.zeros((2, robot.nv))

    def move(motions: object) -> object:
        return robot.constrained_dynamics(q, rest, stack, motions=motions)

    bad = [
        (lambda: move({"tool": np.zeros((2, 6))}), r"motions\['tool'\] has shape \(2, 6\), expected \(..., 3, 6\)"),
        (lambda: move({"tool": np.zeros((3, 5))}), r"motions\['tool'\] has shape \(3, 5\), expected \(..., 3, 6\)"),
        (lambda: move({"tool": np.full((3, 6), np.nan)}), r"motions\['tool'\] contains nan or inf"),
        (lambda: move({"tool": "x"}), r"motions\['tool'\] must be an array of real numbers"),
        (lambda: move({"toll": np.zeros((3, 6))}), "motions: no contact is named 'toll': did you mean 'tool'"),
        (lambda: move([1]), r"motions is \[1\], expected a mapping"),
        (
            lambda: move({"tool": np.zeros((2, 3, 6)), "ball": np.zeros((4, 3, 6))}),
            "the batch dimensions of motions do not broadcast: 'tool' .*, 'ball'",
        ),
        (
            lambda: robot.constrained_dynamics(q, rest, rest, correction=3),
            r"correction has shape \(\), expected \(2,\)",
        ),
        (
            lambda: robot.constrained_dynamics(q, rest, rest, correction=(-1, 2)),
            "correction is .*, expected non-negative",
        ),
        (lambda: robot.constrained_dynamics(q, rest, rest[1:]), "tau has shape"),
        (lambda: robot.constrained_dynamics(q, rest, [[1], [1, 2]]), "tau must be an array of real numbers"),
        (lambda: robot.constrained_dynamics(q, rest, None), "tau must be an array of real numbers"),
        (lambda: robot.constrained_dynamics(q, rest, rest, wrench_frame=None), "wrench_frame is None, expected"),
        (lambda: robot.constraint_jacobian(q[1:]), "q has shape"),
        (lambda: robot.constraint_jacobian_derivatives(q, None), "v must be an array of real numbers, got None"),
        (lambda: robot.constraint_jacobian_derivatives(q, stack[:0]), "v has shape .*, expected a stack"),
        (lambda: robot.constraint_rows("x"), "no constraint is named 'x': there are 'tool', 'ball'"),
        (lambda: robot.constraint_rows(["x"]), r"no constraint is named \['x'\]"),
        (lambda: robot.residual(q, rest[1:]), "v has shape"),
        (
            lambda: robot.residual(np.stack([q] * 3), np.zeros((2, robot.nv))),
            r"the batch dimensions do not broadcast: q \(3,\), v \(2,\)",
        ),
        (lambda: robot.impact(np.stack([q] * 3), np.zeros((2, robot.nv))), "the batch dimensions do not broadcast"),
        (lambda: robot.project(q[1:]), "q has shape"),
        (lambda: robot.project(q, np.zeros((2, 3, robot.nv))), r"q has shape .* and v \(2, 3, .*, expected"),
        (lambda: robot.project(q, np.zeros((0, robot.nv))), "v has shape .*, expected"),
        (lambda: robot.loop_coordinate(["x"], q), r"no constraint is named \['x'\]"),
        (lambda: robot.constrained_inverse_dynamics(q, stack[:1]), "v has shape .*, expected a stack"),
        (lambda: robot.constrained_inverse_dynamics(q, rest, rest, wrenches=[1]), "wrenches must be a dict"),
        (lambda: robot.constrained_inverse_dynamics(np.stack([q] * 3), stack, stack), "do not broadcast"),
    ]
    rope = (
        some_bodies().build().constrained({"tool": jn.Contact(jn.Distance(1.0), np.eye(4))})
    )  # whose row is not constant
    for other in (robot, rope):
        calls = [other.constrained_dynamics, other.forward_dynamics_derivatives, other.constrained_dynamics_derivatives]
        for call in (*calls, other.constrained_inverse_dynamics):
            for wrenches in (np.zeros((2, 6)), np.zeros(0), 0):
                no_dict = functools.partial(call, q, rest, rest, wrenches=wrenches)
                bad.append((no_dict, "wrenches must be a dict of name: array, got an? "))
    for call, message in bad:
        with pytest.raises(ValueError, match=message):
            call()


def test_rate_of_a_distance_that_is_none():
    b = jn.Builder()
    b.add("bead", "world", jn.Free(), inertia=jn.Inertia(1.0, (0, 0, 0), [1.0, 1.0, 1.0]))
    b.close("string", "world", "bead", jn.Distance(0.3))
    robot = b.build()
    assert robot.loop_coordinate("string", robot.neutral()) == 0
    with pytest.raises(jn.SingularError, match="constraint 'string': its points coincide"):
        robot.loop_coordinate("string", robot.neutral(), np.ones(6))


def test_hybrid_dynamics_where_prescribed_joints_say_all_of_a_loop_and_more():
    robot = four_bar()  # whose hinge has redundant rows
    q, stack = robot.project([0.5, -0.3, -1.2], np.ones((2, 3)))
    acc, tau = robot.hybrid_dynamics(q, *stack, np.zeros(3), prescribed=np.array([True, False, True]))
    np.testing.assert_allclose(acc, stack[1], atol=1e-9)
    assert np.abs(tau).max() < 1e3


def test_hybrid_dynamics_of_a_free_joint_whose_axis_meets_the_contact():
    """It does not affect the contact, so it moves as if there were none."""
    b = jn.Builder()
    b.add("base", "world", jn.Free(), inertia=jn.Inertia(1.0, (0, 0, 0), [0.1] * 3))
    b.add("foot", "base", jn.Revolute((1, 2, 3)), shift(0.1, 0.2, 0.3), jn.Inertia(0.3, (0.1, 0.2, 0.1), [0.02] * 3))
    free = b.build()
    robot, rng, mask = free.constrained({"foot": jn.Spherical()}), np.random.default_rng(0), np.arange(7) < 6
    for _ in range(6):
        q, stack = robot.project(robot.random_configuration(rng), rng.normal(size=(2, 7)))
        acc, _ = robot.hybrid_dynamics(q, *stack, np.zeros(7), prescribed=mask)
        expected, _ = free.hybrid_dynamics(q, *stack, np.zeros(7), prescribed=mask)
        np.testing.assert_allclose(acc, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["a ball in a bowl", "rolling"])
def test_hybrid_dynamics_where_prescribed_joints_say_all_of_a_rolling(name):
    """Rank that is not lost at any velocity is not reported as lost."""
    robot = TIED[name].model
    for seed in range(5):
        rng = np.random.default_rng(seed)
        q, stack = robot.project(robot.random_configuration(rng), rng.normal(size=(2, robot.nv)))
        for joints in (robot.joint_names[:1], robot.joint_names[1:2], robot.joint_names):
            mask = np.zeros(robot.nv, bool)
            for joint in joints:
                mask[robot.coordinate(joint)] = True
            acc, tau = robot.hybrid_dynamics(q, *stack, np.zeros(robot.nv), prescribed=mask)
            np.testing.assert_allclose(robot.forward_dynamics(q, stack[0], tau), acc, rtol=1e-8, atol=1e-8)


def test_forces_of_a_flat_linkage_on_a_base_that_flies():
    """Rows that no joint of the loop affects reach the base as rounding error, which is not mistaken for motion."""
    b, link = jn.Builder(), jn.Inertia(1.0, (0.1, 0, 0), [0.1] * 3)
    b.add("base", "world", jn.Free(), inertia=jn.Inertia(3.0, (0.1, 0, 0), [1.0] * 3))
    b.add("crank", "base", jn.Revolute(HINGE), shift(0.1), link)
    b.add("coupler", "crank", jn.Revolute(HINGE), shift(0.3), link)
    b.add("rocker", "base", jn.Revolute(HINGE), shift(0.7), link)
    b.close("pin", "coupler", "rocker", jn.Revolute(HINGE), placement_a=shift(0.7), placement_b=shift(0.35))
    robot = b.build()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        q = robot.neutral()
        q[7:] = [0.5, -0.3, -1.2] + 0.2 * rng.normal(size=3)
        q, (v, _) = robot.project(q, rng.normal(size=(2, 9)))
        found = robot.constrained_dynamics(q, v, np.ones((3, 9)))
        assert np.abs(found.multipliers).max() < 1e4
        J = robot.constraint_jacobian(q)
        a = np.linalg.solve(
            robot.mass_matrix(q), 1 - robot.inverse_dynamics(q, v, np.zeros(9)) + J.T @ found.multipliers[0]
        )
        np.testing.assert_allclose(found.acc[0], a, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("axes", ["body", "world", "mixed"])
def test_the_force_on_a_frame_that_is_fixed_in_the_world(axes):
    """It is the one on the other body, the other way round."""
    forces = []
    for first, second in (("post", "arm"), ("arm", "post")):
        b = jn.Builder()
        b.add("post", "world", jn.Fixed(), shift(0.5, 0.1, 0.2))
        b.add("arm", "world", jn.Free(), shift(0.5), jn.Inertia(1.0, (0.1, 0.2, 0.0), np.eye(3)))
        b.close("pin", first, second, jn.Spherical())
        robot, rng = b.build(), np.random.default_rng(2)
        q, v = robot.project(robot.neutral(), rng.normal(size=6))
        forces.append(robot.constrained_dynamics(q, v, rng.normal(size=(3, 6)), wrench_frame=axes).forces["pin"])
        pose = robot.pose("arm", q)
    if axes != "body":  # about the same point
        np.testing.assert_allclose(forces[0], -forces[1], atol=1e-10)
    else:
        np.testing.assert_allclose(forces[0][0, :3], -(pose[:3, :3] @ forces[1][0, :3]), atol=1e-10)


def test_what_cannot_move_is_not_tied():
    b = jn.Builder()
    b.add("arm", "world", jn.Fixed(), inertia=jn.Inertia(1.0))
    with pytest.raises(ValueError, match="contacts: 'arm' is already fixed in the world"):
        b.build().constrained({"arm": jn.Spherical()})
    still = b.build().constrained_dynamics([], [], [[], []])
    assert (still.acc.shape, still.multipliers.shape, still.forces) == ((2, 0), (2, 0), {})
    b.add("hand", "arm", jn.Revolute(HINGE), inertia=jn.Inertia(1.0, (0.1, 0, 0)))
    with pytest.raises(ValueError, match="constraint 'weld': 'world' and 'arm' do not move relative to each other"):
        b.close("weld", "world", "arm", jn.Fixed())


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
def test_residual_in_other_axes(frame):
    """The velocity of a frame that is held, whatever the axes of v; where it is does not depend on them."""
    pose = jn.robots.aerial_manipulator().pose("B7", jn.robots.aerial_manipulator().neutral())
    robot = jn.robots.aerial_manipulator().constrained({"B7": jn.Contact(jn.Spherical(), pose=pose)})
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng, 4), rng.normal(size=(4, robot.nv))
    position, speed = robot.residual(q, v, frame=frame)
    hand = robot.twist("B7", q, v[:, None], frame="mixed", velocity_frame=frame)[:, 0, :3]
    np.testing.assert_allclose(speed, hand @ pose[:3, :3], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(position, robot.residual(q))
    np.testing.assert_array_equal(position, robot.residual(q, frame=frame))
    np.testing.assert_allclose(speed, np.einsum("sri,si->sr", robot.constraint_jacobian(q, frame=frame), v), atol=1e-12)
    for given in ((q,), (q, v)):
        with pytest.raises(ValueError, match="frame is 'tool', expected 'body', 'world' or 'mixed'"):
            robot.residual(*given, frame="tool")


def test_batches_of_project_residual_and_linearize_broadcast():
    robot, q = quadruped(jn.Spherical())
    rng = np.random.default_rng(5)
    q = robot.integrate(q, 0.1 * rng.normal(size=(2, 1, 18)))
    v = rng.normal(size=(1, 3, 18))
    where, speed = robot.project(q, v)
    assert (where.shape, speed.shape) == ((2, 3, 19), (2, 3, 18))
    np.testing.assert_allclose(speed[1, 2], robot.project(q[1, 0], v[0, 2])[1], atol=1e-12)
    broken = robot.residual(q, v)
    assert [x.shape for x in broken] == [(2, 3, 12)] * 2
    lin = robot.linearize(q, v[0, 0], np.zeros((1, 3, 18)))
    np.testing.assert_allclose(lin.A[1, 2], robot.linearize(q[1, 0], v[0, 0], np.zeros(18)).A, rtol=1e-9, atol=1e-7)
    with pytest.raises(ValueError, match=r"the batch dimensions do not broadcast: q \(2, 1\), v \(4, 3\)"):
        robot.residual(q, np.zeros((4, 3, 18)))


def test_impact_of_batches_with_the_world_first():
    b = jn.Builder()
    b.add("ball", "world", jn.Free(), inertia=jn.Inertia(2.0, (0, 0, 0), np.eye(3)))
    b.close("floor", "world", "ball", jn.Rolling(0.3))
    robot, rng = b.build(), np.random.default_rng(0)
    q, v = robot.project(robot.random_configuration(rng, 4)), rng.normal(size=(4, 6))
    hit = robot.impact(q, v)
    for i in range(4):
        np.testing.assert_allclose(hit.impulses["floor"][i], robot.impact(q[i], v[i]).impulses["floor"], atol=1e-13)


def test_derivatives_of_a_robot_without_constraints():
    robot = jn.robots.quadrotor_arm()
    q, v, tau = robot.neutral(), np.ones(8), np.ones((2, 8))
    found = robot.constrained_dynamics_derivatives(q, v, tau)
    for mine, expected in zip(
        (found.acc_q, found.acc_v, found.acc_tau), robot.forward_dynamics_derivatives(q, v, tau), strict=True
    ):
        np.testing.assert_array_equal(mine, expected)
    assert (found.jacobian.shape, found.forces, found.forces_q) == ((0, 8), {}, {})


@pytest.mark.skipif(np.__version__ < "2", reason="arrays of NumPy 1 have at most 32 dimensions")
def test_more_dimensions_than_numpy_broadcasts() -> None:
    b = jn.Builder()
    b.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, (0.2, 0, 0), [0.1, 0.1, 0.1]))
    b.add("tool", "arm", jn.Revolute((0, 1, 0)), shift(0.4), jn.Inertia(1.0, (0.2, 0, 0), [0.1, 0.1, 0.1]))
    robot = b.build().constrained({"tool": jn.OnPlane((0, 0, 1))})
    with pytest.raises(ValueError, match="the batch dimensions do not broadcast: v "):
        robot.linearize(np.zeros(2), np.zeros(2), np.zeros((1,) * 45 + (2,)))


# Every force in the axes that were asked for, with its derivatives.


def in_axes(robot: jn.Model, name: str, q: np.ndarray, v: np.ndarray, wrench: np.ndarray, axes: str) -> np.ndarray:
    """A wrench (r + 1, 6) in the axes of a frame, with its derivatives, in other axes: R f and R m + x times R f."""
    poses = robot.pose_derivatives(q, v, frames=[name])[:, 0]

    def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.array([sum(comb(k, j) * a[j] @ b[k - j] for j in range(k + 1)) for k in range(len(b))])

    def across(x: np.ndarray) -> np.ndarray:
        return np.cross(np.eye(3), x[:, None, :])  # [x] by rows

    force, moment = (product(poses[:, :3, :3], part) for part in (wrench[:, :3], wrench[:, 3:]))
    if axes == "world":
        moment = moment + product(across(poses[:, :3, 3]), force)
    return np.hstack([force, moment])


@pytest.mark.parametrize("axes", ["world", "mixed"])
@pytest.mark.parametrize("name", TIED)
def test_forces_are_in_the_axes_asked_for(name, axes):
    robot, rng = TIED[name].model, np.random.default_rng(3)
    q, v = robot.project(robot.random_configuration(rng), rng.normal(size=robot.nv))
    motion = robot.constrained_dynamics(q, v, rng.normal(size=(3, robot.nv)))
    stack = np.vstack([v, motion.acc])
    tau = robot.constrained_inverse_dynamics(q, stack).tau
    calls = {
        "constrained_dynamics": (lambda **f: robot.constrained_dynamics(q, v, tau, **f).forces),
        "constrained_dynamics, one row": (lambda **f: robot.constrained_dynamics(q, v, tau[0], **f).forces),
        "derivatives": (lambda **f: robot.constrained_dynamics_derivatives(q, v, tau, **f).forces),
        "derivatives, one row": (lambda **f: robot.constrained_dynamics_derivatives(q, v, tau[0], **f).forces),
        "inverse": (lambda **f: robot.constrained_inverse_dynamics(q, stack, **f).forces),
        "inverse, one row": (lambda **f: robot.constrained_inverse_dynamics(q, *stack[:2], **f).forces),
        "impact": (lambda **f: robot.impact(q, stack[1], **f).impulses),
    }
    for what, call in calls.items():
        own, other = call(), call(wrench_frame=axes)
        for record in robot.constraints:
            given, found = (np.atleast_2d(x[record.name]) for x in (own, other))
            if found.shape[-1] == 6:  # those of a gear have no axes
                given = in_axes(robot, record.named, q, stack, given, axes)
            np.testing.assert_allclose(found, given, rtol=0, atol=1e-11 * np.abs(given).max(), err_msg=what)


# Far from where numbers are finite.


def arrays(result):
    """All arrays of a result."""
    if isinstance(result, np.ndarray):
        return [result]
    keys = [key for key in dir(result) if not key.startswith("_")]
    values = [value for key in keys for value in [getattr(result, key)]]
    return [x for v in values for x in (v.values() if isinstance(v, dict) else [v]) if isinstance(x, np.ndarray)]


@pytest.mark.parametrize("size", [1e150, 1e154, 1e155, 1e200])
@pytest.mark.parametrize("name", TIED)
def test_answers_are_finite_or_an_error(name, size):
    robot, rng = TIED[name].model, np.random.default_rng(0)
    v, tau = rng.normal(size=(2, robot.nv))
    refused = 0
    for far in size * np.eye(robot.nv):
        try:
            q = robot.integrate(robot.neutral(), far)
        except ValueError:  # a ball turned by so much
            continue
        calls = (
            lambda q=q: robot.inverse_constraint_inertia(q),
            lambda q=q: robot.constrained_dynamics_derivatives(q, v, tau),
            lambda q=q: robot.constrained_dynamics_derivatives(q, v, np.array([tau, v])),
            lambda q=q: robot.linearize(q, v, tau),
            lambda q=q: robot.impact(q, v),
        )
        for call in calls:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", jn.PrecisionWarning)
                try:
                    result = call()
                except ValueError:
                    refused += 1
                    continue
            assert all(np.isfinite(x).all() for x in arrays(result))
    assert refused or name not in ("a ball in a bowl", "two rods")  # whose bodies move that far


def test_an_impact_on_what_has_no_mass_is_an_error_that_says_so():
    b = jn.Builder()
    b.add("body", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=[1.0, 1.0, 1.0]))
    b.add("point", "body", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0))
    robot = b.build().constrained({"body": jn.Spherical()})
    with pytest.raises(jn.SingularError, match="an impact has no answer: the mass matrix is singular"):
        robot.impact(robot.neutral(), np.ones(7))
