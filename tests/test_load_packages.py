"""Robots of packages as they are installed: they load by default, agree with MuJoCo, and find their meshes."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jounce as jn
from jounce.conversions import MuJoCo
from jounce.parts.visual import MeshFile, Undrawn

pytestmark = pytest.mark.night
FEWEST = {"dm_control": 50, "gymnasium_robotics": 20, "metaworld": 60, "robosuite": 50}  # files that MuJoCo compiles


def files(package: str, *endings: str) -> list[Path]:
    """Of a package, which is not imported."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"needs {package}: pip install --no-deps {package.replace('_', '-')}")
    root = Path(next(iter(found.submodule_search_locations)))
    return sorted(path for path in root.rglob("*") if path.suffix in endings and path.is_file())


def loaded(path: Path, **options: object) -> jn.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return jn.load(path, damping=False, friction=False, constraints=False, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("package", FEWEST)
def test_robots_of_mujocos_packages(package: str) -> None:
    """All that MuJoCo compiles: their mass matrices and bias forces, and their meshes."""
    mujoco = pytest.importorskip("mujoco")
    mujoco.set_mju_user_warning(lambda message: None)
    count, moving, lost = 0, 0, []
    for path in files(package, ".xml", ".mjcf"):
        if b"<mujoco" not in path.read_bytes():
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:  # a part of others, or in need of plugins
            continue
        robot = loaded(path)
        count += 1
        every = (*robot.scenery, *(visual for body in robot.bodies for visual in body.visuals))
        lost += [(path.name, v.shape) for v in every if isinstance(v.shape, Undrawn) and "geom" not in v.shape.what]
        if model.nv:
            moving += 1
            assert_same(mujoco, model, robot, path)
    assert count >= FEWEST[package]
    assert moving > 0
    assert not lost


def assert_same(mujoco: Any, model: Any, robot: jn.Model, path: Path) -> None:
    """The mass matrix, and the forces of inertia and weight of a motion, without springs and armature."""
    data, convert = mujoco.MjData(model), MuJoCo(robot, model)
    rng = np.random.default_rng(1)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    rest = np.zeros(robot.nv)
    data.qpos, data.qvel, data.qacc = convert.to(q, v, rest)
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, full, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, full)
    columns = [convert.force_back(q, full @ convert.to(q, rest, unit)[2]) for unit in np.eye(robot.nv)]
    mass = robot.mass_matrix(q)
    assert np.allclose(np.stack(columns, axis=1), mass, rtol=0, atol=1e-9 * np.abs(mass).max()), path
    theirs = np.zeros(model.nv)
    mujoco.mj_rne(model, data, 1, theirs)
    mine = robot.inverse_dynamics(q, v, rest) - robot.elastic_force(q)
    same = np.ones(robot.nv, dtype=bool)
    for name, joint in zip(robot.joint_names, _joints(robot), strict=True):
        same[robot.coordinate(name)] = not (isinstance(joint, jn.Free) and joint.armature.any())  # loading.md says why
    difference = (convert.force_back(q, theirs) - mine)[same]
    assert np.abs(difference).max(initial=0.0) <= 1e-9 * (np.abs(mine).max() + np.abs(mass).max()), path


def _joints(robot: jn.Model) -> list[jn.Joint]:
    return [body.joint for body in robot.bodies if body.joint.nv and body.joint.follows is None]


def test_robots_of_example_robot_data() -> None:
    """Every mesh that its URDFs name, but for those that the package does not have."""
    try:
        listed = importlib.metadata.distribution("example-robot-data").files or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs example-robot-data")
    paths = [Path(str(file.locate())) for file in listed]
    names = {path.name for path in paths}
    count, loads, templates, robots = 0, 0, 0, [path for path in paths if path.suffix == ".urdf"]
    for path in robots:
        try:
            robot = loaded(path)
        except jn.LoadError as fault:
            templates += "has no <link>" in str(fault)
            continue
        loads += 1
        shapes = [v.shape for body in robot.bodies for v in body.visuals]
        lost = [s for s in shapes if isinstance(s, Undrawn) and s.name and Path(s.name).name in names]
        assert not lost, path
        count += sum(isinstance(shape, MeshFile) for shape in shapes)
    assert loads + templates == len(robots)
    assert count > 500
