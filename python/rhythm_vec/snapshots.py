"""Snapshots: the states of a vector environment as bytes, in the format of the TypeScript API.

docs/guides/snapshots-and-forks.md describes them.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, Dict, NoReturn, Tuple

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import MAKE_AGAIN, describe, refuse
from .sum_bounds import skill_bounds, well_bounds
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
    _check_kind(header, numbers)
    num_envs = _check_numbers(numbers, len(data))
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


def _check_kind(header: Dict[str, bytes], numbers: Dict[str, int]) -> None:
    """Checks that the bytes are a snapshot of this release's format, state layout and world version."""
    if header["magic"] != _world.SNAPSHOT_MAGIC.encode():
        _refuse(f'bytes that begin with "{_world.SNAPSHOT_MAGIC}"', "other bytes")
    if numbers["format"] != _world.SNAPSHOT_FORMAT:
        _refuse(f"a snapshot of format {_world.SNAPSHOT_FORMAT}", f"format {numbers['format']}", MAKE_AGAIN)
    if header["stateLayoutDigest"].hex() != _world.STATE_LAYOUT_DIGEST:
        _refuse("states of this release's layout", "another layout", MAKE_AGAIN)
    version = ".".join(str(numbers[name]) for name in ("worldMajor", "worldMinor", "worldPatch"))
    if version != _world.WORLD_VERSION:
        _refuse(f"episodes of world version {_world.WORLD_VERSION}", f"version {version}", MAKE_AGAIN)


def _check_numbers(numbers: Dict[str, int], length: int) -> int:
    """Checks the lengths, the settings and the counters of a header. Returns the number of environments."""
    num_envs = numbers["numEnvs"]
    if not 1 <= num_envs <= _world.MAX_ENVS:
        _refuse(f"from 1 to {_world.MAX_ENVS} environments (numEnvs)", num_envs)
    expected = {
        "headerLength": _LENGTH,
        "stateWords": STATE_WORDS,
        "bodyLength": num_envs * (STATE_WORDS + 1) * 4,
        "reserved": 0,
    }
    for name, value in expected.items():
        if numbers[name] != value:
            _refuse(f"{name} of {value}", numbers[name])
    if length != _LENGTH + expected["bodyLength"]:
        _refuse(f"{_LENGTH + expected['bodyLength']} bytes", length)
    # TypeScript counts in float64, whose integers are exact up to 2^53.
    highs = {"autoreset": len(_world.AUTORESET_MODES) - 1, "imagination": 1, "steps": 2**53 - 1, "episodes": 2**53 - 1}
    for name, high in highs.items():
        if numbers[name] > high:
            _refuse(f"{name} from 0 to {high}", numbers[name])
    if not 1 <= numbers["seedSize"] <= 2**32 - numbers["seedLow"]:
        _refuse(f"seedSize from 1 to {2**32 - numbers['seedLow']}", numbers["seedSize"])
    return num_envs


def check_states(snapshot: Snapshot, world: World) -> None:
    """Checks the range of every word, and that the words of each state agree. Raises InputError `bad_snapshot`."""
    words = snapshot.words
    floats = words.view(np.float32)
    for name, offset, size, kind, low, high in _world.STATE_FIELDS:
        values = (floats if kind == "f32" else words)[:, offset : offset + size]
        # NaN fails both comparisons. -0 is not a legal float of a state.
        legal = (values >= low) & (values <= high)
        if kind == "f32":
            legal &= words[:, offset : offset + size] != 0x80000000
        _require(legal.all(axis=1), f"{name} from {low} to {high}", values)
    _check_magnitudes(floats, world)
    low_seed, size_seed = snapshot.seed_range
    seeds = words[:, STATE["seed"]].astype(np.uint64)
    _require(
        (seeds >= low_seed) & (seeds < low_seed + size_seed),
        f"a seed in seedRange, {low_seed} to {low_seed + size_seed - 1}",
        seeds,
    )
    _check_actions(words)
    _check_sums(words, world)
    given = words[:, STATE["given"]] == 1
    belief = floats[:, STATE["belief"] : STATE["belief"] + len(_world.BELIEF_NAMES)]
    _require(given | (belief == 0.5).all(axis=1), "a belief of 0.5, because none was given", belief)
    grader = floats[:, STATE["grader"] : STATE["grader"] + len(_world.COMPONENT_NAMES)].astype(np.float64)
    error = np.abs(grader.sum(axis=1) - 1)
    # Each weight was rounded to float32, which has 23 bits of fraction.
    tolerance = _world.SUM_TOLERANCE + np.abs(grader).sum(axis=1) * 2.0**-23
    _require(error <= tolerance, "grader weights that sum to 1", grader)


def _check_magnitudes(floats: npt.NDArray[np.float32], world: World) -> None:
    """Checks that numbers other than 0 have at least the smallest magnitude that validation allows."""
    traits = len(_world.TRAIT_NAMES)
    for name, first, last, smallest in (
        ("profile", 0, traits, _world.SMALLEST_TRAIT),
        ("profile", traits, _world.PROFILE_SIZE, _world.MIN_MAGNITUDE),
        ("grader", 0, len(_world.COMPONENT_NAMES), _world.MIN_MAGNITUDE),
        ("belief", 0, len(_world.BELIEF_NAMES), float(world.param("smallestBelief"))),
    ):
        size = np.abs(floats[:, STATE[name] + first : STATE[name] + last].astype(np.float64))
        _require(((size == 0) | (size >= smallest)).all(axis=1), f"{name} of 0 or a magnitude of at least {smallest:g}")


def _check_sums(words: Words, world: World) -> None:
    """Checks the sums and counts of episodes against their steps."""
    floats, steps = words.view(np.float32), words[:, STATE["step"]]
    limit = len(_world.METER_NAMES) * steps
    crashes = words[:, STATE["crashes"]]
    _require(crashes <= limit, "at most 5 crashes per step", crashes)
    for name, key in (("early", "early"), ("late", "late"), ("return", "returns")):
        _require(
            (floats[:, STATE[name]] == 0) | (steps >= _world.FIRST_NONZERO[key]),
            f"{name} of 0, as nothing has been added to it",
        )
    _require((steps > 0) | (words[:, STATE["given"]] == 0), "no belief before the first step")
    weights = STATE["profile"] + len(_world.TRAIT_NAMES)
    for name, (low, high) in (
        ("well", well_bounds(steps, floats[:, weights : weights + len(_world.METER_NAMES)])),
        ("skill", skill_bounds(world, steps, _world.SKILL_ROUNDING["snapshot"])),
    ):
        sums = floats[:, STATE[name]].astype(np.float64)
        _require((sums >= low) & (sums <= high), f"a sum `{name}` within the bounds for its steps", sums)


def actions_of(words: Words) -> npt.NDArray[np.uint8]:
    """Returns the recorded actions, u8 [n, 28]; 0 for steps not taken."""
    steps = np.arange(_world.NUM_STEPS)
    packed = words[:, STATE["tape"] + steps // 8]  # eight actions of four bits each
    return ((packed >> (4 * (steps % 8)).astype(np.uint32)) & 15).astype(np.uint8, order="C")


def _check_actions(words: Words) -> None:
    began, step = (words[:, STATE[name]][:, None] for name in ("began", "step"))
    _require((began <= step)[:, 0], "a first step (began) of at most the number of steps taken")
    steps, codes = np.arange(_world.NUM_STEPS), actions_of(words)
    taken = (steps >= began) & (steps < step)
    _require((~taken | (codes < len(_world.ACTION_NAMES))).all(axis=1), "recorded action codes below 10", codes)
    _require((taken | (codes == 0)).all(axis=1), "0 for the actions of steps that were not taken")
    spare = words[:, STATE["tape"] + _world.NUM_STEPS // 8] >> np.uint32(4 * (_world.NUM_STEPS % 8))
    _require(spare == 0, "0 after the last action")
    first = words[:, STATE["first_meters"] : STATE["first_meters"] + len(_world.METER_NAMES)]
    meters = words[:, STATE["meters"] : STATE["meters"] + len(_world.METER_NAMES)]
    _require((began < step)[:, 0] | (first == meters).all(axis=1), "meters equal to first_meters before the first step")


def _require(legal: Any, expected: str, values: Any = None) -> None:
    """Refuses the first environment that is not legal. `values` has the value of each environment, for the error."""
    if legal.all():
        return
    env = int(np.argmin(legal))
    got = "another state" if values is None else str(values[env].tolist())
    _refuse(f"states with {expected}", f"{got} at environment {env}")
