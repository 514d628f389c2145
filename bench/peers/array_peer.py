"""Peers: NumPy and JAX, the rules of docs/world.md over arrays. The argument `jax` chooses JAX.

With NumPy, each operation of a step runs over the whole batch before the next one. With JAX, `vmap` and `jit` compile the step
of one episode for the whole batch, on one core. `xp` is the module `numpy` or `jax.numpy`. A quantity of an episode may be an
array over a batch (NumPy) or a single number (JAX, under vmap).
"""

import os
import sys

import numpy as np
from protocol import NUM_STEPS, TRAIT, WORLD, serve

F32 = np.float32
V, C, P, S, N = METERS = range(5)
PRODUCTIVE, SOCIAL, SOLO, GUILTY = range(4)
NUM_SLOTS, NUM_EVENTS = WORLD["effect"].shape[0], np.uint32(WORLD["eventEffect"].shape[0])
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)


def threefry(k0, k1, c0, c1):
    """Returns the two random words of a key and a counter."""
    ks = (k0, k1, k0 ^ (k1 ^ PARITY))
    x0, x1 = c0 + ks[0], c1 + ks[1]
    for g in range(1, 6):
        for r in ROTATIONS[(g + 1) % 2]:
            x0 = x0 + x1
            x1 = ((x1 << np.uint32(r)) | (x1 >> np.uint32(32 - r))) ^ x0
        x0 = x0 + ks[g % 3]
        x1 = x1 + ks[(g + 1) % 3] + np.uint32(g)
    return x0, x1


def clamp01(xp, x):
    return xp.minimum(xp.maximum(x, F32(0)), F32(1))


def respond(xp, trait, m, slot, action):
    """Rules 1 and 2: returns the changes of the five meters. `trait(name)` returns a trait; `action` holds codes."""
    effect = xp.asarray(WORLD["effect"])[slot, action]
    d = [effect[..., k] for k in METERS]
    # A tag's word has a bit for each action.
    productive, social, solo, guilty = (
        (np.uint32(WORLD["tagged"][tag]) >> action) & np.uint32(1) == 1
        for tag in (PRODUCTIVE, SOCIAL, SOLO, GUILTY)
    )
    where = xp.where
    focus = where(slot == 0, trait("morning_focus"), where(slot == 1, F32(1), trait("night_focus")))
    vigour = WORLD["vitalityFactorBase"] + WORLD["vitalityFactorSlope"] * m[V]
    d[P] = where(productive, (d[P] * vigour) * focus, d[P])
    d[C] = where(productive, d[C] + WORLD["focusCognition"] * (focus - F32(1)), d[C])
    d[V] = where(social, d[V] * trait("social_vitality_multiplier"), d[V])
    d[V] = where(productive, d[V] + trait("work_vitality_recovery"), d[V])
    d[S] = where(productive, d[S] + trait("progress_serenity_bonus"), d[S])
    d[S] = where(social, d[S] + trait("social_serenity_bonus"), d[S])
    d[S] = where(solo, d[S] + trait("solo_serenity_bonus"), d[S])
    d[S] = where(guilty, d[S] - trait("leisure_guilt"), d[S])
    stressed = m[S] < trait("stress_threshold")
    return [where(stressed, d[k] + WORLD["stress"][k], d[k]) for k in METERS]


def noise_of(y, j):
    """Returns noise number `j` of a draw, in (-1, 1)."""
    n = (y[j // 3] >> np.uint32(10 * (j % 3))) & np.uint32(1023)
    return (n.astype(F32) + F32(0.5)) * F32(2**-9) - F32(1)


def total(terms):
    """Sums from left to right."""
    return sum(terms[1:], terms[0])


def grade(xp, m, early, late, well, crashes, grader):
    """Returns the final score of an episode without beliefs: the two components for beliefs are 0."""
    early_mean, late_mean = early * WORLD["perHalf"], late * WORLD["perHalf"]
    gain = clamp01(xp, WORLD["adaptationScale"] * (late_mean - early_mean))
    components = [
        F32(1) - crashes.astype(F32) * WORLD["perReading"],
        m[P],
        m[N],
        gain * clamp01(xp, WORLD["adaptationGateOffset"] + late_mean),
        clamp01(xp, F32(0.5) + F32(0.5) * ((early + late) * WORLD["perStep"])),
        F32(0),
        clamp01(xp, WORLD["wellbeingScale"] * (well * WORLD["perStep"] - WORLD["wellbeingBase"])),
        F32(0),
    ]
    return clamp01(xp, total([grader[..., k] * c for k, c in enumerate(components)]))


def begin(seeds, profiles, graders):
    """Returns the state of episodes at their start: a tuple of arrays and lists of arrays over the batch."""
    n = len(seeds)
    meters = [np.full(n, WORLD["initialMeters"][k]) for k in METERS]
    sums = [np.zeros(n, F32) for _ in range(3)]
    return seeds, meters, profiles, graders, *sums, np.zeros(n, np.int32)


def step(xp, state, t, action):
    """Returns the state after step `t`, the observations and the scores, which are valid only after the last step."""
    seed, m, profile, grader, early, late, well, crashes = state
    slot, action = t % NUM_SLOTS, action.astype(np.uint32)
    own, neutral = (lambda name: profile[..., TRAIT[name]]), (lambda name: WORLD["traitNeutral"][TRAIT[name]])
    weight = [profile[..., len(TRAIT) + k] for k in METERS]

    d = respond(xp, own, m, slot, action)
    word = np.uint32(1) * t  # an unsigned 32-bit number, also if `t` is an int of Python
    y = threefry(seed, WORLD["streamNoise"], word, np.uint32(0))
    d = [d[k] + WORLD["noiseMeters"][k] * noise_of(y, k) for k in METERS]
    d0 = respond(xp, neutral, m, slot, action)
    anomaly = [d[k] - d0[k] for k in METERS]

    d[V] = d[V] - WORLD["decay"][V] * own("metabolic_rate")
    for k in (C, P, S, N):
        d[k] = d[k] - WORLD["decay"][k]

    x0, x1 = threefry(seed, WORLD["streamEvent"], word, np.uint32(0))
    happens = x0 < WORLD["eventThreshold"]
    code = ((x1 >> np.uint32(16)) * NUM_EVENTS) >> np.uint32(16)
    effect = xp.asarray(WORLD["eventEffect"])[code]
    d = [xp.where(happens, d[k] + effect[..., k] * own("event_impact"), d[k]) for k in METERS]

    after = [clamp01(xp, m[k] + d[k]) for k in METERS]
    delta = [after[k] - m[k] for k in METERS]
    low = total([(after[k] < WORLD["crashThreshold"]).astype(np.int32) for k in METERS])
    crashes, well = crashes + low, well + total([weight[k] * after[k] for k in METERS])

    acc = total([(weight[k] + WORLD["rewardBias"][k]) * delta[k] for k in METERS])
    r = WORLD["rewardScale"] * acc - WORLD["crashPenalty"] * low.astype(F32)
    is_first_half = t < NUM_STEPS // 2
    early, late = xp.where(is_first_half, early + r, early), xp.where(is_first_half, late, late + r)
    reward = r + WORLD["noiseReward"] * noise_of(y, len(METERS))

    score = grade(xp, after, early, late, well, crashes, grader)
    reward = xp.where(t == NUM_STEPS - 1, reward + WORLD["terminalScale"] * (score - F32(0.5)), reward)
    event = xp.where(happens, code.astype(F32), F32(-1))
    time = [t + 1, (t + 1) // NUM_SLOTS, (t + 1) % NUM_SLOTS, NUM_STEPS - (t + 1)]
    seen = [*time, *after, event, action, reward, *delta, *anomaly]
    observation = xp.stack([xp.broadcast_to(xp.asarray(each, F32), reward.shape) for each in seen], -1)
    return (seed, after, profile, grader, early, late, well, crashes), observation, score


def main():
    if sys.argv[1:] != ["jax"]:
        return serve(begin, lambda state, t, actions: step(np, state, t, actions))
    os.environ["JAX_PLATFORMS"] = "cpu"
    if hasattr(os, "sched_setaffinity"):  # JAX has no option for the number of threads.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    import jax

    one_step = lambda state, t, action: step(jax.numpy, state, t, action)  # noqa: E731
    all_steps = jax.jit(jax.vmap(one_step, in_axes=(0, None, 0)))
    ready = jax.block_until_ready
    serve(
        lambda *inputs: ready(jax.device_put(begin(*inputs))),
        lambda state, t, actions: ready(all_steps(state, jax.numpy.uint32(t), actions)),
    )


main()
