"""Packages that the dynamics does without: imported where they are used, or an error says how to install them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXTRAS = {  # of pyproject.toml, by the packages they bring
    "cloudpickle": "study",
    "distributed": "study",
    "imageio": "video",
    "imageio_ffmpeg": "video",
    "matplotlib": "demo",
    "mujoco": "mjcf",
    "PIL": "view",
    "rich": "demo",
    "scipy": "study",
    "threadpoolctl": "study",
    "trimesh": "view",
    "typer": "demo",
    "viser": "view",
    "websockets": "view",
    "xarray": "study",
    "zarr": "study",
}
NEEDS_PYTHON = {"study": "Python 3.11"}  # or newer, of extras that are for these alone


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
        extra = EXTRAS[package]
        how = f"pip install 'jounce[{extra}]'"
        if extra in NEEDS_PYTHON:
            how += f" on {NEEDS_PYTHON[extra]} or newer"
        raise ImportError(f"{by} needs the package {package}: {how} ({fault})", name=package) from None
