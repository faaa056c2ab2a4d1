"""Draws soft_cost.png: time per call over the number of soft segments, from Python, one state; prints the times.

python docs/figures/soft_cost.py
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from style import BLUE, COLOURS, GREEN, ORANGE, save

import jounce as jn


def arm(segments, body=None):
    """A hanging arm of constant curvature: two bends and an elongation per segment."""
    builder = jn.Builder(gravity=(0, 0, 9.81))
    for i in range(segments):
        rod = body or jn.soft.Rod(0.1, 0.01, 1070.0, 1e5, damping=0.05)
        builder.add(f"segment {i}", f"segment {i - 1}" if i else "world", body=rod)
    return builder.build()


class Arc(jn.soft.Module):
    """The rod of `arm(section="line")` again, as a module: its backbone at ten Gauss points."""

    n, scale = 3, (0.5, 0.5, 0.01)
    L, mass = 0.1, 1070.0 * np.pi * 0.01**2 * 0.1

    def __init__(self):
        nodes, weights = np.polynomial.legendre.leggauss(10)
        self.s, self.masses = (1 + nodes) / 2, self.mass * weights / 2

    def place(self, q, s):
        u, length = (q[0] ** 2 + q[1] ** 2) * s**2, s * (self.L + q[2])
        bent = length * s * jn.soft.stumpff(2, u)
        return q[0] * bent, q[1] * bent, length * jn.soft.stumpff(1, u)

    def points(self, q):
        return np.array([self.place(q, s) for s in self.s])

    def pose(self, q):
        x, y, (px, py, pz) = q[0], q[1], self.place(q, 1.0)
        c0, c1, c2 = (jn.soft.stumpff(k, x**2 + y**2) for k in range(3))
        return np.array(
            [
                [1 - c2 * x * x, -c2 * x * y, c1 * x, px],
                [-c2 * x * y, 1 - c2 * y * y, c1 * y, py],
                [-c1 * x, -c1 * y, c0, pz],
                [0, 0, 0, 1],
            ]
        )


def best(call, seconds=1.5):
    """The shortest time of a call, s; turns of a fifth of a millisecond, which other processes seldom interrupt."""
    start = perf_counter()
    call()
    end, times = perf_counter() + seconds, [perf_counter() - start]
    while perf_counter() < end:
        count = max(1, int(2e-4 / min(times)))
        start = perf_counter()
        for _ in range(count):
            call()
        times.append((perf_counter() - start) / count)
    return min(times)


def calls(robot):
    """By the order of inverse dynamics, and "forward"."""
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng), rng.normal(size=(6, robot.nv))
    tau = robot.inverse_dynamics(q, v[0], v[1])
    return {
        0: lambda: robot.inverse_dynamics(q, v[0], v[1]),
        4: lambda: robot.inverse_dynamics(q, v),
        "forward": lambda: robot.forward_dynamics(q, v[0], tau),
    }


if __name__ == "__main__":
    counts = (1, 2, 3, 5, 10, 20, 30)
    line = jn.soft.Rod(0.1, 0.01, 1070.0, 0.0, section="line", nodes=10)
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=9), rng.normal(size=(6, 9))
    off = np.abs(arm(3, Arc()).inverse_dynamics(q, v) / arm(3, line).inverse_dynamics(q, v) - 1).max()
    print("rod and module differ by", off)
    rods, modules = ({n: calls(arm(n, body)) for n in counts} for body in (None, Arc()))
    curves = (
        ("inverse, with four derivatives", rods, 4, GREEN, "-."),
        ("inverse, a module of one's own", modules, 0, COLOURS[3], ":"),
        ("forward dynamics", rods, "forward", ORANGE, "--"),
        ("inverse dynamics", rods, 0, BLUE, "-"),
    )
    figure, ax = plt.subplots(figsize=(4.8, 2.9))
    for label, robots, key, color, dashes in curves:
        times = [1e6 * best(robots[n][key]) for n in counts]
        print(f"{label:32}", *(f"{n}: {t:.1f} µs " for n, t in zip(counts, times, strict=True)))
        ax.loglog(counts, times, color=color, ls=dashes, marker="o", ms=3, label=label)
    ax.set(xlabel="segments (-)", ylabel="time a call (µs)", title="an arm of constant curvature")
    ax.set_xticks(counts, [str(n) for n in counts])
    ax.minorticks_off()
    ax.legend(loc="upper left")
    save(figure, __file__)
