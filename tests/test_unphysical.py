"""Inertias that no real body has, as they are published and identified: every call takes them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

import jounce as jn
from calls import CALLS, Call, ask, error, good, keywords, numbers, outcome, says
from coupled_robots import Part, Robot
from jounce_lab.reproduce.panda import published
from oracles import virtual_work
from trees import BodySpec

pytestmark = pytest.mark.filterwarnings("ignore::jounce.ModelWarning")  # a word on what is left out of a chain
IDENTIFIED = jn.Inertia(1.0, (0.0, 0.0, 0.3), (0.1, 0.1, -0.01), physical=False)
SPRING = 20.0  # N m/rad
ELSEWHERE = {"backbone", "constraint_rows", "loop_coordinate"}  # calls for soft bodies and constraints


@dataclass(frozen=True, eq=False)
class Published(Robot):
    @cached_property
    def model(self) -> jn.Model:
        return published().replace(gravity=self.gravity, stiffness=SPRING)


def paper_c() -> Published:
    """The robot of paper C as its authors' code has it, but with weight, and springs so that it can be at rest."""
    parts = []
    for i, b in enumerate(published().bodies):
        mass = b.inertia.mass, b.inertia.com, b.inertia.rotational
        parts.append(Part(BodySpec(b.name, i - 1, "revolute", b.placement, *mass, stiffness=SPRING)))
    return Published(tuple(parts))


ROBOT = paper_c()


def test_bodies_are_named() -> None:
    assert published().unphysical == ("link2", "link3", "link4", "link5", "link6")
    negative = [b.name for b in published().bodies if np.linalg.eigvalsh(b.inertia.rotational).min() < 0]
    assert negative == ["link3", "link4", "link6"]
    assert jn.robots.panda().unphysical == ()


def test_what_is_fixed_to_a_body_counts() -> None:
    builder = jn.Builder()
    builder.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=IDENTIFIED)
    builder.add("hand", "arm", jn.Fixed(), inertia=jn.Inertia.sphere(1.0, 0.3))
    builder.add("base", "world", jn.Fixed(), inertia=IDENTIFIED)  # does not move
    assert builder.build().unphysical == ()
    assert builder.build().remove("hand").unphysical == ("arm",)


def test_forces_are_those_of_the_positions() -> None:
    rng = np.random.default_rng(4)
    q, v = ROBOT.configuration(rng), ROBOT.rates(rng, (5,))
    truth = virtual_work.inverse_dynamics(ROBOT.tree, q, v)
    tau = ROBOT.model.inverse_dynamics(q, v)
    assert error(tau, truth) < 1e-12
    assert error(ROBOT.model.forward_dynamics(q, v[0], tau), v[1:]) < 1e-8
    parameters = ROBOT.model.inertial_parameters
    regressor = ROBOT.model.inverse_dynamics_regressor(q, v)  # without springs
    springs = SPRING * np.vstack([q, v[:3]])
    assert error(regressor @ parameters + springs, truth) < 1e-12
    with pytest.raises(ValueError, match=r"negative principal moment|no body"):
        ROBOT.model.with_inertial_parameters(1.1 * parameters)


@pytest.mark.filterwarnings("error")
def test_building_says_nothing() -> None:
    assert len(published().bodies) == 7


@pytest.mark.parametrize("call", [c for c in CALLS.values() if c.method not in ELSEWHERE], ids=lambda c: c.name)
def test_every_call_answers(call: Call) -> None:
    given = good(call, ROBOT)
    for label, options in keywords(call, ROBOT).items():
        found = outcome(lambda o=options: ask(ROBOT.model, call, given, **o))
        if call.method == "with_inertial_parameters" and not options:  # as its name says
            assert "no body of positive density has" in says(found)
            continue
        assert not isinstance(found, Exception), f"{label}: {says(found)}"
        for name, array in numbers(ROBOT.model, call, found, options.get("frames")).items():
            assert np.isfinite(np.asarray(array, dtype=float)).all(), f"{label}: {name}"
