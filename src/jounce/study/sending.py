"""A study as bytes, for other processes: pickled once, with functions of scripts and notebooks by value."""

from __future__ import annotations

import os
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
    try:
        return bytes(pickle.dumps(study))
    except Exception as whole:
        parts: dict[str, Any] = {"robot": study.robot, "scenario": study.scenario}
        for what, several in (("parameter", study.parameters), ("edit", study.edits), ("measure", study.measures)):
            parts |= {f"{what} {quoted(name)}": each for name, each in several.items()}
        for name, each in parts.items():
            try:
                pickle.dumps(each)
            except Exception as fault:
                raise StudyError(
                    f"{name} is {quoted(each)}, which cannot be sent to other processes: {fault}; workers=1 computes "
                    "in this one"
                ) from None
        raise StudyError(f"the study cannot be sent to other processes: {whole}") from None


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
