"""Parts of a robot: what hangs below a body, and the joints between two frames.

The cut leaves whole bodies. Where it goes through a body that is fixed in the world, the world stays as it is; where it
goes through one that moves, that body's frame becomes the world. What ties a part that stays to one that is cut away
cannot be kept, and is an error rather than left out. What else a chain of joints loses or keeps that its ends do not
name, and whose weight its joints feel, is said.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted
from jounce.core_tables import BodyRecord, resolve
from jounce.editing.ties import expect_mobile, left_out
from jounce.editing.tree import Tree, listed
from jounce.errors import ModelWarning
from jounce.parts.constraints import ConstraintRecord, Gear
from jounce.parts.joints import Fixed, Follow

Array = NDArray[np.float64]


def subtree(tree: Tree, name: str) -> Tree:
    """See `Model.subtree`."""
    index = tree.index(name)
    kept = _with_what_hangs(tree, [index])
    top = tree.bodies[index]
    ground = tree.fixed_pose(top.parent) if top.at is None else None
    root = replace(top, parent=-1, at=None, placement=(np.eye(4) if ground is None else ground) @ top.placement)
    return _cut(tree, sorted(kept), {index: root}, ground is not None)


def without(tree: Tree, name: str) -> Tree:
    """See `Model.remove`."""
    gone = _with_what_hangs(tree, [tree.index(name)])
    part = _cut(tree, [i for i in range(len(tree.bodies)) if i not in gone], {}, grounded=True)
    left = {c.name for c in part.constraints}
    for c in tree.constraints:  # with the world: those with other bodies were refused
        if c.name not in left and not isinstance(c.kind, Gear) and "world" in (c.a, c.b):
            raise ValueError(_tie_to_what_goes(c, c.b if c.a == "world" else c.a, "world", "which stays"))
    return part


def _with_what_hangs(tree: Tree, roots: Iterable[int]) -> set[int]:
    """Bodies, and all below them."""
    found = set(roots)
    for i, body in enumerate(tree.bodies):
        if body.parent in found:
            found.add(i)
    return found


def chain(tree: Tree, base: str, tip: str) -> Tree:
    """See `Model.chain`."""
    path = _path(tree, base, tip)
    start = tree.index(base)
    ground = np.eye(4) if start < 0 else tree.fixed_pose(start)
    roots = {}
    if start >= 0:
        foot = tree.bodies[start]
        pose = np.eye(4) if ground is None else ground
        roots[start] = BodyRecord(foot.name, -1, Fixed(), pose, foot.inertia, visuals=foot.visuals)
        above = tree.bodies[path[0]] if path else None
        if above is not None and above.at is not None:
            raise ValueError(f"base is {quoted(base)}, which bends: {quoted(above.name)} is not at its far end")
    kept = _with_what_is_fixed(tree, [*roots, *path], on_world=start < 0)
    part = _cut(tree, kept, roots, ground is not None)
    _say_what_it_weighs(tree, path, kept)
    return part


def _say_what_it_weighs(tree: Tree, path: Sequence[int], kept: Collection[int]) -> None:
    """Warns of what the joints of a chain carried and do no more, and of what they carry beyond its tip."""
    moving = next((k for k, i in enumerate(path) if tree.bodies[i].moves), len(path))
    carried = _with_what_hangs(tree, path[moving:])
    heavy = [i for i in carried if (b := tree.bodies[i]).soft is not None or not b.inertia.is_zero]
    lost = sorted(i for i in heavy if i not in kept)
    beyond = _with_what_hangs(tree, path[-1:]) - set(path)
    more = sorted(i for i in heavy if i in kept and i in beyond)
    said = []
    if lost:
        what = f"what moves on the chain is left out, {_weighed(tree, lost)}"
        said.append(f"{what}: lock its joints first to keep it, or remove it first")
    if more:
        said.append(f"what is fixed to the tip stays, {_weighed(tree, more)}: remove it first to leave it out")
    if said:
        warnings.warn("; ".join(said), ModelWarning, stacklevel=4)


def _weighed(tree: Tree, bodies: Sequence[int]) -> str:
    """Names and mass, for a message."""
    some = [tree.bodies[i] for i in bodies]
    mass = sum(b.inertia.mass if b.soft is None else b.soft.mass for b in some)
    return f"{listed(b.name for b in some)} ({mass:.3g} kg)"


def _path(tree: Tree, base: str, tip: str) -> list[int]:
    """The bodies after base, to tip."""
    start, end = tree.index(base), tree.index(tip)
    path: list[int] = []
    while end != start:
        if end < 0:
            raise ValueError(f"tip is {quoted(tip)}, which does not hang below base, {quoted(base)}")
        path.append(end)
        end = tree.bodies[end].parent
    return path[::-1]


def _with_what_is_fixed(tree: Tree, path: Sequence[int], on_world: bool) -> list[int]:
    """The bodies of a chain and those fixed to them, in the order of the tree."""
    kept = set(path)
    for i, b in enumerate(tree.bodies):
        carried = b.parent in kept or (on_world and b.parent < 0)
        on_the_base = bool(path) and not on_world and b.parent == path[0]
        if carried and not b.moves and not (on_the_base and b.at is not None):
            kept.add(i)
    return sorted(kept)


def _cut(tree: Tree, kept: Sequence[int], roots: dict[int, BodyRecord], grounded: bool) -> Tree:
    """The bodies that are kept, some of them as given; `grounded`: the world is still where it was."""
    place = {old: new for new, old in enumerate(kept)} | {-1: -1}
    follows = resolve(tree.bodies)
    bodies = [roots.get(i) or replace(b := tree.bodies[i], parent=place[b.parent]) for i in kept]
    left = {b.joint_name for b in bodies if b.joint.nv}
    bodies = [_with_its_leader(b, follows, left) if b.joint.follows else b for b in bodies]
    part = Tree(bodies, tree.gravity, scenery=tree.scenery if grounded else (), keyframes=tree.keyframes)
    ties = [c for c in tree.constraints if _stays(c, part, grounded)]
    for c in ties:
        expect_mobile(c, bodies)
    return replace(part, constraints=ties)


def _with_its_leader(body: BodyRecord, follows: Mapping[str, Follow], left: Collection[str]) -> BodyRecord:
    """A follower, past joints that are cut away, on the joint at the end of the chain."""
    follow = follows[body.joint_name]
    if follow.joint not in left:
        raise ValueError(
            f"joint {quoted(body.joint_name)} follows {quoted(follow.joint)}, which would be cut away: "
            f"lock {quoted(follow.joint)} first, or keep it"
        )
    direct = body.joint.follows
    return body if direct is None or direct.joint in left else replace(body, joint=body.joint.changed(follows=follow))


def _stays(c: ConstraintRecord, part: Tree, grounded: bool) -> bool:
    """Whether a constraint is one of the part alone."""
    if isinstance(c.kind, Gear):
        known: list[bool | None] = [name in part.joints for name in (c.a, c.b)]
    else:
        world = None if grounded or not c.held else False
        known = [world if name == "world" else part.index(name) >= 0 for name in (c.a, c.b)]
    if True not in known:
        return False
    if False not in known:
        return True
    lost, here = (c.a, c.b) if known[0] is False else (c.b, c.a)
    why = "which would be another one" if lost == "world" else "which would be cut away"
    raise ValueError(_tie_to_what_goes(c, here, lost, why))


def _tie_to_what_goes(c: ConstraintRecord, one: str, other: str, why: str) -> str:
    return f"constraint {quoted(c.name)} ties {quoted(one)} to {quoted(other)}, {why}: {left_out(c.name)}"
