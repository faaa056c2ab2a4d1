"""adam: its recursive Newton-Euler algorithm without accelerations, and its mass matrix, both through CasADi.

The URDF is written from jounce's model: adam's parser fails on massless links in the robots' own files.
Its functions always take a floating base; for a fixed one the base rests at the origin and its rows are dropped.
"""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import numpy as np

from ..race import Array, Call, Problem
from ..subjects import urdf_of


def call(problem: Problem) -> Call | None:
    if problem.quantity not in ("bias force", "mass matrix") or problem.states > 1:
        return None
    from adam import Representations
    from adam.casadi import KinDynComputations

    robot, floating = problem.model, problem.subject.floating
    joints = [name for name in robot.joint_names if robot.coordinate(name).stop - robot.coordinate(name).start == 1]
    gravity = np.concatenate([robot.gravity, np.zeros(3)])
    with redirect_stderr(io.StringIO()):  # its parser prints each attribute it does not know
        dynamics = KinDynComputations(urdf_of(robot), joints, gravity=gravity)
    dynamics.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    is_matrix = problem.quantity == "mass matrix"
    function = dynamics.mass_matrix_fun() if is_matrix else dynamics.bias_force_fun()
    base = 6 if floating else 0
    pose = robot.pose(robot.body_names[0], problem.q) if floating else np.eye(4)
    velocity = np.concatenate([problem.v[0] if floating else np.zeros(6), problem.v[0] if not floating else []])
    s = problem.q[problem.q.size - len(joints) :].copy()
    inputs = [np.asfortranarray(pose).ravel("K"), s]
    if not is_matrix:
        inputs += [velocity[:6].copy(), velocity[6:].copy()]
    size = 6 + len(joints)
    out = np.zeros(size * size if is_matrix else size)
    buffer, run = function.buffer()
    for i, x in enumerate(inputs):
        buffer.set_arg(i, x.data)
    buffer.set_res(0, out.data)

    def answer() -> Array:
        run()
        whole = out.reshape(size, size).T if is_matrix else out
        rows = slice(6 - base, None)
        return whole[rows, rows].copy() if is_matrix else whole[rows].copy()

    return Call(function.name(), run, answer, keep=(buffer, inputs))
