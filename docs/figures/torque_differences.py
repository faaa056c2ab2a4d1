"""Draws torque_differences.png: errors of central differences for the derivatives of a torque, over their step.

python docs/figures/torque_differences.py
"""

import matplotlib.pyplot as plt
import numpy as np
from style import COLOURS, DASHES, program, save

page = program("inverse_dynamics.md")
steps = np.logspace(-6, 0, 121)
figure, ax = plt.subplots(figsize=(7.5, 2.9))
for order in page["STENCILS"]:
    errors = np.array([page["difference_error"](order, h) for h in steps])
    print(f"derivative {order}: at best {errors.min():.0e}, at h = {steps[errors.argmin()]:.0e} s")
    name = f"{order}{({1: 'st', 2: 'nd', 3: 'rd'}).get(order, 'th')} derivative"
    ax.loglog(steps, errors, color=COLOURS[order - 1], ls=DASHES[order - 1], label=name)
ax.set(xlabel="step h (s)", ylabel="relative error (-)", ylim=(1e-12, 1e3), xlim=(1e-6, 1))
ax.set_title("central differences of the torque against inverse_dynamics")
ax.legend(loc="lower right", ncols=2)
save(figure, __file__)
