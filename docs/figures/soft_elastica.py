"""Draws soft_elastica.png: a cantilever with a load at its tip, against Euler's elastica by elliptic integrals.

python docs/figures/soft_elastica.py
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc
from style import BLUE, ORANGE, save

import jounce as jn

E, R = 1e6, 0.01
EI = E * np.pi * R**4 / 4


def elastica(load):
    """Position of the tip of a beam of unit length, sideways and along, for load = P L^2 / (E I)."""

    def turned(m):
        return np.arcsin(1 / np.sqrt(2 * m))

    m = brentq(lambda m: ellipk(m) - ellipkinc(turned(m), m) - np.sqrt(load), 0.5 + 1e-12, 1 - 1e-12, xtol=1e-15)
    angle = 2 * np.arcsin(np.sqrt(m)) - np.pi / 2
    return np.array([1 - 2 / np.sqrt(load) * (ellipe(m) - ellipeinc(turned(m), m)), np.sqrt(2 * np.sin(angle) / load)])


def one_rod(coordinates):
    builder = jn.Builder(gravity=(0, 0, 0))
    strain = jn.soft.polynomial({"bend_y": coordinates - 1})
    builder.add("beam", "world", body=jn.soft.Rod(1.0, R, 1000.0, E, strain=strain, nodes=12))
    return builder.build()


def chain(coordinates):
    builder, strain = jn.Builder(gravity=(0, 0, 0)), jn.soft.constant_curvature(planar=True, elongation=False)
    for i in range(coordinates):
        rod = jn.soft.Rod(1 / coordinates, R, 1000.0, E, strain=strain)
        builder.add("beam" if i == coordinates - 1 else f"part {i}", f"part {i - 1}" if i else "world", body=rod)
    return builder.build()


def rest(robot, load):
    return robot.equilibrium(wrenches={"beam": (load * EI, 0, 0, 0, 0, 0)}, wrench_frame="mixed").q


figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 2.9), width_ratios=(1, 1.1))
beam = one_rod(8)
for load in (1, 2, 4, 7, 10):
    shape = beam.backbone("beam", rest(beam, load), np.linspace(0, 1, 60))[:, :3, 3]
    left.plot(shape[:, 2], shape[:, 0], color=plt.get_cmap("viridis")(0.9 - load / 12), lw=1.8)
    left.plot(*elastica(load)[::-1], "o", color="k", ms=4, mfc="none")
    left.annotate(f"{load}", shape[-1, [2, 0]], (5, 4), textcoords="offset points", fontsize=7.5)
left.plot([0, 0], [-0.08, 0.08], color="0.3", lw=3)
left.set(title=r"tip load $P L^2 / (E I)$", xlabel="along / $L$ (-)", ylabel="sideways / $L$ (-)", aspect="equal")
left.set(xlim=(-0.03, 1.12), ylim=(-0.1, 0.92))

exact = elastica(10)
for make, counts, color, marker, dashes, label in (
    (chain, (1, 2, 4, 8, 16, 32, 64), ORANGE, "s", "--", "chain of constant curvature"),
    (one_rod, range(1, 11), BLUE, "o", "-", "one rod, polynomial"),
):
    errors = []
    for n in counts:
        robot = make(n)
        errors.append(np.linalg.norm(robot.pose("beam", rest(robot, 10))[[0, 2], 3] - exact))
        print(label, n, errors[-1])
    right.loglog(counts, errors, color=color, marker=marker, ls=dashes, ms=3.5, label=label)
right.set(
    title="error of the tip at 10", xlabel="coordinates (-)", ylabel="error / $L$ (-)", xlim=(0.9, 80), ylim=(1e-12, 1)
)
right.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
right.minorticks_off()
right.legend(loc="upper right")
save(figure, __file__)
