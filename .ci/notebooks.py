"""Runs the notebooks of the documentation from top to bottom; fails if a cell does, or if a file is too large.

    python .ci/notebooks.py             # checks
    python .ci/notebooks.py --write     # and keeps what the cells showed

Needs nbclient and ipykernel.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

NOTEBOOKS = Path(__file__).resolve().parents[1] / "docs/notebooks"
LARGEST = 300_000  # bytes


def run(file: Path, seconds: int = 300) -> nbformat.NotebookNode:
    """The notebook with what its cells show now."""
    book = nbformat.read(file, as_version=4)
    with tempfile.TemporaryDirectory() as folder:  # where cells write their files
        NotebookClient(book, timeout=seconds, resources={"metadata": {"path": folder}}).execute()
    return plain(book)


def plain(book: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The same, without when, where and by which versions it was run."""
    book.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    for i, cell in enumerate(book.cells):
        cell.metadata, cell.id = {}, f"cell-{i}"
        for output in cell.get("outputs", ()):
            output.metadata = {}
    return book


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep what the cells show")
    write = parser.parse_args().write
    wrong = []
    for file in sorted(NOTEBOOKS.glob("*.ipynb")):
        try:
            book = run(file)
        except CellExecutionError as error:
            wrong.append(f"{file.name}: {error}")
            continue
        text = nbformat.writes(book) + "\n"
        if len(text) > LARGEST:
            wrong.append(f"{file.name} has {len(text)} bytes, expected at most {LARGEST}")
        elif write:
            file.write_text(text, encoding="utf-8")
        print(f"{file.name}: {len(book.cells)} cells, {len(text) / 1e3:.0f} kB")
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
