"""Every public call of a robot, with arguments for it: good ones, in batches of any shape, and bad ones.

The table below says how to make each call. `public_calls` lists them from the class itself; tests fail if one of them,
or one of its parameters, is not in the table.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache

import numpy as np

import jounce as jn
from coupled_robots import Robot
from demands import DEMANDS
from jounce import _signatures

FRAMES = ("body", "world", "mixed")
ROWS = 3  # of a velocity stack by default; stacks of forces have one fewer

# Method; positional arguments, with a star for a stack; keyword arguments.
_TABLE = """
inverse_dynamics                        q v a           | wrenches wrench_frame frame order out
inverse_dynamics                        q v*            | wrenches* wrench_frame frame order out
forward_dynamics                        q v tau         | wrenches wrench_frame frame order out
forward_dynamics                        q v tau*        | wrenches* wrench_frame frame order out
hybrid_dynamics                         q v acc tau     | prescribed wrenches wrench_frame frame order
hybrid_dynamics                         q v acc* tau*   | prescribed wrenches* wrench_frame frame order
generalized_inverse_dynamics            q v a           | frame order
generalized_inverse_dynamics            q v*            | frame order
inverse_dynamics_passive                q v v_ref a_ref | frame out
bias_force                              q v             | damping frame
gravity_force                           q               | frame out
gravity_force_derivatives               q v*            | frame order out
elastic_force                           q               |
damping_force                           q v             |
actuation_matrix                        q               |
mass_matrix                             q               | frame out
mass_matrix_derivatives                 q v*            | frame order out
inverse_mass_matrix                     q               | frame out
inverse_mass_matrix_apply               q f             |
coriolis_matrix                         q v             | frame out
coriolis_matrix_derivatives             q v*            | frame order out
articulated_inertia                     q               |
closed_form                             q v             | wrenches wrench_frame
closed_form                             q v*            | wrenches* wrench_frame
torque_coefficients                     q v*            | order frame
inverse_dynamics_derivatives            q v a           | wrenches wrench_frame order
inverse_dynamics_derivatives            q v*            | wrenches* wrench_frame order
forward_dynamics_derivatives            q v tau         | wrenches wrench_frame order
forward_dynamics_derivatives            q v tau*        | wrenches* wrench_frame order
inverse_dynamics_regressor              q v a           | frame order
inverse_dynamics_regressor              q v*            | frame order
linearize                               q v tau         | u actuated wrenches wrench_frame frame
constrained_dynamics                    q v tau         | wrenches wrench_frame frame motions correction order
constrained_dynamics                    q v tau*        | wrenches* wrench_frame frame motions correction order
constrained_dynamics_derivatives        q v tau         | wrenches wrench_frame order
constrained_dynamics_derivatives        q v tau*        | wrenches* wrench_frame order
constrained_inverse_dynamics            q v a           | actuated weight force_weight wrenches wrench_frame frame order
constrained_inverse_dynamics            q v*       | actuated weight force_weight wrenches* wrench_frame frame order
constraint_jacobian                     q               | frame
constraint_jacobian_derivatives         q v*            | frame order
inverse_constraint_inertia              q               |
impact                                  q v             | restitution normals wrench_frame frame
residual                                q               | frame
residual                                q v             | frame
project                                 q               | held
project                                 q v             | held order
project                                 q v*            | held order
loop_coordinate                         constraint q    |
loop_coordinate                         constraint q v  |
independent_coordinates                 q               | names
constraint_rows                         constraint      |
constrained                             contacts        |
unconstrained                                           | constraints
lock                                    positions       |
replace                                 | armature damping friction friction_speed stiffness rest limits gravity inertia
attach                                  other to placement      | prefix
subtree                                 name            |
chain                                   base tip        |
remove                                  name            |
payload                                 name inertia placement  |
with_inertial_parameters                parameters      | physical
equilibrium                                             | u q0 tau wrenches wrench_frame held branch
forward_kinematics                      q               | frames frame velocity_frame
forward_kinematics                      q v*            | frames frame velocity_frame order
frames                                  frames          |
pose                                    name q          |
twist                                   name q v*       | frame velocity_frame order
backbone                                soft q s        |
pose_derivatives                        q v*            | frames frame order
jacobian                                name q          | frame velocity_frame out
jacobian_derivatives                    name q v*       | frame velocity_frame order out
center_of_mass                          q               | out
center_of_mass_derivatives              q v*            | frame order out
centroidal_momentum                     q v             | frame out
centroidal_momentum_derivatives         q v*            | frame order out
centroidal_momentum_matrix              q               | frame out
centroidal_momentum_matrix_derivatives  q v*            | frame order out
kinetic_energy                          q v             | frame out
kinetic_energy_derivatives              q v*            | frame order out
potential_energy                        q               | out
potential_energy_derivatives            q v*            | frame order out
integrate                               q dv            |
difference                              q0 q1           |
change_velocity_frame                   q v* source target      | order
change_force_frame                      q v* tau* source target | order
neutral                                                 |
random_configuration                    rng shape       |
check_limits                            q v* tau*       |
coordinate                              joint           |
position                                joint           |
frame_index                             name            |
"""
PROPERTIES = {
    "nq", "nv", "bodies", "gravity", "body_names", "joint_names", "frame_names", "input_names", "inertial_parameters",
    "lower", "upper", "velocity_limit", "effort_limit", "acceleration_limit", "deceleration_limit", "jerk_limit",
    "effort_rate_limit", "constraints", "constraint_names", "scenery",
    "armature", "damping", "friction", "stiffness", "mass", "keyframes", "v_names", "unphysical",
}  # fmt: skip

# The axis that counts the orders of a stack's result, for each array of the result.
_ORDERS: dict[str, tuple[int, ...]] = {
    "mass_matrix_derivatives": (-3,),
    "coriolis_matrix_derivatives": (-3,),
    "torque_coefficients": (-3,),
    "jacobian_derivatives": (-3,),
    "centroidal_momentum_matrix_derivatives": (-3,),
    "pose_derivatives": (-3,),
    "inverse_dynamics_regressor": (-3,),
    "kinetic_energy_derivatives": (-1,),
    "potential_energy_derivatives": (-1,),
    "inverse_dynamics_derivatives": (-3, -4),
    "forward_dynamics_derivatives": (-3, -3, -4),
}
# By how many the highest derivative in the result exceeds the rows of v, less two; that of forces is that of tau.
_ABOVE = dict.fromkeys(
    ("coriolis_matrix_derivatives", "centroidal_momentum_derivatives", "kinetic_energy_derivatives"), 1
) | dict.fromkeys(("forward_kinematics", "twist", "change_velocity_frame", "project"), 1)
ONE_ROW = {"jacobian_derivatives", "pose_derivatives", "constraint_jacobian_derivatives"}  # for which (nv,) stands
ONE_ROW |= {f"{of}_derivatives" for of in ("mass_matrix", "gravity_force", "center_of_mass", "potential_energy")}
ONE_ROW |= {"centroidal_momentum_matrix_derivatives"}
_ABOVE |= dict.fromkeys(ONE_ROW, 2)
SOLVES = {
    "forward_dynamics",
    "hybrid_dynamics",
    "inverse_mass_matrix",
    "inverse_mass_matrix_apply",
    "articulated_inertia",
    "forward_dynamics_derivatives",
    "linearize",
    "equilibrium",
    "constrained_dynamics",
    "constrained_dynamics_derivatives",
    "constrained_inverse_dynamics",
    "inverse_constraint_inertia",
    "impact",
    "project",
    "independent_coordinates",
}
BY_BODY = {"forward_kinematics", "pose_derivatives", "articulated_inertia", "inverse_dynamics_regressor"}
ONE_STATE = {"closed_form", "neutral", "random_configuration", "coordinate", "position", "frame_index"}
ONE_STATE |= {"constrained", "constraint_rows", "frames"}
OF_ALL_STATES = {"actuated", "columns", "velocities", "positions"}  # in results, one for the whole batch
EDITS = {"unconstrained", "lock", "replace", "attach", "subtree", "chain", "payload"}  # which give another robot
EDITS |= {"remove", "with_inertial_parameters"}
ONE_STATE |= EDITS
OF_STATES = {"residual", "project", "loop_coordinate"}  # of a configuration, at rest or moving
OF_TIES = {"constraint_rows", "loop_coordinate"}  # of a constraint by name
OF_MOTIONS = {"constrained_inverse_dynamics"}  # that must obey the constraints
NO_NUMBERS = {"show", "to_mjcf", "to_urdf", "with_limits"}  # in `odd_values`, and tests of their own
NO_NUMBERS |= {"configuration", "joint_positions"}  # with mappings, in test_joint_positions.py
ARRAYS = {"q", "q0", "q1", "v", "a", "dv", "tau", "acc", "f", "v_ref", "a_ref"}
WORDS = {"frame", "velocity_frame", "wrench_frame", "source", "target"}


@dataclass(frozen=True)
class Call:
    """A way to call a method; `stacks` names the arguments that are stacks."""

    method: str
    first: tuple[str, ...]
    keywords: tuple[str, ...]
    stacks: frozenset[str]

    @property
    def name(self) -> str:
        if self.method in OF_STATES and "v" in self.first and not self.stacks:
            return f"{self.method} of moving states"
        return f"{self.method} of stacks" if self.stacks else self.method

    @property
    def arrays(self) -> list[str]:
        return [a for a in self.first if a in ARRAYS]

    @property
    def solves(self) -> bool:
        """Whether it solves with the mass matrix, so that its error grows with the condition number."""
        return self.method in SOLVES

    def highest(self, rows: int = ROWS) -> int:
        """The highest derivative in the result, of a velocity stack with so many rows: `order`."""
        return rows - 2 + _ABOVE.get(self.method, 0) if self.stacks else 0

    def order_axis(self, key: str) -> int | None:
        """The axis that counts the orders in an array of the result, by its name in `numbers`."""
        if not self.stacks or self.method in ("closed_form", "forward_kinematics"):
            return -2 if self.method == "forward_kinematics" and "twist" in key else None
        if self.method.startswith("constrained_") or self.method == "project":
            without = key in ("jacobian", "speed_q") or (self.method, key) == ("project", "0")
            return None if without else {"_q": -3, "_v": -3, "_tau": -4}.get("".join(key.rpartition("_")[1:]), -2)
        axes = _ORDERS.get(self.method, (-2,))
        return axes[int(key)] if len(axes) > 1 else axes[0]


def _calls() -> Iterator[Call]:
    for line in _TABLE.strip().splitlines():
        before, after = line.split("|")
        method, *first = before.split()
        words = [*first, *after.split()]
        plain = [w.rstrip("*") for w in words]
        stacks = frozenset(w[:-1] for w in words if w.endswith("*"))
        yield Call(method, tuple(plain[: len(first)]), tuple(plain[len(first) :]), stacks)


CALLS: dict[str, Call] = {call.name: call for call in _calls()}


def public_calls(model: jn.Model) -> set[str]:
    """Names of a robot's public methods, except those that give a picture or a file and no numbers."""
    return {n for n in dir(type(model)) if _is_public(n) and n not in NO_NUMBERS and callable(getattr(type(model), n))}


def public_properties(model: jn.Model) -> set[str]:
    return {n for n in dir(model) if _is_public(n) and n not in NO_NUMBERS} - public_calls(model)


def _is_public(name: str) -> bool:
    return not name.startswith("_")


@cache
def signature(function: object) -> inspect.Signature:
    """The signature of a function of Python or of the core."""
    return _signatures.of(function) if hasattr(function, "__nb_signature__") else inspect.signature(function)


def parameters(model: jn.Model, method: str) -> set[str]:
    """The parameters of a method, from its signature."""
    kinds = signature(getattr(type(model), method)).parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in kinds):  # the signature says nothing
        return parameters_in_table(method)
    return {p.name for p in kinds} - {"self"}


def parameters_in_table(method: str) -> set[str]:
    named = {"soft": "name", "constraint": "name"}
    return {named.get(a, a) for c in CALLS.values() if c.method == method for a in (*c.first, *c.keywords)}


# --- good arguments -------------------------------------------------------------------------------------


def good(call: Call, robot: Robot, batch: tuple[int, ...] = (), rows: int = ROWS, seed: int = 0) -> dict[str, object]:
    """The positional arguments, by name."""
    rng = np.random.default_rng(seed)
    given: dict[str, object] = {}
    for name in call.first:
        if name in ("q", "q0", "q1"):
            given[name] = robot.configuration(rng, batch)
        elif name in ARRAYS:
            count = rows if name == "v" else rows - 1
            given[name] = robot.rates(rng, (*batch, count) if name in call.stacks else batch)
    if robot.ties and call.method in ("residual", "project"):  # which have nothing to do if all constraints hold
        given["q"] = robot.model.integrate(given["q"], 0.05 * robot.rates(rng, batch))
    given |= obeyed(call, robot, given)
    soft = [p.spec.name for p in robot.parts if p.soft is not None]
    names = {"name": robot.parts[-1].spec.name, "joint": robot.model.joint_names[-1], "soft": [*soft, "rod"][0]}
    names |= {"source": "mixed", "target": "world", "s": [0.02, 0.0, 0.1], "rng": None, "shape": (2,)}
    names |= {"constraint": [*robot.model.constraint_names, "loop"][0]}
    if "contacts" in call.first:
        names["contacts"] = contacts(robot)
    names["frames"] = [robot.parts[-1].spec.name, robot.parts[0].spec.name]
    if call.method in EDITS:
        names |= edits(robot)
    return {name: given.get(name, names.get(name)) for name in call.first}


def obeyed(call: Call, robot: Robot, given: dict[str, object], frame: str = "body") -> dict[str, np.ndarray]:
    """The motion among the arguments, changed to obey the robot's constraints; q and v have the same batch."""
    if not robot.ties or not {"q", "v"} <= set(given) or call.method in ("impact", "residual", "project"):
        return {}
    rows = {k: given[k] if k in call.stacks else given[k][..., None, :] for k in ("v", "a", "acc") if k in given}
    stack = robot.motion(given["q"], np.concatenate(list(rows.values()), axis=-2), frame)
    ends = np.cumsum([x.shape[-2] for x in rows.values()])
    parts = dict(zip(rows, np.split(stack, ends[:-1], axis=-2), strict=True))
    return {k: x if k in call.stacks else x[..., 0, :] for k, x in parts.items()}


def edits(robot: Robot) -> dict[str, object]:
    """Arguments of calls that give another robot: the last joint is locked, a pendulum attached."""
    model, joint = robot.model, robot.model.joint_names[-1]
    at = model.neutral()[model.position(joint)]
    return {
        "positions": {joint: at},
        "other": pendulum(model.gravity),
        "to": "world",
        "placement": jn.placement((0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3)),
        "base": "world",
        "tip": robot.parts[0].spec.name,
        "inertia": jn.Inertia.box(0.3, (0.1, 0.2, 0.3)),
        "parameters": None if model._soft else 1.1 * model.inertial_parameters,
    }


def own_joints(robot: Robot, size: int = 0) -> list[str]:
    """Joints, not the shapes of soft bodies; those with that many coordinates."""
    return [b.joint_name for b in robot.model.bodies if b.joint.nv and size in (0, b.joint.nv)]


def pendulum(gravity: object) -> jn.Model:
    b = jn.Builder(gravity)
    b.add("pendulum", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, com=(0, 0, -0.5)))
    return b.build()


def contacts(robot: Robot) -> dict[str, object]:
    """Contacts of the last body, if it is free, and of the first."""
    free = [p.spec.name for p in robot.parts if p.spec.name not in robot.model.constraint_names]
    return {free[-1]: jn.Contact(jn.OnPlane((0.0, 0.6, 0.8)), np.eye(4)), free[0]: jn.Spherical()}


def motions(call: Call, robot: Robot, batch: tuple[int, ...] = (), rows: int = ROWS) -> dict[str, np.ndarray]:
    """Motions of the places that hold the contacts."""
    rng = np.random.default_rng(9)
    count = rows if "tau" in call.stacks else 2
    return {c.name: rng.uniform(-1, 1, (*batch, count, 6)) for c in robot.model.constraints if c.contact}


def bounces(robot: Robot) -> tuple[list[str], list[str]]:
    """Constraints with a normal of their own, and those that accept one."""
    own = [c.name for c in robot.model.constraints if isinstance(c.kind, (jn.OnPlane, jn.Rolling, jn.Distance))]
    return own, [c.name for c in robot.model.constraints if isinstance(c.kind, jn.Spherical)]


def wrenches(call: Call, robot: Robot, batch: tuple[int, ...] = (), rows: int = ROWS) -> dict[str, np.ndarray]:
    """Wrenches on the last body and on the first."""
    rng = np.random.default_rng(7)
    shape = (*batch, rows - 1, 6) if "wrenches" in call.stacks else (*batch, 6)
    return {robot.parts[i].spec.name: rng.uniform(-1, 1, shape) for i in (-1, 0)}


def prescribed(robot: Robot) -> np.ndarray:
    """The coordinates of the last joint."""
    mask = np.zeros(robot.model.nv, bool)
    mask[robot.model.coordinate(robot.model.joint_names[-1])] = True
    return mask


def keywords(call: Call, robot: Robot, batch: tuple[int, ...] = (), rows: int = ROWS) -> dict[str, dict[str, object]]:
    """Sets of keywords to make the call with, the plain one first; `out` is not among them."""
    always = {"prescribed": prescribed(robot)} if "prescribed" in call.keywords else {}
    if call.method == "equilibrium":  # undamped, under loads that turn with a body, one may be lost by a hair
        always = {"branch": "any"}
    found: dict[str, dict[str, object]] = {"": always}
    has = set(call.keywords)
    # A motion that obeys the constraints would have to be in those axes; randomly drawn ones are.
    turns = not (robot.ties and call.method in OF_MOTIONS | {"linearize"})
    if "frame" in has and turns:
        both = ("frame", "velocity_frame") if "velocity_frame" in has else ("frame",)
        found |= {f"frame {f}": always | dict.fromkeys(both, f) for f in FRAMES}
    if "velocity_frame" in has:
        for pair in (("mixed", "body"), ("body", "world")):
            found["frames " + " ".join(pair)] = {"frame": pair[0], "velocity_frame": pair[1]}
    if "wrenches" in has:
        push = wrenches(call, robot, batch, rows)
        found |= {f"wrenches {f}": always | {"wrenches": push, "wrench_frame": f} for f in FRAMES}
        if "frame" in has and turns:
            both = {"wrenches": push, "wrench_frame": "world", "frame": "mixed"}
            found["wrenches world, frame mixed"] = always | both
    names = [robot.parts[-1].spec.name, robot.parts[0].spec.name]
    if "frames" in has:
        found |= {"two frames": {"frames": names}, "frame 0": {"frames": [0]}, "no frames": {"frames": []}}
    if call.method == "torque_coefficients":
        found |= {"order 0": {"order": 0}, "order 1": {"order": np.int64(1)}}
    elif "order" in has:
        found["order"] = always | {"order": call.highest(rows)}
    if call.method in OF_MOTIONS:  # which fewer motors may not be able to produce
        found |= {
            "all": {"actuated": list(robot.model.joint_names)},
            "mask": {"actuated": np.ones(robot.model.nv, bool)},
        }
    elif "actuated" in has:
        joint = robot.model.joint_names[-1]
        found |= {f"actuated {joint}": {"actuated": [joint]}, "a mask": {"actuated": prescribed(robot)}}
        found |= {"columns": {"actuated": [0]}, "no input": {"actuated": []}}
    if "motions" in has:
        found |= {"correction": {"correction": (100.0, 20.0)}, "no motions": {"motions": {}}}
        if moves := motions(call, robot, batch, rows):
            found["motions"] = {"motions": moves, "correction": (4.0, np.float32(0.5))}
    if "weight" in has:
        count = sum(c.rows for c in robot.model.constraints)
        nv = robot.model.nv
        found |= {"a weight": {"weight": 2.0, "force_weight": 0.1}, "weights": {"weight": np.linspace(1, 2, nv)}}
        square = np.eye(count) + 0.1 * np.ones((count, count))
        found["matrices"] = {"weight": np.diag(np.linspace(1, 2, nv)), "force_weight": square}
    if "normals" in has:
        own, points = bounces(robot)
        if own:
            found["bounces"] = {"restitution": {own[0]: 0.5}}
        if points:
            found["normals"] = {"restitution": 0.3, "normals": {points[0]: (0.0, 0.6, 0.8)}}
        found["impulses in the world"] = {"wrench_frame": "world"}
    if "names" in has:
        found["names"] = {"names": robot.model.independent_coordinates(good(call, robot)["q"]).names}
        if batch:  # each state could have others
            del found[""]
    if call.method == "project" and (one := free_joint(robot)):
        at = robot.configuration(np.random.default_rng(0), batch)[..., robot.model.position(one)]
        found |= {"held": {"held": [one]}, "held at": {"held": {one: at}}}
    if call.method == "replace":
        one = own_joints(robot, 1)
        found |= {"all": {"damping": 0.3}, "gravity": {"gravity": (1.0, 2.0, 3.0)}}
        if one:
            found |= {
                "rest": {"stiffness": {one[0]: 2.0}, "rest": {one[0]: 0.1}},
                "limits": {"limits": jn.Limits(-1, 1)},
            }
        rigid = [p.spec.name for p in robot.parts if p.soft is None]
        if rigid:
            found["inertia"] = {"inertia": {rigid[0]: jn.Inertia(2.0, (0.1, 0.2, 0.3))}}
    if call.method == "bias_force":
        found["undamped"] = {"damping": False}
    if "physical" in has:
        found["any"] = {"physical": False}
    if "constraints" in has:
        found["some"] = {"constraints": list(robot.model.constraint_names[:1])}
    if "prefix" in has:
        found["prefix"] = {"prefix": "its "}
    if "u" in has and robot.model.input_names:
        found["inputs"] = always | {"u": np.linspace(0.1, 0.2, len(robot.model.input_names))}
        if call.method == "linearize":
            found["inputs and forces"] = found["inputs"] | {"actuated": [0]} | ({"frame": "mixed"} if turns else {})
    if call.method == "equilibrium":
        rng = np.random.default_rng(8)
        found["forces"] = always | {"tau": 0.1 * robot.rates(rng, batch)}
    return found


def free_joint(robot: Robot) -> str:
    """A joint of one coordinate that can be held where it is, whatever the constraints."""
    q = robot.configuration(np.random.default_rng(0), ())
    free = robot.model.independent_coordinates(q).names
    return next((n for n in reversed(free) if n in robot.model.joint_names), "")


def ask(model: jn.Model, call: Call, given: dict[str, object], **options: object) -> object:
    """Makes the call, with positional arguments."""
    values = [np.random.default_rng(3) if name == "rng" else value for name, value in given.items()]
    return getattr(model, call.method)(*values, **options)


def ask_by_keyword(model: jn.Model, call: Call, given: dict[str, object], **options: object) -> object:
    named = {
        "name" if k in ("soft", "constraint") else k: np.random.default_rng(3) if k == "rng" else x
        for k, x in given.items()
    }
    return getattr(model, call.method)(**named, **options)


# --- results --------------------------------------------------------------------------------------------


def numbers(model: jn.Model, call: Call, result: object, frames: object = None) -> dict[str, np.ndarray]:
    """The arrays of a result by name; those with one entry per body, by the body's name."""
    names = model.body_names if frames is None else [model.frame_names[model.frame_index(f)] for f in frames]
    if isinstance(result, jn.Kinematics):
        parts = {f"pose of {n}": result[n] for n in result.names}
        return parts | {f"twist of {n}": result.twist[..., i, :] for i, n in enumerate(result.names)}
    if call.method == "pose_derivatives":
        return {n: result[..., i, :, :] for i, n in enumerate(names)}
    if call.method == "articulated_inertia":
        return {n: result[..., i, :, :] for i, n in enumerate(names)}
    if call.method == "inverse_dynamics_regressor":
        return {n: result[..., 10 * i : 10 * i + 10] for i, n in enumerate(names)}
    if isinstance(result, jn.Linearization):
        return {k: np.asarray(getattr(result, k)) for k in ("A", "B", "q", "v", "tau", "acceleration", "actuated")}
    if isinstance(result, jn.Equilibrium):
        return {k: np.asarray(getattr(result, k)) for k in ("q", "stiffness", "stable")}
    if call.method == "closed_form":
        return _of_closed_form(result, call)
    if isinstance(result, jn.Model):  # another robot
        q, parts = result.neutral(), {"jacobian": result.constraint_jacobian(result.neutral())}
        if call.method in EDITS:
            forces = result.inverse_dynamics(q, np.ones(result.nv), np.ones(result.nv))
            parts |= {"mass matrix": result.mass_matrix(q), "forces": forces, "upper": _finite(result.upper)}
        return parts
    if call.method.startswith("constrained_") or isinstance(result, jn.Impact):
        return _of_constraints(result)
    if isinstance(result, jn.IndependentCoordinates):
        return {k: np.asarray(getattr(result, k)) for k in ("columns", "G", "velocities", "positions")}
    if isinstance(result, jn.BrokenLimits):
        return {f"{each.quantity} of {each.joint}": each.where for each in result}
    if isinstance(result, jn.Frames):
        return {name: np.array(i) for i, name in enumerate(result.names)}
    if isinstance(result, slice):
        return {"": np.array([result.start, result.stop])}
    if isinstance(result, tuple):
        return {str(i): x for i, x in enumerate(result)}
    return {"": np.asarray(result)}


def _finite(x: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(x), x, 0.0)


def _of_constraints(result: object) -> dict[str, np.ndarray]:
    """Motions and multipliers, and forces by the names of constraints; their derivatives if they have any."""
    keys = ("acc", "tau", "v", "multipliers", "acc_q", "acc_v", "acc_tau", "jacobian", "speed_q")
    found = {k: getattr(result, k) for k in keys if hasattr(result, k)}
    for kind in ("forces", "impulses", "forces_q", "forces_v", "forces_tau"):
        found |= {f"{name}: {kind}": x for name, x in getattr(result, kind, {}).items()}
    return found


def _of_closed_form(form, call: Call) -> dict[str, np.ndarray]:
    """Arrays with one row per coordinate; rows per link differ for another tree of links."""
    keys = ("mass_matrix", "coriolis_matrix", "h", "g", "dg", "tau_ext")
    found = {k: getattr(form.spatial, k) for k in keys}
    terms = ("mass_matrix", "coriolis_matrix", "printed_coriolis_matrix", "external_torque")
    found |= {f"body {k}": getattr(form.body, k)() for k in terms}
    if call.stacks:
        found |= {"torque": form.spatial.torque(), "torque rate": form.spatial.torque_rate()}
        found |= {f"body torque {k}": form.body.torque(k) for k in range(ROWS - 1)}
    return found


def error(found: np.ndarray, expected: np.ndarray, axis: int | None = None, scale: np.ndarray | None = None) -> float:
    """Greatest difference over the greatest entry expected; with an axis of orders, the worst of them all.

    An order is measured relative to at least a hundredth of the lower ones: some derivatives are zero up to rounding,
    and one in the last place must pass. The greatest entry may also be in `scale`.
    """
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape, f"shape {found.shape}, expected {expected.shape}"
    assert np.isfinite(found).all(), "not finite"
    if found.size == 0:
        return 0.0

    def largest(x: np.ndarray) -> np.ndarray:
        orders = x.reshape(1, -1) if axis is None else np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
        return np.abs(orders).max(axis=1)

    size = largest(expected) if scale is None else np.maximum(largest(expected), largest(scale))
    size = np.maximum(size, 1e-2 * np.maximum.accumulate(size))
    return float((largest(found - expected) / np.where(size > 0, size, 1.0)).max())


# --- backward errors of calls that solve with the mass matrix -------------------------------------------


def _off(left: list[np.ndarray], terms: list[np.ndarray]) -> float:
    """The deviation of a sum from zero, relative to its largest term."""
    size = max(float(t.max(initial=0.0)) for t in terms)
    return float(np.abs(sum(left)).max(initial=0.0)) / (size or 1.0)


@dataclass(frozen=True)
class Asked:
    """A call with its arguments, including keywords."""

    call: Call
    given: dict[str, object]


def backward_error(of, call: Call, given: dict[str, object], options: dict[str, object], result: object) -> float:
    """How well a result satisfies the equation that it solves, relative to its largest term.

    `of` has inverse_dynamics, mass_matrix, inverse_dynamics_derivatives, constraints and their Jacobian: the robot, or
    another that stands for it.
    """
    q, named = given["q"], {k: options[k] for k in ("wrenches", "wrench_frame") if k in options}
    frame = {"frame": options["frame"]} if "frame" in options else {}
    if call.method in DEMANDS and (of.constraints or call.method not in ("forward_dynamics", "hybrid_dynamics")):
        return DEMANDS[call.method](of, Asked(call, given | options), numbers(of, call, result))
    if call.method == "inverse_mass_matrix":
        M = of.mass_matrix(q, **frame)
        return _off([M @ result, -np.eye(len(M))], [np.abs(M) @ np.abs(result)])
    if call.method == "inverse_mass_matrix_apply":
        M = of.mass_matrix(q)
        return _off([M @ result, -given["f"]], [np.abs(M) @ np.abs(result), np.abs(given["f"])])
    if call.method in ("forward_dynamics", "hybrid_dynamics"):
        acc, tau = result if isinstance(result, tuple) else (result, given["tau"])
        acc, tau = np.atleast_2d(acc), np.atleast_2d(tau)
        if "wrenches" in named and not call.stacks:
            named["wrenches"] = {k: w[None] for k, w in named["wrenches"].items()}
        back = of.inverse_dynamics(q, np.vstack([given["v"], acc]), **named, **frame)
        M = of.mass_matrix(q, **frame)
        return max(
            _off([b, -t], [np.abs(t), np.abs(M) @ np.abs(a), np.abs(b - M @ a)])
            for b, t, a in zip(back, tau, acc, strict=True)
        )
    if call.method == "linearize":
        n = len(result.v)
        assert frame.get("frame", "body") == "body"
        K, D, M = of.inverse_dynamics_derivatives(q, given["v"], result.acceleration, **named)
        A = result.A[n:]
        left = M @ A + np.hstack([K, D])
        return max(
            _off([left], [np.abs(M) @ np.abs(A), np.abs(K), np.abs(D)]),
            _off([M @ result.B[n:], -np.eye(n)[:, result.actuated]], [np.abs(M) @ np.abs(result.B[n:])]),
        )
    assert call.method == "forward_dynamics_derivatives"
    return _off_partials(of, call, given, named, result)


def _off_partials(of, call: Call, given: dict[str, object], named: dict[str, object], result: object) -> float:
    """d/dq, d/dv and d/dtau of tau = inverse_dynamics(q, v, acc(q, v, tau)) are 0, 0 and 1, at every order."""
    by_q, by_v, by_tau = result
    acc = np.atleast_2d(of.forward_dynamics(given["q"], given["v"], given["tau"], **named))
    if not call.stacks:
        by_q, by_v, by_tau = by_q[None], by_v[None], by_tau[None, None]
        if "wrenches" in named:
            named = named | {"wrenches": {k: w[None] for k, w in named["wrenches"].items()}}
    dq, dv = of.inverse_dynamics_derivatives(given["q"], np.vstack([given["v"], acc]), **named)
    worst = 0.0
    for k in range(len(by_q)):
        through = dv[k, 1 : k + 2]
        for start, found in ((dq[k], by_q), (dv[k, 0], by_v)):
            terms = [np.abs(m) @ np.abs(x) for m, x in zip(through, found, strict=False)]
            worst = max(
                worst, _off([start, *(m @ x for m, x in zip(through, found, strict=False))], [*terms, abs(start)])
            )
        for to in range(k + 1):
            one = np.eye(dq.shape[-1]) * (k == to)
            products = [(np.abs(m) @ np.abs(x[to]), m @ x[to]) for m, x in zip(through, by_tau, strict=False)]
            worst = max(worst, _off([-one, *(p for _, p in products)], [one, *(t for t, _ in products)]))
    return worst


# --- bad arguments --------------------------------------------------------------------------------------


def bad_arrays(value: np.ndarray, stack: bool) -> dict[str, object]:
    """Invalid values in place of that array, of one state."""
    n = value.shape[-1]
    spoilt = np.stack([value] * 2)
    spoilt[-1, ..., -1] = np.nan
    infinite = value.copy()
    infinite[..., 0] = -np.inf
    found: dict[str, object] = {
        "one more": np.zeros((3, n + 1)),
        "one fewer": np.zeros((3, n - 1)),
        "nothing": [],
        "no columns": np.zeros((2, 0)),
        "a number": 1.0,
        "nan in a batch": spoilt,
        "infinity": infinite,
        "infinity in single precision": infinite.astype(np.float32),
        "None": None,
        "text": "abc",
        "texts": np.array(["1"] * n),
        "complex": value.astype(complex),
        "ragged": [[1.0], [1.0, 2.0]],
        "dict": {},
        "object": object(),
        "dates": np.array([datetime(2020, 1, 1)], "M8[s]"),
        "too large": [10**400] * n,
        "masked": np.ma.masked_array(value, mask=value > 0),
    }
    if stack:
        found |= {"a row": value[0], "no rows": value[:0], "too many rows": np.zeros((jn.MAX_ORDER + 9, n))}
        found["far too many rows"] = np.zeros((1000, n))
    return found


def bad_quaternions(robot: Robot, q: np.ndarray) -> dict[str, object]:
    at = 0
    for p in robot.parts:
        at += 0 if p.follows is not None else p.spec.nq
        if p.spec.joint in ("free", "spherical"):
            longer = q.copy()
            longer[at - 4 : at] *= 1.01
            none = q.copy()
            none[at - 4 : at] = 0.0
            return {"long quaternion": longer, "second of two": np.stack([q, longer]), "no quaternion": none}
        at += p.shape
    return {}


BAD_WORDS = ("Body", "", "wrld", 5, None, b"body", ["body"], "body\0x")


def bad_names(robot: Robot) -> list[object]:
    name = robot.parts[-1].spec.name
    return [name + "x", name[:-1] + "_", "", None, 5.5, True, [], b"arm", -1, 99, 10**30]


def bad_contacts(robot: Robot) -> list[object]:
    """Invalid contacts."""
    name, kind = contacts(robot).popitem()
    kinds = (None, 5, "fixed", jn.Fixed, jn.Free(), jn.Gear((0, 1)), jn.Distance(0.3), jn.Revolute(stiffness=1.0))
    taken = [{n: kind} for n in robot.model.constraint_names[:1]]
    return [5, None, "tip", [name], {name + "x": kind}, {None: kind}, {0: kind}, *({name: x} for x in kinds), *taken]


def bad_keywords(call: Call, robot: Robot) -> Iterator[dict[str, object]]:
    """Sets of keywords, one of which is invalid."""
    name, nv = robot.parts[-1].spec.name, robot.model.nv
    always = {"prescribed": prescribed(robot)} if "prescribed" in call.keywords else {}
    for key in call.keywords:
        if key in WORDS:
            yield from (always | {key: word} for word in BAD_WORDS)
            if key == "wrench_frame":
                push = wrenches(call, robot)
                yield from (always | {"wrenches": push, key: word} for word in BAD_WORDS)
        elif key == "wrenches":
            some = wrenches(call, robot)[name]
            for bad in (
                [1.0],
                some,
                5,
                {name + "x": some},
                {"world": some},
                {None: some},
                {99: some},
                {name: some[..., :5]},
                {name: some[None].repeat(3, 0)[:, None]} if call.stacks else {name: some[None, :0, None]},
                {name: some[..., 0]},
                {name: 1.0},
                {name: None},
                {name: "push"},
                {name: [[1.0], [1.0, 2.0]]},
                {name: np.full_like(some, np.nan)},
                {name: some.astype(complex)},
                {name: np.concatenate([some, some])},
            ):
                yield always | {key: bad}
        elif key == "frames":
            yield from ({key: bad} for bad in (name, 5, [name + "x"], [None], [99], [name, 1.0]))
        elif key == "order":
            yield from ({key: bad} for bad in (-1, ROWS, 1.5, "1", True, None))
        elif key == "branch":
            yield from ({key: bad} for bad in BAD_WORDS if bad is not None)
        elif key == "prescribed":
            yield from ({key: bad} for bad in ([True], np.zeros(nv + 1, bool), np.zeros(nv), "all", None, [0]))
        elif key == "actuated":
            yield from ({key: bad} for bad in (["nobody"], [nv], [-1], [0, 0], [0.5], np.zeros(nv + 1, bool), 3.0))
        elif key == "motions":
            ties = [c.name for c in robot.model.constraints if c.contact] or ["foot"]
            twist = np.zeros((ROWS if call.stacks else 2, 6))
            bad_twists = (twist[:-1], twist[..., :5], np.zeros(6), 1.0, None, "still", twist * np.nan, [[1.0], [1, 2]])
            for bad in ([1.0], 5, "still", {"nobody": twist}, {None: twist}, *({ties[0]: x} for x in bad_twists)):
                yield {key: bad}
        elif key == "correction":
            yield from (
                {key: bad} for bad in ((1.0,), 5.0, (-1.0, 1.0), (1.0, np.nan), "soft", [[1.0, 2.0]], (1, None))
            )
        elif key == "restitution":
            own = [*bounces(robot)[0], "foot"][0]
            for bad in (-0.1, 1.5, np.nan, "high", None, [0.5], {own: 2.0}, {own: "x"}, {"nobody": 0.5}, {None: 0.5}):
                yield {key: bad}
        elif key == "normals":
            one = [*bounces(robot)[1], "foot"][0]
            good_one, all_ = (0.0, 0.0, 1.0), robot.model.constraint_names
            for bad in ([1.0], good_one, "up", {"nobody": good_one}, {None: good_one}, {one: (0, 0, 0)}, {one: "up"},
                        {one: (1.0, 0.0)}, {one: np.full(3, np.nan)}, dict.fromkeys(all_[:1])):  # fmt: skip
                yield {key: bad, "restitution": 0.5}
        elif key in ("weight", "force_weight"):
            for bad in (-1.0, np.nan, "heavy", [[1.0], [1.0, 2.0]], np.zeros(97), -np.eye(nv), 1j):
                yield {key: bad}
        elif key == "names":
            joints = list(robot.model.joint_names) or ["arm"]
            for bad in (
                joints[0],
                5,
                ["nobody"],
                [joints[0] + ".nothing"],
                [None],
                [joints[0]] * 2,
                joints if robot.ties else [],
                [[joints[0]]],
            ):
                yield {key: bad}
        elif key in ("armature", "damping", "friction", "friction_speed", "stiffness", "rest", "limits"):
            bad_values = (-np.inf, "much", [1.0, 2.0, 3.0], 1j, np.nan)  # the names known are other ones with followers
            yield from ({key: bad} for bad in bad_values)
        elif key == "inertia":
            yield from (
                {key: bad} for bad in (jn.Inertia(1.0), 5, {"nobody": jn.Inertia(1.0)}, {None: 1.0}, {name: 1.0})
            )
        elif key == "physical":
            yield from ({key: bad} for bad in (2, "yes", None, [True]))
        elif key == "gravity":
            yield from ({key: bad} for bad in (9.81, (0, 0), "down", (0, 0, np.nan), [[0, 0, 1]]))
        elif key == "prefix":
            yield from ({key: bad} for bad in (None, 5, b"its ", ["its "]))
        elif key == "constraints":
            yield from ({key: bad} for bad in (5, "nobody", ["nobody"], [None], [["nobody"]]))
        elif key == "held":
            joint = [*robot.model.joint_names, "arm"][0]
            none = ["nobody"], [joint + ".nothing"]
            for bad in (joint, 5, None, *none, [None], [[joint]], {"nobody": 0.0}, {joint: "up"}, {joint: None},
                        {joint: np.full(9, 0.1)}, {joint: np.nan}, {None: 0.0}):  # fmt: skip
                yield {key: bad}
        elif key == "u":
            yield from ({key: bad} for bad in (np.zeros(7), "full", np.full(7, np.nan), np.zeros((2, 7))))
        elif key in ("tau", "q0"):
            size = nv if key == "tau" else robot.model.nq
            yield from (
                {key: bad} for bad in (np.zeros(size + 1), np.full(size, np.nan), "x", 1.0, np.zeros((2, size + 1)))
            )
    yield always | {"nonsense": 1}


def outs(shape: tuple[int, ...], given: dict[str, object]) -> dict[str, tuple[object, dict[str, object]]]:
    """Arrays that cannot hold a result of that shape, with the arguments for the call."""
    locked = np.zeros(shape)
    locked.flags.writeable = False
    count = int(np.prod(shape))
    found: dict[str, tuple[object, dict[str, object]]] = {
        "a list": ([0.0], given),
        "of another shape": (np.zeros((*shape, 1)), given),
        "of one more": (np.zeros((shape[0] + 1, *shape[1:]) if shape else 2), given),
        "single precision": (np.zeros(shape, np.float32), given),
        "integers": (np.zeros(shape, int), given),
        "byte-swapped": (np.zeros(shape, ">f8"), given),
        "read-only": (locked, given),
        "misaligned": (np.frombuffer(bytearray(8 * count + 1), np.float64, offset=1).reshape(shape), given),
    }
    if shape:
        found["strided"] = (np.zeros((*shape[:-1], 2 * shape[-1]))[..., ::2], given)
    if shape and shape[0] > 1:
        found["backwards"] = (np.zeros(shape)[::-1], given)
    if len(shape) > 1 and min(shape[-2:]) > 1:
        found["Fortran order"] = (np.zeros(shape, order="F"), given)
    for name, value in given.items():
        if isinstance(value, np.ndarray) and name in ARRAYS:
            room = np.zeros(value.size + count)
            room[: value.size] = value.ravel()
            inside = {name: room[: value.size].reshape(value.shape)}
            found[f"shared with {name}"] = (room[value.size - 1 : -1].reshape(shape), given | inside)
    return found


def outcome(function: Callable[[], object]) -> object:
    """The result of a call, or its exception."""
    try:
        return function()
    except Exception as fault:
        return fault


def says(fault: Exception) -> str:
    """The type and the message of an exception, with listed names in alphabetical order."""
    if isinstance(fault, TypeError):  # its text is Python's own, or nanobind's
        return "TypeError"
    text = re.sub(r"0x[0-9a-f]+", "0x", str(fault))
    listed = re.sub(r"there are ('.*)", lambda m: "there are " + ", ".join(sorted(m[1].split(", "))), text)
    return f"{type(fault).__name__}: {listed}"
