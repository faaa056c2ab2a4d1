"""The robots of soft_models, built with jounce, and measures of the difference between two answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np

import jounce as jn
from soft_models import (
    Joint,
    Module,
    RigidBody,
    Rod,
    SoftSpec,
    VariableRadiusBody,
    random_module,
    random_soft_state,
    random_soft_tree,
)


def rod_of(module: Rod, nodes: int | None, check: bool = True) -> jn.soft.Rod:
    def at(s: float) -> np.ndarray:
        return module.strain_basis(np.array([s]))[0]

    return jn.soft.Rod(
        length=module.length,
        radius=tuple(module.radii),
        density=module.density,
        young=module.young,
        poisson=module.poisson,
        damping=module.viscosity,
        strain=at(0.0) if module.uniform else at,
        section=module.section,
        nodes=nodes,
        check=check and nodes is None,
    )


def nodes_of(given: object) -> tuple[int, int] | None:
    return None if given is None else (int(given[0]), int(given[1]))


@cache
def swelling(
    length: float,
    radius: float,
    density: float,
    young: float,
    poisson: float,
    viscosity: float,
    wall: float,
    law: str,
    nodes: tuple[int, int] | None,
) -> jn.soft.VariableRadius:
    """Cached: its volume integrals take a while."""
    return jn.soft.VariableRadius(
        length,
        radius,
        density,
        young,
        poisson,
        viscosity,
        wall,
        {"quadratic": "beam", "svk": "solid"}[law],
        nodes,
        check=nodes is None,
    )


def build_soft(spec: SoftSpec, *, nodes: int | None = None, exact_nodes: bool = False, check: bool = True) -> jn.Model:
    """nodes: of every rod; the library's own choice if None, the spec's with `exact_nodes`."""
    b = jn.Builder(gravity=spec.gravity)
    for i, m in enumerate(spec.modules):
        where = {"parent": "world" if m.parent < 0 else f"m{m.parent}", "placement": m.placement}
        count = m.nodes if exact_nodes and not isinstance(m, (Joint, RigidBody)) else nodes
        if isinstance(m, Joint):
            kinds = {"revolute": jn.Revolute, "prismatic": jn.Prismatic}
            b.add(f"m{i}", joint=jn.Free() if m.kind == "free" else kinds[m.kind](m.axis), **where)
        elif isinstance(m, RigidBody):
            b.add(f"m{i}", joint=jn.Fixed(), inertia=jn.Inertia(m.mass, m.com, m.inertia), **where)
        elif isinstance(m, Rod):
            b.add(f"m{i}", body=rod_of(m, count, check), **where)
        else:
            assert isinstance(m, VariableRadiusBody)
            body = swelling(
                m.length, m.radius, m.density, m.young, m.poisson, m.viscosity, m.wall, m.law, nodes_of(count)
            )
            b.add(f"m{i}", body=body, **where)
    return b.build(allow_massless=True)


def heavy_tree(
    rng: np.random.Generator,
    kinds: tuple[str, ...],
    *,
    serial: bool = False,
    floating: bool = False,
    slow: bool = False,
) -> SoftSpec:
    """A random soft tree with a rigid body on each of its joints, so that its mass matrix can be inverted.

    slow: of a material so soft that no shape has eigenvalues beyond about 100 / s. Each derivative of an acceleration
    is more sensitive than the previous one by the fastest eigenvalue; those of a stiff robot have no correct digits.
    """
    spec = random_soft_tree(rng, kinds, serial=serial, floating=floating)
    modules: list[Module] = list(spec.modules)
    if slow:
        softer = {"young": 50.0, "viscosity": 1e-3}
        modules = [replace(m, **softer) if isinstance(m, (Rod, VariableRadiusBody)) else m for m in modules]
    loads = [random_module(rng, "rigid", i) for i, m in enumerate(modules) if isinstance(m, Joint)]
    return SoftSpec((*modules, *loads), spec.gravity)


def heavy_robot(seed: int, kinds: tuple[str, ...], rows: int, **how: bool) -> tuple[jn.Model, np.ndarray, np.ndarray]:
    """A heavy tree as a jounce model, with few sections, a configuration and a velocity stack (rows, nv)."""
    rng = np.random.default_rng(seed)
    spec = coarse(heavy_tree(rng, kinds, **how))
    return build_soft(spec, exact_nodes=True), *random_soft_state(rng, spec, rows)


def coarse(spec: SoftSpec) -> SoftSpec:
    """The robot with few nodes, for laws that hold for any number of them."""
    nodes = {Rod: 5, VariableRadiusBody: (3, 4)}
    modules = [replace(m, nodes=nodes[type(m)]) if type(m) in nodes else m for m in spec.modules]
    return SoftSpec(tuple(modules), spec.gravity)


def cut(rod: Rod, *at: float) -> list[Rod]:
    """The rod cut into pieces with the same strains, each attached to the previous one."""
    ends = (0.0, *at, rod.length)
    radius = rod.radius(np.array(ends))
    return [
        replace(
            rod,
            length=end - start,
            radii=(radius[i], radius[i + 1]),
            basis=lambda s, start=start: rod.strain_basis(s + start),
            **({"placement": np.eye(4)} if i else {}),
        )
        for i, (start, end) in enumerate(pairwise(ends))
    ]


def error(actual: np.ndarray, expected: np.ndarray, unit: np.ndarray | float = 1.0) -> float:
    """Greatest difference over the greatest entry expected, both measured in `unit`, which broadcasts."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    assert np.isfinite(actual).all()
    size = np.abs(expected / unit).max(initial=0.0)
    return float(np.abs((actual - expected) / unit).max(initial=0.0) / (size or 1.0))


def row_errors(actual: np.ndarray, expected: np.ndarray, unit: np.ndarray | float = 1.0) -> float:
    """The greatest error of all rows: no order hides behind a larger one."""
    return max(error(a, b, unit) for a, b in zip(actual, expected, strict=True))


def central(function: Callable[[float], np.ndarray], h: float) -> np.ndarray:
    """The derivative at 0 by an eighth-order central difference."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return np.asarray(sum(w * (function(k * h) - function(-k * h)) for k, w in enumerate(weights, 1))) / h
