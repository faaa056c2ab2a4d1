"""Which coordinates of a robot with constraints are independent, and how the others follow from them.

J v = 0 determines some columns of v, as many as the rank of J, from the others:

    J_d v_d + J_i v_i = 0,    v_d = -J_d^+ J_i v_i.

Any choice with J_d of full rank will do. The one made here comes from pivoting: at each step the column of J with the
largest component orthogonal to those already taken becomes dependent; among equals, the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import counted, quoted, rows_of
from jounce.dynamics.constraints.natural import NaturalRows
from jounce.dynamics.named_coordinates import columns_of
from jounce.dynamics.named_coordinates import names as names_of
from jounce.errors import ConstraintError

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class IndependentCoordinates:
    """A choice of independent coordinates at a configuration, or at each of several.

    Attributes:
        columns: (n,) of v that are independent, in order.
        names: (n,) of these coordinates, as in `Trajectory.v_names`: that of the joint, or "base.vx" if it has several.
        G: (..., nv, n) with v = G v[columns] for all v that obey the constraints.
        velocities: n, the number of independent velocities.
        positions: the number of independent positions: more than velocities if something rolls. Rolling bodies are
            counted as if they could get anywhere, which is not true of, say, a wheel guided along a line.
    """

    columns: NDArray[np.intp]
    names: tuple[str, ...]
    G: Array
    velocities: int
    positions: int

    def __repr__(self) -> str:
        numbers = f"{self.velocities} velocities, {self.positions} positions"
        return f"<jounce.IndependentCoordinates: {numbers}, of {', '.join(map(repr, self.names)) or 'none'}>"


def independent_coordinates(model: Model, q: ArrayLike, names: Sequence[str] | None) -> IndependentCoordinates:
    """See `Model.independent_coordinates`."""
    given = rows_of("q", q, model.nq, "nq")
    lead = given.shape[:-1]
    if lead and names is None:
        raise ValueError(
            f"q has the batch shape {lead}, for which names has to be given, as each state could have others: "
            "those of one are robot.independent_coordinates(q[0]).names"
        )
    chosen = None if names is None else _columns(model, names)
    if 0 in lead and chosen is not None:  # as many as are named
        count = len(chosen)
        return _named(model, chosen, np.zeros((*lead, model.nv, count)), count)
    found = []
    for i, at in enumerate(np.ndindex(lead)):
        try:
            found.append(_at(model, given[at], chosen))
        except (ConstraintError, ValueError) as fault:
            raise type(fault)(f"{fault}, in state {i}" if lead else str(fault)) from None
    columns, first, positions = found[0]
    if len({each[2] for each in found}) > 1:
        raise ValueError("q: the states have different numbers of independent positions, ask for them one by one")
    G = np.array([each[1] for each in found]).reshape(*lead, *first.shape)
    return _named(model, columns, G, positions)


def _named(model: Model, columns: NDArray[np.intp], G: Array, positions: int) -> IndependentCoordinates:
    known = names_of(model).v
    return IndependentCoordinates(columns, tuple(known[i] for i in columns), G, len(columns), positions)


def _at(model: Model, q: Array, chosen: NDArray[np.intp] | None) -> tuple[NDArray[np.intp], Array, int]:
    """The columns, G and the number of independent positions, at one configuration."""
    J = model.constraint_jacobian(q)
    from_positions = model._holonomic_rows()
    natural = NaturalRows(model, J)
    rank = int(natural.rank)
    count = model.nv - rank
    dependent = _pivots(natural.scaled, rank)
    if chosen is not None:
        if len(chosen) != count:
            raise ValueError(
                f"names have {counted(len(chosen), 'coordinate')}, expected {count}: as many are independent here"
            )
        dependent = np.setdiff1d(np.arange(model.nv), chosen)
        if NaturalRows(model, J, columns=dependent).rank < rank:
            known = names_of(model).v
            raise ConstraintError(
                f"the coordinates {', '.join(quoted(known[i]) for i in chosen)} are not independent in this "
                f"configuration: the constraints leave {_held(model, natural, chosen)} no motion of its own"
            )
    columns = np.setdiff1d(np.arange(model.nv), dependent)
    G = np.zeros((model.nv, count))
    G[columns, np.arange(count)] = 1.0
    G[dependent] = -NaturalRows(model, J, columns=dependent).inverse @ J[:, columns]
    return columns, G, model.nv - int(NaturalRows(model, J, from_positions).rank)


def _pivots(J: Array, rank: int) -> NDArray[np.intp]:
    """As many columns as the rank, well conditioned."""
    left, taken = J.copy(), []
    for _ in range(rank):
        lengths = np.linalg.norm(left, axis=0)
        column = int(np.flatnonzero(lengths >= (1 - 1e-9) * lengths.max())[-1])
        direction = left[:, column] / lengths[column]
        left -= np.outer(direction, direction @ left)
        left[:, column] = 0.0
        taken.append(column)
    return np.array(sorted(taken), dtype=np.intp)


def _columns(model: Model, names: Sequence[str]) -> NDArray[np.intp]:
    """The columns of joints and coordinates given by name."""
    if isinstance(names, (str, bytes)) or not isinstance(names, Sequence):
        raise ValueError(f"names is {quoted(names)}, expected a list of names of joints or coordinates")
    columns = columns_of(model, names)
    if len(set(columns.tolist())) < len(columns):
        raise ValueError(f"names is {quoted(names)}, expected each coordinate once")
    return np.sort(columns)


def _held(model: Model, natural: NaturalRows, chosen: NDArray[np.intp]) -> str:
    """The chosen coordinate that is most nearly determined by the others and the constraints."""
    motions = natural.free_directions()[1]  # in natural sizes; at the chosen ones, rank-deficient
    U, _, _ = np.linalg.svd(motions[:, chosen].T)
    worst = int(chosen[int(np.argmax(np.abs(U[:, -1])))])
    return quoted(names_of(model).v[worst])
