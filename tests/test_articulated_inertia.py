"""Articulated inertias with followers and soft bodies, against the mass matrix of the subtree cut off.

A body with all that it carries is rebuilt as a floating robot of its own. Its mass matrix M has the six rows of the
body first; with the others free to accelerate, the inertia felt by a wrench on it is (e^T M^-1 e)^-1, the Schur
complement of the rest. A joint that follows one outside the subtree is held.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import jounce as jn
from calls import error
from coupled_robots import FOLLOW, FOLLOWERS, SOFT, Leaf, Part, Robot, maker, rod
from trees import BodySpec

HELD: dict[str, Robot] = {
    "a finger that follows the arm": maker(51)
    .add("arm", "world", "revolute")
    .add("hand", "arm", "revolute")
    .add("finger", "hand", "prismatic", follows=FOLLOW("arm", 0.4, 0.1))
    .add("nail", "finger", "revolute")
    .robot(),
    "a finger that follows another branch": maker(52)
    .add("base", "world", "free")
    .add("left", "base", "revolute")
    .add("right", "base", "revolute")
    .add("thumb", "right", "helical", follows=FOLLOW("left", -0.7, 0.2), armature=0.3)
    .add("tip", "thumb", "spherical")
    .add("toe", "left", "revolute", follows=FOLLOW("right", 0.6), armature=0.2)
    .robot(),
    "some are held and some are not": maker(53)
    .add("arm", "world", "revolute")
    .add("hand", "arm", "revolute", armature=0.1)
    .add("one", "hand", "revolute", armature=0.2)
    .add("two", "hand", "revolute", follows=FOLLOW("one", -0.9, 0.1), armature=0.3)
    .add("three", "hand", "revolute", follows=FOLLOW("arm", 0.5, -0.3), armature=0.4)
    .add("four", "two", "prismatic", follows=FOLLOW("three", 0.3))
    .add("five", "four", "universal")
    .robot(),
}
CARRIED: dict[str, Robot] = {
    "a rod with bodies along it": maker(54)
    .add("arm", "world", "revolute")
    .add("rod", "arm", "fixed", soft=rod())
    .add("load", "rod", "fixed", at=0.1)
    .add("fin", "rod", "revolute", at=0.2)
    .add("hand", "rod", "revolute")
    .add("finger", "hand", "prismatic")
    .robot(),
    "rods in series on a floating base": maker(55)
    .add("base", "world", "free")
    .add("first", "base", "revolute", soft=rod(0.4, strain=jn.soft.polynomial({"bend_y": 1, "bend_x": 0})))
    .add("second", "first", "fixed", soft=rod())
    .add("leaf", "second", "prismatic", soft=Leaf())
    .add("tip", "leaf", "revolute")
    .robot(),
    "followers held on both sides of a rod": maker(56)
    .add("arm", "world", "revolute")
    .add("fore", "arm", "revolute")
    .add("rod", "fore", "revolute", follows=FOLLOW("arm", -0.5, 0.2), soft=rod())
    .add("hand", "rod", "revolute", follows=FOLLOW("arm", 0.8))
    .add("thumb", "hand", "revolute")
    .add("finger", "hand", "revolute", follows=FOLLOW("thumb", -1.1, 0.1))
    .robot(),
    "swelling, with a load": maker(57)
    .add("arm", "world", "revolute")
    .add("body", "arm", "fixed", soft=jn.soft.VariableRadius(0.2, 0.02, 1062.0, 50.0, nodes=(4, 4), check=False))
    .add("load", "body", "revolute")
    .robot(),
}
ROBOTS = FOLLOWERS | SOFT | HELD | CARRIED


def carried(robot: Robot, root: int) -> list[int]:
    """The body and all that it carries; for a soft one, all that its far end carries."""
    found = [root]
    for i, p in enumerate(robot.parts):
        if p.spec.parent in found and not (p.spec.parent == root and p.at is not None):
            found.append(i)
    return found


def leader(robot: Robot, part: Part) -> jn.Follow:
    """The joint that a joint ultimately follows; itself if it follows none."""
    names, ratio, offset = {p.spec.name: p for p in robot.parts}, 1.0, 0.0
    while part.follows is not None:
        offset, ratio = offset + ratio * part.follows.offset, ratio * part.follows.ratio
        part = names[part.follows.joint]
    return jn.Follow(part.spec.name, ratio, offset)


def moved(spec: BodySpec, x: float) -> np.ndarray:
    """The pose of a joint with one coordinate."""
    turn = 0.0 if spec.joint == "prismatic" else x
    a, b, c = spec.axis
    cross, pose = np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]]), np.eye(4)
    pose[:3, :3] += np.sin(turn) * cross + (1 - np.cos(turn)) * cross @ cross
    pose[:3, 3] = {"revolute": 0.0, "prismatic": x, "helical": spec.pitch * x}[spec.joint] * spec.axis
    return pose


def content(part: Part) -> dict[str, object]:
    b = part.spec
    return {"body": part.soft} if part.soft else {"inertia": jn.Inertia(b.mass, b.com, b.inertia)}


def cut_off(robot: Robot, root: int, q: np.ndarray) -> jn.Model:
    """A body and all it carries as a floating robot; for a soft one, what its far end carries, on a massless base."""
    below = [robot.parts[i] for i in carried(robot, root)]
    inside = {p.spec.name for p in below[1:]}
    b = jn.Builder()
    b.add(below[0].spec.name, "world", jn.Free(), **({} if below[0].soft else content(below[0])))
    for part in below[1:]:
        joint, placement, follow = part.joint(), part.spec.placement, leader(robot, part)
        if part.follows is not None and follow.joint in inside:
            joint = replace(part, follows=follow).joint()
        elif part.follows is not None:  # held
            x = follow.ratio * q[robot.model.position(follow.joint)][0] + follow.offset
            joint, placement = jn.Fixed(), placement @ moved(part.spec, x)
        b.add(part.spec.name, robot.parts[part.spec.parent].spec.name, joint, placement, at=part.at, **content(part))
    return b.build(allow_massless=True)


@pytest.mark.parametrize("name", ROBOTS)
def test_what_is_cut_off_shows_its_schur_complement(name: str) -> None:
    robot = ROBOTS[name]
    model, q = robot.model, robot.configuration(np.random.default_rng(0))
    found = dict(zip(model.body_names, model.articulated_inertia(q), strict=True))
    for root, part in enumerate(robot.parts):
        if part.spec.name not in found:  # on a fixed joint: part of its parent
            continue
        alone = cut_off(robot, root, q)
        # A rod on a held joint no longer has that joint: its shape then has the rod's name.
        own = [j if j in model.joint_names else f"{j}.shape" for j in alone.joint_names[1:]]
        M = alone.mass_matrix(np.concatenate([[0, 0, 0, 0, 0, 0, 1.0], *(q[model.position(j)] for j in own)]))
        truth = M[:6, :6] - M[:6, 6:] @ np.linalg.solve(M[6:, 6:], M[6:, :6])
        assert error(found[part.spec.name], truth, scale=M[:6, :6]) < 1e-12, part.spec.name


@pytest.mark.parametrize("name", HELD | CARRIED)
def test_batches(name: str) -> None:
    robot = ROBOTS[name]
    q = robot.configuration(np.random.default_rng(1), (3,))
    found = robot.model.articulated_inertia(q)
    for i in range(3):
        assert error(found[i], robot.model.articulated_inertia(q[i])) < 1e-13


def test_a_joint_that_is_held_is_not_free() -> None:
    """For the hand, which carries a finger that follows the arm below it."""
    robot = HELD["a finger that follows the arm"]
    q = robot.configuration(np.random.default_rng(0))
    held = robot.model.articulated_inertia(q)[1]
    free = robot.freed.model.articulated_inertia(robot.full(q))[1]
    assert np.linalg.eigvalsh(held - free).min() > -1e-12
    assert np.linalg.eigvalsh(held - free).max() > 1e-3 * np.linalg.eigvalsh(free).max()


def test_the_far_end_of_a_soft_body_alone_shows_nothing() -> None:
    robot = SOFT["rod of constant curvature"]
    assert not robot.model.articulated_inertia(robot.configuration(np.random.default_rng(0))).any()
