"""Writes the gallery and a page for each example and notebook, from the pages, the examples and their pictures.

    python docs/gallery.py     # tests/test_site.py fails if it was forgotten after adding one of these

An example's page has the story at the top of its file, its picture and its code. The gallery has these pictures and
those of all other pages, in the order of the site's navigation, each a link to where it comes from.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
import notebook_pages  # noqa: E402

EXAMPLES = DOCS.parent / "examples"
MADE = re.compile(r"gallery\.md|(examples|notebooks)/\w+\.md")

INTRODUCTION = """\
# Gallery

Every picture is a link to what it shows: an example with its code, or the section of a guide.
"""


class Picture(NamedTuple):
    name: str  # of its file in docs/figures
    text: str
    page: str  # with the anchor of the section


def navigation() -> list[str]:
    """The pages of the site, in their order."""
    settings = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    return re.findall(r"[\w/]+\.md\b", settings.split("\nnav:", 1)[1])


def anchor(heading: str) -> str:
    """What the site calls a section."""
    plain = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
    return re.sub(r"[-\s]+", "-", plain).strip("- ").lower()


def pictures_of(page: str) -> list[Picture]:
    """Those that a page shows, with the section each of them is in."""
    text = re.sub(r"^```.*?^```", "", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found, place = [], page
    for line in text.splitlines():
        if heading := re.match(r"##+ (.*)", line):
            place = f"{page}#{anchor(heading[1])}"
        found += [Picture(name, shown, place) for shown, name in re.findall(r"!\[([^\]]*)\]\(figures/([^)]+)\)", line)]
    return found


def guides() -> dict[str, Picture]:
    """The pictures of all pages, by name; of two places the first."""
    found: dict[str, Picture] = {}
    for page in navigation():
        if not MADE.fullmatch(page):
            for picture in pictures_of(page):
                found.setdefault(picture.name, picture)
    return found


def examples() -> list[str]:
    files = sorted(EXAMPLES.glob("*.py"))
    return [file.stem for file in files if "Not an example itself" not in file.read_text(encoding="utf-8")]


def story(example: str) -> tuple[str, str, int]:
    """The first line of its docstring, the rest, and the line at which the code begins."""
    tree = ast.parse((EXAMPLES / f"{example}.py").read_text(encoding="utf-8"))
    lead, _, rest = (ast.get_docstring(tree) or "").partition("\n\n")
    return " ".join(lead.split()), rest, tree.body[1].lineno


def example_page(example: str, shown: dict[str, Picture]) -> str:
    lead, rest, line = story(example)
    title, _, subject = lead.partition(": ")
    about = subject or lead
    picture = shown.get(f"{example}.png")
    parts = [
        f"# {title.split(',')[0]}",
        f"**{about[0].upper()}{about[1:]}**",
        f"![{picture.text if picture else lead}](../figures/{example}.png)",
        rest.rstrip(),
    ]
    if picture:
        parts.append(f"The guide tells more: [{heading_of(picture.page)}](../{picture.page}).")
    parts.append(f'```python title="examples/{example}.py"\n--8<-- "examples/{example}.py:{line}:"\n```')
    return "\n\n".join(parts) + "\n"


def heading_of(page: str) -> str:
    """The title of a page."""
    return (DOCS / page.partition("#")[0]).read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def gallery(shown: dict[str, Picture]) -> str:
    order = {page: i for i, page in enumerate(navigation())}
    own = [Picture(f"{name}.png", story(name)[0].rstrip("."), f"examples/{name}.md") for name in examples()]
    own.sort(key=lambda picture: order.get(picture.page, len(order)))
    drawn = {picture.name for picture in own}
    others = [picture for name, picture in shown.items() if name not in drawn]
    lists = {"Examples": own, "In the guides": others}
    return INTRODUCTION + "".join(f"\n## {title}\n\n" + "".join(map(entry, some)) for title, some in lists.items())


def entry(picture: Picture) -> str:
    return f"- [![{picture.text}](figures/{picture.name})]({picture.page}) {picture.text}\n"


def pages() -> dict[Path, str]:
    """What is to be written where."""
    shown = guides()
    made = {DOCS / "examples" / f"{name}.md": example_page(name, shown) for name in examples()}
    made |= {file.with_suffix(".md"): notebook_pages.page(file) for file in sorted(DOCS.glob("notebooks/*.ipynb"))}
    return {**made, DOCS / "gallery.md": gallery(shown)}


def main() -> None:
    for file, text in pages().items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        print(file.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
