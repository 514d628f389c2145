"""Every setting of the recipe, once: its value, where that comes from, and what the presets have instead.

Dataclasses of this file are the options of train.py and the table of README.md. They need no other package.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Dict, Iterator, Optional, Tuple

PUBLISHED = "published"
TRL = "TRL"
OURS = "ours"

#: What is watched for while GRPO runs, by the name of its limit.
PITFALLS = ("zero_spread", "one_action", "cycle", "cut_off", "cut_off_read", "kl", "unparsed")


def setting(value: Any, source: str, help: str, why: str = "", **more: Any) -> Any:
    """A field: what it is for, and where its default comes from (PUBLISHED for RhythmEnv, TRL, OURS and why)."""
    return field(default=value, metadata={"source": source, "help": help, "why": why, **more})


@dataclass(frozen=True)
class Model:
    """What is trained, in both stages."""

    model: str = setting("Qwen/Qwen2.5-3B-Instruct", PUBLISHED, "a name or folder of transformers, or tiny")
    quantize: str = setting(
        "nf4",
        PUBLISHED,
        "the frozen weights: in 4 bits, which a GPU needs, or as they are",
        choices=("nf4", "none"),
    )
    lora_rank: int = setting(8, PUBLISHED, "of the adapter that is trained; 0 trains all weights", "later runs")
    lora_alpha: int = setting(32, TRL, "scales the adapter", "ModelConfig")
    lora_dropout: float = setting(0.05, TRL, "of the adapter", "ModelConfig")
    seed: int = setting(42, TRL, "of the weights, the order of rows and the samples")
    save_steps: int = setting(
        50, OURS, "steps between checkpoints, of which two are kept", "what a job that ends too early may lose"
    )


@dataclass(frozen=True)
class Data:
    """Rows of both stages, where they are made here."""

    episodes: int = setting(30, PUBLISHED, "weeks of the teacher, from seed 100 on")
    rows: int = setting(3000, PUBLISHED, "prompts of GRPO", "later runs")
    reasoning: str = setting(
        "keep",
        PUBLISHED,
        "of the teacher: learned with the answer, or dropped, for an answer of one line",
        choices=("keep", "drop"),
    )


@dataclass(frozen=True)
class Sft:
    """Stage 1, to know what an answer is."""

    epochs: float = setting(3.0, TRL, "times that each row is seen", "not published")
    learning_rate: float = setting(2e-4, TRL, "of AdamW", "its script's for LoRA; not published")
    batch: int = setting(2, TRL, "rows at once, on a device", "its script's")
    accumulation: int = setting(8, TRL, "such batches of a step", "its script's")
    max_length: int = setting(
        0,
        OURS,
        "tokens of a row, 0 for no limit",
        "TRL cuts at 1,024, and the answer stands at the end of a long prompt",
    )


@dataclass(frozen=True)
class Grpo:
    """Stage 2, going on from stage 1."""

    steps: int = setting(500, PUBLISHED, "optimiser steps", "first runs")
    learning_rate: float = setting(2e-4, PUBLISHED, "of AdamW", "first runs")
    generations: int = setting(8, PUBLISHED, "completions of a prompt: a group", "later runs")
    batch: int = setting(8, TRL, "completions at once, on a device")
    accumulation: int = setting(4, PUBLISHED, "such batches of a step", "first runs; with these batches 4 prompts")
    completion_length: int = setting(
        256,
        OURS,
        "tokens of a completion at most",
        "16 was published, and cuts every reasoning off; of evaluation, 256 at least",
    )
    temperature: float = setting(1.5, PUBLISHED, "of the samples", "later runs")
    beta: float = setting(0.04, PUBLISHED, "weight of the KL to the model that the stage began with", "later runs")
    grader: str = setting("v2", OURS, "grades the weeks", "v1 does not pay for inference", choices=("v1", "v2"))
    shaping: Tuple[str, ...] = setting(
        (),
        OURS,
        "terms of env_reward",
        "for a loop that is seen to collapse",
        choices=("repetition", "exploration"),
    )


@dataclass(frozen=True)
class Limits:
    """From where on a pitfall is reported (watch.py)."""

    window: int = setting(10, OURS, "steps that are looked at together", "single steps are noise")
    zero_spread: float = setting(0.5, OURS, "share of groups without spread", "half of the samples teach nothing")
    one_action: float = setting(0.8, OURS, "share of the most frequent action", "a good week needs more than one")
    cycle: float = setting(0.9, OURS, "share of the two most frequent actions", "a published cycle scored 0.22")
    cut_off: float = setting(
        0.2, OURS, "share of completions that were cut off", "they are punished for their length"
    )
    cut_off_read: float = setting(
        0.01,
        OURS,
        "share that was cut off and yet read as an action",
        "in a published run it came out of the reasoning",
    )
    kl: float = setting(10.0, OURS, "of KL, in one step", "10,731 at step 205 was published")
    unparsed: float = setting(0.5, OURS, "share of completions without an action", "SFT comes first to avoid it")
    stop_on: Tuple[str, ...] = setting(
        (),
        OURS,
        "pitfalls at which training stops",
        "whoever watches decides",
        choices=PITFALLS,
    )


@dataclass(frozen=True)
class Settings:
    """All of them, in sections."""

    model: Model = Model()
    data: Data = Data()
    sft: Sft = Sft()
    grpo: Grpo = Grpo()
    watch: Limits = Limits()

    def with_values(self, values: Dict[str, Any]) -> "Settings":
        """Other values, by option: `{"grpo_beta": 0.01}`. Raises KeyError for what is no option."""
        names = {option: (section, each.name) for option, section, each in options()}
        changed = self
        for option, value in values.items():
            section, name = names[option]
            part = replace(getattr(changed, section), **{name: value})
            changed = replace(changed, **{section: part})
        return changed

    def value(self, option: str) -> Any:
        """Of an option's name."""
        section, name = next((section, each.name) for found, section, each in options() if found == option)
        return getattr(getattr(self, section), name)


#: Sections whose options are called by the name alone.
_PLAIN = ("model", "data")


def options() -> Iterator[Tuple[str, str, Any]]:
    """Each option's name, its section and its field, in order."""
    for section in fields(Settings):
        part: Any = section.default
        for each in fields(part):
            name = each.name if section.name in _PLAIN else f"{section.name}_{each.name}"
            yield name, section.name, each


#: What a preset has instead of the defaults. `later` is the defaults, `first` the first published runs, and `tiny` a
#: model of a few thousand weights on a processor, for a look at the loop.
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
    """The settings of a preset. Raises KeyError."""
    return Settings().with_values(PRESETS[name])


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(value) or "none"
    return f"{value:,}" if isinstance(value, int) and value >= 1000 else f"{value}"


def table() -> str:
    """All settings as a table in Markdown: README.md has it."""
    lines = ["| setting | later | first | source of `later` | what it is |", "| --- | --- | --- | --- | --- |"]
    first = preset("first")
    for option, _, each in options():
        other = first.value(option)
        differs = "" if other == each.default else _shown(other)
        why: Optional[str] = each.metadata["why"]
        source = f"{each.metadata['source']}: {why}" if why else each.metadata["source"]
        flag = "--" + option.replace("_", "-")
        lines.append(f"| `{flag}` | {_shown(each.default)} | {differs} | {source} | {each.metadata['help']} |")
    return "\n".join(lines)
