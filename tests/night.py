"""Cases of tests that are left to the night, when there is time for all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest


def nightly(cases: Iterable[object], but: Collection[object]) -> list[object]:
    """These cases as parameters of a test, for the night but for some."""
    return [case if case in but else pytest.param(case, marks=pytest.mark.night) for case in cases]
