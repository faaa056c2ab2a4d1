"""Soft bodies that are inside out: found wherever along them it is, and in nothing that is returned."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import jounce as jn
from jounce import soft

L = 1.0


def rod(strain: object, rest: tuple[float, ...] = (0, 0, 1, 0, 0, 0), length: float = L) -> soft.Rod:
    return soft.Rod(length, 0.05, 1000.0, 1e6, strain=strain, rest=rest)  # type: ignore[arg-type]


def built(body: jn.soft.SoftBody) -> jn.Model:
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("rod", "world", body=body)
    return b.build()


# Where


@pytest.mark.parametrize("length", [0.2, 3.0])
def test_a_rod_of_constant_strain(length: float) -> None:
    """Its tangent is (shear_x, shear_y, 1 + stretch), times the one at rest."""
    body = rod(soft.constant_strain(), length=length)
    q = np.array([5.0, -7.0, -0.999, 3.0, 9.0, 4.0]) * length
    assert body.inside_out(q) is None
    q[2] = -1.001 * length
    assert body.inside_out(q) == 0.0


def test_a_rod_that_leans_at_rest() -> None:
    """Sheared: 1 + 0.6 shear_x + 0.8 stretch."""
    body = rod(soft.constant_strain("shear_x", "stretch"), rest=(0.6, 0, 0.8, 0, 0, 2.0))
    assert body.inside_out(np.array([-1.0, -0.49])) is None
    assert body.inside_out(np.array([-1.0, -0.51])) == 0.0
    assert body.inside_out(np.array([1.0, -1.9])) is None


@pytest.mark.parametrize("deep", [0.999, 1.001])
def test_between_nodes(deep: float) -> None:
    """1 + a P_2 + b P_1 has its least value, 1 - deep, at x0, which is at no sample."""
    body = rod(soft.polynomial({"stretch": 2, "bend_x": 1}))
    x0 = 0.2371
    # a (3 x^2 - 1) / 2 + b x + c: slope zero at x0, value -deep
    a = 0.7
    b = -3 * a * x0
    c = -deep - (a * (3 * x0**2 - 1) / 2 + b * x0)
    found = body.inside_out(np.array([c, b, a, 3.0, -2.0]) * L)
    if deep < 1:
        assert found is None
    else:
        assert found == pytest.approx(L * (1 + x0) / 2, abs=1e-6)


@pytest.mark.parametrize("width", [0.1, 1e-2, 1e-3, 2e-4])
def test_narrow_bells(width: float) -> None:
    """Of any place, beside a stretch of the whole rod; also those that are much narrower than nodes are apart."""
    for place in np.random.default_rng(0).uniform(0.0, L, 8):

        def bell(s: float, place: float = float(place)) -> np.ndarray:
            phi = np.zeros((6, 2))
            phi[2] = np.exp(-(((s - place) / width) ** 2)), 1.0
            return phi

        body = soft.Rod(L, 0.05, 1000.0, 1e6, strain=bell, nodes=12)
        assert body.inside_out(np.array([-1.2 * 0.999, 0.2])) is None
        assert body.inside_out(np.array([-1.2 * 1.001, 0.2])) == pytest.approx(place, abs=0.05 * width)


def test_a_jump() -> None:
    """Strains need not be continuous."""

    def two(s: float) -> np.ndarray:
        phi = np.zeros((6, 2))
        phi[2] = s < 1 / 3, s >= 1 / 3
        return phi

    body = soft.Rod(L, 0.05, 1000.0, 1e6, strain=two, nodes=12)
    assert body.inside_out(np.array([-0.9, 5.0])) is None
    place = body.inside_out(np.array([5.0, -1.1]))
    assert place is not None
    assert 1 / 3 <= place <= L
    place = body.inside_out(np.array([-1.1, 5.0]))
    assert place is not None
    assert 0 <= place < 1 / 3


def test_a_body_of_variable_radius() -> None:
    """The bump is exp(-0.04 / L - 4 / pi^2) high, in the middle; and `swollen` says the same."""
    body = soft.VariableRadius(0.2, 0.02, 1062.0, 1e6)
    limit = 0.02 * np.exp(0.04 / 0.2 + 4 / np.pi**2)
    for h in (2, 3):
        q = np.zeros(4)
        q[h] = -0.999 * limit
        assert body.inside_out(q) is None
        q[h] = -1.001 * limit
        assert body.inside_out(q) == 0.1
        assert body.swollen(q, np.array([0.1]), np.array([[0.5, 1.5][h - 2] * np.pi]))[0, 0] < 0
    assert body.inside_out(np.array([9.0, -0.199, 1.0, 1.0])) is None
    assert body.inside_out(np.array([0.0, -0.201, 0.0, 0.0])) == 0.0


def test_others_do_not_know() -> None:
    class Pole(soft.Module):
        n, masses = 1, [0.1]

        def pose(self, q):  # type: ignore[no-untyped-def]
            return np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1 + q[0]], [0, 0, 0, 1]])

        def points(self, q):  # type: ignore[no-untyped-def]
            return np.array([[0, 0, 0.1 + q[0]]])

    robot = built(Pole())  # type: ignore[arg-type]
    assert robot._soft["rod"].body.inside_out(np.array([-5.0])) is None
    for rest in ((0, 0, 0, 1, 0, 0), (0, 0, -1, 0, 0, 0)):
        with pytest.raises(ValueError, match="expected a tangent along z"):
            rod(soft.constant_strain(), rest=rest)


# What is passed


@pytest.mark.parametrize(
    "strain", [soft.constant_strain("bend_y", "stretch"), soft.polynomial(1, ("bend_y", "stretch"))]
)
def test_a_state_that_is_passed_is_warned_of_once(strain: soft.Strain) -> None:
    pull = soft.Tendon("pull", lambda s: (0.01, 0.0))
    robot = built(soft.Rod(L, 0.05, 1000.0, 1e6, strain=strain, actuators=[pull]))
    q = np.zeros(robot.nq)
    q[robot.nq // 2] = -1.5
    rest = np.zeros(robot.nv)
    calls = {
        "mass_matrix": (q,), "inverse_dynamics": (q, rest, rest), "forward_dynamics": (q, rest, rest),
        "pose": ("rod", q), "backbone": ("rod", q), "actuation_matrix": (q,), "linearize": (q, rest, rest),
        "potential_energy": (q,),
    }  # fmt: skip
    for name, given in calls.items():
        with pytest.warns(jn.ShapeWarning, match=r"^body 'rod' is inside out at s = 0 m$") as caught:
            getattr(robot, name)(*given)
        assert len(caught) == 1, name
    with pytest.warns(jn.ShapeWarning, match=r"^body 'rod' is inside out at s = 0 m, in state 2$") as caught:
        robot.actuation_matrix(np.stack([rest, rest, q, q]))
    assert len(caught) == 1


@pytest.mark.parametrize("tangent", [1.0, 0.4, 0.1])
def test_a_warning_however_short_the_tangent_at_rest(tangent: float) -> None:
    """Strains are per metre of the coordinate s, of which such a rod has more than it is long."""
    robot = built(rod(soft.constant_strain("stretch"), (0, 0, tangent, 0, 0, 0)))
    robot.mass_matrix([-0.9 * tangent])
    with pytest.warns(jn.ShapeWarning, match=r"^body 'rod' is inside out at s = 0 m$"):
        robot.mass_matrix([-1.1 * tangent])


def test_a_body_that_is_not_checked_says_nothing() -> None:
    built(soft.Rod(L, 0.05, 1000.0, 1e6, check=False)).mass_matrix([0.0, 0.0, -1.5])


# What is returned

STRETCH = 1e6 * np.pi * 0.05**2  # N, E A


def test_no_equilibrium_is_inside_out() -> None:
    """A rod pressed by 1.5 E A has lost its length at 2 / 3 of that."""
    robot = built(rod(soft.constant_strain("stretch")))
    rest = robot.equilibrium(wrenches={"rod": (0, 0, -0.99 * STRETCH, 0, 0, 0)})
    np.testing.assert_allclose(rest.q, -0.99 * L, rtol=1e-12)
    for options in ({}, {"branch": "stable"}, {"branch": "any"}, {"q0": [-0.5]}):
        with pytest.raises(jn.NoEquilibrium, match="there 'rod' is inside out at s = 0 m") as caught:
            robot.equilibrium(wrenches={"rod": (0, 0, -1.5 * STRETCH, 0, 0, 0)}, **options)  # type: ignore[arg-type]
        if "q0" not in options:
            assert caught.value.part == pytest.approx(2 / 3, abs=2e-5)
        assert caught.value.q[0] > -L
    with pytest.raises(jn.NoEquilibrium, match="'rod' is inside out"):
        robot.equilibrium(q0=[-1.5], wrenches={"rod": (0, 0, -1.5 * STRETCH, 0, 0, 0)})


METHODS: tuple[Literal["taylor", "rkmk", "implicit"], ...] = ("taylor", "rkmk", "implicit")


@pytest.mark.parametrize("method", METHODS)
def test_no_motion_is_inside_out(method: Literal["taylor", "rkmk", "implicit"]) -> None:
    """It swings as sin(rate t), rate^2 = 3 E A / (m L) for one uniform strain, and beyond L from asin(L / size) on."""
    robot = built(rod(soft.constant_strain("stretch")))
    rate = np.sqrt(3 * 1e6 / 1000.0) / L
    times = np.linspace(0.0, 0.03, 31)
    small = jn.simulate(robot, [0.0], [-0.9 * rate], times, method=method)
    np.testing.assert_allclose(small.q[:, 0], -0.9 * np.sin(rate * times), atol=1e-8)
    wide = -1.2 * np.sin(rate * times)
    first = int(np.argmax(wide < -L))
    message = rf"simulation stopped at t = {times[first]:g} s: 'rod' is inside out at s = 0 m"
    with pytest.raises(jn.SimulationError, match=message) as caught:
        jn.simulate(robot, [0.0], [-1.2 * rate], times, method=method)
    found = caught.value.trajectory
    np.testing.assert_array_equal(found.time[:first], times[:first])
    np.testing.assert_allclose(found.q[:first, 0], wide[:first], atol=1e-8)
    assert len(found) <= first + 1
    assert (found.q > -L).all()
    with pytest.raises(jn.SimulationError, match="stopped at t = 0 s: 'rod' is inside out"):
        jn.simulate(robot, [-1.5], [0.0], times, method=method)


def test_no_projection_is_inside_out() -> None:
    """Its tip is to be half a metre behind its base."""
    robot = built(rod(soft.constant_strain("stretch")))
    fixed = jn.Builder.from_model(robot)
    fixed.close("wall", "world", "rod", jn.Prismatic((0, 1, 0)), placement_a=jn.placement((0, 0, -0.5)))
    with pytest.raises(jn.ConstraintError, match="onto the constraints: there 'rod' is inside out at s = 0 m"):
        fixed.build().project([0.0])
    near = jn.Builder.from_model(robot)
    near.close("wall", "world", "rod", jn.Prismatic((0, 1, 0)), placement_a=jn.placement((0, 0, 0.5)))
    np.testing.assert_allclose(near.build().project([0.0]), -0.5)


def test_no_random_configuration_is_inside_out() -> None:
    body = soft.Rod(L, 0.05, 1000.0, 1e6, strain=soft.polynomial({"stretch": 20}), nodes=12)
    drawn = built(body).random_configuration(0, 400)
    assert all(body.inside_out(q) is None for q in drawn)
    scaled = body.scale * np.random.default_rng(0).uniform(-1, 1, (400, body.n))
    assert 0 < sum(body.inside_out(q) is not None for q in scaled) < 40
