/** The binary form of /v1/score: rows and scores are typed arrays in frames, which docs/server.md describes. */
import { z } from 'zod';
import type { ReplayColumns } from '../../rollouts/replay/row-columns.js';
import { Faults, type RowFault } from '../../rollouts/replay/row-faults.js';
import { beginsInThought } from '../../rollouts/text/parse-completions.js';
import { describe } from '../../shared/values.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { PROFILE_CHOICES } from '../../world/resolve-names.js';
import type { KnownBytes } from '../http/json-response.js';
import { fieldError, type InvalidRequestError, inBody, parse } from '../protocol/errors.js';
import {
  atMost,
  decodeFrame,
  dtypeOf,
  type Frame,
  type FrameArray,
  framePieces,
  type Shaped,
} from '../vec/frame.js';
import { MAX_ROW_BYTES } from './json-columns.js';
import { type Answers, parseRow } from './parse.js';
import { checkAnswers, optional, PROFILE, SCORE_OPTIONS, type ScoreOptions } from './schemas.js';

/** The rows of a request. */
export interface ScoreRows {
  readonly columns: ReplayColumns;
  /** Returns the profiles of rows `from` to `to - 1`. */
  readonly profilesOf: (from: number, to: number) => string | string[];
  /** The rows that are invalid already, and hold valid values. */
  readonly faults: Faults;
  /** The names of columns in errors. */
  readonly names: Readonly<Record<string, string>>;
  /** The maximum number of invalid rows that the answer lists. */
  readonly maxFaults: number;
}

/** The scores of all rows. */
export interface Scored {
  readonly rows: number;
  readonly scores: Readonly<Record<string, Float32Array | BigUint64Array>>;
  /** The parsed completions, if the request asks for them. */
  readonly parsed: Answers | null;
  /** The first invalid rows, and the number of all. */
  readonly faults: readonly RowFault[];
  readonly faultCount: number;
}

/** The `data` of a request's frame. */
const OPTIONS = SCORE_OPTIONS.extend({
  profiles: optional(
    z.union([PROFILE, atMost(PROFILE_CHOICES.length, PROFILE)]),
    'a name, or a list of names',
  ),
});
/** A name for all rows, or a list of names. The array `profiles` has an index into this list for each row. */
type ProfileNames = string | readonly string[];

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
} as const satisfies Readonly<Record<string, readonly [string, readonly number[] | null]>>;
type Name = keyof typeof ARRAYS;
interface Types {
  readonly uint32: Uint32Array;
  readonly uint8: Uint8Array;
  readonly int8: Int8Array;
  readonly float32: Float32Array;
}
type Arrays = { readonly [K in Name]?: Types[(typeof ARRAYS)[K][0]] };
const NAMES = Object.keys(ARRAYS) as Name[];
/** The arrays that every request must have. */
const REQUIRED = ['seeds', 'step_indices', 'histories'] as const;
type Checked = Arrays & Required<Pick<Arrays, (typeof REQUIRED)[number]>>;

/** The maximum number of rows of a frame. Chosen by hand. */
const MAX_ROWS = 2 ** 20;
/** The maximum number of invalid rows that an answer lists. */
const MAX_FAULTS = 1000;
/**
 * The number of bytes of completions, and of rows, that are parsed per turn of the event loop, and a last row more. Chosen by
 * hand: sessions wait longer for larger slices.
 */
const [PARSED_BYTES, PARSED_ROWS] = [2 ** 18, 2048];
/** The names of a replay's columns in errors. */
const COLUMN_NAMES = { stepIndices: 'step_indices', beliefHistories: 'belief_histories' };

/**
 * Reads the rows and options of a frame, whose arrays are views of the body. @param turn awaited before each slice of
 * completions. @throws InvalidRequestError or InputError.
 */
export async function readScoreFrame(
  body: Buffer,
  turn: () => Promise<void>,
): Promise<ScoreRows & { readonly options: ScoreOptions }> {
  const frame = decodeFrame(body, { isShared: true });
  if (frame.type !== 'score')
    throw fieldError('type', 'a frame of type score', frame.type.slice(0, 100), 'Send the type score.');
  const { profiles = 'sampled', ...options } = parse(OPTIONS, frame.data ?? {}, inBody);
  const arrays = checkArrays(frame);
  checkTexts(arrays);
  checkAnswers({ ...arrays, parsed: options.parsed });
  checkProfiles(arrays.profiles, profiles);
  const { seeds, step_indices: stepIndices, histories, belief_histories: beliefHistories } = arrays;
  const { actions, beliefs } = await readAnswers(arrays, beginsInThought(options.thought), turn);
  const { profiles: codes } = arrays;
  return {
    options,
    columns: { seeds, stepIndices, histories, actions, beliefs, beliefHistories },
    profilesOf: (from, to) =>
      codes === undefined
        ? (profiles as string)
        : Array.from(codes.subarray(from, to), (code) => profiles[code]),
    faults: new Faults(false),
    names: COLUMN_NAMES,
    maxFaults: MAX_FAULTS,
  };
}

/** Returns where the text of a row begins. */
const startOf = (ends: Uint32Array, row: number): number => (row === 0 ? 0 : ends[row - 1]);

/** Returns the actions and beliefs of a frame, or parses its completions. */
async function readAnswers(
  { seeds, actions, beliefs, completions, completion_ends: ends }: Checked,
  inThought: boolean,
  turn: () => Promise<void>,
): Promise<{ readonly actions: Int8Array; readonly beliefs?: Float32Array }> {
  if (completions === undefined || ends === undefined) return { actions: actions!, beliefs };
  const rows = seeds.length;
  const read = {
    actions: new Int8Array(rows),
    beliefs: new Float32Array(rows * NUM_BELIEFS).fill(Number.NaN),
  };
  const bytes = Buffer.from(
    completions.buffer as ArrayBuffer,
    completions.byteOffset,
    completions.byteLength,
  );
  for (let row = 0; row < rows; ) {
    await turn();
    const [first, start] = [row, startOf(ends, row)];
    while (row < rows && row - first < PARSED_ROWS && startOf(ends, row) - start < PARSED_BYTES) {
      parseRow(read, row, bytes.toString('utf8', startOf(ends, row), ends[row]), inThought);
      row++;
    }
  }
  return read;
}

function checkArrays({ arrays, shapes }: Frame): Checked {
  const rows = arrays.seeds?.length ?? 0;
  for (const name of Object.keys(arrays)) {
    if (Object.hasOwn(ARRAYS, name)) checkArray(name as Name, arrays[name], shapes[name], rows);
    else throw fieldError(name, `arrays among ${NAMES.join(', ')}`, describe(name), 'Leave it out.');
  }
  for (const name of REQUIRED)
    if (arrays[name] === undefined)
      throw fieldError(name, `the array ${name}`, 'none', `Send ${name} of every row.`);
  return arrays as Checked;
}

function checkArray(name: Name, values: FrameArray, shape: readonly number[], rows: number): void {
  const [dtype, rowShape] = ARRAYS[name];
  const wanted = rowShape === null ? shape.slice(0, 1) : [rows, ...rowShape];
  if (dtypeOf(values) !== dtype || wanted.join() !== shape.join()) {
    const shapeText = rowShape === null ? '[bytes]' : `[${wanted.join(', ')}]`;
    const what = rowShape === null ? 'the bytes of all texts' : 'one row for each seed';
    throw fieldError(
      name,
      `${name} of type ${dtype} and shape ${shapeText}`,
      `${dtypeOf(values)} and [${shape.join(', ')}]`,
      `Send ${name} with this type and shape: ${what}.`,
    );
  }
  if (rows > MAX_ROWS) throw fieldError(name, `at most ${MAX_ROWS} rows`, rows, 'Send fewer rows at a time.');
}

function checkTexts({ completions, completion_ends: ends }: Arrays): void {
  if ((completions === undefined) !== (ends === undefined)) {
    const expected = 'completions with completion_ends';
    throw fieldError('completions', expected, 'one of these arrays alone', 'Send both.');
  }
  if (completions === undefined || ends === undefined) return;
  for (let row = 0; row < ends.length; row++) {
    const start = startOf(ends, row);
    const size = ends[row] - start;
    if (size < 0) throw wrongEnd(`at least the end of the previous row, ${start},`, row, ends[row]);
    if (size > MAX_ROW_BYTES)
      throw wrongEnd(`at most ${MAX_ROW_BYTES} bytes of text before the end`, row, size);
  }
  if (startOf(ends, ends.length) === completions.length) return;
  const last = ends.length - 1;
  if (last >= 0) throw wrongEnd(`the length of completions, ${completions.length},`, last, ends[last]);
  const got = `${completions.length} bytes`;
  throw fieldError('completions', 'no text without rows', got, 'Send the rows of these texts.');
}

function wrongEnd(expected: string, row: number, got: number): InvalidRequestError {
  const remedy = 'Send the position in completions where the text of each row ends.';
  return fieldError(['completion_ends', row], `${expected} at completion_ends[${row}]`, got, remedy);
}

function checkProfiles(codes: Uint8Array | undefined, names: ProfileNames): void {
  const hasNames = typeof names !== 'string';
  if (codes !== undefined && !hasNames) {
    const expected = 'a list of names in data.profiles with the array profiles';
    throw fieldError('profiles', expected, 'one name', 'Send a list, or no array.');
  }
  if (codes === undefined && hasNames) {
    const expected = 'the array profiles with the list of names in data.profiles';
    throw fieldError('profiles', expected, 'the list alone', 'Send both, or one name.');
  }
  const row = codes?.findIndex((code) => code >= names.length) ?? -1;
  if (row < 0) return;
  const expected = `numbers below ${names.length} (names in data.profiles)`;
  throw fieldError(
    ['profiles', row],
    expected,
    `${codes![row]} at profiles[${row}]`,
    'Send the index of a name.',
  );
}

/** Returns the bytes of an answer. @param turn awaited before each slice of an array. */
export function encodeScores(scored: Scored, worldDigest: string, turn: () => Promise<void>): KnownBytes {
  const { rows, scores, parsed, faults, faultCount } = scored;
  const arrays: Shaped[] = Object.entries(scores).map(([name, values]) => ({ name, values, shape: [rows] }));
  if (parsed !== null) {
    const { actions, beliefs } = parsed;
    arrays.push({ name: 'actions', values: actions, shape: [rows] });
    arrays.push({ name: 'beliefs', values: beliefs, shape: [rows, NUM_BELIEFS] });
  }
  const data = { rows, world_digest: worldDigest, faults, fault_count: faultCount };
  return framePieces('scores', data, arrays, turn);
}
