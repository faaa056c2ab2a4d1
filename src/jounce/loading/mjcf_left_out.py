"""What MuJoCo computes with and jounce leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from jounce.loading.formats import Friction
from jounce.loading.xml_source import short

SHOWN = 8  # names in one line


def left_out(model: Any, bodies: list[str], joints: list[str], friction: Friction = None) -> list[str]:
    """One line for each kind of element that affects the motion in MuJoCo but not here.

    Args:
        model: an MjModel.
        bodies: names of its bodies.
        joints: names of its joints.
        friction: the option of `jounce.load`.
    """
    dofs = [joints[j] for j in model.dof_jntid]
    free = [joints[j] for j in range(model.njnt) if model.jnt_type[j] == 0 and _uneven(model, j)]
    balls = [joints[j] for j in range(model.njnt) if model.jnt_type[j] == 1 and model.jnt_limited[j]]
    lines = [
        line_of("tendons", [model.tendon(i).name for i in range(model.ntendon)]),
        _contacts(model),
        _friction_loss(model, dofs, friction),
        line_of("stiffness that depends on the position, of joints", _where(model, "jnt_stiffnesspoly", joints)),
        line_of("springs that yield, of joints", _where(model, "jnt_springyield", joints)),
        line_of("damping that depends on the velocity, of joints", _where(model, "dof_dampingpoly", dofs)),
        line_of("linear armature in world axes, and uneven damping, of free joints", free),
        line_of("ranges of ball joints", balls),
        line_of("feedback and dynamics of actuators", _actuators(model)),
        line_of("armature and damping of actuators that do not drive a hinge or slide", _loose_drives(model)),
        line_of("gravity compensation of bodies", _where(model, "body_gravcomp", bodies)),
        line_of("motion of mocap bodies", _where(model, "body_mocapid", bodies, -1)),
        line_of("flexes", [model.flex(i).name for i in range(model.nflex)] if hasattr(model, "flex") else []),
        line_of("plugins of bodies", _where(model, "body_plugin", bodies, -1)),
    ]
    if model.opt.density or model.opt.viscosity:
        lines.append("forces of the fluid around the bodies (density, viscosity, wind)")
    return [line for line in lines if line]


def line_of(kind: str, names: Iterable[str]) -> str:
    """The kind and its names; unnamed elements are counted."""
    given = list(names)
    named = list(dict.fromkeys(name for name in given if name))
    more = len(named) - SHOWN if len(named) > SHOWN else 0
    nameless = sum(not name for name in given)
    parts = [", ".join(repr(short(name)) for name in named[:SHOWN])] if named else []
    parts += [f"{more} more"] if more else []
    parts += [f"{nameless} without a name"] if nameless else []
    return f"{kind} {' and '.join(parts)}" if parts else ""


def _where(model: Any, key: str, names: list[str], absent: float = 0.0) -> list[str]:
    """Names of the elements whose field is not `absent`; none if this version of MuJoCo has no such field."""
    values = getattr(model, key, None)
    if values is None:
        return []
    return [names[i] for i in np.unique(np.argwhere(np.asarray(values) != absent)[:, 0])]


def _friction_loss(model: Any, dofs: list[str], friction: Friction) -> str:
    """Of all joints or, where friction is included, of free ones: MuJoCo has their linear friction in world axes."""
    names = _where(model, "dof_frictionloss", dofs)
    if friction is None:
        hint = " (friction=0.01 includes it)"
        return f"{line_of('friction loss of joints', names)}{hint}" if names else ""
    free = {name for name, j in zip(dofs, model.dof_jntid, strict=True) if model.jnt_type[j] == 0}
    return line_of("friction loss of free joints", [name for name in names if name in free]) if friction else ""


def _contacts(model: Any) -> str:
    """Contacts, if they are enabled and two geoms could touch: one of each pair on a body that moves."""
    import mujoco

    off = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    if model.opt.disableflags & off:
        return ""
    solid = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    moving = model.body_weldid[model.geom_bodyid] != 0
    if not (solid & moving).any() or solid.sum() < 2:
        return f"contacts of {model.npair} pairs of geoms" if model.npair else ""
    return f"contacts between {solid.sum()} geoms"


def _uneven(model: Any, j: int) -> bool:
    """Whether a free joint has linear terms, which MuJoCo computes in world axes, that differ in body axes."""
    linear = slice(model.jnt_dofadr[j], model.jnt_dofadr[j] + 3)
    return bool(model.dof_armature[linear].any() or np.ptp(model.dof_damping[linear]) > 0)


def _actuators(model: Any) -> list[str]:
    """Actuators whose force is not just gain times input: servos, muscles, and those with their own state."""
    n = model.actuator_trnid.shape[0]
    kinds = np.stack([model.actuator_gaintype, model.actuator_biastype, model.actuator_dyntype])
    return [model.actuator(i).name for i in range(n) if kinds[:, i].any()]


def _loose_drives(model: Any) -> list[str]:
    values = sum(np.abs(getattr(model, key, 0.0)) for key in ("actuator_armature", "actuator_damping"))
    n = model.actuator_trnid.shape[0]
    heavy = np.broadcast_to(values, n) != 0
    axial = [model.actuator_trntype[i] <= 1 and model.jnt_type[model.actuator_trnid[i, 0]] >= 2 for i in range(n)]
    return [model.actuator(i).name for i in range(n) if heavy[i] and not axial[i]]
