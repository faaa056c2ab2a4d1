"""A study: which robots, doing what, measured how."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from jounce._checks import a_class, counted, near, one_of, quoted, real, text, whole
from jounce.model import Model
from jounce.study import design, pieces
from jounce.study.fingerprint import digest
from jounce.study.members import Flight, Member
from jounce.study.parameters import Distribution, Grid

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client

Array = NDArray[np.float64]
Edit = Callable[[Model, float], Model]
Measure = Callable[[Flight], Any]
_RESERVED = ("member", "status", "reason")


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    """Many members: a robot and its flight for each set of parameters, and the measures of that flight.

    Args:
        robot: a `jounce.Model`, or a function of a `Member` that makes one.
        parameters: by name: `Uniform`, `LogUniform`, `Normal`, `Drawn`, or a `Grid`. Grids make all combinations; at
            each, the others are drawn `samples` times.
        edits: by name of a parameter, how its value changes the robot: `Payload`, `Mass`, `Drive`, `Limit`, `Gravity`,
            or a function (robot, value) -> robot. They are applied in this order.
        scenario: a function (robot, member) -> `jounce.Trajectory`: initial state, motion, disturbances, controller.
            What else it may return, measures of your own can use.
        measures: by name: those of this package, or functions of a `Flight`. They return a number; an attribute
            ``unit`` of the function is its unit.
        samples: how often parameters with a distribution are drawn.
        method: how: "sobol", "halton" or "latin", for points that fill the space evenly, "random", or "saltelli" for
            `sobol_indices`, which takes samples times (parameters + 2) members.
        seed: of everything random.
        time_limit: s that a member may take, on the clock; one that takes longer has the status "out of time".
        piece: members that are computed and stored together; when left out, a thousandth of them, 10,000 at most. What
            is lost when a run is killed are unfinished pieces.
        title: for reports.

    A study is a description: nothing is computed before `run`. It can be pickled if its functions can; those of a
    script or notebook can.

    >>> import jounce as jn
    >>> from jounce.study import Grid, Payload, Uniform
    >>> def fall(robot, member):
    ...     return jn.simulate(robot, robot.neutral(), np.zeros(robot.nv), [0.0, member["time"]])
    >>> study = Study(
    ...     robot=jn.robots.quadrotor_arm(),
    ...     parameters={"load": Uniform(0.0, 0.2, unit="kg"), "time": Grid([0.1, 0.2], unit="s")},
    ...     edits={"load": Payload("tool")},
    ...     scenario=fall,
    ...     measures={"speed": lambda flight: np.linalg.norm(flight.motion.v[-1, :3])},
    ...     samples=4,
    ... )
    >>> study
    <jounce.study.Study: 8 members, 2 parameters, 1 measure>
    >>> study.member(5)["time"]
    0.2
    """

    robot: Model | Callable[[Member], Model]
    parameters: Mapping[str, Distribution | Grid]
    scenario: Callable[[Model, Member], Any]
    measures: Mapping[str, Measure]
    edits: Mapping[str, Edit] = field(default_factory=dict)
    samples: int | None = None
    method: design.Method = "sobol"
    seed: int = 0
    time_limit: float | None = None
    piece: int | None = None
    title: str = "Study"

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Model) and not callable(self.robot):
            raise ValueError(f"robot is {quoted(self.robot)}, expected a jounce.Model or a function of a Member")
        if not callable(self.scenario):
            raise ValueError(f"scenario is {quoted(self.scenario)}, expected a function (robot, member)")
        parameters = self._named("parameters", self.parameters)
        for name, each in parameters.items():
            if not isinstance(each, (Grid, Distribution)) or isinstance(each, type):
                raise ValueError(
                    f"parameter {name!r} is {quoted(each)}, expected a distribution, such as "
                    "jounce.study.Uniform(0.0, 1.0), or a jounce.study.Grid"
                )
        measures = self._named("measures", self.measures)
        if not measures:
            raise ValueError("measures is empty, expected at least one")
        for what, given, expected in (("measure", measures, "(flight)"), ("edit", self.edits, "(robot, value)")):
            for name, each in given.items():
                if not callable(each):
                    raise ValueError(f"{what} {quoted(name)} is {quoted(each)}, expected a function {expected}")
        for what, given in (("edit", self.edits), ("measure", measures)):
            for name, each in given.items():
                if isinstance(self.robot, Model) and hasattr(each, "expect_names"):
                    try:
                        each.expect_names(self.robot)
                    except ValueError as fault:
                        raise ValueError(f"{what} {quoted(name)}: {fault}") from None
        for name in self.edits:
            if name not in parameters:
                raise ValueError(f"edits: no parameter is named {quoted(name)}: {near(str(name), parameters)}")
        if twice := parameters.keys() & measures.keys():
            raise ValueError(f"{sorted(twice)[0]!r} is the name of a parameter and of a measure")
        drawn = [name for name, each in parameters.items() if not isinstance(each, Grid)]
        if drawn and self.samples is None:
            raise ValueError(f"samples is missing: how often {', '.join(map(repr, drawn))} shall be drawn")
        if self.samples is not None:
            whole("samples", self.samples, 1, 10**9)
        one_of("method", self.method, *design.METHODS)
        if self.method == "saltelli" and (len(drawn) < len(parameters) or not drawn):
            raise ValueError("method is 'saltelli', which takes parameters with distributions, and no Grid")
        whole("seed", self.seed, 0, 2**63)
        if self.time_limit is not None and not 0 < real("time_limit", self.time_limit) < math.inf:
            raise ValueError(f"time_limit is {self.time_limit}, expected a positive number of seconds")
        if self.piece is not None:
            whole("piece", self.piece, 1, 10**6)
        text("title", self.title)
        for key in ("parameters", "measures", "edits"):
            object.__setattr__(self, key, MappingProxyType(dict(getattr(self, key))))

    @staticmethod
    def _named(key: str, given: Any) -> Mapping[str, Any]:
        if not isinstance(given, Mapping):
            raise ValueError(f"{key} is {a_class(given)}, expected a mapping from names")
        for name in given:
            if not isinstance(name, str) or not name or "/" in name or name in _RESERVED or name.startswith("."):
                raise ValueError(
                    f"{key}: a name is {quoted(name)}, expected words without '/', other than {', '.join(_RESERVED)}"
                )
        return given

    def __reduce__(self) -> tuple[Any, ...]:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        for key in ("parameters", "measures", "edits"):
            values[key] = dict(values[key])
        return _study, (values,)

    def __repr__(self) -> str:
        parts = (("member", self.members), ("parameter", len(self.parameters)), ("measure", len(self.measures)))
        return f"<jounce.study.Study: {', '.join(counted(count, word) for word, count in parts)}>"

    # What it consists of

    @property
    def members(self) -> int:
        """How many there are."""
        return math.prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each grid, and last the number of samples."""
        return design.shape(self.parameters, self.samples, self.method)

    @property
    def piece_size(self) -> int:
        """How many members are computed and stored together."""
        return self.piece or pieces.size_of(self.members)

    def table(self) -> Array:
        """(members, parameters) their values, eight bytes each."""
        return design.table(self.parameters, self.samples, self.method, int(self.seed))

    def member(self, index: int) -> Member:
        """The parameters of one member."""
        row = self.table()[whole("index", index, 0, self.members - 1)]
        return Member(dict(zip(self.parameters, row.tolist(), strict=True)), int(index), int(self.seed))

    def robot_of(self, member: Member) -> Model:
        """The robot of a member: made, and edited."""
        robot = self.robot if isinstance(self.robot, Model) else self.robot(member)
        for name, edit in self.edits.items():
            robot = edit(robot, member[name])
        return robot

    def flight(self, index: int) -> Flight:
        """A member once more, with its robot and motion: ``study.flight(7).show()``.

        Raises:
            Whatever made it fail, if it did.
        """
        from jounce.study.threads import one_thread

        member = self.member(index)
        with one_thread():
            return pieces.flight(self, member)

    def fingerprint(self) -> dict[str, str]:
        """What its results depend on, by name: numbers as they are, the rest as digests."""
        import sys
        from importlib.metadata import version

        return {
            "parameters": digest([self.parameters, self.table()]),
            "samples": str(self.samples),
            "method": self.method,
            "seed": str(self.seed),
            "piece": str(self.piece_size),
            "time limit": str(self.time_limit),
            "robot": digest(self.robot),
            "edits": digest(self.edits),
            "scenario": digest(self.scenario),
            "measures": digest(self.measures),
            "jounce": version("jounce"),
            "Python": ".".join(map(str, sys.version_info[:2])),
        }

    # Running it

    def run(
        self,
        client: Client | None = None,
        *,
        store: str | PathLike[str] | None = None,
        workers: int | None = None,
        progress: bool | None = None,
    ) -> xr.Dataset:
        """Computes all members that are not stored yet.

        The numbers are the same, bit for bit, whatever computes them, on processors with the same instruction set.

        Args:
            client: a ``dask.distributed.Client``, to compute on its cluster; this machine when left out.
            store: a folder, or the URL of a place that fsspec knows, such as s3://bucket/flights.zarr. Finished pieces
                are written there, and a run that was interrupted goes on where it stopped. In memory when left out.
            workers: processes on this machine; one for each core when left out. 1 computes in this process.
            progress: True shows a bar on stderr, False does not; when left out, it appears after two seconds if stderr
                is a terminal.

        Returns:
            A Dataset along "member": the measures, the parameters as coordinates, the status of each member and the
            reason if it has no measures. From a store, arrays are read when they are used.

        Raises:
            StudyError: the store belongs to another study, cannot be written, or the cluster is lost; a function cannot
                be sent to other processes. What was finished is stored.
        """
        from jounce.study.run import run

        return run(self, client, store, workers, progress)


def _study(values: Mapping[str, Any]) -> Study:
    return Study(**cast(Any, values))
