"""The core of a vector environment: the batch, its outputs, and the bookkeeping of autoreset and histories."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _world
from .choices import Profiles
from .errors import refuse_state
from .kernels import choose_kernel, native
from .observations import Encoder, Histories
from .outputs import StepResult, allocate, allocate_outputs, column_stride_of, result_of, shaped
from .starts import Start
from .world import World

NUM_STEPS: int = _world.NUM_STEPS

Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Options:
    """The validated options of a VecEnv."""

    num_envs: int
    kernel: Optional[str]
    threads: int
    autoreset: str
    #: (low, size) of the allowed seeds.
    seed_range: Tuple[int, int]
    #: The number that autoreset adds to a seed: num_envs; for a part of a larger environment, the num_envs of that one.
    seed_stride: int
    observation: Optional[Mapping[str, Any]]
    layout: str
    copy: bool
    world: World
    imagination: bool


class OneCall:
    """A context manager for a whole call of a VecEnv, bookkeeping included. Raises StateError `busy` if another call is
    in progress. The batch itself refuses another call only while it computes."""

    __slots__ = ("_lock",)

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(False):
            refuse_state("busy")

    def __exit__(self, *error: object) -> None:
        self._lock.release()


class Core:
    """The batch of a VecEnv, its outputs, and the bookkeeping that the batch does not do."""

    def __init__(self, options: Options, profiles: Profiles, graders: npt.NDArray[np.float32]) -> None:
        num_envs = options.num_envs
        self.options = options
        self.profiles = profiles
        self.graders = graders
        self.num_envs = num_envs
        lock = threading.Lock()
        self.acquire, self.release = lock.acquire, lock.release
        self.call = OneCall(lock)
        self.encoder = Encoder(options.world, options.observation)
        self.kernel = choose_kernel(options.kernel, num_envs)
        self.seeds = np.zeros(num_envs, np.uint32)
        self.episode_numbers = np.zeros(num_envs, np.uint32)
        #: bool [n]: the episodes that were copied from an environment with the other value of `imagination`.
        self.unreplayable = np.zeros(num_envs, np.bool_)
        self.steps = self.episodes = 0
        self.has_episodes = False
        self.history = Histories(num_envs) if self.encoder.has_history else None
        #: u8 [n]: the steps taken in each episode, without the last `_uniform_steps` steps, which all environments took.
        #: The counts are not read from the observations, because the caller may write to the observations.
        self._steps_taken = np.zeros(num_envs, np.uint8)
        self._uniform_steps = 0
        self._num_ended = 0
        self._soonest_end = 0  # every unfinished episode has at least this many steps left
        self._open_batch()

    def _open_batch(self) -> None:
        options = self.options
        stride = column_stride_of(self.num_envs) if options.layout == "column-major" else 0
        arrays = allocate_outputs(self.num_envs, stride, options.autoreset == "same-step")
        self.batch = native().Batch(
            self.kernel, options.world.words, options.imagination, self.num_envs, options.threads, arrays, stride
        )
        #: The outputs with raw observations.
        self.raw = result_of(arrays, self.num_envs, stride)
        #: The arrays of encoded observations, flat, by name.
        self._encoded: Dict[str, npt.NDArray[np.float32]] = {}
        #: The outputs that the caller gets: `raw`, or its arrays with encoded observations in place of the raw ones.
        self.result = self.raw if self.encoder.is_raw else self._encoded_result(stride)
        #: Whether a step of all environments needs only the engine: no autoreset, encoding or copies.
        self.is_plain = options.autoreset == "disabled" and self.encoder.is_raw and not options.copy

    def _encoded_result(self, stride: int) -> StepResult:
        """Allocates the arrays of encoded observations. Returns the outputs with views of them."""
        size, num_envs = self.encoder.size, self.num_envs
        names = ("observations", "final_observations")
        self._encoded = {
            name: allocate(np.dtype(np.float32), size * (stride or num_envs))
            for name in names
            if getattr(self.raw, name) is not None
        }
        return replace(self.raw, **{name: shaped(array, num_envs, size, stride) for name, array in self._encoded.items()})

    @property
    def outputs(self) -> StepResult:
        """The outputs of the last call."""
        return self.result.copy() if self.options.copy else self.result

    @property
    def steps_taken(self) -> Bytes:
        """u8 [n]: the steps taken in each episode. Call `count_ends` after changing it."""
        if self._uniform_steps > 0:
            self._steps_taken += np.uint8(self._uniform_steps)
            self._uniform_steps = 0
        return self._steps_taken

    # Checks

    def require_open(self) -> None:
        """Raises StateError `closed` if the environment is closed."""
        if not self.batch.is_open:
            refuse_state("closed")

    def require_reset(self) -> None:
        """Raises StateError `closed` if the environment is closed, `not_reset` before its first reset."""
        self.require_open()
        if not self.has_episodes:
            refuse_state("not_reset")

    def require_replayable(self, envs: npt.NDArray[Any]) -> None:
        """Raises StateError `foreign_past` if an episode of `envs` (indices) cannot be replayed."""
        unreplayable = envs[self.unreplayable[envs]]
        if unreplayable.size > 0:
            refuse_state("foreign_past", env=int(unreplayable[0]))

    def reset(
        self,
        mask: Optional[Bytes],
        seeds: npt.NDArray[np.uint32],
        profiles: Optional[Profiles],
        graders: Optional[npt.NDArray[np.float32]],
        start: Optional[Start] = None,
    ) -> StepResult:
        """Resets the environments of a mask with validated arguments, and returns the outputs."""
        modes, floats = self.profiles if profiles is None else profiles
        self.batch.reset(mask, seeds, modes, floats, self.graders if graders is None else graders, start)
        rows = slice(None) if mask is None else mask.view(np.bool_)
        self.set_episodes(rows, seeds[rows], 0, 0 if start is None else start.steps[rows])
        if self.history is not None:
            self.history.clear(None if mask is None else mask.view(np.bool_))
        return self.current()

    # Steps

    def planned_step(self, actions: Any, beliefs: Any, mask: Optional[Bytes]) -> StepResult:
        """Steps the environments of a mask, with autoreset and encoding. Returns the outputs."""
        reset_mask = self._plan_resets(mask)
        step_mask = mask
        seeds = None
        if reset_mask is not None:
            low, size = self.options.seed_range
            seeds = ((self.seeds.astype(np.int64) - low + self.options.seed_stride) % size + low).astype(np.uint32)
            if self.options.autoreset == "next-step":
                step_mask = (reset_mask == 0).astype(np.uint8) if mask is None else mask & (1 - reset_mask)
        self.commit_step(self.batch.step(actions, beliefs, step_mask, reset_mask, seeds), step_mask)
        self.steps += self.num_envs if step_mask is None else int(np.count_nonzero(step_mask))
        if reset_mask is not None and seeds is not None:
            resets = reset_mask.view(np.bool_)
            self.set_episodes(resets, seeds[resets], self.episode_numbers[resets] + np.uint32(1), 0)
        self._encode_step(step_mask, reset_mask)
        return self.outputs

    def _plan_resets(self, mask: Optional[Bytes]) -> Optional[Bytes]:
        """Returns which environments the autoreset resets in a step of the environments of `mask`, u8 [n]; None or all
        zeros for none."""
        if self.options.autoreset == "disabled":
            return None
        if self.options.autoreset == "same-step":
            if self._soonest_end > 1:
                return None
            ending = self.steps_taken == NUM_STEPS - 1
        else:
            if self._num_ended == 0:
                return None
            ending = self.steps_taken == NUM_STEPS
        resets = ending.astype(np.uint8)
        if mask is not None:
            resets &= mask
        # In next-step mode, all zeros if `mask` leaves out every ended episode.
        return resets if self.options.autoreset == "next-step" or resets.any() else None

    def commit_step(self, ended: int, mask: Optional[Bytes] = None) -> None:
        """Updates the steps taken and the counts of episodes after a step of the environments of `mask`, in which `ended`
        episodes ended."""
        if mask is None:
            self._uniform_steps += 1
        else:
            self.steps_taken[mask.view(np.bool_)] += np.uint8(1)
        self._soonest_end -= 1
        if ended > 0:
            self.episodes += ended
            self._num_ended += ended
        if self._soonest_end <= 0:
            self.count_ends()

    def set_episodes(self, rows: Any, seeds: Any, numbers: Any, steps: Any, unreplayable: Any = False) -> None:
        """Sets the bookkeeping of environments (a mask or a slice) whose episodes the batch has replaced: seeds, episode
        numbers, steps taken, and which episodes cannot be replayed here."""
        self.seeds[rows] = seeds
        self.episode_numbers[rows] = numbers
        self.steps_taken[rows] = steps
        self.unreplayable[rows] = unreplayable
        self.has_episodes = True
        self.count_ends()

    def count_ends(self) -> None:
        """Counts the episodes that have ended, and the steps to the next end."""
        left = np.uint8(NUM_STEPS) - self.steps_taken
        playing = left[left > 0]
        self._num_ended = self.num_envs - playing.size
        self._soonest_end = int(playing.min()) if playing.size > 0 else 0

    def _encode_step(self, step_mask: Optional[Bytes], reset_mask: Optional[Bytes]) -> None:
        """Encodes the outputs of a step, and updates the histories."""
        if self.encoder.is_raw:
            return
        if self.history is not None:
            stepped = step_mask
            if reset_mask is not None and self.raw.final_observations is not None:
                # The last step of an episode that autoreset has replaced is in the final observations.
                stepped = 1 - reset_mask if step_mask is None else step_mask & (1 - reset_mask)
                self.batch.push_history(self.history.rows, self.raw.final_mask.view(np.uint8), True)
            self.batch.push_history(self.history.rows, stepped, False)
        if self.raw.final_observations is not None:
            self._encoded["final_observations"].fill(0)
            if reset_mask is not None:
                self._encode("final_observations", self.raw.final_mask.view(np.uint8))
        if self.history is not None and reset_mask is not None:
            self.history.clear(reset_mask.view(np.bool_))
        self._encode()

    def _encode(self, name: str = "observations", mask: Optional[Bytes] = None) -> None:
        """Encodes the observations, or the final observations, of the environments of a mask."""
        history = None if self.history is None else self.history.rows
        self.batch.encode(
            self.encoder.parts, self.encoder.size, history, self._encoded[name], mask, name == "final_observations"
        )

    def current(self) -> StepResult:
        """Returns the outputs of a call other than `step`: encodes the observations and zeroes the final observations."""
        if not self.encoder.is_raw:
            self._encode()
        if self.result.final_observations is not None:
            self.result.final_observations[:] = 0
        return self.outputs
