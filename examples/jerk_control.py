"""Jerk-level control: a flying robot with two arms, whose rotors need time to change their thrust.

A controller that commands forces as if they acted at once lags behind. The forces are part of the state, and only their
rates can be commanded. One order up, everything is exact again: forward dynamics gives the acceleration due to the
present forces, a linear law in the errors of position, velocity and acceleration gives the desired jerk, and inverse
dynamics to order 1 turns the jerk into force rates.

Paper A's aerial manipulator (12 degrees of freedom) starts 0.2 m off, flies a figure eight and swings its arms. The
picture shows the path of its base, and the errors of base and arms, at both levels, and at acceleration level with
forces that do act at once. The number to look at is the error of the base in the last two seconds.

    python examples/jerk_control.py [figure.png]
"""

from pathlib import Path

import numpy as np
from picture import BLUE, GREY, ORANGE, asked, panels

import jounce as jn

LAG = np.array([0.06] * 6 + [0.01] * 6)  # s, time constants of rotors, so of their wrench, and of the arm motors
HOLD = 0.002  # s, from one command to the next
POLE = 6.0  # 1/s, where both controllers place all poles of the error
SIZE = np.array([1.0, 0.5, 0.2, 0.0, 0.0, 0.5, *[0.5, 0.4, 0.6] * 2])  # m and rad; the base turns only in yaw
RATE = np.array([1.5, 3.0, 3.0, 0.0, 0.0, 1.5, *[4.0, 3.0, 5.0] * 2])  # rad/s


def desired(t):
    """q_d (13,) and the stack v_d, a_d, jerk_d (3, 12), the base in the frame "mixed"."""
    waves = [SIZE * RATE**k * np.sin(RATE * t + k * np.pi / 2) for k in range(4)]
    yaw = waves[0][5]
    return np.concatenate([waves[0][:3], [0, 0, np.sin(yaw / 2), np.cos(yaw / 2)], waves[0][6:]]), np.array(waves[1:])


def position_error(robot, q, q_d):
    """(12,), for the base in world axes: the vector to where it should be, and the remaining rotation."""
    error = robot.difference(q, q_d)
    error[:3], error[3:6] = q_d[:3] - q[:3], robot.pose("B1", q)[:3, :3] @ error[3:6]
    return error


def acceleration_level(robot, t, q, v, tau):
    """Forces (12,) for an acceleration that makes the errors decay: feedback linearization."""
    q_d, (v_d, a_d, _) = desired(t)
    v = robot.change_velocity_frame(q, [v], "body", "mixed")[0]
    a = a_d + 2 * POLE * (v_d - v) + POLE**2 * position_error(robot, q, q_d)
    stack = robot.change_velocity_frame(q, [v, a], "mixed", "body")
    return robot.inverse_dynamics(q, stack)[0]


def jerk_level(robot, t, q, v, tau):
    """Commands (12,) that give the force rates for a jerk that makes the errors decay."""
    q_d, (v_d, a_d, jerk_d) = desired(t)
    v, a = robot.change_velocity_frame(q, [v, robot.forward_dynamics(q, v, tau)], "body", "mixed")
    error = position_error(robot, q, q_d)
    jerk = jerk_d + 3 * POLE * (a_d - a) + 3 * POLE**2 * (v_d - v) + POLE**3 * error
    stack = robot.change_velocity_frame(q, [v, a, jerk], "mixed", "body")
    reach = -np.expm1(-HOLD / LAG)  # fraction of the way to a command reached by the next
    return tau + HOLD * robot.inverse_dynamics(q, stack)[1] / reach


def fly(robot, controller, duration, at_once=False):
    """Times (T,), q (T, 13) and errors (T, 12) of a flight; forces follow commands u with lag tau' = u - tau."""
    q, stack = desired(0.0)
    v = robot.change_velocity_frame(q, stack[:1], "mixed", "body")[0]
    tau = robot.inverse_dynamics(q, robot.change_velocity_frame(q, stack, "mixed", "body"))[0]
    q = robot.integrate(q, [0.0, 0.2, 0.0, *np.zeros(9)])
    time = np.arange(0.0, duration, HOLD)
    flight, errors = [], []
    for t in time:
        flight.append(q)
        errors.append(position_error(robot, q, desired(t)[0]))
        command = controller(robot, t, q, v, tau)
        tau = command if at_once else tau
        rate = (command - tau) / LAG
        a, jerk, snap = robot.forward_dynamics(q, v, [tau, rate, -rate / LAG])
        q = robot.integrate(q, HOLD * (v + HOLD / 2 * (a + HOLD / 3 * jerk)))
        v = v + HOLD * (a + HOLD / 2 * (jerk + HOLD / 3 * snap))
        tau = command + np.exp(-HOLD / LAG) * (tau - command)
    return time, np.array(flight), np.array(errors)


def main(path: Path, duration: float = 8.0) -> dict:
    robot = jn.robots.aerial_manipulator()
    flights = {
        "acceleration level": fly(robot, acceleration_level, duration),
        "the same without lag": fly(robot, acceleration_level, duration, at_once=True),
        "jerk level": fly(robot, jerk_level, duration),
    }
    labels = (
        ("path of the base, from above", "$x$ (m)", "$y$ (m)"),
        ("position of the base", "time (s)", "error (mm)"),
        ("joints of the arms", "time (s)", "error (mrad)"),
    )
    with panels(path, *labels) as axes:
        for (name, (time, q, errors)), line in zip(flights.items(), (ORANGE, GREY, BLUE), strict=True):
            base, joints = (1e3 * np.linalg.norm(errors[:, part], axis=1) for part in (slice(3), slice(6, 12)))
            last = time >= duration - 2
            print(f"{name:20s} base {base[last].max():6.2f} mm, arms {joints[last].max():6.1f} mrad off at the end")
            axes[0].plot(*q[:, :2].T, **line, label=name)
            axes[1].semilogy(time, base, **line)
            axes[2].semilogy(time, joints, **line)
        wanted = np.array([desired(t)[0] for t in time])
        axes[0].plot(*wanted[:, :2].T, color="0.8", lw=4, zorder=0, label="wanted")
        axes[0].set(aspect="equal", xlim=(-1.15, 1.15), ylim=(-0.65, 1.65))
        axes[0].legend(frameon=False, fontsize=7.5, loc="upper left")
        axes[2].set_ylim(0.3, None)
    return flights


if __name__ == "__main__":
    main(asked("jerk_control"))
