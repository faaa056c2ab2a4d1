"""One robot in the scene: a node for each body and frame, with its visuals below it, and soft bodies as tubes."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.core_tables import BodyRecord
from jounce.errors import Printable
from jounce.model import Model
from jounce.parts.constraints import Gear
from jounce.parts.joints import Cylindrical, Helical, Prismatic
from jounce.parts.pose import quaternions
from jounce.parts.visual import (
    Box,
    Capsule,
    Colour,
    Cylinder,
    Ellipsoid,
    HeightFile,
    MeshFile,
    Sphere,
    Triangles,
    Undrawn,
    Visual,
)
from jounce.view.extents import Extents
from jounce.view.glb import as_glb
from jounce.view.mesh_files import SECONDS, MeshReader, SlowMeshError
from jounce.view.mesh_parsing import MeshError
from jounce.view.meshes import MAX_ALL_FACES, Part, coated, parts_of
from jounce.view.names import node_name
from jounce.view.pictures import PictureError
from jounce.view.plain import THICK, boxes, mean_box, plain_visuals, shortened
from jounce.view.rods import Rod, Slide
from jounce.view.shapes import add_solid
from jounce.view.style import BONE, LIMBS, LINK, RGB, SOFT, rgb
from jounce.view.textures import Coat, Prints, Wrap
from jounce.view.tubes import Tube
from jounce.view.wraps import Solid

Array = NDArray[np.float64]
_SAID = 5  # names in a warning
MAX_SHAPES = 50_000  # of a robot, parts of meshes included
MAX_PICTURES = 200_000_000  # bytes of pictures, each as often as it is drawn
_AXES = 0.07  # length of the axes of frames, relative to the robot's size


class ViewWarning(Printable, UserWarning):
    """Meshes that are not shown, and why."""


@dataclass(frozen=True)
class Paint:
    """How a robot is painted: one colour for all of it, or None for its own colours, and its opacity."""

    colour: Colour | None = None
    opacity: float = 1.0


class DrawnRobot:
    """A robot in a scene.

    Args:
        scene: viser's.
        robot: to be drawn.
        q: (nq,) its configuration.
        name: of its node.
        paint: its colours.
        placement: (4, 4) of its world in the scene.
        mesh_seconds: for reading a mesh; a body with one that takes longer is drawn as its box.

    Attributes:
        root: path of its node.
        q: (nq,) where it is.
        nodes: of its frames, in the order of ``robot.frame_names``.
        poses: (frames, 4, 4) of these, in the robot's world.
        remarks: for the legend, colours and what they mean.
        size: of the robot, m, roughly.
    """

    def __init__(
        self,
        scene: Any,
        robot: Model,
        q: Array,
        name: str,
        paint: Paint,
        placement: Array,
        mesh_seconds: float = SECONDS,
    ) -> None:
        self.scene, self.robot, self.root, self.paint, self._placement = scene, robot, f"/{name}", paint, placement
        self.q, self.size = q, robot_size(robot, q)
        self._left_out: dict[str, str] = {}
        self._cache: dict[object, list[Part]] = {}
        self._coats: dict[object, Coat | None] = {}
        self._extents = Extents()
        self._taken: set[str] = set()
        turned = quaternions(placement[:3, :3])
        self._root = scene.add_frame(self.root, show_axes=False, wxyz=turned, position=placement[:3, 3])
        self.poses = robot.forward_kinematics(q, frames=robot.frame_names).pose
        turns = quaternions(self.poses[:, :3, :3])
        self.nodes = [
            scene.add_frame(
                self.path(frame),
                show_axes=False,
                wxyz=turns[i],
                position=self.poses[i, :3, 3],
                axes_length=_AXES * self.size,
                axes_radius=0.035 * _AXES * self.size,
                origin_radius=0.06 * _AXES * self.size,
            )
            for i, frame in enumerate(robot.frame_names)
        ]
        self._labels = [node.name for node in self.nodes]
        self._shapes: dict[str, set[str]] = {}  # names below each node
        self._slow: set[object] = set()  # shapes
        self._faces = self._count = 0
        self._bytes = 0  # of pictures
        with MeshReader(mesh_seconds) as self._reader:
            self._prints = Prints(self._reader.pictures)
            self._draw_bodies()
        self._tubes = [self._draw_tube(soft, q) for soft in robot._soft]
        self._stretch()
        self._warn()

    def path(self, label: str) -> str:
        """A unique path for a node of that name on this robot."""
        return f"{self.root}/{node_name(label, self._taken)}"

    def place(self, q: Array) -> Array:
        """Moves it to q (nq,); returns the poses (frames, 4, 4) of its frames in the world."""
        poses = self.robot.forward_kinematics(q, frames=self.robot.frame_names).pose
        turns, moved = quaternions(poses[:, :3, :3]), (poses != self.poses).any(axis=(1, 2))
        for i, node in enumerate(self.nodes):
            if moved[i]:
                node.wxyz, node.position = turns[i], poses[i, :3, 3]
        for tube, handle in self._tubes:
            handle.vertices = tube.vertices(q).astype(np.float32)
        self.q, self.poses = q, poses
        self._stretch()
        return poses

    def move(self, shift: Array) -> None:
        """Moves its world on the page to so far from its placement, (3,)."""
        self._root.position = self._placement[:3, 3] + shift

    def origin(self, frame: str, q: Array) -> Array:
        """Where a body or frame is on the page at q (nq,), (3,), while its world is at its placement."""
        return np.asarray((self._placement @ self.robot.pose(frame, q))[:3, 3])

    def reach(self, q: Array, scenery: bool = True) -> tuple[Array, float]:
        """How far it reaches at q, in the scene, m.

        Args:
            q: (nq,).
            scenery: whether what stands around it counts, too, as far as half the size of the robot from it: of a floor
                40 m wide, no more than a robot of 1 m needs.

        Returns:
            (2, 3), the minimum and maximum x, y and z of boxes around its parts; and the least z of the parts
            themselves, infinity if nothing of it is drawn.
        """
        poses = self._poses_in_scene(q)
        tubes = [self.in_scene(tube.vertices(q)) for tube, _ in self._tubes]
        boxes, around = self._extents.corners(poses), self._extents.around
        own = np.concatenate([boxes[~around].reshape(-1, 3), *tubes])
        beside = boxes[around].reshape(-1, 3) if scenery else np.zeros((0, 3))
        if len(own):
            low, high = own.min(axis=0), own.max(axis=0)
            margin = np.linalg.norm(high - low) / 2
            every = np.concatenate([own, beside.clip(low - margin, high + margin)])
        else:
            every = beside if len(beside) else poses[:, :3, 3]
        lowest = min([self._extents.lowest(poses), *(float(points[:, 2].min()) for points in tubes)])
        return np.stack([every.min(axis=0), every.max(axis=0)]), lowest

    def in_scene(self, points: Array) -> Array:
        """Points (..., 3) of its world, in the scene."""
        return np.asarray(points @ self._placement[:3, :3].T + self._placement[:3, 3])

    def _poses_in_scene(self, q: Array) -> Array:
        """(frames + 1, 4, 4), the last that of the robot's world."""
        poses = self.robot.forward_kinematics(q, frames=self.robot.frame_names).pose
        return np.concatenate([self._placement @ poses, self._placement[None]])

    # Visuals

    def _draw_bodies(self) -> None:
        robot = self.robot
        drawn = {i for i, b in enumerate(robot.bodies) if self._draw(i, b.visuals)}
        self._draw(-1, robot.scenery)
        slow = {i for i, b in enumerate(robot.bodies) if self._slow and any(v.shape in self._slow for v in b.visuals)}
        plain = plain_visuals(robot, drawn, self.size, self._height())
        made = plain | boxes(robot, slow, plain.keys(), self.size)
        for i, visuals in made.items():
            self._draw(i, visuals)
        small = _first(shortened(robot, made, self.size), ", ")
        label = f"drawn with a smaller box than its mass and inertia: {small}"
        self.remarks: list[tuple[RGB, str]] = [(rgb(LIMBS[0]), label)] if small else []
        self._slides = [self._draw_slide(robot.bodies[i]) for i in plain if i >= 0 and _slides(robot.bodies[i])]

    def _height(self) -> float:
        """Of its centre of mass, in its world, m."""
        masses = [b.inertia.mass for b in self.robot.bodies]
        poses = [self.poses[self.robot.frame_index(b.name)] for b in self.robot.bodies]
        ends = [p[2, :3] @ b.inertia.com + p[2, 3] for p, b in zip(poses, self.robot.bodies, strict=True)]
        return float(np.average(ends, weights=masses)) if sum(masses) > 0 else 0.0

    def _draw(self, body: int, visuals: Sequence[Visual]) -> int:
        """Draws the visuals of a body, -1 for the world; returns the number of shapes drawn."""
        if body >= 0:
            index = self.robot.frame_index(self.robot.bodies[body].name)
            return self._draw_all(self._labels[index], index, visuals)
        if not visuals:
            return 0
        return self._draw_all(self.scene.add_frame(self.path("world"), show_axes=False).name, -1, visuals)

    def _draw_all(self, node: str, index: int, visuals: Sequence[Visual]) -> int:
        taken = self._shapes.setdefault(node, set())
        count = 0
        for visual in visuals:
            parts = self._parts(visual)
            if self._count + len(parts) > MAX_SHAPES:
                why = f"is one of too many: more than the {MAX_SHAPES:,} shapes of a robot that are drawn"
                self._left_out.setdefault(_called(visual), why)
                continue
            self._count += len(parts)
            for part in parts:
                self._add(f"{node}/{node_name(_called(visual), taken)}", visual, part)
                self._extents.add(index, visual.placement, _solid(visual) if part is None else part.vertices)
            count += bool(parts)
        return count

    def _parts(self, visual: Visual) -> list[Part | None]:
        """The parts of a mesh, or of a shape with a texture; [None] for other shapes; [] for what cannot be drawn."""
        shape = visual.shape
        if isinstance(shape, Undrawn):
            self._left_out.setdefault(shape.what, shape.reason)
            return []
        coat = self._coat(visual)
        if not isinstance(shape, (MeshFile, HeightFile, Triangles)):
            return [None if coat is None else self._coated(visual, coat)]
        if (shape, coat) not in self._cache:
            try:
                self._cache[shape, coat] = parts_of(shape, coat, self._left_out, self._reader)
            except MeshError as fault:
                if isinstance(fault, SlowMeshError):
                    self._slow.add(shape)
                self._left_out.setdefault(_file_of(shape), str(fault))
                self._cache[shape, coat] = []
        parts = self._cache[shape, coat]
        faces = self._faces + sum(len(part.faces) for part in parts)
        if faces > MAX_ALL_FACES:
            why = f"has too many faces: with those before it, more than the {MAX_ALL_FACES:,} of a robot that are drawn"
            self._left_out.setdefault(_file_of(shape), why)
            return []
        self._faces = faces
        return list(parts)

    def _coated(self, visual: Visual, coat: Coat) -> Part | None:
        """A shape with its texture on it; None if it has to do without, as those before it took too long."""
        try:
            with self._reader.counting():
                return coated(_solid(visual), coat)
        except SlowMeshError as fault:
            self._left_out.setdefault(coat.texture.name, str(fault))
            return None

    def _coat(self, visual: Visual) -> Coat | None:
        """The texture of a visual; None if it has none, or none that can be drawn."""
        if visual.texture is None or self.paint.colour is not None:
            return None
        key = visual.texture, visual.colour if visual.texture.tinted else None
        if key not in self._coats:
            try:
                with self._reader.counting():
                    self._coats[key] = Coat(*key, self._prints)
            except PictureError as fault:
                self._left_out.setdefault(fault.what, fault.why)
                self._coats[key] = None
            except SlowMeshError as fault:
                self._left_out.setdefault(visual.texture.name, str(fault))
                self._coats[key] = None
        return self._coats[key]

    def _add(self, label: str, visual: Visual, part: Part | None) -> None:
        """Adds a shape, or a part of a mesh."""
        own = part.colour if part is not None and part.colour is not None else visual.colour
        colour = self.paint.colour or own or LINK
        whole = colour if visual.texture is None or visual.colour is None else visual.colour
        opacity = whole[3] * self.paint.opacity
        options: dict[str, Any] = {
            "color": rgb(colour),
            "opacity": None if opacity >= 1 else opacity,
            "wxyz": quaternions(visual.placement[:3, :3]),
            "position": visual.placement[:3, 3],
            "cast_shadow": opacity > 0.5,
        }
        wrapped = part is not None and part.wrap is not None and self.paint.colour is None and opacity >= 1
        if part is not None and part.wrap is not None and wrapped and self._has_room(visual, part.wrap):
            where = {key: options[key] for key in ("wxyz", "position", "cast_shadow")}
            wrap = part.wrap
            content = as_glb(part.vertices, part.faces, wrap.normals, wrap.uv, wrap.picture)
            self.scene.add_glb(label, content, receive_shadow=False, **where)
        elif part is not None:
            self.scene.add_mesh_simple(label, part.vertices, part.faces, side="double", receive_shadow=False, **options)
        else:
            add_solid(self.scene, label, _solid(visual), options)

    def _has_room(self, visual: Visual, wrap: Wrap) -> bool:
        """Whether a picture may be on the page once more; each shape has its own copy."""
        if self._bytes + len(wrap.picture) > MAX_PICTURES:
            name = _called(visual) if visual.texture is None else visual.texture.name
            why = f"is a picture on too many shapes: with those before it, more than {MAX_PICTURES / 1e6:.0f} MB"
            self._left_out.setdefault(name, why)
            return False
        self._bytes += len(wrap.picture)
        return True

    def _draw_slide(self, body: BodyRecord) -> Slide:
        """A rod from where a body's joint is mounted to the body, which slides along it."""
        colour, opacity = self.paint.colour or BONE, self.paint.opacity
        path = self.path(f"{body.joint_name} (slide)")
        rod = Rod(self.scene, path, THICK * self.size, rgb(colour), None if opacity >= 1 else opacity)
        carrier = self.robot.frame_index(self.robot.bodies[body.parent].name) if body.parent >= 0 else None
        return Slide(rod, carrier, body.placement, self.robot.frame_index(body.name))

    def _stretch(self) -> None:
        for slide in self._slides:
            slide.place(self.poses)

    def _draw_tube(self, soft: str, q: Array) -> tuple[Tube, Any]:
        tube = Tube(self.robot, soft, self.size)
        colour = replace(self.paint, colour=self.paint.colour or SOFT).colour
        assert colour is not None
        opacity = self.paint.opacity * colour[3]
        handle = self.scene.add_mesh_simple(
            self.path(f"{soft} (soft)"),
            tube.vertices(q).astype(np.float32),
            tube.faces,
            color=rgb(colour),
            opacity=None if opacity >= 1 else opacity,
        )
        return tube, handle

    def _warn(self) -> None:
        if self._left_out:
            words = _first([f"{name} {why}" for name, why in self._left_out.items()], "; ")
            warnings.warn(f"not shown: {words}", ViewWarning, stacklevel=_callers())


def _first(words: list[str], between: str) -> str:
    """Some of them, and how many more there are."""
    more = len(words) - _SAID
    return between.join(words[:_SAID]) + (f"{between}and {more} more" if more > 0 else "")


def _callers() -> int:
    """The number of calls from the calling function up to the first one outside jounce."""
    package = str(Path(__file__).parents[1])
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    return level


def robot_size(robot: Model, q: Array) -> float:
    """The extent of the frames, centres of mass, loops and visuals of a robot, or that of its masses; m."""
    poses = robot.forward_kinematics(q, frames=robot.frame_names).pose
    points = [poses[:, :3, 3]]
    for b in robot.bodies:
        pose = poses[robot.frame_index(b.name)]
        points.append((pose[:3, :3] @ b.inertia.com + pose[:3, 3])[None])
        points += [(pose @ v.placement)[None, :3, 3] for v in b.visuals]
    for c in robot.constraints:
        if not c.contact and not isinstance(c.kind, Gear):
            ends = ((c.a, c.pose_a), (c.b, c.pose_b))
            points += [(poses[robot.frame_index(name)] @ at)[None, :3, 3] for name, at in ends if name != "world"]
    points += [robot.backbone(name, q)[:, :3, 3] for name, part in robot._soft.items() if part.body.length > 0]
    every = np.concatenate(points)
    spread = float(np.linalg.norm(np.ptp(every, axis=0))) if len(every) else 0.0
    size = max(spread, mean_box(robot))
    return size if size > 1e-12 else 1.0


def _slides(body: BodyRecord) -> bool:
    return isinstance(body.joint, (Prismatic, Cylindrical, Helical)) and body.at is None


def _solid(visual: Visual) -> Solid:
    assert isinstance(visual.shape, (Box, Sphere, Cylinder, Capsule, Ellipsoid))
    return visual.shape


def _file_of(shape: MeshFile | HeightFile | Triangles) -> str:
    return shape.name if isinstance(shape, Triangles) else shape.path


def _called(visual: Visual) -> str:
    """The name of a shape in the tree of the scene."""
    shape = visual.shape
    if isinstance(shape, (MeshFile, HeightFile)):
        return shape.path.replace("\\", "/").rpartition("/")[2]
    return shape.name if isinstance(shape, Triangles) and shape.name else type(shape).__name__.lower()
