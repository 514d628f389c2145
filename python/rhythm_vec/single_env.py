"""A `gymnasium.Env` that is computed in this process."""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional, Tuple, Union

import gymnasium
import numpy as np

from . import _world
from .checks import check_flag, describe, refuse, to_array
from .choices import GraderChoice, ProfileChoice
from .in_process import InProcess, bounds_of
from .outputs import StepResult
from .vec_env import VecEnv
from .vector_base import (
    ALL_SEEDS,
    FINAL_INFOS,
    Array,
    Infos,
    action_space,
    box,
    is_number,
    refuse_closed,
    reset_options,
    split_action,
)
from .world import World

__all__ = ["RhythmEnv"]


class RhythmEnv(InProcess, gymnasium.Env[Array, Any]):
    """One environment. An action is an index of `action_names`; with `beliefs`, a dict as in `RhythmVectorEnv`. Many
    environments are faster as one `RhythmVectorEnv`.

    Infos have the `seed`, and at the end of an episode `final_score`, its eight `components`, `belief_mae`,
    `early_mean`, `late_mean`, `episode_return` and `episode_length`.

    Args:
        beliefs: whether actions have beliefs.
        grader, profiles, seed_range, observation, kernel, world, imagination: as in `VecEnv`.

    Raises:
        InputError: as `VecEnv`.
        ClosedEnvironmentError: a call of `reset` or `step` after `close`.
        StateError: as `VecEnv`, such as `closed` for other calls after `close`.
    """

    metadata: Dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        *,
        beliefs: bool = False,
        grader: GraderChoice = "v2",
        profiles: ProfileChoice = "sampled",
        seed_range: Optional[Tuple[int, int]] = None,
        observation: Optional[Mapping[str, Any]] = None,
        kernel: Optional[str] = None,
        world: Union[World, str, "os.PathLike[str]", None] = None,
        imagination: bool = False,
    ) -> None:
        self._vec = VecEnv(
            1,
            kernel=kernel,
            threads=1,
            profiles=profiles,
            grader=grader,
            seed_range=seed_range,
            observation=observation,
            world=world,
            imagination=imagination,
        )
        self._beliefs = check_flag("beliefs", beliefs)
        self._seed_range = seed_range or ALL_SEEDS
        self.action_names = _world.ACTION_NAMES
        self.observation_space = box(bounds_of(self._vec, "low"), bounds_of(self._vec, "high"))
        self.action_space = action_space(len(self.action_names), self._beliefs)

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Tuple[Array, Infos]:
        """Begins an episode.

        Args:
            seed: the episode's seed, a u32, which also seeds `np_random`; by default drawn from `np_random`.
            options: `profiles`, `graders` and `start`, as in `VecEnv.reset`.
        """
        self._check_open()
        given = reset_options(options, ("profiles", "graders", "start"))
        low, size = self._seed_range
        if seed is not None and not is_number(seed):
            refuse("bad_seed", "seed to be a u32", describe(seed), "Pass an integer from 0 to 4294967295.")
        drawn = int(self.np_random.integers(low, low + size, dtype=np.uint64)) if seed is None else seed
        result = self._vec.reset(seed=drawn, **given)
        super().reset(seed=seed)
        return result.observations[0].copy(), self._infos(result)

    def step(self, action: Any) -> Tuple[Array, float, bool, bool, Infos]:
        """Takes an action."""
        self._check_open()
        beliefs = None
        if self._beliefs:
            action, belief = split_action(action)
            beliefs = to_array(belief)[None]
        codes = to_array(action)
        result = self._vec.step(codes.reshape(1) if codes.size == 1 else codes, beliefs=beliefs)
        observation, reward = result.observations[0].copy(), float(result.rewards[0])
        return observation, reward, bool(result.terminated[0]), False, self._infos(result)

    def restore(self, snapshot: bytes) -> StepResult:
        """Restores a snapshot, as `VecEnv.restore`."""
        return self._vec.restore(snapshot)

    def close(self) -> None:
        """Frees the state."""
        self._vec.close()

    def _check_open(self) -> None:
        if self._vec.closed:
            refuse_closed()

    def _infos(self, result: StepResult) -> Infos:
        infos: Infos = {"seed": int(self._vec.seeds[0])}
        if result.final_mask[0]:
            for info, name in FINAL_INFOS.items():
                value = getattr(result, name)[0]
                infos[info] = value.copy() if isinstance(value, np.ndarray) else value.item()
        return infos
