/** The binary form of /v1/score: rows and scores are typed arrays in frames, which docs/server.md describes. */
import { z } from 'zod';
import type { RowFault } from '../../rollouts/replay/row-faults.js';
import { toStackSettings } from '../../rollouts/rewards/compute-rewards.js';
import { NUM_BELIEFS } from '../../world/fields.js';
import type { KnownBytes } from '../http/json-response.js';
import { PROFILES } from '../protocol/reset-request.js';
import { type ArraySpec, aligned, decodeFrame, encodeHead } from '../vec/frame.js';
import { atMost } from '../vec/vec-messages.js';
import { SLICE } from './array-text.js';
import type { BatchRunner } from './batch-runner.js';
import { graderOf, invalidFieldError, nullAsAbsent, parse } from './batch-schemas.js';
import { FrameRows } from './frame-rows.js';
import { replayOptions, SCORE_REQUEST } from './score-request.js';
import { type FaultySlice, type Scored, scoreSlices } from './score-slices.js';

const PROFILE = z.enum(PROFILES);
/** The `data` of a request's frame. */
const OPTIONS = SCORE_REQUEST.pick({
  grader: true,
  weights: true,
  shaping: true,
  scores: true,
  parsed: true,
  thought: true,
}).extend({
  profiles: z
    .union([PROFILE, atMost(PROFILES.length, PROFILE)])
    .nullish()
    .transform(nullAsAbsent),
});

/** The maximum number of invalid rows that an answer lists. */
const MAX_FAULTS = 1000;

/**
 * Scores the rows of a frame. @param turn awaited before each slice of rows, so that other requests get their turn.
 * @throws InvalidRequestError or InputError.
 */
export async function scoreFrame(
  body: Buffer,
  runner: BatchRunner,
  turn: () => Promise<void>,
): Promise<KnownBytes> {
  const frame = decodeFrame(body, { isShared: true });
  if (frame.type !== 'score') {
    throw invalidFieldError(
      'type',
      `Expected a frame of type score, got ${frame.type.slice(0, 100)}. Send the type score.`,
    );
  }
  const request = parse(OPTIONS, frame.data ?? {});
  const options = replayOptions(request, runner);
  const rows = new FrameRows(frame, request.profiles, options);
  if (request.parsed && frame.arrays.completions === undefined) {
    throw invalidFieldError(
      'parsed',
      'Expected parsed with completions only, got it with actions. Leave it out.',
    );
  }
  const settings = toStackSettings(options, graderOf(request.grader));
  const scored = await scoreSlices(rows, request, settings, turn);
  runner.count('scored', rows.rows);
  return encodeScores(scored, rows.rows, runner.worldDigest, turn);
}

/** An array of the answer. */
interface Part extends ArraySpec {
  /** The number of bytes of a row. */
  readonly width: number;
  /** Returns rows `from` up to `to` (excluded). */
  readonly values: (from: number, to: number) => ArrayBufferView;
}

function encodeScores(
  scored: Scored,
  rows: number,
  worldDigest: string,
  turn: () => Promise<void>,
): KnownBytes {
  const parts = partsOf(scored, rows);
  const faults = faultsOf(scored.faulty);
  const data = {
    rows,
    world_digest: worldDigest,
    faults,
    fault_count: scored.faulty.reduce((sum, { count }) => sum + count, 0),
  };
  const specs = parts.map(({ name, dtype, shape }) => ({ name, dtype, shape }));
  const head = encodeHead('scores', data, specs);
  const length = parts.reduce((sum, { width }) => sum + aligned(rows * width), head.length);
  return { length, pieces: piecesOf(head, parts, rows, turn) };
}

function partsOf({ columns, parsed }: Scored, rows: number): Part[] {
  const parts = columns.names.map((name): Part => {
    const [dtype, width] = name === 'state_hash' ? (['uint64', 8] as const) : (['float32', 4] as const);
    return { name, dtype, shape: [rows], width, values: (from, to) => columns.values(name, from, to) };
  });
  if (parsed === null) return parts;
  const codes = (from: number, to: number) => parsed.codes.subarray(from, to);
  const beliefs = (from: number, to: number) => parsed.beliefs(from, to);
  const shape = [rows, NUM_BELIEFS];
  return [
    ...parts,
    { name: 'actions', dtype: 'int8', shape: [rows], width: 1, values: codes },
    { name: 'beliefs', dtype: 'float32', shape, width: 4 * NUM_BELIEFS, values: beliefs },
  ];
}

/** Yields the bytes of an answer. Awaits `turn` between two slices of an array. */
async function* piecesOf(
  head: Buffer,
  parts: readonly Part[],
  rows: number,
  turn: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  yield head;
  for (const { width, values } of parts) {
    for (let from = 0; from < rows; from += SLICE) {
      if (from > 0) await turn();
      const { buffer, byteOffset, byteLength } = values(from, Math.min(from + SLICE, rows));
      yield new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
    }
    const padding = aligned(rows * width) - rows * width;
    if (padding > 0) yield new Uint8Array(padding);
  }
}

/** Returns the first invalid rows, at most MAX_FAULTS. */
function faultsOf(faulty: readonly FaultySlice[]): RowFault[] {
  const faults: RowFault[] = [];
  for (const { text } of faulty) {
    if (faults.length >= MAX_FAULTS) break;
    faults.push(...(JSON.parse(`[${text()}]`) as RowFault[]));
  }
  return faults.slice(0, MAX_FAULTS);
}
