"""From a robot's own coordinates to those of the tree that carries it.

Where a joint follows another, or a body is soft, the compiled core knows a larger robot (the carrier): there every
joint has coordinates of its own, and every section of a soft body is a rigid body that moves freely. Its motion is a
function of the robot's own, x = g(q), x' = G(q) v with G = dg/dq, and so

    inverse dynamics  G^T tau,     mass matrix  G^T M G,     Coriolis matrix  G^T (C G + M G'),

with all time derivatives by Leibniz' rule. This file makes the tables of g.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ._checks import near
from ._core import CoordinateMap, CoreModel, Recorded
from .compile import BodyRecord, compiled, marks_on, own_records
from .inertia import Inertia
from .joints import Fixed, Follow
from .soft.body import Sections, SoftBody, Step

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SoftPart:
    """Where a soft body is among the coordinates: its own in q and in v, and its stations' in the carrier.

    Attributes:
        body: the body, with its name in `name`.
        q, v: slices of the robot's own coordinates.
        stations: (S,) where each station's twist begins in the carrier's velocity.
        second: where its part of the stations' second derivatives begins.
    """

    name: str
    body: SoftBody
    q: slice
    v: slice
    stations: NDArray[np.intp]
    second: int


def make_map(bodies: Sequence[BodyRecord], carrier: CoreModel) -> tuple[CoreModel, CoordinateMap, list[SoftPart]]:
    """A model of the robot's own coordinates alone, the map to the carrier, and where the soft bodies are."""
    records = own_records(bodies)
    alone = [replace(r, parent=-1, at=None, soft=None, inertia=Inertia(0.0)) for r in records]
    own = CoreModel(compiled(alone, np.zeros(3)))
    tables = _Tables(resolve(bodies), _places(records))
    for i, b in enumerate(bodies):
        if b.joint.nv:
            tables.add_joint(b)
        if b.soft is not None:
            tables.add_soft(b, b.soft, b.soft.sections(marks_on(bodies, i)))
    return own, CoordinateMap(own, carrier, tables.given()), tables.parts


class _Tables:
    """The tables of a `CoordinateMap`, as bodies are added; what each row means is in soft_body.hpp."""

    def __init__(self, leaders: dict[str, Follow], places: dict[str, tuple[slice, slice]]) -> None:
        self.parts: list[SoftPart] = []
        self._leaders, self._places = leaders, places
        self._positions: list[tuple[int, int, float, float]] = []  # to, from, ratio, offset
        self._velocities: list[tuple[int, int, float, float]] = []
        self._bodies: list[tuple[int, ...]] = []
        self._steps: list[tuple[int, ...]] = []
        self._stations: list[tuple[int, ...]] = []
        self._numbers: list[Array] = [np.zeros(0)]
        self._recordings: list[Recorded] = []
        self._q = self._v = self._size = self._second = 0  # where the next things begin

    def add_joint(self, b: BodyRecord) -> None:
        leader = self._leaders.get(b.joint_name) or Follow(b.joint_name)
        q, v = self._places[leader.joint]
        self._positions += [(self._q + k, q.start + k, leader.ratio, leader.offset) for k in range(b.joint.nq)]
        self._velocities += [(self._v + k, v.start + k, leader.ratio, 0.0) for k in range(b.joint.nv)]
        self._q, self._v = self._q + b.joint.nq, self._v + b.joint.nv

    def add_soft(self, b: BodyRecord, soft: SoftBody, sections: Sections) -> None:
        q, v = self._places[b.shape_name]
        n, first, begin = soft.n, len(self._steps), len(self._stations)
        steps, recorded = sections.steps, -1
        if sections.recorded is not None:  # its stations hang on a step that means nothing
            recorded = len(self._recordings)
            self._recordings += [sections.recorded.compiled, sections.recorded_seconds.compiled]
            steps = (Step(-1, np.zeros(6), np.zeros((n, 6)), None, sections.stations),)
        linear = self._number(soft.stiffness, soft.viscosity)
        self._bodies.append((q.start, v.start, n, first, first + len(steps), linear, recorded))
        for step in steps:
            start = step.start if step.start < 0 else first + step.start
            numbers = self._number(step.constant, step.linear, step.changes)
            stations = len(self._stations), len(self._stations) + len(step.stations)
            self._steps.append((start, *stations, int(step.changes is None), numbers))
            for station in step.stations:
                shift = -1 if station.offset is None else self._number(station.offset, station.slope)
                self._stations.append((self._q, self._v, shift))
                self._q, self._v = self._q + 7, self._v + 6
        own = np.array([v for _, v, _ in self._stations[begin:]], dtype=np.intp)
        self.parts.append(SoftPart(b.name, soft, q, v, own, self._second))
        self._second += 6 * n * n * len(own)

    def _number(self, *arrays: Array | None) -> int:
        """Where among all numbers these begin, one after the other."""
        at = self._size
        for a in arrays:
            if a is not None:
                self._numbers.append(np.asarray(a, dtype=np.float64).ravel())
                self._size += np.size(a)
        return at

    def given(self) -> dict[str, object]:
        tables: dict[str, object] = {
            "numbers": np.concatenate(self._numbers),
            "recordings": self._recordings,
            "bodies": [x for row in self._bodies for x in row],
            "steps": [x for row in self._steps for x in row],
            "stations": [x for row in self._stations for x in row],
        }
        for plural, one, rows in (
            ("positions", "position", self._positions),
            ("velocities", "velocity", self._velocities),
        ):
            tables[plural] = [x for row in rows for x in row[:2]]
            tables[f"{one}_ratio"] = np.array([row[2] for row in rows])
            tables[f"{one}_offset"] = np.array([row[3] for row in rows])
        return tables


def _places(records: Sequence[BodyRecord]) -> dict[str, tuple[slice, slice]]:
    places: dict[str, tuple[slice, slice]] = {}
    q = v = 0
    for r in records:
        places[r.joint_name] = slice(q, q := q + r.joint.nq), slice(v, v := v + r.joint.nv)
    return places


def resolve(bodies: Sequence[BodyRecord]) -> dict[str, Follow]:
    """For each joint that follows another, the joint with a coordinate that it follows in the end."""
    joints = {b.joint.name or b.name: b.joint for b in bodies if not isinstance(b.joint, Fixed)}
    leaders: dict[str, Follow] = {}
    for name, joint in joints.items():
        if joint.follows is None:
            continue
        seen, ratio, offset, leader = [name], 1.0, 0.0, joint.follows
        while True:
            if leader.joint not in joints:
                raise ValueError(
                    f"joint {name!r} follows {leader.joint!r}, which does not exist: {near(leader.joint, joints)}"
                )
            if leader.joint in seen:
                raise ValueError(f"joints follow each other in a circle: {' -> '.join([*seen, leader.joint])}")
            seen.append(leader.joint)
            offset, ratio = offset + ratio * leader.offset, ratio * leader.ratio
            above = joints[leader.joint]
            if above.nv != 1:
                raise ValueError(
                    f"joint {name!r} follows {leader.joint!r}, which has {above.nv} coordinates, expected one"
                )
            if above.follows is None:
                break
            leader = above.follows
        leaders[name] = Follow(seen[-1], ratio, offset)
    return leaders
