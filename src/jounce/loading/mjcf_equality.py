"""MuJoCo's equality constraints, as constraints of jounce.

    weld      a point of body2, data 0-2 in its axes, stays at a point of body1, data 3-5, and body2 stays turned by
              data 6-9, a quaternion w x y z, relative to body1; or two sites coincide, with the same orientation.
              `Fixed`; if its torquescale, data 10, is zero, MuJoCo only uses the points: `Spherical`
    connect   a point of body1, data 0-2, stays at a point of body2, data 3-5; or two sites coincide. `Spherical`
    joint     q1 - ref1 = p(q2 - ref2), the coefficients of p in data 0-4; p(0) if there is no second joint. `Gear`, or,
              in a file that jounce wrote, a joint that follows another

MuJoCo's compiler fills in what the file leaves open from the configuration qpos0. MuJoCo's constraints are soft, set by
solref and solimp; jounce's are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jounce._checks import frozen
from jounce.core_tables import BodyRecord
from jounce.loading.mjcf_left_out import line_of
from jounce.loading.xml_source import short
from jounce.parts.constraints import ConstraintRecord, Gear
from jounce.parts.joints import Fixed, Follow, Spherical
from jounce.parts.pose import Array, pose, shift

CONNECT, WELD, JOINT = range(3)  # mjtEq
_SITE = 6  # mjtObj


@dataclass
class Equalities:
    """The converted equality constraints of a model.

    Attributes:
        records: the constraints.
        left_out: those that jounce does not have, one line per kind.
        odd: those that have no effect, one line per kind.
        followers: joints that follow others, in files that jounce wrote.
    """

    records: list[ConstraintRecord] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    followers: dict[str, Follow] = field(default_factory=dict)


def following(joint: str, leader: str) -> str:
    """The name, in a file, of the equality that stands for a joint that follows another: such a joint is no `Gear`."""
    return f"{joint} follows {leader}"


class Places:
    """The frames of MuJoCo's bodies and sites, and the places on them.

    Args:
        model: an MjModel.
        bodies: the links and frames made from it.
        names: of MuJoCo's bodies.
        sites: the frames of its sites, by index; sites without a name have none.
    """

    def __init__(
        self, model: Any, bodies: Sequence[BodyRecord], names: Sequence[str], sites: Mapping[int, str]
    ) -> None:
        self.body = names
        self._model, self._sites = model, sites
        self._carrier = {"world": -1}
        for i, body in enumerate(bodies):
            above = "world" if body.parent < 0 else bodies[body.parent].name
            self._carrier[body.name] = i if body.moves else self._carrier[above]

    def site(self, i: int) -> tuple[str, Array]:
        """The frame of a site, or that of its body and the pose of the site in it."""
        if i in self._sites:
            return self._sites[i], np.eye(4)
        return self.body[self._model.site_bodyid[i]], pose(self._model.site_pos[i], self._model.site_quat[i])

    def apart(self, record: ConstraintRecord) -> bool:
        """Whether the two frames of a constraint could move relative to each other without it."""
        return self._carrier[record.a] != self._carrier[record.b]


def equalities(model: Any, places: Places, joints: Sequence[str], made: Callable[..., Any]) -> Equalities:
    """The equality constraints of an MjModel that are active from the start.

    Args:
        model: the MjModel.
        places: of its bodies and sites.
        joints: names of its joints.
        made: calls its second argument with the arguments after it; the first is what errors refer to.
    """
    given = [model.equality(i).name for i in range(model.neq)]
    found = Equalities(followers=_followers(model, given, joints))
    names = _Names(given)
    others, idle = [], []
    for i in range(model.neq):
        kind, name = int(model.eq_type[i]), given[i]
        if not model.eq_active0[i]:
            continue
        if kind == JOINT:
            first, second = _joints(model, i, joints)
            if second in found.followers:
                continue
            name = name or names.unused(f"{second} held" if first == second else f"{second} to {first}")
            gear = made(f"equality constraint {short(name)!r}", Gear, _polynomial(model, i))
            found.records.append(ConstraintRecord(name, gear, first, second))
        elif kind in (CONNECT, WELD):
            (a, pose_a), (b, pose_b) = _ends(model, i, places)
            name = name or names.unused(f"{a} to {b}")
            tie = Fixed() if kind == WELD and model.eq_data[i, 10] != 0 else Spherical()
            record = ConstraintRecord(name, tie, a, b, frozen(pose_a), frozen(pose_b))
            if places.apart(record):
                found.records.append(record)
            else:
                idle.append(name)
        else:
            others.append(name)
    if others:
        found.left_out.append(line_of("equality constraints of tendons or flexes", others))
    if idle:
        found.odd.append(line_of("nothing moves between the ends of equality constraints", idle))
    return found


def _followers(model: Any, names: Sequence[str], joints: Sequence[str]) -> dict[str, Follow]:
    """The joints that follow others, by the names that jounce gives to equalities: none if others tie these too."""
    found: dict[str, Follow] = {}
    tied = Counter[str]()
    for i in range(model.neq):
        if model.eq_type[i] == JOINT and model.eq_active0[i]:
            first, second = _joints(model, i, joints)
            tied.update({second})
            offset, ratio, *more = _polynomial(model, i)
            if names[i] == following(second, first) and first != second and not more:
                found[second] = Follow(first, ratio, offset)
            else:
                tied.update({first})
    alone = all(tied[joint] == 1 and follow.joint not in found for joint, follow in found.items())
    return found if alone else {}


class _Names:
    """Names for unnamed constraints; fast even if many are alike."""

    def __init__(self, given: Iterable[str]) -> None:
        self._taken, self._count = set(given), Counter[str]()

    def unused(self, name: str) -> str:
        """The name, with a number if it is taken; marks it as taken."""
        while True:
            self._count[name] += 1
            candidate = name if self._count[name] == 1 else f"{name} {self._count[name]}"
            if candidate not in self._taken:
                self._taken.add(candidate)
                return candidate


def _joints(model: Any, i: int, joints: Sequence[str]) -> tuple[str, str]:
    """The leading joint and the one tied to it; the same joint twice if it is held."""
    tied, lead = model.eq_obj1id[i], model.eq_obj2id[i]
    return joints[lead if lead >= 0 else tied], joints[tied]


def _polynomial(model: Any, i: int) -> Array:
    """From the coordinate of the leading joint to that of the other, both as in qpos."""
    tied, lead = (model.qpos0[model.jnt_qposadr[j]] for j in (model.eq_obj1id[i], model.eq_obj2id[i]))
    factors = np.array(model.eq_data[i, :5])
    if model.eq_obj2id[i] < 0:
        factors[1:] = 0.0
    for low in range(4):  # Horner's scheme, repeated: p(q - lead)
        for k in range(3, low - 1, -1):
            factors[k] -= lead * factors[k + 1]
    factors[0] += tied
    return factors[: max([1, *np.flatnonzero(factors)]) + 1]


def _ends(model: Any, i: int, places: Places) -> tuple[tuple[str, Array], tuple[str, Array]]:
    """For both ends of a weld or connect, the frame and the place in it."""
    data, one, other = model.eq_data[i], int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    if model.eq_objtype[i] == _SITE:
        return places.site(one), places.site(other)
    if model.eq_type[i] == WELD:
        return (places.body[one], pose(data[3:6], data[6:10])), (places.body[other], shift(data[:3]))
    return (places.body[one], shift(data[:3])), (places.body[other], shift(data[3:6]))
