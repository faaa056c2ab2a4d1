"""Films without a browser: how long they last, what their frames show, and the bar while they are made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jounce as jn

pytest.importorskip("viser")
pytest.importorskip("trimesh")
from jounce.view import video
from jounce.view.viewer import Viewer

images = pytest.importorskip("PIL.Image")


class NoBrowser:
    """Where a film takes its pictures from; it does what it is told."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __enter__(self) -> NoBrowser:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def open(self, url: str) -> None:
        pass

    ask = open


def a_picture(number: int, width: int, height: int) -> np.ndarray:
    """Its number in bits, dark and light, so that no two are alike."""
    bits = np.arange(height)[:, None] % 16
    return np.broadcast_to(255 * (number >> bits & 1)[..., None], (height, width, 3)).astype(np.uint8)


@pytest.fixture
def filmed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[Path, list[float]]]:
    """Makes a film of a motion of so many seconds; returns its path, and the times that the frames show."""
    shown: list[float] = []
    pictures: list[float] = []
    show = Viewer._show
    monkeypatch.setattr(video, "Browser", NoBrowser)
    monkeypatch.setattr(video, "_client", lambda server: None)
    monkeypatch.setattr(video, "settle", lambda *_: None)
    monkeypatch.setattr(Viewer, "_show", lambda self, t: (shown.append(t), show(self, t)))

    def drawn(client: object, width: int, height: int) -> np.ndarray:
        if width >= 48:
            pictures.append(shown[-1])
        return a_picture(len(pictures), width, height)

    monkeypatch.setattr(video, "_drawn", drawn)

    def make(name: str, seconds: float, **options: Any) -> tuple[Path, list[float]]:
        b = jn.Builder()
        b.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, com=(0, 0, 0.5)))
        motion = jn.Trajectory.of(b.build(), [1.0, 1.0 + seconds], [[0.0], [1.0]])
        path = motion.video(b.build(), tmp_path / name, width=48, height=48, **options)
        return path, pictures

    return make


def delays(path: Path) -> list[int]:
    """Of the frames of a GIF, ms."""
    with images.open(path) as film:
        found = []
        for i in range(film.n_frames):
            film.seek(i)
            found.append(film.info["duration"])
    return found


@pytest.mark.parametrize("rate", [0.7, 4, 12.5, 15, 24, 29.97, 30, 50, 60, 144])
def test_a_gif_lasts_as_long_as_the_motion(rate: float, filmed: Callable[..., Any]) -> None:
    """Its delays are whole hundredths of a second, and below two of these programs show it slowly."""
    path, at = filmed("film.gif", 3.03, rate=rate, speed=1.5)
    found = np.array(delays(path))
    assert found.sum() == pytest.approx(2020, rel=0.005)
    assert found.min() >= 20
    assert np.ptp(found) <= 10
    assert len(found) == pytest.approx(2.02 * min(rate, 50), abs=0.5)
    begins = np.concatenate([[0], np.cumsum(found)[:-1]])
    np.testing.assert_allclose(1.0 + 1.5e-3 * begins, at, rtol=0, atol=1.5 * 0.0051)  # at the speed of life, all along


@pytest.mark.parametrize("rate", [0.7, 12.5, 30])
def test_an_mp4_lasts_as_long_as_the_motion(rate: float, filmed: Callable[..., Any]) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path, at = filmed("film.mp4", 3.03, rate=rate)
    frames, seconds = ffmpeg.count_frames_and_secs(str(path))
    assert frames == len(at) == round(3.03 * rate)
    assert seconds == pytest.approx(3.03, rel=0.01)
    np.testing.assert_allclose(at, 1.0 + 3.03 * np.arange(frames) / frames, rtol=1e-12)


@pytest.mark.parametrize(("seconds", "frames"), [(0.001, 1), (0.03, 1), (0.05, 2)])
def test_films_of_an_instant(seconds: float, frames: int, filmed: Callable[..., Any]) -> None:
    path, at = filmed("film.gif", seconds, rate=50.0)
    assert len(at) == frames
    with images.open(path) as film:
        assert film.n_frames == frames


@pytest.mark.parametrize(("wanted", "shown"), [(True, True), (False, False), (None, False)])
def test_a_bar_while_a_film_is_made(
    wanted: bool | None, shown: bool, filmed: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    filmed("film.gif", 1.0, rate=7.0, progress=wanted)
    said = capsys.readouterr()
    assert said.out == ""
    assert ("7 of 7 frames" in said.err) == shown


def test_a_bar_that_is_none(filmed: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"^progress is 'yes', expected True or False$"):
        filmed("film.gif", 1.0, progress="yes")
