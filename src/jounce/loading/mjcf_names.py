"""Names for the bodies and joints of a MuJoCo model: those without a name get one."""

from __future__ import annotations

from typing import Any

from jounce._free_names import free


def body_names(model: Any) -> list[str]:
    """The bodies of an MjModel, "world" first; unnamed ones are called by their index, "body 3"."""
    given = [model.body(i).name for i in range(model.nbody)]
    taken = set(given)
    return [own or unused(f"body {i}", taken) for i, own in enumerate(given)]


def joint_names(model: Any) -> list[str]:
    """The joints of an MjModel; an unnamed one has the name of its body, with a number if that has several joints."""
    given = [model.joint(j).name for j in range(model.njnt)]
    bodies, taken = body_names(model), set(given)
    names = []
    for j, own in enumerate(given):
        body = model.jnt_bodyid[j]
        alone = model.body_jntnum[body] == 1
        default = bodies[body] if alone else f"{bodies[body]} {j - model.body_jntadr[body]}"
        names.append(own or unused(default, taken))
    return names


def unused(name: str, taken: set[str], mark: str = "") -> str:
    """The name, with the mark or a number if it is taken; marks it as taken."""
    plain = next((each for each in (name, name + mark) if each not in taken), None)
    candidate = plain or free(lambda n: f"{name}{mark} {n}", taken, 2)
    taken.add(candidate)
    return candidate
