"""``jounce demo``: paper A's section 7, its aerial manipulator on the reference motion of Table 3.

`flight` computes the forces of that motion and the motion back from them; `figures`, `looks` and `animation` show it.
The robot, its propellers and the motion are in `jounce.robots`.
"""

from jounce.demo.command import run
from jounce.demo.flight import ORDER, Flight, derivative_error, fly, round_trip_error

__all__ = [
    "ORDER",
    "Flight",
    "derivative_error",
    "fly",
    "round_trip_error",
    "run",
]
