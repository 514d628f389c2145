"""A Gymnasium vector environment that a pool of Ray actors computes."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple, Union

from gymnasium.vector import AutoresetMode
import numpy as np

from . import _world
from .checks import check_flag
from .choices import GraderChoice, ProfileChoice, part_of, to_graders, to_profiles
from .core import NUM_STEPS
from .in_process import bounds_of
from .proxy_env import Arrays, ProxyVectorEnv
from .vec_env import VecEnv
from .vector_base import ALL_SEEDS, MODES, to_mode
from .world import World

if TYPE_CHECKING:
    from .ray import ActorPool

__all__ = ["RayVectorEnv"]


class RayVectorEnv(ProxyVectorEnv):
    """A Gymnasium vector environment that a pool of Ray actors computes. Its results equal those of `RhythmVectorEnv`
    bit for bit. `ActorPool.make_vec` creates it. An actor computes at most one range of the environments. Calls
    must not overlap.

    Args:
        pool: the pool that computes the environment.
        key: the number by which the actors know this environment.
        num_envs, autoreset_mode, beliefs, grader, profiles, seed_range, observation, world, imagination: as in
            `RhythmVectorEnv`.

    Raises:
        InputError, StateError, ClosedEnvironmentError: as `RhythmVectorEnv`; StateError also if the pool is closed.
        RhythmError: an actor died more often than the pool restarts it.
    """

    def __init__(
        self,
        pool: ActorPool,
        key: int,
        num_envs: int,
        *,
        autoreset_mode: Union[AutoresetMode, str] = AutoresetMode.NEXT_STEP,
        beliefs: bool = False,
        grader: GraderChoice = "v2",
        profiles: ProfileChoice = "sampled",
        seed_range: Optional[Tuple[int, int]] = None,
        observation: Optional[Mapping[str, Any]] = None,
        world: Union[World, str, "os.PathLike[str]", None] = None,
        imagination: bool = False,
    ) -> None:
        mode = to_mode(autoreset_mode)
        with VecEnv(
            num_envs,
            threads=1,
            profiles=profiles,
            grader=grader,
            autoreset=MODES[mode],
            seed_range=seed_range,
            observation=observation,
            world=world,
            imagination=imagination,
        ) as whole:
            self.action_names = _world.ACTION_NAMES
            self.world_digest = whole.world.digest
            self.max_episode_steps = NUM_STEPS
            self._world = whole.world
            self._set_up(whole.num_envs, mode, check_flag("beliefs", beliefs), seed_range or ALL_SEEDS)
            self._set_spaces(bounds_of(whole, "low"), bounds_of(whole, "high"))
            self._pool = pool
            self._parts = _open_parts(pool, key, whole)

    def _call(self, name: str, options: Mapping[str, Any], arrays: Arrays) -> Arrays:
        self._pool.require_open()
        arguments: Dict[str, Any] = dict(arrays)
        if name == "reset":
            arguments = {"seeds": arrays["seed"], "mask": arrays.get("mask"), "profiles": None, "graders": None}
            if "profiles" in options:
                arguments["profiles"] = to_profiles(self._world, options["profiles"], self.num_envs)
            if "graders" in options:
                arguments["graders"] = to_graders(self._world, options["graders"], self.num_envs)
        counts = [part.num_calls for part in self._parts]
        try:
            results = self._pool.get([part.call(arguments) for part in self._parts])
            # A result is None if the actor was restarted and no longer has the part, or has computed a call that `undo`
            # has deleted. `open` repeats the part's calls; the last of its results is that of this call.
            for at, part in enumerate(self._parts):
                while results[at] is None:
                    results[at] = self._pool.get(part.open())[-1]
        except BaseException:
            for part, count in zip(self._parts, counts):
                part.undo(count)
            raise
        for part, (_, saved) in zip(self._parts, results):
            part.commit(saved)
        return {name: np.concatenate([outputs[name] for outputs, _ in results]) for name in results[0][0]}

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the environments in the actors."""
        for part in self._parts:
            part.close()


class _Part:
    """The environments of one actor. Keeps their last saved state and all later calls, to open them again."""

    def __init__(self, actor: Any, key: int, rows: slice, env: VecEnv) -> None:
        self._actor = actor
        self._key = key
        self._rows = rows
        self._saved = pickle.dumps(env)
        #: The number of calls before the saved state.
        self._calls_before = 0
        self._calls: List[Dict[str, Any]] = []

    def open(self) -> List[Any]:
        """Opens the environments in the actor, and repeats the calls. Returns references to the results: first
        of the opening, then of each call."""
        opened = self._actor.open.remote(self._key, self._calls_before, self._saved)
        return [opened, *(self._submit(at) for at in range(len(self._calls)))]

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Submits a call. Returns a reference to its result, which is None if the part must be opened again."""
        self._calls.append({name: part_of(value, self._rows) for name, value in arguments.items()})
        return self._submit(len(self._calls) - 1)

    def _submit(self, at: int) -> Any:
        # Saves the state at every 28th call. Chosen by hand: saving takes time, but `open` repeats the later calls.
        save = at + 1 == NUM_STEPS
        return self._actor.call.remote(self._key, self._calls_before + at, self._calls[at], save)

    def commit(self, saved: Optional[bytes]) -> None:
        """Forgets the calls before a saved state, if there is one."""
        if saved is not None:
            self._saved, self._calls_before, self._calls = saved, self._calls_before + len(self._calls), []

    @property
    def num_calls(self) -> int:
        """The number of calls after the saved state."""
        return len(self._calls)

    def undo(self, count: int) -> None:
        """Forgets the calls after the first `count`. If the actor has computed one of them, the next call has another
        number than the actor expects, and returns None. The part is then opened again."""
        del self._calls[count:]

    def close(self) -> None:
        self._actor.close.remote(self._key)


def _open_parts(pool: ActorPool, key: int, whole: VecEnv) -> List[_Part]:
    """Opens the parts of an environment that has not been reset. Autoreset adds the option `seed_stride` (core.py) to a
    seed. Each part keeps that of the whole environment, so autoreset chooses the same seeds as without parts."""
    actors = pool.actors[: whole.num_envs]
    bounds = [whole.num_envs * at // len(actors) for at in range(len(actors) + 1)]
    state = whole.__getstate__()
    parts = []
    for actor, rows in zip(actors, (slice(*pair) for pair in zip(bounds, bounds[1:]))):
        env = VecEnv.__new__(VecEnv)
        env.__setstate__(
            {
                "options": replace(state["options"], num_envs=rows.stop - rows.start),
                "profiles": part_of(state["profiles"], rows),
                "graders": state["graders"][rows],
                "snapshot": None,
            }
        )
        parts.append(_Part(actor, key, rows, env))
    pool.get([ref for part in parts for ref in part.open()])
    return parts
