"""Whether the nodes and steps of soft bodies do, for the state at hand.

A body is integrated along its length with so many nodes (Gauss points) and steps. The further it bends, and the more
often the answer is differentiated, the more of them it takes. No estimate from the nodes at hand predicts the error.
But the same answer from half as many nodes more does, and as many more steps: the rule converges so fast, where it
converges at all, that the difference is the error. So there are two stages.

*The screen* sees q and the order only: how far each body turns along its length at most, and how much it is strained,
a bound from the largest values of its basis. States that turn less than a limit pass. The limits are found by
convergence, once for all bodies of the same proportions: a body by itself, its near end free, is moved at random from
shapes that turn more and more, until inverse dynamics with more nodes and steps differs, at some order, by more than
a tolerance. Solving for accelerations amplifies errors of forces by the condition number of the mass matrix, and in a
tree by more, so what solves has a smaller tolerance. From order to order, stiff or damped bodies multiply what is left,
even the last digits, by their fastest rate: so what solves passes up to the second derivative only, and only if what
that makes of the error found with those limits, by the answers' own sizes, is little (`nodes.cpp`).

*The check*, for states that do not pass: the answer again, from more nodes and steps of all bodies. Where neither
number does, both may happen to be wrong alike: large parts of an answer, such as elasticity, have nothing to do with
nodes, and two small errors of the rest may be the same. So unless the limits of a body with these nodes say that it is
right by itself, the answer is asked for with more and more of them. A difference above `OFF` is an error, unless
rounding explains it: unless the last digits of the bodies move the finer answer as far, or, where equations are solved,
ten times the condition number of the mass matrix does. From the third derivative on that is said as well. What is found
out about one state, be it that still finer answers agree, is said of others whose bodies are bent much the same
(`nodes.cpp`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted
from jounce._core import CoreModel, UnwatchedNodes
from jounce.core_tables import BodyRecord, Leave, compiled, own_records
from jounce.dynamics.rates import rates
from jounce.errors import DiscretizationWarning, PrecisionWarning, RangeError, ShapeWarning, SingularError
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Free, Joint, Spherical
from jounce.parts.sections import Shape, SoftBody

Array = NDArray[np.float64]
Answers = Sequence[Array]  # (orders, numbers) each

OFF = 5e-7  # of the largest entry of its order: such an answer comes with a warning; half of what is promised
_CLOSE = 1e-4  # of it: so close, two answers may happen to be wrong alike
_MOST_TIMES = 3  # that they are asked for with more nodes
MOST_ORDERS = 6  # that have a limit; states are always checked beyond
MOST_STRAIN = 0.3  # of shear and stretch, with which limits are found
_FAR = 0.5  # strain below which no body is inside out
MOST_NODES = 200
_FORCES = 1e-8  # tolerance of inverse dynamics by itself, for answers without equations to solve
_SOLVED = 1e-10  # the same with equations to solve, over the condition number of the mass matrix, but
_TREE = 100.0  # at least over this, for what other bodies make of it
_ENOUGH = 1e-9  # the same for nodes that are chosen
_ENOUGH_SOLVED = 2e-8
_TURNS = (0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
_SHAPES = 12
_ALIKE = 100.0  # times the error at which other shapes are tried, too
_ROUNDED = 10.0  # times what the last digits change
_CLEAR = 3.0  # times more or less than what rounding explains: the same is found out for other motions
_LOST = 2e-5  # from the third derivative on: a fiftieth of what is promised, as the digits lost are a matter of luck
_MOST_LOST = 5e-4  # there, whatever the condition of the mass matrix: half of what is promised
_PASSED = 3  # orders of answers with equations to solve; beyond them the last digits always count
_EPSILON = 2.0**-52
_LAST_DIGITS = 1e-12  # of forces: more nodes do not make that less
_TRIALS = 20
_AT_REST = 0.01  # an acceleration, relative to the largest of a motion,
_BALANCED = 1e-6  # and to its parts
TURNED = 3.0  # rad: within this, routes of inputs and steps of nonuniform rods have converged (rod.py)
_BY_ROUNDING = " by rounding: with every derivative, soft bodies multiply it by their fastest rate"
_TOO_MANY = f"more than {MOST_NODES} would do: make it of several bodies"

_CLASSES = {"DiscretizationWarning": DiscretizationWarning, "PrecisionWarning": PrecisionWarning}
_times: ContextVar[Array | None] = ContextVar("times", default=None)  # of the states, if they are those of a motion
_known: dict[bytes, Limits] = {}  # by the proportions of bodies
_trials: dict[bytes, tuple[_Trial, dict[float, tuple[float, float]]]] = {}  # the same, the latest
_lock = Lock()


class Limits(NamedTuple):
    """How far a body may turn along its length, and how exact it is then.

    Attributes:
        turns: (2, MOST_ORDERS) at each order, rad, without and with solving; -1 where its nodes do not even do for the
            straight one.
        errors: (k, 2) how far it turns, rad, and the relative error of accelerations up to there.
    """

    turns: Array
    errors: Array


def limits(body: SoftBody) -> Limits:
    """Found once for all bodies of the same proportions."""
    key = body.proportions()
    with _lock:
        if key not in _known:
            _known[key] = _found_limits(body)
        return _known[key]


class _Trial:
    """A body by itself, its near end free, with its nodes and with more, in shapes that turn more or less."""

    def __init__(self, body: SoftBody) -> None:
        most, rest = body.deformation()
        self.at_rest = float(np.linalg.norm(rest))
        self._coarse, self._fine = _alone(body), _alone(body.refined(_more(body.resolution)))
        shapes = np.random.default_rng(0).uniform(-1.0, 1.0, (_SHAPES, body.n))
        alone = min(body.n, _SHAPES // 2)  # one coordinate at a time
        shapes[:alone] = np.eye(body.n)[:alone]
        strained = np.sqrt(((np.abs(shapes) @ most[:3].T) ** 2).sum(axis=1))
        turned = np.sqrt(((np.abs(shapes) @ most[3:].T) ** 2).sum(axis=1))
        bends = most[3:].max(axis=0, initial=0.0) > 0
        self.bends = bool(bends.any())
        size = self._size = _sizes(body, most)
        self._motions = np.random.default_rng(1).normal(size=(_SHAPES, MOST_ORDERS + 1, len(size))) / size
        self._bent = np.where(bends, shapes / np.maximum(turned, 1e-300)[:, None], 0.0)  # by a radian
        self._strained = np.where(bends, 0.0, shapes * (MOST_STRAIN / np.maximum(strained, MOST_STRAIN))[:, None])

    def errors(self, turns: float) -> tuple[Array, float]:
        """Relative errors of forces up to each order, and by how much solving for accelerations amplifies them."""
        q, size = _at_origin(2 * np.pi * turns * self._bent + self._strained), self._size
        with np.errstate(all="ignore"):
            a, b = (np.asarray(m.inverse_dynamics(q, self._motions)) / size for m in (self._coarse, self._fine))
            off = np.abs(a - b).max(axis=-1) / np.abs(b).max(axis=-1)
            mass = (np.asarray(self._fine.mass_matrix(q)) / size / size[:, None])[:, 6:, 6:]  # with its near end held
            condition = max(_TREE, float(np.linalg.cond(mass).max()))
        return np.maximum.accumulate(off.max(axis=0)), condition


def does(body: SoftBody, turned: float, solves: bool, most: float) -> bool:
    """Whether a body by itself has nodes enough where it turns so far, rad, up to the second derivative.

    Found once for all bodies of the same proportions, in steps of `_TURNS`.
    """
    key = body.proportions()
    with _lock:
        if key not in _trials:
            while len(_trials) >= _TRIALS:
                _trials.pop(next(iter(_trials)))
            _trials[key] = _Trial(body), {}
        trial, known = _trials[key]
        turns = (turned - trial.at_rest) / (2 * np.pi)
        level = next((t for t in _TURNS if t >= turns), 2.0 ** np.ceil(np.log2(max(turns, 1.0))))
        if level not in known:
            errors, condition = trial.errors(level)
            known[level] = float(errors[_PASSED - 1]), condition
        error, condition = known[level]
    return error <= _LAST_DIGITS or (condition if solves else 1.0) * error <= most


def _found_limits(body: SoftBody) -> Limits:
    """Between two shapes that pass at the same orders, with much the same error, none is tried."""
    trial = _Trial(body)

    def tried(turns: float) -> tuple[NDArray[np.bool_], float]:
        """Which orders pass, (2, MOST_ORDERS), and the error of accelerations."""
        worst, condition = trial.errors(turns)
        passing = worst <= np.array([_FORCES, _SOLVED / condition])[:, None]
        passing[1, _PASSED:] = False
        return passing, condition * float(worst[_PASSED - 1])

    levels = {0: tried(0.0)}

    def fill(low: int, high: int) -> None:
        apart = (levels[low][0] != levels[high][0]).any() or levels[high][1] > _ALIKE * levels[low][1] > 0
        if high > low + 1 and apart and levels[low][0].any():
            middle = (low + high) // 2
            levels[middle] = tried(_TURNS[middle])
            fill(low, middle)
            fill(middle, high)

    if trial.bends:
        levels[len(_TURNS) - 1] = tried(_TURNS[-1])
        fill(0, len(_TURNS) - 1)
    found, passing, errors = np.full((2, MOST_ORDERS), -1.0), np.ones((2, MOST_ORDERS), bool), []
    for level in sorted(levels):
        passing &= levels[level][0]
        up_to = trial.at_rest + 2 * np.pi * _TURNS[level] if trial.bends else np.inf
        found[passing] = up_to
        errors.append([up_to, levels[level][1]])
    return Limits(found, np.array(errors))


def fewest_nodes(body: SoftBody, reach: Array, order: int) -> int:
    """The number of nodes for shapes within the reach (n,), and for derivatives up to the order.

    Raises:
        ValueError: there would be too many.
    """
    most, _ = body.deformation()
    size = _sizes(body, most)
    rng = np.random.default_rng(0)
    q = _at_origin(np.concatenate([np.diag(reach), reach * rng.uniform(-1.0, 1.0, (_SHAPES, body.n)), reach[None]]))
    motions = rng.normal(size=(len(q), order + 2, len(size))) / size
    loads = rng.normal(size=(len(q), order + 1, body.n)) * size[6:]

    def found(count: int) -> tuple[Array, Array, float]:
        """Forces; accelerations with the near end held, and what rounding makes of them."""
        with np.errstate(all="ignore"):
            free, held = (_alone(body.refined(count), joint) for joint in (Free(), Fixed()))
            forces = np.asarray(free.inverse_dynamics(q, motions)) / size
            accelerations = np.asarray(held.forward_dynamics(q[:, 7:], motions[:, 0, 6:], loads)) * size[6:]
            mass = np.asarray(held.mass_matrix(q[:, 7:])) / size[6:] / size[6:, None]
            return forces, accelerations, _ROUNDED * _EPSILON * float(np.linalg.cond(mass).max(initial=0.0))

    count, (forces, accelerations, _) = body.resolution, found(body.resolution)
    while count <= MOST_NODES:
        more = count + max(2, count // 4)
        finer = found(more)
        if _off(forces, finer[0]) <= _ENOUGH and _off(accelerations, finer[1]) <= max(_ENOUGH_SOLVED, finer[2]):
            return count
        count, (forces, accelerations, _) = more, finer
    raise ValueError(f"reach is {quoted(reach.tolist())}: {_TOO_MANY}")


def _sizes(body: SoftBody, most: Array) -> Array:
    """How far a unit of each coordinate of `_alone` moves it, relative to its length: (6 + n,)."""
    length = body.length or 1.0
    return np.concatenate([[1 / length] * 3, [1.0] * 3, np.maximum(most.max(axis=0), 1e-300)])


def _neutral(joint: Joint) -> Array:
    q = np.zeros(joint.nq)
    if isinstance(joint, (Free, Spherical)):
        q[-1] = 1.0
    return q


def _at_origin(shapes: Array) -> Array:
    """Configurations of `_alone` with these shapes."""
    return np.concatenate([np.zeros((len(shapes), 6)), np.ones((len(shapes), 1)), shapes], axis=1)


def _off(a: Array, b: Array) -> float:
    """How much two stacks of forces of many states differ, relative to the largest entry of a state and order."""
    return float((np.abs(a - b).max(axis=-1) / np.abs(b).max(axis=-1)).max())


def _alone(body: SoftBody, joint: Joint | None = None) -> CoreModel:
    """A body whose near end is free to move, or on another joint, without weight and elasticity."""
    record = BodyRecord("body", -1, joint or Free(), np.eye(4), Inertia(0.0), body)
    return CoreModel(compiled([record], np.zeros(3), Leave.ELASTIC | Leave.DAMPING))


def _more(count: int, times: int = 0) -> int:
    """Nodes that give a much better answer, wherever so many come close; and so many times as many more again."""
    for _ in range(times + 1):
        count += max(2, (count + 1) // 2)
    return count


def shaken(body: SoftBody, seed: int) -> SoftBody:
    """The same body but for the last digits of its masses and strains."""
    other = body._copy()
    rng = np.random.default_rng(seed)

    def moved(x: Array) -> Array:
        return x * (1 + _EPSILON * rng.uniform(-2.0, 2.0, np.shape(x)))

    def sections(marks: tuple[float, ...]) -> Any:
        given = body.sections(marks)
        steps = []
        for step in given.steps:
            stations = tuple(
                replace(s, mass=replace(s.mass, mass=float(moved(np.array(s.mass.mass))), second=moved(s.mass.second)))
                for s in step.stations
            )
            changes = None if step.changes is None else moved(step.changes)
            steps.append(
                replace(
                    step,
                    constant=moved(step.constant),
                    linear=moved(step.linear),
                    changes=changes,
                    stations=stations,
                )
            )
        return replace(given, steps=tuple(steps))

    other.__dict__["_sections"] = sections
    return other


class Verdict(NamedTuple):
    """What was found out about the answers in a state, and says the same of others near it within some errors."""

    which: int = -1  # of all orders of all arrays is to be warned of; -1: none
    error: float = 0.0
    least: float = 0.0
    most: float = 0.0
    category: str = ""  # of the warning
    before: str = ""  # the error, in its text
    after: str = ""


class Discretization:
    """The nodes and steps of a robot's soft bodies: the robot with more of them, and what there is to say.

    Args:
        bodies: of the robot.
        build: makes the same robot from other bodies.
    """

    def __init__(self, bodies: Sequence[BodyRecord], build: Callable[[Sequence[BodyRecord]], CoreModel]) -> None:
        self._bodies, self._build = tuple(bodies), build
        self._checked = [i for i, b in enumerate(bodies) if b.soft is not None and b.soft.checked and b.soft.n > 0]
        self._made: dict[tuple[tuple[tuple[int, int], ...], int, int], CoreModel] = {}

    @classmethod
    def of(
        cls, bodies: Sequence[BodyRecord], build: Callable[[Sequence[BodyRecord]], CoreModel]
    ) -> Discretization | None:
        """None if no body is to be checked."""
        found = cls(bodies, build)
        return found if found._checked else None

    def limits(self, i: int) -> Limits:
        """`limits` of a robot's i-th soft body."""
        softs = [b.soft for b in self._bodies if b.soft is not None]
        return limits(softs[i])

    def finer_does(self, i: int, times: int, turned: float, solves: bool, most: float) -> bool:
        """Whether the i-th soft body of `finer`, turned so far, is right by itself."""
        softs = [b.soft for b in self._bodies if b.soft is not None]
        return does(softs[i].refined(_more(softs[i].resolution, times)), turned, solves, most)

    def fastest_rate(self) -> float:
        """The largest absolute eigenvalue of the robot's motion about its neutral configuration, 1/s."""
        model = self._build_own()
        q = np.concatenate([_neutral(record.joint) for record in own_records(self._bodies)])
        still = np.zeros(model.nv)
        try:
            K, D, M = (
                np.asarray(block) for block in model._inverse_dynamics_derivatives(q, still, still, None, "body")
            )
            return float(np.abs(rates(M, D, K)).max())
        except (np.linalg.LinAlgError, RangeError):
            return np.inf

    def finer(self, times: int = 0) -> CoreModel:
        """The robot with half as many more nodes and steps, and so many times half as many more again."""
        return self._with(self._finer(times))

    def _finer(self, times: int) -> dict[int, int]:
        return {i: _more(self._resolution(i), times) for i in self._checked}

    def _resolution(self, i: int) -> int:
        soft = self._bodies[i].soft
        assert soft is not None
        return soft.resolution

    def check(
        self,
        model: Any,
        what: str,
        q: Array,
        found: Array,
        answer: Callable[[Any, Array], Array],
        most: float,
        above: int = 3,
        number: int = -1,
    ) -> bool:
        """Warns if what was found without the core is off: `found` (..., *item) at q (..., nq) is answer(model, q).

        States that turn less than `most` pass, rad. Inside out is the first that is. The caller is so many calls above.
        `number`: of a single state, if it is of a batch. Returns whether there was anything to warn of.
        """
        if found.size == 0:
            return False
        warned = False
        states = q.reshape(-1, q.shape[-1])
        item = found.shape[q.ndim - 1 :]
        flat = found.reshape(-1, *item)
        strained, turned = np.moveaxis(model._deformation(states), -1, 0)
        doubtful = np.flatnonzero(((strained > MOST_STRAIN) | (turned > most)).any(axis=-1))

        def state(i: int) -> int:
            return i if q.ndim > 1 else number

        for i in doubtful[(strained[doubtful] > _FAR).any(axis=-1)]:
            if folded := self.inside_out(state(int(i)), states[i]):
                warnings.warn(folded, ShapeWarning, stacklevel=above)
                warned = True
                break
        asked = doubtful
        for times in range(_MOST_TIMES):
            if len(asked) == 0:
                break
            better = answer(self.finer(times), states[asked] if q.ndim > 1 else q)
            apart = _difference([flat[asked].reshape(len(asked), -1)], [better.reshape(len(asked), -1)])[0]
            for i in asked[apart > OFF]:

                def again(other: CoreModel, at: Array = states[i]) -> Answers:
                    return [answer(other, at).reshape(1, -1)]

                said = self.explain(what, states[i], [flat[i].reshape(1, -1)], again, False, times)
                if said.which >= 0:
                    text = f"{said.before}{said.error:.0e} of its largest entry{self.where(state(int(i)))}{said.after}"
                    warnings.warn(text, _CLASSES[said.category], stacklevel=above)
                    return True
            asked = asked[(apart <= OFF) & (apart > (_CLOSE * OFF if times == 0 else -1.0))]
        return warned

    def inside_out(self, state: int, q: Array) -> str | None:
        """What to warn of, if a soft body is inside out at q (nq,)."""
        begin = 0
        for record in own_records(self._bodies):
            own = slice(begin, begin := begin + record.joint.nq)
            if not isinstance(record.joint, Shape) or record.soft is None:
                continue
            place = record.soft.inside_out(q[own])
            if place is not None:
                return f"body {quoted(record.name)} is inside out at s = {place:.4g} m{self.where(state)}"
        return None

    def check_rest(self, model: Any, q: Array, moved: Callable[[Any], Array], number: int) -> bool:
        """Warns if an equilibrium is off: `moved` is a step of Newton's method towards that of another robot.

        `number` and the result are those of `check`.
        """
        if model._passes(q, 0, True):
            return False
        return self.check(model, "the equilibrium", q, q, lambda other, at: moved(other), 0.0, 5, number)

    def _with(self, resolutions: Mapping[int, int], seed: int = 0, given: int = -1) -> CoreModel:
        """The robot with other numbers of nodes; and with last digits changed unless the seed is 0.

        More nodes come with as many more steps, but for one body: `given`, made as users make it.
        """
        key = tuple(sorted(resolutions.items())), seed, given
        if key not in self._made:
            bodies = list(self._bodies)
            for i in self._checked:  # which are not checked themselves
                soft = bodies[i].soft
                assert soft is not None
                count = resolutions.get(i, soft.resolution)
                soft = soft.with_nodes(count) if i == given else soft.refined(count)
                bodies[i] = replace(bodies[i], soft=shaken(soft, seed) if seed else soft)
            self._made[key] = self._build(bodies)
        return self._made[key]

    @staticmethod
    def where(state: int) -> str:
        """A state of a batch in a message; none if it is -1."""
        times = _times.get()
        if state < 0:
            return ""
        return f", in state {state}" if times is None else f", at t = {times[state]:.6g} s"

    def explain(
        self,
        what: str,
        q: Array,
        answers: Answers,
        again: Callable[[CoreModel], Answers],
        solves: bool,
        times: int = 0,
    ) -> Verdict:
        """Whether these answers are off, and why.

        Args:
            what: was asked for.
            q: (nq,).
            answers: (orders, numbers) each, as computed.
            again: what another robot answers.
            solves: whether equations of motion were solved on the way.
            times: that half as many more nodes are too few to see it: they are wrong alike.
        """
        more = self._finer(times)
        finer = again(self._with(more))
        off = _difference(answers, finer)
        moved = [_difference(again(self._with(more, seed)), finer) for seed in (1, 2)]
        noise = [np.max(each, axis=0) for each in zip(*moved, strict=True)]
        least = OFF
        if solves:
            mass = self._build_own().mass_matrix(q)
            least = max(least, _ROUNDED * _EPSILON * float(np.linalg.cond(mass)))
        explained = [np.maximum(least, _ROUNDED * d) for d in noise]
        array, order, excess = _worst([e / most for e, most in zip(off, explained, strict=True)])
        if not excess > 1:  # rounding explains it, which may be too much as well
            later = min(max(least, _LOST), _MOST_LOST)
            bearable = [np.where(np.arange(len(e)) > 2, later, max(least, OFF)) for e in off]
            inside = self._rounding_inside(more, again, finer) if solves else noise
            apart = off
            off = [np.max(each, axis=0) for each in zip(off, noise, inside, strict=True)]
            array, order, lost = _worst([e / most for e, most in zip(off, bearable, strict=True)])
            if not solves or not lost > 1:
                most = max(float(e.max(initial=0.0)) for e in apart)
                return Verdict(most=max(least / _CLEAR, most if most <= least else 0.0) if solves else -1.0)
            clear, own = float(explained[array][order]) / _CLEAR, float(apart[array][order])
            within = float(bearable[array][order]), max(clear, own)
            return self._verdict(what, off, array, order, within, "PrecisionWarning", _BY_ROUNDING)
        error = float(off[array][order])

        def part(robot: CoreModel) -> Array:
            return again(robot)[array][order : order + 1]

        which = self._checked[0]
        if len(self._checked) > 1:  # the one that changes the answer most
            mine = answers[array][order : order + 1]
            which = max(self._checked, key=lambda i: float(np.abs(part(self._with({i: more[i]})) - mine).max()))
        few = f"{self._resolution(which)} nodes are too few for how body {quoted(self._bodies[which].name)} is bent"

        would_do = self._enough(
            which,
            lambda count: part(self._with({**more, which: count}, given=which)),
            lambda seed, count: part(self._with({**more, which: count}, seed)),
        )
        by_rounding = max(least if least > OFF else 0.0, _ROUNDED * float(noise[array][order]))
        within = min(max(OFF, _CLEAR * by_rounding), error), 2 * error
        if would_do == _TOO_MANY and solves:
            inside = self._rounding_inside(more, again, finer)
            if _ROUNDED * float(inside[array][order]) > error:
                return self._verdict(what, off, array, order, within, "PrecisionWarning", _BY_ROUNDING)
        return self._verdict(what, off, array, order, within, "DiscretizationWarning", f": {few}; {would_do}")

    def _rounding_inside(
        self, more: Mapping[int, int], again: Callable[[CoreModel], Answers], finer: Answers
    ) -> list[Array]:
        """How much another number of nodes, which does as well, changes the answer."""
        return _difference(again(self._with({i: count + 1 for i, count in more.items()})), finer)

    @staticmethod
    def _verdict(
        what: str, off: Sequence[Array], array: int, order: int, within: tuple[float, float], category: str, why: str
    ) -> Verdict:
        said = f"{what} is" if order == 0 else f"derivative {order} of {what} is"
        which = sum(len(e) for e in off[:array]) + order
        return Verdict(which, float(off[array][order]), *within, category, f"{said} off by ", why)

    def _enough(self, which: int, given: Callable[[int], Array], better: Callable[[int, int], Array]) -> str:
        """How many nodes would do.

        Args:
            which: of the bodies.
            given: the answer if the user gives it so many nodes.
            better: the answer with so many nodes, and as many more steps, and last digits of a seed.
        """

        def expected(count: int) -> tuple[Array, float]:
            """A better answer than with so many, and how far they may be off: half of what is said, or its rounding."""
            found, *others = (better(seed, _more(count)) for seed in (0, 1, 2))
            noise = max(float(np.abs(other - found).max()) for other in others)
            return found, max(OFF / 2 * float(np.abs(found).max()), _ROUNDED * noise)

        def does(count: int) -> bool:
            return float(np.abs(given(count) - reference).max()) <= most

        low, count = self._resolution(which), 2 * self._resolution(which)
        reference, most = expected(count)
        while not does(count):
            low, count = count, 2 * count
            if count > MOST_NODES:
                return _TOO_MANY
            reference, most = expected(count)
        for _ in range(2):
            middle = (low + count) // 2
            low, count = (low, middle) if does(middle) else (middle, count)
        return f"nodes={count} would do" if count <= MOST_NODES else _TOO_MANY

    def _build_own(self) -> CoreModel:
        return self._with({})


def check_motion(robot: Any, times: Array, q: Array, v: Array, a: Array, tau: Array) -> None:
    """Warns if the accelerations at some output time of a simulation, whose trial states nobody judges, are off."""
    if robot._discretization is None or len(times) == 0:
        return
    named = None
    try:
        if robot.constraints:
            named = _times.set(times)
            robot.inverse_dynamics(q, v, a)
        else:
            some = _moving(robot, q, a)
            named = _times.set(times[some])
            robot.forward_dynamics(q[some], v[some], tau[some])
    except SingularError:  # the run itself has answers there
        pass
    finally:
        if named is not None:
            _times.reset(named)


def _moving(robot: Any, q: Array, a: Array) -> NDArray[np.bool_]:
    """Of the states of a motion, (count,), those not at rest: there, what forces leave of accelerations says nothing.

    Accelerations are small beside those of other times then, or beside what elasticity and weight make by themselves.
    """
    still = np.zeros_like(a)
    with UnwatchedNodes():
        parts = [robot.forward_dynamics(q, still, load) for load in (still, robot.gravity_force(q))]
    sizes, most = (np.abs(x).max(axis=-1, initial=0.0) for x in (a, np.concatenate(parts, axis=-1)))
    moving: NDArray[np.bool_] = (sizes >= _AT_REST * sizes.max()) & (sizes > _BALANCED * most)
    return moving


def _worst(excess: Sequence[Array]) -> tuple[int, int, float]:
    """Which array, which order, and by how much."""
    array = int(np.argmax([e.max(initial=0.0) for e in excess]))
    order = int(np.argmax(excess[array]))
    return array, order, float(excess[array][order])


def _difference(answers: Answers, better: Answers) -> list[Array]:
    """By how much each order is off, (orders,), relative to the largest entry of both."""
    found = []
    for x, y in zip(answers, better, strict=True):
        apart, size = np.abs(x - y).max(axis=-1, initial=0.0), np.abs([x, y]).max(axis=(0, -1), initial=0.0)
        found.append(np.where(apart > 0, apart / np.maximum(size, 1e-300), 0.0))
    return found
