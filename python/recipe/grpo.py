"""Stage 2: GRPO on rows of `rhythm-vec dataset grpo`, with the rewards of a server."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Dict, Optional

import models
import ranks
from arguments import Run
from callback import WatchCallback
from datasets import Dataset
from episodes import EpisodeRollouts, episode_prompts
from record import history, write_record
from rhythm_vec import Client, reward_funcs, score, thought_of
from rows import Rows, check_world
from settings import Settings
from training import run_trainer
from trl import GRPOConfig, GRPOTrainer

#: The figures of TRL's log that `run.json` keeps. Lines of the log without the first figure are left out.
_LOGGED = [
    "reward",
    "rewards/final_score/mean",
    "rewards/format_valid/mean",
    "rewards/action_legal/mean",
    "rewards/env_reward/mean",
    "rewards/belief_accuracy/mean",
    "rewards/belief_skill/mean",
    "frac_reward_zero_std",
    "completions/clipped_ratio",
    "kl",
    "entropy",
]


def train_grpo(settings: Settings, run: Run, rows: Rows, config: GRPOConfig, url: str, start: Optional[Path]) -> Path:
    """Trains the model in the folder `start`, or the base model; returns the folder of the result."""
    output = run.output / "grpo"
    client = Client(url)
    digest = score(seeds=[0], action_histories=[[]], actions=[None], client=client).world_digest
    check_world(rows, digest)
    start_time = time.monotonic()
    dataset = dataset_of(rows, settings)
    trainer, callback = trainer_of(settings, run, dataset, config, client, start)
    run_trainer(trainer, run, output)
    write_record(
        output,
        "grpo",
        settings,
        {
            "rhythm_vec": {**rows.origin, "world_digest": digest},
            "base": settings.model.model,
            "rows": len(dataset),
            "start": "base" if start is None else start.name,
            "seconds": round(time.monotonic() - start_time, 1),
            "stopped_on": callback.stopped_on,
            "pitfalls": callback.watch.summary(),
            "log": history(trainer.state.log_history, _LOGGED),
        },
    )
    return output


def trainer_of(
    settings: Settings, run: Run, rows: Dataset, config: GRPOConfig, client: Client, start: Optional[Path]
) -> "tuple[GRPOTrainer, WatchCallback]":
    """Builds TRL's trainer, and the callback that watches for training pitfalls."""
    output = run.output / "grpo"
    base = ranks.on_first(lambda: models.base_of(settings.model, run.output)) if start is None else str(start)
    tokenizer = models.tokenizer_of(base)
    model_options = config.model_init_kwargs
    if start is None:
        model, adapter = models.load_base(settings.model, base, run.cpu, model_options)
    else:
        model, adapter = models.load_trained(settings.model, start, run.cpu, model_options), None
    callback = WatchCallback(settings.watch, output, tokenizer)
    # Whole episodes write the chats themselves, without these options (conversation.py).
    options = {} if settings.grpo.rollout == "episode" else config.chat_template_kwargs or {}
    thought = thought_of(tokenizer, client=client, **options)
    # TRL copies a trained adapter as the reference model, so the KL divergence is from the model at the start of this stage.
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        peft_config=adapter,
        args=config,
        train_dataset=rows,
        callbacks=[callback],
        **sources_of(settings, output, client, callback, thought),
    )
    return trainer, callback


def sources_of(
    settings: Settings, output: Path, client: Client, callback: WatchCallback, thought: str
) -> Dict[str, Any]:
    """Returns the trainer's reward functions, and its rollout function if the model plays whole episodes."""
    grpo = settings.grpo
    if grpo.rollout == "episode":
        rollouts = EpisodeRollouts(client, grpo.grader, output, callback.record, thought)
        return {"rollout_func": rollouts, "reward_funcs": rollouts.rewards}
    rewards = reward_funcs(client, grader=grpo.grader, shaping={name: True for name in grpo.shaping}, thought=thought)
    return {"reward_funcs": callback.recording(rewards)}


def dataset_of(rows: Rows, settings: Settings) -> Dataset:
    """Returns the rows with all columns, which the reward functions get; for whole episodes, only the episodes' prompts."""
    if settings.grpo.rollout == "episode":
        return Dataset.from_dict({"prompt": episode_prompts(rows)})
    return Dataset.from_dict(rows.columns())
