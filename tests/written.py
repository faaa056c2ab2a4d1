"""Robots that were written to a file and read back, with the coordinates of one mapped to the other by name."""

from __future__ import annotations

import warnings

import numpy as np

import jounce as jn
from jounce.dynamics.named_coordinates import names


def loaded(text: str, **options: object) -> jn.Model:
    """The robot of a text, whatever is odd about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        return jn.load(text, **options)


def own_name(name: str, known: tuple[str, ...]) -> str:
    """The name before it was written, of a joint that had that of a link."""
    return name if name in known else name.replace("_joint", "", 1)


class Twins:
    """A robot and what became of it."""

    def __init__(self, robot: jn.Model, other: jn.Model) -> None:
        self.robot, self.other = robot, other
        mine, others = names(robot), names(other)
        self.q = np.array([mine.q.index(own_name(name, mine.q)) for name in others.q], int)
        self.v = np.array([mine.v.index(own_name(name, mine.v)) for name in others.v], int)

    def faults(self, seed: int = 0, states: int = 4) -> list[str]:
        """The answers that differ by more than rounding."""
        rng = np.random.default_rng(seed)
        q = self.robot.random_configuration(rng, states)
        v, a = rng.normal(size=(2, states, self.robot.nv))
        calls = {
            "inverse_dynamics": (v, a),
            "mass_matrix": (),
            "gravity_force": (),
            "elastic_force": (),
            "damping_force": (v,),
        }
        found = []
        for call, rest in calls.items():
            mine = getattr(self.robot, call)(q, *rest)
            others = getattr(self.other, call)(q[:, self.q], *(x[:, self.v] for x in rest))
            expected = mine[:, self.v][:, :, self.v] if call == "mass_matrix" else mine[:, self.v]
            if not np.abs(others - expected).max(initial=0) <= 1e-12 * max(1.0, np.abs(expected).max(initial=0)):
                found.append(call)
        for frame in self.robot.frame_names:
            if np.abs(self.robot.pose(frame, q) - self.other.pose(frame, q[:, self.q])).max() > 1e-12:
                found.append(f"pose of {frame}")
        for key in ("lower", "upper"):
            if not np.array_equal(getattr(self.other, key), getattr(self.robot, key)[self.q]):
                found.append(key)
        if not np.array_equal(self.other.effort_limit, self.robot.effort_limit[self.v]):
            found.append("effort_limit")
        return found
