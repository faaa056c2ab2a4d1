"""A four-bar linkage: the forces in its bearings, and their rates.

A constant torque drives a crank with a flywheel, and a rocker swings. The linkage is cut at all four bearings: its bars
are free bodies, tied to each other and to the ground by hinges. So each bearing is a constraint, and one call gives the
forces in all of them, with their derivatives. Four hinges in space remove more degrees of freedom than a planar linkage
has: they are redundant. The forces are then those of least norm, and the rates returned are their derivatives.

The picture shows the linkage with the forces on the pins, their magnitudes over a revolution, and their rates; dots are
finite differences of the forces. The numbers to look at are how far the hinges drift apart in the simulation, and by
how much the finite differences are off.

    python examples/four_bar.py [figure.png]
"""

from pathlib import Path

import numpy as np
from picture import BLUE, GREEN, GREY, ORANGE, arrow, asked, panels

import jounce as jn

LENGTH = {"crank": 0.10, "coupler": 0.30, "rocker": 0.27}  # m, between pins
MASS = {"crank": 1.2, "coupler": 0.9, "rocker": 1.1}  # kg
GROUND, START = 0.34, np.pi  # m, between the fixed pins; rad, the crank
FLYWHEEL, TORQUE, SPEED = 0.06, 3.0, 22.0  # kg m^2 and N m on the crank; rad/s at the start
ARROW = 1500.0  # N per metre of the picture
AXIS = (0, -1, 0)  # so that angles are positive in the picture
BEARINGS = {  # bar, position along it, other bar, position along that
    "crank on ground": ("crank", 0.0, "world", 0.0),
    "coupler on crank": ("coupler", 0.0, "crank", LENGTH["crank"]),
    "coupler on rocker": ("coupler", LENGTH["coupler"], "rocker", LENGTH["rocker"]),
    "rocker on ground": ("rocker", 0.0, "world", GROUND),
}
LINES = dict(zip(BEARINGS, (GREY, BLUE, ORANGE, GREEN), strict=True))


def along(x, z=0.0, angle=0.0):
    return jn.placement((x, 0, z), axis=(0, -1, 0), angle=angle)


def linkage() -> jn.Model:
    """Three bars along their own x axes, and four hinges."""
    builder = jn.Builder()
    for name, length in LENGTH.items():
        thin, wheel = MASS[name] * length**2 / 12, FLYWHEEL if name == "crank" else 0.0
        rotational = (1e-4 + wheel / 2, thin + wheel, thin + wheel / 2)  # kg m^2
        inertia = jn.Inertia(MASS[name], com=(length / 2, 0, 0), rotational=rotational)
        builder.add(name, "world", jn.Free(), inertia=inertia)
    for name, (first, x, second, y) in BEARINGS.items():
        builder.close(name, first, second, jn.Revolute(AXIS), placement_a=along(x), placement_b=along(y))
    return builder.build()


def start(robot):
    """Assembled, with the crank at its speed."""
    q = robot.neutral()
    for name, x, z, angle in (
        ("crank", 0, 0, START),
        ("coupler", -LENGTH["crank"], 0, 0.7),
        ("rocker", GROUND, 0, 2.3),
    ):
        at = robot.position(name).start
        q[at : at + 7] = x, 0, z, 0, -np.sin(angle / 2), 0, np.cos(angle / 2)
    q, v = robot.project(q, np.ones(robot.nv))
    return q, v * -SPEED / v[4]


def bearing_forces(robot, q, v, order):
    """{bearing: forces on the bar named first, in world axes (T, order + 1, 3)}."""
    tau = np.zeros((1, order + 1, robot.nv))  # the same at all times
    tau[0, 0, 4] = -TORQUE
    forces = robot.constrained_dynamics(q, v, tau, wrench_frame="mixed").forces
    return {name: forces[name][..., :3] for name in BEARINGS}


def draw(ax, robot, q, **line):
    ends = {name: robot.pose(name, q) for name in LENGTH}
    for name, pose in ends.items():
        ends[name] = np.array([pose[:3, 3], pose[:3, 3] + LENGTH[name] * pose[:3, 0]])
        ax.plot(*ends[name][:, [0, 2]].T, **{"color": "0.35", "lw": 2.2, "marker": "o", "ms": 3.5, "mfc": "w"} | line)
    return ends


def main(path: Path, points: int = 721) -> dict:
    robot = linkage()
    tau = np.zeros(robot.nv)
    tau[4] = -TORQUE
    run = jn.simulate(robot, *start(robot), np.linspace(0.0, 0.3, points), tau, rtol=1e-11, atol=1e-13)
    x = robot.pose("crank", run.q)[:, :3, 0]
    angle = np.unwrap(np.arctan2(x[:, 2], x[:, 0]))
    turn = angle < angle[0] + 2 * np.pi
    run, degrees = run[: turn.sum()], np.degrees(angle[turn])
    apart = np.abs(robot.residual(run.q)).max()
    forces = bearing_forces(robot, run.q, run.v, order=2)
    step = run.time[1] - run.time[0]
    off = {}
    labels = (
        ("forces on the bars", "$x$ (m)", "$z$ (m)"),
        ("how large they are", "crank angle (°)", "force (N)"),
        ("how fast they change", "crank angle (°)", "rate (kN/s)"),
    )
    with panels(path, *labels) as axes:
        for name, line in LINES.items():
            f, rate = forces[name][:, 0], forces[name][:, 1]
            differences = (8 * (f[3:-1] - f[1:-3]) - f[4:] + f[:-4]) / (12 * step)
            off[name] = np.abs(differences - rate[2:-2]).max() / np.abs(rate).max()
            axes[1].plot(degrees, np.linalg.norm(f, axis=1), **line, label=name)
            axes[2].plot(degrees, np.linalg.norm(rate, axis=1) / 1e3, **line)
            some = slice(points // 40, None, points // 20)
            dots = np.linalg.norm(differences[some], axis=1) / 1e3
            axes[2].plot(degrees[2:-2][some], dots, "o", ms=2.5, mfc="w", color=line["color"])
        shown = int(np.argmax(np.linalg.norm(forces["coupler on rocker"][:, 0], axis=1)))
        for i in range(0, len(run.time), len(run.time) // 12):
            draw(axes[0], robot, run.q[i], alpha=0.12, ms=0, lw=1.2)
        ends = draw(axes[0], robot, run.q[shown])
        for name, (bar, x, *_) in BEARINGS.items():
            tail, force = ends[bar][int(x > 0)], forces[name][shown, 0] / ARROW
            arrow(axes[0], tail[[0, 2]], (tail + force)[[0, 2]], LINES[name]["color"])
        axes[0].set(aspect="equal", xlim=(-0.14, 0.46), ylim=(-0.2, 0.34))
        axes[1].axvline(degrees[shown], color="0.6", lw=0.6)
        for ax in axes[1:]:
            ax.set_xticks(np.arange(180, 541, 90))
        axes[1].set_ylim(0, 1.7 * axes[1].get_ylim()[1])
        axes[1].legend(fontsize=7, loc="upper left", framealpha=1.0, edgecolor="w")
    worst = max(off.values())
    print(f"hinges come apart by {apart:.1g} m or rad; differences are off by {worst:.1g} of the largest rate")
    return {"apart": apart, "off": off, "run": run, "forces": forces}


if __name__ == "__main__":
    main(asked("four_bar"))
