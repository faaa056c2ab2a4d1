"""Constraints and rounding errors: motions that obey them but for these, places that are reached slowly, held axes."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn

LINK = jn.Inertia(1.0, com=(0.2, 0, 0.1), rotational=(0.02, 0.03, 0.04))


def held_arm() -> jn.Model:
    b = jn.Builder()
    b.add("base", "world", jn.Free(), inertia=jn.Inertia(5.0, rotational=(0.1, 0.1, 0.1)))
    b.add("arm", "base", jn.Revolute((0, 1, 0)), inertia=LINK)
    return b.build().constrained({"base": jn.Fixed()})


@pytest.mark.parametrize("rows", [1, 3, 5])
def test_motions_that_were_computed_are_accepted(rows: int) -> None:
    """The base is held: its accelerations, 1e-15 and the like, are the rounding errors of those of the arm."""
    robot, rng = held_arm(), np.random.default_rng(0)
    for _ in range(20):
        q, v = robot.project(robot.random_configuration(rng), rng.normal(size=robot.nv))
        tau = np.zeros((rows, robot.nv))
        acc = robot.constrained_dynamics(q, v, tau).acc
        again, _ = robot.hybrid_dynamics(q, v, acc, tau, prescribed=["base"])
        np.testing.assert_allclose(again, acc, rtol=1e-9, atol=1e-9 * np.abs(acc).max())
        robot.constrained_inverse_dynamics(q, np.concatenate([v[None], acc]))


def test_fast_motions_that_were_computed_are_accepted() -> None:
    """At 20 rad/s, derivatives grow by 20 each; the rounding errors of the base's with those of the arm."""
    robot, rng = held_arm(), np.random.default_rng(0)
    for _ in range(50):
        q, v = robot.project(robot.random_configuration(rng), 20 * rng.normal(size=robot.nv))
        acc = robot.constrained_dynamics(q, v, np.zeros((6, robot.nv))).acc
        robot.constrained_inverse_dynamics(q, np.concatenate([v[None], acc]))


def test_motions_that_break_a_constraint_are_not() -> None:
    robot = held_arm()
    q, v = robot.project(robot.neutral(), np.zeros(robot.nv))
    acc = robot.constrained_dynamics(q, v, np.zeros(robot.nv)).acc
    acc[2] += 1e-3
    with pytest.raises(
        jn.ConstraintError, match=r"^constraint 'base' contradicts others, or a prescribed acceleration"
    ):
        robot.hybrid_dynamics(q, v, acc, np.zeros(robot.nv), prescribed=["base"])
    with pytest.raises(jn.ConstraintError, match=r"^the motion breaks constraint 'base'"):
        robot.constrained_inverse_dynamics(q, np.stack([v, acc]))


def test_a_gear_at_rest() -> None:
    b = jn.Builder()
    for name in ("a", "b"):
        b.add(name, "world", jn.Revolute((0, 1, 0)), inertia=LINK)
    b.close("gear", "a", "b", jn.Gear((0.0, -0.25)))
    robot, still = b.build(), np.zeros(2)
    robot.hybrid_dynamics(still, still, [1e-15, 0.0], still, prescribed=["a", "b"])
    with pytest.raises(jn.ConstraintError, match="contradicts"):
        robot.hybrid_dynamics(still, still, [1e-3, 0.0], still, prescribed=["a", "b"])


def test_a_wheel_is_put_on_its_plane() -> None:
    """Its height alone is a matter of positions: rows that forbid it to slip only slow the way down."""
    b = jn.Builder()
    b.add("arm", "world", jn.Revolute((0, 1, 0)), jn.placement((0, 0, 1.0)), LINK)
    b.add("ball", "arm", jn.Fixed(), jn.placement((1.0, 0, 0)), LINK)
    plane = jn.placement((0, 0, -0.05))
    robot = b.build().constrained({"ball": jn.Contact(jn.Rolling(0.1, normal=(0, 0, 1)), pose=plane)})
    q = robot.project([0.1])
    assert np.abs(robot.residual(q)).max() < 1e-13
    np.testing.assert_allclose(robot.pose("ball", q)[2, 3], 0.05, atol=1e-12)


@pytest.mark.parametrize("method", ["taylor", "rkmk", "implicit"])
def test_axes_stay_in_the_world(method: str) -> None:
    """A contact without a pose is held where it is at the start; the first axis of a universal joint with it."""
    b = jn.Builder()
    b.add("base", "world", jn.Free(), inertia=jn.Inertia(1.0, (0.1, 0.05, -0.2), (0.1, 0.12, 0.08)))
    robot = b.build()
    bare = robot.constrained({"base": jn.Universal()})
    placed = robot.constrained({"base": jn.Contact(jn.Universal(), pose=robot.pose("base", robot.neutral()))})
    q, v = placed.project(robot.neutral(), np.random.default_rng(0).normal(size=6))
    runs = [jn.simulate(each, q, v, np.linspace(0, 1, 6), method=method) for each in (bare, placed)]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    assert np.abs(placed.residual(runs[0].q[-1])).max() < 1e-9
    mine, other = (each.linearize(q, v, np.zeros(6)) for each in (bare, placed))
    np.testing.assert_allclose(mine.A, other.A, rtol=0, atol=1e-12 * np.abs(other.A).max())
