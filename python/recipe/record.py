"""What a stage leaves behind in `run.json`: enough to run it again, and to know of which world its results are."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import os
import platform
from pathlib import Path
from typing import Any, Dict, List, Optional

import torch
from settings import Settings

RECORD = "run.json"
_PACKAGES = ("trl", "transformers", "torch", "peft", "accelerate", "datasets", "bitsandbytes")


def machine() -> Dict[str, Any]:
    """What it ran on."""
    return {
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "gpus": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())],
    }


def packages() -> Dict[str, Optional[str]]:
    """Versions of what a training is made of; None for what is not installed."""
    return {name: _version(name) for name in ("python", *_PACKAGES)}


def _version(name: str) -> Optional[str]:
    if name == "python":
        return platform.python_version()
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def history(log: List[Dict[str, Any]], names: List[str]) -> List[Dict[str, Any]]:
    """Of a trainer's log the lines that have the first of these names, and of them these."""
    return [
        {"step": line["step"], **{name: line[name] for name in names if name in line}}
        for line in log
        if names[0] in line
    ]


def write_record(folder: Path, stage: str, settings: Settings, found: Dict[str, Any]) -> Path:
    """Writes `run.json` whole; that it is there says that the stage has ended."""
    record = {
        "stage": stage,
        "settings": dataclasses.asdict(settings),
        **found,
        "packages": packages(),
        "machine": machine(),
    }
    path = folder / RECORD
    beside = path.with_suffix(".tmp")
    beside.write_text(json.dumps(record, indent=2) + "\n")
    beside.replace(path)
    return path
