"""The experiments by name. To add one, write its file and list it here."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import cast

from .claims import Result, Tell, silent


@dataclass(frozen=True)
class Experiment:
    """A part of a paper: its name, what it shows, and the module of this package that runs it."""

    name: str
    title: str
    module: str
    options: tuple[str, ...] = ()  # further arguments of its function `run`

    @property
    def paper(self) -> str:
        """Its letter."""
        return self.name[0]

    def run(self, output: Path, quick: bool = False, tell: Tell = silent, **options: object) -> Result:
        """Runs it; figures and data go into the folder `output`.

        Args:
            quick: a few seconds, on less data: for tests.
            tell: called with its progress.
            options: those of `self.options`; others are ignored.
        """
        known = {name: value for name, value in options.items() if name in self.options}
        return cast(Result, import_module(f".{self.module}", __package__).run(output, quick, tell, **known))


EXPERIMENTS = {
    e.name: e
    for e in (
        Experiment("A-fig3", "the aerial manipulator: forces to fifth order, and the motion back from them", "a_fig3"),
        Experiment(
            "A-fig4",
            "time over the number of bodies and over the order, against CasADi",
            "a_fig4",
            ("full", "authors"),
        ),
        Experiment("A-table5", "the expressions of Table 5, the closed form, passivity, Lemmas 1 and 2", "a_table5"),
        Experiment(
            "B-section5", "the linearization on SE(3) against finite differences, and through a flip", "b_section5"
        ),
        Experiment("B-fig5", "errors of finite differences over their step", "b_fig5"),
        Experiment(
            "C-panda",
            "third-order inverse dynamics of the Franka Panda, recursive and closed form",
            "c_panda",
            ("authors",),
        ),
        Experiment("C-timing", "time of the recursion and of the closed form", "c_timing"),
        Experiment("D-sim1", "rigid and soft modules; a soft arm whose radius changes, under pressure", "d_sim1"),
        Experiment(
            "D-sim2", "a tentacle of Gaussian curvature falls; time over the number of modules", "d_sim2", ("authors",)
        ),
    )
}


def find(name: str) -> Experiment:
    """The experiment of that name, case-insensitive.

    Raises:
        ValueError: there is none; the message has close matches and all names.

    >>> find("a-fig3").title
    'the aerial manipulator: forces to fifth order, and the motion back from them'
    """
    names = {key.lower(): key for key in EXPERIMENTS}
    if name.lower() in names:
        return EXPERIMENTS[names[name.lower()]]
    near = [names[key] for key in get_close_matches(name.lower(), names, cutoff=0.5)]
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise ValueError(f"no experiment is named {name!r}: {hint}There are {', '.join(EXPERIMENTS)}, and 'list' and 'all'")
