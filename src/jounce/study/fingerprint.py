"""What a study is, as short digests: equal for the same study, in any process and on any machine with the same Python.

A function is what it does: its compiled code, its defaults, what it closes over, and the functions and values of its
module that it uses. Comments, names of files and line numbers do not count. Modules that are installed count by name;
those of the user by their source.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import sys
import sysconfig
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_INSTALLED = tuple({sysconfig.get_path(key) for key in ("purelib", "platlib", "stdlib")})


def digest(value: object) -> str:
    """Of anything that a study is made of."""
    return _Digests().of(value).hex()[:16]


class _Digests:
    """Digests of values, from those of what they consist of; in a cycle, a value counts by how far up it is."""

    def __init__(self) -> None:
        self._above: list[int] = []  # what the present value is part of
        self._known: dict[int, tuple[bytes, object]] = {}  # with the objects, whose numbers others would get

    def of(self, value: object) -> bytes:
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, types.EllipsisType)):
            return _hash(f"{type(value).__name__} {value!r}".encode())
        if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind != "O":
            array = np.asarray(value)
            return _hash(f"array {array.dtype.str} {array.shape}".encode(), np.ascontiguousarray(array).tobytes())
        key = id(value)
        if key in self._known:
            return self._known[key][0]
        if key in self._above:
            return _hash(f"{len(self._above) - self._above.index(key)} up".encode())
        self._above.append(key)
        found = _hash(type(value).__qualname__.encode(), *self._inside(value))
        self._above.pop()
        self._known[key] = found, value
        return found

    def _all(self, *values: object) -> list[bytes]:
        return [self.of(each) for each in values]

    def _inside(self, value: Any) -> list[bytes]:
        if isinstance(value, (tuple, list)):
            return self._all(len(value), *value)
        if isinstance(value, (set, frozenset)):
            return self._all(len(value), *sorted(value, key=repr))
        if isinstance(value, Mapping):
            return self._all(len(value), *value.keys(), *value.values())
        if isinstance(value, types.CodeType):
            own = value.co_code, value.co_varnames, value.co_freevars, value.co_names, value.co_consts
            return self._all(*own)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            return self._all(value.__self__, value.__func__)
        if isinstance(value, functools.partial):
            return self._all(value.func, value.args, value.keywords)
        if isinstance(value, types.ModuleType):
            file = getattr(value, "__file__", None)
            return self._all(value.__name__, b"" if _installed(value) or not file else Path(file).read_bytes())
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, (types.BuiltinFunctionType, np.ufunc)):
            return self._all(getattr(value, "__module__", None), value.__name__)
        return self._object(value)

    def _function(self, value: types.FunctionType) -> list[bytes]:
        if _installed(sys.modules.get(value.__module__)):
            return self._all(value.__module__, value.__qualname__)
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        used = {name: value.__globals__[name] for name in sorted(_names(value.__code__)) if name in value.__globals__}
        return self._all(value.__code__, value.__defaults__, value.__kwdefaults__, cells, used)

    def _class(self, value: type) -> list[bytes]:
        if _installed(sys.modules.get(value.__module__)):
            return self._all(value.__module__, value.__qualname__)
        own = {
            key: each
            for key, each in sorted(vars(value).items())
            if isinstance(each, (types.FunctionType, staticmethod, classmethod, property)) or not key.startswith("__")
        }
        return self._all(value.__qualname__, value.__bases__, own)

    def _object(self, value: Any) -> list[bytes]:
        if isinstance(value, (staticmethod, classmethod)):
            return [self.of(value.__func__)]
        if isinstance(value, property):
            return self._all(value.fget, value.fset)
        if dataclasses.is_dataclass(value):
            return self._all(type(value), {f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
        try:
            made = value.__reduce_ex__(4)  # what it would be pickled as
        except TypeError:  # a lock, a file
            return self._all(type(value))
        return (
            self._all(made)
            if isinstance(made, str)
            else self._all(*made[:3], *(list(each or ()) for each in made[3:5]))
        )


def _hash(*parts: bytes) -> bytes:
    made = hashlib.sha256()
    for part in parts:
        made.update(len(part).to_bytes(8, "little"))
        made.update(part)
    return made.digest()


def _names(code: types.CodeType) -> set[str]:
    """Names that a function and those within it may look up in the module."""
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _installed(module: types.ModuleType | None) -> bool:
    """Whether a module comes with Python or a package, whose versions count instead of its source."""
    if module is None:
        return False
    top = module.__name__.partition(".")[0]
    if top == "jounce" or top in sys.stdlib_module_names:
        return top != "__main__"
    file = getattr(module, "__file__", None)
    return file is not None and str(Path(file).resolve()).startswith(_INSTALLED)
