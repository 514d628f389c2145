/** What a run is to do, as the seam takes it, and what a batch's refusal means to the caller. */
import type { Refusal, RunBeliefs, RunPolicy } from '../backends/backend.js';
import { InputError, StateError } from '../errors.js';
import { didYouMean } from '../suggest.js';
import { illegalAction } from '../validate/actions.js';
import { type SeedChoice, toSeeds } from '../validate/seeds.js';
import { type Actions, toActions, toBeliefs, toConstantBelief, toGiven } from '../validate/steps.js';
import { checkLength, describe, isList, lengthOf } from '../validate/values.js';
import { NUM_BELIEFS, NUM_STEPS } from '../world/fields.js';

/** A policy that every backend runs by itself, or a tape of action codes, u8 [numEnvs, 28] by absolute step. */
export type RunChoice = 'random' | 'heuristic' | Actions;

const POLICIES = ['random', 'heuristic'];
const TAPE = `numEnvs x ${NUM_STEPS}`;

/** @throws InputError `unknown_name`, `unknown_option`, or what is wrong with the seeds or the tape. */
export function toRunPolicy(
  choice: RunChoice,
  policySeeds: SeedChoice | undefined,
  numEnvs: number,
): RunPolicy {
  if (choice === 'random') {
    const seeds = policySeeds === undefined ? null : toSeeds(policySeeds, numEnvs, 'policySeeds');
    return { kind: 'random', policySeeds: seeds };
  }
  if (policySeeds !== undefined) {
    throw new InputError(
      'unknown_option',
      `Expected policySeeds with the random policy only, got them with ${describe(choice)}. Leave them out.`,
    );
  }
  if (choice === 'heuristic') return { kind: 'heuristic' };
  if (typeof choice === 'string') {
    throw new InputError(
      'unknown_name',
      `Expected a policy among ${POLICIES.join(', ')} or a tape of actions, got ${describe(choice)}.` +
        didYouMean(choice, POLICIES),
    );
  }
  const length = numEnvs * NUM_STEPS;
  return { kind: 'tape', actions: toActions(choice, length, TAPE, null) };
}

/** Whether a tape still has its memory. @throws InputError `wrong_length`. */
export function checkTape(actions: Uint8Array, numEnvs: number): void {
  checkLength('actions', lengthOf(actions), numEnvs * NUM_STEPS, TAPE);
}

/** Three numbers are one belief for every step, more a tape of them. @throws InputError as for a step's beliefs. */
export function toRunBeliefs(beliefs: ArrayLike<number>, numEnvs: number): RunBeliefs {
  if (isList(beliefs) && lengthOf(beliefs) === NUM_BELIEFS) {
    return { kind: 'constant', belief: toConstantBelief(beliefs) };
  }
  const rows = numEnvs * NUM_STEPS;
  const tape = toBeliefs(beliefs, rows, TAPE, null);
  return { kind: 'tape', beliefs: tape, given: toGiven(tape, rows, new Uint8Array(rows)) };
}

/** Throws what a refusal means; null means that nothing was refused. */
export function heed(refusal: Refusal | null): void {
  if (refusal === null) return;
  throw refusal.code === 'illegal_action' ? illegal(refusal) : over(refusal);
}

function illegal({ index, step, value }: Refusal): InputError {
  return illegalAction(
    step === undefined ? `actions[${index}]` : `actions of slot ${index}, step ${step}`,
    value,
  );
}

function over({ index }: Refusal): StateError {
  return new StateError(
    'episode_over',
    `Expected every episode to have steps left, got slot ${index}, which has taken all ${NUM_STEPS}. ` +
      'No episode was stepped. Call reset first, or leave the slot out by a mask.',
  );
}
