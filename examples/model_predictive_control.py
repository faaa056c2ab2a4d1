"""A quadrotor with an arm under model-predictive control, a thousand times a second.

Every millisecond the controller looks 0.4 s ahead, in twenty knots, and chooses the thrusts of the four rotors and the
torques of the two joints within their limits. It starts from its last plan: the robot is linearized at all knots in one
batch, on the Lie group, discretized exactly, and what the plan misses at each knot is known from the accelerations
there. The quadratic program that is left goes to OSQP: the states are eliminated, the inputs are held over blocks of
knots, eight of them, and only the limits remain as constraints, so that its pattern never changes and each solution is
the first guess of the next. One step of Newton's method per sample is enough, as the next sample goes on from there.

The robot follows a figure of eight while its arm swings, at thrusts near the limit, and is struck by a gust that the
controller knows nothing of. The numbers to look at are the loop's times.

Needs OSQP and SciPy: pip install 'jounce[control]'.

    python examples/model_predictive_control.py [figure.png]
"""

from pathlib import Path
from time import perf_counter

import numpy as np
from picture import BLUE, GREEN, GREY, ORANGE, asked, beside, seen

import jounce as jn
from jounce import control

SAMPLE, STEP, KNOTS = 1e-3, 0.02, 20  # s
BLOCKS = (1, 1, 1, 2, 2, 3, 4, 6)  # knots over which an input is held
LENGTH, DRAG = 0.2, 0.02  # m, from the centre to a rotor; m, its moment per thrust
MIXER = np.array([[1, 1, 1, 1], [0, LENGTH, 0, -LENGTH], [-LENGTH, 0, LENGTH, 0], [DRAG, -DRAG, DRAG, -DRAG]])
LOWER, UPPER = np.array([0.0] * 4 + [-0.6] * 2), np.array([7.5] * 4 + [0.6] * 2)  # N, N m
# Error of position, attitude and arm; of velocity, angular velocity and arm rates. Inputs.
Q = np.array([1000.0] * 3 + [4.0] * 2 + [40.0] * 3 + [10.0] * 3 + [0.5] * 3 + [0.5] * 2)
R = np.array([0.05] * 4 + [1.0] * 2)
GUST, BLOWN = np.array([0.0, 6.0, 0.0, 0.0, 0.0, 0.0]), (1.5, 1.8)  # N in the world; s
VIEW = (30.0, 25.0)  # degrees
NAMES = ("linearize", "discretize", "condense", "solve")


class Controller:
    def __init__(self, robot, state):
        import osqp
        from scipy.sparse import csc_matrix, identity

        self.robot, self.block = robot, np.repeat(np.arange(len(BLOCKS)), BLOCKS)
        n, self.count = 2 * robot.nv, len(BLOCKS) * len(R)
        self.inputs = np.zeros((robot.nv, 6))  # generalized forces from rotors and joints
        self.inputs[2:6, :4], self.inputs[6:, 4:] = MIXER, np.eye(2)
        q, _ = state
        hover = robot.linearize(q, np.zeros(robot.nv), robot.gravity_force(q))
        hover.B = hover.B @ self.inputs
        end = control.lqr(hover, Q * STEP, R * STEP, dt=STEP).P  # the cost beyond the horizon
        self.root = np.zeros((KNOTS, n, n))  # of the weights of the states
        self.root[:-1], self.root[-1] = np.diag(np.sqrt(Q * STEP)), np.linalg.cholesky(end).T
        self.price = np.repeat(np.array(BLOCKS) * STEP, 6) * np.tile(R, len(BLOCKS))
        self.rest = np.linalg.lstsq(self.inputs, robot.gravity_force(q), rcond=None)[0]
        self.plan = np.tile(self.rest, (len(BLOCKS), 1))
        self.q, self.v = np.tile(q, (KNOTS + 1, 1)), np.zeros((KNOTS + 1, robot.nv))
        self.reach = np.zeros((KNOTS + 1, n, self.count + 1))  # knots from inputs; the last column from the misses
        self.upper = np.tril_indices(self.count)  # of a transpose: the upper half, column by column
        self.solver = osqp.OSQP()
        pattern = csc_matrix(np.triu(np.ones((self.count, self.count))))
        self.solver.setup(
            pattern, np.zeros(self.count), identity(self.count, format="csc"), np.tile(LOWER, len(BLOCKS)),
            np.tile(UPPER, len(BLOCKS)), verbose=False, eps_abs=1e-4, eps_rel=1e-4, check_termination=5,
            adaptive_rho=False, rho=0.2, polishing=False, max_iter=400,
        )  # fmt: skip

    def linearized(self):
        """A (KNOTS, n, n), B (KNOTS, n, 6), not yet in discrete time, with the accelerations."""
        tau = (self.plan @ self.inputs.T)[self.block]
        lin = self.robot.linearize(self.q[:-1], self.v[:-1], tau)
        lin.B = lin.B @ self.inputs
        return lin

    def missed(self, acceleration):
        """By how much each knot of the plan misses the next (KNOTS, n)."""
        v = self.v[:-1] + STEP * acceleration
        q = self.robot.integrate(self.q[:-1], STEP * (self.v[:-1] + v) / 2)
        return np.hstack([self.robot.difference(self.q[1:], q), v - self.v[1:]])

    def condensed(self, A, B, missed, reference):
        """The cost z^T H z / 2 + g^T z of changes z of the inputs, as H and g."""
        reach = self.reach
        for k in range(KNOTS):
            np.matmul(A[k], reach[k], out=reach[k + 1])
            at = 6 * self.block[k]
            reach[k + 1, :, at : at + 6] += B[k]
            reach[k + 1, :, -1] += missed[k]
        q, v = reference
        v = self.robot.change_velocity_frame(self.q[1:], v[:, None], "mixed", "body")[:, 0]
        off = np.hstack([-self.robot.difference(self.q[1:], q), self.v[1:] - v])
        both = reach[1:].copy()
        both[..., -1] += off
        tall = (self.root @ both).reshape(-1, self.count + 1)
        whole = tall.T @ tall
        H, g = whole[:-1, :-1], whole[:-1, -1]
        H[np.diag_indices(self.count)] += self.price
        return H, g + self.price * (self.plan - self.rest).ravel()

    def __call__(self, q, v, reference):
        """The inputs (6,) to apply now, and the times of the four parts, s."""
        clock = [perf_counter()]
        self.q[0], self.v[0] = q, v
        lin = self.linearized()
        clock.append(perf_counter())
        A, B = lin.discretize(STEP)
        clock.append(perf_counter())
        H, g = self.condensed(A, B, self.missed(lin.acceleration), reference)
        clock.append(perf_counter())
        now = self.plan.ravel()
        self.solver.update(
            Px=H.T[self.upper], q=g, l=np.tile(LOWER, len(BLOCKS)) - now, u=np.tile(UPPER, len(BLOCKS)) - now
        )
        change = self.solver.solve(raise_error=False).x
        self.plan = np.clip(self.plan + change.reshape(-1, 6), LOWER, UPPER)
        x = self.reach[1:, :, :-1] @ change + self.reach[1:, :, -1]
        self.q[1:] = self.robot.integrate(self.q[1:], x[:, : self.robot.nv])
        self.v[1:] += x[:, self.robot.nv :]
        clock.append(perf_counter())
        return self.plan[0], np.diff(clock)


def reference(robot, t):
    """A figure of eight with a swinging arm at times t (T,): q (T, nq), v (T, nv) in mixed axes. The base is level."""
    t = np.asarray(t, dtype=float)
    start = np.clip(t / 1.0, 0.0, 1.0)
    ease, w = start**3 * (10 - 15 * start + 6 * start**2), 2 * np.pi / 4.0
    rise = 30 * (start * (1 - start)) ** 2
    shape = np.stack([1.2 * np.sin(w * t), 0.6 * np.sin(2 * w * t), 0.2 * np.sin(w * t)], axis=-1)
    slope = np.stack([1.2 * w * np.cos(w * t), 1.2 * w * np.cos(2 * w * t), 0.2 * w * np.cos(w * t)], axis=-1)
    q, v = np.tile(robot.neutral(), (*t.shape, 1)), np.zeros((*t.shape, robot.nv))
    q[..., :3] = ease[..., None] * shape
    v[..., :3] = ease[..., None] * slope + rise[..., None] * shape
    q[..., 7], q[..., 8] = 0.5 + 0.4 * np.sin(2 * w * t), -1.0 + 0.5 * np.cos(2 * w * t)
    v[..., 6], v[..., 7] = 0.8 * w * np.cos(2 * w * t), -w * np.sin(2 * w * t)
    return q, v


def moved(robot, q, v, tau, wrench):
    """One sample later, by the midpoint rule."""
    push = {robot.body_names[0]: wrench}

    def rate(q, v):
        return robot.forward_dynamics(q, v, tau, wrenches=push, wrench_frame="mixed")

    middle = v + SAMPLE / 2 * rate(q, v)
    a = rate(robot.integrate(q, SAMPLE / 2 * (v + middle) / 2), middle)
    return robot.integrate(q, SAMPLE * (v + SAMPLE / 2 * a)), v + SAMPLE * a


def fly(robot, end):
    """Times of the samples, q, inputs, and times of the loop's parts in s."""
    ahead = STEP * np.arange(1, KNOTS + 1)
    q, v = (x[0] for x in reference(robot, [0.0]))
    v = np.zeros_like(v)
    controller, rows = Controller(robot, (q, v)), []
    time = np.arange(0.0, end, SAMPLE)
    for t in time:
        wanted = reference(robot, t + ahead)
        u, spent = controller(q, v, wanted)
        rows.append((q, u, spent))
        gust = GUST if BLOWN[0] <= t < BLOWN[1] else np.zeros(6)
        q, v = moved(robot, q, v, controller.inputs @ u, gust)
    return time, *map(np.array, zip(*rows, strict=True))


def main(path: Path, end: float = 4.0) -> dict:
    robot = jn.robots.quadrotor_arm()
    time, q, u, spent = fly(robot, end)
    wanted = reference(robot, time)[0]
    off, loop = np.linalg.norm(q[:, :3] - wanted[:, :3], axis=1), spent.sum(axis=1)
    for name, each in (*zip(NAMES, spent.T, strict=True), ("the whole loop", loop)):
        half, most = 1e6 * np.quantile(each, [0.5, 0.99])
        print(f"{name:14} {half:6.0f} µs in the median, {most:6.0f} µs in 99 of 100 samples")
    before = time < BLOWN[0]
    print(f"off by {1e3 * off[before].max():.0f} mm before the gust, by {1e3 * off.max():.0f} mm in it")
    rows = (
        ("distance from the path", "mm"),
        ("thrusts of the rotors, and their limits", "N"),
        ("time of the loop, part upon part", "µs"),
    )
    with beside(path, "a figure of eight, and a gust", *rows, height=4.2) as (drawing, axes):
        drawing.plot(*seen(wanted[:, :3], *VIEW).T, **GREY, label="wanted")
        drawing.plot(*seen(q[:, :3], *VIEW).T, **BLUE, label="flown")
        blown = (time >= BLOWN[0]) & (time < BLOWN[1])
        drawing.plot(*seen(q[blown, :3], *VIEW).T, color=ORANGE["color"], lw=2.5, label="gust")
        for pose in robot.forward_kinematics(q[:: max(1, len(q) // 12)]).pose:
            drawing.plot(*seen(pose[:, :3, 3], *VIEW).T, color="0.3", lw=1.0, marker="o", ms=1.5)
        drawing.legend(frameon=False, fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 0.0))
        axes[0].plot(time, 1e3 * off, **BLUE)
        for thrust, style in zip(u.T[:4], (BLUE, ORANGE, GREEN, GREY), strict=True):
            axes[1].plot(time, thrust, **{**style, "lw": 0.8})
        for limit in (LOWER[0], UPPER[0]):
            axes[1].axhline(limit, color="0.2", lw=0.7)
        together = len(time) // 20 * 20  # medians of twenty samples
        parts = 1e6 * np.cumsum(np.median(spent[:together].reshape(-1, 20, len(NAMES)), axis=1), axis=1)
        for name, part, style in zip(NAMES, parts.T, (BLUE, GREEN, GREY, ORANGE), strict=True):
            axes[2].plot(time[:together:20], part, **{**style, "lw": 0.9}, label=name)
        axes[2].axhline(1e6 * SAMPLE, color="0.2", lw=0.7)
        axes[2].set(ylim=(0.0, 1.6e6 * SAMPLE))
        axes[2].legend(frameon=False, fontsize=7, ncols=4, loc="upper right", columnspacing=1.0, borderpad=0)
    return {"off": off, "time": time, "inputs": u, "spent": spent, "robot": robot}


if __name__ == "__main__":
    try:
        import osqp  # noqa: F401
    except ImportError:
        raise SystemExit("this needs OSQP: pip install 'jounce[control]'") from None
    main(asked("model_predictive_control"))
