"""The outputs of a batch, and the steps of a run: arrays that the engine writes and NumPy owns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Dict, Iterable, Mapping, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _world

__all__ = ["StepResult", "Trajectory"]

#: The dtype of each array, and how many numbers it has for each environment.
OUTPUTS: Mapping[str, Tuple[str, int]] = _world.OUTPUTS
_LINE = 64  # bytes of a cache line
_NUM_STEPS = _world.NUM_STEPS
_DTYPES: Dict[str, "np.dtype[Any]"] = {"f32": np.dtype(np.float32), "i32": np.dtype(np.int32), "u8": np.dtype(np.uint8)}

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class StepResult:
    """The outputs of a call, with an entry per environment.

    The arrays are views of the environment's memory. The next reset, step, run, assign or restore overwrites them; they
    stay readable after `close`, and after the environment is deleted. With `copy=True` they are copies. `final_scores`
    and all arrays after it have the results of an episode that ended, even if the same call reset the environment. They
    are 0 for environments whose episode has not ended.

    Attributes:
        observations: f32 [n, size], by `observation_fields`.
        final_observations: f32 [n, size], the last observations of episodes that this step ended and autoreset
            replaced; 0 elsewhere. None except with autoreset "same-step".
        rewards: f32 [n].
        terminated: bool [n]: whether the episode has ended.
        truncated: bool [n]: always False, because an episode ends at its 28th step.
        final_mask: bool [n]: whether this call ended the episode.
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
        """Returns a result with copies of all arrays, row-major."""
        arrays: Dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        copies: Any = {name: None if array is None else np.array(array, order="C") for name, array in arrays.items()}
        return StepResult(**copies)


def column_stride_of(num_envs: int) -> int:
    """Returns the distance between columns, in elements. For float32 it is an odd number of cache lines, because columns at
    a distance of a power of two would compete for the same cache sets."""
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


class Trajectory(NamedTuple):
    """The steps of a run; index t of an episode is its step t. For steps that the run did not take, codes are -1 and
    numbers 0. Fields that were not requested are None."""

    actions: npt.NDArray[np.int8]  #: [n, 28]: indices of ACTION_NAMES
    events: npt.NDArray[np.int8]  #: [n, 28]: indices of EVENT_NAMES; -1 for no event
    rewards: npt.NDArray[np.float32]  #: [n, 28]
    meters: npt.NDArray[np.float32]  #: [n, 28, 5]: after the step, by METER_NAMES
    deltas: npt.NDArray[np.float32]  #: [n, 28, 5]: changes of the meters
    anomalies: npt.NDArray[np.float32]  #: [n, 28, 5]


#: The fields of a trajectory that histories need.
HISTORY_FIELDS = ("actions", "rewards", "deltas", "anomalies")


def allocate_trajectory(
    num_envs: int, names: Iterable[str] = Trajectory._fields, column_major: bool = False
) -> Tuple[Tuple[Any, ...], Trajectory]:
    """Allocates a trajectory without steps. Returns the flat arrays and their column stride, for the engine; then the
    views [n, 28] and [n, 28, 5]."""
    stride = column_stride_of(num_envs) if column_major else 0
    arrays = [_allocate_field(name, stride or num_envs) if name in names else None for name in Trajectory._fields]
    return (*arrays, stride), Trajectory(*[_steps_of(array, num_envs, stride) for array in arrays])


def _allocate_field(name: str, rows: int) -> Array:
    is_code = name in ("actions", "events")
    width = _NUM_STEPS if is_code or name == "rewards" else _NUM_STEPS * len(_world.METER_NAMES)
    array = allocate(np.dtype(np.int8 if is_code else np.float32), rows * width)
    if is_code:
        array.fill(-1)
    return array


def _steps_of(array: Optional[Array], num_envs: int, stride: int) -> Any:
    """Returns a view [num_envs, 28] or [num_envs, 28, 5] of a field of a trajectory."""
    if array is None:
        return None
    width = len(array) // (stride or num_envs)
    shape = (_NUM_STEPS,) if width == _NUM_STEPS else (_NUM_STEPS, width // _NUM_STEPS)
    if stride == 0:
        return array.reshape(num_envs, *shape)
    return np.moveaxis(array.reshape(*shape, stride)[..., :num_envs], -1, 0)
