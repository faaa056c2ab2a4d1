"""One member of a study: its number, its parameters, and random numbers of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from jounce._checks import near, quoted
from jounce.model import Model


class Member(Mapping[str, float]):
    """The parameters of one member, by name.

    Attributes:
        index: its number in the study.
        rng: random numbers that belong to this member: the same whoever computes it, and in which order.

    >>> member = Member({"payload": 0.5}, index=7, seed=0)
    >>> member["payload"], member.rng.random() == member.rng.random()
    (0.5, True)
    """

    __slots__ = ("_seed", "_values", "index")

    def __init__(self, values: Mapping[str, float], index: int, seed: int) -> None:
        self._values, self.index, self._seed = values, index, seed

    def __getitem__(self, name: str) -> float:
        try:
            return self._values[name]
        except KeyError:
            raise KeyError(f"no parameter is named {quoted(name)}: {near(str(name), self._values)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value:.4g}" for name, value in self._values.items())
        return f"<jounce.study.Member {self.index}: {values}>"

    @property
    def rng(self) -> np.random.Generator:
        """A new generator, which starts at the beginning."""
        return np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(self.index,)))


class Flight(NamedTuple):
    """What a measure looks at.

    Attributes:
        robot: as edited for this member.
        parameters: `Member`.
        motion: what the scenario returned, as a rule a `jounce.Trajectory`.
    """

    robot: Model
    parameters: Member
    motion: Any

    def show(self, **options: Any) -> Any:
        """Plays the motion in a browser; see `Trajectory.show`."""
        return self.motion.show(self.robot, **options)
