"""Paper A's published C++ as a racer, built from the user's clone: https://github.com/ahmed11406/Dynamics.

None of it is included here but the names of its classes and their arguments. Its ``grne_id.hpp`` includes an
unpublished header, ``se3_spatial.hpp``; if that is missing, one is generated that names what ``gabi_fbs.hpp`` has. A
C++17 compiler is needed, and Eigen, which is searched for in the system and in Python packages (CasADi, Pinocchio).
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sysconfig
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..bench.peers import Peer
from ..bench.race import Array, Call, LeftOut, Problem
from .paper_a import SWAP, Tree

_FILES = ("grne_id.hpp", "grne_id.cpp", "gabi_fbs.hpp", "gabi_fbs.cpp")
_SPATIAL = """#pragma once
#include "gabi_fbs.hpp"
namespace grne { using namespace gabi; }
"""
_WRAPPER = r"""
#include "gabi_fbs.hpp"
#include "grne_id.hpp"
using Eigen::Map;
using Eigen::MatrixXd;
struct Robot {
  int N, r;
  double g;
  grne::GrneIdRunner inverse;
  grne::IdOut forces;
  gabi::GabiFBSRunner forward;
  gabi::GabiOut motion;
  Eigen::Matrix4d C;
  MatrixXd V, q, wrench, tau, applied;
  std::vector<double> q0, dq;
};
extern "C" {
void* make(int N, const int* parent, const double* A, const double* Y, const double* M, int r, double g) {
  auto* robot = new Robot;
  std::vector<std::vector<int>> children(N);
  std::vector<int> parents(parent, parent + N);
  std::vector<Eigen::Matrix4d> steps;
  std::vector<Eigen::Matrix<double, 6, 1>> screws;
  std::vector<Eigen::Matrix<double, 6, 6>> inertias;
  for (int j = 0; j < N; ++j) {
    if (j) children[parent[j]].push_back(j);
    steps.push_back(Map<const Eigen::Matrix4d>(A + 16 * j).transpose());
    screws.push_back(Map<const Eigen::Matrix<double, 6, 1>>(Y + 6 * j));
    inertias.push_back(Map<const Eigen::Matrix<double, 6, 6>>(M + 36 * j));
  }
  robot->N = N, robot->r = r, robot->g = g;
  const Eigen::Matrix4d one = Eigen::Matrix4d::Identity();
  robot->inverse.setModel(N, children, parents, one, steps, screws, inertias, r);
  robot->forward.setModel(N, children, parents, one, steps, screws, inertias, r);
  robot->forces.allocate(N, r);
  robot->motion.allocate(N, r);
  robot->applied = MatrixXd::Zero(6 * N, r + 1);
  return robot;
}
void give(void* p, const double* C, const double* V, const double* q, const double* wrench, const double* tau) {
  auto& s = *static_cast<Robot*>(p);
  s.C = Map<const Eigen::Matrix4d>(C).transpose();
  s.V = Map<const MatrixXd>(V, 6, s.r + 2);
  s.q = Map<const MatrixXd>(q, s.N, s.r + 3);
  s.wrench = Map<const MatrixXd>(wrench, 6, s.r + 1);
  s.tau = Map<const MatrixXd>(tau, s.N, s.r + 1);
  s.q0.assign(s.q.col(0).data(), s.q.col(0).data() + s.N);
  s.dq.assign(s.q.col(1).data(), s.q.col(1).data() + s.N);
}
void inverse_dynamics(void* p) {
  auto& s = *static_cast<Robot*>(p);
  s.inverse.compute(s.C, s.V, s.q, s.applied, s.r, s.g, &s.forces);
}
void forward_dynamics(void* p) {
  auto& s = *static_cast<Robot*>(p);
  s.forward.compute(s.C, s.V.col(0), s.q0, s.dq, s.wrench, s.tau, s.applied, s.r, s.g, &s.motion);
}
void nothing(void*) {}
void take(void* p, int forward, double* base, double* joints) {
  auto& s = *static_cast<Robot*>(p);
  for (int k = 0; k <= s.r; ++k) {
    for (int i = 0; i < 6; ++i) base[6 * k + i] = forward ? s.motion.Vder_flat(i, k + 1) : s.forces.Qbase(i, k);
    for (int j = 0; j < s.N; ++j) joints[s.N * k + j] = forward ? s.motion.qhigh(j, k) : s.forces.Qjoint(j, k);
  }
}
void drop(void* p) { delete static_cast<Robot*>(p); }
}
"""


class Authors(Peer):
    """The published code in a folder, as a peer.

    Raises:
        ValueError: the folder lacks its files.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__("the authors' C++", "", "", "")
        missing = [name for name in _FILES if not (folder / name).is_file()]
        if missing:
            raise ValueError(
                f"authors is {str(folder)!r}, which has no {', '.join(missing)}: expected a clone of their code"
            )
        object.__setattr__(self, "folder", folder.resolve())

    folder: Path

    def call(self, problem: Problem) -> Call | None:
        """Both directions on paper A's trees."""
        if problem.states > 1 or problem.quantity not in ("inverse dynamics", "forward dynamics"):
            return None
        return _call(problem, built(self.folder))


@lru_cache(maxsize=1)
def built(folder: Path) -> ctypes.CDLL:
    """Compiles the clone with the wrapper into a library.

    Raises:
        LeftOut: there is no compiler or no Eigen, or the code does not compile.
    """
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise LeftOut("no C++ compiler is here")
    work = Path(tempfile.mkdtemp(prefix="jounce-authors-"))
    try:
        (work / "wrapper.cpp").write_text(_WRAPPER)
        if not (folder / "se3_spatial.hpp").is_file():
            (work / "se3_spatial.hpp").write_text(_SPATIAL)
        command = [
            compiler,
            "-std=c++17",
            "-O3",
            "-march=native",
            "-DNDEBUG",
            "-shared",
            "-fPIC",
            f"-I{folder}",
            f"-I{work}",
        ]
        command += [
            f"-I{_eigen()}",
            str(work / "wrapper.cpp"),
            *(str(folder / f) for f in _FILES if f.endswith(".cpp")),
        ]
        command += ["-o", str(work / "authors.so")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            fault = next((line for line in done.stderr.splitlines() if "error" in line), "no message")
            raise LeftOut(f"it does not compile: {fault[:160]}")
        library = ctypes.CDLL(str(work / "authors.so"))
    finally:
        shutil.rmtree(work)
    library.make.restype = ctypes.c_void_p
    return library


def _eigen() -> Path:
    packages = Path(sysconfig.get_paths()["purelib"])
    places = [Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3"), Path("/opt/homebrew/include/eigen3")]
    places += [packages / "cmeel.prefix/include/eigen3", packages / "casadi/include/eigen3"]
    for place in places:
        if (place / "Eigen/Dense").is_file():
            return place
    raise LeftOut("Eigen is not here; it comes with the system's package libeigen3-dev or with pip install casadi")


class _Robot:
    """A robot of the compiled library, freed with this object."""

    def __init__(self, library: ctypes.CDLL, problem: Problem) -> None:
        m, r = problem.model, problem.order
        tree, n = Tree.of(m), len(m.bodies)
        if np.any(m.gravity[:2]):
            raise LeftOut("its gravity is along z")
        steps = [np.eye(4), *(b.placement for b in m.bodies[1:])]
        parents = (ctypes.c_int * n)(*tree.parent)
        self.library, self.bodies, self.order = library, n, r
        model = [_pointer(np.array(x)) for x in (steps, tree.Y, tree.M_b)]
        self.handle = ctypes.c_void_p(
            library.make(n, parents, *(p for p, _ in model), r, ctypes.c_double(-m.gravity[2]))
        )
        v = problem.v
        if problem.quantity == "forward dynamics":  # the motion under the forces, to rotate them to world axes
            v = np.vstack([v[:1], m.forward_dynamics(problem.q, v[0], problem.tau)])
        spatial = m.change_velocity_frame(problem.q, v, "body", "world")
        force = m.change_force_frame(problem.q, v, problem.tau, "body", "world")
        pad = np.zeros((r + 1, 1))
        joints = np.vstack([problem.q[7:], spatial[:, 6:]])
        given = [
            m.pose(m.body_names[0], problem.q),
            spatial[:, :6][:, SWAP],
            np.hstack([np.zeros((r + 3, 1)), joints]),
            force[:, :6][:, SWAP],
            np.hstack([pad, force[:, 6:]]),
        ]
        kept = [_pointer(np.asarray(x, dtype=float)) for x in given]
        library.give(self.handle, *(p for p, _ in kept))

    def answer(self, forward: bool) -> Array:
        base, joints = np.zeros((self.order + 1, 6)), np.zeros((self.order + 1, self.bodies))
        self.library.take(self.handle, int(forward), _pointer(base)[0], _pointer(joints)[0])
        return np.hstack([base[:, SWAP], joints[:, 1:]])

    def __del__(self) -> None:
        self.library.drop(self.handle)


def _pointer(x: Array) -> tuple[ctypes.c_void_p, Array]:
    kept = np.ascontiguousarray(x)
    return ctypes.c_void_p(kept.ctypes.data), kept


def _call(problem: Problem, library: ctypes.CDLL) -> Call:
    robot, forward = _Robot(library, problem), problem.quantity == "forward dynamics"
    function, handle, m, q = (
        getattr(library, problem.quantity.replace(" ", "_")),
        robot.handle,
        problem.model,
        problem.q,
    )

    def run() -> None:
        function(handle)

    def answer() -> Array:
        run()
        result = robot.answer(forward)
        if forward:
            spatial = np.vstack([m.change_velocity_frame(q, problem.v[:1], "body", "world"), result])
            return np.asarray(m.change_velocity_frame(q, spatial, "world", "body")[1:])
        spatial = m.change_velocity_frame(q, problem.v, "body", "world")
        return np.asarray(m.change_force_frame(q, spatial, result, "world", "body"))

    return Call("compute", run, answer, overhead=lambda: library.nothing(handle), keep=robot)
