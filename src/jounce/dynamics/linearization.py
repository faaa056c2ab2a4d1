"""The linearization of a robot about a state, on the Lie group itself (paper B, Proposition 1).

With dq the left-trivialized displacement (H exp(dq) for a `Free` joint) and dv the change of the body twist,

    dq' = dv - ad_v dq,      dv' = (da/dq) dq + (da/dv) dv + M^-1 dtau,

without any chart, hence without singularities. In other axes of a `Free` joint's velocity, v = T(q) u, the state is
(T^-1 dq, du) with du = T^-1 (dv - X dq), X dq = (dT) u, and the forces are held constant in the same axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame, axes, batch_of, real, reals, rows_of, shapes
from jounce._core import discretize
from jounce.dynamics.constraints.derivatives import constrained_derivatives
from jounce.dynamics.constraints.natural import NaturalRows
from jounce.dynamics.interruptible import Gathered, States
from jounce.dynamics.named_coordinates import actuated_columns
from jounce.dynamics.partials import ball_columns, bracket_matrix, skew
from jounce.errors import SingularError
from jounce.parts.joints import Free

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False, slots=True)
class Linearization:
    """x' = A x + B u near a state, x = [displacement; change of velocity], u the change of the actuated forces.

    Attributes:
        A: (..., 2 nv, 2 nv).
        B: (..., 2 nv, nu).
        q, v, tau: the state and forces it was made at.
        acceleration: (..., nv), dv/dt there.
        actuated: columns of tau that are inputs, in the order of the columns of B.
        frame: axes of the twists and wrenches of `Free` joints.
        inputs: names of the inputs of soft bodies, whose columns in B come last; only if `u` was given.
        lift, independent: if the robot has constraints, (..., 2 nv, n) and (..., n, 2 nv): the n independent
            coordinates z = independent x of a nearby state that obeys them, x = lift z. See `reduced`.
        robot: whose linearization it is; None if it was made by hand.
    """

    A: Array
    B: Array
    q: Array
    v: Array
    tau: Array
    acceleration: Array
    actuated: NDArray[np.intp]
    frame: Frame
    inputs: tuple[str, ...] = ()
    lift: Array | None = None
    independent: Array | None = None
    robot: Model | None = None

    def __repr__(self) -> str:
        return shapes(self, "A", "B")

    def _repr_html_(self) -> str:
        from jounce.display.linear_html import linearization_html

        return linearization_html(self)

    def reduced(self) -> tuple[Array, Array]:
        """A (..., n, n) and B (..., n, nu) of z' = A z + B u, in coordinates that are independent under constraints.

        Without constraints, A and B themselves.
        """
        if self.lift is None or self.independent is None:
            return self.A, self.B
        states = States(
            self.A.shape[-1] // 2, pick=(self.independent, 2), A=(self.A, 2), B=(self.B, 2), lift=(self.lift, 2)
        )
        if not states.many:
            return self.independent @ self.A @ self.lift, self.independent @ self.B
        made = Gathered(states.lead)
        for some, piece in states.pieces():
            made.put(some, A=piece["pick"] @ piece["A"] @ piece["lift"], B=piece["pick"] @ piece["B"])
        return made["A"], made["B"]

    def discretize(self, dt: float) -> tuple[Array, Array]:
        """A and B of x_{k+1} = A x_k + B u_k for u held over dt seconds, exact by the matrix exponential.

        Under constraints, for the coordinates z of `reduced`.

        Raises:
            ValueError: dt is not positive.
            SingularError: the numbers overflow double precision.
        """
        step = real("dt", dt)
        if not 0 < step < np.inf:
            raise ValueError(f"dt is {step}, expected a positive time in seconds")
        A, B = self.reduced()
        found_A, found_B, good = discretize(A, B, step)
        if good:
            return found_A, found_B
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(step * A).all() and np.isfinite(step * B).all()
        if not finite:
            raise SingularError(f"dt is {step:g}, which overflows when multiplied by the rates of this system")
        raise SingularError(f"dt is {step:g}, over which the motion overflows: the system is unstable")


def linearize(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    u: ArrayLike | None,
    actuated: ArrayLike | Sequence[str] | None,
    wrenches: Mapping[str, ArrayLike] | None,
    wrench_frame: Frame,
    frame: Frame,
) -> Linearization:
    if u is not None:
        return _with_inputs(model, q, v, tau, u, actuated, wrenches, wrench_frame, frame)
    axes("frame", frame)
    columns = actuated_columns(model, actuated)
    states = States(model.nv, q=(q, 1), v=(v, 1), tau=(tau, 1), wrenches=(wrenches, 1))
    if states.many and (model.constraints or frame != "body"):
        return _by_pieces(model, states, actuated, columns, wrench_frame, frame)
    if model.constraints:
        if frame != "body":
            raise ValueError(f"frame is {frame!r}: a robot with constraints is linearized in 'body' axes")
        return _constrained(model, q, v, tau, columns, wrenches, wrench_frame)
    if frame == "body":
        chosen = None if actuated is None else columns.tolist()
        return Linearization(*model._linearize(q, v, tau, chosen, wrenches, wrench_frame), columns, frame, robot=model)
    stack, force = _row("v", v, model.nv), _row("tau", tau, model.nv)
    body_v = model.change_velocity_frame(q, stack, frame, "body")[..., 0, :]
    body_tau = model.change_force_frame(q, stack, force, frame, "body")[..., 0, :]
    A, B, own_q, body_v, body_tau, acc = model._linearize(q, body_v, body_tau, None, wrenches, wrench_frame)
    A, B = _in_frame(model, own_q, body_v, acc, body_tau, A, B, frame)
    acc = model.change_velocity_frame(own_q, np.stack([body_v, acc], axis=-2), "body", frame)[..., 1, :]
    state = own_q, owned(v, acc.shape), owned(tau, acc.shape)
    return Linearization(A, B[..., columns], *state, acc, columns, frame, robot=model)


def _constrained(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    columns: NDArray[np.intp],
    wrenches: Mapping[str, ArrayLike] | None,
    wrench_frame: Frame,
) -> Linearization:
    """Under constraints, A and B in all coordinates, and the independent ones.

    Changes that obey the constraints have J dq = 0, in the holonomic rows, and S dq + J dv = 0. With G and H bases of
    the null spaces of J, of all rows and of the holonomic ones, dq = H z_q and dv = G z_v - J^+ S H z_q. As z is a
    constant combination of x, z' is the same combination of x', also at moving states. The bases are orthonormal in
    natural sizes (natural.py), so that z has no units of length.
    """
    force, speed = rows_of("tau", tau, model.nv, "nv"), rows_of("v", v, model.nv, "nv")
    shape = batch_of(v=speed.shape, tau=force.shape)  # a tau with more dimensions than v would be taken for a stack
    speed, force = np.broadcast_to(speed, shape), np.broadcast_to(force, shape)
    change = constrained_derivatives(model, q, speed, force, wrenches, wrench_frame)
    lead, n = change.acc.shape[:-1], model.nv
    velocity = owned(v, change.acc.shape)
    A, B = np.zeros((*lead, 2 * n, 2 * n)), np.zeros((*lead, 2 * n, n))
    A[..., :n, n:] = np.eye(n)
    for where in ball_columns(model):
        A[..., where, where] -= bracket_matrix(velocity[..., where])
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = change.acc_q, change.acc_v, change.acc_tau
    holonomic = model._holonomic_rows()
    lifts, chosen = [], []
    rows, size = change.jacobian.shape[-2:]
    jacobian = np.broadcast_to(model.constraint_jacobian(q), change.jacobian.shape)  # rounding errors set to zero
    for J, S in zip(jacobian.reshape(-1, rows, size), change.speed_q.reshape(-1, rows, size), strict=True):
        natural = NaturalRows(model, J)
        (H, pick_q), (G, pick_v) = NaturalRows(model, J, holonomic).free_directions(), natural.free_directions()
        lift = np.zeros((2 * n, H.shape[1] + G.shape[1]))
        lift[:n, : H.shape[1]], lift[n:, H.shape[1] :] = H, G
        lift[n:, : H.shape[1]] = -natural.inverse @ S @ H
        pick = np.zeros((lift.shape[1], 2 * n))
        pick[: H.shape[1], :n], pick[H.shape[1] :, n:] = pick_q, pick_v
        lifts.append(lift)
        chosen.append(pick)
    _expect_alike({x.shape for x in lifts})
    count = lifts[0].shape[1] if lifts else 0
    lift = np.array(lifts).reshape(*lead, 2 * n, count)
    independent = np.array(chosen).reshape(*lead, count, 2 * n)
    state = owned(q, (*lead, model.nq)), velocity, owned(tau, change.acc.shape)
    return Linearization(A, B[..., columns], *state, change.acc, columns, "body", (), lift, independent, model)


def _expect_alike(shapes: set[tuple[int, ...]]) -> None:
    if len(shapes) > 1:
        raise ValueError("q: the states have different numbers of independent coordinates, linearize them one by one")


def _by_pieces(
    model: Model,
    states: States,
    actuated: ArrayLike | Sequence[str] | None,
    columns: NDArray[np.intp],
    wrench_frame: Frame,
    frame: Frame,
) -> Linearization:
    shapes: set[tuple[int, ...]] = set()
    made, keys = Gathered(states.lead), ["A", "B", "q", "v", "tau", "acceleration"]
    keys += ["lift", "independent"] if model.constraints else []
    for some, piece in states.pieces():
        state = piece["q"], piece["v"], piece["tau"]
        found = linearize(model, *state, None, actuated, piece.get("wrenches"), wrench_frame, frame)
        shapes |= set() if found.lift is None else {found.lift.shape[1:]}
        _expect_alike(shapes)
        made.put(some, **{key: getattr(found, key) for key in keys})
    A, B, q, v, tau, acc = (made[key] for key in keys[:6])
    lift, independent = (made["lift"], made["independent"]) if model.constraints else (None, None)
    return Linearization(A, B, q, v, tau, acc, columns, frame, (), lift, independent, model)


def _with_inputs(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    u: ArrayLike,
    actuated: ArrayLike | Sequence[str] | None,
    wrenches: Mapping[str, ArrayLike] | None,
    wrench_frame: Frame,
    frame: Frame,
) -> Linearization:
    """With inputs u of soft bodies besides tau; the inputs are held constant, not their forces."""
    names = model.input_names
    if not names:
        raise ValueError("u was given, but this robot has no soft bodies with inputs")
    inputs = reals("u", u)
    if inputs.ndim == 0 or inputs.shape[-1] != len(names):
        raise ValueError(f"u has shape {inputs.shape}, expected (..., {len(names)}): inputs are {names}")
    if not np.isfinite(inputs).all():
        raise ValueError("u contains nan or inf, expected finite numbers")
    matrix, given = model.actuation_matrix(q), _row("tau", tau, model.nv)[..., 0, :]
    try:
        force = given + (matrix @ inputs[..., None])[..., 0]
    except ValueError:
        words = f"q {np.shape(q)}, tau {given.shape}, u {inputs.shape}"
        raise ValueError(f"the batch dimensions do not broadcast: {words}") from None
    lin = linearize(model, q, v, force, None, None, wrenches, wrench_frame, frame)
    columns = actuated_columns(model, np.zeros(0) if actuated is None else actuated)
    A = lin.A.copy()
    at = np.asarray(q, dtype=np.float64)
    A[..., : model.nv] += lin.B @ model._inputs.checked(at, model._inputs.derivative(at, inputs))
    lin.A, lin.B = A, np.concatenate([lin.B[..., columns], lin.B @ matrix], axis=-1)
    lin.actuated, lin.inputs = columns, names
    return lin


def _row(name: str, value: ArrayLike, nv: int) -> Array:
    """(..., 1, nv) of (..., nv)."""
    return rows_of(name, value, nv, "nv")[..., None, :]


def owned(value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """A copy, broadcast to that shape."""
    array = np.array(value, dtype=np.float64)
    return array if array.shape == shape else np.broadcast_to(array, shape).copy()


def _in_frame(
    model: Model, q: Array, v: Array, acc: Array, tau: Array, A: Array, B: Array, frame: Frame
) -> tuple[Array, Array]:
    """A and B for y = Q x, Q = [[T^-1, 0], [-T^-1 X, T^-1]]: Q A Q^-1 + Q' Q^-1, with the forces T^T tau held.

    Q^-1 = [[T, 0], [X T, T]].
    """
    n, lead = model.nv, acc.shape[:-1]
    inverse = np.broadcast_to(np.eye(n), (*lead, n, n)).copy()  # T^-1
    T = inverse.copy()
    rate = np.zeros_like(inverse)  # its time derivative
    X, dX, held = np.zeros_like(inverse), np.zeros_like(inverse), np.zeros_like(inverse)
    for b, (_, where) in model._moving():
        if not isinstance(b.joint, Free):
            continue
        twist, change, wrench = v[..., where], acc[..., where], tau[..., where]
        unit = np.zeros((*lead, 6, n))
        unit[..., where] = np.eye(6)
        T_inverse, T[..., where, where] = (
            np.swapaxes(model.change_velocity_frame(q[..., None, :], unit[..., None, :], *way)[..., 0, where], -1, -2)
            for way in (("body", frame), (frame, "body"))
        )
        if frame == "world":  # T = Ad(H)^-1
            spin, spin_rate = bracket_matrix(twist), bracket_matrix(change)
            turn = bracket_matrix(twist)
            force = np.zeros((*lead, 6, 6))  # ad_d^T tau = force d
            force[..., :3, 3:] = force[..., 3:, :3] = skew(wrench[..., :3])
            force[..., 3:, 3:] = skew(wrench[..., 3:])
        else:  # T = diag(R, R)^T
            spin, spin_rate, turn, force = (np.zeros((*lead, 6, 6)) for _ in range(4))
            for part in (slice(0, 3), slice(3, 6)):
                spin[..., part, 3:], spin_rate[..., part, 3:] = skew(twist[..., part]), skew(change[..., part])
                turn[..., part, part] = skew(twist[..., 3:])
                force[..., part, 3:] = skew(wrench[..., part])
        inverse[..., where, where] = T_inverse
        rate[..., where, where] = T_inverse @ turn
        X[..., where, where], dX[..., where, where], held[..., where, where] = spin, spin_rate, force
    A = A.copy()
    A[..., n:, :n] += B[..., n:, :] @ held  # forces held in other axes change in body axes

    Q, dQ = np.zeros_like(A), np.zeros_like(A)
    Q[..., :n, :n] = Q[..., n:, n:] = inverse
    Q[..., n:, :n] = -inverse @ X
    dQ[..., :n, :n] = dQ[..., n:, n:] = rate
    dQ[..., n:, :n] = -rate @ X - inverse @ dX
    back = np.zeros_like(A)
    back[..., :n, :n] = back[..., n:, n:] = T
    back[..., n:, :n] = X @ T
    return Q @ A @ back + dQ @ back, Q @ B @ np.swapaxes(inverse, -1, -2)
