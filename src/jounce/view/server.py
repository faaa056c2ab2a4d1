"""viser's server, restricted to what jounce needs: quiet, for its own pages only, never open to the internet.

A browser lets any web page open a socket to any address, this machine's own included, and says which page asks in the
header Origin. viser does not look at it, so a page from anywhere could read the scene and move the sliders. Here a
socket is opened only to a page that came from this very server.
"""

from __future__ import annotations

import http
import ipaddress
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from jounce._checks import quoted
from jounce._extras import needed

_starting = threading.Lock()
_SILENT = 2.0  # s; browsers keep connections in reserve, and a server that stops waits for them to say what they are


def start(host: str, port: int) -> Any:
    """A server on that address, at that port or the next free one."""
    _check_address(host, port)
    viser = needed("viser", "showing robots")
    _remember_hints()
    with _starting, _silence(), _guarded(host):
        server = viser.ViserServer(host=host, port=port, label="jounce", verbose=False)
    server.request_share_url = _refused  # a page could request a tunnel to the internet
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    return server


def _check_address(host: str, port: int) -> None:
    """Raises an error if this machine cannot listen there; viser would wait for its server forever."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as tried:
            tried.bind(address)
    except (OSError, UnicodeError) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        raise ValueError(f"host is {quoted(host)}, where this machine cannot listen: {reason}") from None
    for each in range(port, 65536):
        try:
            with socket.socket(family, kind, protocol) as tried:
                tried.bind((address[0], each, *address[2:]))
                return
        except OSError:
            continue
    raise ValueError(f"port is {port}, which is taken, and so are all after it")


def stop(server: Any) -> None:
    """Stops the server and frees its port."""
    with _silence():
        server.stop()


def may_connect(host: str, origin: str | None, asked: str | None) -> bool:
    """Whether a page may open a socket.

    Args:
        host: the address that the server listens on.
        origin: where the page comes from, as its browser says; None for programs that are not browsers.
        asked: the name and port by which it asked for this server.

    >>> may_connect("127.0.0.1", "http://localhost:8080", "localhost:8080")
    True
    >>> may_connect("127.0.0.1", "https://example.org", "127.0.0.1:8080")
    False
    """
    if origin is None:
        return True
    try:
        page, server = urlsplit(origin), urlsplit(f"//{asked or ''}")
        same = page.scheme in ("http", "https") and page.netloc.lower() == server.netloc.lower() != ""
        name = server.hostname or ""
    except ValueError:
        return False
    return same and (_is_here(name) or not _is_here(host))


def _is_here(name: str) -> bool:
    """Whether a name is this machine's own: a name of any other kind can be made to lead here by whoever owns it."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name.lower() == "localhost"


def _remember_hints() -> None:
    """Lets viser ask once per class, not once per node, what its properties are: a quarter of the time of a scene."""
    handles = sys.modules.get("viser._assignable_props_api")
    ask = getattr(handles, "get_type_hints", None)
    if ask is not None and not hasattr(ask, "cache_info"):
        handles.__dict__["get_type_hints"] = cache(ask)


@contextmanager
def _guarded(host: str) -> Iterator[None]:
    """Makes the server that viser starts meanwhile refuse the sockets of other pages."""
    sockets = needed("websockets.asyncio.server", "showing robots")
    serve, guarded = sockets.serve, []

    def serve_guarded(*args: Any, **options: Any) -> Any:
        if getattr(options.get("process_request"), "__module__", "").startswith("viser."):
            options["process_request"] = _checked(host, options["process_request"])
            options["open_timeout"] = _SILENT
            guarded.append(True)
        return serve(*args, **options)

    sockets.serve = serve_guarded
    try:
        yield
    finally:
        sockets.serve = serve
    if not guarded:
        raise RuntimeError("this version of viser starts its server in a way that jounce cannot guard: use viser 1.1")


def _checked(host: str, answer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def process_request(connection: Any, request: Any) -> Any:
        said = request.headers
        if said.get("Upgrade") and not may_connect(host, said.get("Origin"), said.get("Host")):
            return connection.respond(http.HTTPStatus.FORBIDDEN, "not from this page\n")
        return answer(connection, request)

    return process_request


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
