"""Lines of shell, run without standard input; they end when we do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import IO

# The line has a session of its own, whose processes are ended together by one that waits for the end of its input. Only
# we hold the other end, which closes when we are done and also when we are killed.
WATCHED = """exec 3<&0 </dev/null
{ cat <&3; kill 0; } >/dev/null 2>&1 &
exec 3<&- sh -c "$1"
"""
NOT_A_NEWCOMERS = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")  # variables that would change what is tested or its speed
TOO_LONG = 124  # as timeout has it
PATIENCE = 10.0  # seconds for processes to end when they are asked to


def run(
    line: str, folder: Path, *, log: IO[str] | None = None, path: Path | None = None, limit: float | None = None
) -> int:
    """The exit status of a line; TOO_LONG if it was ended after `limit` seconds.

    Output goes to `log` if there is one. `path` comes first on the PATH. What the line leaves running is ended, too.
    """
    environment = {name: value for name, value in os.environ.items() if name not in NOT_A_NEWCOMERS}
    if path:
        environment["PATH"] = os.pathsep.join([str(path), environment["PATH"]])
    sys.stdout.flush()
    process = subprocess.Popen(
        ["sh", "-c", WATCHED, "sh", line],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=None if log is None else subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdin
    try:
        return process.wait(limit)
    except BaseException as reason:  # also Ctrl-C
        process.stdin.close()
        _wait_for_all(process)
        if isinstance(reason, subprocess.TimeoutExpired):
            return TOO_LONG
        raise
    finally:
        process.stdin.close()


def _wait_for_all(process: subprocess.Popen[bytes]) -> None:
    """Until no process of its session is left; those that take too long to end are killed."""
    end = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end:
            process.poll()
            os.killpg(process.pid, 0)
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def end_like_ctrl_c() -> None:
    """Other signals, too, end us by an exception, so that processes are ended and temporary folders removed."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    for each in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) != signal.SIG_IGN:  # which nohup asks for
            signal.signal(each, end)


def last_line(log: Path) -> str:
    """Of what a command printed."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    return next(filter(None, reversed(lines)), "")
