"""The closed form of papers A and C, against the recursions, Pinocchio, complex steps, and the papers as printed."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from jounce.dynamics.closed_form import ClosedForm, _ad
from trees import ALL_JOINTS, TreeSpec, random_configuration, random_stack, random_tree

MOVING = [j for j in ALL_JOINTS if j != "fixed"]
BODY_TERMS = ("a", "L", "A", "J", "V", "b", "U", "C", "mass_matrix", "coriolis_matrix", "gravity_force", "torque")


def error(result: np.ndarray, truth: np.ndarray) -> float:
    """Relative to the largest entry."""
    return float(np.abs(result - truth).max() / np.abs(truth).max())


def case(seed: int, n: int, rows: int, **kwargs) -> tuple[TreeSpec, jn.Model, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, **kwargs)
    return tree, jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, rows)


CASES = [
    *({"n": 5, "joints": (joint, "revolute")} for joint in MOVING),
    *({"n": 10, "floating": floating} for floating in (False, True)),
    {"n": 8, "floating": True, "joints": ("revolute", "prismatic")},  # paper A's case
    {"n": 8, "serial": True, "joints": ("revolute", "prismatic", "helical")},  # paper C's case
    {"n": 5, "joints": ("free", "fixed")},
]


def name(kind: dict) -> str:
    return "-".join([*kind.get("joints", ["all"]), *(k for k in ("floating", "serial") if kind.get(k))])


every_kind = pytest.mark.parametrize("kind", CASES, ids=name)


# --- against the recursions ----------------------------------------------------------------------------


@every_kind
def test_torque_to_order_six(kind: dict) -> None:
    _, robot, q, v = case(1, rows=8, **kind)
    form, truth = ClosedForm(robot, q, v).body, robot.inverse_dynamics(q, v)
    for n in range(7):
        assert error(form.torque(n), truth[n]) < 1e-12, n
        sum_of_P = sum(form.P(k, n) @ v[k - 1] for k in range(1, n + 3))
        assert error(sum_of_P + form.gravity_force(n), truth[n]) < 1e-12, n


@every_kind
def test_spatial_torque_and_its_rate(kind: dict) -> None:
    _, robot, q, v = case(2, rows=3, **kind)
    form = ClosedForm(robot, q, v).spatial
    in_world = robot.change_velocity_frame(q, v, "body", "world")
    truth = robot.inverse_dynamics(q, in_world, frame="world")
    assert error(form.v, in_world) < 1e-13
    assert error(form.torque(), truth[0]) < 1e-12
    assert error(form.torque_rate(), truth[1]) < 1e-12
    assert error(form.coriolis_matrix @ form.v[0], form.h) < 1e-12


@every_kind
def test_gravity_is_what_a_robot_in_space_lacks(kind: dict) -> None:
    tree, robot, q, v = case(3, rows=6, **kind)
    tree = TreeSpec(tree.bodies, gravity=np.array([1.0, -2.0, 5.0]))
    robot, weightless = jounce_model(tree), jounce_model(TreeSpec(tree.bodies, gravity=np.zeros(3)))
    truth = robot.inverse_dynamics(q, v) - weightless.inverse_dynamics(q, v)
    form = ClosedForm(robot, q, v)
    for n in range(5):
        assert error(form.body.gravity_force(n), truth[n]) < 1e-10, n
    rows = robot.change_velocity_frame(q, v[:3], "body", "world")
    truth = robot.inverse_dynamics(q, rows, frame="world") - weightless.inverse_dynamics(q, rows, frame="world")
    assert error(form.spatial.g, truth[0]) < 1e-11
    assert error(form.spatial.dg, truth[1]) < 1e-11


def test_twists_of_the_bodies() -> None:
    _, robot, q, v = case(4, n=10, rows=5, floating=True)
    form = ClosedForm(robot, q, v)
    last = [len(form.links) - 1 - form.links[::-1].index(name) for name in robot.body_names]
    in_body = robot.forward_kinematics(q, v).twist
    for n in range(5):
        assert error(form.body.V(n).reshape(-1, 6)[last], in_body[n]) < 1e-12
    in_world = robot.forward_kinematics(q, form.spatial.v, frame="world", velocity_frame="world").twist
    assert error(form.spatial.V.reshape(-1, 6)[last], in_world[0]) < 1e-12
    assert error(form.spatial.dV().reshape(-1, 6)[last], in_world[1]) < 1e-12


# --- against Pinocchio ---------------------------------------------------------------------------------


@every_kind
def test_matrices_against_pinocchio(kind: dict) -> None:
    from peers import PinocchioTree, pinocchio

    tree, robot, q, v = case(5, rows=1, **kind)
    peer, form = PinocchioTree(tree), ClosedForm(robot, q, v[0]).body
    at = np.ix_(peer.v_index, peer.v_index)
    pin_q, pin_v = peer.q_to_pin(q), peer.v_to_pin(v[0])
    mass = pinocchio.crba(peer.model, peer.data, pin_q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    assert error(form.mass_matrix(), mass[at]) < 1e-12
    weight = peer.v_from_pin(pinocchio.computeGeneralizedGravity(peer.model, peer.data, pin_q))
    assert error(form.gravity_force(), weight) < 1e-12
    bias = peer.v_from_pin(pinocchio.nonLinearEffects(peer.model, peer.data, pin_q, pin_v))
    assert error(form.coriolis_matrix() @ v[0] + weight, bias) < 1e-12


# --- derivatives by complex steps ----------------------------------------------------------------------


def a_moment_later(tree: TreeSpec, q: np.ndarray, v: np.ndarray, step: complex) -> tuple[np.ndarray, np.ndarray]:
    """q + step dq/dt, and likewise the stack, one row shorter."""
    dq = np.zeros(tree.nq)
    for body, at, to in zip(tree.bodies, tree.q_slices(), tree.v_slices(), strict=True):
        if body.joint not in ("spherical", "free"):
            dq[at] = v[0, to]
            continue
        (*u, w), omega = q[at][-4:], v[0, to][-3:]
        dq[at][-4:] = np.append(w * omega + np.cross(u, omega), -np.dot(u, omega)) / 2
        if body.joint == "free":
            linear = v[0, to][:3]
            dq[at][:3] = linear + 2 * np.cross(u, w * linear + np.cross(u, linear))
    return q + step * dq, v[:-1] + step * v[1:]


@pytest.mark.parametrize("kind", [{"n": 9}, {"n": 6, "floating": True}, {"n": 4, "joints": ("spherical", "free")}])
def test_every_term_is_the_derivative_of_the_one_before(kind: dict) -> None:
    tree, robot, q, v = case(6, rows=7, **kind)
    now, later = ClosedForm(robot, q, v), ClosedForm(robot, *a_moment_later(tree, q, v, 1e-30j))
    for term in BODY_TERMS:
        for n in range(4):
            rate = getattr(later.body, term)(n).imag / 1e-30
            assert error(getattr(now.body, term)(n + 1), rate) < 1e-12, (term, n)
    for term, rate in (("S", now.spatial.dS), ("V", now.spatial.dV()), ("g", now.spatial.dg)):
        assert error(rate, getattr(later.spatial, term).imag / 1e-30) < 1e-12, term
    assert error(now.spatial.torque_rate(), later.spatial.torque().imag / 1e-30) < 1e-12
    dM = later.spatial.mass_matrix.imag / 1e-30
    dh = dM @ now.spatial.v[1] + later.spatial.h.imag / 1e-30
    assert error(now.spatial.dh(), dh) < 1e-12
    C = now.spatial.coriolis_matrix
    assert error(C + C.T, dM) < 1e-12  # Lemma 1


# --- structure -----------------------------------------------------------------------------------------


@every_kind
def test_mass_matrix_rate_less_twice_coriolis_is_skew(kind: dict) -> None:
    _, robot, q, v = case(7, rows=3, **kind)
    form = ClosedForm(robot, q, v).body
    for n in range(3):
        C = form.coriolis_matrix(n)
        assert error(C + C.T, form.mass_matrix(n + 1)) < 1e-12


def test_both_papers_have_the_same_coriolis_matrix() -> None:
    """With v_world = T v_body: C_body = T^T (C_world T + M_world dT/dt)."""
    _, robot, q, v = case(8, n=8, rows=1, floating=True)
    form, h = ClosedForm(robot, q, v), 1e-5

    def T(step: float) -> np.ndarray:
        units = np.eye(robot.nv)[:, None]
        return robot.change_velocity_frame(robot.integrate(q, step * v[0]), units, "body", "world")[:, 0].T

    dT = (T(h) - T(-h)) / (2 * h)
    both = T(0).T @ (form.spatial.coriolis_matrix @ T(0) + form.spatial.mass_matrix @ dT)
    assert error(form.body.coriolis_matrix(), both) < 1e-8
    assert error(form.body.mass_matrix(), T(0).T @ form.spatial.mass_matrix @ T(0)) < 1e-12


def test_paths_of_both_papers() -> None:
    _, robot, q, v = case(9, n=10, rows=1)
    form = ClosedForm(robot, q, v)
    assert error(form.spatial.Ad @ form.body.A(), form.spatial.G_p @ form.spatial.Ad) < 1e-13
    assert error(form.body.A() - form.body.A() @ form.body.L(), np.eye(len(form.body.M))) < 1e-13
    assert set(np.unique(form.spatial.G_p)) == {0, 1}
    assert (form.spatial.G_c == form.spatial.G_p.T).all()


# --- the papers as printed -----------------------------------------------------------------------------


def printed_rate(form: ClosedForm) -> np.ndarray:
    """Paper A, (14) to (18) with appendix B, without external wrenches: ad S wherever S' belongs."""
    s = form.spatial
    S, ad, G_p, G_c, M, (v, dv, ddv) = s.S, s.ad, s.G_p, s.G_c, s.M, s.v[:3]
    dV = G_p @ S @ dv + G_p @ ad @ S @ v
    ad_dV = _ad(dV)
    ddV = G_p @ S @ ddv + 2 * G_p @ ad @ S @ dv + G_p @ (ad_dV + ad @ ad) @ S @ v
    dP = M @ dV - ad.T @ M @ s.V
    ddP = M @ (ddV - ad @ dV) - 2 * ad.T @ dP - (ad_dV + ad @ ad).T @ M @ s.V
    dg = S.T @ (-ad.T @ G_c @ M + G_c @ (M @ ad + ad.T @ M)) @ s.G
    return S.T @ ad.T @ G_c @ dP + S.T @ G_c @ ddP + dg


def test_printed_16_to_18_hold_on_a_fixed_base_only() -> None:
    for floating in (False, True):
        _, robot, q, v = case(10, n=6, rows=3, floating=floating, joints=("revolute", "prismatic", "spherical"))
        form = ClosedForm(robot, q, v)
        wrong = np.abs(printed_rate(form) - form.spatial.torque_rate()) / np.abs(form.spatial.torque_rate()).max()
        if floating:
            assert wrong[:6].max() > 1e-2
            assert wrong[6:].max() > 1e-2
        else:
            assert wrong.max() < 1e-12


def test_printed_24_and_30_hold_for_joints_with_one_coordinate_only() -> None:
    for joints in (("revolute", "helical"), ("revolute", "spherical"), ("revolute", "free")):
        _, robot, q, v = case(11, n=5, rows=1, joints=joints)
        form = ClosedForm(robot, q, v).body
        A, a, b, J, M = form.A(), form.a(), form.b(), form.J(), form.M
        one_coordinate = joints[1] == "helical"
        assert (error(-A @ a @ J, form.J(1)) < 1e-12) == one_coordinate
        assert np.allclose(a @ form.X, 0) == one_coordinate
        assert np.allclose(a @ form.X @ v[0], 0)
        printed = J.T @ (-M @ A @ a - b.T @ M) @ J
        assert error(printed @ v[0], form.coriolis_matrix() @ v[0]) < 1e-12  # the same force
        assert error(printed + printed.T, form.mass_matrix(1)) > 1e-2  # but not passive
        passive = printed + J.T @ M @ b @ J
        assert (error(passive, form.coriolis_matrix()) < 1e-12) == one_coordinate


def test_printed_33_lacks_the_pose_of_the_first_link() -> None:
    _, robot, q, v = case(12, n=4, rows=1, serial=True, joints=("revolute",))
    form = ClosedForm(robot, q, v).body
    assert error(form.A()[:, :6], form.U()) > 1e-2
    assert error(form.A()[:, :6] @ form.U()[:6], form.U()) < 1e-12


# --- input ---------------------------------------------------------------------------------------------


def test_symbols() -> None:
    """The textbook pendulum on a cart."""
    sympy = pytest.importorskip("sympy")
    builder = jn.Builder()
    builder.add("cart", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(3.0))
    builder.add("pole", "cart", jn.Revolute((0, -1, 0)), inertia=jn.Inertia(2.0, com=(0, 0, -0.5)))
    x, phi, dx, dphi, ddx, ddphi = sympy.symbols("x phi dx dphi ddx ddphi")
    form = ClosedForm(builder.build(), [x, phi], [[dx, dphi], [ddx, ddphi]])
    c, s = sympy.cos(phi), sympy.sin(phi)
    truth = [5 * ddx + c * ddphi - s * dphi**2, c * ddx + ddphi / 2 + 9.81 * s]
    for torque in (form.body.torque(), form.spatial.torque()):
        for given, expected in zip(torque, truth, strict=True):
            assert sympy.simplify(sympy.nsimplify(given - sympy.nsimplify(expected))) == 0


def test_a_velocity_without_its_derivatives() -> None:
    _, robot, q, v = case(13, n=5, rows=1, floating=True)
    form = ClosedForm(robot, q, v[0])
    assert form.body.mass_matrix(1).shape == form.spatial.coriolis_matrix.shape == (robot.nv, robot.nv)
    for missing in (form.spatial.torque, form.spatial.dV, form.body.torque, lambda: form.body.mass_matrix(2)):
        with pytest.raises(ValueError, match="v has 1 row, expected 2 or more"):
            missing()


def test_a_robot_that_cannot_move() -> None:
    builder = jn.Builder()
    builder.add("rock", "world", jn.Fixed(), inertia=jn.Inertia(1.0))
    form = ClosedForm(builder.build(), [], np.zeros((2, 0)))
    assert form.links == ()
    assert form.body.torque().shape == form.spatial.torque().shape == (0,)


def test_bad_input() -> None:
    robot = jn.robots.aerial_manipulator()
    q, v = robot.neutral(), np.zeros((2, 12))
    for bad_q, bad_v, message in (
        (q[1:], v, r"q has shape \(12,\), expected \(13,\)"),
        (q, v[:, 1:], r"v has shape \(2, 11\), expected \(12,\) or \(rows, 12\)"),
        (q, v[:0], r"v has shape \(0, 12\)"),
        (q, v[None], r"v has shape \(1, 2, 12\)"),
        (q, [[0.0], [1.0, 2.0]], r"v has shape \(\)"),
        (q, np.full((2, 12), np.nan), "v is .* expected finite numbers"),
        (q, np.full((2, 12), "0"), "v must be real numbers"),
        (q * 1.001, v, "quaternion of length 1.001000, expected 1"),
    ):
        with pytest.raises(ValueError, match=message):
            ClosedForm(robot, bad_q, bad_v)
    form = ClosedForm(robot, q, v).body
    with pytest.raises(ValueError, match="n is -1, expected a non-negative order"):
        form.mass_matrix(-1)
    for k in (0, 4):
        with pytest.raises(ValueError, match=f"k is {k}, expected 1 to 3"):
            form.P(k, 1)
