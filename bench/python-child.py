"""Steps environments for `npm run bench -- --python`.

Reads lines of JSON, [num_envs, plays]. Writes a line of JSON for each: the seconds of each play, and the sum of the final
scores of the last play. A play steps one episode in every environment.
"""

import json
import sys
from functools import cache
from timeit import repeat

import numpy as np
from rhythm_vec import VecEnv

NUM_STEPS = 28
opened = cache(lambda num_envs: VecEnv(num_envs, threads=1))

for line in sys.stdin:
    num_envs, plays = json.loads(line)
    env = opened(num_envs)
    # The action of step t in environment i, as in bench/python.ts.
    actions = ((np.arange(NUM_STEPS)[:, None] * 7 + np.arange(num_envs) * 3) % 10).astype(np.uint8)

    def play() -> None:
        for step in range(NUM_STEPS):
            env.step(actions[step])

    seconds = repeat(play, lambda: env.reset(seed=0), number=1, repeat=plays)
    score = float(env.outputs.final_scores.sum(dtype=np.float64))
    print(json.dumps({"seconds": seconds, "score": score}), flush=True)
