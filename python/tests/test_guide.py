"""Runs the examples of docs/guides/python.md. A comment after `print` states the printed text."""

import re
import subprocess
import sys
import unittest
from importlib.util import find_spec
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "python.md"


@unittest.skipIf(find_spec("gymnasium") is None, "Gymnasium is missing: the examples of docs/guides/python.md are NOT RUN here")
class GuideTest(unittest.TestCase):
    def test_examples_print_their_comments(self) -> None:
        examples = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        self.assertEqual(len(examples), 3)
        for code in examples:
            printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
            self.assertEqual(printed.splitlines(), re.findall(r"^ *print\(.*\)  # (.*)$", code, re.MULTILINE))


if __name__ == "__main__":
    unittest.main()
