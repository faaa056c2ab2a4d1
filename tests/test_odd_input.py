"""What nobody means to give: every call of the Python side refuses it by name, and nothing else happens.

Each argument of each call gets each odd value. An answer is fine where the value means something; all else is a
ValueError, or Python's own TypeError where a path or an index is meant, with a message that fits on a screen.
"""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from jounce import soft
from jounce.soft import stumpff
from odd_values import CALLS, FINGER, ODD, PYTHONS_OWN, ROBOT, TO_THE_CORE, strut

CASES = [(call, argument) for call, (_, good) in CALLS.items() for argument in good]


@pytest.mark.parametrize(("call", "argument"), CASES)
def test_odd_values(call: str, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    function, good = CALLS[call]
    wrong = {}
    for label, value in ODD.items():
        if label == "a long double" and argument in TO_THE_CORE.get(call, ""):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                answer = function(**(good | {argument: value}))
            if isinstance(value, np.ma.MaskedArray):
                wrong[label] = f"taken: {answer}"
        except (ValueError, jn.Error) as error:
            if isinstance(error, np.linalg.LinAlgError):
                wrong[label] = repr(error)
            elif len(str(error)) > 2000:
                wrong[label] = f"{len(str(error))} characters"
            elif "inhomogeneous" in str(error) or "ambiguous" in str(error):  # NumPy's words, which name nothing
                wrong[label] = str(error)
        except (TypeError, IndexError) as error:
            if call not in PYTHONS_OWN and value is not dict:  # a class is a function to tau
                wrong[label] = repr(error)
        except Exception as error:
            wrong[label] = repr(error)
    assert not wrong


def test_every_argument_of_simulate_is_tried() -> None:
    assert set(CALLS["simulate"][1]) == set(inspect.signature(jn.simulate).parameters)


def test_mappings_that_are_no_dicts_are_wrenches() -> None:
    from types import MappingProxyType

    push = MappingProxyType({"a": np.array([0.0, 0.0, 1e-3, 0.0, 0.0, 0.0])})
    one, two = (FINGER.equilibrium(wrenches=w).q for w in (push, dict(push)))
    assert (one == two).all()
    with pytest.raises(ValueError, match="wrenches must be a dict of name: array, got a list"):
        FINGER.equilibrium(wrenches=[("a", np.zeros(6))])  # type: ignore[arg-type]


def test_texts_are_no_numbers() -> None:
    """NumPy reads '1' as a number where float64 is asked for."""
    with pytest.raises(ValueError, match="q must be an array of real numbers"):
        ROBOT.actuation_matrix(["0"] * 7 + ["1"] * 2)
    with pytest.raises(ValueError, match="body of 'strut': masses is"):
        strut(masses=["1"])
    with pytest.raises(ValueError, match=r"u must be an array of real numbers, got '0\.5'"):
        stumpff(1, "0.5")


def test_stumpff_of_what_is_no_number() -> None:
    """It called itself for ever."""
    for u in (None, [None], {}, np.array([{}], dtype=object)):
        with pytest.raises(ValueError, match="u must be an array of real numbers"):
            stumpff(1, u)
    np.testing.assert_allclose(stumpff(1, np.array([0.25, 1.0], dtype=object)), np.sin([0.5, 1]) / [0.5, 1])
    assert stumpff(1, [0.25]).shape == (1,)


@pytest.mark.parametrize("size", [1e308, 1e-308])
@pytest.mark.parametrize("argument", ["length", "radius", "density", "young", "damping"])
def test_soft_bodies_have_a_robots_size(argument: str, size: float) -> None:
    for body in (soft.Rod, soft.VariableRadius):
        good = {"length": 0.3, "radius": 0.02, "density": 1e3, "young": 1e5, "damping": 0.1}
        with pytest.raises(ValueError, match=f"^{argument} is .*, expected a number of a robot's size"):
            body(**(good | {argument: size}))


def test_loads_beyond_all_numbers() -> None:
    with pytest.raises(jn.NoEquilibrium):
        FINGER.equilibrium(tau=[1e308] * 3)
    with pytest.raises(jn.RangeError, match="no answer in double precision"):
        FINGER.equilibrium(q0=[1e308] * 3)
