"""Steps environments for `npm run bench -- --python`.

Reads lines of JSON, [num_envs, plays, threads]. Writes a line of JSON for each: the seconds of each play, and the sum of the
final scores of the last play.
"""

import json
import sys
import time

import numpy as np
from rhythm_vec import VecEnv

NUM_STEPS = 28


def play(env: VecEnv, actions: np.ndarray) -> float:
    """Plays one episode in every environment. Returns the seconds of all steps. `actions` is u8 [28, num_envs]."""
    env.reset(seed=0)
    start = time.perf_counter()
    for step in range(NUM_STEPS):
        env.step(actions[step])
    return time.perf_counter() - start


def main() -> None:
    envs = {}
    for line in sys.stdin:
        num_envs, plays, threads = json.loads(line)
        if (num_envs, threads) not in envs:
            envs[num_envs, threads] = VecEnv(num_envs, threads=threads)
        env = envs[num_envs, threads]
        # The action of step t in environment i, as in bench/python.ts.
        actions = ((np.arange(NUM_STEPS)[:, None] * 7 + np.arange(num_envs) * 3) % 10).astype(np.uint8)
        seconds = [play(env, actions) for _ in range(plays)]
        score = float(env.outputs.final_scores.sum(dtype=np.float64))
        print(json.dumps({"seconds": seconds, "score": score}), flush=True)


main()
