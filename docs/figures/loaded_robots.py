"""Draws loaded_robots.png: three URDF files from the package example-robot-data, as loaded by jn.load.

python docs/figures/loaded_robots.py
"""

import sysconfig
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from style import BLUE, ORANGE, save

import jounce as jn

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
FILES = {
    "Panda": ("panda_description/urdf/panda.urdf", "fixed", {2: -0.5, 4: -2.0, 6: 1.6}),
    "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", "floating", {}),
    "TALOS": ("talos_data/robots/talos_reduced.urdf", "floating", {}),
}
TURN, TILT = np.radians(35), np.radians(12)
RIGHT = np.array([np.cos(TURN), -np.sin(TURN), 0.0])  # in the picture
UP = np.array([np.sin(TURN) * np.sin(TILT), np.cos(TURN) * np.sin(TILT), np.cos(TILT)])


def posture(name, robot, bent):
    q = robot.neutral()
    for joint, angle in bent.items():
        q[joint - 1] = angle
    for key, hip, knee in (("LF", 0.6, -1.2), ("RF", 0.6, -1.2), ("LH", -0.6, 1.2), ("RH", -0.6, 1.2)):
        if name == "ANYmal":
            q[robot.position(f"{key}_HFE")], q[robot.position(f"{key}_KFE")] = hip, knee
    return q


figure, axes = plt.subplots(1, 3, figsize=(7.5, 3.0), width_ratios=(1, 1.5, 1))
for ax, (name, (file, base, bent)) in zip(axes, FILES.items(), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        robot = jn.load(ROBOTS / file, base=base, friction=False)
    where = robot.forward_kinematics(posture(name, robot, bent), frames=robot.frame_names)
    at = {frame: np.array([RIGHT, UP]) @ where[frame][:3, 3] for frame in where.names}
    for body in robot.bodies:
        moving = not isinstance(body.joint, jn.Fixed)
        color, width = (BLUE, 2.2) if moving else ("0.6", 1.0)
        start = at[robot.bodies[body.parent].name] if body.parent >= 0 else at[body.name]
        line = np.transpose([start, at[body.name]])
        ax.plot(*line, color=color, lw=width, solid_capstyle="round", zorder=2 if moving else 1)
        if moving:
            ax.plot(*at[body.name], "o", color=ORANGE, ms=3.2, zorder=3)
    ax.set_title(f"{name}: nv = {robot.nv}")
    low, left = min(y for _, y in at.values()), min(x for x, _ in at.values())
    height = np.ptp([y for _, y in at.values()])
    bar = np.array([left, left + 0.2]), np.full(2, low - 0.07 * height)
    ax.plot(*bar, color="0.2", lw=1.5, solid_capstyle="butt")
    ax.annotate("0.2 m", (bar[0][1], bar[1][0]), (3, 0), textcoords="offset points", va="center", color="0.2")
    ax.set_aspect("equal")
    ax.axis("off")
    print(f"{name}: {len(robot.body_names)} bodies, {len(robot.frame_names)} frames, nv = {robot.nv}")
save(figure, __file__)
