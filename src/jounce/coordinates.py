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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import near
from ._core import CoordinateMap, CoreModel
from .compile import BodyRecord, compiled, marks_on, own_records
from .inertia import Inertia
from .joints import Fixed, Follow
from .soft.body import SoftBody, Step

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
    leaders = resolve(bodies)
    records = own_records(bodies)
    alone = [replace(r, parent=-1, at=None, soft=None, inertia=Inertia(0.0)) for r in records]
    own = CoreModel(compiled(alone, np.zeros(3)))
    places = _places(records)

    positions: list[tuple[int, int, float, float]] = []
    velocities: list[tuple[int, int, float, float]] = []
    tables: dict[str, list[int]] = {"bodies": [], "steps": [], "stations": []}
    numbers: list[Array] = []
    recordings: list[Any] = []
    parts: list[SoftPart] = []
    full_q = full_v = steps = stations = size = second = 0
    for i, b in enumerate(bodies):
        if b.joint.nv:
            leader = leaders.get(b.joint_name) or Follow(b.joint_name)
            q, v = places[leader.joint]
            positions += [(full_q + k, q.start + k, leader.ratio, leader.offset) for k in range(b.joint.nq)]
            velocities += [(full_v + k, v.start + k, leader.ratio, 0.0) for k in range(b.joint.nv)]
            full_q, full_v = full_q + b.joint.nq, full_v + b.joint.nv
        if b.soft is None:
            continue
        sections, n = b.soft.sections(marks_on(bodies, i)), b.soft.n
        q, v = places[b.shape_name]
        starts = []

        def number(*arrays: Array) -> int:
            nonlocal size
            at = size
            numbers.extend(np.asarray(a, dtype=np.float64).ravel() for a in arrays)
            size += sum(np.size(a) for a in arrays)
            return at

        first = steps
        chain = sections.steps
        recorded = -1
        if sections.recorded is not None:  # its stations hang on a step that means nothing
            recorded = len(recordings)
            recordings += [sections.recorded.compiled, sections.recorded_seconds.compiled]
            chain = (Step(-1, np.zeros(6), np.zeros((n, 6)), None, sections.stations),)
        linear = number(b.soft.stiffness, b.soft.viscosity)
        tables["bodies"] += [q.start, v.start, n, first, first + len(chain), linear, recorded]
        for step in chain:
            start = step.start if step.start < 0 else first + step.start
            uniform = step.hessian is None
            at = number(step.constant, step.linear, *(() if step.hessian is None else (step.hessian,)))
            tables["steps"] += [start, stations, stations + len(step.stations), int(uniform), at]
            steps += 1
            for station in step.stations:
                shift = -1 if station.offset is None else number(station.offset, np.asarray(station.slope))
                tables["stations"] += [full_q, full_v, shift]
                starts.append(full_v)
                full_q, full_v, stations = full_q + 7, full_v + 6, stations + 1
        parts.append(SoftPart(b.name, b.soft, q, v, np.array(starts, dtype=np.intp), second))
        second += 6 * n * n * len(starts)

    def copies(rows: list[tuple[int, int, float, float]]) -> tuple[list[int], Array, Array]:
        pairs = [x for to, source, _, _ in rows for x in (to, source)]
        return pairs, np.array([r[2] for r in rows]), np.array([r[3] for r in rows])

    given: dict[str, object] = {**tables, "recordings": recordings, "numbers": np.concatenate([np.zeros(0), *numbers])}
    given["positions"], given["position_ratio"], given["position_offset"] = copies(positions)
    given["velocities"], given["velocity_ratio"], given["velocity_offset"] = copies(velocities)
    return own, CoordinateMap(own, carrier, given), parts


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
