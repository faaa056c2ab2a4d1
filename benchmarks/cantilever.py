"""A falling cantilever, jounce against PyElastica: seconds for an accuracy of the tip.

    pip install . pyelastica && python benchmarks/cantilever.py

A straight rod, clamped at one end and held level, is let go and swings under its weight, without damping. PyElastica
cuts it into elements that stretch and shear, and steps explicitly; the fastest shear mode, which the rod's radius
makes, limits its step. jounce has a few bending modes and an implicit method. The physical rod is all that the two
libraries have in common: PyElastica has no coordinates of a robot, no mass matrix and no inverse dynamics to compare.

The error is the distance of the tip from that of jounce with shear and stretch, finer in all respects, which
PyElastica's finest answer confirms first. Bending alone is off by the shear, 5e-4 m. Two things make the rods alike:
PyElastica's shear stiffness is set to G A (its own is 27/28 of that), and as its clamp holds a whole element, half an
element is put behind the wall. Times are the best of a few runs, which take turns.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

import jounce as jn

LENGTH, RADIUS, DENSITY, YOUNG, POISSON = 1.0, 0.01, 1000.0, 1e8, 0.5
HORIZON = 0.75  # s, two thirds of the slowest period
STEP = 4e-5  # s, of PyElastica; 5e-5 is about the limit
SAMPLES = 3
ALONG_X = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


def ours(orders: dict[str, int], tolerance: float) -> Callable[[], np.ndarray]:
    """To simulate a rod with polynomial strains, and see its tip."""
    b = jn.Builder()
    rod = jn.soft.Rod(LENGTH, RADIUS, DENSITY, YOUNG, POISSON, strain=jn.soft.polynomial(orders))
    b.add("rod", parent="world", placement=ALONG_X, body=rod)
    robot = b.build()
    still = np.zeros(robot.nv)

    def run() -> np.ndarray:
        how = {"method": "implicit", "rtol": tolerance, "atol": tolerance, "progress": False}
        end = jn.simulate(robot, still, still, [0.0, HORIZON], **how)[-1]
        return robot.pose("rod", end.q)[:3, 3]

    return run


def theirs(elements: int, horizon: float = HORIZON) -> Callable[[], np.ndarray]:
    """To simulate PyElastica's rod, and see its tip."""
    import elastica

    class Scene(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing):  # type: ignore[misc]
        pass

    def run() -> np.ndarray:
        behind = LENGTH / (2 * elements - 1)
        rod = elastica.CosseratRod.straight_rod(
            elements, np.array([-behind, 0, 0]), np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), LENGTH + behind, RADIUS,
            DENSITY, youngs_modulus=YOUNG, shear_modulus=YOUNG / (2 * (1 + POISSON)),
        )  # fmt: skip
        rod.shear_matrix[[0, 1], [0, 1]] *= 28 / 27
        scene = Scene()
        scene.append(rod)
        clamp = {"constrained_position_idx": (0,), "constrained_director_idx": (0,)}
        scene.constrain(rod).using(elastica.OneEndFixedBC, **clamp)
        scene.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=np.array([0, 0, -9.81]))
        scene.finalize()
        stepper, now = elastica.PositionVerlet(), np.float64(0.0)
        steps = round(horizon / STEP)
        for _ in range(steps):
            now = stepper.step(scene, now, np.float64(horizon / steps))
        return rod.position_collection[:, -1].copy()

    return run


def main() -> None:
    jn.set_num_threads(1)
    print(f"jounce {jn.__version__}, load {os.getloadavg()[0]:.1f}, a rod of {LENGTH:g} m, {HORIZON:g} s", flush=True)
    truth = ours({"bend_y": 4, "shear_x": 2, "stretch": 2}, 1e-5)()
    runs = {f"jounce, bending of order {k}": ours({"bend_y": k}, 1e-4) for k in (2, 3, 4)}
    if find_spec("elastica") is None:
        print("PyElastica is not installed: no race")
    else:
        theirs(10, 10 * STEP)()  # compiles
        apart = np.linalg.norm(theirs(40)() - truth)
        print(f"PyElastica with 40 elements is {apart:.1e} m from the reference")
        assert apart < 5e-4, apart
        runs |= {f"PyElastica, {n} elements": theirs(n) for n in (10, 20, 40)}
    best = dict.fromkeys(runs, np.inf)
    tips = {}
    for _ in range(SAMPLES):
        for name, run in runs.items():
            begin = time.perf_counter()
            tips[name] = run()
            best[name] = min(best[name], time.perf_counter() - begin)
    for name, seconds in best.items():
        print(f"  {name:30s} error {np.linalg.norm(tips[name] - truth):.1e} m   {seconds:7.2f} s")


if __name__ == "__main__":
    main()
