"""Parses the command line of train.py: the settings, and the options of a run."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Sequence, Tuple

from options import option_texts
from settings import PRESETS, Settings, options, preset

STAGES = ("all", "sft", "grpo", "settings")


@dataclass(frozen=True)
class Run:
    """Options of a run that are not settings, such as its folder. `_parser` describes them."""

    stage: str
    output: Path
    resume: bool
    cpu: bool
    sft_rows: Optional[Path]
    grpo_rows: Optional[Path]
    start: Optional[str]
    url: Optional[str]
    command: Optional[Tuple[str, ...]]
    report_to: str
    push_to_hub: Optional[str]


def parse_arguments(arguments: Optional[Sequence[str]], description: str) -> Tuple[Run, Settings]:
    """Parses the command line. Exits with a message if it is invalid.

    Raises as `read_options` (options.py) for invalid options of TRL.
    """
    parsed = _parser(description).parse_args(arguments)
    given = {name: _value(name, getattr(parsed, name)) for name, _, _ in options() if getattr(parsed, name) is not None}
    run = Run(
        stage=parsed.stage,
        output=parsed.output,
        resume=parsed.resume,
        cpu=parsed.cpu,
        sft_rows=parsed.sft_rows,
        grpo_rows=parsed.grpo_rows,
        start=parsed.start_from,
        url=parsed.url,
        command=tuple(shlex.split(parsed.rhythm_vec)) if parsed.rhythm_vec else None,
        report_to=parsed.report_to,
        push_to_hub=parsed.push_to_hub,
    )
    return run, preset(parsed.preset).with_values(given)


def _value(name: str, argument: Any) -> Any:
    if name.endswith("_config"):
        return option_texts(argument)
    return tuple(argument) if isinstance(argument, list) else argument


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    add = parser.add_argument
    add("stage", choices=STAGES, help="run both stages (all) or one of them, or print the table of settings")
    add("--preset", choices=list(PRESETS), default="later", help="preset of default values for the settings, see README.md (default: later)")
    add("--output", type=Path, default=Path("recipe-output"), help="folder of all outputs")
    add("--resume", action="store_true", help="skip finished stages and resume from the last checkpoint")
    add("--cpu", action="store_true", help="do not use a GPU")
    add("--sft-rows", type=Path, help="rows of `dataset sft`, JSON lines (default: generated)")
    add("--grpo-rows", type=Path, help="rows of `dataset grpo`, JSON lines (default: generated)")
    add("--start-from", help="folder of the model that grpo starts from, or base for the base model (default: sft in --output)")
    add("--url", help="URL of a running server (default: starts one). RHYTHM_TOKEN is its token")
    add("--rhythm-vec", metavar="COMMAND", help="the rhythm-vec command (default: the one that rhythm_vec.serve finds)")
    add("--report-to", default="none", help="a logger of transformers, such as trackio or wandb (default: none)")
    add("--push-to-hub", metavar="USER/NAME", help="upload private models USER/NAME-sft and -grpo with HF_TOKEN")
    for section in ("model", "data", "sft", "grpo", "watch"):
        group = parser.add_argument_group(section)
        for name, its_section, setting in options():
            if its_section == section:
                _add_setting(group, name, setting)
    return parser


def _add_setting(group: Any, name: str, setting: Any) -> None:
    is_list = isinstance(setting.default, tuple)
    default = " ".join(setting.default) if is_list else setting.default
    value_type: Any = str if is_list else type(setting.default)
    group.add_argument(
        "--" + name.replace("_", "-"),
        type=value_type,
        nargs="*" if is_list else None,
        choices=setting.metadata.get("choices"),
        help=f"{setting.metadata['help']} (default: {default})".replace("%", "%%"),
    )
