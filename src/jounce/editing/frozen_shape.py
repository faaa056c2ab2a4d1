"""A soft body held in one shape: a rigid body, with the mass of all its sections.

Its inertia is that of the body alone in space, where the mass matrix of its base is the spatial inertia about the near
end. The frame with its name stays at the far end, and children along it stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted
from jounce.core_tables import BodyRecord, marks_on
from jounce.editing.looks import together
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Free
from jounce.parts.pose import inverse
from jounce.parts.visual import ReadLater, Triangles, Visual

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]


def frozen_shape(bodies: Sequence[BodyRecord], name: str, q: Array) -> list[BodyRecord]:
    """The bodies, with the soft one of that name rigid, in the shape q (n,)."""
    index = next(i for i, b in enumerate(bodies) if b.name == name)
    model, state = _alone(bodies, index, q)
    inertia, far = _inertia(model.mass_matrix(state)), model.pose("body", state)
    marks = {s: model.pose(f"at {s!r}", state) for s in marks_on(bodies, index)}
    look = ReadLater(lambda: _look(model, state, far))
    visuals = together(bodies[index].visuals, look, np.eye(4))
    rigid = replace(bodies[index], soft=None, inertia=inertia.moved(inverse(far)), visuals=visuals)
    if isinstance(rigid.joint, Fixed):
        made = [*bodies[:index], replace(rigid, placement=rigid.placement @ far), *bodies[index + 1 :]]
        return [_moved_child(b, index, marks, far) for b in made]
    near = replace(rigid, name=f"{name}.near", inertia=Inertia(0.0), visuals=())
    near = replace(near, joint=near.joint.changed(name=bodies[index].joint_name))
    if any(b.name == near.name for b in bodies):
        raise ValueError(f"positions: {quoted(name)} needs a frame named {near.name!r}, the name of another body")
    rigid = BodyRecord(name, index, Fixed(), far, rigid.inertia, visuals=rigid.visuals)
    after = [_moved_child(b, index, marks, far) for b in bodies[index + 1 :]]
    return [*bodies[:index], near, rigid, *(replace(b, parent=b.parent + (b.parent >= index)) for b in after)]


def _moved_child(body: BodyRecord, index: int, marks: dict[float, Array], far: Array) -> BodyRecord:
    """A child somewhere along the body, placed in the frame at its far end."""
    if body.parent != index or body.at is None:
        return body
    return replace(body, at=None, placement=inverse(far) @ marks[body.at] @ body.placement)


def _alone(bodies: Sequence[BodyRecord], index: int, q: Array) -> tuple[Model, Array]:
    """The body alone in space, with a frame at each of its marks, and its configuration; its near end is at 0."""
    from jounce.model import Model

    soft, marks = bodies[index].soft, marks_on(bodies, index)
    alone = [BodyRecord("body", -1, Free(), np.eye(4), Inertia(0.0), soft)]
    alone += [BodyRecord(f"at {s!r}", 0, Fixed(), np.eye(4), Inertia(0.0), None, s) for s in marks]
    model = Model(alone, np.zeros(3))
    state = model.neutral()
    state[7:] = q
    return model, state


def _inertia(M: Array) -> Inertia:
    """From the mass matrix of a free body: the spatial inertia about its origin."""
    mass = float(M[0, 0])
    com = np.array([M[5, 1], M[3, 2], M[4, 0]]) / (mass or 1.0)
    about_com = M[3:6, 3:6] - mass * (com @ com * np.eye(3) - np.outer(com, com))
    return Inertia(mass, com, (about_com + about_com.T) / 2, physical=False)


def _look(model: Model, state: Array, far: Array) -> tuple[Visual, ...]:
    """Its surface, in the frame at its far end."""
    from jounce.view.style import SOFT
    from jounce.view.tubes import Tube

    tube = Tube(model, "body", 1.0)
    surface = Triangles("a soft body", tube.vertices(state).astype(np.float32), np.asarray(tube.faces))
    return (Visual(surface, inverse(far), SOFT),)
