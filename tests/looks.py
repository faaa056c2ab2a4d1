"""How long a call goes on without looking whether a signal has arrived: what Ctrl-C waits for.

A timer of processor time sends signals; Python answers each at the next look. What is counted is processor time between
two answers, whatever else the machine does meanwhile.
"""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

EVERY = 0.005  # s between two signals


def longest(call: Callable[[], object]) -> tuple[float, int]:
    """The most processor time between two looks during a call, s, and how many looks there were."""
    looks = [time.process_time()]

    def look(number: int, frame: FrameType | None) -> None:
        looks.append(time.process_time())

    before: Any = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        call()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    looks.append(time.process_time())
    return max(b - a for a, b in itertools.pairwise(looks)), len(looks) - 2
