"""Times of calls in two builds of jounce, in turns: what a change of the sources or of the compiler's options costs.

    python benchmarks/two_builds.py /tmp/old/.venv/bin/python .venv/bin/python

Each is the Python of an environment with jounce and example-robot-data. A process of each measures every call, the best
of many samples, and another of the other; the ratio of these is one round, and the median of all rounds is printed.
Robots are as loaded, calls as plain as they can be, on one thread.

Of a call below a microsecond, 3 % between two single builds say nothing: where the linker puts its code moves it by as
much. The same objects linked in twenty orders spread by 20 to 40 ns; their means tell builds apart.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from timing import microseconds

ROBOTS = {  # with a frame of each
    "Panda": ("panda_description/panda", "fixed", "panda_link7"),
    "ANYmal": ("anymal_b_simple_description/anymal", "floating", "LF_FOOT"),
    "TALOS": ("talos_data/talos_reduced", "floating", "arm_left_7_link"),
}
ORDERS = range(31)


def calls() -> dict[str, Callable[[], object]]:
    """What is measured, in the build that runs this."""
    import jounce as jn

    jn.set_num_threads(1)
    found: dict[str, Callable[[], object]] = {}
    for name, (file, base, tool) in ROBOTS.items():
        robot = jn.load(f"example-robot-data:{file}", base=base)  # type: ignore[arg-type]
        rng = np.random.default_rng(0)
        q, stack = robot.random_configuration(rng), 0.1 * rng.normal(size=(ORDERS[-1] + 2, robot.nv))
        many, v, tau = robot.random_configuration(rng, 64), stack[0], stack[2]
        for r in ORDERS if name == "Panda" else (0, 2, 5):
            found[f"{name} inverse_dynamics r = {r}"] = partial(robot.inverse_dynamics, q, stack[: r + 2])
            found[f"{name} inverse_dynamics r = {r}, 64"] = partial(robot.inverse_dynamics, many, stack[: r + 2])
            found[f"{name} forward_dynamics r = {r}"] = partial(robot.forward_dynamics, q, v, stack[: r + 1])
        for r in (0, 2, 5):
            found[f"{name} forward_dynamics r = {r}, 64"] = partial(robot.forward_dynamics, many, v, stack[: r + 1])
            found[f"{name} forward_kinematics r = {r}"] = partial(robot.forward_kinematics, q, stack[: r + 1])
            found[f"{name} mass_matrix_derivatives r = {r}"] = partial(robot.mass_matrix_derivatives, q, stack[: r + 1])
        found |= {
            f"{name} mass_matrix": partial(robot.mass_matrix, q),
            f"{name} mass_matrix, 64": partial(robot.mass_matrix, many),
            f"{name} coriolis_matrix": partial(robot.coriolis_matrix, q, v),
            f"{name} inverse_mass_matrix": partial(robot.inverse_mass_matrix, q),
            f"{name} jacobian": partial(robot.jacobian, tool, q),
            f"{name} jacobian_derivatives": partial(robot.jacobian_derivatives, tool, q, stack[:1]),
            f"{name} inverse_dynamics_derivatives": partial(robot.inverse_dynamics_derivatives, q, v, stack[1]),
            f"{name} inverse_dynamics_derivatives, 64": partial(robot.inverse_dynamics_derivatives, many, v, stack[1]),
            f"{name} forward_dynamics_derivatives": partial(robot.forward_dynamics_derivatives, q, v, tau),
            f"{name} linearize": partial(robot.linearize, q, v, tau),
        }
        held = robot.constrained({tool: jn.Contact(jn.Fixed(), pose=robot.pose(tool, q))})
        for r in (0, 2):
            found[f"{name} constrained_dynamics r = {r}"] = partial(held.constrained_dynamics, q, v, stack[: r + 1])
    return found


def measured(python: str) -> dict[str, float]:
    done = subprocess.run([python, __file__, "--measure"], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python} fails:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", help="the Python of the old build, and that of the new one")
    parser.add_argument("--rounds", type=int, default=7, help="(default: %(default)s)")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(microseconds(calls(), samples=15, window=1e-3)))
        return
    if len(given.pythons) != 2:
        parser.error(f"{len(given.pythons)} Pythons, expected two")
    rounds = [tuple(map(measured, given.pythons)) for _ in range(given.rounds)]
    print("| call | old, µs | new, µs | new / old |\n|---|--:|--:|--:|")
    ratios = []
    for name in rounds[0][0]:
        old, new = (statistics.median(each[i][name] for each in rounds) for i in (0, 1))
        ratios.append(statistics.median(after[name] / before[name] for before, after in rounds))
        print(f"| {name} | {old:.2f} | {new:.2f} | {ratios[-1]:.3f} |")
    print(f"\nmedian {statistics.median(ratios):.3f}, least {min(ratios):.3f}, greatest {max(ratios):.3f}")


if __name__ == "__main__":
    main()
