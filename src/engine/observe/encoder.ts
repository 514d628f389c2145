/** Encodes raw observations: copies, scales or one-hot encodes their numbers. */
import { OBSERVATION_SIZE, sizeOf } from '../../world/fields.js';
import type { World } from '../../world/world.js';
import { type EncodedField, type Encoding, encodingOf, type FieldEncoding } from './encoding.js';
import { HISTORY_SIZE, type HistoryRows } from './history.js';
import type { ObservationOptions } from './observation-options.js';
import { HISTORY_STEPS, RECORD_SIZE, RECORD_START } from './past-step.js';

/** The number of environments encoded together. Their rows stay in the first-level cache for all columns. */
const BLOCK = 64;
const EMPTY = new Float32Array(0);

/** One number of an encoded observation, and its computation from one number of a source row. */
interface Column {
  readonly encoding: Encoding;
  /** The index of the number in the observation. */
  readonly target: number;
  /** The index of its source in a raw observation, or in a record of the history. */
  readonly source: number;
  /** For scaled numbers: `low` is the raw value that becomes 0, and `inverseSpan` is 1 / (the range of raw values). */
  readonly low: number;
  readonly inverseSpan: number;
  /** For one-hot numbers: the code that becomes 1. */
  readonly code: number;
}

/**
 * The environments of the current block, the offsets of their source rows, and the offsets of their observations from
 * the block's start. All encoders share these arrays, because no call interrupts another. V8 accesses constants of a
 * module faster than fields.
 */
const ENVS = new Int32Array(BLOCK);
const BASES = new Int32Array(BLOCK);
const TARGETS = new Int32Array(BLOCK);

/** The environments that are encoded together, with source and target. All calls of an encoder reuse one object. */
interface Block {
  /** The number of entries of ENVS, BASES and TARGETS in use. */
  count: number;
  source: Float32Array;
  /** The distance from one number of an environment's source to the next. */
  sourceStep: number;
  out: Float32Array;
  /** In `out`, number k of environment i is at `i * envStep + k * wordStep`, and the block's first number at `start`. */
  envStep: number;
  wordStep: number;
  start: number;
}

/** Encodes the observations of a batch. */
export class ObservationEncoder {
  readonly fields: readonly EncodedField[];
  /** The size of an observation. */
  readonly size: number;
  readonly #numEnvs: number;
  readonly #currentColumns: readonly Column[];
  /** [7]: the columns of each past step, the oldest first; [] without history. */
  readonly #pastColumns: readonly (readonly Column[])[];
  readonly #block: Block = {
    count: 0,
    source: EMPTY,
    sourceStep: 1,
    out: EMPTY,
    envStep: 0,
    wordStep: 0,
    start: 0,
  };

  /** Creates the encoder of a batch's observations. @throws InputError as `toObservationOptions`. */
  constructor(world: World, options: ObservationOptions, numEnvs: number) {
    const encodings = encodingOf(world, options);
    const past = encodings.filter(({ isPast }) => isPast);
    this.fields = Object.freeze(encodings.map(({ field }) => field));
    this.size = sizeOf(this.fields);
    this.#numEnvs = numEnvs;
    this.#currentColumns = encodings
      .filter(({ isPast }) => !isPast)
      .flatMap((encoding) => columnsOf(encoding, 0));
    this.#pastColumns = Array.from({ length: past.length === 0 ? 0 : HISTORY_STEPS }, (_, step) =>
      past.flatMap((encoding) => columnsOf(encoding, step)),
    );
  }

  /**
   * Writes the observations. Allocates nothing.
   * @param raw f32 [numEnvs, 22], as OBSERVATION_FIELDS.
   * @param rawStride 0 for rows; else number k of environment i is at `k * rawStride + i`.
   * @param history the past steps, including the last one; null without the option `history`.
   * @param out f32 [numEnvs, size]; it must not share memory with `raw`.
   * @param outStride the stride of `out`, in the form of `rawStride`.
   * @param mask u8 [numEnvs], the environments to write; null for all. The others keep their numbers.
   */
  encode(
    raw: Float32Array,
    rawStride: number,
    history: HistoryRows | null,
    out: Float32Array,
    outStride: number,
    mask: Uint8Array | null,
  ): void {
    const block = this.#block;
    const rowSize = rawStride === 0 ? OBSERVATION_SIZE : 1;
    block.out = out;
    block.envStep = outStride === 0 ? this.size : 1;
    block.wordStep = outStride === 0 ? 1 : outStride;
    for (let from = 0; from < this.#numEnvs; from += BLOCK) {
      listEnvs(block, from, Math.min(from + BLOCK, this.#numEnvs), mask);
      block.source = raw;
      block.sourceStep = rawStride === 0 ? 1 : rawStride;
      for (let m = 0; m < block.count; m++) BASES[m] = ENVS[m] * rowSize;
      writeAll(block, this.#currentColumns);
      if (history !== null) this.#encodePast(block, history);
    }
    // Releases the caller's arrays.
    block.source = block.out = EMPTY;
  }

  /** Writes the past steps of the block's environments. */
  #encodePast(block: Block, { rings, oldest }: HistoryRows): void {
    block.source = rings;
    block.sourceStep = 1;
    for (let step = 0; step < this.#pastColumns.length; step++) {
      for (let m = 0; m < block.count; m++) {
        const entry = (oldest[ENVS[m]] + step) % HISTORY_STEPS;
        BASES[m] = ENVS[m] * HISTORY_SIZE + entry * RECORD_SIZE;
      }
      writeAll(block, this.#pastColumns[step]);
    }
  }
}

/** Returns the columns of a field; for a field of the history, the columns of one step. */
function columnsOf({ field, source, encoding, isPast }: FieldEncoding, step: number): Column[] {
  const size = isPast ? field.size / HISTORY_STEPS : field.size;
  const low = field.rawLow;
  const start = isPast ? source.offset - RECORD_START : source.offset;
  return Array.from({ length: size }, (_, k) => ({
    encoding,
    target: field.offset + step * size + k,
    source: encoding === 'one_hot' ? start : start + k,
    low,
    inverseSpan: 1 / (field.rawHigh - low),
    code: low + k,
  }));
}

/** Lists the environments of a block. */
function listEnvs(block: Block, from: number, to: number, mask: Uint8Array | null): void {
  const { envStep } = block;
  let count = 0;
  for (let i = from; i < to; i++) {
    if (mask !== null && mask[i] === 0) continue;
    ENVS[count] = i;
    TARGETS[count++] = (i - from) * envStep;
  }
  block.count = count;
  block.start = from * envStep;
}

function writeAll(block: Block, columns: readonly Column[]): void {
  for (let k = 0; k < columns.length; k++) {
    const column = columns[k];
    if (column.encoding === 'copy') copy(block, column);
    else if (column.encoding === 'scale') scale(block, column);
    else oneHot(block, column);
  }
}

function copy(block: Block, column: Column): void {
  const { count, source, out } = block;
  const from = column.source * block.sourceStep;
  const to = block.start + column.target * block.wordStep;
  for (let m = 0; m < count; m++) out[TARGETS[m] + to] = source[BASES[m] + from];
}

/**
 * Scales in float64, clamps to [0, 1] and rounds to float32. The ends of the range become exactly 0 and 1. If the ends are
 * opposite numbers, 0 becomes exactly 0.5.
 */
function scale(block: Block, column: Column): void {
  const { count, source, out } = block;
  const { low, inverseSpan } = column;
  const from = column.source * block.sourceStep;
  const to = block.start + column.target * block.wordStep;
  for (let m = 0; m < count; m++) {
    const x = (source[BASES[m] + from] - low) * inverseSpan;
    out[TARGETS[m] + to] = x < 0 ? 0 : x > 1 ? 1 : x;
  }
}

function oneHot(block: Block, column: Column): void {
  const { count, source, out } = block;
  const { code } = column;
  const from = column.source * block.sourceStep;
  const to = block.start + column.target * block.wordStep;
  for (let m = 0; m < count; m++) {
    out[TARGETS[m] + to] = source[BASES[m] + from] === code ? 1 : 0;
  }
}
