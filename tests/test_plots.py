"""Plots of motions and stacks: what is drawn where, with which units, limits and scales."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from jounce import trajectory
from jounce.display import panels

plt = pytest.importorskip("matplotlib.pyplot")


def motion_of(robot: jn.Model, count: int = 30) -> jn.Trajectory:
    rng = np.random.default_rng(9)
    q = robot.random_configuration(rng, count)
    return trajectory.of(robot, np.linspace(0, 1, count), q, *rng.normal(size=(3, count, robot.nv)))


def slider(**limits: float) -> jn.Model:
    builder = jn.Builder()
    builder.add("slider", "world", jn.Prismatic(limits=jn.Limits(**limits) if limits else None), inertia=jn.Inertia(1))
    return builder.build()


def top() -> jn.Model:
    builder = jn.Builder()
    builder.add("top", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(1, 2, 2.5)))
    return builder.build()


def chain(names: list[str]) -> jn.Model:
    builder = jn.Builder()
    for i, name in enumerate(names):
        builder.add(name, names[i - 1] if i else "world", jn.Revolute(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    return builder.build()


def legends(figure: object) -> list[list[str]]:
    found = [ax.get_legend() for ax in figure.axes]
    return [[text.get_text() for text in legend.get_texts()] for legend in found if legend]


TURNS = ["quaternion", "angular velocity (rad/s)", "moment (N m)"]
PLACES = ["position (m)", "velocity (m/s)", "force (N)"]
ANGLES = ["angle (rad)", "angular velocity (rad/s)", "moment (N m)"]


@pytest.mark.parametrize(
    ("make", "labels"),
    [
        (jn.robots.aerial_manipulator, PLACES + TURNS + ANGLES),
        (lambda: jn.robots.aerial_manipulator(5, 6), PLACES + TURNS + 4 * ANGLES),
        (top, PLACES + TURNS),
        (slider, PLACES),
        (jn.robots.panda, ANGLES),
        (lambda: jn.Builder().build(), []),
    ],
    ids=["aerial manipulator", "many joints", "free body", "slider", "panda", "nothing"],
)
def test_each_kind_of_coordinate_has_a_row(make: object, labels: list[str], tmp_path: Path) -> None:
    robot = make()
    figure = motion_of(robot).plot(tmp_path / "motion.png", robot=robot)
    assert (tmp_path / "motion.png").stat().st_size > 1000
    assert [ax.get_ylabel() for ax in figure.axes] == labels


def test_a_coordinate_has_one_colour_in_its_row() -> None:
    motion = motion_of(jn.robots.aerial_manipulator())
    figure = motion.plot()
    plt.close(figure)
    lines = {ax: {tuple(line.get_ydata()): line.get_color() for line in ax.lines} for ax in figure.axes}
    for row, columns in ((0, (0, 0, 0)), (1, (3, 3, 3)), (2, (7, 6, 6))):
        values = zip((motion.q, motion.v, motion.tau), columns, strict=True)
        colours = [lines[figure.axes[3 * row + i]][tuple(x[:, at])] for i, (x, at) in enumerate(values)]
        assert len(set(colours)) == 1
    assert len(set(lines[figure.axes[1 * 3]].values())) == 4


TALOS = (
    [f"torso_{i}" for i in (1, 2)]
    + [f"head_{i}" for i in (1, 2)]
    + [f"{limb}_{side}_{i}" for side in ("left", "right") for limb, n in (("arm", 7), ("grip", 1)) for i in range(n)]
    + [f"leg_{side}_{i}" for side in ("left", "right") for i in range(6)]
)


def test_limbs_have_rows_of_their_own(tmp_path: Path) -> None:
    shown = legends(motion_of(chain(TALOS)).plot(tmp_path / "motion.svg"))
    assert [name for row in shown for name in row] == TALOS
    assert [len(row) for row in shown] == [4, 8, 8, 6, 6]
    dog = [f"{leg}_{joint}" for leg in ("LF", "RF", "LH", "RH") for joint in ("HAA", "HFE", "KFE")]
    assert [len(row) for row in legends(motion_of(chain(dog)).plot(tmp_path / "dog.svg"))] == [6, 6]


def test_very_many_joints_still_fit(tmp_path: Path) -> None:
    shown = legends(jn.plot([0.0, 1.0], np.zeros((2, 150)), path=tmp_path / "many.svg"))
    assert len(shown) == 12
    assert shown[0][-2:] == ["7", "and 5 more"]


def test_some_joints(tmp_path: Path) -> None:
    motion = motion_of(jn.robots.aerial_manipulator())
    file = tmp_path / "motion.svg"
    assert legends(motion.plot(file, joints=["q3", "q7"])) == [["q3", "q7"]]
    assert legends(motion.plot(file, joints=["base"])) == [
        ["base.x", "base.y", "base.z"],
        ["base.qx", "base.qy", "base.qz", "base.qw"],
    ]
    assert legends(motion.plot(file, joints=["base.fz", "q2"])) == [["base.z"], ["q2"]]
    with pytest.raises(ValueError, match=r"^joints: no joint or coordinate is named 'q33': did you mean 'q3'"):
        motion.plot(file, joints=["q33"])
    for wrong in ("q3", [], [3], 7):
        with pytest.raises(ValueError, match=r"^joints is .*, expected a list of names"):
            motion.plot(file, joints=wrong)  # type: ignore[arg-type]


def test_names_of_soft_bodies_choose_all_their_coordinates(tmp_path: Path) -> None:
    builder = jn.Builder()
    for name, parent in (("arm", "world"), ("finger", "arm")):
        builder.add(name, parent, body=jn.soft.Rod(0.3, 0.02, 1000.0, 1e6))
    shown = legends(motion_of(builder.build()).plot(tmp_path / "soft.svg", joints=["finger"]))
    assert shown == [["finger.stretch"], ["finger.bend_y", "finger.bend_-x"]]


# Stacks


def test_a_torque_rate_in_one_line(tmp_path: Path) -> None:
    robot, time = jn.robots.quadrotor_arm(), np.linspace(0, 1, 20)
    stack = np.random.default_rng(0).normal(size=(20, 4, robot.nv))
    figure = jn.plot(time, stack, robot, path=tmp_path / "stack.png")
    labels = np.reshape([ax.get_ylabel() for ax in figure.axes], (3, 4)).tolist()
    assert labels[0] == ["force (N)", "rate of force (N/s)", "2nd rate of force (N/s²)", "3rd rate of force (N/s³)"]
    assert labels[2][2] == "2nd rate of moment\n(N m/s²)"
    assert legends(figure) == [
        ["base.fx", "base.fy", "base.fz"],
        ["base.nx", "base.ny", "base.nz"],
        ["shoulder", "elbow"],
    ]
    rate = figure.axes[2 * 4 + 1].lines[1]
    assert (rate.get_ydata() == stack[:, 1, 7]).all()
    assert (rate.get_xdata() == time).all()


def test_velocities_and_numbered_columns(tmp_path: Path) -> None:
    stack = np.random.default_rng(0).normal(size=(5, 5, 1))
    file = tmp_path / "stack.svg"
    figure = jn.plot(np.arange(5.0), stack, slider(), what="velocity", path=file)
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "velocity (m/s)", "acceleration (m/s²)", "jerk (m/s³)", "snap (m/s⁴)", "5th rate of position\n(m/s⁵)",
    ]  # fmt: skip
    figure = jn.plot(np.arange(5.0), stack[:, :2], path=file)
    assert [ax.get_ylabel() for ax in figure.axes] == ["force", "rate of force"]
    assert legends(figure) == [["0"]]


def test_inputs_of_soft_bodies(tmp_path: Path) -> None:
    builder = jn.Builder()
    pulls = [jn.soft.Tendon(name, (x, 0)) for name, x in (("left", 0.01), ("right", -0.01))]
    builder.add("rod", "world", body=jn.soft.Rod(0.3, 0.02, 1000.0, 1e6, actuators=pulls))
    figure = jn.plot([0, 1], np.ones((2, 2, 2)), builder.build(), what="input", path=tmp_path / "inputs.svg")
    assert [ax.get_ylabel() for ax in figure.axes] == ["input", "rate of input"]
    assert legends(figure) == [["left", "right"]]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stack": np.zeros((4, 7))}, r"^stack has shape \(4, 7\), expected \(3, n\) or \(3, K, n\)"),
        ({"stack": np.zeros((1, 3, 2, 7))}, r"^stack has shape \(1, 3, 2, 7\)"),
        ({"stack": np.zeros((3, 2, 6))}, "^stack has 6 columns, expected nv = 7, one for each force of the robot"),
        ({"time": np.zeros((3, 1))}, "^time is "),
        ({"time": [0, np.nan, 1]}, "^time is "),
        ({"robot": "panda"}, "^robot is 'panda', expected a jounce.Model"),
        ({"what": "torque"}, "^what is 'torque', expected 'force' or 'velocity' or 'input'"),
        ({"path": 3}, "^path is 3, expected the name of a file"),
    ],
)
def test_wrong_arguments(changes: dict[str, object], words: str) -> None:
    given = {"time": [0, 1, 2], "stack": np.zeros((3, 2, 7)), "robot": jn.robots.panda()}
    with pytest.raises(ValueError, match=words):
        jn.plot(**(given | changes))
    assert not plt.get_fignums()


def test_a_body_says_which_joint_moves_it() -> None:
    robot = jn.robots.panda()
    for plotted in (
        lambda: jn.plot([0.0, 1.0], np.zeros((2, 7)), robot, joints=["link3"]),
        lambda: jn.Trajectory.of(robot, [0.0, 1.0], np.zeros((2, 7))).plot(robot=robot, joints=["link3"]),
    ):
        with pytest.raises(ValueError, match=r"named 'link3': body 'link3' is moved by joint 'q3'$"):
            plotted()


def test_a_robot_with_other_coordinates() -> None:
    with pytest.raises(ValueError, match="whose coordinates are not those of this motion"):
        motion_of(slider()).plot(robot=jn.robots.panda())


# Scales


def reach(values: list[float], more: list[float] | None = None) -> tuple[float, float]:
    """The lowest and highest number on the axis of the first of two lines that are in different panels."""
    builder = jn.Builder()
    builder.add("slide", "world", jn.Prismatic(), inertia=jn.Inertia(1.0))
    builder.add("turn", "slide", jn.Revolute(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    stack = np.array([values, more or values]).T
    figure = jn.plot(np.arange(len(values)), stack, builder.build())
    plt.close(figure)
    low, high = figure.axes[0].get_ylim()
    return low, high


def test_rounding_errors_do_not_fill_a_panel() -> None:
    low, high = reach([0.0, 1e-26, -2e-26])
    assert low < -0.9
    assert high > 0.9
    low, high = reach([0.0, 1e-13, -2e-13], [0.0, 500.0, 100.0])  # next to moments of 500 N m
    assert high > 1e6 * 1e-13
    assert reach([0.0, 1e-8, -2e-8], [0.0, 500.0, 100.0])[1] > 1e6 * 1e-8
    low, high = reach([0.0, 3.0, -5.0], [0.0, 5e10, 1e10])
    assert (low, high) == pytest.approx((-1.12 * 5e4, 1.12 * 5e4))
    low, high = reach([3.0, 3.0 + 4e-16, 3.0])  # a constant
    assert 2 < low < 2.8
    assert 3.2 < high < 4


def test_what_is_zero_has_no_scale_of_another() -> None:
    """A force of 0 N next to a moment of 500 N m, or of 1e-3 N m, is not drawn as if it were small or large."""
    zero = [0.0, 0.0, 0.0]
    assert reach(zero, [0.0, 500.0, 100.0]) == reach(zero, [0.0, 1e-3, 0.0]) == reach(zero, zero)


def test_a_finger_that_is_closed_shows_how_far_it_opens() -> None:
    """Not a band that seems to go on for a metre."""
    b = jn.Builder()
    limits = jn.Limits(0.0, 0.04)
    b.add("finger", "world", jn.Prismatic((0, 1, 0), limits=limits), inertia=jn.Inertia(0.1))
    motion = jn.simulate(b.build(), [0.0], [0.0], [0.0, 0.5, 1.0])
    ax = motion.plot(robot=b.build()).axes[0]
    assert ax.get_ylim() == pytest.approx((-1.12 * 0.04, 1.12 * 0.04))
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (band.y0, band.y1) == pytest.approx((0.0, 0.04))
    dashed = ax.lines[1:]
    assert sorted(float(each.get_ydata()[0]) for each in dashed) == [0.0, 0.04]


def test_small_numbers_that_are_no_rounding_errors_do() -> None:
    low, high = reach([0.0, 1e-6, -2e-6], [0.0, 100.0, 1.0])
    assert -3e-6 < low < -2e-6
    assert 1e-6 < high < 2e-6


def test_numbers_that_are_not_finite_are_gaps() -> None:
    low, high = reach([0.0, np.nan, 1.0, np.inf])
    assert -0.1 < low < 0 < 1 < high < 1.1


# Limits


def bands(ax: object) -> list[float]:
    drawn = [line.get_ydata() for line in ax.lines if line.get_linestyle() == "--"]
    return sorted(float(np.nanmin(limit)) for limit in drawn)


def test_limits_that_come_close_are_drawn(tmp_path: Path) -> None:
    robot = slider(lower=-1.0, upper=2.0, velocity=3.0, effort=5.0)
    time = np.linspace(0, 1, 9)
    rows = np.linspace(0, 1, 9)[:, None]
    motion = jn.Trajectory.of(robot, time, 1.9 * rows, -2.5 * rows, rows, 0.1 * rows)
    position, velocity, force = motion.plot(tmp_path / "limits.png", robot=robot).axes
    assert bands(position) == [2.0]
    assert bands(velocity) == [-3.0]
    assert bands(force) == []
    assert position.get_ylim()[1] > 2.0
    (band,) = position.patches
    corners = band.get_path().transformed(band.get_patch_transform()).vertices
    assert (corners[:, 1].min(), corners[:, 1].max()) == pytest.approx((position.get_ylim()[0], 2.0))
    assert not force.patches
    assert not any(bands(ax) for ax in motion.plot(tmp_path / "plain.png").axes)
    assert bands(jn.plot(time, np.stack([6 * rows, 6 * rows], 1), robot, path=tmp_path / "x.png").axes[0]) == [5.0]
    assert bands(jn.plot(time, -2.9 * rows, robot, what="velocity", path=tmp_path / "x.png").axes[0]) == [-3.0]


def test_limits_of_rates_are_drawn_in_their_panels(tmp_path: Path) -> None:
    robot = slider(velocity=3.0, acceleration=5.0, jerk=7.0, effort=11.0, effort_rate=13.0)
    time, rows = np.linspace(0, 1, 9), np.linspace(0, 1, 9)[:, None]
    motion = np.stack([2.9 * rows, 4.9 * rows, -6.9 * rows, 1e9 * rows], axis=1)
    figure = jn.plot(time, motion, robot, what="velocity", path=tmp_path / "x.png")
    assert [bands(ax) for ax in figure.axes] == [[3.0], [5.0], [-7.0], []]
    forces = np.stack([10.9 * rows, -14.0 * rows, 1e9 * rows], axis=1)
    figure = jn.plot(time, forces, robot, path=tmp_path / "x.png")
    assert [bands(ax) for ax in figure.axes] == [[11.0], [-13.0], []]
    assert legends(figure) == [["slider", "limits", "beyond limits"]]


def test_the_limit_of_acceleration_is_that_of_deceleration_while_a_joint_slows_down(tmp_path: Path) -> None:
    robot = slider(acceleration=5.0, deceleration=2.0)
    v = np.array([1.0, 1.0, 1.0, -1.0, -1.0, 0.0])
    stack = np.stack([v, [1.9, 1.9, -1.9, 1.9, -1.9, 0.0]], axis=1)[..., None]
    panel = jn.plot(np.arange(6.0), stack, robot, what="velocity", path=tmp_path / "x.png").axes[1]
    _, lower, upper = (line.get_ydata() for line in panel.lines)
    assert lower.tolist() == [-2.0, -2.0, -2.0, -5.0, -5.0, -5.0]
    assert upper.tolist() == [5.0, 5.0, 5.0, 2.0, 2.0, 5.0]
    (band,) = panel.collections
    inside = band.get_paths()[0].contains_points
    assert inside([(1.0, 4.0), (1.0, -4.0), (3.5, 4.0), (3.5, -4.0)]).tolist() == [True, False, False, True]


def test_limits_are_drawn_while_a_joint_is_close(tmp_path: Path) -> None:
    """Two joints with ranges of 4 rad: one goes from -1.5 to 1.5, one stands still but for a jump beyond its limit."""
    builder = jn.Builder()
    for name in ("a", "b"):
        limits = jn.Limits(lower=-2.0, upper=2.0)
        builder.add(name, "world", jn.Revolute(limits=limits), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    robot, time = builder.build(), np.linspace(0, 1, 13)
    q = np.stack([np.linspace(-1.5, 1.5, 13), np.zeros(13)], axis=1)
    q[6, 1] = 2.5
    figure = jn.Trajectory.of(robot, time, q).plot(tmp_path / "limits.png", robot=robot)
    position = figure.axes[0]
    a, b, *dashed = position.lines
    assert [line.get_color() for line in dashed] == [a.get_color()] * 2 + [b.get_color()]
    shown = [np.flatnonzero(np.isfinite(line.get_ydata())).tolist() for line in dashed]
    assert shown == [[0, 1, 2], [10, 11, 12], [5, 6, 7]]  # below -1 and above 1, and one time more on either side
    assert [np.nanmax(line.get_ydata()) for line in dashed] == [-2.0, 2.0, 2.0]
    (filled,) = position.collections
    ((low, high),) = [(path.vertices[:, 1].min(), path.vertices[:, 1].max()) for path in filled.get_paths()]
    assert (low, high) == (2.0, 2.5)
    assert legends(figure) == [["a", "b", "limits", "beyond limits"]]
    assert legends(jn.Trajectory.of(robot, time, q).plot(tmp_path / "limits.png")) == [["a", "b"]]


def test_rounding_errors_are_not_beyond_a_limit(tmp_path: Path) -> None:
    robot = slider(lower=0.0, upper=1.0)
    q = np.linspace(0.0, 0.9, 5)[:, None]
    q[0] = -1e-17
    figure = jn.Trajectory.of(robot, np.arange(5.0), q).plot(tmp_path / "limits.png", robot=robot)
    assert legends(figure)[0][1:] == ["limits"]


def test_one_sided_limits() -> None:
    values = np.array([[0.0], [1.0]])

    def close(lower: float, upper: float) -> list[float]:
        first, second = panels._close(values, np.array([[[lower, upper]]] * 2))
        assert np.array_equal(first, second, equal_nan=True)
        return np.nan_to_num(first[0], nan=-99).tolist()

    assert close(-np.inf, 2.5) == [-99, 2.5]
    assert close(-np.inf, 3.5) == [-99, -99]
    assert close(0.5, np.inf) == [0.5, -99]


def test_plot_for_the_screen() -> None:
    plt.switch_backend("Agg")
    figure = motion_of(slider()).plot()
    assert plt.fignum_exists(figure.number)
    plt.close(figure)
