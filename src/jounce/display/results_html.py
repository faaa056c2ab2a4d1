"""Results in a notebook: an equilibrium, forces of constraints with their derivatives, an impact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce.display.html import boxed, number, plain, table, title
from jounce.display.panels import noise, nth
from jounce.units import over_time

if TYPE_CHECKING:
    from jounce.dynamics.constraints.constrained import ConstrainedDynamics
    from jounce.dynamics.constraints.impact import Impact
    from jounce.dynamics.constraints.inverse_dynamics import ConstrainedInverseDynamics
    from jounce.dynamics.statics import Equilibrium

Array = NDArray[np.float64]
_TIES = 40  # constraints that are listed
_ORDERS = 6  # of derivatives that are shown
_NUMBERS = 10  # of a list
_WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")


def equilibrium_html(rest: Equilibrium) -> str:
    lead = rest.q.shape[:-1]
    head = title(repr(rest)[1:-1], *_first_of(lead))
    if 0 in lead:
        return boxed(head)
    forces, reactions = (
        {name: _first(each, len(lead)) for name, each in some.items()} for some in (rest.forces, rest.reactions)
    )
    loads = [*forces.values(), *reactions.values()]
    push = np.abs(_first(rest.residual, len(lead))).max(initial=0.0, keepdims=True)
    lines = [["largest residual", _listed(push, loads)], ["q", _listed(_first(rest.q, len(lead)), [])]]
    held = [[plain(name), _listed(force, loads)] for name, force in list(reactions.items())[:_TIES]]
    holding = table(("reactions (N, N m)", ""), held + _more(reactions)) if held else ""
    return boxed(head, table((), lines), _wrenches(forces, loads, "forces (N, N m)"), holding)


def constrained_html(found: ConstrainedDynamics | ConstrainedInverseDynamics, key: str) -> str:
    """The accelerations or forces called `key`, and the forces of constraints, order by order."""
    values: Array = getattr(found, key)
    lead = values.shape[: -2 if found.stacked else -1]
    head = title(repr(found)[1:-1], *_first_of(lead))
    if 0 in lead:
        return boxed(head)
    stack = _first(values, len(lead)).reshape(-1, values.shape[-1])  # (r + 1, nv)
    forces = {name: _first(force, len(lead)) for name, force in found.forces.items()}
    forces = {name: force.reshape(-1, force.shape[-1]) for name, force in forces.items()}
    everything = [stack, *forces.values()]
    rows = [[_rate(key, k), _listed(each, everything)] for k, each in enumerate(stack[:_ORDERS])]
    left = len(stack) - _ORDERS
    rows += [[f"and {left} more order{'s' * (left > 1)}"]] if left > 0 else []
    parts = [table((), rows)]
    for k in range(min(len(stack), _ORDERS)):
        what = f"{_of_order(k)} ({over_time('N', k)}, {over_time('N m', k)})"
        parts.append(_wrenches({name: force[k] for name, force in forces.items()}, everything, what))
    return boxed(head, *parts)


def impact_html(jump: Impact) -> str:
    lead = jump.v.shape[:-1]
    head = title(repr(jump)[1:-1], *_first_of(lead))
    if 0 in lead:
        return boxed(head)
    v, impulses = _first(jump.v, len(lead)), {name: _first(each, len(lead)) for name, each in jump.impulses.items()}
    everything = [v, *impulses.values()]
    return boxed(
        head, table((), [["v", _listed(v, everything)]]), _wrenches(impulses, everything, "impulses (N s, N m s)")
    )


def _first_of(lead: tuple[int, ...]) -> tuple[str, ...]:
    return (f"the first of {' × '.join(map(str, lead))} states",) if lead and 0 not in lead else ()


def _first(values: Array, dimensions: int) -> Array:
    found: Array = values[(0,) * dimensions]
    return found


def _rate(name: str, order: int) -> str:
    marks = ("", "′", "″")
    return f"{name}{marks[order]}" if order < len(marks) else f"{name}<sup>({order})</sup>"


def _of_order(order: int) -> str:
    return "forces" if order == 0 else f"{'' if order == 1 else nth(order) + ' '}rates of forces"


def _wrenches(forces: Mapping[str, Array], everything: Sequence[Array], what: str) -> str:
    """The wrenches of constraints; for gears, the forces on their two joints."""
    groups = {size: {n: f for n, f in forces.items() if f.shape[-1] == size} for size in (6, 2)}
    heads = {6: _WRENCH, 2: ("on first joint", "on second joint")}
    parts = []
    for size, group in groups.items():
        rows = [[plain(name), *_numbers(force, everything)] for name, force in list(group.items())[:_TIES]]
        parts.append(table((what, *heads[size]), rows + _more(group)) if group else "")
    return "".join(parts)


def _more(shown: Mapping[str, Array]) -> list[list[str]]:
    return [[f"and {len(shown) - _TIES} more"]] if len(shown) > _TIES else []


def _listed(values: Array, everything: Sequence[Array]) -> str:
    shown = _numbers(values, everything)
    if len(shown) == 1:
        return shown[0]
    return f"[{', '.join(shown[:_NUMBERS])}{', …' if len(shown) > _NUMBERS else ''}]"


def _numbers(values: Array, everything: Sequence[Array]) -> list[str]:
    """The numbers, 0 in place of rounding errors next to the others, as in plots."""
    floor = noise(values, [values, *everything])
    return [number(0.0 if abs(x) <= floor else x) for x in values]
