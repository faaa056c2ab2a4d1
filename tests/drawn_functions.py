"""The counterpart of `drawn_calls` for all public functions and classes other than a robot's calls: `odd_values` has
good arguments, and odd ones to replace them.
"""

from __future__ import annotations

import inspect
import os
import re
import tempfile
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import numpy as np

import differences
import jounce as jn
from calls import outcome, says, signature
from differences import LAYOUTS
from drawn_calls import OVERFLOWS, described
from jounce import control, conversions, poses, robots, soft
from odd_values import CALLS, ODD, PYTHONS_OWN, TO_THE_CORE, mujoco

# Public, but not in the table: results of calls, base classes for users, and errors.
GIVEN_BACK = {"Equilibrium", "Frames", "Kinematics", "Linearization", "Model", "Regulator", "TrackingRegulator"}
GIVEN_BACK |= {
    "BrokenLimit",
    "BrokenLimits",
    "ConstrainedDynamics",
    "ConstrainedInverseDynamics",
    "Impact",
    "IndependentCoordinates",
}
BASES = {"Joint", "Module", "SoftBody", "Strain"}
OF_ANOTHER_LIBRARY = {"Pinocchio"}  # has all its methods in common with MuJoCo
WITHOUT_ARGUMENTS = {"build_info", "num_threads"}
PATHS = {"load", "to_mjcf", "to_urdf", "with_limits"}  # a string may be one
NUMPYS_WORDS = (
    "inhomogeneous|ambiguous|could not be broadcast|cannot reshape|matmul|einsum|for axis|array element|Exceeds the"
)


def public_functions() -> dict[str, object]:
    """All public functions and classes, except a robot's methods."""
    found = {}
    for module in (jn, soft, robots, control, conversions, poses):
        for name in module.__all__:
            one = getattr(module, name)
            own = callable(one) and hasattr(one, "__module__")
            if not name.startswith("_") and own and one.__module__.startswith(("jounce", module.__name__)):
                found[name] = one
    return {
        name: one for name, one in found.items() if not (inspect.isclass(one) and issubclass(one, (Exception, Warning)))
    }


def uncovered() -> set[str]:
    """Public functions missing from the table."""
    left_out = GIVEN_BACK | BASES | OF_ANOTHER_LIBRARY | WITHOUT_ARGUMENTS
    return set(public_functions()) - set(CALLS) - left_out - (set() if mujoco else {"MuJoCo"})


def untried() -> dict[str, set[str]]:
    """Their parameters missing from the table."""
    found = {}
    for name, one in public_functions().items():
        if name in CALLS and not (lacking := _parameters(one) - set(CALLS[name][1])) <= set():
            found[name] = lacking
    return found


def _parameters(function: object) -> set[str]:
    return {p.name for p in signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD}


def flat(value: object, depth: int = 0) -> Iterator[object]:
    """The numbers and strings that make up an answer."""
    if isinstance(value, (np.ndarray, float, int, complex, str, bytes, type(None), np.generic)):
        yield np.asarray(value) if not isinstance(value, (str, bytes, type(None))) else value
    elif isinstance(value, jn.Model):
        yield from (value.nq, value.nv, str(value), value.mass_matrix(value.neutral()))
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from flat(each, depth + 1)
    elif isinstance(value, dict):
        yield from flat([*value.items()], depth + 1)
    elif depth < 5 and type(value).__module__.startswith("jounce") and hasattr(value, "__dict__"):
        yield from flat(vars(value), depth + 1)


def same(found: object, expected: object) -> str:
    """What differs, to the last bit."""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        mine, other = (says(x) if isinstance(x, Exception) else "an answer" for x in (found, expected))
        return "" if mine == other else f"{mine!r}, expected {other!r}"
    pairs = [list(flat(x)) for x in (found, expected)]
    if len(pairs[0]) != len(pairs[1]):
        return "an answer of other parts"
    for mine, other in zip(*pairs, strict=True):
        arrays = isinstance(mine, np.ndarray) and isinstance(other, np.ndarray)
        if not (np.array_equal(mine, other, equal_nan=mine.dtype.kind in "fc") if arrays else mine == other):
            return f"{described(mine)}, expected {described(other)}"
    return ""


def undocumented(fault: Exception, lacks: bool) -> str:
    text = f"{type(fault).__name__}: {str(fault)[:300]}"
    if isinstance(fault, jn.Error):
        return ""
    if type(fault) is TypeError and lacks and re.search("missing|unexpected", str(fault)):
        return ""
    if type(fault) is not ValueError or re.search(NUMPYS_WORDS, str(fault)):
        return text
    return f"{len(str(fault))} characters: {text}" if len(str(fault)) > 2000 else ""


@contextmanager
def _elsewhere() -> Iterator[None]:
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            yield
        finally:
            os.chdir(here)


def function_differences(name: str, seed: int) -> list[str]:
    """All that is wrong with a randomly drawn call of a function."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    function, good = CALLS[name]
    given = dict(good)
    odd = [label for label in ODD if label not in OVERFLOWS]
    spoilt = [str(k) for k in rng.permutation(list(given))[: int(rng.choice([0, 0, 1, 1, 2]))]]
    for key in spoilt:
        given[key] = ODD[odd[int(rng.integers(len(odd)))]]
    lacks = bool(given) and rng.random() < 0.05
    if lacks:
        del given[str(rng.choice(list(given)))]
    callable_there = any(x is dict for x in given.values())  # a class counts as a function for some
    long_double = any(isinstance(x, np.longdouble) for x in given.values()) and name in TO_THE_CORE

    def asked(arguments: dict[str, object]) -> object:
        own = {k: np.random.default_rng(0) if isinstance(x, np.random.Generator) else x for k, x in arguments.items()}
        with warnings.catch_warnings(), _elsewhere() if name in PATHS else nullcontext():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", jn.ModelWarning)  # a word on what may not be meant
            warnings.filterwarnings("ignore", message=".* holds long doubles")
            with differences.counted():
                return outcome(lambda: function(**own))

    found = asked(given)
    wrong = []
    if isinstance(found, Exception) and name not in PYTHONS_OWN and not callable_there and not long_double:
        wrong.append(undocumented(found, lacks))
    wrong.append(same(asked(given), found))
    forms = list(LAYOUTS.values())
    other = {
        k: forms[int(rng.integers(len(forms)))](x)
        if isinstance(x, np.ndarray) and x.dtype == float and k not in spoilt
        else tuple(x)
        if type(x) is list and k not in spoilt
        else x
        for k, x in given.items()
    }
    wrong.append(same(asked(other), found))
    call = f"{name}({', '.join(f'{k}={described(x)}' for k, x in given.items())})"
    return [f"{text}\n    {call}" for text in wrong if text]
