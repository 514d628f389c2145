"""A Gymnasium vector environment whose episodes are computed in other processes."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np
from gymnasium.vector import AutoresetMode

from . import _world
from .checks import as_array, to_codes, to_floats, to_given
from .choices import to_mask, to_seeds
from .errors import StateError
from .vector_base import FINAL_INFOS, Array, BaseVectorEnv, Infos, Seed, masked, reset_options, split_action

Arrays = Dict[str, Array]

_CURRENT_INFOS = {"seed": "seeds", "episode_number": "episode_numbers"}


class ProxyVectorEnv(BaseVectorEnv):
    """Validates seeds, masks and actions, and makes results from the arrays that `_call` computes in another process.

    A subclass implements `_call`, and calls `_set_up` and `_set_spaces`.
    """

    #: The arrays of the last call; None before the first reset.
    _last_result: Optional[Arrays] = None

    def _call(self, name: str, options: Mapping[str, Any], arrays: Arrays) -> Arrays:
        """Computes a call, "reset" or "step". Returns the arrays of a StepResult, `seeds` and `episode_numbers`, by name."""
        raise NotImplementedError

    def reset(self, *, seed: Seed = None, options: Optional[Mapping[str, Any]] = None) -> Tuple[Array, Infos]:
        """Begins episodes.

        Args:
            seed: a u32 s: environment i plays seed s + i, and `np_random` is seeded with s. Or a u32 for each
                environment. None, also as an entry of a list, draws a seed from `np_random`.
            options: `reset_mask` (bool [num_envs]: the environments to reset, all by default); `profiles` and
                `graders` (one, or one per environment).
        """
        self._check_open()
        data = reset_options(options)
        reset_mask = to_mask(data.pop("reset_mask", None), self.num_envs)
        arrays: Arrays = {"seed": to_seeds(self._draw_seeds(seed), self.num_envs, self._seed_range)}
        mask = np.ones(self.num_envs, np.bool_)
        if reset_mask is not None:
            self._require_reset()
            mask = reset_mask.view(np.bool_)
            arrays["mask"] = reset_mask
        result = self._call("reset", data, arrays)
        self._seed_np_random(seed)
        self._last_result = result
        return result["observations"], masked(_named(result, _CURRENT_INFOS), mask)

    def step(self, actions: Any) -> Tuple[Array, Array, Array, Array, Infos]:
        """Takes an action in each environment."""
        self._check_open()
        previous = self._require_reset()
        arrays = self._to_arrays(actions)
        self._check_playing(previous)
        result = self._call("step", {}, arrays)
        self._last_result = result
        return (
            result["observations"],
            result["rewards"].astype(np.float64),
            result["terminated"].astype(np.bool_),
            result["truncated"].astype(np.bool_),
            self._infos(result, previous),
        )

    def _require_reset(self) -> Arrays:
        if self._last_result is None:
            raise StateError(
                "not_reset", "Expected a reset before this call, got none yet. Call reset(seed=...) first."
            )
        return self._last_result

    def _check_playing(self, previous: Arrays) -> None:
        if self._mode is AutoresetMode.DISABLED and previous["terminated"].any():
            raise StateError(
                "episode_over",
                f"Expected episodes with steps left, got environment {int(np.argmax(previous['terminated']))}, whose "
                "episode has ended. No episode was stepped. Reset it, or choose another autoreset_mode.",
            )

    def _to_arrays(self, actions: Any) -> Arrays:
        shape = (self.num_envs,)
        if not self._beliefs:
            return {"actions": to_codes("actions", actions, shape, len(self.action_names) - 1, "illegal_action")}
        action, belief = split_action(actions)
        codes = to_codes("actions", action, shape, len(self.action_names) - 1, "illegal_action")
        width = len(_world.BELIEF_NAMES)
        beliefs = to_floats(as_array("beliefs", belief, "fiu", (*shape, width), "numbers"))
        to_given(beliefs)  # raises an error for an invalid belief
        return {"actions": codes, "beliefs": beliefs}

    def _infos(self, result: Arrays, previous: Arrays) -> Infos:
        current = masked(_named(result, _CURRENT_INFOS), np.ones(self.num_envs, np.bool_))
        ended = result["final_mask"].astype(np.bool_)
        if not ended.any():
            return current
        final = _named(result, FINAL_INFOS)
        return self._step_infos(
            current, _named(previous, _CURRENT_INFOS), final, ended, result.get("final_observations")
        )


def _named(result: Arrays, names: Mapping[str, str]) -> Arrays:
    return {info: result[name] for info, name in names.items()}
