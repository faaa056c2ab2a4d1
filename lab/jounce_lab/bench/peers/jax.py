"""JAX: the recursive Newton-Euler algorithm in jax.numpy, lifted to Taylor series by ``jax.experimental.jet``, jitted.

Bodies at the same depth of the tree are one array, so that there is one step per level, not per body. The
series of gravity in the base's axes, g' = g x omega, is part of the function; the base's rotation matrix is given.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.model import Model
from jounce.parts.joints import Free, Revolute

from ..race import Array, Call, LeftOut, Problem


def call(problem: Problem) -> Call | None:
    if problem.quantity != "inverse dynamics":
        return None
    if problem.subject.bodies * problem.order > 505 or problem.order > 5:
        raise LeftOut("compiling it would take minutes")
    os.environ.setdefault("NPROC", "1")  # one thread in XLA's pool
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_cpu_enable_async_dispatch", False)  # run on the calling thread, without a handover
    function = _stack(problem.model, problem.order)
    compiled = jax.jit(jax.vmap(function) if problem.states > 1 else function)
    R = problem.model.pose(problem.model.body_names[0], problem.q)[..., :3, :3]
    inputs = [jax.numpy.asarray(x) for x in (R, problem.q[..., 7:], problem.v)]

    def run() -> Any:
        return compiled(*inputs).block_until_ready()

    return Call("jet", run, lambda: np.asarray(run()), states=problem.states)


@dataclass(frozen=True, eq=False)
class _Level:
    """All bodies at one depth of the tree: their constants, along the first axis."""

    parent: NDArray[np.intp]  # index in the level above
    column: NDArray[np.intp]  # of v
    axis: Array
    placement: Array  # (bodies, 3, 3)
    position: Array
    mass: Array
    com: Array
    moments: Array

    def handed_down(self, x: Any) -> Any:
        return x if np.array_equal(self.parent, np.arange(len(x))) else x[self.parent]

    def gathered(self, x: Any, parents: int) -> Any:
        if len(self.parent) == parents:
            return x
        return np.equal.outer(np.arange(parents), self.parent).astype(float) @ x


def _levels(model: Model) -> list[_Level]:
    first, *others = model.bodies
    if not isinstance(first.joint, Free) or not all(isinstance(b.joint, Revolute) for b in others):
        raise LeftOut("the recursion is written for a free base with revolute joints")
    depth = [0]
    for b in others:
        depth.append(depth[b.parent] + 1)
    members = [[i for i, d in enumerate(depth) if d == level] for level in range(max(depth) + 1)]
    levels = []
    for k, inside in enumerate(members):
        bodies = [model.bodies[i] for i in inside]
        parent = [members[k - 1].index(b.parent) if k else 0 for b in bodies]
        axis = [getattr(b.joint, "axis", np.zeros(3)) for b in bodies]
        columns = np.array([i + 5 for i in inside])
        placement = np.array([b.placement for b in bodies])
        mass = np.array([[b.inertia.mass] for b in bodies])
        com, moments = (np.array([getattr(b.inertia, key) for b in bodies]) for key in ("com", "rotational"))
        pose = placement[:, :3, :3], placement[:, :3, 3]
        levels.append(_Level(np.array(parent), columns, np.array(axis), *pose, mass, com, moments))
    return levels


def _stack(model: Model, order: int) -> Any:
    """A function of R (3, 3), the joints' q and the stack v (order + 2, nv) that returns (order + 1, nv)."""
    import jax.numpy as jnp
    from jax.experimental.jet import jet

    forces, fall = _newton_euler(model), np.array(model.gravity)

    def function(R: Any, q: Any, v: Any) -> Any:
        g = [R.T @ fall]
        if order == 0:
            return forces(g[0], q, v[0], v[1])[None]
        for k in range(order):
            g.append(sum(comb(k, j) * jnp.cross(g[k - j], v[j, 3:6]) for j in range(k + 1)))
        rates = [list(v[:-2, 6:]), list(v[1:-1]), list(v[2:])]
        first, rest = jet(forces, (g[0], q, v[0], v[1]), (g[1:], *rates))
        return jnp.stack([first, *rest])

    return function


def _newton_euler(model: Model) -> Any:
    """Forces from g in the base's axes, q, v and a, in body axes, with the classical acceleration of body origins."""
    import jax.numpy as jnp

    levels = _levels(model)
    order = np.argsort(np.concatenate([level.column for level in levels[1:]]))

    def cross(a: Any, b: Any) -> Any:
        (a1, a2, a3), (b1, b2, b3) = ([x[..., i] for i in range(3)] for x in (a, b))
        return jnp.stack([a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1], -1)

    def times(M: Any, x: Any) -> Any:
        return jnp.einsum("bij,bj->bi", M, x)

    def back(M: Any, x: Any) -> Any:
        return jnp.einsum("bji,bj->bi", M, x)

    def forces(g: Any, q: Any, v: Any, a: Any) -> Any:
        turn: list[Any] = [None]
        w, dw = [v[None, 3:6]], [a[None, 3:6]]
        acc = [a[None, :3] + cross(v[None, 3:6], v[None, :3]) - g[None]]
        for level in levels[1:]:
            along = level.axis[:, :, None] * level.axis[:, None, :]
            across = np.cross(np.eye(3), level.axis[:, None, :])
            angle = q[level.column - 6][:, None, None]
            joint = along + jnp.cos(angle) * (np.eye(3) - along) + jnp.sin(angle) * across
            R = jnp.einsum("bij,bjk->bik", level.placement, joint)
            above, spin_up, lift = (level.handed_down(x[-1]) for x in (w, dw, acc))
            carried, rate = back(R, above), v[level.column][:, None] * level.axis
            swing = cross(spin_up, level.position) + cross(above, cross(above, level.position))
            turn.append(R)
            w.append(carried + rate)
            dw.append(back(R, spin_up) + cross(carried, rate) + a[level.column][:, None] * level.axis)
            acc.append(back(R, lift + swing))
        tau: list[Any] = []
        below = None
        for k in reversed(range(len(levels))):
            level = levels[k]
            spin = cross(dw[k], level.com) + cross(w[k], cross(w[k], level.com))
            push = level.mass * (acc[k] + spin)
            twist = times(level.moments, dw[k]) + cross(w[k], times(level.moments, w[k])) + cross(level.com, push)
            if below is not None:
                child, n = levels[k + 1], len(level.parent)
                carried = times(turn[k + 1], below[0])
                turned = times(turn[k + 1], below[1]) + cross(child.position, carried)
                push, twist = push + child.gathered(carried, n), twist + child.gathered(turned, n)
            below = push, twist
            if k > 0:
                tau.insert(0, jnp.sum(level.axis * twist, -1))
        return jnp.concatenate([push[0], twist[0], jnp.concatenate(tau)[order]])

    return forces
