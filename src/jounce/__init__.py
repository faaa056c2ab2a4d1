"""jounce: the dynamics of robots to any order in time."""

from importlib.metadata import version as _version

from . import robots
from ._core import MAX_ORDER, num_threads, set_num_threads
from .builder import Builder
from .inertia import Inertia
from .joints import Cylindrical, Fixed, Free, Helical, Joint, Planar, Prismatic, Revolute, Spherical, Universal
from .model import Kinematics, Model

__version__ = _version("jounce")

__all__ = [
    "MAX_ORDER",
    "Builder",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "Inertia",
    "Joint",
    "Kinematics",
    "Model",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
    "num_threads",
    "robots",
    "set_num_threads",
]
