"""Soft robots for the tests, in a neutral form that no library under test defines.

A robot is a list of modules. Each is attached to the far end of its parent (-1: the world): its near end is at
``placement`` there, and its own coordinates move its far end and its mass relative to the near end.

====================  ============================  =================================================================
module                coordinates q                 far end and mass, seen from the near end
====================  ============================  =================================================================
Joint revolute        angle                         Rot(axis, q), no mass
Joint prismatic       distance                      Trans(axis q), no mass
Joint free            x y z, qx qy qz qw            Trans(x y z) Rot(quaternion), no mass; its velocity is the twist
                                                    [linear; angular] in its own axes
RigidBody             -                             the near end is the far end; mass, centre, inertia about it
Rod                   n amplitudes of strain        T(L) of dT/ds = T [xi(s)], T(0) = 1, xi = (0,0,1; 0,0,0) + Phi(s) q
VariableRadiusBody    bend, stretch, two bulges     a rod that bends about x and stretches, and whose sections bulge
====================  ============================  =================================================================

Twists and strains are linear first. A rod runs along its own z; its section is a disk of radius R(s), which tapers
linearly. ``section="line"`` puts its mass on the backbone, ``"disk"`` spreads it over the disk (rotary inertia). Its
law is that of a beam, energy 1/2 int (xi - xi0)^T K (xi - xi0) ds with K = diag(GA, GA, EA, EI, EI, GJ), and
viscosity (in seconds) times K is its damping.

The body of variable radius has q = (bend angle, stretch in metres, bulges in metres): curvature q0 / L about x,
stretch 1 + q1 / L, and sections whose points (r, phi) of the reference, phi from x towards y, move to
r (1 + q2 b / R) where phi < pi and r (1 + q3 b / R) where phi > pi, with the bump
b = exp(-0.01 L / (L^2/4 - (s - L/2)^2)) exp(-1 / (pi^2/4 - (phi' - pi/2)^2)), phi' = phi or phi - pi. Laws:
"quadratic", energy 1/2 (EI q0^2 + EA q1^2) / L + E/2 int (R' - R)^2 ds dphi, as in the authors' toolbox, with
viscosity times it as damping; and "svk", Saint Venant-Kirchhoff: int mu tr E^2 + lambda/2 (tr E)^2 over the volume,
E = (F^T F - 1) / 2. Its two chambers are the half sections 0 <= r <= R' - wall.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from trees import random_axes, random_inertia, random_pose

REFERENCE = Path(__file__).parent / "data" / "soft_reference.json"
Basis = Callable[[np.ndarray], np.ndarray]  # arc lengths (S,) to strains per amplitude (S, 6, n)


@dataclass(frozen=True)
class MaterialPoints:
    """Masses (S, P) at T(s) (offset + slope q), for S positions along the backbone and P points in each section."""

    s: np.ndarray
    mass: np.ndarray
    offset: np.ndarray  # (S, P, 3)
    slope: np.ndarray  # (S, P, 3, n)

    @cached_property
    def moving(self) -> list[int]:
        """Coordinates that move points within their sections."""
        return [j for j in range(self.slope.shape[-1]) if self.slope[..., j].any()]

    @cached_property
    def moments(self) -> np.ndarray:
        """sum m E_a E_b^T over each section, (S, A, A, 4, 4): E_0 = (offset, 1), then E_a = (slope_a, 0) if moving."""
        E = np.zeros((1 + len(self.moving), *self.offset.shape[:2], 4))
        E[0, ..., :3], E[0, ..., 3] = self.offset, 1
        for a, j in enumerate(self.moving):
            E[1 + a, ..., :3] = self.slope[..., j]
        return np.einsum("sp,aspi,bspj->sabij", self.mass, E, E, optimize=True)


@dataclass(frozen=True)
class Module:
    parent: int = -1
    placement: np.ndarray = field(default_factory=lambda: np.eye(4))

    @property
    def nv(self) -> int:
        return 0

    @property
    def nq(self) -> int:
        return self.nv


@dataclass(frozen=True)
class Joint(Module):
    kind: str = "revolute"
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))

    @property
    def nv(self) -> int:
        return 6 if self.kind == "free" else 1

    @property
    def nq(self) -> int:
        return 7 if self.kind == "free" else 1


@dataclass(frozen=True)
class RigidBody(Module):
    mass: float = 1.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.eye(3))  # about the centre of mass

    @cached_property
    def points(self) -> MaterialPoints:
        """Six equal masses: com +- sqrt(3 l / m) u along the principal axes u of sum m d d^T, of eigenvalues l."""
        second = np.trace(self.inertia) / 2 * np.eye(3) - self.inertia
        eigenvalues, axes = np.linalg.eigh(second)
        arms = (axes * np.sqrt(3 * eigenvalues / self.mass)).T
        offset = self.com + np.vstack([arms, -arms])
        return MaterialPoints(np.zeros(1), np.full((1, 6), self.mass / 6), offset[None], np.zeros((1, 6, 3, 0)))


@dataclass(frozen=True)
class Rod(Module):
    length: float = 1.0
    radii: tuple[float, float] = (0.01, 0.01)  # near, far
    density: float = 1000.0
    young: float = 1e6
    poisson: float = 0.5
    viscosity: float = 0.0
    basis: Basis | None = None
    amplitudes: int = 0
    uniform: bool = False  # the basis is constant along the rod
    section: str = "line"
    nodes: int = 40  # of the Gauss rule over [0, L] for mass and stiffness
    steps: int = 8  # of a Magnus integration between neighbouring nodes (and the ends), if not uniform

    @property
    def nv(self) -> int:
        return self.amplitudes

    def strain_basis(self, s: np.ndarray) -> np.ndarray:
        assert self.basis is not None
        return self.basis(np.asarray(s))

    def radius(self, s: np.ndarray) -> np.ndarray:
        near, far = self.radii
        return near + (far - near) * s / self.length

    def stiffness(self, s: np.ndarray) -> np.ndarray:
        """Diagonal of the section's K, (S, 6)."""
        area = np.pi * self.radius(s) ** 2
        bending = area * self.radius(s) ** 2 / 4
        shear = self.young / (2 * (1 + self.poisson))
        E = self.young
        return np.stack([shear * area, shear * area, E * area, E * bending, E * bending, 2 * shear * bending], axis=-1)

    @cached_property
    def points(self) -> MaterialPoints:
        """A disk is four points at R / sqrt 2 on the axes x and y: the same second moments."""
        s, weights = gauss(self.nodes, 0.0, self.length)
        radius = self.radius(s)
        mass = self.density * np.pi * radius**2 * weights
        if self.section == "line":
            offset = np.zeros((len(s), 1, 3))
        else:
            cross = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]) / np.sqrt(2)
            offset = radius[:, None, None] * cross
        count = offset.shape[1]
        return MaterialPoints(
            s, np.repeat(mass[:, None] / count, count, 1), offset, np.zeros((*offset.shape, self.amplitudes))
        )


@dataclass(frozen=True)
class VariableRadiusBody(Module):
    length: float = 0.2
    radius: float = 0.02
    density: float = 1062.0
    young: float = 1.06e6
    poisson: float = 0.5
    viscosity: float = 0.1
    wall: float = 0.004
    law: str = "quadratic"
    nodes: tuple[int, int] = (80, 48)  # Gauss along, and around each half; two across

    uniform = True

    @property
    def nv(self) -> int:
        return 4

    def strain_basis(self, s: np.ndarray) -> np.ndarray:
        basis = np.zeros((len(s), 6, 4))
        basis[:, 3, 0] = basis[:, 2, 1] = 1 / self.length
        return basis

    def surface(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Gauss rule over s and phi: s (S,), its weights, phi (A,), its weights, and the bumps (S, A, 2)."""
        s, s_weights = gauss(self.nodes[0], 0.0, self.length)
        half, half_weights = gauss(self.nodes[1], 0.0, np.pi)
        along = np.exp(-0.01 * self.length / (s * (self.length - s)))
        around = np.exp(-1 / (half * (np.pi - half)))
        zero = np.zeros_like(around)
        bumps = along[:, None, None] * np.stack([np.r_[around, zero], np.r_[zero, around]], axis=-1)
        return s, s_weights, np.r_[half, half + np.pi], np.r_[half_weights, half_weights], bumps

    @cached_property
    def points(self) -> MaterialPoints:
        s, s_weights, phi, phi_weights, bumps = self.surface()
        r, r_weights = gauss(2, 0.0, self.radius)
        mass = self.density * s_weights[:, None, None] * phi_weights[:, None] * (r * r_weights)
        out = r[:, None] * np.stack([np.cos(phi), np.sin(phi), 0 * phi], axis=-1)[:, None]  # (A, 2, 3)
        slope = np.zeros((*mass.shape, 3, 4))
        slope[..., 2:] = out[..., None] * bumps[:, :, None, None] / self.radius
        shape = (len(s), -1)
        return MaterialPoints(
            s,
            mass.reshape(shape),
            np.broadcast_to(out, slope.shape[:-1]).reshape(*shape, 3),
            slope.reshape(*shape, 3, 4),
        )


@dataclass(frozen=True)
class SoftSpec:
    modules: tuple[Module, ...]
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))

    @property
    def nq(self) -> int:
        return sum(m.nq for m in self.modules)

    @property
    def nv(self) -> int:
        return sum(m.nv for m in self.modules)

    def q_slices(self) -> list[slice]:
        return _slices([m.nq for m in self.modules])

    def v_slices(self) -> list[slice]:
        return _slices([m.nv for m in self.modules])


def _slices(sizes: list[int]) -> list[slice]:
    ends = np.cumsum(sizes)
    return [slice(int(e - n), int(e)) for e, n in zip(ends, sizes, strict=True)]


_leggauss = cache(np.polynomial.legendre.leggauss)


def gauss(count: int, start: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the Gauss-Legendre rule."""
    x, w = _leggauss(int(count))
    return start + (end - start) * (x + 1) / 2, (end - start) * w / 2


# --- strain bases ---------------------------------------------------------------------------------------


def constant_basis(matrix: np.ndarray) -> Basis:
    return lambda s: np.broadcast_to(matrix, (len(s), *np.shape(matrix)))


def constant_curvature(length: float, *, planar: bool, elongation: bool) -> np.ndarray:
    """Strains (6, n) per amplitude: bend angles (about -y; or about y, then about -x), then the elongation."""
    columns = [[0, 0, 0, 0, -1.0, 0]] if planar else [[0, 0, 0, 0, 1.0, 0], [0, 0, 0, -1.0, 0, 0]]
    if elongation:
        columns.append([0, 0, 1.0, 0, 0, 0])
    return np.array(columns).T / length


def gaussian_basis(length: float) -> Basis:
    """Paper D, Simulation 2: curvature about y constant and Gaussian, about -x likewise, elongation; s in metres."""

    def basis(s: np.ndarray) -> np.ndarray:
        bell = np.exp(-((s - length / 2) ** 2))
        phi = np.zeros((len(s), 6, 5))
        phi[:, 4, 0], phi[:, 4, 1], phi[:, 3, 2], phi[:, 3, 3], phi[:, 2, 4] = 1, bell, -1, -bell, 1
        return phi / length

    return basis


def legendre_basis(length: float, degrees: tuple[int, ...]) -> Basis:
    """Legendre polynomials up to a degree (-1: none) for each of the six strains, columns strain by strain."""

    def basis(s: np.ndarray) -> np.ndarray:
        values = np.polynomial.legendre.legvander(2 * s / length - 1, max(degrees)) / length
        phi = np.zeros((len(s), 6, sum(d + 1 for d in degrees)))
        column = 0
        for strain, degree in enumerate(degrees):
            for k in range(degree + 1):
                phi[:, strain, column] = values[:, k]
                column += 1
        return phi

    return basis


# --- reference data and random robots -------------------------------------------------------------------


def reference() -> dict:
    """Models, their states and forces, and equilibria; `meta` in the file says what each entry is."""
    return json.loads(REFERENCE.read_text())


def from_reference(model: dict) -> SoftSpec:
    modules = []
    for i, entry in enumerate(model["modules"]):
        data = {k: np.array(v) if isinstance(v, list) else v for k, v in entry.items()}
        kind = data.pop("module")
        if kind == "rod":
            phi = data.pop("basis")
            data["uniform"] = not isinstance(phi, str)
            data["amplitudes"] = phi.shape[1] if data["uniform"] else 5
            data["basis"] = constant_basis(phi) if data["uniform"] else gaussian_basis(data["length"])
        make = {"joint": Joint, "rigid": RigidBody, "rod": Rod, "variable_radius": VariableRadiusBody}[kind]
        modules.append(make(parent=i - 1, **data))
    return SoftSpec(tuple(modules), np.array(model["gravity"]))


def random_rod(rng: np.random.Generator, kind: str, **where: object) -> Rod:
    """kind: planar, spatial, gaussian or general; all with elongation except half of the planar ones."""
    length = rng.uniform(0.2, 0.5)
    far, near = np.sort(rng.uniform(0.005, 0.03, 2))
    constants = {"density": 1000.0, "young": rng.uniform(1e5, 1e6), "poisson": 0.4, "viscosity": 0.05}
    constants |= {"length": length, "radii": (near, far), "section": str(rng.choice(["line", "disk"]))}
    if kind in ("planar", "spatial"):
        phi = constant_curvature(length, planar=kind == "planar", elongation=kind == "spatial" or rng.random() < 0.5)
        shape = {"basis": constant_basis(phi), "amplitudes": phi.shape[1], "uniform": True}
    elif kind == "gaussian":
        shape = {"basis": gaussian_basis(length), "amplitudes": 5}
    else:
        degrees = (0, -1, 1, 2, 1, 0)
        shape = {"basis": legendre_basis(length, degrees), "amplitudes": sum(d + 1 for d in degrees)}
    return Rod(**where, **constants, **shape)


SOFT_KINDS = ("planar", "spatial", "gaussian", "general", "variable radius")
ALL_KINDS = ("revolute", "prismatic", "rigid", *SOFT_KINDS)


def random_module(rng: np.random.Generator, kind: str, parent: int) -> Module:
    where = {"parent": parent, "placement": random_pose(rng, 0.2)}
    if kind in ("revolute", "prismatic", "free"):
        return Joint(kind=kind, axis=random_axes(rng)[0], **where)
    if kind == "rigid":
        mass = rng.uniform(0.05, 0.5)
        return RigidBody(mass=mass, com=rng.uniform(-0.1, 0.1, 3), inertia=random_inertia(rng, mass), **where)
    if kind == "variable radius":
        return VariableRadiusBody(nodes=(12, 8), **where)
    return random_rod(rng, kind, **where)


def random_soft_tree(
    rng: np.random.Generator, kinds: tuple[str, ...], *, serial: bool = False, floating: bool = False
) -> SoftSpec:
    """A module of each kind, in random order; a floating base is a free joint with a rigid body, before them."""
    order = [str(k) for k in rng.permutation(list(kinds))]
    if floating:
        order = ["free", "rigid", *order]
    modules = []
    for i, kind in enumerate(order):
        lowest = 1 if floating and i > 1 else i - 1 if serial or floating else max(-1, i - 4)
        parent = i - 1 if serial or i == 0 else int(rng.integers(lowest, i))
        modules.append(random_module(rng, kind, parent))
    return SoftSpec(tuple(modules), rng.uniform(-10.0, 10.0, 3))


def random_soft_state(rng: np.random.Generator, spec: SoftSpec, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """q and a velocity stack (rows, nv): angles of the order of 1, elongations and bulges of a few percent."""
    q, v = [], []
    for module in spec.modules:
        scale = np.ones(module.nv)
        if isinstance(module, VariableRadiusBody):
            scale = np.array([1, 0.02, 0.002, 0.002])
        elif isinstance(module, Rod):
            linear = module.strain_basis(np.zeros(1))[0, :3]
            scale = np.where(np.abs(linear).any(axis=0), 0.1 * module.length, 0.7)
        if isinstance(module, Joint) and module.kind == "free":
            u = rng.normal(size=4)
            q.append(np.r_[rng.normal(size=3), u / np.linalg.norm(u)])
        else:
            q.append(scale * rng.uniform(-1.0, 1.0, module.nv))
        v.append(scale * rng.uniform(-1.0, 1.0, (rows, module.nv)))
    return np.concatenate(q), np.hstack(v)
