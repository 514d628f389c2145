"""Environments of Gymnasium that are computed in this process, one by one, and the base class of all such environments."""

from __future__ import annotations

import os
import string
from dataclasses import replace
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, Union

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec

from . import _world
from .checks import check_name, describe, refuse, to_array
from .choices import ALL_SEEDS, GraderChoice, ProfileChoice
from .outputs import StepResult
from .text import user_texts
from .text_env import TextEnv
from .vec_env import VecEnv
from .vector_base import (
    FINAL_INFOS,
    Array,
    Beliefs,
    Infos,
    action_space,
    box,
    check_beliefs,
    is_number,
    refuse_closed,
    reset_options,
    split_action,
)
from .world import World

__all__ = ["RhythmEnv", "RhythmTextEnv"]

#: The maximum number of characters of a text. Chosen by hand: messages have up to 900, answers with reasoning more.
_MAX_TEXT = 2**16


def _of_vec(name: str) -> Any:
    """Returns a property that is that of VecEnv, or its method."""
    return property(lambda self: getattr(self._vec, name), doc=getattr(VecEnv, name).__doc__)


class FixedLength:
    """Its `spec` has `max_episode_steps`."""

    _spec: Optional[EnvSpec] = None

    @property
    def spec(self) -> Optional[EnvSpec]:
        """The spec with which `gymnasium.make` created the environment; None for one that was created without it."""
        return self._spec

    @spec.setter
    def spec(self, spec: Optional[EnvSpec]) -> None:
        self._spec = None if spec is None else replace(spec, max_episode_steps=_world.NUM_STEPS)


class InProcess:
    """Has the properties of VecEnv, and the methods that change nothing. They raise the errors of VecEnv."""

    _vec: VecEnv

    outputs: StepResult = _of_vec("outputs")
    seeds: npt.NDArray[np.uint32] = _of_vec("seeds")
    episode_numbers: npt.NDArray[np.uint32] = _of_vec("episode_numbers")
    counters: Dict[str, int] = _of_vec("counters")
    kernel: str = _of_vec("kernel")
    threads: int = _of_vec("threads")
    world: World = _of_vec("world")
    snapshot: Callable[[], bytes] = _of_vec("snapshot")
    belief_targets: Callable[[], npt.NDArray[np.float32]] = _of_vec("belief_targets")
    state_hash: Callable[[], npt.NDArray[np.uint64]] = _of_vec("state_hash")


def bounds_of(vec: VecEnv, end: str) -> Any:
    """Returns the low or the high bounds of an observation, one per number. `end` is "low" or "high"."""
    fields = vec.observation_fields
    return np.repeat([getattr(field, end) for field in fields], [field.size for field in fields])


class RhythmEnv(InProcess, FixedLength, gymnasium.Env[Array, Any]):
    """One environment. An action is an index of `action_names`; with `beliefs` as in `RhythmVectorEnv`. Many
    environments are faster as one `RhythmVectorEnv`.

    Infos have the `seed`, and at the end of an episode `final_score`, its eight `components`, `belief_mae`,
    `early_mean`, `late_mean`, `episode_return` and `episode_length`.

    Args:
        render_mode: "ansi": `render` returns the state and the last step as text, the words of prompts. None: it is not called.
        beliefs: whether actions have beliefs; "digits" for the flat form.
        grader, profiles, seed_range, observation, kernel, world, imagination: as in `VecEnv`.

    Raises:
        InputError: as `VecEnv`.
        ClosedEnvironmentError: a call of `reset` or `step` after `close`.
        StateError: as `VecEnv`, such as `closed` for other calls after `close`.
    """

    metadata: Dict[str, Any] = {"render_modes": ["ansi"]}

    def __init__(
        self,
        *,
        render_mode: Optional[str] = None,
        beliefs: Beliefs = False,
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
        self.render_mode = None if render_mode is None else check_name("render_mode", render_mode, ["ansi"])
        self._beliefs = check_beliefs(beliefs)
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
            action, belief = split_action(action, self._beliefs)
            beliefs = to_array(belief)[None]
        codes = to_array(action)
        result = self._vec.step(codes.reshape(1) if codes.size == 1 else codes, beliefs=beliefs)
        observation, reward = result.observations[0].copy(), float(result.rewards[0])
        return observation, reward, bool(result.terminated[0]), False, self._infos(result)

    def render(self) -> Optional[str]:
        """Returns the state and the last step as text; None without render_mode "ansi"."""
        self._check_open()
        self._vec._core.require_reset()
        return None if self.render_mode is None else user_texts(self._vec._core.raw.observations, "new", "tools")[0]

    def restore(self, snapshot: bytes) -> StepResult:
        """Restores a snapshot, as `VecEnv.restore`."""
        return self._vec.restore(snapshot)

    def close(self) -> None:
        """Frees the state."""
        self._vec.close()

    def _check_open(self) -> None:
        if not self._vec._core.batch.is_open:
            refuse_closed()

    def _infos(self, result: StepResult) -> Infos:
        infos: Infos = {"seed": int(self._vec._core.seeds[0])}
        if result.final_mask[0]:
            for info, name in FINAL_INFOS.items():
                value = getattr(result, name)[0]
                infos[info] = value.copy() if isinstance(value, np.ndarray) else value.item()
        return infos


class RhythmTextEnv(FixedLength, gymnasium.Env[str, str]):
    """A `TextEnv` in Gymnasium's form. An observation is the user message, an action is an answer: any text. The info of a
    reset has `seed`, and `system`, the message with the rules; infos of steps are those of `TextEnv`.

    Args:
        reward, history, thought, grader, profiles, world: as in `TextEnv`.

    Raises:
        InputError, StateError: as `TextEnv`.
    """

    metadata: Dict[str, Any] = {"render_modes": []}

    def __init__(self, **options: Any) -> None:
        self._text = TextEnv(**options)
        self.observation_space = spaces.Text(_MAX_TEXT, charset=string.printable)
        self.action_space = spaces.Text(_MAX_TEXT, min_length=0, charset=string.printable)

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Tuple[str, Infos]:
        """Begins an episode. The seed, a u32, also seeds `np_random`; by default it is drawn from `np_random`."""
        reset_options(options, ())
        drawn = int(self.np_random.integers(2**32)) if seed is None else seed
        system, user = self._text.reset(drawn)
        super().reset(seed=seed)
        return user["content"], {"seed": drawn, "system": system["content"]}

    def step(self, action: str) -> Tuple[str, float, bool, bool, Infos]:
        """Takes the step that an answer chooses."""
        message, reward, done, info = self._text.step(action)
        return message["content"], reward, done, False, info

    def close(self) -> None:
        """Frees the episode."""
        self._text.close()
