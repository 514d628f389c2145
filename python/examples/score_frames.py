"""Scores rows over /v1/score in binary frames: typed arrays in both directions, without JSON for each row.

    npx rhythm-vec serve
    python python/examples/score_frames.py http://127.0.0.1:8000

It needs only NumPy. docs/server.md (Binary rows) describes the bytes.
"""

from __future__ import annotations

import json
import struct
import sys
import urllib.request
from typing import Any, Dict, Mapping, Tuple

import numpy as np

STEPS = 28


def encode(kind: str, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Returns a frame: the header's length, the header, and the arrays, each at an offset that is a multiple of eight."""
    specs = [{"name": name, "dtype": array.dtype.name, "shape": array.shape} for name, array in arrays.items()]
    header = json.dumps({"type": kind, "data": data, "arrays": specs}).encode()
    header += b" " * (-(4 + len(header)) % 8)  # so that the arrays begin at a multiple of eight
    parts = [struct.pack("<I", len(header)), header]
    for array in arrays.values():
        parts += [np.ascontiguousarray(array).tobytes(), bytes(-array.nbytes % 8)]
    return b"".join(parts)


def decode(frame: bytes) -> Tuple[Dict[str, Any], Dict[str, np.ndarray]]:
    """Reads a frame: its data, and views of its arrays."""
    at = 4 + struct.unpack_from("<I", frame)[0]
    header = json.loads(frame[4:at])
    arrays = {}
    for spec in header["arrays"]:
        count = int(np.prod(spec["shape"]))
        array = np.frombuffer(frame, np.dtype(spec["dtype"]), count, at).reshape(spec["shape"])
        arrays[spec["name"]] = array
        at += -(-array.nbytes // 8) * 8  # rounds the length up to a multiple of eight
    return header["data"], arrays


def score(
    url: str, data: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> Tuple[Dict[str, Any], Dict[str, np.ndarray]]:
    """Posts a frame to /v1/score. Returns the data and the arrays of the answer."""
    request = urllib.request.Request(f"{url}/v1/score", encode("score", data, arrays))
    request.add_header("Content-Type", "application/octet-stream")
    with urllib.request.urlopen(request) as answer:
        return decode(answer.read())


def main(url: str) -> None:
    texts = [b"<reasoning>Tired.</reasoning>\n3 6 5 EXERCISE", b"I would rather not."]
    histories = np.zeros((2, STEPS), np.uint8)
    histories[:, :2] = [3, 0]  # codes of ACTION_NAMES: sleep, deep_work
    arrays = {
        "seeds": np.array([4242, 4242], np.uint32),
        "step_indices": np.array([2, 2], np.uint8),
        "histories": histories,
        "completions": np.frombuffer(b"".join(texts), np.uint8),
        "completion_ends": np.cumsum([len(text) for text in texts]).astype(np.uint32),
    }
    data, scores = score(url, {"grader": "v2", "scores": ["total", "state_hash"], "parsed": True}, arrays)
    for row in range(data["rows"]):
        print(scores["actions"][row], scores["beliefs"][row], scores["total"][row], f"{scores['state_hash'][row]:016x}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000")
