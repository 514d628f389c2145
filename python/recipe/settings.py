"""All settings of the recipe: defaults, their sources, and the presets.

The options of train.py and the table of `train.py settings` are derived from the dataclasses of this file. The file imports only
the standard library.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Dict, Iterator, Optional, Tuple

#: The sources of values. In notes, "first runs" and "later runs" are those that RhythmEnv published; "its script" is
#: `trl/scripts/sft.py` of TRL.
PUBLISHED = "published"
TRL = "TRL"
OURS = "ours"

#: Pitfalls of GRPO runs, by the names of their limits. `cut_off_read`: an answer that was cut off has an action.
PITFALLS = ("zero_spread", "one_action", "cycle", "cut_off", "cut_off_read", "kl", "unparsed")


def setting(value: Any, source: str, help: str, why: str = "", **more: Any) -> Any:
    """Declares a setting: its default, the source of the default (PUBLISHED by RhythmEnv, TRL or OURS), help and a note."""
    return field(default=value, metadata={"source": source, "help": help, "why": why, **more})


@dataclass(frozen=True)
class Model:
    """The model, seed and checkpoints of both stages."""

    model: str = setting("Qwen/Qwen2.5-3B-Instruct", PUBLISHED, "a Hugging Face model name, a model folder, or tiny")
    quantize: str = setting(
        "nf4",
        PUBLISHED,
        "nf4: frozen weights in 4 bits (needs a GPU); none: no quantization",
        choices=("nf4", "none"),
    )
    lora_rank: int = setting(8, PUBLISHED, "rank of the trained adapter; 0 trains all weights", "later runs")
    lora_alpha: int = setting(32, TRL, "scale of the adapter", "ModelConfig")
    lora_dropout: float = setting(0.05, TRL, "dropout of the adapter", "ModelConfig")
    seed: int = setting(42, TRL, "seed of the weights, the order of rows and the samples")
    save_steps: int = setting(
        50, OURS, "steps between checkpoints; the last two are kept", "an interrupted job loses at most this many steps"
    )


@dataclass(frozen=True)
class Data:
    """Generated rows of both stages."""

    episodes: int = setting(30, PUBLISHED, "episodes of the teacher, from seed 100 on")
    rows: int = setting(3000, PUBLISHED, "prompts for GRPO", "later runs")
    reasoning: str = setting(
        "keep",
        PUBLISHED,
        "keep: learn the teacher's reasoning with its answer; drop: learn the answer alone",
        choices=("keep", "drop"),
    )


@dataclass(frozen=True)
class Sft:
    """Stage 1: supervised fine-tuning on a teacher's answers."""

    epochs: float = setting(3.0, TRL, "passes over the rows", "RhythmEnv's is not published")
    learning_rate: float = setting(
        2e-4, TRL, "learning rate of AdamW", "its script for LoRA; RhythmEnv's is not published"
    )
    batch: int = setting(2, TRL, "rows per batch and device", "its script")
    accumulation: int = setting(8, TRL, "batches per step", "its script")
    max_length: int = setting(
        0,
        OURS,
        "maximum tokens of a row; 0 for no limit",
        "TRL cuts at 1,024 tokens, which would cut off the answer after a long prompt",
    )
    config: Tuple[str, ...] = setting((), TRL, "further options of SFTConfig: NAME=VALUE, or files of them")


@dataclass(frozen=True)
class Grpo:
    """Stage 2: GRPO from the model of stage 1."""

    steps: int = setting(500, PUBLISHED, "optimiser steps", "first runs")
    learning_rate: float = setting(2e-4, PUBLISHED, "learning rate of AdamW", "first runs")
    generations: int = setting(8, PUBLISHED, "completions per prompt (a group)", "later runs")
    batch: int = setting(8, TRL, "completions per batch and device")
    accumulation: int = setting(
        4, PUBLISHED, "batches per step", "first runs; with this batch size a step has 4 prompts"
    )
    completion_length: int = setting(
        256,
        OURS,
        "maximum tokens of a completion",
        "16 was published and cuts off all reasoning; evaluation used at least 256",
    )
    temperature: float = setting(1.5, PUBLISHED, "sampling temperature", "later runs")
    beta: float = setting(0.04, PUBLISHED, "weight of the KL to the model at the start of the stage", "later runs")
    rollout: str = setting(
        "step",
        PUBLISHED,
        "step: one answer to each row; episode: the model plays the 28 steps of each row's episode; tools: it plays them by "
        "calls of a tool",
        choices=("step", "episode", "tools"),
    )
    grader: str = setting(
        "v2", OURS, "grader of the episodes", "v1 does not reward inference", choices=("v1", "v2", "v3")
    )
    shaping: Tuple[str, ...] = setting(
        (),
        OURS,
        "shaping terms of env_reward",
        "add them if the policy collapses to one action or a cycle",
        choices=("repetition", "exploration"),
    )
    config: Tuple[str, ...] = setting((), TRL, "further options of GRPOConfig: NAME=VALUE, or files of them")


@dataclass(frozen=True)
class Limits:
    """Limits beyond which a pitfall is reported, and the pitfalls that stop training (watch.py).

    The values are chosen by hand: a lower limit warns earlier, and more often without need. Figures are compared with the
    limits over a window of steps.
    """

    window: int = setting(10, OURS, "steps per window", "the figures of a single step are noisy")
    zero_spread: float = setting(
        0.5, OURS, "share of groups without reward spread", "half of the groups would give no signal"
    )
    one_action: float = setting(
        0.8, OURS, "share of the most frequent action", "a good episode needs more than one action"
    )
    cycle: float = setting(0.9, OURS, "share of the two most frequent actions", "a published cycle scored 0.22")
    cut_off: float = setting(
        0.2, OURS, "share of answers that were cut off", "the action, at the end of an answer, may be lost"
    )
    cut_off_read: float = setting(
        0.01,
        OURS,
        "share of answers that were cut off but still parsed as an action",
        "in a published run the action came from the reasoning",
    )
    kl: float = setting(10.0, OURS, "KL in one step", "a published run reached 10,731 at step 205")
    unparsed: float = setting(0.5, OURS, "share of answers without an action", "SFT should prevent it")
    stop_on: Tuple[str, ...] = setting(
        (),
        OURS,
        "pitfalls at which training stops",
        "none by default: the user decides",
        choices=PITFALLS,
    )


@dataclass(frozen=True)
class Settings:
    """All settings, by section."""

    model: Model = Model()
    data: Data = Data()
    sft: Sft = Sft()
    grpo: Grpo = Grpo()
    watch: Limits = Limits()

    def with_values(self, values: Dict[str, Any]) -> "Settings":
        """Returns settings with other values, such as `{"grpo_beta": 0.01}`. Raises KeyError for an unknown option."""
        names = {option: (section, each.name) for option, section, each in options()}
        changed = self
        for option, value in values.items():
            section, name = names[option]
            part = replace(getattr(changed, section), **{name: value})
            changed = replace(changed, **{section: part})
        return changed

    def value(self, option: str) -> Any:
        """Returns the value of an option."""
        section, name = next((section, each.name) for found, section, each in options() if found == option)
        return getattr(getattr(self, section), name)


#: Sections whose options have no prefix.
_WITHOUT_PREFIX = ("model", "data")


def options() -> Iterator[Tuple[str, str, Any]]:
    """Yields each option's name, section and field, in order."""
    for section in fields(Settings):
        part: Any = section.default
        for each in fields(part):
            name = each.name if section.name in _WITHOUT_PREFIX else f"{section.name}_{each.name}"
            yield name, section.name, each


#: The values of presets that differ from the defaults. `later` has the defaults, `first` the values of the first
#: published runs, and `tiny` trains a model of about 12,000 weights, to try the loop on a CPU.
PRESETS: Dict[str, Dict[str, Any]] = {
    "later": {},
    "first": {
        "lora_rank": 4,
        "reasoning": "drop",
        "grpo_generations": 4,
        "grpo_batch": 1,
        "grpo_completion_length": 16,
        "grpo_temperature": 1.0,
        "grpo_beta": 0.01,
    },
    "tiny": {
        "model": "tiny",
        "quantize": "none",
        "lora_rank": 0,
        "reasoning": "drop",
        "episodes": 15,
        "rows": 500,
        "sft_epochs": 4.0,
        "sft_learning_rate": 5e-3,
        "sft_batch": 8,
        "sft_accumulation": 1,
        "grpo_steps": 60,
        "grpo_batch": 32,
        "grpo_accumulation": 1,
        "grpo_completion_length": 8,
        "grpo_learning_rate": 1e-3,
        "grpo_temperature": 1.0,
    },
}


def preset(name: str) -> Settings:
    """Returns the settings of a preset. Raises KeyError for an unknown name."""
    return Settings().with_values(PRESETS[name])


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(value) or "none"
    return f"{value:,}" if isinstance(value, int) and value >= 1000 else f"{value}"


def table() -> str:
    """Returns all settings as a Markdown table, which `train.py settings` prints."""
    lines = ["| setting | later | first | source of `later` | description |", "| --- | --- | --- | --- | --- |"]
    first = preset("first")
    for option, _, each in options():
        other = first.value(option)
        differs = "" if other == each.default else _text(other)
        why: Optional[str] = each.metadata["why"]
        source = f"{each.metadata['source']}: {why}" if why else each.metadata["source"]
        flag = "--" + option.replace("_", "-")
        lines.append(f"| `{flag}` | {_text(each.default)} | {differs} | {source} | {each.metadata['help']} |")
    return "\n".join(lines)
