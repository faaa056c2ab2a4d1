"""The examples run, shortened, and their claims hold. (`flip` is in test_control.py.)"""

from __future__ import annotations

import importlib
import importlib.util
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from jounce._core import UnwatchedNodes

import jounce as jn

EXAMPLES = Path(__file__).parents[1] / "examples"
ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"


@pytest.fixture
def example(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script that the test is named after, imported from its own directory, as when run."""
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module(request.function.__name__.removeprefix("test_"))


@pytest.fixture
def picture(tmp_path: Path) -> Iterator[Path]:
    """Where the script is to save its picture, which must exist at the end."""
    path = tmp_path / "new" / "picture.png"
    yield path
    assert path.stat().st_size > 20_000


@pytest.mark.skipif(importlib.util.find_spec("osqp") is None, reason="OSQP is not installed")
def test_model_predictive_control(example: ModuleType, picture: Path) -> None:
    """It stays near its path within the limits, and its programs are the right ones: against one without limits."""
    found = example.main(picture, end=0.3)
    assert found["off"].max() < 0.06
    assert (found["inputs"] >= example.LOWER).all()
    assert (found["inputs"] <= example.UPPER).all()
    assert found["spent"].shape == (300, 4)
    assert (found["inputs"] == example.UPPER).any()  # a limit is active

    robot = found["robot"]
    q, v = (x[0] for x in example.reference(robot, [0.0]))
    rng, controller = np.random.default_rng(0), example.Controller(robot, (q, v))
    controller.q[1:] = robot.integrate(controller.q[1:], 0.01 * rng.normal(size=(20, 8)))
    wanted = example.reference(robot, 0.02 * np.arange(1, 21))
    lin = controller.linearized()
    A, B = lin.discretize(example.STEP)
    missed = controller.missed(lin.acceleration)
    H, g = controller.condensed(A, B, missed, wanted)

    def cost(z):  # by going through the knots, one after another
        x, total = np.zeros(16), 0.0
        plan = controller.plan + z.reshape(-1, 6)
        for k in range(20):
            x = A[k] @ x + B[k] @ z.reshape(-1, 6)[controller.block[k]] + missed[k]
            own = controller.q[k + 1]
            rate = robot.change_velocity_frame(own, wanted[1][k, None], "mixed", "body")[0]
            off = np.concatenate([-robot.difference(own, wanted[0][k]), controller.v[k + 1] - rate])
            total += ((controller.root[k] @ (x + off)) ** 2).sum() / 2
            total += example.STEP / 2 * (plan[controller.block[k]] - controller.rest) ** 2 @ example.R
        return total

    best = -np.linalg.solve(H, g)
    least = cost(best)
    np.testing.assert_allclose(cost(np.zeros(48)) - least, best @ H @ best / 2, rtol=1e-9)
    for _ in range(5):
        z = rng.normal(size=48)
        np.testing.assert_allclose(cost(best + z) - least, z @ H @ z / 2, rtol=1e-8)


def test_each_example_has_a_test() -> None:
    for path in EXAMPLES.glob("*.py"):
        assert f"test_{path.stem}" in globals() or path.stem in ("arm", "picture", "flip"), path.name


def test_torque_rate_limits(example: ModuleType, picture: Path) -> None:
    """Both methods respect the limits, and retiming costs less than half as much as slowing down."""
    clocks = example.main(picture, points=401)
    arm, x = example.add_arm(jn.Builder()).build().replace(limits=example.LIMITS), np.linspace(0.0, 1.0, 401)
    limits = np.array([[60.0, 140.0, 60.0, 15.0], [500.0, 550.0, 350.0, 100.0]])  # N m, N m/s
    end, shares = {}, {}
    for name, clock in clocks.items():
        t, share = example.times(x, clock[0]), example.share(arm, x, *clock)
        torque, rate = np.moveaxis(share * limits, 1, 0)
        slope = np.gradient(torque, t, axis=0)[1:-1]
        np.testing.assert_allclose(slope, rate[1:-1], rtol=0, atol=3e-3 * np.abs(rate).max())
        end[name], shares[name] = t[-1], np.abs(share).max(axis=(0, 2))
        q, v = example.motion(x, *clock)
        broken = {each.quantity for each in arm.check_limits(q, v, arm.inverse_dynamics(q, v))}
        assert broken == ({"effort rate"} if name == "planned" else set())
    assert shares["planned"][0] < 1
    assert shares["planned"][1] > 3
    for name in ("slowed", "retimed"):
        assert 0.99 < shares[name].max() < 1  # holds, and is no slower than necessary
    assert end["retimed"] - example.PLANNED < (end["slowed"] - example.PLANNED) / 2


def test_jerk_control(example: ModuleType, picture: Path) -> None:
    """At jerk level the error decays according to its triple pole, down to the effect of held commands."""
    flights = example.main(picture, duration=2.5)
    time, _, errors = flights["jerk level"]
    x = example.POLE * time
    np.testing.assert_allclose(errors[:, 1], -0.2 * (1 + x + x**2 / 2) * np.exp(-x), rtol=0, atol=2e-3)
    base = {name: np.linalg.norm(flight[2][time > 2.2, :3], axis=1).max() for name, flight in flights.items()}
    assert base["jerk level"] < 5e-4
    assert base["the same without lag"] < 5e-4
    assert base["acceleration level"] > 0.01


def test_elastic_joints(example: ModuleType, picture: Path) -> None:
    """Second-order feed-forward is exact; it requires that K is known."""
    worst = example.main(picture, end=0.3)
    assert worst["second order"] < 1e-5
    assert worst["rigid"] > 5
    assert worst["deflection under the weight"] > 3
    assert 0.5 < worst["second order, K 10 % wrong"] < 1

    arm, t, h = (
        example.add_arm(jn.Builder()).build(),
        0.3,
        1e-3,
    )  # B theta'' is the motors' torques minus those of the springs
    (before, _, _), (theta, _, push), (after, _, _) = (example.second_order(arm, t + d) for d in (-h, 0.0, h))
    spring = example.K * (theta - example.wanted(t)[0])
    np.testing.assert_allclose(example.B * (after - 2 * theta + before) / h**2, push - spring, rtol=1e-3, atol=1e-3)


def test_passive_control(example: ModuleType, picture: Path) -> None:
    """The storage loses what the damping dissipates, up to rounding; the other matrix, correct as a force, feeds it."""
    results = example.main(picture, end=1.2)
    storage, power, _ = results["passive C"]
    assert (np.diff(storage) < 0).all()
    assert np.abs(power).max() < 1e-10
    storage, power, _ = results["Lagrange's C"]
    assert np.diff(storage).max() > 0.1
    assert np.abs(power).max() > 100

    arm = example.add_arm(jn.Builder()).build()
    q, v, a = np.random.default_rng(0).normal(size=(3, arm.nv))
    np.testing.assert_allclose(example.lagrange(arm, q, v, v, a), arm.inverse_dynamics(q, v, a), rtol=1e-12)


def test_soft_finger(example: ModuleType, picture: Path) -> None:
    """The arm stays on its path if the controller models the finger; no torque is lost between motors and motion."""
    worst = example.main(picture, end=0.5)
    assert worst["soft"] < 1e-4
    assert worst["rigid"] > 10

    robot = example.robot_with_finger()
    q, v, a = np.random.default_rng(0).normal(size=(3, robot.nv)) * 0.3
    tau = robot.inverse_dynamics(q, v, a)
    mixed = np.where(np.arange(robot.nv) < 3, a, 0.0)
    acceleration, force = robot.hybrid_dynamics(q, v, mixed, tau, prescribed=np.arange(robot.nv) < 3)
    np.testing.assert_allclose(acceleration, a, rtol=0, atol=1e-7 * np.abs(a).max())
    np.testing.assert_allclose(force, tau, rtol=0, atol=1e-9 * np.abs(tau).max())
    arm = jn.load(example.ARM)
    assert robot.joint_names == (*arm.joint_names, "finger")


def test_tentacle_on_a_drone(example: ModuleType, picture: Path) -> None:
    """The base stays in place; the wrench is the rate of the momentum, and energy is balanced."""
    strays = example.main(picture, end=1.0)
    assert strays["hybrid dynamics"][0] < 1e-9
    assert strays["unaware"][0] > 3
    for _, momentum, energy, run in strays.values():
        assert momentum < 1e-10 * np.abs(run.tau).max()
        assert energy < 1e-5


def test_four_bar(example: ModuleType, picture: Path) -> None:
    """The torque's work is the energy gained; a linkage cut at a single pin has the same force there."""
    found = example.main(picture, points=361)
    run, forces = found["run"], found["forces"]
    assert found["apart"] < 1e-10
    assert max(found["off"].values()) < 1e-4
    for force in forces.values():
        assert np.abs(force[..., 1]).max() < 1e-9 * np.abs(force).max()  # nothing normal to the plane

    robot = example.linkage()
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    x = robot.forward_kinematics(run.q).pose[:, :, :3, 0]
    crank, coupler, rocker = np.unwrap(np.arctan2(x[..., 2], x[..., 0]), axis=0).T
    np.testing.assert_allclose(energy - energy[0], example.TORQUE * (crank - crank[0]), rtol=0, atol=1e-9 * energy[-1])

    builder = jn.Builder()
    inertia, along = {b.name: b.inertia for b in robot.bodies}, example.along
    hinge, pin = jn.Revolute(example.AXIS), "coupler on rocker"
    builder.add("crank", "world", hinge, inertia=inertia["crank"])
    builder.add("coupler", "crank", hinge, along(example.LENGTH["crank"]), inertia["coupler"])
    builder.add("rocker", "world", hinge, along(example.GROUND), inertia["rocker"])
    ends = {f"placement_{side}": along(example.LENGTH[bar]) for side, bar in (("a", "coupler"), ("b", "rocker"))}
    builder.close(pin, "coupler", "rocker", hinge, **ends)
    rates = -run.v[:, [4, 10, 16]] @ np.array([[1, -1, 0], [0, 1, 0], [0, 0, 1]])
    tau = np.zeros((1, 3, 3))
    tau[0, 0, 0] = example.TORQUE
    q = np.stack([crank, coupler - crank, rocker], axis=1)
    same = builder.build().constrained_dynamics(q, rates, tau, wrench_frame="mixed").forces[pin][..., :3]
    size = np.abs(same).max(axis=(0, 2))
    assert (np.abs(same - forces[pin]).max(axis=(0, 2)) < 1e-8 * size).all()


def test_stewart_platform(example: ModuleType, picture: Path) -> None:
    """The derivatives are those of the forces, and the power of the legs is the rate of the energy."""
    found = example.main(picture, points=61)
    assert found["off"][0] < 1e-10
    assert found["off"][1] < 1e-8
    assert found["apart"] < 1e-14

    robot, t, h = example.platform(), np.linspace(0.1, 2.0, 9), 1e-3
    _, v, _ = example.state(robot, t, 0)
    power = np.einsum("ti,ti->t", example.leg_forces(robot, t, 0)[:, 0], v[:, 8::3])

    def energy(t):
        q, v, _ = example.state(robot, t, 0)
        own = robot.change_velocity_frame(q, v[:, None], "mixed", "body")[:, 0]
        return robot.kinetic_energy(q, own) + robot.potential_energy(q)

    rate = (8 * (energy(t + h) - energy(t - h)) - energy(t + 2 * h) + energy(t - 2 * h)) / (12 * h)
    np.testing.assert_allclose(power, rate, rtol=0, atol=1e-8 * np.abs(power).max())


@pytest.mark.skipif(not ROBOTS.exists(), reason="example-robot-data is not installed")
def test_weight_shift(example: ModuleType, picture: Path) -> None:
    """The foot is unloaded smoothly; the forces are the rate of the momentum, and likewise their rates."""
    found = example.main(picture, points=71)
    assert found[11]["jump"] < 1e-6 < 100 < found[5]["jump"]
    robot, _ = example.standing()
    for each in found.values():
        run, forces = each["run"], each["forces"]
        assert each["slip"] < 1e-9
        assert each["off"] < 1e-5
        assert np.abs(forces[example.LIFTED][-1, :2]).max() < 1e-4  # N, and N/s
        momentum = robot.centroidal_momentum_derivatives(run.q, np.stack([run.v, run.a], axis=1))[:, 1, :3]
        total = sum(force[:, 0, :3] for force in forces.values())
        mass = sum(body.inertia.mass for body in robot.bodies)
        np.testing.assert_allclose(total + mass * robot.gravity, momentum, rtol=0, atol=1e-6)
    for force in found[11]["forces"].values():
        slope = np.gradient(force[:, 0, 2], run.time, edge_order=2)
        np.testing.assert_allclose(slope, force[:, 1, 2], rtol=0, atol=0.02 * np.abs(force[:, 1, 2]).max())


def test_fin_ray_finger(example: ModuleType, picture: Path) -> None:
    """With ribs the tip moves towards the load, whose work the walls store; released, energy is balanced."""
    found = example.main(picture, end=0.004)
    assert found["ribs"]["tip"][-1] < -0.005
    assert found["no ribs"]["tip"][-1] > 0.02
    assert found["apart"] < 1e-9
    assert found["lost"] < 1e-4

    robot, shapes = found["ribs"]["robot"], found["ribs"]["shapes"]
    load = np.zeros((len(shapes), 6))
    load[:, 0] = example.FORCES
    still = np.zeros(robot.nv)
    with UnwatchedNodes():  # accelerations are zero but for what statics with more nodes would change
        rest = robot.constrained_dynamics(shapes, still, still, wrenches={"pad": load}, wrench_frame="mixed")
    assert np.abs(rest.acc).max() < 1e-6 * np.abs(robot.forward_dynamics(shapes[-1], still, still)).max()

    x, energy = robot.pose("pad", shapes)[:, 0, 3], robot.potential_energy(shapes)
    work = ((example.FORCES[1:] + example.FORCES[:-1]) / 2) @ np.diff(x)
    np.testing.assert_allclose(energy[-1] - energy[0], work, rtol=1e-2)

    def total(change):  # energy of finger and load at rest, with one rib longer by that
        records = [
            replace(c, kind=jn.Distance(c.kind.length + change)) if c.name == rib else c for c in robot.constraints
        ]
        other = jn.Model(robot.bodies, robot.gravity, records)
        q = example.at_rest(other, example.FORCES[-1], shapes[-1])
        return other.potential_energy(q) - example.FORCES[-1] * other.pose("pad", q)[0, 3]

    rib, step = "rib 0.4", 1e-5
    a, b = (robot.pose(f"{rib}.{side}", shapes[-1])[:3, 3] for side in "ab")
    tension = rest.forces[rib][-1, :3] @ (b - a) / np.linalg.norm(b - a)
    np.testing.assert_allclose((total(-step) - total(step)) / (2 * step), tension, rtol=1e-5)


needs_study = pytest.mark.skipif(
    importlib.util.find_spec("xarray") is None, reason="the packages of the extra 'study' are not installed"
)


@needs_study
def test_payload_study(example: ModuleType, picture: Path) -> None:
    """The map is that of margins computed flight by flight, and heavier loads may be less far off."""
    found = example.main(picture, grid=6, samples=8, workers=1)
    results, edge = found["results"], found["edge"]
    assert (results["status"] == 0).all()
    number = edge.parameters.index
    assert example.margin(edge) == results["margin"].values[number]
    rotors, (q, mixed) = jn.robots.TiltHex(), jn.robots.reference_motion(np.linspace(0.0, 30.0, 101), 2)
    robot = edge.robot
    world = robot.change_velocity_frame(q, mixed, "mixed", "world")
    forces = robot.inverse_dynamics(q, world, frame="world")[:, 0, :6]  # about the world's origin
    poses = robot.pose("B1", q)
    for pose, force, thrust in zip(poses, forces, edge.motion, strict=True):
        sum_of = np.zeros(6)
        for own, push, sense in zip(rotors.poses(), thrust, [1, -1] * 3, strict=True):
            axis, place = (pose @ own)[:3, 2], (pose @ own)[:3, 3]
            moment = np.cross(place, axis) + sense * rotors.drag / rotors.thrust * axis
            sum_of += push * np.concatenate([axis, moment])
        np.testing.assert_allclose(sum_of, force, rtol=0, atol=1e-9)
    part = found["part"].values
    assert (np.diff(part.mean(axis=1)) >= 0).all()
    assert part[0].max() == 0
    assert part[-1].min() > 0.5


@needs_study
def test_stiffness_study(example: ModuleType, picture: Path) -> None:
    """Rates are the derivatives of torques; the best stiffness is neither the highest nor the lowest."""
    found = example.main(picture, samples=64, workers=1)
    results, study = found["results"], found["study"]
    flight = study.flight(17)
    torque, rate = flight.motion[:, 0], flight.motion[:, 1]
    step = flight.parameters["duration"] / 200
    slope = (8 * (torque[3:-1] - torque[1:-3]) - torque[4:] + torque[:-4]) / (12 * step)
    np.testing.assert_allclose(slope, rate[2:-2], rtol=0, atol=1e-3 * np.abs(rate).max())
    best = results["stiffness"].values[results["peak torque rate"].values.argmin()]
    assert 0.015 < best < 0.08
    assert found["indices"]["first_order"].values.sum() == pytest.approx(1.0, abs=0.15)


@needs_study
def test_gripper_study(example: ModuleType, picture: Path) -> None:
    """For small forces the stiffness is that of a beam."""
    found = example.main(picture, grid=3, samples=4, workers=1)
    cube = found["cube"]
    assert (cube["status"] == 0).all()
    thick = cube["stiffness"].isel(root=-1, taper=-1).values  # a cylinder
    beam = 3 * cube["modulus"].values * np.pi / 4 * 0.012**4 / example.LENGTH**3
    np.testing.assert_allclose(thick, beam, rtol=0.05)
    assert (np.diff(cube["stiffness"].values, axis=0) > 0).all()
    assert (np.diff(cube["stiffness"].values, axis=1) > 0).all()
