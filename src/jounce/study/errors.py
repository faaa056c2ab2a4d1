"""Errors of studies."""

from __future__ import annotations

from jounce.errors import Error


class StudyError(Error, RuntimeError):
    """A study that cannot begin or go on; the message says why, and what of it is stored."""


class MemberError(Error, RuntimeError):
    """Raised by a scenario or a measure of yours to say that this member failed, and why: "it fell at 1.2 s".

    The study goes on; the member has the status "failed" and this reason.
    """
