"""The arm used in the examples: base, shoulder, elbow and wrist, and a load in its hand. Not an example itself."""

import jounce as jn

LINKS = (  # name, axis, length in m, mass in kg
    ("base", (0, 0, 1), 0.30, 6.0),
    ("shoulder", (0, 1, 0), 0.40, 5.0),
    ("elbow", (0, 1, 0), 0.35, 3.0),
    ("wrist", (0, 1, 0), 0.15, 1.0),
)


def add_arm(builder: jn.Builder, load: float = 2.0) -> jn.Builder:
    """Four slender rods, upright at zero, with the load, kg, as a point mass at the end, "hand"."""
    parent, place = "world", jn.placement()
    for name, axis, length, mass in LINKS:
        across = mass * length**2 / 12
        rod = jn.Inertia(mass, com=(0, 0, length / 2), rotational=(across, across, mass * 0.04**2))
        builder.add(name, parent, jn.Revolute(axis), place, rod)
        parent, place = name, jn.placement((0, 0, length))
    builder.add("hand", parent, jn.Fixed(), place, jn.Inertia(load))
    return builder
