"""Validates seeds, masks, profiles and graders, and converts them to one entry per environment."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import as_array, check_integer, check_name, describe, did_you_mean, refuse, to_array, to_floats
from .world import World

#: One u32 s, so that environment i plays seed s + i; or a u32 per environment.
SeedChoice = Union[int, Sequence[int], npt.NDArray[Any]]
#: "sampled", "discrete", a profile's name; one of these per environment; or f32 [n, 16], 11 traits then 5 reward
#: weights.
ProfileChoice = Union[str, Sequence[str], npt.NDArray[Any]]
#: A grader's name, a mapping {"name", "weights"}, a mapping of weights by component, the path of a file with such a
#: mapping, or eight weights; or one of these per environment.
GraderChoice = Union[str, "os.PathLike[str]", Mapping[str, Any], Sequence[Any], npt.NDArray[Any]]

MAX_U32 = 2**32 - 1
#: The codes of profile modes.
PROFILE_MODES = {"sampled": 0, "discrete": 1, "given": 2}
#: The codes of policies.
POLICIES = {"random": 0, "heuristic": 1, "sequence": 2}
_NUM_COMPONENTS = len(_world.COMPONENT_NAMES)


class Profiles(NamedTuple):
    """u8 [n] codes of PROFILE_MODES; and f32 [n, 16], the given profiles, or None if there are none."""

    modes: npt.NDArray[np.uint8]
    floats: Optional[npt.NDArray[np.float32]]


def part_of(value: Any, rows: slice) -> Any:
    """Returns some rows of an array or of `Profiles`; None for None."""
    if isinstance(value, Profiles):
        return Profiles(value.modes[rows], part_of(value.floats, rows))
    return None if value is None else value[rows]


def to_world(world: Any) -> World:
    """Returns a world, the world of a file, or for None the published one. Raises InputError `wrong_type`,
    `bad_world`, and OSError if the file cannot be read."""
    if world is None or isinstance(world, World):
        return world or World()
    if isinstance(world, (str, os.PathLike)):
        return World.load(world)
    refuse("wrong_type", "world to be a World or a file", describe(world), "Pass a file that `rhythm-vec world` wrote.")


def to_mask(mask: Any, num_envs: int) -> Optional[npt.NDArray[np.uint8]]:
    """Returns a mask of bool, or of u8 with 0 and 1, as new u8 [n]; None for None. Raises InputError `wrong_type`."""
    if mask is None:
        return None
    array = to_array(mask)
    is_bytes = array.dtype == np.uint8 and array.size > 0 and array.max() <= 1
    if (array.dtype != np.bool_ and not is_bytes) or array.shape != (num_envs,):
        refuse("wrong_type", f"mask to be bool [{num_envs}]", describe(mask), "Pass one entry per environment.")
    return np.array(array, np.uint8)


def to_seed_range(seed_range: Any) -> Tuple[int, int]:
    """Returns (low, size) of the allowed seeds; for None all. Raises InputError `wrong_type`, `out_of_range`."""
    if seed_range is None:
        return 0, MAX_U32 + 1
    if not isinstance(seed_range, (tuple, list)) or len(seed_range) != 2:
        refuse(
            "wrong_type",
            "seed_range to be (low, size)",
            describe(seed_range),
            "Pass the first seed and the number of seeds.",
        )
    low = check_integer("seed_range[0] (low)", seed_range[0], 0, MAX_U32)
    return low, check_integer("seed_range[1] (size)", seed_range[1], 1, MAX_U32 + 1 - low)


def to_seeds(
    seed: Any, num_envs: int, seed_range: Tuple[int, int] = (0, 2**32), what: str = "seed"
) -> npt.NDArray[np.uint32]:
    """Returns seeds, u32 [n]; random seeds for None. Raises InputError `bad_seed`, `wrong_length`."""
    low, size = seed_range
    if seed is None:
        return np.random.default_rng().integers(low, low + size, num_envs, np.uint64).astype(np.uint32)
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        first = int(seed)
        if not 0 <= first <= MAX_U32 - (num_envs - 1):
            highest = MAX_U32 - (num_envs - 1)
            refuse("bad_seed", f"{what} from 0 to {highest}", str(first), "Pass a seed in this range, or an array.")
        values = np.arange(first, first + num_envs, dtype=np.uint64)
    else:
        values = _seed_list(seed, num_envs, what)
    outside = np.flatnonzero((values < low) | (values >= low + size))
    if outside.size > 0:
        env = int(outside[0])
        refuse(
            "bad_seed",
            f"{what} from {low} to {low + size - 1}",
            f"{values[env]} for environment {env}",
            "Pass a seed in this range.",
        )
    return values.astype(np.uint32)


def _seed_list(seed: Any, num_envs: int, what: str) -> npt.NDArray[np.uint64]:
    array = to_array(seed)
    if array.dtype.kind not in "iu":
        refuse("bad_seed", f"{what} to be a u32 or an array of u32", describe(seed), "Pass integers.")
    if array.shape != (num_envs,):
        refuse("wrong_length", f"{what} to be u32 [{num_envs}]", describe(array), "Pass one seed per environment.")
    outside = np.flatnonzero((array < 0) | (array > MAX_U32))
    if outside.size > 0:
        env = int(outside[0])
        refuse("bad_seed", f"a u32 at {what}[{env}]", str(array[env]), "Pass an integer from 0 to 4294967295.")
    return array.astype(np.uint64)


def _in_domain(values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    size = np.abs(values)
    inside: npt.NDArray[np.bool_] = (size == 0) | ((size >= _world.MIN_MAGNITUDE) & (size <= _world.MAX_MAGNITUDE))
    return inside


def to_profiles(world: World, choice: Any, num_envs: int) -> Profiles:
    """Returns the profiles of all environments; `Profiles` as they are. Raises InputError `unknown_name`,
    `bad_profile`, `wrong_length`, `wrong_type`."""
    if isinstance(choice, Profiles):
        return choice
    if isinstance(choice, str):
        modes, floats_of_one = _named_profiles(world, [choice], 1)
        return Profiles(
            np.repeat(modes, num_envs), None if floats_of_one is None else np.repeat(floats_of_one, num_envs, 0)
        )
    names = list(choice) if isinstance(choice, (list, tuple)) or _is_list_of_names(choice) else None
    if names is not None and all(isinstance(name, str) for name in names):
        return _named_profiles(world, names, num_envs)
    floats = check_profiles("profiles", choice, num_envs)
    return Profiles(np.full(num_envs, PROFILE_MODES["given"], np.uint8), floats)


def check_profiles(what: str, choice: Any, count: int) -> npt.NDArray[np.float32]:
    """Returns given profiles as new f32 [count, 16]. Raises InputError `bad_profile`, `wrong_length`, `wrong_type`."""
    floats = to_floats(as_array(what, choice, "f", (count, _world.PROFILE_SIZE), "floats"))
    invalid = np.argwhere(~_in_domain(floats.astype(np.float64)))
    if invalid.size > 0:
        row, k = (int(at) for at in invalid[0])
        refuse(
            "bad_profile",
            f"0 or a magnitude in [2^-40, 2^20] at {what}[{row}][{k}]",
            str(floats[row, k]),
            "Pass a number in this range.",
        )
    # Adding 0 turns -0 into 0.
    return floats + np.float32(0)


def _is_list_of_names(choice: Any) -> bool:
    return isinstance(choice, np.ndarray) and choice.dtype.kind in "UO" and choice.ndim == 1


def _named_profiles(world: World, names: Sequence[str], num_envs: int) -> Profiles:
    if len(names) != num_envs:
        refuse("wrong_length", f"{num_envs} names in profiles", str(len(names)), "Pass one name per environment.")
    known = ("sampled", "discrete", *_world.PROFILE_NAMES)
    codes = {name: known.index(check_name("profiles", name, known)) for name in set(names)}
    chosen = np.array([codes[name] for name in names])
    modes = np.minimum(chosen, PROFILE_MODES["given"]).astype(np.uint8)
    if not (chosen >= PROFILE_MODES["given"]).any():
        return Profiles(modes, None)
    table: npt.NDArray[np.float32] = world.param("namedProfiles")
    floats = np.where(
        (chosen >= PROFILE_MODES["given"])[:, None],
        table[np.maximum(chosen - PROFILE_MODES["given"], 0)],
        np.float32(0),
    ).astype(np.float32)
    return Profiles(modes, floats)


def to_graders(world: World, choice: Any, num_envs: int) -> npt.NDArray[np.float32]:
    """Returns the weights of all environments, f32 [n, 8]. Raises InputError `unknown_name`, `bad_grader`,
    `wrong_length`, `wrong_type`, and OSError if a file cannot be read."""
    if isinstance(choice, (str, Mapping, os.PathLike)) or _is_weights(choice):
        return np.tile(to_grader(world, choice), (num_envs, 1))
    if isinstance(choice, np.ndarray) and choice.dtype.kind in "fiu" and choice.ndim == 1:
        choice = choice.reshape(num_envs, -1) if choice.size % num_envs == 0 else choice
    if not isinstance(choice, (list, tuple, np.ndarray)) or (isinstance(choice, np.ndarray) and choice.ndim == 0):
        refuse(
            "wrong_type",
            "grader to be a name, a file, a mapping, or eight weights",
            describe(choice),
            "Pass one grader, or one per environment.",
        )
    graders = list(choice)
    if len(graders) != num_envs:
        refuse("wrong_length", f"a grader, or {num_envs} graders", str(len(graders)), "Pass one grader per environment.")
    if isinstance(choice, np.ndarray) and choice.dtype.kind in "fiu":
        return np.stack([to_grader(world, grader, f"grader[{env}]") for env, grader in enumerate(graders)])
    # A file that several environments name is read once.
    names = dict.fromkeys(grader for grader in graders if isinstance(grader, (str, os.PathLike)))
    named = {grader: to_grader(world, grader) for grader in names}
    return np.stack(
        [named[grader] if isinstance(grader, (str, os.PathLike)) else to_grader(world, grader) for grader in graders]
    )


def _is_weights(choice: Any) -> bool:
    array = to_array(choice)
    return array.dtype.kind in "fiu" and array.ndim == 1 and array.size == _NUM_COMPONENTS


def to_grader(world: World, choice: Any, where: str = "grader") -> npt.NDArray[np.float32]:
    """Returns the weights of one grader, f32 [8]."""
    if is_file(choice):
        return to_grader(world, read_grader(choice), os.fspath(choice))
    if isinstance(choice, str):
        table: npt.NDArray[np.float32] = world.param("graders")
        row: npt.NDArray[np.float32] = table[_world.GRADER_NAMES.index(check_name(where, choice, _world.GRADER_NAMES))]
        return row.copy()
    if isinstance(choice, Mapping):
        return _check_weights(_weights_in(choice, where), where)
    return _check_weights(choice, where)


def is_file(choice: Any) -> bool:
    """Returns whether a grader is given as a file."""
    return isinstance(choice, os.PathLike) or (isinstance(choice, str) and choice.endswith(".json"))


def read_grader(path: Any) -> Mapping[str, Any]:
    """Returns the JSON object of a grader's file. Raises InputError `bad_grader`, OSError."""
    try:
        grader = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except ValueError as error:
        refuse("bad_grader", f"JSON in {os.fspath(path)}", str(error), 'Write {"name": ..., "weights": {...}}.')
    if isinstance(grader, dict):
        return grader
    refuse("bad_grader", f"an object in {os.fspath(path)}", describe(grader), 'Write {"name": ..., "weights": {...}}.')


def _weights_in(grader: Mapping[str, Any], where: str) -> Sequence[float]:
    """Returns the weights of a mapping {"name", "weights"}, or of a mapping of weights by component. Components that it
    leaves out have the weight 0."""
    weights = grader.get("weights", None if "name" in grader or "schema" in grader else grader)
    if not isinstance(weights, Mapping):
        refuse(
            "bad_grader", f"weights by component in {where}", describe(grader), 'Pass {"name": ..., "weights": {...}}.'
        )
    for name in weights:
        if name not in _world.COMPONENT_NAMES:
            refuse(
                "bad_grader",
                f"weights of {', '.join(_world.COMPONENT_NAMES)} in {where}",
                describe(name),
                did_you_mean(str(name), _world.COMPONENT_NAMES),
            )
    return [weights.get(name, 0) for name in _world.COMPONENT_NAMES]


def _check_weights(choice: Any, where: str) -> npt.NDArray[np.float32]:
    numbers = to_array(choice)
    weights = numbers.astype(np.float64) if numbers.dtype.kind in "fiu" else np.empty(0)
    if weights.shape != (_NUM_COMPONENTS,):
        refuse(
            "bad_grader",
            f"eight weights ({', '.join(_world.COMPONENT_NAMES)}) in {where}",
            describe(choice),
            "Pass eight weights, or a name.",
        )
    if not _in_domain(weights).all():
        refuse(
            "bad_grader",
            f"weights of 0 or a magnitude in [2^-40, 2^20] in {where}",
            describe(choice),
            "Pass weights in this range.",
        )
    if abs(float(weights.sum()) - 1) > _world.SUM_TOLERANCE:
        refuse(
            "bad_grader",
            f"weights that sum to 1 in {where}",
            f"a sum of {weights.sum():.7g}",
            "Divide them by their sum.",
        )
    # Adding 0 turns -0 into 0.
    floats: npt.NDArray[np.float32] = weights.astype(np.float32) + np.float32(0)
    return floats
