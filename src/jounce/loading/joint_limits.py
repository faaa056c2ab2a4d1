"""MoveIt's ``joint_limits.yaml``, whose limits replace those of a robot, or add to them.

What counts is what counts for MoveIt (robot_model_loader.cpp) and, as to deceleration and effort, for its Pilz planner
and for ros2_control, which read the same files (joint_limits_rosparam.hpp): a maximum is a limit only if its "has" is
true, and one that is false takes the limit away; positions need no "has", and cannot be taken away. Pilz wants the
maximum of deceleration to be negative, ros2_control positive.

Nothing of what a file says is run or made: only its nodes are read, each with its line. PyYAML recurses, which ends
nesting. References (aliases), with which a short file can stand for more than fits into memory, are refused.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from jounce._checks import counted, near, quoted
from jounce.editing.tree import Tree
from jounce.errors import LoadError, MissingFileError
from jounce.loading.description import LoadWarning
from jounce.loading.regular_files import regular_bytes
from jounce.loading.xml_source import reason_of, short
from jounce.parts.joints import Limits

MAX_BYTES = 200_000  # a thousand joints; PyYAML is slow
_SHOWN = 3  # warnings
_MAXIMA = ("velocity", "acceleration", "deceleration", "jerk", "effort")
_ENDS = {"min_position": "lower", "max_position": "upper"}
_HAS = {f"has_{key}_limits": key for key in ("position", *_MAXIMA)}
_KNOWN = (*_HAS, *_ENDS, *(f"max_{key}" for key in _MAXIMA))
_OTHERS = {  # of ros2_control; jounce has nothing like these
    *("angle_wraparound", "has_soft_limits", "k_position", "k_velocity", "soft_lower_limit", "soft_upper_limit")
}
_UNITS = {"!degrees": math.pi / 180, "!radians": 1.0}  # tags that xacro reads, and so those of Universal Robots' files
_PLAIN = re.compile(r"tag:yaml\.org,2002:(int|float|str)")
_DIGITS = re.compile(r"[-+]?(\d{1,400}\.?\d{0,400}|\.\d{1,400})([eE][-+]?\d{1,4})?")


def with_limits(tree: Tree, path: Any) -> Tree:
    """See `Model.with_limits`."""
    source = _Source(path)
    bodies, joints = list(tree.bodies), tree.joints
    for entry in source.joints():
        if entry.name not in joints:
            hint = near(short(entry.name), joints)
            raise source.error(entry.line, f"no joint is named {short(entry.name)!r}: {hint}")
        body = bodies[joints[entry.name]]
        if body.joint.nv != 1:
            raise entry.error(f"has {counted(body.joint.nv, 'coordinate')}, expected a joint with one")
        given = entry.limits()
        try:
            joint = body.joint.changed(limits=replace(body.joint.limits or Limits(), **given))  # type: ignore[arg-type]
        except ValueError as fault:
            raise entry.error(str(fault)) from None
        bodies[joints[entry.name]] = replace(body, joint=joint)
    source.warn()
    return replace(tree, bodies=bodies)


@dataclass
class _Entry:
    """What the file says of a joint: values and where they are, by key."""

    source: _Source
    name: str
    line: int
    values: dict[str, Any] = field(default_factory=dict)

    def error(self, fault: str, key: str = "") -> LoadError:
        line = self.values[key].start_mark.line + 1 if key else self.line
        return self.source.error(line, f"joint {short(self.name)!r}: {fault}")

    def limits(self) -> dict[str, float | None]:
        """The fields of `Limits` that are given; None for a deceleration that is that of the acceleration."""
        found: dict[str, float | None] = {}
        has = {key: self._flag(name) for name, key in _HAS.items() if name in self.values}
        ends = [key for key in _ENDS if key in self.values]
        if has.get("position") and not ends:
            fault = "has_position_limits is true, expected a min_position or max_position"
            raise self.error(fault, "has_position_limits")
        if has.get("position", True):
            found |= {_ENDS[key]: self._number(key) for key in ends}
        for key in _MAXIMA:
            name = f"max_{key}"
            if has.get(key) is False:
                found[key] = None if key == "deceleration" else math.inf
            elif key in has:
                if name not in self.values:
                    raise self.error(f"has_{key}_limits is true, expected a {name}", f"has_{key}_limits")
                found[key] = self._most(key, name)
            elif name in self.values:
                said = f"{name} of joint {short(self.name)!r} does not count without has_{key}_limits: true"
                self.source.warnings.append(f"{said}, nor for MoveIt")
        return found

    def _most(self, key: str, name: str) -> float:
        value = self._number(name)
        value = abs(value) if key == "deceleration" else value
        least = "positive number" if key in ("acceleration", "deceleration", "jerk") else "number that is not negative"
        if value < 0 or (value == 0 and least.startswith("positive")):
            raise self.error(f"{name} is {value:g}, expected a {least}", name)
        return value

    def _flag(self, key: str) -> bool:
        node = self.values[key]
        if node.tag != "tag:yaml.org,2002:bool":
            raise self.error(f"{key} is {_said(node)}, expected true or false", key)
        return str(node.value).lower() in ("true", "yes", "on")

    def _number(self, key: str) -> float:
        node = self.values[key]
        text = node.value if isinstance(node.value, str) and node.style is None else ""
        if _PLAIN.fullmatch(node.tag) or node.tag in _UNITS:
            if _DIGITS.fullmatch(text):
                return float(text) * _UNITS.get(node.tag, 1.0)
            if text.lower().lstrip("+-") == ".inf":
                return -math.inf if text.startswith("-") else math.inf
        raise self.error(f"{key} is {_said(node)}, expected a number", key)


class _Source:
    """A file of limits."""

    def __init__(self, path: Any) -> None:
        if not isinstance(path, (str, os.PathLike)) or not (given := os.fsdecode(path)):
            raise ValueError(f"path is {quoted(path)}, expected the name of a file, such as 'joint_limits.yaml'")
        self.name = given if len(given) < 300 else short(given)
        self.warnings: list[str] = []
        self._content = self._read(Path(given))

    def _read(self, path: Path) -> bytes:
        try:
            return regular_bytes(path, MAX_BYTES)[1]
        except FileNotFoundError:
            raise MissingFileError(f"{self.name}: does not exist", str(path)) from None
        except IsADirectoryError:
            raise LoadError(f"{self.name}: is a directory, expected a file such as 'joint_limits.yaml' in it") from None
        except LoadError as fault:
            raise LoadError(f"{self.name}: {fault}") from None
        except (OSError, ValueError) as fault:  # no permission; a name too long, or with a null character in it
            raise LoadError(f"{self.name}: cannot be read: {reason_of(fault)}") from None

    def error(self, line: int, fault: str) -> LoadError:
        return LoadError(f"{self.name}, line {line}: {fault}")

    def joints(self) -> Iterator[_Entry]:
        """The joints under ``joint_limits``, wherever that is: parameters of ROS have it inside of others."""
        found = [value for key, value in self._mappings(self._composed()) if key.value == "joint_limits"]
        if len(found) != 1:
            several = f"has joint_limits {len(found)} times" if found else "has no joint_limits"
            raise LoadError(f"{self.name}: {several}, expected a file like MoveIt's joint_limits.yaml")
        for name, node in self._pairs(found[0]).values():
            entry = _Entry(self, name.value, name.start_mark.line + 1)
            if node.id != "mapping":
                raise entry.error(f"is {_said(node)}, expected limits such as max_velocity")
            for key, value in self._pairs(node).values():
                if key.value in _KNOWN:
                    entry.values[key.value] = value
                elif key.value not in _OTHERS:
                    hint = f": {near(short(key.value), _KNOWN)}" if len(self.warnings) < _SHOWN else ""
                    self.warnings.append(f"{short(key.value)!r} of joint {short(name.value)!r} is not a limit{hint}")
            yield entry

    def warn(self) -> None:
        """Warns once about what is probably a mistake."""
        if self.warnings:
            left = len(self.warnings) - _SHOWN
            more = f"; and {left} more of the kind" if left > 0 else ""
            warnings.warn(f"{self.name}: {'; '.join(self.warnings[:_SHOWN])}{more}", LoadWarning, stacklevel=4)

    def _composed(self) -> Any:
        """The outermost node."""
        try:
            yaml: Any = import_module("yaml")
        except ImportError as fault:
            raise LoadError(f"{self.name}: needs the package PyYAML: pip install 'jounce[yaml]' ({fault})") from None
        try:
            loader = yaml.SafeLoader(self._content)
            compose = loader.compose_node

            def compose_node(parent: Any, index: Any) -> Any:
                if loader.check_event(yaml.AliasEvent):
                    event = loader.peek_event()
                    fault = f"*{short(event.anchor)} stands for something above, expected that to be written out"
                    raise self.error(event.start_mark.line + 1, fault)
                return compose(parent, index)

            loader.compose_node = compose_node
            return loader.get_single_node()
        except yaml.YAMLError as fault:
            raise LoadError(f"{self.name}: is not YAML: {short(str(fault))}") from None
        except RecursionError:
            raise LoadError(f"{self.name}: is nested too deeply") from None

    def _mappings(self, root: Any) -> Iterator[tuple[Any, Any]]:
        """The pairs of all mappings, but not of those under ``joint_limits``."""
        todo = [root]
        while todo:
            node = todo.pop()
            if node is None or node.id != "mapping":
                continue
            for key, value in self._pairs(node).values():
                yield key, value
                if key.value != "joint_limits":
                    todo.append(value)

    def _pairs(self, node: Any) -> dict[str, tuple[Any, Any]]:
        """Of a mapping, by the key, which must be there once."""
        found: dict[str, tuple[Any, Any]] = {}
        if node.id != "mapping":
            raise self.error(node.start_mark.line + 1, f"joint_limits is {_said(node)}, expected joints")
        for key, value in node.value:
            if key.id != "scalar" or key.value in found:
                fault = "is there a second time" if key.id == "scalar" else "is no name"
                raise self.error(key.start_mark.line + 1, f"{_said(key)} {fault}")
            found[key.value] = key, value
        return found


def _said(node: Any) -> str:
    """A node, for a message."""
    if node.id != "scalar":
        return f"a {node.id}"
    return repr(short(node.value)) if node.tag != "tag:yaml.org,2002:null" else "empty"
