"""The signatures of the compiled functions, for `inspect.signature`: parsed from the texts that nanobind keeps."""

from __future__ import annotations

import ast
from inspect import Parameter, Signature
from typing import Any


def of(function: Any) -> Signature:
    """The signature of a function, a method, or a bound method, which has no ``self``; annotations are texts.

    Raises:
        AttributeError: it has none, or several.
    """
    bound = hasattr(function, "__self__")
    texts = getattr(function.__func__ if bound else function, "__nb_signature__", ())
    try:
        (text,) = (each[0] for each in texts)
        given = ast.parse(f"{text}: ...").body[0]
        assert isinstance(given, ast.FunctionDef)
    except (ValueError, SyntaxError, TypeError, AssertionError):
        raise AttributeError("__signature__") from None
    parameters = _parameters(given.args)
    return Signature(parameters[1:] if bound else parameters, return_annotation=_text(given.returns))


def _parameters(given: ast.arguments) -> list[Parameter]:
    required = len(given.args) - len(given.defaults)
    defaults: list[ast.expr | None] = [*[None] * required, *given.defaults]
    found = [_parameter(a, d, Parameter.POSITIONAL_OR_KEYWORD) for a, d in zip(given.args, defaults, strict=True)]
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return found + [_parameter(a, d, Parameter.KEYWORD_ONLY) for a, d in named]


def _parameter(given: ast.arg, default: ast.expr | None, kind: Any) -> Parameter:
    value = Parameter.empty if default is None else ast.literal_eval(default)
    return Parameter(given.arg, kind, default=value, annotation=_text(given.annotation))


def _text(annotation: ast.expr | None) -> Any:
    return Parameter.empty if annotation is None else ast.unparse(annotation)
