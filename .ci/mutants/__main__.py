"""Mutation testing of the C++ core: breaks its lines, one at a time, and sees whether a test fails.

    python .ci/mutants             # mutants of the sources as they are; resumes if it was stopped
    python .ci/mutants --report    # what became of them so far
    python .ci/mutants --again     # survivors once more, with all tests: at the end, or with new tests
    python .ci/mutants --seed 2    # other mutants
    python .ci/mutants --only '*constraint*' --count 150    # mutants of some files

It needs g++, nanobind and what `pip install '.[test]'` installs, 10 minutes for the build and the tests without a
mutant, then seconds per mutant. Everything is written below build/mutants.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ALL = 1 << 20
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--count", type=int, default=800, help="mutants to try; one in eight does not compile (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="which mutants (default: %(default)s)")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="PATTERN",
        default=["*"],
        help="files to mutate, like 'include/jounce/constraint*' or '*constraint*' (default: all)",
    )
    parser.add_argument("--jobs", type=int, default=2, help="compilers at once (default: %(default)s)")
    parser.add_argument(
        "--budget", type=float, help="seconds of tests a mutant at most (default: 20; all with --again)"
    )
    parser.add_argument(
        "--scratch", type=Path, default=ROOT / "build/mutants", help="folder to work in (default: build/mutants)"
    )
    parser.add_argument("--cases", type=int, help="cases of a test at most (default: 6; all with --again)")
    parser.add_argument("--limit", type=int, help="mutants to do now (default: all)")
    parser.add_argument("--again", action="store_true", help="run the survivors again, with tests added since")
    parser.add_argument("--report", action="store_true", help="only show the results")
    parser.add_argument("--learn", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def state_of_sources(args: argparse.Namespace) -> str:
    from mutated_core import sources

    text = "".join((ROOT / file).read_text() for file in sources(ROOT))
    return hashlib.sha256(f"{args.count} {args.seed} {args.only} {text}".encode()).hexdigest()


def make(args: argparse.Namespace) -> None:
    """Makes the library with mutants, unless it exists already."""
    from mutated_core import Build, as_dict

    plan = args.scratch / "plan.json"
    state = state_of_sources(args)
    build = Build(ROOT, args.scratch, args.jobs)
    if plan.exists() and json.loads(plan.read_text())["state"] == state:
        build.copy_python()
        return
    args.scratch.mkdir(parents=True, exist_ok=True)
    for name in ("plan.json", "baseline.json", "results.json"):
        (args.scratch / name).unlink(missing_ok=True)
    mutants = build.make(args.count, args.seed, args.only)
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version
    info = build.package / f"jounce-{version[1]}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: jounce\nVersion: {version[1]}\n")
    plan.write_text(json.dumps({"state": state, "size": build.size, "mutants": as_dict(mutants)}, indent=1))
    print(f"{len(mutants)} mutants compile", flush=True)


def run(args: argparse.Namespace) -> None:
    """In a process that has the library on its path."""
    from mutated_core import Build
    from runner import Baseline, Hunt, pytest_with

    plan = json.loads((args.scratch / "plan.json").read_text())
    library = Build(ROOT, args.scratch).library()
    if args.learn:
        pytest_with(Baseline(args.scratch, library, plan["size"], args.cases), ROOT)
    else:
        how_much = (args.limit, args.budget, args.cases)
        pytest_with(Hunt(args.scratch, library, plan["mutants"], plan["size"], *how_much), ROOT)


def main() -> None:
    from report import alive, report

    args = arguments()
    args.scratch = args.scratch.resolve()
    baseline, results = args.scratch / "baseline.json", args.scratch / "results.json"
    if "JOUNCE_MUTANTS_INSIDE" in os.environ:
        return run(args)
    status = 0
    if not args.report:
        make(args)
        if args.again and results.exists():
            plan = json.loads((args.scratch / "plan.json").read_text())["mutants"]
            found = json.loads(results.read_text())
            for mutant in alive(plan, found):
                found[str(mutant["number"])] = {"how": "again"}
            results.write_text(json.dumps(found, indent=1))
        budget = args.budget or (ALL if args.again else 20)
        cases = args.cases or (ALL if args.again else 6)
        environment = os.environ | {
            "JOUNCE_MUTANTS_INSIDE": "1",
            "PYTHONPATH": os.pathsep.join([str(args.scratch / "package"), str(ROOT / "tests")]),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(args.scratch / "hypothesis"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, str(HERE), "--scratch", str(args.scratch), "--budget", str(budget)]
        command += ["--cases", str(cases), *(["--limit", str(args.limit)] if args.limit else [])]
        if args.again or not baseline.exists():
            print("the tests without a mutant", flush=True)
            subprocess.run([*command, "--learn"], env=environment, check=False)
            tests = json.loads(baseline.read_text())["tests"]
            failing = [name for name, test in tests.items() if not test["passed"]]
            print(
                f"{len(tests)} tests; left out, as they fail without a mutant: {', '.join(failing) or 'none'}",
                flush=True,
            )
        status = subprocess.run(command, env=environment, check=False).returncode
    plan = json.loads((args.scratch / "plan.json").read_text())
    print(report(plan["mutants"], json.loads(results.read_text()) if results.exists() else {}))
    sys.exit(status)


if __name__ == "__main__":
    main()
