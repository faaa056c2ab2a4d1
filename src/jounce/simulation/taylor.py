"""The Taylor method: the motion as a power series in time, to the degree that the tolerance requires.

Forward dynamics with its time derivatives gives v', v'', ... at one state, so the series of v is known to degree r + 1
from torques to order r. The configuration follows from it, to one degree more: for plain joints by integration; for
`Free` and `Spherical` ones by a recursion for the dual quaternion z = u + eps d that represents the pose,

    z' = z V / 2, V = w + eps v:    (k + 1) z_{k+1} = 1/2 sum_j z_j V_{k-j},

where u is the orientation and d = x u / 2, with x the displacement of the body in this step, in the parent's axes. The
effect of truncation on the length of u is removed by division.

A step is as long as the last two coefficients of the series allow (A. Jorba and M. Zou, A software package for the
numerical integration of ODEs by means of high-order Taylor methods, Exp. Math. 14, 2005, section 3.2): they give the
radius of convergence rho, and the first omitted term is below the tolerance if (h / rho)^(r + 2) is. The step is
accepted if at its end, and at all output times within it, the series agrees with the forward dynamics.
"""

from __future__ import annotations

import math

import numpy as np

from jounce._core import MAX_ORDER
from jounce.dynamics.factorials import factorial
from jounce.model import Model
from jounce.simulation.run import Run
from jounce.simulation.stepping import Array, Layout, Tolerance, TorqueFunction, shortest_step

SAFETY = 0.1  # the fraction of the tolerance that the first omitted term may reach


def order_for(tolerance: Tolerance) -> int:
    """The order of torque derivatives for which simulation takes the least work.

    Steps are rho eps^(1/r) long. If the work of one grows as r^c, the work for a given time is least at r = -ln(eps)
    / c. Jorba and Zou (3.1) have c = 2; here it is about 1.25 (benchmarks/simulate.py).
    """
    eps = max(tolerance.rtol or tolerance.atol, 1e-16)
    return max(1, min(MAX_ORDER, math.ceil(-math.log(eps) / 1.25)))


class Series:
    """The motion around one state, as polynomials in the time since then.

    Args:
        layout: of the robot's coordinates.
        q, v: (nq,), (nv,), the state.
        stack: (r + 1, nv), dv/dt and its first r derivatives.
    """

    def __init__(self, layout: Layout, q: Array, v: Array, stack: Array) -> None:
        self._layout, self._q = layout, q
        self.degree = len(stack)  # of v
        self.v = np.concatenate([v[None], stack]) / _FACTORIAL[: self.degree + 1, None]
        self._plain = self.v[:, layout.plain[1]] / np.arange(1, self.degree + 2)[:, None]  # degrees 1, 2, ... of q
        self._z = self._dual_quaternions() if layout.balls else np.empty((0, self.degree + 2, 8))

    def _dual_quaternions(self) -> Array:
        """(n, degree + 2, 8): the series of u and d for each ball."""
        n, count = self._layout.balls, self.degree + 1
        product = np.tensordot(self._layout.twists(self.v), _PRODUCT, axes=1)  # (count, n, 8, 8)
        backward = np.ascontiguousarray(product[::-1].swapaxes(0, 1)).reshape(n, 8 * count, 8)
        z = np.zeros((n, 1, 8 * (count + 1)))
        z[:, 0, :4] = self._q[self._layout.quaternion]
        for k in range(count):  # the sum over j is one product of a row of z_0 .. z_k and a column of V_k .. V_0
            z[:, :, 8 * k + 8 : 8 * k + 16] = z[:, :, : 8 * k + 8] @ backward[:, 8 * (count - 1 - k) :] / (k + 1)
        return z.reshape(n, count + 1, 8)

    def radius(self, tolerance: Tolerance, unit: float) -> float:
        """Radius of convergence, from the last two coefficients; relative to tolerance / `unit`."""
        layout, found = self._layout, math.inf
        distance = np.zeros(layout.balls)
        distance[layout.free] = np.linalg.norm(self._q[layout.position], axis=-1)
        orientation = np.repeat(np.stack([np.ones(layout.balls), distance], axis=1), 4, axis=1)
        for k in (self.degree - 1, self.degree):
            largest = 0.0
            for coefficient, size in (
                (self.v[k], self.v[0]),
                (self._plain[k - 1], self._q[layout.plain[0]]),
                (self._z[:, k], orientation),
            ):
                parts = np.abs(coefficient) / tolerance.of(size)
                largest = max(largest, unit * float(np.max(parts, initial=0.0)))
            if not math.isfinite(largest):
                return 0.0
            if k > 0 and largest > 0:
                found = min(found, largest ** (-1 / k))
        return found

    def at(self, h: Array) -> tuple[Array, Array, Array]:
        """q (m, nq), v (m, nv) and dv/dt (m, nv) after times h (m,)."""
        layout, k = self._layout, np.arange(self.degree + 2)
        powers = h[:, None] ** k
        v = powers[:, :-1] @ self.v
        a = powers[:, :-2] @ (self.v[1:] * k[1:-1, None])
        q = np.repeat(self._q[None], len(h), axis=0)
        q[:, layout.plain[0]] += powers[:, 1:] @ self._plain
        if layout.balls:
            z = powers @ self._z  # (n, m, 8)
            u, d = z[..., :4], z[..., 4:]
            squared = (u * u).sum(axis=-1, keepdims=True)
            q[:, layout.quaternion] = (u / np.sqrt(squared)).swapaxes(0, 1)
            moved = 2 * (u[..., 3:] * d[..., :3] - d[..., 3:] * u[..., :3] + np.cross(u[..., :3], d[..., :3])) / squared
            q[:, layout.position] += moved[layout.free].swapaxes(0, 1)  # x = 2 d u*
        return q, v, a


def integrate(
    robot: Model, q: Array, v: Array, times: Array, torque: TorqueFunction, tolerance: Tolerance, run: Run
) -> None:
    """Stores in `run` the motion from (q, v) at times[0], at all `times`; `torque` returns stacks (r + 1, nv), r >= 1.

    Raises:
        SimulationError: no step, however short, meets the tolerance, the accelerations overflow, or a limit of the run
            is reached.
    """
    layout, unit = Layout(robot), tolerance.rtol or tolerance.atol
    t, end, done = float(times[0]), float(times[-1]), 1
    rows = torque(t, q, v)
    shortest = shortest_step(t, end)
    stack = run.acceleration(q, v, rows)
    run.keep(q, v, stack[0], rows[0])
    run.reached(t, q, v, stack[0], rows[0])
    while t < end:
        series = Series(layout, q, v, stack)
        h = series.radius(tolerance, unit) * (SAFETY * unit) ** (1 / (series.degree + 1))
        while True:
            if not h >= shortest:
                fine = np.isfinite(stack).all()
                why = "the tolerance cannot be met" if fine else "the motion does not stay finite"
                raise run.too_short(why, shortest)
            arrived = end if t + h >= end - shortest else t + h
            h = arrived - t
            due = done + int(np.searchsorted(times[done:], arrived, side="right"))
            nodes = np.append(times[done:due], arrived)
            new_q, new_v, new_a = series.at(nodes - t)
            error, defect = math.inf, np.zeros(0)
            if np.isfinite(new_q).all() and np.isfinite(new_v).all():
                given = [torque(*each) for each in zip(nodes.tolist(), new_q, new_v, strict=True)]
                tau = np.stack([each[0] for each in given])
                a = run.acceleration(new_q, new_v, tau, trial=True)
                # The defect of v' is that of v times (degree + 1) / h if it comes from the first omitted term.
                defect = (
                    np.abs(a - new_a) * h / (series.degree + 1) / tolerance.of(np.maximum(np.abs(new_v), np.abs(v)))
                )
                error = float(np.max(defect, initial=0.0))
            if error <= 1.0:
                break
            run.tried(h, defect)
            h *= min(0.5, max(0.1, 0.9 * error ** (-1 / (series.degree + 1)))) if math.isfinite(error) else 0.1
        run.keep(*run.onto_constraints(new_q[:-1], new_v[:-1]), a[:-1], tau[:-1])
        t, done = arrived, due
        q, v = run.onto_constraints(new_q[-1], new_v[-1])
        run.reached(t, q, v, a[-1], tau[-1])
        run.tried(h, defect)
        if t < end:
            stack = run.acceleration(q, v, given[-1])


def _product() -> Array:
    """Matrices (6, 8, 8): a row z times each is z V / 2 for the six unit twists V, [linear; angular]."""
    matrix = np.zeros((6, 8, 8))
    for i in range(3):
        turn = np.zeros((4, 4))  # u e_i = (u_w e_i + u_xyz x e_i, -u_xyz . e_i), for rows u
        turn[:3, :3] = np.cross(np.eye(3), np.eye(3)[i])
        turn[3, i], turn[i, 3] = 1.0, -1.0
        matrix[3 + i, :4, :4] = matrix[3 + i, 4:, 4:] = matrix[i, :4, 4:] = turn / 2
    return matrix


_PRODUCT = _product()
_FACTORIAL = np.array([factorial(k) for k in range(MAX_ORDER + 2)])
