"""Operation counts of paper D's algorithms over the number of modules: claims of D-sim2."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from . import paper_d_modules
from .claims import Array, Claim, judged


def _counting(operation: Callable[[float, float], float]) -> Callable[[Counted, Any], Any]:
    def method(self: Counted, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy then iterates over its entries
        Counted.made += 1
        return Counted(operation(self.value, other.value if isinstance(other, Counted) else float(other)))

    return method


class Counted:
    """A number that counts sums, products and quotients across all instances."""

    made: ClassVar[int] = 0

    def __init__(self, value: float) -> None:
        self.value = value

    __add__ = __radd__ = _counting(operator.add)
    __mul__ = __rmul__ = _counting(operator.mul)
    __sub__ = _counting(operator.sub)
    __rsub__ = _counting(lambda a, b: b - a)
    __truediv__ = _counting(operator.truediv)

    def __neg__(self) -> Counted:
        return Counted(-self.value)

    def __abs__(self) -> float:
        return abs(self.value)


def counted(values: Any) -> Array:
    """An array of numbers that count."""
    result = np.empty(np.shape(values), dtype=object)
    for i, value in np.ndenumerate(np.asarray(values)):
        result[i] = Counted(float(value))
    return result


def operations(counts: Array) -> dict[str, Array]:
    """Operations of each algorithm, for these numbers of soft bodies with three coordinates each."""
    found: dict[str, list[int]] = {}
    for n in counts:
        for name, made in _operations(int(n)).items():
            found.setdefault(name, []).append(made)
    return {name: np.array(made) for name, made in found.items()}


def _operations(bodies: int) -> dict[str, int]:
    n, columns = 3 * bodies, [np.eye(6)[4], -np.eye(6)[3], np.eye(6)[2]]
    rod = paper_d_modules.rod(np.eye(4), 0.1, 0.3, columns, nodes=2)
    rod = paper_d_modules.Module(*(counted(x) for x in (rod.placement, rod.constant, rod.basis, rod.offset, rod.mass)))
    q, v, a, stiffness = (counted(np.tile(x, bodies)) for x in np.random.default_rng(0).uniform(0.1, 0.5, (4, 3)))
    none, unit = np.zeros(n), np.eye(n)[0]

    def made(call: Any) -> int:
        before = Counted.made
        call()
        return Counted.made - before

    def gid(v: Array, a: Array, base: Array | None = None) -> Array:
        return paper_d_modules.generalized_inverse_dynamics([rod] * bodies, q, v, a, base)

    def aid() -> Array:  # gravity through the base; elastic and damping forces act on the body's own coordinates
        return np.asarray(gid(v, a, np.array([0.0, 0.0, 9.81])) + stiffness * (q + v))

    column = made(lambda: gid(none, unit))  # the same for each
    matrix = counted(np.random.default_rng(1).normal(size=(n, n)) + 2 * n * np.eye(n))
    solving = made(lambda: _solved(matrix, counted(np.ones(n))))
    result = {"GID": made(lambda: gid(v, a)), "AID": made(aid), "mass matrix, by GID": n * column}
    result["solving with M"] = solving
    return {**result, "forward dynamics, by GID": result["AID"] + n * column + solving}


def _solved(A: Array, b: Array) -> Array:
    """By elimination, for a matrix with a large diagonal."""
    A, b = A.copy(), b.copy()
    for k in range(len(b)):
        for i in range(k + 1, len(b)):
            factor = A[i, k] / A[k, k]
            A[i, k + 1 :] = A[i, k + 1 :] - factor * A[k, k + 1 :]
            b[i] = b[i] - factor * b[k]
    for k in reversed(range(len(b))):
        b[k] = b[k] / A[k, k]
        b[:k] = b[:k] - A[:k, k] * b[k]
    return b


def claims(counts: Array, made: dict[str, Array], each: str) -> list[Claim]:
    """Judged by the exponents of N.

    Args:
        each: time of jounce's forward dynamics, in words.
    """
    power = {
        name: float(np.polyfit(np.log(counts[-3:]), np.log(numbers[-3:].astype(float)), 1)[0])
        for name, numbers in made.items()
    }
    how = f"exponent of N in the number of operations, N up to {counts[-1]}"
    return [
        judged(
            f"Algorithms 1 and 2 take O(N): {how}",
            "D, abstract, Lemma 1, Corollary 1", "1", [power["GID"], power["AID"]], lambda x: max(x) < 1.05,
            "In paper D's recursion, the kinematics of the modules with it. Less than O(N) there cannot be.",
        ),
        judged(
            f"The mass matrix from inverse dynamics takes O(N^2): {how}",
            "D, section VI", "2", power["mass matrix, by GID"], lambda x: x < 2.05,
        ),
        judged(
            f"Forward dynamics from inverse dynamics takes O(N^3) at worst: {how}",
            "D, section VI", "3", [power["forward dynamics, by GID"], power["solving with M"]],
            lambda x: max(x) < 3.05, "All of it, and solving with M alone, which outweighs the rest later.",
        ),
        judged(
            f"Forward dynamics so is not optimal: {how}",
            "D, section VI", "more than 1", f"{power['forward dynamics, by GID']:.2f}; {each}",
            power["forward dynamics, by GID"] > 1.5, "It can be had in O(N), without a mass matrix.",
        ),
    ]  # fmt: skip
