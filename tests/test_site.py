"""The documentation site: nothing is missing from it, and it works from a folder, without the network, on a phone.

Most of this needs the extra `docs`, and Chromium; what only reads the pages is tested everywhere.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from inspect import ismodule
from pathlib import Path
from types import ModuleType

import pytest

import jounce as jn
from jounce.view import browser

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md"))


def _prose(page: str) -> str:
    """A page without its code."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.sub(r"`[^`\n]+`", "", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


@pytest.fixture(scope="module")
def gallery() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_gallery", DOCS / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_navigation_has_every_page_once(gallery: ModuleType) -> None:
    assert sorted(gallery.navigation()) == PAGES


def test_the_gallery_is_up_to_date(gallery: ModuleType) -> None:
    for file, text in gallery.pages().items():
        assert file.exists(), f"python docs/gallery.py would write {file.name}"
        assert file.read_text(encoding="utf-8") == text, f"python docs/gallery.py would change {file.name}"
    made = {file.relative_to(DOCS).as_posix() for file in gallery.pages()}
    assert {page for page in PAGES if page.startswith("examples/")} <= made


def test_the_gallery_has_every_picture() -> None:
    drawn = {file.name for file in (DOCS / "figures").glob("*.png")}
    shown = set(re.findall(r"\(figures/([\w.]+)\)", (DOCS / "gallery.md").read_text(encoding="utf-8")))
    assert drawn <= shown, "a picture that no page shows"
    assert all((DOCS / "figures" / name).exists() for name in shown)


@pytest.mark.parametrize("page", PAGES)
def test_links_stay_on_the_site(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\((?!\w+:)([^)#\s]+)", text):
        file = ((DOCS / page).parent / target).resolve()
        assert file.is_relative_to(DOCS), f"{target} is not on the site; write it as code, without a link"
        assert file.exists(), target


class Sources(HTMLParser):
    """What a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "img", "iframe"):
            self.found.append(given.get("src") or "")
        if tag == "link" and given.get("rel") != "canonical":
            self.found.append(given.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("needs 'jounce[docs]'")
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    for part in ("docs", "examples", "src"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_each_page_is_built_and_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in PAGES:
        reader = Sources()
        reader.feed((site / page).with_suffix(".html").read_text(encoding="utf-8"))
        assert len(reader.found) > 4
        for source in reader.found:
            assert not re.match(r"\w+:|//", source) or source.startswith("data:"), f"{page} loads {source}"


FORMULAS = [page for page in PAGES if re.search(r"\$[^$\n]+\$|^\$\$$", _prose(page), re.MULTILINE)]


@pytest.mark.parametrize("page", FORMULAS)
def test_formulas_are_mathematics(site: Path, page: str) -> None:
    """MathML, written when the site is built: one element for each, and nothing left of TeX or of its escapes."""
    html = (site / page).with_suffix(".html").read_text(encoding="utf-8")
    article = html.split("<article", 1)[1].split("</article>", 1)[0]
    blocks = re.findall(r"^\$\$\n.*?^\$\$$", _prose(page), re.DOTALL | re.MULTILINE)
    inline = re.findall(r"\$[^$]+\$", re.sub(r"^\$\$\n.*?^\$\$$", "", _prose(page), flags=re.DOTALL | re.MULTILINE))
    assert article.count("<math ") == len(blocks) + len(inline)
    assert article.count('display="block"') == len(blocks)
    for text in re.findall(r"<math .*?</math>", article, re.DOTALL):
        assert not re.search(r"\\|\$|klzzw|&amp;", re.sub(r"<[^>]+>", "", text)), text
    assert "$" not in re.sub(r"<pre.*?</pre>|<code.*?</code>", "", article, flags=re.DOTALL)


def test_papers_and_notation_have_formulas() -> None:
    assert set(FORMULAS) >= {"notation.md", *(f"paper_{paper}.md" for paper in "abcd")}


def test_everything_public_is_in_the_reference(site: Path) -> None:
    """Of a module, at least something is."""
    reference = "".join(page.read_text(encoding="utf-8") for page in site.glob("api_*.html"))
    wanted = {f"jounce.{name}": "." if ismodule(getattr(jn, name)) else '"' for name in jn.__all__}
    wanted |= {f"jounce.Model.{name}": '"' for name in dir(jn.Model) if not name.startswith("_")}
    assert not [name for name, end in wanted.items() if f'id="{name}{end}' not in reference]


def test_formulas_need_no_network(phone: browser.Browser, site: Path) -> None:
    """Nor scripts: the browser sets them, taller than a line of text where they are."""
    for page in ("paper_c.html", "notation.html"):
        phone.requests.clear()
        visit(phone, site / page)
        sizes = phone.ask(
            "JSON.stringify([...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().height))"
        )
        assert min(json.loads(sizes)) > 4
        assert all(request.startswith(("file:", "data:", "blob:")) for request in phone.requests)


def test_signatures_have_a_line_for_each_argument(site: Path) -> None:
    """This takes a formatter, which is why ruff is among the packages for the documentation."""
    text = re.sub(r"<[^>]+>", "", (site / "api_model.html").read_text(encoding="utf-8"))
    assert re.search(r"^inverse_dynamics\(\n    q: ArrayLike,\n    v: ArrayLike,\n", text, re.MULTILINE)


@pytest.fixture(scope="module")
def phone(site: Path) -> Iterator[browser.Browser]:
    if browser.program() is None or importlib.util.find_spec("websockets") is None:
        pytest.skip("needs Chromium")
    with browser.Browser(400, 800) as opened:
        yield opened


def visit(phone: browser.Browser, file: Path) -> None:
    phone.open(file.as_uri())
    phone.until(f"location.href.startsWith('{file.as_uri()}') && document.readyState === 'complete'")


def test_search_works_from_a_folder(phone: browser.Browser, site: Path) -> None:
    phone.errors.clear()
    phone.requests.clear()
    visit(phone, site / "index.html")
    phone.until("!!document.querySelector('.md-search__button')")
    phone.ask("document.querySelector('.md-search__button').click()")
    dialog = "(document.activeElement.shadowRoot || document)"  # which is a tree of its own
    phone.until(f"{dialog}.activeElement.tagName === 'INPUT'")
    phone.call("Input.insertText", text="buckles")  # a word of one page
    phone.until(f"!!{dialog}.querySelector('a[href*=soft_module]')")
    for kind in ("keyDown", "keyUp"):
        phone.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13)
    phone.until("location.href.includes('soft_module.html')")
    assert "buckles" in phone.until("document.readyState === 'complete' && document.body.innerText")
    assert not phone.errors
    assert all(request.startswith(("file:", "data:", "blob:")) for request in phone.requests)


@pytest.mark.parametrize("page", ["index", "gallery", "api_model", "loading", "performance", "examples/flip"])
def test_pages_fit_a_phone(phone: browser.Browser, site: Path, page: str) -> None:
    visit(phone, site / f"{page}.html")
    assert phone.ask("document.documentElement.scrollWidth") <= 400
    code = "[...document.querySelectorAll(':is(.language-python, .doc-signature) pre > code')]"
    assert phone.ask(f"{code}.length") > 0 or page in ("gallery", "performance")
    assert phone.ask(f"{code}.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText)") == []
    assert phone.ask("[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)") == []
