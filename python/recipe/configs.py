"""TRL's configurations of both stages, built from the settings and from options of TRL that the user passes."""

from __future__ import annotations

import dataclasses
import difflib
import enum
from pathlib import Path
from types import UnionType
from typing import Any, Dict, List, Literal, Mapping, Type, TypeVar, Union, get_args, get_origin, get_type_hints

from arguments import Run, read_options
from episodes import NUM_STEPS
from models import precision
from settings import Settings
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.sft_config import SFTConfig

Config = TypeVar("Config", SFTConfig, GRPOConfig)

#: The tokens that are left for the result of a tool call: it has 310 characters, many of them digits. Chosen by hand.
_RESULT_TOKENS = 200

#: Options of TRL that the recipe decides, and what to pass instead.
_DECIDED = {"output_dir": "--output", "use_cpu": "--cpu", "resume_from_checkpoint": "--resume"}


def sft_config(settings: Settings, run: Run) -> SFTConfig:
    """Builds the configuration of stage 1. Raises ValueError for invalid options."""
    sft = settings.sft
    values = {
        **_common(settings, run, run.output / "sft"),
        "num_train_epochs": sft.epochs,
        "learning_rate": sft.learning_rate,
        "per_device_train_batch_size": sft.batch,
        "gradient_accumulation_steps": sft.accumulation,
        "max_length": sft.max_length or None,
        "completion_only_loss": True,
    }
    return SFTConfig(**{**values, **checked_options(SFTConfig, read_options(sft.config))})


def grpo_config(settings: Settings, run: Run) -> GRPOConfig:
    """Builds the configuration of stage 2. Raises ValueError for invalid options."""
    grpo = settings.grpo
    values = {
        **_common(settings, run, run.output / "grpo"),
        "max_steps": grpo.steps,
        "learning_rate": grpo.learning_rate,
        "num_generations": grpo.generations,
        "per_device_train_batch_size": grpo.batch,
        "gradient_accumulation_steps": grpo.accumulation,
        "max_completion_length": completion_length(settings),
        # After the last slot a model may go on calling.
        "max_tool_calling_iterations": NUM_STEPS if grpo.rollout == "tools" else None,
        "temperature": grpo.temperature,
        "beta": grpo.beta,
    }
    return GRPOConfig(**{**values, **checked_options(GRPOConfig, read_options(grpo.config))})


def completion_length(settings: Settings) -> int:
    """Returns the maximum tokens of a completion. With tools it is the whole conversation of an episode, results included."""
    length = settings.grpo.completion_length
    return NUM_STEPS * (length + _RESULT_TOKENS) if settings.grpo.rollout == "tools" else length


def _common(settings: Settings, run: Run, output: Path) -> Dict[str, Any]:
    """Returns the options that both stages share."""
    dtype = precision(run.cpu)
    return {
        "output_dir": str(output),
        "seed": settings.model.seed,
        "use_cpu": run.cpu,
        "bf16": dtype == "bfloat16",
        "fp16": dtype == "float16",
        "logging_steps": 1,
        "save_strategy": "steps",
        "save_steps": settings.model.save_steps,
        "save_total_limit": 2,
        "report_to": run.report_to,
        "push_to_hub": run.push_to_hub is not None,
        "hub_model_id": None if run.push_to_hub is None else f"{run.push_to_hub}-{output.name}",
        "hub_private_repo": True,
    }


def checked_options(config: Type[Config], options: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns options with values of the types that TRL expects. Raises ValueError for an unknown name, an option
    that the recipe decides, or a value of another type."""
    hints = get_type_hints(config)
    names = [each.name for each in dataclasses.fields(config) if each.init]
    for name in options:
        if name in _DECIDED:
            raise ValueError(f"Expected no option {name}, got {options[name]!r}. Pass {_DECIDED[name]} instead.")
        if name not in names:
            raise ValueError(f"Expected an option of TRL's {config.__name__}, got {name}.{_closest(name, names)}")
    return {name: _converted(config, name, value, hints[name]) for name, value in options.items()}


def _closest(name: str, names: List[str]) -> str:
    close = difflib.get_close_matches(name.replace("-", "_"), names, n=1)
    return f" Did you mean {close[0]}?" if close else f" Its documentation lists all {len(names)}."


def _converted(config: Type[Config], name: str, value: Any, hint: Any) -> Any:
    """Converts a value to one of the types of an option: YAML reads 1e-4 and none as text. Raises ValueError."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for kind in kinds:
        if _is_a(value, kind):
            return value
    if str in kinds and isinstance(value, (int, float)):
        return str(value)
    if float in kinds and isinstance(value, (int, str)) and not isinstance(value, bool):
        try:
            return float(value)
        except ValueError:
            pass
    if type(None) in kinds and isinstance(value, str) and value.lower() == "none":
        return None
    expected = " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds if kind is not type(None))
    raise ValueError(
        f"Expected {name} of TRL's {config.__name__} to be {expected}, got {value!r}. "
        "Values are read as YAML: lists like [a, b], mappings like {a: 1}."
    )


def _is_a(value: Any, kind: Any) -> bool:
    """Returns whether a value has the type `kind`. Does not check the contents of lists and mappings."""
    if kind is Any:
        return True
    origin = get_origin(kind) or kind
    if origin is Literal:
        return value in get_args(kind)
    if isinstance(origin, type) and issubclass(origin, enum.Enum):
        return value in [each.value for each in origin]
    return type(value) is origin
