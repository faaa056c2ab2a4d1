"""URDF: links, and the joints that connect each to its parent.

jounce uses the tree, ``origin``, ``axis``, ``inertial``, ``limit``, ``mimic`` and ``dynamics``. Visuals are kept for
`jounce.view`, and read when they are shown. Collision shapes, transmissions and simulator extensions are not read at
all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np
from numpy.typing import NDArray

from jounce._checks import near
from jounce.core_tables import BodyRecord
from jounce.loading.description import Description, listed
from jounce.loading.formats import Friction
from jounce.loading.origin import IDENTITY, pose_of
from jounce.loading.xml_source import MAX_NUMBER, Element, short
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Follow, Free, Joint, Limits, Planar, Prismatic, Revolute

if TYPE_CHECKING:
    from jounce.loading.mesh_paths import MeshPaths
    from jounce.parts.visual import Visual

Array = NDArray[np.float64]

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
KNOWN = frozenset(
    (
        *("link", "inertial", "mass", "inertia", "joint", "parent", "child", "origin", "axis", "limit", "dynamics"),
        *("mimic", "visual", "geometry", "box", "sphere", "cylinder", "capsule", "ellipsoid", "mesh", "material"),
        *("color", "texture"),
    )
)
# In <limit> from URDF 1.2 on: not negative, unlimited when left out, except that deceleration then is acceleration; ROS
# ignores them in files of another version, or of none. From README.md of urdfdom 6.0, "URDF Versioning", and from what
# its reader says.
RATES = ("acceleration", "deceleration", "jerk")
MAX_LINKS = 20_000  # a model of that many takes seconds to build
_MASSLESS = Inertia(0.0)


class Losses(TypedDict, total=False):
    """Options of a joint that dissipate energy."""

    damping: float
    friction: float
    friction_speed: float


@dataclass(frozen=True)
class _Edge:
    """A <joint> and the two links it connects."""

    name: str
    kind: str
    parent: str
    child: str
    element: Element


def describe_urdf(
    root: Element,
    base: str,
    mimic: str,
    damping: bool,
    meshes: MeshPaths | None = None,
    friction: Friction = None,
) -> Description:
    """The content of the <robot> element.

    Args:
        root: as read, with at least the elements of `KNOWN`.
        base: "fixed" or "floating".
        mimic: "coupled", where a mimicking joint follows the other, or "independent".
        damping: whether the joints get the damping of the file.
        meshes: where the meshes of visuals may be; nowhere when left out.
        friction: speed at which the friction of the file is smoothed; None or False if the joints get none, without a
            warning if False.
    """
    from jounce.loading.folders import Folders
    from jounce.loading.mesh_paths import MeshPaths  # only when a robot is loaded, to keep the import of jounce fast
    from jounce.loading.urdf_visuals import UrdfVisuals

    links = _named(root.all("link"), "link")
    if not links:
        raise root.error("has no <link>: nothing to load")
    if len(links) > MAX_LINKS:
        raise root.error(f"has {len(links)} links, expected at most {MAX_LINKS}: more than any robot has")
    edges = [_edge(element, links) for element in _named(root.all("joint"), "joint").values()]
    order = _depth_first(links, edges)
    joints = {edge.name: edge for edge in edges}
    said = _Said(mimic == "coupled", damping, friction, joints, _version(root))
    looks = UrdfVisuals(root, meshes or MeshPaths(Folders(None)))

    bodies: list[BodyRecord] = []
    index: dict[str, int] = {}
    scenery: Sequence[Visual] = ()
    if base == "fixed" and order[0][0] == "world":  # the link is the world itself
        index["world"] = -1
        scenery = looks.of(links["world"])
        del order[0]
    for name, edge in order:
        called = name
        if name == "world":
            called = _unused("world_link", links)
            said.warnings.append(f"link 'world' is named {called!r} here: 'world' is the world itself")
        if edge is None:
            joint: Joint = Free(name=_unused("root_joint", said.edges)) if base == "floating" else Fixed()
            parent, placement = -1, IDENTITY
        else:
            joint = said.joint(edge)
            parent, placement = index[edge.parent], pose_of(edge.element.only("origin"))
        index[name] = len(bodies)
        link = links[name]
        bodies.append(BodyRecord(called, parent, joint, placement, _inertia(link), visuals=looks.of(link)))
    return Description(
        source=root.source,
        kind="URDF",
        name=short(root.attributes.get("name", "")),
        bodies=bodies,
        gravity=np.array([0.0, 0.0, -9.81]),
        ignored=said.ignored(),
        warnings=said.odd(),
        scenery=scenery,
    )


def _version(root: Element) -> tuple[int, ...]:
    """That of the format which the file claims to have; 1.0 if it says none, or nothing that is one."""
    words = root.attributes.get("version", "").split(".")
    return tuple(map(int, words)) if all(word.isdecimal() and len(word) < 5 for word in words) else (1, 0)


# The tree


def _named(elements: Iterable[Element], what: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in elements:
        name = element.text("name")
        if name in found:
            line = found[name].line
            at = "" if line is None else f", the other is at line {line}"
            raise element.error(f"is the second {what} of that name{at}")
        found[name] = element
    return found


def _edge(element: Element, links: dict[str, Element]) -> _Edge:
    ends = []
    for role in ("parent", "child"):
        name = element.required(role).text("link")
        if name not in links:
            raise element.error(f"{role} link {short(name)!r} does not exist; {_near(name, links)}")
        ends.append(name)
    if ends[0] == ends[1]:
        raise element.error(f"parent and child are both {short(ends[0])!r}")
    kind = element.text("type")
    if kind not in TYPES:
        raise element.error(f"type is {short(kind)!r}, expected one of {', '.join(TYPES)}")
    return _Edge(element.attributes["name"], kind, ends[0], ends[1], element)


def _depth_first(links: dict[str, Element], edges: list[_Edge]) -> list[tuple[str, _Edge | None]]:
    """Every link with the joint above it, parents first, children in the order of the joints in the file."""
    above: dict[str, _Edge] = {}
    below: dict[str, list[_Edge]] = {}
    for edge in edges:
        if edge.child in above:
            raise edge.element.error(
                f"child link {short(edge.child)!r} is already the child of joint {short(above[edge.child].name)!r}: "
                "a link has one parent"
            )
        above[edge.child] = edge
        below.setdefault(edge.parent, []).append(edge)
    tops = [name for name in links if name not in above]
    if len(tops) > 1:
        raise links[tops[1]].error(
            f"has no parent, and neither has {short(tops[0])!r}: a robot has one root, this file has {len(tops)} parts "
            f"that nothing connects ({listed(tops)})"
        )
    order: list[tuple[str, _Edge | None]] = []
    todo: list[tuple[str, _Edge | None]] = [(name, None) for name in tops]
    while todo:
        order.append(todo.pop())
        todo += [(edge.child, edge) for edge in reversed(below.get(order[-1][0], ()))]
    if len(order) < len(links):
        reached = {name for name, _ in order}
        raise _cycle(next(edge for edge in edges if edge.child not in reached), above)
    return order


def _cycle(edge: _Edge, above: dict[str, _Edge]) -> Exception:
    """The error for an edge from which no root can be reached: going up from it leads into a cycle."""
    seen: dict[str, None] = {}
    while edge.child not in seen:
        seen[edge.child] = None
        edge = above[edge.parent]
    names = list(seen)
    circle = names[names.index(edge.child) :]
    return edge.element.error(f"closes a cycle of {len(circle)} links ({listed(circle)}), expected a tree")


# The content of elements


def _inertia(link: Element) -> Inertia:
    inertial = link.only("inertial")
    if inertial is None:
        return _MASSLESS
    frame = pose_of(inertial.only("origin"))
    mass = inertial.required("mass").number("value")
    if mass < 0:
        raise inertial.required("mass").error(f"value is {mass:g}, expected a non-negative mass")
    element = inertial.required("inertia")
    xx, xy, xz, yy, yz, zz = (element.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    turn = frame[:3, :3]
    moments = turn @ np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))) @ turn.T
    return Inertia(mass, frame[:3, 3], (moments + moments.T) / 2, physical=False)


class _Said:
    """The joints of a file; also collects what is suspicious about them and what is left out."""

    def __init__(
        self, coupled: bool, damping: bool, friction: Friction, edges: dict[str, _Edge], version: tuple[int, ...]
    ) -> None:
        self.coupled = coupled
        self.damping = damping
        self.friction = friction
        self.edges = edges
        self.version = version
        self.warnings: list[str] = []
        self._early: list[str] = []
        self._follows: dict[str, Follow | None] = {}  # known so far; None for a joint that moves on its own
        self._friction: list[str] = []
        self._unknown: dict[tuple[str, ...], list[str]] = {}

    def joint(self, edge: _Edge) -> Joint:
        """The joint of an edge."""
        losses = self._losses(edge)
        if edge.kind == "fixed":
            return Fixed(name=edge.name)
        if edge.kind == "floating":
            return Free(name=edge.name, **losses)
        axis = _axis(edge)
        if edge.kind == "planar":
            x, y = in_plane(axis)
            return Planar(x, y, name=edge.name, **losses)
        joint = Prismatic if edge.kind == "prismatic" else Revolute
        follows = self._follow(edge) if self.coupled else None
        return joint(axis, name=edge.name, limits=self._limits(edge), follows=follows, **losses)

    def ignored(self) -> list[str]:
        lines = []
        if self._friction and self.friction is False:
            lines.append(f"dry friction of {_count(self._friction, 'joint')}")
        for keys, joints in self._unknown.items():
            lines.append(f"{listed(keys, 6)} in <dynamics> of {_count(joints, 'joint')}")
        return lines

    def odd(self) -> list[str]:
        """The warnings, with one about friction and one about limits before their version."""
        found = list(self.warnings)
        if self._early:
            whose = _count(self._early, "joint")
            early = f"limits on acceleration, deceleration or jerk of {whose} are read, but ROS ignores them"
            found.append(f'{early} without <robot version="1.2">')
        if self._friction and self.friction is None:
            left = f"dry friction of {_count(self._friction, 'joint')} is left out: friction=0.01 includes it, smoothed"
            found.insert(0, f"{left} at 0.01 rad/s or m/s, and friction=False leaves it out for good")
        return found

    def _losses(self, edge: _Edge) -> Losses:
        """Damping and friction of a joint."""
        element = edge.element.only("dynamics")
        if element is None:
            return {}
        damping, friction = element.number("damping", 0.0), element.number("friction", 0.0)
        for key, value in (("damping", damping), ("friction", friction)):
            if value < 0:
                raise element.error(f"{key} is {value:g}, expected a non-negative number")
        if edge.kind == "fixed":
            return {}
        if friction != 0:
            self._friction.append(edge.name)
        unknown = tuple(sorted(element.attributes.keys() - {"damping", "friction"}))
        if unknown:
            self._unknown.setdefault(unknown, []).append(edge.name)
        losses: Losses = {"damping": damping if self.damping else 0.0}
        if friction and self.friction:
            losses |= {"friction": friction, "friction_speed": self.friction}
        return losses

    def _limits(self, edge: _Edge) -> Limits | None:
        element = edge.element.only("limit")
        if element is None:
            if edge.kind != "continuous":
                self.warnings.append(f"{edge.kind} joint {short(edge.name)!r} has no <limit>: taken as unlimited")
            return None
        bounds = [_bound(element, key, math.inf) for key in ("velocity", "effort")]
        for i, key in enumerate(("velocity", "effort")):
            if bounds[i] < 0:
                raise element.error(f"{key} is {bounds[i]:g}, expected a non-negative number")
        lower, upper = -math.inf, math.inf
        if edge.kind != "continuous" and ("lower" in element.attributes or "upper" in element.attributes):
            lower, upper = _bound(element, "lower", 0.0), _bound(element, "upper", 0.0)
        if lower > upper:
            self.warnings.append(
                f"joint {short(edge.name)!r} has a lower limit, {lower:g}, above the upper, {upper:g}: "
                "taken as unlimited"
            )
            lower, upper = -math.inf, math.inf
        return Limits(lower, upper, *bounds, **self._rates(edge, element))

    def _rates(self, edge: _Edge, element: Element) -> dict[str, float]:
        """The limits that URDF has from version 1.2 on."""
        found = {key: _bound(element, key, math.inf) for key in RATES if key in element.attributes}
        if found and self.version < (1, 2):
            self._early.append(edge.name)
        for key in list(found):
            if found[key] < 0:
                raise element.error(f"{key} is {found[key]:g}, expected a positive number")
            if found[key] == 0:
                self.warnings.append(f"joint {short(edge.name)!r} has {key} 0 in <limit>, which is left out")
                del found[key]
        return found

    def _follow(self, edge: _Edge) -> Follow | None:
        """The joint at the end of a chain of <mimic>, with the ratio and offset of the whole chain."""
        chain: list[tuple[_Edge, Element]] = []
        seen: set[str] = set()
        top = edge
        while top.name not in self._follows:
            seen.add(top.name)
            element = top.element.only("mimic")
            if element is None or (name := element.text("joint")) not in self.edges:
                if element is not None:
                    self._lost(top, name)
                self._follows[top.name] = None
                break
            if name in seen:
                raise element.error(f"joint {short(top.name)!r} mimics, directly or through others, itself")
            chain.append((top, element))
            top = self.edges[name]
            if top.kind not in ("revolute", "continuous", "prismatic"):
                raise element.error(
                    f"mimics {short(name)!r}, a {top.kind} joint, expected one with one coordinate; "
                    "load with mimic='independent' to leave mimics out"
                )
        for follower, element in reversed(chain):
            above = self._follows[top.name] or Follow(top.name)
            ratio, offset = element.number("multiplier", 1.0), element.number("offset", 0.0)
            ratio, offset = ratio * above.ratio, ratio * above.offset + offset
            if not max(abs(ratio), abs(offset)) < MAX_NUMBER:
                raise element.error("the chain of mimics up from here multiplies to a number that is not finite")
            self._follows[follower.name] = Follow(above.joint, ratio, offset)
            top = follower
        return self._follows[edge.name]

    def _lost(self, edge: _Edge, leader: str) -> None:
        hint = f" ({_near(leader, self.edges)})" if len(self.warnings) < 10 else ""
        self.warnings.append(
            f"joint {short(edge.name)!r} mimics {short(leader)!r}, which does not exist{hint}: it moves on its own"
        )


def _bound(element: Element, key: str, default: float) -> float:
    """A limit; as some readers take no "inf", larger numbers than any robot has stand for it."""
    value = element.real(key, default)
    return math.copysign(math.inf, value) if abs(value) >= MAX_NUMBER else value


def _axis(edge: _Edge) -> Array:
    """Unit vector, x by default."""
    element = edge.element.only("axis")
    if element is None:
        return np.array((1.0, 0.0, 0.0))
    x, y, z = element.numbers("xyz", 3, (1.0, 0.0, 0.0))
    length = math.hypot(x, y, z)
    if length < 1e-6:
        raise element.error(f"xyz is {short(element.attributes['xyz'])!r}, expected a non-zero direction")
    return np.array((x / length, y / length, z / length))


def in_plane(normal: Array) -> tuple[Array, Array]:
    """Directions x and y with x cross y the normal; (1, 0, 0) and (0, 1, 0) for z, and so on cyclically."""
    x = np.roll(np.eye(3)[int(np.argmax(np.abs(normal)))], 1)
    x = x - (x @ normal) * normal
    x /= np.linalg.norm(x)
    return x, np.cross(normal, x)


# Helpers for messages


def _near(name: str, names: Iterable[str]) -> str:
    return near(short(name), [n for n, _ in zip(names, range(1000), strict=False) if len(n) < 100])


def _count(names: list[str], what: str) -> str:
    return f"{what} {names[0]!r}" if len(names) == 1 else f"{len(names)} {what}s ({listed(names)})"


def _unused(name: str, taken: Iterable[str]) -> str:
    used = set(taken)
    while name in used:
        name += "_"
    return name
