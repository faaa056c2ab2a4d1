"""Welds, points and gears against MuJoCo's equality constraints, in the limit of hard ones.

MuJoCo's constraints give way: with an impedance d below one they add R = (1 - d) / d of the diagonal of J M^-1 J^T to
it. So the accelerations differ by an amount that falls with R; d = 0.9999 is the hardest there is, and what two values
of R say is extrapolated to none. Of gears, and in older versions of all constraints, MuJoCo leaves J' v out. Where the
robot moves that is put back with MuJoCo's own matrices, J' v by differences of its J.
"""

from __future__ import annotations

import itertools
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest

import jounce as jn
from jounce_lab.bench.peers.mujoco import mjcf_of

mujoco = pytest.importorskip("mujoco")

IMPEDANCES = (0.9, 0.99, 0.999, 0.9999)
HARD = (0.999, 0.9995, 0.9998, 0.9999)


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
    """The robot with a loop, and what MuJoCo calls that; in MuJoCo both ends meet where all joints are at zero."""
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


class Peer:
    """MuJoCo's robot, as hard as its impedance is."""

    def __init__(self, robot: jn.Model, tie: ElementTree.Element, impedance: float) -> None:
        text = ElementTree.fromstring(mjcf_of(_tree()))
        del text.find("option/flag").attrib["constraint"]
        tie.set("solimp", f"{impedance} {impedance} 1 0.5 1")
        ElementTree.SubElement(text, "equality").append(tie)
        option = text.find("option")
        for key, value in {"solver": "Newton", "iterations": "100", "tolerance": "0", "jacobian": "dense"}.items():
            option.set(key, value)
        self.robot = robot
        self.model = mujoco.MjModel.from_xml_string(ElementTree.tostring(text, "unicode"))
        self.data = mujoco.MjData(self.model)
        self.convert = jn.conversions.MuJoCo(robot, self.model)

    def acceleration(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        model, data, h = self.model, self.data, 1e-4
        data.qfrc_applied[:] = self.convert.force_to(q, tau)
        rows = []
        for time in (-h, h, 0.0):
            data.qpos[:], data.qvel[:] = self.convert.to(q, v)
            mujoco.mj_integratePos(model, data.qpos, data.qvel, time)
            mujoco.mj_forward(model, data)
            rows.append(data.efc_J.reshape(-1, model.nv).copy())
        before, after, J = rows
        drift = (after - before) @ data.qvel / (2 * h)
        apart = np.zeros_like(J)  # J M^-1
        mujoco.mj_solveM(model, data, apart, J)
        left_out = drift + data.efc_aref  # it aims for J a = aref
        acc = data.qacc - apart.T @ np.linalg.solve(apart @ J.T + np.diag(data.efc_R), left_out)
        return self.convert.back(data.qpos, data.qvel, acc)[2]


@pytest.mark.parametrize("moving", [False, True], ids=["at rest", "moving"])
@pytest.mark.parametrize("kind", ["weld", "connect", "gear"])
def test_hard_limit(kind: str, moving: bool) -> None:
    rng = np.random.default_rng(4)
    robot, tie = _closed(kind)
    q = robot.project(robot.integrate(robot.neutral(), 0.4 * rng.normal(size=robot.nv)))
    v = robot.project(q, rng.normal(size=robot.nv))[1] if moving else np.zeros(robot.nv)
    tau = rng.normal(size=robot.nv)
    acc = robot.forward_dynamics(q, v, tau)
    found = [Peer(robot, tie, d).acceleration(q, v, tau) for d in IMPEDANCES]
    change = np.abs(_tree().forward_dynamics(q, v, tau) - acc).max()  # what the constraint does
    errors = [np.abs(x - acc).max() / change for x in found]
    assert errors[0] > 1e-3
    assert errors[3] < 1e-3
    for soft, hard in itertools.pairwise(errors):
        assert 0.05 < hard / soft < 0.2  # R falls tenfold
    R = [(1 - d) / d for d in HARD]
    weights = [np.prod([y / (y - x) for y in R if y != x]) for x in R]  # Lagrange's, at R = 0
    limit = sum(w * Peer(robot, tie, d).acceleration(q, v, tau) for w, d in zip(weights, HARD, strict=True))
    assert np.abs(limit - acc).max() < 2e-7 * change
