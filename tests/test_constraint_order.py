"""The order in which constraints are listed changes nothing but the order of their rows, and the unit of mass nothing.

Two limbs whose hands are held as by hinges, each with a motor behind a gear, in a state that does not obey.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import jounce as jn
from trees import random_pose, random_rotation

NAMES = ("gear of the left", "hand of the left", "gear of the right", "hand of the right")
ORDERS = [NAMES, NAMES[::-1], (NAMES[1], NAMES[0], NAMES[3], NAMES[2]), (NAMES[2], NAMES[3], NAMES[0], NAMES[1])]


def robot(order: tuple[str, ...], kg: float = 1.0) -> jn.Model:
    rng, b = np.random.default_rng(0), jn.Builder()
    ties: dict[str, tuple[object, ...]] = {}
    for side in ("left", "right"):
        rotational = kg * np.array([0.03, 0.04, 0.05])
        inertias = [jn.Inertia(m * kg, com=0.1 * rng.normal(size=3), rotational=rotational) for m in (2.0, 1.0, 0.5)]
        b.add(f"{side} arm", "world", jn.Spherical(), random_pose(rng, 0.5), inertias[0])
        b.add(f"{side} elbow", f"{side} arm", jn.Revolute(random_rotation(rng)[0]), random_pose(rng, 0.5), inertias[1])
        b.add(f"{side} hand", f"{side} elbow", jn.Spherical(), random_pose(rng, 0.5), inertias[2])
        b.add(
            f"{side} motor",
            "world",
            jn.Revolute(),
            random_pose(rng, 0.5),
            jn.Inertia(0.1 * kg, rotational=rotational),
        )
        ties[f"gear of the {side}"] = (f"{side} elbow", f"{side} motor", jn.Gear((0.1, 3.0, 0.2)))
        ties[f"hand of the {side}"] = ("world", f"{side} hand", jn.Revolute(random_rotation(rng)[0]))
    place, grip = random_pose(rng, 0.5), random_pose(rng, 0.5)
    for name in order:
        b.close(name, *ties[name], **({} if "gear" in name else {"placement_a": place, "placement_b": grip}))
    return b.build()


def state(model: jn.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    q = model.integrate(model.neutral(), rng.normal(size=model.nv))
    return q, rng.normal(size=model.nv), rng.normal(size=(3, model.nv))


@pytest.mark.parametrize("order", ORDERS[1:], ids=["backwards", "in pairs", "right first"])
@pytest.mark.parametrize("correction", [None, (30.0, 10.0)], ids=["as it is", "corrected"])
def test_motion_and_forces(order: tuple[str, ...], correction: tuple[float, float] | None) -> None:
    first, other = robot(NAMES), robot(order)
    q, v, tau = state(first)
    expected, found = (r.constrained_dynamics(q, v, tau, correction=correction) for r in (first, other))
    close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(expected.acc).max()}
    np.testing.assert_allclose(found.acc, expected.acc, **close)
    for name in NAMES:
        large = np.abs(expected.forces[name]).max()
        np.testing.assert_allclose(found.forces[name], expected.forces[name], rtol=1e-9, atol=1e-9 * large)


@pytest.mark.parametrize("order", ORDERS, ids=["as listed", "backwards", "in pairs", "right first"])
@pytest.mark.parametrize("held", ["left elbow", "left motor", "right elbow", "right motor"])
def test_forces_of_what_is_prescribed(order: tuple[str, ...], held: str) -> None:
    """They include that of the gear: with them the robot moves as prescribed."""
    model = robot(order)
    q, v, tau = state(model)
    given = np.isin(np.arange(model.nv), np.arange(model.nv)[model.coordinate(held)])
    acc, force = model.hybrid_dynamics(q, v, np.where(given, tau[::-1], 0.0), tau, prescribed=given)
    np.testing.assert_allclose(acc[:, given], tau[::-1][:, given], rtol=1e-12)
    np.testing.assert_allclose(model.forward_dynamics(q, v, force), acc, rtol=1e-9, atol=1e-9 * np.abs(acc).max())


def test_every_order_is_another() -> None:
    assert len({tuple(robot(order).constraint_names) for order in ORDERS}) == len(ORDERS)
    assert all(sorted(a) == sorted(b) for a, b in itertools.pairwise(ORDERS))


@pytest.mark.parametrize("kg", [2.0**-60, 2.0**60])
def test_no_digit_depends_on_the_unit_of_mass(kg: float) -> None:
    """So it is not decided by one either whether a state is computed again, with more digits."""
    q, v, tau = state(robot(NAMES))
    expected, found = (robot(NAMES, unit).constrained_dynamics(q, v, unit * tau) for unit in (1.0, kg))
    np.testing.assert_array_equal(found.acc, expected.acc)
    for name in NAMES:
        np.testing.assert_array_equal(found.forces[name], kg * expected.forces[name])
