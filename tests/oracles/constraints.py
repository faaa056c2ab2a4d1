"""Forward dynamics with loops and contacts, and its time derivatives, from positions only, in 96 digits.

Each row of `ties` is held at zero, a polynomial in t along the motion; J is its derivative by the coordinates, D its
derivative by a twist of B with A at rest (world axes, about the world's origin). As only the pose of B in A matters,
J = D (S_B - S_A), with S the twists of the frames per unit of each coordinate, and by virtual work the wrench on B is
D^T l if the force on the coordinates is J^T l. With s the rate of what must stay zero, and the dynamics F(q, v, a) of
`virtual_work`, the unknown coefficients of a(t) and l(t) follow order by order from

    F = tau + J^T l,    s = 0:    [M, -J^T; J, 0] (a_k, l_k) = (tau_k - F_k + sum_i>0 J_i^T l_k-i, -(k + 1) s_k+1),

where F_k and s_k+1 are those of the motion with a_k = 0. Redundant rows are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np

from . import jets
from . import virtual_work as exact
from .differentiate import _rounded
from .mechanisms import Frames, Mechanism, Side
from .ties import Block, Gear, Tie, block, gear_value
from .virtual_work import BITS, ONE, Poly

# --- states that obey the constraints -----------------------------------------------------------------------


def _side_by_side(blocks: Sequence[Block], key: str, shape: tuple[int, ...]) -> Poly:
    """That field of all ties, (n, rows, ...); of the given shape if there are none."""
    return np.concatenate([np.zeros(shape, dtype=object), *(getattr(b, key) for b in blocks)], axis=1)


def blocks(robot: Mechanism, ties: Sequence[Tie | Gear], q: np.ndarray, speed: Poly) -> list[Block]:
    frames = robot.frames(q, speed)
    return [block(tie, frames) for tie in ties]


def project(
    robot: Mechanism, ties: Sequence[Tie | Gear], q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The state projected onto the constraints, to 90 digits, by Newton's method."""
    q, v = exact._fixed(q), exact._fixed(v)
    for _ in range(60):
        here = blocks(robot, ties, q, np.zeros((1, robot.nv), dtype=object))
        left = np.concatenate([b.position[0] for b in here])
        if _largest(left) < ONE >> 300:
            break
        rows = _rounded(np.concatenate([b.position_rows[0] for b in here]))
        q = _moved(robot, q, -_solved(rows, left))
    else:
        raise ArithmeticError("the positions that obey were not found")
    rows, drift = (np.concatenate(of) for of in zip(*((b.rows[0], b.slip[0]) for b in here), strict=True))
    for _ in range(60):
        left = drift + (rows @ v >> BITS)
        if _largest(left) < ONE >> 300:
            return q, v
        v = v - _solved(_rounded(rows), left)
    raise ArithmeticError("the velocities that obey were not found")


def _largest(x: np.ndarray) -> int:
    return max((abs(int(y)) for y in x.ravel()), default=0)


def _solved(rows: np.ndarray, left: np.ndarray) -> np.ndarray:
    """The smallest solution of rows x = left, to the relative precision of float64."""
    size = _largest(left)
    ratio = np.array([(int(x) << 100) // size / 2.0**100 for x in left])
    step = np.linalg.lstsq(rows, ratio, rcond=1e-9)[0]
    return exact._fixed(step) * size >> BITS


def _moved(robot: Mechanism, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """q after a small step in the directions of v."""
    q = q.copy()
    for kind, q_at, v_at in robot.groups:
        d = step[v_at]
        if kind == "plain":
            q[q_at] += d
            continue
        turn, old = d[-3:] // 2, exact._unit(q[q_at][-4:])
        if kind == "free":
            q[q_at.start : q_at.start + 3] += exact._rotation(old) @ d[:3] >> BITS
        u, c = old[:3], old[3]
        new = np.array([*(u + ((c * turn + exact._cross(u, turn)) >> BITS)), c - (u @ turn >> BITS)], dtype=object)
        q[q_at.stop - 4 : q_at.stop] = exact._unit(new)
    return q


# --- dynamics ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solution:
    """speed (r + 2, nv), multipliers (r + 1, rows) as polynomials; whether rows were redundant, and some nearly so."""

    robot: Mechanism
    ties: Sequence[Tie | Gear]
    q: np.ndarray
    speed: Poly
    multipliers: Poly
    redundant: bool
    doubtful: bool

    @cached_property
    def acc(self) -> np.ndarray:
        """(r + 1, nv)"""
        return exact._derivatives(exact._rate(self.speed))

    @cached_property
    def frames(self) -> Frames:
        return self.robot.frames(self.q, self.speed)

    @cached_property
    def blocks(self) -> list[Block]:
        return [block(tie, self.frames) for tie in self.ties]

    def forces(self, frame: str = "body") -> list[np.ndarray]:
        """For each tie the wrench (r + 1, 6) on its first body, on the second if the first is the world, on B of a
        contact; for a gear the forces (r + 1, 2) on both joints.
        """
        found, at = [], 0
        for tie, one in zip(self.ties, self.blocks, strict=True):
            own = self.multipliers[:, at : at + one.rows.shape[1]]
            at += one.rows.shape[1]
            if isinstance(tie, Gear):
                q1, second = self.frames.coordinate(tie.first)[0], own[:, 0]
                first = -jets.scaled(gear_value(tie, q1)[1], second)
                found.append(exact._derivatives(np.stack([first, second], axis=1)))
                continue
            on_b = exact._mul(one.twist.swapaxes(1, 2), own)
            told = _from_world(on_b if _on_b(tie) else -on_b, self.frames.pose(_bearer(tie)), frame)
            found.append(exact._derivatives(told))
        return found


def _on_b(tie: Tie) -> bool:
    """Whether the reported wrench is that on the second body: if the first is the world, and for contacts."""
    return tie.contact or tie.a.body < 0


def _bearer(tie: Tie) -> Side:
    """The frame of the wrench's axes and origin: that of the body; on a rod, that of the place held."""
    if tie.contact:
        return tie.b
    side = tie.b if _on_b(tie) else tie.a
    return Side(side.body, at=side.at)


def _from_world(wrench: Poly, pose: Poly, frame: str) -> Poly:
    """A wrench in world axes about the world's origin, converted to those of the frame."""
    force, moment = wrench[:, :3], wrench[:, 3:]
    if frame != "world":
        moment = moment - exact._mul(pose[: len(wrench), :3, 3], force, exact._cross)
    if frame == "body":
        back = pose[: len(wrench), :3, :3].swapaxes(1, 2)
        force, moment = exact._mul(back, force), exact._mul(back, moment)
    return np.concatenate([force, moment], axis=1)


def _to_world(wrench: Poly, pose: Poly) -> Poly:
    """The reverse, from body axes."""
    R, x = pose[: len(wrench), :3, :3], pose[: len(wrench), :3, 3]
    force, moment = exact._mul(R, wrench[:, :3]), exact._mul(R, wrench[:, 3:])
    return np.concatenate([force, moment + exact._mul(x, force, exact._cross)], axis=1)


# A row counts as a combination of others if less than this is left of it, in natural sizes. Axes, poses and
# states are rounded to sixteen digits, so that a row that should be one leaves about 1e-16.
DEPENDENT, INDEPENDENT = 1e-12, 1e-5


@dataclass(frozen=True)
class Rank:
    """Rows of which none is a combination of the others, and those of which too little is left to be sure."""

    kept: list[int]
    doubtful: list[int]


def independent(rows: np.ndarray, terms: np.ndarray) -> Rank:
    """Of rows (m, nv) in fixed-point integers; `terms` (m, nv) are the sizes of what their entries are made of.

    Rows and columns are scaled so that the terms are as nearly 1 as can be, and orthogonalized in all digits, at each
    step the row of which most is left.
    """
    row_sizes, sizes = natural_sizes(terms)
    left = (rows * exact._fixed(sizes) >> BITS << BITS) // exact._fixed(row_sizes)[:, None]
    left[~(terms > 0).any(axis=1)] = 0
    kept, doubtful = [], []
    while len(left):
        lengths = _norm(left)
        best = int(np.argmax(lengths))
        if not lengths[best] > DEPENDENT:
            break
        kept.append(best)
        if lengths[best] < INDEPENDENT:
            doubtful.append(best)
        unit = exact._unit(left[best])
        left = left - (np.outer(left @ unit >> BITS, unit) >> BITS)
        left[best] = 0
    return Rank(sorted(kept), doubtful)


def natural_sizes(terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R (m,) and C (nv,) for which the sum of the squares of log(terms C / R) is least; R is 1 of empty rows."""
    m, n = terms.shape
    i, j = np.nonzero(terms)
    A = np.zeros((len(i), m + n))
    A[range(len(i)), i], A[range(len(i)), m + j] = 1.0, -1.0
    logs = np.linalg.lstsq(A, np.log(terms[i, j]), rcond=1e-9)[0]
    return np.exp(logs[:m]), np.exp(logs[m:])


def terms(tie: Tie | Gear, one: Block, frames: Frames) -> np.ndarray:
    """(rows, nv) at t = 0: the sizes of what the entries of J are made of, whether or not it cancels.

    A row is a force at B's origin and a moment, an entry is what these do by the velocity of that origin and by the
    angular velocity. A lever of less than 1e-12 of the largest is one that should be zero.
    """
    if isinstance(tie, Gear):
        return np.abs(_rounded(one.rows[0]))
    p = frames.pose(tie.b)[0, :3, 3]
    total, pairs, reach = 0.0, [], _norm(p[None]).item()
    for side in (tie.a, tie.b):
        screws = frames.screws(side)[0]
        turn = screws[3:].T
        pairs.append((_norm(screws[:3].T + (exact._cross(turn, p) >> BITS)), _norm(turn)))
    together = _norm((frames.screws(tie.b) - frames.screws(tie.a))[0].T) == 0
    for linear, angular in pairs:
        reach = max(reach, *(linear[angular > 0] / angular[angular > 0]), 0.0)
    force, moment = one.twist[0][:, :3], one.twist[0][:, 3:]
    moment = moment - (exact._cross(p, force) >> BITS)
    f, m = _norm(force), _norm(moment)
    m[m < 1e-30 * f * reach] = 0.0
    for linear, angular in pairs:
        linear[linear < 1e-12 * reach * angular] = 0.0
        total = total + np.outer(f, linear) + np.outer(m, angular)
    total[:, together] = 0.0
    return total


def _norm(x: np.ndarray) -> np.ndarray:
    """Of each row of fixed-point integers, rounded."""
    return np.array([isqrt(int(row @ row)) / ONE for row in x])


def forward_dynamics(
    robot: Mechanism,
    ties: Sequence[Tie | Gear],
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    wrenches: dict[int, np.ndarray] | None = None,
) -> Solution:
    """Accelerations and forces up to order r for forces tau (r + 1, nv) at a state q, v (nv,) that obeys."""
    q, given = exact._fixed(q), exact._taylor(tau)
    applied = {i: exact._taylor(w) for i, w in (wrenches or {}).items()}
    speed, nv = exact._fixed(v)[None], robot.nv
    rank, J0 = _rank(robot, ties, q, speed)
    kept, J0 = rank.kept, J0[rank.kept]
    count, none = len(kept), np.zeros((len(kept), len(kept)), dtype=object)
    inverse = jets.inverse_matrix(np.block([[robot.mass_matrix(q), -J0.T], [J0, none]]))
    multipliers = np.zeros((0, count), dtype=object)
    for k in range(len(tau)):
        speed = np.vstack([speed, np.zeros((1, nv), dtype=object)])
        frames = robot.frames(q, speed)
        here = [block(tie, frames) for tie in ties]
        J = _side_by_side(here, "rows", (k + 3, 0, nv))[:, kept]
        slip = _side_by_side(here, "slip", (k + 2, 0))[:, kept]
        known = given[k] - frames.forces(applied)[k]
        for i in range(1, k + 1):
            known = known + (multipliers[k - i] @ J[i] >> BITS)
        both = inverse @ np.concatenate([known, -(k + 1) * slip[k + 1]]) >> BITS
        speed[k + 1] = both[:nv] // (k + 1)
        multipliers = np.vstack([multipliers, both[None, nv:]])
    total = sum(b.rows.shape[1] for b in here)
    spread = np.zeros((len(tau), total), dtype=object)
    spread[:, kept] = multipliers
    return Solution(robot, ties, q, speed, spread, count < total, bool(rank.doubtful))


def _rank(robot: Mechanism, ties: Sequence[Tie | Gear], q: np.ndarray, speed: Poly) -> tuple[Rank, np.ndarray]:
    """With J (rows, nv)."""
    frames, nv = robot.frames(q, speed), robot.nv
    here = [block(tie, frames) for tie in ties]
    J = _side_by_side(here, "rows", (2, 0, nv))[0]
    sizes = [terms(tie, one, frames) for tie, one in zip(ties, here, strict=True)]
    return independent(J, np.concatenate([np.zeros((0, nv)), *sizes])), J


def rank(robot: Mechanism, ties: Sequence[Tie | Gear], q: np.ndarray) -> Rank:
    """At a configuration."""
    return _rank(robot, ties, exact._fixed(q), np.zeros((1, robot.nv), dtype=object))[0]


def backward_errors(
    robot: Mechanism,
    ties: Sequence[Tie | Gear],
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    acc: np.ndarray,
    forces: Sequence[np.ndarray],
    wrenches: dict[int, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Residuals of accelerations and forces, as in `Solution`, in the equations at each order: (r + 1,) twice.

    First M a + bias = tau + J^T l, then J a + J' v = 0, each relative to its largest term.
    """
    speed = exact._taylor(np.vstack([np.asarray(v)[None], acc]))
    applied = {i: exact._taylor(w) for i, w in (wrenches or {}).items()}
    frames, rows = robot.frames(q, speed), len(tau)
    here = [block(tie, frames) for tie in ties]
    pushed = np.zeros((rows, robot.nv), dtype=object)
    for tie, force in zip(ties, map(exact._taylor, forces), strict=True):
        if isinstance(tie, Gear):
            pushed += force @ np.stack([frames.coordinate(i)[1] for i in (tie.first, tie.second)]) >> BITS
            continue
        carried = frames.screws(tie.b) - frames.screws(tie.a)
        push = exact._mul(_to_world(force, frames.pose(_bearer(tie)))[:, None], carried)[:, 0]
        pushed += push if _on_b(tie) else -push
    needed = exact._derivatives(frames.forces(applied))
    through = exact._derivatives(pushed)
    M = _rounded(robot.mass_matrix(q))
    inertial = acc @ M
    terms = [np.abs(tau), np.abs(through), np.abs(acc) @ np.abs(M), np.abs(needed - inertial)]
    dynamics = np.abs(needed - tau - through).max(axis=1) / _greatest(terms)
    J = _rounded(np.concatenate([b.rows[0] for b in here]))
    left = exact._derivatives(np.concatenate([b.slip for b in here], axis=1))[1:]
    pulled = acc @ J.T
    moved = np.concatenate([_moves(tie, one, frames) for tie, one in zip(ties, here, strict=True)])
    terms = [np.abs(acc) @ moved.T, np.abs(left - pulled)]
    return dynamics, np.abs(left).max(axis=1) / _greatest(terms)


def _moves(tie: Tie | Gear, one: Block, frames: Frames) -> np.ndarray:
    """The effect of each coordinate on the rows through A and through B, which may move together."""
    if isinstance(tie, Gear):
        return np.abs(_rounded(one.rows[0]))
    both = sum(np.abs(_rounded(frames.screws(side)[0])) for side in (tie.a, tie.b))
    return np.abs(_rounded(one.twist[0])) @ both


def _greatest(terms: list[np.ndarray]) -> np.ndarray:
    return np.max([t.max(axis=1) for t in terms], axis=0)


def held_where_it_is(robot: Mechanism, tie: Tie, q: np.ndarray) -> np.ndarray:
    """The world pose of A for a contact without one: where B is, with B's axes or with the world's."""
    pose = robot.frames(exact._fixed(q), np.zeros((1, robot.nv), dtype=object)).pose(tie.b)[0].copy()
    if tie.kind in ("on plane", "on line", "rolling"):
        pose[:3, :3] = exact.EYE3
    return pose
