"""Statics: where a robot is at rest under its weight, its inputs and other loads.

The weight is raised first, then the rest; a robot that would fall without the rest gets both at once (`load_path`). Of
several equilibria, `branches` chooses. Where a path starts from a given configuration, what is raised is the part of
the force that would hold the robot there which it has to do without.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame, a_class, batch_of, counted, one_of, quoted, reals
from jounce._core import UnwatchedNodes
from jounce.dynamics.branches import Branch, Follower, settled
from jounce.dynamics.constraints.constrained import led
from jounce.dynamics.constraints.held_joints import HeldJoints
from jounce.dynamics.constraints.static_ties import anchored
from jounce.dynamics.constraints.wrenches import constraint_wrenches
from jounce.dynamics.load_path import NoEquilibrium, Path, Point, Statics
from jounce.errors import ConstraintError, ConstraintWarning, StabilityWarning
from jounce.parts.constraints import Gear

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_ALL = (1, 1, 1)


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium:
    """A robot at rest; or, for a batch of loads, as many.

    Attributes:
        q: (..., nq) configuration.
        residual: (..., nv) forces that remain due to rounding, N and N m.
        stiffness: (..., nv, nv) tangent stiffness: how these forces change with q, in the coordinates of `integrate`,
            with inputs, forces, wrenches and multipliers held. Symmetric if all forces have a potential. With
            constraints or held joints it applies to displacements that these allow.
        stable: whether the robot returns, or stays near, after a small push: the stiffness is positive definite; if it
            is not symmetric, as under loads that turn with a body, no eigenvalue of the linearization has a positive
            real part, and none is zero. A robot in indifferent equilibrium is not stable. For a batch an array (...,).
        iterations: of Newton's method, over all steps of the load; for a batch an array (...,).
        forces: of constraints by name, (..., 6) or (..., 2), as in `ConstrainedDynamics`, in the axes of the wrenches.
        multipliers: (..., rows), of the rows of `Model.constraint_jacobian`.
        reactions: by the name of each held joint or coordinate, the forces that hold it, in addition to its tau: an
            array (..., n) of as many as it has velocities, N and N m, those of a `Free` joint [force; moment] in body
            axes.
    """

    q: Array
    residual: Array
    stiffness: Array
    stable: Any
    iterations: Any
    forces: dict[str, Array] = field(default_factory=dict)
    multipliers: Array = field(default_factory=lambda: np.zeros(0))
    reactions: dict[str, Array] = field(default_factory=dict)

    def __repr__(self) -> str:
        if self.q.ndim > 1:
            return f"<jounce.Equilibrium: {np.sum(self.stable)} of {np.size(self.stable)} stable, q {self.q.shape}>"
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
    nu, joints = len(robot.input_names), HeldJoints.of(robot, held)
    inputs = (
        np.zeros(nu)
        if u is None
        else _of_states("u", u, nu, ", the inputs of soft bodies: the configuration to start from is q0=")
    )
    force = np.zeros(robot.nv) if tau is None else _of_states("tau", tau, robot.nv)
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ValueError(f"wrenches must be a dict of name: array, got {a_class(wrenches)}")
    given = {name: _of_states(f"wrenches[{quoted(name)}]", each, 6) for name, each in (wrenches or {}).items()}
    if branch is not None:
        one_of("branch", branch, "stable", "any")
    start = robot.neutral() if q0 is None else _of_states("q0", q0, robot.nq)
    there = joints.placed(robot, start)
    shapes = {f"wrenches[{quoted(name)}]": each.shape[:-1] for name, each in given.items()}
    lead = batch_of(u=inputs.shape[:-1], tau=force.shape[:-1], q0=there.shape[:-1], **shapes)
    inputs, force, start, there = (np.broadcast_to(x, (*lead, x.shape[-1])) for x in (inputs, force, start, there))
    given = {name: np.broadcast_to(x, (*lead, 6)) for name, x in given.items()}
    asked = _Asked(robot, q0 is None, wrench_frame, joints, branch)
    found, said, judged = list[Equilibrium](), dict[type[Warning], str](), False
    for i, at in enumerate(np.ndindex(lead)):
        load = inputs[at], force[at], {name: x[at] for name, x in given.items()}, wrench_frame
        rest, tied, newton = asked.at_rest(start[at], there[at], load, i if lead else -1, said)
        if tied._discretization is not None and not judged:  # one warning a call
            judged = tied._discretization.check_rest(tied, rest.q, newton, i if lead else -1)
        found.append(rest)
    for category, text in said.items():
        warnings.warn(text, category, stacklevel=3)  # Model.equilibrium
    return _together(robot, lead, found, joints) if lead else found[0]


def _of_states(name: str, value: ArrayLike, size: int, what: str = "") -> Array:
    """Finite numbers (..., size); `what` says more about them."""
    given = reals(name, value)
    if given.shape[-1:] != (size,):
        raise ValueError(f"{name} has shape {given.shape}, expected (..., {size}){what}")
    if not np.isfinite(given).all():
        raise ValueError(f"{name} is {quoted(given.tolist())}, expected finite numbers")
    return given


_Load = tuple[Array, Array, Mapping[str, Array], Frame]  # inputs, forces, wrenches and their axes


class _Asked(NamedTuple):
    """What is the same for all states of a call."""

    robot: Model
    from_neutral: bool
    wrench_frame: Frame
    held: HeldJoints
    branch: Branch | None

    def at_rest(
        self, start: Array, there: Array, load: _Load, state: int, said: dict[type[Warning], str]
    ) -> tuple[Equilibrium, Model, Callable[[Model], Array]]:
        """The equilibrium under one load, the robot with its contacts where they are held there, and where a step of
        Newton's method leads from it for another robot.

        `there`: the start, with what is held where it is to be. `state`: its number in a batch, or -1. What to warn of
        is added to `said`, unless another state said so.
        """
        where = "" if state < 0 else f", in state {state}"
        try:
            return self._at_rest(start, there, load, where, said)
        except ConstraintError as fault:
            raise ConstraintError(f"{fault}{where}") from None
        except NoEquilibrium as fault:
            raise fault.in_state(where) from None

    def _at_rest(
        self, start: Array, there: Array, load: _Load, where: str, said: dict[type[Warning], str]
    ) -> tuple[Equilibrium, Model, Callable[[Model], Array]]:
        robot, free = self.robot, self.held.free
        start, there = robot.integrate(np.stack([start, there]), np.zeros(robot.nv))  # normalises quaternions
        if robot.constraints:
            start, left_open = led(robot, start, there, self.held)
            if left_open:
                said.setdefault(ConstraintWarning, left_open + where)
            robot = anchored(robot, start)
        else:
            start = there
        with UnwatchedNodes():
            statics = Statics(robot, *load, start, free)
        follower = Follower(self.branch)
        with UnwatchedNodes(), np.errstate(over="ignore", invalid="ignore"):
            stable = self.branch == "stable"
            found = _loaded(statics, follower) if self.from_neutral else _released(statics, stable)
        if self.from_neutral and self.branch is None and (lost := follower.lost()):
            said.setdefault(StabilityWarning, lost + where)

        def newton(other: Model) -> Array:
            forces = Statics(other, *load, start, free).forces(found.q)
            freed, stiffness = forces.ties.freed(forces.F.sum(axis=0), forces.K.sum(axis=0))
            return robot.integrate(found.q, statics.solved(stiffness, freed, forces.ties))

        F, K, ties = found.forces.F.sum(axis=0), found.forces.K.sum(axis=0), found.forces.ties
        multipliers, reactions = ties.multipliers(F), ties.reactions(F)
        F, K = ties.freed(F, K)
        with UnwatchedNodes():
            stable = statics.stability(found.q, K, ties).stable
            forces = constraint_wrenches(robot, found.q, multipliers, self.wrench_frame)
        holding = {name: reactions[robot.coordinate(name)] for name in self.held.names}
        return Equilibrium(found.q, F, K, stable, found.iterations, forces, multipliers, holding), robot, newton


def _together(robot: Model, lead: tuple[int, ...], found: list[Equilibrium], held: HeldJoints) -> Equilibrium:
    """The equilibria of a batch as one."""
    nv, rows = robot.nv, sum(c.rows for c in robot.constraints)
    forces = {c.name: 2 if isinstance(c.kind, Gear) else 6 for c in robot.constraints}
    sizes = {name: len(range(nv)[robot.coordinate(name)]) for name in held.names}

    def joined(arrays: Iterable[Any], *shape: int, dtype: type = np.float64) -> Any:
        return np.array(list(arrays), dtype=dtype).reshape(*lead, *shape)

    return Equilibrium(
        joined((each.q for each in found), robot.nq),
        joined((each.residual for each in found), nv),
        joined((each.stiffness for each in found), nv, nv),
        joined((each.stable for each in found), dtype=bool),
        joined((each.iterations for each in found), dtype=np.intp),
        {name: joined((each.forces[name] for each in found), size) for name, size in forces.items()},
        joined((each.multipliers for each in found), rows),
        {name: joined((each.reactions[name] for each in found), size) for name, size in sizes.items()},
    )


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
