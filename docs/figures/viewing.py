"""Draws viewing.png, viewing_forces.png, viewing_robots.png, robot_in_flight.jpg: what robot.show shows, in Chromium.

python docs/figures/viewing.py     # needs 'jounce[view]', example-robot-data and Chromium
"""

import io
import sys
import sysconfig
import time
import warnings
from pathlib import Path

import numpy as np
from PIL import Image

import jounce as jn
from jounce import demo
from jounce.demo.animation import thrusts_of
from jounce.demo.looks import dressed
from jounce.view.browser import Browser

HERE = Path(__file__).parent
ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
if len(sys.argv) > 1:
    ROBOTS = Path(sys.argv[1])
FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


def load(file, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        return jn.load(ROBOTS / file, **options)


def stance(robot):
    """ANYmal with bent knees, its feet at z = 0."""
    q = robot.neutral()
    for leg, hip, knee in (("LF", 0.6, -1.2), ("RF", 0.6, -1.2), ("LH", -0.6, 1.2), ("RH", -0.6, 1.2)):
        q[robot.position(f"{leg}_HFE")], q[robot.position(f"{leg}_KFE")] = hip, knee
    q[2] -= min(robot.pose(foot, q)[2, 3] for foot in FEET) - 0.03
    return q


def settled(browser, viewer, least, panel=False):
    """The picture of the page, once it is drawn and stays so."""
    browser.open(viewer.url)
    browser.nodes(least)
    before = None
    for _ in range(100):
        time.sleep(1.0)
        browser.ask("document.querySelectorAll('[class*=Notification-root]').forEach(e => e.remove())")
        if not panel:
            browser.ask("document.querySelectorAll('.mantine-Paper-root').forEach(e => e.style.display = 'none')")
        now = browser.picture()
        if now == before:
            break
        before = now
    return Image.open(io.BytesIO(now)).convert("RGB")


def cropped(image, left, right):
    width, height = image.size
    return image.crop((int(left * width), 0, int(right * width), height))


def save(image, name):
    image.quantize(192, dither=Image.Dither.NONE).save(HERE / name, optimize=True)


def shown(robot, q, least=8, **options):
    with Browser(900, 600, 1.25) as browser, robot.show(q, **options) as viewer:
        return settled(browser, viewer, least)


def page():
    robot = load("anymal_b_simple_description/robots/anymal.urdf", base="floating")
    with Browser(1100, 640, 1.25) as browser, robot.show(stance(robot), name="robot") as viewer:
        save(settled(browser, viewer, 60, panel=True).resize((1100, 640), Image.Resampling.LANCZOS), "viewing.png")


def forces():
    """ANYmal leans forward with growing torques: forces on its feet, and their rates."""
    robot = load("anymal_b_simple_description/robots/anymal.urdf", base="floating")
    standing = robot.constrained({foot: jn.Spherical() for foot in FEET})
    q = stance(standing)
    held = standing.constrained_inverse_dynamics(q, np.zeros((3, standing.nv)), actuated=standing.joint_names[1:])
    tau = held.tau.copy()
    tau[1, standing.coordinate("LF_HFE")] = tau[1, standing.coordinate("RF_HFE")] = -60.0  # N m/s
    found = standing.constrained_dynamics(q, np.zeros(standing.nv), tau)
    picture = shown(standing, q, 60, wrenches=found.forces, com=True, opacity=0.5, force_scale=(1.5e-3, 6e-4))
    save(cropped(picture, 0.12, 0.88).resize((684, 600), Image.Resampling.LANCZOS), "viewing_forces.png")


def upright():
    """TALOS with bent knees on both feet, and the forces of the ground on them."""
    robot = load("talos_data/robots/talos_reduced.urdf", base="floating")
    q = robot.neutral()
    for side, out in (("left", 1.0), ("right", -1.0)):
        for joint, angle in ((3, -0.44), (4, 0.88), (5, -0.44)):
            q[robot.position(f"leg_{side}_{joint}_joint")] = angle
        q[robot.position(f"arm_{side}_2_joint")] = 0.25 * out
        q[robot.position(f"arm_{side}_4_joint")] = -0.7
    feet = ("left_sole_link", "right_sole_link")
    q[2] -= min(robot.pose(foot, q)[2, 3] for foot in feet)
    held = robot.constrained({foot: jn.Fixed() for foot in feet})
    found = held.constrained_inverse_dynamics(q, np.zeros((2, held.nv)), actuated=held.joint_names[1:])
    forces = {name: np.concatenate([wrench[0, :3], np.zeros(3)]) for name, wrench in found.forces.items()}
    return held, q, forces


def flight(moment):
    """The aerial manipulator of `jounce demo` at a moment of its flight, and the forces of its propellers."""
    hexarotor = demo.TiltHex()
    flown = demo.fly(jn.robots.aerial_manipulator(), step=0.1, repeats=0)
    k = round(moment / 0.1)
    thrusts = thrusts_of(hexarotor, hexarotor.speeds(flown.wrench)[k : k + 1, :2])[0]
    robot = dressed(jn.robots.aerial_manipulator(), hexarotor)
    return robot, flown.q[k], {f"p{i}": thrusts[:1, i - 1] for i in range(1, 7)}


def robots():
    panda = load("panda_description/urdf/panda.urdf")
    q = panda.neutral()
    q[:7] = [0.3, -0.4, 0, -1.9, 0, 1.6, 0.7]
    talos, standing, carried = upright()
    aerial, flying, thrusts = flight(6.0)
    b = jn.Builder()
    b.add("drone", "world", jn.Free(), inertia=jn.Inertia(0.8, rotational=(4e-3, 4e-3, 7e-3)))
    rod = jn.soft.Rod(0.3, radius=(0.02, 0.01), density=1070.0, young=1e5)
    b.add("tentacle", "drone", placement=np.diag([1.0, -1.0, -1.0, 1.0]), body=rod)
    flyer = b.build()
    bent = flyer.neutral()
    bent[7:9] = [1.9, 0.7]
    pictures = [
        shown(panda, q, 20),
        shown(talos, standing, 60, wrenches=carried, wrench_frame="body", opacity=0.45, force_scale=1.2e-3),
        shown(aerial, flying, wrenches=thrusts, force_scale=0.02),
        shown(flyer, bent),
    ]
    parts = [cropped(p, 0.25, 0.75).resize((360, 480), Image.Resampling.LANCZOS) for p in pictures]
    strip = Image.new("RGB", (4 * 360, 480), "white")
    for i, part in enumerate(parts):
        strip.paste(part, (360 * i, 0))
    strip.save(HERE / "viewing_robots.png", optimize=True)  # too many colours for a palette


def in_flight():
    """For flight.py: the aerial manipulator at 18 s, near enough to see its propellers."""
    robot, q, thrusts = flight(18.0)
    picture = shown(robot, q, wrenches=thrusts, force_scale=0.02)
    width, height = picture.size
    box = (int(0.16 * width), int(0.18 * height), int(0.84 * width), int(0.9 * height))
    picture.crop(box).save(HERE / "robot_in_flight.jpg", quality=93)


if __name__ == "__main__":
    for draw in [globals()[name] for name in sys.argv[2:]] or [page, forces, robots, in_flight]:
        draw()
