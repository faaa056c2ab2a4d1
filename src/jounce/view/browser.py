"""A browser without a window: Chrome or Chromium, by its DevTools protocol, with what viser brings and nothing more.

For videos, for the tests of the viewer, and for the pictures of the documentation.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from jounce._extras import needed

PROGRAMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
_PLACES = (  # where installers put it, outside the path
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
_PLAYWRIGHT = (
    ".cache/ms-playwright/chromium-*/chrome-linux*/chrome",
    "Library/Caches/ms-playwright/chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium",
    "AppData/Local/ms-playwright/chromium-*/chrome-win*/chrome.exe",
)
_WAIT = 300.0  # s, for a browser on a busy machine


def program() -> str | None:
    """The path of a browser, if there is one."""
    named = (shutil.which(name) for name in PROGRAMS)
    placed = (place for place in _PLACES if os.path.isfile(place))
    fetched = (str(found) for pattern in _PLAYWRIGHT for found in sorted(Path.home().glob(pattern), reverse=True))
    return next((found for found in (*named, *placed, *fetched) if found), None)


class Browser:
    """A page in a browser; everything is drawn in software, without the network but for this machine.

    Args:
        width, height: of the page, in pixels.
        scale: pixels of a picture for each of these.
        path: of the program; found when left out.
    """

    def __init__(self, width: int = 900, height: int = 600, scale: float = 1.0, path: str | None = None) -> None:
        connect = needed("websockets.sync.client", "a browser without a window").connect
        path = path or program()
        if path is None:
            raise RuntimeError(
                "this needs Chrome or Chromium, which was not found: install one, or "
                "pip install playwright && playwright install chromium"
            )
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        flags = [
            *("--headless=new", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions"),
            *(("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()),  # it refuses to start as root
            *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--remote-debugging-port=0"),
            *(
                "--hide-scrollbars",
                "--disable-background-networking",
                "--disable-component-update",
                "--no-proxy-server",
            ),
        ]
        command = [path, *flags, f"--window-size={width},{height}", f"--user-data-dir={self._folder.name}"]
        self._process = subprocess.Popen(
            [*command, "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._numbers = itertools.count(1)
        self.requests: list[str] = []
        self.errors: list[str] = []
        with ExitStack() as stack:  # whatever fails, the browser ends
            stack.callback(self._end)
            opened = connect(self._address(), max_size=None, max_queue=None, open_timeout=_WAIT, ping_interval=None)
            self._socket = stack.enter_context(opened)
            self.call("Page.enable")
            self.call("Runtime.enable")
            self.call("Network.enable")
            size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
            self.call("Emulation.setDeviceMetricsOverride", **size)
            self._open = stack.pop_all()

    def _address(self) -> str:
        """Of the page's socket, once the browser says on which port it listens."""
        import urllib.request

        said = Path(self._folder.name, "DevToolsActivePort")
        until = time.monotonic() + _WAIT
        while time.monotonic() < until and self._process.poll() is None:
            if said.exists() and len(said.read_text().splitlines()) > 1:
                url = f"http://127.0.0.1:{said.read_text().splitlines()[0]}/json"
                with urllib.request.urlopen(url, timeout=_WAIT) as answer:
                    pages = [page for page in json.load(answer) if page["type"] == "page"]
                if pages:
                    return str(pages[0]["webSocketDebuggerUrl"])
            time.sleep(0.1)
        raise RuntimeError("the browser does not start")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=_WAIT))
            if message.get("method") == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            if message.get("method") == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(message["params"]["exceptionDetails"])[:500])
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def ask(self, script: str) -> Any:
        """The value of an expression."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:500])
        return found["result"].get("value")

    def until(self, script: str) -> Any:
        """The value of an expression, once it is true."""
        end = time.monotonic() + _WAIT
        while time.monotonic() < end:
            try:
                if value := self.ask(script):
                    return value
            except RuntimeError:  # the page is still loading
                pass
            time.sleep(0.2)
        raise TimeoutError(script)

    def nodes(self, least: int = 1) -> list[str]:
        """The names of the nodes of viser's scene, once there are so many."""
        keys = "Object.keys(window.__viserSceneTree.getState())"
        self.until(f"window.__viserSceneTree && {keys}.filter(k => k.length).length >= {least}")
        return [str(name) for name in self.ask(keys)]

    def picture(self) -> bytes:
        """What it shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
