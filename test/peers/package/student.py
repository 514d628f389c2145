"""Plays students with the Python package.

Reads {"students": [name or path, ...], "seeds"}, as test/python/student.test.ts sends it. Prints the actions and beliefs of
each student, step by step, as base64.
"""

import base64
import json
import sys

import numpy as np
from rhythm_vec import Student, VecEnv


def encoded(arrays, dtype):
    return base64.b64encode(np.concatenate(arrays).astype(dtype).tobytes()).decode()


request = json.load(sys.stdin)
seeds = request["seeds"]
answer = []
for name in request["students"]:
    env = VecEnv(len(seeds))
    player = Student(name).open(len(seeds))
    observations = env.reset(seed=seeds).observations
    steps = []
    for _ in range(28):
        steps.append(player.act(observations))
        observations = env.step(steps[-1].actions).observations
    answer.append(
        {
            "actions": encoded([step.actions for step in steps], "<u1"),
            "beliefs": encoded([step.beliefs.ravel() for step in steps], "<f4"),
        }
    )
    # After the end of an episode a player returns action 0.
    assert not player.act(observations).actions.any()
print(json.dumps(answer))
