/** Rows as a trainer sends them to /v1/score, as JSON or as binary frames. */
import { ACTION_NAMES, parseCompletion, type ReplayRow, scoreReplay } from '../../dist/index.js';
import { encodeFrame, type Shaped } from '../../dist/server/vec/frame.js';
import { NUM_STEPS } from '../../dist/world/fields.js';

/** Returns a pseudo-random integer below `n` for the index k, by multiplicative hashing. */
const pseudoRandom = (k: number, n: number): number => (Math.imul(k + 1, 0x9e3779b1) >>> 8) % n;

/** Returns `count` rows as columns: training seeds, histories of all lengths, completions of about 140 characters. */
export function columnsOf(count: number) {
  const seeds = Array.from({ length: count }, (_, i) => 100 + pseudoRandom(i, 9900));
  const names = (i: number, length: number) =>
    Array.from({ length }, (_, t) => ACTION_NAMES[pseudoRandom(i * 28 + t, ACTION_NAMES.length)]);
  const reasoning =
    'Socializing in the evening cost vitality, so company is not what this person lives for; rest comes first.';
  const answer = (i: number) =>
    `${pseudoRandom(i, 10)} ${pseudoRandom(i + 1, 10)} ${pseudoRandom(i + 2, 10)} ${ACTION_NAMES[pseudoRandom(i + 3, ACTION_NAMES.length)].toUpperCase()}`;
  return {
    seeds,
    action_histories: seeds.map((_, i) => names(i, pseudoRandom(i + 5, 28))),
    completions: seeds.map((_, i) => `<reasoning>${reasoning}</reasoning>\n${answer(i)}`),
  };
}
export type Columns = ReturnType<typeof columnsOf>;

/** Returns the totals that the server should return: those of `scoreReplay`, f32 [n]. */
export function totalsOf({ seeds, action_histories, completions }: Columns): Float32Array {
  const rows = seeds.map((seed, i): ReplayRow => {
    const { action, belief, given } = parseCompletion(completions[i]);
    return { seed, actionHistory: action_histories[i], action, belief: given ? belief : null };
  });
  return scoreReplay(rows).rewards.total;
}

const CODES = new Map<string, number>(ACTION_NAMES.map((name, code) => [name, code]));

/** Returns the states of the rows as arrays of a frame. */
function statesOf({ seeds, action_histories }: Columns): Shaped[] {
  const n = seeds.length;
  const histories = new Uint8Array(n * NUM_STEPS);
  for (const [i, history] of action_histories.entries())
    histories.set(
      history.map((name) => CODES.get(name)!),
      i * NUM_STEPS,
    );
  const steps = Uint8Array.from(action_histories, ({ length }) => length);
  return [
    { name: 'seeds', values: Uint32Array.from(seeds), shape: [n] },
    { name: 'step_indices', values: steps, shape: [n] },
    { name: 'histories', values: histories, shape: [n, NUM_STEPS] },
  ];
}

/** Returns the rows as a frame with the texts of the completions. */
export function textFrame(columns: Columns): Buffer {
  const texts = columns.completions.map((text) => Buffer.from(text));
  let end = 0;
  const ends = Uint32Array.from(texts, ({ length }) => {
    end += length;
    return end;
  });
  const arrays: Shaped[] = [
    ...statesOf(columns),
    { name: 'completions', values: new Uint8Array(Buffer.concat(texts)), shape: [end] },
    { name: 'completion_ends', values: ends, shape: [ends.length] },
  ];
  return Buffer.from(encodeFrame('score', {}, arrays));
}

/** Returns the rows as a frame with the parsed actions and beliefs. */
export function actionFrame(columns: Columns): Buffer {
  const n = columns.seeds.length;
  const parsed = columns.completions.map((text) => parseCompletion(text));
  const beliefs = Float32Array.from(
    parsed.flatMap(({ given, belief }) => (given ? belief : Array(3).fill(Number.NaN))),
  );
  const arrays: Shaped[] = [
    ...statesOf(columns),
    { name: 'actions', values: Int8Array.from(parsed, ({ action }) => action ?? -1), shape: [n] },
    { name: 'beliefs', values: beliefs, shape: [n, 3] },
  ];
  return Buffer.from(encodeFrame('score', {}, arrays));
}
