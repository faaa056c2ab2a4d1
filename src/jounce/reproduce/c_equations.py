"""Paper C's section III, equation by equation: claims of C-panda."""

from __future__ import annotations

from math import comb

import numpy as np

from ..closed_form import BodyForm
from ..model import Model
from .claims import Array, Claim, agrees, off
from .panda import motion


def equations(robot: Model) -> list[Claim]:
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
    A, a, M, J = here.A(), here.a(), here.M, here.J()
    C = _C_as_printed(here)
    slope_of_C = np.tensordot(weights, np.array([_C_as_printed(form) for form in forms]), axes=1)
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
            "C, (45)", off(rate_of_C, slope_of_C), 1e-9,
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
