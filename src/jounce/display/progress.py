"""A progress bar on stderr, for what takes long."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jounce._extras import needed

_PATIENCE = 2.0  # s until a bar appears by itself
_REFRESH = 0.05  # s between updates


def can_appear() -> bool:
    """Whether a bar that was not asked for may appear: on a terminal, if rich is installed."""
    return sys.stderr.isatty() and importlib.util.find_spec("rich") is not None


@contextmanager
def progress_bar(wanted: bool | None, text: str, total: float) -> Iterator[Callable[[float], None]]:
    """A function to be told how much is done.

    Args:
        wanted: True shows a bar, False does not, None does once it has taken two seconds, if it can appear.
        text: before the bar, with rich's fields, such as {task.completed}.
        total: how much there is to do.
    """
    if not (can_appear() if wanted is None else wanted):
        yield lambda done: None
        return

    needed("rich", "a progress bar")
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn(text), BarColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=Console(stderr=True), transient=not wanted)
    task = bar.add_task("", total=total)
    due = time.monotonic() + (0.0 if wanted else _PATIENCE)

    def report(done: float) -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due or done >= total:
            if now >= due:
                bar.start()  # has no effect after the first call
            bar.update(task, completed=done)
            due = max(due, now + _REFRESH)

    try:
        yield report
    finally:
        bar.stop()
