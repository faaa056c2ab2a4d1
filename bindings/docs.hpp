// Signatures and docstrings of what is bound without a Python wrapper, to keep the cost of a call as low as possible.
#pragma once

#include "annotations.hpp"

namespace jounce {

constexpr const char* inverse_dynamics_signature =
    "def inverse_dynamics(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike, a: numpy.typing.ArrayLike | None = None, *, "
    "wrenches: collections.abc.Mapping[str, numpy.typing.ArrayLike] | None = None, wrench_frame: " JOUNCE_AXES
    " = 'body', frame: " JOUNCE_AXES
    " = 'body', order: int | None = None, out: numpy.typing.NDArray[numpy.float64] | None = None) -> numpy.typing.NDArray[numpy.float64]";
constexpr const char* inverse_dynamics_doc =
    R"(Forces that produce a motion, and their time derivatives (RNEA to any order; paper A, Algorithm 2).

Args:
    q: (..., nq) configuration.
    v: stack (..., r + 2, nv) of the velocity and its component-wise time derivatives, r >= 0. Or, with `a`, the
        velocity (..., nv): a v of shape (3, nv) is then a batch of three states, not a stack.
    a: (..., nv) time derivative of v: the usual case, order 0.
    wrenches: external wrenches, {body or frame name: [force; moment]}, each a stack (..., r + 1, 6) of the wrench and
        its derivatives (with `a`: (..., 6)), in N and N m.
    wrench_frame: the axes they are given in: "body" (the axes and origin of the body or frame they act on), "world" (world
        axes, about the world origin) or "mixed" (world axes, about the origin of that body or frame).
    frame: axes of the twist rows of `Free` joints in v and a, and of the wrench rows in the result.
    order: r, the highest derivative in the result (with `a`: 0); checked if given.
    out: array to write to, of the result's shape.

Returns:
    (..., r + 1, nv) generalized forces and their first r time derivatives (with `a`: (..., nv)).

Warns ``BatchWarning`` if a stack has exactly the batch shape of q, as a velocity for each state would have; `order` says that
it is one.

>>> import jounce as jn
>>> robot = jn.robots.aerial_manipulator()
>>> v = np.zeros((4, robot.nv))  # at rest, and stays so
>>> robot.inverse_dynamics(robot.neutral(), v)[:, 2].round(3)  # lift, its rate, the rate of that
array([39.24,  0.  ,  0.  ])
)";

constexpr const char* forward_kinematics_signature =
    "def _forward_kinematics(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike | None, first: int, count: int, pose_rows: int, "
    "frame: str, velocity_frame: str | None, order: int | None = None) -> tuple[numpy.typing.NDArray[numpy.float64], "
    "numpy.typing.NDArray[numpy.float64]]";
constexpr const char* forward_kinematics_of_signature =
    "def _forward_kinematics_of(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike | None, indices: list[int], pose_rows: int, "
    "frame: str, velocity_frame: str | None, order: int | None = None) -> tuple[numpy.typing.NDArray[numpy.float64], "
    "numpy.typing.NDArray[numpy.float64]]";

constexpr const char* constrained_dynamics_signature =
    "def _constrained_dynamics(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike, acc: numpy.typing.ArrayLike | None, tau: "
    "numpy.typing.ArrayLike, prescribed: numpy.typing.ArrayLike | None, wrenches: collections.abc.Mapping[str, numpy.typing.ArrayLike] | "
    "None, wrench_frame: str, frame: str, motion: numpy.typing.NDArray[numpy.float64] | None, moves: list[bool], shares: "
    "numpy.typing.NDArray[numpy.float64] | None, kp: float, kd: float) -> "
    "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64] | None, numpy.typing.NDArray[numpy.float64], "
    "numpy.typing.NDArray[numpy.float64], int]";
constexpr const char* expect_order_of_forces_signature =
    "def _expect_order_of_forces(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike, tau: numpy.typing.ArrayLike, order: int | "
    "None) -> None";
constexpr const char* pushed_signature =
    "def _pushed(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike, tau: numpy.typing.ArrayLike, frame: str) -> "
    "tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], int]";
constexpr const char* constraint_rows_signature =
    "def _constraint_rows(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike | None, frame: str, order: int | "
    "None = None) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]";

constexpr const char* forward_dynamics_signature =
    "def forward_dynamics(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike, tau: numpy.typing.ArrayLike, *, wrenches: "
    "collections.abc.Mapping[str, numpy.typing.ArrayLike] | None = None, wrench_frame: " JOUNCE_AXES " = 'body', frame: " JOUNCE_AXES
    " = 'body', order: int | None = None, out: numpy.typing.NDArray[numpy.float64] | None = None) -> numpy.typing.NDArray[numpy.float64]";
constexpr const char* forward_dynamics_doc =
    R"(Motion that forces produce: acceleration, jerk, snap (ABA to any order; paper A, Algorithm 3).

Args:
    q: (..., nq) configuration.
    v: (..., nv) velocity.
    tau: generalized forces, with as many dimensions as v (order 0) or, with one more, a stack (..., r + 1, nv) of the
        forces and their time derivatives. For five forces (5, nv) in one state, give v that dimension, too: v[None].
    wrenches, wrench_frame: as in `inverse_dynamics`, with the rows of tau.
    frame: axes of the twist and wrench rows of `Free` joints in v, tau and the result.
    order: r, the highest derivative in the result; checked if given, so 0 refuses a stack.
    out: array to write to, of the result's shape.

Returns:
    dv/dt with the shape of tau: (..., nv), or the stack (..., r + 1, nv) of dv/dt and its component-wise time derivatives.

Raises ``SingularError``, naming the body, if a joint moves no inertia.

>>> import jounce as jn
>>> robot = jn.robots.aerial_manipulator()
>>> fall = robot.forward_dynamics(robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv))
>>> fall[:3].round(3) + 0.0
array([ 0.  ,  0.  , -9.81])
)";

constexpr const char* hybrid_dynamics_signature =
    "def hybrid_dynamics(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike, acc: numpy.typing.ArrayLike, tau: "
    "numpy.typing.ArrayLike, *, prescribed: numpy.typing.ArrayLike | collections.abc.Sequence[str], wrenches: "
    "collections.abc.Mapping[str, numpy.typing.ArrayLike] | None = None, wrench_frame: " JOUNCE_AXES " = 'body', frame: " JOUNCE_AXES
    " = 'body', order: int | None = None) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]";
constexpr const char* hybrid_dynamics_doc = R"(Accelerations of some joints and forces of the others, to any order (paper A, Algorithm 4).

Args:
    q: (..., nq).
    v: (..., nv).
    acc: dv/dt of the prescribed joints, (..., nv) or a stack (..., r + 1, nv); other columns are not read.
    tau: forces of the other joints, in the same shape; the columns of prescribed joints are not read.
    prescribed: names of joints, or a mask (nv,), True where acc is given; a joint is prescribed as a whole or not at all.
    wrenches, wrench_frame, frame, order: as in `forward_dynamics`.

Returns:
    acc and tau, complete.

>>> import jounce as jn
>>> robot = jn.robots.aerial_manipulator()
>>> q, zero = robot.random_configuration(0), np.zeros(robot.nv)
>>> acc, tau = robot.hybrid_dynamics(q, zero, zero, zero, prescribed=["base"])  # hovers while the arms swing freely
>>> bool(np.allclose(robot.forward_dynamics(q, zero, tau), acc))
True
)";

constexpr const char* inverse_mass_matrix_apply_signature =
    "def inverse_mass_matrix_apply(self, q: numpy.typing.ArrayLike, f: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]";
constexpr const char* inverse_mass_matrix_apply_doc = R"(M(q)^-1 f in time linear in the number of bodies, without forming a matrix.

Args:
    q: (..., nq). One configuration is factored once for all right-hand sides.
    f: (..., nv), any number of right-hand sides in the leading dimensions, `Free` rows in body axes.

Returns:
    (..., nv).
)";

constexpr const char* articulated_inertia_signature =
    "def articulated_inertia(self, q: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]";
constexpr const char* articulated_inertia_doc =
    R"(Apparent inertia of each body when the joints below it are free to move (paper A, Lemma 2).

The body is cut off, with all that it carries, from the rest. The joints that it carries are free, and so are the shapes of
soft bodies, but joints that follow one that it does not carry are held. For a soft body, it is the inertia of its far end and
what is mounted there, with the shape held.

Args:
    q: (..., nq).

Returns:
    (..., nbodies, 6, 6), symmetric: the wrench [force; moment] for an acceleration [linear; angular], in the body's axes and
    about its origin. The same at every order of forward dynamics.
)";

constexpr const char* change_velocity_frame_signature =
    "def change_velocity_frame(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike, source: " JOUNCE_AXES ", target: " JOUNCE_AXES
    ", *, order: int | None = None) -> numpy.typing.NDArray[numpy.float64]";
constexpr const char* change_velocity_frame_doc = R"(A velocity stack with the twists of `Free` joints in other axes, at every order.

Args:
    q: (..., nq).
    v: stack (..., K, nv), K >= 1, its Free rows in the axes `source`.
    source, target: "body", "world" or "mixed".
    order: K - 1, the highest derivative in the result; checked if given.

Returns:
    (..., K, nv), the component-wise derivatives of the components in the axes `target`.
)";

constexpr const char* change_force_frame_signature =
    "def change_force_frame(self, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike, tau: numpy.typing.ArrayLike, source: " JOUNCE_AXES
    ", target: " JOUNCE_AXES ", *, order: int | None = None) -> numpy.typing.NDArray[numpy.float64]";
constexpr const char* change_force_frame_doc =
    R"(A stack of generalized forces with the wrenches on `Free` joints in other axes, at every order.

Args:
    q: (..., nq).
    v: stack (..., K, nv) in the axes `source`, K >= r: how the axes move.
    tau: stack (..., r + 1, nv) in the axes `source`.
    source, target: "body", "world" or "mixed".
    order: r, the highest derivative in the result; checked if given.

Returns:
    (..., r + 1, nv).
)";

constexpr const char* integrate_signature =
    "def integrate(self, q: numpy.typing.ArrayLike, dv: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]";
constexpr const char* integrate_doc = R"(Where the constant velocity dv leads in unit time: q + dv, and H exp(dv) on SE(3) and SO(3).

Args:
    q: (..., nq).
    dv: (..., nv), twists in body axes.

Returns:
    (..., nq), quaternions normalised.
)";

constexpr const char* difference_signature =
    "def difference(self, q0: numpy.typing.ArrayLike, q1: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]";
constexpr const char* difference_doc = R"(The constant velocity that leads from q0 to q1 in unit time; the inverse of `integrate`.

Args:
    q0, q1: (..., nq).

Returns:
    (..., nv), twists in body axes, for the shorter of the two rotations.

>>> import jounce as jn
>>> robot = jn.robots.aerial_manipulator()
>>> q = robot.random_configuration(np.random.default_rng(0))
>>> bool(np.allclose(robot.integrate(q, robot.difference(q, robot.neutral())), robot.neutral()))
True
)";

}  // namespace jounce
