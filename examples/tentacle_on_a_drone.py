"""A tentacle on a drone: the wrench that keeps the drone in place while the tentacle swings.

Three soft rods hang below a flying base. Four tendons run through all of them and make them swing in a circle. The base
is to hover without turning: its accelerations are given, those of the tentacle follow from the tendons. This is hybrid
dynamics on a floating base. It gives the wrench that the rotors must produce and the accelerations of the tentacle
together.

With hover thrust and a stiff attitude controller instead, which know nothing about the tentacle, the base is swung
around. The picture shows drone and tentacle, the wrench beyond the weight, and the path of the base in both cases. The
wrench is checked against the momentum of the whole robot, whose rate it is, and the simulation against the energy: the
work of the tendons minus what the material dissipates. The number to look at is how far the base strays.

    python examples/tentacle_on_a_drone.py [figure.png]
"""

from pathlib import Path

import numpy as np
from picture import BLUE, GREEN, ORANGE, asked, panels, tube

import jounce as jn

RODS, LENGTH = ("upper", "middle", "lower"), 0.2
SIDES = {"east": (1, 0), "north": (0, 1), "west": (-1, 0), "south": (0, -1)}
RATE, TENSION = 6.0, 8.0  # rad/s and N, for the circle
POLE = 10.0  # 1/s, of the attitude controller


def drone():
    """A base of 1.2 kg and the tentacle, which points down."""
    b = jn.Builder()
    b.add("base", "world", jn.Free(), inertia=jn.Inertia(1.2, rotational=(0.012, 0.012, 0.02)))
    parent, place = "base", np.diag([1.0, -1.0, -1.0, 1.0])
    tendons = [jn.soft.Tendon(side, route=0.012 * np.array(way)) for side, way in SIDES.items()]
    strain = jn.soft.constant_curvature(elongation=False)
    for name, near, far in zip(RODS, (0.022, 0.020, 0.018), (0.020, 0.018, 0.016), strict=True):
        rod = jn.soft.Rod(LENGTH, (near, far), 1100.0, 4e5, damping=0.03, strain=strain, actuators=tendons)
        b.add(name, parent, placement=place, body=rod)
        parent, place = name, jn.placement()
    return b.build()


def weight(robot):
    return robot.gravity_force(robot.neutral())[2]


def tensions(t):
    """(4,), which rise within a second and then rotate."""
    rise = np.sin(min(t, 1.0) * np.pi / 2) ** 2
    return rise * TENSION * (1 + np.cos(RATE * t - np.arange(4) * np.pi / 2)) / 2


def aware(robot, t, q, v):
    """Forces: on the base so that it does not accelerate, on the tentacle from the tendons."""
    is_base = np.arange(robot.nv) < 6
    tendons = robot.actuation_matrix(q) @ tensions(t)
    return robot.hybrid_dynamics(q, v, np.zeros(robot.nv), tendons, prescribed=is_base)[1]


def unaware(robot, t, q, v):
    """Hover thrust, and moments that level the base; the tentacle as before."""
    force = robot.actuation_matrix(q) @ tensions(t)
    turn = robot.difference(robot.neutral(), q)[3:6]
    force[:3] = robot.pose("base", q)[:3, :3].T @ [0.0, 0.0, weight(robot)]
    force[3:6] = -0.05 * (POLE**2 * turn + 2 * POLE * v[3:6])
    return force


def balances(robot, run):
    """Residuals of the momentum balance, N (T, 3), and of the energy balance, J (T,)."""
    rate = robot.centroidal_momentum_derivatives(run.q, np.stack([run.v, run.a], axis=1))[:, 1]
    force = np.einsum("tij,tj->ti", robot.pose("base", run.q)[:, :3, :3], run.tau[:, :3]) - [0, 0, weight(robot)]
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    power = np.einsum("ti,ti->t", run.v, run.tau - robot.damping_force(run.q, run.v))
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(run.time))])
    return rate[:, :3] - force, energy - energy[0] - work


def draw(ax, robot, q, alpha):
    """Drone and tentacle, seen from the side."""
    pose = robot.pose("base", q)
    for line, width in (([(-0.2, 0.01), (0.2, 0.01)], 2.5), ([(-0.06, 0.01), (0.06, 0.01)], 9)):
        ax.plot(*(pose[:3, 3] + [pose[:3, :3] @ [x, 0, z] for x, z in line])[:, [0, 2]].T, color="0.35", lw=width)
    for side in (-0.2, 0.2):  # a motor and its propeller
        mast, tips = [(side, 0.01), (side, 0.05)], [(side - 0.1, 0.05), (side + 0.1, 0.05)]
        for line, style in ((mast, {"color": "0.35", "lw": 2.5}), (tips, {"color": "0.6", "lw": 1.5})):
            ax.plot(*(pose[:3, 3] + [pose[:3, :3] @ [x, 0, z] for x, z in line])[:, [0, 2]].T, **style)
    rods = np.vstack([robot.backbone(name, q)[bool(i) :, :3, 3] for i, name in enumerate(RODS)])
    tube(ax, rods[:, [0, 2]], (0.022, 0.016), BLUE["color"], alpha)


def main(path: Path, end: float = 3.0) -> dict:
    robot, times = drone(), np.arange(0.0, end, 0.005)
    labels = (
        ("drone and tentacle", "$x$ (m)", "$z$ (m)"),
        ("wrench beyond the weight", "time (s)", "force (N), moment (N m)"),
        ("base, off its place", "time (s)", "distance (mm)"),
    )
    strays = {}
    with panels(path, *labels) as axes:
        for name, forces, line in (("unaware", unaware, ORANGE), ("hybrid dynamics", aware, BLUE)):
            run = jn.simulate(
                robot, robot.neutral(), np.zeros(robot.nv), times, lambda t, q, v, f=forces: f(robot, t, q, v),
                method="rkmk", rtol=1e-6, atol=1e-8,
            )  # fmt: skip
            off = 1e3 * np.linalg.norm(run.q[:, :3], axis=1)
            momentum, energy = balances(robot, run)
            strays[name] = off.max(), np.abs(momentum).max(), np.abs(energy).max(), run
            print(f"{name:15s} base off by {off.max():.2g} mm; balances of momentum and energy off by "
                  f"{np.abs(momentum).max():.1g} N and {np.abs(energy).max():.1g} J")  # fmt: skip
            axes[2].plot(times, off, **line, label=name)
        for i, component, line in ((0, "$f_x$", BLUE), (1, "$f_y$", ORANGE), (4, "$m_y$", GREEN)):
            axes[1].plot(times, run.tau[:, i], **line, label=component)
        for i in range(len(times) // 2, len(times), len(times) // 12):
            draw(axes[0], robot, run.q[i], alpha=0.25)
        draw(axes[0], robot, run.q[-1], alpha=1.0)
        axes[0].set(aspect="equal", xlim=(-0.36, 0.36), ylim=(-0.65, 0.12))
        axes[1].legend(frameon=False, fontsize=7.5, loc="upper left", ncols=3, columnspacing=0.8, handlelength=1.6)
        axes[2].legend(frameon=False, fontsize=7.5, loc="upper left")
    return strays


if __name__ == "__main__":
    main(asked("tentacle_on_a_drone"))
