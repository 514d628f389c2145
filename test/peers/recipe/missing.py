"""Runs train.py without TRL and torch. Prints {"error", "started": whether it created the output folder}."""

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
    except SystemExit as error:
        json.dump({"error": error.code, "started": output.exists()}, sys.stdout)
