/** Takes one step of all rollouts with the actions of their policy. */

import { checkSeed } from '../../engine/validate/seeds.js';
import { toBeliefs } from '../../engine/validate/steps.js';
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/suggest.js';
import { checkLength, describe, isList, readOptions, wrongType } from '../../shared/values.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type { ActiveRollouts } from './active-rollouts.js';
import type { RolloutActions, RolloutOptions, RolloutPolicy, RolloutView } from './group-options.js';

/** A policy's output besides its actions, per rollout. Validated for rollouts that still play. */
export interface PolicyAnswer {
  /** f32 [n, 3]. */
  readonly beliefs: Float32Array | null;
  /** f32 [n]. */
  readonly logProbs: Float32Array | null;
}

/** Takes one step of all rollouts that still play. */
export type GroupStep = (playing: ActiveRollouts) => PolicyAnswer | Promise<PolicyAnswer>;

const NOTHING: PolicyAnswer = Object.freeze({ beliefs: null, logProbs: null });
const POLICIES = ['random', 'heuristic'] as const;
const ANSWER: readonly (keyof RolloutActions)[] = ['actions', 'beliefs', 'logProbs'];

/** @throws InputError `wrong_type`, `unknown_name`, `unknown_option` or `bad_seed`. */
export function toGroupStep({ policy, policySeeds, signal }: RolloutOptions): GroupStep {
  if (policy === 'random') return randomTurn(policySeeds);
  if (policySeeds !== undefined) {
    throw new InputError(
      'unknown_option',
      `Expected policySeeds with the random policy only, got them with ${describeShort(policy)}. Leave them out.`,
    );
  }
  if (policy === 'heuristic') return (playing) => run(playing, policy);
  if (typeof policy === 'function') return askingTurn(policy, signal);
  throw new InputError(
    typeof policy === 'string' ? 'unknown_name' : 'wrong_type',
    `Expected policy to be ${POLICIES.map(describe).join(', ')} or a function, got ${describe(policy)}.` +
      (typeof policy === 'string' ? didYouMean(policy, POLICIES) : ' Pass one.'),
  );
}

const describeShort = (policy: unknown): string =>
  typeof policy === 'function' ? 'a function' : describe(policy);

function randomTurn(policySeeds: RolloutOptions['policySeeds'] = 'member'): GroupStep {
  const seed = policySeeds === 'member' ? null : checkSeed(policySeeds, 'policySeeds');
  return (playing) => {
    const { env, groupSize } = playing.started;
    const seeds = Uint32Array.from({ length: env.numEnvs }, (_, i) => seed ?? i % groupSize);
    return run(playing, 'random', seeds);
  };
}

function run(
  { started, steps }: ActiveRollouts,
  policy: (typeof POLICIES)[number],
  policySeeds?: Uint32Array,
): PolicyAnswer {
  started.env.run(policy, { stops: steps.map((taken) => Math.min(taken + 1, NUM_STEPS)), policySeeds });
  return NOTHING;
}

function askingTurn(policy: RolloutPolicy, signal: AbortSignal | undefined): GroupStep {
  return async (playing) => {
    const { env } = playing.started;
    const answer = await unlessAborted(policy(viewOf(playing)), signal);
    const { actions, beliefs, logProbs } = readOptions("a policy's answer", answer, ANSWER);
    const said = {
      beliefs: beliefs === undefined ? null : ownBeliefs(beliefs, playing),
      logProbs: logProbs === undefined ? null : toLogProbs(logProbs, playing),
    };
    env.step(actions, { beliefs: said.beliefs ?? undefined, mask: playing.mask });
    return said;
  };
}

function viewOf({ started, steps, mask }: ActiveRollouts): RolloutView {
  const { env, groups, groupSize, shown } = started;
  return Object.freeze({
    ...{ groups, groupSize, observations: shown.observations },
    steps: steps.slice(),
    playing: mask.slice(),
    history: (i: number, last?: number) => env.history(i, last),
  });
}

/** Waits for a policy until the signal aborts. A result after that is ignored. */
async function unlessAborted<T>(answer: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Copies beliefs, so that the recorded ones are those of the step. */
function ownBeliefs(beliefs: ArrayLike<number>, { mask }: ActiveRollouts): Float32Array {
  const copy = new Float32Array(mask.length * NUM_BELIEFS);
  const floats = toBeliefs(beliefs, mask.length, 'rollouts', copy, mask);
  if (floats !== copy) copy.set(floats);
  return copy;
}

/** @throws InputError `wrong_type`, `wrong_length` or `out_of_range`. */
function toLogProbs(logProbs: ArrayLike<number>, { mask }: ActiveRollouts): Float32Array {
  if (!isList(logProbs)) {
    throw wrongType('logProbs', 'an array', logProbs, 'Pass a number for each rollout.');
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
    `Expected a finite number at logProbs[${i}], got ${describe(value)}. Pass NaN where it is not known.`,
  );
}
