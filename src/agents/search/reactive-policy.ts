/** Reactive policies: policies without memory that compute the action from the step and, linearly, from the current meters. */
import { NUM_ACTIONS, NUM_METERS, NUM_SLOTS, NUM_STEPS } from '../../world/fields.js';

/** The number of preferences: one for each action at each step. */
const PREFERENCES = NUM_STEPS * NUM_ACTIONS;
/** The number of parameters, 480: preferences [28 steps, 10 actions], then weights [4 slots, 10 actions, 5 meters]. */
export const REACTIVE_PARAMETERS = PREFERENCES + NUM_SLOTS * NUM_ACTIONS * NUM_METERS;
/**
 * The initial value of all meters in the published world (numbers.ts). A policy reacts to the difference between a meter and
 * this value.
 */
const CENTRE = 0.7;

/** Returns whether a parameter is a weight of a meter; otherwise it is a preference. */
export const isMeterWeight = (parameter: number): boolean => parameter >= PREFERENCES;

/** Returns the parameters of the policy that plays an action sequence and ignores the meters, f64 [480]. */
export function parametersOf(sequence: Uint8Array): Float64Array {
  const parameters = new Float64Array(REACTIVE_PARAMETERS);
  sequence.forEach((action, step) => {
    parameters[step * NUM_ACTIONS + action] = 1;
  });
  return parameters;
}

/**
 * Returns the action with the highest value: its preference at this step, plus its weights for this slot times the meters'
 * differences from CENTRE. Of actions with equal values, returns the first. The five products are written out for speed.
 * @param first index of the first parameter. @param at index of the first of five meters.
 */
export function reactiveAction(
  parameters: Float64Array,
  first: number,
  step: number,
  observations: Float32Array,
  at: number,
): number {
  const vitality = observations[at] - CENTRE;
  const cognition = observations[at + 1] - CENTRE;
  const progress = observations[at + 2] - CENTRE;
  const serenity = observations[at + 3] - CENTRE;
  const connection = observations[at + 4] - CENTRE;
  const preferences = first + step * NUM_ACTIONS;
  let weight = first + PREFERENCES + (step % NUM_SLOTS) * NUM_ACTIONS * NUM_METERS;
  let best = 0;
  let highest = -Infinity;
  for (let action = 0; action < NUM_ACTIONS; action++, weight += NUM_METERS) {
    const value =
      parameters[preferences + action] +
      parameters[weight] * vitality +
      parameters[weight + 1] * cognition +
      parameters[weight + 2] * progress +
      parameters[weight + 3] * serenity +
      parameters[weight + 4] * connection;
    if (value <= highest) continue;
    highest = value;
    best = action;
  }
  return best;
}
