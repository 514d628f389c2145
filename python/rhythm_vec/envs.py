"""A `gymnasium.vector.VectorEnv` whose episodes are computed in this process.

It needs Python 3.10 or later and gymnasium 1.1 or later.

    import rhythm_vec

    envs = rhythm_vec.make_vec(4096, grader="v3")
    observations, infos = envs.reset(seed=100)          # environment i plays seed 100 + i
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())
"""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from . import _world
from .checks import check_flag
from .choices import ALL_SEEDS, GraderChoice, ProfileChoice, SeedChoice, to_mask
from .outputs import StepResult, Trajectory
from .single_env import InProcess, bounds_of
from .vec_env import VecEnv
from .vector_base import (
    FINAL_INFOS,
    MODES,
    RESET_OPTIONS,
    Array,
    BaseVectorEnv,
    Beliefs,
    Infos,
    Seed,
    check_beliefs,
    masked,
    refuse_closed,
    reset_options,
    split_action,
    to_mode,
)
from .world import World

__all__ = ["RhythmVectorEnv", "make_vec"]


class RhythmVectorEnv(InProcess, BaseVectorEnv):
    """A Gymnasium vector environment over a `VecEnv`, with the same results bit for bit.

    An action is an index of `action_names`. With `beliefs` it is {"action": index, "belief": [social, morning, work]},
    and v2 grades the last belief, v3 the beliefs from the third day on. Three NaN state no belief. With `beliefs="digits"` it is
    flat, for trainers that have no dictionaries: integers [index, social, morning, work], the latter from 0 to 9 for 0 to 1.

    Infos have the same names as those of `RemoteVectorEnv` (remote.py): `seed` and `episode_number` of the current
    episodes, and after the end of an episode `final_score`, its eight `components`, `belief_mae`, `early_mean`,
    `late_mean`, `episode_return` and `episode_length`, each with a mask such as `_seed`. With AutoresetMode.SAME_STEP
    `final_info` has the infos of the finished episode, and `final_obs` its last observations. Rewards are float64.
    Steps share read-only arrays of `seed`, `episode_number` and their masks until an episode begins.

    Args:
        num_envs, profiles, grader, seed_range, observation, layout, kernel, threads, world, imagination: as in
            `VecEnv`.
        autoreset_mode: NEXT_STEP by default, as in Gymnasium.
        beliefs: whether actions have beliefs; "digits" for the flat form.
        copy: whether observations, terminations and truncations are copies. With False they are views, which the next
            call overwrites.

    Raises:
        InputError: as `VecEnv`.
        ClosedEnvironmentError: `reset` or `step` was called after `close`.
        StateError: as `VecEnv`; `closed` if another method was called after `close`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: Union[AutoresetMode, str] = AutoresetMode.NEXT_STEP,
        beliefs: Beliefs = False,
        grader: GraderChoice = "v2",
        profiles: ProfileChoice = "sampled",
        seed_range: Optional[Tuple[int, int]] = None,
        observation: Optional[Mapping[str, Any]] = None,
        layout: str = "row-major",
        copy: bool = True,
        kernel: Optional[str] = None,
        threads: Optional[int] = None,
        world: Union[World, str, "os.PathLike[str]", None] = None,
        imagination: bool = False,
    ) -> None:
        mode = to_mode(autoreset_mode)
        flags = check_beliefs(beliefs), check_flag("copy", copy)
        vec = VecEnv(
            num_envs,
            kernel=kernel,
            threads=threads,
            profiles=profiles,
            grader=grader,
            autoreset=MODES[mode],
            seed_range=seed_range,
            observation=observation,
            layout=layout,
            world=world,
            imagination=imagination,
        )
        self._wrap(vec, mode, *flags, seed_range or ALL_SEEDS)

    def _wrap(self, vec: VecEnv, mode: AutoresetMode, beliefs: Beliefs, copy: bool, seed_range: Tuple[int, int]) -> None:
        """Sets the environment up over a VecEnv."""
        self._vec = vec
        self._copy = copy
        self.action_names = _world.ACTION_NAMES
        self.world_digest = vec.world.digest
        self.max_episode_steps = _world.NUM_STEPS
        self._set_up(vec.num_envs, mode, beliefs, seed_range)
        self._set_spaces(bounds_of(vec, "low"), bounds_of(vec, "high"))
        self._all = _frozen(np.ones(vec.num_envs, np.bool_))
        self._commit()

    def reset(self, *, seed: Seed = None, options: Optional[Mapping[str, Any]] = None) -> Tuple[Array, Infos]:
        """Begins episodes.

        Args:
            seed: a u32 s: environment i plays seed s + i, and `np_random` is seeded with s. Or a u32 for each
                environment. None, also as an entry of a list, draws a seed from `np_random`.
            options: `reset_mask` (bool [num_envs]: the environments to reset, all by default); `profiles`, `graders`
                and `start`, as in `VecEnv.reset`.
        """
        self._check_open()
        given = reset_options(options, (*RESET_OPTIONS, "start"))
        mask = to_mask(given.pop("reset_mask", None), self.num_envs)
        result = self._vec.reset(seed=self._draw_seeds(seed), mask=mask, **given)
        self._seed_np_random(seed)
        self._commit()
        infos = dict(self._current) if mask is None else masked(self._numbers, mask.view(np.bool_))
        observations = result.observations.copy("K") if self._copy else result.observations
        return observations, infos

    def step(self, actions: Any) -> Tuple[Array, Array, Array, Array, Infos]:
        """Takes an action in each environment."""
        if self.closed:
            refuse_closed()
        if self._beliefs:
            codes, beliefs = split_action(actions, self._beliefs, self.num_envs)
            result = self._vec.step(codes, beliefs=beliefs)
        else:
            result = self._vec.step(actions)
        observations, terminated, truncated = result.observations, result.terminated, result.truncated
        if self._copy:
            observations, terminated, truncated = observations.copy("K"), terminated.copy(), truncated.copy()
        has_ended = self._vec._core.episodes != self._num_ended
        infos = self._infos(result) if has_ended or self._may_begin else self._current.copy()
        return observations, result.rewards.astype(np.float64), terminated, truncated, infos

    def run(
        self,
        policy: Union[str, npt.ArrayLike],
        *,
        beliefs: Optional[npt.ArrayLike] = None,
        policy_seeds: Optional[SeedChoice] = None,
        stops: Optional[npt.ArrayLike] = None,
        trajectory: Union[bool, Sequence[str]] = False,
        layout: str = "row-major",
        source: Union[RhythmVectorEnv, VecEnv, None] = None,
        indices: Optional[npt.ArrayLike] = None,
    ) -> Tuple[StepResult, Optional[Trajectory]]:
        """Plays every episode to its end, or to `stops`, in one call, as `VecEnv.run`."""
        vec = _vec_of(source) if source is not None else None
        ran = self._vec.run(
            policy,
            beliefs=beliefs,
            policy_seeds=policy_seeds,
            stops=stops,
            trajectory=trajectory,
            layout=layout,
            source=vec,
            indices=indices,
        )
        self._commit()
        return ran

    def fork(
        self,
        indices: npt.ArrayLike,
        *,
        imagination: Union[bool, Mapping[str, Any], None] = None,
        autoreset_mode: Union[AutoresetMode, str, None] = None,
        threads: Optional[int] = None,
    ) -> RhythmVectorEnv:
        """Returns a new vector environment of copies of the environments at `indices`, as `VecEnv.fork`."""
        mode = self._mode if autoreset_mode is None else to_mode(autoreset_mode)
        vec = self._vec.fork(indices, imagination=imagination, autoreset=MODES[mode], threads=threads)
        fork = RhythmVectorEnv.__new__(RhythmVectorEnv)
        fork._wrap(vec, mode, self._beliefs, self._copy, self._seed_range)
        return fork

    def assign(self, source: Union[RhythmVectorEnv, VecEnv], indices: npt.ArrayLike) -> StepResult:
        """Makes environment i a copy of environment indices[i] of `source`, as `VecEnv.assign`."""
        result = self._vec.assign(_vec_of(source), indices)
        self._commit()
        return result

    def restore(self, snapshot: bytes) -> StepResult:
        """Restores a snapshot, as `VecEnv.restore`."""
        result = self._vec.restore(snapshot)
        self._commit()
        return result

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the states."""
        self._vec.close()

    def _commit(self) -> None:
        """Stores the seeds and the episode numbers of the current episodes for the infos of the next calls."""
        vec = self._vec
        #: The seed and the number of each current episode.
        self._numbers: Dict[str, Array] = {
            "seed": _frozen(vec.seeds.copy()),
            "episode_number": _frozen(vec.episode_numbers.copy()),
        }
        self._current: Infos = {}
        for name, array in self._numbers.items():
            self._current[name], self._current[f"_{name}"] = array, self._all
        self._num_ended = vec.counters["episodes"]
        #: Whether the next step may begin episodes without ending any, which only NEXT_STEP does.
        self._may_begin = self._mode is AutoresetMode.NEXT_STEP and bool(vec.outputs.terminated.any())

    def _infos(self, result: StepResult) -> Infos:
        """Returns the infos of a step that ended or began episodes."""
        previous, num_ended = self._numbers, self._num_ended
        self._commit()
        if self._num_ended == num_ended:
            return self._current.copy()
        final = {info: getattr(result, name) for info, name in FINAL_INFOS.items()}
        return self._step_infos(self._current, previous, final, result.final_mask.copy(), result.final_observations)


def make_vec(num_envs: int, grader: GraderChoice = "v2", **options: Any) -> RhythmVectorEnv:
    """Creates a `RhythmVectorEnv`. The options are those of its constructor. Raises as it does."""
    return RhythmVectorEnv(num_envs, grader=grader, **options)


def _frozen(array: Array) -> Array:
    array.setflags(write=False)
    return array


def _vec_of(source: Union[RhythmVectorEnv, VecEnv]) -> VecEnv:
    return source._vec if isinstance(source, RhythmVectorEnv) else source
