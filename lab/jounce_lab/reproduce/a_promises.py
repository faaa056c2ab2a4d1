"""What paper A says about its algorithms in sections 1, 4, 6 and 7.1: claims of A-fig3."""

from __future__ import annotations

from math import comb

import numpy as np

from jounce.demo.flight import ORDER
from jounce.model import Model
from jounce.robots import TiltHex

from .claims import Array, Claim, agrees, judged, off, unchecked


def promises(robot: Model) -> list[Claim]:
    """What sections 1, 4 and 6 say about all states, checked at random ones with large derivatives."""
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng), rng.normal(size=(ORDER + 2, robot.nv))
    spatial = robot.change_velocity_frame(q, v, "body", "world")
    tau = robot.inverse_dynamics(q, v)

    prescribed = np.repeat([True, False], 6)
    acc, force = robot.hybrid_dynamics(q, v[0], v[1:], tau, prescribed=prescribed)
    passive = np.zeros_like(tau)  # passive joints, base on its motion
    moved, wrench = robot.hybrid_dynamics(q, v[0], v[1:], passive, prescribed=prescribed)
    again = robot.forward_dynamics(q, v[0], wrench)

    flip = _flip_errors(robot, v)
    elsewhere = robot.inverse_dynamics(*_moved_world(q, spatial), frame="world")
    leibniz = _pose_rates(robot, q, spatial)
    return [
        agrees(
            "Hybrid dynamics, accelerations of some joints and torques of the others given: gives those left "
            "(relative, "
            "r = 0 to 5)",
            "A, section 6, Algorithm 4", max(off(acc, v[1:]), off(force, tau)), 1e-9,
        ),
        agrees(
            "With passive joints and a given motion of the base, it gives the propeller wrench: forward dynamics, fed "
            "with it, moves the same (relative)",
            "A, section 6", off(again, moved), 1e-8,
        ),
        agrees(
            "Singularity-free: round trip to r = 5 through a loop of pitch, 0 to 360 degrees in 721 steps, largest "
            "relative error (at ±90 degrees the rates of roll, pitch and yaw do not exist)",
            "A, section 1", flip, 1e-8,
        ),
        agrees(
            "Coordinate-invariant: with the world frame moved and turned about the vertical, joint torques to r = 5 "
            "are "
            "the same (relative)",
            "A, section 1, Table 1", off(elsewhere[:, 6:], tau[:, 6:]), 1e-10,
        ),
        agrees(
            "The tangent-space derivatives of the pose follow from those of the spatial twist by Leibniz' rule, r = 1 "
            "to 5 (relative)",
            "A, Remark 1, (20)", leibniz, 1e-12,
        ),
        unchecked(
            "Of the methods listed, only the proposed one has all nine properties",
            "A, Table 1", "", "A survey of the literature; what jounce has of the nine is checked in this report.",
        ),
    ]  # fmt: skip


def _flip_errors(robot: Model, v: Array) -> float:
    pitch = np.deg2rad(np.linspace(0.0, 360.0, 721))
    q = np.zeros((len(pitch), robot.nq))
    q[:, 4], q[:, 6], q[:, 7:] = np.sin(pitch / 2), np.cos(pitch / 2), 0.3
    back = robot.forward_dynamics(q, v[0], robot.inverse_dynamics(q, v))
    return off(back, np.broadcast_to(v[1:], back.shape))


def _moved_world(q: Array, spatial: Array) -> tuple[Array, Array]:
    """The same motion seen from a frame 1 m away and turned by 40 degrees about the vertical."""
    angle, shift = np.deg2rad(40.0), np.array([0.6, -0.8, 0.2])
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    moved = q.copy()
    moved[:3] = R @ q[:3] + shift
    (x, y, z, w), (sz, cz) = q[3:7], (np.sin(angle / 2), np.cos(angle / 2))
    moved[3:7] = cz * x - sz * y, cz * y + sz * x, cz * z + sz * w, cz * w - sz * z  # (0 0 sz cz) times q
    stack = spatial.copy()
    stack[:, 3:6] = spatial[:, 3:6] @ R.T
    stack[:, :3] = spatial[:, :3] @ R.T + np.cross(shift, stack[:, 3:6])
    return moved, stack


def _pose_rates(robot: Model, q: Array, spatial: Array) -> float:
    """Remark 1, literally, against the library's derivatives of the pose."""
    truth = robot.pose_derivatives(q, spatial[:ORDER], frames=[0], frame="world")[:, 0]
    C = [truth[0]]
    for r in range(1, ORDER + 1):
        C.append(sum((comb(r - 1, k) * _wedge(spatial[k]) @ C[r - 1 - k] for k in range(r)), np.zeros((4, 4))))
    return max(off(C[r], truth[r]) for r in range(1, ORDER + 1))


def _wedge(twist: Array) -> Array:
    (vx, vy, vz), (x, y, z) = twist[:3], twist[3:6]
    return np.array([[0, -z, y, vx], [z, 0, -x, vy], [-y, x, 0, vz], [0, 0, 0, 0]])


def base_claims(hexarotor: TiltHex) -> list[Claim]:
    printed = TiltHex(alternates=False).allocation()
    spread, real = (np.linalg.cond(G / np.abs(G).max(axis=1)[:, None]) for G in (printed, hexarotor.allocation()))
    return [
        judged(
            "The base is fully actuated: rank of the allocation (28), one alpha and one beta for all six propellers, "
            "c_d,i alternating",
            "A, Fig. 2 and section 7.1, (28)", "6", int(np.linalg.matrix_rank(printed)), lambda rank: rank == 6,
            f"Its condition number, rows scaled, is {spread:.0f}; with alpha alternating as on the real TiltHex, as it "
            f"is flown here, {real:.0f}.",
        ),
    ]  # fmt: skip
