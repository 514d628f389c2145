"""Scores replays, plays rollout groups and plays students with the Python package.

Reads {"columns", "options", "groups"} or {"students": [name or path, ...], "seeds"}, as test/python/package.test.ts sends them.
Prints the faults and, as base64, the arrays of the scores and groups by their names in Python, or the actions and beliefs of
each student, step by step.
"""

import base64
import json
import sys
from dataclasses import fields

import numpy as np
from rhythm_vec import Student, VecEnv, rollout_groups, score_replay

DTYPES = {"u8": "<u1", "i8": "<i1", "u32": "<u4", "f32": "<f4"}


def decoded(column):
    return np.frombuffer(base64.b64decode(column["bytes"]), DTYPES[column["dtype"]])


def encoded(array):
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def arrays_of(result):
    values = {field.name: getattr(result, field.name) for field in fields(result)}
    return {name: encoded(value) for name, value in values.items() if isinstance(value, np.ndarray)}


def rollouts(columns, options, groups):
    arrays = {name: decoded(column) for name, column in columns.items()}
    scores = [score_replay(**arrays, **each) for each in options]
    return {
        "scores": [arrays_of(each) for each in scores],
        "faults": [[[fault.index, fault.code] for fault in each.faults] for each in scores],
        "groups": arrays_of(rollout_groups(policy="random", **groups)),
    }


def play(name, seeds):
    env = VecEnv(len(seeds))
    player = Student(name).open(len(seeds))
    observations = env.reset(seed=seeds).observations
    steps = []
    for _ in range(28):
        steps.append(player.act(observations))
        observations = env.step(steps[-1].actions).observations
    # After the end of an episode a player returns action 0.
    assert not player.act(observations).actions.any()
    actions, beliefs = ([getattr(step, part).ravel() for step in steps] for part in ("actions", "beliefs"))
    return {"actions": encoded(np.concatenate(actions)), "beliefs": encoded(np.concatenate(beliefs).astype("<f4"))}


request = json.load(sys.stdin)
if "students" in request:
    print(json.dumps([play(name, request["seeds"]) for name in request["students"]]))
else:
    print(json.dumps(rollouts(**request)))
