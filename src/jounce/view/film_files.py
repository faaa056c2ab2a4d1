"""Pictures into films that last as long as what they show: MP4 by FFmpeg, GIF by Pillow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted
from jounce._extras import needed

Picture = NDArray[np.uint8]
KINDS = (".mp4", ".gif")
_GIF_RATE = 50.0  # frames per second: programs that show GIFs slow down shorter ones than 0.02 s


def checked_path(path: str | PathLike[str]) -> Path:
    """The path of a film, if it can be written."""
    if not isinstance(path, (str, PathLike)) or Path(fspath(path)).suffix.lower() not in KINDS:
        raise ValueError(f"path is {quoted(path)}, expected one that ends in {' or '.join(KINDS)}")
    if not _is_gif(Path(path)):
        for package in ("imageio", "imageio_ffmpeg"):
            needed(package, "MP4, unlike GIF,")
    return Path(path)


def frame_count(path: Path, seconds: float, rate: float) -> int:
    """The number of frames that a film of so many seconds has at a rate; GIFs have fewer above 50 per second."""
    most = seconds * _GIF_RATE * (1 + 1e-9) if _is_gif(path) else np.inf
    return max(1, int(min(round(seconds * rate), most)))


def check_size(path: Path, width: int, height: int) -> None:
    """Raises an error if such a film has other sizes only."""
    if not _is_gif(path) and (width % 2 or height % 2):
        raise ValueError(f"width and height are {width} and {height}, expected even numbers for MP4")


def film(path: Path, rate: float) -> AbstractContextManager[Callable[[Picture], None]]:
    """A function that adds a frame to the film, which is written by the end.

    Args:
        path: of the file.
        rate: frames per second, of any number.
    """
    return _gif(path, rate) if _is_gif(path) else _mp4(path, rate)


@contextmanager
def _mp4(path: Path, rate: float) -> Iterator[Callable[[Picture], None]]:
    imageio: Any = needed("imageio.v2", "MP4")
    options = {"fps": rate, "codec": "libx264", "quality": 8, "pixelformat": "yuv420p", "macro_block_size": 2}
    with imageio.get_writer(str(path), format="FFMPEG", **options) as writer:
        yield writer.append_data


@contextmanager
def _gif(path: Path, rate: float) -> Iterator[Callable[[Picture], None]]:
    """Delays in a GIF are hundredths of a second: each frame ends at the hundredth nearest to when it should."""
    images: Any = needed("PIL.Image", "GIF")
    frames: list[Any] = []
    yield lambda picture: frames.append(images.fromarray(picture).quantize(128))
    first, *rest = frames
    ends = np.round(np.arange(len(frames) + 1) * 100 / rate)
    delays = [10 * int(hundredths) for hundredths in np.diff(ends)]  # ms
    first.save(path, format="GIF", save_all=True, append_images=rest, duration=delays, loop=0)


def _is_gif(path: Path) -> bool:
    return path.suffix.lower() == ".gif"
