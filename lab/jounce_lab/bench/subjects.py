"""The robots of the race: paper A's trees, and Panda, ANYmal and TALOS from the package example-robot-data.

Each of the latter as ``jn.load`` loads it by default apart from the base, and once more as Pinocchio reads the file:
joints that mimic others made independent, no damping.
"""

from __future__ import annotations

import re
import sysconfig
import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree as Xml

import numpy as np
from numpy.typing import NDArray

from jounce.loading import LoadWarning, load
from jounce.model import Model
from jounce.parts.constraints import Contact, Kind
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Free, Prismatic, Revolute, Spherical
from jounce.robots import aerial_manipulator, quadrotor_arm

from .race import LeftOut, Subject

_FILES: dict[str, tuple[str, Literal["fixed", "floating"]]] = {
    "Panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", "floating"),
    "TALOS": ("talos_data/robots/talos_full_v2.urdf", "floating"),
}
INDEPENDENT = ", independent joints"
FLYING = ("quadrotor with an arm", "aerial manipulator")
_FEET: dict[str, dict[str, Kind | Contact]] = {
    "ANYmal": {name: Spherical() for name in ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")},
    "TALOS": {name: Fixed() for name in ("left_sole_link", "right_sole_link")},
}


def tree_name(bodies: int) -> str:
    return f"N = {bodies}"


@lru_cache(maxsize=4)
def subject(name: str) -> Subject:
    """The robot of that name; "N = 101" is paper A's tree of 101 bodies.

    Raises:
        LeftOut: its file is not available.
    """
    if name.removesuffix(INDEPENDENT) in _FILES:
        return _from_file(name, *_FILES[name.removesuffix(INDEPENDENT)])
    if name in FLYING:
        flying = quadrotor_arm() if name == FLYING[0] else aerial_manipulator()
        return Subject(name, flying, urdf_of(flying), floating=True)
    bodies = int(name.removeprefix("N = "))
    model = aerial_manipulator(2, 3) if bodies == 7 else aerial_manipulator(5, (bodies - 1) // 5)
    if len(model.body_names) != bodies:
        raise ValueError(f"no tree of paper A has {bodies} bodies: expected 7, or 1 + 5 n")
    return Subject(name, model, urdf_of(model), floating=True, is_tree=True)


def on_its_feet(robot: Subject) -> Subject:
    """The same robot with its feet fixed to the world: four points of ANYmal, two soles of TALOS."""
    feet = _FEET[robot.name.removesuffix(INDEPENDENT)]
    other = None if robot.independent is None else robot.independent.constrained(feet)
    return replace(robot, model=robot.model.constrained(feet), independent=other)


def _from_file(name: str, file: str, base: Literal["fixed", "floating"]) -> Subject:
    # the package's files are in the prefix of cmeel wheels; its module would import the loaders of all robots
    path = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots" / file
    if not path.is_file():
        raise LeftOut("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LoadWarning)
        independent = load(path, base, mimic="independent", damping=False, friction=False)  # as Pinocchio reads it
        model = independent if name.endswith(INDEPENDENT) else load(path, base, friction=False)
    alike = model.nv == independent.nv and not model.damping_force(model.neutral(), np.ones(model.nv)).any()
    urdf = re.sub(r"<(visual|collision)>.*?</\1>", "", path.read_text(), flags=re.DOTALL)  # meshes are not available
    return Subject(name, model, urdf, base == "floating", independent=None if alike else independent)


def urdf_of(model: Model) -> str:
    """A model with fixed, revolute and prismatic joints, its base free or not, as a URDF; joints keep their names."""
    root = Xml.Element("robot", name="robot")
    if not isinstance(model.bodies[0].joint, Free):
        _add_inertial(Xml.SubElement(root, "link", name="world"), Inertia(0.0))
    for b in model.bodies:
        _add_inertial(Xml.SubElement(root, "link", name=b.name), b.inertia)
        if isinstance(b.joint, Free):
            continue
        kind = {Revolute: "revolute", Prismatic: "prismatic", Fixed: "fixed"}[type(b.joint)]
        joint = Xml.SubElement(root, "joint", name=b.joint.name or b.name, type=kind)
        Xml.SubElement(joint, "parent", link=model.bodies[b.parent].name if b.parent >= 0 else "world")
        Xml.SubElement(joint, "child", link=b.name)
        roll_pitch_yaw = _angles(b.placement[:3, :3])
        Xml.SubElement(joint, "origin", xyz=_text(b.placement[:3, 3]), rpy=_text(roll_pitch_yaw))
        if isinstance(b.joint, (Revolute, Prismatic)):
            Xml.SubElement(joint, "axis", xyz=_text(b.joint.axis))
            Xml.SubElement(joint, "limit", lower="-10", upper="10", effort="1000", velocity="1000")
    return Xml.tostring(root, "unicode")


def _add_inertial(link: Xml.Element, inertia: Inertia) -> None:
    inertial = Xml.SubElement(link, "inertial")
    Xml.SubElement(inertial, "origin", xyz=_text(inertia.com))
    Xml.SubElement(inertial, "mass", value=repr(inertia.mass))
    I = inertia.rotational.tolist()  # noqa: E741
    moments = {"ixx": I[0][0], "ixy": I[0][1], "ixz": I[0][2], "iyy": I[1][1], "iyz": I[1][2], "izz": I[2][2]}
    Xml.SubElement(inertial, "inertia", {key: repr(value) for key, value in moments.items()})


def _angles(R: NDArray[np.float64]) -> NDArray[np.float64]:
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def _text(vector: NDArray[np.float64]) -> str:
    return " ".join(repr(x) for x in vector.tolist())
