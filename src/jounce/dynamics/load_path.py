"""From one load to another: the equilibria of a robot under a load that is raised step by step.

The forces F(q) = gravity + elasticity - A(q) u - tau - wrenches vanish there. Newton's method needs the exact tangent
stiffness K = dF/dq. Column i is the rate of F along the unit motion i: inverse dynamics to first order in time gives
it, for a motion so slow that inertia, which scales with the cube of its speed, is below the last digit.

Far from the start Newton's method fails, or jumps to a state that no motion leads to. So the load is raised step by
step, F_l = F(q; part l of the load) - (1 - l) times the imbalance at the start. A step in l follows the tangent,
-K^-1 dF/dl, and is corrected by Newton; it is accepted if each correction is at most half the one before (P. Deuflhard,
Newton Methods for Nonlinear Problems, 5.1) and no soft body is inside out, otherwise halved. At the end of the path, a
load that the robot cannot bear, steps become too short.

Constraints and held joints balance what they can of F, and steps stay within the motions they allow: `static_ties`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jounce._checks import Frame, quoted
from jounce.dynamics.constraints.static_ties import Mask, Ties
from jounce.dynamics.stability import Stability, critical_mode, judged
from jounce.errors import Error, RangeError
from jounce.soft.inside_out import inside_out

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_SLOW = 2.0**-100  # the speed of the unit motions; a power of two, so that dividing by it is exact
_SHORTEST = 1e-5  # step in the load
_STEPS = 2000  # of the load, on one path; few robots need a hundred
_EXACT = 1e-4  # of the load, to which the loss of stability is found
_FAR = 1.0  # in natural sizes, such as radians, from one equilibrium to the next where stability is watched
_SOFTER = 0.5  # the stiffness that is left there, in any direction
_SOFTEST = 1e-8  # the least one, relative to the largest, that is asked about
_ITERATIONS = 12  # of Newton's method, in one step
_CLOSE = 1e-9  # a correction, relative to how far the robot has moved, whose square is negligible
_ROUNDING = 1e-14  # a residual, relative to its component forces, that counts as zero
_BALANCED = 1e-9  # largest residual allowed
_ZERO = 1e-12  # a stiffness, relative to the largest
_GIVES_WAY = "there the robot gives way, or snaps to a state far off"


class NoEquilibrium(Error, RuntimeError):  # noqa: N818  it is a finding, not a fault
    """No equilibrium was found under the whole load, or no stable one if that was asked for.

    Attributes:
        part: fraction of the load, 0 to 1, up to which there is one, or a stable one.
        q: (nq,) the equilibrium there.
        loose: names of the joints that the load pushes there while no stiffness, no constraint and nobody holds them.
    """

    def __init__(
        self,
        part: float,
        of: str,
        q: Array,
        why: str = _GIVES_WAY,
        loose: tuple[str, ...] = (),
        sought: str = "equilibrium",
        where: str = "",
    ) -> None:
        held = "no stiffness and no constraint; hold with held=, or start near rest with q0="
        said = f"; nothing holds {_joints(loose)}: {held}" if loose else ""
        super().__init__(f"no {sought} found beyond {part:.4g} of {of}{where}: {why}{said}")
        self.part, self.q, self.loose = part, q, loose
        self._rest = of, why, sought, where

    def __reduce__(self) -> tuple[Any, ...]:  # errors must survive pickling between processes
        of, why, sought, where = self._rest
        return type(self), (self.part, of, self.q, why, self.loose, sought, where)

    def in_state(self, where: str) -> NoEquilibrium:
        """The same of a state of a batch."""
        of, why, sought, _ = self._rest
        return type(self)(self.part, of, self.q, why, self.loose, sought, where)


class Forces(NamedTuple):
    """The parts of F at a configuration, (3, nv): elasticity, weight and the rest; and their derivatives."""

    F: Array
    K: Array  # (3, nv, nv)
    ties: Ties

    @property
    def size(self) -> float:
        return float(np.max(np.abs(self.F), axis=1, initial=0.0).sum())


class Statics:
    """The forces on a robot under a load."""

    def __init__(
        self,
        robot: Model,
        u: Array,
        tau: Array,
        wrenches: Mapping[str, Array],
        wrench_frame: Frame,
        start: Array,
        free: Mask | None = None,
    ) -> None:
        self.robot, self._u, self._tau, self._frame = robot, u, tau, wrench_frame
        self.free = np.ones(robot.nv, bool) if free is None else free
        self._wrenches = {name: np.stack([each, np.zeros(6)]) for name, each in wrenches.items()}
        self._motions = np.zeros((robot.nv + 1, 3, robot.nv))  # at rest, and along each coordinate
        self._motions[1:, 0] = _SLOW * np.eye(robot.nv)
        self.start, self.loaded = start, bool(u.any() or tau.any() or wrenches)
        inertia = np.diagonal(robot.mass_matrix(start))
        self.scale = np.sqrt(np.where(inertia > 0, inertia, 1.0))  # of coordinates, for a common measure of distance

    def forces(self, q: Array) -> Forces:
        robot = self.robot
        total = robot.inverse_dynamics(q, self._motions)
        weight = robot.gravity_force_derivatives(q, self._motions[:, :1])
        rest = np.zeros_like(total)
        if self._wrenches:
            rest = robot.inverse_dynamics(q, self._motions, wrenches=self._wrenches, wrench_frame=self._frame) - total
        parts = np.stack([total - weight, weight, rest])
        F, K = parts[:, 0, 0], parts[:, 1:, 1].swapaxes(1, 2) / _SLOW
        F[2] -= robot._inputs.matrix(q) @ self._u + self._tau
        if self._u.size:
            K[2] -= robot._inputs.derivative(q, self._u)
        return Forces(F, K, Ties.at(robot, q, self.free))

    def stability(self, q: Array, K: Array, ties: Ties) -> Stability:
        return judged(self.robot, q, K, ties, self.scale)

    def solved(self, K: Array, F: Array, ties: Ties) -> Array:
        """The displacement -K^-1 F that closes the constraints; the least one if some directions are indifferent."""
        scaled, force = K / self.scale[:, None] / self.scale, -F / self.scale
        if not (np.isfinite(scaled).all() and np.isfinite(force).all() and np.isfinite(ties.J).all()):
            return np.full_like(F, np.nan)
        closing, Z = ties.split(self.scale)
        left = Z.T @ (force - scaled @ closing)
        return np.asarray((closing + Z @ np.linalg.lstsq(Z.T @ scaled @ Z, left, rcond=1e-13)[0]) / self.scale)

    def length(self, shift: Array) -> float:
        return float(np.linalg.norm(self.scale * shift))

    def loose(self, forces: Forces, pull: Array) -> tuple[str, ...]:
        """The joints that forces `pull` push and nothing holds: neither elasticity, nor a constraint, nor a hand."""
        elastic, tied = np.abs(forces.K[0]), np.abs(forces.ties.J).max(axis=0, initial=0.0) > 0
        stiff = elastic.max(axis=1, initial=0.0) > _ZERO * _most(forces.K)
        pushed = self.free & ~tied & ~stiff & (np.abs(pull) > _BALANCED * forces.size)
        return tuple(name for name in self.robot.joint_names if pushed[self.robot.coordinate(name)].any())


class Point(NamedTuple):
    """An equilibrium on a path."""

    q: Array
    part: float  # of the path
    forces: Forces
    iterations: int


class Path:
    """From one load to another: how much of elasticity, weight and the rest acts at its start and at its end.

    `of` says in a message what is raised along it.
    """

    def __init__(
        self, statics: Statics, q: Array, start: tuple[int, int, int], end: tuple[int, int, int], of: str
    ) -> None:
        self.statics, self.of = statics, of
        self._from, self._to = np.array(start, float), np.array(end, float)
        self._held = np.zeros(statics.robot.nv)
        self._q, self._first = q, statics.forces(q)
        self._held = self._from @ self._first.F
        self._obstacle = ""  # to the last step that failed

    def start(self, iterations: int = 0) -> Point:
        return Point(self._q, 0.0, self._first, iterations)

    def balance(self, forces: Forces, part: float) -> tuple[Array, Array]:
        """F and K at a part of the path, without the forces of constraints."""
        acting = (1 - part) * self._from + part * self._to
        return forces.ties.freed(acting @ forces.F - (1 - part) * self._held, np.tensordot(acting, forces.K, axes=1))

    def lost(self, at: Point) -> bool:
        """Whether an equilibrium is unstable: a small push grows."""
        return self.statics.stability(at.q, self.balance(at.forces, at.part)[1], at.forces.ties).lost

    def critical_mode(self, at: Point) -> Array | None:
        """The displacement that grows there."""
        K = self.balance(at.forces, at.part)[1]
        return critical_mode(self.statics.robot, at.q, K, at.forces.ties, self.statics.scale)

    def points(self, now: Point) -> Iterator[Point]:
        """The equilibria that lead from one to the end of the path.

        Raises:
            NoEquilibrium: it ends earlier.
        """
        step = 1.0
        for _ in range(_STEPS):
            if now.part == 1:
                return
            part = min(1.0, now.part + step)
            found = self.next(now, part)
            if found is not None:
                now, step = found, 2 * step
                yield now
            elif step > _SHORTEST:
                step = (part - now.part) / 2
            else:
                raise self.failure(now, f"there {self._obstacle}" if self._obstacle else _GIVES_WAY)
        if now.part < 1:
            raise self.failure(now, f"after {_STEPS} steps the robot still has far to go")

    def between(self, now: Point, after: Point) -> Iterator[Point]:
        """The second of two points, after others so close to each other that no loss of stability is between them."""
        ahead = [after]
        while ahead:
            far = ahead[-1].part - now.part > _EXACT and self._changes(now, ahead[-1])
            middle = self.next(now, (now.part + ahead[-1].part) / 2) if far else None
            if middle is None:
                now = ahead.pop()
                yield now
            else:
                ahead.append(middle)

    def _changes(self, now: Point, after: Point) -> bool:
        """Whether the robot moves far from one point to the other, or gets much softer."""
        statics, robot = self.statics, self.statics.robot
        if np.abs(robot.difference(now.q, after.q) / robot._natural_sizes()[1]).max(initial=0.0) > _FAR:
            return True
        before, last = now.forces.ties.split(statics.scale)[1], after.forces.ties.split(statics.scale)[1]
        K, softer = (
            Z.T @ (self.balance(p.forces, p.part)[1] / statics.scale[:, None] / statics.scale) @ Z
            for p, Z in ((now, before), (after, last @ (last.T @ before)))
        )
        values, axes = np.linalg.eigh((K + K.T) / 2)
        size = np.abs(values)
        axes = axes / np.sqrt(np.maximum(size, max(_SOFTEST * size.max(initial=0.0), 1e-300)))
        change = axes.T @ (softer - K) @ axes
        return bool(np.linalg.eigvalsh((change + change.T) / 2).min(initial=0.0) < _SOFTER - 1)

    def failure(self, now: Point, why: str, sought: str = "equilibrium") -> NoEquilibrium:
        loose = self.statics.loose(now.forces, self.balance(now.forces, 1.0)[0])
        return NoEquilibrium(now.part, self.of, now.q, why, loose, sought)

    def crossing(self, before: Point, after: Point) -> tuple[Point, Point]:
        """The same two points, brought close to each other: the last that is not lost and one that is."""
        while after.part - before.part > _EXACT:
            middle = self.next(before, (before.part + after.part) / 2)
            if middle is None:
                break
            before, after = (before, middle) if self.lost(middle) else (middle, after)
        return before, after

    def next(self, now: Point, part: float) -> Point | None:
        """The equilibrium at another part of the path; None if that is too far."""
        statics = self.statics
        self._obstacle = ""
        tangent, pull = self.balance(now.forces, now.part)[1], self.balance(now.forces, part)[0]
        leap = statics.solved(tangent, pull, now.forces.ties)
        if not np.isfinite(leap).all():
            return None
        try:
            return self._corrected(statics.robot.integrate(now.q, leap), part, statics.length(leap), now.iterations)
        except RangeError:
            return None

    def near(self, q: Array, part: float, iterations: int) -> Point | None:
        """The equilibrium near a configuration; None if Newton's method does not find it from there."""
        try:
            return self._corrected(q, part, np.inf, iterations)
        except RangeError:
            return None

    def _corrected(self, q: Array, part: float, last: float, iterations: int) -> Point | None:
        """The equilibrium near a configuration that the last correction, of that length, has led to; or None."""
        statics, robot = self.statics, self.statics.robot
        for iteration in range(1, _ITERATIONS + 1):
            forces = statics.forces(q)
            F, K = self.balance(forces, part)
            if not (np.isfinite(F).all() and np.isfinite(K).all()):
                return None
            shift = statics.solved(K, F, forces.ties)
            size = max(forces.size, self._first.size)
            length, still = statics.length(shift), forces.ties.closed and _most(F) <= _ROUNDING * size
            still = still or length <= _CLOSE * statics.length(robot.difference(statics.start, q))
            if not np.isfinite(shift).all() or (not still and not length <= 0.5 * last):
                return None
            q, last = robot.integrate(q, shift), length
            if still:
                forces = statics.forces(q)
                fine = forces.ties.closed and _most(self.balance(forces, part)[0]) <= _BALANCED * size
                return Point(q, part, forces, iterations + iteration) if fine and self._unfolded(q) else None
        return None

    def _unfolded(self, q: Array) -> bool:
        """Whether no soft body is inside out."""
        self._obstacle = inside_out(self.statics.robot, q)
        return not self._obstacle


def _joints(names: Sequence[str]) -> str:
    """Some names for a message, not too many."""
    shown = ", ".join(quoted(name) for name in names[:5])
    return f"joint {shown}" if len(names) == 1 else f"joints {shown}" + ", ..." * (len(names) > 5)


def _most(values: NDArray[np.inexact[Any]]) -> float:
    return float(np.max(np.abs(values), initial=0.0))
