"""Linear systems in a notebook: a linearization with its matrices and eigenvalues, regulators with their gains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce.display import panels
from jounce.display.html import boxed, folded, number, title
from jounce.display.matrix_html import matrices_html
from jounce.display.panels import Panel
from jounce.display.roots_html import eigenvalues_html, poles_html
from jounce.display.trajectory_html import row_html
from jounce.dynamics.named_coordinates import names

if TYPE_CHECKING:
    from jounce.control import Regulator, TrackingRegulator
    from jounce.dynamics.linearization import Linearization
    from jounce.model import Model

Array = NDArray[np.float64]


def linearization_html(lin: Linearization) -> str:
    head = title(repr(lin)[1:-1], f"x' = A x + B u, {lin.frame} axes")
    if lin.A.ndim != 2 or not lin.A.size:
        return boxed(head)
    states, inputs = _state_names(lin.robot, lin.A.shape[1]), _input_names(lin.robot, lin.actuated, lin.inputs)
    legends = {"states x": states, "inputs u": inputs}
    matrix = matrices_html({"A": lin.A, "B": lin.B}, states, states + inputs, legends)
    return boxed(head, _side_by_side(matrix, eigenvalues_html(lin.reduced()[0])))


def regulator_html(regulator: Regulator) -> str:
    lin = regulator.lin
    step = "" if regulator.dt is None else f", held over steps of {number(regulator.dt)} s"
    head = title(repr(regulator)[1:-1], f"u = −K x, {lin.frame} axes{step}")
    if regulator.K.ndim > 2:
        return boxed(head)
    inputs = _input_names(lin.robot, lin.actuated, lin.inputs)
    return boxed(
        head, _side_by_side(_gain("K", regulator.K, lin.robot, inputs), poles_html(regulator.poles, regulator.dt))
    )


def tracking_html(regulator: TrackingRegulator) -> str:
    time, K = regulator.time, regulator.K
    head = title(repr(regulator)[1:-1], f"u = −K(t) x, body axes, {number(time[0])} to {number(time[-1])} s")
    if not K.size:
        return boxed(head)
    inputs = _input_names(regulator.robot, regulator.actuated, ())
    first, last = (_gain(f"K at {number(time[k])} s", K[k], regulator.robot, inputs) for k in (0, -1))
    sizes = np.abs(K).reshape(*K.shape[:2], 2, -1).max(axis=-1)  # (T, nu, 2)
    over_time = [_sizes(sizes[..., i], f"largest gain on {what}", inputs) for i, what in enumerate(_HALVES)]
    ends = folded(f"gains at {number(time[0])} s", first, opened=True), folded(f"gains at {number(time[-1])} s", last)
    return boxed(head, row_html(time, over_time), *ends)


_HALVES = ("displacements", "velocities")


def _gain(name: str, K: Array, robot: Model | None, inputs: list[str]) -> str:
    if not K.size:
        return ""
    states = _state_names(robot, K.shape[1])
    return matrices_html({name: K}, inputs, states, {"states x": states, "inputs u": inputs})


def _sizes(values: Array, label: str, inputs: list[str]) -> Panel:
    limits = np.full((*values.shape, 2), np.nan)
    top = panels.largest(values) or 1.0
    return Panel(label, values, inputs, list(range(len(inputs))), limits, 0.0, top)


def _side_by_side(left: str, right: str) -> str:
    return f'<div class="side"><div>{left}</div><div>{right}</div></div>'


def _state_names(robot: Model | None, count: int) -> list[str]:
    """Of the displacements and of the changes of velocity, after the coordinates of the robot, if it is known.

    Velocities of joints with orientations have names of their own, "base.vx" and "base.wx"; the displacements that
    belong to them are "base.x" and "base.rx", along and about the same axes. Those of other joints are primed.
    """
    if robot is None:
        numbers = [str(i) for i in range(count // 2)]
        return [f"δ {i}" for i in numbers] + [f"δ {i}'" for i in numbers]
    known = names(robot)
    own = set(known.v) - set(known.q)
    shifts = [_displacement(name) if name in own else name for name in known.v]
    return [f"δ {name}" for name in shifts] + [f"δ {name}" if name in own else f"δ {name}'" for name in known.v]


def _displacement(name: str) -> str:
    joint, _, axis = name.rpartition(".")
    return f"{joint}.{axis.replace('v', '').replace('w', 'r')}"


def _input_names(robot: Model | None, actuated: NDArray[np.intp], inputs: Sequence[str]) -> list[str]:
    """Of forces, as in plots, and of the inputs of soft bodies."""
    forces = None if robot is None else [force.name for force in panels.of_motion(names(robot))[2]]
    return [f"τ {i if forces is None else forces[i]}" for i in actuated] + list(inputs)
