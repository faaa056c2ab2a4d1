"""Light, floor and camera, for a robot of any size."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.view.style import CELLS, FLOOR, SECTIONS

Array = NDArray[np.float64]
_FROM = np.array([0.80, -1.0, 0.42])  # the camera looks from in front, from the right and from above
_SUN = np.array([0.15, -0.65, 0.9])
_FIELD = math.radians(32.0)
_WIDE = 1.25  # width of the picture over its height, at least
_FILLED = 0.86  # of its height or width


def _distance(box: Array) -> float:
    """How far the camera has to be from the middle of a box (2, 3) to see all of its corners, m."""
    back = _FROM / np.linalg.norm(_FROM)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    corners = np.stack(np.meshgrid(*box.T), axis=-1).reshape(-1, 3)
    sides = np.abs(corners @ right) / _WIDE, np.abs(corners @ np.cross(back, right))
    reach = np.maximum(*sides) / (_FILLED * math.tan(_FIELD / 2))
    return max(float((corners @ back + reach).max()), 2e-3)


def set_stage(server: Any, bounds: Array, floor: float | None) -> Any:
    """Sets up the lights, the floor and the camera; returns the handle of the floor, None if there is none.

    Args:
        server: viser's.
        bounds: (2, 3) of everything shown, m.
        floor: its height; None for none.
    """
    scene = server.scene
    centre, spread = bounds.mean(axis=0), max(float(np.linalg.norm(np.ptp(bounds, axis=0))), 1e-3)
    scene.configure_default_lights(enabled=False, cast_shadow=False)
    scene.configure_environment_map("studio", environment_intensity=0.3)
    scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(190, 190, 195), intensity=1.0)
    sun = centre + 3 * spread * _SUN
    scene.add_light_directional("/light/sun", color=(255, 252, 246), intensity=1.6, cast_shadow=True, position=sun)
    ground = None
    if floor is not None:
        cell = 10.0 ** math.floor(math.log10(spread / 2)) if spread > 0 else 0.1
        ground = scene.add_grid(
            "/floor",
            width=40 * spread,
            height=40 * spread,
            cell_size=cell,
            section_size=5 * cell,
            cell_color=CELLS,
            section_color=SECTIONS,
            cell_thickness=0.7,
            section_thickness=1.0,
            fade_distance=6 * spread,
            plane_color=FLOOR,
            plane_opacity=1.0,
            shadow_opacity=0.22,
            position=(float(centre[0]), float(centre[1]), floor),
        )
    server.initial_camera.position = tuple(centre + _distance(bounds - centre) * _FROM / np.linalg.norm(_FROM))
    server.initial_camera.look_at = tuple(centre)
    server.initial_camera.fov = _FIELD
    server.initial_camera.near = 0.01 * spread
    server.initial_camera.far = 100 * spread
    return ground


def await_camera(server: Any, client: Any, until: float) -> None:
    """Waits until the camera of a page that was just opened is no longer where viser has it before it is told.

    Args:
        server: viser's.
        client: the page.
        until: what `time.monotonic` says at the latest: a camera that was moved by hand is not told any more.
    """
    first = np.array(client.camera.position)
    told, at = np.array(server.initial_camera.position), np.array(server.initial_camera.look_at)
    if np.linalg.norm(first - told) < 1e-3 * np.linalg.norm(told - at):
        return
    while np.array_equal(client.camera.position, first) and time.monotonic() < until:
        time.sleep(0.02)
