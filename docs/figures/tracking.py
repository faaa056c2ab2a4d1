"""Draws tracking.png: errors and Lyapunov function of a passivity-based tracking controller on the aerial manipulator.

Robot, motion and controller are those of docs/equations_of_motion.md.

    python docs/figures/tracking.py
"""

import matplotlib.pyplot as plt
import numpy as np
from style import BLUE, GREEN, ORANGE, program, save

import jounce as jn

page = program("equations_of_motion.md")
robot, run, errors, energies = (page[key] for key in ("robot", "run", "errors", "energies"))


def usual(q, v, v_ref, a_ref):
    return robot.inverse_dynamics(q, v_ref, a_ref, frame="mixed")


how = {"method": "rkmk", "rtol": 1e-6, "atol": 1e-7}
other = jn.simulate(robot, run.q[0], run.v[0], run.time, page["feedback"](usual), **how)
_, other_energies = page["measured"](other)

figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 2.8))
for label, part, color, dashes in (
    ("base position (m)", slice(0, 3), BLUE, "-"),
    ("base attitude, sine of the angle (-)", slice(3, 6), ORANGE, (0, (5, 1.5))),
    ("joints (rad)", slice(6, 12), GREEN, (0, (1.5, 1))),
):
    left.semilogy(run.time, np.linalg.norm(errors[:, part], axis=1), color=color, ls=dashes, label=label)
left.set(title="tracking errors, norms", ylabel="error", ylim=(1e-5, 10))
right.semilogy(run.time, other_energies, color=ORANGE, ls=(0, (5, 1.5)), label=r"with $C(q, v_{ref})\,v_{ref}$")
right.semilogy(run.time, energies, color=BLUE, label=r"with $C(q, v)\,v_{ref}$: $\dot V = -s^T K s$")
right.set(title=r"Lyapunov function $V = \frac{1}{2}\,s^T M s$", ylabel="$V$ (J)")
for ax in (left, right):
    ax.set_xlabel("time (s)")
    ax.margins(x=0)
    ax.legend(loc="lower left")
save(figure, __file__)
