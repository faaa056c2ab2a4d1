"""Where equilibria lose stability, and the branches found from there: columns, pendulums and springs in closed form."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

import jounce as jn
from jounce import soft
from jounce.dynamics.constraints.static_ties import Ties
from jounce.dynamics.load_path import Forces, Path, Statics
from jounce.dynamics.stability import critical_mode

Array = NDArray[np.float64]
LENGTH, RADIUS, YOUNG = 0.8, 0.01, 1e8
BENDING = YOUNG * np.pi * RADIUS**4 / 4  # E I
EULER = BENDING * (np.pi / 2 / LENGTH) ** 2  # N, of a cantilever


def column(order: int, bends: tuple[str, ...] = ("bend_y",), damping: float = 0.0) -> jn.Model:
    """A weightless cantilever along z that bends, its curvature a polynomial."""
    b = jn.Builder(gravity=(0, 0, 0))
    strain = soft.polynomial(order, bends)
    b.add("tip", "world", body=soft.Rod(LENGTH, RADIUS, 1e3, YOUNG, damping=damping, strain=strain, section="line"))
    return b.build()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """On a busy machine, two that wait for each other in calls of a millisecond take ten times as long."""
    before = jn.num_threads()
    jn.set_num_threads(1)
    yield
    jn.set_num_threads(before)


@pytest.fixture(scope="module")
def slender() -> jn.Model:
    return column(8)


def pressed(part: float) -> dict[str, object]:
    """A force on the tip that stays vertical, as a multiple of Euler's."""
    return {"wrenches": {"tip": (0, 0, -part * EULER, 0, 0, 0)}, "wrench_frame": "mixed"}


def followed(load: float) -> dict[str, object]:
    """One that turns with the tip, as a multiple of E I / L^2."""
    return {"wrenches": {"tip": (0, 0, -load * BENDING / LENGTH**2, 0, 0, 0)}}


def elastica(part: float) -> Array:
    """The angle of a buckled column's tip, and where it is, x and z: sqrt(P L^2 / E I) = K(k), k = sin(angle / 2)."""
    root = mp.sqrt(part) * mp.pi / 2
    decay = mp.findroot(lambda x: mp.ellipk(1 - mp.exp(-x)) - root, (mp.mpf("1e-5"), mp.mpf(60)), solver="bisect")
    k = mp.sqrt(1 - mp.exp(-decay))
    across, along = 2 * k / root, 2 * mp.ellipe(k**2) / root - 1
    return np.array([2 * mp.asin(k), LENGTH * across, LENGTH * along], dtype=float)


def tip(robot: jn.Model, q: Array) -> Array:
    """The angle from z, and x and z."""
    T = robot.pose("tip", q)
    return np.array([np.arctan2(T[0, 2], T[2, 2]), T[0, 3], T[2, 3]])


def said(caught: pytest.WarningsRecorder) -> float:
    """The part of the load in the only warning."""
    (warning,) = caught
    return float(str(warning.message).split(" at ")[1].split(" of ")[0])


# Columns


@pytest.mark.parametrize(("part", "order"), [(1.2, 8), (2.0, 8), (5.0, 11)])
def test_a_buckled_column_is_the_elastica(slender: jn.Model, part: float, order: int) -> None:
    robot = slender if order == 8 else column(order)
    rest = robot.equilibrium(**pressed(part), branch="stable")
    assert rest.stable
    np.testing.assert_allclose(tip(robot, rest.q), elastica(part), rtol=0, atol=1e-9)


@pytest.mark.night
@pytest.mark.parametrize("part", [1.0001, 1.2, 2.0, 5.0, 8.9, 9.1, 12.0, 26.0])
def test_so_it_is_past_several_critical_loads(part: float) -> None:
    """The second is 9 times the first, the third 25 times; and in two finer bases it is the same."""
    coarse, fine = column(12), column(16)
    one, two = (robot.equilibrium(**pressed(part), branch="stable") for robot in (coarse, fine))
    assert one.stable
    assert two.stable
    np.testing.assert_allclose(tip(fine, two.q), elastica(part), rtol=0, atol=1e-9 if part <= 12 else 1e-8)
    np.testing.assert_allclose(tip(coarse, one.q), tip(fine, two.q), rtol=0, atol=1e-9 if part <= 5 else 1e-6)


def test_below_the_critical_load_it_is_straight(slender: jn.Model) -> None:
    for options in ({}, {"branch": "any"}, {"branch": "stable"}):
        rest = slender.equilibrium(**pressed(0.99), **options)
        np.testing.assert_allclose(rest.q, 0, atol=1e-12)
        assert rest.stable


def test_a_column_that_would_buckle_is_said_to(slender: jn.Model) -> None:
    """And where: at 1 / 1.25 of the load."""
    with pytest.warns(jn.StabilityWarning, match=r"loses stability at 0\.[78]\d* of the load") as caught:
        rest = slender.equilibrium(**pressed(1.25))
    assert said(caught) == pytest.approx(0.8, abs=1.1e-4)
    assert caught[0].filename == __file__
    np.testing.assert_allclose(rest.q, 0, atol=1e-12)
    assert not rest.stable
    np.testing.assert_array_equal(slender.equilibrium(**pressed(1.25), branch="any").q, rest.q)


def test_from_a_configuration(slender: jn.Model) -> None:
    """It says which side; "stable" is about the end of the way from there."""
    bent = np.zeros(slender.nv)
    bent[0] = -1.0
    rest = slender.equilibrium(q0=bent, **pressed(1.2), branch="stable")
    np.testing.assert_allclose(tip(slender, rest.q), elastica(1.2) * [-1, -1, 1], rtol=0, atol=1e-9)
    straight = slender.equilibrium(q0=np.zeros(slender.nv), **pressed(1.2))
    np.testing.assert_allclose(straight.q, 0, atol=1e-12)
    pushed = slender.equilibrium(q0=np.zeros(slender.nv), **pressed(1.2), branch="stable")
    np.testing.assert_allclose(tip(slender, pushed.q), elastica(1.2), rtol=0, atol=1e-9)


def test_a_round_column_buckles_along_its_first_coordinate() -> None:
    """Into any direction, so it is indifferent; x comes before y here, and the bend about -x leads to y."""
    robot = column(4, ("bend_x", "bend_y"))
    rest = robot.equilibrium(**pressed(1.2), branch="stable")
    assert robot.equilibrium(q0=rest.q, **pressed(1.2)).iterations <= 2
    assert rest.q[0] > 0.1
    np.testing.assert_allclose(rest.q[5:], 0, atol=1e-9)
    np.testing.assert_allclose(robot.pose("tip", rest.q)[:3, 3], [0, *elastica(1.2)[1:] * [-1, 1]], rtol=0, atol=1e-6)
    assert np.abs(np.linalg.eigvalsh(rest.stiffness)).min() < 1e-12 * np.abs(rest.stiffness).max()


def test_a_column_under_its_weight() -> None:
    """Greenhill's: m g L^2 / E I = 9 j^2 / 4, with j the first zero of the Bessel function of order -1/3."""
    b = jn.Builder()
    rod = soft.Rod(LENGTH, RADIUS, 1e3, 1e6, strain=soft.polynomial(6, ("bend_y",)), section="line")
    b.add("column", "world", body=rod)
    zero = mp.findroot(lambda x: mp.besselj(-mp.mpf(1) / 3, x), 1.87)
    critical = float(9 * zero**2 / 4) * 1e6 * np.pi * RADIUS**4 / 4 / LENGTH**2 / (rod.mass * 9.81)
    with pytest.warns(jn.StabilityWarning, match="of the weight, and") as caught:
        b.build().equilibrium()
    assert said(caught) == pytest.approx(critical, abs=1.1e-4)
    rest = b.build().equilibrium(branch="stable")
    assert rest.stable
    assert rest.q[0] > 1


# Loads that turn with the tip


def test_a_load_that_follows_leads_nowhere(slender: jn.Model) -> None:
    """Beck's column has no other equilibrium than the straight one, and flutters from 20.0509 E I / L^2 on."""
    assert slender.equilibrium(**followed(20.0), branch="stable").stable
    with pytest.raises(jn.NoEquilibrium, match=r"no stable equilibrium found beyond 0.9114 of the load") as caught:
        slender.equilibrium(**followed(22.0), branch="stable")
    assert caught.value.part * 22 == pytest.approx(20.0509, abs=3e-3)
    np.testing.assert_allclose(caught.value.q, 0, atol=1e-12)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.warns(jn.StabilityWarning, match=r"at 0.9114 of the load"):
        slender.equilibrium(**followed(22.0))


def test_where_it_flutters_nothing_is_searched(slender: jn.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """No branch of equilibria begins where a push grows as it oscillates."""
    asked, forces = [0], Statics.forces

    def counting(self: Statics, q: Array) -> Forces:
        asked[0] += 1
        return forces(self, q)

    monkeypatch.setattr(Statics, "forces", counting)
    with pytest.raises(jn.NoEquilibrium):
        slender.equilibrium(**followed(22.0), branch="stable")
    assert asked[0] < 150


def test_a_load_without_a_potential_that_does_not_flutter() -> None:
    """Two sprung links of length 1, a weight W on top, and a force that pulls along the upper link, up to P.

    With their angles a and b, 2 a - b - W sin a + P sin(a - b) = 0 and b - a - W sin b = 0. Upright, the determinant of
    the stiffness is 1 - 3 W + W^2 - P W. The stiffness is not symmetric, so its sign is not enough; but this is where a
    rate goes through zero.
    """
    W, P = 0.3, 0.9
    b = jn.Builder(gravity=(0, 0, -1.0))
    hinge, up = jn.Revolute((0, 1, 0), stiffness=1.0), jn.placement((0, 0, 1.0))
    b.add("lower", "world", hinge, inertia=jn.Inertia(0.1, rotational=(0.1, 0.1, 0.1)))
    b.add("upper", "lower", hinge, up, inertia=jn.Inertia(W, com=(0, 0, 1.0), rotational=(0.1, 0.1, 0.1)))
    b.add("top", "upper", placement=up)
    robot, pull = b.build(), {"wrenches": {"top": (0, 0, P, 0, 0, 0)}}
    with pytest.warns(jn.StabilityWarning, match="of the load, and") as caught:
        robot.equilibrium(**pull)
    assert said(caught) == pytest.approx((1 - 3 * W + W**2) / W / P, abs=1.1e-4)
    rest = robot.equilibrium(**pull, branch="stable")
    assert rest.stable
    assert np.abs(rest.stiffness - rest.stiffness.T).max() > 0.1
    a, b = rest.q[0], rest.q.sum()
    assert a > 0.1
    assert 2 * a - b - W * np.sin(a) + P * np.sin(a - b) == pytest.approx(0, abs=1e-12)
    assert b - a - W * np.sin(b) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("damping", [1e-4, 1e-2])
def test_with_damping_the_linearization_says_where(damping: float) -> None:
    """Damping in the material makes it flutter sooner (Ziegler), here at the load where an eigenvalue crosses."""
    robot = column(6, damping=damping)
    rest = np.zeros(robot.nv)

    def grows(load: float) -> bool:  # by more than rounding
        wrenches = {name: np.array(w, float) for name, w in followed(load)["wrenches"].items()}  # type: ignore[attr-defined]
        rates = np.linalg.eigvals(robot.linearize(rest, rest, rest, wrenches=wrenches).A)
        return bool(rates.real.max() > 1e-8 * np.abs(rates).max())

    low, high = 5.0, 22.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if grows(middle) else (middle, high)
    assert 10.9 < low < 11.2  # 10.94 for small damping
    assert robot.equilibrium(**followed(0.99 * low), branch="stable").stable
    with pytest.raises(jn.NoEquilibrium) as caught:
        robot.equilibrium(**followed(22.0), branch="stable")
    assert caught.value.part * 22 == pytest.approx(low, abs=3e-3)


# Rigid robots


def upright(stiffness: float, count: int = 1) -> jn.Model:
    """Links of 2 kg with their mass 0.3 m above springs, each a little stiffer than the one before."""
    b = jn.Builder()
    for i in range(count):
        b.add(
            f"arm {i}", "world", jn.Revolute((0, 1, 0), stiffness=stiffness + i),
            inertia=jn.Inertia(2.0, com=(0, 0, 0.3), rotational=(0.02, 0.02, 0.001)),
        )  # fmt: skip
    return b.build()


def test_an_upright_pendulum_falls_to_the_positive_side() -> None:
    """stiffness q = m g c sin q."""
    weight = 2.0 * 9.81 * 0.3
    rest = upright(4.0).equilibrium(branch="stable")
    assert rest.stable
    np.testing.assert_allclose(rest.q, float(mp.findroot(lambda q: 4.0 * q - weight * mp.sin(q), 1.5)), rtol=1e-12)


def test_several_losses_on_one_path() -> None:
    """Three pendulums fall, one after another, as the weight is raised; the warning is about the first."""
    weight = 2.0 * 9.81 * 0.3
    with pytest.warns(jn.StabilityWarning, match="of the weight, and") as caught:
        upright(3.0, 3).equilibrium()
    assert said(caught) == pytest.approx(3.0 / weight, abs=1.1e-4)
    rest = upright(3.0, 3).equilibrium(branch="stable")
    expected = [float(mp.findroot(lambda q, k=k: k * q - weight * mp.sin(q), 1.5)) for k in (3.0, 4.0, 5.0)]
    assert rest.stable
    np.testing.assert_allclose(rest.q, expected, rtol=1e-10)


def test_of_several_motions_that_grow_alike_the_first_coordinate_grows() -> None:
    """The unit displacement in their space that is nearest to the coordinate with the largest part in it."""
    robot, rng = upright(3.0, 5), np.random.default_rng(0)
    q = robot.neutral()
    ties = Ties.at(robot, q, np.ones(5, bool))
    for count in (1, 2, 3):
        Q = np.linalg.qr(rng.normal(size=(5, 5)))[0]
        values = np.where(np.arange(5) < count, -1.0, 4.0)
        mode = critical_mode(robot, q, (Q * values) @ Q.T, ties, np.ones(5))
        assert mode is not None
        share = np.linalg.norm(Q[:, :count], axis=1)
        largest = int(np.argmax(share))
        np.testing.assert_allclose(mode / np.linalg.norm(mode), Q[:, :count] @ Q[largest, :count] / share[largest])
        assert mode[largest] > 0


def test_a_loss_that_is_undone_counts() -> None:
    """Its weight alone would topple it, at 4 / (m g c) of it; a force that pulls its top up steadies it again."""
    weight = 2.0 * 9.81 * 0.3
    b = jn.Builder()
    inertia = jn.Inertia(2.0, com=(0, 0, 0.3), rotational=(0.02, 0.02, 0.001))
    b.add("arm", "world", jn.Revolute((0, 1, 0), stiffness=4.0), inertia=inertia)
    b.add("top", "arm", placement=jn.placement((0, 0, 0.6)))
    robot = b.build()
    lift = {"wrenches": {"top": (0, 0, 10.0, 0, 0, 0)}, "wrench_frame": "mixed"}
    with pytest.warns(jn.StabilityWarning, match="of the weight, and") as caught:
        rest = robot.equilibrium(**lift)
    assert said(caught) == pytest.approx(4 / weight, abs=1.1e-4)
    assert rest.stable
    np.testing.assert_allclose(rest.q, 0, atol=1e-12)
    assert robot.equilibrium(**lift, branch="stable").stable
    with pytest.warns(jn.StabilityWarning, match="of the weight, and"):  # and once more is not said
        robot.equilibrium(wrenches={"top": (0, 0.1, 0.2, 0, 0.1, 0)}, wrench_frame="mixed")


@pytest.mark.parametrize("turns", [0.9, 1.1, 2.2, 6.2])
def test_a_loss_between_two_steps_of_the_load_counts(turns: float) -> None:
    """A moment bends a rod into a circle, which would turn out of its plane between half a turn and one, and again.

    It is proportional to the load, which is therefore raised in one step. The stiffness against bending about the other
    axis goes as sin(angle) / angle: a moment about a fixed axis works on the linear part of the rotation only.
    """
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("rod", "world", body=soft.Rod(1.0, RADIUS, 1e3, 1e6, nodes=30))
    moment = 2 * np.pi * turns * 1e6 * np.pi * RADIUS**4 / 4
    with pytest.warns(jn.StabilityWarning, match="of the load, and") as caught:
        rest = b.build().equilibrium(wrenches={"rod": (0, 0, 0, 0, moment, 0)})
    assert said(caught) == pytest.approx(0.5 / turns, abs=1.1e-4)
    np.testing.assert_allclose(rest.q, [2 * np.pi * turns, 0, 0], rtol=1e-9, atol=1e-9)
    assert rest.stable == (turns != 0.9)


class Snap(soft.Module):
    """A spring with energy q^2 (q - 1)^2: two places of rest, and a force that grows up to the first limit only."""

    n, masses, scale = 1, [0.1], [1.0]
    coordinate_units = ("m",)

    def pose(self, q):  # type: ignore[no-untyped-def]
        return np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, q[0]], [0, 0, 0, 1]])

    def points(self, q):  # type: ignore[no-untyped-def]
        return np.array([[0, 0, q[0]]])

    def energy(self, q):  # type: ignore[no-untyped-def]
        return q[0] ** 2 * (q[0] - 1) ** 2


def test_a_path_that_turns_back_snaps() -> None:
    """2 q (q - 1) (2 q - 1) = f has a root near 0 for f up to its value at (1 - 1 / sqrt 3) / 2, and one beyond 1."""
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("snap", "world", body=Snap())
    robot, limit = b.build(), (1 - 1 / np.sqrt(3)) / 2
    force = 2 * limit * (limit - 1) * (2 * limit - 1)
    for part in (0.9, 1.1):
        push = {"tau": [part * force]}
        beyond = np.roots([4, -6, 2, -part * force])
        expected = min(beyond.real) if part < 1 else max(beyond[np.abs(beyond.imag) < 1e-9].real)
        np.testing.assert_allclose(robot.equilibrium(**push, branch="stable").q, expected, rtol=1e-10)
    for branch in (None, "any"):
        with pytest.raises(jn.NoEquilibrium, match=r"no equilibrium found beyond 0.9091 of the load") as caught:
            robot.equilibrium(tau=[1.1 * force], branch=branch)
        assert caught.value.part == pytest.approx(1 / 1.1, abs=1e-4)


def test_a_robot_that_nothing_holds_is_indifferent() -> None:
    """On a floating base without weight: neither stable nor lost."""
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("base", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(0.1, 0.1, 0.1)))
    b.add("tail", "base", body=soft.Rod(0.4, 0.01, 1e3, 1e6))
    for branch in (None, "stable"):
        rest = b.build().equilibrium(branch=branch)
        assert not rest.stable
        np.testing.assert_allclose(rest.q, b.build().neutral(), atol=1e-12)


def test_stability_is_judged_once_for_each_accepted_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not at all if nobody asks."""
    counted = {"points": 0, "judged": 0}
    step, lost = Path.next, Path.lost

    def counting_next(self: Path, *args: object) -> object:
        found = step(self, *args)  # type: ignore[arg-type]
        counted["points"] += found is not None
        return found

    def counting_lost(self: Path, *args: object) -> bool:
        counted["judged"] += 1
        return lost(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "next", counting_next)
    monkeypatch.setattr(Path, "lost", counting_lost)
    b = jn.Builder()
    b.add("rod", "world", body=soft.Rod(0.4, 0.01, 1e3, 1e5), placement=jn.placement(axis=(0, 1, 0), angle=2.0))
    robot = b.build()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.equilibrium()
    assert counted["judged"] == counted["points"] > 3
    counted["judged"] = 0
    robot.equilibrium(branch="any")
    robot.equilibrium(q0=robot.neutral())
    assert counted["judged"] == 0


def test_bad_branches(slender: jn.Model) -> None:
    with pytest.raises(ValueError, match="branch is 'stabel', expected 'stable' or 'any'"):
        slender.equilibrium(branch="stabel")  # type: ignore[arg-type]
