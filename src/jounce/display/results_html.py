"""Results in a notebook: a linearization with its matrices and eigenvalues, an equilibrium, forces of constraints."""

from __future__ import annotations

import base64
import struct
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce.display.html import boxed, folded, number, plain, table, title

if TYPE_CHECKING:
    from jounce.dynamics.constraints.constrained import ConstrainedDynamics
    from jounce.dynamics.linearization import Linearization
    from jounce.dynamics.statics import Equilibrium

Array = NDArray[np.float64]
_NUMBERS = 12  # columns of matrices that are written out
_ROOTS = 12  # eigenvalues that are listed
_TIES = 40  # constraints that are listed
_WIDE = 420.0  # pixels, of a map of A and B
_WRENCH = ("fx", "fy", "fz", "nx", "ny", "nz")


def linearization_html(lin: Linearization) -> str:
    head = title(repr(lin)[1:-1], f"x' = A x + B u, {lin.frame} axes")
    if lin.A.ndim != 2 or not lin.A.size:
        return boxed(head)
    states, inputs = _state_names(lin), _input_names(lin)
    both = np.concatenate([lin.A, lin.B], axis=1)
    if both.shape[1] <= _NUMBERS:
        marks = ["", *(plain(name) for name in states + inputs)]
        matrix = table((), [marks] + [[plain(name), *map(number, row)] for name, row in zip(states, both, strict=True)])
    else:
        matrix = _map(both, lin.A.shape[1])
        names = table(("", "states x"), [[str(i), plain(name)] for i, name in enumerate(states)])
        names += table(("", "inputs u"), [[str(i), plain(name)] for i, name in enumerate(inputs)])
        matrix += folded("names of states and inputs", f'<div class="side">{names}</div>')
    return boxed(head, f'<div class="side"><div>{matrix}</div><div>{_eigenvalues(lin.reduced()[0])}</div></div>')


def equilibrium_html(rest: Equilibrium) -> str:
    push = float(np.abs(rest.residual).max(initial=0.0))
    lines = [["largest residual", number(push)], ["q", _listed(rest.q)]]
    return boxed(title(repr(rest)[1:-1]), table((), lines), _forces(rest.forces))


def constrained_html(motion: ConstrainedDynamics) -> str:
    head = title(repr(motion)[1:-1])
    if any(force.ndim != 1 for force in motion.forces.values()) or motion.acc.ndim != 1:
        return boxed(head)  # batches and derivatives
    return boxed(head, table((), [["acc", _listed(motion.acc)]]), _forces(motion.forces))


def _forces(forces: Mapping[str, Array]) -> str:
    """The wrenches of constraints; for a gear, the forces on its two joints."""
    if not forces:
        return ""
    rows = [[plain(name), *map(number, force)] for name, force in list(forces.items())[:_TIES]]
    more = [[f"and {len(forces) - _TIES} more"]] if len(forces) > _TIES else []
    return table(("constraint", *_WRENCH), rows + more)


def _listed(values: Array) -> str:
    shown = ", ".join(number(x) for x in values[:10])
    return f"[{shown}{', …' if len(values) > 10 else ''}]"


def _state_names(lin: Linearization) -> list[str]:
    """Of the displacements and of the changes of velocity, after the coordinates of the robot, if it is known."""
    names = _coordinates(lin)
    return [f"δ {name}" for name in names] + [f"δ {name}'" for name in names]


def _coordinates(lin: Linearization) -> Sequence[str]:
    if lin.robot is None:
        return [str(i) for i in range(lin.A.shape[-1] // 2)]
    from jounce.trajectory import names

    return names(lin.robot).v


def _input_names(lin: Linearization) -> list[str]:
    names = _coordinates(lin)
    return [f"τ {names[i]}" for i in lin.actuated] + list(lin.inputs)


def _eigenvalues(A: Array) -> str:
    """Counted by their sign, and listed from the least stable on, pairs in one line."""
    roots, errors = _roots(A)
    up, down = int((roots.real > errors).sum()), int((roots.real < -errors).sum())
    counts = f"{len(roots)} eigenvalues: {up} unstable, {down} stable, {len(roots) - up - down} on the axis"
    pairs = [(root, error) for root, error in zip(roots.tolist(), errors.tolist(), strict=True) if root.imag >= -error]
    often = Counter((_root(*pair), _meaning(*pair)) for pair in pairs)
    lines = [[root, f"× {n}" if n > 1 else "", meaning] for (root, meaning), n in list(often.items())[:_ROOTS]]
    more = [["…", "", f"and {len(often) - _ROOTS} more"]] if len(often) > _ROOTS else []
    return f"<div>{counts}</div>" + table(("1/s", "", ""), lines + more)


def _roots(A: Array) -> tuple[NDArray[np.complex128], Array]:
    """The eigenvalues, and how far off rounding may have moved each: far where several coincide.

    To first order, a change dA moves an eigenvalue by y^H dA x / y^H x, with its left and right eigenvectors y and x;
    two that coincide move by the square root of it.
    """
    roots, right = np.linalg.eig(A)
    try:
        left = np.abs(np.linalg.inv(right)).max(axis=1)
    except np.linalg.LinAlgError:  # exactly parallel eigenvectors
        left = np.full(len(roots), np.inf)
    condition = len(roots) ** 0.5 * left  # at least |y| |x| / |y^H x|, as |x| = 1
    most, eps = float(np.linalg.norm(A)), float(np.finfo(float).eps)
    errors = 10 * np.minimum(eps * most * condition, eps**0.5 * most)
    order = np.lexsort((-roots.imag, -roots.real))
    return roots[order].astype(np.complex128), errors[order]


def _root(root: complex, error: float) -> str:
    real = number(0.0 if abs(root.real) <= error else root.real)
    return real if abs(root.imag) <= error else f"{real} ± {number(root.imag)} i"


def _meaning(root: complex, error: float) -> str:
    words = []
    if root.real > error:
        words.append(f"unstable, doubles in {number(np.log(2) / root.real)} s")
    elif root.real < -error:
        words.append(f"stable, halves in {number(-np.log(2) / root.real)} s")
    if abs(root.imag) > error:
        words.append(f"{number(root.imag / (2 * np.pi))} Hz")
    return ", ".join(words)


def _map(matrix: Array, split: int) -> str:
    """A and B as a picture: orange for positive and blue for negative numbers, stronger for larger ones, by decades."""
    size = np.abs(matrix) / max(float(np.abs(matrix).max()), 1e-300)
    strength = np.clip(1 + np.log10(np.maximum(size, 1e-300)) / 5, 0.0, 1.0)  # over five decades
    pixels = np.zeros((*matrix.shape, 4), dtype=np.uint8)
    pixels[..., :3] = np.where((matrix > 0)[..., None], (0xD5, 0x5E, 0x00), (0x00, 0x72, 0xB2))
    pixels[..., 3] = (255 * np.where(strength > 0, 0.12 + 0.88 * strength, 0.0)).astype(np.uint8)
    rows, columns = matrix.shape
    cell = min(9.0, _WIDE / columns)
    look = "image-rendering:pixelated;border:1px solid #8886"
    parts = []
    for name, some in (("A", pixels[:, :split]), ("B", pixels[:, split:])):
        if some.shape[1]:
            data = base64.b64encode(png(np.ascontiguousarray(some))).decode()
            wide, high = cell * some.shape[1], cell * rows
            style = f"width:{wide:.0f}px;height:{high:.0f}px;background:none;max-width:none;{look}"
            picture = f'<img alt="{name}" src="data:image/png;base64,{data}" style="{style}">'
            parts.append(f'<div><div class="dim">{name}</div>{picture}</div>')
    return f'<div class="side">{"".join(parts)}</div>'


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file of (rows, columns, 4) pixels: red, green, blue, opacity."""
    rows, columns, _ = pixels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(lines)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
