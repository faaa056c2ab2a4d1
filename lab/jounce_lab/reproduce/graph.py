"""Expressions as a graph, and their derivatives node by node, as in automatic differentiation.

Differentiating r times builds each graph from the previous one, as CasADi's ``jtimes`` does: a product turns into two
and a sum. With `shared`, an existing expression is reused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Graph:
    """Makes `Node`s.

    >>> graph = Graph()
    >>> t = graph.variable()
    >>> y = t * t + t.sin()
    >>> graph.size([y]), graph.size([graph.derivative([y], t)[0]])
    (3, 3)
    """

    def __init__(self, shared: bool = False) -> None:
        self._known: dict[tuple[Any, ...], Node] | None = {} if shared else None

    def variable(self) -> Node:
        return Node(self, "", ())

    def node(self, name: str, *arguments: Any) -> Node:
        if self._known is None:
            return Node(self, name, arguments)
        key = (name, *((id(x) if isinstance(x, Node) else x) for x in arguments))
        if key not in self._known:
            self._known[key] = Node(self, name, arguments)
        return self._known[key]

    @staticmethod
    def size(roots: list[Any]) -> int:
        """The number of operations in these expressions, each counted once."""
        return sum(1 for node in _ordered(roots) if node.name)

    def derivative(self, roots: list[Any], by: Node) -> list[Any]:
        """Their derivatives: 0.0 if they do not depend on it."""
        rate: dict[int, Any] = {id(by): 1.0}
        for node in _ordered(roots):
            if node.name:
                rate[id(node)] = _rule(node, [rate.get(id(x), 0.0) for x in node.arguments])
        return [rate.get(id(x), 0.0) for x in roots]


class Node:
    """An operation, its arguments nodes or floats; a variable if it has no name."""

    __slots__ = ("arguments", "graph", "name")

    def __init__(self, graph: Graph, name: str, arguments: tuple[Any, ...]) -> None:
        self.graph, self.name, self.arguments = graph, name, arguments

    def __add__(self, other: Any) -> Any:
        return self if _is(other, 0) else self.graph.node("+", self, other)

    def __sub__(self, other: Any) -> Any:
        return self if _is(other, 0) else self.graph.node("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return -self if _is(other, 0) else self.graph.node("-", other, self)

    def __mul__(self, other: Any) -> Any:
        if _is(other, 0):
            return 0.0
        return self if _is(other, 1) else self.graph.node("*", self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Node:
        return self.graph.node("neg", self)

    def sin(self) -> Node:
        return self.graph.node("sin", self)

    def cos(self) -> Node:
        return self.graph.node("cos", self)


def _is(x: Any, number: int) -> bool:
    return not isinstance(x, Node) and bool(x == number)


def _rule(node: Node, rates: list[Any]) -> Any:
    if all(_is(rate, 0) for rate in rates):
        return 0.0
    a = node.arguments[0]
    if node.name == "neg":
        return -rates[0]
    if node.name == "sin":
        return a.cos() * rates[0]
    if node.name == "cos":
        return -(a.sin() * rates[0])
    if node.name == "*":
        return rates[0] * node.arguments[1] + a * rates[1]
    return rates[0] + rates[1] if node.name == "+" else rates[0] - rates[1]


def _ordered(roots: list[Any]) -> list[Node]:
    """All nodes below these, arguments first."""
    seen: set[int] = set()
    result: list[Node] = []
    stack: list[tuple[Any, bool]] = [(root, False) for root in roots]
    while stack:
        node, done = stack.pop()
        if done:
            result.append(node)
        elif isinstance(node, Node) and id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((x, False) for x in node.arguments)
    return result


def evaluated(roots: list[Any], given: dict[int, float]) -> NDArray[np.float64]:
    """Their values; `given` maps variables, by ``id``, to theirs."""
    value = dict(given)
    for node in _ordered(roots):
        if node.name:
            a, *b = (value[id(x)] if isinstance(x, Node) else float(x) for x in node.arguments)
            value[id(node)] = _DO[node.name](a, *b)
    return np.array([value[id(x)] if isinstance(x, Node) else float(x) for x in roots])


_DO: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "neg": lambda a: -a,
    "sin": np.sin,
    "cos": np.cos,
}
