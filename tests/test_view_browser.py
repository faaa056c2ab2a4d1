"""The viewer in a real browser, Chromium without a window: what it loads, draws, moves, and plays from a file."""

from __future__ import annotations

import io
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from time_limits import HANG

pytest.importorskip("viser")
pytest.importorskip("trimesh")
import viser

from jounce.view import browser as browsers

images = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.skipif(browsers.program() is None, reason="no Chromium here")

ROBOT = """<robot name="r"> <link name="base"> <visual> <origin xyz="0 0 0.1"/> <geometry> <box size="0.3 0.3 0.2"/>
    </geometry> <material name="b"> <color rgba="0.1 0.2 0.9 1"/> </material> </visual> </link>
  <link name="&lt;/script&gt;&lt;b&gt;arm"> <inertial> <mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/> </inertial> <visual> <origin xyz="0 0 0.4"/>
    <geometry> <box size="0.1 0.1 0.8"/> </geometry> <material name="m"> <color rgba="0.9 0.1 0.1 1"/> </material>
    </visual> </link>
  <joint name="turn" type="revolute"> <parent link="base"/> <child link="&lt;/script&gt;&lt;b&gt;arm"/>
    <axis xyz="0 1 0"/> <origin xyz="0 0 0.2"/> <limit lower="-2" upper="2" effort="1" velocity="1"/> </joint>
</robot>"""
ARM = "/robot/<\u2215script><b>arm"


@pytest.fixture(scope="module")
def page() -> Iterator[browsers.Browser]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with browsers.Browser(700, 500) as opened:
            yield opened


@pytest.fixture(autouse=True)
def others_may_warn() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        yield


@pytest.fixture
def no_reflections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the surroundings that are mirrored in the robot: software takes five seconds to blur them for a page."""
    configure = viser.SceneApi.configure_environment_map
    monkeypatch.setattr(viser.SceneApi, "configure_environment_map", lambda self, *_, **__: configure(self, None))


def pixels(page: browsers.Browser) -> np.ndarray:
    """What is left of the panel, red, green and blue from 0 to 1."""
    picture = images.open(io.BytesIO(page.picture())).convert("RGB")
    return np.asarray(picture, dtype=float)[:, :360] / 255


def red(picture: np.ndarray) -> np.ndarray:
    return (picture[..., 0] > 0.45) & (picture[..., 1] < 0.4) & (picture[..., 2] < 0.4)


def blue(picture: np.ndarray) -> np.ndarray:
    return (picture[..., 2] > 0.4) & (picture[..., 0] < 0.4) & (picture[..., 1] < 0.45)


def seen(page: browsers.Browser) -> np.ndarray:
    """The picture, once both links are in it and it stays as it is."""
    end, before = time.monotonic() + HANG, None
    while time.monotonic() < end:
        now = pixels(page)
        if before is not None and np.abs(now - before).mean() < 1e-3 and red(now).sum() > 50 and blue(now).sum() > 50:
            return now
        before = now
        time.sleep(0.3)
    raise TimeoutError(f"red {red(now).sum()}, blue {blue(now).sum()}")


def place(page: browsers.Browser, node: str) -> list[float]:
    found: list[float] = page.ask(f"window.__viserMutable.nodePoseData[{json.dumps(node)}].wxyz")
    return found


# --- films, each in a browser of its own; before the page is opened, which would draw on meanwhile -----------------


def test_a_video_shows_every_time(tmp_path: Path) -> None:
    robot = jn.load(ROBOT)
    motion = jn.Trajectory.of(robot, [0.0, 1.0], [[-1.2], [1.2]])
    path = motion.video(robot, tmp_path / "swing.gif", width=240, height=160, rate=4, speed=1.0, floor=False)
    video = images.open(path)
    assert (video.size, video.n_frames, video.info["duration"]) == ((240, 160), 4, 250)
    places = []
    for i in range(video.n_frames):
        video.seek(i)
        frame = np.asarray(video.convert("RGB"), dtype=float) / 255
        assert (frame[:2] > 0.97).all()  # white around it, at all times
        assert blue(frame).sum() > 20
        places.append(np.nonzero(red(frame))[1].mean())
    steps = np.diff(places)
    assert (np.abs(steps) > 3).all()  # pixels, between any two frames
    assert (np.sign(steps) == np.sign(steps[0])).all()
    rise = [robot.pose(robot.body_names[-1], [q])[0, 2] for q in (-1.2, -0.6, 0.0, 0.6)]
    assert abs(np.corrcoef(rise, places)[0, 1]) > 0.99


@pytest.mark.usefixtures("no_reflections")
def test_a_video_as_mp4(tmp_path: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    robot = jn.load(ROBOT)
    motion = jn.Trajectory.of(robot, [0.0, 1.0], [[-1.2], [1.2]])
    path = motion.video(robot, tmp_path / "swing.mp4", width=240, height=160, rate=10, speed=2.0)
    frames, seconds = ffmpeg.count_frames_and_secs(str(path))
    assert frames == 5
    assert seconds == pytest.approx(0.5, rel=0.01)


# --- pages ----------------------------------------------------------------------------------------------------------


def test_the_page_shows_every_link_and_moves_with_a_slider(page: browsers.Browser) -> None:
    robot = jn.load(ROBOT)
    with robot.show() as viewer:
        page.errors.clear()
        page.open(viewer.url)
        names = page.nodes(8)
        assert {"/robot/base", "/robot/base/box", ARM, f"{ARM}/box", "/floor"} <= set(names)
        assert page.ask("document.title") != ""
        before = seen(page)
        rows, columns = np.nonzero(red(before))
        assert np.ptp(rows) > 2.5 * np.ptp(columns)  # the arm stands upright

        page.until("document.querySelectorAll('[role=slider]').length > 0")
        page.ask("document.querySelector('[role=slider]').focus()")
        for _ in range(2):
            for kind in ("keyDown", "keyUp"):
                page.call("Input.dispatchKeyEvent", type=kind, key="End", code="End", windowsVirtualKeyCode=35)
        page.until(f"Math.abs(window.__viserMutable.nodePoseData[{json.dumps(ARM)}].wxyz[0] - Math.cos(1)) < 1e-3")
        w, x, y, z = place(page, ARM)  # turned by 2, the limit, about y
        assert (w, x, y, z) == pytest.approx((np.cos(1), 0, np.sin(1), 0), abs=1e-3)
        after = seen(page)
        assert (red(before) & red(after)).sum() < 0.7 * red(before).sum()  # it is elsewhere
        assert (blue(before) & blue(after)).sum() > 0.6 * blue(before).sum()  # the base is not
        assert not page.errors


@pytest.mark.usefixtures("no_reflections")
def test_names_stay_names(page: browsers.Browser) -> None:
    robot = jn.load(ROBOT)
    with robot.show(names=True) as viewer:
        page.open(viewer.url)
        assert f"{ARM}/name" in page.nodes(10)
        seen(page)
        assert page.ask("document.querySelectorAll('b').length") == 0


def test_a_saved_page_plays_without_a_server_or_the_network(page: browsers.Browser, tmp_path: Path) -> None:
    robot = jn.load(ROBOT)
    motion = jn.simulate(robot, [0.2], [0.2], times=np.linspace(0.0, 6.0, 13))  # beginning again takes long
    motion.show(robot, save=tmp_path / "swing.html")
    page.requests.clear()
    page.errors.clear()
    page.open((tmp_path / "swing.html").as_uri())
    assert {"/robot/base/box", f"{ARM}/box"} <= set(page.nodes(8))
    seen_at = set()
    end = time.monotonic() + HANG
    while len(seen_at) < 4 and time.monotonic() < end:
        if where := round(place(page, ARM)[2], 3):  # 0 while the scene is made anew, before it begins again
            seen_at.add(where)
        time.sleep(0.1)
        assert page.ask("getComputedStyle(document.querySelector('canvas')).opacity") == "1"  # and does not fade
    assert len(seen_at) >= 4  # it plays
    canvas = "document.querySelector('canvas')"
    page.ask(f"{canvas}.style.opacity = 0.05")
    assert page.ask(f"getComputedStyle({canvas}).opacity") == "1"  # whatever the client sets at each turn
    angles = 2 * np.arcsin(list(seen_at))
    assert motion.q.min() - 0.05 < angles.min() <= angles.max() < motion.q.max() + 0.05
    assert not page.errors
    outside = [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))]
    assert not outside


@pytest.mark.usefixtures("no_reflections")
def test_pictures_on_shapes_are_seen(page: browsers.Browser, tmp_path: Path) -> None:
    """Red on the left half of a box and blue on the right, live and from a saved page."""
    halves = np.zeros((32, 64, 3), dtype=np.uint8)
    halves[:, :32, 0] = halves[:, 32:, 2] = 200
    images.fromarray(halves).save(tmp_path / "halves.png")
    (tmp_path / "box.urdf").write_text(
        """<robot name="r"> <link name="a"> <visual> <geometry> <box size="1 1 1"/> </geometry>
        <material name="m"> <texture filename="halves.png"/> </material> </visual> </link> </robot>"""
    )
    robot = jn.load(tmp_path / "box.urdf")
    robot.show(save=tmp_path / "page.html", floor=False)
    with robot.show(floor=False) as viewer:
        for url in (viewer.url, (tmp_path / "page.html").as_uri()):
            page.errors.clear()
            page.open(url)
            page.nodes(3)
            picture = seen(page)
            assert red(picture).sum() > 2000
            assert blue(picture).sum() > 2000
            front = slice(int(0.55 * len(picture)), int(0.65 * len(picture)))  # below the top
            columns = np.nonzero(red(picture)[front].any(axis=0))[0], np.nonzero(blue(picture)[front].any(axis=0))[0]
            assert columns[0].min() < columns[1].min()
            assert not page.errors


@pytest.mark.usefixtures("no_reflections")
def test_a_picture_as_soon_as_the_page_is_open(page: browsers.Browser, tmp_path: Path) -> None:
    """It is of all of the robot, as the page shows it; a page that is just loading has its camera elsewhere."""
    robot = jn.load(ROBOT)
    with robot.show() as viewer:
        page.open(viewer.url)
        viewer.picture(tmp_path / "early.png", 320, 240)
        page.nodes(8)
        seen(page)
        viewer.picture(tmp_path / "late.png", 320, 240)
    early, late = (np.asarray(images.open(tmp_path / name).convert("RGB")) / 255 for name in ("early.png", "late.png"))
    assert np.abs(red(early).sum() - red(late).sum()) < 0.02 * red(late).sum()
    assert np.abs(early - late).mean() < 0.01


@pytest.mark.night
@pytest.mark.usefixtures("no_reflections")
def test_a_picture_of_what_moves(page: browsers.Browser, tmp_path: Path) -> None:
    """It does not wait until nothing moves any more, and the motion goes on."""
    robot = jn.load(ROBOT)
    ends = [robot.neutral(), robot.integrate(robot.neutral(), np.ones(robot.nv))]
    with jn.Trajectory.of(robot, [0.0, 2.0], ends).show(robot) as viewer:
        page.open(viewer.url)
        viewer.picture(tmp_path / "moving.png", 320, 240)
        assert viewer._player is not None
        assert viewer._player.playing
    assert red(np.asarray(images.open(tmp_path / "moving.png").convert("RGB")) / 255).sum() > 50


@pytest.mark.usefixtures("no_reflections")
def test_a_picture_from_the_browser(page: browsers.Browser, tmp_path: Path) -> None:
    robot = jn.load(ROBOT)
    with robot.show() as viewer:
        page.open(viewer.url)
        page.nodes(8)
        seen(page)
        viewer.picture(tmp_path / "robot.png", 320, 240)
    picture = np.asarray(images.open(tmp_path / "robot.png").convert("RGB"), dtype=float) / 255
    assert picture.shape == (240, 320, 3)
    assert red(picture).sum() > 50
    assert blue(picture).sum() > 50
