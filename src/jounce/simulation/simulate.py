"""Simulation: from torques to motion, on the configuration manifold itself."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from jounce._checks import array_of, counted, flag, is_masked, one_of, quoted, real, reals, whole
from jounce._core import MAX_ORDER, UnwatchedNodes
from jounce.display.progress import can_appear, progress_bar
from jounce.dynamics.constraints.static_ties import anchored
from jounce.dynamics.discretization import check_motion
from jounce.model import Model, a_model
from jounce.simulation import implicit, rkmk, taylor
from jounce.simulation.run import Report, Run
from jounce.simulation.start import started
from jounce.simulation.stepping import Array, Layout, Tolerance, TorqueFunction
from jounce.trajectory import Trajectory

_METHODS = {"taylor": taylor.integrate, "rkmk": rkmk.integrate, "implicit": implicit.integrate}
_SILENCE = 60.0  # s until a run without one reports that it is still running


def simulate(
    robot: Model,
    q0: ArrayLike,
    v0: ArrayLike,
    times: ArrayLike,
    tau: ArrayLike | Callable[[float, Array, Array], ArrayLike] | None = None,
    *,
    method: Literal["taylor", "rkmk", "implicit"] = "taylor",
    rtol: float = 1e-9,
    atol: float = 1e-10,
    order: int | None = None,
    start: Literal["project", "impact"] | None = None,
    max_steps: int | None = 100_000,
    time_limit: float | None = None,
    progress: bool | None = None,
) -> Trajectory:
    """The motion of a robot from an initial state, under given torques.

    All methods step on the configuration manifold itself and choose their steps from the tolerances: quaternions keep
    unit length, and nothing drifts.

    "taylor" expands the motion in time, using forward dynamics to high order. It is the most accurate and the fastest,
    for torques whose time derivatives are known. "rkmk" is a Runge-Kutta-Munthe-Kaas method of order 5 and takes any
    torque, including feedback. Both take short steps if something is stiff, such as a rubber rod or a high gain;
    "implicit", the Radau method of order 9 with the exact derivatives of the dynamics, does not, and takes any torque
    too.

    Args:
        robot: the model.
        q0: (nq,) configuration at times[0].
        v0: (nv,) velocity; twists of `Free` joints in body axes.
        times: (T,) increasing output times, s; they do not limit the steps of "taylor" and "implicit".
        tau: generalized forces, N and N m, those of `Free` joints in body axes: None for zero, a constant (nv,), or a
            function (t, q, v) -> (nv,), or -> (r + 1, nv) with the time derivatives along the motion, which "taylor"
            needs: the more rows, the longer its steps. A function is called a few times in every step and at every
            output time: shorter events go unnoticed. "implicit" also calls it near the state, to differentiate it by
            differences.
        method: "taylor", "rkmk" or "implicit".
        rtol, atol: a step may make an error of atol + rtol times the magnitude, for every coordinate, rad or m, and its
            rate; for orientations the magnitude is taken as 1.
        order: for "taylor", the highest derivative of the torque that is used, 1 to `MAX_ORDER`; when left out, it
            follows from rtol, or from what the function returns. Errors scale with the step to the power order + 1.
        start: for a robot with constraints, what to do with a state that does not obey them, such as an estimated one:
            "project" starts from `robot.project(q0, v0)`, and "impact" from `robot.project(q0)` and the velocity after
            an impact there, as of feet that touch down. When left out, such a state is an error.
        max_steps: number of steps that may be tried, in addition to one per output time; None for any number. If, at
            the pace of the last 5,000 steps, the rest would take a hundred times as many, the run ends immediately.
        time_limit: seconds of wall clock that it may take, checked after every step; None for no limit.
        progress: True shows a bar on stderr (needs rich), False does not; when left out, it appears after two seconds
            if stderr is a terminal and rich is installed; otherwise a warning is given after a minute.

    Returns:
        `Trajectory`, with time, q, v, a and tau at the output times.

    Warns:
        DiscretizationWarning: once, if a soft body bends too far for its nodes at an output time.

    Raises:
        ValueError: an argument has the wrong shape or an invalid value.
        ConstraintError: the state does not obey the constraints, by more than `rtol` and `atol` allow.
        SimulationError: the motion cannot be continued, or not within the limits, or a soft body is inside out at an
            output time; the message says when and why, and
            ``error.trajectory`` is the motion up to that point.

    >>> import jounce as jn
    >>> robot = jn.robots.aerial_manipulator()
    >>> fall = simulate(robot, robot.neutral(), np.zeros(robot.nv), np.linspace(0.0, 2.0, 5))
    >>> fall.q[:, 2].round(9)
    array([  0.     ,  -1.22625,  -4.905  , -11.03625, -19.62   ])
    >>> def lift(t, q, v):  # along the body's z axis, swelling; with its first three derivatives
    ...     rows = np.zeros((4, robot.nv))
    ...     rows[:, 2] = 39.24 + np.sin(t), np.cos(t), -np.sin(t), -np.cos(t)
    ...     return rows
    >>> motion = simulate(robot, robot.neutral(), np.zeros(robot.nv), [0.0, np.pi], lift)
    >>> round(float(motion.v[-1, 2]), 6)  # 2 N s, 4 kg
    0.5
    """
    a_model("robot", robot)
    one_of("method", method, *_METHODS)
    q, v = array_of("q0", q0, (robot.nq,)), array_of("v0", v0, (robot.nv,))
    when = _output_times(times)
    tolerance = Tolerance(*(float(array_of(key, value, ())) for key, value in (("rtol", rtol), ("atol", atol))))
    if not (0 <= tolerance.rtol < 1 and tolerance.atol > 0):
        raise ValueError(f"rtol and atol are {rtol} and {atol}, expected 0 <= rtol < 1 and atol > 0")
    if order is not None:
        order = whole("order", order, 1, MAX_ORDER)
        if method != "taylor":
            raise ValueError(f"order is {order!r}, which is only for method 'taylor', and method is {method!r}")
    if max_steps is not None:
        max_steps = whole("max_steps", max_steps, 1, sys.maxsize)
    if time_limit is not None:
        time_limit = real("time_limit", time_limit)
        if not 0 < time_limit < math.inf:
            raise ValueError(f"time_limit is {time_limit}, expected a positive number of seconds, or None for no limit")
    if progress is not None:
        progress = flag("progress", progress)

    q = robot.integrate(q, np.zeros(robot.nv))  # rejects quaternions far from unit length, normalises others
    robot = anchored(robot, q)
    q, v = started(robot, q, v, start, tolerance, Layout(robot))
    span = float(when[0]), float(when[-1])
    with UnwatchedNodes(), _reporting(progress, *span) as report, np.errstate(over="ignore", invalid="ignore"):
        run = Run(robot, when, max_steps, time_limit, report)
        run.torque = _stacks(run, tau, order, tolerance) if method == "taylor" else _torques(run, tau)
        _METHODS[method](robot, q, v, when, run.torque, tolerance, run)
    motion = run.motion()
    check_motion(robot, motion.time, motion.q, motion.v, motion.a, motion.tau)
    return motion


def _output_times(times: object) -> Array:
    """(T,), increasing."""
    given = reals("times", times)
    if given.ndim != 1:
        raise ValueError(f"times has shape {given.shape}, expected (T,): output times that increase, such as [0, 1]")
    when = array_of("times", given, given.shape)
    if len(when) == 0 or not (when[1:] > when[:-1]).all():
        raise ValueError("times must be one or more numbers that increase")
    if not math.isfinite(float(when[-1]) - float(when[0])):
        raise ValueError(f"times go from {when[0]:g} to {when[-1]:g} s, expected a finite time between them")
    return when


def _torques(run: Run, tau: object) -> TorqueFunction:
    """The torque (nv,) as a function."""
    if not callable(tau):
        nv = run.robot.nv
        constant = np.zeros(nv) if tau is None else array_of("tau", tau, (nv,))
        return lambda t, q, v: constant

    def torque(t: float, q: Array, v: Array) -> Array:
        rows = _called(run, tau, t, q, v)
        return rows if rows.ndim == 1 else rows[0]

    return torque


def _stacks(run: Run, tau: object, order: int | None, tolerance: Tolerance) -> TorqueFunction:
    """The torque and its derivatives (r + 1, nv) as a function."""
    nv = run.robot.nv
    if not callable(tau):
        constant = np.zeros(((order or taylor.order_for(tolerance)) + 1, nv))
        constant[0] = 0.0 if tau is None else array_of("tau", tau, (nv,))
        return lambda t, q, v: constant

    def stack(t: float, q: Array, v: Array) -> Array:
        rows = _called(run, tau, t, q, v)
        if rows.ndim == 1 or len(rows) < 2:
            raise ValueError(
                f"tau(t, q, v) returned shape {rows.shape}, without derivatives: for method 'taylor' return a stack "
                f"(r + 1, {nv}) of the torque and its first r >= 1 time derivatives, or use method 'rkmk'"
            )
        return rows[: (order or MAX_ORDER) + 1]

    return stack


def _called(run: Run, tau: Callable[[float, Array, Array], ArrayLike], t: float, q: Array, v: Array) -> Array:
    """The result of the user's function, checked; it gets copies, so it may write to its arguments."""
    value, nv = tau(t, q.copy(), v.copy()), run.robot.nv
    if is_masked(value):
        raise ValueError("tau(t, q, v) returned a masked array, expected one without a mask")
    try:
        rows = np.asarray(value)
    except (ValueError, TypeError):
        rows = np.asarray(None)
    shape = rows.shape
    if rows.dtype.kind not in "buif" or shape not in ((nv,), (*shape[:1], nv)) or (shape[0] == 0 and nv > 0):
        raise ValueError(f"tau(t, q, v) returned {rows.dtype} of shape {shape}, expected ({nv},) or (r + 1, {nv})")
    if not np.isfinite(rows).all():
        raise run.stopped(f"tau(t, q, v) is not finite, {quoted(rows.tolist())}", at=t)
    return rows.astype(np.float64)


def _saying_so_once(start: float, end: float) -> Report:
    """A report function that warns if the run takes long."""
    due = time.monotonic() + _SILENCE

    def report(t: float, steps: int, why: Callable[[], str]) -> None:
        nonlocal due
        if time.monotonic() >= due and t < end:
            due, cause = math.inf, why()
            warnings.warn(
                f"simulation has come to t = {t:.4g} s of {end:.4g} s after {_SILENCE:g} s and "
                f"{counted(steps, 'step')}{cause and f', because {cause}'}; time_limit and max_steps set limits, "
                "progress=True shows a bar",
                RuntimeWarning,
                stacklevel=5,  # report, tried, integrate, simulate
            )

    return report


@contextmanager
def _reporting(wanted: bool | None, start: float, end: float) -> Iterator[Report]:
    """A report function that shows a bar if that is wanted or the run takes long."""
    if wanted is None and not can_appear():
        yield _saying_so_once(start, end)
        return
    with progress_bar(wanted, "simulation {task.completed:.2f} of {task.total:.2f} s", end - start) as done:
        yield lambda t, steps, why: done(t - start)
