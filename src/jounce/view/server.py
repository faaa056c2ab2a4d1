"""viser's server, restricted to what jounce needs: quiet, and never open to the internet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any


def start(host: str, port: int) -> Any:
    """A server on that address, at that port or the next free one."""
    viser: Any = import_module("viser")
    with _silence():
        server = viser.ViserServer(host=host, port=port, label="jounce", verbose=False)
    server.request_share_url = _refused  # a page could request a tunnel to the internet
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    return server


def stop(server: Any) -> None:
    """Stops the server and frees its port."""
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
