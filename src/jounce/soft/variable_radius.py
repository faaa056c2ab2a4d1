"""Paper D's Simulation 1: a body of constant curvature whose sections swell, driven by two pressure chambers.

Coordinates: the angle it bends about x, its elongation, and two bulges, in metres, one for each half of the section
(phi from 0 to pi, and from pi to 2 pi, from x towards y). A point (r, phi, s) of the body at rest is at the radius
r (1 + q_h b(s, phi) / R) in its section, with the bump

    b = exp(-0.01 L / (L^2/4 - (s - L/2)^2)) exp(-1 / (pi^2/4 - (phi' - pi/2)^2)),     phi' = phi or phi - pi

(the paper prints exp(-L / ...), which is e^-20 at most; the authors' toolbox has 0.01 L).

*Mass.* In a section, a point's position is linear in (1, q_2, q_3); the effect of its mass is fully described by the
moments W(s) of the seven numbers (1, x, y, and x and y of the two slopes). Along s these moments are projected onto
polynomials: W_j = int W(s) l_j(s) ds with l_j the Lagrange polynomials on Gauss points. So a few sections replace a
fine quadrature of the volume, exactly for motions polynomial in s; each is seven points of equal mass with the moments
W_j.

*Elasticity.* "beam" is quadratic, E/2 (I q_0^2 + A q_1^2) / L + E/2 int (b q_h)^2 ds dphi, as in the authors'
toolbox. "solid" is the three-dimensional Saint Venant-Kirchhoff law, int mu tr E^2 + lambda/2 (tr E)^2 dV with E =
(F^T F - 1) / 2, a polynomial of fourth degree in q. Damping is `damping` seconds times the same operator on the rates.

*Chambers.* The half sections up to r = R - wall, swollen: dV = (stretch + curvature r sin phi) r dr dphi ds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, flag, is_masked, one_of, quoted, whole
from jounce.parts.pose import exponential
from jounce.parts.sections import Mass, Sections, SoftBody, Station, Step
from jounce.recording.record import Expressions, Number, Tape
from jounce.soft.enough_nodes import enough_nodes, expect_auto
from jounce.soft.rod import _number, gauss

Array = NDArray[np.float64]
_SURFACE = (160, 80)  # points of the quadrature, along and around each half


class VariableRadius(SoftBody):
    """A soft cylinder along its local z that bends about x, stretches and swells.

    Args:
        length, radius: at rest, m.
        density: kg/m^3.
        young: Young's modulus, Pa.
        poisson: Poisson's ratio, for the law "solid".
        damping: ratio of viscosity to elasticity, s.
        wall: wall thickness of the chambers, m.
        law: "beam" (quadratic) or "solid" (three-dimensional).
        nodes: sections along the body, and (along, around each half) of the quadrature behind them; "auto": enough for
            `reach` and `order`.
        check: whether answers are checked, and warned of, where the body bends too far for its nodes.
        reach: (4,) how far each coordinate may go from zero, for ``nodes="auto"``.
        order: the highest time derivative of forces or accelerations wanted, for ``nodes="auto"``; 2 when left out.

    Its two inputs are the pressures in its chambers, Pa.

    >>> import jounce as jn
    >>> b = jn.Builder(gravity=(0, 0, 9.81))  # hanging
    >>> b.add("arm", parent="world", body=jn.soft.VariableRadius(0.2, 0.02, 1062.0, 1.06e6, damping=0.1, wall=0.004))
    >>> robot = b.build()
    >>> robot.nv, robot.input_names
    (4, ('arm pressure 1', 'arm pressure 2'))
    """

    n = 4
    coordinate_names = ("bend_x", "stretch", "bulge_1", "bulge_2")
    coordinate_units = ("rad", "m", "m", "m")

    def __init__(
        self,
        length: float,
        radius: float,
        density: float,
        young: float,
        poisson: float = 0.5,
        damping: float = 0.0,
        wall: float = 0.0,
        law: Literal["beam", "solid"] = "beam",
        nodes: int | tuple[int, int] | Literal["auto"] | None = None,
        check: bool = True,
        reach: ArrayLike | None = None,
        order: int | None = None,
    ) -> None:
        self.length = _number("length", length, positive=True)
        self.radius = _number("radius", radius, positive=True)
        self.density = _number("density", density, positive=True)
        self.young, self.poisson = _number("young", young), _number("poisson", poisson)
        self.damping, self.wall = _number("damping", damping), _number("wall", wall)
        if self.young < 0 or self.damping < 0:
            raise ValueError(f"young and damping are {young} and {damping}, expected non-negative numbers")
        if not 0 <= self.wall < self.radius:
            raise ValueError(f"wall is {wall}, expected 0 to less than the radius {radius}")
        self.law = one_of("law", law, "beam", "solid")
        if not -1 < self.poisson <= 0.5 or (law == "solid" and self.poisson == 0.5):
            raise ValueError(f"poisson is {poisson}, expected more than -1 and at most 0.5, for law 'solid' less")
        self.checked = flag("check", check)
        self._given_nodes = nodes
        self.sections_along = 14
        self.nodes = _SURFACE
        if isinstance(nodes, (list, tuple, np.ndarray)):
            if is_masked(nodes) or (isinstance(nodes, np.ndarray) and nodes.ndim != 1) or len(nodes) != 2:
                raise ValueError(
                    f"nodes is {quoted(nodes)}, expected a number of sections, or (along, around) of a quadrature"
                )
            self.nodes = whole("nodes[0]", nodes[0], 1, 1000), whole("nodes[1]", nodes[1], 1, 1000)
            self.sections_along = min(self.sections_along, self.nodes[0])
        elif nodes is not None and not (isinstance(nodes, str) and nodes == "auto"):
            self.sections_along = whole("nodes", nodes, 1, 100)
        self.scale = np.array([1.0, 0.05 * self.length, 0.1 * self.radius, 0.1 * self.radius])
        self.stiffness = np.zeros((4, 4)) if law == "solid" else self._beam()
        self.viscosity = self.damping * self.stiffness
        self.input_names = ("pressure 1", "pressure 2")
        if expect_auto(nodes, reach, order):
            self._given_nodes = self.sections_along = enough_nodes(self, reach, order)

    def __reduce__(self) -> tuple[Any, ...]:
        keys = ("length", "radius", "density", "young", "poisson", "damping", "wall", "law", "_given_nodes", "checked")
        return VariableRadius, tuple(getattr(self, key) for key in keys)

    def __repr__(self) -> str:
        return f"VariableRadius(length={self.length:g}, radius={self.radius:g})"

    @property
    def resolution(self) -> int:  # type: ignore[override]
        return self.sections_along

    def with_nodes(self, count: int) -> VariableRadius:
        if self.nodes != _SURFACE:
            return self.refined(count)
        own = self._copy()
        own.checked, own.sections_along = False, count
        return own

    def refined(self, resolution: int) -> VariableRadius:
        own = self._copy()
        own.checked = False
        if resolution == self.sections_along and self._given_nodes is None:
            return own
        own.sections_along = resolution
        own.nodes = 2 * max(self.nodes[0], _SURFACE[0] // 2, 2 * resolution), 2 * max(self.nodes[1], _SURFACE[1] // 2)
        if self.nodes == _SURFACE and self.law == "solid":
            own.__dict__["_energy_tensors"] = self._energy_tensors  # which have converged, and take long
        else:
            own.__dict__.pop("_energy_tensors", None)
        own.__dict__.pop("_surface", None)
        if self.law == "beam":
            own.stiffness = own._beam()
            own.viscosity = own.damping * own.stiffness
        return own

    def deformation(self) -> tuple[Array, Array]:
        most = np.zeros((6, 4))
        most[3, 0], most[2, 1] = 1.0, 1 / self.length
        most[0, 2] = most[1, 3] = 0.6 / self.radius  # bulges count like shear: half the radius is far
        return most, np.zeros(3)

    def proportions(self) -> bytes:
        return repr(
            (type(self).__name__, self.sections_along, self.nodes, round(self.radius / self.length, 9))
        ).encode()

    @cached_property
    def _surface(self) -> tuple[Array, Array, Array, Array, Array]:
        """Gauss points s (S,) and phi (A,), their weights, and the bumps (S, A, 2) of the two halves."""
        s, s_weights = gauss(self.nodes[0], self.length)
        half, weights = gauss(self.nodes[1], np.pi)
        along = np.exp(-0.01 * self.length / (s * (self.length - s)))
        around, zero = np.exp(-1 / (half * (np.pi - half))), np.zeros_like(half)
        bumps = along[:, None, None] * np.stack([np.r_[around, zero], np.r_[zero, around]], axis=-1)
        return s, s_weights, np.r_[half, half + np.pi], np.r_[weights, weights], bumps

    # Mass

    def _sections(self, marks: tuple[float, ...]) -> Sections:
        s, _ = gauss(self.sections_along, self.length)
        places: list[tuple[float, tuple[Station, ...]]] = [
            (float(x), tuple(_points(W))) for x, W in zip(s, self._moments(), strict=True)
        ]
        places += [(x, (Station(),)) for x in (*marks, self.length)]
        rest = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        linear = np.zeros((4, 6))
        linear[0, 3] = linear[1, 2] = 1 / self.length
        steps = tuple(Step(-1, x * rest, x * linear, None, stations) for x, stations in places)
        counts = np.cumsum([len(stations) for _, stations in places])
        return Sections(tuple(int(c) - 1 for c in counts[self.sections_along :]), steps)

    def backbone(self, q: Array, s: Array) -> Array:
        strain = np.zeros((*q.shape[:-1], 6))
        strain[..., 2], strain[..., 3] = 1 + q[..., 1] / self.length, q[..., 0] / self.length
        return exponential(s[:, None] * strain[..., None, :])

    def swollen(self, q: Array, s: Array, phi: Array) -> Array:
        """The radius (S, A) at s (S,) and at the angles phi (A,) from 0 to 2 pi, for q (4,)."""
        half = phi % np.pi
        with np.errstate(divide="ignore"):
            along = np.exp(-0.01 * self.length / np.maximum(s * (self.length - s), 0.0))
            around = np.exp(-1 / (half * (np.pi - half)))
        bulge = np.where(phi % (2 * np.pi) < np.pi, q[2], q[3])
        return np.asarray(self.radius + along[:, None] * around * bulge)

    def inside_out(self, q: Array) -> float | None:
        """Where along the body, in m, its length or its radius is zero or less; None if nowhere.

        0 for its length, which is stretched alike all along, and the middle for its radius, where bulges are largest.

        >>> body = VariableRadius(0.2, 0.02, 1062.0, 1e6)
        >>> body.inside_out([1.0, -0.1, 0.0, 0.0]), body.inside_out([0.0, 0.0, 0.01, -0.05])
        (None, 0.1)
        """
        _, stretch, *bulges = array_of("q", q, (4,))
        if self.length + stretch <= 0:
            return 0.0
        highest = np.exp(-0.04 / self.length - 4 / np.pi**2)  # of the bump: s = L / 2 and phi' = pi / 2
        return self.length / 2 if self.radius + highest * min(bulges) <= 0 else None

    def _moments(self) -> Array:
        """W_j (sections, 7, 7)."""
        s, s_weights, phi, phi_weights, bumps = self._surface
        r, r_weights = gauss(2, self.radius)
        out = np.stack([np.cos(phi), np.sin(phi)], axis=-1)
        # Moments of (1; x, y; slopes), in r^2 and r^4: all are products of out, r and bumps.
        e = np.zeros((len(s), len(phi), len(r), 7))
        e[..., 0] = 1
        e[..., 1:3] = out[:, None, :] * r[:, None]
        for h in range(2):
            e[..., 3 + 2 * h : 5 + 2 * h] = e[..., 1:3] * (bumps[:, :, h] / self.radius)[:, :, None, None]
        weight = self.density * phi_weights[:, None] * (r * r_weights)
        W = np.einsum("ar,sari,sarj->sij", weight, e, e, optimize=True)
        polynomials = _lagrange(gauss(self.sections_along, self.length)[0], s)
        moments: Array = np.einsum("js,s,sab->jab", polynomials, s_weights, W)
        return moments

    # Elasticity

    def _beam(self) -> Array:
        _, s_weights, _, phi_weights, bumps = self._surface
        area = np.pi * self.radius**2
        bulge = np.einsum("s,a,sah->h", s_weights, phi_weights, bumps**2)
        return self.young * np.diag([area * self.radius**2 / 4 / self.length, area / self.length, *bulge])

    def recorded_energy(self) -> Expressions | None:
        if self.law == "beam":
            return None
        tape = Tape(4)
        q = [Number(tape, i) for i in range(4)]
        first, second = self._energy_tensors
        strains = _monomials(q)
        return Expressions(tape, [_quadratic(strains, strains, first, second) * 0.5])

    def recorded_dissipation(self) -> Expressions | None:
        if self.law == "beam":
            return None
        tape = Tape(8)
        q, v = [Number(tape, i) for i in range(4)], [Number(tape, 4 + i) for i in range(4)]
        first, second = self._energy_tensors
        rates = _monomial_rates(q, v)
        return Expressions(tape, [_quadratic(rates, rates, first, second) * (0.5 * self.damping)])

    @cached_property
    def _energy_tensors(self) -> tuple[list[tuple[int, ...]], Array]:
        """E is a sum over monomials of q times constant tensors; twice the energy is their quadratic form, (14, 14)."""
        s, s_weights, phi, phi_weights, bumps = self._surface
        r, r_weights = gauss(3, self.radius)  # the energy has r^5
        L, shape = self.length, (len(s), len(phi), len(r))
        half = np.where(phi < np.pi, phi, phi - np.pi)
        slope_s = 0.01 * L * (L - 2 * s) / (s * (L - s)) ** 2
        slope_phi = (np.pi - 2 * half) / (half * (np.pi - half)) ** 2
        # F = F_0 + sum q_i F_i + q_0 q_h F_0h: rows radial, around, along z; columns by r, by phi, by s.
        F: dict[tuple[int, ...], Array] = {
            key: np.zeros((*shape, 3, 3)) for key in [(), (0,), (1,), (2,), (3,), (0, 2), (0, 3)]
        }
        for i in range(3):
            F[()][..., i, i] = 1
        lever = np.sin(phi)[:, None] * r / L
        F[(0,)][..., 2, 2] = lever
        F[(1,)][..., 2, 2] = 1 / L
        for h in range(2):
            b = (bumps[:, :, h] / self.radius)[:, :, None]
            F[(2 + h,)][..., 0, 0] = F[(2 + h,)][..., 1, 1] = b
            F[(2 + h,)][..., 0, 1] = b * slope_phi[:, None]
            F[(2 + h,)][..., 0, 2] = b * slope_s[:, None, None] * r
            F[(0, 2 + h)][..., 2, 2] = b * lever
        # E = (F^T F - 1) / 2, of fourth degree in total, by monomials.
        E: dict[tuple[int, ...], Array] = {}
        for (a, Fa), (b_, Fb) in product(F.items(), F.items()):
            key = tuple(sorted(a + b_))
            if key:
                E[key] = E.get(key, 0.0) + Fa.swapaxes(-1, -2) @ Fb / 2
        keys = sorted(E, key=lambda k: (len(k), k))
        mu = self.young / (2 * (1 + self.poisson))
        lame = self.young * self.poisson / ((1 + self.poisson) * (1 - 2 * self.poisson))
        volume = phi_weights[:, None] * (r * r_weights)
        table = np.zeros((len(keys), len(keys)))
        for k, ds in enumerate(s_weights):
            strains = np.array([E[key][k] for key in keys])  # (monomials, A, R, 3, 3)
            stress = 2 * mu * strains + lame * np.trace(strains, axis1=-2, axis2=-1)[..., None, None] * np.eye(3)
            weighted = (ds * volume[:, :, None, None] * stress).reshape(len(keys), -1)
            table += weighted @ strains.reshape(len(keys), -1).T
        return keys, (table + table.T) / 2

    # Inputs

    def recorded_inputs(self) -> Expressions:
        """The volumes of the two chambers."""
        _, s_weights, phi, phi_weights, bumps = self._surface
        tape = Tape(4)
        q = [Number(tape, i) for i in range(4)]
        volumes = []
        for h in range(2):
            side = (phi < np.pi) if h == 0 else (phi > np.pi)
            bump, weight = bumps[:, side, h], s_weights[:, None] * phi_weights[side]
            inner = self.radius - self.wall
            # int r dr and int r^2 sin phi dr up to inner + b q_h, as polynomials of q_h.
            flat = [np.sum(weight * bump**k) * c for k, c in enumerate((inner**2 / 2, inner, 0.5))]
            lever = np.sin(phi[side])
            cubes = (inner**3 / 3, inner**2, inner, 1 / 3)
            bent = [np.sum(weight * lever * bump**k) * c for k, c in enumerate(cubes)]
            x = q[2 + h]
            stretch = 1.0 + q[1] * (1 / self.length)
            volumes.append(_polynomial(flat, x) * stretch + _polynomial(bent, x) * (q[0] * (1 / self.length)))
        return Expressions(tape, volumes)


def _polynomial(coefficients: Sequence[float], x: Number) -> Any:
    total: Any = float(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = total * x + float(c)
    return total


def _points(W: Array) -> list[Station]:
    """Points with the moments W (7, 7) of (1; x, y; slopes of x and y by q_2 and by q_3).

    About their mean, W is a sum over directions u of l u u^T. If l > 0 for all of them, seven points of equal mass,
    spread evenly over the directions, have these moments; a direction with l < 0 takes a pair of negative masses.
    """
    mass, mean = W[0, 0], W[0, 1:] / W[0, 0]
    spread, axes = np.linalg.eigh(W[1:, 1:] - mass * np.outer(mean, mean))
    negative = spread < 0
    pair = 0.05 * mass  # mass of each of the two points subtracted
    heavy = mass + 2 * pair * np.count_nonzero(negative)
    # Seven points with mean 0 and sum x x^T = 7 times identity: rows of an orthogonal matrix less its constant column.
    simplex = np.linalg.qr(np.column_stack([np.ones(7), np.eye(7)[:, :6]]))[0][:, 1:] * np.sqrt(7)
    corners = mean + (simplex * np.sqrt(np.where(negative, 0.0, spread) / heavy)) @ axes.T
    stations = [_point(heavy / 7, c) for c in corners]
    for size, u in zip(spread[negative], axes.T[negative], strict=True):
        arm = np.sqrt(-size / (2 * pair)) * u
        stations += [_point(-pair, mean + arm), _point(-pair, mean - arm)]
    return stations


def _point(mass: float, e: Array) -> Station:
    slope = np.zeros((4, 3))
    slope[2, :2], slope[3, :2] = e[2:4], e[4:6]
    return Station(Mass(mass), np.array([e[0], e[1], 0.0]), slope)


def _lagrange(nodes: Array, s: Array) -> Array:
    """The Lagrange polynomials on the nodes, at s: (nodes, S)."""
    differences = nodes[:, None] - nodes
    np.fill_diagonal(differences, 1.0)
    values = np.empty((len(nodes), len(s)))
    for j in range(len(nodes)):
        others = np.delete(nodes, j)
        values[j] = np.prod((s - others[:, None]) / np.delete(differences[j], j)[:, None], axis=0)
    return values


def _monomials(q: Sequence[Number]) -> Any:
    """A function from keys to monomials of q."""

    def monomial(key: tuple[int, ...]) -> Any:
        result: Any = 1.0
        for i in key:
            result = result * q[i]
        return result

    return monomial


def _monomial_rates(q: Sequence[Number], v: Sequence[Number]) -> Any:
    """A function from keys to the time derivatives of the monomials of q."""

    def rate(key: tuple[int, ...]) -> Any:
        total: Any = 0.0
        for at, i in enumerate(key):
            term: Any = v[i]
            for other, j in enumerate(key):
                if other != at:
                    term = term * q[j]
            total = total + term
        return total

    return rate


def _quadratic(left: Any, right: Any, keys: Sequence[tuple[int, ...]], table: Array) -> Any:
    """sum over keys a, b of left(a) table[a, b] right(b)."""
    x, y = [left(k) for k in keys], [right(k) for k in keys]
    total: Any = 0.0
    for i in range(len(keys)):
        row: Any = 0.0
        for j in range(len(keys)):
            if table[i, j] != 0:
                row = row + float(table[i, j]) * y[j]
        total = total + x[i] * row
    return total
