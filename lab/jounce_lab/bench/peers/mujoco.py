"""MuJoCo: mj_inverse and mj_forward, without contacts, constraints and sensors.

The model is written as MJCF from jounce's, because URDF has no floating base.
"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import numpy as np

from jounce.conversions import MuJoCo
from jounce.model import Model
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Free, Prismatic, Revolute

from ..race import Array, Call, Problem


def call(problem: Problem) -> Call | None:
    if problem.quantity not in ("inverse dynamics", "forward dynamics") or problem.states > 1:
        return None
    import mujoco

    robot, q, tau = problem.model, problem.q, problem.tau[0]
    model = mujoco.MjModel.from_xml_string(mjcf_of(robot))
    data, convert = mujoco.MjData(model), MuJoCo(robot, model)
    motion = robot.forward_dynamics(q, problem.v[0], tau) if problem.quantity == "forward dynamics" else problem.v[1]
    data.qpos[:], data.qvel[:], acceleration = convert.to(q, problem.v[0], motion)
    if problem.quantity == "inverse dynamics":
        data.qacc[:] = acceleration

        def inverse() -> Array:
            mujoco.mj_inverse(model, data)
            return convert.force_back(q, np.array(data.qfrc_inverse))[None]

        return Call("mj_inverse", lambda: mujoco.mj_inverse(model, data), inverse, lambda x: x[:1])
    data.qfrc_applied[:] = convert.force_to(q, tau)

    def forward() -> Array:
        mujoco.mj_forward(model, data)
        return convert.back(data.qpos, data.qvel, data.qacc)[2][None]

    return Call("mj_forward", lambda: mujoco.mj_forward(model, data), forward, lambda x: x[:1])


def mjcf_of(model: Model) -> str:
    """The model as MJCF, with smooth dynamics only; bodies fixed to another are merged into it."""
    root = Xml.Element("mujoco")
    Xml.SubElement(root, "compiler", angle="radian", inertiafromgeom="false")
    option = Xml.SubElement(root, "option", gravity=_text(model.gravity))
    Xml.SubElement(option, "flag", constraint="disable", contact="disable", sensor="disable")
    world = Xml.SubElement(root, "worldbody")
    carriers: list[tuple[Xml.Element, Array]] = []  # the element a body went into, and its pose there
    weights: dict[Xml.Element, Array] = {}
    for b in model.bodies:
        element, pose = carriers[b.parent] if b.parent >= 0 else (world, np.eye(4))
        pose = pose @ b.placement
        if not isinstance(b.joint, Fixed):
            place = {"name": b.name, "pos": _text(pose[:3, 3]), "xyaxes": _text(pose[:3, :2].T.ravel())}
            element, pose = Xml.SubElement(element, "body", place), np.eye(4)
            weights[element] = np.zeros((4, 4))
            name = b.joint.name or b.name
            if isinstance(b.joint, Free):
                Xml.SubElement(element, "freejoint", name=name)
            else:
                assert isinstance(b.joint, (Revolute, Prismatic))
                kind = "hinge" if isinstance(b.joint, Revolute) else "slide"
                Xml.SubElement(element, "joint", name=name, type=kind, axis=_text(b.joint.axis))
        carriers.append((element, pose))
        if element is not world:
            weights[element] += pose @ _second_moments(b.inertia) @ pose.T
    for element, J in weights.items():
        com = J[:3, 3] / J[3, 3]
        second = J[:3, :3] - J[3, 3] * np.outer(com, com)
        I = (np.trace(second) * np.eye(3) - second)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]  # noqa: E741
        Xml.SubElement(element, "inertial", pos=_text(com), mass=repr(float(J[3, 3])), fullinertia=_text(I))
    return Xml.tostring(root, "unicode")


def _second_moments(inertia: Inertia) -> Array:
    """(4, 4) sum of m x x^T over the body's points x = (position, 1), which a pose H turns into H J H^T."""
    J = np.empty((4, 4))
    trace, c = np.trace(inertia.rotational) / 2, inertia.com
    J[:3, :3] = trace * np.eye(3) - inertia.rotational + inertia.mass * np.outer(c, c)
    J[:3, 3] = J[3, :3] = inertia.mass * c
    J[3, 3] = inertia.mass
    return J


def _text(vector: Array) -> str:
    return " ".join(repr(x) for x in vector.tolist())
