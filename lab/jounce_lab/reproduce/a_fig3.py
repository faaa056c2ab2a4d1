"""A-fig3: paper A's section 7, the aerial manipulator on its reference motion, and what its introduction promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jounce import robots
from jounce.demo.figures import draw_forces, draw_motion, draw_rotors
from jounce.demo.flight import ORDER, Flight, derivative_error, fly, round_trip_error
from jounce.robots import STEP, TiltHex

from .a_operations import PAPER, tractable
from .a_promises import base_claims, promises
from .claims import Array, Claim, Result, Tell, judged, silent, unchecked, write_csv, written


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
        claims=[*_flight_claims(flight), *promises(robot), *base_claims(hexarotor)],
        left_out=_left_out(hexarotor),
        figures=list(zip(paths, captions, strict=True)),
        data=[_data(flight, speeds, output / "A-fig3.csv")],
    )


def _flight_claims(flight: Flight) -> list[Claim]:
    slopes, back = derivative_error(flight), round_trip_error(flight)
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
            "at r = 5 the motion itself has faded to 3e-4.",
        ),
        _time_claim("inverse", flight.inverse),
        _time_claim("forward", flight.forward),
        tractable(),
    ]  # fmt: skip


def _time_claim(kind: str, ours: list[float]) -> Claim:
    return unchecked(
        f"Mean time of a call of {kind} dynamics, r = 0 to 5 (µs)", "A, caption of Fig. 3", written(PAPER[kind]),
        "Theirs is their C++ on an i7-12700H, ours jounce from Python on this machine. A-fig4 with --authors races "
        "theirs here.",
        written(ours),
    )  # fmt: skip


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
