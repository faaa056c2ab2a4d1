"""How the answer of each call transforms under a change of coordinates, x = G q.

Forces are G^T tau_x, matrices G^T M_x G, Jacobians J_x G. As G is constant, this holds for derivatives of every order.
"""

from __future__ import annotations

import numpy as np

from calls import ARRAYS
from coupled_robots import Robot

RULES = {
    "force": (
        "inverse_dynamics generalized_inverse_dynamics inverse_dynamics_passive bias_force gravity_force elastic_force "
        "gravity_force_derivatives damping_force change_force_frame"
    ),
    "matrix": (
        "mass_matrix mass_matrix_derivatives coriolis_matrix coriolis_matrix_derivatives torque_coefficients "
        "inverse_dynamics_derivatives"
    ),
    "columns": (
        "jacobian jacobian_derivatives centroidal_momentum_matrix centroidal_momentum_matrix_derivatives "
        "constraint_jacobian constraint_jacobian_derivatives"
    ),
    "rows": "actuation_matrix inverse_dynamics_regressor",
    "same": (
        "forward_kinematics pose twist backbone pose_derivatives center_of_mass center_of_mass_derivatives "
        "centroidal_momentum centroidal_momentum_derivatives kinetic_energy kinetic_energy_derivatives "
        "potential_energy potential_energy_derivatives frame_index residual loop_coordinate constraint_rows"
    ),
    "motion": "difference change_velocity_frame",
    "equation": (
        "forward_dynamics hybrid_dynamics inverse_mass_matrix inverse_mass_matrix_apply forward_dynamics_derivatives "
        "linearize constrained_dynamics constrained_dynamics_derivatives constrained_inverse_dynamics "
        "inverse_constraint_inertia impact"
    ),
    "own test": (  # of articulated_inertia, test_articulated_inertia.py
        "integrate coordinate position neutral random_configuration equilibrium articulated_inertia closed_form "
        "project independent_coordinates constrained check_limits frames "
        "unconstrained lock replace attach subtree chain remove payload with_inertial_parameters"  # test_editing.py
    ),
}  # fmt: skip
RULE = {method: rule for rule, methods in RULES.items() for method in methods.split()}


def freed_arguments(robot: Robot, given: dict[str, object]) -> dict[str, object]:
    """Arguments for the robot whose joints are all free: its motion, and the forces on the leaders."""
    G, found = robot.G, dict(given)
    for name in ARRAYS & set(given):
        if name.startswith("q"):
            found[name] = robot.full(given[name])
        elif name in ("tau", "f"):
            found[name] = given[name] @ lift(robot).T
        else:
            found[name] = given[name] @ G.T
    return found


def lift(robot: Robot) -> np.ndarray:
    """(nv of the freed robot, nv): selects the leaders' coordinates among the freed robot's."""
    found, own = np.zeros_like(robot.G), robot.freed.model.coordinate
    for joint in robot.model.joint_names:
        found[own(joint), robot.model.coordinate(joint)] = np.eye(len(range(*own(joint).indices(len(found)))))
    return found


def projected(rule: str, x: np.ndarray, G: np.ndarray) -> np.ndarray:
    match rule:
        case "force" | "columns":
            return x @ G
        case "matrix":
            return G.T @ x @ G
        case "rows":
            return G.T @ x
    return x
