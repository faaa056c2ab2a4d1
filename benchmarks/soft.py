"""Soft arms from Python: the time of each method, growth with segments and order, and a race with SoRoMoX.

    pip install . && python benchmarks/soft.py
    pip install soromox  # for the race

One process on one core, calls take turns, and the best of many counts: ratios are what means something on a shared
machine. The answers are compared before anything is timed. Minutes of the race are JAX's compilation.

SoRoMoX (JAX, compiled) models the same arm: segments of constant strain, round sections with rotary inertia, as many
Gauss points along each. The coordinates are the same, too: curvature and stretch, its rods along x, ours along z. Its
Gauss weights have seven digits, and so the answers are compared to 1e-6. It has no inverse dynamics; that is put
together from what it has: M a + C v + G + K q + D v. Derivatives are JAX's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter

import numpy as np
from timing import microseconds

import jounce as jn
from jounce import _core, soft

Call = Callable[[], object]
BATCH = 1024
SHORT = 2e-4  # s, of a sample
LENGTH, RADIUS, DENSITY, YOUNG, POISSON, DAMPING = 0.1, 0.02, 1000.0, 1e5, 0.45, 0.01
PLAIN = np.eye(6)[:, [3, 4, 2]]  # two curvatures in 1/m and a stretch


def arm(segments: int, strain: soft.Strain | np.ndarray, nodes: int | None = None) -> jn.Model:
    """Alike segments, one on the other."""
    b = jn.Builder()
    parent = "world"
    for i in range(segments):
        rod = soft.Rod(LENGTH, RADIUS, DENSITY, YOUNG, POISSON, DAMPING, strain=strain, nodes=nodes)
        b.add(f"segment {i}", parent=parent, body=rod)
        parent = f"segment {i}"
    return b.build()


def mixed_chain() -> jn.Model:
    """Revolute, rigid, revolute, constant curvature, prismatic, rigid, revolute, Gaussian curvature."""
    load = jn.Inertia(0.3, com=(0.0, 0.01, 0.02), rotational=np.diag([1e-4, 2e-4, 1.5e-4]))
    silicone = {"density": 1062.0, "young": 666e3, "section": "line"}
    b = jn.Builder(gravity=(1.0, -2.0, -9.4))
    b.add("shoulder", parent="world", joint=jn.Revolute((0, 0, 1)), inertia=load)
    elbow = jn.Revolute((0, 1, 0))
    b.add("upper", parent="shoulder", joint=elbow, body=soft.Rod(0.3, (0.02, 0.015), damping=0.1, **silicone))
    b.add("slider", parent="upper", joint=jn.Prismatic((1, 0, 0)), inertia=load)
    bell = soft.Rod(0.2, (0.01, 0.005), damping=0.01, strain=soft.gaussian(), **silicone)
    b.add("lower", parent="slider", joint=jn.Revolute((1, 0, 0)), body=bell)
    return b.build()


def state(robot: jn.Model, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A configuration and a velocity stack of a robot whose coordinates are angles and lengths."""
    return rng.uniform(-0.5, 0.5, robot.nq), rng.uniform(-1, 1, (rows, robot.nv))


def inverse(robot: jn.Model, rng: np.random.Generator) -> Call:
    q, (v, a) = state(robot, 2, rng)
    return lambda: robot.inverse_dynamics(q, v, a)


def goals(rng: np.random.Generator) -> None:
    """Inverse dynamics of arms of constant curvature in space, and of the mixed chain."""
    curved = {n: arm(n, soft.constant_curvature()) for n in (1, 3, 10)}
    calls = {f"arm of {n}, {robot.nv} coordinates": inverse(robot, rng) for n, robot in curved.items()}
    mixed = mixed_chain()
    times = microseconds(calls | {f"mixed chain, {mixed.nv} coordinates": inverse(mixed, rng)}, 400, SHORT)
    print("inverse dynamics, one state")
    for name, time in times.items():
        print(f"  {name:34s} {time:9.2f} µs")
    _, three, ten, chain = times.values()
    print(f"  goals: arm of 3 {three:.1f} < 40 µs, ten over three {ten / three:.2f} < 3.5, mixed {chain:.0f} < 150 µs")


def methods(rng: np.random.Generator) -> None:
    """Everything else on the arm of three segments."""
    robot = arm(3, soft.constant_curvature())
    q, stack = state(robot, 7, rng)
    v, a = stack[:2]
    tau = robot.inverse_dynamics(q, stack)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau[0]), a, rtol=1e-8, atol=1e-8)
    many = rng.uniform(-0.5, 0.5, (3, BATCH, robot.nv))
    calls: dict[str, Call] = {
        f"inverse_dynamics, r = {r}": lambda r=r: robot.inverse_dynamics(q, stack[: r + 2]) for r in range(6)
    }
    calls |= {f"forward_dynamics, r = {r}": lambda r=r: robot.forward_dynamics(q, v, tau[: r + 1]) for r in (1, 5)}
    calls |= {
        "forward_dynamics, r = 0": lambda: robot.forward_dynamics(q, v, tau[0]),
        "mass_matrix": lambda: robot.mass_matrix(q),
        "coriolis_matrix": lambda: robot.coriolis_matrix(q, v),
        "gravity_force": lambda: robot.gravity_force(q),
        "jacobian": lambda: robot.jacobian("segment 2", q),
        "inverse_dynamics_derivatives": lambda: robot.inverse_dynamics_derivatives(q, v, a),
        "linearize": lambda: robot.linearize(q, v, tau[0]),
    }
    times = microseconds(calls, 200, SHORT)
    batches: dict[str, Call] = {
        "inverse_dynamics, r = 0": lambda: robot.inverse_dynamics(*many),
        "mass_matrix": lambda: robot.mass_matrix(many[0]),
        "forward_dynamics, r = 0": lambda: robot.forward_dynamics(*many),
        "linearize": lambda: robot.linearize(*many),
    }
    shares = {name: time / BATCH for name, time in microseconds(batches, 5).items()}
    print(f"arm of 3: one state, and a state of a batch of {BATCH}")
    for name, time in times.items():
        print(f"  {name:34s} {time:9.2f} µs" + (f" {shares[name]:9.2f} µs" if name in shares else ""))


def bodies(rng: np.random.Generator) -> None:
    """One body of each kind: inverse dynamics, with four derivatives, and what making a robot of it takes."""
    hollow = {"length": 0.2, "radius": 0.02, "density": 1062.0, "young": 1.06e6, "wall": 0.004, "damping": 0.1}
    kinds: dict[str, Callable[[], soft.SoftBody]] = {
        "constant curvature": lambda: soft.Rod(LENGTH, RADIUS, DENSITY, YOUNG),
        'polynomial({"bend_y": 1})': lambda: soft.Rod(
            LENGTH, RADIUS, DENSITY, YOUNG, strain=soft.polynomial({"bend_y": 1})
        ),
        "gaussian(0.5, 0.1)": lambda: soft.Rod(LENGTH, RADIUS, DENSITY, YOUNG, strain=soft.gaussian(0.5, 0.1)),
        "polynomial(2)": lambda: soft.Rod(LENGTH, RADIUS, DENSITY, YOUNG, strain=soft.polynomial(2)),
        'VariableRadius, law="beam"': lambda: soft.VariableRadius(**hollow),
        'VariableRadius, law="solid"': lambda: soft.VariableRadius(**hollow, poisson=0.3, law="solid"),
    }
    print("\none body                     coordinates   r = 0, µs   to r = 4, µs   to build, s")
    for name, make in kinds.items():
        start = perf_counter()
        b = jn.Builder()
        b.add("body", parent="world", body=make())
        robot = b.build()
        built = perf_counter() - start
        q, v = robot.random_configuration(rng), rng.uniform(-1, 1, (6, robot.nv))
        calls = {
            "one": lambda r=robot, q=q, v=v: r.inverse_dynamics(q, v[0], v[1]),
            "five": lambda r=robot, q=q, v=v: r.inverse_dynamics(q, v),
        }
        one, five = microseconds(calls, 200, SHORT).values()
        print(f"{name:28} {robot.nv:11} {one:11.1f} {five:14.1f} {built:13.2f}")


def race(segments: int, nodes: int, rng: np.random.Generator) -> None:
    """With SoRoMoX's spatial arm of piecewise constant strain."""
    import jax
    import jax.numpy as jnp
    from soromox.systems import PCS, LinkSpec, PCSStructure

    jax.config.update("jax_enable_x64", True)
    shear, area = YOUNG / (2 * (1 + POISSON)), np.pi * RADIUS**2
    bending = area * RADIUS**2 / 4
    # its order: twist, two bends, stretch, two shears
    stiffness = LENGTH * np.diag([2 * shear * bending, *[YOUNG * bending] * 2, YOUNG * area, *[shear * area] * 2])
    link = LinkSpec.circular(
        length=LENGTH, radius=RADIUS, density=DENSITY, reference_strain=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        stiffness=jnp.asarray(stiffness), damping=jnp.asarray(DAMPING * stiffness),
    )  # fmt: skip
    free = jnp.array([False, True, True, True, False, False] * segments)
    peer = PCS.from_links(
        [link] * segments, structure=PCSStructure(num_gauss_points=nodes, strain_selector=free),
        gravity=jnp.array([-9.81, 0.0, 0.0]), base_pose=jnp.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
    )  # fmt: skip
    robot = arm(segments, PLAIN, nodes)
    n = robot.nv
    unit = np.tile([1 / LENGTH, 1 / LENGTH, 1.0], segments)  # q = κ and ε

    def torque(q, v, a):  # type: ignore[no-untyped-def]
        M, Cv, G = peer.dynamics_terms(q, v)
        return M @ a + Cv + G + peer.elastic_force(q) + peer.damping_matrix(q) @ v

    def torque_and_rate(q, v, a, j):  # type: ignore[no-untyped-def]
        return jnp.stack(jax.jvp(torque, (q, v, a), (v, a, j)))

    def acceleration(x, tau):  # type: ignore[no-untyped-def]
        return peer.forward_dynamics(0.0, x, (None, tau))[n:]

    def slope(x, tau):  # type: ignore[no-untyped-def]
        return jax.jacfwd(acceleration)(x, tau)

    q, v, a, j = rng.uniform(-0.3, 0.3, (4, n)) * unit
    many = rng.uniform(-0.3, 0.3, (3, BATCH, n)) * unit
    tau, x = np.zeros(n), np.concatenate([q, v])
    stack = np.stack([v, a, j])
    push, states = np.zeros((BATCH, n)), np.concatenate(many[:2], axis=-1)

    def compiled(function, *values):  # type: ignore[no-untyped-def]
        run, given = jax.jit(function), [jax.device_put(value) for value in values]
        return lambda: run(*given).block_until_ready()

    pairs: list[tuple[str, Call, Call]] = [
        ("inverse_dynamics", compiled(torque, q, v, a), lambda: robot.inverse_dynamics(q, v, a)),
        ("inverse_dynamics, r = 1", compiled(torque_and_rate, q, v, a, j), lambda: robot.inverse_dynamics(q, stack)),
        ("mass_matrix", compiled(lambda q: peer.inertia_matrix(q), q), lambda: robot.mass_matrix(q)),
        ("forward_dynamics", compiled(acceleration, x, tau), lambda: robot.forward_dynamics(q, v, tau)),
        ("linearize", compiled(slope, x, tau), lambda: robot.linearize(q, v, tau).A[n:]),
        ("inverse_dynamics, batch", compiled(jax.vmap(torque), *many), lambda: robot.inverse_dynamics(*many)),
        (
            "forward_dynamics, batch",
            compiled(jax.vmap(acceleration), states, push),
            lambda: robot.forward_dynamics(many[0], many[1], push),
        ),
    ]
    print(f"arm of {segments}, {nodes} Gauss points each: SoRoMoX, jounce, times as fast, greatest difference")
    for name, theirs, ours in pairs:
        expected, found = np.asarray(theirs()), np.asarray(ours())
        apart = np.abs(found - expected).max() / np.abs(expected).max()
        assert apart < 1e-6, (name, apart)
        share = BATCH if name.endswith("batch") else 1
        time = microseconds({"theirs": theirs, "ours": ours}, 5 if share > 1 else 200, SHORT)
        line = f"{time['theirs'] / share:9.2f} µs {time['ours'] / share:8.2f} µs {time['theirs'] / time['ours']:7.1f}"
        print(f"  {name:34s} {line}   {apart:.0e}", flush=True)


def one_core() -> None:
    """This process on one core: SoRoMoX has no other way to run on one thread."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    jn.set_num_threads(1)


def main() -> None:
    one_core()
    rng = np.random.default_rng(0)
    print(f"jounce {jn.__version__} with {_core.instruction_set()} kernels, load {os.getloadavg()[0]:.1f}")
    goals(rng)
    bodies(rng)
    methods(rng)
    if find_spec("soromox") is None:
        print("SoRoMoX is not installed: no race")
        return
    for segments, nodes in ((1, 10), (3, 10), (10, 10)):
        race(segments, nodes, rng)


if __name__ == "__main__":
    main()
