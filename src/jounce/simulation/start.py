"""Where a simulation starts: on the constraints, or brought onto them if that is asked for.

A velocity that breaks constraints has no motion of its own: what happens next depends on how it is made to obey them,
suddenly (`impact`) or as the error of an estimate (`project`), which is for the caller to say.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from jounce._checks import one_of
from jounce.dynamics.constraints.constrained import assembled, most_broken
from jounce.dynamics.constraints.frames import apply
from jounce.dynamics.constraints.natural import NaturalRows
from jounce.errors import ConstraintError
from jounce.model import Model
from jounce.simulation.stepping import Array, Layout, Tolerance

Start = Literal["project", "impact"]
_ROUNDING = 1e-10  # of a state that obeys, in natural sizes
_STEPS = 10  # errors of as many steps count as none


def started(
    robot: Model, q: Array, v: Array, start: Start | None, tolerance: Tolerance, layout: Layout
) -> tuple[Array, Array]:
    """The state that a run starts from.

    Raises:
        ConstraintError: it does not obey the constraints, by more than rounding and the errors of steps.
    """
    if start is not None:
        one_of("start", start, "project", "impact")
    if not robot.constraints:
        return q, v
    if start == "project":
        q, v = robot.project(q, v)
    elif start == "impact":
        q = robot.project(q)
        v = robot.impact(q, v).v
    else:
        _expect_obeyed(robot, q, v, tolerance, layout)
    return q, v


def _expect_obeyed(robot: Model, q: Array, v: Array, tolerance: Tolerance, layout: Layout) -> None:
    rows, sizes, *_ = robot._natural_sizes()
    position, velocity = robot.residual(q, v)
    broken, closing = np.abs(position) / rows, np.abs(velocity) / rows
    speed = np.abs(v) / sizes
    allowed = max(_ROUNDING, _STEPS * float(np.max(tolerance.of(layout.size(q)) / sizes, initial=0.0)))
    if broken.max(initial=0.0) > allowed and not _as_near_as_can_be(robot, q, broken):
        raise ConstraintError(
            f"q0 violates the constraints by {np.abs(position).max():.1e}, most of all {most_broken(robot, position)}: "
            "pass start='project', or start from robot.project(q0, v0)"
        )
    allowed = max(_ROUNDING * speed.max(initial=0.0), _STEPS * float(np.max(tolerance.of(v) / sizes, initial=0.0)))
    if closing.max(initial=0.0) > allowed and _removable(robot, q, velocity).max(initial=0.0) > allowed:
        raise ConstraintError(
            f"v0 violates the constraints by {np.abs(velocity).max():.1e}, most of all {most_broken(robot, velocity)}: "
            "pass start='impact' if they close at this instant, or start='project' if v0 is an estimate of a velocity "
            "that obeys them (robot.impact, robot.project)"
        )


def _removable(robot: Model, q: Array, velocity: Array) -> Array:
    """Of a violation J v that part which another v would not have: all but what rounded digits of a file leave."""
    natural = NaturalRows(robot, robot.constraint_jacobian(q))
    return np.abs(apply(natural.met, velocity / natural.row_sizes))


def _as_near_as_can_be(robot: Model, q: Array, broken: Array) -> bool:
    """Whether `project` warns that it cannot close the constraints, and comes no nearer: rounded digits of a file."""
    try:
        nearest, said = assembled(robot, q)
    except ConstraintError:
        return False
    left = np.abs(robot.residual(nearest) / robot._natural_sizes()[0]).max()
    return bool(said) and bool(broken.max() < 2 * left)
