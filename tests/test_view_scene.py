"""The scene that a browser is sent, without a browser: where its nodes are, arrows, pages, and the life of a viewer."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import jounce as jn
from jounce.parts.pose import quaternions, rotation
from scenes import below, nodes, world
from time_limits import HANG

pytest.importorskip("viser")
pytest.importorskip("trimesh")
from jounce.view import Triangles, ViewWarning, Visual
from jounce.view.arrows import Wrenches
from jounce.view.motion import Motion
from jounce.view.names import node_name
from jounce.view.show import configuration
from jounce.view.tubes import Tube

ARM = """<robot name="arm">
  <link name="base"> <visual> <geometry> <box size="0.2 0.2 0.1"/> </geometry> </visual>
    <inertial> <mass value="1"/> <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/> </inertial> </link>
  <link name="upper"> <inertial> <origin xyz="0 0 0.25"/> <mass value="1"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/> </inertial>
    <visual> <origin xyz="0 0 0.25" rpy="0.1 0.2 0.3"/> <geometry> <cylinder radius="0.05" length="0.5"/> </geometry>
      <material name="m"> <color rgba="1 0 0 1"/> </material> </visual>
    <visual> <origin xyz="0 0 0.5"/> <geometry> <sphere radius="0.07"/> </geometry> </visual> </link>
  <link name="lower"> <inertial> <origin xyz="0 0 0.2"/> <mass value="1"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/> </inertial> </link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute"> <parent link="base"/> <child link="upper"/> <axis xyz="0 1 0"/>
    <origin xyz="0 0 0.1"/> <limit lower="-1" upper="2" effort="1" velocity="1"/> </joint>
  <joint name="elbow" type="continuous"> <parent link="upper"/> <child link="lower"/> <axis xyz="1 0 0"/>
    <origin xyz="0 0 0.5"/> </joint>
  <joint name="nail" type="fixed"> <parent link="lower"/> <child link="tip"/> <origin xyz="0 0 0.4"/> </joint>
</robot>"""


@pytest.fixture(autouse=True)
def others_may_warn() -> Iterator[None]:
    """Of what viser and what it uses warn is not our affair; of ours is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        yield


# Placements


def test_every_visual_is_where_it_belongs() -> None:
    robot = jn.load(ARM, base="floating")
    rng = np.random.default_rng(0)
    with robot.show(robot.random_configuration(rng)) as viewer:
        for _ in range(3):
            q = robot.random_configuration(rng)
            viewer.update(q)
            for body in robot.bodies:
                shapes = below(viewer, f"/robot/{body.name}")
                assert len(shapes) >= len(body.visuals)
                for name, visual in zip(shapes, body.visuals, strict=False):
                    expected = robot.pose(body.name, q) @ visual.placement
                    assert np.allclose(world(viewer, name), expected, atol=1e-6)
        assert nodes(viewer)["/robot/upper/cylinder"].color == (255, 0, 0)


def test_links_without_looks_are_drawn_from_the_tree() -> None:
    with jn.load(ARM).show() as viewer:
        assert {"/robot/lower/capsule", "/robot/lower/box", "/robot/lower/cylinder"} <= set(nodes(viewer))
        assert not below(viewer, "/robot/tip")  # a part of what is drawn
        capsule = nodes(viewer)["/robot/lower/capsule"]
        assert np.allclose(world(viewer, capsule.name)[:3, 3], [0, 0, 0.8])  # half way from the elbow to the tip


def test_a_robot_without_any_looks() -> None:
    robot = jn.robots.aerial_manipulator()
    with robot.show() as viewer:
        for name in robot.body_names:
            assert below(viewer, f"/robot/{name}"), name


def test_soft_bodies_bend_with_q() -> None:
    b = jn.Builder()
    b.add("rod", "world", body=jn.soft.Rod(1.0, radius=(0.1, 0.05), density=1e3, young=1e6))
    robot = b.build()
    q = np.array([1.2, 0.3, 0.1])
    with robot.show(q) as viewer:
        (name,) = [n for n in nodes(viewer) if "soft" in n]
        for now in (q, 0.5 * q):
            viewer.update(now)
            rings = nodes(viewer)[name].vertices[:-2].reshape(41, -1, 3)
            line = robot.backbone("rod", now, np.linspace(0.0, 1.0, 41))
            assert np.allclose(rings.mean(axis=1), line[:, :3, 3], atol=1e-5)
            away = np.linalg.norm(rings - line[:, None, :3, 3], axis=2)
            assert np.allclose(away, np.linspace(0.1, 0.05, 41)[:, None], atol=1e-5)


def test_bodies_that_swell() -> None:
    """The surface is that of which paper D's chambers have their volume."""
    b = jn.Builder()
    body = jn.soft.VariableRadius(0.2, 0.02, 1062.0, 1.06e6)
    b.add("arm", "world", body=body)
    robot = b.build()
    tube = Tube(robot, "arm", 0.2)
    q = np.array([0.0, 0.0, 0.004, -0.002])
    rings = tube.vertices(q)[:-2].reshape(41, -1, 3)
    radii = np.linalg.norm(rings[..., :2], axis=2)
    s, _, phi, _, bumps = body._surface
    for i in (5, 20, 33):
        for k in (3, 9, 20):
            at = np.argmin(np.abs(s - 0.2 * i / 40)), np.argmin(np.abs(phi - 2 * np.pi * k / 28))
            assert radii[i, k] == pytest.approx(0.02 + bumps[at] @ q[2:], abs=1e-4)
    assert np.ptp(radii) > 1e-3


def test_a_module_of_ones_own_is_drawn() -> None:
    class Slider(jn.soft.Module):
        n = 1
        scale = (0.1,)

        masses = (1.0,)

        def pose(self, q: Any) -> Any:
            return np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.3 + q[0]], [0, 0, 0, 1]])

        def points(self, q: Any) -> Any:
            return np.array([[0, 0, 0.15 + q[0]]])

    b = jn.Builder()
    b.add("slider", "world", body=Slider())
    robot = b.build()
    with robot.show([0.1]) as viewer:
        (name,) = [n for n in nodes(viewer) if "soft" in n]
        assert nodes(viewer)[name].vertices[:, 2].max() == pytest.approx(0.4)


class Arc(jn.soft.Module):
    """Of constant curvature about y, 0.3 m long, leaving along z; its mass in a few places along it, or beside it."""

    n, scale = 1, (1.0,)

    def __init__(self, places: tuple[float, ...] = (0.25, 0.5, 0.75), beside: float = 0.0) -> None:
        self.places, self.beside, self.masses = places, beside, np.full(len(places), 0.1)

    def pose(self, q: Any) -> Any:
        x, z, angle = *self.place(q, 1.0), q[0]
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, 0, s, x], [0, 1, 0, 0], [-s, 0, c, z], [0, 0, 0, 1]])

    def place(self, q: Any, u: float) -> tuple[Any, Any]:
        a = u * q[0]
        return 0.3 * u * a * jn.soft.stumpff(2, a**2), 0.3 * u * jn.soft.stumpff(1, a**2)

    def points(self, q: Any) -> Any:
        found = []
        for i, u in enumerate(self.places):
            x, z = self.place(q, u)
            found.append([x, self.beside * (-1) ** i, z])
        return np.array(found)


@pytest.mark.parametrize(("arc", "off"), [(Arc(), 1e-3), (Arc((0.5,)), 4e-3), (Arc((0.9, 0.1, 0.6), beside=0.2), 0.02)])
@pytest.mark.parametrize("turn", [1.2, -1.2, 0.4])
def test_a_module_bends_between_its_ends(arc: Arc, off: float, turn: float) -> None:
    """Through its points where they follow each other, otherwise by the directions of its ends, on a moving base."""
    b = jn.Builder()
    b.add("base", "world", jn.Revolute(axis=(0, 0, 1)), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    b.add("arc", "base", placement=np.array([[1, 0, 0, 1.0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]), body=arc)
    robot = b.build()
    q = np.array([0.7, turn])
    with robot.show(q) as viewer:
        (name,) = [n for n in nodes(viewer) if "soft" in n]
        vertices = np.asarray(nodes(viewer)[name].vertices, dtype=float)
    rings = vertices[:-2].reshape(41, -1, 3)
    near = robot.pose("base", q) @ robot.bodies[1].placement
    found = (rings.mean(axis=1) - near[:3, 3]) @ near[:3, :3]
    u = np.linspace(0.0, 1.0, 2001)
    known = np.array([[*arc.place(q[1:], x)] for x in u])
    apart = np.linalg.norm(found[:, None, [0, 2]] - known[None], axis=2).min(axis=1)
    assert apart.max() < off
    assert np.abs(found[:, 1]).max() < 1e-6
    assert np.allclose(found[[0, -1]][:, [0, 2]], known[[0, -1]], atol=1e-6)
    for ring, end in ((rings[0], near), (rings[-1], robot.pose("arc", q))):  # it leaves and arrives upright
        assert np.allclose((ring - end[:3, 3]) @ end[:3, 2], 0.0, atol=1e-6)
    swing = np.linalg.norm(rings - rings.mean(axis=1, keepdims=True), axis=2)
    assert np.allclose(swing, swing[0, 0], rtol=1e-4)
    twist = np.linalg.norm(np.diff(rings - rings.mean(axis=1, keepdims=True), axis=0), axis=2)
    assert twist.max() < 0.1 * swing[0, 0]  # rings follow each other without a turn


def test_a_module_whose_ends_are_at_one_place_is_drawn() -> None:
    class Ball(jn.soft.Module):
        n, masses = 1, (1.0,)

        def pose(self, q: Any) -> Any:
            return np.eye(4) + 0 * q[0]

        def points(self, q: Any) -> Any:
            return np.array([[0, 0, 0.1 + q[0]]])

    b = jn.Builder()
    b.add("ball", "world", body=Ball())
    with b.build().show() as viewer:
        (name,) = [n for n in nodes(viewer) if "soft" in n]
        assert np.isfinite(nodes(viewer)[name].vertices).all()


# What is laid over it


def test_frames_names_mass_and_inertia() -> None:
    robot = jn.load(ARM)
    q = np.array([0.5, 0.7])
    with robot.show(q, frames=True, names=True, com=True, inertias=True) as viewer:
        found = nodes(viewer)
        assert all(found[f"/robot/{name}"].show_axes for name in robot.frame_names)
        assert {found[f"/robot/{name}/name"].text for name in robot.frame_names} == set(robot.frame_names)
        assert np.allclose(found["/robot/centre of mass"].position, robot.center_of_mass(q))
        viewer.update(2 * q)
        assert np.allclose(found["/robot/centre of mass"].position, robot.center_of_mass(2 * q))
        radii = np.sort(found["/robot/upper/inertia"].scale)  # an ellipsoid of 1 kg: I = (b^2 + c^2) / 5
        assert np.allclose([radii[0] ** 2 + radii[1] ** 2, radii[1] ** 2 + radii[2] ** 2], [0.005, 0.1])


@pytest.mark.parametrize("frame", ["body", "mixed", "world"])
def test_wrenches_in_all_axes(frame: str) -> None:
    """The power of a wrench does not depend on where and in which axes it is given."""
    robot = jn.load(ARM)
    rng = np.random.default_rng(1)
    q, v = robot.random_configuration(rng), rng.normal(size=(1, robot.nv))
    given = rng.normal(size=(2, 6))
    wrenches = Wrenches.of(robot, {"lower": given}, frame, None)
    assert wrenches is not None
    kin = robot.forward_kinematics(q, v, frames=robot.frame_names, frame="mixed")
    points, drawn = wrenches.at(0.0, kin.pose)
    twist = robot.twist("lower", q, v, frame=frame)[0]
    mixed = robot.twist("lower", q, v, frame="mixed")[0]
    assert np.allclose(points[0], robot.pose("lower", q)[:3, 3])
    assert np.allclose(drawn[:, 0] @ mixed, given @ twist)


def test_forces_of_constraints_and_their_rates() -> None:
    robot = jn.load(ARM).constrained({"tip": jn.Spherical()})
    q = np.array([0.5, 0.3])
    found = robot.constrained_dynamics(q, np.zeros(2), np.array([[1.0, 0.0], [3.0, 0.0]]), wrench_frame="mixed")
    with robot.show(q, wrenches=found.forces, wrench_frame="mixed", force_scale=(0.01, 0.02)) as viewer:
        for order, (name, scale) in enumerate((("forces", 0.01), ("forces (rates)", 0.02))):
            arrows = nodes(viewer)[f"/robot/{name}"]
            assert arrows.visible
            start, end = arrows.points[0]
            assert np.allclose(start, robot.pose("tip", q)[:3, 3], atol=1e-6)
            assert np.allclose(end - start, scale * found.forces["tip"][order, :3], atol=1e-5)
        assert "/robot/moments" not in nodes(viewer)


def test_forces_of_loops_act_where_they_close() -> None:
    b = jn.Builder()
    for arm, x in (("left", 0.0), ("right", 0.5)):
        hinge = np.eye(4)
        hinge[0, 3] = x
        b.add(arm, "world", jn.Revolute((0, 1, 0)), hinge, jn.Inertia(1.0, com=(0, 0, -0.5)))
    end = np.eye(4)
    end[2, 3] = -1.0
    b.close("rope", "left", "right", jn.Distance(0.5), placement_a=end, placement_b=end)
    robot = b.build()
    q = np.zeros(2)
    found = robot.constrained_dynamics(q, np.zeros(2), np.array([1.0, 0.0]))
    with robot.show(q, wrenches=found.forces) as viewer:
        start, tip = nodes(viewer)["/robot/forces"].points[0]
        assert np.allclose(start, [0, 0, -1])
        assert np.allclose(np.cross(tip - start, [1, 0, 0]), 0, atol=1e-6)  # along the rope
        assert "/robot/moments" not in nodes(viewer)  # about the place where it is tied there is none


def test_twists() -> None:
    robot = jn.load(ARM)
    q, v = np.array([0.3, 0.2]), np.array([1.0, -0.5])
    with robot.show(q, v, twists=["tip"]) as viewer:
        for name, part in (("velocities", slice(0, 3)), ("angular velocities", slice(3, 6))):
            start, end = nodes(viewer)[f"/robot/{name}"].points[0]
            along = robot.twist("tip", q, v[None], frame="mixed")[0, part]
            assert np.allclose(start, robot.pose("tip", q)[:3, 3], atol=1e-6)
            assert np.allclose(np.cross(end - start, along), 0, atol=1e-6)
            assert (end - start) @ along > 0


# Motions


def swing() -> tuple[jn.Model, jn.Trajectory]:
    robot = jn.load(ARM, base="floating")
    rng = np.random.default_rng(4)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    return robot, jn.simulate(robot, q, v, times=np.linspace(0.0, 0.5, 6))


def test_a_motion_between_its_samples() -> None:
    robot, motion = swing()
    shown = Motion.of("trajectory", robot, motion)
    fine = jn.simulate(robot, motion.q[0], motion.v[0], times=np.linspace(0.0, 0.5, 51))
    for i, t in enumerate(fine.time):
        q, v = shown.at(float(t))
        assert np.abs(robot.difference(q, fine.q[i])).max() < 0.05
        assert v is not None
    assert np.array_equal(shown.at(0.1)[0], motion.q[1])
    assert np.array_equal(shown.at(-1.0)[0], motion.q[0])
    assert np.array_equal(shown.at(9.0)[0], motion.q[-1])


def test_time_goes_to_any_place_and_plays() -> None:
    robot, motion = swing()
    with motion.show(robot, reference=motion, name="flown") as viewer:
        viewer.go(0.3)
        for root in ("flown", "reference"):
            place = nodes(viewer)[f"/{root}/upper"].position
            assert np.allclose(place, robot.pose("upper", motion.q[3])[:3, 3], atol=1e-6)
        assert nodes(viewer)["/reference/upper/sphere"].opacity < 0.5
        assert nodes(viewer)["/flown/upper/sphere"].opacity is None
        before = nodes(viewer)["/flown/upper"].position.copy()
        assert viewer._player is not None
        viewer._player.play()
        moved = threading.Event()
        for _ in range(100):
            if not np.array_equal(nodes(viewer)["/flown/upper"].position, before):
                moved.set()
                break
            moved.wait(0.05)
        assert moved.is_set()


def test_bodies_and_arrows_are_sent_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """When a robot is added, moved by a call, by a slider or over time, a browser gets all of it or nothing."""
    robot = jn.load(ARM)
    motion = jn.Trajectory.of(robot, [0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]])
    forces = {"lower": np.tile([0.0, 0, 5, 0, 0, 0], (2, 1))}
    with robot.show(wrenches={"upper": [0.0, 0, 5, 0, 0, 0]}) as viewer:
        buffer = viewer._server._websock_server.get_message_buffer()
        push, open_blocks = type(buffer).push, []

        def noted(self: Any, message: Any) -> None:
            if self is buffer and "Scene" in str(message.entity_type or type(message).__name__).title():
                open_blocks.append(buffer.atomic_counter)
            push(self, message)

        monkeypatch.setattr(type(buffer), "push", noted)
        viewer.update([0.5, 0.5])
        assert len(open_blocks) >= 3
        viewer._boxes["sliders robot"]._moved(np.array([0.2, 0.1]))
        motion.show(robot, wrenches=forces, viewer=viewer, name="other")
        viewer.go(0.5)
        assert len(open_blocks) > 20
        assert min(open_blocks) > 0


def test_a_motion_with_forces_over_time() -> None:
    robot, motion = swing()
    forces = np.zeros((6, 2, 6))
    forces[:, 0, 2] = np.arange(6.0)
    with motion.show(robot, wrenches={"tip": forces}, wrench_frame="mixed", force_scale=0.1) as viewer:
        for time, force in ((0.5, 5.0), (0.25, 2.5)):
            viewer.go(time)
            start, end = nodes(viewer)["/robot/forces"].points[0]
            assert np.allclose(end - start, [0, 0, 0.1 * force], atol=1e-5)
        viewer.go(0.0)
        assert not nodes(viewer)["/robot/forces"].visible


class Dragged:
    """What viser tells of a slider that a browser has moved."""

    client = "a browser"


def drag(handle: Any, value: float) -> None:
    handle.value = value
    for told in handle._impl.update_cb:
        told(Dragged())


def test_sliders_respect_limits_and_move_the_robot() -> None:
    robot = jn.load(ARM)
    with robot.show() as viewer:
        shoulder, elbow = viewer._boxes["sliders robot"]._handles
        assert (shoulder.min, shoulder.max) == (-1.0, 2.0)
        assert (elbow.min, elbow.max) == (-np.pi, np.pi)
        viewer.update([0.4, -0.2])
        assert (shoulder.value, elbow.value) == (0.4, -0.2)
        drag(shoulder, 1.0)
        assert np.allclose(world(viewer, "/robot/lower"), robot.pose("lower", [1.0, -0.2]), atol=1e-6)
        viewer.update([3.0, 0.0])  # beyond its limit, and stays there while the other moves
        drag(elbow, 0.5)
        assert np.allclose(world(viewer, "/robot/lower"), robot.pose("lower", [3.0, 0.5]), atol=1e-6)


def test_sliders_of_a_free_base() -> None:
    robot = jn.load(ARM, base="floating")
    with robot.show() as viewer:
        handles = viewer._boxes["sliders robot"]._handles
        assert len(handles) == 8
        drag(handles[0], 0.3)
        drag(handles[5], 0.7)  # yaw
        q = np.array([0.3, 0, 0, 0, 0, np.sin(0.35), np.cos(0.35), 0, 0])
        assert np.allclose(world(viewer, "/robot/lower"), robot.pose("lower", q), atol=1e-6)


def test_sliders_of_a_robot_with_a_loop_keep_it_closed() -> None:
    b = jn.Builder()
    for arm, x in (("left", 0.0), ("right", 0.5)):
        hinge = np.eye(4)
        hinge[0, 3] = x
        b.add(arm, "world", jn.Revolute((0, 1, 0)), hinge, jn.Inertia(1.0, com=(0, 0, -0.5)))
    end = np.eye(4)
    end[2, 3] = -1.0
    b.close("rod", "left", "right", jn.Distance(0.5), placement_a=end, placement_b=end)
    robot = b.build()
    with robot.show() as viewer:
        sliders = viewer._boxes["sliders robot"]
        drag(sliders._handles[0], 0.4)
        q = np.array([handle.value for handle in sliders._handles])
        assert np.abs(robot.residual(q)).max() < 1e-9
        assert abs(q[1]) > 0.1


def test_roll_pitch_and_yaw() -> None:
    from jounce.view.sliders import _angles, _quaternion

    rng = np.random.default_rng(7)
    for angles in (*rng.uniform(-1.5, 1.5, size=(20, 3)), (0.3, np.pi / 2, 0.0), (0.3, -np.pi / 2, 0.0)):
        x, y, z, w = _quaternion(*angles)
        turn = rotation((w, x, y, z))
        assert np.allclose(_angles(np.array([x, y, z, w])), angles, atol=1e-7)
        assert np.allclose(rotation(quaternions(turn)), turn, atol=1e-12)


def test_a_motion_from_arrays() -> None:
    robot = jn.load(ARM)
    motion = jn.Trajectory.of(robot, [0, 1], [[0, 0], [1, 1]], v=[[1, 1], [1, 1]])
    assert motion.q_names == ("shoulder", "elbow")
    assert (motion.v == 1).all()
    assert not motion.tau.any()
    for arguments, message in (
        (([1, 0], np.zeros((2, 2))), "time is"),
        (([0, np.inf], np.zeros((2, 2))), "time is"),
        (([0, 1], np.zeros((3, 2))), "q has shape"),
        (([0, 1], np.zeros((2, 2)), np.zeros((2, 3))), "v has shape"),
    ):
        with pytest.raises(ValueError, match=message):
            jn.Trajectory.of(robot, *arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="robot is 1"):
        jn.Trajectory.of(1, [0], [[0]])  # type: ignore[arg-type]


# Pages


def test_a_page_has_everything_inside(tmp_path: Path) -> None:
    robot, motion = swing()
    viewer = motion.show(robot, save=tmp_path / "flight.html", rate=20, name="</script><b>'\"robot")
    assert "closed" in repr(viewer)
    text = (tmp_path / "flight.html").read_text(encoding="utf-8")
    assert 300_000 < len(text) < 5_000_000
    assert "</script><b>" not in text
    assert "<title>&lt;\u2215script&gt;&lt;b&gt;" in text
    outside = re.findall(r"""(?:src|href)=["'](?!data:|#)([^"']+)""", text)
    assert not outside
    data = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', text)[1])  # type: ignore[index]
    import msgspec
    import zstandard

    inner = zstandard.ZstdDecompressor().decompressobj().decompress(data[8:])
    size = int.from_bytes(inner[:8], "little")
    recording = msgspec.msgpack.decode(inner[8 : 8 + size])
    assert recording["durationSeconds"] == pytest.approx(1.0)  # the motion, and half a second at its end
    times = sorted({time for time, _ in recording["messages"]})
    assert len(times) == 11
    last = [m for time, m in recording["messages"] if m.get("type") == "SetPositionMessage" and time > 0.49]
    assert any(np.allclose(m["position"], robot.pose("tip", motion.q[-1])[:3, 3], atol=1e-5) for m in last)


def flight() -> tuple[jn.Model, jn.Trajectory]:
    """An arm that flies 70 m away."""
    robot = jn.load(ARM, base="floating")
    q = np.stack([robot.neutral()] * 3)
    q[:, :3] = [0.0, 0.0, 0.5], [20.0, -30.0, 4.0], [40.0, -60.0, 1.0]
    q[:, 7] = 0.1, 0.6, 1.1
    return robot, jn.Trajectory.of(robot, [0.0, 1.0, 2.0], q)


@pytest.mark.parametrize("followed", ["base", "upper", "tip"])
def test_the_view_follows(followed: str) -> None:
    """Everything moves past what is followed, the floor by less than one of its sections; the camera stays near."""
    robot, motion = flight()
    turned = jn.placement((1.0, 2.0, 0.0), rpy=(0.0, 0.0, 0.5))
    with motion[:1].show(robot, placement=turned) as viewer:
        near = np.subtract(viewer._server.initial_camera.position, viewer._server.initial_camera.look_at)
    options: dict[str, Any] = {"reference": motion, "trace": [followed], "placement": turned}
    with motion.show(robot, follow=followed, **options) as viewer:
        floor = nodes(viewer)["/floor"]
        far = np.subtract(viewer._server.initial_camera.position, viewer._server.initial_camera.look_at)
        assert np.linalg.norm(far) < 2 * np.linalg.norm(near)
        home, seen = None, []
        for t in (0.0, 0.7, 1.5, 2.0):
            viewer.go(t)
            expected = turned @ robot.pose(followed, Motion.of("motion", robot, motion).at(t)[0])
            found = world(viewer, f"/robot/{followed}")
            home = found if home is None else home
            np.testing.assert_allclose(found[:3, 3], home[:3, 3], atol=1e-9)
            np.testing.assert_allclose(found[:3, :3], expected[:3, :3], atol=1e-6)
            np.testing.assert_allclose(world(viewer, f"/reference/{followed}"), found, atol=1e-6)
            shift = found[:3, 3] - expected[:3, 3]
            np.testing.assert_allclose(nodes(viewer)["/robot"].position, turned[:3, 3] + shift, atol=1e-9)
            seen.append(np.subtract(floor.position, shift))
        across, height = np.array(seen)[:, :2] - seen[0][:2], np.array(seen)[:, 2]
        np.testing.assert_allclose(across / floor.section_size, np.round(across / floor.section_size), atol=1e-9)
        np.testing.assert_allclose(height, min(0.0, height[0]), atol=1e-9)


def test_go_stays_there_while_the_next_frame_waits() -> None:
    robot, motion = flight()
    with motion.show(robot) as viewer:  # it plays
        with viewer._lock:
            time.sleep(0.2)  # meanwhile the player wants to show its next frame
            viewer.go(2.0)
        time.sleep(0.1)
        np.testing.assert_allclose(world(viewer, "/robot/base")[:3, 3], motion.q[-1, :3], atol=1e-9)
        assert viewer._player is not None
        assert viewer._player._slider.value == 2.0


def test_the_view_follows_a_robot_that_is_moved() -> None:
    robot, _ = flight()
    with robot.show(follow="base") as viewer:
        robot.show(viewer=viewer, name="beside", placement=jn.placement((0.0, 1.0, 0.0)))
        for shift in ([3.0, 4.0, 5.0], [0.0, 0.0, 0.0]):
            viewer.update([*shift, *robot.neutral()[3:]])
            np.testing.assert_allclose(world(viewer, "/robot/base")[:3, 3], 0.0, atol=1e-9)
            np.testing.assert_allclose(world(viewer, "/beside/base")[:3, 3], np.array([0, 1, 0]) - shift, atol=1e-9)


def test_a_page_is_written_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what viser makes; all of it at once took five times its size, and long steps without a look for Ctrl-C."""
    from jounce.view import page

    corners = np.random.default_rng(0).normal(size=(100_000, 3)).astype(np.float32)
    mesh = Visual(Triangles("t", corners, np.arange(99_999, dtype=np.int32).reshape(-1, 3)), np.eye(4))
    builder = jn.Builder()
    builder.add("a", "world", jn.Revolute((0, 0, 1)), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)), visuals=[mesh])
    with builder.build().show() as viewer:
        monkeypatch.setattr(page, "_PIECE", 3000)
        recording = viewer._server.get_scene_serializer()
        content = base64.b64encode(recording.serialize())
        assert len(content) > 1e6
        tracemalloc.start()
        try:
            path = viewer.save(tmp_path / "page.html")
            assert tracemalloc.get_traced_memory()[1] < 3 * path.stat().st_size
        finally:
            tracemalloc.stop()
    found = re.search(rb'window\.__VISER_EMBED_DATA__="([^"]*)"', path.read_bytes())
    assert found
    assert len(base64.b64decode(found[1], validate=True)) == pytest.approx(len(content) * 3 / 4, rel=1e-3)


def test_a_saved_page_follows(tmp_path: Path) -> None:
    """The recording moves the floor, which stays where it is otherwise."""
    robot, motion = flight()
    for options, moves in (({"follow": "base"}, True), ({}, False)):
        with motion.show(robot, **options) as viewer:
            viewer.go(0.0)
            recording = viewer._server.get_scene_serializer()
            before = len(recording._messages)
            viewer.go(1.0)
            moved = {message["name"] for _, message in recording._messages[before:]}
        assert moved >= {"/robot/base", "/robot/upper"}
        assert moved.issuperset({"/floor", "/robot"}) == moves


def test_paths_are_drawn(tmp_path: Path) -> None:
    robot, motion = swing()
    with motion.show(robot, trace=["tip", "lower"]) as viewer:
        line = nodes(viewer)["/robot/path of tip"]
        points = np.asarray(line.points, dtype=float)
        tips = np.array([robot.pose("tip", q)[:3, 3] for q in motion.q])
        ends = np.concatenate([points[:1, 0], points[:, 1]])
        assert np.allclose(ends[[0, -1]], tips[[0, -1]], atol=1e-6)
        assert np.linalg.norm(ends[:, None] - tips[None], axis=2).min(axis=0).max() < 1e-6  # it passes all samples
        assert "/robot/path of lower" in nodes(viewer)
        assert "path of tip" in viewer._legend.content
    for given, message in (("tip", "trace is 'tip'"), (["tap"], "trace: no body or frame is named 'tap'.*tip")):
        with pytest.raises(ValueError, match=message):
            motion.show(robot, trace=given)  # type: ignore[arg-type]


def test_a_page_has_the_legend_of_its_arrows(tmp_path: Path) -> None:
    robot, motion = swing()
    push = np.zeros((len(motion), 2, 6))
    push[:, 0, 0], push[:, 1, 2] = 4.0, 8.0
    motion.show(robot, wrenches={"tip": push}, force_scale=(0.05, 0.2), save=tmp_path / "push.html", rate=5)
    text = (tmp_path / "push.html").read_text(encoding="utf-8")
    assert "forces: 0.1 m is 2 N</div>" in text
    assert "forces (rates): 0.1 m is 0.5 N/s</div>" in text
    assert text.index("forces: 0.1 m") > text.index("</title>")
    motion.show(robot, save=tmp_path / "plain.html", rate=5)
    assert "<aside" not in (tmp_path / "plain.html").read_text(encoding="utf-8")


def test_all_of_a_robot_is_in_the_picture() -> None:
    from jounce.view import camera

    for size in ((1.0, 1.0, 1.0), (3.0, 2.0, 0.1), (0.1, 0.1, 4.0), (1e-9, 0, 0)):
        box = np.array([[-0.5], [0.5]]) * size
        away = camera._distance(box)
        back = camera._FROM / np.linalg.norm(camera._FROM)
        right = np.cross([0, 0, 1], back) / np.linalg.norm(np.cross([0, 0, 1], back))
        corners = np.array([[x, y, z] for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]])
        depth = away - corners @ back
        assert (depth > 0).all()
        slope = np.tan(camera._FIELD / 2)
        high, wide = np.abs(corners @ np.cross(back, right)) / depth / slope, np.abs(corners @ right) / depth / slope
        assert high.max() <= 0.87
        assert wide.max() <= 1.25 * 0.87
        assert max(high.max(), wide.max() / 1.25) > 0.85 or max(size) < 1e-6


@pytest.mark.filterwarnings("ignore::jounce.LoadWarning")
def test_a_large_floor_does_not_make_the_robot_small() -> None:
    """MJCF has planes of 40 m under ants; what stands beside the robot is in the picture all the same."""
    pytest.importorskip("mujoco")
    body = '<body pos="0 0 0.5"> <freejoint/> <geom type="box" size="0.4 0.3 0.2"/> </body>'

    def away(scenery: str) -> float:
        with jn.load(f"<mujoco> <worldbody> {scenery} {body} </worldbody> </mujoco>").show() as viewer:
            camera = viewer._server.initial_camera
            return float(np.linalg.norm(np.subtract(camera.position, camera.look_at)))

    alone = away("")
    floor, wide = (away(f'<geom type="plane" size="{size} {size} 0.1"/>') for size in (2, 40))
    assert floor == pytest.approx(wide, rel=0.01)
    assert alone < wide < 3 * alone
    assert away('<geom type="box" size="4 40 0.1" pos="0 0 -0.1"/>') == pytest.approx(wide, rel=0.1)
    assert alone < away('<geom type="box" size="0.2 0.2 0.2" pos="0.7 0 0.2"/>') < 2 * alone


def test_a_page_of_a_robot_at_rest(tmp_path: Path) -> None:
    jn.load(ARM).show([0.1, 0.2], save=str(tmp_path / "arm.html"))
    assert (tmp_path / "arm.html").stat().st_size > 300_000


# What is wrong


def test_what_cannot_be_shown_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "bad.stl").write_text("this is no mesh, whatever its name says")
    visuals = "".join(
        f'<visual> <geometry> <mesh filename="{name}"/> </geometry> </visual>'
        for name in ("bad.stl", "bad.stl", "missing.stl", "package://nowhere/a.stl")
    )
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r"> <link name="a"> {visuals} </link> </robot>')
    robot = jn.load(path)
    with pytest.warns(ViewWarning) as heard, robot.show() as viewer:
        assert "/robot/a" in nodes(viewer)
    (warning,) = heard
    said = str(warning.message)
    for name in ("bad.stl has no faces", "missing.stl does not exist", "'nowhere', which was not found"):
        assert name in said
    assert warning.filename == __file__


def test_odd_names_stay_names() -> None:
    odd = ["a/b", "a\u2215b", "</script>", "\"quotes'", "new\nline", "\u202emirror", "x" * 300, "forces", " "]
    b = jn.Builder()
    above = "world"
    for name in odd:
        b.add(name, above, jn.Revolute(), inertia=jn.Inertia(1.0, (0, 0, 1), np.eye(3)))
        above = name
    robot = b.build()
    with robot.show(names=True, wrenches={"forces": np.ones(6)}, name="</script>/'") as viewer:
        labels = [n for n in nodes(viewer) if n.endswith("/name")]
        assert {n.split("/")[1] for n in labels} == {"<\u2215script>\u2215'"}
        assert len(labels) == len(odd)
        texts = {nodes(viewer)[n].text for n in labels}
        assert {"</script>", "\"quotes'", "a/b", "new\\nline"} <= texts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"q": [0.0]}, "q has shape"),
        ({"q": [np.nan, 0.0]}, "q is"),
        ({"v": [0.0]}, "v has shape"),
        ({"wrenches": {"tipp": np.zeros(6)}}, "did you mean 'tip'"),
        ({"wrenches": {"tip": np.zeros(5)}}, "wrenches\\['tip'\\] has shape"),
        ({"wrenches": {"tip": np.full(6, np.inf)}}, "nan or inf"),
        ({"wrenches": [1]}, "expected a mapping"),
        ({"wrenches": {"tip": np.ones(6)}, "wrench_frame": "hand"}, "wrench_frame is 'hand'"),
        ({"wrenches": {"tip": np.ones(6)}, "force_scale": -1}, "force_scale is -1"),
        ({"twists": True}, "pass v"),
        ({"twists": ["tipp"], "v": [0.0, 0.0]}, "did you mean 'tip'"),
        ({"twists": "tip", "v": [0.0, 0.0]}, "twists is 'tip'"),
        ({"frames": "yes"}, "frames is 'yes'"),
        ({"name": ""}, "name is ''"),
        ({"colour": "red-ish"}, "colour is 'red-ish'"),
        ({"colour": (1, 2, 3)}, "colour is"),
        ({"opacity": 2}, "opacity is 2"),
        ({"floor": "high"}, "floor is 'high'"),
        ({"follow": "tipp"}, "^follow: no body or frame is named 'tipp': did you mean 'tip'"),
        ({"follow": 3}, "^follow: no body or frame is named 3: there are 'upper', 'lower'"),
        ({"follow": ["tip"]}, "^follow: no body or frame is named"),
        ({"viewer": 1}, "viewer is 1"),
        ({"host": 1}, "host is 1"),
        ({"port": 0}, "port is 0"),
        ({"save": 1}, "save is 1"),
        ({"save": "fall.gif"}, "save is 'fall.gif', expected .*, such as fall.html: trajectory.video makes films"),
        ({"save": Path("fall.PNG")}, r"save is .*, expected .*: viewer.picture saves what"),
        ({"save": "x.html", "rate": 0}, "rate"),
    ],
)
def test_arguments_are_named(arguments: dict[str, Any], message: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        jn.load(ARM).show(**arguments)
    assert not list(tmp_path.iterdir())


def test_motions_of_others_are_refused() -> None:
    robot, motion = swing()
    with pytest.raises(ValueError, match="trajectory has coordinates"):
        motion.show(jn.load(ARM))
    with pytest.raises(ValueError, match="reference is 3"):
        motion.show(robot, reference=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="robot is None"):
        motion.show(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no times"):
        motion[:0].show(robot)
    with pytest.raises(ValueError, match=r"expected \(6, 6\) or \(6, K, 6\)"):
        motion.show(robot, wrenches={"tip": np.zeros(6)})


def test_a_quaternion_that_is_none_is_refused() -> None:
    robot = jn.load(ARM, base="floating")
    with pytest.raises(ValueError, match="quaternion"):
        configuration(robot, np.zeros(robot.nq))


def test_robots_side_by_side() -> None:
    robot, q, aside = jn.load(ARM), np.array([0.3, 0.4]), jn.placement((0, 2, 0.5), rpy=(0, 0, 1.0))
    with robot.show(q) as viewer:
        alone = viewer._shown["robot"].reach()[0]
        robot.show(q, viewer=viewer, name="other", placement=aside, com=True)
        for link in robot.frame_names:
            np.testing.assert_allclose(
                world(viewer, f"/other/{link}"), aside @ world(viewer, f"/robot/{link}"), atol=1e-12
            )
        centre = world(viewer, "/other/centre of mass")[:3, 3]
        np.testing.assert_allclose(centre, aside[:3, :3] @ robot.center_of_mass(q) + aside[:3, 3], atol=1e-12)
        there = viewer._shown["other"].reach()[0]
        np.testing.assert_allclose(there[:, 2], alone[:, 2] + 0.5, atol=1e-12)  # what the camera is to see
        assert there[0, 1] > alone[1, 1]
    with pytest.raises(ValueError, match=r"^placement"):
        robot.show(placement=np.ones((4, 4)))


def test_bodies_of_next_to_no_mass_have_no_ellipsoid() -> None:
    b = jn.Builder()
    for name, mass in (("heavy", 5.0), ("light", 1e-6)):
        b.add(name, "world", jn.Revolute(), inertia=jn.Inertia(mass, rotational=(1.0, 1.0, 1.0)))
    with b.build().show(inertias=True) as viewer:
        assert "/robot/heavy/inertia" in nodes(viewer)
        assert "/robot/light/inertia" not in nodes(viewer)


# Life


def test_it_listens_on_this_machine_alone_and_ends() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]  # which no viewer that starts meanwhile will take
    robot = jn.load(ARM)
    viewer = robot.show(port=port)
    assert viewer.url == f"http://127.0.0.1:{port}"
    assert _listens("127.0.0.1", port)
    for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}:
        if not str(address).startswith("127."):
            assert not _listens(str(address), port)
    assert "iframe" in viewer._repr_html_()
    viewer.close()
    viewer.close()
    assert "closed" in repr(viewer)
    assert not _listens("127.0.0.1", port)


def test_a_viewer_that_was_closed_says_so(tmp_path: Path) -> None:
    robot = jn.load(ARM)
    with robot.show() as viewer:
        with pytest.raises(ValueError, match=r"^nothing on this page moves"):
            viewer.go(0.0)
        with pytest.raises(ValueError, match=r"^time is nan, expected"):
            viewer.go(np.nan)
    calls = [
        lambda: viewer.update(robot.neutral()),
        lambda: viewer.go(0.0),
        lambda: viewer.save(tmp_path / "page.html"),
        lambda: viewer.picture(tmp_path / "picture.png"),
        lambda: viewer.video(tmp_path / "film.gif"),
        lambda: robot.show(viewer=viewer),
        viewer.open,
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match=r"^this viewer was closed: show the robot again for another$"):
            call()
    viewer.wait()  # does not


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "nosuchhost.invalid", "a" * 70 + ".com"])
def test_an_address_that_is_not_this_machine(host: str) -> None:
    with pytest.raises(ValueError, match=f"^host is '{host}', where this machine cannot listen: "):
        jn.load(ARM).show(host=host)


def test_addresses_with_colons_are_in_brackets() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 here")
    with jn.load(ARM).show(host="::1") as viewer:
        assert re.fullmatch(r"http://\[::1\]:\d+", viewer.url)


def test_the_last_port_is_taken() -> None:
    with socket.socket() as other:
        try:
            other.bind(("127.0.0.1", 65535))
        except OSError:
            pytest.skip("another program has it")
        with pytest.raises(ValueError, match=r"^port is 65535, which is taken, and so are all after it$"):
            jn.load(ARM).show(port=65535)


def test_thousands_of_nodes_of_one_name() -> None:
    taken: set[str] = set()
    names = [node_name("box", taken) for _ in range(20_000)]
    assert names[:3] == ["box", "box (2)", "box (3)"]
    assert len(taken) == len(names)


def _listens(host: str, port: int) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection((host, port), timeout=2).close()
        return True
    return False


def test_no_page_opens_it_to_the_world() -> None:
    with jn.load(ARM).show() as viewer:
        assert viewer._server.request_share_url() is None


@pytest.mark.parametrize(
    ("origin", "asked", "answer"),
    [
        (None, "127.0.0.1", 101),  # a program
        ("http://127.0.0.1:{port}", "127.0.0.1", 101),  # its own page, by either name
        ("http://localhost:{port}", "localhost", 101),
        ("https://example.org", "127.0.0.1", 403),
        ("http://localhost:3000", "localhost", 403),  # of another server here
        ("http://127.0.0.1:{port}", "localhost", 403),
        ("http://evil.example:{port}", "evil.example", 403),  # a name that was made to lead here
        ("http://127.0.0.1.evil.example:{port}", "127.0.0.1.evil.example", 403),
        ("null", "127.0.0.1", 403),  # a file, or a frame without an origin
        ("", "127.0.0.1", 403),
        ("http://[", "127.0.0.1", 403),
    ],
)
def test_pages_from_elsewhere_get_no_socket(origin: str | None, asked: str, answer: int) -> None:
    with jn.load(ARM).show() as viewer:
        port = int(viewer.url.rpartition(":")[2])
        said = "" if origin is None else f"Origin: {origin.format(port=port)}\r\n"
        request = (
            f"GET / HTTP/1.1\r\nHost: {asked}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: viser-v{pytest.importorskip('viser').__version__}\r\n{said}\r\n"
        )
        with socket.create_connection(("127.0.0.1", port), timeout=HANG) as connection:
            connection.sendall(request.encode())
            assert connection.recv(4096).startswith(f"HTTP/1.1 {answer} ".encode())


def test_on_other_machines_a_page_needs_to_be_our_own() -> None:
    from jounce.view.server import may_connect

    assert may_connect("0.0.0.0", "http://lab:8080", "lab:8080")
    assert not may_connect("0.0.0.0", "http://lab:80", "lab:8080")
    assert not may_connect("0.0.0.0", "https://example.org", "lab:8080")
    assert not may_connect("::1", "http://lab:8080", "lab:8080")
    assert may_connect("localhost", "http://[::1]:8080", "[::1]:8080")


def test_a_connection_that_says_nothing_does_not_keep_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Browsers keep some in reserve."""
    monkeypatch.setattr("jounce.view.server._SILENT", 0.2)
    viewer = jn.robots.aerial_manipulator().show()
    address = urlsplit(viewer.url)
    with socket.create_connection((address.hostname, address.port)):
        thread = viewer._server._websock_server._server_thread
        viewer.close()
    assert not thread.is_alive()


def test_a_port_that_is_taken_is_passed_over() -> None:
    robot = jn.load(ARM)
    with robot.show(port=8123) as one, robot.show(port=8123) as other:
        assert one.url != other.url


def test_several_robots() -> None:
    robot = jn.load(ARM)
    with robot.show() as viewer:
        assert robot.show([0.5, 0.5], viewer=viewer, name="robot", colour="#ff8000", opacity=0.5) is viewer
        assert "2 robots" in repr(viewer)
        twin = nodes(viewer)["/robot (2)/upper/sphere"]
        assert twin.color == (255, 128, 0)
        assert twin.opacity == 0.5
        viewer.update([0.1, 0.1], name="robot (2)")
        assert np.allclose(world(viewer, "/robot (2)/lower"), robot.pose("lower", [0.1, 0.1]), atol=1e-6)
        with pytest.raises(ValueError, match="name is 'nobody'"):
            viewer.update([0.1, 0.1], name="nobody")


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with jn.load(ARM).show():
        pass
    assert capsys.readouterr().out == ""


def test_what_a_video_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot, motion = swing()
    good = tmp_path / "swing.gif"
    for arguments, message in (
        ({"path": "swing.avi"}, "path is 'swing.avi', expected one that ends in .mp4 or .gif"),
        ({"path": 3}, "path is 3"),
        ({"path": good, "rate": 0.0}, "rate is 0.0"),
        ({"path": good, "rate": 1e9}, "rate is 1000000000.0, expected at most 20000 frames"),
        ({"path": good, "speed": -1.0}, "speed is -1.0"),
        ({"path": good, "width": 3}, "width is 3"),
        ({"path": good, "save": "a.html"}, "save has no meaning for a video"),
        ({"path": good, "trace": ["tap"]}, "trace: no body or frame is named 'tap'"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            motion.video(robot, **arguments)
    monkeypatch.setattr("jounce.view.browser.program", lambda: None)
    with pytest.raises(RuntimeError, match=r"needs Chrome or Chromium.*playwright install chromium"):
        motion.video(robot, good)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'jounce[video]'")):
        motion.video(robot, tmp_path / "swing.mp4")
    assert not list(tmp_path.iterdir())


def test_a_picture_needs_a_browser(tmp_path: Path) -> None:
    with jn.load(ARM).show() as viewer, pytest.raises(RuntimeError, match="no browser has"):
        viewer.picture(tmp_path / "x.png", timeout=0.1)


def test_without_the_extra_the_error_says_what_to_install() -> None:
    program = """
import sys
sys.modules["viser"] = None
import jounce as jn
assert "viser" not in [m for m in sys.modules if sys.modules[m]] and "trimesh" not in sys.modules
try:
    jn.robots.aerial_manipulator().show()
except ImportError as fault:
    print(fault)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'jounce[view]'" in done.stdout


def test_importing_jounce_imports_no_extra() -> None:
    program = (
        "import sys, jounce; print([m for m in ('viser', 'trimesh', 'collada', 'websockets') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# The command line


def test_the_command_line(tmp_path: Path) -> None:
    pytest.importorskip("typer")
    (tmp_path / "arm.urdf").write_text(ARM)
    command = [sys.executable, "-c", "from jounce.cli import main; main()", "view"]
    done = subprocess.run([*command, "arm.urdf", "--save", "arm.html"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "<title>arm</title>" in (tmp_path / "arm.html").read_text(encoding="utf-8")
    done = subprocess.run([*command, "arm.txt", "--no-browser"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "arm.txt: does not exist" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs Ctrl-C")
def test_the_command_line_serves_until_it_is_ended(tmp_path: Path) -> None:
    pytest.importorskip("typer")
    (tmp_path / "arm.urdf").write_text(ARM)
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # a background shell ignores it
    code += "from jounce.cli import main; main()"
    command = [sys.executable, "-u", "-c", code, "view", "arm.urdf", "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            address = re.search(r"showing arm at http://([\d.]+):(\d+)", line)
            assert address, line
            assert _listens(address[1], int(address[2]))
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=HANG) == 0
        finally:
            process.kill()


# The robots of example-robot-data


def example_files() -> list[Path]:
    found = [Path(place) / "cmeel.prefix/share/example-robot-data/robots" for place in sys.path]
    folder = next((place for place in found if place.is_dir()), None)
    return [] if folder is None else sorted(folder.glob("**/*.urdf"))


@pytest.mark.parametrize("path", example_files(), ids=lambda p: p.stem)
def test_robots_of_example_robot_data(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All are shown, with meshes or shapes; files of which the meshes are missing are drawn from the tree.

    Meshes of more than 50 kB are read where JOUNCE_ALL_MESHES is set, which takes minutes.
    """
    from jounce.view import meshes, scene

    def small(mesh: Any, *rest: Any) -> list[meshes.Part]:
        if os.environ.get("JOUNCE_ALL_MESHES") or Path(mesh.path).stat().st_size < 50_000:
            return meshes.parts_of(mesh, *rest)
        return [meshes.Part(np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], dtype=np.int32))]

    monkeypatch.setattr(scene, "parts_of", small)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        warnings.simplefilter("ignore" if "romeo_laas_small" in path.name else "error", ViewWarning)
        try:
            robot = jn.load(path)
        except jn.LoadError as fault:
            pytest.skip(str(fault)[-100:])
        with robot.show(names=True) as viewer:
            drawn = [n for n in nodes(viewer) if n.count("/") > 2 and not n.endswith("/name")]
            assert len(drawn) >= len(robot.body_names) / 2
            assert sum(len(b.visuals) for b in robot.bodies) <= len(drawn) or "romeo_laas" in path.name
