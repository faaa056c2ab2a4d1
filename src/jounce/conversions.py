"""Conversion of configurations, motions and forces between jounce and other libraries.

Neither library is imported here; each class takes one of its models. Joints are matched by name, since their order
differs: by that in the robot, or in its `Model.to_urdf`.

=====================  ==================================  ============================================================
library and joint      q there                             v there; forces are dual to it
=====================  ==================================  ============================================================
MuJoCo free            x y z, qw qx qy qz                  x' in world axes, angular velocity in body axes
MuJoCo ball            qw qx qy qz                         as here
MuJoCo hinge, slide    as here                             as here
Pinocchio free-flyer   as here                             as here, frame "body"
Pinocchio unbounded    cos, sin of the angle               as here
Pinocchio planar       x, y, cos, sin                      x' and y' in axes that turn with the body, rate of the angle
Pinocchio composite    its parts, one after the other      its parts
all others             as here                             as here
=====================  ==================================  ============================================================

Accelerations are always the derivatives of the components of v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, quoted, reals, warn_of_batch
from jounce.core_tables import BodyRecord
from jounce.loading.mjcf_names import joint_names
from jounce.model import Model, a_model
from jounce.parts.joints import Fixed, Free, Joint, Planar, Primitive, Prismatic, Revolute, Spherical
from jounce.saving.names import urdf_joint_names

__all__ = ["MuJoCo", "Pinocchio"]

Array = NDArray[np.float64]
Motion = tuple[Array, Array | None, Array | None]  # q, v, a of one joint


def __dir__() -> list[str]:
    return sorted(__all__)


class _Same:
    """A joint with the same coordinates in both; the base class of those that differ.

    `to` and `back` take and return (q, v, a) of the joint; v and a may be None. `force_to` and `force_back` take
    jounce's q of the joint.
    """

    nq, nv = 0, 0  # in the other library; zero: same as here

    def to(self, q: Array, v: Array | None, a: Array | None) -> Motion:
        return q, v, a

    def back(self, q: Array, v: Array | None, a: Array | None) -> Motion:
        return q, v, a

    def force_to(self, q: Array, tau: Array) -> Array:
        return tau

    def force_back(self, q: Array, tau: Array) -> Array:
        return tau


class _RealPartFirst(_Same):
    """MuJoCo's ball: the quaternion is w x y z."""

    def to(self, q: Array, v: Array | None, a: Array | None) -> Motion:
        return q[..., [3, 0, 1, 2]], v, a

    def back(self, q: Array, v: Array | None, a: Array | None) -> Motion:
        return q[..., [1, 2, 3, 0]], v, a


class _MujocoFree(_Same):
    """x' = R v, x'' = R (v' + omega x v); force in world axes R f, moment as here."""

    def to(self, q: Array, v: Array | None, a: Array | None) -> Motion:
        return q[..., [0, 1, 2, 6, 3, 4, 5]], *_leave_body(_turn(q), v, a)

    def back(self, q: Array, v: Array | None, a: Array | None) -> Motion:
        q = q[..., [0, 1, 2, 4, 5, 6, 3]]
        return q, *_enter_body(_turn(q), v, a)

    def force_to(self, q: Array, tau: Array) -> Array:
        return _turned(_turn(q), tau)

    def force_back(self, q: Array, tau: Array) -> Array:
        return _turned(_turn(q).swapaxes(-1, -2), tau)


class _Circle(_Same):
    """Pinocchio's unbounded revolute joints: cosines, then sines of the angles, which come back in (-pi, pi]."""

    nq, nv = 2, 1

    def to(self, q: Array, v: Array | None, a: Array | None) -> Motion:
        return np.concatenate([np.cos(q), np.sin(q)], axis=-1), v, a

    def back(self, q: Array, v: Array | None, a: Array | None) -> Motion:
        cos, sin = np.split(q, 2, axis=-1)
        return np.arctan2(sin, cos), v, a


class _PinocchioPlanar(_Same):
    """(x, y, cos, sin), and a velocity in axes that turn by the angle."""

    nq, nv = 4, 3

    def to(self, q: Array, v: Array | None, a: Array | None) -> Motion:
        there = np.concatenate([q[..., :2], np.cos(q[..., 2:]), np.sin(q[..., 2:])], axis=-1)
        return there, *_enter_body(_turn_in_plane(q), v, a)

    def back(self, q: Array, v: Array | None, a: Array | None) -> Motion:
        q = np.concatenate([q[..., :2], np.arctan2(q[..., 3:], q[..., 2:3])], axis=-1)
        return q, *_leave_body(_turn_in_plane(q), v, a)

    def force_to(self, q: Array, tau: Array) -> Array:
        return _turned(_turn_in_plane(q).swapaxes(-1, -2), tau)

    def force_back(self, q: Array, tau: Array) -> Array:
        return _turned(_turn_in_plane(q), tau)


@dataclass(frozen=True)
class _Piece:
    """Coordinates that are converted together: their slices here and there, and the conversion."""

    q: slice
    v: slice
    q_there: slice
    v_there: slice
    kind: _Same


class _Way:
    """One direction: all that is only in another order is taken at once, then the pieces that turn, one by one.

    Args:
        q, v: of each coordinate there, which one it is here.
        sizes: nq and nv of what is given.
        turned: where q and v are in what is given and in what is made, and the conversion, of the pieces that turn.
    """

    def __init__(self, q: NDArray[np.intp], v: NDArray[np.intp], sizes: tuple[int, int], turned: Any) -> None:
        self._q, self._v, self._sizes, self._turned = q, v, sizes, turned

    def __call__(self, q: ArrayLike, v: ArrayLike | None, a: ArrayLike | None) -> Any:
        if v is None and a is not None:
            raise ValueError("a was given without v, expected q, or q and v, or q, v and a")
        nq, nv = self._sizes
        given = [_checked("q", q, nq)]
        given += [_checked(key, x, nv) for key, x in (("v", v), ("a", a)) if x is not None]
        if any(x.ndim > 1 for x in given):
            lead = _lead(**dict(zip("qva", given, strict=False)))
            if len(given) == 2:
                _warn_of_stack("v", given[1], given[0], "velocities", "pass its first two rows as v and a")
            given = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in given]
        out = [x.take(where, -1) for x, where in zip(given, (self._q, self._v, self._v), strict=False)]
        for q_in, v_in, q_out, v_out, change in self._turned:
            parts = [x[..., where] for x, where in zip(given, (q_in, v_in, v_in), strict=False)]
            changed = change(*parts, *[None] * (3 - len(parts)))
            for x, where, value in zip(out, (q_out, v_out, v_out), changed, strict=False):
                x[..., where] = value
        return out[0] if v is None else tuple(out)


class _Conversion:
    """Common to the classes below: the pieces, and what is converted at once.

    Attributes:
        columns: (nv,) where each of the robot's velocities is among the other library's: ``J[:, columns]`` of a
            Jacobian there has the order of the columns here, and ``M[np.ix_(columns, columns)]`` that of a matrix. This
            is all that differs, except for the joints in the table above whose velocities turn: see `jacobian_back` and
            `matrix_back`, which mind these.
    """

    columns: NDArray[np.intp]
    _library: str
    _nq: int
    _nv: int
    _pieces: list[_Piece]

    def __init__(self, robot: Model, model: Any) -> None:
        a_model("robot", robot)
        if not hasattr(model, "nq") or not hasattr(model, "nv"):
            raise ValueError(f"model is {quoted(model)}, expected a model of the other library")
        soft = [b.name for b in robot.bodies if b.soft is not None]
        if soft:
            raise ValueError(
                f"robot has soft bodies, {', '.join(map(repr, soft))}, which {self._library} has no coordinates for: "
                "expected rigid ones"
            )
        self._nq, self._nv = model.nq, model.nv
        self._robot = robot
        self._pieces = self._matched(robot, model)
        here, there = (robot.nq, robot.nv), (self._nq, self._nv)
        self._q_there, self._q_here = np.zeros(self._nq, np.intp), np.zeros(robot.nq, np.intp)
        self._columns_there, self.columns = np.zeros(self._nv, np.intp), np.zeros(robot.nv, np.intp)
        for p in self._pieces:
            self._columns_there[p.v_there], self.columns[p.v] = _range(p.v), _range(p.v_there)
            if not p.kind.nq:  # else they are converted below
                self._q_there[p.q_there], self._q_here[p.q] = _range(p.q), _range(p.q_there)
        self.columns.flags.writeable = False
        self._turned = [p for p in self._pieces if type(p.kind) not in (_Same, _Circle)]
        to: list[Any] = [(p.q, p.v, p.q_there, p.v_there, p.kind.to) for p in self._turned]
        back: list[Any] = [(p.q_there, p.v_there, p.q, p.v, p.kind.back) for p in self._turned]
        if circles := [p for p in self._pieces if type(p.kind) is _Circle]:  # all at once
            angles, cos = (
                np.array([x.start for x in of]) for of in zip(*((p.q, p.q_there) for p in circles), strict=True)
            )
            own, none, kind = np.concatenate([cos, cos + 1]), slice(0, 0), circles[0].kind
            to.append((angles, none, own, none, kind.to))
            back.append((own, none, angles, none, kind.back))
        self._to = _Way(self._q_there, self._columns_there, here, to)
        self._back = _Way(self._q_here, self.columns, there, back)

    def _matched(self, robot: Model, model: Any) -> list[_Piece]:
        raise NotImplementedError

    @overload
    def to(self, q: ArrayLike) -> Array: ...
    @overload
    def to(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]: ...
    @overload
    def to(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array, Array]: ...
    def to(self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None) -> Any:
        """From jounce to the other library.

        Args:
            q: (..., nq), v: (..., nv), a: (..., nv) its derivative; frame "body". Leading dimensions broadcast.

        Returns:
            As many as given.

        Warns:
            BatchWarning: v, without a, has several rows for each q, as if it were a stack. They are taken for as many
                velocities.
        """
        return self._to(q, v, a)

    @overload
    def back(self, q: ArrayLike) -> Array: ...
    @overload
    def back(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]: ...
    @overload
    def back(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array, Array]: ...
    def back(self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None) -> Any:
        """From the other library to jounce; the reverse of `to`."""
        return self._back(q, v, a)

    def force_to(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Generalized forces (..., nv) from jounce to the other library, at jounce's configuration q (..., nq).

        Their rates are no forces, where axes turn: several rows for each q come with a `BatchWarning`.
        """
        at, forces = _checked("q", q, self._robot.nq), _checked("tau", tau, self._robot.nv)
        _warn_of_stack("tau", forces, at, "forces", "pass its first row")
        return self._force_to(at, forces, "tau")

    def force_back(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """Generalized forces from the other library to jounce, at jounce's configuration q; reverse of `force_to`."""
        at, forces = _checked("q", q, self._robot.nq), _checked("tau", tau, self._nv)
        _warn_of_stack("tau", forces, at, "forces", "pass its first row")
        return self._force_back(at, forces, "tau")

    def jacobian_to(self, q: ArrayLike, J: ArrayLike) -> Array:
        """A Jacobian (..., rows, nv), that is, its columns, from jounce to the other library.

        The rows, and the axes they are in, stay. `q` (..., nq) is jounce's configuration. Derivatives of Jacobians are
        converted alike only where no velocities turn, as in `columns`.
        """
        at, rows = self._rows(q, J, "J", self._robot.nv)
        return self._force_to(at, rows, "J")

    def jacobian_back(self, q: ArrayLike, J: ArrayLike) -> Array:
        """A Jacobian (..., rows, nv) from the other library to jounce, at jounce's q; reverse of `jacobian_to`."""
        at, rows = self._rows(q, J, "J", self._nv)
        return self._force_back(at, rows, "J")

    def matrix_to(self, q: ArrayLike, M: ArrayLike) -> Array:
        """A matrix (..., nv, nv) that takes motions to forces, from jounce to the other library, at jounce's q.

        Mass matrices, damping, stiffness, and derivatives of forces with respect to velocities are such. An inverse
        mass matrix takes forces to motions: convert the matrix, and then invert it. Where only the order differs, any
        matrix over velocities or forces is converted alike.
        """
        return self._both(self._force_to, *self._rows(q, M, "M", self._robot.nv, self._robot.nv))

    def matrix_back(self, q: ArrayLike, M: ArrayLike) -> Array:
        """A matrix (..., nv, nv) from the other library to jounce, at jounce's q; reverse of `matrix_to`."""
        return self._both(self._force_back, *self._rows(q, M, "M", self._nv, self._nv))

    def _force_to(self, q: Array, tau: Array, name: str) -> Array:
        out = np.broadcast_to(tau, (*_lead(**{"q": q, name: tau}), tau.shape[-1])).take(self._columns_there, -1)
        for p in self._turned:
            out[..., p.v_there] = p.kind.force_to(q[..., p.q], tau[..., p.v])
        return out

    def _force_back(self, q: Array, tau: Array, name: str) -> Array:
        out = np.broadcast_to(tau, (*_lead(**{"q": q, name: tau}), tau.shape[-1])).take(self.columns, -1)
        for p in self._turned:
            out[..., p.v] = p.kind.force_back(q[..., p.q], tau[..., p.v_there])
        return out

    def _rows(
        self, q: ArrayLike, rows: ArrayLike, name: str, columns: int, count: int | None = None
    ) -> tuple[Array, Array]:
        """Configurations (..., 1, nq) and arrays (..., rows, columns), checked."""
        given = reals(name, rows)
        if given.ndim < 2 or given.shape[-1] != columns or count not in (None, given.shape[-2]):
            raise ValueError(f"{name} has shape {given.shape}, expected (..., {count or 'rows'}, {columns})")
        return _checked("q", q, self._robot.nq)[..., None, :], array_of(name, given, given.shape)

    @staticmethod
    def _both(convert: Callable[[Array, Array, str], Array], q: Array, M: Array) -> Array:
        """Its columns, then its rows."""
        return convert(q, convert(q, M, "M").swapaxes(-1, -2), "M").swapaxes(-1, -2)

    def _match(self, there: Sequence[str]) -> dict[str, BodyRecord]:
        """The bodies that joints carry, by the joint's name in the other library, which must have the same joints."""
        found, lone = {}, []
        for body, written in zip(self._robot.bodies, urdf_joint_names(self._robot.bodies), strict=True):
            if isinstance(body.joint, Fixed) or body.joint.follows is not None:
                continue
            name = body.joint_name if body.joint_name in there else written
            if name in there:
                found[name] = body
            else:
                lone.append(body.joint_name)
        alien = [name for name in there if name not in found]
        if lone or alien:
            faults = [f"{self._library}'s model has no {_list(lone)}"] if lone else []
            faults += [f"the robot has no {_list(alien)} of its own"] if alien else []
            pairs = zip(self._robot.bodies, urdf_joint_names(self._robot.bodies), strict=True)
            follow = {name for b, other in pairs if b.joint.follows for name in (b.joint_name, other)}
            hint = (
                ": followers of others, unless the file is loaded with mimic='independent'" if follow & {*alien} else ""
            )
            raise ValueError(f"the joints differ: {' and '.join(faults)}{hint}")
        return found


class MuJoCo(_Conversion):
    """Between a robot and a MuJoCo model with joints of the same names, such as the one it was loaded from.

    Args:
        robot: in jounce.
        model: ``mujoco.MjModel``. Unnamed joints are named as by `jounce.load`.

    >>> import mujoco
    >>> from jounce.loading import load
    >>> text = '<mujoco> <worldbody> <body name="box"> <freejoint/> <geom size="0.1"/> </body> </worldbody> </mujoco>'
    >>> m = mujoco.MjModel.from_xml_string(text)
    >>> robot = load(m)
    >>> convert, d = MuJoCo(robot, m), mujoco.MjData(m)
    >>> q, v, a = convert.back(d.qpos, d.qvel, d.qacc)
    >>> q
    array([0., 0., 0., 0., 0., 0., 1.])
    >>> d.qpos, d.qvel, d.qacc = convert.to(q, v, a)
    >>> mujoco.mj_inverse(m, d)
    >>> bool(np.allclose(convert.force_back(q, d.qfrc_inverse), robot.inverse_dynamics(q, v, a)))
    True
    """

    _library = "MuJoCo"

    def __init__(self, robot: Model, model: Any) -> None:
        super().__init__(robot, model)

    def _matched(self, robot: Model, model: Any) -> list[_Piece]:
        names = joint_names(model)
        bodies = self._match(names)
        kinds = (Free, _MujocoFree()), (Spherical, _RealPartFirst()), (Prismatic, _Same()), (Revolute, _Same())
        pieces = []
        for j, name in enumerate(names):
            expected, kind = kinds[model.jnt_type[j]]
            body = bodies[name]
            if type(body.joint) is not expected:
                raise ValueError(f"joint {name!r} is {body.joint!r}, but {expected.__name__} in MuJoCo's model")
            if expected is Free and not np.array_equal(body.placement, np.eye(4)):
                raise ValueError(
                    f"joint {name!r} is placed away from the world's origin, which MuJoCo's free joints cannot be"
                )
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            there = slice(q, q + expected.nq), slice(v, v + expected.nv)
            own = body.joint_name
            pieces.append(_Piece(robot.position(own), robot.coordinate(own), *there, kind))
        return pieces


class Pinocchio(_Conversion):
    """Between a robot and a Pinocchio model with joints of the same names, such as one from the same URDF.

    Args:
        robot: in jounce.
        model: ``pinocchio.Model``. Its planar joints have axes x and y; the robot's must have the same.

    With ``convert = Pinocchio(robot, model)``, the torques of ``robot.inverse_dynamics(q, v, a)`` are
    ``convert.force_back(q, pinocchio.rnea(model, data, *convert.to(q, v, a)))``.
    """

    _library = "Pinocchio"

    def __init__(self, robot: Model, model: Any) -> None:
        super().__init__(robot, model)

    def _matched(self, robot: Model, model: Any) -> list[_Piece]:
        all_joints = list(zip(model.names, model.joints, strict=True))[1:]  # the first is the universe
        there = {name: joint for name, joint in all_joints if joint.nv > 0}  # joints that mimic others have none
        pieces = []
        for name, body in self._match(list(there)).items():
            pieces += _pinocchio_pieces(body.joint_name, robot, body.joint, there[name])
        return pieces


def _pinocchio_pieces(name: str, robot: Model, joint: Joint, there: Any) -> list[_Piece]:
    """The pieces of one joint: one for each part of a composite, otherwise one."""
    label = there.shortname().removeprefix("JointModel")
    if label == "Composite":
        parts = [part.shortname().removeprefix("JointModel") for part in there.extract().joints]
    else:
        parts = [label]
    whole = {"FreeFlyer": Free, "Spherical": Spherical, "Planar": Planar}
    if len(parts) == 1 and isinstance(joint, whole.get(parts[0], ())):
        kinds: list[tuple[_Same, int, int]] = [
            (_PinocchioPlanar() if parts[0] == "Planar" else _Same(), joint.nq, joint.nv)
        ]
    elif label == "Universal" and len(joint.primitives()) == 2:
        kinds = [(_Same(), 2, 2)]
    elif len(parts) == len(joint.primitives()) and all(map(_fits, parts, joint.primitives())):
        kinds = [(_Circle() if _unbounded(part) else _Same(), 1, 1) for part in parts]
    else:
        raise ValueError(
            f"joint {name!r} is {joint!r}, but {' '.join(dict.fromkeys([label, *parts]))} in Pinocchio's model"
        )
    pieces = []
    q, v, q_there, v_there = robot.position(name).start, robot.coordinate(name).start, there.idx_q, there.idx_v
    for kind, nq, nv in kinds:
        ends = q + nq, v + nv, q_there + (kind.nq or nq), v_there + (kind.nv or nv)
        pieces.append(
            _Piece(slice(q, ends[0]), slice(v, ends[1]), slice(q_there, ends[2]), slice(v_there, ends[3]), kind)
        )
        q, v, q_there, v_there = ends
    return pieces


def _fits(part: str, primitive: Primitive) -> bool:
    """Whether a Pinocchio joint with one coordinate turns, slides or screws like the primitive."""
    letter = {"revolute": "R", "prismatic": "P", "helical": "H"}.get(primitive.kind)
    aligned = part[:1] == letter and part[1:] in ("X", "Y", "Z", "UBX", "UBY", "UBZ")
    return aligned or part.removesuffix("Unaligned").removesuffix("Unbounded").lower() == primitive.kind


def _unbounded(part: str) -> bool:
    return part.startswith(("RUB", "RevoluteUnbounded"))


def _range(of: slice) -> NDArray[np.intp]:
    return np.arange(of.start, of.stop)


def _checked(name: str, value: ArrayLike, size: int) -> Array:
    if (
        type(value) is np.ndarray
        and value.shape == (size,)
        and value.dtype == np.float64
        and all(map(isfinite, value.tolist()))
    ):
        return value  # quicker than NumPy for one state
    given = reals(name, value)
    lead = given.shape[:-1] if given.ndim else ()
    return array_of(name, given, (*lead, size))


def _lead(**given: Array) -> tuple[int, ...]:
    """The common batch dimensions."""
    try:
        return np.broadcast_shapes(*(x.shape[:-1] for x in given.values()))
    except ValueError:
        words = ", ".join(f"{name} {x.shape}" for name, x in given.items())
        raise ValueError(f"the batch dimensions do not broadcast: {words}") from None


def _warn_of_stack(name: str, given: Array, q: Array, what: str, cure: str) -> None:
    """Of several rows for each q: derivatives in most calls of robots, but not here."""
    if given.ndim == q.ndim + 1 and given.shape[:-2] == q.shape[:-1] and given.shape[-2] > 1:
        warn_of_batch(
            f"{name} has shape {given.shape}, and is taken for {given.shape[-2]} {what} at "
            f"{'one q' if q.ndim == 1 else 'each q'}, not for a stack with derivatives: {cure}, or, if that is meant, "
            f"pass q[{'None' if q.ndim == 1 else '..., None, :'}]"
        )


def _leave_body(turn: Array, v: Array | None, a: Array | None) -> tuple[Array | None, Array | None]:
    """Linear parts from axes that turn with the body to fixed ones: R v and R (v' + omega x v)."""
    if v is None:
        return None, None
    return _turned(turn, v), None if a is None else _turned(turn, _plus_linear(a, _spin(v)))


def _enter_body(turn: Array, v: Array | None, a: Array | None) -> tuple[Array | None, Array | None]:
    """The reverse: with u = R^T x', u' = R^T x'' - omega x u."""
    if v is None:
        return None, None
    back = turn.swapaxes(-1, -2)
    u = _turned(back, v)
    return u, None if a is None else _plus_linear(_turned(back, a), -_spin(u))


def _spin(v: Array) -> Array:
    """omega x v of a twist (..., 6), or of (v_x, v_y, rate) in the plane."""
    if v.shape[-1] == 6:
        return np.cross(v[..., 3:], v[..., :3])
    return v[..., 2:] * np.stack([-v[..., 1], v[..., 0]], axis=-1)


def _plus_linear(x: Array, linear: Array) -> Array:
    x = x.copy()
    x[..., : linear.shape[-1]] += linear
    return x


def _turned(turn: Array, x: Array) -> Array:
    """The linear part rotated, the rest unchanged."""
    n = turn.shape[-1]
    lead = np.broadcast_shapes(turn.shape[:-2], x.shape[:-1])
    linear = (turn @ x[..., :n, None])[..., 0]
    return np.concatenate([linear, np.broadcast_to(x[..., n:], (*lead, x.shape[-1] - n))], axis=-1)


def _turn(q: Array) -> Array:
    """(..., 3, 3) rotation of a free joint's q (..., 7), after normalising its quaternion."""
    x, y, z, w = np.moveaxis(q[..., 3:] / np.linalg.norm(q[..., 3:], axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _turn_in_plane(q: Array) -> Array:
    """(..., 2, 2) rotation by the angle of a planar joint's q (..., 3)."""
    c, s = np.cos(q[..., 2]), np.sin(q[..., 2])
    return np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"joint{'s' if len(names) > 1 else ''} {', '.join(map(repr, names[:8]))}{more}"
