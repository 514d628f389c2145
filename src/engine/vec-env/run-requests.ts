/** Validates the policy and the beliefs of a run, and turns a batch's refusal into an error. */

import { InputError, Place, StateError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/suggest.js';
import { describe, isList } from '../../shared/values.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type { Refusal, RunBeliefs, RunPolicy } from '../backends/backend.js';
import { illegalAction } from '../validate/actions.js';
import { type SeedChoice, toSeeds } from '../validate/seeds.js';
import { type Actions, toActions, toBeliefs, toConstantBelief, toGiven } from '../validate/steps.js';

/** A policy that every backend implements, or action sequences: codes, [numEnvs, 28] by the episode's step. */
export type RunChoice = 'random' | 'heuristic' | Actions;

const POLICIES = ['random', 'heuristic'];
/** The shape of action sequences and of the rows of beliefs, for errors. */
const SEQUENCE = `numEnvs x ${NUM_STEPS}`;

/** Returns the policy of a run. @throws InputError `unknown_name`, `unknown_option`, or as `toSeeds` and `toActions`. */
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
      `Expected ${POLICIES.join(', ')} or action sequences as the policy, got ${describe(choice)}.` +
        didYouMean(choice, POLICIES, ' Call evaluate for any other policy, such as the planner.'),
    );
  }
  const length = numEnvs * NUM_STEPS;
  return { kind: 'sequence', actions: toActions(choice, length, SEQUENCE, null) };
}

/**
 * Returns the beliefs of a run. @param beliefs three numbers that hold for all steps, or [numEnvs, 28, 3].
 * @throws InputError as `toConstantBelief`, `toBeliefs` and `toGiven`.
 */
export function toRunBeliefs(beliefs: ArrayLike<number>, numEnvs: number): RunBeliefs {
  if (isList(beliefs) && beliefs.length === NUM_BELIEFS) {
    return { kind: 'constant', belief: toConstantBelief(beliefs) };
  }
  const rows = numEnvs * NUM_STEPS;
  const sequence = toBeliefs(beliefs, rows, SEQUENCE, null);
  return { kind: 'sequence', beliefs: sequence, given: toGiven(sequence, rows, new Uint8Array(rows)) };
}

/** Throws the error for a refusal. Does nothing for null. */
export function throwIfRefused(refusal: Refusal | null): void {
  if (refusal === null) return;
  throw refusal.code === 'illegal_action' ? actionError(refusal) : episodeOverError(refusal);
}

function actionError({ index, step, value }: Refusal): InputError {
  const text = step === undefined ? undefined : `actions of environment ${index}, step ${step}`;
  return illegalAction(new Place('actions', index, text), value);
}

function episodeOverError({ index }: Refusal): StateError {
  return new StateError(
    'episode_over',
    `Expected every episode to have steps left, got environment ${index}, which has taken all ${NUM_STEPS}. ` +
      'No episode was stepped. Call reset first, or leave the environment out with a mask.',
  );
}
