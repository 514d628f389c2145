"""What both stages share: output folders, checkpoints and resuming."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

from arguments import Run
from models import precision
from settings import Settings
from transformers import Trainer
from transformers.trainer_utils import get_last_checkpoint

#: What peft and TRL call the adapter that is trained, and the copy of it that the KL is to.
TRAINED, REFERENCE = "default", "ref"


def common_arguments(settings: Settings, run: Run, output: Path) -> Dict[str, Any]:
    """Returns the arguments that SFTConfig and GRPOConfig share."""
    kind = precision(run.cpu)
    return {
        "output_dir": str(output),
        "seed": settings.model.seed,
        "use_cpu": run.cpu,
        "bf16": kind == "bfloat16",
        "fp16": kind == "float16",
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
    if found is not None:
        restore_adapter(trainer.model, Path(found))
    trainer.train(resume_from_checkpoint=found)
    drop_reference(trainer.model)
    trainer.save_model()
    trainer.save_state()


def restore_adapter(model: Any, checkpoint: Path) -> None:
    """Loads the trained adapter of a checkpoint that also has a folder with TRL's reference copy for the KL.
    transformers (up to 5.18 at least) restores only adapters in folders. A resumed run would otherwise continue with
    the adapter from the start of the stage.
    """
    if (checkpoint / REFERENCE).is_dir():
        model.load_adapter(str(checkpoint), TRAINED, is_trainable=True)


def drop_reference(model: Any) -> None:
    """Removes TRL's reference copy, so that only the trained adapter is saved."""
    if REFERENCE in getattr(model, "peft_config", {}):
        model.delete_adapter(REFERENCE)
