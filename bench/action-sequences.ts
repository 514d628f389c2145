/** Generates the action sequences of the benchmark. */
import { below, threefry } from '../dist/engine/reference/threefry.js';
import { NUM_ACTIONS, NUM_STEPS } from '../dist/world/fields.js';

/** The second word of the generator's key. It differs from all streams of the world. */
const SEQUENCE_STREAM = 1;
/** The number of different sequences, chosen by hand. Drawing a million would take longer than playing them. */
export const SEQUENCE_ROWS = 4096;

let drawn = new Uint8Array(0);

/** Returns uniformly random actions, u8 [count], the same in every call. Do not change them. */
export function randomActions(count: number): Uint8Array {
  if (drawn.length < count) {
    const draw = { x0: 0, x1: 0 };
    drawn = Uint8Array.from({ length: count }, (_, i) =>
      below(threefry(i, SEQUENCE_STREAM, 0, 0, draw).x0, NUM_ACTIONS),
    );
  }
  return drawn.subarray(0, count);
}

/** Returns uniformly random actions, u8 [episodes, 28]. Rows repeat after SEQUENCE_ROWS. */
export function sequenceOf(episodes: number): Uint8Array {
  const cached = randomActions(SEQUENCE_ROWS * NUM_STEPS);
  const sequence = new Uint8Array(episodes * NUM_STEPS);
  for (let offset = 0; offset < sequence.length; offset += cached.length) {
    sequence.set(cached.subarray(0, Math.min(cached.length, sequence.length - offset)), offset);
  }
  return sequence;
}

/** Transposes u8 [episodes, 28] to u8 [28, episodes]. */
export function stepsOf(sequence: Uint8Array): Uint8Array {
  const episodes = sequence.length / NUM_STEPS;
  const steps = new Uint8Array(sequence.length);
  for (let i = 0; i < episodes; i++) {
    for (let t = 0; t < NUM_STEPS; t++) steps[t * episodes + i] = sequence[i * NUM_STEPS + t];
  }
  return steps;
}

/** Returns the rows of u8 [28, episodes], as views. */
export function rowsOf(steps: Uint8Array): Uint8Array[] {
  const episodes = steps.length / NUM_STEPS;
  return Array.from({ length: NUM_STEPS }, (_, t) => steps.subarray(t * episodes, (t + 1) * episodes));
}
