"""Eigenvalues in a notebook: which are stable, how fast they grow or fade, how often they swing."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from jounce.display.html import number, table

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
_LISTED = 12
_EPS = float(np.finfo(float).eps)


def eigenvalues_html(A: Array) -> str:
    """Those of x' = A x."""
    roots, errors = _roots(A)
    return _listed("eigenvalues", "1/s", roots, roots, errors, errors)


def poles_html(poles: Complex, dt: float | None) -> str:
    """Those of a closed loop, in 1/s, or from one step of dt to the next; its matrix is not at hand."""
    heading = "poles of the closed loop"
    if dt is None:
        errors = np.full(len(poles), 1e-12 * np.abs(poles).max(initial=0.0))
        return _listed(heading, "1/s", poles, poles, errors, errors)
    with np.errstate(divide="ignore", invalid="ignore"):  # rates of a continuous motion through the same states
        rates = np.asarray(np.log(poles.astype(np.complex128)) / dt, dtype=np.complex128)
    rates[poles == 0] = -np.inf
    errors = np.full(len(poles), 1e-12)
    return _listed(heading, f"per step of {number(dt)} s", poles, rates, errors, errors / dt)


def _listed(heading: str, unit: str, roots: Complex, rates: Complex, off: Array, errors: Array) -> str:
    """Counted by their sign, and listed from the least stable on, pairs in one line.

    Args:
        roots, off: what is written, and how far off rounding may have moved each.
        rates, errors: the same in 1/s, which tell what the roots mean.
    """
    growth = np.where(np.abs(rates.real) <= errors, 0.0, rates.real)
    up, down = int((growth > 0).sum()), int((growth < 0).sum())
    border = f"{len(rates) - up - down} on the {'axis' if unit == '1/s' else 'circle'}"
    counts = f"{len(rates)} {heading}: {up} unstable, {down} stable, {border}"
    order = [i for i in np.lexsort((-rates.imag, -growth)) if roots[i].imag >= -off[i]]
    often = Counter((_root(roots[i], off[i]), _meaning(rates[i], errors[i])) for i in order)
    lines = [[root, f"× {n}" if n > 1 else "", meaning] for (root, meaning), n in list(often.items())[:_LISTED]]
    more = [["…", "", f"and {len(often) - _LISTED} more"]] if len(often) > _LISTED else []
    return f"<div>{counts}</div>" + table((unit, "", ""), lines + more)


def _roots(A: Array) -> tuple[Complex, Array]:
    """The eigenvalues, and how far off rounding may have moved each: far where several coincide.

    To first order, a change dA moves an eigenvalue by y^H dA x / y^H x, with its left and right eigenvectors y and x;
    two that coincide move by the square root of it.
    """
    roots, right = np.linalg.eig(A)
    try:
        left = np.abs(np.linalg.inv(right)).max(axis=1)
    except np.linalg.LinAlgError:  # exactly parallel eigenvectors
        left = np.full(len(roots), np.inf)
    worst = _EPS**-0.5
    condition = len(roots) ** 0.5 * np.fmin(left, worst)  # at least |y| |x| / |y^H x|, as |x| = 1
    errors = 10 * _EPS * float(np.linalg.norm(A)) * np.minimum(condition, worst)
    return roots.astype(np.complex128), errors


def _root(root: complex, error: float) -> str:
    real = number(0.0 if abs(root.real) <= error else root.real)
    return real if abs(root.imag) <= error else f"{real} ± {number(root.imag)} i"


def _meaning(rate: complex, error: float) -> str:
    words = []
    if rate.real > error:
        words.append(f"unstable, doubles in {number(np.log(2) / rate.real)} s")
    elif rate.real == -np.inf:
        words.append("stable, ends within a step")
    elif rate.real < -error:
        words.append(f"stable, halves in {number(-np.log(2) / rate.real)} s")
    if abs(rate.imag) > error:
        words.append(f"{number(abs(rate.imag) / (2 * np.pi))} Hz")
    return ", ".join(words)
