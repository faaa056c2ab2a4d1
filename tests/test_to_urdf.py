"""Robots as URDF: what jounce, Pinocchio and MuJoCo read from the text is the same robot."""

from __future__ import annotations

import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import jounce as jn
from jounce.conversions import MuJoCo, Pinocchio
from jounce.core_tables import BodyRecord
from jounce.parts.visual import MeshFile, Visual
from jounce.saving.origin import roll_pitch_yaw
from kinds import EVERY, random_robot
from written import Twins, loaded

pytestmark = pytest.mark.filterwarnings("ignore:readers that ignore <mimic>:jounce.SaveWarning")
LINK = jn.Inertia(1.5, (0.1, -0.2, 0.3), (0.2, 0.3, 0.4))
ROBOTS = ["panda.urdf", "talos_full_v2.urdf", "anymal.urdf", "ur5_robot.urdf", "baxter.urdf", "human.urdf"]


def from_file(name: str, base: str, **options: object) -> jn.Model:
    from urdf_peer import urdf_path

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        return jn.load(urdf_path(name), base, **options)


def built(**bodies: jn.Joint) -> jn.Model:
    """A chain of these joints, with frames that are turned."""
    b, above = jn.Builder(), "world"
    rng = np.random.default_rng(7)
    for name, joint in bodies.items():
        placement = np.eye(4)
        placement[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        placement[:3, :3] *= np.linalg.det(placement[:3, :3])
        placement[:3, 3] = rng.normal(size=3)
        b.add(name, above, joint, placement, LINK)
        above = name
    return b.build()


# --- the same robot -------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_robots_from_files_come_back(name: str, base: str) -> None:
    robot = from_file(name, base)
    back = loaded(robot.to_urdf())
    assert (back.joint_names, back.frame_names) == (robot.joint_names, robot.frame_names)
    assert np.array_equal(back.velocity_limit, robot.velocity_limit)
    assert not Twins(robot, back).faults()


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio_reads_the_same(name: str, base: str) -> None:
    pin = pytest.importorskip("pinocchio")
    robot = from_file(name, base, mimic="independent", damping=False)
    model = pin.buildModelFromXML(robot.to_urdf(skip="visuals"))
    data, convert = model.createData(), Pinocchio(robot, model)
    rng = np.random.default_rng(1)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    there = convert.to(q, v, a)
    for mine, theirs in (
        (robot.inverse_dynamics(q, v, a), pin.rnea(model, data, *there)),
        (robot.gravity_force(q), pin.computeGeneralizedGravity(model, data, there[0])),
    ):
        assert np.allclose(convert.force_back(q, theirs), mine, rtol=0, atol=1e-12 * np.abs(mine).max())
    upper = np.triu(pin.crba(model, data, there[0]))
    matrix, mine = upper + np.triu(upper, 1).T, robot.mass_matrix(q)
    order = np.concatenate([np.arange(j.idx_v, j.idx_v + j.nv) for j in _joints(model, robot)])
    assert np.allclose(matrix[np.ix_(order, order)], mine, rtol=0, atol=1e-12 * np.abs(mine).max())


def _joints(model: object, robot: jn.Model) -> list[object]:
    written = [name if model.existJointName(name) else f"{name}_joint" for name in robot.joint_names]
    return [model.joints[model.getJointId(name)] for name in written]


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", ["a1.urdf", "ur5_robot.urdf", "talos_full_v2.urdf"])
def test_mujoco_reads_the_same(name: str, base: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    robot = from_file(name, base, mimic="independent", damping=False)
    model = mujoco.MjModel.from_xml_string(robot.to_urdf())
    assert_same_in_mujoco(mujoco, model, robot)


def assert_same_in_mujoco(mujoco: object, model: object, robot: jn.Model) -> None:
    """Inverse dynamics, the mass matrix and the weight, at random states."""
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data, convert = mujoco.MjData(model), MuJoCo(robot, model)
    rng = np.random.default_rng(2)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    rest = np.zeros(robot.nv)
    for rates in ((v, a), (rest, rest), *((rest, row) for row in np.eye(robot.nv))):
        data.qpos, data.qvel, data.qacc = convert.to(q, *rates)
        mujoco.mj_inverse(model, data)
        mine = robot.inverse_dynamics(q, *rates)
        theirs = convert.force_back(q, data.qfrc_inverse)
        assert np.allclose(theirs, mine, rtol=0, atol=1e-10 * max(1.0, np.abs(mine).max()))


SCREWS = {
    "alone": {"helical": jn.Helical((0, 2, 1), 0.3, damping=0.2, limits=jn.Limits(-1.0, 2.0, 3.0, 4.0))},
    "unlimited": {"helical": jn.Helical((1, 2, 1), -0.3), "revolute": jn.Revolute((1, 0, 0))},
    "following": {
        "revolute": jn.Revolute((1, 0, 2)),
        "f": jn.Helical((0, 0, 1), 0.1, follows=jn.Follow("revolute", -2, 0.2)),
    },
    "followed": {
        "helical": jn.Helical((0, 1, 1), 0.2),
        "f": jn.Prismatic((1, 1, 0), follows=jn.Follow("helical", 0.7, 0.1)),
    },
}


@pytest.mark.parametrize("name", SCREWS)
def test_pinocchio_reads_screws_as_joints_that_mimic(name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    if "mimic" not in pin.buildModelFromXML.__doc__:
        pytest.skip("this Pinocchio has no joints that mimic")
    robot = built(**SCREWS[name]).replace(damping=0.0)
    with pytest.warns(
        jn.SaveWarning, match=r"^readers that ignore <mimic> get a free slide for the screw of joint '\w+'$"
    ):
        text = robot.to_urdf()
    model = pin.buildModelFromXML(text, mimic=True)
    assert model.nv == robot.nv
    data, rng = model.createData(), np.random.default_rng(3)
    joints = _joints(model, robot)
    q, v, a = rng.uniform(-1, 1, robot.nv), *rng.normal(size=(2, robot.nv))
    there = np.zeros(model.nq)
    for value, joint in zip(q, joints, strict=True):
        there[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(value), np.sin(value)) if joint.nq == 2 else value
    order = [joint.idx_v for joint in joints]
    rates = [np.array([x[order.index(i)] for i in range(robot.nv)]) for x in (v, a)]
    mine, theirs = robot.inverse_dynamics(q, v, a), pin.rnea(model, data, there, *rates)[order]
    assert np.allclose(theirs, mine, rtol=0, atol=1e-12 * np.abs(mine).max())
    upper = np.triu(pin.crba(model, data, there))
    matrix = (upper + np.triu(upper, 1).T)[np.ix_(order, order)]
    assert np.allclose(matrix, robot.mass_matrix(q), rtol=0, atol=1e-12 * np.abs(matrix).max())


def test_what_a_reader_without_mimic_gets_of_a_screw() -> None:
    robot = built(**SCREWS["alone"])
    with pytest.warns(jn.SaveWarning) as told:
        text = robot.to_urdf()
    assert len(told) == 1
    assert jn.load(text, mimic="independent").joint_names == ("helical_joint", "helical.slide")
    assert jn.load(text).joint_names == ("helical_joint",)


JOINTS = {
    "cylindrical": jn.Cylindrical((1, 2, 3), damping=(0.1, 0.2)),
    "planar": jn.Planar((0, 1, 0), (0, 0, 1), damping=0.3),
    "planar_turned": jn.Planar((1, 1, 0), (0, 0, 1)),
    "universal": jn.Universal((1, 0, 1), (0, 1, 0), damping=(0.4, 0.0)),
    "helical": jn.Helical((0, 2, 1), 0.3, damping=0.2, limits=jn.Limits(-1.0, 2.0, 3.0, 4.0)),
    "revolute": jn.Revolute((0, 2, 1), limits=jn.Limits(upper=1.5)),
    "continuous": jn.Revolute((0, 2, 1), limits=jn.Limits(velocity=2.0, effort=5.0)),
    "prismatic": jn.Prismatic((0, 2, 1)),
    "free": jn.Free(damping=0.2),
    "follower": jn.Helical((0, 0, 1), 0.1, follows=jn.Follow("revolute", -0.7, 0.2)),
    "fixed": jn.Fixed(),
}


@pytest.mark.parametrize("name", [name for name in JOINTS if name != "follower"])
def test_every_joint(name: str) -> None:
    assert not (faults := Twins(robot := built(**{name: JOINTS[name]}), loaded(robot.to_urdf())).faults()), faults


def test_friction_comes_back_and_its_speed_is_given_again() -> None:
    rough = {"free": jn.Free(friction=0.3), "planar": jn.Planar((0, 1, 0), (0, 0, 1), friction=0.2, damping=0.1)}
    rough |= {"universal": jn.Universal((1, 0, 1), (0, 1, 0), friction=(0.4, 0.0)), "slide": jn.Prismatic(friction=2.0)}
    robot = built(**rough).replace(friction_speed=dict.fromkeys(rough, 0.05))
    back = jn.load(robot.to_urdf(), friction=0.05)
    assert not (faults := Twins(robot, back).faults()), faults
    uneven = built(free=jn.Free(friction=(1, 2, 3, 4, 5, 6)))
    with pytest.raises(jn.Error, match="friction that differs between the coordinates of joints 'free'; skip="):
        uneven.to_urdf()
    assert "friction" not in uneven.to_urdf(skip=["friction"])


def test_all_of_them_in_a_row() -> None:
    robot = built(**JOINTS)
    back = loaded(robot.to_urdf())
    assert not Twins(robot, back).faults()
    assert "cylindrical/cylindrical.0" in back.frame_names
    assert loaded(back.to_urdf()).frame_names == back.frame_names


@pytest.mark.parametrize("name", EVERY)
def test_every_kind_of_robot_comes_back_or_is_refused(name: str) -> None:
    robot = EVERY[name].model
    skip = ("armature", "constraints", "gravity", "springs")
    refused = any(b.soft is not None or isinstance(b.joint, (jn.Spherical, jn.CustomJoint)) for b in robot.bodies)
    if refused:
        with pytest.raises(jn.SaveError, match=r"URDF cannot express (soft bodies|custom joints|spherical joints)"):
            robot.to_urdf(skip=skip)
    else:
        back = loaded(robot.to_urdf(skip=skip), gravity=robot.gravity)
        allowed = {"elastic_force", "inverse_dynamics"} if any(b.joint.stiffness.any() for b in robot.bodies) else set()
        allowed |= {"mass_matrix", "inverse_dynamics"} if any(b.joint.armature.any() for b in robot.bodies) else set()
        assert set(Twins(robot, back).faults()) <= allowed


def test_random_robots() -> None:
    count = 0
    for seed in range(60):
        robot = random_robot(seed).model
        try:
            text = robot.to_urdf(skip="gravity")
        except jn.SaveError:
            continue
        assert not Twins(robot, loaded(text, gravity=robot.gravity)).faults(), seed
        count += 1
    assert count >= 5


def test_roll_pitch_and_yaw_at_right_angles() -> None:
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(3)
    for pitch in (np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-8, np.pi / 2 - 1e-15, 0.3):
        for roll, yaw in rng.uniform(-3, 3, (20, 2)):
            turn = Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix()
            again = Rotation.from_euler("xyz", roll_pitch_yaw(turn)).as_matrix()
            assert np.abs(again - turn).max() < 1e-15


# --- the text -------------------------------------------------------------------------------------------


def test_the_text_is_the_same_each_time_and_is_written(tmp_path: Path) -> None:
    robot = built(**JOINTS)
    path = tmp_path / "robot.urdf"
    text = robot.to_urdf(path, name="it")
    assert path.read_text() == text == robot.to_urdf(str(path), name="it") == robot.to_urdf(name="it")
    assert text.startswith('<?xml version="1.0"?>\n<robot name="it">\n  <link name="world" />\n')
    assert jn.load(path).nv == robot.nv


def test_names_that_xml_must_escape() -> None:
    names = ['<a & "b">', "tab\tnew\nline", "ünïcode 🤖"]
    b, above = jn.Builder(), "world"
    for name in names:
        b.add(name, above, jn.Revolute(name=f"{name}'s joint"), inertia=LINK)
        above = name
    back = loaded(b.build().to_urdf())
    assert back.body_names == tuple(names)
    assert back.joint_names == tuple(f"{name}'s joint" for name in names)


def test_a_name_that_no_file_can_hold() -> None:
    with pytest.raises(jn.SaveError, match=r"^name of a body is 'a\\x01b', which has the character '\\x01'"):
        built(**{"a\x01b": jn.Revolute()}).to_urdf()
    with pytest.raises(ValueError, match=r"^name is '', expected a non-empty string$"):
        built(a=jn.Revolute()).to_urdf(name="")


def test_a_fixed_joint_named_like_another() -> None:
    b = jn.Builder()
    b.add("a", "world", jn.Fixed(), inertia=LINK)
    b.add("b", "a", jn.Revolute(name="a"), inertia=LINK)
    robot = b.build()
    assert not Twins(robot, loaded(robot.to_urdf())).faults()


def test_no_joint_has_the_name_of_a_link() -> None:
    """Both are frames for Pinocchio, which finds frames by name."""
    pin = pytest.importorskip("pinocchio")
    b = jn.Builder()
    for name, on, joint in (
        ("base", "world", jn.Free()),
        ("arm", "base", jn.Revolute((0, 1, 0))),
        ("side", "arm", jn.Revolute((0, 1, 0), follows=jn.Follow("arm", 0.5))),
        ("tool", "arm", jn.Fixed()),
        ("arm_joint", "tool", jn.Prismatic(name="slide")),  # takes the name that would be the next one
        ("wheel", "arm", jn.Helical((0, 0, 1), 0.1)),
        ("plate", "arm", jn.Planar((0, 1, 0), (0, 0, 1))),
        ("cross", "arm", jn.Universal()),
        ("end", "arm", jn.Revolute(name="fine")),
        ("cap", "end", jn.Fixed(name="end")),  # the name of another link
        ("lid", "end", jn.Fixed(name="fine")),  # of a joint
    ):
        b.add(name, on, joint, inertia=LINK)
    robot = b.build()
    text = robot.to_urdf()
    names = [element.get("name") for element in ElementTree.fromstring(text)]
    assert len(set(names)) == len(names)
    model = pin.buildModelFromXML(text, mimic=True) if "mimic" in pin.buildModelFromXML.__doc__ else None
    for name in robot.frame_names if model else ():
        assert model.frames[model.getFrameId(name)].type == pin.BODY
    back = loaded(text)
    assert back.joint_names == (
        "base_joint", "arm_joint_2", "slide", "wheel_joint", "plate_joint", "cross.0", "cross.1", "fine"
    )  # fmt: skip
    assert loaded(back.to_urdf()).joint_names == back.joint_names
    assert back.to_urdf() == text


def test_pinocchio_reads_a_floating_base() -> None:
    """As the joint of the file, or as its own on a file without one."""
    pin = pytest.importorskip("pinocchio")
    b = jn.Builder()
    b.add("base", "world", jn.Free(), inertia=LINK)
    b.add("arm", "base", jn.Revolute((0, 1, 0)), jn.placement((0.1, 0, 0)), LINK)
    robot = b.build()
    text, bare = robot.to_urdf(), robot.lock({"base": [0, 0, 0, 0, 0, 0, 1]}).to_urdf()
    assert pin.buildModelFromXML(text, pin.JointModelFreeFlyer()).nv == 13  # which are too many
    rng = np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    expected = robot.inverse_dynamics(q, v, a)
    lone = loaded(bare, base="floating")
    for model, mine in (
        (pin.buildModelFromXML(text), robot),
        (pin.buildModelFromXML(bare, pin.JointModelFreeFlyer()), lone),
    ):
        assert model.nv == robot.nv
        convert = Pinocchio(mine, model)  # by the names in the file
        found = convert.force_back(q, pin.rnea(model, model.createData(), *convert.to(q, v, a)))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_a_root_link_of_its_own_stays_the_root() -> None:
    robot = from_file("ur5_robot.urdf", "fixed")
    assert 'link name="world"' in robot.to_urdf()  # as in the file
    b = jn.Builder()
    b.add("base", "world")
    b.add("arm", "base", jn.Revolute(name="shoulder"), inertia=LINK)
    text = b.build().to_urdf()
    assert "world" not in text
    assert loaded(text, base="floating").joint_names == ("root_joint", "shoulder")


def test_the_empty_robot() -> None:
    assert loaded(jn.Builder().build().to_urdf()).nv == 0


# --- what cannot be said --------------------------------------------------------------------------------


def test_what_urdf_cannot_express_is_named() -> None:
    b = jn.Builder(gravity=(0, 0, -1.62))
    b.add("a", "world", jn.Revolute(stiffness=3.0, armature=0.1, name="hip"), inertia=LINK)
    b.add("b", "a", jn.Revolute(rotor=jn.Rotor(10.0, 1e-3)), inertia=LINK)
    b.add("c", "world", jn.Free(damping=(1, 2, 3, 4, 5, 6)), inertia=LINK)
    b.close("rope", "a", "c", jn.Distance(0.5))
    robot = b.build()
    with pytest.raises(jn.SaveError) as caught:
        robot.to_urdf()
    assert str(caught.value) == (
        "URDF cannot express rotors of joints 'b'; springs of joints 'hip'; armature of joints 'hip'; damping that "
        "differs between the coordinates of joints 'c'; constraints 'rope'; gravity other than (0, 0, -9.81), such as "
        "'[0.0, 0.0, -1.62]'; skip=('rotors', 'springs', 'armature', 'damping', 'constraints', 'gravity') leaves out "
        "these"
    )
    back = loaded(robot.to_urdf(skip=("rotors", "springs", "armature", "damping", "constraints", "gravity")))
    assert back.joint_names == ("hip", "b_joint", "c_joint")
    assert not any(b.joint.damping.any() for b in back.bodies)


def test_joints_that_urdf_lacks() -> None:
    with pytest.raises(jn.SaveError, match=r"^URDF cannot express spherical joints 'ball'$"):
        built(ball=jn.Spherical()).to_urdf()
    b = jn.Builder.from_model(built(a=jn.Revolute(stiffness=1.0)))
    b.add("rod", "a", body=jn.soft.Rod(0.3, 0.01, 1e3, 1e5))
    robot = b.build()
    with pytest.raises(jn.SaveError, match=r"^URDF cannot express soft bodies 'rod'; .* leaves out springs$"):
        robot.to_urdf()


@pytest.mark.parametrize("skip", ["sprngs", ["springs", 3], 5, None])
def test_skip_is_checked(skip: object) -> None:
    with pytest.raises(ValueError, match=r"^skip is .*, expected words for what to leave out: "):
        built(a=jn.Revolute()).to_urdf(skip=skip)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(jn.SaveError, match=r"cannot be written: No such file or directory$"):
        built(a=jn.Revolute()).to_urdf(tmp_path / "none" / "robot.urdf")
    with pytest.raises(ValueError, match=r"^path is 3, expected the name of a file, or None$"):
        built(a=jn.Revolute()).to_urdf(3)


# --- visuals --------------------------------------------------------------------------------------------

LOOKS = """<robot name="r"> <material name="red"> <color rgba="1 0 0 0.5"/> </material>
  <link name="a"> <visual> <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/> <geometry> <box size="1 2 3"/> </geometry>
      <material name="red"/> </visual>
    <visual> <geometry> <cylinder radius="0.1" length="2"/> </geometry> </visual>
    <visual> <geometry> <sphere radius="0.3"/> </geometry> </visual>
    <visual> <geometry> <mesh filename="shapes/a.stl" scale="1 2 3"/> </geometry> </visual>
    <visual> <geometry> <mesh filename="package://elsewhere/b.dae"/> </geometry> </visual> </link> </robot>"""


def test_visuals_come_back(tmp_path: Path) -> None:
    (tmp_path / "here" / "shapes").mkdir(parents=True)
    (tmp_path / "here" / "shapes" / "a.stl").write_text("solid a\nendsolid a\n")
    (tmp_path / "here" / "robot.urdf").write_text(LOOKS)
    robot = jn.load(tmp_path / "here" / "robot.urdf")
    robot.to_urdf(tmp_path / "there.urdf")
    assert '<mesh filename="here/shapes/a.stl" scale="1 2 3" />' in (tmp_path / "there.urdf").read_text()
    assert '<mesh filename="shapes/a.stl" scale="1 2 3" />' in robot.to_urdf()
    back = jn.load(tmp_path / "there.urdf")
    one, two = robot.bodies[0].visuals, back.bodies[0].visuals
    assert len(one) == len(two) == 5
    for mine, other in zip(one, two, strict=True):
        assert mine.colour == other.colour
        assert np.allclose(mine.placement, other.placement, rtol=0, atol=1e-15)
        same = mine.shape == other.shape or isinstance(mine.shape, MeshFile)
        assert same
    assert two[3].shape.path == one[3].shape.path
    assert two[4].shape.name == "package://elsewhere/b.dae"
    assert "visual" not in robot.to_urdf(skip="visuals")


def test_a_mesh_that_its_file_moves() -> None:
    """A URDF cannot: the visual is moved instead, so that each vertex is in the same place."""
    shape = MeshFile("/a.stl", ("/",), (0.5, 0.5, 0.5), (1.0, 2.0, 3.0), (0.8, 0.6, 0.0, 0.0))
    placement = np.eye(4)
    placement[:3, 3] = 0.1, 0.2, 0.3
    body = BodyRecord("a", -1, jn.Revolute(), np.eye(4), LINK, visuals=(Visual(shape, placement),))
    (back,) = loaded(jn.Model([body], np.array([0, 0, -9.81])).to_urdf()).bodies[0].visuals
    turn = np.array([[1, 0, 0], [0, 0.28, -0.96], [0, 0.96, 0.28]])  # of that quaternion
    vertex = np.array([0.3, -0.4, 0.7])
    expected = placement[:3, 3] + 0.5 * (vertex - shape.shift) @ turn
    assert np.allclose(back.placement[:3, :3] @ (0.5 * vertex) + back.placement[:3, 3], expected, rtol=0, atol=1e-15)


def test_shapes_that_urdf_lacks() -> None:
    pytest.importorskip("mujoco")
    robot = loaded("""<mujoco> <worldbody> <body name="a"> <joint/> <geom type="capsule" size="0.1 0.5"/>
      <geom type="ellipsoid" size="0.1 0.2 0.3"/> </body> </worldbody> </mujoco>""")
    with pytest.warns(jn.SaveWarning, match=r"^left out of the URDF: ellipsoid of 'a': URDF has no such shape$"):
        text = robot.to_urdf()
    ends = [v.placement[2, 3] for v in jn.load(text).bodies[0].visuals]
    assert ends == [0.0, -0.5, 0.5]  # of a cylinder and two spheres
