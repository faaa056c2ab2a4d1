"""Names and units of the coordinates of soft bodies describe what the coordinates do."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from jounce import trajectory
from jounce.dynamics.named_coordinates import names

LENGTH = 0.2
AXES = {"x": 0, "y": 1, "z": 2}


def rod(strain: object, **options: object) -> jn.soft.Rod:
    return jn.soft.Rod(LENGTH, 0.01, 1000.0, 1e5, strain=strain, **options)


def robot_of(body: object, *joint: jn.Joint) -> jn.Model:
    builder = jn.Builder()
    builder.add("proximal", "world", *joint, body=body)
    return builder.build()


def bare(names: tuple[str, ...]) -> list[str]:
    return [name.removeprefix("proximal.") for name in names]


def screw_of(name: str) -> np.ndarray:
    """(6,) the direction of the strain with that name."""
    strain, _, rest = name.lstrip("-").partition("_")
    sign = -1.0 if "-" in name else 1.0
    axis = AXES[rest.strip("-_0123456789bel")[:1] or "z"]
    screw = np.zeros(6)
    screw[axis + (3 if strain in ("bend", "twist") else 0)] = sign
    return screw


UNIFORM = {
    "constant curvature": (None, ["bend_y", "bend_-x", "stretch"]),
    "in the plane": (jn.soft.constant_curvature(planar=True), ["bend_-y", "stretch"]),
    "without elongation": (jn.soft.constant_curvature(elongation=False), ["bend_y", "bend_-x"]),
    "all strains": (jn.soft.constant_strain(), ["shear_x", "shear_y", "stretch", "bend_x", "bend_y", "twist"]),
    "two strains": (jn.soft.constant_strain("twist", "bend_x"), ["twist", "bend_x"]),
    "an array": (np.eye(6)[:, [3, 2, 0]], ["bend_x", "stretch", "shear_x"]),
    "an array with signs": (-np.eye(6)[:, 1:], ["shear_-y", "-stretch", "bend_-x", "bend_-y", "-twist"]),
    "a polynomial of order 0": (jn.soft.polynomial(0), ["bend_x", "bend_y", "twist", "stretch"]),
}


@pytest.mark.parametrize("name", UNIFORM)
def test_a_coordinate_does_what_its_name_and_unit_say(name: str) -> None:
    """The far end turns about that axis by that many radians, or moves that many metres along it; strains times L."""
    strain, expected = UNIFORM[name]
    robot = robot_of(rod(strain))
    found = names(robot)
    assert bare(found.q) == bare(found.v) == expected
    small = 1e-7
    for i, (label, unit) in enumerate(zip(expected, found.q_units, strict=True)):
        pose = robot.pose("proximal", small * np.eye(robot.nq)[i])
        turn = np.array([pose[2, 1] - pose[1, 2], pose[0, 2] - pose[2, 0], pose[1, 0] - pose[0, 1]]) / 2
        turns = label.lstrip("-").startswith(("bend", "twist"))
        size = small * {"rad": 1.0, "m": 1.0, "1/m": LENGTH, "1": LENGTH}[unit]
        assert (unit in ("rad", "1/m")) == turns
        done = turn if turns else pose[:3, 3] - (0, 0, LENGTH)
        assert np.allclose(done, size * screw_of(label)[3 * turns : 3 * turns + 3], atol=1e-6 * size), label


VARYING = {
    "a polynomial": (jn.soft.polynomial({"bend_y": 2, "stretch": 0}), ["bend_y_0", "bend_y_1", "bend_y_2", "stretch"]),
    "a Gaussian": (
        jn.soft.gaussian(1.0, 0.1),
        ["bend_y", "bend_y_bell", "bend_-x", "bend_-x_bell", "stretch"],
    ),
}


@pytest.mark.parametrize("name", VARYING)
def test_names_of_strains_that_vary(name: str) -> None:
    """At the far end all of these functions are 1 over the length."""
    strain, expected = VARYING[name]
    body = rod(strain)
    found = names(robot_of(body))
    assert bare(found.q) == expected
    assert found.q_units == tuple("m" if label == "stretch" else "rad" for label in expected)
    for label, column in zip(expected, body.strain_at(LENGTH).T, strict=True):
        assert np.allclose(column, screw_of(label) / LENGTH), label


def test_units_that_cannot_be_known() -> None:
    for strain in (5 * np.eye(6)[:, 3:5], np.ones((6, 2)), lambda s: np.eye(6)[:, 3:5]):
        found = names(robot_of(rod(strain)))
        assert found.q == ("proximal.0", "proximal.1")
        assert found.q_units == ("?", "?")
        assert found.v_units == ("?/s", "?/s")
    twice = names(robot_of(rod(np.eye(6)[:, [3, 3]])))
    assert twice.q == ("proximal.0", "proximal.1")


def test_a_body_that_swells() -> None:
    body = jn.soft.VariableRadius(0.2, 0.02, 1062.0, 1e5, wall=0.004, nodes=(3, 3), check=False)
    robot = robot_of(body)
    found = names(robot)
    assert bare(found.q) == ["bend_x", "stretch", "bulge_1", "bulge_2"]
    assert found.q_units == ("rad", "m", "m", "m")
    assert found.v_units == ("rad/s", "m/s", "m/s", "m/s")
    bent = robot.pose("proximal", [0.3, 0, 0, 0])
    assert np.allclose(bent[:3, :3], [[1, 0, 0], [0, np.cos(0.3), -np.sin(0.3)], [0, np.sin(0.3), np.cos(0.3)]])
    assert np.isclose(robot.pose("proximal", [0, 0.01, 0, 0])[2, 3], 0.21)


def test_with_a_joint_and_among_rigid_bodies() -> None:
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.add("rod", "base", jn.Revolute(), body=rod(jn.soft.constant_strain("bend_x")))
    builder.add("slide", "rod", jn.Prismatic(), inertia=jn.Inertia(1.0))
    found = names(builder.build())
    assert found.v[6:] == ("rod", "rod.shape.bend_x", "slide")
    assert found.q_units[7:] == ("rad", "rad", "m")


class Slide(jn.soft.Module):
    n, masses = 2, (1.0, 2.0)
    coordinate_names, coordinate_units = ("reach", "strain"), ("m", "1")

    def pose(self, q):
        return np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, q[0] + 0.1 * q[1]], [0, 0, 0, 1]])

    def points(self, q):
        return np.array([[0, 0, q[0]], [0, 0, q[0] + 0.1 * q[1]]])


def test_modules_name_their_coordinates() -> None:
    robot = robot_of(Slide())
    for each in (robot, pickle.loads(pickle.dumps(robot))):
        found = names(each)
        assert found.q == found.v == ("proximal.reach", "proximal.strain")
        assert found.q_units == ("m", "1")
        assert found.v_units == ("m/s", "1/s")

    class Unnamed(Slide):
        coordinate_names = coordinate_units = ()

    assert names(robot_of(Unnamed())) == (
        ("proximal.0", "proximal.1"),
        ("proximal.0", "proximal.1"),
        ("?", "?"),
        ("?/s", "?/s"),
    )


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("coordinate_names", ("x",), r"coordinate_names is \('x',\), expected 2 strings, one for each coordinate$"),
        ("coordinate_names", "xy", r"coordinate_names is 'xy', expected 2 strings"),
        ("coordinate_names", ("x", 3), r"coordinate_names is \('x', 3\), expected 2 strings"),
        ("coordinate_names", ("x", "x"), r"coordinate_names is \('x', 'x'\), expected each at most once$"),
        ("coordinate_units", ("m", "mm"), r"coordinate_units is \('m', 'mm'\), expected each to be one of 'm', 'rad'"),
        ("coordinate_units", 3, r"coordinate_units is 3, expected 2 strings"),
    ],
)
def test_bad_names_of_modules(key: str, value: object, message: str) -> None:
    module = Slide()
    setattr(module, key, value)
    with pytest.raises(ValueError, match="^body of 'proximal': " + message):
        robot_of(module)


class Wave(jn.soft.Strain):
    n = 1
    names, units = ("wave",), ("rad",)

    def basis(self, s: float, length: float) -> np.ndarray:
        return np.array([[0, 0, 0, 0, np.sin(s / length) / length, 0]]).T


def test_strains_of_a_user() -> None:
    found = names(robot_of(rod(Wave())))
    assert (found.q, found.q_units) == (("proximal.wave",), ("rad",))
    wrong = Wave()
    wrong.names = ("one", "two")
    with pytest.raises(ValueError, match=r"^strain.names is \('one', 'two'\), expected 1 strings"):
        rod(wrong)


def test_simulated_saved_and_loaded(tmp_path: Path) -> None:
    robot = robot_of(rod(np.eye(6)[:, 2:5], damping=0.1), jn.Spherical())
    run = jn.simulate(robot, robot.neutral(), np.zeros(6), [0.0, 0.01], method="implicit")
    again = jn.Trajectory.load(run.save(tmp_path / "run.npz"))
    assert again.v_names[3:] == ("proximal.shape.stretch", "proximal.shape.bend_x", "proximal.shape.bend_y")
    assert again.q_units == ("1",) * 4 + ("1", "1/m", "1/m")
    assert again.v_units == ("rad/s",) * 3 + ("1/s", "1/(m s)", "1/(m s)")


def test_each_unit_has_its_panel(tmp_path: Path) -> None:
    builder = jn.Builder()
    builder.add("ball", "world", jn.Spherical(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.add("rod", "ball", body=rod(None))
    builder.add("free", "rod", body=rod(np.eye(6)[:, 2:4]))
    builder.add("end", "free", body=rod(lambda s: np.eye(6)[:, 3:5]))
    robot = builder.build()
    rng = np.random.default_rng(0)
    q = robot.random_configuration(rng, 5)
    motion = trajectory.of(robot, np.linspace(0, 1, 5), q, *rng.normal(size=(3, 5, robot.nv)))
    figure = motion.plot(tmp_path / "motion.png")
    axes = np.reshape(figure.axes, (-1, 3))
    shown = {row[0].get_ylabel(): [t.get_text() for t in row[2].get_legend().get_texts()] for row in axes}
    assert shown == {
        "quaternion": ["ball.qx", "ball.qy", "ball.qz", "ball.qw"],
        "position (m)": ["rod.stretch"],
        "angle (rad)": ["rod.bend_y", "rod.bend_-x"],
        "strain (1)": ["free.stretch"],
        "curvature (1/m)": ["free.bend_x"],
        "coordinate (?)": ["end.0", "end.1"],
    }
    assert {ax.get_ylabel() for ax in axes[:, 1:].flat} == {
        "velocity (m/s)",
        "angular velocity (rad/s)",
        "strain rate (1/s)",
        "curvature rate (1/(m s))",
        "rate of coordinate (?/s)",
        "force (N)",
        "moment (N m)",
        "force on strains (N m)",
        "force on curvatures (N m²)",
        "force on coordinate (?)",
    }
