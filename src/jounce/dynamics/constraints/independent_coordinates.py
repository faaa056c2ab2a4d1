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

from jounce._checks import array_of, counted, quoted
from jounce.dynamics.constraints.natural import NaturalRows
from jounce.errors import ConstraintError

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class IndependentCoordinates:
    """A choice of independent coordinates at a configuration.

    Attributes:
        columns: (n,) of v that are independent, in order.
        names: of the joints that these belong to.
        G: (nv, n) with v = G v[columns] for all v that obey the constraints.
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
    J = model.constraint_jacobian(array_of("q", q, (model.nq,)))
    from_positions = model._holonomic_rows()
    natural = NaturalRows(model, J)
    rank = int(natural.rank)
    count = model.nv - rank
    dependent = _pivots(natural.scaled, rank)
    if names is not None:
        chosen = _columns(model, names)
        if len(chosen) != count:
            raise ValueError(
                f"names have {counted(len(chosen), 'coordinate')}, expected {count}: as many are independent here"
            )
        dependent = np.setdiff1d(np.arange(model.nv), chosen)
        if NaturalRows(model, J, columns=dependent).rank < rank:
            raise ConstraintError(
                f"the coordinates of {', '.join(map(quoted, names))} are not independent in this configuration: "
                f"the constraints leave {_held(model, natural, chosen)} no motion of its own"
            )
    columns = np.setdiff1d(np.arange(model.nv), dependent)
    G = np.zeros((model.nv, count))
    G[columns, np.arange(count)] = 1.0
    G[dependent] = -NaturalRows(model, J, columns=dependent).inverse @ J[:, columns]
    owners = tuple(n for n in model.joint_names if set(range(model.nv)[model.coordinate(n)]) & set(columns.tolist()))
    positions = model.nv - int(NaturalRows(model, J, from_positions).rank)
    return IndependentCoordinates(columns, owners, G, count, positions)


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
    """The columns of joints given by name."""
    if isinstance(names, (str, bytes)) or not isinstance(names, Sequence):
        raise ValueError(f"names is {quoted(names)}, expected a list of joint names")
    if len(set(map(quoted, names))) < len(names):
        raise ValueError(f"names is {quoted(names)}, expected each joint once")
    parts = [np.arange(model.nv)[model.coordinate(name)] for name in names]
    return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *parts]))


def _held(model: Model, natural: NaturalRows, chosen: NDArray[np.intp]) -> str:
    """The joint whose chosen coordinates are most nearly determined by the others and the constraints."""
    motions = natural.free_directions()[1]  # in natural sizes; at the chosen ones, rank-deficient
    U, _, _ = np.linalg.svd(motions[:, chosen].T)
    worst = int(chosen[int(np.argmax(np.abs(U[:, -1])))])
    name = next(n for n in model.joint_names if worst in range(model.nv)[model.coordinate(n)])
    return quoted(name)
