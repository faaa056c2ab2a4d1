"""Some bodies and frames of a robot, looked up by name once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]


class Frames:
    """Bodies and frames whose names were looked up once, for loops; made by `Model.frames`.

    Also taken as ``frames=`` by `Model.forward_kinematics` and `Model.pose_derivatives`.

    Attributes:
        names: of the bodies and frames, in the order of the results.
    """

    __slots__ = ("_indices", "_robot", "names")
    names: tuple[str, ...]

    def __init__(self, robot: Model, indices: list[int]) -> None:
        self._robot, self._indices = robot, indices
        self.names = tuple(robot.frame_names[i] for i in indices)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<jounce.Frames: {', '.join(self.names)}>"

    def pose(self, q: ArrayLike) -> Array:
        """The poses (..., n, 4, 4) in the world, for q (..., nq).

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> hands = robot.frames(["B4", "B7"])
        >>> hands.pose(robot.neutral())[:, :3, 3].shape
        (2, 3)
        """
        return self._robot._forward_kinematics_of(q, None, self._indices, 1, "body", "body")[0][..., 0, :, :, :]

    def twist(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        frame: Frame = "body",
        velocity_frame: Frame | None = None,
        order: int | None = None,
    ) -> Array:
        """The twists (..., K, n, 6) and their derivatives, of one velocity (nv,) the twists (..., n, 6).

        The arguments are those of `Model.twist`.

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> robot.frames(["B4", "B7"]).twist(robot.neutral(), np.ones(robot.nv)).shape
        (2, 6)
        """
        if v is None:
            raise ValueError("v must be an array of real numbers, got None")
        return self._robot._forward_kinematics_of(q, v, self._indices, 0, frame, velocity_frame, order)[1]

    def jacobian(self, q: ArrayLike, *, frame: Frame = "body", velocity_frame: Frame | None = None) -> Array:
        """The Jacobians (..., n, 6, nv), for q (..., nq); the other arguments are those of `Model.jacobian`.

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> J = robot.frames(["B4", "B7"]).jacobian(robot.neutral())
        >>> J.shape, J.reshape(-1, robot.nv).shape  # one above the other
        ((2, 6, 12), (12, 12))
        """
        return self._each(lambda name: self._robot.jacobian(name, q, frame=frame, velocity_frame=velocity_frame))

    def jacobian_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        frame: Frame = "body",
        velocity_frame: Frame | None = None,
        order: int | None = None,
    ) -> Array:
        """The Jacobians and their time derivatives (..., K + 1, n, 6, nv).

        The arguments are those of `Model.jacobian_derivatives`.

        >>> import jounce as jn
        >>> robot = jn.robots.aerial_manipulator()
        >>> J, dJ = robot.frames(["B4", "B7"]).jacobian_derivatives(robot.neutral(), np.ones(robot.nv))
        >>> dJ.shape
        (2, 6, 12)
        """

        def one(name: str | int) -> Array:
            nonlocal order
            found = self._robot.jacobian_derivatives(
                name, q, v, frame=frame, velocity_frame=velocity_frame, order=order
            )
            order = found.shape[-3] - 1  # what the first call warns of, the others do not again
            return found

        return self._each(one)

    def _each(self, jacobian: Callable[[str | int], Array]) -> Array:
        """(..., n, 6, nv), from a function that gives one by name, which the core finds sooner than by index."""
        found = [jacobian(name) for name in self.names]
        if not found:
            return np.stack([jacobian(0)], axis=-3)[..., :0, :, :]
        return np.array(found) if found[0].ndim == 2 else np.stack(found, axis=-3)
