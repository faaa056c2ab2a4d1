"""Pickles of robots, motions and errors, with bytes changed: objects or exceptions, but never a crash.

Loading a pickle runs the code in it, so nothing is promised of a changed one, except that it does not take the process
down. This unpickler knows only the classes and functions that the seeds use.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import random
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import jounce as jn

from .npz import motion

WORDS = [
    b"N",
    b"K\x00",
    b"K\x01",
    b"M\xff\xff",
    b"J\xff\xff\xff\x7f",
    b"J\x00\x00\x00\x80",
    b"\x88",
    b"\x89",
    b"]",
    b"}",
    b")",
]
WORDS += [
    b"G\x7f\xf8\x00\x00\x00\x00\x00\x00",
    b"G\x7f\xf0\x00\x00\x00\x00\x00\x00",
    b"G\xbf\xf0\x00\x00\x00\x00\x00\x00",
]
WORDS += [b"\x8c\x03arm", b"\x8c\x00", b"\x85", b"\x86", b"\x87", b"R", b"0", b"1", b"2", b"h\x00", b"h\x05", b"\x94"]
WORDS += [b"K" + bytes([i]) + b"Q" for i in range(16)]  # another array

SHORT = 4000  # inputs of a short round
ODD = [
    np.zeros(0),
    np.full(3, np.nan),
    np.full((4, 4), np.inf),
    np.ones((2, 2)),
    np.array("text"),
    np.array([None]),
    np.zeros((3, 3), ">f4"),
]
ARRAYS: list[np.ndarray] = list(ODD)  # NumPy's own pickles are NumPy's business: a pickle holds the number of an array


def robots() -> list[jn.Model]:
    heavy = jn.Inertia(1.0, com=(0.1, 0.0, 0.2), rotational=(0.1, 0.1, 0.1))
    arm = jn.Builder()
    arm.add("base", "world", jn.Free(), inertia=heavy)
    arm.add("arm", "base", jn.Universal((1, 0, 0), (0, 1, 0), damping=0.1), inertia=heavy)
    arm.add("hand", "arm", jn.Revolute((0, 1, 0), limits=jn.Limits(-1, 1), name="wrist"), inertia=heavy)
    arm.add("finger", "hand", jn.Prismatic((0, 0, 1), follows=jn.Follow("wrist", 2.0, 0.1)), inertia=heavy)
    arm.add("tip", "finger", jn.Fixed())
    soft = jn.Builder(gravity=(0, 0, 0))
    soft.add("ball", "world", jn.Spherical(stiffness=1.0), inertia=heavy)
    soft.add("rod", "ball", body=jn.soft.Rod(length=0.3, radius=0.01, density=1000, young=1e5, nodes=3))
    return [arm.build(), soft.build(), tied(heavy)]


def tied(heavy: jn.Inertia) -> jn.Model:
    """A robot with a constraint of each kind that the core knows, and with contacts."""
    across = (0, 1, 0)
    b = jn.Builder()
    b.add("crank", "world", jn.Revolute(across), inertia=heavy)
    b.add("coupler", "crank", jn.Revolute(across), shifted(0.3), heavy)
    b.add("rocker", "world", jn.Revolute(across), shifted(0.5), heavy)
    b.add("rod", "rocker", body=jn.soft.Rod(length=0.2, radius=0.01, density=1000, young=1e5, nodes=3))
    b.add("wheel", "world", jn.Free(), inertia=heavy)
    b.add("pendulum", "wheel", jn.Universal((1, 0, 0), across), inertia=heavy)
    b.add("hand", "pendulum", jn.Fixed(), shifted(0.2))
    b.close("pin", "coupler", "rocker", jn.Revolute(across), placement_a=shifted(0.2))
    b.close("rope", "coupler", "rod", jn.Distance(0.4), at_b=0.1)
    b.close("gear", "crank", "rocker", jn.Gear((0.1, 1.0, 0.2)))
    b.close("road", "world", "wheel", jn.Rolling(0.3, axis=across))
    b.close("cross", "world", "pendulum", jn.Universal((1, 0, 0), across))
    return b.build().constrained({"hand": jn.Contact(jn.OnPlane(), np.eye(4)), "rod": jn.OnLine((1, 0, 0))})


def shifted(x: float) -> np.ndarray:
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


@cache
def seeds() -> list[bytes]:
    things: list[Any] = [
        *robots(),
        motion(2),
        jn.SimulationError("it stops", motion(2)),
        jn.NoEquilibrium(0.5, "the load", np.ones(2)),
    ]
    things += [jn.Inertia(1.0), jn.Follow("a"), jn.Limits(-1, 1), robots()[0].bodies[1], *robots()[2].constraints]
    return [pickletools.optimize(pickled(thing, protocol)) for thing in things for protocol in (2, 3)]


def pickled(thing: Any, protocol: int) -> bytes:
    class Numbering(pickle.Pickler):
        def persistent_id(self, thing: Any) -> Any:
            if not isinstance(thing, np.ndarray):
                return None
            ARRAYS.append(thing)
            return len(ARRAYS) - 1

    file = io.BytesIO()
    Numbering(file, protocol).dump(thing)
    return file.getvalue()


def mutated(data: bytes, rng: random.Random) -> bytes:
    """With one of its operations removed, repeated, or in place of another."""
    places = [at for _, _, at in pickletools.genops(data)]
    pieces = [data[a:b] for a, b in zip(places, [*places[1:], len(data)], strict=True)]
    i = rng.randrange(len(pieces))
    pieces[i] = rng.choice([b"", 2 * pieces[i], rng.choice(pieces), rng.choice(WORDS), rng.choice(WORDS)])
    return b"".join(pieces)


@cache
def known() -> frozenset[tuple[str, str]]:
    """The globals of the seeds."""
    found = set()

    class Listening(Careful):
        def find_class(self, module: str, name: str) -> Any:
            found.add((module, name))
            return pickle.Unpickler.find_class(self, module, name)

    for seed in seeds():
        Listening(io.BytesIO(seed)).load()
    return frozenset(found)


class Careful(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in known():
            raise pickle.UnpicklingError("not one of ours")
        return super().find_class(module, name)

    def persistent_load(self, number: Any) -> np.ndarray:
        if type(number) is not int or not 0 <= number < len(ARRAYS):
            raise pickle.UnpicklingError("no such array")
        return ARRAYS[number]


def harmless(data: bytes) -> bool:
    """Whether it requests no more memory than allowed: pickle trusts the lengths that it reads."""
    try:
        return all(
            not (op.name in ("LONG_BINPUT", "BINPUT", "PUT") and argument > 10_000) and op.name != "LONG4"
            for op, argument, _ in pickletools.genops(data)
        )
    except Exception:
        return True  # truncated: it will fail there


def check(data: bytes) -> None:
    known()
    if not harmless(data):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tried(lambda: Careful(io.BytesIO(data)).load())
        tried(lambda: repr(found))
        if isinstance(found, jn.Model) and found.nv <= 100:
            use(found)


def use(robot: jn.Model) -> None:
    """Calls that go through all of a robot's tables."""
    q, v = np.asarray(robot.neutral()), np.ones((3, robot.nv))
    tried(lambda: str(robot))
    tried(lambda: robot.inverse_dynamics(q, v))
    tried(lambda: robot.forward_dynamics(q, v[0], v[1]))
    tried(lambda: robot.forward_kinematics(q, v, frames=list(robot.frame_names)))
    tried(lambda: robot.mass_matrix_derivatives(q, v))
    tried(lambda: robot.integrate(q, v[0]))
    tried(lambda: robot.linearize(q, v[0], v[1]))
    tried(lambda: robot.elastic_force(q))
    tried(lambda: robot.actuation_matrix(q))
    tried(lambda: robot.residual(q, v[0]))
    tried(lambda: robot.constraint_jacobian_derivatives(q, v))
    tried(lambda: robot.constrained_dynamics(q, v[0], v[1:]))
    tried(lambda: robot.constrained_dynamics_derivatives(q, v[0], v[1]))
    tried(lambda: robot.impact(q, v[0]))


def tried(call: Callable[[], object]) -> object:
    """Its result; None if it raises, unless C code fails without setting an exception."""
    try:
        return call()
    except SystemError:
        raise
    except Exception:
        return None
