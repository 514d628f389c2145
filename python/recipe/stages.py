"""The two stages: SFT on a teacher's answers (rows of `rhythm-vec dataset sft`), and GRPO on rows of
`rhythm-vec dataset grpo` with the rewards of a server."""

from __future__ import annotations

import functools
import json
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import models
import ranks
import trl
from arguments import Run
from callback import WatchCallback
from datasets import Dataset
from episodes import NUM_STEPS, EpisodeRollouts, episode_prompts
from record import write_record
from rhythm_vec import Client, reward_funcs, score, thought_of
from rhythm_vec.trl import RhythmEnvironment, prompt_of, slots_played
from rows import Rows, check_world
from settings import Settings
from transformers import Trainer
from transformers.trainer_utils import get_last_checkpoint

#: peft's name of the trained adapter, and TRL's name of the copy from which the KL divergence is measured.
TRAINED, REFERENCE = "default", "ref"
#: The figures of TRL's log that `run.json` keeps, by stage. Lines of the log without the first figure are left out.
_LOGGED = {
    "sft": ("loss", "mean_token_accuracy", "entropy", "learning_rate"),
    "grpo": (
        "reward",
        *(
            f"rewards/{name}/mean"
            for name in ("RhythmEnvironment", "slots_played", "final_score", "format_valid", "action_legal", "env_reward", "belief_accuracy", "belief_skill")
        ),
        "frac_reward_zero_std",
        "completions/clipped_ratio",
        "kl",
        "entropy",
    ),
}


def train_sft(settings: Settings, run: Run, rows: Rows, config: trl.SFTConfig) -> None:
    """Trains the base model on rows of chats."""
    base = ranks.on_first(lambda: models.base_of(settings.model, run.output))
    tokenizer = models.tokenizer_of(base)
    dataset = sft_dataset(rows, settings)
    check_lengths(dataset, tokenizer, config.max_length)
    model, adapter = models.load_base(settings.model, base, run.cpu, config.model_init_kwargs)
    trainer = trl.SFTTrainer(
        model=model, processing_class=tokenizer, peft_config=adapter, args=config, train_dataset=dataset
    )
    _train(trainer, "sft", settings, run, {"rhythm_vec": rows.origin, "rows": len(dataset)})


def sft_dataset(rows: Rows, settings: Settings) -> Dataset:
    """Splits chat rows into prompt and completion, so that only the answer and its end token are learned. Drops the
    reasoning of answers if the settings say so."""

    def split(row: Dict[str, Any]) -> Dict[str, Any]:
        *prompt, answer = row["messages"]
        content = answer["content"]
        if settings.data.reasoning == "drop":
            content = content.rpartition("</reasoning>")[2].strip()
        return {"prompt": prompt, "completion": [{"role": "assistant", "content": content}]}

    return Dataset.from_list([split(row) for row in rows.rows])


def check_lengths(dataset: Dataset, tokenizer: Any, max_length: Optional[int]) -> None:
    """Raises ValueError if rows have more than `max_length` tokens: their answers would be cut off."""
    if max_length is None:
        return
    lengths = [
        len(tokenizer.apply_chat_template(row["prompt"] + row["completion"], return_dict=True)["input_ids"])
        for row in dataset
    ]
    too_long = sum(length > max_length for length in lengths)
    if too_long > 0:
        raise ValueError(
            f"Expected rows of at most {max_length} tokens (--sft-max-length), got {too_long} of {len(lengths)} rows "
            f"longer than that, the longest with {max(lengths)} tokens. Their answers would be cut off. "
            "Raise the limit, or pass 0 for no limit."
        )


def train_grpo(
    settings: Settings, run: Run, rows: Rows, config: trl.GRPOConfig, url: str, start: Optional[Path]
) -> None:
    """Trains the model in the folder `start`, or the base model."""
    client = Client(url)
    digest = score(seeds=[0], action_histories=[[]], actions=[None], client=client).world_digest
    check_world(rows, digest)
    dataset = grpo_dataset(settings, rows)
    trainer, callback = grpo_trainer(settings, run, dataset, config, client, start)
    origin = {"rhythm_vec": {**rows.origin, "world_digest": digest}, "rows": len(dataset)}
    _train(trainer, "grpo", settings, run, {**origin, "start": "base" if start is None else start.name}, callback)


def grpo_dataset(settings: Settings, rows: Rows) -> Dataset:
    """Returns the rows of the trainer. Reward functions and environments get all columns; a rollout function gets only the
    prompts, which name the episodes."""
    if settings.grpo.rollout == "step":
        return Dataset.from_dict(rows.columns())
    prompts = episode_prompts(rows)
    if settings.grpo.rollout == "episode":
        return Dataset.from_dict({"prompt": prompts})
    first = prompt_of(settings.grpo.grader)
    return Dataset.from_list([{"prompt": first, **json.loads(prompt[0]["content"])} for prompt in prompts])


def grpo_trainer(
    settings: Settings, run: Run, rows: Dataset, config: trl.GRPOConfig, client: Client, start: Optional[Path]
) -> Tuple[trl.GRPOTrainer, WatchCallback]:
    """Builds TRL's trainer, and the callback that watches for training pitfalls."""
    grpo, output = settings.grpo, run.output / "grpo"
    base = ranks.on_first(lambda: models.base_of(settings.model, run.output)) if start is None else str(start)
    tokenizer = models.tokenizer_of(base)
    if start is None:
        model, adapter = models.load_base(settings.model, base, run.cpu, config.model_init_kwargs)
    else:
        model, adapter = models.load_trained(settings.model, start, run.cpu, config.model_init_kwargs), None
    callback = WatchCallback(settings.watch, output, tokenizer)
    # Whole episodes write the chats themselves, without these options (episodes.py).
    options = {} if grpo.rollout == "episode" else config.chat_template_kwargs or {}
    thought = thought_of(tokenizer, client=client, **options)
    sources: Dict[str, Any]
    if grpo.rollout == "episode":
        rollouts = EpisodeRollouts(client, grpo.grader, output, callback.record, thought)
        sources = {"rollout_func": rollouts, "reward_funcs": rollouts.rewards}
    elif grpo.rollout == "tools":
        if settings.model.model == "tiny":
            tokenizer.response_template = models.TOOL_CALLS
        sources = {
            "environment_factory": functools.partial(RhythmEnvironment, grader=grpo.grader),
            "reward_funcs": [recording_slots(callback)],
        }
    else:
        shaping = {name: True for name in grpo.shaping}
        rewards = reward_funcs(client, grader=grpo.grader, shaping=shaping, thought=thought)
        sources = {"reward_funcs": callback.recording(rewards)}
    # TRL copies a trained adapter as the reference model, so the KL divergence is from the model at the start of this stage.
    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        peft_config=adapter,
        args=config,
        train_dataset=rows,
        callbacks=[callback],
        **sources,
    )
    return trainer, callback


def recording_slots(callback: WatchCallback) -> Any:
    """Returns the reward function `slots_played`, which also passes each slot to the watch: its action, or none."""

    @functools.wraps(slots_played)
    def recorded(environments: Sequence[RhythmEnvironment], **columns: Any) -> List[float]:
        played = [[*each.actions, *[""] * (NUM_STEPS - len(each.actions))] for each in environments]
        slots = [action.upper() for episode in played for action in episode]
        callback.record(slots, [slot != "" for slot in slots], [False] * len(slots))
        return slots_played(environments, **columns)

    return recorded


def _train(
    trainer: Trainer,
    stage: str,
    settings: Settings,
    run: Run,
    origin: Dict[str, Any],
    callback: Optional[WatchCallback] = None,
) -> None:
    """Trains and saves the model, and writes the record. A resumed run begins with the last checkpoint in the folder."""
    output, start_time = run.output / stage, time.monotonic()
    checkpoint = ranks.on_first(lambda: get_last_checkpoint(str(output)) if run.resume and output.exists() else None)
    if checkpoint is not None:
        restore_adapter(trainer.model, Path(checkpoint))
    trainer.train(resume_from_checkpoint=checkpoint)
    # Removes TRL's reference copy, so that only the trained adapter is saved.
    if REFERENCE in getattr(trainer.model, "peft_config", {}):
        trainer.model.delete_adapter(REFERENCE)
    trainer.save_model()
    trainer.save_state()
    watched = {} if callback is None else {"stopped_on": callback.stopped_on, "pitfalls": callback.watch.summary()}
    results = {"seconds": round(time.monotonic() - start_time, 1), **watched, "log": _history(trainer, _LOGGED[stage])}
    write_record(output, stage, settings, {"base": settings.model.model, **origin, **results})


def restore_adapter(model: Any, checkpoint: Path) -> None:
    """Loads the trained adapter of a checkpoint if the checkpoint also has TRL's reference copy, in a subfolder.

    With such a subfolder, transformers (at least up to 5.18) restores only the adapters in subfolders. Without this
    function a resumed run would continue with the adapter from the start of the stage.
    """
    if (checkpoint / REFERENCE).is_dir():
        model.load_adapter(str(checkpoint), TRAINED, is_trainable=True)


def _history(trainer: Trainer, names: Tuple[str, ...]) -> List[Dict[str, Any]]:
    """Returns the lines of a trainer's log that have names[0]. Keeps only the step and these names."""
    return [
        {"step": line["step"], **{name: line[name] for name in names if name in line}}
        for line in trainer.state.log_history
        if names[0] in line
    ]
