"""Robots whose coordinates are not those of a tree of joints: joints that follow others, and soft bodies.

The compiled core works on a larger tree, the carrier, whose motion is a function x = g(q) of the robot's own (see
coordinates.py). With G = dg/dq,

    tau = G^T tau_x + K q + D v,     M = G^T M_x G,     C = G^T (C_x G + M_x G'),     J = J_x G,

and their time derivatives by Leibniz' rule. C stays passive: M' - 2C = G^T (M_x' - 2 C_x) G + G'^T M_x G - G^T M_x G'
is skew. K and D are what soft bodies add. The usual cases, order zero in body axes without wrenches, and inverse
dynamics at every order, are single calls of the core (carried_dynamics.hpp). Forward dynamics of higher orders solves
with M, factored once for all of them (paper A, Lemma 2, in these coordinates).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import near, reals
from ._core import CoordinateMap, CoreModel
from .carried_partials import carried_partials, stacked_wrenches
from .closed_form import ClosedForm
from .compile import BodyRecord, compiled, marks_on
from .coordinates import SoftPart, make_map
from .leibniz import product, transposed
from .linearization import Linearization, actuated_columns, assembled, owned
from .model import Model
from .soft.forces import Inputs, ShapeForces

Array = NDArray[np.float64]
Wrenches = Mapping[str, ArrayLike] | None


def make_model(bodies: Sequence[BodyRecord], gravity: Array) -> Model:
    """A `Model`, or a `CoupledModel` where a joint follows another or a body is soft."""
    kind = CoupledModel if any(b.joint.follows or b.soft is not None for b in bodies) else Model
    return kind(tuple(bodies), gravity)


class CoupledModel(Model):
    """A robot with joints that follow others or with soft bodies; used like any `Model`.

    Joints that follow have no coordinates. A soft body has those of its shape, after the ones of its joint.
    """

    _configuration: CoreModel  # the coordinates alone
    _map: CoordinateMap
    _parts: tuple[SoftPart, ...]
    _shape: ShapeForces
    _inputs: Inputs
    _carrier_damping: Array

    def __init__(self, bodies: tuple[BodyRecord, ...], gravity: Array) -> None:
        super().__init__(bodies, gravity)
        configuration, coordinates, parts = make_map(bodies, self)
        values = {
            "_configuration": configuration,
            "_map": coordinates,
            "_parts": tuple(parts),
            "_shape": ShapeForces(parts, configuration.nv),
            "_inputs": Inputs(parts, configuration.nv),
            "_carrier_damping": compiled(bodies, gravity)["damping"],
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    @property
    def nq(self) -> int:
        """Length of a configuration q."""
        return self._configuration.nq

    @property
    def nv(self) -> int:
        """Length of a velocity v."""
        return self._configuration.nv

    def _body_moved_by(self, index: int) -> str:
        owners: list[str] = []
        for i, b in enumerate(self.bodies):
            owners += [b.name] * len(b.joint.primitives())
            if b.soft is not None:
                owners += [b.name] * len(b.soft.sections(marks_on(self.bodies, i)).masses())
        return owners[index]

    @property
    def input_names(self) -> tuple[str, ...]:
        return self._inputs.names

    # Forces

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        *,
        wrenches: Wrenches = None,
        wrench_frame: str = "body",
        frame: str = "body",
        out: Array | None = None,
    ) -> Array:
        if wrenches is None and frame == "body":
            tau = self._map.inverse_dynamics(self, q, v, a, True)
            if self._shape.nonlinear:
                tau += self._shape.beyond_linear(q, v, a is None, tau.shape)
            return tau if out is None else _result(tau, out)
        tau = self._forces(self, q, v, a, wrenches, wrench_frame, frame)
        if self._shape.n:
            tau += self._shape.stack(q, v, tau.shape[-2], stacked=a is None)
        return _result(tau if a is None else tau[..., 0, :], out)

    def generalized_inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None, *, frame: str = "body"
    ) -> Array:
        if frame == "body":
            return self._map.inverse_dynamics(self._inertial, q, v, a, False)
        tau = self._forces(self._inertial, q, v, a, None, "body", frame)
        return tau if a is None else tau[..., 0, :]

    def _forces(
        self, core: CoreModel, q: Any, v: Any, a: Any, wrenches: Wrenches, wrench_frame: str, frame: str
    ) -> Array:
        """Inverse dynamics of the carrier in own coordinates: a stack (..., r + 1, nv)."""
        _at_least_two(self, v, a)
        x, velocity, columns = self._map.motion(q, v, a, a is None, -1)
        if a is not None:
            wrenches = stacked_wrenches(wrenches)
        force = CoreModel.inverse_dynamics(core, x, velocity, wrenches=wrenches, wrench_frame=wrench_frame, frame=frame)
        return self._map.reduced(columns, force)

    def inverse_dynamics_passive(
        self,
        q: ArrayLike,
        v: ArrayLike,
        v_ref: ArrayLike,
        a_ref: ArrayLike,
        *,
        frame: str = "body",
        out: Array | None = None,
    ) -> Array:
        x, velocity, columns = self._map.motion(q, _row(self, "v", v), None, False, 1)
        wanted, change = (_row(self, name, given) for name, given in (("v_ref", v_ref), ("a_ref", a_ref)))
        G = self._map.matrix(columns)
        G, rate = G[..., 0, :, :], G[..., 1, :, :]
        full_v = (G @ wanted[..., None])[..., 0]
        full_a = (G @ change[..., None] + rate @ wanted[..., None])[..., 0]
        force = super().inverse_dynamics_passive(x, velocity[..., 0, :], full_v, full_a, frame=frame)
        return _result(self._map.reduced(columns, force[..., None, :])[..., 0, :], out)

    def gravity_force(self, q: ArrayLike, *, frame: str = "body", out: Array | None = None) -> Array:
        x, _, columns = self._map.motion(q, None, None, False, 1)
        force = super().gravity_force(x, frame=frame)
        return _result(self._map.reduced(columns, force[..., None, :])[..., 0, :], out)

    def gravity_force_derivatives(
        self, q: ArrayLike, v: ArrayLike, *, frame: str = "body", out: Array | None = None
    ) -> Array:
        x, velocity, columns = self._map.motion(q, v, None, True, 1)
        return _result(self._map.reduced(columns, super().gravity_force_derivatives(x, velocity, frame=frame)), out)

    def elastic_force(self, q: ArrayLike) -> Array:
        none = np.zeros(self.nv)
        springs = self._forces(self._weightless, q, none, none, None, "body", "body")[..., 0, :]
        return springs + self._shape.elastic_force(np.asarray(q, dtype=np.float64))

    def damping_force(self, q: ArrayLike, v: ArrayLike) -> Array:
        _, velocity, columns = self._map.motion(q, _row(self, "v", v), None, False, 0)
        joints = self._map.reduced(columns, self._carrier_damping * velocity)[..., 0, :]
        return joints + self._shape.damping_force(np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64))

    # Inputs

    def actuation_matrix(self, q: ArrayLike) -> Array:
        self._map.motion(q, None, None, False, 0)
        return self._inputs.matrix(np.asarray(q, dtype=np.float64))

    def linearize(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        u: ArrayLike | None = None,
        actuated: ArrayLike | Sequence[str] | None = None,
        wrenches: Wrenches = None,
        wrench_frame: str = "body",
        frame: str = "body",
    ) -> Linearization:
        options: dict[str, Any] = {"wrenches": wrenches, "wrench_frame": wrench_frame, "frame": frame}
        if u is None:
            return super().linearize(q, v, tau, actuated=actuated, **options)
        inputs = np.asarray(u, dtype=np.float64)
        if inputs.ndim == 0 or inputs.shape[-1] != len(self.input_names):
            raise ValueError(
                f"u has shape {inputs.shape}, expected (..., {len(self.input_names)}): inputs are {self.input_names}"
            )
        matrix = self.actuation_matrix(q)
        force = _row(self, "tau", tau) + (matrix @ _finite("u", inputs)[..., None])[..., 0]
        lin = super().linearize(q, v, force, **options)
        columns = actuated_columns(self, np.zeros(0) if actuated is None else actuated)
        change = self._inputs.derivative(np.asarray(q, dtype=np.float64), inputs)
        A = lin.A.copy()
        A[..., : self.nv] += lin.B @ change  # inputs are held, not the forces they make
        lin.A, lin.B = A, np.concatenate([lin.B[..., columns], lin.B @ matrix], axis=-1)
        lin.actuated, lin.inputs = columns, self.input_names
        return lin

    # Matrices

    def mass_matrix(self, q: ArrayLike, *, frame: str = "body", out: Array | None = None) -> Array:
        if frame == "body":
            return _result(self._map.mass_matrix(self, q), out)
        x, _, columns = self._map.motion(q, None, None, False, 1)
        G = self._map.matrix(columns)[..., 0, :, :]
        return _result(transposed(G) @ super().mass_matrix(x, frame=frame) @ G, out)

    def mass_matrix_derivatives(
        self, q: ArrayLike, v: ArrayLike, *, frame: str = "body", out: Array | None = None
    ) -> Array:
        x, velocity, columns = self._map.motion(q, v, None, True, 1)
        G, M = self._map.matrix(columns), super().mass_matrix_derivatives(x, velocity, frame=frame)
        rows = M.shape[-3]
        return _result(product(transposed(G), product(M, G, rows), rows), out)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, frame: str = "body", out: Array | None = None) -> Array:
        x, velocity, columns = self._map.motion(q, _row(self, "v", v), None, False, 1)
        return _result(self._coriolis(x, velocity, columns, frame)[..., 0, :, :], out)

    def coriolis_matrix_derivatives(
        self, q: ArrayLike, v: ArrayLike, *, frame: str = "body", out: Array | None = None
    ) -> Array:
        x, velocity, columns = self._map.motion(q, v, None, True, 1)
        return _result(self._coriolis(x, velocity, columns, frame), out)

    def _coriolis(self, x: Array, velocity: Array, columns: Array, frame: str) -> Array:
        G, rows = self._map.matrix(columns), velocity.shape[-2]
        C = super().coriolis_matrix_derivatives(x, velocity, frame=frame)
        M = super().mass_matrix(x, frame=frame)[..., None, :, :]
        if rows > 1:
            M = super().mass_matrix_derivatives(x, velocity[..., :-1, :], frame=frame)
        inner = product(C, G, rows) + product(M, G[..., 1:, :, :], rows)
        return product(transposed(G), inner, rows)

    def inverse_mass_matrix(self, q: ArrayLike, *, frame: str = "body", out: Array | None = None) -> Array:
        M = self.mass_matrix(q, frame=frame)
        return _result(_solve(M, np.broadcast_to(np.eye(self.nv), M.shape), "the inverse of the mass matrix"), out)

    def inverse_mass_matrix_apply(self, q: ArrayLike, f: ArrayLike) -> Array:
        return _solve(self.mass_matrix(q), _row(self, "f", f)[..., None], "the inverse of the mass matrix")[..., 0]

    def articulated_inertia(self, q: ArrayLike) -> Array:
        raise ValueError("articulated inertias are those of a tree of rigid bodies whose joints do not follow others")

    def closed_form(self, q: ArrayLike, v: ArrayLike) -> ClosedForm:
        raise ValueError("the papers' closed form is that of a tree of rigid bodies whose joints do not follow others")

    def _regressor(self, q: ArrayLike, v: ArrayLike, frame: str) -> Array:
        if self._parts:
            raise ValueError("the regressor is that of rigid bodies; this robot has soft ones")
        x, velocity, columns = self._map.motion(q, v, None, True, -1)
        Y, G = super()._regressor(x, velocity, frame), self._map.matrix(columns)
        return product(transposed(G), Y, Y.shape[-3])

    @property
    def inertial_parameters(self) -> Array:
        if self._parts:
            raise ValueError("inertial parameters are those of rigid bodies; this robot has soft ones")
        return super().inertial_parameters

    # Kinematics

    def jacobian(
        self,
        name: str | int,
        q: ArrayLike,
        *,
        frame: str = "body",
        velocity_frame: str | None = None,
        out: Array | None = None,
    ) -> Array:
        x, _, columns = self._map.motion(q, None, None, False, 1)
        J = super().jacobian(name, x, frame=frame, velocity_frame=velocity_frame)
        return _result(J @ self._map.matrix(columns)[..., 0, :, :], out)

    def jacobian_derivatives(
        self,
        name: str | int,
        q: ArrayLike,
        v: ArrayLike,
        *,
        frame: str = "body",
        velocity_frame: str | None = None,
        out: Array | None = None,
    ) -> Array:
        x, velocity, columns = self._map.motion(q, v, None, True, 1)
        J = super().jacobian_derivatives(name, x, velocity, frame=frame, velocity_frame=velocity_frame)
        return _result(product(J, self._map.matrix(columns), J.shape[-3]), out)

    def backbone(self, name: str, q: ArrayLike, s: ArrayLike | None = None) -> Array:
        soft = {part.name: part for part in self._parts}
        if name not in soft:
            raise ValueError(f"no soft body is named {name!r}: {near(str(name), soft)}")
        part = soft[name]
        along = np.linspace(0.0, part.body.length, 33) if s is None else np.asarray(s, dtype=np.float64)
        if along.ndim != 1 or not ((along >= 0) & (along <= part.body.length * (1 + 1e-12))).all():
            raise ValueError(
                f"s is {s!r}, expected numbers (S,) from 0 to {part.body.length:g}, the length of {name!r}"
            )
        far = self.pose(name, q)
        shape = np.asarray(q, dtype=np.float64)[..., part.q]
        places = part.body.backbone(shape, np.append(along, part.body.length))
        return (far @ np.linalg.inv(places[..., -1, :, :]))[..., None, :, :] @ places[..., :-1, :, :]

    def centroidal_momentum_matrix(self, q: ArrayLike, *, frame: str = "body", out: Array | None = None) -> Array:
        x, _, columns = self._map.motion(q, None, None, False, 1)
        A = super().centroidal_momentum_matrix(x, frame=frame)
        return _result(A @ self._map.matrix(columns)[..., 0, :, :], out)

    def centroidal_momentum_matrix_derivatives(
        self, q: ArrayLike, v: ArrayLike, *, frame: str = "body", out: Array | None = None
    ) -> Array:
        x, velocity, columns = self._map.motion(q, v, None, True, 1)
        A = super().centroidal_momentum_matrix_derivatives(x, velocity, frame=frame)
        return _result(product(A, self._map.matrix(columns), A.shape[-3]), out)

    def potential_energy(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        x, _, _ = self._map.motion(q, None, None, False, 0)
        energy = super().potential_energy(x) + self._shape.energy(np.asarray(q, dtype=np.float64))
        return _result(energy, out)

    def potential_energy_derivatives(
        self, q: ArrayLike, v: ArrayLike, *, frame: str = "body", out: Array | None = None
    ) -> Array:
        x, velocity, _ = self._map.motion(q, v, None, True, 0)
        energy = super().potential_energy_derivatives(x, velocity, frame=frame)
        return _result(energy + self._shape.energy_derivatives(q, v), out)

    # Forward dynamics

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Wrenches = None,
        wrench_frame: str = "body",
        frame: str = "body",
        out: Array | None = None,
    ) -> Array:
        rows = _stack_rows(tau, v) if wrenches is None and frame == "body" and self._map.tree_like else -1
        if rows == 1:
            return _result(self.forward_dynamics(q, v, np.asarray(tau)[..., 0, :])[..., None, :], out)
        if rows == 0:
            force = tau
            if self._shape.nonlinear:
                self._configuration.integrate(q, v)  # checks both
                lead = np.broadcast_shapes(np.shape(q)[:-1], np.shape(v)[:-1])
                force = _row(self, "tau", tau) - self._shape.beyond_linear(q, v, False, (*lead, self.nv))
            acc, singular = self._map.forward_dynamics(self, q, v, force)
            if singular >= 0:
                raise ValueError(
                    f"forward dynamics has no answer: body {self._body_moved_by(singular)!r} moves nothing that "
                    "resists it (its articulated inertia is singular)"
                )
            return _result(acc, out)
        none = [False] * self.nv
        acc, _ = self._hybrid_dynamics(q, v, np.zeros_like(tau, dtype=float), tau, none, wrenches, wrench_frame, frame)
        return _result(acc, out)

    def _hybrid_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        acc: ArrayLike,
        tau: ArrayLike,
        prescribed: Sequence[bool],
        wrenches: Wrenches,
        wrench_frame: str,
        frame: str,
    ) -> tuple[Array, Array]:
        given = np.asarray(prescribed)
        velocity, force, motion = (_row(self, n, x) for n, x in (("v", v), ("tau", tau), ("acc", acc)))
        stacked = force.ndim > velocity.ndim
        if not stacked:
            force, motion = force[..., None, :], motion[..., None, :]
            wrenches = stacked_wrenches(wrenches)
        wanted = _finite("tau", np.where(given, 0.0, force)), _finite("acc", np.where(given, motion, 0.0))
        force, motion = np.broadcast_arrays(*wanted)
        rows = force.shape[-2]
        M = self.mass_matrix(q, frame=frame)
        lead = np.broadcast_shapes(
            M.shape[:-2], velocity.shape[:-1], force.shape[:-2], *(np.shape(w)[:-2] for w in (wrenches or {}).values())
        )
        stack = np.zeros((*lead, rows + 1, self.nv))
        stack[..., 0, :] = velocity
        result = np.zeros((*lead, rows, self.nv))
        result[...] = force
        free = ~given
        solve = _Factored(M[..., free, :][..., :, free], "forward dynamics")
        for k in range(rows):
            stack[..., k + 1, :] = motion[..., k, :]
            part = {name: np.asarray(w)[..., : k + 1, :] for name, w in (wrenches or {}).items()}
            known = stack[..., : k + 2, :]
            forces = self.inverse_dynamics(q, known, wrenches=part or None, wrench_frame=wrench_frame, frame=frame)
            bias = forces[..., k, :]
            solved = solve((force[..., k, :] - bias)[..., free, None])[..., 0]
            stack[..., k + 1, free] = solved
            if given.any():
                result[..., k, given] = (bias + (M[..., :, free] @ solved[..., None])[..., 0])[..., given]
        acceleration = stack[..., 1:, :]
        return (acceleration, result) if stacked else (acceleration[..., 0, :], result[..., 0, :])

    # Derivatives

    def _inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None, wrenches: Wrenches, wrench_frame: str
    ) -> tuple[Array, Array, Array]:
        if a is not None and not wrenches and self._map.tree_like:
            stiffness, damping, M = self._map.derivatives(self, q, v, a)
            if self._shape.nonlinear:
                stiff, viscous = self._shape.derivatives(q, v, 1, stacked=False, linear=False)
                stiffness += stiff[..., 0, :, :]
                damping += viscous[..., 0, :, :]
            return stiffness, damping, M
        _at_least_two(self, v, a)
        return carried_partials(self, q, v, a, wrenches, wrench_frame)

    def _forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches,
        wrench_frame: str,
    ) -> tuple[Array, Array, Array, Array]:
        acc = self.forward_dynamics(q, v, tau, wrenches=wrenches, wrench_frame=wrench_frame)
        K, D, M = self._inverse_dynamics_derivatives(q, v, acc, wrenches, wrench_frame)
        n = self.nv
        right = np.concatenate([-K, -D, np.broadcast_to(np.eye(n), K.shape)], axis=-1)
        solved = _Factored(M, "the linearization")(right)
        return solved[..., :n], solved[..., n : 2 * n], solved[..., 2 * n :], acc

    def _linearize(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        columns: list[int] | None,
        wrenches: Wrenches,
        wrench_frame: str,
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        da_dq, da_dv, inverse, acc = self._forward_dynamics_derivatives(q, v, tau, wrenches, wrench_frame)
        v = owned(v, acc.shape)
        A, B = assembled(self, v, da_dq, da_dv, inverse, range(self.nv) if columns is None else columns)
        return A, B, owned(q, (*acc.shape[:-1], self.nq)), v, owned(tau, acc.shape), acc


class _Factored:
    """The Cholesky factor of a mass matrix, to solve with several times."""

    def __init__(self, M: Array, what: str) -> None:
        singular = f"{what} has no answer: the mass matrix is singular, a joint moves nothing that resists it"
        try:
            self._L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
        except np.linalg.LinAlgError:
            raise ValueError(singular) from None
        if (np.diagonal(self._L, axis1=-2, axis2=-1) ** 2 <= 1e-14 * np.diagonal(M, axis1=-2, axis2=-1)).any():
            raise ValueError(singular)

    def __call__(self, right: Array) -> Array:
        half = np.asarray(np.linalg.solve(self._L, right), dtype=np.float64)
        return np.asarray(np.linalg.solve(transposed(self._L), half), dtype=np.float64)


def _solve(M: Array, right: Array, what: str) -> Array:
    return _Factored(M, what)(right)


def _row(model: Model, name: str, value: ArrayLike) -> Array:
    given = reals(name, value)
    if given.ndim == 0 or given.shape[-1] != model.nv:
        raise ValueError(f"{name} has shape {given.shape}, expected (..., {model.nv}): this model has nv = {model.nv}")
    return given


def _stack_rows(tau: ArrayLike, v: ArrayLike) -> int:
    """How many rows tau has; none where it is no stack, having no more dimensions than v."""
    force = reals("tau", tau)
    return force.shape[-2] if force.ndim > max(1, reals("v", v).ndim) else 0


def _finite(name: str, value: Array) -> Array:
    if not np.isfinite(value).all():
        raise ValueError(f"{name} holds nan or inf, expected finite numbers")
    return value


def _at_least_two(model: Model, v: Any, a: Any) -> None:
    """Without `a`, v must be a stack with an acceleration."""
    shape = reals("v", v).shape
    if a is None and (len(shape) < 2 or shape[-2] < 2):
        raise ValueError(
            f"v has shape {shape}, expected a stack (..., rows, {model.nv}) of v, dv/dt, ... (or v and a apart)"
        )


def _result(value: Array, out: Array | None) -> Array:
    if out is None:
        return value
    if not isinstance(out, np.ndarray) or out.shape != value.shape or out.dtype != np.float64:
        raise ValueError(f"out must be a float64 array of shape {value.shape}")
    out[...] = value
    return out


# Methods of the core that take a motion of the carrier, and those that concern the coordinates alone.
_MOVING = {
    "center_of_mass": "q",
    "center_of_mass_derivatives": "q stack",
    "centroidal_momentum": "q row",
    "centroidal_momentum_derivatives": "q stack",
    "kinetic_energy": "q row",
    "kinetic_energy_derivatives": "q stack",
    "_forward_kinematics": "q stack",
}
_ALONE = ("integrate", "difference", "change_velocity_frame", "change_force_frame")


def _moving(name: str, kind: str) -> Callable[..., Any]:
    core = getattr(CoreModel, name)

    def method(self: CoupledModel, q: Any, v: Any = None, *values: Any, out: Array | None = None, **named: Any) -> Any:
        if kind == "q":
            x, _, _ = self._map.motion(q, None, None, False, 0)
            return _result(core(self, x, *(() if v is None else (v,)), *values, **named), out)
        stacked = kind == "q stack" and v is not None
        x, velocity, _ = self._map.motion(q, v, None, stacked, 0)
        if kind == "q row":
            _row(self, "v", v)
        given = velocity if stacked else velocity[..., 0, :] if v is not None else None
        return _result(core(self, x, given, *values, **named), out)

    method.__name__, method.__doc__ = name, core.__doc__
    return method


def _alone(name: str) -> Callable[..., Any]:
    core = getattr(CoreModel, name)

    def method(self: CoupledModel, *values: Any, **named: Any) -> Any:
        return core(self._configuration, *values, **named)

    method.__name__, method.__doc__ = name, core.__doc__
    return method


for _name, _kind in _MOVING.items():
    setattr(CoupledModel, _name, _moving(_name, _kind))
for _name in _ALONE:
    setattr(CoupledModel, _name, _alone(_name))
