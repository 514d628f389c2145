"""The base class of the Gymnasium vector environments: spaces, seeds, options of resets, and infos."""

from __future__ import annotations

from typing import Any, Dict, Mapping, NoReturn, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from . import _world
from .checks import check_keys, check_mapping, check_name, describe, refuse

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Infos = Dict[str, Any]
#: One u32 s: environment i plays seed s + i. Or a list with a u32 per environment. None, alone or in the list, stands
#: for seeds drawn from `np_random`.
Seed = Union[int, Sequence[Optional[int]], npt.NDArray[Any], None]

#: (low, size) of the seed range that has every u32.
ALL_SEEDS = (0, 2**32)
RESET_OPTIONS = ("reset_mask", "profiles", "graders")
#: The names of the autoreset modes in VecEnv.
MODES = {
    AutoresetMode.NEXT_STEP: "next-step",
    AutoresetMode.SAME_STEP: "same-step",
    AutoresetMode.DISABLED: "disabled",
}
#: Infos of a finished episode, and their arrays in StepResult.
FINAL_INFOS = {
    "final_score": "final_scores",
    "components": "components",
    "belief_mae": "belief_mae",
    "early_mean": "first_half_means",
    "late_mean": "second_half_means",
    "episode_return": "episode_returns",
    "episode_length": "episode_lengths",
}


class BaseVectorEnv(VectorEnv[Array, Any, Array]):
    """A vector environment with the spaces and the infos of this world."""

    action_names: Tuple[str, ...]
    world_digest: str
    max_episode_steps: int

    def _set_up(self, num_envs: int, mode: AutoresetMode, beliefs: bool, seed_range: Tuple[int, int]) -> None:
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": mode, "render_modes": []}
        self._mode = mode
        self._beliefs = beliefs
        self._seed_range = seed_range

    def _set_spaces(self, low: npt.ArrayLike, high: npt.ArrayLike) -> None:
        self.single_observation_space = box(low, high)
        self.single_action_space = action_space(len(self.action_names), self._beliefs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _check_open(self) -> None:
        if self.closed:
            refuse_closed()

    def _seed_np_random(self, seed: Seed) -> None:
        """Seeds `np_random` if the seed is one number."""
        if is_number(seed):
            VectorEnv.reset(self, seed=int(seed))  # type: ignore[arg-type]

    def _draw_seeds(self, seed: Seed) -> Any:
        """Returns the seed with numbers drawn from `np_random` in place of None."""
        if is_number(seed):
            return seed
        if seed is not None and not (isinstance(seed, (list, tuple)) and any(each is None for each in seed)):
            return seed
        low, size = self._seed_range
        count = self.num_envs if seed is None else len(seed)
        drawn = self.np_random.integers(low, low + size, count, np.uint64)
        if seed is None:
            return drawn
        return [int(draw) if each is None else each for each, draw in zip(seed, drawn)]

    def _step_infos(
        self,
        current: Infos,
        previous: Mapping[str, Array],
        final: Mapping[str, Array],
        ended: Bools,
        last: Optional[Array],
    ) -> Infos:
        """Returns the infos of a step that ended episodes.

        Args:
            current: the infos of the episodes after the step.
            previous: the seeds and episode numbers before the step.
            final: the results of the ended episodes, by the name of the info.
            ended: bool [num_envs].
            last: the last observations of the ended episodes; None except with AutoresetMode.SAME_STEP.
        """
        final_infos = masked(final, ended)
        if self._mode is not AutoresetMode.SAME_STEP or last is None:
            return {**current, **final_infos}
        observations = np.full(self.num_envs, None, dtype=object)
        observations[ended] = np.fromiter(last[ended], dtype=object, count=np.count_nonzero(ended))
        ends = {
            "final_obs": observations,
            "_final_obs": ended,
            "final_info": {**masked(previous, ended), **final_infos},
        }
        return {**current, **ends, "_final_info": ended.copy()}


def is_number(seed: Any) -> bool:
    return isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)


def refuse_closed() -> NoReturn:
    raise ClosedEnvironmentError("Expected an open environment, got one that was closed. Create a new environment.")


def to_mode(mode: Any) -> AutoresetMode:
    """Returns an autoreset mode as it is, or the mode with a value such as "NextStep". Raises InputError `unknown_name`."""
    return (
        mode
        if isinstance(mode, AutoresetMode)
        else AutoresetMode(check_name("autoreset_mode", mode, [each.value for each in MODES]))
    )


def box(low: npt.ArrayLike, high: npt.ArrayLike) -> spaces.Box:
    return spaces.Box(np.asarray(low, np.float32), np.asarray(high, np.float32), dtype=np.float32)


def action_space(num_actions: int, beliefs: bool) -> spaces.Space[Any]:
    """Returns the space of one action, or of an action and a belief."""
    action: spaces.Space[Any] = spaces.Discrete(num_actions)
    if not beliefs:
        return action
    return spaces.Dict({"action": action, "belief": spaces.Box(0.0, 1.0, (len(_world.BELIEF_NAMES),), np.float32)})


def split_action(action: Any) -> Tuple[Any, Any]:
    """Returns the action and the belief of {"action", "belief"}. Raises InputError `wrong_type` for another value."""
    try:
        return action["action"], action["belief"]
    except (IndexError, KeyError, TypeError, ValueError):
        refuse("wrong_type", 'a dict with "action" and "belief"', describe(action), "Pass both keys, because beliefs=True.")


def reset_options(options: Optional[Mapping[str, Any]], known: Sequence[str] = RESET_OPTIONS) -> Dict[str, Any]:
    """Returns the options of a reset that are not None. Raises InputError `wrong_type` or `unknown_option`."""
    given = check_mapping("options", options)
    check_keys("options", given, known)
    return {name: value for name, value in given.items() if value is not None}


def masked(arrays: Mapping[str, Array], mask: Bools) -> Infos:
    """Returns infos in Gymnasium's form: arrays with 0 outside the mask, and a copy of the mask for each, such as
    `_seed`."""
    infos: Infos = {}
    outside = None if mask.all() else ~mask
    for name, array in arrays.items():
        values = array.copy()
        if outside is not None:
            values[outside] = 0
        infos[name], infos[f"_{name}"] = values, mask.copy()
    return infos
