"""Equality constraints of MJCF agree with MuJoCo's own: residuals, Jacobians, and motion in the limit of hard ones."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jounce as jn
from jounce.conversions import MuJoCo
from jounce.errors import LoadError
from jounce.loading import describe
from jounce.loading.description import Description
from mujoco_limit import hard, limit, prepared
from time_limits import within

mujoco = pytest.importorskip("mujoco")

INERTIAL = '<inertial pos="0.02 0.03 -0.1" quat="0.9 0.1 0.3 0.2" mass="1.5" diaginertia="0.02 0.03 0.04"/>'

# A flying body with an arm of three joints and one of two, and a separate body; two joints have nonzero initial values.
WORLD = f"""
  <body name="base" pos="0.1 0.2 1" euler="10 20 30"> <freejoint name="root"/> {INERTIAL}
    <body name="upper" pos="0.2 0 0" euler="0 30 0"> <joint name="shoulder" axis="0 1 0.2" ref="20"/> {INERTIAL}
      <body name="lower" pos="0 0 -0.4" euler="0 0 40"> <joint name="elbow" axis="1 0 0" pos="0 0 0.05"/> {INERTIAL}
        <site name="hand" pos="0.03 0.02 -0.3" euler="15 25 35"/>
        <body name="slider" pos="0.1 0 0"> <joint name="slide" type="slide" axis="1 1 0" ref="0.15"/> {INERTIAL} </body>
      </body> </body>
    <body name="tail" pos="-0.3 0.1 0"> <joint name="swivel" type="ball"/> {INERTIAL}
      <body name="tip" pos="0 0 -0.3"> <joint name="bend" axis="1 0 0.1" ref="-15"/> {INERTIAL}
        <site name="end" pos="0 0.05 -0.2" quat="0.9 0.2 0.1 0.3"/> </body> </body>
  </body>
  <body name="thing" pos="1 1 1" euler="50 10 0"> <joint name="turn" axis="0 1 0"/> {INERTIAL} </body>
  <body name="target" mocap="true" pos="0.5 0.4 0.3" euler="5 6 7"/>
  <site name="hook" pos="0.2 0.1 0.7" euler="30 20 10"/>"""

TIES = {
    "weld": '<weld body1="slider" body2="tip"/>',
    "weld with an anchor": '<weld body1="slider" body2="tip" anchor="0.1 0.2 0.3" torquescale="2"/>',
    "weld with a place": '<weld body1="lower" body2="tip" relpose="0.1 0.2 0.3 0.8 0.1 0.5 0.3" anchor="0.3 0 -0.2"/>',
    "weld to the world": '<weld body1="tip"/>',
    "weld of the world": '<weld body1="world" body2="tip"/>',
    "weld to a target": '<weld body1="target" body2="slider"/>',
    "weld of sites": '<weld site1="hand" site2="end" torquescale="3"/>',
    "weld of points": '<weld body1="slider" body2="tip" anchor="0.1 0 0" torquescale="0"/>',
    "connect": '<connect body1="slider" body2="tip" anchor="0.1 -0.2 0.3"/>',
    "connect to the world": '<connect body1="tip" anchor="0.1 -0.2 0.3"/>',
    "connect of sites": '<connect site1="hand" site2="end"/>',
    "connect to a site of the world": '<connect site1="end" site2="hook"/>',
    "joint": '<joint joint1="elbow" joint2="shoulder"/>',
    "joint by a polynomial": '<joint joint1="slide" joint2="shoulder" polycoef="0.1 0.7 0.4 -0.3 0.2"/>',
    "joint by a line": '<joint joint1="shoulder" joint2="bend" polycoef="0.3 -2"/>',
    "joint alone": '<joint joint1="bend" polycoef="0.3 5 6"/>',
    "slide alone": '<joint joint1="slide"/>',
}


def mjcf(*ties: str, world: str = WORLD, before: str = "", after: str = "") -> str:
    return f"<mujoco>{before}<worldbody>{world}</worldbody><equality>{''.join(ties)}</equality>{after}</mujoco>"


def loaded(source: Any, **options: Any) -> jn.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        return jn.load(source, **options)


class Pair:
    """A robot in jounce and in MuJoCo."""

    def __init__(self, source: Any) -> None:
        self.robot = loaded(source)
        self.model = prepared(mujoco.MjModel.from_xml_string(source) if isinstance(source, str) else source)
        self.convert = MuJoCo(self.robot, self.model)

    @property
    def drawn(self) -> np.ndarray:
        """The configuration of the file."""
        return self.convert.back(self.model.qpos0)

    def equality_rows(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """MuJoCo's residual, and its Jacobian for jounce's velocities."""
        data = mujoco.MjData(self.model)
        data.qpos[:] = self.convert.to(q)
        mujoco.mj_forward(self.model, data)
        J = data.efc_J.reshape(-1, self.model.nv)[: data.ne]
        to = np.stack([self.convert.to(q, unit)[1] for unit in np.eye(self.robot.nv)], axis=1)
        return data.efc_pos[: data.ne].copy(), J @ to


def near(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0.0)))


@pytest.mark.parametrize("tie", TIES)
def test_residual(tie: str) -> None:
    """Anywhere; MuJoCo's for points is first less second, in world axes, for rotations half the sine, from B to A."""
    pair, rng = Pair(mjcf(TIES[tie])), np.random.default_rng(1)
    robot = pair.robot
    (record,) = robot.constraints
    if "place" in tie:
        assert np.abs(robot.residual(pair.drawn)).max() > 0.1
    elif "site" not in tie and "line" not in tie and "polynomial" not in tie and "joint alone" not in tie:
        near(robot.residual(pair.drawn), 0.0)
    for _ in range(3):
        q = robot.integrate(pair.drawn, 0.4 * rng.normal(size=robot.nv))
        ours, (theirs, J) = robot.residual(q), pair.equality_rows(q)
        if isinstance(record.kind, jn.Gear):
            near(ours, theirs)
            near(robot.constraint_jacobian(q), J)
            continue
        frame = (np.eye(4) if record.a == "world" else robot.pose(record.a, q)) @ record.pose_a
        near(-frame[:3, :3] @ ours[:3], theirs[:3])
        if isinstance(record.kind, jn.Fixed):
            scale = pair.model.eq_data[0, 10]
            angle = np.linalg.norm(ours[3:])
            sign = -np.sign(ours[3:] @ theirs[3:]) if angle > np.pi / 2 else 1.0  # of a distant quaternion
            near(-sign * np.sin(angle / 2) / angle * scale * ours[3:], theirs[3:])


@pytest.mark.parametrize("tie", TIES)
def test_jacobian_and_motion_where_it_holds(tie: str) -> None:
    """The rows span the same space, and the acceleration is MuJoCo's."""
    pair, rng = Pair(mjcf(TIES[tie])), np.random.default_rng(2)
    robot = pair.robot
    q = robot.project(robot.integrate(pair.drawn, 0.3 * rng.normal(size=robot.nv)))
    v = robot.project(q, rng.normal(size=robot.nv))[1]
    theirs, J = pair.equality_rows(q)
    near(theirs, 0.0, 1e-11)
    ours = robot.constraint_jacobian(q)
    rank = np.linalg.matrix_rank(ours)
    bases = [np.linalg.svd(x)[2][:rank] for x in (ours, J)]
    assert np.linalg.matrix_rank(J) == rank
    near(bases[0].T @ bases[0], bases[1].T @ bases[1], 1e-10)
    tau = rng.normal(size=robot.nv)
    acc = robot.forward_dynamics(q, v, tau)
    change = np.abs(loaded(pair.model, constraints=False).forward_dynamics(q, v, tau) - acc).max()
    near(hard(pair.convert, pair.model, q, v, tau), acc, 1e-6)
    assert np.abs(limit(pair.convert, pair.model, q, v, tau) - acc).max() < 3e-5 * change


def test_kinds_and_names() -> None:
    given = '<weld name="grip" body1="slider" body2="tip"/> <joint name="chain" joint1="elbow" joint2="shoulder"/>'
    unnamed = '<connect body1="slider" body2="tip" anchor="0 0 0"/>'
    robot = loaded(mjcf(given, 2 * unnamed, *list(TIES.values())[-3:], TIES["connect to a site of the world"]))
    kinds = {c.name: type(c.kind) for c in robot.constraints}
    assert kinds == {
        "grip": jn.Fixed,
        "chain": jn.Gear,
        "slider to tip": jn.Spherical,
        "slider to tip 2": jn.Spherical,
        "shoulder to bend": jn.Gear,
        "bend held": jn.Gear,
        "slide held": jn.Gear,
        "end to hook": jn.Spherical,
    }
    grip, chain = robot.constraints[:2]
    assert (grip.a, grip.b) == ("slider", "tip")
    assert (chain.a, chain.b) == ("shoulder", "elbow")  # the first leads
    assert robot.constraint_names == tuple(kinds)


def test_names_do_not_meet() -> None:
    unnamed = '<connect body1="slider" body2="tip" anchor="0 0 0"/>'
    robot = loaded(mjcf(unnamed, '<weld name="slider to tip" body1="lower" body2="tip"/>'))
    assert robot.constraint_names == ("slider to tip 2", "slider to tip")


def test_many_without_a_name_are_named_soon() -> None:
    body = '<body name="{0}"> <joint name="{0}"/> ' + INERTIAL + " </body>"
    world = "".join(body.format(name) for name in ("a", "b", "b 2"))
    other = '<connect body1="a" body2="b 2" anchor="0 0 0"/>'
    model = mujoco.MjModel.from_xml_string(mjcf(3000 * '<joint joint1="a" joint2="b"/>', other, world=world))
    with within(3):
        robot = jn.load(model)
    names = robot.constraint_names
    assert (names[0], names[1], names[2999], names[3000]) == ("a to b", "a to b 2", "a to b 3000", "a to b 2 2")
    assert len(set(names)) == 3001


def test_the_force_on_a_joint_that_is_held() -> None:
    """It is the force needed to keep the joint from accelerating; derivatives too."""
    robot = loaded(mjcf(TIES["joint alone"]))
    tree, rng = loaded(mjcf(TIES["joint alone"]), constraints=False), np.random.default_rng(0)
    bend = tree.coordinate("bend").start
    q = robot.project(robot.random_configuration(rng))
    v, tau = robot.project(q, rng.normal(size=robot.nv))[1], rng.normal(size=(3, robot.nv))
    held = np.arange(robot.nv) == bend
    given = np.zeros((3, robot.nv))
    acc, force = tree.hybrid_dynamics(q, v, given, tau, prescribed=held)
    found = robot.constrained_dynamics(q, v, tau)
    near(found.acc, acc, 1e-10)
    near(found.forces["bend held"][:, 0], 0.0)
    near(found.forces["bend held"][:, 1], (force - tau)[:, bend], 1e-10)

    change = robot.constrained_dynamics_derivatives(q, v, tau[0])
    step = 1e-6 * rng.normal(size=robot.nv)
    ends = [robot.constrained_dynamics(q, v, tau[0] + s * step).forces["bend held"] for s in (1, -1)]
    near(change.forces_tau["bend held"] @ step * 2, ends[0] - ends[1], 1e-12)
    ends = [robot.constrained_dynamics(robot.integrate(q, s * step), v, tau[0]).forces["bend held"] for s in (1, -1)]
    near(change.forces_q["bend held"] @ step * 2, ends[0] - ends[1], 1e-9)

    before = rng.normal(size=robot.nv)
    impulse = robot.impact(q, before).impulses["bend held"]
    near(impulse[0], 0.0)
    near(impulse[1], (robot.mass_matrix(q) @ (robot.impact(q, before).v - before))[bend], 1e-10)


def test_what_is_switched_off_is_not_there() -> None:
    off = '<weld name="off" body1="slider" body2="tip" active="false"/>'
    on = '<weld name="on" body1="slider" body2="lower"/>'
    assert loaded(mjcf(off, on)).constraint_names == ("on",)
    for flag in ("equality", "constraint"):
        text = mjcf(on, before=f'<option> <flag {flag}="disable"/> </option>')
        assert loaded(text).constraint_names == ()
    assert loaded(mjcf(on), constraints=False).constraint_names == ()
    with pytest.raises(ValueError, match="constraints is 2"):
        jn.load(mjcf(on), constraints=2)


def test_defaults_and_classes() -> None:
    before = '<default> <equality active="false"/> <default class="on"> <equality active="true"/> </default> </default>'
    robot = loaded(mjcf(TIES["weld"], '<connect class="on" body1="slider" body2="tip" anchor="0 0 0"/>', before=before))
    assert [type(c.kind) for c in robot.constraints] == [jn.Spherical]


def test_softness_is_no_matter() -> None:
    q = loaded(mjcf(TIES["weld"])).neutral()
    hard, soft = (loaded(mjcf(TIES["weld"].replace("/>", f" {more}/>"))) for more in ("", 'solref="1 2" solimp="0.1"'))
    v = np.zeros(hard.nv)
    assert (hard.forward_dynamics(q, v, v) == soft.forward_dynamics(q, v, v)).all()


def test_includes_and_attached_models(tmp_path: Path) -> None:
    """Two hands, each with a gear, on an arm from an included file; names have their prefixes."""
    (tmp_path / "ties.xml").write_text(f"<mujocoinclude> <equality> {TIES['weld']} </equality> </mujocoinclude>")
    finger = f'<joint type="slide" name="{{0}}"/> {INERTIAL} <site name="{{0}}"/>'
    (tmp_path / "hand.xml").write_text(
        f"""<mujoco> <worldbody> <body name="palm"> <body name="thumb"> {finger.format("thumb")} </body>
          <body name="finger"> {finger.format("finger")} </body> </body> </worldbody> <equality>
          <joint name="gear" joint1="thumb" joint2="finger" polycoef="0 -1"/> <connect site1="thumb" site2="finger"/>
          </equality> </mujoco>"""
    )
    arms = "".join(
        f'<body name="{side}"> <attach model="hand" body="palm" prefix="{side}-"/> </body>'
        for side in ("left", "right")
    )
    text = f"""<mujoco> <asset> <model name="hand" file="hand.xml"/> </asset> <include file="ties.xml"/>
      <worldbody> {WORLD} {arms} </worldbody> </mujoco>"""
    (tmp_path / "robot.xml").write_text(text)
    robot = loaded(tmp_path / "robot.xml")
    assert {c.name: (c.a, c.b) for c in robot.constraints} == {
        "slider to tip": ("slider", "tip"),
        "left-gear": ("left-finger", "left-thumb"),
        "left-thumb (site) to left-finger (site)": ("left-thumb (site)", "left-finger (site)"),
        "right-gear": ("right-finger", "right-thumb"),
        "right-thumb (site) to right-finger (site)": ("right-thumb (site)", "right-finger (site)"),
    }


def described(*ties: str, **options: Any) -> Description:
    return describe(mjcf(*ties, **options))


def test_what_jounce_does_not_have_is_named() -> None:
    ropes = '<tendon> <fixed name="rope"> <joint joint="elbow" coef="1"/> </fixed> </tendon>'
    said = described('<tendon name="taut" tendon1="rope"/>', '<tendon tendon1="rope"/>', TIES["weld"], after=ropes)
    assert said.ignored[0] == "equality constraints of tendons or flexes 'taut' and 1 without a name"
    assert [c.name for c in said.constraints] == ["slider to tip"]
    with pytest.warns(jn.LoadWarning, match="left out: equality constraints of tendons or flexes 'taut'"):
        jn.load(mjcf('<tendon name="taut" tendon1="rope"/>', after=ropes))


def test_ends_that_do_not_move_are_named() -> None:
    world = WORLD + '<body name="wall"/> <body name="floor"/>'
    said = described(
        '<weld name="nail" body1="wall" body2="floor"/>',
        '<connect site1="hook" site2="hook 2"/>',
        world=world + '<site name="hook 2"/>',
    )
    assert said.constraints == []
    assert said.warnings == ["nothing moves between the ends of equality constraints 'nail', 'hook to hook 2'"]


def test_a_floating_base_is_held() -> None:
    body = f'<body name="a" pos="0 0 1"> {INERTIAL} </body>'
    text = mjcf('<weld body1="a"/>', world=body)
    assert loaded(text).constraint_names == ()  # it is fixed anyway
    robot = loaded(text, base="floating")
    q = robot.project(robot.neutral())
    near(robot.pose("a", q)[:3, 3], [0, 0, 1])
    near(robot.forward_dynamics(q, np.zeros(6), np.zeros(6)), 0.0, 1e-9)


def test_a_changed_model_is_read_as_it_is() -> None:
    world = WORLD + '<body name="last"> <joint/> ' + INERTIAL + ' <site pos="0.1 0.2 0.3" euler="10 0 20"/> </body>'
    model = mujoco.MjModel.from_xml_string(mjcf(TIES["weld of sites"], world=world))
    model.eq_obj2id[0] = model.nsite - 1  # which has no name
    pair = Pair(model)
    (record,) = pair.robot.constraints
    assert (record.a, record.b) == ("hand", "last")
    q = pair.robot.project(pair.drawn)
    near(pair.equality_rows(q)[0], 0.0, 1e-11)
    model.eq_data[0, 3] = np.nan
    with pytest.raises(LoadError, match=r"equality constraint '': data is .*nan.*, expected finite numbers"):
        jn.load(model)
    model = mujoco.MjModel.from_xml_string(mjcf(TIES["joint by a polynomial"]))
    model.eq_data[0, 0], model.eq_active0[0] = np.inf, 0
    with pytest.raises(LoadError, match="data is"):
        jn.load(model)


# A leg like Cassie's: a rod on a ball joint and a planar one close two loops over springs.
LEG = f"""<mujoco model="leg"> <compiler eulerseq="zyx"/> <option> <flag contact="disable"/> </option>
  <default> <equality solref="0.005 1"/> <joint damping="0.1"/> </default>
  <worldbody> <body name="pelvis" pos="0 0 1"> <freejoint/> {INERTIAL}
    <body name="thigh" pos="0 0.1 0" xyaxes="0 0 -1 1 0 0"> <joint name="hip" armature="0.09"/> {INERTIAL}
      <body name="rod" pos="0 0 0.045" xyaxes="0.8 -0.6 -0.07 0.6 0.8 -0.05"> <joint name="rod" type="ball"/>
        <inertial pos="0.25 0 0" mass="0.16" diaginertia="1e-5 4e-3 4e-3"/> </body>
      <body name="knee" pos="0.12 0 0.005" euler="-45 0 0"> <joint name="knee" ref="-45" armature="0.09"/> {INERTIAL}
        <body name="shin" pos="0.06 0.05 0"> <joint name="shin" stiffness="1500"/> {INERTIAL}
          <body name="tarsus" pos="0.43 0.02 0" euler="58 0 0"> <joint name="tarsus" ref="58"/> {INERTIAL}
            <body name="spring" pos="-0.01 -0.03 0.001" euler="150 2 1"> <joint name="spring" stiffness="1250"/>
              <inertial pos="0.08 0 0" mass="0.13" diaginertia="3e-5 2e-4 2e-4"/> </body>
            <body name="crank" pos="0.06 -0.03 0.02"> <joint name="crank"/>
              <inertial pos="0 0 0" mass="0.13" diaginertia="3e-5 5e-5 6e-5"/>
              <body name="plantar rod" pos="0.055 0 -0.01"> <joint name="plantar rod"/>
                <inertial pos="0.18 0 0" mass="0.12" diaginertia="1e-5 2e-3 2e-3"/> </body> </body>
            <body name="foot" pos="0.41 -0.04 0"> <joint name="foot" armature="0.01"/> {INERTIAL} </body>
          </body> </body> </body> </body> </body> </worldbody>
  <equality> <connect body1="plantar rod" body2="foot" anchor="0.35 0 0"/>
    <connect body1="rod" body2="spring" anchor="0.5 0 0"/> </equality>
  <actuator> <motor joint="hip" gear="16"/> <motor joint="knee" gear="16"/> </actuator> </mujoco>"""


def test_a_leg_with_two_loops() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = jn.load(LEG)
    assert robot.constraint_names == ("plantar rod to foot", "rod to spring")
    pair, rng = Pair(LEG), np.random.default_rng(0)
    near(robot.residual(pair.drawn), 0.0, 1e-14)
    q = robot.project(robot.integrate(pair.drawn, 0.05 * rng.normal(size=robot.nv)))
    v, tau = robot.project(q, rng.normal(size=robot.nv))[1], rng.normal(size=robot.nv)
    assert np.linalg.matrix_rank(robot.constraint_jacobian(q), tol=1e-9) == 5  # one loop is planar
    acc = robot.forward_dynamics(q, v, tau)
    change = np.abs(loaded(LEG, constraints=False).forward_dynamics(q, v, tau) - acc).max()
    near(hard(pair.convert, pair.model, q, v, tau), acc, 1e-6)
    assert np.abs(limit(pair.convert, pair.model, q, v, tau) - acc).max() < 1e-4 * change
    run = jn.simulate(robot, q, np.zeros(robot.nv), [0.0, 0.02], rtol=1e-6, atol=1e-7)
    near(robot.residual(run.q[-1]), 0.0, 1e-10)


def test_mimic_of_urdf_follows_as_ever() -> None:
    links = "".join(
        f'<link name="{name}"> <inertial> <mass value="1"/> <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        "</inertial> </link>"
        for name in ("base", "a", "b")
    )
    joint = '<joint name="{0}" type="continuous"> <parent link="base"/> <child link="{0}"/> {1} </joint>'
    joints = joint.format("a", "") + joint.format("b", '<mimic joint="a" multiplier="2"/>')
    text = f'<robot name="r"> {links} {joints} </robot>'
    for constraints in (True, False):
        robot = jn.load(text, constraints=constraints)
        assert robot.constraint_names == ()
        assert robot.joint_names == ("a",)
        assert robot.bodies[2].joint.follows == jn.Follow("a", ratio=2)
