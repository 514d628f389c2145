"""What a training needs of rhythm-vec's command: rows to train on, and a server that scores completions."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Sequence

LISTENING = "Listening on "


def make_rows(command: Sequence[str], path: Path, rows: int) -> None:
    """Writes a dataset, and its card beside it. Raises CalledProcessError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([*command, "dataset", "grpo", "--rows", str(rows), "--output", str(path)], check=True)


@contextmanager
def running_server(command: Sequence[str]) -> Iterator[str]:
    """The url of a server on a free port, as long as the block lasts."""
    server = subprocess.Popen([*command, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        if not line.startswith(LISTENING):
            raise RuntimeError(
                f"Expected `{' '.join(command)} serve` to say where it listens, got {line!r}. "
                "What it wrote to the standard error says why."
            )
        yield line[len(LISTENING) :].strip()
    finally:
        server.terminate()
        server.communicate()
