"""The world: the block of numbers that the engine reads."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _world
from .checks import MAX_FLOAT, check_mapping, check_name, check_number, describe, refuse, to_array

_BLOCK = {name: (word, offset, shape) for name, word, offset, shape in _world.BLOCK}
_SCHEMA = {"name": "rhythm-vec/world", "version": 1}


class World:
    """A world's numbers. `World()` is the published one; `World.load(file)` reads a changed one.

    Attributes:
        words: u32 [445], the block that the engine reads.
        digest: SHA-256 of the words, hexadecimal.
        name: the name that errors show beside the digest; no part of the digest.
        magnitudes: the largest magnitudes of observation fields such as `reward`. Scaled observations map [-magnitude,
            magnitude] to [0, 1].

    Raises:
        InputError: `bad_world`, `wrong_type` or `out_of_range`: words or magnitudes of another form or range.
    """

    def __init__(
        self,
        words: Optional[npt.ArrayLike] = None,
        magnitudes: Optional[Mapping[str, float]] = None,
        name: str = "rhythm",
    ) -> None:
        if not isinstance(name, str):
            refuse("wrong_type", "the name of a world to be text", describe(name), "Pass text.")
        self.name = name
        self.words: npt.NDArray[np.uint32] = _to_words(_world.WORDS if words is None else words)
        self.words.setflags(write=False)
        self.digest: str = hashlib.sha256(self.words.astype("<u4").tobytes()).hexdigest()
        self.magnitudes: Dict[str, float] = _to_magnitudes(_world.MAGNITUDES if magnitudes is None else magnitudes)

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> World:
        """Reads a file that `rhythm-vec world` wrote.

        Raises:
            InputError: `wrong_type`: the path is neither text nor a path object; `bad_world`: the file is damaged, of another
                kind or of another release.
            OSError: the file cannot be read.
        """
        if not isinstance(path, (str, os.PathLike)):
            remedy = "Pass a file that `rhythm-vec world` wrote."
            refuse("wrong_type", "the path of a world file", describe(path), remedy)
        try:
            file = json.loads(Path(path).read_text(encoding="utf-8-sig"))
            for key, expected in (("schema", _SCHEMA), ("layout_digest", _world.LAYOUT_DIGEST)):
                if file[key] != expected:
                    raise ValueError(f"the {key} {file[key]!r}, not {expected}")
            magnitudes = {name: float(file["magnitudes"][name]) for name in _world.MAGNITUDES}
            world = cls(file["words"], magnitudes, file.get("name", "rhythm"))
            if world.digest != file["world_digest"]:
                raise ValueError("words that do not match world_digest")
            return world
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            expected, got = f"{os.fspath(path)} to be a world file of this release", f"{type(error).__name__}: {error}"
            refuse("bad_world", expected, got, "Write it again with `rhythm-vec world --numbers`.")

    @property
    def identity(self) -> str:
        """The name and the digest, for errors."""
        return f"{self.name} ({self.digest})"

    @staticmethod
    def offset_of(name: str) -> int:
        """Returns the index in `words` of an entry of the block. Raises InputError `unknown_name`."""
        return _BLOCK[check_name("name", name, tuple(_BLOCK))][1]

    def param(self, name: str) -> npt.NDArray[Any]:
        """Returns an entry of the block, a number or a table, as a read-only view; names as in src/world/block.ts.
        Raises InputError `unknown_name`."""
        word, offset, shape = _BLOCK[check_name("name", name, tuple(_BLOCK))]
        length = int(np.prod(shape, dtype=np.int64))
        words = self.words[offset : offset + length]
        return (words.view(np.float32) if word == "f32" else words).reshape(shape)


def _to_words(words: Any) -> npt.NDArray[np.uint32]:
    array = to_array(words)
    is_u32 = array.dtype.kind in "iu" and array.shape == (len(_world.WORDS),)
    if not is_u32 or bool(((array < 0) | (array > 2**32 - 1)).any()):
        refuse("bad_world", f"words to be u32 [{len(_world.WORDS)}]", describe(words), "Pass the words of a World.")
    return np.array(array, np.uint32)


def _to_magnitudes(magnitudes: Any) -> Dict[str, float]:
    given = check_mapping("magnitudes", magnitudes)
    if sorted(map(str, given)) != sorted(_world.MAGNITUDES):
        expected = f"magnitudes of {', '.join(_world.MAGNITUDES)}"
        refuse("bad_world", expected, describe(magnitudes), "Pass a number for each.")
    # Scaling divides by a magnitude, so 0 is refused. The bound is chosen by hand: 2^-80 is the square of the smallest number
    # of a world other than 0, 2^-40.
    return {name: check_number(f"magnitudes[{name!r}]", given[name], 2.0**-80, MAX_FLOAT) for name in _world.MAGNITUDES}
