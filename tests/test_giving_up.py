"""Simulations that get nowhere stop, say when and why, and return what they found; Ctrl-C stops long ones."""

from __future__ import annotations

import itertools
import math
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

import jounce as jn
from jounce.simulation import run
from jounce.simulation import simulate as simulation
from time_limits import HANG

Array = NDArray[np.float64]
Law = Callable[[float, Array, Array], Array]
METHODS = ("taylor", "rkmk", "implicit")
MASS = 2.0


class Clock:
    """Passes when it is told to, however busy the machine is."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that simulations look at."""
    stands = Clock()
    monkeypatch.setattr(run, "time", stands)
    return stands


def slider() -> jn.Model:
    builder = jn.Builder()
    builder.add("cart", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(MASS))
    return builder.build()


def noise() -> Law:
    rng = np.random.default_rng(0)
    return lambda t, q, v: rng.normal(size=(3, 1))


def drag(rate: float) -> Law:
    """v fades as exp(-rate t), with all derivatives."""
    return lambda t, q, v: MASS * v * (-rate) ** np.arange(1.0, 5.0)[:, None]


def stopped(law: Law, method: str, times: object = (0.0, 0.1), **options: object) -> jn.SimulationError:
    with pytest.raises(jn.SimulationError) as caught:
        jn.simulate(slider(), [0.0], [1.0], times, law, method=method, **options)  # type: ignore[arg-type]
    return caught.value


# Limits


@pytest.mark.parametrize("method", METHODS)
def test_noise_ends_at_the_limit_of_steps(method: str) -> None:
    error = stopped(noise(), method, max_steps=500)
    assert isinstance(error, RuntimeError)
    assert "after 502 steps, where max_steps is 500; step size fell to " in str(error)
    assert "because tau(t, q, v) differs from call to call at the same state" in str(error)


@pytest.mark.parametrize("method", METHODS)
def test_noise_stalls(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the step limit, nor a hundred times it: noise counts as soon as the limit would be exceeded at all."""
    monkeypatch.setattr(run, "WINDOW", 300)
    monkeypatch.setattr(run, "HOPELESS", math.inf)
    assert "after 300 steps: it has stalled: at the pace of the last 300, the rest would" in str(
        stopped(noise(), method)
    )


@pytest.mark.parametrize("method", ["taylor", "rkmk"])
def test_what_would_take_a_hundred_times_too_long_stalls(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "WINDOW", 300)
    error = stopped(drag(1e9), method)
    assert "after 300 steps: it has stalled" in str(error)
    assert "because the motion has rates up to 1e+09 1/s; if they fade, method 'implicit'" in str(error)


def test_the_pace_is_that_of_the_last_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow start is not a stall: what counts is the remaining part."""
    monkeypatch.setattr(run, "WINDOW", 50)
    motion = jn.simulate(slider(), [0.0], [1.0], [0, 10], lambda t, q, v: -2e4 * v * (t < 0.01), method="rkmk")
    assert motion.v[-1, 0] == pytest.approx(math.exp(-100.0), abs=1e-8)


def test_a_plain_call_ends() -> None:
    """As a user would make it, in a separate process: it takes seconds, not hours."""
    code = """
import jounce as jn
builder = jn.Builder()
builder.add("cart", "world", jn.Prismatic(), inertia=jn.Inertia(1.0))
try:
    jn.simulate(builder.build(), [0.0], [1.0], [0.0, 1.0], lambda t, q, v: -1e9 * v, method="rkmk")
except jn.SimulationError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG)
    assert "it has stalled" in done.stdout, done.stderr


def test_implicit_follows_what_is_stiff() -> None:
    motion = jn.simulate(slider(), [0.0], [1.0], [0, 0.1], lambda t, q, v: -1e9 * v, method="implicit", max_steps=200)
    assert motion.q[-1, 0] == pytest.approx(MASS / 1e9, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_time_limit(method: str, clock: Clock) -> None:
    law = noise()

    def slow(t: float, q: Array, v: Array) -> Array:
        clock.sleep(0.002)
        return law(t, q, v)

    error = stopped(slow, method, time_limit=0.3)
    assert 0.3 < clock.now < 0.35  # the current step was finished
    assert "after 0.3 s, the time_limit, and " in str(error)


def test_a_torque_that_takes_long_is_not_asked_for_reasons(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setattr(run, "_PATIENCE", 0.05)
    calls: list[float] = []

    def slow(t: float, q: Array, v: Array) -> Array:
        calls.append(t)
        clock.sleep(0.02)
        return -1e6 * v

    assert "because the tolerance cannot be met" in str(stopped(slow, "rkmk", time_limit=0.1))
    assert len(calls) == 7  # the current step was finished, and nothing after it


def test_output_times_do_not_count() -> None:
    times = np.linspace(0, 1, 501)
    assert len(jn.simulate(slider(), [0.0], [1.0], times, method="rkmk", max_steps=20)) == 501


def test_a_run_that_ends_with_its_last_step_is_complete() -> None:
    free = slider()
    fewest = next(n for n in range(1, 50) if steps_suffice(free, n))
    assert fewest > 3
    with pytest.raises(jn.SimulationError, match=f"where max_steps is {fewest - 1};"):
        jn.simulate(free, [0.0], [1.0], [0, 1], [1.0], method="rkmk", max_steps=fewest - 1)


def steps_suffice(robot: jn.Model, count: int) -> bool:
    try:
        jn.simulate(robot, [0.0], [1.0], [0, 1], [1.0], method="rkmk", max_steps=count)
    except jn.SimulationError:
        return False
    return True


def test_without_limits() -> None:
    motion = jn.simulate(slider(), [0.0], [1.0], [0, 0.01], drag(1e5), method="rkmk", max_steps=None, time_limit=None)
    assert motion.q[-1, 0] == pytest.approx(1e-5, rel=1e-4)


# Reasons, and results so far


@pytest.mark.parametrize("method", METHODS)
def test_instability_is_named(method: str) -> None:
    error = stopped(drag(-1e6), method, max_steps=60)
    assert "because the motion is unstable: it grows by a factor of e every 1e-06 s" in str(error)


@pytest.mark.parametrize("method", ["taylor", "rkmk"])
def test_damping_is_named(method: str) -> None:
    """A finger that follows a thumb, 0.3 kg each, with a ratio of -2: 2^2 1e6 N s/m on 0.3 (1 + 2^2) kg."""
    builder = jn.Builder(gravity=(0, 0, 0))
    builder.add("arm", "world", jn.Revolute((0, 0, 1), damping=1.0), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    for name, damping, follows in (("thumb", 0.0, None), ("finger", 1e6, jn.Follow("thumb", ratio=-2.0))):
        joint = jn.Prismatic((0, 0, 1), damping=damping, follows=follows)
        builder.add(name, "arm", joint, inertia=jn.Inertia(0.3))
    words = "joint 'finger' has damping 4e+06 N/(m/s), under which its motion fades at 2.67e+06 1/s; method 'implicit'"
    with pytest.raises(jn.SimulationError, match=re.escape(words)):
        jn.simulate(builder.build(), [0, 0], [0.1, 1.0], [0, 1], method=method, max_steps=60)  # type: ignore[arg-type]


def test_damping_that_is_harmless_is_not_named() -> None:
    builder = jn.Builder()
    builder.add("cart", "world", jn.Prismatic((1, 0, 0), damping=1.0), inertia=jn.Inertia(MASS))
    with pytest.raises(jn.SimulationError, match=r"because the motion has rates up to 1e\+09 1/s; if they fade"):
        jn.simulate(builder.build(), [0.0], [1.0], [0, 0.1], drag(1e9), max_steps=60)


def test_damping_in_a_file() -> None:
    """The grippers of TALOS: the fastest rate of the linearized robot is that of one of them."""
    pytest.importorskip("pinocchio")
    from urdf_peer import urdf_path

    robot = jn.load(urdf_path("talos_full_v2.urdf"), base="floating", friction=False)
    q, rest = robot.neutral(), np.zeros(robot.nv)
    fastest = np.abs(np.linalg.eigvals(robot.linearize(q, rest, rest).A)).max()
    assert round(fastest) == 886
    with pytest.raises(
        jn.SimulationError, match=r"'gripper_right_joint' has damping 1 N m/\(rad/s\), under .* fades at 886 1/s"
    ):
        jn.simulate(robot, q, rest, [0, 1], method="rkmk", max_steps=10, rtol=1e-6, atol=1e-6)


def test_damping_under_constraints() -> None:
    """Two carts of 2 kg held together by a gear move as one of 4 kg."""
    builder = jn.Builder(gravity=(0, 0, 0))
    for name, damping in (("left", 0.0), ("right", 4e6)):
        builder.add(name, "world", jn.Prismatic((1, 0, 0), damping=damping), inertia=jn.Inertia(MASS))
    builder.close("gear", "left", "right", jn.Gear((0.0, 1.0)))
    with pytest.raises(jn.SimulationError, match=r"joint 'right' has damping 4e\+06 N/\(m/s\), .* at 1e\+06 1/s"):
        jn.simulate(builder.build(), [0, 0], [1, 1], [0, 1], method="rkmk", max_steps=60)


def test_the_coordinate_in_the_way_is_named() -> None:
    """No rate and no noise: only the error itself shows it."""
    builder = jn.Builder(gravity=(0, 0, 0))
    builder.add("slow", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(1.0))
    builder.add("fast", "world", jn.Prismatic((0, 1, 0)), inertia=jn.Inertia(1.0))

    def law(t: float, q: Array, v: Array) -> Array:
        return np.array([0.0, 1e4 * np.sin(1e4 * t)])

    with pytest.raises(jn.SimulationError, match="cannot be met with longer ones, for 'fast' least of all"):
        jn.simulate(builder.build(), [0, 0], [0, 0], [0, 10], law, method="rkmk", max_steps=200)


def test_a_torque_that_fails_near_the_end_does_not_hide_why() -> None:
    asked = [0]

    def law(t: float, q: Array, v: Array) -> Array:
        asked[0] += 1
        if asked[0] > 400:
            raise ZeroDivisionError
        return -1e9 * v

    assert "max_steps is 60" in str(stopped(law, "rkmk", max_steps=60))


@pytest.mark.parametrize("method", METHODS)
def test_the_motion_so_far(method: str) -> None:
    """v = exp(-rate t): at all output times that were reached, and at the last state."""
    rate, times = 1e4, np.linspace(0, 1, 100_001)

    def law(t: float, q: Array, v: Array) -> Array:
        rows = drag(rate)(t, q, v)
        return rows if t < 1e-3 else rows * np.nan

    found = stopped(law, method, times).trajectory
    assert 10 < len(found) < 130
    np.testing.assert_array_equal(found.time[:-1], times[: len(found) - 1])
    assert found.time[-1] < 1e-3
    np.testing.assert_allclose(found.v[:, 0], np.exp(-rate * found.time), rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.a[:, 0], -rate * found.v[:, 0], rtol=0, atol=1e-2)
    np.testing.assert_allclose(found.tau, MASS * found.a, rtol=0, atol=1e-2)
    assert found.v_names == ("cart",)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_found(method: str) -> None:
    error = stopped(lambda t, q, v: np.full((2, 1), np.nan), method)
    assert len(error.trajectory) == 0
    assert "at t = 0 s: tau(t, q, v) is not finite" in str(error)


class Failing(jn.Model):
    """Its forward dynamics has no answer once it is fast."""

    def forward_dynamics(self, q: Array, v: Array, tau: Array, **options: object) -> Array:
        if np.max(v) > 2.0:
            raise ValueError("forward_dynamics has no answer: ...")
        return super().forward_dynamics(q, v, tau, **options)


@pytest.mark.parametrize("method", ["taylor", "rkmk"])
def test_where_forward_dynamics_have_no_answer(method: str) -> None:
    sound = slider()
    robot = Failing(sound.bodies, sound.gravity)
    with pytest.raises(jn.SimulationError, match=r"simulation stopped at t = \S+ s: forward_dynamics has no answer"):
        jn.simulate(robot, [0.0], [1.0], np.linspace(0, 10, 1001), [1.0], method=method)
    with pytest.raises(ValueError, match=r"^forward_dynamics has no answer"):  # at once: the robot is at fault
        jn.simulate(robot, [0.0], [3.0], [0, 1], method=method)


def test_errors_come_back_from_other_processes() -> None:
    error = stopped(drag(1e9), "rkmk", max_steps=10)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    np.testing.assert_array_equal(again.trajectory.q, error.trajectory.q)
    lost = jn.NoEquilibrium(0.5, "the weight", np.zeros(3))
    again = pickle.loads(pickle.dumps(lost))
    assert (str(again), again.part, again.q.tolist()) == (str(lost), 0.5, [0.0, 0.0, 0.0])


@pytest.mark.parametrize("method", METHODS)
def test_an_acceleration_beyond_all_numbers(method: str) -> None:
    builder = jn.Builder()
    builder.add("top", "world", jn.Free(), inertia=jn.Inertia(2.0, rotational=(0.3, 0.4, 0.5)))
    robot = builder.build()
    with pytest.raises(jn.SimulationError, match="at t = 0 s: the acceleration is not finite, ") as caught:
        jn.simulate(robot, robot.neutral(), [0, 0, 0, 1e200, 1e200, 1], [0, 1], method=method)
    assert len(caught.value.trajectory) == 0
    with pytest.raises(jn.SimulationError, match="at t = 0 s"):  # itself finite
        jn.simulate(robot, robot.neutral(), [0, 0, 0, 1e200, 1, 1], [0, 1], method=method)


BAD = [
    ({"times": [-1e308, 1e308]}, r"times go from -1e\+308 to 1e\+308 s, expected a finite time between them"),
    ({"max_steps": 0}, r"max_steps is 0, expected 1 to \d+"),
    ({"max_steps": 10.0}, r"max_steps is 10\.0, expected 1 to"),
    ({"max_steps": True}, "max_steps is True, expected 1 to"),
    ({"max_steps": "many"}, "max_steps is 'many', expected 1 to"),
    ({"time_limit": 0}, r"time_limit is 0\.0, expected a positive number of seconds, or None"),
    ({"time_limit": math.inf}, "time_limit is inf, expected a positive"),
    ({"time_limit": math.nan}, "time_limit is nan, expected a number"),
    ({"time_limit": "1 s"}, "time_limit is '1 s', expected a number"),
    ({"progress": "yes"}, "progress is 'yes', expected True or False"),
    ({"order": 2.0}, r"order is 2\.0, expected 1 to 30"),
    ({"order": True}, "order is True, expected 1 to 30"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[m for _, m in BAD])
def test_bad_limits(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        jn.simulate(slider(), [0.0], [1.0], **({"times": [0, 1]} | options))  # type: ignore[arg-type]


# Silence


def test_a_long_run_without_a_bar_says_that_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "_SILENCE", 0.0)
    with pytest.warns(RuntimeWarning, match=r"come to t = \S+ s of 1 s after 0 s and 1 step; time_limit") as told:
        jn.simulate(slider(), [0.0], [1.0], [0, 1], [1.0], method="rkmk")
    assert [each.filename for each in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jn.simulate(slider(), [0.0], [1.0], [0, 1], [1.0], method="rkmk", progress=False)


def test_a_long_run_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "time", SimpleNamespace(monotonic=itertools.count().__next__))  # a second a step
    builder = jn.Builder()
    builder.add("cart", "world", jn.Prismatic(damping=2e6), inertia=jn.Inertia(MASS))
    words = "after 60 s and 60 steps, because joint 'cart' has damping 2e+06 N/(m/s), under which its motion fades at"
    with pytest.warns(RuntimeWarning, match=re.escape(words)):
        jn.simulate(builder.build(), [0.0], [1.0], [0, 1e-3], method="rkmk")


def test_the_bar_appears_where_no_step_is_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr("jounce.display.progress._PATIENCE", 0.0)
    monkeypatch.setattr(simulation.sys.stderr, "isatty", lambda: True)

    def rejected(t: float, q: Array, v: Array) -> Array:
        return np.array([np.sign(t - 1e-12) * 1e9])

    stopped(rejected, "rkmk", max_steps=3)
    assert "simulation 0.00 of 0.10 s" in capsys.readouterr().err


# Ctrl-C

LONG = {
    **{
        f"simulate, {method}": f"""
rng = np.random.default_rng(0)
builder = jn.Builder()
builder.add("cart", "world", jn.Prismatic(), inertia=jn.Inertia(1.0))
def forever():
    noise = lambda t, q, v: rng.normal(size=(3, 1))
    jn.simulate(builder.build(), [0.0], [1.0], [0.0, 100.0], noise, method={method!r}, max_steps=None)
"""
        for method in METHODS
    },
    "equilibrium": """
bend = jn.soft.constant_curvature()
builder = jn.Builder()
for i in range(30):
    builder.add(f"rod {i}", "world" if i == 0 else f"rod {i - 1}", body=jn.soft.Rod(0.1, 0.01, 1e3, 1e5, strain=bend))
robot = builder.build()
def forever():
    while True:
        with suppress(jn.NoEquilibrium):  # which takes seconds to find out
            robot.equilibrium(tau=np.full(robot.nv, 1e-3))
""",
    "tvlqr": """
robot = jn.robots.quadrotor_arm()
time = np.linspace(0.0, 1.0, 2001)
motion = time, np.tile(robot.neutral(), (2001, 1)), np.zeros((2001, 8)), np.zeros((2001, 8))
def forever():
    while True:
        jn.control.tvlqr(robot, motion, np.ones(16), np.ones(8), np.ones(16))
""",
    "closed_form": """
robot = jn.robots.aerial_manipulator()
def forever():
    while True:
        robot.closed_form(robot.neutral(), np.ones((3, robot.nv)))
""",
}
START = """
import os, signal, threading, numpy as np, jounce as jn
from contextlib import suppress
from time import process_time, sleep
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
"""
END = """
begin, sent = process_time(), []
def interrupt():
    while process_time() < begin + 0.3:
        sleep(0.01)
    sent.append(process_time())
    os.kill(os.getpid(), signal.SIGINT)
try:
    threading.Thread(target=interrupt).start()
    forever()
except KeyboardInterrupt:
    print(process_time() - sent[0])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
@pytest.mark.parametrize("name", LONG)
def test_interrupted(name: str) -> None:
    """The rest of an iteration takes up to a tenth of a second of processor time here."""
    command = [sys.executable, "-c", START + LONG[name] + END]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG)
    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout) < 1.0
