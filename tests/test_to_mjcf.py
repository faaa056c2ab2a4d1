"""Robots as MJCF: what MuJoCo, jounce and Pinocchio read from the text is the same robot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from jounce.parts.visual import MeshFile, Triangles
from kinds import EVERY, random_robot
from test_to_urdf import LINK, ROBOTS, _joints, assert_same_in_mujoco, built, from_file
from written import Twins, loaded

mujoco = pytest.importorskip("mujoco")


# --- the same robot -------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_robots_from_files_come_back(name: str, base: str) -> None:
    robot = from_file(name, base, mimic="independent")
    text = robot.to_mjcf(skip="visuals")
    back = loaded(text)
    assert (back.joint_names, set(back.frame_names)) == (robot.joint_names, set(robot.frame_names))
    faults = Twins(robot, back).faults()
    assert set(faults) <= ({"effort_limit"} if (robot.effort_limit == 0).any() else set())
    assert_same_in_mujoco(mujoco, mujoco.MjModel.from_xml_string(text), robot)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ["panda.urdf", "talos_full_v2.urdf", "anymal.urdf", "ur5_robot.urdf"])
def test_pinocchio_reads_the_same(name: str, base: str, tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    robot = from_file(name, base, mimic="independent", damping=False)
    robot.to_mjcf(tmp_path / "robot.xml", skip="visuals")
    model = pin.buildModelFromMJCF(str(tmp_path / "robot.xml"))
    data, convert = model.createData(), jn.conversions.Pinocchio(robot, model)
    rng = np.random.default_rng(1)
    q = robot.random_configuration(rng)
    there = convert.to(q)
    mine, theirs = robot.gravity_force(q), pin.computeGeneralizedGravity(model, data, there)
    assert np.allclose(convert.force_back(q, theirs), mine, rtol=0, atol=1e-10 * np.abs(mine).max())
    upper = np.triu(pin.crba(model, data, there))
    matrix, mine = upper + np.triu(upper, 1).T, robot.mass_matrix(q)
    order = np.concatenate([np.arange(j.idx_v, j.idx_v + j.nv) for j in _joints(model, robot)])
    assert np.allclose(matrix[np.ix_(order, order)], mine, rtol=0, atol=1e-10 * np.abs(mine).max())


FORCES = {"damping": 0.2, "stiffness": 3.0, "armature": 0.1}
JOINTS = {
    "cylindrical": jn.Cylindrical((1, 2, 3), damping=(0.1, 0.2), stiffness=(2.0, 0.0), armature=(0.0, 0.3)),
    "planar": jn.Planar((1, 1, 0), (0, 0, 1), **FORCES),
    "universal": jn.Universal((1, 0, 1), (0, 1, 0), **FORCES),
    "revolute": jn.Revolute((0, 2, 1), limits=jn.Limits(-0.5, 1.5, effort=3.0), rest=0.4, **FORCES),
    "prismatic": jn.Prismatic((0, 2, 1), rest=-0.1, **FORCES),
    "spherical": jn.Spherical(**FORCES),
    "fixed": jn.Fixed(),
    "tip": jn.Revolute((1, 0, 0)),
}


@pytest.mark.parametrize("name", JOINTS)
def test_every_joint(name: str) -> None:
    robot = built(**{name: JOINTS[name]})
    assert not Twins(robot, loaded(robot.to_mjcf())).faults()


def test_friction_comes_back_and_its_speed_is_given_again() -> None:
    robot = built(turn=jn.Revolute(friction=0.3, friction_speed=0.05), slide=jn.Prismatic((1, 0, 0), friction=2.0))
    robot = robot.replace(friction_speed=0.05)
    text = robot.to_mjcf()
    assert text.count("frictionloss") == 2
    assert not (faults := Twins(robot, jn.load(text, friction=0.05)).faults()), faults


def test_all_of_them_in_a_row() -> None:
    robot = built(**JOINTS)
    text = robot.to_mjcf()
    back = loaded(text)
    assert not Twins(robot, back).faults()
    again = back.to_mjcf()
    assert again.count("<body") == text.count("<body")  # joints of one body are so again
    assert not Twins(back, loaded(again)).faults()


def test_a_free_joint_is_placed_in_the_world() -> None:
    """Its q is the pose in the world, whatever it is placed on; v and the forces stay the same."""
    robot = built(stand=jn.Fixed(), base=jn.Free(damping=0.3), arm=jn.Revolute())
    with pytest.warns(jn.SaveWarning, match=r"placement of joint 'base': there q is the pose in the world$"):
        back = loaded(robot.to_mjcf())
    rng = np.random.default_rng(4)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, 7))
    there = q.copy()
    there[:7] = back.integrate(back.neutral(), np.zeros(7))[:7]
    pose = robot.pose("base", q)
    from scipy.spatial.transform import Rotation

    there[:3], there[3:7] = pose[:3, 3], Rotation.from_matrix(pose[:3, :3]).as_quat()
    assert np.allclose(back.inverse_dynamics(there, v, a), robot.inverse_dynamics(q, v, a), rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:left out of the MJCF. placement of joint")
@pytest.mark.parametrize("name", EVERY)
def test_every_kind_of_robot_comes_back_or_is_refused(name: str) -> None:
    robot, skip = EVERY[name].model, ("constraints", "springs")
    refused = any(b.soft is not None or isinstance(b.joint, (jn.Helical, jn.CustomJoint)) for b in robot.bodies)
    if refused or any(isinstance(b.joint, jn.Free) and b.parent >= 0 for b in robot.bodies):
        with pytest.raises(jn.SaveError, match=r"MJCF cannot express (soft bodies|(helical|custom|free) joints)"):
            robot.to_mjcf(skip=skip)
    else:
        back = loaded(robot.to_mjcf(skip=skip))
        assert not back.constraints
        if not any(isinstance(b.joint, jn.Free) for b in robot.bodies):
            assert not Twins(robot, back).faults()


def test_random_robots() -> None:
    count = 0
    for seed in range(80):
        robot = random_robot(seed).model
        if any(isinstance(b.joint, jn.Free) for b in robot.bodies):
            continue
        try:
            text = robot.to_mjcf(skip="constraints")
        except jn.SaveError:
            continue
        assert not Twins(robot, loaded(text)).faults(), seed
        count += 1
    assert count >= 5


def test_several_joints_of_one_body_stay_so() -> None:
    text = """<mujoco> <worldbody> <body name="trunk" pos="0 0 1" euler="10 20 30"> <freejoint name="root"/>
      <geom size="0.2" mass="10"/> <body name="arm" pos="0.2 0 0" euler="30 0 0">
      <joint name="yaw" axis="0 0 1" ref="20"/> <joint name="pitch" axis="0 1 0" pos="0 0 0.1" ref="10"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.4 0 0"/>
      <site name="hand" pos="0.4 0 0"/> </body> </body> </worldbody> </mujoco>"""
    robot = loaded(text)
    written = robot.to_mjcf()
    assert written.count("<body") == 3  # the trunk, the arm, and the site
    back = loaded(written)
    assert set(back.frame_names) == set(robot.frame_names)
    rng = np.random.default_rng(5)
    q, v, a = robot.random_configuration(rng, 5), *rng.normal(size=(2, 5, robot.nv))
    assert np.allclose(back.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a), rtol=0, atol=1e-12)
    assert np.allclose(back.pose("hand", q), robot.pose("hand", q), rtol=0, atol=1e-12)


# --- ties -----------------------------------------------------------------------------------------------


def test_fingers_that_mimic_come_back() -> None:
    robot = from_file("panda.urdf", "fixed", damping=True)
    text = robot.to_mjcf(skip="visuals")
    for options in ({}, {"constraints": False}):
        back = loaded(text, **options)
        assert (back.nv, back.constraint_names) == (robot.nv, ()) == (8, ())
        for name in ("panda_finger_joint1", "panda_finger_joint2"):
            mine, other = (next(b.joint for b in r.bodies if b.joint_name == name) for r in (robot, back))
            assert other.follows == mine.follows
            assert (other.limits.lower, other.limits.upper, other.limits.effort) == (0.0, 0.04, 100.0)
            assert other.damping == mine.damping == 0.3
        assert not (faults := Twins(robot, back).faults()), faults
    assert other.follows == jn.Follow("panda_finger_joint1", ratio=1.0, offset=0.0)
    assert loaded(text, mimic="independent").nv == 9
    assert loaded(text, mimic="independent").constraint_names == ()


def test_followers_of_followers_come_back() -> None:
    """The chain c = -0.5 b + 0.1 = -0.5 (3 a + 0.2) + 0.1, the same joint by another way: -1.5 a."""
    robot = built(
        a=jn.Revolute((0, 1, 0)),
        b=jn.Revolute((0, 0, 1), follows=jn.Follow("a", 3.0, 0.2), limits=jn.Limits(-1.0, 2.0)),
        c=jn.Prismatic((1, 0, 0), follows=jn.Follow("b", -0.5, 0.1)),
    )
    back = loaded(robot.to_mjcf())
    follows = {body.joint_name: body.joint.follows for body in back.bodies if body.joint.follows}
    assert follows["b"] == jn.Follow("a", 3.0, 0.2)
    assert (follows["c"].joint, follows["c"].ratio, follows["c"].offset) == ("a", -1.5, pytest.approx(0.0, abs=1e-15))
    assert not (faults := Twins(robot, back).faults()), faults


FOUR = """<mujoco> <worldbody> {} </worldbody> <equality> {} </equality> </mujoco>"""
SLIDE = '<body> <joint name="{0}" type="slide"/> <geom size="0.1"/> </body>'
TIE = '<joint name="{0} follows {1}" joint1="{0}" joint2="{1}" polycoef="0 2 {2} 0 0"/>'


@pytest.mark.parametrize(
    ("ties", "followers"),
    [
        ([TIE.format("b", "a", 0), TIE.format("c", "a", 0)], 2),
        ([TIE.format("b", "a", 0.3)], 0),  # not linear
        ([TIE.format("b", "a", 0), TIE.format("a", "b", 0)], 0),  # in a circle
        ([TIE.format("b", "a", 0), '<joint joint1="c" joint2="b"/>'], 0),  # tied by others too
        ([TIE.format("b", "a", 0), '<joint joint1="b" joint2="c"/>'], 0),
        ([TIE.format("b", "a", 0), '<joint joint1="d" joint2="c"/>'], 1),
        ([TIE.format("b", "a", 0).replace("/>", ' active="false"/>')], 0),
        ([TIE.format("b", "a", 0).replace("b follows a", "b with a")], 0),
        (['<joint name="a follows a" joint1="a"/>'], 0),
    ],
)
def test_which_ties_of_a_file_are_followers(ties: list[str], followers: int) -> None:
    robot = loaded(FOUR.format("".join(SLIDE.format(name) for name in "abcd"), "".join(ties)))
    assert robot.nv == 4 - followers
    assert len(robot.constraints) == sum('active="false"' not in tie for tie in ties) - followers


def test_followers_in_mujoco() -> None:
    """There they have coordinates of their own, and are tied."""
    robot = from_file("panda.urdf", "fixed", damping=True)
    text = robot.to_mjcf(skip="visuals").replace("panda_finger_joint2 follows panda_finger_joint1", "tie")
    back = loaded(text)
    assert (robot.nv, back.nv, len(back.constraints)) == (8, 9, 1)
    rng = np.random.default_rng(6)
    q, v, tau = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    wide = back.project(np.append(q, q[-1]))
    rates = np.append(v, v[-1])
    found = back.forward_dynamics(wide, rates, np.append(tau, 0.0))
    assert np.allclose(found[:8], robot.forward_dynamics(q, v, tau), rtol=1e-9, atol=1e-9)


def test_constraints_come_back() -> None:
    b = jn.Builder()
    shift = np.eye(4)
    shift[:3, 3] = 0.3, 0.1, 0.2
    for name in ("left", "right", "far", "free"):
        b.add(name, "world", jn.Free() if name == "free" else jn.Revolute((0, 1, 0)), inertia=LINK)
    b.close("pin", "left", "right", jn.Spherical(), placement_a=shift)
    b.close("glue", "world", "free", jn.Fixed(), placement_b=shift)
    b.close("gear", "left", "far", jn.Gear((0.1, -2.0, 0.3)))
    b.close("lock", "right", "right", jn.Gear((0.2, 0.0)))
    robot = b.build()
    back = loaded(robot.to_mjcf())
    assert set(back.constraint_names) == {"pin", "glue", "gear", "lock"}
    rng = np.random.default_rng(8)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    for name in robot.constraint_names:
        mine, other = robot.constraint_rows(name), back.constraint_rows(name)
        for one, two in zip(robot.residual(q, v), back.residual(q, v), strict=True):
            assert np.allclose(np.abs(one[..., mine]), np.abs(two[..., other]), rtol=0, atol=1e-12), name
    assert loaded(robot.to_mjcf(skip="constraints")).constraint_names == ()


def test_constraints_that_mjcf_lacks() -> None:
    b = jn.Builder()
    for name in ("left", "right"):
        b.add(name, "world", jn.Revolute((0, 1, 0)), inertia=LINK)
    b.close("rope", "left", "right", jn.Distance(0.5))
    b.close("hinge", "left", "right", jn.Revolute((0, 1, 0)))
    b.close("cam", "left", "right", jn.Gear((0, 0, 0, 0, 0, 1)))
    robot = b.build().constrained({"left": jn.Spherical()})
    with pytest.raises(jn.SaveError) as caught:
        robot.to_mjcf()
    assert str(caught.value) == (
        "MJCF cannot express constraints of kind Distance 'rope'; constraints of kind Revolute 'hinge'; gears of a "
        "degree above 4 'cam'; contacts that hold a frame wherever it is 'left'; skip='constraints' leaves out these"
    )


# --- what MuJoCo refuses --------------------------------------------------------------------------------


def test_bodies_without_mass() -> None:
    """MuJoCo takes none that move: they get 1e-15 kg."""
    b = jn.Builder()
    b.add("a", "world", jn.Revolute((0, 1, 0)))
    b.add("b", "a", jn.Revolute((1, 0, 0)), inertia=jn.Inertia(1.0, (0, 0, 0.5)))
    b.add("c", "b", jn.Revolute((0, 0, 1)), inertia=jn.Inertia(1.0, (0, 0.3, 0), (0.1, 0.1, 0.2 * (1 + 1e-15))))
    robot = b.build()
    assert not Twins(robot, loaded(robot.to_mjcf())).faults()


def test_a_part_with_an_impossible_inertia() -> None:
    """What it is fixed to takes it over; if that has no possible one either, the error names it."""
    odd = jn.Inertia(0.1, (0, 0.1, 0), (1e-3, 1e-3, 5e-3), physical=False)
    b = jn.Builder()
    b.add("ground", "world", inertia=odd)
    b.add("arm", "ground", jn.Revolute((0, 1, 0)), inertia=LINK)
    b.add("sensor", "arm", inertia=odd)
    robot = b.build()
    assert not Twins(robot, loaded(robot.to_mjcf())).faults()
    b.add("hand", "arm", jn.Revolute(), inertia=odd)
    with pytest.raises(jn.SaveError, match=r"^MJCF cannot express moments of inertia that no body has, of 'hand'$"):
        b.build().to_mjcf()


def test_joints_that_mjcf_lacks() -> None:
    b = jn.Builder()
    b.add("a", "world", jn.Revolute(), inertia=LINK)
    b.add("b", "a", jn.Free(), inertia=LINK)
    b.add("c", "a", jn.Helical(), inertia=LINK)
    b.add("d", "a", jn.Spherical(damping=(1, 2, 3)), inertia=LINK)
    with pytest.raises(jn.SaveError) as caught:
        b.build().to_mjcf()
    assert str(caught.value) == (
        "MJCF cannot express free joints on bodies that move 'b'; helical joints 'c'; damping that differs between the "
        "coordinates of joints 'd'; skip='damping' leaves out damping"
    )


def test_names_and_depth() -> None:
    back = loaded(built(**{'<a & "b">': jn.Revolute(name="é'\n")}).to_mjcf(name="x & y"))
    assert (back.body_names, back.joint_names) == (('<a & "b">',), ("é'\n",))
    with pytest.raises(jn.SaveError, match=r"^name of a body is '50%', expected no '%'"):
        built(**{"50%": jn.Revolute()}).to_mjcf()
    with pytest.raises(jn.SaveError, match=r"^the robot has 500 bodies in a row, expected at most 400"):
        built(**{f"b{i}": jn.Revolute() for i in range(500)}).to_mjcf()


def test_ranges() -> None:
    b = jn.Builder()
    for name, limits in (("same", jn.Limits(0.1, 0.1)), ("upper", jn.Limits(upper=2.0)), ("weak", jn.Limits(effort=0))):
        b.add(name, "world", jn.Revolute(limits=limits), inertia=LINK)
    with pytest.warns(jn.SaveWarning, match=r"^left out of the MJCF: range of joint 'same': MuJoCo takes none whose"):
        back = loaded(b.build().to_mjcf())
    assert back.upper.tolist() == [np.inf, 2.0, np.inf]
    assert back.lower.tolist() == [-np.inf, -np.inf, -np.inf]


# --- visuals --------------------------------------------------------------------------------------------


def tetrahedron() -> bytes:
    """As a binary STL file."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], "<f4")
    facets = np.zeros(4, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")]))
    facets["corners"] = corners[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
    return bytes(80) + np.uint32(4).tobytes() + facets.tobytes()


def test_visuals_come_back(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "wedge.stl").write_bytes(tetrahedron())
    source = """<mujoco> <compiler angle="radian"/>
      <asset> <mesh name="m" file="wedge.stl" scale="0.1 0.1 0.2" refpos="1 2 3" refquat="1 1 0 0"/>
        <mesh name="n" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3"/> </asset>
      <worldbody> <geom type="box" size="1 1 0.1"/> <body name="a"> <joint/>
        <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/> <geom type="capsule" size="0.1 0.5" rgba="1 0 0 1"/>
        <geom type="ellipsoid" size="1 2 3"/> <geom type="cylinder" size="1 2" quat="1 1 0 0"/> <geom size="0.2"/>
        <geom type="mesh" mesh="m" pos="0 1 0"/> <geom type="mesh" mesh="n"/> </body> </worldbody> </mujoco>"""
    (tmp_path / "here" / "robot.xml").write_text(source)
    robot = loaded(tmp_path / "here" / "robot.xml")
    text = robot.to_mjcf(tmp_path / "there.xml")
    assert 'file="here/wedge.stl"' in text
    mujoco.MjModel.from_xml_path(str(tmp_path / "there.xml"))
    back = loaded(tmp_path / "there.xml")
    assert len(back.scenery) == 1
    mine, other = robot.bodies[0].visuals, back.bodies[0].visuals
    assert len(mine) == len(other) == 6
    for one, two in zip(mine, other, strict=True):
        assert one.colour == two.colour
        assert np.allclose(one.placement, two.placement, rtol=0, atol=1e-6)  # meshes pass through single precision
        if isinstance(one.shape, Triangles):
            assert (one.shape.vertices == two.shape.vertices).all()
        elif isinstance(one.shape, MeshFile):
            assert one.shape.path == two.shape.path
            assert (one.shape.scale, one.shape.shift, one.shape.turn) == (
                two.shape.scale,
                two.shape.shift,
                two.shape.turn,
            )
        else:
            assert one.shape == two.shape
    assert "geom" not in robot.to_mjcf(skip="visuals")


def test_meshes_that_mujoco_does_not_read() -> None:
    robot = from_file("ur5_robot.urdf", "fixed")
    with pytest.warns(
        jn.SaveWarning, match=r"^left out of the MJCF: mesh base.dae of .*: MuJoCo reads .stl, .obj, .msh"
    ):
        text = robot.to_mjcf()
    mujoco.MjModel.from_xml_string(text)


def test_height_fields_in_files(tmp_path: Path) -> None:
    import struct

    heights = np.arange(12, dtype=np.float32)
    (tmp_path / "hills.bin").write_bytes(struct.pack("<2i", 3, 4) + heights.tobytes())
    (
        tmp_path / "world.xml"
    ).write_text("""<mujoco> <asset> <hfield name="h" file="hills.bin" size="1 2 0.5 0.1"/> </asset>
        <worldbody> <geom type="hfield" hfield="h" pos="0 0 1"/> <geom type="hfield" hfield="h"/>
        <body> <joint/> <geom size="0.1"/> </body> </worldbody> </mujoco>""")
    with pytest.warns(jn.LoadWarning, match="contacts between 3 geoms"):
        robot = jn.load(tmp_path / "world.xml")
    robot.to_mjcf(tmp_path / "again.xml")
    back = jn.load(tmp_path / "again.xml")
    assert [v.shape for v in back.scenery] == [v.shape for v in robot.scenery]
    np.testing.assert_array_equal(back.scenery[0].placement, jn.placement((0, 0, 1)))
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "again.xml")).nhfield == 1
