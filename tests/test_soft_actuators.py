"""Tendons and chambers: their forces follow from lengths and volumes, integrated here by other means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import jounce as jn
from oracles import soft_lagrange
from soft_build import central, error, rod_of
from soft_models import SoftSpec, random_module, random_soft_state

LENGTH = 0.3


def helix(s: float) -> np.ndarray:
    return 0.012 * np.array([np.cos(2 * np.pi * s / LENGTH), np.sin(2 * np.pi * s / LENGTH)])


def converging(s: float) -> np.ndarray:
    return np.array([0.015 - 0.03 * s, 0.002 + 0.1 * s * s])


ROUTES = {
    "straight": (0.012, 0.0),
    "centre": (0.0, 0.0),
    "offset": (-0.004, 0.011),
    "helix": helix,
    "converging": converging,
}
BASES = {
    "constant curvature": jn.soft.constant_curvature(),
    "planar": jn.soft.constant_curvature(planar=True, elongation=False),
    "all six": jn.soft.constant_strain(),
    "given": lambda s: np.array([[0, 0], [0, 0], [0.2, 0], [0, 1 + s], [2 * s, np.cos(9 * s)], [1, 0]]),
}


def robot_with(rod: jn.soft.Rod) -> jn.Model:
    b = jn.Builder()
    b.add("rod", "world", body=rod)
    return b.build()


def route_at(route, s: float) -> np.ndarray:
    return np.append(route(s) if callable(route) else route, 0.0)


def length_of(route, phi, rest, q, end: float) -> float:
    """Arc length of p(s) + R(s) r(s): |v + w x r + dr/ds|, r' from the route itself by mirrored differences."""

    def speed(s: float) -> float:
        xi = rest + phi(s) @ q
        r = route_at(route, s)
        slope = central(lambda h: route_at(route, s + h), 1e-3)
        return float(np.linalg.norm(xi[:3] + np.cross(xi[3:], r) + slope))

    return quad(speed, 0.0, end, epsabs=1e-14, epsrel=1e-13)[0]


@pytest.mark.parametrize("basis", BASES)
def test_a_tendon_pulls_as_its_length_shortens(basis):
    strain, rest = BASES[basis], np.array([0, 0, 1.0, 0.2, -0.1, 0.3])
    tendons = [jn.soft.Tendon(f"{name} {end}", route, end) for name, route in ROUTES.items() for end in (None, 0.13)]
    rod = jn.soft.Rod(LENGTH, 0.02, 1000.0, 1e5, strain=strain, rest=rest, actuators=tendons, nodes=4, check=False)
    robot = robot_with(rod)
    q = rod.scale * np.random.default_rng(1).uniform(-1, 1, robot.nv)
    A = robot.actuation_matrix(q)
    assert A.shape == (robot.nv, 10)
    assert robot.input_names == tuple(t.name for t in tendons)
    phi = rod.strain_at
    step = 0.05 * rod.scale * np.random.default_rng(2).choice([-1, 1], robot.nv)  # all coordinates at once
    for j, tendon in enumerate(tendons):
        pull = -central(lambda t, a=tendon: length_of(a.route, phi, rest, q + t * step, a.end or LENGTH), 1.0)
        assert abs(step @ A[:, j] - pull) < 1e-10 * np.abs(step * A[:, j]).sum() + 1e-14


@pytest.mark.parametrize("route", ["straight", "offset", "helix"])
def test_a_chamber_pushes_as_its_volume_grows(route):
    area = 3e-5
    rod = jn.soft.Rod(
        LENGTH,
        0.02,
        1000.0,
        1e5,
        strain=jn.soft.constant_strain(),
        actuators=[jn.soft.Chamber("c", ROUTES[route], area=area)],
    )
    robot = robot_with(rod)
    q = rod.scale * np.random.default_rng(2).uniform(-1, 1, 6)

    def volume(x):
        def growth(s):
            xi = np.array([0, 0, 1.0, 0, 0, 0]) + rod.strain_at(s) @ x
            return (xi[:3] + np.cross(xi[3:], route_at(ROUTES[route], s)))[2]

        return area * quad(growth, 0, LENGTH, epsabs=1e-16)[0]

    slope = [central(lambda t, i=i: volume(q + t * np.eye(6)[i]), 0.1 * rod.scale[i]) for i in range(6)]
    np.testing.assert_allclose(robot.actuation_matrix(q)[:, 0], slope, rtol=1e-9, atol=1e-9 * area * LENGTH)


def test_a_straight_tendon_in_closed_form():
    """A tendon at x = d bends the rod towards x with moment u d, and shortens it with force u, in any shape."""
    d = 0.012
    rod = jn.soft.Rod(
        LENGTH, 0.02, 1000.0, 1e5, strain=jn.soft.constant_curvature(), actuators=[jn.soft.Tendon("t", (d, 0.0))]
    )
    A = robot_with(rod).actuation_matrix(np.random.default_rng(0).normal(size=(4, 3)) * rod.scale)
    np.testing.assert_allclose(A[:, :, 0], np.broadcast_to([d, 0.0, -1.0], (4, 3)), atol=1e-12)


def test_tendons_of_one_name_are_one_tendon():
    """Through two rods it has the sum of the lengths; every other name has its own column, in order."""

    def rod(*names):
        return jn.soft.Rod(LENGTH, 0.02, 1000.0, 1e5, actuators=[jn.soft.Tendon(n, ROUTES[r]) for n, r in names])

    b = jn.Builder()
    b.add("first", "world", body=rod(("long", "helix"), ("short", "straight")))
    b.add("link", "first", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(0.1, rotational=(1e-3, 1e-3, 1e-3)))
    b.add("second", "link", body=rod(("other", "offset"), ("long", "helix")))
    robot = b.build()
    assert robot.input_names == ("long", "short", "other")
    q = robot.random_configuration(np.random.default_rng(3))
    A = robot.actuation_matrix(q)
    first, second = (
        robot_with(rod(*n))
        for n in ([("long", "helix"), ("short", "straight")], [("other", "offset"), ("long", "helix")])
    )
    expected = np.zeros((7, 3))
    expected[:3, :2] = first.actuation_matrix(q[:3])
    expected[4:, [2, 0]] = second.actuation_matrix(q[4:])
    np.testing.assert_allclose(A, expected, rtol=1e-13, atol=1e-15)
    twice = robot_with(rod(("long", "helix"), ("long", "helix")))
    assert twice.input_names == ("long",)
    np.testing.assert_allclose(twice.actuation_matrix(q[:3]), 2 * first.actuation_matrix(q[:3])[:, :1], rtol=1e-14)


def test_chambers_of_bodies_of_variable_radius_are_their_own():
    b = jn.Builder()
    for name, parent in (("one", "world"), ("two", "one")):
        b.add(
            name, parent, body=jn.soft.VariableRadius(0.2, 0.02, 1062.0, 1.06e6, wall=0.004, nodes=(12, 8), check=False)
        )
    robot = b.build()
    assert robot.input_names == ("one pressure 1", "one pressure 2", "two pressure 1", "two pressure 2")
    A = robot.actuation_matrix(robot.random_configuration(np.random.default_rng(0)))
    assert not A[:4, 2:].any()
    assert not A[4:, :2].any()


def test_pressures_are_the_gradient_of_the_volumes():
    rng = np.random.default_rng(4)
    spec = SoftSpec(tuple(random_module(rng, "variable radius", i - 1) for i in range(2)))
    q, _ = random_soft_state(rng, spec, 1)
    u = rng.uniform(-1e4, 1e4, 4)
    b = jn.Builder()
    for i, m in enumerate(spec.modules):
        body = jn.soft.VariableRadius(m.length, m.radius, m.density, m.young, wall=m.wall, nodes=m.nodes)
        b.add(f"m{i}", "world" if i == 0 else "m0", placement=m.placement, body=body)
    A = b.build().actuation_matrix(q)
    assert error(A @ u, soft_lagrange.pressure_force(spec, q, u)[1]) < 1e-13


def test_a_route_is_asked_only_where_the_rod_is():
    """A function of s defined from the near end to the far end suffices, also for a tendon that ends early."""

    def route(s):
        if not 0 <= s <= LENGTH:
            raise ArithmeticError(f"asked at {s}")
        return 0.01 * np.sqrt(np.array([s, LENGTH - s]) / LENGTH + 0.1)

    for end in (None, 0.1, 0.02, LENGTH):
        robot_with(jn.soft.Rod(LENGTH, 0.02, 1000.0, 1e5, actuators=[jn.soft.Tendon("t", route, end)]))


def test_inputs_in_batches():
    rod = jn.soft.Rod(
        LENGTH, 0.02, 1000.0, 1e5, actuators=[jn.soft.Tendon("a", helix), jn.soft.Chamber("b", (0.0, 0.01))]
    )
    robot = robot_with(rod)
    q = robot.random_configuration(np.random.default_rng(5), (2, 3))
    A = robot.actuation_matrix(q)
    assert A.shape == (2, 3, 3, 2)
    np.testing.assert_allclose(A[1, 2], robot.actuation_matrix(q[1, 2].tolist()), rtol=1e-14)
    assert robot_with(rod_of(random_module(np.random.default_rng(0), "planar", -1), 4)).actuation_matrix(
        [0.1]
    ).shape == (1, 0)
