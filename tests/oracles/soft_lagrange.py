"""Soft robots by Lagrange, from positions and energies only, with time derivatives: the truth for soft bodies.

For masses m at x(t), whatever moves them, and any virtual displacement x_j = dx/d(coordinate j),

    inertial force_j = d/dt sum m x' . x_j  -  sum m x' . x_j'      (d/dt of dT/dv_j, minus dT/dq_j)
    gravity_j = sum m g . x_j = -dV/dq_j,    elastic_j = -dU/dq_j,    damping_j = -dD/dv_j,

and the drive that a motion needs is inertial - gravity - elastic - damping (paper D's Q^a, its AID). No twist,
Jacobian recursion or Newton-Euler equation occurs. The modules are those of `soft_models`.

*Numbers.* Everything is a jet: an array (1 + n, K, ...) that holds a Taylor polynomial in t, powers along axis 1, and
its partial derivatives by the n coordinates along axis 0, after the value itself. One product (`times`) does all.

*Frames.* dT/ds = T [xi], T(0) = 1 is solved by T = 1 + int T [xi] + int int T [xi] [xi] + ..., with the integrals over
[0, s] of the interpolating polynomial on Gauss nodes (`integrals`): spectrally exact, without exponentials, without
a special case for small angles, the same for every strain basis. A joint with one coordinate is such a rod, of length 1
and strain axis * q. A free joint integrates H' = H [v] power by power; its virtual displacements are H [e_j].

*Mass.* A material point in section s is at x = P(s) c, c = sum_a z_a E_a with z = (1, q_1, ...) and constant E_0 =
(offset, 1), E_a = (slope_a, 0). All sums over a section are thus traces with the moments G_ab = sum m E_a E_b^T
(4 x 4): sum m x . y = tr(X_a G_ab Y_b^T) with X_a = z_a P. A rigid body is one section, its G the pseudo-inertia.

In float64; long doubles would change the derivatives up to the fourth by 3e-15 of their magnitude.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.polynomial.legendre import legvander

from soft_models import Joint, Module, Rod, SoftSpec, VariableRadiusBody, gauss

Jet = np.ndarray
FRAME_NODES = 32

# Matrices of the twists along and about each axis.
GENERATORS = np.zeros((6, 4, 4))
for _a, _b, _c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    GENERATORS[_a, _a, 3] = 1
    GENERATORS[3 + _a, _c, _b], GENERATORS[3 + _a, _b, _c] = 1, -1


def times(a: Jet, b: Jet, product: Callable = np.matmul) -> Jet:
    """Product of jets, truncated to the fewer powers; the partials by Leibniz' rule."""
    powers = min(a.shape[1], b.shape[1])
    value = [sum(product(a[0, i], b[0, k - i]) for i in range(k + 1)) for k in range(powers)]
    partial = [
        sum(product(a[1:, i], b[0, k - i]) + product(a[0, i], b[1:, k - i]) for i in range(k + 1))
        for k in range(powers)
    ]
    return np.concatenate([np.stack(value)[None], np.stack(partial, axis=1)])


def rate(a: Jet) -> Jet:
    """Time derivative, one power shorter."""
    powers = np.arange(1, a.shape[1]).reshape(-1, *[1] * (a.ndim - 2))
    return a[:, 1:] * powers


def embed(a: Jet, at: slice, n: int) -> Jet:
    """A jet by a module's own coordinates as one by all n."""
    result = np.zeros((1 + n, *a.shape[1:]))
    result[0], result[1:][at] = a[0], a[1:]
    return result


def derivatives(series: np.ndarray) -> np.ndarray:
    """Time derivatives of a series whose powers lie along axis 0."""
    scale = np.array([factorial(k) for k in range(len(series))])
    return (series.T * scale).T


def coordinates(q: np.ndarray, v: np.ndarray) -> Jet:
    """Jet (1 + n, K + 1, n) of plain coordinates with value q and velocity stack v (K, n)."""
    n, powers = len(q), len(v) + 1
    jet = np.zeros((1 + n, powers, n))
    for k, row in enumerate([q, *v]):
        jet[0, k] = row / factorial(k)
    jet[1:, 0] = np.eye(n)
    return jet


NODES, _WEIGHTS = gauss(FRAME_NODES, 0.0, 1.0)
_VALUES_TO_LEGENDRE = legvander(2 * NODES - 1, FRAME_NODES - 1).T * _WEIGHTS


def integrals(s: np.ndarray) -> np.ndarray:
    """(S, FRAME_NODES): int_0^s of the polynomial through values at the Gauss nodes of [0, 1].

    It is sum_k (2k+1) P_k(x_j) w_j int_0^s P_k with int P_k = (P_{k+1} - P_{k-1}) / (4k+2), in x = 2 s - 1.
    """
    P = legvander(2 * s - 1, FRAME_NODES)
    return np.hstack([(P[:, 1] + 1)[:, None], P[:, 2:] - P[:, :-2]]) / 2 @ _VALUES_TO_LEGENDRE


BETWEEN = integrals(NODES)


def frames(basis: Callable, rest: np.ndarray, length: float, q: Jet, s: np.ndarray) -> Jet:
    """Jet (1 + n, K, S, 4, 4) of the poses at s of dT/ds = T [rest + basis(s) q]."""
    strain = np.einsum("sij,dkj->dksi", basis(length * NODES), q)
    strain[0, 0] += rest
    strain = np.tensordot(length * strain, GENERATORS, 1)

    def integrated(matrix: np.ndarray, slope: Jet) -> Jet:
        return (matrix @ slope.reshape(*slope.shape[:3], 16)).reshape(*slope.shape[:2], -1, 4, 4)

    term = np.zeros_like(strain)
    term[0, 0] = np.eye(4)
    slope = np.zeros_like(strain)  # dT/d(s / length) at the nodes
    while np.abs(term).max() > 1e-18 * max(1, np.abs(slope).max()):
        rise = times(term, strain)
        slope += rise
        term = integrated(BETWEEN, rise)
    poses = integrated(integrals(s / length), slope)
    poses[0, 0] += np.eye(4)
    return poses


def _free(q: np.ndarray, v: np.ndarray) -> Jet:
    jet = np.zeros((7, len(v) + 1, 4, 4))
    u = q[3:] / np.linalg.norm(q[3:])
    skew = np.tensordot(u[:3], GENERATORS[3:, :3, :3], 1)
    jet[0, 0, :3, :3] = np.eye(3) + 2 * u[3] * skew + 2 * skew @ skew
    jet[0, 0, :3, 3], jet[0, 0, 3, 3] = q[:3], 1
    twist = [np.tensordot(row, GENERATORS, 1) / factorial(k) for k, row in enumerate(v)]
    for k in range(len(v)):
        jet[0, k + 1] = sum(jet[0, i] @ twist[k - i] for i in range(k + 1)) / (k + 1)
    jet[1:] = jet[0] @ GENERATORS[:, None]
    return jet


@dataclass
class Motion:
    """One module in motion: jets by all n coordinates, and the data for its energies."""

    far: Jet  # (1 + n, K, 4, 4) world pose of the far end
    q: Jet  # (1 + n_i, K, n_i) own coordinates, by own coordinates
    X: Jet  # (1 + n, K, S, A, 4, 4) z_a P
    G: np.ndarray  # (S, A, A, 4, 4)


def motions(spec: SoftSpec, q: np.ndarray, v: np.ndarray) -> list[Motion]:
    result: list[Motion] = []
    for module, q_at, v_at in zip(spec.modules, spec.q_slices(), spec.v_slices(), strict=True):
        near = np.zeros((1 + spec.nv, len(v) + 1, 4, 4))
        near[0, 0] = np.eye(4)
        if module.parent >= 0:
            near = result[module.parent].far
        near = near @ module.placement
        own = np.zeros((1 + module.nv, len(v) + 1, 0))
        if module.nq == module.nv:
            own = coordinates(q[q_at], v[:, v_at])
        poses, z, G = _deformed(module, own, q[q_at], v[:, v_at])
        P = times(near[:, :, None], embed(poses, v_at, spec.nv))
        X = times(P[:, :, :-1, None], embed(z, v_at, spec.nv)[:, :, None, :, None, None], np.multiply)
        result.append(Motion(P[:, :, -1], own, X, G))
    return result


def _deformed(module: Module, own: Jet, q: np.ndarray, v: np.ndarray) -> tuple[Jet, Jet, np.ndarray]:
    """Poses of the module's sections and, last, its far end; the factors z; the moments G."""
    one = np.zeros((*own.shape[:2], 1))
    one[0, 0] = 1
    if isinstance(module, Joint):
        if module.kind == "free":
            poses = _free(q, v)[:, :, None]
        else:
            axis = np.zeros((1, 6, 1))
            axis[0, {"revolute": slice(3, 6), "prismatic": slice(0, 3)}[module.kind], 0] = module.axis
            poses = frames(lambda s: np.repeat(axis, len(s), 0), np.zeros(6), 1.0, own, np.ones(1))
        return poses, one, np.zeros((0, 1, 1, 4, 4))
    points = module.points
    z = np.concatenate([one, own[:, :, points.moving]], axis=2)
    if isinstance(module, (Rod, VariableRadiusBody)):
        rest = np.array([0, 0, 1, 0, 0, 0])
        return frames(module.strain_basis, rest, module.length, own, np.r_[points.s, module.length]), z, points.moments
    poses = np.zeros((1, own.shape[1], 2, 4, 4))
    poses[0, 0] = np.eye(4)
    return poses, z, points.moments


# --- energies and forces --------------------------------------------------------------------------------


def _paired(motion: Motion, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """sum m a . b, power by power, for the points' vectors a (K, S, A, 4, 4) and b (..., K, S, A, 4, 4)."""
    weighted = np.einsum("ksaxi,sabij->ksbxj", a, motion.G)
    powers = min(len(a), b.shape[-5])
    rows = [
        sum(np.einsum("sbxj,...sbxj->...", weighted[i], b[..., k - i, :, :, :, :]) for i in range(k + 1))
        for k in range(powers)
    ]
    return np.stack(rows, axis=-1)


def _inertial(motion: Motion) -> np.ndarray:
    """(K - 2, n)."""
    X = motion.X[..., :3, :]
    velocity = rate(X)
    momentum = _paired(motion, velocity[0], X[1:])
    return rate(momentum)[:, : X.shape[1] - 2].T - _paired(motion, velocity[0], velocity[1:]).T[: X.shape[1] - 2]


def _weight(spec: SoftSpec, motion: Motion) -> np.ndarray:
    """-V and its partials, (1 + n, K)."""
    return np.einsum("x,dksaxi,sai->dk", spec.gravity, motion.X[..., :3, :], motion.G[:, :, 0, :, 3])


def _green_strain(module: VariableRadiusBody, q: Jet) -> tuple[Jet, np.ndarray]:
    """E = (F^T F - 1) / 2 at the material points, with their volumes.

    In section axes the columns of F are: along s, (0, 0, stretch) + curvature x c + dc/ds; radially c / r; around,
    (dc/dphi) / r; with c = r (1 + bulge / R) (cos phi, sin phi, 0).
    """
    s, s_weights, phi, phi_weights, bumps = module.surface()
    r, r_weights = gauss(3, 0.0, module.radius)  # the energy has r^5
    L = module.length
    half = np.where(phi < np.pi, phi, phi - np.pi)
    log_ds = 0.01 * L * (L - 2 * s) / (s * (L - s)) ** 2
    log_dphi = (np.pi - 2 * half) / (half * (np.pi - half)) ** 2
    bulge = np.einsum("sah,dkh->dksa", bumps / module.radius, q[:, :, 2:])
    scale = bulge.copy()
    scale[0, 0] += 1
    zero = np.zeros_like(scale[..., None]) + 0 * r
    radial, around = scale[..., None] + 0 * r, (bulge * log_dphi)[..., None] + 0 * r
    lift = (bulge * log_ds[:, None])[..., None] * r
    stretch = np.zeros_like(zero)
    stretch += q[:, :, 1, None, None, None] / L
    stretch[0, 0] += 1
    curve = times(radial, q[:, :, 0, None, None, None] / L, np.multiply) * (np.sin(phi)[:, None] * r)
    # Rows: radial, around, along z; columns: derivative by r, by phi (over r), by s.
    F = np.stack(
        [
            np.stack([radial, around, lift], axis=-1),
            np.stack([zero, radial, zero], axis=-1),
            np.stack([zero, zero, stretch + curve], axis=-1),
        ],
        axis=-2,
    )
    E = times(F.swapaxes(-1, -2), F) / 2
    E[0, 0] -= np.eye(3) / 2
    return E, s_weights[:, None, None] * phi_weights[:, None] * (r * r_weights)


def _stress(module: VariableRadiusBody, E: np.ndarray) -> np.ndarray:
    mu = module.young / (2 * (1 + module.poisson))
    lame = module.young * module.poisson / ((1 + module.poisson) * (1 - 2 * module.poisson))
    return 2 * mu * E + lame * np.trace(E, axis1=-2, axis2=-1)[..., None, None] * np.eye(3)


def _strain(module: Module, q: Jet) -> tuple[Jet, Callable]:
    """The module's strains (jets) and the map from strain to stress times weight: energy is 1/2 strain . stress."""
    if isinstance(module, Rod):
        s, weights = gauss(module.nodes, 0.0, module.length)
        stiffness = module.stiffness(s) * weights[:, None]
        return np.einsum("sij,dkj->dksi", module.strain_basis(s), q), lambda e: stiffness * e
    assert isinstance(module, VariableRadiusBody)
    if module.law == "svk":
        E, volume = _green_strain(module, q)
        return E, lambda e: _stress(module, e) * volume[..., None, None]
    _, s_weights, _, phi_weights, bumps = module.surface()
    area = np.pi * module.radius**2
    backbone = np.array([area * module.radius**2 / 4, area]) / module.length
    bulge = np.einsum("sah,dkh->dksa", bumps, q[:, :, 2:]).reshape(*q.shape[:2], -1)
    weights = module.young * np.r_[backbone, np.outer(s_weights, phi_weights).ravel()]
    return np.concatenate([q[:, :, :2], bulge], axis=2), lambda e: weights * e


def _dotted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a . b power by power: a (K, ...), b (n, K, ...) -> (K, n)."""
    powers = min(len(a), b.shape[1])
    flat, other = a.reshape(len(a), -1), b.reshape(*b.shape[:2], -1)
    return np.stack([sum(other[:, k - i] @ flat[i] for i in range(k + 1)) for k in range(powers)])


@dataclass
class Forces:
    """Generalized forces and their time derivatives, each (r + 1, nv)."""

    inertial: np.ndarray
    gravity: np.ndarray
    elastic: np.ndarray
    damping: np.ndarray

    @property
    def drive(self) -> np.ndarray:
        """The force that the motion needs besides gravity, stress and viscosity: paper D's AID."""
        return self.inertial - self.gravity - self.elastic - self.damping


def forces(spec: SoftSpec, q: np.ndarray, v: np.ndarray) -> Forces:
    """All forces along the motion with configuration q (nq,) and velocity stack v (r + 2, nv)."""
    rows = len(v) - 1
    inertial, gravity, elastic, damping = np.zeros((4, rows, spec.nv))
    for module, motion, at in zip(spec.modules, motions(spec, q, v), spec.v_slices(), strict=True):
        inertial += _inertial(motion)
        gravity += _weight(spec, motion)[1:, :rows].T
        if isinstance(module, (Rod, VariableRadiusBody)):
            strain, stress = _strain(module, motion.q[:, : rows + 1])
            elastic[:, at] = -_dotted(stress(strain[0]), strain[1:])[:rows]
            damping[:, at] = -module.viscosity * _dotted(stress(rate(strain)[0]), strain[1:])
    return Forces(*(derivatives(f) for f in (inertial, gravity, elastic, damping)))


def inverse_dynamics(spec: SoftSpec, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The drive and its first r derivatives, (r + 1, nv), for a velocity stack v (r + 2, nv)."""
    return forces(spec, q, v).drive


def bias(spec: SoftSpec, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Inertial force at zero acceleration, v (nv,): paper D's n."""
    return forces(spec, q, np.stack([v, 0 * v])).inertial[0]


def mass_matrix(spec: SoftSpec, q: np.ndarray) -> np.ndarray:
    M = np.zeros((spec.nv, spec.nv))
    for motion in motions(spec, q, np.zeros((0, spec.nv))):
        X = motion.X[1:, 0, ..., :3, :]
        M += np.einsum("dsaxi,sabij,esbxj->de", X, motion.G, X, optimize=True)
    return M


def energies(spec: SoftSpec, q: np.ndarray, v: np.ndarray) -> dict[str, float]:
    """Kinetic energy, gravity's potential and the stored elastic energy, for v (nv,)."""
    result = dict.fromkeys(("kinetic", "gravity", "elastic"), 0.0)
    for module, motion in zip(spec.modules, motions(spec, q, v[None]), strict=True):
        velocity = rate(motion.X[..., :3, :])[0]
        result["kinetic"] += float(_paired(motion, velocity, velocity)[0]) / 2
        result["gravity"] -= float(_weight(spec, motion)[0, 0])
        if isinstance(module, (Rod, VariableRadiusBody)):
            strain, stress = _strain(module, motion.q)
            result["elastic"] += float((strain[0, 0] * stress(strain[0, 0])).sum()) / 2
    return result


def far_poses(spec: SoftSpec, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """World pose of each module's far end and its time derivatives, (K + 1, modules, 4, 4), for K rows of v."""
    return derivatives(np.stack([m.far[0] for m in motions(spec, q, v)], axis=1))


def chamber_volumes(module: VariableRadiusBody, q: Jet) -> Jet:
    """Jet (1 + n, K, 2): int (stretch a^2/2 + curvature sin phi a^3/3) over s and half the circle, a = R' - wall."""
    _, s_weights, phi, phi_weights, bumps = module.surface()
    reach = np.einsum("sah,dkh->dksa", bumps, q[:, :, 2:])
    reach[0, 0] += module.radius - module.wall
    stretch, curvature = (q[:, :, j, None, None] / module.length for j in (1, 0))
    stretch = stretch.copy()
    stretch[0, 0] += 1
    square = times(reach, reach, np.multiply)
    cube = times(square, reach, np.multiply)
    volume = times(stretch, square, np.multiply) / 2 + times(curvature, cube, np.multiply) * np.sin(phi) / 3
    volume = volume * np.outer(s_weights, phi_weights)
    return np.stack([volume[..., phi < np.pi].sum((-1, -2)), volume[..., phi > np.pi].sum((-1, -2))], axis=-1)


def pressure_force(spec: SoftSpec, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Volumes of the chambers, two per body of variable radius in order, and the force of gauge pressures u in them."""
    volumes, force, chambers = [], np.zeros(spec.nv), iter(np.asarray(u).reshape(-1, 2))
    for module, q_at, v_at in zip(spec.modules, spec.q_slices(), spec.v_slices(), strict=True):
        if isinstance(module, VariableRadiusBody):
            volume = chamber_volumes(module, coordinates(q[q_at], np.zeros((0, 4))))[:, 0]
            volumes.extend(volume[0])
            force[v_at] = volume[1:] @ next(chambers)
    return np.array(volumes), force
