"""The robots included in jounce, against third-party files and numbers from the papers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import jounce as jn


def panda_of_a_file() -> jn.Model:
    from urdf_peer import urdf_path

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return jn.load(urdf_path("panda.urdf"))


def test_panda_is_that_of_its_urdf() -> None:
    robot, other = jn.robots.panda(), panda_of_a_file()
    for number, body in enumerate(robot.bodies, 1):
        theirs = next(b for b in other.bodies if b.name == f"panda_link{number}")
        assert body.inertia.mass == theirs.inertia.mass
        assert np.array_equal(body.inertia.com, theirs.inertia.com)
        assert np.array_equal(body.inertia.rotational, theirs.inertia.rotational)
        for key in ("lower", "upper", "velocity", "effort"):
            assert getattr(body.joint.limits, key) == getattr(theirs.joint.limits, key)
    rng = np.random.default_rng(0)
    q, full = robot.random_configuration(rng), np.zeros(other.nq)
    full[:7] = q
    for number in range(1, 8):
        assert np.allclose(robot.pose(f"link{number}", q), other.pose(f"panda_link{number}", full), atol=1e-14)


def test_panda_stays_within_its_limits() -> None:
    robot = jn.robots.panda()
    q = robot.random_configuration(np.random.default_rng(1), 200)
    assert (q >= robot.lower).all()
    assert (q <= robot.upper).all()
    assert robot.velocity_limit.tolist() == [2.175] * 4 + [2.61] * 3


def test_the_rates_of_panda_are_those_of_its_manual() -> None:
    """The table "Limits for Panda" of Franka's "Robot and interface specifications"."""
    robot = jn.robots.panda()
    assert robot.acceleration_limit.tolist() == [15, 7.5, 10, 12.5, 15, 20, 20]
    assert robot.deceleration_limit.tolist() == robot.acceleration_limit.tolist()
    assert robot.jerk_limit.tolist() == [7500, 3750, 5000, 6250, 7500, 10000, 10000]
    assert robot.effort_rate_limit.tolist() == [1000] * 7


def test_a_tilted_panda_feels_a_tilted_gravity() -> None:
    q, angle = np.array([0.1, -0.3, 0.2, -1.8, 0.4, 1.7, 0.8]), 0.5
    builder = jn.Builder(gravity=(0.0, -9.81 * np.sin(angle), -9.81 * np.cos(angle)))
    for body in jn.robots.panda().bodies:
        parent = f"link{int(body.name[4:]) - 1}" if body.parent >= 0 else "world"
        builder.add(body.name, parent, body.joint, body.placement, body.inertia)
    expected = builder.build().gravity_force(q)
    assert np.allclose(jn.robots.panda(angle).gravity_force(q), expected, rtol=1e-12, atol=1e-12)
    for bad in (np.nan, "steep", [0.1]):
        with pytest.raises(ValueError, match=r"^tilt "):
            jn.robots.panda(bad)


def test_the_reproductions_use_this_panda() -> None:
    from jounce_lab.reproduce import panda

    assert panda.panda is jn.robots.panda
