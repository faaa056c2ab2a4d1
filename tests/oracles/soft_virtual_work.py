"""Inverse dynamics of soft robots and its time derivatives from positions only, in 96 digits.

Source: d'Alembert's principle, tau_j = sum m (x'' - g) . dx/d(coordinate j), as in `oracles.virtual_work`, with its
numbers (integers that count 2^-320) and polynomials in t. The robots are those of `soft_models`: joints, rigid bodies,
and rods of uniform strain, with an energy that is quadratic in their coordinates.

The frame at s of such a rod is T = exp(s X), X = [rest + Phi q]. Its series, and that of its derivative D_j by
coordinate j, are computed term by term,

    T_0 = 1,  T_k+1 = T_k X / (k + 1),      D_0 = 0,  D_k+1 = (D_k X + T_k [Phi_j]) / (k + 1),

and are summed with the powers of s. The points of a section or body are at x = P c, c = (place in the section, 1), so
that sums over them need the moments sum m c c^T alone: tau_j = sum_ab ((P'' - g e^T) sum m c c^T)_ab (dP_j)_ab.
"""

from __future__ import annotations

import operator
from functools import cached_property

import numpy as np

from oracles import virtual_work as exact
from oracles.virtual_work import BITS, GENERATORS, ONE, Poly
from soft_models import Joint, Module, RigidBody, Rod, SoftSpec
from trees import BodySpec

Jet = tuple[Poly, dict[int, Poly]]  # a matrix along the motion, and its derivatives by the coordinates that move it


def _constant(matrix: np.ndarray, powers: int) -> Poly:
    result = np.zeros((powers, *matrix.shape), dtype=object)
    result[0] = matrix
    return result


def _product(a: Jet, b: Jet) -> Jet:
    """Product of matrices that depend on different coordinates."""
    partials = {j: exact._mul(x, b[0]) for j, x in a[1].items()} | {j: exact._mul(a[0], x) for j, x in b[1].items()}
    return exact._mul(a[0], b[0]), partials


def _joint(module: Joint, first: int, q: np.ndarray, v: Poly) -> Jet:
    zero = np.zeros(3)
    spec = BodySpec("joint", -1, module.kind, np.eye(4), 0.0, zero, np.zeros((3, 3)), axis=module.axis)
    pose, partials = exact._motion(spec, q, v)
    return pose, {first + j: p for j, p in enumerate(partials)}


def _terms(rod: Rod, q: np.ndarray, v: Poly) -> list[list[Poly]]:
    """T_k and its derivatives, as many as matter anywhere on the rod."""
    assert rod.uniform
    basis = np.tensordot(exact._fixed(rod.strain_basis(np.zeros(1))[0]).T, GENERATORS, 1)  # (n, 4, 4)
    path = exact._plain_path(q, v)
    X = np.array([np.tensordot(row, basis, 1) >> BITS for row in path], dtype=object)
    X[0] += GENERATORS[2] * ONE  # straight along z
    one = np.eye(4, dtype=int).astype(object) * ONE
    terms = [[_constant(one, len(path)), *(_constant(0 * one, len(path)) for _ in basis)]]
    length = exact._fixed(rod.length).item()
    power, k = ONE, 0
    while max(abs(x) for x in terms[-1][0].ravel()) * power >> BITS > 0 or k < 3:
        T, *D = terms[-1]
        after = [exact._mul(T, X), *(exact._mul(d, X) + (T @ phi >> BITS) for d, phi in zip(D, basis, strict=True))]
        k, power = k + 1, power * length >> BITS
        terms.append([a // k for a in after])
    return terms


def _moments(module: Module) -> np.ndarray:
    """sum m c c^T (S, 4, 4) of the sections of a rod, or of a rigid body."""
    if isinstance(module, RigidBody):
        second = (
            np.trace(module.inertia) / 2 * np.eye(3) - module.inertia + module.mass * np.outer(module.com, module.com)
        )
        first = module.mass * module.com[:, None]
        return exact._fixed(np.block([[second, first], [first.T, np.array([[module.mass]])]])[None])
    points = module.points
    found = np.zeros((len(points.s), 4, 4))
    for i, (masses, places) in enumerate(zip(points.mass, points.offset, strict=True)):
        c = np.hstack([places, np.ones((len(places), 1))])
        found[i] = np.einsum("p,pa,pb->ab", masses, c, c)
    return exact._fixed(found)


def _stiffness(rod: Rod) -> np.ndarray:
    s, weights = np.polynomial.legendre.leggauss(12)
    s, weights = rod.length * (s + 1) / 2, rod.length * weights / 2
    phi = rod.strain_basis(s)
    return np.einsum("s,sai,sa,saj->ij", weights, phi, rod.stiffness(s), phi)


def inverse_dynamics(spec: SoftSpec, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The forces of joints and shapes and their first r derivatives, (r + 1, nv), for a stack v (r + 2, nv)."""
    return exact._derivatives(Motion(spec, q, exact._taylor(v)).forces())


class Motion:
    """A robot at q that moves with a velocity (n, nv) along time."""

    def __init__(self, spec: SoftSpec, q: np.ndarray, speed: Poly) -> None:
        self.spec, self.q, self.speed = spec, q, speed
        self.identity: Jet = _constant(np.eye(4, dtype=int).astype(object) * ONE, len(speed) + 1), {}
        self._rods: dict[int, list[list[Poly]]] = {}

    @cached_property
    def ends(self) -> list[tuple[Jet, Jet]]:
        """Near and far end of each module, in the world."""
        found: list[tuple[Jet, Jet]] = []
        for i, (module, at) in enumerate(zip(self.spec.modules, self.spec.v_slices(), strict=True)):
            near = found[module.parent][1] if module.parent >= 0 else self.identity
            near = _product(near, (_constant(exact._placement(module), len(self.speed) + 1), {}))
            far = near
            if isinstance(module, Joint):
                far = _product(near, _joint(module, at.start, self._own_q(i), self.speed[:, at]))
            elif isinstance(module, Rod):
                far = _product(near, self._section(i, module.length))
            found.append((near, far))
        return found

    def section(self, i: int, s: float) -> Jet:
        """The world frame at s of the rod that is module i."""
        return _product(self.ends[i][0], self._section(i, s))

    def _own_q(self, i: int) -> np.ndarray:
        return self.q[self.spec.q_slices()[i]]

    def _section(self, i: int, s: float) -> Jet:
        """In the frame of the near end."""
        rod, at = self.spec.modules[i], self.spec.v_slices()[i]
        assert isinstance(rod, Rod)
        if i not in self._rods:
            self._rods[i] = _terms(rod, self._own_q(i), self.speed[:, at])
        place, power, total = exact._fixed(s).item(), ONE, [0 * t for t in self._rods[i][0]]
        for term in self._rods[i]:
            total = [t + (x * power >> BITS) for t, x in zip(total, term, strict=True)]
            power = power * place >> BITS
        return total[0], {at.start + j: d for j, d in enumerate(total[1:])}

    @cached_property
    def masses(self) -> list[tuple[Jet, np.ndarray]]:
        """The frame and the moments of each section and body that has mass."""
        found = []
        for i, module in enumerate(self.spec.modules):
            if not isinstance(module, Joint):
                places = module.points.s if isinstance(module, Rod) else [None]
                frames = [self.ends[i][0] if s is None else self.section(i, s) for s in places]
                found += zip(frames, _moments(module), strict=True)
        return found

    def forces(self) -> Poly:
        """Of joints and shapes, one power of t less than the velocity has."""
        rows = len(self.speed) - 1
        tau = np.zeros((rows, self.spec.nv), dtype=object)
        for i, (module, at) in enumerate(zip(self.spec.modules, self.spec.v_slices(), strict=True)):
            if isinstance(module, Rod):
                K, own = exact._fixed(_stiffness(module)), self.speed[:, at]
                viscosity = exact._fixed(module.viscosity).item()
                force = exact._plain_path(self._own_q(i), own)[:rows] @ K + (viscosity * (own[:rows] @ K) >> BITS)
                tau[:, at] += force >> BITS
        for (pose, partials), moments in self.masses:
            acceleration = exact._rate(exact._rate(pose))[:, :3]
            acceleration[0, :, 3] -= exact._fixed(self.spec.gravity)
            force = acceleration @ moments >> BITS
            for j, partial in partials.items():
                tau[:, j] += exact._mul(force, partial[:, :3], operator.mul).sum(axis=(1, 2))
        return tau


def mass_matrix(spec: SoftSpec, q: np.ndarray) -> np.ndarray:
    """sum m dx/di . dx/dj = sum_ab (dP_i)_ab (dP_j sum m c c^T)_ab; the moments are symmetric up to rounding."""
    M = np.zeros((spec.nv, spec.nv), dtype=object)
    for (_, partials), moments in Motion(spec, q, np.zeros((0, spec.nv), dtype=object)).masses:
        for i, P in partials.items():
            for j, Q in partials.items():
                M[i, j] += (P[0, :3] * (Q[0, :3] @ moments >> BITS)).sum() >> BITS
    return M
