"""Loads robots in a separate process, so that a load that hangs or crashes fails one test and not all of them."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Any

from time_limits import HANG

MEMORY = 6 << 30  # memory limit of the process, bytes


@dataclass
class Outcome:
    """The outcome of a load: joints, or the exception's name and message; otherwise "hangs" or "breaks down"."""

    kind: str
    message: str = ""
    joints: tuple[str, ...] = ()


class Child:
    """The process; a new one if the last did not answer."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()

    def load(self, source: str, **options: Any) -> Outcome:
        """What `jounce.load` makes of a path or a text."""
        if self._process is None:
            self._start()
            assert self._answer() == "ready\n"
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([source, options]) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        if answer:
            return Outcome(*json.loads(answer))
        self.stop()
        return Outcome("hangs" if answer is None else "breaks down")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> None:
        self._process = subprocess.Popen([sys.executable, __file__], stdin=-1, stdout=-1, text=True)
        self._answers = queue.Queue()
        threading.Thread(target=self._listen, args=(self._process.stdout, self._answers), daemon=True).start()

    @staticmethod
    def _listen(stream: Any, answers: queue.Queue[str]) -> None:
        for line in stream:
            answers.put(line)
        answers.put("")  # the process has ended

    def _answer(self) -> str | None:
        try:
            return self._answers.get(timeout=HANG)
        except queue.Empty:
            return None


def main() -> None:
    import warnings

    import jounce as jn
    from jounce.loading import mjcf_compiler

    mjcf_compiler.MAX_SECONDS = 1  # so that slow loads time out soon
    mjcf_compiler.MAX_WAIT = HANG
    try:
        import resource

        import mujoco  # noqa: F401

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except ImportError:
        pass
    warnings.simplefilter("ignore")
    print("ready", flush=True)
    for line in sys.stdin:
        source, options = json.loads(line)
        try:
            answer = ["loads", "", jn.load(source, **options).joint_names]
        except Exception as fault:
            answer = [type(fault).__name__, str(fault), ()]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
