"""jounce: the dynamics of robots to any order in time."""

from typing import Any

from . import robots, soft
from ._core import MAX_ORDER, num_threads, set_num_threads
from .builder import Builder
from .constrained import ConstrainedDynamics
from .constrained_inverse_dynamics import ConstrainedInverseDynamics
from .constraints import Contact, Distance, Gear, OnLine, OnPlane, Rolling
from .custom_joint import CustomJoint
from .errors import (
    ConstraintError,
    ConstraintWarning,
    Error,
    LoadError,
    PrecisionWarning,
    RangeError,
    SimulationError,
    SingularError,
)
from .impact import Impact
from .independent_coordinates import IndependentCoordinates
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
    Rotor,
    Spherical,
    Universal,
)
from .linearization import Linearization
from .loading import LoadWarning, load
from .model import Kinematics, Model
from .simulation import simulate
from .spline import Spline
from .statics import Equilibrium, NoEquilibrium
from .trajectory import Trajectory

__all__ = [
    "MAX_ORDER",
    "Builder",
    "ConstrainedDynamics",
    "ConstrainedInverseDynamics",
    "ConstraintError",
    "ConstraintWarning",
    "Contact",
    "CustomJoint",
    "Cylindrical",
    "Distance",
    "Equilibrium",
    "Error",
    "Fixed",
    "Follow",
    "Free",
    "Gear",
    "Helical",
    "Impact",
    "IndependentCoordinates",
    "Inertia",
    "Joint",
    "Kinematics",
    "Limits",
    "Linearization",
    "LoadError",
    "LoadWarning",
    "Model",
    "NoEquilibrium",
    "OnLine",
    "OnPlane",
    "Planar",
    "PrecisionWarning",
    "Prismatic",
    "RangeError",
    "Revolute",
    "Rolling",
    "Rotor",
    "SimulationError",
    "SingularError",
    "Spherical",
    "Spline",
    "Trajectory",
    "Universal",
    "control",
    "conversions",
    "load",
    "num_threads",
    "robots",
    "set_num_threads",
    "simulate",
    "soft",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":  # when asked for: finding it out takes longer than all the rest of the import
        from importlib.metadata import version

        return version("jounce")
    if name in ("control", "conversions"):  # likewise
        from importlib import import_module

        return import_module(f".{name}", __name__)
    raise AttributeError(f"module 'jounce' has no attribute {name!r}")
