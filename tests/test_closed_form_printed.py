"""Paper A's external torques and paper C's own Coriolis matrix: inverse dynamics, complex steps, printed formulas."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from coupled_robots import SOFT
from test_closed_form import CASES, a_moment_later, case, error, every_kind
from trees import TreeSpec

FRAMES = ("body", "world", "mixed")
each_frame = pytest.mark.parametrize("wrench_frame", FRAMES)


# Paper C's matrices for [angular; linear]: tilde, Ad of a pose, (3), and ad of a twist, (8).


def tilde(a: np.ndarray) -> np.ndarray:
    return np.cross(a, -np.eye(3))


def adjoint(C: np.ndarray) -> np.ndarray:
    R = C[:3, :3]
    return np.block([[R, np.zeros((3, 3))], [tilde(C[:3, 3]) @ R, R]])


def bracket(V: np.ndarray) -> np.ndarray:
    return np.block([[tilde(V[:3]), np.zeros((3, 3))], [tilde(V[3:]), tilde(V[:3])]])


def pushed(tree: TreeSpec, rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Wrenches on the first body, on one in the middle and on the last."""
    rng = np.random.default_rng(seed)
    names = {tree.bodies[i].name for i in (0, len(tree.bodies) // 2, -1)}
    return {name: rng.normal(size=(rows, 6)) for name in sorted(names)}


# --- external torques -----------------------------------------------------------------------------------


@each_frame
@every_kind
def test_torque_with_wrenches(kind: dict, wrench_frame: str) -> None:
    tree, robot, q, v = case(21, rows=6, **kind)
    given = {"wrenches": pushed(tree, 5), "wrench_frame": wrench_frame}
    form = robot.closed_form(q, v, **given)
    truth = robot.inverse_dynamics(q, v, **given)
    for n in range(5):
        assert error(form.body.torque(n), truth[n]) < 1e-12, n
    in_world = robot.change_velocity_frame(q, v, "body", "world")
    truth = robot.inverse_dynamics(q, in_world, frame="world", **given)
    assert error(form.spatial.torque(), truth[0]) < 1e-12
    assert error(form.spatial.torque_rate(), truth[1]) < 1e-12


@each_frame
def test_external_torques_are_all_that_wrenches_change(wrench_frame: str) -> None:
    tree, robot, q, v = case(22, n=8, rows=4, floating=True)
    given = {"wrenches": pushed(tree, 3), "wrench_frame": wrench_frame}
    form, free = robot.closed_form(q, v, **given), robot.closed_form(q, v)
    change = robot.inverse_dynamics(q, v, **given) - robot.inverse_dynamics(q, v)
    size = np.abs(robot.inverse_dynamics(q, v)).max(axis=1)  # the scale of the difference's rounding
    for n in range(3):
        assert np.abs(form.body.external_torque(n) - change[n]).max() < 1e-12 * size[n], n
        assert not free.body.external_torque(n).any()
    in_world = robot.change_velocity_frame(q, v, "body", "world")
    change = robot.inverse_dynamics(q, in_world, frame="world", **given)
    without = robot.inverse_dynamics(q, in_world, frame="world")
    size = np.abs(without).max(axis=1)
    assert np.abs(form.spatial.tau_ext - (change - without)[0]).max() < 1e-12 * size[0]
    assert np.abs(form.spatial.dtau_ext() - (change - without)[1]).max() < 1e-12 * size[1]
    assert not free.spatial.tau_ext.any()
    assert not free.spatial.dtau_ext().any()
    for key in ("h", "g", "dg"):
        assert (getattr(form.spatial, key) == getattr(free.spatial, key)).all()


def test_13_as_it_is_printed() -> None:
    """In the paper's order, angular first, from poses and Jacobians: -S^T G_c Ad^-T W is minus the sum of J^T W."""
    tree, robot, q, v = case(23, n=6, rows=1, floating=True, serial=True, joints=("revolute", "prismatic"))
    wrenches = pushed(tree, 1)
    form = robot.closed_form(q, v, wrenches=wrenches).spatial
    swap = np.roll(np.eye(6), 3, axis=0)
    expected = np.zeros(robot.nv)
    for name, rows in wrenches.items():
        J = swap @ robot.jacobian(name, q, frame="world", velocity_frame="world")
        expected -= J.T @ np.linalg.inv(adjoint(robot.pose(name, q))).T @ swap @ rows[0]
    assert error(form.tau_ext, expected) < 1e-12
    printed = -form.S.T @ form.ad.T @ form.G_c @ form.W_app + form.S.T @ form.G_c @ form.ad.T @ form.W_app  # (19)
    still = {name: np.vstack([rows, 0 * rows]) for name, rows in wrenches.items()}
    right = robot.closed_form(q, v, wrenches=still).spatial.dtau_ext()
    assert error(printed[6:], right[6:]) < 1e-12
    assert error(printed[:6], right[:6]) > 1e-2  # S' is zero for the base, and ad S is not


@each_frame
def test_external_torques_by_complex_steps(wrench_frame: str) -> None:
    tree, robot, q, v = case(24, n=7, rows=4, floating=True)
    now = pushed(tree, 4)
    later = {name: rows[:-1] + 1e-30j * rows[1:] for name, rows in now.items()}
    form = robot.closed_form(q, v, wrenches=now, wrench_frame=wrench_frame)
    moved = robot.closed_form(*a_moment_later(tree, q, v, 1e-30j), wrenches=later, wrench_frame=wrench_frame)
    given = {"wrenches": {name: rows[:2] for name, rows in now.items()}, "wrench_frame": wrench_frame}
    truth = robot.inverse_dynamics(q, v[:3], **given)
    assert error(moved.body.torque().real, truth[0]) < 1e-12
    assert error(moved.body.torque().imag / 1e-30, truth[1]) < 1e-12
    in_world = robot.change_velocity_frame(q, v, "body", "world")
    truth = robot.inverse_dynamics(q, in_world[:3], frame="world", **given)
    assert error(moved.spatial.torque().real, truth[0]) < 1e-12
    assert error(moved.spatial.torque().imag / 1e-30, truth[1]) < 1e-12
    assert error(form.spatial.dtau_ext(), moved.spatial.tau_ext.imag / 1e-30) < 1e-12
    for term in ("W", "external_torque", "torque"):
        for n in range(2):
            assert error(getattr(form.body, term)(n + 1), getattr(moved.body, term)(n).imag / 1e-30) < 1e-12, (term, n)


@each_frame
def test_external_torques_in_symbols(wrench_frame: str) -> None:
    sympy = pytest.importorskip("sympy")
    builder = jn.Builder()
    builder.add("cart", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(3.0))
    builder.add("pole", "cart", jn.Revolute((0, -1, 0)), inertia=jn.Inertia(2.0, com=(0, 0, -0.5)))
    place = np.eye(4)
    place[:3, 3] = 0.0, 0.0, -1.0
    builder.add("tip", "pole", jn.Fixed(), placement=place)
    robot = builder.build()
    rng = np.random.default_rng(3)
    numbers = {"q": rng.normal(size=2), "v": rng.normal(size=(3, 2)), "w": rng.normal(size=(2, 6))}
    symbols = {
        key: np.array(sympy.symbols(f"{key}:{x.size}"), dtype=object).reshape(x.shape) for key, x in numbers.items()
    }
    values = {s: x for key in numbers for s, x in zip(symbols[key].flat, numbers[key].flat, strict=True)}
    form = robot.closed_form(symbols["q"], symbols["v"], wrenches={"tip": symbols["w"]}, wrench_frame=wrench_frame)
    truth = robot.inverse_dynamics(
        numbers["q"], numbers["v"], wrenches={"tip": numbers["w"]}, wrench_frame=wrench_frame
    )
    printed = [sum(form.body.printed_P(k, n) @ symbols["v"][k - 1] for k in range(1, n + 3)) for n in range(2)]
    rest = [form.body.gravity_force(n) + form.body.external_torque(n) for n in range(2)]
    for n, found in enumerate(
        ((form.body.torque(), form.spatial.torque(), printed[0] + rest[0]),
         (form.body.torque(1), form.spatial.torque_rate(), printed[1] + rest[1]))
    ):  # fmt: skip
        for each in found:
            assert error(np.array([float(x.subs(values)) for x in each]), truth[n]) < 1e-12, n


@pytest.mark.parametrize(
    ("kind", "wrench_frame"),
    [
        ({"n": 3, "floating": True}, "body"),
        pytest.param({"n": 3, "floating": True}, "world", marks=pytest.mark.night),
        ({"n": 2, "joints": ("spherical", "universal")}, "mixed"),
    ],
)
def test_every_call_with_numbers_of_sympy(kind: dict, wrench_frame: str) -> None:
    """With 30 digits, on floating bases and joints with several coordinates; symbolic results would be too large."""
    sympy = pytest.importorskip("sympy")
    tree, robot, q, v = case(26, rows=3, **kind)
    wrenches = pushed(tree, 2)
    exact = np.vectorize(lambda x: sympy.Float(x, 30), otypes=[object])
    symbolic = {name: exact(rows) for name, rows in wrenches.items()}
    form = robot.closed_form(exact(q), exact(v), wrenches=symbolic, wrench_frame=wrench_frame)
    given = {"wrenches": wrenches, "wrench_frame": wrench_frame}
    truth = robot.inverse_dynamics(q, v, **given)
    body = form.body
    for n in range(2):
        printed = sum(body.printed_P(k, n) @ exact(v)[k - 1] for k in range(1, n + 3))
        rest = body.gravity_force(n) + body.external_torque(n)
        for found in (body.torque(n), printed + rest):
            assert found.dtype == object
            assert error(found.astype(float), truth[n]) < 1e-12, n
    in_world = robot.change_velocity_frame(q, v, "body", "world")
    truth = robot.inverse_dynamics(q, in_world, frame="world", **given)
    assert error(form.spatial.torque().astype(float), truth[0]) < 1e-12
    assert error(form.spatial.torque_rate().astype(float), truth[1]) < 1e-12
    for found in (form.spatial.tau_ext, form.spatial.dtau_ext(), body.printed_C(1), body.printed_coriolis_matrix(1)):
        assert found.dtype == object


def test_a_force_at_the_tip_in_symbols() -> None:
    """Textbook: a force f along x at the end of a pendulum reduces the torque by f l cos(phi), at any angle."""
    sympy = pytest.importorskip("sympy")
    builder = jn.Builder(gravity=(0, 0, 0))
    builder.add("pole", "world", jn.Revolute((0, -1, 0)), inertia=jn.Inertia(2.0, com=(0, 0, -0.5)))
    place = np.eye(4)
    place[:3, 3] = 0.0, 0.0, -1.0
    builder.add("tip", "pole", jn.Fixed(), placement=place)
    phi, rate, f, df = sympy.symbols("phi rate f df")
    rows = np.zeros((2, 6), dtype=object)
    rows[:, 0] = f, df
    form = builder.build().closed_form([phi], [rate], wrenches={"tip": rows}, wrench_frame="mixed")
    for found in (form.body.external_torque(), form.spatial.tau_ext):
        assert sympy.simplify(sympy.nsimplify(found[0] + f * sympy.cos(phi))) == 0
    for found in (form.body.external_torque(1), form.spatial.dtau_ext()):
        expected = -df * sympy.cos(phi) + f * rate * sympy.sin(phi)
        assert sympy.simplify(sympy.nsimplify(found[0] - expected)) == 0


@each_frame
@pytest.mark.parametrize("name", SOFT)
def test_wrenches_on_soft_robots(name: str, wrench_frame: str) -> None:
    robot = SOFT[name]
    rng = np.random.default_rng(25)
    q, v = robot.configuration(rng), robot.rates(rng, (4,))
    wrenches = {part.spec.name: rng.normal(size=(3, 6)) for part in robot.parts}
    given = {"wrenches": wrenches, "wrench_frame": wrench_frame}
    form = robot.model.closed_form(q, v, **given)
    change = robot.model.inverse_dynamics(q, v, **given) - robot.model.inverse_dynamics(q, v)
    forces = robot.model.inverse_dynamics(q, v)
    for n in range(3):
        wrong = np.abs(form.body.external_torque(n) - change[n]).max()
        assert wrong < 1e-12 * max(np.abs(change[n]).max(), np.abs(forces[n]).max()), n
    rows = robot.model.change_velocity_frame(q, v, "body", "world")
    change = robot.model.inverse_dynamics(q, rows, frame="world", **given)
    forces = robot.model.inverse_dynamics(q, rows, frame="world")
    for n, found in enumerate((form.spatial.tau_ext, form.spatial.dtau_ext())):
        wrong = np.abs(found - (change - forces)[n]).max()
        assert wrong < 1e-12 * max(np.abs(change[n]).max(), np.abs(forces[n]).max()), n
    by_complex = robot.model.closed_form(q, v, wrenches={k: w + 1e-30j * w for k, w in wrenches.items()})
    own = robot.model.closed_form(q, v, wrenches=wrenches).spatial.tau_ext
    assert error(by_complex.spatial.tau_ext.imag / 1e-30, own) < 1e-13


def test_wrenches_on_frames_and_on_what_is_fixed() -> None:
    place = np.eye(4)
    place[:3, 3] = 0.1, 0.2, 0.3
    builder = jn.Builder()
    builder.add("socket", "world", jn.Fixed(), placement=place, inertia=jn.Inertia(1.0))
    builder.add("arm", "socket", jn.Universal((1, 0, 0), (0, 1, 0)), place, jn.Inertia(1.0, com=(0, 0, 0.1)))
    builder.add("tool", "arm", jn.Fixed(), placement=place)
    robot = builder.build()
    rng = np.random.default_rng(4)
    q, v = rng.normal(size=2), rng.normal(size=(3, 2))
    for frame in FRAMES:
        given = {"wrenches": {n: rng.normal(size=(2, 6)) for n in ("socket", "arm", "tool")}, "wrench_frame": frame}
        form, truth = robot.closed_form(q, v, **given), robot.inverse_dynamics(q, v, **given)
        for n in range(2):
            assert error(form.body.torque(n), truth[n]) < 1e-12
        assert error(form.spatial.torque_rate(), truth[1]) < 1e-12
    alone = robot.closed_form(q, v, wrenches={"socket": np.ones(6)})
    assert not alone.body.external_torque().any()


def test_bad_wrenches() -> None:
    robot = jn.robots.aerial_manipulator()
    q, v = robot.neutral(), np.zeros((3, 12))
    for given, message in (
        ({"wrenches": [1.0]}, r"^wrenches must be a dict of name: array, got a list$"),
        ({"wrenches": {"B9": np.zeros(6)}}, r"^no body or frame is named 'B9'"),
        ({"wrenches": {"B2": np.zeros(5)}}, r"^wrenches\['B2'\] has shape \(5,\), expected \(6,\) or \(rows, 6\)$"),
        ({"wrenches": {"B2": np.zeros((0, 6))}}, r"^wrenches\['B2'\] has shape \(0, 6\)"),
        ({"wrenches": {"B2": np.full(6, np.inf)}}, r"^wrenches\['B2'\] is .* expected finite numbers"),
        ({"wrench_frame": "base"}, r"^wrench_frame is 'base', expected 'body', 'world' or 'mixed'$"),
        ({"wrench_frame": 3}, r"^wrench_frame is 3, expected"),
    ):
        with pytest.raises(ValueError, match=message):
            robot.closed_form(q, v, **given)
    form = robot.closed_form(q, v, wrenches={"B2": np.zeros(6)})
    form.spatial.torque(), form.body.torque()
    for missing in (form.spatial.torque_rate, form.spatial.dtau_ext, lambda: form.body.external_torque(1)):
        with pytest.raises(ValueError, match=r"^wrenches\['B2'\] has 1 row, expected 2 or more: this needs its deriv"):
            missing()


# --- paper C's own Coriolis matrix ----------------------------------------------------------------------


def printed_28(tree: TreeSpec, robot: jn.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(21) to (31) literally, angular part first, for a serial chain of joints with one coordinate."""
    n = len(tree.bodies)
    poses = [robot.pose(b.name, q) for b in tree.bodies]
    X, M, A = np.zeros((6 * n, n)), np.zeros((6 * n, 6 * n)), np.eye(6 * n)
    for i, body in enumerate(tree.bodies):
        at, d = slice(6 * i, 6 * i + 6), tilde(body.com)
        pitch = {"revolute": 0.0, "helical": body.pitch}[body.joint]
        X[at, i] = [*body.axis, *(pitch * body.axis)]
        lower = [-body.mass * d, body.mass * np.eye(3)]
        M[at, at] = np.block([[body.inertia - body.mass * d @ d, body.mass * d], lower])
        for j in range(i):
            A[at, 6 * j : 6 * j + 6] = np.linalg.inv(adjoint(poses[i])) @ adjoint(poses[j])
    J = A @ X
    V = J @ v
    a, b = np.zeros_like(M), np.zeros_like(M)
    for i in range(n):
        at = slice(6 * i, 6 * i + 6)
        a[at, at], b[at, at] = bracket(X[at, i] * v[i]), bracket(V[at])
    return J.T @ (-M @ A @ a - b.T @ M) @ J


def test_28_and_30_as_they_are_printed() -> None:
    tree, robot, q, v = case(31, n=7, rows=1, serial=True, joints=("revolute", "helical"))
    form = robot.closed_form(q, v[0]).body
    assert error(form.printed_coriolis_matrix(), printed_28(tree, robot, q, v[0])) < 1e-12
    assert error(form.printed_coriolis_matrix(), form.coriolis_matrix()) > 1e-2


@every_kind
def test_printed_coefficients_give_the_torque(kind: dict) -> None:
    _, robot, q, v = case(32, rows=7, **kind)
    form, truth = robot.closed_form(q, v).body, robot.inverse_dynamics(q, v)
    for n in range(6):
        total = sum(form.printed_P(k, n) @ v[k - 1] for k in range(1, n + 3))
        assert error(total + form.gravity_force(n), truth[n]) < 1e-12, n
    assert (form.printed_P(4, 2) == form.mass_matrix()).all()
    assert (form.printed_P(1, 2) == form.printed_coriolis_matrix(2)).all()
    expected = 2 * form.mass_matrix(1) + form.printed_coriolis_matrix()  # the paper's example: k = 3, n = 2
    assert error(form.printed_P(3, 2), expected) < 1e-15


@pytest.mark.parametrize("kind", [CASES[0], {"n": 6, "floating": True}])
def test_printed_terms_are_derivatives_of_the_ones_before(kind: dict) -> None:
    tree, robot, q, v = case(33, rows=6, **kind)
    now, later = robot.closed_form(q, v).body, robot.closed_form(*a_moment_later(tree, q, v, 1e-30j)).body
    for term in ("printed_C", "printed_coriolis_matrix"):
        for n in range(3):
            rate = getattr(later, term)(n).imag / 1e-30
            assert error(getattr(now, term)(n + 1), rate) < 1e-12, (term, n)
    truth = robot.inverse_dynamics(q, v)
    _, stack = a_moment_later(tree, q, v, 1e-30j)
    for n in range(3):  # the complex coefficients give the torque and its rate
        total = sum(later.printed_P(k, n) @ stack[k - 1] for k in range(1, n + 3)) + later.gravity_force(n)
        assert error(total.real, truth[n]) < 1e-12, n
        assert error(total.imag / 1e-30, truth[n + 1]) < 1e-12, n


def test_the_papers_matrix_is_not_passive_and_ours_is() -> None:
    robot = jounce_model(case(34, n=6, rows=1, serial=True, joints=("revolute",))[0])
    q, v = np.linspace(-1, 1, 6), np.linspace(1, -2, 6)
    form = robot.closed_form(q, v).body
    for C, passive in ((form.coriolis_matrix(), True), (form.printed_coriolis_matrix(), False)):
        assert (error(C + C.T, form.mass_matrix(1)) < 1e-12) == passive
    P, own = robot.torque_coefficients(q, [v, v]), [form.printed_P(k, 0) for k in (1, 2)]
    assert error(P[-1], own[-1]) < 1e-12
    assert error(robot.torque_coefficients(q, [v], 0)[0] @ v, own[0] @ v) < 1e-12
    assert error(robot.torque_coefficients(q, [v], 0)[0], own[0]) > 1e-2


@pytest.mark.parametrize("name", SOFT)
def test_printed_coefficients_of_soft_robots(name: str) -> None:
    robot = SOFT[name]
    rng = np.random.default_rng(35)
    q, v = robot.configuration(rng), robot.rates(rng, (5,))
    form, truth = robot.model.closed_form(q, v).body, robot.model.generalized_inverse_dynamics(q, v)
    for n in range(4):
        total = sum(form.printed_P(k, n) @ v[k - 1] for k in range(1, n + 3))
        assert error(total, truth[n]) < 1e-12, n


def test_bad_orders() -> None:
    form = jn.robots.aerial_manipulator().closed_form(jn.robots.aerial_manipulator().neutral(), np.zeros((2, 12))).body
    for k in (0, 4):
        with pytest.raises(ValueError, match=f"k is {k}, expected 1 to 3"):
            form.printed_P(k, 1)
    with pytest.raises(ValueError, match="n is -1, expected a non-negative order"):
        form.external_torque(-1)
