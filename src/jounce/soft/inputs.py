"""The inputs of soft bodies, tendons and pressures.

They do work on recorded functions L_j(q): the force of input u is (dL/dq)^T u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jounce.errors import SingularError
from jounce.parts.sections import SoftBody
from jounce.recording.record import Expressions

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SoftPart:
    """A soft body of a robot, its name, and the slices of its coordinates in q and in v."""

    name: str
    body: SoftBody
    q: slice
    v: slice


class Inputs:
    """The inputs of all soft bodies; inputs of the same name are one input."""

    def __init__(self, parts: Sequence[SoftPart], nv: int) -> None:
        self._nv = nv
        names: dict[str, int] = {}
        self._columns: list[tuple[SoftPart, NDArray[np.intp]]] = []
        for part in parts:
            if not part.body.input_names:
                continue
            own = [name if part.body.shares_inputs else f"{part.name} {name}" for name in part.body.input_names]
            columns = np.array([names.setdefault(name, len(names)) for name in own], dtype=np.intp)
            self._columns.append((part, columns))
        self.names = tuple(names)

    @cached_property
    def _parts(self) -> list[tuple[SoftPart, Expressions, NDArray[np.intp]]]:
        """Each body with inputs, the gradient of what they do work on, and their columns."""
        found = []
        for part, columns in self._columns:
            given = part.body.recorded_inputs()
            assert given is not None
            found.append((part, given.gradient(range(part.body.n)), columns))
        return found

    def matrix(self, q: Array) -> Array:
        """(..., nv, nu): the force of inputs u is this times u."""
        A = np.zeros((*q.shape[:-1], self._nv, len(self.names)))
        for part, gradient, columns in self._parts:
            n = part.body.n
            values = gradient.values(q[..., part.q]).reshape(*q.shape[:-1], len(columns), n)
            for j, column in enumerate(columns):
                A[..., part.v, column] += values[..., j, :]
        return A

    def checked(self, q: Array, found: Array) -> Array:
        """The result of `matrix` or `derivative` at q (..., nq).

        Raises:
            SingularError: it is not finite; the message names the body.
        """
        if not np.isfinite(found).all():
            for part, gradient, _ in self._parts:
                own = np.reshape(q[..., part.q], (-1, part.body.n))
                bad = ~np.isfinite(gradient.derivatives(np.stack([own, np.ones_like(own)], axis=1))).all(axis=(1, 2))
                if bad.any():
                    raise SingularError(
                        f"the inputs of body {part.name!r} have no finite derivative where its q is "
                        f"{own[np.flatnonzero(bad)[0]].tolist()}"
                    )
            raise SingularError("the inputs of soft bodies have no finite derivative there")
        return found

    def derivative(self, q: Array, u: Array) -> Array:
        """(..., nv, nv): how the force of inputs u (..., nu) changes with q."""
        lead = np.broadcast_shapes(q.shape[:-1], u.shape[:-1])
        result = np.zeros((*lead, self._nv, self._nv))
        for i, (part, _, columns) in enumerate(self._parts):
            n = part.body.n
            values = self._hessians[i].values(q[..., part.q]).reshape(*q.shape[:-1], len(columns), n, n)
            result[..., part.v, part.v] += np.einsum("...jab,...j->...ab", values, u[..., columns])
        return result

    @cached_property
    def _hessians(self) -> list[Expressions]:
        return [gradient.gradient(range(part.body.n)) for part, gradient, _ in self._parts]
