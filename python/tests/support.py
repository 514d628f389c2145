"""Helpers of the tests: examples of the guide, environments with episodes in progress, and checks of errors."""

import os
import re
import unittest
from dataclasses import fields
from pathlib import Path
from typing import Any, Callable, Dict, List

import numpy as np

from rhythm_vec import InputError, StateError, StepResult, VecEnv

# The form of a message: "Expected X, got Y. Remedy."
MESSAGE = re.compile(r"^Expected .+, got .+[.\]?] [A-Z`].+[.?]$", re.DOTALL)


def guide_examples() -> List[str]:
    """Returns the examples of docs/guides/python.md."""
    guide = Path(__file__).resolve().parents[2] / "docs" / "guides" / "python.md"
    return re.findall(r"^```python\n(.*?)^```$", guide.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def stated_output(code: str) -> List[str]:
    """Returns the output that an example's comments give."""
    return re.findall(r"^ *print\(.*\)  # (.*)$", code, re.MULTILINE)


def is_required(name: str) -> bool:
    """Returns whether the comma-separated list RHYTHM_REQUIRE names a package. Tests fail without such a package."""
    return name in os.environ.get("RHYTHM_REQUIRE", "").split(",")


def arrays_of(result: StepResult) -> Dict[str, Any]:
    """Returns copies of the arrays of a result, by name."""
    return {field.name: np.array(getattr(result, field.name)) for field in fields(result)}


def bytes_of(env: VecEnv) -> Dict[str, bytes]:
    """Returns the outputs, seeds, counters and snapshot of an environment as bytes, without arrays of objects."""
    arrays = arrays_of(env.outputs)
    arrays.update(seeds=env.seeds, episode_numbers=env.episode_numbers)
    data = {name: array.tobytes() for name, array in arrays.items() if array.dtype != object}
    data["counters"] = repr(env.counters).encode()
    data["snapshot"] = env.snapshot()
    return data


def played(num_envs: int = 4, steps: int = 5, **options: Any) -> VecEnv:
    """Returns an environment some steps after a reset."""
    env = VecEnv(num_envs, **options)
    env.reset(seed=100)
    for t in range(steps):
        env.step(np.full(num_envs, t % 10, np.uint8))
    return env


class RefusalTest(unittest.TestCase):
    """Base class of tests of errors."""

    def expect_refusal(self, kind: Any, code: str, call: Callable[[], Any]) -> None:
        """Expects an error of this class and code, with a message in the form of MESSAGE."""
        with self.assertRaises((InputError, StateError)) as caught:
            call()
        error = caught.exception
        self.assertIs(type(error), kind, str(error))
        self.assertEqual(error.code, code, str(error))
        self.assertRegex(str(error), MESSAGE)

    def expect_unchanged(self, env: VecEnv, kind: Any, code: str, call: Callable[[], Any]) -> None:
        """Expects an error that changes nothing."""
        before = bytes_of(env)
        self.expect_refusal(kind, code, call)
        self.assertEqual(before, bytes_of(env))
