"""Paper C's example as its authors computed it: the robot, the motion, and the curves of Figs. 1 to 5.

The paper prints none of the numbers. They are those of the code that its authors published with it, `SOURCE`, which has
no licence: only numbers are taken from there. Robot and motion are in the script `SCRIPT`, the curves in ``results/``,
five EPS files of 10,001 points a curve, of which ``panda_curves.csv`` here has every fiftieth.

Each body's inertial parameters were identified by Gaz et al., RA-L 2019, the paper's reference [28]. The script takes
them as moments about the origin of the link frame, so links 2 to 6 are not bodies of positive density, three of them
have negative principal moments, and the robot is made with ``physical=False``. The matrix of link 7 is not symmetric
there, yz is -7.41e-4 above the diagonal and +7.41e-4 below: MassMatrixMixedData.m uses the upper triangle.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from jounce.model import Model
from jounce.robots import panda as panda

from .claims import Array

SOURCE = "https://github.com/shivesh1210/nth_order_eom_time_derivatives"
COMMIT = "acea7b797c7bd68a7001d8353877b4fc7aed3c17"
SCRIPT = "Panda_NthOrder_InvDyn_BodyFixed_RecursiveForm.m"
PERIOD = 5.0  # s
SAMPLES = 10_000  # steps of time; a curve has a point more
THINNED = 50  # the data here have every fiftieth point

# mass (kg); centre of mass (m); xx, xy, yy, xz, yz, zz about the origin of the link frame (kg m^2)
_INERTIAS = (
    (4.970684, (3.875e-3, 2.081e-3, -1.75e-1), (7.0337e-1, -1.39e-4, 7.0661e-1, 6.772e-3, 1.9169e-2, 9.117e-3)),
    (0.646926, (-3.141e-3, -2.872e-2, 3.495e-3), (7.962e-3, -3.925e-3, 2.811e-2, 1.0254e-2, 7.04e-4, 2.5995e-2)),
    (3.228604, (2.7518e-2, 3.9252e-2, -6.6502e-2), (3.7242e-2, -4.761e-3, 3.6155e-2, -1.1396e-2, -1.2805e-2, 1.083e-2)),
    (3.587895, (-5.317e-2, 1.04419e-1, 2.7454e-2), (2.5853e-2, 7.796e-3, 1.9552e-2, -1.332e-3, 8.641e-3, 2.8323e-2)),
    (1.225946, (-1.1953e-2, 4.1065e-2, -3.8437e-2), (3.5549e-2, -2.117e-3, 2.9474e-2, -4.037e-3, 2.29e-4, 8.627e-3)),
    (1.666555, (6.0149e-2, -1.4117e-2, -1.0517e-2), (1.964e-3, 1.09e-4, 4.354e-3, -1.158e-3, 3.41e-4, 5.433e-3)),
    (0.735522, (1.0517e-2, -4.252e-3, 6.1597e-2), (1.2516e-2, -4.28e-4, 1.0027e-2, -1.196e-3, -7.41e-4, 4.815e-3)),
)
# Amplitudes of the joint rates, rad/s, and frequencies, rad/s
_SPEEDS = np.array([2.21, -2.21, 1.2, -2.1, -2.3, 2.1, -2.5])
_FREQUENCIES = np.array(
    [
        1.7073873117335832,
        3.079992797637052,
        2.1084514453622774,
        3.5903916041026207,
        1.4183262544423447,
        2.285625793808507,
        5.927533308659986,
    ]
)
# By figure of the paper: the file, and the range of its vertical axis, which is 343 units long and begins at 374.
FIGURES = {
    "Fig. 1": ("q", -2.0, 2.0),
    "Fig. 2": ("Q", -40.0, 30.0),
    "Fig. 3": ("1storderQ", -150.0, 150.0),
    "Fig. 4": ("2ndorderQ", -800.0, 800.0),
    "Fig. 5": ("3rdorderQ", -8000.0, 8000.0),
}
_BOTTOM, _HEIGHT = 374.0, 343.0


def published() -> Model:
    """The robot of Figs. 2 to 5: seven joints, moments about the link frames, and no gravity.

    >>> robot = published()
    >>> robot.unphysical
    ('link2', 'link3', 'link4', 'link5', 'link6')
    """
    parameters = [[mass, *(mass * np.array(com)), *moments] for mass, com, moments in _INERTIAS]
    robot = panda().replace(gravity=(0.0, 0.0, 0.0))
    return robot.with_inertial_parameters(np.ravel(parameters), physical=False)


def motion(t: Array, rows: int) -> tuple[Array, Array]:
    """q (T, 7) and velocity stacks (T, rows, 7) of Fig. 1: c cos(w t), starting at rest.

    >>> q, v = motion(np.array([0.0]), 2)
    >>> q.round(2).tolist(), (v[0, 0] == 0).all()
    ([[-1.29, 0.72, -0.57, 0.58, 1.62, -0.92, 0.42]], np.True_)
    """
    w, angle = _FREQUENCIES, np.multiply.outer(np.asarray(t), _FREQUENCIES)
    q = -_SPEEDS / w * np.cos(angle)
    stack = [_SPEEDS * w**k * np.sin(angle + k * np.pi / 2) for k in range(rows)]
    return q, np.stack(stack, axis=-2)


@lru_cache
def times() -> Array:
    """Of the points of `published_curves`, s."""
    return np.arange(0, SAMPLES + 1, THINNED) * (PERIOD / SAMPLES)


def published_curves() -> dict[str, Array]:
    """By figure, (201, 7) values at `times`, read from the authors' files; to half of 1/343,000 of the axis."""
    table = np.loadtxt(Path(__file__).with_name("panda_curves.csv"), delimiter=",", comments="#")
    columns = np.split(table[:, 1:] / (1e3 * _HEIGHT), len(FIGURES), axis=1)
    return {
        name: low + part * (high - low) for (name, (_, low, high)), part in zip(FIGURES.items(), columns, strict=True)
    }


def curves_of(folder: Path) -> dict[str, Array]:
    """By figure, (10001, 7) values at all times, from a clone of the authors' code.

    Raises:
        ValueError: the folder lacks a file, or one of them has other curves.
    """
    found = {}
    for name, (stem, low, high) in FIGURES.items():
        file = folder / "results" / f"{stem}.eps"
        paths = re.findall(r"\nN\n((?:-?[\d.]+ -?[\d.]+ [ML]\n)+)S\n", file.read_text(encoding="latin-1"))
        curves = [np.array([line.split()[:2] for line in p.splitlines()], dtype=float) for p in paths]
        long = [curve[:, 1] for curve in curves if len(curve) == SAMPLES + 1]
        if len(long) != 7:
            raise ValueError(f"{file} has {len(long)} curves of {SAMPLES + 1} points, expected 7")
        found[name] = low + (_BOTTOM - np.stack(long, axis=1)) / _HEIGHT * (high - low)
    return found
