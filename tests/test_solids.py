"""Inertias of solids: against MuJoCo's compiler, Pinocchio, and sums over many small pieces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import jounce as jn

CUBE = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
SQUARES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
FACES = np.array([f for a, b, c, d in SQUARES for f in ((a, b, c), (a, c, d))])


def in_mujoco(geom: str, asset: str = "") -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it, in body axes, of a geom as MuJoCo compiles it."""
    mujoco = pytest.importorskip("mujoco")
    body = f"<body><freejoint/><geom {geom}/></body>"
    model = mujoco.MjModel.from_xml_string(f"<mujoco><asset>{asset}</asset><worldbody>{body}</worldbody></mujoco>")
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[1])
    R = turn.reshape(3, 3)
    return model.body_mass[1], model.body_ipos[1], R @ np.diag(model.body_inertia[1]) @ R.T


AXIS = (0.48, 0.6, 0.64)
TURNED = 'zaxis="0.48 0.6 0.64" mass="3"'
SOLIDS = {
    "box": (jn.Inertia.box(3.0, (0.2, 0.4, 0.6)), 'type="box" size="0.1 0.2 0.3" mass="3"'),
    "sphere": (jn.Inertia.sphere(3.0, 0.2), 'type="sphere" size="0.2" mass="3"'),
    "ellipsoid": (jn.Inertia.ellipsoid(3.0, (0.1, 0.2, 0.3)), 'type="ellipsoid" size="0.1 0.2 0.3" mass="3"'),
    "cylinder": (jn.Inertia.cylinder(3.0, 0.1, 0.6, AXIS), f'type="cylinder" size="0.1 0.3" {TURNED}'),
    "capsule": (jn.Inertia.capsule(3.0, 0.1, 0.6, AXIS), f'type="capsule" size="0.1 0.3" {TURNED}'),
}


@pytest.mark.parametrize("solid", SOLIDS)
def test_solids_are_mujocos(solid: str) -> None:
    found, geom = SOLIDS[solid]
    mass, com, rotational = in_mujoco(geom)
    assert found.mass == mass
    np.testing.assert_allclose(found.com, com, atol=1e-15)
    np.testing.assert_allclose(found.rotational, rotational, rtol=0, atol=1e-14)


def rough_body(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A convex polyhedron with random corners, away from the origin."""
    spatial = pytest.importorskip("scipy.spatial")
    points = np.random.default_rng(seed).normal(size=(12, 3)) + np.array([3, -2, 1])
    hull = spatial.ConvexHull(points)
    faces = hull.simplices.copy()
    corners = points[faces]
    out = np.einsum("fi,fi->f", np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
                    corners.mean(axis=1) - points[hull.vertices].mean(axis=0))  # fmt: skip
    faces[out < 0] = faces[out < 0, ::-1]
    return points, faces


@pytest.mark.parametrize("seed", range(3))
def test_meshes_are_mujocos(seed: int) -> None:
    points, faces = rough_body(seed)
    given = " ".join(map(repr, points.ravel().tolist())), " ".join(map(str, faces.ravel().tolist()))
    asset = f'<mesh name="m" inertia="exact" vertex="{given[0]}" face="{given[1]}"/>'
    mass, com, rotational = in_mujoco('type="mesh" mesh="m" density="700"', asset)
    found = jn.Inertia.from_mesh(points, faces, density=700.0)
    assert found.mass == pytest.approx(mass, rel=1e-6)  # MuJoCo's vertices are in single precision
    np.testing.assert_allclose(found.com, com, rtol=1e-5)
    np.testing.assert_allclose(found.rotational, rotational, rtol=0, atol=1e-5 * np.abs(rotational).max())


def test_a_cube_is_a_box() -> None:
    edges = np.array([0.3, 0.5, 0.7])
    found = jn.Inertia.from_mesh(CUBE * edges + (2, 3, 4), FACES, mass=4.2)
    box = jn.Inertia.box(4.2, edges)
    np.testing.assert_allclose(found.com, edges / 2 + (2, 3, 4), rtol=1e-14)
    np.testing.assert_allclose(found.rotational, box.rotational, atol=1e-14)
    dense = jn.Inertia.from_mesh(1000 * CUBE * edges, FACES, density=40.0, scale=0.001)
    assert dense.mass == pytest.approx(40 * edges.prod(), rel=1e-14)


def test_a_hole_is_taken_away() -> None:
    """A cube in which a smaller one is missing: a closed mesh of two pieces."""
    small = 0.25 + 0.5 * CUBE
    found = jn.Inertia.from_mesh(np.concatenate([CUBE, small]), np.concatenate([FACES, FACES[:, ::-1] + 8]), density=8)
    assert found.mass == pytest.approx(7.0)
    expected = jn.Inertia.box(8.0, (1, 1, 1)).rotational - jn.Inertia.box(1.0, (0.5, 0.5, 0.5)).rotational
    np.testing.assert_allclose(found.rotational, expected, atol=1e-14)


def test_files(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    path = tmp_path / "part.obj"
    lines = [f"v {x} {y} {z}" for x, y, z in CUBE] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES]
    path.write_text("\n".join(lines))
    facets = np.zeros(len(FACES), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    facets["corners"] = CUBE[FACES]
    (tmp_path / "part.stl").write_bytes(bytes(80) + np.uint32(len(FACES)).tobytes() + facets.tobytes())
    for file in (path, tmp_path / "part.stl", str(path)):
        found = jn.Inertia.from_mesh(file, density=12.0, scale=0.5)
        assert found.mass == pytest.approx(1.5)
        np.testing.assert_allclose(found.rotational, np.eye(3) * 1.5 / 6 * 0.25, atol=1e-12)
    with pytest.raises(jn.LoadError, match=r"none\.stl cannot be read"):
        jn.Inertia.from_mesh(tmp_path / "none.stl", mass=1.0)


def test_sums_and_moves_are_pinocchios() -> None:
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(0)
    ours, theirs = [], []
    for seed in range(2):
        random = pin.Inertia.Random()
        place = pin.SE3.Random()
        one = jn.Inertia(random.mass, random.lever, random.inertia, physical=False)
        ours.append(one.moved(place.homogeneous))
        theirs.append(place.act(random))
        np.testing.assert_allclose(ours[seed].com, theirs[seed].lever, atol=1e-14)
        np.testing.assert_allclose(ours[seed].rotational, theirs[seed].inertia, atol=1e-14)
    both, expected = ours[0] + ours[1], theirs[0] + theirs[1]
    assert both.mass == pytest.approx(expected.mass)
    np.testing.assert_allclose(both.com, expected.lever, atol=1e-14)
    np.testing.assert_allclose(both.rotational, expected.inertia, atol=1e-13)
    nothing = jn.Inertia(0.0, com=rng.normal(size=3))
    np.testing.assert_array_equal((both + nothing).rotational, both.rotational)
    np.testing.assert_array_equal((nothing + nothing).com, nothing.com)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((CUBE, FACES[:-1]), "not closed: 3 of its 18 edges"),
        ((CUBE, FACES[:, ::-1]), "inside out"),
        ((CUBE, np.concatenate([FACES[:-1], FACES[-1:, ::-1]])), "turned the other way than their neighbours, at 3"),
        ((CUBE * (1, 1, 0), FACES), "no volume"),
        ((CUBE, FACES + 1), "holds indices 1 to 8: there are 8 vertices"),
        ((CUBE, FACES.astype(float)), "triangles is .*, expected indices"),
        ((CUBE, None), "triangles is None"),
        ((CUBE[:, :2], FACES), "vertices is .*, expected finite numbers"),
        ((CUBE * np.nan, FACES), "vertices is .*, expected finite numbers"),
        (("cube.stl", FACES), "triangles were given along with the path"),
    ],
)
def test_what_is_wrong_with_a_mesh(given: tuple[object, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        jn.Inertia.from_mesh(*given, mass=1.0)


def test_errors() -> None:
    for options, words in (
        ({}, "mass is missing, or density"),
        ({"mass": 1, "density": 1}, "both given"),
        ({"mass": 1, "scale": 0}, "scale is 0"),
        ({"mass": -1}, "mass is -1"),
    ):
        with pytest.raises(ValueError, match=words):
            jn.Inertia.from_mesh(CUBE, FACES, **options)
    with pytest.raises(ValueError, match="radius is -1, expected a non-negative number of metres"):
        jn.Inertia.sphere(1.0, -1.0)
    with pytest.raises(ValueError, match=r"size is \[1.0, -1.0, 1.0\]"):
        jn.Inertia.box(1.0, (1, -1, 1))
    with pytest.raises(TypeError):
        jn.Inertia(1.0) + 2.0
