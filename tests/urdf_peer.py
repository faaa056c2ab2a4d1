"""The robots of ``example-robot-data`` in Pinocchio and in jounce, with the coordinates of one mapped to the other.

    for path in urdf_paths():
        peer = urdf_peer(path, "floating")
        peer.robot, peer.model, peer.data  # jounce's, without damping and mimic; Pinocchio's

Joints are mapped by name: Pinocchio sorts siblings by the name of their joint, jounce keeps the order of the file.
"""

from __future__ import annotations

import functools
import sysconfig
import warnings
from pathlib import Path

import numpy as np
import pytest

import jounce as jn

pinocchio = pytest.importorskip("pinocchio")

# The package has no module that imports without its loaders: its files are in the prefix of cmeel wheels.
_ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"


def urdf_paths() -> list[Path]:
    """All URDF files of the package except one that has no links."""
    if not _ROBOTS.is_dir():
        pytest.skip("example-robot-data is not installed", allow_module_level=True)
    return [path for path in sorted(_ROBOTS.rglob("*.urdf")) if path.name != "ur3.urdf"]


def urdf_path(name: str) -> Path:
    """The file of that name, such as "panda.urdf"."""
    return next(path for path in urdf_paths() if path.name == name)


class UrdfPeer:
    """A URDF in both libraries.

    robot: jounce's, with mimicking joints independent and no damping, as in Pinocchio.
    model, data: Pinocchio's.
    """

    def __init__(self, path: Path, base: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jn.LoadWarning)
            self.robot = jn.load(path, base, mimic="independent", damping=False, friction=False)
        root = [pinocchio.JointModelFreeFlyer()] if base == "floating" else []
        self.model = pinocchio.buildModelFromUrdf(str(path), *root)
        joints = [self.model.joints[self.model.getJointId(name)] for name in self.robot.joint_names]
        self.v_index = np.concatenate([np.zeros(0, int), *(j.idx_v + np.arange(j.nv) for j in joints)])
        self._joints = joints

    @property
    def data(self) -> pinocchio.Data:
        """Of the robots in use; those of all would take 200 MB."""
        return _data(self)

    def q_to_pin(self, q: np.ndarray) -> np.ndarray:
        """Configuration (..., nq) in Pinocchio's order and form; likewise the others."""
        found = np.empty((*q.shape[:-1], self.model.nq))
        for name, joint in zip(self.robot.joint_names, self._joints, strict=True):
            own = q[..., self.robot.position(name)]
            if own.shape[-1] == 1 and joint.nq == 2:  # continuous
                own = np.concatenate([np.cos(own), np.sin(own)], axis=-1)
            found[..., joint.idx_q : joint.idx_q + joint.nq] = own
        return found

    def v_to_pin(self, v: np.ndarray) -> np.ndarray:
        found = np.empty_like(v)
        found[..., self.v_index] = v
        return found

    def v_from_pin(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(v)[..., self.v_index]

    def matrix_from_pin(self, matrix: np.ndarray) -> np.ndarray:
        """A matrix (nv, nv) over velocities."""
        return np.asarray(matrix)[np.ix_(self.v_index, self.v_index)]

    def jacobian_from_pin(self, matrix: np.ndarray) -> np.ndarray:
        """A matrix (..., nv) whose columns are velocities."""
        return self.v_from_pin(matrix)

    @functools.cached_property
    def frame_ids(self) -> dict[str, int]:
        """Pinocchio's frame index of each link, by jounce's name for the link."""
        ids = {f.name: i for i, f in enumerate(self.model.frames) if f.type == pinocchio.FrameType.BODY}
        return {"world_link" if name == "world" else name: i for name, i in ids.items()}

    def frame_id(self, name: str) -> int:
        return self.frame_ids[name]


@functools.lru_cache(maxsize=4)
def _data(peer: UrdfPeer) -> pinocchio.Data:
    return peer.model.createData()


@functools.cache
def urdf_peer(path: Path, base: str) -> UrdfPeer:
    return UrdfPeer(path, base)
