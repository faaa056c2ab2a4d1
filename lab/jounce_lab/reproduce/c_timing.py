"""C-timing: operation counts of paper C's recursion and of its closed form; their times in NumPy; and jounce's.

In NumPy, as in MATLAB, the cost of a small product is that of the call, so the clock says more about the language than
about the formulas. Operations are counted instead, including those on zeros, as in the paper's code.
"""

from __future__ import annotations

import timeit
from pathlib import Path

import numpy as np

from jounce.builder import Builder
from jounce.display.style import BLUE, GREEN, ORANGE, picture, tidy
from jounce.model import Model
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Revolute

from . import paper_c, paper_c_second
from .claims import Array, Result, Tell, judged, off, silent, write_csv
from .counting import Tallied, as_counted, operations, values
from .panda import motion, published

_ORDER = 2
_CALLS = 10_000
_WAYS = ("recursion", "closed form", "jounce")
_COLUMNS = ("recursion operations", "closed form operations", *(f"{way} s" for way in _WAYS))


def run(output: Path, quick: bool = False, tell: Tell = silent) -> Result:
    """Second-order inverse dynamics, and how its work grows with the number of joints and with the order."""
    rounds = 3 if quick else 20
    robot = published()
    q, v = (x[0] for x in motion(np.array([1.0]), _ORDER + 2))
    recursion, closed, sparse = counted(robot, q, v)
    in_numpy, closed_in_numpy, compiled = (_CALLS * t for t in _seconds(robot, q, v, rounds))
    by_hand, closed_by_hand = counted_by_hand(robot, q, v)
    rng = np.random.default_rng(0)
    joints = (6, 12, 24) if quick else (3, 6, 12, 24, 48)
    over_joints = []
    for i, n in enumerate(joints):
        tell(0.1 + 0.5 * i / len(joints), f"{n} joints")
        state = _arm(n), rng.normal(size=n), rng.normal(size=(_ORDER + 2, n))
        over_joints.append((*counted(*state)[:2], *_seconds(*state, 5 if n > 12 else rounds)))
    orders = range(3) if quick else range(7)
    over_order = []
    for r in orders:
        tell(0.6 + 0.35 * r / len(orders), f"order {r}")
        state = robot, q, rng.normal(size=(r + 2, robot.nv))
        over_order.append((*counted(*state)[:2], *_seconds(*state, rounds)))
    bodies = np.array(over_joints)
    slopes = [float(np.polyfit(np.log(joints[-2:]), np.log(bodies[-2:, i]), 1)[0]) for i in (0, 1, 4)]
    path = output / "C-timing.png"
    _draw(joints, bodies, orders, np.array(over_order), path)
    where = "C, section IV.B"
    return Result(
        claims=[
            judged(
                "The recursion outperforms the closed form: operations of a second-order evaluation of each, on the "
                "Panda (the paper: seconds for 10,000)",
                where, "117, 124",
                f"{recursion}, {closed}; in NumPy {in_numpy:.0f} and {closed_in_numpy:.0f} s for 10,000",
                1.2 * recursion < closed,
                "Counted, zeros included. The paper's times are of MATLAB, where it does so slightly; NumPy pays for "
                "every small product, of which the recursion has more.",
            ),
            judged(
                "The recursion is the efficient one for large numbers of joints: exponent of the operations in n at "
                f"the upper end (n to {joints[-1]}), recursion and closed form",
                "C, abstract", "", slopes[:2], slopes[0] < slopes[1] - 0.3,
                "Its screws B_ij of (17), (18) make the recursion quadratic in n; the closed form multiplies 6n x 6n "
                "matrices.",
            ),
            judged(
                "Times will reduce in an optimized C++ implementation: seconds for 10,000 calls of jounce, from "
                "Python, and of the recursion in NumPy",
                where, "", [compiled, in_numpy], compiled < in_numpy / 10, "Asked is a factor of 10.",
            ),
            judged(
                "Sparse matrices would make the closed form faster: its operations without those on zeros, and all",
                where, "improved", [sparse, closed], 2 * sparse < closed, "Asked is a factor of 2.",
            ),
            judged(
                "Hand-crafted second-order algorithms are faster: operations of a recursive and a closed one on the "
                "Panda (the paper: seconds for 10,000)",
                where, "24, 69; 4.9 and 1.8 times as fast as those of any order",
                f"{by_hand}, {closed_by_hand}; {recursion / by_hand:.1f} and {closed / closed_by_hand:.1f} times fewer",
                1.2 * by_hand < recursion and 1.2 * closed_by_hand < closed,
                "Counted, zeros included. Their formulas are in references [12] and [29]; here both are derived from "
                "(4), (19), (27) and (28), in paper_c_second.py.",
            ),
        ],
        notes=[f"The time of jounce, which has no B_ij, grows with n to the power {slopes[2]:.2f} at the upper end."],
        left_out=[
            ("the code, announced as public", "written anew in Python, from sections II and III"),
            ("the robot of the timing", "the Panda with seven joints; longer arms are chains of equal links"),
        ],
        figures=[
            (path, "Operations and times of a call over the number of joints (second order) and the order (Panda).")
        ],
        data=[
            write_csv(output / f"C-timing-{along}.csv", [along, *_COLUMNS], np.column_stack([list(x), t]))
            for along, x, t in (("joints", joints, over_joints), ("order", orders, over_order))
        ],
    )  # fmt: skip


def counted(robot: Model, q: Array, v: Array) -> tuple[int, int, int]:
    """Operations of the recursion, of the closed form, and of the latter without those on zeros.

    Raises:
        ArithmeticError: their results differ from the library's.
    """
    truth = robot.inverse_dynamics(q, v)
    links = _countable(robot)
    found: list[Array] = []
    recursion = operations(
        lambda: found.append(paper_c.inverse_dynamics(links, robot.gravity, as_counted(q), as_counted(v)))
    )
    form = _tallied(robot, q, v)
    Tallied.reset()
    closed = np.array([form.torque(k) for k in range(len(v) - 1)])
    error = max(off(values(found[0]), truth), off(closed, truth))
    if error > 1e-8:
        raise ArithmeticError(f"paper C's formulas and jounce differ by {error:.1e}")
    return recursion, Tallied.dense, Tallied.sparse


def counted_by_hand(robot: Model, q: Array, v: Array) -> tuple[int, int]:
    """Operations of the second-order recursion and of the second-order closed form.

    Raises:
        ArithmeticError: their results differ from the library's.
    """
    truth = robot.inverse_dynamics(q, v)
    found: list[Array] = []
    links = _countable(robot)
    recursion = operations(lambda: found.append(paper_c_second.recursive(links, as_counted(q), as_counted(v))))
    form = _tallied(robot, q, v)
    Tallied.reset()
    closed = paper_c_second.closed(form)
    error = max(off(values(found[0]), truth), off(closed, truth))
    if error > 1e-10:
        raise ArithmeticError(f"the second-order algorithms and jounce differ by {error:.1e}")
    return recursion, Tallied.dense


def _countable(robot: Model) -> list[paper_c.Link]:
    return [
        paper_c.Link(as_counted(link.placement), as_counted(link.X), as_counted(link.M))
        for link in paper_c.links_of(robot)
    ]


def _tallied(robot: Model, q: Array, v: Array) -> paper_c.ClosedForm:
    form = paper_c.closed_form(robot, q, v)
    form.X, form.M = form.X.view(Tallied), form.M.view(Tallied)
    form._known = {key: matrix.view(Tallied) for key, matrix in form._known.items()}
    return form


def _seconds(robot: Model, q: Array, v: Array, rounds: int) -> tuple[float, float, float]:
    """The best time of a call of the recursion and of the closed form in NumPy, and of jounce."""
    links = paper_c.links_of(robot)

    def recursion() -> Array:
        return paper_c.inverse_dynamics(links, robot.gravity, q, v)

    def closed() -> list[Array]:
        form = paper_c.closed_form(robot, q, v)
        return [form.torque(k) for k in range(len(v) - 1)]

    times = [min(timeit.repeat(f, number=1, repeat=rounds)) for f in (recursion, closed)]
    return times[0], times[1], min(timeit.repeat(lambda: robot.inverse_dynamics(q, v), number=200, repeat=rounds)) / 200


def _arm(joints: int) -> Model:
    """A chain of equal links of 0.2 m that turn about y and x alternately."""
    builder, placement = Builder(), np.eye(4)
    link = Inertia(1.0, com=(0.0, 0.0, 0.1), rotational=(4e-3, 4e-3, 1e-3))
    for i in range(joints):
        axis = (0.0, 1.0, 0.0) if i % 2 else (1.0, 0.0, 0.0)
        builder.add(f"b{i}", f"b{i - 1}" if i else "world", Revolute(axis), placement, link)
        placement = np.eye(4)
        placement[2, 3] = 0.2
    return builder.build()


def _draw(joints: tuple[int, ...], bodies: Array, orders: range, over_order: Array, path: Path) -> None:
    with picture(path, 2, 2, figsize=(7.5, 4.8), sharey="row") as (_, axes):
        colours = dict(zip(_WAYS, (ORANGE, GREEN, BLUE), strict=True))
        for row, first, ways, factor, label in (
            (axes[0], 0, _WAYS[:2], 1.0, "operations"),
            (axes[1], 2, _WAYS, 1e6, "µs a call"),
        ):
            for i, (name, marker) in enumerate(zip(ways, "s^o", strict=False), first):
                line = {"marker": marker, "ms": 4, "color": colours[name], "lw": 1.3}
                text = name if first == 0 else "jounce, from Python" if name == "jounce" else f"{name}, NumPy"
                row[0].loglog(joints, factor * bodies[:, i], label=text, **line)
                row[1].semilogy(list(orders), factor * over_order[:, i], **line)
            tidy(row[0], "joints $n$", label, "second order")
            row[0].set_xticks(joints, [str(n) for n in joints])
            row[0].minorticks_off()
            tidy(row[1], "order $r$", "", "the Panda, $n = 7$")
            row[0].legend(frameon=False, fontsize=7)
            for ax in row:
                ax.margins(x=0.05)
