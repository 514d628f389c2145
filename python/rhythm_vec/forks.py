"""Forks: new environments that are copies, with the hidden profiles or with imagined profiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Dict, Mapping, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import check_flag, check_name, describe, did_you_mean, refuse
from .choices import PROFILE_MODES, Profiles, SeedChoice, check_profiles, to_seeds
from .copies import Indices, Words, gather, replay, to_indices
from .core import NUM_STEPS, Core
from .errors import StateError
from .kernels import native, to_threads
from .outputs import allocate_outputs
from .snapshots import STATE
from .world import World

Floats = npt.NDArray[np.float32]
_IMAGINED = ("profiles", "seed")


class Imagined(NamedTuple):
    """The profiles and seeds that replace the hidden profiles and seeds."""

    profiles: Floats  #: f32 [n, 16]
    seeds: npt.NDArray[np.uint32]  #: u32 [n]


def fork(source: Core, indices: Any, imagination: Any, autoreset: Optional[str], threads: Optional[int]) -> Core:
    """Does what `VecEnv.fork` documents."""
    source.require_reset()
    origins = to_indices(source, indices, None)
    imagined = _to_imagined(source, len(origins), imagination) if isinstance(imagination, Mapping) else None
    options = replace(
        source.options,
        num_envs=len(origins),
        seed_stride=len(origins),
        kernel=source.kernel,
        imagination=_has_imagination(source, imagination),
        autoreset=source.options.autoreset
        if autoreset is None
        else check_name("autoreset", autoreset, _world.AUTORESET_MODES),
        threads=source.options.threads if threads is None else to_threads(threads),
    )
    states = None if imagined is None else _imagined_states(source, origins, imagined)
    target = Core(options, _profiles_of(source, origins, imagined), source.graders[origins])
    gather(target, source, origins)
    if states is not None:
        keeps_outputs = True
        target.batch.load(states, keeps_outputs)
        target.seeds[:] = states[:, STATE["seed"]]
        target.unreplayable[:] = False
    return target


def _has_imagination(source: Core, imagination: Any) -> bool:
    if imagination is None:
        return source.options.imagination
    return isinstance(imagination, Mapping) or check_flag("imagination", imagination)


def _profiles_of(source: Core, origins: Indices, imagined: Optional[Imagined]) -> Profiles:
    """Returns the profiles for later resets of the fork."""
    if imagined is not None:
        return Profiles(np.full(len(origins), PROFILE_MODES["given"], np.uint8), imagined.profiles)
    modes, floats = source.profiles
    return Profiles(modes[origins], None if floats is None else floats[origins])


def _to_imagined(source: Core, count: int, choice: Mapping[str, Any]) -> Imagined:
    """Validates the option `imagination`. Returns the profiles and seeds of `count` copies."""
    for name in choice:
        if name not in _IMAGINED:
            remedy = did_you_mean(str(name), _IMAGINED, "Leave it out.")
            refuse("unknown_option", f"keys of imagination among {', '.join(_IMAGINED)}", describe(name), remedy)
    options = source.options
    seeds = to_seeds(choice.get("seed"), count, options.seed_range, "imagination['seed']")
    profiles = choice.get("profiles")
    if isinstance(profiles, str) and profiles == "prior":
        return Imagined(_prior_profiles(source, seeds), seeds)
    return Imagined(check_profiles("imagination['profiles']", profiles, count), seeds)


def _prior_profiles(source: Core, seeds: npt.NDArray[np.uint32]) -> Floats:
    """Draws profiles from the distribution of sampled profiles, on a stream that no real episode uses."""
    world = source.options.world
    words = world.words.copy()
    words[World.offset_of("streamProfile")] ^= world.param("streamImagination")
    imagination, column_stride = False, 0  # a stride of 0 is row-major
    outputs = allocate_outputs(len(seeds), column_stride, final_observations=False)
    batch = native().Batch(
        source.kernel, words, imagination, len(seeds), source.options.threads, outputs, column_stride
    )
    modes = np.full(len(seeds), PROFILE_MODES["sampled"], np.uint8)
    # No mask, no given profiles, no start states. Graders do not affect profiles, so all get that of environment 0.
    batch.reset(None, seeds, modes, None, source.graders[np.zeros(len(seeds), np.intp)], None)
    states: Words = batch.save()
    profile = slice(STATE["profile"], STATE["profile"] + _world.PROFILE_SIZE)
    return np.ascontiguousarray(states.view(np.float32)[:, profile])


def _imagined_states(source: Core, origins: Indices, imagined: Imagined) -> Words:
    """Returns the states of imagined copies, u32 [n, 52]. They keep time, meters, crash count, return, beliefs and
    grader."""
    source.require_replayable(origins)
    states: Words = source.batch.save()[origins]
    _require_whole(states, origins)
    # Each source environment is replayed once. `which` has the index of each copy's replay.
    _, first, which = np.unique(origins, return_index=True, return_inverse=True)
    pasts = replay(source, states[first], source.options.imagination, ("meters", "deltas"))
    steps = states[:, STATE["step"]].astype(np.uint8)
    sums = native().reward_sums(
        source.options.world.words, imagined.profiles, steps, pasts.meters[which], pasts.deltas[which]
    )
    floats = states.view(np.float32)
    states[:, STATE["seed"]] = imagined.seeds
    states[:, STATE["mode"]] = PROFILE_MODES["given"]
    floats[:, STATE["profile"] : STATE["profile"] + _world.PROFILE_SIZE] = imagined.profiles
    for k, name in enumerate(("early", "late", "well")):
        floats[:, STATE[name]] = sums[:, k]
    # The earlier beliefs are not stored, so their terms under the new profile are unknown.
    floats[:, STATE["skill"]] = 0
    # The copies begin at this step, so `tape`, the actions since then, is empty.
    states[:, STATE["tape"] : STATE["grader"]] = 0
    states[:, STATE["began"]] = states[:, STATE["step"]]
    width = len(_world.METER_NAMES)
    states[:, STATE["first_meters"] :][:, :width] = states[:, STATE["meters"] :][:, :width]
    return states


def _require_whole(states: Words, origins: Indices) -> None:
    """Requires episodes that began at step 0 and have steps left."""
    steps, began = states[:, STATE["step"]], states[:, STATE["began"]]
    invalid = np.flatnonzero((steps == NUM_STEPS) | (began > 0))
    if invalid.size == 0:
        return
    at = int(invalid[0])
    if steps[at] == NUM_STEPS:
        raise StateError(
            "episode_over",
            f"Expected episodes with steps left to imagine, got one that is over in environment {origins[at]} of the "
            "source. Leave its index out.",
        )
    raise StateError(
        "foreign_past",
        f"Expected episodes that began at step 0, got one that began at step {began[at]} in environment {origins[at]} "
        "of the source: its earlier rewards are unknown under another profile. Use reset(profiles=..., start=...).",
    )
