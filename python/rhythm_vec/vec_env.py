"""VecEnv: a batch of episodes in this process, with the engine of the TypeScript API and the same bits."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Type, Union

import numpy as np
import numpy.typing as npt

from . import _world
from .choices import (
    GraderChoice,
    ProfileChoice,
    Profiles,
    SeedChoice,
    as_array,
    check_integer,
    check_name,
    describe,
    refuse,
    to_graders,
    to_mask,
    to_profiles,
    to_seeds,
)
from .errors import StateError
from .kernels import choose_kernel, native
from .observations import STEP, Encoder, Histories, ObservationField
from .outputs import StepResult, allocate_outputs, column_stride_of, result_of, shaped
from .snapshots import STATE, Snapshot, actions_of, check_states, decode_snapshot, encode_snapshot
from .world import World

__all__ = ["Trajectory", "VecEnv"]

_POLICIES = {"random": 0, "heuristic": 1}
_SEQUENCE = 2
_LAYOUTS = ("row-major", "column-major")
_EVERY_SEED = (0, 2**32)
_NUM_STEPS: int = _world.NUM_STEPS

Bytes = npt.NDArray[np.uint8]


class Trajectory(NamedTuple):
    """The steps of a run, by the episode's step: action and event -1 for steps that the run did not take."""

    actions: npt.NDArray[np.int8]  #: [n, 28]
    events: npt.NDArray[np.int8]  #: [n, 28], -1 for none
    rewards: npt.NDArray[np.float32]  #: [n, 28]
    meters: npt.NDArray[np.float32]  #: [n, 28, 5]
    deltas: npt.NDArray[np.float32]  #: [n, 28, 5]
    anomalies: npt.NDArray[np.float32]  #: [n, 28, 5]


@dataclass(frozen=True)
class _Options:
    num_envs: int
    kernel: Optional[str]
    threads: int
    autoreset: str
    seed_range: Tuple[int, int]
    observation: Optional[Mapping[str, Any]]
    layout: str
    copy: bool
    world: World
    imagination: bool


class VecEnv:
    """A batch of episodes. Methods raise InputError for an invalid argument and StateError for a call at the wrong time; an
    error changes nothing. The interpreter's lock is released while the engine computes; calls of one environment must
    not overlap.

    Args:
        num_envs: 1 to 2^24. Each takes about 380 bytes.
        kernel: "avx512", "avx2", "portable" or "scalar"; by default RHYTHM_KERNEL, else the fastest of this machine.
        threads: 1 to 256, for large batches; by default the number of processors. Changes no result.
        profiles, grader: those of resets without `profiles` and `graders`; "sampled" and "v2".
        autoreset: "disabled" (a finished environment waits for `reset`), "next-step" or "same-step".
        seed_range: (low, size) of the allowed seeds. Autoreset adds num_envs to a seed and wraps at the end.
        observation: {"fields": [...], "one_hot": bool, "scale": bool, "history": bool}, all optional.
        layout: "row-major", or "column-major": arrays [n, k] whose columns are adjacent, which step faster.
        copy: whether results are copies. Otherwise they are views, which the next call overwrites.
        world: a `World`, or a file that `rhythm-vec world` wrote.
        imagination: whether noise and events come from streams that no real episode uses. For planners.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        kernel: Optional[str] = None,
        threads: Optional[int] = None,
        profiles: ProfileChoice = "sampled",
        grader: GraderChoice = "v2",
        autoreset: str = "disabled",
        seed_range: Optional[Tuple[int, int]] = None,
        observation: Optional[Mapping[str, Any]] = None,
        layout: str = "row-major",
        copy: bool = False,
        world: Union[World, str, "os.PathLike[str]", None] = None,
        imagination: bool = False,
    ) -> None:
        options = _Options(
            num_envs=check_integer("num_envs", num_envs, 1, _world.MAX_ENVS),
            kernel=kernel,
            threads=check_integer("threads", threads, 1, _world.MAX_THREADS) if threads is not None else _default_threads(),
            autoreset=check_name("autoreset", autoreset, _world.AUTORESET_MODES),
            seed_range=_to_seed_range(seed_range),
            observation=observation,
            layout=check_name("layout", layout, _LAYOUTS),
            copy=bool(copy),
            world=world if isinstance(world, World) else World() if world is None else World.load(world),
            imagination=bool(imagination),
        )
        self._open(options, to_profiles(options.world, profiles, num_envs), to_graders(options.world, grader, num_envs))

    def _open(self, options: _Options, profiles: Profiles, graders: npt.NDArray[np.float32]) -> None:
        self._options = options
        self._profiles = profiles
        self._graders = graders
        self.num_envs: int = options.num_envs
        self.world: World = options.world
        self._encoder = Encoder(options.world, options.observation)
        self.kernel: str = choose_kernel(options.kernel)
        self.threads: int = options.threads
        self._seeds = np.zeros(self.num_envs, np.uint32)
        self._episode_numbers = np.zeros(self.num_envs, np.uint32)
        self._unreplayable = np.zeros(self.num_envs, np.bool_)
        self._steps = self._episodes = self._num_ended = 0
        self._soonest_end = 0  # at most the steps that any unfinished episode has left
        self._playing = False
        self._history = Histories(self.num_envs) if self._encoder.has_history else None
        self._open_batch()

    def _open_batch(self) -> None:
        options = self._options
        stride = column_stride_of(self.num_envs) if options.layout == "column-major" else 0
        arrays = allocate_outputs(self.num_envs, stride, options.autoreset == "same-step")
        try:
            self._batch = native().Batch(
                self.kernel, options.world.words, options.imagination, self.num_envs, options.threads, arrays, stride
            )
        except MemoryError as error:
            raise MemoryError(f"Expected memory for {self.num_envs} environments, got none. Pass fewer.") from error
        self._raw = result_of(arrays, self.num_envs, stride)
        self._result = self._raw if self._encoder.is_raw else self._encoded_result(stride)
        #: Whether a step needs nothing but the engine: the fast path.
        self._is_plain = options.autoreset == "disabled" and self._encoder.is_raw and not options.copy

    def _encoded_result(self, stride: int) -> StepResult:
        size, num_envs = self._encoder.size, self.num_envs

        def empty() -> npt.NDArray[np.float32]:
            return shaped(np.zeros(size * (stride or num_envs), np.float32), num_envs, size, stride)

        final = None if self._raw.final_observations is None else empty()
        return replace(self._raw, observations=empty(), final_observations=final)

    # Properties

    @property
    def observation_fields(self) -> Tuple[ObservationField, ...]:
        """The fields of an observation."""
        return self._encoder.fields

    @property
    def autoreset(self) -> str:
        """The autoreset mode."""
        return self._options.autoreset

    @property
    def imagination(self) -> bool:
        """Whether noise and events come from the imagination streams."""
        return self._options.imagination

    @property
    def seeds(self) -> npt.NDArray[np.uint32]:
        """u32 [n]: the seeds of the present episodes. A read-only view, which calls update."""
        return _read_only(self._seeds)

    @property
    def episode_numbers(self) -> npt.NDArray[np.uint32]:
        """u32 [n]: the number of autoresets of each environment since its last `reset`. A read-only view."""
        return _read_only(self._episode_numbers)

    @property
    def counters(self) -> Dict[str, int]:
        """The steps of all environments together, and the episodes that ended, since opening."""
        return {"steps": self._steps, "episodes": self._episodes}

    @property
    def outputs(self) -> StepResult:
        """The outputs of the last call."""
        return self._result.copy() if self._options.copy else self._result

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return not self._batch.is_open

    # Calls

    def reset(
        self,
        *,
        seed: Optional[SeedChoice] = None,
        mask: Any = None,
        profiles: Optional[ProfileChoice] = None,
        graders: Optional[GraderChoice] = None,
    ) -> StepResult:
        """Begins an episode in every environment, or in those of a mask.

        Args:
            seed: a u32, to which environment i adds i, or one per environment; random by default.
            mask: bool [n]. The first reset must be of all.
            profiles: "sampled", "discrete" or a name; one of these per environment; or f32 [n, 16].
            graders: a name, a file, {"name", "weights"} or eight weights; or one of these per environment.

        Raises:
            InputError: `bad_seed`, `unknown_name`, `bad_profile`, `bad_grader`, `out_of_range`, `wrong_length`, `wrong_type`.
            StateError: `not_reset` (a mask at the first reset), `closed`.
        """
        self._require_open()
        chosen = to_mask(mask, self.num_envs)
        if chosen is not None:
            self._require_reset()
        modes, floats = self._profiles if profiles is None else to_profiles(self.world, profiles, self.num_envs)
        weights = self._graders if graders is None else to_graders(self.world, graders, self.num_envs)
        seeds = to_seeds(seed, self.num_envs, self._options.seed_range)
        self._batch.reset(chosen, seeds, modes, floats, weights, None)
        rows = slice(None) if chosen is None else chosen.view(np.bool_)
        self._seeds[rows] = seeds[rows]
        self._unreplayable[rows] = False
        self._episode_numbers[rows] = 0
        self._playing = True
        self._count_ends()
        if self._history is not None:
            self._history.clear(None if chosen is None else chosen.view(np.bool_))
        return self._current()

    def step(self, actions: npt.ArrayLike, *, beliefs: Optional[npt.ArrayLike] = None, mask: Any = None) -> StepResult:
        """Takes one action in every environment, or in those of a mask. Then autoreset applies.

        Args:
            actions: codes of ACTION_NAMES, [n], of any integer type; uint8 is fastest. Those outside the mask are ignored.
            beliefs: [n, 3]: social, morning, work, clamped to [0, 1]; three NaN for none.
            mask: bool [n]. The others keep their state; their rewards are 0.

        Raises:
            InputError: `illegal_action`, `bad_belief`, `wrong_length`, `wrong_type`.
            StateError: `episode_over` (a finished environment in the mask), `not_reset`, `closed`, `busy`.
        """
        if not self._playing:
            self._require_reset()
        if mask is None and self._is_plain:
            self._commit_ended(self._batch.step(actions, beliefs, None, None, None))
            self._steps += self.num_envs
            return self._result
        return self._planned_step(actions, beliefs, to_mask(mask, self.num_envs))

    def _planned_step(self, actions: Any, beliefs: Any, mask: Optional[Bytes]) -> StepResult:
        reset_mask = self._plan_resets(mask)
        step_mask = mask
        seeds = None
        if reset_mask is not None:
            span_low, span_size = self._options.seed_range
            seeds = ((self._seeds.astype(np.int64) - span_low + self.num_envs) % span_size + span_low).astype(np.uint32)
            if self.autoreset == "next-step":
                step_mask = (reset_mask == 0).astype(np.uint8) if mask is None else mask & (1 - reset_mask)
        self._commit_ended(self._batch.step(actions, beliefs, step_mask, reset_mask, seeds))
        self._steps += self.num_envs if step_mask is None else int(np.count_nonzero(step_mask))
        if reset_mask is not None and seeds is not None:
            self._commit_resets(reset_mask.view(np.bool_), seeds)
        self._encode_step(step_mask, reset_mask)
        return self.outputs

    def _plan_resets(self, mask: Optional[Bytes]) -> Optional[Bytes]:
        """Returns which environments the autoreset resets in a step of the environments of `mask`; None for none."""
        if self.autoreset == "disabled":
            return None
        if self.autoreset == "same-step":
            if self._soonest_end > 1:
                return None
            ending = self._raw.observations[:, STEP] == _NUM_STEPS - 1
        else:
            if self._num_ended == 0:
                return None
            ending = self._raw.observations[:, STEP] == _NUM_STEPS
        resets = ending.astype(np.uint8)
        if mask is not None:
            resets &= mask
        # As the TypeScript API, which plans a step without resets in the same way.
        return resets if self.autoreset == "next-step" or resets.any() else None

    def _commit_ended(self, ended: int) -> None:
        self._soonest_end -= 1
        if ended > 0:
            self._episodes += ended
            self._num_ended += ended
        if self._soonest_end <= 0:
            self._count_ends()

    def _commit_resets(self, resets: npt.NDArray[np.bool_], seeds: npt.NDArray[np.uint32]) -> None:
        self._seeds[resets] = seeds[resets]
        self._episode_numbers[resets] += np.uint32(1)
        self._unreplayable[resets] = False
        self._count_ends()

    def _count_ends(self) -> None:
        """Counts the episodes that have ended, and the steps to the next end."""
        left = _NUM_STEPS - self._raw.observations[:, STEP]
        playing = left[left > 0]
        self._num_ended = self.num_envs - playing.size
        self._soonest_end = int(playing.min()) if playing.size > 0 else 0

    def _encode_step(self, step_mask: Optional[Bytes], reset_mask: Optional[Bytes]) -> None:
        if self._encoder.is_raw:
            return
        resets = None if reset_mask is None else reset_mask.view(np.bool_)
        final = self._raw.final_observations
        if self._history is not None:
            stepped = None if step_mask is None else step_mask.view(np.bool_)
            if resets is not None and final is not None:
                stepped = ~resets if stepped is None else stepped & ~resets
                self._history.push(self._raw.observations, stepped)
                self._history.push(final, self._raw.final_mask)
            else:
                self._history.push(self._raw.observations, stepped)
        self._encode_final(resets is not None)
        if self._history is not None and resets is not None:
            self._history.clear(resets)
        self._encode()

    def _encode_final(self, may_have_ended: bool) -> None:
        encoded, raw = self._result.final_observations, self._raw.final_observations
        if encoded is None or raw is None:
            return
        encoded[:] = 0
        if may_have_ended:
            self._encoder.encode(raw, self._rows_of_history(), encoded, self._raw.final_mask)

    def _rows_of_history(self) -> Optional[npt.NDArray[np.float32]]:
        return None if self._history is None else self._history.rows

    def _encode(self) -> None:
        self._encoder.encode(self._raw.observations, self._rows_of_history(), self._result.observations)

    def _current(self) -> StepResult:
        """Returns the outputs of a call that did not step."""
        if not self._encoder.is_raw:
            self._encode()
        if self._result.final_observations is not None:
            self._result.final_observations[:] = 0
        return self.outputs

    def run(
        self,
        policy: Union[str, npt.ArrayLike],
        *,
        beliefs: Optional[npt.ArrayLike] = None,
        policy_seeds: Optional[SeedChoice] = None,
        stops: Optional[npt.ArrayLike] = None,
        trajectory: bool = False,
        source: Optional[VecEnv] = None,
        indices: Optional[npt.ArrayLike] = None,
    ) -> Tuple[StepResult, Optional[Trajectory]]:
        """Plays every episode from its present state to its end, or to `stops`, in one call. Autoreset does not apply.

        Args:
            policy: "random", "heuristic", or action sequences: codes [n, 28], of which entry t is the action of step t.
            beliefs: [3], one finite belief for every step; or [n, 28, 3], where three NaN give none.
            policy_seeds: seeds of the random policy; 0 for every environment by default.
            stops: [n], the step (0 to 28) at which each environment stops.
            trajectory: whether to return the steps.
            source, indices: environments of another VecEnv that the environments first become copies of, as in `assign`.

        Returns:
            The outputs, and the trajectory or None.
        """
        self._require_open()
        origins = None
        if source is not None:
            origins = self._check_source(source, indices)
            if source is self:
                refuse("not_alike", "source to be another environment", "the one that runs", "Call assign, then run.")
        else:
            self._require_reset()
        code, seeds, codes = self._to_policy(policy, policy_seeds)
        stop = None if stops is None else _to_codes("stops", stops, (self.num_envs,), _NUM_STEPS)
        steps = _allocate_trajectory(self.num_envs) if trajectory or self._history is not None else None
        before = None if source is None else source._raw.observations[origins, STEP]
        first = self._raw.observations[:, STEP].astype(np.int64) if before is None else before.astype(np.int64)
        given = self._to_run_beliefs(beliefs)
        self._batch.run(code, seeds, codes, given, stop, steps, None if source is None else source._batch, origins)
        if source is not None and origins is not None:
            self._commit_copies(source, origins)
        self._commit_run(first, stop)
        if self._history is not None and steps is not None:
            self._history.append(steps)
        return self._current(), steps if trajectory else None

    def _commit_run(self, first: npt.NDArray[np.int64], stop: Optional[Bytes]) -> None:
        last = np.maximum(first, _NUM_STEPS if stop is None else stop.astype(np.int64))
        self._steps += int((last - first).sum())
        self._episodes += int(((first < _NUM_STEPS) & (last == _NUM_STEPS)).sum())
        self._playing = True
        self._count_ends()

    def _to_policy(self, policy: Any, seeds: Any) -> Tuple[int, Optional[npt.NDArray[np.uint32]], Optional[Bytes]]:
        if seeds is not None and not (isinstance(policy, str) and policy == "random"):
            refuse("unknown_option", "policy_seeds with the random policy only", describe(policy), "Leave them out.")
        if isinstance(policy, str):
            code = _POLICIES[check_name("policy", policy, tuple(_POLICIES))]
            return code, None if seeds is None else to_seeds(seeds, self.num_envs, what="policy_seeds"), None
        last = len(_world.ACTION_NAMES) - 1
        return _SEQUENCE, None, _to_codes("actions", policy, (self.num_envs, _NUM_STEPS), last, "illegal_action")

    def _to_run_beliefs(self, beliefs: Any) -> Any:
        if beliefs is None:
            return None
        array = np.asarray(beliefs)
        if array.shape == (len(_world.BELIEF_NAMES),) and array.dtype.kind in "fiu":
            if not np.isfinite(array).all():
                refuse("bad_belief", "a constant belief of finite numbers", str(array), "Leave beliefs out to give none.")
            return array.astype(np.float32)
        rows = as_array("beliefs", array, "fiu", (self.num_envs, _NUM_STEPS, len(_world.BELIEF_NAMES)), "numbers")
        floats = np.array(rows, np.float32, order="C")
        given = np.isfinite(floats.astype(np.float64).sum(axis=-1))
        invalid = np.argwhere(~given & ~np.isnan(floats).all(axis=-1))
        if invalid.size > 0:
            refuse("bad_belief", f"three finite numbers or three NaN at beliefs{invalid[0].tolist()}", str(floats[tuple(invalid[0])]), "Pass one of the two.")
        return floats, given.astype(np.uint8)

    def fork(self, indices: npt.ArrayLike, *, imagination: Optional[bool] = None, autoreset: Optional[str] = None, threads: Optional[int] = None) -> VecEnv:
        """Returns a new environment with the same options, whose environments are copies of those at `indices`.

        Args:
            indices: in any order; repetitions are allowed.
            imagination, autoreset, threads: as in the constructor; by default those of this environment. A fork keeps the hidden
                profiles: a policy that chooses by it is an oracle.

        Raises:
            InputError: `out_of_range`, `wrong_length`, `unknown_name`. StateError: `not_reset`, `closed`.
        """
        self._require_reset()
        origins = self._to_indices(indices, None)
        options = replace(
            self._options,
            num_envs=len(origins),
            kernel=self.kernel,
            imagination=self.imagination if imagination is None else bool(imagination),
            autoreset=self.autoreset if autoreset is None else check_name("autoreset", autoreset, _world.AUTORESET_MODES),
            threads=self.threads if threads is None else check_integer("threads", threads, 1, _world.MAX_THREADS),
        )
        modes, floats = self._profiles
        fork = VecEnv.__new__(VecEnv)
        fork._open(options, Profiles(modes[origins], None if floats is None else floats[origins]), self._graders[origins])
        fork._gather(self, origins)
        return fork

    def assign(self, source: VecEnv, indices: npt.ArrayLike) -> StepResult:
        """Makes environment i a copy of environment indices[i] of `source`, which may be this environment: episode and outputs.

        Raises:
            InputError: `not_alike` (another world), `out_of_range`, `wrong_length`, `bad_seed` (outside seed_range).
            StateError: `not_reset` (the source), `closed`, `foreign_past`.
        """
        self._require_open()
        self._gather(source, self._check_source(source, indices))
        return self.outputs

    def _check_source(self, source: VecEnv, indices: Any) -> npt.NDArray[np.uint32]:
        if not isinstance(source, VecEnv):
            refuse("wrong_type", "source to be a VecEnv", describe(source), "Pass the environment to copy from.")
        source._require_reset()
        if source.world.digest != self.world.digest:
            refuse("not_alike", f"a source of world {self.world.digest}", source.world.digest, "Create both with one world.")
        origins = source._to_indices(indices, self.num_envs)
        low, size = self._options.seed_range
        seeds = source._seeds[origins].astype(np.int64)
        outside = np.flatnonzero((seeds < low) | (seeds >= low + size))
        if outside.size > 0:
            env = int(origins[outside[0]])
            refuse("bad_seed", f"seeds in seed_range, {low} to {low + size - 1}", f"{source._seeds[env]} for environment {env} of the source", "Widen seed_range.")
        if self._history is not None and source._history is None:
            source._require_replayable(origins)
        return origins

    def _to_indices(self, indices: Any, length: Optional[int]) -> npt.NDArray[np.uint32]:
        array = np.asarray(indices)
        if array.dtype.kind not in "iu" or array.ndim != 1 or array.size == 0:
            refuse("wrong_type", "indices to be integers, at least one", describe(indices), "Pass indices of environments.")
        if length is not None and array.size != length:
            refuse("wrong_length", f"{length} indices (num_envs)", str(array.size), "Pass one per environment.")
        outside = np.flatnonzero((array < 0) | (array >= self.num_envs))
        if outside.size > 0:
            at = int(outside[0])
            refuse("out_of_range", f"an index from 0 to {self.num_envs - 1} at indices[{at}]", str(array[at]), "Pass one.")
        return array.astype(np.uint32)

    def _gather(self, source: VecEnv, origins: npt.NDArray[np.uint32]) -> None:
        self._batch.gather(source._batch, origins)
        self._commit_copies(source, origins)
        self._raw.final_mask[:] = False
        self._playing = True
        self._count_ends()
        self._current()

    def _commit_copies(self, source: VecEnv, origins: npt.NDArray[np.uint32]) -> None:
        self._seeds[:] = source._seeds[origins]
        self._episode_numbers[:] = source._episode_numbers[origins]
        self._unreplayable[:] = source._unreplayable[origins] | (source.imagination != self.imagination)
        if self._history is None:
            return
        if source._history is None:
            self._replay_histories(source._batch.save()[origins], source.imagination)
        else:
            self._history.rows[:] = source._history.rows[origins]

    def snapshot(self) -> bytes:
        """Returns the states as bytes, for `restore` in this or another environment, in Python or TypeScript.

        Raises:
            StateError: `not_reset`, `closed`, or `foreign_past` for episodes that were copied from an environment with the other
                value of `imagination`.
        """
        self._require_reset()
        self._require_replayable(np.arange(self.num_envs))
        return encode_snapshot(
            Snapshot(
                world_digest=self.world.digest,
                num_envs=self.num_envs,
                autoreset=self.autoreset,
                imagination=self.imagination,
                seed_range=self._options.seed_range,
                steps=self._steps,
                episodes=self._episodes,
                words=self._batch.save(),
                episode_numbers=self._episode_numbers,
            )
        )

    def restore(self, snapshot: bytes) -> StepResult:
        """Restores a snapshot of an environment with the same num_envs, world, autoreset, seed_range and imagination.

        Raises:
            InputError: `bad_snapshot`: damaged, of another release, of other options, or with illegal states.
            StateError: `closed`.
        """
        self._require_open()
        decoded = decode_snapshot(snapshot)
        self._check_compatible(decoded)
        check_states(decoded)
        if not self._batch.load(decoded.words):
            refuse("bad_snapshot", "legal steps, modes, flags and actions", "others", "Pass what snapshot() returned.")
        self._seeds[:] = decoded.words[:, STATE["seed"]]
        self._episode_numbers[:] = decoded.episode_numbers
        self._unreplayable[:] = False
        self._steps, self._episodes = decoded.steps, decoded.episodes
        self._playing = True
        self._count_ends()
        if self._history is not None:
            self._replay_histories(decoded.words, self.imagination)
        return self._current()

    def _check_compatible(self, snapshot: Snapshot) -> None:
        own = {
            "world_digest": self.world.digest,
            "num_envs": self.num_envs,
            "imagination": self.imagination,
            "autoreset": self.autoreset,
            "seed_range": self._options.seed_range,
        }
        for name, expected in own.items():
            got = getattr(snapshot, name)
            if got != expected:
                refuse("bad_snapshot", f"a snapshot of {name} {expected!r}", repr(got), f"Create an environment with {name}={got!r}.")

    def _replay_histories(self, words: npt.NDArray[np.uint32], imagination: bool) -> None:
        """Replays episodes from their beginning to find their last steps."""
        if self._history is None:
            return
        floats = words.view(np.float32)

        def column(name: str, width: int) -> npt.NDArray[np.float32]:
            return np.ascontiguousarray(floats[:, STATE[name] : STATE[name] + width])

        arrays = allocate_outputs(len(words), 0, False)
        batch = native().Batch(self.kernel, self.world.words, imagination, len(words), self.threads, arrays, 0)
        steps = words[:, STATE["step"]].astype(np.uint8)
        began = np.minimum(words[:, STATE["began"]], _NUM_STEPS - 1).astype(np.uint8)
        first = column("first_meters", len(_world.METER_NAMES))
        start = (began, first, *[None] * 8)
        given = np.full(len(words), 2, np.uint8)
        profile, grader = column("profile", _world.PROFILE_SIZE), column("grader", len(_world.COMPONENT_NAMES))
        batch.reset(None, np.ascontiguousarray(words[:, STATE["seed"]]), given, profile, grader, start)
        trajectory = _allocate_trajectory(len(words))
        batch.run(_SEQUENCE, None, actions_of(words), None, steps, trajectory, None, None)
        self._history.clear(None)
        self._history.append(trajectory)

    def belief_targets(self) -> npt.NDArray[np.float32]:
        """Returns the belief targets, f32 [n, 3], newly allocated. For evaluation only; agents must not use them."""
        self._require_reset()
        targets: npt.NDArray[np.float32] = self._batch.targets()
        return targets

    def state_hash(self) -> npt.NDArray[np.uint64]:
        """Returns the states' hashes, u64 [n], newly allocated: equal for equal seed, step, meters and profile."""
        self._require_reset()
        hashes: npt.NDArray[np.uint64] = self._batch.hash()
        return hashes

    def close(self) -> None:
        """Frees the states. Views stay readable. A second `close` does nothing."""
        self._batch.close()
        self._playing = False

    def __enter__(self) -> VecEnv:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def __getstate__(self) -> Dict[str, Any]:
        """Pickles the options and a snapshot. Observations of the last call are computed again, and its rewards are kept."""
        self._require_open()
        played = self.snapshot() if self._playing else None
        return {"options": self._options, "profiles": self._profiles, "graders": self._graders, "snapshot": played}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._open(state["options"], state["profiles"], state["graders"])
        if state["snapshot"] is not None:
            self.restore(state["snapshot"])

    # Checks

    def _require_open(self) -> None:
        if not self._batch.is_open:
            raise StateError("closed", "Expected an open environment, got one that was closed. Create a new one.")

    def _require_reset(self) -> None:
        self._require_open()
        if not self._playing:
            raise StateError("not_reset", "Expected a reset before this call, got none yet. Call reset(seed=...) first.")

    def _require_replayable(self, envs: npt.NDArray[Any]) -> None:
        foreign = np.flatnonzero(self._unreplayable[envs])
        if foreign.size > 0:
            raise StateError(
                "foreign_past",
                f"Expected episodes that can be replayed here, got that of environment {int(envs[foreign[0]])}, which was copied "
                "from an environment with other streams (imagination). Call the environment that it was copied from.",
            )


def _default_threads() -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, _world.MAX_THREADS)


def _to_seed_range(seed_range: Any) -> Tuple[int, int]:
    if seed_range is None:
        return _EVERY_SEED
    if not isinstance(seed_range, (tuple, list)) or len(seed_range) != 2:
        refuse("wrong_type", "seed_range to be (low, size)", describe(seed_range), "Pass the first seed and how many there are.")
    low = check_integer("seed_range[0] (low)", seed_range[0], 0, 2**32 - 1)
    return low, check_integer("seed_range[1] (size)", seed_range[1], 1, 2**32 - low)


def _read_only(array: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    view = array.view()
    view.setflags(write=False)
    return view


def _to_codes(what: str, value: Any, shape: Tuple[int, ...], high: int, code: str = "out_of_range") -> Bytes:
    array = as_array(what, value, "iu", shape, "integers")
    invalid = np.argwhere((array < 0) | (array > high))
    if invalid.size > 0:
        at = invalid[0].tolist()
        refuse(code, f"{what} from 0 to {high}", f"{array[tuple(at)]} at {what}{at}", "Pass such a number.")
    return np.array(array, np.uint8, order="C")


def _allocate_trajectory(num_envs: int) -> Trajectory:
    steps, meters = (num_envs, _NUM_STEPS), (num_envs, _NUM_STEPS, len(_world.METER_NAMES))
    codes: List[npt.NDArray[np.int8]] = [np.full(steps, -1, np.int8) for _ in range(2)]
    floats: List[npt.NDArray[np.float32]] = [np.zeros(meters, np.float32) for _ in range(3)]
    return Trajectory(codes[0], codes[1], np.zeros(steps, np.float32), *floats)


