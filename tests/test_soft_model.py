"""Soft robots as models: shapes and types of input, batches, threads, copies, instruction sets, and simulation."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

import jounce as jn
from soft_build import error, heavy_robot

KINDS = ("revolute", "rigid", "planar", "spatial", "variable radius")


@cache
def robot_and_state() -> tuple[jn.Model, np.ndarray, np.ndarray]:
    return heavy_robot(2, KINDS, 4, floating=True, slow=True)


def states(robot: jn.Model, shape: tuple[int, ...], rows: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    q = robot.random_configuration(rng, shape)
    scale = np.ones(robot.nv)
    for b in robot.bodies:
        if b.soft is not None:
            scale[robot.coordinate(b.name)] = b.soft.scale
    return q, scale * rng.uniform(-1, 1, (*shape, rows, robot.nv))


CALLS = {
    "inverse_dynamics": lambda r, q, v: r.inverse_dynamics(q, v),
    "inverse_dynamics of rows": lambda r, q, v: r.inverse_dynamics(q, v[..., 0, :], v[..., 1, :]),
    "generalized_inverse_dynamics": lambda r, q, v: r.generalized_inverse_dynamics(q, v),
    "generalized_inverse_dynamics of rows": lambda r, q, v: r.generalized_inverse_dynamics(
        q, v[..., 0, :], v[..., 1, :]
    ),
    "inverse_dynamics_passive": lambda r, q, v: r.inverse_dynamics_passive(q, *(v[..., k, :] for k in range(3))),
    "bias_force": lambda r, q, v: r.bias_force(q, v[..., 0, :]),
    "forward_dynamics": lambda r, q, v: r.forward_dynamics(q, v[..., 0, :], v[..., 1:, :]),
    "forward_dynamics of rows": lambda r, q, v: r.forward_dynamics(q, v[..., 0, :], v[..., 1, :]),
    "hybrid_dynamics": lambda r, q, v: r.hybrid_dynamics(
        q, v[..., 0, :], v[..., 1:, :], v[..., 1:, :], prescribed=np.arange(r.nv) < 6
    )[1],
    "mass_matrix": lambda r, q, v: r.mass_matrix(q),
    "inverse_mass_matrix": lambda r, q, v: r.inverse_mass_matrix(q),
    "mass_matrix_derivatives": lambda r, q, v: r.mass_matrix_derivatives(q, v),
    "coriolis_matrix": lambda r, q, v: r.coriolis_matrix(q, v[..., 0, :]),
    "coriolis_matrix_derivatives": lambda r, q, v: r.coriolis_matrix_derivatives(q, v),
    "gravity_force": lambda r, q, v: r.gravity_force(q),
    "gravity_force_derivatives": lambda r, q, v: r.gravity_force_derivatives(q, v),
    "elastic_force": lambda r, q, v: r.elastic_force(q),
    "damping_force": lambda r, q, v: r.damping_force(q, v[..., 0, :]),
    "actuation_matrix": lambda r, q, v: r.actuation_matrix(q),
    "pose": lambda r, q, v: r.pose("m2", q),
    "twist": lambda r, q, v: r.twist("m2", q, v),
    "jacobian": lambda r, q, v: r.jacobian("m2", q),
    "jacobian_derivatives": lambda r, q, v: r.jacobian_derivatives("m2", q, v),
    "kinetic_energy": lambda r, q, v: r.kinetic_energy(q, v[..., 0, :]),
    "kinetic_energy_derivatives": lambda r, q, v: r.kinetic_energy_derivatives(q, v),
    "potential_energy": lambda r, q, v: r.potential_energy(q),
    "potential_energy_derivatives": lambda r, q, v: r.potential_energy_derivatives(q, v),
    "center_of_mass": lambda r, q, v: r.center_of_mass(q),
    "centroidal_momentum": lambda r, q, v: r.centroidal_momentum(q, v[..., 0, :]),
    "dtau_dq": lambda r, q, v: r.inverse_dynamics_derivatives(q, v[..., 0, :], v[..., 1, :])[0],
    "dtau_dq of stacks": lambda r, q, v: r.inverse_dynamics_derivatives(q, v)[0],
    "dtau_dv of stacks": lambda r, q, v: r.inverse_dynamics_derivatives(q, v)[1],
    "da_dq": lambda r, q, v: r.forward_dynamics_derivatives(q, v[..., 0, :], v[..., 1, :])[0],
    "A": lambda r, q, v: r.linearize(q, v[..., 0, :], v[..., 1, :]).A,
    "integrate": lambda r, q, v: r.integrate(q, v[..., 0, :]),
    "difference": lambda r, q, v: r.difference(q, r.integrate(q, 0.1 * v[..., 0, :])),
    "change_velocity_frame": lambda r, q, v: r.change_velocity_frame(q, v, "body", "world"),
}


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0,), (2, 0)], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_batches_are_single_states(name, shape):
    robot, *_ = robot_and_state()
    q, v = states(robot, shape)
    found = CALLS[name](robot, q, v)
    single = CALLS[name](robot, *(x[0] for x in states(robot, (1,))))
    assert found.shape == shape + np.shape(single)
    for i in list(np.ndindex(*shape))[:: max(1, int(np.prod(shape)) // 3)]:
        expected = CALLS[name](robot, q[i], v[i])
        assert error(found[i], expected) < 1e-12


@pytest.mark.parametrize("name", CALLS)
def test_q_and_v_broadcast(name):
    robot, *_ = robot_and_state()
    q, v = states(robot, (2, 3))
    q, v = q[:, :1], v[:1]
    found = CALLS[name](robot, q, v)
    wide = np.broadcast_to(q, (2, 3, robot.nq)).copy(), np.broadcast_to(v, (2, 3, *v.shape[2:])).copy()
    expected = CALLS[name](robot, *wide)
    if found.shape != expected.shape:  # of q alone
        assert found.shape == (2, 1, *expected.shape[2:])
        expected = expected[:, :1]
    assert error(found, expected) < 1e-12
    one = CALLS[name](robot, q[0, 0], np.broadcast_to(v, (2, 3, *v.shape[2:])))
    if one.shape == found.shape:
        assert error(one[0], CALLS[name](robot, wide[0][:1], wide[1][:1])[0]) < 1e-12


def test_lists_floats_and_strange_arrays():
    robot, q, v = robot_and_state()
    expected = robot.inverse_dynamics(q, v[0], v[1])
    np.testing.assert_array_equal(robot.inverse_dynamics(q.tolist(), v[0].tolist(), v[1].tolist()), expected)
    np.testing.assert_array_equal(robot.inverse_dynamics(tuple(q), tuple(v[0]), tuple(v[1])), expected)
    np.testing.assert_array_equal(robot.inverse_dynamics(q, v[:2].tolist())[0], robot.inverse_dynamics(q, v[:2])[0])
    strided = np.repeat(q, 2)[::2], np.asfortranarray(np.stack([v[0], v[0]]))[1], v[1][::-1][::-1]
    np.testing.assert_array_equal(robot.inverse_dynamics(*strided), expected)
    frozen = q.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(robot.inverse_dynamics(frozen, v[0], v[1]), expected)
    np.testing.assert_allclose(robot.elastic_force(q.tolist()), robot.elastic_force(q), rtol=1e-15)
    np.testing.assert_allclose(robot.damping_force(q.tolist(), v[0].tolist()), robot.damping_force(q, v[0]), rtol=1e-15)
    np.testing.assert_allclose(
        robot.forward_dynamics(q.tolist(), v[0].tolist(), v[1].tolist()),
        robot.forward_dynamics(q, v[0], v[1]),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        robot.potential_energy_derivatives(q.tolist(), v.tolist()), robot.potential_energy_derivatives(q, v), rtol=1e-14
    )
    ones = np.zeros(robot.nq, dtype=int)
    ones[6] = 1
    assert np.isfinite(robot.inverse_dynamics(ones, np.zeros(robot.nv, int), np.zeros(robot.nv, int))).all()
    single = robot.inverse_dynamics(q.astype(np.float32), v[0].astype(np.float32), v[1].astype(np.float32))
    assert single.dtype == np.float64
    assert error(single, expected) < 1e-5


def test_inputs_are_left_alone():
    robot, q, v = robot_and_state()
    kept = q.copy(), v.copy()
    for call in CALLS.values():
        call(robot, q, v)
    np.testing.assert_array_equal(q, kept[0])
    np.testing.assert_array_equal(v, kept[1])


@pytest.mark.parametrize(
    "method",
    [
        "inverse_dynamics",
        "gravity_force_derivatives",
        "mass_matrix_derivatives",
        "coriolis_matrix_derivatives",
        "kinetic_energy_derivatives",
        "potential_energy_derivatives",
    ],
)
def test_results_into_arrays(method):
    robot, q, v = robot_and_state()
    expected = getattr(robot, method)(q, v)
    out = np.full_like(expected, np.nan)
    assert getattr(robot, method)(q, v, out=out) is out
    np.testing.assert_array_equal(out, expected)
    for bad in (np.zeros(3), expected.astype(np.float32), expected.tolist(), np.zeros((*expected.shape, 1))):
        with pytest.raises((ValueError, TypeError), match="out"):
            getattr(robot, method)(q, v, out=bad)
    frozen = np.zeros_like(expected)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match=r"out|read-only"):
        getattr(robot, method)(q, v, out=frozen)


def test_forward_dynamics_into_arrays():
    robot, q, v = robot_and_state()
    out = np.empty(robot.nv)
    assert robot.forward_dynamics(q, v[0], v[1], out=out) is out
    np.testing.assert_array_equal(out, robot.forward_dynamics(q, v[0], v[1]))


def bell(s: float) -> np.ndarray:
    phi = np.zeros((6, 2))
    phi[4] = 1.0, np.exp(-((s - 0.1) ** 2) / 0.01)
    return phi


def vase(s: float) -> float:
    return 0.02 + 0.01 * s


def spiral(s: float) -> tuple[float, float]:
    return 0.01 * np.cos(9 * s), 0.01 * np.sin(9 * s)


def tentacle(strain, radius, route) -> jn.Model:
    b = jn.Builder()
    b.add("base", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(0.1, rotational=(0.01, 0.01, 0.01)))
    rod = jn.soft.Rod(
        0.2,
        radius,
        1000.0,
        1e5,
        damping=0.1,
        strain=strain,
        actuators=[jn.soft.Tendon("t", route)],
        nodes=6,
        check=False,
    )
    b.add("rod", "base", body=rod)
    b.add("tool", "rod", at=0.1, inertia=jn.Inertia(0.05))
    b.add(
        "end",
        "rod",
        body=jn.soft.VariableRadius(0.1, 0.01, 1000.0, 1e5, poisson=0.4, law="solid", nodes=(6, 4), check=False),
    )
    return b.build()


@pytest.mark.parametrize("strain", [None, bell, jn.soft.polynomial(1, ("bend_x",)), np.eye(6)[:, :5]], ids=range(4))
def test_pickles_and_copies(strain):
    robot = tentacle(strain, vase, spiral)
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng), rng.normal(size=(3, robot.nv))
    for again in (pickle.loads(pickle.dumps(robot)), copy.copy(robot), copy.deepcopy(robot)):
        assert (again.nq, again.joint_names, again.frame_names, again.input_names) == (
            robot.nq,
            robot.joint_names,
            robot.frame_names,
            robot.input_names,
        )
        np.testing.assert_array_equal(again.inverse_dynamics(q, v), robot.inverse_dynamics(q, v))
        np.testing.assert_array_equal(again.actuation_matrix(q), robot.actuation_matrix(q))
        np.testing.assert_array_equal(again.pose("tool", q), robot.pose("tool", q))
    rod = robot.bodies[1].soft
    assert pickle.loads(pickle.dumps(rod)).nodes == rod.nodes == copy.copy(rod).nodes


@pytest.mark.parametrize("which", ["strain", "radius", "route"])
def test_functions_that_cannot_be_pickled_say_so(which):
    given = {"strain": bell, "radius": vase, "route": spiral} | {
        which: lambda s: {"strain": bell, "radius": vase, "route": spiral}[which](s)
    }
    robot = tentacle(**given)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(robot)
    assert copy.deepcopy(robot) is robot


def test_a_body_that_is_used_twice():
    """A soft body may be used in several places and robots, and a builder may build again: children stay separate."""
    rod = jn.soft.Rod(0.2, 0.02, 1000.0, 1e5)
    load = jn.Inertia(0.3, (0.1, 0.02, 0.0), (0.01, 0.01, 0.01))
    bare, loaded = jn.Builder(), jn.Builder()
    bare.add("rod", "world", body=rod)
    expected = bare.build().mass_matrix([0.4, -0.3, 0.01])
    for name, at in (("a", None), ("b", 0.1)):
        loaded.add(name, "world", body=rod)
        loaded.add(f"{name} load", name, at=at, inertia=load)
    first, second = loaded.build(), loaded.build()
    q, v = np.array([0.4, -0.3, 0.01] * 2), np.ones((2, 6))
    np.testing.assert_array_equal(first.mass_matrix(q), second.mass_matrix(q))
    made = first.mass_matrix(q) @ v[1] + first.coriolis_matrix(q, v[0]) @ v[0]
    np.testing.assert_allclose(first.generalized_inverse_dynamics(q, *v), made, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(bare.build().mass_matrix([0.4, -0.3, 0.01]), expected)
    assert error(first.mass_matrix(q)[:3, :3], first.mass_matrix(q)[3:, 3:]) > 0.1


def test_models_do_not_change():
    robot, *_ = robot_and_state()
    with pytest.raises(AttributeError, match="cannot be changed"):
        robot.gravity = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        robot.gravity[0] = 1.0


def test_threads_give_the_same_from_the_first_call_on():
    """Some data for derivatives is computed on first use, possibly by several threads at once."""
    calls = [
        n
        for n in CALLS
        if n not in ("pose", "twist", "jacobian", "jacobian_derivatives", "hybrid_dynamics", "change_velocity_frame")
    ]
    for _ in range(3):
        robot = tentacle(None, 0.02, spiral)
        q, v = states(robot, ())
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda n: CALLS[n](robot, q, v), 2 * calls))  # noqa: B023
        fresh = tentacle(None, 0.02, spiral)
        for name, value in zip(2 * calls, found, strict=True):
            np.testing.assert_allclose(value, CALLS[name](fresh, q, v), rtol=1e-12, atol=1e-12)


@cache
def best_answers() -> dict[str, np.ndarray]:
    robot, *_ = robot_and_state()
    q, v = states(robot, (7,))
    return {name: call(robot, q, v) for name, call in CALLS.items()}


def test_instruction_sets_agree(instruction_set):
    robot, *_ = robot_and_state()
    q, v = states(robot, (7,))
    for name, call in CALLS.items():
        assert error(call(robot, q, v), best_answers()[name]) < 1e-11, name


def test_names_coordinates_and_texts():
    robot = tentacle(None, 0.02, spiral)
    assert robot.joint_names == ("base", "rod", "end")
    assert robot.body_names == ("base", "rod", "end")
    assert robot.frame_names == ("base", "rod", "end", "tool")
    assert [robot.coordinate(n) for n in robot.joint_names] == [slice(0, 1), slice(1, 4), slice(4, 8)]
    assert (robot.nq, robot.nv) == (8, 8)
    assert robot.input_names == ("t", "end pressure 1", "end pressure 2")
    text = str(robot)
    assert "rod: Rod(length=0.2, 3 coordinates)" in text
    assert "tool" in text
    np.testing.assert_array_equal(robot.neutral(), np.zeros(8))
    q = robot.random_configuration(np.random.default_rng(0), (1000,))
    assert 0.2 < np.abs(q[:, 1]).max() < 3
    assert np.isinf(robot.upper).all()
    np.testing.assert_allclose(robot.difference(q[0], robot.integrate(q[0], q[1])), q[1], rtol=1e-12, atol=1e-15)


def test_a_joint_of_a_soft_body_and_joints_that_follow():
    """A rod on a joint that follows another: the same forces as with the coupling written out."""
    robots = []
    for follows in (None, jn.Follow("arm", -0.5, 0.2)):
        b = jn.Builder()
        b.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(0.3, (0.1, 0, 0), (0.01, 0.01, 0.01)))
        b.add(
            "rod",
            "arm",
            jn.Revolute((1, 0, 0), follows=follows, damping=0.2),
            body=jn.soft.Rod(0.2, 0.02, 1000.0, 1e4, damping=0.1),
        )
        robots.append(b.build())
    free, coupled = robots
    assert free.joint_names == ("arm", "rod", "rod.shape")
    assert coupled.joint_names == ("arm", "rod.shape")
    G = np.zeros((5, 4))
    G[0, 0], G[1, 0], G[2:, 1:] = 1, -0.5, np.eye(3)
    rng = np.random.default_rng(0)
    q, v = coupled.random_configuration(rng), rng.normal(size=(4, 4))
    full = G @ q + [0, 0.2, 0, 0, 0]
    np.testing.assert_allclose(
        coupled.inverse_dynamics(q, v), free.inverse_dynamics(full, v @ G.T) @ G, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(coupled.damping_force(q, v[0]), free.damping_force(full, G @ v[0]) @ G, rtol=1e-12)
    for a, b in zip(
        coupled.inverse_dynamics_derivatives(q, *v[:2]),
        free.inverse_dynamics_derivatives(full, *(v[:2] @ G.T)),
        strict=True,
    ):
        np.testing.assert_allclose(a, G.T @ b @ G, rtol=1e-11, atol=1e-11)


def test_energy_is_kept_and_damping_takes_it():
    for damping in (0.0, 0.02):
        b = jn.Builder()
        b.add("base", "world", jn.Free(), inertia=jn.Inertia(0.5, rotational=(0.01, 0.01, 0.01)))
        b.add(
            "rod",
            "base",
            body=jn.soft.Rod(0.3, 0.02, 1000.0, 2e3, damping=damping, strain=jn.soft.constant_curvature(True)),
        )
        robot = b.build()
        q, v = robot.neutral(), np.zeros(robot.nv)
        q[7], v[3:6] = 0.8, [0.5, 1.0, -0.3]
        motion = jn.simulate(robot, q, v, np.linspace(0, 0.3, 31))
        energy = robot.kinetic_energy(motion.q, motion.v) + robot.potential_energy(motion.q)
        size = np.ptp(robot.kinetic_energy(motion.q, motion.v))
        lost = energy[0] - energy
        if damping == 0:
            assert np.abs(lost).max() < 1e-6 * size
        else:
            assert (np.diff(lost) > 0).all()
            power = np.einsum("ti,ti->t", robot.damping_force(motion.q, motion.v), motion.v)
            simpson = 0.01 / 3 * (power[0] + 4 * power[1:-1:2].sum() + 2 * power[2:-1:2].sum() + power[-1])
            assert abs(lost[-1] / simpson - 1) < 1e-3


def test_what_only_rigid_robots_have_is_refused():
    robot, q, v = robot_and_state()
    for call in (
        lambda: robot.inverse_dynamics_regressor(q, v),
        lambda: robot.inertial_parameters,
    ):
        with pytest.raises(ValueError, match=r"rigid"):
            call()
