"""A soft finger on a rigid arm: what the motors must know about it.

The arm comes from a URDF; the finger, a rod that bends and is closed by a tendon, is added to it. While the arm swings
up and stops, the finger whips around. Its shape has no motor, so inverse dynamics cannot give the torques of the arm:
the motion of the finger depends on them. Hybrid dynamics can. Given the desired accelerations of the arm and the pull
of the tendon on the finger, it finds the torques of the arm and the accelerations of the finger together.

The same controller, assuming a rigid finger, leaves the path as soon as the finger lags behind. The picture shows arm
and finger during the swing, the distance of the hand from its path, and the bend of the finger, which the tendon closes
at the end. The number to look at is the error of the hand.

    python examples/soft_finger.py [figure.png]
"""

from pathlib import Path

import numpy as np
from numpy.polynomial import Polynomial
from picture import BLUE, ORANGE, asked, panels, tube

import jounce as jn

LINK = """<link name="{}"> <inertial> <origin xyz="0 0 {}"/> <mass value="{}"/>
  <inertia ixx="{inertia}" iyy="{inertia}" izz="0.001" ixy="0" ixz="0" iyz="0"/> </inertial> </link>"""
JOINT = """<joint name="{}" type="revolute"> <parent link="{}"/> <child link="{}"/> <origin xyz="0 0 {}"/>
  <axis xyz="0 1 0"/> <limit lower="-4" upper="4" effort="100" velocity="20"/> </joint>"""
ARM = "\n".join([
    "<robot name='arm'> <link name='ground'/>",
    LINK.format("upper", 0.15, 2.0, inertia=0.015), JOINT.format("shoulder", "ground", "upper", 0.0),
    LINK.format("lower", 0.13, 1.2, inertia=0.007), JOINT.format("elbow", "upper", "lower", 0.3),
    LINK.format("hand", 0.03, 0.3, inertia=0.001), JOINT.format("wrist", "lower", "hand", 0.26), "</robot>",
])  # fmt: skip
FINGER = jn.soft.Rod(
    length=0.3, radius=(0.02, 0.01), density=1100.0, young=8e5, damping=0.01,
    strain=jn.soft.polynomial(1, ("bend_x", "bend_y")), actuators=[jn.soft.Tendon("tendon", route=(0.01, 0.0))],
)  # fmt: skip
START, TURN = np.array([np.pi, 0.0, 0.0]), np.array([-1.9, 0.9, -0.4])  # rad; everything hangs down at first
BEND = 5  # the coordinate of the finger's total bend about y, rad: after three of the arm and two about x
SWING, POLE = 0.45, 8.0  # s, and 1/s, of the error
STEP = Polynomial([0, 0, 0, 10, -15, 6])  # from 0 to 1, at rest at both ends


def robot_with_finger():
    builder = jn.Builder.from_model(jn.load(ARM))
    builder.add("finger", parent="hand", placement=jn.placement((0, 0, 0.06)), body=FINGER)
    return builder.build()


def wanted(t):
    """Angles of the arm, their rates and accelerations, (3,) each."""
    x = min(t / SWING, 1.0)
    return START + STEP(x) * TURN, STEP.deriv()(x) / SWING * TURN, STEP.deriv(2)(x) / SWING**2 * TURN


def tension(t):
    """Of the tendon, N."""
    return 20.0 * STEP(np.clip((t - 0.8) / 0.3, 0.0, 1.0))


def torques(robot, t, q, v, soft):
    """All generalized forces: for the arm by feedback linearization, for the finger from the tendon."""
    is_arm = np.arange(robot.nv) < 3
    position, rate, acceleration = (np.pad(x, (0, robot.nv - 3)) for x in wanted(t))
    a = is_arm * (acceleration + 2 * POLE * (rate - v) + POLE**2 * (position - q))
    tau = robot.actuation_matrix(q) @ [tension(t)]
    if soft:
        return robot.hybrid_dynamics(q, v, a, tau, prescribed=is_arm)[1]
    return np.where(is_arm, robot.inverse_dynamics(is_arm * q, is_arm * v, a), tau)


def draw(ax, robot, q, **line):
    """Arm and finger, seen from the side."""
    joints = np.array([robot.pose(name, q)[:3, 3] for name in ("upper", "lower", "hand")])
    finger = robot.backbone("finger", q)[:, :3, 3]
    ax.plot(joints[:, 0], joints[:, 2], marker="o", ms=3.5, mfc="w", **{"color": "0.5", "lw": 2.5, **line})
    ax.plot(*np.vstack([joints[-1], finger[0]])[:, [0, 2]].T, **{"color": "0.5", "lw": 2.5, **line})
    tube(ax, finger[:, [0, 2]], (0.02, 0.01), BLUE["color"], **line)


def main(path: Path, end: float = 1.5) -> dict:
    robot, times = robot_with_finger(), np.arange(0.0, end, 0.01)
    hand = robot.pose("hand", [np.pad(wanted(t)[0], (0, robot.nv - 3)) for t in times])[:, :3, 3]
    labels = (
        ("arm and finger", "$x$ (m)", "$z$ (m)"),
        ("hand, off its path", "time (s)", "error (mm)"),
        ("bend of the finger", "time (s)", "angle (rad)"),
    )
    worst = {}
    with panels(path, *labels) as axes:
        for name, soft, line in (("rigid", False, ORANGE), ("soft", True, BLUE)):
            run = jn.simulate(
                robot, np.pad(START, (0, robot.nv - 3)), np.zeros(robot.nv), times,
                lambda t, q, v, soft=soft: torques(robot, t, q, v, soft), method="rkmk", rtol=1e-5, atol=1e-7,
            )  # fmt: skip
            off = 1e3 * np.linalg.norm(robot.pose("hand", run.q)[:, :3, 3] - hand, axis=1)
            worst[name] = off.max()
            print(f"controller with a {name:5s} finger: hand off by {off.max():.2g} mm")
            axes[1].plot(times, off, **line, label=name)
            axes[2].plot(times, run.q[:, BEND], **line)
        for i in (*range(0, 46, 9), len(times) - 1):
            draw(axes[0], robot, run.q[i], alpha=1.0 if i in (0, len(times) - 1) else 0.35)
        axes[0].set(aspect="equal", xlim=(-0.1, 0.9), ylim=(-0.95, 0.25))
        axes[1].legend(
            frameon=False, fontsize=7.5, title="finger of the controller", title_fontsize=7.5, loc="upper right"
        )
    return worst


if __name__ == "__main__":
    main(asked("soft_finger"))
