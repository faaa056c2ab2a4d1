"""A flip: a quadrotor with a two-link arm turns over, and time-varying LQR keeps it on course.

The same LQR is designed on the geometric linearization, and on one in roll, pitch and yaw, which is singular where the
pitch passes 90 and 270 degrees. Model, motion, weights, motor limits and disturbances are the same. docs/control.md
tells the story.

    python examples/flip.py [figure.png]
"""

from __future__ import annotations

import sys
import time as clock
from itertools import pairwise
from pathlib import Path

import numpy as np

import jounce as jn
from jounce import control

ACTUATED = range(2, 8)  # thrust, three moments, shoulder, elbow; no force along the body's x and y
# Error of position, attitude and arm; of velocity, angular velocity and arm rates.
Q = np.array([40.0] * 3 + [20.0] * 3 + [10.0] * 2 + [4.0] * 3 + [1.0] * 3 + [0.1] * 2)
R = np.array([0.1, 4.0, 4.0, 10.0, 20.0, 20.0])
LOWER = np.array([0.0, -2.0, -2.0, -0.3, -1.0, -1.0])  # N, N m: motor limits
UPPER = np.array([45.0, 2.0, 2.0, 0.3, 1.0, 1.0])

# The motion, s: hover, rise, flip, catch, hover. Symmetric about MIDDLE.
MIDDLE, FLIP, END = 1.4, 1.0, 4.0
BOOST = (-1.1, -0.85, -0.55, -0.25)  # extra thrust: start and end of ramping up, and of ramping down; mirrored to catch
DIP = (-0.45, -0.2, 0.2, 0.45)  # little thrust while upside down
OPEN, FOLDED = np.array([0.5, -1.0]), np.array([1.25, -2.5])  # rad, the arm


def rise(x):
    """A smooth step from 0 at x = 0 to 1 at x = 1, and its first two derivatives."""
    x = np.clip(x, 0.0, 1.0)
    return (
        x**4 * (35 - 84 * x + 70 * x**2 - 20 * x**3),
        140 * (x * (1 - x)) ** 3,
        420 * (x * (1 - x)) ** 2 * (1 - 2 * x),
    )


def window(t, a, b, c, d):
    return rise((t - a) / (b - a))[0] - rise((t - c) / (d - c))[0]


def pitch(t):
    """Angle, rate and acceleration of the flip."""
    return [2 * np.pi * x / FLIP**k for k, x in enumerate(rise((t - MIDDLE) / FLIP + 0.5))]


def arm(t):
    """Angles, rates and accelerations of the arm, which folds and unfolds; (2,) each."""
    length, rows = FLIP / 2, []
    for k, (up, down) in enumerate(zip(rise((t - MIDDLE) / length + 1), rise((t - MIDDLE) / length), strict=True)):
        rows.append((up - down) / length**k * (FOLDED - OPEN))
    rows[0] = OPEN + rows[0]
    return rows


def thrust(t, boost):
    """In units of the weight."""
    s = t - MIDDLE
    return 1 + boost * (window(s, *BOOST) + window(-s, *BOOST)) - 0.75 * window(s, *DIP)


def flip(robot: jn.Model) -> jn.Trajectory:
    """A motion through a full flip that rotors and arm can fly.

    Pitch, arm and thrust are chosen; the path of the robot follows. As thrust is even about the middle and the pitch
    odd, it comes to rest sideways; the boost is chosen so that it also does vertically.
    """
    time = np.arange(0.0, END + 1e-9, 0.005)
    cosine = np.cos(pitch(time)[0])
    idle, unit = thrust(time, 0.0), thrust(time, 1.0) - thrust(time, 0.0)
    boost = (1 - idle * cosine).sum() / (unit * cosine).sum()  # the mean of thrust cos(pitch) is the weight
    weight = float(robot.gravity_force(robot.neutral())[2])

    def tau(t, q, v):
        """Forces for the pitch and the arm, with thrust along z and no force along x and y."""
        M, bias = robot.mass_matrix(q), robot.bias_force(q, v)
        a = np.zeros(robot.nv)
        a[4], a[6:] = pitch(t)[2], arm(t)[2]
        force = np.array([0.0, 0.0, weight * thrust(t, boost)])
        a[:3] = np.linalg.solve(M[:3, :3], force - bias[:3] - M[:3, 3:] @ a[3:])
        return np.concatenate([force, (M @ a + bias)[3:]])

    q = robot.neutral()
    q[7:] = OPEN
    return jn.simulate(robot, q, np.zeros(robot.nv), time, tau, method="rkmk")


# The chart: q as c = (x y z, roll pitch yaw, arm), R = Rz(yaw) Ry(pitch) Rx(roll)


def rotation(angles):
    """R (3, 3, ...) of angles (3, ...)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def spin_of_rates(angles):
    """E (3, 3, ...), with the angular velocity in body axes = E (roll, pitch, yaw)'; singular where cos(pitch) = 0."""
    (cr, cp, _), (sr, sp, _) = np.cos(angles), np.sin(angles)
    one, zero = cr * 0 + 1, cr * 0
    return np.array([[one, zero, -sp], [zero, cr, sr * cp], [zero, -sr, cr * cp]])


def chart(q, near):
    """c of q (..., 9): of the angles that describe the same attitude, those nearest to `near`."""
    x, y, z, w = np.moveaxis(q[..., 3:7], -1, 0)
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitched = np.arcsin(np.clip(2 * (w * y - z * x), -1.0, 1.0))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    both = np.stack([np.stack([roll, pitched, yaw], -1), np.stack([roll + np.pi, np.pi - pitched, yaw + np.pi], -1)])
    both -= 2 * np.pi * np.round((both - near) / (2 * np.pi))
    first, second = np.linalg.norm(both - near, axis=-1)
    angles = np.where((first <= second)[..., None], *both)
    return np.concatenate([q[..., :3], angles, q[..., 7:]], axis=-1)


def base_velocity(angles, rates, velocity):
    """Body twist (6,) from the chart's rates and the velocity in world axes."""
    return np.concatenate([rotation(angles).T @ velocity, spin_of_rates(angles) @ rates])


def base_acceleration(angles, rates, velocity, a):
    """The second derivative (6,) of the base's chart coordinates, with a the derivative of its body twist."""
    (cr, cp, _), (sr, sp, _), (r, p, y) = np.cos(angles), np.sin(angles), rates
    R, E = rotation(angles), spin_of_rates(angles)
    turning = np.array(
        [-cp * p * y, (cr * cp * y - sr * p) * r - sr * sp * p * y, -(sr * cp * y + cr * p) * r - cr * sp * p * y]
    )
    return np.concatenate([R @ a[:3] + np.cross(R @ E @ rates, velocity), np.linalg.solve(E, a[3:] - turning)])


def slopes(function, *arguments):
    """Derivatives of a function of (3,) vectors with respect to each, by complex steps: exact."""
    result = []
    for which in range(len(arguments)):
        columns = []
        for unit in np.eye(3):
            moved = [x + 1e-30j * unit * (i == which) for i, x in enumerate(arguments)]
            columns.append(function(*moved).imag / 1e-30)
        result.append(np.array(columns).T)
    return result


class ChartRegulator:
    """Time-varying LQR in roll, pitch and yaw: the same equations, linearized exactly in chart coordinates.

    The state is (c, c'), or with rates=False (c, v), which keeps the body velocity.
    """

    def __init__(self, tracking, Q, R, Q_final, rates=True):
        self.tracking, self.rates = tracking, rates
        robot, time, nv = tracking.robot, tracking.time, tracking.robot.nv
        lin = robot.linearize(tracking.q, tracking.v, tracking.tau, actuated=tracking.actuated)
        A, B, self.condition = np.zeros_like(lin.A), lin.B.copy(), np.empty(len(time))
        for k, (angle, rate, _) in enumerate(np.transpose(pitch(time))):
            angles, turn = np.array([0.0, angle, 0.0]), np.array([0.0, rate, 0.0])
            velocity = rotation(angles) @ tracking.v[k, :3]
            T = np.eye(nv)  # dq = T dc, v = T c'
            T[:3, :3], T[3:6, 3:6] = rotation(angles).T, spin_of_rates(angles)
            N = np.linalg.inv(T)
            self.condition[k] = np.linalg.cond(T)
            da_dq, da_dv = lin.A[k, nv:, :nv], lin.A[k, nv:, nv:]
            dv_dc = np.zeros((nv, nv))  # with c' held fixed
            dv_dc[:6, 3:6] = slopes(base_velocity, angles, turn, velocity)[0]
            if not rates:
                A[k] = np.block([[-N @ dv_dc, N], [da_dq @ T, da_dv]])
                continue
            dangles, dturn, dvelocity = slopes(
                lambda *c, a=lin.acceleration[k, :6]: base_acceleration(*c, a), angles, turn, velocity
            )
            A[k] = np.block([[np.zeros((nv, nv)), np.eye(nv)], [N @ (da_dq @ T + da_dv @ dv_dc), N @ da_dv @ T]])
            A[k, nv : nv + 6, 3:6] += dangles
            A[k, nv : nv + 6, nv : nv + 6] += np.hstack([dvelocity, dturn])
            B[k, nv:] = N @ lin.B[k, nv:]
        self.K, _ = control.riccati(time, A, B, Q, R, Q_final)

    def state(self, t, q, v):
        c = chart(q, np.array([0.0, pitch(t)[0], 0.0]))
        if not self.rates:
            return np.concatenate([c, v], axis=-1)
        angles = np.moveaxis(c[..., 3:6], -1, 0)
        velocity = np.einsum("ij...,...j->...i", rotation(angles), v[..., :3])
        rates = np.linalg.solve(np.moveaxis(spin_of_rates(angles), (0, 1), (-2, -1)), v[..., 3:6, None])[..., 0]
        return np.concatenate([c, velocity, rates, v[..., 6:]], axis=-1)

    def control(self, t, q, v):
        time = self.tracking.time
        k = min(max(np.searchsorted(time, t, side="right") - 1, 0), len(time) - 2)
        s = (t - time[k]) / (time[k + 1] - time[k])
        q_ref, v_ref, tau = self.tracking.reference(t)
        x = self.state(t, q, v) - self.state(t, q_ref, v_ref)
        forces = np.broadcast_to(tau, v.shape).copy()
        forces[..., self.tracking.actuated] -= x @ ((1 - s) * self.K[k] + s * self.K[k + 1]).T
        return forces


# Flight


def fly(plant, regulator, time, q, v, kick):
    """The plant under a regulator, from states q (n, 9), v (n, 8): q and v at the times, (T, n, 9) and (T, n, 8).

    The regulator runs every 2.5 ms and its forces, within the motor limits, are held in between. When the pitch of the
    motion reaches 45 degrees the robot is struck: the angular velocity changes by `kick` (n, 3). A flight is given up,
    and frozen from then on, if the robot tumbles at more than 100 rad/s.
    """
    h, struck, alive = 2.5e-3, False, np.ones(len(q), dtype=bool)
    flown = [(q, v)]
    for start, end in pairwise(time):
        for t in np.arange(start, end - h / 2, h):
            if not struck and pitch(t)[0] >= np.pi / 4:
                v, struck = v.copy(), True
                v[:, 3:6] += kick
            tau = regulator.control(t, q, v)
            tau[:, ACTUATED] = np.clip(tau[:, ACTUATED], LOWER, UPPER)
            middle = v + h / 2 * plant.forward_dynamics(q, v, tau)  # the midpoint rule, on the group
            after = v + h * plant.forward_dynamics(plant.integrate(q, h / 2 * v), middle, tau)
            alive &= np.abs(after[:, 3:]).max(axis=1) < 100
            q = np.where(alive[:, None], plant.integrate(q, h * middle), q)
            v = np.where(alive[:, None], after, 0.0)
        flown.append((q, v))
    return tuple(np.array(x) for x in zip(*flown, strict=True))


def errors(robot, motion, q):
    """Distance from the motion, m, and attitude error, degrees: (T, n) each."""
    away = np.linalg.norm(q[..., :3] - motion.q[:, None, :3], axis=-1)
    turned = np.linalg.norm(robot.difference(motion.q[:, None], q)[..., 3:6], axis=-1)
    return away, np.degrees(turned)


def lost(robot, motion, q):
    """Which flights (n,) are not back within 0.1 m at the end."""
    return errors(robot, motion, q)[0][-1] > 0.1


def regulators(robot, motion):
    """The three regulators, by name; their final cost is that of the LQR for hover there."""
    q = motion.q[-1]
    lin = robot.linearize(q, np.zeros(robot.nv), robot.gravity_force(q), actuated=ACTUATED)
    hover = control.lqr(lin, Q, R)
    tracking = control.tvlqr(robot, motion, Q, R, hover.P, actuated=ACTUATED)
    return {
        "geometric": tracking,
        "roll, pitch, yaw and rates": ChartRegulator(tracking, Q, R, hover.P),
        "roll, pitch, yaw and body velocity": ChartRegulator(tracking, Q, R, hover.P, rates=False),
    }, hover


def balance(robot, hover):
    """Hover from a distant start, with the plain LQR; the time until it stays within 1 cm."""
    moved = np.array([0.5, -0.5, 0.3, 0.6, -0.6, 0.8, 0.5, -0.5])
    q = robot.integrate(hover.lin.q, moved)
    time = np.arange(0.0, 5.0, 0.01)

    def tau(t, q, v):
        return hover.control(robot, q, v)

    run = jn.simulate(robot, q, np.zeros(robot.nv), time, tau, method="rkmk", rtol=1e-6, atol=1e-7)
    away = np.linalg.norm(run.q[:, :3] - hover.lin.q[:3], axis=1)
    return away[0], time[np.flatnonzero(away > 0.01)[-1]]


# The figure

STYLES = {  # Okabe and Ito's colours, safe for colour-blind readers
    "geometric": ("#0072B2", "-"),
    "roll, pitch, yaw and rates": ("#D55E00", (0, (5, 1.5))),
    "roll, pitch, yaw and body velocity": ("#009E73", (0, (1.5, 1))),
}
SPREAD = 5.0  # m to the right per second


def draw_robot(ax, robot, q, t, color):
    """Side view, shifted by its time: the rotors, the front one pink, and the arm."""
    pose = robot.pose("quadrotor", q)
    rotors = pose[:3, 3] + np.array([[0.2, 0.0, 0.0], [-0.2, 0.0, 0.0]]) @ pose[:3, :3].T
    above = rotors + 0.035 * pose[:3, 2]
    joints = np.array([robot.pose(name, q)[:3, 3] for name in ("upper_arm", "forearm", "tool")])
    shift = SPREAD * t - pose[0, 3]
    ax.plot(rotors[:, 0] + shift, rotors[:, 2], color=color, lw=2.2, solid_capstyle="round")
    for rotor, mark in zip(above, ("#CC79A7", color), strict=True):
        blade = np.array([rotor - 0.09 * pose[:3, 0], rotor + 0.09 * pose[:3, 0]])
        ax.plot(blade[:, 0] + shift, blade[:, 2], color=mark, lw=1.6)
    line = np.vstack([pose[:3, 3], joints])
    ax.plot(line[:, 0] + shift, line[:, 2], color="#000000", lw=1.1, marker=".", ms=3, markevery=(1, 1))


def draw(path, robot, motion, flights, condition, kicks, share):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style = {"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False}
    with plt.rc_context(style):
        figure = plt.figure(figsize=(7.5, 6.4), layout="constrained")
        axes = figure.subplot_mosaic(
            [["geometric"] * 3, ["chart"] * 3, ["turned", "condition", "lost"]], height_ratios=[1.0, 1.0, 1.05]
        )
        strike = motion.time[np.argmax(pitch(motion.time)[0] >= np.pi / 4)]
        shown = np.flatnonzero((motion.time >= 0.5) & (motion.time < 2.61))[::20]
        for key, (name, (q, _)) in zip(("geometric", "chart"), list(flights.items())[:2], strict=True):
            ax, color = axes[key], STYLES[name][0]
            ax.plot(SPREAD * motion.time, motion.q[:, 2], color="0.6", lw=0.8, zorder=0)
            for k in shown:
                draw_robot(ax, robot, q[k, 0], motion.time[k], color)
            ax.axvline(SPREAD * strike, color="0.3", lw=0.8, ls=(0, (2, 2)), zorder=0)
            ticks = np.arange(0.5, 2.6, 0.5)
            ax.set_xticks(SPREAD * ticks, [f"{t:g}" for t in ticks])
            ax.set(aspect="equal", xlim=(SPREAD * 0.44, SPREAD * 2.66), ylim=(-0.65, 2.0), ylabel="height (m)")
            ax.set_title(f"LQR in {name}" if key == "chart" else "LQR on the group", loc="left", color=color)
        axes["geometric"].annotate("struck", (SPREAD * strike + 0.05, 1.9), color="0.3", fontsize=7.5)
        axes["chart"].set_xlabel("time (s), at which each is drawn; grey: height of the motion")

        for name, (q, _) in flights.items():
            color, dashes = STYLES[name]
            turned = errors(robot, motion, q)[1][:, 0]
            axes["turned"].plot(motion.time, turned, color=color, ls=dashes, lw=1.2)
            axes["lost"].plot(
                kicks, 100 * share[name], color=color, ls=dashes, lw=1.2, marker="o", ms=2.5, label=name, clip_on=False
            )
        axes["turned"].set(title="attitude off the motion", ylabel="angle (°)", ylim=(0, 180), xlim=(0, 3))
        axes["turned"].set_yticks([0, 45, 90, 135, 180])
        axes["turned"].axvline(strike, color="0.3", lw=0.8, ls=(0, (2, 2)), zorder=0)
        axes["condition"].semilogy(motion.time, condition, color=STYLES["roll, pitch, yaw and rates"][0], lw=1.2)
        axes["condition"].axhline(1.0, color=STYLES["geometric"][0], lw=1.2)
        axes["condition"].annotate(
            "on the group: 1", (2.97, 1.2), ha="right", color=STYLES["geometric"][0], fontsize=7.5
        )
        for angle, side in ((90, "right"), (270, "left")):
            when = motion.time[np.argmax(pitch(motion.time)[0] >= np.radians(angle))]
            label = (when + (0.08 if side == "left" else -0.08), 100)
            axes["condition"].annotate(f"pitch {angle}°", label, ha=side, color="0.3", fontsize=7.5)
        axes["condition"].set(title="condition number of the chart", ylabel="cond(E) (-)", xlim=(0, 3))
        axes["lost"].set(
            title="flights lost", ylabel="share (%)", xlabel="strength of the strike (rad/s)", ylim=(0, 80)
        )
        axes["lost"].legend(frameon=False, fontsize=6.5, loc="upper left", handlelength=2.2, borderaxespad=0.0)
        for key in ("turned", "condition", "lost"):
            axes[key].grid(alpha=0.25, linewidth=0.5)
            if key != "lost":
                axes[key].set_xlabel("time (s)")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=200)
        plt.close(figure)


START = np.array([0.2, -0.2, 0.15, 0.2, -0.2, 0.3, 0.3, -0.3])  # initial offset of each flight from the motion
STRIKE = np.array([0.0, 0.0, -6.0])  # rad/s, for the flight that is drawn


def main(path: Path) -> None:
    begin = clock.perf_counter()
    robot, plant = jn.robots.quadrotor_arm(), jn.robots.quadrotor_arm(payload=0.05)
    motion = flip(robot)
    found, hover = regulators(robot, motion)
    away, settled = balance(robot, hover)
    print(f"hover: {away:.2f} m off and turned by 67 degrees at first, within 1 cm after {settled:.1f} s")
    print(f"flip:  up {motion.q[:, 2].max():.2f} m, at most {np.abs(motion.v[:, 4]).max():.1f} rad/s")

    kicks, each = np.arange(0.0, 12.1, 2.0), 60
    axis = np.random.default_rng(0).normal(size=(each, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    flights, share = {}, {}
    for name, regulator in found.items():
        strikes = np.vstack([STRIKE, (kicks[:, None, None] * axis).reshape(-1, 3)])
        q = np.tile(plant.integrate(motion.q[0], START), (len(strikes), 1))
        q, v = fly(plant, regulator, motion.time, q, np.tile(motion.v[0], (len(q), 1)), strikes)
        flights[name] = q[:, :1], v[:, :1]
        share[name] = lost(robot, motion, q)[1:].reshape(len(kicks), each).mean(axis=1)
        table = ", ".join(f"{100 * s:.0f} at {k:.0f}" for k, s in zip(kicks, share[name], strict=True))
        print(f"{name:36s}% lost at a strike of rad/s: {table}")
    draw(path, robot, motion, flights, found["roll, pitch, yaw and rates"].condition, kicks, share)
    print(f"figure: {path}, after {clock.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "figures" / "flip.png")
