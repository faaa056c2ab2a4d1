"""Draws tracking.png: errors and Lyapunov function of a passivity-based tracking controller on the aerial manipulator.

Robot, motion and controller are those of docs/equations_of_motion.md: its Python blocks are run as they stand.

    python docs/figures/tracking.py
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import jounce as jn

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"  # Okabe and Ito's, told apart by the colour-blind

page = Path(__file__).parents[1] / "equations_of_motion.md"
names: dict = {}
for code in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
    exec(compile(code, page.name, "exec"), names)
robot, run, errors, energies = (names[key] for key in ("robot", "run", "errors", "energies"))


def usual(q, v, v_ref, a_ref):
    return robot.inverse_dynamics(q, v_ref, a_ref, frame="mixed")


other = jn.simulate(
    robot, run.q[0], run.v[0], run.time, names["feedback"](usual), method="rkmk", rtol=1e-6, atol=1e-7
)  # fmt: skip
_, other_energies = names["measured"](other)

style = {"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False}
with plt.rc_context(style):
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 2.8), layout="constrained")
    for label, part, color, dashes in (
        ("base position (m)", slice(0, 3), BLUE, "-"),
        ("base attitude, sine of the angle (-)", slice(3, 6), ORANGE, (0, (5, 1.5))),
        ("joints (rad)", slice(6, 12), GREEN, (0, (1.5, 1))),
    ):
        left.semilogy(run.time, np.linalg.norm(errors[:, part], axis=1), color=color, ls=dashes, lw=1.3, label=label)
    left.set(title="tracking errors, norms", ylabel="error", ylim=(1e-5, 10))
    right.semilogy(
        run.time, other_energies, color=ORANGE, ls=(0, (5, 1.5)), lw=1.3, label=r"with $C(q, v_{ref})\,v_{ref}$"
    )
    right.semilogy(run.time, energies, color=BLUE, lw=1.3, label=r"with $C(q, v)\,v_{ref}$: $\dot V = -s^T K s$")
    right.set(title=r"Lyapunov function $V = \frac{1}{2}\,s^T M s$", ylabel="$V$ (J)")
    for ax in (left, right):
        ax.set_xlabel("time (s)")
        ax.margins(x=0)
        ax.grid(alpha=0.25, linewidth=0.5)
        ax.legend(frameon=False, fontsize=7.5, loc="lower left")
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=200)
