/** Rows of /v1/score in a binary frame: validates the arrays, and scores slices of them. */
import { NODE } from '../../engine/backends/node.js';
import { NO_ACTION } from '../../engine/validate/actions.js';
import { type RowFault, RowNaming } from '../../rollouts/replay/row-faults.js';
import { type ReplayOptions, scoreReplayOn } from '../../rollouts/replay/score-replay.js';
import { beginsInThought, type ParsedCompletion, parseText } from '../../rollouts/text/parse-completions.js';
import { describe } from '../../shared/values.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import type { Frame } from '../vec/frame.js';
import { invalidFieldError, MAX_ROWS } from './batch-schemas.js';
import { MAX_ROW_BYTES } from './body-reader.js';
import { type RowSource, type ScoredSlice, withoutStacks } from './score-slices.js';

/** The classes of a request's arrays, by type. */
const TYPES = {
  float32: Float32Array,
  uint32: Uint32Array,
  uint8: Uint8Array,
  int8: Int8Array,
} as const;

/** The arrays of a request: type, and shape of a row; null for an array that has no rows. */
const ARRAYS = {
  seeds: ['uint32', []],
  step_indices: ['uint8', []],
  histories: ['uint8', [NUM_STEPS]],
  actions: ['int8', []],
  beliefs: ['float32', [NUM_BELIEFS]],
  belief_histories: ['float32', [NUM_STEPS, NUM_BELIEFS]],
  profiles: ['uint8', []],
  completion_ends: ['uint32', []],
  completions: ['uint8', null],
} as const satisfies Readonly<Record<string, readonly [keyof typeof TYPES, readonly number[] | null]>>;
type Name = keyof typeof ARRAYS;
type Arrays = {
  readonly [K in Name]?: InstanceType<(typeof TYPES)[(typeof ARRAYS)[K][0]]>;
};
const NAMES = Object.keys(ARRAYS) as Name[];
/** The arrays that every request must have. */
const REQUIRED = ['seeds', 'step_indices', 'histories'] as const;
type Checked = Arrays & Required<Pick<Arrays, (typeof REQUIRED)[number]>>;

/**
 * The maximum number of bytes of completions that are parsed per turn of the event loop. A longer row is parsed alone. Chosen
 * by hand: sessions wait longer for larger slices.
 */
const SLICE_BYTES = 2 ** 18;

/** A name for all rows, or a list of names. The array `profiles` has an index into this list for each row. */
export type ProfileNames = string | readonly string[];

/** The rows of a frame. The constructor validates the arrays. @throws InvalidRequestError. */
export class FrameRows implements RowSource {
  readonly rows: number;
  readonly #arrays: Checked;
  readonly #profiles: ProfileNames;
  readonly #options: ReplayOptions;

  constructor({ arrays, shapes }: Frame, profiles: ProfileNames = 'sampled', options: ReplayOptions) {
    this.rows = arrays.seeds?.length ?? 0;
    for (const name of Object.keys(arrays)) {
      if (!Object.hasOwn(ARRAYS, name))
        throw invalidFieldError(
          name,
          `Expected arrays among ${NAMES.join(', ')}, got ${describe(name)}. Leave it out.`,
        );
      checkArray(name as Name, arrays[name], shapes[name], this.rows);
    }
    for (const name of REQUIRED) {
      if (arrays[name] === undefined)
        throw invalidFieldError(name, `Expected the array ${name}, got none. Send ${name} of every row.`);
    }
    this.#arrays = arrays as Checked;
    this.#profiles = profiles;
    this.#options = options;
    checkAnswers(this.#arrays);
    checkProfiles(this.#arrays.profiles, profiles);
  }

  endOf(from: number, limit: number): number {
    const end = Math.min(from + limit, this.rows);
    const { completion_ends: ends } = this.#arrays;
    if (ends === undefined) return end;
    let to = from + 1;
    while (to < end && ends[to] - startOf(ends, from) <= SLICE_BYTES) to++;
    return to;
  }

  score(from: number, to: number): ScoredSlice {
    const { seeds, step_indices, histories, belief_histories } = this.#arrays;
    const answers = this.#parse(from, to);
    const rows = {
      seeds: seeds.subarray(from, to),
      stepIndices: step_indices.subarray(from, to),
      histories: histories.subarray(from * NUM_STEPS, to * NUM_STEPS),
      beliefHistories: belief_histories?.subarray(from * PAST_BELIEFS, to * PAST_BELIEFS),
      profiles: this.#profilesOf(from, to),
      ...(answers === undefined ? this.#answersOf(from, to) : columnsOf(answers)),
    };
    const scores = withoutStacks(() =>
      scoreReplayOn(NODE, rows, this.#options, new RowNaming(FRAME_NAMES, from)),
    );
    const faults = scores.faults.map((fault): RowFault => ({ ...fault, index: from + fault.index }));
    return { scores, faults, answers };
  }

  #parse(from: number, to: number): ParsedCompletion[] | undefined {
    const { completions, completion_ends: ends } = this.#arrays;
    if (completions === undefined || ends === undefined) return undefined;
    const { buffer, byteOffset, byteLength } = completions;
    const inThought = beginsInThought(this.#options.thought);
    const bytes = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
    return Array.from(ends.subarray(from, to), (end, k) =>
      parseText(bytes.toString('utf8', startOf(ends, from + k), end), inThought),
    );
  }

  #answersOf(from: number, to: number): { actions: Int8Array; beliefs?: Float32Array } {
    const { actions, beliefs } = this.#arrays;
    return {
      actions: actions!.subarray(from, to),
      beliefs: beliefs?.subarray(from * NUM_BELIEFS, to * NUM_BELIEFS),
    };
  }

  #profilesOf(from: number, to: number): string | string[] {
    const { profiles: codes } = this.#arrays;
    if (codes === undefined) return this.#profiles as string;
    return Array.from(codes.subarray(from, to), (code) => this.#profiles[code]);
  }
}

/** The number of entries of a row of `belief_histories`. */
const PAST_BELIEFS = NUM_STEPS * NUM_BELIEFS;

/** Returns where the text of a row begins. */
const startOf = (ends: Uint32Array, row: number): number => (row === 0 ? 0 : ends[row - 1]);

/** Converts parsed completions to columns. */
function columnsOf(answers: readonly ParsedCompletion[]): { actions: Int8Array; beliefs: Float32Array } {
  const actions = Int8Array.from(answers, ({ action }) => action ?? NO_ACTION);
  const beliefs = new Float32Array(answers.length * NUM_BELIEFS).fill(Number.NaN);
  for (const [k, { given, belief }] of answers.entries()) if (given) beliefs.set(belief, k * NUM_BELIEFS);
  return { actions, beliefs };
}

function checkArray(name: Name, values: unknown, shape: readonly number[], rows: number): void {
  const [dtype, rowShape] = ARRAYS[name];
  const expected = rowShape === null ? shape.slice(0, 1) : [rows, ...rowShape];
  const fits = values instanceof TYPES[dtype] && expected.join() === shape.join();
  if (!fits) {
    // TYPES has all types of frames but int32.
    const got = Object.entries(TYPES).find(([, Type]) => values instanceof Type)?.[0] ?? 'int32';
    const shapeText = rowShape === null ? '[bytes]' : `[${expected.join(', ')}]`;
    throw invalidFieldError(
      name,
      `Expected ${name} of type ${dtype} and shape ${shapeText}, got ${got} and [${shape.join(', ')}]. ` +
        `Send ${name} with this type and shape: ${rowShape === null ? 'the bytes of all texts' : 'one row for each seed'}.`,
    );
  }
  if (rows > MAX_ROWS)
    throw invalidFieldError(
      name,
      `Expected at most ${MAX_ROWS} rows, got ${rows}. Send fewer rows at a time.`,
    );
}

function checkAnswers({ actions, beliefs, completions, completion_ends: ends }: Arrays): void {
  if ((completions === undefined) !== (ends === undefined)) {
    throw invalidFieldError(
      'completions',
      'Expected completions with completion_ends, got one of these arrays alone. Send both.',
    );
  }
  if ((completions === undefined) === (actions === undefined)) {
    const got = actions === undefined ? 'neither' : 'both';
    throw invalidFieldError(
      'completions',
      `Expected either completions or actions, got ${got}. Send completions, or actions.`,
    );
  }
  if (completions === undefined || ends === undefined) return;
  if (beliefs !== undefined) {
    throw invalidFieldError(
      'beliefs',
      'Expected beliefs with actions only, got them with completions. Leave them out.',
    );
  }
  checkEnds(ends, completions.length);
}

function checkEnds(ends: Uint32Array, bytes: number): void {
  const fault = (expected: string, row: number, got = ends[row]): never => {
    throw invalidFieldError(
      'completion_ends',
      `Expected ${expected} at completion_ends[${row}], got ${got}. Send the position in completions where the text of each row ends.`,
    );
  };
  for (let row = 0; row < ends.length; row++) {
    const start = startOf(ends, row);
    if (ends[row] < start) fault(`at least the end of the previous row, ${start},`, row);
    if (ends[row] - start > MAX_ROW_BYTES)
      fault(`at most ${MAX_ROW_BYTES} bytes of text before the end`, row, ends[row] - start);
  }
  const last = ends.length - 1;
  if (startOf(ends, ends.length) === bytes) return;
  if (last >= 0) fault(`the length of completions, ${bytes},`, last);
  throw invalidFieldError(
    'completions',
    `Expected no text without rows, got ${bytes} bytes. Send the rows of these texts.`,
  );
}

function checkProfiles(codes: Uint8Array | undefined, names: ProfileNames): void {
  // Valid: one name without the array, or a list of names with it.
  if ((codes === undefined) === (typeof names === 'string')) {
    const row = codes?.findIndex((code) => code >= names.length) ?? -1;
    if (row < 0) return;
    throw invalidFieldError(
      'profiles',
      `Expected numbers below ${names.length} (names in data.profiles), got ${codes![row]} at profiles[${row}]. Send the index of a name.`,
    );
  }
  throw invalidFieldError(
    'profiles',
    codes === undefined
      ? 'Expected the array profiles with the list of names in data.profiles, got the list alone. Send both, or one name.'
      : 'Expected a list of names in data.profiles with the array profiles, got one name. Send a list, or no array.',
  );
}

/** The names of a replay's columns in frames. */
const FRAME_NAMES = { stepIndices: 'step_indices', beliefHistories: 'belief_histories' };
