"""Runs: a policy or action sequences played to the end of the episodes in one call."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import as_array, check_name, describe, refuse, to_array, to_codes, to_floats, to_given
from .choices import to_seeds
from .copies import check_source, commit_copies
from .core import NUM_STEPS, Bytes, Core

_POLICIES = {"random": 0, "heuristic": 1}
SEQUENCE = 2


class Trajectory(NamedTuple):
    """The steps of a run, by the episode's step. For steps that the run did not take, codes are -1 and numbers 0."""

    actions: npt.NDArray[np.int8]  #: [n, 28]: indices of ACTION_NAMES
    events: npt.NDArray[np.int8]  #: [n, 28]: indices of EVENT_NAMES; -1 for no event
    rewards: npt.NDArray[np.float32]  #: [n, 28]
    meters: npt.NDArray[np.float32]  #: [n, 28, 5]: after the step, by METER_NAMES
    deltas: npt.NDArray[np.float32]  #: [n, 28, 5]: changes of the meters
    anomalies: npt.NDArray[np.float32]  #: [n, 28, 5]


def run(
    core: Core,
    policy: Any,
    beliefs: Any,
    policy_seeds: Any,
    stops: Any,
    trajectory: bool,
    source: Optional[Core],
    indices: Any,
) -> Optional[Trajectory]:
    """Runs as `VecEnv.run`. Returns the trajectory, or None."""
    core.require_open()
    origins = None
    if source is None:
        core.require_reset()
    elif source is core:
        refuse("not_alike", "source to be another VecEnv", "the one that runs", "Call assign, then run.")
    else:
        origins = check_source(core, source, indices)
    code, seeds, codes = _to_policy(policy, policy_seeds, core.num_envs)
    stop = None if stops is None else to_codes("stops", stops, (core.num_envs,), NUM_STEPS)
    given = _to_run_beliefs(beliefs, core.num_envs)
    steps = allocate_trajectory(core.num_envs) if trajectory or core.history is not None else None
    first = (core.steps_taken if source is None else source.steps_taken[origins]).astype(np.int64)
    core.batch.run(code, seeds, codes, given, stop, steps, None if source is None else source.batch, origins)
    if source is not None and origins is not None:
        commit_copies(core, source, origins)
    _commit(core, first, stop)
    if core.history is not None and steps is not None:
        core.history.append(steps)
    core.current()
    return steps if trajectory else None


def _commit(core: Core, first: npt.NDArray[np.int64], stop: Optional[Bytes]) -> None:
    last = np.maximum(first, NUM_STEPS if stop is None else stop.astype(np.int64))
    core.steps_taken[:] = last
    core.steps += int((last - first).sum())
    core.episodes += int(((first < NUM_STEPS) & (last == NUM_STEPS)).sum())
    core.is_playing = True
    core.count_ends()


def _to_policy(policy: Any, seeds: Any, num_envs: int) -> Tuple[int, Optional[npt.NDArray[np.uint32]], Optional[Bytes]]:
    if seeds is not None and not (isinstance(policy, str) and policy == "random"):
        got = f"them with {describe(policy)}"
        refuse("unknown_option", "policy_seeds with the random policy only", got, "Leave them out.")
    if isinstance(policy, str):
        code = _POLICIES[check_name("policy", policy, tuple(_POLICIES))]
        return code, None if seeds is None else to_seeds(seeds, num_envs, what="policy_seeds"), None
    last = len(_world.ACTION_NAMES) - 1
    return SEQUENCE, None, to_codes("actions", policy, (num_envs, NUM_STEPS), last, "illegal_action")


def _to_run_beliefs(beliefs: Any, num_envs: int) -> Any:
    if beliefs is None:
        return None
    array = to_array(beliefs)
    width = len(_world.BELIEF_NAMES)
    if array.shape == (width,) and array.dtype.kind in "fiu":
        if not bool(np.isfinite(array).all()):
            refuse("bad_belief", "a constant belief of finite numbers", str(array), "Leave beliefs out to give none.")
        return array.astype(np.float32)
    rows = as_array("beliefs", array, "fiu", (num_envs, NUM_STEPS, width), "numbers")
    floats = to_floats(rows)
    return floats, to_given(floats)


def allocate_trajectory(num_envs: int) -> Trajectory:
    """Allocates a trajectory without steps."""
    steps, meters = (num_envs, NUM_STEPS), (num_envs, NUM_STEPS, len(_world.METER_NAMES))
    codes: List[npt.NDArray[np.int8]] = [np.full(steps, -1, np.int8) for _ in range(2)]
    floats: List[npt.NDArray[np.float32]] = [np.zeros(meters, np.float32) for _ in range(3)]
    return Trajectory(codes[0], codes[1], np.zeros(steps, np.float32), *floats)
