"""Denavit-Hartenberg tables: products of the printed matrices, and the Puma 560 of Corke's Robotics Toolbox.

The Puma's parameters are those of ``mdl_puma560`` (Armstrong, Khatib and Burdick, 1986), its numbers those printed in
P. Corke, *Robotics, Vision and Control*, 2nd edition, section 9.2, for the configuration qn.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import jounce as jn

PI = np.pi
PUMA = [(0, 0, 0, PI / 2), (0, 0, 0.4318, 0), (0, 0.15005, 0.0203, -PI / 2), (0, 0.4318, 0, PI / 2),
        (0, 0, 0, -PI / 2), (0, 0, 0, 0)]  # fmt: skip
LINKS = [  # mass, centre of mass, moments about it
    (0.0, (0, 0, 0), (0, 0.35, 0)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    (0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
]
MOTORS = [(200e-6, -62.6111), (200e-6, 107.815), (200e-6, -53.7063), (33e-6, 76.0364), (33e-6, 71.923), (33e-6, 76.686)]
QN = [0, PI / 4, PI, 0, PI / 4, 0]


def puma() -> jn.Model:
    inertias = [jn.Inertia(*link, physical=False) for link in LINKS]
    return jn.from_dh(PUMA, inertias=inertias).replace(
        armature={f"joint{i + 1}": J * ratio**2 for i, (J, ratio) in enumerate(MOTORS)}
    )


def test_gravity_of_the_puma_is_corkes() -> None:
    np.testing.assert_allclose(puma().gravity_force(QN), [0, 31.6399, 6.0351, 0, 0.0283, 0], atol=5.1e-5)


def test_inertia_of_the_puma_is_corkes() -> None:
    printed = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0.0000, -0.0000],
        [-0.4044, 4.4137, 0.3509, 0.0000, 0.0024, 0.0000],
        [0.1006, 0.3509, 0.9378, 0.0000, 0.0015, 0.0000],
        [-0.0025, 0.0000, 0.0000, 0.1925, 0.0000, 0.0000],
        [0.0000, 0.0024, 0.0015, 0.0000, 0.1713, 0.0000],
        [-0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.1941],
    ]
    np.testing.assert_allclose(puma().mass_matrix(QN), printed, atol=5.1e-5)


def turn(axis: int, x: float) -> np.ndarray:
    c, s, made = np.cos(x), np.sin(x), np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    made[[i, j], [i, j]], made[i, j], made[j, i] = c, -s, s
    return made


def slide(axis: int, x: float) -> np.ndarray:
    made = np.eye(4)
    made[axis, 3] = x
    return made


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("seed", range(4))
def test_every_frame_is_the_product_of_matrices(convention: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, q = rng.uniform(-2, 2, (5, 4)), rng.uniform(-2, 2, 5)
    kinds = "".join(rng.choice(["R", "P"], 5))
    base, tool = jn.placement(rng.normal(size=3), rng.normal(size=3)), jn.placement(rng.normal(size=3))
    robot = jn.from_dh(table, convention, joints=kinds, base=base, tool=tool, inertias=())
    pose = base
    np.testing.assert_allclose(robot.pose("base", q), pose, atol=1e-14)
    for i, ((theta, d, a, alpha), kind, x) in enumerate(zip(table, kinds, q, strict=True), start=1):
        along = turn(2, theta + x * (kind == "R")) @ slide(2, d + x * (kind == "P"))
        across = slide(0, a) @ turn(0, alpha)
        pose = pose @ (along @ across if convention == "standard" else across @ along)
        np.testing.assert_allclose(robot.pose(f"link{i}", q), pose, atol=1e-13)
    np.testing.assert_allclose(robot.pose("tool", q), pose @ tool, atol=1e-13)
    assert robot.joint_names == tuple(f"joint{i}" for i in range(1, 6))


def test_both_conventions_describe_the_same_arm() -> None:
    """With masses in the frames of the links, which differ: the forces are the same."""
    load = jn.Inertia(2.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0.25))
    lengths, twists, offsets = (0.4, 0.3, 0.2), (0.5, -0.7, 0.3), (0.1, 0.2, 0.3)
    standard = jn.from_dh([(0, d, a, x) for d, a, x in zip(offsets, lengths, twists, strict=True)], inertias=[load] * 3)
    before = [(0, d, a, x) for d, a, x in zip(offsets, (0, *lengths), (0, *twists), strict=False)]
    ends = [jn.placement((a, 0, 0), rpy=(x, 0, 0)) for a, x in zip(lengths, twists, strict=True)]
    modified = jn.from_dh(before, "modified", inertias=[load.moved(end) for end in ends], tool=ends[-1])
    q, v, a = np.random.default_rng(0).normal(size=(3, 3))
    np.testing.assert_allclose(modified.inverse_dynamics(q, v, a), standard.inverse_dynamics(q, v, a), rtol=1e-12)
    np.testing.assert_allclose(modified.pose("tool", q), standard.pose("tool", q), atol=1e-14)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"table": [(0, 0, 0)]}, "table is .*, expected finite numbers"),
        ({"table": []}, "table is .*, expected finite numbers"),
        ({"table": [(0, 0, 0, np.inf)]}, "table is .*, expected finite numbers"),
        ({"convention": "craig"}, "convention is 'craig', expected 'standard' or 'modified'"),
        ({"joints": "RX"}, "joints is 'RX', expected 2 letters R and P"),
        ({"joints": "R"}, "joints is 'R', expected 2 letters R and P"),
        ({"inertias": [jn.Inertia(1.0)]}, "inertias is .*, expected 2, each a jounce.Inertia"),
        ({"inertias": [1.0, 2.0]}, "inertias is .*, expected 2, each a jounce.Inertia"),
        ({"tool": np.zeros((4, 4))}, "placement of 'tool' has last row"),
        ({"inertias": [jn.Inertia(0.0)] * 2}, "body 'joint1' moves but has no inertia"),
    ],
)
def test_errors(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        jn.from_dh(**({"table": np.zeros((2, 4))} | given))


# --- tables that are not what they look like -------------------------------------------------------------

FRANKA = [  # a, d, alpha, theta: as printed in Franka's documentation, in Craig's convention, without the flange
    (0, 0.333, 0, 0), (0, 0, -PI / 2, 0), (0, 0.316, PI / 2, 0), (0.0825, 0, PI / 2, 0), (-0.0825, 0.384, -PI / 2, 0),
    (0, 0, PI / 2, 0), (0.088, 0, PI / 2, 0),
]  # fmt: skip
ORDER = ("a", "d", "alpha", "theta")


def degrees(table: object, *columns: int) -> np.ndarray:
    found = np.array(table, dtype=float)
    found[:, list(columns)] = np.degrees(found[:, list(columns)])
    return found


def silent(*given: object, **options: object) -> jn.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return jn.from_dh(*given, inertias=(), **options)


def test_columns_and_degrees() -> None:
    panda = silent(FRANKA, "modified", columns=ORDER)
    q = np.random.default_rng(0).normal(size=7)
    printed = np.eye(4)
    for (a, d, alpha, theta), x in zip(FRANKA, q, strict=True):
        printed = printed @ turn(0, alpha) @ slide(0, a) @ turn(2, theta + x) @ slide(2, d)
    np.testing.assert_allclose(panda.pose("link7", q), printed, atol=1e-14)
    there = jn.robots.panda()
    np.testing.assert_allclose(panda.pose("link7", q), there.pose("link7", q), atol=1e-14)
    turned = silent(degrees(FRANKA, 2, 3), "modified", columns=list(ORDER), degrees=True)
    np.testing.assert_allclose(turned.pose("link7", q), printed, atol=1e-14)
    puma = silent(PUMA)
    np.testing.assert_allclose(
        silent(degrees(PUMA, 0, 3), degrees=True).pose("tool", QN), puma.pose("tool", QN), atol=1e-14
    )


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        (
            degrees(PUMA, 0, 3),
            {},
            "theta and alpha go up to 90 rad, which looks like degrees: degrees=True takes them so",
        ),
        (PUMA, {"degrees": True}, "theta and alpha go up to 1.5708 degrees, which looks like radians"),
        (FRANKA, {}, r"a is \[.*\], which looks like angles: columns= says which is which"),
        (FRANKA, {"convention": "modified"}, "a is .* which looks like angles"),
        (degrees(FRANKA, 2, 3), {}, "a is .* which looks like angles"),
        ([(a, x, d, t) for a, d, x, t in FRANKA], {"convention": "modified"}, "d is .* which looks like angles"),
        ([(x, a, t, d) for a, d, x, t in FRANKA], {"convention": "modified"}, "turn about the same line"),
        (
            FRANKA,
            {"columns": ORDER},
            "'joint1' and 'joint2' turn about the same line: is the table in the modified conv",
        ),
        (
            PUMA,
            {"convention": "modified"},
            "'joint5' and 'joint6' turn about the same line: is the table in the standard",
        ),
        (
            [(t, 1000 * d, 1000 * a, x) for t, d, a, x in PUMA],
            {},
            "^d and a go up to 431.8 m, which looks like millimetres: expected metres$",
        ),
        (
            [(-90, 0, 290, 0), (0, -90, 0, 270), (-90, 0, 0, 70)],
            {"columns": ("alpha", "theta", "d", "a"), "degrees": True},
            "^d and a go up to 290 m, which looks like millimetres",
        ),
    ],
)
def test_tables_that_look_like_others(table: object, options: dict[str, object], words: str) -> None:
    with pytest.warns(jn.ModelWarning, match=words):
        jn.from_dh(table, inertias=(), **options)


def test_what_tables_may_be() -> None:
    """Turns of more than a circle, a length that happens to be 1.5708 m, slides along one line with a turn."""
    silent([(7.0, 0.1, 0.3, 0.2), (0, 0.4, 0.3, 0.1), (1.0, 0, 0, 0)])
    silent([(0, PI / 2, 0.3, 0.2), (0, 0.4, 0.3, 0.1)])
    silent([(0, 0.4, 0, 0), (0, 0.1, 0, -PI / 2), (0, 0, 0, 0)], joints="RPP")
    silent([(0, 0.1, 0.3, 0.5)], degrees=False)
    silent([(0, 0, 15.0, 0), (0, 0, 12.0, 0.1)])  # a crane


def test_a_robot_without_inertias_says_so() -> None:
    with pytest.warns(
        jn.ModelWarning, match=r"^no inertias were given, so that all forces are zero: inertias=\(\) says"
    ):
        robot = jn.from_dh(PUMA)
    assert robot.pose("tool", QN).tolist() == silent(PUMA).pose("tool", QN).tolist()


@pytest.mark.parametrize(
    "columns", ["theta d a alpha", ("theta", "d", "a"), ("theta", "d", "a", "beta"), 4, (1, 2, 3, 4)]
)
def test_errors_of_columns(columns: object) -> None:
    with pytest.raises(ValueError, match=r"^columns is .*, expected these in any order: "):
        jn.from_dh(PUMA, columns=columns)
