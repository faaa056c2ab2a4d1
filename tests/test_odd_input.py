"""Values that nobody would pass on purpose: every call of the Python side refuses them by name, without side effects.

Each argument of each call gets each odd value. An answer is fine if the value makes sense; otherwise a ValueError is
raised, or Python's own TypeError if a path or an index is expected, with a message that fits on a screen.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from jounce import soft
from jounce.soft import stumpff
from odd_values import CALLS, FINGER, ODD, PYTHONS_OWN, REST, ROBOT, SLIDER, TO_THE_CORE, Q, strut

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
                warnings.simplefilter("ignore", jn.ModelWarning)  # a word on what may not be meant
                answer = function(**(good | {argument: value}))
            if isinstance(value, np.ma.MaskedArray):
                wrong[label] = f"taken: {answer}"
        except (ValueError, jn.Error) as error:
            if isinstance(error, np.linalg.LinAlgError):
                wrong[label] = repr(error)
            elif len(str(error)) > 2000:
                wrong[label] = f"{len(str(error))} characters"
            elif "inhomogeneous" in str(error) or "ambiguous" in str(error):  # NumPy's message, which names nothing
                wrong[label] = str(error)
        except (TypeError, IndexError) as error:
            if call not in PYTHONS_OWN and value is not dict:  # for tau, a class counts as a function
                wrong[label] = repr(error)
        except Exception as error:
            wrong[label] = repr(error)
    assert not wrong


def test_every_argument_of_simulate_is_tried() -> None:
    assert set(CALLS["simulate"][1]) == set(inspect.signature(jn.simulate).parameters)


def test_mappings_that_are_no_dicts_are_wrenches() -> None:
    from types import MappingProxyType

    push = MappingProxyType({"a": np.array([0.0, 0.0, 1e-3, 0.0, 0.0, 0.0])})
    one, two = (FINGER.equilibrium(wrenches=w, branch="any").q for w in (push, dict(push)))
    assert (one == two).all()
    with pytest.raises(ValueError, match="wrenches must be a dict of name: array, got a list"):
        FINGER.equilibrium(wrenches=[("a", np.zeros(6))])  # type: ignore[arg-type]


class Failing(Mapping[str, np.ndarray]):
    """A user-defined mapping that fails."""

    def __init__(self, raised: BaseException) -> None:
        self._raised = raised

    def __getitem__(self, key: str) -> np.ndarray:
        raise self._raised

    def __iter__(self) -> Iterator[str]:
        return iter(["forearm"])

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), MemoryError("all gone"), KeyError("x"), ValueError("mine")])
def test_what_a_mapping_of_wrenches_raises_is_raised(raised: BaseException) -> None:
    """It used to be lost, including Ctrl-C."""
    for call in (ROBOT.inverse_dynamics, ROBOT.forward_dynamics, ROBOT.linearize, ROBOT.inverse_dynamics_derivatives):
        with pytest.raises(type(raised)) as caught:
            call(Q, REST, REST, wrenches=Failing(raised))
        assert caught.value is raised


@pytest.mark.parametrize("label", ["silent", "10**5000", "a long text", "half a character"])
def test_frames_are_quoted_within_reason(label: str) -> None:
    with pytest.raises(ValueError, match=r"^frame is .*, expected 'body', 'world' or 'mixed'$") as caught:
        ROBOT.mass_matrix(Q, frame=ODD[label])
    assert len(str(caught.value)) < 400


def test_long_names_in_errors() -> None:
    name = ODD["a long text"]
    for call in (
        lambda: soft.Tendon(name, end=-1.0),
        lambda: jn.Builder().add(name, "nobody"),
        lambda: FINGER.equilibrium(wrenches={name: np.zeros(5)}),
        lambda: FINGER.equilibrium(wrenches={ODD["silent"]: np.zeros(5)}),
    ):
        with pytest.raises(ValueError, match=r"expected|not added") as caught:
            call()
        assert len(str(caught.value)) < 1000


def test_frames_of_wrenches_that_are_none() -> None:
    """Equilibria used to accept any."""
    with pytest.raises(ValueError, match=r"^wrench_frame is 'wrld', expected 'body', 'world' or 'mixed'$"):
        FINGER.equilibrium(wrench_frame="wrld")


def test_a_mask_of_coordinates_is_an_array_of_booleans() -> None:
    """The mask of a masked array used to be ignored."""
    masked = np.ma.array(np.ones(ROBOT.nv, bool), mask=[True] * ROBOT.nv)
    with pytest.raises(ValueError, match=r"^prescribed is a masked array"):
        ROBOT.hybrid_dynamics(Q, REST, REST, REST, prescribed=masked)
    with pytest.raises(
        ValueError, match=r"^prescribed must be an array of booleans, got a list that NumPy cannot read"
    ):
        ROBOT.hybrid_dynamics(Q, REST, REST, REST, prescribed=[[True], [True, False]])


def test_closed_form_of_what_cannot_be_multiplied() -> None:
    with pytest.raises(ValueError, match=r"^v is .*, expected numbers or symbols"):
        SLIDER.closed_form([0.0], np.array([{}], dtype=object))
    with pytest.raises(ValueError, match=r"^v has 33 rows, expected at most 32: the highest order is 30$"):
        SLIDER.closed_form([0.0], np.zeros((33, 1)))
    with pytest.raises(ValueError, match=r"^q is a masked array"):
        SLIDER.closed_form(np.ma.array([1.0], mask=[True]), [0.0])


def test_inputs_that_do_not_broadcast() -> None:
    robot = strut()
    with pytest.raises(ValueError, match=r"^the batch dimensions do not broadcast: q \(1,\), tau \(3, 1\), u \(2, 1\)"):
        robot.linearize([0.0], np.zeros((3, 1)), np.zeros((3, 1)), u=np.zeros((2, 1)))


def test_the_same_words_for_arrays_and_for_lists() -> None:
    dates = np.array(["2020"] * ROBOT.nv, "M8[s]")
    for tau in (REST, REST.tolist()):
        with pytest.raises(ValueError, match=r"^v must be an array of real numbers, got dtype datetime64"):
            ROBOT.forward_dynamics_derivatives(Q, dates, tau)


def test_texts_are_no_numbers() -> None:
    """NumPy converts '1' to a number when float64 is requested."""
    with pytest.raises(ValueError, match="q must be an array of real numbers"):
        ROBOT.actuation_matrix(["0"] * 7 + ["1"] * 2)
    with pytest.raises(ValueError, match="body of 'strut': masses is"):
        strut(masses=["1"])
    with pytest.raises(ValueError, match=r"u must be an array of real numbers, got '0\.5'"):
        stumpff(1, "0.5")


def test_stumpff_of_what_is_no_number() -> None:
    """It used to recurse forever."""
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
        with pytest.raises(ValueError, match=f"^{argument} is .*, expected a number plausible for a robot"):
            body(**(good | {argument: size}))


def test_loads_beyond_all_numbers() -> None:
    with pytest.raises(jn.NoEquilibrium):
        FINGER.equilibrium(tau=[1e308] * 3)
    with pytest.raises(jn.RangeError, match="no answer in double precision"):
        FINGER.equilibrium(q0=[1e308] * 3)
