/** Reduces many episodes to one action sequence: the most frequent action of each step. */
import { checkLength } from '../shared/values.js';
import { NUM_ACTIONS, NUM_STEPS } from '../world/fields.js';

/**
 * Returns the most frequent action of each step, the lowest code if several are equally frequent.
 * @param actions i8 [n, 28]: action codes of whole episodes, such as a run's `trajectory.actions`; n is at least 1.
 * @returns u8 [28].
 * @throws InputError `wrong_length`.
 */
export function commonActionsOf(actions: ArrayLike<number>): Uint8Array {
  const episodes = Math.max(1, Math.floor(actions.length / NUM_STEPS));
  checkLength('actions', actions.length, episodes * NUM_STEPS, `${episodes} x ${NUM_STEPS}`);
  const counts = new Uint32Array(NUM_STEPS * NUM_ACTIONS);
  for (let i = 0; i < actions.length; i++) counts[(i % NUM_STEPS) * NUM_ACTIONS + actions[i]]++;
  return Uint8Array.from({ length: NUM_STEPS }, (_, step) => {
    const row = counts.subarray(step * NUM_ACTIONS, (step + 1) * NUM_ACTIONS);
    return row.indexOf(Math.max(...row));
  });
}
