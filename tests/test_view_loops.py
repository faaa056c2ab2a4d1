"""Robots with loops and contacts in the viewer: links reach their pins, signs are where things are tied together.

All of a robot is in the picture and on the floor; looks of one's own, boxes of masses.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import jounce as jn
from jounce.parts.pose import inverse
from scenes import below, nodes, world
from time_limits import within

pytest.importorskip("viser")
pytest.importorskip("trimesh")
from jounce.dynamics.constraints import constrained
from jounce.view import Box, Capsule, Cylinder, Ellipsoid, MeshFile, Sphere, Triangles, Viewer, Visual, show
from jounce.view.camera import _FIELD, _WIDE
from jounce.view.extents import Extents
from jounce.view.plain import plain_visuals
from jounce.view.scene import robot_size

BAR = jn.Inertia.box(1.0, (0.3, 0.02, 0.02))


@pytest.fixture(autouse=True)
def others_may_warn() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        yield


def four_bar(kind: Any = None, **places: Any) -> jn.Model:
    """A crank and a rocker on the world, and a coupler on the crank, which a joint ties to the rocker."""
    hinge = jn.Revolute((0, -1, 0))
    b = jn.Builder()
    b.add("crank", "world", hinge, jn.placement((0, 0, 0.2)), BAR)
    b.add("coupler", "crank", hinge, jn.placement((0.1, 0, 0)), BAR)
    b.add("rocker", "world", hinge, jn.placement((0.3, 0, 0.2)), BAR)
    places = {"placement_a": jn.placement((0.3, 0, 0)), "placement_b": jn.placement((0.25, 0, 0))} | places
    b.close("pin", "coupler", "rocker", kind or hinge, **places)
    return b.build()


CLOSED = [0.9, -0.5, 1.5]


def ends(visuals: list[Visual]) -> np.ndarray:
    """Of the segments among them, (n, 3)."""
    found = [
        v.placement[:3, 3] + sign * v.shape.length / 2 * v.placement[:3, 2]
        for v in visuals
        if isinstance(v.shape, Capsule)
        for sign in (-1, 1)
    ]
    return np.array(found).reshape(-1, 3)


def is_near(points: np.ndarray, place: Any) -> bool:
    return bool((np.linalg.norm(points - np.asarray(place), axis=1) < 1e-9).any())


# Links


def test_links_reach_all_their_joints_and_the_places_where_loops_close() -> None:
    robot = four_bar()
    drawn = plain_visuals(robot, (), 0.5)
    for i, places in enumerate(([(0, 0, 0), (0.1, 0, 0)], [(0, 0, 0), (0.3, 0, 0)], [(0, 0, 0), (0.25, 0, 0)])):
        for place in places:
            assert is_near(ends(drawn[i]), place), (robot.bodies[i].name, place)
    assert is_near(ends(drawn[-1]), (0, 0, 0.2))  # the world reaches what is mounted on it
    assert is_near(ends(drawn[-1]), (0.3, 0, 0.2))


def test_free_bodies_that_only_constraints_hold_reach_both_their_pins() -> None:
    b = jn.Builder()
    b.add("bar", "world", jn.Free(), inertia=BAR)
    for name, x in (("left", -0.15), ("right", 0.15)):
        pins = {"placement_a": jn.placement((x, 0, 0)), "placement_b": jn.placement((x, 0, 0))}
        b.close(name, "world", "bar", jn.Revolute((0, 1, 0)), **pins)
    drawn = plain_visuals(b.build(), (), 0.3)
    for i in (-1, 0):
        assert is_near(ends(drawn[i]), (0.15, 0, 0))
        assert is_near(ends(drawn[i]), (-0.15, 0, 0))


def test_loops_on_frames_and_on_soft_bodies_are_reached() -> None:
    b = jn.Builder()
    b.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=BAR)
    b.add("hook", "arm", placement=jn.placement((0.2, 0, 0)))
    b.add("rod", "world", placement=jn.placement((0, 0.5, 0)), body=jn.soft.Rod(0.3, 0.01, 1e3, 1e6))
    ties = {"placement_a": jn.placement((0, 0.1, 0)), "placement_b": jn.placement((0, 0, 0.1))}
    b.close("far", "hook", "rod", jn.Distance(0.4), **ties)
    b.close("middle", "hook", "rod", jn.Distance(0.4), **ties, at_b=0.15)
    robot = b.build()
    drawn = plain_visuals(robot, (), 0.5)
    named = {body.name: ends(drawn[i]) for i, body in enumerate(robot.bodies)}
    assert is_near(named["arm"], (0.2, 0, 0))
    assert is_near(named["hook"], (0, 0.1, 0))
    assert is_near(named["rod"], (0, 0, 0.1))
    assert is_near(named["middle.b"], (0, 0, 0.1))


def test_a_body_that_slides_is_connected_to_what_it_slides_on() -> None:
    b = jn.Builder()
    b.add("barrel", "world", jn.Universal(), jn.placement((0.5, 0, 0)), BAR)
    b.add("piston", "barrel", jn.Prismatic((0, 0, 1)), jn.placement((0, 0, 0.1)), BAR)
    robot = b.build()
    with robot.show([0.2, 0.1, 0.4]) as viewer:
        for q in ([0.2, 0.1, 0.4], [0.5, -0.3, 0.7]):
            viewer.update(q)
            rod = nodes(viewer)["/robot/piston (slide)"]
            pose, (*_, length) = world(viewer, rod.name), rod.scale
            start, end = (pose[:3, 3] + sign * length / 2 * pose[:3, 2] for sign in (-1, 1))
            assert np.allclose(start, robot.pose("barrel", q) @ [0, 0, 0.1, 1] @ np.eye(4)[:, :3], atol=1e-6)
            assert np.allclose(end, robot.pose("piston", q)[:3, 3], atol=1e-6)


# Signs


def sign(viewer: Viewer, name: str = "pin") -> str:
    return f"/robot/{name} (constraint)"


def gap(viewer: Viewer, name: str = "pin") -> np.ndarray | None:
    """The ends (2, 3) of the red rod; None if there is none."""
    handle = nodes(viewer)[f"{sign(viewer, name)}/gap"]
    if not handle.visible:
        return None
    pose = world(viewer, handle.name)
    return np.array([pose[:3, 3] + s * handle.scale[2] / 2 * pose[:3, 2] for s in (-1, 1)])


KINDS = {
    "hinge": jn.Revolute((0, -1, 0)),
    "ball": jn.Spherical(),
    "universal": jn.Universal((1, 0, 0), (0, 1, 0)),
    "weld": jn.Fixed(),
    "slide": jn.Prismatic((1, 0, 0)),
    "sleeve": jn.Cylindrical((1, 0, 0)),
    "screw": jn.Helical((1, 0, 0), 0.01),
    "planar": jn.Planar((1, 0, 0), (0, 0, 1)),
    "rope": jn.Distance(0.1),
    "plane": jn.OnPlane((0, 0, 1)),
    "line": jn.OnLine((1, 0, 0)),
    "ball on a plane": jn.Rolling(0.02),
    "wheel on a plane": jn.Rolling(0.02, axis=(0, 1, 0)),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_every_kind_has_a_sign_on_both_frames(kind: Any) -> None:
    """One part on each of them, where the constraint itself says they are, at any configuration."""
    robot = four_bar(kind)
    tie = robot.constraints[0]
    with robot.show(CLOSED) as viewer:
        for q in (CLOSED, [0.3, 0.2, 1.0]):
            viewer.update(q)
            a, b = robot.pose("coupler", q) @ tie.pose_a, robot.pose("rocker", q) @ tie.pose_b
            root = sign(viewer)
            parts = {n.removeprefix(root).split("/")[1] for n in below(viewer, root) if n.count("/") == 4}
            assert "b" in parts
            assert np.allclose(world(viewer, f"{root}/b"), b, atol=1e-6)
            for part in parts & {"a", "foot"}:
                assert np.allclose(world(viewer, f"{root}/{part}")[:3, :3], a[:3, :3], atol=1e-6)
            if "a" in parts:
                assert np.allclose(world(viewer, f"{root}/a"), a, atol=1e-6)
            if "foot" in parts:  # the nearest place on the plane or line
                x, y, z = inverse(a) @ world(viewer, f"{root}/foot")[:, 3] @ np.eye(4)[:, :3]
                away = (inverse(a) @ b)[:3, 3]
                on_line = isinstance(kind, jn.OnLine)
                expected = (away[0], 0, 0) if on_line else away * (1 - getattr(kind, "normal", np.array([0, 1, 0])))
                assert np.allclose((x, y, z), expected, atol=1e-6)


@pytest.mark.parametrize("axis", [(0, -1, 0), (0.6, 0, 0.8)])
def test_a_hinge_lies_along_its_axis(axis: Any) -> None:
    robot = four_bar(jn.Revolute(axis))
    with robot.show(CLOSED) as viewer:
        a = robot.pose("coupler", CLOSED) @ robot.constraints[0].pose_a
        (eye,) = below(viewer, sign(viewer) + "/a")
        assert np.allclose(world(viewer, eye)[:3, 2], a[:3, :3] @ axis, atol=1e-6)


def test_a_loop_that_is_closed_looks_closed_and_one_that_is_open_does_not() -> None:
    robot = four_bar()
    q = robot.project(CLOSED)
    assert np.abs(robot.residual(q)).max() < 1e-9
    with robot.show(q) as viewer:
        assert gap(viewer) is None
        assert np.allclose(
            world(viewer, sign(viewer) + "/a")[:3, 3], world(viewer, sign(viewer) + "/b")[:3, 3], atol=1e-7
        )
        apart = [0.9, -0.1, 1.5]
        viewer.update(apart)
        ends = gap(viewer)
        assert ends is not None
        c = robot.constraints[0]
        assert np.allclose(ends[0], (robot.pose("coupler", apart) @ c.pose_a)[:3, 3], atol=1e-6)
        assert np.allclose(ends[1], (robot.pose("rocker", apart) @ c.pose_b)[:3, 3], atol=1e-6)


def test_show_starts_with_closed_loops() -> None:
    robot = four_bar()
    assert np.abs(robot.residual(robot.neutral())).max() > 0.01
    with robot.show() as viewer:
        assert gap(viewer) is None
        shown = viewer._shown["robot"].motion.q[0]
        assert np.abs(robot.residual(shown)).max() < 1e-9
    impossible = four_bar(jn.Distance(5.0))
    with impossible.show() as viewer:
        assert np.array_equal(viewer._shown["robot"].motion.q[0], impossible.neutral())
        assert gap(viewer) is not None


def test_a_rope_has_its_length() -> None:
    robot = four_bar(jn.Distance(0.1))
    with robot.show(robot.project(CLOSED)) as viewer:
        rod = nodes(viewer)[sign(viewer) + "/rod"]
        assert rod.visible
        assert rod.scale[2] == pytest.approx(0.1, rel=1e-6)
        assert gap(viewer) is None
        viewer.update([1.2, 0.0, 1.0])  # too far apart: it does not stretch
        assert rod.scale[2] == pytest.approx(0.1, rel=1e-6)
        assert gap(viewer) is not None


def test_gears_have_no_place() -> None:
    b = jn.Builder()
    for name in ("motor", "wheel"):
        b.add(name, "world", jn.Revolute(), inertia=BAR)
    b.close("gear", "motor", "wheel", jn.Gear((0.0, 2.0)))
    with b.build().show() as viewer:
        assert not [n for n in nodes(viewer) if "constraint" in n]


def leg() -> jn.Model:
    b = jn.Builder()
    b.add("trunk", "world", jn.Free(), inertia=jn.Inertia.box(3.0, (0.3, 0.2, 0.1)))
    b.add("shank", "trunk", jn.Revolute((0, 1, 0)), jn.placement((0.1, 0, 0)), BAR)
    b.add("foot", "shank", placement=jn.placement((0, 0, -0.4)))
    return b.build()


@pytest.mark.parametrize("kind", [jn.Fixed(), jn.Spherical(), jn.Revolute((0, 1, 0)), jn.OnPlane(), jn.Rolling(0.1)])
def test_contacts_wherever_the_frame_is(kind: Any) -> None:
    """Their signs go with the frame, pads and planes upright, and there is never a gap."""
    robot = leg().constrained({"foot": kind})
    rng = np.random.default_rng(0)
    with robot.show(robot.random_configuration(rng)) as viewer:
        for _ in range(3):
            q = robot.random_configuration(rng)
            viewer.update(q)
            foot, root = robot.pose("foot", q), sign(viewer, "foot")
            assert np.allclose(world(viewer, f"{root}/b"), foot, atol=1e-6)
            flat = world(viewer, f"{root}/{'pad' if isinstance(kind, jn.Joint) else 'foot'}")
            under = kind.radius if isinstance(kind, jn.Rolling) else 0.0
            assert np.allclose(flat[:3, 3], foot[:3, 3] - [0, 0, under], atol=1e-6)
            assert np.allclose(flat[:3, 2], [0, 0, 1], atol=1e-6)
            assert gap(viewer, "foot") is None


def test_contacts_at_a_place_stay_there() -> None:
    place = jn.placement((0.1, 0.2, 0.05))
    robot = leg().constrained({"foot": jn.Contact(jn.Spherical(), place)})
    with robot.show() as viewer:  # which brings the foot there
        assert np.allclose(world(viewer, "/robot/foot")[:3, 3], place[:3, 3], atol=1e-6)
        assert gap(viewer, "foot") is None
        viewer.update(robot.neutral())
        assert np.allclose(world(viewer, sign(viewer, "foot") + "/a"), place, atol=1e-6)
        ends = gap(viewer, "foot")
        assert ends is not None
        assert np.allclose(ends, [place[:3, 3], robot.pose("foot", robot.neutral())[:3, 3]], atol=1e-6)


def test_signs_tell_kinds_and_loops_from_contacts() -> None:
    def drawn(robot: jn.Model, name: str) -> tuple[set[str], set[tuple[int, ...]]]:
        with robot.show(robot.neutral()) as viewer:
            parts = [n for n in below(viewer, sign(viewer, name)) if n.count("/") == 4]
            handles = [nodes(viewer)[n] for n in parts]
            sizes = {str([getattr(h, key, "") for key in ("radius", "height", "dimensions")]) for h in handles}
            return sizes, {h.color for h in handles}

    looks = {name: drawn(leg().constrained({"foot": kind}), "foot")
             for name, kind in KINDS.items() if name != "rope"}  # fmt: skip
    loops = {name: drawn(four_bar(kind), "pin") for name, kind in KINDS.items()}
    for colours in zip(looks.values(), loops.values(), strict=False):
        assert not colours[0][1] & colours[1][1]
    for kinds in (looks, loops):
        alike = [{"sleeve", "screw"}, {"planar", "plane"}]
        for one in kinds:
            for other in kinds:
                if one != other and {one, other} not in alike:
                    assert kinds[one][0] != kinds[other][0], (one, other)


def test_signs_can_be_left_out_and_ticked() -> None:
    robot = four_bar()
    with robot.show(CLOSED, constraints=False) as viewer:
        assert sign(viewer) not in nodes(viewer)
        assert viewer._legend is None
        box = viewer._boxes["constraints"]
        box.value = True
        for told in box._impl.update_cb:
            told(None)
        assert nodes(viewer)[sign(viewer)].visible
        assert np.allclose(world(viewer, sign(viewer) + "/b")[:3, 3],
                           (robot.pose("rocker", CLOSED) @ robot.constraints[0].pose_b)[:3, 3], atol=1e-6)  # fmt: skip
    with robot.show(CLOSED) as viewer:
        assert "closes a loop" in viewer._legend.content
    with pytest.raises(ValueError, match=r"^constraints is 3, expected True or False"):
        robot.show(constraints=3)  # type: ignore[arg-type]


def test_signs_of_a_motion_move_with_it() -> None:
    robot = four_bar()
    q = np.array([robot.project(np.array([a, -0.5, 1.5])) for a in (0.9, 1.1)])
    motion = jn.Trajectory.of(robot, [0.0, 1.0], q)
    with motion.show(robot, reference=motion) as viewer:
        viewer.go(1.0)
        assert np.allclose(world(viewer, sign(viewer) + "/a"),
                           robot.pose("coupler", q[1]) @ robot.constraints[0].pose_a, atol=1e-6)  # fmt: skip
        assert "/reference/pin (constraint)" not in nodes(viewer)  # of a ghost there are none


# In the picture


def is_seen(viewer: Viewer, points: np.ndarray) -> np.ndarray:
    """Whether points (n, 3) are in the picture, for which a width of 1.25 times its height is enough."""
    camera = viewer._server.initial_camera
    eye, target = np.array(camera.position), np.array(camera.look_at)
    ahead = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(ahead, [0, 0, 1]) / np.linalg.norm(np.cross(ahead, [0, 0, 1]))
    away = points - eye
    depth, slope = away @ ahead, np.tan(_FIELD / 2)
    high, wide = np.abs(away @ np.cross(right, ahead)), np.abs(away @ right)
    return (depth > 0) & (high <= slope * depth) & (wide <= _WIDE * slope * depth)


def test_arrows_are_in_the_picture() -> None:
    robot = leg()
    push = np.zeros((2, 6))
    push[0, 0], push[1, 1], push[0, 5] = -100.0, 50.0, 30.0
    with robot.show(wrenches={"foot": push}, force_scale=(0.05, 0.1), wrench_frame="mixed") as viewer:
        for name in ("forces", "forces (rates)", "moments"):
            points = np.asarray(nodes(viewer)[f"/robot/{name}"].points, dtype=float).reshape(-1, 3)
            assert np.linalg.norm(points[1] - points[0]) > 0.1
            assert is_seen(viewer, points).all(), name
    v = np.zeros(robot.nv)
    v[0], v[4] = 3.0, -2.0
    with robot.show(robot.neutral(), v, twists=["foot"], placement=jn.placement((3, 0, 0))) as viewer:
        for name in ("velocities", "angular velocities"):
            points = np.asarray(nodes(viewer)[f"/robot/{name}"].points, dtype=float).reshape(-1, 3)
            assert is_seen(viewer, points + np.array([3, 0, 0])).all(), name


def test_arrows_over_time_are_in_the_picture() -> None:
    robot = leg()
    motion = jn.Trajectory.of(robot, np.linspace(0, 1, 101), np.tile(robot.neutral(), (101, 1)))
    push = np.zeros((101, 6))
    push[50, 1] = 100.0
    with motion.show(robot, wrenches={"foot": push}, wrench_frame="mixed", force_scale=0.05) as viewer:
        viewer.go(0.5)
        points = np.asarray(nodes(viewer)["/robot/forces"].points, dtype=float).reshape(-1, 3)
        assert points[1, 1] == pytest.approx(5.0)
        assert is_seen(viewer, points).all()


def test_contacts_held_elsewhere_are_in_the_picture() -> None:
    robot = leg().constrained({"foot": jn.Contact(jn.Spherical(), jn.placement((5, 0, 0)))})
    with robot.show(robot.neutral()) as viewer:
        assert is_seen(viewer, np.array([[5.0, 0, 0], [0.1, 0, -0.4]])).all()


# On the floor


def floor(viewer: Viewer) -> float:
    return float(nodes(viewer)["/floor"].position[2])


def hanging() -> jn.Model:
    b = jn.Builder()
    looks = [Visual(Box((0.02, 0.02, 0.4)), jn.placement((0, 0, 0.2)))]
    b.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, com=(0, 0, 0.2)), visuals=looks)
    return b.build()


def test_the_floor_never_cuts_through_a_robot_that_moves() -> None:
    robot = hanging()
    with robot.show([0.0]) as viewer:
        high = floor(viewer)
        assert -0.02 < high <= 0
        viewer.update([np.pi])
        assert floor(viewer) == pytest.approx(-0.4)
        viewer.update([0.0])
        assert floor(viewer) == pytest.approx(-0.4)  # and does not jump
    with robot.show([0.0]) as viewer:
        viewer._boxes["sliders robot"]._moved(np.array([np.pi / 2 + 0.5]))
        assert floor(viewer) == pytest.approx(-0.4 * np.sin(0.5) - 0.01 * np.cos(0.5), abs=1e-6)
    with robot.show([0.0], floor=0.0) as viewer:
        viewer.update([np.pi])
        assert floor(viewer) == 0.0
    with robot.show([0.0], floor=False) as viewer:
        viewer.update([np.pi])
        assert "/floor" not in nodes(viewer)


def test_the_floor_is_below_all_of_a_motion() -> None:
    robot = hanging()
    time = np.linspace(0, 1, 401)
    turn = np.where(np.abs(time - 0.31) < 0.02, np.pi, 0.0)  # down for a moment
    with jn.Trajectory.of(robot, time, turn[:, None]).show(robot) as viewer:
        assert floor(viewer) == pytest.approx(-0.4)


@pytest.mark.parametrize(
    "shape", [Sphere(0.1), Capsule(0.1, 0.3), Cylinder(0.1, 0.3), Ellipsoid((0.1, 0.2, 0.05)), Box((0.1, 0.2, 0.3))]
)
def test_a_robot_stands_on_the_floor_whatever_way_it_is_turned(shape: Any) -> None:
    """The lowest point of the shape as MuJoCo's support would have it: the least z of many points on its surface."""
    from jounce.view.wraps import surface_of

    rng = np.random.default_rng(0)
    points = surface_of(shape).vertices
    for _ in range(5):
        placement = jn.placement(rng.normal(size=3), rpy=rng.uniform(-3, 3, 3))
        frame = jn.placement((0, 0, -3.0), rpy=rng.uniform(-3, 3, 3))
        extents = Extents()
        extents.add(0, placement, shape)
        extents.add(0, placement, points.astype(np.float32))
        extents.add(1, np.eye(4), Sphere(0.01))
        lowest = (points @ placement[:3, :3].T + placement[:3, 3]) @ frame[2, :3] - 3.0
        assert extents.lowest(np.stack([frame, np.eye(4)])) == pytest.approx(lowest.min(), abs=3e-3)
        assert extents.lowest(np.stack([frame, np.eye(4)])) <= lowest.min() + 1e-6


def test_what_hangs_is_mounted_below_its_plate() -> None:
    for z, above in ((-0.3, True), (0.3, False)):
        b = jn.Builder()
        b.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, com=(0, 0, z)))
        with b.build().show() as viewer:
            assert bool(world(viewer, "/robot/world/box")[2, 3] > 0) is above


def test_what_is_mounted_above_the_floor_stands_on_it() -> None:
    b = jn.Builder()
    b.add("arm", "world", jn.Revolute((0, 1, 0)), jn.placement((0, 0, 0.8)), jn.Inertia(1.0, com=(0.3, 0, 0)))
    robot = b.build()
    with robot.show() as viewer:
        assert is_near(ends(plain_visuals(robot, (), 1.0)[-1]), (0, 0, 0.8))
        low = nodes(viewer)["/robot/world/box"]
        assert world(viewer, low.name)[2, 3] - low.dimensions[2] / 2 == pytest.approx(floor(viewer), abs=1e-6)


# Looks of one's own, masses


def test_visuals_given_to_a_builder_are_drawn() -> None:
    place = jn.placement((0, 0, 0.1), rpy=(0.1, 0.2, 0.3))
    looks = [Visual(Box((0.1, 0.2, 0.3)), place, (1.0, 0.0, 0.0, 1.0)), Visual(Sphere(0.1))]
    b = jn.Builder()
    b.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, com=(0, 0, 0.2)), visuals=looks)
    b.add("rod", "arm", body=jn.soft.Rod(0.3, 0.01, 1e3, 1e6), visuals=looks[1:])
    robot = b.build()
    assert [len(body.visuals) for body in robot.bodies] == [2, 1]
    with robot.show([0.3, 0, 0, 0]) as viewer:
        assert {n.rpartition("/")[2] for n in below(viewer, "/robot/arm")} == {"box", "sphere"}
        assert nodes(viewer)["/robot/arm/box"].color == (255, 0, 0)
        assert np.allclose(world(viewer, "/robot/arm/box"), robot.pose("arm", [0.3, 0, 0, 0]) @ place, atol=1e-6)
        assert "/robot/rod/sphere" in nodes(viewer)
    again = jn.Builder.from_model(robot).build()
    assert again.bodies[0].visuals == robot.bodies[0].visuals


@pytest.mark.parametrize(
    ("visuals", "message"),
    [
        (Sphere(0.1), r"^visuals of 'a' is Sphere\(radius=0.1\), expected a list of jounce.view.Visual$"),
        ("box", "^visuals of 'a' is 'box', expected a list"),
        ([Sphere(0.1)], r"^visuals of 'a'\[0\] is Sphere\(radius=0.1\), expected a jounce.view.Visual: put it into"),
        ([None], r"^visuals of 'a'\[0\] is None, expected a jounce.view.Visual$"),
        ([Visual("box")], r"^shape of visuals of 'a'\[0\] is 'box', expected one such as jounce.view.Box$"),
        ([Visual(Box((1, 1)))], r"^size of visuals of 'a'\[0\] has shape \(2,\), expected \(3,\)$"),
        ([Visual(Box((1, 0, 1)))], r"^size of visuals of 'a'\[0\] is \(1, 0, 1\), expected more than 0 m$"),
        ([Visual(Sphere(np.nan))], r"^radius of visuals of 'a'\[0\] is nan, expected finite numbers$"),
        ([Visual(Sphere(1), np.ones((4, 4)))], r"^placement of visuals of 'a'\[0\] has last row"),
        ([Visual(Sphere(1), np.eye(3))], r"^placement of visuals of 'a'\[0\] has shape \(3, 3\)"),
        ([Visual(Sphere(1), colour=(1, 0, 0))], r"^colour of visuals of 'a'\[0\] has shape \(3,\), expected \(4,\)$"),
        ([Visual(Sphere(1), colour=(2, 0, 0, 1))], r"^colour of visuals of 'a'\[0\] is \(2, 0, 0, 1\), expected four"),
        (
            [Visual(Sphere(1), texture="oak")],
            r"^texture of visuals of 'a'\[0\] is 'oak', expected a jounce",
        ),
    ],
)
def test_visuals_that_are_none(visuals: Any, message: str) -> None:
    b = jn.Builder()
    with pytest.raises(ValueError, match=message):
        b.add("a", "world", visuals=visuals)
    b.add("a", "world")  # nothing was added


def test_visuals_of_meshes() -> None:
    mesh = Triangles("wing", np.eye(3), np.array([[0, 1, 2]]))
    b = jn.Builder()
    b.add("a", "world", visuals=(Visual(mesh), Visual(MeshFile("/nowhere/a.stl", None))))
    assert b.build().bodies[0].visuals[0].shape is mesh


@pytest.mark.parametrize("size", [(0.3, 0.2, 0.1), (0.05, 0.9, 0.9), (0.1, 0.1, 0.1)])
def test_the_box_of_a_body_has_its_mass_and_inertia(size: Any) -> None:
    """That of a box is the box, however long what hangs on it is."""
    b = jn.Builder()
    b.add("a", "world", jn.Revolute((0, 1, 0)), jn.placement((0, 0, 1)), jn.Inertia.box(2.0, size))
    b.add("b", "a", jn.Revolute((0, 1, 0)), jn.placement((0.01, 0, 0)), jn.Inertia.box(2.0, (0.1, 0.1, 0.1)))
    with b.build().show() as viewer:
        drawn = nodes(viewer)["/robot/a/box"]
        assert np.allclose(np.sort(drawn.dimensions), np.sort(size), rtol=1e-6)
        assert viewer._legend is None


def test_the_box_of_a_light_part_that_would_hide_the_robot_is_said_to_be_smaller() -> None:
    b = jn.Builder()
    b.add("a", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia.box(2.0, (0.4, 0.2, 0.1)))
    b.add("b", "a", jn.Revolute((0, 1, 0)), jn.placement((0.5, 0, 0)), jn.Inertia.box(1e-3, (9.0, 1.0, 1.0)))
    robot = b.build()
    with robot.show() as viewer:
        assert 0.4 < robot_size(robot, robot.neutral()) < 0.6
        assert max(nodes(viewer)["/robot/b/box"].dimensions) < 1.5
        assert "drawn with a smaller box than its mass and inertia: b</div>" in viewer._legend.content


def test_a_joint_that_closes_a_loop_is_seen_outside_what_it_ties() -> None:
    """Capsules of a file, thicker than the sign would be; a hull that holds all of the robot does not count."""
    b = jn.Builder()
    for name, x in (("a", 0.0), ("b", 0.2)):
        looks = [Visual(Capsule(0.02, 0.4), jn.placement((0, 0, -0.2)))]
        b.add(name, "world", jn.Revolute((0, 1, 0)), jn.placement((x, 0, 0)), jn.Inertia(1.0), visuals=looks)
    end = jn.placement((0, 0, -0.4))
    b.close("ball", "a", "b", jn.Spherical(), placement_a=end, placement_b=end @ jn.placement((-0.2, 0, 0)))
    with b.build().show() as viewer:
        shown = {name: each for name, each in nodes(viewer).items() if "ball" in name and hasattr(each, "radius")}
        assert 0.02 < max(each.radius for each in shown.values()) < 0.04
    hull = jn.Builder()
    hull.add("a", "world", jn.Revolute(), inertia=jn.Inertia(1.0), visuals=[Visual(Sphere(5.0))])
    hull.add("b", "world", jn.Revolute(), inertia=jn.Inertia(1.0), visuals=[Visual(Box((0.1, 0.1, 0.1)))])
    hull.close("ball", "a", "b", jn.Spherical())
    with hull.build().show() as viewer:
        assert max(e.radius for n, e in nodes(viewer).items() if "ball" in n and hasattr(e, "radius")) < 1.0


@pytest.mark.parametrize("car", [1e-2, 0.1])
def test_a_sensor_with_the_inertia_of_a_car_hides_nothing(car: float) -> None:
    """As files have where somebody left a number in: the rest of the robot says how long a box may be."""
    b = jn.Builder()
    b.add("a", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia.box(2.0, (0.4, 0.2, 0.1)))
    b.add("b", "a", jn.Revolute((0, 1, 0)), jn.placement((0.5, 0, 0)), jn.Inertia(car, rotational=(10, 10, 10)))
    with b.build().show() as viewer:
        assert max(nodes(viewer)["/robot/b/box"].dimensions) < 1.5
        assert "smaller box than its mass and inertia: b</div>" in viewer._legend.content


def test_a_body_alone_is_as_large_as_its_box_in_any_unit() -> None:
    for scale in (1e-4, 1.0, 1e3):
        b = jn.Builder()
        b.add("a", "world", jn.Free(), inertia=jn.Inertia.box(2.0, np.array([0.3, 0.2, 0.1]) * scale))
        with b.build().show() as viewer:
            assert np.allclose(np.sort(nodes(viewer)["/robot/a/box"].dimensions), np.array([0.1, 0.2, 0.3]) * scale)


def test_the_centre_of_mass_is_seen_through_bodies() -> None:
    robot = leg()
    with robot.show(com=True) as viewer:
        marker = nodes(viewer)["/robot/centre of mass"]
        assert not marker.depth_test
        assert marker.anchor == "center-center"
        assert np.allclose(marker.position, robot.center_of_mass(robot.neutral()))


def test_large_robots_with_open_loops_are_shown_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """80 bodies with 52 loops that nothing closes took minutes: a stranger's file of 10 kB."""
    pytest.importorskip("mujoco")
    taken: list[int] = []
    plain = show.assembled
    monkeypatch.setattr(show, "assembled", lambda *a, steps: (taken.append(steps), plain(*a, steps=steps))[1])
    rng, sizes = np.random.default_rng(0), (2, 60, 1500)
    for n in sizes:
        bodies = "".join(
            f'<body pos="{x} {y} 0"> <joint axis="0 1 0"/> <geom size="1"/> <site name="{i}" pos="1 0 0"/> </body>'
            for i, (x, y) in enumerate(rng.normal(size=(n, 2)))
        )
        ties = "".join(f'<connect site1="{i}" site2="{i + 1}"/>' for i in range(n - 1))
        contacts = '<option> <flag contact="disable"/> </option>'
        robot = jn.load(
            f"<mujoco> {contacts} <worldbody> {bodies} </worldbody> <equality> {ties} </equality> </mujoco>"
        )
        with within(20.0):
            assert np.array_equal(show.start(robot), robot.keyframes["qpos0"])
    assert taken[0] == constrained.STEPS
    assert 20 < taken[1] < 200
    assert taken[2] == 0
