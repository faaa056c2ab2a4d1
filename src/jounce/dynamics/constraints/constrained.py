"""Robots with constraints: their motion and forces to any order, and projection of states onto the constraints.

The core solves for motions and the forces that cause them (constraint_forces.hpp). If rows of the Jacobian J are
redundant, many forces cause the same motion; of these, the least are returned (natural.py), and their derivatives as
rates (least_multipliers.cpp).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import (
    Frame,
    a_class,
    array_of,
    batch_of,
    dimensions,
    expect_order,
    near,
    quoted,
    reals,
    rows_of,
    shapes,
)
from jounce._core import MAX_ORDER, NEGLIGIBLE, UnwatchedNodes
from jounce.dynamics.constraints.frames import apply, placed
from jounce.dynamics.constraints.held_joints import HeldJoints
from jounce.dynamics.constraints.natural import NaturalRows, nearest_motion
from jounce.dynamics.constraints.wrenches import constraint_wrenches
from jounce.errors import ConstraintError, ConstraintWarning
from jounce.parts.constraints import Gear
from jounce.soft.inside_out import inside_out

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_CONTRADICTION = 1e-9  # what is left of a row of J v, relative to its terms
_LAST_STRIDE = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16]  # next to a dead centre, short ones tell branches apart
_STRIDE = 0.25  # of what is held, in natural sizes
_ROUNDED_DATA = NEGLIGIBLE / 2  # a residual in natural sizes: rows that it makes independent count as dependent


@dataclass(eq=False, repr=False, slots=True)
class ConstrainedDynamics:
    """A motion under constraints, and their forces.

    Attributes:
        acc: dv/dt with the shape of tau: (..., nv), or the stack (..., r + 1, nv) of it and its derivatives.
        forces: for each constraint by name the wrench [force; moment] on its first body (on its second if the first is
            the world), or on the frame of a contact, (..., 6), or with its derivatives (..., r + 1, 6), in the
            requested axes; if the constraint is at a place on a soft body, about that place. For a `Gear` the forces on
            its two joints, (..., 2) or (..., r + 1, 2).
        multipliers: (..., rows), or (..., r + 1, rows), of the rows of `Model.constraint_jacobian`.
        stacked: whether there are derivatives, because tau had them.
        state: the robot, q and v that it was computed at, the axes of v, and the motions of supports; for `residual`.
    """

    acc: Array
    forces: dict[str, Array]
    multipliers: Array
    stacked: bool = False
    state: tuple[Model, Array, Array, Frame, Mapping[str, ArrayLike]] | None = None

    def __repr__(self) -> str:
        return shapes(self, "acc", "multipliers")

    @property
    def residual(self) -> tuple[Array, Array]:
        """By how much the state breaks the constraints: of positions and of velocities, (..., rows) each.

        As `Model.residual`, but relative to supports that move. If it is not small, the accelerations and forces are
        those of another motion: one that keeps its distance from the constraints, at a constant speed.
        """
        if self.state is None:
            return np.zeros(self.multipliers.shape), np.zeros(self.multipliers.shape)
        return _residual(*self.state)

    def _repr_html_(self) -> str:
        from jounce.display.results_html import constrained_html

        return constrained_html(self, "acc")


def _residual(model: Model, q: Array, v: Array, frame: Frame, motions: Mapping[str, ArrayLike]) -> tuple[Array, Array]:
    """Of positions and velocities, relative to supports that move."""
    position, velocity = model.residual(q, v, frame=frame)
    for name, twist in motions.items():
        rows, all_rows = model.constraint_rows(name), velocity.shape[-1]
        units = np.broadcast_to(np.eye(all_rows)[rows], (*q.shape[:-1], rows.stop - rows.start, all_rows))
        wrenches = constraint_wrenches(model, q[..., None, :], units, "mixed")[name]
        support, body = placed(model, model.constraints[model.constraint_names.index(name)], q)[0], model.pose(name, q)
        linear, angular = np.split(np.asarray(twist, float)[..., 0, :], 2, axis=-1)
        linear = linear + np.cross(angular, body[..., :3, 3] - support[..., :3, 3])  # where the wrenches refer to
        moved = apply(wrenches, np.concatenate(np.broadcast_arrays(linear, angular), axis=-1))
        lead = np.broadcast_shapes(velocity.shape[:-1], moved.shape[:-1])
        velocity = np.broadcast_to(velocity, (*lead, all_rows)).copy()
        velocity[..., rows] -= moved
    return position, velocity


def constrained_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    wrenches: Mapping[str, ArrayLike] | None,
    wrench_frame: Frame,
    frame: Frame,
    motions: Mapping[str, ArrayLike] | None,
    correction: tuple[float, float] | None,
    order: int | None = None,
) -> ConstrainedDynamics:
    """See `Model.constrained_dynamics`."""
    kp, kd = (0.0, 0.0) if correction is None else array_of("correction", correction, (2,)).tolist()
    if kp < 0 or kd < 0:
        raise ValueError(f"correction is {quoted(correction)}, expected non-negative (kp, kd)")
    if kp > 0 and model.constraints and not _placed(model).any():
        _warn_of_no_pose(model, f"kp = {kp:g} of correction= has no effect", 4)  # constrained_dynamics of the model
    stacked = is_stack(v, tau)
    if order is not None or (stacked and dimensions("q", q) > 1):  # or there is one reading only
        model._expect_order_of_forces(q, v, tau, order)
    order = np.shape(tau)[-2] - 1 if stacked else 0
    motion, moves = _motions(model, motions, order)
    if not model.constraints:
        acc = model.forward_dynamics(q, v, tau, wrenches=wrenches, wrench_frame=wrench_frame, frame=frame, order=order)
        return ConstrainedDynamics(acc, {}, np.zeros((*acc.shape[:-1], 0)), stacked)
    fixed = (q, v, None, tau, None, wrenches, wrench_frame, frame, motion, moves)
    acc, _, forces, multipliers, dependent = model._constrained_dynamics(*fixed, None, kp, kd)
    if dependent > 0:
        rates = acc if stacked else acc[..., None, :]
        shares = _least(model, q, v, rates, multipliers, frame)
        acc, _, forces, multipliers, _ = model._constrained_dynamics(*fixed, shares, kp, kd)
    if not stacked:
        forces, multipliers = forces[..., 0, :, :], multipliers[..., 0, :]
    supports = {name: np.array(twist) for name, twist in motions.items()} if motions else {}
    state = model, np.array(q), np.array(v), frame, supports
    return ConstrainedDynamics(acc, by_name(model, forces), multipliers, stacked, state)


def is_stack(v: ArrayLike, tau: ArrayLike) -> bool:
    """Whether tau has derivatives: one dimension more than v."""
    return dimensions("tau", tau) > max(dimensions("v", v), 1)


def stacked_wrenches(wrenches: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """The wrenches as stacks of one row each."""
    if not isinstance(wrenches, Mapping):
        raise ValueError(f"wrenches must be a dict of name: array, got {a_class(wrenches)}")
    given = {name: reals(f"wrenches[{quoted(name)}]", wrench) for name, wrench in wrenches.items()}
    return {name: wrench[..., None, :] if wrench.ndim else wrench for name, wrench in given.items()}


def by_name(model: Model, forces: Array) -> dict[str, Array]:
    """The forces of each constraint by name, from the core's (..., count, 6)."""
    return {
        c.name: forces[..., i, :2] if isinstance(c.kind, Gear) else forces[..., i, :]
        for i, c in enumerate(model.constraints)
    }


def _motions(model: Model, motions: Mapping[str, ArrayLike] | None, order: int) -> tuple[Array | None, list[bool]]:
    """The twists of all moving contacts, (..., count, r + 2, 6), and which ones move."""
    moves = [False] * len(model.constraints)
    if motions is None:
        return None, moves
    if not isinstance(motions, Mapping):
        raise ValueError(f"motions is {quoted(motions)}, expected a mapping from contacts to twists")
    if not motions:
        return None, moves
    given: dict[int, Array] = {}
    contacts = [c.name for c in model.constraints if c.contact]
    for name, twist in motions.items():
        if name not in contacts:
            hint = near(name if isinstance(name, str) else quoted(name), contacts)
            raise ValueError(f"motions: no contact is named {quoted(name)}: {hint}")
        values = reals(f"motions[{name!r}]", twist)
        if values.shape[-2:] != (order + 2, 6):
            raise ValueError(f"motions[{name!r}] has shape {values.shape}, expected (..., {order + 2}, 6)")
        if not np.isfinite(values).all():
            raise ValueError(f"motions[{name!r}] contains nan or inf, expected finite numbers")
        index = model.constraint_names.index(name)
        given[index], moves[index] = values, True
    try:
        lead = np.broadcast_shapes(*(x.shape[:-2] for x in given.values()))
    except (ValueError, RuntimeError):  # NumPy raises the latter for more than 32 dimensions
        shapes_ = ", ".join(f"{model.constraint_names[i]!r} {x.shape}" for i, x in given.items())
        raise ValueError(f"the batch dimensions of motions do not broadcast: {shapes_}") from None
    motion = np.zeros((*lead, len(moves), order + 2, 6))
    for index, values in given.items():
        motion[..., index, :, :] = values
    return motion, moves


def _least(model: Model, q: ArrayLike, v: ArrayLike, acc: Array, multipliers: Array, frame: Frame) -> Array:
    """The least multipliers that give the same forces, and their derivatives."""
    order = acc.shape[-2] - 1
    if order:
        first = np.broadcast_to(reals("v", v)[..., None, :], (*acc.shape[:-2], 1, model.nv))
        stack = np.concatenate([first, acc[..., : order - 1, :]], axis=-2)
        J = model.constraint_jacobian_derivatives(q, stack, frame=frame)
    else:
        J = model.constraint_jacobian(q, frame=frame)[..., None, :, :]
    shares: Array = model._least_shares(J, multipliers)
    return shares


def projected(
    model: Model, q: ArrayLike, v: ArrayLike | None, held: Mapping[str, ArrayLike] | Iterable[str], order: int | None
) -> Any:
    """See `Model.project`."""
    given, held_joints = rows_of("q", q, model.nq, "nq"), HeldJoints.of(model, held)
    if v is None:
        expect_order(order, 0, "v is left out")
        if model.constraints and not _placed(model).any():
            _warn_of_no_pose(model, "project(q) changes nothing", 4)  # projected, project
        return _projected(model, given, None, held_joints)[0]
    speed, states = rows_of("v", v, model.nv, "nv"), held_joints.placed(model, given).shape
    there = f"q has shape {given.shape}" + (f", {states} with what is held," if states != given.shape else "")
    if speed.ndim > len(states) + 1:
        raise ValueError(
            f"{there} and v {speed.shape}, expected the same number of batch dimensions, and one more if v is a stack"
        )
    stacked = speed.ndim > len(states)
    highest = speed.shape[-2] - 1 if stacked else 0
    expect_order(order, highest, f"{there} and v {speed.shape}")
    if stacked and not speed.shape[-2]:
        raise ValueError(f"v has shape {speed.shape}, expected at least one row")
    if highest > MAX_ORDER:
        raise ValueError(
            f"{there} and v {speed.shape}, a stack of {highest + 1} rows, expected at most {MAX_ORDER + 1}; "
            "for several velocities, q needs as many dimensions as v: q[None]"
        )
    stack = speed if stacked else speed[..., None, :]
    q, stack = _projected(model, given, stack, held_joints)
    return q, stack if stacked else stack[..., 0, :]


def _projected(model: Model, q: Array, stack: Array | None, held: HeldJoints) -> tuple[Array, Array]:
    """Configurations (..., nq) that obey the constraints, and stacks (..., K, nv) that do so there."""
    rows, there = np.zeros((0, model.nv)) if stack is None else stack, held.placed(model, q)
    lead = there.shape[:-1] if stack is None else batch_of(q=there.shape[:-1], v=rows.shape[:-2])
    start, there = (np.broadcast_to(x, (*lead, model.nq)) for x in (q, there))
    q, rows = np.empty((*lead, model.nq)), np.broadcast_to(rows, (*lead, *rows.shape[-2:])).copy()
    open_ = ""
    for i, at in enumerate(np.ndindex(lead)):
        try:
            q[at], left = led(model, start[at], there[at], held)
            if rows.size:
                rows[at] = _obeying(model, q[at], rows[at], held.free)
        except ConstraintError as fault:
            raise ConstraintError(f"{fault}{_in_state(lead, i)}") from None
        open_ = open_ or (left and left + _in_state(lead, i))
    if open_:
        warnings.warn(open_, ConstraintWarning, stacklevel=4)  # _projected, projected, project
    return q, rows


def _in_state(lead: tuple[int, ...], i: int) -> str:
    return f", in state {i}" if lead else ""


def _obeying(model: Model, q: Array, stack: Array, free: NDArray[np.bool_]) -> Array:
    """The stack (K, nv) whose free columns are changed so that velocities, accelerations, ... obey the constraints."""
    stack = stack.copy()
    natural = NaturalRows(model, model.constraint_jacobian(q), columns=free)
    for k in range(len(stack)):  # the k-th derivative of J v
        J = model.constraint_jacobian_derivatives(q, stack[:k]) if k else model.constraint_jacobian(q)[None]
        known = np.zeros(len(J[0]))
        for j in range(1, k + 1):
            known += comb(k, j) * J[j] @ stack[k - j]
        for _ in range(2):  # the second time for the rounding errors of the first: what cannot move is at rest
            stack[k, free] -= natural.inverse @ (J[0] @ stack[k] + known)
        if not free.all():
            size = sum(comb(k, j) * np.abs(J[j]) @ np.abs(stack[k - j]) for j in range(k + 1))
            _expect_obeyed(model, J[0] @ stack[k] + known, size, k)
    return stack


def _expect_obeyed(model: Model, left: Array, size: Array, order: int) -> None:
    """Raises an error if held joints keep a row of v from obeying, by the size (rows,) of the terms that cancel."""
    sizes = model._natural_sizes()[0]
    if np.abs(left / sizes).max(initial=0.0) > _CONTRADICTION * (size / sizes).max(initial=0.0):
        what = "v" if order == 0 else f"row {order} of v"
        raise ConstraintError(
            f"{what} cannot be brought onto the constraints with these joints held: the smallest error found is "
            f"{np.abs(left).max():.1e}, mostly in {most_broken(model, left)}"
        )


def onto(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """Projects states that nearly obey the constraints onto the nearest ones that do, in kinetic energy."""
    now, broken = NaturalRows(model, model.constraint_jacobian(q)), model.residual(q)
    if np.abs(broken / now.row_sizes).max(initial=0.0) > 1e-14:
        q = model.integrate(q, -nearest_motion(model, q, now, broken)[0])  # one step of Newton's method
        now = NaturalRows(model, model.constraint_jacobian(q))
    return q, v - nearest_motion(model, q, now, apply(now.J, v))[0]


STEPS = 3100  # of Newton's method, at most


def led(model: Model, start: Array, there: Array, held: HeldJoints) -> tuple[Array, str]:
    """The configuration near a start (nq,) in which what is held is as in another one, `there`; and what to warn of.

    What is held is led there step by step and the rest follows, each step beginning where the one before would lead if
    it went on, so that a linkage does not change to another branch, at a dead centre neither. If it cannot follow, a
    configuration near `there`.
    """
    if not model.constraints or held.free.all():
        return assembled(model, there)
    way = np.where(held.free, 0.0, model.difference(start, there))
    steps = int(np.ceil(np.abs(way / model._natural_sizes()[1]).max(initial=0.0) / _STRIDE))
    if steps > 1:
        try:
            q, step = assembled(model, start, held.free)[0], way / steps
            parts = np.array([1.0] * (steps - 1) + _LAST_STRIDE) / steps
            for part, following in pairwise(parts):
                before, q = q, assembled(model, model.integrate(q, step), held.free)[0]
                ties = (NaturalRows(model, model.constraint_jacobian(x), columns=held.free) for x in (q, before))
                tied = max(ties, key=lambda each: int(each.rank))  # at a dead centre, as before it
                gone = model.difference(before, q)[held.free] * (following / part)
                step = way * following
                step[held.free] = tied.inverse @ (tied.J @ gone)  # what else may move does not go on by itself
            return assembled(model, held.as_in(model, model.integrate(q, step), there), held.free)
        except ConstraintError:
            pass
    return assembled(model, there, held.free)


def assembled(
    model: Model, start: Array, free: NDArray[np.bool_] | None = None, steps: int = STEPS
) -> tuple[Array, str]:
    """Newton's method with the smallest steps; retried from other points near the start if it fails.

    Returns the configuration, and what to warn of: loops that rounded digits of a file keep open by less than
    `_ROUNDED_DATA` are closed as well as they can be.

    The first attempt obeys all rows, so that feet without a pose stay and wheels roll; the others only those that have
    a residual, which the rest may slow down or keep from vanishing.

    `free`: a mask of the coordinates that may move, all when left out. Residuals and steps are compared in natural
    sizes. After so many `steps` it gives up.
    """
    with UnwatchedNodes():
        return _assembled(model, start, free, steps)


def _assembled(model: Model, start: Array, free: NDArray[np.bool_] | None, steps: int) -> tuple[Array, str]:
    rng = np.random.default_rng(0)
    row_sizes, sizes, *_ = model._natural_sizes()
    best, left_at_best = np.inf, np.zeros(0)
    moves = np.ones(model.nv, bool) if free is None else free
    placed = _placed(model)
    folded = ""
    for attempt in range(31):
        q, rows = start, placed if attempt else np.ones_like(placed)
        if attempt == 1 and placed.all():
            continue
        if attempt > 1:
            reach = min(1.0, 0.02 * 1.3 ** (attempt - 1))
            q = model.integrate(start, moves * sizes * rng.normal(size=model.nv) * reach)
        size, nearest = np.inf, q
        for _ in range(100):
            broken = model.residual(q)
            now = float(np.abs(broken / row_sizes).max(initial=0.0))
            if now < best:
                best, left_at_best = now, broken
            if now < 1e-13 or (now < 1e-10 and now >= size):
                if q is not start and (folded := inside_out(model, q)):
                    break
                return (model.integrate(q, np.zeros(model.nv)) if now == 0 else q), ""
            if now < size:
                size, nearest = now, q
            if steps < 1:
                break
            steps -= 1
            step = np.zeros(model.nv)
            step[moves] = NaturalRows(model, model.constraint_jacobian(q), rows, moves).towards(-broken[rows])
            longest = float(np.abs(step / sizes).max(initial=0.0))
            if longest < 1e-12 and 1e-10 <= now < _ROUNDED_DATA and rows.sum() == placed.sum():
                left = np.abs(broken).max(initial=0.0)
                return q, (
                    f"constraint {most_broken(model, broken)} cannot be satisfied exactly: an error of {left:.1e} "
                    "remains, as where the numbers of a file are rounded"
                )
            q = _nearer(model, q, step * min(1.0, 0.5 / longest if longest > 0 else 1.0), now)
        if size < 1e-10 and not inside_out(model, nearest):  # as far as digits go, if slowly
            return nearest, ""
        if steps < 1:
            break
    kept = "" if moves.all() else " with these joints held"
    if folded:
        raise ConstraintError(f"q cannot be brought onto the constraints{kept}: there {folded}")
    name = most_broken(model, model.residual(start))
    left = np.abs(left_at_best).max(initial=0.0)
    raise ConstraintError(
        f"q cannot be brought onto the constraints{kept}: the smallest error found is {left:.1e}, mostly in {name}"
    )


def _nearer(model: Model, q: Array, step: Array, violation: float) -> Array:
    """q after a step, or after a half, a quarter and so on of it, until less of the violation is left."""
    for _ in range(6):
        there = model.integrate(q, step)
        if violation < 1e-9 or np.abs(model.residual(there) / model._natural_sizes()[0]).max() < violation:
            break
        step = step / 2
    return there


def _placed(model: Model) -> NDArray[np.bool_]:
    """(rows,) which ones a position may violate."""
    return np.array([c.held for c in model.constraints for _ in range(c.rows)], bool) & model._holonomic_rows()


def _warn_of_no_pose(model: Model, what: str, level: int) -> None:
    if names := [c.name for c in model.constraints if not c.held]:
        warnings.warn(
            f"{what}: a contact without a pose, such as {quoted(names[0])}, is held where it is at the q of the call; "
            "give jounce.Contact(kind, pose=...) to say where it should be",
            ConstraintWarning,
            stacklevel=level,
        )


def most_broken(model: Model, residual: Array) -> str:
    """The constraint that a residual (rows,) breaks most, in natural sizes."""
    worst = int(np.argmax(np.abs(residual / model._natural_sizes()[0])))
    return quoted(next(n for n in model.constraint_names if model.constraint_rows(n).stop > worst))
