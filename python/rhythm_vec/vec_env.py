"""VecEnv: a batch of episodes in this process, with the engine of the TypeScript API and the same bits."""

from __future__ import annotations

import os
from contextlib import nullcontext
from types import TracebackType
from typing import Any, Callable, ContextManager, Dict, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import check_flag, check_integer, check_name, describe, refuse
from .choices import (
    GraderChoice,
    ProfileChoice,
    SeedChoice,
    to_graders,
    to_mask,
    to_profiles,
    to_seed_range,
    to_seeds,
    to_world,
)
from .copies import check_source, fork, gather, restore, to_snapshot
from .core import Core, Options
from .errors import refuse_state
from .kernels import to_threads
from .observations import ObservationField
from .outputs import StepResult, Trajectory
from .runs import LAYOUTS, run
from .starts import to_start
from .world import World

__all__ = ["VecEnv"]


def _of_core(read: Callable[[Core], Any], doc: str) -> Any:
    """Returns a property of VecEnv, which is read from its core."""
    return property(lambda self: read(self._core), doc=doc)


class VecEnv:
    """A batch of episodes. Methods raise InputError for an invalid argument and StateError for a call at the wrong
    time. An error changes nothing. Other Python threads run while the engine computes, but calls of one VecEnv must not
    overlap (StateError `busy`). A forked process must create its own VecEnv (StateError `forked`).

    Args:
        num_envs: 1 to 2^24. Each takes about 400 bytes.
        kernel: "avx512", "avx2", "portable" or "scalar"; by default RHYTHM_KERNEL, else the fastest of this machine.
        threads: 1 to 256, for large batches; by default the number of processors that this process may use. Changes no
            result.
        profiles, grader: used by resets without `profiles` and `graders`; "sampled" and "v2" by default.
        autoreset: "disabled" (a finished environment waits for `reset`), "next-step" or "same-step".
        seed_range: (low, size) of the allowed seeds. Autoreset adds num_envs to a seed and wraps at the end.
        observation: {"fields": [...], "one_hot": bool, "scale": bool, "history": bool}, all optional.
        layout: "row-major" (default), or "column-major": in arrays [n, k] the numbers of a column are adjacent. Steps
            are then faster.
        copy: whether results are copies. Otherwise they are views, which the next call overwrites.
        world: a `World`, or a file that `rhythm-vec world` wrote; by default the published world.
        imagination: whether noise and events come from the imagination streams, which no real episode uses. For
            planners.

    Raises:
        InputError: `out_of_range`, `unknown_name`, `unknown_option`, `wrong_type`, `wrong_length`, `bad_profile`,
            `bad_grader`, `bad_world`, or `backend_unavailable` for a kernel that this machine lacks.
        ImportError: the engine is not compiled.
        OSError: the file of the world or of a grader cannot be read.
    """

    num_envs: int = _of_core(lambda core: core.num_envs, "The number of environments.")
    kernel: str = _of_core(lambda core: core.kernel, "The kernel in use.")
    threads: int = _of_core(lambda core: core.options.threads, "The maximum number of threads.")
    world: World = _of_core(lambda core: core.options.world, "The world that is played.")
    autoreset: str = _of_core(lambda core: core.options.autoreset, "The autoreset mode.")
    imagination: bool = _of_core(
        lambda core: core.options.imagination, "Whether noise and events come from the imagination streams."
    )
    observation_fields: Tuple[ObservationField, ...] = _of_core(
        lambda core: core.encoder.fields, "The fields of an observation."
    )
    seeds: npt.NDArray[np.uint32] = _of_core(
        lambda core: _read_only(core.seeds),
        "u32 [n]: the seeds of the current episodes. A read-only view, updated by calls.",
    )
    episode_numbers: npt.NDArray[np.uint32] = _of_core(
        lambda core: _read_only(core.episode_numbers),
        "u32 [n]: the number of autoresets of each environment since its last `reset`. A read-only view.",
    )
    counters: Dict[str, int] = _of_core(
        lambda core: {"steps": core.steps, "episodes": core.episodes},
        '"steps" taken and "episodes" ended in all environments since creation. `restore` sets those of the snapshot.',
    )
    outputs: StepResult = _of_core(lambda core: core.outputs, "The outputs of the last call.")
    closed: bool = _of_core(lambda core: not core.batch.is_open, "Whether `close` was called.")

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
        options = Options(
            num_envs=check_integer("num_envs", num_envs, 1, _world.MAX_ENVS),
            kernel=kernel,
            threads=to_threads(threads),
            autoreset=check_name("autoreset", autoreset, _world.AUTORESET_MODES),
            seed_range=to_seed_range(seed_range),
            seed_stride=int(num_envs),
            observation=observation,
            layout=check_name("layout", layout, LAYOUTS),
            copy=check_flag("copy", copy),
            world=to_world(world),
            imagination=check_flag("imagination", imagination),
        )
        chosen = to_profiles(options.world, profiles, options.num_envs)
        self._core = Core(options, chosen, to_graders(options.world, grader, options.num_envs))

    # Calls

    def reset(
        self,
        *,
        seed: Optional[SeedChoice] = None,
        mask: Any = None,
        profiles: Optional[ProfileChoice] = None,
        graders: Optional[GraderChoice] = None,
        start: Optional[Mapping[str, Any]] = None,
    ) -> StepResult:
        """Begins an episode in every environment, or in those of a mask.

        Args:
            seed: a u32, to which environment i adds i, or one per environment; random by default.
            mask: bool [n]: the environments to reset. The first reset must be of all environments.
            profiles: "sampled", "discrete" or a name of PROFILE_NAMES; one of these per environment; or f32 [n, 16], 11
                traits then 5 reward weights.
            graders: a name, a file, {"name", "weights"} or eight weights; or one of these per environment.
            start: the states in which episodes begin, at step 0 by default. With exact float32 values an episode
                continues as if it had been played from step 0. Keys: `steps`, 0 to 27, one number or [n]; `meters`,
                [n, 5] in [0, 1]; and [n] each, 0 by default: `early` and `late` (sums of the rewards of each half,
                without noise), `returns` (the sum of the rewards), `crashes` (how often a meter was below the crash
                threshold), `well` and `skill` (sums of the weighted meters, and of the terms of `belief_skill`); and
                `beliefs`, [n, 3], the last beliefs given, three NaN for no belief.

        Returns:
            The outputs. The rewards and grades of reset environments are 0; `final_mask` is False everywhere.

        Raises:
            InputError: `bad_seed`, `unknown_name`, `bad_profile`, `bad_grader`, `wrong_length`, `wrong_type`; in
                `start` also `out_of_range`, `bad_belief`, `unknown_option`.
            StateError: `not_reset` (a mask at the first reset), `closed`.
            OSError: the file of a grader cannot be read.
        """
        core = self._core
        with core.call:
            core.require_open()
            chosen = to_mask(mask, core.num_envs)
            if chosen is not None:
                core.require_reset()
            given = core.profiles if profiles is None else to_profiles(self.world, profiles, core.num_envs)
            weights = None if graders is None else to_graders(self.world, graders, core.num_envs, "graders")
            seeds = to_seeds(seed, core.num_envs, core.options.seed_range)
            states = None if start is None else to_start(start, self.world, given, chosen, core.num_envs)
            return core.reset(chosen, seeds, given, weights, states)

    def step(self, actions: npt.ArrayLike, *, beliefs: Optional[npt.ArrayLike] = None, mask: Any = None) -> StepResult:
        """Takes one action in every environment, or in those of a mask, and applies autoreset.

        Args:
            actions: [n], indices of ACTION_NAMES, of any integer type; uint8 is fastest. Those outside the mask are
                ignored. Arrays may be read-only, and have any strides and byte order: the call copies them.
            beliefs: [n, 3]: social, morning, work, clamped to [0, 1]; three NaN for no belief. Or [3], for all environments.
            mask: bool [n]: the environments that step. The others keep their state; their rewards are 0.

        Raises:
            InputError: `illegal_action`, `bad_belief`, `wrong_length`, `wrong_type`.
            StateError: `episode_over` (a finished environment would step), `not_reset`, `closed`.
        """
        core = self._core
        # As `with core.call`, in half the time.
        if not core.acquire(False):
            refuse_state("busy")
        try:
            if not core.has_episodes:
                core.require_reset()
            if mask is None and core.is_plain:
                core.commit_step(core.batch.step(actions, beliefs, None, None, None))
                core.steps += core.num_envs
                return core.result
            return core.planned_step(actions, beliefs, to_mask(mask, core.num_envs))
        finally:
            core.release()

    def run(
        self,
        policy: Union[str, npt.ArrayLike],
        *,
        beliefs: Optional[npt.ArrayLike] = None,
        policy_seeds: Optional[SeedChoice] = None,
        stops: Optional[npt.ArrayLike] = None,
        trajectory: Union[bool, Sequence[str]] = False,
        layout: str = "row-major",
        source: Optional[VecEnv] = None,
        indices: Optional[npt.ArrayLike] = None,
    ) -> Tuple[StepResult, Optional[Trajectory]]:
        """Plays every episode from its current state to its end, or to `stops`, in one call. Autoreset does not apply.

        Args:
            policy: "random", "heuristic", or action sequences: codes [n, 28]; entry t is the action of step t.
            beliefs: [3], one finite belief for every step; or [n, 28, 3] by the episode's step; three NaN for no belief.
            policy_seeds: seeds of the random policy: a u32, to which environment i adds i, or one per environment; 0
                for every environment by default.
            stops: [n], the step (0 to 28) at which each environment stops; 28 by default.
            trajectory: whether to return the steps, or a list of the fields to return, such as ["actions", "rewards"].
            layout: the trajectory's layout, as in the constructor. "column-major" is written faster.
            source, indices: another VecEnv, and [n] indices of its environments. Environment i first becomes a copy of
                environment indices[i] of the source, as in `assign`; this VecEnv need not have been reset.

        Returns:
            The outputs, and the trajectory or None.

        Raises:
            InputError: `unknown_name`, `illegal_action`, `bad_belief`, `bad_seed`, `out_of_range`, `wrong_length`,
                `wrong_type`, `unknown_option`; `not_alike` if the source is this VecEnv or of another world.
            StateError: `not_reset`, `closed`; with `source` also `foreign_past`, as in `assign`.
        """
        core, origin = self._core, None if source is None else _core_of(source)
        with core.call, _call_of(origin, core):
            steps = run(core, policy, beliefs, policy_seeds, stops, trajectory, layout, origin, indices)
            return core.outputs, steps

    def fork(
        self,
        indices: npt.ArrayLike,
        *,
        imagination: Union[bool, Mapping[str, Any], None] = None,
        autoreset: Optional[str] = None,
        threads: Optional[int] = None,
    ) -> VecEnv:
        """Returns a new VecEnv with the same options, whose environments are copies of those at `indices`.

        Args:
            indices: in any order; repetitions are allowed.
            imagination, autoreset, threads: as in the constructor; by default those of this VecEnv. Or
                `imagination={"profiles": ..., "seed": ...}`, which replaces the hidden profiles: `profiles` is f32
                [len(indices), 16], such as posterior samples, or "prior" for profiles that are drawn like sampled ones.
                `seed` determines noise and events: a u32, to which copy i adds i, or one per copy; random by default.

        A fork without imagined profiles has the hidden profiles of its source. A policy that chooses its actions by the
        results of this fork uses hidden state: it is an oracle, not a valid agent.

        Raises:
            InputError: `out_of_range`, `wrong_type`, `unknown_name`; with imagined profiles also `bad_profile`,
                `bad_seed`, `wrong_length`, `unknown_option`.
            StateError: `not_reset`, `closed`; with imagined profiles also `episode_over`, or `foreign_past` if an
                episode began after step 0, or was copied from a VecEnv with the other value of `imagination`.
        """
        forked = VecEnv.__new__(VecEnv)
        with self._core.call:
            forked._core = fork(self._core, indices, imagination, autoreset, threads)
        return forked

    def assign(self, source: VecEnv, indices: npt.ArrayLike) -> StepResult:
        """Makes environment i a copy of environment indices[i] of `source`: episode and outputs.

        Args:
            source: a VecEnv with the same world; it may be this one.
            indices: [n], indices of environments of the source.

        Raises:
            InputError: `not_alike` (another world), `out_of_range`, `wrong_length`, `wrong_type`, `bad_seed` (outside
                seed_range).
            StateError: `not_reset` (the source), `closed`; `foreign_past` if this VecEnv observes `history`, the source
                does not, and an episode was copied from a VecEnv with the other value of `imagination`.
        """
        core = self._core
        with core.call:
            core.require_open()
            origin = _core_of(source)
            with _call_of(origin, core):
                gather(core, origin, check_source(core, origin, indices))
            return core.outputs

    def snapshot(self) -> bytes:
        """Returns the states as bytes, for `restore` in this or another VecEnv, in Python or TypeScript. They do
        not contain the options `profiles` and `grader`: after `restore`, a call of `reset` uses those of the restoring
        environment. Until then, autoreset keeps the profiles and graders of the states.

        Raises:
            StateError: `not_reset`, `closed`, or `foreign_past` for episodes that were copied from a VecEnv
                with the other value of `imagination`.
        """
        with self._core.call:
            return to_snapshot(self._core)

    def restore(self, snapshot: bytes) -> StepResult:
        """Restores a snapshot of a VecEnv with the same num_envs, world, autoreset, seed_range and imagination.

        Raises:
            InputError: `bad_snapshot`: damaged, of an incompatible release, of other options, or with illegal states.
            StateError: `closed`.
        """
        with self._core.call:
            restore(self._core, snapshot)
            return self._core.outputs

    def belief_targets(self) -> npt.NDArray[np.float32]:
        """Returns the belief targets, f32 [n, 3], newly allocated. For evaluation only; agents must not use them.
        Raises StateError `not_reset`, `closed`."""
        with self._core.call:
            self._core.require_reset()
            targets: npt.NDArray[np.float32] = self._core.batch.targets()
        return targets

    def state_hash(self) -> npt.NDArray[np.uint64]:
        """Returns the states' hashes, u64 [n], newly allocated: equal for equal seed, step, meters and profile. Raises
        StateError `not_reset`, `closed`."""
        with self._core.call:
            self._core.require_reset()
            hashes: npt.NDArray[np.uint64] = self._core.batch.hash()
        return hashes

    def close(self) -> None:
        """Frees the states. Views stay readable. A second `close` does nothing."""
        with self._core.call:
            self._core.batch.close()
            self._core.has_episodes = False

    def __enter__(self) -> VecEnv:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __getstate__(self) -> Dict[str, Any]:
        """Pickles the options, the episodes as a snapshot, and the profiles and graders of later resets."""
        core = self._core
        with core.call:
            core.require_open()
            played = to_snapshot(core) if core.has_episodes else None
        return {"options": core.options, "profiles": core.profiles, "graders": core.graders, "snapshot": played}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._core = Core(state["options"], state["profiles"], state["graders"])
        if state["snapshot"] is not None:
            restore(self._core, state["snapshot"])


def _core_of(source: VecEnv) -> Core:
    if isinstance(source, VecEnv):
        return source._core
    refuse("wrong_type", "source to be a VecEnv", describe(source), "Pass the VecEnv to copy from.")


def _call_of(origin: Optional[Core], core: Core) -> ContextManager[None]:
    """Returns the context manager `origin.call`; for None and for `core` itself, one that does nothing."""
    return nullcontext() if origin is None or origin is core else origin.call


def _read_only(array: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    view = array.view()
    view.setflags(write=False)
    return view
