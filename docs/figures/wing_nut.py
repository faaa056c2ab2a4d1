"""Draws wing_nut.png: a free body that turns over, and the drift of its energy and momentum.

python docs/figures/wing_nut.py
"""

import matplotlib.pyplot as plt
from style import BLUE, DASHES, GREEN, ORANGE, program, save

page = program("simulation.md")
run, first = page["minutes"], page["minutes"].time <= 20
print("turned over", page["turned"], "times; drift", page["drift_of_energy"].max(), page["drift_of_momentum"].max())
figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 2.6))
for column, (name, color) in enumerate((("x", GREEN), ("y", BLUE), ("z", ORANGE))):
    left.plot(run.time[first], run.v[first, 3 + column], color=color, ls=DASHES[column], label=name)
left.set(xlabel="time (s)", ylabel="angular velocity (rad/s)", title="a wing nut turns over", xlim=(0, 20))
left.set_ylim(-6, 8)
left.legend(title="about the body axis", loc="upper center", ncols=3)
for drift, name, color, dashes in (
    ("drift_of_energy", "kinetic energy", BLUE, "-"),
    ("drift_of_momentum", "angular momentum", ORANGE, DASHES[1]),
):
    right.semilogy(run.time[1:], page[drift][1:].clip(1e-17), color=color, ls=dashes, lw=0.9, label=name)
right.set(xlabel="time (s)", ylabel="relative drift (-)", title="what should not change", ylim=(1e-17, 1e-8))
right.legend(loc="lower right")
save(figure, __file__)
