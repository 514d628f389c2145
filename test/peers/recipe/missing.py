"""What train.py says to a Python without TRL and torch, and whether it counts its folder as begun."""

import importlib.util
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python" / "recipe"))

import train  # noqa: E402

train.find_spec = lambda name: None if name in ("torch", "trl") else importlib.util.find_spec(name)
with tempfile.TemporaryDirectory() as folder:
    output = Path(folder) / "tiny"
    try:
        train.main(["all", "--preset", "tiny", "--cpu", "--output", str(output)])
    except SystemExit as end:
        json.dump({"says": end.code, "begun": output.exists()}, sys.stdout)
