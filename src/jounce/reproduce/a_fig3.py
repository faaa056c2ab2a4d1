"""A-fig3: paper A's section 7, the aerial manipulator on its reference motion, and what its introduction promises."""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np

from .. import robots
from ..demo.figures import draw_forces, draw_motion, draw_rotors
from ..demo.flight import ORDER, Flight, derivative_error, fly, round_trip_error
from ..demo.motion import STEP
from ..demo.rotors import TiltHex
from ..model import Model
from .claims import Array, Claim, Result, Tell, agrees, judged, off, silent, unchecked, write_csv, written

_INVERSE = 2.326, 3.078, 2.867, 4.355, 5.960, 8.171  # µs, caption of Fig. 3
_FORWARD = 4.106, 4.802, 6.486, 6.461, 8.589, 11.085


def run(output: Path, quick: bool = False, tell: Tell = silent) -> Result:
    """Fig. 3(a) and (b), the propellers, and the claims about them."""
    robot, hexarotor = robots.aerial_manipulator(), TiltHex()
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        tell(0.6 * done / (2 * ORDER + 3), "dynamics along the flight")

    flight = fly(robot, advance, 10 * STEP if quick else STEP, 20)
    speeds = hexarotor.speeds(flight.wrench)
    tell(0.65, "figures")
    paths = [output / f"A-fig3{letter}.png" for letter in ("a", "b", "c")]
    draw_motion(flight, paths[0])
    draw_forces(flight, paths[1])
    draw_rotors(flight, speeds, paths[2])
    tell(0.95, "claims")
    captions = (
        "Fig. 3(a): the motion given to inverse dynamics and, dashed, what forward dynamics gives back.",
        "Fig. 3(b): the forces on base and joints and their derivatives to fifth order.",
        "The propellers' speeds and their derivatives (section 7.1); the paper has no such figure.",
    )
    return Result(
        claims=[*_flight_claims(flight), *_promises(robot), *_base_claims(hexarotor)],
        left_out=_left_out(hexarotor),
        figures=list(zip(paths, captions, strict=True)),
        data=[_data(flight, speeds, output / "A-fig3.csv")],
    )


def _flight_claims(flight: Flight) -> list[Claim]:
    slopes, back = derivative_error(flight), round_trip_error(flight)
    growth = flight.inverse[-1] / flight.inverse[0], flight.forward[-1] / flight.forward[0]
    return [
        judged(
            "The simulations evaluate the inverse dynamics up to fifth order: each row is the slope in time of the row "
            "before (eighth-order differences, relative)",
            "A, abstract and section 7", "successfully", max(slopes), lambda e: e < 1e-9,
        ),
        judged(
            "Fed with the forces, forward dynamics gives back the reference motion and its derivatives, r = 0 to 5 "
            "(relative)",
            "A, section 7, Fig. 3(a)", "the lines coincide", back, max(back) < 1e-5,
            "What is left is the rounding of the forces, which the arms' own frequency multiplies at every second "
            "order; "
            "at r = 5 the motion itself has faded to 1e-3.",
        ),
        _time_claim("inverse", _INVERSE, flight.inverse),
        _time_claim("forward", _FORWARD, flight.forward),
        judged(
            "The computations remain highly tractable as the order increases: time at r = 5 over time at r = 0, "
            "inverse "
            "and forward",
            "A, section 1", f"{_INVERSE[-1] / _INVERSE[0]:.1f}, {_FORWARD[-1] / _FORWARD[0]:.1f}", growth,
            max(growth) < 6,
        ),
    ]  # fmt: skip


def _time_claim(kind: str, paper: tuple[float, ...], ours: list[float]) -> Claim:
    text = f"Mean time of a call of {kind} dynamics, r = 0 to 5 (µs)"
    where = "A, caption of Fig. 3"
    if all(here <= there for here, there in zip(ours, paper, strict=True)):
        return judged(text, where, written(paper), ours, True, "Theirs: C++ on an i7-12700H. Ours: from Python, here.")
    why = "Theirs: their C++ on an i7-12700H, ours: from Python on this machine, which is not faster at every order."
    return unchecked(text, where, written(paper), why, written(ours))


def _promises(robot: Model) -> list[Claim]:
    """What sections 1, 4 and 6 say of all states, at random ones with lively derivatives."""
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng), rng.normal(size=(ORDER + 2, robot.nv))
    spatial = robot.change_velocity_frame(q, v, "body", "world")
    tau = robot.inverse_dynamics(q, v)

    prescribed = np.repeat([True, False], 6)
    acc, force = robot.hybrid_dynamics(q, v[0], v[1:], tau, prescribed=prescribed)
    passive = np.zeros_like(tau)  # joints that nothing drives, base on its motion
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
            "A, Remark 1", leibniz, 1e-12,
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


def _base_claims(hexarotor: TiltHex) -> list[Claim]:
    printed = np.linalg.matrix_rank(TiltHex(alternates=False).allocation())
    real = np.linalg.matrix_rank(hexarotor.allocation())
    return [
        judged(
            "The base is fully actuated: rank of the allocation as section 7.1 prints it, with one alpha, one beta and "
            "one c_d for all six propellers",
            "A, Fig. 2 and section 7.1", "6", int(printed), lambda rank: rank == 6,
            "Every propeller is then the first one turned about z: the vertical force and moment go together, and so "
            "do "
            "the horizontal ones, whatever the angles. With alpha and the sense of rotation alternating, as on the "
            "real "
            f"TiltHex, the rank is {real}.",
        ),
    ]  # fmt: skip


def _left_out(hexarotor: TiltHex) -> list[tuple[str, str]]:
    angles = f"alpha = ±{np.rad2deg(hexarotor.alpha):.0f}° alternating, beta = {np.rad2deg(hexarotor.beta):.0f}°"
    return [
        ("phase of the circle and of the yaw", "the circle starts at x = 1 m, the yaw at zero"),
        ("the constant g", "9.81 m/s²"),
        ("distance and tilt of the propellers", f"a = {hexarotor.a:g} m, {angles}"),
        (
            "thrust and drag coefficients",
            f"c_f = {hexarotor.thrust:g} N s², c_d = ±{hexarotor.drag:g} N m s² alternating",
        ),
    ]


def _data(flight: Flight, speeds: Array, path: Path) -> Path:
    names = ["fx", "fy", "fz", "mx", "my", "mz", *(f"tau{j}" for j in range(2, 8))]
    header = [
        "time_s",
        "order",
        *names,
        *(f"acceleration_{n}" for n in range(1, 13)),
        *(f"speed_p{i}" for i in range(1, 7)),
    ]
    every = max(1, len(flight.time) // 300)
    rows = (
        [t, k, *tau[k], *back[k], *w[k]]
        for t, tau, back, w in zip(
            flight.time[::every], flight.tau[::every], flight.back[::every], speeds[::every], strict=True
        )
        for k in range(ORDER + 1)
    )
    return write_csv(path, header, rows)
