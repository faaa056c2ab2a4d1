"""Soft bodies: rods, bodies whose sections swell, and custom modules, in the same tree as rigid ones."""

from jounce.parts.sections import SoftBody
from jounce.recording.record import stumpff
from jounce.soft.actuators import Actuator, Chamber, Tendon
from jounce.soft.module import Module
from jounce.soft.rod import Rod
from jounce.soft.strain import Strain, constant_curvature, constant_strain, gaussian, polynomial
from jounce.soft.variable_radius import VariableRadius

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


def __dir__() -> list[str]:
    return sorted(__all__)
