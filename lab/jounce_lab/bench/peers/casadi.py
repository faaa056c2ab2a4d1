"""CasADi: dynamics as an expression graph, differentiated by repeated ``jtimes``, as in paper A, section 7.

Four ways, from paper A's to the best we know:

CasADi                 paper A's: its recursion in spatial axes with the inertias as 6 x 6 matrices, as functions of t,
                       and ``jtimes(y, t, 1)`` r times; evaluated by CasADi's virtual machine. Inverse dynamics only.
CasADi, body axes      the recursion in body axes, with nothing but 3-vectors. For an expression y of (g, q, v, v', ..),
                       g being gravity in the base's axes, a time derivative is one directional derivative,
                       ``y' = jtimes(y, (g, q, v, v', ...), (g x omega, v, v', v'', ...))``. In forward dynamics y is
                       v' by the articulated-body algorithm, and depends on the forces; each derivative, a function of
                       the lower ones, is given them at the end.
CasADi, cse            the same, with common subexpressions eliminated after each: without that the graph triples with
                       each order, because most of it is repeated many times.
CasADi, cse, compiled  the same as C, compiled by ``cc -O1 -march=native``.

All compute the r-th derivative only, take what depends on the base's pose (its Taylor coefficients, or g) as given, and
are called through CasADi's buffers, without conversions: all of this is in their favour.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np

from jounce.model import Model
from jounce.parts.joints import Free, Revolute

from ..race import Array, Call, LeftOut, Problem
from .articulated import accelerations
from .vectors import Vector, cross, rotation, times, total

_COMPILER_SECONDS = 60


def as_in_paper_a(problem: Problem) -> Call | None:
    if problem.quantity != "inverse dynamics" or problem.states > 1:
        return None
    _refuse_explosion(problem)
    m, q, rows = problem.model, problem.q, problem.order + 1
    spatial = m.change_velocity_frame(q, problem.v, "body", "world")
    base = m.pose_derivatives(q, spatial, frames=[0], frame="world")[:rows, 0, :3]  # (rows, 3, 4)
    inputs = [np.zeros(1), base.transpose(0, 2, 1).ravel(), q[7:].copy(), spatial.ravel()]
    truth = m.inverse_dynamics(q, spatial, frame="world")[-1:]
    return _call("jtimes(y, t, 1)", _spatial_function(m, problem.order), inputs, lambda _: truth)


def body_axes(problem: Problem) -> Call | None:
    if problem.quantity not in _GRAPHS or problem.states > 1:
        return None
    _refuse_explosion(problem)
    function = _body_function(problem.model, problem.quantity, problem.order, simplify=False)
    return _call("jtimes", function, _inputs(problem))


def simplified(problem: Problem) -> Call | None:
    if problem.quantity not in _GRAPHS or problem.states > 1:
        return None
    _refuse_growth(problem)
    function = _body_function(problem.model, problem.quantity, problem.order, simplify=True)
    return _call("jtimes, cse", function, _inputs(problem))


def compiled(problem: Problem) -> Call | None:
    if problem.quantity not in _GRAPHS:
        return None
    _refuse_growth(problem)
    function = _compiled_function(problem.model, problem.quantity, problem.order)
    if problem.states == 1:
        return _call("jtimes, cse, C", function, _inputs(problem))
    return _call("jtimes, cse, C, map", function.map(problem.states, "serial"), _inputs(problem), states=problem.states)


def _refuse_explosion(problem: Problem) -> None:
    a_body = 60 if problem.quantity == "inverse dynamics" else 250
    operations = a_body * problem.subject.bodies * 3**problem.order
    if operations > 3_000_000:
        raise LeftOut(f"its graph would have millions of operations at N = {problem.subject.bodies}")


def _refuse_growth(problem: Problem) -> None:
    power, limit = (2, 4000) if problem.quantity == "inverse dynamics" else (3, 5000)
    if problem.subject.bodies * (problem.order + 1) ** power > limit:
        raise LeftOut("building its graph would take half a minute or more")


def _call(
    label: str,
    function: Any,
    inputs: Sequence[Array],
    part: Callable[[Array], Array] = lambda x: x[..., -1:, :],
    states: int = 1,
) -> Call:
    out = np.zeros(function.size1_out(0) * function.size2_out(0))
    buffer, run = function.buffer()
    for i, x in enumerate(inputs):
        buffer.set_arg(i, x.data)
    buffer.set_res(0, out.data)

    def answer() -> Array:
        run()
        return out.reshape(*([states] if states > 1 else []), 1, -1).copy()

    return Call(label, run, answer, part, states, keep=(function, buffer, inputs))


def _inputs(problem: Problem) -> list[Array]:
    """Gravity in the base's axes, the joints' positions, and v or v and tau: of one state, or of all concatenated."""
    pose = problem.model.pose(problem.model.body_names[0], problem.q)
    g = np.einsum("...ji,j->...i", pose[..., :3, :3], problem.model.gravity)
    motion = [problem.v] if problem.quantity == "inverse dynamics" else [problem.v[..., 0, :], problem.tau]
    return [np.ascontiguousarray(x).ravel() for x in (g, problem.q[..., 7:], *motion)]


@lru_cache(maxsize=2)
def _body_function(model: Model, quantity: str, order: int, simplify: bool) -> Any:
    import casadi

    _check(model)
    return casadi.Function("f", *_GRAPHS[quantity](casadi, model, order, casadi.cse if simplify else lambda y: y))


def _inverse(casadi: Any, model: Model, order: int, tidy: Callable[[Any], Any]) -> tuple[list[Any], list[Any]]:
    SX, n = casadi.SX, model.nv
    g, q, v = SX.sym("g", 3), SX.sym("q", n - 6), [SX.sym(f"v{k}", n) for k in range(order + 2)]
    y = tidy(casadi.vertcat(*_newton_euler(model, *(casadi.vertsplit(x) for x in (g, q, v[0], v[1])))))
    state = casadi.vertcat(g, q, *v[:-1])
    rate = casadi.vertcat(casadi.cross(g, v[0][3:6]), v[0][6:], *v[1:])
    for _ in range(order):
        y = tidy(casadi.jtimes(y, state, rate))
    return [g, q, casadi.vertcat(*v)], [y]


def _forward(casadi: Any, model: Model, order: int, tidy: Callable[[Any], Any]) -> tuple[list[Any], list[Any]]:
    """Row k is an expression of (g, q, v), the accelerations' rows before it, and the forces' up to it."""
    SX, n = casadi.SX, model.nv
    g, q, v = SX.sym("g", 3), SX.sym("q", n - 6), SX.sym("v", n)
    a, tau = ([SX.sym(f"{name}{k}", n) for k in range(rows)] for name, rows in (("a", order), ("tau", order + 1)))
    y = [tidy(casadi.vertcat(*accelerations(model, *(casadi.vertsplit(x) for x in (g, q, v, tau[0])))))]
    state = casadi.vertcat(g, q, v, *a[:-1], *tau[:-1])
    rate = casadi.vertcat(casadi.cross(g, v[3:6]), v[6:], *a, *tau[1:])
    for _ in range(order):
        y.append(tidy(casadi.jtimes(y[-1], state, rate)))
    _, last = casadi.substitute_inplace(a, y[:-1], y[-1:]) if order else (a, y)
    return [g, q, v, casadi.vertcat(*tau)], [tidy(last[0])]


@lru_cache(maxsize=2)
def _compiled_function(model: Model, quantity: str, order: int) -> Any:
    import casadi

    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise LeftOut("no C compiler is here")
    function = _body_function(model, quantity, order, simplify=True)
    folder = Path(tempfile.mkdtemp(prefix="jounce-bench-"))
    generator = casadi.CodeGenerator("f.c")
    generator.add(function)
    generator.generate(f"{folder}/")
    library = folder / "f.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-march=native", str(folder / "f.c"), "-o", str(library)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_COMPILER_SECONDS)
        return casadi.external("f", str(library))
    except subprocess.TimeoutExpired:
        raise LeftOut(f"the compiler took more than {_COMPILER_SECONDS} s") from None
    finally:
        shutil.rmtree(folder)


def _newton_euler(model: Model, g: Vector, q: Vector, v: Vector, a: Vector) -> list[Any]:
    """Forces from one sweep out and one back, in body axes; `acc` is the classical acceleration of a body's origin."""
    turn: list[Any] = []
    w: list[Vector] = []
    dw: list[Vector] = []
    acc: list[Vector] = []
    force: list[Vector] = []
    moment: list[Vector] = []
    for i, b in enumerate(model.bodies):
        if i == 0:
            turn.append(None)
            w.append(v[3:6])
            dw.append(a[3:6])
            acc.append([x + y - z for x, y, z in zip(a[:3], cross(v[3:6], v[:3]), g, strict=True)])
        else:
            axis, p, above = b.joint.axis.tolist(), b.placement[:3, 3].tolist(), b.parent  # type: ignore[attr-defined]
            R = rotation(b, q[i - 1])
            back = list(zip(*R, strict=True))
            carried, rate = times(back, w[above]), [x * v[i + 5] for x in axis]
            turn.append(R)
            w.append(total(carried, rate))
            dw.append(total(times(back, dw[above]), cross(carried, rate), [x * a[i + 5] for x in axis]))
            swing = total(cross(dw[above], p), cross(w[above], cross(w[above], p)))
            acc.append(times(back, total(acc[above], swing)))
        m, c, moments = b.inertia.mass, b.inertia.com.tolist(), b.inertia.rotational.tolist()
        push = [m * x for x in total(acc[i], cross(dw[i], c), cross(w[i], cross(w[i], c)))]
        force.append(push)
        moment.append(total(times(moments, dw[i]), cross(w[i], times(moments, w[i])), cross(c, push)))
    tau: list[Any] = [0.0] * model.nv
    for i in range(len(model.bodies) - 1, 0, -1):
        b = model.bodies[i]
        axis, p, above = b.joint.axis.tolist(), b.placement[:3, 3].tolist(), b.parent  # type: ignore[attr-defined]
        tau[i + 5] = sum(x * y for x, y in zip(axis, moment[i], strict=True))
        push = times(turn[i], force[i])
        force[above] = total(force[above], push)
        moment[above] = total(moment[above], times(turn[i], moment[i]), cross(p, push))
    tau[:6] = force[0] + moment[0]
    return tau


@lru_cache(maxsize=1)
def _spatial_function(model: Model, order: int) -> Any:
    """Paper A: Algorithm 2 for r = 0 on motions that are polynomials in t, and ``jtimes(y, t, 1)``."""
    import casadi

    _check(model)
    SX, n, rows = casadi.SX, model.nv, order + 1
    t, C, Q, V = SX.sym("t"), SX.sym("C", 3, 4 * rows), SX.sym("q", n - 6), SX.sym("V", n, rows + 1)

    def polynomial(derivatives: list[Any]) -> Any:
        y = derivatives[-1] / factorial(len(derivatives) - 1)
        for k in reversed(range(len(derivatives) - 1)):
            y = derivatives[k] / factorial(k) + t * y
        return y

    stack = [V[:, k] for k in range(rows + 1)]
    v = polynomial(stack)
    q = polynomial([Q, *(x[6:] for x in stack)])
    base = polynomial([C[:, 4 * k : 4 * k + 4] for k in range(rows)])
    y = _spatial_newton_euler(casadi, model, base, q, v, casadi.jtimes(v, t, 1))
    for _ in range(order):
        y = casadi.jtimes(y, t, 1)
    return casadi.Function("f", [t, C, Q, V], [y])


def _spatial_newton_euler(casadi: Any, model: Model, base: Any, q: Any, v: Any, a: Any) -> Any:
    """Twists, inertias and wrenches in world axes about the world's origin; [linear; angular], unlike the paper."""
    SX, mtimes, skew = casadi.SX, casadi.mtimes, casadi.skew
    R: list[Any] = []
    p: list[Any] = []
    screw: list[Any] = []
    twist: list[Any] = []
    rate: list[Any] = []
    wrench: list[Any] = []
    fall = casadi.vertcat(*model.gravity.tolist(), 0, 0, 0)
    for i, b in enumerate(model.bodies):
        if i == 0:
            R.append(base[:, :3])
            p.append(base[:, 3])
            screw.append(None)
            twist.append(v[:6])
            rate.append(a[:6])
        else:
            above, axis = b.parent, b.joint.axis  # type: ignore[attr-defined]
            step = casadi.blockcat([[SX(x) for x in row] for row in rotation(b, q[i - 1])])
            R.append(mtimes(R[above], step))
            p.append(p[above] + mtimes(R[above], b.placement[:3, 3]))
            turn = mtimes(R[i], axis)
            screw.append(casadi.vertcat(casadi.cross(p[i], turn), turn))
            joint = screw[i] * v[i + 5]
            twist.append(twist[above] + joint)
            rate.append(rate[above] + screw[i] * a[i + 5] + mtimes(_bracket(casadi, twist[i]), joint))
        m, c = b.inertia.mass, skew(b.inertia.com)
        moments = b.inertia.rotational - m * c @ c
        M = casadi.blockcat([[m * np.eye(3), -m * c], [m * c, moments]])
        to_body = casadi.blockcat([[R[i].T, -mtimes(R[i].T, skew(p[i]))], [SX(3, 3), R[i].T]])
        M = mtimes([to_body.T, M, to_body])
        wrench.append(mtimes(M, rate[i] - fall) - mtimes([_bracket(casadi, twist[i]).T, M, twist[i]]))
    tau: list[Any] = []
    for i in range(len(model.bodies) - 1, 0, -1):
        tau.insert(0, casadi.dot(screw[i], wrench[i]))
        wrench[model.bodies[i].parent] += wrench[i]
    return casadi.vertcat(wrench[0], *tau)


def _bracket(casadi: Any, twist: Any) -> Any:
    v, w = casadi.skew(twist[:3]), casadi.skew(twist[3:])
    return casadi.blockcat([[w, v], [casadi.SX(3, 3), w]])


def _check(model: Model) -> None:
    first, *others = model.bodies
    if not isinstance(first.joint, Free) or not all(isinstance(b.joint, Revolute) for b in others):
        raise LeftOut("the graph is written for a free base with revolute joints")


_GRAPHS = {"inverse dynamics": _inverse, "forward dynamics": _forward}
