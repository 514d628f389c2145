"""What both stages have in common: where they write, when they save, and how they go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

from arguments import Run
from settings import Settings
from transformers import Trainer
from transformers.trainer_utils import get_last_checkpoint


def common_arguments(settings: Settings, run: Run, output: Path) -> Dict[str, Any]:
    """Of SFTConfig and GRPOConfig."""
    return {
        "output_dir": str(output),
        "seed": settings.model.seed,
        "use_cpu": run.cpu,
        "bf16": False if run.cpu else None,
        "logging_steps": 1,
        "save_strategy": "steps",
        "save_steps": settings.model.save_steps,
        "save_total_limit": 2,
        "report_to": run.report_to,
        "push_to_hub": run.push_to_hub is not None,
        "hub_model_id": None if run.push_to_hub is None else f"{run.push_to_hub}-{output.name}",
        "hub_private_repo": True,
    }


def run_trainer(trainer: Trainer, run: Run, output: Path) -> None:
    """Trains, from the last checkpoint in the folder if the run is resumed, and saves."""
    found = get_last_checkpoint(str(output)) if run.resume and output.exists() else None
    trainer.train(resume_from_checkpoint=found)
    trainer.save_model()
    trainer.save_state()
