"""Records the settings of a stage at its start (`settings.json`), and its settings, world, results, packages and
machine at its end (`run.json`)."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import os
import platform
import re
from pathlib import Path
from typing import Any, Dict, Optional

import ranks
from arguments import read_options
from settings import Settings

RECORD = "run.json"
STARTED = "settings.json"
#: Prefixes of the settings that a resumed run may change, because no training step depends on them.
_CHANGEABLE = (
    "model.save_steps",
    "watch.",
    *(
        f"{stage}.config.{name}"
        for stage in ("sft", "grpo")
        for name in "report_to run_name project log_ logging_ save_ hub_ push_to_hub vllm_server_".split()
    ),
)
_PACKAGES = ("trl", "transformers", "torch", "peft", "accelerate", "datasets", "bitsandbytes")


def begin(folder: Path, settings: Settings, resume: bool) -> None:
    """Records the settings of a stage when it first starts. Raises as `check_unchanged`."""
    check_unchanged(folder, settings, resume)
    path = folder / STARTED
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(dataclasses.asdict(settings), indent=2) + "\n")


def check_unchanged(folder: Path, settings: Settings, resume: bool) -> None:
    """Raises ValueError if the folder has a run, unless it is resumed and only `_CHANGEABLE` settings differ."""
    path = folder / STARTED
    if not path.exists():
        return
    if not resume:
        raise ValueError(
            f"Expected {folder} to have no run, got one that was started. "
            "Pass --resume to continue it, or another --output."
        )
    requested = _flat(json.loads(json.dumps(dataclasses.asdict(settings))))
    started = _flat(json.loads(path.read_text()))
    changed = [
        f"{name}: {started.get(name)!r}, now {requested.get(name)!r}"
        for name in {**started, **requested}
        if not name.startswith(_CHANGEABLE) and requested.get(name) != started.get(name)
    ]
    if changed:
        raise ValueError(
            f"Expected the settings with which {folder} was started, got others: {'; '.join(changed)}. "
            "Pass the same settings with --resume, or another --output."
        )


def _flat(settings: Dict[str, Dict[str, Any]]) -> Dict[str, Any]:
    """Returns settings by "section.name", and options of TRL by "section.config.name"."""
    flat = {f"{section}.{name}": value for section, values in settings.items() for name, value in values.items()}
    for name in ("sft.config", "grpo.config"):
        flat.update({f"{name}.{option}": value for option, value in read_options(flat.pop(name, ())).items()})
    return flat


def machine() -> Dict[str, Any]:
    """Describes the machine."""
    import torch

    return {
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "processes": ranks.count(),
        "gpus": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())],
    }


def _processor() -> str:
    """Returns the processor's name."""
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.*)$", cpuinfo.read_text() if cpuinfo.exists() else "", re.MULTILINE)
    return names[0] if names else platform.processor() or platform.machine()


def _version(name: str) -> Optional[str]:
    """Returns the version of a package; None if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def write_record(folder: Path, stage: str, settings: Settings, results: Dict[str, Any]) -> Path:
    """Writes `run.json` atomically, on rank 0. Its presence marks the stage as finished."""
    path = folder / RECORD
    if not ranks.is_first():
        return path
    record = {
        "stage": stage,
        "settings": dataclasses.asdict(settings),
        **results,
        "packages": {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}},
        "machine": machine(),
    }
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(record, indent=2) + "\n")
    temporary.replace(path)
    return path
