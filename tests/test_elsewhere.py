"""The names of other libraries, where ours are expected: the error says what the thing is called here."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable

import numpy as np
import pytest

import jounce as jn
from jounce import _elsewhere

ROBOT = jn.robots.quadrotor_arm()
Q, V = ROBOT.neutral(), np.zeros((2, ROBOT.nv))
PUSH = {"tool": np.zeros(6)}

FRAMES = [
    ("LOCAL", "body"),
    ("WORLD", "world"),
    ("LOCAL_WORLD_ALIGNED", "mixed"),
    ("local_world_aligned", "mixed"),
    ("BODY_FIXED_REPRESENTATION", "body"),
    ("INERTIAL_FIXED_REPRESENTATION", "world"),
    ("MIXED_REPRESENTATION", "mixed"),
    ("Body", "body"),
    ("MIXED", "mixed"),
    ("spatial", "world"),
    ("hybrid", "mixed"),
]
TAKEN: list[tuple[str, Callable[[object], object]]] = [
    ("frame", lambda name: ROBOT.inverse_dynamics(Q, V, frame=name)),
    ("frame", lambda name: ROBOT.forward_dynamics(Q, V[0], V[0], frame=name)),
    ("frame", lambda name: ROBOT.forward_kinematics(Q, V, frame=name)),
    ("frame", lambda name: ROBOT.mass_matrix(Q, frame=name)),
    ("frame", lambda name: ROBOT.linearize(Q, V[0], V[0], frame=name)),
    ("frame", lambda name: ROBOT.impact(Q, V[0], frame=name)),
    ("wrench_frame", lambda name: ROBOT.inverse_dynamics(Q, V, wrenches=PUSH, wrench_frame=name)),
    ("wrench_frame", lambda name: ROBOT.inverse_dynamics_derivatives(Q, V[0], V[0], wrenches=PUSH, wrench_frame=name)),
    ("wrench_frame", lambda name: ROBOT.closed_form(Q, V, wrenches=PUSH, wrench_frame=name)),
    ("wrench_frame", lambda name: ROBOT.equilibrium(wrench_frame=name)),
    ("velocity_frame", lambda name: ROBOT.jacobian("tool", Q, frame="world", velocity_frame=name)),
    ("velocity_frame", lambda name: ROBOT.twist("tool", Q, V, frame="mixed", velocity_frame=name)),
    ("source", lambda name: ROBOT.change_velocity_frame(Q, V, name, "body")),
    ("target", lambda name: ROBOT.change_force_frame(Q, V, V, "body", name)),
]


@pytest.mark.parametrize(("name", "ours"), FRAMES)
def test_frames(name: str, ours: str) -> None:
    for argument, call in TAKEN:
        words = f"{argument} is {name!r}, expected 'body', 'world' or 'mixed': that is {ours!r}"
        with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
            call(name)


def test_frames_of_arrows() -> None:
    pytest.importorskip("viser")
    with pytest.raises(ValueError, match=r"^wrench_frame is 'LOCAL', expected .*: that is 'body'$"):
        ROBOT.show(wrenches=PUSH, wrench_frame="LOCAL")  # type: ignore[arg-type]


def test_frames_of_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    for theirs, ours in ((pin.LOCAL, "body"), (pin.WORLD, "world"), (pin.LOCAL_WORLD_ALIGNED, "mixed")):
        with pytest.raises(ValueError, match=rf"^frame is .*ReferenceFrame\.{theirs}, .*: that is '{ours}'$"):
            ROBOT.inverse_dynamics(Q, V, frame=theirs)


@pytest.mark.parametrize("name", ["", "tool", 1, None, ["LOCAL", 2], "body x"])
def test_what_is_no_frame_anywhere(name: object) -> None:
    for _, call in TAKEN:
        with pytest.raises(ValueError, match=r"expected (velocity_frame=)?'body'.*'world' or 'mixed'$"):
            call(name)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("rnea", "inverse_dynamics"),
        ("crba", "mass_matrix"),
        ("dccrba", "centroidal_momentum_matrix_derivatives"),
        ("impulseDynamics", "impact"),
        ("computeConstraintDynamicsDerivatives", "constrained_dynamics_derivatives"),
        ("jacobianCenterOfMass", "centroidal_momentum_matrix"),
        ("aba", "forward_dynamics"),
        ("forwardKinematics", "forward_kinematics"),
        ("computeCoriolisMatrix", "coriolis_matrix"),
        ("CalcMassMatrix", "mass_matrix"),
        ("CalcInverseDynamics", "inverse_dynamics"),
        ("mj_fullM", "mass_matrix"),
        ("getFreeFloatingMassMatrix", "mass_matrix"),
        ("randomConfiguration", "random_configuration"),
        ("framesForwardKinematics", "forward_kinematics"),
        ("getFrameId", "frame_index"),
        ("lowerPositionLimit", "lower"),
        ("computeTotalMass", "mass"),
    ],
)
def test_calls(name: str, ours: str) -> None:
    assert not hasattr(ROBOT, name)
    with pytest.raises(AttributeError, match=f"^'Model' object has no attribute '{name}': that is {ours}$") as caught:
        getattr(ROBOT, name)
    assert (caught.value.name, caught.value.obj) == (name, ROBOT)
    with pytest.raises(AttributeError, match=f"^module 'jounce' has no attribute '{name}': that is Model.{ours}$"):
        getattr(jn, name)


def test_functions() -> None:
    for name, ours in _elsewhere.FUNCTIONS.items():
        with pytest.raises(AttributeError, match=f"^module 'jounce' has no attribute '{name}': that is {ours}$"):
            getattr(jn, name)
        owner, _, call = ours.rpartition(".")
        assert callable(getattr(jn.Model if owner else jn, call))
    with pytest.raises(AttributeError, match=r"^module 'jounce' has no attribute 'jacobian': that is Model\.jacobian$"):
        jn.jacobian  # noqa: B018
    for name in ("nothing", "_repr_html_", "__len__"):
        with pytest.raises(AttributeError, match=f"^module 'jounce' has no attribute '{name}'$"):
            getattr(jn, name)


def test_the_table_leads_somewhere() -> None:
    for name, ours in _elsewhere._METHODS.items():
        assert hasattr(jn.Model, ours), name
        assert not hasattr(jn.Model, name)


class Broken(jn.Model):
    @property
    def mass(self) -> float:
        return self.wheels  # type: ignore[no-any-return, attr-defined]


def test_what_looks_for_attributes_gets_the_usual_answers() -> None:
    for name in ("_repr_png_", "_ipython_canary_method_should_not_exist_", "__array__", "__wrapped__", "__len__", "ik"):
        assert not hasattr(ROBOT, name)
        with pytest.raises(AttributeError, match=f"^'Model' object has no attribute '{name}'$"):
            getattr(ROBOT, name)
    with pytest.raises(AttributeError, match=r"^'Broken' object has no attribute 'wheels'$"):  # the fault, not 'mass'
        Broken(ROBOT.bodies, ROBOT.gravity).mass  # noqa: B018
    assert "rnea" not in dir(ROBOT)
    assert pickle.loads(pickle.dumps(ROBOT)).nv == ROBOT.nv
    assert copy.copy(ROBOT) is copy.deepcopy(ROBOT) is ROBOT
    empty = jn.Model.__new__(jn.Model)
    assert not hasattr(empty, "bodies")
