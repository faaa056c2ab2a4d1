"""The live viewer: robots and motions on a page that this machine serves to its own browser."""

from __future__ import annotations

import threading
import time
import webbrowser
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import flag, printable, quoted, real, whole
from jounce._extras import needed
from jounce.parts.visual import Colour
from jounce.view import ties
from jounce.view.arrows import TwistArrows, WrenchArrows, Wrenches, twists
from jounce.view.camera import set_stage
from jounce.view.film_files import checked_path
from jounce.view.following import Following
from jounce.view.mesh_files import SECONDS
from jounce.view.motion import Motion
from jounce.view.names import node_name
from jounce.view.overlays import KINDS, Overlays
from jounce.view.page import legend_lines, write_page
from jounce.view.player import Player
from jounce.view.scene import DrawnRobot, Paint
from jounce.view.server import start, stop
from jounce.view.sliders import Sliders
from jounce.view.style import RGB
from jounce.view.traces import draw_traces
from jounce.view.video import frames, settle, write_video

Array = NDArray[np.float64]
_LOOKS = 200  # times at which it is looked how far a motion reaches
_FEW = 25
_JUST_OPENED = 20.0  # s, in which a page gets its camera on a busy machine


@dataclass(frozen=True, eq=False)
class Look:
    """How one robot is shown.

    Attributes:
        name: of the robot.
        paint: colour and opacity.
        placement: (4, 4) of the robot's world on the page.
        overlays: which of `KINDS` are shown.
        wrenches: on it.
        force_scale: see `WrenchArrows`.
        twists: names of bodies and frames whose twists are shown.
        traces: names of bodies and frames whose paths are shown.
        mesh_seconds: see `DrawnRobot`.
        follow: name of the body or frame that the view follows.
    """

    name: str = "robot"
    paint: Paint = field(default_factory=Paint)
    placement: Array = field(default_factory=lambda: np.eye(4))
    overlays: frozenset[str] = frozenset()
    wrenches: Wrenches | None = None
    force_scale: Any = None
    twists: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    mesh_seconds: float = SECONDS
    follow: str | None = None


class _Shown:
    """A robot, its motion, and its overlays."""

    def __init__(self, scene: Any, motion: Motion, look: Look) -> None:
        self.motion, self.look = motion, look
        q = motion.q[0]
        placed = look.name, look.paint, look.placement
        self.drawn = DrawnRobot(scene, motion.robot, q, *placed, mesh_seconds=look.mesh_seconds)
        self.overlays = Overlays(self.drawn)
        self.forces = None
        if look.wrenches is not None:
            self.forces = WrenchArrows(self.drawn, look.wrenches, motion.q, look.force_scale)
        self.twists = self._twist_arrows() if look.twists else None
        self.traces = draw_traces(self.drawn, motion, look.traces) if look.traces else []
        for kind in look.overlays:
            self.overlays.show(kind, True)
        self.show(float(motion.time[0]))

    def show(self, time: float) -> None:
        self.place(*self.motion.at(time), self.motion.sample(time))

    def place(self, q: Array, v: Array | None, sample: float) -> None:
        poses = self.drawn.place(q)
        self.overlays.place(q)
        if self.forces is not None:
            self.forces.place(sample, poses)
        if self.twists is not None and v is not None:
            self.twists.place(q, v)

    def reach(self, following: Following | None = None) -> tuple[Array, float]:
        """The minimum and maximum x, y and z (2, 3) of all that is shown over time, and the least z of the robot.

        If it is followed, where it is seen, and without what stands around it.
        """
        every, lowest = [], np.inf
        for sample in self._looks().tolist():
            q, v = self.motion.at_sample(sample)
            box, low = self.drawn.reach(q, following is None)
            beside = self.drawn.in_scene(self._beside(q, v, sample))
            shift = following.shift(q) if following else np.zeros(3)
            every.append(shift + np.stack([np.min([box[0], *beside], axis=0), np.max([box[1], *beside], axis=0)]))
            lowest = min(lowest, low)
        return np.stack([np.min([b[0] for b in every], axis=0), np.max([b[1] for b in every], axis=0)]), lowest

    def _looks(self) -> Array:
        """Samples at which it is looked: all, unless they are many; between few; where forces are largest."""
        last = len(self.motion.time) - 1
        every = np.arange(last + 1.0) if last < _LOOKS else np.linspace(0, last, _LOOKS).round()
        few = np.linspace(0, last, _FEW) if last < _FEW else np.zeros(0)
        forces = np.zeros(0) if self.forces is None else self.forces.largest
        return np.unique(np.concatenate([every, few, forces]))

    def _beside(self, q: Array, v: Array | None, sample: float) -> Array:
        """(n, 3) the ends of arrows, and signs, in the world of the robot."""
        found = [self.overlays.points()]
        if self.forces is not None:
            robot = self.drawn.robot
            poses = robot.forward_kinematics(q, frames=robot.frame_names).pose
            found.append(self.forces.ends(sample, poses))
        if self.twists is not None and v is not None:
            found.append(self.twists.ends(q, v))
        return np.concatenate(found)

    def legend(self) -> list[tuple[RGB, str]]:
        """A colour and a label for each kind of arrow, with its scale, and for each path."""
        arrows = [a for *_, a in self.forces.kinds] if self.forces else []
        arrows += [a for _, a in self.twists.kinds] if self.twists else []
        lines = []
        for a in arrows:
            if a.scale > 0:
                lines.append((a.colour, f"{a.label}: 0.1 m is {0.1 / a.scale:.3g} {a.unit}"))
        signs = ties.legend(self.motion.robot.constraints) if "constraints" in self.look.overlays else []
        return [*lines, *self.traces, *signs, *self.drawn.remarks]

    def _twist_arrows(self) -> TwistArrows:
        assert self.motion.v is not None
        _, every = twists(self.motion.robot, self.motion.q, self.motion.v, self.look.twists)
        largest = [float(np.linalg.norm(every[..., part], axis=-1).max()) for part in (slice(0, 3), slice(3, 6))]
        return TwistArrows(self.drawn, self.look.twists, (largest[0], largest[1]))


class Viewer:
    """Robots in a browser. Made by `Model.show` and `Trajectory.show`; ended by `close` or a ``with`` block.

    Args:
        host: address to listen on; 127.0.0.1 is this machine only.
        port: to listen on; the next free one if it is taken.
        floor: height of the floor, m; True for one below the robot, False for none.

    Attributes:
        url: where the page is.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 8080, floor: bool | float = True) -> None:
        if not isinstance(host, str) or not host:
            raise ValueError(f"host is {quoted(host)}, expected an address, such as '127.0.0.1'")
        self._server = start(host, whole("port", port, 1, 65535))
        self._opened: dict[int, float] = {}  # when, by the number of a page
        self._seen: set[int] = set()  # of these, which have drawn all
        self._server.on_client_connect(lambda c: self._opened.update({c.client_id: time.monotonic()}))
        self._floor = floor
        self._lock = threading.RLock()
        self._shown: dict[str, _Shown] = {}
        self._followed: tuple[_Shown, Following] | None = None
        self._names: set[str] = set()
        self._player: Player | None = None
        self._boxes: dict[str, Any] = {}
        self._legend: Any = None
        self._ground: Any = None
        self._ended = threading.Event()
        named = "127.0.0.1" if host in ("0.0.0.0", "localhost", "::") else f"[{host}]" if ":" in host else host
        self.url = f"http://{named}:{self._server.get_port()}"

    def __repr__(self) -> str:
        count = len(self._shown)
        where = "closed" if self._ended.is_set() else self.url
        return f"<jounce.Viewer: {where}, {count} robot{'' if count == 1 else 's'}>"

    def _repr_html_(self) -> str:
        """Shows the page itself in a notebook."""
        if self._ended.is_set():
            return "<em>a jounce.Viewer that was closed</em>"
        return f'<iframe src="{self.url}" width="100%" height="500" style="border: 1px solid #ddd"></iframe>'

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Robots

    def add(self, motion: Motion, look: Look) -> str:
        """Adds a robot; returns its name in this viewer."""
        self._check_open()
        with self._lock, self._server.atomic():
            look = replace(look, name=node_name(look.name, self._names))
            shown = _Shown(self._server.scene, motion, look)
            self._shown[look.name] = shown
            if look.follow is not None:
                self._followed = shown, Following(shown.drawn, look.follow)
            self._stage()
            self._add_controls(look.name, shown)
            return look.name

    def update(self, q: ArrayLike | str, v: ArrayLike | None = None, name: str | None = None) -> None:
        """Moves a robot that was added without a motion.

        Args:
            q: (nq,) its new configuration, or the name of one of its keyframes.
            v: (nv,) its velocity, for arrows of twists.
            name: of the robot, if there are several; the first when left out.
        """
        from jounce.view.show import configuration, velocity

        self._check_open()
        with self._lock, self._server.atomic():
            shown = self._named(name)
            robot = shown.motion.robot
            at = configuration(robot, q)
            rate = None if v is None else velocity(robot, v)
            shown.motion = Motion(robot, np.zeros(1), at[None], None if rate is None else rate[None])
            shown.place(at, rate, 0.0)
            self._lower_floor(shown, at)
            self._follow()
            if sliders := self._boxes.get(f"sliders {shown.look.name}"):
                sliders.write(at)

    def _named(self, name: str | None) -> _Shown:
        if name is None and self._shown:
            return next(iter(self._shown.values()))
        if name not in self._shown:
            raise ValueError(f"name is {quoted(name)}, expected one of {', '.join(map(repr, self._shown)) or 'none'}")
        return self._shown[name]

    @property
    def span(self) -> tuple[float, float]:
        """First and last time of all motions, s."""
        moving = [s.motion.time for s in self._shown.values() if len(s.motion.time) > 1]
        if not moving:
            return 0.0, 0.0
        return float(min(t[0] for t in moving)), float(max(t[-1] for t in moving))

    def go(self, time: float) -> None:
        """Shows all motions at a time, s, and pauses there."""
        self._check_open()
        at = real("time", time)
        if self._player is None:
            raise ValueError("nothing on this page moves: go needs a motion, as Trajectory.show adds it")
        with self._lock:
            self._player.pause()
            self._player.go(at)

    def _show(self, time: float) -> None:
        with self._lock:
            if self._ended.is_set():
                return
            with self._server.atomic():
                for shown in self._shown.values():
                    if len(shown.motion.time) > 1:
                        shown.show(time)
                self._follow()

    def _follow(self) -> None:
        if self._followed is not None:
            self._followed[1].move(shown.drawn for shown in self._shown.values())

    def _stage(self) -> None:
        every = [shown.reach() for shown in self._shown.values()]
        boxes = np.array([box for box, _ in every])
        bounds = np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
        lowest = min(0.0, *(low for _, low in every))
        height = None if self._floor is False else lowest if self._floor is True else float(self._floor)
        if self._followed is not None:
            bounds, _ = self._followed[0].reach(self._followed[1])
        self._ground = set_stage(self._server, bounds, height)
        if self._followed is not None:
            self._followed[1].take(self._ground)
            self._follow()

    def _lower_floor(self, shown: _Shown, q: Array) -> None:
        """Keeps the floor below a robot that was moved, unless its height was given."""
        if self._floor is not True or self._ground is None:
            return
        lowest = shown.drawn.reach(q)[1]
        if self._followed is not None:
            self._followed[1].lower(lowest)
        elif lowest < (at := self._ground.position)[2]:
            self._ground.position = (float(at[0]), float(at[1]), lowest)

    # Controls

    def _add_controls(self, name: str, shown: _Shown) -> None:
        gui = self._server.gui
        if not self._boxes:
            self._add_boxes(shown.look)
        begin, end = self.span
        if end > begin:
            if self._player is not None:
                self._player.close()
                self._player.remove()
            self._player = Player(gui, begin, end, self._show, self._lock)
        if len(shown.motion.time) == 1 and shown.motion.robot.nq:

            def moved(q: Array) -> None:
                with self._lock, self._server.atomic():
                    shown.place(q, None if shown.motion.v is None else shown.motion.v[0], 0.0)
                    self._lower_floor(shown, q)
                    self._follow()

            reach = 1.5 * shown.drawn.size
            title = "Joints" if name == "robot" else f"Joints of {name}"
            self._boxes[f"sliders {name}"] = Sliders(gui, shown.motion.robot, shown.motion.q[0], title, reach, moved)
        lines = legend_lines(self._legends())
        if lines and self._legend is None:
            self._legend = gui.add_html("", order=-1.0)
        if lines:
            self._legend.content = f"<div style='padding:0.3em 0.8em;font-size:0.8em'>{lines}</div>"

    def _legends(self) -> list[tuple[RGB, str]]:
        return list(dict.fromkeys(line for shown in self._shown.values() for line in shown.legend()))

    def _add_boxes(self, look: Look) -> None:
        gui = self._server.gui
        with gui.add_folder("Show", order=-1.5):
            for kind, label in KINDS.items():
                self._add_box(gui, kind, label, kind in look.overlays)

    def _add_box(self, gui: Any, kind: str, label: str, value: bool) -> None:
        box = gui.add_checkbox(label, initial_value=value)
        self._boxes[kind] = box

        def ticked(_event: Any) -> None:
            with self._lock, self._server.atomic():
                for shown in self._shown.values():
                    shown.overlays.show(kind, box.value)

        box.on_update(ticked)

    # Files

    def save(self, path: str | PathLike[str], *, rate: float = 30.0) -> Path:
        """Writes the scene as one HTML file that plays without a server and without a network.

        Args:
            path: of the file.
            rate: frames per second, for motions.
        """
        self._check_open()
        with self._lock:
            title = ", ".join(self._shown) or "jounce"
            playing = self._player is not None and self._player.playing
            if self._player is not None:
                self._player.pause()
            written = write_page(self._server, path, title, self._legends(), self.span, self._show, rate)
            if self._player is not None and playing:
                self._player.play()
            return written

    def picture(self, path: str | PathLike[str], width: int = 1600, height: int = 1000, timeout: float = 30.0) -> Path:
        """Saves a picture of what a browser shows; a browser must have the page open.

        Args:
            path: of the file, its format given by the suffix.
            width, height: in pixels.
            timeout: s, to wait for a browser to open the page.
        """
        self._check_open()
        images = needed("PIL.Image", "a picture")
        until = time.monotonic() + timeout
        while not (clients := self._server.get_clients()):
            if time.monotonic() > until:
                raise RuntimeError(f"no browser has {self.url} open: pictures are made by a browser")
            time.sleep(0.05)
        sizes = (whole("height", height, 1, 10_000), whole("width", width, 1, 10_000))
        number, client = next(iter(clients.items()))
        if number not in self._seen:
            opened = self._opened.get(number, time.monotonic())
            player = self._player if self._player is not None and self._player.playing else None
            if player is not None:
                player.pause()
            try:
                settle(self._server, client, width, height, opened + _JUST_OPENED)
            finally:
                if player is not None:
                    player.play()
            self._seen.add(number)
        pixels = client.get_render(*sizes, transport_format="png")
        images.fromarray(pixels).save(path)
        return Path(path)

    def video(
        self,
        path: str | PathLike[str],
        *,
        width: int = 1280,
        height: int = 720,
        rate: float = 30.0,
        speed: float = 1.0,
        program: str | None = None,
        progress: bool | None = None,
    ) -> Path:
        """Writes a video of all motions, drawn by Chrome or Chromium without a window. See `Trajectory.video`."""
        self._check_open()
        target = checked_path(path)
        bar = None if progress is None else flag("progress", progress)
        with self._lock:
            shown = frames(target, self.span, rate, speed)
            if self._player is not None:
                self._player.pause()
            return write_video(target, self._server, self.url, self._show, shown, (width, height), program, bar)

    # Lifetime

    def open(self) -> None:
        """Opens the page in this machine's browser."""
        self._check_open()
        webbrowser.open(self.url)

    def wait(self) -> None:
        """Prints the address of the page, and waits for Ctrl-C or for `close` in another thread."""
        if self._ended.is_set():
            return
        try:
            print(f"jounce: showing {printable(', '.join(self._shown))} at {self.url} (Ctrl-C to stop)", flush=True)
            while not self._ended.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.close()

    def _check_open(self) -> None:
        if self._ended.is_set():
            raise RuntimeError("this viewer was closed: show the robot again for another")

    def close(self) -> None:
        """Stops the server. May be called more than once."""
        if self._ended.is_set():
            return
        self._ended.set()
        if self._player is not None:
            self._player.close()
            self._player.join()
        stop(self._server)


def paint_of(colour: Colour | None, opacity: float | None) -> Paint:
    """From user input."""
    return Paint(colour, 1.0 if opacity is None else opacity)
