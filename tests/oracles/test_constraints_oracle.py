"""The oracle of constrained dynamics against laws it does not use: joints of trees, energy, Newton and Euler."""

from __future__ import annotations

from dataclasses import replace
from math import factorial, isqrt

import numpy as np
import pytest

import jounce as jn
from coupled_robots import maker
from loops import JOINTS, KINDS, contact, pose_of, random_tie
from oracles import differentiate, virtual_work
from oracles import virtual_work as exact
from oracles.constraints import Rank, Solution, backward_errors, forward_dynamics, independent, project, rank
from oracles.differentiate import _rounded, _vee
from oracles.mechanisms import RigidRobot, Side, SoftRobot
from oracles.ties import Gear, Tie, block
from oracles.virtual_work import BITS, ONE
from soft_models import Joint, RigidBody, Rod, SoftSpec, constant_basis, constant_curvature
from trees import (
    BodySpec,
    TreeSpec,
    random_axes,
    random_body,
    random_configuration,
    random_inertia,
    random_pose,
    random_stack,
)

pytestmark = pytest.mark.night  # and .ci/run
ORDER = 4
TINY = ONE >> 260  # 1e-78


def robot_with_loops(seed: int, passive: bool = False, base: str = "free") -> tuple[RigidRobot, np.random.Generator]:
    """A base with two arms."""
    rng = np.random.default_rng(seed)
    joints = ((base, -1), ("revolute", 0), ("universal", 1), ("spherical", 2), ("helical", 0), ("planar", 4))
    bodies = tuple(random_body(rng, f"b{i}", parent, kind, passive) for i, (kind, parent) in enumerate(joints))
    return RigidRobot(TreeSpec(bodies)), rng


def tied(
    kind: str, seed: int = 0, world: bool = False, passive: bool = False, base: str = "free"
) -> tuple[RigidRobot, list[Tie], np.ndarray, np.ndarray, np.random.Generator]:
    robot, rng = robot_with_loops(seed, passive, base)
    q = random_configuration(rng, robot.tree)
    ties = [random_tie(rng, robot, q, kind, -1 if world else 3, 5)]
    return robot, ties, *project(robot, ties, q, random_stack(rng, robot.tree, 1)[0]), rng


def largest(x: np.ndarray) -> int:
    return max(abs(int(y)) for y in x.ravel())


def row_errors(found: np.ndarray, truth: np.ndarray) -> float:
    assert found.shape == truth.shape
    return float((np.abs(found - truth).max(axis=1) / np.abs(truth).max(axis=1)).max())


# --- rows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_the_rates_of_what_stays_zero(kind: str) -> None:
    """J v, with J from displacements of frames, is the time derivative: along any motion, at every order."""
    robot, ties, q, _, rng = tied(kind)
    speed = exact._taylor(random_stack(rng, robot.tree, 5))
    one = block(ties[0], robot.frames(q, speed))
    assert largest(exact._mul(one.rows[:5], speed) - one.slip) < TINY
    assert largest(exact._mul(one.position_rows[:5], speed) - exact._rate(one.position)) < TINY  # a wheel's height, too
    assert largest(one.slip) > ONE >> 20


def test_every_kind_has_the_rows_of_its_joint() -> None:
    expected = [6, 5, 5, 5, 4, 4, 3, 3, 1, 1, 2, 3, 3]
    for kind, count in zip(KINDS, expected, strict=True):
        robot, ties, q, v, _ = tied(kind)
        rows = _rounded(block(ties[0], robot.frames(q, v[None])).rows[0])
        assert rows.shape == (count, robot.nv)
        assert np.linalg.matrix_rank(rows) == count


def test_projection_returns_from_afar() -> None:
    robot, ties, q, v, rng = tied("revolute")
    shifted = _rounded(q) + rng.uniform(-0.05, 0.05, len(q))
    q, v = project(robot, ties, shifted, rng.uniform(-1, 1, robot.nv))
    one = block(ties[0], robot.frames(q, v[None]))
    assert max(largest(one.position[0]), largest(one.slip[0])) < TINY


# --- ranks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(1.0, 1.0), (1e-8, 1e3), (1e8, 1e-9)], ids=str)
@pytest.mark.parametrize(
    ("left", "expected"), [(1e-4, Rank([0, 1], [])), (1e-8, Rank([0, 1], [1])), (1e-14, Rank([0], []))]
)
def test_what_is_left_of_a_row_decides_in_natural_sizes(
    left: float, expected: Rank, sizes: tuple[float, float]
) -> None:
    scale = np.outer([1.0, sizes[0]], [1.0, sizes[1]])
    rows = np.array([[1.0, 1.0], [0.5, 0.5 + left]]) * scale
    found = independent(exact._fixed(rows), scale)
    assert len(found.kept) == len(expected.kept)
    assert len(found.doubtful) == len(expected.doubtful)


def test_rows_that_are_made_of_nothing_are_dependent() -> None:
    rows = np.array([[0.0, 0.0], [1.0, 2.0]])
    assert independent(exact._fixed(rows), np.abs(rows)) == Rank([1], [])
    assert independent(exact._fixed(rows[:0]), rows[:0]) == Rank([], [])


@pytest.mark.parametrize("ratio", [1e-6, 1.0, 1e8])
@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_neither_units_nor_gears_change_a_rank(length: float, ratio: float) -> None:
    """Four bars in a plane that is oblique to all axes, and a motor: two rows of five are needed, and the gear's."""
    rng = np.random.default_rng(3)
    x, axis = random_axes(rng)
    spec = random_body(rng, "a", -1, "revolute")
    places = [pose_of(np.eye(3), length * d * x) for d in (0.0, 1.0, 2.0)]
    bodies = [replace(spec, name=f"b{i}", parent=i - 1, axis=axis, placement=place) for i, place in enumerate(places)]
    robot = RigidRobot(TreeSpec((*bodies, replace(spec, name="motor"))))
    q = np.array([0.4, 1.1, 0.7, 0.0])
    end = Side(2, pose_of(np.eye(3), length * 0.5 * x))
    there = _rounded(robot.frames(q, np.zeros((1, 4), dtype=object)).pose(end)[0])
    pin = Tie("revolute", Side(-1, pose_of(np.eye(3), there[:3, 3])), end, axis=axis)
    found = rank(robot, [pin, Gear(0, 3, (0.0, ratio))], q)
    assert len(found.kept) == 3
    assert not found.doubtful


# --- mass ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["passive", "followers", "soft"])
def test_the_mass_matrix_is_the_force_of_unit_accelerations(kind: str) -> None:
    """At rest: M is computed from displacements, the forces along a motion."""
    rng = np.random.default_rng(2)
    if kind == "soft":
        robot, q = SoftRobot(two_fingers()), rng.uniform(-0.3, 0.3, 7)
    elif kind == "passive":
        robot = robot_with_loops(1, passive=True)[0]
        q = random_configuration(rng, robot.tree)
    else:
        coupled = maker(5).add("a", "world", "revolute").add("b", "a", "helical", follows=jn.Follow("a", 1.5)).robot()
        robot, q = RigidRobot(coupled.tree, coupled), coupled.configuration(rng)
    q, speed = exact._fixed(q), np.zeros((2, robot.nv), dtype=object)
    still, M = robot.frames(q, speed).forces({})[0], robot.mass_matrix(q)
    for j in range(robot.nv):
        speed[1], speed[1, j] = 0, ONE
        assert largest(robot.frames(q, speed).forces({})[0] - still - M[:, j]) < TINY


# --- trees with the joint -----------------------------------------------------------------------------------

# Chains of joints on massless bodies that let B move in A as the tie does, and where each is on the previous one.
CHAINS = {kind: [kind] for kind in JOINTS}
CHAINS |= {"on line": ["prismatic", "spherical"], "on plane": ["prismatic", "prismatic", "spherical"]}
CHAINS |= {"distance": ["universal", "spherical"]}


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """x y z w of a rotation, all in integers."""
    R = rotation
    trace = R.trace()
    squares = [ONE + 2 * R[i, i] - trace for i in range(3)] + [ONE + trace]  # four times
    signs = [[R[i, j] + R[j, i] for j in range(3)] for i in range(3)]
    odd = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    best = int(np.argmax(squares))
    products = [[*signs[i], odd[i]] for i in range(3)] + [[*odd, 0]]  # four times the products with the best
    found = products[best]
    found[best] = squares[best]
    return exact._unit(np.array(found, dtype=object) * ONE // isqrt(int(squares[best]) << BITS))


@pytest.mark.parametrize("kind", CHAINS)
def test_a_tie_is_the_joint_it_stands_for(kind: str) -> None:
    """A body on a joint moves like the same body, free and tied: at every order."""
    rng = np.random.default_rng(3)
    base, arm = random_body(rng, "base", -1, "free"), random_body(rng, "arm", 0, "revolute")
    body, hand = random_body(rng, "body", -1, "free"), random_body(rng, "hand", -1, "revolute")
    axis, axis2 = random_axes(rng)
    place, end, length, pitch = random_pose(rng), random_pose(rng), 0.4, 0.2
    normal = np.cross(axis, axis2)
    chain, parent = [], 1
    for i, joint in enumerate(CHAINS[kind]):
        spec = BodySpec(f"c{i}", parent, joint, np.eye(4), 0.0, np.zeros(3), np.zeros((3, 3)), axis, axis2, pitch)
        if i == 1 and kind == "on plane":
            spec = replace(spec, axis=axis2, axis2=axis)
        if i == 1 and kind == "distance":  # perpendicular to both axes of the previous joint
            spec = replace(spec, placement=pose_of(np.eye(3), length * normal))
        chain.append(replace(spec, placement=place @ spec.placement) if i == 0 else spec)
        parent += 1
    last = len(chain) + 2
    on_chain = replace(body, parent=last - 1, joint="fixed", placement=np.linalg.inv(end))
    tree = TreeSpec((base, arm, *chain, on_chain, replace(hand, parent=last)))
    flying = TreeSpec((base, arm, replace(body, placement=np.eye(4)), replace(hand, parent=2)))
    whole, apart = RigidRobot(tree), RigidRobot(flying)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 1)[0]
    if kind == "helical":
        q[8] = 1.0
    tau = np.zeros((ORDER + 1, tree.nv))
    outer = [*range(7), tree.nv - 1]
    tau[:, outer] = rng.uniform(-1, 1, (ORDER + 1, 8))
    truth = forward_dynamics(whole, [], q, v, tau)
    frame = truth.frames.pose(Side(last))
    twist = _vee(exact._mul(exact._inverse(frame)[:1], exact._rate(frame)[:1]))[0]
    fixed = exact._fixed(np.r_[q[:8], q[-1]])
    own_q = np.concatenate([fixed[:8], frame[0, :3, 3], quaternion(frame[0, :3, :3]), fixed[8:]])
    own_v = np.concatenate([exact._fixed(v[:7]), twist, exact._fixed(v[-1:])])
    own_tau = np.hstack([tau[:, :7], np.zeros((ORDER + 1, 6)), tau[:, -1:]])
    # the joint's frame on the body is exact in the tree; the tie's must be the same to the last digit
    B = exact._inverse(exact._exact_pose(np.linalg.inv(end))[None])[0]
    tie = Tie(kind, Side(1, chain[0].placement), Side(2, B), axis, axis2, pitch, length, normal=normal)
    found = forward_dynamics(apart, [tie], own_q, own_v, own_tau)
    tolerance = 1e-12 if kind == "distance" else 1e-14  # the axes perpendicular to its chain's length are rounded
    assert row_errors(found.acc[:, [*range(7), 13]], truth.acc[:, outer]) < tolerance
    own_frame = found.frames.pose(Side(2))
    assert row_errors(_rounded(own_frame).reshape(ORDER + 3, 16), _rounded(frame).reshape(ORDER + 3, 16)) < tolerance
    assert not found.redundant


def test_a_gear_of_constant_ratio_is_a_follower() -> None:
    follow = maker(5).add("a", "world", "revolute").add("b", "a", "helical").add("c", "b", "prismatic")
    robot = follow.robot()
    parts = robot.parts
    coupled = replace(robot, parts=(*parts[:2], replace(parts[2], follows=jn.Follow("a", 1.5, -0.25))))
    leader = RigidRobot(coupled.tree, coupled)
    rng = np.random.default_rng(1)
    q, v, tau = (rng.uniform(-1, 1, shape) for shape in (2, 2, (5, 2)))
    truth = forward_dynamics(leader, [], q, v, tau)
    free = RigidRobot(robot.tree)
    gear = Gear(0, 2, (-0.25, 1.5))
    full = leader.full(q, exact._taylor(v[None]))
    found = forward_dynamics(free, [gear], full[0], full[1][0], np.hstack([tau, np.zeros((5, 1))]))
    assert row_errors(found.acc, truth.acc @ coupled.G.T) < 1e-14
    assert np.abs(found.forces()[0] @ [1, 1.5]).max() < 1e-12 * np.abs(found.forces()[0]).max()


# --- laws of motion -----------------------------------------------------------------------------------------


def energy_changes(robot: RigidRobot, solution: Solution) -> float:
    """Change of the sum of kinetic and potential energy, relative to that of each: the greatest over all orders."""
    stack = np.vstack([_rounded(solution.speed[:1]), solution.acc])
    motion = differentiate.motions(robot.tree, _rounded(solution.q), stack)["body"]
    kinetic, potential = differentiate.kinetic_energy(motion), differentiate.potential_energy(motion)
    return float(np.abs((kinetic + potential[: len(kinetic)]) / kinetic)[1:].max())


@pytest.mark.parametrize("world", [False, True], ids=["loop", "world"])
@pytest.mark.parametrize("kind", KINDS)
def test_energy_is_kept(kind: str, world: bool) -> None:
    """At every order, without external forces. Rolling on a body is like rolling on the world: the contact point is at
    rest in it.
    """
    robot, ties, q, v, _ = tied(kind, world=world, base="free" if world else "universal")
    solution = forward_dynamics(robot, ties, q, v, np.zeros((ORDER + 1, robot.nv)))
    assert energy_changes(robot, solution) < 1e-11


@pytest.mark.parametrize("kind", KINDS)
def test_the_forces_are_wrenches_on_the_tree(kind: str) -> None:
    """Applied to both bodies with opposite signs, they make the tree without the tie move in the same way."""
    robot, ties, q, v, rng = tied(kind, passive=True)
    tau = random_stack(rng, robot.tree, ORDER + 1)
    outside = {4: rng.uniform(-1, 1, (ORDER + 1, 6))}
    solution = forward_dynamics(robot, ties, q, v, tau, outside)
    on_first = solution.forces("body")[0]
    first, second = solution.frames.pose(Side(3)), solution.frames.pose(Side(5))
    between = exact._mul(exact._inverse(second), first)[: ORDER + 1]  # the wrench on the second, in its axes
    force = exact._mul(between[:, :3, :3], exact._taylor(on_first)[:, :3])
    moment = exact._mul(between[:, :3, :3], exact._taylor(on_first)[:, 3:])
    moment = moment + exact._mul(between[:, :3, 3], force, exact._cross)
    on_second = -exact._derivatives(np.hstack([force, moment]))
    stack = np.vstack([_rounded(v)[None], solution.acc])
    back = virtual_work.inverse_dynamics(robot.tree, q, stack, {3: on_first, 5: on_second, **outside})
    size = np.abs(solution.acc) @ np.abs(np.ones((robot.nv, robot.nv)))
    assert (np.abs(back - tau).max(axis=1) / size.max(axis=1)).max() < 1e-13
    dynamics, rows = backward_errors(robot, ties, q, _rounded(v), tau, solution.acc, [on_first], outside)
    assert max(dynamics.max(), rows.max()) < 1e-14


@pytest.mark.parametrize("kind", ["revolute", "helical", "distance", "wheel"])
def test_backward_errors_see_what_is_off(kind: str) -> None:
    robot, ties, q, v, rng = tied(kind)
    tau = random_stack(rng, robot.tree, 3)
    solution = forward_dynamics(robot, ties, q, v, tau)
    acc, forces = solution.acc, solution.forces()[0]
    for k in range(3):
        off = np.zeros((3, 1))
        off[k] = 1e-8
        dynamics, _ = backward_errors(robot, ties, q, _rounded(v), tau, acc, [forces * (1 + off)])
        assert dynamics[k] > 1e-13
        assert (np.delete(dynamics, range(k, 3)) < 1e-14).all()
        dynamics, rows = backward_errors(robot, ties, q, _rounded(v), tau, acc * (1 + off), [forces])
        assert min(dynamics[k], rows[k]) > 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_the_residual_grows_late_along_the_taylor_polynomial(kind: str) -> None:
    """Order r of the acceleration is order r + 2 of positions: the residual is of order r + 3 in time."""
    rng = np.random.default_rng(7)
    joints = (("revolute", -1), ("universal", 0), ("helical", 1), ("cylindrical", 2), ("prismatic", 3), ("planar", 0))
    tree = TreeSpec(tuple(random_body(rng, f"b{i}", parent, joint) for i, (joint, parent) in enumerate(joints)))
    robot = RigidRobot(tree)
    q = rng.uniform(-1, 1, robot.nv)
    ties = [random_tie(rng, robot, q, kind, 4, 5)]
    q, v = project(robot, ties, q, rng.uniform(-1, 1, robot.nv))
    for order in (0, 3):
        solution = forward_dynamics(robot, ties, q, v, np.zeros((order + 1, robot.nv)))
        left = []
        for halvings in (40, 41):
            where, speed = q.copy(), v * 0
            for k, c in enumerate(solution.speed):
                speed = speed + (c >> (k * halvings))
                where = where + (c // (k + 1) >> ((k + 1) * halvings))
            one = block(ties[0], robot.frames(where, speed[None]))
            held = one.slip[0] if kind in ("ball", "wheel") else one.position[0]
            left.append(float(largest(held)) / 2.0**300)
        assert np.log2(left[0] / left[1]) == pytest.approx(order + (2 if kind in ("ball", "wheel") else 3), abs=1e-3)


@pytest.mark.parametrize("kind", ["ball", "wheel"])
def test_what_rolls_obeys_newton_and_euler(kind: str) -> None:
    """m (x'' - g) = f, and the rate of angular momentum about the centre is c x f: f acts at the contact only."""
    rng = np.random.default_rng(11)
    axis, normal = np.array([0.0, 1.0, 0.0]), random_axes(rng)[0]
    mass, radius, principal = 1.3, 0.25, np.diag([0.02, 0.035, 0.02])
    body = BodySpec("b", -1, "free", np.eye(4), mass, np.zeros(3), principal)
    robot = RigidRobot(TreeSpec((body,)))
    q, v = random_configuration(rng, robot.tree), random_stack(rng, robot.tree, 1)[0]
    tie = Tie("rolling", Side(), Side(0), axis=None if kind == "ball" else axis, radius=radius, normal=normal)
    q, v = project(robot, [tie], q, v)
    solution = forward_dynamics(robot, [tie], q, v, np.zeros((ORDER + 1, 6)))
    pose = _rounded(solution.frames.pose(Side(0)))
    R, x = pose[:, :3, :3], pose[:, :3, 3]
    rate, product = differentiate.rate, differentiate.product
    force = mass * rate(rate(x))
    force[0] -= mass * robot.tree.gravity
    spin = product("ab,cb->ac", rate(R), R)
    w = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    momentum = product("ab,b->a", product("ab,cb->ac", R @ principal, R), w)
    k = R @ axis
    if kind == "ball":
        arm = np.zeros((ORDER + 1, 3))
        arm[0] = -radius * normal
    else:
        down = product("a,->a", k, k @ normal)
        down[0] -= normal
        size = product("a,a->", down, down)
        inverse = np.zeros_like(size)  # 1 / sqrt(size): y' = -y size' / 2 size
        inverse[0] = size[0] ** -0.5
        for n in range(1, len(size)):
            total = sum((-0.5 * i - (n - i)) * size[i] * inverse[n - i] for i in range(1, n + 1))
            inverse[n] = total / (n * size[0])
        arm = radius * product("a,->a", down, inverse)
    moment = product("ab,b->a", differentiate.skew(arm), force)
    change = rate(momentum)[: len(moment)]
    scale = np.abs(change).max(axis=1)
    assert (np.abs(moment[: len(change)] - change).max(axis=1) / scale).max() < 1e-11
    told = replace(tie, contact=True)
    wrench = forward_dynamics(robot, [told], q, v, np.zeros((ORDER + 1, 6))).forces("mixed")[0]
    taylor = wrench / np.array([factorial(i) for i in range(ORDER + 1)])[:, None]
    assert row_errors(taylor[:, :3], force[: ORDER + 1]) < 1e-12
    assert row_errors(taylor[:, 3:], moment[: ORDER + 1]) < 1e-11


def test_a_ball_rolls_down_a_slope_at_five_sevenths() -> None:
    slope, radius = 0.3, 0.2
    normal = np.array([np.sin(slope), 0.0, np.cos(slope)])
    body = BodySpec("b", -1, "free", np.eye(4), 2.0, np.zeros(3), 0.4 * 2.0 * radius**2 * np.eye(3))
    robot = RigidRobot(TreeSpec((body,)))
    q = np.r_[radius * normal, 0, 0, 0, 1]
    tie = Tie("rolling", Side(), Side(0), axis=None, radius=radius, normal=normal)
    acc = forward_dynamics(robot, [tie], q, np.zeros(6), np.zeros((1, 6))).acc[0]
    assert acc[:3] @ [np.cos(slope), 0, -np.sin(slope)] == pytest.approx(5 / 7 * 9.81 * np.sin(slope), rel=1e-14)


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
def test_what_hangs_pulls_down(frame: str) -> None:
    """On a body much too heavy to move; and supported by the world."""
    place = pose_of(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), np.array([0.5, 0.0, 0.0]))
    body = BodySpec("b", -1, "free", np.eye(4), 2.0, np.zeros(3), np.eye(3))
    rock = BodySpec("a", -1, "prismatic", np.eye(4), 2e18, np.zeros(3), np.eye(3), axis=np.array([0.0, 1, 0]))
    robot, q = RigidRobot(TreeSpec((rock, body))), np.r_[0, 0.5, 0, 0, 0, 0, np.sqrt(0.5), np.sqrt(0.5)]
    weight = 2.0 * 9.81
    tie = Tie("fixed", Side(0, place), Side(1))
    q, v = project(robot, [tie], q, np.zeros(7))
    found = forward_dynamics(robot, [tie], q, v, np.zeros((1, 7))).forces(frame)[0][0]
    assert np.abs(found - [0, 0, -weight, 0, 0.5 * weight, 0]).max() < 1e-14
    for held in (replace(tie, a=Side(-1, place)), replace(tie, a=Side(-1, place), contact=True)):
        found = forward_dynamics(robot, [held], q, v, np.zeros((1, 7))).forces(frame)[0][0]
        about = -0.5 * weight if frame == "world" else 0
        assert np.abs(found - [0, 0, weight, 0, about, 0]).max() < 1e-14


def test_the_same_tie_twice_changes_nothing() -> None:
    robot, ties, q, v, rng = tied("revolute")
    tau = random_stack(rng, robot.tree, 3)
    once = forward_dynamics(robot, ties, q, v, tau)
    twice = forward_dynamics(robot, ties * 2, q, v, tau)
    assert twice.redundant
    assert not once.redundant
    assert row_errors(twice.acc, once.acc) < 1e-15


def test_a_gear_with_teeth_that_vary_keeps_energy() -> None:
    robot, rng = robot_with_loops(2, base="universal")
    q, v = random_configuration(rng, robot.tree), random_stack(rng, robot.tree, 1)[0]
    gear = Gear(2, 8, (0.1, 0.5, -0.3, 0.2))
    q, v = project(robot, [gear], q, v)
    solution = forward_dynamics(robot, [gear], q, v, np.zeros((ORDER + 1, robot.nv)))
    assert largest(solution.blocks[0].position) < TINY
    assert energy_changes(robot, solution) < 1e-11
    dynamics, rows = backward_errors(
        robot, [gear], q, _rounded(v), np.zeros((ORDER + 1, robot.nv)), solution.acc, solution.forces()
    )
    assert max(dynamics.max(), rows.max()) < 1e-14


def test_what_is_held_moves_as_what_holds_it() -> None:
    """The twist of a body welded to a moving platform is the platform's, and so are its derivatives."""
    robot, rng = robot_with_loops(6)
    q, v = random_configuration(rng, robot.tree), random_stack(rng, robot.tree, 1)[0]
    motion = rng.uniform(-1, 1, (ORDER + 2, 6))
    tie = contact(rng, robot, q, "fixed", 3, held=True)
    ties = [replace(tie, a=replace(tie.a, motion=motion))]
    q, v = project(robot, ties, q, v)
    pose = forward_dynamics(robot, ties, q, v, np.zeros((ORDER + 1, robot.nv))).frames.pose(Side(3))
    assert row_errors(exact._derivatives(differentiate._rows(pose, "mixed")), motion) < 1e-14


def test_a_contact_held_where_it_is() -> None:
    """A joint's axis is in the frame's axes; the normal of a plane is in the world's."""
    robot, rng = robot_with_loops(4)
    q, v = random_configuration(rng, robot.tree), random_stack(rng, robot.tree, 1)[0]
    ties = [contact(rng, robot, q, kind, body, held=True) for kind, body in (("revolute", 3), ("on plane", 5))]
    q, v = project(robot, ties, q, v)
    solution = forward_dynamics(robot, ties, q, v, np.zeros((2, robot.nv)))
    on_joint, on_plane = solution.forces("body")[0], solution.forces("mixed")[1]
    assert abs(on_joint[0, 3:] @ ties[0].axis) < 1e-13 * np.abs(on_joint).max()
    assert np.abs(np.cross(on_plane[0, :3], ties[1].normal)).max() < 1e-13 * np.abs(on_plane).max()
    assert np.abs(on_plane[:, 3:]).max() < 1e-12 * np.abs(on_plane).max()


# --- soft robots --------------------------------------------------------------------------------------------


def two_fingers() -> SoftSpec:
    """Two rods of constant curvature on a turning base, with a body at the tip of each."""
    rng, length = np.random.default_rng(43), 0.375
    phi = constant_curvature(length, planar=False, elongation=True)
    common = {"length": length, "radii": (0.02, 0.015), "density": 1050.0, "young": 2e3, "poisson": 0.4}
    common |= {"basis": constant_basis(phi), "amplitudes": 3, "uniform": True, "section": "disk", "nodes": 4}
    modules: list[object] = [
        Joint(placement=random_pose(rng), axis=random_axes(rng)[0]),
        RigidBody(parent=0, mass=0.7, com=rng.uniform(-0.1, 0.1, 3), inertia=random_inertia(rng, 0.7)),
    ]
    for _ in range(2):
        modules.append(Rod(parent=1, placement=random_pose(rng, 0.2), **common))
        inertia = random_inertia(rng, 0.1)
        modules.append(RigidBody(parent=len(modules) - 1, mass=0.1, com=np.zeros(3), inertia=inertia))
    return SoftSpec(tuple(modules), np.array([0.7, -0.4, -9.6]))


@pytest.mark.parametrize("kind", ["spherical", "distance", "on line", "universal"])
def test_soft_fingers_that_hold_each_other(kind: str) -> None:
    spec = two_fingers()
    robot, rng = SoftRobot(spec), np.random.default_rng(8)
    scale = np.array([1.0, 0.5, 0.5, 0.03, 0.5, 0.5, 0.03])
    q, v = scale * rng.uniform(-1, 1, 7), scale * rng.uniform(-1, 1, 7)
    ties = [random_tie(rng, robot, q, kind, 3, 5)]
    q, v = project(robot, ties, q, v)
    tau = np.zeros((3, 7))
    solution = forward_dynamics(robot, ties, q, v, tau)
    one = solution.blocks[0]
    assert largest(one.position) < TINY
    assert largest(exact._mul(one.rows[:-1], solution.speed) - one.slip) < TINY
    dynamics, rows = backward_errors(robot, ties, q, _rounded(v), tau, solution.acc, solution.forces())
    assert max(dynamics.max(), rows.max()) < 1e-14


def test_a_place_along_a_rod_moves_with_it() -> None:
    """Held at the far end, or at its whole length: the same."""
    spec = two_fingers()
    robot, rng = SoftRobot(spec), np.random.default_rng(9)
    q, v = 0.3 * rng.uniform(-1, 1, 7), 0.3 * rng.uniform(-1, 1, 7)
    found = []
    for at in (None, 0.375, 0.2):
        frames = robot.frames(q, exact._taylor(v[None]))
        place = _rounded(frames.pose(Side(2, at=at))[0])
        tie = Tie("spherical", Side(-1, place), Side(2, at=at))
        found.append(forward_dynamics(robot, [tie], q, v, np.zeros((2, 7))).acc)
    assert row_errors(found[1], found[0]) < 1e-14
    assert row_errors(found[2], found[0]) > 1e-3
