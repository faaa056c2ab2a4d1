"""The libraries jounce is raced against. Each is imported where it is used, and only if it is installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import cast

from ..race import Call, Problem


@dataclass(frozen=True)
class Peer:
    """A way to solve the problems with another library (or with jounce in another way).

    Attributes:
        name: in tables and pictures.
        package: what is imported; empty if nothing is needed.
        distribution: its name for ``pip install``.
        source: module and function that make its `Call` from a `Problem`, or None if it has no such function.
    """

    name: str
    package: str
    distribution: str
    source: str

    @property
    def is_installed(self) -> bool:
        return not self.package or find_spec(self.package) is not None

    @property
    def version(self) -> str | None:
        if not self.package or not self.is_installed:
            return None
        try:
            return metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return "unknown"

    def call(self, problem: Problem) -> Call | None:
        module, function = self.source.split(":")
        make = getattr(import_module(module, __package__), function)
        return cast(Callable[[Problem], Call | None], make)(problem)


PEERS = {
    peer.name: peer
    for peer in (
        Peer("Pinocchio", "pinocchio", "pin", ".pinocchio:call"),
        Peer("Pinocchio, lcaba", "pinocchio", "pin", ".pinocchio_contacts:lcaba"),
        Peer("MuJoCo", "mujoco", "mujoco", ".mujoco:call"),
        Peer("CasADi", "casadi", "casadi", ".casadi:as_in_paper_a"),
        Peer("CasADi, body axes", "casadi", "casadi", ".casadi:body_axes"),
        Peer("CasADi, cse", "casadi", "casadi", ".casadi:simplified"),
        Peer("CasADi, cse, compiled", "casadi", "casadi", ".casadi:compiled"),
        Peer("JAX jet", "jax", "jax", ".jax:call"),
        Peer("adam", "adam", "adam-robotics", ".adam:call"),
        Peer("SciPy", "scipy", "scipy", ".linear_systems:scipy"),
        Peer("python-control", "control", "control", ".linear_systems:python_control"),
        Peer("jounce, one state", "", "", "..ours:one_state"),
        Peer("jounce, one thread", "", "", "..ours:one_thread"),
        Peer("jounce, r = 0", "", "", "..ours:first_order"),
    )
}
