"""The compiled engine: its kernels, and its threads."""

from __future__ import annotations

import importlib
import os
from typing import Any, List, NamedTuple, Optional

from . import _world
from .checks import check_integer, describe, did_you_mean, refuse

__all__ = ["Kernel", "list_kernels"]

KERNEL_VARIABLE = "RHYTHM_KERNEL"
#: The most environments that the scalar kernel steps faster than any other.
MAX_SCALAR = 2
_native: Optional[Any] = None


class Kernel(NamedTuple):
    """A kernel of the engine: its name, its lanes (episodes stepped by one instruction), and whether this machine
    supports it."""

    name: str
    lanes: int
    supported: bool


def native() -> Any:
    """Returns the compiled module. Raises ImportError if it is not compiled, or is of another release."""
    global _native
    if _native is None:
        _native = _import_native()
    return _native


def _import_native() -> Any:
    try:
        module = importlib.import_module("rhythm_vec._native")
    except ImportError as error:
        raise ImportError(
            f"Expected the compiled engine of rhythm_vec, got {type(error).__name__}: {error}. Install the package: "
            "`pip install ./python` in the repository, which needs a C++17 compiler."
        ) from error
    if module.LAYOUT_DIGEST != _world.LAYOUT_DIGEST:
        raise ImportError(
            "Expected the compiled engine of this release, got that of another release. Install the package again: "
            "`pip install ./python`."
        )
    return module


def list_kernels() -> List[Kernel]:
    """Lists the kernels of the engine, the fastest first. Raises ImportError if the engine is not compiled, or is of
    another release."""
    return [Kernel(*row) for row in native().kernels()]


def choose_kernel(requested: Optional[str], rows: int = _world.MAX_ENVS) -> str:
    """Returns the requested kernel, else the kernel that RHYTHM_KERNEL names, else the fastest supported kernel for so many
    environments or rows. Raises InputError `backend_unavailable` if this machine has no such kernel."""
    kernels = list_kernels()
    usable = [kernel.name for kernel in kernels if kernel.supported]
    fastest = "scalar" if rows <= MAX_SCALAR else usable[0]
    name = os.environ.get(KERNEL_VARIABLE) or fastest if requested is None else requested
    if not isinstance(name, str) or name not in usable:
        refuse(
            "backend_unavailable",
            f"a kernel that this machine has ({', '.join(usable)})",
            describe(name),
            did_you_mean(str(name), usable),
        )
    return name


def to_threads(threads: Optional[int]) -> int:
    """Returns the number of threads; for None, the number of processors that this process may use, at most 256."""
    if threads is not None:
        return check_integer("threads", threads, 1, _world.MAX_THREADS)
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _world.MAX_THREADS)
