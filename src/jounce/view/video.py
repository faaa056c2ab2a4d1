"""Videos: a browser without a window draws one frame after the other, and Pillow or FFmpeg writes them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted, real, whole
from jounce._extras import needed
from jounce.view.browser import Browser

Picture = NDArray[np.uint8]
KINDS = (".mp4", ".gif")
MOST = 20_000  # frames
_WAIT = 120.0  # s, for a browser on a busy machine


def checked_path(path: str | PathLike[str]) -> Path:
    """The path of a video, if it can be written."""
    if not isinstance(path, (str, PathLike)) or Path(fspath(path)).suffix.lower() not in KINDS:
        raise ValueError(f"path is {quoted(path)}, expected one that ends in {' or '.join(KINDS)}")
    if Path(path).suffix.lower() == ".mp4":
        for package in ("imageio", "imageio_ffmpeg"):
            needed(package, "MP4, unlike GIF,")
    return Path(path)


def times(span: tuple[float, float], rate: float, speed: float) -> NDArray[np.float64]:
    """The times of the frames, s."""
    begin, end = span
    for name, value in (("rate", rate), ("speed", speed)):
        if not 0 < real(name, value) < np.inf:
            raise ValueError(f"{name} is {quoted(value)}, expected more than 0")
    count = (end - begin) * rate / speed
    if not count <= MOST:
        raise ValueError(f"rate is {quoted(rate)}, expected at most {MOST} frames: at this speed there are {count:.0f}")
    return np.linspace(begin, end, max(round(count), 1) + 1)


def write_video(
    path: Path,
    server: Any,
    url: str,
    show: Callable[[float], None],
    at: NDArray[np.float64],
    rate: float,
    size: tuple[int, int],
    program: str | None,
) -> Path:
    """Writes the video and returns its path.

    Args:
        path: of the file.
        server, url: viser's, with the scene.
        show: sets the scene to a time.
        at: (F,) the times of the frames.
        rate: frames per second.
        size: width and height in pixels.
        program: path of the browser; found when left out.
    """
    width, height = whole("width", size[0], 16, 8192), whole("height", size[1], 16, 8192)
    if path.suffix.lower() == ".mp4" and (width % 2 or height % 2):
        raise ValueError(f"width and height are {width} and {height}, expected even numbers for MP4")
    show(float(at[0]))
    with Browser(width, height, path=program) as browser, _writer(path, rate) as write:
        browser.open(url)
        client = _client(server)
        _settle(client, width, height)
        for t in at:
            show(float(t))
            _drawn(client, 32, 32)  # by the time it answers, it has seen all that was sent before
            write(_drawn(client, width, height))
    return path


def _client(server: Any) -> Any:
    until = time.monotonic() + _WAIT
    while not (clients := server.get_clients()):
        if time.monotonic() > until:
            raise RuntimeError(f"the browser did not open the page within {_WAIT:g} s")
        time.sleep(0.05)
    return list(clients.values())[-1]


def _drawn(client: Any, width: int, height: int) -> Picture:
    """(height, width, 3), on white."""
    drawn = np.asarray(client.get_render(height, width, transport_format="png", timeout=_WAIT))
    if drawn.shape[-1] == 3:
        return drawn
    opaque = drawn[..., 3:].astype(np.float64) / 255
    return np.asarray(opaque * drawn[..., :3] + 255 * (1 - opaque)).round().astype(np.uint8)


def _settle(client: Any, width: int, height: int) -> None:
    """Waits until the scene is loaded: until three pictures in a row are the same, and not empty."""
    before, same, until = None, 0, time.monotonic() + _WAIT
    while same < 2 and time.monotonic() < until:
        now = _drawn(client, max(width // 4, 16), max(height // 4, 16)).astype(int)
        alike = before is not None and np.abs(now - before).max() <= 2 and np.ptp(now) > 8
        same, before = (same + 1 if alike else 0), now
        time.sleep(0.1)


@contextmanager
def _writer(path: Path, rate: float) -> Iterator[Callable[[Picture], None]]:
    """A function that adds a frame."""
    if path.suffix.lower() == ".mp4":
        imageio = needed("imageio.v2", "MP4")
        options = {"fps": rate, "codec": "libx264", "quality": 8, "pixelformat": "yuv420p", "macro_block_size": 2}
        with imageio.get_writer(str(path), format="FFMPEG", **options) as writer:
            yield writer.append_data
        return
    images = needed("PIL.Image", "GIF")
    frames: list[Any] = []
    yield lambda picture: frames.append(images.fromarray(picture).quantize(128))
    first, *rest = frames
    first.save(path, format="GIF", save_all=True, append_images=rest, duration=max(round(1000 / rate), 20), loop=0)
