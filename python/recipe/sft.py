"""Stage 1: SFT on a teacher's answers, the rows of `rhythm-vec dataset sft`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Dict, Optional

import models
import ranks
from answers import without_reasoning
from arguments import Run
from datasets import Dataset
from record import history, write_record
from rows import Rows
from settings import Settings
from training import run_trainer
from trl import SFTConfig, SFTTrainer


def train_sft(settings: Settings, run: Run, rows: Rows, config: SFTConfig) -> Path:
    """Trains the base model; returns the folder of the result."""
    output = run.output / "sft"
    base = ranks.on_first(lambda: models.base_of(settings.model, run.output))
    tokenizer = models.tokenizer_of(base)
    dataset = dataset_of(rows, settings)
    check_lengths(dataset, tokenizer, config.max_length)
    model, adapter = models.load_base(settings.model, base, run.cpu, config.model_init_kwargs)
    trainer = SFTTrainer(
        model=model,
        processing_class=tokenizer,
        peft_config=adapter,
        args=config,
        train_dataset=dataset,
    )
    start_time = time.monotonic()
    run_trainer(trainer, run, output)
    names = ["loss", "mean_token_accuracy", "entropy", "learning_rate"]
    write_record(
        output,
        "sft",
        settings,
        {
            "rhythm_vec": rows.origin,
            "base": settings.model.model,
            "rows": len(dataset),
            "seconds": round(time.monotonic() - start_time, 1),
            "log": history(trainer.state.log_history, names),
        },
    )
    return output


def dataset_of(rows: Rows, settings: Settings) -> Dataset:
    """Splits chat rows into prompt and completion, so that only the answer and its end token are learned. Drops the
    reasoning of answers if the settings say so."""
    drop_reasoning = settings.data.reasoning == "drop"

    def split(row: Dict[str, Any]) -> Dict[str, Any]:
        *prompt, answer = row["messages"]
        content = without_reasoning(answer["content"]) if drop_reasoning else answer["content"]
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
