"""Paper A's section 7: forces along the reference motion, the motion back from the forces, and the time per call."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jounce.model import Model
from jounce.robots import HORIZON, STEP, Array, reference_motion

ORDER = 5


@dataclass(frozen=True, eq=False)
class Flight:
    """The reference motion, the forces it takes and the motion computed back from them; base rows in world axes."""

    time: Array  # (T,) s
    q: Array  # (T, nq)
    v: Array  # (T, ORDER + 2, nv)
    tau: Array  # (T, ORDER + 1, nv), from inverse dynamics
    back: Array  # (T, ORDER + 1, nv), from forward dynamics: should be v[:, 1:]
    wrench: Array  # (T, ORDER + 1, 6) on the base, [force; moment] in its own axes, and derivatives
    inverse: list[float]  # µs per call, single state, for each order
    forward: list[float]


def fly(robot: Model, advance: Callable[[], None] = lambda: None, step: float = STEP, repeats: int = 5) -> Flight:
    """Inverse dynamics along the reference motion, forward dynamics back, and the time per call at each order.

    Args:
        advance: called 2 ORDER + 3 times along the way.
        step: of the motion, s.
        repeats: how often each time is measured; the best counts.
    """
    t = np.arange(0.0, HORIZON, step)
    q, mixed = reference_motion(t, ORDER + 2)
    v = robot.change_velocity_frame(q, mixed, "mixed", "world")
    tau = robot.inverse_dynamics(q, v, frame="world")
    back = robot.forward_dynamics(q, v[:, 0], tau, frame="world")
    body = robot.change_velocity_frame(q, v, "world", "body")
    forces = robot.inverse_dynamics(q, body)
    advance()
    inverse, forward = [], []
    for order in range(ORDER + 1):
        stacks = np.ascontiguousarray(body[:, : order + 2])
        inverse.append(_microseconds(robot.inverse_dynamics, (q, stacks), repeats))
        advance()
        given = np.ascontiguousarray(forces[:, : order + 1])
        forward.append(_microseconds(robot.forward_dynamics, (q, np.ascontiguousarray(body[:, 0]), given), repeats))
        advance()
    return Flight(t, q, v, tau, back, forces[:, :, :6], inverse, forward)


def _microseconds(call: Callable[..., object], batches: tuple[Array, ...], repeats: int) -> float:
    """Mean time of a call, one state each, over the whole flight; the best of several flights."""
    best = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        for state in zip(*batches, strict=True):
            call(*state)
        best = min(best, (time.perf_counter() - begin) / len(batches[0]))
    return float(best * 1e6)


def derivative_error(flight: Flight) -> list[float]:
    """How far each row of forces is from the slope of the row before it, relative to its magnitude.

    The slope is an eighth-order central difference over time, independent of the dynamics.
    """
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    weights /= flight.time[1] - flight.time[0]
    errors = []
    for k in range(ORDER):
        slope = sum(w * flight.tau[i : len(flight.tau) - 8 + i, k] for i, w in enumerate(weights))
        row = flight.tau[4:-4, k + 1]
        errors.append(float(np.abs(slope - row).max() / np.abs(row).max()))
    return errors


def round_trip_error(flight: Flight) -> list[float]:
    """Relative deviation of forward dynamics from the motion given to inverse dynamics, for each order."""
    off, size = np.abs(flight.back - flight.v[:, 1:]), np.abs(flight.v[:, 1:])
    return [float(off[:, k].max() / size[:, k].max()) for k in range(ORDER + 1)]
