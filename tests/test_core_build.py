"""What the core was built with, and the word for those who run less than their machine can."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import jounce as jn
from jounce import _core
from jounce.core_build import BuildInfo

AVX2 = "avx2" in jn.build_info().machine


@pytest.fixture
def baseline() -> Iterator[None]:
    """As if nothing better than the baseline had been built."""
    best = _core.instruction_set()
    _core.use_instruction_set("generic", by_default=True)
    yield
    _core.use_instruction_set(best)


def batch() -> np.ndarray:
    robot = jn.robots.aerial_manipulator()
    return robot.inverse_dynamics(np.tile(robot.neutral(), (3, 1)), np.zeros((3, 2, robot.nv)))


def test_what_runs_was_built_and_is_the_best_of_this_machine() -> None:
    info = jn.build_info()
    assert info.built[0] == info.machine[0] == "generic"
    assert info.runs == [name for name in info.built if name in info.machine][-1]
    assert _core.instruction_sets() == [name for name in info.built if name in info.machine]


def test_the_line_names_all_of_it() -> None:
    info = BuildInfo("1.2", ("generic", "avx512"), "generic", ("generic", "avx2"), small_baseline=True)
    assert str(info) == (
        "jounce 1.2: generic kernels run; built: generic (small), avx512; this machine can run: generic, avx2"
    )


@pytest.mark.skipif(not AVX2, reason="this machine has nothing better than the baseline")
def test_the_first_batch_on_the_baseline_warns(baseline: None) -> None:
    robot = jn.robots.aerial_manipulator()
    robot.inverse_dynamics(robot.neutral(), np.zeros((2, robot.nv)))  # one state: not a word
    with pytest.warns(RuntimeWarning, match=r"pip install --force-reinstall --no-deps \."):
        batch()
    batch()  # once is enough


@pytest.mark.skipif(not AVX2, reason="this machine has nothing better than the baseline")
def test_a_warning_that_is_an_error_ends_the_call(baseline: None) -> None:
    with pytest.raises(RuntimeWarning, match="several times"):
        batch()
    assert batch().shape == (3, 1, 12)


def test_those_who_ask_for_the_baseline_are_not_warned() -> None:
    best = _core.instruction_set()
    _core.use_instruction_set("generic")
    try:
        batch()
    finally:
        _core.use_instruction_set(best)
