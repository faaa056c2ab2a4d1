"""The oracles for soft bodies against stored states and forces, each other, and the oracles for rigid ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles import paper_d, soft_lagrange, virtual_work
from soft_models import (
    ALL_KINDS,
    Joint,
    RigidBody,
    SoftSpec,
    VariableRadiusBody,
    from_reference,
    random_module,
    random_soft_state,
    random_soft_tree,
    reference,
)
from trees import BodySpec, TreeSpec

REFERENCE = reference()
SPECS = {name: from_reference(model) for name, model in REFERENCE["models"].items()}
STATES = {(name, s["label"]): s for name, model in REFERENCE["models"].items() for s in model["states"]}
# 51,200 points are slow in Kane's recursion: only one of four states.
KANE_STATES = [key for key in STATES if key[0] != "variable_radius" or key[1] == "large_bend"]


def error(actual: np.ndarray, expected: np.ndarray, scale: float = 0.0) -> float:
    """Greatest difference, relative to the greatest expected entry or to the scale, whichever is greater."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    size = max(scale, np.abs(expected).max())
    return float(np.abs(actual - expected).max() / size) if size else float(np.abs(actual).max())


def row_errors(actual: np.ndarray, expected: np.ndarray) -> float:
    return max(error(a, b) for a, b in zip(actual, expected, strict=True))


@pytest.mark.parametrize(("name", "label"), STATES)
def test_lagrange_reproduces_the_reference(name: str, label: str) -> None:
    spec, state = SPECS[name], STATES[name, label]
    q, qd, qdd = (np.array(state[k]) for k in ("q", "qd", "qdd"))
    forces = soft_lagrange.forces(spec, q, np.stack([qd, qdd]))
    M = soft_lagrange.mass_matrix(spec, q)
    n = soft_lagrange.bias(spec, q, qd)
    found = {"M": M, "n": n, "Q_inertial": forces.inertial[0], "Q_gravity": forces.gravity[0]}
    found |= {"Q_elastic": forces.elastic[0], "Q_damping": forces.damping[0], "Qa_AID": forces.drive[0]}
    if "tip_pose" in state:
        energies = soft_lagrange.energies(spec, q, qd)
        found |= {"kinetic_energy": energies["kinetic"], "V_gravity": energies["gravity"]}
        found |= {"U_elastic": energies["elastic"]}
        found["tip_pose"] = soft_lagrange.far_poses(spec, q, np.zeros((0, spec.nv)))[0, -1]
    if "u" in state:
        found["chamber_volumes"], found["Q_act"] = soft_lagrange.pressure_force(spec, q, state["u"])
    errors = {k: error(value, state[k]) for k, value in found.items() if k in state}
    assert max(errors.values()) < 3e-14, errors
    assert set(state) - {"label", "q", "qd", "qdd", "u"} == set(errors)


@pytest.mark.parametrize(("name", "label"), KANE_STATES)
def test_kane_reproduces_the_reference(name: str, label: str) -> None:
    spec, state = SPECS[name], STATES[name, label]
    q, qd, qdd = (np.array(state[k]) for k in ("q", "qd", "qdd"))
    found = {"Q_inertial": paper_d.generalized_inverse_dynamics(spec, q, qd, qdd)}
    if name != "variable_radius":
        found |= {"M": paper_d.mass_matrix(spec, q), "n": paper_d.bias(spec, q, qd)}
    found |= {"Q_gravity": paper_d.gravity_force(spec, q)}
    found |= {"Q_elastic": paper_d.elastic_force(spec, q), "Q_damping": paper_d.damping_force(spec, qd)}
    found["Qa_AID"] = found["Q_inertial"] - sum(found[f"Q_{k}"] for k in ("gravity", "elastic", "damping"))
    if "u" in state:
        found["Q_act"] = paper_d.pressure_force(spec, q, state["u"])
    errors = {k: error(value, state[k]) for k, value in found.items() if k in state}
    assert max(errors.values()) < 1e-11, errors


@pytest.mark.parametrize("shape", ["serial", "tree", "floating"])
def test_oracles_agree_on_mixed_robots(shape: str) -> None:
    """A module of every kind, in random order."""
    rng = np.random.default_rng(len(shape))
    spec = random_soft_tree(rng, ALL_KINDS, serial=shape == "serial", floating=shape == "floating")
    q, v = random_soft_state(rng, spec, 2)
    forces = soft_lagrange.forces(spec, q, v)
    inertial = paper_d.generalized_inverse_dynamics(spec, q, *v)
    gravity = paper_d.gravity_force(spec, q)
    assert error(inertial, forces.inertial[0]) < 1e-10
    assert error(gravity, forces.gravity[0]) < 1e-10
    assert error(paper_d.elastic_force(spec, q), forces.elastic[0]) < 1e-14
    assert error(paper_d.damping_force(spec, v[0]), forces.damping[0]) < 1e-14
    with_gravity = paper_d.generalized_inverse_dynamics(spec, q, *v, base_acceleration=-spec.gravity)
    assert error(with_gravity, inertial - gravity) < 1e-14


def test_force_on_own_coordinates() -> None:
    """(49), derived, against (38)."""
    rng = np.random.default_rng(7)
    spec = random_soft_tree(rng, ALL_KINDS)
    q, v = random_soft_state(rng, spec, 2)
    bodies = paper_d.bodies(spec, q, *v)
    paper_d.recursion.generalized_inverse_dynamics(bodies, [m.parent for m in spec.modules])
    for body in bodies:
        expected = body.inertial()[2]
        assert not expected.size or error(body.own_force(), expected, scale=1e-9) < 1e-11


def test_magnus_order() -> None:
    """Half the step, a sixteenth of the error: the difference between the oracles is the fourth order of the frames."""
    rod = replace(random_module(np.random.default_rng(8), "general", -1), nodes=10)
    q, v = random_soft_state(np.random.default_rng(9), SoftSpec((rod,)), 2)
    truth = soft_lagrange.forces(SoftSpec((rod,)), q, v).inertial[0]
    rods = (SoftSpec((replace(rod, steps=steps),)) for steps in (1, 2, 4))
    errors = np.array([error(paper_d.generalized_inverse_dynamics(spec, q, *v), truth) for spec in rods])
    assert errors[0] > 1e-7
    assert np.abs(errors[:-1] / errors[1:] - 16).max() < 1


@pytest.mark.parametrize("soft", ["planar", "spatial", "gaussian", "variable radius"])
def test_time_derivatives(soft: str) -> None:
    """Taylor coefficients of Lagrange's forces against Cauchy's integral of Kane's."""
    rng = np.random.default_rng(len(soft))
    kinds = ("revolute", "rigid", soft, "prismatic", "rigid")
    modules = tuple(random_module(rng, kind, parent) for kind, parent in zip(kinds, (-1, 0, 1, 1, 2), strict=True))
    spec = SoftSpec(modules, rng.uniform(-10.0, 10.0, 3))
    q, v = random_soft_state(rng, spec, 6)
    assert row_errors(soft_lagrange.inverse_dynamics(spec, q, v), paper_d.inverse_dynamics(spec, q, v)) < 1e-11


@pytest.mark.parametrize("scale", [0.0, 1e-12, 1e-8, 1e-5, 1e-3, 1e-1])
def test_smooth_at_zero(scale: float) -> None:
    """No formula has a special case for the straight rod, and none loses digits near it."""
    rng = np.random.default_rng(2)
    spec = random_soft_tree(rng, ("planar", "spatial", "variable radius"), serial=True)
    q, v = random_soft_state(rng, spec, 2)
    lagrange = soft_lagrange.inverse_dynamics(spec, scale * q, v)[0]
    assert error(paper_d.actuation_inverse_dynamics(spec, scale * q, *v), lagrange) < 1e-13
    straight = soft_lagrange.inverse_dynamics(spec, 0 * q, v)[0]
    assert error(lagrange, straight) < 20 * scale + 1e-15


@pytest.mark.parametrize("name", REFERENCE["equilibria"])
def test_equilibria(name: str) -> None:
    """Paper D's simulations at rest: no force remains there, but some does slightly off."""
    model = REFERENCE["equilibria"][name]
    spec, q = from_reference(model), np.array(model["q"])
    rest = np.zeros((2, spec.nv))
    pressure = soft_lagrange.pressure_force(spec, q, model["u"])[1] if "u" in model else np.zeros(spec.nv)
    forces = soft_lagrange.forces(spec, q, rest)
    scale = np.abs(forces.elastic).max()
    assert np.abs(forces.drive[0] - pressure).max() < 1e-12 * scale
    assert error(soft_lagrange.far_poses(spec, q, rest[:0])[0, -1, :3, 3], model["tip"]) < 1e-12
    if "three_dimensional" not in name:
        still = -paper_d.gravity_force(spec, q) - paper_d.elastic_force(spec, q)
        assert np.abs(still - pressure).max() < 1e-10 * scale
        assert np.abs(soft_lagrange.forces(spec, 1.001 * q, rest).drive[0] - pressure).max() > 1e-5 * scale


def test_power() -> None:
    """The rate of each energy is the power of its force; also for the three-dimensional law."""
    rng = np.random.default_rng(5)
    spec = random_soft_tree(rng, ("revolute", "rigid", "general", "variable radius"))
    modules = (replace(m, law="svk", poisson=0.3) if isinstance(m, VariableRadiusBody) else m for m in spec.modules)
    spec = SoftSpec(tuple(modules), spec.gravity)
    q, v = random_soft_state(rng, spec, 2)
    forces = soft_lagrange.forces(spec, q, v)
    h = 2e-3

    def energy(t: float) -> np.ndarray:
        state = soft_lagrange.energies(spec, q + t * v[0] + t * t / 2 * v[1], v[0] + t * v[1])
        return np.array([state["kinetic"], -state["gravity"], -state["elastic"]])

    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # sixth-order central difference
    rates = sum(w * (energy(k * h) - energy(-k * h)) for k, w in weights.items()) / h
    powers = np.array([forces.inertial[0], forces.gravity[0], forces.elastic[0]]) @ v[0]
    assert np.abs(rates / powers - 1).max() < 1e-9
    assert forces.damping[0] @ v[0] < 0


def test_rigid_robots() -> None:
    """Joints and rigid bodies alone, on a floating base, to the fourth derivative, against 96 digits."""
    rng = np.random.default_rng(4)
    modules, bodies = [], []
    for i, (kind, parent) in enumerate((("free", -1), ("revolute", 0), ("prismatic", 1), ("revolute", 0))):
        joint = random_module(rng, kind, 2 * parent + 1)
        body = replace(random_module(rng, "rigid", 2 * i), placement=np.eye(4))
        assert isinstance(joint, Joint)
        assert isinstance(body, RigidBody)
        modules += [joint, body]
        mass = {"mass": body.mass, "com": body.com, "inertia": body.inertia}
        bodies.append(BodySpec(f"b{i}", parent, kind, joint.placement, axis=joint.axis, **mass))
    spec, tree = SoftSpec(tuple(modules)), TreeSpec(tuple(bodies))
    q, v = random_soft_state(rng, spec, 6)
    truth = virtual_work.inverse_dynamics(tree, q, v)
    assert row_errors(soft_lagrange.inverse_dynamics(spec, q, v), truth) < 1e-13
    assert error(paper_d.actuation_inverse_dynamics(spec, q, *v[:2]), truth[0]) < 1e-13


def test_resting_base() -> None:
    """A floating base at rest is equivalent to a fixed one, at every order."""
    rng = np.random.default_rng(6)
    floating = random_soft_tree(rng, ("spatial", "gaussian", "revolute"), floating=True)
    q, v = random_soft_state(rng, floating, 6)
    q[:7], v[:, :6] = [0, 0, 0, 0, 0, 0, 1], 0
    shifted = tuple(replace(m, parent=m.parent - 1) for m in floating.modules[1:])
    first = replace(shifted[0], placement=floating.modules[0].placement @ shifted[0].placement)
    fixed = SoftSpec((first, *shifted[1:]), floating.gravity)
    expected = soft_lagrange.inverse_dynamics(fixed, q[7:], v[:, 6:])
    assert row_errors(soft_lagrange.inverse_dynamics(floating, q, v)[:, 6:], expected) < 1e-13
