"""Joints given by functions: against named joint types, 96-digit truth, and bad input."""

from __future__ import annotations

import math
import pickle
from functools import cache, cached_property
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import jounce as jn
from calls import CALLS, Call, ask, backward_error, error, good, numbers, outcome, says
from coupled_robots import Robot, maker
from custom_twins import placed, said_by_functions, turned
from kinds import EVERY, KINDS
from rules import RULE
from test_twins import compared

each_call = pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))


def arm() -> Robot:
    some = maker(7)
    for i in range(6):
        some.add(f"b{i}", f"b{i - 1}" if i else "world", "revolute", stiffness=20.0, damping=0.1)
    return some.robot()


ARM = arm()


@cache
def said_arm(general: bool) -> jn.Model:
    return said_by_functions(ARM.model, general=general)


@each_call
@pytest.mark.parametrize("general", [True, False], ids=["as a function", "as it runs"])
def test_hinges_said_by_functions_are_hinges(call: Call, general: bool) -> None:
    """In every call, up to order 6.

    A call that solves M a = f solves it for both robots, up to rounding; so their solutions differ by up to cond(M)
    times as much, at each order anew. The mass matrix of this arm has a condition number of 500.
    """
    said, given = said_arm(general), good(call, ARM, rows=8)
    found, expected = (outcome(lambda m=m: ask(m, call, given)) for m in (said, ARM.model))
    if isinstance(expected, Exception):
        assert says(found) == says(expected)
    else:
        tolerance = 1e-13
        if RULE[call.method] == "equation":
            assert backward_error(ARM.model, call, given, {}, found) < 1e-13
            if call.stacks:
                tolerance = 7 * np.finfo(float).eps * np.linalg.cond(ARM.model.mass_matrix(given["q"]))
        mine, others = (numbers(m, call, x, None) for m, x in ((said, found), (ARM.model, expected)))
        assert set(mine) == set(others)
        for key, other in others.items():
            assert error(mine[key], other, call.order_axis(key)) < tolerance, key


@cache
def screwed(*, general: bool) -> jn.Model:
    """Functions that are screw motions about axes anywhere, some of them built-in joints, with springs and a rotor."""
    rng, b = np.random.default_rng(11), jn.Builder()
    options = [
        {"stiffness": 3.0, "rest": 0.4, "damping": 0.2},
        {"limits": jn.Limits(-0.5, 0.7), "rotor": jn.Rotor(4.0, 0.02, (0, 0.6, 0.8))},
        {"stiffness": 8.0},
        {"rest": 0.3},
    ]
    for i, (turn, slide) in enumerate([(1.0, 0.0), (1.0, 0.3), (0.0, 1.0), (1.5, 0.1)]):
        axis, about, start = np.array([2.0, -1.0, 2.0]) / 3, rng.normal(size=3), turned(np.array([0.0, 0.6, 0.8]), 0.4)

        def pose(q: Any, turn=turn, slide=slide, axis=axis, about=about, start=start) -> Any:
            R = turned(axis, turn * q[0])
            return placed(start @ R, start @ (about - R @ about + slide * q[0] * axis) + 0.1)

        joint = jn.CustomJoint(pose, 1, **options[i])
        assert (joint.primitives() == ()) == (i == 3)  # which turns by more than a radian per unit
        if general:
            joint._set(_primitive=None)
        b.add(f"b{i}", f"b{i - 1}" if i else "world", joint, placed(start, about), jn.Inertia(1.0, about, [1, 1, 1.2]))
    return b.build()


class ScrewMotions(Robot):
    @cached_property
    def model(self) -> jn.Model:
        return screwed(general=True)


@each_call
def test_screw_motions_run_as_built_in_joints(call: Call) -> None:
    function = ScrewMotions(ARM.parts[:4])
    given = good(call, function, rows=5)
    found, expected = (outcome(lambda m=m: ask(m, call, given)) for m in (screwed(general=False), function.model))
    if isinstance(expected, Exception):
        assert says(found) == says(expected)
    else:
        mine, others = (numbers(function.model, call, x, None) for x in (found, expected))
        assert set(mine) == set(others)
        for key, other in others.items():
            assert error(mine[key], other, call.order_axis(key)) < 1e-12, key


ROBOTS = {**KINDS, "every joint": EVERY["every joint"]}


@cache
def said_robot(kind: str) -> jn.Model:
    return said_by_functions(ROBOTS[kind].model)


@each_call
@pytest.mark.parametrize("kind", ROBOTS)
def test_joints_of_all_kinds_said_by_functions(kind: str, call: Call) -> None:
    """Together with followers of them, soft bodies and constraints."""
    if (kind, call.method) == ("held", "equilibrium"):
        pytest.skip("from neutral, where the constraints are singular, rounding chooses the equilibrium")
    if kind == "every joint" and call.method in ("closed_form", "random_configuration"):
        pytest.skip("how a joint is made of simpler ones is seen in these")
    model = ROBOTS[kind].model
    twin, given = said_robot(kind), good(call, ROBOTS[kind])
    found, expected = (outcome(lambda m=m: ask(m, call, given)) for m in (twin, model))
    assert not compared(found, expected, call, (twin, model), None)


# --- a knee whose axis moves along splines ------------------------------------------------------------------------

X = jn.Spline([-0.2, 0.3, 0.9, 1.5, 2.2], [0.0, 0.004, 0.011, 0.013, 0.009])
Z = jn.Spline([-0.2, 0.3, 0.9, 1.5, 2.2], [-0.40, -0.402, -0.405, -0.411, -0.42], degree=7)


def knee(q: Any) -> Any:
    return placed(turned(np.array([0.0, 1.0, 0.0]), q[0]), [X(q[0]), 0.0, Z(q[0])])


def leg() -> jn.Model:
    b = jn.Builder()
    b.add(
        "thigh", "world", jn.Revolute((0.0, 0.8, 0.6)), inertia=jn.Inertia(7.0, (0, 0, -0.2), np.diag([0.1, 0.1, 0.02]))
    )
    limits = jn.Limits(lower=-0.1, upper=2.1)
    joint = jn.CustomJoint(knee, 1, limits=limits, stiffness=3.0, rest=0.4, damping=0.2, coordinate_units=["rad"])
    b.add("shin", "thigh", joint, inertia=jn.Inertia(3.0, (0.01, 0.02, -0.2), np.diag([0.05, 0.06, 0.02])))
    return b.build()


def exact_spline(spline: jn.Spline, x: mp.mpf) -> mp.mpf:
    piece = max(0, min(int(np.searchsorted(spline.knots, float(x), side="right")) - 1, len(spline.knots) - 2))
    return mp.polyval(
        [mp.mpf(float(c)) for c in spline._coefficients[piece][::-1]], x - mp.mpf(float(spline.knots[piece]))
    )


def exact_turn(axis: tuple[str, ...], angle: mp.mpf) -> mp.matrix:
    x, y, z = (mp.mpf(float(a)) for a in axis)
    K = mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return mp.eye(3) + mp.sin(angle) * K + (1 - mp.cos(angle)) * K * K


def points(inertia: jn.Inertia) -> list[tuple[mp.mpf, mp.matrix]]:
    """Six masses with the mass, centre of mass and (diagonal) moments of a body."""
    J = [mp.mpf(float(x)) for x in np.diag(inertia.rotational)]
    com, mass = mp.matrix([mp.mpf(float(x)) for x in inertia.com]), mp.mpf(float(inertia.mass)) / 6
    found = []
    for i in range(3):
        square = (J[(i + 1) % 3] + J[(i + 2) % 3] - J[i]) / 2  # the integral of x_i^2 dm
        for sign in (1, -1):
            place = com.copy()
            place[i] += sign * mp.sqrt(square / (2 * mass))
            found.append((mass, place))
    return found


def test_the_knee_against_96_digits() -> None:
    """Forces by virtual work of point masses, whose positions are differentiated in 96 digits, up to order 4."""
    robot = leg()
    axis = robot.bodies[0].joint.axis
    bodies = [points(b.inertia) for b in robot.bodies]
    rng = np.random.default_rng(0)
    order = 4
    q, stack = np.array([0.3, 1.1]), rng.normal(size=(order + 2, 2))
    with mp.workdps(160):
        path = [
            [mp.mpf(float(q[c])), *(mp.mpf(float(stack[k, c])) / mp.factorial(k + 1) for k in range(order + 2))]
            for c in (0, 1)
        ]

        def places(angles: list[mp.mpf]) -> list[tuple[mp.mpf, mp.matrix]]:
            R = exact_turn(axis, angles[0])
            S = R * exact_turn((0, 1, 0), angles[1])
            at = R * mp.matrix([exact_spline(X, angles[1]), 0, exact_spline(Z, angles[1])])
            return [(m, R * p) for m, p in bodies[0]] + [(m, at + S * p) for m, p in bodies[1]]

        def at(t: mp.mpf) -> list[mp.mpf]:
            return [mp.polyval(p[::-1], t) for p in path]

        def force(c: int, t: mp.mpf) -> mp.mpf:
            h, e = mp.mpf(10) ** -40, mp.mpf(10) ** -36
            past, now, later = (places(at(t + s * e)) for s in (-1, 0, 1))
            near = [places([x + (s * h if c == i else 0) for i, x in enumerate(at(t))]) for s in (1, -1)]
            total = mp.mpf(0)
            for k, (m, x) in enumerate(now):
                a = (later[k][1] - 2 * x + past[k][1]) / e**2
                a[2] += mp.mpf("9.81")
                slope = (near[0][k][1] - near[1][k][1]) / (2 * h)
                total += m * (a.T * slope)[0]
            if c == 1:
                rate = mp.diff(lambda s: at(s)[1], t)
                total += 3 * (at(t)[1] - mp.mpf(0.4)) + mp.mpf(0.2) * rate
            return total

        step = (
            mp.mpf(10) ** -6
        )  # of ninth-order differences in t: 6^8 times smaller than the interval of a knot to the power
        truth = np.zeros((order + 1, 2))
        for c in (0, 1):
            values = [force(c, k * step) for k in range(-6, 7)]
            lagrange = mp.matrix([[mp.mpf(k) ** n for n in range(13)] for k in range(-6, 7)])
            coefficients = mp.lu_solve(lagrange, mp.matrix(values))
            for k in range(order + 1):
                truth[k, c] = float(coefficients[k] / step**k * mp.factorial(k))
    found = robot.inverse_dynamics(q, stack)
    for k in range(order + 1):
        np.testing.assert_allclose(found[k], truth[k], rtol=0, atol=1e-13 * np.abs(truth[k]).max())
    acc = robot.forward_dynamics(q, stack[0], truth)
    for k in range(order + 1):
        np.testing.assert_allclose(acc[k], stack[k + 1], rtol=0, atol=1e-11 * np.abs(stack).max())


def test_a_joint_on_an_ellipsoid_keeps_its_energy() -> None:
    """A shoulder blade that slides on the ribs: two coordinates of position, one of rotation."""
    a, b, c = 0.08, 0.1, 0.15

    def blade(q: Any) -> Any:
        u, w, spin = q
        p = [a * np.cos(u) * np.cos(w), b * np.sin(u) * np.cos(w), c * np.sin(w)]
        R = turned(np.array([0.0, 0.0, 1.0]), u) @ turned(np.array([0.0, -1.0, 0.0]), w)
        return placed(R @ turned(np.array([1.0, 0.0, 0.0]), spin), p)

    builder = jn.Builder()
    joint = jn.CustomJoint(blade, 3, scale=[1.0, 0.8, 1.5], coordinate_names=["along", "up", "spin"])
    builder.add("blade", "world", joint, inertia=jn.Inertia(0.7, (0.0, 0.05, 0.02), np.diag([2e-3, 1e-3, 2e-3])))
    robot = builder.build()
    q0, v0 = np.array([0.2, -0.1, 0.3]), np.array([1.0, 0.5, -2.0])
    run = jn.simulate(robot, q0, v0, np.linspace(0.0, 0.5, 20))
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    assert np.ptp(energy) < 1e-8
    assert np.ptp(robot.kinetic_energy(run.q, run.v)) > 0.01
    assert run.q_names == ("blade.along", "blade.up", "blade.spin")


# --- construction, copies and bad input ---------------------------------------------------------------------------


def test_pickles_have_the_recording_and_no_function() -> None:
    offset = 0.1  # a closure, which pickle would refuse
    joint = jn.CustomJoint(lambda q: placed(turned(np.array([0.0, 0.0, 1.0]), q[0] + offset), [0.0, 0.0, q[0]]), 1)
    b = jn.Builder()
    b.add("screw", "world", joint, inertia=jn.Inertia(1.0, (0.1, 0, 0)))
    robot = b.build()
    again = pickle.loads(pickle.dumps(robot))
    stack = np.ones((3, 1))
    np.testing.assert_array_equal(again.inverse_dynamics([0.3], stack), robot.inverse_dynamics([0.3], stack))
    np.testing.assert_allclose(joint.pose([0.4]), again.bodies[0].joint.pose([0.4]))
    assert joint.pose(np.zeros((2, 3, 1))).shape == (2, 3, 4, 4)


def test_limits_and_names_of_each_coordinate() -> None:
    b = jn.Builder()
    limits = [jn.Limits(-1.0, 2.0, velocity=3.0), None]
    joint = jn.CustomJoint(
        lambda q: placed(turned(np.array([0.0, 0.0, 1.0]), q[0]), [0.0, 0.0, q[1]]),
        2,
        limits=limits,
        scale=[1.0, 0.2],
        coordinate_units=["rad", "m"],
        name="sleeve",
    )
    b.add("tube", "world", joint, inertia=jn.Inertia(1.0, (0.1, 0, 0), np.eye(3)))
    robot = b.build()
    np.testing.assert_array_equal(robot.lower, [-1.0, -np.inf])
    np.testing.assert_array_equal(robot.upper, [2.0, np.inf])
    np.testing.assert_array_equal(robot.velocity_limit, [3.0, np.inf])
    q = robot.random_configuration(np.random.default_rng(0), 1000)
    assert q.min(axis=0) == pytest.approx([-1.0, -0.2], abs=0.05)
    assert q.max(axis=0) == pytest.approx([2.0, 0.2], abs=0.05)
    assert robot.joint_names == ("sleeve",)


def turn_z(q: Any) -> Any:
    return placed(turned(np.array([0.0, 0.0, 1.0]), q[0]), [0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: jn.CustomJoint(turn_z, 0), "n is 0, expected"),
        (lambda: jn.CustomJoint(turn_z, 7), "n is 7, expected"),
        (lambda: jn.CustomJoint(3, 1), "pose is 3, expected a function"),
        (lambda: jn.CustomJoint(lambda q: np.eye(3), 1), r"pose\(q\) has shape \(3, 3\), expected \(4, 4\)"),
        (lambda: jn.CustomJoint(lambda q: 2 * turn_z(q), 1), "expected a rotation and a translation"),
        (lambda: jn.CustomJoint(lambda q: np.eye(4), 1), r"coordinate 0 does not move the body at q = \[0.0\]"),
        (lambda: jn.CustomJoint(lambda q: turn_z(q * q), 1), r"coordinate 0 does not move the body at q = \[0.0\]"),
        (
            lambda: jn.CustomJoint(lambda q: turn_z([q[0] + q[1]]), 2),
            r"coordinates move the body alike at q = \[.*\], expected each coordinate to move it independently$",
        ),
        (
            lambda: jn.CustomJoint(turn_z, 1).changed(armature=0.1),
            "armature is 0.1, but a CustomJoint has none: give a rotor",
        ),
        (
            lambda: jn.CustomJoint(lambda q: turn_z([q[1]]), 1),
            "pose does not take 1 coordinate, which n says: index 1",
        ),
        (
            lambda: jn.CustomJoint(lambda q: turn_z([(q[0] - 0.3) ** 2]), 1, scale=3.0),
            "coordinate 0 does not move the body",
        ),
        (lambda: jn.CustomJoint(lambda q: turn_z([math.sin(q[0])]), 1), "NumPy's functions rather than those of math"),
        (lambda: jn.CustomJoint(lambda q: turn_z([abs(q[0])]), 1), "cannot be recorded"),
        (lambda: jn.CustomJoint(turn_z, 1, scale=0.0), "scale is 0.0, expected positive numbers"),
        (lambda: jn.CustomJoint(turn_z, 1, damping=-1.0), "damping is"),
        (lambda: jn.CustomJoint(turn_z, 1, limits=[None, None]), "limits is .*, expected a jounce.Limits"),
        (lambda: jn.CustomJoint(turn_z, 1, limits=3.0), "limits is 3.0, expected a jounce.Limits"),
        (lambda: jn.CustomJoint(turn_z, 1, rest=[1.0, 2.0]), "rest has shape"),
        (lambda: jn.CustomJoint(turn_z, 1, coordinate_units=["deg"]), "coordinate_units is"),
        (
            lambda: jn.CustomJoint(turn_z, 1, rotor=jn.Rotor(10.0, 1e-4)),
            "rotor has no axis",
        ),
        (lambda: jn.CustomJoint(lambda q: turn_z([q[0] ** 0.5]), 1), "pose"),
    ],
)
def test_what_is_no_joint(make: Any, message: str) -> None:
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=message):
        make()


def euler(q: Any) -> Any:
    z, y, x = (turned(axis, angle) for axis, angle in zip(np.eye(3)[::-1], q, strict=True))
    return placed(z @ y @ x, [0.0, 0.0, 0.0])


@pytest.mark.parametrize("reach", [1.58, 1.7, 2.0, 2.5, 3.0])
def test_a_gimbal_lock_is_found_wherever_it_is(reach: float) -> None:
    for limits in (jn.Limits(-reach, reach), jn.Limits(0.2, reach), jn.Limits(-reach, 0.1)):
        with pytest.raises(ValueError, match="coordinates move the body alike"):
            jn.CustomJoint(euler, 3, limits=[None, limits, None])
    jn.CustomJoint(euler, 3, limits=[None, jn.Limits(-1.5, 1.5), None])


def test_new_limits_are_checked_like_the_first() -> None:
    """Between -1 and 1 rad these angles are fine; at a quarter turn of the middle one, two of them turn alike."""
    b = jn.Builder()
    b.add("ball", "world", jn.CustomJoint(euler, 3), inertia=jn.Inertia(1.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0.3)))
    robot, reach = b.build(), jn.Limits(-2.0, 2.0)
    with pytest.raises(ValueError, match=r"joint 'ball': pose\(q\): coordinates move the body alike at q = "):
        robot.replace(limits={"ball": [None, reach, None]})
    assert robot.replace(limits={"ball": [reach, None, reach]}).upper.tolist() == [2.0, np.inf, 2.0]


def test_ranges_of_coordinates_with_one_limit() -> None:
    for limits, lower, upper in (
        (jn.Limits(lower=5.0), 5.0, 7.0),
        (jn.Limits(upper=-5.0), -7.0, -5.0),
        (jn.Limits(lower=-0.5), -0.5, 1.0),
        (None, -1.0, 1.0),
    ):
        found = jn.CustomJoint(turn_z, 1, limits=limits).range
        assert (found[0][0], found[1][0]) == (lower, upper)


def test_arcs_are_those_of_numpy() -> None:
    def bent(q: Any) -> Any:
        angle = np.arcsin(0.3 * q[0]) + np.arccos(0.2 * q[0]) + np.arctan2(q[0] + 2.0, 1.0 + q[0] ** 2) + 2.0 * q[0]
        return turn_z([angle])

    joint = jn.CustomJoint(bent, 1)
    for x in (-0.9, 0.0, 0.7):
        np.testing.assert_allclose(joint.pose([x]), bent(np.array([x])), atol=1e-14)


class Screwed(jn.CustomJoint):
    def __init__(self, pitch: float) -> None:
        self.pitch = pitch
        super().__init__(lambda q: placed(turned(np.array([0.0, 0.0, 1.0]), q[0]), [0.0, 0.0, self.pitch * q[0]]), 1)


def test_a_class_of_joints() -> None:
    joint = Screwed(0.2)
    assert repr(joint) == "Screwed(n=1)"
    with pytest.raises(AttributeError, match="a joint cannot be changed"):
        joint.pitch = 0.3
    again = pickle.loads(pickle.dumps(joint))
    assert again.pitch == 0.2
    np.testing.assert_array_equal(again.pose([0.4]), joint.pose([0.4]))


def test_a_loop_is_not_closed_by_one() -> None:
    b = jn.Builder()
    for name in ("a", "b"):
        b.add(name, "world", jn.Revolute(), inertia=jn.Inertia(1.0, (0.1, 0, 0)))
    with pytest.raises(ValueError, match="constraint 'loop' is a CustomJoint joint, which cannot close a loop"):
        b.close("loop", "a", "b", jn.CustomJoint(turn_z, 1))


# --- splines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 3, 5, 7, 9])
def test_splines_are_smooth_and_natural(degree: int) -> None:
    rng = np.random.default_rng(degree)
    knots, values = np.cumsum(rng.uniform(0.3, 1.0, 8)), rng.normal(size=8)
    spline = jn.Spline(knots, values, degree)
    np.testing.assert_allclose(spline(knots), values, atol=1e-10)
    polynomials = [np.polynomial.Polynomial(c) for c in spline._coefficients]
    for i, h in enumerate(np.diff(knots)[:-1]):
        for k in range(degree):
            left, right = polynomials[i].deriv(k)(h), polynomials[i + 1].deriv(k)(0.0)
            np.testing.assert_allclose(left, right, atol=1e-7 * max(1.0, abs(left)))
    for k in range((degree + 1) // 2, degree):
        size = max(abs(p.deriv(k)(0.0)) for p in polynomials)
        assert abs(polynomials[0].deriv(k)(0.0)) < 1e-9 * size
        assert abs(polynomials[-1].deriv(k)(np.diff(knots)[-1])) < 1e-9 * size
    assert spline(float(knots[2])) == pytest.approx(values[2])
    assert spline(np.full((2, 3), knots[1])).shape == (2, 3)


def test_the_cubic_spline_is_that_of_scipy() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    knots, values = np.array([0.0, 0.4, 1.1, 1.5, 2.2]), np.array([0.0, 1.0, -0.3, 0.2, 0.5])
    x = np.linspace(0.0, 2.2, 50)
    other = interpolate.CubicSpline(knots, values, bc_type="natural")
    np.testing.assert_allclose(jn.Spline(knots, values, 3)(x), other(x), atol=1e-13)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0], [1.0]), "knots is .*, expected at least two increasing numbers"),
        (([0.0, 0.0, 1.0], [1.0, 2.0, 3.0]), "knots is .*, expected at least two increasing numbers"),
        (([0.0, 1.0, 2.0], [1.0, 2.0]), "values is .*, expected 3 finite numbers"),
        (([0.0, 1.0, 2.0], [1.0, np.nan, 2.0]), "values is .*, expected 3 finite numbers"),
        (([0.0, 1.0], [1.0, 2.0], 4), "degree is 4, expected an odd number"),
        (([0.0, 1.0], [1.0, 2.0], 5), "degree is 5, which needs at least 3 knots, got 2"),
        (([0.0, 1.0], [1.0, 2.0], 11), "degree is 11"),
    ],
)
def test_what_is_no_spline(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        jn.Spline(*arguments)
