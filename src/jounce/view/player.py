"""Time in the live viewer: a slider, play and pause, speed. One thread advances the time while it plays."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

_RATE = 1 / 30  # s between frames
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")


class Player:
    """Plays from `begin` to `end`, in a loop.

    Args:
        gui: viser's.
        begin, end: s.
        show: called with the time to be shown.
        lock: of what is shown. Time moves on only under it: who holds it and pauses, or closes, sees no later time.
    """

    def __init__(
        self, gui: Any, begin: float, end: float, show: Callable[[float], None], lock: AbstractContextManager[Any]
    ) -> None:
        self._show, self._begin, self._end, self._lock = show, begin, end, lock
        self._closed = threading.Event()
        self._playing = threading.Event()
        self._playing.set()
        self._folder = gui.add_folder("Time", order=-2.0)
        with self._folder:
            step = max((end - begin) / 1000, 1e-6)
            self._slider = gui.add_slider("t [s]", min=begin, max=end, step=step, initial_value=begin)
            self._button = gui.add_button("Pause")
            self._speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        self._now = begin

        def dragged(event: Any) -> None:
            if event.client is not None:  # moved by hand: stay there
                with self._lock:
                    self.pause()
                    self._now = float(self._slider.value)
                    self._show(self._now)

        def pressed(_event: Any) -> None:
            self.pause() if self.playing else self.play()

        self._slider.on_update(dragged)
        self._button.on_click(pressed)

        self._thread = threading.Thread(target=self._run, name="jounce-player", daemon=True)
        self._thread.start()

    @property
    def playing(self) -> bool:
        return self._playing.is_set()

    def play(self) -> None:
        self._button.label = "Pause"
        self._playing.set()

    def pause(self) -> None:
        self._button.label = "Play"
        self._playing.clear()

    def go(self, now: float) -> None:
        """Goes to a time, s."""
        self._now = min(max(now, self._begin), self._end)
        self._slider.value = self._now
        self._show(self._now)

    def close(self) -> None:
        self._closed.set()
        self._playing.set()

    def join(self) -> None:
        """Waits for its thread, which may be waiting for the lock."""
        if self._thread is not threading.current_thread():
            self._thread.join(timeout=2.0)

    def remove(self) -> None:
        """Removes its controls from the page."""
        self._folder.remove()

    def _run(self) -> None:
        last = time.perf_counter()
        while not self._closed.is_set():
            if not self._playing.is_set():
                self._playing.wait()
                last = time.perf_counter()
                continue
            self._closed.wait(_RATE)
            with self._lock:
                if self._closed.is_set() or not self._playing.is_set():
                    continue
                now = time.perf_counter()
                ahead = self._now + (now - last) * float(self._speed.value)
                last = now
                self.go(self._begin if ahead > self._end else ahead)
