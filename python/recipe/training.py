"""Code that both stages (sft.py, grpo.py) share: checkpoints and resuming."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import ranks
from arguments import Run
from transformers import Trainer
from transformers.trainer_utils import get_last_checkpoint

#: peft's name of the trained adapter, and TRL's name of the copy from which the KL divergence is measured.
TRAINED, REFERENCE = "default", "ref"


def run_trainer(trainer: Trainer, run: Run, output: Path) -> None:
    """Trains and saves the model. A resumed run begins with the last checkpoint in the folder."""
    checkpoint = ranks.on_first(lambda: last_checkpoint(run, output))
    if checkpoint is not None:
        restore_adapter(trainer.model, Path(checkpoint))
    trainer.train(resume_from_checkpoint=checkpoint)
    drop_reference(trainer.model)
    trainer.save_model()
    trainer.save_state()


def last_checkpoint(run: Run, output: Path) -> Optional[str]:
    """Returns the folder of the last checkpoint if the run resumes from one, otherwise None."""
    return get_last_checkpoint(str(output)) if run.resume and output.exists() else None


def restore_adapter(model: Any, checkpoint: Path) -> None:
    """Loads the trained adapter of a checkpoint if the checkpoint also has TRL's reference copy, in a subfolder.

    With such a subfolder, transformers (at least up to 5.18) restores only the adapters in subfolders. Without this
    function a resumed run would continue with the adapter from the start of the stage.
    """
    if (checkpoint / REFERENCE).is_dir():
        model.load_adapter(str(checkpoint), TRAINED, is_trainable=True)


def drop_reference(model: Any) -> None:
    """Removes TRL's reference copy, so that only the trained adapter is saved."""
    if REFERENCE in getattr(model, "peft_config", {}):
        model.delete_adapter(REFERENCE)
