"""The linear systems of the races of control: a flying robot near its hover, with rotors and arms as inputs."""

from __future__ import annotations

import numpy as np

from jounce.dynamics.linearization import Linearization

from .race import Array, Problem

CONTROL = ("regulator", "discrete time", "regulators")
KNOTS, STEP = 20, 0.01  # s


def hovering(problem: Problem) -> Linearization | None:
    """At one state, or at the knots of a short motion; None for other quantities."""
    if problem.quantity not in CONTROL:
        return None
    robot = problem.model
    q, v = robot.neutral(), np.zeros(robot.nv)
    if problem.quantity != "regulator":
        rng = np.random.default_rng(2)
        rates = 0.3 * rng.normal(size=robot.nv)
        q, v = robot.integrate(q, horizon(problem)[:, None] * rates), np.tile(rates, (problem.states, 1))
    return robot.linearize(q, v, robot.gravity_force(q), actuated=range(2, robot.nv))


def horizon(problem: Problem) -> Array:
    """The times of the knots."""
    times: Array = STEP * np.arange(float(problem.states))
    return times


def regulated(lin: Linearization) -> tuple[Array, Array]:
    """Q and R."""
    return np.eye(lin.A.shape[-1]), 10.0 * np.eye(lin.B.shape[-1])
