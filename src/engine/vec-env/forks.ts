/**
 * Forks: their settings, their imagined profiles and seeds, and the states of imagined copies, whose hidden profiles are replaced.
 */

import { StateError } from '../../shared/errors.js';
import { isFloats, readOptions, wrongType } from '../../shared/values.js';
import type { Params } from '../../world/block.js';
import {
  MODE,
  NUM_COMPONENTS,
  NUM_METERS,
  NUM_STEPS,
  PROFILE_SIZE,
  STATE,
  STATE_WORDS,
  TAPE_WORDS,
} from '../../world/fields.js';
import { hasKernels, mayHaveThreads } from '../backends/open-batch.js';
import type { HistoryStep } from '../observe/history.js';
import { sampleProfile } from '../reference/profile.js';
import { rewardOf, weightedMeters } from '../reference/rules.js';
import { type EnvProfiles, toProfiles } from '../validate/profiles.js';
import { toSeeds } from '../validate/seeds.js';
import { type Settings, toSettings } from './check-options.js';
import { requireReplayable } from './copy-states.js';
import type { Core } from './core.js';
import {
  FORK_OPTIONS,
  type ForkOptions,
  IMAGINED_OPTIONS,
  type ImaginedProfiles,
  type VecEnvOptions,
} from './vec-env-options.js';

/** A fork to open. */
interface Fork {
  readonly settings: Settings;
  /** The profiles that replace the hidden profiles; null to keep them. */
  readonly imagined: Imagined | null;
}

/** Returns a fork to open: the source's settings with changes, and imagined profiles. @throws as `VecEnv.fork`. */
export function toFork(source: Core, indices: Uint32Array, changes: ForkOptions): Fork {
  const { imagination, ...changedOptions } = readOptions('fork options', changes, FORK_OPTIONS);
  const imagined = toImagined(source, indices.length, imagination);
  const flag = imagined === null ? (imagination as boolean | undefined) : true;
  return {
    settings: toForkSettings(source, indices, { ...changedOptions, imagination: flag }, imagined),
    imagined,
  };
}

function toForkSettings(
  source: Core,
  indices: Uint32Array,
  changedOptions: Partial<VecEnvOptions>,
  imagined: Imagined | null,
): Settings {
  const { backend, kernel } = source.batch;
  const options = {
    ...source.inheritedOptions,
    ...Object.fromEntries(Object.entries(changedOptions).filter(([, value]) => value !== undefined)),
    numEnvs: indices.length,
    backend,
    kernel: hasKernels(backend) ? kernel : undefined,
  };
  const settings = toSettings(options, {
    profiles: imagined === null ? profilesAt(source, indices) : toGivenProfiles(imagined),
    graders: rowsAt(source.graders, NUM_COMPONENTS, indices),
  });
  return mayHaveThreads(backend) ? settings : { ...settings, threads: null };
}

const profilesAt = ({ profiles: { modes, floats } }: Core, indices: Uint32Array): EnvProfiles => ({
  modes: rowsAt(modes, 1, indices),
  floats: floats && rowsAt(floats, PROFILE_SIZE, indices),
});

function rowsAt<T extends Float32Array | Uint8Array>(rows: T, width: number, indices: Uint32Array): T {
  const copy = new (rows.constructor as new (length: number) => T)(indices.length * width);
  indices.forEach((index, i) => {
    copy.set(rows.subarray(index * width, (index + 1) * width), i * width);
  });
  return copy;
}

/** The profiles and seeds of a fork's environments. */
interface Imagined {
  /** f32 [n, 16]. */
  readonly profiles: Float32Array;
  /** u32 [n]. */
  readonly seeds: Uint32Array;
}

/**
 * Validates the imagined profiles of a fork. @returns newly allocated arrays; null for a fork that keeps the hidden profiles.
 * @throws InputError `wrong_type`, `wrong_length`, `bad_profile`, `bad_seed`, `unknown_option`.
 */
function toImagined(
  { world, span }: Core,
  count: number,
  choice: boolean | ImaginedProfiles | undefined,
): Imagined | null {
  if (typeof choice !== 'object' || choice === null) return null;
  const { profiles, seed } = readOptions('imagination', choice, IMAGINED_OPTIONS);
  const seeds = toSeeds(seed, count, 'imagination.seed', span);
  if (profiles === 'prior') return { profiles: priorProfiles(world.params, seeds), seeds };
  if (isFloats(profiles)) return { profiles: toProfiles(world, profiles, count).floats!, seeds };
  throw wrongType(
    'imagination.profiles',
    "'prior' or a Float32Array [indices.length, 16]",
    profiles,
    "Pass 'prior', or profiles such as inference.posteriorSamples(count).",
  );
}

/** Draws profiles like sampled profiles, but on a stream that no real episode uses. */
function priorProfiles(params: Params, seeds: Uint32Array): Float32Array {
  const profiles = new Float32Array(seeds.length * PROFILE_SIZE);
  const stream = (params.streamProfile ^ params.streamImagination) >>> 0;
  seeds.forEach((seed, i) => {
    sampleProfile(params, seed, profiles.subarray(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE), stream);
  });
  return profiles;
}

/** Returns the imagined profiles as the fork's default profiles, which later resets use. */
const toGivenProfiles = ({ profiles }: Imagined): EnvProfiles => ({
  modes: new Uint8Array(profiles.length / PROFILE_SIZE).fill(MODE.given),
  floats: profiles,
});

/**
 * Returns the states of imagined copies, u32 [n, STATE_WORDS], newly allocated. The copies begin at the current step.
 * They keep time, meters, crash count, return, the last belief and the grader. Everything else is replaced, computed again from
 * the observed steps and the new profile, or cleared.
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
function pastOf(
  { world, imagination, replayHistory }: Core,
  state: Uint32Array,
  index: number,
): HistoryStep[] {
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
