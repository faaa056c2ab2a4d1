"""Impact: the jump of velocities when constraints close instantaneously.

Positions stay, velocities jump by the impulses L of the constraints; weight and motors have no time to act:

    M (v+ - v) = J^T L,    J v+ = -E J v,

where E is Newton's restitution along the normals of contacts and zero elsewhere. Of all v+ that obey the second
equation, this is the nearest to v in the kinetic energy of the difference. It is unique even if rows of J are
redundant; L is then the least one (natural.py). M may be singular where J holds. The energy lost,

    T - T+ = ((1 + E) J v)^T (J M^-1 J^T)^-1 ((1 - E) J v) / 2,

is never negative if all rows have the same E, up to 1, and so for a single normal. If friction stops sliding while the
normal bounces, coupled rows can violate this: a known flaw of Newton's law (Kane and Levinson, Dynamics, 1985).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame, batch_of, near, quoted, real, rows_of, shapes, unit
from jounce._core import NEGLIGIBLE
from jounce.dynamics.constraints.frames import apply, placed
from jounce.dynamics.constraints.natural import NaturalRows, nearest_motion, pace
from jounce.dynamics.constraints.wrenches import constraint_wrenches
from jounce.dynamics.finite import finite_answers
from jounce.dynamics.interruptible import Gathered, States
from jounce.errors import ConstraintError, SingularError
from jounce.parts.constraints import ConstraintRecord, Distance, Gear, OnPlane, Rolling, constant_rows

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_OBEYED = 10 * NEGLIGIBLE  # largest residual of J v+ = -E J v, relative to v, both in natural sizes
_AT_REST = 1e-12  # of the robot's own pace


@dataclass(frozen=True, eq=False, repr=False)
class Impact:
    """A velocity jump.

    Attributes:
        v: (..., nv) velocity after it.
        impulses: for each constraint by name [impulse; its moment], (..., 6), N s and N m s, on the first body, or on
            the frame of a contact, in the requested axes; for a `Gear` those on its two joints, (..., 2).
        multipliers: (..., rows), of the rows of `Model.constraint_jacobian`.
    """

    v: Array
    impulses: dict[str, Array]
    multipliers: Array

    def __repr__(self) -> str:
        return shapes(self, "v", "multipliers")

    def _repr_html_(self) -> str:
        from jounce.display.results_html import impact_html

        return impact_html(self)


def impact(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    restitution: float | Mapping[str, float],
    normals: Mapping[str, ArrayLike] | None,
    wrench_frame: Frame,
    frame: Frame,
) -> Impact:
    """See `Model.impact`."""
    states = States(model.nv, q=(q, 1), v=(v, 1))
    if states.many:
        made = Gathered(states.lead)
        for some, piece in states.pieces():
            found = impact(model, piece["q"], piece["v"], restitution, normals, wrench_frame, frame)
            made.put(some, found.impulses, v=found.v, multipliers=found.multipliers)
        return Impact(made["v"], made.mapping, made["multipliers"])
    before = rows_of("v", v, model.nv, "nv")
    J = model.constraint_jacobian(q, frame=frame)
    lead = batch_of(q=J.shape[:-2], v=before.shape[:-1])
    closing = apply(J, before)
    wanted = np.zeros_like(closing)
    for name, (e, normal) in _bounces(model, restitution, normals).items():
        rows, record = model.constraint_rows(name), model.constraints[model.constraint_names.index(name)]
        if normal is None:
            wanted[..., rows.start] = -e * closing[..., rows.start]
            continue
        a, _ = placed(model, record, q)
        along = apply(np.swapaxes(a[..., :3, :3], -1, -2), normal)
        N = constant_rows(record.kind)
        target = np.concatenate([along, np.zeros_like(along)], axis=-1)
        combination = apply(np.linalg.pinv(N.T), target)  # of rows that gives the motion along the normal
        if np.abs(apply(N.T, combination) - target).max(initial=0.0) > 1e-9:
            raise ValueError(
                f"normals[{quoted(name)}] is {quoted(normal.tolist())}, along which the constraint lets its frame move"
            )
        speed = np.sum(combination * closing[..., rows], axis=-1, keepdims=True)
        wanted[..., rows] = -e * speed * apply(N[:, :3], along)
    with finite_answers("an impact") as expect_finite:
        natural = NaturalRows(model, J)
        change = wanted - closing
        expect_finite(natural.scaled_inverse, change)
        try:
            jump, multipliers = nearest_motion(model, q, natural, change, frame)
        except SingularError as error:
            raise SingularError(f"an impact has no answer: {error}") from None
        left = (apply(J, jump) - change) / natural.row_sizes
        _expect_obeyed(model, left, np.abs(before / natural.column_sizes))
        multipliers, after = np.broadcast_to(multipliers, (*lead, multipliers.shape[-1])).copy(), before + jump
        expect_finite(after, multipliers)
    return Impact(after, constraint_wrenches(model, q, multipliers, wrench_frame), multipliers)


def _bounces(
    model: Model, restitution: float | Mapping[str, float], normals: Mapping[str, ArrayLike] | None
) -> dict[str, tuple[float, Array | None]]:
    """Constraints that bounce, by name: restitution and the normal in world axes (None if it is the first row)."""
    given: dict[str, Array] = {}
    if normals is not None and not isinstance(normals, Mapping):
        raise ValueError(f"normals is {quoted(normals)}, expected a mapping from constraints to directions (3,)")
    for name, direction in (normals or {}).items():
        record = _named(model, "normals", name)
        if _has_normal(record) or isinstance(record.kind, Gear):
            kind = type(record.kind).__name__
            raise ValueError(f"normals[{quoted(name)}] is for a {kind}, which takes none")
        given[name] = unit(f"normals[{quoted(name)}]", direction)
    known = [c.name for c in model.constraints if _has_normal(c) or c.name in given]
    if isinstance(restitution, Mapping):
        for name in restitution:
            _named(model, "restitution", name)
            if name not in known:
                raise ValueError(
                    f"restitution[{quoted(name)}]: the constraint has no normal: give normals={{{name!r}: (0, 0, 1)}}"
                )
        each = {name: _fraction(f"restitution[{quoted(name)}]", e) for name, e in restitution.items()}
    else:
        e = _fraction("restitution", restitution)
        if e > 0 and not known:
            raise ValueError(f"restitution is {e:g}, but no constraint has a normal: give normals={{name: (0, 0, 1)}}")
        each = dict.fromkeys(known, e)
    return {name: (e, given.get(name)) for name, e in each.items() if e > 0}


def _has_normal(record: ConstraintRecord) -> bool:
    """Whether its first row is along a normal."""
    return isinstance(record.kind, (OnPlane, Rolling, Distance))


def _named(model: Model, what: str, name: object) -> ConstraintRecord:
    if not isinstance(name, str) or name not in model.constraint_names:
        hint = near(name if isinstance(name, str) else quoted(name), model.constraint_names)
        raise ValueError(f"{what}: no constraint is named {quoted(name)}: {hint}")
    return model.constraints[model.constraint_names.index(name)]


def _fraction(what: str, value: object) -> float:
    e = real(what, value)
    if not 0 <= e <= 1:
        raise ValueError(f"{what} is {quoted(value)}, expected 0 to 1")
    return e


def _expect_obeyed(model: Model, left: Array, speeds: Array) -> None:
    """Checks that there is a velocity with J v+ = -E J v; `left`: what remains of it, for these speeds.

    What is tiny beside the speed at which the robot falls over is rounding error, of a robot that cannot move.
    """
    if not left.size:
        return
    fastest = np.maximum(speeds.max(axis=-1, keepdims=True, initial=0.0), _AT_REST * pace(model))
    excess = np.abs(left) - _OBEYED * fastest
    if excess.max() > 0:
        worst = int(np.argmax(excess.reshape(-1, left.shape[-1]).max(axis=0)))
        name = next(n for n in model.constraint_names if model.constraint_rows(n).stop > worst)
        raise ConstraintError(
            f"constraint {quoted(name)} contradicts others: no velocity satisfies the restitution law, "
            f"{np.abs(left).max():.1e} is left"
        )
