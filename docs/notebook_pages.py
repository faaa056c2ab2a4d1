"""Notebooks as pages: their cells as code blocks, and below each what it showed when the notebook was run."""

import json
from html import escape
from pathlib import Path


def page(file: Path) -> str:
    """The Markdown of a notebook."""
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    parts = [_cell(cell) for cell in cells]
    parts.insert(1, f"*This page is a notebook: [{file.name}]({file.name}).*")
    return "\n\n".join(parts) + "\n"


def _cell(cell: dict) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    return "\n\n".join([f"```python\n{source}\n```", *(_shown(each) for each in cell["outputs"])])


def _shown(output: dict) -> str:
    """One output, as HTML in one piece: an empty line would end it."""
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img alt="" src="data:image/png;base64,{"".join(data["image/png"]).strip()}">'
    if "text/html" in data:
        return "<div>" + "".join(data["text/html"]).replace("\n", " ") + "</div>"
    words = "".join(data.get("text/plain", output.get("text", ""))).rstrip()
    return f"<pre><code>{escape(words)}</code></pre>"
