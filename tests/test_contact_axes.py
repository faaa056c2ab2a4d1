"""The axes in which the directions of contacts are: those of the world, or of the frame that is held."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn

ROBOT = jn.robots.aerial_manipulator()
RNG = np.random.default_rng(0)
Q = ROBOT.random_configuration(RNG)
HERE = ROBOT.pose("B7", Q)
N = np.array([0.6, 0.0, 0.8])
DIRECTED = {
    "slide": jn.Prismatic(N),
    "hinge": jn.Revolute(N),
    "screw": jn.Helical(N, 0.2),
    "tube": jn.Cylindrical(N),
    "table": jn.Planar((0.8, 0.0, -0.6), (0.0, 1.0, 0.0)),
    "plane": jn.OnPlane(N),
    "line": jn.OnLine(N),
}
each_kind = pytest.mark.parametrize("kind", DIRECTED.values(), ids=DIRECTED)


def turned(kind: object, R: np.ndarray) -> object:
    """The same with its directions in other axes."""
    match kind:
        case jn.Helical():
            return jn.Helical(R @ kind.axis, kind.pitch)
        case jn.Planar():
            return jn.Planar(R @ kind.x, R @ kind.y)
        case jn.OnPlane():
            return jn.OnPlane(R @ kind.normal)
    return type(kind)(R @ kind.axis)


def held(contact: object) -> jn.Model:
    return ROBOT.constrained({"B7": contact})


def rows(contact: object, q: np.ndarray = Q) -> np.ndarray:
    """The motions that a contact forbids, as the projector onto its rows: the choice of rows does not matter."""
    J = held(contact).constraint_jacobian(q)
    return np.linalg.pinv(J) @ J


@each_kind
def test_the_axes_of_directions_are_chosen(kind: object) -> None:
    """With a pose and without, against the direction written out in the other axes."""
    R = HERE[:3, :3]
    in_frame, in_world = rows(jn.Contact(kind, HERE)), rows(jn.Contact(turned(kind, R.T), HERE))
    assert np.abs(in_frame - in_world).max() > 0.01
    for pose in (HERE, None):
        np.testing.assert_allclose(rows(jn.Contact(kind, pose, axes="frame")), in_frame, rtol=0, atol=1e-12)
        np.testing.assert_allclose(rows(jn.Contact(kind, pose, axes="world")), in_world, rtol=0, atol=1e-12)
    usual = in_world if isinstance(kind, (jn.OnPlane, jn.OnLine)) else in_frame
    np.testing.assert_allclose(rows(kind), usual, rtol=0, atol=1e-12)


@each_kind
@pytest.mark.parametrize("axes", ["world", "frame"])
def test_the_motion_and_the_force_are_the_same_however_they_are_written(kind: object, axes: str) -> None:
    """With all derivatives, with respect to the state, too, and in a simulation."""
    other = jn.Contact(turned(kind, HERE[:3, :3].T) if axes == "world" else kind, HERE)
    v, tau = held(other).project(Q, RNG.normal(size=ROBOT.nv))[1], RNG.normal(size=(3, ROBOT.nv))
    for frame in ("body", "world", "mixed"):
        expected = held(other).constrained_dynamics(Q, v, tau, wrench_frame=frame)
        changes = held(other).constrained_dynamics_derivatives(Q, v, tau[:2], wrench_frame=frame)
        for pose in (HERE, None):
            robot = held(jn.Contact(kind, pose, axes=axes))
            found = robot.constrained_dynamics(Q, v, tau, wrench_frame=frame)
            np.testing.assert_allclose(found.acc, expected.acc, rtol=0, atol=1e-9 * np.abs(expected.acc).max())
            force = expected.forces["B7"]
            np.testing.assert_allclose(found.forces["B7"], force, rtol=0, atol=1e-9 * np.abs(force).max())
            some = robot.constrained_dynamics_derivatives(Q, v, tau[:2], wrench_frame=frame)
            for key in ("acc_q", "acc_v", "acc_tau"):
                size = np.abs(getattr(changes, key)).max()
                np.testing.assert_allclose(getattr(some, key), getattr(changes, key), rtol=0, atol=1e-8 * size)
    times = np.linspace(0, 0.2, 5)
    expected = jn.simulate(held(other), Q, v, times).q
    for pose in (HERE, None):
        found = jn.simulate(held(jn.Contact(kind, pose, axes=axes)), Q, v, times).q
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@each_kind
def test_positions_are_compared_in_those_axes(kind: object) -> None:
    """A motion that the contact allows leaves no residual, and loop coordinates are those of the joint."""
    robot, other = held(jn.Contact(kind, HERE, axes="world")), held(jn.Contact(turned(kind, HERE[:3, :3].T), HERE))
    assert np.abs(robot.residual(Q)).max() < 1e-14
    moved = robot.project(ROBOT.integrate(Q, 0.3 * RNG.normal(size=ROBOT.nv)))
    assert np.abs(other.residual(moved)).max() < 1e-10
    if not isinstance(kind, (jn.OnPlane, jn.Planar)):
        np.testing.assert_allclose(robot.loop_coordinate("B7", moved), other.loop_coordinate("B7", moved), atol=1e-9)


def test_a_wheel_on_a_tilted_frame_rolls_on_the_level() -> None:
    """Only the normal is the world's: the axis of a wheel is its own."""
    wheel = jn.Rolling(0.1, axis=(0.0, 1.0, 0.0))
    level = np.eye(4)
    level[:3, 3] = HERE[:3, 3]
    expected = held(jn.Contact(wheel, level)).constraint_jacobian(Q)
    np.testing.assert_allclose(held(jn.Contact(wheel, HERE, axes="world")).constraint_jacobian(Q), expected, atol=1e-14)
    with pytest.raises(
        ValueError, match=r"constraint 'B7': the plane that it rolls on .*Contact\(\.\.\., pose=\.\.\.\)"
    ):
        held(jn.Contact(wheel, axes="frame"))


def test_a_universal_joint_in_the_axes_of_the_world() -> None:
    axes = np.eye(3)[0], np.eye(3)[1]
    R = HERE[:3, :3]
    found = rows(jn.Contact(jn.Universal(*axes), HERE, axes="world"))
    np.testing.assert_allclose(found, rows(jn.Contact(jn.Universal(*(R.T @ a for a in axes)), HERE)), atol=1e-12)
    with pytest.raises(ValueError, match="the second axis of a Universal turns with the frame"):
        held(jn.Contact(jn.Universal(*axes), axes="world"))


def test_a_wall_that_a_tilted_tool_leans_on_stays_upright() -> None:
    wall = jn.OnPlane((1, 0, 0))
    J = ROBOT.jacobian("B7", Q, frame="mixed", velocity_frame="body")
    for contact in (jn.Contact(wall, HERE, axes="world"), jn.Contact(wall, axes="world"), wall):
        np.testing.assert_allclose(held(contact).constraint_jacobian(Q)[0], J[0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("bad", ["body", "", None, 5, ["world"]])
def test_other_axes_are_refused(bad: object) -> None:
    if bad is None:
        assert jn.Contact(jn.Fixed(), axes=None).axes is None
        return
    with pytest.raises(ValueError, match=r"axes is .*, expected 'world' or 'frame'"):
        jn.Contact(jn.Fixed(), axes=bad)
