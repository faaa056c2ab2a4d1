"""jounce: the dynamics of robots to any order in time."""

from typing import TYPE_CHECKING, Any

from jounce import robots, soft, view
from jounce._core import MAX_ORDER, num_threads, set_num_threads
from jounce.builder import Builder
from jounce.denavit_hartenberg import from_dh
from jounce.dynamics.broken_limits import BrokenLimit, BrokenLimits
from jounce.dynamics.chosen_frames import Frames
from jounce.dynamics.constraints.constrained import ConstrainedDynamics
from jounce.dynamics.constraints.impact import Impact
from jounce.dynamics.constraints.independent_coordinates import IndependentCoordinates
from jounce.dynamics.constraints.inverse_dynamics import ConstrainedInverseDynamics
from jounce.dynamics.linearization import Linearization
from jounce.dynamics.load_path import NoEquilibrium
from jounce.dynamics.statics import Equilibrium
from jounce.errors import (
    BatchWarning,
    ConstraintError,
    ConstraintWarning,
    DiscretizationWarning,
    Error,
    LoadError,
    ModelWarning,
    PrecisionWarning,
    RangeError,
    SaveError,
    SaveWarning,
    ShapeWarning,
    SimulationError,
    SingularError,
    StabilityWarning,
)
from jounce.loading import LoadWarning, load
from jounce.model import Kinematics, Model
from jounce.parts.constraints import Contact, Distance, Gear, OnLine, OnPlane, Rolling
from jounce.parts.custom_joint import CustomJoint
from jounce.parts.inertia import Inertia
from jounce.parts.joints import (
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
from jounce.parts.placement import placement
from jounce.parts.spline import Spline
from jounce.trajectory import Trajectory
from jounce.twists import angular_first

if TYPE_CHECKING:
    from jounce.core_build import build_info
    from jounce.display.plots import plot
    from jounce.simulation.simulate import simulate

__all__ = [
    "MAX_ORDER",
    "BatchWarning",
    "BrokenLimit",
    "BrokenLimits",
    "Builder",
    "ConstrainedDynamics",
    "ConstrainedInverseDynamics",
    "ConstraintError",
    "ConstraintWarning",
    "Contact",
    "CustomJoint",
    "Cylindrical",
    "DiscretizationWarning",
    "Distance",
    "Equilibrium",
    "Error",
    "Fixed",
    "Follow",
    "Frames",
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
    "ModelWarning",
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
    "SaveError",
    "SaveWarning",
    "ShapeWarning",
    "SimulationError",
    "SingularError",
    "Spherical",
    "Spline",
    "StabilityWarning",
    "Trajectory",
    "Universal",
    "angular_first",
    "build_info",
    "control",
    "conversions",
    "from_dh",
    "load",
    "num_threads",
    "placement",
    "plot",
    "poses",
    "robots",
    "set_num_threads",
    "simulate",
    "soft",
    "study",
    "view",
]


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


_ON_DEMAND = {
    "build_info": "jounce.core_build",
    "plot": "jounce.display.plots",
    "simulate": "jounce.simulation.simulate",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":  # on demand: looking it up takes longer than the rest of the import
        from importlib.metadata import version

        return version("jounce")
    if name in ("control", "conversions", "poses", "study", *_ON_DEMAND):  # likewise
        from importlib import import_module

        return (
            getattr(import_module(_ON_DEMAND[name]), name)
            if name in _ON_DEMAND
            else import_module(f".{name}", __name__)
        )
    from jounce._elsewhere import FUNCTIONS, method_here

    method = method_here(name)
    ours = FUNCTIONS.get(name) or (f"Model.{method}" if method[:1] != "_" and hasattr(Model, method) else "")
    raise AttributeError(f"module 'jounce' has no attribute {name!r}{ours and f': that is {ours}'}")
