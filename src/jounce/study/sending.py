"""A study as bytes, for other processes: pickled once.

Functions travel by name, and by value where other processes cannot find them by name: those of scripts, of notebooks,
and of modules that were not imported from the path, such as the tests of a user.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from jounce._checks import quoted
from jounce._extras import needed
from jounce.study.description import Study
from jounce.study.errors import StudyError


def sent(study: Study) -> bytes:
    """The study, pickled.

    Raises:
        StudyError: part of it cannot be; the message says which.
    """
    pickle = needed("cloudpickle", "a study")
    parts: dict[str, Any] = {"robot": study.robot, "scenario": study.scenario}
    for what, several in (("parameter", study.parameters), ("edit", study.edits), ("measure", study.measures)):
        parts |= {f"{what} {quoted(name)}": each for name, each in several.items()}
    try:
        with _by_value(pickle, parts.values()):
            return bytes(pickle.dumps(study))
    except Exception as whole:
        for name, each in parts.items():
            try:
                pickle.dumps(each)
            except Exception as fault:
                raise StudyError(
                    f"{name} is {quoted(each)}, which cannot be sent to other processes: {fault}; workers=1 computes "
                    "in this one"
                ) from None
        raise StudyError(f"the study cannot be sent to other processes: {whole}") from None


@contextmanager
def _by_value(pickle: Any, parts: Iterable[Any]) -> Iterator[None]:
    """Meanwhile, modules of these parts that cannot be imported are pickled by value."""
    names = {str(getattr(each, "__module__", None)) for each in parts}
    known = set(pickle.list_registry_pickle_by_value())
    there = [sys.modules[name] for name in names - known if name in sys.modules and not _can_be_imported(name)]
    for module in there:
        pickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in there:
            pickle.unregister_pickle_by_value(module)


def _can_be_imported(name: str) -> bool:
    """From the path, whatever has been imported already."""
    outermost = name.partition(".")[0]
    return any(each.find_spec(outermost, None) is not None for each in sys.meta_path)


def received(study: bytes) -> Study:
    """In the other process.

    Raises:
        StudyError: there is a function of a module that is not there.
    """
    import pickle

    try:
        found: Study = pickle.loads(study)
    except Exception as fault:
        raise StudyError(
            f"process {os.getpid()} cannot read the study: {type(fault).__name__}: {fault}; modules of yours must be "
            "installed where members are computed"
        ) from None
    return found
