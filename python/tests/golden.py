"""Reads the golden values of test/golden, which an independent implementation of docs/world.md computed."""

import json
from pathlib import Path
from typing import Any, Dict, List, Optional

import numpy as np
import numpy.typing as npt

from rhythm_vec import ACTION_NAMES, EVENT_NAMES

GOLDEN = Path(__file__).resolve().parents[2] / "test" / "golden"

Episode = Dict[str, Any]


def read(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def bits(values: npt.ArrayLike) -> List[int]:
    """Returns float32s as words, so that comparisons are of bits."""
    words: List[int] = np.asarray(values, np.float32).ravel().view(np.uint32).tolist()
    return words


def codes_of(episode: Episode) -> List[int]:
    return [ACTION_NAMES.index(step["action"]) for step in episode["steps"]]


def beliefs_of(episode: Episode) -> npt.NDArray[np.float32]:
    """Returns f32 [1, 28, 3], three NaN for no belief."""
    return np.array([[step["belief"] or [np.nan] * 3 for step in episode["steps"]]], np.float32)


def profile_of(episode: Episode) -> Any:
    """Returns a profile for `reset`: its name, or its numbers."""
    return floats_of([episode]) if episode["profile"] == "explicit" else episode["profile"]


def floats_of(rows: List[Dict[str, Any]]) -> npt.NDArray[np.float32]:
    """Returns profiles f32 [rows, 16]: traits, then weights."""
    return np.array([[*row["traits"].values(), *row["weights"].values()] for row in rows], np.float32)


def event_code(name: Optional[str]) -> int:
    return -1 if name is None else EVENT_NAMES.index(name)
