"""Paper B's section 5: the robot of nine joints, its random states, and the differences (82)-(87)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..builder import Builder
from ..inertia import Inertia
from ..joints import Free, Helical, Joint, Prismatic, Revolute
from ..model import Model
from .claims import Array

PUBLISHED_MAX = np.array([4.1023e-5, 4.6853e-3, 1.8230e-5, 1.5693e-4])  # (88)-(91): e^max of D_1 to D_4
PUBLISHED_AVG = np.array([2.3560e-6, 1.3604e-4, 1.3021e-6, 1.3766e-6])
PARENTS = (-1, 0, 1, 1, 0, 4, 4, 0, 7, 7)  # branches at the base, at bodies 1, 4 and 7
LEFT_OUT = [
    ("the parents in the tree of Fig. 4", "branches at the base and at bodies 1, 4 and 7"),
    (
        "how inertia matrices with uniform entries, of which the positive definite ones are kept, are made those of "
        "bodies",
        "principal moments and axes are drawn, and those that a real body has are kept",
    ),
    ("the seed", "0; averages in (86), (87) run over the matrices' entries, too, since D₁ has columns that are zero"),
]


def random_robot(rng: np.random.Generator) -> Model:
    """Each joint type along x, y and z; geometry and inertia uniform in [0, 1], orientations by the exponential map."""
    axes, builder = np.eye(3), Builder()
    for i, parent in enumerate(PARENTS):
        rotational = _rotational(rng)
        mass, com, pitch = rng.uniform(), rng.uniform(size=3), rng.uniform()
        kinds: list[Joint] = [
            Revolute(axes[(i - 1) % 3]),
            Prismatic(axes[(i - 1) % 3]),
            Helical(axes[(i - 1) % 3], pitch),
        ]
        joint: Joint = Free() if i == 0 else kinds[(i - 1) // 3]
        placement = np.eye(4) if i == 0 else exponential(rng.uniform(size=6))
        builder.add(f"b{i}", f"b{parent}" if i else "world", joint, placement, Inertia(mass, com, rotational))
    return builder.build()


def random_state(rng: np.random.Generator, robot: Model) -> tuple[Array, Array, Array]:
    """q, v and tau, uniform in [0, 1], the base moving as no wrench on it makes it move (Definition 3.1)."""
    w = rng.uniform(size=3)
    angle = np.linalg.norm(w)
    q = np.concatenate([rng.uniform(size=3), np.sin(angle / 2) * w / angle, [np.cos(angle / 2)], rng.uniform(size=9)])
    world = np.concatenate([rng.uniform(size=6), rng.uniform(size=9)])
    v = robot.change_velocity_frame(q, world[None], "world", "body")[0]
    acc = np.append(np.zeros(6), rng.uniform(size=9))
    _, tau = robot.hybrid_dynamics(q, v, acc, np.zeros(15), prescribed=np.arange(15) >= 6)
    return q, v, tau


def differences(robot: Model, q: Array, v: Array, tau: Array, deltas: Sequence[float]) -> Array:
    """(len(deltas), 15, 30): D_1 to D_4 of the forward dynamics by one-sided differences, (82)-(85)."""
    steps = np.multiply.outer(np.asarray(deltas), np.eye(15))
    moved = robot.forward_dynamics(robot.integrate(q, steps), v, tau)
    pushed = robot.forward_dynamics(q, v + steps, tau)
    change = np.concatenate([moved, pushed], axis=1) - robot.forward_dynamics(q, v, tau)
    return np.asarray(np.swapaxes(change, -1, -2) / np.reshape(deltas, (-1, 1, 1)))


def difference_errors(
    deltas: Sequence[float], states: int, tell: Callable[[float], None] = lambda _: None
) -> tuple[Array, Array]:
    """e^max and e^avg, (86) and (87), of D_1 to D_4, each (len(deltas), 4), over random robots and states, seed 0."""
    rng = np.random.default_rng(0)
    exact, approximate = [], []
    for n in range(states):
        tell(n / states)
        robot = random_robot(rng)
        q, v, tau = random_state(rng, robot)
        exact.append(robot.linearize(q, v, tau).A[15:])
        approximate.append(differences(robot, q, v, tau, deltas))
    both = [errors(np.array(exact), column) for column in np.moveaxis(np.array(approximate), 1, 0)]
    return np.array([e[0] for e in both]), np.array([e[1] for e in both])


def errors(derivative: Array, difference: Array) -> tuple[Array, Array]:
    """(86), (87), from [D_1 FD, D_2 FD, D_3 FD, D_4 FD] of all states (E, 15, 30)."""
    ends = [6, 15, 21]
    pairs = zip(np.split(derivative, ends, axis=-1), np.split(difference, ends, axis=-1), strict=True)
    ratios = [np.abs(alg - fin) / np.abs(alg).mean() for alg, fin in pairs]
    return np.array([r.max() for r in ratios]), np.array([r.mean() for r in ratios])


def exponential(twist: Array) -> Array:
    """exp of a twist [linear; angular] on SE(3), by its series."""
    x, y, z = twist[3:]
    G = np.zeros((4, 4))
    G[:3, :3], G[:3, 3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]], twist[:3]
    H = term = np.eye(4)
    for k in range(1, 30):
        term = term @ G / k
        H = H + term
    return H


def _rotational(rng: np.random.Generator) -> Array:
    while True:
        moments = rng.uniform(size=3)
        if 2 * moments.max() < moments.sum():
            turn = exponential(rng.uniform(size=6))[:3, :3]
            return np.asarray(turn @ np.diag(moments) @ turn.T)
