"""The robot: an immutable model and everything that can be asked of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import comb, prod
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import (
    Frame,
    axes,
    batch_of,
    counted,
    depth,
    expect_order,
    flag,
    frozen,
    generator,
    is_whole,
    near,
    quoted,
    reals,
    rows_of,
    shapes,
)
from jounce._core import CoreModel, UnwatchedNodes
from jounce._elsewhere import method_here
from jounce.core_tables import BodyRecord, Leave, compiled, inertial_parameters, own_records, rigidly
from jounce.display.tree_text import drawn
from jounce.dynamics.chosen_frames import Frames
from jounce.dynamics.constraints.constrained import ConstrainedDynamics, constrained_dynamics, projected
from jounce.dynamics.constraints.derivatives import ConstrainedDerivatives, constrained_derivatives
from jounce.dynamics.constraints.impact import Impact, impact
from jounce.dynamics.constraints.independent_coordinates import IndependentCoordinates, independent_coordinates
from jounce.dynamics.constraints.inverse_dynamics import ConstrainedInverseDynamics, constrained_inverse_dynamics
from jounce.dynamics.constraints.loop_coordinate import loop_coordinate
from jounce.dynamics.discretization import TURNED, Discretization
from jounce.dynamics.finite import finite_answers
from jounce.dynamics.interruptible import Gathered, States
from jounce.dynamics.linearization import Linearization, linearize
from jounce.dynamics.named_coordinates import names, place_of_one
from jounce.dynamics.partials import forward_partials, inverse_partials
from jounce.dynamics.statics import Equilibrium, equilibrium
from jounce.editing.tree import Tree, expect_name
from jounce.errors import SingularError
from jounce.parts.constraints import ConstraintRecord, Contact, Kind, contact_records
from jounce.parts.custom_joint import CustomJoint
from jounce.parts.joints import Free, Limits, Spherical
from jounce.parts.sections import Shape
from jounce.soft.inputs import Inputs, SoftPart
from jounce.unphysical import unphysical

if TYPE_CHECKING:
    from jounce.dynamics.broken_limits import BrokenLimits
    from jounce.dynamics.closed_form import ClosedForm
    from jounce.parts.inertia import Inertia
    from jounce.parts.visual import Visual
    from jounce.view.viewer import Viewer

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Kinematics:
    """Poses and twists of bodies and frames; ``kin["tool0"]`` is the pose of one of them.

    Attributes:
        names: of the bodies and frames; ``robot.body_names`` unless others were requested.
        pose: (..., nframes, 4, 4) pose of each in the world.
        twist: (..., K, nframes, 6) twist [linear; angular] of each relative to the world and its K - 1 component-wise
            derivatives, in the requested frame; K = 0 if no velocity was given.
    """

    names: tuple[str, ...]
    pose: Array
    twist: Array

    def __repr__(self) -> str:
        return shapes(self, "pose", "twist")

    def __getitem__(self, name: str) -> Array:
        """The pose (..., 4, 4) of one body or frame."""
        if not isinstance(name, str) or name not in self.names:
            raise ValueError(f"no pose was computed for {quoted(name)}: {_near(name, self.names)}")
        return self.pose[..., self.names.index(name), :, :]


class Model(CoreModel):
    """A robot. Made by `Builder.build`; immutable; can be shared between threads and pickled.

    Shapes: q is (..., nq), a velocity v (..., nv), a *stack* (..., K, nv) holds v and its K - 1 component-wise time
    derivatives. Leading dimensions are batch dimensions and broadcast.

    Where a method takes ``frame``, it sets the axes in which the twist of a `Free` joint, and the wrench dual to it,
    are given and returned: "body" (body axes and origin), "world" (world axes and origin) or "mixed" (world axes, body
    origin). The coordinates of other joints do not depend on it. Where a method also takes ``velocity_frame``, that
    sets the axes of velocities, and ``frame`` those of the result alone.
    """

    bodies: tuple[BodyRecord, ...]
    gravity: Array
    constraints: tuple[ConstraintRecord, ...]
    constraint_names: tuple[str, ...]
    scenery: Sequence[Visual]
    _keyframes: Mapping[str, Mapping[str, Array]]  # positions by joint
    _constant_rows: bool
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    frame_names: tuple[str, ...]
    _frame_index: dict[str, int]
    _coordinates: dict[str, tuple[slice, slice]]
    _followers: dict[str, str]
    _own: tuple[BodyRecord, ...]  # one record per joint with coordinates, and one per soft body's shape
    _soft: dict[str, SoftPart]
    _inputs: Inputs
    _all_columns: NDArray[np.intp]

    def __init__(
        self,
        bodies: Sequence[BodyRecord],
        gravity: Array,
        constraints: Sequence[ConstraintRecord] = (),
        scenery: Sequence[Visual] = (),
        keyframes: Mapping[str, Mapping[str, Array]] | None = None,
    ) -> None:
        build = partial(type(self), gravity=gravity, constraints=constraints)
        discretization = Discretization.of(bodies, build)
        super().__init__(compiled(bodies, gravity, constraints=constraints, discretization=discretization))
        moving = [b for b in bodies if b.moves]
        names = [b.name for b in moving] + [b.name for b in bodies if not b.moves]
        followers = {b.joint.name or b.name: b.joint.follows.joint for b in moving if b.joint.follows}
        coordinates: dict[str, tuple[slice, slice]] = {}
        q = v = 0
        records = own_records(bodies)
        for b in records:
            if b.joint_name in followers or b.joint_name in coordinates:
                raise ValueError(f"two joints are named {b.joint_name!r}")
            coordinates[b.joint_name] = slice(q, q := q + b.joint.nq), slice(v, v := v + b.joint.nv)
        none = slice(0, 0), slice(0, 0)  # a rod without strains
        soft = {
            b.name: SoftPart(b.name, b.soft, *coordinates.get(b.shape_name, none)) for b in bodies if b.soft is not None
        }
        values: dict[str, object] = {
            "bodies": tuple(bodies),
            "gravity": frozen(gravity),
            "constraints": tuple(constraints),
            "constraint_names": tuple(c.name for c in constraints),
            "scenery": scenery,
            "_keyframes": _kept(keyframes or {}, coordinates),
            "_constant_rows": all(c.is_constant for c in constraints),
            "body_names": tuple(b.name for b in moving),
            "joint_names": tuple(coordinates),
            "frame_names": tuple(names),
            "_frame_index": {name: i for i, name in enumerate(names)},
            "_coordinates": coordinates,
            "_followers": followers,
            "_own": tuple(records),
            "_soft": soft,
            "_inputs": Inputs(list(soft.values()), v),
            "_all_columns": _counted(v),
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError(f"a model cannot be changed: {key}")

    def __delattr__(self, key: str) -> None:
        raise AttributeError(f"a model cannot be changed: {key}")

    if not TYPE_CHECKING:  # to type checkers, a robot would have attributes of any name

        def __getattr__(self, name: str) -> Any:
            """Of an attribute that is not there: the error, with our name for what other libraries call so."""
            try:
                return object.__getattribute__(self, name)
            except AttributeError as fault:
                ours = method_here(name)
                if ours == name or not hasattr(Model, ours):
                    raise
                raise AttributeError(f"{fault}: that is {ours}", name=name, obj=self) from None

    def __reduce__(self) -> tuple[Any, ...]:
        rest = (tuple(self.scenery), self._keyframes) if self._keyframes else (tuple(self.scenery),)
        return type(self), (self.bodies, self.gravity, self.constraints, *(rest if any(map(len, rest)) else ()))

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: object) -> Model:
        return self

    def __repr__(self) -> str:
        return f"<jounce.Model: {counted(len(self.body_names), 'body', 'bodies')}, nq = {self.nq}, nv = {self.nv}>"

    def __str__(self) -> str:
        return drawn(self)

    def _repr_html_(self) -> str:
        from jounce.display.model_html import model_html

        return model_html(self)

    def frame_index(self, name: str | int) -> int:
        """The index of a body or fixed frame in ``frame_names``, where bodies come first.

        A number, for the axis of arrays with one entry per body or frame. Where a joint is in q and v, see `position`
        and `coordinate`.

        Args:
            name: of a body or frame; an index is returned as it is.

        >>> import jounce as jn
        >>> jn.robots.quadrotor_arm().frame_index("tool")
        3
        """
        if is_whole(name):
            if not 0 <= name < len(self.frame_names):
                count = len(self.frame_names)
                raise ValueError(f"frame {quoted(name)} does not exist: there are {count}, counted from 0")
            return int(name)
        index = self._frame_index.get(name) if isinstance(name, str) else None
        if index is None:
            raise ValueError(f"no body or frame is named {quoted(name)}: {_near(name, self.frame_names)}")
        return index

    def coordinate(self, joint: str) -> slice:
        """Where a joint is in v: a slice, for v, accelerations, forces, and the columns of matrices over them.

        Args:
            joint: name of a joint, or of a soft body's shape; or of one of its coordinates, if it has several:
                "base.vx" to "base.wz" of a `Free` joint, "wrist.0", "wrist.1" of others, as in `Trajectory.v_names`.
                Whatever takes joints by name and coordinates by number takes these names, too.

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> robot.coordinate("q2")
        slice(6, 7, None)
        >>> np.arange(robot.nv)[robot.coordinate("q2")]  # as columns
        array([6])
        >>> robot.coordinate("base.vz")
        slice(2, 3, None)
        """
        return self._where(joint, "v")

    def position(self, joint: str) -> slice:
        """Where a joint is in q: a slice. It differs from `coordinate` after joints with quaternions.

        Args:
            joint: name of a joint, or of a soft body's shape; or of one of its coordinates, if it has several: "base.x"
                to "base.qw" of a `Free` joint, as in `Trajectory.q_names`.

        >>> import jounce as jn
        >>> robot = jn.robots.quadrotor_arm()
        >>> robot.position("elbow"), robot.coordinate("elbow")
        (slice(8, 9, None), slice(7, 8, None))
        """
        return self._where(joint, "q")

    @property
    def v_names(self) -> tuple[str, ...]:
        """Names of the coordinates of v (nv,), and so of accelerations, forces and columns of Jacobians.

        That of the joint where it has one coordinate; of the others with their axis or number, as in plots and tables.

        >>> import jounce as jn
        >>> jn.robots.quadrotor_arm().v_names
        ('base.vx', 'base.vy', 'base.vz', 'base.wx', 'base.wy', 'base.wz', 'shoulder', 'elbow')
        """
        return names(self).v

    @property
    def lower(self) -> Array:
        """(nq,) lower position limit of each joint, minus infinity where there is none."""
        return self._limits("nq", "lower", -np.inf)

    @property
    def upper(self) -> Array:
        """(nq,) upper position limit of each joint, infinity where there is none."""
        return self._limits("nq", "upper", np.inf)

    @property
    def velocity_limit(self) -> Array:
        """(nv,) maximum speed of each joint, infinity where there is no limit."""
        return self._limits("nv", "velocity", np.inf)

    @property
    def effort_limit(self) -> Array:
        """(nv,) maximum force of each joint, infinity where there is no limit."""
        return self._limits("nv", "effort", np.inf)

    @property
    def acceleration_limit(self) -> Array:
        """(nv,) maximum acceleration of each joint, infinity where there is no limit."""
        return self._limits("nv", "acceleration", np.inf)

    @property
    def deceleration_limit(self) -> Array:
        """(nv,) maximum acceleration of each joint while it slows down; `acceleration_limit` unless given."""
        given = self._limits("nv", "deceleration", np.nan)
        return np.where(np.isnan(given), self.acceleration_limit, given)

    @property
    def jerk_limit(self) -> Array:
        """(nv,) maximum jerk of each joint, infinity where there is no limit."""
        return self._limits("nv", "jerk", np.inf)

    @property
    def effort_rate_limit(self) -> Array:
        """(nv,) how fast the force of each joint may change, infinity where there is no limit."""
        return self._limits("nv", "effort_rate", np.inf)

    def check_limits(self, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None) -> BrokenLimits:
        """The limits of the joints that states are beyond, as a list that prints well; false if all hold.

        The acceleration of a joint that slows down is compared with its limit of deceleration, if it has one. Joints
        that follow others are looked at, too, except for forces. What just reaches a limit is within it.

        Args:
            q: (..., nq).
            v: stack (..., K, nv) of the velocity and its derivatives, of which acceleration and jerk have limits; when
                left out, only positions (and forces) are checked.
            tau: stack (..., K, nv) of the forces and their derivatives, of which the first has limits.

        >>> import jounce as jn
        >>> robot, q = jn.robots.panda(), np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.8, 0.0])
        >>> v = np.zeros((3, 7))
        >>> v[0, 0], v[1, 3], v[2, 3] = 2.4, -13.0, 500.0  # rad/s, rad/s^2, rad/s^3
        >>> robot.check_limits(q, v, robot.inverse_dynamics(q, v))
        beyond 2 limits:
          q1: velocity is 2.4 rad/s, 0.225 beyond the limit, 2.175
          q4: acceleration is -13 rad/s², 0.5 beyond the limit, -12.5
        >>> bool(robot.check_limits(q, v / 2))
        False
        """
        from jounce.dynamics.broken_limits import broken_limits

        return broken_limits(self, q, v, tau)

    @property
    def armature(self) -> Array:
        """(nv,) reflected inertia of each joint's drive; 0 where there is a `Rotor`."""
        return self._of_joints("armature")

    @property
    def damping(self) -> Array:
        """(nv,) damping of each joint.

        0 for the shapes of soft bodies, whose material decides; joints that follow others have their own. The same
        holds for `friction`, `stiffness` and `armature`.
        """
        return self._of_joints("damping")

    @property
    def friction(self) -> Array:
        """(nv,) dry friction of each joint."""
        return self._of_joints("friction")

    @property
    def stiffness(self) -> Array:
        """(nv,) stiffness of each joint's spring."""
        return self._of_joints("stiffness")

    @property
    def mass(self) -> float:
        """Of all bodies together, kg, including those that are fixed to the world."""
        return float(sum(b.inertia.mass if b.soft is None else b.soft.mass for b in self.bodies))

    @property
    def unphysical(self) -> tuple[str, ...]:
        """Names of the moving bodies whose inertia, with all that is fixed to them, no real body has; mostly empty.

        Published and identified parameters are often such, and so are files: see `Inertia`, ``physical=False``. All
        calls take these robots; those that solve with the mass matrix raise a `SingularError` where it is singular.

        >>> import jounce as jn
        >>> b = jn.Builder()
        >>> identified = jn.Inertia(1.0, (0, 0, 0.3), (0.1, 0.1, -0.01), physical=False)
        >>> b.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=identified)
        >>> b.build().unphysical
        ('arm',)
        """
        return tuple(unphysical(self.bodies))

    def _of_joints(self, key: str) -> Array:
        """One number per coordinate."""
        return np.concatenate([np.zeros(0), *(getattr(b.joint, key) for b, _ in self._moving())])

    def _limits(self, size: str, key: str, unlimited: float) -> Array:
        joints = [b.joint for b, _ in self._moving()]
        values: list[float] = []
        for j in joints:
            each = j.coordinate_limits if isinstance(j, CustomJoint) else (j.limits,) * getattr(j, size)
            values += [unlimited if x is None else getattr(x, key) for x in each]
        return np.array(values, dtype=np.float64)  # None becomes nan

    def _where(self, joint: str, array: Literal["q", "v"]) -> slice:
        """Where a joint, or one of its coordinates, is in q or in v."""
        try:
            return self._coordinates[joint][array == "v"]
        except (KeyError, TypeError):
            pass
        if isinstance(joint, str) and joint in self._followers:
            raise ValueError(f"joint {joint!r} follows {self._followers[joint]!r}: it has no coordinate")
        return place_of_one(self, joint, array)

    # Configurations

    def neutral(self) -> Array:
        """The configuration (nq,) in which all coordinates are zero and all quaternions are the identity."""
        q = np.zeros(self.nq)
        for b, (where, _) in self._moving():
            if isinstance(b.joint, (Free, Spherical)):
                q[where.stop - 1] = 1.0
        return q

    @property
    def keyframes(self) -> Mapping[str, Array]:
        """Configurations (nq,) that an MJCF file names, and "qpos0", in which it draws the robot; empty for others.

        Robots made from such a robot keep them: joints that were added are at `neutral`.

        >>> import jounce as jn
        >>> robot = jn.load('''<mujoco> <worldbody>
        ...   <body pos="0 0 1"> <freejoint/> <geom size="0.1"/> </body> </worldbody>
        ...   <keyframe> <key name="high" qpos="0 0 3 1 0 0 0"/> </keyframe> </mujoco>''')
        >>> robot.keyframes["qpos0"][:3], robot.keyframes["high"][:3]
        (array([0., 0., 1.]), array([0., 0., 3.]))
        """
        found = {}
        for name, positions in self._keyframes.items():
            q = self.neutral()
            for joint, at in positions.items():
                q[self.position(joint)] = at
            found[name] = frozen(q)
        return MappingProxyType(found)

    def configuration(self, positions: Mapping[str, ArrayLike]) -> Array:
        """The configuration (..., nq) in which joints are at these positions; all others are as in `neutral`.

        Args:
            positions: by joint. With one coordinate, a number (...,), rad or m; `Free`, the pose (..., 4, 4) of its
                body in the joint frame, or x y z and a quaternion (..., 7); `Spherical`, a rotation (..., 3, 3), or a
                quaternion (..., 4); others, their coordinates (..., n). By the name of its shape, the strains (..., n)
                of a soft body. Quaternions are x y z w.

        >>> import jounce as jn
        >>> robot = jn.robots.quadrotor_arm()
        >>> q = robot.configuration({"base": jn.placement((0, 0, 2), rpy=(0, 0, 0.5)), "elbow": 0.3})
        >>> q.round(3)
        array([0.   , 0.   , 2.   , 0.   , 0.   , 0.247, 0.969, 0.   , 0.3  ])
        >>> at = robot.joint_positions(q)
        >>> at["base"][:3, 3], float(at["elbow"])
        (array([0., 0., 2.]), 0.3)
        """
        from jounce.dynamics.joint_positions import configuration

        return configuration(self, positions)

    def joint_positions(self, q: ArrayLike) -> dict[str, Array]:
        """Where each joint is, by name: what `configuration` takes, and gives q (..., nq) back from.

        Numbers (...,) where there is one coordinate, poses (..., 4, 4) of `Free` joints, rotations (..., 3, 3) of
        `Spherical` ones, coordinates (..., n) of all others and of the shapes of soft bodies.
        """
        from jounce.dynamics.joint_positions import joint_positions

        return joint_positions(self, q)

    def random_configuration(self, rng: np.random.Generator | int, shape: SupportsIndex | Sequence[int] = ()) -> Array:
        """Random configurations (*shape, nq), with uniformly distributed orientations.

        Joints with limits stay within them; otherwise angles are in [-pi, pi) and distances in [-1, 1) m; soft bodies
        bend by about half a radian and stretch by about a tenth.

        Args:
            rng: a generator, which moves on, or a seed: the same one gives the same configurations.
            shape: of the batch.

        >>> import jounce as jn
        >>> jn.robots.aerial_manipulator().random_configuration(0, 5).shape
        (5, 13)
        """
        rng = generator("rng", rng)
        lead = _lead(shape)
        q = np.empty((*lead, self.nq))
        for b, (where, _) in self._moving():
            part = q[..., where]
            if isinstance(b.joint, (Free, Spherical)):
                part[..., :-4] = rng.uniform(-1.0, 1.0, (*lead, b.joint.nq - 4))
                part[..., -4:] = rng.normal(size=(*lead, 4))
                part[..., -4:] /= np.linalg.norm(part[..., -4:], axis=-1, keepdims=True)
            elif isinstance(b.joint, CustomJoint):
                part[...] = rng.uniform(*b.joint.range, part.shape)
            elif isinstance(b.joint, Shape):
                shapes = b.joint.scale * rng.uniform(-1.0, 1.0, part.shape)
                if b.soft is not None and b.soft.n >= 10:  # each stretches it by at most a tenth
                    for shape in shapes.reshape(-1, b.soft.n):
                        while b.soft.inside_out(shape) is not None:
                            shape /= 2
                part[...] = shapes
            else:
                for i, primitive in enumerate(b.joint.primitives()):
                    reach = 1.0 if primitive.kind == "prismatic" else np.pi
                    part[..., i] = rng.uniform(*_range(b.joint.limits or Limits(), reach), lead)
        return q

    def _moving(self) -> list[tuple[BodyRecord, tuple[slice, slice]]]:
        """Everything with coordinates (joints and shapes of soft bodies), and their slices of q and v."""
        return list(zip(self._own, self._coordinates.values(), strict=True))

    # Dynamics

    def bias_force(self, q: ArrayLike, v: ArrayLike, *, damping: bool = True, frame: Frame = "body") -> Array:
        """The generalized forces at zero acceleration, with damping and friction: C v + gravity + springs + damping.

        Inverse dynamics is ``M dv/dt + bias_force``. A controller that feeds this back cancels the robot's own damping
        and friction, positively, which a model that overestimates them makes unstable: with ``damping=False`` they are
        left out, as in Pinocchio's ``nonLinearEffects``.

        Args:
            q: (..., nq).
            v: (..., nv).
            damping: whether `damping_force` is included: joint damping, dry friction and the viscosity of soft bodies.
            frame: axes of the twist and wrench rows of `Free` joints.

        Returns:
            (..., nv), N and N m.

        >>> import jounce as jn
        >>> b = jn.Builder()
        >>> b.add("arm", "world", jn.Revolute((0, 1, 0), damping=2.0), inertia=jn.Inertia(1.0, com=(0, 0, -0.5)))
        >>> arm = b.build()
        >>> arm.bias_force([0.0], [3.0]), arm.bias_force([0.0], [3.0], damping=False) + 0.0
        (array([6.]), array([0.]))
        """
        core = self if flag("damping", damping) else self._without(Leave.DAMPING)
        return core.inverse_dynamics(q, v, np.zeros(self.nv), frame=frame)

    def generalized_inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        *,
        frame: Frame = "body",
        order: int | None = None,
    ) -> Array:
        """M dv/dt + C v alone, and its derivatives: inverse dynamics without gravity, elasticity, damping and friction.

        Paper D's GID; `inverse_dynamics` is its AID, the forces that actuators have to supply.

        Args:
            q: (..., nq).
            v: (..., nv), or without `a` a stack (..., r + 2, nv).
            a: (..., nv).
            frame: axes of the twist and wrench rows of `Free` joints.
            order: r, the highest derivative in the result (with `a`: 0); checked if given.

        Returns:
            (..., nv), with a stack (..., r + 1, nv).

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> q, v = robot.random_configuration(np.random.default_rng(0)), np.ones((2, robot.nv))
        >>> forces = robot.generalized_inverse_dynamics(q, *v) + robot.gravity_force(q)
        >>> bool(np.allclose(forces, robot.inverse_dynamics(q, *v)))
        True
        """
        inertial = self._without(Leave.WEIGHT | Leave.ELASTIC | Leave.DAMPING)
        return inertial.inverse_dynamics(q, v, a, frame=frame, order=order)

    def elastic_force(self, q: ArrayLike) -> Array:
        """The forces (..., nv) that hold the joints' springs and the soft bodies in a configuration q (..., nq).

        The gradient of their energy, as `gravity_force` is the gradient of the gravitational energy.
        """
        none = np.zeros(self.nv)
        return self._without(Leave.WEIGHT).inverse_dynamics(q, none, none)

    def damping_force(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The forces (..., nv) that overcome joint damping, friction, and soft bodies' viscosity, for v (..., nv)."""
        damped = self._without(Leave.WEIGHT | Leave.ELASTIC | Leave.INERTIA)
        return damped.inverse_dynamics(q, v, np.zeros(self.nv))

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs of soft bodies (tendons, pressures): the columns of `actuation_matrix`."""
        return self._inputs.names

    def actuation_matrix(self, q: ArrayLike) -> Array:
        """The matrix (..., nv, nu) that maps the inputs u (nu,) of soft bodies to generalized forces.

        The force of inputs u is ``actuation_matrix(q) @ u``, to be added to the forces of the joints' own motors.

        Raises:
            ValueError: q has the wrong shape or is not finite.
            SingularError: the quantities that the inputs do work on have no derivative there.
        """
        given = self._configuration(q)
        found = self._inputs.checked(given, self._inputs.matrix(given))
        if self._discretization is not None:
            self._discretization.check(
                self, "the actuation matrix", given, found, lambda m, q: m._inputs.matrix(q), TURNED
            )
        return found

    def _without(self, leave: Leave) -> CoreModel:
        """The same robot without some of its forces."""
        key = f"_without_{leave.value}"
        if key not in self.__dict__:
            build = partial(_core_without, gravity=self.gravity, leave=leave)
            variant = build(self.bodies, discretization=Discretization.of(self.bodies, build))
            object.__setattr__(self, key, variant)
        found: CoreModel = self.__dict__[key]
        return found

    def torque_coefficients(
        self, q: ArrayLike, v: ArrayLike, order: int | None = None, *, frame: Frame = "body"
    ) -> Array:
        """How the n-th time derivative of the force depends on those of the velocity, as matrices P_k.

        tau^(n) = sum over k of P_k v^(k) + g^(n), with P_k = binom(n, k - 1) M^(n - k + 1) + binom(n, k) C^(n - k) for
        v^(k). Damping, friction and springs are not included. These are paper C's (38), whose q^(k + 1) is v^(k), but
        with the C of `coriolis_matrix`, for which dM/dt - 2 C is skew. With the paper's own C, (30), they are
        ``closed_form(q, v).body.printed_P``; the forces are the same.

        Args:
            q: (..., nq).
            v: stack (..., K, nv), K > n.
            order: n; K - 1 when left out.
            frame: axes of the twist and wrench rows of `Free` joints.

        Returns:
            (..., n + 2, nv, nv): the coefficients of v, dv/dt, ..., v^(n + 1); the last is M.

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> rng = np.random.default_rng(0)
        >>> q, v = robot.random_configuration(rng), rng.normal(size=(4, robot.nv))  # v to its third derivative
        >>> P, g = robot.torque_coefficients(q, v[:3]), robot.gravity_force_derivatives(q, v[:2])
        >>> bool(np.allclose(np.einsum("kij,kj", P, v) + g[2], robot.inverse_dynamics(q, v)[2]))
        True
        """
        C = self.coriolis_matrix_derivatives(q, v, frame=frame)
        stack = np.asarray(v, dtype=np.float64)
        rows = stack.shape[-2]
        n = rows - 1 if order is None else order
        if not is_whole(n) or not 0 <= n < rows:
            raise ValueError(f"order is {quoted(n)}, expected 0 to {rows - 1}: v has {counted(rows, 'row')}")
        M = self.mass_matrix(q, frame=frame)[..., None, :, :]
        if n > 0:
            M = self.mass_matrix_derivatives(q, stack[..., :n, :], frame=frame, order=int(n))
        P = np.zeros((*C.shape[:-3], n + 2, self.nv, self.nv))
        for k in range(n + 2):
            if k > 0:
                P[..., k, :, :] += comb(n, k - 1) * M[..., n - k + 1, :, :]
            if k <= n:
                P[..., k, :, :] += comb(n, k) * C[..., n - k, :, :]
        return P

    def closed_form(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
    ) -> ClosedForm:
        """The equations of motion in the form of the papers, for study and for symbolic work; see `ClosedForm`."""
        from jounce.dynamics.closed_form import ClosedForm

        found = ClosedForm(self, q, v, wrenches, wrench_frame)
        if self._discretization is not None:
            self.mass_matrix_derivatives(q, v)  # which warns where bodies bend too far for their nodes
        return found

    # Constraints

    def constrained(self, contacts: Mapping[str, Kind | Contact]) -> Model:
        """The same robot with contacts: frames that are held by the world.

        Contacts hold, whatever the force: contacts that open, slip or have friction cones are a different problem. All
        methods of the result that solve for motions satisfy them, along with the loops of the robot itself.

        Args:
            contacts: for each frame, by name, the motion that the contact allows: `Fixed` for a sole that neither
                slides nor turns, `Spherical` for a point foot, any other joint, `OnPlane`, `OnLine`, `Rolling`; or a
                `Contact`, which also says where in the world it is held, and in which axes. Without one, the axes of
                a joint are the held frame's own, those of `OnPlane`, `OnLine` and `Rolling` the world's.

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> held = robot.constrained({"B7": jn.Fixed()})
        >>> result = held.constrained_dynamics(held.neutral(), np.zeros(12), np.zeros((2, 12)))
        >>> result.acc.shape, result.forces["B7"].shape
        ((2, 12), (2, 6))
        """
        names = [name for name in contacts if name in self.frame_names] if isinstance(contacts, Mapping) else []
        fixed = [name for name in names if rigidly(self.bodies, name) == ("world", None)]
        records = contact_records(contacts, self.frame_names, fixed, list(self.constraint_names))
        return _model(replace(self._tree(), constraints=[*self.constraints, *records]))

    def constraint_rows(self, name: str) -> slice:
        """Where a constraint is in the rows of `constraint_jacobian` and in `residual`: a slice."""
        index = self._constraint_index(name)
        start = sum(c.rows for c in self.constraints[:index])
        return slice(start, start + self.constraints[index].rows)

    def _constraint_index(self, name: str) -> int:
        if not isinstance(name, str) or name not in self.constraint_names:
            raise ValueError(f"no constraint is named {quoted(name)}: {_near(name, self.constraint_names)}")
        return self.constraint_names.index(name)

    def _holonomic_rows(self) -> NDArray[np.bool_]:
        """The rows of constraints on positions."""
        return np.array([i < c.holonomic for c in self.constraints for i in range(c.rows)], dtype=np.bool_)

    def constrained_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
        frame: Frame = "body",
        motions: Mapping[str, ArrayLike] | None = None,
        correction: tuple[float, float] | None = None,
        order: int | None = None,
    ) -> ConstrainedDynamics:
        """`forward_dynamics` of a robot with constraints, and the constraint forces, with all derivatives.

        Args:
            q, v, tau, wrenches, wrench_frame, frame, order: as in `forward_dynamics`.
            motions: for contacts with something that moves, such as a platform: by contact name, a stack
                (..., r + 2, 6) of the twist [linear; angular] of the contact's place and its derivatives, in world
                axes about that place.
            correction: (kp, kd), 1/s^2 and 1/s: constraint errors decay like a damped oscillator. When left out, only
                the accelerations satisfy the constraints, and existing errors remain.

        Returns:
            `ConstrainedDynamics`, with acc as in `forward_dynamics`, and forces by name.
        """
        return constrained_dynamics(self, q, v, tau, wrenches, wrench_frame, frame, motions, correction, order)

    def constrained_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
        order: int | None = None,
    ) -> ConstrainedDerivatives:
        """The exact derivatives of `constrained_dynamics` with respect to position, velocity and tau.

        Args:
            q, v, tau, wrenches, order: as in `forward_dynamics_derivatives`.
            wrench_frame: axes of `wrenches`, and of the constraint forces and their derivatives.

        Returns:
            `ConstrainedDerivatives`, with respect to all of q, v and tau, including directions off the constraints.

        >>> import jounce as jn
        >>> held = jn.robots.aerial_manipulator().constrained({"B7": jn.Spherical()})
        >>> change = held.constrained_dynamics_derivatives(held.neutral(), np.zeros(12), np.zeros(12))
        >>> change.acc_q.shape, change.forces_q["B7"].shape
        ((12, 12), (6, 12))
        """
        return constrained_derivatives(self, q, v, tau, wrenches, wrench_frame, order)

    def constrained_inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        *,
        actuated: ArrayLike | Sequence[str] | None = None,
        weight: ArrayLike | None = None,
        force_weight: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
        frame: Frame = "body",
        order: int | None = None,
    ) -> ConstrainedInverseDynamics:
        """The smallest motor forces that produce a motion of a robot with constraints, with all derivatives.

        Motors and constraints can often share the forces of a motion in many ways. This returns the solution that
        minimizes tau^T W tau + l^T V l, where l are the multipliers of the constraints, and among several such the one
        with the smallest l. The derivatives are those of this optimum along the motion.

        Args:
            q: (..., nq).
            v: (..., nv), or without `a` a stack (..., r + 2, nv), which must satisfy the constraints with all its
                derivatives, as the result of `project` does.
            a: (..., nv).
            actuated: the coordinates that have motors: names of joints or of coordinates (`coordinate`), a mask (nv,),
                or columns; all when left out.
            weight: W, for the n actuated coordinates, in their order: a number, a diagonal (n,) or a positive definite
                matrix (n, n); 1 when left out.
            force_weight: V, for the rows of `constraint_jacobian`, likewise; 0 when left out. It may be singular.
            wrenches, wrench_frame: as in `inverse_dynamics`.
            frame: axes of the twist and wrench rows of `Free` joints.
            order: r, the highest derivative in the result (with `a`: 0); checked if given.

        Returns:
            `ConstrainedInverseDynamics`, with tau, the constraint forces by name, and the multipliers.

        Raises:
            ConstraintError: the motion violates a constraint, or motors and constraints cannot produce it.

        >>> import jounce as jn
        >>> b = jn.Builder()
        >>> for name in ("motor", "wheel"):
        ...     b.add(name, "world", jn.Revolute(), inertia=jn.Inertia(1.0, (0, 0, 0), np.eye(3)))
        >>> b.close("gear", "motor", "wheel", jn.Gear((0.0, 2.0)))
        >>> geared = b.build()
        >>> result = geared.constrained_inverse_dynamics([0, 0], [1.0, 2.0], [1.0, 2.0], actuated=["motor"])
        >>> result.tau.round(12), result.forces["gear"].round(12)  # on the motor and on the wheel
        (array([5., 0.]), array([-4.,  2.]))
        """
        return constrained_inverse_dynamics(
            self, q, v, a, actuated, weight, force_weight, wrenches, wrench_frame, frame, order
        )

    def constraint_jacobian(self, q: ArrayLike, *, frame: Frame = "body") -> Array:
        """The matrix J (..., rows, nv) of all constraints: J v = 0.

        The rows of a contact are along the axes of its pose, such as those of a shank that stands on its foot, unless
        `Contact` has ``axes="world"``. Multipliers go with these rows; wrenches have a frame of their own.

        Args:
            q: (..., nq).
            frame: axes of the twist columns of `Free` joints.
        """
        return self._constraint_rows(q, None, frame)[0][..., 0, :, :]

    def constraint_jacobian_derivatives(
        self, q: ArrayLike, v: ArrayLike, *, frame: Frame = "body", order: int | None = None
    ) -> Array:
        """`constraint_jacobian` and its time derivatives, (..., K + 1, rows, nv) for a stack v (..., K, nv).

        Those of a contact without a pose are rates of J while it stays where it is at q, not of `constraint_jacobian`
        along the motion, which would hold it anew at each configuration. One velocity (nv,) stands for a stack of one
        row; `order` is K, the highest derivative in the result, and checked if given.
        """
        if v is None:
            raise ValueError("v must be an array of real numbers, got None")
        return self._constraint_rows(q, v, frame, order)[0]

    def residual(self, q: ArrayLike, v: ArrayLike | None = None, *, frame: Frame = "body") -> Any:
        """How far a state is from satisfying the constraints.

        Args:
            q: (..., nq).
            v: (..., nv).
            frame: axes of the twist rows of `Free` joints in v.

        Returns:
            (..., rows): metres, radians, and square metres for `Distance`; zero in rows that do not constrain
            positions. With v, the pair of this and J v.
        """
        J, positions, _ = self._constraint_rows(q, None, frame)
        if v is None:
            return positions
        velocity = rows_of("v", v, self.nv, "nv")
        lead = batch_of(q=positions.shape[:-1], v=velocity.shape[:-1])
        positions = np.broadcast_to(positions, (*lead, positions.shape[-1])).copy()
        return positions, np.einsum("...ij,...j->...i", J[..., 0, :, :], velocity)

    def project(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        held: Mapping[str, ArrayLike] | Iterable[str] = (),
        order: int | None = None,
    ) -> Any:
        """A state that satisfies the constraints, roughly the nearest to the given one.

        Nearest in natural sizes, which come from the robot's geometry: an angle of about a radian counts as much as a
        length of about the robot's.

        Args:
            q: (..., nq), anywhere near: a robot with loops can be assembled from `neutral`, if that is possible at all.
            v: (..., nv), or with one dimension more than q, or than what is held, a stack (..., K, nv) of the velocity
                and its derivatives.
            held: joints, or single coordinates, that keep what is given for them, while the others give way: names, or
                {name: position} as in `equilibrium`, to which they are led from where they are in q, so that a linkage
                stays on its branch, through dead centres too. Their rates are those in v.
            order: the highest derivative of v in the result, K - 1; checked if given.

        Returns:
            q; with v, the pair (q, v).

        Raises:
            ConstraintError: no such configuration was found, or none in which no soft body is inside out; or none with
                these joints held.

        Warns:
            ConstraintWarning: the nearest configuration violates the constraints by less than 1e-6 in natural sizes:
                data with rounded digits.

        >>> import jounce as jn
        >>> b, hinge = jn.Builder(), jn.Revolute((0, 1, 0))
        >>> b.add("crank", "world", hinge, inertia=jn.Inertia(1.0, com=(0.1, 0, 0)))
        >>> b.add("rod", "crank", hinge, jn.placement((0.2, 0, 0)), jn.Inertia(1.0, com=(0.3, 0, 0)))
        >>> b.add("piston", "world", jn.Prismatic((1, 0, 0)), jn.placement((0.8, 0, 0)), jn.Inertia(1.0))
        >>> b.close("pin", "rod", "piston", hinge, placement_a=jn.placement((0.6, 0, 0)))
        >>> engine, angles = b.build(), np.linspace(0.1, 2.0, 20)[:, None]
        >>> q, v = engine.project(engine.neutral(), [1.0, 0.0, 0.0], held={"crank": angles})  # it turns at 1 rad/s
        >>> q.shape, bool((q[:, :1] == angles).all()), bool((v[:, 0] == 1.0).all())
        ((20, 3), True, True)
        """
        return projected(self, q, v, held, order)

    def loop_coordinate(self, name: str, q: ArrayLike, v: ArrayLike | None = None) -> Any:
        """The coordinates of the joint that closes a loop, which are not part of q, and their velocity.

        Args:
            name: of the constraint, or of a contact with a pose.
            q: (..., nq), which should satisfy the constraint: otherwise the coordinates are approximate.
            v: (..., nv).

        Returns:
            (..., n), what the q of that joint would be in the tree: an angle for `Revolute`, from -pi to pi; distance
            and angle for `Cylindrical`; a quaternion for `Spherical`; empty, n = 0, for `Fixed`. The distance for
            `Distance`, the position along the axis for `OnLine`. With v, the pair of this and its velocity (..., m).

        Raises:
            ValueError: there is no such constraint, or it has no coordinates: `OnPlane`, `Rolling`, `Gear`, and
                contacts that are held wherever they are.

        >>> import jounce as jn
        >>> b = jn.Builder()
        >>> hinge = jn.Revolute((0, 1, 0))
        >>> b.add("arm", "world", hinge, inertia=jn.Inertia(1.0, com=(0, 0, -0.5)))
        >>> b.add("hand", "arm", hinge, inertia=jn.Inertia(1.0, com=(0, 0, -0.5)))
        >>> b.close("pin", "world", "hand", hinge)
        >>> angle, rate = b.build().loop_coordinate("pin", [0.1, 0.2], [1.0, 2.0])
        >>> angle.round(12), rate
        (array([0.3]), array([3.]))
        """
        return loop_coordinate(self, name, q, v)

    def inverse_constraint_inertia(self, q: ArrayLike) -> Array:
        """J M^-1 J^T (..., rows, rows) for q (..., nq): maps the multipliers to accelerations along the constraints.

        The inverse of the operational-space inertia of the constraints (Khatib), where that exists: the matrix is
        singular where rows of `constraint_jacobian` are linearly dependent. It does not depend on the choice of axes.

        >>> import jounce as jn
        >>> held = jn.robots.quadrotor_arm().constrained({"tool": jn.Spherical()})
        >>> held.inverse_constraint_inertia(held.neutral()).shape
        (3, 3)
        """
        states = States(self.nv, q=(q, 1))
        if states.many:
            made = Gathered(states.lead)
            for some, piece in states.pieces():
                made.put(some, found=self.inverse_constraint_inertia(piece["q"]))
            return made["found"]
        J = self.constraint_jacobian(q)
        given = np.asarray(q, dtype=np.float64)
        columns = self.inverse_mass_matrix_apply(given if given.ndim == 1 else given[..., None, :], J)  # (M^-1 J^T)^T
        with finite_answers("the inverse inertia of the constraints") as expect_finite:
            product = J @ np.swapaxes(columns, -1, -2)
            found: Array = (product + np.swapaxes(product, -1, -2)) / 2
            expect_finite(found)
        return found

    def impact(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        restitution: float | Mapping[str, float] = 0.0,
        normals: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
        frame: Frame = "body",
    ) -> Impact:
        """The velocity right after all constraints close at once, as when a foot hits the ground, and the impulses.

        All constraints hold: even a contact that is about to open, J v > 0, is held back. So pass only those that
        close, with ``robot.constrained({...})``.

        Args:
            q: (..., nq).
            v: (..., nv) before.
            restitution: 0 to 1, or one per constraint by name, 0 for the others: the fraction of the speed along its
                normal with which a contact bounces back (Newton). All other motion that the constraints forbid stops.
            normals: by constraint name, the direction (3,) of the normal in world axes, for constraints that have none
                of their own. `OnPlane`, `Rolling` and `Distance` have one; others bounce only if it is given.
            wrench_frame: axes of the impulses, as of wrenches in `forward_dynamics`.
            frame: axes of the twist rows of `Free` joints in v.

        Returns:
            `Impact`, with v and the impulses by name. No energy is gained if only one row closes; if friction stops
            the sliding while the normal bounces, Newton's law may gain some.

        Raises:
            ConstraintError: no velocity bounces as requested, because constraints depend on each other.

        >>> import jounce as jn
        >>> b = jn.Builder()
        >>> b.add("ball", "world", jn.Free(), inertia=jn.Inertia(2.0, (0, 0, 0), np.eye(3)))
        >>> ball = b.build().constrained({"ball": jn.OnPlane()})
        >>> hit = ball.impact(ball.neutral(), [1.0, 0.0, -3.0, 0.0, 0.0, 0.0], restitution=0.5)
        >>> hit.v, hit.impulses["ball"]
        (array([1. , 0. , 1.5, 0. , 0. , 0. ]), array([0., 0., 9., 0., 0., 0.]))
        """
        return impact(self, q, v, restitution, normals, axes("wrench_frame", wrench_frame), axes("frame", frame))

    def independent_coordinates(self, q: ArrayLike, names: Sequence[str] | None = None) -> IndependentCoordinates:
        """Velocity coordinates that the constraints leave independent, and how the others follow from them.

        Args:
            q: (..., nq).
            names: of the joints or coordinates (`coordinate`) that are to be the independent ones. When left out, they
                are chosen, well conditioned, which takes a single q: each state could have others.

        Returns:
            `IndependentCoordinates`, with the columns and the matrix G of v = G v[columns].

        Raises:
            ValueError: names is not a list of joints and coordinates, or too many or too few of these.
            ConstraintError: those coordinates are not independent in this configuration.

        >>> import jounce as jn
        >>> b = jn.Builder()
        >>> for name in ("motor", "shaft"):
        ...     b.add(name, "world", jn.Revolute(), inertia=jn.Inertia(1.0, (0, 0, 0), np.eye(3)))
        >>> b.close("gear", "motor", "shaft", jn.Gear((0.0, -2.0)))
        >>> b.build().independent_coordinates([0.0, 0.0], ["motor"]).G
        array([[ 1.],
               [-2.]])
        """
        return independent_coordinates(self, q, names)

    # Changed robots

    def _tree(self) -> Tree:
        return Tree(self.bodies, self.gravity, self.constraints, self.scenery, self._keyframes)

    def lock(self, positions: Mapping[str, ArrayLike]) -> Model:
        """The same robot with some joints held at a position: they become fixed, and have no coordinates any more.

        Their bodies remain as frames. Joints that follow a locked one are fixed where they then are. Armature, damping
        and springs of locked joints vanish; the inertia of a rotor stays, on the parent. A soft body whose shape is
        locked becomes rigid, with the mass of all its sections. Constraints stay; a gear with one locked joint holds
        the other.

        Args:
            positions: by joint, a number, or q (nq,) of joints with several coordinates: m and rad, quaternions
                x y z w. By the name of its shape, the strains (n,) of a soft body.

        Raises:
            ValueError: there is no such joint, it follows another, or a constraint has nothing left to move.

        Warns:
            ModelWarning: a position is outside the limits of its joint by more than a tenth of the range between them.

        >>> import jounce as jn
        >>> arm = jn.robots.panda().lock({"q4": -1.5, "q7": 0.8})
        >>> arm.joint_names
        ('q1', 'q2', 'q3', 'q5', 'q6')
        """
        from jounce.editing.lock import locked

        return _model(locked(self._tree(), positions))

    def replace(
        self,
        *,
        armature: ArrayLike | Mapping[str, ArrayLike] | None = None,
        damping: ArrayLike | Mapping[str, ArrayLike] | None = None,
        friction: ArrayLike | Mapping[str, ArrayLike] | None = None,
        friction_speed: ArrayLike | Mapping[str, ArrayLike] | None = None,
        stiffness: ArrayLike | Mapping[str, ArrayLike] | None = None,
        rest: ArrayLike | Mapping[str, ArrayLike] | None = None,
        limits: Limits | Mapping[str, Limits] | None = None,
        gravity: ArrayLike | None = None,
        inertia: Mapping[str, Inertia] | None = None,
    ) -> Model:
        """The same robot with other drives, springs, limits, gravity or inertias.

        What is left out stays. Each is given by joint name, as for the joint itself: a number for all its coordinates,
        or one for each; or as an array (nv,) with one number per coordinate of the robot, such as ``robot.damping``.
        One number is for all joints with coordinates that can have it, but for `Free` joints, which have no drive.
        Joints that follow others keep theirs, unless the number is zero: give these by name.

        Args:
            armature: kg m^2 or kg; not for joints with a rotor and custom joints.
            damping: N m s/rad or N s/m.
            friction: N m or N.
            friction_speed: rad/s or m/s.
            stiffness: N m/rad or N/m.
            rest: rad or m, of joints with one coordinate.
            limits: `Limits`, of joints with one coordinate. Of these, what is not given stays: ``Limits(effort=50)``
                changes the effort alone. ``Limits()`` for none.
            gravity: (3,) m/s^2.
            inertia: `Inertia` by name of the body or frame, in its axes.

        Warns:
            ModelWarning: a number for all joints does not change some, as they have a rotor in place of an armature,
                or follow others; or an inertia is more than ten times as far away as the robot is long, as if given in
                millimetres.

        >>> import jounce as jn
        >>> robot = jn.robots.panda().replace(armature=0.1, damping={"q1": 2.0}, gravity=(0, 0, -1.62))
        >>> robot.gravity, robot.damping_force(robot.neutral(), np.ones(7))
        (array([ 0.  ,  0.  , -1.62]), array([2., 0., 0., 0., 0., 0., 0.]))
        """
        options = {"armature": armature, "damping": damping, "stiffness": stiffness, "rest": rest, "limits": limits}
        options |= {"friction": friction, "friction_speed": friction_speed}
        from jounce.editing.replace import replaced

        return _model(replaced(self._tree(), gravity, inertia, options))

    def with_limits(self, path: str | PathLike[str]) -> Model:
        """The same robot with the limits of a file like MoveIt's ``joint_limits.yaml``.

        What the file says of a joint replaces the robot's own limit; what it does not mention stays. As in MoveIt, a
        maximum counts only if its ``has_..._limits`` is true; if that is false, the joint has no such limit, except for
        positions, whose limits stay. Numbers may be tagged ``!degrees``. Scaling factors
        (``default_velocity_scaling_factor``) are no limits: they slow plans down, and are not looked at.

        Args:
            path: of the file, which need not be trusted. Needs ``pip install 'jounce[yaml]'``.

        Raises:
            LoadError: a ``ValueError`` that names the file, the line, the joint and the fault, such as a joint that the
                robot does not have; if the file does not exist, it is also a ``FileNotFoundError``.

        Warns:
            LoadWarning: once, about words that are no limits, and about maxima that do not count.

        >>> import jounce as jn
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder) / "joint_limits.yaml"
        ...     _ = file.write_text("joint_limits: {q1: {has_jerk_limits: true, max_jerk: 100.0}}")
        ...     careful = jn.robots.panda().with_limits(file)
        >>> careful.jerk_limit[:2], careful.velocity_limit[:2]
        (array([ 100., 3750.]), array([2.175, 2.175]))
        """
        from jounce.loading.joint_limits import with_limits

        return _model(with_limits(self._tree(), path))

    def attach(self, other: Model, to: str = "world", placement: ArrayLike | None = None, *, prefix: str = "") -> Model:
        """Both robots in one: the other one stands on a body or frame of this one, as it stood on its world.

        Its coordinates follow those of this robot, and its joints, constraints, soft bodies and visuals come along. A
        floating base stays floating, relative to the frame that carries it: to mount it, `lock` its joint first.

        Args:
            other: the robot to attach; its gravity must be the same.
            to: name of the body or frame that carries it; the far end if that is soft.
            placement: (4, 4) pose of the other's world in that frame; the identity when left out.
            prefix: of all names of the other robot, including those of its inputs.

        Raises:
            ValueError: names would be taken twice, or gravity differs.

        Warns:
            ModelWarning: `to` moves, and `placement` is more than ten times as far away as either robot is long.

        >>> import jounce as jn
        >>> arm = jn.robots.panda()
        >>> b = jn.Builder()
        >>> b.add("torso", "world", jn.Revolute(), inertia=jn.Inertia.box(20.0, (0.3, 0.5, 0.6)))
        >>> two = b.build().attach(arm, "torso", jn.placement((0, 0.3, 0.5)), prefix="left_")
        >>> two = two.attach(arm, "torso", jn.placement((0, -0.3, 0.5)), prefix="right_")
        >>> two.nv, two.joint_names[:2], two.joint_names[-1]
        (15, ('torso', 'left_q1'), 'right_q7')
        """
        from jounce.editing.attach import attached

        return _model(attached(self._tree(), a_model("other", other)._tree(), to, placement, prefix))

    def subtree(self, name: str | int) -> Model:
        """The robot that consists of a body, its joint, and all that hangs below it.

        If what carries the body is fixed in the world, the part stays where it is. Otherwise the carrier's frame
        becomes the world; gravity has the same components there.

        Args:
            name: of a body or frame.

        Raises:
            ValueError: a constraint ties the part to the rest, or one of its joints follows one of the rest. Both
                can be removed first: `unconstrained`, `lock`.

        >>> import jounce as jn
        >>> jn.robots.aerial_manipulator().subtree("B3").joint_names
        ('q3', 'q4')
        """
        from jounce.editing.cut import subtree

        return _model(subtree(self._tree(), self.frame_names[self.frame_index(name)]))

    def chain(self, base: str, tip: str) -> Model:
        """The robot with only the joints between two frames; everything that moves otherwise is cut away.

        Frames and bodies that are fixed to the chain remain, also beyond the tip. The base becomes fixed, as a frame:
        where it is, if it is fixed in the world already, else at the world's origin; gravity has the same components
        there.

        Args:
            base, tip: names of bodies or frames, tip below base; base may be "world".

        Raises:
            ValueError: as for `subtree`, or tip does not hang below base.

        Warns:
            ModelWarning: mass that moves on the joints of the chain is left out, as the fingers of a hand are, or mass
                beyond the tip stays; `lock` keeps and `remove` removes it without a warning.

        >>> import jounce as jn
        >>> jn.robots.quadrotor_arm().chain("quadrotor", "tool").joint_names
        ('shoulder', 'elbow')
        """
        for key, given in (("base", base), ("tip", tip)):
            expect_name(f"{key} is no body or frame:", given, ["world"] * (key == "base") + list(self.frame_names))
        from jounce.editing.cut import chain

        return _model(chain(self._tree(), base, tip))

    def remove(self, name: str | int) -> Model:
        """The robot without a body, its joint, and all that hangs below it.

        Args:
            name: of a body or frame.

        Raises:
            ValueError: a constraint ties what is removed to what stays or to the world, or a joint that stays follows
                one that is removed. Both can be prevented first: `unconstrained`, `lock`.

        >>> import jounce as jn
        >>> jn.robots.quadrotor_arm().remove("forearm").joint_names
        ('base', 'shoulder')
        """
        from jounce.editing.cut import without

        return _model(without(self._tree(), self.frame_names[self.frame_index(name)]))

    def payload(self, name: str | int, inertia: Inertia, placement: ArrayLike | None = None) -> Model:
        """The same robot carrying something: an inertia added to a body or frame.

        Args:
            name: of the body or frame; of a soft body, its far end, which gets a frame for it, "NAME.payload".
            inertia: of what it carries.
            placement: (4, 4) pose of that in the frame; the identity when left out.

        Warns:
            ModelWarning: it is more than ten times as far away as the robot is long, as if given in millimetres.

        >>> import jounce as jn
        >>> robot = jn.robots.quadrotor_arm()
        >>> loaded = robot.payload("tool", jn.Inertia.sphere(0.5, 0.05), jn.placement((0, 0, -0.05)))
        >>> weight = loaded.gravity_force(robot.neutral())[2] - robot.gravity_force(robot.neutral())[2]
        >>> round(float(weight), 3)
        4.905
        """
        from jounce.editing.payload import loaded

        return _model(loaded(self._tree(), self.frame_names[self.frame_index(name)], inertia, placement))

    def unconstrained(self, constraints: Sequence[str] | None = None) -> Model:
        """The same robot without some of its constraints, by name; without all of them when left out.

        >>> import jounce as jn
        >>> held = jn.robots.quadrotor_arm().constrained({"tool": jn.Spherical(), "quadrotor": jn.OnPlane()})
        >>> held.unconstrained(["tool"]).constraint_names
        ('quadrotor',)
        """
        from jounce.editing.ties import unconstrained

        return _model(unconstrained(self._tree(), constraints))

    # Derivatives

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        *,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
        order: int | None = None,
    ) -> tuple[Array, ...]:
        """The exact derivatives of `inverse_dynamics` with respect to position, velocity and acceleration.

        Args:
            q: (..., nq).
            v: (..., nv), or without `a` a stack (..., r + 2, nv).
            a: (..., nv).
            wrenches, wrench_frame: as in `inverse_dynamics`; held in the axes they are given in.
            order: r, the highest time derivative in the result (with `a`: 0); checked if given.

        Returns:
            With `a`: dtau/dq, dtau/dv and M = dtau/da, each (..., nv, nv). With a stack: the derivatives of every
            tau^(k), k <= r, with respect to q, (..., r + 1, nv, nv), and to every v^(m), m <= r + 1,
            (..., r + 1, r + 2, nv, nv). Positions vary in left-trivialized tangent coordinates, as in `integrate`;
            `Free` rows and columns are in body axes.

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> rng = np.random.default_rng(0)
        >>> q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
        >>> dq, dv, M = robot.inverse_dynamics_derivatives(q, v, a)
        >>> step = 1e-6 * rng.normal(size=robot.nv)
        >>> change = robot.inverse_dynamics(robot.integrate(q, step), v, a) - robot.inverse_dynamics(q, v, a)
        >>> bool(np.allclose(change, dq @ step, atol=1e-9))
        True
        """
        K, D, M = self._inverse_dynamics_derivatives(q, v, a, wrenches, wrench_frame, order)
        if a is not None:
            return K, D, M
        return inverse_partials(self, np.asarray(v, dtype=np.float64), K, D, M)

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
        order: int | None = None,
    ) -> tuple[Array, Array, Array]:
        """The exact derivatives of `forward_dynamics` with respect to position, velocity and forces.

        Args:
            q: (..., nq).
            v: (..., nv).
            tau: (..., nv), or with one dimension more than v a stack (..., r + 1, nv).
            wrenches, wrench_frame: as in `forward_dynamics`; held in the axes they are given in.
            order: r, the highest time derivative in the result; checked if given, so 0 refuses a stack.

        Returns:
            da/dq, da/dv and M^-1 = da/dtau, each (..., nv, nv). With a stack, those of every dv^(k)/dt, k <= r:
            (..., r + 1, nv, nv) twice, and with respect to every tau^(l) (..., r + 1, r + 1, nv, nv). Tangent
            coordinates and axes as in `inverse_dynamics_derivatives`.
        """
        force: Any = tau
        velocity: Any = v
        try:
            stacked = force.ndim > velocity.ndim
        except (AttributeError, TypeError):  # lists
            stacked = depth(force) > depth(velocity)
        if stacked or order is not None:
            self._expect_order_of_forces(q, v, tau, order)
        if self.constraints:
            change = constrained_derivatives(self, q, v, tau, wrenches, wrench_frame)
            return change.acc_q, change.acc_v, change.acc_tau
        if not stacked:
            da_dq, da_dv, inverse, _ = self._forward_dynamics_derivatives(q, v, tau, wrenches, wrench_frame)
            return da_dq, da_dv, inverse
        rows = np.shape(tau)[-2]
        acc = self.forward_dynamics(q, v, tau, wrenches=wrenches, wrench_frame=wrench_frame, order=rows - 1)
        first = np.broadcast_to(np.asarray(v, dtype=np.float64)[..., None, :], (*acc.shape[:-2], 1, self.nv))
        stack = np.concatenate([first, acc], axis=-2)
        K, D, M = self._inverse_dynamics_derivatives(q, stack, None, wrenches, wrench_frame, rows - 1)
        return forward_partials(*inverse_partials(self, stack, K, D, M), self.inverse_mass_matrix(q))

    @property
    def inertial_parameters(self) -> Array:
        """(10 nbodies,): the inertial parameters of each moving body and everything fixed to it, in its own axes.

        Mass, mass times centre of mass (x, y, z), and the inertia about the body's origin, in Pinocchio's order:
        xx, xy, yy, xz, yz, zz, as `Inertia.parameters`.
        """
        self._expect_rigid("inertial parameters are those")
        return inertial_parameters(self.bodies)

    def with_inertial_parameters(self, parameters: ArrayLike, *, physical: bool = True) -> Model:
        """The same robot with other inertial parameters, such as identification gives.

        The parameters of a body are those of all that is fixed to it, too. What is fixed keeps its inertia, and can be
        removed or replaced later; the body gets the rest. Armatures and rotors stay.

        Args:
            parameters: (10 nbodies,), as `inertial_parameters`.
            physical: whether parameters that no real body has raise a ``ValueError``, as in `Inertia`. The mass must
                not be negative in any case.

        Warns:
            ModelWarning: the rest is no inertia, for example as what is fixed weighs more. Then the body has all of the
                mass, and what is fixed to it none.

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> heavier = robot.with_inertial_parameters(1.1 * robot.inertial_parameters)
        >>> round(heavier.mass / robot.mass, 12)
        1.1
        """
        self._expect_rigid("inertial parameters are those")
        from jounce.editing.parameters import parametrized

        return _model(parametrized(self._tree(), parameters, physical))

    def _expect_rigid(self, what: str) -> None:
        if self._soft:
            raise ValueError(f"{what} of rigid bodies; {next(iter(self._soft))!r} is soft")

    def inverse_dynamics_regressor(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        *,
        frame: Frame = "body",
        order: int | None = None,
    ) -> Array:
        """The matrix Y such that the forces of bodies are Y times the `inertial_parameters`, and its time derivatives.

        Args:
            q: (..., nq).
            v: (..., nv), or without `a` a stack (..., r + 2, nv).
            a: (..., nv).
            frame: axes of the twist and wrench rows of `Free` joints.
            order: r, the highest derivative in the result (with `a`: 0); checked if given.

        Returns:
            (..., nv, 10 nbodies), with a stack (..., r + 1, nv, 10 nbodies). The forces of armatures, rotors, damping,
            friction, springs and wrenches are not included: ``inverse_dynamics(q, v) - Y @ inertial_parameters`` is
            what armatures, rotors, damping, friction and springs add, whatever the parameters.

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> rng = np.random.default_rng(0)
        >>> q, v = robot.random_configuration(rng), rng.normal(size=(4, robot.nv))
        >>> Y = robot.inverse_dynamics_regressor(q, v)  # Y, dY/dt and d2Y/dt2
        >>> bool(np.allclose(Y @ robot.inertial_parameters, robot.inverse_dynamics(q, v)))
        True
        """
        self._expect_rigid("the regressor is that")
        if a is None:
            return self._regressor(q, v, frame, order)
        expect_order(order, 0, "`a` was given")
        velocity, acceleration = rows_of("v", v, self.nv, "nv"), rows_of("a", a, self.nv, "nv")
        try:
            stack = np.stack(np.broadcast_arrays(velocity, acceleration), axis=-2)
        except (ValueError, RuntimeError):  # NumPy raises the latter for more than 32 dimensions
            shapes_ = f"v {velocity.shape}, a {acceleration.shape}"
            raise ValueError(f"the batch dimensions do not broadcast: {shapes_}") from None
        return self._regressor(q, stack, frame, 0)[..., 0, :, :]

    def linearize(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        u: ArrayLike | None = None,
        actuated: ArrayLike | Sequence[str] | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
        frame: Frame = "body",
    ) -> Linearization:
        """Linearization of the robot about a state, on the Lie group itself (paper B, Proposition 1).

        Args:
            q: (..., nq).
            v, tau: (..., nv), `Free` rows in the axes `frame`.
            u: (..., nu) inputs of soft bodies, which act in addition to tau and are held constant; B then has their
                columns after those of `actuated`, which is empty unless given.
            actuated: which forces are inputs: names of joints or of coordinates (`coordinate`), such as "base.vz", a
                mask (nv,), or columns; all when left out.
            wrenches, wrench_frame: as in `forward_dynamics`.
            frame: axes of the displacement, velocity and force of `Free` joints.

        Returns:
            `Linearization`, with A (..., 2 nv, 2 nv) and B (..., 2 nv, nu).

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> q, rest = robot.neutral(), np.zeros(robot.nv)
        >>> lin = robot.linearize(q, rest, robot.gravity_force(q))
        >>> lin.A.shape, lin.B.shape
        ((24, 24), (24, 12))
        """
        if not self.constraints and u is None and actuated is None and isinstance(frame, str) and frame == "body":
            parts = self._linearize(q, v, tau, None, wrenches, wrench_frame)
            return Linearization(*parts, self._all_columns, frame, robot=self)
        return linearize(self, q, v, tau, u, actuated, wrenches, wrench_frame, frame)

    # Statics

    def equilibrium(
        self,
        u: ArrayLike | None = None,
        *,
        q0: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
        held: Mapping[str, ArrayLike] | Iterable[str] = (),
        branch: Literal["stable", "any"] | None = None,
    ) -> Equilibrium:
        """Where the robot is at rest: gravity_force + elastic_force = actuation_matrix(q) u + tau + wrenches.

        With constraints, their forces J^T l are added, and q satisfies them. The start is projected onto them, and
        contacts that are held wherever they are then stay there.

        The load (weight, inputs, forces and wrenches) is raised from zero to its full value, and the robot is followed
        from `neutral`; or, given `q0`, the force that would hold it there is gradually released. No soft body is inside
        out in what is found, nor on the way. Each state of a batch is followed by itself, one after the other.

        Args:
            u: (..., nu) inputs of soft bodies, `input_names`: N or Pa; zero when left out.
            q0: (..., nq) where to start; it decides between several equilibria.
            tau: (..., nv) forces of the joints, N and N m, those of `Free` joints in body axes.
            wrenches: for bodies or frames by name, (..., 6) [force; moment], N and N m.
            wrench_frame: as in `inverse_dynamics`; the wrenches are held in these axes.
            held: joints that are held, as by a brake or a motor: names, for joints held where they start (in `q0` or
                `neutral`), or {name: position}, a number, or an array (..., n) of as many as the joint has in q. Shapes
                of soft bodies can be held like joints; so can single coordinates (`position`), unless the joint has a
                quaternion.
            branch: which equilibrium it should be where the path from `neutral` loses stability, as that of a column
                does that buckles. When left out, the path is followed all the same, and a warning says where. "any"
                is without the warning. With "stable" the robot is pushed off along the motion that grows there, comes
                to rest, is loaded further, and so on; what is found is stable, or indifferent. Of two equilibria that
                are alike it is the one towards which the coordinate grows that moves most, by its kinetic energy, the
                first one if there are several. With `q0`, "stable" is about the end of the path alone, which the robot
                leaves in the same way if it is unstable; the others make no difference.

        Returns:
            `Equilibrium`, with q, the tangent stiffness, whether it is stable, the constraint forces, and the
            `reactions`: the forces that hold joints.

        Raises:
            ValueError: an argument has the wrong shape or an invalid value.
            NoEquilibrium: none was found, or no stable one with branch="stable"; the message says how far the load
                could be raised, which soft body would be inside out, and which joints have nothing that holds them.
            ConstraintError: the constraints cannot be satisfied, or not with these joints held.

        Warns:
            StabilityWarning: the path from `neutral` goes through unstable equilibria, which a robot that is loaded
                slowly would not follow, and neither `q0` nor `branch` was given.

        >>> import jounce as jn
        >>> b = jn.Builder()
        >>> bend = jn.soft.constant_curvature(planar=True)
        >>> b.add("rod", parent="world", body=jn.soft.Rod(0.3, 0.01, 1000.0, 1e6, strain=bend))
        >>> finger = b.build()
        >>> rest = finger.equilibrium(wrenches={"rod": (0.05, 0, 0, 0, 0, 0)}, wrench_frame="mixed")  # 0.05 N along x
        >>> rest.stable, bool(np.abs(rest.residual).max() < 1e-12)
        (True, True)
        >>> pull = np.linspace(0.0, 0.05, 6)[:, None] * [1, 0, 0, 0, 0, 0]
        >>> finger.equilibrium(wrenches={"rod": pull}, wrench_frame="mixed").q.shape  # at each of six forces
        (6, 2)
        >>> b = jn.Builder()
        >>> b.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, com=(0, 0, -0.5)))
        >>> b.build().equilibrium(held={"arm": np.pi / 2}).reactions["arm"].round(3)  # torque that holds the arm out
        array([4.905])
        >>> b = jn.Builder()
        >>> bend = jn.soft.constant_curvature(planar=True, elongation=False)
        >>> b.add("column", "world", body=jn.soft.Rod(1.0, 0.01, 1000.0, 2.5e7, strain=bend))  # too tall for its weight
        >>> b.build().equilibrium(branch="stable").q.round(3)  # bends over
        array([1.98])
        """
        return equilibrium(self, u, q0, tau, wrenches, axes("wrench_frame", wrench_frame), held, branch)

    # Kinematics

    def forward_kinematics(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        frames: Sequence[str | int] | Frames | None = None,
        frame: Frame = "body",
        velocity_frame: Frame | None = None,
        order: int | None = None,
    ) -> Kinematics:
        """Poses of bodies and, from a velocity stack, their twists with all derivatives (paper A, Algorithm 1).

        Args:
            q: (..., nq).
            v: stack (..., K, nv), K >= 1; left out, only poses are computed.
            frames: names of the bodies and fixed frames to compute, or what `frames` makes of them; all bodies when
                left out; pass ``robot.frame_names`` for all bodies and frames.
            frame: axes of the returned twists.
            velocity_frame: axes of the twist rows of `Free` joints in v. To be given if the robot has such joints and
                `frame` is not "body": "body", as for Pinocchio's velocities, "world" or "mixed".
            order: K - 1, the highest derivative of the twists; checked if given.

        Returns:
            `Kinematics`, with pose (..., nframes, 4, 4) and twist (..., K, nframes, 6).

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> v = np.ones((3, robot.nv))
        >>> kin = robot.forward_kinematics(robot.neutral(), v, frame="world", velocity_frame="body")
        >>> kin.pose.shape, kin.twist.shape
        ((7, 4, 4), (3, 7, 6))
        """
        names, pose, twist = self._motion_of(frames, q, v, 1, frame, velocity_frame, order)
        return Kinematics(names, pose[..., 0, :, :, :], twist)

    def frames(self, frames: Sequence[str | int] | Frames) -> Frames:
        """Some bodies and frames, looked up once, for loops: `Frames`, which has their poses, twists and Jacobians.

        Args:
            frames: their names, or indices in ``frame_names``.

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> hands = robot.frames(["B4", "B7"])
        >>> q, v = robot.neutral(), np.ones(robot.nv)
        >>> hands.pose(q).shape, hands.twist(q, v).shape, hands.jacobian(q).shape
        ((2, 4, 4), (2, 6), (2, 6, 12))
        >>> robot.forward_kinematics(q, frames=hands).names
        ('B4', 'B7')
        """
        if isinstance(frames, Frames):
            return frames if frames._robot is self else self.frames(frames.names)
        try:
            asked = None if isinstance(frames, (str, bytes)) else list(frames)
        except TypeError:
            asked = None
        if asked is None:
            raise ValueError(f"frames is {quoted(frames)}, expected a list of names")
        return Frames(self, [self.frame_index(f) for f in asked])

    def pose(self, name: str | int, q: ArrayLike) -> Array:
        """The pose (..., 4, 4) of a body or frame in the world, for q (..., nq).

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> robot.pose("B1", robot.neutral())[:3, 3]
        array([0., 0., 0.])
        """
        return self._forward_kinematics(q, None, self.frame_index(name), 1, 1, "body", "body")[0][..., 0, 0, :, :]

    def twist(
        self,
        name: str | int,
        q: ArrayLike,
        v: ArrayLike,
        *,
        frame: Frame = "body",
        velocity_frame: Frame | None = None,
        order: int | None = None,
    ) -> Array:
        """The twist of a body or frame, [linear; angular], and its component-wise derivatives.

        Args:
            name: of the body or frame, or its index in ``frame_names``.
            q: (..., nq).
            v: stack (..., K, nv), K >= 1, or one velocity (nv,).
            frame, velocity_frame: as in `forward_kinematics`.
            order: K - 1, the highest derivative in the result (of one velocity: 0); checked if given.

        Returns:
            (..., K, 6), of one velocity (..., 6): m/s and rad/s, and their rates.

        >>> import jounce as jn
        >>> robot = jn.robots.panda()
        >>> robot.twist("link7", robot.neutral(), [1.0, 0, 0, 0, 0, 0, 0]).round(3) + 0.0  # a velocity (nv,)
        array([ 0.   , -0.088,  0.   ,  0.   ,  0.   , -1.   ])
        """
        index = self.frame_index(name)
        if v is None:
            raise ValueError("v must be an array of real numbers, got None")
        return self._forward_kinematics(q, v, index, 1, 0, frame, velocity_frame, order)[1][..., 0, :]

    def backbone(self, name: str, q: ArrayLike, s: ArrayLike | None = None) -> Array:
        """World poses (..., S, 4, 4) of the sections of a soft body at s (S,), in metres of its rest length.

        33 sections from its near to its far end when s is left out. For derivatives, put a body with a `Fixed` joint
        there (``Builder.add(..., at=s)``): it is a frame like any other.

        >>> import jounce as jn
        >>> b = jn.Builder()
        >>> b.add("rod", parent="world", body=jn.soft.Rod(length=1.0, radius=0.01, density=1e3, young=1e6))
        >>> b.build().backbone("rod", [np.pi / 2, 0.0, 0.0], [0.0, 1.0])[1, :3, 3].round(3)  # a quarter of a circle
        array([0.637, 0.   , 0.637])
        """
        if not isinstance(name, str) or name not in self._soft:
            raise ValueError(f"no soft body is named {quoted(name)}: {_near(name, self._soft)}")
        part = self._soft[name]
        along = np.linspace(0.0, part.body.length, 33) if s is None else reals("s", s)
        if along.ndim != 1 or not ((along >= 0) & (along <= part.body.length * (1 + 1e-12))).all():
            raise ValueError(
                f"s is {quoted(s)}, expected numbers (S,) from 0 to {part.body.length:g}, the length of {name!r}"
            )
        if self._discretization is None or part.body.exact:
            return self._sections_at(part, q, along)
        with UnwatchedNodes():
            sections = self._sections_at(part, q, along)
        self._discretization.check(
            self, "the backbone", self._configuration(q), sections, lambda m, q: m.backbone(name, q, along), TURNED
        )
        return sections

    def _sections_at(self, part: SoftPart, q: ArrayLike, along: Array) -> Array:
        """World poses (..., S, 4, 4) of the sections of a soft body at s (S,)."""
        states = States(self.nv, q=(q, 1))
        if states.many:
            made = Gathered(states.lead)
            for some, piece in states.pieces():
                made.put(some, found=self._sections_at(part, piece["q"], along))
            return made["found"]
        far = self.pose(part.name, q)
        shape = np.ascontiguousarray(q, dtype=np.float64)[..., part.q]
        with np.errstate(over="ignore", invalid="ignore"):
            places = part.body.backbone(shape, np.append(along, part.body.length))
            sections: Array = (far @ np.linalg.inv(places[..., -1, :, :]))[..., None, :, :] @ places[..., :-1, :, :]
        if not np.isfinite(sections).all():
            raise SingularError(f"the shape of {part.name!r} is not finite: its q is {quoted(shape.tolist())}")
        return sections

    def _motion_of(
        self,
        frames: Sequence[str | int] | Frames | None,
        q: ArrayLike,
        v: ArrayLike | None,
        rows: int,
        frame: Frame,
        given: Frame | None,
        order: int | None,
    ) -> tuple[tuple[str, ...], Array, Array]:
        """Names, poses and twists of frames."""
        if frames is None:
            return self.body_names, *self._forward_kinematics(q, v, 0, len(self.body_names), rows, frame, given, order)
        chosen = self.frames(frames)
        found = self._forward_kinematics_of(q, v, chosen._indices, rows, frame, given, order)
        return chosen.names, *found

    def pose_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        frames: Sequence[str | int] | Frames | None = None,
        frame: Frame = "body",
        order: int | None = None,
    ) -> Array:
        """Time derivatives of the pose matrices themselves (paper A, Remark 1).

        Args:
            q: (..., nq).
            v: stack (..., K, nv), K >= 1, or one velocity (nv,), which stands for a stack of one row.
            frames: as in `forward_kinematics`.
            frame: axes of the twist rows of `Free` joints in v.
            order: K, the highest derivative in the result; checked if given.

        Returns:
            (..., K + 1, nframes, 4, 4): the poses, their first derivatives, and so on.
        """
        return self._motion_of(frames, q, v, -1, "body", axes("frame", frame), order)[1]

    # Files

    def to_urdf(
        self, path: str | PathLike[str] | None = None, *, name: str = "robot", skip: str | Sequence[str] = ()
    ) -> str:
        """The robot as a URDF, which `jounce.load` reads back to the same dynamics.

        Joints of several coordinates that URDF lacks become chains of joints with massless links between them, screws a
        turn and a slide that mimics it. The base is as it is: load the file with ``base="fixed"``. A `Free` joint is
        "floating" in the file, and Pinocchio's free flyer without a ``JointModelFreeFlyer()``, which would be another.

        No joint has the name of a link, since readers look both up as frames: one that has it, as joints have by
        default, is written as "NAME_joint". `jounce.conversions` know it by both names.

        Args:
            path: file to write; when left out, nothing is written.
            name: of the robot.
            skip: what to leave out, one or more of "armature", "constraints", "damping" (where it differs between the
                coordinates of a `Free` joint), "gravity", "rates", "rotors", "springs" and "visuals". The "rates" are
                limits on acceleration, deceleration and jerk. A file with one is URDF 1.2, which ROS reads since
                urdfdom 6.0 (2026) and refuses before; without, it is URDF 1.0.

        Returns:
            The text: metres, kilograms, radians.

        Raises:
            SaveError: a ``ValueError`` that names what URDF cannot express: soft bodies, custom and `Spherical` joints,
                and what `skip` leaves out, unless it does; or the file cannot be written.

        Warns:
            SaveWarning: once, about visuals and limits on the rate of a force, which URDF cannot express, and about
                `Helical` joints: a turn and a slide that mimics it, which readers that ignore <mimic> take for free.

        >>> import jounce as jn
        >>> b = jn.Builder()
        >>> b.add("arm", "world", jn.Revolute((0, 1, 0), name="shoulder"), inertia=jn.Inertia(1.5, (0, 0, -0.5)))
        >>> print(b.build().to_urdf(name="pendulum"))
        <?xml version="1.0"?>
        <robot name="pendulum">
          <link name="world" />
          <link name="arm">
            <inertial>
              <origin xyz="0 0 -0.5" />
              <mass value="1.5" />
              <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0" />
            </inertial>
          </link>
          <joint name="shoulder" type="continuous">
            <parent link="world" />
            <child link="arm" />
            <axis xyz="0 1 0" />
          </joint>
        </robot>
        <BLANKLINE>
        """
        from jounce.saving.urdf import to_urdf

        return to_urdf(self, path, name, skip)

    def to_mjcf(
        self, path: str | PathLike[str] | None = None, *, name: str = "robot", skip: str | Sequence[str] = ()
    ) -> str:
        """The robot as an MJCF file, which MuJoCo and `jounce.load` read back to the same dynamics.

        A joint that follows another keeps its coordinate there and is tied by an equality constraint, as are loops
        that are closed by `Fixed`, `Spherical` or a `Gear`. The q of a `Free` joint is the pose in the world.

        Args:
            path: file to write; when left out, nothing is written.
            name: of the robot.
            skip: what to leave out, one or more of "constraints" (all of them), "rotors", "visuals", and, where MJCF
                has no words for them, as they differ between the coordinates of a `Free` or `Spherical` joint,
                "armature", "damping" and "springs".

        Returns:
            The text: metres, kilograms, radians.

        Raises:
            SaveError: a ``ValueError`` that names what MJCF cannot express: soft bodies, custom and `Helical` joints,
                inertias that no body has, and what `skip` leaves out, unless it does; or the file cannot be written.

        Warns:
            SaveWarning: once, about visuals and ranges that MuJoCo does not take, and placements of free joints.

        >>> import jounce as jn
        >>> b = jn.Builder()
        >>> b.add("arm", "world", jn.Universal(name="hip", damping=0.1), inertia=jn.Inertia(2.0, rotational=(1, 1, 1)))
        >>> print(b.build().to_mjcf())
        <?xml version="1.0"?>
        <mujoco model="robot">
          <compiler angle="radian" />
          <option gravity="0 0 -9.81" />
          <worldbody>
            <body name="arm">
              <joint name="hip.0" type="hinge" axis="1 0 0" damping="0.1" />
              <joint name="hip.1" type="hinge" axis="0 1 0" damping="0.1" />
              <inertial pos="0 0 0" mass="2" diaginertia="1 1 1" />
            </body>
          </worldbody>
        </mujoco>
        <BLANKLINE>
        """
        from jounce.saving.mjcf import to_mjcf

        return to_mjcf(self, path, name, skip)

    # Viewing

    def show(
        self,
        q: ArrayLike | str | None = None,
        v: ArrayLike | None = None,
        *,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
        force_scale: float | Sequence[float] | None = None,
        twists: bool | Sequence[str] = False,
        frames: bool = False,
        names: bool = False,
        com: bool = False,
        inertias: bool = False,
        constraints: bool = True,
        name: str = "robot",
        placement: ArrayLike | None = None,
        colour: str | Sequence[float] | None = None,
        opacity: float = 1.0,
        floor: bool | float = True,
        follow: str | None = None,
        viewer: Viewer | None = None,
        host: str = "127.0.0.1",
        port: int = 8080,
        browser: bool = False,
        save: str | PathLike[str] | None = None,
        rate: float = 30.0,
        mesh_seconds: float = 10.0,
    ) -> Viewer:
        """Shows the robot in a browser, with sliders for its joints. Needs ``pip install 'jounce[view]'``.

        Bodies look as described in the robot's file; bodies without visuals are drawn from the tree. The page is served
        to this machine only, and the call does not block.

        Args:
            q: (nq,) configuration to show, or the name of one of its `keyframes`; when left out, as its MJCF file draws
                it, or else `neutral`; with loops closed, if that is possible.
            v: (nv,) its velocity, for twists.
            wrenches: arrows of forces and moments: by the name of a body, a frame or a constraint, (6,), or with
                derivatives (K, 6), such as ``constrained_dynamics(...).forces``. Each order has its own colour.
            wrench_frame: axes of the wrenches, as in `inverse_dynamics`.
            force_scale: length of the arrows, m/N, for several orders m/N, m/(N/s), ...; when left out, the longest is
                a third of the robot's size.
            twists: whether to show linear and angular velocities, or the names of the bodies and frames to show them
                for.
            frames, names: whether to show the axes and the names of bodies and frames.
            com, inertias: whether to show the centre of mass, and ellipsoids that have the bodies' inertias.
            constraints: whether to show signs where loops close and where contacts hold, one for each kind.
            name: of the robot on the page.
            placement: (4, 4) where its world is on the page, such as `jounce.placement` gives; for robots side by side.
            colour: "#rrggbb" or (red, green, blue), for the whole robot; its own colours when left out.
            opacity: from 0 to 1.
            floor: height of the floor, m; True for one below the robot, False for none.
            follow: name of the body or frame that the view follows: it stays where it is in the picture, and everything
                else moves past it.
            viewer: an existing one, to which the robot is added.
            host, port: where to listen; if the port is taken, the next free one is used.
            browser: whether to open the page in a browser.
            save: a file: write a page that needs no server, and show nothing.
            rate: frames per second of such a page, if anything moves.
            mesh_seconds: of processor time for reading a mesh, if its size and structure leave open how long that
                takes. A body with one that takes longer is drawn as the box of its mass and inertia, with a warning.
                All meshes and pictures together may take six times as long.

        Returns:
            `jounce.view.Viewer`, to move the robot, to save pages, to close; with `save`, one that is closed.

        Warns:
            ViewWarning: once, about meshes that are missing, too large, too slow to read, or not meshes.
        """
        from jounce.view.show import show_robot

        options = {key: value for key, value in locals().items() if key not in ("self", "q", "v")}
        return show_robot(self, q, v, options)


def _core_without(
    bodies: Sequence[BodyRecord], gravity: Array, leave: Leave, discretization: Discretization | None = None
) -> CoreModel:
    return CoreModel(compiled(bodies, gravity, leave, discretization=discretization))


def _model(tree: Tree) -> Model:
    return Model(tree.bodies, tree.gravity, tree.constraints, tree.scenery, tree.keyframes)


def a_model(name: str, value: object) -> Model:
    """The value, if it is a robot."""
    if not isinstance(value, Model):
        raise ValueError(f"{name} is {quoted(value)}, expected a jounce.Model, such as jounce.load returns")
    return value


def _near(name: object, names: Iterable[str]) -> str:
    return near(name if isinstance(name, str) else quoted(name), names)


def _lead(shape: object) -> tuple[int, ...]:
    """Batch dimensions, from one number or several."""
    given: list[Any] = [shape]
    if not is_whole(shape):
        with contextlib.suppress(TypeError):
            given = list(shape)  # type: ignore[call-overload]
    limit = np.iinfo(np.intp).max
    if not all(is_whole(n) and 0 <= n <= limit for n in given) or prod(given) > limit or len(given) > 30:
        raise ValueError(f"shape is {quoted(shape)}, expected the shape of an array")
    return tuple(int(n) for n in given)


def _kept(
    keyframes: Mapping[str, Mapping[str, Array]], coordinates: Mapping[str, tuple[slice, slice]]
) -> dict[str, dict[str, Array]]:
    """The positions of joints that the robot has, in keyframes that have any."""
    sizes = {joint: q.stop - q.start for joint, (q, _) in coordinates.items()}
    kept = {
        name: {joint: frozen(np.asarray(q)) for joint, q in at.items() if sizes.get(joint) == len(q)}
        for name, at in keyframes.items()
    }
    return {name: at for name, at in kept.items() if at}


def _counted(n: int) -> NDArray[np.intp]:
    """0 to n - 1, read-only."""
    numbers = np.arange(n)
    numbers.flags.writeable = False
    return numbers


def _range(limits: Limits, reach: float) -> tuple[float, float]:
    """The limits; a missing one is at twice the reach from the other, or the range is [-reach, reach]."""
    lower, upper = limits.lower, limits.upper
    if np.isinf(lower):
        lower = min(-reach, upper - 2 * reach)
    return lower, max(reach, lower + 2 * reach) if np.isinf(upper) else upper
