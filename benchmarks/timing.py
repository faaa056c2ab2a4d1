"""How the benchmarks measure."""

from __future__ import annotations

import timeit
from collections.abc import Callable

import numpy as np


def microseconds(calls: dict[str, Callable[[], object]], samples: int = 40, window: float = 2e-3) -> dict[str, float]:
    """Best time of each call, the calls taking turns; a sample repeats a call for about `window` seconds.

    Where other work interrupts, many short samples find the best time sooner than a few long ones.
    """
    for call in calls.values():
        call()
    number = {name: max(1, int(window / timeit.timeit(call, number=4) * 4)) for name, call in calls.items()}
    best = dict.fromkeys(calls, np.inf)
    for _ in range(samples):
        for name, call in calls.items():
            best[name] = min(best[name], timeit.timeit(call, number=number[name]) / number[name] * 1e6)
    return best
