"""Matrices, Jacobians, derivatives and energy from Python, one state a call, one thread: a race with Pinocchio.

    pip install . './lab[peers]' && python benchmarks/matrices.py

Both libraries run in one process on the same robots, calls take turns, and the best of many counts: the ratio is what
means something on a shared machine. The answers are compared before anything is timed. Both return new arrays. The two
Coriolis matrices are not the same matrix, but C v is the same force, so that is compared.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pinocchio as pin

import jounce as jn
from jounce import _core
from jounce.conversions import Pinocchio

sys.path.insert(0, str(Path(__file__).parent))

from timing import microseconds

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
Call = Callable[[], np.ndarray | float]
MIXED = pin.LOCAL_WORLD_ALIGNED


def race(path: str, base: Literal["fixed", "floating"], tool: str, rng: np.random.Generator) -> None:
    robot = jn.load(ROBOTS / path, base=base, mimic="independent", damping=False, friction=False)
    model = pin.buildModelFromUrdf(str(ROBOTS / path), *([pin.JointModelFreeFlyer()] if base == "floating" else []))
    data, convert = model.createData(), Pinocchio(robot, model)
    q, stack = robot.random_configuration(rng), rng.normal(size=(6, robot.nv))
    v, one = stack[0], stack[:1].copy()
    x, u, w = convert.to(q, v, stack[1])
    there = convert.to(q, np.arange(robot.nv, dtype=float))[1].astype(
        int
    )  # our place of each of Pinocchio's coordinates
    frame = model.getFrameId(tool)
    axes = {"frame": "mixed", "velocity_frame": "body"}

    def columns(matrix: np.ndarray) -> np.ndarray:
        return matrix[..., there]

    def both(matrix: np.ndarray) -> np.ndarray:
        return matrix[..., there, :][..., there]

    def frame_jacobian_rate() -> np.ndarray:
        pin.computeJointJacobiansTimeVariation(model, data, x, u)
        pin.updateFramePlacement(model, data, frame)
        return pin.getFrameJacobianTimeVariation(model, data, frame, MIXED)

    def same(matrix: np.ndarray) -> np.ndarray:
        return matrix

    # name there, name here, how to bring ours into Pinocchio's order, and the two calls
    pairs: list[tuple[str, str, Callable[..., np.ndarray], Call, Call]] = [
        ("crba", "mass_matrix", both, lambda: pin.crba(model, data, x), lambda: robot.mass_matrix(q)),
        (
            "computeMinverse", "inverse_mass_matrix", both,
            lambda: pin.computeMinverse(model, data, x), lambda: robot.inverse_mass_matrix(q),
        ),
        (
            "computeCoriolisMatrix", "coriolis_matrix", lambda C: columns(C @ v),
            lambda: pin.computeCoriolisMatrix(model, data, x, u), lambda: robot.coriolis_matrix(q, v),
        ),
        (
            "computeGeneralizedGravity", "gravity_force", columns,
            lambda: pin.computeGeneralizedGravity(model, data, x), lambda: robot.gravity_force(q),
        ),
        (
            "computeFrameJacobian", "jacobian", columns,
            lambda: pin.computeFrameJacobian(model, data, x, frame, MIXED), lambda: robot.jacobian(tool, q, **axes),
        ),
        (
            "getFrameJacobianTimeVariation", "jacobian_derivatives, 1", lambda J: columns(J[1]),
            frame_jacobian_rate, lambda: robot.jacobian_derivatives(tool, q, one, **axes),
        ),
        (
            "ccrba", "centroidal_momentum_matrix", columns,
            lambda: pin.ccrba(model, data, x, u), lambda: robot.centroidal_momentum_matrix(q),
        ),
        (
            "dccrba", "centroidal_momentum_matrix_derivatives, 1", lambda A: columns(A[1]),
            lambda: pin.dccrba(model, data, x, u), lambda: robot.centroidal_momentum_matrix_derivatives(q, one),
        ),
        (
            "centerOfMass", "center_of_mass", same,
            lambda: pin.centerOfMass(model, data, x), lambda: robot.center_of_mass(q),
        ),
        (
            "computeKineticEnergy", "kinetic_energy", same,
            lambda: pin.computeKineticEnergy(model, data, x, u), lambda: robot.kinetic_energy(q, v),
        ),
        (
            "computePotentialEnergy", "potential_energy", same,
            lambda: pin.computePotentialEnergy(model, data, x), lambda: robot.potential_energy(q),
        ),
        (
            "computeRNEADerivatives", "inverse_dynamics_derivatives", lambda D: both(D)[:2],
            lambda: pin.computeRNEADerivatives(model, data, x, u, w),
            lambda: robot.inverse_dynamics_derivatives(q, v, stack[1]),
        ),
        (
            "computeABADerivatives", "forward_dynamics_derivatives", lambda D: both(D)[:2],
            lambda: pin.computeABADerivatives(model, data, x, u, w),
            lambda: robot.forward_dynamics_derivatives(q, v, stack[1]),
        ),
    ]  # fmt: skip
    print(f"\n{Path(path).name}, {base} base, {robot.nv} degrees of freedom")
    for name, ours, order, peer, call in pairs:
        result = np.array(peer()) @ u if name == "computeCoriolisMatrix" else np.array(peer())
        if name.endswith("Derivatives"):
            result = result[:2]  # the third is M or its inverse, of which Pinocchio fills one half
        np.testing.assert_allclose(order(np.asarray(call())), result, rtol=1e-9, atol=1e-9 * np.abs(result).max())
        time = microseconds({"peer": peer, "ours": call}, 25)
        line = f"{time['peer']:8.2f} µs {time['ours']:8.2f} µs {time['peer'] / time['ours']:6.2f}"
        print(f"  {name:30s} {ours:43s} {line}")
    alone: dict[str, Call] = {
        "mass_matrix": lambda: robot.mass_matrix(q),
        "mass_matrix_derivatives, 1": lambda: robot.mass_matrix_derivatives(q, one),
        "mass_matrix_derivatives, 6": lambda: robot.mass_matrix_derivatives(q, stack),
        "coriolis_matrix": lambda: robot.coriolis_matrix(q, v),
        "coriolis_matrix_derivatives, 5": lambda: robot.coriolis_matrix_derivatives(q, stack),
        "jacobian": lambda: robot.jacobian(tool, q),
        "jacobian_derivatives, 6": lambda: robot.jacobian_derivatives(tool, q, stack),
        "inverse_dynamics": lambda: robot.inverse_dynamics(q, v, stack[1]),
        "inverse_dynamics_passive": lambda: robot.inverse_dynamics_passive(q, v, v, stack[1]),
    }
    times = microseconds(alone, 25)
    for name, time in times.items():
        whole = name.partition("_derivatives")[0].removesuffix("_passive")
        print(f"  {'':30s} {name:43s} {'':11s} {time:8.2f} µs {time / times[whole]:6.2f} times {whole}")


def main() -> None:
    rng = np.random.default_rng(0)
    jn.set_num_threads(1)
    print(f"jounce {jn.__version__} with {_core.instruction_set()} kernels, Pinocchio {pin.__version__}")
    print(
        f"  {'Pinocchio':30s} {'jounce, number of derivatives':43s} {'Pinocchio':>11s} {'jounce':>11s}  times as fast"
    )
    race("panda_description/urdf/panda.urdf", "fixed", "panda_hand", rng)
    race("anymal_b_simple_description/robots/anymal.urdf", "floating", "LF_FOOT", rng)
    race("talos_data/robots/talos_reduced.urdf", "floating", "gripper_left_base_link", rng)


if __name__ == "__main__":
    main()
