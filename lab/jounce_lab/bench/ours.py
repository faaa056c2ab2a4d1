"""jounce's side of each race."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jounce import control
from jounce.model import Model

from .hover import STEP, horizon, hovering, regulated
from .race import Array, Call, Problem

_Run = Callable[[], object]
STACKS = ("inverse dynamics", "forward dynamics", "constrained dynamics")  # of any order


def our_call(problem: Problem, threads: int = 1) -> Call:
    """How jounce is called, as a user would from Python."""
    if (found := _control(problem)) is not None:
        return found
    m, q, v, tau = problem.model, problem.q, problem.v, problem.tau
    label, run = _run(m, problem.quantity, q, v, tau)
    many = problem.states > 1
    return Call(label, run, lambda: _plain(problem.quantity, run(), m, many), states=problem.states, threads=threads)


def _control(problem: Problem) -> Call | None:
    """Of the linear systems near a hover."""
    lin = hovering(problem)
    if lin is None:
        return None
    Q, R = regulated(lin)
    if problem.quantity == "regulator":
        return Call("control.lqr", lambda: control.lqr(lin, Q, R), lambda: control.lqr(lin, Q, R).K)
    if problem.quantity == "discrete time":
        return Call(
            "discretize",
            lambda: lin.discretize(STEP),
            lambda: np.concatenate(lin.discretize(STEP), axis=-1),
            states=problem.states,
        )
    times = horizon(problem)

    def back() -> Array:
        return control.riccati(times, lin.A, lin.B, Q, R, Q)[0]

    return Call("control.riccati", back, back, states=problem.states)


def one_state(problem: Problem) -> Call:
    """One state of a batch, less the cost of a call from Python: that of a robot with a single joint."""
    m, states = problem.model, problem.states
    _, run = _run(m, problem.quantity, problem.q[0], problem.v[0], problem.tau[0])
    tiny, rng = _one_joint(), np.random.default_rng(0)
    rows = problem.order + 1
    _, overhead = _run(tiny, problem.quantity, np.zeros(1), rng.normal(size=(rows + 1, 1)), rng.normal(size=(rows, 1)))
    return Call(
        "one state a call, less the call's overhead",
        run,
        lambda: np.broadcast_to(_plain(problem.quantity, run(), m, False), (states, rows, m.nv))[:1],
        part=lambda x: x[:1],
        overhead=overhead,
    )


def one_thread(problem: Problem) -> Call:
    call = our_call(problem)
    return Call("one thread", call.run, call.answer, states=problem.states)


def first_order(problem: Problem) -> Call:
    """The same without derivatives."""
    m, quantity = problem.model, problem.quantity
    label, run = _run(m, quantity, problem.q, problem.v[..., :2, :], problem.tau[..., :1, :])
    return Call(f"{label}, r = 0", run, lambda: _plain(quantity, run(), m, problem.states > 1), lambda x: x[..., :1, :])


def _run(m: Model, quantity: str, q: Array, v: Array, tau: Array) -> tuple[str, _Run]:
    order = v.shape[-2] - 2
    first, second, force = (np.ascontiguousarray(x[..., k, :]) for x, k in ((v, 0), (v, 1), (tau, 0)))
    forces = force if order == 0 else tau
    runs: dict[str, tuple[str, _Run]] = {
        "inverse dynamics": (
            "inverse_dynamics",
            (lambda: m.inverse_dynamics(q, first, second)) if order == 0 else (lambda: m.inverse_dynamics(q, v)),
        ),
        "forward dynamics": ("forward_dynamics", lambda: m.forward_dynamics(q, first, forces)),
        "constrained dynamics": ("forward_dynamics", lambda: m.forward_dynamics(q, first, forces)),
        "bias force": ("bias_force", lambda: m.bias_force(q, first)),
        "mass matrix": ("mass_matrix", lambda: m.mass_matrix(q)),
        "Jacobian": ("jacobian", lambda: m.jacobian(m.body_names[-1], q)),
        "inverse mass matrix": ("inverse_mass_matrix", lambda: m.inverse_mass_matrix(q)),
        "derivatives of inverse dynamics": (
            "inverse_dynamics_derivatives",
            lambda: m.inverse_dynamics_derivatives(q, first, second),
        ),
        "derivatives of forward dynamics": (
            "forward_dynamics_derivatives",
            lambda: m.forward_dynamics_derivatives(q, first, force),
        ),
        "linearization": ("linearize", lambda: m.linearize(q, first, force)),
    }
    return runs[quantity]


def _plain(quantity: str, result: object, m: Model, many: bool) -> Array:
    """The result as an array of rows."""
    if quantity == "linearization":
        A, B = result.A, result.B  # type: ignore[attr-defined]
        return np.stack([A[m.nv :, : m.nv], A[m.nv :, m.nv :], B[m.nv :]])
    if isinstance(result, tuple):
        return np.stack(result)
    array = np.asarray(result)
    stacked = quantity in STACKS
    return array[..., None, :] if stacked and array.ndim == 1 + many else array


def _one_joint() -> Model:
    from jounce import Builder, Inertia, Revolute

    builder = Builder()
    builder.add("link", "world", Revolute((0.0, 0.0, 1.0)), inertia=Inertia(1.0, rotational=(1.0, 1.0, 1.0)))
    return builder.build()
