"""Some bodies and frames of a robot, looked up by name once."""

from __future__ import annotations

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
