/** Rows for replay scoring: typed arrays, objects with names, completions, and bodies of requests to /v1/score. */
import { ACTION_NAMES, type ReplayRow } from '../dist/index.js';
import { encodeFrame, type Shaped } from '../dist/server/vec/frame.js';
import { NUM_ACTIONS, NUM_STEPS } from '../dist/world/fields.js';

/** Returns a pseudo-random integer below `n` for the index k, by multiplicative hashing. It is the same in every run. */
const pseudoRandom = (k: number, n: number): number => (Math.imul(k + 1, 0x9e3779b1) >>> 8) % n;

/** Returns rows with distinct seeds and histories of 0 to 27 actions. */
export function columnsOf(rows: number) {
  return {
    seeds: Uint32Array.from({ length: rows }, (_, i) => 100 + i),
    stepIndices: Uint8Array.from({ length: rows }, (_, i) => pseudoRandom(i, NUM_STEPS)),
    histories: Uint8Array.from({ length: rows * NUM_STEPS }, (_, k) => pseudoRandom(k, NUM_ACTIONS)),
    actions: Int8Array.from({ length: rows }, (_, i) => pseudoRandom(i + 7, NUM_ACTIONS)),
    beliefs: Float32Array.from({ length: rows * 3 }, (_, k) => pseudoRandom(k, 10) / 9),
  };
}
export type Columns = ReturnType<typeof columnsOf>;

/** Returns the names of the actions before a row. */
const historyOf = ({ stepIndices, histories }: Columns, i: number): string[] =>
  Array.from(histories.subarray(i * NUM_STEPS, i * NUM_STEPS + stepIndices[i]), (code) => ACTION_NAMES[code]);

/** Returns the rows as objects with the names of actions. */
export const objectsOf = (columns: Columns): ReplayRow[] =>
  Array.from(columns.seeds, (seed, i) => ({
    seed,
    profileMode: 'sampled',
    actionHistory: historyOf(columns, i),
    action: ACTION_NAMES[columns.actions[i]],
    belief: Array.from(columns.beliefs.subarray(3 * i, 3 * i + 3)),
  }));

/** The reasoning of a completion. */
export const REASONING =
  'Socializing in the evening cost vitality, so company is not what this person lives for; ';

/** Returns completions with reasoning, and the belief and action of each row as the answer. */
export const completionsOf = ({ actions, beliefs }: Columns, reasoningOf: (i: number) => string): string[] =>
  Array.from(actions, (action, i) => {
    const belief = Array.from(beliefs.subarray(3 * i, 3 * i + 3), (value) => Math.round(9 * value));
    return `<reasoning>${reasoningOf(i)}</reasoning>\n${belief.join(' ')} ${ACTION_NAMES[action].toUpperCase()}`;
  });

/** The body of a request to /v1/score. */
export interface Body {
  readonly form: string;
  readonly rows: number;
  readonly body: Buffer;
  readonly contentType: string;
}

/** Returns rows with completions of about 120 characters as JSON. */
export const jsonOf = (columns: Columns): Body => {
  const data = {
    seeds: Array.from(columns.seeds),
    action_histories: Array.from(columns.seeds, (_, i) => historyOf(columns, i)),
    completions: completionsOf(columns, () => REASONING),
  };
  const body = Buffer.from(JSON.stringify(data));
  return { form: 'JSON', rows: data.seeds.length, body, contentType: 'application/json' };
};

/** Returns rows as binary frames: with the texts of `jsonOf`, and with actions and beliefs instead. */
export function framesOf(columns: Columns): Body[] {
  const { seeds, stepIndices, histories, actions, beliefs } = columns;
  const texts = completionsOf(columns, () => REASONING).map((text) => Buffer.from(text));
  const bytes = new Uint8Array(Buffer.concat(texts));
  let end = 0;
  const ends = Uint32Array.from(texts, ({ length }) => (end += length));
  const n = seeds.length;
  const frame = (form: string, arrays: readonly Shaped[]): Body => {
    const states: Shaped[] = [
      { name: 'seeds', values: seeds, shape: [n] },
      { name: 'step_indices', values: stepIndices, shape: [n] },
      { name: 'histories', values: histories, shape: [n, NUM_STEPS] },
    ];
    const body = Buffer.from(encodeFrame('score', {}, [...states, ...arrays]));
    return { form, rows: n, body, contentType: 'application/octet-stream' };
  };
  return [
    frame('frames of texts', [
      { name: 'completions', values: bytes, shape: [end] },
      { name: 'completion_ends', values: ends, shape: [n] },
    ]),
    frame('frames of actions', [
      { name: 'actions', values: actions, shape: [n] },
      { name: 'beliefs', values: beliefs, shape: [n, 3] },
    ]),
  ];
}
