"""Shows robots in a browser: ``robot.show(q)``, ``trajectory.show(robot)``, and stand-alone pages to share.

Needs the extra: ``pip install 'jounce[view]'``. Until something is shown, this package needs only NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jounce.parts.texture import NoPicture, Pattern, PictureFile, Pixels, Texture
    from jounce.parts.visual import (
        Box,
        Capsule,
        Cylinder,
        Ellipsoid,
        HeightFile,
        MeshFile,
        Sphere,
        Triangles,
        Undrawn,
        Visual,
    )
    from jounce.view.scene import ViewWarning
    from jounce.view.viewer import Viewer

__all__ = [
    "Box",
    "Capsule",
    "Cylinder",
    "Ellipsoid",
    "HeightFile",
    "MeshFile",
    "NoPicture",
    "Pattern",
    "PictureFile",
    "Pixels",
    "Sphere",
    "Texture",
    "Triangles",
    "Undrawn",
    "ViewWarning",
    "Viewer",
    "Visual",
]
_ELSEWHERE = {
    "ViewWarning": "jounce.view.scene",
    "Viewer": "jounce.view.viewer",
    **dict.fromkeys(("NoPicture", "Pattern", "PictureFile", "Pixels", "Texture"), "jounce.parts.texture"),
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_ELSEWHERE.get(name, "jounce.parts.visual")), name)
    raise AttributeError(f"module 'jounce.view' has no attribute {name!r}")
