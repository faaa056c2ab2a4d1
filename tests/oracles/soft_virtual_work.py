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


def _sections(rod: Rod, first: int, q: np.ndarray, v: Poly, places: np.ndarray) -> list[Jet]:
    """Sections of a rod, at the given positions along it."""
    assert rod.uniform
    basis = np.tensordot(exact._fixed(rod.strain_basis(np.zeros(1))[0]).T, GENERATORS, 1)  # (n, 4, 4)
    path = exact._plain_path(q, v)
    X = np.array([np.tensordot(row, basis, 1) >> BITS for row in path], dtype=object)
    X[0] += GENERATORS[2] * ONE  # straight along z
    one = np.eye(4, dtype=int).astype(object) * ONE
    terms = [[_constant(one, len(path)), *(_constant(0 * one, len(path)) for _ in basis)]]
    longest = exact._fixed(max(places)).item()
    power, k = ONE, 0
    while max(abs(x) for x in terms[-1][0].ravel()) * power >> BITS > 0 or k < 3:
        T, *D = terms[-1]
        after = [exact._mul(T, X), *(exact._mul(d, X) + (T @ phi >> BITS) for d, phi in zip(D, basis, strict=True))]
        k, power = k + 1, power * longest >> BITS
        terms.append([a // k for a in after])
    jets = []
    for s in map(int, exact._fixed(places)):
        total, power = [0 * t for t in terms[0]], ONE
        for term in terms:
            total = [t + (x * power >> BITS) for t, x in zip(total, term, strict=True)]
            power = power * s >> BITS
        jets.append((total[0], {first + j: d for j, d in enumerate(total[1:])}))
    return jets


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
    return exact._derivatives(forces(spec, q, exact._taylor(v)))


def ends(spec: SoftSpec, q: np.ndarray, speed: Poly) -> list[tuple[Jet, Jet]]:
    """Near and far end of each module, in the world."""
    identity = _constant(np.eye(4, dtype=int).astype(object) * ONE, len(speed) + 1)
    found: list[tuple[Jet, Jet]] = []
    for i, (module, q_at, v_at) in enumerate(zip(spec.modules, spec.q_slices(), spec.v_slices(), strict=True)):
        near = found[module.parent][1] if module.parent >= 0 else (identity, {})
        near = _product(near, (_constant(exact._placement(module), len(speed) + 1), {}))
        far = near
        if isinstance(module, Joint):
            far = _product(near, _joint(module, v_at.start, q[q_at], speed[:, v_at]))
        elif isinstance(module, Rod):
            far = section(spec, q, speed, i, module.length, near)
        found.append((near, far))
    return found


def section(spec: SoftSpec, q: np.ndarray, speed: Poly, i: int, s: float, near: Jet) -> Jet:
    """The world frame at s of the rod that is module i."""
    rod, q_at, v_at = spec.modules[i], spec.q_slices()[i], spec.v_slices()[i]
    assert isinstance(rod, Rod)
    return _product(near, _sections(rod, v_at.start, q[q_at], speed[:, v_at], np.array([s]))[0])


def forces(spec: SoftSpec, q: np.ndarray, speed: Poly) -> Poly:
    """The same in polynomials, one power of t less than the velocity has."""
    rows = len(speed) - 1
    identity = _constant(np.eye(4, dtype=int).astype(object) * ONE, len(speed) + 1)
    tau = np.zeros((rows, spec.nv), dtype=object)
    places = zip(spec.modules, spec.q_slices(), spec.v_slices(), ends(spec, q, speed), strict=True)
    for module, q_at, v_at, (near, _) in places:
        if isinstance(module, Joint):
            continue
        own, sections = speed[:, v_at], [(identity, {})]
        if isinstance(module, Rod):
            sections = _sections(module, v_at.start, q[q_at], own, module.points.s)
            K = exact._fixed(_stiffness(module))
            path = exact._plain_path(q[q_at], own)
            viscosity = exact._fixed(module.viscosity).item()
            force = path[:rows] @ K + (viscosity * (own[:rows] @ K) >> BITS)
            tau[:, v_at] += force >> BITS
        for frame, moments in zip(sections, _moments(module), strict=True):
            pose, partials = _product(near, frame)
            acceleration = exact._rate(exact._rate(pose))[:, :3]
            acceleration[0, :, 3] -= exact._fixed(spec.gravity)
            force = acceleration @ moments >> BITS
            for j, partial in partials.items():
                tau[:, j] += exact._mul(force, partial[:, :3], operator.mul).sum(axis=(1, 2))
    return tau
