"""Parses the command line of train.py: the settings, the options of a run, and options of TRL.

Options of TRL are NAME=VALUE, or files in YAML or JSON. `Settings` (settings.py) keeps them as text, NAME=VALUE with the value
in JSON. So `run.json`, the record of a run, also has the options that files set.
"""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Dict, Optional, Sequence, Tuple

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

    Raises as `read_options` for invalid options of TRL.
    """
    parsed = _parser(description).parse_args(arguments)
    given = {name: _value(name, getattr(parsed, name)) for name, _, _ in options() if getattr(parsed, name) is not None}
    run = Run(**{each.name: getattr(parsed, each.name) for each in fields(Run)})
    return run, preset(parsed.preset).with_values(given)


def _split(command: str) -> Optional[Tuple[str, ...]]:
    return tuple(shlex.split(command)) or None


def _value(name: str, argument: Any) -> Any:
    if name.endswith("_config"):
        return tuple(f"{name}={json.dumps(value, default=str)}" for name, value in read_options(argument).items())
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
    add("--start-from", dest="start", help="folder of the model that grpo starts from, or base for the base model (default: sft in --output)")
    add("--url", help="URL of a running server (default: starts one). RHYTHM_TOKEN is its token")
    add("--rhythm-vec", dest="command", type=_split, metavar="COMMAND", help="the rhythm-vec command (default: the one that rhythm_vec.serve finds)")
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


def read_options(arguments: Sequence[str]) -> Dict[str, Any]:
    """Returns options of TRL by name; later ones win. Does not check whether TRL has them.
    Raises ValueError for invalid text, FileNotFoundError for a missing file."""
    options: Dict[str, Any] = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        options.update({name.strip(): _parsed(text, argument)} if equals else _of_file(Path(argument)))
    return options


def _of_file(path: Path) -> Dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(
            f"Expected an option like beta=0.01, or a file of options, got {path}, which is not a file. "
            "Write NAME=VALUE, or pass the path of a file."
        )
    values = _parsed(path.read_text(encoding="utf-8"), str(path))
    if not isinstance(values, dict):
        raise ValueError(f"Expected {path} to have options by name, got {values!r}. Write one NAME: VALUE per line.")
    return {str(name): value for name, value in values.items()}


def _parsed(text: str, place: str) -> Any:
    # transformers, which the recipe needs, installs yaml.
    import yaml  # type: ignore[import-untyped, unused-ignore]

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        got = str(error).splitlines()[0]
        raise ValueError(f"Expected YAML in {place}, got an error {got}. Quote special characters.") from error
