"""The base class of jounce's errors, and those that several of its parts raise."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

from jounce._printable import printable_lines

if TYPE_CHECKING:
    from jounce.trajectory import Trajectory


class Printable:
    """An error or a warning whose text moves no cursor and sets no colours, whatever names from files are in it."""

    def __init__(self, *args: object) -> None:
        super().__init__(*map(printable_lines, args))


class Error(Printable, Exception):
    """Base class of all errors that jounce defines; each is also a ``ValueError`` or a ``RuntimeError``."""


class LoadError(Error, ValueError):
    """A file that is not a valid robot or trajectory; the message names the file and the fault."""


class MissingFileError(LoadError, FileNotFoundError):
    """A file that does not exist: both a `LoadError` and a ``FileNotFoundError``.

    Attributes:
        filename: as it was given.
    """

    def __init__(self, message: str, filename: str) -> None:
        OSError.__init__(self, errno.ENOENT, printable_lines(message), filename)

    def __str__(self) -> str:
        return str(self.strerror)

    def __reduce__(self) -> tuple[Any, ...]:  # errors must survive pickling between processes
        return type(self), (self.strerror, self.filename)


class SaveError(Error, ValueError):
    """A robot that a file format cannot express, or a file that cannot be written; the message names what and why."""


class ModelWarning(Printable, UserWarning):
    """A robot that was made or changed in a way that looks right but is rarely meant; the message says what it is."""


class BatchWarning(Printable, UserWarning):
    """A stack of derivatives that has the shape of one row per state; the message says how to mean either."""


class SaveWarning(Printable, UserWarning):
    """Something of no effect on the motion, such as a picture, that was left out of a written file."""


class SingularError(Error, ValueError):
    """Equations that have no solution, or none in double precision."""


class RangeError(SingularError):
    """A result that is not finite, as intermediate numbers overflow double precision."""


class ConstraintError(SingularError):
    """Constraints that no motion obeys, or that lose rank where derivatives are needed; the message names one."""


class ConstraintWarning(Printable, RuntimeWarning):
    """Constraints that lose rank in a configuration, as at a dead centre: the motion is not unique."""


class PrecisionWarning(Printable, RuntimeWarning):
    """A result less accurate than usual due to rounding; the message says by how much, and which joint is the cause."""


class DiscretizationWarning(PrecisionWarning):
    """A soft body has too few nodes for how it is bent; the message says by how much, and how many would do."""


class ShapeWarning(Printable, RuntimeWarning):
    """A soft body that is inside out, as no body can be; the message says where."""


class StabilityWarning(Printable, RuntimeWarning):
    """An equilibrium that a robot would not have come to, as it loses stability on the way; the message says where."""


class SimulationError(Error, RuntimeError):
    """A motion that could not be followed to its end; the message says when and why.

    Attributes:
        trajectory: `Trajectory` up to there: the output times that were reached and, after them, the last state.
    """

    def __init__(self, message: str, trajectory: Trajectory) -> None:
        super().__init__(message)
        self.trajectory = trajectory

    def __reduce__(self) -> tuple[Any, ...]:  # errors must survive pickling between processes
        return type(self), (*self.args, self.trajectory)
