"""Paper C's section III, equation by equation: claims of C-panda."""

from __future__ import annotations

from math import comb

import numpy as np

from jounce.dynamics.closed_form import BodyForm
from jounce.model import Model

from .claims import Array, Claim, agrees, judged, off
from .panda import COMMIT, motion
from .paper_c import closed_form

_ROWS = 5  # of the velocity stack
_NTH = f"NthOrder_ClosedFormInvDyn_BodyFixed.m at {COMMIT[:7]}"


def equations(upright: Model, tilted: Model) -> list[Claim]:
    """Section III along the motion, by differences in time and against jounce.

    Upright, as in Fig. 1, the first joint turns about the vertical, and gravity has the same components in its frame as
    in the world; (33) and (47) are exact then. All else is checked on a tilted base.
    """
    robot, t0, h = tilted, 3.3, 2e-3
    nodes = np.arange(-4, 5)
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / h
    forms = [closed_form(robot, q, v) for q, v in zip(*motion(t0 + h * nodes, _ROWS), strict=True)]
    here = forms[4]
    q, v = (x[0] for x in motion(np.array([t0]), _ROWS))
    truth = robot.inverse_dynamics(q, v)

    def slope(name: str, n: int = 0) -> Array:
        return np.tensordot(weights, np.array([getattr(form, name)(n) for form in forms]), axes=1)

    worst = max(
        off(getattr(here, name)(n + 1), slope(name, n))
        for name in ("A", "J", "V", "b", "mass_matrix", "C", "coriolis_matrix")
        for n in range(3)
    )
    A, a, M, J = here.A(), here.a(), here.M, here.J()
    coriolis, rate = here.coriolis_matrix(), here.mass_matrix(1)
    skew = rate - 2 * coriolis
    start = A @ _first(here, np.eye(6))  # (33), the first form
    weight, truth_g = J.T @ M @ here.U(0) @ -here.dV0, robot.gravity_force(q)
    printed_a, mended_a = off(here.a(0), slope("a")), off(here.a(1), slope("a"))
    printed_U, mended_U = off(start, here.U(0)), off(A @ _first(here, here.U(0)[:6]), here.U(0))
    truth_dg = robot.gravity_force_derivatives(q, v[:1])[1]
    printed_dg, mended_dg = off(_gravity_as_printed(here, 1), truth_dg), off(here.gravity_force(1), truth_dg)
    P = sum((here.P(k, 3) @ here.v(k - 1) for k in range(1, 6)), np.zeros(robot.nv)) + here.gravity_force(3)
    first = here.mass_matrix() @ v[1] + coriolis @ v[0] + here.gravity_force()
    second = here.gravity_force(2) + here.mass_matrix() @ v[3] + (2 * rate + here.coriolis_matrix()) @ v[2]
    second += (here.mass_matrix(2) + 2 * here.coriolis_matrix(1)) @ v[1] + here.coriolis_matrix(2) @ v[0]
    return [
        agrees(
            "Derivatives of A, J, V, b, M and C to third order are the slopes of those below (largest relative error)",
            "C, (27), (39), (41)-(46)", worst, 1e-9,
        ),
        agrees("J' = -A a J, for joints with one coordinate (relative)", "C, (24)", off(-A @ a @ J, here.J(1)), 1e-13),
        judged(
            "a^(n) has the n-th derivatives of the joint rates, n = 1: against the slope (relative)",
            "C, (40)", "", f"{mended_a:.0e} so, {printed_a:.2g} without the dot", mended_a < 1e-9,
            f"So have the authors: {_NTH}, line 137, has ad_X times the derivative of order n + 1.",
            damage="The text at hand loses dots, and a of (25) has one over its q.",
        ),
        agrees(
            "M q'' + C q' + gravity, with C of (28) and (30), is the inverse dynamics (relative)",
            "C, (1), (28)-(30)", off(first, truth[0]), 1e-12,
            "The force is right; M' - 2 C is not skew with it (symmetric part "
            f"{np.abs(skew + skew.T).max() / np.abs(rate).max():.2f} of M'), which "
            "the paper does not claim. jounce adds M b, which makes it so.",
        ),
        agrees(
            "Gravity is J^T M U V_0' (relative)",
            "C, (32)", off(-weight, truth_g), 1e-12,
            f"If it is that of a falling body, the sign is the other one (off by {off(weight, truth_g):.0f}).",
            reading="g points upwards, V_0' being the acceleration of the base that stands for gravity, as in the "
            f"authors' Panda_InvDyn_BodyFixed.m, line 19, g = [0; 0; 9.80665], at {COMMIT[:7]}.",
        ),
        agrees(
            "With the first form of U, (33), gravity and its derivatives by (47) are exact on an upright base, as in "
            "Fig. 1: n = 0 to 4 (largest relative error)",
            "C, (32), (33), (47)", _upright(upright), 1e-14,
            f"So are they computed by the authors: {_NTH}, line 286.",
        ),
        judged(
            "The two forms of U are the same, as matrices and on a tilted base (relative)",
            "C, (33)", "0", printed_U, printed_U < 1e-9,
            "The first, A (I 0 ... 0), has the frame of body 1 where the second has that of the world: off by "
            f"{printed_U:.2g}, with Ad(C_1)^-1 for I by {mended_U:.0e}. Times V_0', upright, they are the same.",
        ),
        judged(
            "(47), with A^(k) (I 0 ... 0), n = 1, holds on a tilted base, too (relative)",
            "C, (47)", "0", printed_dg, printed_dg < 1e-9,
            "As in (33), Ad(C_1)^-1 is missing, which moves as well: off by "
            f"{printed_dg:.2g}, with U^(k), U' = -b U, by {mended_dg:.0e}. Here the base is tilted by 0.5 rad.",
        ),
        agrees(
            "The second derivative, (34) for n = 2, written out (relative)", "C, (34), (36)", off(second, truth[2]),
            1e-12,
        ),
        agrees(
            "The coefficients P_k of (38) give the third derivative (relative)",
            "C, (37), (38)", off(P, truth[3]), 1e-12,
        ),
    ]  # fmt: skip


def _first(form: BodyForm, block: Array) -> Array:
    """(block 0 ... 0), stacked."""
    return np.vstack([block, np.zeros((len(form.A()) - 6, 6))])


def _gravity_as_printed(form: BodyForm, n: int) -> Array:
    """(47)."""
    first = _first(form, np.eye(6))
    terms = (comb(n, k) * form.J(n - k).T @ form.M @ form.A(k) @ first @ form.dV0 for k in range(n + 1))
    return np.asarray(sum(terms))


def _upright(robot: Model) -> float:
    """The error of (47) for n = 0 to 4."""
    worst = 0.0
    for t in (0.4, 1.7, 3.3):
        q, v = (x[0] for x in motion(np.array([t]), _ROWS))
        form, truth = closed_form(robot, q, v), robot.gravity_force_derivatives(q, v[:4])
        worst = max(worst, *(off(_gravity_as_printed(form, n), truth[n]) for n in range(5)))
    return worst
