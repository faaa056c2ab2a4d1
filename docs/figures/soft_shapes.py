"""Draws soft_shapes.png: the strain bases of a rod, a curved rest shape and a body of variable radius.

python docs/figures/soft_shapes.py
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from style import COLOURS, save

import jounce as jn

L, R, SECTIONS = 1.0, 0.045, 121
soft = jn.soft
along = np.linspace(0, L, SECTIONS)
around = np.linspace(0, 2 * np.pi, 49)


def rod(q, **options):
    """Rings (sections, angles, 3) on the surface of a rod, at q."""
    return rings(soft.Rod(L, R, 1000.0, 1e5, nodes=4, **options), q, np.full((SECTIONS, len(around)), R))


def rings(body, q, radius):
    builder = jn.Builder()
    builder.add("body", "world", body=body)
    poses = builder.build().backbone("body", q, along)
    out = np.stack([radius * np.cos(around), radius * np.sin(around), 0 * radius], axis=-1)
    return poses[:, None, :3, 3] + np.einsum("sij,saj->sai", poses[:, :3, :3], out)


def swollen(bend, stretch, one, other):
    """The bulges of a `VariableRadius` on its surface."""
    half = np.where(around < np.pi, around, around - np.pi)
    with np.errstate(divide="ignore"):
        shape = np.exp(-0.01 * L / (along * (L - along)))[:, None] * np.exp(-1 / (half * (np.pi - half)).clip(1e-12))
    radius = 0.09 + shape * np.where(around < np.pi, one, other)
    body = soft.VariableRadius(L, 0.09, 1000.0, 1e5, nodes=4)
    return rings(body, [bend, stretch, 0.0, 0.0], radius)


def upright(surface, axis):
    """Rotated so that the axis is vertical."""
    z = np.asarray(axis) / np.linalg.norm(axis)
    x = np.cross((0, 1, 0), z)
    x /= np.linalg.norm(x)
    return surface @ np.column_stack([x, np.cross(z, x), z])


bell = {"strain": soft.gaussian(center=0.6, width=0.12, elongation=False)}
wave = {"strain": soft.polynomial({"bend_y": 2})}
helix = {"strain": soft.constant_strain("bend_x", "twist", "stretch")}
coil = {"strain": soft.constant_curvature(elongation=False), "rest": (0, 0, 1, 11.0, 0, 7.0)}
SHAPES = (  # title, surface, surface at rest
    ("constant curvature", rod([0.7, 0.3, 0.03]), rod([0, 0, 0])),
    ("constant strain", upright(rod([6.0, 8.0, 0.1], **helix), (6, 0, 8)), rod([0, 0, 0], **helix)),
    ("polynomial", rod([-0.2, 1.6, 2.4], **wave), rod([0, 0, 0], **wave)),
    ("Gaussian", rod([-0.6, 4.0, 0, 0], **bell), rod([0, 0, 0, 0], **bell)),
    ("curved at rest", upright(rod([1.5, 1.0], **coil), (11, 0, 7)), upright(rod([0, 0], **coil), (11, 0, 7))),
    ("variable radius", swollen(0.45, 0.0, 0.15, 0.0), swollen(0, 0, 0, 0)),
)

figure = plt.figure(figsize=(7.5, 2.3), layout="none")
for i, (title, surface, rest) in enumerate(SHAPES):
    azimuth = 0 if title.startswith("variable") else -90  # it bends in another plane
    turn = np.deg2rad(azimuth + 90)
    light = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]]) @ (-0.5, -0.7, 0.5)
    normal = surface - surface.mean(axis=1)[:, None]
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    lit = np.clip(normal @ light, 0, 1)[..., None]
    faces = np.clip(np.array(to_rgb(COLOURS[i])) * (0.5 + 0.5 * lit) + 0.3 * lit**8, 0, 1)

    ax = figure.add_axes((i / 6 - 0.05, -0.19, 1 / 6 + 0.10, 1.27), projection="3d", computed_zorder=False)
    for side in rest[:, [0, 12, 24, 36]].swapaxes(0, 1) if azimuth == 0 else [rest.mean(axis=1)]:
        ax.plot(*side.T, color="0.3", lw=0.9, ls=(0, (4, 2)), zorder=1)
    ax.plot_surface(
        *np.moveaxis(surface, -1, 0), facecolors=faces, rstride=1, cstride=1, lw=0, antialiased=False, shade=False
    )
    middle = (surface.min(axis=(0, 1)) + surface.max(axis=(0, 1))) / 2
    ax.set(xlim=(middle[0] - 0.5, middle[0] + 0.5), ylim=(middle[1] - 0.5, middle[1] + 0.5), zlim=(0, 1.1))
    ax.set_box_aspect((1, 1, 1.1), zoom=1.52)
    ax.view_init(elev=14, azim=azimuth)
    ax.set_axis_off()
    ax.set_facecolor("none")
    ax.set_proj_type("ortho")
    figure.text((i + 0.5) / 6, 0.94, title, ha="center", va="center", fontsize=8.5)
save(figure, __file__)
