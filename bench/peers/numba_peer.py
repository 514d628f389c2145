"""Peer (docs/speed.md): numba, the rules of docs/world.md for one episode in a compiled loop over the batch."""

from collections import namedtuple

import numpy as np
from numba import njit
from protocol import NUM_STEPS, TRAIT, WORLD, serve

F32, U32 = np.float32, np.uint32
V, C, P, S, N = range(5)
PRODUCTIVE, SOCIAL, SOLO, GUILTY = range(4)
NUM_METERS, NUM_TRAITS, NUM_SLOTS, NUM_EVENTS = 5, len(TRAIT), WORLD["effect"].shape[0], len(WORLD["eventEffect"])
# The numbers of the world, and the indices of traits. Numba compiles module variables as constants.
W, T = namedtuple("World", WORLD)(**WORLD), namedtuple("Trait", TRAIT)(**TRAIT)
ROTATIONS = np.array([[13, 15, 26, 6], [17, 29, 16, 24]], U32)
PARITY = U32(0x1BD11BDA)

@njit
def threefry(k0, k1, c0, c1):
    ks = (k0, k1, U32(k0 ^ k1 ^ PARITY))
    x0, x1 = U32(c0 + ks[0]), U32(c1 + ks[1])
    for g in range(1, 6):
        for k in range(4):
            r = ROTATIONS[(g + 1) % 2, k]
            x0 = U32(x0 + x1)
            x1 = U32(U32(x1 << r) | U32(x1 >> U32(U32(32) - r))) ^ x0
        x0 = U32(x0 + ks[g % 3])
        x1 = U32(x1 + ks[(g + 1) % 3] + U32(g))
    return x0, x1


@njit
def clamp01(x):
    return min(max(x, F32(0)), F32(1))


@njit
def has(tag, action):
    """Returns whether an action has a tag. A tag's word has a bit for each action."""
    return (W.tagged[tag] >> action) & 1 == 1


@njit
def respond(trait, m, slot, action, d):
    """Rules 1 and 2: writes the changes of the five meters to `d`."""
    for k in range(NUM_METERS):
        d[k] = W.effect[slot, action, k]
    if has(PRODUCTIVE, action):
        focus = trait[T.morning_focus] if slot == 0 else (F32(1) if slot == 1 else trait[T.night_focus])
        vigour = W.vitalityFactorBase + W.vitalityFactorSlope * m[V]
        d[P] = (d[P] * vigour) * focus
        d[C] = d[C] + W.focusCognition * (focus - F32(1))
        d[V] = d[V] + trait[T.work_vitality_recovery]
        d[S] = d[S] + trait[T.progress_serenity_bonus]
    if has(SOCIAL, action):
        d[V] = d[V] * trait[T.social_vitality_multiplier]
        d[S] = d[S] + trait[T.social_serenity_bonus]
    if has(SOLO, action):
        d[S] = d[S] + trait[T.solo_serenity_bonus]
    if has(GUILTY, action):
        d[S] = d[S] - trait[T.leisure_guilt]
    if m[S] < trait[T.stress_threshold]:
        for k in range(NUM_METERS):
            d[k] = d[k] + W.stress[k]


@njit
def noise_of(y, j):
    word = y[0] if j < 3 else y[1]
    n = (word >> U32(10 * (j % 3))) & U32(1023)
    return (F32(n) + F32(0.5)) * F32(2**-9) - F32(1)


@njit
def grade(m, early, late, well, crashes, grader):
    """Returns the final score of an episode without beliefs: the two components for beliefs are 0."""
    early_mean, late_mean = early * W.perHalf, late * W.perHalf
    total = grader[0] * (F32(1) - F32(crashes) * W.perReading) + grader[1] * m[P] + grader[2] * m[N]
    total += grader[3] * (clamp01(W.adaptationScale * (late_mean - early_mean)) * clamp01(W.adaptationGateOffset + late_mean))
    total += grader[4] * clamp01(F32(0.5) + F32(0.5) * ((early + late) * W.perStep))
    total += grader[6] * clamp01(W.wellbeingScale * (well * W.perStep - W.wellbeingBase))
    return clamp01(total)


@njit
def step_all(seeds, meters, profiles, graders, sums, crashes, t, actions, observations, scores):
    """Steps all episodes; writes observations, and scores after the last step.

    `sums` is f32 [n, 3]: the rewards of the first half and of the second half, and wellbeing.
    """
    slot = t % NUM_SLOTS
    d, neutral, anomaly = np.empty(NUM_METERS, F32), np.empty(NUM_METERS, F32), np.empty(NUM_METERS, F32)
    for i in range(len(seeds)):
        m, profile, action = meters[i], profiles[i], actions[i]
        respond(profile, m, slot, action, d)
        respond(W.traitNeutral, m, slot, action, neutral)
        y = threefry(seeds[i], W.streamNoise, U32(t), U32(0))
        for k in range(NUM_METERS):
            d[k] = d[k] + W.noiseMeters[k] * noise_of(y, k)
            anomaly[k] = d[k] - neutral[k]
        d[V] = d[V] - W.decay[V] * profile[T.metabolic_rate]
        for k in range(C, NUM_METERS):
            d[k] = d[k] - W.decay[k]

        x0, x1 = threefry(seeds[i], W.streamEvent, U32(t), U32(0))
        event = -1
        if x0 < W.eventThreshold:
            event = int((x1 >> U32(16)) * NUM_EVENTS >> 16)
            for k in range(NUM_METERS):
                d[k] = d[k] + W.eventEffect[event, k] * profile[T.event_impact]

        low, well, acc = 0, F32(0), F32(0)
        for k in range(NUM_METERS):
            after, weight = clamp01(m[k] + d[k]), profile[NUM_TRAITS + k]
            d[k] = after - m[k]
            m[k] = after
            low += after < W.crashThreshold
            well = well + weight * after
            acc = acc + (weight + W.rewardBias[k]) * d[k]
        crashes[i] += low
        sums[i, 2] = sums[i, 2] + well
        r = W.rewardScale * acc - W.crashPenalty * F32(low)
        half = 0 if t < NUM_STEPS // 2 else 1
        sums[i, half] = sums[i, half] + r
        reward = r + W.noiseReward * noise_of(y, NUM_METERS)
        if t == NUM_STEPS - 1:
            scores[i] = grade(m, sums[i, 0], sums[i, 1], sums[i, 2], crashes[i], graders[i])
            reward = reward + W.terminalScale * (scores[i] - F32(0.5))

        # 0 to 3: time; 4 to 8: meters; 9: event; 10: action; 11: reward; 12 to 16: deltas; 17 to 21: anomalies.
        seen = observations[i]
        seen[0], seen[1], seen[2], seen[3] = t + 1, (t + 1) // NUM_SLOTS, (t + 1) % NUM_SLOTS, NUM_STEPS - (t + 1)
        seen[9], seen[10], seen[11] = event, action, reward
        for k in range(NUM_METERS):
            seen[4 + k], seen[12 + k], seen[17 + k] = m[k], d[k], anomaly[k]


def begin(seeds, profiles, graders):
    n = len(seeds)
    state = seeds, np.tile(WORLD["initialMeters"], (n, 1)), profiles, graders, np.zeros((n, 3), F32), np.zeros(n, np.int32)
    return state, np.empty((n, 22), F32), np.empty(n, F32)


def step(opened, t, actions):
    state, observations, scores = opened
    step_all(*state, t, actions, observations, scores)
    return opened, observations, scores


serve(begin, step)
