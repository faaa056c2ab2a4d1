"""Calls that are cut short: by Ctrl-C, by the end of the program, by having nothing to do."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import jounce as jn
from jounce import _core
from time_limits import HANG

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")


def program(text: str) -> subprocess.CompletedProcess[str]:
    """Runs it, with a robot of 24 coordinates that takes at least 50 µs per call."""
    head = "import signal\nimport numpy as np\nimport jounce as jn\nbuilder = jn.Builder()\n"
    head += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # background processes of a shell ignore it
    head += "builder.add('rod', 'world', body=jn.soft.Rod(0.3, 0.01, 1000.0, 1e6, strain=jn.soft.polynomial(5)))\n"
    head += "robot = builder.build()\n"
    command = [sys.executable, "-c", head + textwrap.dedent(text)]
    return subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_that_compute_while_python_ends(threads: int) -> None:
    done = program(f"""
        import threading
        from jounce import _core
        _core.set_num_threads({threads})
        q = np.tile(robot.neutral(), (200, 1))
        v = np.zeros((200, robot.nv))
        turns = threading.Semaphore(0)

        def forever():
            while True:
                robot.inverse_dynamics(q, v, v)
                turns.release()

        for _ in range(4):
            threading.Thread(target=forever, daemon=True).start()
        for _ in range(12):
            turns.acquire()
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@posix
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("delay", [0.05, 0.6])
def test_interrupt(threads: int, delay: float) -> None:
    """A batch of several seconds ends within 0.2 s of Ctrl-C: of processor time, as the machine may be busy."""
    done = program(f"""
        import os, threading, time
        from jounce import _core
        _core.set_num_threads({threads})
        q = np.zeros((100_000, robot.nq))
        begin, sent = time.process_time(), []

        def interrupt():
            while time.process_time() < begin + {delay}:
                time.sleep(0.01)
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

        try:
            threading.Thread(target=interrupt).start()
            robot.mass_matrix(q)
        except KeyboardInterrupt:
            print(time.process_time() - sent[0])
        """)
    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout) < 0.2 * threads


def test_robots_without_coordinates_have_nothing_to_do() -> None:
    robot = jn.Builder().build()
    for call in (robot.inverse_dynamics, robot.forward_dynamics):
        assert call(np.zeros((10**12, 0)), np.zeros(0), np.zeros(0)).shape == (10**12, 0)
    assert robot.mass_matrix(np.zeros((10**12, 0))).shape == (10**12, 0, 0)
    assert robot.integrate(np.zeros((10**12, 0)), np.zeros(0)).shape == (10**12, 0)
    states = np.zeros((10**12, 0)), np.zeros(0), np.zeros(0)
    assert [x.shape for x in robot.forward_dynamics_derivatives(*states)] == [(10**12, 0, 0)] * 3
    assert robot.linearize(*states).A.shape == (10**12, 0, 0)


@pytest.mark.parametrize("n", [-1, 1025, 100_000])
def test_numbers_of_threads(n: int) -> None:
    with pytest.raises(ValueError, match=f"^n is {n}, expected 1 to 1024 threads, or 0 for one per core"):
        _core.set_num_threads(n)
