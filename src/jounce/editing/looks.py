"""Visuals of one frame, drawn on another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jounce.parts.visual import ReadLater, Visual

Array = NDArray[np.float64]


def together(own: Sequence[Visual], other: Sequence[Visual], placement: Array) -> Sequence[Visual]:
    """Those of a frame, and those of another that is placed in it; files are read when one looks."""
    if isinstance(other, tuple) and not other:
        return own
    return ReadLater(lambda: (*own, *(Visual(v.shape, placement @ v.placement, v.colour, v.texture) for v in other)))
