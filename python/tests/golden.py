"""Reads the golden values of test/golden, which an independent implementation of docs/world.md computed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rhythm_vec import ACTION_NAMES, EVENT_NAMES

GOLDEN = Path(__file__).resolve().parents[2] / "test" / "golden"


def read(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def bits(values: npt.ArrayLike) -> list[int]:
    """Returns float32s as words, so that a comparison is of bits."""
    return np.asarray(values, np.float32).view(np.uint32).ravel().tolist()


def codes(steps: list[dict[str, Any]]) -> list[int]:
    return [ACTION_NAMES.index(step["action"]) for step in steps]


def event_code(name: "str | None") -> int:
    return -1 if name is None else EVENT_NAMES.index(name)
