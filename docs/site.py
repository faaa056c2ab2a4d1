"""Adapts the pages for the site: they are written to be readable in the repository as well."""

import logging
import re
from inspect import ismodule
from pathlib import Path

import jounce as jn

log = logging.getLogger("mkdocs.hooks.jounce")
NEEDS = re.compile(r"^```python \w+$", re.MULTILINE)  # the package that a code block needs, for the tests
OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")  # a link to a file of the repository that is not a page


def on_page_markdown(markdown: str, **_: object) -> str:
    return OUTSIDE.sub(r"`\1`", NEEDS.sub("```python", markdown))


def on_post_build(config: dict, **_: object) -> None:
    """Everything public is in the reference; of a module, at least something is."""
    reference = "".join(page.read_text() for page in Path(config["site_dir"]).glob("api_*.html"))
    wanted = {f"jounce.{name}": "." if ismodule(getattr(jn, name)) else '"' for name in jn.__all__}
    wanted |= {f"jounce.Model.{name}": '"' for name in dir(jn.Model) if not name.startswith("_")}
    for name, end in wanted.items():
        if f'id="{name}{end}' not in reference:
            log.warning("%s is not in the API reference", name)
