"""Fixtures shared by several tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jounce import _core


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs the test once for every instruction set this machine has."""
    best = _core.instruction_set()
    _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set(best)
