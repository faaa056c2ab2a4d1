"""``jounce demo``: paper A's section 7, its aerial manipulator on the reference motion of Table 3.

`motion` defines the motion, `flight` computes its forces and the motion back from them, `rotors` models the propellers;
`figures`, `looks` and `animation` show it.
"""

from jounce.demo.command import run
from jounce.demo.flight import ORDER, Flight, derivative_error, fly, round_trip_error
from jounce.demo.motion import HORIZON, STEP, reference_motion
from jounce.demo.rotors import TiltHex

__all__ = [
    "HORIZON",
    "ORDER",
    "STEP",
    "Flight",
    "TiltHex",
    "derivative_error",
    "fly",
    "reference_motion",
    "round_trip_error",
    "run",
]
