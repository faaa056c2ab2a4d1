"""What all errors of jounce's own have in common, and those that several parts of it raise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jounce.trajectory import Trajectory


class Error(Exception):
    """All errors that jounce defines; each is a ``ValueError`` or a ``RuntimeError``, too."""


class LoadError(Error, ValueError):
    """A file that is not what it should be, a robot or a trajectory: names the file and the fault."""


class SingularError(Error, ValueError):
    """Equations that have no answer, or none in double precision."""


class RangeError(SingularError):
    """An answer that is no number, as numbers on the way to it exceed double precision."""


class ConstraintError(SingularError):
    """Constraints that no motion obeys, or that lose rank where derivatives are asked for: names the constraint."""


class ConstraintWarning(RuntimeWarning):
    """Constraints that lose rank in a configuration, as at a dead centre: the motion is not the only one."""


class PrecisionWarning(RuntimeWarning):
    """An answer that rounding has made worse than usual: says by how much, and which joint it comes from."""


class SimulationError(Error, RuntimeError):
    """A motion that could not be followed to its end; the message says when and why.

    Attributes:
        trajectory: `Trajectory` of what was found: the output times that were reached and, after them, the last state.
    """

    def __init__(self, message: str, trajectory: Trajectory) -> None:
        super().__init__(message)
        self.trajectory = trajectory

    def __reduce__(self) -> tuple[Any, ...]:  # an error has to come back from another process
        return type(self), (*self.args, self.trajectory)
