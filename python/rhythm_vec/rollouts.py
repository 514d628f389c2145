"""Groups of rollouts, as GRPO compares them: all rollouts of a group begin in the same state."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import as_array, check_integer, check_name, check_number, refuse, to_array
from .choices import GraderChoice, ProfileChoice
from .core import NUM_STEPS
from .snapshots import decode_snapshot
from .vec_env import VecEnv
from .world import World

__all__ = ["PolicyActions", "RolloutGroups", "RolloutView", "rollout_groups"]

Floats = npt.NDArray[np.float32]


class PolicyActions(NamedTuple):
    """The actions of a policy for all rollouts, with its beliefs and log-probabilities."""

    actions: npt.ArrayLike  #: [n] codes; those of rollouts that have ended are ignored
    beliefs: Optional[npt.ArrayLike] = None  #: [n, 3]; three NaN for no belief
    log_probs: Optional[npt.ArrayLike] = None  #: [n]: of the actions; NaN if unknown


class RolloutView(NamedTuple):
    """The input of a policy before a step. Rollout i is member `i % group_size` of group `i // group_size`."""

    groups: int
    group_size: int
    observations: Floats  #: [n, 22]; the next step overwrites it
    steps: npt.NDArray[np.uint8]  #: [n]: the steps taken in each episode
    playing: npt.NDArray[np.bool_]  #: [n]: which episodes have steps left


#: "random", "heuristic", or a function that chooses the actions of all rollouts at once.
Policy = Union[str, Callable[[RolloutView], Union[PolicyActions, npt.ArrayLike]]]


@dataclass(frozen=True)
class RolloutGroups:
    """Rollouts in groups. Arrays per step have the shape [groups, group_size, 28, ...], by step of the episode. Arrays
    per rollout have the shape [groups, group_size, ...]. Below, `..` is groups, group_size.

    Attributes:
        observations: f32 [.., 28, 22]: the observation before each action; 0 for steps not taken.
        actions: i8 [.., 28]: codes; -1 for steps not taken.
        beliefs: f32 [.., 28, 3]: as the policy gave them, before clamping; NaN for no belief.
        rewards: f32 [.., 28]: 0 for steps not taken.
        returns: f32 [.., 28]: returns to go: the discounted sum of a step's reward and all later ones, computed in
            float64 and rounded once; 0 for steps not taken.
        log_probs: f32 [.., 28]: NaN if unknown; None if the policy returned none.
        state_hashes: u64 [.., 28]: the hash of the state before each action; 0 for steps not taken.
        first_steps: u8 [..]: the index of each rollout's first step; 28 if its episode was over from the start.
        seeds: u32 [..].
        final_scores, belief_mae, episode_returns, first_half_means, second_half_means: f32 [..], as in a StepResult.
        components: f32 [.., 8].
    """

    groups: int
    group_size: int
    observations: Floats
    actions: npt.NDArray[np.int8]
    beliefs: Floats
    rewards: Floats
    returns: Floats
    log_probs: Optional[Floats]
    state_hashes: npt.NDArray[np.uint64]
    first_steps: npt.NDArray[np.uint8]
    seeds: npt.NDArray[np.uint32]
    final_scores: Floats
    components: Floats
    belief_mae: Floats
    episode_returns: Floats
    first_half_means: Floats
    second_half_means: Floats


def rollout_groups(
    *,
    group_size: int,
    policy: Policy,
    seeds: Optional[npt.ArrayLike] = None,
    source: Union[VecEnv, bytes, None] = None,
    indices: Optional[npt.ArrayLike] = None,
    policy_seeds: Union[str, int] = "member",
    gamma: float = 1.0,
    profiles: Optional[ProfileChoice] = None,
    grader: Optional[GraderChoice] = None,
    world: Union[World, str, "os.PathLike[str]", None] = None,
    kernel: Optional[str] = None,
    threads: Optional[int] = None,
    on_progress: Optional[Callable[[int, int], None]] = None,
) -> RolloutGroups:
    """Plays groups of rollouts to the end of their episodes, and records them.

    Args:
        group_size: rollouts per group.
        policy: "random", "heuristic", or a function that is called before each step.
        seeds: u32, one per group. Pass either `seeds` or `source`.
        source, indices: initial states instead of seeds, one group each: the environments of a VecEnv at the indices
            (all by default), or those of a snapshot (bytes, without indices). The VecEnv stays unchanged.
        policy_seeds: seeds of the random policy: "member", the index of each rollout within its group, or one u32 for all
            rollouts.
        gamma: the discount of returns to go, in [0, 1].
        profiles, grader: for all groups or per group; only with `seeds`. "sampled" and "v2" by default.
        world, kernel, threads: as in VecEnv. `world` is refused with a VecEnv as the source, which has its own.
        on_progress: called after each step with the steps taken so far and the total number of steps, over all rollouts.

    Raises:
        InputError, StateError: an argument or a result of the policy is invalid; codes as in `VecEnv`.
    """
    check_number("gamma", gamma, 0, 1)
    if not callable(policy):
        check_name("policy", policy, ("random", "heuristic"))
    if policy_seeds != "member":
        check_integer("policy_seeds", policy_seeds, 0, 2**32 - 1)
    with open_origins(seeds, source, indices, profiles, grader, world, kernel, threads) as origins:
        groups = origins.num_envs
        check_integer("group_size", group_size, 1, _world.MAX_ENVS // groups)
        count = groups * group_size
        with VecEnv(count, world=origins.world, imagination=origins.imagination, kernel=kernel, threads=threads) as env:
            env.assign(origins, np.arange(count) // group_size)
            recorder = _Recorder(env, groups, group_size)
            while recorder.playing.any():
                recorder.step(policy, policy_seeds)
                if on_progress is not None:
                    on_progress(recorder.steps_taken, recorder.total_steps)
            return recorder.finish(gamma)


def open_origins(
    seeds: Any, source: Any, indices: Any, profiles: Any, grader: Any, world: Any, kernel: Any, threads: Any
) -> VecEnv:
    """Returns a VecEnv with an environment per group, in its initial state. Arguments as in `rollout_groups`."""
    if source is None:
        if seeds is None:
            refuse("wrong_type", "seeds, one per group, or a source", "neither", "Pass seeds, or a source.")
        count = to_array(seeds).size
        check_integer("the number of seeds", count, 1, _world.MAX_ENVS)
        env = VecEnv(
            count,
            profiles="sampled" if profiles is None else profiles,
            grader="v2" if grader is None else grader,
            world=world,
            kernel=kernel,
            threads=threads,
        )
        env.reset(seed=to_array(seeds))
        return env
    for name, value in {"seeds": seeds, "profiles": profiles, "grader": grader}.items():
        if value is not None:
            refuse("unknown_option", f"no {name} with a source, which has its own", "both", "Leave out one of the two.")
    if isinstance(source, VecEnv):
        if world is not None:
            refuse("unknown_option", "no world with a VecEnv as the source, which has its own", "both", "Leave it out.")
        return source.fork(
            np.arange(source.num_envs) if indices is None else indices, autoreset="disabled", threads=threads
        )
    if indices is not None:
        got = "them with a snapshot"
        refuse("unknown_option", "indices with a VecEnv as the source only", got, "Leave them out.")
    snapshot = decode_snapshot(source)
    env = VecEnv(
        snapshot.num_envs,
        autoreset=snapshot.autoreset,
        imagination=snapshot.imagination,
        seed_range=snapshot.seed_range,
        world=world,
        kernel=kernel,
        threads=threads,
    )
    env.restore(source)
    return env


class _Recorder:
    """Steps all rollouts and records them."""

    def __init__(self, env: VecEnv, groups: int, group_size: int) -> None:
        count = groups * group_size
        self._env = env
        self._groups, self._group_size = groups, group_size
        self._outputs = env.outputs
        self._steps = self._outputs.observations[:, 0].astype(np.uint8)
        self._first_steps = self._steps.copy()
        self._log_probs: Optional[Floats] = None
        size = self._outputs.observations.shape[1]
        self._observations = np.zeros((count, NUM_STEPS, size), np.float32)
        self._actions = np.full((count, NUM_STEPS), -1, np.int8)
        self._beliefs = np.full((count, NUM_STEPS, len(_world.BELIEF_NAMES)), np.nan, np.float32)
        self._rewards = np.zeros((count, NUM_STEPS), np.float32)
        self._hashes = np.zeros((count, NUM_STEPS), np.uint64)
        self.total_steps = int((NUM_STEPS - self._steps.astype(np.int64)).sum())

    @property
    def playing(self) -> npt.NDArray[np.bool_]:
        return np.less(self._steps, NUM_STEPS)

    @property
    def steps_taken(self) -> int:
        return int(self._steps.sum(dtype=np.int64) - self._first_steps.sum(dtype=np.int64))

    def step(self, policy: Policy, policy_seeds: Union[str, int]) -> None:
        """Records the observations, plays a step of all unfinished rollouts, and records its results."""
        playing = self.playing
        rows = np.flatnonzero(playing)
        at = (rows, self._steps[rows])
        self._observations[at] = self._outputs.observations[rows]
        self._hashes[at] = self._env.state_hash()[rows]
        if callable(policy):
            self._play(policy, playing, at)
        else:
            self._run(policy, policy_seeds)
        self._actions[at] = self._outputs.observations[rows, _LAST_ACTION]
        self._rewards[at] = self._outputs.rewards[rows]
        self._steps[rows] += 1

    def _run(self, policy: str, policy_seeds: Union[str, int]) -> None:
        """Plays a step of a built-in policy."""
        seeds = None
        if policy == "random":
            members = np.arange(self._env.num_envs) % self._group_size
            seeds = members if policy_seeds == "member" else np.full(self._env.num_envs, policy_seeds, np.int64)
        self._env.run(policy, policy_seeds=seeds, stops=np.minimum(self._steps + 1, NUM_STEPS))

    def _play(self, policy: Callable[[RolloutView], Any], playing: npt.NDArray[np.bool_], at: Tuple[Any, Any]) -> None:
        """Plays a step of a policy that is a function. `at` is the place of the step in the recorded arrays: rows, steps."""
        view = RolloutView(
            self._groups, self._group_size, self._outputs.observations, self._steps.copy(), playing.copy()
        )
        chosen = policy(view)
        actions, beliefs, log_probs = chosen if isinstance(chosen, PolicyActions) else PolicyActions(chosen)
        count = self._env.num_envs
        if beliefs is not None:
            beliefs = np.array(
                as_array("beliefs", beliefs, "fiu", (count, len(_world.BELIEF_NAMES)), "numbers"), np.float32
            )
        if log_probs is not None:
            log_probs = np.array(as_array("log_probs", log_probs, "fiu", (count,), "numbers"), np.float32)
            if np.isinf(log_probs[playing]).any():
                refuse("out_of_range", "finite log_probs", "an infinite one", "Pass NaN if it is unknown.")
        self._env.step(actions, beliefs=beliefs, mask=playing)
        rows = at[0]
        if beliefs is not None:
            self._beliefs[at] = beliefs[rows]
        if log_probs is not None:
            if self._log_probs is None:
                self._log_probs = np.full(self._rewards.shape, np.nan, np.float32)
            self._log_probs[at] = log_probs[rows]

    def finish(self, gamma: float) -> RolloutGroups:
        outputs = self._outputs

        def grouped(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.array(array).reshape(self._groups, self._group_size, *array.shape[1:])

        arrays: Any = {
            "observations": self._observations,
            "actions": self._actions,
            "beliefs": self._beliefs,
            "rewards": self._rewards,
            "returns": _returns_to_go(self._rewards, self._first_steps, gamma),
            "state_hashes": self._hashes,
            "first_steps": self._first_steps,
            "seeds": self._env.seeds,
            **{name: getattr(outputs, name) for name in _OUTPUTS},
        }
        log_probs = None if self._log_probs is None else grouped(self._log_probs)
        columns: Any = {name: grouped(array) for name, array in arrays.items()}
        return RolloutGroups(self._groups, self._group_size, log_probs=log_probs, **columns)


#: The outputs of an ended episode that RolloutGroups has.
_OUTPUTS = ("final_scores", "components", "belief_mae", "episode_returns", "first_half_means", "second_half_means")
_LAST_ACTION = next(offset for name, offset, *_ in _world.OBSERVATION_FIELDS if name == "last_action")


def _returns_to_go(rewards: Floats, first_steps: npt.NDArray[np.uint8], gamma: float) -> Floats:
    returns = np.zeros_like(rewards)
    total = np.zeros(len(rewards), np.float64)
    for step in range(NUM_STEPS - 1, -1, -1):
        total = rewards[:, step] + gamma * total
        returns[:, step] = np.where(step >= first_steps, total, 0)
    return returns
