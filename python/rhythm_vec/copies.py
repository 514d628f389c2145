"""Copies of states: between environments, and to and from snapshots."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import describe, refuse, to_array
from .choices import POLICIES, PROFILE_MODES
from .core import NUM_STEPS, Core
from .kernels import native
from .outputs import HISTORY_FIELDS, Trajectory, allocate_outputs, allocate_trajectory
from .snapshots import STATE, Snapshot, actions_of, check_states, decode_snapshot, encode_snapshot

Indices = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint32]


def to_indices(source: Core, indices: Any, length: Optional[int]) -> Indices:
    """Validates indices of a source's environments. Returns u32 [length]; a length of None allows any number but 0."""
    array = to_array(indices)
    if array.dtype.kind not in "iu" or array.ndim != 1 or array.size == 0:
        refuse("wrong_type", "indices to be integers, at least one", describe(indices), "Pass indices of environments.")
    if length is not None and array.size != length:
        refuse("wrong_length", f"{length} indices (num_envs)", str(array.size), "Pass one index per environment.")
    outside = np.flatnonzero((array < 0) | (array >= source.num_envs))
    if outside.size > 0:
        at = int(outside[0])
        refuse(
            "out_of_range",
            f"an index from 0 to {source.num_envs - 1} at indices[{at}]",
            str(array[at]),
            "Pass the index of an environment of the source.",
        )
    return array.astype(np.uint32)


def check_source(target: Core, source: Core, indices: Any) -> Indices:
    """Checks that the target can continue episodes of the source. Returns the indices, u32 [num_envs of the target]."""
    source.require_reset()
    world, other = target.options.world, source.options.world
    if other.digest != world.digest:
        refuse("not_alike", f"a source of world {world.identity}", other.identity, "Create both with one world.")
    origins = to_indices(source, indices, target.num_envs)
    low, size = target.options.seed_range
    seeds = source.seeds[origins].astype(np.int64)
    outside = np.flatnonzero((seeds < low) | (seeds >= low + size))
    if outside.size > 0:
        env = int(origins[outside[0]])
        got = f"{source.seeds[env]} for environment {env} of the source"
        refuse(
            "bad_seed", f"seeds in seed_range, {low} to {low + size - 1}", got, "Create the environment with a larger seed_range."
        )
    if target.history is not None and source.history is None:
        source.require_replayable(origins)
    return origins


def gather(target: Core, source: Core, origins: Indices) -> None:
    """Makes environment i of the target a copy of environment origins[i] of the source."""
    target.batch.gather(source.batch, origins)
    commit_copies(target, source, origins)
    target.raw.final_mask[:] = False
    target.has_episodes = True
    target.count_ends()
    target.current()  # encodes the outputs


def commit_copies(target: Core, source: Core, origins: Indices) -> None:
    """Updates the bookkeeping of the target after its batch has copied environments."""
    target.seeds[:] = source.seeds[origins]
    target.episode_numbers[:] = source.episode_numbers[origins]
    target.steps_taken[:] = source.steps_taken[origins]
    target.unreplayable[:] = source.unreplayable[origins] | (source.options.imagination != target.options.imagination)
    if target.history is None:
        return
    if source.history is None:
        _replay_histories(target, source.batch.save()[origins], source.options.imagination)
    else:
        target.history.rows[:] = source.history.rows[origins]


def to_snapshot(core: Core) -> bytes:
    """Returns the states as bytes. Raises StateError `closed`, `not_reset`, `foreign_past`."""
    core.require_reset()
    core.require_replayable(np.arange(core.num_envs))
    options = core.options
    return encode_snapshot(
        Snapshot(
            world_digest=options.world.digest,
            num_envs=core.num_envs,
            autoreset=options.autoreset,
            imagination=options.imagination,
            seed_range=options.seed_range,
            steps=core.steps,
            episodes=core.episodes,
            words=core.batch.save(),
            episode_numbers=core.episode_numbers,
        )
    )


def restore(core: Core, data: Any) -> None:
    """Restores a snapshot. Raises InputError `bad_snapshot`, StateError `closed`."""
    core.require_open()
    snapshot = decode_snapshot(data)
    _check_compatible(core, snapshot)
    check_states(snapshot, core.options.world)
    keeps_outputs = False
    if not core.batch.load(snapshot.words, keeps_outputs):
        refuse(
            "bad_snapshot",
            "states with legal steps, modes, flags and actions",
            "others",
            "Pass what snapshot() returned.",
        )
    core.seeds[:] = snapshot.words[:, STATE["seed"]]
    core.episode_numbers[:] = snapshot.episode_numbers
    core.steps_taken[:] = snapshot.words[:, STATE["step"]]
    core.unreplayable[:] = False
    core.steps, core.episodes = snapshot.steps, snapshot.episodes
    core.has_episodes = True
    core.count_ends()
    if core.history is not None:
        _replay_histories(core, snapshot.words, core.options.imagination)
    core.current()  # encodes the outputs


def _check_compatible(core: Core, snapshot: Snapshot) -> None:
    options = core.options
    required = {
        "world_digest": options.world.digest,
        "num_envs": core.num_envs,
        "imagination": options.imagination,
        "autoreset": options.autoreset,
        "seed_range": options.seed_range,
    }
    for name, expected in required.items():
        got = getattr(snapshot, name)
        if got != expected:
            setting = "the snapshot's world" if name == "world_digest" else f"{name}={got!r}"
            remedy = f"Create an environment with {setting}."
            refuse("bad_snapshot", f"a snapshot with {name} {expected!r} (this environment's)", repr(got), remedy)


def _replay_histories(core: Core, words: Words, imagination: bool) -> None:
    """Replays the episodes of states, u32 [n, 52], from their beginning, to write the histories of their last steps."""
    if core.history is None:
        return
    core.history.clear(None)
    core.history.append(replay(core, words, imagination, HISTORY_FIELDS))
    # An episode's last reward depends on values that the replay lacks, such as beliefs. The outputs have this reward.
    ended = words[:, STATE["step"]] == NUM_STEPS
    # A row of the history is the part of an observation from RECORD_START on: action, reward, deltas, anomalies.
    reward = 1  # its index in such a row
    core.history.rows[ended, -1, reward] = core.raw.observations[ended, _world.RECORD_START + reward]


def replay(core: Core, words: Words, imagination: bool, names: Sequence[str]) -> Trajectory:
    """Replays the episodes of states, u32 [n, 52], from their beginning, in the world of `core`. Returns the fields `names`
    of their steps."""
    count, floats = len(words), words.view(np.float32)

    def column(name: str, width: int) -> npt.NDArray[np.float32]:
        return np.ascontiguousarray(floats[:, STATE[name] : STATE[name] + width])

    column_stride = 0  # row-major
    batch = native().Batch(
        core.kernel,
        core.options.world.words,
        imagination,
        count,
        core.options.threads,
        allocate_outputs(count, column_stride, final_observations=False),
        column_stride,
    )
    given = np.full(count, PROFILE_MODES["given"], np.uint8)
    profile, grader = column("profile", _world.PROFILE_SIZE), column("grader", len(_world.COMPONENT_NAMES))
    first_meters = column("first_meters", len(_world.METER_NAMES))
    began = np.minimum(words[:, STATE["began"]], NUM_STEPS - 1).astype(np.uint8)
    # The fields of Start (starts.py) after the meters are left out: only an episode's last reward depends on them.
    batch.reset(
        None, np.ascontiguousarray(words[:, STATE["seed"]]), given, profile, grader, (began, first_meters, *[None] * 8)
    )
    arrays, trajectory = allocate_trajectory(count, names)
    steps = words[:, STATE["step"]].astype(np.uint8)
    # The four None: no policy seeds, no beliefs, no batch to copy environments from, no indices of them.
    batch.run(POLICIES["sequence"], None, actions_of(words), None, steps, arrays, None, None)
    return trajectory
