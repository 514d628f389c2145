"""Reads options of TRL from the command line: NAME=VALUE, or files in YAML or JSON. Does not check whether TRL has them.

`Settings` (settings.py) keeps them as text, NAME=VALUE with the value in JSON. So `run.json`, the record of a run, also has
the options that files set.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Sequence, Tuple


def read_options(arguments: Sequence[str]) -> Dict[str, Any]:
    """Returns options by name; later ones win. Raises ValueError for invalid text, FileNotFoundError for a missing file."""
    options: Dict[str, Any] = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        options.update({name.strip(): _parsed(text, argument)} if equals else _of_file(Path(argument)))
    return options


def option_texts(arguments: Sequence[str]) -> Tuple[str, ...]:
    """Returns options as the texts that `Settings` keeps."""
    return tuple(f"{name}={json.dumps(value, default=str)}" for name, value in read_options(arguments).items())


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
