"""The robots of soft_models, built with jounce."""

from __future__ import annotations

import numpy as np

import jounce as jn
from soft_models import Joint, RigidBody, Rod, SoftSpec, VariableRadiusBody


def rod_of(module: Rod, nodes: int | None) -> jn.soft.Rod:
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
    )


def build_soft(spec: SoftSpec, *, nodes: int | None = None, exact_nodes: bool = False) -> jn.Model:
    """nodes: of every rod, the library's own choice when None, the spec's where `exact_nodes`."""
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
            b.add(f"m{i}", body=rod_of(m, count), **where)
        else:
            assert isinstance(m, VariableRadiusBody)
            body = jn.soft.VariableRadius(
                length=m.length,
                radius=m.radius,
                density=m.density,
                young=m.young,
                poisson=m.poisson,
                damping=m.viscosity,
                wall=m.wall,
                law={"quadratic": "beam", "svk": "solid"}[m.law],
                nodes=count,
            )
            b.add(f"m{i}", body=body, **where)
    return b.build(allow_massless=True)
