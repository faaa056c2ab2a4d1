"""Studies: many robots and flights, on the cores of this machine or on a cluster.

Needs Python 3.11 or newer and ``pip install 'jounce[study]'``.
"""

from jounce.study.description import Study
from jounce.study.edits import Drive, Gravity, Limit, Mass, Payload
from jounce.study.errors import MemberError, StudyError
from jounce.study.measures import Energy, Margin, PeakTorque, PeakTorqueRate, SpectralAbscissa, TrackingError
from jounce.study.members import Flight, Member
from jounce.study.parameters import Distribution, Drawn, Grid, LogUniform, Normal, Uniform
from jounce.study.plots import plot, plot_convergence, plot_indices, plot_map
from jounce.study.reading import convergence, failures, quantiles, sobol_indices, unstacked, worst
from jounce.study.report import report
from jounce.study.store import read

__all__ = [
    "Distribution",
    "Drawn",
    "Drive",
    "Energy",
    "Flight",
    "Gravity",
    "Grid",
    "Limit",
    "LogUniform",
    "Margin",
    "Mass",
    "Member",
    "MemberError",
    "Normal",
    "Payload",
    "PeakTorque",
    "PeakTorqueRate",
    "SpectralAbscissa",
    "Study",
    "StudyError",
    "TrackingError",
    "Uniform",
    "convergence",
    "failures",
    "plot",
    "plot_convergence",
    "plot_indices",
    "plot_map",
    "quantiles",
    "read",
    "report",
    "sobol_indices",
    "unstacked",
    "worst",
]


def __dir__() -> list[str]:
    return sorted(__all__)
