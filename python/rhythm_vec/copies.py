"""Copies of states: between environments, to and from snapshots, and in forks, which may have imagined profiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Mapping, NamedTuple, Optional, Sequence

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import check_flag, check_keys, check_length, check_name, describe, refuse, require, to_array
from .choices import POLICIES, PROFILE_MODES, Profiles, check_profiles, check_seed_range, part_of, to_seeds
from .core import NUM_STEPS, Core
from .errors import StateError
from .kernels import native, to_threads
from .outputs import HISTORY_FIELDS, Trajectory, allocate_outputs, allocate_trajectory
from .snapshots import Snapshot, actions_of, check_states, columns_of, decode_snapshot, encode_snapshot
from .world import World

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint32]


def to_indices(source: Core, indices: Any, length: Optional[int]) -> Indices:
    """Validates indices of a source's environments. Returns u32 [length]; a length of None allows any number but 0."""
    array = to_array(indices)
    remedy = "Pass an index of the source for each environment."
    if array.ndim == 1 and array.size == 0:
        refuse("wrong_length", "at least one index", "none", remedy)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        refuse("wrong_type", "indices to be integers", describe(indices), remedy)
    if length is not None:
        check_length("indices", array.size, length)
    last = source.num_envs - 1
    expected, remedy = f"an index of the source, 0 to {last},", "Pass an index in that range."
    require((array >= 0) & (array <= last), "out_of_range", "indices", expected, array, remedy)
    return array.astype(np.uint32)


def check_source(target: Core, source: Core, indices: Any) -> Indices:
    """Checks that the target can continue episodes of the source. Returns the indices, u32 [num_envs of the target]."""
    source.require_reset()
    world, other = target.options.world, source.options.world
    if other.digest != world.digest:
        refuse("not_alike", f"a source of world {world.identity}", other.identity, "Create both with one world.")
    origins = to_indices(source, indices, target.num_envs)
    seeds, seed_range = source.seeds[origins], target.options.seed_range
    check_seed_range(seeds, seed_range, lambda at: f"environment {origins[at]} of the source")
    if target.history is not None and source.history is None:
        source.require_replayable(origins)
    return origins


def gather(target: Core, source: Core, origins: Indices) -> None:
    """Makes environment i of the target a copy of environment origins[i] of the source."""
    target.batch.gather(source.batch, origins)
    commit_copies(target, source, origins)
    target.raw.final_mask[:] = False
    target.current()  # encodes the outputs


def commit_copies(target: Core, source: Core, origins: Indices) -> None:
    """Updates the bookkeeping of the target after its batch has copied environments."""
    unreplayable = source.unreplayable[origins] | (source.options.imagination != target.options.imagination)
    numbers, steps = source.episode_numbers[origins], source.steps_taken[origins]
    target.set_episodes(slice(None), source.seeds[origins], numbers, steps, unreplayable)
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
        remedy = "Pass what snapshot() returned."
        refuse("bad_snapshot", "states with legal steps, modes, flags and actions", "others", remedy)
    state = columns_of(snapshot.words)
    core.set_episodes(slice(None), state["seed"], snapshot.episode_numbers, state["step"])
    core.steps, core.episodes = snapshot.steps, snapshot.episodes
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
    ended = columns_of(words)["step"] == NUM_STEPS
    reward = _world.RECORD_START + 1  # its index in an observation
    core.history.rewards[ended, -1, 0] = core.raw.observations[ended, reward]


def replay(core: Core, words: Words, imagination: bool, names: Sequence[str]) -> Trajectory:
    """Replays the episodes of states, u32 [n, 52], from their beginning, in the world of `core`. Returns the fields `names`
    of their steps."""
    count, state = len(words), columns_of(words)
    batch = _open_batch(core, core.options.world.words, imagination, count)
    modes = np.full(count, PROFILE_MODES["given"], np.uint8)
    seeds, profiles, graders, first_meters = (
        np.ascontiguousarray(state[name]) for name in ("seed", "profile", "grader", "first_meters")
    )
    began = np.minimum(state["began"], NUM_STEPS - 1).astype(np.uint8)
    # The fields of Start (starts.py) after the meters are left out: only an episode's last reward depends on them.
    batch.reset(None, seeds, modes, profiles, graders, (began, first_meters, *[None] * 8))
    arrays, trajectory = allocate_trajectory(count, names)
    # The four None: no policy seeds, no beliefs, no batch to copy environments from, no indices of them.
    batch.run(
        POLICIES["sequence"], None, actions_of(words), None, state["step"].astype(np.uint8), arrays, None, None
    )
    return trajectory


def _open_batch(core: Core, world_words: Words, imagination: bool, count: int) -> Any:
    """Returns a batch with the kernel and threads of `core`, whose outputs are row-major."""
    outputs, threads = allocate_outputs(count, 0, final_observations=False), core.options.threads
    return native().Batch(core.kernel, world_words, imagination, count, threads, outputs, 0)


class Imagined(NamedTuple):
    """The profiles and seeds that replace the hidden profiles and seeds."""

    profiles: Floats  #: f32 [n, 16]
    seeds: npt.NDArray[np.uint32]  #: u32 [n]


def fork(source: Core, indices: Any, imagination: Any, autoreset: Optional[str], threads: Optional[int]) -> Core:
    """Does what `VecEnv.fork` documents."""
    source.require_reset()
    origins = to_indices(source, indices, None)
    imagined = _to_imagined(source, len(origins), imagination) if isinstance(imagination, Mapping) else None
    options = source.options
    if imagined is not None:
        chosen = Profiles(np.full(len(origins), PROFILE_MODES["given"], np.uint8), imagined.profiles)
        options = replace(options, imagination=True)
    else:
        chosen = part_of(source.profiles, origins)
        if imagination is not None:
            options = replace(options, imagination=check_flag("imagination", imagination))
    if autoreset is not None:
        options = replace(options, autoreset=check_name("autoreset", autoreset, _world.AUTORESET_MODES))
    if threads is not None:
        options = replace(options, threads=to_threads(threads))
    options = replace(options, num_envs=len(origins), seed_stride=len(origins), kernel=source.kernel)
    states = None if imagined is None else _imagined_states(source, origins, imagined)
    target = Core(options, chosen, source.graders[origins])
    gather(target, source, origins)
    if imagined is not None:
        keeps_outputs = True
        target.batch.load(states, keeps_outputs)
        target.seeds[:] = imagined.seeds
        target.unreplayable[:] = False
    return target


def _to_imagined(source: Core, count: int, choice: Mapping[str, Any]) -> Imagined:
    """Validates the option `imagination`. Returns the profiles and seeds of `count` copies."""
    check_keys("imagination", choice, ("profiles", "seed"))
    seeds = to_seeds(choice.get("seed"), count, source.options.seed_range, "seed")
    profiles = choice.get("profiles")
    is_prior = isinstance(profiles, str) and profiles == "prior"
    return Imagined(
        _prior_profiles(source, seeds) if is_prior else check_profiles("profiles", profiles, count), seeds
    )


def _prior_profiles(source: Core, seeds: npt.NDArray[np.uint32]) -> Floats:
    """Draws profiles from the distribution of sampled profiles, on a stream that no real episode uses."""
    world = source.options.world
    words = world.words.copy()
    words[World.offset_of("streamProfile")] ^= world.param("streamImagination")
    imagination = False
    batch = _open_batch(source, words, imagination, len(seeds))
    modes = np.full(len(seeds), PROFILE_MODES["sampled"], np.uint8)
    # No mask, no given profiles, no start states. Graders do not affect profiles, so all get that of environment 0.
    batch.reset(None, seeds, modes, None, source.graders[np.zeros(len(seeds), np.intp)], None)
    return np.ascontiguousarray(columns_of(batch.save())["profile"])


def _imagined_states(source: Core, origins: Indices, imagined: Imagined) -> Words:
    """Returns the states of imagined copies, u32 [n, 52]. They keep time, meters, crash count, return, beliefs and
    grader."""
    source.require_replayable(origins)
    states: Words = source.batch.save()[origins]
    _require_whole(states, origins)
    # Each source environment is replayed once. `which` has the index of each copy's replay.
    _, first, which = np.unique(origins, return_index=True, return_inverse=True)
    pasts = replay(source, states[first], source.options.imagination, ("meters", "deltas"))
    state = columns_of(states)
    steps = state["step"].astype(np.uint8)
    sums = native().reward_sums(
        source.options.world.words, imagined.profiles, steps, pasts.meters[which], pasts.deltas[which]
    )
    changes = {
        "seed": imagined.seeds,
        "mode": PROFILE_MODES["given"],
        "profile": imagined.profiles,
        **dict(zip(("early", "late", "well"), sums.T)),
        # The earlier beliefs are not stored, so their terms under the new profile are unknown.
        "skill": 0,
        # The copies begin at this step, so `tape`, the actions since then, is empty.
        "tape": 0,
        "began": state["step"],
        "first_meters": state["meters"],
    }
    for name, values in changes.items():
        state[name][...] = values
    return states


def _require_whole(states: Words, origins: Indices) -> None:
    """Requires episodes that began at step 0 and have steps left."""
    state = columns_of(states)
    invalid = np.flatnonzero((state["step"] == NUM_STEPS) | (state["began"] > 0))
    if invalid.size == 0:
        return
    at = int(invalid[0])
    env = f"environment {origins[at]} of the source"
    if state["step"][at] == NUM_STEPS:
        raise StateError(
            "episode_over",
            f"Expected episodes with steps left to imagine, got one that is over in {env}. Leave its index out.",
        )
    raise StateError(
        "foreign_past",
        f"Expected episodes that began at step 0, got one that began at step {state['began'][at]} in {env}: its "
        "earlier rewards are unknown under another profile. Use reset(profiles=..., start=...).",
    )
