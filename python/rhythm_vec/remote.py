"""A `gymnasium.vector.VectorEnv` that plays its episodes on a `rhythm-vec serve` server.

It needs Python 3.10, gymnasium 1.1 and websockets 15, or later releases.

    from rhythm_vec import RemoteVectorEnv

    envs = RemoteVectorEnv(num_envs=1024, url="http://127.0.0.1:8000")
    observations, infos = envs.reset(seed=100)          # environment i plays seed 100 + i
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

docs/guides/step.md describes the arrays.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple, Union

from gymnasium.vector import AutoresetMode

from . import _world
from .checks import check_flag, check_integer
from .choices import to_seed_range
from .client import DEFAULT_URL
from .frames import VecSocket
from .proxy_env import Arrays, ProxyVectorEnv
from .vector_base import MODES, to_mode

#: Server array names and their names in StepResult, where the two differ.
_NAMES = {"early_means": "first_half_means", "late_means": "second_half_means"}


class RemoteVectorEnv(ProxyVectorEnv):
    """A Gymnasium vector environment whose episodes a server steps in one batch.

    An action is an index of `action_names`. With `beliefs` it is {"action": index, "belief": [social, morning, work]},
    and v2 grades the last belief, v3 the beliefs from the third day on.

    Infos have the `seed` and `episode_number` of each environment's current episode. In the step that ends an
    episode they also have its `final_score`, its eight `components`, `belief_mae`, `early_mean`, `late_mean`,
    `episode_return` and `episode_length`. Each entry has a mask, such as `_seed`, as in Gymnasium. With
    AutoresetMode.SAME_STEP the entries of the finished episode are in `final_info`, with its `seed` and
    `episode_number`, and its last observations are in `final_obs`.

    Args:
        num_envs: the number of environments.
        url, token: as in `rhythm_vec.Client`.
        timeout_s: the maximum seconds that opening the connection and each call may take, sending included. A server that
            answers within them may have been stopped or silent meanwhile.
        autoreset_mode: NEXT_STEP by default, as in Gymnasium.
        beliefs: whether actions have beliefs.
        profiles: "sampled" (default), "discrete" or a profile's name.
        grader: "v1", "v2" (default) or "v3".
        seed_range: (low, size) of the allowed seeds; every u32 by default.
        observation: {"fields": [...], "one_hot": True, "scale": True, "history": True}, all optional.

    Raises:
        ServerUnavailableError: no server answered.
        RequestError: the server refused the request; the message says why.
        InputError: an invalid argument. StateError: a call that the current state does not allow.
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
        num_envs = check_integer("num_envs", num_envs, 1, _world.MAX_ENVS)
        has_beliefs = check_flag("beliefs", beliefs)
        chosen_range = to_seed_range(seed_range)
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
        self._set_up(num_envs, mode, has_beliefs, chosen_range)
        self.action_names = tuple(created["action_names"])
        self.world_digest = created["world_digest"]
        self.max_episode_steps = created["max_episode_steps"]
        self._set_spaces(created["observation_low"], created["observation_high"])

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the environment on the server."""
        self._socket.close()

    def _call(self, name: str, options: Mapping[str, Any], arrays: Arrays) -> Arrays:
        result = self._socket.call(name, options, arrays)
        return {_NAMES.get(theirs, theirs): array for theirs, array in result.items()}
