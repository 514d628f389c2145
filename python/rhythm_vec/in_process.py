"""The base class of the Gymnasium environments in this process: access to their VecEnv."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np
import numpy.typing as npt

from .outputs import StepResult
from .vec_env import VecEnv
from .world import World


class InProcess:
    """Forwards properties, and methods that change nothing, to `_vec`. They raise the errors of VecEnv."""

    _vec: VecEnv

    @property
    def outputs(self) -> StepResult:
        """The outputs of the last call, as views, which the next call overwrites."""
        return self._vec.outputs

    @property
    def seeds(self) -> npt.NDArray[np.uint32]:
        """u32 [n]: the seeds of the current episodes."""
        return self._vec.seeds

    @property
    def episode_numbers(self) -> npt.NDArray[np.uint32]:
        """u32 [n]: the number of autoresets of each environment since its last `reset`."""
        return self._vec.episode_numbers

    @property
    def counters(self) -> Dict[str, int]:
        """The "steps" taken and "episodes" ended in all environments since creation. `restore` sets those of the snapshot."""
        return self._vec.counters

    @property
    def kernel(self) -> str:
        """The kernel in use."""
        return self._vec.kernel

    @property
    def threads(self) -> int:
        """The maximum number of threads."""
        return self._vec.threads

    @property
    def world(self) -> World:
        """The world of the episodes."""
        return self._vec.world

    def snapshot(self) -> bytes:
        """Returns the states as bytes. VecEnv and the TypeScript API can restore them too."""
        return self._vec.snapshot()

    def belief_targets(self) -> npt.NDArray[np.float32]:
        """Returns the belief targets, f32 [n, 3]. For evaluation only; agents must not use them."""
        return self._vec.belief_targets()

    def state_hash(self) -> npt.NDArray[np.uint64]:
        """Returns the states' hashes, u64 [n]."""
        return self._vec.state_hash()


def bounds_of(vec: VecEnv, end: str) -> Any:
    """Returns the low or the high bounds of an observation, one per number. `end` is "low" or "high"."""
    fields = vec.observation_fields
    return np.repeat([getattr(field, end) for field in fields], [field.size for field in fields])
