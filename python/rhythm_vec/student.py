"""Students: small trained networks that play from public observations."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, NoReturn, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import MAKE_AGAIN
from .errors import InputError
from .kernels import native
from .world import World

__all__ = ["STUDENT_NAMES", "Student", "StudentActions", "StudentPlayer"]

Floats = npt.NDArray[np.float32]

_FOLDER = Path(__file__).parent / "students"
#: The students of the package, by name.
STUDENT_NAMES = tuple(sorted(path.stem for path in _FOLDER.glob("*.safetensors")))

_SCHEMA = {"name": "rhythm-vec/student", "version": 1}
_ACTIONS, _BELIEFS = len(_world.ACTION_NAMES), len(_world.BELIEF_NAMES)
#: A score for each action; the mean minus _MIDDLE and the log standard deviation of each number of the belief.
_OUTPUTS = _ACTIONS + 2 * _BELIEFS
_MIDDLE = np.float32(0.5)
#: The version and the number of the network's inputs, as in src/agents/student/network.ts, and the number of floats that are
#: kept of each episode: `StudentMemory` in native/student.h.
FEATURES_VERSION, FEATURE_COUNT, _MEMORY_SIZE = 1, 76, 65


class StudentActions(NamedTuple):
    """What a student plays and states in n episodes."""

    actions: npt.NDArray[np.uint8]  #: u8 [n]: codes; 0 in episodes that are over
    beliefs: Floats  #: f32 [n, 3] in [0, 1]: social, morning, work; 0.5 in episodes that are over


class Student:
    """A trained student. Its actions and beliefs equal those of `readStudent` in TypeScript, in every bit.

        student = Student("student-v2")
        player = student.open(num_envs)
        actions, beliefs = player.act(observations)

    Attributes:
        manifest: "version", "world_digest", "grader", "training" and "evaluation", as in the file.
        layers: the weights, f32 [inputs, outputs], and biases, f32 [outputs], of each layer.
    """

    def __init__(self, source: Union[str, "os.PathLike[str]"]) -> None:
        """Reads a student.

        Args:
            source: a name of `STUDENT_NAMES`, or the path of a file that `rhythm-vec train` wrote.

        Raises:
            InputError: `bad_student`: the file is damaged, or not a student of this release.
            OSError: the file cannot be read.
        """
        path = _FOLDER / f"{source}.safetensors" if source in STUDENT_NAMES else Path(source)
        self.manifest, self.layers = _decode(path.read_bytes(), os.fspath(source))

    def open(self, num_envs: int, world: Union[World, None] = None) -> StudentPlayer:
        """Returns a player.

        Args:
            num_envs: the number of episodes that it plays at once.
            world: the world of the episodes; by default the published world.

        Raises:
            InputError: `bad_student`: the student was trained in another world.
        """
        world = World() if world is None else world
        trained_in = self.manifest["world_digest"]
        if world.digest != trained_in:
            raise InputError(
                "bad_student",
                f"Expected the world in which the student was trained, {trained_in}, got {world.identity}. "
                "Use the student in its own world. `rhythm-vec train` makes students of the published world.",
            )
        return StudentPlayer(self.layers, world, num_envs)


class StudentPlayer:
    """Plays n episodes at once. An observation at step 0 begins an episode."""

    def __init__(self, layers: List[Tuple[Floats, Floats]], world: World, num_envs: int) -> None:
        self._sizes = np.array([len(layers[0][0]), *(len(bias) for _, bias in layers)], np.uint32)
        #: The weights and biases of each layer.
        self._weights = np.concatenate([array.reshape(-1) for layer in layers for array in layer])
        self._num_envs = num_envs
        self._block = world.words
        self._memory: Floats = np.zeros((num_envs, _MEMORY_SIZE), np.float32)

    def act(self, observations: npt.ArrayLike) -> StudentActions:
        """Chooses the actions of all episodes. Must be called with the observations of every step, in order.

        Args:
            observations: f32 [n, 22], as `VecEnv` returns them without encoding. Rows at step 28 are ignored.

        Raises:
            InputError: `wrong_length`: the observations have another shape. `out_of_range`: a step or a last action is none
                of the world's.
        """
        rows = np.ascontiguousarray(observations, np.float32)
        if rows.shape != (self._num_envs, 22):
            raise InputError(
                "wrong_length",
                f"Expected observations of the shape ({self._num_envs}, 22), got {rows.shape}. "
                "Pass the observations of as many environments as the player was opened for.",
            )
        playing = rows[:, 0] < _world.NUM_STEPS
        inputs: Floats = np.zeros((self._num_envs, FEATURE_COUNT), np.float32)
        if not native().observe(self._block, rows, playing.view(np.uint8), self._memory, inputs):
            raise InputError(
                "out_of_range",
                "Expected observations of steps 0 to 28 with last actions 0 to 9 from step 1 on, got others. "
                "Pass raw observations.",
            )
        outputs = native().forward(self._sizes, self._weights, inputs)
        actions = np.where(playing, np.argmax(outputs[:, :_ACTIONS], axis=1), 0).astype(np.uint8)
        stated = np.clip(_MIDDLE + outputs[:, _ACTIONS : _ACTIONS + _BELIEFS], np.float32(0), np.float32(1))
        return StudentActions(actions, np.where(playing[:, None], stated, _MIDDLE))


def _decode(data: bytes, name: str) -> Tuple[Dict[str, Any], List[Tuple[Floats, Floats]]]:
    """Returns the manifest and the layers in the bytes of a file."""
    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length].decode("utf-8"))
        metadata = header.pop("__metadata__")
        schema, features = json.loads(metadata["schema"]), metadata["features_version"]
        body = data[8 + length :]
        tensors = {key: _tensor(entry, body) for key, entry in header.items()}
        manifest = {key: json.loads(metadata[key]) for key in ("grader", "training", "evaluation")}
        manifest.update({key: metadata[key] for key in ("version", "world_digest")})
        digest = metadata["tensors_sha256"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        got = f"{type(error).__name__}: {error}"
        _refuse(name, got, "Pass a file that `rhythm-vec train` wrote, complete and unchanged.")
    if schema != _SCHEMA or features != str(FEATURES_VERSION):
        got = f"schema {schema} and inputs of version {features}, not {_SCHEMA} and {FEATURES_VERSION}"
        _refuse(name, got, MAKE_AGAIN)
    if hashlib.sha256(body).hexdigest() != digest:
        _refuse(name, "other arrays than the manifest describes", "Pass an undamaged copy of the file.")
    return manifest, _layers(tensors, name)


def _tensor(entry: Any, body: bytes) -> Floats:
    begin, end = entry["data_offsets"]
    if entry["dtype"] != "F32" or not 0 <= begin <= end <= len(body):
        raise ValueError(f"an array {entry}")
    return np.frombuffer(body[begin:end], "<f4").astype(np.float32).reshape(entry["shape"])


def _layers(tensors: Dict[str, Floats], name: str) -> List[Tuple[Floats, Floats]]:
    layers: List[Tuple[Floats, Floats]] = []
    inputs = FEATURE_COUNT
    while f"layers.{len(layers)}.bias" in tensors:
        bias = tensors[f"layers.{len(layers)}.bias"]
        weights = tensors.get(f"layers.{len(layers)}.weights")
        if weights is None or weights.shape != (inputs, len(bias)) or not np.isfinite(weights).all():
            got = f"layer {len(layers)} with another shape or with weights that are not finite"
            _refuse(name, got, MAKE_AGAIN)
        layers.append((weights, bias))
        inputs = len(bias)
    if not layers or inputs != _OUTPUTS:
        _refuse(name, f"{len(layers)} layers that end in {inputs} outputs", MAKE_AGAIN)
    return layers


def _refuse(name: str, got: str, remedy: str) -> NoReturn:
    raise InputError("bad_student", f"Expected a student of this release in {name}, got {got}. {remedy}")
