"""Starts the servers that score completions: one on each machine, unless the user names a running one."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import Iterator, Optional, Sequence

import ranks
from rhythm_vec import serve


@contextmanager
def server_of_machine(command: Optional[Sequence[str]], url: Optional[str]) -> Iterator[str]:
    """Yields the URL of a running server, or of one that the first rank of this machine starts and stops."""
    with ExitStack() as started:
        yield ranks.on_each_machine(lambda: url or started.enter_context(serve(command)))
        # The other ranks may still need the server. After an error this rank does not wait: the launcher ends all ranks.
        ranks.wait()
