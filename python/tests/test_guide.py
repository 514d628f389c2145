"""Runs the examples of docs/guides/python.md, except that of Ray, and that of JAX without JAX. A comment after `print` states the printed text."""

import subprocess
import sys
import unittest
from importlib.util import find_spec

from .support import guide_examples, stated_output


@unittest.skipIf(
    find_spec("gymnasium") is None, "Gymnasium is missing: the examples of docs/guides/python.md are NOT RUN here"
)
class GuideTest(unittest.TestCase):
    def test_examples_print_the_text_in_their_comments(self) -> None:
        examples = [code for code in guide_examples() if "rhythm_vec.ray" not in code]
        self.assertEqual(len(examples), 4)
        for code in examples:
            if "import jax" in code and find_spec("jax") is None:
                continue
            printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
            self.assertEqual(printed.splitlines(), stated_output(code))
