"""The callback that passes the completions of each step and TRL's log to `Watch` (watch.py), which warns of pitfalls."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any, Callable, List, Mapping, Optional, Sequence

import ranks
from settings import Limits
from transformers import PreTrainedTokenizerBase, TrainerCallback
from watch import Batch, Watch, line_of, read_lines, summary_text

LOG = "watch.jsonl"
#: The reward of `action_legal` for a completion with an action.
LEGAL = 0.5

RewardFunction = Callable[..., List[Optional[float]]]


class WatchCallback(TrainerCallback):
    """Writes a line per step to `watch.jsonl`, warns on standard error, and stops training at a pitfall of `stop_on`.

    Args:
        limits: the limits of the pitfalls, and `stop_on`, the pitfalls that stop training.
        folder: the trainer's output folder.
        tokenizer: a completion that does not end with one of its end tokens was cut off.
    """

    def __init__(self, limits: Limits, folder: Path, tokenizer: PreTrainedTokenizerBase) -> None:
        self.watch = Watch(limits)
        self.stopped_on: List[str] = []
        self._limits = limits
        self._path = folder / LOG
        self._end_tokens = {tokenizer.eos_token_id, tokenizer.pad_token_id}
        self._batch: Optional[Batch] = None

    def recording(self, functions: Sequence[RewardFunction]) -> List[RewardFunction]:
        """Returns the reward functions, with one in place of `action_legal` that also calls `record`."""
        return [self._recording(each) if each.__name__ == "action_legal" else each for each in functions]

    def _recording(self, function: RewardFunction) -> RewardFunction:
        @functools.wraps(function)
        def recorded(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> List[Optional[float]]:
            rewards = function(prompts, completions, **columns)
            texts = [each if isinstance(each, str) else each[-1]["content"] for each in completions]
            cut_off = [self._is_cut_off(ids) for ids in columns["completion_ids"]]
            self.record(texts, [reward == LEGAL for reward in rewards], cut_off)
            return rewards

        return recorded

    def record(self, texts: Sequence[str], legal: Sequence[bool], cut_off: Sequence[bool]) -> None:
        """Records the answers of a batch, of all ranks: texts, whether each has an action, and whether it was cut
        off."""
        answers = ranks.gather(list(zip(texts, legal, cut_off)))
        self._batch = Batch(*zip(*answers))

    def _is_cut_off(self, ids: Sequence[int]) -> bool:
        return not ids or ids[-1] not in self._end_tokens

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Reads the log of a resumed run and cuts it at the checkpoint: later lines are computed again. A new run begins
        with an empty log."""
        if not ranks.is_first():
            return
        past = self._path.read_text() if self._path.exists() and state.global_step else ""
        self.watch = Watch(self._limits, read_lines(past, state.global_step))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text("".join(json.dumps(line) + "\n" for line in self.watch.lines))

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Writes a step's line. Stops all ranks at a pitfall of `stop_on`. Skips TRL's summary, which has no reward."""
        if "reward" not in (logs or {}):
            return
        self.stopped_on = ranks.on_first(lambda: self._add(line_of(state.global_step, logs, self._batch)))
        self._batch = None
        if self.stopped_on:
            control.should_training_stop = True

    def _add(self, line: Mapping[str, Any]) -> List[str]:
        """Adds a line to the log and prints its warnings; returns the pitfalls at which training must stop."""
        warnings = self.watch.add(line)
        with self._path.open("a") as file:
            file.write(json.dumps(self.watch.lines[-1]) + "\n")
        for warning in warnings:
            print(f"\n!! {warning.text}", file=sys.stderr, flush=True)
        reasons = self.watch.stop_reasons()
        if reasons:
            print(f"\n!! stopped because of --watch-stop-on {' '.join(reasons)}.", file=sys.stderr, flush=True)
        return reasons

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Prints the summary."""
        if ranks.is_first():
            print(summary_text(self.watch.summary(), len(self.watch.lines)), file=sys.stderr, flush=True)
