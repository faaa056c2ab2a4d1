"""Paper B's Tables 4 to 9 to the letter and as read, and Proposition 4: claims of B-section5."""

from __future__ import annotations

import numpy as np

from ..model import Model
from .claims import Array, Claim, agrees, judged, off
from .nine_joints import random_robot, random_state
from .paper_b import eidamb, hat
from .paper_b_derivatives import by_joints, by_pose, by_rates, by_twist
from .paper_b_inverse import immamb


def tables(rng: np.random.Generator) -> list[Claim]:
    """Tables 4 to 9 as printed, and as they are read; Proposition 4; (54)-(62)."""
    robot = random_robot(rng)
    q, v, tau = random_state(rng, robot)
    a = robot.forward_dynamics(q, v, tau) + rng.normal(size=15)  # not consistent: the extended system
    truth, M = robot.inverse_dynamics(q, v, a), robot.mass_matrix(q)
    dq, dv, _ = robot.inverse_dynamics_derivatives(q, v, a)
    D = dq[:, :6], dq[:, 6:], dv[:, :6], dv[:, 6:]
    e = eidamb(robot, q, v, a)
    still = robot.inverse_dynamics_derivatives(q, 0 * v, 0 * a)[0]
    bias = np.linalg.norm(e.Mc[0] - M[:6, :6]) + np.linalg.norm(np.stack([e.F[i][0] for i in e.joints], 1) - M[:6, 6:])
    inverse, ours, exact = immamb(robot, q[7:]), robot.inverse_mass_matrix(q), np.linalg.inv(M)
    return [
        _pair(
            "The extended inverse dynamics, EIDAmb", "Table 4", off(eidamb(robot, q, v, a, printed=True).tau, truth),
            off(e.tau, truth), "line 6: with a_grav the acceleration of a falling body; it must be minus that",
        ),
        agrees("M_11 is the composite inertia, M_12 is 0F (difference)", "B, (54), (56)", float(bias), 1e-12),
        agrees(
            "The derivative of the base twist by H, (67), with its world components held (relative, sixth-order "
            "differences)",
            "B, Proposition 4, (67)", _proposition4(robot, q, v), 1e-9,
        ),
        _pair(
            "D_1 of the extended inverse dynamics, by H", "Table 5", off(by_pose(e, ("5.1", "5.12")), D[0]),
            off(by_pose(e), D[0]),
            "line 1 holds the world components of the base twist where Proposition 1 and (82) hold the body's (alone "
            "off by "
            f"{off(by_pose(e, ('5.1',)), D[0]):.2f}); line 12 adds to the body, not to its parent (alone "
            f"{off(by_pose(e, ('5.12',)), D[0]):.2f})",
        ),
        _pair(
            "D_2, by s", "Table 6", off(by_joints(e, ("6.18",)), D[1]), off(by_joints(e), D[1]),
            "line 18: the last factor is the derivative of the velocity transformation; line 47 with the scalar r_i' "
            "in both",
        ),
        agrees("D_3, by v (relative)", "B, Table 7", off(by_twist(e), D[2]), 1e-11),
        agrees("D_4, by r (relative)", "B, Table 8", off(by_rates(e), D[3]), 1e-11),
        agrees(
            "Of the extended inverse dynamics only gravity depends on H: D_1 at rest against D_1 in motion (relative)",
            "B, (62)", off(still[:, :6], D[0]), 1e-10,
        ),
        _pair(
            "The inverse of the mass matrix without the mass matrix, IMMAmb", "Table 9",
            off(immamb(robot, q[7:], printed=True), exact), max(off(inverse, exact), off(ours, exact)),
            "lines 1-5 leave out the base's inertia, line 11 puts X before one term of two, no line fills the block "
            "below "
            "the base's",
        ),
    ]  # fmt: skip


def _pair(what: str, table: str, printed: float, read: float, fault: str) -> Claim:
    """A table that is right but for misprints: the verdict is about what is printed."""
    return judged(
        f"{what} (relative error, to the letter; then as read here)", f"B, {table}", "", [printed, read],
        printed < 1e-9, f"Misprints, {fault}. As read here it {'holds' if read < 1e-9 else 'does not hold either'}.",
    )  # fmt: skip


def _proposition4(robot: Model, q: Array, v: Array) -> float:
    """(67): columns of d(^0X_A ^A v)/dH against differences over H exp(d)."""
    world = robot.change_velocity_frame(q, v[None], "body", "world")
    h, columns = 1e-2, []
    for d in np.eye(15)[:6]:

        def twist(x: float, d: Array = d) -> Array:
            return np.asarray(robot.change_velocity_frame(robot.integrate(q, x * d), world, "world", "body")[0, :6])

        ends = [twist(k * h) - twist(-k * h) for k in (1, 2, 3)]
        columns.append((45 * ends[0] - 9 * ends[1] + ends[2]) / (60 * h))
    H = robot.pose(robot.body_names[0], q)
    R, o, (vel, omega) = H[:3, :3], H[:3, 3], np.split(world[0, :6], 2)
    w, u = (R.T @ hat(x) @ R for x in (omega, vel - np.cross(o, omega)))
    return off(np.array(columns).T, np.block([[w, u], [np.zeros((3, 3)), w]]))
