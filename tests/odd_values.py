"""Values that nobody would pass on purpose, and the calls of the Python side with good arguments."""

from __future__ import annotations

import decimal
import fractions
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import jounce as jn
from jounce import control, poses, soft
from jounce.soft import stumpff
from jounce.view import Sphere, Visual

try:
    import mujoco
except ImportError:  # optional: without it, calls that take its models are left out below
    mujoco = None


class Floaty:
    def __float__(self) -> float:
        return 1.0


class Silent:
    """Not even its repr works."""

    def __repr__(self) -> str:
        raise RuntimeError


class Incomparable:
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


class Mine(np.ndarray):
    pass


ODD: dict[str, Any] = {
    "None": None,
    "a text": "abc",
    "an empty text": "",
    "a long text": "x" * 100_000,
    "half a character": "\ud800",
    "bytes": b"x",
    "an empty list": [],
    "a dict": {},
    "a set": {1.0},
    "nan": np.nan,
    "infinity": np.inf,
    "a huge number": 1e308,
    "a tiny number": 1e-320,
    "minus one": -1,
    "2**63": 2**63,
    "10**400": 10**400,
    "10**5000": 10**5000,
    "complex": 1 + 2j,
    "a masked array": np.ma.array([1.0], mask=[True]),
    "masked": np.ma.masked,
    "objects": np.array([1.0, {}], dtype=object),
    "a record": np.zeros(1, [("a", float)]),
    "a long double": np.longdouble("1e4000"),
    "a date": np.datetime64("2020"),
    "a time": np.timedelta64(1, "s"),
    "a decimal": decimal.Decimal(1),
    "a fraction": fractions.Fraction(1, 3),
    "a float to be": Floaty(),
    "silent": Silent(),
    "incomparable": Incomparable(),
    "an array of my own": np.ones(1).view(Mine),
    "a class": dict,
    "a module": np,
    "ragged": [[1.0], [1.0, 2.0]],
    "nested": [[[[[1.0]]]]],
    "texts": ["1", "2"],
    "nans": [np.nan] * 3,
    "huge numbers": [1e308] * 3,
    "many dimensions": np.zeros((2, 3, 4)),
    "empty": np.zeros((0, 3)),
    "a slice": slice(0, 1),
    "an ellipsis": ...,
}


def slider() -> jn.Model:
    builder = jn.Builder()
    builder.add("cart", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(2.0))
    return builder.build()


class Strut:
    """A module that does not derive from ours."""

    n = 1
    masses: Any = (0.1,)
    scale: Any = (0.1,)
    input_names: Any = ("force",)

    def pose(self, q: Any) -> Any:
        return np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.2 + q[0]], [0, 0, 0, 1]])

    def points(self, q: Any) -> Any:
        return np.array([[0, 0, 0.1 + q[0]]])

    def inputs(self, q: Any) -> Any:
        return np.array([q[0]])


def strut(**changes: Any) -> jn.Model:
    body, builder = Strut(), jn.Builder()
    for key, value in changes.items():
        function = key.endswith("_")
        setattr(body, key.rstrip("_"), (lambda *a, value=value: value) if function else value)
    builder.add("strut", "world", body=body)
    return builder.build()


def added(**changes: Any) -> jn.Model:
    builder = jn.Builder()
    builder.add("a", "world", body=soft.Rod(0.3, 0.02, 1e3, 1e5))
    builder.add(**({"name": "b", "parent": "a"} | changes))
    return builder.build()


def closed(**changes: Any) -> jn.Model:
    """Two rods side by side, tied together."""
    builder = jn.Builder()
    for name in "ab":
        builder.add(name, "world", body=soft.Rod(0.3, 0.02, 1e3, 1e5))
    builder.close(**({"name": "tie", "first": "a", "second": "b", "joint": jn.Spherical()} | changes))
    return builder.build()


def geared(**changes: Any) -> jn.Model:
    builder = jn.Builder()
    for name in "ab":
        builder.add(name, "world", jn.Revolute(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.close(**({"name": "tie", "joint": jn.Gear((0.0, 2.0))} | changes))
    return builder.build()


def held_by(**changes: Any) -> jn.Model:
    """A contact held in place."""
    return ROBOT.constrained({"tool": jn.Contact(**changes)})


def _hook() -> jn.Builder:
    """With a massless body at its end."""
    builder = jn.Builder()
    builder.add("hook", "world", jn.Revolute((1, 0, 0)))
    return builder


def _set_num_threads(n: Any) -> int:
    """Sets it and restores the previous value."""
    before = jn.num_threads()
    try:
        jn.set_num_threads(n)
        return jn.num_threads()
    finally:
        jn.set_num_threads(before)


def _plotted(path: Any, **given: Any) -> list[str]:
    """The labels of a plot, saved to a folder that is removed; matplotlib refuses odd names in its own words."""
    if isinstance(path, str) and path != "plot.svg":
        raise ValueError
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "plot.svg") if path is None or isinstance(path, str) else path
        return [ax.get_ylabel() for ax in jn.plot(**given, path=file).axes]


def _limited(path: Any) -> jn.Model:
    """With a file that is there."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "joint_limits.yaml")
        file.write_text("joint_limits: {elbow: {has_jerk_limits: true, max_jerk: 9.0}}")
        return ROBOT.with_limits(file if isinstance(path, str) and path == file.name else path)


def _sleeve(q):
    c, s = np.cos(q[1]), np.sin(q[1])
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, q[0]], [0, 0, 0, 1]])


ROBOT = jn.robots.quadrotor_arm()
Q, REST = ROBOT.neutral(), np.zeros(ROBOT.nv)
POSE = jn.placement((1, 2, 3), axis=(0, 0.6, 0.8), angle=0.3)
SLIDER = slider()
HELD = ROBOT.constrained({"tool": jn.Spherical(), "forearm": jn.Contact(jn.OnPlane((1, 0.2, 0)), np.eye(4))})
MOTION = jn.simulate(SLIDER, [0.0], [1.0], [0, 1])
FINGER = added()
T = np.linspace(0.0, 1.0, 3)
TRACKING = control.tvlqr(SLIDER, (T, *np.zeros((3, 3, 1))), np.ones(2), np.ones(1), np.ones(2))
HOVER = ROBOT.linearize(Q, REST, ROBOT.gravity_force(Q))
REGULATOR = control.Regulator(np.zeros((8, 16)), np.zeros((16, 16)), np.zeros(16), HOVER, None)
OPTIONS: dict[str, Any] = {"armature": 0.1, "damping": 0.1, "stiffness": 0.1, "name": "x"}
ROWS = {key: [[0.0], [1.0]] for key in ("q", "v", "a", "tau")}

CALLS: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
    "simulate": (
        jn.simulate,
        {"robot": SLIDER, "q0": [0.0], "v0": [1.0], "times": [0, 0.1], "tau": [1.0], "method": "taylor", "rtol": 1e-6,
         "atol": 1e-7, "order": 3, "start": "project", "max_steps": 100, "time_limit": 5.0, "progress": False},
    ),
    "simulate a function": (
        lambda tau: jn.simulate(SLIDER, [0.0], [1.0], [0, 0.1], lambda t, q, v: tau, method="rkmk", max_steps=50),
        {"tau": [1.0]},
    ),
    "plot": (
        _plotted,
        {"time": [0.0, 1.0], "stack": np.zeros((2, 1)), "robot": SLIDER, "what": "force", "joints": None,
         "path": "plot.svg"},
    ),
    "Trajectory": (
        jn.Trajectory,
        {"time": [0.0, 1.0], **ROWS, "q_names": ("x",), "v_names": ("x",), "q_units": ("m",), "v_units": ("m/s",)},
    ),
    "index": (lambda index: MOTION[index], {"index": 0}),
    "a module": (strut, {"n": 1, "masses": [0.1], "scale": [0.1], "input_names": ("force",)}),
    "its functions": (strut, {"pose_": np.eye(4), "points_": np.zeros((1, 3)), "energy_": 0.0, "inputs_": np.zeros(1)}),
    "add": (
        added,
        {"name": "b", "parent": "a", "joint": jn.Fixed(), "placement": np.eye(4), "inertia": None, "body": None,
         "at": 0.1, "visuals": [Visual(Sphere(0.1))]},
    ),
    "close": (
        closed,
        {"name": "tie", "first": "a", "second": "b", "joint": jn.Spherical(), "placement_a": np.eye(4),
         "placement_b": np.eye(4), "at_a": 0.1, "at_b": None},
    ),
    "a gear": (geared, {"name": "tie", "first": "a", "second": "b", "joint": jn.Gear((0.0, 2.0))}),
    "Distance": (jn.Distance, {"length": 0.3}),
    "OnPlane": (jn.OnPlane, {"normal": (0, 0.6, 0.8)}),
    "OnLine": (jn.OnLine, {"axis": (0, 0.6, 0.8)}),
    "Rolling": (jn.Rolling, {"radius": 0.3, "axis": (0, 1, 0), "normal": (0, 0.6, 0.8)}),
    "Gear": (jn.Gear, {"polynomial": (0.1, 2.0, -0.3)}),
    "Contact": (jn.Contact, {"kind": jn.Spherical(), "pose": np.eye(4), "axes": "world"}),
    "a contact": (held_by, {"kind": jn.Spherical(), "pose": np.eye(4)}),
    "constrained": (ROBOT.constrained, {"contacts": {"tool": jn.Fixed()}}),
    "unconstrained": (HELD.unconstrained, {"constraints": ["tool"]}),
    "lock": (ROBOT.lock, {"positions": {"elbow": 0.3}}),
    "configuration": (ROBOT.configuration, {"positions": {"elbow": 0.3}}),
    "a pose of the base": (lambda pose: ROBOT.configuration({"base": pose}), {"pose": np.eye(4)}),
    "joint_positions": (ROBOT.joint_positions, {"q": Q}),
    "angular_first": (jn.angular_first, {"x": np.arange(6.0), "matrix": False}),
    "a locked joint": (lambda q: ROBOT.lock({"base": q}), {"q": Q[:7]}),
    "replace": (
        ROBOT.replace,
        {"armature": 0.1, "damping": {"elbow": 0.2}, "stiffness": 0.3, "rest": 0.1, "limits": None, "gravity": None,
         "inertia": {"tool": jn.Inertia(1.0)}},
    ),
    "attach": (ROBOT.attach, {"other": SLIDER, "to": "tool", "placement": np.eye(4), "prefix": "x"}),
    "subtree": (ROBOT.subtree, {"name": "forearm"}),
    "chain": (ROBOT.chain, {"base": "quadrotor", "tip": "tool"}),
    "remove": (ROBOT.remove, {"name": "forearm"}),
    "with_inertial_parameters": (
        ROBOT.with_inertial_parameters, {"parameters": ROBOT.inertial_parameters, "physical": True}
    ),
    "payload": (ROBOT.payload, {"name": "tool", "inertia": jn.Inertia(1.0), "placement": np.eye(4)}),
    "constraint_rows": (HELD.constraint_rows, {"name": "tool"}),
    "constrained_dynamics": (
        HELD.constrained_dynamics,
        {"motions": {"tool": np.zeros((2, 6))}, "correction": (4.0, 2.0), "q": Q, "v": REST, "tau": REST},
    ),
    "constrained_inverse_dynamics": (
        HELD.constrained_inverse_dynamics,
        {"actuated": None, "weight": 2.0, "force_weight": 0.1, "frame": "body", "q": Q, "v": REST, "a": REST},
    ),
    "impact": (HELD.impact, {"restitution": {"forearm": 0.5}, "normals": {"tool": (0, 0, 1)}, "q": Q, "v": REST}),
    "independent_coordinates": (HELD.independent_coordinates, {"q": Q, "names": None}),
    "loop_coordinate": (closed().loop_coordinate, {"name": "tie", "q": np.zeros(6), "v": np.zeros(6)}),
    "project": (HELD.project, {"q": Q, "v": REST, "held": ["elbow"]}),
    "residual": (HELD.residual, {"q": Q, "v": REST}),
    "Builder": (jn.Builder, {"gravity": (0, 0, -9.0)}),
    "build": (lambda allow_massless: _hook().build(allow_massless=allow_massless), {"allow_massless": True}),
    "from_model": (jn.Builder.from_model, {"model": SLIDER}),
    "Inertia": (jn.Inertia, {"mass": 1.0, "com": (0, 0, 0), "rotational": (1, 1, 1), "physical": True}),
    "box": (jn.Inertia.box, {"mass": 1.0, "size": (1, 2, 3)}),
    "capsule": (jn.Inertia.capsule, {"mass": 1.0, "radius": 0.1, "length": 0.3, "axis": (0, 0.6, 0.8)}),
    "from_mesh": (
        jn.Inertia.from_mesh,
        {"vertices": [[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "mass": 1.0, "density": None, "scale": 0.1,
         "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]},
    ),
    "from_parameters": (jn.Inertia.from_parameters, {"parameters": [1.0, *[0.0] * 9], "physical": True}),
    "moved": (jn.Inertia(1.0).moved, {"placement": np.eye(4)}),
    "placement": (
        jn.placement,
        {"xyz": (1, 2, 3), "rpy": None, "quaternion": None, "axis": (0, 0.6, 0.8), "angle": 0.3,
         "rotation_vector": None, "rotation": None, "degrees": True},
    ),
    "exp": (poses.exp, {"twist": np.linspace(0.1, 0.6, 6)}),
    "log": (poses.log, {"pose": POSE}),
    "adjoint": (poses.adjoint, {"pose": POSE}),
    "inverse": (poses.inverse, {"pose": POSE}),
    "error": (poses.error, {"pose": POSE, "target": np.eye(4), "frame": "mixed"}),
    "from_quaternion": (poses.from_quaternion, {"quaternion": np.array([0.0, 0.6, 0.0, 0.8]), "xyz": np.ones(3)}),
    "from_rotation_vector": (
        poses.from_rotation_vector, {"vector": np.array([0.1, 0.2, 0.3]), "xyz": np.ones(3), "degrees": True}
    ),
    "from_rpy": (poses.from_rpy, {"angles": np.array([0.1, 0.2, 0.3]), "xyz": np.ones(3), "degrees": False}),
    "to_quaternion": (poses.to_quaternion, {"pose": POSE}),
    "to_rotation_vector": (poses.to_rotation_vector, {"pose": POSE, "degrees": True}),
    "to_rpy": (poses.to_rpy, {"pose": POSE[:3, :3].copy(), "degrees": False}),
    "from_dh": (
        jn.from_dh,
        {"table": [[0.1, 0.2, 0.3, 0.4]], "convention": "standard", "joints": "P", "inertias": [jn.Inertia(1.0)],
         "base": np.eye(4), "tool": np.eye(4), "gravity": (0, 0, -9.0), "degrees": False,
         "columns": ("theta", "d", "a", "alpha")},
    ),
    "Fixed": (jn.Fixed, {"name": "x"}),
    "Revolute": (jn.Revolute, {"axis": (0, 0, 1), "rest": 0.1, "limits": None, "follows": None} | OPTIONS),
    "Prismatic": (jn.Prismatic, {"axis": (0, 0, 1), "rest": 0.1, "limits": None, "follows": None} | OPTIONS),
    "Helical": (jn.Helical, {"axis": (0, 0, 1), "pitch": 0.1, "limits": None, "follows": None} | OPTIONS),
    "Cylindrical": (jn.Cylindrical, {"axis": (0, 0, 1)} | OPTIONS),
    "Planar": (jn.Planar, {"x": (1, 0, 0), "y": (0, 1, 0)} | OPTIONS),
    "Universal": (jn.Universal, {"first": (1, 0, 0), "second": (0, 1, 0)} | OPTIONS),
    "Spherical": (jn.Spherical, OPTIONS),
    "Free": (jn.Free, OPTIONS),
    "Limits": (
        jn.Limits,
        {"lower": -1, "upper": 1, "velocity": 1, "effort": 1, "acceleration": 1, "deceleration": 1, "jerk": 1,
         "effort_rate": 1},
    ),
    "Follow": (jn.Follow, {"joint": "x", "ratio": 1.0, "offset": 0.0}),
    "Rotor": (jn.Rotor, {"ratio": 20.0, "inertia": 1e-4, "axis": (0, 0, 1)}),
    "Spline": (jn.Spline, {"knots": [0.0, 1.0, 3.0, 4.0], "values": [0.0, 2.0, 1.0, 1.0], "degree": 5}),
    "CustomJoint": (
        jn.CustomJoint,
        {"pose": _sleeve, "n": 2, "scale": 0.5, "damping": 0.1, "friction": 0.2, "friction_speed": 0.05,
         "stiffness": 1.0, "rest": 0.2, "limits": None, "rotor": None,
         "coordinate_names": ("x", "y"), "coordinate_units": ("m", "rad"), "name": None},
    ),
    "Rod": (
        soft.Rod,
        {"length": 0.3, "radius": 0.02, "density": 1e3, "young": 1e5, "poisson": 0.4, "damping": 0.1, "strain": None,
         "rest": (0, 0, 1, 0, 0, 0), "section": "disk", "nodes": 3, "actuators": (),
         "check": True, "reach": None, "order": None},
    ),
    "VariableRadius": (
        soft.VariableRadius,
        {"length": 0.2, "radius": 0.02, "density": 1e3, "young": 1e6, "poisson": 0.4, "damping": 0.1, "wall": 0.0,
         "law": "beam", "nodes": 3, "check": True, "reach": None, "order": None},
    ),
    "Actuator": (soft.Actuator, {"name": "c", "route": (0.01, 0.0), "end": 0.1}),
    "Tendon": (soft.Tendon, {"name": "c", "route": (0.01, 0.0), "end": 0.1}),
    "Chamber": (soft.Chamber, {"name": "c", "route": (0.01, 0.0), "end": 0.1, "area": 1e-4}),
    "constant_curvature": (soft.constant_curvature, {"planar": False, "elongation": True}),
    "constant_strain": (lambda strains: soft.constant_strain(strains), {"strains": "bend_x"}),
    "polynomial": (soft.polynomial, {"order": 1, "strains": ("bend_x",)}),
    "gaussian": (soft.gaussian, {"center": 0.5, "width": 0.1, "elongation": True}),
    "to_urdf": (SLIDER.to_urdf, {"path": "robot.urdf", "name": "robot", "skip": ("springs", "gravity")}),
    "to_mjcf": (SLIDER.to_mjcf, {"path": "robot.xml", "name": "robot", "skip": "visuals"}),
    "load": (
        jn.load,
        {"source": "<robot><link name='b'/></robot>", "base": "fixed", "mimic": "coupled", "damping": True,
         "friction": 0.01, "constraints": True, "gravity": (0, 0, -9), "allow": (), "untrusted": False},
    ),
    "with_limits": (_limited, {"path": "joint_limits.yaml"}),
    "check_limits": (ROBOT.check_limits, {"v": np.zeros((3, 8)), "tau": np.zeros((2, 8)), "q": Q}),
    "check_limits of a motion": (MOTION.check_limits, {"robot": SLIDER}),
    "frame_index": (ROBOT.frame_index, {"name": "tool"}),
    "coordinate": (ROBOT.coordinate, {"joint": "elbow"}),
    "random_configuration": (ROBOT.random_configuration, {"rng": np.random.default_rng(0), "shape": (2,)}),
    "backbone": (FINGER.backbone, {"name": "a", "q": np.zeros(3), "s": [0.1]}),
    "regressor": (ROBOT.inverse_dynamics_regressor, {"v": REST, "a": REST} | {"q": Q}),
    "torque_coefficients": (ROBOT.torque_coefficients, {"order": 1, "q": Q, "v": np.zeros((2, 8))}),
    "linearize": (ROBOT.linearize, {"actuated": [0, 1], "frame": "world", "q": Q, "v": REST, "tau": REST}),
    "equilibrium": (
        FINGER.equilibrium,
        {"q0": np.zeros(3), "tau": np.zeros(3), "wrenches": {"a": np.zeros(6)}, "held": ["a"], "branch": "any"},
    ),
    "forward_kinematics": (
        ROBOT.forward_kinematics,
        {"frames": ["tool"], "velocity_frame": "body", "q": Q, "v": np.zeros((2, 8))},
    ),
    "a pose of them": (lambda name: ROBOT.forward_kinematics(Q)[name], {"name": "forearm"}),
    "lqr": (control.lqr, {"lin": HOVER, "Q": np.ones(16), "R": np.ones(8), "dt": 0.1}),
    "tvlqr": (
        control.tvlqr,
        {"robot": SLIDER, "motion": (T, *np.zeros((3, 3, 1))), "Q": np.ones(2), "R": np.ones(1), "Q_final": np.ones(2),
         "actuated": None},
    ),
    "riccati": (
        control.riccati,
        {"times": T, "A": np.zeros((3, 1, 1)), "B": np.ones((3, 1, 1)), "Q": [1.0], "R": [1.0], "Q_final": [1.0]},
    ),
    "tracking": (TRACKING.control, {"t": 0.5, "v": [0.0], "q": [0.0]}),
    "tracking error": (TRACKING.error, {"t": 0.5, "v": [0.0], "q": [0.0]}),
    "gain": (TRACKING.gain, {"t": 0.5}),
    "reference": (TRACKING.reference, {"t": 0.5}),
    "regulator": (REGULATOR.control, {"robot": ROBOT, "v": REST, "q": Q}),
    "discretize": (HOVER.discretize, {"dt": 0.1}),
    "stumpff": (stumpff, {"k": 1, "u": 0.5}),
    "aerial_manipulator": (jn.robots.aerial_manipulator, {"branches": 2, "links": 1}),
    "panda": (jn.robots.panda, {"tilt": 0.1}),
    "reference_motion": (jn.robots.reference_motion, {"t": [0.0, 1.0], "rows": 3}),
    "TiltHex": (
        jn.robots.TiltHex,
        {"a": 0.4, "alpha": 0.6, "beta": -0.2, "thrust": 2e-5, "drag": 5e-7, "alternates": True},
    ),
    "speeds": (jn.robots.TiltHex().speeds, {"wrench": [[0.0, 0.0, 39.0, 0.0, 0.0, 0.0]]}),
    "quadrotor_arm": (jn.robots.quadrotor_arm, {"payload": 0.1}),
    "set_num_threads": (_set_num_threads, {"n": 1}),
}  # fmt: skip
if mujoco is not None:
    THERE = mujoco.MjModel.from_xml_string(
        '<mujoco> <worldbody> <body name="box"> <freejoint/> <geom size="0.1"/> </body> </worldbody> </mujoco>'
    )
    BOX = jn.load(THERE)
    MUJOCO = jn.conversions.MuJoCo(BOX, THERE)
    CALLS |= {
        "MuJoCo": (jn.conversions.MuJoCo, {"robot": BOX, "model": THERE}),
        "to": (MUJOCO.to, {"q": BOX.neutral(), "v": np.zeros(6), "a": np.zeros(6)}),
        "back": (MUJOCO.back, {"q": BOX.neutral(), "v": np.zeros(6), "a": np.zeros(6)}),
        "force_to": (MUJOCO.force_to, {"q": BOX.neutral(), "tau": np.zeros(6)}),
        "force_back": (MUJOCO.force_back, {"q": BOX.neutral(), "tau": np.zeros(6)}),
        "jacobian_to": (MUJOCO.jacobian_to, {"q": BOX.neutral(), "J": np.zeros((3, 6))}),
        "jacobian_back": (MUJOCO.jacobian_back, {"q": BOX.neutral(), "J": np.zeros((3, 6))}),
        "matrix_to": (MUJOCO.matrix_to, {"q": BOX.neutral(), "M": np.eye(6)}),
        "matrix_back": (MUJOCO.matrix_back, {"q": BOX.neutral(), "M": np.eye(6)}),
    }
TO_THE_CORE = {"torque_coefficients": "qv", "linearize": "q", "forward_kinematics": "qv", "backbone": "q"}
TO_THE_CORE |= {
    "check_limits": "q",
    "regressor": "q",
    "tracking": "q",
    "tracking error": "q",
    "regulator": "q",
    "constrained_dynamics": "q v tau",
    "constrained_inverse_dynamics": "q v a",
    "impact": "q",
    "loop_coordinate": "q",
    "residual": "q",
}  # NumPy warns here when casting a long double
PYTHONS_OWN = {"index"}
