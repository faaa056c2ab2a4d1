"""Bad soft bodies and bad states: each raises a ValueError that names the fault, and nothing else happens."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import jounce as jn
from jounce.soft import Chamber, Rod, Tendon, VariableRadius

GOOD_ROD = {"length": 0.3, "radius": 0.02, "density": 1000.0, "young": 1e5}
GOOD_BODY = {"length": 0.2, "radius": 0.02, "density": 1062.0, "young": 1e6, "wall": 0.004}
NOT_NUMBERS = [None, "1", [1.0], np.zeros(2), 1j, np.nan, np.inf, -np.inf, {}, object()]


def strain_with(**entries):
    """A strain function s -> (6, 2) with a special entry somewhere along the rod."""

    def strain(s):
        phi = np.zeros((6, 2))
        phi[3, 0] = phi[4, 1] = 1.0
        if s > 0.1:
            phi[0, 0] = entries["later"]
        return phi

    return strain


BAD_ROD = [
    *(("length", x) for x in [*NOT_NUMBERS, 0.0, -0.3]),
    *(("density", x) for x in [*NOT_NUMBERS, 0.0, -1.0]),
    *(("young", x) for x in [*NOT_NUMBERS, -1.0]),
    *(("poisson", x) for x in [*NOT_NUMBERS, -1.0, 0.51]),
    *(("damping", x) for x in [*NOT_NUMBERS, -0.1]),
    *(
        ("radius", x)
        for x in [None, "1", 1j, np.nan, -0.01, 0.0, (0.01, -0.01), (0.01, np.nan), (0.0, 0.0), [0.01] * 3]
    ),
    ("radius", lambda s: -0.01),
    ("radius", lambda s: np.nan),
    ("radius", lambda s: "wide"),
    ("radius", lambda s: None),
    ("radius", lambda s: [0.01, 0.02]),
    ("radius", lambda s: 0.01 if s < 0.2 else -0.01),
    ("radius", lambda s: 0.0),
    *(
        ("rest", x)
        for x in [None, 1.0, np.zeros(5), np.zeros((6, 1)), (0, 0, 1, 0, 0, np.nan), "straight", [0, 0, 1j, 0, 0, 0]]
    ),
    *(("section", x) for x in ["ring", None, 1, "", ["disk"], np.array(["disk", "line"])]),
    *(("nodes", x) for x in [0, -1, 201, 1.5, "10", np.nan, [10], True, np.inf, (3, 4)]),
    *(("strain", x) for x in ["bend", 3.0, np.zeros(6), np.zeros((5, 2)), np.zeros((6, 2, 1)), [[1], [2]]]),
    ("strain", np.full((6, 1), np.nan)),
    ("strain", np.full((6, 1), 1j)),
    ("strain", [["a"]] * 6),
    ("strain", [[1.0], [1.0, 2.0], [1.0], [1.0], [1.0], [1.0]]),
    ("strain", lambda s: np.zeros(6)),
    ("strain", lambda s: None),
    ("strain", lambda s: "bend"),
    ("strain", lambda s: [[1.0], [1.0, 2.0]]),
    ("strain", lambda s: np.full((6, 2), np.nan)),
    ("strain", strain_with(later=np.nan)),
    ("strain", lambda s: np.eye(6)[:, : 2 if s < 0.1 else 3]),
    ("strain", lambda s: np.full((6, 1), 1j)),
    *(("actuators", x) for x in [None, 3, "left", ["left"], [None], Tendon("left"), [Tendon]]),
    ("actuators", [Tendon("left", end=0.31)]),
    ("actuators", [Tendon("left", route=lambda s: (0.0, np.nan) if s > 0.1 else (0.0, 0.0))]),
    ("actuators", [Tendon("left", route=lambda s: (0.0, 0.0, 0.0) if s > 0.1 else (0.0, 0.0))]),
]


def numbered(cases: list) -> list[str]:
    return [f"{key}-{i}" for i, (key, _) in enumerate(cases)]


def built(body, **how) -> jn.Model:
    b = jn.Builder()
    b.add("tentacle", "world", body=body, **how)
    return b.build()


@pytest.mark.parametrize("case", BAD_ROD, ids=numbered(BAD_ROD))
def test_bad_rods(case):
    """Refused on construction, or, for what only the tree needs, when it is built: then with the body's name."""
    key, value = case
    pattern = {"strain": "strain", "actuators": "actuators|left"}.get(key, key)
    stage = "made"

    def make():
        nonlocal stage
        rod = Rod(**GOOD_ROD | {key: value})
        stage = "built"
        built(rod)

    with pytest.raises(ValueError, match=pattern) as raised:
        make()
    assert "inhomogeneous" not in str(raised.value)
    assert "truth value" not in str(raised.value)
    assert stage == "made" or "tentacle" in str(raised.value)


BAD_BODY = [
    *(("length", x) for x in [*NOT_NUMBERS, 0.0, -0.3]),
    *(("radius", x) for x in [*NOT_NUMBERS, 0.0, -1.0, (0.02, 0.01), lambda s: 0.02]),
    *(("density", x) for x in [*NOT_NUMBERS, 0.0, -1.0]),
    *(("young", x) for x in [*NOT_NUMBERS, -1.0]),
    *(("poisson", x) for x in [*NOT_NUMBERS, -1.0, 0.51]),
    *(("damping", x) for x in [*NOT_NUMBERS, -0.1]),
    *(("wall", x) for x in [*NOT_NUMBERS, -0.001, 0.02, 0.03]),
    *(("law", x) for x in ["hooke", None, 1, "", ["beam"], np.array(["beam", "solid"])]),
    *(
        ("nodes", x)
        for x in [0, -1, 101, (0, 4), (4, 0), (4,), (4, 5, 6), (4, 2000), 1.5, (1.5, 4), "10", ("a", "b"), np.nan, True]
    ),
]


@pytest.mark.parametrize("case", BAD_BODY, ids=numbered(BAD_BODY))
def test_bad_bodies_of_variable_radius(case):
    key, value = case
    with pytest.raises(ValueError, match=key) as raised:
        built(VariableRadius(**GOOD_BODY | {key: value}))
    assert "truth value" not in str(raised.value)


def test_the_solid_law_needs_a_material_that_can_be_compressed():
    with pytest.raises(ValueError, match=r"poisson is 0\.5"):
        VariableRadius(**GOOD_BODY, law="solid")
    VariableRadius(**GOOD_BODY, law="solid", poisson=0.49, nodes=(4, 4), check=False)


@pytest.mark.parametrize(
    ("make", "pattern"),
    [
        (lambda: jn.soft.constant_strain("bend"), "'bend'"),
        (lambda: jn.soft.constant_strain("twist", "twist"), "'twist'"),
        (lambda: jn.soft.constant_strain(3), "3"),
        (lambda: jn.soft.constant_strain(["twist"]), "twist"),
        (lambda: jn.soft.polynomial(-1), "order"),
        (lambda: jn.soft.polynomial(21), "order"),
        (lambda: jn.soft.polynomial(1.5), "order"),
        (lambda: jn.soft.polynomial("2"), "order"),
        (lambda: jn.soft.polynomial(None), "order"),
        (lambda: jn.soft.polynomial(np.nan), "order"),
        (lambda: jn.soft.polynomial({"bend": 1}), "'bend'"),
        (lambda: jn.soft.polynomial({"twist": -1}), "twist"),
        (lambda: jn.soft.polynomial({}), "order"),
        (lambda: jn.soft.polynomial(1, ()), "strains"),
        (lambda: jn.soft.polynomial(1, ("bend",)), "'bend'"),
        (lambda: jn.soft.polynomial(1, ("twist", "twist")), "twist"),
        (lambda: jn.soft.polynomial(1, None), "strains"),
        (lambda: jn.soft.polynomial(1, 3), "strains"),
        (lambda: jn.soft.gaussian(np.nan), "center"),
        (lambda: jn.soft.gaussian("middle"), "center"),
        (lambda: jn.soft.gaussian(0.5, 0.0), "width"),
        (lambda: jn.soft.gaussian(0.5, -1.0), "width"),
        (lambda: jn.soft.gaussian(0.5, np.inf), "width"),
        (lambda: jn.soft.gaussian(0.5, "wide"), "width"),
        (lambda: Tendon(""), "name"),
        (lambda: Tendon(None), "name"),
        (lambda: Tendon(3), "name"),
        (lambda: Tendon("t", (0.0,)), "route of 't'"),
        (lambda: Tendon("t", (0.0, np.nan)), "route of 't'"),
        (lambda: Tendon("t", "side"), "route of 't'"),
        (lambda: Tendon("t", None), "route of 't'"),
        (lambda: Tendon("t", lambda s: None), "route of 't'"),
        (lambda: Tendon("t", lambda s: (0.0, 0.0, 0.0)), "route of 't'"),
        (lambda: Tendon("t", lambda s: (0.0, np.inf)), "route of 't'"),
        (lambda: Tendon("t", end=0.0), "end of 't'"),
        (lambda: Tendon("t", end=-0.1), "end of 't'"),
        (lambda: Tendon("t", end=np.nan), "end of 't'"),
        (lambda: Tendon("t", end="tip"), "end of 't'"),
        (lambda: Chamber("c", area=0.0), "area of 'c'"),
        (lambda: Chamber("c", area=-1.0), "area of 'c'"),
        (lambda: Chamber("c", area=np.nan), "area of 'c'"),
        (lambda: Chamber("c", area=None), "area of 'c'"),
        (lambda: Chamber("c", area=(1.0, 2.0)), "area of 'c'"),
    ],
    ids=range(43),
)
def test_bad_bases_and_actuators(make, pattern):
    with pytest.raises(ValueError, match=pattern) as raised:
        make()
    assert "empty sequence" not in str(raised.value)


@pytest.mark.parametrize(
    ("how", "pattern"),
    [
        ({"body": 3}, "body of 'x'"),
        ({"body": Rod}, "body of 'x'"),
        ({"body": "rod"}, "body of 'x'"),
        ({"body": jn.Inertia(1.0)}, "body of 'x'"),
        ({"inertia": Rod(**GOOD_ROD)}, "inertia of 'x'"),
        ({"body": Rod(**GOOD_ROD), "inertia": jn.Inertia(1.0)}, "both"),
        ({"at": -0.1}, "at of 'x'"),
        ({"at": 0.31}, "at of 'x'"),
        ({"at": np.nan}, "at of 'x'"),
        ({"at": np.inf}, "at of 'x'"),
        ({"at": "tip"}, "at of 'x'"),
        ({"at": [0.1]}, "at of 'x'"),
        ({"at": 1j}, "at of 'x'"),
        ({"at": 0.1, "parent": "world"}, "at of 'x'.*'world' is not soft"),
        ({"at": 0.0, "parent": "link"}, "at of 'x'.*'link' is not soft"),
        ({"parent": "tentacles"}, "parent of 'x'.*did you mean 'tentacle'"),
        ({"placement": np.eye(3)}, "placement of 'x'"),
        ({"joint": Rod(**GOOD_ROD)}, "joint of 'x'"),
    ],
    ids=range(18),
)
def test_bad_places(how, pattern):
    b = jn.Builder()
    b.add("tentacle", "world", body=Rod(**GOOD_ROD))
    b.add("link", "tentacle", jn.Revolute(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    with pytest.raises(ValueError, match=pattern):
        b.add("x", **{"parent": "tentacle"} | how)
    b.add("x", "tentacle", at=0.2)  # the builder still works
    assert b.build().frame_names == ("tentacle", "link", "x")


def test_names_that_collide():
    b = jn.Builder()
    b.add("arm", "world", jn.Revolute(), body=Rod(**GOOD_ROD))
    b.add("arm.shape", "arm", jn.Revolute(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    with pytest.raises(ValueError, match=r"'arm\.shape'"):
        b.build()


def test_the_shape_of_a_massless_tip_is_no_joint_without_inertia():
    b = jn.Builder()
    b.add("rod", "world", body=Rod(**GOOD_ROD))
    b.add("tip", "rod", jn.Revolute())
    with pytest.raises(ValueError, match="body 'tip' moves but has no inertia"):
        b.build()


@pytest.fixture(scope="module")
def robot() -> jn.Model:
    b = jn.Builder()
    b.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    b.add("tentacle", "arm", body=Rod(**GOOD_ROD, actuators=[Tendon("t", (0.01, 0.0))]))
    b.add("end", "tentacle", body=VariableRadius(**GOOD_BODY, poisson=0.4, law="solid", nodes=(4, 4), check=False))
    return b.build()


METHODS = {
    "inverse_dynamics": lambda r, q, v: r.inverse_dynamics(q, v, v),
    "generalized_inverse_dynamics": lambda r, q, v: r.generalized_inverse_dynamics(q, v, v),
    "inverse_dynamics of a stack": lambda r, q, v: r.inverse_dynamics(q, [v, v]),
    "inverse_dynamics_passive": lambda r, q, v: r.inverse_dynamics_passive(q, v, np.zeros(8), np.zeros(8)),
    "bias_force": lambda r, q, v: r.bias_force(q, v),
    "forward_dynamics": lambda r, q, v: r.forward_dynamics(q, v, np.zeros(8)),
    "coriolis_matrix": lambda r, q, v: r.coriolis_matrix(q, v),
    "damping_force": lambda r, q, v: r.damping_force(q, v),
    "kinetic_energy": lambda r, q, v: r.kinetic_energy(q, v),
    "kinetic_energy_derivatives": lambda r, q, v: r.kinetic_energy_derivatives(q, [v]),
    "potential_energy_derivatives": lambda r, q, v: r.potential_energy_derivatives(q, [v]),
    "twist": lambda r, q, v: r.twist("end", q, [v]),
    "inverse_dynamics_derivatives": lambda r, q, v: r.inverse_dynamics_derivatives(q, v, v),
    "forward_dynamics_derivatives": lambda r, q, v: r.forward_dynamics_derivatives(q, v, np.zeros(8)),
    "linearize": lambda r, q, v: r.linearize(q, v, np.zeros(8)),
    "integrate": lambda r, q, v: r.integrate(q, v),
}
OF_Q = {
    "mass_matrix": lambda r, q: r.mass_matrix(q),
    "gravity_force": lambda r, q: r.gravity_force(q),
    "elastic_force": lambda r, q: r.elastic_force(q),
    "actuation_matrix": lambda r, q: r.actuation_matrix(q),
    "potential_energy": lambda r, q: r.potential_energy(q),
    "center_of_mass": lambda r, q: r.center_of_mass(q),
    "inverse_mass_matrix": lambda r, q: r.inverse_mass_matrix(q),
    "pose": lambda r, q: r.pose("end", q),
    "jacobian": lambda r, q: r.jacobian("end", q),
    **{name: lambda r, q, call=call: call(r, q, np.zeros(8)) for name, call in METHODS.items()},
}
BAD = [
    np.zeros(7),
    np.zeros(9),
    np.zeros((8, 1)),
    np.full(8, np.nan),
    np.r_[np.zeros(7), np.inf],
    "state",
    None,
    1.0,
    np.zeros(8, complex),
    [[0.0] * 8, [0.0]],
]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("name", OF_Q)
def test_bad_configurations(robot, name, bad):
    with pytest.raises((ValueError, TypeError), match=r"\bq\b"):
        OF_Q[name](robot, bad)


BAD_VELOCITIES = [bad for bad in BAD if bad is not None]


@pytest.mark.parametrize("bad", BAD_VELOCITIES, ids=range(len(BAD_VELOCITIES)))
@pytest.mark.parametrize("name", METHODS)
def test_bad_velocities(robot, name, bad):
    with pytest.raises((ValueError, TypeError), match=r"\b(v|dv)\b"):
        METHODS[name](robot, np.zeros(8), bad)


WITHOUT_VELOCITY = """
import sys
import numpy as np
import jounce as jn
builder = jn.Builder()
builder.add("rod", "world", body=jn.soft.Rod(0.3, 0.02, 1000.0, 1e5))
robot, q = builder.build(), np.zeros(3)
wrong = []
for call in sys.argv[1:]:
    print(call, flush=True)
    try:
        eval(call)
        wrong.append(call + " gave an answer")
    except ValueError as error:
        if "v " not in str(error) or "66" in str(error):  # sizes of sections, which no user knows
            wrong.append(f"{call}: {error}")
    except Exception as error:
        wrong.append(f"{call}: {error!r}")
sys.exit("; ".join(wrong) or 0)
"""
CALLS_WITHOUT_VELOCITY = [
    "robot.bias_force(q, None)",
    "robot.inverse_dynamics_passive(q, None, q, q)",
    "robot.damping_force(q, None)",
    "robot.forward_dynamics(q, None, q)",
    "robot.linearize(q, None, q)",
    "robot.inverse_dynamics_derivatives(q, None)",
    "robot.inverse_dynamics_derivatives(q, None, q)",
    "robot.coriolis_matrix(q, None)",
    "robot.mass_matrix_derivatives(q, None)",
    "robot.gravity_force_derivatives(q, None)",
    "robot.potential_energy_derivatives(q, None)",
    "robot.kinetic_energy_derivatives(q, None)",
    "robot.jacobian_derivatives('rod', q, None)",
    "robot.twist('rod', q, None)",
    "robot.inverse_dynamics(q, None, q)",
    "robot.generalized_inverse_dynamics(q, None, q)",
    "robot.inverse_dynamics(q, None)",
    "robot.generalized_inverse_dynamics(q, None)",
]


def test_no_velocity_where_one_is_needed():
    """In a separate process, so that a crash of the interpreter is an ordinary failure."""
    command = [sys.executable, "-c", WITHOUT_VELOCITY, *CALLS_WITHOUT_VELOCITY]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr or f"crashed in {done.stdout.splitlines()[-1]}"


@pytest.mark.parametrize(
    "bad", [np.zeros(7), np.full(8, np.nan), "force", None, np.zeros((2, 9)), np.zeros(8, complex)], ids=range(6)
)
def test_bad_forces(robot, bad):
    q = np.zeros(8)
    for call in (
        lambda: robot.forward_dynamics(q, q, bad),
        lambda: robot.linearize(q, q, bad),
        lambda: robot.forward_dynamics_derivatives(q, q, bad),
        lambda: robot.hybrid_dynamics(q, q, q, bad, prescribed=np.zeros(8, bool)),
    ):
        with pytest.raises((ValueError, TypeError), match=r"\btau\b"):
            call()


@pytest.mark.parametrize(
    "bad",
    [
        {"tip": np.zeros(6)},
        {"end": np.zeros(5)},
        {"end": np.full(6, np.nan)},
        {"end": None},
        {"end": "push"},
        3,
        {3: np.zeros(6)},
    ],
    ids=range(7),
)
def test_bad_wrenches(robot, bad):
    q = np.zeros(8)
    for call in (
        robot.inverse_dynamics,
        robot.forward_dynamics,
        robot.inverse_dynamics_derivatives,
        robot.forward_dynamics_derivatives,
    ):
        with pytest.raises((ValueError, TypeError), match=r"wrench|tip|end|frame"):
            call(q, q, q, wrenches=bad)


def test_bad_choices(robot):
    q = np.zeros(8)
    with pytest.raises(ValueError, match="frame"):
        robot.inverse_dynamics(q, q, q, frame="tip")
    with pytest.raises(ValueError, match="wrench_frame"):
        robot.inverse_dynamics(q, q, q, wrenches={"end": np.zeros(6)}, wrench_frame="tip")
    with pytest.raises(ValueError, match="prescribed"):
        robot.hybrid_dynamics(q, q, q, q, prescribed=[True])
    with pytest.raises(ValueError, match="did you mean 'tentacle'"):
        robot.pose("tentacl", q)
    with pytest.raises(ValueError, match="did you mean 'tentacle'"):
        robot.coordinate("tentacl")
    with pytest.raises(ValueError, match="v has shape"):
        robot.inverse_dynamics(q, q)
    with pytest.raises(ValueError, match="v has shape"):
        robot.inverse_dynamics(q, np.zeros((1, 8)))
    with pytest.raises(ValueError, match=r"v|order|rows"):
        robot.inverse_dynamics(q, np.zeros((500, 8)))
    with pytest.raises(ValueError, match=r"do not broadcast: q \(2, 8\), v \(3, 8\)"):
        robot.inverse_dynamics(np.zeros((2, 8)), np.zeros((3, 8)), np.zeros((3, 8)))


def test_a_configuration_far_out_of_reach_gives_numbers_or_an_error(robot):
    """Bends of a million radians and rods compressed to nothing are meaningless, but nothing crashes."""
    for size in (1e2, 1e4, 1e8, 1e100, 1e300):
        try:
            tau = robot.inverse_dynamics(np.full(8, size), np.ones((4, 8)))
        except ValueError:
            continue
        assert tau.shape == (3, 8)
