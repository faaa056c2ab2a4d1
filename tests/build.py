"""jounce models of the library-neutral trees."""

from __future__ import annotations

import jounce as jn
from trees import BodySpec, TreeSpec


def joint_of(body: BodySpec) -> jn.Joint:
    passive = {"armature": body.armature, "damping": body.damping, "stiffness": body.stiffness}
    match body.joint:
        case "free":
            return jn.Free(**passive)
        case "fixed":
            return jn.Fixed()
        case "revolute":
            return jn.Revolute(body.axis, **passive)
        case "prismatic":
            return jn.Prismatic(body.axis, **passive)
        case "helical":
            return jn.Helical(body.axis, body.pitch, **passive)
        case "cylindrical":
            return jn.Cylindrical(body.axis, **passive)
        case "planar":
            return jn.Planar(body.axis, body.axis2, **passive)
        case "universal":
            return jn.Universal(body.axis, body.axis2, **passive)
        case "spherical":
            return jn.Spherical(**passive)
    raise ValueError(body.joint)


def jounce_model(tree: TreeSpec) -> jn.Model:
    builder = jn.Builder(gravity=tree.gravity)
    for body in tree.bodies:
        parent = "world" if body.parent < 0 else tree.bodies[body.parent].name
        inertia = jn.Inertia(body.mass, body.com, body.inertia)
        builder.add(body.name, parent, joint_of(body), body.placement, inertia)
    return builder.build()
