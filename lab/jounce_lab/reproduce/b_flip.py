"""The linearization through a flip, on the group and in roll, pitch and yaw: a claim of B-section5."""

from __future__ import annotations

import numpy as np

from jounce import robots

from .claims import Array, Claim, judged

_RATE = 6.0  # rad/s, of the pitch


def flip(steps: int) -> tuple[Array, Array, Array]:
    """Pitch (T,) of a loop, and the norms of A along it: on the group, and with roll, pitch and yaw as coordinates.

    A rotation z of the body changes the angles by E^-1 z, where E takes their rates to the angular velocity. In angles
    A is therefore T A T^-1 + T' T^-1, with E^-1 in the attitude's rows of T; at roll zero E is a function of the pitch.
    """
    robot = robots.quadrotor_arm()
    pitch = np.linspace(0.0, 2 * np.pi, steps)
    v = np.zeros(robot.nv)
    v[4] = _RATE
    q = np.zeros((steps, robot.nq))
    q[:, 4], q[:, 6] = np.sin(pitch / 2), np.cos(pitch / 2)
    A = robot.linearize(q, np.broadcast_to(v, (steps, robot.nv)), robot.gravity_force(q)).A
    in_angles = [_norm_in_angles(*pair) for pair in zip(pitch, A, strict=True)]
    return pitch, np.linalg.norm(A, 2, axis=(1, 2)), np.array(in_angles)


def _norm_in_angles(pitch: float, A: Array) -> float:
    s, c = np.sin(pitch), np.cos(pitch)
    if abs(c) < 1e-12:
        return np.inf
    E = np.array([[1, 0, -s], [0, 1, 0], [0, 0, c]])
    rate = _RATE * np.array([[0, 0, -c], [0, 0, 0], [0, 0, -s]])
    T, back, moving = np.eye(len(A)), np.eye(len(A)), np.zeros_like(A)
    T[3:6, 3:6], back[3:6, 3:6] = np.linalg.inv(E), E
    moving[3:6, 3:6] = -np.linalg.inv(E) @ rate  # (E^-1)' E
    return float(np.linalg.norm(T @ A @ back + moving, 2))


def flip_claim(ours: Array, angles: Array) -> Claim:
    """From the norms of `flip`."""
    return judged(
        "The linearization has no singularity: norm of A along a loop of pitch, largest over smallest; in roll, pitch "
        "and yaw it is infinite at ±90 degrees",
        "B, abstract, requirement SF",
        "",
        [float(ours.max() / ours.min()), f"{angles.max() / angles.min():.0e} in angles".replace("inf", "infinite")],
        bool(np.isfinite(ours).all() and ours.max() / ours.min() < 10),
        "quadrotor_arm at 6 rad/s. examples/flip.py flies it, with regulators from both.",
    )
