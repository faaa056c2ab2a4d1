"""Branches of equilibria: where a robot goes whose load path has lost stability.

At a loss of stability other branches cross the path, or it turns back. The robot is pushed off along the motion that
grows (`critical_mode`), comes to rest, and the load is raised further from there. Where the path turns back, it snaps
from its last state under a slightly larger load.

It comes to rest by a trust region method: a step minimizes the work of the forces to second order, with the absolute
values of the curvatures, so that it leaves saddles (J. Nocedal and S. Wright, Numerical Optimization, chapter 4; Y.
Dauphin et al., Identifying and attacking the saddle point problem, 2014), within a distance that grows while the work
done, by the trapezoidal rule, agrees with that. As only forces are asked for, loads need no potential. Where it comes
near an equilibrium, Newton's method ends it; if that one is lost too, it goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.load_path import NoEquilibrium, Path, Point
from jounce.errors import RangeError
from jounce.soft.inside_out import inside_out

Array = NDArray[np.float64]
Branch = Literal["stable", "any"]
_PUSH = 0.01  # in natural sizes
_BEYOND = 1e-3  # of the load, past the one at which a path turns back
_SWITCHES = 30  # from branch to branch, on one path
_STEPS = 300  # until the robot is at rest
_FLAT = 1e-10  # a curvature, relative to the largest, below which a step is as if it had this
_SWINGS = "from there on small pushes grow, and the robot comes to rest nowhere"
_STABLE = "stable equilibrium"
_SHORTEST = 1e-12  # step, relative to the first


class Follower:
    """Follows load paths, and notes where stability is lost.

    Args:
        branch: "any" does not ask, None notes the first loss, "stable" leaves branches that are lost.
    """

    def __init__(self, branch: Branch | None) -> None:
        self._branch = branch
        self.loss: tuple[Path, Point] | None = None  # the last equilibrium that was not lost

    def end(self, path: Path, now: Point) -> Point:
        """The end of a path.

        Raises:
            NoEquilibrium: it ends earlier.
        """
        if self._branch == "stable":
            return self._stable_end(path, now)
        for after in path.points(now):
            if self._branch is None and self.loss is None:
                self._watch(path, now, after)
            now = after
        return now

    def _watch(self, path: Path, now: Point, after: Point) -> None:
        """Notes a loss of stability between two points."""
        for point in path.between(now, after):
            if path.lost(point):
                self.loss = path, path.crossing(now, point)[0]
                return
            now = point

    def _stable_end(self, path: Path, now: Point) -> Point:
        """The same on stable branches; on one that is lost where no stable one is found."""
        lost = path.lost(now)
        if lost and self.loss is None:
            self.loss = path, now
        for _ in range(_SWITCHES):
            try:
                for after in _closely(path, now):
                    was, lost = lost, path.lost(after)
                    if lost and not was:
                        break
                    now = after
                else:
                    break
            except NoEquilibrium:
                snapped = settled(path, now, min(1.0, now.part + _BEYOND), pushed=False)
                if snapped is None:
                    raise
                now, lost = snapped, False
                continue
            before, after = path.crossing(now, after)
            self.loss = path, before
            found = settled(path, after, after.part)
            now, lost = (after, True) if found is None else (found, False)
        else:
            found = settled(path, now, 1.0, pushed=False)
            if found is None:
                raise path.failure(now, f"{_SWITCHES} times stability is lost up to there", _STABLE)
            now = found
        return now

    def settled(self, path: Path, end: Point) -> Point:
        """The end of the last path; for "stable", if it is lost, the equilibrium to which the robot goes from there.

        Raises:
            NoEquilibrium: it goes to none, or swings.
        """
        if self._branch != "stable" or not path.lost(end):
            return end
        found = settled(path, end, end.part)
        if found is None:
            path, last = self.loss or (path, end)
            raise path.failure(last, _SWINGS, _STABLE)
        return found

    def lost(self) -> str:
        """What to warn of, if stability was lost."""
        path, last = self.loss or (None, None)
        if path is None or last is None:
            return ""
        return (
            f"the robot loses stability at {last.part:.4g} of {path.of}, and would not have followed the path that was "
            "taken from there: branch='stable' looks for a stable equilibrium, q0= starts elsewhere, branch='any' "
            "accepts this one"
        )


def _closely(path: Path, now: Point) -> Iterator[Point]:
    """The points of a path, and others between them."""
    for after in path.points(now):
        yield from path.between(now, after)
        now = after


def settled(path: Path, at: Point, part: float, pushed: bool = True) -> Point | None:
    """The stable equilibrium to which a robot goes that is pushed off an unstable one; None if there is no such.

    Where the motion that grows oscillates, no branch of equilibria leads away, and there is none.
    """
    statics, robot = path.statics, path.statics.robot
    q, sizes = at.q, robot._natural_sizes()[1]
    radius = _PUSH * float(np.linalg.norm(statics.scale * sizes) / np.sqrt(max(robot.nv, 1)))
    if pushed:
        mode = path.critical_mode(at)
        if mode is None:
            return None
        push = _PUSH * mode / np.abs(mode / sizes).max()
        q, radius = robot.integrate(q, push), statics.length(push)
    shortest, forces = _SHORTEST * radius, statics.forces(q)
    F, K = path.balance(forces, part)
    for iteration in range(_STEPS):
        closing, Z = forces.ties.split(statics.scale)
        stiffness = Z.T @ (K / statics.scale[:, None] / statics.scale) @ Z
        values, axes = np.linalg.eigh((stiffness + stiffness.T) / 2)
        slope = axes.T @ (Z.T @ (F / statics.scale))
        step, within = _step(slope, np.maximum(np.abs(values), _FLAT * np.abs(values).max(initial=0.0)), radius)
        if within:
            found = path.near(q, part, at.iterations + iteration)
            if found is not None and not path.lost(found):
                return found
        expected = slope @ step + step @ (values * step) / 2
        shift = (closing + Z @ (axes @ step)) / statics.scale
        try:
            there = robot.integrate(q, shift)
            new = statics.forces(there)
            F_new, K_new = path.balance(new, part)
            fine = bool(np.isfinite(F_new).all() and np.isfinite(K_new).all()) and not inside_out(robot, there)
        except RangeError:
            fine = False
        agreement = shift @ (F + F_new) / 2 / expected if fine and expected < 0 else 0.0
        if agreement < 0.1:
            radius = float(np.linalg.norm(step)) / 4
            if radius < shortest:
                return None
            continue
        if agreement > 0.7 and not within:
            radius *= 2
        q, forces, F, K = there, new, F_new, K_new
    return None


def _step(slope: Array, curvature: Array, radius: float) -> tuple[Array, bool]:
    """The minimum of slope x + curvature x^2 / 2 within a radius, and whether that does not limit it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        free = np.where(slope == 0, 0.0, -slope / curvature)
    if np.linalg.norm(free) <= radius:
        return free, True
    low, high = 0.0, float(np.linalg.norm(slope)) / radius
    for _ in range(60):
        more = (low + high) / 2
        if np.linalg.norm(slope / (curvature + more)) > radius:
            low = more
        else:
            high = more
    return -slope / (curvature + high), False
