"""Robots with joints that follow others (URDF's ``mimic``): a gripper's second finger, a pantograph.

A joint that follows another has no coordinate of its own: q_full = E(q) and v_full = G v, with G constant. With the
equations of motion of the robot whose joints were all free, M_full dv_full/dt + h_full = tau_full, those of the coupled
one are

    (G^T M_full G) dv/dt + G^T h_full = tau,

at every order, since G does not change in time. So all that is linear in time to compute stays so; only solving for
accelerations takes the matrix M = G^T M_full G and its Cholesky factors, order by order (paper A's Lemma 2: the leading
coefficient is M at every order).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import near
from ._core import CoreModel
from .closed_form import ClosedForm
from .compile import BodyRecord
from .joints import Fixed, Follow
from .linearization import assembled, owned
from .model import Model

Array = NDArray[np.float64]


def make_model(bodies: Sequence[BodyRecord], gravity: Array) -> Model:
    """A `Model`, or a `CoupledModel` where a joint follows another."""
    kind = CoupledModel if any(b.joint.follows for b in bodies) else Model
    return kind(tuple(bodies), gravity)


class CoupledModel(Model):
    """A robot some of whose joints follow others; used like any `Model`. The followers have no coordinates."""

    _own_q: NDArray[np.intp]  # which of all coordinates have a place in q and v
    _own_v: NDArray[np.intp]
    _from_q: NDArray[np.intp]  # where in q and v each of all coordinates has its value from, times the ratio
    _from_v: NDArray[np.intp]
    _ratio_q: Array
    _ratio_v: Array
    _offset: Array
    _follower_columns: NDArray[np.intp]

    def __init__(self, bodies: tuple[BodyRecord, ...], gravity: Array) -> None:
        leaders = resolve(bodies)
        super().__init__(bodies, gravity)
        moving = [b for b in bodies if not isinstance(b.joint, Fixed)]
        q_at = np.cumsum([0, *(b.joint.nq for b in moving)])
        v_at = np.cumsum([0, *(b.joint.nv for b in moving)])
        index = {b.joint.name or b.name: i for i, b in enumerate(moving)}
        own = [i for i, b in enumerate(moving) if not b.joint.follows]
        lead = [index[leaders[b.joint.name or b.name].joint] if b.joint.follows else i for i, b in enumerate(moving)]
        follows = [leaders[b.joint.name or b.name] if b.joint.follows else Follow("itself") for b in moving]
        own_q = np.array([j for i in own for j in range(q_at[i], q_at[i + 1])], dtype=np.intp)
        own_v = np.array([j for i in own for j in range(v_at[i], v_at[i + 1])], dtype=np.intp)
        nq, nv = [b.joint.nq for b in moving], [b.joint.nv for b in moving]
        full_q = [q_at[k] + j for i, k in enumerate(lead) for j in range(nq[i])]
        full_v = [v_at[k] + j for i, k in enumerate(lead) for j in range(nv[i])]
        values = {
            "_own_q": own_q,
            "_own_v": own_v,
            "_from_q": np.searchsorted(own_q, full_q),
            "_from_v": np.searchsorted(own_v, full_v),
            "_ratio_q": np.repeat([f.ratio for f in follows], nq),
            "_ratio_v": np.repeat([f.ratio for f in follows], nv),
            "_offset": np.repeat([f.offset for f in follows], nq),
            "_follower_columns": np.array([v_at[i] for i, b in enumerate(moving) if b.joint.follows], dtype=np.intp),
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    @property
    def nq(self) -> int:
        """Length of a configuration q."""
        return len(self._own_q)

    @property
    def nv(self) -> int:
        """Length of a velocity v."""
        return len(self._own_v)

    # Between the coordinates of the user and those of the robot whose joints are all free

    def _expanded(self, name: str, value: object) -> object:
        """An argument in full coordinates; what is no such array is left to the core to refuse."""
        kind = _KINDS.get(name)
        if value is None or kind is None:
            return value
        try:
            given = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            return value
        size, symbol = (self.nq, "nq") if kind == "position" else (self.nv, "nv")
        if given.ndim == 0 or given.shape[-1] != size:
            raise ValueError(
                f"{name} has shape {given.shape}, expected (..., {size}): this model has {symbol} = {size}, "
                "without the joints that follow others"
            )
        if not np.isfinite(given).all():
            raise ValueError(f"{name} holds nan or inf, expected finite numbers")
        if kind == "position":
            return given[..., self._from_q] * self._ratio_q + self._offset
        if kind == "velocity":
            return given[..., self._from_v] * self._ratio_v
        full = np.zeros((*given.shape[:-1], len(self._from_v)))  # a force acts where its coordinate is
        full[..., self._own_v] = given
        return full

    def _reduced(self, kind: str, value: Any) -> Any:
        if kind == "position":
            return value[..., self._own_q]
        if kind == "velocity":
            return value[..., self._own_v]
        if kind == "columns":  # forces, too: what a coordinate moves, it feels
            return self._gathered(value)
        if kind == "matrix":
            return np.swapaxes(self._gathered(np.swapaxes(self._gathered(value), -1, -2)), -1, -2)
        if kind == "rows":
            return np.swapaxes(self._gathered(np.swapaxes(value, -1, -2)), -1, -2)
        if kind == "matrices":
            return tuple(self._reduced("matrix", matrix) for matrix in value)
        return value

    def _gathered(self, value: Array) -> Array:
        """value @ G"""
        result = value[..., self._own_v]
        for column in self._follower_columns:
            result[..., self._from_v[column]] += self._ratio_v[column] * value[..., column]
        return result

    # What needs a matrix to be solved

    def inverse_mass_matrix(self, q: ArrayLike, *, frame: str = "body", out: Array | None = None) -> Array:
        M = self.mass_matrix(q, frame=frame)
        return _result(_solve(M, np.broadcast_to(np.eye(self.nv), M.shape), "the inverse of the mass matrix"), out)

    def inverse_mass_matrix_apply(self, q: ArrayLike, f: ArrayLike) -> Array:
        force = np.asarray(f, dtype=np.float64)
        if force.ndim == 0 or force.shape[-1] != self.nv:
            raise ValueError(f"f has shape {force.shape}, expected (..., {self.nv}): this model has nv = {self.nv}")
        return _solve(self.mass_matrix(q), force[..., None], "the inverse of the mass matrix")[..., 0]

    def articulated_inertia(self, q: ArrayLike) -> Array:
        raise ValueError("articulated inertias are those of a tree whose joints do not follow others")

    def closed_form(self, q: ArrayLike, v: ArrayLike) -> ClosedForm:
        raise ValueError("the papers' closed form is that of a tree whose joints do not follow others")

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: str = "body",
        frame: str = "body",
        out: Array | None = None,
    ) -> Array:
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
        wrenches: Mapping[str, ArrayLike] | None,
        wrench_frame: str,
        frame: str,
    ) -> tuple[Array, Array]:
        given = np.asarray(prescribed)
        velocity, force, motion = (np.asarray(x, dtype=np.float64) for x in (v, tau, acc))
        for name, value in (("v", velocity), ("tau", force), ("acc", motion)):
            if value.ndim == 0 or value.shape[-1] != self.nv:
                raise ValueError(
                    f"{name} has shape {value.shape}, expected (..., {self.nv}): this model has nv = {self.nv}"
                )
        stacked = force.ndim > velocity.ndim
        if not stacked:
            force, motion = force[..., None, :], motion[..., None, :]
            wrenches = {k: np.asarray(w)[..., None, :] for k, w in (wrenches or {}).items()}
        force, motion = np.broadcast_arrays(np.where(given, 0.0, force), np.where(given, motion, 0.0))
        rows = force.shape[-2]
        M = self.mass_matrix(q, frame=frame)
        lead = np.broadcast_shapes(
            M.shape[:-2], velocity.shape[:-1], force.shape[:-2], *(np.shape(w)[:-2] for w in (wrenches or {}).values())
        )
        stack = np.zeros((*lead, rows + 1, self.nv))
        stack[..., 0, :] = velocity
        result = np.zeros((*lead, rows, self.nv))
        result[...] = force
        for k in range(rows):
            stack[..., k + 1, :] = motion[..., k, :]
            part = {name: np.asarray(w)[..., : k + 1, :] for name, w in (wrenches or {}).items()}
            known = stack[..., : k + 2, :]
            forces = self.inverse_dynamics(q, known, wrenches=part or None, wrench_frame=wrench_frame, frame=frame)
            bias = forces[..., k, :]
            free = ~given
            rest = (force[..., k, :] - bias)[..., free]
            solved = _solve(M[..., free, :][..., :, free], rest[..., None], "forward dynamics")[..., 0]
            stack[..., k + 1, free] = solved
            result[..., k, given] = (bias + (M[..., :, free] @ solved[..., None])[..., 0])[..., given]
        acceleration = stack[..., 1:, :]
        return (acceleration, result) if stacked else (acceleration[..., 0, :], result[..., 0, :])

    def _forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None,
        wrench_frame: str,
    ) -> tuple[Array, Array, Array, Array]:
        acc = self.forward_dynamics(q, v, tau, wrenches=wrenches, wrench_frame=wrench_frame)
        K, D, _ = self._inverse_dynamics_derivatives(q, v, acc, wrenches, wrench_frame)
        inverse = self.inverse_mass_matrix(q)
        return -inverse @ K, -inverse @ D, np.broadcast_to(inverse, K.shape).copy(), acc

    def _linearize(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        columns: list[int] | None,
        wrenches: Mapping[str, ArrayLike] | None,
        wrench_frame: str,
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        da_dq, da_dv, inverse, acc = self._forward_dynamics_derivatives(q, v, tau, wrenches, wrench_frame)
        v = owned(v, acc.shape)
        A, B = assembled(self, v, da_dq, da_dv, inverse, range(self.nv) if columns is None else columns)
        return A, B, owned(q, (*acc.shape[:-1], self.nq)), v, owned(tau, acc.shape), acc


def resolve(bodies: Sequence[BodyRecord]) -> dict[str, Follow]:
    """For each joint that follows another, the joint with a coordinate that it follows in the end."""
    joints = {b.joint.name or b.name: b.joint for b in bodies if not isinstance(b.joint, Fixed)}
    leaders: dict[str, Follow] = {}
    for name, joint in joints.items():
        if joint.follows is None:
            continue
        seen, ratio, offset, leader = [name], 1.0, 0.0, joint.follows
        while True:
            if leader.joint not in joints:
                raise ValueError(
                    f"joint {name!r} follows {leader.joint!r}, which does not exist: {near(leader.joint, joints)}"
                )
            if leader.joint in seen:
                raise ValueError(f"joints follow each other in a circle: {' -> '.join([*seen, leader.joint])}")
            seen.append(leader.joint)
            offset, ratio = offset + ratio * leader.offset, ratio * leader.ratio
            above = joints[leader.joint]
            if above.nv != 1:
                raise ValueError(
                    f"joint {name!r} follows {leader.joint!r}, which has {above.nv} coordinates, expected one"
                )
            if above.follows is None:
                break
            leader = above.follows
        leaders[name] = Follow(seen[-1], ratio, offset)
    return leaders


def _solve(M: Array, right: Array, what: str) -> Array:
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"{what} has no answer: the mass matrix is singular, a joint moves nothing that resists it"
        ) from None
    if (np.diagonal(L, axis1=-2, axis2=-1) ** 2 <= 1e-12 * np.diagonal(M, axis1=-2, axis2=-1)).any():
        raise ValueError(f"{what} has no answer: the mass matrix is singular, a joint moves nothing that resists it")
    half = np.linalg.solve(L, right)
    return np.linalg.solve(np.swapaxes(L, -1, -2), half)


def _result(value: Array, out: Array | None) -> Array:
    if out is None:
        return value
    if not isinstance(out, np.ndarray) or out.shape != value.shape or out.dtype != np.float64:
        raise ValueError(f"out must be a float64 array of shape {value.shape}")
    out[...] = value
    return out


# In which coordinates the arguments are, and of each method of the core its arguments and its result.
_KINDS = {"q": "position", "q0": "position", "q1": "position", "tau": "force"}
_KINDS |= dict.fromkeys(("v", "a", "dv", "v_ref", "a_ref"), "velocity")
_METHODS = {
    "integrate": ("q dv", "position"),
    "difference": ("q0 q1", "velocity"),
    "change_velocity_frame": ("q v", "velocity"),
    "change_force_frame": ("q v tau", "velocity"),
    "inverse_dynamics": ("q v a", "columns"),
    "inverse_dynamics_passive": ("q v v_ref a_ref", "columns"),
    "_inverse_dynamics_derivatives": ("q v a", "matrices"),
    "_regressor": ("q v", "rows"),
    "mass_matrix": ("q", "matrix"),
    "mass_matrix_derivatives": ("q v", "matrix"),
    "coriolis_matrix": ("q v", "matrix"),
    "coriolis_matrix_derivatives": ("q v", "matrix"),
    "gravity_force": ("q", "columns"),
    "gravity_force_derivatives": ("q v", "columns"),
    "jacobian": ("name q", "columns"),
    "jacobian_derivatives": ("name q v", "columns"),
    "centroidal_momentum_matrix": ("q", "columns"),
    "centroidal_momentum_matrix_derivatives": ("q v", "columns"),
    "_forward_kinematics": ("q v", "as it is"),
    "center_of_mass": ("q", "as it is"),
    "center_of_mass_derivatives": ("q v", "as it is"),
    "centroidal_momentum": ("q v", "as it is"),
    "centroidal_momentum_derivatives": ("q v", "as it is"),
    "kinetic_energy": ("q v", "as it is"),
    "kinetic_energy_derivatives": ("q v", "as it is"),
    "potential_energy": ("q", "as it is"),
    "potential_energy_derivatives": ("q v", "as it is"),
}


def _coupled(name: str, arguments: list[str], result: str) -> Callable[..., Any]:
    core = getattr(CoreModel, name)

    def method(self: CoupledModel, *values: object, out: Array | None = None, **options: object) -> Any:
        expanded = [self._expanded(n, value) for n, value in zip(arguments, values, strict=False)]
        named = {n: self._expanded(n, value) for n, value in options.items()}
        value = core(self, *expanded, *values[len(expanded) :], **named)
        return _result(self._reduced(result, value), out)

    method.__name__, method.__doc__ = name, core.__doc__
    return method


for _name, (_arguments, _kind) in _METHODS.items():
    setattr(CoupledModel, _name, _coupled(_name, _arguments.split(), _kind))
