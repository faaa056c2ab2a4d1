"""A simulation in progress: its results so far, its cost, and when it gives up.

A run that makes no progress is ended by one of three limits: on steps, on wall-clock time, and on its pace. If, at the
pace of its last steps, the rest would take a hundred times as many as allowed, it stops without trying them all. If the
torque differs from call to call, no step is short enough: then it stops if the limit would be exceeded at all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from jounce import trajectory
from jounce._checks import counted, quoted
from jounce._core import UnjudgedRates
from jounce.dynamics.constraints.constrained import onto
from jounce.dynamics.named_coordinates import names
from jounce.dynamics.rates import rates
from jounce.errors import ConstraintError, RangeError, SimulationError
from jounce.model import Model
from jounce.simulation.stepping import Array, Layout, TorqueFunction
from jounce.simulation.stiffness import Fading, linear_system
from jounce.soft.inside_out import inside_out

WINDOW = 5_000  # steps over which the pace is measured
HOPELESS = 100  # times the allowed steps
_FELT = 0.01  # rate times step length above which the rate may be what keeps steps short
_PATIENCE = 0.5  # s, approximately, that finding the reason may take

Report = Callable[[float, int, Callable[[], str]], None]  # after every step: time, number of steps, why they are short


class Run:
    """The state of a simulation, updated by an integrator.

    Args:
        robot: the model.
        times: (T,) output times.
        max_steps: that may be tried, in addition to one per output time; None for any number.
        time_limit: s of wall clock; None for no limit.
        report: see `Report`.

    Attributes:
        steps: tried so far.
        torque: the torque function of the integrator, for diagnostics.
    """

    torque: TorqueFunction

    def __init__(
        self, robot: Model, times: Array, max_steps: int | None, time_limit: float | None, report: Report
    ) -> None:
        self.robot, self.steps = robot, 0
        self._times, self._report = times, report
        self._allowed = math.inf if max_steps is None else max_steps + len(times)
        self._max_steps, self._time_limit = max_steps, time_limit
        self._begin = time.monotonic()
        self._deadline = math.inf if time_limit is None else self._begin + time_limit
        self._rows = np.empty((len(times), robot.nq)), *(np.empty((len(times), robot.nv)) for _ in range(3))
        self._done = 0
        self._state: tuple[float, Array, Array, Array, Array | None] | None = None
        self._mark = float(times[0])  # the time reached at the start of the window
        self._length, self._errors = math.nan, np.zeros(0)

    # Results

    def keep(self, q: Array, v: Array, a: Array, tau: Array) -> None:
        """Stores the motion at the next output time, or at several: arrays with one more dimension.

        Raises:
            SimulationError: a soft body is inside out.
        """
        rows = [np.atleast_2d(each) for each in (q, v, a, tau)]
        fault = ""
        for i, each in enumerate(rows[0]):
            if fault := inside_out(self.robot, each):
                rows = [before[:i] for before in rows]
                break
        new = slice(self._done, self._done + len(rows[0]))
        for own, given in zip(self._rows, rows, strict=True):
            own[new] = given
        self._done = new.stop
        if fault:
            raise self.stopped(fault, at=float(self._times[self._done]))

    def reached(self, t: float, q: Array, v: Array, a: Array, tau: Array | None = None) -> None:
        """Sets the state that the motion has reached; when tau is left out, it is the one that a requires."""
        self._state = t, q, v, a, tau

    def onto_constraints(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The state projected back onto the constraints, which a step leaves by no more than its error.

        So errors do not accumulate into drift (E. Eich, Convergence results for a coordinate projection method applied
        to mechanical systems with algebraic constraints, SIAM J. Numer. Anal. 30, 1993).
        """
        if not self.robot.constraints:
            return q, v
        return onto(self.robot, q, v)

    def motion(self) -> trajectory.Trajectory:
        """The motion at the output times so far and at its last state, if that is later and nothing is inside out."""
        when, rows = self._times[: self._done], [each[: self._done] for each in self._rows]
        later = self._state is not None and (not self._done or self._state[0] > when[-1])
        if self._state is not None and later and not inside_out(self.robot, self._state[1]):
            t, q, v, a, tau = self._state
            if tau is None:  # with constraints, inverse dynamics would include their forces
                tau = self._first_row(t, q, v) if self.robot.constraints else self.robot.inverse_dynamics(q, v, a)
            when = np.append(when, t)
            rows = [np.vstack([own, given]) for own, given in zip(rows, (q, v, a, tau), strict=True)]
        return trajectory.of(self.robot, when, *rows)

    def acceleration(self, q: Array, v: Array, tau: Array, trial: bool = False) -> Array:
        """Forward dynamics; if it fails after the motion has begun, the run ends.

        At the states of a step on `trial`, which may be far from the constraints, it is NaN if these contradict there.
        """
        try:
            with UnjudgedRates():  # the error of a step is estimated anyway
                found = self.robot.forward_dynamics(q, v, tau)
        except RangeError as fault:
            if self._state is None:
                raise self.stopped(f"the acceleration is not finite, {fault}") from fault
            return np.full(np.shape(tau), np.nan)
        except ValueError as fault:
            if self._state is None:
                raise
            if trial and isinstance(fault, ConstraintError):
                return np.full(np.shape(tau), np.nan)
            raise self.stopped(str(fault)) from fault
        return found

    # When to give up

    def tried(self, length: float, errors: Array) -> None:
        """Counts a step, accepted or not.

        Args:
            length: s.
            errors: of each velocity (..., nv), relative to the tolerance; empty if unknown.

        Raises:
            SimulationError: a limit is reached.
        """
        self.steps += 1
        self._length, self._errors = length, errors
        t, end = self._state[0] if self._state else float(self._times[0]), float(self._times[-1])
        self._report(t, self.steps, lambda: self._cause(length))
        if t >= end:
            return
        if time.monotonic() > self._deadline:
            raise self._given_up(f"after {self._time_limit:g} s, the time_limit, and {counted(self.steps, 'step')}")
        if self.steps >= self._allowed:
            raise self._given_up(f"after {counted(self.steps, 'step')}, where max_steps is {self._max_steps}")
        if self.steps % WINDOW == 0:
            needed = WINDOW * (end - t) / (t - self._mark) if t > self._mark else math.inf
            self._mark = t
            hopeless = needed > HOPELESS * self._allowed or (needed > self._allowed and self._is_noisy())
            if self._max_steps is not None and hopeless:
                raise self._given_up(
                    f"after {self.steps} steps: it has stalled: at the pace of the last {WINDOW}, the rest would take "
                    f"{needed:.1g} more, and max_steps is {self._max_steps}"
                )

    def stopped(self, why: str, at: float | None = None) -> SimulationError:
        """The error that ends the run, with the motion so far."""
        motion = self.motion()
        if at is None:
            at = float(motion.time[-1]) if len(motion) else float(self._times[0])
        return SimulationError(f"simulation stopped at t = {at:.9g} s: {why}", motion)

    def too_short(self, why: str, length: float) -> SimulationError:
        """The error for steps that have become as short as the rounding of time."""
        cause = self._cause(length)
        return self.stopped(f"{why} with steps as short as {length:.1g} s" + (f", because {cause}" if cause else ""))

    def _given_up(self, limit: str) -> SimulationError:
        cause = self._cause(self._length) or "the tolerance cannot be met with longer ones" + self._where()
        return self.stopped(f"{limit}; step size fell to {self._length:.2g} s because {cause}")

    def _where(self) -> str:
        """The coordinate with the largest error."""
        if not self._errors.size or not np.isfinite(self._errors).all():
            return ""
        worst = int(np.argmax(self._errors)) % self.robot.nv
        return f", for {names(self.robot).v[worst]!r} least of all"

    def _cause(self, length: float) -> str:
        """Why steps are so short; empty if unknown."""
        if self._state is None or time.monotonic() - self._begin > _PATIENCE * self.steps:
            return ""
        try:
            begin = time.monotonic()
            if self._is_noisy():
                return (
                    "tau(t, q, v) differs from call to call at the same state: it must be a function of its arguments"
                )
            if (time.monotonic() - begin) * self.robot.nv > _PATIENCE:
                return ""
            t, q, v, a, _ = self._state
            found = rates(*linear_system(self.robot, Layout(self.robot), self._first_row, t, q, v, a))
            fading = Fading.of(self.robot, q, v, self._first_row(t, q, v))
        except Exception:  # from the user's function, near this state: the run has failed already
            return ""
        fastest, growth = float(np.abs(found).max(initial=0.0)), float(found.real.max(initial=0.0))
        if growth * length > _FELT and growth > 0.1 * fastest:
            return f"the motion is unstable: it grows by a factor of e every {1 / growth:.1g} s"
        if fastest * length <= _FELT:
            return ""
        if fading and fading.rate > 0.5 * fastest:
            return (
                f"joint {quoted(fading.joint)} has damping {fading.damping:.3g} {fading.unit}, under which its "
                f"motion fades at {fading.rate:.3g} 1/s; method 'implicit' need not follow that"
            )
        return f"the motion has rates up to {fastest:.1g} 1/s; if they fade, method 'implicit' need not follow them"

    def _is_noisy(self) -> bool:
        if self._state is None:
            return False
        once, again = (self.torque(*self._state[:3]) for _ in range(2))
        return once.shape != again.shape or not np.allclose(once, again, rtol=1e-12, atol=0.0)

    def _first_row(self, t: float, q: Array, v: Array) -> Array:
        tau = self.torque(t, q, v)
        return tau if tau.ndim == 1 else tau[0]
