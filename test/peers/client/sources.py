"""Reads a list of modules of rhythm_vec. Prints their absolute imports of modules outside the standard library.

Fails if Python 3.9 cannot parse a module.
"""

import ast
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parents[3] / "python" / "rhythm_vec"


def imports_of(name):
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf8"), name, feature_version=(3, 9))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module


imported = {module.split(".")[0] for name in json.load(sys.stdin) for module in imports_of(name)}
json.dump(sorted(imported - sys.stdlib_module_names), sys.stdout)
