"""Moving bodies with other inertial parameters.

The parameters of a body are those of all that is fixed to it, together. Forces do not tell these apart: what is given
for a body becomes its own, and what is fixed to it becomes massless, unless nothing changes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from jounce._checks import array_of, flag, quoted
from jounce.core_tables import inertial_parameters
from jounce.editing.tree import Tree
from jounce.parts.inertia import Inertia


def parametrized(tree: Tree, parameters: ArrayLike, physical: bool) -> Tree:
    """See `Model.with_inertial_parameters`."""
    flag("physical", physical)
    own = inertial_parameters(tree.bodies)
    given = array_of("parameters", parameters, own.shape)
    now, new = own.reshape(-1, 10), given.reshape(-1, 10)
    bodies, carrier, count = [], [], 0
    for body in tree.bodies:
        if body.moves:
            carrier.append(count)
            count += 1
        else:
            carrier.append(carrier[body.parent] if body.parent >= 0 else -1)
        k = carrier[-1]
        if k < 0 or np.array_equal(now[k], new[k]):
            bodies.append(body)
        elif not body.moves:
            bodies.append(replace(body, inertia=Inertia(0.0)))
        else:
            try:
                inertia = Inertia.from_parameters(new[k], physical=physical)
            except ValueError as fault:
                raise ValueError(f"body {quoted(body.name)}: {fault}") from None
            bodies.append(replace(body, inertia=inertia))
    return replace(tree, bodies=bodies)
