/**
 * The states of imagined forks, whose hidden profiles are replaced. The copies keep time, meters, crash count, return, the last
 * belief and the grader. Everything else is replaced, computed again from the observed steps, or cleared.
 */
import { StateError } from '../../shared/errors.js';
import type { Params } from '../../world/block.js';
import {
  MODE,
  NUM_METERS,
  NUM_STEPS,
  PROFILE_SIZE,
  STATE,
  STATE_WORDS,
  TAPE_WORDS,
} from '../../world/fields.js';
import type { HistoryStep } from '../observe/past-step.js';
import { replayHistory } from '../observe/replay-history.js';
import { rewardOf, weightedMeters } from '../reference/rules.js';
import { requireReplayable } from './copy-states.js';
import type { Core } from './core.js';
import type { Imagined } from './imagined-profiles.js';

/**
 * Returns the states of imagined copies, u32 [n, STATE_WORDS], newly allocated. The copies begin at the current step.
 * Their reward sums are computed from the observed past and the new profile.
 * @param words u32 [n, STATE_WORDS]: the states of the source's environments at `indices`.
 * @throws StateError `episode_over`, `foreign_past`.
 */
export function imagineStates(
  source: Core,
  words: Uint32Array,
  indices: Uint32Array,
  imagined: Imagined,
): Uint32Array {
  requireReplayable(source, indices);
  const pasts = new Map<number, readonly HistoryStep[]>();
  const copies = words.slice();
  indices.forEach((index, i) => {
    const state = words.subarray(i * STATE_WORDS, (i + 1) * STATE_WORDS);
    const past = pasts.get(index) ?? pastOf(source, state, index);
    pasts.set(index, past);
    const profile = imagined.profiles.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE);
    const copy = copies.subarray(i * STATE_WORDS, (i + 1) * STATE_WORDS);
    imagineState(source.world.params, copy, profile, imagined.seeds[i], past);
  });
  return copies;
}

/** Returns the steps so far of an episode to imagine. @throws StateError `episode_over`, `foreign_past`. */
function pastOf({ world, imagination }: Core, state: Uint32Array, index: number): HistoryStep[] {
  if (state[STATE.step] === NUM_STEPS) {
    throw new StateError(
      'episode_over',
      `Expected episodes with steps left to imagine, got one that is over in environment ${index} of the source. ` +
        'Leave its index out.',
    );
  }
  if (state[STATE.began] > 0) {
    throw new StateError(
      'foreign_past',
      `Expected episodes that began at step 0, got one that began at step ${state[STATE.began]} in environment ` +
        `${index} of the source: its earlier rewards are unknown under another profile. Use reset({ profiles, start }).`,
    );
  }
  return replayHistory(world, imagination, state, NUM_STEPS);
}

/** Replaces the seed and the profile of a state, and all that depends on them. */
function imagineState(
  params: Params,
  state: Uint32Array,
  profile: Float32Array,
  seed: number,
  past: readonly HistoryStep[],
): void {
  const floats = new Float32Array(state.buffer, state.byteOffset, STATE_WORDS);
  const { early, late, well } = sumsUnder(params, profile, past);
  state[STATE.seed] = seed;
  state[STATE.mode] = MODE.given;
  floats.set(profile, STATE.profile);
  floats[STATE.early] = early;
  floats[STATE.late] = late;
  floats[STATE.well] = well;
  // The earlier beliefs are not stored, so their terms under the new profile are unknown.
  floats[STATE.skill] = 0;
  state.fill(0, STATE.tape, STATE.tape + TAPE_WORDS);
  state[STATE.began] = state[STATE.step];
  state.copyWithin(STATE.firstMeters, STATE.meters, STATE.meters + NUM_METERS);
}

/** Returns the sums of rules 7 and 8 for observed steps and another profile. */
function sumsUnder(params: Params, profile: Float32Array, past: readonly HistoryStep[]) {
  const sums = { early: 0, late: 0, well: 0 };
  for (const { step, meters, deltas } of past) {
    const low = meters.filter((meter) => meter < params.crashThreshold).length;
    const half = step < NUM_STEPS / 2 ? 'early' : 'late';
    sums[half] = Math.fround(sums[half] + rewardOf(params, profile, deltas, low));
    sums.well = Math.fround(sums.well + weightedMeters(profile, meters));
  }
  return sums;
}

/** Updates the bookkeeping of a batch that has loaded imagined states, u32 [numEnvs, STATE_WORDS]. */
export function commitImagined(core: Core, states: Uint32Array): void {
  for (let i = 0; i < core.numEnvs; i++) core.seeds[i] = states[i * STATE_WORDS + STATE.seed];
  core.unreplayable.fill(0);
  core.usesHiddenState = false;
}
