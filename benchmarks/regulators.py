"""Regulators and systems in discrete time: times as fast as SciPy and python-control, in the same run, one thread.

    pip install '.[control]' ./lab control && python benchmarks/regulators.py

The same races as ``jounce bench --only regulator --only 'discrete time'``, whose answers are compared first.
"""

from __future__ import annotations

from jounce_lab.bench.cases import cases
from jounce_lab.bench.hover import CONTROL
from jounce_lab.bench.run import raced


def main() -> None:
    for case in cases(full=False):
        if case.quantity not in CONTROL:
            continue
        result = raced(case, 0.3)
        whole = result["microseconds"] * case.states
        print(f"{case.name}: {whole:.0f} µs")
        for peer in result["peers"]:
            if peer["status"] == "raced":
                print(f"  {peer['ratio']:.1f} times as fast as {peer['peer']} {peer['call']}, ", end="")
                print(f"answers differ by {peer['error']:.0e}")
            else:
                print(f"  {peer['peer']}: {peer['status']}, {peer['why']}")


if __name__ == "__main__":
    main()
