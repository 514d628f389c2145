"""Runs: a policy or action sequences played to the end of the episodes, or to given stops, in one call."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import as_array, check_name, describe, did_you_mean, refuse, to_array, to_codes, to_floats, to_given
from .choices import POLICIES, to_seeds
from .copies import check_source, commit_copies
from .core import NUM_STEPS, Bytes, Core
from .outputs import HISTORY_FIELDS, Trajectory, allocate_trajectory

LAYOUTS = ("row-major", "column-major")
_NAMES = ("random", "heuristic")


def run(
    core: Core,
    policy: Any,
    beliefs: Any,
    policy_seeds: Any,
    stops: Any,
    trajectory: Union[bool, Sequence[str]],
    layout: str,
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
    names = _to_fields(trajectory)
    recorded = {*names, *(() if core.history is None else HISTORY_FIELDS)}
    column_major = check_name("layout", layout, LAYOUTS) == "column-major"
    arrays, steps = allocate_trajectory(core.num_envs, recorded, column_major) if recorded else (None, None)
    first = (core.steps_taken if source is None else source.steps_taken[origins]).astype(np.int64)
    core.batch.run(code, seeds, codes, given, stop, arrays, None if source is None else source.batch, origins)
    if source is not None and origins is not None:
        commit_copies(core, source, origins)
    _commit(core, first, stop)
    if core.history is not None and steps is not None:
        core.history.append(steps)
    core.current()  # encodes the outputs
    if steps is None or not names:
        return None
    return Trajectory(*[array if name in names else None for name, array in steps._asdict().items()])  # type: ignore[arg-type]


def _commit(core: Core, first: npt.NDArray[np.int64], stop: Optional[Bytes]) -> None:
    last = np.maximum(first, NUM_STEPS if stop is None else stop.astype(np.int64))
    core.steps_taken[:] = last
    core.steps += int((last - first).sum())
    core.episodes += int(((first < NUM_STEPS) & (last == NUM_STEPS)).sum())
    core.has_episodes = True
    core.count_ends()


def _to_policy(policy: Any, seeds: Any, num_envs: int) -> Tuple[int, Optional[npt.NDArray[np.uint32]], Optional[Bytes]]:
    if seeds is not None and not (isinstance(policy, str) and policy == "random"):
        got = f"them with {describe(policy)}"
        refuse("unknown_option", "policy_seeds with the random policy only", got, "Leave them out.")
    if isinstance(policy, str):
        if policy not in _NAMES:
            remedy = did_you_mean(policy, _NAMES, "Step the actions of any other policy, such as a Student's.")
            refuse("unknown_name", f"{', '.join(_NAMES)} or action sequences as the policy", describe(policy), remedy)
        return POLICIES[policy], None if seeds is None else to_seeds(seeds, num_envs, what="policy_seeds"), None
    last = len(_world.ACTION_NAMES) - 1
    remedy = "No episode was stepped. Pass a code in that range."
    codes = to_codes("actions", policy, (num_envs, NUM_STEPS), last, "illegal_action", remedy)
    return POLICIES["sequence"], None, codes


def _to_run_beliefs(beliefs: Any, num_envs: int) -> Any:
    if beliefs is None:
        return None
    array = to_array(beliefs)
    width = len(_world.BELIEF_NAMES)
    if array.shape == (width,) and array.dtype.kind in "fiu":
        floats = to_floats(array)
        if not bool(np.isfinite(floats).all()):
            remedy = "No episode was stepped. Leave beliefs out to give none."
            refuse("bad_belief", "a constant belief of finite numbers", str(array), remedy)
        return floats
    floats = to_floats(as_array("beliefs", array, "fiu", (num_envs, NUM_STEPS, width), "numbers"))
    return floats, to_given(floats)


def _to_fields(trajectory: Any) -> Tuple[str, ...]:
    """Returns the names of the fields to return."""
    if isinstance(trajectory, (bool, np.bool_)):
        return Trajectory._fields if trajectory else ()
    if not isinstance(trajectory, (list, tuple)):
        expected = "trajectory to be a bool or a list of fields"
        refuse("wrong_type", expected, describe(trajectory), 'Pass True, or ["rewards"], for instance.', "trajectory")
    return tuple(check_name(f"trajectory[{k}]", name, Trajectory._fields) for k, name in enumerate(trajectory))
