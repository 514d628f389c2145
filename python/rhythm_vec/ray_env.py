"""A Gymnasium vector environment that Ray actors compute."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Dict, List, Mapping, Sequence

import numpy as np

from .choices import GraderChoice, part_of, to_graders, to_profiles
from .envs import RhythmVectorEnv
from .errors import RhythmError
from .single_env import bounds_of
from .vector_base import Arrays, ProxyVectorEnv

__all__ = ["RayVectorEnv"]

class RayVectorEnv(ProxyVectorEnv):
    """A Gymnasium vector environment that Ray actors compute. Its results equal those of `RhythmVectorEnv` bit for bit.
    `ActorPool.make_vec` creates it. An actor computes at most one range of the environments. Calls must not overlap.

    Args:
        actors: Ray's handles of actors that can `open`, `call` and `close` environments (ray.py).
        get: returns the results of Ray's references.
        key: the number by which the actors know this environment.
        num_envs, grader, options: as in `RhythmVectorEnv`, without `layout`, `copy`, `kernel` and `threads`.

    Raises:
        InputError, StateError, ClosedEnvironmentError: as `RhythmVectorEnv`; StateError also if the pool is closed.
        RhythmError: an actor ended, or an earlier call was interrupted. The episodes are lost.
    """

    def __init__(
        self,
        actors: Sequence[Any],
        get: Callable[[Sequence[Any]], List[Any]],
        key: int,
        num_envs: int,
        grader: GraderChoice = "v2",
        **options: Any,
    ) -> None:
        # Passing these options here refuses them in `options`.
        own: Any = {"layout": "row-major", "copy": True, "kernel": None, "threads": 1}
        whole = RhythmVectorEnv(num_envs, grader=grader, **own, **options)
        self.action_names = whole.action_names
        self.world_digest = whole.world_digest
        self.max_episode_steps = whole.max_episode_steps
        self._set_up(whole.num_envs, whole._mode, whole._beliefs, whole._seed_range)
        self._set_spaces(bounds_of(whole._vec, "low"), bounds_of(whole._vec, "high"))
        self._world = whole.world
        self._get, self._key = get, key
        self._actors = actors[: whole.num_envs]
        bounds = [whole.num_envs * at // len(self._actors) for at in range(len(self._actors) + 1)]
        self._rows = [slice(*pair) for pair in zip(bounds, bounds[1:])]
        self._is_lost = False
        state = whole._vec.__getstate__()
        whole.close()
        get([actor.open.remote(key, _part_of(state, rows)) for actor, rows in zip(self._actors, self._rows)])

    def _call(self, name: str, options: Mapping[str, Any], arrays: Arrays) -> Arrays:
        arguments: Dict[str, Any] = dict(arrays)
        if name == "reset":
            arguments = {"seeds": arrays["seed"], "mask": arrays.get("mask"), "profiles": None, "graders": None}
            for option, convert in (("profiles", to_profiles), ("graders", to_graders)):
                if option in options:
                    arguments[option] = convert(self._world, options[option], self.num_envs)
        if self._is_lost:
            raise RhythmError(
                "Expected environments whose last call succeeded, got a call that failed or was interrupted. Their "
                "episodes are lost. Create another vector environment."
            )
        self._is_lost = True  # unless all actors answer
        parts = [{each: part_of(value, rows) for each, value in arguments.items()} for rows in self._rows]
        results = self._get([actor.call.remote(self._key, name, part) for actor, part in zip(self._actors, parts)])
        self._is_lost = False
        return {each: np.concatenate([outputs[each] for outputs in results]) for each in results[0]}

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the environments in the actors."""
        for actor in self._actors:
            actor.close.remote(self._key)


def _part_of(state: Mapping[str, Any], rows: slice) -> Dict[str, Any]:
    """Returns the state of some environments of a VecEnv that has not been reset. They keep the option `seed_stride`
    (core.py) of the whole, so that autoreset chooses the same seeds as without parts."""
    options = replace(state["options"], num_envs=rows.stop - rows.start)
    chosen = {name: part_of(state[name], rows) for name in ("profiles", "graders")}
    return {"options": options, **chosen, "snapshot": None}
