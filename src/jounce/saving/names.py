"""Names that are not taken yet."""

from __future__ import annotations

from collections.abc import Sequence

from jounce._free_names import free
from jounce.core_tables import BodyRecord


def unused(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken; marks it as taken."""
    found = name if name not in taken else free(lambda n: f"{name}_{n}", taken, 2)
    taken.add(found)
    return found


def urdf_joint_names(bodies: Sequence[BodyRecord]) -> list[str]:
    """The name in a URDF of the joint of each body: "NAME_joint" for one that has the name of a link.

    Readers make a frame of each joint and of each link, and find frames by name.
    """
    taken = {"world", *(body.name for body in bodies)}
    names = [body.joint_name for body in bodies]
    fixed_last = sorted(range(len(bodies)), key=lambda i: bodies[i].joint.nv == 0)
    others = []
    for i in fixed_last:
        if names[i] in taken:
            others.append(i)
        taken.add(names[i])
    for i in others:
        names[i] = unused(f"{names[i]}_joint", taken)
    return names
