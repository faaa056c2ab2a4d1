"""Pseudo-inverses, and the least multipliers that produce a force: against NumPy and the conditions for least norm."""

from __future__ import annotations

import numpy as np
import pytest
from jounce._core import least_multipliers, pseudo_inverse


def matrix(rng: np.random.Generator, m: int, n: int, rank: int, spread: float = 2.0) -> np.ndarray:
    """A matrix with singular values between 10^-spread and 1."""
    U, V = (np.linalg.qr(rng.normal(size=(k, k)))[0][:, :rank] for k in (m, n))
    return U @ np.diag(10 ** -rng.uniform(0, spread, rank)) @ V.T


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 6), (5, 3), (3, 5), (12, 12), (24, 18), (12, 38)])
def test_pseudo_inverse(m: int, n: int) -> None:
    rng = np.random.default_rng(m * n)
    for rank in range(min(m, n) + 1):
        A = matrix(rng, m, n, rank)
        np.testing.assert_allclose(pseudo_inverse(A), np.linalg.pinv(A, rcond=1e-6), rtol=0, atol=1e-10)


def test_pseudo_inverse_of_batches_and_of_nothing() -> None:
    A = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    np.testing.assert_allclose(pseudo_inverse(A), np.linalg.pinv(A), atol=1e-12)
    assert pseudo_inverse(np.zeros((0, 3))).shape == (3, 0)
    assert pseudo_inverse(np.zeros((4, 0, 3))).shape == (4, 3, 0)
    assert not pseudo_inverse(np.zeros((2, 3))).any()
    with pytest.raises(ValueError, match=r"A has shape \(3,\), expected matrices"):
        pseudo_inverse(np.zeros(3))


def test_what_is_below_the_tolerance_counts_as_none() -> None:
    U, V = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))
    for size, rank in ((1e-5, 2), (1e-8, 1)):
        A = np.outer(U[0], V[0]) + size * np.outer(U[1], V[1])
        assert np.linalg.matrix_rank(pseudo_inverse(A), 1e-3 / size if rank == 2 else 1e-3) <= rank
        assert (np.abs(pseudo_inverse(A)).max() > 10) == (rank == 2)


def test_least_multipliers_make_the_same_force_and_are_in_the_range() -> None:
    """J(t) = E(t) A(t) of rank 3: the least l(t) is the projection of any onto the range of E, as a Taylor series."""
    rng, orders, m, n = np.random.default_rng(2), 5, 6, 4
    E, A = rng.normal(size=(orders, m, 3)), rng.normal(size=(orders, 3, n))
    J = np.array([sum(E[j] @ A[k - j] for j in range(k + 1)) for k in range(orders)])
    given = rng.normal(size=(orders, m))
    found = least_multipliers(J, given)

    def product(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
        return [sum(a[j] @ b[k - j] for j in range(k + 1)) for k in range(orders)]

    transposed = np.swapaxes(J, -1, -2)
    np.testing.assert_allclose(product(transposed, found), product(transposed, given), atol=1e-10)
    # E (E^T E)^-1 E^T l, with the inverse as a series.
    back = np.swapaxes(E, -1, -2)
    G = product(back, E)
    wanted: list[np.ndarray] = []
    for k, right in enumerate(product(back, given)):
        left = right - sum((G[j] @ wanted[k - j] for j in range(1, k + 1)), np.zeros(3))
        wanted.append(np.linalg.solve(G[0], left))
    np.testing.assert_allclose(found, product(E, np.array(wanted)), atol=1e-8)
    batch = least_multipliers(np.stack([J, J]), np.stack([given, 2 * given]))
    np.testing.assert_allclose(batch, [found, 2 * found], atol=1e-9)
