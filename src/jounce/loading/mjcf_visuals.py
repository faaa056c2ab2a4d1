"""The visuals of an MjModel: its geoms.

MuJoCo shows geoms of the groups 0 to 2; by convention, 3 and above are for collisions. MuJoCo's compiler moves a mesh
into the axes of its inertia, and the geom with it: the pose of the mesh as given in its file is that of the geom times
the inverse of ``mesh_pos`` and ``mesh_quat``. That also holds for the tetrahedra that stand in for meshes which are not
read (`loading.mjcf_compiler`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.errors import LoadError
from jounce.loading.folders import NamedFile
from jounce.loading.height_fields import FieldSource, surface
from jounce.loading.mjcf_textures import MjcfTextures, TextureSource, mesh_with_uv
from jounce.loading.xml_source import short
from jounce.parts.pose import inverse, pose
from jounce.parts.visual import (
    Box,
    Capsule,
    Colour,
    Cylinder,
    Ellipsoid,
    MeshFile,
    ReadLater,
    Shape,
    Sphere,
    Triangles,
    Undrawn,
    Visual,
)

Array = NDArray[np.float64]
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)  # mjtGeom
_SHOWN = 3  # groups
_GREY = (0.5, 0.5, 0.5, 1.0)  # of geoms that were given no colour
_KEYS = ("geom_type", "geom_dataid", "geom_group", "geom_matid", "geom_size", "geom_pos", "geom_quat", "geom_rgba")
_FIELDS = ("hfield_size", "hfield_nrow", "hfield_ncol", "hfield_adr", "hfield_data")
_MESHES = ("mesh_pos", "mesh_quat", "mat_rgba")
_TRIANGLES = (
    *("mesh_vert", "mesh_face", "mesh_vertadr", "mesh_vertnum", "mesh_faceadr", "mesh_facenum"),
    *("mesh_texcoord", "mesh_facetexcoord", "mesh_texcoordadr", "mesh_texcoordnum"),
)


@dataclass(frozen=True)
class MeshSource:
    """Where a mesh of a document comes from.

    Attributes:
        file: that it is in.
        scale, shift, turn: see `MeshFile`.
    """

    file: NamedFile
    scale: tuple[float, float, float]
    shift: tuple[float, float, float]
    turn: tuple[float, float, float, float]

    def shape(self) -> Shape:
        path, why = self.file.find()
        if path is None:
            return Undrawn(short(self.file.name), why)
        return MeshFile(path, self.file.folders.within, self.scale, self.shift, self.turn)


Sources = Mapping[str | int | tuple[str, int], MeshSource | Triangles | FieldSource | TextureSource]


class MjcfVisuals:
    """The geoms of a model, body by body.

    Args:
        model: an MjModel. The parts that are needed are copied.
        meshes: the sources of what has only a stand-in in the model: of meshes by name, of height fields by number
            (2 less than the columns of the stand-in), of textures by ("texture", number); None if the model has them
            all.
    """

    def __init__(self, model: Any, meshes: Sources | None) -> None:
        self._first, self._count = model.body_geomadr.tolist(), model.body_geomnum.tolist()
        self._of = {key: np.array(getattr(model, key)) for key in (*_KEYS, *_MESHES)}
        self._names = [model.mesh(i).name for i in range(model.nmesh)]
        self._sources = meshes
        self._tables: dict[str, NDArray[Any]] = {}
        if meshes is None and model.nmesh:
            self._tables = {key: np.array(getattr(model, key)) for key in _TRIANGLES}
        self._fields = {key: np.array(getattr(model, key)) for key in _FIELDS} if model.nhfield else {}
        self._groups = _SHOWN if (self._of["geom_group"] < _SHOWN).any() else 100
        used = self._of["geom_matid"][self._of["geom_group"] < self._groups]
        textures = {key: source for key, source in (meshes or {}).items() if isinstance(source, TextureSource)}
        self._texture = MjcfTextures(
            model, sorted({int(i) for i in used if i >= 0}), None if meshes is None else textures
        )
        self._mesh = cache(self._read_mesh)
        self._field = cache(self._read_field)

    def of(self, body: int) -> Sequence[Visual]:
        """The visuals of a body, 0 for the world."""
        return ReadLater(partial(self._read, body)) if self._count[body] else ()

    def _read(self, body: int) -> tuple[Visual, ...]:
        geoms = range(self._first[body], self._first[body] + self._count[body])
        made = [self._visual(i) for i in geoms if self._of["geom_group"][i] < self._groups]
        return tuple(visual for visual in made if visual is not None)

    def _visual(self, i: int) -> Visual | None:
        kind, size = int(self._of["geom_type"][i]), [float(x) for x in self._of["geom_size"][i]]
        placement = pose(self._of["geom_pos"][i], self._of["geom_quat"][i])
        shape: Shape
        if kind == PLANE:
            if not (size[0] > 0 and size[1] > 0):  # an infinite floor: the viewer has its own
                return None
            shape = Box((2 * size[0], 2 * size[1], 1e-3 * min(size[:2])))
        elif kind == MESH:
            mesh = int(self._of["geom_dataid"][i])
            shape = self._mesh(mesh)
            placement = placement @ inverse(pose(self._of["mesh_pos"][mesh], self._of["mesh_quat"][mesh]))
        elif kind == HFIELD:
            shape = self._field(int(self._of["geom_dataid"][i]))
        elif kind == SPHERE:
            shape = Sphere(size[0])
        elif kind == CAPSULE:
            shape = Capsule(size[0], 2 * size[1])
        elif kind == CYLINDER:
            shape = Cylinder(size[0], 2 * size[1])
        elif kind == ELLIPSOID:
            shape = Ellipsoid((size[0], size[1], size[2]))
        elif kind == BOX:
            shape = Box((2 * size[0], 2 * size[1], 2 * size[2]))
        else:
            shape = Undrawn(f"geom {i}", "has a shape that is not drawn")
        return Visual(shape, placement, self._colour(i), self._texture.of(int(self._of["geom_matid"][i])))

    def _colour(self, i: int) -> Colour:
        own = tuple(float(x) for x in self._of["geom_rgba"][i])
        material = int(self._of["geom_matid"][i])
        if material >= 0 and own == _GREY:
            own = tuple(float(x) for x in self._of["mat_rgba"][material])
        red, green, blue, opacity = (min(max(x, 0.0), 1.0) for x in own)
        return red, green, blue, opacity

    def _read_field(self, field: int) -> Shape:
        t = self._fields
        x, y, top, base = (float(number) for number in t["hfield_size"][field])
        rows, columns = int(t["hfield_nrow"][field]), int(t["hfield_ncol"][field])
        if self._sources is not None:
            source = self._sources.get(columns - 2)
            if not isinstance(source, FieldSource):
                return Undrawn("a height field", "is one of more than a hundred")
            return source.shape((x, y, top, base))
        heights = t["hfield_data"][t["hfield_adr"][field] :][: rows * columns].reshape(rows, columns)
        try:
            return surface("height field", heights.astype(np.float64), (x, y, top, base))
        except LoadError as fault:
            return Undrawn("a height field", str(fault))

    def _read_mesh(self, mesh: int) -> Shape:
        name = self._names[mesh]
        if self._sources is not None:
            source = self._sources.get(name)
            if not isinstance(source, (MeshSource, Triangles)):
                return Undrawn(f"mesh {short(name)!r}", "has no file")
            return source.shape() if isinstance(source, MeshSource) else source
        t = self._tables
        vertices = t["mesh_vert"][t["mesh_vertadr"][mesh] :][: t["mesh_vertnum"][mesh]]
        faces = t["mesh_face"][t["mesh_faceadr"][mesh] :][: t["mesh_facenum"][mesh]]
        back = pose(self._of["mesh_pos"][mesh], self._of["mesh_quat"][mesh])
        places, on = np.zeros((0, 2)), np.zeros((0, 3), dtype=np.int32)
        if (first := int(t["mesh_texcoordadr"][mesh])) >= 0:
            places = t["mesh_texcoord"][first:][: t["mesh_texcoordnum"][mesh]]
            on = t["mesh_facetexcoord"][t["mesh_faceadr"][mesh] :][: t["mesh_facenum"][mesh]]
        return mesh_with_uv(name, vertices @ back[:3, :3].T + back[:3, 3], faces, places, on)
