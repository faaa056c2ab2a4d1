"""``jounce reproduce``: the papers' experiments, one file each, and every claim of their texts with a verdict.

An experiment is a module with a function ``run(output, quick, tell) -> Result``, listed in `registry`. `claims` has the
record of a claim, `printed` compares formulas to the letter, `runner` runs and prints, `report` writes the page.
`panda`, `nine_joints`, `paper_a` to `paper_d` and their neighbours are what the experiments need that the library does
not have: two robots, and what the papers write, line by line; the tests check these against truth from elsewhere. Work
is measured without a clock by `counting` and `graph`.
"""

from .claims import Claim, Result
from .registry import EXPERIMENTS, find

__all__ = ["EXPERIMENTS", "Claim", "Result", "find"]
