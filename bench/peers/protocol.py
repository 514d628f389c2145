"""The protocol of the peers that are written in Python (players.ts describes it), and the numbers of the world."""

import sys
import time
from itertools import cycle
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "rhythm_vec"))
import _world  # noqa: E402  Imported without its package, which would load the engine.

NUM_STEPS = _world.NUM_STEPS
_WORDS = np.array(_world.WORDS, np.uint32)


def _number(kind, start, shape):
    """Returns the array or scalar that begins at the word `start` of the world's numbers."""
    words = _WORDS[start : start + int(np.prod(shape, dtype=int))].reshape(shape)
    return (words.view(np.float32) if kind == "f32" else words)[()]


# The numbers of the world by name: arrays and scalars of float32 and uint32.
WORLD = {name: _number(kind, start, shape) for name, kind, start, shape in _world.BLOCK}
TRAIT = {name: k for k, name in enumerate(_world.TRAIT_NAMES)}


def serve(begin, step):
    """Answers requests. `begin(seeds, profiles, graders)` returns a state; `step(state, t, actions)` returns the next state,
    the observations f32 [n, 22] and the scores f32 [n]: the final scores after the last step."""
    for line in sys.stdin:
        folder, plays, copies, records = line.split()
        read = lambda name, dtype: np.fromfile(f"{folder}/{name}", dtype)  # noqa: E731
        seeds = read("seeds", np.uint32)
        n = len(seeds)
        profiles, graders = read("profiles", np.float32).reshape(n, -1), read("graders", np.float32).reshape(n, -1)
        actions = read("actions", np.uint8).reshape(-1, NUM_STEPS, n)
        seconds, outputs = [], []
        sets = cycle(actions)
        for _ in range(int(plays)):
            states = [begin(seeds, profiles, graders) for _ in range(int(copies))]
            start = time.perf_counter()
            for state, steps in zip(states, sets):
                for t in range(NUM_STEPS):
                    state, observations, scores = step(state, t, steps[t])
                    if records == "1":
                        outputs.append(np.array(observations))
            seconds.append(time.perf_counter() - start)
        if records == "1":
            np.concatenate([*(each.ravel() for each in outputs), np.array(scores)]).tofile(f"{folder}/outputs")
        print(np.asarray(scores).sum(dtype=np.float64), *seconds, flush=True)
