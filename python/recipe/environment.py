"""Runs rhythm-vec commands for a training: generates rows, and starts the server that scores completions."""

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
#: The first training seed; lower seeds are kept for evaluation.
FIRST_SEED = 100


def make_sft_rows(command: Sequence[str], folder: Path, episodes: int, grader: str) -> Path:
    """Writes the answers of the planner under a grader; returns the file of rows. Raises CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    episodes_file = folder / "teacher.jsonl"
    seeds = f"{FIRST_SEED}-{FIRST_SEED + episodes - 1}"
    teach = ["teach", "--policy", "planner-wellbeing", "--seeds", seeds, "--output", str(episodes_file)]
    dataset = ["dataset", "sft", "--jsonl", str(episodes_file), "--output", str(folder)]
    for arguments in (teach, dataset):
        subprocess.run([*command, *arguments, "--grader", grader], check=True)
    return folder / "train.jsonl"


def make_grpo_rows(command: Sequence[str], folder: Path, rows: int, grader: str) -> Path:
    """Writes prompts under a grader and their dataset card; returns the file of rows. Raises CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "train.jsonl"
    arguments = ["dataset", "grpo", "--rows", str(rows), "--grader", grader, "--output", str(path)]
    subprocess.run([*command, *arguments], check=True)
    return path


def card_of(rows: Path) -> Dict[str, str]:
    """Returns the origin of rows from the card beside them, as text: `version`, `world_digest`, `seeds`."""
    card = rows.parent / CARD
    text = card.read_text() if card.exists() else ""
    names = ("version", "world_digest", "seeds")
    matches = {name: re.search(rf'^  {name}: "(.*)"$', text, re.MULTILINE) for name in names}
    return {name: match[1] for name, match in matches.items() if match}


def check_world(rows: Path, digest: str) -> None:
    """Raises ValueError if the card of the rows names another world than that of the server."""
    card_digest = card_of(rows).get("world_digest", digest)
    if card_digest != digest:
        raise ValueError(
            f"Expected {rows} to be of the server's world {digest}, got rows of {card_digest}. "
            "Generate them again with the server's release."
        )


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
