"""Where a motion is beyond the limits of a robot's joints.

A joint slows down where v a < 0: there the limit of its acceleration is that of deceleration, if it has one of its own.
Joints that follow others have limits too, on what they do as the others move; no force is known for them alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import batch_of, counted, printable, rows_of
from jounce._core import MAX_ORDER
from jounce.core_tables import resolve
from jounce.dynamics.named_coordinates import names
from jounce.parts.custom_joint import CustomJoint
from jounce.parts.joints import Limits
from jounce.units import UNITS, over_time

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_ROUNDING = 1e-9  # relative to the limit: what a motion that just reaches it may be off by
_NONE = Limits()
_EVERYWHERE = np.array(True)


@dataclass(frozen=True, eq=False)
class BrokenLimit:
    """A limit of a joint that a motion is beyond, and where it is most so.

    Attributes:
        joint: its name; of a joint with several coordinates, that of the coordinate.
        quantity: "position", "velocity", "acceleration", "deceleration", "jerk", "effort" or "effort rate".
        unit: of the numbers, such as "rad/s²".
        value: where it is furthest beyond the limit.
        limit: there; negative if it is that of the negative direction.
        excess: how far beyond, a positive number.
        index: of that state in the batch, the first of them, () for a single one.
        time: s, of a `Trajectory`; None of other states.
        where: (...) the states beyond this limit: True in an array of the batch's shape.
    """

    joint: str
    quantity: str
    unit: str
    value: float
    limit: float
    excess: float
    index: tuple[int, ...]
    time: float | None
    where: NDArray[np.bool_]

    def __str__(self) -> str:
        at = f" at {self.time:.4g} s" if self.time is not None else ""
        if self.index:
            at += f" (index {', '.join(map(str, self.index))})"
        unit = f" {self.unit}" if self.unit != "1" else ""
        count = int(self.where.sum())
        often = f"; so are {count} of {counted(self.where.size, 'state')}" if count > 1 else ""
        return (
            f"{printable(self.joint)}: {self.quantity} is {self.value:.4g}{unit}{at}, "
            f"{self.excess:.4g} beyond the limit, {self.limit:.4g}{often}"
        )

    __repr__ = __str__


class BrokenLimits(tuple[BrokenLimit, ...]):
    """The limits that a motion is beyond, a tuple of `BrokenLimit`; empty, and so false, if it is within all of them.

    Each limit is there once, with all states that are beyond it. They are in the order of the quantities, position
    first, and in each in that of the joints.

    Attributes:
        unchecked: quantities, such as "jerk", of which the robot has limits and the motion says nothing.
    """

    unchecked: tuple[str, ...]

    def __new__(cls, broken: Iterable[BrokenLimit] = (), unchecked: Iterable[str] = ()) -> BrokenLimits:
        found = super().__new__(cls, broken)
        found.unchecked = tuple(unchecked)
        return found

    def __repr__(self) -> str:
        if not self:
            left = f" that were compared; not given: {', '.join(self.unchecked)}" if self.unchecked else ""
            return f"within all limits{left}"
        return "\n".join([f"beyond {counted(len(self), 'limit')}:", *(f"  {each}" for each in self)])

    __str__ = __repr__


class _Column(NamedTuple):
    """A coordinate with limits: ratio times one of q or of v, plus an offset, which rates have not."""

    name: str
    unit: str  # of its position
    limits: Limits
    source: int
    ratio: float = 1.0
    offset: float = 0.0


class _Columns:
    """Several of them, as arrays."""

    def __init__(self, columns: list[_Column]) -> None:
        self.names = [each.name for each in columns]
        self.units = [each.unit for each in columns]
        self.source = np.array([each.source for each in columns], dtype=np.intp)
        self.ratio, self.offset = (np.array([getattr(each, key) for each in columns]) for key in ("ratio", "offset"))
        self._limits = [each.limits for each in columns]

    def most(self, key: str) -> Array:
        """The limits (n,), by the name of a field of `Limits`; nan where a deceleration is that of the acceleration."""
        return np.array([getattr(each, key) for each in self._limits], dtype=np.float64)


class _Compared(NamedTuple):
    """Values (..., n), the limits (n,) they are compared with, and where (..., n) these apply."""

    quantity: str
    columns: _Columns
    units: list[str]
    values: Array
    lower: Array
    upper: Array
    applies: NDArray[np.bool_]

    def excess(self) -> Array:
        """How far (..., n) values are beyond their limits; zero where they are within, up to rounding errors."""
        ends = np.abs([self.lower, self.upper])
        slack = _ROUNDING * np.max(ends, axis=0, where=np.isfinite(ends), initial=0.0)
        over = np.maximum(self.lower - self.values, self.values - self.upper)
        return np.where(self.applies & (over > slack), over, 0.0)


def broken_limits(
    robot: Model, q: ArrayLike, v: ArrayLike | None, tau: ArrayLike | None, time: Array | None = None
) -> BrokenLimits:
    """See `Model.check_limits`; `time` (T,) is that of the states, if they are a motion."""
    position = robot._configuration(q)
    rates, forces = (_stack(key, x, robot.nv, position, most) for key, x, most in (("v", v, 2), ("tau", tau, 1)))
    lead = batch_of(q=position.shape[:-1], v=rates.shape[:-2], tau=forces.shape[:-2])
    found = []
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers that no motion has
        for each in _compared(robot, position, rates, forces):
            excess = each.excess()
            for i in np.flatnonzero(excess.any(axis=tuple(range(excess.ndim - 1)))):
                found.append(_broken(each, int(i), np.broadcast_to(excess[..., i], lead), time))
    return BrokenLimits(found, _unchecked(_columns(robot)[1], rates.shape[-2], forces.shape[-2]))


def _unchecked(columns: _Columns, rates: int, forces: int) -> Iterator[str]:
    """The quantities with limits that so many rows of v and of tau do not have."""
    rows = {"velocity": rates - 1, "acceleration": rates - 2, "jerk": rates - 3}
    rows |= {"effort": forces - 1, "effort rate": forces - 2}
    for quantity, left in rows.items():
        if left < 0 and np.isfinite(columns.most(quantity.replace(" ", "_"))).any():
            yield quantity


def _broken(one: _Compared, i: int, excess: Array, time: Array | None) -> BrokenLimit:
    """The limit of coordinate i, with how far (...) each state is beyond it."""
    worst = excess >= (1 - _ROUNDING) * excess.max()  # the first of those that are equal but for rounding errors
    index = tuple(int(k) for k in np.unravel_index(int(np.argmax(worst)), excess.shape))
    value = float(np.broadcast_to(one.values[..., i], excess.shape)[index])
    return BrokenLimit(
        joint=one.columns.names[i],
        quantity=one.quantity,
        unit=one.units[i],
        value=value,
        limit=float(one.upper[i] if value > one.upper[i] else one.lower[i]),
        excess=float(excess[index]),
        index=index,
        time=None if time is None else float(time[index]),
        where=excess > 0,
    )


def _stack(name: str, given: ArrayLike | None, nv: int, q: Array, more: int) -> Array:
    """(..., K, nv), K at most `MAX_ORDER` and `more`; no rows if there is none."""
    if given is None:
        return np.zeros((0, nv))
    stack = rows_of(name, given, nv, "nv")
    expected = f"expected a stack (..., K, {nv}): {name} and its time derivatives"
    if stack.ndim < 2 or stack.shape[-2] == 0:
        raise ValueError(f"{name} has shape {stack.shape}, {expected}")
    if q.ndim > 1 and stack.shape[:-1] == q.shape[:-1]:
        raise ValueError(
            f"{name} has shape {stack.shape}, one row for each of the {q.shape[:-1]} configurations, {expected}, for "
            f"each; without derivatives, that is {name}[..., None, :], and {name}[None] if it is the same stack for all"
        )
    if stack.shape[-2] > MAX_ORDER + more:
        count = stack.shape[-2]
        raise ValueError(
            f"{name} has {count} rows, expected at most {MAX_ORDER + more}: the highest order is {MAX_ORDER}"
        )
    return stack


def _compared(robot: Model, q: Array, rates: Array, forces: Array) -> Iterator[_Compared]:
    """All that is known of the motion, next to its limits."""
    of_q, of_v = _columns(robot)
    places = of_q.ratio * q[..., of_q.source] + of_q.offset
    lower, upper = of_q.most("lower"), of_q.most("upper")
    yield _Compared("position", of_q, of_q.units, places, lower, upper, _EVERYWHERE)

    def within(quantity: str, order: int, values: Array, most: Array, applies: NDArray[np.bool_]) -> _Compared:
        units = [over_time(UNITS[unit].force if quantity.startswith("effort") else unit, order) for unit in of_v.units]
        return _Compared(quantity, of_v, units, values, -most, most, applies)

    known = [of_v.ratio * rates[..., k, of_v.source] for k in range(rates.shape[-2])]
    if len(known) > 0:
        yield within("velocity", 1, known[0], of_v.most("velocity"), _EVERYWHERE)
    if len(known) > 1:
        own = of_v.most("deceleration")
        slows = (np.sign(known[0]) * np.sign(known[1]) < 0) & ~np.isnan(own)
        yield within("acceleration", 2, known[1], of_v.most("acceleration"), ~slows)
        yield within("deceleration", 2, known[1], np.where(np.isnan(own), np.inf, own), slows)
    if len(known) > 2:
        yield within("jerk", 3, known[2], of_v.most("jerk"), _EVERYWHERE)
    has_force = np.arange(len(of_v.names)) < robot.nv  # joints that follow others have none of their own
    for k, (quantity, key) in enumerate((("effort", "effort"), ("effort rate", "effort_rate"))):
        if forces.shape[-2] > k:
            yield within(quantity, k, forces[..., k, of_v.source], of_v.most(key), has_force)


def _columns(robot: Model) -> tuple[_Columns, _Columns]:
    """The coordinates of q and of v, each with those of joints that follow others after them."""
    called, unit_of = names(robot), {units.rate: unit for unit, units in UNITS.items()}
    v_units = [unit_of[unit] for unit in called.v_units]
    of_q = [
        _Column(*each) for each in zip(called.q, called.q_units, _limits(robot, "nq"), range(robot.nq), strict=True)
    ]
    of_v = [_Column(*each) for each in zip(called.v, v_units, _limits(robot, "nv"), range(robot.nv), strict=True)]
    leaders = resolve(robot.bodies)
    for body in robot.bodies:
        if body.joint_name in leaders:
            joint, leader = body.joint, leaders[body.joint_name]
            unit = "m" if joint.primitives()[0].kind == "prismatic" else "rad"
            for columns, where in ((of_q, robot.position(leader.joint)), (of_v, robot.coordinate(leader.joint))):
                own = joint.limits or _NONE
                columns.append(_Column(body.joint_name, unit, own, where.start, leader.ratio, leader.offset))
    return _Columns(of_q), _Columns(of_v)


def _limits(robot: Model, size: str) -> list[Limits]:
    """Those of each coordinate of q or of v."""
    found: list[Limits | None] = []
    for body, _ in robot._moving():
        joint = body.joint
        found += joint.coordinate_limits if isinstance(joint, CustomJoint) else (joint.limits,) * getattr(joint, size)
    return [each or _NONE for each in found]
