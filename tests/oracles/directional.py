"""Derivatives of `virtual_work`'s forces along any change of position, velocity and its derivatives, exact to float64.

They are differences: forces at the changed state less forces at the state, divided by the step. In 96 digits the step
may be 2^-130, about 1e-39, so that truncation and rounding errors are below 1e-35. Positions move as in `integrate`,
q exp(step d) for balls and free bodies; terms in step^2 do not matter.

The oracle's numbers are finer than float64 here, so its conversions from and to float64 are replaced.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import factorial
from unittest.mock import patch

import numpy as np

from trees import TreeSpec

from . import virtual_work as exact

STEP = 130  # bits after the point

Direction = tuple[np.ndarray | None, np.ndarray | None]  # dq (nv,) and dv (rows, nv); None for no change


def derivatives(
    tree: TreeSpec,
    q: np.ndarray,
    v: np.ndarray,
    directions: Iterable[Direction],
    wrenches: dict[int, np.ndarray] | None = None,
    wrench_frame: str = "body",
) -> np.ndarray:
    """Derivatives of tau^(0..r) along each direction, (directions, r+1, nv), for a stack v (r+2, nv).

    The wrenches, stacks (r+1, 6) by body, are held in the axes of ``wrench_frame``, about its origin.
    """
    start, speed = exact._fixed(q), exact._fixed(v)
    applied = {i: exact._fixed(w) for i, w in (wrenches or {}).items()}
    with _between_floats():
        before = _forces(tree, start, speed, applied, wrench_frame)
        changes = []
        for dq, dv in directions:
            moved = start if dq is None else _moved(tree, start, exact._fixed(dq) >> STEP)
            other = speed if dv is None else speed + (exact._fixed(dv) >> STEP)
            changes.append(_forces(tree, moved, other, applied, wrench_frame) - before << STEP)
    return np.frompyfunc(lambda x: x / exact.ONE, 1, 1)(np.array(changes)).astype(float)


def jacobians(tree: TreeSpec, q: np.ndarray, v: np.ndarray, **wrenches) -> tuple[np.ndarray, np.ndarray]:
    """All derivatives: of each tau^(k) by q, (r+1, nv, nv), and by each v^(m), (r+1, r+2, nv, nv)."""
    rows, nv = v.shape
    units = np.eye(rows * nv).reshape(rows * nv, rows, nv)
    found = derivatives(tree, q, v, [*((d, None) for d in np.eye(nv)), *((None, d) for d in units)], **wrenches)
    by_v = found[nv:].reshape(rows, nv, rows - 1, nv)
    return np.moveaxis(found[:nv], 0, -1), np.transpose(by_v, (2, 0, 3, 1))


@contextmanager
def _between_floats() -> Iterator[None]:
    """The oracle takes and returns arrays of fixed-point integers without conversion."""
    fixed = exact._fixed

    def passed(x: object) -> np.ndarray:
        return x if isinstance(x, np.ndarray) and x.dtype == object else fixed(x)

    with patch.object(exact, "_fixed", passed), patch.object(exact, "_derivatives", _scaled):
        yield


def _scaled(p: exact.Poly) -> np.ndarray:
    return (p.T * np.array([factorial(k) for k in range(len(p))], dtype=object)).T


def _moved(tree: TreeSpec, q: np.ndarray, d: np.ndarray) -> np.ndarray:
    """q exp(d), to first order: x + R d, and the quaternion (u, c) (w / 2, 1), which the oracle normalises."""
    moved = q.copy()
    for body, q_at, v_at in zip(tree.bodies, tree.q_slices(), tree.v_slices(), strict=True):
        if body.joint not in ("spherical", "free"):
            moved[q_at] += d[v_at]
            continue
        own, step = q[q_at], d[v_at]
        u, c, half = own[-4:-1], own[-1], step[-3:] // 2
        moved[q_at][-4:] += np.append(c * half + exact._cross(u, half), -(u @ half)) >> exact.BITS
        if body.joint == "free":
            moved[q_at][:3] += exact._rotation(exact._unit(own[-4:])) @ step[:3] >> exact.BITS
    return moved


def _forces(tree: TreeSpec, q: np.ndarray, v: np.ndarray, wrenches: dict[int, np.ndarray], frame: str) -> np.ndarray:
    if frame != "body" and wrenches:
        poses = exact._poses(tree, q, exact._taylor(v))[0]
        wrenches = {i: _scaled(_in_body(exact._taylor(w), poses[i], frame)) for i, w in wrenches.items()}
    return exact.inverse_dynamics(tree, q, v, wrenches)


def _in_body(wrench: exact.Poly, pose: exact.Poly, frame: str) -> exact.Poly:
    """f_b = R^T f; n_b = R^T n for a moment about the body's origin x, R^T (n - x x f) for one about the world's."""
    back, force, moment = pose[:, :3, :3].swapaxes(1, 2), wrench[:, :3], wrench[:, 3:]
    if frame == "world":
        moment = moment - exact._mul(pose[:, :3, 3], force, exact._cross)
    return np.hstack([exact._mul(back, part, operator.matmul) for part in (force, moment)])
