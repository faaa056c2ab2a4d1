"""D-sim1: paper D's equations, and its Simulation 1: a hanging arm of variable radius, under pressure.

The paper does not give all of it, and its law is infinite at the printed nu. With the law of the authors' toolbox the
motion diverges; it is shown as is, with a tenth of the pressures, and with the three-dimensional law at nu = 0.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from jounce.builder import Builder
from jounce.display.style import BLUE, COLOURS, DASHES, GREY, picture, tidy
from jounce.dynamics.statics import Equilibrium
from jounce.model import Model
from jounce.simulation.simulate import simulate
from jounce.soft import VariableRadius

from .claims import Array, Claim, Result, Tell, agrees, judged, off, silent, unchecked, write_csv
from .d_equations import equations

LENGTH, RADIUS, WALL, YOUNG, POISSON = 0.2, 0.02, 0.004, 1.06e6, 0.5
PRESSURES = np.array([2.0, 0.0, 0.0, 2.0, 1.0, 0.4]) * 1e6
_BODIES = ("body 1", "body 2", "body 3")
_RUNAWAY = 10 * RADIUS  # a bulge that no arm survives
_VI = "D, section VI.A"


@dataclass(frozen=True, eq=False)
class _Case:
    """One reading of the simulation, and its outcome."""

    key: str
    title: str
    robot: Model
    u: Array
    time: Array
    q: Array
    tip: Array
    rest: Equilibrium | None


def arm(
    law: Literal["beam", "solid"] = "beam", poisson: float = POISSON, nodes: tuple[int, int] | None = None
) -> Model:
    """Three bodies, hanging: world z points down, along gravity."""
    body = VariableRadius(
        *(LENGTH, RADIUS, 1062.0, YOUNG, poisson), damping=0.1, wall=WALL, law=law, nodes=nodes, check=nodes is None
    )
    b = Builder(gravity=(0.0, 0.0, 9.81))
    for name, parent in zip(_BODIES, ("world", *_BODIES), strict=False):
        b.add(name, parent, body=body)
    return b.build()


def run(output: Path, quick: bool = False, tell: Tell = silent) -> Result:
    """Section VI.A in three readings, and sections II to VI on a chain of rigid and soft modules."""
    tell(0.0, "equations")
    claims = equations()
    tell(0.1, "the arm as printed")
    nodes = (10, 10) if quick else None
    beam = arm(nodes=nodes)
    printed = _runs_away(beam)
    tell(0.4, "a tenth of the pressures")
    end = 6.0 if quick else 8.0
    tenth = _settles("tenth", "a tenth of the pressures", beam, 0.1 * PRESSURES, end)
    limit = _limit(beam, tenth, 4 if quick else 8)
    tell(0.6, "the three-dimensional law")
    hard = arm("solid", 0.3, nodes)
    solid = _settles("solid", "three-dimensional law, $\\nu$ = 0.3", hard, PRESSURES, end / 2)
    cases = (printed, tenth, solid)
    tell(0.9, "figure")
    path = output / "D-sim1.png"
    _draw(cases, path)
    return Result(
        claims=[*claims, *_model(beam, hard, quick), *_outcomes(printed, tenth, solid, limit), *_open()],
        left_out=[
            ("points inside a section", "they move out with the surface, in proportion to their radius"),
            (
                "shape of the chambers",
                "the half sections up to 4 mm from the surface, swollen; dV = (stretch + curvature r sin phi) r dr "
                "dphi ds",
            ),
            ("number of Gauss points", f"{nodes or '96 along, 64 around each half section'}"),
            (
                "the law of the bulges (the three-dimensional law is infinite at the printed nu = 0.5)",
                "quadratic, as in the authors' toolbox Jelly; and the three-dimensional law at nu = 0.3",
            ),
            ('the bump: "exp(-L / ...)" is 2e-9 at most', "exp(-0.01 L / ...), as the toolbox has it"),
            ("how time is integrated", "Radau's implicit method of order 9, exact Jacobian, relative tolerance 1e-6"),
        ],
        figures=[
            (
                path,
                "Fig. 4: bend, elongation and bulges of the three bodies, and the arm in its plane, first and last in "
                "blue. As printed, stopped where a bulge is ten radii; settled at a tenth of the pressures; settled "
                "with the three-dimensional law.",
            )
        ],
        data=[_written(case, output) for case in cases],
        notes=["Positive pressures are those above the atmosphere's. z is down."],
    )  # fmt: skip


def _runs_away(robot: Model) -> _Case:
    """The motion from rest until a bulge is too large."""
    q, v, t, step = np.zeros(robot.nq), np.zeros(robot.nv), 0.0, 2.5e-3
    times, qs = [np.zeros(1)], [q[None]]
    while np.abs(q.reshape(3, 4)[:, 2:]).max() < _RUNAWAY and t < 0.2:
        piece = simulate(
            robot, q, v, t + np.linspace(0, step, 6), _push(robot, PRESSURES), method="implicit", rtol=1e-5, atol=1e-7
        )
        q, v, t = piece.q[-1], piece.v[-1], t + step
        times.append(piece.time[1:])
        qs.append(piece.q[1:])
        step = 2.5e-3 if t < 0.045 else 1e-3
    time, motion = np.concatenate(times), np.concatenate(qs)
    return _Case("printed", "2 MPa, as printed", robot, PRESSURES, time, motion, _tips(robot, motion), None)


def _settles(key: str, title: str, robot: Model, u: Array, end: float) -> _Case:
    time = np.concatenate([np.linspace(0, 1, 101)[:-1], np.linspace(1, end, 20 * int(end))])
    motion = simulate(
        robot, np.zeros(robot.nq), np.zeros(robot.nv), time, _push(robot, u), method="implicit", rtol=1e-6, atol=1e-8
    )
    return _Case(key, title, robot, u, time, motion.q, _tips(robot, motion.q), robot.equilibrium(u))


def modes(robot: Model, rest: Equilibrium) -> Array:
    """Eigenvalues of small motions about an equilibrium, 1/s, the slowest to decay first."""
    still = np.zeros(robot.nv)
    M = robot.mass_matrix(rest.q)
    D = robot.inverse_dynamics_derivatives(rest.q, still, still)[1]
    A = np.zeros((2 * robot.nv, 2 * robot.nv))
    A[: robot.nv, robot.nv :] = np.eye(robot.nv)
    A[robot.nv :] = -np.linalg.solve(M, np.hstack([rest.stiffness, D]))
    values = np.linalg.eigvals(A)
    return np.asarray(values[np.argsort(-values.real)])


def _push(robot: Model, u: Array) -> Any:
    return lambda t, q, v: robot.actuation_matrix(q) @ u


def _tips(robot: Model, q: Array) -> Array:
    return np.asarray(robot.pose(_BODIES[-1], q)[:, :3, 3])


def _limit(robot: Model, tenth: _Case, steps: int) -> float:
    """The fraction of the pressures up to which there is a stable equilibrium, by bisection."""
    assert tenth.rest is not None
    low, high, q = 0.12, 0.14, tenth.rest.q
    for _ in range(steps):
        part = (low + high) / 2
        try:
            found = robot.equilibrium(part * PRESSURES, q0=q)
            stable = found.stable
        except RuntimeError:
            stable = False
        if stable:
            low, q = part, found.q
        else:
            high = part
    return (low + high) / 2


def _model(beam: Model, solid: Model, quick: bool) -> list[Claim]:
    rng = np.random.default_rng(3)
    size = np.tile([1.0, 0.05 * LENGTH, 0.1 * RADIUS, 0.1 * RADIUS], 3)
    q, v, a = size * rng.uniform(-1, 1, (3, 12))
    changed = solid.inverse_dynamics(q, v, a) - beam.inverse_dynamics(q, v, a)
    own = [robot.elastic_force(q) + robot.damping_force(q, v) for robot in (solid, beam)]
    inertial = off(solid.generalized_inverse_dynamics(q, v, a), beam.generalized_inverse_dynamics(q, v, a))
    finer = arm(nodes=(36, 18) if quick else (160, 96)).generalized_inverse_dynamics(q, v, a)
    return [
        agrees(
            "A different model of the interaction forces changes Q^s alone: AID with the beam's and with the "
            "three-dimensional law, less their elastic and damping forces; and GID (relative)",
            "D, Remark 5", max(off(changed, own[0] - own[1]), inertial), 1e-9,
        ),
        agrees(
            "Integrals without a closed form are had by Gauss points: GID against that with more of them (relative)",
            "D, Remark 4, section VI.A", off(beam.generalized_inverse_dynamics(q, v, a), finer),
            1e-3 if quick else 1e-7,
        ),
        agrees(
            "Pressures act as u times the gradient of the chambers' volumes: against volumes by another quadrature, "
            "differentiated (relative)",
            f"{_VI}, (57)", off(beam.actuation_matrix(q)[:4, :2], _volume_gradient(q[:4])), 1e-3 if quick else 1e-5,
        ),
        judged(
            "The bump makes bodies bulge in the middle: its largest value, by which a coordinate of 1 m moves the "
            "surface",
            f"{_VI}, bump function", f"{np.exp(-4 / LENGTH - 4 / np.pi**2):.1e}",
            float(np.exp(-0.04 / LENGTH - 4 / np.pi**2)), lambda x: x > 0.1,
            change="0.01 L in place of L, in exp(-L / (L^2/4 - (s - L/2)^2)), as the authors' toolbox has it. As "
            "printed the exponent has a unit, and a bulge of 1 mm is a coordinate of 700 km.",
        ),
        judged(
            "Simulation 1's nu is one that the law of section V.B allows: E nu / ((1 + nu)(1 - 2 nu)) needs nu < 0.5",
            f"{_VI}, with the Lamé constants of section V.B", "nu = 0.5",
            f"1 - 2 nu = {1 - 2 * POISSON:g} there: infinite; {YOUNG * 0.3 / (1.3 * 0.4):.1e} Pa at nu = 0.3",
            POISSON < 0.5,
        ),
    ]  # fmt: skip


def _volume_gradient(q: Array) -> Array:
    """(4, 2), of the two chambers' volumes, by the midpoint rule and finite differences."""
    s = (np.arange(400) + 0.5) / 400 * LENGTH
    half = (np.arange(400) + 0.5) / 400 * np.pi
    bump = np.exp(-0.01 * LENGTH / (s * (LENGTH - s)))[:, None] * np.exp(-1 / (half * (np.pi - half)))

    def volumes(q: Array) -> Array:
        inner = [RADIUS - WALL + q[2 + h] * bump for h in range(2)]
        parts = [
            (1 + q[1] / LENGTH) * r**2 / 2 + sign * q[0] / LENGTH * np.sin(half) * r**3 / 3
            for r, sign in zip(inner, (1, -1), strict=True)
        ]
        return np.array([part.sum() for part in parts]) * LENGTH / 400 * np.pi / 400

    return np.array([(volumes(q + e) - volumes(q - e)) / 2e-4 for e in 1e-4 * np.eye(4)])


def _outcomes(printed: _Case, tenth: _Case, solid: _Case, limit: float) -> list[Claim]:
    bulge, stretch = np.abs(printed.q[-1].reshape(3, 4)[:, 2:]).max(), 1 + printed.q[-1, 1::4].max() / LENGTH
    claims = [
        unchecked(
            "From rest under u = (2 0 0 2 1 0.4) MPa the arm comes to a final configuration",
            f"{_VI}, Fig. 4", "a final configuration",
            "The law of section V.B is infinite at the printed nu = 0.5, and the shape of the chambers is not given. "
            "With the quadratic law of the authors' toolbox the motion runs away: the pressures are twice Young's "
            "modulus, and those of the chambers outweigh the radial stiffness as soon as the arm is stretched. A "
            f"stable equilibrium exists below {limit:.3f} of these pressures only.",
            f"at {printed.time[-1]:.3f} s a bulge is {bulge:.2f} m and a body {stretch:.1f} times its length",
        )
    ]  # fmt: skip
    changes = (
        (
            tenth,
            "at a tenth of the pressures",
            "A tenth of the pressures, the quadratic law of the authors' toolbox",
        ),
        (solid, "with the three-dimensional law", "nu = 0.3 for 0.5, with the Lamé constants and the strain corrected"),
    )
    for case, how, change in changes:
        assert case.rest is not None
        slowest = -1 / modes(case.robot, case.rest)[0].real
        settled, near = settling(case.time, case.tip, _tips(case.robot, case.rest.q[None]))
        end = f"within 1 mm after {near:.2g} s" if near < np.inf else f"not within 1 mm by {case.time[-1]:g} s"
        ours = f"within a tenth of its way after {settled:.2g} s, {end}; slowest mode {slowest:.2g} s"
        holds = case.rest.stable and settled < case.time[-1]
        claims.append(judged(
            f"It does {how}: the tip", f"{_VI}, Fig. 4", "a final configuration", ours, holds,
            change=f"{change}, and the bump with 0.01 L.",
        ))  # fmt: skip
    return claims


def settling(time: Array, tip: Array, rest: Array) -> tuple[float, float]:
    """When the tip stays within a tenth of its largest distance from its place at rest, and within 1 mm, s.

    The first is the criterion of both simulations: what one reads from a figure. Infinite if it does not.
    """
    distance = np.linalg.norm(tip - rest, axis=1)
    found = []
    for near in (0.1 * distance.max(), 1e-3):
        outside = np.flatnonzero(distance > near)
        inside = outside[-1] + 1 if len(outside) else 0
        found.append(float(time[inside]) if inside < len(time) else np.inf)
    return found[0], found[1]


def _open() -> list[Claim]:
    return [
        judged(
            "One inverse dynamics serves every robot; a simulation is a different model given to it",
            "D, section VI", "", "Model.inverse_dynamics, here, in D-sim2 and for the rigid chain", True,
        ),
        unchecked(
            "No single recursive inverse dynamics described all these systems before; their forward dynamics is an "
            "open problem; models with a variable radius are new",
            "D, abstract, sections I and VI.A", "", "Statements about the literature.",
        ),
        unchecked(
            "Chambers of pneumatic robots deform most in the middle of a body", _VI, "",
            "An observation of robots; the bump is made so.",
        ),
        unchecked(
            "The recursion holds for densities that change in time", "D, section IV", "",
            "jounce's masses are constant, as are the paper's in all of its equations.",
        ),
    ]  # fmt: skip


def _written(case: _Case, output: Path) -> Path:
    names = [f"{what}_{i}" for i in (1, 2, 3) for what in ("bend_rad", "elongation_m", "bulge1_m", "bulge2_m")]
    rows = ([t, *q, *tip[1:]] for t, q, tip in zip(case.time, case.q, case.tip, strict=True))
    return write_csv(output / f"D-sim1-{case.key}.csv", ["time_s", *names, "tip_y_m", "tip_z_m"], rows)


def outline(q: Array) -> list[Array]:
    """For each body of the arm, its sides and ends in the plane as a closed curve (P, 2) of y and z."""
    curves = []
    place, turn = np.zeros(2), 0.0
    s = np.linspace(0, LENGTH, 121)
    bump = np.exp(-0.01 * LENGTH / np.maximum(s * (LENGTH - s), 1e-9)) * np.exp(-4 / np.pi**2)
    for bend, elongation, first, second in q.reshape(-1, 4):
        angle = turn + bend * s / LENGTH
        along = (1 + elongation / LENGTH) * np.stack([-np.sin(angle), np.cos(angle)], axis=1)
        middle = place + np.vstack([np.zeros(2), np.cumsum((along[1:] + along[:-1]) / 2 * (s[1] - s[0]), axis=0)])
        across = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        sides = [
            middle + sign * (RADIUS + bulge * bump)[:, None] * across for sign, bulge in ((1, first), (-1, second))
        ]
        curves.append(np.vstack([sides[0], sides[1][::-1], sides[0][:1]]))
        place, turn = middle[-1], float(angle[-1])
    return curves


def _draw(cases: tuple[_Case, ...], path: Path) -> None:
    options = {"figsize": (7.5, 8.6), "height_ratios": [1, 1, 1, 1.9]}
    with picture(path, 4, len(cases), **options) as (_, axes):
        for column, case in enumerate(cases):
            q = case.q.reshape(-1, 3, 4)
            for body in range(3):
                line = {"color": COLOURS[body], "ls": DASHES[body], "lw": 1.2}
                axes[0, column].plot(case.time, q[:, body, 0], **line, label=f"body {body + 1}")
                axes[1, column].plot(case.time, 1e3 * q[:, body, 1], **line)
                for half, width in ((2, 1.4), (3, 0.7)):
                    label = f"half {half - 1}" if body == 0 else None
                    axes[2, column].plot(case.time, 1e3 * q[:, body, half], **{**line, "lw": width}, label=label)
            left = column == 0
            for row, label in enumerate(("bend (rad)", "elongation (mm)", "bulges (mm)")):
                tidy(axes[row, column], "time (s)" if row == 2 else "", label if left else "")
            axes[0, column].set_title(case.title)
            _strobe(axes[3, column], case)
        axes[3, 0].set_ylabel("z, down (m)")
        axes[0, 1].legend(frameon=False, fontsize=7, loc="center right", handlelength=1.8, bbox_to_anchor=(1, 0.38))
        axes[2, 0].legend(frameon=False, fontsize=7, loc="upper left", handlelength=1.8)


def _strobe(ax: Any, case: _Case) -> None:
    travelled = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(case.tip, axis=0), axis=1))])
    shown = np.searchsorted(travelled, np.linspace(0, travelled[-1], 9)[1:-1])
    for i in (*shown, 0, len(case.q) - 1):
        ends = i in (0, len(case.q) - 1)
        for curve in outline(case.q[i]):
            ax.plot(*curve.T, **({"color": BLUE, "lw": 1.0} if ends else {"color": GREY, "lw": 0.5, "alpha": 0.6}))
    ax.set(aspect="equal", xlabel="y (m)")
    ax.invert_yaxis()
    ax.grid(alpha=0.25, linewidth=0.5)
