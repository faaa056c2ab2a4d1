"""Paper B's Tables 4 to 9 and Proposition 4: claims of B-section5."""

from __future__ import annotations

import numpy as np

from jounce.model import Model

from .claims import Array, Claim, agrees, off
from .nine_joints import random_robot, random_state
from .paper_b import Tree, extended, hat
from .paper_b_derivatives import by_joints, by_pose, by_rates, by_twist
from .paper_b_inverse import immamb
from .printed import in_doubt, to_the_letter


def tables(rng: np.random.Generator) -> list[Claim]:
    """Tables 4 to 9 as read here; lines as printed; Proposition 4; (54)-(62)."""
    robot = random_robot(rng)
    tree = Tree.of(robot)
    q, v, tau = random_state(rng, robot)
    a = robot.forward_dynamics(q, v, tau) + rng.normal(size=15)  # inconsistent, for the extended system
    e = extended(tree, q, v, a)
    _, dv, M = robot.inverse_dynamics_derivatives(q, v, a)
    return [
        *_table4(robot, tree, q, v, a), *_table5(robot, q, v, a), *_table6(robot, q, v, a),
        agrees("D_3, by v (relative)", "B, Table 7", off(by_twist(e), dv[:, :6]), 1e-11),
        agrees("D_4, by r (relative)", "B, Table 8", off(by_rates(e), dv[:, 6:]), 1e-11),
        *_table9(tree, q, M),
    ]  # fmt: skip


def _table4(robot: Model, tree: Tree, q: Array, v: Array, a: Array) -> list[Claim]:
    e, truth, M = extended(tree, q, v, a), robot.inverse_dynamics(q, v, a), robot.mass_matrix(q)
    falling = off(extended(tree, q, v, a, "4.6").tau, truth)
    bias = np.linalg.norm(e.Mc[0] - M[:6, :6]) + np.linalg.norm(np.stack([e.F[i][0] for i in e.joints], 1) - M[:6, 6:])
    return [
        agrees(
            "The extended inverse dynamics, EIDAmb (relative)", "B, Table 4", off(e.tau, truth), 1e-11,
            reading="Its input a_grav, whose sign is not said, is minus the acceleration of a falling body; that "
            f"acceleration itself would be off by {falling:.2g}.",
        ),
        agrees("M_11 is the composite inertia, M_12 is 0F (difference)", "B, (54), (56)", float(bias), 1e-12),
        agrees(
            "The derivative of the base twist by H, (67), with its world components held (relative, sixth-order "
            "differences)",
            "B, Proposition 4, (67)", _proposition4(robot, q, v), 1e-9,
        ),
    ]  # fmt: skip


def _table5(robot: Model, q: Array, v: Array, a: Array) -> list[Claim]:
    e = extended(Tree.of(robot), q, v, a)
    truth = robot.inverse_dynamics_derivatives(q, v, a)[0][:, :6]
    bias = robot.inverse_dynamics_derivatives(q, v, 0 * a)[0][:6, :6]
    world = _by_pose_at_fixed_world_twist(robot, q, v, a)
    return [
        agrees(
            "It is the derivative of EIDAmb by H, whose input is the base twist in world components (relative, "
            "sixth-order differences)",
            "B, Table 5", off(by_pose(e, "world"), world), 1e-8,
            damage="Line 12 as lines 11 of Tables 7 and 8 have it.",
        ),
        to_the_letter(
            "With its line 1, (67), it is the D_1 of Propositions 1 and 3, where v has body components", "B, Table 5, "
            "(67), against (42) and (82)", by_pose(e, "world"), truth,
            "(67) holds the world components of the base twist. (42) and (82) hold those in the body, by which Table 7 "
            f"differentiates; then line 1 is 0, and Table 5 right to {off(by_pose(e), truth):.0e}.",
        ),
        in_doubt(
            "Line 12 of Table 5", "B, Table 5, line 12", by_pose(e, printed="5.12"), by_pose(e), truth,
            "it adds to the b of the parent, not to that of the body, as lines 11 of Tables 7 and 8 do.",
        ),
        agrees(
            "The wrench on the base depends on H by its bias alone: D_1 with accelerations against D_1 without "
            "(relative)",
            "B, (62)", off(bias, truth[:6]), 1e-10,
        ),
    ]  # fmt: skip


def _table6(robot: Model, q: Array, v: Array, a: Array) -> list[Claim]:
    e = extended(Tree.of(robot), q, v, a)
    truth = robot.inverse_dynamics_derivatives(q, v, a)[0][:, 6:]
    return [
        agrees(
            "D_2, by s (relative)", "B, Table 6", off(by_joints(e), truth), 1e-11,
            damage="The last factor of line 18 is the derivative of the velocity transformation; line 47 has the "
            "scalar r_i'.",
        ),
        in_doubt(
            "Line 18 of Table 6", "B, Table 6, line 18", by_joints(e, "6.18"), by_joints(e), truth,
            "its last factor is the derivative of the velocity transformation, not of the wrench transformation; the "
            "factor before it has lost an index, too. Line 47 has a vector where only the scalar r_i' fits.",
        ),
    ]  # fmt: skip


def _table9(tree: Tree, q: Array, M: Array) -> list[Claim]:
    read, truth = immamb(tree, q[7:]), np.linalg.inv(M)
    return [
        agrees(
            "The inverse of the mass matrix without the mass matrix, IMMAmb (relative)", "B, Table 9",
            off(read, truth), 1e-10,
            damage="Lines 11 and 18 as below. It starts from the base's inertia, M^A_B0 = M_B0, which no line says.",
        ),
        in_doubt(
            "Line 11 of Table 9", "B, Table 9, line 11", immamb(tree, q[7:], "9.11"), read, truth,
            "X stands before the sum of both terms. Line 18, whose shapes do not fit, has P_lambda(i)[:, i+6:].",
        ),
    ]  # fmt: skip


def _by_pose_at_fixed_world_twist(robot: Model, q: Array, v: Array, a: Array) -> Array:
    """d ID / dH with the world components of the base twist held, by sixth-order differences."""
    world = robot.change_velocity_frame(q, v[None], "body", "world")
    h, columns = 1e-2, []
    for d in np.eye(15)[:6]:

        def force(x: float, d: Array = d) -> Array:
            near = robot.integrate(q, x * d)
            twist = robot.change_velocity_frame(near, world, "world", "body")[0]
            return np.asarray(robot.inverse_dynamics(near, twist, a))

        ends = [force(k * h) - force(-k * h) for k in (1, 2, 3)]
        columns.append((45 * ends[0] - 9 * ends[1] + ends[2]) / (60 * h))
    return np.array(columns).T


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
