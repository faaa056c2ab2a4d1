"""Videos: a browser without a window draws one frame after the other."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted, real, whole
from jounce._extras import needed
from jounce.display.progress import progress_bar
from jounce.view.browser import Browser
from jounce.view.camera import await_camera
from jounce.view.film_files import Picture, check_size, film, frame_count

MOST = 20_000  # frames
_WAIT = 120.0  # s, for a browser on a busy machine
_AHEAD = 3  # pictures that are drawn and not yet written
_CLOCK = "/number of the frame"  # a node, which says it by its position
_ARRIVED = """new Promise(done => {
    const soon = () => requestAnimationFrame(() => requestAnimationFrame(done));  // arrows are reshaped a picture later
    const look = () => window.__viserMutable.nodePoseData[%s]?.position[0] === %d ? soon() : setTimeout(look, 1);
    look();
})"""
_OUT_OF_SIGHT = "document.body.style.transform = 'translateX(200vw)'"


class Frames(NamedTuple):
    """The times of the frames of a film, s, and how many of them it has per second."""

    at: NDArray[np.float64]
    rate: float


def frames(path: Path, span: tuple[float, float], rate: float, speed: float) -> Frames:
    """Of a film that lasts as long as the motion, whose frames each show what is when they begin.

    Args:
        path: of the film.
        span: first and last time of the motion, s.
        rate: frames per second, about: a film has a whole number of them.
        speed: seconds of the motion per second of the film.
    """
    begin, end = span
    for name, value in (("rate", rate), ("speed", speed)):
        if not 0 < real(name, value) < np.inf:
            raise ValueError(f"{name} is {quoted(value)}, expected more than 0")
    seconds = (end - begin) / speed
    if not seconds * rate <= MOST:
        raise ValueError(
            f"rate is {quoted(rate)}, expected at most {MOST} frames: at this speed there are {seconds * rate:.0f}"
        )
    count = frame_count(path, seconds, rate)
    return Frames(begin + (end - begin) * np.arange(count) / count, count / seconds if seconds > 0 else rate)


def write_video(
    path: Path,
    server: Any,
    url: str,
    show: Callable[[float], None],
    shown: Frames,
    size: tuple[int, int],
    program: str | None,
    progress: bool | None,
) -> Path:
    """Writes the video and returns its path.

    Args:
        path: of the file.
        server, url: viser's, with the scene.
        show: sets the scene to a time.
        shown: the frames.
        size: width and height in pixels.
        program: path of the browser; found when left out.
        progress: whether a bar is shown; when left out, if it takes long.
    """
    width, height = whole("width", size[0], 16, 8192), whole("height", size[1], 16, 8192)
    check_size(path, width, height)
    show(float(shown.at[0]))
    clock = server.scene.add_frame(_CLOCK, show_axes=False)
    said = "video: {task.completed} of {task.total} frames"
    try:
        with (
            Browser(width, height, path=program) as browser,
            film(path, shown.rate) as write,
            ThreadPoolExecutor(1) as writer,
            progress_bar(progress, said, len(shown.at)) as report,
        ):
            browser.open(f"{url}?fixedDpr=1")  # without it, a page that takes long draws fewer pixels than asked for
            client = _client(server)
            settle(server, client, width, height, time.monotonic() + _WAIT)
            report(0)
            browser.ask(_OUT_OF_SIGHT)  # from now on the page draws what it is asked for and nothing else
            unwritten: deque[Future[None]] = deque()
            for number, t in enumerate(shown.at, start=1):
                with server.atomic():
                    show(float(t))
                    clock.position = (number, 0.0, 0.0)
                server.flush()
                browser.ask(_ARRIVED % (json.dumps(_CLOCK), number))  # and so has all that was sent before
                unwritten.append(writer.submit(write, _drawn(client, width, height)))
                while len(unwritten) > (_AHEAD if number < len(shown.at) else 0):
                    unwritten.popleft().result()
                report(number)
    finally:
        clock.remove()
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
    drawn = client.get_render(height, width, transport_format="png", timeout=_WAIT)
    images: Any = needed("PIL.Image", "a film")
    white, picture = images.new("RGB", (width, height), "white"), images.fromarray(drawn)
    white.paste(picture, mask=picture.getchannel(3) if drawn.shape[-1] == 4 else None)
    return np.asarray(white)


def settle(server: Any, client: Any, width: int, height: int, until: float) -> None:
    """Waits until the scene is loaded: until three pictures in a row are the same, and not empty.

    until: what `time.monotonic` says at the latest.
    """
    await_camera(server, client, until)
    before, same = None, 0
    while same < 2 and time.monotonic() < until:
        now = _drawn(client, max(width // 4, 16), max(height // 4, 16)).astype(int)
        alike = before is not None and np.abs(now - before).max() <= 2 and np.ptp(now) > 8
        same, before = (same + 1 if alike else 0), now
        time.sleep(0.1)
