"""What a browser is sent: the nodes of viser's scene, without a browser."""

from __future__ import annotations

from typing import Any

import numpy as np

from jounce.parts.pose import pose
from jounce.view import Viewer


def nodes(viewer: Viewer) -> dict[str, Any]:
    return dict(viewer._server.scene._handle_from_node_name)


def world(viewer: Viewer, name: str) -> np.ndarray:
    """The pose of a node in the world, from those of all above it."""
    found, path = np.eye(4), ""
    for part in name.strip("/").split("/"):
        path += "/" + part
        handle = nodes(viewer)[path]
        found = found @ pose(handle.position, handle.wxyz)
    return found


def below(viewer: Viewer, name: str) -> list[str]:
    return [n for n in nodes(viewer) if n.startswith(name + "/")]
