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
from numpy.typing import NDArray

from jounce._core import NEGLIGIBLE, pseudo_inverse
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

    def nearest(self, M: Array, wanted: Array) -> tuple[Array, Array]:
        """The motion x (..., nv) of least x^T M x with J x = wanted (..., rows), or what comes nearest to it.

        Also the least multipliers (..., rows) of M x = J^T l. Both are solved for together, in natural sizes; with P
        the projection onto the null space of J^T,

            [ M  -J^T  ] [ x ]   [        0       ]
            [ J  P L^2 ] [ l ] = [ (1 - P) wanted ],

        whose last rows say J x = (1 - P) wanted and P L^2 l = 0. M may be singular where J holds.
        """
        sizes, J = self.column_sizes, self.scaled
        mass = sizes[:, None] * M * sizes
        largest = np.abs(mass).max(axis=(-1, -2), keepdims=True, initial=0.0)
        largest = np.where(largest > 0, largest, 1.0)
        n, m = mass.shape[-1], J.shape[-2]
        matrix = np.zeros((*np.broadcast_shapes(mass.shape[:-2], J.shape[:-2]), n + m, n + m))
        matrix[..., :n, :n], matrix[..., :n, n:] = mass / largest, -np.swapaxes(J, -1, -2)
        matrix[..., n:, :n], matrix[..., n:, n:] = J, (np.eye(m) - self.met) * (self.loads / self.row_sizes) ** 2
        right = np.zeros((*np.broadcast_shapes(matrix.shape[:-2], wanted.shape[:-1]), n + m))
        right[..., n:] = (self.met @ (wanted / self.row_sizes)[..., None])[..., 0]
        try:
            found = np.linalg.solve(matrix, right[..., None])[..., 0]
        except np.linalg.LinAlgError:
            raise SingularError(
                "the mass matrix is singular, as if some joint moved nothing that has mass, where no constraint holds"
            ) from None
        return sizes * found[..., :n], found[..., n:] * largest[..., 0] / self.row_sizes
