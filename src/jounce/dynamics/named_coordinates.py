"""Coordinates by name: those of q and of v, and some of those of v, given by names, by a mask, or by columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import is_masked, quoted
from jounce.core_tables import joint_hint
from jounce.parts.custom_joint import CustomJoint
from jounce.parts.joints import Free, Spherical
from jounce.parts.sections import Shape
from jounce.units import UNITS

if TYPE_CHECKING:
    from jounce.model import Model


class Names(NamedTuple):
    """Names of the coordinates in q and in v, and their units."""

    q: tuple[str, ...]
    v: tuple[str, ...]
    q_units: tuple[str, ...]
    v_units: tuple[str, ...]


def names(robot: Model) -> Names:
    """The names and units of a robot's coordinates."""
    q_names, q_units, v_names, v_units = [], [], [], []
    for (body, _), name in zip(robot._moving(), robot.joint_names, strict=True):
        joint = body.joint
        if isinstance(joint, (Free, Spherical)):
            free = isinstance(joint, Free)
            q_names += [f"{name}.{axis}" for axis in ("x y z " * free + "qx qy qz qw").split()]
            v_names += [f"{name}.{axis}" for axis in ("vx vy vz " * free + "wx wy wz").split()]
            q_units += ["m"] * (3 * free) + ["1"] * 4
            v_units += ["m/s"] * (3 * free) + ["rad/s"] * 3
            continue
        if isinstance(joint, (CustomJoint, Shape)):
            units, suffixes = list(joint.units), list(joint.names)
        else:
            units = ["m" if primitive.kind == "prismatic" else "rad" for primitive in joint.primitives()]
            suffixes = []
        numbers = [str(i) for i in range(len(units))] if len(units) > 1 else []
        own = [f"{name}.{suffix}" for suffix in suffixes or numbers] or [name]
        q_names, q_units = q_names + own, q_units + units
        v_names, v_units = v_names + own, v_units + [UNITS[unit].rate for unit in units]
    return Names(tuple(q_names), tuple(v_names), tuple(q_units), tuple(v_units))


def place_of_one(robot: Model, name: object, array: str) -> slice:
    """Where one of a joint's several coordinates is in q or in v: `array` says which.

    Raises:
        ValueError: there is no coordinate of that name.
    """
    listed = names(robot).q if array == "q" else names(robot).v
    if isinstance(name, str) and name in listed:
        at = listed.index(name)
        return slice(at, at + 1)
    joint = name.rpartition(".")[0] if isinstance(name, str) else ""
    own = [each for each in listed if joint in robot.joint_names and each.startswith(f"{joint}.")]
    if own:
        hint = f"the coordinates of {joint!r} in {array} are {', '.join(map(repr, own))}"
    else:
        hint = joint_hint(robot.bodies, name, robot.joint_names)
    raise ValueError(f"no joint is named {quoted(name)}: {hint}")


def actuated_columns(model: Model, actuated: ArrayLike | Sequence[str] | None) -> NDArray[np.intp]:
    """Columns of tau: all, those of named joints or coordinates, those where a mask (nv,) is True, or those listed."""
    if actuated is None:
        return model._all_columns
    try:
        given = np.asarray(None if is_masked(actuated) else actuated)
    except (ValueError, TypeError):  # ragged
        given = np.asarray(None)
    columns = None
    if given.size == 0 and given.ndim == 1:
        columns = np.zeros(0, dtype=np.intp)
    elif given.dtype.kind == "U":
        columns = columns_of(model, given.ravel().tolist())
    elif given.dtype == np.bool_ and given.shape == (model.nv,):
        columns = np.flatnonzero(given)
    elif given.dtype.kind in "iu" and given.ndim == 1 and (given >= 0).all() and (given < model.nv).all():
        columns = given.astype(np.intp)
    if columns is None or len(set(columns.tolist())) < len(columns):
        raise ValueError(
            f"actuated is {quoted(actuated)}, expected names of joints or coordinates, a mask ({model.nv},) "
            f"or columns 0 to {model.nv - 1}, each once"
        )
    return columns


def columns_of(model: Model, given: Sequence[Any]) -> NDArray[np.intp]:
    """The columns of some joints and coordinates, in the order of their names."""
    every = np.arange(model.nv)
    return np.concatenate([every[:0], *(every[model.coordinate(name)] for name in given)])
