"""Starts the servers that score completions: one on each machine, unless the user names a running one."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import ExitStack, contextmanager
from typing import Iterator, Optional, Sequence

import ranks

LISTENING = "Listening on "


@contextmanager
def server_of_node(command: Sequence[str], url: Optional[str]) -> Iterator[str]:
    """Yields the URL of a running server, or of one that the first rank of this machine starts and stops."""
    with ExitStack() as started:
        yield ranks.on_each_node(lambda: url or started.enter_context(running_server(command)))
        # The other ranks may still need the server. After an error nobody waits: the launcher ends the other ranks.
        ranks.wait()


@contextmanager
def running_server(command: Sequence[str]) -> Iterator[str]:
    """Runs a server on a free port during the block; yields its URL."""
    # A separate process group, because npx does not forward signals to the server.
    server = subprocess.Popen(
        [*command, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        line = server.stdout.readline() if server.stdout else ""
        if not line.startswith(LISTENING):
            raise RuntimeError(
                f"Expected `{' '.join(command)} serve` to print its address, got {line!r}. "
                "See its standard error."
            )
        yield line[len(LISTENING) :].strip()
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.communicate()
