"""Replay scoring over arrays: replays each row's history, takes its action and computes its rewards."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import (
    MAX_FLOAT,
    as_array,
    check_flag,
    check_mapping,
    check_name,
    check_number,
    describe,
    did_you_mean,
    find_beliefs,
    refuse,
    to_array,
    to_floats,
)
from .choices import GraderChoice, ProfileChoice, to_grader, to_profiles, to_seeds, to_world
from .core import NUM_STEPS
from .kernels import choose_kernel, native, to_threads
from .outputs import allocate_outputs
from .scores import Fault
from .world import World

__all__ = ["ReplayScores", "score_replay"]

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
_STACK: Any = _world.REWARD_STACK
#: The rewards of the stack, in order.
REWARD_NAMES: Tuple[str, ...] = tuple(_STACK)
#: The numbers that do not depend on options, in the order of `RewardNumbers` in native/rewards.h.
_NUMBERS = (
    *(number for reward in _STACK.values() for number in reward.values()),
    *(_world.REPETITION[name] for name in ("reward", "window", "distinct")),
    *(_world.EXPLORATION[name] for name in ("reward", "distinct")),
)
_SKILL_INDEX = _world.COMPONENT_NAMES.index("belief_skill")
_BELIEF_SIZE = len(_world.BELIEF_NAMES)


@dataclass(frozen=True)
class ReplayScores:
    """New arrays with one entry per row, and the faults. All numbers of an invalid row are NaN, and its hash is 0.

    Attributes:
        step_rewards: f32 [n]: NaN for rows without an action.
        belief_mae: f32 [n]: the error of the belief, or of [0.5, 0.5, 0.5] if none is given.
        state_hashes: u64 [n]: of the state before the action.
        format_valid, action_legal, env_reward, belief_accuracy, belief_skill, total: f32 [n]: the reward stack
            (docs/world.md), and its weighted sum.
        faults: the faults of invalid rows, in the order of the rows.
    """

    step_rewards: Floats
    belief_mae: Floats
    state_hashes: npt.NDArray[np.uint64]
    format_valid: Floats
    action_legal: Floats
    env_reward: Floats
    belief_accuracy: Floats
    belief_skill: Floats
    total: Floats
    faults: List[Fault]


def score_replay(
    seeds: npt.ArrayLike,
    histories: npt.ArrayLike,
    step_indices: npt.ArrayLike,
    actions: npt.ArrayLike,
    *,
    beliefs: Optional[npt.ArrayLike] = None,
    belief_histories: Optional[npt.ArrayLike] = None,
    profiles: ProfileChoice = "sampled",
    grader: GraderChoice = "v2",
    weights: Optional[Mapping[str, float]] = None,
    shaping: Optional[Mapping[str, bool]] = None,
    world: Union[World, str, "os.PathLike[str]", None] = None,
    kernel: Optional[str] = None,
    threads: Optional[int] = None,
) -> ReplayScores:
    """Scores actions, each after the actions of its history. `score` scores texts.

    Args:
        seeds: u32 [n]: the seed of each row's episode.
        histories: [n, 28]: codes of the earlier actions; the entries from `step_indices` on are ignored.
        step_indices: [n]: the number of earlier actions, 0 to 27.
        actions: [n]: codes, or -1 for no action.
        beliefs: [n, 3]: social, morning, work; three NaN for no belief.
        belief_histories: [n, 28, 3]: the belief given with each earlier action; three NaN for no belief. Only the reward of
            an episode's 28th step depends on them.
        profiles: as in VecEnv, for all rows or per row.
        grader: as in VecEnv, for all rows.
        weights: the weight of each reward in `total`, by its name (`format_valid` to `belief_skill`): 1 by default, but
            0 for `belief_skill` if the grader does not weigh it.
        shaping: terms of `env_reward`, such as {"repetition": True, "exploration": True}; off by default.
        world, kernel, threads: as in VecEnv.

    Raises:
        InputError: an argument is invalid as a whole, or has an invalid seed or profile. Other errors of a row are faults in
            the result.
    """
    chosen_world = to_world(world)
    chosen_grader, factors, terms = to_reward_options(chosen_world, grader, weights, shaping)
    count = to_array(seeds).size
    if count == 0:
        refuse("wrong_length", "at least one row", "none", "Pass rows.")
    rows = _Rows(count, seeds, histories, step_indices, actions, beliefs, belief_histories)
    modes, floats = to_profiles(chosen_world, profiles, count)
    results = _replay(rows, modes, floats, chosen_grader, chosen_world, choose_kernel(kernel), to_threads(threads))
    return _stack_of(rows, results, factors, terms)


def to_reward_options(
    world: World, grader: Any, weights: Any, shaping: Any
) -> Tuple[Floats, Tuple[float, ...], Dict[str, bool]]:
    """Returns the weights of the grader, f32 [8], the weights of the total, and the shaping terms. Raises InputError."""
    chosen = to_grader(world, grader)
    return chosen, _to_factors(weights, chosen), _to_shaping(shaping)


class _Rows:
    """Validated columns, and the faults of rows."""

    def __init__(
        self, count: int, seeds: Any, histories: Any, steps: Any, actions: Any, beliefs: Any, belief_histories: Any
    ) -> None:
        self.count = count
        self.faults: Dict[int, Fault] = {}
        self.seeds = to_seeds(to_array(seeds).reshape(-1), count, what="seeds")
        raw_steps = as_array("step_indices", steps, "iu", (count,), "integers").astype(np.int64)
        legal = (raw_steps >= 0) & (raw_steps < NUM_STEPS)
        self._mark(
            ~legal,
            "out_of_range",
            lambda row: (
                f"Expected an integer from 0 to {NUM_STEPS - 1} at step_indices[{row}], got {raw_steps[row]}. "
                "Pass the number of earlier actions."
            ),
        )
        self.steps = np.where(legal, raw_steps, 0).astype(np.uint8)
        self.taken: Bools = np.arange(NUM_STEPS) < self.steps[:, None]
        self.histories = self._to_histories(histories)
        raw_actions = as_array("actions", actions, "iu", (count,), "integers").astype(np.int64)
        legal = (raw_actions >= -1) & (raw_actions < len(_world.ACTION_NAMES))
        self._mark(
            ~legal,
            "illegal_action",
            lambda row: (
                f"Expected an action code from 0 to 9, or -1 for none, at actions[{row}], got {raw_actions[row]}. "
                "Pass a code from 0 to 9, or -1."
            ),
        )
        self.actions = np.where(legal, raw_actions, -1).astype(np.int8)
        self.beliefs, self.given = self._to_beliefs("beliefs", beliefs, (count, _BELIEF_SIZE), None)
        self.belief_histories, self.history_given = self._to_beliefs(
            "belief_histories", belief_histories, (count, NUM_STEPS, _BELIEF_SIZE), self.taken
        )
        self.invalid = np.zeros(count, np.bool_)
        self.invalid[list(self.faults)] = True

    def _mark(self, rows: Any, code: str, message: Any) -> None:
        """Adds a fault to each of these rows, bool [n], that has none. `message` returns the text for a row."""
        for row in np.flatnonzero(rows):
            self.faults.setdefault(int(row), Fault(int(row), code, message(int(row))))

    def _to_histories(self, histories: Any) -> npt.NDArray[np.uint8]:
        raw = as_array("histories", histories, "iu", (self.count, NUM_STEPS), "integers").astype(np.int64)
        illegal = self.taken & ((raw < 0) | (raw >= len(_world.ACTION_NAMES)))
        self._mark(
            illegal.any(axis=1),
            "illegal_action",
            lambda row: (
                f"Expected action codes from 0 to 9 in histories[{row}], got {raw[row][illegal[row]][0]}. "
                f"Pass codes in its first step_indices[{row}] entries."
            ),
        )
        return np.where(self.taken & ~illegal, raw, 0).astype(np.uint8)

    def _to_beliefs(
        self, name: str, beliefs: Any, shape: Tuple[int, ...], used: Optional[Bools]
    ) -> Tuple[Optional[Floats], Optional[npt.NDArray[np.uint8]]]:
        """Returns beliefs of a shape, and which of them are given, u8. Those outside `used` count as not given."""
        if beliefs is None:
            return None, None
        floats = to_floats(as_array(name, beliefs, "fiu", shape, "numbers"))
        given, invalid = find_beliefs(floats)
        if used is not None:
            given, invalid = given & used, invalid & used
        bad_rows = invalid.reshape(self.count, -1).any(axis=1)
        self._mark(
            bad_rows,
            "bad_belief",
            lambda row: (
                f"Expected three finite numbers or three NaN (no belief) in {name}[{row}], "
                f"got {floats[row][invalid[row]].reshape(-1, _BELIEF_SIZE)[0]}. Pass three finite numbers or three NaN."
            ),
        )
        return floats, given.astype(np.uint8)


def _replay(
    rows: _Rows, modes: Any, floats: Any, grader: Floats, world: World, kernel: str, threads: int
) -> Dict[str, npt.NDArray[Any]]:
    """Replays the valid rows, sorted by their number of earlier actions. Returns the numbers of all rows."""
    valid = np.flatnonzero(~rows.invalid).astype(np.uint32)
    order = valid[np.argsort(rows.steps[valid], kind="stable")]
    results: Dict[str, npt.NDArray[Any]] = {
        "rewards": np.full(rows.count, np.nan, np.float32),
        "belief_mae": np.full(rows.count, np.nan, np.float32),
        "belief_skill": np.full(rows.count, np.nan, np.float32),
        "hashes": np.zeros(rows.count, np.uint64),
    }
    columns = {
        "order": order,
        "seeds": rows.seeds,
        "modes": modes,
        "grader": grader,
        "stops": rows.steps,
        "histories": rows.histories,
        "actions": rows.actions,
    }
    optional = {
        "profiles": floats,
        "beliefs": rows.beliefs,
        "given": rows.given,
        "belief_histories": rows.belief_histories,
        "history_given": rows.history_given,
    }
    columns.update({name: column for name, column in optional.items() if column is not None})
    # A replay needs only the batch's tables and threads, so one environment is enough.
    imagination, num_envs, column_stride = False, 1, 0  # a stride of 0 is row-major
    outputs = allocate_outputs(num_envs, column_stride, final_observations=False)
    batch = native().Batch(kernel, world.words, imagination, num_envs, threads, outputs, column_stride)
    batch.replay({**columns, **results})
    batch.close()
    return results


def _stack_of(
    rows: _Rows, results: Mapping[str, npt.NDArray[Any]], factors: Tuple[float, ...], terms: Mapping[str, bool]
) -> ReplayScores:
    """Computes the reward stack from the numbers of `_replay`."""
    past = (rows.histories, rows.steps) if any(terms.values()) else (None, None)
    columns = native().stack_rewards(
        np.array([*_NUMBERS, terms["repetition"], terms["exploration"], *factors], np.float64),
        rows.actions,
        np.zeros(rows.count, np.uint8) if rows.given is None else rows.given,
        *(results[name].astype(np.float64) for name in ("rewards", "belief_mae", "belief_skill")),
        *past,
    )
    columns[:, rows.invalid] = np.nan
    *stack, total = (column.copy() for column in columns)
    return ReplayScores(
        step_rewards=results["rewards"],
        belief_mae=results["belief_mae"],
        state_hashes=results["hashes"],
        total=total,
        faults=[rows.faults[row] for row in sorted(rows.faults)],
        **dict(zip(REWARD_NAMES, stack)),
    )


def _to_factors(weights: Optional[Mapping[str, float]], grader: Floats) -> Tuple[float, ...]:
    """Returns the weight of each reward in `total`, in the order of REWARD_NAMES."""
    given = check_mapping("weights", weights)
    for name, weight in given.items():
        check_name("weights", name, REWARD_NAMES)
        check_number(f"weights[{name!r}]", weight, -MAX_FLOAT, MAX_FLOAT)
    skill = 0.0 if grader[_SKILL_INDEX] == 0 else 1.0
    return tuple(float(given.get(name, skill if name == "belief_skill" else 1.0)) for name in REWARD_NAMES)


def _to_shaping(shaping: Optional[Mapping[str, bool]]) -> Dict[str, bool]:
    """Returns which shaping terms are on."""
    terms = {"repetition": False, "exploration": False}
    for name, value in check_mapping("shaping", shaping).items():
        if name not in terms:
            refuse(
                "unknown_option",
                "shaping terms among repetition, exploration",
                describe(name),
                did_you_mean(str(name), terms),
            )
        terms[name] = check_flag(f"shaping[{name!r}]", value)
    return terms
