"""Reward functions for TRL's GRPO, computed in this process or by a server.

GRPOTrainer(..., reward_funcs=reward_funcs())
"""

from __future__ import annotations

import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _world
from .batches import as_list
from .client import Client, check_client
from .errors import RowFaultWarning
from .scores import Scores, score
from .texts import Completion, Grader, texts_of

RewardFunction = Callable[..., List[Optional[float]]]

_REWARDS = ("format_valid", "action_legal", "env_reward", "belief_accuracy", "belief_skill", "total")
#: The maximum number of invalid rows that a warning lists. Chosen by hand, to keep the warning short.
_MAX_LISTED = 5


class RewardStack:
    """Reward functions for TRL's GRPO: `reward(prompts, completions, **dataset_columns)`.

    They use the columns `seed`, `action_history`, `profile_mode` and `step_index` that `rhythm-vec dataset grpo`
    writes, and `belief_history` (see `score`) if there is one. They ignore other columns. All six functions share
    the scores of a batch: the function that is called first computes them. An invalid row has the reward None, which TRL
    ignores, and a RowFaultWarning reports it.

    Args:
        client: a server that computes them; by default they are computed in this process.
        grader, weights, shaping, thought: as in `score`. The weights apply to `total` only; TRL weighs rewards by `reward_weights`.
    """

    def __init__(
        self,
        client: Optional[Client] = None,
        *,
        grader: Optional[Grader] = None,
        weights: Optional[Mapping[str, float]] = None,
        shaping: Optional[Mapping[str, bool]] = None,
        thought: Optional[str] = None,
    ) -> None:
        self._client = check_client(client)
        self._options: Dict[str, Any] = {"grader": grader, "weights": weights, "shaping": shaping, "thought": thought}
        # The last batch and its scores, which the other functions reuse.
        self._last: Optional[Tuple[Dict[str, Any], Scores]] = None

    @property
    def functions(self) -> List[RewardFunction]:
        """The functions for `reward_funcs`: all but `total`, and `belief_skill` only if the grader weighs it."""
        rewards = [self.format_valid, self.action_legal, self.env_reward, self.belief_accuracy]
        return [*rewards, self.belief_skill] if _weighs_skill(self._options["grader"]) else rewards

    def format_valid(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """Returns 1 if belief and action both parsed, else -2."""
        return self._rewards("format_valid", completions, columns)

    def action_legal(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """Returns 0.5 if the action is one of the ten, else -1."""
        return self._rewards("action_legal", completions, columns)

    def env_reward(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """Returns the step's reward plus the shaping terms; -3 if no action parsed."""
        return self._rewards("env_reward", completions, columns)

    def belief_accuracy(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """Returns 0.5 minus the belief's mean absolute error; -0.5 if no belief was given."""
        return self._rewards("belief_accuracy", completions, columns)

    def belief_skill(
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> List[Optional[float]]:
        """Returns 1 - beliefSkillScale (docs/world.md) * the belief's mean squared error, clamped to [-1, 1]; -1 if no
        belief was given."""
        return self._rewards("belief_skill", completions, columns)

    def total(self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any) -> List[Optional[float]]:
        """Returns the weighted sum of the other five."""
        return self._rewards("total", completions, columns)

    def _rewards(
        self, name: str, completions: Sequence[Completion], columns: Mapping[str, Any]
    ) -> List[Optional[float]]:
        """Returns a reward of each row. Computes scores if the rows differ from those of the last batch."""
        rows = _rows_of(completions, columns)
        last = self._last
        if last is None or last[0] != rows:
            scores = score(**rows, **self._options, scores=_REWARDS, client=self._client)
            _warn(scores)
            self._last = last = (rows, scores)
        return list(last[1][name])


def reward_funcs(
    client: Optional[Client] = None,
    *,
    grader: Optional[Grader] = None,
    shaping: Optional[Mapping[str, bool]] = None,
    thought: Optional[str] = None,
) -> List[RewardFunction]:
    """Returns the functions for TRL's `reward_funcs`: `RewardStack(...).functions`."""
    return RewardStack(client, grader=grader, shaping=shaping, thought=thought).functions


def _weighs_skill(grader: Optional[Grader]) -> bool:
    """Returns whether the grader weighs `belief_skill`. `score` refuses a grader that is invalid or unknown."""
    if isinstance(grader, Mapping):
        weights = grader.get("weights")
    else:
        weights = _world.GRADERS.get("v2" if grader is None else str(grader))
    return isinstance(weights, Mapping) and bool(weights.get("belief_skill", 0))


def _rows_of(completions: Sequence[Completion], columns: Mapping[str, Any]) -> Dict[str, Any]:
    missing = [name for name in ("seed", "action_history") if name not in columns]
    if missing:
        raise TypeError(
            "Expected the dataset to have columns seed and action_history, "
            f"got none named {' or '.join(missing)}. "
            "Generate its rows with `rhythm-vec dataset grpo`, and keep their columns."
        )
    histories = as_list("action_history", columns["action_history"])
    rows = {
        "seeds": as_list("seed", columns["seed"]),
        "action_histories": [as_list(f"action_history[{row}]", history) for row, history in enumerate(histories)],
        "completions": texts_of(completions),
    }
    if columns.get("step_index") is not None:
        _check_steps(rows["action_histories"], as_list("step_index", columns["step_index"]))
    if columns.get("profile_mode") is not None:
        rows["profile_modes"] = as_list("profile_mode", columns["profile_mode"])
    if columns.get("belief_history") is not None:
        beliefs = as_list("belief_history", columns["belief_history"])
        # Lists, because arrays cannot be compared with the rows of the last batch.
        rows["belief_histories"] = [row.tolist() if hasattr(row, "tolist") else row for row in beliefs]
    return rows


def _check_steps(histories: Sequence[Sequence[Any]], steps: Sequence[Any]) -> None:
    for row, (history, step) in enumerate(zip(histories, steps)):
        if len(history) != step:
            raise ValueError(
                f"Expected action_history[{row}] to have step_index[{row}] = {step} actions, "
                f"got {len(history)}. Generate the dataset again."
            )


def _warn(scores: Scores) -> None:
    faults = scores.faults
    if not faults:
        return
    listed = "; ".join(f"row {fault.index}: {fault.message}" for fault in faults[:_MAX_LISTED])
    more = len(faults) - _MAX_LISTED
    rest = f"; and {more} more" if more > 0 else ""
    message = f"{len(faults)} of {scores.rows} rows have no rewards. {listed}{rest}"
    # Level 4 names the caller of a reward function: `_warn`, `_rewards` and that function are the levels 1 to 3.
    warnings.warn(message, RowFaultWarning, stacklevel=4)
