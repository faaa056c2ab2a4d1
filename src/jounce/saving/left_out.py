"""What a file format cannot say: an error that names it, unless it is to be left out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np

from jounce._checks import near, quoted
from jounce.core_tables import BodyRecord
from jounce.errors import SaveError, SaveWarning
from jounce.parts.custom_joint import CustomJoint
from jounce.parts.joints import Primitive

_SHOWN = 5  # names in one line


class LeftOut:
    """What one file cannot say.

    Args:
        kind: name of the format.
        skip: what to leave out, as the user gave it.
        choices: what may be left out.
    """

    def __init__(self, kind: str, skip: object, choices: tuple[str, ...]) -> None:
        self.skip = _words("skip", skip, choices)
        self._kind = kind
        self._faults: dict[tuple[str, str], list[str]] = {}
        self._odd: dict[str, list[str]] = {}
        self._remarks: dict[str, list[str]] = {}

    def refuse(self, what: str, name: str, skip: str = "") -> None:
        """Notes a part that cannot be said, such as "springs of joints"; `skip` is the word that leaves it out."""
        if skip not in self.skip:
            self._faults.setdefault((what, skip), []).append(name)

    def mention(self, what: str, why: str) -> None:
        """Notes something that is left out without an error, as no motion depends on it."""
        self._odd.setdefault(why, []).append(what)

    def remark(self, what: str, name: str) -> None:
        """Notes something that not all readers of the format understand."""
        self._remarks.setdefault(what, []).append(name)

    def check_bodies(self, bodies: Iterable[BodyRecord]) -> None:
        """Refuses what no format has: soft bodies, joints given by functions, rotors."""
        for body in bodies:
            if body.soft is not None:
                self.refuse("soft bodies", body.name)
            if isinstance(body.joint, CustomJoint) or any(_displaced(p) for p in body.joint.primitives()):
                self.refuse("custom joints", body.joint_name)
            if body.joint.rotor is not None:
                self.refuse("rotors of joints", body.joint_name, "rotors")

    def check(self) -> None:
        """Raises an error if something was refused."""
        if not self._faults:
            return
        parts = [f"{what} {_listed(names)}" for (what, _), names in self._faults.items()]
        words = dict.fromkeys(skip for _, skip in self._faults if skip)
        hint = f"; skip={quoted(tuple(words) if len(words) > 1 else next(iter(words)))} leaves out" if words else ""
        all_of_them = all(skip for _, skip in self._faults)
        whose = " these" if all_of_them else f" {' and '.join(words)}" if words else ""
        raise SaveError(f"{self._kind} cannot express {'; '.join(parts)}{hint}{whose}")

    def warn(self) -> None:
        """Warns once about what was left out without an error, and about what some readers do not understand."""
        lines = [f"{_some(found)}: {why}" for why, found in self._odd.items()]
        said = [f"left out of the {self._kind}: {'; '.join(lines)}"] if lines else []
        said += [f"{what} {_listed(names)}" for what, names in self._remarks.items()]
        if said:
            warnings.warn("; ".join(said), SaveWarning, stacklevel=4)


def _displaced(primitive: Primitive) -> bool:
    return bool((primitive.start != np.eye(4)).any() or (primitive.end != np.eye(4)).any())


def _listed(names: list[str]) -> str:
    return _some([quoted(name) for name in names])


def _some(words: list[str]) -> str:
    shown = ", ".join(words[:_SHOWN])
    return shown if len(words) <= _SHOWN else f"{shown} and {len(words) - _SHOWN} more"


def _words(key: str, given: object, choices: tuple[str, ...]) -> frozenset[str]:
    """One word or several of the choices."""
    try:
        words = [given] if isinstance(given, str) else list(given)  # type: ignore[call-overload]
    except TypeError:
        words = [given]
    for word in words:
        if not isinstance(word, str) or word not in choices:
            hint = near(word, choices) if isinstance(word, str) else f"there are {', '.join(map(repr, choices))}"
            raise ValueError(f"{key} is {quoted(given)}, expected words for what to leave out: {hint}")
    return frozenset(words)
