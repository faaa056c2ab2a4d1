"""A contact without a pose is held where its frame is at the q of the call, by every call."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import jounce as jn
from test_constraints_derivatives import JOINTS, OTHERS, arms

Answer = tuple[np.ndarray, ...]
Ask = Callable[[jn.Model], Answer]


def questions(q: np.ndarray, v: np.ndarray, rng: np.random.Generator) -> dict[str, Ask]:
    """All calls that constraints have a say in, by name; the velocity need not obey."""
    n = len(v)
    tau, off = rng.normal(size=(3, n)), v + 0.2 * rng.normal(size=n)
    stack = np.concatenate([off[None], rng.normal(size=(2, n))])
    held = np.zeros(n, bool)

    def dynamics(**options: object) -> Ask:
        def ask(m: jn.Model) -> Answer:
            found = m.constrained_dynamics(q, off, tau, **options)  # type: ignore[arg-type]
            return found.acc, found.multipliers, *found.forces.values()

        return ask

    def derivatives(tau: np.ndarray, axes: str) -> Ask:
        def ask(m: jn.Model) -> Answer:
            d = m.constrained_dynamics_derivatives(q, off, tau, wrench_frame=axes)  # type: ignore[arg-type]
            parts = [each for of in (d.forces, d.forces_q, d.forces_v, d.forces_tau) for each in of.values()]
            return d.acc, d.acc_q, d.acc_v, d.acc_tau, d.jacobian, d.speed_q, *parts

        return ask

    def inverse(m: jn.Model) -> Answer:
        found = m.constrained_inverse_dynamics(q, m.project(q, stack)[1])
        return found.tau, found.multipliers, *found.forces.values()

    def linear(m: jn.Model) -> Answer:
        found = m.linearize(q, off, tau[0])
        return found.A, found.B, found.lift @ found.independent

    def impact(m: jn.Model) -> Answer:
        found = m.impact(q, off)
        return found.v, found.multipliers, *found.impulses.values()

    return {
        "constrained_dynamics": dynamics(wrench_frame="mixed"),
        "with correction": dynamics(correction=(30.0, 10.0)),
        "derivatives": derivatives(tau[0], "body"),
        "derivatives of stacks": derivatives(tau, "world"),
        "forward_dynamics": lambda m: (m.forward_dynamics(q, off, tau),),
        "forward_dynamics_derivatives": lambda m: m.forward_dynamics_derivatives(q, off, tau),
        "hybrid_dynamics": lambda m: m.hybrid_dynamics(q, off, tau, tau, prescribed=held),
        "constrained_inverse_dynamics": inverse,
        "linearize": linear,
        "impact": impact,
        "constraint_jacobian": lambda m: (m.constraint_jacobian(q), m.constraint_jacobian_derivatives(q, stack)),
        "inverse_constraint_inertia": lambda m: (m.inverse_constraint_inertia(q),),
        "independent_coordinates": lambda m: (m.independent_coordinates(q).G,),
        "residual": lambda m: m.residual(q, off),
        "project": lambda m: m.project(q, stack),
        "simulate": lambda m: tuple(getattr(jn.simulate(m, q, v, [0.0, 0.01], tau[0]), x) for x in "qva"),
    }


@pytest.mark.parametrize("name", [*JOINTS, "on plane", "on line"])
def test_it_is_held_where_it_is(name: str) -> None:
    """Where the frame is, with its axes; those of planes and lines are the world's."""
    rng = np.random.default_rng(5)
    kind = (JOINTS | OTHERS)[name](rng)
    free = arms(rng).build()
    bare = free.constrained({"a3": kind})
    q = bare.random_configuration(rng)
    v = bare.project(q, rng.normal(size=bare.nv))[1]
    pose = free.pose("a3", q)
    if name in OTHERS:
        pose[:3, :3] = np.eye(3)
    placed = free.constrained({"a3": jn.Contact(kind, pose)})
    for call, ask in questions(q, v, rng).items():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "kp = 30", jn.ConstraintWarning)
            mine, other = ask(bare), ask(placed)
        for k, (a, b) in enumerate(zip(mine, other, strict=True)):
            size = max(float(np.abs(b).max(initial=0.0)), 1.0)
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-9 * size, err_msg=f"{call} {k}")


def test_a_call_that_can_do_nothing_says_so() -> None:
    b = arms(np.random.default_rng(0))
    robot = b.build().constrained({"a3": jn.Spherical()})
    q, v = robot.neutral(), np.zeros(robot.nv)
    with pytest.warns(
        jn.ConstraintWarning, match=r"project\(q\) changes nothing: a contact without a pose, such as 'a3'"
    ):
        np.testing.assert_array_equal(robot.project(q), q)
    with pytest.warns(
        jn.ConstraintWarning, match=r"kp = 3 of correction= has no effect: .*jounce.Contact\(kind, pose="
    ):
        robot.constrained_dynamics(q, v, v, correction=(3.0, 1.0))
    robot.project(q, v)
    robot.constrained_dynamics(q, v, v, correction=(0.0, 1.0))
    b.close("loop", "a0", "b0", jn.Gear((0.0, 1.0)))
    both = b.build().constrained({"a3": jn.Spherical()})
    both.project(q)
    both.constrained_dynamics(q, v, v, correction=(3.0, 1.0))


def test_rates_of_the_jacobian_are_those_of_a_contact_that_stays() -> None:
    """Not of the Jacobian of a contact that is held anew at every q."""
    rng = np.random.default_rng(2)
    free = arms(rng).build()
    robot, h = free.constrained({"a3": jn.Revolute((1, 2, 3))}), 1e-5
    q, v = free.random_configuration(rng), rng.normal(size=free.nv)
    placed = free.constrained({"a3": jn.Contact(jn.Revolute((1, 2, 3)), free.pose("a3", q))})
    rate = robot.constraint_jacobian_derivatives(q, v[None])[1]
    ahead, behind = (free.integrate(q, s * h * v) for s in (1, -1))
    stays, anew = ((m.constraint_jacobian(ahead) - m.constraint_jacobian(behind)) / (2 * h) for m in (placed, robot))
    np.testing.assert_allclose(rate, stays, atol=1e-7)
    assert np.abs(rate - anew).max() > 0.1
