"""Soft bodies as the rest of jounce sees them: sections that move with a few coordinates, forces, and inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce.parts.joints import Joint, Primitive
from jounce.recording.record import Expressions

if TYPE_CHECKING:
    from typing_extensions import Self

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mass:
    """Mass, its first moment (3,) and its second moment (3, 3), the integral of x x^T dm, in a section's frame."""

    mass: float = 0.0
    first: Array = field(default_factory=lambda: np.zeros(3))
    second: Array = field(default_factory=lambda: np.zeros((3, 3)))


@dataclass(frozen=True, eq=False)
class Station:
    """A section that carries mass or children: fixed in its step's frame, or at offset (3,) + slope (n, 3) q in it."""

    mass: Mass = field(default_factory=Mass)
    offset: Array | None = None
    slope: Array | None = None


@dataclass(frozen=True, eq=False)
class Step:
    """exp(Omega) from the frame of step `start` (-1: the near end).

    Omega is constant + linear q if the strain is uniform (`changes` is None). Otherwise it is a Magnus expansion: that
    is its part without commutators, and `changes` are the first and second differences of the strain along the step.

    Shapes: constant (6,), linear (n, 6), changes (2, n, 6); twists are [linear; angular].
    """

    start: int
    constant: Array
    linear: Array
    changes: Array | None
    stations: tuple[Station, ...] = ()


@dataclass(frozen=True, eq=False)
class Sections:
    """How the sections of a body move: by steps along it, or by a recorded function of q.

    Attributes:
        steps: the chain, in order.
        recorded: position (3), rotation (9) and body Jacobian (n, 6) of each station in turn, as a function of q,
            instead of steps; `stations` lists these stations.
        marks: the station at each requested material coordinate; the far end is the last.
    """

    marks: tuple[int, ...]
    steps: tuple[Step, ...] = ()
    stations: tuple[Station, ...] = ()
    recorded: Expressions | None = None

    @cached_property
    def recorded_poses(self) -> Expressions:
        """Position (3) and rotation (9) of each station."""
        return self._part(slice(0, 12))

    @cached_property
    def recorded_screws(self) -> Expressions:
        """The body Jacobian (n, 6) of each station."""
        return self._part(slice(12, None))

    def _part(self, part: slice) -> Expressions:
        assert self.recorded is not None
        width = 12 + 6 * self.recorded.tape.inputs
        rows = [self.recorded.outputs[i : i + width] for i in range(0, len(self.recorded), width)]
        return Expressions(self.recorded.tape, [x for row in rows for x in row[part]])

    @cached_property
    def recorded_screw_slopes(self) -> Expressions:
        """The derivatives (n, n, 6) of the recorded Jacobians by q, indexed by coordinate, then by column."""
        screws = self.recorded_screws
        n = screws.tape.inputs
        flat = screws.gradient(range(n)).outputs
        by_coordinate = np.array(flat, dtype=object).reshape(-1, 6 * n, n).swapaxes(1, 2)
        return Expressions(screws.tape, list(by_coordinate.ravel()))

    def placed(self) -> list[tuple[int, Station]]:
        """All stations of a chain of steps, each with the step it is on."""
        return [(i, s) for i, step in enumerate(self.steps) for s in step.stations]

    def masses(self) -> list[Mass]:
        """The masses of all stations."""
        return [s.mass for s in self.stations] if self.recorded else [s.mass for _, s in self.placed()]


class SoftBody(ABC):
    """A body that deforms, for ``Builder.add(..., body=...)``: a `Rod`, a `VariableRadius`, or a `Module` of your own.

    Attributes:
        n: number of coordinates of its shape.
        length: largest material coordinate, m; 0 if it has only the far end.
        stiffness: (n, n), with energy q^T stiffness q / 2; zero if `recorded_energy` covers it all.
        viscosity: (n, n), with damping force viscosity v.
        scale: (n,) typical size of its coordinates, for random configurations.
        coordinate_names: of its coordinates; numbered if empty.
        coordinate_units: of its coordinates, "m", "rad", "1", "1/m", or "?" if unknown.
        input_names: of its inputs.
        shares_inputs: whether inputs of the same name on other bodies are the same input; otherwise they are prefixed
            with the body's name.
        checked: whether its nodes and steps are checked where it bends far (dynamics/discretization.py); then it has
            what follows.
        resolution: number of nodes along it.
        exact: whether its poses do not depend on its nodes.
    """

    n: int
    length: float
    stiffness: Array
    viscosity: Array
    scale: Array
    coordinate_names: tuple[str, ...] = ()
    coordinate_units: tuple[str, ...] = ()
    input_names: tuple[str, ...] = ()
    shares_inputs: bool = False
    checked: bool = False
    resolution: int = 0
    exact: bool = True

    def _copy(self) -> Self:
        """One that shares everything but what is cached."""
        own = object.__new__(type(self))
        own.__dict__.update(self.__dict__)
        for cached in ("_known_sections", "_known_steps"):
            own.__dict__.pop(cached, None)
        return own

    def with_nodes(self, count: int) -> SoftBody:
        """The same body made with ``nodes=count``."""
        raise NotImplementedError

    def refined(self, resolution: int) -> SoftBody:
        """The same body with so many nodes, and as many times more steps."""
        raise NotImplementedError

    def deformation(self) -> tuple[Array, Array]:
        """By how much a unit of each coordinate strains it at most, (6, n), and how far it turns at rest, (3,).

        Rows [shear x, shear y, stretch; bend x, bend y, twist], turns over its whole length, rad.
        """
        raise NotImplementedError

    def proportions(self) -> bytes:
        """The same for bodies whose nodes do equally well for equal deformations."""
        raise NotImplementedError

    def sections(self, marks: Sequence[float]) -> Sections:
        """The sections, with stations at the material coordinates `marks` and at the far end; cached."""
        known: dict[tuple[float, ...], Sections] = self.__dict__.setdefault("_known_sections", {})
        key = tuple(marks)
        if key not in known:
            known[key] = self._sections(key)
        return known[key]

    @abstractmethod
    def _sections(self, marks: tuple[float, ...]) -> Sections:
        """Builds what `sections` returns."""

    def recorded_energy(self) -> Expressions | None:
        """Non-quadratic elastic energy, as a recorded function of q."""
        return None

    def recorded_dissipation(self) -> Expressions | None:
        """Half the dissipated power, beyond `viscosity`, as a recorded function of (q, v)."""
        return None

    def recorded_inputs(self) -> Expressions | None:
        """What the inputs do work on, as a recorded function of q: the power of input u_j is u_j d/dt of output j."""
        return None

    def with_prefix(self, prefix: str) -> SoftBody:
        """The same body, with a prefix to the names of inputs that it would share with others."""
        return self

    def backbone(self, q: Array, s: Array) -> Array:
        """Poses (..., S, 4, 4) of the sections at s (S,) in the near end, for q (..., n)."""
        raise ValueError(f"{self!r} has no sections along a backbone")

    def inside_out(self, q: Array) -> float | None:
        """Where along it, in m, the body has been turned inside out, for q (n,); None if it is not.

        There its equations still have answers, but no body has this shape. A body that does not know says None.
        """
        return None

    @property
    def mass(self) -> float:
        """kg."""
        return float(sum(m.mass for m in self.sections(()).masses()))


class Shape(Joint):
    """The coordinates of a soft body, in place of a joint: n numbers without limits, whose rates are the velocities."""

    nq = nv = 0

    scale: Array
    names: tuple[str, ...]
    units: tuple[str, ...]

    def __init__(self, soft: SoftBody, name: str) -> None:
        n = soft.n
        units = soft.coordinate_units or ("?",) * n
        self._set(nq=n, nv=n, scale=soft.scale, names=soft.coordinate_names, units=units)
        super().__init__(name=name)

    def primitives(self) -> tuple[Primitive, ...]:
        return (Primitive("prismatic", np.array([0.0, 0.0, 1.0]), 1.0),) * self.nq

    def _describe(self) -> str:
        return str(self.nq)
