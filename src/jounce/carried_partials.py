"""How the forces of a robot on a carrier change with its motion, along the motion and with wrenches on it.

With x = g(q) the carrier's motion, G = dg/dq, and K_x, D_x, M_x the derivatives of the carrier's forces tau_x,

    K = G^T (K_x G + D_x X + M_x Y) + dG^T tau_x,     D = G^T (D_x G + M_x (G' + X)),     M = G^T M_x G,

where dG is the derivative of G by the coordinates of soft bodies, X = dG v and Y = dG a + dG' v. At order zero
without wrenches the compiled core has a faster way (carried_dynamics.hpp).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import reals
from ._core import CoreModel
from .leibniz import product, transposed

if TYPE_CHECKING:
    from .coupled import CoupledModel

Array = NDArray[np.float64]


def carried_partials(
    model: CoupledModel, q: Any, v: Any, a: Any, wrenches: Mapping[str, ArrayLike] | None, wrench_frame: str
) -> tuple[Array, Array, Array]:
    """K, D and M, each (..., nv, nv), or (..., r + 1, nv, nv) where v is a stack and `a` is None."""
    x, velocity, columns = model._map.motion(q, v, a, a is None, 0)
    rows = velocity.shape[-2] - 1
    full = wrenches if a is None else stacked_wrenches(wrenches)
    K, D, M = CoreModel._inverse_dynamics_derivatives(model, x, velocity, None, full or None, wrench_frame)
    force = CoreModel.inverse_dynamics(model, x, velocity, wrenches=full or None, wrench_frame=wrench_frame)
    X, Y, twisted = _curvature(model, q, v, a, force, rows)
    G = model._map.matrix(columns)
    change, rate = G[..., :rows, :, :], G[..., 1 : rows + 1, :, :]
    by_q = product(K, change, rows) + product(D, X, rows) + product(M, Y, rows)
    by_v = product(D, change, rows) + product(M, rate + X, rows)
    out = [product(transposed(change), m, rows) for m in (by_q, by_v, product(M, change, rows))]
    out[0] = out[0] + twisted
    if model._shape.n:
        stiff, viscous = model._shape.derivatives(q, v, rows, stacked=a is None)
        out[0], out[1] = out[0] + stiff, out[1] + viscous
    first, second, third = (m if a is None else m[..., 0, :, :] for m in out)
    return first, second, third


def stacked_wrenches(wrenches: Mapping[str, ArrayLike] | None) -> Mapping[str, ArrayLike] | None:
    """Wrenches (..., 6) as stacks (..., 1, 6)."""
    if wrenches is None:
        return None
    if not isinstance(wrenches, Mapping):
        raise ValueError(f"wrenches must be a dict of name: array, got {wrenches!r}")
    return {name: _wrench(name, w)[..., None, :] for name, w in wrenches.items()}


def _wrench(name: str, value: ArrayLike) -> Array:
    wrench = reals(f"wrenches[{name!r}]", value)
    if wrench.ndim == 0 or wrench.shape[-1] != 6:
        raise ValueError(f"wrenches[{name!r}] has shape {wrench.shape}, expected (..., 6): a [force; moment]")
    return wrench


def _curvature(model: CoupledModel, q: Any, v: Any, a: Any, force: Array, rows: int) -> tuple[Array, Array, Array]:
    """X and Y (..., rows, full nv, nv) and dG^T tau_x (..., rows, nv, nv)."""
    seconds = model._map.seconds(q, v, a, a is None, rows + 1)
    stack = np.asarray(v, dtype=np.float64)
    if a is not None:
        stack = np.stack(np.broadcast_arrays(stack, np.asarray(a, dtype=np.float64)), axis=-2)
    lead = np.broadcast_shapes(seconds.shape[:-2], stack.shape[:-2], force.shape[:-2])
    X, Y = np.zeros((2, *lead, rows, force.shape[-1], model.nv))
    twisted = np.zeros((*lead, rows, model.nv, model.nv))
    for part in model._parts:
        n, count = part.body.n, len(part.stations)
        own = stack[..., part.v]
        places = part.stations[:, None] + np.arange(6)
        wrench = force[..., places]
        T = seconds[..., part.second : part.second + 6 * n * n * count]
        T = T.reshape(*seconds.shape[:-1], count, n, n, 6)  # by coordinate c, of column d

        def moved(k: int, rate: Array, T: Array = T, shape: tuple[int, int] = (6 * count, n)) -> Array:
            change = np.einsum("...scdi,...d->...sic", T[..., k, :, :, :, :], rate)
            return np.reshape(change, (*change.shape[:-3], *shape))

        for k in range(rows):
            for j in range(k + 1):
                times = comb(k, j)
                X[..., k, places.ravel(), part.v] += times * moved(k - j, own[..., j, :])
                Y[..., k, places.ravel(), part.v] += times * (
                    moved(k - j, own[..., j + 1, :]) + moved(k - j + 1, own[..., j, :])
                )
                twisted[..., k, part.v, part.v] += times * np.einsum(
                    "...scdi,...si->...dc", T[..., k - j, :, :, :, :], wrench[..., j, :, :]
                )
    return X, Y, twisted
