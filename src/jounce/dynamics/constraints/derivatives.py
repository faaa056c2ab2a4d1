"""Derivatives of motions and forces under constraints with respect to the state and the forces, at every order.

A constraint is a wrench F on its frame B, F = N^T l in B's axes about its origin, and the opposite one on its frame A.
Let J be the Jacobian of the motion of B relative to A in B's axes, V = J v that motion, and A the part of J that comes
from A. A change dq of the motion, with dq' = dv - ad_v dq, displaces B relative to A by eta = J dq, so that
dV = eta' + ad_V eta, and changes rows and wrench by terms linear in eta, dN V = Y eta and dN^T l = E eta. With K, D and
M of inverse dynamics under wrenches fixed in their bodies (partials.py),

    dtau = (K - J^T E J + A^T (J x* F)) dq + D dv + M dv' - (N J)^T dl
    0    = (Y J + N (J' + ad_V J - J ad_v)) dq + N J dv

at every instant. Differentiated k times, these are equations for dv^(k + 1) and dl^(k) with the matrix of the
constrained dynamics itself, the same at every order.

Redundant rows leave dl undetermined in the null space of J^T. As the multipliers returned are the least ones at every
state, l = L^-2 J z (natural.py), it is fixed by dl = L^-2 (dJ z + J dz): P dl = P L^-2 (dJ z + J dz) with a projection
P along the range of L^-2 J, again order by order. Row i of dJ z is -z^T S_i dq, with S_i the factor of dq in the first
equation for a unit multiplier of row i alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame, dimensions, reals, rows_of, shapes
from jounce.dynamics.constraints.constrained import constrained_dynamics, is_stack, stacked_wrenches
from jounce.dynamics.constraints.natural import NaturalRows
from jounce.dynamics.factorials import factorial
from jounce.dynamics.finite import finite_answers
from jounce.dynamics.interruptible import Gathered, States
from jounce.dynamics.partials import ball_columns, bracket_matrix, inverse_partials, skew
from jounce.parts.constraints import ConstraintRecord, Distance, Gear, Rolling, compiled_constraint
from jounce.parts.joints import Universal

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
Series = list[Array]  # Taylor coefficients
_Changes = Sequence[Sequence[Array]]


@dataclass(eq=False, repr=False, slots=True)
class ConstrainedDerivatives:
    """Derivatives of `ConstrainedDynamics`, with respect to q, v and tau.

    For tau (..., nv) the shapes are those below without the axes r + 1. Positions change in left-trivialized tangent
    coordinates, as in `Model.integrate`; `Free` rows and columns are in body axes.

    Attributes:
        acc: as in `ConstrainedDynamics`.
        acc_q, acc_v: (..., r + 1, nv, nv) of every derivative of the acceleration.
        acc_tau: (..., r + 1, r + 1, nv, nv); the second axis is the derivative of tau.
        jacobian: (..., rows, nv), J.
        speed_q: (..., rows, nv) of J v: nearby states that obey the constraints have speed_q dq + J dv = 0.
        forces: as in `ConstrainedDynamics`.
        forces_q, forces_v: by name (..., r + 1, 6, nv), of these forces, in the same axes.
        forces_tau: by name (..., r + 1, r + 1, 6, nv).
    """

    acc: Array
    acc_q: Array
    acc_v: Array
    acc_tau: Array
    jacobian: Array
    speed_q: Array
    _names: tuple[str, ...]
    _forces: Sequence[Array]
    _changes: _Changes | Callable[[], _Changes]  # of forces, by q, v and tau

    def __repr__(self) -> str:
        return shapes(self, "acc", "acc_q", "acc_tau")

    def _by_force(self) -> _Changes:
        if callable(self._changes):
            self._changes = self._changes()
        return self._changes

    def _by_name(self, which: int) -> dict[str, Array]:
        return dict(zip(self._names, self._by_force()[which], strict=True))

    @property
    def forces(self) -> dict[str, Array]:
        return dict(zip(self._names, self._forces, strict=True))

    @property
    def forces_q(self) -> dict[str, Array]:
        return self._by_name(0)

    @property
    def forces_v(self) -> dict[str, Array]:
        return self._by_name(1)

    @property
    def forces_tau(self) -> dict[str, Array]:
        return self._by_name(2)


def constrained_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    wrenches: Mapping[str, ArrayLike] | None,
    wrench_frame: Frame,
    order: int | None = None,
) -> ConstrainedDerivatives:
    """See `Model.constrained_dynamics_derivatives`."""
    names = model.constraint_names
    if not model.constraints:
        free = model.forward_dynamics_derivatives(q, v, tau, wrenches=wrenches, wrench_frame=wrench_frame, order=order)
        order = np.shape(tau)[-2] - 1 if is_stack(v, tau) else 0
        acc = model.forward_dynamics(q, v, tau, wrenches=wrenches, wrench_frame=wrench_frame, order=order)
        none = np.zeros((*np.shape(free[0])[: np.ndim(free[0]) - 2 - is_stack(v, tau)], 0, model.nv))
        return ConstrainedDerivatives(acc, *free, none, none.copy(), names, (), ((), (), ()))
    stacked = is_stack(v, tau)
    if stacked or order is not None:
        model._expect_order_of_forces(q, v, tau, order)
    if not stacked and model._constant_rows:  # done by the core
        by_q, by_v, by_tau, acc, wrench, change_q, change_v, change_tau, jacobian, speed_q, dependent = (
            model._constrained_derivatives(q, v, tau, wrenches, wrench_frame)
        )
        changes: Any = _Parts(change_q, len(names)), _Parts(change_v, len(names)), _Parts(change_tau, len(names))
        forces: Any = np.moveaxis(wrench, -2, 0) if wrench.ndim > 2 else wrench
        if wrench_frame != "body":
            forces, changes = _turned_forces(model, q, forces, changes, wrench_frame)
        if dependent:  # forces of redundant rows take longer: their changes are computed on demand
            motion = constrained_dynamics(model, q, v, tau, wrenches, wrench_frame, "body", None, None)
            forces = list(motion.forces.values())
            at_q, at_v, at_tau = reals("q", q).copy(), reals("v", v).copy(), reals("tau", tau).copy()
            pushes = wrenches and {name: np.array(wrench) for name, wrench in wrenches.items()}

            def changes() -> _Changes:
                later = _at_any_order(model, at_q, at_v, at_tau, pushes, wrench_frame)
                return later._by_force()

        return ConstrainedDerivatives(acc, by_q, by_v, by_tau, jacobian, speed_q, names, forces, changes)
    return _at_any_order(model, q, v, tau, wrenches, wrench_frame)


def _at_any_order(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    wrenches: Mapping[str, ArrayLike] | None,
    wrench_frame: Frame,
) -> ConstrainedDerivatives:
    stacked = is_stack(v, tau)
    own = 2 if stacked else 1  # dimensions of the forces of a state
    states = States(2 * model.nv, q=(q, 1), v=(v, 1), tau=(tau, own), wrenches=(wrenches, own))
    if states.many:
        return _by_pieces(model, states, wrench_frame)
    force = rows_of("tau", tau, model.nv, "nv")
    if not stacked:  # a stack of one row, with the batch dimensions of v
        force = force.reshape((1,) * (dimensions("v", v) - force.ndim) + force.shape)[..., None, :]
    outside = wrenches if stacked or wrenches is None else stacked_wrenches(wrenches)
    motion = constrained_dynamics(model, q, v, force, outside, wrench_frame, "body", None, None, force.shape[-2] - 1)
    first = np.broadcast_to(reals("v", v)[..., None, :], (*motion.acc.shape[:-2], 1, model.nv))
    stack = np.concatenate([first, motion.acc], axis=-2)
    with finite_answers("the derivatives of constrained dynamics") as expect_finite:
        ties = _ties(model, reals("q", q), stack, motion.multipliers)
        held = _held_wrenches(model, ties)
        for wrench in (held or {}).values():  # before the core takes them for arguments
            expect_finite(wrench)
        K, D, M = model._inverse_dynamics_derivatives(q, stack, None, held, "body")
        if outside:
            alone = model._inverse_dynamics_derivatives(q, stack, None, None, "body")
            beside = model._inverse_dynamics_derivatives(q, stack, None, outside, wrench_frame)
            K, D = K + beside[0] - alone[0], D + beside[1] - alone[1]
        solved = _solved(model, reals("q", q), stack, motion.multipliers, ties, K, D, M, wrench_frame)
        changes, jacobian, speed_q = solved
        expect_finite(jacobian, speed_q, *changes[:3], *(x for part in changes[3:] for x in part))
    parts = changes if stacked else tuple(_first(x, i % 3 == 2) for i, x in enumerate(changes))
    acc = motion.acc if stacked else motion.acc[..., 0, :]
    forces = [f if stacked else f[..., 0, :] for f in motion.forces.values()]
    names = model.constraint_names
    return ConstrainedDerivatives(acc, parts[0], parts[1], parts[2], jacobian, speed_q, names, forces, parts[3:])


def _by_pieces(model: Model, states: States, wrench_frame: Frame) -> ConstrainedDerivatives:
    keys = "acc", "acc_q", "acc_v", "acc_tau", "jacobian", "speed_q"
    names, made = model.constraint_names, Gathered(states.lead)
    for some, piece in states.pieces():
        found = _at_any_order(model, piece["q"], piece["v"], piece["tau"], piece.get("wrenches"), wrench_frame)
        kinds = (found._forces, *found._by_force())
        parts = {f"{kind} {i}": kinds[kind][i] for kind in range(4) for i in range(len(names))}
        made.put(some, parts, **{key: getattr(found, key) for key in keys})
    forces, *changes = ([made.mapping[f"{kind} {i}"] for i in range(len(names))] for kind in range(4))
    acc, acc_q, acc_v, acc_tau, jacobian, speed_q = (made[key] for key in keys)
    whole = changes[0], changes[1], changes[2]
    return ConstrainedDerivatives(acc, acc_q, acc_v, acc_tau, jacobian, speed_q, names, forces, whole)


class _Parts(Sequence[Array]):
    """The parts (..., 6, nv) of an array (..., count, 6, nv), in turn."""

    __slots__ = ("_count", "_whole")

    def __init__(self, whole: Array, count: int) -> None:
        self._whole, self._count = whole, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < self._count:
            raise IndexError(i)
        return self._whole[..., i, :, :]


def _first(x: Any, by_force: bool) -> Any:
    """The part of order zero."""
    if isinstance(x, list):
        return [_first(part, by_force) for part in x]
    return x[..., 0, 0, :, :] if by_force else x[..., 0, :, :]


@dataclass
class _Tie:
    """A constraint along the motion, as Taylor coefficients to order r + 1 (J one more)."""

    record: ConstraintRecord
    jacobian: Series  # N J
    known: Series  # the factor of dq in the second equation
    stiffness: Series  # the factor of dq in the first, besides K
    F: Series = field(default_factory=list)
    G: Series = field(default_factory=list)  # the opposite wrench, on A, in its axes; empty if A is the world
    N: Series = field(default_factory=list)
    E: Series = field(default_factory=list)
    J: Series = field(default_factory=list)
    turn: Series = field(default_factory=list)  # turns wrenches on B into those on A


def _times(a: Sequence[Array], b: Sequence[Array], op: Callable[[Array, Array], Array] = np.matmul) -> Series:
    """The product of two series."""
    n = min(len(a), len(b))
    return [_sum(op(a[j], b[k - j]) for j in range(k + 1)) for k in range(n)]


def _sum(terms: Any) -> Array:
    total: Any = 0.0
    for term in terms:
        total = total + term
    result: Array = np.asarray(total)
    return result


def _plus(*series: Sequence[Array]) -> Series:
    return [_sum(terms) for terms in zip(*series, strict=False)]


def _minus(a: Sequence[Array], b: Sequence[Array]) -> Series:
    return [x - y for x, y in zip(a, b, strict=False)]


def _turned(a: Sequence[Array]) -> Series:
    return [np.swapaxes(x, -1, -2) for x in a]


def _rate(a: Sequence[Array]) -> Series:
    return [(k + 1) * a[k + 1] for k in range(len(a) - 1)]


def _taylor(derivatives: Array, axis: int) -> Series:
    """Coefficients from derivatives along an axis."""
    moved = np.moveaxis(derivatives, axis, 0)
    return [moved[k] / factorial(k) for k in range(len(moved))]


def _adjoint(pose: Sequence[Array]) -> Series:
    """Ad (..., 6, 6) of poses (..., 4, 4) on twists [linear; angular]."""
    R, x = [p[..., :3, :3] for p in pose], [skew(p[..., :3, 3]) for p in pose]
    corner = _times(x, R)
    return [np.block([[r, c], [np.zeros_like(r), r]]) for r, c in zip(R, corner, strict=True)]


def _inverse(pose: Array) -> Array:
    return _inverse_pose([pose])[0]


def _inverse_pose(pose: Sequence[Array]) -> Series:
    R = [np.swapaxes(p[..., :3, :3], -1, -2) for p in pose]
    x = _times(R, [p[..., :3, 3:] for p in pose])
    result = []
    for k, (r, c) in enumerate(zip(R, x, strict=True)):
        last = np.zeros((*r.shape[:-2], 1, 4))
        last[..., 0, 3] = k == 0
        result.append(np.concatenate([np.concatenate([r, -c], axis=-1), last], axis=-2))
    return result


def _ties(model: Model, q: Array, stack: Array, multipliers: Array) -> list[_Tie]:
    frames, coordinates = model._frame_index, {k: c[1] for k, c in model._coordinates.items()}
    lead = stack.shape[:-2]
    q = np.broadcast_to(q, (*lead, model.nq))
    velocity = [x[..., None] for x in _taylor(stack, -2)]
    ad = [_whole_bracket(model, x[..., 0]) for x in velocity]
    all_shares = _taylor(multipliers, -2)
    ties = []
    for record in model.constraints:
        rows = model.constraint_rows(record.name)
        shares = [x[..., rows, None] for x in all_shares]
        if isinstance(record.kind, Gear):
            ties.append(_gear(model, q, record, velocity, shares, lead))
            continue
        table = compiled_constraint(record, frames, coordinates)
        pose_b, J = _moved(model, q, stack, record.b, record.pose_b)
        G: Series = []
        turn: Series = []
        across: Series | None = None
        if record.held and record.a != "world":
            pose_a, J_a = _moved(model, q, stack, record.a, record.pose_a)
            relative = _times(_inverse_pose(pose_a), pose_b)
            across = _times(_adjoint(_inverse_pose(relative)), J_a)
            J = _minus(J, across)
        elif record.held:
            relative = [_inverse(record.pose_a) @ p for p in pose_b]
        elif not record.upright:  # where B is at the start
            start = _inverse(pose_b[0])
            relative = [start @ p for p in pose_b]
        else:  # with the world's axes
            relative = pose_b
        V = _times(J, velocity)
        N, E, Y = _rows_and_changes(record, table, relative, V, shares)
        F = _times(_turned(N), shares)
        stiffness = [-x for x in _times(_times(_turned(J), E), J)]
        if across is not None:
            stiffness = _plus(stiffness, _times(_turned(across), _times([_cross_of(f) for f in F], J)))
            turn = _turned(_adjoint(_inverse_pose(relative)))
            G = _times(turn, F)
        inner = _minus(_plus(_rate(J), _times([bracket_matrix(x[..., 0]) for x in V], J)), _times(J, ad))
        known = _plus(_times(Y, J), _times(N, inner))
        ties.append(_Tie(record, _times(N, J), known, stiffness, F, G, N, E, J, turn))
    return ties


def _moved(model: Model, q: Array, stack: Array, name: str, placement: Array) -> tuple[Series, Series]:
    """The pose of a frame placed on a body, and its Jacobian in its own axes, along the motion."""
    lead, orders = stack.shape[:-2], stack.shape[-2] + 1
    if name == "world":
        still = [np.broadcast_to(placement if k == 0 else np.zeros((4, 4)), (*lead, 4, 4)) for k in range(orders)]
        return still, [np.zeros((*lead, 6, model.nv)) for _ in range(orders)]
    poses = model.pose_derivatives(q, stack, frames=[name])[..., 0, :, :]
    jacobian = model.jacobian_derivatives(name, q, stack)
    inward = _adjoint([_inverse(placement)])[0]
    return [x @ placement for x in _taylor(poses, -3)], [inward @ x for x in _taylor(jacobian, -3)]


def _whole_bracket(model: Model, v: Array) -> Array:
    ad = np.zeros((*v.shape, v.shape[-1]))
    for where in ball_columns(model):
        ad[..., where, where] = bracket_matrix(v[..., where])
    return ad


def _cross_of(F: Array) -> Array:
    """The matrix of eta x* F, for a wrench F (..., 6, 1)."""
    f, m = skew(F[..., :3, 0]), skew(F[..., 3:, 0])
    return -np.block([[np.zeros_like(f), f], [f, m]])


def _rows_and_changes(
    record: ConstraintRecord, table: Mapping[str, Any], relative: Series, V: Series, shares: Series
) -> tuple[Series, Series, Series]:
    """N in B's axes, E and Y: how N^T l and N V change with a displacement of B."""
    kind = record.kind
    n = len(V)
    back = [np.swapaxes(p[..., :3, :3], -1, -2) for p in relative][:n]
    lead = back[0].shape[:-2]
    none = np.zeros((*lead, 3, 3))

    def seen(direction: Array) -> Series:  # fixed in A
        return [x @ direction[:, None] for x in back]

    def wedge(series: Series) -> Series:
        return [skew(x[..., 0]) for x in series]

    rows = np.asarray(table["rows"])
    linear, angular = [seen(row[:3]) for row in rows], [seen(row[3:]) for row in rows]
    # How row i changes with eta: dlinear[i] @ eta and dangular[i] @ eta, (..., 3, 6) each.
    dlinear = [[np.concatenate([none, x], axis=-1) for x in wedge(u)] for u in linear]
    dangular = [[np.concatenate([none, x], axis=-1) for x in wedge(u)] for u in angular]
    if isinstance(kind, Distance):
        p = _times(back, [x[..., :3, 3:] for x in relative])
        linear[0] = p
        one = np.broadcast_to(np.eye(3), none.shape)
        dlinear[0] = [np.concatenate([one if k == 0 else none, x], axis=-1) for k, x in enumerate(wedge(p))]
    elif isinstance(kind, Universal):
        other = np.asarray(table["other"])
        axis = seen(np.asarray(table["axis"]))
        angular[3] = [skew(other) @ x for x in axis]
        dangular[3] = [np.concatenate([none, skew(other) @ x], axis=-1) for x in wedge(axis)]
    elif isinstance(kind, Rolling):
        lever, dlever = _contact(np.asarray(table["other"]), seen(kind.normal), kind.radius, wedge)
        for i in range(3):
            angular[i] = _times(wedge(lever), linear[i])
            dangular[i] = [
                np.concatenate([none, x], axis=-1)
                for x in _minus(_times(wedge(lever), wedge(linear[i])), _times(wedge(linear[i]), dlever))
            ]
    N = [
        np.concatenate(
            [np.swapaxes(np.concatenate([u[k], w[k]], axis=-2), -1, -2) for u, w in zip(linear, angular, strict=True)],
            axis=-2,
        )
        for k in range(n)
    ]
    E = [np.zeros((*lead, 6, 6)) for _ in range(n)]
    Y = []
    for i in range(len(rows)):
        change = [np.concatenate(pair, axis=-2) for pair in zip(dlinear[i], dangular[i], strict=True)]  # (..., 6, 6)
        E = _plus(E, _times([x[..., i : i + 1, :] for x in shares], change, np.multiply))
        Y.append(_times(_turned(V), change))
    return N, E, [np.concatenate([y[k] for y in Y], axis=-2) for k in range(n)]


def _contact(other: Array, normal: Series, radius: float, wedge: Callable[[Series], Series]) -> tuple[Series, Series]:
    """From a wheel's or ball's centre to its contact point, in B's axes, and how that changes as B turns."""
    turn = wedge(normal)  # d normal = [normal] eta_w
    if not other.any():
        return [-radius * x for x in normal], [-radius * x for x in turn]
    o = other[:, None]
    h = [other[None] @ x for x in normal]
    z = [(1.0 if k == 0 else 0.0) - x for k, x in enumerate(_times(h, h))]
    y: Series = [z[0] ** -0.5]
    for n in range(1, len(z)):
        y.append(_sum((-0.5 * j - (n - j)) * z[j] * y[n - j] for j in range(1, n + 1)) / (n * z[0]))
    across = _minus(normal, [o @ x for x in h])
    lever = [-radius * x for x in _times(across, y)]
    dh = [other[None] @ x for x in turn]
    dacross = _minus(turn, [o @ x for x in dh])
    dy = _times(_times(_times(y, y), _times(y, h)), dh)
    change = _plus(_times(y, dacross, lambda a, b: a * b), _times(across, dy))
    return lever, [-radius * x for x in change]


def _gear(
    model: Model, q: Array, record: ConstraintRecord, velocity: Series, shares: Series, lead: tuple[int, ...]
) -> _Tie:
    assert isinstance(record.kind, Gear)
    first, second = model.coordinate(record.a).start, model.coordinate(record.b).start
    at = [q[..., model.position(record.a).start]]
    at += [velocity[k][..., first, 0] / (k + 1) for k in range(len(velocity))]
    slope, curve = (np.polynomial.polynomial.polyder(record.kind.polynomial, m) for m in (1, 2))

    def along(coefficients: Any) -> Series:
        total = [np.zeros(lead) for _ in at]
        for c in coefficients[::-1]:
            total = _times(total, at, np.multiply)
            total[0] = total[0] + c
        return total

    J = []
    for k, x in enumerate(along(slope)):
        row = np.zeros((*lead, 1, model.nv))
        row[..., 0, first] = -x
        row[..., 0, second] += k == 0
        J.append(row)
    bend = along(curve)
    known, stiffness = [], []
    for x in _times(bend, [u[..., first, 0] for u in velocity], np.multiply):
        known.append(np.zeros((*lead, 1, model.nv)))
        known[-1][..., 0, first] = -x
    for x in _times(bend, [u[..., 0, 0] for u in shares], np.multiply):
        stiffness.append(np.zeros((*lead, model.nv, model.nv)))
        stiffness[-1][..., first, first] = x
    return _Tie(record, J, known, stiffness, N=J)


def _held_wrenches(model: Model, ties: Sequence[_Tie]) -> dict[str, Array] | None:
    """The wrenches of all constraints on bodies, in their axes, with derivatives."""
    total: dict[str, Array] = {}
    for tie in ties:
        if isinstance(tie.record.kind, Gear):
            continue
        sides = [(tie.record.b, tie.record.pose_b, tie.F, 1.0)]
        if tie.G:
            sides.append((tie.record.a, tie.record.pose_a, tie.G, -1.0))
        for name, placement, wrench, sign in sides:
            if name == "world":
                continue
            outward = sign * _adjoint([_inverse(placement)])[0].T
            value = np.stack([factorial(k) * (outward @ w)[..., 0] for k, w in enumerate(wrench)], axis=-2)
            total[name] = total[name] + value if name in total else value
    return total or None


def _solved(
    model: Model,
    q: Array,
    stack: Array,
    multipliers: Array,
    ties: Sequence[_Tie],
    K: Array,
    D: Array,
    M: Array,
    wrench_frame: Frame,
) -> tuple[Any, ...]:
    rows, nv = K.shape[-3], model.nv
    lead = stack.shape[:-2]

    def derivatives(parts: Sequence[Series], count: int, axis: int) -> Array:
        return np.stack(
            [factorial(k) * np.concatenate([p[k] for p in parts], axis=axis) for k in range(count)], axis=-3
        )

    K = K + np.stack([factorial(k) * _sum(t.stiffness[k] for t in ties) for k in range(rows)], axis=-3)
    J = derivatives([t.jacobian for t in ties], rows + 1, -2)
    known = derivatives([t.known for t in ties], rows + 1, -2)
    tau_q, tau_v = inverse_partials(model, stack, K, D, M)
    speed_q, speed_v = inverse_partials(
        model, np.concatenate([stack, np.zeros_like(stack[..., :1, :])], axis=-2)[..., : rows + 2, :], known, J, None
    )
    m = J.shape[-2]
    transposed = np.swapaxes(J, -1, -2)
    matrix = np.zeros((*lead, nv + m, nv + m))
    matrix[..., :nv, :nv], matrix[..., :nv, nv:], matrix[..., nv:, :nv] = (
        M[..., 0, :, :],
        -transposed[..., 0, :, :],
        J[..., 0, :, :],
    )
    exact = model.constraint_jacobian(q)  # rows that are rounding errors are zero
    rows_now = NaturalRows(model, np.broadcast_to(exact, (*lead, m, nv)))
    sizes, row_sizes = rows_now.column_sizes, rows_now.row_sizes
    mass = float(np.abs(sizes[:, None] * M[..., 0, :, :] * sizes).max(initial=0.0)) or 1.0
    least = None
    if rows_now.rank.min(initial=m) < m:
        square = rows_now.loads**2
        inverse = rows_now.inverse * square  # from multipliers to z
        open_ = np.eye(m) - rows_now.J / square[:, None] @ inverse  # P
        open_ = open_ * row_sizes[:, None] ** 2 / mass  # as large as J
        met = rows_now.J @ rows_now.inverse  # onto the range of J
        least = _LeastChanges(model, q, stack, multipliers, J / square[:, None], inverse)
        matrix[..., nv:, nv:] = open_
    of_equations = np.concatenate([sizes / mass, 1 / row_sizes])[:, None]
    of_unknowns = np.concatenate([sizes, mass / row_sizes])[:, None]
    matrix = of_equations * matrix * of_unknowns.T  # in natural sizes
    width = (2 + rows) * nv
    acc = np.zeros((*lead, rows, nv, width))
    dl = np.zeros((*lead, rows, m, width))
    for k in range(rows):
        right = np.zeros((*lead, nv + m, width))
        right[..., :nv, (2 + k) * nv : (3 + k) * nv] = np.eye(nv)
        right[..., :nv, :nv] -= tau_q[..., k, :, :]
        right[..., :nv, nv : 2 * nv] -= tau_v[..., k, 0, :, :]
        right[..., nv:, :nv] -= speed_q[..., k + 1, :, :]
        right[..., nv:, nv : 2 * nv] -= speed_v[..., k + 1, 0, :, :]
        for j in range(k):
            right[..., :nv, :] -= tau_v[..., k, j + 1, :, :] @ acc[..., j, :, :]
            right[..., :nv, :] += comb(k, j) * transposed[..., k - j, :, :] @ dl[..., j, :, :]
            right[..., nv:, :] -= speed_v[..., k + 1, j + 1, :, :] @ acc[..., j, :, :]
        if least is not None:
            right[..., nv:, :] = met @ right[..., nv:, :] + open_ @ least.wanted(acc, k)
        found = of_unknowns * np.linalg.solve(matrix, of_equations * right)
        acc[..., k, :, :], dl[..., k, :, :] = found[..., :nv, :], found[..., nv:, :]
        if least is not None:
            least.take(dl[..., k, :, :])
    split = [_split(x, nv, rows) for x in (acc, *_force_changes(model, q, stack, ties, acc, dl, wrench_frame))]
    by_name = tuple([s[i] for s in split[1:]] for i in range(3))
    return (*split[0], *by_name), J[..., 0, :, :], speed_q[..., 0, :, :]


class _LeastChanges:
    """How the least multipliers change if rows are redundant, order by order."""

    def __init__(self, model: Model, q: Array, stack: Array, multipliers: Array, J: Array, inverse: Array) -> None:
        self._model, self._stack = model, stack
        self._J = _taylor(J, -3)  # L^-2 J
        self._square = model._natural_sizes()[2][:, None] ** 2
        self._inverse = inverse
        self._z: Series = []
        for k, x in enumerate(_taylor(multipliers, -2)):
            known = _sum(self._J[j] @ self._z[k - j] for j in range(1, k + 1))
            self._z.append(self._inverse @ (x[..., None] - known))
        self._S = self._row_stiffness(q)
        self._dz: Series = []
        self._wanted = np.zeros(())

    def _row_stiffness(self, q: Array) -> Series:
        """S_i, (rows, ..., nv, nv)."""
        m, model = self._J[0].shape[-2], self._model
        lead, orders = self._stack.shape[:-2], self._stack.shape[-2] - 1
        stack = np.broadcast_to(self._stack, (m, *self._stack.shape))
        q = np.broadcast_to(q, (m, *lead, model.nq))
        free = model._inverse_dynamics_derivatives(q[0], stack[0], None, None, "body")[0]
        rows, sizes, *_ = model._natural_sizes()
        energy = float(np.abs(sizes[:, None] * free[..., 0, :, :] * sizes).max(initial=0.0)) or 1.0
        units = energy / rows  # as large as other forces, so that their difference keeps its digits
        multipliers = np.zeros((m, *lead, orders, m))
        for i, one in enumerate(units):
            multipliers[i, ..., 0, i] = one
        ties = _ties(model, q, stack, multipliers)
        held = _held_wrenches(model, ties)
        K = model._inverse_dynamics_derivatives(q, stack, None, held, "body")[0] - free if held else np.zeros_like(free)
        units = units.reshape(m, *(1,) * (len(lead) + 2))
        return [(x + _sum(t.stiffness[k] for t in ties)) / units for k, x in enumerate(_taylor(K, -3))]

    def wanted(self, acc: Array, k: int) -> Array:
        """The k-th derivative of L^-2 (dJ z + J dz) without that of dz, from changes of lower-order accelerations."""
        dq = _displacements(self._model, self._stack, acc, k)
        total = _sum(self._J[j] @ self._dz[k - j] for j in range(1, k + 1))
        for a in range(k + 1):
            z = np.swapaxes(self._z[a], -1, -2)
            change = _sum(self._S[b] @ dq[k - a - b] for b in range(k - a + 1))
            total = total - np.moveaxis((z @ change)[..., 0, :], 0, -2) / self._square
        self._wanted = factorial(k) * total
        return self._wanted

    def take(self, dl: Array) -> None:
        """Stores the k-th derivative of dl once found."""
        self._dz.append(self._inverse @ (dl - self._wanted) / factorial(len(self._dz)))


def _displacements(model: Model, stack: Array, acc: Array, orders: int) -> Series:
    """dq by all variables, up to an order, from the changes of accelerations (..., r + 1, nv, width)."""
    nv = model.nv
    ad = [_whole_bracket(model, x) for x in _taylor(stack, -2)]
    dv = np.zeros((*acc.shape[:-3], 1, nv, acc.shape[-1]))
    dv[..., 0, :, nv : 2 * nv] = np.eye(nv)
    dv_series = _taylor(np.concatenate([dv, acc], axis=-3), -3)
    dq = [np.zeros_like(dv_series[0])]
    dq[0][..., :, :nv] = np.eye(nv)
    for k in range(orders):
        dq.append((dv_series[k] - _sum(ad[j] @ dq[k - j] for j in range(k + 1))) / (k + 1))
    return dq


def _force_changes(
    model: Model, q: Array, stack: Array, ties: Sequence[_Tie], acc: Array, dl: Array, wrench_frame: Frame
) -> list[Array]:
    """Changes of the wrenches by all variables: through the multipliers and the displacements of B and of A."""
    dq = _displacements(model, stack, acc, acc.shape[-3])
    all_dl = _taylor(dl, -3)
    changes = []
    for tie in ties:
        where = model.constraint_rows(tie.record.name)
        own = [x[..., where, :] for x in all_dl]
        if isinstance(tie.record.kind, Gear):
            changes.append(_stacked(_gear_change(model, tie, own, dq)))
            continue
        eta = _times(tie.J, dq)
        change = _plus(_times(_turned(tie.N), own), _times(tie.E, eta))
        placement, wrench = tie.record.pose_b, tie.F
        if tie.G:
            moved = _plus(change, _times([_cross_of(f) for f in tie.F], eta))
            change = [-x for x in _times(tie.turn, moved)]
            placement, wrench = tie.record.pose_a, [-x for x in tie.G]
        outward = _adjoint([_inverse(placement)])[0].T
        change = [outward @ x for x in change]
        if wrench_frame != "body":
            pose, J = _moved(model, q, stack, tie.record.named, np.eye(4))
            change = _in_axes(pose, [outward @ x for x in wrench], change, _times(J, dq), wrench_frame)
        changes.append(_stacked(change))
    return changes


def _in_axes(
    pose: Sequence[Array], wrench: Sequence[Array], change: Sequence[Array], moved: Sequence[Array], wrench_frame: Frame
) -> Series:
    """The change of a wrench in world or mixed axes, from that in the axes of its frame.

    The frame has this pose, and moves by `moved` in its own axes.
    """
    if wrench_frame == "mixed":  # as in the world, but about the frame's origin wherever that is
        pose = [np.concatenate([p[..., :3], p[..., 3:] * [[0], [0], [0], [1]]], axis=-1) for p in pose]
        moved = [np.concatenate([0 * x[..., :3, :], x[..., 3:, :]], axis=-2) for x in moved]
    total = _plus(change, _times([_cross_of(f) for f in wrench], moved))
    return _times(_turned(_adjoint(_inverse_pose(pose))), total)


def _turned_forces(
    model: Model, q: ArrayLike, forces: Sequence[Array], changes: Sequence[Sequence[Array]], wrench_frame: Frame
) -> tuple[list[Array], Callable[[], _Changes]]:
    """Forces of order zero in world or mixed axes, and their changes, which are computed on demand."""
    at, names = reals("q", q).copy(), [c.named for c in model.constraints]

    def turned(name: str, wrench: Array, change: Array, moved: Array) -> Array:
        return _in_axes([model.pose(name, at)], [wrench[..., None]], [change], [moved], wrench_frame)[0]

    def later() -> _Changes:
        moved = [model.jacobian(name, at) for name in names]
        every = [moved, [0 * J for J in moved], [0 * J for J in moved]]  # by q, v and tau
        return [list(map(turned, names, forces, *each)) for each in zip(changes, every, strict=True)]

    still = np.zeros((6, 1))
    return [turned(n, w, w[..., None], still)[..., 0] for n, w in zip(names, forces, strict=True)], later


def _gear_change(model: Model, tie: _Tie, dl: Series, dq: Series) -> Series:
    """Changes of the forces of a gear on its two joints, -f'(q) l and l."""
    first = model.coordinate(tie.record.a)
    slope = [x[..., :, first] for x in tie.jacobian]
    if tie.record.a == tie.record.b:  # the column also contains the 1 of the second
        slope[0] = slope[0] - 1.0
    on_first = _plus(_times(slope, dl), [-x for x in _times([k[..., first, :] for k in tie.stiffness], dq)])
    return [np.concatenate(pair, axis=-2) for pair in zip(on_first, dl, strict=False)]


def _stacked(series: Series) -> Array:
    return np.stack([factorial(k) * x for k, x in enumerate(series)], axis=-3)


def _split(x: Array, nv: int, rows: int) -> tuple[Array, Array, Array]:
    """Splits derivatives into those by q, v, and each derivative of tau."""
    by_force = np.moveaxis(x[..., 2 * nv :].reshape(*x.shape[:-1], rows, nv), -2, -3)
    return x[..., :nv], x[..., nv : 2 * nv], by_force
