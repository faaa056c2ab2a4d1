// Signatures and docstrings of equations.cpp.
#pragma once

#include "annotations.hpp"

namespace jounce {

#define JOUNCE_GIVEN "numpy.typing.ArrayLike"
#define JOUNCE_ARRAY "numpy.typing.NDArray[numpy.float64]"
#define JOUNCE_OUT "out: " JOUNCE_ARRAY " | None = None) -> " JOUNCE_ARRAY
#define JOUNCE_AT_REST(name) "def " name "(self, q: " JOUNCE_GIVEN ", *, frame: " JOUNCE_AXES " = 'body', " JOUNCE_OUT
#define JOUNCE_AT_REST_IN_WORLD(name) "def " name "(self, q: " JOUNCE_GIVEN ", *, " JOUNCE_OUT
#define JOUNCE_IN_MOTION(name) \
  "def " name "(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", *, frame: " JOUNCE_AXES " = 'body', " JOUNCE_OUT
#define JOUNCE_ALONG(name) \
  "def " name "(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", *, frame: " JOUNCE_AXES " = 'body', order: int | None = None, " JOUNCE_OUT

constexpr const char* mass_matrix_signature = JOUNCE_AT_REST("mass_matrix");
constexpr const char* mass_matrix_doc = R"(The mass matrix M(q) (CRBA; paper A, (11)).

Args:
    q: (..., nq).
    frame: axes of the twist and wrench rows of `Free` joints.
    out: array to write to, of the result's shape.

Returns:
    (..., nv, nv), symmetric; including the joints' armature.

>>> import jounce as jn
>>> robot = jn.robots.aerial_manipulator()
>>> M = robot.mass_matrix(robot.neutral())
>>> M[:3, :3].round(6)  # the whole mass resists a push
array([[4., 0., 0.], [0., 4., 0.], [0., 0., 4.]])
)";

constexpr const char* mass_matrix_derivatives_signature = JOUNCE_ALONG("mass_matrix_derivatives");
constexpr const char* mass_matrix_derivatives_doc = R"(The mass matrix and its time derivatives along a motion (paper C, (43)).

Args:
    q: (..., nq).
    v: stack (..., K, nv), K >= 1, or one velocity (nv,), which stands for a stack of one row.
    frame: axes of the twist and wrench rows of `Free` joints, also in v.
    order: K, the highest derivative in the result; checked if given.
    out: array to write to, of the result's shape.

Returns:
    (..., K + 1, nv, nv): M, dM/dt, and so on up to the K-th derivative.

>>> import jounce as jn
>>> robot = jn.robots.aerial_manipulator()
>>> q, v = robot.random_configuration(np.random.default_rng(0)), np.ones(robot.nv)
>>> M, dM = robot.mass_matrix_derivatives(q, [v])
>>> C = robot.coriolis_matrix(q, v)
>>> bool(np.allclose(dM, C + C.T))
True
)";

constexpr const char* inverse_mass_matrix_signature = JOUNCE_AT_REST("inverse_mass_matrix");
constexpr const char* inverse_mass_matrix_doc = R"(The inverse of the mass matrix, without the mass matrix (Carpentier; paper B, Table 9).

Args:
    q: (..., nq).
    frame: axes of the twist and wrench rows of `Free` joints.
    out: array to write to, of the result's shape.

Returns:
    (..., nv, nv), symmetric.

Raises ``SingularError``, naming the body, if a joint moves no inertia. To solve with a few right-hand sides,
`inverse_mass_matrix_apply` is faster.
)";

constexpr const char* coriolis_matrix_signature = JOUNCE_IN_MOTION("coriolis_matrix");
constexpr const char* coriolis_matrix_doc = R"(The Coriolis matrix C(q, v) of paper A's Lemma 1, with which dM/dt - 2C is skew.

Args:
    q: (..., nq).
    v: (..., nv).
    frame: axes of the twist and wrench rows of `Free` joints, also in v. C is passive in each of them, but not the same matrix.
    out: array to write to, of the result's shape.

Returns:
    (..., nv, nv); C v is the part of `bias_force` that is quadratic in v.

>>> import jounce as jn
>>> robot = jn.robots.aerial_manipulator()
>>> q, v = robot.random_configuration(np.random.default_rng(0)), np.ones(robot.nv)
>>> C = robot.coriolis_matrix(q, v)
>>> bool(np.allclose(C @ v + robot.gravity_force(q), robot.bias_force(q, v)))
True
)";

constexpr const char* coriolis_matrix_derivatives_signature = JOUNCE_ALONG("coriolis_matrix_derivatives");
constexpr const char* coriolis_matrix_derivatives_doc = R"(The Coriolis matrix and its time derivatives along a motion (paper C, (44)-(46)).

Args:
    q: (..., nq).
    v: stack (..., K, nv), K >= 1.
    frame: axes of the twist and wrench rows of `Free` joints, also in v.
    order: K - 1, the highest derivative in the result; checked if given.
    out: array to write to, of the result's shape.

Returns:
    (..., K, nv, nv): C, dC/dt, and so on; one fewer than `mass_matrix_derivatives` returns, because C depends on v itself.
)";

constexpr const char* gravity_force_signature = JOUNCE_AT_REST("gravity_force");
constexpr const char* gravity_force_doc = R"(The generalized forces that hold the robot against gravity.

Args:
    q: (..., nq).
    frame: axes of the wrench rows of `Free` joints.
    out: array to write to, of the result's shape.

Returns:
    (..., nv).
)";

constexpr const char* gravity_force_derivatives_signature = JOUNCE_ALONG("gravity_force_derivatives");
constexpr const char* gravity_force_derivatives_doc = R"(`gravity_force` and its time derivatives along a motion (paper C, (47)).

Args:
    q: (..., nq).
    v: stack (..., K, nv), K >= 1, or one velocity (nv,), which stands for a stack of one row.
    frame: axes of the twist and wrench rows of `Free` joints, also in v.
    order: K, the highest derivative in the result; checked if given.
    out: array to write to, of the result's shape.

Returns:
    (..., K + 1, nv).
)";

constexpr const char* jacobian_signature = "def jacobian(self, name: str | int, q: " JOUNCE_GIVEN ", *, frame: " JOUNCE_AXES
                                           " = 'body', velocity_frame: " JOUNCE_AXES " | None = None, " JOUNCE_OUT;
constexpr const char* jacobian_doc = R"(The matrix that takes v to the twist of a body or frame.

Args:
    name: of the body or frame, or its index in ``frame_names``.
    q: (..., nq).
    frame: axes of the twist: "body" (the frame's own axes and origin), "world" (world axes and origin) or "mixed" (world axes,
        the frame's origin).
    velocity_frame: axes of the twist of `Free` joints in v, that is, of their columns. To be given if the robot has such joints and
        `frame` is not "body": "body" for the Jacobians of Pinocchio, or "world" or "mixed".
    out: array to write to, of the result's shape.

Returns:
    (..., 6, nv), rows [linear; angular].

>>> import jounce as jn
>>> robot = jn.robots.aerial_manipulator()
>>> q, v = robot.random_configuration(np.random.default_rng(0)), np.ones(robot.nv)
>>> last = robot.body_names[-1]
>>> bool(np.allclose(robot.jacobian(last, q) @ v, robot.forward_kinematics(q, [v]).twist[0, -1]))
True
)";

constexpr const char* jacobian_derivatives_signature =
    "def jacobian_derivatives(self, name: str | int, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", *, frame: " JOUNCE_AXES
    " = 'body', velocity_frame: " JOUNCE_AXES " | None = None, order: int | None = None, " JOUNCE_OUT;
constexpr const char* jacobian_derivatives_doc = R"(The Jacobian of a body or frame and its time derivatives along a motion.

Args:
    name: of the body or frame, or its index in ``frame_names``.
    q: (..., nq).
    v: stack (..., K, nv), K >= 1, or one velocity (nv,), which stands for a stack of one row; `Free` rows in the axes
        `velocity_frame`.
    frame, velocity_frame, out: as in `jacobian`.
    order: K, the highest derivative in the result; checked if given.

Returns:
    (..., K + 1, 6, nv): J, dJ/dt, d2J/dt2, and so on up to the K-th derivative.
)";

constexpr const char* center_of_mass_signature = JOUNCE_AT_REST_IN_WORLD("center_of_mass");
constexpr const char* center_of_mass_doc = R"(The centre of mass of everything that moves, in the world.

Args:
    q: (..., nq).
    out: array to write to, of the result's shape.

Returns:
    (..., 3), metres; zero for a robot without mass.
)";

constexpr const char* center_of_mass_derivatives_signature = JOUNCE_ALONG("center_of_mass_derivatives");
constexpr const char* center_of_mass_derivatives_doc = R"(The centre of mass and its velocity, acceleration, jerk, in the world.

Args:
    q: (..., nq).
    v: stack (..., K, nv), K >= 1, or one velocity (nv,), which stands for a stack of one row.
    frame: axes of the twist rows of `Free` joints in v.
    order: K, the highest derivative in the result; checked if given.
    out: array to write to, of the result's shape.

Returns:
    (..., K + 1, 3).

>>> import jounce as jn
>>> robot = jn.robots.aerial_manipulator()
>>> q, v, tau = robot.neutral(), np.ones(robot.nv), np.zeros(robot.nv)
>>> motion = [v, robot.forward_dynamics(q, v, tau)]  # without forces the centre of mass just falls
>>> robot.center_of_mass_derivatives(q, motion)[2].round(9) + 0.0
array([ 0.  ,  0.  , -9.81])
)";

constexpr const char* momentum_signature = JOUNCE_IN_MOTION("centroidal_momentum");
constexpr const char* momentum_doc = R"(Momentum of everything that moves, about its centre of mass, in world axes.

Args:
    q: (..., nq).
    v: (..., nv).
    frame: axes of the twist rows of `Free` joints in v.
    out: array to write to, of the result's shape.

Returns:
    (..., 6), [linear; angular], kg m/s and kg m^2/s.
)";

constexpr const char* momentum_derivatives_signature = JOUNCE_ALONG("centroidal_momentum_derivatives");
constexpr const char* momentum_derivatives_doc = R"(`centroidal_momentum` and its time derivatives along a motion.

Args:
    q: (..., nq).
    v: stack (..., K, nv), K >= 1.
    frame: axes of the twist rows of `Free` joints in v.
    order: K - 1, the highest derivative in the result; checked if given.
    out: array to write to, of the result's shape.

Returns:
    (..., K, 6): the momentum, its rate (the external force and moment), and so on.
)";

constexpr const char* momentum_matrix_signature = JOUNCE_AT_REST("centroidal_momentum_matrix");
constexpr const char* momentum_matrix_doc = R"(The matrix that takes v to `centroidal_momentum`.

Args:
    q: (..., nq).
    frame: axes of the twist rows of `Free` joints in v.
    out: array to write to, of the result's shape.

Returns:
    (..., 6, nv).
)";

constexpr const char* momentum_matrix_derivatives_signature = JOUNCE_ALONG("centroidal_momentum_matrix_derivatives");
constexpr const char* momentum_matrix_derivatives_doc = R"(`centroidal_momentum_matrix` and its time derivatives along a motion.

Args:
    q: (..., nq).
    v: stack (..., K, nv), K >= 1, or one velocity (nv,), which stands for a stack of one row.
    frame: axes of the twist rows of `Free` joints in v.
    order: K, the highest derivative in the result; checked if given.
    out: array to write to, of the result's shape.

Returns:
    (..., K + 1, 6, nv).
)";

constexpr const char* kinetic_energy_signature = JOUNCE_IN_MOTION("kinetic_energy");
constexpr const char* kinetic_energy_doc = R"(Kinetic energy, including that of the drives (armature).

Args:
    q: (..., nq).
    v: (..., nv). Of a stack, pass the first row, ``v[..., 0, :]``: all rows would be taken for velocities.
    frame: axes of the twist rows of `Free` joints in v.
    out: array to write to, of the result's shape.

Returns:
    (...,), joules.

>>> import jounce as jn
>>> robot = jn.robots.aerial_manipulator()
>>> q, v = robot.random_configuration(np.random.default_rng(0)), np.ones(robot.nv)
>>> bool(np.isclose(robot.kinetic_energy(q, v), v @ robot.mass_matrix(q) @ v / 2))
True
)";

constexpr const char* kinetic_energy_derivatives_signature = JOUNCE_ALONG("kinetic_energy_derivatives");
constexpr const char* kinetic_energy_derivatives_doc = R"(Kinetic energy and its time derivatives along a motion.

Args:
    q: (..., nq).
    v: stack (..., K, nv), K >= 1.
    frame: axes of the twist rows of `Free` joints in v.
    order: K - 1, the highest derivative in the result; checked if given.
    out: array to write to, of the result's shape.

Returns:
    (..., K).
)";

constexpr const char* potential_energy_signature = JOUNCE_AT_REST_IN_WORLD("potential_energy");
constexpr const char* potential_energy_doc = R"(Potential energy: of gravity, zero at the world origin, and of the springs.

Args:
    q: (..., nq).
    out: array to write to, of the result's shape.

Returns:
    (...,), joules.
)";

constexpr const char* potential_energy_derivatives_signature = JOUNCE_ALONG("potential_energy_derivatives");
constexpr const char* potential_energy_derivatives_doc = R"(Potential energy and its time derivatives along a motion.

Args:
    q: (..., nq).
    v: stack (..., K, nv), K >= 1, or one velocity (nv,), which stands for a stack of one row.
    frame: axes of the twist rows of `Free` joints in v.
    order: K, the highest derivative in the result; checked if given.
    out: array to write to, of the result's shape.

Returns:
    (..., K + 1).
)";

constexpr const char* inverse_dynamics_passive_signature =
    "def inverse_dynamics_passive(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", v_ref: " JOUNCE_GIVEN ", a_ref: " JOUNCE_GIVEN
    ", *, frame: " JOUNCE_AXES " = 'body', " JOUNCE_OUT;
constexpr const char* inverse_dynamics_passive_doc = R"(M(q) a_ref + C(q, v) v_ref + g(q), for passivity-based control (Slotine and Li).

Args:
    q: (..., nq).
    v: (..., nv), the actual velocity of the robot.
    v_ref, a_ref: (..., nv), the velocity and acceleration that it should have.
    frame: axes of the twist and wrench rows of `Free` joints.
    out: array to write to, of the result's shape.

Returns:
    (..., nv), in time linear in the number of bodies, with the C of `coriolis_matrix`. The damping, friction and springs of joints are not
    part of it.

>>> import jounce as jn
>>> robot = jn.robots.aerial_manipulator()
>>> q, v = robot.random_configuration(np.random.default_rng(0)), np.ones(robot.nv)
>>> tau = robot.inverse_dynamics_passive(q, v, 2 * v, 3 * v)
>>> M, C, g = robot.mass_matrix(q), robot.coriolis_matrix(q, v), robot.gravity_force(q)
>>> bool(np.allclose(tau, M @ (3 * v) + C @ (2 * v) + g))
True
)";

#undef JOUNCE_GIVEN
#undef JOUNCE_ARRAY
#undef JOUNCE_OUT
#undef JOUNCE_AT_REST
#undef JOUNCE_AT_REST_IN_WORLD
#undef JOUNCE_IN_MOTION
#undef JOUNCE_ALONG

}  // namespace jounce
