"""Paper A's future work: inverse dynamics of any order in body axes, in the hybrid frame and in world axes, counted.

All three run over Taylor series in time and use what each frame makes easy:

    body     velocities and wrenches are turned from body to body; W = [w'] + [w]^2 gives a + W c and, with diagonal
             inertia I, the moment I w' + w x I w
    hybrid   world axes, moments about each body's origin: rotations R_j = R_p E as series; accelerations are those of
             positions, and moments those of the angular momentum R I R^T w; levers in the backward sweep
    world    the same about the world's origin, as in the paper's spatial representation: screws, but no levers

for trees like paper A's: joints about coordinate axes, links placed by translations, diagonal inertias. Additions and
multiplications are counted; those by 0 and 1 are left out, and so is what the base's given motion takes.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from jounce import robots
from jounce._checks import Frame
from jounce.model import Model

from .claims import Array, off

_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
FRAMES: dict[str, Frame] = {"body": "body", "hybrid": "mixed", "world": "world"}


class Series:
    """Arithmetic of Taylor series (..., K), counted."""

    def __init__(self) -> None:
        self.made = 0

    def times(self, a: Array, b: Array) -> Array:
        """The product of series, entry by entry, as long as the shorter one."""
        K = min(a.shape[-1], b.shape[-1])
        a, b = a[..., :K], b[..., :K]
        result = np.stack([(a[..., : k + 1] * b[..., k::-1]).sum(axis=-1) for k in range(K)], axis=-1)
        self.made += K * K * (result.size // K)  # K (K + 1) / 2 products, K (K - 1) / 2 sums
        return np.asarray(result)

    def plus(self, *terms: Array) -> Array:
        K = min(x.shape[-1] for x in terms)
        self.made += (len(terms) - 1) * terms[0][..., :K].size
        return np.asarray(sum(x[..., :K] for x in terms))

    def minus(self, a: Array, b: Array) -> Array:
        return self.plus(a, -b)

    def scaled(self, constants: Array, a: Array) -> Array:
        """Each series of a (n, K) times its constant."""
        self.made += a.shape[-1] * int(np.count_nonzero((constants != 0) & (np.abs(constants) != 1)))
        return np.asarray(constants[:, None] * a)

    def rate(self, a: Array) -> Array:
        """The derivative in time, with one coefficient fewer."""
        K = a.shape[-1]
        self.made += max(K - 2, 0) * (a.size // K)
        return np.asarray(a[..., 1:] * np.arange(1, K))

    def cross(self, a: Array, b: Array) -> Array:
        i, j = [1, 2, 0], [2, 0, 1]
        return self.minus(self.times(a[i], b[j]), self.times(a[j], b[i]))

    def dot(self, a: Array, b: Array) -> Array:
        products = self.times(a, b)
        return self.plus(*products)

    def matrix(self, R: Array, a: Array) -> Array:
        """R (3, 3, K) times a (3, K)."""
        return np.stack([self.dot(row, a) for row in R])

    def combined(self, columns: Array, constants: Array) -> Array:
        """The sum of the columns (n, 3, K) times constants (n,)."""
        used = [self.scaled(np.full(3, c), x) for x, c in zip(columns, constants, strict=True) if c]
        return self.plus(*used) if used else np.zeros_like(columns[0])

    def sincos(self, q: Array) -> tuple[Array, Array]:
        """(K,) each, by s' = c q' and c' = -s q'."""
        K, s, c = len(q), np.zeros_like(q), np.zeros_like(q)
        s[0], c[0] = np.sin(q[0]), np.cos(q[0])
        for k in range(1, K):
            rates = np.arange(1, k + 1) * q[1 : k + 1]
            s[k], c[k] = rates @ c[k - 1 :: -1] / k, -(rates @ s[k - 1 :: -1]) / k
        self.made += sum(4 * k + 1 for k in range(1, K))
        return s, c


def operations(robot: Model, order: int, frame: str) -> int:
    """Of inverse dynamics to this order, in "body", "hybrid" or "world" axes, at a random state.

    Raises:
        ArithmeticError: the forces differ from the library's.
    """
    rng = np.random.default_rng(order)
    q, v = robot.random_configuration(rng), 0.3 * rng.normal(size=(order + 2, robot.nv))
    truth = robot.change_force_frame(q, v, robot.inverse_dynamics(q, v), "body", FRAMES[frame])
    made = Series()
    tau = _BODY_OR_NOT[frame == "body"](made, robot, q, v, frame)
    found = tau[:, : order + 1].T * [[factorial(k)] for k in range(order + 1)]
    if off(found, truth) > 1e-9:
        raise ArithmeticError(f"inverse dynamics in {frame} axes and jounce's differ by {off(found, truth):.1e}")
    return made.made


def _taylor(rows: Array) -> Array:
    """(..., K) from derivatives (K, ...)."""
    return np.moveaxis(rows / np.reshape([factorial(k) for k in range(len(rows))], (-1, *[1] * (rows.ndim - 1))), 0, -1)


def _joints(q: Array, v: Array) -> Array:
    """(n, K + 1) series of the joint angles."""
    return _taylor(np.vstack([q[7:], v[:, 6:]]))


def _in_body_axes(m: Series, robot: Model, q: Array, v: Array, frame: str) -> Array:
    angles, base = _joints(q, v), _taylor(v[:, :6])
    K = base.shape[-1]
    R = _taylor(robot.pose_derivatives(q, v, frames=[0])[: K - 1, 0, :3, :3])
    falling = np.einsum("jik,j->ik", R, robot.gravity)
    w, a, W, turns = [base[3:]], list[Array](), list[Array](), list[tuple[Array, Array, int]]()
    f, n = list[Array](), list[Array]()
    for j, body in enumerate(robot.bodies):
        if j == 0:
            a.append(m.minus(m.plus(m.rate(base[:3]), m.cross(base[3:], base[:3])), falling))
            turns.append((a[0], a[0], 0))  # the base is turned by nothing
        else:
            s, c = m.sincos(angles[j - 1, :K])
            axis = int(np.abs(body.joint.primitives()[0].axis).argmax())
            turns.append((s, c, axis))
            above, place = body.parent, body.placement[:3, 3]
            turned = _turned(m, turns[j], w[above], back=True)
            turned[axis] = m.plus(turned[axis], m.rate(angles[j - 1]))
            w.append(turned)
            carried = m.plus(a[above], m.combined(np.swapaxes(W[above], 0, 1), place))
            a.append(_turned(m, turns[j], carried, back=True))
        dw = m.rate(w[j])
        now = w[j][:, : K - 1]
        xx, yy, zz, xy, xz, yz = (m.times(now[x], now[y]) for x, y in _PAIRS)
        W.append(
            np.array(
                [[-m.plus(yy, zz), m.minus(xy, dw[2]), m.plus(xz, dw[1])],
                 [m.plus(xy, dw[2]), -m.plus(xx, zz), m.minus(yz, dw[0])],
                 [m.minus(xz, dw[1]), m.plus(yz, dw[0]), -m.plus(xx, yy)]]
            )
        )  # fmt: skip
        com, mass, moments = body.inertia.com, body.inertia.mass, body.inertia.rotational.diagonal()
        force = m.scaled(np.full(3, mass), m.plus(a[j], m.combined(np.swapaxes(W[j], 0, 1), com)))
        gyro = m.scaled(np.roll(moments, -2) - np.roll(moments, -1), np.array([yz, xz, xy]))
        moment = m.plus(m.scaled(moments, dw), gyro)
        f.append(force)
        n.append(m.plus(moment, _const_cross(m, com, force)))
    tau = np.zeros((robot.nv, K - 1))
    for j in reversed(range(1, len(robot.bodies))):
        body = robot.bodies[j]
        tau[5 + j] = n[j][turns[j][2]]
        force, moment = (_turned(m, turns[j], x, back=False) for x in (f[j], n[j]))
        f[body.parent] = m.plus(f[body.parent], force)
        n[body.parent] = m.plus(n[body.parent], moment, _const_cross(m, body.placement[:3, 3], force))
    tau[:3], tau[3:6] = f[0], n[0]
    return tau


def _in_world_axes(m: Series, robot: Model, q: Array, v: Array, frame: str) -> Array:
    angles, hybrid = _joints(q, v), frame == "hybrid"
    mixed = _taylor(robot.change_velocity_frame(q, v, "body", "mixed")[:, :6])
    poses = _taylor(robot.pose_derivatives(q, v, frames=[0])[:, 0, :3])  # (3, 4, K + 1)
    K = poses.shape[-1]
    R, x, w, axes = [poses[:, :3]], [poses[:, 3]], [mixed[3:]], [poses[:, 0, 0]]
    f, n, levers = list[Array](), list[Array](), [poses[:, 3]]
    for j, body in enumerate(robot.bodies):
        if j > 0:
            s, c = m.sincos(angles[j - 1])
            axis = int(np.abs(body.joint.primitives()[0].axis).argmax())
            above, (i, k) = body.parent, ((axis + 1) % 3, (axis + 2) % 3)
            turned = R[above].copy()
            one, two = R[above][:, i], R[above][:, k]
            many = [np.broadcast_to(y, one.shape) for y in (c, s)]
            turned[:, i] = m.plus(m.times(one, many[0]), m.times(two, many[1]))
            turned[:, k] = m.minus(m.times(two, many[0]), m.times(one, many[1]))
            R.append(turned)
            axes.append(turned[:, axis])
            levers.append(m.combined(np.swapaxes(R[above], 0, 1), body.placement[:3, 3]))
            x.append(m.plus(x[above], levers[j]))
            spin = m.times(axes[j], np.broadcast_to(m.rate(angles[j - 1]), (3, K - 1)))
            w.append(m.plus(w[above], spin))
        com, mass, moments = body.inertia.com, body.inertia.mass, body.inertia.rotational.diagonal()
        arm = m.combined(np.swapaxes(R[j], 0, 1), com)
        at = m.plus(x[j], arm) if com.any() else x[j]
        pull = m.rate(m.rate(at))
        pull[:, 0] -= robot.gravity  # one component, as a rule
        m.made += int(np.count_nonzero(robot.gravity))
        force = m.scaled(np.full(3, mass), pull)
        own = m.scaled(moments, m.matrix(np.swapaxes(R[j], 0, 1), w[j]))  # angular momentum, along the body's axes
        moment = m.rate(m.matrix(R[j], own))
        about = arm if hybrid else at
        f.append(force)
        n.append(m.plus(moment, m.cross(about, force)) if about.any() else moment)
    tau = np.zeros((robot.nv, K - 2))
    for j in reversed(range(1, len(robot.bodies))):
        above = robot.bodies[j].parent
        if hybrid:
            tau[5 + j] = m.dot(axes[j], n[j])
            n[above] = m.plus(n[above], n[j], m.cross(levers[j], f[j]))
        else:
            tau[5 + j] = m.plus(m.dot(axes[j], n[j]), m.dot(m.cross(x[j], axes[j]), f[j]))
            n[above] = m.plus(n[above], n[j])
        f[above] = m.plus(f[above], f[j])
    tau[:3], tau[3:6] = f[0], n[0]
    return tau


def _turned(m: Series, turn: tuple[Array, Array, int], a: Array, back: bool) -> Array:
    s, c, axis = turn
    i, k = (axis + 1) % 3, (axis + 2) % 3
    result = a.copy()
    first, second = (m.plus, m.minus) if back else (m.minus, m.plus)
    result[i] = first(m.times(c, a[i]), m.times(s, a[k]))
    result[k] = second(m.times(c, a[k]), m.times(s, a[i]))
    return result


def _const_cross(m: Series, p: Array, a: Array) -> Array:
    """p x a, for a constant p."""
    result = np.zeros_like(a)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        terms = [m.scaled(np.array([c]), x[None])[0] for c, x in ((p[j], a[k]), (-p[k], a[j])) if c]
        if terms:
            result[i] = m.plus(*terms)
    return result


_BODY_OR_NOT = (_in_world_axes, _in_body_axes)


def compared(order: int = 5) -> dict[str, int]:
    """Operations by frame for paper A's robot, N = 7."""
    robot = robots.aerial_manipulator()
    return {frame: operations(robot, order, frame) for frame in FRAMES}
