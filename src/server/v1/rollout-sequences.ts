/** The action sequences and beliefs of a request for rollouts, as a policy. */
import type { RolloutPolicy } from '../../rollouts/groups/group-options.js';
import { describe } from '../../shared/values.js';
import { ACTION_NAMES, NUM_ACTIONS, NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { invalidFieldError } from './batch-schemas.js';
import { allRows, Column } from './column.js';

export interface Sequences {
  readonly action_sequences?: Column;
  /** The belief given at every step. */
  readonly belief?: readonly number[];
  readonly belief_sequences?: Column;
}

/**
 * Returns the policy that plays the sequences of a request. @param turn awaited before each slice of rows.
 * @throws InvalidRequestError.
 */
export async function sequencePolicy(
  { action_sequences: sequences, belief, belief_sequences }: Sequences,
  turn: () => Promise<void>,
): Promise<RolloutPolicy> {
  const codes = await allRows(sequences ?? Column.EMPTY, turn, codesOf);
  const beliefs = belief_sequences && (await allRows(belief_sequences, turn, beliefsOf));
  const constant = belief && Array(NUM_STEPS).fill(belief).flat();
  return ({ steps }) => ({
    // An episode that is over has step 28. Its action is ignored.
    actions: Array.from(steps, (step, i) => codes[i][step] ?? 0),
    beliefs:
      (beliefs ?? constant) &&
      Float32Array.from({ length: steps.length * NUM_BELIEFS }, (_, k) => {
        const i = Math.floor(k / NUM_BELIEFS);
        return (beliefs?.[i] ?? constant!)[steps[i] * NUM_BELIEFS + (k % NUM_BELIEFS)];
      }),
  });
}

/** Parses the beliefs of a rollout: f32 [28, 3], NaN for none. */
function beliefsOf(sequence: unknown, i: number): Float32Array {
  const where = `belief_sequences[${i}]`;
  if (!Array.isArray(sequence) || sequence.length !== NUM_STEPS) {
    const got = describe(sequence);
    throw invalidFieldError(
      'belief_sequences',
      `Expected ${NUM_STEPS} beliefs at ${where}, got ${got}. Send a belief, or null, for each step.`,
    );
  }
  const beliefs = new Float32Array(NUM_STEPS * NUM_BELIEFS).fill(Number.NaN);
  for (const [t, belief] of sequence.entries()) {
    if (belief === null) continue;
    if (!isBelief(belief)) {
      throw invalidFieldError(
        'belief_sequences',
        `Expected ${NUM_BELIEFS} numbers, or null, at ${where}[${t}], got ${describe(belief)}. Send null for no belief.`,
      );
    }
    beliefs.set(belief, t * NUM_BELIEFS);
  }
  return beliefs;
}

const isBelief = (belief: unknown): belief is number[] =>
  Array.isArray(belief) &&
  belief.length === NUM_BELIEFS &&
  belief.every((level) => typeof level === 'number');

/** Parses the actions of a rollout: u8 [28], codes. */
function codesOf(sequence: unknown, i: number): Uint8Array {
  if (!Array.isArray(sequence) || sequence.length !== NUM_STEPS) {
    throw invalidFieldError(
      'action_sequences',
      `Expected ${NUM_STEPS} actions at action_sequences[${i}], got ${describe(sequence)}. Send an action for each step.`,
    );
  }
  return Uint8Array.from(sequence, (action: unknown, t) => {
    const code = typeof action === 'string' ? ACTION_NAMES.indexOf(action) : action;
    if (typeof code === 'number' && code in ACTION_NAMES) return code;
    throw invalidFieldError(
      'action_sequences',
      `Expected an action's name or code at action_sequences[${i}][${t}], got ${describe(action)}. Send a name, or a code from 0 to ${NUM_ACTIONS - 1}.`,
    );
  });
}
