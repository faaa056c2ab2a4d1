"""The model as an object: names and slices, text, immutability, and sharing between threads."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from time_limits import HANG
from trees import NQ, NV, random_configuration, random_inertia, random_pose, random_stack, random_tree

BOX = jn.Inertia(2.0, (0.1, 0.2, 0.3), (0.1, 0.2, 0.25))
TILTED = jn.placement((0.1, -2.0, 1 / 3), rpy=(0.1, 0.2, 0.3))


@pytest.fixture
def robot() -> jn.Model:
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(name="floating"), inertia=BOX)
    builder.add("mount", "base", jn.Fixed(), inertia=jn.Inertia(0.5))
    builder.add("left", "mount", jn.Revolute((0, 1, 0), damping=0.1), inertia=BOX)
    builder.add("camera", "mount", jn.Fixed(name="screws"))
    builder.add("right", "base", jn.Helical((1, 1, 0), 0.02, name="screw"), inertia=BOX)
    builder.add("hand", "left", jn.Spherical(), inertia=BOX)
    builder.add("cart", "world", jn.Planar(), inertia=BOX)
    return builder.build()


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    """Sets how many threads a batch takes, until the test ends."""
    before = jn.num_threads()
    yield jn.set_num_threads
    jn.set_num_threads(before)


def motion(robot: jn.Model, batch: tuple[int, ...] = (), rows: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return robot.random_configuration(rng, batch), rng.uniform(-1, 1, (*batch, rows, robot.nv))


# Names and coordinates


def test_names_and_sizes(robot: jn.Model) -> None:
    assert robot.body_names == ("base", "left", "right", "hand", "cart")
    assert robot.joint_names == ("floating", "left", "screw", "hand", "cart")
    assert robot.frame_names == ("base", "left", "right", "hand", "cart", "mount", "camera")
    assert [robot.frame_index(name) for name in robot.frame_names] == list(range(7))
    assert (robot.nq, robot.nv) == (7 + 1 + 1 + 4 + 3, 6 + 1 + 1 + 3 + 3)
    assert [robot.position(j) for j in robot.joint_names] == [
        slice(0, 7),
        slice(7, 8),
        slice(8, 9),
        slice(9, 13),
        slice(13, 16),
    ]
    assert [robot.coordinate(j) for j in robot.joint_names] == [
        slice(0, 6),
        slice(6, 7),
        slice(7, 8),
        slice(8, 11),
        slice(11, 14),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_coordinates_are_in_the_order_of_the_bodies(seed: int) -> None:
    tree = random_tree(np.random.default_rng(seed), 20)
    robot = jounce_model(tree)
    moving = [b for b in tree.bodies if b.joint != "fixed"]
    assert robot.body_names == robot.joint_names == tuple(b.name for b in moving)
    assert (robot.nq, robot.nv) == (tree.nq, tree.nv)
    for b, q, v in zip(tree.bodies, tree.q_slices(), tree.v_slices(), strict=True):
        if b.joint != "fixed":
            assert (robot.position(b.name), robot.coordinate(b.name)) == (q, v)
            assert (q.stop - q.start, v.stop - v.start) == (NQ[b.joint], NV[b.joint])


def test_the_joint_of_a_body() -> None:
    panda, flyer = jn.robots.panda(), jn.robots.quadrotor_arm()
    swing = jn.load("""<robot name="r"> <link name="frame"/> <link name="seat"> <inertial> <mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial> </link>
      <link name="wheel"> <inertial> <mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/> </inertial> </link>
      <joint name="chain" type="continuous"> <parent link="frame"/> <child link="seat"/> </joint>
      <joint name="spin" type="continuous"> <parent link="seat"/> <child link="wheel"/> <mimic joint="chain"/> </joint>
      </robot>""")
    builder = jn.Builder()
    builder.add("base", "world", jn.Revolute(name="turn"), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.add("rod", "base", body=jn.soft.Rod(0.3, 0.02, 1000.0, 1e6))
    builder.add("tip", "rod", jn.Fixed())
    for robot, name, hint in (
        (panda, "link3", "body 'link3' is moved by joint 'q3'"),
        (flyer, "quadrotor", "body 'quadrotor' is moved by joint 'base'"),
        (flyer, "tool", "frame 'tool' is moved by joint 'elbow'"),
        (swing, "frame", "frame 'frame' is fixed in the world"),
        (swing, "wheel", "body 'wheel' is moved by joint 'spin', which follows 'chain'"),
        (builder.build(), "tip", "frame 'tip' is part of 'rod'"),
        (panda, "lnk3", "there are 'q1', 'q2'"),
    ):
        for ask in (robot.coordinate, robot.position, lambda joint, of=robot: of.linearize(0, 0, 0, actuated=[joint])):
            with pytest.raises(ValueError, match=f"^no joint is named '{name}': {hint}"):
                ask(name)
        for change, of in ((robot.lock, "positions"), (lambda given, of=robot: of.replace(damping=given), "damping")):
            with pytest.raises(ValueError, match=f"^{of}: no joint is named '{name}': {hint}"):
                change({name: 1.0})


def test_coordinates_move_what_they_name(robot: jn.Model) -> None:
    """A body and all it carries move with its coordinates, and nothing else does."""
    below = {"floating": {"base", "left", "right", "hand"}, "left": {"left", "hand"}, "screw": {"right"}}
    below |= {"hand": {"hand"}, "cart": {"cart"}}
    q, _ = motion(robot)
    for joint in robot.joint_names:
        v = np.zeros((1, robot.nv))
        v[0, robot.coordinate(joint)] = 1.0
        twist = robot.forward_kinematics(q, v).twist[0]
        assert {n for n, t in zip(robot.body_names, twist, strict=True) if np.abs(t).max() > 1e-12} == below[joint]


def test_neutral(robot: jn.Model) -> None:
    q = robot.neutral()
    assert q.tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    poses = robot.forward_kinematics(q).pose
    np.testing.assert_allclose(poses, np.broadcast_to(np.eye(4), poses.shape), atol=1e-15)
    q[0] = 5.0
    assert robot.neutral()[0] == 0


@pytest.mark.parametrize(("shape", "lead"), [((), ()), (5, (5,)), ((2, 3), (2, 3)), (0, (0,)), ([4], (4,))])
def test_random_configurations(robot: jn.Model, shape: int | tuple[int, ...], lead: tuple[int, ...]) -> None:
    q = robot.random_configuration(np.random.default_rng(0), shape)
    assert q.shape == (*lead, robot.nq)
    for joint in ("floating", "hand"):
        length = np.linalg.norm(q[..., robot.position(joint)][..., -4:], axis=-1)
        np.testing.assert_allclose(length, 1.0, rtol=1e-15)
    robot.inverse_dynamics(q, np.zeros((2, robot.nv)))
    np.testing.assert_array_equal(q, robot.random_configuration(np.random.default_rng(0), shape))


def test_random_configurations_by_a_number_of_numpy(robot: jn.Model) -> None:
    assert robot.random_configuration(np.random.default_rng(0), np.int64(5)).shape == (5, robot.nq)


def test_random_configurations_reach_everywhere(robot: jn.Model) -> None:
    q = robot.random_configuration(np.random.default_rng(0), 4000)
    reach = np.abs(q).max(0)
    angles = [7, 8, 15]
    distances = [0, 1, 2, 13, 14]
    assert (reach[angles] > 0.99 * np.pi).all()
    assert (reach[angles] <= np.pi).all()
    assert (reach[distances] > 0.99).all()
    assert (reach[distances] <= 1).all()
    assert np.abs(q.mean(0)).max() < 0.1


# Text


def test_text(robot: jn.Model) -> None:
    assert repr(robot) == "<jounce.Model: 5 bodies, nq = 16, nv = 14>"
    assert (
        str(robot)
        == """\
jounce.Model: 5 bodies, nq = 16, nv = 14
world
├─ base: Free() 'floating', 2 kg
│  ├─ mount: Fixed(), 0.5 kg
│  │  ├─ left: Revolute(axis=(0, 1, 0)), 2 kg
│  │  │  └─ hand: Spherical(), 2 kg
│  │  └─ camera: Fixed() 'screws', 0 kg
│  └─ right: Helical(axis=(0.7071, 0.7071, 0), pitch=0.02) 'screw', 2 kg
└─ cart: Planar(x=(1, 0, 0), y=(0, 1, 0)), 2 kg"""
    )


@pytest.mark.parametrize(
    ("contact", "text"),
    [
        (jn.Spherical(), "Spherical(), world to tool, held wherever it is, in its own axes"),
        (jn.OnPlane(), "OnPlane(normal=[0.0, 0.0, 1.0]), world to tool, held wherever it is, in the world's axes"),
        (jn.Contact(jn.Fixed(), axes="world"), "Fixed(), world to tool, held wherever it is, in the world's axes"),
        (jn.Contact(jn.Fixed(), TILTED), "Fixed(), world to tool, held at (0.1, -2, 0.333), in the axes of its pose"),
        (
            jn.Contact(jn.Fixed(), TILTED, axes="world"),
            "Fixed(), world to tool, held at (0.1, -2, 0.333), in the world's axes",
        ),
    ],
)
def test_text_of_contacts(contact: object, text: str) -> None:
    """Printed, two walls with the same normal differ where they are in other axes."""
    held = jn.robots.quadrotor_arm().constrained({"tool": contact})  # type: ignore[dict-item]
    assert str(held).splitlines()[-1] == f"tool: {text}"
    assert text.partition("to tool")[2] in held._repr_html_().replace("&#x27;", "'")


def test_text_of_nothing_and_of_much() -> None:
    assert str(jn.Builder().build()) == "jounce.Model: 0 bodies, nq = 0, nv = 0\nworld"
    assert str(jn.robots.aerial_manipulator(1, 1000)).count("\n") == 1002


# Immutability


def test_pickle_gives_the_same_torques(robot: jn.Model) -> None:
    again = pickle.loads(pickle.dumps(robot))
    q, v = motion(robot, (3,))
    np.testing.assert_array_equal(again.inverse_dynamics(q, v), robot.inverse_dynamics(q, v))
    assert str(again) == str(robot)
    assert (again.frame_names, again.joint_names) == (robot.frame_names, robot.joint_names)
    assert again.coordinate("screw") == robot.coordinate("screw")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_of_all_joints(seed: int, protocol: int) -> None:
    robot = jounce_model(random_tree(np.random.default_rng(seed), 12, passive=True))
    q, v = motion(robot)
    again = pickle.loads(pickle.dumps(robot, protocol))
    np.testing.assert_array_equal(again.inverse_dynamics(q, v), robot.inverse_dynamics(q, v))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_compute_the_same(robot: jn.Model, copied: Callable[[jn.Model], jn.Model]) -> None:
    q, v = motion(robot)
    np.testing.assert_array_equal(copied(robot).inverse_dynamics(q, v), robot.inverse_dynamics(q, v))


def test_identity(robot: jn.Model) -> None:
    other = pickle.loads(pickle.dumps(robot))
    assert robot == robot
    assert robot != other
    assert hash(robot) == hash(robot)
    assert {robot: 1, other: 2}[robot] == 1
    assert len({robot, other, robot}) == 2


def arrays_of(robot: jn.Model) -> list[tuple[str, np.ndarray]]:
    found = [("gravity", robot.gravity)]
    for b in robot.bodies:
        of_joint = {k: x for k, x in vars(b.joint).items() if isinstance(x, np.ndarray)}
        found += [(f"{b.name}.placement", b.placement), (f"{b.name}.com", b.inertia.com)]
        found += [(f"{b.name}.rotational", b.inertia.rotational), *((f"{b.name}.{k}", x) for k, x in of_joint.items())]
    return found


def same(robot: jn.Model) -> jn.Model:
    return robot


@pytest.mark.parametrize(
    "derived",
    [
        same,
        copy.copy,
        pytest.param(copy.deepcopy),
        pytest.param(lambda r: pickle.loads(pickle.dumps(r))),
    ],
    ids=["itself", "copy", "deepcopy", "pickle"],
)
def test_arrays_cannot_be_written_to(robot: jn.Model, derived: Callable[[jn.Model], jn.Model]) -> None:
    arrays = arrays_of(derived(robot))
    assert len(arrays) > 40
    assert [name for name, array in arrays if array.flags.writeable] == []


def test_arrays_cannot_be_unlocked(robot: jn.Model) -> None:
    for _, array in arrays_of(robot):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


@pytest.mark.parametrize(
    "key", ["gravity", "bodies", "nq", "nv", "body_names", "_coordinates", "new", "inverse_dynamics"]
)
def test_model_cannot_be_changed(robot: jn.Model, key: str) -> None:
    with pytest.raises(AttributeError, match=f"cannot be changed: {key}"):
        setattr(robot, key, None)
    with pytest.raises(AttributeError, match=f"cannot be changed: {key}"):
        delattr(robot, key)


def test_parts_cannot_be_changed(robot: jn.Model) -> None:
    part = robot.bodies[2]
    for thing, key in [(part, "parent"), (part.joint, "axis"), (part.joint, "name"), (part.inertia, "mass")]:
        with pytest.raises(AttributeError):
            setattr(thing, key, 1)
    assert isinstance(robot.bodies, tuple)


@pytest.mark.parametrize("part", [0, 1, pytest.param(2)])
def test_nothing_can_be_taken_from_a_part(robot: jn.Model, part: int) -> None:
    thing, key = [(robot.bodies[2], "parent"), (BOX, "mass"), (robot.bodies[2].joint, "axis")][part]
    with pytest.raises(AttributeError):
        delattr(thing, key)


def test_what_was_given_is_copied() -> None:
    gravity, axis, placement = np.array([0.0, 0, -9.81]), np.array([0.0, 1, 0]), np.eye(4)
    com, moments, damping = np.array([0.1, 0, 0.5]), np.eye(3), np.array([0.5])
    builder = jn.Builder(gravity)
    builder.add("arm", "world", jn.Revolute(axis, damping=damping), placement, jn.Inertia(1.0, com, moments))
    robot = builder.build()
    truth = robot.inverse_dynamics([0.3], [[1.0], [2.0]])
    for given in (gravity, axis, placement, com, moments, damping):
        given += 1.0
    builder.add("more", "arm", jn.Revolute(), inertia=BOX)
    np.testing.assert_array_equal(robot.inverse_dynamics([0.3], [[1.0], [2.0]]), truth)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(robot)).inverse_dynamics([0.3], [[1.0], [2.0]]), truth)
    assert builder.build().nv == 2


def test_models_outlive_their_builder_and_results_their_model() -> None:
    q, v = motion(jn.robots.aerial_manipulator())
    torques = [jn.robots.aerial_manipulator().inverse_dynamics(q, v) for _ in range(20)]
    for torque in torques:
        np.testing.assert_array_equal(torque, torques[0])


# Threads


def test_many_python_threads_share_a_model(robot: jn.Model) -> None:
    """Calls of all kinds at once: each thread has its own workspace, which grows as needed."""
    calls: list[Callable[[], np.ndarray]] = []
    for i in range(60):
        q, v = motion(robot, ((), (7,), (300,))[i % 3], 2 + i % 9, seed=i)
        calls.append(lambda q=q, v=v: robot.inverse_dynamics(q, v))
        calls.append(
            lambda q=q, v=v: robot.inverse_dynamics(
                q, v, frame="world", wrenches={"camera": np.ones((v.shape[-2] - 1, 6))}
            )
        )
        calls.append(lambda q=q, v=v: robot.forward_kinematics(q, v).twist)
        calls.append(lambda q=q, v=v: robot.integrate(q, v[..., 0, :]))
    serial = [call() for call in calls]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(2):
            for result, truth in zip(pool.map(lambda call: call(), calls), serial, strict=True):
                np.testing.assert_array_equal(result, truth)


def test_errors_in_python_threads(robot: jn.Model) -> None:
    q, v = motion(robot, (500,))
    v[400, 1, 2] = np.nan

    def fails() -> str:
        with pytest.raises(ValueError, match=r"v\[400, 1, 2\] is nan") as error:
            robot.inverse_dynamics(q, v)
        return str(error.value)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: fails(), range(50)))) == 1


@pytest.mark.parametrize("order", [0, 1, 2, 3, 6])
def test_number_of_threads_changes_no_bit(robot: jn.Model, order: int, threads: Callable[[int], None]) -> None:
    q, v = motion(robot, (2011,), order + 2)
    results = []
    for n in (1, 2, 3, 7):
        threads(n)
        assert jn.num_threads() == n
        torque = robot.inverse_dynamics(q, v, frame="mixed")
        results.append((torque, robot.forward_kinematics(q, v).twist, robot.pose_derivatives(q, v)))
    for result in results[1:]:
        for one, other in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(one, other)
    threads(0)
    assert jn.num_threads() >= 1


def test_number_of_threads_changes_no_bit_at_large_angles(instruction_set: str, threads: Callable[[int], None]) -> None:
    robot = jn.robots.aerial_manipulator()
    q, v = motion(robot, (4001,), 3)
    q[::7, 9] = 1e7
    threads(1)
    alone = robot.inverse_dynamics(q, v)
    threads(3)
    np.testing.assert_array_equal(robot.inverse_dynamics(q, v), alone)


def test_other_threads_run_during_a_long_call(threads: Callable[[int], None]) -> None:
    """It releases the GIL: at this switch interval, no other thread gets it from one that does not."""
    robot = jn.robots.aerial_manipulator(5, 10)
    q, v = motion(robot, (4000,), 8)
    threads(1)
    ticks, done = [0], threading.Event()

    def watch() -> None:
        while not done.is_set():
            ticks[0] += 1
            time.sleep(1e-4)

    def during(call: Callable[[], object]) -> int:
        before = ticks[0]
        call()
        return ticks[0] - before

    watcher, interval = threading.Thread(target=watch), sys.getswitchinterval()
    sys.setswitchinterval(1e3)
    try:
        watcher.start()
        assert during(lambda: sum(range(10**6))) == 0
        assert any(during(lambda: robot.inverse_dynamics(q, v)) >= 5 for _ in range(200))
    finally:
        sys.setswitchinterval(interval)
        done.set()
        watcher.join()


# Fixed bodies


def merged(inertias: list[tuple[np.ndarray, jn.Inertia]]) -> jn.Inertia:
    """The inertia of several bodies at given poses as one: Steiner's theorem, written out."""
    mass = sum(i.mass for _, i in inertias)
    coms = [pose[:3, :3] @ i.com + pose[:3, 3] for pose, i in inertias]
    com = sum(i.mass * c for (_, i), c in zip(inertias, coms, strict=True)) / mass
    moments = np.zeros((3, 3))
    for (pose, i), c in zip(inertias, coms, strict=True):
        d = c - com
        moments += pose[:3, :3] @ i.rotational @ pose[:3, :3].T + i.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return jn.Inertia(mass, com, moments)


@pytest.mark.parametrize("joint", [jn.Revolute((1, 2, 3)), jn.Free(), jn.Universal(), jn.Spherical(), jn.Prismatic()])
def test_fixed_bodies_merge_into_their_parent(joint: jn.Joint) -> None:
    rng = np.random.default_rng(0)
    base, bracket, tool, child = (random_pose(rng) for _ in range(4))
    parts = [jn.Inertia(m, rng.normal(size=3), random_inertia(rng, m)) for m in (1.0, 0.7, 0.4, 1.2)]
    apart, by_hand = jn.Builder(), jn.Builder()
    apart.add("base", "world", joint, base, parts[0])
    apart.add("bracket", "base", jn.Fixed(), bracket, parts[1])
    apart.add("tool", "bracket", jn.Fixed(), tool, parts[2])
    apart.add("child", "tool", jn.Revolute((1, 0, 1)), child, parts[3])
    whole = merged([(np.eye(4), parts[0]), (bracket, parts[1]), (bracket @ tool, parts[2])])
    by_hand.add("base", "world", joint, base, whole)
    by_hand.add("child", "base", jn.Revolute((1, 0, 1)), bracket @ tool @ child, parts[3])
    one, other = apart.build(), by_hand.build()
    assert one.body_names == ("base", "child")
    assert one.frame_names == ("base", "child", "bracket", "tool")
    q, v = motion(one, (4,))
    np.testing.assert_allclose(one.inverse_dynamics(q, v), other.inverse_dynamics(q, v), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(one.forward_kinematics(q, v).pose, other.forward_kinematics(q, v).pose, atol=1e-13)


def test_fixed_to_the_world() -> None:
    rng = np.random.default_rng(1)
    table, arm = random_pose(rng), random_pose(rng)
    on_table, direct = jn.Builder(), jn.Builder()
    on_table.add("table", "world", jn.Fixed(), table, jn.Inertia(50.0))
    on_table.add("arm", "table", jn.Revolute((0, 1, 0)), arm, BOX)
    on_table.add("sign", "world", jn.Fixed())
    direct.add("arm", "world", jn.Revolute((0, 1, 0)), table @ arm, BOX)
    one, other = on_table.build(), direct.build()
    assert (one.body_names, one.frame_names, one.nv) == (("arm",), ("arm", "table", "sign"), 1)
    q, v = motion(one)
    np.testing.assert_allclose(one.inverse_dynamics(q, v), other.inverse_dynamics(q, v), rtol=1e-12)
    for frame in ("body", "world", "mixed"):  # a wrench on the world moves nothing
        pushed = one.inverse_dynamics(q, v, wrenches={"table": np.ones((3, 6))}, wrench_frame=frame)
        np.testing.assert_array_equal(pushed, one.inverse_dynamics(q, v))


def test_order_of_siblings_changes_only_the_order() -> None:
    rng = np.random.default_rng(2)
    tree = random_tree(rng, 9, floating=True)
    robot = jounce_model(tree)
    builder = jn.Builder()
    bodies = robot.bodies
    order = sorted(range(9), key=lambda i: (depth(bodies, i), -i))  # parents first, otherwise in reverse
    for i in order:
        b = bodies[i]
        builder.add(b.name, bodies[b.parent].name if b.parent >= 0 else "world", b.joint, b.placement, b.inertia)
    other = builder.build()
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 4)
    q_of = np.concatenate([np.arange(robot.nq)[robot.position(j)] for j in other.joint_names])
    v_of = np.concatenate([np.arange(robot.nv)[robot.coordinate(j)] for j in other.joint_names])
    assert other.body_names != robot.body_names
    torque = robot.inverse_dynamics(q, v)[:, v_of]
    np.testing.assert_allclose(other.inverse_dynamics(q[q_of], v[:, v_of]), torque, rtol=1e-10, atol=1e-11)


def depth(bodies: tuple[object, ...], i: int) -> int:
    return 0 if i < 0 else 1 + depth(bodies, bodies[i].parent)  # type: ignore[attr-defined]


# Importing


def test_import_brings_nothing_but_numpy() -> None:
    code = """
import sys, numpy, numpy.typing
before = set(sys.modules)
import jounce
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(new - set(sys.stdlib_module_names)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, check=True)
    assert done.stdout.split() == ["jounce"]
    assert done.stderr == ""
