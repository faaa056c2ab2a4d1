"""A small robot to try joints on."""

from __future__ import annotations

from jounce.builder import Builder
from jounce.model import Model
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Free, Joint


def base_and_load(*joints: Joint) -> Model:
    """A floating body, "base", that carries another, "load", on these joints in series.

    >>> from jounce import Revolute
    >>> base_and_load(Revolute((0, 0, 1))).nv
    7
    """
    builder = Builder()
    builder.add("base", "world", Free(), inertia=Inertia(2.0, rotational=(0.03, 0.04, 0.05)))
    parent = "base"
    for i, joint in enumerate(joints):
        builder.add(f"part{i}", parent, joint)
        parent = f"part{i}"
    builder.add("load", parent, Fixed(), inertia=Inertia(0.5, com=(0.1, 0.0, -0.2), rotational=(0.01, 0.012, 0.006)))
    return builder.build()
