"""Shared by the integrators: the joints whose configurations are not vectors, and how large an error may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.model import Model
from jounce.parts.joints import Free, Spherical

Array = NDArray[np.float64]
TorqueFunction = Callable[[float, Array, Array], Array]  # (t, q, v) -> torque (nv,), or stack (r + 1, nv)


class Layout:
    """The layout of q and v: plain coordinates, whose rate is v, and the n balls, `Free` and `Spherical`.

    A ball moves with a body twist of six numbers; for `Spherical` the linear half is zero.

    Attributes:
        plain: indices of the plain coordinates in q and in v.
        balls: n.
        position, quaternion: (f, 3) and (n, 4) indices into q; f counts the `Free` ones.
        free: (n,) which balls are `Free`.
    """

    def __init__(self, robot: Model) -> None:
        moving = [(isinstance(b.joint, Free), isinstance(b.joint, Spherical), *where) for b, where in robot._moving()]
        plain = [(q, v) for free, spherical, q, v in moving if not free and not spherical]
        balls = [(free, q, v) for free, spherical, q, v in moving if free or spherical]
        self.plain = _indices([q for q, _ in plain]), _indices([v for _, v in plain])
        self.balls = len(balls)
        self.free = np.array([free for free, _, _ in balls], dtype=bool)
        self.position = np.array([np.arange(q.start, q.start + 3) for free, q, _ in balls if free], int).reshape(-1, 3)
        self.quaternion = np.array([np.arange(q.stop - 4, q.stop) for _, q, _ in balls], int).reshape(-1, 4)
        self.nv = robot.nv
        linear = [np.arange(v.start, v.start + 3) for _, _, v in balls]  # arbitrary for Spherical, where it is not used
        angular = [np.arange(v.stop - 3, v.stop) for _, _, v in balls]
        self._twist = np.hstack([np.array(half, int).reshape(-1, 3) for half in (linear, angular)])
        self._moves = np.ones((self.balls, 6), dtype=bool)
        self._moves[~self.free, :3] = False
        self._places = self._twist[self._moves]

    def twists(self, v: Array) -> Array:
        """The twists (..., n, 6) of the balls in velocities (..., nv)."""
        return v[..., self._twist] * self._moves

    def put_twists(self, v: Array, twists: Array) -> None:
        """Writes twists (n, 6) to their places in a velocity (nv,)."""
        v[self._places] = twists[self._moves]

    def size(self, q: Array) -> Array:
        """The magnitude of q along each velocity (nv,): |q|, the distance for positions, 1 for orientations."""
        size = np.ones(self.nv)
        size[self.plain[1]] = np.abs(q[self.plain[0]])
        if self.balls:
            twists = np.ones((self.balls, 6))
            twists[self.free, :3] = np.linalg.norm(q[self.position], axis=-1, keepdims=True)
            self.put_twists(size, twists)
        return size


@dataclass(frozen=True)
class Tolerance:
    """The error that one step may make: `atol` + `rtol` times the magnitude of the quantity."""

    rtol: float
    atol: float

    def of(self, size: Array) -> Array:
        return self.atol + max(self.rtol, 1e-15) * np.abs(size)


def shortest_step(start: float, end: float) -> float:
    """Steps below this are lost in the rounding of time."""
    return 16 * float(np.spacing(max(abs(start), abs(end))))


def first_step(size: Array, v: Array, a: Array, tolerance: Tolerance, longest: float) -> float:
    """A guess that the controller corrects: a hundredth of the time in which the state changes by its own size."""
    state, rate = np.concatenate([size, v]), np.concatenate([v, a])
    scale = tolerance.of(state)
    now, change = (float(np.max(np.abs(each) / scale, initial=0.0)) for each in (state, rate))
    return longest if 0.01 * now >= change * longest else max(0.01 * now / change, 1e-6 * longest)


def _indices(slices: list[slice]) -> NDArray[np.intp]:
    return np.array([i for s in slices for i in range(s.start, s.stop)], dtype=np.intp)
