"""Scores replays and plays rollout groups with the Python package.

Reads {"columns", "options", "groups"} as test/python/package-rollouts.test.ts sends them. Prints the faults, and the
arrays of the scores and of the groups as base64, by their names in Python.
"""

import base64
import json
import sys
from dataclasses import fields

import numpy as np
from rhythm_vec import rollout_groups, score_replay

DTYPES = {"u8": "<u1", "i8": "<i1", "u32": "<u4", "f32": "<f4"}


def decoded(column):
    return np.frombuffer(base64.b64decode(column["bytes"]), DTYPES[column["dtype"]])


def arrays_of(result):
    values = {field.name: getattr(result, field.name) for field in fields(result)}
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    return {name: base64.b64encode(np.ascontiguousarray(array).tobytes()).decode() for name, array in arrays.items()}


request = json.load(sys.stdin)
columns = {name: decoded(column) for name, column in request["columns"].items()}
scores = [score_replay(**columns, **options) for options in request["options"]]
groups = rollout_groups(policy="random", **request["groups"])
answer = {
    "scores": [arrays_of(each) for each in scores],
    "faults": [[[fault.index, fault.code] for fault in each.faults] for each in scores],
    "groups": arrays_of(groups),
}
print(json.dumps(answer))
