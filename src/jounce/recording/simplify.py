"""Algebraic simplification of recorded expressions: polynomials in sines and cosines, with cos^2 = 1 - sin^2.

A recorded function is often far longer than necessary: R^T dR/dq gives the screw of a hinge as dozens of products that
add up to a constant. Sums and products are expanded into polynomials in everything else: inputs, sines, cosines, other
functions. Squares of cosines are replaced, which makes the form unique, and terms that cancel to rounding error are
dropped. An expression is rewritten if that makes it shorter.
"""

from __future__ import annotations

from jounce.recording.record import ADD, CONSTANT, COSINE, MULTIPLY, SCALE, SUBTRACT, Expressions, Number, Scalar, Tape

_ROUNDING = 1e-14
_LONGEST = 64  # terms of a polynomial; longer ones are left alone

Monomial = tuple[tuple[int, int], ...]  # ((value, power), ...), sorted
Polynomial = dict[Monomial, tuple[float, float]]  # coefficient, and the magnitude of the terms it sums


def simplified(given: Expressions) -> Expressions:
    """The same outputs, each in the fewest operations found."""
    tape = given.tape
    known: dict[int, Polynomial | None] = {}
    wanted = [x._at for x in given.outputs if isinstance(x, Number)]
    for i in given._needed(wanted):
        known[i] = _polynomial(tape, known, i)
    return Expressions(tape, [_shorter(tape, known, x) for x in given.outputs])


def _of(known: dict[int, Polynomial | None], i: int) -> Polynomial:
    found = known.get(i)
    return {((i, 1),): (1.0, 1.0)} if found is None else found


def _polynomial(tape: Tape, known: dict[int, Polynomial | None], i: int) -> Polynomial | None:
    """A value as a polynomial in others; None if it is itself a variable."""
    op, a, b, value = tape.operations[i - tape.inputs]
    result: Polynomial
    if op == CONSTANT:
        result = {(): (value, abs(value))}
    elif op == SCALE:
        result = {m: (value * c, abs(value) * s) for m, (c, s) in _of(known, a).items()}
    elif op in (ADD, SUBTRACT):
        result = dict(_of(known, a))
        sign = 1.0 if op == ADD else -1.0
        for m, (c, s) in _of(known, b).items():
            old = result.get(m, (0.0, 0.0))
            result[m] = old[0] + sign * c, old[1] + s
    elif op == MULTIPLY:
        first, second = _of(known, a), _of(known, b)
        if len(first) * len(second) > _LONGEST**2:
            return None
        result = {}
        for m, (c, s) in first.items():
            for n, (d, t) in second.items():
                _add(tape, result, _product(m, n), c * d, s * t)
    else:
        return None
    result = {m: (c, s) for m, (c, s) in result.items() if abs(c) > _ROUNDING * s}
    return result if len(result) <= _LONGEST else None


def _product(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for value, power in b:
        powers[value] = powers.get(value, 0) + power
    return tuple(sorted(powers.items()))


def _add(tape: Tape, to: Polynomial, monomial: Monomial, c: float, s: float) -> None:
    """Adds a term, with cosines reduced to the first power."""
    for value, power in monomial:
        if power < 2 or value < tape.inputs or tape.operations[value - tape.inputs][0] != COSINE:
            continue
        sine = tape.operations[value - tape.inputs][2]
        rest = _product(tuple(x for x in monomial if x[0] != value), ((value, power - 2),) if power > 2 else ())
        _add(tape, to, rest, c, s)
        _add(tape, to, _product(rest, ((sine, 2),)), -c, s)
        return
    old = to.get(monomial, (0.0, 0.0))
    to[monomial] = old[0] + c, old[1] + s


def _shorter(tape: Tape, known: dict[int, Polynomial | None], x: Scalar) -> Scalar:
    if not isinstance(x, Number) or known.get(x._at) is None:
        return x
    polynomial = _of(known, x._at)
    length = sum(1 + sum(power for _, power in m) for m in polynomial)
    if length > _length(tape, x._at):
        return x
    total: Scalar = 0.0
    for monomial, (c, _) in sorted(polynomial.items()):
        term: Scalar = c
        for value, power in monomial:
            for _ in range(power):
                term = term * Number(tape, value)
        total = total + term
    return total


def _length(tape: Tape, i: int) -> int:
    """The number of sums and products in a value, not counting those inside other functions."""
    todo, seen = [i], set()
    while todo:
        at = todo.pop()
        op, a, b, _ = tape.operations[at - tape.inputs] if at >= tape.inputs else (CONSTANT, 0, 0, 0.0)
        if at in seen or op not in (ADD, SUBTRACT, MULTIPLY, SCALE):
            continue
        seen.add(at)
        todo += [a] if op == SCALE else [a, b]
    return len(seen)
