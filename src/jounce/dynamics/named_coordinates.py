"""Some of the coordinates of v, given by the names of joints, by a mask, or by columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import is_masked, quoted

if TYPE_CHECKING:
    from jounce.model import Model


def actuated_columns(model: Model, actuated: ArrayLike | Sequence[str] | None) -> NDArray[np.intp]:
    """Columns of tau: all, those of named joints, those where a mask (nv,) is True, or those listed."""
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
        columns = _columns_of(model, given)
    elif given.dtype == np.bool_ and given.shape == (model.nv,):
        columns = np.flatnonzero(given)
    elif given.dtype.kind in "iu" and given.ndim == 1 and (given >= 0).all() and (given < model.nv).all():
        columns = given.astype(np.intp)
    if columns is None or len(set(columns.tolist())) < len(columns):
        raise ValueError(
            f"actuated is {quoted(actuated)}, expected joint names, a mask ({model.nv},) "
            f"or columns 0 to {model.nv - 1}, each once"
        )
    return columns


def _columns_of(model: Model, names: NDArray[Any]) -> NDArray[np.intp]:
    """Those of some joints, in the order of their names."""
    every = np.arange(model.nv)
    return np.concatenate([every[model.coordinate(str(name))] for name in np.atleast_1d(names).ravel()])
