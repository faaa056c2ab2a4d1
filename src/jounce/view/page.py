"""A recording in one self-contained HTML file: viser's client with the scene inside."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Sequence
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any

import numpy as np

from jounce._checks import printable, quoted, real
from jounce.dynamics.interruptible import aside
from jounce.view.style import RGB

MOST = 20_000  # frames in a page
_PIECE = 3 << 21  # bytes, a multiple of the three that base64 makes four letters of
_HERE = b"the recording of jounce"
_OTHERS = dict.fromkeys((".gif", ".mp4", ".mov", ".webm", ".avi"), "trajectory.video makes films") | dict.fromkeys(
    (".png", ".jpg", ".jpeg", ".webp", ".svg", ".pdf"), "viewer.picture saves what a browser shows"
)
_STEADY = "<style>canvas{opacity:1!important}</style>"  # viser's client fades in each time a recording starts again
_CORNER = (
    "position:fixed;left:16px;bottom:60px;z-index:10;pointer-events:none;padding:10px 14px;border-radius:10px;"
    "background:rgba(255,255,255,.82);color:#1f2933;font:13px/1.6 system-ui,sans-serif;"
    "box-shadow:0 4px 18px rgba(31,41,51,.10)"
)


def legend_lines(legend: Sequence[tuple[RGB, str]]) -> str:
    """As HTML, one line each."""
    mark = '<span style="display:inline-block;width:14px;height:4px;border-radius:2px;margin-right:8px;'
    return "".join(
        f'<div>{mark}vertical-align:3px;background:rgb({red},{green},{blue})"></span>{html.escape(printable(label))}</div>'
        for (red, green, blue), label in legend
    )


def page_path(save: str | PathLike[str]) -> Path:
    """The path of a page, unless its name is that of another kind of file."""
    if not isinstance(save, (str, PathLike)):
        raise ValueError(f"save is {quoted(save)}, expected a path")
    path = Path(fsdecode(save))
    made_by = _OTHERS.get(path.suffix.lower())
    if made_by is not None:
        raise ValueError(f"save is {quoted(save)}, expected the name of a page, such as {path.stem}.html: {made_by}")
    return path


def write_page(
    server: Any,
    path: str | PathLike[str],
    title: str,
    legend: Sequence[tuple[RGB, str]],
    span: tuple[float, float],
    show: Callable[[float], None],
    rate: float,
) -> Path:
    """Writes the page and returns its path.

    Args:
        server: viser's, with the scene.
        path: of the file, under exactly that name.
        title: of the page.
        legend: colours and what they mean, in a corner of the page.
        span: s, first and last time; the same for a robot that does not move.
        show: sets the scene to a time.
        rate: frames per second.
    """
    target = page_path(path)
    begin, end = span
    if not 0 < real("rate", rate) <= 1000 or (end - begin) * rate > MOST:
        raise ValueError(
            f"rate is {quoted(rate)}, expected frames per second, more than 0 and at most {MOST} in {end - begin:g} s"
        )
    count = max(round((end - begin) * rate), 1) if end > begin else 0
    show(begin)
    recording = server.get_scene_serializer()
    for earlier, now in zip(*(np.linspace(begin, end, count + 1)[s] for s in (slice(-1), slice(1, None))), strict=True):
        recording.insert_sleep(float(now - earlier))
        show(float(now))
    if count:
        recording.insert_sleep(0.5)  # a pause at the end before it starts again
    head = f"<title>{html.escape(printable(title))}</title>{_STEADY}"
    corner = f'<aside style="{_CORNER}">{legend_lines(legend)}</aside>' if legend else ""
    content = memoryview(aside(recording.serialize))
    recording.serialize = lambda: _HERE  # for the page around it: all of it at once would be copied several times
    before, here, after = recording.as_html().partition(base64.b64encode(_HERE).decode())
    assert here
    before = before.replace("<title>Viser</title>", head, 1)
    after, close, rest = after.rpartition("</body>")
    with target.open("wb") as file:
        file.write(before.encode())
        for at in range(0, len(content), _PIECE):
            file.write(base64.b64encode(content[at : at + _PIECE]))
        file.write("".join((after, corner, close, rest)).encode())
    return target
