"""The equations of motion in closed form: the stacked matrices of papers A and C, to be read and to test with.

Every joint is a chain of primitives. Each of them moves a *link* (massless, but for the last of a joint), and each link
has a block of six rows below. Link i has a parent p(i), a pose C_i in the world, and the twist X_i v_i relative to its
parent, where X_i (6 x n_i) is constant in its own frame: the papers' screw, if n_i = 1. Twists are [linear; angular]
here, the papers write the angular half first. A prime is d/dt; equations with a * read otherwise in print.

Paper C, body frames. With Ad(C_i^-1 C_p(i)) in row i and column p(i) of L, the twists are V = L V + X v, so

    V = J v,  J = A X,  A = (I - L)^-1                     (21)-(23)
    L' = -a L,  a = diag ad(X_i v_i)                       (25)
    A' = A L' A = -A a L A = A a - A a A                   (27)
    J' = A' X = -A a L J                                   (24)*  printed -A a J, but a X = 0 only where n_i = 1
    mass J^T M J,  Coriolis J^T C J                        (28)
    C = -M A a L - b^T M + M b,  b = diag ad(V_i)          (30)*  printed without L and without M b
    gravity J^T M U V0',  V0' = -g                         (32)*  printed +g
    U = (Ad(C_1)^-1 ... Ad(C_N)^-1),  U' = -b U            (33)*  also printed A (I 0 ... 0), which lacks Ad(C_1)^-1

M b adds no force, since b V = 0. It makes M b - b^T M skew, and so d(mass)/dt - 2 Coriolis as well: J^T C J is then
paper A's matrix (8) in these coordinates.

Paper A, world frame. G_p has the identity in row i and column j where link j is on the way from the world to link i, i
itself included: it is A with every Ad the identity.

    V = G_p S v,  S_i = Ad(C_i) X_i,  S_i' = ad(V_i) S_i   Table 2, Algorithm 1
    M_i = Ad(C_i)^-T M_i^b Ad(C_i)^-1,  M' = -M ad - ad^T M      (E1), (E2)

The base has S_1 = I and S_1' = 0 instead, as its v is its spatial twist; (7)* must have S' where ad S is printed. For
a `Free` joint on another body, "world" means that body's frame H, as everywhere in jounce: S_i = Ad(H) and
S_i' = ad(V_p(i)) S_i, of which the base is the case H = I, V_p = 0.

Soft bodies, which neither paper has. Each section of one is a link on the link that carries the near end. Its twist
there is X_i v_i as before, with v_i the rates of the shape, so L' = -a L and all that follows from it stay. But X_i
depends on the shape, and

    J' = A' X + A X' = -A a L J + A X'
    S_i' = ad(V_i) S_i + Ad(C_i) X_i',  S_i'' = ad(V_i') S_i + ad(V_i) S_i' + ad(V_i) Ad(C_i) X_i' + Ad(C_i) X_i''

The force of a motion is J^T (M V' - b^T M V) = mass v' + J^T (M J' - b^T M J) v. With M b J, which adds none, v has the
matrix

    Coriolis J^T (M J' + M b J - b^T M J) = J^T (C J + M A X'),  C as in (30)*

Since M b - b^T M is skew, and d(mass)/dt = J^T M J' + J'^T M J, so is d(mass)/dt - 2 Coriolis. In world axes the
Jacobian is Ad J = G_p S, and its rate Ad (J' + b J) = G_p S': it is paper A's matrix (8) again, with this S'. The poses
of the sections and X, as series in time, come from the core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import array_of, is_masked, quoted
from ._core import MAX_ORDER
from .compile import marks_on, resolve
from .joints import Follow, Primitive

if TYPE_CHECKING:
    from .model import Model

Array = NDArray[np.float64]  # or complex, or SymPy's


class ClosedForm:
    """The equations of motion at one state, without armature, damping, stiffness and external wrenches.

    Of soft bodies there are inertia and weight, but neither elasticity nor damping.

    Args:
        model: the robot.
        q: (nq,).
        v: (nv,) velocity, or a stack (K, nv) with its derivatives; `Free` rows in the frame "body".

    The numbers may be complex, to differentiate by complex steps, or SymPy expressions; for soft bodies they must be
    real, and v have at most MAX_ORDER + 2 rows.

    Attributes:
        links: (N,) for each link the body whose joint moves it, or whose section it is. The last link of a body has its
            frame.
        spatial: `SpatialForm`, paper A's, with the `Free` rows of v and of forces in the frame "world".
        body: `BodyForm`, paper C's, to any order, with these rows in the frame "body".

    >>> import jounce as jn
    >>> robot = jn.robots.aerial_manipulator()
    >>> q, v = robot.random_configuration(np.random.default_rng(0)), np.ones((4, robot.nv))
    >>> form = ClosedForm(robot, q, v)
    >>> form.spatial.G_p.shape, form.spatial.S.shape
    ((42, 42), (42, 12))
    >>> bool(np.allclose(form.body.torque(2), robot.inverse_dynamics(q, v)[2]))
    True
    """

    def __init__(self, model: Model, q: ArrayLike, v: ArrayLike) -> None:
        position = _numbers("q", q, f"({model.nq},)", model.nq)
        stack = np.atleast_2d(_numbers("v", v, f"({model.nv},) or (rows, {model.nv})", model.nv, rows=True))
        if len(stack) > MAX_ORDER + 2:
            raise ValueError(
                f"v has {len(stack)} rows, expected at most {MAX_ORDER + 2}: the highest order is {MAX_ORDER}"
            )
        _expect_real(model, q=position, v=stack)
        kind = np.result_type(position, stack)
        links = _links(model, position.astype(kind), stack.astype(kind))
        self.links = tuple(link.name for link in links)
        self.spatial = SpatialForm(links, _in_world(links, stack.astype(kind)), model.gravity)
        self.body = BodyForm(links, stack.astype(kind), model.gravity)


class SpatialForm:
    """Paper A, section 4: Table 2, Proposition 1 and Lemma 1, for N links.

    Attributes:
        v: (K, nv) velocity stack, its `Free` rows in the frame "world".
        G_p, G_c: (6N, 6N) sums over the links above and below.
        Ad, M: (6N, 6N) with Ad(C_i) and the spatial inertias, (E1), on the diagonal.
        S, dS: (6N, nv) screws of the joints and of the sections of soft bodies, and their derivative.
        V, ad: (6N,) twists; (6N, 6N) with ad(V_i) on the diagonal.
        G: (6N,) gravity, once for each link.
        mass_matrix: (nv, nv), (5).
        coriolis_matrix: (nv, nv) C with h = C v and d(mass_matrix)/dt - 2 C skew, (8).
        h, g, dg: (nv,) Coriolis and centrifugal forces, forces that carry the weight, (5), and g', (7)*.
    """

    def __init__(self, links: Sequence[_Link], v: Array, gravity: Array) -> None:
        self.v, v0 = v, _row(v, 0)
        self.G_p = G_p = _paths(_steps(links, [np.eye(6)] * len(links)))
        self.G_c = G_c = G_p.T
        self.Ad = _diagonal([_Ad(link.pose) for link in links])
        back = _diagonal([_Ad(_inverse(link.pose)) for link in links])
        self.M = M = back.T @ _diagonal([link.inertia for link in links]) @ back
        screws = [_Ad(link.pose if link.home is None else link.home) @ link.X for link in links]
        self.S = S = _stacked(screws, [link.columns for link in links], len(v0))
        self._carriers = [i if link.home is None else link.parent for i, link in enumerate(links)]
        self.V = G_p @ S @ v0
        self.ad = ad = _ad(self.V)
        self.dS = dS = self._ad_carriers(self.V) @ S
        orders = range(1, 1 + min(2, len(v))) if _are_soft(links) else ()
        self._changes = [self.Ad @ _screws(links, n, len(v0)) for n in orders]  # Ad X' and Ad X''
        if self._changes:
            self.dS = dS = dS + self._changes[0]
        self.G: Array = np.tile([*gravity, 0.0, 0.0, 0.0], len(links))
        self.mass_matrix = S.T @ G_c @ M @ G_p @ S
        self.coriolis_matrix = S.T @ G_c @ M @ G_p @ dS - S.T @ G_c @ ad.T @ M @ G_p @ S
        self.h = S.T @ G_c @ M @ G_p @ dS @ v0 - S.T @ G_c @ ad.T @ M @ G_p @ S @ v0
        self.g = -S.T @ G_c @ M @ self.G
        self.dg = -dS.T @ G_c @ M @ self.G + S.T @ G_c @ (M @ ad + ad.T @ M) @ self.G

    def dV(self) -> Array:
        """(6N,) V'."""
        return self.G_p @ (self.S @ _row(self.v, 1) + self.dS @ _row(self.v, 0))

    def dh(self) -> Array:
        """(nv,) d(mass_matrix)/dt v' + h', (7)*; P, P' and P'' are the momenta of appendix B, the last without v''."""
        M, ad, dV = self.M, self.ad, self.dV()
        ddS = self._ad_carriers(dV) @ self.S + self._ad_carriers(self.V) @ self.dS
        if self._changes:
            ddS = ddS + ad @ self._changes[0] + self._changes[1]
        ddV = self.G_p @ (2 * self.dS @ _row(self.v, 1) + ddS @ _row(self.v, 0))
        P = M @ self.V
        dP = M @ dV - ad.T @ P
        ddP = M @ (ddV - ad @ dV) - 2 * ad.T @ dP - (_ad(dV) + ad @ ad).T @ P
        return self.dS.T @ self.G_c @ dP + self.S.T @ self.G_c @ ddP

    def torque(self) -> Array:
        """(nv,), (4)."""
        return self.mass_matrix @ _row(self.v, 1) + self.h + self.g

    def torque_rate(self) -> Array:
        """(nv,), (6)."""
        return self.mass_matrix @ _row(self.v, 2) + self.dh() + self.dg

    def _ad_carriers(self, twists: Array) -> Array:
        """The ad of the link that each link's screws move with; the world, link -1, is at rest."""
        world = np.zeros((1, 6), dtype=twists.dtype)
        return _ad(np.vstack([twists.reshape(-1, 6), world])[self._carriers])


def _to_any_order(method: Callable[[BodyForm, int], Array]) -> Callable[..., Array]:
    """Remembers the derivatives that a method of `BodyForm` gave."""

    @wraps(method)
    def remembering(form: BodyForm, n: int = 0) -> Array:
        if n < 0:
            raise ValueError(f"n is {n}, expected an order that is not negative")
        key = method.__name__, n
        if key not in form._known:
            form._known[key] = method(form, n)
            form._known[key].flags.writeable = False
        return form._known[key]

    return remembering


class BodyForm:
    """Paper C, section III, for trees of N links. A method gives the n-th derivative of its term; n = 0 if left out.

    That takes n rows of v for A, J, U, screws, the mass matrix and gravity, n + 1 for a, b, C, V and the Coriolis
    matrix, and n + 2 for the torque; a ``ValueError`` says where they are missing.

    Attributes:
        X: (6N, nv) screws of the joints and of the sections of soft bodies, (23).
        M: (6N, 6N) with the inertias on the diagonal, (29).
        dV0: (6,) acceleration of the world that stands for gravity, (33)*.

    >>> import jounce as jn
    >>> robot = jn.robots.aerial_manipulator()
    >>> form = ClosedForm(robot, robot.neutral(), np.ones(robot.nv)).body
    >>> bool(np.allclose(form.mass_matrix(1), form.coriolis_matrix() + form.coriolis_matrix().T))
    True
    """

    def __init__(self, links: Sequence[_Link], v: Array, gravity: Array) -> None:
        self._v, self._links, self._soft = v, links, _are_soft(links)
        self.X = _screws(links, 0, v.shape[1])
        self.M = _diagonal([link.inertia for link in links])
        self.dV0 = np.array([*-gravity, 0.0, 0.0, 0.0])
        L = _steps(links, [_Ad(_inverse(link.relative)) for link in links])
        U = np.concatenate([np.zeros((0, 6)), *(_Ad(_inverse(link.pose)) for link in links)])
        self._known = {("L", 0): L, ("A", 0): _paths(L), ("U", 0): U, ("screws", 0): self.X}

    def v(self, n: int = 0) -> Array:
        """(nv,) row n of the velocity stack."""
        return _row(self._v, n)

    @_to_any_order
    def screws(self, n: int) -> Array:
        """(6N, nv) X; its derivatives are zero but for soft bodies."""
        if self._soft:
            self.v(n - 1)  # must be there
        return _screws(self._links, n, self._v.shape[1])

    @_to_any_order
    def a(self, n: int) -> Array:
        """(6N, 6N) with ad of the twists X_i v_i, (25), (40)*."""
        return _ad(_leibniz(n, self.screws, self.v) if self._soft else self.X @ self.v(n))

    @_to_any_order
    def L(self, n: int) -> Array:
        """(6N, 6N) with Ad(C_i^-1 C_p(i)) in row i and column p(i); L' = -a L."""
        return -_leibniz(n - 1, self.a, self.L)

    @_to_any_order
    def A(self, n: int) -> Array:
        """(6N, 6N), (23), (39)."""
        return _leibniz(n - 1, self.A, lambda k: self.a(k) - _leibniz(k, self.a, self.A))

    @_to_any_order
    def J(self, n: int) -> Array:
        """(6N, nv) Jacobian of the twists, (22), (41)."""
        return _leibniz(n, self.A, self.screws) if self._soft else self.A(n) @ self.X

    @_to_any_order
    def V(self, n: int) -> Array:
        """(6N,) twists, (21), (42)."""
        return _leibniz(n, self.J, self.v)

    @_to_any_order
    def b(self, n: int) -> Array:
        """(6N, 6N) with ad(V_i) on the diagonal, (31), (46)."""
        return _ad(self.V(n))

    @_to_any_order
    def U(self, n: int) -> Array:
        """(6N, 6) of Ad(C_i)^-1, (33)*; U' = -b U."""
        return -_leibniz(n - 1, self.b, self.U)

    @_to_any_order
    def C(self, n: int) -> Array:
        """(6N, 6N) Coriolis matrix of the links, (30)*, (45)*; M A X' of soft bodies is not in it."""
        AaL = _leibniz(n, self.A, lambda k: _leibniz(k, self.a, self.L))
        return -self.M @ AaL - self.b(n).T @ self.M + self.M @ self.b(n)

    @_to_any_order
    def mass_matrix(self, n: int) -> Array:
        """(nv, nv), (28), (43)."""
        return _leibniz(n, lambda k: self.J(k).T, lambda k: self.M @ self.J(k))

    @_to_any_order
    def coriolis_matrix(self, n: int) -> Array:
        """(nv, nv), (28), (44); d(mass_matrix)/dt - 2 coriolis_matrix is skew."""

        def links(k: int) -> Array:
            CJ = _leibniz(k, self.C, self.J)
            return CJ + self.M @ _leibniz(k, self.A, lambda i: self.screws(i + 1)) if self._soft else CJ

        return _leibniz(n, lambda k: self.J(k).T, links)

    @_to_any_order
    def gravity_force(self, n: int) -> Array:
        """(nv,) forces that carry the weight, (32)*, (47)*."""
        return _leibniz(n, lambda k: self.J(k).T, lambda k: self.M @ self.U(k) @ self.dV0)

    @_to_any_order
    def torque(self, n: int) -> Array:
        """(nv,), (34)."""
        inertial = _leibniz(n, self.mass_matrix, lambda k: self.v(k + 1))
        return inertial + _leibniz(n, self.coriolis_matrix, self.v) + self.gravity_force(n)

    def P(self, k: int, n: int) -> Array:
        """(nv, nv) that multiplies v^(k-1) in the n-th derivative of the torque, k = 1 to n + 2, (38)."""
        if not 1 <= k <= n + 2:
            raise ValueError(f"k is {k}, expected 1 to {n + 2}: the derivative has order n = {n}")
        if k == 1:
            return self.coriolis_matrix(n)
        if k == n + 2:
            return self.mass_matrix()
        return comb(n, k - 2) * self.mass_matrix(n - k + 2) + comb(n, k - 1) * self.coriolis_matrix(n - k + 1)


@dataclass
class _Link:
    """What a primitive moves, or a section of a soft body."""

    name: str
    parent: int  # -1 is the world
    relative: Array  # C_p^-1 C_i
    pose: Array  # C_i
    X: Array
    columns: slice  # of v
    home: Array | None  # the pose of what a Free joint calls "world"
    inertia: Array
    changes: Array | None = None  # (rows of v, 6, n) X', X'', ... of a section; None: X is constant


_Place = tuple[int, Array]  # a link, and a frame there; link -1 is the world


def _links(model: Model, q: Array, v: Array) -> list[_Link]:
    links: list[_Link] = []
    carriers: list[dict[float | None, _Place]] = []  # of each body, by where on it a child is
    leaders = resolve(model.bodies)
    sections = zip(*(np.moveaxis(x, -3, 0) for x in model._sections(q, v)), strict=True) if model._soft else iter(())
    for number, body in enumerate(model.bodies):
        index, frame = carriers[body.parent][body.at] if body.parent >= 0 else (-1, np.eye(4))
        relative = frame @ body.placement
        leader = leaders.get(body.joint_name) or Follow(body.joint_name)
        q_at = v_at = 0
        if body.joint.nv:
            q_at, v_at = model.position(leader.joint).start, model.coordinate(leader.joint).start
        for primitive in body.joint.primitives():
            above = links[index].pose if index >= 0 else np.eye(4)
            nq = {"spherical": 4, "free": 7}.get(primitive.kind, 1)
            own = q[q_at : q_at + nq]
            if body.joint.follows:
                own = leader.ratio * own + leader.offset
            motion, X = _motion(primitive, own)
            relative, X = relative @ motion, leader.ratio * X
            columns = slice(v_at, v_at + X.shape[1])
            home = above @ frame if primitive.kind == "free" else None
            links.append(_Link(body.name, index, relative, above @ relative, X, columns, home, np.zeros((6, 6))))
            q_at, v_at = q_at + nq, columns.stop
            index, relative = len(links) - 1, np.eye(4)
        if body.soft is not None:
            carriers.append(_add_sections(links, model, number, (index, relative), sections))
            continue
        carriers.append({None: (index, relative)})
        if index >= 0:
            m, d, back = body.inertia.mass, _cross(body.inertia.com), _Ad(_inverse(relative))
            own = _inertia(m, m * body.inertia.com, body.inertia.rotational - m * d @ d)
            links[index].inertia += back.T @ own @ back
    return links


def _add_sections(
    links: list[_Link], model: Model, number: int, near: _Place, motions: Iterator[tuple[Array, Array]]
) -> dict[float | None, _Place]:
    """A link for each section of a soft body, its far end last, and where on it children are.

    `motions` gives the pose of each in the near end, and X with its derivatives for all of v.
    """
    body, (index, frame) = model.bodies[number], near
    assert body.soft is not None
    marks, columns = marks_on(model.bodies, number), model._soft[body.name].v
    sections = body.soft.sections(marks)
    above = links[index].pose if index >= 0 else np.eye(4)
    own = [(k, mass, *next(motions)) for k, mass in enumerate(sections.masses())]
    places: dict[int, _Place] = {}
    for k, mass, pose, X in sorted(own, key=lambda section: section[0] == sections.marks[-1]):
        relative = frame @ pose
        inertia = _inertia(mass.mass, mass.first, np.trace(mass.second) * np.eye(3) - mass.second)
        places[k] = len(links), np.eye(4)
        X = X[..., columns]
        links.append(_Link(body.name, index, relative, above @ relative, X[0], columns, None, inertia, X[1:]))
    return {at: places[k] for at, k in zip((*marks, None), sections.marks, strict=True)}


def _motion(primitive: Primitive, q: Array) -> tuple[Array, Array]:
    """The pose (4, 4) that a primitive makes, and its screws X (6, n)."""
    pose = np.eye(4).astype(q.dtype)
    if primitive.kind in ("spherical", "free"):
        u, free = q[-4:], primitive.kind == "free"
        if u.dtype.kind == "f" and abs(np.linalg.norm(u) - 1) > 1e-6:
            raise ValueError(f"q has a quaternion of length {np.linalg.norm(u):.6f}, expected 1")
        turn = _cross(u[:3])
        pose[:3, :3] += 2 / (u @ u) * (u[3] * turn + turn @ turn)
        pose[:3, 3] = q[:3] if free else 0
        return pose, np.eye(6)[:, 0 if free else 3 :]
    slide, turns = primitive.slide * primitive.axis, (primitive.kind != "prismatic") * primitive.axis
    library: Any = np if isinstance(q[0], (int, float, complex)) else import_module("sympy")
    turn = _cross(turns)
    pose[:3, :3] += library.sin(q[0]) * turn + (1 - library.cos(q[0])) * turn @ turn
    pose[:3, 3] = slide * q[0]
    return pose, np.concatenate([slide, turns])[:, None]


def _inertia(mass: float, moment: Array, rotational: Array) -> Array:
    """(6, 6) of the mass, its first moment (3,) and the inertia about the origin (3, 3), paper C's (12)."""
    return np.block([[mass * np.eye(3), -_cross(moment)], [_cross(moment), rotational]])


def _are_soft(links: Sequence[_Link]) -> bool:
    """Whether some are sections of soft bodies."""
    return any(link.changes is not None for link in links)


def _screws(links: Sequence[_Link], n: int, width: int) -> Array:
    """(6N, width) the n-th derivative of X."""
    blocks = [link.X if n == 0 else 0 * link.X if link.changes is None else link.changes[n - 1] for link in links]
    return _stacked(blocks, [link.columns for link in links], width)


def _in_world(links: Sequence[_Link], v: Array) -> Array:
    """The stack with the rows of Free joints in the frame "world": Ad(H) v, where Ad(H)' = Ad(H) ad(v)."""
    result = v.copy()
    for link in links:
        if link.home is not None:
            twist = v[:, link.columns]
            ad = [_ad(row) for row in twist]
            Ad = [_Ad(_inverse(link.home) @ link.pose)]
            for n in range(len(v)):
                result[n, link.columns] = _leibniz(n, Ad.__getitem__, twist.__getitem__)
                Ad.append(_leibniz(n, Ad.__getitem__, ad.__getitem__))
    return result


def _leibniz(n: int, f: Callable[[int], Array], g: Callable[[int], Array]) -> Array:
    """The n-th derivative of the product f g, from those of f and g, paper C's (2)."""
    total: Array = f(n) @ g(0)
    for k in range(1, n + 1):
        total = total + comb(n, k) * (f(n - k) @ g(k))
    return total


def _stacked(blocks: Sequence[Array], columns: Sequence[slice], width: int) -> Array:
    """(6N, width), each block in the next six rows and in its columns; those that start before 0 are left out."""
    result = np.zeros((6 * len(blocks), width), dtype=np.result_type(float, *blocks))
    for i, (block, where) in enumerate(zip(blocks, columns, strict=True)):
        if where.start >= 0:
            result[6 * i : 6 * i + 6, where] = block
    return result


def _diagonal(blocks: Sequence[Array]) -> Array:
    return _stacked(blocks, [slice(6 * i, 6 * i + 6) for i in range(len(blocks))], 6 * len(blocks))


def _steps(links: Sequence[_Link], blocks: Sequence[Array]) -> Array:
    """(6N, 6N), each block in the columns of the parent."""
    return _stacked(blocks, [slice(6 * link.parent, 6 * link.parent + 6) for link in links], 6 * len(links))


def _paths(L: Array) -> Array:
    """(I - L)^-1, row by row from A = I + L A: the products of the steps along all paths."""
    A = np.eye(len(L)).astype(L.dtype)
    for i in range(0, len(L), 6):
        A[i : i + 6] += L[i : i + 6] @ A
    return A


def _ad(twists: Array) -> Array:
    """The matrices of the Lie bracket, ad(V) W = [V, W], on the diagonal."""
    turns = [(_cross(V[3:]), _cross(V[:3])) for V in twists.reshape(-1, 6)]
    return _diagonal([np.block([[w, v], [np.zeros((3, 3)), w]]) for w, v in turns])


def _Ad(pose: Array) -> Array:
    """(6, 6) that takes twists from a frame to where that frame has this pose."""
    R, x = pose[:3, :3], pose[:3, 3]
    return np.block([[R, _cross(x) @ R], [np.zeros((3, 3)), R]])


def _inverse(pose: Array) -> Array:
    result = np.eye(4).astype(pose.dtype)
    result[:3, :3] = pose[:3, :3].T
    result[:3, 3] = -pose[:3, :3].T @ pose[:3, 3]
    return result


def _cross(x: Array) -> Array:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def _row(v: Array, n: int) -> Array:
    if n >= len(v):
        raise ValueError(f"v has {len(v)} rows, expected {n + 1} or more: this needs its derivative of order {n}")
    row: Array = v[n]
    return row


def _numbers(name: str, value: ArrayLike, expected: str, size: int, rows: bool = False) -> Array:
    """Checked, if real; of complex numbers and symbols only the shape is, and that they can be added and multiplied."""
    if is_masked(value):
        raise ValueError(f"{name} is a masked array, expected one without a mask")
    try:
        given = np.asarray(value)
    except ValueError:  # ragged
        given = np.asarray(None)
    if given.shape[-1:] != (size,) or given.ndim > 1 + rows or len(given) == 0 < given.ndim - 1:
        raise ValueError(f"{name} has shape {given.shape}, expected {expected}")
    if given.dtype.kind == "O":
        try:
            1.0 + 1.0 * given
        except Exception:
            raise ValueError(f"{name} is {quoted(value)}, expected numbers or symbols") from None
    return given if given.dtype.kind in "cO" else array_of(name, given, given.shape)


def _expect_real(model: Model, **given: Array) -> None:
    """Where bodies are soft: their sections are computed by the core, which has no other numbers."""
    for name, x in given.items():
        if model._soft and x.dtype.kind != "f":
            kind = "complex numbers" if x.dtype.kind == "c" else "symbols or other objects"
            raise ValueError(f"{name} has {kind}, expected real numbers: {next(iter(model._soft))!r} is soft")
