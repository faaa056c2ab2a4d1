"""The examples run, shortened, and what they claim holds. (`flip` is in test_control.py.)"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import jounce as jn

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def example(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script that the test is named after, imported as it is when run: from its own directory."""
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module(request.function.__name__.removeprefix("test_"))


@pytest.fixture
def picture(tmp_path: Path) -> Iterator[Path]:
    """Where the script is to save its picture, which must be there in the end."""
    path = tmp_path / "new" / "picture.png"
    yield path
    assert path.stat().st_size > 20_000


def test_each_example_has_a_test() -> None:
    for path in EXAMPLES.glob("*.py"):
        assert f"test_{path.stem}" in globals() or path.stem in ("arm", "picture", "flip"), path.name


def test_torque_rate_limits(example: ModuleType, picture: Path) -> None:
    """Both ways hold the limits, and to retime costs less than half of what to slow down does."""
    clocks = example.main(picture, points=401)
    arm, x = example.add_arm(jn.Builder()).build(), np.linspace(0.0, 1.0, 401)
    end, shares = {}, {}
    for name, clock in clocks.items():
        t, share = example.times(x, clock[0]), example.share(arm, x, *clock)
        torque, rate = np.moveaxis(share * example.LIMITS, 1, 0)
        slope = np.gradient(torque, t, axis=0)[1:-1]
        np.testing.assert_allclose(slope, rate[1:-1], rtol=0, atol=3e-3 * np.abs(rate).max())
        end[name], shares[name] = t[-1], np.abs(share).max(axis=(0, 2))
    assert shares["planned"][0] < 1
    assert shares["planned"][1] > 3
    for name in ("slowed", "retimed"):
        assert 0.99 < shares[name].max() < 1  # holds, and is no slower than it must be
    assert end["retimed"] - example.PLANNED < (end["slowed"] - example.PLANNED) / 2


def test_jerk_control(example: ModuleType, picture: Path) -> None:
    """At jerk level the error decays as its triple pole says, to what the held commands leave."""
    flights = example.main(picture, duration=2.5)
    time, _, errors = flights["jerk level"]
    x = example.POLE * time
    np.testing.assert_allclose(errors[:, 1], -0.2 * (1 + x + x**2 / 2) * np.exp(-x), rtol=0, atol=2e-3)
    base = {name: np.linalg.norm(flight[2][time > 2.2, :3], axis=1).max() for name, flight in flights.items()}
    assert base["jerk level"] < 5e-4
    assert base["the same without lag"] < 5e-4
    assert base["acceleration level"] > 0.01


def test_elastic_joints(example: ModuleType, picture: Path) -> None:
    """Feed-forward of second order is exact; what it takes is that K is known."""
    worst = example.main(picture, end=0.3)
    assert worst["second order"] < 1e-5
    assert worst["rigid"] > 5
    assert worst["deflection under the weight"] > 3
    assert 0.5 < worst["second order, K 10 % wrong"] < 1

    arm, t, h = (
        example.add_arm(jn.Builder()).build(),
        0.3,
        1e-3,
    )  # B theta'' is what the springs leave of the motors' torques
    (before, _, _), (theta, _, push), (after, _, _) = (example.second_order(arm, t + d) for d in (-h, 0.0, h))
    spring = example.K * (theta - example.wanted(t)[0])
    np.testing.assert_allclose(example.B * (after - 2 * theta + before) / h**2, push - spring, rtol=1e-3, atol=1e-3)


def test_passive_control(example: ModuleType, picture: Path) -> None:
    """The storage loses what the damping takes, to rounding; the other matrix, right as a force, feeds it."""
    results = example.main(picture, end=1.2)
    storage, power, _ = results["passive C"]
    assert (np.diff(storage) < 0).all()
    assert np.abs(power).max() < 1e-10
    storage, power, _ = results["Lagrange's C"]
    assert np.diff(storage).max() > 0.1
    assert np.abs(power).max() > 100

    arm = example.add_arm(jn.Builder()).build()
    q, v, a = np.random.default_rng(0).normal(size=(3, arm.nv))
    np.testing.assert_allclose(example.lagrange(arm, q, v, v, a), arm.inverse_dynamics(q, v, a), rtol=1e-12)


def test_soft_finger(example: ModuleType, picture: Path) -> None:
    """The arm keeps to its path if the controller knows the finger; no torque is lost between motors and motion."""
    worst = example.main(picture, end=0.5)
    assert worst["soft"] < 1e-4
    assert worst["rigid"] > 10

    robot = example.robot_with_finger()
    q, v, a = np.random.default_rng(0).normal(size=(3, robot.nv)) * 0.3
    tau = robot.inverse_dynamics(q, v, a)
    mixed = np.where(np.arange(robot.nv) < 3, a, 0.0)
    acceleration, force = robot.hybrid_dynamics(q, v, mixed, tau, prescribed=np.arange(robot.nv) < 3)
    np.testing.assert_allclose(acceleration, a, rtol=0, atol=1e-7 * np.abs(a).max())
    np.testing.assert_allclose(force, tau, rtol=0, atol=1e-9 * np.abs(tau).max())
    arm = jn.load(example.ARM)
    assert robot.joint_names == (*arm.joint_names, "finger")


def test_tentacle_on_a_drone(example: ModuleType, picture: Path) -> None:
    """The base stays; the wrench is the rate of the momentum, and no energy comes from nowhere."""
    strays = example.main(picture, end=1.0)
    assert strays["hybrid dynamics"][0] < 1e-9
    assert strays["unaware"][0] > 3
    for _, momentum, energy, run in strays.values():
        assert momentum < 1e-10 * np.abs(run.tau).max()
        assert energy < 1e-5
