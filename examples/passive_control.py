"""A passive Coriolis matrix in a tracking controller: the choice of C matters, though every C gives the same force C v.

Slotine and Li's controller applies tau = M a_ref + C v_ref + g - D s, where v_ref is the desired velocity corrected
towards the desired position, and s = v - v_ref. Then M s' + C s = -D s, and the storage V = s M s / 2 changes by

    V' = -s D s + s (M' - 2 C) s / 2.

With the C of `coriolis_matrix`, M' - 2 C is skew and the last term is zero: V decreases exactly by what the damping D
dissipates, however fast the motion. With the C read directly off Lagrange's equations, M' v - d(v M v / 2)/dq, it is
not skew: the controller itself feeds power into the errors.

The picture shows the storage, the power not due to damping, and the joint error, for both. Damping is small on purpose:
more of it would hide the difference. The number to look at is that power: rounding for one, kilowatts for the other.

    python examples/passive_control.py [figure.png]
"""

from pathlib import Path

import numpy as np
from arm import add_arm
from picture import BLUE, ORANGE, asked, panels

import jounce as jn

MIDDLE, SIZE = np.array([0.0, 0.9, 1.0, 0.0]), np.array([1.0, 0.6, 0.9, 0.8])  # rad
RATE = np.array([4.0, 6.0, 8.0, 10.0])  # rad/s
CORRECTION = 5.0  # 1/s
DAMPING = np.array([2.0, 2.0, 1.0, 0.2])  # N m s/rad, D


def reference(t, q, v):
    """Position error q_d - q, v_ref and a_ref, (4,) each."""
    angle = RATE * t
    error = MIDDLE + SIZE * np.sin(angle) - q
    rate = SIZE * RATE * np.cos(angle) - v
    v_ref = v + rate + CORRECTION * error
    return error, v_ref, CORRECTION * rate - SIZE * RATE**2 * np.sin(angle)


def passive(arm, q, v, v_ref, a_ref):
    """M a_ref + C v_ref + g with the passive C, without any matrix."""
    return arm.inverse_dynamics_passive(q, v, v_ref, a_ref)


def lagrange(arm, q, v, v_ref, a_ref):
    """The same with C_ij = sum over k of (dM_ij/dq_k - dM_kj/dq_i / 2) v_k, which gives the right C v."""
    dM = arm.mass_matrix_derivatives(q, np.eye(arm.nv)[:, None])[:, 1]  # dM/dt if only q_k moves, at unit speed
    C = np.einsum("kij,k->ij", dM, v) - np.einsum("ikj,k->ij", dM, v) / 2
    return arm.mass_matrix(q) @ a_ref + C @ v_ref + arm.gravity_force(q)


def track(arm, feed_forward, times):
    """Storage V, power V' + s D s not due to damping, and the norm of the position error, (T,) each."""

    def torques(t, q, v):
        _, v_ref, a_ref = reference(t, q, v)
        return feed_forward(arm, q, v, v_ref, a_ref) - DAMPING * (v - v_ref)

    start = MIDDLE + np.array([0.5, -0.4, 0.4, -0.5])
    run = jn.simulate(arm, start, np.zeros(arm.nv), times, torques, method="rkmk", rtol=1e-6, atol=1e-8)
    rows = []
    for t, q, v, a in zip(times, run.q, run.v, run.a, strict=True):
        error, v_ref, a_ref = reference(t, q, v)
        s, ds = v - v_ref, a - a_ref
        M, dM = arm.mass_matrix_derivatives(q, [v])
        rows.append([s @ M @ s / 2, s @ M @ ds + s @ dM @ s / 2 + s @ (DAMPING * s), np.linalg.norm(error)])
    return np.array(rows).T


def main(path: Path, end: float = 4.0) -> dict:
    arm, times = add_arm(jn.Builder()).build(), np.arange(0.0, end, 0.01)
    results = {}
    labels = (
        ("storage", "time (s)", "$V$ (J)"),
        ("power not from the damping", "time (s)", "$|V' + s^T D\\, s|$ (W)"),
        ("position error of the joints", "time (s)", "error (rad)"),
    )
    with panels(path, *labels) as axes:
        for name, feed_forward, line in (("Lagrange's C", lagrange, ORANGE), ("passive C", passive, BLUE)):
            results[name] = storage, power, error = track(arm, feed_forward, times)
            rise, leak = np.diff(storage).clip(0).sum(), np.abs(power).max()
            print(f"{name:13s} V from {storage[0]:.0f} J to {storage[-1]:.1g} J, with rises of {rise:.0f} J in all;")
            print(f"{'':13s} power not from the damping up to {leak:.1g} W")
            axes[0].semilogy(times, storage, **line, label=name)
            axes[1].semilogy(times, np.where(power, np.abs(power), np.nan), **line)
            axes[2].semilogy(times, error, **line)
        axes[0].legend(frameon=False, fontsize=7.5)
    return results


if __name__ == "__main__":
    main(asked("passive_control"))
