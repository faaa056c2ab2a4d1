"""Soft bodies: rods, bodies whose sections swell, and modules of your own, in the same tree as rigid ones."""

from .actuators import Actuator, Chamber, Tendon
from .body import SoftBody
from .module import Module
from .record import stumpff
from .rod import Rod
from .strain import Strain, constant_curvature, constant_strain, gaussian, polynomial
from .variable_radius import VariableRadius

__all__ = [
    "Actuator",
    "Chamber",
    "Module",
    "Rod",
    "SoftBody",
    "Strain",
    "Tendon",
    "VariableRadius",
    "constant_curvature",
    "constant_strain",
    "gaussian",
    "polynomial",
    "stumpff",
]
