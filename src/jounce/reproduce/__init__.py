"""``jounce reproduce``: the papers' experiments, one file each, and every claim of their texts with a verdict.

An experiment is a module with a function ``run(output, quick, tell) -> Result``, listed in `registry`. `claims` has the
record of a claim, `runner` runs and prints, `report` writes the page. `panda`, `nine_joints`, `paper_a`, `paper_c` and
`paper_d` are what the experiments need that the library does not have: two robots, and the papers' recursions. Work is
measured without a clock by `counting` and `graph`.
"""

from .claims import Claim, Result
from .registry import EXPERIMENTS, find

__all__ = ["EXPERIMENTS", "Claim", "Result", "find"]
