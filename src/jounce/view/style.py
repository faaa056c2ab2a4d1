"""Colours shared by all scenes."""

from __future__ import annotations

from jounce.parts.visual import Colour

RGB = tuple[int, int, int]

LINK: Colour = (0.74, 0.77, 0.81, 1.0)  # a link whose file gives no colour
BONE: Colour = (0.32, 0.36, 0.42, 1.0)  # of plain drawings: what connects joints
GROUND: Colour = (0.60, 0.64, 0.69, 1.0)  # and what connects those of the world
JOINT: Colour = (0.16, 0.18, 0.22, 1.0)
LIMBS: tuple[Colour, ...] = (  # of plain drawings: masses, limb by limb
    (0.35, 0.55, 0.75, 0.5),
    (0.87, 0.54, 0.32, 0.5),
    (0.38, 0.66, 0.55, 0.5),
    (0.78, 0.58, 0.70, 0.5),
    (0.88, 0.72, 0.35, 0.5),
    (0.52, 0.70, 0.82, 0.5),
)
SOFT: Colour = (0.90, 0.55, 0.42, 1.0)
GHOST = 0.3  # opacity of a reference
INERTIA: RGB = (120, 130, 200)
FORCES: tuple[RGB, ...] = ((213, 94, 0), (0, 114, 178), (0, 158, 115), (204, 121, 167))  # and their derivatives
MOMENTS: tuple[RGB, ...] = ((240, 170, 110), (120, 180, 220), (120, 205, 180), (230, 185, 210))
TRACES: tuple[RGB, ...] = ((130, 115, 180), (95, 150, 110), (175, 145, 75), (115, 125, 140))
LOOP: RGB = (140, 64, 165)  # joints that close loops
CONTACT: RGB = (24, 140, 90)  # with the world
GAP: RGB = (220, 30, 30)  # where a constraint does not hold
LINEAR: RGB = (60, 60, 60)
ANGULAR: RGB = (150, 150, 150)
FLOOR: RGB = (236, 239, 243)
CELLS: RGB = (221, 226, 232)
SECTIONS: RGB = (196, 203, 212)


def rgb(colour: Colour) -> RGB:
    """0 to 255."""
    red, green, blue = (round(255 * x) for x in colour[:3])
    return red, green, blue


def linear(colour: RGB) -> RGB:
    """The colour to pass for viser's arrows, which, unlike other shapes, take it as linear light."""
    red, green, blue = (round(255 * (x / 255) ** 2.2) for x in colour)
    return red, green, blue
