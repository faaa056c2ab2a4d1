"""Equilibria: textbook elastica and columns, paper D's arm against an independent oracle, and cases with none."""

from __future__ import annotations

import pickle

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

import jounce as jn
from coupled_robots import SOFT
from jounce import soft
from jounce.dynamics import load_path
from kinds import KINDS
from oracles import soft_lagrange
from soft_build import build_soft
from soft_models import SoftSpec, from_reference, random_soft_tree, reference
from time_limits import within

Array = NDArray[np.float64]
LENGTH, RADIUS, YOUNG = 0.8, 0.01, 1e8
BENDING = YOUNG * np.pi * RADIUS**4 / 4  # E I


def cantilever(strain: soft.Strain, count: int) -> jn.Model:
    """Weightless, along z, made of one or more rods; its tip is the frame "tip"."""
    b, parent = jn.Builder(gravity=(0, 0, 0)), "world"
    for i in range(count):
        name = "tip" if i == count - 1 else f"rod {i}"
        b.add(name, parent=parent, body=soft.Rod(LENGTH / count, RADIUS, 1e3, YOUNG, strain=strain, section="line"))
        parent = name
    return b.build()


@pytest.fixture(scope="module")
def beam() -> jn.Model:
    """Its curvature is a polynomial of degree 6."""
    return cantilever(soft.polynomial(6, ("bend_y",)), 1)


def tip(robot: jn.Model, q: Array) -> Array:
    """x, z and the angle from z."""
    T = robot.pose("tip", q)
    return np.array([T[0, 3], T[2, 3], np.arctan2(T[0, 2], T[2, 2])])


def elastica(load: float) -> Array:
    """Tip of a cantilever along z under a force along x, load = P L^2 / E I: E I theta'' = -P cos theta.

    With the tip's angle phi, k^2 = (1 + sin phi) / 2 and sin psi = 1 / (k sqrt 2): sqrt(load) = K(k) - F(psi, k).
    """
    root = mp.sqrt(load)

    def modulus(phi: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
        m = (1 + mp.sin(phi)) / 2
        return m, mp.asin(1 / mp.sqrt(2 * m))

    def excess(phi: mp.mpf) -> mp.mpf:
        m, psi = modulus(phi)
        return mp.ellipk(m) - mp.ellipf(psi, m) - root

    phi = mp.findroot(excess, (mp.mpf("0.1"), mp.mpf("1.5")), solver="anderson")
    m, psi = modulus(phi)
    deflection = 1 - 2 / root * (mp.ellipe(m) - mp.ellipe(psi, m))
    return np.array([LENGTH * deflection, LENGTH * mp.sqrt(2 * mp.sin(phi)) / root, phi], dtype=float)


def sideways(robot: jn.Model, load: float) -> jn.Equilibrium:
    force = load * BENDING / LENGTH**2
    return robot.equilibrium(wrenches={"tip": (force, 0, 0, 0, 0, 0)}, wrench_frame="mixed")


@pytest.mark.parametrize("load", [0.2, 2.0])
def test_elastica(beam: jn.Model, load: float) -> None:
    rest = sideways(beam, load)
    np.testing.assert_allclose(tip(beam, rest.q), elastica(load), rtol=1e-9)
    assert rest.stable
    np.testing.assert_allclose(rest.stiffness, rest.stiffness.T, rtol=0, atol=1e-12 * np.abs(rest.stiffness).max())


def test_short_rods_tend_to_the_elastica() -> None:
    """With constant curvature in each, the error falls with the square of their length."""
    found = []
    for count in (8, 16, 32):
        robot = cantilever(soft.constant_curvature(planar=True, elongation=False), count)
        found.append(tip(robot, sideways(robot, 2.0).q))
    errors = np.array(found) - elastica(2.0)
    np.testing.assert_allclose(errors[:-1] / errors[1:], 4.0, rtol=0.02)
    np.testing.assert_allclose((4 * found[2] - found[1]) / 3, elastica(2.0), rtol=1e-6)


@pytest.mark.parametrize(("part", "stable"), [(0.99, True), (1.01, False)])
def test_column_buckles_at_eulers_load(beam: jn.Model, part: float, stable: bool) -> None:
    force = part * BENDING * (np.pi / 2 / LENGTH) ** 2
    rest = beam.equilibrium(wrenches={"tip": (0, 0, -force, 0, 0, 0)}, wrench_frame="mixed", branch="any")
    np.testing.assert_allclose(rest.q, 0, atol=1e-12)  # straight, on the path through the bifurcation
    assert rest.stable is stable


def test_buckled_column(beam: jn.Model) -> None:
    """From a bent start: sqrt(P L^2 / E I) = K(sin(phi / 2)), with phi the tip's angle."""
    angle = 1.2
    root = mp.ellipk(mp.sin(angle / 2) ** 2)
    force = float(root**2) * BENDING / LENGTH**2
    bent = np.zeros(beam.nv)
    bent[0] = 1.0
    rest = beam.equilibrium(q0=bent, wrenches={"tip": (0, 0, -force, 0, 0, 0)}, wrench_frame="mixed")
    assert rest.stable
    across = 2 * LENGTH * np.sin(angle / 2) / float(root)
    np.testing.assert_allclose(tip(beam, rest.q)[[0, 2]], [across, angle], rtol=1e-8)


@pytest.mark.parametrize(("load", "stable"), [(19.9, True), (20.2, False)])
def test_column_under_a_load_that_follows_it_flutters(beam: jn.Model, load: float, stable: bool) -> None:
    """Beck's column: it never buckles, but flutters from 20.05 E I / L^2 on, which only the linearization shows."""
    rest = beam.equilibrium(wrenches={"tip": (0, 0, -load * BENDING / LENGTH**2, 0, 0, 0)}, branch="any")
    np.testing.assert_allclose(rest.q, 0, atol=1e-12)
    assert rest.stable is stable


# Paper D, Simulation 1

ENTRY = reference()["equilibria"]["simulation1_tenth_of_the_pressure"]
PRESSURES = 10 * np.array(ENTRY["u"])  # the paper's


@pytest.fixture(scope="module")
def arm() -> tuple[SoftSpec, jn.Model]:
    spec = from_reference(ENTRY)
    return spec, build_soft(spec, exact_nodes=True)


def unbalanced(spec: SoftSpec, q: Array, u: Array) -> Array:
    """By virtual work on material points, sharing no code with the library; relative to the pressures' forces."""
    pushed = soft_lagrange.pressure_force(spec, q, u)[1]
    return (soft_lagrange.inverse_dynamics(spec, q, np.zeros((2, spec.nv)))[0] - pushed) / np.abs(pushed).max()


def test_arm_of_paper_d(arm: tuple[SoftSpec, jn.Model]) -> None:
    _, robot = arm
    rest = robot.equilibrium(ENTRY["u"])
    assert rest.stable
    np.testing.assert_allclose(rest.q, ENTRY["q"], rtol=0, atol=1e-11)
    np.testing.assert_allclose(robot.pose("m2", rest.q)[:3, 3], ENTRY["tip"], rtol=0, atol=1e-11)


def test_arm_of_paper_d_gives_way(arm: tuple[SoftSpec, jn.Model]) -> None:
    """There is no equilibrium at the printed pressures, nor from 0.1287 of them on: the path turns back there."""
    spec, robot = arm
    with pytest.raises(jn.NoEquilibrium, match=r"no equilibrium found beyond 0.1287 of the load: ") as failure:
        robot.equilibrium(PRESSURES)
    last = failure.value
    assert last.part == pytest.approx(0.1287, rel=1e-3)
    assert np.abs(unbalanced(spec, last.q, last.part * PRESSURES)).max() < 1e-9
    near = [robot.equilibrium(part * PRESSURES).stiffness for part in (0.1, 0.127, 0.1286)]
    scale = np.sqrt(np.diagonal(robot.mass_matrix(last.q)))
    least = np.array([np.linalg.eigvalsh(K / scale / scale[:, None])[0] for K in near])
    assert (least > 0).all()
    assert (np.diff(least) < 0).all()
    assert least[-1] < 0.3 * least[0]


def test_buckled_rods_of_paper_d() -> None:
    """Simulation 2's two rods stand upright and bend over under their weight, in any direction; straight, they fall."""
    entry = reference()["equilibria"]["simulation2_at_0.666_MPa"]
    robot = build_soft(from_reference(entry))
    bent = robot.equilibrium(q0=1.02 * np.array(entry["q"]))
    np.testing.assert_allclose(robot.pose("m1", bent.q)[:3, 3], entry["tip"], rtol=0, atol=1e-7)
    straight = robot.equilibrium(branch="any")
    np.testing.assert_allclose(straight.q[[0, 1, 2, 3, 5, 6, 7, 8]], 0, atol=1e-9)
    least = [np.linalg.eigvalsh(rest.stiffness)[0] for rest in (bent, straight)]
    assert abs(least[0]) < 1e-12  # turning about the vertical takes no force
    assert least[1] < -0.01
    assert not straight.stable


# Rigid robots, and the meaning of the numbers


def pendulum(joint: jn.Joint) -> jn.Model:
    b = jn.Builder()
    b.add("arm", "world", joint=joint, inertia=jn.Inertia(2.0, com=(0.3, 0, 0), rotational=(0.01, 0.02, 0.02)))
    return b.build()


def test_pendulum_with_a_spring() -> None:
    """stiffness (q - rest) = m g c cos q - tau, turning down from x."""
    robot = pendulum(jn.Revolute((0, 1, 0), stiffness=4.0, rest=-0.5))
    rest = robot.equilibrium(tau=[1.0])
    weight = 2.0 * 9.81 * 0.3
    assert rest.stable
    angle = float(mp.findroot(lambda q: 4.0 * (q + 0.5) - weight * mp.cos(q) - 1.0, 0.5))
    np.testing.assert_allclose(rest.q, [angle], rtol=1e-12)
    np.testing.assert_allclose(rest.stiffness, [[4.0 + weight * np.sin(angle)]], rtol=1e-12)


@pytest.mark.parametrize(("start", "end", "stable"), [(1.0, np.pi / 2, True), (-1.4, -np.pi / 2, False)])
def test_pendulum_without_one(start: float, end: float, stable: bool) -> None:
    rest = pendulum(jn.Revolute((0, 1, 0))).equilibrium(q0=[start])
    np.testing.assert_allclose(rest.q, [end], rtol=1e-12)
    assert rest.stable is stable


def test_ball_joint_with_a_torsion_spring() -> None:
    """It turns about y by the same angle as the revolute joint."""
    ball = pendulum(jn.Spherical(stiffness=20.0)).equilibrium()
    hinge = pendulum(jn.Revolute((0, 1, 0), stiffness=20.0)).equilibrium()
    half = hinge.q[0] / 2
    np.testing.assert_allclose(ball.q, [0, np.sin(half), 0, np.cos(half)], atol=1e-12)
    assert ball.stable
    assert hinge.stable


def test_hovering() -> None:
    """Neither weight nor lift alone has an equilibrium; no position is preferred, so it is not stable."""
    b = jn.Builder()
    b.add("base", "world", joint=jn.Free(), inertia=jn.Inertia(1.0, rotational=(0.1, 0.1, 0.1)))
    rod = soft.Rod(0.4, 0.01, 1e3, 1e6, strain=soft.constant_curvature())
    b.add("tail", parent="base", placement=down(), body=rod)
    robot = b.build()
    lift = np.zeros(robot.nv)
    lift[2] = 9.81 * (1.0 + rod.mass)
    rest = robot.equilibrium(tau=lift)
    np.testing.assert_allclose(rest.residual, 0, atol=1e-12)
    assert rest.q[-1] > 0  # the tail hangs and is longer
    assert not rest.stable
    with pytest.raises(jn.NoEquilibrium, match="beyond 0 of weight and load"):
        robot.equilibrium(tau=0.9 * lift)
    with pytest.raises(jn.NoEquilibrium, match="beyond 0 of the weight"):
        robot.equilibrium()


def down() -> Array:
    return np.diag([1.0, -1.0, -1.0, 1.0])


def test_stiff_rods_tend_to_the_rigid_body() -> None:
    """A horizontal rod on a sprung hinge: the hinge's angle is that of a rigid body of the same mass."""
    angles = []
    for young in (1e8, 1e9, 1e13):
        b = jn.Builder()
        rod = soft.Rod(0.5, 0.02, 1e3, young, strain=soft.constant_curvature())
        turned = np.array([[0.0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]])  # the rod's z along x
        b.add("hinge", "world", joint=jn.Revolute((0, 1, 0), stiffness=3.0))
        b.add("rod", parent="hinge", placement=turned, body=rod)
        angles.append(b.build(allow_massless=True).equilibrium().q[0])
    rigid = float(mp.findroot(lambda q: 3.0 * q - rod.mass * 9.81 * 0.25 * mp.cos(q), 0.3))
    errors = np.abs(np.array(angles) - rigid)
    assert errors[2] < 2e-8
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.05)


@pytest.mark.parametrize("wrench_frame", ["body", "world", "mixed"])
def test_stiffness_is_the_derivative_of_the_forces(wrench_frame: str) -> None:
    """Against fourth-order differences of forces, on a floating tree of all modules with all kinds of loads."""
    rng = np.random.default_rng(3)
    robot = build_soft(random_soft_tree(rng, ("revolute", "spatial", "variable radius", "rigid"), floating=True))
    q, tau, w = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=6)
    u = 1e4 * rng.normal(size=len(robot.input_names))
    loads = load_path.Statics(robot, u, tau, {"m3": w}, wrench_frame, robot.neutral())
    rest, h = np.zeros(robot.nv), 1e-3

    def balance(q: Array) -> Array:
        given = robot.inverse_dynamics(q, rest, rest, wrenches={"m3": w}, wrench_frame=wrench_frame)
        return given - robot.actuation_matrix(q) @ u - tau

    forces = loads.forces(q)
    np.testing.assert_allclose(forces.F.sum(axis=0), balance(q), rtol=1e-10, atol=1e-10)
    for i in range(robot.nv):
        at = [balance(robot.integrate(q, k * h * np.eye(robot.nv)[i])) for k in (-2, -1, 1, 2)]
        slope = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)
        scale = np.abs(forces.K).max(axis=(0, 1))[i]
        np.testing.assert_allclose(forces.K.sum(axis=0)[:, i], slope, rtol=0, atol=1e-7 * scale + 1e-10)


def test_a_rigid_robot_without_loads() -> None:
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("arm", "world", joint=jn.Revolute((0, 1, 0), stiffness=1.0), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    rest = b.build().equilibrium()
    assert repr(rest) == "<jounce.Equilibrium: stable, 1 iteration, nq = 1>"
    assert rest.q == 0.0


ANGLES = {"shoulder": 0.7, "elbow": -1.1}
LINK = jn.Inertia(2.0, com=(0, 0.01, 0.15), rotational=(0.02, 0.02, 0.002))


def soft_arm(fixed: bool) -> jn.Model:
    """A tentacle at the end of two links; their joints, or links that stand at `ANGLES`."""
    b, parent, place = jn.Builder(), "world", np.eye(4)
    for name, angle in ANGLES.items():
        c, s = np.cos(angle), np.sin(angle)
        turned = np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]])
        joint = jn.Fixed() if fixed else jn.Revolute((0, 1, 0))
        b.add(name, parent, joint, place @ turned if fixed else place, inertia=LINK)
        parent, place = name, place.copy()
        place[2, 3] = 0.3
    wires = [soft.Tendon("front", (0.008, 0.0))]
    b.add("tentacle", parent, None, place, body=soft.Rod(0.3, 0.01, 1000.0, 4e6, actuators=wires))
    return b.build()


def test_a_soft_arm_on_links_that_are_held() -> None:
    """As if the joints were welded there; and they bear the weight of all that hangs on them, by its lever arm."""
    robot, welded, load = soft_arm(fixed=False), soft_arm(fixed=True), [0.5]
    rest, expected = robot.equilibrium(load, held=ANGLES), welded.equilibrium(load)
    np.testing.assert_array_equal(rest.q[:2], list(ANGLES.values()))
    np.testing.assert_allclose(rest.q[2:], expected.q, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(rest.stiffness[2:, 2:], expected.stiffness, rtol=1e-9, atol=1e-12)
    assert rest.stable
    assert np.abs(rest.residual).max() < 1e-9
    at = robot.pose("shoulder", rest.q)[:3, 3], robot.pose("elbow", rest.q)[:3, 3]
    weights = [(2.0, (robot.pose(name, rest.q) @ [0, 0.01, 0.15, 1])[:3]) for name in ANGLES]
    rod = np.pi * 0.01**2 * 0.3 * 1000.0
    spine = robot.backbone("tentacle", rest.q, 0.15 + 0.15 * np.polynomial.legendre.leggauss(16)[0])[:, :3, 3]
    weights.append((rod, np.polynomial.legendre.leggauss(16)[1] @ spine / 2))
    for i, name in enumerate(ANGLES):  # the moment about y that balances the weight: y . (r x m g e_z)
        moment = -sum(9.81 * m * (c - at[i])[0] for m, c in weights[i:])
        np.testing.assert_allclose(rest.reactions[name], moment, rtol=1e-9)


def test_names_hold_joints_where_they_start() -> None:
    robot = soft_arm(fixed=False)
    start = robot.neutral()
    start[:2] = list(ANGLES.values())
    by_name, by_value = robot.equilibrium(q0=start, held=list(ANGLES)), robot.equilibrium(held=ANGLES)
    np.testing.assert_allclose(by_name.q, by_value.q, rtol=1e-8)
    np.testing.assert_array_equal(robot.equilibrium(held=["shoulder", "elbow"]).q[:2], 0.0)
    whole = robot.equilibrium(held=robot.joint_names)  # even the soft body
    assert whole.stable
    np.testing.assert_array_equal(whole.q, 0.0)
    np.testing.assert_allclose(
        np.concatenate([whole.reactions[name] for name in robot.joint_names]),
        robot.inverse_dynamics(whole.q, *np.zeros((2, robot.nv))), rtol=1e-12, atol=1e-12,
    )  # fmt: skip


def test_a_base_that_is_held_and_the_force_that_adds_to_tau() -> None:
    b = jn.Builder()
    b.add("base", "world", jn.Free(), inertia=jn.Inertia(3.0, com=(0.1, 0, 0), rotational=(1, 1, 1)))
    b.add("rod", "base", body=soft.Rod(0.3, 0.01, 1000.0, 1e6))
    robot = b.build()
    with pytest.raises(jn.NoEquilibrium, match="nothing holds joint 'base': no stiffness and no constraint") as caught:
        robot.equilibrium()
    assert caught.value.loose == ("base",)
    turn = np.array([0.0, np.sin(0.3), 0.0, np.cos(0.3)])
    rest = robot.equilibrium(held={"base": [1.0, 2.0, 3.0, *turn]})
    np.testing.assert_allclose(rest.q[:7], [1.0, 2.0, 3.0, *turn], rtol=1e-15)
    mass = 3.0 + np.pi * 0.01**2 * 0.3 * 1000.0
    R = robot.pose("base", rest.q)[:3, :3]
    np.testing.assert_allclose(rest.reactions["base"][:3], R.T @ [0, 0, 9.81 * mass], rtol=1e-9, atol=1e-9)
    lift = np.zeros(robot.nv)
    lift[:3] = [1.0, 2.0, 5.0]
    less = robot.equilibrium(held={"base": rest.q[:7]}, tau=lift).reactions["base"]
    np.testing.assert_allclose(rest.reactions["base"][:3] - less[:3], [1.0, 2.0, 5.0], rtol=1e-9)


def test_joints_of_a_robot_without_any_stiffness_are_named() -> None:
    robot = jn.robots.panda()
    with pytest.raises(jn.NoEquilibrium, match="no stiffness and no constraint; hold with held=, or start") as caught:
        robot.equilibrium()
    assert caught.value.loose == ("q2", "q4", "q6")  # the others turn about vertical axes
    b = jn.Builder()
    b.add("rod", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, com=(0.1, 0, -0.3)))
    with pytest.raises(jn.NoEquilibrium, match="nothing holds joint 'rod'"):
        b.build().equilibrium()
    np.testing.assert_allclose(b.build().equilibrium(q0=[0.0]).q, np.arctan2(0.1, 0.3), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_held_joints_of_any_robot(kind: str) -> None:
    """With all joints held, the forces at rest are what holds them, less what the constraints bear."""
    robot = KINDS[kind].model
    q0 = robot.project(robot.neutral()) if robot.constraints else robot.neutral()
    rest = robot.equilibrium(q0=q0, held=robot.joint_names)
    np.testing.assert_allclose(rest.q, q0, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(rest.residual, 0.0)
    left = robot.inverse_dynamics(rest.q, *np.zeros((2, robot.nv)))
    if robot.constraints:
        left = left - robot.constraint_jacobian(rest.q).T @ rest.multipliers
    held = np.concatenate([rest.reactions[name] for name in robot.joint_names])
    np.testing.assert_allclose(held, left, rtol=1e-12, atol=1e-12)


def test_many_loads_at_once() -> None:
    """Each is that alone; what is said, is said once, and of which."""
    robot = pendulum(jn.Revolute((0, 1, 0), stiffness=4.0))
    tau, push = np.linspace(-1, 1, 3)[:, None], np.linspace(0, 1, 2)[:, None, None] * [0, 0, 0, 0, 1.0, 0]
    many = robot.equilibrium(tau=tau, wrenches={"arm": push}, branch="any")
    assert (many.q.shape, many.stiffness.shape) == ((2, 3, 1), (2, 3, 1, 1))
    for i, j in np.ndindex(2, 3):
        alone = robot.equilibrium(tau=tau[j], wrenches={"arm": push[i, 0]}, branch="any")
        for key in ("q", "residual", "stiffness", "stable", "iterations", "multipliers"):
            np.testing.assert_array_equal(getattr(many, key)[i, j], getattr(alone, key))
    assert many.stable.dtype == bool
    assert repr(many) == f"<jounce.Equilibrium: {many.stable.sum()} of 6 stable, q (2, 3, 1)>"
    assert "the first of 2 × 3 states" in many._repr_html_()
    held = robot.equilibrium(held={"arm": np.linspace(-1, 1, 5)[:, None]})
    np.testing.assert_array_equal(held.q[:, 0], np.linspace(-1, 1, 5))
    assert held.reactions["arm"].shape == (5, 1)
    empty = robot.equilibrium(tau=tau[:0], held=["arm"])
    assert (empty.q.shape, empty.reactions["arm"].shape) == ((0, 1), (0, 1))
    assert "0 of 0 stable" in empty._repr_html_()
    with pytest.raises(ValueError, match=r"do not broadcast: u \(\), tau \(3,\), q0 \(\), wrenches\['arm'\] \(2,\)"):
        robot.equilibrium(tau=tau, wrenches={"arm": push[:, 0]})
    loose = pendulum(jn.Revolute((0, 1, 0)))
    with pytest.raises(jn.NoEquilibrium, match=r"beyond 0\.11.* of the way from q0 to rest, in state 1: ") as caught:
        loose.equilibrium(tau=[[0.0], [100.0]], q0=[0.1])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_bad_input() -> None:
    robot = pendulum(jn.Revolute((0, 1, 0), stiffness=4.0))
    with pytest.raises(ValueError, match=r"u has shape \(1,\), expected \(\.\.\., 0\)"):
        robot.equilibrium([1.0])
    with pytest.raises(ValueError, match=r"tau has shape \(2,\), expected \(\.\.\., 1\)"):
        robot.equilibrium(tau=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"q0 is \[nan\], expected finite numbers"):
        robot.equilibrium(q0=[np.nan])
    with pytest.raises(ValueError, match=r"wrenches\['arm'\] has shape \(3,\), expected \(\.\.\., 6\)"):
        robot.equilibrium(wrenches={"arm": [1.0, 2.0, 3.0]})
    for held in (5, None, "arm"):
        with pytest.raises(ValueError, match=rf"held is {held!r}, expected names of joints, or a dict"):
            robot.equilibrium(held=held)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"held: no joint is named 'amr': did you mean 'arm'\?"):
        robot.equilibrium(held=["amr"])
    with pytest.raises(ValueError, match=r"held\['arm'\] has shape \(2,\), expected \(\.\.\., 1\) or a number"):
        robot.equilibrium(held={"arm": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"held\['arm'\] is nan, expected finite numbers"):
        robot.equilibrium(held={"arm": np.nan})
    with pytest.raises(ValueError, match="wrist"):
        robot.equilibrium(wrenches={"wrist": np.ones(6)})
    with pytest.raises(ValueError, match="wrench_frame"):
        robot.equilibrium(wrenches={"arm": np.ones(6)}, wrench_frame="sideways")


def test_a_load_that_takes_for_ever() -> None:
    """A spring that would wind up some hundred times: the error comes soon and says how far it got."""
    robot = KINDS["rigid"].model
    push = {"zero": np.array([78354.0, 117202.0, -32621.0, -121012.0, 45505.0, -3309.0])}
    said = r"of the load: after 2000 steps the robot still has far to go$"
    with within(10), pytest.raises(jn.NoEquilibrium, match=said) as caught:
        robot.equilibrium(wrenches=push, wrench_frame="world")
    assert 0 < caught.value.part < 1
    assert np.abs(caught.value.q).max() > 100
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_load_that_is_none() -> None:
    """From an equilibrium, a load hidden by rounding leads to the same one: its steps do not shrink, they are noise."""
    robot = SOFT["rod of polynomial strain"].model
    rest = robot.equilibrium()
    for size in 10.0 ** -np.arange(10.0, 300.0, 3.0):
        found = robot.equilibrium(tau=[-4.3 * size, 1.3 * size, -1.8 * size])
        np.testing.assert_allclose(found.q, rest.q, rtol=1e-6)


def test_a_configuration_that_is_given_as_inputs_is_said_to_be_q0() -> None:
    robot = jn.robots.panda()
    with pytest.raises(ValueError, match=r"^u has shape \(7,\), expected \(\.\.\., 0\), the inputs of soft .* is q0=$"):
        robot.equilibrium(robot.neutral())
