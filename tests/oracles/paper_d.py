"""Paper D's recursion on the soft robots of the tests, in NumPy float64.

Source (paper D): P. Pustina, C. Della Santina, A. De Luca, "Unified Inverse Dynamics of Modular Serial Mechanical
Systems with Application to Soft Robotics". The recursion itself, Algorithm 1, is `jounce_lab.reproduce.paper_d`, which
takes the kinematics of each module as its input. Here are the kinematics of the modules of `soft_models`, and what the
paper adds to Algorithm 1: elastic and viscous forces, pressures, and the mass matrix. A joint is a body without mass, a
rigid body one without coordinates. They are checked against `soft_lagrange` and the stored reference.

    (53)  AID = GID less gravity, elastic and viscous forces
    (57)  Q^a = u . dV/dq, the chambers' volumes V, u > 0 for pressures above atmospheric
    VI    M e_i = GID(q, 0, e_i), n = GID(q, q', 0)

Elastic forces are minus the gradient of a stored energy that depends on the body's own q (weak form), and damping is
viscosity times the same operator on q'; the Saint Venant-Kirchhoff law is in `soft_lagrange` only.

*Rods.* Frames along s by the fourth-order Magnus expansion: on a step h with strains ξ1, ξ2 at its two Gauss points,
T <- T exp Ω, Ω = h/2 (ξ1 + ξ2) + √3 h²/12 [ξ1, ξ2]; one exponential from 0 if the strain is uniform. The body twist
of the frame and its rate are V <- Ad^-1 V + W and V' <- Ad^-1 V' - [W, Ad^-1 V] + W', where W = Σ y_k is the tangent
operator on Ω', with y_0 = Ω', y_k = -[Ω, y_{k-1}] / (k+1), and its rate W' = Σ y'_k has y'_0 = Ω'',
y'_k = -([Ω', y_{k-1}] + [Ω, y'_{k-1}]) / (k+1). (The authors' toolbox omits the [Ω', y] in W': n is off by 0.3 to
0.6 % at ten nodes, one step between each two.) All series converge everywhere; small angles are not a special case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate

import numpy as np

from jounce_lab.reproduce import paper_d as recursion
from jounce_lab.reproduce.paper_d import cross, tilde
from soft_models import Joint, Module, Rod, SoftSpec, VariableRadiusBody, gauss


def bracket(x: np.ndarray) -> np.ndarray:
    """ad of the twists x (..., 6), linear first."""
    result = np.zeros((*x.shape, 6), x.dtype)
    result[..., :3, :3] = result[..., 3:, 3:] = tilde(x[..., 3:])
    result[..., :3, 3:] = tilde(x[..., :3])
    return result


def adjoint_inverse(T: np.ndarray) -> np.ndarray:
    R, t = T[..., :3, :3], T[..., :3, 3]
    result = np.zeros((*T.shape[:-2], 6, 6), T.dtype)
    result[..., :3, :3] = result[..., 3:, 3:] = R.swapaxes(-1, -2)
    result[..., :3, 3:] = -R.swapaxes(-1, -2) @ tilde(t)
    return result


def exponential(x: np.ndarray) -> np.ndarray:
    """exp of twists (..., 6) as poses, by its series."""
    hat = np.zeros((*x.shape[:-1], 4, 4), x.dtype)
    hat[..., :3, :3], hat[..., :3, 3] = tilde(x[..., 3:]), x[..., :3]
    term = np.broadcast_to(np.eye(4, dtype=x.dtype), hat.shape)
    total, k = term.copy(), 0
    while np.abs(term).max() > 1e-18:
        k += 1
        term = term @ hat / k
        total += term
    return total


def tangent(x: np.ndarray, dx: np.ndarray, y: np.ndarray, dy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns Σ (-ad_x)^k y / (k+1)! and the rate of these, for x' = dx and y' = dy; y and dy (..., 6, n)."""
    ad, d_ad = bracket(x), bracket(dx)
    total, d_total, k = y.copy(), dy.copy(), 0
    size = np.abs(y).max(initial=0) + np.abs(dy).max(initial=0)
    while max(np.abs(y).max(initial=0), np.abs(dy).max(initial=0)) > 1e-18 * size:
        k += 1
        y, dy = -ad @ y / (k + 1), -(d_ad @ y + ad @ dy) / (k + 1)
        total, d_total = total + y, d_total + dy
    return total, d_total


# --- kinematics of the modules, seen from their near ends -----------------------------------------------


@dataclass
class Kinematics:
    """Far frame and material points of one module; `bias` is the part of an acceleration without q''."""

    T: np.ndarray  # (4, 4)
    J: np.ndarray  # (6, n) body twist of the far frame, per q'
    twist_bias: np.ndarray  # (6,) of its component-wise rate
    mass: np.ndarray  # (P,)
    x: np.ndarray  # (P, 3)
    x_q: np.ndarray  # (P, 3, n)
    x_bias: np.ndarray  # (P, 3)


def backbone(module: Rod | VariableRadiusBody, q: np.ndarray, qd: np.ndarray, s: np.ndarray) -> tuple:
    """Poses (S, 4, 4), body Jacobians (S, 6, n) and rates of the body twists without q'' (S, 6), at ascending s."""
    rest = np.array([0, 0, 1.0, 0, 0, 0])
    if module.uniform:
        basis = s[:, None, None] * module.strain_basis(s)
        Omega = s[:, None] * rest + basis @ q
        d_basis = np.zeros_like(basis)
    else:
        assert isinstance(module, Rod)
        ends = np.concatenate(
            [np.linspace(a, b, module.steps + 1)[1:] for a, b in zip(np.r_[0, s[:-1]], s, strict=True)]
        )
        starts = np.r_[0, ends[:-1]]
        h = (ends - starts)[:, None]
        middle, shift = (starts + ends) / 2, (ends - starts) * np.sqrt(3) / 6
        B1, B2 = module.strain_basis(middle - shift), module.strain_basis(middle + shift)
        xi1, xi2, dxi1, dxi2 = rest + B1 @ q, rest + B2 @ q, B1 @ qd, B2 @ qd
        scale = np.sqrt(3) / 12 * h[..., None] ** 2
        Omega = h / 2 * (xi1 + xi2) + (scale * bracket(xi1) @ xi2[..., None])[..., 0]
        # ∂Ω/∂q and its rate
        basis = h[..., None] / 2 * (B1 + B2) + scale * (bracket(xi1) @ B2 - bracket(xi2) @ B1)
        d_basis = scale * (bracket(dxi1) @ B2 - bracket(dxi2) @ B1)
    E = exponential(Omega)
    W_q, dW_q = tangent(Omega, basis @ qd, basis, d_basis)  # W = W_q q', and the rate of W without q'' is dW_q q'
    if module.uniform:
        return E, W_q, dW_q @ qd
    # Compose the substeps of all intervals at once, then the intervals one by one.
    steps = [a.reshape(len(s), module.steps, *a.shape[1:]) for a in (E, W_q, dW_q @ qd)]
    intervals = reduce(lambda a, b: composed(a, b, qd), ([a[:, k] for a in steps] for k in range(module.steps)))
    sequence = accumulate(zip(*intervals, strict=True), lambda a, b: composed(a, b, qd))
    return tuple(np.array(a) for a in zip(*sequence, strict=True))


def composed(first: Sequence, second: Sequence, qd: np.ndarray) -> tuple:
    """Pose, body Jacobian and rate of the body twist of T1 T2, from those of T1 and T2."""
    T1, V1_q, A1 = first
    T2, V2_q, A2 = second
    back = adjoint_inverse(T2)
    carried = back @ V1_q
    A = back @ A1[..., None] - bracket(V2_q @ qd) @ (carried @ qd)[..., None]
    return T1 @ T2, carried + V2_q, A[..., 0] + A2


def kinematics(module: Module, q: np.ndarray, qd: np.ndarray) -> Kinematics:
    n = module.nv
    none = (np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3, n)), np.zeros((0, 3)))
    if isinstance(module, Joint):
        T = np.eye(4, dtype=q.dtype)
        if module.kind == "free":
            u = q[3:] / np.linalg.norm(q[3:])
            T[:3, :3] += 2 * u[3] * tilde(u[:3]) + 2 * tilde(u[:3]) @ tilde(u[:3])
            T[:3, 3] = q[:3]
            return Kinematics(T, np.eye(6), np.zeros(6), *none)
        J = np.zeros((6, 1))
        if module.kind == "revolute":
            a = tilde(module.axis)
            T[:3, :3] += np.sin(q[0]) * a + (1 - np.cos(q[0])) * a @ a
            J[3:, 0] = module.axis
        else:
            T[:3, 3] = module.axis * q[0]
            J[:3, 0] = module.axis
        return Kinematics(T, J, np.zeros(6), *none)
    points = module.points
    if isinstance(module, (Rod, VariableRadiusBody)):
        T, J, A = backbone(module, q, qd, np.r_[points.s, module.length])
    else:
        T, J, A = np.stack([np.eye(4)] * 2), np.zeros((2, 6, 0)), np.zeros((2, 6))
    # x = t + R c with c = offset + slope q, and its derivatives, in the axes of the sections first.
    c, dc = points.offset + points.slope @ q, points.slope @ qd
    v, w = ((J[:-1, half] @ qd)[:, None] for half in (slice(3), slice(3, 6)))
    dv, dw = (A[:-1, None, half] for half in (slice(3), slice(3, 6)))
    c_q = J[:-1, None, :3] - tilde(c) @ J[:-1, None, 3:] + points.slope
    bias = dv + cross(w, v) + cross(dw, c) + cross(w, cross(w, c)) + 2 * cross(w, dc)
    R = T[:-1, None, :3, :3]
    x = T[:-1, None, :3, 3] + (R @ c[..., None])[..., 0]
    mass = points.mass.ravel()
    P = len(mass)
    x_q, x_bias = (R @ c_q).reshape(P, 3, n), (R @ bias[..., None]).reshape(P, 3)
    return Kinematics(T[-1], J[-1], A[-1], mass, x.reshape(P, 3), x_q, x_bias)


class Moving:
    """One module at q and q': its motion for any q''."""

    def __init__(self, module: Module, q: np.ndarray, qd: np.ndarray) -> None:
        kin = kinematics(module, q, qd)
        placed = module.placement @ kin.T
        self.R, self.t = placed[:3, :3], placed[:3, 3]
        self.v_q, self.w_q = kin.J[:3], kin.J[3:]
        self.qd, self.twist_bias, self.mass = qd, kin.twist_bias, kin.mass
        # p = turn^T (x - t): its partials, rate and second rate without q'', in the far frame.
        turn = kin.T[:3, :3]
        v, w, dv, dw = self.v_q @ qd, self.w_q @ qd, kin.twist_bias[:3], kin.twist_bias[3:]
        self.p = p = (kin.x - kin.T[:3, 3]) @ turn
        self.p_q = turn.T @ kin.x_q - self.v_q + tilde(p) @ self.w_q
        self.dp = self.p_q @ qd
        self.p_bias = kin.x_bias @ turn - dv - cross(w, v) - 2 * cross(w, self.dp) - cross(dw, p)
        self.p_bias -= cross(w, cross(w, p))

    def body(self, qdd: np.ndarray) -> recursion.Body:
        v, w = self.v_q @ self.qd, self.w_q @ self.qd
        dv, dw = self.v_q @ qdd + self.twist_bias[:3], self.w_q @ qdd + self.twist_bias[3:]
        relative = {"v_rel": self.R @ v, "w_rel": self.R @ w, "dv_rel": self.R @ (dv + cross(w, v))}
        points = {"p": self.p, "dp": self.dp, "ddp": self.p_q @ qdd + self.p_bias, "p_q": self.p_q}
        partial = {"v_q": self.v_q, "w_q": self.w_q}
        return recursion.Body(
            recursion.Motion(self.R, self.t, dw_rel=self.R @ dw, mass=self.mass, **relative, **partial, **points)
        )


# --- the recursions -------------------------------------------------------------------------------------


def moving(spec: SoftSpec, q: np.ndarray, qd: np.ndarray) -> list[Moving]:
    at = zip(spec.modules, spec.q_slices(), spec.v_slices(), strict=True)
    return [Moving(module, q[q_at], qd[v_at]) for module, q_at, v_at in at]


def bodies(spec: SoftSpec, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> list[recursion.Body]:
    return _accelerated(spec, moving(spec, q, qd), qdd)


def _accelerated(spec: SoftSpec, modules: list[Moving], qdd: np.ndarray) -> list[recursion.Body]:
    return [module.body(qdd[at]) for module, at in zip(modules, spec.v_slices(), strict=True)]


def _parents(spec: SoftSpec) -> list[int]:
    return [module.parent for module in spec.modules]


def generalized_inverse_dynamics(
    spec: SoftSpec, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, base_acceleration: np.ndarray | None = None
) -> np.ndarray:
    """GID: the generalized active force M q'' + n."""
    return recursion.generalized_inverse_dynamics(bodies(spec, q, qd, qdd), _parents(spec), base_acceleration)


def mass_matrix(spec: SoftSpec, q: np.ndarray) -> np.ndarray:
    modules = moving(spec, q, np.zeros(spec.nv))
    columns = (_accelerated(spec, modules, e) for e in np.eye(spec.nv))
    return np.stack([recursion.generalized_inverse_dynamics(c, _parents(spec)) for c in columns], axis=1)


def bias(spec: SoftSpec, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    return generalized_inverse_dynamics(spec, q, qd, np.zeros(spec.nv))


def gravity_force(spec: SoftSpec, q: np.ndarray) -> np.ndarray:
    still = np.zeros(spec.nv)
    return recursion.gravity_force(bodies(spec, q, still, still), spec.gravity, _parents(spec))


def stiffness(module: Module) -> np.ndarray:
    """K of the stored energy 1/2 q^T K q."""
    K = np.zeros((module.nv, module.nv))
    if isinstance(module, Rod):
        s, weights = gauss(module.nodes, 0.0, module.length)
        basis = module.strain_basis(s)
        K += np.einsum("s,sij,si,sik->jk", weights, basis, module.stiffness(s), basis)
    elif isinstance(module, VariableRadiusBody):
        if module.law != "quadratic":
            raise NotImplementedError("paper D's recursion has no stored energy but the quadratic ones")
        _, s_weights, _, phi_weights, bumps = module.surface()
        area = np.pi * module.radius**2
        K[0, 0], K[1, 1] = np.array([area * module.radius**2 / 4, area]) * module.young / module.length
        K[2:, 2:] = module.young * np.einsum("s,a,sai,saj->ij", s_weights, phi_weights, bumps, bumps)
    return K


def elastic_force(spec: SoftSpec, q: np.ndarray) -> np.ndarray:
    at = zip(spec.modules, spec.q_slices(), strict=True)
    return -np.concatenate([stiffness(m) @ (q[i] if m.nq == m.nv else np.zeros(m.nv)) for m, i in at])


def damping_force(spec: SoftSpec, qd: np.ndarray) -> np.ndarray:
    at = zip(spec.modules, spec.v_slices(), strict=True)
    return -np.concatenate([getattr(m, "viscosity", 0.0) * stiffness(m) @ qd[i] for m, i in at])


def actuation_inverse_dynamics(spec: SoftSpec, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """AID, (53): GID less gravity, elastic and viscous forces."""
    Q = generalized_inverse_dynamics(spec, q, qd, qdd)
    return Q - gravity_force(spec, q) - elastic_force(spec, q) - damping_force(spec, qd)


def inverse_dynamics(
    spec: SoftSpec, q: np.ndarray, v: np.ndarray, circle: float = 0.5, samples: int = 24
) -> np.ndarray:
    """AID and its first r time derivatives, (r + 1, nv), for a velocity stack v (r + 2, nv); no free joints.

    The recursion is analytic, so it also runs on complex numbers, and Cauchy's integral over a circle of complex times
    t gives its Taylor coefficients: Q_k = mean of Q(t) t^-k. (The paper has no derivatives.)
    """
    stack = np.vstack([q, v])
    time = circle * np.exp(2j * np.pi * np.arange(samples // 2 + 1) / samples)
    factorials = np.cumprod(np.r_[1.0, np.arange(1, len(stack))])

    def at(t: complex, order: int) -> np.ndarray:
        rows = stack[order:]
        return t ** np.arange(len(rows)) / factorials[: len(rows)] @ rows

    Q = np.array([actuation_inverse_dynamics(spec, at(t, 0), at(t, 1), at(t, 2)) for t in time])
    Q = np.vstack([Q, Q[-2:0:-1].conj()])  # Q(conj t) = conj Q(t)
    coefficients = np.fft.fft(Q, axis=0)[: len(v) - 1].real / samples
    return coefficients * (factorials[: len(v) - 1] / circle ** np.arange(len(v) - 1))[:, None]


def pressure_force(spec: SoftSpec, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """(57), with chambers up to a = R' - wall: dV = (stretch + curvature r sin φ) r dr dφ ds."""
    Q = np.zeros(spec.nv)
    pressures = iter(np.asarray(u, dtype=float).reshape(-1, 2))
    for module, q_at, v_at in zip(spec.modules, spec.q_slices(), spec.v_slices(), strict=True):
        if not isinstance(module, VariableRadiusBody):
            continue
        _, s_weights, phi, phi_weights, bumps = module.surface()
        bend, stretch, *bulges = q[q_at]
        a = module.radius - module.wall + bumps @ bulges
        u_phi = np.where(phi < np.pi, *next(pressures))
        weights = np.outer(s_weights, phi_weights) * u_phi
        L, sin = module.length, np.sin(phi)
        edge = weights * ((1 + stretch / L) * a + bend / L * sin * a**2)
        radial = np.einsum("sa,sah->h", edge, bumps)
        Q[v_at] = np.r_[(weights * sin * a**3 / 3).sum() / L, (weights * a**2 / 2).sum() / L, radial]
    return Q
