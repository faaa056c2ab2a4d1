"""What Pinocchio, MuJoCo, Drake, iDynTree and textbooks call things, with the names they have here: for error messages.

Tables of whole calls, arguments included, are in docs/from_*.md.
"""

from __future__ import annotations

import re

FRAMES = {  # in lower case
    "local": "body",
    "body_fixed_representation": "body",
    "inertial": "world",
    "inertial_fixed_representation": "world",
    "spatial": "world",
    "hybrid": "mixed",
    "local_world_aligned": "mixed",
    "mixed_representation": "mixed",
}
FUNCTIONS = {
    "appendModel": "Model.attach",
    "buildModelFromMJCF": "load",
    "buildModelFromUrdf": "load",
    "buildModelFromXML": "load",
    "buildReducedModel": "Model.lock",
    "loadModelFromFile": "load",
    "loadModelFromString": "load",
}
_METHODS = {
    "aba": "forward_dynamics",
    "appendModel": "attach",
    "buildReducedModel": "lock",
    "ccrba": "centroidal_momentum_matrix",
    "com": "center_of_mass",
    "computeABADerivatives": "forward_dynamics_derivatives",
    "computeCentroidalMomentumTimeVariation": "centroidal_momentum_derivatives",
    "computeConstraintDynamicsDerivatives": "constrained_dynamics_derivatives",
    "computeFrameJacobian": "jacobian",
    "computeGeneralizedGravity": "gravity_force",
    "computeJointJacobian": "jacobian",
    "computeJointJacobians": "jacobian",
    "computeJointTorqueRegressor": "inverse_dynamics_regressor",
    "computeMinverse": "inverse_mass_matrix",
    "computeRNEADerivatives": "inverse_dynamics_derivatives",
    "computeStaticTorque": "inverse_dynamics",
    "computeTotalMass": "mass",
    "constraintDynamics": "constrained_dynamics",
    "crba": "mass_matrix",
    "dccrba": "centroidal_momentum_matrix_derivatives",
    "fk": "forward_kinematics",
    "framePlacement": "pose",
    "framesForwardKinematics": "forward_kinematics",
    "generalizedBiasForces": "bias_force",
    "generalizedGravityForces": "gravity_force",
    "getBodyId": "frame_index",
    "getCenterOfMassPosition": "center_of_mass",
    "getCentroidalTotalMomentum": "centroidal_momentum",
    "getFrameAcceleration": "twist",
    "getFrameBiasAcc": "jacobian_derivatives",
    "getFrameId": "frame_index",
    "getFrameJacobian": "jacobian",
    "getFrameJacobianTimeVariation": "jacobian_derivatives",
    "getFrameVelocity": "twist",
    "getFreeFloatingMassMatrix": "mass_matrix",
    "getJointId": "coordinate",
    "getJointJacobian": "jacobian",
    "getWorldTransform": "pose",
    "impulseDynamics": "impact",
    "inertia_matrix": "mass_matrix",
    "inertias": "inertial_parameters",
    "jacobianCenterOfMass": "centroidal_momentum_matrix",
    "lowerPositionLimit": "lower",
    "mj_differentiatePos": "difference",
    "mj_forward": "forward_dynamics",
    "mj_fullM": "mass_matrix",
    "mj_integratePos": "integrate",
    "mj_inverse": "inverse_dynamics",
    "mj_jacBody": "jacobian",
    "mj_jacDot": "jacobian_derivatives",
    "mj_jacSite": "jacobian",
    "mj_solveM": "inverse_mass_matrix_apply",
    "nle": "bias_force",
    "nonLinearEffects": "bias_force",
    "num_positions": "nq",
    "num_velocities": "nv",
    "rnea": "inverse_dynamics",
    "updateFramePlacements": "forward_kinematics",
    "upperPositionLimit": "upper",
    "CalcBiasTerm": "coriolis_matrix",
    "CalcCenterOfMassPositionInWorld": "center_of_mass",
    "CalcJacobianSpatialVelocity": "jacobian",
    "CalcSpatialMomentumInWorldAboutPoint": "centroidal_momentum",
    "EvalBodyPoseInWorld": "pose",
    "EvalBodySpatialVelocityInWorld": "twist",
}


def method_here(name: str) -> str:
    """What a robot's method would be called that does what another library has a call of this name for.

    Most libraries use the same words, in camel case.

    >>> method_here("crba"), method_here("CalcMassMatrix"), method_here("forwardKinematics")
    ('mass_matrix', 'mass_matrix', 'forward_kinematics')
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return _METHODS.get(name) or re.sub(r"^(?:calc|compute|eval|get)_", "", words)
