"""MJCF models agree with MuJoCo itself: poses, mass matrix, bias forces and inverse dynamics."""

from __future__ import annotations

import importlib.util
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jounce as jn
from jounce.conversions import MuJoCo
from jounce.errors import LoadError
from jounce.loading.description import Description
from jounce.loading.mjcf import describe_mjcf
from trees import random_rotation

mujoco = pytest.importorskip("mujoco")

BALL = '<geom size="0.1" mass="1"/>'
INERTIAL = '<inertial pos="0.01 0.02 -0.1" quat="0.9 0.1 0.3 0.2" mass="1.5" diaginertia="0.02 0.03 0.04"/>'


def mjcf(world: str, before: str = "", after: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{world}</worldbody>{after}</mujoco>"


def arm(joint: str, inside: str = INERTIAL, before: str = "", after: str = "") -> str:
    """One body, translated and rotated, with these joints."""
    return mjcf(f'<body name="arm" pos="0.1 0.2 0.3" euler="20 30 40">{joint}{inside}</body>', before, after)


def compiled(source: Any) -> Any:
    mujoco.set_mju_user_warning(print)  # otherwise MuJoCo writes a file
    try:
        if isinstance(source, Path):
            return mujoco.MjModel.from_xml_path(str(source))
        return mujoco.MjModel.from_xml_string(source) if isinstance(source, str) else source
    finally:
        mujoco.set_mju_user_warning(None)


def frame_poses(robot: jn.Model, q: np.ndarray) -> dict[str, np.ndarray]:
    moving = dict(zip(robot.body_names, robot.forward_kinematics(q).pose, strict=True))
    poses: list[np.ndarray] = []
    for body in robot.bodies:
        above = poses[body.parent] if body.parent >= 0 else np.eye(4)
        poses.append(moving[body.name] if body.name in moving else above @ body.placement)
    return {body.name: pose for body, pose in zip(robot.bodies, poses, strict=True)}


def check(source: Any, **options: Any) -> Description:
    """Loads with both and compares what they share, at random configurations."""
    said = describe_mjcf(source, **options)
    robot, model = said.model(), compiled(source)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    model.opt.density = model.opt.viscosity = 0
    convert, data, rng = MuJoCo(robot, model), mujoco.MjData(model), np.random.default_rng(0)
    for _ in range(2):
        q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
        data.qpos[:], data.qvel[:], data.qacc[:] = convert.to(q, v, a)
        mujoco.mj_inverse(model, data)
        zero, still = np.zeros(robot.nv), robot.inverse_dynamics(q, np.zeros(robot.nv), np.zeros(robot.nv))
        passive = np.array(data.qfrc_passive)

        near(convert.force_to(q, robot.inverse_dynamics(q, v, a)), data.qfrc_inverse, 1e-11)
        # bias: at zero acceleration in MuJoCo's coordinates, less its passive forces
        at_rest = convert.back(data.qpos, data.qvel, np.zeros(model.nv))[2]
        near(convert.force_to(q, robot.inverse_dynamics(q, v, at_rest)) + passive, data.qfrc_bias, 1e-11)
        for unit in np.eye(model.nv):
            column = np.zeros(model.nv)
            mujoco.mj_mulM(model, data, column, unit)
            acceleration = convert.back(data.qpos, np.zeros(model.nv), unit)[2]
            near(convert.force_to(q, robot.inverse_dynamics(q, zero, acceleration) - still), column, 1e-11)

        poses = frame_poses(robot, q)
        for i in range(1, model.nbody):
            name = model.body(i).name
            if name:
                near(poses[name][:3, 3], data.xpos[i], 1e-12)
                near(poses[name][:3, :3], data.xmat[i].reshape(3, 3), 1e-12)
        for i in range(model.nsite):
            name = model.site(i).name
            site = f"{name} (site)" if f"{name} (site)" in poses else name
            if name:
                near(poses[site][:3, 3], data.site_xpos[i], 1e-12)
                near(poses[site][:3, :3], data.site_xmat[i].reshape(3, 3), 1e-12)
    return said


def near(ours: np.ndarray, theirs: np.ndarray, tolerance: float) -> None:
    """Relative to the largest number, or absolute if all are small."""
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(1.0, float(np.abs(theirs).max(initial=0))))


# Joints


@pytest.mark.parametrize(
    "joint",
    [
        '<joint name="j" axis="1 2 3"/>',
        '<joint name="j" axis="1 2 3" pos="0.1 -0.2 0.3"/>',
        '<joint name="j" type="slide" axis="1 2 3" pos="0.1 -0.2 0.3"/>',
        '<joint name="j" type="ball"/>',
        '<joint name="j" type="ball" pos="0.1 -0.2 0.3"/>',
        '<joint name="j" type="free"/>',
        '<joint name="j" axis="1 2 3" pos="0.1 0 0" ref="40" springref="-20" stiffness="3" damping="1" armature="2"/>',
        '<joint name="j" type="slide" axis="1 2 3" ref="0.4" springref="-0.2" stiffness="3" damping="1" armature="2"/>',
        '<joint name="j" type="ball" pos="0.1 -0.2 0.3" stiffness="3" damping="0.7" armature="0.2"/>',
        '<joint name="j" type="free" damping="0.7"/>',
    ],
)
def test_each_joint(joint: str) -> None:
    said = check(arm(joint))
    robot = said.model()
    assert robot.joint_names == ("j",)
    assert "arm" in robot.frame_names
    assert said.ignored == []


def test_a_free_body_with_a_spring_to_the_origin() -> None:
    joint = '<joint name="j" type="free" stiffness="3" damping="0.7"/>'
    assert not check(mjcf(f'<body name="arm">{joint}{INERTIAL}</body>')).ignored
    said = describe_mjcf(arm(joint))
    assert said.ignored == ["the spring of joint 'j', which is at rest away from the origin"]
    assert not said.bodies[0].joint.stiffness.any()


def test_linear_armature_of_a_free_joint_is_reported() -> None:
    said = describe_mjcf(arm('<joint name="j" type="free" armature="0.3"/>'))
    assert said.ignored == ["linear armature in world axes, and uneven damping, of free joints 'j'"]


def test_several_joints_a_body_with_anchors_apart() -> None:
    joints = """<joint name="x" type="slide" axis="1 0 0" ref="0.2"/>
      <joint name="y" pos="0 0.1 0" axis="0 1 1" ref="30"/>
      <joint name="z" type="slide" axis="1 1 1"/> <joint name="w" pos="0.3 0.1 -0.2" axis="1 0 2" ref="-20"/>"""
    robot = check(arm(joints)).model()
    assert robot.joint_names == ("x", "y", "z", "w")
    assert robot.frame_names == ("arm/x", "arm/y", "arm/z", "arm/w", "arm")
    last = '<joint name="ball" type="ball" pos="0 0 0.1"/>'
    assert check(arm('<joint name="x" type="slide"/>' + last)).model().body_names == ("arm/x", "arm/ball")


def test_a_body_at_its_anchor_is_the_moving_body() -> None:
    robot = describe_mjcf(arm('<joint name="a" axis="1 0 0" pos="0 0 1"/> <joint name="b" axis="0 1 0"/>')).model()
    assert robot.body_names == ("arm/a", "arm")
    assert robot.frame_names == robot.body_names


def test_armature_and_damping_of_actuators_pass_through_their_gears() -> None:
    if not hasattr(mujoco.MjModel, "actuator_armature"):
        pytest.skip("this MuJoCo has none")
    motors = '<motor joint="j" gear="3" armature="0.1" damping="0.2"/> <motor joint="j" gear="-2" armature="0.01"/>'
    said = check(arm('<joint name="j" armature="0.5" damping="0.4"/>', after=f"<actuator>{motors}</actuator>"))
    joint = said.bodies[0].joint
    assert np.isclose(joint.armature, 0.5 + 9 * 0.1 + 4 * 0.01)
    assert np.isclose(joint.damping, 0.4 + 9 * 0.2)
    assert said.ignored == []


def test_limits() -> None:
    joints = """<joint name="a" range="-90 45" actuatorfrcrange="-3 5"/> <joint name="b" type="slide" range="-1 2"/>
      <joint name="c" type="slide" axis="1 0 0" range="-1 2" limited="false"/>
        <joint name="d" type="slide" axis="0 1 0"/>"""
    robot = describe_mjcf(arm(joints)).model()
    np.testing.assert_allclose(robot.lower, [-np.pi / 2, -1, -np.inf, -np.inf])
    np.testing.assert_allclose(robot.upper, [np.pi / 4, 2, np.inf, np.inf])
    assert robot.effort_limit.tolist() == [5, np.inf, np.inf, np.inf]


# The file as a whole


def test_gravity() -> None:
    assert check(arm("<joint/>", before='<option gravity="1 2 3"/>')).gravity.tolist() == [1, 2, 3]
    off = '<option gravity="1 2 3"><flag gravity="disable"/></option>'
    assert check(arm("<joint/>", before=off)).gravity.tolist() == [0, 0, 0]
    assert describe_mjcf(arm("<joint/>"), gravity=(0, 0, -1.62)).gravity.tolist() == [0, 0, -1.62]


def test_springs_and_dampers_that_are_switched_off() -> None:
    joint = '<joint name="j" stiffness="3" damping="0.7"/>'
    split = hasattr(mujoco.mjtDisableBit, "mjDSBL_SPRING")
    for flags in ["spring", "damper"] if split else ["passive"]:
        check(arm(joint, before=f'<option><flag {flags}="disable"/></option>'))
    assert describe_mjcf(arm(joint), damping=False).bodies[0].joint.damping == 0


@pytest.mark.parametrize(
    "options",
    [
        'angle="radian"',
        'angle="degree" eulerseq="ZYX"',
        'inertiafromgeom="true"',
        'inertiafromgeom="false"',
        'inertiafromgeom="true" inertiagrouprange="1 1"',
        'boundmass="3" boundinertia="0.5"',
        'balanceinertia="true"',
        'autolimits="true" fusestatic="true"',
    ],
)
def test_compiler_options(options: str) -> None:
    inside = """<geom size="0.1 0.2 0.3" type="box" mass="2" pos="0.1 0 0" euler="1 0.5 0.2" group="1"/>
      <geom size="0.1"/>
      <inertial pos="0.1 0 0.2" mass="1" diaginertia="1 1 {}"/> <body name="fixed" pos="0 1 0"> {} {} </body>"""
    text = inside.format(5 if "balance" in options else 1, BALL, INERTIAL)
    check(
        arm(
            '<joint name="j" axis="0 1 1" ref="0.3" springref="0.2" stiffness="2" range="-1 1"/>',
            text,
            f"<compiler {options}/>",
        )
    )


def test_inertia_given_whole() -> None:
    whole = '<inertial pos="0.1 0 0.2" mass="2" fullinertia="0.3 0.2 0.4 0.01 0.02 -0.03"/>'
    said = check(arm("<joint/>", whole))
    expected = [[0.3, 0.01, 0.02], [0.01, 0.2, -0.03], [0.02, -0.03, 0.4]]
    np.testing.assert_allclose(said.bodies[0].inertia.rotational, expected, atol=1e-7)


def test_nested_defaults_and_includes(tmp_path: Path) -> None:
    defaults = """<mujocoinclude> <default> <joint damping="0.1" armature="0.01"/> <geom density="500"/>
      <default class="leg"> <joint axis="0 1 0" damping="0.5"/>
        <default class="foot"> <joint stiffness="2" type="slide"/> </default> </default> </default> </mujocoinclude>"""
    body = """<mujocoinclude> <body name="{0}" childclass="leg"> <joint name="{0}"/>
      <geom size="0.1 0.2" type="capsule"/>
      <body name="{0} foot" pos="0 0 -0.4"> <joint class="foot" name="{0} foot"/> {1} </body> </body>
        </mujocoinclude>"""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "defaults.xml").write_text(defaults)
    (tmp_path / "left.xml").write_text(body.format("left", BALL))
    (tmp_path / "right.xml").write_text(body.format("right", BALL))
    files = ['<include file="parts/defaults.xml"/>', '<include file="left.xml"/> <include file="right.xml"/>']
    (tmp_path / "robot.xml").write_text(mjcf(f'<body name="base"> <freejoint/> {BALL} {files[1]} </body>', files[0]))
    said = check(tmp_path / "robot.xml")
    joints = {b.name: b.joint for b in said.bodies}
    assert said.model().joint_names == ("base", "left", "left foot", "right", "right foot")
    assert joints["left"].damping == joints["right foot"].damping == 0.5
    assert joints["left foot"].stiffness == 2
    assert joints["left foot"].armature == 0.01
    assert isinstance(joints["left foot"], jn.Prismatic)


def test_names() -> None:
    inside = f'<site name="arm"/> <site name="tip" pos="1 2 3" euler="10 20 30"/> <site/> {INERTIAL}'
    unnamed = (
        f'<body> <joint type="slide"/> <joint/> {BALL} </body> <body name="body 3"> <joint pos="1 0 0"/> {BALL} </body>'
    )
    text = mjcf(f'<site name="world" pos="1 0 0"/> <body name="arm"> <joint name="hinge"/> {inside} {unnamed} </body>')
    robot = check(text).model()
    assert robot.body_names == ("arm", "body 2/body 2 0", "body 2", "body 3/body 3")
    assert robot.frame_names[4:] == ("body 3", "world (site)", "arm (site)", "tip")
    assert robot.joint_names == ("hinge", "body 2 0", "body 2 1", "body 3")


def test_a_floating_base() -> None:
    text = mjcf(f'<body name="base" pos="1 2 3"> {BALL} <body name="arm"> <joint name="j"/> {BALL} </body> </body>')
    robot = describe_mjcf(text, "floating").model()
    assert robot.joint_names == ("root_joint", "j")
    assert robot.nq == 8
    same = check(mjcf(f'<body name="base" pos="1 2 3"> <freejoint name="root_joint"/> {BALL} </body>'), base="floating")
    assert same.model().nq == 7
    with pytest.raises(LoadError, match="already moves by joint 'j'"):
        describe_mjcf(arm('<joint name="j"/>'), "floating")
    with pytest.raises(LoadError, match="expected one body in the world, got 'a', 'b'"):
        describe_mjcf(mjcf('<body name="a"/> <body name="b"/>'), "floating")


# Sources


def test_sources(tmp_path: Path) -> None:
    text = arm('<joint name="j" axis="0 1 0" pos="0 0 1"/>')
    path = tmp_path / "robot.xml"
    path.write_text(text)
    spec = mujoco.MjSpec.from_string(text)
    rows = [describe_mjcf(s).model() for s in (text, "\n" + text, text.encode(), path, str(path), spec, compiled(text))]
    for robot in rows:
        assert np.array_equal(
            robot.inverse_dynamics([0.5], [1.0], [2.0]), rows[0].inverse_dynamics([0.5], [1.0], [2.0])
        )
    assert describe_mjcf(path).source == str(path)
    assert describe_mjcf(mjcf("").replace("<mujoco>", '<mujoco model="spot">')).name == "spot"


def test_a_changed_model_is_read_as_it_is() -> None:
    model = compiled(arm('<joint name="j" type="ball" stiffness="2"/>'))
    model.body_mass[1], model.dof_armature[:], model.opt.gravity[:] = 3, [1, 2, 3], [0, 5, 0]
    said = check(model)
    assert said.bodies[0].inertia.mass == 3
    model.qpos_spring[:] = [np.sqrt(0.5), np.sqrt(0.5), 0, 0]
    assert describe_mjcf(model).ignored == ["the spring of joint 'j', which is at rest away from the origin"]
    model.jnt_axis[0] = np.nan
    with pytest.raises(LoadError, match="<object>: joint 'j': axis is"):
        describe_mjcf(model)


def test_loading_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.chdir(tmp_path)
    before = mujoco.get_mju_user_warning()
    said = describe_mjcf(arm("<joint/>", before='<option wind="0 0 nan"/>'))
    assert said.warnings == ["mujoco's compiler: XML contains a 'NaN'. Please check it carefully."]
    assert mujoco.get_mju_user_warning() is before
    assert os.listdir() == []
    assert capfd.readouterr() == ("", "")


def test_without_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(LoadError, match=r"robot.xml: MJCF needs the package mujoco: pip install 'jounce\[mjcf\]'"):
        describe_mjcf(arm("<joint/>"), name="robot.xml")


# Ignored elements


def test_what_is_left_out_is_named_once() -> None:
    world = f"""<geom type="plane" size="1 1 1"/> <body name="target" mocap="true"/>
      <body name="a" gravcomp="0.5"> <joint name="a" frictionloss="1"/>
        <joint name="b" axis="1 0 0"/> {BALL} <site name="s"/>
        <body name="c" pos="0 0 1"> <joint name="c" type="ball" range="0 30" frictionloss="1"/> {BALL} </body>
          </body>"""
    rest = """<equality> <joint name="couple" joint1="a" joint2="b"/> <tendon tendon1="rope"/> </equality>
      <tendon> <fixed name="rope" stiffness="1"> <joint joint="a" coef="1"/> </fixed> </tendon>
      <actuator> <position name="servo" joint="a"/> <motor name="motor" joint="b"/> </actuator>"""
    said = describe_mjcf(mjcf(world, '<option density="1.2"/>', rest))
    assert said.ignored == [
        "equality constraints of tendons or flexes 1 without a name",
        "tendons 'rope'",
        "contacts between 3 geoms",
        "friction loss of joints 'a', 'c' (friction=0.01 includes it)",
        "ranges of ball joints 'c'",
        "feedback and dynamics of actuators 'servo'",
        "gravity compensation of bodies 'a'",
        "motion of mocap bodies 'target'",
        "forces of the fluid around the bodies (density, viscosity, wind)",
    ]
    assert check(mjcf(f'<body name="a"> <joint/> {BALL} </body>')).ignored == []  # one geom touches nothing


def test_springs_and_dampers_beyond_linear_ones_are_left_out() -> None:
    if not hasattr(mujoco.MjModel, "jnt_stiffnesspoly"):
        pytest.skip("this MuJoCo has none")
    said = describe_mjcf(arm('<joint name="j" stiffness="1 2 0" damping="1 0 3"/>'))
    assert said.ignored == [
        "stiffness that depends on the position, of joints 'j'",
        "damping that depends on the velocity, of joints 'j'",
    ]
    joint = said.bodies[0].joint
    assert (joint.stiffness, joint.damping) == (1, 1)


def test_many_names_are_counted() -> None:
    bodies = "".join(f'<body> <joint name="j{i}" frictionloss="1"/> {INERTIAL} </body>' for i in range(12))
    said = describe_mjcf(mjcf(bodies))
    names = ", ".join(f"'j{i}'" for i in range(8))
    assert said.ignored == [f"friction loss of joints {names} and 4 more (friction=0.01 includes it)"]


# Missing files

MESHES = """<asset> <mesh name="shell" file="shell.stl"/> <mesh file="cover.obj"/>
  <texture name="t" type="2d" file="t.png"/>
  <texture name="sky" type="skybox" fileright="a.png" fileleft="b.png"/> <material name="m" texture="t"/>
  <hfield name="h" size="1 1 1 1" file="h.png"/> <skin name="s" file="s.skn"/> </asset>"""


def test_missing_meshes_do_not_stop_the_dynamics(tmp_path: Path) -> None:
    shapes = '<geom type="mesh" mesh="shell" material="m"/> <geom type="box" mesh="cover"/>'
    text = mjcf(f'<geom type="hfield" hfield="h"/> <body name="b"> <joint/> {INERTIAL} {shapes} </body>', MESHES)
    (tmp_path / "robot.xml").write_text(text)
    for source in (text, tmp_path / "robot.xml", mujoco.MjSpec.from_string(text)):
        said = describe_mjcf(source)
        assert said.ignored[-1] == "contacts between 3 geoms"
        assert said.bodies[0].inertia.mass == 1.5
    assert said.ignored[0].startswith("shapes and pictures from files, which the dynamics do not need (Error")


def test_a_missing_mesh_that_gives_the_inertia_does() -> None:
    for mesh in ("shell", "cover"):  # the second is named only by its file
        inside = f'<geom type="mesh" mesh="{mesh}"/>'
        text = mjcf(f'<body name="b"> <joint/> {inside} </body>', MESHES)
        with pytest.raises(LoadError, match=rf"{mesh}\.\w+'.*; the inertia of body 'b' comes from this mesh") as fault:
            describe_mjcf(text, name="robot.xml")
        assert str(fault.value).startswith(f'robot.xml, line 1: <mesh name="{mesh}">: file \'{mesh}.')
        with pytest.raises(LoadError, match=rf"compiler: Error.*{mesh}\.\w+'.*, the inertia of body 'b' comes from"):
            describe_mjcf(mujoco.MjSpec.from_string(text))
    alone = '<asset> <mesh file="only.stl"/> </asset>'
    with pytest.raises(LoadError, match="the inertia of a body without a name comes from this mesh"):
        describe_mjcf(mjcf('<body> <joint/> <geom type="mesh" mesh="only"/> </body>', alone))
    weightless = '<geom type="mesh" mesh="shell" mass="0"/> <geom size="0.1"/>'
    assert describe_mjcf(mjcf(f'<body name="b"> <joint/> {weightless} </body>', MESHES)).bodies[0].inertia.mass > 1


# Errors

FAULTS = {
    "": "does not exist|directory|cannot be read",
    "<mujoco>": "robot.xml, line 1, column 9: not well-formed: no element found",
    "<mujocoinclude/>": "line 1: <mujocoinclude>: is a part that other files include, expected <mujoco>",
    mjcf("<body><joint/></body>"): "mass and inertia of moving bodies",
    mjcf('<include file="nowhere.xml"/>'): "line 1: .*<include>: file 'nowhere.xml' is not read: XML given as text",
    arm('<joint axis="0 0 0"/>'): "axis",
    arm('<joint name="j" axis="nan 0 0"/>'): "joint 'j': axis is .*finite|compiler: Nan",
    arm('<joint name="j" damping="-1"/>'): "joint 'j': damping is",
    arm('<joint name="j" armature="-1"/>'): "joint 'j': armature is",
    arm('<joint name="j" stiffness="1e300"/>'): "joint 'j': stiffness is .*finite",
    arm('<joint name="j" ref="nan"/>'): "ref is .*finite|compiler: Nan",
    arm("<joint/>", INERTIAL.replace("1.5", "nan")): "mass|finite",
    arm("<joint/>", before='<option gravity="0 0 nan"/>'): "gravity is .*finite|compiler: Nan",
    "<mujoco><worldbody>" + "<body>" * 10_000: "line 1: elements are nested more than 450 deep",
    mjcf(
        "<replicate count='3000'><replicate count='3000'><body/></replicate></replicate>"
    ): "line 1: <replicate> asks for",
    mjcf("<flexcomp name='f' type='grid' count='3000 3000 1' dim='2'/>"): "line 1: <flexcomp> asks for",
    mjcf("", '<size nuser_body="9000000"/>') + "<": "line 1, column 69: not well-formed: unclosed token",
}


@pytest.mark.parametrize("text", FAULTS, ids=range(len(FAULTS)))
def test_faults_are_load_errors(text: str) -> None:
    with pytest.raises(LoadError, match=FAULTS[text]) as fault:
        describe_mjcf(text, name="robot.xml").model()
    assert "\n" not in str(fault.value)
    assert str(fault.value).startswith("robot.xml" if text else "")


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "robot.xml").write_bytes(mjcf(f'<body name="épaule"> <joint/> {BALL} </body>').encode("latin-1"))
    for source in (tmp_path / "robot.xml", (tmp_path / "robot.xml").read_bytes()):
        with pytest.raises(LoadError, match="not UTF-8"):
            describe_mjcf(source)


def test_counts_in_included_files(tmp_path: Path) -> None:
    (tmp_path / "many.xml").write_text("<mujocoinclude><replicate count='1000000'><body/></replicate></mujocoinclude>")
    (tmp_path / "robot.xml").write_text(mjcf('<include file="many.xml"/>'))
    with pytest.raises(LoadError, match=r"many\.xml, line 1: <replicate> asks for 1e\+06"):
        describe_mjcf(tmp_path / "robot.xml")
    (tmp_path / "robot.xml").write_text(mjcf('<include file="robot.xml"/>'))
    with pytest.raises(LoadError, match="already included"):
        describe_mjcf(tmp_path / "robot.xml")
    with pytest.raises(LoadError, match="does not exist"):
        describe_mjcf(tmp_path / "none.xml")


def test_nothing_that_moves_is_odd() -> None:
    assert describe_mjcf(mjcf('<body name="a"/>')).inspect() == ["nothing moves: no body has a joint"]
    assert describe_mjcf(mjcf("")).model().nv == 0


# Whole robots


def random_mjcf(rng: np.random.Generator, bodies: int) -> str:
    """A tree where every body has up to three joints, with every joint attribute."""

    def numbers(size: int, reach: float = 0.5) -> str:
        return " ".join(f"{x:.17g}" for x in rng.uniform(-reach, reach, size))

    def joint(label: str, kind: str) -> str:
        passive = " ".join(f'{k}="{rng.uniform(0, 1):.3f}"' for k in ("armature", "damping", "stiffness"))
        refs = f'ref="{numbers(1)}" springref="{numbers(1)}" axis="{numbers(3)}"' if kind != "ball" else ""
        return f'<joint name="{label}" type="{kind}" pos="{numbers(3)}" {refs} {passive}/>'

    below: dict[int, list[int]] = {}
    for i in range(1, bodies):
        below.setdefault(int(rng.integers(max(0, i - 3), i)), []).append(i)

    def body(i: int) -> str:
        kinds = [["ball"], ["slide", "ball"], *[list(rng.choice(["hinge", "slide"], n)) for n in range(4)]][
            rng.integers(6)
        ]
        joints = "<freejoint/>" if i == 0 else "".join(joint(f"j{i}{k}", kind) for k, kind in enumerate(kinds))
        w, x, y, z = rng.normal(size=4)
        turn = random_rotation(rng)
        moments = turn @ np.diag([0.02, 0.03, 0.04]) @ turn.T
        whole = " ".join(f"{m:.17g}" for m in moments[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        inside = "".join(body(j) for j in below.get(i, []))
        return f"""<body name="b{i}" pos="{numbers(3)}" quat="{w} {x} {y} {z}"> {joints}
          <site name="s{i}" pos="{numbers(3)}"/>
          <inertial pos="{numbers(3)}" mass="{rng.uniform(0.5, 2)}" fullinertia="{whole}"/> {inside} </body>"""

    return mjcf(body(0), '<compiler angle="radian"/> <option gravity="1 -2 -9"/>')


@pytest.mark.parametrize("seed", range(4))
def test_random_trees(seed: int) -> None:
    said = check(random_mjcf(np.random.default_rng(seed), 10))
    assert said.ignored == []


HUMANOID = """<mujoco model="small humanoid"> <compiler angle="degree" inertiafromgeom="true"/>
  <default> <joint armature="0.007" damping="1" limited="true"/> <geom density="1000"/>
    <default class="stiff"> <joint stiffness="20" damping="5"/> </default> </default>
  <worldbody> <geom type="plane" size="5 5 1"/> <light pos="0 0 3"/>
    <body name="torso" pos="0 0 1.4"> <freejoint name="root"/> <camera name="track" pos="0 -4 0"/>
      <geom type="capsule" fromto="0 -0.07 0 0 0.07 0" size="0.07"/> <geom name="head" pos="0 0 0.19" size="0.09"/>
      <body name="lwaist" pos="-0.01 0 -0.26" quat="1 0 -0.002 0">
        <geom type="capsule" fromto="0 -0.06 0 0 0.06 0" size="0.06"/>
        <joint name="abdomen_z" class="stiff" axis="0 0 1" pos="0 0 0.065" range="-45 45"/>
        <joint name="abdomen_y" class="stiff" axis="0 1 0" pos="0 0 0.065" range="-75 30"/>
        <body name="pelvis" pos="0 0 -0.165">
          <joint name="abdomen_x" class="stiff" axis="1 0 0" pos="0 0 0.1" range="-35 35"/>
          <geom type="capsule" fromto="-0.02 -0.07 0 -0.02 0.07 0" size="0.09"/>
          <body name="thigh" pos="0 -0.1 -0.04"> <joint name="hip" type="ball" range="0 60"/>
            <geom type="capsule" fromto="0 0 0 0 0.01 -0.34" size="0.06"/> <site name="knee_site" pos="0 0.01 -0.38"/>
            <body name="shin" pos="0 0.01 -0.4"> <joint name="knee" axis="0 -1 0" pos="0 0 0.02" range="-160 -2"/>
              <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.049"/>
              <body name="foot" pos="0 0 -0.39"> <geom type="ellipsoid" size="0.1 0.05 0.03" pos="0.05 0 0"/>
                </body> </body> </body>
        </body> </body>
      <body name="arm" pos="0 -0.17 0.06"> <joint name="shoulder1" axis="2 1 1" range="-85 60"/>
        <joint name="shoulder2" axis="0 -1 1" range="-85 60" ref="10"/>
        <geom type="capsule" fromto="0 0 0 0.16 -0.16 -0.16" size="0.04"/> </body>
    </body> </worldbody>
  <actuator> <motor name="knee" joint="knee" gear="100"/> </actuator> </mujoco>"""


def test_a_humanoid() -> None:
    said = check(HUMANOID)
    assert said.name == "small humanoid"
    assert said.ignored == ["contacts between 9 geoms", "ranges of ball joints 'hip'"]
    assert said.inspect() == []


def gymnasium_files() -> list[Path]:
    spec = importlib.util.find_spec("gymnasium")
    folder = Path(spec.origin).parent / "envs" / "mujoco" / "assets" if spec and spec.origin else None
    return sorted(folder.glob("*.xml")) if folder else []


@pytest.mark.parametrize("path", gymnasium_files(), ids=lambda p: p.stem)
def test_robots_of_gymnasium(path: Path) -> None:
    said = check(path)
    assert said.inspect() == []


@pytest.mark.parametrize("kind", ["hinge", "slide"])
def test_an_axis_that_mujoco_makes_zero(kind: str) -> None:
    """Its length overflows; found by a fuzzer."""
    text = (
        f'<mujoco><worldbody><body><joint type="{kind}" axis="1e308 1 0"/><geom size=".1"/></body></worldbody></mujoco>'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(jn.LoadError, match="expected a non-zero direction"):
            jn.load(text)
