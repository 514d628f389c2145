"""The options of train.py: all settings, and the options of a run."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, List, Optional, Sequence, Tuple

from settings import PRESETS, Settings, options, preset

STAGES = ("all", "sft", "grpo", "settings")


@dataclass(frozen=True)
class Run:
    """Options of a run, which change no result."""

    stage: str
    output: Path
    resume: bool
    cpu: bool
    sft_rows: Optional[Path]
    grpo_rows: Optional[Path]
    start: Optional[str]
    url: Optional[str]
    command: Tuple[str, ...]
    report_to: str
    push_to_hub: Optional[str]


def parse_arguments(arguments: Optional[Sequence[str]], description: str) -> Tuple[Run, Settings]:
    """Parses the command line. Exits with a message if it is invalid."""
    asked = _parser(description).parse_args(arguments)
    given = {name: _value(getattr(asked, name)) for name, _, _ in options() if getattr(asked, name) is not None}
    run = Run(
        stage=asked.stage,
        output=asked.output,
        resume=asked.resume,
        cpu=asked.cpu,
        sft_rows=asked.sft_rows,
        grpo_rows=asked.grpo_rows,
        start=asked.start,
        url=asked.url,
        command=tuple(shlex.split(asked.rhythm_vec)),
        report_to=asked.report_to,
        push_to_hub=asked.push_to_hub,
    )
    return run, preset(asked.preset).with_values(given)


def _value(given: Any) -> Any:
    return tuple(given) if isinstance(given, list) else given


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    add = parser.add_argument
    add("stage", choices=STAGES, help="both stages, one of them, or print the table of settings")
    add(
        "--preset", choices=list(PRESETS), default="later", help="the values that other options change (default: later)"
    )
    add("--output", type=Path, default=Path("recipe-output"), help="folder of all outputs")
    add("--resume", action="store_true", help="skip finished stages and resume from the last checkpoint")
    add("--cpu", action="store_true", help="do not use a GPU")
    add("--sft-rows", type=Path, help="rows of `dataset sft`, JSON lines (default: generated)")
    add("--grpo-rows", type=Path, help="rows of `dataset grpo`, JSON lines (default: generated)")
    add("--start", help="folder of the model that grpo starts from, or base (default: sft in --output)")
    add("--url", help="a running server (default: starts one). RHYTHM_TOKEN is its token")
    add("--rhythm-vec", default="npx rhythm-vec", metavar="COMMAND", help="the rhythm-vec command")
    add("--report-to", default="none", help="a logger of transformers, such as trackio or wandb (default: none)")
    add("--push-to-hub", metavar="USER/NAME", help="upload private models USER/NAME-sft and -grpo with HF_TOKEN")
    for section in ("model", "data", "sft", "grpo", "watch"):
        group = parser.add_argument_group(section)
        for name, of, each in options():
            if of == section:
                _add_setting(group, name, each)
    return parser


def _add_setting(group: Any, name: str, each: Any) -> None:
    several = isinstance(each.default, tuple)
    kind: Any = str if several else type(each.default)
    shown: List[str] = [each.metadata["help"], f"(default: {' '.join(each.default) if several else each.default})"]
    group.add_argument(
        "--" + name.replace("_", "-"),
        type=kind,
        nargs="*" if several else None,
        choices=each.metadata.get("choices"),
        help=" ".join(shown).replace("%", "%%"),
    )
