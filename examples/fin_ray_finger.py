"""A fin-ray finger: soft walls and stiff ribs, which close loops.

Two rods lean against each other, welded at the tip, and ribs keep them at fixed distances in between: five loops of
soft bodies. Pressed on its front, such a finger does not give way like a rod. Its tip moves towards the load, so the
finger wraps itself around what it holds.

At rest the forces of walls, load and constraints balance and the constraints hold: `equilibrium` finds the shape under
each of several loads. Then the load is suddenly removed, and the finger swings. The picture shows the finger under
load, the same without ribs, and the forces in the ribs after the release. The numbers to look at are where the tip
goes, how far the simulated loops drift apart, and the residual of the energy balance: the walls lose what their
material dissipates.

    python examples/fin_ray_finger.py [figure.png]
"""

from pathlib import Path

import numpy as np
from picture import BLUE, GREEN, GREY, ORANGE, arrow, asked, panels

import jounce as jn

WIDTH, HEIGHT = 0.04, 0.10  # m, the triangle
LEAN, LENGTH = float(np.arctan2(WIDTH / 2, HEIGHT)), float(np.hypot(WIDTH / 2, HEIGHT))  # of each wall, rad and m
RIBS = (0.2, 0.4, 0.6, 0.8)  # where along the walls; the load is on the front
PRESSED = 0.5
FORCES = np.linspace(0.0, 1.2, 13)  # N


def turned(x, angle):
    """A pose on the x axis whose z axis leans by that angle."""
    return jn.placement((x, 0, 0), axis=(0, 1, 0), angle=angle)


def finger(ribs=RIBS) -> jn.Model:
    bends = jn.soft.polynomial(6, ("bend_y",))
    wall = jn.soft.Rod(LENGTH, radius=0.0015, density=1200.0, young=3e7, damping=2e-4, strain=bends)  # TPU
    builder = jn.Builder()
    builder.add("front", "world", placement=turned(-WIDTH / 2, LEAN), body=wall)
    builder.add("back", "world", placement=turned(WIDTH / 2, -LEAN), body=wall)
    builder.close("tip", "front", "back", jn.Fixed(), placement_b=turned(0.0, 2 * LEAN))
    for s in ribs:
        length = WIDTH * (1 - s)
        builder.close(f"rib {s:g}", "front", "back", jn.Distance(length), at_a=s * LENGTH, at_b=s * LENGTH)
    builder.add("pad", "front", at=PRESSED * LENGTH)
    return builder.build()


def at_rest(robot, force, near=None):
    """The shape under that force; found sooner from a nearby one."""
    return robot.equilibrium(q0=near, wrenches={"pad": (force, 0, 0, 0, 0, 0)}, wrench_frame="mixed").q


def loaded(robot):
    """Shapes under all the forces, (., nq)."""
    shapes = []
    for force in FORCES:
        shapes.append(at_rest(robot, force, shapes[-1] if shapes else None))
    return np.array(shapes)


def unaccounted(robot, run):
    """Change in the sum of energy and dissipated energy, as a fraction of the initial energy."""
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    power = np.einsum("ti,ti->t", run.v, robot.damping_force(run.q, run.v))
    taken = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(run.time))])
    return np.abs((energy + taken) / energy[0] - 1).max()


def draw(ax, robot, q, ribs, color, alpha):
    s = np.linspace(0.0, LENGTH, 41)
    front, back = (robot.backbone(wall, q, s)[:, :3:2, 3] for wall in ("front", "back"))
    ax.plot(*1e3 * np.vstack([front, back[::-1]]).T, color=color, lw=1.8, alpha=alpha, solid_joinstyle="round")
    for i in (round(40 * x) for x in ribs):
        ax.plot(*1e3 * np.transpose([front[i], back[i]]), color=color, lw=0.9, alpha=alpha)


def main(path: Path, end: float = 0.025, points: int = 1001) -> dict:
    labels = (
        ("pressed", "$x$ (mm)", "$z$ (mm)"),
        ("the same without ribs", "$x$ (mm)", "$z$ (mm)"),
        ("forces of the ribs, let go", "time (ms)", "tension (N)"),
    )
    found = {}
    with panels(path, *labels) as axes:
        for ax, name, ribs, color in ((axes[0], "ribs", RIBS, BLUE), (axes[1], "no ribs", (), ORANGE)):
            robot = finger(ribs)
            shapes = loaded(robot)
            for i in range(0, len(FORCES), 4):
                strong = i in (0, len(FORCES) - 1)
                draw(ax, robot, shapes[i], ribs, "0.6" if i == 0 else color["color"], 1.0 if strong else 0.3)
            pad = 1e3 * robot.pose("pad", shapes[-1])[:3:2, 3]
            arrow(ax, pad - [14 * FORCES[-1], 0], pad, "0.1")
            ax.set(aspect="equal", xlim=(-32, 68), ylim=(-3, 105))
            ways = robot.pose("front", shapes)[:, 0, 3]
            found[name] = {"robot": robot, "shapes": shapes, "tip": ways}
            print(f"{name:8s} tip moves by {1e3 * ways[-1]:.1f} mm under {FORCES[-1]:g} N")
        robot, start = found["ribs"]["robot"], found["ribs"]["shapes"][-1]
        run = jn.simulate(robot, start, np.zeros(robot.nv), np.linspace(0.0, end, points), rtol=1e-7, atol=1e-8)
        apart, lost = np.abs(robot.residual(run.q)).max(), unaccounted(robot, run)
        forces = robot.constrained_dynamics(run.q, run.v, np.zeros(robot.nv), wrench_frame="mixed").forces
        for s, line in zip(RIBS, (BLUE, ORANGE, GREEN, GREY), strict=True):
            a, b = (robot.pose(f"rib {s:g}.{side}", run.q)[:, :3, 3] for side in "ab")
            tension = np.einsum("ti,ti->t", forces[f"rib {s:g}"][:, :3], b - a) / (WIDTH * (1 - s))
            axes[2].plot(1e3 * run.time, tension, **line, label=f"{s:g}")
        axes[2].set_ylim(top=1.25)
        axes[2].legend(frameon=False, fontsize=7, ncols=4, loc="upper left", columnspacing=0.8, handlelength=1.4,
                       title="ribs, by where along the walls", title_fontsize=7)  # fmt: skip
        print(f"let go   loops come apart by {apart:.1g} m, m² or rad; of the energy {lost:.1g} is unaccounted for")
    return found | {"apart": apart, "lost": lost, "run": run}


if __name__ == "__main__":
    main(asked("fin_ray_finger"))
