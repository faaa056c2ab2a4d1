"""Arrows: wrenches, forces of contacts and constraints, their rates; and twists.

All are transformed to world axes and to the point where they are drawn. An arrow's length is its magnitude times a
scale, chosen so that the longest of a kind is a third of the robot's size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame, axes, near, quoted, real, reals
from jounce.model import Model
from jounce.parts.constraints import Gear
from jounce.view.scene import DrawnRobot
from jounce.view.style import ANGULAR, FORCES, LINEAR, MOMENTS, RGB, linear

Array = NDArray[np.float64]
LONGEST = 0.33  # of the robot's size
_ORDERS = ("", "/s", "/s²", "/s³")


@dataclass(frozen=True, eq=False)
class Wrenches:
    """Wrenches on frames, at T times (1 if constant) and of K orders.

    Attributes:
        frames: (n,) indices of the frames they act on.
        places: (n, 3) the points where they are drawn, in the axes of the frame.
        values: (n, T, K, 6) [force; moment], about the frame's origin unless `frame` is "world".
        frame: "body", "mixed" or "world", the axes.
    """

    frames: list[int]
    places: Array
    values: Array
    frame: Frame

    @staticmethod
    def of(robot: Model, given: Mapping[str, ArrayLike] | None, frame: Frame, times: int | None) -> Wrenches | None:
        """From user input: by the name of a body, a frame or a constraint, (6,) or (K, 6).

        Args:
            robot: that they act on.
            given: with `times`, (T, 6) or (T, K, 6).
            frame: axes.
            times: T, of a trajectory.
        """
        axes("wrench_frame", frame)
        if given is None:
            return None
        if not isinstance(given, Mapping):
            raise ValueError(f"wrenches is {quoted(given)}, expected a mapping from names to arrays")
        frames, places, values = [], [], []
        for name, wrench in given.items():
            where = _place(robot, name)
            if where is None:
                continue
            array = _rows(f"wrenches[{quoted(name)}]", wrench, times)
            frames.append(where[0])
            places.append(where[1])
            values.append(array)
        if not values:
            return None
        orders = max(v.shape[1] for v in values)
        filled = np.zeros((len(values), values[0].shape[0], orders, 6))
        for i, v in enumerate(values):
            filled[i, :, : v.shape[1]] = v
        return Wrenches(frames, np.array(places), filled, frame)

    def at(self, time: float, poses: Array) -> tuple[Array, Array]:
        """Points (n, 3) and wrenches (K, n, 6) about these, in world axes.

        Args:
            time: in samples, interpolated linearly between them.
            poses: (frames, 4, 4).
        """
        low = min(int(time), self.values.shape[1] - 1)
        high, part = min(low + 1, self.values.shape[1] - 1), time - int(time)
        wrench = np.moveaxis((1 - part) * self.values[:, low] + part * self.values[:, high], 1, 0)
        turn, origin = poses[self.frames, :3, :3], poses[self.frames, :3, 3]
        points = np.einsum("nij,nj->ni", turn, self.places) + origin
        force, moment = wrench[..., :3], wrench[..., 3:]
        if self.frame == "body":
            force, moment = (np.einsum("nij,knj->kni", turn, x) for x in (force, moment))
        lever = points - (0.0 if self.frame == "world" else origin)
        return points, np.concatenate([force, moment - np.cross(lever, force)], axis=-1)


def _place(robot: Model, name: object) -> tuple[int, Array] | None:
    """The frame of a body, a frame or a constraint, and the place on it; None for gears, which have no place."""
    known = {c.name: c for c in robot.constraints}
    if isinstance(name, str) and name in known and not (name in robot.frame_names and known[name].contact):
        c = known[name]
        if isinstance(c.kind, Gear):
            return None
        return robot.frame_index(c.named), (c.pose_b if c.named == c.b else c.pose_a)[:3, 3]
    if isinstance(name, str) and name in robot.frame_names:
        return robot.frame_index(name), np.zeros(3)
    hint = near(name if isinstance(name, str) else quoted(name), [*robot.frame_names, *known])
    raise ValueError(f"wrenches: no body, frame or constraint is named {quoted(name)}: {hint}")


def _rows(what: str, given: ArrayLike, times: int | None) -> Array:
    """(T, K, 6), T = 1 without `times`."""
    array = reals(what, given)
    lead = () if times is None else (times,)
    if array.shape == (*lead, 6):
        array = array[..., None, :]
    if array.ndim != len(lead) + 2 or array.shape[: len(lead)] != lead or array.shape[-1] != 6:
        expected = "(6,) or (K, 6)" if times is None else f"({times}, 6) or ({times}, K, 6)"
        raise ValueError(f"{what} has shape {array.shape}, expected {expected}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} contains nan or inf, expected finite numbers")
    return array if times is not None else array[None]


class Arrows:
    """Arrows of one kind and colour, from points along vectors.

    Attributes:
        label: for the legend.
        scale: metres per unit.
    """

    def __init__(self, drawn: DrawnRobot, label: str, unit: str, colour: RGB, scale: float) -> None:
        self.label, self.unit, self.colour, self.scale = label, unit, colour, scale
        self._drawn = drawn
        thick = 0.008 * drawn.size
        self._handle = drawn.scene.add_arrows(
            drawn.path(label),
            np.zeros((1, 2, 3), dtype=np.float32),
            linear(colour),
            shaft_radius=thick,
            head_radius=2.4 * thick,
            head_length=5.5 * thick,
            visible=False,
        )

    def place(self, points: Array, vectors: Array) -> None:
        """Draws them from points (n, 3) along vectors (n, 3), except those that are too short to be seen."""
        arrows = self.scale * vectors
        seen = np.linalg.norm(arrows, axis=1) > 0.01 * self._drawn.size
        if seen.any():
            ends = np.stack([points[seen], points[seen] + arrows[seen]], axis=1)
            self._handle.points = ends.astype(np.float32)
        self._handle.visible = bool(seen.any())

    def ends(self, points: Array, vectors: Array) -> Array:
        """(2 n, 3) where they begin and end."""
        return np.concatenate([points, points + self.scale * vectors])


class WrenchArrows:
    """The arrows of wrenches on a robot, forces and moments, one colour per order.

    Args:
        drawn: the robot.
        wrenches: on it.
        q: (T, nq) its configurations at their times, or at the only one.
        force_scale: m/N, or for each order m/N, m/(N/s), ...; chosen from the largest when left out.

    Attributes:
        largest: samples at which one of them is largest.
    """

    def __init__(self, drawn: DrawnRobot, wrenches: Wrenches, q: Array, force_scale: Any) -> None:
        self._wrenches = wrenches
        orders = wrenches.values.shape[2]
        self.largest = _samples_of_largest(wrenches)
        forces, moments = _largest(drawn.robot, wrenches, q)
        scales = _scales(force_scale, orders)
        self.kinds: list[tuple[int, slice, Arrows]] = []
        for k in range(orders):
            rate = "" if k == 0 else " (rates)" if k == 1 else f" (rates of order {k})"
            per = _ORDERS[k] if k < len(_ORDERS) else f"/s^{k}"
            if forces[k] > 0:
                scale = scales[k] or LONGEST * drawn.size / forces[k]
                arrows = Arrows(drawn, f"forces{rate}", f"N{per}", _nth(FORCES, k), scale)
                self.kinds.append((k, slice(0, 3), arrows))
            if moments[k] > 1e-6 * forces[k] * drawn.size:  # below that it is rounding
                scale = LONGEST * drawn.size / moments[k]
                arrows = Arrows(drawn, f"moments{rate}", f"N m{per}", _nth(MOMENTS, k), scale)
                self.kinds.append((k, slice(3, 6), arrows))

    def place(self, time: float, poses: Array) -> None:
        """Moves the arrows to a time in samples."""
        points, values = self._wrenches.at(time, poses)
        for order, which, arrows in self.kinds:
            arrows.place(points, values[order][:, which])

    def ends(self, time: float, poses: Array) -> Array:
        """(n, 3) where all arrows begin and end at a time in samples."""
        points, values = self._wrenches.at(time, poses)
        return np.concatenate([points, *(a.ends(points, values[order][:, which]) for order, which, a in self.kinds)])


def _samples_of_largest(wrenches: Wrenches) -> Array:
    """At which the force or moment of a frame, of one order, is."""
    parts = wrenches.values[..., :3], wrenches.values[..., 3:]
    return np.concatenate([np.linalg.norm(part, axis=-1).argmax(axis=1).ravel() for part in parts]).astype(np.float64)


def _largest(robot: Model, wrenches: Wrenches, q: Array) -> tuple[Array, Array]:
    """The largest force and moment (K,) of each order, about the points where they are drawn, at 300 times at most."""
    found = []
    for i in np.unique(np.linspace(0, len(q) - 1, 300, dtype=int)):
        poses = robot.forward_kinematics(q[i], frames=robot.frame_names).pose
        _, values = wrenches.at(float(i), poses)
        found.append([np.linalg.norm(values[..., part], axis=-1).max(axis=1) for part in (slice(0, 3), slice(3, 6))])
    forces, moments = np.max(found, axis=0)
    return forces, moments


class TwistArrows:
    """Linear and angular velocities of bodies or frames.

    Args:
        drawn: the robot.
        names: of those bodies or frames.
        largest: m/s and rad/s, from which the scales are chosen.
    """

    def __init__(self, drawn: DrawnRobot, names: Sequence[str], largest: tuple[float, float]) -> None:
        self._drawn, self._names = drawn, list(names)
        straight, turning = (LONGEST * drawn.size / x if x > 0 else 0.0 for x in largest)
        self.kinds = [
            (slice(0, 3), Arrows(drawn, "velocities", "m/s", LINEAR, straight)),
            (slice(3, 6), Arrows(drawn, "angular velocities", "rad/s", ANGULAR, turning)),
        ]

    def place(self, q: Array, v: Array) -> None:
        kin = twists(self._drawn.robot, q, v, self._names)
        for which, arrows in self.kinds:
            arrows.place(kin[0], kin[1][:, which])

    def ends(self, q: Array, v: Array) -> Array:
        """(n, 3) where all arrows begin and end."""
        points, twist = twists(self._drawn.robot, q, v, self._names)
        return np.concatenate([points, *(arrows.ends(points, twist[:, which]) for which, arrows in self.kinds)])


def twists(robot: Model, q: Array, v: Array, names: Sequence[str]) -> tuple[Array, Array]:
    """Points (..., n, 3) and twists (..., n, 6) of frames, in world axes about these points."""
    kin = robot.forward_kinematics(q, v[..., None, :], frames=names, frame="mixed", velocity_frame="body")
    return kin.pose[..., :3, 3], kin.twist[..., 0, :, :]


def _scales(given: Any, orders: int) -> list[float | None]:
    if given is None:
        return [None] * orders
    several = list(given) if isinstance(given, (list, tuple, np.ndarray)) and np.ndim(given) == 1 else [given]
    found: list[float | None] = [real("force_scale", x) for x in several]
    if not all(x is not None and 0 < x < np.inf for x in found):
        raise ValueError(f"force_scale is {quoted(given)}, expected metres per newton, more than 0")
    return [*found, *[None] * orders][:orders]


def _nth(colours: Sequence[RGB], k: int) -> RGB:
    return colours[min(k, len(colours) - 1)]
