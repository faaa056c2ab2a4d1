"""Draws viewing_loops.png: what robot.show shows of closed loops and contacts, in Chromium.

python docs/figures/loops.py     # needs '.[view]', example-robot-data and Chromium
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import four_bar
import stewart_platform
from viewing import FEET, HERE, load, resized, shown, stance

import jounce as jn

AXIS, WIDE = (0, 1, 0), 0.04  # of the motors; m, half the distance between the two rods of an arm
BASE, TIP, ARM, ROD = 0.20, 0.06, 0.22, 0.50  # m: radii of the motors and of the platform, lengths


def linkage():
    """A four-bar linkage that is cut at all four bearings, without its flywheel."""
    four_bar.FLYWHEEL = 0.0
    robot = four_bar.linkage()
    return robot, four_bar.start(robot)[0], {}


def delta():
    """A Delta robot: two rods with ball joints go from each of three arms to the platform, which so never turns."""
    b = jn.Builder()
    b.add("platform", "world", jn.Free(), inertia=jn.Inertia.cylinder(0.3, TIP, 0.02))
    for i, turn in enumerate(np.radians([-90, 30, 150])):
        outward = jn.placement(axis=(0, 0, 1), angle=turn)
        arm = jn.Inertia.cylinder(0.4, 0.02, ARM, axis=(1, 0, 0)).moved(jn.placement((ARM / 2, 0, 0)))
        b.add(f"arm {i + 1}", "world", jn.Revolute(AXIS), outward @ jn.placement((BASE, 0, 0)), arm)
        for side, y in (("left", WIDE), ("right", -WIDE)):
            ends = {"placement_a": jn.placement((ARM, y, 0)), "placement_b": outward @ jn.placement((TIP, y, 0))}
            b.close(f"{side} rod {i + 1}", f"arm {i + 1}", "platform", jn.Distance(ROD), **ends)
    robot = b.build()
    q = robot.neutral()
    q[:3], q[7:] = (0.06, -0.05, -0.5), 0.4
    return robot, robot.project(q), {}


def platform():
    """A Stewart platform on its way."""
    robot = stewart_platform.platform()
    return robot, stewart_platform.state(robot, np.array([0.3]), 0)[0][0], {}


def standing():
    """ANYmal on four point feet, and the forces of the ground on them."""
    robot = load("anymal_b_simple_description/robots/anymal.urdf", base="floating")
    held = robot.constrained({foot: jn.Spherical() for foot in FEET})
    q = stance(held)
    found = held.constrained_inverse_dynamics(q, np.zeros((2, held.nv)), actuated=held.joint_names[1:])
    forces = {name: found.forces[name][0] for name in FEET}
    return held, q, {"wrenches": forces, "com": True, "colour": "#8d97a6", "opacity": 0.3, "least": 60}


def main():
    parts = []
    for robot, q, options in (linkage(), delta(), platform(), standing()):
        picture = shown(robot, q, size=(640, 512), scale=1.5, **options)
        width, height = picture.size
        parts.append(
            resized(
                picture.crop(tuple(round(x) for x in (0.08 * width, 0.1 * height, 0.92 * width, 0.94 * height))), 640
            )
        )
    width, height = parts[0].size
    sheet = Image.new("RGB", (2 * width, 2 * height), "white")
    for i, part in enumerate(parts):
        sheet.paste(part, (width * (i % 2), height * (i // 2)))
    sheet.save(HERE / "viewing_loops.png", optimize=True)  # too many colours for a palette


if __name__ == "__main__":
    main()
