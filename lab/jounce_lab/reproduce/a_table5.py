"""A-table5: the expressions of paper A's Table 5 in numbers, its closed form, its Coriolis matrix, and its lemmas."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jounce import robots
from jounce.display.style import BLUE, GREEN, ORANGE, picture, tidy
from jounce.model import Model
from jounce.robots import reference_motion

from . import table5
from .a_closed_form import closed_form, expressions, joints, lemmas
from .claims import Array, Claim, Result, Tell, judged, off, silent, write_csv

_SWAP = np.r_[3:6, 0:3]  # [linear; angular] to the paper's [angular; linear], and back


def run(output: Path, quick: bool = False, tell: Tell = silent) -> Result:
    """Every cell of Table 5 against the library and against differences in time, at random states."""
    robot, rng = robots.aerial_manipulator(), np.random.default_rng(0)
    states = 2 if quick else 20
    found: dict[str, float] = {}
    for n in range(states):
        tell(0.8 * n / states, "Table 5")
        for cell, error in _cells(robot, rng).items():
            found[cell] = max(found.get(cell, 0.0), error)
    tell(0.8, "the closed form")
    claims = [_table_claim(found, part, text) for part, text in _PARTS.items()]
    claims += [*closed_form(robot, rng), *lemmas(robot, rng), *expressions(robot, rng), *joints(rng)]
    figure = output / "A-table5.png"
    _draw(found, figure)
    return Result(
        claims=claims,
        left_out=[
            (
                "states at which to compare",
                f"{states} random ones, seed 0: joints and twists with derivatives of order 1",
            )
        ],
        figures=[
            (figure, "Each expression of Table 5: the largest relative difference from the library, or from a slope.")
        ],
        data=[write_csv(output / "A-table5.csv", ["expression", "relative error"], found.items())],
    )


_PARTS = {
    "(a)": "Kinematics up to third order: poses, screws, twists, momenta and derivatives (largest relative error)",
    "(b)": "Inverse dynamics and its first derivative: joint torques and propeller wrench (largest relative error)",
    "(c), (d)": "Forward dynamics and its first derivative: accelerations and jerks (largest relative error)",
}


def _table_claim(found: dict[str, float], part: str, text: str) -> Claim:
    worst = max(error for cell, error in found.items() if cell.startswith(part))
    return judged(text, f"A, Table 5{part}", "", worst, lambda e: e < 1e-9)


def _cells(robot: Model, rng: np.random.Generator) -> dict[str, float]:
    """Relative errors, by "(part) expression"."""
    q, v = robot.random_configuration(rng), rng.normal(size=(3, robot.nv))
    spatial = robot.change_velocity_frame(q, v, "body", "world")
    k, C1 = _kinematics(robot, q, spatial)
    kin = robot.forward_kinematics(q, spatial, frame="world", velocity_frame="world")
    twists = kin.twist[..., _SWAP]  # (3, 7, 6)
    com = np.eye(4)
    com[2, 3] = -0.06
    poses = [kin.pose[0], *(pose @ com for pose in kin.pose[1:])]
    cells = {
        "(a) C": max(off(k.C[j], poses[j - 1]) for j in k.C),
        "(a) V": max(off(k.V[j], twists[0, j - 1]) for j in k.V),
        "(a) V'": max(off(k.dV[j], twists[1, j - 1]) for j in k.V),
        "(a) V''": max(off(k.ddV[j], twists[2, j - 1]) for j in k.V),
    }
    for j in k.S:
        Js = robot.jacobian_derivatives(j - 1, q, spatial, frame="world", velocity_frame="world")
        J = Js[..., _SWAP, robot.coordinate(f"q{j}").start]
        for name, mine, truth in zip(("S", "S'", "S''", "S'''"), (k.S, k.dS, k.ddS, k.dddS), J, strict=True):
            cells[f"(a) {name}"] = max(cells.get(f"(a) {name}", 0.0), off(mine[j], truth))
    cells |= _momenta(robot, rng.uniform(5.0, 25.0))

    tau, rate, wrench, wrench_rate = table5.inverse_dynamics(k)
    truth = robot.inverse_dynamics(q, v)
    cells |= {
        "(b) τ": off(tau, truth[0, 6:]),
        "(b) τ'": off(rate, truth[1, 6:]),
        "(b) W": off(wrench, truth[0, :6][_SWAP]),
        "(b) W'": off(wrench_rate, truth[1, :6][_SWAP]),
    }
    base = spatial[:, :6][:, _SWAP]
    joints = np.array([q[7:], v[0, 6:]])
    dV1, ddq, ddV1, dddq = table5.forward_dynamics(C1, base[0], joints, tau, rate, wrench, wrench_rate)
    cells |= {
        "(c), (d) V1'": off(dV1, base[1]),
        "(c), (d) q''": off(ddq, v[1, 6:]),
        "(c), (d) V1''": off(ddV1, base[2]),
        "(c), (d) q'''": off(dddq, v[2, 6:]),
    }
    return cells


def _kinematics(robot: Model, q: Array, spatial: Array) -> tuple[table5.Kinematics, Array]:
    C1 = robot.pose("B1", q)
    return table5.Kinematics(C1, spatial[:, :6][:, _SWAP], np.vstack([q[7:], spatial[:, 6:]])), C1


def _momenta(robot: Model, time: float) -> dict[str, float]:
    """Π' and Π'' of all bodies along the reference motion, against the slopes of Π and Π' there."""
    weights, h = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]), 0.05
    q, mixed = reference_motion(time + h * np.arange(-4.0, 5.0), 3)
    spatial = robot.change_velocity_frame(q, mixed, "mixed", "world")
    along = [_kinematics(robot, *state)[0] for state in zip(q, spatial, strict=True)]
    P, dP, ddP = (np.array([[getattr(k, name)[j] for j in range(1, 8)] for k in along]) for name in ("P", "dP", "ddP"))
    slope, slope2 = (np.tensordot(weights / h, row, axes=1) for row in (P, dP))
    return {"(a) Π'": off(dP[4], slope), "(a) Π''": off(ddP[4], slope2)}


def _draw(found: dict[str, float], path: Path) -> None:
    """A dot for each expression."""
    names, errors = list(found), np.maximum(list(found.values()), 1e-17)
    colours = [BLUE if n.startswith("(a)") else ORANGE if n.startswith("(b)") else GREEN for n in names]
    with picture(path, figsize=(7.5, 2.8)) as (_, ax):
        ax.scatter(range(len(names)), errors, c=colours, s=22, zorder=3)
        ax.set_yscale("log")
        ax.set_ylim(1e-17, 1e-8)
        ax.set_xticks(range(len(names)), [n.split(") ")[-1] for n in names])
        tidy(ax, "expression of Table 5", "relative error (-)", "Table 5 in numbers")
        ax.margins(x=0.03)
        for part, colour, text in (("(a)", BLUE, "(a) kinematics"), ("(b)", ORANGE, "(b) inverse dynamics"),
                                   ("(c)", GREEN, "(c), (d) forward dynamics")):  # fmt: skip
            at = [i for i, n in enumerate(names) if n.startswith(part)]
            ax.text(np.mean(at), 2e-9, text, color=colour, ha="center", va="center")
