"""GRPO with TRL: a language model learns from the rewards of a rhythm-vec server. See README.md."""

from __future__ import annotations

import argparse
import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Dict, Optional, Sequence

from datasets import Dataset
from environment import make_rows, running_server
from tiny import tiny_model, tiny_tokenizer
from trl import GRPOConfig, GRPOTrainer

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from rhythm_vec import Client, reward_funcs  # noqa: E402

SHAPING = ("repetition", "exploration")


def parse_arguments(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add(
        "--model",
        default="tiny",
        help="a name or folder of transformers, or tiny (default): one of this folder",
    )
    add("--output", type=Path, default=Path("grpo-output"), help="folder of the rows and of what is trained")
    add("--data", type=Path, help="rows that are there, as JSON lines; made anew if left out")
    add("--rows", type=int, default=3000, help="rows to make")
    add("--url", help="a server that runs; started if left out. RHYTHM_TOKEN is its token")
    add("--rhythm-vec", default="npx rhythm-vec", metavar="COMMAND", help="how the command is called")
    add("--grader", default="v2", choices=("v1", "v2"))
    add("--shaping", nargs="*", default=[], choices=SHAPING, help="terms of env_reward")
    add("--steps", type=int, default=500, help="optimiser steps")
    add("--generations", type=int, default=8, help="completions of a prompt")
    add("--prompts", type=int, default=1, help="prompts of a step")
    add("--accumulation", type=int, default=4, help="such batches of a step")
    add("--completion-length", type=int, default=256, help="tokens; a short one cuts answers off")
    add("--learning-rate", type=float, default=2e-4)
    add("--beta", type=float, default=0.04, help="of the KL term")
    add("--temperature", type=float, default=1.0)
    add("--lora-rank", type=int, default=0, help="trains an adapter of that rank, by the package peft")
    add("--seed", type=int, default=0)
    add("--cpu", action="store_true", help="leaves a GPU alone")
    return parser.parse_args(arguments)


def load_rows(path: Path, cache: Path) -> Dataset:
    """TRL calls `prompt` what a chat's rows call `messages`; the other columns reach the reward functions."""
    return Dataset.from_json(str(path), cache_dir=str(cache)).rename_column("messages", "prompt")


def config_of(options: argparse.Namespace) -> GRPOConfig:
    return GRPOConfig(
        output_dir=str(options.output),
        per_device_train_batch_size=options.prompts * options.generations,
        gradient_accumulation_steps=options.accumulation,
        num_generations=options.generations,
        max_completion_length=options.completion_length,
        max_steps=options.steps,
        learning_rate=options.learning_rate,
        beta=options.beta,
        temperature=options.temperature,
        seed=options.seed,
        use_cpu=options.cpu,
        bf16=False if options.cpu else None,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
    )


def model_of(options: argparse.Namespace) -> Dict[str, Any]:
    """The trainer's arguments that say what is trained."""
    if options.model == "tiny":
        chosen = {"model": tiny_model(options.seed), "processing_class": tiny_tokenizer()}
    else:
        chosen = {"model": options.model}
    if options.lora_rank > 0:
        from peft import LoraConfig

        chosen["peft_config"] = LoraConfig(r=options.lora_rank, task_type="CAUSAL_LM")
    return chosen


def train(options: argparse.Namespace, url: str, rows: Dataset) -> GRPOTrainer:
    shaping = {name: True for name in options.shaping}
    trainer = GRPOTrainer(
        **model_of(options),
        args=config_of(options),
        train_dataset=rows,
        reward_funcs=reward_funcs(Client(url), grader=options.grader, shaping=shaping),
    )
    trainer.train()
    trainer.save_model()
    trainer.save_state()
    return trainer


def main(arguments: Optional[Sequence[str]] = None) -> GRPOTrainer:
    options = parse_arguments(arguments)
    command = shlex.split(options.rhythm_vec)
    path = options.data or options.output / "rows" / "train.jsonl"
    if options.data is None:
        make_rows(command, path, options.rows)
    rows = load_rows(path, options.output / "cache")
    with nullcontext(options.url) if options.url else running_server(command) as url:
        return train(options, url, rows)


if __name__ == "__main__":
    main()
