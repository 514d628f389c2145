"""Reads a list of paths of Python files. Prints, for each file, the absolute imports of modules outside
the standard library.

Fails if Python 3.9 cannot parse a file.
"""

import ast
import importlib.util
import json
import sys
import sysconfig


def imports_of(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                yield node.module


def is_standard(name):
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return False
    in_stdlib = spec.origin.startswith(sysconfig.get_path("stdlib")) and "site-packages" not in spec.origin
    return in_stdlib or spec.origin in ("built-in", "frozen")


def other_imports(path):
    with open(path, encoding="utf8") as file:
        tree = ast.parse(file.read(), path, feature_version=(3, 9))
    return sorted({name for name in imports_of(tree) if not is_standard(name.split(".")[0])})


json.dump([other_imports(path) for path in json.load(sys.stdin)], sys.stdout)
