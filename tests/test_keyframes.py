"""Keyframes of MJCF: as MuJoCo has them, through changes of the robot and files, and to begin with in the viewer."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jounce as jn

mujoco = pytest.importorskip("mujoco")

HOME = "0.1 0.2 0.7 0.8 0 0 0.6   0.4 -0.3 0.02   0 0 2 0   0.5"
CRAB = f"""<mujoco> <compiler angle="radian"/> <option> <flag contact="disable"/> </option> <worldbody>
  <body name="crab" pos="0 0 0.5" quat="0 1 0 0"> <freejoint name="root"/> <geom size="0.2"/>
    <body name="arm" pos="0.3 0 0"> <joint name="yaw" axis="0 0 1" ref="0.7"/>
      <joint name="pitch" axis="0 1 0" pos="0 0 0.1"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/>
      <body name="claw" pos="0.4 0 0">
        <joint name="grip" type="slide" axis="0 1 0" ref="0.01"/> <geom size="0.05"/> </body> </body> </body>
  <body name="lamp" pos="1 0 0" euler="0 0 1"> <joint name="neck" type="ball"/> <geom size="0.1" pos="0 0 0.2"/>
    <body name="shade" pos="0 0 0.4">
      <joint name="tilt" axis="1 0 0"/> <geom size="0.05" pos="0 0 0.1"/> </body> </body>
  </worldbody>
  <keyframe> <key name="home" qpos="{HOME}"/> <key name="drawn" time="3"/> <key qpos="{HOME}"/> </keyframe> </mujoco>"""


@pytest.fixture(autouse=True)
def others_may_warn() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        yield


def bodies_of(model: Any, qpos: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """MuJoCo's places and rotations of the bodies."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    return {model.body(i).name: (data.xpos[i].copy(), data.xmat[i].reshape(3, 3).copy()) for i in range(1, model.nbody)}


def agrees(robot: jn.Model, q: Any, model: Any, qpos: Any) -> None:
    for name, (place, turn) in bodies_of(model, qpos).items():
        pose = robot.pose(name, q)
        assert np.allclose(pose[:3, 3], place, atol=1e-9), name
        assert np.allclose(pose[:3, :3], turn, atol=1e-9), name


@pytest.mark.parametrize("form", ["text", "file", "MjModel", "MjSpec", "copies"])
def test_keyframes_are_mujocos(form: str, tmp_path: Path) -> None:
    theirs = mujoco.MjModel.from_xml_string(CRAB)
    text = CRAB
    if form == "copies":  # which are compiled in a process of their own
        text = CRAB.replace("</worldbody>", '<replicate count="2"> <geom size="0.1"/> </replicate> </worldbody>')
    (tmp_path / "crab.xml").write_text(text)
    sources = {"file": tmp_path / "crab.xml", "MjModel": theirs, "MjSpec": mujoco.MjSpec.from_string(CRAB)}
    robot = jn.load(sources.get(form, text))
    assert list(robot.keyframes) == ["qpos0", "home", "drawn", "key 2"]
    for name, qpos in zip(robot.keyframes, (theirs.qpos0, *theirs.key_qpos), strict=True):
        q = robot.keyframes[name]
        agrees(robot, q, theirs, qpos)
        back = jn.conversions.MuJoCo(robot, theirs).back(qpos)
        assert np.abs(robot.difference(q, back)).max() < 1e-12
    assert np.allclose(np.linalg.norm(robot.keyframes["home"][[*range(3, 7)]]), 1.0)


def test_a_body_that_gets_a_free_joint_is_where_the_file_draws_it() -> None:
    text = """<mujoco> <option> <flag contact="disable"/> </option> <worldbody>
      <body name="b" pos="1 2 3" quat="0 0 0 2"> <geom size="0.1"/>
      <body name="c"> <joint name="j"/> <geom size="0.1"/> </body> </body> </worldbody>
      <keyframe> <key name="up" qpos="0.5"/> </keyframe> </mujoco>"""
    robot = jn.load(text, base="floating")
    for name, angle in (("qpos0", 0.0), ("up", 0.5)):
        assert np.allclose(robot.keyframes[name], [1, 2, 3, 0, 0, 1, 0, angle])


@pytest.mark.parametrize("size", [1e29, 1.0, 2e-15, 1e-16, 1e-155, 1e-161, 0.0])
def test_quaternions_have_length_1(size: float) -> None:
    """However long they are in the file; next to none is the identity. That of 1e-161 had length 1.006."""
    text = f"""<mujoco> <worldbody> <body> <freejoint/> <geom size="1"/> </body> </worldbody>
      <keyframe> <key qpos="0 0 0 {size} 0 0 {size}"/> </keyframe> </mujoco>"""
    w, x, y, z = mujoco.MjModel.from_xml_string(text).key_qpos[0, 3:]
    assert np.allclose(jn.load(text).keyframes["key 0"][3:], [x, y, z, w], rtol=0, atol=1e-15)


def test_keyframes_cannot_be_changed_and_travel() -> None:
    robot = jn.load(CRAB)
    with pytest.raises(ValueError, match="read-only"):
        robot.keyframes["home"][0] = 1.0
    with pytest.raises(TypeError):
        robot.keyframes["home"] = robot.neutral()  # type: ignore[index]
    for again in (pickle.loads(pickle.dumps(robot)), jn.Builder.from_model(robot).build(), robot.unconstrained()):
        assert list(again.keyframes) == list(robot.keyframes)
        assert np.array_equal(again.keyframes["home"], robot.keyframes["home"])
    assert not jn.robots.panda().keyframes


def test_robots_made_from_robots_keep_them() -> None:
    robot = jn.load(CRAB)
    home = robot.keyframes["home"]
    held = robot.constrained({"claw": jn.Spherical()})
    assert np.array_equal(held.keyframes["home"], home)
    part = robot.lock({"yaw": 0.3}).subtree("crab")
    assert np.array_equal(part.keyframes["home"][part.position("pitch")], home[robot.position("pitch")])
    assert np.array_equal(part.keyframes["home"][part.position("root")], home[robot.position("root")])
    assert part.nq == 9
    both = jn.robots.quadrotor_arm().attach(robot, prefix="crab_")
    q = both.keyframes["home"]
    assert np.array_equal(q[both.position("crab_neck")], home[robot.position("neck")])
    assert np.array_equal(q[both.position("base")], [0, 0, 0, 0, 0, 0, 1])
    assert not robot.remove("shade").chain("world", "lamp").lock({"neck": (0, 0, 0, 1)}).keyframes  # nothing moves


@pytest.mark.parametrize(
    "qpos", ["1 2", HOME + " 1", "1 2 3 x" + " 0" * 11, HOME.replace("0.5", "nan"), HOME.replace("0.5", "1e300"), ""]
)
def test_keyframes_that_are_no_positions_are_named(qpos: str) -> None:
    text = CRAB.replace(f'"home" qpos="{HOME}"', f'"home" qpos="{qpos}"')
    with pytest.warns(jn.loading.LoadWarning, match="keyframes that are not one number for each position: 'home'"):
        robot = jn.load(text)
    assert list(robot.keyframes) == ["qpos0", "drawn", "key 2"]


def test_many_keyframes_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jounce.loading.mjcf_keyframes._MOST", 30)
    with pytest.warns(jn.loading.LoadWarning, match="keyframes that .* 1 without a name"):
        assert list(jn.load(CRAB).keyframes) == ["qpos0", "home", "drawn"]


def test_saved_mjcf_has_them(tmp_path: Path) -> None:
    robot = jn.load(CRAB)
    text = robot.to_mjcf(tmp_path / "saved.xml")
    theirs = mujoco.MjModel.from_xml_string(text)
    for i in range(theirs.nkey):
        agrees(robot, robot.keyframes[theirs.key(i).name], theirs, theirs.key_qpos[i])
    again = jn.load(tmp_path / "saved.xml")
    assert sorted(again.keyframes) == sorted(robot.keyframes)
    for name, q in robot.keyframes.items():
        for frame in robot.body_names:
            assert np.allclose(again.pose(frame, again.keyframes[name]), robot.pose(frame, q), atol=1e-9)


def test_saved_mjcf_orders_and_places_coordinates_as_mujoco() -> None:
    """Of joints of several coordinates and of followers, on branches in another order."""
    b = jn.Builder.from_model(jn.load(CRAB))
    b.add("hip", "arm", jn.Universal(), inertia=jn.Inertia.sphere(1.0, 0.1))
    toe = jn.Revolute(follows=jn.Follow("tilt", 2.0, 0.1))
    b.add("toe", "lamp", toe, inertia=jn.Inertia.sphere(1.0, 0.1))
    robot = b.build()
    theirs = mujoco.MjModel.from_xml_string(robot.to_mjcf())
    agrees(robot, robot.keyframes["home"], theirs, theirs.key("home").qpos)


def test_saved_mjcf_has_free_joints_in_the_world() -> None:
    b = jn.Builder()
    b.add("door", "world", jn.Revolute(), inertia=jn.Inertia.sphere(1.0, 0.1))
    robot = b.build().attach(jn.load(CRAB), placement=jn.placement((1, 2, 3), rpy=(0.1, 0.2, 0.3)))
    with pytest.warns(jn.SaveWarning, match="placement of joint 'root'"):
        theirs = mujoco.MjModel.from_xml_string(robot.to_mjcf())
    agrees(robot, robot.keyframes["home"], theirs, theirs.key("home").qpos)


def test_a_file_whose_bodies_are_drawn_at_zero_needs_none() -> None:
    text = '<mujoco> <worldbody> <body name="b"> <joint name="j"/> <geom size="0.1"/> </body> </worldbody> </mujoco>'
    robot = jn.load(text)
    assert "keyframe" not in robot.to_mjcf()
    assert np.array_equal(robot.keyframes["qpos0"], [0.0])


def test_urdf_has_none() -> None:
    robot = jn.load(CRAB.replace('<joint name="neck" type="ball"/>', "").replace("0 0 2 0   0.5", "0.5"))
    with pytest.warns(jn.SaveWarning, match="keyframe 'home'.*it has none"):
        robot.to_urdf()


# In the viewer


def shown(viewer: Any) -> np.ndarray:
    return np.asarray(viewer._shown["robot"].motion.q[0])


def test_show_starts_as_the_file_draws_it_or_at_a_keyframe() -> None:
    pytest.importorskip("viser")
    pytest.importorskip("trimesh")
    robot = jn.load(CRAB)
    with robot.show() as viewer:
        assert np.array_equal(shown(viewer), robot.keyframes["qpos0"])
        viewer.update("home")
        assert np.array_equal(shown(viewer), robot.keyframes["home"])
    with robot.show("home") as viewer:
        assert np.array_equal(shown(viewer), robot.keyframes["home"])
        assert np.allclose(viewer._shown["robot"].drawn.poses[0], robot.pose("crab", robot.keyframes["home"]))
    with pytest.raises(ValueError, match=r"^q is 'hone', which is no keyframe of the robot: did you mean 'home'\?$"):
        robot.show("hone")
    with pytest.raises(ValueError, match=r"^q is 'home', which is no keyframe of the robot: it has none$"):
        jn.robots.panda().show("home")


def test_the_page_has_a_list_of_them() -> None:
    pytest.importorskip("viser")
    pytest.importorskip("trimesh")
    robot = jn.load(CRAB)
    with robot.show() as viewer:
        controls = viewer._server.gui._gui_input_handle_from_uuid.values()
        (choice,) = [c for c in controls if "home" in (getattr(c, "options", None) or ())]
        choice.value = "home"
        for told in choice._impl.update_cb:
            told(None)
        assert np.allclose(viewer._shown["robot"].drawn.poses[0], robot.pose("crab", robot.keyframes["home"]))
