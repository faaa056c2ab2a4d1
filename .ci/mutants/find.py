"""Small mistakes that a C++ source could have: signs, factors, indices, bounds, swapped arguments, missing calls.

Works on tokens. A mutation replaces an expression E by `(JOUNCE_MUTANT(id) ? (E') : (E))`, within its line or lines, so
that line numbers stay the same. If that makes no sense, the compiler rejects it and the mutant is dropped. Sources are
formatted: a binary operator has a space on both sides, a template's bracket does not.
"""

from __future__ import annotations

import bisect
import random
import re
from dataclasses import dataclass
from pathlib import Path

TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)"
    r"|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])')"
    r"|(?P<number>\d[\d.]*(?:[eE][+-]?\d+)?\w*)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<mark>::|->\*?|<=>|[-+*/%&|^]=|<<|[<>=!]=|&&|\|\||\+\+|--|\.\.\.|.)",
    re.DOTALL | re.MULTILINE,
)
BINARY = {
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
}
COMPOUND = {"+=": "-=", "-=": "+=", "|=": "&=", "&=": "|="}
NAMES = dict(
    pair
    for a, b in (
        ("sine", "cosine"),
        ("sin", "cos"),
        ("sine_", "versine_"),
        ("linear", "angular"),
        ("apply", "apply_transpose"),
        ("motion_cross", "wrench_cross"),
        ("turn", "turn_back"),
        ("add_motion_cross", "add_wrench_cross"),
        ("min", "max"),
        ("position", "velocity"),
    )
    for pair in ((a, b), (b, a))
)
MEMBERS = {"x": "y", "y": "z", "z": "x", "v": "w", "w": "v", "first": "second", "second": "first", "d": "x"}
ENDS = {",", ";", "=", "?", ":", "*=", "/=", *COMPOUND}  # of an expression
LOOSER = {
    "+": {"<", "<=", ">", ">=", "==", "!=", "&&", "||", "<<", "&", "|"},
    "<": {"&&", "||"},
    "&&": set(),
}
KEYWORDS = {"return", "else", "do", "throw", "case", "co_return"}
# Lines that compute nothing at run time.
CONSTANT = re.compile(r"\b(constexpr|static_assert|template|requires|using|enum|typedef|fail|asm|alignas)\b")


@dataclass
class Token:
    text: str
    kind: str
    begin: int
    end: int


@dataclass
class Mutation:
    """Replaces source[begin:end]; `change` is a short description."""

    begin: int
    end: int
    changed: str
    change: str
    statement: bool = False

    def selected(self, source: str, number: int) -> str:
        was = source[self.begin : self.end]
        changed = re.sub(r"\s*(//.*)?\n\s*", " ", self.changed)  # or the compiler's line numbers would differ
        test = f"JOUNCE_MUTANT({number})"
        if self.statement and was.endswith(";"):
            return f"{{ if (!{test}) {was} }}"
        if self.statement:
            return f"({test} ? (void)({changed or 0}) : (void)({was}))"
        return f"({test} ? ({changed}) : ({was}))"


def tokens_of(source: str) -> list[Token]:
    found = []
    for match in TOKEN.finditer(source):
        kind = match.lastgroup or "mark"
        if kind != "blank":
            found.append(Token(match.group(), kind, match.start(), match.end()))
    return found


class Source:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)]
        self.match: dict[int, int] = {}
        open_: list[int] = []
        for i, token in enumerate(self.tokens):
            if token.text in "([{":
                open_.append(i)
            elif token.text in ")]}" and open_:
                j = open_.pop()
                self.match[i], self.match[j] = j, i

    def line(self, offset: int) -> int:
        return bisect.bisect_right(self.starts, offset) - 1

    def line_text(self, number: int) -> str:
        return self.text[self.starts[number] :].partition("\n")[0]

    def spaced(self, i: int) -> bool:
        t = self.tokens[i]
        return self.text[t.begin - 1] in " \n" and self.text[t.end] in " \n"

    def expression(self, i: int, ends: set[str]) -> tuple[int, int]:
        """The tokens [first, last] of the expression around token i that ends at these marks."""
        angle, j = 0, i - 1
        while j >= 0:
            text = self.tokens[j].text
            if text in ")]}" and j in self.match:
                k = self.match[j]
                if text == "}" or (text == ")" and self.controls(k)):
                    break
                j = k - 1
                continue
            if text == ">" and not self.spaced(j):
                angle += 1
            elif text == "<" and not self.spaced(j):
                angle -= 1
            elif angle <= 0 and (
                text in "([{" or text in ENDS or text in KEYWORDS or (text in ends and self.spaced(j))
            ):
                break
            j -= 1
        first, j, angle = j + 1, i + 1, 0
        while j < len(self.tokens):
            text = self.tokens[j].text
            if text == "{" and self.tokens[j - 1].text in {")", "const"}:  # the body of a function
                break
            if text in "([{" and j in self.match:
                j = self.match[j] + 1
                continue
            if text == "<" and not self.spaced(j):
                angle += 1
            elif text == ">" and not self.spaced(j):
                angle -= 1
            elif angle <= 0 and (text in ")]}" or text in ENDS or (text in ends and self.spaced(j))):
                break
            j += 1
        return first, j - 1

    def controls(self, paren: int) -> bool:
        before = [t.text for t in self.tokens[max(0, paren - 2) : paren]]
        return before[-1:] in (["if"], ["for"], ["while"], ["switch"]) or before == ["if", "constexpr"]

    def replaced(self, first: int, last: int, at: int, by: str, change: str, statement: bool = False) -> Mutation:
        """The expression of tokens [first, last] with token `at` replaced."""
        begin, end = self.tokens[first].begin, self.tokens[last].end
        t = self.tokens[at]
        return Mutation(begin, end, self.text[begin : t.begin] + by + self.text[t.end : end], change, statement)

    def mutations(self) -> dict[int, list[Mutation]]:
        """By lines."""
        found: dict[int, list[Mutation]] = {}
        for i, token in enumerate(self.tokens[1:-1], 1):
            line = self.line(token.begin)
            if CONSTANT.search(self.line_text(line).partition(" { ")[0]):
                continue
            for mutation in self.at(i, token):
                region = self.text[mutation.begin : mutation.end]
                if region and region.count("\n") < 3 and "JOUNCE_INLINE" not in region:
                    found.setdefault(line, []).append(mutation)
        return found

    def at(self, i: int, token: Token) -> list[Mutation]:
        text, before, after = token.text, self.tokens[i - 1], self.tokens[i + 1]
        if text in BINARY and self.spaced(i):
            kind = "+" if text in "+-*/" else "<" if text[0] in "<>=!" else "&&"
            first, last = self.expression(i, LOOSER[kind])
            by = BINARY[text]
            if text == "<" and self.tokens[last + 1].text == ";" and self.tokens[first].kind == "name":
                by = "+ 1 <"  # a loop: one more would be outside its array, where anything may happen
            return [self.replaced(first, last, i, by, f"{text} to {by}")]
        if text in COMPOUND:
            first = self.expression(i, set())[0]
            last = self.expression(i, set())[1]
            return [self.replaced(first, last, i, COMPOUND[text], f"{text} to {COMPOUND[text]}", statement=True)]
        if text == "-" and (before.text in {"(", ",", "{", "=", "return", "?", ":", "["}):
            first, last = self.expression(i, LOOSER["+"])
            return [self.replaced(first, last, i, "", "sign dropped")]
        if token.kind == "number" and before.text not in {"<", "case"} and after.text != ">":
            if text.isdigit():
                changed = str(int(text) + 1)
            elif re.fullmatch(r"\d+\.\d*", text):
                changed = "1.0" if text == "0.5" else repr(float(text) + max(1.0, float(text) // 10))
            else:
                changed = f"10 * {text}"
            return [Mutation(token.begin, token.end, changed, f"{text} to {changed}")]
        if token.kind == "name":
            return self.at_name(i, token, before, after)
        return []

    def at_name(self, i: int, token: Token, before: Token, after: Token) -> list[Mutation]:
        text, found = token.text, []
        member = before.text in {".", "->"}
        if before.text == "[" and after.text == "]" and self.tokens[i - 2].text not in {"=", "(", ","}:
            found.append(Mutation(token.begin, token.end, f"{text} + 1", f"[{text}] to [{text} + 1]"))
        other = MEMBERS.get(text) if member and after.text != "(" else NAMES.get(text)
        if other and before.text not in {"*", "&", ">"} and before.kind != "name":
            first, last = self.expression(i, LOOSER["+"])
            if first <= last:
                found.append(self.replaced(first, last, i, other, f"{text} to {other}"))
        if after.text == "(" and "cross" in text:
            found += self.swapped(i + 1, text)
        if text in {"continue", "break"} and after.text == ";":
            found.append(Mutation(token.begin, after.end, "", f"no {text}", statement=True))
        if after.text in {"(", ".", "<", "[", "->"} and text not in {
            "if",
            "for",
            "while",
            "switch",
            "return",
            "sizeof",
            "expect",
        }:
            found += self.left_out(i, before)
        return found

    def left_out(self, i: int, before: Token) -> list[Mutation]:
        """A statement that is a call."""
        if not (
            before.text in {";", "{", "}", "else"} or (before.text == ")" and self.controls(self.match.get(i - 1, 0)))
        ):
            return []
        last = self.expression(i, set())[1]
        if self.tokens[last].text != ")" or self.tokens[last + 1].text not in {";", ","}:
            return []
        begin, end = self.tokens[i].begin, self.tokens[last].end
        return [Mutation(begin, end, "", "call left out", statement=True)]

    def swapped(self, paren: int, name: str) -> list[Mutation]:
        close = self.match.get(paren)
        if close is None:
            return []
        commas, j = [], paren + 1
        while j < close:
            if self.tokens[j].text in "([{":
                j = self.match[j]
            elif self.tokens[j].text == ",":
                commas.append(j)
            j += 1
        first, last = self.expression(paren - 1, LOOSER["+"])
        if len(commas) != 1 or last < close or self.tokens[last + 1].text == "{":
            return []
        inner = self.tokens[paren].end
        a = self.text[inner : self.tokens[commas[0]].begin]
        b = self.text[self.tokens[commas[0]].end : self.tokens[close].begin]
        begin, end = self.tokens[first].begin, self.tokens[last].end
        changed = f"{self.text[begin:inner]}{b.strip()}, {a}{self.text[self.tokens[close].begin : end]}"
        statement = self.tokens[first - 1].text in {";", "{", "}", ")"} and self.tokens[last + 1].text in {";", ","}
        return [Mutation(begin, end, changed, f"arguments of {name} swapped", statement)]


def choose(root: Path, files: list[str], count: int, seed: int) -> dict[str, list[Mutation]]:
    """`count` mutations, at most one per line, spread over the files by their mutable lines: at least two per file."""
    dice = random.Random(seed)
    all_ = {file: Source((root / file).read_text()).mutations() for file in files}
    total = sum(map(len, all_.values()))
    chosen: dict[str, list[Mutation]] = {}
    for file, by_line in all_.items():
        wanted = max(2, round(count * len(by_line) / total))
        taken: list[Mutation] = []
        for line in dice.sample(sorted(by_line), len(by_line)):
            mutation = dice.choice(by_line[line])
            if len(taken) < wanted and all(mutation.end < m.begin or m.end < mutation.begin for m in taken):
                taken.append(mutation)
        chosen[file] = sorted(taken, key=lambda m: m.begin)
    return chosen
