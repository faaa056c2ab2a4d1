"""Draws viewing.png, viewing_forces.png, viewing_robots.png, viewing_textures.png, robot_in_flight.jpg.

What robot.show shows, in Chromium:

python docs/figures/viewing.py     # needs '.[mjcf,view]', example-robot-data and Chromium
"""

import io
import sys
import sysconfig
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops, ImageDraw

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


def resized(image, width):
    return image.resize((width, round(width * image.height / image.width)), Image.Resampling.LANCZOS)


def save(image, name):
    image.quantize(256, dither=Image.Dither.NONE).save(HERE / name, optimize=True)


def shown(robot, q, least=8, size=(900, 600), scale=1.25, **options):
    with Browser(*size, scale) as browser, robot.show(q, **options) as viewer:
        return settled(browser, viewer, least)


def page():
    robot = load("anymal_b_simple_description/robots/anymal.urdf", base="floating")
    with Browser(1280, 660, 1.5) as browser, robot.show(stance(robot), name="robot") as viewer:
        picture = cropped(settled(browser, viewer, 60, panel=True), 0.14, 1.0)  # it leaves as much room on either side
        save(
            picture.resize((1400, round(1400 * picture.height / picture.width)), Image.Resampling.LANCZOS),
            "viewing.png",
        )


def forces():
    """ANYmal leans forward with growing torques: forces on its feet, and their rates."""
    robot = load("anymal_b_simple_description/robots/anymal.urdf", base="floating")
    standing = robot.constrained({foot: jn.Spherical() for foot in FEET})
    q = stance(standing)
    held = standing.constrained_inverse_dynamics(q, np.zeros((3, standing.nv)), actuated=standing.joint_names[1:])
    tau = held.tau.copy()
    tau[1, standing.coordinate("LF_HFE")] = tau[1, standing.coordinate("RF_HFE")] = -60.0  # N m/s
    found = standing.constrained_dynamics(q, np.zeros(standing.nv), tau)
    look = {"com": True, "colour": "#8d97a6", "opacity": 0.4, "force_scale": (3.2e-3, 1.4e-3)}
    picture = shown(standing, q, 60, scale=2, wrenches=found.forces, **look)
    width, height = picture.size
    close = picture.crop((int(0.18 * width), int(0.18 * height), int(0.84 * width), int(0.93 * height)))
    save(resized(close, 1080), "viewing_forces.png")


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


def lettered(text, size, ground, ink):
    """A picture that tells left from right, and up from down."""
    image = Image.new("RGB", size, ground)
    draw, (width, height) = ImageDraw.Draw(image), size
    draw.rectangle([0, 0, width - 1, height - 1], outline=ink, width=width // 24)
    draw.polygon([(0, 0), (width // 3, 0), (0, height // 3)], fill=ink)
    draw.text((width / 2, height / 2), text, fill=ink, font_size=0.55 * height, anchor="mm")
    return image


SHAPES = ('type="box" size=".3 .3 .35"', 'type="sphere" size=".35"', 'type="cylinder" size=".27 .35"',
          'type="capsule" size=".22 .2"')  # fmt: skip
SIDES = {
    "right": "#c8553d",
    "left": "#588157",
    "up": "#33658a",
    "down": "#dd9e2f",
    "front": "#5f9ea0",
    "back": "#8d5a97",
}


def textures():
    """Shapes with textures of MuJoCo's, on steps."""
    kinds = {
        "flat": ('type="2d" file="flat.png"', ""),
        "tinted": ('type="2d" file="flat.png"', 'rgba="0.55 0.85 1 1" texrepeat="4 3"'),
        "six": (" ".join(f'file{side}="{side}.png"' for side in SIDES), ""),
        "gradient": ('builtin="gradient" width="256" height="256" rgb1="0.95 0.75 0.4" rgb2="0.35 0.2 0.5"', ""),
        "board": ('type="2d" builtin="checker" width="256" height="256" rgb1=".62 .66 .7" rgb2=".74 .77 .8"',
                  'texrepeat="8 2"'),
    }  # fmt: skip
    assets = "".join(
        f'<texture name="{k}" {t}/> <material name="{k}" texture="{k}" {m}/>' for k, (t, m) in kinds.items()
    )
    geoms = "".join(
        f'<geom type="box" size="2.2 .5 {0.2 + 0.2 * j}" pos="0 {j - 1.5} {0.2 + 0.2 * j}" material="board"/>'
        + "".join(
            f'<geom {shape} material="{kind}" pos="{1.05 * i - 1.6} {j - 1.5} {0.76 + 0.4 * j}" euler="0 0 25"/>'
            for i, kind in enumerate(list(kinds)[:4])
        )
        for j, shape in enumerate(SHAPES)
    )
    with tempfile.TemporaryDirectory() as folder:
        lettered("A", (384, 288), "#e0a526", "#7a0c0c").save(Path(folder, "flat.png"))
        for side, ground in SIDES.items():
            lettered(side[0].upper(), (256, 256), ground, "#22223b").save(Path(folder, f"{side}.png"))
        Path(folder, "scene.xml").write_text(
            f"""<mujoco> <asset> {assets} </asset>
            <worldbody> <body euler="0 0 33"> {geoms} </body> </worldbody> </mujoco>"""
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jn.LoadWarning)
            scene = jn.load(Path(folder, "scene.xml"))
        picture = shown(scene, scene.neutral(), 17, scale=2, floor=False)
    left, top, right, bottom = ImageChops.invert(picture).getbbox()
    close = picture.crop((left - 40, top - 30, right + 40, bottom + 30))
    resized(close, 1000).save(HERE / "viewing_textures.png", optimize=True)  # too many colours for a palette


def in_flight():
    """For flight.py: the aerial manipulator at 18 s, near enough to see its propellers."""
    robot, q, thrusts = flight(18.0)
    picture = shown(robot, q, wrenches=thrusts, force_scale=0.02)
    width, height = picture.size
    box = (int(0.16 * width), int(0.18 * height), int(0.84 * width), int(0.9 * height))
    picture.crop(box).save(HERE / "robot_in_flight.jpg", quality=93)


if __name__ == "__main__":
    for draw in [globals()[name] for name in sys.argv[2:]] or [page, forces, robots, textures, in_flight]:
        draw()
