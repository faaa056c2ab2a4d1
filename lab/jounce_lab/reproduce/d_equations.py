"""Paper D's equations and algorithms on a chain of rigid and soft modules: claims of D-sim1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jounce.builder import Builder
from jounce.model import Model
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Revolute
from jounce.soft import Module, Rod, constant_curvature, stumpff

from . import paper_d
from . import paper_d_modules as modules
from .claims import Array, Claim, agrees, judged, off
from .printed import in_doubt, to_the_letter

_LENGTH, _RADIUS, _DENSITY, _NODES = 0.3, 0.012, 1062.0, 8
_GRAVITY = np.array([1.0, -2.0, -9.4])
JELLY = "src/classes/BodyTree.m of the authors' Jelly at b541c85"
_IN_DOUBT = {  # how it is read, and where the authors' code has it so
    "(17)": (
        "the relative angular acceleration is turned by R^T, too, as follows from the equation of the angular "
        "acceleration in the base frame, above (15).",
        f"So it is computed in line 1051 of {JELLY}.",
    ),
    "(18)": (
        "the first cross product is that of the angular acceleration, as in the equation of a_CoM above (15).",
        f"So it is computed in lines 1052 and 1053 of {JELLY}.",
    ),
    "(47)": (
        "the rate of the angular momentum is that of the vector, which adds w x h to that of its components. (48), "
        "which the paper derives from it, has that term and holds.",
        f"So it is computed in lines 1059 to 1062 of {JELLY}.",
    ),
}


@dataclass(frozen=True, eq=False)
class _Chain:
    """Joint, rigid body, rod, joint, rigid body, rod: for paper D's recursion and for jounce, with a state."""

    chain: list[modules.Module]
    robot: Model
    q: Array
    v: Array
    a: Array


def equations() -> list[Claim]:
    """Sections II to VI."""
    chain = _chain(young=6.66e5, damping=0.05)
    return [*_kinematics(chain), *_recursion(chain), *_forces(chain), *_forward(chain)]


def _kinematics(c: _Chain) -> list[Claim]:
    s, q = 0.7 * _LENGTH, 0.9
    x = s * q / _LENGTH
    literal = np.array([[np.cos(x), 0, 0], [np.sin(x), np.cos(x), 0], [0, 0, 1]])
    read = literal.copy()
    read[0, 1] = -np.sin(x)
    return [
        in_doubt(
            "The transformation of a planar body of constant curvature is a homogeneous one: R^T R",
            "D, Fig. 3(d)", literal.T @ literal, read.T @ read, np.eye(3), "its first row has -sin(s q / L) as well.",
        ),
        agrees(
            "Kinematics is an input: a planar rod of constant curvature written as a module of one's own has the "
            "inverse dynamics of the one that is built in, to order 2 (relative)",
            "D, abstract, Remark 1", _own_module(), 1e-11,
        ),
        agrees(
            "The integrals of r, r' and r'' over a body vanish (relative)",
            "D, (7), (25), (26)", paper_d.centred(modules.bodies(c.chain, c.q, c.v, c.a)), 1e-12,
        ),
    ]  # fmt: skip


def _recursion(c: _Chain) -> list[Claim]:
    ours = c.robot.generalized_inverse_dynamics(c.q, c.v, c.a)
    bodies = modules.bodies(c.chain, c.q, c.v, c.a)
    kane = paper_d.generalized_inverse_dynamics(bodies)
    rates = c.robot.mass_matrix_derivatives(c.q, c.v[None])
    lagrange = rates[0] @ c.a + rates[1] @ c.v - _gradient(lambda q: c.robot.kinetic_energy(q, c.v), c.q)
    rigid = _chain(soft=False)
    base = modules.generalized_inverse_dynamics(c.chain, c.q, 0 * c.v, 0 * c.a, base=-_GRAVITY)
    only = [modules.generalized_inverse_dynamics(c.chain, c.q, c.v, x) for x in (c.a, 2 * c.a, 0 * c.a)]
    literal = {
        equation: modules.generalized_inverse_dynamics(c.chain, c.q, c.v, c.a, literal=equation)
        for equation in paper_d.LITERAL
    }
    local = [np.concatenate(x) for x in zip(*((b.own_force(), b.inertial()[2]) for b in bodies), strict=True)]
    return [
        agrees(
            "The recursion of Theorem 1 and Algorithm 1 is the dynamics of a chain of rigid and soft modules, M q'' + "
            "n: against jounce's, which has another way (relative)",
            "D, (12)-(19), (36)-(48), Theorem 1", off(kane, ours), 1e-12,
            damage="(17), (18) and (19), damaged in the text at hand, as they follow from the equations before them; "
            "(38) for (49), which is missing there.",
        ),
        agrees(
            "Kane's equations are Lagrange's: Algorithm 1 against d/dt dK/dq' - dK/dq of the kinetic energy (relative)",
            "D, Proposition 2, (27)", off(kane, lagrange), 1e-9,
        ),
        *(
            in_doubt(f"{equation}, in Algorithm 1", f"D, {equation}", literal[equation], kane, ours, how, confirmed)
            for equation, (how, confirmed) in _IN_DOUBT.items()
        ),
        in_doubt(
            "(35), from which (36) to (38) follow", "D, (35)", literal["(35)"], kane, ours,
            "the integral of grad r' (df - p'' dm), as in (32) before it and in (36) to (38) after it; the integral of "
            "(35) has no measure there. The literal number takes its first term as a product with the total forces, "
            "which is nil, since the integral of r dm is.",
        ),
        judged(
            "(49), the inertial terms of a body's own coordinates, as derived here, against (38) (relative)", "D, (49)",
            "", off(*local), off(*local) < 1e-12,
            "docs/paper_d.md has it. All five of its terms are those of lines 1097 to 1102 of " + JELLY + ".",
            damage="It is missing in the text at hand.",
        ),
        agrees(
            "With rigid bodies alone, the inverse dynamics of rigid robots is recovered (relative)",
            "D, section IV", off(
                modules.generalized_inverse_dynamics(rigid.chain, rigid.q, rigid.v, rigid.a, base=-_GRAVITY),
                rigid.robot.inverse_dynamics(rigid.q, rigid.v, rigid.a),
            ), 1e-12,
        ),
        agrees(
            "The operator M_j is linear in its arguments: Q at 2 q'' is twice Q at q'' less that at 0 (relative)",
            "D, Property 1", off(only[1], 2 * only[0] - only[2]), 1e-12,
        ),
        agrees(
            "Gravity is a base accelerated by -g (relative)",
            "D, section V.A, (54), (55)", off(base, c.robot.gravity_force(c.q)), 1e-12,
        ),
    ]  # fmt: skip


def _forces(c: _Chain) -> list[Claim]:
    robot = c.robot
    parts = robot.generalized_inverse_dynamics(c.q, c.v, c.a) + robot.gravity_force(c.q)
    parts = parts + robot.elastic_force(c.q) + robot.damping_force(c.q, c.v)
    free = _chain(gravity=np.zeros(3))
    E, nu = 1.0, 0.3
    shear, first = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))  # mu and lambda
    strain = ((1 + 1e-6) ** 2 - 1) / 1e-6
    return [
        agrees(
            "The actuation forces are Q^a = -Q^g - Q^s - Q*: Algorithm 2 against its parts (relative)",
            "D, (52), (53)", off(robot.inverse_dynamics(c.q, c.v, c.a), parts), 1e-12,
        ),
        agrees(
            "Where no other forces act, AID and GID coincide (relative)",
            "D, section V", off(
                free.robot.inverse_dynamics(free.q, free.v, free.a),
                free.robot.generalized_inverse_dynamics(free.q, free.v, free.a),
            ), 1e-12,
        ),
        judged(
            "The Lamé constants: Young's modulus of a bar in tension that they give, over E, at nu = 0.3",
            "D, section V.B, Lamé constants", "1", shear * (3 * first + 2 * shear) / (first + shear) / E,
            lambda x: abs(x - 1) < 1e-9,
            "mu and lambda are exchanged: mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu)(1 - 2 nu)), infinite at nu "
            "= 0.5. For 2 nu, which may be damage of the text at hand, nu is read.",
        ),
        judged(
            "The strain tensor is that of Green and Lagrange: a bar stretched by 1e-6, strain over 1e-6",
            "D, section V.B, strain tensor", "1", f"{strain / 2:.6f} so, {strain:.6f} as it stands",
            abs(strain / 2 - 1) < 1e-3,
            damage="The text at hand is damaged in places, and may have lost a factor 1/2: read is half of J^T J - "
            "J*^T J*.",
        ),
    ]  # fmt: skip


def _forward(c: _Chain) -> list[Claim]:
    robot, n = c.robot, c.robot.nv
    M = robot.mass_matrix(c.q)
    none = np.zeros(n)
    by_aid = robot.inverse_dynamics(c.q, none, np.eye(n)).T
    by_gid = robot.generalized_inverse_dynamics(c.q, none, np.eye(n)).T
    kane = np.stack([modules.generalized_inverse_dynamics(c.chain, c.q, none, e) for e in np.eye(n)], axis=1)
    right = M @ robot.forward_dynamics(c.q, c.v, none)  # of (56), without input
    return [
        to_the_letter(
            "The columns of the mass matrix are AID(q, 0, e_i)", "D, section VI, below (56)", by_aid, M,
            "AID has gravity and elastic forces in it.",
        ),
        agrees(
            "The columns of the mass matrix come from inverse dynamics, by paper D's recursion and by jounce's "
            "(relative)",
            "D, section VI, below (56)", max(off(kane, M), off(by_gid, M)), 1e-12, change="GID in place of AID.",
        ),
        to_the_letter(
            "-n + Q = GID(q, q', 0), without input", "D, section VI, below (56)",
            robot.generalized_inverse_dynamics(c.q, c.v, none), right,
            "It is +n, and without gravity and elastic forces.",
        ),
        agrees(
            "-n + Q comes from inverse dynamics: the same (relative)", "D, section VI, below (56)",
            off(-robot.inverse_dynamics(c.q, c.v, none), right), 1e-9,
            change="Q^a(u) - AID(q, q', 0) in place of GID(q, q', 0).",
        ),
        judged(
            "The computation of M can be parallelized", "D, section VI", "", f"one batch of {n} accelerations",
            off(by_gid, M) < 1e-12, "Its columns do not depend on each other.",
        ),
    ]  # fmt: skip


def _chain(
    soft: bool = True, young: float = 0.0, damping: float = 0.0, gravity: Array = _GRAVITY, seed: int = 4
) -> _Chain:
    rng = np.random.default_rng(seed)
    b, chain, last = Builder(gravity=gravity), [], "world"
    columns = [np.eye(6)[4] / _LENGTH, -np.eye(6)[3] / _LENGTH, np.eye(6)[2] / _LENGTH]
    rods = Rod(
        _LENGTH, _RADIUS, _DENSITY, young, damping=damping, strain=constant_curvature(), section="line", nodes=_NODES
    )
    for i in range(2 if soft else 4):
        place, axis = _pose(rng), rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        points, mass = rng.uniform(-0.1, 0.1, (5, 3)), rng.uniform(0.02, 0.1, 5)
        chain.append(modules.hinge(place, axis, points, mass))
        b.add(f"link {i}", last, Revolute(axis), place, _of_points(points, mass))
        last = f"link {i}"
        if soft:
            place = _pose(rng)
            chain.append(modules.rod(place, _LENGTH, _DENSITY * np.pi * _RADIUS**2, columns, _NODES))
            b.add(f"rod {i}", last, placement=place, body=rods)
            last = f"rod {i}"
    robot = b.build()
    scale = np.concatenate([np.ones(1) if m.n == 1 else np.array([1.0, 1.0, 0.03]) for m in chain])
    q, v, a = scale * rng.uniform(-1.5, 1.5, (3, robot.nv))
    return _Chain(chain, robot, q, v, a)


def _pose(rng: np.random.Generator) -> Array:
    pose: Array = np.eye(4)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    pose[:3, :3], pose[:3, 3] = turn * np.linalg.det(turn), rng.uniform(-0.1, 0.1, 3)
    return pose


def _of_points(points: Array, mass: Array) -> Inertia:
    com = mass @ points / mass.sum()
    r = points - com
    return Inertia(float(mass.sum()), com, (mass @ (r**2).sum(axis=1)) * np.eye(3) - np.einsum("p,pi,pj", mass, r, r))


def _gradient(function: Callable[[Array], Any], q: Array) -> Array:
    """By an eighth-order central difference."""
    weights, h = (4 / 5, -1 / 5, 4 / 105, -1 / 280), 5e-3
    steps = h * np.eye(len(q))
    return np.asarray(
        sum(w * (function(q + k * steps) - function(q - k * steps)) for k, w in enumerate(weights, 1)) / h
    )


class _Planar(Module):
    """A planar rod of constant curvature, q the angle it turns by, its mass in slices at Gauss points."""

    n = 1

    def __init__(self) -> None:
        x, w = np.polynomial.legendre.leggauss(_NODES)
        self.s = (1 + x) / 2 * _LENGTH
        self.masses = _DENSITY * np.pi * _RADIUS**2 * _LENGTH * w / 2

    def _at(self, q: Any, s: float) -> tuple[Any, Any]:
        """x and z there: s times (cos - 1) / angle and sin / angle, which are smooth at 0."""
        angle = q[0] * (s / _LENGTH)
        return -s * angle * stumpff(2, angle * angle), s * stumpff(1, angle * angle)

    def pose(self, q: Any) -> Any:
        x, z = self._at(q, _LENGTH)
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[c, 0, -s, x], [0, 1, 0, 0], [s, 0, c, z], [0, 0, 0, 1]])

    def points(self, q: Any) -> Any:
        return np.array([[x, 0, z] for x, z in (self._at(q, s) for s in self.s)])


def _own_module() -> float:
    strain = constant_curvature(planar=True, elongation=False)
    built_in = Rod(_LENGTH, _RADIUS, _DENSITY, 0.0, strain=strain, section="line", nodes=_NODES)
    stacks = []
    for body in (_Planar(), built_in):
        b = Builder()
        for i, parent in enumerate(("world", "0", "1")):
            b.add(str(i), parent, body=body)
        robot = b.build()
        v = np.random.default_rng(1).normal(size=(4, 3))
        stacks.append(robot.inverse_dynamics(v[0], v))
    return max(off(a, b) for a, b in zip(*stacks, strict=True))
