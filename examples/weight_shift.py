"""A quadruped shifts its weight: contact forces that fade out without a jolt.

ANYmal stands on four point feet, each held by the world (`Spherical`). Before it lifts one of them, it moves its trunk
over the other three and unloads that foot. The motion of the trunk is given; with it prescribed, hybrid dynamics gives
the motion of the legs, to any order. Inverse dynamics then gives the total load on the feet, and how they share it is
up to us: as little as possible, with a weight for each foot, that of the one to be lifted fading to zero. The weighted
shares are differentiated directly, again with one matrix at every order. The torques follow.

To check this, the robot is simulated with those torques and nothing else, and `constrained_dynamics` gives the contact
forces. The same is done with fifth-degree blends, as planners use, instead of the eleventh-degree one: accelerations
and forces look smooth, but the rates of the forces jump where the motion starts and stops. The picture shows the robot
before and after, with the forces on its feet, and those on one foot with their rates. The number to look at is the
largest jump in a rate.

    python examples/weight_shift.py [figure.png]
"""

import sysconfig
import warnings
from math import factorial
from pathlib import Path

import numpy as np
from numpy.polynomial import Polynomial
from picture import BLUE, GREEN, GREY, ORANGE, arrow, asked, beside, seen

import jounce as jn

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
FILE = ROBOTS / "anymal_b_simple_description/robots/anymal.urdf"
FEET = {"LF_FOOT": BLUE, "RF_FOOT": ORANGE, "LH_FOOT": GREEN, "RH_FOOT": GREY}
LIFTED = "LF_FOOT"
SHIFT, ROLL = np.array([-0.08, -0.07, 0.0]), 0.06  # m, and rad about x, the trunk
START, LENGTH = 0.3, 0.8  # s
VIEW, ARROW = (215.0, 18.0), 400.0  # degrees; N per metre of the picture
ORDER = 3  # of the derivatives of the forces


def blend(degree):
    """From 0 to 1 with as many zero derivatives at both ends as that degree allows."""
    n = (degree - 1) // 2
    rate = Polynomial([0, 1]) ** n * Polynomial([1, -1]) ** n
    step = rate.integ()
    return step / step(1.0)


def progress(t, step, rows=ORDER + 3):
    """Progress of the motion at t, and derivatives."""
    x = (t - START) / LENGTH
    if not 0 <= x < 1:
        return np.eye(rows)[0] * (x >= 1)
    return np.array([(step.deriv(k) if k else step)(x) / LENGTH**k for k in range(rows)])


def standing():
    """The robot, on its feet, and its configuration."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        robot = jn.load(FILE, base="floating")
    q = robot.neutral()
    for key, hip, knee in (("LF", 0.7, -1.3), ("RF", 0.7, -1.3), ("LH", -0.7, 1.3), ("RH", -0.7, 1.3)):
        q[robot.position(f"{key}_HFE")], q[robot.position(f"{key}_KFE")] = hip, knee
    q[2] -= robot.pose("LF_FOOT", q)[2, 3]
    feet = {name: jn.Contact(jn.Spherical(), pose=robot.pose(name, q)) for name in FEET}
    return robot.constrained(feet), q


def motion(robot, q0, t, step):
    """q, and the stack of v and its derivatives (ORDER + 2, nv), with the twist of the trunk in world axes."""
    s = progress(t, step)
    q, stack = q0.copy(), np.zeros((ORDER + 2, robot.nv))
    q[:3] += s[0] * SHIFT
    q[3], q[6] = np.sin(s[0] * ROLL / 2), np.cos(s[0] * ROLL / 2)
    while np.abs(robot.residual(q)).max() > 1e-13:  # the legs
        q[7:] -= np.linalg.solve(robot.constraint_jacobian(q)[:, 6:], robot.residual(q))
    stack[:, :3], stack[:, 3] = np.outer(s[1:], SHIFT), s[1:] * ROLL
    J = robot.constraint_jacobian(q, frame="mixed")
    stack[0, 6:] = -np.linalg.solve(J[:, 6:], J[:, :6] @ stack[0, :6])
    trunk, none = np.arange(robot.nv) < 6, np.zeros_like(stack[1:])
    stack[1:] = robot.hybrid_dynamics(q, stack[0], stack[1:], none, prescribed=trunk, frame="mixed")[0]
    return q, stack


def product(*factors):
    """Product of matrices that are Taylor series, (ORDER + 1, ., .) each."""
    out, *rest = factors
    for x in rest:
        out = np.array([sum(out[j] @ x[k - j] for j in range(k + 1)) for k in range(ORDER + 1)])
    return out


def plan(robot, q0, t, step):
    """q, v, the torques and the forces on the feet, the last two with derivatives."""
    q, stack = motion(robot, q0, t, step)
    scale = np.array([factorial(k) for k in range(ORDER + 1)])[:, None, None]
    needed = robot.inverse_dynamics(q, stack, frame="mixed")[..., None] / scale  # from torques and feet together
    Jt = robot.constraint_jacobian_derivatives(q, stack[:ORDER], frame="mixed").swapaxes(1, 2) / scale
    weight = np.zeros((ORDER + 1, 12, 12))
    weight[0] = np.eye(12)
    rows = robot.constraint_rows(LIFTED)
    weight[:, rows, rows] -= progress(t, step, ORDER + 1)[:, None, None] / scale * np.eye(3)
    A = Jt[:, :6]  # minimal f^T weight^-1 f with A f = needed: f = weight A^T z
    B, z = product(A, weight, A.swapaxes(1, 2)), []
    inverse = np.linalg.inv(B[0])
    for k in range(ORDER + 1):
        z.append(inverse @ (needed[k, :6] - sum(B[j] @ z[k - j] for j in range(1, k + 1))))
    forces = product(weight, A.swapaxes(1, 2), np.array(z))
    torques = needed - product(Jt, forces)
    return q, stack, (torques * scale)[..., 0], (forces * scale)[..., 0]


def shifted(robot, q0, times, step):
    """The motion under those torques alone, and the forces on the feet in world axes, with derivatives, by name."""
    run = jn.simulate(
        robot, q0, np.zeros(robot.nv), times, lambda t, q, v: plan(robot, q0, t, step)[2][0],
        method="rkmk", rtol=1e-9, atol=1e-10,
    )  # fmt: skip
    torques = np.array([plan(robot, q0, t, step)[2] for t in times])
    return run, robot.constrained_dynamics(run.q, run.v, torques, wrench_frame="mixed").forces


def draw(ax, robot, q, forces, alpha=1.0):
    at = {name: robot.pose(name, q)[:3, 3] for name in robot.frame_names}
    line = {"solid_capstyle": "round", "alpha": alpha, "zorder": 3}
    trunk = seen([at[f"{leg}_HIP"] for leg in ("LF", "RF", "RH", "LH")], *VIEW)
    ax.fill(*trunk.T, fc="0.75", ec="0.3", lw=1.5, alpha=0.8 * alpha, zorder=2)
    for leg in ("LF", "RF", "LH", "RH"):
        parts = [at[f"{leg}_{part}"] for part in ("HIP", "THIGH", "SHANK", "FOOT")]
        ax.plot(*seen(parts, *VIEW).T, color="0.3", lw=2.4, **line)
    for name, style in FEET.items():
        foot = at[name]
        if forces is not None and np.linalg.norm(forces[name]) > 1.0:
            tip = foot + forces[name] / ARROW
            arrow(ax, seen(foot, *VIEW), seen(tip, *VIEW), style["color"])
        ax.plot(*seen(foot, *VIEW), "o", ms=4, mfc="w", mec=style["color"], alpha=alpha, zorder=4)


def main(path: Path, points: int = 181) -> dict:
    robot, q0 = standing()
    times = np.linspace(0.0, START + LENGTH + 0.3, points)
    rows = (
        ("vertical forces on the feet", "N"),
        ("their rates", "kN/s"),
        ("the same with a blend of fifth degree", "kN/s"),
    )
    found = {}
    with beside(path, "ANYmal, about to lift a foot", *rows) as (drawing, axes):
        for degree, ax in ((11, axes[1]), (5, axes[2])):
            step = blend(degree)
            run, forces = shifted(robot, q0, times, step)
            planned = np.array([motion(robot, q0, t, step)[0] for t in times])
            slip, off = np.abs(robot.residual(run.q)).max(), np.abs(run.q - planned).max()
            ends = START, START + LENGTH * (1 - 1e-12)  # before and after, the rates are zero
            jump = max(np.abs(plan(robot, q0, t, step)[3][1]).max() for t in ends)
            print(f"blend of degree {degree:2}: rates of forces jump by {jump:.2g} N/s; "
                  f"feet slip by {slip:.1g} m, the robot is off by {off:.1g} m or rad")  # fmt: skip
            found[degree] = {"jump": jump, "slip": slip, "off": off, "forces": forces, "run": run}
            for name, line in FEET.items():
                if degree == 11:
                    axes[0].plot(times, forces[name][:, 0, 2], **line, label=name[:2])
                ax.plot(times, forces[name][:, 1, 2] / 1e3, **line)
        run, forces = found[11]["run"], found[11]["forces"]
        draw(drawing, robot, run.q[0], None, alpha=0.25)
        draw(drawing, robot, run.q[-1], {name: forces[name][-1, 0, :3] for name in FEET})
        stands = [robot.pose(name, run.q[-1])[:3, 3] for name in FEET if name != LIFTED]
        drawing.fill(*seen(stands, *VIEW).T, fc=GREEN["color"], alpha=0.15, lw=0, zorder=0)
        over = robot.center_of_mass(run.q[[0, -1]]) * [1, 1, 0]
        drawing.plot(*seen(over, *VIEW).T, color="0.2", lw=0.8, zorder=1)
        drawing.plot(*seen(over[-1], *VIEW), "x", color="0.2", ms=5, zorder=1)
        axes[0].legend(frameon=False, fontsize=7, ncols=4, loc="lower right", bbox_to_anchor=(1.0, 0.97),
                       handlelength=1.8, columnspacing=1.0, borderpad=0)  # fmt: skip
    return found


if __name__ == "__main__":
    if not FILE.exists():
        raise SystemExit("ANYmal is in the package example-robot-data: pip install example-robot-data")
    main(asked("weight_shift"))
