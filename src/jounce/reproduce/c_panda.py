"""C-panda: paper C's third-order inverse dynamics of the Franka Panda, its Figs. 1 to 5, and its equations."""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np

from ..closed_form import BodyForm
from ..model import Model
from ..style import COLOURS, GREY, picture, tidy
from . import paper_c
from .claims import Array, Claim, Result, Tell, agrees, judged, off, silent, write_csv
from .panda import PERIOD, motion, panda

_ORDER = 3
_SOURCE = "Gaz, Cognetti, Oliva, Robuffo Giordano, De Luca, RA-L 2019, the paper's reference [28]"


def run(output: Path, quick: bool = False, tell: Tell = silent) -> Result:
    """Figs. 1 to 5 along a smooth motion; recursion, closed form and jounce compared there."""
    robot = panda()
    t = np.linspace(0.0, PERIOD, 401 if quick else 1001)
    q, v = motion(t, _ORDER + 2)
    tau = robot.inverse_dynamics(q, v)
    some = range(0, len(t), 25)
    recursive, closed = [], []
    for n, i in enumerate(some):
        tell(0.7 * n / len(some), "recursion and closed form")
        recursive.append(paper_c.inverse_dynamics(robot, q[i], v[i]))
        body = robot.closed_form(q[i], v[i]).body
        closed.append(np.array([body.torque(k) for k in range(_ORDER + 1)]))
    tell(0.7, "equations")
    truth = tau[some]
    claims = [
        *_agreement(np.array(recursive), np.array(closed), truth, t, tau),
        *_any_order(robot, quick),
        *_equations(panda(tilt=0.5)),
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
                f"{_SOURCE}: masses, centres and inertias of the seven links, 16.1 kg; no hand",
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
    truth, recursive = robot.inverse_dynamics(q, v), paper_c.inverse_dynamics(robot, q, v)
    body = robot.closed_form(q, v).body
    worst = max(max(off(recursive[k], truth[k]), off(body.torque(k), truth[k])) for k in range(order + 1))
    printed = paper_c.inverse_dynamics(robot, q, v[:3], printed=True)
    return [
        agrees(
            f"The derivatives are available to any order: recursion, closed form and jounce agree to order {order} "
            "(relative)",
            "C, abstract and section V", worst, 1e-9,
        ),
        agrees(
            "The backward step (20) and the algorithm's box, with M_i D^(k) V_i (relative)",
            "C, (20), section II.E", off(printed, truth[:2]), 1e-9,
            "A misprint: for k = 0 it is M V, not M V'. With D^(k+1), and q to order k + 2, it holds: all other "
            "numbers "
            "here have it so.",
        ),
    ]  # fmt: skip


def _equations(robot: Model) -> list[Claim]:
    """Section III along the motion, by differences in time and against jounce.

    The arm stands on a tilted base: upright, its first joint turns about the vertical, which hides (47).
    """
    t0, h = 3.3, 1e-2
    nodes = np.arange(-4, 5)
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / h
    forms = [robot.closed_form(q, v).body for q, v in zip(*motion(t0 + h * nodes, 5), strict=True)]
    here = forms[4]
    q, v = (x[0] for x in motion(np.array([t0]), 5))
    truth = robot.inverse_dynamics(q, v)

    def slope(name: str, n: int = 0) -> Array:
        return np.tensordot(weights, np.array([getattr(form, name)(n) for form in forms]), axes=1)

    worst = max(
        off(getattr(here, name)(n + 1), slope(name, n))
        for name in ("A", "J", "V", "b", "mass_matrix")
        for n in range(3)
    )
    A, a, M, b, J = here.A(), here.a(), here.M, here.b(), here.J()
    C = _C_as_printed(here)
    rate_of_C = -M @ (here.A(1) @ a + A @ here.a(1)) - here.b(1).T @ M  # (45)
    coriolis = J.T @ C @ J
    rate = here.mass_matrix(1)
    skew = rate - 2 * coriolis
    start = A @ np.vstack([np.eye(6), np.zeros((len(A) - 6, 6))])  # (33), the first form
    gravity = J.T @ M @ here.U(0) @ here.dV0
    P = sum((here.P(k, 3) @ here.v(k - 1) for k in range(1, 6)), np.zeros(robot.nv)) + here.gravity_force(3)
    first = here.mass_matrix() @ v[1] + coriolis @ v[0] + here.gravity_force()
    second = here.gravity_force(2) + here.mass_matrix() @ v[3] + (2 * rate + here.coriolis_matrix()) @ v[2]
    second += (here.mass_matrix(2) + 2 * here.coriolis_matrix(1)) @ v[1] + here.coriolis_matrix(2) @ v[0]
    return [
        agrees(
            "Derivatives of A, J, V, b and M to third order are the slopes of those below (largest relative error)",
            "C, (27), (39), (41)-(43), (46)", worst, 1e-9,
        ),
        agrees("J' = -A a J, for joints with one coordinate (relative)", "C, (24)", off(-A @ a @ J, here.J(1)), 1e-13),
        agrees(
            "a^(n) has q^(n), to the letter, n = 1: against the slope (relative)",
            "C, (40)", off(_a_as_printed(here, 1), slope("a")), 1e-9,
            "A misprint: a of (25) has q' already, so a^(n) has q^(n+1).",
        ),
        agrees(
            "M q'' + C q' + gravity, with C of (28) and (30), is the inverse dynamics (relative)",
            "C, (1), (28)-(30)", off(first, truth[0]), 1e-12,
            "The force is right; M' - 2 C is not skew with it (symmetric part "
            f"{np.abs(skew + skew.T).max() / np.abs(rate).max():.2f} of M'), which "
            "the paper does not claim. jounce adds M b, which makes it so.",
        ),
        agrees(
            "The two forms of U are the same (relative)",
            "C, (33)", off(start, here.U(0)), 1e-9,
            "The first must end in Ad(C_1)^-1, not in the identity.",
        ),
        agrees(
            "Gravity with V_0' = (0, g) (relative)",
            "C, (32), (33)", off(-gravity, robot.gravity_force(q)), 1e-9,
            "With g the acceleration of a falling body it is the weight, not the force that carries it: V_0' = (0, "
            "-g).",
        ),
        agrees(
            "Its derivative (47), with A^(k) of the first form of U (relative)",
            "C, (47)", off(_gravity_as_printed(here), robot.gravity_force_derivatives(q, v[:1])[1]), 1e-9,
            "A^(k) (I 0 ... 0) must be U^(k), U' = -b U: Ad(C_1)^-1 moves as well. On an upright base this does not "
            "show, "
            "here the base is tilted by 0.5 rad.",
        ),
        agrees(
            "The derivative of C of (30) is (45) for n = 1 (relative)",
            "C, (45)", off(rate_of_C, np.tensordot(weights, np.array([_C_as_printed(form) for form in forms]), axes=1)), 1e-9,
        ),
        agrees("The second derivative in the form (36) (relative)", "C, (36)", off(second, truth[2]), 1e-12),
        agrees(
            "The coefficients P_k of (38) give the third derivative (relative)",
            "C, (37), (38)", off(P, truth[3]), 1e-12,
        ),
    ]  # fmt: skip


def _C_as_printed(form: BodyForm) -> Array:
    """(30)."""
    return np.asarray(-form.M @ form.A() @ form.a() - form.b().T @ form.M)


def _a_as_printed(form: BodyForm, n: int) -> Array:
    return form.a(n - 1)


def _gravity_as_printed(form: BodyForm) -> Array:
    """(47) for n = 1, with the sign of (33) corrected."""
    first = np.vstack([np.eye(6), np.zeros((len(form.A()) - 6, 6))])
    terms = (comb(1, k) * form.J(1 - k).T @ form.M @ form.A(k) @ first @ form.dV0 for k in range(2))
    return np.asarray(sum(terms))


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
