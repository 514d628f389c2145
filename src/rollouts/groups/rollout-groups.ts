/** Plays groups of rollouts step by step. All rollouts of a group begin in the same state. */
import type { Platform } from '../../engine/backends/open-batch.js';
import { runAsync, yieldTurn } from '../../engine/engine-calls.js';
import { type Grader, type GraderLike, toGrader } from '../../engine/graders/grader.js';
import { type CheckedPlayer, isPolicy, openChecked, type PolicyLike } from '../../engine/policy/policy.js';
import { checkSeed } from '../../engine/validate/seeds.js';
import { checkLongCall } from '../../engine/vec-env/runs.js';
import { VecEnv } from '../../engine/vec-env/vec-env.js';
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import { checkLength, describe, isList, readOptions, wrongType } from '../../shared/values.js';
import { NUM_COMPONENTS, NUM_STEPS } from '../../world/fields.js';
import { toDiscount } from '../advantages/step-advantages.js';
import {
  ActiveRollouts,
  GroupRecorder,
  type PolicyExtras,
  type RolloutGroups,
  RolloutHistories,
} from './group-recorder.js';
import {
  type GroupStart,
  OPTIONS,
  type RolloutOptions,
  type RolloutView,
  startGroups,
} from './group-start.js';

/** An object that returns the past steps of each rollout. */
type Past = Pick<VecEnv, 'history'>;

/** Takes one step of all rollouts that still play. */
type GroupStep = (active: ActiveRollouts) => PolicyExtras | Promise<PolicyExtras>;

const NO_EXTRAS: PolicyExtras = Object.freeze({ beliefs: null, logProbs: null });
const POLICIES = ['random', 'heuristic'] as const;

/**
 * Returns the step function of the options' policy.
 * @throws InputError `wrong_type`, `unknown_name`, `unknown_option` or `bad_seed`.
 */
function toGroupStep(options: RolloutOptions): GroupStep {
  const { policy, policySeeds } = options;
  if (policy === 'random') return randomStep(policySeeds);
  if (policySeeds !== undefined) {
    throw new InputError('unknown_option', {
      expected: 'policySeeds with the random policy only',
      got: `them with ${describeShort(policy)}`,
      remedy: 'Leave them out.',
    });
  }
  if (policy === 'heuristic') return (active) => runStep(active, policy);
  if (isPolicy(policy)) return policyStep(policy, options);
  throw new InputError(
    typeof policy === 'string' ? 'unknown_name' : 'wrong_type',
    `Expected policy to be ${POLICIES.map(describe).join(', ')}, a policy or a function, got ${describe(policy)}.` +
      (typeof policy === 'string' ? didYouMean(policy, POLICIES) : ' Pass a name, a policy or a function.'),
  );
}

const describeShort = (policy: unknown): string =>
  typeof policy === 'function' ? 'a function' : describe(policy);

/** Returns the step function of the random policy. With 'member' a rollout's seed is its index within its group. */
function randomStep(policySeeds: RolloutOptions['policySeeds'] = 'member'): GroupStep {
  const seed = policySeeds === 'member' ? null : checkSeed(policySeeds, 'policySeeds');
  return (active) => {
    const { env, groupSize } = active.start;
    const seeds = Uint32Array.from({ length: env.numEnvs }, (_, i) => seed ?? i % groupSize);
    return runStep(active, 'random', seeds);
  };
}

/** Takes one step with a built-in policy. */
async function runStep(
  { start, steps }: ActiveRollouts,
  policy: (typeof POLICIES)[number],
  policySeeds?: Uint32Array,
): Promise<PolicyExtras> {
  await start.env.run(policy, { stops: steps.map((count) => Math.min(count + 1, NUM_STEPS)), policySeeds });
  return NO_EXTRAS;
}

/** Returns the step function of a user's policy. It opens the policy at the first step. */
function policyStep(policy: PolicyLike, options: RolloutOptions): GroupStep {
  let player: CheckedPlayer | null = null;
  let past: Past | null = null;
  return async (active) => {
    const { env } = active.start;
    player ??= await openPlayer(policy, active.start, options);
    past ??= env instanceof VecEnv ? env : await RolloutHistories.open(env);
    const { actions, beliefs, logProbs } = await player.act(viewOf(active, past));
    const extras = { beliefs, logProbs: logProbs === null ? null : toLogProbs(logProbs, active) };
    if (past instanceof RolloutHistories) past.add(actions, beliefs, active.mask);
    await env.step(actions, { beliefs: beliefs ?? undefined, mask: active.mask });
    return extras;
  };
}

/** Opens a policy for all rollouts. Each rollout's index within its group determines the seed of its random draws. */
async function openPlayer(
  policy: PolicyLike,
  { env, groupSize }: GroupStart,
  options: RolloutOptions,
): Promise<CheckedPlayer> {
  const { numEnvs, backend, kernel, threads, world } = env;
  const name = (typeof policy === 'function' && policy.name) || 'policy';
  const setting = { numEnvs, world, backend, kernel, threads, grader: graderOf(options) };
  const player = await openChecked(name, policy, setting, options.signal);
  await player.reset?.({
    mask: new Uint8Array(numEnvs).fill(1),
    seeds: Uint32Array.from({ length: numEnvs }, (_, i) => i % groupSize),
    profiles: refuseProfiles,
  });
  return player;
}

/** Returns the grader of all rollouts. Returns null for one grader per group, and with `from`. */
function graderOf({ from, grader = 'v2' }: RolloutOptions): Grader | null {
  const isOneGrader = !isList(grader) || (grader.length <= NUM_COMPONENTS && isNumbers(grader));
  return from === undefined && isOneGrader ? toGrader(grader as GraderLike) : null;
}

/** Returns whether a list contains weights (of one grader, or of one per group), not names. Its first entry shows which. */
const isNumbers = (values: ArrayLike<unknown>): boolean => typeof values[0] === 'number';

function refuseProfiles(): never {
  throw new InputError('unknown_option', {
    expected: 'a policy that does not call profiles(), because rolloutGroups passes no hidden profiles',
    got: 'a call',
    remedy: 'Pass another policy.',
  });
}

/** Returns the input of a policy. */
function viewOf({ start, steps, mask }: ActiveRollouts, past: Past): RolloutView {
  const { groups, groupSize, outputs } = start;
  return Object.freeze({
    ...{ groups, groupSize, observations: outputs.observations },
    steps: steps.slice(),
    playing: mask.slice(),
    history: (i: number, last?: number) => past.history(i, last),
  });
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
  throw new InputError(typeof value === 'number' ? 'out_of_range' : 'wrong_type', {
    expected: `a finite float32 at logProbs[${i}]`,
    got: describe(value),
    remedy: 'Pass NaN if it is unknown.',
  });
}

/** Runs `rolloutGroups` on the backends of a platform. */
export async function rolloutGroupsOn(platform: Platform, options: RolloutOptions): Promise<RolloutGroups> {
  const checked = readOptions('rollout options', options, OPTIONS);
  checkLongCall(checked);
  const gamma = toDiscount('gamma', checked.gamma);
  const step = toGroupStep(checked);
  checked.signal?.throwIfAborted();
  const start = await runAsync(startGroups(platform, checked));
  try {
    return await play(start, step, gamma, checked);
  } finally {
    await start.env.close();
  }
}

/** Plays all rollouts to the end of their episodes and records them. */
async function play(
  start: GroupStart,
  step: GroupStep,
  gamma: number,
  { onProgress, signal }: RolloutOptions,
): Promise<RolloutGroups> {
  // Lets signals and timers run, also between the parts of a step, which take long with many rollouts.
  const pause = async (): Promise<void> => {
    await yieldTurn();
    signal?.throwIfAborted();
  };
  const active = new ActiveRollouts(start);
  await pause();
  const recorder = new GroupRecorder(active);
  while (active.stepsLeft > 0) {
    await pause();
    await recorder.recordBefore();
    await pause();
    recorder.recordAfter(await step(active));
    active.advance();
    onProgress?.(active.totalSteps - active.stepsLeft, active.totalSteps);
  }
  await pause();
  return recorder.finish(gamma);
}
