"""What was built, what runs, and what this machine could run."""

from __future__ import annotations

from dataclasses import dataclass

from jounce import _core

SETS = ("generic", "avx2", "avx512")  # from the least to the best


@dataclass(frozen=True)
class BuildInfo:
    """What the compiled core consists of: see [`jounce.build_info`][]."""

    version: str
    built: tuple[str, ...]  # instruction sets, the best last
    runs: str  # the one in use
    machine: tuple[str, ...]  # those that this machine can run, built or not
    small_baseline: bool  # whether "generic" is a fallback that is slow beyond order zero and in batches

    def __str__(self) -> str:
        built = [f"{name} (small)" if name == "generic" and self.small_baseline else name for name in self.built]
        return (
            f"jounce {self.version}: {self.runs} kernels run; built: {', '.join(built)}; "
            f"this machine can run: {', '.join(self.machine)}"
        )


def build_info() -> BuildInfo:
    """Which instruction sets the core was built for, which one runs, and which this machine could run.

    A build from source has kernels for the best set of the machine that builds, and a small baseline, "generic", for
    machines without it. `pip install . --config-settings=cmake.define.JOUNCE_KERNELS=all` builds all of them.

    Examples:
        >>> import jounce as jn
        >>> info = jn.build_info()
        >>> info.runs in info.built and info.runs in info.machine
        True
    """
    from importlib.metadata import version

    machine = SETS[: SETS.index(_core.machine_instruction_set()) + 1]
    return BuildInfo(
        version("jounce"),
        tuple(_core.built_instruction_sets()),
        _core.instruction_set(),
        machine,
        _core.has_few_rings(),
    )
