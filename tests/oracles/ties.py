"""The quantities that loops and contacts hold at zero, along a motion, in the numbers of `virtual_work`.

A `Tie` holds a frame B to a frame A. With X = A^-1 B = (R, p) the pose of B in A, and u, w two directions that form an
orthonormal triad with an axis k, what must stay zero is

==============  =================================================================================
fixed           p, and the skew part of R
revolute        p, u.Rk, w.Rk
prismatic       u.p, w.p, and the skew part of R
helical         u.p, w.p, u.Rk, w.Rk, k.p - pitch atan2(w.Ru, u.Ru)
cylindrical     u.p, w.p, u.Rk, w.Rk
universal       p, a.Rb - a.b, of the axes a (fixed in A) and b (fixed in B)
planar          n.p, x.Rn, y.Rn
spherical       p
distance        |p| - length
on plane        n.p
on line         u.p, w.p
rolling         p' + w x c, no position: w = angular velocity, R' R^T = [w]; c from B's origin to the contact
==============  =================================================================================

A `Gear` is q_second - polynomial(q_first). Each is a polynomial in t; its derivatives are those of `jets`, in the six
directions of a twist of B with A at rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from . import jets
from . import virtual_work as exact
from .mechanisms import Frames, Side
from .soft_virtual_work import _constant
from .virtual_work import BITS, GENERATORS, Poly

X_AXIS, Z_AXIS = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Tie:
    """`normal` is for on plane and rolling; a ball rolls if `axis` is None. In a contact, B bears the wrench."""

    kind: str
    a: Side
    b: Side
    axis: np.ndarray | None = field(default_factory=lambda: Z_AXIS)
    axis2: np.ndarray = field(default_factory=lambda: X_AXIS)
    pitch: float = 0.0
    length: float = 0.0
    radius: float = 0.0
    normal: np.ndarray = field(default_factory=lambda: Z_AXIS)
    contact: bool = False


@dataclass(frozen=True)
class Gear:
    """Between coordinates, numbered as in the robot without followers."""

    first: int
    second: int
    polynomial: tuple[float, ...]


@dataclass(frozen=True)
class Block:
    """One tie along a motion, with n powers.

    position: (n, m0), and position_rows (n, m0, nv) its derivative by the coordinates.
    slip: (n - 1, m), the rate of what must stay zero, and rows (n, m, nv) its derivative by the velocities.
    twist: (n, m, 6), its part of D; None for a gear.
    """

    position: Poly
    position_rows: Poly
    slip: Poly
    rows: Poly
    twist: Poly | None


def triad(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """u, w, k with u x w = k, the direction of the axis."""
    k = exact._unit(exact._fixed(axis))
    u = exact._fixed(np.eye(3)[np.argmin([abs(x) for x in k])])
    u = exact._unit(u - ((u @ k >> BITS) * k >> BITS))
    return u, exact._cross(k, u) >> BITS, k


def _relative(a: Poly, b: Poly) -> Poly:
    """X (n, 1 + 6, 4, 4): the pose of B in A and its derivative by each twist of B."""
    back = exact._inverse(a)
    moved = [b, *(g @ b for g in GENERATORS)]
    return np.stack([exact._mul(back, m) for m in moved], axis=1)


def _holonomic(tie: Tie, X: Poly) -> Poly:
    """(n, 1 + 6, m)"""
    R, p = X[..., :3, :3], X[..., :3, 3]

    def along(*directions: np.ndarray) -> list[Poly]:
        return [p @ d >> BITS for d in directions]

    def turned(d: np.ndarray, e: np.ndarray) -> Poly:
        """d . R e"""
        return (R @ e >> BITS) @ d >> BITS

    skew = [(R[..., i, j] - R[..., j, i]) >> 1 for i, j in ((2, 1), (0, 2), (1, 0))]
    u, w, k = triad(Z_AXIS if tie.axis is None else tie.axis)
    match tie.kind:
        case "fixed":
            rows = along(*exact.EYE3) + skew
        case "revolute":
            rows = [*along(*exact.EYE3), turned(u, k), turned(w, k)]
        case "prismatic":
            rows = along(u, w) + skew
        case "helical":
            advance = along(k)[0] - (exact._fixed(tie.pitch) * jets.angle(turned(w, u), turned(u, u)) >> BITS)
            rows = [*along(u, w), turned(u, k), turned(w, k), advance]
        case "cylindrical":
            rows = [*along(u, w), turned(u, k), turned(w, k)]
        case "universal":
            second = exact._unit(exact._fixed(tie.axis2))
            between = turned(k, second)
            between[0, 0] -= k @ second >> BITS
            rows = [*along(*exact.EYE3), between]
        case "planar":
            x, y = exact._unit(exact._fixed(tie.axis)), exact._unit(exact._fixed(tie.axis2))
            n = exact._unit(exact._cross(x, y) >> BITS)
            rows = [*along(n), turned(x, n), turned(y, n)]
        case "spherical":
            rows = along(*exact.EYE3)
        case "distance":
            between = jets.root(sum(jets.times(x, x) for x in along(*exact.EYE3)))
            between[0, 0] -= exact._fixed(tie.length)
            rows = [between]
        case "on plane":
            rows = along(exact._unit(exact._fixed(tie.normal)))
        case "on line":
            rows = along(u, w)
        case _:
            raise ValueError(tie.kind)
    return np.stack(rows, axis=-1)


def contact_arm(tie: Tie, R: Poly) -> Poly:
    """c (n, 3), from B's origin to the contact, in A's axes."""
    n = exact._unit(exact._fixed(tie.normal))
    radius = exact._fixed(tie.radius).item()
    if tie.axis is None:
        return _constant(-radius * n >> BITS, len(R))
    k = R @ exact._unit(exact._fixed(tie.axis)) >> BITS
    down = jets.scaled((k @ n >> BITS)[:, None], k)  # less n
    down[0] -= n
    size = jets.root(jets.scaled(down, down).sum(axis=1)[:, None])
    return radius * jets.scaled(jets.reciprocal(size), down) >> BITS


def _slip(X: Poly, dX: Poly, arm: Poly) -> Poly:
    """dp + dw x c, where [dw] = dR R^T."""
    turn = exact._mul(dX[:, :3, :3], X[:, :3, :3].swapaxes(1, 2))
    dw = np.stack([turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0]], axis=1)
    return dX[:, :3, 3] + exact._mul(dw, arm, exact._cross)


def gear_value(gear: Gear, q: Poly) -> tuple[Poly, Poly]:
    """The polynomial of a gear and its derivative, by Horner's rule."""
    value = slope = np.zeros(len(q), dtype=object)
    for c in map(int, exact._fixed(gear.polynomial[::-1])):
        slope = jets.scaled(slope, q) + value
        value = jets.scaled(value, q)
        value[0] += c
    return value, slope


def block(tie: Tie | Gear, frames: Frames) -> Block:
    if isinstance(tie, Gear):
        (q1, row1), (q2, row2) = frames.coordinate(tie.first), frames.coordinate(tie.second)
        value, slope = gear_value(tie, q1)
        left = (q2 - value)[:, None]
        rows = -(slope[:, None] * row1) >> BITS
        rows[0] += row2
        return Block(left, rows[:, None], exact._rate(left), rows[:, None], None)
    between = frames.screws(tie.b) - frames.screws(tie.a)
    X = _relative(frames.pose(tie.a), frames.pose(tie.b))
    if tie.kind != "rolling":
        jet = _holonomic(tie, X)
        left, twist = jet[:, 0], jet[:, 1:].swapaxes(1, 2)
        rows = exact._mul(twist, between)
        return Block(left, rows, exact._rate(left), rows, twist)
    pose = X[:, 0]
    arm = contact_arm(tie, pose[:, :3, :3])
    twist = np.stack([_slip(pose, X[:, j], arm) for j in range(1, 7)], axis=-1)
    rows = exact._mul(twist, between)
    n = exact._unit(exact._fixed(tie.normal))
    height = ((pose[:, :3, 3] + arm) @ n >> BITS)[:, None]
    return Block(height, (n @ rows >> BITS)[:, None], _slip(pose, exact._rate(pose), arm), rows, twist)
