"""What soft bodies add to the equations of motion: elastic and damping forces of their shapes, and their inputs.

Most bodies are linear, K q + D v; those that are not have recorded functions for their energy U(q) and dissipation
R(q, v), and the forces are dU/dq and dR/dv. Inputs do work on recorded functions L_j(q): the force of input u is
(dL/dq)^T u.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .record import Expressions

if TYPE_CHECKING:
    from ..coordinates import SoftPart

Array = NDArray[np.float64]


class _Nonlinear:
    """A soft body whose energy is not quadratic, or whose dissipation is not."""

    def __init__(self, part: SoftPart, energy: Expressions | None, dissipation: Expressions | None) -> None:
        n = part.body.n
        self.part, self.energy = part, energy
        own, rates = range(n), range(n, 2 * n)
        self.elastic = energy.gradient(own) if energy else None
        self.damping = dissipation.gradient(rates) if dissipation else None
        self._own, self._both = own, range(2 * n)

    @cached_property
    def hessian(self) -> Expressions | None:
        return self.elastic.gradient(self._own) if self.elastic else None

    @cached_property
    def damping_gradient(self) -> Expressions | None:
        return self.damping.gradient(self._both) if self.damping else None


class ShapeForces:
    """Elastic and damping forces of all soft bodies of a robot with nv velocities."""

    def __init__(self, parts: Sequence[SoftPart], nv: int) -> None:
        self.n = sum(part.body.n for part in parts)
        self._nv = nv
        self._q = np.array([i for p in parts for i in range(p.q.start, p.q.stop)], dtype=np.intp)
        self._v = np.array([i for p in parts for i in range(p.v.start, p.v.stop)], dtype=np.intp)
        self._K, self._D = np.zeros((2, self.n, self.n))
        at = 0
        for p in parts:
            own = slice(at, at := at + p.body.n)
            self._K[own, own], self._D[own, own] = p.body.stiffness, p.body.viscosity
        both = [(p, p.body.recorded_energy(), p.body.recorded_dissipation()) for p in parts]
        self._nonlinear = [_Nonlinear(*given) for given in both if given[1] or given[2]]
        self.nonlinear = bool(self._nonlinear)

    # Each motion is a stack (..., K, n) of the shapes and their derivatives.

    def _shapes(self, q: Any, v: Any, rows: int, stacked: bool) -> tuple[Array, Array]:
        """The shapes' derivatives 0 to rows of all coordinates, in columns of q and of v."""
        rates = np.asarray(v, dtype=np.float64)
        rates = rates[..., :rows, :] if stacked else rates[..., None, :]
        return np.asarray(q, dtype=np.float64), rates

    def stack(self, q: Any, v: Any, rows: int, *, stacked: bool) -> Array:
        """Elastic and damping forces and their derivatives, (..., rows, nv)."""
        position, rates = self._shapes(q, v, rows, stacked)
        lead = np.broadcast_shapes(position.shape[:-1], rates.shape[:-2])
        tau = np.zeros((*lead, rows, self._nv))
        shape = rates[..., self._v]
        force = shape @ self._D
        if rows == 1:
            tau[..., self._v] = force + (position[..., self._q] @ self._K)[..., None, :]
        else:
            tau[..., 0, self._v] = force[..., 0, :] + position[..., self._q] @ self._K
            tau[..., 1:, self._v] = force[..., 1:, :] + shape[..., :-1, :] @ self._K
        self._add_nonlinear(position, rates, tau)
        return tau

    def beyond_linear(self, q: Any, v: Any, stacked: bool, shape: tuple[int, ...]) -> Array:
        """What bodies add that are not linear: forces of the given shape, a stack or a row."""
        tau = np.zeros(shape if stacked else (*shape[:-1], 1, shape[-1]))
        self._add_nonlinear(*self._shapes(q, v, tau.shape[-2], stacked), tau)
        return tau if stacked else tau[..., 0, :]

    def _add_nonlinear(self, q: Array, rates: Array, tau: Array) -> None:
        rows = tau.shape[-2]
        for body in self._nonlinear:
            own, rate = self._motion(body.part, q, rates)
            if body.elastic:
                tau[..., body.part.v] += body.elastic.derivatives(own[..., :rows, :])
            if body.damping:
                tau[..., body.part.v] += body.damping.derivatives(np.concatenate([own[..., :rows, :], rate], axis=-1))

    @staticmethod
    def _motion(part: SoftPart, q: Array, rates: Array) -> tuple[Array, Array]:
        """Derivatives of one body's shape (..., K + 1, n) and of its rate (..., K, n)."""
        rate = rates[..., part.v]
        lead = np.broadcast_shapes(q.shape[:-1], rate.shape[:-2])
        first = np.broadcast_to(q[..., None, part.q], (*lead, 1, part.body.n))
        rate = np.broadcast_to(rate, (*lead, *rate.shape[-2:]))
        return np.concatenate([first, rate], axis=-2), rate

    def elastic_force(self, q: Array) -> Array:
        tau = np.zeros((*q.shape[:-1], self._nv))
        tau[..., self._v] = q[..., self._q] @ self._K
        for body in self._nonlinear:
            if body.elastic:
                tau[..., body.part.v] += body.elastic.values(q[..., body.part.q])
        return tau

    def damping_force(self, q: Array, v: Array) -> Array:
        q, v = np.broadcast_to(q, (*v.shape[:-1], q.shape[-1])) if v.ndim > q.ndim else q, v
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        tau = np.zeros((*lead, self._nv))
        tau[..., self._v] = v[..., self._v] @ self._D
        for body in self._nonlinear:
            if body.damping:
                n = body.part.body.n
                both = [np.broadcast_to(x, (*lead, n)) for x in (q[..., body.part.q], v[..., body.part.v])]
                tau[..., body.part.v] += body.damping.values(np.concatenate(both, axis=-1))
        return tau

    def energy(self, q: Array) -> Array:
        """(...,) elastic energy, J."""
        shape = q[..., self._q]
        total = 0.5 * np.einsum("...i,ij,...j->...", shape, self._K, shape)
        for body in self._nonlinear:
            if body.energy:
                total = total + body.energy.values(q[..., body.part.q])[..., 0]
        return np.asarray(total)

    def energy_derivatives(self, q: Any, v: Any) -> Array:
        """(..., K + 1) of a stack v (..., K, nv)."""
        position, rates = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
        rows = rates.shape[-2] + 1
        lead = np.broadcast_shapes(position.shape[:-1], rates.shape[:-2])
        shape = np.concatenate(
            [
                np.broadcast_to(position[..., None, self._q], (*lead, 1, self.n)),
                np.broadcast_to(rates[..., self._v], (*lead, rows - 1, self.n)),
            ],
            axis=-2,
        )
        total = np.zeros((*lead, rows))
        for k in range(rows):
            for j in range(k + 1):
                total[..., k] += (
                    0.5 * comb(k, j) * np.einsum("...i,ij,...j->...", shape[..., j, :], self._K, shape[..., k - j, :])
                )
        for body in self._nonlinear:
            if body.energy:
                total += body.energy.derivatives(self._motion(body.part, position, rates)[0])[..., 0]
        return total

    def derivatives(self, q: Any, v: Any, rows: int, *, stacked: bool, linear: bool = True) -> tuple[Array, Array]:
        """How the forces change with q and with v, along the motion: two stacks (..., rows, nv, nv).

        linear: whether to include what bodies with linear forces add.
        """
        position, rates = self._shapes(q, v, rows, stacked)
        lead = np.broadcast_shapes(position.shape[:-1], rates.shape[:-2]) if self._nonlinear else ()
        stiff, viscous = np.zeros((2, *lead, rows, self._nv, self._nv))
        if linear:
            stiff[..., 0, self._v[:, None], self._v] = self._K
            viscous[..., 0, self._v[:, None], self._v] = self._D
        for body in self._nonlinear:
            n, at = body.part.body.n, body.part.v
            own, rate = self._motion(body.part, position, rates)
            if body.hessian:
                K = body.hessian.derivatives(own[..., :rows, :])
                stiff[..., at, at] += K.reshape(*K.shape[:-1], n, n)
            if body.damping_gradient:
                D = body.damping_gradient.derivatives(np.concatenate([own[..., :rows, :], rate], axis=-1))
                D = D.reshape(*D.shape[:-1], n, 2 * n)
                stiff[..., at, at] += D[..., :n]
                viscous[..., at, at] += D[..., n:]
        return stiff, viscous


class Inputs:
    """The inputs of all soft bodies; those of one name are one input."""

    def __init__(self, parts: Sequence[SoftPart], nv: int) -> None:
        self._nv = nv
        names: dict[str, int] = {}
        self._parts: list[tuple[SoftPart, Expressions, NDArray[np.intp]]] = []
        for part in parts:
            given = part.body.recorded_inputs()
            if given is None:
                continue
            own = [name if part.body.shares_inputs else f"{part.name} {name}" for name in part.body.input_names]
            columns = np.array([names.setdefault(name, len(names)) for name in own], dtype=np.intp)
            self._parts.append((part, given.gradient(range(part.body.n)), columns))
        self.names = tuple(names)

    def matrix(self, q: Array) -> Array:
        """(..., nv, nu): the force of inputs u is this times u."""
        A = np.zeros((*q.shape[:-1], self._nv, len(self.names)))
        for part, gradient, columns in self._parts:
            n = part.body.n
            values = gradient.values(q[..., part.q]).reshape(*q.shape[:-1], len(columns), n)
            for j, column in enumerate(columns):
                A[..., part.v, column] += values[..., j, :]
        return A

    def derivative(self, q: Array, u: Array) -> Array:
        """(..., nv, nv): how the force of inputs u (..., nu) changes with q."""
        lead = np.broadcast_shapes(q.shape[:-1], u.shape[:-1])
        result = np.zeros((*lead, self._nv, self._nv))
        for i, (part, _, columns) in enumerate(self._parts):
            n = part.body.n
            values = self._hessians[i].values(q[..., part.q]).reshape(*q.shape[:-1], len(columns), n, n)
            result[..., part.v, part.v] += np.einsum("...jab,...j->...ab", values, u[..., columns])
        return result

    @cached_property
    def _hessians(self) -> list[Expressions]:
        return [gradient.gradient(range(part.body.n)) for part, gradient, _ in self._parts]
