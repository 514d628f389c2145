"""A `gymnasium.vector.VectorEnv` whose episodes a `rhythm-vec serve` computes.

It needs Python 3.10 or later, gymnasium 1.1 and websockets 15.

    from rhythm_vec import RemoteVectorEnv

    envs = RemoteVectorEnv(num_envs=1024, url="http://127.0.0.1:8000")
    observations, infos = envs.reset(seed=100)          # environment i plays seed 100 + i
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

docs/guides/step.md describes the arrays.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple, Union

import numpy as np
from gymnasium.vector import AutoresetMode

from .choices import to_mask, to_seeds
from .client import DEFAULT_URL
from .frames import Arrays, VecSocket
from .vector_base import (
    ALL_SEEDS,
    FINAL_INFOS,
    MODES,
    Array,
    BaseVectorEnv,
    Infos,
    Seed,
    masked,
    reset_options,
    to_mode,
)

#: The server's names of arrays that have another name in StepResult.
_SERVER_NAMES = {"first_half_means": "early_means", "second_half_means": "late_means"}
_CURRENT_INFOS = {"seed": "seeds", "episode_number": "episode_numbers"}
_FINAL_INFOS = {info: _SERVER_NAMES.get(name, name) for info, name in FINAL_INFOS.items()}


class RemoteVectorEnv(BaseVectorEnv):
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
        mode = to_mode(autoreset_mode)
        requested = {
            "num_envs": num_envs,
            "autoreset": MODES[mode],
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
        self._set_up(num_envs, mode, beliefs, seed_range or ALL_SEEDS)
        self.action_names = tuple(created["action_names"])
        self.world_digest = created["world_digest"]
        self.max_episode_steps = created["max_episode_steps"]
        self._set_spaces(created["observation_low"], created["observation_high"])
        self._last_result: Arrays = {}

    def reset(self, *, seed: Seed = None, options: Optional[Mapping[str, Any]] = None) -> Tuple[Array, Infos]:
        """Begins episodes.

        Args:
            seed: a u32, to which environment i adds i; or one per environment. An entry of None draws a
                seed from `np_random`. A single number also seeds `np_random`.
            options: `reset_mask` (bool [num_envs]: the environments to reset, all by default),
                `profiles` and `graders` (one name, or one per environment).
        """
        self._check_open()
        data = reset_options(options)
        reset_mask = to_mask(data.pop("reset_mask", None), self.num_envs)
        arrays: Arrays = {"seed": to_seeds(self._draw_seeds(seed), self.num_envs)}
        mask = np.ones(self.num_envs, np.bool_)
        if reset_mask is not None:
            mask = reset_mask.view(np.bool_)
            arrays["mask"] = reset_mask
        result = self._socket.call("reset", data, arrays)
        self._seed_generator(seed)
        self._last_result = result
        return result["observations"], masked(_named(result, _CURRENT_INFOS), mask)

    def step(self, actions: Any) -> Tuple[Array, Array, Array, Array, Infos]:
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
            self._infos(result, previous),
        )

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the environment on the server too."""
        self._socket.close()

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

    def _infos(self, result: Arrays, previous: Arrays) -> Infos:
        current = masked(_named(result, _CURRENT_INFOS), np.ones(self.num_envs, np.bool_))
        ended = result["final_mask"].astype(np.bool_)
        if not ended.any():
            return current
        final = _named(result, _FINAL_INFOS)
        return self._step_infos(
            current, _named(previous, _CURRENT_INFOS), final, ended, result.get("final_observations")
        )


def _named(result: Arrays, names: Mapping[str, str]) -> Arrays:
    return {info: result[name] for info, name in names.items()}
