"""Joints that follow others, against the same robot with all joints free and the coupling written out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import jounce as jn
from build import joint_of
from trees import TreeSpec, random_pose, random_tree

RATIO, OFFSET = -0.7, 0.3


@pytest.fixture(scope="module")
def pair() -> tuple[jn.Model, jn.Model, TreeSpec, int, int]:
    """The robot with and without the coupling of its last one-coordinate joint to its first, and their columns of v."""
    tree = random_tree(np.random.default_rng(5), 12, floating=True, passive=True)
    one = [i for i, b in enumerate(tree.bodies) if b.nv == 1]
    leader, follower = one[0], one[-1]
    models = []
    for coupled in (False, True):
        builder = jn.Builder()
        for i, b in enumerate(tree.bodies):
            joint = joint_of(b)
            if coupled and i == follower:
                follow = jn.Follow(tree.bodies[leader].name, RATIO, OFFSET)
                joint = type(joint)(
                    *([b.axis, b.pitch] if b.joint == "helical" else [b.axis]),
                    armature=b.armature,
                    damping=b.damping,
                    stiffness=b.stiffness,
                    follows=follow,
                )
            parent = "world" if b.parent < 0 else tree.bodies[b.parent].name
            builder.add(b.name, parent, joint, b.placement, jn.Inertia(b.mass, b.com, b.inertia))
        models.append(builder.build())
    v = tree.v_slices()
    return models[0], models[1], tree, v[leader].start, v[follower].start


def maps(pair):
    free, _, tree, leader, follower = pair
    G = np.delete(np.eye(free.nv), follower, axis=1)
    G[follower] = RATIO * G[leader]
    q_at = [s.start for s in tree.q_slices()]
    where = [i for i, s in enumerate(tree.v_slices()) if s.start in (leader, follower)]
    q_leader, q_follower = q_at[where[0]], q_at[where[1]]

    def full(q):
        out = np.insert(q, q_follower, 0.0, axis=-1)
        out[..., q_follower] = RATIO * out[..., q_leader] + OFFSET
        return out

    return G, full


def state(pair, rows=4, shape=()):
    coupled = pair[1]
    rng = np.random.default_rng(1)
    return coupled.random_configuration(rng, shape), rng.uniform(-1, 1, (*shape, rows, coupled.nv))


def test_the_follower_has_no_coordinate(pair):
    free, coupled, *_ = pair
    assert (coupled.nq, coupled.nv) == (free.nq - 1, free.nv - 1)
    assert len(coupled.body_names) == len(free.body_names)
    gone = set(free.joint_names) - set(coupled.joint_names)
    assert len(gone) == 1
    with pytest.raises(ValueError, match=r"follows .* no coordinate"):
        coupled.coordinate(gone.pop())


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
def test_forces_are_those_of_the_free_robot_gathered(pair, frame):
    free, coupled, *_ = pair
    G, full = maps(pair)
    q, v = state(pair, shape=(3,))
    expected = free.inverse_dynamics(full(q), v @ G.T, frame=frame) @ G
    np.testing.assert_allclose(coupled.inverse_dynamics(q, v, frame=frame), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        coupled.mass_matrix_derivatives(q, v, frame=frame),
        G.T @ free.mass_matrix_derivatives(full(q), v @ G.T, frame=frame) @ G,
        rtol=1e-12,
        atol=1e-12,
    )
    name = coupled.body_names[-1]
    np.testing.assert_allclose(
        coupled.jacobian_derivatives(name, q, v, frame=frame, velocity_frame=frame),
        free.jacobian_derivatives(name, full(q), v @ G.T, frame=frame, velocity_frame=frame) @ G,
        rtol=1e-12,
        atol=1e-12,
    )


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
def test_forward_undoes_inverse(pair, frame):
    coupled = pair[1]
    q, v = state(pair, shape=(2,))
    wrench = {coupled.body_names[-1]: np.random.default_rng(2).normal(size=(3, 6))}
    tau = coupled.inverse_dynamics(q, v, wrenches=wrench, frame=frame)
    acc = coupled.forward_dynamics(q, v[..., 0, :], tau, wrenches=wrench, frame=frame)
    np.testing.assert_allclose(acc, v[..., 1:, :], rtol=1e-8, atol=1e-8)
    once = {name: w[0] for name, w in wrench.items()}
    single = coupled.forward_dynamics(q, v[..., 0, :], tau[..., 0, :], wrenches=once, frame=frame)
    np.testing.assert_allclose(single, v[..., 1, :], rtol=1e-9, atol=1e-9)
    mask = np.zeros(coupled.nv, bool)
    mask[:6] = mask[coupled.coordinate(coupled.joint_names[-1])] = True
    acc, force = coupled.hybrid_dynamics(
        q,
        v[..., 0, :],
        np.where(mask, v[..., 1:, :], np.nan),
        np.where(mask, np.nan, tau),
        prescribed=mask,
        wrenches=wrench,
        frame=frame,
    )
    np.testing.assert_allclose(acc, v[..., 1:, :], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(force, tau, rtol=1e-8, atol=1e-8)


def test_inverse_mass_matrix(pair):
    coupled = pair[1]
    q, _ = state(pair)
    inverse = coupled.inverse_mass_matrix(q)
    np.testing.assert_allclose(inverse @ coupled.mass_matrix(q), np.eye(coupled.nv), atol=1e-10)
    f = np.random.default_rng(0).normal(size=(3, coupled.nv))
    np.testing.assert_allclose(coupled.inverse_mass_matrix_apply(q, f), f @ inverse, rtol=1e-10, atol=1e-10)


def test_a_follower_before_its_leader_carries_the_first_coordinate():
    """The column of a body that a cluster carries comes before the cluster's own."""
    models, place = [], np.eye(4)
    place[:3, 3] = 0.1, 0.2, 0.3
    for follow in ({"follows": jn.Follow("leader", RATIO, OFFSET)}, {}):
        builder = jn.Builder()
        body = jn.Inertia(1.3, com=(0.1, 0.2, -0.4), rotational=(0.02, 0.03, 0.01))
        builder.add("follower", "world", jn.Revolute((0, 1, 0), **follow), inertia=body)
        builder.add("hand", "follower", jn.Revolute((1, 0, 1)), place, body)
        builder.add("leader", "world", jn.Prismatic((0, 0.6, 0.8)), inertia=body)
        builder.add("finger", "leader", jn.Revolute((0, 0, 1)), place, body)
        models.append(builder.build())
    coupled, free = models
    hand, leader, finger = 0.4, -0.2, 1.1
    q, full = [hand, leader, finger], [RATIO * leader + OFFSET, hand, leader, finger]
    G = np.array([[0, RATIO, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    inverse = np.linalg.inv(G.T @ free.mass_matrix(full) @ G)
    np.testing.assert_allclose(coupled.inverse_mass_matrix(q), inverse, rtol=1e-12, atol=1e-12)
    f = np.array([0.3, -0.8, 0.5])
    np.testing.assert_allclose(coupled.inverse_mass_matrix_apply(q, f), inverse @ f, rtol=1e-12, atol=1e-12)


def test_a_follower_that_undoes_its_leader_moves_nothing():
    """Up to rounding error, which must not be mistaken for inertia."""
    builder = jn.Builder()
    body = jn.Inertia(1.3, com=(0.1, 0.2, -0.4), rotational=(0.02, 0.03, 0.01))
    axis = np.array([0.3, -0.5, 0.7])
    builder.add("leader", "world", jn.Revolute(axis), random_pose(np.random.default_rng(1)))
    builder.add("follower", "leader", jn.Revolute(axis, follows=jn.Follow("leader", -1.0)), inertia=body)
    robot = builder.build()
    for q in np.linspace(-3.0, 3.0, 20):
        with pytest.raises(ValueError, match="'leader'"):
            robot.forward_dynamics([q], [0.1], [0.2])
        with pytest.raises(ValueError, match="'leader'"):
            robot.inverse_mass_matrix([q])


def test_the_coriolis_matrix_is_passive_and_the_configuration_space_closed(pair):
    coupled = pair[1]
    q, v = state(pair)
    C = coupled.coriolis_matrix(q, v[0])
    np.testing.assert_allclose(coupled.mass_matrix_derivatives(q, v[:1])[1], C + C.T, atol=1e-11)
    step = np.random.default_rng(3).uniform(-1, 1, coupled.nv)
    np.testing.assert_allclose(coupled.difference(q, coupled.integrate(q, step)), step, atol=1e-12)
    assert coupled.neutral().shape == (coupled.nq,)
    np.testing.assert_allclose(coupled.kinetic_energy(q, v[0]), v[0] @ coupled.mass_matrix(q) @ v[0] / 2, rtol=1e-12)


def test_energy_is_kept():
    builder = jn.Builder()
    body = jn.Inertia(1.0, com=(0.1, 0.0, -0.4), rotational=(0.02, 0.03, 0.01))
    builder.add("first", "world", jn.Revolute((0, 1, 0)), inertia=body)
    builder.add("second", "first", jn.Revolute((1, 0, 0), follows=jn.Follow("first", 1.5, 0.2)), inertia=body)
    robot = builder.build()
    times = np.linspace(0.0, 2.0, 5)
    motion = jn.simulate(robot, [1.0], [0.0], times)
    q, v = motion.q, motion.v
    energy = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)


def test_out_pickle_and_text(pair):
    coupled = pair[1]
    q, v = state(pair)
    out = np.empty((coupled.nv, coupled.nv))
    assert coupled.mass_matrix(q, out=out) is out
    np.testing.assert_array_equal(out, coupled.mass_matrix(q))
    again = pickle.loads(pickle.dumps(coupled))
    np.testing.assert_array_equal(again.inverse_dynamics(q, v), coupled.inverse_dynamics(q, v))
    assert "× 'b" in str(coupled)


def test_bad_input_names_the_argument(pair):
    free, coupled, *_ = pair
    q, v = state(pair)
    with pytest.raises(ValueError, match=r"q has shape \(28,\), expected \(..., 27\)"):
        coupled.mass_matrix(np.zeros(free.nq))
    with pytest.raises(ValueError, match=r"v has shape"):
        coupled.inverse_dynamics(q, np.zeros((2, free.nv)))
    with pytest.raises(ValueError, match=r"v\[0, 0\] is nan"):
        coupled.inverse_dynamics(q, np.full((2, coupled.nv), np.nan))
    with pytest.raises(ValueError, match="tau has shape"):
        coupled.forward_dynamics(q, v[0], np.zeros(free.nv))
    with pytest.raises(ValueError, match=r"out has shape \(3,\), expected"):
        coupled.mass_matrix(q, out=np.zeros(3))


def chain(**follows):
    builder = jn.Builder()
    parent = "world"
    for name in ("a", "b", "c"):
        builder.add(name, parent, jn.Revolute(follows=follows.get(name)), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
        parent = name
    return builder.build()


def test_following_a_follower():
    robot = chain(b=jn.Follow("a", 2.0, 0.1), c=jn.Follow("b", 3.0, 0.2))
    assert robot.nv == 1
    angle = robot.pose("c", [0.5])[:2, 0]
    total = 0.5 + (2 * 0.5 + 0.1) + (3 * (2 * 0.5 + 0.1) + 0.2)
    np.testing.assert_allclose(angle, [np.cos(total), np.sin(total)], atol=1e-14)


def test_bad_couplings_are_refused():
    with pytest.raises(ValueError, match="in a circle: b -> c -> b"):
        chain(b=jn.Follow("c"), c=jn.Follow("b"))
    with pytest.raises(ValueError, match="follows 'aa', which does not exist: did you mean 'a'"):
        chain(c=jn.Follow("aa"))
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.add("arm", "base", jn.Revolute(follows=jn.Follow("base")), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    with pytest.raises(ValueError, match="which has 6 coordinates"):
        builder.build()
    with pytest.raises(ValueError, match="follows is for joints with one coordinate"):
        jn.Spherical(follows=jn.Follow("a"))
    with pytest.raises(ValueError, match="ratio"):
        jn.Follow("a", np.nan)
