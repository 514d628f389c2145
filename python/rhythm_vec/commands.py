"""Finds the `rhythm-vec` command, without npx where possible."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import List, Optional, Sequence, Union

from .errors import ServerUnavailableError

#: The environment variable with the command.
COMMAND_VARIABLE = "RHYTHM_COMMAND"
_NAME = "rhythm-vec"


def find_command(command: Union[str, Sequence[str], None] = None) -> List[str]:
    """Returns the command that runs `rhythm-vec`, as a list of arguments.

    It is the first of these: the argument; the variable RHYTHM_COMMAND; `rhythm-vec` on PATH; `rhythm-vec` in
    `node_modules/.bin` of the working directory or of one of its parents; the command of the checkout or npm package
    that contains this file; and `npx rhythm-vec`.

    Args:
        command: a command line, which is split as a shell does, or a list of arguments.

    Raises:
        ServerUnavailableError: no command was found. The message lists what was tried.
    """
    given = os.environ.get(COMMAND_VARIABLE) if command is None else command
    if isinstance(given, str):
        given = shlex.split(given, posix=os.name != "nt")
    if given:
        return list(given)
    found = shutil.which(_NAME) or _in_node_modules()
    if found is not None:
        return [found]
    node, script = shutil.which("node"), _own_script()
    if node is not None and script is not None:
        return [node, str(script)]
    npx = shutil.which("npx")
    if npx is not None:
        return [npx, _NAME]
    raise ServerUnavailableError(
        f"Expected a {_NAME} command, got none: tried command=, the variable {COMMAND_VARIABLE}, {_NAME} on PATH, "
        f"node_modules/.bin of {Path.cwd()} and of its parents, node with "
        f"{script or 'the script of a checkout around this package'}, and npx. "
        f"Install Node (20.19 or a later 20.x, or 22.12 or later), and "
        f"{build_remedy() or f'run `npm install {_NAME}`'}, or set {COMMAND_VARIABLE}."
    )


def build_remedy() -> Optional[str]:
    """Returns how to build the checkout that contains this file; None if there is none, or if it is built."""
    root = Path(__file__).resolve().parents[2]
    is_unbuilt = (root / "package.json").is_file() and _own_script() is None
    return f"run `npm ci` in {root}" if is_unbuilt else None


def _in_node_modules() -> Optional[str]:
    here = Path.cwd()
    for folder in (here, *here.parents):
        found = shutil.which(_NAME, path=str(folder / "node_modules" / ".bin"))
        if found is not None:
            return found
    return None


def _own_script() -> Optional[Path]:
    """Returns the script of the checkout or npm package whose folder python/ contains this file."""
    script = Path(__file__).resolve().parents[2] / "lib" / "cli.js"
    return script if script.is_file() else None
