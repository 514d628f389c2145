/** Tapes of actions to play. */
import { below, threefry } from '../dist/reference/threefry.js';
import { NUM_ACTIONS, NUM_STEPS } from '../dist/world/fields.js';

/** A key of its own, so that tapes are no stream of the world. */
const TAPE_STREAM = 1;
/** Rows after which a tape repeats itself: a million drawn ones would take longer than to play them. */
export const TAPE_ROWS = 4096;

let drawn: Uint8Array | undefined;

function drawTape(): Uint8Array {
  const draw = { x0: 0, x1: 0 };
  return Uint8Array.from({ length: TAPE_ROWS * NUM_STEPS }, (_, i) =>
    below(threefry(i, TAPE_STREAM, 0, 0, draw).x0, NUM_ACTIONS),
  );
}

/** u8 [episodes, 28] of uniform actions; row i is row i modulo TAPE_ROWS. */
export function tapeOf(episodes: number): Uint8Array {
  drawn ??= drawTape();
  const tape = new Uint8Array(episodes * NUM_STEPS);
  for (let at = 0; at < tape.length; at += drawn.length) {
    tape.set(drawn.subarray(0, Math.min(drawn.length, tape.length - at)), at);
  }
  return tape;
}

/** The same by step: u8 [28, episodes]. */
export function stepsOf(tape: Uint8Array): Uint8Array {
  const episodes = tape.length / NUM_STEPS;
  const steps = new Uint8Array(tape.length);
  for (let i = 0; i < episodes; i++) {
    for (let t = 0; t < NUM_STEPS; t++) steps[t * episodes + i] = tape[i * NUM_STEPS + t];
  }
  return steps;
}

/** The rows of [28, episodes], as views. */
export function rowsOf(steps: Uint8Array): Uint8Array[] {
  const episodes = steps.length / NUM_STEPS;
  return Array.from({ length: NUM_STEPS }, (_, t) => steps.subarray(t * episodes, (t + 1) * episodes));
}
