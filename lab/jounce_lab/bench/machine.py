"""The machine the race was run on, and the versions."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from jounce._core import instruction_set

from .peers import PEERS


def machine() -> dict[str, Any]:
    """For the JSON: processor, instruction set of jounce's kernels, versions, date and how busy the machine was."""
    versions = {peer.distribution: peer.version for peer in PEERS.values() if peer.distribution}
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "instruction_set": instruction_set(),
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "versions": {"jounce": metadata.version("jounce"), "numpy": np.__version__, **versions},
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.split(":", 1)[1].split())
    return platform.processor() or "unknown processor"
