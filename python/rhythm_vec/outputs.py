"""The outputs of a batch: arrays that the engine writes and NumPy owns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _world

__all__ = ["StepResult"]

OUTPUTS: Mapping[str, Tuple[str, int]] = _world.OUTPUTS
_LINE = 64  # bytes of a cache line
_DTYPES: Dict[str, "np.dtype[Any]"] = {"f32": np.dtype(np.float32), "i32": np.dtype(np.int32), "u8": np.dtype(np.uint8)}

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class StepResult:
    """The outputs of a call, with an entry per environment.

    The arrays are views of the environment's memory. The next reset, step, run, assign or restore overwrites them; they
    stay readable after `close`, and after the environment is gone. With `copy=True` they are copies. From
    `final_scores` on they are 0 for environments whose episode has not ended.

    Attributes:
        observations: f32 [n, size], by `observation_fields`.
        final_observations: f32 [n, size], the last observations of episodes that this step ended and autoreset
            replaced; 0 elsewhere. None except with autoreset "same-step".
        rewards: f32 [n].
        terminated: bool [n]: whether the episode has ended.
        truncated: bool [n]: always False, because an episode ends at its 28th step.
        final_mask: bool [n]: whether this step ended the episode.
        final_scores: f32 [n]: the grade.
        components: f32 [n, 8], by COMPONENT_NAMES.
        belief_mae: f32 [n]: the mean absolute error of the last belief, or of [0.5, 0.5, 0.5] if none was given.
        first_half_means, second_half_means: f32 [n]: mean rewards of the halves, without noise.
        episode_returns: f32 [n]: sums of the rewards.
        episode_lengths: i32 [n]: steps.
    """

    observations: Floats
    final_observations: Optional[Floats]
    rewards: Floats
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    final_mask: npt.NDArray[np.bool_]
    final_scores: Floats
    components: Floats
    belief_mae: Floats
    first_half_means: Floats
    second_half_means: Floats
    episode_returns: Floats
    episode_lengths: npt.NDArray[np.int32]

    def copy(self) -> StepResult:
        """Returns copies of all arrays, row-major."""
        arrays: Dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        return StepResult(**_copies_of(arrays))


def _copies_of(arrays: Dict[str, Any]) -> Dict[str, Any]:
    return {name: None if array is None else np.array(array, order="C") for name, array in arrays.items()}


def column_stride_of(num_envs: int) -> int:
    """Returns the distance between columns, in float32s: an odd number of cache lines, because columns at a distance of
    a power of two would compete for the same cache sets."""
    per_line = _LINE // 4
    return per_line * (-(-num_envs // per_line) | 1)


Array = npt.NDArray[Any]
Arrays = Dict[str, Array]


def allocate(dtype: "np.dtype[Any]", length: int) -> Array:
    """Allocates zeros that begin at a cache line."""
    memory = np.zeros(length * dtype.itemsize + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + length * dtype.itemsize].view(dtype)


def allocate_outputs(num_envs: int, column_stride: int, final_observations: bool) -> Arrays:
    """Allocates the arrays that the engine writes, flat, by name. A column_stride of 0 means row-major."""
    arrays = {}
    for name, (kind, width) in OUTPUTS.items():
        if name == "final_observations" and not final_observations:
            continue
        rows = column_stride if column_stride and width > 1 else num_envs
        arrays[name] = allocate(_DTYPES[kind], width * rows)
    return arrays


def shaped(array: Array, num_envs: int, width: int, column_stride: int) -> Array:
    """Returns a view [num_envs, width] of a flat array; it is row-major if column_stride is 0, else column-major."""
    if column_stride == 0:
        return array.reshape(num_envs, width)
    columns: Array = array.reshape(width, column_stride)
    return columns[:, :num_envs].T


def result_of(arrays: Arrays, num_envs: int, column_stride: int) -> StepResult:
    """Returns views of the engine's arrays, with raw observations."""
    views: Dict[str, Any] = {"final_observations": None}
    for name, array in arrays.items():
        width = OUTPUTS[name][1]
        views[name] = shaped(array, num_envs, width, column_stride) if width > 1 else array
    for name in ("terminated", "final_mask"):
        views[name] = arrays[name].view(np.bool_)
    return StepResult(truncated=np.zeros(num_envs, np.bool_), **views)
