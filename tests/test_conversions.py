"""Conversions agree with the libraries themselves: same motion in, same forces out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import jounce as jn
from jounce.conversions import MuJoCo, Pinocchio
from jounce.loading import load
from jounce.loading.mjcf import describe_mjcf
from trees import random_inertia, random_pose

X, Y, Z = np.eye(3)
SKEW = np.array([1.0, 2.0, 2.0]) / 3


def pinocchio_joints(pin: Any) -> dict[str, tuple[jn.Joint, Any]]:
    """The same joint in both libraries."""

    def composite(*parts: Any) -> Any:
        whole = pin.JointModelComposite()
        for part in parts:
            whole.addJoint(part)
        return whole

    return {
        "free": (jn.Free(), pin.JointModelFreeFlyer()),
        "ball": (jn.Spherical(), pin.JointModelSpherical()),
        "planar": (jn.Planar(), pin.JointModelPlanar()),
        "continuous": (jn.Revolute(Y), pin.JointModelRUBY()),
        "revolute": (jn.Revolute(X), pin.JointModelRX()),
        "skew revolute": (jn.Revolute(SKEW), pin.JointModelRevoluteUnaligned(SKEW)),
        "prismatic": (jn.Prismatic(Z), pin.JointModelPZ()),
        "skew prismatic": (jn.Prismatic(SKEW), pin.JointModelPrismaticUnaligned(SKEW)),
        "screw": (jn.Helical(X, 0.3), pin.JointModelHX(0.3)),
        "skew screw": (jn.Helical(SKEW, 0.3), pin.JointModelHelicalUnaligned(SKEW, 0.3)),
        "universal": (jn.Universal(X, Y), pin.JointModelUniversal(X, Y)),
        "cylinder": (jn.Cylindrical(Z), composite(pin.JointModelPZ(), pin.JointModelRUBZ())),
        "two turns": (jn.Universal(Z, X), composite(pin.JointModelRZ(), pin.JointModelRX())),
        "planar parts": (jn.Planar(), composite(pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ())),
    }


def pinocchio_pair(pin: Any, rng: np.random.Generator) -> tuple[jn.Model, Any]:
    """A tree with all joints, in different orders: depth first in Pinocchio, here the children in turn."""
    joints = pinocchio_joints(pin)
    names = [str(name) for name in rng.permutation(list(joints))]
    above = {name: names[(i - 1) // 2] if i else None for i, name in enumerate(names)}
    place = {name: random_pose(rng) for name in names}
    mass = {name: (m := rng.uniform(0.5, 2), rng.uniform(-0.1, 0.1, 3), random_inertia(rng, m)) for name in names}
    builder, model = jn.Builder(), pin.Model()
    for name in names:
        builder.add(
            f"{name} link",
            f"{above[name]} link" if above[name] else "world",
            _named(joints[name][0], name),
            place[name],
            jn.Inertia(*mass[name]),
        )
    todo = [names[0]]
    while todo:
        name = todo.pop()
        parent = model.getJointId(above[name]) if above[name] else 0
        joint = model.addJoint(parent, joints[name][1], pin.SE3(place[name]), name)
        model.appendBodyToJoint(joint, pin.Inertia(*mass[name]), pin.SE3.Identity())
        todo += [other for other in names if above[other] == name]
    return builder.build(), model


def _named(joint: jn.Joint, name: str) -> jn.Joint:
    match joint:
        case jn.Helical():
            return jn.Helical(joint.axis, joint.pitch, name=name)
        case jn.Revolute() | jn.Prismatic() | jn.Cylindrical():
            return type(joint)(joint.axis, name=name)
        case jn.Universal():
            return jn.Universal(joint.first, joint.second, name=name)
    return type(joint)(name=name)


@pytest.mark.parametrize("seed", range(3))
def test_inverse_dynamics_of_pinocchio(seed: int) -> None:
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    robot, model = pinocchio_pair(pin, rng)
    assert tuple(model.names)[1:] != robot.joint_names
    convert, data = Pinocchio(robot, model), model.createData()
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    there = convert.to(q, v, a)
    tau = pin.rnea(model, data, *there)
    ours = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(convert.force_back(q, tau), ours, rtol=0, atol=1e-11 * np.abs(ours).max())
    np.testing.assert_allclose(convert.force_to(q, ours), tau, rtol=0, atol=1e-11 * np.abs(ours).max())
    assert np.isclose(tau @ there[1], ours @ v)  # the power

    # velocities and accelerations are the derivatives of configurations in Pinocchio, too
    h = 1e-6
    moved = convert.to(robot.integrate(robot.integrate(q, h * v), h * h / 2 * a))
    np.testing.assert_allclose(pin.difference(model, there[0], moved) / h, there[1], atol=1e-4)

    again = convert.back(*there)
    np.testing.assert_allclose(robot.difference(q, again[0]) % (2 * np.pi) % (2 * np.pi - 1e-9), 0, atol=1e-9)
    np.testing.assert_allclose(again[1:], [v, a], atol=1e-12)


def test_accelerations_are_the_derivatives_of_velocities_in_pinocchio() -> None:
    robot, model = pinocchio_pair(pytest.importorskip("pinocchio"), np.random.default_rng(0))
    convert, rng, h = Pinocchio(robot, model), np.random.default_rng(1), 1e-5
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    ends = [convert.to(robot.integrate(q, t * v), v + t * a)[1] for t in (-h, h)]
    np.testing.assert_allclose((ends[1] - ends[0]) / (2 * h), convert.to(q, v, a)[2], atol=1e-8)


def test_a_urdf_in_pinocchio() -> None:
    """Joints that Pinocchio creates from URDF only: unbounded about a skew axis; and its sorted order."""
    pin = pytest.importorskip("pinocchio")
    joints = {"z": "continuous", "b": "continuous", "a": "revolute", "k": "prismatic", "c": "planar", "f": "floating"}
    mass = """<inertial> <origin xyz="0.1 0 0.2"/> <mass value="2"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial>"""
    text = '<robot name="r"> <link name="base"> ' + mass + "</link>"
    above = "base"
    for name, kind in joints.items():
        axis = "0 0 1" if kind in ("planar", "floating") else "0 1 0" if name == "b" else "0.6 0 0.8"
        text += f"""<link name="link {name}"> {mass} </link> <joint name="{name}" type="{kind}">
          <parent link="{above}"/>
          <child link="link {name}"/> <origin xyz="0.1 0.2 0.3" rpy="1 2 3"/> <axis xyz="{axis}"/>
          <limit lower="-1" upper="1" effort="1" velocity="1"/> </joint>"""
        above = "base" if name == "b" else f"link {name}"
    text += "</robot>"
    robot, model = load(text, "floating"), pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    assert sorted(robot.joint_names) == sorted(model.names[1:])
    convert, rng = Pinocchio(robot, model), np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    tau = pin.rnea(model, model.createData(), *convert.to(q, v, a))
    np.testing.assert_allclose(convert.force_back(q, tau), robot.inverse_dynamics(q, v, a), rtol=0, atol=1e-10)


MUJOCO = """<mujoco> <option gravity="0.5 1 -9"> <flag constraint="disable"/> </option> <worldbody>
  <body name="base" pos="1 2 3"> <freejoint/> <inertial pos="0.1 0 0" mass="2" diaginertia="0.2 0.3 0.4"/>
    <body name="a" pos="0.2 0 0"> <joint name="ball" type="ball" damping="0.2" armature="0.1" pos="0 0.1 0"/>
      <inertial pos="0 0 0.1" mass="1" diaginertia="0.02 0.03 0.04"/>
      <body name="b" pos="0 0 0.3"> <joint name="hinge" axis="1 1 0"/> <joint name="slide" type="slide"/>
        <inertial pos="0 0.1 0" mass="1" diaginertia="0.02 0.03 0.04"/> </body> </body> </body>
  <body name="other"> <joint name="second" type="free"/>
    <inertial pos="0 0.1 0" mass="1" diaginertia="0.02 0.03 0.04"/> </body>
  </worldbody> </mujoco>"""


def mujoco_pair() -> tuple[Any, jn.Model, Any]:
    mujoco = pytest.importorskip("mujoco")
    return mujoco, describe_mjcf(MUJOCO).model(), mujoco.MjModel.from_xml_string(MUJOCO)


def test_dynamics_of_mujoco() -> None:
    mujoco, robot, model = mujoco_pair()
    convert, data, rng = MuJoCo(robot, model), mujoco.MjData(model), np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    data.qpos[:], data.qvel[:], data.qacc[:] = convert.to(q, v, a)
    mujoco.mj_inverse(model, data)
    tau = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(convert.force_back(q, data.qfrc_inverse), tau, atol=1e-11)
    np.testing.assert_allclose(convert.force_to(q, tau), data.qfrc_inverse, atol=1e-11)
    assert np.isclose(tau @ v, data.qfrc_inverse @ data.qvel)

    data.qfrc_applied[:] = convert.force_to(q, tau)
    mujoco.mj_forward(model, data)
    here = convert.back(data.qpos, data.qvel, data.qacc)
    for ours, given in zip(here, (q, v, a), strict=True):
        np.testing.assert_allclose(ours, given, atol=1e-10)


def test_velocities_of_mujoco_are_those_of_its_configurations() -> None:
    mujoco, robot, model = mujoco_pair()
    convert, rng, h = MuJoCo(robot, model), np.random.default_rng(0), 1e-5
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    ends = [convert.to(robot.integrate(q, t * v), v + t * a) for t in (-h, h)]
    speed = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, speed, 2 * h, ends[0][0], ends[1][0])
    there = convert.to(q, v, a)
    np.testing.assert_allclose(speed, there[1], atol=1e-8)
    np.testing.assert_allclose((ends[1][1] - ends[0][1]) / (2 * h), there[2], atol=1e-8)


def test_batches_and_fewer_arguments() -> None:
    _, robot, model = mujoco_pair()
    convert, rng = MuJoCo(robot, model), np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng, (4, 3)), rng.normal(size=(3, robot.nv)), rng.normal(size=robot.nv)
    there = convert.to(q, v, a)
    assert [x.shape for x in there] == [(4, 3, model.nq), (4, 3, model.nv), (4, 3, model.nv)]
    for i, j in np.ndindex(4, 3):
        for all_of_them, one in zip(there, convert.to(q[i, j], v[j], a), strict=True):
            np.testing.assert_array_equal(all_of_them[i, j], one)
    np.testing.assert_array_equal(convert.to(q), there[0])
    np.testing.assert_array_equal(convert.to(q, v)[1], there[1])
    np.testing.assert_allclose(convert.back(there[0]), q)
    np.testing.assert_allclose(convert.back(*there)[2], np.broadcast_to(a, (4, 3, robot.nv)))
    tau = rng.normal(size=(2, 1, 1, robot.nv))
    forces = convert.force_to(q, tau)
    assert forces.shape == (2, 4, 3, model.nv)
    np.testing.assert_allclose(convert.force_back(q, forces), np.broadcast_to(tau, forces.shape))
    with pytest.raises(ValueError, match="a was given without v"):
        convert.to(q, a=a)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=rf"q has shape \(4,\), expected \({robot.nq},\)"):
        convert.to([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match=rf"qpos has shape|q has shape \({model.nq - 1},\)"):
        convert.back(np.ones(model.nq - 1))


def test_a_stack_is_not_taken_for_velocities_in_silence() -> None:
    """Its rows are converted like velocities, which those of a free body's acceleration are not."""
    _, robot, model = mujoco_pair()
    convert, rng = MuJoCo(robot, model), np.random.default_rng(0)
    q, stack = robot.random_configuration(rng, 3), rng.normal(size=(3, 3, robot.nv))
    cure = r"for 3 velocities at {}, not for a stack with derivatives: pass its first two rows as v and a, .* pass {}"
    with pytest.warns(jn.BatchWarning, match=cure.format("one q", r"q\[None\]")) as said:
        convert.to(q[0], stack[0])
    assert said[0].filename == __file__
    with pytest.warns(jn.BatchWarning, match=cure.format("each q", r"q\[\.\.\., None, :\]")):
        convert.to(q, stack)
    for call, count in ((convert.force_to, robot.nv), (convert.force_back, model.nv)):
        with pytest.warns(jn.BatchWarning, match=r"tau has shape \(3, .*: pass its first row, or"):
            call(q[0], np.ones((3, count)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        convert.to(q[0], stack[0, 0], stack[0, 1])
        convert.to(q[:1], stack[0])
        convert.to(q[:, None], stack)
        convert.to(q[0], stack[0, :1])
        convert.to(q[0], stack[0], stack[0])


@pytest.mark.parametrize("seed", range(3))
def test_columns_and_matrices_of_pinocchio(seed: int) -> None:
    """Joints whose velocities turn, too: Pinocchio's planar joint has them in axes that turn with the body."""
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    robot, model = pinocchio_pair(pin, rng)
    convert, data = Pinocchio(robot, model), model.createData()
    q = robot.random_configuration(rng)
    q_there = convert.to(q)
    link = model.getJointId("cylinder")
    J = pin.computeJointJacobian(model, data, q_there, link)
    np.testing.assert_allclose(convert.jacobian_back(q, J), robot.jacobian("cylinder link", q), rtol=0, atol=1e-12)
    M = pin.crba(model, data, q_there)
    M = np.triu(M) + np.triu(M, 1).T
    mine = robot.mass_matrix(q)
    np.testing.assert_allclose(convert.matrix_back(q, M), mine, rtol=0, atol=1e-11 * np.abs(mine).max())
    np.testing.assert_allclose(convert.matrix_to(q, mine), M, rtol=0, atol=1e-11 * np.abs(mine).max())
    np.testing.assert_allclose(convert.jacobian_to(q, robot.jacobian("cylinder link", q)), J, rtol=0, atol=1e-12)
    same = np.ones(robot.nv, bool)
    same[robot.coordinate("planar")] = False
    here = np.ix_(convert.columns, convert.columns)
    np.testing.assert_allclose(M[here][same][:, same], mine[same][:, same], atol=1e-11)
    assert sorted(convert.columns) == list(range(robot.nv))
    with pytest.raises(ValueError, match="read-only"):
        convert.columns[0] = 1


def test_matrices_of_mujoco() -> None:
    mujoco, robot, model = mujoco_pair()
    convert, data, rng = MuJoCo(robot, model), mujoco.MjData(model), np.random.default_rng(0)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    data.qpos[:] = convert.to(q)
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    np.testing.assert_allclose(convert.matrix_back(q, M), robot.mass_matrix(q), rtol=0, atol=1e-12)
    np.testing.assert_allclose(convert.matrix_to(q, robot.mass_matrix(q)), M, rtol=0, atol=1e-12)
    place, turn = np.zeros((2, 3, model.nv))
    mujoco.mj_jacBody(model, data, place, turn, model.body("b").id)
    J = np.vstack([place, turn])
    mine = robot.jacobian("b", q, frame="mixed", velocity_frame="body")
    origin = robot.pose("b", q)[:3, 3] - data.body("b").xpos  # where the body's frame is in each
    shifted = J.copy()
    shifted[:3] += np.cross(J[3:], origin, axis=0)
    np.testing.assert_allclose(convert.jacobian_back(q, shifted), mine, rtol=0, atol=1e-12)
    np.testing.assert_allclose(J @ convert.to(q, v)[1], convert.jacobian_back(q, J) @ v, rtol=0, atol=1e-12)
    many = robot.random_configuration(rng, (2, 3))
    for i in np.ndindex(2, 3):
        np.testing.assert_allclose(convert.matrix_back(many, M)[i], convert.matrix_back(many[i], M), rtol=0, atol=1e-13)
    for call in (convert.matrix_to, convert.matrix_back, convert.jacobian_to, convert.jacobian_back):
        with pytest.raises(ValueError, match=r"[MJ] has shape \(3,\), expected \(\.\.\., (rows|17), 17\)"):
            call(q, np.zeros(3))


def test_joints_that_follow_here_are_said_to() -> None:
    """Pinocchio reads the joints of a gripper as independent, unless it is asked not to."""
    pin = pytest.importorskip("pinocchio")
    b = jn.Builder()
    for name, follows in (("left", None), ("right", jn.Follow("left", -1.0))):
        b.add(name, "world", jn.Revolute(follows=follows), inertia=jn.Inertia(1.0, (0.1, 0, 0)))
    text = b.build().to_urdf()
    model = pin.buildModelFromXML(text)
    for robot in (b.build(), load(text)):  # which name the joint "right" and "right_joint"
        with pytest.raises(
            ValueError, match=r"no joint 'right_joint' of its own: followers of .* mimic='independent'$"
        ):
            Pinocchio(robot, model)
    assert Pinocchio(load(text, mimic="independent"), model).columns.size == 2


def test_joints_that_the_other_lacks_are_named() -> None:
    mujoco, robot, _ = mujoco_pair()
    text = MUJOCO.replace('name="slide" ', 'name="glide" ').replace('name="hinge"', 'name="joint"')
    with pytest.raises(
        ValueError, match="MuJoCo's model has no joints 'hinge', 'slide' and the robot has no joints 'joint', 'glide'"
    ):
        MuJoCo(robot, mujoco.MjModel.from_xml_string(text))
    text = MUJOCO.replace('name="hinge"', 'name="hinge" type="slide"')
    with pytest.raises(ValueError, match=r"joint 'hinge' is Revolute\(.*\), but Prismatic in MuJoCo's model"):
        MuJoCo(robot, mujoco.MjModel.from_xml_string(text))


def test_a_free_joint_away_from_the_origin() -> None:
    mujoco = pytest.importorskip("mujoco")
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(), random_pose(np.random.default_rng(0)), jn.Inertia(1.0))
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="base"><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    )
    with pytest.raises(ValueError, match="joint 'base' is placed away"):
        MuJoCo(builder.build(allow_massless=True), model)


@pytest.mark.parametrize(
    ("ours", "theirs", "what"),
    [
        (jn.Revolute(X), "JointModelPX", "PX"),
        (jn.Spherical(), "JointModelSphericalZYX", "SphericalZYX"),
        (jn.Universal(X, Y), "JointModelRX", "RX"),
        (jn.Planar(), "JointModelTranslation", "Translation"),
        (jn.Revolute(X), "JointModelFreeFlyer", "FreeFlyer"),
    ],
)
def test_joints_of_another_kind_in_pinocchio(ours: jn.Joint, theirs: str, what: str) -> None:
    pin = pytest.importorskip("pinocchio")
    builder, model = jn.Builder(), pin.Model()
    builder.add("joint", "world", ours, inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    model.addJoint(0, getattr(pin, theirs)(), pin.SE3.Identity(), "joint")
    with pytest.raises(ValueError, match=rf"joint 'joint' is {type(ours).__name__}.* but {what} in Pinocchio's model"):
        Pinocchio(builder.build(), model)
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "more")
    with pytest.raises(ValueError, match="the robot has no joint 'more'"):
        Pinocchio(builder.build(), model)


@pytest.mark.parametrize("library", [MuJoCo, Pinocchio])
def test_what_is_no_model_is_refused_by_name(library):
    with pytest.raises(ValueError, match="model is None, expected a model of the other library"):
        library(jn.robots.aerial_manipulator(), None)
