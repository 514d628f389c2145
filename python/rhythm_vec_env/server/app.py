"""Runs `rhythm-vec serve`, a Node program that speaks OpenEnv's protocol."""

import argparse
import os
import shlex
import shutil
import sys
from typing import List, Optional


def command() -> List[str]:
    """Returns RHYTHM_COMMAND split into words, else `rhythm-vec` on PATH, else that of the nearest node_modules.

    Raises:
        SystemExit: the variable is empty, and neither rhythm-vec nor npx is on PATH.
    """
    given = shlex.split(os.environ.get("RHYTHM_COMMAND", ""))
    if given:
        return given
    installed, npx = shutil.which("rhythm-vec"), shutil.which("npx")
    if installed is None and npx is None:
        sys.exit("Expected a rhythm-vec command or npx on PATH, got neither. Install Node, or set RHYTHM_COMMAND.")
    # --no-install: npx would fetch the package from a registry.
    return [installed] if installed is not None else [str(npx), "--no-install", "rhythm-vec"]


def main(arguments: Optional[List[str]] = None) -> None:
    """Replaces this process by the server. Without the variable RHYTHM_TOKEN, clients need no token.

    Unknown options, such as --workers, are ignored: one process serves all sessions.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="0.0.0.0")
    parser.add_argument("--port", type=int, default=8000)
    options, _ = parser.parse_known_args(arguments)
    access = [] if os.environ.get("RHYTHM_TOKEN") else ["--insecure"]
    program = [*command(), "serve", "--host", options.host, "--port", str(options.port), *access]
    os.execvp(program[0], program)


if __name__ == "__main__":
    main()
