"""Statics: where a robot is at rest under its weight, its inputs and other loads.

The weight is raised first, then the rest; a robot that would fall without the rest gets both at once (`load_path`). Of
several equilibria, `branches` chooses. Where a path starts from a given configuration, what is raised is the part of
the force that would hold the robot there which it has to do without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame, a_class, array_of, counted, one_of, quoted
from jounce._core import UnwatchedNodes
from jounce.dynamics.branches import Branch, Follower, settled
from jounce.dynamics.constraints.constrained import assembled
from jounce.dynamics.constraints.static_ties import Mask, anchored
from jounce.dynamics.constraints.wrenches import constraint_wrenches
from jounce.dynamics.load_path import NoEquilibrium, Path, Point, Statics

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_ALL = (1, 1, 1)


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


def equilibrium(
    robot: Model,
    u: ArrayLike | None,
    q0: ArrayLike | None,
    tau: ArrayLike | None,
    wrenches: Mapping[str, ArrayLike] | None,
    wrench_frame: Frame,
    held: Mapping[str, ArrayLike] | Iterable[str],
    branch: Branch | None,
) -> Equilibrium:
    """`Model.equilibrium`."""
    nu = len(robot.input_names)
    inputs = np.zeros(nu) if u is None else array_of("u", u, (nu,))
    force = np.zeros(robot.nv) if tau is None else array_of("tau", tau, (robot.nv,))
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ValueError(f"wrenches must be a dict of name: array, got {a_class(wrenches)}")
    given = {name: array_of(f"wrenches[{quoted(name)}]", each, (6,)) for name, each in (wrenches or {}).items()}
    if branch is not None:
        one_of("branch", branch, "stable", "any")
    start = robot.neutral()
    if q0 is not None:
        start = array_of("q0", q0, (robot.nq,))
    names, start, free = _held(robot, held, start)
    start = robot.integrate(start, np.zeros(robot.nv))  # normalises quaternions
    if robot.constraints:
        start = assembled(robot, start, free)
        robot = anchored(robot, start)
    with UnwatchedNodes():
        statics = Statics(robot, inputs, force, given, wrench_frame, start, free)
    follower = Follower(branch)
    with UnwatchedNodes(), np.errstate(over="ignore", invalid="ignore"):
        found = _loaded(statics, follower) if q0 is None else _released(statics, stable=branch == "stable")
    if q0 is None and branch is None:
        follower.warn()
    if robot._discretization is not None:

        def moved(other: Model) -> Array:
            forces = Statics(other, inputs, force, given, wrench_frame, start, free).forces(found.q)
            freed, stiffness = forces.ties.freed(forces.F.sum(axis=0), forces.K.sum(axis=0))
            return robot.integrate(found.q, statics.solved(stiffness, freed, forces.ties))

        robot._discretization.check_rest(robot, found.q, moved)
    F, K, ties = found.forces.F.sum(axis=0), found.forces.K.sum(axis=0), found.forces.ties
    multipliers, reactions = ties.multipliers(F), ties.reactions(F)
    F, K = ties.freed(F, K)
    with UnwatchedNodes():
        stable = statics.stability(found.q, K, ties).stable
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


def _loaded(statics: Statics, follower: Follower) -> Point:
    """The equilibrium under the whole load, starting where only springs and soft bodies act."""
    weight = Path(statics, statics.start, (1, 0, 0), (1, 1, 0), "the weight")
    try:
        last = weight, follower.end(weight, weight.start())
    except NoEquilibrium:
        if not statics.loaded:
            raise
        follower.loss = None
        both = Path(statics, statics.start, (1, 0, 0), _ALL, "weight and load")
        last = both, follower.end(both, both.start())
    else:
        if statics.loaded:
            load = Path(statics, last[1].q, (1, 1, 0), _ALL, "the load")
            last = load, follower.end(load, load.start(last[1].iterations))
    return follower.settled(*last)


def _released(statics: Statics, stable: bool) -> Point:
    """The equilibrium to which the robot comes from its start as the force that would hold it there is taken away."""
    path = Path(statics, statics.start, _ALL, _ALL, "the way from q0 to rest")
    held = path.start()
    follower = Follower("stable" if stable else "any")
    try:
        *_, end = path.points(held)
    except NoEquilibrium:
        found = settled(path, held, 1.0, pushed=False) if stable else None
        if found is None:
            raise
        return found
    return follower.settled(path, end)
