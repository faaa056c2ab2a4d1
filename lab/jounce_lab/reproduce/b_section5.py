"""B-section5: paper B's linearization against finite differences, its propositions, and freedom from singularities."""

from __future__ import annotations

import timeit
from pathlib import Path

import numpy as np
from jounce._core import num_threads, set_num_threads

from jounce.display.style import BLUE, GREY, ORANGE, picture, tidy
from jounce.model import Model

from .b_flip import flip, flip_claim
from .b_joints import joints
from .b_tables import tables
from .claims import Array, Claim, Result, Tell, agrees, judged, off, silent, unchecked, write_csv, written
from .nine_joints import (
    LEFT_OUT,
    PUBLISHED_AVG,
    PUBLISHED_MAX,
    REAL,
    difference_errors,
    differences,
    random_robot,
    random_state,
    table_errors,
)
from .paper_b import cross


def run(output: Path, quick: bool = False, tell: Tell = silent) -> Result:
    """(88)-(91), Propositions 1 to 4, Table 9, and a flip."""
    states = 10 if quick else 100
    largest, average = table_errors(1e-6, states, lambda done: tell(0.5 * done, f"{states} robots and states"))
    real = difference_errors([1e-6], states, lambda done: tell(0.5 + 0.1 * done, "robots of real bodies"))
    tell(0.6, "propositions")
    rng = np.random.default_rng(1)
    claims = [
        *_published(largest, average), _of_real_bodies(real[0][0], real[1][0]),
        *_propositions(rng), *tables(rng), *_speed(rng), *joints(rng),
    ]  # fmt: skip
    tell(0.8, "a flip")
    pitch, ours, angles = flip(61 if quick else 361)
    claims += [flip_claim(ours, angles), _survey()]
    path = output / "B-section5.png"
    _draw(largest, average, pitch, ours, angles, path)
    rows = [[f"D{i + 1}", *row] for i, row in enumerate(np.stack([largest, PUBLISHED_MAX, average, PUBLISHED_AVG], 1))]
    return Result(
        claims=claims,
        left_out=LEFT_OUT,
        figures=[
            (
                path,
                "Left: errors against finite differences, ours and published. Right: the linearization along a loop of "
                "pitch, on the group and in roll, pitch and yaw.",
            )
        ],
        data=[
            write_csv(output / "B-section5.csv", ["", "e_max", "e_max_paper", "e_avg", "e_avg_paper"], rows),
            write_csv(
                output / "B-section5-flip.csv", ["pitch_rad", "norm_A", "norm_A_in_angles"],
                zip(pitch, ours, angles, strict=True),
            ),
        ],
    )  # fmt: skip


def _published(largest: Array, average: Array) -> list[Claim]:
    why = (
        "Inertias are drawn as there. What is left is the error of a one-sided difference, about δ; it is smaller than "
        f"published, e^avg of D_2 by {PUBLISHED_AVG[1] / average[1]:.0f} times, which the text does not explain."
    )
    return [
        judged(
            f"D_{i + 1} by Tables 4 to 9 agrees with differences with δ = 1e-6: e_{i + 1}^max and e_{i + 1}^avg, at "
            "most those published",
            f"B, section 5, ({88 + i})", f"{PUBLISHED_MAX[i]:.4e}, {PUBLISHED_AVG[i]:.4e}",
            [float(largest[i]), float(average[i])],
            bool(largest[i] <= PUBLISHED_MAX[i] and average[i] <= PUBLISHED_AVG[i]), why if i == 0 else "",
            damage="The tables are taken as they are read below.",
        )
        for i in range(4)
    ]  # fmt: skip


def _of_real_bodies(largest: Array, average: Array) -> Claim:
    return judged(
        "The same of jounce's linearization, for inertias that real bodies have: e^max of D_1 to D_4, then e^avg",
        "B, section 5, (88)-(91)", written([float(e) for e in (*PUBLISHED_MAX, *PUBLISHED_AVG)]),
        [float(e) for e in (*largest, *average)],
        bool((largest <= PUBLISHED_MAX).all() and (average <= PUBLISHED_AVG).all()),
        f"{REAL} A symmetric 6 x 6 matrix as drawn in the paper has 21 numbers, a body's inertia 10.",
    )  # fmt: skip


def _exact(robot: Model, q: Array, v: Array, tau: Array) -> Array:
    """(15, 30): D_1 to D_4 of the forward dynamics by sixth-order central differences."""
    h, total = 2e-3, np.zeros((15, 30))
    for k, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
        ahead, behind = (differences(robot, q, v, tau, [s * k * h])[0] * (s * k * h) for s in (1, -1))
        total += weight * (ahead - behind) / (60 * h)
    return total


def _propositions(rng: np.random.Generator) -> list[Claim]:
    robot = random_robot(rng)
    q, v, tau = random_state(rng, robot)
    lin = robot.linearize(q, v, tau, actuated=robot.joint_names[1:])
    acc = robot.forward_dynamics(q, v, tau)
    dq, dv, M = robot.inverse_dynamics_derivatives(q, v, acc)
    exact, Minv = _exact(robot, q, v, tau), np.linalg.inv(M)
    kinematics = np.zeros((15, 30))
    kinematics[:6, :6], kinematics[:, 15:] = -cross(v[:6]), np.eye(15)
    selection = np.vstack([np.zeros((6, 9)), np.eye(9)])
    drift = _perturbed(robot, q, v, tau, lin.A, rng)
    return [
        agrees(
            "The state matrix A: its lower half against sixth-order differences of the forward dynamics (relative)",
            "B, Proposition 1, (22)", off(lin.A[15:], exact), 1e-8,
        ),
        agrees("Its upper half, with -v× and the identity", "B, (22)", off(lin.A[:15], kinematics), 1e-14),
        judged(
            "A tells how nearby motions part, to first order: for ten times smaller perturbations its relative error "
            "is "
            "how many times smaller",
            "B, (11), Proposition 1", "10", drift, lambda ratio: 8 < ratio < 12,
        ),
        agrees(
            "The input matrix B is M^-1 S below zeros (relative)",
            "B, (23), Proposition 2", off(lin.B, np.vstack([np.zeros((15, 9)), Minv @ selection])), 1e-10,
        ),
        agrees(
            "D_i FD = -M^-1 D_i ID, of the extended inverse dynamics (relative)",
            "B, Proposition 3, (42)", off(lin.A[15:], -Minv @ np.hstack([dq, dv])), 1e-10,
        ),
        judged(
            "Consistent inputs need no wrench on the base: the wrench over the joint forces",
            "B, Definition 3.1", "0", float(np.abs(robot.inverse_dynamics(q, v, acc)[:6]).max() / np.abs(tau).max()),
            lambda e: e < 1e-12,
        ),
    ]  # fmt: skip


def _perturbed(robot: Model, q: Array, v: Array, tau: Array, A: Array, rng: np.random.Generator) -> float:
    """The factor by which the error of z' = A z shrinks when z is ten times smaller."""
    z = rng.normal(size=30)
    errors = []
    for size in (1e-2, 1e-3):
        d, dv = size * z[:15], size * z[15:]
        near = robot.integrate(q, d)
        h, ends = 1e-3, []
        for t in (h, -h):  # both motions, to second order in time, and their difference on the group
            here = robot.integrate(q, t * v + t**2 / 2 * robot.forward_dynamics(q, v, tau))
            there = robot.integrate(near, t * (v + dv) + t**2 / 2 * robot.forward_dynamics(near, v + dv, tau))
            ends.append(robot.difference(here, there))
        rate = np.concatenate(
            [
                (ends[0] - ends[1]) / (2 * h),
                robot.forward_dynamics(near, v + dv, tau) - robot.forward_dynamics(q, v, tau),
            ]
        )
        errors.append(np.abs(rate - A @ (size * z)).max() / size)
    return float(errors[0] / errors[1])


def _speed(rng: np.random.Generator) -> list[Claim]:
    """Both in batches, which makes the cost of calls from Python and of their checks negligible."""
    robot = random_robot(rng)
    q, v, tau = random_state(rng, robot)
    steps, states = 1e-6 * np.eye(15), 64
    moved = np.vstack([robot.integrate(q, steps), np.tile(q, (16, 1))])  # as (82)-(85) require: 1 + 2 n of them
    pushed = np.vstack([np.tile(v, (15, 1)), v + steps, v[None]])
    here = [np.tile(x, (states, 1)) for x in (q, v, tau)]
    near = [np.tile(x, (states, 1)) for x in (moved, pushed, np.tile(tau, (31, 1)))]
    threads = num_threads()
    set_num_threads(1)
    try:
        slow, fast = (
            min(timeit.repeat(f, number=3, repeat=15)) / 3 / states
            for f in (lambda: robot.forward_dynamics(*near), lambda: robot.linearize(*here))
        )
    finally:
        set_num_threads(threads)
    return [
        judged(
            "The recursive formulation is expected to be substantially faster than finite differences: times as fast, "
            "at least 2",
            "B, section 1.3 (left as future work there)", "",
            f"{slow / fast:.1f}: {fast * 1e6:.1f} and {slow * 1e6:.0f} µs a state, in batches", slow > 2 * fast,
        )
    ]  # fmt: skip


def _survey() -> Claim:
    return unchecked(
        "No existing approach is for moving bases, singularity-free, recursive and exact at once",
        "B, section 1.3, Table 1", "", "A survey of the literature of its time.",
    )  # fmt: skip


def _draw(largest: Array, average: Array, pitch: Array, ours: Array, angles: Array, path: Path) -> None:
    with picture(path, 1, 2, figsize=(7.5, 2.9)) as (_, (left, right)):
        x = np.arange(4)
        for values, published, marker, colour, name in (
            (largest, PUBLISHED_MAX, "o", BLUE, "largest"), (average, PUBLISHED_AVG, "s", ORANGE, "average"),
        ):  # fmt: skip
            left.semilogy(x - 0.08, values, marker, color=colour, ms=5, label=f"{name}, here")
            left.semilogy(x + 0.08, published, marker, color=colour, ms=5, mfc="white", label=f"{name}, published")
        left.set_xticks(x, ["$D_1$", "$D_2$", "$D_3$", "$D_4$"])
        tidy(left, "", "relative error (-)", "A against differences, δ = 1e-6")
        left.margins(x=0.1)
        left.set_ylim(1e-7, 1e-1)
        left.legend(frameon=False, fontsize=7, ncols=2, loc="upper center")
        degrees = np.rad2deg(pitch)
        right.semilogy(degrees, np.minimum(angles, 1e8), color=ORANGE, ls="--", lw=1.3, label="in roll, pitch and yaw")
        right.semilogy(degrees, ours, color=BLUE, lw=1.6, label="on the group")
        for singular in (90, 270):
            right.axvline(singular, color=GREY, lw=0.6, ls=":")
        right.set_xticks([0, 90, 180, 270, 360])
        right.set_ylim(1, 1e7)
        tidy(right, "pitch (degrees)", "norm of A (SI units)", "A through a flip")
        right.legend(frameon=False, fontsize=7, loc="upper center")
