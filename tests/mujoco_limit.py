"""MuJoCo's equality constraints in the limit of hard ones.

They are soft: with an impedance d below one MuJoCo adds R = (1 - d) / d times the diagonal of J M^-1 J^T to it. So
accelerations differ from those of hard constraints by an amount that falls with R; d = 0.9999 is the hardest possible,
and the results for a few values of R are extrapolated to zero. For gears, and in older versions for all constraints,
MuJoCo omits J' v. It is added with MuJoCo's own matrices, J' v by differences of its J. MuJoCo's correction of
constraint violations is removed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jounce.conversions import MuJoCo

mujoco = pytest.importorskip("mujoco")

HARD = (0.999, 0.9995, 0.9998, 0.9999)


def prepared(model: Any) -> Any:
    """The same model, with a fully converged solver and no forces besides those of equality constraints."""
    flags, option = mujoco.mjtDisableBit, model.opt
    for flag in (flags.mjDSBL_CONTACT, flags.mjDSBL_LIMIT, flags.mjDSBL_FRICTIONLOSS, flags.mjDSBL_ACTUATION):
        option.disableflags |= int(flag)
    option.solver, option.jacobian = mujoco.mjtSolver.mjSOL_NEWTON, mujoco.mjtJacobian.mjJAC_DENSE
    option.iterations, option.tolerance = 100, 0.0
    return model


def _forward(convert: MuJoCo, model: Any, q: Any, v: Any, tau: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """MuJoCo's data at a state, and its J, J M^-1 and J' v."""
    data, h, rows = mujoco.MjData(model), 1e-4, []
    data.qfrc_applied[:] = convert.force_to(q, tau)
    for time in (-h, h, 0.0):
        data.qpos[:], data.qvel[:] = convert.to(q, v)
        mujoco.mj_integratePos(model, data.qpos, data.qvel, time)
        mujoco.mj_forward(model, data)
        rows.append(data.efc_J.reshape(-1, model.nv).copy())
    before, after, J = rows
    apart = np.zeros_like(J)
    mujoco.mj_solveM(model, data, apart, J)
    return data, J, apart, (after - before) @ data.qvel / (2 * h)


def acceleration(convert: MuJoCo, model: Any, q: Any, v: Any, tau: Any, impedance: float) -> np.ndarray:
    """MuJoCo's acceleration in jounce's coordinates, with constraints as hard as their impedance."""
    model.eq_solimp[:] = impedance, impedance, 1.0, 0.5, 1.0
    data, J, apart, drift = _forward(convert, model, q, v, tau)
    left_out = drift + data.efc_aref  # it aims for J a = aref
    acc = data.qacc - apart.T @ np.linalg.solve(apart @ J.T + np.diag(data.efc_R), left_out)
    return convert.back(data.qpos, data.qvel, acc)[2]


def hard(convert: MuJoCo, model: Any, q: Any, v: Any, tau: Any) -> np.ndarray:
    """The acceleration with J a + J' v = 0 in jounce's coordinates, by MuJoCo's matrices but not its solver."""
    data, J, apart, drift = _forward(convert, model, q, v, tau)
    inverse = np.linalg.pinv(apart @ J.T, rcond=1e-12)
    acc = data.qacc_smooth - apart.T @ inverse @ (J @ data.qacc_smooth + drift)
    return convert.back(data.qpos, data.qvel, acc)[2]


def limit(convert: MuJoCo, model: Any, q: Any, v: Any, tau: Any) -> np.ndarray:
    """MuJoCo's acceleration in jounce's coordinates, in the limit of hard constraints."""
    R = [(1 - d) / d for d in HARD]
    weights = [np.prod([y / (y - x) for y in R if y != x]) for x in R]  # Lagrange's, at R = 0
    found = [acceleration(convert, model, q, v, tau, d) for d in HARD]
    return sum(w * x for w, x in zip(weights, found, strict=True))
