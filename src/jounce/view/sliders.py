"""Sliders for the coordinates of a robot: within limits, quaternions as roll, pitch and yaw."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce._checks import printable
from jounce.dynamics.named_coordinates import names
from jounce.errors import SingularError
from jounce.model import Model
from jounce.parts.joints import Free, Joint, Spherical
from jounce.parts.pose import quaternions, rotation
from jounce.parts.sections import Shape

Array = NDArray[np.float64]
MOST = 200  # sliders


class Sliders:
    """A folder of sliders that move a robot.

    Args:
        gui: viser's.
        robot: whose coordinates they set.
        q: (nq,) its configuration.
        title: of the folder.
        reach: m, the range of bases and slides without limits.
        moved: called with q when a slider has moved.
    """

    def __init__(
        self, gui: Any, robot: Model, q: Array, title: str, reach: float, moved: Callable[[Array], None]
    ) -> None:
        self._robot, self._q, self._shown, self._moved = robot, q.copy(), q.copy(), moved
        self._lock = threading.RLock()  # events come from several threads
        self._writers: list[Callable[[], None]] = []  # from q to sliders
        self._handles: list[Any] = []
        said, lower, upper = names(robot), robot.lower, robot.upper
        with gui.add_folder(printable(title)):
            self._buttons(gui)
            for (body, (where, _)), joint in zip(robot._moving(), robot.joint_names, strict=True):
                if len(self._handles) >= MOST:
                    gui.add_markdown(f"{len(robot.joint_names)} joints: the rest have no sliders.")
                    break
                if isinstance(body.joint, (Free, Spherical)):
                    self._pose(gui, printable(joint), body.joint, where, reach)
                    continue
                for i in range(where.start, where.stop):
                    low, high = _range(body.joint, i - where.start, said.q_units[i], lower[i], upper[i], reach)
                    self._number(gui, printable(said.q[i]), i, low, high)

    def write(self, q: Array) -> None:
        """Sets the sliders to q, without moving the robot."""
        with self._lock:
            self._q, self._shown = q.copy(), q.copy()
            for write in self._writers:
                write()

    def _buttons(self, gui: Any) -> None:
        buttons = gui.add_button_group("", ("neutral", "random"))
        rng, frames = np.random.default_rng(0), self._robot.keyframes
        if frames:
            by_label = {printable(name): q for name, q in frames.items()}
            named = gui.add_dropdown("keyframe", tuple(by_label))
            named.on_update(lambda _event: self._settle(by_label[named.value].copy()))

        def pressed(_event: Any) -> None:
            free = [w for b, (w, _) in self._robot._moving() if isinstance(b.joint, Free)]
            q = self._robot.neutral() if buttons.value == "neutral" else self._robot.random_configuration(rng)
            for where in free:  # stays where it is
                q[where] = self._q[where]
            self._settle(_clipped(self._robot, q))

        buttons.on_click(pressed)

    def _settle(self, q: Array) -> None:
        """Projects a configuration onto the constraints, if any, and shows it; keeps the last one if that fails."""
        if self._robot.constraints:
            try:
                q, _ = self._robot.project(q, np.zeros(self._robot.nv))
            except SingularError:
                q = self._shown
        self.write(q)
        self._moved(self._q)

    def _slider(self, gui: Any, label: str, low: float, high: float, value: float, read: Callable[[], None]) -> Any:
        """One slider; `read` copies its value to q when it has been dragged."""
        low, high = min(low, value), max(high, value)
        step = 10.0 ** math.floor(math.log10(max(high - low, 1e-6) / 500))
        handle = gui.add_slider(label, min=low, max=high, step=step, initial_value=value)
        self._handles.append(handle)

        def dragged(event: Any) -> None:
            if event.client is not None:  # otherwise it was set from here
                with self._lock:
                    read()
                    self._settle(self._q)

        handle.on_update(dragged)
        return handle

    def _number(self, gui: Any, label: str, i: int, low: float, high: float) -> None:
        def read() -> None:
            self._q[i] = handle.value

        def write() -> None:
            handle.value = float(min(max(self._q[i], handle.min), handle.max))

        handle = self._slider(gui, label, low, high, float(self._q[i]), read)
        self._writers.append(write)

    def _pose(self, gui: Any, joint: str, kind: Joint, where: slice, reach: float) -> None:
        """Position, and roll, pitch and yaw about fixed axes."""
        first = where.start
        if isinstance(kind, Free):
            for k, axis in enumerate("xyz"):
                at = float(self._q[first + k])
                self._number(gui, f"{joint}.{axis}", first + k, at - reach, at + reach)
        turn = slice(where.stop - 4, where.stop)
        limits = {"roll": math.pi, "pitch": math.pi / 2, "yaw": math.pi}

        def read() -> None:
            self._q[turn] = _quaternion(*(handle.value for handle in handles))

        def write() -> None:
            for handle, angle in zip(handles, _angles(self._q[turn]), strict=True):
                handle.value = angle

        handles = [
            self._slider(gui, f"{joint}.{label}", -limit, limit, angle, read)
            for (label, limit), angle in zip(limits.items(), _angles(self._q[turn]), strict=True)
        ]
        self._writers.append(write)


def _range(joint: Joint, i: int, unit: str, low: float, high: float, reach: float) -> tuple[float, float]:
    """The limits; without them a full turn, or as far as the robot reaches."""
    if isinstance(joint, Shape):
        return -3 * float(joint.scale[i]), 3 * float(joint.scale[i])
    usual = math.pi if unit == "rad" else reach
    return (low if math.isfinite(low) else min(-usual, high - 2 * usual if math.isfinite(high) else -usual)), (
        high if math.isfinite(high) else max(usual, low + 2 * usual if math.isfinite(low) else usual)
    )


def _clipped(robot: Model, q: Array) -> Array:
    """q clipped to the limits."""
    return np.asarray(np.clip(q, robot.lower, robot.upper))


def _angles(xyzw: Array) -> tuple[float, float, float]:
    """Roll, pitch and yaw about fixed x, y and z."""
    x, y, z, w = xyzw
    R = rotation((w, x, y, z))
    pitch = math.asin(min(max(-R[2, 0], -1.0), 1.0))
    if abs(R[2, 0]) > 1 - 1e-9:  # roll and yaw are about the same axis
        return math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


def _quaternion(roll: float, pitch: float, yaw: float) -> Array:
    """x y z w."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    R = np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    w, x, y, z = quaternions(R)
    return np.array([x, y, z, w])
