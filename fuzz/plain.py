"""Random mutations, blind to what they reach: the same inputs for the same seed on every machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

MOST = 20_000  # bytes of an input
NUMBERS = (0, 1, 2, 7, 16, 31, 32, 63, 64, 127, 128, 254, 255)


Mutation = Callable[[bytes, random.Random], bytes]


def inputs(seeds: Sequence[bytes], words: Sequence[bytes], seed: int, own: Mutation | None = None) -> Iterator[bytes]:
    """The seeds as they are, then mutated endlessly; half the time by the target's own mutation, if it has one."""
    yield from seeds
    rng = random.Random(seed)
    while True:
        data, times = rng.choice(seeds), 1 + int(rng.expovariate(0.5))
        ours = own is not None and rng.random() < 0.5
        for _ in range(times):
            try:
                data = own(data, rng) if own and ours else mutated(data, rng, seeds, words)
            except ValueError:  # it can no longer be applied
                break
        yield data[:MOST]


def mutated(data: bytes, rng: random.Random, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """One mutation."""
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + 1 + int(rng.expovariate(0.1)))
    piece = data[at:end]
    match rng.randrange(8):
        case 0 if piece:  # another bit
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        case 1 if piece:  # another byte
            return data[:at] + bytes([rng.choice(NUMBERS)]) + data[at + 1 :]
        case 2:  # a piece removed
            return data[:at] + data[end:]
        case 3:  # a piece repeated, once or many times
            return data[:at] + piece * rng.choice((2, 2, 3, 50)) + data[end:]
        case 4:  # a piece from elsewhere
            other = rng.choice(seeds)
            start = rng.randrange(len(other) + 1)
            return data[:at] + other[start : start + 1 + int(rng.expovariate(0.03))] + data[end:]
        case 5 | 6 if words:  # a word, inserted or in place of a token
            word = rng.choice(words)
            return data[:at] + word + (data[at:] if rng.random() < 0.5 else data[_token(data, at) :])
        case 7:  # the end cut off
            return data[:at] if rng.random() < 0.2 else data
    return data[:at] + rng.randbytes(rng.randrange(1, 5)) + data[end:]


def _token(data: bytes, at: int) -> int:
    """The end of the word that `at` is in."""
    while at < len(data) and chr(data[at]) not in " \"'<>=/":
        at += 1
    return at
