"""Robots of the papers and of the examples, built in code."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, quoted, reals, whole
from jounce._core import MAX_ORDER
from jounce.builder import Builder
from jounce.model import Model
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Free, Limits, Revolute
from jounce.parts.tilt_hex import TiltHex

__all__ = ["HORIZON", "STEP", "TiltHex", "aerial_manipulator", "panda", "quadrotor_arm", "reference_motion"]

Array = NDArray[np.float64]

HORIZON = 30.0  # s, of paper A's reference motion
STEP = 0.01  # s, between its samples

_AXES = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))  # paper A, (30): y, x, z, repeating

# Panda: rotation about x (rad) and shift x, y, z (m) of each joint in the previous link
_PANDA_PLACES = (
    (0.0, 0.0, 0.0, 0.333),
    (-math.pi / 2, 0.0, 0.0, 0.0),
    (math.pi / 2, 0.0, -0.316, 0.0),
    (math.pi / 2, 0.0825, 0.0, 0.0),
    (-math.pi / 2, -0.0825, 0.384, 0.0),
    (math.pi / 2, 0.0, 0.0, 0.0),
    (math.pi / 2, 0.088, 0.0, 0.0),
)
# mass (kg); centre of mass (m); xx, yy, zz, xy, xz, yz about it (kg m^2)
_PANDA_INERTIAS = (
    (4.970684, (3.875e-3, 2.081e-3, -4.762e-2), (7.0337e-1, 7.0661e-1, 9.117e-3, -1.39e-4, 6.772e-3, 1.9169e-2)),
    (0.646926, (-3.141e-3, -2.872e-2, 3.495e-3), (7.962e-3, 2.811e-2, 2.5995e-2, -3.925e-3, 1.0254e-2, 7.04e-4)),
    (3.228604, (2.7518e-2, 3.9252e-2, -6.6502e-2), (3.7242e-2, 3.6155e-2, 1.083e-2, -4.761e-3, -1.1396e-2, -1.2805e-2)),
    (3.587895, (-5.317e-2, 1.04419e-1, 2.7454e-2), (2.5853e-2, 1.9552e-2, 2.8323e-2, 7.796e-3, -1.332e-3, 8.641e-3)),
    (1.225946, (-1.1953e-2, 4.1065e-2, -3.8437e-2), (3.5549e-2, 2.9474e-2, 8.627e-3, -2.117e-3, -4.037e-3, 2.29e-4)),
    (1.666555, (6.0149e-2, -1.4117e-2, -1.0517e-2), (1.964e-3, 4.354e-3, 5.433e-3, 1.09e-4, -1.158e-3, 3.41e-4)),
    (0.735522, (1.0517e-2, -4.252e-3, 6.1597e-2), (1.2516e-2, 1.0027e-2, 4.815e-3, -4.28e-4, -1.196e-3, -7.41e-4)),
)
# position (rad, from and to); velocity (rad/s), torque (N m), acceleration (rad/s^2), jerk (rad/s^3)
_PANDA_LIMITS = (
    (-2.8973, 2.8973, 2.175, 87.0, 15.0, 7500.0),
    (-1.7628, 1.7628, 2.175, 87.0, 7.5, 3750.0),
    (-2.8973, 2.8973, 2.175, 87.0, 10.0, 5000.0),
    (-3.0718, -0.0698, 2.175, 87.0, 12.5, 6250.0),
    (-2.8973, 2.8973, 2.61, 12.0, 15.0, 7500.0),
    (-0.0175, 3.7525, 2.61, 12.0, 20.0, 10000.0),
    (-2.8973, 2.8973, 2.61, 12.0, 20.0, 10000.0),
)
_PANDA_TORQUE_RATE = 1000.0  # N m/s, the same for all joints


def __dir__() -> list[str]:
    return sorted(__all__)


def aerial_manipulator(branches: int = 2, links: int = 3) -> Model:
    """Paper A's flying robot: a TiltHex base that carries arms of `links` revolute joints (Fig. 2 and Table 3).

    With the defaults it is the 12-DoF robot of section 7, N = 7 bodies. Table 4's larger trees are
    ``aerial_manipulator(5, n)`` with N = 1 + 5 n; the paper does not say how five arms are arranged, so they are
    spread evenly on the circle that the two are on.

    The frame of a link is its joint frame, d above its centre of mass; the base's is its centre of mass.

    >>> aerial_manipulator().nv
    12
    """
    whole("branches", branches, 0, 100_000)
    whole("links", links, 0, 100_000)
    b, c, d = 0.10, 0.18, 0.06
    builder = Builder()
    builder.add("B1", "world", Free(name="base"), inertia=Inertia(2.5, rotational=(0.03, 0.03, 0.05)))
    number = 1
    for branch in range(branches):
        angle = 2 * math.pi * branch / branches
        parent, placement = "B1", _shift(c / 2 * math.cos(angle), c / 2 * math.sin(angle), -b)
        for link in range(links):
            number += 1
            name = f"B{number}"
            builder.add(
                name,
                parent,
                Revolute(_AXES[link % 3], name=f"q{number}"),
                placement,
                Inertia(0.25, com=(0.0, 0.0, -d), rotational=(0.002, 0.002, 0.001)),
            )
            parent, placement = name, _shift(0.0, 0.0, -2 * d)
    return builder.build()


def reference_motion(t: ArrayLike, rows: int) -> tuple[Array, Array]:
    """Paper A's reference motion of its flying robot (Table 3), of `HORIZON` seconds, to any order.

    Args:
        t: (T,) times, s.
        rows: of the velocity stacks, at most `MAX_ORDER` + 2.

    Returns:
        q (T, 13) and v (T, rows, 12), `Free` rows in the frame "mixed".

    The base flies a circle of 1 m at height 0 in 20 s while its yaw swings by 25 degrees in 30 s; each joint follows
    half a cosine wave from its initial angle. The paper does not give the phase of the yaw: it starts at zero here.

    >>> robot = aerial_manipulator()
    >>> q, v = reference_motion([0.0, 15.0], 3)
    >>> robot.inverse_dynamics(q, v, frame="mixed").shape
    (2, 2, 12)
    """
    t = np.atleast_1d(reals("t", t))
    if t.ndim > 1 or not np.isfinite(t).all():
        raise ValueError(f"t is {quoted(t.tolist())}, expected times (T,)")
    rows = whole("rows", rows, 1, MAX_ORDER + 2)
    circle, swing, bend = 2 * np.pi / 20, 2 * np.pi / 30, np.pi / HORIZON
    amplitude = np.deg2rad(25.0)
    start = np.deg2rad([10.0, -5.0, 15.0, -10.0, 7.0, -12.0])
    reach = np.deg2rad([60.0, 50.0, 40.0, 55.0, 45.0, 35.0])

    q = np.zeros((len(t), 13))
    yaw = amplitude * np.sin(swing * t)
    q[:, 0], q[:, 1] = np.cos(circle * t), np.sin(circle * t)
    q[:, 5], q[:, 6] = np.sin(yaw / 2), np.cos(yaw / 2)
    q[:, 7:] = start + reach / 2 * (1 - np.cos(bend * t))[:, None]

    v = np.zeros((len(t), rows, 12))
    for k in range(rows):  # derivative k + 1 of sin(a t) is a^(k+1) sin(a t + (k+1) pi/2)
        quarter = (k + 1) * np.pi / 2
        v[:, k, 0] = circle ** (k + 1) * np.cos(circle * t + quarter)
        v[:, k, 1] = circle ** (k + 1) * np.sin(circle * t + quarter)
        v[:, k, 5] = amplitude * swing ** (k + 1) * np.sin(swing * t + quarter)
        v[:, k, 6:] = -reach / 2 * (bend ** (k + 1) * np.cos(bend * t + quarter))[:, None]
    return q, v


def quadrotor_arm(payload: float = 0.0) -> Model:
    """A quadrotor that carries an arm of two links, which turn about its y axis and hang down at zero.

    1.5 kg and two links of 0.18 m, 0.15 kg and 0.10 kg. Rotors can push along the base's z axis and turn the base about
    all three: with the arm's motors, columns 2 to 7 of tau are actuated; 0 and 1, the forces along x and y, are not.

    Args:
        payload: a point mass at the end of the arm, the frame "tool", kg.

    >>> robot = quadrotor_arm()
    >>> robot.joint_names, robot.nv
    (('base', 'shoulder', 'elbow'), 8)
    """
    length = 0.18
    builder = Builder()
    builder.add("quadrotor", "world", Free(name="base"), inertia=Inertia(1.5, rotational=(0.016, 0.016, 0.028)))
    parent, placement = "quadrotor", _shift(0.0, 0.0, -0.04)
    for body, joint, mass in (("upper_arm", "shoulder", 0.15), ("forearm", "elbow", 0.10)):
        across = mass * length**2 / 12
        rod = Inertia(mass, com=(0.0, 0.0, -length / 2), rotational=(across, across, 2e-5))
        builder.add(body, parent, Revolute((0.0, 1.0, 0.0), name=joint), placement, rod)
        parent, placement = body, _shift(0.0, 0.0, -length)
    builder.add("tool", parent, Fixed(), placement, Inertia(payload))
    return builder.build()


def panda(tilt: float = 0.0) -> Model:
    """Franka Emika's Panda, seven revolute joints on a fixed base: the robot of paper C.

    Geometry and inertial parameters are those published by the manufacturer (franka_description), in the link frames
    of its model (modified Denavit-Hartenberg): ``link1`` to ``link7`` with the joints ``q1`` to ``q7``. The inertial
    parameters were identified by C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano, A. De Luca, "Dynamic
    Identification of the Franka Emika Panda Robot With Retrieval of Feasible Parameters Using Penalty-Based
    Optimization", IEEE Robotics and Automation Letters 4(4), 2019, which the paper cites. The height of the first
    link's centre of mass differs between copies; it loads no joint. No hand, no friction, no rotor inertia. The paper's
    own code takes the moments about the origins of the link frames; `jounce reproduce C-panda` does so, too. The paper
    speaks of six degrees of freedom; the robot has seven.

    The limits, those of acceleration, jerk and torque rate among them, are those of motions and torques sent to it: the
    manufacturer's Franka Control Interface documentation, "Robot and interface specifications", "Limits for Panda".

    Args:
        tilt: of the base about x, rad.

    >>> robot = panda()
    >>> robot.nv, round(sum(body.inertia.mass for body in robot.bodies), 3)
    (7, 16.062)
    >>> robot.effort_limit, robot.acceleration_limit
    (array([87., 87., 87., 87., 12., 12., 12.]), array([15. ,  7.5, 10. , 12.5, 15. , 20. , 20. ]))
    """
    angle = float(array_of("tilt", tilt, ()))
    builder = Builder()
    for i, ((turn, *shift), (mass, com, (xx, yy, zz, xy, xz, yz)), (*ends, acceleration, jerk)) in enumerate(
        zip(_PANDA_PLACES, _PANDA_INERTIAS, _PANDA_LIMITS, strict=True), 1
    ):
        placement = _shift(*shift)
        turn += angle if i == 1 else 0.0
        placement[1:3, 1:3] = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
        rotational = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        limits = Limits(*ends, acceleration=acceleration, jerk=jerk, effort_rate=_PANDA_TORQUE_RATE)
        joint = Revolute((0, 0, 1), limits=limits, name=f"q{i}")
        parent = f"link{i - 1}" if i > 1 else "world"
        builder.add(f"link{i}", parent, joint, placement, Inertia(mass, com, rotational))
    return builder.build()


def _shift(x: float, y: float, z: float) -> NDArray[np.float64]:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose
