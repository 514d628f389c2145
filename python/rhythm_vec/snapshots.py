"""Snapshots: the states of a vector environment as bytes, in the format of the TypeScript API.

docs/guides/snapshots-and-forks.md describes them.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, Dict, Iterator, NoReturn, Tuple

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import MAKE_AGAIN, describe, refuse
from .starts import skill_bounds, well_bounds
from .world import World

Words = npt.NDArray[np.uint32]

_HEADER = {name: (offset, size) for name, offset, size in _world.SNAPSHOT_HEADER}
#: The number of bytes of the header.
_LENGTH = _world.SNAPSHOT_LENGTH
# The offset of each field in the words of a state.
STATE = {row[0]: row[1] for row in _world.STATE_FIELDS}
STATE_WORDS = sum(row[2] for row in _world.STATE_FIELDS)


@dataclass(frozen=True)
class Snapshot:
    """The state of a vector environment: everything that its future depends on, except the world's numbers and the options
    `profiles` and `grader`, which later resets use.

    Attributes:
        world_digest: SHA-256 of the world's numbers, hexadecimal.
        seed_range: (low, size) of the allowed seeds.
        steps, episodes: the numbers of steps taken and of episodes ended, in all environments together.
        words: u32 [n, 52], fields as in STATE_FIELDS.
        episode_numbers: u32 [n]: the number of autoresets of each environment since its last reset.
    """

    world_digest: str
    num_envs: int
    autoreset: str
    imagination: bool
    seed_range: Tuple[int, int]
    steps: int
    episodes: int
    words: Words
    episode_numbers: Words


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """Returns the bytes: a header of 192 bytes, the states' words, the episode numbers; little-endian."""
    body = snapshot.words.astype("<u4").tobytes() + snapshot.episode_numbers.astype("<u4").tobytes()
    major, minor, patch = (int(number) for number in _world.WORLD_VERSION.split("."))
    numbers = {
        "format": _world.SNAPSHOT_FORMAT,
        "headerLength": _LENGTH,
        "worldMajor": major,
        "worldMinor": minor,
        "worldPatch": patch,
        "numEnvs": snapshot.num_envs,
        "stateWords": STATE_WORDS,
        "autoreset": _world.AUTORESET_MODES.index(snapshot.autoreset),
        "imagination": int(snapshot.imagination),
        "seedLow": snapshot.seed_range[0],
        "seedSize": snapshot.seed_range[1],
        "steps": snapshot.steps,
        "episodes": snapshot.episodes,
        "bodyLength": len(body),
    }
    header = bytearray(_LENGTH)
    _put(header, "magic", _world.SNAPSHOT_MAGIC.encode())
    _put(header, "stateLayoutDigest", bytes.fromhex(_world.STATE_LAYOUT_DIGEST))
    _put(header, "worldDigest", bytes.fromhex(snapshot.world_digest))
    for name, value in numbers.items():
        _put(header, name, value.to_bytes(_HEADER[name][1], "little"))
    _put(header, "checksum", _checksum(bytes(header), body).to_bytes(4, "little"))
    return bytes(header) + body


def _put(header: bytearray, name: str, value: bytes) -> None:
    offset, size = _HEADER[name]
    header[offset : offset + size] = value


def _checksum(header: bytes, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(header[: _HEADER["checksum"][0]]))


def _refuse(expected: str, got: Any, remedy: str = "Pass the bytes as snapshot() returned them.") -> NoReturn:
    refuse("bad_snapshot", expected, str(got), remedy)


def decode_snapshot(source: Any) -> Snapshot:
    """Decodes bytes, and checks all but the world digest and the states. Raises InputError `bad_snapshot`."""
    if not isinstance(source, (bytes, bytearray, memoryview)):
        _refuse("a snapshot as bytes", describe(source))
    data = bytes(source)
    if len(data) < _LENGTH:
        _refuse(f"a snapshot of at least {_LENGTH} bytes (its header)", len(data))
    header = {name: data[offset : offset + size] for name, (offset, size) in _HEADER.items()}
    numbers = {name: int.from_bytes(value, "little") for name, value in header.items()}
    num_envs = _check_header(header, numbers, len(data))
    checksum = _checksum(data[:_LENGTH], data[_LENGTH:])
    if checksum != numbers["checksum"]:
        _refuse(
            f"the CRC-32 of header and body to be {numbers['checksum']:08x}, as the header says",
            f"{checksum:08x}: bytes have changed since they were written",
        )
    words = np.frombuffer(data, "<u4", num_envs * STATE_WORDS, _LENGTH).astype(np.uint32)
    episode_numbers = np.frombuffer(data, "<u4", num_envs, _LENGTH + words.nbytes).astype(np.uint32)
    return Snapshot(
        world_digest=header["worldDigest"].hex(),
        num_envs=num_envs,
        autoreset=_world.AUTORESET_MODES[numbers["autoreset"]],
        imagination=numbers["imagination"] == 1,
        seed_range=(numbers["seedLow"], numbers["seedSize"]),
        steps=numbers["steps"],
        episodes=numbers["episodes"],
        words=words.reshape(num_envs, STATE_WORDS),
        episode_numbers=episode_numbers,
    )


def _check_header(header: Dict[str, bytes], numbers: Dict[str, int], length: int) -> int:
    """Checks the kind, lengths, settings and counters of a header. Returns the number of environments."""
    if header["magic"] != _world.SNAPSHOT_MAGIC.encode():
        _refuse(f'bytes that begin with "{_world.SNAPSHOT_MAGIC}"', "other bytes")
    if numbers["format"] != _world.SNAPSHOT_FORMAT:
        _refuse(f"a snapshot of format {_world.SNAPSHOT_FORMAT}", f"format {numbers['format']}", MAKE_AGAIN)
    if header["stateLayoutDigest"].hex() != _world.STATE_LAYOUT_DIGEST:
        _refuse("states of this release's layout", "another layout", MAKE_AGAIN)
    version = ".".join(str(numbers[name]) for name in ("worldMajor", "worldMinor", "worldPatch"))
    if version != _world.WORLD_VERSION:
        _refuse(f"episodes of world version {_world.WORLD_VERSION}", f"version {version}", MAKE_AGAIN)
    num_envs = numbers["numEnvs"]
    body_length = num_envs * (STATE_WORDS + 1) * 4
    # The least and the most of each number. TypeScript counts in float64, whose integers are exact up to 2^53.
    for name, low, high in (
        ("numEnvs", 1, _world.MAX_ENVS),
        ("headerLength", _LENGTH, _LENGTH),
        ("stateWords", STATE_WORDS, STATE_WORDS),
        ("bodyLength", body_length, body_length),
        ("reserved", 0, 0),
        ("autoreset", 0, len(_world.AUTORESET_MODES) - 1),
        ("imagination", 0, 1),
        ("steps", 0, 2**53 - 1),
        ("episodes", 0, 2**53 - 1),
        ("seedSize", 1, 2**32 - numbers["seedLow"]),
    ):
        if not low <= numbers[name] <= high:
            _refuse(f"{name} of {low}" if low == high else f"{name} from {low} to {high}", numbers[name])
    if length != _LENGTH + body_length:
        _refuse(f"{_LENGTH + body_length} bytes", length)
    return num_envs


def columns_of(words: Words) -> Dict[str, npt.NDArray[Any]]:
    """Returns views of the fields of states by name: [n], or [n, size] for fields of several words; u32 or f32."""
    floats = words.view(np.float32)
    return {
        name: (floats if kind == "f32" else words)[:, offset : offset + size].squeeze(axis=1 if size == 1 else ())
        for name, offset, size, kind, _, _ in _world.STATE_FIELDS
    }


def actions_of(words: Words) -> npt.NDArray[np.uint8]:
    """Returns the recorded actions, u8 [n, 28]; 0 for steps not taken."""
    steps = np.arange(_world.NUM_STEPS)
    packed = words[:, STATE["tape"] + steps // 8]  # eight actions of four bits each
    return ((packed >> (4 * (steps % 8)).astype(np.uint32)) & 15).astype(np.uint8, order="C")


def check_states(snapshot: Snapshot, world: World) -> None:
    """Checks the range of every word, and that the words of each state agree. Raises InputError `bad_snapshot`."""
    for legal, expected, values in _rules(snapshot, world):
        rows = legal if legal.ndim == 1 else legal.all(axis=1)
        if not rows.all():
            env = int(np.argmin(rows))
            _refuse(f"states with {expected}", f"{values[env].tolist()} at environment {env}")


def _rules(snapshot: Snapshot, world: World) -> Iterator[Tuple[npt.NDArray[np.bool_], str, npt.NDArray[Any]]]:
    """Yields the rules of states: whether the numbers of each environment are legal, bool [n] or [n, k]; the expected
    numbers, for errors; and the numbers."""
    words, state = snapshot.words, columns_of(snapshot.words)
    for name, offset, size, kind, low, high in _world.STATE_FIELDS:
        values = state[name]
        # NaN fails both comparisons. -0 is not a legal float of a state.
        is_minus_zero = (words[:, offset : offset + size] == 0x80000000).any(axis=1) & (kind == "f32")
        is_within = ((values >= low) & (values <= high)).reshape(len(words), -1).all(axis=1)
        yield is_within & ~is_minus_zero, f"{name} from {low} to {high}", values
    traits, weights = np.split(state["profile"], [len(_world.TRAIT_NAMES)], axis=1)
    for name, values, smallest in (
        ("traits", traits, _world.SMALLEST_TRAIT),
        ("reward weights", weights, _world.MIN_MAGNITUDE),
        ("grader", state["grader"], _world.MIN_MAGNITUDE),
        ("belief", state["belief"], float(world.param("smallestBelief"))),
    ):
        magnitude = np.abs(values.astype(np.float64))
        yield (magnitude == 0) | (magnitude >= smallest), f"{name} of 0 or a magnitude of at least {smallest:g}", values
    low_seed, num_seeds = snapshot.seed_range
    seeds = state["seed"].astype(np.uint64)
    within = f"a seed in seed_range, {low_seed} to {low_seed + num_seeds - 1}"
    yield (seeds >= low_seed) & (seeds < low_seed + num_seeds), within, seeds
    step, began, actions, steps = state["step"], state["began"], actions_of(words), np.arange(_world.NUM_STEPS)
    taken = (steps >= began[:, None]) & (steps < step[:, None])
    yield began <= step, "a first step (began) of at most the number of steps taken", began
    yield ~taken | (actions < len(_world.ACTION_NAMES)), "recorded action codes below 10", actions
    yield taken | (actions == 0), "0 for the actions of steps that were not taken", actions
    last_word = state["tape"][:, -1]
    yield last_word >> np.uint32(4 * (_world.NUM_STEPS % 8)) == 0, "0 after the last action", last_word
    same = (began < step)[:, None] | (state["first_meters"] == state["meters"])
    yield same, "meters equal to first_meters before the first step", state["meters"]
    yield from _sum_rules(state, weights, world)


def _sum_rules(
    state: Dict[str, npt.NDArray[Any]], weights: npt.NDArray[np.float32], world: World
) -> Iterator[Tuple[npt.NDArray[np.bool_], str, npt.NDArray[Any]]]:
    """Yields the rules of counts, sums, beliefs and graders, as `_rules`."""
    step, crashes = state["step"], state["crashes"]
    yield crashes <= len(_world.METER_NAMES) * step, "at most 5 crashes per step", crashes
    for name, key in (("early", "early"), ("late", "late"), ("return", "returns")):
        is_early = step < _world.FIRST_NONZERO[key]
        yield (state[name] == 0) | ~is_early, f"{name} of 0, as nothing has been added to it", state[name]
    for name, (lowest, highest) in (
        ("well", well_bounds(step, weights)),
        ("skill", skill_bounds(world, step, _world.SKILL_ROUNDING["snapshot"])),
    ):
        sums = state[name].astype(np.float64)
        yield (sums >= lowest) & (sums <= highest), f"a sum `{name}` within the bounds for its steps", sums
    given = state["given"] == 1
    yield (step > 0) | ~given, "no belief before the first step", state["given"]
    yield given[:, None] | (state["belief"] == 0.5), "a belief of 0.5, because none was given", state["belief"]
    grader = state["grader"].astype(np.float64)
    # Each weight was rounded to float32, which has 23 bits of fraction.
    tolerance = _world.SUM_TOLERANCE + np.abs(grader).sum(axis=1) * 2.0**-23
    yield np.abs(grader.sum(axis=1) - 1) <= tolerance, "grader weights that sum to 1", grader
