"""Validates seeds, masks, profiles and graders, and converts them to one entry per environment."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import (
    as_array,
    check_integer,
    check_length,
    check_name,
    describe,
    did_you_mean,
    is_number,
    refuse,
    require,
    to_array,
    to_floats,
)
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
#: (low, size) of the allowed seeds.
SeedRange = Tuple[int, int]
ALL_SEEDS: SeedRange = (0, MAX_U32 + 1)
#: The codes of profile modes.
PROFILE_MODES = {"sampled": 0, "discrete": 1, "given": 2}
#: The names of profiles: of the modes in which they are drawn, and of given ones.
PROFILE_CHOICES: Tuple[str, ...] = ("sampled", "discrete", *_world.PROFILE_NAMES)
#: The codes of policies.
POLICIES = {"random": 0, "heuristic": 1, "sequence": 2}
_NUM_COMPONENTS = len(_world.COMPONENT_NAMES)


class Profiles(NamedTuple):
    """u8 [n] codes of PROFILE_MODES; and f32 [n, 16], the given profiles, or None if there are none."""

    modes: npt.NDArray[np.uint8]
    floats: Optional[npt.NDArray[np.float32]]


def part_of(value: Any, rows: Any) -> Any:
    """Returns some rows (a slice or indices) of an array or of `Profiles`; None for None."""
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
    """Returns a mask of bool, or of u8 with 0 and 1, as new u8 [n]; None for None. Raises InputError `wrong_type`,
    `wrong_length`."""
    if mask is None:
        return None
    array = to_array(mask)
    is_bytes = array.dtype == np.uint8 and (array.size == 0 or array.max() <= 1)
    if (array.dtype != np.bool_ and not is_bytes) or array.ndim == 0:
        refuse("wrong_type", f"mask to be bool [{num_envs}]", describe(mask), "Pass one entry per environment.", "mask")
    if array.shape != (num_envs,):
        check_length("entries in mask", array, num_envs)
    return np.array(array, np.uint8)


def to_seed_range(seed_range: Any) -> SeedRange:
    """Returns (low, size) of the allowed seeds; for None all. Raises InputError `wrong_type`, `out_of_range`."""
    if seed_range is None:
        return ALL_SEEDS
    if not isinstance(seed_range, (tuple, list)) or len(seed_range) != 2:
        remedy = "Pass the first seed and the number of seeds."
        refuse("wrong_type", "seed_range to be (low, size)", describe(seed_range), remedy, "seed_range")
    low = check_integer("seed_range[0] (low)", seed_range[0], 0, MAX_U32)
    return low, check_integer("seed_range[1] (size)", seed_range[1], 1, MAX_U32 + 1 - low)


def to_seeds(
    seed: Any, num_envs: int, seed_range: SeedRange = ALL_SEEDS, what: str = "seed"
) -> npt.NDArray[np.uint32]:
    """Returns seeds, u32 [n]; random seeds for None. Raises InputError `bad_seed`, `wrong_length`, `wrong_type`."""
    if seed is None:
        low, size = seed_range
        return np.random.default_rng().integers(low, low + size, num_envs, np.uint64).astype(np.uint32)
    expected, remedy = f"a u32 (an integer from 0 to {MAX_U32})", "Pass an integer in that range."
    array: npt.NDArray[Any]
    if is_number(seed):
        if not _is_u32(seed):
            refuse("bad_seed", f"{expected} at {what}", describe(seed), remedy, what)
        if int(seed) + num_envs - 1 > MAX_U32:
            last = f"{what} + {num_envs - 1} (the last environment's seed) to be at most {MAX_U32}"
            refuse("bad_seed", last, f"{what} {seed}", "Pass an array instead.")
        array = np.arange(int(seed), int(seed) + num_envs, dtype=np.uint64)
    elif (array := to_array(seed)).ndim == 0:
        expected = f"{what} to be a u32 or an array of u32"
        refuse("wrong_type", expected, describe(seed), "Pass one seed per environment.", what)
    elif array.shape != (num_envs,):
        check_length(f"entries in {what}", array, num_envs)
    else:
        if array.dtype.kind in "iu":
            legal = (array >= 0) & (array <= MAX_U32)
        else:
            legal = np.array([_is_u32(each) for each in array.tolist()])
        require(legal, "bad_seed", what, expected, array, remedy)
    if seed_range != ALL_SEEDS:
        check_seed_range(array, seed_range, lambda env: f"environment {env} (from {what})")
    return array.astype(np.uint32)


def check_seed_range(seeds: npt.NDArray[Any], seed_range: SeedRange, owner: Callable[[int], str]) -> None:
    """Raises InputError `bad_seed` for a seed outside a range. `owner` returns the text for the index of a seed."""
    low, size = seed_range
    outside = np.flatnonzero((seeds < low) | (seeds >= low + size))
    if outside.size > 0:
        env = int(outside[0])
        expected, got = f"seeds in seed_range, {low} to {low + size - 1}", f"{seeds[env]} for {owner(env)}"
        refuse("bad_seed", expected, got, "Pass a seed in that range, or widen seed_range.")


def _is_u32(value: Any) -> bool:
    return is_number(value) and bool(0 <= value <= MAX_U32 and value % 1 == 0)


def _in_domain(values: Any) -> npt.NDArray[np.bool_]:
    size = np.abs(np.asarray(values, np.float64))
    inside: npt.NDArray[np.bool_] = (size == 0) | ((size >= _world.MIN_MAGNITUDE) & (size <= _world.MAX_MAGNITUDE))
    return inside


def to_profiles(world: World, choice: Any, num_envs: int) -> Profiles:
    """Returns the profiles of all environments; `Profiles` as they are. Raises InputError `unknown_name`,
    `bad_profile`, `wrong_length`, `wrong_type`."""
    if isinstance(choice, Profiles):
        return choice
    given, known = PROFILE_MODES["given"], PROFILE_CHOICES
    array = to_array([choice] if isinstance(choice, str) else choice)
    if array.ndim != 1 or array.dtype.kind not in "UO":
        if array.dtype.kind != "f":
            expected = f"profiles to be a name, a name per environment or floats [{num_envs}, {_world.PROFILE_SIZE}]"
            refuse("wrong_type", expected, describe(choice), "Pass a name.", "profiles")
        return Profiles(np.full(num_envs, given, np.uint8), check_profiles("profiles", choice, num_envs))
    if not isinstance(choice, str):
        check_length("names in profiles", len(array), num_envs)
    names = array.tolist()
    if not all(isinstance(name, str) for name in names):
        refuse("wrong_type", "profiles to be a name per environment", describe(choice), "Pass a name.", "profiles")
    codes = {name: known.index(check_name("profile", name, known, "profiles")) for name in dict.fromkeys(names)}
    chosen = np.array([codes[name] for name in names])
    modes = np.minimum(chosen, given).astype(np.uint8)
    table = np.vstack([np.zeros((given, _world.PROFILE_SIZE), np.float32), world.param("namedProfiles")])
    floats = table[chosen] if (modes == given).any() else None
    if not isinstance(choice, str):
        return Profiles(modes, floats)
    return Profiles(np.repeat(modes, num_envs), None if floats is None else np.repeat(floats, num_envs, 0))


def check_profiles(what: str, choice: Any, count: int) -> npt.NDArray[np.float32]:
    """Returns given profiles as new f32 [count, 16]. Raises InputError `bad_profile`, `wrong_length`, `wrong_type`."""
    floats = to_floats(as_array(what, choice, "f", (count, _world.PROFILE_SIZE), "floats"))
    expected = "0 or a magnitude in [2^-40, 2^20]"
    require(_in_domain(floats), "bad_profile", what, expected, floats, "Pass a float32 of that range.")
    # Adding 0 turns -0 into 0.
    return floats + np.float32(0)


def to_graders(world: World, choice: Any, num_envs: int, where: str = "grader") -> npt.NDArray[np.float32]:
    """Returns the weights of all environments, f32 [n, 8]. Raises InputError `unknown_name`, `bad_grader`,
    `wrong_length`, `wrong_type`, and OSError if a file cannot be read."""
    if isinstance(choice, (str, Mapping, os.PathLike)):
        return np.tile(to_grader(world, choice, where), (num_envs, 1))
    array = to_array(choice)
    if array.dtype.kind in "fiu" and array.ndim in (1, 2):
        if array.shape == (_NUM_COMPONENTS,):
            return np.tile(_check_weights(array[None], where), (num_envs, 1))
        if array.shape not in ((num_envs, _NUM_COMPONENTS), (num_envs * _NUM_COMPONENTS,)):
            unit = f"num_envs x {_NUM_COMPONENTS}, or {_NUM_COMPONENTS} for all"
            check_length(f"weights in {where}", array, num_envs * _NUM_COMPONENTS, unit)
        return _check_weights(array.reshape(num_envs, _NUM_COMPONENTS), where, each=True)
    if not isinstance(choice, (list, tuple, np.ndarray)) or np.ndim(array) == 0 and isinstance(choice, np.ndarray):
        expected = f"{where} to be a name, a file, a mapping, or eight weights; or one of these per environment"
        refuse("wrong_type", expected, describe(choice), "Pass a name.", where)
    graders = list(choice)
    check_length(f"names in {where}", len(graders), num_envs)
    # A file that several environments name is read once.
    names = dict.fromkeys(grader for grader in graders if isinstance(grader, (str, os.PathLike)))
    named = {name: to_grader(world, name, where) for name in names}
    is_name = [isinstance(grader, (str, os.PathLike)) for grader in graders]
    return np.stack([named[one] if known else to_grader(world, one, where) for one, known in zip(graders, is_name)])


def to_grader(world: World, choice: Any, where: str = "grader") -> npt.NDArray[np.float32]:
    """Returns the weights of one grader, f32 [8]."""
    if is_file(choice):
        return to_grader(world, read_grader(choice), os.fspath(choice))
    if isinstance(choice, str):
        table: npt.NDArray[np.float32] = world.param("graders")
        at = _world.GRADER_NAMES.index(check_name("grader", choice, _world.GRADER_NAMES, where))
        return np.array(table[at])
    weights = to_array(_weights_in(choice, where) if isinstance(choice, Mapping) else choice)
    if weights.dtype.kind not in "fiu" or weights.shape != (_NUM_COMPONENTS,):
        expected = f"eight weights ({', '.join(_world.COMPONENT_NAMES)}) in {where}"
        refuse("bad_grader", expected, describe(choice), "Pass eight weights, or use a name.", where)
    (floats,) = _check_weights(weights[None], where)
    return np.asarray(floats, np.float32)


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
        remedy = 'Pass {"name": ..., "weights": {...}}.'
        refuse("bad_grader", f"weights by component in {where}", describe(grader), remedy)
    for name, weight in weights.items():
        if name not in _world.COMPONENT_NAMES:
            expected = f"no weights but {', '.join(_world.COMPONENT_NAMES)} in {where}"
            refuse("bad_grader", expected, describe(name), did_you_mean(str(name), _world.COMPONENT_NAMES))
        if not is_number(weight) or not _in_domain(np.float64(weight)):
            expected = f"0 or a magnitude in [2^-40, 2^20] at weights.{name} of {where}"
            refuse("bad_grader", expected, describe(weight), "Pass a number in that range.")
    return [weights.get(name, 0) for name in _world.COMPONENT_NAMES]


def _check_weights(weights: npt.NDArray[Any], where: str, each: bool = False) -> npt.NDArray[np.float32]:
    """Returns weights as f32 [k, 8]. `each`: whether row k is the grader of environment k, for errors."""
    sums = weights.astype(np.float64).sum(axis=1)
    for legal, expected, remedy in (
        (_in_domain(weights).all(axis=1), "0 or magnitudes in [2^-40, 2^20] as weights", "Pass a weight in that range"),
        (np.abs(sums - 1) <= _world.SUM_TOLERANCE, "weights that sum to 1", "Divide them by their sum"),
    ):
        if not legal.all():
            row = int(np.argmin(legal))
            expected += f" in {where}[{row}]" if each else f" in {where}"
            got, remedy = str(weights[row].tolist()), f"{remedy}, or use a name."
            refuse("bad_grader", expected, got, remedy, where, row if each else None)
    # Adding 0 turns -0 into 0.
    return np.array(weights, np.float32, order="C") + np.float32(0)
