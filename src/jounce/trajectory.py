"""A simulated motion, sampled over time, and the files it is saved to."""

from __future__ import annotations

import math
import operator
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from io import TextIOWrapper
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame, counted, is_masked, quoted, reals
from jounce.dynamics.named_coordinates import Names, names
from jounce.errors import LoadError, MissingFileError
from jounce.model import Model, a_model
from jounce.units import UNITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from jounce.dynamics.broken_limits import BrokenLimits
    from jounce.view.viewer import Viewer

Array = NDArray[np.float64]
Some = list[int] | list[bool] | range | NDArray[np.bool_] | NDArray[np.integer[Any]]  # of the times: a mask, or indices
_Q_UNITS, _V_UNITS = tuple(UNITS), tuple(units.rate for units in UNITS.values())


class State(NamedTuple):
    """One moment of a motion: `time` (s), `q` (nq,), `v` (nv,)."""

    time: float
    q: Array
    v: Array


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion at T times, as `simulate` returns it.

    ``trajectory[i]`` is the `State` at one of them, ``for state in trajectory`` goes through all; a slice, a mask (T,)
    or a list of indices gives a trajectory of some of the times. ``len(trajectory)`` is T.

    Attributes:
        time: (T,) s, increasing.
        q: (T, nq) configurations: m, rad, quaternions; the shape coordinates of soft bodies.
        v: (T, nv) velocities: m/s, rad/s; twists of `Free` joints in body axes.
        a: (T, nv) time derivatives of v.
        tau: (T, nv) generalized forces that were applied: N, N m.
        q_names, v_names: of the coordinates in q and in v, a and tau: the joint's name, with a suffix if it has several
            coordinates; for soft bodies, the body's name and the name of the coordinate, as in "rod.bend_y".
        q_units, v_units: "m", "rad", "1" (quaternions, strains) or "1/m" (curvatures), and their rates "m/s", "rad/s",
            "1/s" or "1/(m s)"; "?" and "?/s" for coordinates of soft bodies whose unit is not known.

    >>> import jounce as jn
    >>> robot = jn.robots.aerial_manipulator()
    >>> motion = of(robot, np.arange(3.0), np.zeros((3, 13)), *np.zeros((3, 3, 12)))
    >>> motion
    <jounce.Trajectory: 3 times, 0 to 2 s, nq = 13, nv = 12>
    >>> motion[1:], motion[-1].time, motion.v_names[5:8]
    (<jounce.Trajectory: 2 times, 1 to 2 s, nq = 13, nv = 12>, 2.0, ('base.wz', 'q2', 'q3'))
    >>> motion[motion.time < 1.5], [state.time for state in motion]
    (<jounce.Trajectory: 2 times, 0 to 1 s, nq = 13, nv = 12>, [0.0, 1.0, 2.0])
    """

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    q_units: tuple[str, ...]
    v_units: tuple[str, ...]

    @staticmethod
    def of(
        robot: Model,
        time: ArrayLike,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        tau: ArrayLike | None = None,
    ) -> Trajectory:
        """A motion of a robot from arrays, such as a plan.

        Args:
            robot: whose motion it is; its coordinates give the names and units.
            time: (T,) s, increasing.
            q: (T, nq).
            v, a, tau: (T, nv); zero when left out.

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> Trajectory.of(robot, [0.0, 1.0], [robot.neutral(), robot.neutral()])
        <jounce.Trajectory: 2 times, 0 to 1 s, nq = 13, nv = 12>
        """
        known = names(a_model("robot", robot))
        given = reals("time", time)
        if given.ndim != 1 or not np.isfinite(given).all() or not (np.diff(given) > 0).all():
            raise ValueError(f"time is {quoted(time)}, expected increasing times (T,)")
        rest = np.zeros((len(given), robot.nv))
        velocity, rate, force = (rest if x is None else reals(k, x) for k, x in (("v", v), ("a", a), ("tau", tau)))
        return Trajectory(given, reals("q", q), velocity, rate, force, *known)

    def __post_init__(self) -> None:
        for key in ("q_names", "v_names", "q_units", "v_units"):
            given = getattr(self, key)
            names = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else (None,)
            if not all(isinstance(name, str) for name in names):
                raise ValueError(f"{key} is {quoted(given)}, expected a tuple of strings")
            object.__setattr__(self, key, names)
        time = _float64("time", self.time)
        count, nq, nv = time.size, len(self.q_names), len(self.v_names)
        shapes = {"time": (count,), "q": (count, nq), "v": (count, nv), "a": (count, nv), "tau": (count, nv)}
        for key, expected in shapes.items():
            array = _float64(key, getattr(self, key))
            if array.shape != expected:
                raise ValueError(f"{key} has shape {array.shape}, expected {expected}")
            object.__setattr__(self, key, array)
        for key, units, count, known in (("q", self.q_units, nq, _Q_UNITS), ("v", self.v_units, nv, _V_UNITS)):
            if len(units) != count:
                raise ValueError(f"{key}_units has {len(units)} entries, expected {count}, one for each name")
            if not set(units) <= set(known):
                raise ValueError(f"{key}_units are {units}, expected each to be one of {known}")

    def __len__(self) -> int:
        return len(self.time)

    def __iter__(self) -> Iterator[State]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> State: ...
    @overload
    def __getitem__(self, index: slice | Some) -> Trajectory: ...
    def __getitem__(self, index: int | np.integer[Any] | slice | Some) -> State | Trajectory:
        chosen = index if isinstance(index, slice) else _chosen(index, len(self))
        if isinstance(chosen, int):
            return State(float(self.time[chosen]), self.q[chosen], self.v[chosen])
        return replace(self, **{key: getattr(self, key)[chosen] for key in ("time", "q", "v", "a", "tau")})

    def __repr__(self) -> str:
        span = f", {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        times = counted(len(self), "time")
        return f"<jounce.Trajectory: {times}{span}, nq = {len(self.q_names)}, nv = {len(self.v_names)}>"

    def _repr_html_(self) -> str:
        from jounce.display.trajectory_html import trajectory_html

        return trajectory_html(self)

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes a file under exactly the given name, and returns its path; `load` reads it back, to the last digit.

        A name that ends in .csv gives a table for other programs: a line for each time, and columns for the time and
        for each coordinate of q, v, a and tau, headed by its name and unit. Any other gives a NumPy .npz file, which
        is smaller and faster.

        Raises:
            ValueError: this is not a valid motion: numbers are not finite, or time does not increase.

        >>> import tempfile
        >>> import jounce as jn
        >>> fall = of(jn.robots.panda(), np.arange(2.0), np.zeros((2, 7)), *np.zeros((3, 2, 7)))
        >>> path = fall.save(Path(tempfile.mkdtemp()) / "fall.csv")
        >>> path.read_text(encoding="utf-8").split(",")[:3], len(Trajectory.load(path))
        (['time [s]', 'q q1 [rad]', 'q q2 [rad]'], 2)
        """
        path = Path(path)
        _check_values(self)
        if _is_table(path):
            from jounce.saving.motion_table import write_table

            write_table(self, path)
            return path
        with path.open("wb") as file:
            arrays: dict[str, Any] = {f.name: np.asarray(getattr(self, f.name)) for f in fields(self)}
            np.savez(file, **arrays)
        return path

    @staticmethod
    def load(path: str | PathLike[str]) -> Trajectory:
        """Reads a file written by `save`. The file need not be trusted: no code in it is run.

        Raises:
            LoadError: a ``ValueError``: the file was not written by `save`; it is also a ``FileNotFoundError`` if there
                is no such file.
            OSError: it cannot be opened.
        """
        path = Path(path)
        if path.exists() and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            raise LoadError(f"{path} holds no trajectory: it is a device or a pipe, expected a file")
        try:
            opened = path.open("rb")
        except FileNotFoundError:
            said = f"{path}: does not exist, expected a file written by Trajectory.save"
            raise MissingFileError(said, str(path)) from None
        with opened as file:
            try:
                return _table(file) if _is_table(path) else _loaded(file)
            except Exception as error:  # whatever NumPy and zipfile raise for foreign files
                said = str(error) or type(error).__name__
                said = said if len(said) <= 300 else f"{said[:200]} ... {said[-50:]}"  # zipfile quotes what it finds
                raise LoadError(f"{path} holds no trajectory: {said}") from error

    def check_limits(self, robot: Model) -> BrokenLimits:
        """The limits of a robot's joints that the motion is beyond, and when, as `Model.check_limits` finds them.

        Of positions, velocities, accelerations and forces: a motion has no jerks and no rates of forces.

        Args:
            robot: whose motion it is.

        >>> import jounce as jn
        >>> robot, time = jn.robots.panda(), np.linspace(0.0, 1.0, 5)
        >>> q = np.zeros((5, 7)) + [0.0, 0.0, 0.0, -1.5, 0.0, 1.8, 0.0]
        >>> Trajectory.of(robot, time, q, np.outer(time, np.full(7, 2.4))).check_limits(robot)
        beyond 4 limits:
          q1: velocity is 2.4 rad/s at 1 s (index 4), 0.225 beyond the limit, 2.175
          q2: velocity is 2.4 rad/s at 1 s (index 4), 0.225 beyond the limit, 2.175
          q3: velocity is 2.4 rad/s at 1 s (index 4), 0.225 beyond the limit, 2.175
          q4: velocity is 2.4 rad/s at 1 s (index 4), 0.225 beyond the limit, 2.175
        """
        from jounce.dynamics.broken_limits import broken_limits

        check_owner(self, robot)
        return broken_limits(robot, self.q, np.stack([self.v, self.a], axis=1), self.tau[:, None], self.time)

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        joints: Sequence[str] | None = None,
        robot: Model | None = None,
    ) -> Figure:
        """Draws positions, velocities and forces over time: a row of panels for each kind of coordinate.

        `jounce.plot` draws forces and velocities with their derivatives. Needs matplotlib:
        ``pip install 'jounce[demo]'``.

        Args:
            path: file to save the figure to, its format given by the suffix; when left out, the figure belongs to
                pyplot, for ``plt.show()``. A notebook shows it once.
            joints: names of the joints, soft bodies or coordinates to draw; all when left out.
            robot: whose motion it is, to draw its limits: dashed, in the colour of the joint, while it is close to
                them, in the outer quarter on either side of its range, and filled where it is beyond. Where a panel
                has one line only, its limits are drawn over all times.

        Returns:
            The matplotlib figure.

        Raises:
            ValueError: a joint does not exist, or the robot has other coordinates than the motion.
        """
        from jounce.display.plots import plot_trajectory

        return plot_trajectory(self, path, joints, robot)

    def show(
        self,
        robot: Model,
        *,
        reference: Trajectory | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        wrench_frame: Frame = "body",
        force_scale: float | Sequence[float] | None = None,
        twists: bool | Sequence[str] = False,
        trace: Sequence[str] = (),
        frames: bool = False,
        names: bool = False,
        com: bool = False,
        inertias: bool = False,
        constraints: bool = True,
        name: str = "robot",
        placement: ArrayLike | None = None,
        colour: str | Sequence[float] | None = None,
        opacity: float = 1.0,
        floor: bool | float = True,
        follow: str | None = None,
        viewer: Viewer | None = None,
        host: str = "127.0.0.1",
        port: int = 8080,
        browser: bool = False,
        save: str | PathLike[str] | None = None,
        rate: float = 30.0,
        mesh_seconds: float = 10.0,
    ) -> Viewer:
        """Plays the motion in a browser, with a slider for time. Needs ``pip install 'jounce[view]'``.

        Args:
            robot: whose motion it is.
            reference: a second motion of the same robot, shown as a ghost.
            wrenches: as in `Model.show`, over time: (T, 6) or (T, K, 6).
            trace: names of bodies and frames whose paths are drawn.
            save: a file: write a page that plays without a server, and show nothing.
            rate: frames per second of such a page.

        The other arguments are those of `Model.show`.

        Returns:
            `jounce.view.Viewer`; with `save`, one that is closed.
        """
        from jounce.view.show import show_trajectory

        options = {key: value for key, value in locals().items() if key not in ("self", "robot", "reference")}
        return show_trajectory(self, robot, reference, options)

    def video(
        self,
        robot: Model,
        path: str | PathLike[str],
        *,
        width: int = 1280,
        height: int = 720,
        rate: float = 30.0,
        speed: float = 1.0,
        program: str | None = None,
        progress: bool | None = None,
        **options: Any,
    ) -> Path:
        """Writes a video of the motion, MP4 or GIF. Needs ``pip install 'jounce[video]'``, and Chrome or Chromium.

        The browser has no window and draws in software, so no display and no graphics card is needed.

        Args:
            robot: whose motion it is.
            path: of the file, which ends in .mp4 or .gif.
            width, height: in pixels, even numbers for MP4.
            rate: frames per second; a GIF has 50 at most. The video lasts as long as the motion: if that is no whole
                number of frames, they are a little longer or shorter. Each shows what is when it begins.
            speed: seconds of the motion per second of the video.
            program: path of the browser; when left out, it is looked for.
            progress: True shows a bar on stderr (needs rich), False does not; when left out, it appears after two
                seconds if stderr is a terminal.
            options: as in `show`, such as `wrenches`, `trace` and `reference`.

        Returns:
            The path.
        """
        from jounce.view.show import video_of

        form = {
            "width": width,
            "height": height,
            "rate": rate,
            "speed": speed,
            "program": program,
            "progress": progress,
        }
        return video_of(self, robot, path, form, options)


def _float64(key: str, value: object) -> Array:
    """The numbers as given, not copied."""
    if is_masked(value):
        raise ValueError(f"{key} is a masked array, expected one without a mask")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):  # ragged
        raise ValueError(f"{key} is {quoted(value)}, expected an array of float64") from None
    if array.dtype != np.float64:
        raise ValueError(f"{key} holds {array.dtype}, expected float64")
    return array


def _chosen(index: Any, count: int) -> int | NDArray[np.intp]:
    """One of `count` times, or some of them: from a mask or from indices, which count from the end if negative."""
    try:
        given = np.asarray(index) if isinstance(index, (list, range, np.ndarray)) and not is_masked(index) else None
    except ValueError:  # ragged
        given = None
    if given is None or given.ndim == 0:
        return _one(index, count)
    if given.dtype == np.bool_ and given.shape == (count,):
        return np.flatnonzero(given)
    if given.ndim == 1 and (given.dtype.kind in "iu" or not given.size):
        return np.array([_one(i, count) for i in given.tolist()], dtype=np.intp)
    raise IndexError(
        f"index is an array {given.shape} of {given.dtype}, expected a mask ({count},) or a list of indices"
    )


def _one(index: Any, count: int) -> int:
    try:
        i = operator.index(index)
    except TypeError:
        raise TypeError(
            f"index is {quoted(index)}, expected an integer, a slice, a mask or a list of indices"
        ) from None
    if not -count <= i < count:
        raise IndexError(f"index {quoted(i)} is out of range: the trajectory has {counted(count, 'time')}")
    return i


def check_owner(motion: Trajectory, robot: Model) -> None:
    """Raises an error unless the motion has the coordinates of the robot."""
    if names(a_model("robot", robot)) != Names(motion.q_names, motion.v_names, motion.q_units, motion.v_units):
        raise ValueError(f"robot is {quoted(robot)}, whose coordinates are not those of this motion")


def of(robot: Model, time: Array, q: Array, v: Array, a: Array, tau: Array) -> Trajectory:
    """The trajectory with the names and units of a robot's coordinates."""
    return Trajectory(time, q, v, a, tau, *names(robot))


def _is_table(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def _table(file: IO[bytes]) -> Trajectory:
    from jounce.saving.motion_table import read_table

    with TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:  # a mark at the beginning is a spreadsheet's
        loaded = read_table(text)
    _check_values(loaded)
    return loaded


def _loaded(file: IO[bytes]) -> Trajectory:
    import zipfile  # on demand: it imports a lot

    keys = [f.name for f in fields(Trajectory)]
    values: dict[str, Any] = {}
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("it is compressed")  # `save` never compresses; it may expand to far more than the file
        if sorted(entry.filename for entry in entries) != sorted(f"{key}.npy" for key in keys):
            raise ValueError(f"it has {sorted(e.filename for e in entries)[:20]}, expected {sorted(keys)}")
        for key in keys:
            with archive.open(f"{key}.npy") as entry:
                values[key] = _array(key, entry)
    for key in ("q_names", "v_names", "q_units", "v_units"):
        values[key] = tuple(values[key].tolist())
    loaded = Trajectory(**values)
    _check_values(loaded)
    return loaded


def _array(key: str, entry: IO[bytes]) -> NDArray[Any]:
    """One of the arrays; memory is allocated for the actual content, not for the size that the header claims."""
    version = np.lib.format.read_magic(entry)
    if version != (1, 0):
        raise ValueError(f"{key} is of version {version} of NumPy's format, expected (1, 0)")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(entry)
    listed = key.endswith(("_names", "_units"))
    if listed and (len(shape) != 1 or (dtype.kind != "U" and shape != (0,))):
        raise ValueError(f"{key} has shape {shape} of {dtype}, expected a list of names")
    if not listed and dtype != np.float64:
        raise ValueError(f"{key} holds {dtype}, expected float64")
    numbers = entry.read()
    if dtype.itemsize == 0 or len(numbers) != dtype.itemsize * math.prod(shape):
        raise ValueError(f"{key} has a header for {shape} of {dtype}, but {len(numbers)} bytes")
    return np.frombuffer(numbers, dtype).reshape(shape, order="F" if by_columns else "C").copy()


def _check_values(motion: Trajectory) -> None:
    """Checks for values that `save` must not write and `load` must not return."""
    for key in ("time", "q", "v", "a", "tau"):
        if not np.isfinite(getattr(motion, key)).all():
            raise ValueError(f"{key} contains nan or inf, expected finite numbers")
    if not (np.diff(motion.time) > 0).all():
        raise ValueError("time does not increase")
