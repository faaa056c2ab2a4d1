"""Robots that need no file of the caller's, for those who pass `jounce.load` a robot's name instead of a file's."""

from __future__ import annotations

from jounce import robots
from jounce._checks import close
from jounce.loading.example_robots import SCHEME, example_names

_MOST = 4  # in a message


def robots_called(name: str) -> list[str]:
    """The robots that a name may mean, as one writes them in Python.

    >>> robots_called("quadrotor")[0]
    'jn.robots.quadrotor_arm()'
    """
    written = [(each, f"jn.robots.{each}()") for each in robots.__all__]
    written += [(each.rpartition("/")[2].lower(), repr(SCHEME + each)) for each in example_names()]
    word = name.lower().replace("-", "_")
    keys = dict.fromkeys(sorted((key for key, _ in written), key=len))
    likely = [word] * (word in keys) or [key for key in keys if len(word) > 2 and key.startswith(word)]
    return [how for key in likely or close(word, keys, 0.7) for own, how in written if own == key][:_MOST]
