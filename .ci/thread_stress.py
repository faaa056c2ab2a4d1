"""Threads made to collide as often as possible: under the thread sanitizer (.ci/sanitize thread), or without.

Eight of them request batches of shared robots and of robots that come and go, while others change the number of
threads, interrupt, and fork. Each answer has to equal that of a single thread, bit by bit.
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import jounce as jn
from jounce import _core

STATES = 300
NUMBERS = (0, 1, 2, 3, 4, 7, 12)


def robots() -> list[jn.Model]:
    heavy = jn.Inertia(1.0, com=(0.1, 0.0, 0.2), rotational=(0.1, 0.1, 0.1))
    coupled = jn.Builder()
    coupled.add("base", "world", jn.Free(), inertia=heavy)
    coupled.add("arm", "base", jn.Revolute((1, 0, 0), name="elbow"), inertia=heavy)
    coupled.add("hand", "arm", jn.Revolute((0, 1, 0), follows=jn.Follow("elbow", 2.0)), inertia=heavy)
    soft = jn.Builder()
    soft.add("rod", "world", body=jn.soft.Rod(0.3, 0.01, 1000.0, 1e6, nodes=3))
    standing = coupled.build().constrained({"hand": jn.Spherical()})
    return [jn.robots.aerial_manipulator(), coupled.build(), soft.build(), standing]


def questions(robot: jn.Model) -> dict[str, Callable[[jn.Model], Any]]:
    """Calls of large batches, by name."""
    rng = np.random.default_rng(1)
    q = robot.random_configuration(rng, STATES)
    v = rng.uniform(-1, 1, (STATES, 4, robot.nv))
    body = robot.body_names[-1]
    push = {body: rng.uniform(-1, 1, (STATES, 6))}
    calls: dict[str, Callable[[jn.Model], Any]] = {
        "inverse": lambda robot: robot.inverse_dynamics(q, v),
        "pushed": lambda robot: robot.inverse_dynamics(q, v[:, 0], v[:, 1], wrenches=push),
        "forward": lambda robot: robot.forward_dynamics(q, v[:, 0], v[:, 1:3]),
        "mass": lambda robot: robot.mass_matrix(q),
        "jacobian": lambda robot: robot.jacobian_derivatives(body, q, v),
        "partials": lambda robot: robot.inverse_dynamics_derivatives(q, v[:, 0], v[:, 1])[0],
        "kinematics": lambda robot: robot.forward_kinematics(q, v).pose,
        "difference": lambda robot: robot.difference(q, q[::-1].copy()),
    }
    if robot.constraints:
        calls["rows"] = lambda robot: robot.constraint_jacobian_derivatives(q, v)
        calls["forces"] = lambda robot: robot.constrained_dynamics(q, v[:, 0], v[:, 1:3]).multipliers
        calls["slopes"] = lambda robot: robot.constrained_dynamics_derivatives(q, v[:, 0], v[:, 1]).acc_q
    return calls


class Stress:
    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.robots = robots()
        self.asked = [questions(robot) for robot in self.robots]
        _core.set_num_threads(1)
        self.truth = [
            {k: np.array(ask(r)) for k, ask in all_.items()} for r, all_ in zip(self.robots, self.asked, strict=True)
        ]
        self.calls = [0] * 8
        self.wrong: list[str] = []
        self.interruptible = False

    def going(self) -> bool:
        return time.monotonic() < self.end and not self.wrong

    def ask(self, i: int) -> None:
        """One of the eight threads: every other one has robots of its own, rebuilt now and then."""
        try:
            rng = np.random.default_rng(i)
            own = list(self.robots)
            while self.going():
                which = int(rng.integers(len(own)))
                name = str(rng.choice(list(self.asked[which])))
                if i % 2 and rng.random() < 0.05:
                    own[which] = pickle.loads(pickle.dumps(own[which]))
                found = self.asked[which][name](own[which])
                if not np.array_equal(found, self.truth[which][name]):
                    self.wrong.append(f"{name} of {own[which]!r} differs from what one thread gives")
                self.calls[i] += 1
        except Exception as error:
            self.wrong.append(f"{type(error).__name__}: {error}")

    def change(self) -> None:
        """Changes the number of threads, all the time."""
        rng = np.random.default_rng(99)
        while self.going():
            _core.set_num_threads(NUMBERS[int(rng.integers(len(NUMBERS)))])
            time.sleep(0.002)

    def heard(self, *_: object) -> None:
        """Ctrl-C, which ends one call and nothing else."""
        if self.interruptible:
            self.interruptible = False
            raise KeyboardInterrupt

    def interrupt(self) -> None:
        while self.going():
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)

    def run(self, fork: bool) -> str:
        others = [threading.Thread(target=self.ask, args=(i,)) for i in range(8)]
        others += [threading.Thread(target=f) for f in (self.change, self.interrupt)]
        robot, ask = self.robots[2], self.asked[2]["mass"]
        interrupted = forks = 0
        signal.signal(signal.SIGINT, self.heard)
        for thread in others:
            thread.start()
        while self.going() or any(thread.is_alive() for thread in others):
            try:  # the main thread receives Ctrl-C
                self.interruptible = True
                ask(robot)
                robot.mass_matrix(np.zeros((20_000, robot.nq)))
                self.interruptible = False
            except KeyboardInterrupt:
                interrupted += 1
            if fork and forks < 20:
                forks += self.forked()
        for thread in others:
            thread.join()
        return f"{sum(self.calls)} calls, {interrupted} interrupts, {forks} forks"

    def forked(self) -> int:
        """A process that has none of the pool's threads starts afresh."""
        child = os.fork()
        if child == 0:
            _core.set_num_threads(4)
            same = np.array_equal(self.asked[0]["inverse"](self.robots[0]), self.truth[0]["inverse"])
            os._exit(0 if same else 1)
        if os.waitpid(child, 0)[1] != 0:
            self.wrong.append("a forked process gives something else, or dies")
        return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    stress = Stress(given.seconds)
    # The thread sanitizer's runtime does not survive a fork while other threads run.
    counts = stress.run(fork="libtsan" not in os.environ.get("LD_PRELOAD", ""))
    print("\n".join([*stress.wrong[:10], f"{counts}: {'no' if not stress.wrong else len(stress.wrong)} findings"]))
    return 1 if stress.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
