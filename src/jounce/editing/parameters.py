"""Moving bodies with other inertial parameters.

The parameters of a body are those of all that is fixed to it, together. Forces do not tell these apart. What is fixed
keeps its own inertia, so that it can be removed or replaced later, and the body gets the rest; where the rest is no
inertia, the body gets all, and what is fixed to it becomes massless.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, callers, flag, quoted
from jounce.core_tables import BodyRecord, inertial_parameters
from jounce.editing.tree import Tree, listed
from jounce.errors import ModelWarning
from jounce.parts.inertia import Inertia

Array = NDArray[np.float64]
_GROUPS = slice(0, 1), slice(1, 4), slice(4, 10)  # of parameters in the same units


def parametrized(tree: Tree, parameters: ArrayLike, physical: bool) -> Tree:
    """See `Model.with_inertial_parameters`."""
    flag("physical", physical)
    own = inertial_parameters(tree.bodies)
    given = array_of("parameters", parameters, own.shape)
    now, new = own.reshape(-1, 10), given.reshape(-1, 10)
    fixed = _of_what_is_fixed(tree.bodies).reshape(-1, 10)
    bodies, count = list(tree.bodies), 0
    carrier: list[int] = []
    lumped: dict[int, str] = {}
    for i, body in enumerate(tree.bodies):
        if not body.moves:
            carrier.append(k := carrier[body.parent] if body.parent >= 0 else -1)
            if k in lumped:
                bodies[i] = replace(body, inertia=Inertia(0.0))
            continue
        carrier.append(k := count)
        count += 1
        if np.array_equal(now[k], new[k]):
            continue
        try:
            whole = Inertia.from_parameters(new[k], physical=physical)
        except ValueError as fault:
            raise ValueError(f"body {quoted(body.name)}: {fault}") from None
        if fixed[k].any():
            try:
                real = physical or whole.fault is None
                whole = Inertia.from_parameters(_difference(new[k], fixed[k]), physical=real)
            except ValueError:
                lumped[k] = body.name
        bodies[i] = replace(body, inertia=whole)
    for k, name in lumped.items():
        beside = [b for b, on in zip(tree.bodies, carrier, strict=True) if on == k and not b.moves]
        heavy = [b for b in beside if b.inertia.mass > 0]
        warnings.warn(
            f"the parameters of {quoted(name)} leave no inertia for it beside what is fixed to it, "
            f"{listed(b.name for b in heavy)} ({sum(b.inertia.mass for b in heavy):.3g} kg): it has all of the mass "
            "now, and to remove or replace what is fixed to it takes none off",
            ModelWarning,
            stacklevel=callers(),
        )
    return replace(tree, bodies=bodies)


def _of_what_is_fixed(bodies: Sequence[BodyRecord]) -> Array:
    """As `inertial_parameters`, but of the bodies that are fixed to others alone."""
    return inertial_parameters([replace(b, inertia=Inertia(0.0)) if b.moves else b for b in bodies])


def _difference(a: Array, b: Array) -> Array:
    """a - b, in which rounding errors are zero."""
    found = a - b
    for group in _GROUPS:
        size = max(np.abs(a[group]).max(), np.abs(b[group]).max())
        found[group][np.abs(found[group]) <= 16 * np.finfo(float).eps * size] = 0.0
    return found
