"""The linearization of paper B: its own validation, and how perturbations of the nonlinear robot actually move."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest

import jounce as jn
from build import joint_of, jounce_model
from jounce_lab.reproduce import nine_joints
from oracles import paper_b
from trees import ONE_DOF, TreeSpec, random_body, random_configuration, random_stack, random_tree

FRAMES = ("body", "world", "mixed")


def off(result: np.ndarray, truth: np.ndarray) -> float:
    """Relative to the largest entry."""
    assert result.shape == truth.shape
    return float(np.abs(result - truth).max() / np.abs(truth).max())


# --- paper B -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_against_propositions_1_and_3(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 12, floating=True, joints=ONE_DOF)
    robot, q = jounce_model(tree), random_configuration(rng, tree)
    v, a = random_stack(rng, tree, 2)
    lin = robot.linearize(q, v, robot.inverse_dynamics(q, v, a), actuated=robot.joint_names[1:])
    A, B = paper_b.linearization(tree, q, v, a)
    assert off(lin.A, A) < 1e-11
    assert off(lin.B, B) < 1e-11
    np.testing.assert_allclose(lin.acceleration, a, rtol=1e-9, atol=1e-9)


def test_section_5() -> None:
    """Nine joints, 100 random robots and states, delta = 1e-6: errors within those published, (88)-(91)."""
    largest, average = (e[0] for e in nine_joints.difference_errors([1e-6], 100))
    assert (largest < nine_joints.PUBLISHED_MAX).all(), largest
    assert (average < nine_joints.PUBLISHED_AVG).all(), average
    assert (average > 1e-7).all()  # a one-sided difference cannot be better


def test_figure_5() -> None:
    """Halving delta halves the error of the differences until rounding, eps / delta, takes over: a V."""
    deltas = 10.0 ** -np.arange(1, 13)
    for curve in nine_joints.difference_errors(list(deltas), 25):
        left, right = curve[1:6], curve[8:]  # 1e-2 to 1e-6, 1e-9 to 1e-12
        np.testing.assert_allclose(left[1:] / left[:-1], 0.1, rtol=0.05)
        steps = right[1:] / right[:-1]  # due to rounding, so random; less so for all three together
        assert ((steps > 3) & (steps < 30)).all()
        total = steps.prod(axis=0)
        assert ((total > 300) & (total < 3000)).all()
        assert (curve[6:8].min(axis=0) < 1e-5).all()
        assert set(curve.argmin(axis=0)) <= {6, 7}  # the best step is 1e-7 or 1e-8


# --- what the columns mean -----------------------------------------------------------------------------


class Perturbed:
    """Exact rates of perturbations of a robot, in the coordinates of a frame, by differences over the perturbation.

    The displacement of a free body at H is d with [d] = H^-1 dH (body), dH H^-1 (world), or has as halves the shift dx
    and the rotation dR R^T (mixed); that of a ball is [d] = R^T dR, that of plain coordinates dq. Its rate is the time
    derivative of that product, with H' of the perturbed motion. The velocity's rate is the change of the acceleration.
    """

    def __init__(self, tree: TreeSpec, robot: jn.Model, q: np.ndarray, frame: str, **wrenches) -> None:
        self.robot, self.q, self.frame, self.wrenches = robot, q, frame, wrenches
        self.balls = [
            (body.joint, robot.coordinate(body.name), i, body.parent)
            for i, body in enumerate(tree.bodies)
            if body.joint in ("free", "spherical")
        ]

    def to_body(self) -> np.ndarray:
        """T, with dq = T d."""
        T, poses = np.eye(self.robot.nv), self.poses(self.q, np.zeros(self.robot.nv))[0]
        for kind, at, i, parent in self.balls:
            if kind == "free" and self.frame == "world":
                T[at, at] = paper_b.transform(np.linalg.inv(_relative(poses, i, parent)))
            if kind == "free" and self.frame == "mixed":
                T[at, at] = np.kron(np.eye(2), _relative(poses, i, parent)[:3, :3].T)
        return T

    def poses(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Poses and their rates, (..., 2, nbodies, 4, 4)."""
        return self.robot.pose_derivatives(q, v[..., None, :], frame=self.frame)

    def rates(self, v: np.ndarray, tau: np.ndarray, d: np.ndarray, dv: np.ndarray, dtau: np.ndarray) -> np.ndarray:
        """Rates of displacement and velocity, (..., 2 nv), for perturbations d, dv and dtau (..., nv)."""
        body_d = d @ self.to_body().T

        def at(step: float) -> tuple[np.ndarray, np.ndarray]:
            q, u = self.robot.integrate(self.q, step * body_d), v + step * dv
            acc = self.robot.forward_dynamics(q, u, tau + step * dtau, frame=self.frame, **self.wrenches)
            return self.poses(q, u), acc

        h = 1e-3
        ends = [at(k * h) for k in (1, -1, 2, -2, 3, -3)]
        dH, dacc = (
            (45 * (p[0] - p[1]) - 9 * (p[2] - p[3]) + (p[4] - p[5])) / (60 * h) for p in zip(*ends, strict=True)
        )
        H = self.poses(self.q, v)
        result = np.concatenate([dv + 0 * d, dacc], axis=-1)
        for kind, columns, i, parent in self.balls:
            own, change = _relative_rates(H, dH, i, parent)
            result[..., columns] = self.displacement_rate(kind, own, change)
        return result

    def displacement_rate(self, kind: str, H: np.ndarray, dH: np.ndarray) -> np.ndarray:
        (pose, rate), (dpose, drate) = H, (dH[..., 0, :, :], dH[..., 1, :, :])
        inverse = np.linalg.inv(pose)
        if kind == "spherical" or self.frame == "body":  # (H^-1 dH)'
            return _vee(inverse @ drate - inverse @ rate @ inverse @ dpose)[..., -6 if kind == "free" else -3 :]
        right = _vee(drate @ inverse - dpose @ inverse @ rate @ inverse)  # (dH H^-1)'
        if self.frame == "mixed":
            right[..., :3] = drate[..., :3, 3]
        return right


def _relative(poses: np.ndarray, i: int, parent: int) -> np.ndarray:
    return poses[..., i, :, :] if parent < 0 else np.linalg.inv(poses[..., parent, :, :]) @ poses[..., i, :, :]


def _relative_rates(H: np.ndarray, dH: np.ndarray, i: int, parent: int) -> tuple[np.ndarray, np.ndarray]:
    """Pose in the parent and its rate, and their perturbations, by the product rule on parent @ own = body."""
    body, dbody = H[:, i], dH[..., i, :, :]
    if parent < 0:
        return body, dbody
    above, dabove = H[:, parent], dH[..., parent, :, :]
    back = np.linalg.inv(above[0])
    own = back @ body[0]
    rate = back @ (body[1] - above[1] @ own)
    down = back @ (dbody[..., 0, :, :] - dabove[..., 0, :, :] @ own)
    drate = back @ (dbody[..., 1, :, :] - dabove[..., 1, :, :] @ own - above[1] @ down - dabove[..., 0, :, :] @ rate)
    return np.stack([own, rate]), np.stack([down, drate], axis=-3)


def _vee(a: np.ndarray) -> np.ndarray:
    return np.stack([a[..., 0, 3], a[..., 1, 3], a[..., 2, 3], a[..., 2, 1], a[..., 0, 2], a[..., 1, 0]], axis=-1)


def mixed_tree(rng: np.random.Generator, passive: bool = False) -> TreeSpec:
    """A free base not aligned with the world's axes, a free body on another body, balls, and plain joints."""
    kinds = ((-1, "free"), (0, "revolute"), (1, "free"), (0, "spherical"), (2, "planar"), (-1, "helical"))
    return TreeSpec(tuple(random_body(rng, f"b{i}", p, kind, passive) for i, (p, kind) in enumerate(kinds)))


def assert_columns(tree: TreeSpec, robot: jn.Model, q: np.ndarray, rng: np.random.Generator, frame: str, **wrenches):
    """Every column of A and B."""
    n = robot.nv
    v, tau = rng.normal(size=(2, n))
    lin = robot.linearize(q, v, tau, frame=frame, **wrenches)
    perturbed = Perturbed(tree, robot, q, frame, **wrenches)
    one, zero = np.eye(n), np.zeros((n, n))
    columns = perturbed.rates(
        v, tau, np.vstack([one, zero, zero]), np.vstack([zero, one, zero]), np.vstack([zero, zero, one])
    )
    assert off(lin.A, columns[: 2 * n].T) < 1e-8
    assert off(lin.B, columns[2 * n :].T) < 1e-8
    acc = robot.forward_dynamics(q, v, tau, frame=frame, **wrenches)
    np.testing.assert_allclose(lin.acceleration, acc, rtol=1e-9, atol=1e-9 * np.abs(acc).max())


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("passive", [False, True])
def test_columns(frame: str, passive: bool) -> None:
    rng = np.random.default_rng(3)
    tree = mixed_tree(rng, passive)
    assert_columns(tree, jounce_model(tree), random_configuration(rng, tree), rng, frame)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("wrench_frame", FRAMES)
def test_columns_with_wrenches(frame: str, wrench_frame: str) -> None:
    """The wrenches are held in their own axes, whatever the axes of the base."""
    rng = np.random.default_rng(4)
    tree = mixed_tree(rng)
    wrenches = {"b0": rng.normal(size=6), "b4": rng.normal(size=6)}
    q = random_configuration(rng, tree)
    assert_columns(tree, jounce_model(tree), q, rng, frame, wrenches=wrenches, wrench_frame=wrench_frame)


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_where_joints_follow_others(frame: str) -> None:
    rng = np.random.default_rng(5)
    kinds = ((-1, "free"), (0, "revolute"), (1, "prismatic"), (2, "spherical"))
    bodies = tuple(random_body(rng, f"b{i}", p, kind, passive=True) for i, (p, kind) in enumerate(kinds))
    tree, builder = TreeSpec(bodies), jn.Builder()
    for body in bodies:
        joint = joint_of(body)
        if body.joint == "prismatic":
            joint = jn.Prismatic(body.axis, stiffness=body.stiffness, follows=jn.Follow("b1", 0.7, 0.2))
        parent = "world" if body.parent < 0 else bodies[body.parent].name
        builder.add(body.name, parent, joint, body.placement, jn.Inertia(body.mass, body.com, body.inertia))
    robot = builder.build()
    assert_columns(tree, robot, robot.random_configuration(rng), rng, frame)


def test_frames_are_not_the_same() -> None:
    rng = np.random.default_rng(6)
    tree = mixed_tree(rng)
    robot, q = jounce_model(tree), random_configuration(rng, tree)
    v, tau = rng.normal(size=(2, robot.nv))
    found = [robot.linearize(q, v, tau, frame=frame).A for frame in FRAMES]
    assert min(np.abs(found[i] - found[i - 1]).max() for i in range(3)) > 0.1


def test_a_robot_without_free_joints_is_the_same_in_all_frames() -> None:
    rng = np.random.default_rng(7)
    tree = random_tree(rng, 5, joints=("revolute", "spherical", "universal"))
    robot, q = jounce_model(tree), random_configuration(rng, tree)
    v, tau = rng.normal(size=(2, robot.nv))
    body, *others = (robot.linearize(q, v, tau, frame=frame) for frame in FRAMES)
    for other in others:
        np.testing.assert_allclose(other.A, body.A, rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(other.B, body.B, rtol=1e-12, atol=1e-10)


def test_nearby_simulations_part_as_the_linear_system_says() -> None:
    """z' = A(t) z along a motion, with A at each instant, ends at the difference of two simulations."""
    rng = np.random.default_rng(8)
    bodies = tuple(random_body(rng, f"b{i}", i - 1, kind) for i, kind in enumerate(("free", "revolute", "spherical")))
    robot = jounce_model(TreeSpec(bodies))
    q0, v0 = robot.random_configuration(rng), rng.normal(size=robot.nv)
    tau, n = 0.1 * rng.normal(size=robot.nv), robot.nv
    h, steps = 0.2 / 40, 40
    accurate = {"rtol": 1e-13, "atol": 1e-14}
    path = jn.simulate(robot, q0, v0, h / 2 * np.arange(2 * steps + 1), tau, **accurate)
    A = robot.linearize(path.q, path.v, tau).A
    directions = rng.normal(size=(2 * n, 2))
    z = directions
    for i in range(0, 2 * steps, 2):  # Runge-Kutta
        k1 = A[i] @ z
        k2 = A[i + 1] @ (z + h / 2 * k1)
        k3 = A[i + 1] @ (z + h / 2 * k2)
        k4 = A[i + 2] @ (z + h * k3)
        z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def end(direction: np.ndarray) -> np.ndarray:
        start = robot.integrate(q0, direction[:n]), v0 + direction[n:]
        final = jn.simulate(robot, *start, [0, h * steps], tau, **accurate)
        return np.append(robot.difference(path.q[-1], final.q[-1]), final.v[-1] - path.v[-1])

    step = 1e-3
    for j in range(2):
        d = step * directions[:, j]
        parted = (8 * (end(d) - end(-d)) - (end(2 * d) - end(-2 * d))) / (12 * step)
        assert off(z[:, j], parted) < 1e-7


def test_pendulum() -> None:
    """m l^2 a = tau - m g l sin q - c v, hanging and upright."""
    m, length, c = 2.0, 0.5, 0.3
    builder = jn.Builder()
    builder.add("rod", "world", jn.Revolute((0, 1, 0), damping=c), inertia=jn.Inertia(m, (0, 0, -length)))
    robot = builder.build()
    for q, sign in ((0.0, -1), (np.pi, 1)):
        lin = robot.linearize([q], [0.0], [0.0])
        np.testing.assert_allclose(lin.A, [[0, 1], [sign * 9.81 / length, -c / (m * length**2)]], rtol=0, atol=1e-12)
        np.testing.assert_allclose(lin.B, [[0], [1 / (m * length**2)]], rtol=0, atol=1e-12)


# --- actuation, discretization, batches, errors --------------------------------------------------------


def arm() -> tuple[jn.Model, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(9)
    tree = mixed_tree(rng)
    robot = jounce_model(tree)
    return robot, random_configuration(rng, tree), *rng.normal(size=(2, robot.nv))


def test_actuated() -> None:
    robot, q, v, tau = arm()
    B = robot.linearize(q, v, tau).B
    planar = robot.coordinate("b4")
    columns = [*range(planar.start, planar.stop), 6]
    mask = np.zeros(robot.nv, bool)
    mask[columns] = True
    for given, expected in (
        (["b4", "b1"], columns),
        (("b1",), [6]),
        ("b1", [6]),
        (columns, columns),
        (np.array(columns), columns),
        (mask, sorted(columns)),
        (mask.tolist(), sorted(columns)),
        (None, range(robot.nv)),
    ):
        lin = robot.linearize(q, v, tau, actuated=given)
        assert lin.actuated.tolist() == list(expected)
        np.testing.assert_array_equal(lin.B, B[:, list(expected)])


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (["nobody"], "nobody"),
        ([0, 99], "actuated"),
        ([-1], "actuated"),
        ([True, False], "actuated"),
        ([0.5], "actuated"),
        ([[0, 1]], "actuated"),
    ],
)
def test_actuated_refuses(given: object, match: str) -> None:
    robot, q, v, tau = arm()
    with pytest.raises(ValueError, match=match):
        robot.linearize(q, v, tau, actuated=given)


def test_bad_arguments() -> None:
    robot, q, v, tau = arm()
    with pytest.raises(ValueError, match="q has shape"):
        robot.linearize(q[:-1], v, tau)
    with pytest.raises(ValueError, match="v has shape"):
        robot.linearize(q, v[:-1], tau)
    with pytest.raises(ValueError, match="tau"):
        robot.linearize(q, v, tau[:-1])
    with pytest.raises(ValueError, match="tau"):
        robot.linearize(q, v, np.nan * tau)
    with pytest.raises(ValueError, match="sideways"):
        robot.linearize(q, v, tau, frame="sideways")
    with pytest.raises(ValueError, match="nobody"):
        robot.linearize(q, v, tau, wrenches={"nobody": np.zeros(6)})
    for frame in ("world", "mixed"):
        with pytest.raises(ValueError, match="tau"):
            robot.linearize(q, v, tau[:-1], frame=frame)
        with pytest.raises(ValueError, match="v has shape"):
            robot.linearize(q, v[:-1], tau, frame=frame)


def test_singular_robots_are_refused() -> None:
    builder = jn.Builder()
    builder.add("a", "world", jn.Revolute((0, 0, 1)), inertia=jn.Inertia(1.0, (0, 0, 0.1), np.zeros((3, 3))))
    with pytest.raises(ValueError, match="singular"):
        builder.build().linearize([0.3], [0.1], [0.2])


@pytest.mark.parametrize("frame", FRAMES)
def test_batches_broadcast(frame: str) -> None:
    robot, *_ = arm()
    rng = np.random.default_rng(10)
    q, v = robot.random_configuration(rng, (4, 1)), rng.normal(size=(3, robot.nv))
    tau, wrenches = rng.normal(size=robot.nv), {"b4": rng.normal(size=(4, 3, 6))}
    lin = robot.linearize(q, v, tau, frame=frame, wrenches=wrenches, wrench_frame="mixed", actuated=["b1", "b5"])
    n = robot.nv
    assert lin.A.shape == (4, 3, 2 * n, 2 * n)
    assert lin.B.shape == (4, 3, 2 * n, 2)
    assert lin.q.shape == (4, 3, robot.nq)
    assert lin.v.shape == lin.tau.shape == lin.acceleration.shape == (4, 3, n)
    assert lin.frame == frame
    for i in range(4):
        for j in range(3):
            one = {name: w[i, j] for name, w in wrenches.items()}
            single = robot.linearize(
                q[i, 0], v[j], tau, frame=frame, wrenches=one, wrench_frame="mixed", actuated=["b1", "b5"]
            )
            for key in ("A", "B", "q", "v", "tau", "acceleration"):
                expected = getattr(single, key)
                scale = np.abs(expected).max()
                np.testing.assert_allclose(getattr(lin, key)[i, j], expected, rtol=1e-10, atol=1e-11 * scale)


def test_discretize_against_series() -> None:
    """sum A^k dt^k / k!, and sum A^k B dt^(k+1) / (k+1)!, for one state and for many."""
    pytest.importorskip("scipy")
    robot, q, v, tau = arm()
    dt = 0.01
    lin = robot.linearize(np.stack([q, robot.neutral()]), v, tau, actuated=["b1", "b4"])
    Ad, Bd = lin.discretize(dt)
    assert Ad.shape == lin.A.shape
    assert Bd.shape == lin.B.shape
    for i in range(2):
        power, series_a, series_b = np.eye(2 * robot.nv), 0, 0
        for k in range(30):
            series_a = series_a + power * dt**k / float(factorial(k))
            series_b = series_b + power @ lin.B[i] * dt ** (k + 1) / float(factorial(k + 1))
            power = power @ lin.A[i]
        np.testing.assert_allclose(Ad[i], series_a, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(Bd[i], series_b, rtol=1e-12, atol=1e-13)


def test_discretize_a_mass() -> None:
    pytest.importorskip("scipy")
    builder = jn.Builder(gravity=(0, 0, 0))
    builder.add("a", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(5.0))
    Ad, Bd = builder.build().linearize([0.2], [0.1], [0.0]).discretize(0.5)
    np.testing.assert_allclose(Ad, [[1, 0.5], [0, 1]], rtol=0, atol=1e-15)
    np.testing.assert_allclose(Bd, [[0.5**2 / 2 / 5], [0.5 / 5]], rtol=0, atol=1e-15)


@pytest.mark.parametrize("dt", [0, -1, np.nan, np.inf, "soon"])
def test_discretize_refuses(dt: object) -> None:
    pytest.importorskip("scipy")
    robot, q, v, tau = arm()
    with pytest.raises(ValueError, match="dt"):
        robot.linearize(q, v, tau).discretize(dt)


def test_results_show_as_one_line() -> None:
    robot = jn.robots.aerial_manipulator()
    q, rest = robot.neutral(), np.zeros(robot.nv)
    assert repr(robot.linearize(q, rest, rest)) == "<jounce.Linearization: A (24, 24), B (24, 12)>"
    assert repr(robot.forward_kinematics(q, [rest])) == "<jounce.Kinematics: pose (7, 4, 4), twist (1, 7, 6)>"


@pytest.mark.parametrize("frame", ["world", "mixed"])
def test_fast_motions_in_other_axes(frame: str) -> None:
    """The change of axes is invertible at any speed; for a solver it is singular at some speeds from 1e16 on."""
    robot = jn.robots.quadrotor_arm()
    rng = np.random.default_rng(3)
    for size in 10.0 ** rng.uniform(17, 60, 100):
        q, v = robot.random_configuration(rng), size * rng.normal(size=robot.nv)
        lin = robot.linearize(q, v, np.zeros(robot.nv), frame=frame)
        assert np.isfinite(lin.A).all()
        assert np.isfinite(lin.B).all()
