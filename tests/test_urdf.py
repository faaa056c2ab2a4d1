"""URDF files: every robot of example-robot-data against Pinocchio, and the meaning of each element."""

from __future__ import annotations

import time
import types
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import jounce as jn
from jounce.loading import describe
from urdf_peer import pinocchio, urdf_path, urdf_paths, urdf_peer

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def link(name: str, inside: str = INERTIAL) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(parent: str, child: str, kind: str = "continuous", inside: str = "", name: str | None = None) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name or f"{parent}-{child}"}" type="{kind}">{ends}{inside}</joint>'


def robot(*inside: str) -> str:
    return f'<robot name="test">{"".join(inside)}</robot>'


def one_joint(kind: str, inside: str = "", **options: object) -> jn.Model:
    return jn.load(robot(link("a"), link("b"), joint("a", "b", kind, inside, name="j")), **options)


def pose_of(model: jn.Model, name: str, q: np.ndarray) -> np.ndarray:
    """Pose (4, 4) of any body or frame."""
    pose, _ = model._forward_kinematics(q, None, model.frame_index(name), 1, 1, "body", "body")
    return pose[0, 0]


# Every robot


@pytest.mark.parametrize("path", urdf_paths(), ids=lambda p: f"{p.parts[-3]}/{p.stem}")
def test_same_robot_as_pinocchio(path: Path) -> None:
    rng = np.random.default_rng(0)
    for base in ("fixed", "floating"):
        peer = urdf_peer(path, base)
        model, data = peer.model, peer.data
        assert (peer.robot.nv, set(peer.robot.joint_names)) == (model.nv, set(model.names) - {"universe"})
        q = peer.robot.random_configuration(rng)
        v, a = rng.normal(size=(2, model.nv))
        expected = pinocchio.rnea(model, data, peer.q_to_pin(q), peer.v_to_pin(v), peer.v_to_pin(a))
        found = peer.robot.inverse_dynamics(q, v, a)
        scale = np.abs(expected).max(initial=1e-3)
        np.testing.assert_allclose(found, peer.v_from_pin(expected), rtol=0, atol=1e-10 * scale)

        pinocchio.framesForwardKinematics(model, data, peer.q_to_pin(q))
        names = peer.robot.frame_names
        poses, _ = peer.robot._forward_kinematics(q, None, 0, len(names), 1, "body", "body")
        ids = [peer.frame_id(name) for name in names]
        if base == "floating":
            assert sorted(ids) == sorted(peer.frame_ids.values())  # no link is missing
        expected = np.array([data.oMf[i].homogeneous for i in ids])
        np.testing.assert_allclose(poses[0], expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("path", urdf_paths(), ids=lambda p: f"{p.parts[-3]}/{p.stem}")
def test_same_limits_as_pinocchio(path: Path) -> None:
    peer = urdf_peer(path, "fixed")
    ours, theirs = peer.robot, peer.model
    for name in ours.joint_names:
        q, v = ours.position(name), ours.coordinate(name)
        other = theirs.joints[theirs.getJointId(name)]
        if np.isfinite(ours.lower[q]):
            assert ours.lower[q] == theirs.lowerPositionLimit[other.idx_q]
            assert ours.upper[q] == theirs.upperPositionLimit[other.idx_q]
        else:  # continuous, or a <limit> without positions
            assert other.nq == 2 or theirs.lowerPositionLimit[other.idx_q] == theirs.upperPositionLimit[other.idx_q]
        if np.isfinite(ours.effort_limit[v]):
            assert ours.effort_limit[v] == theirs.upperEffortLimit[other.idx_v]
            assert ours.velocity_limit[v] == theirs.upperVelocityLimit[other.idx_v]


def test_the_file_without_a_link() -> None:
    path = urdf_path("ur3_robot.urdf").with_name("ur3.urdf")  # the output of xacro for a file that only defines macros
    with pytest.raises(jn.LoadError, match=r"ur3\.urdf, line 6: <robot>: has no <link>"):
        jn.load(path)


def test_talos_loads_fast() -> None:
    path = urdf_path("talos_full_v2.urdf")
    times = []
    for _ in range(3):
        begin = time.process_time()
        jn.load(path, friction=False)
        times.append(time.process_time() - begin)
    assert min(times) < 0.3  # typically 0.03 s


def test_healthy_robots_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("panda.urdf", "talos_reduced.urdf", "go2.urdf", "ur5_robot.urdf", "tiago.urdf", "icub.urdf"):
            jn.load(urdf_path(name), friction=False)


# Joints


def test_types_of_joints() -> None:
    types_ = {"revolute": "Revolute", "continuous": "Revolute", "prismatic": "Prismatic", "floating": "Free"}
    for kind, name in {**types_, "planar": "Planar", "fixed": "Fixed"}.items():
        limit = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
        model = one_joint(kind, limit)
        assert type(model.bodies[1].joint).__name__ == name
        assert model.bodies[1].joint.name == "j"
        assert model.joint_names == (() if kind == "fixed" else ("j",))
        if kind in ("revolute", "prismatic"):
            assert model.bodies[1].joint.limits == jn.Limits(-1, 2, effort=3, velocity=4)
    assert one_joint("continuous", limit).bodies[1].joint.limits == jn.Limits(effort=3, velocity=4)


def test_axis_is_x_when_left_out_and_made_unit_otherwise() -> None:
    assert one_joint("continuous").bodies[1].joint.axis.tolist() == [1, 0, 0]
    axis = one_joint("continuous", '<axis xyz="0 -3 4"/>').bodies[1].joint.axis
    np.testing.assert_allclose(axis, [0, -0.6, 0.8], rtol=1e-15)


def test_planar_joints() -> None:
    """Two directions that span the plane, and rotation about the axis; as in Pinocchio for z."""
    for axis, x in (("0 0 1", (1, 0, 0)), ("1 0 0", (0, 1, 0)), ("0 1 0", (0, 0, 1)), ("0.2 -0.3 -2", None)):
        plane = one_joint("planar", f'<axis xyz="{axis}"/>').bodies[1].joint
        assert x is None or plane.x.tolist() == list(x)
        normal = np.array(axis.split(), float)
        np.testing.assert_allclose(np.cross(plane.x, plane.y), normal / np.linalg.norm(normal), atol=1e-15)

    text = robot(link("a"), link("b"), joint("a", "b", "planar", '<axis xyz="0 0 1"/>'))
    peer = pinocchio.buildModelFromXML(text)
    data = peer.createData()
    pinocchio.framesForwardKinematics(peer, data, np.array([0.3, -0.7, np.cos(0.4), np.sin(0.4)]))
    expected = data.oMf[peer.getFrameId("b")].homogeneous
    np.testing.assert_allclose(pose_of(jn.load(text), "b", np.array([0.3, -0.7, 0.4])), expected, atol=1e-15)


def test_origins() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        xyz, rpy = rng.normal(size=(2, 3))
        turn = pinocchio.rpy.rpyToMatrix(*rpy)
        expected = pinocchio.SE3(turn, xyz).homogeneous
        words = [" ".join(map(repr, map(float, part))) for part in (xyz, rpy, pinocchio.Quaternion(turn).coeffs())]
        for rotation in (f'rpy="{words[1]}"', f'quat_xyzw="{words[2]}"'):
            model = one_joint("fixed", f'<origin xyz="{words[0]}" {rotation}/>')
            np.testing.assert_allclose(pose_of(model, "b", np.zeros(0)), expected, atol=1e-14)


def test_inertial_frame_turns_the_inertia() -> None:
    """A rod along x of its inertial frame, which is z of the link: its moment about that axis is the smallest."""
    rod = (
        '<inertial><origin xyz="1 2 3" rpy="0 -1.5707963267948966 0"/><mass value="2"/>'
        '<inertia ixx="0.1" ixy="0" ixz="0" iyy="5" iyz="0" izz="5"/></inertial>'
    )
    inertia = jn.load(robot(link("rod", rod))).bodies[0].inertia
    assert inertia.mass == 2
    assert inertia.com.tolist() == [1, 2, 3]
    np.testing.assert_allclose(inertia.rotational, np.diag([5, 5, 0.1]), atol=1e-15)


def test_links_without_inertia_and_chains_of_fixed_joints() -> None:
    parts = [link("a"), link("b"), link("tool", ""), link("tip", "")]
    up = '<origin xyz="0 0 1"/>'
    joints = [joint("a", "b"), joint("b", "tool", "fixed", up), joint("tool", "tip", "fixed", up)]
    model = jn.load(robot(*parts, *joints))
    assert model.frame_names == ("b", "a", "tool", "tip")
    np.testing.assert_allclose(pose_of(model, "tip", np.zeros(1))[:3, 3], [0, 0, 2])


def test_missing_meshes_do_not_matter() -> None:
    mesh = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    files = ("package://nowhere/a.stl", "../b.dae", "file:///c.obj", "")
    parts = INERTIAL + "".join(map(mesh.format, files))
    assert jn.load(robot(link("a", parts), link("b", parts), joint("a", "b"))).nv == 1


def test_depth_first_in_the_order_of_the_file() -> None:
    edges = [("base", "z"), ("base", "a"), ("z", "z2"), ("z", "z1"), ("a", "a1")]
    names = ["a1", "z1", "base", "a", "z", "z2"]
    model = jn.load(robot(*map(link, names), *(joint(*edge) for edge in edges)))
    assert model.body_names == ("z", "z2", "z1", "a", "a1")


def test_damping_is_used_and_friction_is_reported() -> None:
    dynamics = '<dynamics damping="0.5" friction="3" spring="2"/>'
    options = {"gravity": (0, 0, 0), "friction": False}
    model = one_joint("continuous", dynamics, **options)
    assert model.inverse_dynamics([0.0], [2.0], [0.0]) == [1.0]
    assert one_joint("continuous", dynamics, **options, damping=False).inverse_dynamics([0], [2], [0]) == [0]
    text = robot(link("a"), link("b"), joint("a", "b", inside=dynamics, name="j"))
    assert describe(text).ignored == ["'spring' in <dynamics> of joint 'j'"]
    assert describe(text, friction=False).ignored == [
        "dry friction of joint 'j'",
        "'spring' in <dynamics> of joint 'j'",
    ]
    assert describe(text).warnings[0].startswith("dry friction of joint 'j' is left out: friction=0.01 includes it")


def test_gravity() -> None:
    assert one_joint("continuous").gravity.tolist() == [0, 0, -9.81]
    assert one_joint("continuous", gravity=(0, 0, -1.62)).gravity.tolist() == [0, 0, -1.62]


@pytest.mark.parametrize(
    ("inside", "warning", "limits"),
    [
        ("", "revolute joint 'j' has no <limit>: taken as unlimited", None),
        (
            '<limit lower="1" upper="-1" effort="2" velocity="3"/>',
            "joint 'j' has a lower limit, 1, above the upper, -1: taken as unlimited",
            jn.Limits(effort=2, velocity=3),
        ),
        ('<limit effort="2" velocity="3"/>', None, jn.Limits(effort=2, velocity=3)),
        ('<limit upper="2" effort="inf" velocity="1e400"/>', None, jn.Limits(0, 2)),
    ],
)
def test_odd_limits(inside: str, warning: str | None, limits: jn.Limits | None) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = one_joint("revolute", inside)
    assert [str(w.message) for w in heard] == ([f"<string>: {warning}"] if warning else [])
    assert model.bodies[1].joint.limits == limits


def test_warnings_about_a_file_say_how_to_see_all(tmp_path: Path) -> None:
    text = """<robot name="r"> <link name="a"/> <link name="b"/> <joint name="j" type="continuous">
      <parent link="a"/> <child link="b"/> </joint> </robot>"""
    path = tmp_path / "r.urdf"
    path.write_text(text)
    with pytest.warns(jn.LoadWarning, match=r"\(`jounce info` shows all\)$"):
        jn.load(path)
    for source in (text, text.encode(), ElementTree.fromstring(text)):  # no file that it could show
        with pytest.warns(jn.LoadWarning, match="has inertia, so there is no forward dynamics$"):
            jn.load(source)


# Mimic


def fingers(*mimics: str, kinds: str = "continuous") -> str:
    """Joints j0, j1, ..., of which j1, j2, ... contain the given elements."""
    joints = [joint("base", f"l{i}", kinds, inside, name=f"j{i}") for i, inside in enumerate(("", *mimics))]
    return robot(link("base"), *(link(f"l{i}") for i in range(len(joints))), *joints)


def follows(model: jn.Model) -> list[jn.Follow | None]:
    return [b.joint.follows for b in model.bodies[1:]]


def test_mimic_is_a_coupling() -> None:
    text = fingers('<mimic joint="j0" multiplier="-2" offset="0.5"/>', '<mimic joint="j0"/>')
    assert follows(jn.load(text)) == [None, jn.Follow("j0", -2, 0.5), jn.Follow("j0")]
    assert follows(jn.load(text, mimic="independent")) == [None] * 3


def test_mimic_of_a_mimic_goes_to_the_last() -> None:
    """q2 = 3 q1 + 1 = 3 (-2 q0 + 0.5) + 1."""
    first, second = '<mimic joint="j0" multiplier="-2" offset="0.5"/>', '<mimic joint="j1" multiplier="3" offset="1"/>'
    assert follows(jn.load(fingers(first, second)))[2] == jn.Follow("j0", -6, 2.5)
    swapped = fingers('<mimic joint="j2" multiplier="3" offset="1"/>', first)
    assert follows(jn.load(swapped))[1] == jn.Follow("j0", -6, 2.5)


def test_mimic_of_an_unknown_joint_is_left_out() -> None:
    with pytest.warns(jn.LoadWarning, match=r"joint 'j1' mimics 'j9', which does not exist \(did you mean 'j"):
        model = jn.load(fingers('<mimic joint="j9"/>', '<mimic joint="j1"/>'))
    assert follows(model) == [None, None, jn.Follow("j1")]


def test_a_fixed_joint_may_mimic() -> None:
    assert follows(jn.load(fingers('<mimic joint="j0"/>', kinds="fixed"))) == [None, None]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (fingers('<mimic joint="j1"/>'), "name=\"j1\"> <mimic>: joint 'j1' mimics, directly or through others, itself"),
        (fingers('<mimic joint="j2"/>', '<mimic joint="j1"/>'), "directly or through others, itself"),
        (fingers("<mimic/>"), "has no attribute 'joint'"),
        (fingers('<mimic joint="j0" multiplier="nan"/>'), "multiplier is 'nan'"),
        (
            robot(*map(link, "abc"), joint("a", "b", "fixed"), joint("a", "c", inside='<mimic joint="a-b"/>')),
            "mimics 'a-b', a fixed joint, expected one with one coordinate",
        ),
    ],
)
def test_impossible_mimics(text: str, fault: str) -> None:
    with pytest.raises(jn.LoadError, match=fault):
        jn.load(text)
    assert jn.load(text, mimic="independent").nv > 0


@pytest.mark.parametrize("name", ["panda.urdf", "talos_full_v2.urdf", "baxter.urdf"])
def test_a_joint_that_mimics_has_no_coordinate(name: str) -> None:
    """q of all joints is G q + offset; so the force is that of all joints times G transposed."""
    options = {"damping": False, "friction": False}
    coupled, all_ = (jn.load(urdf_path(name), mimic=mimic, **options) for mimic in ("coupled", "independent"))
    leaders = {b.joint.name: b.joint.follows or jn.Follow(b.joint.name) for b in coupled.bodies if b.joint.nv}
    assert coupled.nv == sum(name == follow.joint for name, follow in leaders.items()) < all_.nv
    G, offset = np.zeros((all_.nv, coupled.nv)), np.zeros(all_.nv)
    for i, joint_name in enumerate(all_.joint_names):
        follow = leaders[joint_name]
        G[i, coupled.coordinate(follow.joint)] = follow.ratio
        offset[i] = follow.offset
    q, v, a = np.random.default_rng(0).normal(size=(3, coupled.nv))
    expected = G.T @ all_.inverse_dynamics(G @ q + offset, G @ v, G @ a)
    np.testing.assert_allclose(coupled.inverse_dynamics(q, v, a), expected, rtol=0, atol=1e-10)


# The base, and the name "world"


def test_floating_base() -> None:
    model = jn.load(robot(link("a"), link("b"), joint("a", "b")), base="floating")
    assert model.joint_names == ("root_joint", "a-b")
    assert (model.nq, model.nv) == (8, 7)
    taken = robot(link("a"), link("b"), joint("a", "b", name="root_joint"))
    assert jn.load(taken, base="floating").joint_names == ("root_joint_", "root_joint")


def test_a_root_link_named_world_is_the_world() -> None:
    text = robot(link("world", ""), link("a"), joint("world", "a"))
    assert jn.load(text).frame_names == ("a",)
    with pytest.warns(jn.LoadWarning, match="link 'world' is named 'world_link' here"):
        assert jn.load(text, base="floating").body_names == ("world_link", "a")
    text = robot(link("world"), link("world_link"), joint("world_link", "world"))
    with pytest.warns(jn.LoadWarning, match="link 'world' is named 'world_link_' here"):
        assert jn.load(text).body_names == ("world_link_",)


# Warnings


def test_nothing_that_moves_has_inertia() -> None:
    with pytest.warns(jn.LoadWarning, match="nothing that 'b' moves has inertia"):
        model = jn.load(robot(link("a"), link("b", ""), joint("a", "b")))
    assert model.inverse_dynamics([1], [1], [1]) == [0]


def test_impossible_inertias_count_where_they_move() -> None:
    wrong = INERTIAL.replace('izz="1"', 'izz="3"')
    small = wrong.replace('"1"', '"1e-6"').replace('"3"', '"3e-6"')
    with pytest.warns(jn.LoadWarning, match="<string>: no real body has the inertia of 'b'"):
        jn.load(robot(link("a"), link("b", wrong), joint("a", "b")))
    for text in (
        robot(link("a", wrong), link("b"), joint("a", "b")),
        robot(link("a"), link("b"), link("c", small), joint("a", "b"), joint("b", "c", "fixed")),
    ):
        jn.load(text)
        (found,) = describe(text).inspect()
        assert "the largest exceeds the sum of the others" in found


# Sources of a robot

SIMPLE = robot(link("a"), link("b"), joint("a", "b"))


@pytest.mark.parametrize(
    "encoded",
    [
        SIMPLE.encode(),
        b"\xef\xbb\xbf" + SIMPLE.encode(),
        b"\n  " + SIMPLE.encode(),
        SIMPLE.encode("utf-16"),
        b"<?xml version='1.0' encoding='latin-1'?><!-- \xe4 -->" + SIMPLE.encode(),
        b"<?xml version='1.0' encoding='cp1252'?><!-- \x80 -->" + SIMPLE.encode(),
    ],
)
def test_from_bytes_and_files(encoded: bytes, tmp_path: Path) -> None:
    path = tmp_path / "robot.data"
    path.write_bytes(encoded)
    for source in (encoded, path, str(path)):
        assert jn.load(source).joint_names == ("a-b",)


def test_from_parsed_xml() -> None:
    element = ElementTree.fromstring(SIMPLE)
    spaced = SIMPLE.replace("<robot ", '<robot xmlns="http://here" xmlns:x="http://there" ').replace("</r", "<x:y/></r")
    for source in (SIMPLE, "\ufeff\n" + SIMPLE, element, ElementTree.ElementTree(element)):
        assert jn.load(source).joint_names == ("a-b",)
    assert jn.load(ElementTree.fromstring(spaced)).joint_names == jn.load(spaced).joint_names == ("a-b",)
    element[2].remove(element[2][0])
    with pytest.raises(jn.LoadError, match='<element>: <joint name="a-b">: has no <parent>'):
        jn.load(element)


def test_from_yourdfpy() -> None:
    yourdfpy = pytest.importorskip("yourdfpy")
    path = urdf_path("panda.urdf")
    peer = yourdfpy.URDF.load(str(path), load_meshes=False, build_scene_graph=False)
    ours, theirs = jn.load(path), jn.load(peer)
    assert ours.joint_names == theirs.joint_names
    assert ours.frame_names == theirs.frame_names
    q, v, a = np.random.default_rng(0).normal(size=(3, ours.nv))
    np.testing.assert_allclose(theirs.inverse_dynamics(q, v, a), ours.inverse_dynamics(q, v, a), atol=1e-9)


def test_from_robot_descriptions(tmp_path: Path) -> None:
    module = types.ModuleType("robot_descriptions.test_description")
    with pytest.raises(
        jn.LoadError, match=r"robot_descriptions\.test_description: has neither URDF_PATH nor MJCF_PATH"
    ):
        jn.load(module)
    module.URDF_PATH = str(tmp_path / "robot.urdf")
    Path(module.URDF_PATH).write_text(SIMPLE)
    assert jn.load(module).nv == 1


def test_arguments_are_checked() -> None:
    for options in ({"base": "flying"}, {"mimic": "never"}, {"gravity": (0, 0)}, {"gravity": (0, 0, np.nan)}):
        with pytest.raises(ValueError, match=next(iter(options))):
            jn.load(SIMPLE, **options)
    with pytest.raises(ValueError, match="source is an int, expected a path, XML text"):
        jn.load(3)
