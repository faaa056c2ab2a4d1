"""C-panda: paper C's third-order inverse dynamics of the Franka Panda, its Figs. 1 to 5, and its equations."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jounce.display.style import COLOURS, GREY, picture, tidy
from jounce.model import Model

from . import paper_c
from .c_equations import equations
from .claims import Array, Claim, Result, Tell, agrees, judged, off, silent, unchecked, write_csv
from .panda import PERIOD, motion, panda

_ORDER = 3
_SOURCE = "those of Gaz et al., RA-L 2019, the paper's reference [28], as the maker publishes them (franka_description)"


def run(output: Path, quick: bool = False, tell: Tell = silent) -> Result:
    """Figs. 1 to 5 along a smooth motion; recursion, closed form and jounce compared there."""
    robot = panda()
    t = np.linspace(0.0, PERIOD, 401 if quick else 1001)
    q, v = motion(t, _ORDER + 2)
    tau = robot.inverse_dynamics(q, v)
    some = range(0, len(t), 25)
    links = paper_c.links_of(robot)
    recursive, closed = [], []
    for n, i in enumerate(some):
        tell(0.7 * n / len(some), "recursion and closed form")
        recursive.append(paper_c.inverse_dynamics(links, robot.gravity, q[i], v[i]))
        body = paper_c.closed_form(robot, q[i], v[i])
        closed.append(np.array([body.torque(k) for k in range(_ORDER + 1)]))
    tell(0.7, "equations")
    truth = tau[some]
    claims = [
        *_agreement(np.array(recursive), np.array(closed), truth, t, tau),
        *_any_order(robot, quick),
        *equations(panda(tilt=0.5)),
    ]
    tell(0.9, "figure")
    path = output / "C-panda.png"
    _draw(t, q, tau, path)
    header = ["time_s", *(f"q{i}" for i in range(1, 8)), *(f"Q{i}_{k}" for k in range(_ORDER + 1) for i in range(1, 8))]
    rows = ([a, *b, *c.ravel()] for a, b, c in zip(t, q, tau, strict=True))
    return Result(
        claims=claims,
        left_out=[
            (
                "the inertial parameters",
                f"{_SOURCE}; seven links, 16.1 kg, no hand",
            ),
            (
                'which of the seven joints is left out of "a six degrees of freedom Franka Emika Panda"',
                "none: the robot has seven, and seven are used",
            ),
            (
                'the joint motion, "taken from [28]" and drawn in Fig. 1 (right)',
                f"two sine waves for each joint, {PERIOD:g} s, within the robot's limits of angle and speed",
            ),
            ("friction and rotor inertia", "none, as the equations have none"),
        ],
        figures=[
            (path, "Figs. 1 to 5: the joint motion, and the generalized forces with their first three derivatives.")
        ],
        data=[write_csv(output / "C-panda.csv", header, rows)],
    )


def _agreement(recursive: Array, closed: Array, truth: Array, t: Array, tau: Array) -> list[Claim]:
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / (t[1] - t[0])
    slopes = []
    for k in range(_ORDER):
        slope = sum(w * tau[i : len(tau) - 8 + i, k] for i, w in enumerate(weights))
        slopes.append(off(slope, tau[4:-4, k + 1]))
    both = [off(recursive[:, k], closed[:, k]) for k in range(_ORDER + 1)]
    ours = [max(off(recursive[:, k], truth[:, k]), off(closed[:, k], truth[:, k])) for k in range(_ORDER + 1)]
    return [
        judged(
            "Recursion and closed form yield the same third-order inverse dynamics, r = 0 to 3 (relative)",
            "C, section IV.A, Figs. 2 to 5", "within the numerical accuracy", both, max(both) < 1e-11,
        ),
        judged("Both are jounce's, r = 0 to 3 (relative)", "C, section IV.A", "", ours, max(ours) < 1e-11),
        judged(
            "Verified with numerical differentiation of the generalized forces, r = 1 to 3 (relative, eighth order)",
            "C, section IV.A", "verified", slopes, max(slopes) < 1e-6,
        ),
    ]  # fmt: skip


def _any_order(robot: Model, quick: bool) -> list[Claim]:
    rng, order = np.random.default_rng(0), 5 if quick else 8
    q, v = robot.random_configuration(rng), rng.normal(size=(order + 2, robot.nv))
    links, g = paper_c.links_of(robot), robot.gravity
    truth, recursive = robot.inverse_dynamics(q, v), paper_c.inverse_dynamics(links, g, q, v)
    body = paper_c.closed_form(robot, q, v)
    worst = max(max(off(recursive[k], truth[k]), off(body.torque(k), truth[k])) for k in range(order + 1))
    printed = off(paper_c.inverse_dynamics(links, g, q, v[:3], printed=True), truth[:2])
    dotted = off(recursive[:2], truth[:2])
    twists = paper_c.twists(links, q, v)[..., [3, 4, 5, 0, 1, 2]]  # to [linear; angular]
    return [
        agrees(
            f"Recursion and closed form yield the same higher-order forward kinematics, to order {order} (relative)",
            "C, section IV.A", max(off(twists[k].ravel(), body.V(k)) for k in range(order + 1)), 1e-11,
        ),
        agrees(
            f"The derivatives are available to any order: recursion, closed form and jounce agree to order {order} "
            "(relative)",
            "C, abstract and section V", worst, 1e-9,
        ),
        unchecked(
            "The backward step (20) and the algorithm's box, with M_i D^(k) V_i (relative)",
            "C, (20), section II.E", "",
            "The text at hand is damaged there: it loses dots, in (35) and (36), too, and a dot over V_i is all that "
            f"is in question. With it, as (19) has it, (20) is off by {dotted:.0e}, without by {printed:.2g}; all "
            "other numbers here have it.",
            f"{dotted:.0e}, {printed:.2g}",
        ),
    ]  # fmt: skip


def _draw(t: Array, q: Array, tau: Array, path: Path) -> None:
    with picture(path, 5, 1, figsize=(7.5, 8.2), sharex=True) as (figure, axes):
        labels = ("$q$ (rad)", "$Q$ (N m)", "$\\dot Q$ (N m/s)", "$\\ddot Q$ (N m/s$^2$)", "$Q^{(3)}$ (N m/s$^3$)")
        titles = (
            "input motion (Fig. 1)",
            "inverse dynamics (Fig. 2)",
            "1st order (Fig. 3)",
            "2nd order (Fig. 4)",
            "3rd order (Fig. 5)",
        )
        for ax, curves, label, title in zip(axes, (q, *np.moveaxis(tau, 1, 0)), labels, titles, strict=True):
            for i in range(7):
                ax.plot(t, curves[:, i], color=(*COLOURS, GREY)[i], lw=1.2, label=f"joint {i + 1}")
            tidy(ax, "", label, title)
        axes[-1].set_xlabel("time (s)")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False, handlelength=1.4)
