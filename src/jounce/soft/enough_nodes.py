"""``nodes="auto"``: as many as a stated range of shapes and a stated order need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jounce._checks import array_of, quoted, whole

if TYPE_CHECKING:
    from jounce.parts.sections import SoftBody


def expect_auto(nodes: object, reach: object, order: object) -> bool:
    """Whether nodes is "auto"; checks that reach and order come with it, and only with it."""
    auto = isinstance(nodes, str) and nodes == "auto"
    if isinstance(nodes, str) and not auto:
        raise ValueError(f"nodes is {quoted(nodes)}, expected a number, or 'auto' with reach=")
    if auto and reach is None:
        raise ValueError("nodes is 'auto', which needs reach=: how far each coordinate may go from zero")
    if not auto and (reach is not None or order is not None):
        raise ValueError("reach and order are for nodes='auto' only")
    return auto


def enough_nodes(body: SoftBody, reach: object, order: object) -> int:
    """The number of nodes for shapes within the reach (n,), and for derivatives up to the order."""
    from jounce.dynamics.discretization import fewest_nodes

    far = array_of("reach", reach, (body.n,))
    if (far < 0).any():
        raise ValueError(f"reach is {quoted(far.tolist())}, expected non-negative numbers")
    return fewest_nodes(body, far, 2 if order is None else whole("order", order, 0, 10))
