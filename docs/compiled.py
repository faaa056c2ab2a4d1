"""Shows the API reference the compiled core, whose stub is installed next to it, and the examples in docstrings."""

import importlib.util
import re
from pathlib import Path

import griffe

EXAMPLE = re.compile(r"^>>>.*\Z", re.DOTALL | re.MULTILINE)  # in our docstrings it comes last


class CompiledCore(griffe.Extension):
    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: object) -> None:
        stub = Path(importlib.util.find_spec("jounce._core").origin).with_name("_core.pyi")
        parser, options = loader.docstring_parser, loader.docstring_options
        core = griffe.visit(
            "_core", stub, stub.read_text(), parent=pkg, docstring_parser=parser, docstring_options=options
        )
        pkg.set_member("_core", core)
        self.on_object(obj=core["CoreModel"])
        for member in core["CoreModel"].members.values():
            self.on_object(obj=member)

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Gives the doctest at the end of a docstring the heading that turns it into a code block."""
        if obj.docstring is not None:
            text = obj.docstring.value
            obj.docstring.value = EXAMPLE.sub(lambda found: "Examples:\n    " + found[0].replace("\n", "\n    "), text)
