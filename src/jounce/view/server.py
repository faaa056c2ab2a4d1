"""viser's server, kept to what jounce needs of it: quiet, and never open to the world."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any


def start(host: str, port: int) -> Any:
    """A server on that address, at that port or the next that is free."""
    viser: Any = import_module("viser")
    with _silence():
        server = viser.ViserServer(host=host, port=port, label="jounce", verbose=False)
    server.request_share_url = _refused  # a page could ask for a tunnel to the world
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    return server


def stop(server: Any) -> None:
    """Ends it; its port is free then."""
    with _silence():
        server.stop()


def _refused(*_: object, **__: object) -> None:
    return None


@contextmanager
def _silence() -> Iterator[None]:
    """Keeps viser from printing banners."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
