"""Paper B's section 5: the robot with nine joints, its random states, and the differences (82)-(87)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jounce.builder import Builder
from jounce.model import Model
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Free, Helical, Joint, Prismatic, Revolute

from .claims import Array
from .paper_b import Tree, base_pose, extended, hat, transform
from .paper_b_inverse import forward_dynamics, linearization

PUBLISHED_MAX = np.array([4.1023e-5, 4.6853e-3, 1.8230e-5, 1.5693e-4])  # (88)-(91): e^max of D_1 to D_4
PUBLISHED_AVG = np.array([2.3560e-6, 1.3604e-4, 1.3021e-6, 1.3766e-6])
PARENTS = (-1, 0, 1, 1, 0, 4, 4, 0, 7, 7)  # branches at the base, at bodies 1, 4 and 7
LEFT_OUT = [
    ("the parents in the tree of Fig. 4", "branches at the base and at bodies 1, 4 and 7"),
    (
        "how matrices with uniform entries are made symmetric",
        "the mean of a matrix and its transpose; of 9,000 one is positive definite, and those are kept",
    ),
    ("the seed", "0; averages in (86), (87) run over the matrices' entries, too, since D₁ has columns that are zero"),
]
REAL = "Principal moments, axes, masses and centres of mass are drawn, so that the bodies can be real."


def random_robot(rng: np.random.Generator) -> Model:
    """Real bodies: each joint type along x, y and z; all uniform in [0, 1], orientations by the exponential map."""
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


def random_tree(rng: np.random.Generator) -> Tree:
    """The same with inertias as the paper draws them, which no real body has and which a model rejects."""
    axes, screws = np.eye(6), [np.zeros(6)]
    for i in range(9):
        slide = (0.0, 1.0, rng.uniform())[i // 3]
        screws.append(slide * axes[i % 3] + (i // 3 != 1) * axes[3 + i % 3])
    placements = [np.eye(4), *(exponential(rng.uniform(size=6)) for _ in range(9))]
    return Tree(PARENTS, placements, screws, random_inertias(rng, 10), np.array([0.0, 0.0, -9.81]))


def random_inertias(rng: np.random.Generator, count: int) -> list[Array]:
    """Symmetric (6, 6), the mean of a matrix of uniform entries and its transpose, if positive definite.

    They are drawn row by row, and rejected at the first leading minor that is not positive.
    """
    found: list[Array] = []
    while len(found) < count:
        kept = np.zeros((20000, 0, 0))
        for n in range(1, 7):
            row = rng.uniform(size=(2, len(kept), n)).mean(axis=0)
            row[:, -1] = rng.uniform(size=len(kept))
            grown = np.zeros((len(kept), n, n))
            grown[:, :-1, :-1], grown[:, -1], grown[:, :, -1] = kept, row, row
            kept = grown[(_small_minor(grown) if n < 3 else np.linalg.det(grown)) > 0]
        found += list(kept)
    return found[:count]


def _small_minor(A: Array) -> Array:
    """Determinants of many 1 x 1 or 2 x 2 matrices."""
    return np.asarray(A[:, 0, 0] if A.shape[1] == 1 else A[:, 0, 0] * A[:, 1, 1] - A[:, 0, 1] ** 2)


def random_state(rng: np.random.Generator, robot: Model) -> tuple[Array, Array, Array]:
    """q, v and tau, uniform in [0, 1], with no wrench on the base, which moves accordingly (Definition 3.1)."""
    q, world, joints = _drawn(rng)
    v = robot.change_velocity_frame(q, world[None], "world", "body")[0]
    acc = np.append(np.zeros(6), joints)
    _, tau = robot.hybrid_dynamics(q, v, acc, np.zeros(15), prescribed=np.arange(15) >= 6)
    return q, v, tau


def random_state_of_tree(rng: np.random.Generator, tree: Tree) -> tuple[Array, Array, Array]:
    """q, v and the accelerations without a wrench on the base (third remark below Table 4)."""
    q, world, joints = _drawn(rng)
    v = np.append(transform(np.linalg.inv(base_pose(tree, q))) @ world[:6], world[6:])
    e = extended(tree, q, v, np.append(np.zeros(6), joints))
    return q, v, np.append(-np.linalg.solve(e.Mc[0], e.bc[0]), joints)


def _drawn(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """q, the base twist in the world and the joint rates, and the joint accelerations."""
    w = rng.uniform(size=3)
    angle = np.linalg.norm(w)
    q = np.concatenate([rng.uniform(size=3), np.sin(angle / 2) * w / angle, [np.cos(angle / 2)], rng.uniform(size=9)])
    return q, np.concatenate([rng.uniform(size=6), rng.uniform(size=9)]), rng.uniform(size=9)


def differences(robot: Model, q: Array, v: Array, tau: Array, deltas: Sequence[float]) -> Array:
    """(len(deltas), 15, 30): D_1 to D_4 of the forward dynamics by one-sided differences, (82)-(85)."""
    steps = np.multiply.outer(np.asarray(deltas), np.eye(15))
    moved = robot.forward_dynamics(robot.integrate(q, steps), v, tau)
    pushed = robot.forward_dynamics(q, v + steps, tau)
    change = np.concatenate([moved, pushed], axis=1) - robot.forward_dynamics(q, v, tau)
    return np.asarray(np.swapaxes(change, -1, -2) / np.reshape(deltas, (-1, 1, 1)))


def central_differences(robot: Model, q: Array, v: Array, tau: Array, deltas: Sequence[float]) -> Array:
    """The same by central differences."""
    ahead, behind = (differences(robot, q, v, tau, [sign * d for d in deltas]) for sign in (1, -1))
    return (ahead + behind) / 2


def difference_errors(
    deltas: Sequence[float],
    states: int,
    tell: Callable[[float], None] = lambda _: None,
    by: Callable[[Model, Array, Array, Array, Sequence[float]], Array] = differences,
) -> tuple[Array, Array]:
    """e^max and e^avg, (86) and (87), of D_1 to D_4, each (len(deltas), 4), over random robots and states, seed 0.

    Args:
        by: which differences `linearize` is compared with.
    """
    rng = np.random.default_rng(0)
    exact, approximate = [], []
    for n in range(states):
        tell(n / states)
        robot = random_robot(rng)
        q, v, tau = random_state(rng, robot)
        exact.append(robot.linearize(q, v, tau).A[15:])
        approximate.append(by(robot, q, v, tau, deltas))
    both = [errors(np.array(exact), column) for column in np.moveaxis(np.array(approximate), 1, 0)]
    return np.array([e[0] for e in both]), np.array([e[1] for e in both])


def table_errors(
    delta: float, states: int, tell: Callable[[float], None] = lambda _: None, seed: int = 0
) -> tuple[Array, Array]:
    """e^max and e^avg, each (4,), with inertias as the paper draws them: Tables 4 to 9 against (82)-(85)."""
    rng = np.random.default_rng(seed)
    exact, approximate = [], []
    for n in range(states):
        tell(n / states)
        tree = random_tree(rng)
        q, v, a = random_state_of_tree(rng, tree)
        tau = np.append(np.zeros(6), extended(tree, q, v, a).tau[6:])
        exact.append(linearization(tree, q, v, a)[0][15:])
        approximate.append(_tree_differences(tree, q, v, tau, delta))
    return errors(np.array(exact), np.array(approximate))


def _tree_differences(tree: Tree, q: Array, v: Array, tau: Array, delta: float) -> Array:
    here, columns = forward_dynamics(tree, q, v, tau), []
    for d in delta * np.eye(15):
        columns.append(forward_dynamics(tree, _moved(q, d), v, tau) - here)
    for d in delta * np.eye(15):
        columns.append(forward_dynamics(tree, q, v + d, tau) - here)
    return np.stack(columns, axis=1) / delta


def _moved(q: Array, d: Array) -> Array:
    """H exp(d), s + d, as in (82) and (83), for a d along one axis."""
    (x, y, z), w = q[3:6], q[6]
    angle = np.linalg.norm(d[3:6])
    u = np.append(np.sinc(angle / 2 / np.pi) / 2 * d[3:6], np.cos(angle / 2))
    turn = np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])
    R = np.eye(3) + 2 * w * hat(q[3:6]) + 2 * hat(q[3:6]) @ hat(q[3:6])
    return np.concatenate([q[:3] + R @ d[:3], turn @ u, q[7:] + d[6:]])


def errors(derivative: Array, difference: Array) -> tuple[Array, Array]:
    """(86), (87), from [D_1 FD, D_2 FD, D_3 FD, D_4 FD] of all states (E, 15, 30)."""
    ends = [6, 15, 21]
    pairs = zip(np.split(derivative, ends, axis=-1), np.split(difference, ends, axis=-1), strict=True)
    ratios = [np.abs(alg - fin) / np.abs(alg).mean() for alg, fin in pairs]
    return np.array([r.max() for r in ratios]), np.array([r.mean() for r in ratios])


def exponential(twist: Array) -> Array:
    """exp of a twist [linear; angular] on SE(3), by its series."""
    G = np.zeros((4, 4))
    G[:3, :3], G[:3, 3] = hat(twist[3:]), twist[:3]
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
