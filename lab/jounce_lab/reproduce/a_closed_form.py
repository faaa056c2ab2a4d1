"""Paper A's Proposition 1, Lemmas 1 and 2, and the expressions of its appendices: claims of A-table5."""

from __future__ import annotations

import numpy as np

from jounce.dynamics.closed_form import SpatialForm
from jounce.model import Model
from jounce.parts.joints import Revolute, Spherical, Universal

from . import paper_a, table5
from .claims import Array, Claim, agrees, judged, off
from .panda import panda
from .small_robot import base_and_load

_SWAP = np.r_[3:6, 0:3]  # [linear; angular] to the paper's [angular; linear], and back


def closed_form(robot: Model, rng: np.random.Generator) -> list[Claim]:
    form, truth = _pushed_form(robot, rng)
    printed, mended = off(_rate_as_printed(form), truth[1]), off(form.torque_rate(), truth[1])
    external = off(_external_rate_as_printed(form), form.dtau_ext())
    free, fixed_truth = _pushed_form(panda(), rng)
    fixed = off(_rate_as_printed(free), fixed_truth[1])
    return [
        agrees(
            "The recursion in closed form, M v' + h + g + tau_ext, is the inverse dynamics, with wrenches on two "
            "bodies (relative)",
            "A, Proposition 1, (10)-(13)", off(form.torque(), truth[0]), 1e-12,
        ),
        judged(
            "Its derivative, to the letter, is the first-order inverse dynamics of a floating base (relative)",
            "A, Proposition 1, (14)-(19), with (39), (40)", "0", printed, printed < 1e-12,
            "(16), (17), (19) and (39) write ad_V S for the derivative of every screw, where Table 2 has 0 for that of "
            f"the base, S_1 = I: off by {printed:.2g}, (19) alone by {external:.2g}; with Table 2's by {mended:.0e}. "
            f"On a fixed base (the Panda) the formula is off by {fixed:.0e} as it is.",
        ),
        agrees(
            "The same with the derivative of S that Table 2 defines (relative)",
            "A, Table 2 and (14)-(19)", mended, 1e-12, change="S' of Table 2 for ad_V S in (16), (17), (19) and (39).",
        ),
    ]  # fmt: skip


def _pushed_form(robot: Model, rng: np.random.Generator) -> tuple[SpatialForm, Array]:
    """At a random state, with wrenches on the first body and on the last; and the inverse dynamics there."""
    q, v = robot.random_configuration(rng), rng.normal(size=(3, robot.nv))
    wrenches = {robot.body_names[i]: rng.normal(size=(2, 6)) for i in (0, -1)}
    form = robot.closed_form(q, v, wrenches=wrenches).spatial
    return form, robot.inverse_dynamics(q, form.v, frame="world", wrenches=wrenches)


def _rate_as_printed(form: SpatialForm) -> Array:
    """(14) with (16)-(19), (39) and (40), as printed: ad S for the derivative of S in all its blocks."""
    G_p, G_c, M, S, a, G = form.G_p, form.G_c, form.M, form.S, form.ad, form.G
    v, dv, ddv = form.v[:3]
    dV = G_p @ (S @ dv + a @ S @ v)
    adV = _blocks(dV)
    ddV = G_p @ (2 * a @ S @ dv + (adV + a @ a) @ S @ v)
    P = M @ form.V
    dP = M @ dV - a.T @ P
    ddP = M @ (ddV - a @ dV) - 2 * a.T @ dP - (adV + a @ a).T @ P
    dh = S.T @ a.T @ G_c @ dP + S.T @ G_c @ ddP
    dg = -S.T @ a.T @ G_c @ M @ G + S.T @ G_c @ (M @ a + a.T @ M) @ G
    result: Array = form.mass_matrix @ ddv + dh + dg + _external_rate_as_printed(form)
    return result


def _external_rate_as_printed(form: SpatialForm) -> Array:
    """(19), as printed: with ad S in place of S' in -S'^T G_c W_app."""
    return form.dtau_ext() + (form.dS - form.ad @ form.S).T @ form.G_c @ form.W_app


def _blocks(twists: Array) -> Array:
    """ad of each body's [linear; angular] twist on the diagonal."""
    result = np.zeros((len(twists), len(twists)))
    for i in range(0, len(twists), 6):
        at = slice(i, i + 6)
        result[at, at] = paper_a.ad(twists[at][_SWAP])[np.ix_(_SWAP, _SWAP)]
    return result


def lemmas(robot: Model, rng: np.random.Generator) -> list[Claim]:
    q, v = robot.random_configuration(rng), rng.normal(size=(7, robot.nv))
    spatial = robot.change_velocity_frame(q, v, "body", "world")
    C = robot.closed_form(q, v[0]).spatial.coriolis_matrix
    N = robot.mass_matrix_derivatives(q, spatial[:1], frame="world")[1] / 2 - C
    tau = robot.inverse_dynamics(q, v)
    orders = range(len(tau))
    pushed = np.array([_pushed(robot, q, v[0], tau, r) for r in orders])
    inertia = robot.articulated_inertia(q)
    asymmetry = max(off(each, each.T) for each in inertia)
    smallest = min(np.linalg.eigvalsh(each)[0] for each in inertia)
    return [
        judged(
            "M'/2 - C is skew with the Coriolis matrix (21): its symmetric part, relative",
            "A, Lemma 1", "0", float(np.abs(N + N.T).max() / np.abs(N).max()), lambda e: e < 1e-12,
        ),
        agrees(
            "C v is the Coriolis and centrifugal force h (relative)",
            "A, Lemma 1, (21)", off(C @ spatial[0], robot.closed_form(q, v[0]).spatial.h), 1e-12,
        ),
        agrees(
            "The articulated inertia is the same at every order: how a torque of order r moves the acceleration of "
            "order "
            "r, r = 0 to 5, against r = 0 (relative)",
            "A, Lemma 2, (22), (23), and appendix C", max(off(pushed[r], pushed[0]) for r in orders), 1e-7,
            "By differences, which a linear map makes exact but for rounding.",
        ),
        judged(
            "Articulated inertias are symmetric and positive definite, so the base's equations have an LDL^T "
            "factorization: asymmetry (relative) and smallest eigenvalue",
            "A, appendix C", "", [asymmetry, float(smallest)], asymmetry < 1e-12 and smallest > 0,
        ),
    ]  # fmt: skip


def _pushed(robot: Model, q: Array, v: Array, tau: Array, order: int) -> Array:
    """(nv, nv): the change of row `order` of the acceleration with row `order` of the force."""
    size = np.abs(tau[order]).max()
    more = np.repeat(tau[None, : order + 1], robot.nv, axis=0)
    more[:, order] += size * np.eye(robot.nv)
    change = robot.forward_dynamics(q, v, more) - robot.forward_dynamics(q, v, tau[: order + 1])
    return np.asarray(change[:, order].T / size)


def expressions(robot: Model, rng: np.random.Generator) -> list[Claim]:
    """(6), (7), Algorithm 1, and appendix E."""
    Ad, ad = paper_a.Ad, paper_a.ad
    g, h, V = rng.normal(size=(3, 6))
    C, D = (
        paper_a.exp(np.append(e, rng.normal(size=3)), x) for e, x in zip(np.eye(3)[:2], rng.normal(size=2), strict=True)
    )
    turn = np.append(np.eye(3)[2], rng.normal(size=3))  # a motion C exp: spatial twist `turn`
    step = 1e-3
    ends = [np.linalg.inv(Ad(paper_a.exp(turn, x * step) @ C)) for x in (1, -1, 2, -2, 3, -3)]
    slope = (45 * (ends[0] - ends[1]) - 9 * (ends[2] - ends[3]) + (ends[4] - ends[5])) / (60 * step)
    identities = [
        off(Ad(C @ D), Ad(C) @ Ad(D)),
        off(Ad(np.linalg.inv(C)), np.linalg.inv(Ad(C))),
        off(Ad(C) @ (ad(g) @ h), ad(Ad(C) @ g) @ (Ad(C) @ h)),
        off(ad(ad(g) @ h), ad(g) @ ad(h) - ad(h) @ ad(g)),
        float(np.abs(ad(V) @ V).max()),
    ]
    return [
        *_appendix(robot, rng),
        agrees(
            "The adjoint maps: products, inverses, homomorphisms, ad_V V = 0 (largest relative error)",
            "A, (7)", max(identities), 1e-13,
        ),
        agrees(
            "(Ad_C^-1)' = -Ad_C^-1 ad_V along a motion (relative, sixth-order differences)",
            "A, (5), (6)", off(slope, -np.linalg.inv(Ad(C)) @ ad(turn)), 1e-10,
        ),
    ]  # fmt: skip


def _appendix(robot: Model, rng: np.random.Generator) -> list[Claim]:
    """The general line of Algorithm 1, the balance of momentum, and (69)."""
    q, v = robot.random_configuration(rng), rng.normal(size=(6, robot.nv))
    spatial = robot.change_velocity_frame(q, v, "body", "world")
    base = spatial[:, :6][:, _SWAP]
    k = table5.Kinematics(robot.pose("B1", q), base[:3], np.vstack([q[7:], spatial[:3, 6:]]))
    twists = {1: base}
    for j, parent in table5.PARENT.items():
        twists[j] = paper_a.screws_and_twists(k.S[j][:, None], twists[parent], spatial[:, j + 4 : j + 5], 5)[1]
    truth = robot.forward_kinematics(q, spatial, frame="world", velocity_frame="world").twist[..., _SWAP]
    balance = max(off(k.M[j] @ k.dV[j] - paper_a.ad(k.V[j]) @ k.P[j], k.dP[j]) for j in k.V)
    transposed = max(off(k.M[j] @ k.dV[j] - paper_a.ad(k.V[j]).T @ k.P[j], k.dP[j]) for j in k.V)
    return [
        agrees(
            "The general lines of Algorithm 1: derivatives of the twists to r1 = 5 (relative)",
            "A, Algorithm 1", max(off(twists[j], truth[:, j - 1]) for j in twists), 1e-12,
        ),
        judged(
            "The balance of momentum in the text below (58), P' = M V' - ad_V P, to the letter (relative)",
            "A, appendix E, below (58)", "0", balance, balance < 1e-12,
            f"The transpose of ad_V is missing there: off by {balance:.2g}, with it by {transposed:.0e}. (35) and (44) "
            "have it.",
        ),
        agrees(
            "Wrenches given in a body's axes, and their derivatives, in those of the world: forces to r = 1 (relative)",
            "A, (67)-(70)", _wrench_error(robot, q, v[:3], rng), 1e-12,
        ),
    ]  # fmt: skip


def _wrench_error(robot: Model, q: Array, v: Array, rng: np.random.Generator) -> float:
    """(69) as printed for r = 0, 1, against the library's own conversion."""
    given = rng.normal(size=(2, 6))  # [force; moment] on B4, about the origin of its frame and in its axes
    kin = robot.forward_kinematics(q, v[:1], frame="world", velocity_frame="body")
    V, to_world = kin.twist[0, 3][_SWAP], np.linalg.inv(paper_a.Ad(kin.pose[3])).T
    W0 = to_world @ given[0][_SWAP]
    W1 = -paper_a.ad(V).T @ W0 + to_world @ given[1][_SWAP]
    ours = robot.inverse_dynamics(q, v, wrenches={"B4": given})
    theirs = robot.inverse_dynamics(q, v, wrenches={"B4": np.array([W0, W1])[:, _SWAP]}, wrench_frame="world")
    return off(theirs, ours)


def joints(rng: np.random.Generator) -> list[Claim]:
    """Appendix D, step 3."""
    whole, split = (
        base_and_load(Universal((1, 0, 0), (0, 1, 0))),
        base_and_load(Revolute((1, 0, 0)), Revolute((0, 1, 0))),
    )
    q, v = whole.random_configuration(rng), rng.normal(size=(5, whole.nv))
    ball = base_and_load(Spherical())
    near = np.concatenate([ball.neutral()[:7], [0, np.sin(np.pi / 4), 0, np.cos(np.pi / 4)]])  # pitch 90 degrees
    stack = rng.normal(size=(5, ball.nv))
    back = ball.forward_dynamics(near, stack[0], ball.inverse_dynamics(near, stack))
    return [
        agrees(
            "A universal joint is two revolute joints in a row: the forces to r = 3 are the same (relative)",
            "A, appendix D, step 3", off(split.inverse_dynamics(q, v), whole.inverse_dynamics(q, v)), 1e-12,
        ),
        agrees(
            "A spherical joint on SO(3) has no singularity: round trip to r = 3 where its pitch is 90 degrees "
            "(relative)",
            "A, appendix D, step 3", off(back, stack[1:]), 1e-9,
        ),
    ]  # fmt: skip
