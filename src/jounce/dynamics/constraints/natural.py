"""Jacobians of constraints in natural sizes: which rows are independent, and the smallest solutions.

With each row of J divided by its size and each column multiplied by that of its coordinate (natural_sizes.hpp), 1 is
large and has no unit. A row of which less than a millionth is left once others are taken away counts as a combination
of these (independent_rows.hpp). No other place decides how many rows of J are independent, and the smallest motion is
smallest in these sizes, so that neither depends on units, nor on the ratio of a gear.

Of all multipliers l that make the same forces J^T l, the least are those for which the sum of (L l)^2 is least, with
the loads L of the rows: forces in newtons compare with moments in newtons times the robot's length. So l = L^-2 J z.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame
from jounce._core import NEGLIGIBLE, CoreModel, pseudo_inverse
from jounce.errors import SingularError

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
Part = slice | NDArray[np.bool_] | NDArray[np.intp]


def pace(model: Model) -> float:
    """1/s, of a robot that falls: what compares a quantity with its rates."""
    return float(np.sqrt(np.abs(model.gravity).max() / model._natural_sizes()[3]))


class NaturalRows:
    """J (..., rows, nv) of a robot's constraints, or some of its rows and columns."""

    def __init__(self, model: Model, J: Array, rows: Part = slice(None), columns: Part = slice(None)) -> None:
        every_row, every_column, every_load, _ = model._natural_sizes()
        self.row_sizes, self.column_sizes, self.loads = every_row[rows], every_column[columns], every_load[rows]
        self.J = J[..., rows, :][..., columns]
        self.scaled = self.J / self.row_sizes[:, None] * self.column_sizes
        self.scaled_inverse = pseudo_inverse(self.scaled)

    @property
    def inverse(self) -> Array:
        """J^+ (..., nv, rows): of all solutions of J x = b, or of what comes nearest, the smallest x."""
        return self.column_sizes[:, None] * self.scaled_inverse / self.row_sizes

    def towards(self, wanted: Array) -> Array:
        """A step (nv,) towards J x = wanted (rows,), of a single J, for Newton's method.

        Far from a solution, rows that depend on each other there are nearly dependent only. What they demand of x is
        then as large as the step itself, or larger, and wrong: singular values count as far as they exceed the residual
        (Levenberg and Marquardt's method; with the square of the residual it still converges quadratically, Yamashita
        and Fukushima, Computing Supplement 15, 2001), but no more than a tenth.
        """
        U, values, Vt = np.linalg.svd(self.scaled, full_matrices=False)
        aim = wanted / self.row_sizes
        seen = values > NEGLIGIBLE
        factors = values[seen] / (values[seen] ** 2 + min(aim @ aim, 0.01))
        step: Array = self.column_sizes * (Vt[seen].T @ (factors * (U[:, seen].T @ aim)))
        return step

    @property
    def sharing(self) -> Array:
        """(..., rows, nv): the least multipliers that make a force, or what comes nearest to it."""
        weighted = self.J / self.loads[:, None] * self.column_sizes
        inverse = np.swapaxes(pseudo_inverse(weighted, self.row_sizes / self.loads), -1, -2)
        found: Array = inverse / self.loads[:, None] * self.column_sizes
        return found

    @property
    def rank(self) -> NDArray[np.intp]:
        """(...,) how many rows are independent."""
        return np.asarray(np.rint(np.trace(self.met, axis1=-2, axis2=-1)), dtype=np.intp)

    @cached_property
    def met(self) -> Array:
        """(..., rows, rows) in natural sizes: onto the range of J, the demands of rows that some motion meets."""
        onto: Array = self.scaled @ self.scaled_inverse
        return onto

    def free_directions(self) -> tuple[Array, Array]:
        """A basis (nv, n) of the null space of a single J (rows, nv), orthonormal in natural sizes; and what picks z
        (n, nv) from basis @ z, and zero from J^+."""
        directions = np.linalg.svd(self.scaled)[2][int(self.rank) :]
        return self.column_sizes[:, None] * directions.T, directions / self.column_sizes


def nearest_motion(
    model: Model, q: ArrayLike, natural: NaturalRows, wanted: Array, frame: Frame = "body"
) -> tuple[Array, Array]:
    """The motion x (..., nv) of least x^T M x with J x = wanted (..., rows), or what comes nearest to it.

    Also the least multipliers (..., rows) of M x = J^T l. With any x0 that J x0 = wanted, the rest of x is what the
    core answers for a robot at rest that M x0 pushes back,

        M y = -M x0 + J^T l,    J y = 0,    x = x0 + y,

    with as many digits as it takes where masses are unequal. The push is scaled, by a power of two, so that gravity and
    springs, which are in its forces on both sides, are nothing beside it.
    """
    start: Array = (natural.inverse @ wanted[..., None])[..., 0]
    largest = np.abs(start / natural.column_sizes).max(axis=-1, keepdims=True, initial=0.0)
    scale = np.ldexp(1.0, 40 + np.frexp(max(pace(model) ** 2, 1.0))[1] - np.frexp(largest)[1])
    rest = np.zeros_like(start)
    push = CoreModel.inverse_dynamics(model, q, rest, -scale * start, frame=frame)
    try:
        found, multipliers, dependent = model._pushed(q, rest, push, frame)
    except SingularError:
        return _nearest_at_once(natural, model.mass_matrix(q, frame=frame), wanted)
    multipliers = multipliers[..., 0, :] / scale
    if dependent > 0:
        force = np.swapaxes(natural.J, -1, -2) @ multipliers[..., None]
        multipliers = (natural.sharing @ force)[..., 0]
    return start + found / scale, multipliers


def _nearest_at_once(natural: NaturalRows, M: Array, wanted: Array) -> tuple[Array, Array]:
    """The same if M is singular, which it may be where J holds.

    Both are solved for together, in natural sizes; with P the projection onto the null space of J^T,

        [ M  -J^T  ] [ x ]   [        0       ]
        [ J  P L^2 ] [ l ] = [ (1 - P) wanted ],

    whose last rows say J x = (1 - P) wanted and P L^2 l = 0.
    """
    sizes, J = natural.column_sizes, natural.scaled
    mass = sizes[:, None] * M * sizes
    largest = np.abs(mass).max(axis=(-1, -2), keepdims=True, initial=0.0)
    largest = np.where(largest > 0, largest, 1.0)
    n, m = mass.shape[-1], J.shape[-2]
    matrix = np.zeros((*np.broadcast_shapes(mass.shape[:-2], J.shape[:-2]), n + m, n + m))
    matrix[..., :n, :n], matrix[..., :n, n:] = mass / largest, -np.swapaxes(J, -1, -2)
    matrix[..., n:, :n], matrix[..., n:, n:] = J, (np.eye(m) - natural.met) * (natural.loads / natural.row_sizes) ** 2
    right = np.zeros((*np.broadcast_shapes(matrix.shape[:-2], wanted.shape[:-1]), n + m))
    right[..., n:] = (natural.met @ (wanted / natural.row_sizes)[..., None])[..., 0]
    try:
        found = np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        raise SingularError(
            "the mass matrix is singular, as if some joint moved nothing that has mass, where no constraint holds"
        ) from None
    return sizes * found[..., :n], found[..., n:] * largest[..., 0] / natural.row_sizes
