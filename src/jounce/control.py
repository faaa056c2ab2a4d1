"""Linear-quadratic regulators on the Lie group: about one state, and along a motion.

Both take the geometric linearization x' = A x + B u of `Model.linearize`, with x = [q - q_ref; v - v_ref] the error in
the tangent space, ``robot.difference(q_ref, q)`` and the difference of body velocities, and return u = -K x. They use
no angles that could become singular.

Along a motion, P(t) of the cost-to-go x^T P x solves the Riccati differential equation backward in time,

    -P' = A^T P + P A - P B R^-1 B^T P + Q,      K = R^-1 B^T P.

A and B are taken as constant between two times, at their mean, and the equation is then solved exactly. The linear
algebra is in the core, include/jounce/matrix/: derivations and papers are at the top of its files.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce import _core
from jounce._checks import array_of, batch_of, quoted, real, reals, rows_of, shapes
from jounce.dynamics.interruptible import eigenvalues, interruptible
from jounce.dynamics.linearization import Linearization
from jounce.dynamics.partials import ball_columns, bracket_matrix
from jounce.errors import Error, SingularError
from jounce.model import Model, a_model
from jounce.trajectory import Trajectory

__all__ = ["NoRegulator", "Regulator", "TrackingRegulator", "lqr", "riccati", "tvlqr"]

Array = NDArray[np.float64]
_Gain = tuple[Array, Array, NDArray[np.complex128]]
_STILL = 1e-3  # m/s^2 or rad/s^2


def __dir__() -> list[str]:
    return sorted(__all__)


class NoRegulator(Error, ValueError):  # noqa: N818  it is a finding, not a fault
    """No gain makes a system stable with finite cost."""


@dataclass(frozen=True, eq=False, repr=False)
class Regulator:
    """The feedback u = -K x about one state, or about each of a batch, as `lqr` returns it.

    Attributes:
        K: (..., nu, 2 nv) gain.
        P: (..., 2 nv, 2 nv), x^T P x is the cost from x on.
        poles: (..., 2 nv) eigenvalues of the closed loop: of A - B K in 1/s, or of the map from x_k to x_{k+1} in
            discrete time; under constraints, those of the independent coordinates.
        lin: the linearization it was made for.
        dt: the sampling time, s; None in continuous time.
    """

    K: Array
    P: Array
    poles: NDArray[np.complex128]
    lin: Linearization
    dt: float | None

    def __repr__(self) -> str:
        return shapes(self, "K", "P")

    def _repr_html_(self) -> str:
        from jounce.display.linear_html import regulator_html

        return regulator_html(self)

    def control(self, robot: Model, q: ArrayLike, v: ArrayLike) -> Array:
        """The forces (..., nv) for a state q (..., nq), v (..., nv): those of the linearization, minus K x.

        Of a batch of regulators, each is asked about its own state: leading dimensions broadcast.
        """
        a_model("robot", robot)
        if self.lin.frame != "body":
            raise ValueError(f"the linearization is in the frame {self.lin.frame!r}: control needs one in 'body'")
        return _corrected(self.lin.tau, self.lin.actuated, self.K, _error(robot, self.lin.q, self.lin.v, q, v))


def lqr(lin: Linearization, Q: ArrayLike, R: ArrayLike, *, dt: float | None = None) -> Regulator:
    """The gain that minimises the integral of x^T Q x + u^T R u, about a state that the robot can stay in.

    Args:
        lin: at a state, with the robot at rest or in steady motion; or at a batch of such states, as for gains that
            are scheduled. For a motion use `tvlqr`.
        Q: (2 nv, 2 nv) positive semidefinite, or its (2 nv,) diagonal; the same for all states.
        R: (nu, nu) positive definite, or its (nu,) diagonal; the same for all states.
        dt: if given, u is held over steps of dt seconds and the cost is the sum over the steps, not scaled by dt.

    Returns:
        `Regulator`, with K and P.

    Raises:
        ValueError: a shape is wrong, or Q or R is not definite.
        NoRegulator: also a ``ValueError``: no gain makes the system stable with finite cost.

    Warns:
        UserWarning: the robot does not stay in this state: it accelerates. Of a batch, one that does so most.

    >>> import jounce as jn
    >>> from jounce import control
    >>> robot = jn.robots.quadrotor_arm()
    >>> q, rest = robot.neutral(), np.zeros(robot.nv)
    >>> lin = robot.linearize(q, rest, robot.gravity_force(q), actuated=range(2, robot.nv))  # rotors and arm
    >>> hover = control.lqr(lin, np.ones(2 * robot.nv), np.ones(6))
    >>> hover.K.shape, bool(hover.poles.real.max() < 0)
    ((6, 16), True)
    >>> q = robot.random_configuration(0, 5)  # the base turned, too: rotors alone cannot hold it there
    >>> lin = robot.linearize(q, rest, robot.gravity_force(q))
    >>> control.lqr(lin, np.ones(2 * robot.nv), np.ones(robot.nv)).K.shape
    (5, 8, 16)
    """
    if not isinstance(lin, Linearization):
        raise ValueError(f"lin is {quoted(lin)}, expected a Linearization, as robot.linearize returns it")
    cost, price = _weight("Q", Q, lin.A.shape[-1], definite=False), _weight("R", R, lin.B.shape[-1], definite=True)
    step = None if dt is None else real("dt", dt)
    A, B = lin.reduced() if step is None else lin.discretize(step)
    lead, n, nu, nx = A.shape[:-2], A.shape[-1], lin.B.shape[-1], lin.A.shape[-1]
    if (moves := np.abs(lin.acceleration)).max(initial=0.0) > _STILL:
        worst = _in_state(lead, int(np.argmax(moves.max(axis=-1))))
        warnings.warn(
            f"the robot does not stay in this state{worst}, it accelerates by up to {moves.max():.3g} m/s^2 or "
            "rad/s^2: the gain is for a state that it can stay in, with tau as robot.gravity_force(q) or "
            "robot.equilibrium() gives it",
            UserWarning,
            stacklevel=2,
        )
    K, P, poles = np.empty((*lead, nu, nx)), np.empty((*lead, nx, nx)), np.empty((*lead, n), np.complex128)
    for i, at in enumerate(np.ndindex(lead)):
        lift = None if lin.lift is None else lin.lift[at]
        try:
            own = _gain(A[at], B[at], cost if lift is None else lift.T @ cost @ lift, price, step)
        except NoRegulator as fault:
            raise NoRegulator(f"{fault}{_in_state(lead, i)}") from None
        K[at], P[at], poles[at] = own if lin.independent is None else _of_all(own, lin.independent[at])
    return Regulator(K, P, poles, lin, step)


def _in_state(lead: tuple[int, ...], i: int) -> str:
    return f", in state {i}" if lead else ""


def _of_all(own: _Gain, independent: Array) -> _Gain:
    """K and P in all coordinates, from those in the independent ones."""
    K, P, poles = own
    return K @ independent, independent.T @ P @ independent, poles


def _gain(A: Array, B: Array, cost: Array, price: Array, step: float | None) -> _Gain:
    """K, P and the poles, for one state."""
    K, P, solved, unseen = _core.regulator(A, B, cost, price, step is not None)
    with np.errstate(over="ignore", invalid="ignore"):
        closed = interruptible(lambda A: A - B @ K, A)
    solved = solved and bool(np.isfinite(closed).all())
    poles = eigenvalues(closed).astype(np.complex128) if solved else np.zeros(0, dtype=np.complex128)
    margin = _margin(poles, step)
    if not solved or _is_doubtful(B, K, margin):
        _check_stabilizable(A, B, step)
    if not solved or not margin > 0 or (unseen and _is_idle(A, cost, step)):
        raise NoRegulator(
            "the Riccati equation has no stabilizing solution: does Q penalize all motions, and do inputs reach them?"
        )
    return K, P, poles


@dataclass(frozen=True, eq=False, repr=False)
class TrackingRegulator:
    """Feedback along a motion, as `tvlqr` returns it.

    Attributes:
        robot: the robot that moves.
        time: (T,) s.
        q, v, tau: (T, nq), (T, nv), (T, nv), the motion and its forces.
        acceleration: (T, nv), dv/dt along it.
        K: (T, nu, 2 nv) gains.
        P: (T, 2 nv, 2 nv), x^T P x is the cost from x on.
        actuated: (nu,) columns of tau.
    """

    robot: Model
    time: Array
    q: Array
    v: Array
    tau: Array
    acceleration: Array
    K: Array
    P: Array
    actuated: NDArray[np.intp]

    def __repr__(self) -> str:
        return shapes(self, "time", "K", "P")

    def _repr_html_(self) -> str:
        from jounce.display.linear_html import tracking_html

        return tracking_html(self)

    @cached_property
    def _intervals(self) -> tuple[Array, Array]:
        """(T - 1, nv) each: the displacement, and the rate at the end of the tangent coordinates at the start."""
        step = self.robot.difference(self.q[:-1], self.q[1:])
        rate = self.v[1:].copy()  # then dexp^-1_{-step} v
        for where in ball_columns(self.robot):
            ad = bracket_matrix(step[:, where])
            first = ad @ rate[:, where, None]
            rate[:, where] += (first / 2 + ad @ first / 12)[..., 0]
        return step, rate

    def reference(self, t: float) -> tuple[Array, Array, Array]:
        """q (nq,), v (nv,) and tau (nv,) of the motion at a time; held constant outside its time range.

        Interpolation on the group is cubic, from the velocities and accelerations at the times; tau is linear.
        """
        k, s, h = self._interval(t)
        step, rate = (each[k] for each in self._intervals)
        u = s * (1 - s) ** 2 * h * self.v[k] + s * s * (3 - 2 * s) * step + s * s * (s - 1) * h * rate
        a = h * self.acceleration[k : k + 2]
        rise = s * s * (3 - 2 * s)
        v = (1 - rise) * self.v[k] + rise * self.v[k + 1] + s * (1 - s) ** 2 * a[0] + s * s * (s - 1) * a[1]
        return self.robot.integrate(self.q[k], u), v, (1 - s) * self.tau[k] + s * self.tau[k + 1]

    def gain(self, t: float) -> Array:
        """K (nu, 2 nv) at a time, linear between the times."""
        k, s, _ = self._interval(t)
        mean: Array = (1 - s) * self.K[k] + s * self.K[k + 1]
        return mean

    def error(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """x (..., 2 nv) = [q - q_ref; v - v_ref]: displacement on the group, and difference of body velocities."""
        q_ref, v_ref, _ = self.reference(t)
        return _error(self.robot, q_ref, v_ref, q, v)

    def control(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """The forces tau_ref - K x (..., nv) at a time and one or more states; accepted by `simulate` with "rkmk"."""
        q_ref, v_ref, tau = self.reference(t)
        return _corrected(tau, self.actuated, self.gain(t), _error(self.robot, q_ref, v_ref, q, v))

    def _interval(self, t: float) -> tuple[int, float, float]:
        """Index of the interval, position in it from 0 to 1, and its length."""
        within = float(np.clip(real("t", t), self.time[0], self.time[-1]))
        k = int(np.clip(np.searchsorted(self.time, within, side="right") - 1, 0, len(self.time) - 2))
        h = float(self.time[k + 1] - self.time[k])
        return k, float(np.clip((within - self.time[k]) / h, 0.0, 1.0)), h


def tvlqr(
    robot: Model,
    motion: Trajectory | tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    Q: ArrayLike,
    R: ArrayLike,
    Q_final: ArrayLike,
    *,
    actuated: ArrayLike | Sequence[str] | None = None,
) -> TrackingRegulator:
    """Time-varying LQR: the feedback that keeps a robot on a motion at the least cost, valid near the motion.

    The cost is the integral of x^T Q x + u^T R u plus x^T Q_final x at the end. For the solution of the Riccati
    equation, see the top of this module.

    Args:
        robot: the model.
        motion: a `Trajectory`, or its (times, q, v, tau), (T,), (T, nq), (T, nv) and (T, nv), `Free` rows in body axes;
            the robot must be able to follow it with these forces, and the times be so close that A and B change little
            between them.
        Q, Q_final: (2 nv, 2 nv) positive semidefinite, or the (2 nv,) diagonal. A good Q_final is `lqr`'s P, if the
            motion ends in hover.
        R: (nu, nu) positive definite, or its (nu,) diagonal.
        actuated: which forces are inputs, as in `Model.linearize`.

    Returns:
        `TrackingRegulator`; its method ``control(t, q, v)`` gives the forces.

    >>> import jounce as jn
    >>> from jounce import control
    >>> robot = jn.robots.quadrotor_arm()
    >>> fall = jn.simulate(robot, robot.neutral(), np.zeros(robot.nv), np.linspace(0.0, 1.0, 51))
    >>> tracking = control.tvlqr(robot, fall, np.ones(16), np.ones(6), np.ones(16), actuated=range(2, 8))
    >>> tracking.K.shape
    (51, 6, 16)
    >>> bool(np.allclose(tracking.control(0.3, *fall[15][1:]), 0.0, atol=1e-9))  # on its way, nothing to do
    True
    """
    a_model("robot", robot)
    if isinstance(motion, Trajectory):
        motion = motion.time, motion.q, motion.v, motion.tau
    if not isinstance(motion, Sequence) or len(motion) != 4:
        raise ValueError("motion must be a Trajectory or a tuple (times, q, v, tau)")
    time = _increasing("times", motion[0])
    count, nv = len(time), robot.nv
    q = array_of("q", motion[1], (count, robot.nq))
    v, tau = array_of("v", motion[2], (count, nv)), array_of("tau", motion[3], (count, nv))
    lin = robot.linearize(q, v, tau, actuated=actuated)
    K, P = riccati(time, lin.A, lin.B, Q, R, Q_final)
    q = robot.integrate(q, np.zeros(nv))  # quaternions normalised
    return TrackingRegulator(robot, time, q, v, tau, lin.acceleration, K, P, lin.actuated)


def riccati(
    times: ArrayLike, A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, Q_final: ArrayLike
) -> tuple[Array, Array]:
    """Gains and cost-to-go of the time-varying linear system x' = A x + B u: `tvlqr` without the robot.

    Args:
        times: (T,) increasing, s, T at least 2.
        A, B: (T, n, n) and (T, n, m).
        Q, R, Q_final: (n, n), (m, m) and (n, n), or their diagonals.

    Returns:
        K (T, m, n) and P (T, n, n).

    Raises:
        ValueError: a shape is wrong, or Q, R or Q_final is not definite.
        SingularError: the numbers are too large or too small for an answer in double precision.
    """
    time = _increasing("times", times)
    count = len(time)
    for name, given in (("A", reals("A", A)), ("B", reals("B", B))):
        if given.ndim != 3:
            raise ValueError(f"{name} has shape {given.shape}, expected {count} matrices, one for each of the times")
    n, m = np.shape(B)[1:]
    B, A = array_of("B", B, (count, n, m)), array_of("A", A, (count, n, n))
    cost, end = (_weight(key, value, n, definite=False) for key, value in (("Q", Q), ("Q_final", Q_final)))
    K, P, solved = _core.regulators(time, A, B, cost, _weight("R", R, m, definite=True), end)
    if not solved:
        raise SingularError(
            "the Riccati equation has no answer in double precision: some of times, A, B, Q, R, Q_final are too large"
        )
    return K, P


def _error(robot: Model, q_ref: Array, v_ref: Array, q: ArrayLike, v: ArrayLike) -> Array:
    at, speed = rows_of("q", q, robot.nq, "nq"), rows_of("v", v, robot.nv, "nv")
    of_gains = {"the regulators": v_ref.shape[:-1]} if v_ref.ndim > 1 else {}
    lead = batch_of(q=at.shape[:-1], v=speed.shape[:-1], **of_gains)
    parts = robot.difference(q_ref, at), speed - v_ref
    return np.concatenate([np.broadcast_to(x, (*lead, robot.nv)) for x in parts], axis=-1)


def _corrected(tau_ref: Array, actuated: NDArray[np.intp], K: Array, x: Array) -> Array:
    """tau_ref - K x for errors (..., 2 nv)."""
    tau = np.broadcast_to(tau_ref, (*x.shape[:-1], tau_ref.shape[-1])).copy()
    tau[..., actuated] -= x @ K.T if K.ndim == 2 else (K @ x[..., None])[..., 0]
    return tau


def _symmetric(matrix: Array) -> Array:
    half: Array = (matrix + np.swapaxes(matrix, -1, -2)) / 2
    return half


def _increasing(name: str, times: ArrayLike) -> Array:
    time = array_of(name, times, (reals(name, times).size,))
    if len(time) < 2 or not (np.diff(time) > 0).all():
        raise ValueError(f"{name} must be two or more numbers that increase")
    return time


def _weight(name: str, value: ArrayLike, n: int, *, definite: bool) -> Array:
    """A weight (n, n), given in full or as its diagonal."""
    matrix = array_of(name, value, (n, n), (n,))
    largest = np.abs(matrix).max(initial=0.0)
    if matrix.ndim == 1:
        least, whole = float(matrix.min(initial=np.inf)), np.diag(matrix)
    else:
        if np.abs(matrix - matrix.T).max(initial=0.0) > 1e-9 * largest:
            raise ValueError(f"{name} is not symmetric")
        whole = _symmetric(matrix)
        least = _least_eigenvalue(whole, 0.0 if definite else 1e-9 * largest)
    if definite and not least > 0:
        raise ValueError(f"{name} has the eigenvalue {least:.3g}, expected a positive definite matrix")
    if least < -1e-9 * largest:
        raise ValueError(f"{name} has the eigenvalue {least:.3g}, expected a positive semidefinite matrix")
    return whole


def _least_eigenvalue(matrix: Array, allowed: float) -> float:
    """Of a symmetric matrix; infinity if it is more than minus `allowed`, which its Cholesky factor tells faster."""
    try:
        interruptible(np.linalg.cholesky, matrix + allowed * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return float(interruptible(np.linalg.eigvalsh, matrix).min(initial=np.inf))
    return np.inf


def _least_singular_value(matrix: NDArray[Any]) -> float:
    return float(interruptible(lambda x: np.linalg.svd(x, compute_uv=False)[-1], matrix))


def _margin(poles: NDArray[np.complex128], dt: float | None) -> float:
    """How far the poles are from the border of stability, in 1/s, or of the unit circle; negative beyond it."""
    return float(-poles.real.max(initial=-np.inf)) if dt is None else float(1.0 - np.abs(poles).max(initial=0.0))


def _is_doubtful(B: Array, K: Array, margin: float) -> bool:
    """Whether inputs that reach some unstable motion by rounding errors of B only may have made these poles.

    Whatever the units of x and u, feedback through the errors |e B| moves poles by about the largest eigenvalue of
    |e B| |K|, which is that of |K| |e B|.
    """
    gains = interruptible(lambda K: np.abs(K) @ np.abs(B), K)
    moved = 1e-11 * np.abs(eigenvalues(gains)).max(initial=0.0)
    return not moved < 1e-2 * margin


def _is_idle(A: Array, cost: Array, dt: float | None) -> bool:
    """Whether some motion that neither grows nor fades costs nothing: [A - s I; Q] lacks rank at its eigenvalue."""
    n, size, most = len(A), np.abs(A).max(initial=0.0), np.abs(cost).max(initial=0.0)
    seen = cost * (size / most) if most > 0 else cost
    for s in eigenvalues(A):
        if abs(s.real if dt is None else abs(s) - 1.0) > 1e-6 * size:
            continue
        if _least_singular_value(np.vstack([A - s * np.eye(n), seen])) < 1e-11 * size:
            return True
    return False


def _check_stabilizable(A: Array, B: Array, dt: float | None) -> None:
    """Popov-Belevitch-Hautus test: [A - s I, B] has full rank at each unstable eigenvalue s."""
    with np.errstate(over="ignore"):
        n, size = len(A), np.linalg.norm(A) + np.linalg.norm(B)
    if not np.isfinite(size):
        return
    for s in eigenvalues(A):
        if (s.real if dt is None else abs(s) - 1.0) < -1e-9 * size:
            continue
        smallest = _least_singular_value(np.hstack([A - s * np.eye(n), B]))
        if smallest < 1e-11 * size:
            where = f"{s if s.imag else s.real:.3g}" + (" 1/s" if dt is None else "")
            raise NoRegulator(
                f"the system is not stabilizable: no input reaches the motion with eigenvalue {where}; "
                "are the right columns actuated?"
            )
