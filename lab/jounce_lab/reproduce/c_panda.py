"""C-panda: paper C's third-order inverse dynamics of the Franka Panda, its Figs. 1 to 5, and its equations."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jounce.display.style import COLOURS, GREY, picture, tidy
from jounce.model import Model

from . import paper_c
from .c_equations import equations
from .claims import Array, Claim, Result, Tell, agrees, judged, off, silent, write_csv
from .panda import (
    COMMIT,
    FIGURES,
    PERIOD,
    SAMPLES,
    SCRIPT,
    curves_of,
    motion,
    panda,
    published,
    published_curves,
    times,
)

_ORDER = 3
_CLOSE = 2e-6  # of the axis; the files are rounded to 1.5e-6 of it


def run(output: Path, quick: bool = False, tell: Tell = silent, authors: Path | None = None) -> Result:
    """Figs. 1 to 5, compared with the published curves; recursion, closed form and jounce compared along the motion.

    Args:
        authors: a clone of the authors' code: all points of its figures are compared, too.
    """
    robot, t = published(), times()
    q, v = motion(t, _ORDER + 2)
    tau = robot.inverse_dynamics(q, v)
    some = range(0, len(t), 5)
    links = paper_c.links_of(robot)
    recursive, closed = [], []
    for n, i in enumerate(some):
        tell(0.7 * n / len(some), "recursion and closed form")
        recursive.append(paper_c.inverse_dynamics(links, robot.gravity, q[i], v[i]))
        body = paper_c.closed_form(robot, q[i], v[i])
        closed.append(np.array([body.torque(k) for k in range(_ORDER + 1)]))
    tell(0.7, "equations")
    curves = published_curves()
    claims = [
        *_figures(q, tau, curves, ""),
        *([] if authors is None else _all_points(robot, curves_of(authors))),
        *_agreement(np.array(recursive), np.array(closed), tau[some]),
        _differentiated(robot),
        *_any_order(robot, quick),
        *equations(panda(), panda(tilt=0.5)),
    ]
    tell(0.9, "figure")
    path = output / "C-panda.png"
    _draw(t, q, tau, curves, path)
    header = ["time_s", *(f"q{i}" for i in range(1, 8)), *(f"Q{i}_{k}" for k in range(_ORDER + 1) for i in range(1, 8))]
    rows = ([a, *b, *c.ravel()] for a, b, c in zip(t, q, tau, strict=True))
    return Result(
        claims=claims,
        left_out=[
            (
                "the inertial parameters, of which the paper says that they were determined as in [28]",
                f"those of its authors' code, {SCRIPT} at {COMMIT[:7]}: moments about the link frames; links "
                f"{', '.join(name.removeprefix('link') for name in robot.unphysical)} are then no real bodies",
            ),
            (
                "the joint motion of Fig. 1 (right), taken from [28]",
                f"that of the same script: c cos(w t) for each joint, {PERIOD:g} s; joint 4 is outside its limits",
            ),
            ("gravity, which (1) has", "none, as in that script"),
            (
                'which of the seven joints is left out of "a six degrees of freedom Franka Emika Panda"',
                "none: robot, script and figures have seven",
            ),
            ("friction and rotor inertia", "none, as the equations have none"),
        ],
        figures=[
            (
                path,
                "Figs. 1 to 5: the joint motion, and the generalized forces with their first three derivatives. Wide "
                "and pale: the published curves; thin: computed here.",
            )
        ],
        data=[write_csv(output / "C-panda.csv", header, rows)],
        notes=[
            f"The published curves are results/*.eps of the authors' code at {COMMIT[:7]}, every fiftieth of its "
            "points; --authors FOLDER compares all points of a clone."
        ],
    )  # fmt: skip


def _figures(q: Array, tau: Array, curves: dict[str, Array], which: str) -> list[Claim]:
    """Each figure against the published curves, in parts of its vertical axis."""
    units = ("rad", "N m", "N m/s", "N m/s²", "N m/s³")
    claims = []
    for (name, (_, low, high)), ours, unit in zip(FIGURES.items(), (q, *np.moveaxis(tau, 1, 0)), units, strict=True):
        error = float(np.abs(ours - curves[name]).max() / (high - low))
        claims.append(
            judged(
                f"{name}{which}: largest difference from the published curves of all seven joints, over the range of "
                "the axis",
                f"C, section IV.A, {name}", f"{low:g} to {high:g} {unit}, to 1.5e-6 of it", error, error < _CLOSE,
            )
        )  # fmt: skip
    return claims


def _all_points(robot: Model, curves: dict[str, Array]) -> list[Claim]:
    q, v = motion(np.arange(SAMPLES + 1) * (PERIOD / SAMPLES), _ORDER + 2)
    return _figures(q, robot.inverse_dynamics(q, v), curves, f", all {SAMPLES + 1} points of the clone")


def _agreement(recursive: Array, closed: Array, truth: Array) -> list[Claim]:
    both = [off(recursive[:, k], closed[:, k]) for k in range(_ORDER + 1)]
    ours = [max(off(recursive[:, k], truth[:, k]), off(closed[:, k], truth[:, k])) for k in range(_ORDER + 1)]
    return [
        judged(
            "Recursion and closed form yield the same third-order inverse dynamics, r = 0 to 3 (relative)",
            "C, section IV.A, Figs. 2 to 5", "within the numerical accuracy", both, max(both) < 1e-11,
        ),
        judged("Both are jounce's, r = 0 to 3 (relative)", "C, section IV.A", "", ours, max(ours) < 1e-11),
    ]  # fmt: skip


def _differentiated(robot: Model) -> Claim:
    """Slopes of the forces along the motion, at a tenth of the figures' points."""
    weights, h = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]), 2e-3
    near = times()[::10, None] + h * np.arange(-4, 5)
    tau = robot.inverse_dynamics(*motion(near, _ORDER + 2))  # (places, 9, orders, joints)
    slopes = np.einsum("n,tnkj->tkj", weights / h, tau)
    errors = [off(slopes[:, k], tau[:, 4, k + 1]) for k in range(_ORDER)]
    return judged(
        "Verified with numerical differentiation of the generalized forces, r = 1 to 3 (relative, eighth order)",
        "C, section IV.A", "verified", errors, max(errors) < 1e-9,
    )  # fmt: skip


def _any_order(robot: Model, quick: bool) -> list[Claim]:
    rng, order = np.random.default_rng(0), 5 if quick else 8
    q, v = robot.random_configuration(rng), rng.normal(size=(order + 2, robot.nv))
    links, g = paper_c.links_of(robot), robot.gravity
    truth, recursive = robot.inverse_dynamics(q, v), paper_c.inverse_dynamics(links, g, q, v)
    body = paper_c.closed_form(robot, q, v)
    worst = max(max(off(recursive[k], truth[k]), off(body.torque(k), truth[k])) for k in range(order + 1))
    without = off(paper_c.inverse_dynamics(links, g, q, v[:3], printed=True), truth[:2])
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
        judged(
            "The backward step (20) and the algorithm's box have the derivatives of the acceleration, M_i D^(k) V_i' "
            "(relative, n = 0 and 1)",
            "C, (20), section II.E", "", f"{dotted:.0e} so, {without:.2g} without the dot", dotted < 1e-11,
            f"So have the authors: NthOrder_RecursiveInvDyn_BodyFixed.m, lines 114 and 123, at {COMMIT[:7]}.",
            damage="The text at hand loses dots, in (35) and (36), too, and a dot over V_i, as (19) has it, is all "
            "that is in question.",
        ),
    ]  # fmt: skip


def _draw(t: Array, q: Array, tau: Array, curves: dict[str, Array], path: Path) -> None:
    with picture(path, 5, 1, figsize=(7.5, 8.2), sharex=True) as (figure, axes):
        labels = ("$q$ (rad)", "$Q$ (N m)", "$\\dot Q$ (N m/s)", "$\\ddot Q$ (N m/s$^2$)", "$Q^{(3)}$ (N m/s$^3$)")
        titles = (
            "input motion (Fig. 1)",
            "inverse dynamics (Fig. 2)",
            "1st order (Fig. 3)",
            "2nd order (Fig. 4)",
            "3rd order (Fig. 5)",
        )
        everything = zip(axes, (q, *np.moveaxis(tau, 1, 0)), FIGURES.items(), labels, titles, strict=True)
        for ax, ours, (name, (_, low, high)), label, title in everything:
            for i in range(7):
                colour = (*COLOURS, GREY)[i]
                ax.plot(t, curves[name][:, i], color=colour, lw=4.5, alpha=0.3, solid_capstyle="butt")
                ax.plot(t, ours[:, i], color=colour, lw=0.9, label=f"joint {i + 1}")
            tidy(ax, "", label, title)
            ax.set_ylim(low, high)
        axes[-1].set_xlabel("time (s)")
        axes[-1].set_xlim(0, PERIOD)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False, handlelength=1.4)
