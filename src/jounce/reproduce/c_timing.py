"""C-timing: paper C's times of the recursion and of the closed form, both in NumPy, and what a compiled one takes."""

from __future__ import annotations

import timeit
from pathlib import Path

import numpy as np

from ..builder import Builder
from ..closed_form import BodyForm, _links
from ..inertia import Inertia
from ..joints import Revolute
from ..model import Model
from ..style import BLUE, GREEN, ORANGE, picture, tidy
from . import paper_c
from .claims import Array, Result, Tell, judged, silent, unchecked, write_csv
from .panda import motion, panda

_ORDER = 2
_CALLS = 10_000
_WAYS = ("recursion", "closed form", "jounce")


def run(output: Path, quick: bool = False, tell: Tell = silent) -> Result:
    """10,000 calls of second-order inverse dynamics, and how the time grows with the number of joints and the order."""
    rounds = 3 if quick else 20
    robot = panda()
    q, v = (x[0] for x in motion(np.array([1.0]), _ORDER + 2))
    recursion, closed, compiled = _seconds(robot, q, v, rounds)
    rng = np.random.default_rng(0)
    joints = (6, 12, 24) if quick else (3, 6, 12, 24, 48)
    over_joints = []
    for i, n in enumerate(joints):
        tell(0.1 + 0.5 * i / len(joints), f"{n} joints")
        arm = _arm(n)
        over_joints.append(_seconds(arm, rng.normal(size=n), rng.normal(size=(_ORDER + 2, n)), 5 if n > 12 else rounds))
    orders = range(3) if quick else range(7)
    over_order = []
    for r in orders:
        tell(0.6 + 0.35 * r / len(orders), f"order {r}")
        over_order.append(_seconds(robot, q, rng.normal(size=(r + 2, robot.nv)), rounds))
    bodies = np.array(over_joints)
    slopes = [float(np.polyfit(np.log(joints[-3:]), np.log(bodies[-3:, i]), 1)[0]) for i in range(3)]
    path = output / "C-timing.png"
    _draw(joints, bodies, orders, np.array(over_order), path)
    where = "C, section IV.B"
    from_n = next((n for n, row in zip(joints, over_joints, strict=True) if row[0] < row[1]), None)
    machine = (
        "Theirs: MATLAB on an i7-6600U. Ours: NumPy, here, both written from the paper and not tuned; it pays for "
        "every "
        "small product, of which the recursion has many. "
        + (
            f"From {from_n} joints on the recursion is faster."
            if from_n
            else "At no size tried was the recursion faster."
        )
    )
    return Result(
        claims=[
            judged(
                "The recursion slightly outperforms the closed form: seconds for 10,000 second-order evaluations of "
                "each, "
                "on the Panda",
                where, "117, 124", [recursion * _CALLS, closed * _CALLS], recursion < closed, machine,
            ),
            judged(
                "The recursion is the efficient one for large numbers of joints: exponent of the time in n at the "
                "upper "
                f"end (n to {joints[-1]}), recursion and closed form",
                "C, abstract", "", slopes[:2], slopes[0] < slopes[1],
                "Its screws B_ij of (17), (18) make the recursion quadratic in n; the closed form multiplies 6n x 6n "
                "matrices.",
            ),
            judged(
                "Times will reduce in an optimized C++ implementation: seconds for 10,000 calls of jounce, from Python",
                where, "", compiled * _CALLS, compiled < recursion / 10,
            ),
            unchecked(
                "Hand-crafted second-order algorithms are faster: seconds for 10,000 evaluations, recursion and "
                "closed form",
                where, "24, 69", "Their formulas are in references [12] and [29], not in the paper.",
            ),
            unchecked(
                "Sparse matrices would make the closed form faster", where, "",
                "Not measured: neither the paper nor jounce has one.",
            ),
        ],
        notes=[f"The time of jounce, which has no B_ij, grows with n to the power {slopes[2]:.2f} at the upper end."],
        left_out=[
            ("the code, announced as public", "written anew in NumPy, from sections II and III"),
            ("the robot of the timing", "the Panda with seven joints; longer arms are chains of equal links"),
        ],
        figures=[(path, "Time of a call over the number of joints (second order) and over the order (Panda).")],
        data=[
            write_csv(output / f"C-timing-{along}.csv", [along, *_WAYS], np.column_stack([list(x), t]))
            for along, x, t in (("joints", joints, over_joints), ("order", orders, over_order))
        ],
    )  # fmt: skip


def _seconds(robot: Model, q: Array, v: Array, rounds: int) -> tuple[float, float, float]:
    """The best time of a call of the recursion, of the closed form, and of jounce."""

    def closed() -> list[Array]:
        form = BodyForm(_links(robot, q, v), v, robot.gravity)
        return [form.torque(k) for k in range(len(v) - 1)]

    times = [
        min(timeit.repeat(f, number=1, repeat=rounds)) for f in (lambda: paper_c.inverse_dynamics(robot, q, v), closed)
    ]
    return times[0], times[1], min(timeit.repeat(lambda: robot.inverse_dynamics(q, v), number=200, repeat=rounds)) / 200


def _arm(joints: int) -> Model:
    """A chain of equal links of 0.2 m that turn about y and x in turns."""
    builder, placement = Builder(), np.eye(4)
    link = Inertia(1.0, com=(0.0, 0.0, 0.1), rotational=(4e-3, 4e-3, 1e-3))
    for i in range(joints):
        axis = (0.0, 1.0, 0.0) if i % 2 else (1.0, 0.0, 0.0)
        builder.add(f"b{i}", f"b{i - 1}" if i else "world", Revolute(axis), placement, link)
        placement = np.eye(4)
        placement[2, 3] = 0.2
    return builder.build()


def _draw(joints: tuple[int, ...], bodies: Array, orders: range, over_order: Array, path: Path) -> None:
    with picture(path, 1, 2, figsize=(7.5, 2.9), sharey=True) as (_, (left, right)):
        for i, (name, colour, marker) in enumerate(zip(_WAYS, (ORANGE, GREEN, BLUE), "s^o", strict=True)):
            label = f"{name}, NumPy" if i < 2 else "jounce, from Python"
            left.loglog(joints, 1e6 * bodies[:, i], marker=marker, ms=4, color=colour, lw=1.3, label=label)
            right.semilogy(list(orders), 1e6 * over_order[:, i], marker=marker, ms=4, color=colour, lw=1.3)
        tidy(left, "joints $n$", "µs a call", "second order")
        left.set_xticks(joints, [str(n) for n in joints])
        left.minorticks_off()
        tidy(right, "order $r$", "", "the Panda, $n = 7$")
        for ax in (left, right):
            ax.margins(x=0.05)
        left.legend(frameon=False, fontsize=7)
