"""A `gymnasium.vector.VectorEnv` whose episodes a `rhythm-vec serve` computes.

It needs Python 3.10 or later, gymnasium 1.1 and websockets 15.

    from rhythm_vec import RemoteVectorEnv

    envs = RemoteVectorEnv(num_envs=1024, url="http://127.0.0.1:8000")
    observations, infos = envs.reset(seed=100)          # environment i plays seed 100 + i
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

docs/guides/step.md describes the arrays.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .client import DEFAULT_URL
from .frames import Arrays, VecSocket

NUM_BELIEFS = 3
ALL_SEEDS = (0, 2**32)

_MODES = {
    AutoresetMode.NEXT_STEP: "next-step",
    AutoresetMode.SAME_STEP: "same-step",
    AutoresetMode.DISABLED: "disabled",
}
#: Infos of a finished episode, by the name of the server's array.
_FINAL_INFOS = {
    "final_scores": "final_score",
    "components": "components",
    "belief_mae": "belief_mae",
    "early_means": "early_mean",
    "late_means": "late_mean",
    "episode_returns": "episode_return",
    "episode_lengths": "episode_length",
}
#: Infos of the current episode, likewise.
_CURRENT_INFOS = {"seeds": "seed", "episode_numbers": "episode_number"}
_RESET_OPTIONS = ("reset_mask", "profiles", "graders")


class RemoteVectorEnv(VectorEnv[np.ndarray, Any, np.ndarray]):
    """A Gymnasium vector environment whose episodes a server steps in one batch.

    An action is an index of `action_names`. With `beliefs` it is {"action": index, "belief": [social, morning, work]},
    and its beliefs are graded: the last one by v2, those from the third day on by v3.

    Infos have the `seed` and `episode_number` of each environment's current episode. After the end of an episode they
    also have its `final_score`, its eight `components`, `belief_mae`, `early_mean`, `late_mean`, `episode_return` and
    `episode_length`. Each entry has a mask, such as `_seed`, as in Gymnasium. With AutoresetMode.SAME_STEP the entries
    of the finished episode are in `final_info`, with its `seed` and `episode_number`, and its last observations are in
    `final_obs`.

    Args:
        num_envs: the number of environments.
        url, token: as in `rhythm_vec.Client`.
        timeout_s: seconds to wait for an answer.
        autoreset_mode: NEXT_STEP by default, as in Gymnasium.
        beliefs: whether actions have beliefs.
        profiles: "sampled" (default), "discrete" or a profile's name.
        grader: "v2" by default, "v1" or "v3".
        seed_range: (low, size) of the allowed seeds; every u32 by default.
        observation: {"fields": [...], "one_hot": True, "scale": True, "history": True}, all optional.

    Raises:
        ServerUnavailableError: no server answered.
        RequestError: the server refused the request; the message says why. All methods raise it.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        url: str = DEFAULT_URL,
        token: Optional[str] = None,
        timeout_s: float = 60.0,
        autoreset_mode: Union[AutoresetMode, str] = AutoresetMode.NEXT_STEP,
        beliefs: bool = False,
        profiles: Optional[str] = None,
        grader: Optional[str] = None,
        seed_range: Optional[Tuple[int, int]] = None,
        observation: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self._mode = AutoresetMode(autoreset_mode)
        self._beliefs = beliefs
        self._seed_range = seed_range or ALL_SEEDS
        requested = {
            "num_envs": num_envs,
            "autoreset": _MODES[self._mode],
            "profiles": profiles,
            "grader": grader,
            "seed_range": seed_range,
            "observation": observation,
        }
        self._socket = VecSocket(url, token, timeout_s)
        try:
            created = self._socket.create({name: value for name, value in requested.items() if value is not None})
        except BaseException:
            self._socket.close()
            raise
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": self._mode, "render_modes": []}
        self.action_names: List[str] = created["action_names"]
        self.world_digest: str = created["world_digest"]
        self.max_episode_steps: int = created["max_episode_steps"]
        self._set_spaces(created)
        self._last_result: Arrays = {}

    def _set_spaces(self, created: Mapping[str, Any]) -> None:
        low, high = (np.array(created[f"observation_{end}"], np.float32) for end in ("low", "high"))
        self.single_observation_space = spaces.Box(low, high, dtype=np.float32)
        action: spaces.Space[Any] = spaces.Discrete(len(self.action_names))
        belief = spaces.Box(0.0, 1.0, (NUM_BELIEFS,), np.float32)
        self.single_action_space = (
            spaces.Dict({"action": action, "belief": belief}) if self._beliefs else action
        )
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self,
        *,
        seed: Union[int, Sequence[Optional[int]], None] = None,
        options: Optional[Dict[str, Any]] = None,
    ) -> Tuple[np.ndarray, Dict[str, Any]]:
        """Begins episodes.

        Args:
            seed: a u32, to which environment i adds i; or one per environment. An entry of None draws a
                seed from `np_random`. A single number also seeds `np_random`.
            options: `reset_mask` (bool [num_envs]: the environments to reset, all by default),
                `profiles` and `graders` (one name, or one per environment).
        """
        self._check_open()
        options = dict(options or {})
        unknown = sorted(set(options) - set(_RESET_OPTIONS))
        if unknown:
            raise ValueError(f"Expected only the options {_RESET_OPTIONS}, got {unknown}. Leave them out.")
        super().reset(seed=seed if isinstance(seed, int) else None)
        arrays = {"seed": self._seeds(seed)}
        mask = np.ones(self.num_envs, np.bool_)
        if options.get("reset_mask") is not None:
            mask = self._mask(options.pop("reset_mask"))
            arrays["mask"] = mask.astype(np.uint8)
        data = {name: value for name, value in options.items() if value is not None}
        result = self._socket.call("reset", data, arrays)
        self._last_result = result
        return result["observations"], _infos(result, _CURRENT_INFOS, mask)

    def step(self, actions: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Dict[str, Any]]:
        """Takes an action in each environment."""
        self._check_open()
        previous = self._last_result
        result = self._socket.call("step", {}, self._actions(actions))
        self._last_result = result
        return (
            result["observations"],
            result["rewards"].astype(np.float64),
            result["terminated"].astype(np.bool_),
            result["truncated"].astype(np.bool_),
            self._step_infos(result, previous),
        )

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the environment on the server too."""
        self._socket.close()

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("Expected an open environment, got a closed one. Create another.")

    def _seeds(self, seed: Union[int, Sequence[Optional[int]], None]) -> np.ndarray:
        low, size = self._seed_range
        if _is_number(seed):
            return _u32([int(seed) + env for env in range(self.num_envs)])  # type: ignore[arg-type]
        if seed is None or any(each is None for each in seed):  # type: ignore[union-attr]
            drawn = self.np_random.integers(low, low + size, self.num_envs, np.uint64).tolist()
            given = [None] * self.num_envs if seed is None else list(seed)  # type: ignore[arg-type]
            seed = [draw if each is None else each for each, draw in zip(given, drawn)]
        return _u32(list(seed))  # type: ignore[arg-type]

    def _mask(self, reset_mask: Any) -> np.ndarray:
        mask: np.ndarray = np.asarray(reset_mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ValueError(
                f"Expected options['reset_mask'] to be bool [{self.num_envs}], "
                f"got {mask.dtype} {list(mask.shape)}. Pass one entry per environment."
            )
        return mask

    def _actions(self, actions: Any) -> Arrays:
        beliefs = None
        if self._beliefs:
            actions, beliefs = actions["action"], np.asarray(actions["belief"], np.float32)
        codes = np.asarray(actions)
        if codes.shape != (self.num_envs,) or codes.dtype.kind not in "iu":
            raise ValueError(
                f"Expected actions to be integers [{self.num_envs}], "
                f"got {codes.dtype} {list(codes.shape)}. Pass one per environment."
            )
        illegal = np.flatnonzero((codes < 0) | (codes >= len(self.action_names)))
        if illegal.size > 0:
            env = illegal[0]
            raise ValueError(
                f"Expected actions from 0 to {len(self.action_names) - 1}, "
                f"got {codes[env]} at actions[{env}]. Pass an index of `action_names`."
            )
        arrays = {"actions": codes.astype(np.uint8)}
        return arrays if beliefs is None else {**arrays, "beliefs": beliefs}

    def _step_infos(self, result: Arrays, previous: Arrays) -> Dict[str, Any]:
        infos = _infos(result, _CURRENT_INFOS, np.ones(self.num_envs, np.bool_))
        ended = result["final_mask"].astype(np.bool_)
        if not ended.any():
            return infos
        final = _infos(result, _FINAL_INFOS, ended)
        if self._mode is not AutoresetMode.SAME_STEP:
            return {**infos, **final}
        observations = np.full(self.num_envs, None, dtype=object)
        for env in np.flatnonzero(ended):
            observations[env] = result["final_observations"][env]
        infos["final_obs"], infos["_final_obs"] = observations, ended
        infos["final_info"] = {**_infos(previous, _CURRENT_INFOS, ended), **final}
        infos["_final_info"] = ended
        return infos


def _is_number(seed: Any) -> bool:
    return isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)


def _u32(seeds: List[int]) -> np.ndarray:
    invalid = [seed for seed in seeds if not _is_number(seed) or not 0 <= seed < 2**32]
    if invalid:
        raise ValueError(f"Expected seeds to be u32, got {invalid[0]!r}. Pass integers from 0 to {2**32 - 1}.")
    return np.array(seeds, np.uint32)


def _infos(result: Arrays, names: Mapping[str, str], mask: np.ndarray) -> Dict[str, Any]:
    """Returns arrays by their names in infos, with 0 outside the mask, and each with its mask, as Gymnasium does."""
    infos: Dict[str, Any] = {}
    for array, name in names.items():
        values = result[array].copy()
        values[~mask] = 0
        infos[name], infos[f"_{name}"] = values, mask.copy()
    return infos
