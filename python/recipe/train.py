# /// script
# requires-python = ">=3.10"
# dependencies = [
#   "trl>=1.13,<2",
#   "torch>=2.6",
#   "transformers>=5,<6",
#   "peft>=0.20,<1",
#   "bitsandbytes>=0.46; sys_platform == 'linux'",
# ]
# ///
"""Trains a language model on Rhythm: SFT on a teacher's answers, then GRPO with a server's rewards. See README.md."""

from __future__ import annotations

import io
import signal
import sys
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stderr
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, List, Optional, Sequence

# rhythm_vec is in the parent folder. This folder is not on the path if another script imports this file.
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import ranks  # noqa: E402
from arguments import Run, parse_arguments  # noqa: E402
from record import begin, check_unchanged  # noqa: E402
from rhythm_vec import ServerUnavailableError, serve  # noqa: E402
from rows import Rows, make_rows, read_rows  # noqa: E402
from settings import Settings, table  # noqa: E402

if TYPE_CHECKING:
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.sft_config import SFTConfig


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Runs the requested stages. Under torchrun or `accelerate launch` each process calls this function."""
    # Exits on SIGTERM, so that a started server ends too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    # Every rank parses the command line. Only rank 0 prints its errors.
    with without_traceback(), nullcontext() if ranks.is_first() else redirect_stderr(io.StringIO()):
        run, settings = parse_arguments(arguments, __doc__ or "")
    if run.stage == "settings":
        if ranks.is_first():
            print(table())
        return
    with without_traceback():
        check_machine(run, settings)
    try:
        run_stages(run, settings)
    except ranks.OtherRankError:
        sys.exit(1)
    except ServerUnavailableError as error:
        sys.exit(f"error: {error}")
    finally:
        ranks.disconnect()


def run_stages(run: Run, settings: Settings) -> None:
    """Runs the requested stages that are not finished, after a check of all options."""
    with without_traceback():
        # If rank 0 exits here, the launcher ends the other ranks, which wait for it below.
        stages = unfinished(run, settings) if ranks.is_first() else []
        if not stages and ranks.count() == 1:
            return
        # Importing TRL takes seconds, so it comes after the other checks.
        from configs import grpo_config, sft_config

        # Creating the configurations connects the ranks.
        sft, grpo = sft_config(settings, run), grpo_config(settings, run)
    stages = ranks.on_first(lambda: stages)
    if "sft" in stages:
        run_sft(run, settings, sft)
    if "grpo" in stages:
        run_grpo(run, settings, grpo)


def unfinished(run: Run, settings: Settings) -> List[str]:
    """Returns the requested stages that are not finished. Raises as `check_unchanged`."""
    stages = [stage for stage in ("sft", "grpo") if run.stage in ("all", stage) and not is_finished(run, stage)]
    for stage in stages:
        check_unchanged(run.output / stage, settings, run.resume)
    return stages


@contextmanager
def without_traceback() -> Iterator[None]:
    """Exits at an error in the user's input. Rank 0 prints the error, without a traceback."""
    try:
        yield
    except (ValueError, FileNotFoundError) as error:
        sys.exit(f"error: {error}" if ranks.is_first() else 1)


def check_machine(run: Run, settings: Settings) -> None:
    """Checks the machine before a run begins. Raises ValueError if a package is missing, or a GPU for nf4."""
    names = ("torch", "trl", "peft") if settings.model.lora_rank > 0 else ("torch", "trl")
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise ValueError(
            f"Expected the packages {', '.join(names)}, got a Python ({sys.executable}) without {', '.join(missing)}. "
            'Run: pip install "trl>=1.13,<2" "peft>=0.20,<1" torch'
        )
    if settings.model.quantize == "nf4":
        from models import nf4

        nf4(run.cpu)  # raises ValueError without a GPU or bitsandbytes


def is_finished(run: Run, stage: str) -> bool:
    """Returns whether a resumed run has already finished a stage. If so, prints a note."""
    finished = run.resume and (run.output / stage / "run.json").exists()
    if finished:
        print(f"{stage} is finished: {run.output / stage}.", file=sys.stderr)
    return finished


def run_sft(run: Run, settings: Settings, config: SFTConfig) -> None:
    """Generates rows if needed, then runs the stage sft."""
    with without_traceback():
        ranks.on_first(lambda: begin(run.output / "sft", settings, run.resume))
    rows = rows_of(run, "sft", run.sft_rows, settings.data.episodes, settings.grpo.grader)
    from stages import train_sft

    train_sft(settings, run, rows, config)


def run_grpo(run: Run, settings: Settings, config: GRPOConfig) -> None:
    """Generates rows and starts a server if needed, then runs the stage grpo."""
    with without_traceback():
        start = ranks.on_first(lambda: start_of(run))
        ranks.on_first(lambda: begin(run.output / "grpo", settings, run.resume))
    rows = rows_of(run, "grpo", run.grpo_rows, settings.data.rows, settings.grpo.grader)
    from stages import train_grpo

    with ExitStack() as started:
        # A running server, or one for each machine, which its first rank starts and stops.
        url = ranks.on_each_machine(lambda: run.url or started.enter_context(serve(run.command)))
        train_grpo(settings, run, rows, config, url, start)
        # The other ranks may still need the server. After an error this rank does not wait: the launcher ends all ranks.
        ranks.wait()


def rows_of(run: Run, stage: str, given: Optional[Path], count: int, grader: str) -> Rows:
    """Returns the user's rows, the rows that a resumed run has already generated, or new rows."""

    def read() -> Rows:
        folder = run.output / f"{stage}-rows"
        generated = folder / "train.jsonl"
        if given is None and not (run.resume and generated.exists()):
            make_rows(run.command, folder, stage, count, grader)
        return read_rows(given or generated)

    with without_traceback():
        return ranks.on_first(read)


def start_of(run: Run) -> Optional[Path]:
    """Returns the folder of the model to start from; None for the base model. Raises FileNotFoundError if the folder
    has no model."""
    if run.start == "base":
        return None
    start = Path(run.start) if run.start else run.output / "sft"
    if not any((start / name).exists() for name in ("config.json", "adapter_config.json")):
        raise FileNotFoundError(
            f"Expected a trained model or adapter in {start}, got none. "
            "Run the stage sft first, or pass --start-from with its folder, or --start-from base for the base model."
        )
    return start


if __name__ == "__main__":
    main()
