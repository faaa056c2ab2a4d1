"""Factorials as doubles: 21! fits no 64-bit integer, and NumPy 1 makes arrays of objects of what it scales."""

from __future__ import annotations

import math


def factorial(k: int) -> float:
    """k!, which derivatives are divided by to get Taylor coefficients."""
    return float(math.factorial(k))
