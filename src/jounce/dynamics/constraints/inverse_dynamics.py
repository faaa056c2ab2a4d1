"""Inverse dynamics under constraints: the least motor forces that produce a motion, and their true rates.

The tree's inverse dynamics gives the force f(t) on all coordinates. Motors, at the columns B, and constraints share it,

    B tau + J^T l = f,

in many ways. Of these, tau^T W tau + l^T V l is least if and only if there is a y(t) with

    W tau = B^T y,    V l = J y.

so with H = B W^-1 B^T, the motions that motors resist least,

    H y + J^T l = f,    J y - V l = 0,    tau = W^-1 B^T y.

All of this is differentiated: with J(t) and f(t) as series, the coefficients of order k of l and y are multiplied by
the same matrix at every order, and those of lower orders are known. So the rates are the derivatives of the optimum,
which is not the optimum of each order by itself.

l may be undetermined, in directions u in the null spaces of both J^T and V: u^T l = 0 is added, and then the least l
is taken as in the limit V -> 0 (`least_multipliers`). So may y be, where no motor and no constraint acts; it is zero
there. As long as the rank is constant, any choice of its lower orders leads to the same tau and l. Those of the
equations J y = V l that do not involve J, u^T V l = 0 for u^T J = 0, may be as small as V is: they are scaled up to
the size of the others. All of it is in natural sizes (natural.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame, array_of, quoted, rows_of, shapes
from jounce._core import NEGLIGIBLE, least_multipliers, pseudo_inverse
from jounce.dynamics.constraints.constrained import by_name, stacked_wrenches
from jounce.dynamics.constraints.frames import apply
from jounce.dynamics.constraints.natural import pace
from jounce.dynamics.factorials import factorial
from jounce.dynamics.finite import finite_answers
from jounce.dynamics.interruptible import Gathered, States
from jounce.dynamics.named_coordinates import actuated_columns
from jounce.errors import ConstraintError

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_OBEYED = 1e-7  # largest violation of a constraint by a motion, relative to the velocities involved
_ROUNDING = 1e-10  # the same, relative to all velocities of the robot
_PRODUCED = 1e-7  # largest residual of a force, relative to its components
_ROUNDED_FORCE = 1e-10  # the same, relative to those of all coordinates


@dataclass(frozen=True, eq=False, repr=False)
class ConstrainedInverseDynamics:
    """The forces of motors and of constraints that produce a motion.

    Attributes:
        tau: (..., nv), zero in columns that are not actuated, or with its derivatives (..., r + 1, nv).
        forces: of the constraints by name, as in `ConstrainedDynamics`.
        multipliers: (..., rows), or (..., r + 1, rows), of the rows of `Model.constraint_jacobian`.
        stacked: whether there are derivatives, because the motion was given as a stack.
    """

    tau: Array
    forces: dict[str, Array]
    multipliers: Array
    stacked: bool = False

    def __repr__(self) -> str:
        return shapes(self, "tau", "multipliers")

    def _repr_html_(self) -> str:
        from jounce.display.results_html import constrained_html

        return constrained_html(self, "tau")


def constrained_inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike | None,
    actuated: ArrayLike | Sequence[str] | None,
    weight: ArrayLike | None,
    force_weight: ArrayLike | None,
    wrenches: Mapping[str, ArrayLike] | None,
    wrench_frame: Frame,
    frame: Frame,
    order: int | None = None,
    first: int = 0,
) -> ConstrainedInverseDynamics:
    """See `Model.constrained_inverse_dynamics`; `first`: the number of the first state, for messages."""
    own = 2 if a is None else 1  # dimensions of v and of the wrenches of a state
    states = States(model.nv, q=(q, 1), v=(v, own), a=(a, 1), wrenches=(wrenches, own))
    if states.many:
        made = Gathered(states.lead)
        for some, piece in states.pieces():
            motion, pushes = (piece["q"], piece["v"], piece.get("a")), piece.get("wrenches")
            found = constrained_inverse_dynamics(
                model, *motion, actuated, weight, force_weight, pushes, wrench_frame, frame, order, some.start
            )
            made.put(some, found.forces, tau=found.tau, multipliers=found.multipliers)
        return ConstrainedInverseDynamics(made["tau"], made.mapping, made["multipliers"], a is None)
    columns = actuated_columns(model, actuated)
    W = _weight("weight", weight, 1.0, len(columns), "actuated coordinates", True)
    V = _weight("force_weight", force_weight, 0.0, sum(c.rows for c in model.constraints), "constraints' rows", False)
    force = model.inverse_dynamics(q, v, a, wrenches=wrenches, wrench_frame=wrench_frame, frame=frame, order=order)
    velocity = rows_of("v", v, model.nv, "nv")
    if a is None:
        stack = velocity
    else:
        force = force[..., None, :]
        stack = np.stack(np.broadcast_arrays(velocity, rows_of("a", a, model.nv, "nv")), axis=-2)
    order = stack.shape[-2] - 2
    J = model.constraint_jacobian_derivatives(q, stack[..., : order + 1, :], frame=frame, order=order + 1)
    _expect_obeyed(model, J, stack, first)
    scale = np.array([factorial(k) for k in range(order + 1)])
    lead = force.shape[:-2]
    J = np.broadcast_to(J[..., : order + 1, :, :], (*lead, order + 1, *J.shape[-2:])) / scale[:, None, None]
    inertial = np.einsum("...ij,...kj->...ki", model.mass_matrix(q, frame=frame), stack[..., 1:, :])
    with finite_answers("constrained inverse dynamics") as expect_finite:
        given = W, V, J, force / scale[:, None], inertial / scale[:, None]
        tau, multipliers = _least(model, columns, *given, expect_finite, first)
        tau, multipliers = tau * scale[:, None], np.ascontiguousarray(multipliers * scale[:, None])
        expect_finite(tau, multipliers)
    full = np.zeros((*lead, order + 1, model.nv))
    full[..., columns] = tau
    if not model.constraints:
        parts = (full, multipliers) if a is None else (full[..., 0, :], multipliers[..., 0, :])
        return ConstrainedInverseDynamics(parts[0], {}, parts[1])
    # The core computes the wrenches, and their rates, in any axes; redundant rows keep the given multipliers.
    none = [False] * len(model.constraints)
    pushes = wrenches if a is None or wrenches is None else stacked_wrenches(wrenches)
    fixed = (q, stack[..., 0, :], None, full, None, pushes, wrench_frame, frame)
    _, _, forces, multipliers, _ = model._constrained_dynamics(*fixed, None, none, multipliers, 0.0, 0.0)
    if a is not None:
        full, forces, multipliers = full[..., 0, :], forces[..., 0, :, :], multipliers[..., 0, :]
    return ConstrainedInverseDynamics(full, by_name(model, forces), multipliers, a is None)


def _weight(name: str, given: ArrayLike | None, default: float, n: int, of: str, definite: bool) -> Array:
    """A symmetric matrix (n, n), given as a number, a diagonal or a matrix."""
    if given is None:
        return default * np.eye(n)
    W = array_of(name, given, (), (n,), (n, n))
    if W.ndim < 2:
        W = np.eye(n) * W
    elif np.abs(W - W.T).max(initial=0.0) > 1e-9 * np.abs(W).max(initial=0.0):
        raise ValueError(f"{name} is {quoted(given)}, expected a symmetric matrix of the {n} {of}")
    W = W / 2 + W.T / 2
    least, most = np.linalg.eigvalsh(W)[[0, -1]] if n else (1.0, 1.0)
    if definite and not least > 1e-12 * most:
        raise ValueError(f"{name} is {quoted(given)}, expected a positive number, or a positive definite matrix")
    if not definite and not least >= -1e-12 * abs(most):
        raise ValueError(
            f"{name} is {quoted(given)}, expected a non-negative number, or a positive semidefinite matrix"
        )
    return W


def _least(
    model: Model,
    columns: NDArray[np.intp],
    W: Array,
    V: Array,
    J: Array,
    force: Array,
    inertial: Array,
    expect_finite: Callable[..., None],
    first: int,
) -> tuple[Array, Array]:
    """Coefficients of tau (..., r + 1, actuated) and l (..., r + 1, rows); `inertial`: M a, a part of the forces."""
    rows, sizes, loads, _ = model._natural_sizes()
    nv, m, lead = model.nv, J.shape[-2], J.shape[:-3]
    J, force, inertial = J / rows[:, None] * sizes, sizes * force, sizes * inertial
    own = np.abs(force) + np.abs(inertial)
    B = np.eye(nv)[:, columns]
    answer = np.linalg.solve(W, B.T * sizes)  # tau = answer @ y
    H = sizes[:, None] * (B @ answer)
    largest = float(np.abs(H).max(initial=0.0)) or 1.0
    H, V = H / largest, V / rows[:, None] / rows * largest
    expect_finite(H, V, J, force)
    J0, transposed = J[..., 0, :, :], np.swapaxes(J, -1, -2)
    acting = np.concatenate([np.broadcast_to(B, (*lead, nv, len(columns))), transposed[..., 0, :, :]], axis=-1)
    beyond = _complement(acting)  # what motors and constraints cannot do
    size = float(np.abs(V).max(initial=0.0))
    seen = np.concatenate([J, np.zeros((*J.shape[:-1], m))], axis=-1)
    seen[..., 0, :, nv:] = V / (size or 1.0)
    unseen = _complement(seen[..., 0, :, :])
    U, turn = _apart(J0, size)
    K = np.zeros((*lead, m + nv, m + nv))
    K[..., :m, :m], K[..., :m, m:] = U @ unseen - turn @ V, turn @ J0
    K[..., m:, :m], K[..., m:, m:] = transposed[..., 0, :, :], H + beyond
    shares: list[Array] = []
    y: list[Array] = []
    for k in range(force.shape[-2]):
        right = np.zeros((*lead, m + nv))
        right[..., m:] = force[..., k, :]
        for j in range(1, k + 1):
            right[..., :m] -= apply(turn, apply(J[..., j, :, :], y[k - j]))
            right[..., m:] -= apply(transposed[..., j, :, :], shares[k - j])
        missing = apply(beyond, right[..., m:])
        _expect_produced(model, missing, sizes, own[..., k, :] + 1e-3 * own[..., 0, :] * pace(model) ** k, k, first)
        right[..., m:] -= missing
        found = np.linalg.solve(K, right[..., None])[..., 0]
        shares.append(found[..., :m])
        y.append(found[..., m:])
    tau = np.stack([apply(answer, each) for each in y], axis=-2) / largest
    # Of all equivalent l, the least.
    weights = rows / loads
    return tau, least_multipliers(weights[:, None] * seen, np.stack(shares, axis=-2) / weights, weights) / loads


def _complement(A: Array) -> Array:
    """The projection onto what is orthogonal to the columns of A (..., n, m).

    Where A is nearly singular, 1 - A A^+ has lost digits where it should vanish; its square has not.
    """
    beyond = np.eye(A.shape[-2]) - A @ pseudo_inverse(A)
    square: Array = beyond @ beyond
    return square


def _apart(J0: Array, size: float) -> tuple[Array, Array]:
    """U^T (..., rows, rows) splits J y = V l into equations with J and those of V alone; also with these scaled up."""
    if not J0.size:
        none = np.zeros((*J0.shape[:-1], J0.shape[-2]))
        return none, none
    U, values, _ = np.linalg.svd(J0)
    seen = np.zeros(U.shape[:-1], dtype=bool)
    seen[..., : values.shape[-1]] = values > NEGLIGIBLE
    split = np.swapaxes(U, -1, -2)
    turn: Array = np.where(seen, 1.0, 1.0 / size if size > 0 else 1.0)[..., None] * split
    return split, turn


def _expect_obeyed(model: Model, J: Array, stack: Array, first: int) -> None:
    """Checks that all derivatives of J v vanish, in natural sizes."""
    rows, sizes, *_ = model._natural_sizes()
    scale = np.array([factorial(k) for k in range(stack.shape[-2])])
    J, v = J / rows[:, None] * sizes / scale[:, None, None], stack / sizes / scale[:, None]
    rate = pace(model)
    common = np.ones((*stack.shape[:-2], 1))
    for k in range(len(scale)):
        broken = np.sum([apply(J[..., j, :, :], v[..., k - j, :]) for j in range(k + 1)], axis=0)
        size = np.sum([apply(np.abs(J[..., j, :, :]), np.abs(v[..., k - j, :])) for j in range(k + 1)], axis=0)
        common = np.maximum(common * rate, np.abs(v[..., k, :]).max(axis=-1, keepdims=True, initial=0.0))
        least = _OBEYED * np.max(size, axis=-1, keepdims=True, initial=0.0) + _ROUNDING * common
        if np.size(broken) and (np.abs(broken) > least).any():
            state, row = divmod(int(np.argmax(np.abs(broken))), broken.shape[-1])
            name = next(n for n in model.constraint_names if model.constraint_rows(n).stop > row)
            what = "J v" if k == 0 else f"derivative {k} of J v"
            left = np.abs(broken * rows).max() * scale[k]
            where = _in_state(first + state, broken)
            raise ConstraintError(
                f"the motion breaks constraint {quoted(name)}: {what} is {left:.1e}, expected 0{where}"
            )


def _expect_produced(model: Model, missing: Array, sizes: Array, size: Array, k: int, first: int) -> None:
    """Checks that motors and constraints can produce the force; `size`: what it is made of, coordinate by coordinate.

    A coordinate counts by itself, so that a crane does not hide its hook.
    """
    excess = np.abs(missing) - _PRODUCED * size - _ROUNDED_FORCE * size.max(axis=-1, keepdims=True, initial=0.0)
    if np.size(missing) and excess.max() > 0:
        state, column = divmod(int(np.argmax(excess)), missing.shape[-1])
        name = next(n for n in model.joint_names if column in range(model.nv)[model.coordinate(n)])
        what = "" if k == 0 else f" of derivative {k}"
        left = np.abs(missing).reshape(-1, missing.shape[-1])[state, column] / sizes[column] * factorial(k)
        raise ConstraintError(
            "the motion cannot be produced by the actuated coordinates and the constraints: "
            f"{left:.1e} N or N m{what} is left on joint {quoted(name)}{_in_state(first + state, missing)}"
        )


def _in_state(state: int, of: Array) -> str:
    return "" if of.ndim == 1 else f", in state {state}"
