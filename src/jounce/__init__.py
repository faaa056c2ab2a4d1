"""jounce: the dynamics of robots to any order in time."""

from . import robots
from ._core import MAX_ORDER, num_threads, set_num_threads
from .builder import Builder
from .inertia import Inertia
from .joints import (
    Cylindrical,
    Fixed,
    Follow,
    Free,
    Helical,
    Joint,
    Limits,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from .linearization import Linearization
from .loading import LoadError, LoadWarning, load
from .model import Kinematics, Model
from .simulation import simulate
from .trajectory import Trajectory

__all__ = [
    "MAX_ORDER",
    "Builder",
    "Cylindrical",
    "Fixed",
    "Follow",
    "Free",
    "Helical",
    "Inertia",
    "Joint",
    "Kinematics",
    "Limits",
    "Linearization",
    "LoadError",
    "LoadWarning",
    "Model",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Trajectory",
    "Universal",
    "load",
    "num_threads",
    "robots",
    "set_num_threads",
    "simulate",
]


def __getattr__(name: str) -> str:
    if name == "__version__":  # when asked for: finding it out takes longer than all the rest of the import
        from importlib.metadata import version

        return version("jounce")
    raise AttributeError(f"module 'jounce' has no attribute {name!r}")
