"""Elastic joints: feed-forward from inverse dynamics to second order.

Between motor and link there is an elastic gear, a spring of stiffness K. For the links to move as desired, the motors
must lead them by the deflection of the springs, theta = q + tau / K, with the torques tau of the rigid arm. They must
accelerate by theta'' = q'' + tau'' / K, and so apply B theta'' + tau, where B is their inertia. That takes the second
derivatives of the torques, and the motion up to its snap.

An arm with a load swings within 0.8 s and stops. Links, springs and motors are simulated; feedback holds each motor on
its own theta, without knowing where the links are. The feed-forward is that of a rigid arm, or allows for the
deflection under the weight, or is of second order, with K known and with K overestimated by 10 %. The picture shows the
error of the hand, and how far the shoulder's motor should lead its link. The number to look at is the error of the
hand.

    python examples/elastic_joints.py [figure.png]
"""

from pathlib import Path

import numpy as np
from arm import LINKS, add_arm
from numpy.polynomial import Polynomial
from picture import BLUE, GREEN, GREY, ORANGE, asked, panels

import jounce as jn

K = np.array([12e3, 12e3, 6e3, 1.5e3])  # N m/rad, the springs
B = np.array([1.2, 1.2, 0.5, 0.05])  # kg m^2, the motors, reflected through their gears
STIFFNESS, DAMPING = 0.4 * K, 40 * B  # N m/rad and N m s/rad, the feedback of the motors
SWING = 0.8  # s
STEP = Polynomial([0, 0, 0, 0, 0, 126, -420, 540, -315, 70])  # from 0 to 1, at rest at both ends up to the snap
STEPS = [STEP, *(STEP.deriv(k) for k in range(1, 5))]
START, END = np.array([-0.8, 0.9, 0.9, -0.4]), np.array([0.8, 0.2, 1.4, 0.6])  # rad


def elastic_arm() -> jn.Model:
    """The arm, and its motors next to it; the springs are part of the torques.

    This is Spong's model: a motor behind a large reduction turns so fast that it does not matter where it is mounted.
    """
    builder = add_arm(jn.Builder())
    for (name, *_), inertia in zip(LINKS, B, strict=True):
        rotor = jn.Inertia(1.0, rotational=[inertia] * 3)
        builder.add(f"{name} motor", "world", jn.Revolute((0, 0, 1)), inertia=rotor)
    return builder.build()


def wanted(t):
    """q (4,) and the stack of velocity, acceleration, jerk and snap (4, 4) of the links."""
    rows = [step(min(t / SWING, 1.0)) / SWING**k * (END - START) for k, step in enumerate(STEPS)]
    return START + rows[0], np.array(rows[1:])


def rigid(arm, t):
    """Angle, velocity and torque of the motors, (4,) each, as if they were the links."""
    q, stack = wanted(t)
    return q, stack[0], arm.inverse_dynamics(q, stack)[0] + B * stack[1]


def under_the_weight(arm, t):
    """The same, with the deflection at rest."""
    q, stack = wanted(t)
    g, dg = arm.gravity_force_derivatives(q, stack[:1])
    return q + g / K, stack[0] + dg / K, arm.inverse_dynamics(q, stack)[0] + B * stack[1]


def second_order(arm, t, K=K):
    """The same, exact if K is exact."""
    q, stack = wanted(t)
    tau, dtau, ddtau = arm.inverse_dynamics(q, stack)
    return q + tau / K, stack[0] + dtau / K, tau + B * (stack[1] + ddtau / K)


def swing(arm, feed_forward, times):
    """The motion of links and motors, from rest."""

    def torques(t, q, v):
        theta, dtheta, push = feed_forward(arm, t)
        spring = K * (q[4:] - q[:4])
        motor = push + STIFFNESS * (theta - q[4:]) + DAMPING * (dtheta - v[4:])
        return np.concatenate([spring, motor - spring])

    start = np.concatenate([START, START + arm.gravity_force(START) / K])
    return jn.simulate(elastic_arm(), start, np.zeros(8), times, torques, method="rkmk", rtol=1e-6, atol=1e-8)


def main(path: Path, end: float = 1.4) -> dict:
    arm, times = add_arm(jn.Builder()).build(), np.arange(0.0, end, 0.005)
    hand = arm.pose("hand", [wanted(t)[0] for t in times])[:, :3, 3]
    worst = {}
    labels = (
        ("hand, off its path", "time (s)", "error (mm)"),
        ("shoulder's motor, ahead of its link", "time (s)", "angle (mrad)"),
    )
    with panels(path, *labels) as axes:
        for name, feed_forward, line in (
            ("rigid", rigid, ORANGE),
            ("deflection under the weight", under_the_weight, GREEN),
            ("second order, K 10 % wrong", lambda arm, t: second_order(arm, t, 1.1 * K), GREY),
            ("second order", second_order, BLUE),
        ):
            run = swing(arm, feed_forward, times)
            off = 1e3 * np.linalg.norm(arm.pose("hand", run.q[:, :4])[:, :3, 3] - hand, axis=1)
            worst[name] = off.max()
            print(f"{name:30s} hand off by {off.max():.2g} mm")
            axes[0].plot(times, off, **line, label=name)
            ahead = [feed_forward(arm, t)[0][1] - wanted(t)[0][1] for t in times]
            axes[1].plot(times, 1e3 * np.array(ahead), **line)
        axes[0].legend(frameon=False, fontsize=7.5, loc="upper right")
    return worst


if __name__ == "__main__":
    main(asked("elastic_joints"))
