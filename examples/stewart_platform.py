"""A Stewart platform: the leg forces along a motion, with their derivatives.

Six legs, each with a universal joint at the ground and a prismatic one with the motor, carry a platform on ball joints.
The platform is a free body; `Builder.close` ties the legs to it. Its motion is given. With the platform prescribed,
hybrid dynamics gives the motion of the legs; with that motion prescribed to the motors, it gives the forces they need.
Both to any order: the order is the number of rows.

If the motors drive through springs (stiffness K), their position leads the leg by f / K, and to accelerate it as the
motion requires takes f''. Müller, Kumar and Kordik, "A recursive Lie-group formulation for the second-order time
derivatives of the inverse dynamics of parallel kinematic manipulators", arXiv 2507.14274, say they are the first to
give f'' for parallel robots. Here it is the third row of what the same call returns; the fifth is f''''.

The picture shows the platform in motion, the forces and their first two derivatives. Dots are finite differences of the
forces, of eighth order in time. The number to look at is by how much they are off.

    python examples/stewart_platform.py [figure.png]
"""

from pathlib import Path

import numpy as np
from picture import asked, beside, seen

import jounce as jn
from jounce.display.style import COLOURS, DASHES

LEGS = tuple(f"leg {i + 1}" for i in range(6))
BASE, TOP = (0.5, np.radians(12)), (0.3, np.radians(48))  # m, radius of the joints; rad, half the angle between a pair
HEIGHT, PLATFORM = 0.6, 8.0  # m and kg
TILT_AXIS = np.array([2.0, 1.0, 0.0]) / np.sqrt(5.0)


def ring(radius, half):
    """Six points in pairs around the z axis, (6, 3)."""
    angle = np.repeat(np.radians([0, 120, 240]), 2) + np.tile([-half, half], 3)
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(6)], axis=1)


GROUND, JOINTS = ring(*BASE), ring(*TOP)


def at(place):
    return jn.placement(place)


def platform() -> jn.Model:
    builder = jn.Builder()
    builder.add("platform", "world", jn.Free(), inertia=jn.Inertia(PLATFORM, rotational=(0.2, 0.2, 0.4)))
    for name, foot, joint in zip(LEGS, GROUND, JOINTS, strict=True):
        barrel = jn.Inertia(1.5, com=(0, 0, 0.15), rotational=(0.015, 0.015, 0.001))
        piston = jn.Inertia(0.6, com=(0, 0, -0.15), rotational=(0.005, 0.005, 0.0003))  # its frame is at its upper end
        builder.add(f"{name} barrel", "world", jn.Universal((1, 0, 0), (0, 1, 0)), at(foot), barrel)
        builder.add(name, f"{name} barrel", jn.Prismatic((0, 0, 1)), inertia=piston)
        builder.close(f"ball {name}", name, "platform", jn.Spherical(), placement_b=at(joint))
    return builder.build()


WAVES = (  # for x, y, z and the tilt: amplitude, rad/s, phase
    (0.08, 3.0, 0.0),
    (0.06, 6.0, 0.5),
    (0.05, 4.0, 1.0),
    (0.30, 5.0, 0.0),
)


def wanted(t, rows):
    """Position and tilt of the platform and their derivatives, (T, rows, 4)."""
    t, k = np.asarray(t)[:, None], np.arange(rows)
    return np.stack([a * w**k * np.sin(w * t + phase + k * np.pi / 2) for a, w, phase in WAVES], axis=-1)


def state(robot, t, order):
    """q, v and the stack of the platform's accelerations at these times; v with the platform's twist in world axes."""
    motion = wanted(t, order + 3)
    place, tilt = motion[:, 0, :3] + [0, 0, HEIGHT], motion[:, 0, 3, None]
    platform = np.concatenate([place, np.sin(tilt / 2) * TILT_AXIS, np.cos(tilt / 2)], axis=1)
    q = np.concatenate([platform, np.zeros((len(t), 18))], axis=1)
    leg = robot.pose("platform", q)[:, None] @ np.array([at(joint) for joint in JOINTS])
    x, y, z = np.moveaxis(leg[..., :3, 3] - GROUND, -1, 0)  # in each leg's universal joint; z up
    q[:, 7::3], q[:, 8::3], q[:, 9::3] = np.arctan2(-y, z), np.arctan2(x, np.hypot(y, z)), np.sqrt(x**2 + y**2 + z**2)
    twists = np.concatenate([motion[:, 1:, :3], motion[:, 1:, 3:] * TILT_AXIS], axis=-1)
    J = robot.constraint_jacobian(q, frame="mixed")
    v = np.zeros((len(t), robot.nv))
    v[:, :6] = twists[:, 0]
    v[:, 6:] = -np.linalg.solve(J[..., 6:], J[..., :6] @ twists[:, 0, :, None])[..., 0]
    acc = np.zeros((len(t), order + 1, robot.nv))
    acc[..., :6] = twists[:, 1:]
    return q, v, acc


def leg_forces(robot, t, order=4):
    """Motor forces with derivatives, N, N/s, ...: (T, order + 1, 6)."""
    q, v, acc = state(robot, t, order)
    motors = np.zeros(robot.nv, dtype=bool)
    motors[8::3] = True
    is_platform = np.arange(robot.nv) < 6
    none = np.zeros_like(acc)
    acc, _ = robot.hybrid_dynamics(q, v, acc, none, prescribed=is_platform, frame="mixed")
    _, force = robot.hybrid_dynamics(q, v, acc * motors, none, prescribed=motors, frame="mixed")
    return force[..., motors]


def differences(robot, t, step=4e-3):
    """f' and f'' by finite differences of eighth order: (T, 2, 6)."""
    first = np.array([3, -32, 168, -672, 0, 672, -168, 32, -3]) / 840
    second = np.array([-9, 128, -1008, 8064, -14350, 8064, -1008, 128, -9]) / 5040
    near = np.stack([leg_forces(robot, t + j * step, 0)[:, 0] for j in range(-4, 5)], axis=1)
    return np.stack([np.einsum("j,tji->ti", w, near) / step**k for k, w in ((1, first), (2, second))], axis=1)


def draw(ax, robot, q, faint=False):
    """Ground, platform and legs, seen from the side."""
    balls = np.array([robot.pose(name, q)[:3, 3] for name in LEGS])
    alpha = 0.22 if faint else 1.0
    for foot, ball, color in zip(GROUND, balls, COLOURS, strict=True):
        ax.plot(*seen([foot, ball]).T, color=color, lw=1.6, alpha=alpha, zorder=2)
        ax.plot(*seen([foot, foot + 0.45 * (ball - foot)]).T, color=color, lw=3.6, alpha=alpha, zorder=2)
    ax.fill(*seen(balls).T, fc="0.6", ec="0.2", lw=1.0, alpha=0.1 if faint else 0.65, zorder=1 if faint else 3)
    if not faint:
        ax.fill(*seen(GROUND).T, fc="0.93", ec="0.6", lw=0.8, zorder=0)
        ax.plot(*seen(GROUND).T, "o", ms=3.5, mfc="w", mec="0.3", mew=0.8, zorder=4)
        ax.plot(*seen(balls).T, "o", ms=3.5, mfc="w", mec="0.3", mew=0.8, zorder=4)


def main(path: Path, points: int = 601) -> dict:
    robot, t = platform(), np.linspace(0.0, 3.0, points)
    q = state(robot, t, 0)[0]
    apart = np.abs(robot.residual(q)).max()
    force = leg_forces(robot, t)
    some = slice(points // 40, None, points // 20)
    checked = differences(robot, t[some])
    off = [np.abs(checked[:, k] - force[some, k + 1]).max() / np.abs(force[:, k + 1]).max() for k in (0, 1)]
    print(f"f' and f'' agree with differences of f to {off[0]:.1g} and {off[1]:.1g} of the largest")
    rows = (("forces of the legs", "N"), ("their rates", "N/s"), ("the rates of those", "N/s²"))
    with beside(path, "the platform on its way", *rows) as (drawing, axes):
        for k, ax in enumerate(axes):
            for i, (color, dash) in enumerate(zip(COLOURS, DASHES, strict=True)):
                ax.plot(t, force[:, k, i], color=color, ls=dash, lw=1.1, label=i + 1)
                if k:
                    ax.plot(t[some], checked[:, k - 1, i], "o", ms=1.8, mfc="w", mew=0.6, color=color)
        for i in (points // 8, points // 4):
            draw(drawing, robot, q[i], faint=True)
        draw(drawing, robot, q[0])
        axes[0].legend(frameon=False, fontsize=7, ncols=6, loc="lower right", bbox_to_anchor=(1.0, 0.97),
                       handlelength=1.6, columnspacing=0.9, borderpad=0)  # fmt: skip
    return {"off": off, "force": force, "apart": apart}


if __name__ == "__main__":
    main(asked("stewart_platform"))
