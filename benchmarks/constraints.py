"""Constrained dynamics of long chains: time over the number of bodies, with one contact at the tip.

    pip install . && python benchmarks/constraints.py

The chain is fixed to the world at one end; the other one is held, all six directions of it. The number of constraints
is the same for all lengths, so the time should grow like that of the free chain, linearly. The best of many counts.
"""

from __future__ import annotations

import itertools
import os

import numpy as np
from timing import microseconds

import jounce as jn
from jounce import _core

BODIES = (10, 25, 50, 100, 200, 400)


def chain(bodies: int) -> jn.Model:
    """Hinges about x and y in turn, five centimetres apart, hanging."""
    b, place = jn.Builder(), np.eye(4)
    parent = "world"
    for i in range(bodies):
        inertia = jn.Inertia(0.5, com=(0.0, 0.0, -0.025), rotational=np.diag([1e-3, 1e-3, 1e-3]))
        b.add(f"link {i}", parent, jn.Revolute(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))[i % 2]), place, inertia)
        parent, place = f"link {i}", np.eye(4)
        place[2, 3] = -0.05
    return b.build()


def calls(bodies: int, rng: np.random.Generator) -> dict[str, object]:
    free = chain(bodies)
    held = free.constrained({f"link {bodies - 1}": jn.Fixed()})
    q = rng.uniform(-0.3, 0.3, free.nq)
    v = held.project(q, rng.normal(size=free.nv))[1]
    tau = 0.01 * rng.normal(size=(6, free.nv))
    found = held.constrained_dynamics(q, v, tau[0])
    again = free.forward_dynamics(q, v, tau[0], wrenches=found.forces)
    apart = np.abs(again - found.acc).max() / np.abs(again).max()
    assert apart < 1e-6, (bodies, apart)
    return {
        "free": lambda: free.forward_dynamics(q, v, tau[0]),
        "held": lambda: held.forward_dynamics(q, v, tau[0]),
        "with forces": lambda: held.constrained_dynamics(q, v, tau[0]),
        "free, r = 5": lambda: free.forward_dynamics(q, v, tau),
        "held, r = 5": lambda: held.forward_dynamics(q, v, tau),
    }


def main() -> None:
    jn.set_num_threads(1)
    rng = np.random.default_rng(0)
    print(f"jounce {jn.__version__} with {_core.instruction_set()} kernels, load {os.getloadavg()[0]:.1f}")
    found = {bodies: microseconds(calls(bodies, rng), 400, 2e-4) for bodies in BODIES}
    names = list(found[BODIES[0]])
    print("µs a call\nbodies   " + "".join(f"{name:>14}" for name in names))
    for bodies, times in found.items():
        print(f"{bodies:6}   " + "".join(f"{times[name]:14.2f}" for name in names))
    print("ns a further body, from one length to the next")
    for few, many in itertools.pairwise(BODIES):
        slopes = [1e3 * (found[many][name] - found[few][name]) / (many - few) for name in names]
        print(f"{many:6}   " + "".join(f"{slope:14.1f}" for slope in slopes))


if __name__ == "__main__":
    main()
