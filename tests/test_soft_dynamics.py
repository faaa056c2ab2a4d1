"""Soft trees against stored states, Lagrange's equations, Kane's recursion, and laws that their forces obey."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import jounce as jn
from oracles import paper_d, soft_lagrange
from soft_build import build_soft, central, cut, error, heavy_robot, heavy_tree, rod_of, row_errors
from soft_models import (
    Joint,
    Rod,
    SoftSpec,
    VariableRadiusBody,
    constant_basis,
    constant_curvature,
    from_reference,
    legendre_basis,
    random_module,
    random_soft_state,
    random_soft_tree,
    reference,
)

REFERENCE = reference()
SPECS = {name: from_reference(model) for name, model in REFERENCE["models"].items()}
STATES = {(name, s["label"]): s for name, model in REFERENCE["models"].items() for s in model["states"]}
EXACT = {name: build_soft(spec, exact_nodes=True) for name, spec in SPECS.items()}
DEFAULT = {name: build_soft(spec) for name, spec in SPECS.items() if "N10" not in name}

UNIFORM = ("revolute", "prismatic", "rigid", "planar", "spatial", "variable radius")
VARYING = ("revolute", "rigid", "gaussian", "general")
FORWARD = ("revolute", "rigid", "planar", "spatial", "variable radius")


def unit_of(robot: jn.Model, q: np.ndarray) -> np.ndarray:
    """A unit for each generalized force, in which its coordinate has unit mass."""
    return np.sqrt(np.diagonal(robot.mass_matrix(q)))


# --- stored states --------------------------------------------------------------------------------------


def reference_errors(robot: jn.Model, state: dict) -> dict[str, float]:
    q, v, a = (np.array(state[k]) for k in ("q", "qd", "qdd"))
    found = {
        "M": robot.mass_matrix(q),
        "n": robot.generalized_inverse_dynamics(q, v, 0 * v),
        "Q_inertial": robot.generalized_inverse_dynamics(q, v, a),
        "Q_gravity": -robot.gravity_force(q),
        "Q_elastic": -robot.elastic_force(q),
        "Q_damping": -robot.damping_force(q, v),
        "Qa_AID": robot.inverse_dynamics(q, v, a),
        "kinetic_energy": robot.kinetic_energy(q, v),
        "tip_pose": robot.pose(f"m{len(robot.bodies) - 1}", q),
    }
    if "U_elastic" in state:
        found["U_elastic + V_gravity"] = robot.potential_energy(q)
        state = state | {"U_elastic + V_gravity": state["U_elastic"] + state["V_gravity"]}
    if "u" in state:
        found["Q_act"] = robot.actuation_matrix(q) @ state["u"]
    return {k: error(value, np.array(state[k])) for k, value in found.items() if k in state}


@pytest.mark.parametrize(("name", "label"), STATES)
def test_reference_states_with_the_nodes_they_state(name, label):
    errors = reference_errors(EXACT[name], STATES[name, label])
    assert max(errors.values()) < 1e-9, errors
    assert {"M", "n", "Q_inertial", "Q_gravity"} <= set(errors)


@pytest.mark.parametrize(("name", "label"), [key for key in STATES if key[0] in DEFAULT])
def test_reference_states_with_the_nodes_of_the_library(name, label):
    errors = reference_errors(DEFAULT[name], STATES[name, label])
    assert max(errors.values()) < 1e-8, errors


def test_the_reference_can_tell_robots_apart():
    """A millionth more density, or one node fewer than ten, is detected."""
    name = "pcc3d_line_N10"
    state, spec = STATES[name, "random"], SPECS[name]
    heavier = SoftSpec(tuple(replace(m, density=m.density * (1 + 1e-6)) for m in spec.modules), spec.gravity)
    assert reference_errors(build_soft(heavier, exact_nodes=True), state)["M"] > 1e-7
    fewer = SoftSpec(tuple(replace(m, nodes=3) for m in spec.modules), spec.gravity)
    assert reference_errors(build_soft(fewer, exact_nodes=True), state)["M"] > 1e-7


@pytest.mark.parametrize("name", REFERENCE["equilibria"])
def test_paper_d_comes_to_rest_where_it_should(name):
    model = REFERENCE["equilibria"][name]
    robot, q = build_soft(from_reference(model), exact_nodes=True), np.array(model["q"])
    drive = robot.actuation_matrix(q) @ np.array(model.get("u", []))
    rest = np.zeros(robot.nv)
    scale = np.abs(robot.elastic_force(q)).max()
    assert np.abs(robot.inverse_dynamics(q, rest, rest) - drive).max() < 1e-9 * scale
    assert np.abs(robot.pose(f"m{len(robot.bodies) - 1}", q)[:3, 3] - model["tip"]).max() < 1e-9


# --- random trees ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize(
    ("kinds", "seed", "tolerance"),
    [(UNIFORM, 0, 1e-11), (UNIFORM, 1, 1e-11), (UNIFORM, 2, 1e-11), (VARYING, 3, 1e-8)],
    ids=["uniform 0", "uniform 1", "uniform 2", "varying"],
)
def test_random_trees_to_the_fourth_derivative(kinds, seed, tolerance, floating):
    rng = np.random.default_rng(seed)
    spec = heavy_tree(rng, kinds, floating=floating)
    robot = build_soft(spec, exact_nodes=True)
    q, v = random_soft_state(rng, spec, 6)
    truth, unit = soft_lagrange.forces(spec, q, v), unit_of(robot, q)
    inertial = robot.generalized_inverse_dynamics(q, v)
    gravity = robot.gravity_force_derivatives(q, v[:4])
    assert row_errors(inertial, truth.inertial, unit) < tolerance
    assert row_errors(gravity, -truth.gravity, unit) < tolerance
    assert row_errors(robot.inverse_dynamics(q, v), truth.drive, unit) < tolerance
    shape = robot.inverse_dynamics(q, v) - inertial - gravity
    scale = np.abs(truth.drive / unit).max(axis=1, keepdims=True) * unit  # a difference of larger forces
    assert np.abs((shape + truth.elastic + truth.damping) / scale).max() < tolerance
    assert error(robot.elastic_force(q), -truth.elastic[0], unit) < 1e-12
    assert error(robot.damping_force(q, v[0]), -truth.damping[0], unit) < 1e-12
    M = soft_lagrange.mass_matrix(spec, q)
    assert error(robot.mass_matrix(q), M, np.outer(unit, unit)) < tolerance
    energies = soft_lagrange.energies(spec, q, v[0])
    assert abs(robot.kinetic_energy(q, v[0]) - energies["kinetic"]) < tolerance * energies["kinetic"]
    straight = spec.nq * [0.0] if not floating else [0, 0, 0, 0, 0, 0, 1] + (spec.nq - 7) * [0.0]
    start = soft_lagrange.energies(spec, np.array(straight), v[0])  # bodies fixed to the world have constant energy
    rise = sum(energies[k] - start[k] for k in ("gravity", "elastic"))
    size = sum(abs(energies[k]) + abs(start[k]) for k in ("gravity", "elastic"))
    assert abs(robot.potential_energy(q) - robot.potential_energy(straight) - rise) < tolerance * size


@pytest.mark.parametrize("soft", ["planar", "spatial", "variable radius"])
def test_kane_agrees_to_the_fourth_derivative(soft):
    rng = np.random.default_rng(len(soft))
    kinds = ("revolute", "rigid", soft, "prismatic", "rigid")
    modules = tuple(random_module(rng, kind, parent) for kind, parent in zip(kinds, (-1, 0, 1, 2, 3), strict=True))
    spec = SoftSpec(modules, rng.uniform(-10.0, 10.0, 3))
    q, v = random_soft_state(rng, spec, 6)
    robot = build_soft(spec, exact_nodes=True)
    assert row_errors(robot.inverse_dynamics(q, v), paper_d.inverse_dynamics(spec, q, v), unit_of(robot, q)) < 1e-8
    gid = paper_d.generalized_inverse_dynamics(spec, q, *v[:2])
    assert error(robot.generalized_inverse_dynamics(q, *v[:2]), gid, unit_of(robot, q)) < 1e-9


def test_the_three_dimensional_law():
    rng = np.random.default_rng(8)
    soft = VariableRadiusBody(law="svk", poisson=0.3, nodes=(24, 16), parent=0)
    spec = SoftSpec((random_module(rng, "revolute", -1), soft), rng.uniform(-10, 10, 3))
    q, v = random_soft_state(rng, spec, 6)
    robot, truth = build_soft(spec, exact_nodes=True), soft_lagrange.forces(spec, q, v)
    unit = unit_of(robot, q)
    assert error(robot.elastic_force(q), -truth.elastic[0], unit) < 1e-12
    assert error(robot.damping_force(q, v[0]), -truth.damping[0], unit) < 1e-12
    assert row_errors(robot.inverse_dynamics(q, v), truth.drive, unit) < 1e-11
    elastic = soft_lagrange.energies(spec, q, v[0])
    assert abs(robot.potential_energy(q) / (elastic["elastic"] + elastic["gravity"]) - 1) < 1e-12


# --- children anywhere along a rod ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "fraction", "tolerance"), [("spatial", 0.0, 1e-11), ("spatial", 0.3, 1e-11), ("general", 0.9, 1e-8)]
)
def test_a_child_along_a_rod_sits_where_two_halves_meet(kind, fraction, tolerance):
    """tau = G^T tau_2, with two rods with the same coordinates in place of the one: up to the fourth derivative."""
    rng = np.random.default_rng(3)
    base, load, rod, joint, hand = (
        random_module(rng, k, p) for k, p in (("free", -1), ("rigid", 0), (kind, 1), ("revolute", 2), ("rigid", 4))
    )
    gravity, s = np.array([1.0, 2.0, -9.0]), fraction * rod.length
    b = jn.Builder(gravity)
    b.add("base", "world", jn.Free(), base.placement)
    b.add("load", "base", placement=load.placement, inertia=jn.Inertia(load.mass, load.com, load.inertia))
    b.add("rod", "load", placement=rod.placement, body=rod_of(rod, 40))
    b.add("joint", "rod", jn.Revolute(joint.axis), joint.placement, at=s)
    b.add("hand", "joint", placement=hand.placement, inertia=jn.Inertia(hand.mass, hand.com, hand.inertia))
    robot = b.build()
    q, v = random_soft_state(rng, SoftSpec((base, rod, joint)), 6)
    end = 6 + rod.nv
    assert (robot.coordinate("rod"), robot.coordinate("joint")) == (slice(6, end), slice(end, end + 1))
    if s == 0:
        joint = replace(joint, parent=1, placement=rod.placement @ joint.placement)
        spec, G, full, far = (
            SoftSpec((base, load, rod, joint, replace(hand, parent=3)), gravity),
            np.eye(robot.nv),
            q,
            [2, 3, 4],
        )
    else:
        first, second = cut(rod, s)
        spec = SoftSpec((base, load, first, replace(second, parent=2), joint, hand), gravity)
        G = np.insert(np.eye(robot.nv), end, np.eye(robot.nv)[6:end], axis=0)
        full, far = np.insert(q, 7 + rod.nv, q[7 : 7 + rod.nv]), [3, 4, 5]
    unit, truth = unit_of(robot, q), soft_lagrange.forces(spec, full, v @ G.T)
    assert row_errors(robot.generalized_inverse_dynamics(q, v), truth.inertial @ G, unit) < tolerance
    assert row_errors(robot.inverse_dynamics(q, v), truth.drive @ G, unit) < tolerance
    poses = soft_lagrange.far_poses(spec, full, v[:4] @ G.T)
    found = robot.pose_derivatives(q, v[:4], frames=["rod", "joint", "hand"])
    assert row_errors(found, poses[:, far]) < tolerance


# --- round trips ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", range(2))
def test_forward_undoes_inverse(seed, floating):
    robot, q, v = heavy_robot(seed, FORWARD, 5, floating=floating, slow=True)
    tau = robot.inverse_dynamics(q, v)
    scale = 1 / unit_of(robot, q)
    for rows in range(1, 5):
        acc = robot.forward_dynamics(q, v[0], tau[:rows])
        assert row_errors(acc, v[1 : rows + 1], scale) < 1e-8
        again = robot.inverse_dynamics(q, np.concatenate([v[:1], acc]))
        assert row_errors(again, tau[:rows], 1 / scale) < 1e-10
    single = robot.forward_dynamics(q, v[0], tau[0])
    assert error(single, v[1], scale) < 1e-9
    assert (
        error(robot.inverse_mass_matrix(q) @ robot.mass_matrix(q), np.eye(robot.nv), np.outer(scale, 1 / scale)) < 1e-9
    )
    assert error(robot.inverse_mass_matrix_apply(q, tau), tau @ robot.inverse_mass_matrix(q), scale) < 1e-10


def test_accelerations_of_a_stiff_robot_need_the_forces_they_were_found_for():
    """With eigenvalues up to 1e6 / s: the accelerations themselves lose six digits per order, their forces none."""
    robot, q, v = heavy_robot(0, FORWARD, 5, floating=True)
    tau, unit = robot.inverse_dynamics(q, v), unit_of(robot, q)
    acc = robot.forward_dynamics(q, v[0], tau)
    assert row_errors(robot.inverse_dynamics(q, np.concatenate([v[:1], acc])), tau, unit) < 1e-11
    assert error(acc[0], v[1], 1 / unit) < 1e-10


@pytest.mark.parametrize("masked", ["base", "shapes", "joints", "all", "none"])
def test_hybrid_dynamics_mixes_both(masked):
    robot, q, v = heavy_robot(4, FORWARD, 4, floating=True, slow=True)
    rng = np.random.default_rng(0)
    mask = np.full(robot.nv, masked == "all")
    for name in robot.joint_names:
        at = robot.coordinate(name)
        size = at.stop - at.start
        mask[at] |= {"base": size == 6, "shapes": 1 < size < 6, "joints": size == 1}.get(masked, False)
    assert masked in ("all", "none") or 0 < mask.sum() < robot.nv
    wrenches = {"m1": rng.normal(size=(3, 6)), robot.body_names[-1]: rng.normal(size=(3, 6))}
    tau = robot.inverse_dynamics(q, v, wrenches=wrenches)
    acc, force = robot.hybrid_dynamics(
        q, v[0], np.where(mask, v[1:], np.nan), np.where(mask, np.nan, tau), prescribed=mask, wrenches=wrenches
    )
    unit = unit_of(robot, q)
    assert row_errors(acc, v[1:], 1 / unit) < 1e-8
    assert row_errors(force, tau, unit) < 1e-8


def test_hybrid_dynamics_keeps_a_shape_whole():
    robot, q, v = heavy_robot(4, FORWARD, 2, slow=True)
    name = next(n for n in robot.joint_names if robot.coordinate(n).stop - robot.coordinate(n).start > 1)
    mask = np.zeros(robot.nv, bool)
    mask[robot.coordinate(name).start] = True
    with pytest.raises(ValueError, match=f"prescribed splits joint '{name}'"):
        robot.hybrid_dynamics(q, v[0], v[1], v[1], prescribed=mask)


# --- the equations of motion ----------------------------------------------------------------------------


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
def test_matrices_make_up_the_forces_at_every_order(frame):
    robot, q, v = heavy_robot(5, FORWARD, 5, floating=True, slow=True)
    unit = unit_of(robot, q)
    units = np.outer(unit, unit)
    M = robot.mass_matrix_derivatives(q, v[:3], frame=frame)
    C = robot.coriolis_matrix_derivatives(q, v[:4], frame=frame)
    g = robot.gravity_force_derivatives(q, v[:3], frame=frame)
    gid = robot.generalized_inverse_dynamics(q, v, frame=frame)
    binomial = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 2, 1, 0], [1, 3, 3, 1]])
    for k in range(4):
        parts = [binomial[k, j] * (M[k - j] @ v[j + 1] + C[k - j] @ v[j]) for j in range(k + 1)]
        assert error(gid[k], sum(parts), unit) < 1e-10
    np.testing.assert_allclose(robot.mass_matrix(q, frame=frame), M[0], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(robot.coriolis_matrix(q, v[0], frame=frame), C[0], rtol=1e-12, atol=1e-13)
    assert error(M[0].T, M[0], units) < 1e-13
    assert np.linalg.eigvalsh(M[0] / units).min() > 0
    for k in range(3):  # passivity, and its derivatives
        assert error(C[k] + C[k].swapaxes(-1, -2), M[k + 1], units) < 1e-10
    bias = robot.bias_force(q, v[0], frame=frame)
    made = C[0] @ v[0] + g[0] + robot.elastic_force(q) + robot.damping_force(q, v[0])
    assert error(bias, made, unit) < 1e-11
    tau = robot.inverse_dynamics(q, v, frame=frame)
    assert error(tau[0], M[0] @ v[1] + bias, unit) < 1e-11
    P = robot.torque_coefficients(q, v[:4], frame=frame)
    shape = (
        robot.inverse_dynamics(q, v)
        - robot.generalized_inverse_dynamics(q, v)
        - robot.gravity_force_derivatives(q, v[:3])
    )
    assert error(np.einsum("kij,kj", P, v) + g[3] + shape[3], tau[3], unit) < 1e-10


@pytest.mark.parametrize("frame", ["world", "mixed"])
def test_frames_of_a_floating_base_agree(frame):
    robot, q, v = heavy_robot(6, FORWARD, 5, floating=True, slow=True)
    unit = unit_of(robot, q)
    other = robot.change_velocity_frame(q, v, "body", frame)
    assert error(other, v) > 1e-2  # there is something to convert
    wrench = {robot.body_names[-1]: np.random.default_rng(1).normal(size=(4, 6))}
    tau = robot.inverse_dynamics(q, v, wrenches=wrench)
    expected = robot.change_force_frame(q, v, tau, "body", frame)
    assert row_errors(robot.inverse_dynamics(q, other, wrenches=wrench, frame=frame), expected, unit) < 1e-11
    acc = robot.forward_dynamics(q, other[0], expected, wrenches=wrench, frame=frame)
    assert row_errors(acc, other[1:], 1 / unit) < 1e-8
    still = np.zeros((1, robot.nv))
    gravity = robot.change_force_frame(q, still, robot.gravity_force(q)[None], "body", frame)[0]
    assert error(robot.gravity_force(q, frame=frame), gravity, unit) < 1e-12
    passive = robot.inverse_dynamics_passive(q, other[0], other[0], other[1], frame=frame)
    full = robot.inverse_dynamics(q, other[0], other[1], frame=frame)
    assert (
        error(robot.kinetic_energy_derivatives(q, other[:3], frame=frame), robot.kinetic_energy_derivatives(q, v[:3]))
        < 1e-12
    )
    assert passive.shape == full.shape


def test_passive_inverse_dynamics_is_made_of_the_same_matrices():
    robot, q, v = heavy_robot(7, FORWARD, 4, floating=True, slow=True)
    made = robot.mass_matrix(q) @ v[3] + robot.coriolis_matrix(q, v[0]) @ v[2] + robot.gravity_force(q)
    found = robot.inverse_dynamics_passive(q, v[0], v[2], v[3])
    unit = unit_of(robot, q)
    shape = robot.elastic_force(q) + robot.damping_force(q, v[0])
    assert min(error(found, made, unit), error(found, made + shape, unit)) < 1e-11


@pytest.mark.parametrize("law", ["quadratic", "svk"])
def test_power_balances_at_every_order(law):
    """d/dt (T + V) = v . tau - v . damping, and the derivatives of that."""
    rng = np.random.default_rng(9)
    spec = heavy_tree(rng, ("revolute", "planar", "spatial", "variable radius"), floating=True)
    modules = (replace(m, law=law, poisson=0.3) if isinstance(m, VariableRadiusBody) else m for m in spec.modules)
    robot = build_soft(SoftSpec(tuple(modules), spec.gravity), exact_nodes=True)
    q, v = random_soft_state(rng, spec, 5)
    energy = robot.kinetic_energy_derivatives(q, v[:4]) + robot.potential_energy_derivatives(q, v[:3])
    tau = robot.inverse_dynamics(q, v)
    undamped = [replace(m, viscosity=0.0) if isinstance(m, (Rod, VariableRadiusBody)) else m for m in spec.modules]
    undamped = [replace(m, law=law, poisson=0.3) if isinstance(m, VariableRadiusBody) else m for m in undamped]
    damping = tau - build_soft(SoftSpec(tuple(undamped), spec.gravity), exact_nodes=True).inverse_dynamics(q, v)
    assert error(damping[0], robot.damping_force(q, v[0])) < 1e-10
    assert damping[0] @ v[0] > 0
    binomial = ((1,), (1, 1), (1, 2, 1))
    for k in range(3):
        power = sum(c * v[j] @ (tau - damping)[k - j] for j, c in enumerate(binomial[k]))
        parts = sum(c * np.abs(v[j] * (tau - damping)[k - j]).sum() for j, c in enumerate(binomial[k]))
        assert abs(energy[k + 1] - power) < 1e-10 * parts


# --- straight rods, and rods bent by several turns ------------------------------------------------------


SIZES = [0.0, 1e-300, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1]


@pytest.mark.parametrize("size", SIZES)
def test_straight_and_nearly_straight_to_the_fifth_derivative(size):
    """No 0/0 of constant curvature, and no loss of digits near it; Lagrange's oracle has no special case there."""
    rng = np.random.default_rng(2)
    spec = random_soft_tree(rng, ("planar", "spatial", "spatial", "variable radius"), serial=True)
    robot = build_soft(spec, exact_nodes=True)
    q, v = random_soft_state(rng, spec, 7)
    unit = unit_of(robot, q)
    truth = soft_lagrange.forces(spec, size * q, v)
    inertial = robot.generalized_inverse_dynamics(size * q, v)
    assert row_errors(inertial, truth.inertial, unit) < 1e-11
    assert row_errors(robot.inverse_dynamics(size * q, v), truth.drive, unit) < 1e-11
    straight = robot.generalized_inverse_dynamics(0 * q, v)
    assert row_errors(inertial, straight, unit) < 100 * size + 1e-13
    slow = soft_lagrange.forces(spec, size * q, size * v)  # everything small at once, not only q
    assert error(robot.mass_matrix(size * q), soft_lagrange.mass_matrix(spec, size * q), np.outer(unit, unit)) < 1e-12
    assert error(robot.gravity_force(size * q), -slow.gravity[0], unit) < 1e-12


def test_no_jump_between_formulas():
    """A switch of formulas would show as a step in fifth differences, which are tiny for a smooth function."""
    spec = SoftSpec((random_module(np.random.default_rng(3), "spatial", -1),))
    robot = build_soft(spec, check=False)
    v = np.random.default_rng(4).normal(size=(7, 3))
    sizes = np.linspace(1e-3, 12.0, 12001)
    tau = robot.generalized_inverse_dynamics(sizes[:, None] * [0.6, -0.8, 0.01], v)
    unit = np.abs(tau).max(axis=0)
    assert np.abs(np.diff(tau / unit, n=5, axis=0)).max() < 1e-10
    tau[7000:] *= 1 + 1e-9
    assert np.abs(np.diff(tau / unit, n=5, axis=0)).max() > 1e-10


@pytest.mark.parametrize(("kind", "turns"), [("planar", 3.0), ("spatial", 1.0), ("spatial", 3.0), ("general", 3.0)])
def test_rods_bent_by_turns(kind, turns):
    """Six pieces in place of the rod, each bent slightly: over several turns the oracle's own series loses digits."""
    rng = np.random.default_rng(7)
    rod = replace(random_module(rng, kind, -1), nodes=60)
    q, v = random_soft_state(rng, SoftSpec((rod,)), 6)
    bends = np.abs(rod.strain_basis(np.zeros(1))[0, 3:]).any(axis=0)
    q = np.where(bends, q * 2 * np.pi * turns / np.linalg.norm(q[bends]), q)
    pieces = cut(rod, *(rod.length / 6 * np.arange(1, 6)))
    pieces = SoftSpec(tuple(replace(p, parent=i - 1, nodes=16) for i, p in enumerate(pieces)))
    truth = soft_lagrange.forces(pieces, np.tile(q, 6), np.tile(v, 6)).inertial.reshape(5, 6, -1).sum(axis=1)
    robot = build_soft(SoftSpec((rod,)), exact_nodes=True)
    # Fourth-order steps are chosen for bends of up to three radians; at eighteen, 1e-6 is left.
    assert row_errors(robot.generalized_inverse_dynamics(q, v), truth, unit_of(robot, q)) < (
        1e-11 if rod.uniform else 2e-6
    )


# --- nodes, radii, rest strain --------------------------------------------------------------------------


def one(rod: jn.soft.Rod) -> jn.Model:
    b = jn.Builder()
    b.add("rod", parent="world", body=rod)
    return b.build()


RODS = {
    "constant curvature": {},
    "constant strain": {"strain": jn.soft.constant_strain()},
    "on a line": {"section": "line"},
    "cone": {"radius": (0.03, 0.0)},
    "quadratic": {"strain": jn.soft.polynomial(2, ("bend_y", "stretch"))},
    "quartic": {"strain": jn.soft.polynomial({"bend_y": 4})},
    "bell": {"strain": jn.soft.gaussian(0.3, 0.1)},
}


@pytest.mark.parametrize("name", RODS)
def test_default_nodes_reach_a_hundred_millionth(name):
    """Uniform strain with bends up to a turn, others up to three radians in total; truth: forty nodes, exact frames."""
    given = {"length": 0.4, "radius": (0.025, 0.012), "density": 1100.0, "young": 2e5, "damping": 0.03} | RODS[name]
    rod = jn.soft.Rod(**given)
    robot = one(rod)
    exact = Rod(
        length=0.4,
        radii=given["radius"],
        density=1100.0,
        young=2e5,
        viscosity=0.03,
        section=rod.section,
        basis=lambda s: np.array([rod.strain_at(x) for x in s]),
        amplitudes=rod.n,
    )
    spec, rng = SoftSpec((exact,)), np.random.default_rng(1)
    q, v = rng.normal(size=(2, robot.nv)), rng.normal(size=(5, robot.nv))
    angle = max(np.linalg.norm(rod.strain_at(s)[3:] @ q[0]) for s in np.linspace(0, 0.4, 50)) * 0.4
    q *= (2 * np.pi if rod.strain.uniform else 3.0) / angle
    stretches = np.abs(rod.strain_at(0.1)[:3]).any(axis=0)
    q, v = np.where(stretches, 0.02 * np.sign(q), q), np.where(stretches, 0.02 * v, v)
    truth, unit = soft_lagrange.forces(spec, q[0], v), unit_of(robot, q[0])
    assert row_errors(robot.generalized_inverse_dynamics(q[0], v), truth.inertial, unit) < 1e-8
    assert row_errors(robot.inverse_dynamics(q[0], v), truth.drive, unit) < 1e-8
    assert error(robot.gravity_force(q[0]), -truth.gravity[0], unit) < 1e-8
    assert error(robot.elastic_force(q[0]), -truth.elastic[0], unit) < 1e-8


@pytest.mark.parametrize(
    "given", [{"radius": lambda s: 0.02 + 0.008 * np.sin(25 * s)}, {"rest": (0, 0, 1, 1.0, 4.0, 2.0)}]
)
def test_default_nodes_of_vases_and_hooks(given):
    given = {"length": 0.4, "radius": (0.025, 0.012), "density": 1100.0, "young": 2e5} | given
    coarse, fine = one(jn.soft.Rod(**given)), one(jn.soft.Rod(**given, nodes=80))
    q, v = np.array([2.0, -1.0, 0.02]), np.random.default_rng(1).normal(size=(5, 3))
    assert row_errors(coarse.generalized_inverse_dynamics(q, v), fine.generalized_inverse_dynamics(q, v)) < 1e-8
    assert row_errors(coarse.inverse_dynamics(q, v), fine.inverse_dynamics(q, v)) < 1e-8


def test_nodes_are_honoured():
    """Two nodes give the sum over two sections, written out."""
    length, radius, density, nodes = 0.5, 0.02, 1000.0, 2
    robot = one(
        jn.soft.Rod(
            length,
            radius,
            density,
            1e5,
            strain=jn.soft.constant_curvature(True, False),
            nodes=nodes,
            section="line",
            check=False,
        )
    )
    s = length * (1 + np.array([-1, 1]) / np.sqrt(3)) / 2
    mass = density * np.pi * radius**2 * length / 2
    bend = 0.8
    k = bend / length
    # x = -(1 - cos ks)/k, z = sin ks / k
    dx = -(s * np.sin(k * s) / k - (1 - np.cos(k * s)) / k**2) / length
    dz = (s * np.cos(k * s) / k - np.sin(k * s) / k**2) / length
    np.testing.assert_allclose(robot.mass_matrix([bend])[0, 0], mass * (dx**2 + dz**2).sum(), rtol=1e-13)
    assert robot.bodies[0].soft.nodes == 2


def test_radius_in_three_ways():
    given = {"length": 0.3, "density": 1000.0, "young": 1e5, "nodes": 12}
    q, v = np.array([0.5, -0.3, 0.01]), np.random.default_rng(0).normal(size=(3, 3))
    forces = [
        [one(jn.soft.Rod(radius=r, **given)).inverse_dynamics(q, v) for r in same]
        for same in (
            [0.02, (0.02, 0.02), lambda s: 0.02],
            [(0.02, 0.01), [0.02, 0.01], np.array([0.02, 0.01]), lambda s: 0.02 - 0.01 * s / 0.3],
        )
    ]
    for same in forces:
        for tau in same[1:]:
            np.testing.assert_allclose(tau, same[0], rtol=1e-12)
    assert error(forces[0][0], forces[1][0]) > 0.1


@pytest.mark.parametrize("uniform", [True, False])
def test_rest_strain(uniform, monkeypatch):
    """A rod curved at rest: the oracle's frames include that strain, its elasticity uses the difference."""
    rng = np.random.default_rng(5)
    rest = np.array([0.02, -0.01, 1.1, 2.0, -3.0, 1.5])
    length = 0.4
    phi = constant_basis(rng.normal(size=(6, 3)) / length) if uniform else legendre_basis(length, (-1, -1, 0, 1, 2, 0))
    rod = Rod(
        length=length,
        radii=(0.02, 0.01),
        basis=phi,
        amplitudes=phi(np.zeros(1)).shape[2],
        uniform=uniform,
        viscosity=0.1,
        section="disk",
    )
    spec = SoftSpec((Joint(), replace(rod, parent=0)))
    q, v = 0.3 * rng.normal(size=spec.nv), rng.normal(size=(6, spec.nv))
    frames = soft_lagrange.frames
    monkeypatch.setattr(
        soft_lagrange, "frames", lambda basis, straight, *more: frames(basis, rest if straight[2] else straight, *more)
    )
    truth = soft_lagrange.forces(spec, q, v)
    given = rod_of(rod, 40)
    body = jn.soft.Rod(
        length, (0.02, 0.01), 1000.0, 1e6, damping=0.1, strain=given._given_strain, rest=rest, section="disk", nodes=40
    )
    b = jn.Builder()
    b.add("joint", "world", jn.Revolute((0, 0, 1)))
    b.add("rod", "joint", body=body)
    robot = b.build()
    unit = unit_of(robot, q)
    assert row_errors(robot.generalized_inverse_dynamics(q, v), truth.inertial, unit) < (1e-11 if uniform else 1e-8)
    assert row_errors(robot.inverse_dynamics(q, v), truth.drive, unit) < (1e-11 if uniform else 1e-8)
    assert not robot.elastic_force(np.zeros(robot.nv)).any()


def test_named_bases_are_those_of_the_oracle():
    length = 0.35
    cases = {
        jn.soft.constant_curvature(): constant_curvature(length, planar=False, elongation=True),
        jn.soft.constant_curvature(planar=True): constant_curvature(length, planar=True, elongation=True),
        jn.soft.constant_curvature(elongation=False): constant_curvature(length, planar=False, elongation=False),
        jn.soft.constant_strain(): np.eye(6) / length,
        jn.soft.constant_strain("twist", "shear_x"): np.eye(6)[:, [5, 0]] / length,
    }
    for basis, expected in cases.items():
        assert basis.uniform
        for s in (0.0, 0.2, length):
            np.testing.assert_allclose(basis.at(s, length), expected, rtol=1e-15)
    legendre = jn.soft.polynomial({"stretch": 1, "bend_x": 2, "bend_y": 0})
    oracle = legendre_basis(length, (-1, -1, 1, 2, 0, -1))
    for s in (0.0, 0.11, length):
        np.testing.assert_allclose(legendre.at(s, length), oracle(np.array([s]))[0], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(
        SPECS["pgc3d_line"].modules[0].strain_basis(np.array([0.1]))[0],
        jn.soft.gaussian().at(0.1, SPECS["pgc3d_line"].modules[0].length),
        rtol=1e-14,
    )


# --- limits ---------------------------------------------------------------------------------------------


def test_the_rigid_part_of_a_soft_robot_is_the_rigid_robot():
    """A soft body of negligible mass leaves a rigid tree unchanged, up to rounding."""
    rng = np.random.default_rng(11)
    spec = heavy_tree(rng, ("revolute", "prismatic", "revolute", "rigid"), floating=True)
    rigid = build_soft(spec)
    speck = Rod(
        parent=len(spec.modules) - 1,
        density=1e-22,
        young=1e-22,
        length=0.1,
        basis=constant_basis(constant_curvature(0.1, planar=False, elongation=True)),
        amplitudes=3,
        uniform=True,
        nodes=10,
    )
    soft = build_soft(SoftSpec((*spec.modules, speck), spec.gravity))
    q, v = random_soft_state(rng, spec, 5)
    Q, V = np.append(q, [0.3, -0.2, 0.01]), np.hstack([v, rng.normal(size=(5, 3))])
    n = rigid.nv
    assert soft.nv == n + 3
    assert type(soft) is type(rigid)
    for frame in ("body", "world", "mixed"):
        assert (
            row_errors(soft.inverse_dynamics(Q, V, frame=frame)[:, :n], rigid.inverse_dynamics(q, v, frame=frame))
            < 1e-12
        )
        for method in ("mass_matrix_derivatives", "coriolis_matrix_derivatives"):
            a, b = getattr(soft, method)(Q, V, frame=frame), getattr(rigid, method)(q, v, frame=frame)
            assert row_errors(a[:, :n, :n], b) < 1e-12
    for a, b in zip(
        soft.inverse_dynamics_derivatives(Q, *V[:2]), rigid.inverse_dynamics_derivatives(q, *v[:2]), strict=True
    ):
        assert error(a[:n, :n], b) < 1e-12
    for name in rigid.frame_names:
        assert error(soft.pose(name, Q), rigid.pose(name, q)) < 1e-12
        assert row_errors(soft.twist(name, Q, V), rigid.twist(name, q, v)) < 1e-12
        assert error(soft.jacobian(name, Q)[:, :n], rigid.jacobian(name, q)) < 1e-12
    assert abs(soft.kinetic_energy(Q, V[0]) / rigid.kinetic_energy(q, v[0]) - 1) < 1e-12
    assert error(soft.center_of_mass(Q), rigid.center_of_mass(q)) < 1e-12


def test_a_rod_that_is_held_straight_is_a_rigid_cylinder():
    """With many nodes its inertia is that of the solid; its forces are those of the rigid body, at every order."""
    length, radius, density = 0.4, 0.03, 900.0
    mass = density * np.pi * radius**2 * length
    across, along = mass * (3 * radius**2 + length**2) / 12, mass * radius**2 / 2
    cylinder = jn.Inertia(mass, (0, 0, length / 2), (across, across, along))
    rod = jn.soft.Rod(length, radius, density, 1e9, nodes=50)
    tip = np.eye(4)
    tip[2, 3] = length
    robots = []
    for shape in ({"body": rod}, {"inertia": cylinder}):
        b = jn.Builder()
        b.add("base", "world", jn.Free(), inertia=jn.Inertia(0.3, rotational=(0.1, 0.2, 0.15)))
        b.add("link", "base", jn.Revolute((0, 1, 0)), **shape)
        place = np.eye(4) if "body" in shape else tip
        b.add("hand", "link", jn.Revolute((1, 0, 0)), place, jn.Inertia(0.2, (0, 0.1, 0), (0.01, 0.02, 0.02)))
        robots.append(b.build())
    soft, rigid = robots
    assert soft.joint_names == ("base", "link", "link.shape", "hand")
    rng = np.random.default_rng(12)
    q, v = rigid.random_configuration(rng), rng.normal(size=(6, rigid.nv))
    Q, V = np.insert(q, 8, np.zeros(3)), np.insert(v, 7, np.zeros((3, 1)), axis=1)
    keep = np.delete(np.arange(soft.nv), [7, 8, 9])
    assert row_errors(soft.inverse_dynamics(Q, V)[:, keep], rigid.inverse_dynamics(q, v)) < 1e-12
    assert error(soft.mass_matrix(Q)[np.ix_(keep, keep)], rigid.mass_matrix(q)) < 1e-12
    mask = np.zeros(soft.nv, bool)
    mask[7:10] = True
    tau = rigid.inverse_dynamics(q, v)
    acc, _ = soft.hybrid_dynamics(Q, V[0], V[1:], np.insert(tau, 7, np.zeros((3, 1)), axis=1), prescribed=mask)
    assert row_errors(acc[:, keep], v[1:]) < 1e-9


def test_a_stiff_rod_tends_to_the_rigid_body():
    """At rest under its weight it deflects by q_i = weight / (E I), which vanishes as 1/E."""
    turn = np.eye(4)
    turn[:3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    length, radius, density = 1.0, 0.02, 1000.0
    weight, inertia = density * np.pi * radius**2 * 9.81, np.pi * radius**4 / 4
    for young in (1e10, 1e12, 1e14):
        b = jn.Builder()
        b.add("rod", "world", placement=turn, body=jn.soft.Rod(length, radius, density, young, nodes=30))
        robot = b.build()
        q, rest = np.zeros(3), np.zeros(3)
        for _ in range(8):
            K, _, _ = robot.inverse_dynamics_derivatives(q, rest, rest)
            q = q - np.linalg.solve(K, robot.inverse_dynamics(q, rest, rest))
        # One curvature k over a length of 1, with energy E I k^2 / 2 - weight k / 6: k = weight / (6 E I), drop k / 2.
        drop = weight / (12 * young * inertia)
        np.testing.assert_allclose(-robot.pose("rod", q)[2, 3], drop, rtol=2e-6 if young < 1e11 else 1e-7)


def test_dynamics_follow_from_the_energies_alone():
    """Lagrange's equation with central differences of jounce's own energies, on a robot unknown to the oracles."""
    b = jn.Builder()
    b.add("base", "world", jn.Universal((1, 0, 0), (0, 1, 0)), inertia=jn.Inertia(0.5, (0, 0, 0.1), (0.01, 0.01, 0.01)))
    b.add(
        "a",
        "base",
        jn.Revolute((0, 1, 0), damping=0.1, stiffness=2.0),
        body=jn.soft.Rod(0.3, 0.02, 1000.0, 1e5, strain=jn.soft.constant_strain()),
    )
    b.add(
        "b",
        "a",
        at=0.1,
        placement=np.eye(4),
        body=jn.soft.VariableRadius(0.2, 0.02, 1062.0, 1e5, poisson=0.3, law="solid", nodes=(8, 6), check=False),
    )
    b.add("c", "b", jn.Prismatic((1, 0, 0)), at=0.15, inertia=jn.Inertia(0.1))
    robot = b.build()
    rng = np.random.default_rng(3)
    q = robot.random_configuration(rng)
    v, a = np.abs(q) * rng.normal(size=(2, robot.nv))
    h = 1e-2 * np.maximum(np.abs(q), 1e-4)
    eye = np.diag(h)
    M = robot.mass_matrix

    def lagrange(i):
        along = central(lambda t: M(q + t * v)[i] @ v, 1e-2)
        by_q = central(lambda t: 0.5 * v @ M(q + t * eye[i]) @ v, 1.0) / h[i]
        return M(q)[i] @ a + along - by_q

    inertial = np.array([lagrange(i) for i in range(robot.nv)])
    unit = np.sqrt(np.diagonal(M(q)))
    assert error(robot.generalized_inverse_dynamics(q, v, a), inertial, unit) < 1e-9
    slope = np.array(
        [central(lambda t, i=i: robot.potential_energy(q + t * eye[i]), 1.0) / h[i] for i in range(robot.nv)]
    )
    assert error(robot.gravity_force(q) + robot.elastic_force(q), slope, unit) < 1e-9
