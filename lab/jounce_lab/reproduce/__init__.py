"""``jounce reproduce``: the papers' experiments, one file each, and every claim of their texts with a verdict.

An experiment is a module with a function ``run(output, quick, tell) -> Result``, listed in `registry`. `claims` defines
the record of a claim, `printed` compares formulas as printed, `runner` runs and prints, `report` writes the page.
`panda`, `nine_joints`, `paper_a` to `paper_d` and related files hold what the experiments need beyond the library: two
robots, and the papers' algorithms line by line; the tests check these against independent references. `counting` and
`graph` measure work without a clock.
"""

from .claims import Claim, Result
from .registry import EXPERIMENTS, find

__all__ = ["EXPERIMENTS", "Claim", "Result", "find"]
