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

from jounce.model import Model
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
from jounce.view.glb import as_glb
from jounce.view.mesh_files import SECONDS, MeshReader, SlowMeshError
from jounce.view.mesh_parsing import MeshError
from jounce.view.meshes import MAX_ALL_FACES, Part, coated, parts_of
from jounce.view.names import node_name
from jounce.view.pictures import PictureError
from jounce.view.plain import boxes, plain_visuals
from jounce.view.shapes import capsule
from jounce.view.style import LINK, SOFT, rgb
from jounce.view.textures import Coat
from jounce.view.tubes import Tube

Array = NDArray[np.float64]
_AXES = 0.07  # length of the axes of frames, relative to the robot's size


class ViewWarning(UserWarning):
    """Meshes that are not shown, and why."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)


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
        nodes: of its frames, in the order of ``robot.frame_names``.
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
        self.size = robot_size(robot, q)
        self._left_out: dict[str, str] = {}
        self._cache: dict[object, list[Part]] = {}
        self._coats: dict[object, Coat | None] = {}
        self._boxes: list[tuple[int, Array]] = []  # frame, and the corners (8, 3) of a visual on it
        self._taken: set[str] = set()
        turned = quaternions(placement[:3, :3])
        scene.add_frame(self.root, show_axes=False, wxyz=turned, position=placement[:3, 3])
        self._poses = robot.forward_kinematics(q, frames=robot.frame_names).pose
        turns = quaternions(self._poses[:, :3, :3])
        self.nodes = [
            scene.add_frame(
                self.path(frame),
                show_axes=False,
                wxyz=turns[i],
                position=self._poses[i, :3, 3],
                axes_length=_AXES * self.size,
                axes_radius=0.035 * _AXES * self.size,
                origin_radius=0.06 * _AXES * self.size,
            )
            for i, frame in enumerate(robot.frame_names)
        ]
        self._labels = [node.name for node in self.nodes]
        self._shapes: dict[str, set[str]] = {}  # names below each node
        self._slow: set[object] = set()  # shapes
        self._faces = 0
        with MeshReader(mesh_seconds) as self._reader:
            self._draw_bodies()
        self._tubes = [self._draw_tube(soft, q) for soft in robot._soft]
        self._warn()

    def path(self, label: str) -> str:
        """A unique path for a node of that name on this robot."""
        return f"{self.root}/{node_name(label, self._taken)}"

    def place(self, q: Array) -> Array:
        """Moves it to q (nq,); returns the poses (frames, 4, 4) of its frames in the world."""
        poses = self.robot.forward_kinematics(q, frames=self.robot.frame_names).pose
        turns, moved = quaternions(poses[:, :3, :3]), (poses != self._poses).any(axis=(1, 2))
        for i, node in enumerate(self.nodes):
            if moved[i]:
                node.wxyz, node.position = turns[i], poses[i, :3, 3]
        for tube, handle in self._tubes:
            handle.vertices = tube.vertices(q).astype(np.float32)
        self._poses = poses
        return poses

    def bounds(self, q: Array) -> Array:
        """The minimum and maximum x, y and z (2, 3), in the scene, of the robot at q."""
        poses = self.robot.forward_kinematics(q, frames=self.robot.frame_names).pose
        points = [np.zeros((0, 3))]
        points += [corners @ poses[i, :3, :3].T + poses[i, :3, 3] for i, corners in self._boxes if i >= 0]
        points += [corners for i, corners in self._boxes if i < 0]
        points += [tube.vertices(q) for tube, _ in self._tubes]
        if not any(len(p) for p in points):
            points.append(poses[:, :3, 3] if len(poses) else np.zeros((1, 3)))
        every = np.concatenate(points) @ self._placement[:3, :3].T + self._placement[:3, 3]
        return np.stack([every.min(axis=0), every.max(axis=0)])

    # Visuals

    def _draw_bodies(self) -> None:
        robot = self.robot
        drawn = {i for i, b in enumerate(robot.bodies) if self._draw(b.name, b.visuals)}
        if robot.scenery:
            world = self.scene.add_frame(self.path("world"), show_axes=False)
            self._draw_all(world.name, -1, robot.scenery)
        slow = {i for i, b in enumerate(robot.bodies) if self._slow and any(v.shape in self._slow for v in b.visuals)}
        plain = plain_visuals(robot, drawn, self.size)
        for i, visuals in (plain | boxes(robot, slow, plain.keys(), self.size)).items():
            self._draw(robot.bodies[i].name, visuals)

    def _draw(self, body: str, visuals: Sequence[Visual]) -> int:
        """Draws the visuals of a body; returns the number of shapes drawn."""
        index = self.robot.frame_index(body)
        return self._draw_all(self._labels[index], index, visuals)

    def _draw_all(self, node: str, index: int, visuals: Sequence[Visual]) -> int:
        taken = self._shapes.setdefault(node, set())
        count = 0
        for visual in visuals:
            parts = self._parts(visual)
            for part in parts:
                label = f"{node}/{node_name(_called(visual), taken)}"
                self._boxes.append((index, self._add(label, visual, part)))
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
            return [None if coat is None else coated(shape, coat)]
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

    def _coat(self, visual: Visual) -> Coat | None:
        """The texture of a visual; None if it has none, or none that can be drawn."""
        if visual.texture is None or self.paint.colour is not None:
            return None
        key = visual.texture, visual.colour if visual.texture.tinted else None
        if key not in self._coats:
            try:
                with self._reader.counting():
                    self._coats[key] = Coat(*key)
            except PictureError as fault:
                self._left_out.setdefault(fault.what, fault.why)
                self._coats[key] = None
            except SlowMeshError as fault:
                self._left_out.setdefault(visual.texture.name, str(fault))
                self._coats[key] = None
        return self._coats[key]

    def _add(self, label: str, visual: Visual, part: Part | None) -> Array:
        """Adds a shape, or a part of a mesh; returns the corners (8, 3) of its bounding box in its frame."""
        shape = visual.shape
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
        if part is not None and part.wrap is not None and self.paint.colour is None and opacity >= 1:
            where = {key: options[key] for key in ("wxyz", "position", "cast_shadow")}
            wrap = part.wrap
            content = as_glb(part.vertices, part.faces, wrap.normals, wrap.uv, wrap.picture)
            self.scene.add_glb(label, content, receive_shadow=False, **where)
            low, high = part.bounds()
        elif part is not None:
            self.scene.add_mesh_simple(label, part.vertices, part.faces, side="double", receive_shadow=False, **options)
            low, high = part.bounds()
        elif isinstance(shape, Box):
            self.scene.add_box(label, dimensions=shape.size, **options)
            high = np.array(shape.size) / 2
        elif isinstance(shape, Sphere):
            self.scene.add_icosphere(label, radius=shape.radius, subdivisions=3, **options)
            high = np.full(3, shape.radius)
        elif isinstance(shape, Cylinder):
            self.scene.add_cylinder(label, radius=shape.radius, height=shape.length, radial_segments=48, **options)
            high = np.array([shape.radius, shape.radius, shape.length / 2])
        elif isinstance(shape, Ellipsoid):
            self.scene.add_icosphere(label, radius=1.0, subdivisions=3, scale=shape.radii, **options)
            high = np.array(shape.radii)
        else:
            assert isinstance(shape, Capsule)
            self.scene.add_mesh_simple(label, *capsule(shape.radius, shape.length), **options)
            high = np.array([shape.radius, shape.radius, shape.length / 2 + shape.radius])
        low = low if part is not None else -high
        corners = np.array(np.meshgrid(*np.stack([low, high], axis=1), indexing="ij"), dtype=np.float64)
        return np.asarray(corners.reshape(3, -1).T @ visual.placement[:3, :3].T + visual.placement[:3, 3])

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
        if not self._left_out:
            return
        shown = [f"{name} {reason}" for name, reason in list(self._left_out.items())[:5]]
        more = len(self._left_out) - len(shown)
        words = "; ".join(shown) + (f"; and {more} more" if more > 0 else "")
        warnings.warn(f"not shown: {words}", ViewWarning, stacklevel=_callers())


def _callers() -> int:
    """The number of calls from the calling function up to the first one outside jounce."""
    package = str(Path(__file__).parents[1])
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1
    return level


def robot_size(robot: Model, q: Array) -> float:
    """The extent of the frames, centres of mass and visuals of a robot, m."""
    poses = robot.forward_kinematics(q, frames=robot.frame_names).pose
    points = [poses[:, :3, 3]]
    for b in robot.bodies:
        pose = poses[robot.frame_index(b.name)]
        points.append((pose[:3, :3] @ b.inertia.com + pose[:3, 3])[None])
        points += [(pose @ v.placement)[None, :3, 3] for v in b.visuals]
    points += [robot.backbone(name, q)[:, :3, 3] for name, part in robot._soft.items() if part.body.length > 0]
    every = np.concatenate(points)
    spread = float(np.linalg.norm(np.ptp(every, axis=0))) if len(every) else 0.0
    return spread if spread > 1e-6 else 1.0


def _file_of(shape: MeshFile | HeightFile | Triangles) -> str:
    return shape.name if isinstance(shape, Triangles) else shape.path


def _called(visual: Visual) -> str:
    """The name of a shape in the tree of the scene."""
    shape = visual.shape
    if isinstance(shape, (MeshFile, HeightFile)):
        return shape.path.replace("\\", "/").rpartition("/")[2]
    return shape.name if isinstance(shape, Triangles) and shape.name else type(shape).__name__.lower()
