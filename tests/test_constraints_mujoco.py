"""Welds, points and gears against MuJoCo's equality constraints, in the limit of hard ones."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import jounce as jn
from jounce_lab.bench.peers.mujoco import mjcf_of
from mujoco_limit import acceleration, limit, prepared

mujoco = pytest.importorskip("mujoco")

IMPEDANCES = (0.9, 0.99, 0.999, 0.9999)


def _placed(rng: np.random.Generator) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], _ = np.linalg.qr(rng.normal(size=(3, 3)))
    pose[:3, :3] *= np.sign(np.linalg.det(pose[:3, :3]))
    pose[:3, 3] = rng.uniform(-0.3, 0.3, 3)
    return pose


@cache
def _tree() -> jn.Model:
    """A floating body with two arms."""
    rng = np.random.default_rng(3)
    builder = jn.Builder()
    names = ["base", *(f"{arm}{i}" for arm in "ab" for i in range(4))]
    for name in names:
        parent = "world" if name == "base" else "base" if name[1] == "0" else name[0] + str(int(name[1]) - 1)
        joint = jn.Free() if name == "base" else jn.Revolute(rng.normal(size=3))
        moments = np.diag(rng.uniform(0.02, 0.03, 3))
        inertia = jn.Inertia(rng.uniform(0.5, 2.0), rng.uniform(-0.1, 0.1, 3), moments)
        builder.add(name, parent, joint, None if name == "base" else _placed(rng), inertia)
    return builder.build()


def _closed(kind: str) -> tuple[jn.Model, ElementTree.Element]:
    """The robot with a loop, and its MJCF element; in MuJoCo both ends meet with all joints at zero."""
    tree = _tree()
    builder = jn.Builder.from_model(tree)
    q = tree.neutral()
    if kind == "gear":
        builder.close("tie", "a1", "b2", jn.Gear((0.0, 0.7, 0.4, -0.3)))
        text = {"joint1": "b2", "joint2": "a1", "polycoef": "0 0.7 0.4 -0.3 0"}
        return builder.build(), ElementTree.Element("joint", text)
    there = np.eye(4)
    there[:3, 3] = 0.1, -0.05, 0.2
    back = np.linalg.inv(tree.pose("b3", q)) @ tree.pose("a3", q) @ there
    joint = {"weld": jn.Fixed(), "connect": jn.Spherical()}[kind]
    builder.close("tie", "a3", "b3", joint, placement_a=there, placement_b=back)
    text = {"body1": "a3", "body2": "b3"} | ({"anchor": "0.1 -0.05 0.2"} if kind == "connect" else {})
    return builder.build(), ElementTree.Element(kind, text)


def _peer(tie: ElementTree.Element) -> Any:
    """MuJoCo's robot."""
    text = ElementTree.fromstring(mjcf_of(_tree()))
    del text.find("option/flag").attrib["constraint"]
    ElementTree.SubElement(text, "equality").append(tie)
    return prepared(mujoco.MjModel.from_xml_string(ElementTree.tostring(text, "unicode")))


@pytest.mark.parametrize("moving", [False, True], ids=["at rest", "moving"])
@pytest.mark.parametrize("kind", ["weld", "connect", "gear"])
def test_hard_limit(kind: str, moving: bool) -> None:
    rng = np.random.default_rng(4)
    robot, tie = _closed(kind)
    q = robot.project(robot.integrate(robot.neutral(), 0.4 * rng.normal(size=robot.nv)))
    v = robot.project(q, 0.3 * rng.normal(size=robot.nv))[1] if moving else np.zeros(robot.nv)
    tau = rng.normal(size=robot.nv)
    acc = robot.forward_dynamics(q, v, tau)
    peer = _peer(tie)
    convert = jn.conversions.MuJoCo(robot, peer)
    found = [acceleration(convert, peer, q, v, tau, d) for d in IMPEDANCES]
    change = np.abs(_tree().forward_dynamics(q, v, tau) - acc).max()  # the effect of the constraint
    errors = [np.abs(x - acc).max() / change for x in found]
    assert errors[0] > 1e-3
    assert errors[3] < 1e-3
    for soft, hard in itertools.pairwise(errors):
        assert 0.05 < hard / soft < 0.2  # R falls tenfold
    assert np.abs(limit(convert, peer, q, v, tau) - acc).max() < 2e-7 * change
