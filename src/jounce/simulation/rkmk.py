"""Runge-Kutta-Munthe-Kaas: Dormand and Prince's pair of orders 5 and 4, in the Lie algebra.

Around the configuration q_n of a step, q = q_n (+) u. For a `Free` or `Spherical` joint that is H = H_n exp(u), so the
body twist V = H^-1 H' is dexp_{-u} u', and

    u' = dexp^-1_{-u} V = sum_k B_k / k! (-ad_u)^k V = V + 1/2 [u, V] + 1/12 [u, [u, V]] - ...

with the Bernoulli numbers B_k; for all other joints u' = v. This is a differential equation in a vector space, which
any Runge-Kutta method solves; exp maps the result back, so the configuration never leaves its manifold.
(H. Munthe-Kaas, High order Runge-Kutta methods on manifolds, Appl. Numer. Math. 29, 1999; E. Hairer, S. P. Norsett and
G. Wanner, Solving Ordinary Differential Equations I, II.4 and II.5, for the pair and the step size.)

ad_u has eigenvalues 0 and, twice each, +-i theta, where theta is the angle of u. So ad^2 (ad^2 + theta^2)^2 = 0, and
the even powers reduce to two: with y = -theta^2, ad^2k = (2 - k) y^(k-1) ad^2 + (k - 1) y^(k-2) ad^4.
"""

from __future__ import annotations

import math

import numpy as np

from jounce.errors import RangeError
from jounce.model import Model
from jounce.simulation.run import Run
from jounce.simulation.stepping import Array, Layout, Tolerance, TorqueFunction, first_step, shortest_step

ORDER = 5
_NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_WEIGHTS = np.zeros((7, 7))  # row i: weights of the stages before stage i; the last row is the method itself
_WEIGHTS[1, :1] = 1 / 5
_WEIGHTS[2, :2] = 3 / 40, 9 / 40
_WEIGHTS[3, :3] = 44 / 45, -56 / 15, 32 / 9
_WEIGHTS[4, :4] = 19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729
_WEIGHTS[5, :5] = 9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656
_WEIGHTS[6, :6] = 35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84
_ERROR = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])

_TERMS = 32  # of the series below: enough for angles up to pi, as each is smaller by a factor of 4 or more


def _bernoulli(terms: int) -> Array:
    """B_2k / (2k)! for k = 0, 1, ...: the series of x/2 coth(x/2) in x^2, dividing cosh by sinh."""
    cosh = [1 / (4.0**k * math.factorial(2 * k)) for k in range(terms)]
    sinh = [1 / (4.0**k * math.factorial(2 * k + 1)) for k in range(terms)]
    b: list[float] = []
    for k in range(terms):
        b.append(cosh[k] - sum(b[j] * sinh[k - j] for j in range(k)))
    return np.array(b)


def _tables() -> tuple[Array, Array]:
    """Coefficients, in powers y^0, y^1, ..., of the factors of ad^2 and ad^4; and ad of the six unit twists."""
    b, k = _bernoulli(_TERMS + 2), np.arange(_TERMS + 2)
    reduced = np.stack([(b * (2 - k))[1:-1], (b * (k - 1))[2:]])
    cross = np.cross(np.eye(3)[:, None], np.eye(3)).swapaxes(1, 2)  # cross[i] p = e_i x p
    ad = np.zeros((6, 6, 6))  # [u, V] = (w_u x v + v_u x w, w_u x w)
    ad[:3, :3, 3:] = ad[3:, :3, :3] = ad[3:, 3:, 3:] = cross
    return reduced, ad


_REDUCED, _AD = _tables()


def inverse_dexp(u: Array, twist: Array) -> Array:
    """dexp^-1_{-u} V for (n, 6): the rate of u if exp(u) moves with body twist V. NaN for angles beyond pi."""
    y = -(u[:, 3:] ** 2).sum(axis=1)
    if y.min() < -(math.pi**2):
        return np.full_like(twist, np.nan)
    second, fourth = (_REDUCED @ (y ** np.arange(_TERMS)[:, None]))[:, :, None]
    ad = np.tensordot(u, _AD, axes=1)
    ad1 = ad @ twist[:, :, None]
    ad2 = ad @ ad1
    ad4 = ad @ (ad @ ad2)
    rate: Array = twist + 0.5 * ad1[:, :, 0] + second * ad2[:, :, 0] + fourth * ad4[:, :, 0]
    return rate


def integrate(
    robot: Model, q: Array, v: Array, times: Array, torque: TorqueFunction, tolerance: Tolerance, run: Run
) -> None:
    """Stores in `run` the motion from (q, v) at times[0], at all `times`; `torque` returns (nv,).

    Raises:
        SimulationError: no step, however short, meets the tolerance, or a limit of the run is reached.
    """
    layout, nv = Layout(robot), robot.nv
    t, end = float(times[0]), float(times[-1])
    tau = torque(t, q, v)
    a = run.acceleration(q, v, tau)
    run.keep(q, v, a, tau)
    run.reached(t, q, v, a, tau)
    rates = np.empty((7, 2 * nv))  # of u and v, at the stages

    def stages(h: float) -> tuple[Array, Array, Array] | None:
        """Fills `rates`; returns configuration, increments of u and v, and torque at t + h; None on overflow."""
        rates[0, :nv], rates[0, nv:] = v, a
        for i in range(1, 7):
            change = h * (_WEIGHTS[i, :i] @ rates[:i])
            if not np.isfinite(change).all():
                return None
            stage_v = v + change[nv:]
            if not np.isfinite(stage_v).all():
                return None
            try:
                stage_q = robot.integrate(q, change[:nv])
            except RangeError:
                return None
            stage_tau = torque(t + _NODES[i] * h, stage_q, stage_v)
            rates[i, :nv] = stage_v
            rates[i, nv:] = run.acceleration(stage_q, stage_v, stage_tau)
            if layout.balls:
                twists = inverse_dexp(layout.twists(change[:nv]), layout.twists(stage_v))
                layout.put_twists(rates[i, :nv], twists)
        return stage_q, change, stage_tau

    shortest = shortest_step(t, end)
    h, last_error = first_step(layout.size(q), v, a, tolerance, end - t), 1.0
    for index in range(1, len(times)):
        target = float(times[index])
        while t < target:
            step = min(h, target - t)
            reached, error, errors = stages(step), math.inf, np.zeros(0)
            if reached is not None:
                new_q, change, new_tau = reached
                new_v = v + change[nv:]
                size = np.concatenate([layout.size(new_q), np.maximum(np.abs(v), np.abs(new_v))])
                errors = step * np.abs(_ERROR @ rates) / tolerance.of(size)
                error = float(np.max(errors, initial=0.0))
            if error <= 1.0:
                t = target if step == target - t else t + step
                q, v = run.onto_constraints(new_q, new_v)
                a, tau = rates[6, nv:].copy(), new_tau
                error = max(error, 1e-4)
                longer = step * min(5.0, max(0.2, 0.9 * error**-0.17 * last_error**0.04))
                h = longer if step == h else max(h, longer)  # a step cut by an output time says little
                last_error = error
                run.reached(t, q, v, a, tau)
                run.tried(step, errors)
                continue
            h = step * (max(0.1, 0.9 * error**-0.2) if math.isfinite(error) else 0.1)
            run.tried(step, errors)
            if h < shortest:
                why = "the tolerance cannot be met" if math.isfinite(error) else "the motion does not stay finite"
                raise run.too_short(why, h)
        run.keep(q, v, a, tau)
