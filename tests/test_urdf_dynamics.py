"""All robots of example-robot-data: matrices, bias forces, Jacobians and their derivatives against Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from urdf_peer import pinocchio, urdf_paths, urdf_peer

FRAMES = {"body": "LOCAL", "world": "WORLD", "mixed": "LOCAL_WORLD_ALIGNED"}


def agree(found: np.ndarray, expected: np.ndarray, name: str, least: float = 1e-12) -> None:
    """Compares to 1e-9 of the largest number, or of `least`."""
    scale = max(float(np.abs(expected).max(initial=0.0)), least)
    error = float(np.abs(found - expected).max(initial=0.0)) / scale
    assert error < 1e-9, f"{name}: {error:.1e}"


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("path", urdf_paths(), ids=lambda p: p.stem)
def test_agrees_with_pinocchio(path, base):
    peer = urdf_peer(path, base)
    robot, model, data = peer.robot, peer.model, peer.data
    rng = np.random.default_rng(1)
    q, v, a = robot.random_configuration(rng), *rng.uniform(-1, 1, (2, robot.nv))
    pq, pv, pa = peer.q_to_pin(q), peer.v_to_pin(v), peer.v_to_pin(a)

    agree(robot.mass_matrix(q), peer.matrix_from_pin(pinocchio.crba(model, data, pq)), "mass matrix")
    agree(robot.bias_force(q, v), peer.v_from_pin(pinocchio.nonLinearEffects(model, data, pq, pv)), "bias force")
    agree(robot.gravity_force(q), peer.v_from_pin(pinocchio.computeGeneralizedGravity(model, data, pq)), "gravity")
    agree(robot.inverse_dynamics(q, v, a), peer.v_from_pin(pinocchio.rnea(model, data, pq, pv, pa)), "inverse dynamics")
    size = float(np.abs(robot.mass_matrix(q)).max(initial=1e-12))
    C = pinocchio.computeCoriolisMatrix(model, data, pq, pv)
    agree(robot.coriolis_matrix(q, v) @ v, peer.v_from_pin(np.asarray(C) @ pv), "C v", size)
    rate = np.asarray(C) + np.asarray(C).T  # the symmetric part is that of dM/dt for any C
    agree(robot.mass_matrix_derivatives(q, v[None])[1], peer.matrix_from_pin(rate), "dM/dt", size)
    pinocchio.ccrba(model, data, pq, pv)
    agree(robot.centroidal_momentum_matrix(q), peer.jacobian_from_pin(data.Ag), "momentum matrix")

    pinocchio.computeJointJacobiansTimeVariation(model, data, pq, pv)
    pinocchio.updateFramePlacements(model, data)
    names = [name for name in robot.frame_names if name in peer.frame_ids]
    for name in {names[0], names[len(names) // 2], names[len(robot.body_names) - 1], names[-1]}:
        for frame, reference in FRAMES.items():
            axes = getattr(pinocchio.ReferenceFrame, reference)
            J, dJ = robot.jacobian_derivatives(name, q, v[None], frame=frame, velocity_frame="body")
            if model.frames[peer.frame_id(name)].parentJoint == 0:  # Pinocchio crashes on these
                assert not J.any()
                assert not dJ.any()
                continue
            expected = pinocchio.getFrameJacobian(model, data, peer.frame_id(name), axes)
            agree(J, peer.jacobian_from_pin(expected), f"Jacobian of {name!r} in {frame}")
            expected = pinocchio.getFrameJacobianTimeVariation(model, data, peer.frame_id(name), axes)
            agree(dJ, peer.jacobian_from_pin(expected), f"rate of the Jacobian of {name!r} in {frame}", 1.0)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", ["talos_full_v2", "anymal"])
def test_jacobians_of_a_floating_robot(name, frame):
    """Of all frames to 1e-12: Pinocchio's reference frame sets the rows, and the base's columns stay in body axes."""
    peer = urdf_peer(next(path for path in urdf_paths() if path.stem == name), "floating")
    robot, model, data = peer.robot, peer.model, peer.data
    axes = getattr(pinocchio.ReferenceFrame, FRAMES[frame])
    rng = np.random.default_rng(3)
    q, v = robot.random_configuration(rng), rng.uniform(-1, 1, robot.nv)
    pq = peer.q_to_pin(q)
    for each in peer.frame_ids:
        J, dJ = robot.jacobian_derivatives(each, q, v[None], frame=frame, velocity_frame="body")
        alone = robot.jacobian(each, q, frame=frame, velocity_frame="body")
        expected = peer.jacobian_from_pin(pinocchio.computeFrameJacobian(model, data, pq, peer.frame_id(each), axes))
        pinocchio.computeJointJacobiansTimeVariation(model, data, pq, peer.v_to_pin(v))
        pinocchio.updateFramePlacements(model, data)
        rate = pinocchio.getFrameJacobianTimeVariation(model, data, peer.frame_id(each), axes)
        same = peer.jacobian_from_pin(pinocchio.getFrameJacobian(model, data, peer.frame_id(each), axes))
        for found, wanted in ((J, expected), (alone, expected), (J, same), (dJ, peer.jacobian_from_pin(rate))):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("name", ["talos_reduced", "anymal", "panda"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_inverse_mass_matrix_agrees_with_pinocchio(name, base):
    peer = urdf_peer(next(path for path in urdf_paths() if path.stem == name), base)
    q = peer.robot.random_configuration(np.random.default_rng(2))
    upper = np.triu(pinocchio.computeMinverse(peer.model, peer.data, peer.q_to_pin(q)))
    expected = peer.matrix_from_pin(upper + np.triu(upper, 1).T)
    agree(peer.robot.inverse_mass_matrix(q), expected, "inverse mass matrix")
