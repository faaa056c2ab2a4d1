"""Compiles the headers as CUDA source with NVRTC: needs the wheel nvidia-cuda-nvrtc, but no GPU and no driver.

First each header by itself, then each kernel that device_check.cu lists, down to machine code. Unmarked functions
count as device code (--device-as-default-execution-space), so that the headers need no marks.
"""

import ctypes
import importlib.metadata
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parent / "include"
OPTIONS = [
    "--std=c++20",
    "--device-as-default-execution-space",
    "--gpu-architecture=sm_80",
    "--Ofast-compile=max",  # a full compilation, without the minutes that optimization takes
    "--disable-warnings",
    f"--include-path={INCLUDE}",
]


def library() -> ctypes.CDLL:
    files = importlib.metadata.files("nvidia-cuda-nvrtc") or []
    paths = {file.name.partition(".so")[0]: str(file.locate()) for file in files if ".so" in file.name}
    ctypes.CDLL(paths["libnvrtc-builtins"])  # which the other library opens by its bare name
    nvrtc = ctypes.CDLL(paths["libnvrtc"])
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    return nvrtc


def complaint(nvrtc: ctypes.CDLL, source: str) -> str:
    """Why a translation unit does not compile; empty if it does."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = (ctypes.c_char_p * len(OPTIONS))(*(option.encode() for option in OPTIONS))
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"device_check.cu", 0, None, None)
    result = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), options)
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return f"{nvrtc.nvrtcGetErrorString(result).decode()}\n{log.value.decode()}" if result else ""


def units() -> dict[str, str]:
    """Translation units: what each one tests, and its source."""
    headers = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.glob("jounce/**/*.hpp"))
    lines = (HERE / "device_check.cu").read_text().splitlines()
    kernels = [line for line in lines if line.startswith("template __global__ ")]
    sources = {header: f'#include "{header}"\n' for header in headers}
    for kernel in kernels:  # the others become empty lines, so that line numbers are those of the file
        sources[kernel] = "\n".join("" if line in kernels and line != kernel else line for line in lines)
    return sources


def main() -> None:
    start, nvrtc, sources = time.perf_counter(), library(), units()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda source: complaint(nvrtc, source), sources.values()))
    failed = {name: answer for name, answer in zip(sources, answers, strict=True) if answer}
    for name, answer in failed.items():
        print(f"{name}\n{answer}", file=sys.stderr)
    print(f"device check: {len(failed)} of {len(sources)} failed, {time.perf_counter() - start:.0f} s")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
