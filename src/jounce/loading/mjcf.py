"""MJCF, through MuJoCo's own compiler: reads bodies, joints, sites and equality constraints from its model.

MuJoCo's bodies may have several joints, each with an anchor p in the body's frame. The pose of a body in its parent is

    body_pos body_quat  Trans(p_1) motion_1 Trans(-p_1)  Trans(p_2) motion_2 Trans(-p_2) ...

where a hinge turns by q - ref about its axis, a slide moves by q - ref along it, and a ball turns by its quaternion.
Here every joint moves its own body, whose frame is at the anchor. The last one is the body itself if its anchor is at
the origin; otherwise the body is a frame fixed to it. Either way the frame of that name is MuJoCo's body frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jounce._checks import array_of
from jounce.core_tables import BodyRecord
from jounce.errors import LoadError
from jounce.loading.description import Description, listed
from jounce.loading.folders import Folders
from jounce.loading.formats import Friction, Mimic
from jounce.loading.mjcf_compiler import compile_mjcf, mujoco_package
from jounce.loading.mjcf_equality import Equalities, Places, equalities
from jounce.loading.mjcf_keyframes import keyframes
from jounce.loading.mjcf_left_out import left_out
from jounce.loading.mjcf_names import body_names, joint_names, unused
from jounce.loading.mjcf_visuals import MjcfVisuals
from jounce.loading.xml_source import MAX_NUMBER, short
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Follow, Free, Joint, Limits, Prismatic, Revolute, Spherical
from jounce.parts.pose import Array, pose, quaternions, rotation, shift
from jounce.parts.visual import Visual

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
FAR = 1e10  # rad or m: an end of a range from there on is none
_MASSLESS = Inertia(0.0)
_ORIGIN = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])  # position, and quaternion w x y z


def describe_mjcf(
    source: Any,
    base: str = "fixed",
    *,
    mimic: Mimic = "coupled",
    name: str | None = None,
    gravity: ArrayLike | None = None,
    damping: bool = True,
    friction: Friction = None,
    constraints: bool = True,
    folders: Folders | None = None,
) -> Description:
    """The content of an MJCF file, as compiled by MuJoCo.

    Args:
        source: path of the file, relative to which includes and assets are found; its text; its outermost element; or
            a ``mujoco.MjModel`` or ``MjSpec``, which is not changed.
        base: "fixed" takes the file as it is, with its free joints; "floating" gives the only root body, if it is
            welded to the world, a `Free` joint "root_joint".
        mimic: "independent" leaves out how joints follow others, in a file that jounce wrote.
        name: of the file, for messages.
        gravity: (3,) m/s^2 instead of that of the file.
        damping: False leaves out the damping of the joints.
        friction: speed at which the friction loss of joints is smoothed; None or False leave it out.
        constraints: False leaves out the equality constraints.
        folders: from which it may read files; when left out, any if it is a path, none if it is text.

    >>> robot = describe_mjcf('''<mujoco> <worldbody> <body name="seat"> <joint name="chain" axis="0 1 0" pos="0 0 2"/>
    ...   <geom size="0.2" mass="30"/> <site name="belt" pos="0 0 0.2"/> </body> </worldbody> </mujoco>''').model()
    >>> robot.joint_names, robot.frame_names
    (('chain',), ('seat/chain', 'seat', 'belt'))
    """
    called = name or (
        str(source) if isinstance(source, Path) else "<string>" if isinstance(source, str) else "<object>"
    )
    model, left, warnings, meshes, keys = compile_mjcf(source, called, folders)
    try:
        reading = _Reading(model, called, base, damping, friction, MjcfVisuals(model, meshes))
        ties = reading.equalities()
        if mimic == "coupled":
            reading.couple(ties.followers)
        if not constraints:
            ties = Equalities()
        poses, odd = keyframes(model, reading.joint_names, keys)
        left += reading.ignored + ties.left_out + left_out(model, reading.body_names, reading.joint_names, friction)
    except UnicodeDecodeError as fault:
        raise LoadError(f"{called}: has a name that is not UTF-8: {fault}") from None
    if not any(body.joint.nv for body in reading.bodies):
        warnings.append("nothing moves: no body has a joint")
    warnings += ties.odd + odd
    fall = reading.gravity if gravity is None else array_of("gravity", gravity, (3,))
    return Description(
        source=called,
        kind="MJCF",
        name=model.names[: model.names.index(0)].decode(errors="replace"),
        bodies=reading.bodies,
        constraints=ties.records,
        gravity=fall,
        ignored=left,
        tells_ignored=True,
        warnings=warnings,
        scenery=reading.scenery,
        keyframes={name: at | reading.root for name, at in poses.items()},
    )


class _Reading:
    """The conversion of an MjModel to records: the bodies found so far, their names, and what had to be left out."""

    def __init__(
        self, model: Any, source: str, base: str, damping: bool, friction: Friction, looks: MjcfVisuals
    ) -> None:
        self.model = model
        self.source = source
        self.body_names = body_names(model)
        self.joint_names = joint_names(model)
        self.ignored: list[str] = []
        self.bodies: list[BodyRecord] = []
        self.scenery: Sequence[Visual] = looks.of(0)
        self._looks = looks
        self._taken = {"world", *self.body_names}
        flags = mujoco_package(source).mjtDisableBit
        off = int(model.opt.disableflags)
        passive = getattr(flags, "mjDSBL_PASSIVE", 0)  # both, until MuJoCo 3.3
        self._damped = damping and not off & int(getattr(flags, "mjDSBL_DAMPER", passive))
        self._friction = friction if not off & int(flags.mjDSBL_FRICTIONLOSS | flags.mjDSBL_CONSTRAINT) else None
        self._sprung = not off & int(getattr(flags, "mjDSBL_SPRING", passive))
        self._tied = not off & int(flags.mjDSBL_CONSTRAINT | flags.mjDSBL_EQUALITY)
        self._check_numbers()
        falls = not off & int(flags.mjDSBL_GRAVITY)
        self.gravity = np.array(model.opt.gravity) if falls else np.zeros(3)

        self.root: dict[str, Array] = {}  # where the file draws a body that gets a free joint
        floating = self._floating_root() if base == "floating" else None
        self._frame = {0: -1}  # record of each MuJoCo body's frame
        for i in range(1, model.nbody):
            self._add_body(i, i == floating)
        self._sites: dict[int, str] = {}  # frames of named sites
        for i in range(model.nsite):
            if site := model.site(i).name:
                at = pose(model.site_pos[i], model.site_quat[i])
                label = self._sites[i] = unused(site, self._taken, " (site)")
                self.bodies.append(BodyRecord(label, self._frame[model.site_bodyid[i]], Fixed(), at, _MASSLESS))

    def equalities(self) -> Equalities:
        """The equality constraints, unless they are disabled."""
        if not self._tied:
            return Equalities()
        places = Places(self.model, self.bodies, self.body_names, self._sites)
        return equalities(self.model, places, self.joint_names, self._made)

    def couple(self, followers: Mapping[str, Follow]) -> None:
        """Lets joints follow others."""
        for i, body in enumerate(self.bodies):
            if body.joint.nv and body.joint_name in followers:
                self.bodies[i] = replace(body, joint=body.joint.changed(follows=followers[body.joint_name]))

    def _floating_root(self) -> int | None:
        """The body that needs a free joint; None if it already has one."""
        model = self.model
        roots = [i for i in range(1, model.nbody) if model.body_parentid[i] == 0]
        names = listed([self.body_names[i] for i in roots], 8)
        if len(roots) != 1:
            raise LoadError(f"{self.source}: base is 'floating', expected one body in the world, got {names or 'none'}")
        first = model.body_jntadr[roots[0]]
        if first < 0:
            return roots[0]
        if model.jnt_type[first] != FREE:
            raise LoadError(
                f"{self.source}: base is 'floating', but the root body {names} already moves by joint "
                f"{short(self.joint_names[first])!r}: expected a body without joints"
            )
        return None

    def _add_body(self, i: int, floating: bool) -> None:
        model, body = self.model, self.body_names[i]
        turn = rotation(model.body_iquat[i])
        moments = turn @ np.diag(model.body_inertia[i]) @ turn.T
        mass, centre = model.body_mass[i], model.body_ipos[i]
        inertia = self._made(f"body {short(body)!r}", Inertia, mass, centre, moments, physical=False)
        above, placed = self._frame[model.body_parentid[i]], pose(model.body_pos[i], model.body_quat[i])
        joints = range(model.body_jntadr[i], model.body_jntadr[i] + model.body_jntnum[i])
        for j in joints:
            kind, own = model.jnt_type[j], self.joint_names[j]
            anchor = model.jnt_pos[j] if kind in (HINGE, BALL) else np.zeros(3)
            joint = self._joint(j)  # first, as it refuses an axis of no length
            at = np.eye(4) if kind == FREE else placed @ shift(anchor) @ self._back_to_zero(j)
            is_body = j == joints[-1] and not anchor.any()
            label = body if is_body else unused(f"{body}/{own}", self._taken)
            whole, looks = (inertia, self._looks.of(i)) if is_body else (_MASSLESS, ())
            self.bodies.append(BodyRecord(label, above, joint, at, whole, visuals=looks))
            above, placed = len(self.bodies) - 1, shift(-anchor)
        if not joints or not is_body:
            joint = Fixed()
            if floating:
                root = unused("root_joint", set(self.joint_names))
                w, x, y, z = quaternions(placed[:3, :3])
                self.root = {root: np.array([*placed[:3, 3], x, y, z, w])}
                joint, placed = Free(name=root), np.eye(4)
            self.bodies.append(BodyRecord(body, above, joint, placed, inertia, visuals=self._looks.of(i)))
        self._frame[i] = len(self.bodies) - 1

    def _back_to_zero(self, j: int) -> Array:
        """Motion of a hinge or slide from ``ref``, where the file draws it, to coordinate 0."""
        ref, axis = -self.model.qpos0[self.model.jnt_qposadr[j]], self.model.jnt_axis[j]
        if self.model.jnt_type[j] == SLIDE:
            return shift(ref * axis)
        if self.model.jnt_type[j] == HINGE:
            half = np.sin(ref / 2) * axis / np.linalg.norm(axis)
            return pose(np.zeros(3), np.array([np.cos(ref / 2), *half]))
        return np.eye(4)

    def _joint(self, j: int) -> Joint:
        model, name, kind = self.model, self.joint_names[j], int(self.model.jnt_type[j])
        nv = (6, 3, 1, 1)[kind]
        dofs = slice(model.jnt_dofadr[j], model.jnt_dofadr[j] + nv)
        stiffness = float(model.jnt_stiffness[j]) * self._sprung
        rest = model.qpos_spring[model.jnt_qposadr[j] :][: (7, 4, 1, 1)[kind]]
        options: dict[str, Any] = {
            "name": name,
            "armature": model.dof_armature[dofs] + self._drives(j, "armature"),
            "damping": (model.dof_damping[dofs] + self._drives(j, "damping")) * self._damped,
            "stiffness": stiffness,
        }
        if self._friction and kind != FREE:
            options |= {"friction": model.dof_frictionloss[dofs], "friction_speed": self._friction}
        if kind in (HINGE, SLIDE):
            options |= {"rest": float(rest[0]), "limits": self._limits(j)}
        elif stiffness and not np.array_equal(rest, _ORIGIN[-len(rest) :]):
            options["stiffness"] = 0.0
            self.ignored.append(f"the spring of joint {short(name)!r}, which is at rest away from the origin")
        make = (Free, Spherical, Prismatic, Revolute)[kind]
        axis = (model.jnt_axis[j],) if kind in (HINGE, SLIDE) else ()
        made: Joint = self._made(f"joint {short(name)!r}", make, *axis, **options)
        return made

    def _drives(self, j: int, key: str) -> float:
        """The armature or damping that actuators add to a hinge or slide through their gears."""
        model, values = self.model, getattr(self.model, f"actuator_{key}", None)  # since MuJoCo 3.5
        if values is None or model.jnt_type[j] not in (HINGE, SLIDE):
            return 0.0
        own = (model.actuator_trntype <= 1) & (model.actuator_trnid[:, 0] == j)  # mjTRN_JOINT, mjTRN_JOINTINPARENT
        return float((model.actuator_gear[own, 0] ** 2 * values[own]).sum())

    def _limits(self, j: int) -> Limits | None:
        model = self.model
        limits: dict[str, float] = {}
        if model.jnt_limited[j]:
            lower, upper = model.jnt_range[j].tolist()
            limits |= {"lower": lower if lower > -FAR else -np.inf, "upper": upper if upper < FAR else np.inf}
        if model.jnt_actfrclimited[j]:
            limits["effort"] = float(np.abs(model.jnt_actfrcrange[j]).max())
        return self._made(f"joint {short(self.joint_names[j])!r}", Limits, **limits) if limits else None

    def _made(self, whose: str, make: Any, *args: Any, **options: Any) -> Any:
        try:
            return make(*args, **options)
        except ValueError as fault:
            raise LoadError(f"{self.source}: {whose}: {fault}") from None

    def _check_numbers(self) -> None:
        """Refuses values that MuJoCo accepts: NaN, and numbers so large that products overflow."""
        model = self.model
        dofs = [self.joint_names[j] for j in model.dof_jntid]
        sites = [model.site(i).name for i in range(model.nsite)]
        ties = [model.equality(i).name for i in range(model.neq)]
        called = {"jnt": "joint", "dof": "joint", "eq": "equality constraint"}
        for kind, names, keys in (
            ("body", self.body_names, ("pos", "quat", "ipos", "iquat", "mass", "inertia")),
            ("jnt", self.joint_names, ("pos", "axis", "stiffness", "range", "actfrcrange")),
            ("dof", dofs, ("armature", "damping", "frictionloss")),
            ("site", sites, ("pos", "quat")),
            ("eq", ties, ("data",)),
        ):
            for key in keys:
                values = getattr(model, f"{kind}_{key}")
                usual = np.abs(values) < MAX_NUMBER
                for i in {int(row[0]) for row in np.argwhere(~usual)}:
                    whose = f"{called.get(kind, kind)} {short(names[i])!r}"
                    raise LoadError(f"{self.source}: {whose}: {key} is {values[i].tolist()}, expected finite numbers")
        for key, values in (("gravity", model.opt.gravity), ("ref", model.qpos0), ("springref", model.qpos_spring)):
            if not (np.abs(values) < MAX_NUMBER).all():
                raise LoadError(f"{self.source}: {key} is {short(str(values.tolist()))}, expected finite numbers")
