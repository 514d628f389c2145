"""The build backend: scikit-build-core, with the engine of ../native and the licence copied into each build."""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, List, Optional

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403

_HERE = Path(__file__).resolve().parent
#: Files and folders outside this folder that a source distribution contains, by their paths in the distribution.
_ADDED = {"native": _HERE.parent / "native", "LICENSE": _HERE.parent / "LICENSE"}


@contextmanager
def _with_added_files() -> Iterator[None]:
    """Copies the files of _ADDED into this folder, and removes them after the build. A source distribution has them already."""
    copied: List[Path] = []
    try:
        for name, source in _ADDED.items():
            target = _HERE / name
            if not source.exists() or target.exists():
                continue
            copied.append(target)
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copyfile(source, target)
        yield
    finally:
        for target in copied:
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink()


def build_sdist(sdist_directory: str, config_settings: Optional[Any] = None) -> str:
    with _with_added_files():
        return _build.build_sdist(sdist_directory, config_settings)


def build_wheel(
    wheel_directory: str, config_settings: Optional[Any] = None, metadata_directory: Optional[str] = None
) -> str:
    try:
        with _with_added_files():
            return _build.build_wheel(wheel_directory, config_settings, metadata_directory)
    except BaseException:
        print(
            "rhythm-vec is compiled when it is installed from source: it needs a C++17 compiler, such as g++.",
            file=sys.stderr,
        )
        raise


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Optional[Any] = None) -> str:
    with _with_added_files():
        return _build.prepare_metadata_for_build_wheel(metadata_directory, config_settings)
