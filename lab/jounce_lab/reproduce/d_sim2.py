"""D-sim2: paper D's Simulation 2, a tentacle of Gaussian curvature that falls, and the complexity of its methods."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jounce.builder import Builder
from jounce.display.style import BLUE, COLOURS, DASHES, GREY, legend_above, picture, tidy
from jounce.dynamics.statics import Equilibrium
from jounce.model import Model
from jounce.simulation.simulate import simulate
from jounce.soft import Rod, gaussian

from . import d_operations, d_scaling
from .claims import Array, Claim, Result, Tell, agrees, judged, off, silent, unchecked, write_csv
from .d_sim1 import modes, settling

LENGTH, RADII = 0.2, ((0.01, 0.005), (0.005, 0.002))
PRINTED, MEANT = 0.666e9, 0.666e6  # Pa
SCRIPTS = 9  # of Jelly's src/test at b541c85 have YoungModulus = 6.66e5
START = np.array([0.1, 0, 0, 0, 0, 0.1, 0, 0, 0, 0])  # a little bent
_OTHER_STARTS = START / 10, START * 5, START * [1, 0, 0, 0, 0, -3, 0, 0, 0, 0]
_BODIES = ("body 1", "body 2")
_VI = "D, section VI.B"


@dataclass(frozen=True, eq=False)
class _Case:
    """The motion for one modulus, and where it ends."""

    key: str
    title: str
    robot: Model
    time: Array
    q: Array
    tip: Array
    rest: Equilibrium
    slowest: float  # s, time constant of the slowest mode, except the one that turns the whole arm about the vertical


def arm(young: float) -> Model:
    """Two conical bodies, upright."""
    b, last = Builder(), "world"
    for name, radii in zip(_BODIES, RADII, strict=True):
        b.add(name, last, body=Rod(LENGTH, radii, 1070.0, young, 0.4, 0.01, strain=gaussian(), section="line"))
        last = name
    return b.build()


def run(output: Path, quick: bool = False, tell: Tell = silent, authors: Path | None = None) -> Result:
    """Section VI.B with the authors' own Young's modulus, and with the printed one; cost over the number of modules.

    Args:
        authors: a clone of the authors' toolbox, in which the modulus is looked up.
    """
    tell(0.0, "as printed")
    stiff = _case("printed", "E = 0.666 GPa, as printed", PRINTED, 0.1, START * 0)
    tell(0.2, "with 0.666 MPa")
    soft = _case("meant", "E = 0.666 MPa", MEANT, 30.0, START * 10)
    others = [] if quick else [_case("", "", MEANT, 30.0, START * 10, start) for start in _OTHER_STARTS]
    tell(0.5, "operations")
    bodies = np.array([2, 4, 8])
    made = d_operations.operations(bodies)
    tell(0.7, "time")
    measured = d_scaling.times(quick)
    tell(0.9, "figures")
    pictures = output / "D-sim2.png", output / "D-sim2-complexity.png"
    _draw((stiff, soft), pictures[0])
    _draw_times(measured, pictures[1])
    header = ["bodies", *(f"{name.replace(', ', ' ')}_s" for name in measured)]
    counts = next(iter(measured.values()))[0]
    rows = zip(counts, *(seconds for _, seconds in measured.values()), strict=True)
    bell, condition = float(np.exp(-((LENGTH / 2) ** 2))), float(np.linalg.cond(soft.robot.mass_matrix(START)))
    return Result(
        claims=[
            *_kinematics(soft), *_outcomes(stiff, soft, others), *([] if authors is None else [_modulus(authors)]),
            *d_operations.claims(bodies, made, d_scaling.in_words(measured)), *_open(),
        ],
        left_out=[
            ("the initial configuration, missing in the text at hand", "each body bent by 0.1 rad, in a plane"),
            ("the law of the material", "a beam's, as in the authors' toolbox; mass on the backbone, as there"),
            ("nodes along a body", "as many as 1e-8 needs, with Magnus expansions between them"),
            ("how time is integrated", "Radau's implicit method of order 9, exact Jacobian, relative tolerance 1e-5"),
        ],
        figures=[
            (
                pictures[0],
                "Fig. 5: coordinates, tip, and the arm in the plane it falls in, first and last in blue. As printed, "
                "and with the modulus of the authors' scripts, a thousandth of it.",
            ),
            (pictures[1], "Time of a call over the number of soft bodies, three coordinates each; grey: N, N^2, N^3."),
        ],
        data=[
            *(_written(case, output) for case in (stiff, soft)),
            write_csv(output / "D-sim2-complexity.csv", header, rows),
        ],
        notes=[
            f"The bell exp(-(s - L/2)^2), s in metres, is {bell:.3f} at the ends of a body of 0.2 m: nearly constant, "
            f"like the other function of the basis. The condition number of M is {condition:.0e}, and coordinates of "
            "100 rad that cancel each other are the rule."
        ],
    )  # fmt: skip


def _case(key: str, title: str, young: float, end: float, near: Array, start: Array = START) -> _Case:
    robot = arm(young)
    time = np.concatenate([np.linspace(0, end / 10, 121)[:-1], np.linspace(end / 10, end, 217)])
    motion = simulate(robot, start, np.zeros(robot.nv), time, method="implicit", rtol=1e-5, atol=1e-7)
    rest = robot.equilibrium(q0=near)
    rates = modes(robot, rest).real
    slowest = -1 / rates[rates < -1e-3].max()
    return _Case(key, title, robot, time, motion.q, _tips(robot, motion.q), rest, float(slowest))


def _tips(robot: Model, q: Array) -> Array:
    return np.asarray(robot.pose(_BODIES[-1], q)[..., :3, 3])


def _kinematics(c: _Case) -> list[Claim]:
    q = c.q[len(c.q) // 2]
    pose: Array = np.eye(4)
    for coordinates in q.reshape(2, 5):
        pose = pose @ _integrated(coordinates)
    return [
        agrees(
            "The kinematics of Gaussian curvature comes from the strains along the body: tip against dT/ds = T xi, "
            "integrated in 2000 steps (relative)",
            f"{_VI}, Phi", off(c.robot.pose(_BODIES[-1], q), pose), 1e-6,
        )
    ]  # fmt: skip


def _integrated(q: Array, steps: int = 2000) -> Array:
    """The pose of a body's far end by the classical Runge-Kutta method."""
    h = LENGTH / steps

    def strain(s: float) -> Array:
        bell = np.exp(-((s - LENGTH / 2) ** 2))
        x, y, stretch = -(q[2] + bell * q[3]) / LENGTH, (q[0] + bell * q[1]) / LENGTH, 1 + q[4] / LENGTH
        return np.array([[0, 0, y, 0], [0, 0, -x, 0], [-y, x, 0, stretch], [0, 0, 0, 0]])

    T: Array = np.eye(4)
    for k in range(steps):
        a, b, c = (strain((k + part) * h) for part in (0.0, 0.5, 1.0))
        k1 = T @ a
        k2 = (T + h / 2 * k1) @ b
        k3 = (T + h / 2 * k2) @ b
        T = T + h / 6 * (k1 + 2 * k2 + 2 * k3 + (T + h * k3) @ c)
    return T


def _outcomes(stiff: _Case, soft: _Case, others: list[_Case]) -> list[Claim]:
    """By the criterion of Simulation 1."""
    settled, near = (np.array(x) for x in zip(*(_settled(case) for case in (soft, *others)), strict=True))
    height = {case.key: float(_tips(case.robot, case.rest.q)[2]) for case in (stiff, soft)}
    at_once = _settled(stiff)[1]
    change = (
        f"0.666 MPa for 0.666 GPa, as {SCRIPTS} of the authors' own test scripts have it, YoungModulus = 6.66e5 in "
        "src/test of Jelly at b541c85."
    )
    return [
        judged(
            "At E = 0.666 MPa the arm reaches a steady state after about 5 s: when the tip stays within a tenth of its "
            f"largest distance, from {1 + len(others)} initial states",
            f"{_VI}, Fig. 5", "approximately 5 s, at 0.666 GPa",
            f"{_range(settled)}; within 1 mm after {_range(near)}",
            bool((settled > 2.5).all() and (settled < 10).all()),
            f"Its slowest mode decays with {soft.slowest:.2g} s. The initial state is missing in the text at hand. At "
            f"0.666 GPa the arm stays upright from any, its slowest mode decays with {stiff.slowest:.2g} s, and from "
            f"ours it is within 1 mm after {at_once:.2g} s.",
            change=change,
        ),
        judged(
            "The steady state is consistent with the direction of gravity",
            f"{_VI}, Fig. 5", "consistent",
            f"it bends over, tip {-1e3 * height['meant']:.0f} mm below the base", height["meant"] < 0,
            f"At 0.666 GPa it stays upright, tip {height['printed']:.3f} m high.", change=change,
        ),
    ]  # fmt: skip


def _range(seconds: Array) -> str:
    low, high = (f"{x:.2g}" for x in (seconds.min(), seconds.max()))
    return f"{low} s" if low == high else f"{low} to {high} s"


def _settled(case: _Case) -> tuple[float, float]:
    return settling(case.time, case.tip, _tips(case.robot, case.rest.q))


def _modulus(clone: Path) -> Claim:
    """How many of the authors' test scripts have Young's modulus of 0.666 MPa."""
    texts = [
        file.read_text(encoding="utf-8", errors="replace") for file in sorted((clone / "src" / "test").glob("*.m"))
    ]
    found = sum(bool(re.search(r"^\s*YoungModulus\s*=\s*6\.66e5\s*;", text, re.MULTILINE)) for text in texts)
    return judged(
        "The authors' test scripts have E = 0.666 MPa: how many of the clone", f"{_VI}", f"{SCRIPTS} at b541c85", found,
        found > 0,
    )  # fmt: skip


def _open() -> list[Claim]:
    return [
        unchecked(
            "A validation by experiment is out of scope, and will come", "D, section VI, section VII", "",
            "There is none in the paper.",
        )
    ]  # fmt: skip


def _written(case: _Case, output: Path) -> Path:
    header = ["time_s", *(f"q{j}_body{i}" for i in (1, 2) for j in range(1, 6)), "tip_x_m", "tip_y_m", "tip_z_m"]
    rows = ([t, *q, *tip] for t, q, tip in zip(case.time, case.q, case.tip, strict=True))
    return write_csv(output / f"D-sim2-{case.key}.csv", header, rows)


def _draw(cases: tuple[_Case, ...], path: Path) -> None:
    with picture(path, 3, len(cases), figsize=(7.5, 7.4), height_ratios=[1, 1, 1.9]) as (_, axes):
        for column, case in enumerate(cases):
            top, middle, bottom = axes[:, column]
            for i, name in ((0, "constant, body 1"), (1, "bell, body 1"), (5, "constant, body 2"), (6, "bell, body 2")):
                line = {"color": COLOURS[i // 5], "ls": DASHES[i % 5], "lw": 1.2}
                top.plot(case.time, case.q[:, i], **line, label=name)
            for i, name in ((0, "x"), (2, "z")):
                middle.plot(case.time, case.tip[:, i], color=COLOURS[2 + i // 2], ls=DASHES[i // 2], lw=1.2, label=name)
            left = column == 0
            tidy(top, "", "curvature coordinates (rad)" if left else "", case.title)
            tidy(middle, "time (s)", "tip (m)" if left else "")
            _strobe(bottom, case)
        legend_above(axes[0, 0], 2)
        axes[0, 1].set_title(axes[0, 1].get_title(), pad=24)
        axes[1, 0].legend(frameon=False, fontsize=7, loc="center right")
        axes[2, 0].set_ylabel("z (m)")


def _strobe(ax: Any, case: _Case) -> None:
    travelled = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(case.tip, axis=0), axis=1))])
    shown = np.searchsorted(travelled, np.linspace(0, travelled[-1], 14)[1:-1])
    for i in (*shown, 0, len(case.q) - 1):
        ends = i in (0, len(case.q) - 1)
        for name, (near, far) in zip(_BODIES, RADII, strict=True):
            frames = case.robot.backbone(name, case.q[i])
            radius = np.linspace(near, far, len(frames))[:, None]
            sides = [frames[:, :3, 3] + sign * radius * frames[:, :3, 0] for sign in (1, -1)]
            curve = np.vstack([sides[0], sides[1][::-1], sides[0][:1]])
            ax.plot(
                curve[:, 0],
                curve[:, 2],
                color=BLUE if ends else GREY,
                lw=1.0 if ends else 0.5,
                alpha=1 if ends else 0.6,
            )
    ax.set(aspect="equal", xlabel="x (m)", xlim=(-0.15, 0.4), ylim=(-0.2, 0.42))
    ax.grid(alpha=0.25, linewidth=0.5)


def _draw_times(measured: dict[str, tuple[Array, Array]], path: Path) -> None:
    with picture(path, figsize=(7.5, 3.2)) as (_, ax):
        for i, (name, (counts, seconds)) in enumerate(measured.items()):
            ax.loglog(counts, 1e6 * seconds, color=COLOURS[i], ls=DASHES[i], marker="o", ms=3, lw=1.2, label=name)
        counts, seconds = measured["GID"]
        for power in (1, 2, 3):
            slope = 1e6 * seconds[0] * (counts / counts[0]) ** float(power)
            ax.loglog(counts, slope, color=GREY, lw=0.6, zorder=0)
        tidy(ax, "soft bodies $N$", "time of a call (µs)")
        ax.set_xticks(counts, [str(n) for n in counts])
        ax.minorticks_off()
        ax.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
