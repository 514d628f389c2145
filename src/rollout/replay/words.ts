/** Histories as words of four codes each: what reads them looks at four at a time. */
import { areFaulty, faultsOfFour } from '../../validate/actions.js';
import { NUM_STEPS } from '../../world/fields.js';

/** Words that a row's history has. */
const TAPE_WORDS = NUM_STEPS / 4;

/** What of word `k` of a history of `steps` codes is part of it. */
const maskOf = (steps: number, k: number): number => MASKS[steps * TAPE_WORDS + k];

const MASKS = Int32Array.from({ length: NUM_STEPS * TAPE_WORDS }, (_, at) => {
  const codes = Math.floor(at / TAPE_WORDS) - 4 * (at % TAPE_WORDS);
  if (codes >= 4) return -1;
  return codes <= 0 ? 0 : (1 << (8 * codes)) - 1;
});

/** @param histories u8 [n, 28]. @returns i32 [n, 7]: a view, or a copy where they lie across words. */
export function wordsOf(histories: Uint8Array): Int32Array {
  const aligned = histories.byteOffset % 4 === 0 ? histories : histories.slice();
  return new Int32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2);
}

/** Whether all codes of a row's history are actions. */
export function areActions(words: Int32Array, row: number, steps: number): boolean {
  let wrong = 0;
  // All of them: a loop that ends sooner is mispredicted more than it saves.
  for (let k = 0; k < TAPE_WORDS; k++) {
    wrong |= faultsOfFour(words[row * TAPE_WORDS + k] & maskOf(steps, k));
  }
  return !areFaulty(wrong);
}
