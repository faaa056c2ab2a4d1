"""Packages that the dynamics does without: imported where they are used, or an error says how to install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXTRAS = {  # of pyproject.toml, by the packages they bring
    "imageio": "video",
    "imageio_ffmpeg": "video",
    "matplotlib": "demo",
    "mujoco": "mjcf",
    "PIL": "view",
    "rich": "demo",
    "trimesh": "view",
    "typer": "demo",
    "viser": "view",
    "websockets": "view",
}


def needed(module: str, by: str) -> Any:
    """A module of such a package.

    Args:
        module: such as "websockets.asyncio.server".
        by: what needs it, for the error: "a progress bar".

    Raises:
        ImportError: it cannot be imported.
    """
    try:
        return import_module(module)
    except ImportError as fault:
        package = module.partition(".")[0]
        how = f"pip install 'jounce[{EXTRAS[package]}]'"
        raise ImportError(f"{by} needs the package {package}: {how} ({fault})", name=package) from None
