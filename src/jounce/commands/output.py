"""Standard output, which a command may lose: its reader ends, as of ``jounce info FILE | head -1``; a disk is full."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TextIO, cast

CLOSED_PIPE = 141  # 128 + SIGPIPE, which a shell reports for other tools


@contextmanager
def guarded_output() -> Iterator[None]:
    """Ends the program where standard output cannot be written: quietly if nobody reads it, else with one line.

    rich and typer handle this too, but differently, and not what is still in the buffer at the end.
    """
    if (stream := cast("TextIO | None", sys.stdout)) is None:  # closed before the start
        yield
        return
    guarded = _Guarded(stream)
    sys.stdout = cast("TextIO", guarded)
    try:
        yield
        guarded.flush()
    except SystemExit:
        with suppress(SystemExit):  # the first reason counts
            guarded.flush()
        raise
    finally:
        sys.stdout = stream


class _Guarded:
    """A stream, with its errors turned into the end of the program."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as fault:
            self._lost(fault)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as fault:
            self._lost(fault)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _lost(self, fault: OSError) -> NoReturn:
        with suppress(OSError):  # what is in the buffer goes nowhere, instead of failing again when Python ends
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
        if isinstance(fault, BrokenPipeError):
            raise SystemExit(CLOSED_PIPE)
        raise SystemExit(f"jounce: standard output: {fault.strerror or fault}")
