"""The base classes of the Gymnasium vector environments: of all, and of those that are computed in other processes."""

from __future__ import annotations

from typing import Any, Dict, Mapping, NoReturn, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from . import _world
from .checks import as_array, check_keys, check_mapping, check_name, describe, refuse, to_codes, to_floats, to_given
from .choices import to_mask, to_seeds
from .errors import StateError, refuse_state
from .texts import BELIEFS

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Infos = Dict[str, Any]
Arrays = Dict[str, Array]
#: One u32 s: environment i plays seed s + i. Or a list with a u32 per environment. None, alone or in the list, stands
#: for seeds drawn from `np_random`.
Seed = Union[int, Sequence[Optional[int]], npt.NDArray[Any], None]

RESET_OPTIONS = ("reset_mask", "profiles", "graders")
#: The names of the autoreset modes in VecEnv.
MODES = {
    AutoresetMode.NEXT_STEP: "next-step",
    AutoresetMode.SAME_STEP: "same-step",
    AutoresetMode.DISABLED: "disabled",
}
#: The belief levels of the digits from 0 to 9, f32 [10].
LEVELS: npt.NDArray[np.float32] = np.array(BELIEFS, np.float32)
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

    def _set_up(self, num_envs: int, mode: AutoresetMode, beliefs: Beliefs, seed_range: Tuple[int, int]) -> None:
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
        if self._mode is AutoresetMode.DISABLED and previous["terminated"].any():
            raise StateError(
                "episode_over",
                f"Expected episodes with steps left, got environment {int(np.argmax(previous['terminated']))}, whose "
                "episode has ended. No episode was stepped. Reset it, or choose another autoreset_mode.",
            )
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
            refuse_state("not_reset")
        return self._last_result

    def _to_arrays(self, actions: Any) -> Arrays:
        shape = (self.num_envs,)
        if not self._beliefs:
            return {"actions": to_codes("actions", actions, shape, len(self.action_names) - 1, "illegal_action")}
        action, belief = split_action(actions, self._beliefs, *shape)
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


#: Whether actions have beliefs, and in which form: see `RhythmVectorEnv`.
Beliefs = Union[bool, str]


def check_beliefs(beliefs: Any) -> Beliefs:
    """Returns the option `beliefs`. Raises InputError `wrong_type`."""
    if isinstance(beliefs, (bool, np.bool_)) or (isinstance(beliefs, str) and beliefs == "digits"):
        return beliefs if isinstance(beliefs, str) else bool(beliefs)
    refuse("wrong_type", 'beliefs to be a bool or "digits"', describe(beliefs), 'Pass True, False or "digits".', "beliefs")


def action_space(num_actions: int, beliefs: Beliefs) -> spaces.Space[Any]:
    """Returns the space of one action, or of an action and a belief."""
    action: spaces.Space[Any] = spaces.Discrete(num_actions)
    if not beliefs:
        return action
    if beliefs == "digits":
        return spaces.MultiDiscrete([num_actions, *[len(LEVELS)] * len(_world.BELIEF_NAMES)])
    return spaces.Dict({"action": action, "belief": spaces.Box(0.0, 1.0, (len(_world.BELIEF_NAMES),), np.float32)})


def split_action(action: Any, beliefs: Beliefs, *shape: int) -> Tuple[Any, Any]:
    """Returns the action and the belief of an action in the form of `beliefs`, which is not False. `shape`: (num_envs), or
    nothing for one environment. Raises InputError `wrong_type`, `wrong_length`, `out_of_range` for another value."""
    if beliefs == "digits":
        numbers = as_array("actions", action, "iu", (*shape, 1 + len(_world.BELIEF_NAMES)), "integers")
        digits = to_codes("digits", numbers[..., 1:], numbers[..., 1:].shape, len(LEVELS) - 1)
        return numbers[..., 0], LEVELS[digits]
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
