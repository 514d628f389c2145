/** Draws random actions. */
import { checkInteger } from '../../shared/values.js';
import { MAX_ENVS, MAX_U32, NUM_ACTIONS } from '../../world/fields.js';
import { below, type Draw, threefry } from '../reference/threefry.js';

/** The second word of Threefry's key, "ACTS" in ASCII; the first is a seed. */
const STREAM = 0x41435453;
const draw: Draw = { x0: 0, x1: 0 };

/** Returns the action of a seed at an index. */
const actionAt = (seed: number, i: number): number =>
  below(threefry(seed, STREAM, i, 0, draw).x0, NUM_ACTIONS);

/** Returns one random action, a code. @param seed u32. @throws InputError `wrong_type` or `out_of_range`. */
export function sampleActions(seed: number): number;
/** Returns random actions, u8 [n], newly allocated. Action i depends on the seed and i alone. @param n 0 to 2^24. */
export function sampleActions(seed: number, n: number): Uint8Array<ArrayBuffer>;
export function sampleActions(seed: number, n?: number): number | Uint8Array<ArrayBuffer> {
  checkInteger('seed', seed, 0, MAX_U32);
  if (n === undefined) return actionAt(seed, 0);
  return new Uint8Array(checkInteger('n', n, 0, MAX_ENVS)).map((_, i) => actionAt(seed, i));
}
