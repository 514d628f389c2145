"""Runs rhythm-vec for a training: generates rows, and starts a server that scores completions."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Dict, Iterator, Sequence

LISTENING = "Listening on "
CARD = "README.md"
#: The first seed that is not kept for evaluation.
FIRST_SEED = 100


def make_sft_rows(command: Sequence[str], folder: Path, episodes: int) -> Path:
    """Plays episodes with the planner and writes its answers; returns their file. Raises CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    weeks = folder / "teacher.jsonl"
    seeds = f"{FIRST_SEED}-{FIRST_SEED + episodes - 1}"
    subprocess.run(
        [*command, "teach", "--teacher", "planner", "--seeds", seeds, "--output", str(weeks)], check=True
    )
    subprocess.run([*command, "dataset", "sft", "--jsonl", str(weeks), "--output", str(folder)], check=True)
    return folder / "train.jsonl"


def make_grpo_rows(command: Sequence[str], folder: Path, rows: int) -> Path:
    """Writes prompts and their dataset card; returns the file of prompts. Raises CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "train.jsonl"
    subprocess.run([*command, "dataset", "grpo", "--rows", str(rows), "--output", str(path)], check=True)
    return path


def card_of(rows: Path) -> Dict[str, str]:
    """Returns the origin of rows from the card beside them, as text: `version`, `world_digest`, `seeds`."""
    card = rows.parent / CARD
    text = card.read_text() if card.exists() else ""
    names = ("version", "world_digest", "seeds")
    found = {name: re.search(rf'^  {name}: "(.*)"$', text, re.MULTILINE) for name in names}
    return {name: match[1] for name, match in found.items() if match}


def check_world(rows: Path, digest: str) -> None:
    """Raises ValueError if the card beside rows names another world than the server's."""
    made_in = card_of(rows).get("world_digest", digest)
    if made_in != digest:
        raise ValueError(
            f"Expected {rows} to be of the server's world, {digest}, got rows of {made_in}. "
            "Make them again with the server's release."
        )


@contextmanager
def running_server(command: Sequence[str]) -> Iterator[str]:
    """Runs a server on a free port during the block; yields its URL."""
    # A process group of its own: npx, for example, does not forward the signal that ends it.
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
