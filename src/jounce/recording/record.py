"""Recording a NumPy function as a list of elementary operations, and differentiating that list.

A function is called once with an array of `Number` as its argument. Every operation on them is recorded; the result is
a list (`Expressions`) that the compiled core can run over Taylor series of any length, and whose derivatives are lists
again. So a function written in Python has no Python overhead afterwards, at the price that it may not branch on its
argument.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from jounce._checks import reals, whole
from jounce._core import Recorded

Array = NDArray[np.float64]

CONSTANT, ADD, SUBTRACT, MULTIPLY, DIVIDE, SCALE, SQRT, EXP, LOG, SINE, COSINE, POWER, ARCTAN, STUMPFF, PIECEWISE = (
    range(15)
)
Scalar = Union["Number", float]


class Tape:
    """Operations in order: (operation, first operand, second operand, number); operands are numbered inputs first."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.operations: list[tuple[int, int, int, float]] = []
        self.tables: list[tuple[Array, Array]] = []  # knots and coefficients of piecewise polynomials
        self._known: dict[tuple[int, int, int, float], int] = {}
        self._adding = threading.Lock()  # threads may differentiate what one of them has recorded

    def emit(self, operation: int, a: int = 0, b: int = 0, value: float = 0.0) -> Number:
        """The result of an operation, which is recorded only once however often it is used."""
        return Number(self, self._place((operation, a, b, value)))

    def circular(self, operation: int, a: int) -> Number:
        """The sine or cosine; the two are computed together."""
        at = self._place((SINE, a, 0, 0.0))
        return Number(self, at if operation == SINE else at + 1)

    def _place(self, key: tuple[int, int, int, float]) -> int:
        """Where an operation is; added if it is new, a sine with its cosine."""
        at = self._known.get(key)
        if at is None:
            with self._adding:
                at = self._known.get(key)
                if at is None:
                    at = self.inputs + len(self.operations)
                    both = [(SINE, key[1], at + 1, 0.0), (COSINE, key[1], at, 0.0)]
                    self.operations += both if key[0] == SINE else [key]
                    self._known[key] = at  # last: from here on others use it
        return at

    def table(self, knots: Array, coefficients: Array) -> int:
        """The index of that table; added if it is new."""
        with self._adding:
            for i, (a, b) in enumerate(self.tables):
                if np.array_equal(a, knots) and np.array_equal(b, coefficients):
                    return i
            self.tables.append((knots, coefficients))
            return len(self.tables) - 1

    def number(self, x: Scalar) -> Number:
        return x if isinstance(x, Number) else self.emit(CONSTANT, value=float(x))


class Number:
    """A number not known yet, which a recorded function computes with; NumPy's functions treat it as a float."""

    __slots__ = ("_at", "_tape")

    def __init__(self, tape: Tape, at: int) -> None:
        self._tape, self._at = tape, at

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Number):
            return self._tape.emit(ADD, min(self._at, other._at), max(self._at, other._at))
        if is_number(other):
            return self if other == 0 else self + self._tape.number(float(other))
        return NotImplemented

    __radd__ = __add__

    def __neg__(self) -> Number:
        return self._tape.emit(SCALE, self._at, value=-1.0)

    def __pos__(self) -> Number:
        return self

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Number):
            return 0.0 if other._at == self._at else self._tape.emit(SUBTRACT, self._at, other._at)
        if is_number(other):
            return self + (-float(other))
        return NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Number):
            return self._tape.emit(MULTIPLY, min(self._at, other._at), max(self._at, other._at))
        if is_number(other):
            factor = float(other)
            return 0.0 if factor == 0 else self if factor == 1 else self._tape.emit(SCALE, self._at, value=factor)
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Number):
            return self._tape.emit(DIVIDE, self._at, other._at)
        if is_number(other):
            return self * (1.0 / float(other))
        return NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        if is_number(other):
            return 0.0 if other == 0 else self._tape.number(float(other)) / self
        return NotImplemented

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, Number):
            return (power * self.log()).exp()
        if not is_number(power):
            return NotImplemented
        p = float(power)
        if p == int(p) and abs(p) <= 64:
            result: Scalar = 1.0
            for bit in bin(abs(int(p)))[2:]:  # square, and multiply where the binary digit is one
                result = result * result
                result = result * self if bit == "1" else result
            return result if p >= 0 else 1.0 / result
        return self.sqrt() if p == 0.5 else self._tape.emit(POWER, self._at, value=p)

    def __rpow__(self, base: Any) -> Any:
        return (self * float(np.log(base))).exp() if is_number(base) else NotImplemented

    def sqrt(self) -> Number:
        return self._tape.emit(SQRT, self._at)

    def exp(self) -> Number:
        return self._tape.emit(EXP, self._at)

    def log(self) -> Number:
        return self._tape.emit(LOG, self._at)

    def sin(self) -> Number:
        return self._tape.circular(SINE, self._at)

    def cos(self) -> Number:
        return self._tape.circular(COSINE, self._at)

    def tan(self) -> Any:
        return self.sin() / self.cos()

    def arctan(self) -> Number:
        square = 1.0 + self * self
        return self._tape.emit(ARCTAN, self._at, square._at)

    def arctan2(self, x: Any) -> Any:
        return 2.0 * (self / ((self * self + x * x) ** 0.5 + x)).arctan()

    def arcsin(self) -> Any:
        return (self / (1.0 - self * self).sqrt()).arctan()

    def arccos(self) -> Any:
        return 0.5 * np.pi - self.arcsin()

    def sinh(self) -> Any:
        return 0.5 * (self.exp() - (-self).exp())

    def cosh(self) -> Any:
        return 0.5 * (self.exp() + (-self).exp())

    def tanh(self) -> Any:
        return 1.0 - 2.0 / ((2.0 * self).exp() + 1.0)

    def square(self) -> Any:
        return self * self

    def conjugate(self) -> Number:
        return self

    def stumpff(self, k: int) -> Number:
        return self._tape.emit(STUMPFF, self._at, value=float(k))

    def piecewise(self, knots: Array, coefficients: Array) -> Number:
        return self._tape.emit(PIECEWISE, self._at, value=float(self._tape.table(knots, coefficients)))

    def _refuse(self, *_: object) -> Any:
        raise TypeError(
            "the value of this number is not known while the function is recorded: it cannot be compared, rounded or "
            "turned into a float. Write the function without branches; put its results together with np.array([...]) "
            "rather than into an array of floats; for sin(x) / x and the like take jounce.soft.stumpff, for tables "
            "jounce.Spline, and NumPy's functions rather than those of math or scipy"
        )

    __hash__ = object.__hash__
    __eq__ = __ne__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = __int__ = __index__ = __complex__ = __abs__ = _refuse
    __floordiv__ = __mod__ = __round__ = _refuse

    def __repr__(self) -> str:
        return f"<number {self._at}>"


def is_number(x: object) -> bool:
    return isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, (bool, np.timedelta64))


def stumpff(k: int, u: Any) -> Any:
    """Stumpff's function c_k(u), the sum over j of (-u)^j / (2 j + k)!, which is smooth everywhere.

    c_0(x^2) = cos x, c_1(x^2) = sin x / x, c_2(x^2) = (1 - cos x) / x^2, c_3(x^2) = (x - sin x) / x^3. Accepts
    numbers and arrays, also in functions that jounce records.

    >>> float(stumpff(1, 0.0)), round(float(stumpff(2, np.pi**2)), 6)
    (1.0, 0.202642)
    """
    k = whole("k", k, 0, 6)
    if isinstance(u, Number):
        return u.stumpff(k)
    if (isinstance(u, np.ndarray) and u.dtype == object) or isinstance(u, (list, tuple)):
        given = np.asarray(u, dtype=object)
        if any(isinstance(x, Number) for x in given.flat):
            return np.array([stumpff(k, x) for x in given.ravel()], dtype=object).reshape(given.shape)
        u = given.tolist()
    values = reals("u", u)
    tape = Tape(1)
    result = Expressions(tape, [Number(tape, 0).stumpff(k)]).values(values.reshape(-1, 1))
    return result.reshape(values.shape)[()]


class Expressions:
    """Some results of a tape, as a function of its inputs."""

    def __init__(self, tape: Tape, outputs: Sequence[Scalar]) -> None:
        self.tape, self.outputs = tape, list(outputs)
        self._compiled: Recorded | None = None

    def __len__(self) -> int:
        return len(self.outputs)

    def __reduce__(self) -> tuple[Any, ...]:
        """Operations and outputs: the function itself is no longer needed."""
        outputs = [x._at if isinstance(x, Number) else float(x) for x in self.outputs]
        tape = self.tape
        return _restored, (tape.inputs, tuple(tape.operations), tuple(tape.tables), tuple(outputs))

    @property
    def compiled(self) -> Recorded:
        """The list that the core runs: only the operations that the outputs need."""
        if self._compiled is None:
            tape, inputs = self.tape, self.tape.inputs
            wanted = [tape.number(x)._at for x in self.outputs]
            order = self._needed(wanted)
            place = {i: i for i in range(inputs)} | {i: inputs + k for k, i in enumerate(order)}
            rows: list[int] = []
            values = np.zeros(len(order))
            for k, i in enumerate(order):
                op, a, b, values[k] = tape.operations[i - inputs]
                rows += [op, place.get(a, 0), place.get(b, 0)]
            self._compiled = Recorded(inputs, rows, values, [place[i] for i in wanted], list(tape.tables))
        return self._compiled

    def is_constant(self, i: int) -> bool:
        """Whether output i is a number, whatever the inputs."""
        x = self.outputs[i]
        return not isinstance(x, Number) or (
            x._at >= self.tape.inputs and self.tape.operations[x._at - self.tape.inputs][0] == CONSTANT
        )

    def _needed(self, wanted: Sequence[int]) -> list[int]:
        inputs, todo, seen = self.tape.inputs, list(wanted), set()
        while todo:
            i = todo.pop()
            if i < inputs or i in seen:
                continue
            seen.add(i)
            op, a, b, _ = self.tape.operations[i - inputs]
            if op != CONSTANT:
                todo.append(a)
            if op in (ADD, SUBTRACT, MULTIPLY, DIVIDE, SINE, COSINE, ARCTAN):
                todo.append(b)
        return sorted(seen)

    def derivatives(self, x: Array) -> Array:
        """Time derivatives (..., K, outputs) along a motion with derivatives x (..., K, inputs)."""
        return self.compiled.derivatives(x)

    def values(self, x: Array) -> Array:
        """(..., outputs) of x (..., inputs)."""
        return self.compiled.derivatives(np.asarray(x)[..., None, :])[..., 0, :]

    def gradient(self, inputs: Sequence[int]) -> Expressions:
        """The derivatives of each output by some of the inputs: outputs (outputs, inputs), row by row."""
        tape = self.tape
        wanted = [x._at if isinstance(x, Number) else -1 for x in self.outputs]
        order = self._needed([i for i in wanted if i >= 0])
        columns = [_forward(tape, order, c) for c in inputs]
        return Expressions(tape, [column.get(i, 0.0) for i in wanted for column in columns])


def _restored(inputs: Any, operations: Any, tables: Any, outputs: Any) -> Expressions:
    """Restores what `Expressions.__reduce__` took apart; the core checks it."""
    try:
        tape = Tape(whole("inputs", inputs, 0, 1 << 20))
        for op, a, b, value in operations:
            at = tape.inputs + len(tape.operations)
            key = int(op), int(a), int(b), float(value)
            if not (0 <= key[1] < at and 0 <= key[2] <= at + 1):
                raise ValueError("an operation on what comes later")
            tape._known[(*key[:2], 0, 0.0) if key[0] in (SINE, COSINE) else key] = at
            tape.operations.append(key)
        tape.tables = [(reals("knots", knots), reals("coefficients", table)) for knots, table in tables]
        found = Expressions(tape, [Number(tape, x) if isinstance(x, int) else float(x) for x in outputs])
        size = tape.inputs + len(tape.operations)
        if any(isinstance(x, Number) and not 0 <= x._at < size for x in found.outputs):
            raise ValueError("an output that does not exist")
        _ = found.compiled
    except (TypeError, ValueError, OverflowError, KeyError, IndexError, AttributeError) as fault:
        raise ValueError(f"a recorded function cannot be restored: {fault}") from None
    return found


def _forward(tape: Tape, order: Sequence[int], input_: int) -> dict[int, Scalar]:
    """The derivative of each operation in `order` by one input, where it is not zero."""
    d: dict[int, Scalar] = {input_: 1.0}
    for i in order:
        op, a, b, value = tape.operations[i - tape.inputs]
        da, db = d.get(a, 0.0), d.get(b, 0.0)
        if op == CONSTANT or (_is_zero(da) and (_is_zero(db) or op not in (ADD, SUBTRACT, MULTIPLY, DIVIDE))):
            continue
        x, y, own = Number(tape, a), Number(tape, b), Number(tape, i)
        change: Scalar
        if op == ADD:
            change = da + db
        elif op == SUBTRACT:
            change = da - db
        elif op == MULTIPLY:
            change = da * y + db * x
        elif op == DIVIDE:
            change = (da - own * db) / y
        elif op == SCALE:
            change = value * da
        elif op == SQRT:
            change = da / (2.0 * own)
        elif op == EXP:
            change = own * da
        elif op == LOG:
            change = da / x
        elif op == SINE:
            change = y * da
        elif op == COSINE:
            change = -(y * da)
        elif op == POWER:
            change = value * x ** (value - 1.0) * da
        elif op == ARCTAN:
            change = da / y
        elif op == PIECEWISE:
            knots, coefficients = tape.tables[int(value)]
            if coefficients.shape[1] < 2:
                continue
            change = x.piecewise(knots, coefficients[:, 1:] * np.arange(1.0, coefficients.shape[1])) * da
        else:
            k = int(value)
            change = 0.5 * (k * x.stumpff(k + 2) - x.stumpff(k + 1)) * da
        if not _is_zero(change):
            d[i] = change
    return d


def _is_zero(x: Scalar) -> bool:
    return not isinstance(x, Number) and x == 0


def record(function: Callable[..., Any], *sizes: int) -> tuple[Tape, NDArray[np.object_]]:
    """The tape of a function of arrays of the given lengths, and its return value as an array of numbers."""
    tape = Tape(sum(sizes))
    numbers = np.array([Number(tape, i) for i in range(tape.inputs)], dtype=object)
    arguments = np.split(numbers, np.cumsum(sizes)[:-1])
    return tape, np.asarray(function(*arguments), dtype=object)
