"""Measures of a flight that are asked for most often: each is a function of a `Flight`, and has a unit.

Rates and integrals are those of the output times of the motion: a peak between two of them is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import a_class, array_of, one_of
from jounce.model import Model
from jounce.parts.joints import Free
from jounce.parts.sections import Shape
from jounce.study.members import Flight
from jounce.trajectory import Trajectory

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TrackingError:
    """How far the motion is from a reference: of the coordinates, or of a frame's origin.

    Args:
        reference: a function of the time that gives the configuration (nq,), or the place (3,) of the frame, m.
        frame: name of a body or frame; when left out, the distance is that of the coordinates.
        norm: "peak" or "rms", over time.
    """

    reference: Callable[[float], ArrayLike]
    frame: str | None = None
    norm: Literal["peak", "rms"] = "peak"

    def __post_init__(self) -> None:
        one_of("norm", self.norm, "peak", "rms")

    @property
    def unit(self) -> str:
        return "rad" if self.frame is None else "m"

    def expect_names(self, robot: Model) -> None:
        """Raises an error if the robot does not have what is named."""
        if self.frame is not None:
            robot.frame_index(self.frame)

    def __call__(self, flight: Flight) -> float:
        robot, motion = flight.robot, _motion(flight)
        size = (robot.nq,) if self.frame is None else (3,)
        wanted = np.array([array_of("reference(t)", self.reference(t), size) for t in motion.time.tolist()])
        if self.frame is None:
            off = robot.difference(wanted, motion.q)
        else:
            off = robot.pose(self.frame, motion.q)[:, :3, 3] - wanted
        distance = np.linalg.norm(off, axis=1)
        return float(distance.max() if self.norm == "peak" else np.sqrt(np.mean(distance**2)))


@dataclass(frozen=True)
class PeakTorque:
    """The largest torque of the motors.

    Args:
        joints: names of joints; all that have motors when left out: not `Free` joints and the shapes of soft bodies.
        unit: "N" for joints that slide.
    """

    joints: Sequence[str] | None = None
    unit: str = "N m"

    def expect_names(self, robot: Model) -> None:
        """Raises an error if the robot does not have what is named."""
        _columns(robot, self.joints)

    def __call__(self, flight: Flight) -> float:
        tau = _motion(flight).tau[:, _columns(flight.robot, self.joints)]
        return float(np.abs(tau).max(initial=0.0))


@dataclass(frozen=True)
class PeakTorqueRate:
    """The largest change of a motor's torque from one output time to the next, over the time between.

    A motion keeps no exact rates: with output times too far apart this is less than the peak.

    Args:
        joints: as of `PeakTorque`.
        unit: "N/s" for joints that slide.
    """

    joints: Sequence[str] | None = None
    unit: str = "N m/s"

    def expect_names(self, robot: Model) -> None:
        """Raises an error if the robot does not have what is named."""
        _columns(robot, self.joints)

    def __call__(self, flight: Flight) -> float:
        motion = _motion(flight)
        tau = motion.tau[:, _columns(flight.robot, self.joints)]
        return float(np.abs(np.diff(tau, axis=0) / np.diff(motion.time)[:, None]).max(initial=0.0))


@dataclass(frozen=True)
class Energy:
    """The work of the motors, without what they could take back: the integral of the positive power of each.

    Args:
        joints: as of `PeakTorque`.
    """

    joints: Sequence[str] | None = None
    unit: str = "J"

    def expect_names(self, robot: Model) -> None:
        """Raises an error if the robot does not have what is named."""
        _columns(robot, self.joints)

    def __call__(self, flight: Flight) -> float:
        motion, columns = _motion(flight), _columns(flight.robot, self.joints)
        power = np.maximum(motion.tau[:, columns] * motion.v[:, columns], 0.0).sum(axis=1)
        return float(((power[1:] + power[:-1]) / 2) @ np.diff(motion.time))


@dataclass(frozen=True)
class Margin:
    """How far the motion stays from the limits of the joints: 1 in the middle or at rest, 0 at one, below 0 beyond.

    The least of all joints and times: for positions the distance to the nearer end, as a part of half the range; for
    velocities and torques what is left of the limit. Limits that a robot does not have do not count; one without any is
    an error.

    Args:
        joints: names of joints; all when left out, also a gripper's that is closed, and so has no margin.
    """

    joints: Sequence[str] | None = None
    unit: str = "1"
    worst: ClassVar[str] = "smallest"

    def expect_names(self, robot: Model) -> None:
        """Raises an error if the robot does not have what is named."""
        _named(self.joints or (), robot.coordinate)

    def __call__(self, flight: Flight) -> float:
        robot, motion = flight.robot, _motion(flight)
        at_q = slice(None) if self.joints is None else _named(self.joints, robot.position)
        at_v = slice(None) if self.joints is None else _named(self.joints, robot.coordinate)
        lower, upper = robot.lower[at_q], robot.upper[at_q]
        half, speeds, efforts = (upper - lower) / 2, robot.velocity_limit[at_v], robot.effort_limit[at_v]
        if not np.isfinite([*half, *speeds, *efforts]).any():
            who = "the robot has" if self.joints is None else "these joints have"
            raise ValueError(f"Margin is the distance to limits, and {who} none: robot.replace(limits=...)")
        q, bounded = motion.q[:, at_q], np.isfinite(half)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = [
                np.minimum(q - lower, upper - q)[:, bounded] / half[bounded],
                1 - np.abs(motion.v[:, at_v]) / speeds,
                1 - np.abs(motion.tau[:, at_v]) / efforts,
            ]
        return float(min(np.min(each, initial=1.0) for each in shares))


@dataclass(frozen=True)
class SpectralAbscissa:
    """The largest real part of the eigenvalues of the linearization at the end of the motion: stable below zero.

    Args:
        gain: a function (robot, member) -> K (nu, 2 nv) of a feedback u = -K x, as `jounce.control.lqr` returns it;
            none when left out.
    """

    gain: Callable[[Model, Any], ArrayLike] | None = None
    unit: str = "1/s"

    def __call__(self, flight: Flight) -> float:
        robot, motion = flight.robot, _motion(flight)
        lin = robot.linearize(motion.q[-1], motion.v[-1], motion.tau[-1])
        A, B = lin.reduced()
        if self.gain is not None:
            A = A - B @ array_of("gain(robot, member)", self.gain(robot, flight.parameters), (B.shape[1], A.shape[0]))
        return float(np.linalg.eigvals(A).real.max())


def _motion(flight: Flight) -> Trajectory:
    if not isinstance(flight.motion, Trajectory):
        raise ValueError(f"the scenario returned {a_class(flight.motion)}, and the measure needs a jounce.Trajectory")
    return flight.motion


def _columns(robot: Model, joints: Sequence[str] | None) -> NDArray[np.intp]:
    """Of tau: those of the joints, or of all motors."""
    if joints is None:
        ranges = [where for body, (_, where) in robot._moving() if not isinstance(body.joint, (Free, Shape))]
        return _numbers(ranges)
    return _named(joints, robot.coordinate)


def _named(joints: Sequence[str], where: Callable[[str], slice]) -> NDArray[np.intp]:
    """Where joints are in q or v."""
    return _numbers([where(name) for name in ([joints] if isinstance(joints, str) else joints)])


def _numbers(ranges: Sequence[slice]) -> NDArray[np.intp]:
    return np.concatenate([np.zeros(0, np.intp), *(np.arange(each.start, each.stop) for each in ranges)])
