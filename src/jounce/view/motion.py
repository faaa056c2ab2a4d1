"""A motion to be shown: states at any time between samples, on the configuration manifold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted
from jounce.dynamics.named_coordinates import names
from jounce.model import Model
from jounce.trajectory import Trajectory

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Motion:
    """Configurations q (T, nq) and velocities v (T, nv) of a robot at times (T,); with T = 1, it does not move."""

    robot: Model
    time: Array
    q: Array
    v: Array | None

    @staticmethod
    def of(name: str, robot: Model, trajectory: Trajectory) -> Motion:
        """The motion of a trajectory, which must belong to this robot."""
        if not isinstance(trajectory, Trajectory):
            raise ValueError(f"{name} is {quoted(trajectory)}, expected a jounce.Trajectory")
        if trajectory.q_names != names(robot).q:
            raise ValueError(
                f"{name} has coordinates {quoted(trajectory.q_names)}, expected those of the robot, "
                f"{quoted(names(robot).q)}"
            )
        if not len(trajectory):
            raise ValueError(f"{name} has no times, expected at least one")
        if not (np.diff(trajectory.time) > 0).all() or not np.isfinite(trajectory.time).all():
            raise ValueError(f"{name} has times that do not increase, expected increasing ones")
        for key in ("q", "v"):
            if not np.isfinite(getattr(trajectory, key)).all():
                raise ValueError(f"{name}.{key} contains nan or inf, expected finite numbers")
        return Motion(robot, trajectory.time, trajectory.q, trajectory.v)

    def sample(self, time: float) -> float:
        """A time as a fractional sample index; constant before the first and after the last sample."""
        if len(self.time) == 1:
            return 0.0
        return float(np.interp(time, self.time, np.arange(len(self.time))))

    def at(self, time: float) -> tuple[Array, Array | None]:
        """q (nq,) and v (nv,) at a time in s."""
        return self.at_sample(self.sample(time))

    def at_sample(self, sample: float) -> tuple[Array, Array | None]:
        """The same at a fractional sample index."""
        low = min(int(sample), len(self.time) - 1)
        part = sample - low
        if part == 0:
            return self.q[low], None if self.v is None else self.v[low]
        step = self.robot.difference(self.q[low], self.q[low + 1])
        q = self.robot.integrate(self.q[low], part * step)
        return q, None if self.v is None else (1 - part) * self.v[low] + part * self.v[low + 1]
