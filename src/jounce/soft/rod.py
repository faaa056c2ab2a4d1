"""Rods: slender bodies that bend, twist, stretch and shear, with a strain field of a few coordinates.

The frame at s along a rod follows dT/ds = T [xi(s)], xi(s) = rest + Phi(s) q (paper D, section VI; twists [linear;
angular], the rod along its local z). For uniform strain, T(s) = exp(s xi) exactly. Otherwise the frame advances by
steps exp(Omega), with Omega the sixth-order Magnus expansion on three Gauss points (see soft_body.hpp). The mass is
lumped at Gauss points along the rod: on the backbone (section "line") or in disks with rotary inertia ("disk").
Elasticity is that of a beam, with the section's stiffness diag(GA, GA, EA, EI, EI, GJ); damping is `damping` seconds
times the same (Kelvin-Voigt).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, counted, flag, frozen, one_of, quoted, whole
from jounce.parts.pose import exponential
from jounce.parts.sections import Mass, Sections, SoftBody, Station, Step
from jounce.recording.record import Expressions
from jounce.soft.actuators import Actuator, displacements_of
from jounce.soft.enough_nodes import enough_nodes, expect_auto
from jounce.soft.inside_out import Tangent
from jounce.soft.magnus import Steps, magnus
from jounce.soft.strain import Strain, constant_curvature, given
from jounce.units import labels

Array = NDArray[np.float64]

STRAIGHT = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
_FEWEST = 12  # Gauss points for the stiffness, and that nonuniform strains get
_MOST_FINER = 2.0  # times the nodes of routes
_PLACES = 129  # along a rod, at which its basis is looked at
_KEPT = 4  # sets of places along a rod, whose steps are not found again
_SMALLEST = 1e-30  # m, kg/m^3, Pa; below it, and above its inverse, products leave double precision


class Rod(SoftBody):
    """A rod along its local z, from its near end at the joint frame to its far end, where children attach.

    Args:
        length: at rest, m.
        radius: m; a number, (base, tip), or a function of s.
        density: kg/m^3.
        young: Young's modulus, Pa.
        poisson: Poisson's ratio.
        damping: ratio of viscosity to elasticity, s (Kelvin-Voigt).
        strain: how it deforms: `constant_curvature`, `constant_strain`, `polynomial` or `gaussian`, or an array (6,
            n), or a function of s that returns one, both used unscaled.
        rest: (6,) strain of the stress-free rod, [linear; angular]; straight along z when left out.
        section: "disk" for rigid disks with rotary inertia, "line" for mass on the backbone only.
        nodes: Gauss points along the rod; enough for an accuracy of 1e-8 in usual shapes when left out, enough for
            `reach` and `order` if "auto".
        actuators: its drives, `Tendon` and `Chamber`, one input each.
        check: whether answers are checked, and warned of, where the rod bends too far for its nodes.
        reach: (n,) how far each coordinate may go from zero, for ``nodes="auto"``.
        order: the highest time derivative of forces or accelerations wanted, for ``nodes="auto"``; 2 when left out.

    >>> import jounce as jn
    >>> b = jn.Builder()
    >>> rod = jn.soft.Rod(length=0.3, radius=(0.02, 0.01), density=1000.0, young=1e5, damping=0.1)
    >>> b.add("tentacle", parent="world", body=rod)
    >>> robot = b.build()
    >>> robot.nv  # two bends and an elongation
    3
    >>> robot.inverse_dynamics(np.zeros(3), np.zeros(3), np.zeros(3)).round(3)  # it is compressed by its weight
    array([0.   , 0.   , 0.848])
    """

    shares_inputs = True

    def __init__(
        self,
        length: float,
        radius: float | tuple[float, float] | Callable[[float], float],
        density: float,
        young: float,
        poisson: float = 0.5,
        damping: float = 0.0,
        strain: Strain | ArrayLike | Callable[[float], ArrayLike] | None = None,
        rest: ArrayLike = STRAIGHT,
        section: Literal["disk", "line"] = "disk",
        nodes: int | Literal["auto"] | None = None,
        actuators: Sequence[Actuator] = (),
        check: bool = True,
        reach: ArrayLike | None = None,
        order: int | None = None,
    ) -> None:
        self.length = _number("length", length, positive=True)
        self.density = _number("density", density, positive=True)
        self.young = _number("young", young)
        self.poisson = _number("poisson", poisson)
        self.damping = _number("damping", damping)
        if self.young < 0 or self.damping < 0:
            raise ValueError(f"young and damping are {young} and {damping}, expected non-negative numbers")
        if not -1 < self.poisson <= 0.5:
            raise ValueError(f"poisson is {poisson}, expected more than -1 and at most 0.5")
        self.section = one_of("section", section, "disk", "line")
        count = None if nodes is None or isinstance(nodes, str) else whole("nodes", nodes, 1, 200)
        self.rest = frozen(array_of("rest", rest, (6,)))
        if not self.rest[2] > 0:
            raise ValueError(
                f"rest is {quoted(self.rest.tolist())}, expected a tangent along z: [linear; angular], such as "
                "[0, 0, 1, 0, 5, 0] for a rod that is curved at rest"
            )
        self._given_radius: Any = radius
        self._radius = _radius(radius, self.length)
        self._given_strain: Any = strain
        self._strains: dict[float, Array] = {}
        self.strain = given(constant_curvature() if strain is None else strain)
        self.n, self.exact = self.strain.n, self.strain.uniform
        self.coordinate_names, self.coordinate_units = labels("strain.", self.strain.names, self.strain.units, self.n)
        if not isinstance(actuators, (list, tuple)) or not all(isinstance(a, Actuator) for a in actuators):
            raise ValueError(
                f"actuators is {quoted(actuators)}, expected a list of jounce.soft.Tendon and jounce.soft.Chamber"
            )
        self.actuators = tuple(actuators)
        self.input_names = tuple(a.name for a in self.actuators)
        self.checked = flag("check", check)
        self._longest = self.substep = _substep(self)
        self.nodes = count or self._usual_nodes
        if count is not None:
            self.substep = self._substep_with(count)
        self._displacements: Expressions | None = None
        self._finer = self._finer_with(self.nodes)
        self.recorded_inputs()  # checks them
        self.stiffness = self._stiffness() if count is None else self._converged_stiffness()
        self.viscosity = self.damping * self.stiffness
        self.scale = self._scale()
        if expect_auto(nodes, reach, order):
            chosen = self.refined(enough_nodes(self, reach, order))
            self.nodes, self.substep = chosen.nodes, chosen.substep
            self._displacements, self._finer = None, self._finer_with(self.nodes)

    def radius(self, s: float) -> float:
        """At s, m."""
        return self._radius(float(s))

    def strain_at(self, s: float) -> Array:
        """The basis Phi(s), (6, n)."""
        key = float(s)
        if key not in self._strains:  # the search for the steps evaluates the same s repeatedly
            self._strains[key] = frozen(self.strain.at(key, self.length))
        return self._strains[key]

    def _sections(self, marks: tuple[float, ...]) -> Sections:
        s, weights = gauss(self.nodes, self.length)
        masses = [self._mass(x, w) for x, w in zip(s, weights, strict=True)]
        places = [(x, 0, i) for i, x in enumerate(s)] + [(x, 1, i) for i, x in enumerate((*marks, self.length))]
        steps: list[Step] = []
        found = [0] * (len(marks) + 1)
        station, end = 0, 0.0
        for x, kind, i in sorted(places):
            *between, last = self._steps_to(x, end, len(steps))
            steps += [*between, replace(last, stations=(Station(masses[i] if kind == 0 else Mass()),))]
            if kind == 1:
                found[i] = station
            station, end = station + 1, x
        return Sections(tuple(found), tuple(steps))

    def backbone(self, q: Array, s: Array) -> Array:
        if self.strain.uniform:
            return exponential(s[:, None] * (self.rest + q @ self.strain_at(0.0).T)[..., None, :])
        return self._steps_through(s).poses(q)

    def _steps_through(self, s: Array) -> Steps:
        """From the near end through places in any order; found once for a few sets of places."""
        known: dict[tuple[float, bytes], Steps] = self.__dict__.setdefault("_known_steps", {})
        key = self.substep, s.tobytes()
        if key not in known:
            order, ends = np.argsort(s), np.sort(s)
            legs = [self._leg(start, end) for start, end in zip((0.0, *ends[:-1]), ends, strict=True)]
            while len(known) >= _KEPT:
                known.pop(next(iter(known)), None)
            known[key] = Steps(legs, np.argsort(order))
        return known[key]

    def inside_out(self, q: Array) -> float | None:
        """Where along the rod, in m, its tangent points against the one at rest, or vanishes; None if nowhere.

        Where it does so most, also between nodes and in narrow bells; 0 if it is the same all along.

        >>> rod = Rod(length=0.3, radius=0.01, density=1000.0, young=1e5)
        >>> rod.inside_out([0.0, 0.0, -0.2]), rod.inside_out([0.0, 0.0, -0.4])  # shorter by more than its length
        (None, 0.0)
        """
        return self._tangent.turned(array_of("q", q, (self.n,)))

    @cached_property
    def _tangent(self) -> Tangent:
        def basis(s: float) -> Array:
            return self.strain.at(s, self.length)[:3]

        return Tangent(self.rest[:3], basis, self.length, gauss(self.nodes, self.length)[0], self.strain.uniform)

    def _steps_to(self, s: float, start: float, count: int) -> list[Step]:
        """The steps to s from the end of the `count` steps before, at `start`."""
        if self.strain.uniform:
            return [Step(-1, s * self.rest, s * self.strain_at(s).T, None)]
        constant, linear, changes = self._leg(start, s)
        return [Step(count + k - 1, constant, linear[k], changes[k]) for k in range(len(linear))]

    def _leg(self, start: float, end: float) -> tuple[Array, Array, Array]:
        """`magnus` in steps that are short enough."""
        return magnus(self.strain_at, self.rest, start, end, max(1, int(np.ceil((end - start) / self.substep - 1e-9))))

    def _mass(self, s: float, ds: float) -> Mass:
        radius = self.radius(s)
        mass = self.density * np.pi * radius**2 * ds
        spread = radius**2 / 4 if self.section == "disk" else 0.0
        return Mass(mass, np.zeros(3), mass * np.diag([spread, spread, 0.0]))

    def _converged_stiffness(self) -> Array:
        if self.strain.uniform and not callable(self._given_radius):
            return self._stiffness(_FEWEST)  # exact, and the same in every digit
        count = max(self.nodes, _FEWEST)
        K = self._stiffness(count)
        while count < 200 and np.abs(K - (finer := self._stiffness(2 * count))).max(initial=0.0) > 1e-12 * _most(finer):
            count, K = 2 * count, finer
        return K

    def _stiffness(self, count: int = 0) -> Array:
        s, weights = gauss(count or max(self.nodes, _FEWEST), self.length)
        K = np.zeros((self.n, self.n))
        for x, w in zip(s, weights, strict=True):
            phi = self.strain_at(x)
            K += w * phi.T @ (section_stiffness(self.young, self.poisson, self.radius(x))[:, None] * phi)
        return K

    def _scale(self) -> Array:
        """Typical size of the coordinates: half a radian of bend over the rod, or a tenth of its length."""
        phi = np.max([np.abs(self.strain_at(s)) for s in np.linspace(0, self.length, 7)], axis=0)
        bend, stretch = phi[3:].max(axis=0) * self.length, phi[:3].max(axis=0)
        scale: Array = 1 / np.maximum(2 * bend + 10 * stretch, 1e-12)
        return scale

    def recorded_inputs(self) -> Expressions | None:
        if self._displacements is None and self.actuators:
            self._displacements = displacements_of(self, _test_shapes(self), self._finer)
        return self._displacements

    @property
    def resolution(self) -> int:  # type: ignore[override]
        return self.nodes

    def _substep_with(self, count: int) -> float:
        """More nodes come with more steps."""
        if self.strain.uniform or count <= _FEWEST:
            return self._longest
        return self._longest * min(1.0, self._usual_nodes / count)

    def _finer_with(self, count: int) -> float:
        """More nodes come with more nodes of routes: so many times those that straight and little bent rods take."""
        return min(max(count / self._usual_nodes, 1.0), _MOST_FINER) if self.actuators else 1.0

    @cached_property
    def _usual_nodes(self) -> int:
        return _node_count(self)

    def with_nodes(self, count: int) -> Rod:
        own = self._copy()
        own.checked = False
        own.nodes, own.substep = count, self._substep_with(count)
        own._displacements, own._finer = None, self._finer_with(count)
        return own

    def refined(self, resolution: int) -> Rod:
        own = self._copy()
        own.checked = False
        if resolution != self.nodes:
            own.nodes = resolution
            if not self.strain.uniform:
                own.substep = self.substep * min(1.0, self.nodes / resolution)
            own._displacements, own._finer = None, self._finer * min(resolution / self.nodes, _MOST_FINER)
        return own

    def deformation(self) -> tuple[Array, Array]:
        places = np.linspace(0.0, self.length, 1 if self.strain.uniform else _PLACES)
        most = np.max([np.abs(self.strain_at(s)) for s in places], axis=0)
        most[:3] /= min(1.0, float(np.linalg.norm(self.rest[:3])))  # relative to the tangent at rest
        most[3:] *= self.length
        return most, np.abs(self.rest[3:]) * self.length

    def proportions(self) -> bytes:
        places = np.linspace(0.0, self.length, 9)
        radii = np.array([self.radius(s) for s in places])
        bases = np.array([self.strain_at(s) for s in places[: 1 if self.strain.uniform else None]])
        turned = np.array([1.0, 1.0, 1.0, *(self.length,) * 3])
        sizes = np.abs(bases * turned[:, None]).max(axis=(0, 1), initial=1e-300)
        numbers = (radii / radii.max(), bases * turned[:, None] / sizes, self.rest * turned, self.length / self.substep)
        rounded = [np.round(np.ravel(x), 9) + 0.0 for x in numbers]
        return np.concatenate([[self.n, self.nodes, self.section == "disk"], *rounded]).tobytes()

    def __repr__(self) -> str:
        return f"Rod(length={self.length:g}, {counted(self.n, 'coordinate')})"

    def with_prefix(self, prefix: str) -> Rod:
        if not self.actuators:
            return self
        own = copy.copy(self)
        own.actuators = tuple(replace(a, name=prefix + a.name) for a in self.actuators)
        own.input_names = tuple(a.name for a in own.actuators)
        return own

    def __reduce__(self) -> tuple[Any, ...]:
        keys = ("density", "young", "poisson", "damping")
        numbers = [getattr(self, key) for key in keys]
        strain, rest = self._given_strain, self.rest
        last = (self.section, self.nodes, self.actuators, self.checked)
        return Rod, (self.length, self._given_radius, *numbers, strain, rest, *last)


def _most(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))


def section_stiffness(young: float, poisson: float, radius: float) -> Array:
    """Stiffness (6,) of a round section: shear twice, stretch, bending twice, twist."""
    shear, area = young / (2 * (1 + poisson)), np.pi * radius**2
    bending = area * radius**2 / 4
    return np.array([shear * area] * 2 + [young * area] + [young * bending] * 2 + [2 * shear * bending])


@cache
def _leggauss(count: int) -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(count)


def gauss(count: int, length: float) -> tuple[Array, Array]:
    """Nodes and weights of the Gauss-Legendre rule on [0, length]."""
    x, w = _leggauss(count)
    return length * (x + 1) / 2, length * w / 2


def _number(name: str, value: float, *, positive: bool = False) -> float:
    number = float(array_of(name, value, ()))
    if positive and number <= 0:
        raise ValueError(f"{name} is {number:g}, expected a positive number")
    if number != 0 and not _SMALLEST <= abs(number) <= 1 / _SMALLEST:
        raise ValueError(f"{name} is {number:g}, expected a number plausible for a robot")
    return number


def _radius(radius: Any, length: float) -> Callable[[float], float]:
    if callable(radius):
        profile = radius
    else:
        ends = np.broadcast_to(array_of("radius", radius, (), (2,)), (2,))
        base, tip = float(ends[0]), float(ends[1])
        profile = lambda s: base + (tip - base) * s / length  # noqa: E731
    for s in np.linspace(0, length, 33):
        value = np.asarray(profile(float(s)))
        if value.shape != () or value.dtype.kind not in "iuf" or not np.isfinite(value) or value < 0:
            raise ValueError(f"radius at s = {s:g} is {value}, expected a non-negative number")
    largest = max(float(profile(float(s))) for s in np.linspace(0, length, 33))
    if largest == 0:
        raise ValueError("radius is zero all along, expected a positive number somewhere")
    _number("radius", largest)
    return lambda s: float(profile(s))


def _substep(rod: Rod) -> float:
    """The length of the Magnus steps: halved until the far end converges for some bent shapes."""
    if rod.strain.uniform:
        return rod.length
    shapes = _test_shapes(rod)
    pieces, pose = 8, _far_ends(rod, shapes, 8)
    while pieces < 512:
        finer = _far_ends(rod, shapes, 2 * pieces)
        error = np.abs(finer - pose).max() / max(1.0, rod.length)
        if error < 64e-11:  # the finer steps have 1/64 of it; in between, interpolate with the sixth power
            return float(rod.length / np.ceil(2 * pieces * max(0.5, (error / 64e-11) ** (1 / 6))))
        pieces, pose = 2 * pieces, finer
    return rod.length / pieces


def _node_count(rod: Rod) -> int:
    """Number of Gauss points: ten give 1e-8 for a uniform strain, a straight profile and bends of up to a full turn.

    Otherwise it is increased until the moments of mass of some bent shapes, and the stiffness, converge.
    """
    if rod.strain.uniform and not callable(rod._given_radius):
        return 10
    shapes = _test_shapes(rod)
    count, settled = 8, _moments(rod, shapes, 8)
    while count < 64:
        more = _moments(rod, shapes, count + 4)
        count, error, settled = count + 4, np.abs(more - settled).max(), more
        if error < 1e-11:
            break
    return count


def _test_shapes(rod: Rod) -> Array:
    """Shapes at the limit of typical use.

    Each coordinate alone, bending by three radians or stretching by a fifth, and some random combinations, up to two
    thirds of that each, nine radians in total at most.
    """
    bases = np.array([rod.strain_at(s) for s in np.linspace(0, rod.length, 9)])

    def bend(shapes: Array) -> Array:
        strain = np.abs(np.einsum("sij,aj->asi", bases, shapes)).max(axis=1)
        return np.asarray(strain[:, 3:].max(axis=1) * rod.length + strain[:, :3].max(axis=1) * 15)

    alone = np.eye(rod.n) * (3 / np.maximum(bend(np.eye(rod.n)), 1e-12))
    mixed = np.random.default_rng(0).uniform(-0.7, 0.7, (4, rod.n)) @ alone
    return np.concatenate([alone, mixed * np.minimum(1.0, 9 / np.maximum(bend(mixed), 1e-12))[:, None]])


def _far_ends(rod: Rod, shapes: Array, pieces: int) -> Array:
    steps = Steps([magnus(rod.strain_at, rod.rest, 0.0, rod.length, pieces)], [0]).each(shapes)
    while steps.shape[1] > 1:  # the product of all, in pairs: their number is a power of two
        steps = steps[:, ::2] @ steps[:, 1::2]
    return steps[:, 0]


def _moments(rod: Rod, shapes: Array, count: int) -> Array:
    """First and second moments of mass of bent shapes, and the stiffness, with `count` Gauss points."""
    s, weights = gauss(count, rod.length)
    mass = weights * np.array([rod.radius(x) ** 2 for x in s])
    inertia = weights * np.array([rod.radius(x) ** 4 for x in s])
    squares = np.array([rod.strain_at(x) for x in s]) ** 2
    x = rod.backbone(shapes, s)[..., :3, 3]
    parts = [np.einsum("s,asi->ai", mass, x), np.einsum("s,asi,asj->aij", mass, x, x).reshape(len(shapes), -1)]
    elastic = np.einsum("s,sij->ij", inertia, squares).ravel()
    scale = [mass.sum() * rod.length, mass.sum() * rod.length**2, max(np.abs(elastic).max(initial=0.0), 1e-300)]
    return np.concatenate([(p / s).ravel() for p, s in zip([*parts, elastic], scale, strict=True)])
