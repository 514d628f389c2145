"""The build backend: scikit-build-core, with the engine of a checkout or of a source distribution."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Dict, Iterator, Optional

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent


def _engine() -> Path:
    """Returns the folder of the engine: that of a source distribution, which has PKG-INFO, or that of a checkout, which has
    binding.gyp beside python/. Raises SystemExit if this folder is in neither."""
    if (_HERE / "PKG-INFO").is_file():
        return _HERE / "native"
    if (_ROOT / "binding.gyp").is_file():
        return _ROOT / "native"
    sys.exit(
        f"Expected {_HERE} to be a source distribution of rhythm-vec, or in a checkout of it, got neither PKG-INFO in it "
        "nor binding.gyp beside it. Build the folder python of a checkout."
    )


@contextmanager
def _compiling(config_settings: Optional[Any]) -> Iterator[Dict[str, Any]]:
    """Yields the settings of a build that compiles the engine. Prints what the build needs if it fails."""
    settings = {**(config_settings or {}), "cmake.define.RHYTHM_NATIVE": _engine().as_posix()}
    try:
        yield settings
    except BaseException:
        print(
            "rhythm-vec is compiled when it is installed from source: it needs a C++17 compiler, such as g++.",
            file=sys.stderr,
        )
        raise


def build_sdist(sdist_directory: str, config_settings: Optional[Any] = None) -> str:
    """Builds in a copy of this folder with the engine: a build that is killed leaves nothing here."""
    directory, before = os.path.abspath(sdist_directory), os.getcwd()
    with TemporaryDirectory() as temporary:
        copy = Path(temporary) / "python"
        shutil.copytree(_HERE, copy, ignore=lambda folder, _: ["native"] if Path(folder) == _HERE else [])
        shutil.copytree(_engine(), copy / "native")
        os.chdir(copy)
        try:
            return _build.build_sdist(directory, config_settings)
        finally:
            os.chdir(before)


def build_wheel(
    wheel_directory: str, config_settings: Optional[Any] = None, metadata_directory: Optional[str] = None
) -> str:
    with _compiling(config_settings) as settings:
        return _build.build_wheel(wheel_directory, settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Optional[Any] = None, metadata_directory: Optional[str] = None
) -> str:
    with _compiling(config_settings) as settings:
        return _build.build_editable(wheel_directory, settings, metadata_directory)
