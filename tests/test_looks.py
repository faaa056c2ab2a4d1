"""Ctrl-C is heard: at most a tenth of a second of processor time between two looks for signals, in what takes long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from jounce.dynamics import interruptible as module
from jounce.dynamics.interruptible import Gathered, States, eigenvalues, interruptible
from time_limits import HANG

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
HERE = Path(__file__).parent
START = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
import warnings
import numpy as np
import jounce as jn
from jounce import control
from looks import longest
warnings.simplefilter("ignore")
jn.set_num_threads(1)
rng = np.random.default_rng(0)
free = jn.robots.aerial_manipulator()
held = free.constrained({{"B4": jn.Spherical(), "B7": jn.Spherical()}})
q, v = held.project(held.random_configuration(rng), rng.normal(size=held.nv))
a = held.constrained_dynamics(q, v, np.zeros(held.nv)).acc

def states(count):
    return [np.tile(x, (count, 1)) for x in (q, v, a)]

def chains(count):
    builder = jn.Builder()
    link = jn.Inertia(1.0, com=(0, 0, -0.1), rotational=(0.1, 0.1, 0.1))
    for i in range(count):
        parent = "world" if i % 9 == 0 else f"b{{i - 1}}"
        builder.add(f"b{{i}}", parent, jn.Revolute((0, 1, 0)), jn.placement((0, 0, -0.1)), link)
    robot = builder.build()
    return robot.linearize(robot.neutral(), np.zeros(count), np.zeros(count))
"""
LONG = {
    "constrained inverse dynamics": """
        q, v, a = states({20_000})
        call = lambda: held.constrained_inverse_dynamics(q, v, a)""",
    "linearization under constraints": """
        q, v, a = states({8_000})
        call = lambda: held.linearize(q, v, 0 * v).reduced()""",
    "linearization in other axes": """
        q, v, a = states({50_000})
        call = lambda: free.linearize(q, v, 0 * v, frame="world")""",
    "derivatives along a motion": """
        q, v, a = states({3_000})
        call = lambda: free.forward_dynamics_derivatives(q, v, np.stack([a, a, a], axis=-2))""",
    "impacts": """
        q, v, a = states({60_000})
        call = lambda: held.impact(q, v)""",
    "inertia of constraints": """
        q, v, a = states({60_000})
        call = lambda: held.inverse_constraint_inertia(q)""",
    "soft bodies whose nodes are checked": """
        b = jn.Builder()
        b.add("rod", "world", body=jn.soft.Rod(0.3, 0.01, 1000.0, 1e5))
        soft = b.build()
        q = np.tile([0.1, -0.1, 0.31], ({5_000}, 1))  # strained too far to pass
        call = lambda: soft.forward_dynamics(q, 0 * q, 0 * q)""",
    "regulator": """
        lin = chains({220})
        n = len(lin.A) // 2
        call = lambda: control.lqr(lin, np.eye(2 * n), np.eye(n))""",
    "regulator in steps": """
        lin = chains({220})
        n = len(lin.A) // 2
        call = lambda: control.lqr(lin, np.ones(2 * n), np.ones(n), dt=0.01)""",
    "discretization": """
        lin = chains({400})
        call = lambda: lin.discretize(0.01)""",
    "Riccati equation along a motion": """
        lin = chains({150})
        n, times = len(lin.A) // 2, np.linspace(0.0, 1.0, 4)
        A, B = (np.tile(x, (4, 1, 1)) for x in (lin.A, lin.B))
        call = lambda: control.riccati(times, A, B, np.ones(2 * n), np.ones(n), np.ones(2 * n))""",
}
WHOLE = {"constrained inverse dynamics": 100_000, "regulator": 450, "regulator in steps": 450}  # as many as were tried
DAY = ("constrained inverse dynamics", "soft bodies whose nodes are checked", "regulator")


def longest(name: str, count: int | None = None) -> tuple[float, int]:
    """The most processor time between two looks, s, and how many looks there were; see looks.py."""
    text = textwrap.dedent(LONG[name]).replace("{", "").replace("}", "")
    if count is not None:
        before, _, after = textwrap.dedent(LONG[name]).partition("{")
        text = f"{before}{count}{after.partition('}')[2]}"
    program = f"{START}{text}\nprint(*longest(call))"
    one = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG, check=False, env=one
    )
    assert done.returncode == 0, done.stderr
    gap, looks = done.stdout.split()
    return float(gap), int(looks)


@posix
@pytest.mark.parametrize("name", [n if n in DAY else pytest.param(n, marks=pytest.mark.night) for n in LONG])
def test_looks(name: str) -> None:
    gap, looks = longest(name)
    assert looks > 2
    assert gap < 0.1


@posix
@pytest.mark.night
@pytest.mark.parametrize("name", WHOLE)
def test_looks_during_many_seconds(name: str) -> None:
    gap, looks = longest(name, WHOLE[name])
    assert looks > 50
    assert gap < 0.1


@posix
@pytest.mark.night
@pytest.mark.parametrize("name", ["constrained inverse dynamics", "regulator"])
def test_ctrl_c(name: str) -> None:
    """An interrupt a fifth of a second after the start ends it, not only its looks."""
    text = textwrap.dedent(LONG[name]).replace("{20_000}", "400_000").replace("{220}", "450")
    end = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
begin, sent = time.process_time(), []
def interrupt():
    while time.process_time() < begin + 0.2:
        time.sleep(0.01)
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
try:
    threading.Thread(target=interrupt).start()
    call()
except KeyboardInterrupt:
    print(time.process_time() - sent[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", f"{START}{text}{end}"], capture_output=True, text=True, timeout=HANG, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout) < 0.3


# Pieces give the same answers


def test_pieces_give_what_all_give_together(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    robot = jn.robots.aerial_manipulator()
    held = robot.constrained({"B4": jn.Spherical(), "B7": jn.OnPlane((0, 0, 1))})
    q, speed = held.project(held.random_configuration(rng, (3, 5)), rng.normal(size=(3, 5, held.nv)))
    moving = held.constrained_dynamics(q, speed, np.zeros((3, 5, 2, held.nv))).acc
    v = np.concatenate([speed[..., None, :], moving], axis=-2)
    push, tau = {"B2": rng.normal(size=(5, 6))}, rng.normal(size=(3, 1, held.nv))

    def answers() -> list[np.ndarray]:
        inverse = held.constrained_inverse_dynamics(q, v, wrenches={"B2": rng_wrenches}, wrench_frame="world")
        row = held.constrained_inverse_dynamics(q, v[..., 0, :], v[..., 1, :], wrenches=push)
        jump = held.impact(q[0], v[..., 0, :], restitution=0.5)
        lin = held.linearize(q, v[..., 0, :], tau, wrenches=push)
        turned = robot.linearize(q, v[..., 0, :], tau, actuated=[7, 6], wrenches=push, frame="mixed")
        found = [inverse.tau, inverse.multipliers, *inverse.forces.values(), row.tau, row.multipliers]
        found += [*row.forces.values(), jump.v, jump.multipliers, *jump.impulses.values()]
        found += [lin.A, lin.B, lin.lift, lin.independent, lin.acceleration, *lin.reduced()]
        found += [*robot.inverse_dynamics_derivatives(q, v), *robot.forward_dynamics_derivatives(q, v[..., 0, :], v)]
        rates = rng_rates
        change = held.constrained_dynamics_derivatives(q, v[..., 0, :], rates, wrenches={"B2": rng_wrenches})
        found += [change.acc, change.acc_q, change.acc_v, change.acc_tau]
        for each in (change.forces, change.forces_q, change.forces_v, change.forces_tau):
            found += each.values()
        found += [turned.A, turned.B, turned.q, turned.v, turned.tau, turned.acceleration]
        assert (turned.actuated.tolist(), turned.frame, turned.lift) == ([7, 6], "mixed", None)
        return [*found, held.inverse_constraint_inertia(q), soft.backbone("rod", shapes)]

    b = jn.Builder()
    b.add("rod", "world", body=jn.soft.Rod(0.3, 0.01, 1000.0, 1e5))
    soft = b.build()
    shapes = 0.1 * rng.normal(size=(3, 5, soft.nq))
    rng_rates = rng.normal(size=(3, 1, 2, held.nv))
    rng_wrenches = rng.normal(size=(5, 2, 6))
    together = answers()
    monkeypatch.setattr(module, "STATES", 4)
    for piecewise, whole in zip(answers(), together, strict=True):
        assert piecewise.shape == whole.shape
        assert np.allclose(piecewise, whole, rtol=1e-12, atol=1e-12 * np.abs(whole).max(initial=0.0))


def test_messages_name_the_state_among_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STATES", 2)
    held = jn.robots.aerial_manipulator().constrained({"B4": jn.Spherical()})
    q, v = np.tile(held.neutral(), (7, 1)), np.zeros((7, held.nv))
    v[5] = 1.0
    with pytest.raises(jn.Error, match=r"the motion breaks constraint 'B4'.*, in state 5$"):
        held.constrained_inverse_dynamics(q, v, 0 * v)


def test_arguments_that_do_not_fit_are_left_to_the_call() -> None:
    for given in ({"q": (np.zeros((3000, 2)), 1), "v": (np.zeros((2999, 2)), 1)}, {"q": ([[1], [1, 2]], 1)}):
        assert not States(3, **given).many
    assert not States(3, q=(np.zeros(2), 1), w=(None, 1)).many


def test_large_robots_have_smaller_pieces() -> None:
    for size, most in ((1, 2000), (12, 2000), (24, 250), (1000, 1)):
        (some, piece), *_ = States(size, q=(np.zeros((5000, size)), 1)).pieces()
        assert (some, len(piece["q"])) == (slice(0, most), most)


def test_gathered() -> None:
    made = Gathered((2, 3))
    made.put(slice(0, 4), {"a": np.arange(4)}, x=np.zeros((4, 2)))
    made.put(slice(4, 6), {"a": np.arange(2)}, x=np.ones((2, 2)))
    assert made["x"].tolist() == [[[0, 0]] * 3, [[0, 0], [1, 1], [1, 1]]]
    assert made.mapping["a"].tolist() == [[0, 1, 2], [3, 0, 1]]


# What another thread computes


@pytest.mark.parametrize("size", [20, 155, pytest.param(510, marks=pytest.mark.night)])
def test_eigenvalues_are_numpys(size: int) -> None:
    matrix = np.random.default_rng(size).normal(size=(size, size))
    assert np.array_equal(eigenvalues(matrix), np.linalg.eigvals(matrix))
    assert np.array_equal(eigenvalues(matrix + matrix.T), np.linalg.eigvals(matrix + matrix.T))


def test_errors_and_settings_of_the_other_thread() -> None:
    large = np.eye(200)
    with pytest.raises(np.linalg.LinAlgError):
        interruptible(np.linalg.cholesky, -large)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        interruptible(lambda x: x * 1e308 * 10, large)
    seen: list[bool] = []
    interruptible(lambda x: seen.append(threading.current_thread() is threading.main_thread()), large)
    interruptible(lambda x: seen.append(threading.current_thread() is threading.main_thread()), np.eye(3))
    assert seen == [False, True]


@posix
def test_a_signal_ends_the_wait_for_the_other_thread() -> None:
    release = threading.Event()

    def stuck(matrix: np.ndarray) -> None:
        os.kill(os.getpid(), signal.SIGUSR1)
        release.wait(HANG)

    def heard(*_: object) -> None:
        raise TimeoutError("heard")

    before = signal.signal(signal.SIGUSR1, heard)
    try:
        with pytest.raises(TimeoutError, match="heard"):
            interruptible(stuck, np.eye(200))
    finally:
        signal.signal(signal.SIGUSR1, before)
        release.set()
