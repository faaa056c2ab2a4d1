"""Smooth curves through points, with given directions at both ends, and frames along them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jounce.view.plain import turned

Array = NDArray[np.float64]


def smooth(points: Array, first: Array, last: Array, count: int) -> Array:
    """(count, 4, 4) frames along a curve, z along it, without needless turns about it.

    Between two points it is the cubic that has the directions at both; in between, the direction at a point is that of
    the parabola through it and its neighbours.

    Args:
        points: (P, 3), at least two, no two in a row at the same place.
        first, last: (3,) directions at the ends, of length 1.
        count: of frames.
    """
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    slopes = np.empty_like(points)
    slopes[0], slopes[-1] = first, last
    if len(points) > 2:
        rates = np.diff(points, axis=0) / steps[:, None]
        before, after = steps[:-1, None], steps[1:, None]
        slopes[1:-1] = (after * rates[:-1] + before * rates[1:]) / (before + after)
    where = np.linspace(0.0, at[-1], count)
    k = np.clip(np.searchsorted(at, where, side="right") - 1, 0, len(steps) - 1)
    u, h = ((where - at[k]) / steps[k])[:, None], steps[k][:, None]
    place = (1 + 2 * u) * (1 - u) ** 2 * points[k] + u**2 * (3 - 2 * u) * points[k + 1]
    place += h * (u * (1 - u) ** 2 * slopes[k] - u**2 * (1 - u) * slopes[k + 1])
    along = 6 * u * (1 - u) * (points[k + 1] - points[k]) / h
    along += (1 - u) * (1 - 3 * u) * slopes[k] - u * (2 - 3 * u) * slopes[k + 1]
    return _framed(place, along)


def _framed(places: Array, along: Array) -> Array:
    """Frames at places, z along the directions, each turned from the one before by the shortest way."""
    frames = np.tile(np.eye(4), (len(places), 1, 1))
    frames[:, :3, 3] = places
    turn = turned(along[0] / np.linalg.norm(along[0]))
    for i, direction in enumerate(along):
        length = float(np.linalg.norm(direction))
        z = direction / length if length > 0 else turn[:, 2]
        x = turn[:, 0] - (turn[:, 0] @ z) * z
        if (left := float(np.linalg.norm(x))) > 1e-9:
            turn = np.stack([x / left, np.cross(z, x / left), z], axis=1)
        else:
            turn = turned(z)
        frames[i, :3, :3] = turn
    return frames


def is_curve(points: Array) -> bool:
    """Whether points (P, 3) in this order follow each other along a curve: nowhere it turns by more than 60 degrees."""
    steps = np.diff(points, axis=0)
    length = np.linalg.norm(steps, axis=1)
    if len(points) < 2 or not (length > 1e-9 * length.sum()).all():
        return False
    ahead = steps / length[:, None]
    return bool((np.einsum("ij,ij->i", ahead[:-1], ahead[1:]) > 0.5).all())
