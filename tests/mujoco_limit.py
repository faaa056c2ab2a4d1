"""MuJoCo's equality constraints in the limit of hard ones.

They give way: with an impedance d below one MuJoCo adds R = (1 - d) / d of the diagonal of J M^-1 J^T to it. So
accelerations differ from those of hard constraints by an amount that falls with R; d = 0.9999 is the hardest there is,
and what a few values of R say is extrapolated to none. Of gears, and in older versions of all constraints, MuJoCo
leaves J' v out. That is put back with its own matrices, J' v by differences of its J. What is broken of a constraint,
which MuJoCo pulls back, is left as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jounce.conversions import MuJoCo

mujoco = pytest.importorskip("mujoco")

HARD = (0.999, 0.9995, 0.9998, 0.9999)


def prepared(model: Any) -> Any:
    """The same model, with a solver that goes to the end and nothing that acts beside equality constraints."""
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
    """jounce's v' of MuJoCo's robot, as hard as its impedance is."""
    model.eq_solimp[:] = impedance, impedance, 1.0, 0.5, 1.0
    data, J, apart, drift = _forward(convert, model, q, v, tau)
    left_out = drift + data.efc_aref  # it aims for J a = aref
    acc = data.qacc - apart.T @ np.linalg.solve(apart @ J.T + np.diag(data.efc_R), left_out)
    return convert.back(data.qpos, data.qvel, acc)[2]


def hard(convert: MuJoCo, model: Any, q: Any, v: Any, tau: Any) -> np.ndarray:
    """jounce's v' of MuJoCo's robot where J a + J' v = 0, with MuJoCo's matrices and not its solver."""
    data, J, apart, drift = _forward(convert, model, q, v, tau)
    inverse = np.linalg.pinv(apart @ J.T, rcond=1e-12)
    acc = data.qacc_smooth - apart.T @ inverse @ (J @ data.qacc_smooth + drift)
    return convert.back(data.qpos, data.qvel, acc)[2]


def limit(convert: MuJoCo, model: Any, q: Any, v: Any, tau: Any) -> np.ndarray:
    """jounce's v' of MuJoCo's robot where its constraints are hard."""
    R = [(1 - d) / d for d in HARD]
    weights = [np.prod([y / (y - x) for y in R if y != x]) for x in R]  # Lagrange's, at R = 0
    found = [acceleration(convert, model, q, v, tau, d) for d in HARD]
    return sum(w * x for w, x in zip(weights, found, strict=True))
