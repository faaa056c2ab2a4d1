"""Draws nine_joints.png: the robot of paper B's Fig. 4, with all joints at zero and at 0.3.

Three revolute, three prismatic and three helical joints, each kind along x, y and z, on a floating base (paper B,
section 5). The paper draws the placements of the joints at random, and so does `jounce reproduce B-section5`: seed 0.

    python docs/figures/nine_joints.py
"""

import matplotlib.pyplot as plt
import numpy as np
from style import save

from jounce_lab.reproduce.nine_joints import random_robot

robot = random_robot(np.random.default_rng(0))
KINDS = (("revolute", "#009E73"), ("prismatic", "#D55E00"), ("helical", "#0072B2"))  # the colours of the paper

figure = plt.figure(figsize=(7.5, 4.0), layout="none")
figure.subplots_adjust(left=0.0, right=0.95, bottom=0.1, top=0.93, wspace=0.08)
spans = []
for column, joints in enumerate((0.0, 0.3)):
    ax = figure.add_subplot(1, 2, column + 1, projection="3d")
    q = robot.configuration(dict.fromkeys(robot.joint_names[1:], joints))
    poses = robot.forward_kinematics(q).pose
    spans.append(poses[:, :3, 3])
    for body, pose in zip(robot.bodies, poses, strict=True):
        place = pose[:3, 3]
        if body.parent < 0:
            ax.scatter(*place, color="#E0B000", s=110, label="floating base" if not column else None)
            continue
        number = int(body.name[1:])
        name, color = KINDS[(number - 1) // 3]
        carrier = poses[body.parent]
        joint = (carrier @ body.placement)[:3, 3]  # where it is on the body that carries it
        ax.plot(*np.stack([carrier[:3, 3], joint]).T, color="#888888", lw=1.6)
        ax.plot(*np.stack([joint, place]).T, color=color, lw=1.2, ls=":")
        axis = pose[:3, :3] @ body.joint.primitives()[0].axis
        ax.plot(*np.stack([place - 0.25 * axis, place + 0.25 * axis]).T, color=color, lw=2.2)
        first = column == 0 and number % 3 == 1
        ax.scatter(*place, color=color, s=22, label=name if first else None)
        ax.text(*(place + 0.12), str(number), fontsize=7)
    ax.set_title(f"joints at {joints:g}")
    ax.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
    ax.tick_params(labelsize=6)
    ax.view_init(elev=22, azim=-60)
low, high = np.concatenate(spans).min(axis=0) - 0.3, np.concatenate(spans).max(axis=0) + 0.3
for ax in figure.axes:
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    ax.set_box_aspect(high - low, zoom=0.86)
figure.legend(loc="lower center", ncols=4, frameon=False)
save(figure, __file__)
