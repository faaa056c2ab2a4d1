"""Pinocchio's model of a `trees.TreeSpec`, with the queries that the tests compare against.

The functions below take and return q, v, a in the order of the tree. ``tree.model`` itself has its joints
depth first, because Pinocchio's crba, computeMinverse, computeCoriolisMatrix and the derivatives of rnea and
aba are silently wrong for any other order (``model.check(data)`` is then False). So use ``q_to_pin``,
``v_to_pin`` and ``v_from_pin`` when calling Pinocchio directly; a matrix over v is put in the order of
the tree by ``M[np.ix_(tree.v_index, tree.v_index)]``.

Armature, damping and stiffness are not represented. Cylindrical, planar and universal joints are chains of
one-DoF joints with massless bodies between, so the model has more joints than the tree has such bodies.
The axes must be unit vectors, and axis and axis2 of a planar joint perpendicular.
"""

from __future__ import annotations

import numpy as np
import pytest

from trees import BodySpec, TreeSpec

pinocchio = pytest.importorskip("pinocchio")

FRAMES = {
    "body": pinocchio.LOCAL,
    "world": pinocchio.WORLD,
    "mixed": pinocchio.LOCAL_WORLD_ALIGNED,
}


class PinocchioTree:
    """A Pinocchio model of ``spec``.

    body_joint: for each body, the joint that carries it (0, the universe, if it is fixed to the world).
    body_frame: for each body, the id of the Pinocchio frame at its body frame.
    q_index, v_index: for each coordinate of the tree, its index in Pinocchio's q or v.
    """

    def __init__(self, spec: TreeSpec) -> None:
        self.spec = spec
        self.model = pinocchio.Model()
        self.model.gravity.linear = np.asarray(spec.gravity, float)
        self.body_joint: list[int] = [0] * len(spec.bodies)
        self.body_frame: list[int] = [0] * len(spec.bodies)
        self.q_index = np.zeros(spec.nq, int)
        self.v_index = np.zeros(spec.nv, int)
        q_slices, v_slices = spec.q_slices(), spec.v_slices()
        for i in _depth_first(spec):
            body = spec.bodies[i]
            self.q_index[q_slices[i]] = self.model.nq + np.arange(body.nq)
            self.v_index[v_slices[i]] = self.model.nv + np.arange(body.nv)
            self._add_body(i, body)
        self.data = self.model.createData()
        assert (self.model.nq, self.model.nv) == (spec.nq, spec.nv)
        assert self.model.check(self.data)

    def _add_body(self, i: int, body: BodySpec) -> None:
        joint, placement = 0, pinocchio.SE3(np.asarray(body.placement, float))
        if body.parent >= 0:
            joint = self.body_joint[body.parent]
            placement = self.model.frames[self.body_frame[body.parent]].placement * placement
        for k, joint_model in enumerate(_joint_models(body)):
            joint = self.model.addJoint(joint, joint_model, placement, f"{i}:{body.name}:{k}")
            placement = pinocchio.SE3.Identity()
        inertia = pinocchio.Inertia(body.mass, np.asarray(body.com, float), np.asarray(body.inertia, float))
        self.model.appendBodyToJoint(joint, inertia, placement)
        self.body_joint[i] = joint
        self.body_frame[i] = self.model.addFrame(
            pinocchio.Frame(f"{i}:{body.name}", joint, placement, pinocchio.FrameType.OP_FRAME)
        )

    def q_to_pin(self, q: np.ndarray) -> np.ndarray:
        """From the order of the tree to Pinocchio's, along the last axis; likewise the others."""
        return np.asarray(q, float)[..., np.argsort(self.q_index)]

    def v_to_pin(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(v, float)[..., np.argsort(self.v_index)]

    def v_from_pin(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(v, float)[..., self.v_index]


def rnea(tree: PinocchioTree, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Generalised forces (nv,) of the inverse dynamics, gravity included."""
    tau = pinocchio.rnea(tree.model, tree.data, tree.q_to_pin(q), tree.v_to_pin(v), tree.v_to_pin(a))
    return tree.v_from_pin(tau)


def body_poses(tree: PinocchioTree, q: np.ndarray) -> np.ndarray:
    """Poses (nbodies, 4, 4) of the body frames in the world."""
    pinocchio.framesForwardKinematics(tree.model, tree.data, tree.q_to_pin(q))
    return np.array([tree.data.oMf[f].homogeneous for f in tree.body_frame]).reshape(-1, 4, 4)


def body_twists(tree: PinocchioTree, q: np.ndarray, v: np.ndarray, frame: str) -> np.ndarray:
    """Twists [linear; angular] (nbodies, 6) of the bodies relative to the world, by ``frame``:

    "body": H^-1 dH/dt; "world": dH/dt H^-1; "mixed": of the body's origin, in world axes.
    """
    pinocchio.forwardKinematics(tree.model, tree.data, tree.q_to_pin(q), tree.v_to_pin(v))
    pinocchio.updateFramePlacements(tree.model, tree.data)
    twists = [pinocchio.getFrameVelocity(tree.model, tree.data, f, FRAMES[frame]).vector for f in tree.body_frame]
    return np.array(twists).reshape(-1, 6)


def _depth_first(spec: TreeSpec) -> list[int]:
    children: dict[int, list[int]] = {}
    for i, body in enumerate(spec.bodies):
        children.setdefault(body.parent, []).append(i)
    order: list[int] = []
    pending = children.get(-1, [])[::-1]
    while pending:
        order.append(pending.pop())
        pending += children.get(order[-1], [])[::-1]
    return order


def _joint_models(body: BodySpec) -> list:
    """The chain of Pinocchio joints whose motions compose to that of the body's joint."""
    revolute, prismatic = pinocchio.JointModelRevoluteUnaligned, pinocchio.JointModelPrismaticUnaligned
    axis, axis2 = _unit(body.axis), _unit(body.axis2)
    match body.joint:
        case "fixed":
            return []
        case "revolute":
            return [revolute(axis)]
        case "prismatic":
            return [prismatic(axis)]
        case "helical":
            return [pinocchio.JointModelHelicalUnaligned(axis, body.pitch)]
        case "cylindrical":
            return [prismatic(axis), revolute(axis)]
        case "planar":
            return [prismatic(axis), prismatic(axis2), revolute(_unit(np.cross(axis, axis2)))]
        case "universal":
            return [revolute(axis), revolute(axis2)]
        case "spherical":
            return [pinocchio.JointModelSpherical()]
        case "free":
            return [pinocchio.JointModelFreeFlyer()]
    raise ValueError(f"unknown joint {body.joint!r}")


def _unit(axis: np.ndarray) -> np.ndarray:
    """The axis unchanged, after a check: Pinocchio accepts any length and then turns by non-rotations."""
    assert abs(np.linalg.norm(axis) - 1) < 1e-12, f"not a unit vector: {axis}"
    return np.asarray(axis, float)
