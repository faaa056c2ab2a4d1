"""Rotors of motors: against the same rotor as a separate body that follows the joint, and a gyroscope's formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import jounce as jn
from custom_twins import pose_of
from trees import random_pose

AXIS = np.array([0.6, 0.0, 0.8])
RATIO, AXIAL, ACROSS, MASS = -5.0, 3e-3, 2e-3, 0.2  # a ratio r costs a factor r^k in accuracy at order k
JOINTS: dict[str, Callable[..., jn.Joint]] = {
    "revolute": lambda **o: jn.Revolute(AXIS, **o),
    "prismatic": lambda **o: jn.Prismatic((0.0, 1.0, 0.0), **o),
    "helical": lambda **o: jn.Helical((1.0, 0.0, 0.0), 0.2, **o),
    "by a function": lambda **o: jn.CustomJoint(pose_of(jn.Revolute((1.0, 2.0, 0.0))), 1, **o),
}


def robots(kind: str, follows: bool = False) -> tuple[jn.Model, jn.Model]:
    """With a rotor, its mass and transverse moments on the parent; and with a turning body."""
    rng = np.random.default_rng(3)
    at, hand = random_pose(rng), random_pose(rng)
    heavy = jn.Inertia(2.0, (0.1, 0.2, 0.0), np.diag([0.1, 0.2, 0.15]))
    light = jn.Inertia(1.0, (0.0, 0.1, 0.2), np.diag([0.02, 0.03, 0.015]))
    along = np.outer(AXIS, AXIS)
    across = ACROSS * (np.eye(3) - along)
    found = []
    for apart in (False, True):
        b = jn.Builder()
        b.add("base", "world", jn.Free(), inertia=heavy)
        if follows:
            b.add("lead", "base", jn.Revolute((0, 0, 1)), hand, light)
        options: dict = {"follows": jn.Follow("lead", 0.7, 0.1)} if follows else {"damping": 0.1, "stiffness": 2.0}
        rotor = {} if apart else {"rotor": jn.Rotor(RATIO, AXIAL, AXIS)}
        b.add("link", "base", JOINTS[kind](**options, **rotor), at, light)
        if apart:
            spin = jn.Revolute(AXIS, follows=jn.Follow("link", RATIO))
            b.add("rotor", "base", spin, at, jn.Inertia(MASS, (0, 0, 0), across + AXIAL * along))
        else:
            b.add("rotor", "base", jn.Fixed(), at, jn.Inertia(MASS, (0, 0, 0), across))
        b.add("tool", "link", jn.Revolute((0, 1, 0)), hand, light)
        found.append(b.build())
    return found[0], found[1]


CASES = [*((kind, False) for kind in JOINTS), ("revolute", True)]


@pytest.mark.parametrize(("kind", "follows"), CASES)
def test_a_rotor_is_a_body_that_follows(kind: str, follows: bool) -> None:
    own, apart = robots(kind, follows)
    rng = np.random.default_rng(0)
    q, stack = own.random_configuration(rng), rng.normal(size=(8, own.nv))
    calls: dict[str, Callable[[jn.Model], object]] = {
        "inverse_dynamics": lambda r: r.inverse_dynamics(q, stack),
        "forward_dynamics": lambda r: r.forward_dynamics(q, stack[0], stack[1:]),
        "mass_matrix": lambda r: r.mass_matrix_derivatives(q, stack[:5]),
        "coriolis_matrix": lambda r: r.coriolis_matrix(q, stack[0]) @ stack[0],
        "kinetic_energy": lambda r: r.kinetic_energy_derivatives(q, stack),
        "centroidal_momentum": lambda r: r.centroidal_momentum(q, stack[0]),
        "linearize": lambda r: r.linearize(q, stack[0], stack[1]).A,
        "derivatives": lambda r: np.stack(r.inverse_dynamics_derivatives(q, stack[0], stack[1])),
        "closed_form": lambda r: r.closed_form(q, stack[:2]).spatial.mass_matrix,
    }
    for name, call in calls.items():
        mine, other = np.asarray(call(own)), np.asarray(call(apart))
        np.testing.assert_allclose(mine, other, rtol=0, atol=2e-11 * np.abs(other).max(), err_msg=name)


def test_a_gyroscope() -> None:
    """A wheel that spins about x at W, on a base that turns about z at w, takes the moment I W w about y."""
    b = jn.Builder()
    b.add("base", "world", jn.Revolute((0, 0, 1)), inertia=jn.Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add("tilt", "base", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, (0, 0, 0), np.eye(3)))
    b.add("link", "tilt", jn.Revolute((1, 0, 0), rotor=jn.Rotor(100.0, 0.002)), inertia=jn.Inertia(1.0))
    robot = b.build()
    still, spinning = (robot.inverse_dynamics(np.zeros(3), [2.0, 0.0, rate], np.zeros(3)) for rate in (0.0, 3.0))
    np.testing.assert_allclose(spinning - still, [0.0, 0.002 * 300.0 * 2.0, 0.0], atol=1e-14)


def test_an_armature_is_a_rotor_without_gyroscopic_moments() -> None:
    """If the parent does not turn, they are the same."""

    def made(**drive: object) -> jn.Model:
        b = jn.Builder()
        b.add("arm", "world", jn.Revolute((0, 1, 0), **drive), inertia=jn.Inertia(1.0, (0.3, 0, 0)))
        return b.build()

    with_rotor, with_armature = made(rotor=jn.Rotor(20.0, 1e-3)), made(armature=0.4)
    stack = np.array([[0.3], [1.0], [-2.0]])
    np.testing.assert_allclose(with_rotor.inverse_dynamics([0.2], stack), with_armature.inverse_dynamics([0.2], stack))


def test_a_rotor_alone_makes_a_joint_movable() -> None:
    b = jn.Builder()
    b.add("axle", "world", jn.Revolute(rotor=jn.Rotor(2.0, 0.5)))
    assert b.build().forward_dynamics([0.0], [0.0], [4.0]) == pytest.approx([2.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: jn.Rotor(0.0, 1.0), "ratio of a rotor is 0, expected the rotor's speed as a multiple of the joint's"),
        (lambda: jn.Rotor(1.0, 0.0), "inertia of a rotor is 0, expected a positive number"),
        (lambda: jn.Rotor(1.0, 1.0, (0, 0, 0)), "axis of a rotor"),
        (lambda: jn.Revolute(armature=0.1, rotor=jn.Rotor(1.0, 1.0)), "armature and rotor were both given"),
        (lambda: jn.Revolute(rotor=0.1), "rotor is 0.1, expected a jounce.Rotor"),
        (lambda: jn.Spherical(rotor=jn.Rotor(1.0, 1.0)), "rotor is for joints with one coordinate, not for Spherical"),
    ],
)
def test_what_is_no_rotor(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
