"""Joints that are held, by name, where they are or at given positions: for `project` and `equilibrium`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import batch_of, quoted, reals
from jounce.dynamics.named_coordinates import columns_of, names

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]


class HeldJoints(NamedTuple):
    """Joints, or single coordinates of joints, that are held.

    Attributes:
        names: as given.
        positions: (..., n) of those whose positions are given, by name.
        free: (nv,) a mask of the coordinates of v that are not held.
    """

    names: tuple[str, ...]
    positions: dict[str, Array]
    free: NDArray[np.bool_]

    @classmethod
    def of(cls, robot: Model, held: Mapping[str, ArrayLike] | Iterable[str]) -> HeldJoints:
        """What `held=` says."""
        try:
            given = None if isinstance(held, (str, bytes)) else list(held)
        except TypeError:
            given = None
        if given is None:
            raise ValueError(f"held is {quoted(held)}, expected names of joints, or a dict of name: position")
        sizes = {name: _size(robot, name) for name in given}
        positions = {}
        if isinstance(held, Mapping):
            positions = {name: _position(name, held[name], size) for name, size in sizes.items()}
        free = np.ones(robot.nv, bool)
        free[columns_of(robot, given)] = False
        return cls(tuple(sizes), positions, free)

    def placed(self, robot: Model, q: Array) -> Array:
        """Configurations (..., nq) with these joints where they are held."""
        if not self.positions:
            return q
        shapes = {f"held[{quoted(name)}]": at.shape[:-1] for name, at in self.positions.items()}
        q = np.broadcast_to(q, (*batch_of(q=q.shape[:-1], **shapes), robot.nq)).copy()
        for name, at in self.positions.items():
            q[..., robot.position(name)] = at
        return q

    def as_in(self, robot: Model, q: Array, other: Array) -> Array:
        """A configuration (nq,) with these joints where they are in another one."""
        q = q.copy()
        for name in self.names:
            q[robot.position(name)] = other[robot.position(name)]
        return q


def _size(robot: Model, name: str) -> int:
    """How many numbers say where a joint is, or a coordinate."""
    known = names(robot)
    if isinstance(name, str) and name not in robot.joint_names and (name in known.v) != (name in known.q):
        raise ValueError(
            f"held: {name!r} is no coordinate that can be held, as the joint has a quaternion: hold the whole joint, "
            f"{name.rpartition('.')[0]!r}, or tie its body to the world with robot.constrained"
        )
    try:
        where = robot.position(name)
    except ValueError as fault:
        raise ValueError(f"held: {fault}") from None
    return int(where.stop - where.start)


def _position(name: str, value: ArrayLike, size: int) -> Array:
    """(..., size); a number if there is one coordinate."""
    key = f"held[{quoted(name)}]"
    given = reals(key, value)
    if given.ndim == 0 and size == 1:
        given = given[None]
    if given.shape[-1:] != (size,):
        expected = f"(..., {size})" if size > 1 else "(..., 1) or a number: for several states, (T, 1)"
        raise ValueError(f"{key} has shape {given.shape}, expected {expected}")
    if not np.isfinite(given).all():
        raise ValueError(f"{key} is {quoted(value)}, expected finite numbers")
    return given
