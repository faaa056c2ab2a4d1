"""All results as one self-contained HTML page: pictures inside, no network."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from pathlib import Path

from ..bench.machine import machine
from .claims import VERDICTS, Claim, Result, Verdict
from .registry import EXPERIMENTS

_PAPERS = {
    "A": "A. Ali, C. Gabellieri, A. Franchi: Lie Group Formulation of Recursive Dynamics Algorithms of Higher Order "
    "for Floating-Base Robots",
    "B": "M. Bos, S. Traversaro, D. Pucci, A. Saccon: Efficient Geometric Linearization of Moving-Base Rigid "
    "Robot Dynamics",
    "C": "S. Kumar, A. Müller: Nth Order Analytical Time Derivatives of Inverse Dynamics in Recursive and Closed Forms",
    "D": "P. Pustina, C. Della Santina, A. De Luca: Unified Inverse Dynamics of Modular Serial Mechanical Systems with "
    "Application to Soft Robotics",
}
_CLASSES = dict(zip(VERDICTS, ("yes", "reading", "damaged", "changed", "no", "open"), strict=True))
_MARKS = dict(zip(VERDICTS, "✓✓✓≈✗?", strict=True))


def write_report(results: Mapping[str, Result], path: Path, seconds: float) -> Path:
    """Writes the page; `seconds` is how long the experiments took."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_page(results, seconds), encoding="utf-8")
    return path


def _page(results: Mapping[str, Result], seconds: float) -> str:
    m = machine()
    versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items() if version)
    papers = "".join(f"<p><b>{key}</b> {escape(title)}</p>" for key, title in _PAPERS.items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>jounce: the papers, reproduced</title><style>{_STYLE}</style></head><body><main>
<h1>The papers, reproduced</h1>
<p class="soft">{escape(m["processor"])}, {m["cores"]} cores, {escape(m["instruction_set"])} kernels, {m["date"]};
Python {m["python"]}, {escape(versions)}; {seconds:.0f} s.</p>
{papers}{_summary(results)}{"".join(_section(name, result) for name, result in results.items())}
</main></body></html>
"""


def _summary(results: Mapping[str, Result]) -> str:
    rows = []
    for name, result in results.items():
        verdicts = [c.verdict for c in result.claims]
        cells = "".join(f'<td class="n">{verdicts.count(v) or ""}</td>' for v in VERDICTS)
        rows.append(f'<tr><td><a href="#{name}">{name}</a></td><td>{escape(EXPERIMENTS[name].title)}</td>{cells}</tr>')
    heads = "".join(f"<th>{_chip(verdict)}</th>" for verdict in VERDICTS)
    return f"<table><thead><tr><th></th><th></th>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _section(name: str, result: Result) -> str:
    claims = "".join(_row(c) for c in result.claims)
    left_out = "".join(f"<li><b>{escape(what)}</b>: {escape(chosen)}</li>" for what, chosen in result.left_out)
    figures = "".join(_figure(path, caption) for path, caption in result.figures)
    notes = "".join(f"<p>{escape(note)}</p>" for note in result.notes)
    data = ", ".join(f"<code>{escape(p.name)}</code>" for p in result.data)
    return f"""<section id="{name}"><h2>{name}<span>{escape(EXPERIMENTS[name].title)}</span></h2>
<table class="claims"><thead><tr><th>claim</th><th>paper</th><th>here</th><th>verdict</th></tr></thead>
<tbody>{claims}</tbody></table>{figures}{notes}
{f"<h3>Not in the paper, chosen here</h3><ul>{left_out}</ul>" if left_out else ""}
{f'<p class="soft">Data: {data}, next to this page.</p>' if data else ""}</section>"""


def _row(claim: Claim) -> str:
    why = f'<div class="why">{escape(claim.why)}</div>' if claim.why else ""
    return (
        f'<tr><td>{escape(claim.text)}<div class="soft">{escape(claim.where)}</div>{why}</td>'
        f"<td>{escape(claim.paper)}</td><td>{escape(claim.ours)}</td><td>{_chip(claim.verdict)}</td></tr>"
    )


def _chip(verdict: Verdict) -> str:
    return f'<span class="chip {_CLASSES[verdict]}">{_MARKS[verdict]} {verdict}</span>'


def _figure(path: Path, caption: str) -> str:
    image = base64.b64encode(path.read_bytes()).decode("ascii")
    caption = escape(caption, quote=True)
    return f'''<figure><img alt="{caption}" src="data:image/png;base64,{image}">
<figcaption>{caption}</figcaption></figure>'''


_STYLE = """
:root { --ink: #1f2933; --soft: #66727f; --line: #dfe5ec; }
body { margin: 0; background: #f4f6f8; color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 40px 28px 80px; background: #fff; }
h1 { font-size: 28px; letter-spacing: -.02em; margin: 0 0 4px; }
h2 { margin: 56px 0 10px; padding-top: 12px; border-top: 2px solid var(--ink); font-size: 20px; }
h2 span { display: block; color: var(--soft); font-size: 15px; font-weight: 400; }
h3 { font-size: 15px; margin: 22px 0 4px; }
p { margin: 6px 0; }
ul { margin: 0; padding-left: 20px; }
.soft, .why { color: var(--soft); font-size: 13px; }
.why { color: #46525e; }
table { width: 100%; border-collapse: collapse; margin: 16px 0; }
th { text-align: left; font-size: 12px; font-weight: 600; color: var(--soft); padding: 6px 10px; }
td { vertical-align: top; padding: 8px 10px; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
td.n { text-align: center; }
.claims { table-layout: fixed; }
.claims th:nth-child(1) { width: 46%; } .claims th:nth-child(2) { width: 18%; }
.claims th:nth-child(4) { width: 156px; }
.chip { display: inline-block; padding: 1px 9px; border-radius: 10px; font-size: 12.5px; }
.yes { background: #d7f0e7; color: #00563f; } .reading { background: #e3f2dc; color: #34571f; }
.damaged { background: #ece6f5; color: #4d3a75; } .no { background: #fbe0d0; color: #8a3b00; }
.changed { background: #dcecf7; color: #1d4f73; } .open { background: #e8ecf1; color: #4b5764; }
figure { margin: 22px 0; } img { max-width: 100%; display: block; } figcaption { color: var(--soft); font-size: 13px; }
a { color: #0072b2; }
code { font-size: 13px; }
"""
