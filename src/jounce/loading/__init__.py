"""Robots from files."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from jounce._checks import a_class, array_of, flag, one_of, quoted, real
from jounce.errors import LoadError
from jounce.loading.description import Description, LoadWarning
from jounce.loading.example_robots import SCHEME, example_robot
from jounce.loading.folders import Folders
from jounce.loading.formats import Allow, Base, Format, Friction, Mimic, Options, Source, add_format, known_formats
from jounce.loading.urdf import KNOWN, describe_urdf
from jounce.loading.xml_source import from_tree, read_xml, short
from jounce.model import Model
from jounce.parts.joints import LEAST_SPEED

__all__ = [
    "Base",
    "Description",
    "Format",
    "LoadError",
    "LoadWarning",
    "Options",
    "Source",
    "add_format",
    "describe",
    "load",
]


class _XmlElement(Protocol):
    """Of the standard library, or of lxml."""

    @property
    def tag(self) -> Any: ...
    @property
    def attrib(self) -> Any: ...


class _XmlTree(Protocol):
    """Of the standard library, or of lxml."""

    @property
    def getroot(self) -> Any: ...


class _YourdfpyURDF(Protocol):
    @property
    def write_xml_string(self) -> Any: ...


class _MjModel(Protocol):
    @property
    def body_parentid(self) -> Any: ...


class _MjSpec(Protocol):
    @property
    def worldbody(self) -> Any: ...


Readable = (  # what `load` accepts; objects of other libraries by an attribute, so that these need not be installed
    str | bytes | os.PathLike[str] | ModuleType | _XmlElement | _XmlTree | _YourdfpyURDF | _MjModel | _MjSpec
)
_OTHER_KINDS = {  # outermost elements of files that are passed by mistake
    "sdf": "SDF: convert it to URDF or MJCF first",
    "gazebo": "SDF of an old kind: convert it to URDF or MJCF first",
    "html": "a web page: if it comes from GitHub, take the file behind the button 'Raw'",
    "COLLADA": "a mesh",
    "KinBody": "an OpenRAVE model: convert it to URDF first",
    "Robot": "an OpenRAVE model: convert it to URDF first",
    "launch": "a ROS launch file: load the URDF it names",
    "package": "a ROS package manifest: load the URDF in that package",
    "svg": "a picture",
}


def load(
    source: Readable,
    base: Base = "fixed",
    *,
    mimic: Mimic = "coupled",
    damping: bool = True,
    friction: Friction = None,
    constraints: bool = True,
    gravity: ArrayLike | None = None,
    allow: Allow = (),
    untrusted: bool = False,
) -> Model:
    """A robot from a URDF or MJCF file.

    Args:
        source: path of the file; or its text (str or bytes); an ``xml.etree.ElementTree`` or an element of one; a
            ``yourdfpy.URDF``; a module of ``robot_descriptions``; a ``mujoco.MjModel`` or ``MjSpec``; or
            "example-robot-data:NAME", a robot of that package, by the name of its file: "example-robot-data:panda".
        base: "fixed", where the root link is part of the world, or "floating", where it moves freely: a `Free` joint
            "root_joint".
        mimic: "coupled", where a joint that mimics another has no coordinate of its own, or "independent", where
            it has one and the coupling is left out, as Pinocchio does by default. For URDF, and what
            `Model.to_mjcf` wrote.
        damping: False leaves out the joints' damping, as Pinocchio's ``rnea`` does.
        friction: a speed, rad/s and m/s, such as 0.01: the joints get the dry friction of the file, smoothed at this
            speed, friction * tanh(v / speed). When left out, they get none, and a warning says so if the file has any;
            False leaves it out without a warning.
        constraints: False leaves out the equality constraints of MJCF: the robot is the tree alone.
        gravity: (3,) m/s^2 in world axes; when left out, that of the file, (0, 0, -9.81) for a URDF.
        allow: one or more folders to look for files in, besides the folder of the file itself: parts of an MJCF file,
            packages and meshes of a URDF. Text has no folder of its own, so file names in it are looked up in these,
            and nowhere else.
        untrusted: True for a file from a stranger: then only files in its own folder and in those of ``allow`` are
            read, now and when the robot is shown. Otherwise it may name any regular file.

    Raises:
        LoadError: a ``ValueError`` that names the file, the line, the element and the fault; if a file does not exist,
            it is also a ``FileNotFoundError``.

    Warns:
        LoadWarning: once, about anything that is probably a mistake. ``jounce info FILE`` shows everything.

    >>> import jounce as jn
    >>> robot = jn.load('''<robot name="swing"> <link name="frame"/>
    ...   <link name="seat"> <inertial> <origin xyz="0 0 -2"/> <mass value="30"/>
    ...     <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial> </link>
    ...   <joint name="chain" type="continuous"> <axis xyz="0 1 0"/> <parent link="frame"/> <child link="seat"/>
    ...   </joint>
    ... </robot>''')
    >>> robot.joint_names, robot.frame_names
    (('chain',), ('seat', 'frame'))
    """
    description = describe(
        source,
        base,
        mimic=mimic,
        damping=damping,
        friction=friction,
        constraints=constraints,
        gravity=gravity,
        allow=allow,
        untrusted=untrusted,
    )
    complaint = description.complaint()
    if complaint:
        warnings.warn(complaint, LoadWarning, stacklevel=2)
    return description.model()


def describe(
    source: Readable,
    base: Base = "fixed",
    *,
    mimic: Mimic = "coupled",
    damping: bool = True,
    friction: Friction = None,
    constraints: bool = True,
    gravity: ArrayLike | None = None,
    allow: Allow = (),
    untrusted: bool = False,
) -> Description:
    """The content of a file, before it becomes a model; arguments as for `load`."""
    one_of("base", base, "fixed", "floating")
    one_of("mimic", mimic, "coupled", "independent")
    fall = None if gravity is None else array_of("gravity", gravity, (3,))
    switches = flag("damping", damping), flag("constraints", constraints)
    options = Options(base, mimic, *switches, allow, _friction(friction), flag("untrusted", untrusted))
    description = _read(source, options)
    if fall is not None:
        description.gravity = fall
    return description


def _friction(given: Any) -> Friction:
    if given is None or given is False:
        return given
    speed = None if isinstance(given, (bool, np.bool_)) else real("friction", given)
    if speed is None or not LEAST_SPEED <= speed < np.inf:
        raise ValueError(
            f"friction is {quoted(given)}, expected a speed at which to smooth it, such as 0.01 rad/s and m/s, or "
            "False to leave it out"
        )
    return speed


def _read(source: Any, options: Options) -> Description:
    plain, name = _plain(source)
    given = Source(plain, name, Folders(plain if isinstance(plain, Path) else None, options.allow, options.untrusted))
    for each in reversed(known_formats()):
        if each.recognises(given):
            return each.describe(given, options)
    what = _OTHER_KINDS.get(given.element)
    seems = f"seems to be {what}" if what else f"has the outermost element <{short(given.element)}>"
    raise LoadError(f"{given.name}: {seems}; expected {' or '.join(each.expected for each in known_formats())}")


def _describe_urdf(source: Source, options: Options) -> Description:
    from jounce.loading.mesh_paths import MeshPaths  # only when a robot is loaded, to keep the import of jounce fast

    if isinstance(source.given, (bytes, str, Path)):
        root = read_xml(source.content, source.name, KNOWN)
    else:
        root = from_tree(source.given, source.name, KNOWN)
    meshes = MeshPaths(source.folders)
    return describe_urdf(root, options.base, options.mimic, options.damping, meshes, options.friction)


def _is_mjcf(source: Source) -> bool:
    return type(source.given).__module__.partition(".")[0] == "mujoco" or source.element in ("mujoco", "mujocoinclude")


def _describe_mjcf(source: Source, options: Options) -> Description:
    from jounce.loading.mjcf import describe_mjcf  # which needs MuJoCo

    return describe_mjcf(
        source.given,
        options.base,
        mimic=options.mimic,
        name=source.name,
        damping=options.damping,
        friction=options.friction,
        constraints=options.constraints,
        folders=source.folders,
    )


add_format(Format("URDF", "<robot> (URDF)", lambda source: source.element == "robot", _describe_urdf))
add_format(Format("MJCF", "<mujoco> (MJCF)", _is_mjcf, _describe_mjcf))


def _plain(source: Any) -> tuple[Any, str]:
    """A path, XML, an element or a MuJoCo object for anything that `load` accepts, and its name in messages."""
    if isinstance(source, ModuleType) or hasattr(source, "URDF_PATH") or hasattr(source, "MJCF_PATH"):
        source = _path_in(source)
    if hasattr(source, "write_xml_string"):
        return _element_of(source), "<yourdfpy.URDF>"
    if hasattr(source, "getroot"):
        source = source.getroot()
    if hasattr(source, "tag") and hasattr(source, "attrib"):
        return source, "<element>"
    if type(source).__module__.partition(".")[0] == "mujoco":
        return source, f"<mujoco.{type(source).__name__}>"
    if isinstance(source, bytes):
        return source, "<bytes>"
    if isinstance(source, str) and (text := source.lstrip("\ufeff \t\r\n")).startswith("<"):
        return text if text.startswith("<?xml") else source.lstrip("\ufeff"), "<string>"  # line numbers stay as given
    if isinstance(source, (str, os.PathLike)):
        name = os.fsdecode(source)
        if not name:
            raise LoadError("source is empty, expected the path of a URDF or MJCF file, or XML text")
        path = example_robot(name) if name.startswith(SCHEME) else Path(name)
        return path, str(path)
    raise ValueError(
        f"source is {a_class(source)}, expected a path, XML text, an ElementTree, a yourdfpy.URDF, "
        "a robot_descriptions module, a mujoco.MjModel or a mujoco.MjSpec"
    )


def _element_of(urdf: Any) -> Any:
    """The element that a ``yourdfpy.URDF`` writes, with <mimic>, which its writer leaves out (0.0.60)."""
    root = urdf.write_xml().getroot()
    for element, joint in zip(root.findall("joint"), urdf.robot.joints, strict=True):
        if joint.mimic is not None and element.find("mimic") is None:
            said = {"joint": joint.mimic.joint, "multiplier": joint.mimic.multiplier, "offset": joint.mimic.offset}
            element.append(element.makeelement("mimic", {key: str(value) for key, value in said.items()}))
    return root


def _path_in(module: Any) -> str:
    """The file that a module of ``robot_descriptions`` stands for."""
    for key in ("URDF_PATH", "MJCF_PATH"):
        path = getattr(module, key, None)
        if isinstance(path, (str, os.PathLike)):
            return os.fsdecode(path)
    name = getattr(module, "__name__", repr(module))
    hint = "; it has a XACRO_PATH: run xacro on that and load the result" if hasattr(module, "XACRO_PATH") else ""
    raise LoadError(f"{name}: has neither URDF_PATH nor MJCF_PATH, as modules of robot_descriptions have{hint}")
