/** Takes one step of all rollouts with the actions of the policy. */

import { checkSeed } from '../../engine/validate/seeds.js';
import { toBeliefs } from '../../engine/validate/steps.js';
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/suggest.js';
import { checkLength, describe, isList, readOptions, wrongType } from '../../shared/values.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type { ActiveRollouts } from './active-rollouts.js';
import type { RolloutActions, RolloutOptions, RolloutPolicy, RolloutView } from './group-options.js';

/** A policy's beliefs and log-probabilities for a step. Null if it returned none. */
export interface PolicyExtras {
  /** f32 [n, 3]: valid for rollouts that still play. */
  readonly beliefs: Float32Array | null;
  /** f32 [n]: NaN if unknown. */
  readonly logProbs: Float32Array | null;
}

/** Takes one step of all rollouts that still play. */
export type GroupStep = (active: ActiveRollouts) => PolicyExtras | Promise<PolicyExtras>;

const NO_EXTRAS: PolicyExtras = Object.freeze({ beliefs: null, logProbs: null });
const POLICIES = ['random', 'heuristic'] as const;
const OUTPUTS: readonly (keyof RolloutActions)[] = ['actions', 'beliefs', 'logProbs'];

/** Returns the step of a policy. @throws InputError `wrong_type`, `unknown_name`, `unknown_option` or `bad_seed`. */
export function toGroupStep({ policy, policySeeds, signal }: RolloutOptions): GroupStep {
  if (policy === 'random') return randomStep(policySeeds);
  if (policySeeds !== undefined) {
    throw new InputError(
      'unknown_option',
      `Expected policySeeds with the random policy only, got them with ${describeShort(policy)}. Leave them out.`,
    );
  }
  if (policy === 'heuristic') return (active) => run(active, policy);
  if (typeof policy === 'function') return callerStep(policy, signal);
  throw new InputError(
    typeof policy === 'string' ? 'unknown_name' : 'wrong_type',
    `Expected policy to be ${POLICIES.map(describe).join(', ')} or a function, got ${describe(policy)}.` +
      (typeof policy === 'string' ? didYouMean(policy, POLICIES) : ' Pass one.'),
  );
}

const describeShort = (policy: unknown): string =>
  typeof policy === 'function' ? 'a function' : describe(policy);

/** Returns the step of the random policy. */
function randomStep(policySeeds: RolloutOptions['policySeeds'] = 'member'): GroupStep {
  const seed = policySeeds === 'member' ? null : checkSeed(policySeeds, 'policySeeds');
  return (active) => {
    const { env, groupSize } = active.start;
    const seeds = Uint32Array.from({ length: env.numEnvs }, (_, i) => seed ?? i % groupSize);
    return run(active, 'random', seeds);
  };
}

/** Takes one step of all rollouts with a built-in policy. */
function run(
  { start, steps }: ActiveRollouts,
  policy: (typeof POLICIES)[number],
  policySeeds?: Uint32Array,
): PolicyExtras {
  start.env.run(policy, { stops: steps.map((count) => Math.min(count + 1, NUM_STEPS)), policySeeds });
  return NO_EXTRAS;
}

/** Returns the step of a policy function. */
function callerStep(policy: RolloutPolicy, signal: AbortSignal | undefined): GroupStep {
  return async (active) => {
    const { env } = active.start;
    const output = await unlessAborted(policy(viewOf(active)), signal);
    const { actions, beliefs, logProbs } = readOptions("a policy's output", output, OUTPUTS);
    const extras = {
      beliefs: beliefs === undefined ? null : copyBeliefs(beliefs, active),
      logProbs: logProbs === undefined ? null : toLogProbs(logProbs, active),
    };
    env.step(actions, { beliefs: extras.beliefs ?? undefined, mask: active.mask });
    return extras;
  };
}

/** Returns the input of a policy. */
function viewOf({ start, steps, mask }: ActiveRollouts): RolloutView {
  const { env, groups, groupSize, outputs } = start;
  return Object.freeze({
    ...{ groups, groupSize, observations: outputs.observations },
    steps: steps.slice(),
    playing: mask.slice(),
    history: (i: number, last?: number) => env.history(i, last),
  });
}

/** Returns a policy's output, or rejects as soon as the signal aborts. Later outputs are ignored. */
async function unlessAborted<T>(output: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return output;
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([output, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Validates and copies beliefs: the policy may reuse its array. */
function copyBeliefs(beliefs: ArrayLike<number>, { mask }: ActiveRollouts): Float32Array {
  const copy = new Float32Array(mask.length * NUM_BELIEFS);
  const floats = toBeliefs(beliefs, mask.length, 'rollouts', copy, mask);
  if (floats !== copy) copy.set(floats);
  return copy;
}

/** Validates and copies log-probabilities. @throws InputError `wrong_type`, `wrong_length` or `out_of_range`. */
function toLogProbs(logProbs: ArrayLike<number>, { mask }: ActiveRollouts): Float32Array {
  if (!isList(logProbs)) {
    throw wrongType('logProbs', 'an array', logProbs, 'Pass one number per rollout.');
  }
  checkLength('logProbs', logProbs.length, mask.length, 'rollouts');
  return Float32Array.from({ length: mask.length }, (_, i) =>
    mask[i] === 0 ? Number.NaN : checkLogProb(logProbs[i], i),
  );
}

function checkLogProb(value: unknown, i: number): number {
  if (typeof value === 'number' && Math.abs(Math.fround(value)) !== Number.POSITIVE_INFINITY) return value;
  throw new InputError(
    typeof value === 'number' ? 'out_of_range' : 'wrong_type',
    `Expected a finite number at logProbs[${i}], got ${describe(value)}. Pass NaN if it is unknown.`,
  );
}
