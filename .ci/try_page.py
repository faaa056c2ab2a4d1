"""Follows a page of the documentation on a copy of the tree: writes its files, applies its changes, builds the core and
runs its Python.

    python .ci/try_page.py docs/adding_an_algorithm.md

A block ```cpp title="PATH"``` is a file, a block ```diff``` is applied, a block ```python``` is run at the end, with
the module that was built, also where its title says what it needs. It needs what installing jounce needs, and takes a
few minutes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from newcomer import copy_of_tree


def main() -> None:
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)([^\n]*)\n(.*?)^```$", page, re.M | re.S)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "jounce"
        copy_of_tree(copy)
        for language, title, text in blocks:
            if language != "python" and (found := re.search(r'title="([^"]+)"', title)):
                (copy / found[1]).write_text(text, encoding="utf-8")
                print("wrote", found[1])
            elif language == "diff":
                subprocess.run(["patch", "-p1", "--no-backup-if-mismatch"], cwd=copy, input=text, text=True, check=True)
        site = Path(folder) / "site"
        build = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(site), "--no-deps", str(copy)]
        subprocess.run(build, check=True)
        program = "\n".join(text for language, title, text in blocks if language == "python")
        environment = {**os.environ, "PYTHONPATH": str(site)}
        subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    print("all of it holds")


if __name__ == "__main__":
    main()
