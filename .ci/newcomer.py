"""What a newcomer has and does: a copy of the tree, and README's two commands."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def copy_of_tree(target: Path) -> None:
    """The files that are tracked, or new and not ignored, as they are now."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    for name in sorted(set(listed.split("\0")) - {""}):
        source = ROOT / name
        if source.is_file() or source.is_symlink():  # a tracked file may have been deleted
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name, follow_symlinks=False)


def readme_lines(readme: str) -> tuple[str, str]:
    """The commands that install and fly the demo, and that install and test, as they stand there."""
    section = re.search(r"^## Two commands\n(.*?)(?=^## |\Z)", readme, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^    (\S.*)$", section[1], re.MULTILINE) if section else []
    if len(lines) != 2:
        raise SystemExit(f"README.md has {len(lines)} indented lines under 'Two commands', expected two: {lines}")
    return lines[0], lines[1]


def with_option(line: str, option: str) -> str:
    """README's line of tests with one more option for pytest."""
    command = re.sub(r"\s+#.*", "", line)
    if not command.endswith("pytest"):
        raise SystemExit(f"README's line of tests ends in {command.split()[-1]!r}, expected pytest: {line}")
    return f"{command} {option}"
