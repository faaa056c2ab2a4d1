"""Modules, soft bodies written by users as functions: a rod of constant curvature as a module is that rod."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import jounce as jn
from soft_models import gauss

LENGTH, RADIUS, DENSITY, YOUNG, DAMPING, NODES = 0.3, 0.015, 1100.0, 2e5, 0.04, 6


class Bow(jn.soft.Module):
    """Piecewise constant curvature: bends about y and about -x, and an elongation; mass on the backbone."""

    n = 3
    scale = np.array([0.5, 0.5, 0.03])

    def __init__(self) -> None:
        self.s, weights = gauss(NODES, 0.0, 1.0)
        self.masses = DENSITY * np.pi * RADIUS**2 * LENGTH * weights
        area, bending = np.pi * RADIUS**2, np.pi * RADIUS**4 / 4
        self.stiffness_ = YOUNG / LENGTH * np.array([bending, bending, area])

    def section(self, q, s):
        """Rotation and position at the fraction s: Rodrigues' formula with smooth functions of the squared angle."""
        w = s * np.array([-q[1], q[0], 0.0 * q[0]], dtype=object)
        turn = np.array([[0.0, 0.0, w[1]], [0.0, 0.0, -w[0]], [-w[1], w[0], 0.0]], dtype=object)
        square = turn @ turn
        u = w[0] ** 2 + w[1] ** 2
        c1, c2, c3 = (jn.soft.stumpff(k, u) for k in (1, 2, 3))
        along = np.array([0.0, 0.0, 1.0]) * (s * (LENGTH + q[2]))
        return np.eye(3) + c1 * turn + c2 * square, (np.eye(3) + c2 * turn + c3 * square) @ along

    def pose(self, q):
        R, x = self.section(q, 1.0)
        return np.vstack([np.column_stack([R, x]), [0, 0, 0, 1]])

    def points(self, q):
        return np.array([self.section(q, s)[1] for s in self.s])

    def energy(self, q):
        return 0.5 * np.sum(self.stiffness_ * q * q)

    def dissipation(self, q, v):
        return 0.5 * DAMPING * np.sum(self.stiffness_ * v * v)

    def inputs(self, q):
        return np.array([-LENGTH - q[2] + 0.01 * q[0]])


def robot_of(body: object) -> jn.Model:
    """Two such bodies, between rigid bodies, on a floating base."""
    b = jn.Builder(gravity=(1.0, -2.0, -9.0))
    b.add("base", parent="world", joint=jn.Free(), inertia=jn.Inertia(1.0, rotational=(0.01, 0.02, 0.03)))
    b.add("first", parent="base", body=body)
    b.add("load", parent="first", joint=jn.Revolute((1, 0, 0)), inertia=jn.Inertia(0.2, com=(0.02, 0.03, 0.0)))
    b.add("second", parent="load", body=body)
    b.add("tip", parent="second", inertia=jn.Inertia(0.05, com=(0.0, 0.01, 0.02)))
    return b.build()


ROD = robot_of(
    jn.soft.Rod(
        LENGTH, RADIUS, DENSITY, YOUNG, damping=DAMPING, section="line", nodes=NODES,
        actuators=[jn.soft.Tendon("cable", (0.01, 0.0))],
    )
)  # fmt: skip
MODULE = robot_of(Bow())


def state(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return ROD.random_configuration(rng), rng.normal(size=(rows, ROD.nv))


def close(actual: np.ndarray, expected: np.ndarray, tolerance: float = 1e-12) -> None:
    assert actual.shape == expected.shape
    assert np.abs(actual - expected).max() < tolerance * np.abs(expected).max()


def test_a_rod_written_as_a_module_is_that_rod_to_the_fourth_derivative():
    q, v = state(6)
    for method in ("inverse_dynamics", "generalized_inverse_dynamics"):
        for actual, expected in zip(getattr(MODULE, method)(q, v), getattr(ROD, method)(q, v), strict=True):
            close(actual, expected, 1e-11)


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-3, 3.0])
def test_straight_and_bent(scale):
    q, v = state(4, 1)
    for name in ("first", "second"):
        q[ROD.position(name)] *= scale
    close(MODULE.inverse_dynamics(q, v), ROD.inverse_dynamics(q, v), 1e-11)
    close(MODULE.pose("tip", q), ROD.pose("tip", q))


def test_matrices_energies_and_kinematics():
    q, v = state(3, 2)
    for method in ("mass_matrix_derivatives", "gravity_force_derivatives"):
        close(getattr(MODULE, method)(q, v), getattr(ROD, method)(q, v))
    # The matrix itself is not unique: Lemma 1's includes the rotation of sections, and points do not rotate.
    C = MODULE.coriolis_matrix(q, v[0])
    close(C @ v[0], ROD.coriolis_matrix(q, v[0]) @ v[0])
    close(C + C.T, ROD.mass_matrix_derivatives(q, v)[1])
    close(MODULE.jacobian_derivatives("tip", q, v), ROD.jacobian_derivatives("tip", q, v))
    close(MODULE.elastic_force(q), ROD.elastic_force(q))
    close(MODULE.damping_force(q, v[0]), ROD.damping_force(q, v[0]))
    close(MODULE.potential_energy_derivatives(q, v), ROD.potential_energy_derivatives(q, v))
    close(MODULE.kinetic_energy_derivatives(q, v), ROD.kinetic_energy_derivatives(q, v))


def test_forward_dynamics_derivatives_and_linearization():
    q, v = state(2, 3)
    tau = ROD.inverse_dynamics(q, *v)
    close(MODULE.forward_dynamics(q, v[0], tau), v[1], 1e-8)
    for actual, expected in zip(
        MODULE.inverse_dynamics_derivatives(q, *v), ROD.inverse_dynamics_derivatives(q, *v), strict=True
    ):
        close(actual, expected)
    for actual, expected in zip(
        MODULE.inverse_dynamics_derivatives(q, v), ROD.inverse_dynamics_derivatives(q, v), strict=True
    ):
        close(actual, expected)


class Strut(jn.soft.Module):
    """A mass that slides in two directions."""

    n, masses = 2, np.array([0.1])
    scale = np.array([0.3, 0.3])

    def pose(self, q):
        return np.array([[1, 0, 0, q[0]], [0, 1, 0, 0], [0, 0, 1, 0.2 + q[1]], [0, 0, 0, 1]])

    def points(self, q):
        return np.array([[q[0], 0, 0.1 + q[1]]])


class Stiffening(Strut):
    """With forces that are nonlinear in q and v."""

    def energy(self, q):
        return 3 * q[0] ** 2 + 5 * q[0] ** 4 + 2 * q[0] ** 2 * q[1] + q[1] ** 2

    def dissipation(self, q, v):
        return 0.5 * (1 + q[0] ** 2) * v[0] ** 2 + 0.25 * v[1] ** 4 + 0.3 * v[0] ** 2 * v[1] ** 2


def test_forces_that_are_not_linear_behind_other_coordinates_and_their_derivatives():
    """Against the same functions of polynomials in time, differentiated by hand."""
    plain, robot = robot_of(Strut()), robot_of(Stiffening())
    rng = np.random.default_rng(8)
    q, v = plain.random_configuration(rng), rng.normal(size=(4, plain.nv))
    extra = robot.inverse_dynamics(q, v) - plain.inverse_dynamics(q, v)
    with_, without = robot.inverse_dynamics_derivatives(q, v), plain.inverse_dynamics_derivatives(q, v)
    by_q, by_v = with_[0] - without[0], (with_[1] - without[1])[:, 0]
    factorial = np.array([1, 1, 2, 6, 24])
    for name in ("first", "second"):
        at, columns = q[plain.position(name)], plain.coordinate(name)
        x, y = (np.polynomial.Polynomial([at[c], *v[:, columns][:, c]] / factorial) for c in range(2))
        u, w = x.deriv(), y.deriv()
        force = [
            6 * x + 20 * x**3 + 4 * x * y + (1 + x**2) * u + 0.6 * u * w**2,
            2 * x**2 + 2 * y + w**3 + 0.6 * u**2 * w,
        ]
        slope = [[6 + 60 * x**2 + 4 * y + 2 * x * u, 4 * x], [4 * x, 2 + 0 * x]]
        viscosity = [[1 + x**2 + 0.6 * w**2, 1.2 * u * w], [1.2 * u * w, 3 * w**2 + 0.6 * u**2]]
        before = np.zeros((2, 2))
        for k in range(3):
            expected = np.array([f.deriv(k)(0.0) for f in force])
            np.testing.assert_allclose(extra[k, columns], expected, rtol=1e-10, atol=1e-10)
            K, D = (np.array([[f.deriv(k)(0.0) for f in row] for row in rows]) for rows in (slope, viscosity))
            D, before = D + k * before, K  # a constant change of velocity also changes the position
            np.testing.assert_allclose(by_q[k, columns, columns], K, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(by_v[k, columns, columns], D, rtol=1e-10, atol=1e-10)


def test_inputs_are_named_after_the_body_and_do_work_on_what_it_says():
    q, _ = state(1, 4)
    assert MODULE.input_names == ("first input 1", "second input 1")
    A = MODULE.actuation_matrix(q)
    expected = np.zeros_like(A)
    for column, name in enumerate(("first", "second")):
        expected[MODULE.coordinate(name), column] = 0.01, 0.0, -1.0
    close(A, expected)


def test_pickled_and_in_batches():
    q, v = state(3, 5)
    again = pickle.loads(pickle.dumps(MODULE))
    many = again.inverse_dynamics(np.stack([q, q, q]), np.stack([v, 2 * v, v]))
    close(many[0], MODULE.inverse_dynamics(q, v))
    close(many[1], MODULE.inverse_dynamics(q, 2 * v))


def changed(**functions: object) -> object:
    return type("Changed", (Bow,), functions)()


def turning(cosine, sine):
    """A pose that turns about x by q[0], with a given cosine and sine."""

    def pose(self, q):
        c, s = cosine(q[0]), sine(q[0])
        return np.array([[1.0, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0.1], [0, 0, 0, 1]])

    return pose


def cut_series(x):
    """cos x without the terms from x^8 on: accurate to 1e-11 near zero, to 1e-7 at 0.5."""
    return 1 - x**2 / 2 + x**4 / 24 - x**6 / 720


BAD = {
    "n is 0": {"n": 0},
    "n is True": {"n": True},
    r"pose\(q\) has shape \(3, 3\)": {"pose": lambda self, q: np.eye(3)},
    r"pose\(q\) at q = .*expected a rotation": {"pose": lambda self, q: np.diag([2.0, 1.0, 1.0, 1.0])},
    r"pose\(q\) at q = .*last row": {"pose": lambda self, q: np.eye(4) + np.eye(4)[3][:, None] * np.eye(4)[0]},
    r"points\(q\) has shape \(2, 3\)": {"points": lambda self, q: np.zeros((2, 3))},
    r"points\(q\) is .*finite": {"points": lambda self, q: np.full((NODES, 3), np.nan)},
    r"points\(q\) is .*real numbers": {"points": lambda self, q: "everywhere"},
    r"energy\(q\) is inf": {"energy": lambda self, q: np.inf},
    r"energy\(q\) has shape \(3,\)": {"energy": lambda self, q: q},
    r"energy\(q\) cannot be recorded": {"energy": lambda self, q: q[0] if q[0] > 0 else -q[0]},
    r"dissipation\(q, v\) is nan": {"dissipation": lambda self, q, v: np.nan},
    r"inputs\(q\) is .*finite": {"inputs": lambda self, q: np.array([np.nan])},
    "input_names is .*expected 1": {"input_names": ("one", "two")},
    "pose is 3, expected a function": {"pose": 3},
    # Within the scale of 0.5 rad and 0.03 m, but not at the obvious places
    r"energy\(q\) has no finite gradient at q = \[0\.0, 0\.0, 0\.0\], expected a smooth function$": {
        "energy": lambda self, q: (q[0] ** 2) ** 0.5
    },
    r"energy\(q\) has no finite second derivative at q = \[0\.0": {"energy": lambda self, q: (q[0] ** 2) ** 1.25},
    r"energy\(q\) has no finite value at q = .*Its scale, \[0\.5, 0\.5, 0\.03\], says how far q goes": {
        "energy": lambda self, q: np.log(0.2 + q[1])
    },
    r"dissipation\(q, v\) has no finite gradient at q = \[0\.0, .*, v = \[0\.0, 0\.0, 0\.0\]": {
        "dissipation": lambda self, q, v: (v[0] ** 2) ** 0.5  # dry friction
    },
    r"inputs\(q\) has no finite gradient at q = \[0\.0": {"inputs": lambda self, q: np.array([np.sqrt(q[0] ** 2)])},
    r"points\(q\) has no finite gradient at q = \[0\.0": {
        "points": lambda self, q: np.array([[0.0, 0.0, s + np.sqrt(q[0] ** 2 + q[1] ** 2)] for s in self.s])
    },
    r"pose\(q\) has no finite value at q = .*Its scale": {
        "pose": turning(lambda x: np.sqrt(1 - (x / 0.4) ** 2), lambda x: x / 0.4)
    },
    r"pose\(q\) at q = \[-?0\.\d+, .*expected a rotation and a translation": {"pose": turning(cut_series, np.sin)},
    "scale has shape": {"scale": np.ones(2)},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_modules_are_named(message):
    b = jn.Builder()
    with pytest.raises(ValueError, match=rf"body of 'bow': {message}"):
        b.add("bow", parent="world", body=changed(**BAD[message]))


@pytest.mark.parametrize("masses", [[-1.0] * NODES, [0.0] * NODES, [np.nan] * NODES, "heavy", [[1.0]]])
def test_bad_masses_are_named(masses):
    body = Bow()
    body.masses = masses
    with pytest.raises(ValueError, match="body of 'bow': masses"):
        jn.Builder().add("bow", parent="world", body=body)


def test_a_function_of_more_than_its_arguments_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"body of 'bow': energy.*not what was recorded"):
        jn.Builder().add("bow", parent="world", body=changed(energy=lambda self, q: q[0] ** 2 + rng.normal()))


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.3.0", reason="np.cross takes these now")
def test_a_cross_product_that_numpy_refuses():
    axis = np.array([0.0, 0.0, 1.0])
    with pytest.raises(ValueError, match=r"energy\(q\) cannot be recorded: .*; np.cross of single vectors needs"):
        jn.Builder().add("bow", parent="world", body=changed(energy=lambda self, q: np.sum(np.cross(q, axis) ** 2)))
    body = changed(energy=lambda self, q: np.sum(np.cross(q[None], axis[None]) ** 2))
    jn.Builder().add("bow", parent="world", body=body)


def test_inputs_that_end_somewhere():
    """At 0.7 rad the volume has no derivative: an error there, and no equilibrium beyond it."""
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("bow", parent="world", body=changed(inputs=lambda self, q: np.array([np.log(0.7 - q[0])])))
    robot = b.build()
    np.testing.assert_allclose(robot.actuation_matrix([0.1, 0.0, 0.0]), [[-1 / 0.6], [0], [0]], rtol=1e-14)
    said = r"^the inputs of body 'bow' have no finite derivative where its q is \[0\.7, 0\.0, 0\.0\]"
    with pytest.raises(jn.SingularError, match=said):
        robot.actuation_matrix([0.7, 0.0, 0.0])
    with pytest.raises(jn.SingularError, match=said):
        robot.actuation_matrix([[0.1, 0.0, 0.0], [0.7, 0.0, 0.0]])
    with pytest.raises(jn.SingularError, match=r"^the inputs of body 'bow'"):
        robot.linearize([0.7, 0.0, 0.0], np.zeros(3), np.zeros(3), u=[1.0])


def test_a_module_has_no_material_coordinates():
    b = jn.Builder()
    b.add("bow", parent="world", body=Bow())
    with pytest.raises(ValueError, match=r"at of 'eye' is 0\.0, but its parent 'bow' can carry others"):
        b.add("eye", parent="bow", at=0.0)
    with pytest.raises(ValueError, match="no sections along a backbone"):
        b.build().backbone("bow", np.zeros(3))
