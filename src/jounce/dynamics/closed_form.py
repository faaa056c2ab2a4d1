"""The equations of motion in closed form: the stacked matrices of papers A and C, for reading and for tests.

Every joint is a chain of primitives. Each primitive moves a *link* (massless, except the last of a joint), and each
link has a block of six rows below. Link i has a parent p(i), a pose C_i in the world, and the twist X_i v_i relative to
its parent, where X_i (6 x n_i) is constant in its own frame: the papers' screw, if n_i = 1. Twists are [linear;
angular] here; the papers write the angular half first. A prime is d/dt; equations with a * differ from the printed
ones.

Paper C, body frames. With Ad(C_i^-1 C_p(i)) in row i and column p(i) of L, the twists are V = L V + X v, so

    V = J v,  J = A X,  A = (I - L)^-1                     (21)-(23)
    L' = -a L,  a = diag ad(X_i v_i)                       (25)
    A' = A L' A = -A a L A = A a - A a A                   (27)
    J' = A' X = -A a L J                                   (24)*  printed -A a J, but a X = 0 only where n_i = 1
    mass J^T M J,  Coriolis J^T C J                        (28)
    C = -M A a L - b^T M + M b,  b = diag ad(V_i)          (30)*  printed -M A a - b^T M
    gravity J^T M U V0',  V0' = -g                         (32)*  printed +g
    U = (Ad(C_1)^-1 ... Ad(C_N)^-1),  U' = -b U            (33)*  also printed A (I 0 ... 0), which lacks Ad(C_1)^-1

M b adds no force, since b V = 0. It makes M b - b^T M skew, and so d(mass)/dt - 2 Coriolis as well: J^T C J is then
paper A's matrix (21) in these coordinates. The paper's own C gives the same force, as a X v = 0, but with it
d(mass)/dt - 2 Coriolis is not skew; `printed_C`, `printed_coriolis_matrix` and `printed_P` have it.

Paper A, world frame. G_p has the identity in row i and column j if link j is on the path from the world to link i, i
included: it is A with every Ad replaced by the identity.

    V = G_p S v,  S_i = Ad(C_i) X_i,  S_i' = ad(V_i) S_i   Table 2, Algorithm 1
    M_i = Ad(C_i)^-T M_i^b Ad(C_i)^-1,  M' = -M ad - ad^T M      (60), (61)
    tau_ext = -S^T G_c W,  W_i = Ad(C_i)^-T W_i^b,  W' = -ad^T W + Ad^-T W^b'      (13), (67), (68)

The base has S_1 = I and S_1' = 0 instead, as its v is its spatial twist; (16)* to (19)* must have S' where ad S is
printed. For a `Free` joint on another body, "world" means that body's frame H, as everywhere in jounce: S_i = Ad(H) and
S_i' = ad(V_p(i)) S_i, of which the base is the case H = I, V_p = 0.

Soft bodies, which neither paper covers. Each section is a link on the link that carries the near end. Its twist there
is X_i v_i as before, with v_i the rates of the shape, so L' = -a L and all that follows from it still hold. But X_i
depends on the shape, and

    J' = A' X + A X' = -A a L J + A X'
    S_i' = ad(V_i) S_i + Ad(C_i) X_i',  S_i'' = ad(V_i') S_i + ad(V_i) S_i' + ad(V_i) Ad(C_i) X_i' + Ad(C_i) X_i''

The force of a motion is J^T (M V' - b^T M V) = mass v' + J^T (M J' - b^T M J) v. With M b J, which adds no force, the
matrix of v is

    Coriolis J^T (M J' + M b J - b^T M J) = J^T (C J + M A X'),  C as in (30)*

Since M b - b^T M is skew, and d(mass)/dt = J^T M J' + J'^T M J, so is d(mass)/dt - 2 Coriolis. In world axes the
Jacobian is Ad J = G_p S, and its rate Ad (J' + b J) = G_p S': it is paper A's matrix (21) again, with this S'. The
poses of the sections and X, as series in time, come from the core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from importlib import import_module
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame, a_class, array_of, axes, counted, is_masked, quoted
from jounce._core import MAX_ORDER
from jounce.core_tables import BodyRecord, marks_on, resolve
from jounce.parts.custom_joint import CustomJoint
from jounce.parts.joints import Follow, Primitive

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]  # or complex, or SymPy's


class ClosedForm:
    """The equations of motion at one state, without armature, damping, friction and stiffness.

    Soft bodies contribute inertia and weight, but neither elasticity nor damping.

    Args:
        model: the robot.
        q: (nq,).
        v: (nv,) velocity, or a stack (K, nv) with its derivatives; `Free` rows in the frame "body".
        wrenches: {body or frame name: [force; moment]} applied from outside, each (6,), or a stack (rows, 6) of the
            wrench and its derivatives. N and N m.
        wrench_frame: the frame they are given in, "body", "world" or "mixed", as in `inverse_dynamics`.

    The numbers may be complex, for complex-step differentiation, or SymPy expressions; for soft bodies q and v must be
    real, and v have at most MAX_ORDER + 2 rows.

    Attributes:
        links: (N,) for each link the body whose joint moves it, or whose section it is. The last link of a body has the
            body's frame.
        spatial: `SpatialForm`, paper A's, with the `Free` rows of v and of forces in the frame "world".
        body: `BodyForm`, paper C's, to any order, with these rows in the frame "body".

    Twists are [linear; angular] and wrenches [force; moment] in both; the papers write the angular half first, as
    `angular_first` gives it.

    >>> import jounce as jn
    >>> robot = jn.robots.aerial_manipulator()
    >>> q, v = robot.random_configuration(np.random.default_rng(0)), np.ones((4, robot.nv))
    >>> form = ClosedForm(robot, q, v)
    >>> form.spatial.G_p.shape, form.spatial.S.shape
    ((42, 42), (42, 12))
    >>> bool(np.allclose(form.body.torque(2), robot.inverse_dynamics(q, v)[2]))
    True
    """

    def __init__(
        self,
        model: Model,
        q: ArrayLike,
        v: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
    ) -> None:
        position = _numbers("q", q, f"({model.nq},)", model.nq)
        stack = np.atleast_2d(_numbers("v", v, f"({model.nv},) or (rows, {model.nv})", model.nv, rows=True))
        if len(stack) > MAX_ORDER + 2:
            raise ValueError(
                f"v has {len(stack)} rows, expected at most {MAX_ORDER + 2}: the highest order is {MAX_ORDER}"
            )
        _expect_real(model, q=position, v=stack)
        kind = np.result_type(position, stack)
        links, places = _links_and_places(model, position.astype(kind), stack.astype(kind))
        applied = _applied(model, links, places, wrenches, wrench_frame)
        self.links = tuple(link.name for link in links)
        self.body = BodyForm(links, stack.astype(kind), model.gravity, applied)
        self.spatial = SpatialForm(links, _in_world(links, stack.astype(kind)), model.gravity, self.body.W)


class SpatialForm:
    """Paper A, section 4: Table 2, Proposition 1 and Lemma 1, for N links.

    Attributes:
        v: (K, nv) velocity stack, its `Free` rows in the frame "world".
        G_p, G_c: (6N, 6N) sums over the links above and below.
        Ad, M: (6N, 6N) with Ad(C_i) and the spatial inertias, (60), on the diagonal.
        S, dS: (6N, nv) screws of the joints and of the sections of soft bodies, and their derivative.
        V, ad: (6N,) twists; (6N, 6N) with ad(V_i) on the diagonal.
        G: (6N,) gravity, once for each link.
        W_app: (6N,) applied wrenches, (67).
        mass_matrix: (nv, nv), (11).
        coriolis_matrix: (nv, nv) C with h = C v and d(mass_matrix)/dt - 2 C skew, (21).
        h, g, dg: (nv,) Coriolis and centrifugal forces, (11), forces that carry the weight, (12), and g', (18)*.
        tau_ext: (nv,) by how much the applied wrenches reduce the torque, (13).
    """

    def __init__(self, links: Sequence[_Link], v: Array, gravity: Array, W: Callable[[int], Array]) -> None:
        self.v, v0 = v, _row("v", v, 0)
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
        self._back, self._W = back, W
        self.W_app = back.T @ W(0)
        self.tau_ext = -S.T @ G_c @ self.W_app

    def dV(self) -> Array:
        """(6N,) V'."""
        return self.G_p @ (self.S @ _row("v", self.v, 1) + self.dS @ _row("v", self.v, 0))

    def dtau_ext(self) -> Array:
        """(nv,) tau_ext', (19)*."""
        dW_app = -self.ad.T @ self.W_app + self._back.T @ self._W(1)
        return -self.dS.T @ self.G_c @ self.W_app - self.S.T @ self.G_c @ dW_app

    def dh(self) -> Array:
        """(nv,) d(mass_matrix)/dt v' + h', (16)*; P, P' and P'' are the momenta of appendix B, the last without v''."""
        M, ad, dV = self.M, self.ad, self.dV()
        ddS = self._ad_carriers(dV) @ self.S + self._ad_carriers(self.V) @ self.dS
        if self._changes:
            ddS = ddS + ad @ self._changes[0] + self._changes[1]
        ddV = self.G_p @ (2 * self.dS @ _row("v", self.v, 1) + ddS @ _row("v", self.v, 0))
        P = M @ self.V
        dP = M @ dV - ad.T @ P
        ddP = M @ (ddV - ad @ dV) - 2 * ad.T @ dP - (_ad(dV) + ad @ ad).T @ P
        return self.dS.T @ self.G_c @ dP + self.S.T @ self.G_c @ ddP

    def torque(self) -> Array:
        """(nv,), (10)."""
        return self.mass_matrix @ _row("v", self.v, 1) + self.h + self.g + self.tau_ext

    def torque_rate(self) -> Array:
        """(nv,), (14)."""
        return self.mass_matrix @ _row("v", self.v, 2) + self.dh() + self.dg + self.dtau_ext()

    def _ad_carriers(self, twists: Array) -> Array:
        """The ad of the link that each link's screws move with; the world, link -1, is at rest."""
        world = np.zeros((1, 6), dtype=twists.dtype)
        return _ad(np.vstack([twists.reshape(-1, 6), world])[self._carriers])


def _to_any_order(method: Callable[[BodyForm, int], Array]) -> Callable[..., Array]:
    """Caches the derivatives that a method of `BodyForm` returns."""

    @wraps(method)
    def remembering(form: BodyForm, n: int = 0) -> Array:
        if n < 0:
            raise ValueError(f"n is {n}, expected a non-negative order")
        key = method.__name__, n
        if key not in form._known:
            form._known[key] = method(form, n)
            form._known[key].flags.writeable = False
        return form._known[key]

    return remembering


class BodyForm:
    """Paper C, section III, for trees of N links. A method returns the n-th derivative of its term; n = 0 by default.

    This takes n rows of v for A, J, U, W, screws, the mass matrix, gravity and external torques, n + 1 for a, b, C, V
    and the Coriolis matrix, and n + 2 for the torque; and n + 1 rows of the wrenches. A ``ValueError`` is raised if
    some are missing.

    `C`, `coriolis_matrix` and `P` make d(mass_matrix)/dt - 2 coriolis_matrix skew. The paper's own, from (30) as
    printed, are `printed_C`, `printed_coriolis_matrix` and `printed_P`; the forces are the same.

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

    def __init__(self, links: Sequence[_Link], v: Array, gravity: Array, applied: Sequence[_Applied] = ()) -> None:
        self._v, self._links, self._soft, self._applied = v, links, _are_soft(links), applied
        self.X = _screws(links, 0, v.shape[1])
        self.M = _diagonal([link.inertia for link in links])
        self.dV0 = np.array([*-gravity, 0.0, 0.0, 0.0])
        L = _steps(links, [_Ad(_inverse(link.relative)) for link in links])
        U = np.concatenate([np.zeros((0, 6)), *(_Ad(_inverse(link.pose)) for link in links)])
        self._known = {("L", 0): L, ("A", 0): _paths(L), ("U", 0): U, ("screws", 0): self.X}

    def v(self, n: int = 0) -> Array:
        """(nv,) row n of the velocity stack."""
        return _row("v", self._v, n)

    @_to_any_order
    def screws(self, n: int) -> Array:
        """(6N, nv) X; its derivatives are zero except for soft bodies."""
        if self._soft:
            self.v(n - 1)  # must be there
        return _screws(self._links, n, self._v.shape[1])

    @_to_any_order
    def a(self, n: int) -> Array:
        """(6N, 6N) with ad of the twists X_i v_i, (25), (40)*."""
        return _ad(_product_rule(n, self.screws, self.v) if self._soft else self.X @ self.v(n))

    @_to_any_order
    def L(self, n: int) -> Array:
        """(6N, 6N) with Ad(C_i^-1 C_p(i)) in row i and column p(i); L' = -a L."""
        return -_product_rule(n - 1, self.a, self.L)

    @_to_any_order
    def A(self, n: int) -> Array:
        """(6N, 6N), (23), (39)."""
        return _product_rule(n - 1, self.A, lambda k: self.a(k) - _product_rule(k, self.a, self.A))

    @_to_any_order
    def J(self, n: int) -> Array:
        """(6N, nv) Jacobian of the twists, (22), (41)."""
        return _product_rule(n, self.A, self.screws) if self._soft else self.A(n) @ self.X

    @_to_any_order
    def V(self, n: int) -> Array:
        """(6N,) twists, (21), (42)."""
        return _product_rule(n, self.J, self.v)

    @_to_any_order
    def b(self, n: int) -> Array:
        """(6N, 6N) with ad(V_i) on the diagonal, (31), (46)."""
        return _ad(self.V(n))

    @_to_any_order
    def U(self, n: int) -> Array:
        """(6N, 6) of Ad(C_i)^-1, (33)*; U' = -b U."""
        return -_product_rule(n - 1, self.b, self.U)

    @_to_any_order
    def C(self, n: int) -> Array:
        """(6N, 6N) Coriolis matrix of the links, (30)*, (45)*; M A X' of soft bodies is not in it."""
        AaL = _product_rule(n, self.A, lambda k: _product_rule(k, self.a, self.L))
        return -self.M @ AaL - self.b(n).T @ self.M + self.M @ self.b(n)

    @_to_any_order
    def printed_C(self, n: int) -> Array:
        """(6N, 6N) paper C's own: -M A a - b^T M, (30), (45)."""
        return -self.M @ _product_rule(n, self.A, self.a) - self.b(n).T @ self.M

    @_to_any_order
    def W(self, n: int) -> Array:
        """(6N,) wrenches applied to the links, in their axes; paper A's W^b."""
        parts = [np.zeros(6) for _ in self._links]
        for each in self._applied:
            parts[each.link] = parts[each.link] + each.on_link(n, self.V)
        return np.concatenate([np.zeros(0), *parts])

    @_to_any_order
    def mass_matrix(self, n: int) -> Array:
        """(nv, nv), (28), (43)."""
        return _product_rule(n, lambda k: self.J(k).T, lambda k: self.M @ self.J(k))

    @_to_any_order
    def coriolis_matrix(self, n: int) -> Array:
        """(nv, nv), (28), (44); d(mass_matrix)/dt - 2 coriolis_matrix is skew."""
        return self._of_links(n, self.C)

    @_to_any_order
    def printed_coriolis_matrix(self, n: int) -> Array:
        """(nv, nv) paper C's own, (28), (44) with (30); d(mass_matrix)/dt - 2 printed_coriolis_matrix is not skew."""
        return self._of_links(n, self.printed_C)

    def _of_links(self, n: int, C: Callable[[int], Array]) -> Array:
        """The n-th derivative of J^T C J, and of J^T M A X' for soft bodies."""

        def links(k: int) -> Array:
            CJ = _product_rule(k, C, self.J)
            return CJ + self.M @ _product_rule(k, self.A, lambda i: self.screws(i + 1)) if self._soft else CJ

        return _product_rule(n, lambda k: self.J(k).T, links)

    @_to_any_order
    def gravity_force(self, n: int) -> Array:
        """(nv,) forces that carry the weight, (32)*, (47)*."""
        return _product_rule(n, lambda k: self.J(k).T, lambda k: self.M @ self.U(k) @ self.dV0)

    @_to_any_order
    def external_torque(self, n: int) -> Array:
        """(nv,) by how much the applied wrenches reduce the torque, -J^T W; paper A's tau_ext, paper C has none."""
        return -_product_rule(n, lambda k: self.J(k).T, self.W)

    @_to_any_order
    def torque(self, n: int) -> Array:
        """(nv,), (34), plus the external torque."""
        inertial = _product_rule(n, self.mass_matrix, lambda k: self.v(k + 1))
        motion = inertial + _product_rule(n, self.coriolis_matrix, self.v) + self.gravity_force(n)
        return motion + self.external_torque(n) if self._applied else motion

    def P(self, k: int, n: int) -> Array:
        """(nv, nv) that multiplies v^(k-1) in the n-th derivative of the torque, k = 1 to n + 2, (37), (38).

        With `coriolis_matrix`; `printed_P` is the paper's own.
        """
        return self._coefficient(k, n, self.coriolis_matrix)

    def printed_P(self, k: int, n: int) -> Array:
        """(nv, nv) paper C's own P_k: as `P`, with `printed_coriolis_matrix`."""
        return self._coefficient(k, n, self.printed_coriolis_matrix)

    def _coefficient(self, k: int, n: int, coriolis: Callable[[int], Array]) -> Array:
        if not 1 <= k <= n + 2:
            raise ValueError(f"k is {k}, expected 1 to {n + 2}: the derivative has order n = {n}")
        if k == 1:
            return coriolis(n)
        if k == n + 2:
            return self.mass_matrix()
        return comb(n, k - 2) * self.mass_matrix(n - k + 2) + comb(n, k - 1) * coriolis(n - k + 1)


@dataclass
class _Link:
    """A link: moved by a primitive, or a section of a soft body."""

    name: str
    parent: int  # -1 is the world
    relative: Array  # C_p^-1 C_i
    pose: Array  # C_i
    X: Array
    columns: slice  # of v
    home: Array | None  # the pose of the frame that a Free joint calls "world"
    inertia: Array
    changes: Array | None = None  # (rows of v, 6, n) X', X'', ... of a section; None: X is constant


_Place = tuple[int, Array]  # a link, and a frame on it; link -1 is the world


@dataclass
class _Applied:
    """A wrench on a link, in axes that may move relative to it.

    Its rows do work on the twist T shift V_i, in the axes they are given in. T is Ad(C_i) for "world", with
    T' = T ad(V_i), its rotation alone for "mixed", with T' = T diag([w_i], [w_i]), and constant for "body".
    """

    name: str
    link: int
    wrench_frame: Frame
    start: Array  # T
    shift: Array
    rows: Array

    def on_link(self, n: int, V: Callable[[int], Array]) -> Array:
        """(6,) n-th derivative of shift^T T^T rows, the wrench in the link's axes; V gives the twists of all links."""
        T = [self.start]

        def rate(k: int) -> Array:
            twist = V(k)[6 * self.link : 6 * self.link + 6].copy()
            if self.wrench_frame == "mixed":
                twist[:3] = 0
            return _ad(twist)

        for k in range(n):
            T.append(0 * self.start if self.wrench_frame == "body" else _product_rule(k, T.__getitem__, rate))
        rows = partial(_row, f"wrenches[{self.name!r}]", self.rows)
        return self.shift.T @ _product_rule(n, lambda k: T[k].T, rows)


def _applied(
    model: Model,
    links: Sequence[_Link],
    places: Mapping[str, _Place],
    wrenches: Mapping[str, ArrayLike] | None,
    wrench_frame: Frame,
) -> list[_Applied]:
    """The wrenches on links; those on fixed bodies have no effect."""
    axes("wrench_frame", wrench_frame)
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ValueError(f"wrenches must be a dict of name: array, got {a_class(wrenches)}")
    applied = []
    for name, given in (wrenches or {}).items():
        label = f"wrenches[{name!r}]"
        index, frame = places[model.frame_names[model.frame_index(name)]]
        rows = np.atleast_2d(_numbers(label, given, "(6,) or (rows, 6)", 6, rows=True))
        if index < 0:
            continue
        pose = links[index].pose
        if wrench_frame == "body":
            start, shift = np.eye(6), _Ad(_inverse(frame))
        elif wrench_frame == "world":
            start, shift = _Ad(pose), np.eye(6)
        else:
            none = np.zeros((3, 3))
            start = np.block([[pose[:3, :3], none], [none, pose[:3, :3]]])
            shift = _Ad(_inverse(np.block([[np.eye(3), frame[:3, 3:]], [frame[3:]]])))
        applied.append(_Applied(name, index, wrench_frame, start, shift, rows))
    return applied


def _links_and_places(model: Model, q: Array, v: Array) -> tuple[list[_Link], dict[str, _Place]]:
    """The links, and the places of the body frames on them."""
    links: list[_Link] = []
    places_of: list[dict[float | None, _Place]] = []  # for each body, by the position of a child on it
    leaders = resolve(model.bodies)
    sections: Iterator[Any] = iter(())
    if _sectioned(model):
        sections = zip(*(np.moveaxis(x, -3, 0) for x in model._sections(q, v)), strict=True)
    for number, body in enumerate(model.bodies):
        index, frame = places_of[body.parent][body.at] if body.parent >= 0 else (-1, np.eye(4))
        relative = frame @ body.placement
        leader = leaders.get(body.joint_name) or Follow(body.joint_name)
        q_at = v_at = 0
        if body.joint.nv:
            q_at, v_at = model.position(leader.joint).start, model.coordinate(leader.joint).start
        if body.joint.rotor is not None:
            links.append(_rotor(body, leader, (index, relative), links, q[q_at], v_at))
        if isinstance(body.joint, CustomJoint) and body.joint.section is not None:
            pose, X = next(sections)
            columns = slice(v_at, v_at + body.joint.nv)
            relative, X = relative @ pose, X[..., columns]
            above = links[index].pose if index >= 0 else np.eye(4)
            none = np.zeros((6, 6))
            links.append(_Link(body.name, index, relative, above @ relative, X[0], columns, None, none, X[1:]))
            index, relative = len(links) - 1, np.eye(4)
        for primitive in body.joint.primitives():
            above = links[index].pose if index >= 0 else np.eye(4)
            nq = {"spherical": 4, "free": 7}.get(primitive.kind, 1)
            own = q[q_at : q_at + nq]
            if body.joint.follows:
                own = leader.ratio * own + leader.offset
            motion, X = _motion(primitive, own)
            relative, X = relative @ primitive.start @ motion, leader.ratio * X
            columns = slice(v_at, v_at + X.shape[1])
            home = above @ frame if primitive.kind == "free" else None
            links.append(_Link(body.name, index, relative, above @ relative, X, columns, home, np.zeros((6, 6))))
            q_at, v_at = q_at + nq, columns.stop
            index, relative = len(links) - 1, primitive.end
        if body.soft is not None:
            places_of.append(_add_sections(links, model, number, (index, relative), sections))
            continue
        places_of.append({None: (index, relative)})
        if index >= 0:
            m, d, back = body.inertia.mass, _cross(body.inertia.com), _Ad(_inverse(relative))
            own = _inertia(m, m * body.inertia.com, body.inertia.rotational - m * d @ d)
            links[index].inertia += back.T @ own @ back
    return links, {body.name: carrier[None] for body, carrier in zip(model.bodies, places_of, strict=True)}


def _rotor(body: BodyRecord, leader: Follow, on: _Place, links: Sequence[_Link], q: Any, column: int) -> _Link:
    """The link for the rotor of a joint's motor."""
    rotor, (index, frame) = body.joint.rotor, on
    assert rotor is not None
    axis = body.joint.primitives()[0].axis if rotor.axis is None else np.asarray(rotor.axis)
    ratio = rotor.ratio * leader.ratio
    motion, X = _motion(Primitive("revolute", axis), np.array([ratio * q]))
    relative = frame @ motion
    above = links[index].pose if index >= 0 else np.eye(4)
    inertia = _inertia(0.0, np.zeros(3), rotor.inertia * np.outer(axis, axis))
    return _Link(body.name, index, relative, above @ relative, ratio * X, slice(column, column + 1), None, inertia)


def _add_sections(
    links: list[_Link], model: Model, number: int, near: _Place, motions: Iterator[tuple[Array, Array]]
) -> dict[float | None, _Place]:
    """A link for each section of a soft body, its far end last, and the places of its children.

    `motions` yields the pose of each in the near end, and X with its derivatives for all of v.
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
    """The pose (4, 4) of a primitive, and its screws X (6, n)."""
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


def _sectioned(model: Model) -> str:
    """Names a body whose motion can be evaluated for real numbers only; "" if there is none."""
    for b in model.bodies:
        if b.soft is not None:
            return f"{b.name!r} is soft"
        if isinstance(b.joint, CustomJoint) and b.joint.section is not None:
            return f"{b.name!r} hangs on a CustomJoint"
    return ""


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
                result[n, link.columns] = _product_rule(n, Ad.__getitem__, twist.__getitem__)
                Ad.append(_product_rule(n, Ad.__getitem__, ad.__getitem__))
    return result


def _product_rule(n: int, f: Callable[[int], Array], g: Callable[[int], Array]) -> Array:
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


def _row(name: str, rows: Array, n: int) -> Array:
    if n >= len(rows):
        raise ValueError(
            f"{name} has {counted(len(rows), 'row')}, expected {n + 1} or more: this needs its derivative of order {n}"
        )
    row: Array = rows[n]
    return row


def _numbers(name: str, value: ArrayLike, expected: str, size: int, rows: bool = False) -> Array:
    """Checked fully if real; for complex numbers and symbols, only the shape and that they add and multiply."""
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
    """For soft bodies: their sections are computed by the core, which has real numbers only."""
    for name, x in given.items():
        if _sectioned(model) and x.dtype.kind != "f":
            kind = "complex numbers" if x.dtype.kind == "c" else "symbols or other objects"
            raise ValueError(f"{name} has {kind}, expected real numbers: {_sectioned(model)}")
