"""The implementation of `Model.show` and `Trajectory.show`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, flag, near, pose, quoted, real, text
from jounce._extras import needed
from jounce.dynamics.constraints.constrained import STEPS, assembled
from jounce.errors import SingularError
from jounce.loading.mjcf_keyframes import DRAWN
from jounce.model import Model, a_model
from jounce.trajectory import Trajectory

if TYPE_CHECKING:
    from jounce.view.viewer import Look, Viewer

Array = NDArray[np.float64]
MOST_SECONDS = 86_400  # for reading a mesh
_WORK = 50_000_000  # of closing loops: steps times the size of a problem of linear algebra; seconds


def need_extra() -> None:
    """Raises an error that says what to install if a package is missing."""
    for package in ("viser", "trimesh"):
        needed(package, "showing robots")


def configuration(robot: Model, q: ArrayLike | str) -> Array:
    """(nq,), checked; or the keyframe of that name."""
    if isinstance(q, str):
        if q not in robot.keyframes:
            hint = near(q, robot.keyframes) if robot.keyframes else "it has none"
            raise ValueError(f"q is {quoted(q)}, which is no keyframe of the robot: {hint}")
        return robot.keyframes[q].copy()
    given = array_of("q", q, (robot.nq,))
    robot.forward_kinematics(given, frames=[])
    return given


def start(robot: Model) -> Array:
    """Where a robot is shown if nothing is said: as its file draws it, or neutral; with closed loops, if possible.

    A step of the search for these takes time in proportion to the cube of the robot's size. So a large one, which may
    be a stranger's, gets few, and one with hundreds of open loops none.
    """
    q = robot.keyframes.get(DRAWN, robot.neutral())
    if not robot.constraints:
        return q
    rows = sum(each.rows for each in robot.constraints)
    steps = min(STEPS, _WORK // max(rows * robot.nv * min(rows, robot.nv), 1))
    try:
        return assembled(robot, q, steps=steps)[0]  # without a word on loops that do not close exactly
    except SingularError:
        return q


def velocity(robot: Model, v: ArrayLike) -> Array:
    """(nv,)."""
    return array_of("v", v, (robot.nv,))


def show_robot(robot: Model, q: ArrayLike | str | None, v: ArrayLike | None, options: Mapping[str, Any]) -> Viewer:
    """See `Model.show`."""
    need_extra()
    from jounce.view.motion import Motion

    at = start(robot) if q is None else configuration(robot, q)
    rate = None if v is None else velocity(robot, v)
    motion = Motion(robot, np.zeros(1), at[None], None if rate is None else rate[None])
    return _shown([(motion, _look(robot, options, rate is not None, None))], options)


def show_trajectory(
    trajectory: Trajectory, robot: Model, reference: Trajectory | None, options: Mapping[str, Any]
) -> Viewer:
    """See `Trajectory.show`."""
    need_extra()
    from jounce.view.motion import Motion
    from jounce.view.scene import Paint
    from jounce.view.style import GHOST
    from jounce.view.viewer import Look

    robot = a_model("robot", robot)
    robots = [(Motion.of("trajectory", robot, trajectory), _look(robot, options, True, len(trajectory)))]
    if reference is not None:
        like = robots[0][1]
        ghost = replace(Look("reference", Paint(opacity=GHOST), like.placement), mesh_seconds=like.mesh_seconds)
        robots.append((Motion.of("reference", robot, reference), ghost))
    return _shown(robots, options)


def video_of(
    trajectory: Trajectory,
    robot: Model,
    path: str | PathLike[str],
    form: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Path:
    """See `Trajectory.video`."""
    need_extra()
    from jounce.view.film_files import checked_path

    for name in options:
        if name in ("save", "viewer", "browser"):
            raise ValueError(f"{name} has no meaning for a video: use show")
    target = checked_path(path)
    with trajectory.show(robot, **options) as viewer:
        return viewer.video(target, **form)


def _shown(robots: list[tuple[Any, Look]], options: Mapping[str, Any]) -> Viewer:
    from jounce.view.viewer import Viewer

    save: str | PathLike[str] | None = options["save"]
    if save is not None:
        from jounce.view.page import page_path

        page_path(save)
    viewer = options["viewer"]
    if viewer is not None and not isinstance(viewer, Viewer):
        raise ValueError(f"viewer is {quoted(viewer)}, expected one that show returned")
    floor = options["floor"]
    if not isinstance(floor, (bool, np.bool_)):
        floor = real("floor", floor)
    shown = viewer or Viewer(options["host"], options["port"], floor)
    try:
        for motion, look in robots:
            shown.add(motion, look)
        if save is not None:
            shown.save(save, rate=options["rate"])
        if flag("browser", options["browser"]):
            shown.open()
    except BaseException:
        if viewer is None:
            shown.close()
        raise
    finally:
        if save is not None and viewer is None:
            shown.close()
    return shown


def _look(robot: Model, options: Mapping[str, Any], moves: bool, times: int | None) -> Look:
    from jounce.view.arrows import Wrenches
    from jounce.view.overlays import KINDS
    from jounce.view.viewer import Look, paint_of

    opacity = real("opacity", options["opacity"])
    if not 0 <= opacity <= 1:
        raise ValueError(f"opacity is {quoted(opacity)}, expected 0 to 1")
    placement, seconds = options["placement"], real("mesh_seconds", options["mesh_seconds"])
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError(f"mesh_seconds is {quoted(seconds)}, expected seconds, more than 0 and at most {MOST_SECONDS}")
    return Look(
        name=text("name", options["name"]),
        paint=paint_of(_colour(options["colour"]), opacity),
        placement=np.eye(4) if placement is None else pose("placement", placement),
        overlays=frozenset(kind for kind in KINDS if flag(kind, options[kind])),
        wrenches=Wrenches.of(robot, options["wrenches"], options["wrench_frame"], times),
        force_scale=options["force_scale"],
        twists=_twisting(robot, options["twists"], moves),
        traces=_frames("trace", robot, options.get("trace", ())),
        mesh_seconds=seconds,
        follow=None if options["follow"] is None else _frame("follow", robot, options["follow"]),
    )


def _twisting(robot: Model, given: Any, moves: bool) -> tuple[str, ...]:
    """Names of bodies or frames whose twists are shown."""
    if isinstance(given, (bool, np.bool_)):
        given = robot.body_names if given else ()
    chosen = _frames("twists", robot, given, "True, False or ")
    if chosen and not moves:
        raise ValueError("twists need a velocity: pass v")
    return chosen


def _frames(argument: str, robot: Model, given: Any, also: str = "") -> tuple[str, ...]:
    """Names of bodies or frames, checked."""
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise ValueError(f"{argument} is {quoted(given)}, expected {also}names of bodies and frames")
    return tuple(_frame(argument, robot, name) for name in given)


def _frame(argument: str, robot: Model, name: Any) -> str:
    """The name of a body or frame, checked."""
    if not isinstance(name, str) or name not in robot.frame_names:
        hint = near(name if isinstance(name, str) else quoted(name), robot.frame_names)
        raise ValueError(f"{argument}: no body or frame is named {quoted(name)}: {hint}")
    return name


def _colour(given: Any) -> tuple[float, float, float, float] | None:
    """From "#rrggbb", or red, green and blue from 0 to 1."""
    if given is None:
        return None
    if isinstance(given, str):
        digits = given.removeprefix("#")
        if len(digits) == 6 and all(c in "0123456789abcdefABCDEF" for c in digits):
            red, green, blue = (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
            return red, green, blue, 1.0
    else:
        numbers = array_of("colour", given, (3,))
        if (numbers >= 0).all() and (numbers <= 1).all():
            red, green, blue = (float(x) for x in numbers)
            return red, green, blue, 1.0
    raise ValueError(f"colour is {quoted(given)}, expected '#rrggbb', or red, green and blue from 0 to 1")
