"""`project` and `equilibrium` with joints that are held, against closed forms, and against each other."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from jounce.dynamics.named_coordinates import names
from kinds import EVERY

CRANK, COUPLER, ROCKER, BASE = 0.1, 0.3, 0.27, 0.34  # m
ELBOW = {"crank": np.linspace(0.0, 2 * np.pi, 25)[:, None]}


def four_bar() -> jn.Model:
    hinge, b = jn.Revolute((0, -1, 0)), jn.Builder()
    b.add("crank", "world", hinge, inertia=jn.Inertia(1.0, (0.05, 0, 0), (1e-3, 1e-3, 1e-3)))
    b.add("coupler", "crank", hinge, jn.placement((CRANK, 0, 0)), jn.Inertia(1.0, (0.15, 0, 0), (1e-3, 1e-2, 1e-2)))
    b.add("rocker", "world", hinge, jn.placement((BASE, 0, 0)), jn.Inertia(1.0, (0.13, 0, 0), (1e-3, 1e-2, 1e-2)))
    ends = {"placement_a": jn.placement((COUPLER, 0, 0)), "placement_b": jn.placement((ROCKER, 0, 0))}
    b.close("pin", "coupler", "rocker", hinge, **ends)
    return b.build()


def closed_form(crank: np.ndarray) -> np.ndarray:
    """(..., 3) angles of the branch whose pin is above, from the intersection of two circles."""
    x, z = CRANK * np.cos(crank), CRANK * np.sin(crank)
    away = np.hypot(BASE - x, z)
    along = (away**2 + COUPLER**2 - ROCKER**2) / (2 * away)
    across = np.sqrt(COUPLER**2 - along**2)
    ex, ez = (BASE - x) / away, -z / away
    pin_x, pin_z = x + along * ex - across * ez, z + along * ez + across * ex
    coupler = np.arctan2(pin_z - z, pin_x - x) - crank
    return np.stack([crank, coupler, np.arctan2(pin_z, pin_x - BASE)], axis=-1)


def turned(q: np.ndarray) -> np.ndarray:
    return np.angle(np.exp(1j * q))


def test_a_crank_that_is_held_at_many_angles() -> None:
    robot = four_bar()
    q = robot.project([0.5, 0.5, 2.0], held=ELBOW)
    np.testing.assert_array_equal(q[:, :1], ELBOW["crank"])
    np.testing.assert_allclose(turned(q - closed_form(ELBOW["crank"][:, 0])), 0, atol=1e-11)


def test_a_linkage_goes_straight_on_through_dead_centres() -> None:
    """Where it could fold: a slider-crank of equal rods, and a parallelogram; to states next to them, too."""
    hinge, b = jn.Revolute((0, 1, 0)), jn.Builder()
    link = jn.Inertia(1.0, (0.1, 0, 0))
    b.add("crank", "world", hinge, inertia=link)
    b.add("rod", "crank", hinge, jn.placement((0.2, 0, 0)), link)
    b.add("piston", "world", jn.Prismatic((1, 0, 0)), jn.placement((0.4, 0, 0)), jn.Inertia(1.0))
    b.close("pin", "rod", "piston", hinge, placement_a=jn.placement((0.2, 0, 0)))
    slider = b.build()
    for count in (37, 101):  # of the latter, one is 1e-3 rad past the dead centre
        crank = np.linspace(0.2, 3.0, count)
        q, v = slider.project([0.2, -0.4, 0], [1, 0, 0], held={"crank": crank[:, None]})
        np.testing.assert_allclose(q[:, 2], 0.4 * np.cos(crank) - 0.4, atol=1e-10)
        np.testing.assert_allclose(v[:, 2], -0.4 * np.sin(crank), atol=1e-7)
    b = jn.Builder()
    b.add("crank", "world", hinge, inertia=link)
    b.add("coupler", "crank", hinge, jn.placement((0.1, 0, 0)), link)
    b.add("rocker", "world", hinge, jn.placement((0.3, 0, 0)), link)
    ends = {"placement_a": jn.placement((0.3, 0, 0)), "placement_b": jn.placement((0.1, 0, 0))}
    b.close("pin", "coupler", "rocker", hinge, **ends)
    crank = np.linspace(0.3, 6.1, 40)
    q, v = b.build().project([0.3, -0.3, 0.3], np.ones((40, 3)), held={"crank": crank[:, None]})  # a velocity each
    np.testing.assert_allclose(q[:, 2], crank, atol=1e-10)
    np.testing.assert_allclose(v[:, 2], 1.0, atol=1e-7)


def test_one_state_and_stacks_for_each_position() -> None:
    robot, at = four_bar(), {"crank": np.linspace(0.5, 1.5, 5)[:, None]}
    stacks = np.random.default_rng(0).normal(size=(5, 3, 3))
    q, v = robot.project([0.5, 0.5, 2.0], stacks, held=at)
    assert v.shape == (5, 3, 3)
    for i in range(5):
        one_q, one_v = robot.project([0.5, 0.5, 2.0], stacks[i], held={"crank": at["crank"][i]})
        np.testing.assert_allclose(q[i], one_q, atol=1e-13)
        np.testing.assert_allclose(v[i], one_v, atol=1e-12)


def test_the_rates_of_what_is_held_are_kept() -> None:
    """And those of the others are the derivatives of the closed form along them."""
    robot, h = four_bar(), 1e-3
    q0 = closed_form(np.array(0.7))
    given = np.zeros((3, 3))
    given[:, 0] = 2.0, -3.0, 5.0  # of the crank: velocity, acceleration, jerk
    q, v = robot.project(q0, given, held=["crank"])
    np.testing.assert_allclose(q, q0, rtol=1e-11)
    np.testing.assert_array_equal(v[:, 0], given[:, 0])
    t = h * np.arange(-4, 5)
    moved = closed_form(0.7 + 2.0 * t - 3.0 * t**2 / 2 + 5.0 * t**3 / 6)
    series = np.polynomial.polynomial.polyfit(t / h, np.unwrap(moved, axis=0), 8)
    expected = series[1:4] * np.array([1, 2, 6])[:, None] / h ** np.arange(1, 4)[:, None]
    np.testing.assert_allclose(v, expected, rtol=1e-6)
    both = robot.project(q0, given[0], held=["crank"])[1]
    np.testing.assert_allclose(both, v[0], rtol=1e-13)


def test_what_contradicts_is_said() -> None:
    robot = four_bar()
    with pytest.raises(jn.ConstraintError, match=r"^q cannot be brought onto the constraints with these joints held"):
        robot.project([0.5, 0.5, 2.0], held={"crank": 0.5, "rocker": 0.0})
    q = closed_form(np.array([0.2, 0.7]))
    with pytest.raises(
        jn.ConstraintError,
        match=r"^v cannot be brought onto the constraints with these joints held: .*, mostly in 'pin', in state 0$",
    ):
        robot.project(q, [1.0, 0.0, 1.0], held=["crank", "rocker"])
    with pytest.raises(jn.ConstraintError, match=r"^row 1 of v cannot be brought"):
        robot.project(
            q[1], robot.project(q[1], np.eye(3)[[0, 0]])[1] + np.outer([0, 1], [1, 1, 1]), held=["crank", "rocker"]
        )
    said = r"held\['crank'\] has shape \(25,\), expected \(\.\.\., 1\) or a number: for several states, \(T, 1\)$"
    with pytest.raises(ValueError, match=said):
        robot.project(q, held={"crank": ELBOW["crank"][:, 0]})
    with pytest.raises(ValueError, match=r"the batch dimensions do not broadcast: q \(2,\), held\['crank'\] \(25,\)"):
        robot.project(q, held=ELBOW)


def test_single_coordinates_are_held() -> None:
    """Of a joint without a quaternion."""
    b = jn.Builder()
    spring = {"stiffness": 5.0}
    b.add("drone", "world", jn.Free(name="base", stiffness=50.0), inertia=jn.Inertia.box(1.0, (0.2, 0.2, 0.1)))
    b.add("hand", "drone", jn.Universal(name="wrist", **spring), inertia=jn.Inertia(0.5, (0.1, 0.2, 0.3)))
    robot = b.build()
    rest = robot.equilibrium(held={"wrist.1": 0.3})
    assert rest.q[robot.position("wrist.1")] == 0.3
    assert rest.reactions["wrist.1"].shape == (1,)
    still = np.zeros(robot.nv)
    left = robot.inverse_dynamics(rest.q, still, still)
    np.testing.assert_allclose(left[robot.coordinate("wrist.1")], rest.reactions["wrist.1"], rtol=1e-12)
    np.testing.assert_allclose(np.delete(left, robot.coordinate("wrist.1")), 0, atol=1e-9)
    np.testing.assert_allclose(robot.equilibrium(held=["wrist.0", "wrist.1"]).q, robot.equilibrium(held=["wrist"]).q)
    for call in (robot.equilibrium, lambda held: robot.project(robot.neutral(), held=held)):
        for name in ("base.vz", "base.z"):
            with pytest.raises(ValueError, match=rf"^held: '{name}' is no coordinate that can be held, .* 'base', or"):
                call(held=[name])


@pytest.mark.parametrize("kind", EVERY)
def test_what_is_held_in_any_robot(kind: str) -> None:
    """Holding all that is independent, at a state that obeys, changes nothing; positions given are where it is."""
    robot = EVERY[kind]
    model, q = robot.model, robot.configuration(np.random.default_rng(1), ())
    free = [n for n in model.independent_coordinates(q).names if n in set(names(model).q)]
    np.testing.assert_allclose(model.difference(q, model.project(q, held=free)), 0, atol=1e-9)
    at = {n: q[model.position(n)] for n in free}
    np.testing.assert_array_equal(model.project(q, held=at), model.project(q, held=free))
    v = model.project(q, np.ones(model.nv), held=free)[1]
    for name in free:
        np.testing.assert_array_equal(v[model.coordinate(name)], 1.0)
