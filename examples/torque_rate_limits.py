"""Torque rate limits: a planned motion whose torques are within their limits, but change faster than the motors can.

Motors and gears limit how fast a torque may change, not only how large it is. Inverse dynamics to order 1 gives the
torques along a motion and their exact rates. Here an arm lifts a load over an obstacle. As planned, every torque is
within its limit, but all of them change too fast, one three times as fast as it may. Slowing down the whole motion
helps, but costs time everywhere. Retiming it, slower only where a limit is exceeded, costs less.

The picture shows the largest torque and torque rate of all joints as a fraction of their limits, and the speed along
the path. The number to look at is the duration, slowed and retimed: both respect the same limits.

    python examples/torque_rate_limits.py [figure.png]
"""

from pathlib import Path

import numpy as np
from arm import add_arm
from numpy.polynomial import Polynomial
from picture import BLUE, GREEN, ORANGE, asked, panels

import jounce as jn

LIMITS = {
    name: jn.Limits(effort=torque, effort_rate=rate)  # N m, N m/s
    for name, torque, rate in (("base", 60, 500), ("shoulder", 140, 550), ("elbow", 60, 350), ("wrist", 15, 100))
}
PLANNED = 0.9  # s
STEP = Polynomial([0, 0, 0, 0, 35, -84, 70, -20])  # from 0 to 1, at rest at both ends up to the third derivative
LIFT = Polynomial([0, 4, -4]) ** 6  # from 0 to 1 and back, likewise
PATH = [2.4 * STEP, 0.9 - 0.7 * LIFT, 1.0 - 0.5 * LIFT + 0.2 * STEP, -0.5 + 0.6 * LIFT]  # rad, for x from 0 to 1


def motion(x, speed, slope=0.0, bend=0.0):
    """q (T, 4) and the stack v, a, jerk (T, 3, 4) at x (T,) of the path.

    speed: dx/dt, 1/s, a number or (T,), as a function of x; slope and bend are its derivatives with respect to x.
    """
    speed, slope, bend = (np.broadcast_to(c, x.shape)[:, None] for c in (speed, slope, bend))
    q, d1, d2, d3 = (np.array([p.deriv(k)(x) if k else p(x) for p in PATH]).T for k in range(4))
    v = speed * d1
    a = speed * (slope * d1 + speed * d2)
    jerk = speed * ((slope**2 + speed * bend) * d1 + 3 * speed * slope * d2 + speed**2 * d3)
    return q, np.stack([v, a, jerk], axis=1)


def share(robot, x, *clock):
    """Torques and torque rates (T, 2, 4) as fractions of their limits."""
    return robot.inverse_dynamics(*motion(x, *clock)) / np.stack([robot.effort_limit, robot.effort_rate_limit])


def slowed(robot, x):
    """The speed, 1/s, at which all limits hold if the whole motion is slowed uniformly."""
    speed = 1 / PLANNED
    while np.abs(share(robot, x, speed)).max() > 0.999:
        speed *= 0.999
    return speed


def retimed(robot, x, width=0.05):
    """The clock (speed, slope, bend), slow only where necessary: the log of its speed is a sum of smooth dips.

    Wherever a limit is exceeded, the dips nearby are deepened a little at a time, until all limits hold.
    """
    z = (x[:, None] - np.linspace(0.0, 1.0, 21)) / width
    dip = np.exp(-(z**2) / 2)
    depth = np.zeros(dip.shape[1])
    while True:
        log, slope, bend = (-d @ depth for d in (dip, -z / width * dip, (z**2 - 1) / width**2 * dip))
        clock = np.exp(log) / PLANNED * np.array([np.ones_like(log), slope, slope**2 + bend])
        excess = np.log(np.abs(share(robot, x, *clock)).max(axis=(1, 2)) / 0.999)
        if excess.max() <= 0:
            return clock
        depth += 0.05 * (dip * np.clip(excess, 0.0, None)[:, None]).max(axis=0) + 1e-5


def times(x, speed):
    """When each x is passed, s."""
    pace = np.broadcast_to(1 / speed, x.shape)
    return np.concatenate([[0.0], np.cumsum((pace[1:] + pace[:-1]) / 2 * np.diff(x))])


def main(path: Path, points: int = 801) -> dict:
    robot, x = add_arm(jn.Builder()).build().replace(limits=LIMITS), np.linspace(0.0, 1.0, points)
    clocks = {"planned": (1 / PLANNED,), "slowed": (slowed(robot, x),), "retimed": retimed(robot, x)}
    labels = (
        ("largest torque", "time (s)", "share of the limit (%)"),
        ("largest torque rate", "time (s)", "share of the limit (%)"),
        ("speed along the path", "place on the path $x$ (-)", "$dx/dt$ (1/s)"),
    )
    with panels(path, *labels) as axes:
        for (name, clock), line in zip(clocks.items(), (ORANGE, GREEN, BLUE), strict=True):
            t, shares = times(x, clock[0]), 100 * np.abs(share(robot, x, *clock)).max(axis=2)
            torque, rate = shares.max(axis=0)
            print(f"{name:8s} {t[-1]:.3f} s, torque {torque:3.0f} %, torque rate {rate:3.0f} % of the limit")
            q, v = motion(x, *clock)
            print(robot.check_limits(q, v, robot.inverse_dynamics(q, v)))
            axes[0].plot(t, shares[:, 0], **line)
            axes[1].plot(t, shares[:, 1], **line)
            axes[2].plot(x, np.broadcast_to(clock[0], x.shape), **line, label=f"{name}, {t[-1]:.2f} s")
        for ax in axes[:2]:
            ax.axhline(100, color="0.3", lw=0.8)
            ax.set_ylim(0, None)
        axes[2].set_ylim(0, 1.75)
        axes[2].legend(frameon=False, fontsize=7.5)
    return clocks


if __name__ == "__main__":
    main(asked("torque_rate_limits"))
