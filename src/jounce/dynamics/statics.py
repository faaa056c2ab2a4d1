"""Statics: where a robot is at rest under its weight, its inputs and other loads.

The forces F(q) = gravity + elasticity - A(q) u - tau - wrenches vanish there. Newton's method needs the exact tangent
stiffness K = dF/dq. Column i is the rate of F along the unit motion i: inverse dynamics to first order in time gives
it, for a motion so slow that inertia, which scales with the cube of its speed, is below the last digit.

Far from the start Newton's method fails, or jumps to a state that no motion leads to. So the load is raised step by
step, F_l = F(q; part l of the load) - (1 - l) times the imbalance at the start. A step in l follows the tangent,
-K^-1 dF/dl, and is corrected by Newton; it is accepted if each correction is at most half the one before (P. Deuflhard,
Newton Methods for Nonlinear Problems, 5.1), otherwise halved. At the end of the path, a load that the robot cannot
bear, steps become too short. The weight is raised first, then the rest; a robot that would fall without the rest gets
both at once.

Constraints and held joints balance what they can of F, and steps stay within the motions they allow: `static_ties`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame, a_class, array_of, counted, quoted
from jounce.dynamics.constraints.constrained import assembled
from jounce.dynamics.constraints.static_ties import Mask, Ties, anchored
from jounce.dynamics.constraints.wrenches import constraint_wrenches
from jounce.dynamics.interruptible import eigenvalues
from jounce.errors import Error, RangeError

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_SLOW = 2.0**-100  # the speed of the unit motions; a power of two, so that dividing by it is exact
_SHORTEST = 1e-5  # step in the load
_STEPS = 2000  # of the load, on one path; few robots need a hundred
_ITERATIONS = 12  # of Newton's method, in one step
_CLOSE = 1e-9  # a correction, relative to how far the robot has moved, whose square is negligible
_ROUNDING = 1e-14  # a residual, relative to its component forces, that counts as zero
_BALANCED = 1e-9  # largest residual allowed
_ZERO = 1e-12  # an eigenvalue, relative to the largest
_SYMMETRIC = 1e-8
_ALL = (1, 1, 1)
_GIVES_WAY = "there the robot gives way, or snaps to a state far off"


class NoEquilibrium(Error, RuntimeError):  # noqa: N818  it is a finding, not a fault
    """No equilibrium was found under the whole load.

    Attributes:
        part: fraction of the load, 0 to 1, up to which there is one.
        q: (nq,) the equilibrium there.
        loose: names of the joints that the load pushes there while no stiffness, no constraint and nobody holds them.
    """

    def __init__(self, part: float, of: str, q: Array, why: str = _GIVES_WAY, loose: tuple[str, ...] = ()) -> None:
        held = "no stiffness and no constraint; hold with held=, or start near rest with q0="
        said = f"; nothing holds {_joints(loose)}: {held}" if loose else ""
        super().__init__(f"no equilibrium found beyond {part:.4g} of {of}: {why}{said}")
        self.part, self.q, self.loose, self._of, self._why = part, q, loose, of, why

    def __reduce__(self) -> tuple[Any, ...]:  # errors must survive pickling between processes
        return type(self), (self.part, self._of, self.q, self._why, self.loose)


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium:
    """A robot at rest.

    Attributes:
        q: (nq,) configuration.
        residual: (nv,) forces that remain due to rounding, N and N m.
        stiffness: (nv, nv) tangent stiffness: how these forces change with q, in the coordinates of `integrate`, with
            inputs, forces, wrenches and multipliers held. Symmetric if all forces have a potential. With constraints or
            held joints it applies to displacements that these allow.
        stable: whether the robot returns, or stays near, after a small push: the stiffness is positive definite; if it
            is not symmetric, as under loads that turn with a body, no eigenvalue of the linearization has a positive
            real part, and none is zero. A robot in indifferent equilibrium is not stable.
        iterations: of Newton's method, over all steps of the load.
        forces: of constraints by name, (6,) or (2,), as in `ConstrainedDynamics`, in the axes of the wrenches.
        multipliers: (rows,), of the rows of `Model.constraint_jacobian`.
        reactions: by the name of each held joint, the forces that hold it, in addition to its tau: an array of as many
            as it has velocities, N and N m, those of a `Free` joint [force; moment] in body axes.
    """

    q: Array
    residual: Array
    stiffness: Array
    stable: bool
    iterations: int
    forces: dict[str, Array] = field(default_factory=dict)
    multipliers: Array = field(default_factory=lambda: np.zeros(0))
    reactions: dict[str, Array] = field(default_factory=dict)

    def __repr__(self) -> str:
        kind = "stable" if self.stable else "unstable"
        return f"<jounce.Equilibrium: {kind}, {counted(self.iterations, 'iteration')}, nq = {len(self.q)}>"

    def _repr_html_(self) -> str:
        from jounce.display.results_html import equilibrium_html

        return equilibrium_html(self)


class _Forces(NamedTuple):
    """The parts of F at a configuration, (3, nv): elasticity, weight and the rest; and their derivatives."""

    F: Array
    K: Array  # (3, nv, nv)
    ties: Ties

    @property
    def size(self) -> float:
        return float(np.max(np.abs(self.F), axis=1, initial=0.0).sum())


class _Statics:
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

    def forces(self, q: Array) -> _Forces:
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
        return _Forces(F, K, Ties.at(robot, q, self.free))

    def stable(self, q: Array, K: Array, ties: Ties) -> bool:
        scaled, Z = K / self.scale[:, None] / self.scale, ties.split(self.scale)[1]
        scaled = Z.T @ scaled @ Z
        if _most(scaled - scaled.T) <= _SYMMETRIC * _most(scaled):
            return bool((np.linalg.eigvalsh(scaled) > _ZERO * _most(scaled)).all())
        if np.linalg.norm(scaled, -2) <= _ZERO * _most(scaled):
            return False
        rest = np.zeros(self.robot.nv)
        _, D, M = self.robot.inverse_dynamics_derivatives(q, rest, rest)
        free = Z / self.scale[:, None]
        K, D, M = (free.T @ each @ free for each in (K, D, M))
        inverse, one = np.linalg.pinv(M, hermitian=True), np.eye(len(K))
        rates = eigenvalues(np.block([[0 * one, one], [-inverse @ K, -inverse @ D]]))
        return bool(rates.real.max() <= _SYMMETRIC * np.abs(rates).max())

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

    def loose(self, forces: _Forces, pull: Array) -> tuple[str, ...]:
        """The joints that forces `pull` push and nothing holds: neither elasticity, nor a constraint, nor a hand."""
        elastic, tied = np.abs(forces.K[0]), np.abs(forces.ties.J).max(axis=0, initial=0.0) > 0
        stiff = elastic.max(axis=1, initial=0.0) > _ZERO * _most(forces.K)
        pushed = self.free & ~tied & ~stiff & (np.abs(pull) > _BALANCED * forces.size)
        return tuple(name for name in self.robot.joint_names if pushed[self.robot.coordinate(name)].any())


class _Point(NamedTuple):
    """An equilibrium on a path."""

    q: Array
    part: float  # of the path
    forces: _Forces
    iterations: int


class _Path:
    """From one load to another: how much of elasticity, weight and the rest acts at its start and at its end."""

    def __init__(self, statics: _Statics, q: Array, start: tuple[int, int, int], end: tuple[int, int, int]) -> None:
        self._statics, self._from, self._to = statics, np.array(start, float), np.array(end, float)
        self._held = np.zeros(statics.robot.nv)
        self._q, self._first = q, statics.forces(q)
        self._held = self._from @ self._first.F

    def balance(self, forces: _Forces, part: float) -> tuple[Array, Array]:
        """F and K at a part of the path, without the forces of constraints."""
        acting = (1 - part) * self._from + part * self._to
        return forces.ties.freed(acting @ forces.F - (1 - part) * self._held, np.tensordot(acting, forces.K, axes=1))

    def followed(self, iterations: int, of: str) -> _Point:
        """The end of the path.

        Raises:
            NoEquilibrium: it ends earlier.
        """
        now, step, taken = _Point(self._q, 0.0, self._first, iterations), 1.0, 0
        while now.part < 1:
            if (taken := taken + 1) > _STEPS:
                raise self._failure(now, of, f"after {_STEPS} steps the robot still has far to go")
            part = min(1.0, now.part + step)
            try:
                found = self._next(now, part)
            except RangeError:
                found = None
            if found is not None:
                now, step = found, 2 * step
            elif step > _SHORTEST:
                step = (part - now.part) / 2
            else:
                raise self._failure(now, of, _GIVES_WAY)
        return now

    def _failure(self, now: _Point, of: str, why: str) -> NoEquilibrium:
        loose = self._statics.loose(now.forces, self.balance(now.forces, 1.0)[0])
        return NoEquilibrium(now.part, of, now.q, why, loose)

    def _next(self, now: _Point, part: float) -> _Point | None:
        """The equilibrium at another part of the path; None if that is too far."""
        statics, robot = self._statics, self._statics.robot
        tangent, pull = self.balance(now.forces, now.part)[1], self.balance(now.forces, part)[0]
        leap = statics.solved(tangent, pull, now.forces.ties)
        if not np.isfinite(leap).all():
            return None
        q, last = robot.integrate(now.q, leap), statics.length(leap)
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
                return _Point(q, part, forces, now.iterations + iteration) if fine else None
        return None


def equilibrium(
    robot: Model,
    u: ArrayLike | None,
    q0: ArrayLike | None,
    tau: ArrayLike | None,
    wrenches: Mapping[str, ArrayLike] | None,
    wrench_frame: Frame,
    held: Mapping[str, ArrayLike] | Iterable[str],
) -> Equilibrium:
    """`Model.equilibrium`."""
    nu = len(robot.input_names)
    inputs = np.zeros(nu) if u is None else array_of("u", u, (nu,))
    force = np.zeros(robot.nv) if tau is None else array_of("tau", tau, (robot.nv,))
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ValueError(f"wrenches must be a dict of name: array, got {a_class(wrenches)}")
    given = {name: array_of(f"wrenches[{quoted(name)}]", each, (6,)) for name, each in (wrenches or {}).items()}
    start = robot.neutral()
    if q0 is not None:
        start = array_of("q0", q0, (robot.nq,))
    names, start, free = _held(robot, held, start)
    start = robot.integrate(start, np.zeros(robot.nv))  # normalises quaternions
    if robot.constraints:
        start = assembled(robot, start, free)
        robot = anchored(robot, start)
    statics = _Statics(robot, inputs, force, given, wrench_frame, start, free)
    with np.errstate(over="ignore", invalid="ignore"):
        if q0 is None:
            found = _loaded(statics)
        else:
            found = _Path(statics, start, _ALL, _ALL).followed(0, "the way from q0 to rest")
    F, K, ties = found.forces.F.sum(axis=0), found.forces.K.sum(axis=0), found.forces.ties
    multipliers, reactions = ties.multipliers(F), ties.reactions(F)
    F, K = ties.freed(F, K)
    stable = statics.stable(found.q, K, ties)
    forces = constraint_wrenches(robot, found.q, multipliers, wrench_frame)
    holding = {name: reactions[robot.coordinate(name)] for name in names}
    return Equilibrium(found.q, F, K, stable, found.iterations, forces, multipliers, holding)


def _held(robot: Model, held: Any, q: Array) -> tuple[list[str], Array, Mask]:
    """The names of held joints, q with these where they are held, and a mask (nv,) of the coordinates that are free."""
    try:
        names = None if isinstance(held, (str, bytes)) else list(held)
    except TypeError:
        names = None
    if names is None:
        raise ValueError(f"held is {quoted(held)}, expected names of joints, or a dict of name: position")
    q, free = q.copy(), np.ones(robot.nv, bool)
    for name in names:
        try:
            where, columns = robot.position(name), robot.coordinate(name)
        except ValueError as fault:
            raise ValueError(f"held: {fault}") from None
        free[columns] = False
        if isinstance(held, Mapping):
            n = where.stop - where.start
            shapes = [(), (1,)] if n == 1 else [(n,)]
            q[where] = array_of(f"held[{quoted(name)}]", held[name], *shapes)
    return names, q, free


def _loaded(statics: _Statics) -> _Point:
    """The equilibrium under the whole load, starting where only springs and soft bodies act."""
    try:
        heavy = _Path(statics, statics.start, (1, 0, 0), (1, 1, 0)).followed(0, "the weight")
    except NoEquilibrium:
        if not statics.loaded:
            raise
        return _Path(statics, statics.start, (1, 0, 0), _ALL).followed(0, "weight and load")
    return _Path(statics, heavy.q, (1, 1, 0), _ALL).followed(heavy.iterations, "the load") if statics.loaded else heavy


def _joints(names: Sequence[str]) -> str:
    """Some names for a message, not too many."""
    shown = ", ".join(quoted(name) for name in names[:5])
    return f"joint {shown}" if len(names) == 1 else f"joints {shown}" + ", ..." * (len(names) > 5)


def _most(values: NDArray[np.inexact[Any]]) -> float:
    return float(np.max(np.abs(values), initial=0.0))
