"""What Python files import beyond the standard library, and whether Python 3.9 can read them."""

import ast
import importlib.util
import json
import sys
import sysconfig


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def is_standard(name):
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return False
    own = spec.origin.startswith(sysconfig.get_path("stdlib")) and "site-packages" not in spec.origin
    return own or spec.origin in ("built-in", "frozen")


def foreign(path):
    with open(path, encoding="utf8") as file:
        tree = ast.parse(file.read(), path, feature_version=(3, 9))
    return sorted({name for name in imported(tree) if not is_standard(name.split(".")[0])})


json.dump([foreign(path) for path in json.load(sys.stdin)], sys.stdout)
