"""Radau IIA: an implicit Runge-Kutta method for stiff robots, on the configuration manifold.

Around the configuration q_n of a step, q = q_n (+) u with u' = dexp^-1_{-u} v (see rkmk.py), and the motion obeys
f(q, v, v') = tau, where f is the inverse dynamics. The method is collocation at the s Radau nodes c_i, c_s = 1: the
accelerations a_i there are the unknowns, and with the matrix W of the integrals of the Lagrange polynomials,

    v_i = v_n + h sum_j W_ij a_j,    u_i = h sum_j W_ij u'_j,    f(q_n (+) u_i, v_i, a_i) = tau(t_n + c_i h, q_i, v_i).

No mass matrix is inverted, and the last stage is the new state: stiff springs neither ring nor limit the step (order
2s - 1, L-stable). Newton's iteration uses the exact derivatives of the inverse dynamics at one state, M, D and K,

    (1 x M + h W x D + h^2 W^2 x K) da = -residual,

which decouples along the eigenvectors of W: one matrix M + h l D + h^2 l^2 K of size nv for its real eigenvalue l and
one complex matrix for each conjugate pair. M, D and K are kept from step to step as long as the iteration converges
well; the derivatives of torque functions are taken by differences. The error is that of an embedded formula of order s,
which also uses the acceleration at the start, with weight l, filtered by the real matrix (E. Hairer and G. Wanner,
Solving Ordinary Differential Equations II, IV.8, and Stiff differential equations solved by Radau methods, J. Comput.
Appl. Math. 111, 1999). Values at output times come from the collocation polynomial.

With constraints, their multipliers are unknowns too, with J a + J' v = 0 at the nodes (implicit_ties.py). A step leaves
the constraints by no more than its error, and is projected back afterwards (`Run.onto_constraints`); so order, error
and stability are those of the method itself.

Its stages have order s, so that accuracy does not degrade with stiffness as it does for diagonally implicit methods,
and they are evaluated as one batch. Five stages, of order 9, need a quarter to a third of the evaluations of three, of
order 5, at a tolerance of 1e-9 (two rods of 0.1 MPa to 1 GPa); seven save up to another third, and nothing at 1e-5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from jounce.errors import RangeError
from jounce.model import Model
from jounce.simulation.implicit_ties import keeps_rank, tied_residual, tied_system
from jounce.simulation.rkmk import inverse_dexp
from jounce.simulation.run import Run
from jounce.simulation.stepping import Array, Layout, Tolerance, TorqueFunction, first_step, shortest_step
from jounce.simulation.stiffness import linear_system

STAGES = 5
ORDER = 2 * STAGES - 1
_ITERATIONS = 10  # maximum number of Newton iterations
_CLOSE = 0.01  # of the tolerance: the error that the iteration may leave
_FAST = 0.05  # ratio of successive errors below which the matrices are kept


class _Tableau:
    """The coefficients, for an odd number of stages."""

    def __init__(self, stages: int) -> None:
        legendre = np.polynomial.legendre.Legendre
        roots = np.sort((legendre.basis(stages) - legendre.basis(stages - 1)).roots().real)
        self.nodes = (1 + roots) / 2
        self.nodes[-1] = 1.0
        k = np.arange(stages)
        self._lagrange = np.linalg.inv(self.nodes[:, None] ** k)
        self.weights = self.integrals(self.nodes)
        values, vectors = np.linalg.eig(self.weights)
        order = np.argsort(np.abs(values.imag))
        kept = [i for i in order if values[i].imag >= -1e-12]  # the real one, first, and one of each pair
        self.eigenvalues = values[kept]
        self.to_modes = np.linalg.inv(vectors)[kept]
        self.from_modes = vectors[:, kept] * np.where(np.arange(len(kept)) == 0, 1.0, 2.0)
        self.real = float(self.eigenvalues[0].real)
        moments = 1 / (k + 1) - self.real * (k == 0)
        self.error = np.linalg.solve(self.nodes ** k[:, None], moments) - self.weights[-1]

    def values(self, at: Array) -> Array:
        """The Lagrange polynomials at the given points, (m, s)."""
        return at[:, None] ** np.arange(len(self._lagrange)) @ self._lagrange

    def integrals(self, to: Array) -> Array:
        """Their integrals from 0 to the given points, (m, s)."""
        k = np.arange(1, len(self._lagrange) + 1)
        return (to[:, None] ** k / k) @ self._lagrange


@cache
def _radau() -> _Tableau:
    return _Tableau(STAGES)


@dataclass(frozen=True, eq=False)
class State:
    """The start of a step: time, q (nq,), v (nv,) and dv/dt (nv,)."""

    t: float
    q: Array
    v: Array
    a: Array


@dataclass(frozen=True, eq=False)
class Step:
    """A step of length h, in which the motion is a polynomial."""

    start: State
    h: float
    du: Array  # (s, nv), rates of u at the nodes
    a: Array  # (s, nv)
    multipliers: Array  # (s, rows) of constraints
    errors: Array  # (2, nv), of u and v, relative to the tolerance
    contraction: float  # of Newton's iteration: the ratio of successive errors
    robot: Model

    @property
    def error(self) -> float:
        """The largest error."""
        return float(np.max(self.errors, initial=0.0))

    def at(self, part: Array) -> tuple[Array, Array, Array]:
        """q (m, nq), v (m, nv) and dv/dt (m, nv) after fractions (m,) of the step."""
        integrals = self.h * _radau().integrals(part)
        q = self.robot.integrate(self.start.q, integrals @ self.du)
        return q, self.start.v + integrals @ self.a, self.acceleration(part)

    def acceleration(self, part: Array) -> Array:
        return _radau().values(part) @ self.a

    def end(self, t: float) -> State:
        q, v, a = self.at(np.ones(1))
        return State(t, q[0], v[0], a[0])


class _Matrices:
    """M, D and K at a state, and what Newton's iteration derives from them.

    Args:
        M, D, K: (n, n), with n = nv, or nv + r with r multipliers.
        basis: (rows, r) of the multipliers; left out if there are none.
        multipliers: (rows,) at the state.
    """

    def __init__(
        self, M: Array, D: Array, K: Array, basis: Array | None = None, multipliers: Array | None = None
    ) -> None:
        self.M, self.D, self.K = M, D, K
        self.basis = np.zeros((0, 0)) if basis is None else basis
        self.multipliers = np.zeros(0) if multipliers is None else multipliers
        self._h, self._inverses = math.nan, np.empty(0, dtype=complex)

    def inverses(self, h: float) -> NDArray[np.complex128]:
        """(modes, n, n) of M + h l D + h^2 l^2 K, for the eigenvalues l."""
        if h != self._h:
            scale = h * _radau().eigenvalues[:, None, None]
            self._h, self._inverses = h, np.linalg.inv(self.M + scale * self.D + scale**2 * self.K)
        return self._inverses

    def correction(self, h: float, residual: Array) -> Array:
        """The correction (s, n) to the accelerations and multipliers."""
        modes = self.inverses(h) @ (_radau().to_modes @ residual)[:, :, None]
        return -(_radau().from_modes @ modes[:, :, 0]).real

    def filtered(self, h: float, u: Array, v: Array) -> tuple[Array, Array]:
        """(1 - h l J)^-1 (u, v) with J = (0, 1; -M^-1 K, -M^-1 D) and the real eigenvalue l."""
        scale, nv = h * _radau().real, len(u)
        rate = (self.inverses(h)[0].real @ (self.M[:, :nv] @ v - scale * (self.K[:, :nv] @ u)))[:nv]
        return u + scale * rate, rate


class Method:
    """Steps of one robot under one torque."""

    def __init__(self, robot: Model, torque: TorqueFunction, tolerance: Tolerance) -> None:
        self._robot, self._torque, self._tolerance = robot, torque, tolerance
        self._layout = Layout(robot)

    def matrices(self, at: State) -> _Matrices:
        """M, D and K at a state: those of the inverse dynamics minus the torque's; and those of constraints."""
        system = tied_system if self._robot.constraints else linear_system
        return _Matrices(*system(self._robot, self._layout, self._torque, at.t, at.q, at.v, at.a))

    def step(
        self, start: State, h: float, matrices: _Matrices, a: Array, multipliers: Array | None = None
    ) -> Step | None:
        """A step of length h; None if Newton does not converge.

        Args:
            start: the initial state.
            h: s.
            matrices: of a nearby state.
            a: (s, nv) initial guess of the accelerations.
            multipliers: (s, rows) initial guess; when left out, those of the matrices.
        """
        try:
            matrices.inverses(h)
        except np.linalg.LinAlgError:
            return None
        held = np.repeat(matrices.multipliers[None], STAGES, axis=0) if multipliers is None else multipliers
        x = held @ matrices.basis
        integrals, v, u = h * _radau().weights, start.v, np.zeros_like(a)
        stage_v = v + integrals @ a
        du = self._rates(u, stage_v)
        u = integrals @ du
        size = self._tolerance.of(np.stack([self._layout.size(start.q), np.maximum(np.abs(v), np.abs(stage_v[-1]))]))
        last = math.nan
        for _ in range(_ITERATIONS):
            if not all(np.isfinite(each).all() for each in (u, stage_v, a, x)):
                return None
            try:
                stage_q = self._robot.integrate(start.q, u)
                residual = self._residual(start.t + _radau().nodes * h, stage_q, stage_v, a, x, matrices.basis)
            except RangeError:
                return None
            change = matrices.correction(h, residual)
            a, x = a + change[:, : len(v)], x + change[:, len(v) :]
            old_u, old_v = u, stage_v
            stage_v = v + integrals @ a
            du = self._rates(u, stage_v)
            u = integrals @ du
            moved = float(np.max(np.abs(np.stack([u - old_u, stage_v - old_v], axis=1)) / size, initial=0.0))
            contraction = moved / last
            if moved <= _CLOSE or moved * contraction <= _CLOSE * (1 - contraction):
                errors = self._errors(start, h, matrices, du, a, size)
                return Step(start, h, du, a, x @ matrices.basis.T, errors, contraction, self._robot)
            if contraction >= 1:
                return None
            last = moved
        return None

    def _residual(self, t: Array, q: Array, v: Array, a: Array, x: Array, basis: Array) -> Array:
        """The residual (s, n), with derivatives M, D and K, at times (s,), states, accelerations and multipliers."""
        if self._robot.constraints:
            return tied_residual(self._robot, basis, q, v, a, x, self._torques(t, q, v))
        force = self._robot.inverse_dynamics(q, v, a)
        return force - self._torques(t, q, v)

    def _torques(self, t: Array, q: Array, v: Array) -> Array:
        return np.reshape([self._torque(*each) for each in zip(t.tolist(), q, v, strict=True)], v.shape)

    def _rates(self, u: Array, v: Array) -> Array:
        """u' (s, nv) at u (s, nv), for v (s, nv)."""
        rates = v.copy()
        if self._layout.balls:
            twists = self._layout.twists
            found = inverse_dexp(twists(u).reshape(-1, 6), twists(v).reshape(-1, 6)).reshape(len(u), -1, 6)
            for rate, each in zip(rates, found, strict=True):
                self._layout.put_twists(rate, each)
        return rates

    @staticmethod
    def _errors(start: State, h: float, matrices: _Matrices, du: Array, a: Array, size: Array) -> Array:
        u = h * (_radau().real * start.v + _radau().error @ du)
        v = h * (_radau().real * start.a + _radau().error @ a)
        errors: Array = np.abs(matrices.filtered(h, u, v)) / size
        return errors


def integrate(
    robot: Model, q: Array, v: Array, times: Array, torque: TorqueFunction, tolerance: Tolerance, run: Run
) -> None:
    """Stores in `run` the motion from (q, v) at times[0], at all `times`; `torque` returns (nv,).

    Raises:
        SimulationError: no step, however short, meets the tolerance, or a limit of the run is reached.
    """
    t, end, done = float(times[0]), float(times[-1]), 1
    tau = torque(t, q, v)
    now = State(t, q, v, run.acceleration(q, v, tau))
    run.keep(q, v, now.a, tau)
    run.reached(t, q, v, now.a, tau)
    method = Method(robot, torque, tolerance)
    shortest = shortest_step(t, end)
    h = first_step(Layout(robot).size(q), v, now.a, tolerance, end - t)
    matrices: _Matrices | None = None
    fresh, last = False, None
    while now.t < end:
        if matrices is None:
            matrices, fresh = method.matrices(now), True
        arrived = end if now.t + h >= end - shortest else now.t + h
        step = method.step(now, arrived - now.t, matrices, *_guess(now, last, arrived))
        if step is None or not step.error <= 1.0:
            run.tried(arrived - now.t, np.zeros(0) if step is None else step.errors)
            if step is None and not fresh:
                matrices = None
                continue
            h = (arrived - now.t) * (0.25 if step is None else max(0.1, 0.9 * step.error ** (-1 / (STAGES + 1))))
            if not h >= shortest:
                why = "Newton's iteration does not converge" if step is None else "the tolerance cannot be met"
                raise run.too_short(why, h)
            last = None if step is None else last
            continue
        if robot.constraints and not keeps_rank(robot, matrices.basis, step.end(arrived).q):
            if fresh:
                raise run.stopped(
                    "the constraints lose rank here, as at a dead centre: more than one motion obeys them"
                )
            matrices = None
            continue
        due = done + int(np.searchsorted(times[done:], arrived, side="right"))
        nodes = times[done:due]
        new_q, new_v, new_a = step.at((nodes - now.t) / step.h)
        taus = [torque(*each) for each in zip(nodes.tolist(), new_q, new_v, strict=True)]
        run.keep(*run.onto_constraints(new_q, new_v), new_a, np.reshape(taus, new_v.shape))
        now, last, done = _closed(step.end(arrived), run), step, due
        run.reached(now.t, now.q, now.v, now.a)
        run.tried(step.h, step.errors)
        if step.contraction > _FAST:  # never after a single iteration, whose contraction is NaN
            matrices = None
        fresh = False
        h = step.h * min(5.0, max(0.2, 0.9 * max(step.error, 1e-8) ** (-1 / (STAGES + 1))))


def _closed(state: State, run: Run) -> State:
    """The state projected onto the constraints; its acceleration changes by no more than its error."""
    return State(state.t, *run.onto_constraints(state.q, state.v), state.a)


def _guess(now: State, last: Step | None, arrived: float) -> tuple[Array, Array | None]:
    """Accelerations and multipliers at the nodes of a step, extrapolated from the polynomials of the last one.

    For the first step, the acceleration at the start.
    """
    if last is None:
        return np.repeat(now.a[None], STAGES, axis=0), None
    on = _radau().values(1 + _radau().nodes * (arrived - now.t) / last.h)
    return on @ last.a, on @ last.multipliers
