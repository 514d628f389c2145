/** The planner's belief state: the posterior over profiles; for comparison, the prior or the true profiles. */

import { beliefTarget, sampleProfile } from '../../engine/reference/profile.js';
import { type Draw, threefry } from '../../engine/reference/threefry.js';
import { InputError } from '../../shared/errors.js';
import { NUM_BELIEFS, PROFILE_SIZE } from '../../world/fields.js';
import { checkProfile } from '../../world/resolve-names.js';
import type { World } from '../../world/world.js';
import { Inference } from '../inference/inference.js';
import type { InferenceReport } from '../inference/inference-report.js';
import { type BeliefError, errorCountedBy } from '../inference/samples.js';
import type { PlannerRequest } from './planner-options.js';

/** The belief state of n episodes. */
export interface BeliefState {
  /** Updates with observations f32 [n, 22]. @param playing u8 [n]: rows where it is 0 are ignored. */
  observe(observations: Float32Array, playing: Uint8Array): void;
  /** Returns the belief to state, f32 [n, 3]. */
  beliefs(): Float32Array;
  /** Returns equally likely profiles, f32 [n, count, 16]. */
  posteriorSamples(count: number): Float32Array;
  /**
   * Returns the expected reduction of the stated belief's error by each action, f32 [n, 10]. Absent for a state that
   * observations do not change.
   */
  probeValues?(): Float32Array;
  /** Explains the belief about the profile of episode i: the inference's report, or a sentence if nothing is inferred. */
  explain(i: number): InferenceReport | string;
}

/** The stream of the prior's draws: "PEOP" in ASCII. No stream of docs/world.md has this number. */
const STREAM = 0x50454f50;
/** The constant belief: the middle of each range. */
const MIDDLE = 0.5;

/**
 * Returns the belief state of a planner's request.
 * @throws InputError `wrong_length` or `bad_profile` for the oracle's profiles.
 */
export function openBeliefState(
  request: Pick<PlannerRequest, 'numEnvs' | 'world' | 'inference' | 'oracle' | 'seed' | 'grader'>,
): BeliefState {
  const { numEnvs, world, inference, oracle, seed, grader } = request;
  if (oracle !== null) return oracleState(numEnvs, world, oracle);
  return inference
    ? inferredState(numEnvs, world, errorCountedBy(grader), seed)
    : priorState(numEnvs, world, seed);
}

/** Returns the posterior given the observations. @param error the error that the beliefs minimise. @param seed u32. */
function inferredState(numEnvs: number, world: World, error: BeliefError, seed: number): BeliefState {
  const inference = new Inference(world, numEnvs, { seed });
  return {
    observe: (observations, playing) => inference.observe(observations, playing),
    beliefs: () => inference.beliefs(error),
    posteriorSamples: (count) => inference.posteriorSamples(count),
    probeValues: () => inference.probeValues(error),
    explain: (i) => inference.explain(i),
  };
}

/** Returns the prior, which no observation changes. */
export function priorState(numEnvs: number, { params }: World, seed: number): BeliefState {
  return {
    observe() {},
    beliefs: () => new Float32Array(numEnvs * NUM_BELIEFS).fill(MIDDLE),
    posteriorSamples(count) {
      const row = count * PROFILE_SIZE;
      const profiles = new Float32Array(numEnvs * row);
      const draw: Draw = { x0: 0, x1: 0 };
      for (let k = 0; k < count; k++) {
        const { x0 } = threefry(seed, STREAM, k, 0, draw);
        sampleProfile(params, x0, profiles.subarray(k * PROFILE_SIZE, (k + 1) * PROFILE_SIZE));
      }
      for (let i = 1; i < numEnvs; i++) profiles.copyWithin(i * row, 0, row);
      return profiles;
    },
    explain: () => 'Nothing is inferred about this person, who might be anybody.',
  };
}

/** Returns the state of an oracle, which has the true profiles. @param oracle f32 [numEnvs, 16]. */
function oracleState(numEnvs: number, { params }: World, oracle: Float32Array): BeliefState {
  if (oracle.length !== numEnvs * PROFILE_SIZE) {
    throw new InputError('wrong_length', {
      expected: `${numEnvs * PROFILE_SIZE} floats in the oracle's profiles (${numEnvs} x ${PROFILE_SIZE})`,
      got: `${oracle.length}`,
      remedy: 'Pass 16 floats for each environment.',
    });
  }
  const targets = new Float32Array(numEnvs * NUM_BELIEFS);
  const profiles = Array.from({ length: numEnvs }, (_, i) => {
    const profile = oracle.slice(i * PROFILE_SIZE, (i + 1) * PROFILE_SIZE);
    profile.set(checkProfile(profile, `oracle, profile ${i}`));
    beliefTarget(params, profile, targets.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS));
    return profile;
  });
  return {
    observe() {},
    beliefs: () => targets.slice(),
    posteriorSamples(count) {
      const samples = new Float32Array(numEnvs * count * PROFILE_SIZE);
      profiles.forEach((profile, i) => {
        for (let k = 0; k < count; k++) samples.set(profile, (i * count + k) * PROFILE_SIZE);
      });
      return samples;
    },
    explain: () => 'Nothing is inferred about this person, whose true profile is given.',
  };
}
