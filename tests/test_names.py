"""What completion and help find: the public names, and a signature for everything that can be called."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

import jounce as jn
from jounce import control, conversions, robots, soft, view

MODULES = (jn, control, conversions, robots, soft, view)
PYTHONS_OWN = {name for kind in (BaseException, tuple, dict) for name in dir(kind)}


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_dir_lists_what_is_public(module: object) -> None:
    found = set(dir(module)) - {"__version__"}
    assert found == set(module.__all__)
    assert all(hasattr(module, name) for name in dir(module))
    assert ("__version__" in dir(module)) == (module is jn)


def test_modules_that_are_imported_on_demand_are_listed() -> None:
    assert {"control", "conversions"} <= set(dir(jn))


def public_callables() -> Iterator[tuple[str, object]]:
    for module in MODULES:
        for name in module.__all__:
            one = getattr(module, name)
            if callable(one):
                yield f"{module.__name__}.{name}", one
            if inspect.isclass(one):
                methods = (key for key in dir(one) if not key.startswith("_") and key not in PYTHONS_OWN)
                yield from ((f"{name}.{key}", getattr(one, key)) for key in methods if callable(getattr(one, key)))
    robot = robots.panda()
    names = (key for key in dir(robot) if not key.startswith("_"))
    yield from ((f"robot.{key}", getattr(robot, key)) for key in names if callable(getattr(robot, key)))


def test_everything_public_has_a_signature() -> None:
    found = {}
    for name, one in public_callables():
        try:
            found[name] = inspect.signature(one)
        except (ValueError, TypeError) as error:
            found[name] = error
    assert len(found) > 200
    assert {name: given for name, given in found.items() if not isinstance(given, inspect.Signature)} == {}


def test_compiled_signatures_are_complete() -> None:
    robot = robots.panda()
    free, bound = inspect.signature(jn.Model.inverse_dynamics), inspect.signature(robot.inverse_dynamics)
    names = ["q", "v", "a", "wrenches", "wrench_frame", "frame", "order", "out"]
    assert list(free.parameters) == ["self", *names]
    assert list(bound.parameters) == names
    frame = bound.parameters["frame"]
    assert (frame.kind, frame.default) == (frame.KEYWORD_ONLY, "body")
    assert frame.annotation == "typing.Literal['body', 'world', 'mixed']"
    assert bound.parameters["q"].default is frame.empty
    assert bound.return_annotation == "numpy.typing.NDArray[numpy.float64]"
    assert list(inspect.signature(jn.set_num_threads).parameters) == ["n"]


@pytest.mark.parametrize("method", [n for n in dir(jn.Model) if not n.startswith("_")])
def test_closed_choices_are_types(method: str) -> None:
    one = getattr(jn.Model, method)
    if not callable(one):
        pytest.skip("not a call")
    for name, parameter in inspect.signature(one).parameters.items():
        if name in ("frame", "wrench_frame", "velocity_frame", "source", "target"):
            assert parameter.annotation.removesuffix(" | None") in ("Frame", "typing.Literal['body', 'world', 'mixed']")
