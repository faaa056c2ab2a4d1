"""What notebooks show: well-formed, short, quick, with names as plain text, for every kind of robot."""

from __future__ import annotations

import re
import sysconfig
import time
import warnings
from html import unescape
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import jounce as jn
from jounce import control, trajectory
from jounce.display import matrix_html, roots_html, trajectory_html
from jounce.display.html import path
from jounce.display.stick_figure import VIEW, stick_figure
from kinds import KINDS, TIED
from time_limits import within

ROBOTS = {name: robot.model for name, robot in {**KINDS, **TIED}.items()}
EVIL = "\"'><script>alert(1)</script>&amp;</details>"
VOID = {"img", "br"}
SHARE = Path(sysconfig.get_paths()["purelib"], "cmeel.prefix/share")
TALOS = SHARE / "example-robot-data/robots/talos_data/robots/talos_full_v2.urdf"


class Page(HTMLParser):
    """Checks that all elements are closed, in order, and collects the texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(key.startswith("on") for key, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def rows(page: str) -> list[list[str]]:
    """The rows of all tables, with what is in their cells."""
    found = re.findall(r"<tr>(.*?)</tr>", page)
    return [[unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in found]


def pictures(page: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(found) for found in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def motion_of(robot: jn.Model, count: int = 20) -> jn.Trajectory:
    rng = np.random.default_rng(9)
    q = robot.random_configuration(rng, count)
    return trajectory.of(robot, np.linspace(0, 1, count), q, *rng.normal(size=(3, count, robot.nv)))


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_every_kind_of_robot_is_shown(robot: jn.Model) -> None:
    page = robot._repr_html_()
    read = Page(page)
    assert {b.name for b in robot.bodies} <= set(read.texts)
    assert len(pictures(page)) == 1
    assert not re.search(r"\bnan\b|\binf\b", page)
    motion = motion_of(robot)._repr_html_()
    assert any(name.split(".")[0] in robot.joint_names for name in Page(motion).texts)
    assert pictures(motion)
    if robot.constraints:
        assert {c.name for c in robot.constraints} <= {text.split(":")[0] for text in read.texts}


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_every_linearization_is_shown(robot: jn.Model) -> None:
    q, rest = robot.neutral(), np.zeros(robot.nv)
    if robot.constraints:
        q = robot.project(q)
    for lin in (robot.linearize(q, rest, rest), robot.linearize(np.stack([q, q]), rest, rest)):
        page = Page(lin._repr_html_())
        assert any("jounce.Linearization: A" in text for text in page.texts)
    forces = robot.constrained_dynamics(q, rest, rest)
    assert set(robot.constraint_names) <= set(Page(forces._repr_html_()).texts)


def test_robots_without_bodies_and_motions_without_times() -> None:
    empty = jn.Builder().build()
    assert "jounce.Model: 0 bodies" in "".join(Page(empty._repr_html_()).texts)
    for count in (0, 1, 2):
        Page(motion_of(jn.robots.panda(), count)._repr_html_())


def test_names_stay_names() -> None:
    builder = jn.Builder()
    builder.add(EVIL, "world", jn.Revolute(name=EVIL + "joint"), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.add("two\nlines", EVIL, jn.Revolute(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.close(EVIL + "tie", EVIL, "world", jn.OnPlane((0, 0, 1)))
    robot = builder.build()
    shown = [robot, motion_of(robot), robot.linearize([0, 0], [0, 0], [0, 0])]
    for one in [*shown, robot.constrained_dynamics([0, 0], [0, 0], [0, 0])]:
        page = one._repr_html_()
        read = Page(page)
        assert "script" not in read.tags
        assert any("<script>" in text or "…" in text for text in read.texts), type(one)
    assert any("two\\nlines" in text for text in Page(robot._repr_html_()).texts)


def test_large_robots_are_folded_quick_and_short() -> None:
    robot = jn.robots.aerial_manipulator(5, 10)
    with within(0.5):  # far less than that on a quiet machine
        page = robot._repr_html_()
    assert len(page) < 60_000
    assert "<details><summary>51 links" in page
    assert "<details open><summary>7 links" in jn.robots.aerial_manipulator()._repr_html_()
    huge = jn.robots.aerial_manipulator(50, 20)._repr_html_()
    assert len(huge) < 100_000
    assert "and 851 more" in huge


@pytest.mark.skipif(not TALOS.exists(), reason="example-robot-data is not installed")
def test_talos_takes_less_than_50_ms() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = jn.load(TALOS, base="floating")
    assert len(robot._repr_html_()) < 40_000
    best = min(_seconds(robot) for _ in range(5))
    assert best < 0.05


def _seconds(robot: jn.Model) -> float:
    start = time.process_time()
    robot._repr_html_()
    return time.process_time() - start


def test_the_outline_of_a_ball_is_a_circle() -> None:
    """An ellipsoid of uniform density with the inertia of a ball of radius 0.3 m: it fills a tenth of a 3 m arm."""
    builder = jn.Builder()
    place = np.eye(4)
    place[2, 3] = 3.0
    builder.add("arm", "world", jn.Revolute())
    builder.add("ball", "arm", jn.Fixed(), placement=place, inertia=jn.Inertia(2.0, rotational=[0.4 * 2 * 0.3**2] * 3))
    picture = ElementTree.fromstring(stick_figure(builder.build(allow_massless=True)))
    ellipse = picture.find("ellipse")
    high = 3.0 * VIEW[1, 2] + 2 * 0.3  # of the arm as seen, and the ball at its end, around which a margin is left
    assert float(ellipse.get("rx")) == pytest.approx(float(ellipse.get("ry")), abs=0.11)
    assert float(ellipse.get("rx")) == pytest.approx(0.3 * (230 - 28) / (high - 0.3), rel=0.02)


def test_soft_bodies_are_curves() -> None:
    builder = jn.Builder()
    builder.add("rod", "world", body=jn.soft.Rod(1.0, 0.02, 1000.0, 1e6, rest=(0, 0, 1, 0, 1.0, 0)))
    (picture,) = pictures(builder.build()._repr_html_())
    curve = max((each.get("d") for each in picture.iter("path")), key=len)
    assert curve.count("l") == 32


def test_paths() -> None:
    points = np.array([[0.0, 0.04], [1.26, -2.0], [np.nan, 1.0], [3.0, 4.0], [3.5, 4.0]])
    assert path(points) == "M0 0l1.3 -2M3 4l0.5 0"


def test_sampling_keeps_the_peaks() -> None:
    at = np.linspace(0, 1, 5001)
    values = np.sin(6 * at)
    values[1234], values[4321] = 50.0, -30.0
    time_, kept = trajectory_html.sampled(at, values)
    assert len(kept) < 100
    assert (kept.max(), kept.min()) == (50.0, -30.0)
    assert (time_[0], time_[-1]) == (0.0, 1.0)
    assert (np.diff(time_) > 0).all()
    values[100:200] = np.nan
    assert np.isnan(trajectory_html.sampled(at, values)[1]).any()


def test_long_motions_are_short_pages() -> None:
    robot = jn.robots.panda()
    page = motion_of(robot, 20_000)._repr_html_()
    assert len(page) < 40_000


def test_rounding_errors_are_no_ends_of_an_axis() -> None:
    """A body that falls and hardly moves to the side: its axes end at zero, not at 4e-17."""
    robot = jn.robots.aerial_manipulator(0, 0)
    at = np.linspace(0.0, 0.5, 20)
    q, v = np.tile(robot.neutral(), (20, 1)), np.zeros((20, 6))
    q[:, 2], v[:, 2] = -4.905 * at**2, -9.81 * at
    q[5, 0], v[7, 1] = 7e-18, 4e-17
    page = Page(jn.Trajectory.of(robot, at, q, v)._repr_html_())
    assert not [text for text in page.texts if "e−" in text]
    assert {"0", "−1.226", "−4.905"} <= set(page.texts)


def pendulum(damping: float = 0.0) -> jn.Model:
    builder = jn.Builder()
    builder.add("bob", "world", jn.Revolute((0, 1, 0), damping=damping), inertia=jn.Inertia(1.0, com=(0, 0, -1)))
    return builder.build()


def test_eigenvalues_of_a_pendulum() -> None:
    up = pendulum().linearize([np.pi], [0.0], [0.0])._repr_html_()
    assert "2 eigenvalues: 1 unstable, 1 stable, 0 on the axis" in up
    assert "unstable, doubles in 0.2213 s" in up  # log 2 / sqrt(9.81)
    down = pendulum().linearize([0.0], [0.0], [0.0])._repr_html_()
    assert "0 unstable, 0 stable, 2 on the axis" in down
    assert "0 ± 3.132 i" in down
    assert "0.4985 Hz" in down  # sqrt(9.81) / 2 pi
    assert "0 unstable, 2 stable, 0 on the axis" in pendulum(0.1).linearize([0.0], [0.0], [0.0])._repr_html_()
    assert {"δ bob", "δ bob'", "τ bob"} <= set(Page(down).texts)


def test_zeros_that_coincide_are_on_the_axis() -> None:
    """A body in free fall: 12 zeros in pairs, which rounding may split."""
    robot = jn.robots.aerial_manipulator(0, 0)
    turned = robot.random_configuration(np.random.default_rng(0))
    page = robot.linearize(turned, np.zeros(6), np.zeros(6))._repr_html_()
    assert "12 eigenvalues: 0 unstable, 0 stable, 12 on the axis" in page


def test_matrices_are_pictures() -> None:
    image = pytest.importorskip("matplotlib.image")
    pixels = np.random.default_rng(0).integers(0, 256, (7, 5, 4)).astype(np.uint8)
    read = image.imread(BytesIO(matrix_html.png(pixels)), format="png")
    assert (np.round(255 * read) == pixels).all()
    robot = jn.robots.aerial_manipulator()
    page = robot.linearize(robot.neutral(), np.zeros(12), np.zeros(12))._repr_html_()
    assert page.count("data:image/png") == 2


def test_displacements_velocities_and_forces_have_names_of_their_own() -> None:
    robot = jn.robots.aerial_manipulator()
    q = robot.neutral()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # eigenvectors are almost parallel here
        page = robot.linearize(q, np.zeros(12), robot.gravity_force(q))._repr_html_()
    listed = [text for text in Page(page).texts if re.match("[δτ] ", text)]
    joints = robot.joint_names[1:]

    def named(sign: str, along: str, about: str, end: str = "") -> list[str]:
        base = [f"{sign} base.{kind}{axis}" for kind in (along, about) for axis in "xyz"]
        return base + [f"{sign} {name}{end}" for name in joints]

    assert listed == named("δ", "", "r") + named("δ", "v", "w", "'") + named("τ", "f", "n")
    assert "24 eigenvalues: 0 unstable, 0 stable, 24 on the axis" in page
    by_hand = jn.Linearization(*(np.eye(2), np.ones((2, 1))), *np.zeros((4, 1)), np.arange(1), "body")
    assert {"δ 0", "δ 0'", "τ 0"} <= set(Page(by_hand._repr_html_()).texts)


def test_eigenvalues_on_the_axis_are_in_order() -> None:
    robot = jn.robots.aerial_manipulator()
    q = robot.neutral()
    page = Page(robot.linearize(q, np.zeros(12), robot.gravity_force(q))._repr_html_())
    swings = [float(text.split()[2]) for text in page.texts if text.startswith("0 ± ")]
    assert len(swings) == 4
    assert swings == sorted(swings, reverse=True)


def test_rounding_errors_in_matrices_are_zeros() -> None:
    A = np.array([[1e-17, 1.0], [-1e9, 2e-5]])
    lin = jn.Linearization(A, np.array([[0.0], [1.0]]), *np.zeros((4, 1)), np.arange(1), "body")
    assert rows(lin._repr_html_())[1:3] == [["δ 0", "0", "1", "0"], ["δ 0'", "−1e+09", "0", "1"]]
    small = jn.Linearization(1e-20 * A, np.array([[0.0], [1e-20]]), *np.zeros((4, 1)), np.arange(1), "body")
    assert rows(small._repr_html_())[1] == ["δ 0", "0", "1e−20", "0"]


def test_equilibria_say_whether_they_are_stable() -> None:
    page = pendulum().equilibrium(q0=[0.1])._repr_html_()
    assert "jounce.Equilibrium: stable" in page


def test_one_of_a_kind_is_not_several() -> None:
    link = jn.Inertia(1.0, com=(0, 0, -0.2), rotational=(0.02, 0.02, 0.01))
    builder = jn.Builder()
    builder.add("pole", "world", jn.Revolute((0, 1, 0)), inertia=link)
    robot = builder.build()
    assert repr(robot) == "<jounce.Model: 1 body, nq = 1, nv = 1>"
    motion = jn.simulate(robot, [0.1], [0.0], [0.0])
    assert repr(motion) == "<jounce.Trajectory: 1 time, 0 to 0 s, nq = 1, nv = 1>"
    with pytest.raises(IndexError, match=r"index 4 is out of range: the trajectory has 1 time$"):
        motion[4]
    builder.add("bob", "pole", jn.Revolute((0, 1, 0)), inertia=link)
    assert repr(builder.build()) == "<jounce.Model: 2 bodies, nq = 2, nv = 2>"


def written(values: np.ndarray) -> list[str]:
    return [f"{0.0 if abs(x) < 1e-9 else x:.4g}".replace("-", "−") for x in values]


def test_equilibria_show_what_holds_them() -> None:
    robot = jn.robots.aerial_manipulator()
    page = robot.equilibrium(q0=robot.neutral(), held=["base", "q2"])._repr_html_()
    weight = 9.81 * sum(b.inertia.mass for b in robot.bodies)
    assert ["base", f"[0, 0, {weight:.4g}, 0, 0, 0]"] in rows(page)
    assert ["q2", "0"] in rows(page)


@pytest.mark.parametrize("name", TIED)
def test_forces_of_constraints_are_shown_with_their_derivatives(name: str) -> None:
    robot = TIED[name].model
    q, v = robot.project(robot.neutral()), np.zeros(robot.nv)
    tau = np.random.default_rng(2).normal(size=(3, 2, robot.nv))
    found = robot.constrained_dynamics(np.stack([q] * 3), np.stack([v] * 3), tau)
    page = found._repr_html_()
    Page(page)
    assert "the first of 3 states" in page
    shown = rows(page)
    for k in range(2):
        assert [["acc", "acc′"][k], f"[{', '.join(written(found.acc[0, k])[:10])}]"] in [
            [each[0], each[1].replace(", …", "")] for each in shown if len(each) > 1
        ]
    for tie, force in found.forces.items():
        assert [each[1:] for each in shown if each[0] == tie] == [written(force[0, 0]), written(force[0, 1])]
    words = {each[0] for each in shown}
    assert {"forces (N, N m)", "rates of forces (N/s, N m/s)"} <= words
    alone = robot.constrained_dynamics(q, v, tau[0])  # a stack, not a batch
    assert alone.stacked
    assert "states" not in alone._repr_html_()
    assert rows(alone._repr_html_()) == shown
    batch = robot.constrained_dynamics(np.stack([q] * 3), np.stack([v] * 3), tau[:, 0])
    assert not batch.stacked
    assert "the first of 3 states" in batch._repr_html_()
    assert "rates of" not in batch._repr_html_()


@pytest.mark.parametrize("name", TIED)
def test_forces_that_produce_a_motion_are_shown(name: str) -> None:
    robot = TIED[name].model
    q, rest = robot.project(robot.neutral()), np.zeros(robot.nv)
    found = robot.constrained_inverse_dynamics(np.stack([q, q]), np.zeros((2, 3, robot.nv)))  # tau and its rate
    page = found._repr_html_()
    assert found.stacked
    assert "the first of 2 states" in page
    assert {row[0] for row in rows(page)} >= {"tau", "tau′", "forces (N, N m)", "rates of forces (N/s, N m/s)"}
    for tie, force in found.forces.items():
        assert [tie, *written(force[0, 0])] in rows(page)
    alone = robot.constrained_inverse_dynamics(q, rest, rest)
    assert not alone.stacked
    assert "states" not in alone._repr_html_()
    assert rows(alone._repr_html_()) == [row for i, row in enumerate(rows(page)) if i != 1][: len(found.forces) + 2]


def test_many_orders_and_no_states() -> None:
    robot = TIED["four-bar"].model
    q, v = robot.project(robot.neutral()), np.zeros(robot.nv)
    page = robot.constrained_dynamics(q, v, np.zeros((8, robot.nv)))._repr_html_()
    assert "and 2 more orders" in page
    assert "5th rates of forces (N/s⁵, N m/s⁵)" in page
    none = robot.constrained_dynamics(np.zeros((0, robot.nq)), v, v)
    assert "acc (0, 3)" in Page(none._repr_html_()).texts[1]
    assert "impulses" not in robot.impact(np.zeros((0, robot.nq)), v)._repr_html_()


def test_rounding_errors_in_results_are_zeros() -> None:
    robot = jn.robots.panda()
    q = robot.random_configuration(3)
    held = robot.constrained_dynamics(q, np.zeros(7), robot.gravity_force(q))
    assert 0 < np.abs(held.acc).max() < 1e-10
    assert rows(held._repr_html_()) == [["acc", "[0, 0, 0, 0, 0, 0, 0]"]]
    forces = {"tie": np.array([5e3, 1e-10, 1e-2, 0, 0, 0])}
    made = jn.ConstrainedDynamics(np.array([1e-10, 1.0]), forces, np.zeros(0))
    assert rows(made._repr_html_())[::2] == [["acc", "[0, 1]"], ["tie", "5000", "0", "0.01", "0", "0", "0"]]


@pytest.mark.parametrize("name", TIED)
def test_impacts_are_shown(name: str) -> None:
    robot = TIED[name].model
    q = robot.project(robot.neutral())
    jump = robot.impact(q, np.random.default_rng(1).normal(size=robot.nv))
    shown = rows(jump._repr_html_())
    assert shown[0][1].startswith(f"[{', '.join(written(jump.v)[:3])}")
    for tie, impulse in jump.impulses.items():
        assert [tie, *written(impulse)] in shown
    assert "the first of 2 states" in robot.impact(np.stack([q, q]), np.ones(robot.nv))._repr_html_()


def test_regulators_show_gains_and_poles() -> None:
    """An inverted pendulum of 1 kg and 1 m with Q = I, R = 1: K = [g + sqrt(g^2 + 1), sqrt(1 + 2 K1)]."""
    lin = pendulum().linearize([np.pi], [0.0], [0.0])
    first = 9.81 + np.hypot(9.81, 1)
    second = np.sqrt(1 + 2 * first)
    page = control.lqr(lin, np.ones(2), np.ones(1))._repr_html_()
    assert rows(page)[:2] == [["", "δ bob", "δ bob'"], ["τ bob", f"{first:.4g}", f"{second:.4g}"]]
    slow = (-second + np.sqrt(second**2 - 4 * (first - 9.81))) / 2  # of s^2 + K2 s + K1 - g
    assert [f"−{-slow:.4g}", "", f"stable, halves in {np.log(2) / -slow:.4g} s"] in rows(page)
    assert "2 poles of the closed loop: 0 unstable, 2 stable, 0 on the axis" in page
    sampled = control.lqr(lin, np.ones(2), np.ones(1), dt=0.05)
    page = sampled._repr_html_()
    assert "held over steps of 0.05 s" in page
    assert "2 stable, 0 on the circle" in page
    for pole in np.abs(sampled.poles):
        assert f"halves in {0.05 * np.log(0.5) / np.log(pole):.4g} s" in page


def test_poles_of_sampled_systems_may_be_zero_or_negative() -> None:
    page = roots_html.poles_html(np.array([0.0, -0.5, 0.3 + 0.4j, 0.3 - 0.4j]), 0.1)
    assert rows(page)[1:] == [
        ["−0.5", "", "stable, halves in 0.1 s, 5 Hz"],
        ["0.3 ± 0.4 i", "", "stable, halves in 0.1 s, 1.476 Hz"],  # |z| = 0.5, atan2(4, 3) / 0.2 pi
        ["0", "", "stable, ends within a step"],
    ]


def test_tracking_regulators_show_gains_over_time() -> None:
    robot = jn.robots.quadrotor_arm()
    fall = jn.simulate(robot, robot.neutral(), np.zeros(robot.nv), np.linspace(0.0, 1.0, 11))
    tracking = control.tvlqr(robot, fall, np.ones(16), np.ones(6), np.ones(16), actuated=range(2, 8))
    page = tracking._repr_html_()
    texts = Page(page).texts
    assert {"largest gain on displacements", "largest gain on velocities", "K at 0 s", "K at 1 s"} <= set(texts)
    assert {"τ base.fz", "δ base.rx", "δ base.wx"} <= set(texts)
    assert f"{np.abs(tracking.K[:, :, :8]).max():.4g}" in texts
    assert f"{np.abs(tracking.K[:, :, 8:]).max():.4g}" in texts
    assert len(pictures(page)) == 1


@pytest.mark.filterwarnings("ignore:the robot does not stay in this state")
@pytest.mark.parametrize("name", KINDS)
def test_regulators_of_every_kind_of_robot_are_shown(name: str) -> None:
    model = KINDS[name].model
    q, rest = model.neutral(), np.zeros(model.nv)
    if model.constraints:
        q = model.project(q)
    lin = model.linearize(q, rest, rest)
    ones = np.ones(2 * model.nv), np.ones(model.nv)
    Page(control.lqr(lin, *ones)._repr_html_())
    times = np.linspace(0, 0.1, 4)
    tracking = control.tvlqr(model, (times, np.stack([q] * 4), *np.zeros((2, 4, model.nv))), *ones, ones[0])
    assert "u = −K(t) x, body axes, 0 to 0.1 s" in "".join(Page(tracking._repr_html_()).texts)
