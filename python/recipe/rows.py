"""Generates, reads and checks the rows of both stages, SFT and GRPO. Only rank 0 generates and reads them."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from rhythm_vec.serving import find_command

CARD = "README.md"
#: The first training seed; lower seeds are kept for evaluation.
FIRST_SEED = 100


@dataclass(frozen=True)
class Rows:
    """Rows of a file.

    Attributes:
        path: the file.
        rows: its rows.
        origin: `version`, `world_digest` and `seeds` of the card beside the file, as text.
    """

    path: Path
    rows: List[Dict[str, Any]]
    origin: Dict[str, str]

    def columns(self) -> Dict[str, List[Any]]:
        """Returns the columns of all rows. Missing values are None."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        return {name: [row.get(name) for row in self.rows] for name in names}


def read_rows(path: Path) -> Rows:
    """Reads a file of JSON lines and the card beside it. Raises FileNotFoundError, or ValueError for
    an invalid line or a file without rows."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [_row(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise ValueError(f"Expected rows in {path}, got an empty file. Generate them with `rhythm-vec dataset`.")
    return Rows(path, rows, read_origin(path.parent))


def _row(line: str, place: str) -> Dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise ValueError(
            f"Expected a JSON object in {place}, got {line[:60]!r}. Generate the rows with `rhythm-vec dataset`."
        )
    return row


def read_origin(folder: Path) -> Dict[str, str]:
    """Returns the origin of the rows of a folder, from its card."""
    card = folder / CARD
    text = card.read_text(encoding="utf-8") if card.exists() else ""
    names = ("version", "world_digest", "seeds")
    matches = {name: re.search(rf'^  {name}: "(.*)"$', text, re.MULTILINE) for name in names}
    return {name: match[1] for name, match in matches.items() if match}


def check_world(rows: Rows, digest: str) -> None:
    """Raises ValueError if the card of the rows names another world than that of the server."""
    of_rows = rows.origin.get("world_digest", digest)
    if of_rows != digest:
        raise ValueError(
            f"Expected {rows.path} to be of the server's world {digest}, got rows of {of_rows}. "
            "Generate them again with the server's release."
        )


def make_rows(command: Optional[Sequence[str]], folder: Path, stage: str, count: int, grader: str) -> Path:
    """Writes the rows of a stage under a grader, and their dataset card: for sft the answers of the planner in `count` episodes,
    for grpo `count` prompts. Returns the file of rows. Raises CalledProcessError, or ServerUnavailableError if `rhythm-vec` is
    not found."""
    folder.mkdir(parents=True, exist_ok=True)
    path, episodes = folder / "train.jsonl", folder / "teacher.jsonl"
    seeds = f"{FIRST_SEED}-{FIRST_SEED + count - 1}"
    teach = ["teach", "--policy", "planner-wellbeing", "--seeds", seeds, "--output", str(episodes)]
    calls = {
        "sft": [teach, ["dataset", "sft", "--jsonl", str(episodes), "--output", str(folder)]],
        "grpo": [["dataset", "grpo", "--rows", str(count), "--output", str(path)]],
    }
    for arguments in calls[stage]:
        subprocess.run([*find_command(command), *arguments, "--grader", grader], check=True)
    return path
