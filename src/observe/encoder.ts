/** Raw rows into what an agent is shown: numbers copied, scaled or one-hot, slot by slot or field by field. */
import { OBSERVATION_SIZE, sizeOf } from '../world/fields.js';
import type { World } from '../world/world.js';
import { type EncodedField, type Encoding, encodingOf, type Part } from './fields.js';
import { HISTORY_SIZE, type HistoryRows } from './history.js';
import type { ObservationOptions } from './options.js';
import { HISTORY_STEPS, RECORD_SIZE, RECORD_START } from './record.js';

/** How many slots are encoded together: their rows stay in the first-level cache while each column passes over them. */
const BLOCK = 64;
const NONE = new Float32Array(0);

/** One number of what is shown, and how it comes from one number of a source row. */
interface Column {
  readonly encoding: Encoding;
  /** Its place among a slot's numbers. */
  readonly target: number;
  /** Its source's place in a raw row, or in a record of the history. */
  readonly source: number;
  /** What becomes 0 and what 1 divides by, where it is scaled. */
  readonly low: number;
  readonly inverseSpan: number;
  /** The code that shows as 1, where it is one-hot. */
  readonly code: number;
}

/**
 * Of the slots at work: which they are, where the source row of each begins, and where its numbers begin, counted
 * from the block's start. All encoders share them, since no call interrupts another: V8 knows a module's constants
 * for good, and need not look up the arrays' bounds and memory at each access.
 */
const SLOTS = new Int32Array(BLOCK);
const BASES = new Int32Array(BLOCK);
const TARGETS = new Int32Array(BLOCK);

/** The slots that are encoded together, and what of and where to. One object for all calls of an encoder. */
interface Block {
  /** How many entries of the above are in use. */
  count: number;
  source: Float32Array;
  /** From one number of a slot's source to the next. */
  sourceStep: number;
  out: Float32Array;
  /** Number k of slot i is at `i * slotStep + k * wordStep`, the block's first number at `start`. */
  slotStep: number;
  wordStep: number;
  start: number;
}

/** Encodes the rows of one environment, always the same way. */
export class ObservationEncoder {
  readonly fields: readonly EncodedField[];
  /** Numbers that a slot is shown. */
  readonly size: number;
  readonly #numEnvs: number;
  readonly #now: readonly Column[];
  /** [7]: the columns of each past step, the oldest first; [] without history. */
  readonly #past: readonly (readonly Column[])[];
  readonly #block: Block = {
    count: 0,
    source: NONE,
    sourceStep: 1,
    out: NONE,
    slotStep: 0,
    wordStep: 0,
    start: 0,
  };

  /** @throws InputError as `toObservationOptions`. */
  constructor(world: World, options: ObservationOptions, numEnvs: number) {
    const parts = encodingOf(world, options);
    const past = parts.filter((part) => part.past);
    this.fields = Object.freeze(parts.map((part) => part.field));
    this.size = sizeOf(this.fields);
    this.#numEnvs = numEnvs;
    this.#now = parts.filter((part) => !part.past).flatMap((part) => columnsOf(part, 0));
    this.#past = Array.from({ length: past.length === 0 ? 0 : HISTORY_STEPS }, (_, step) =>
      past.flatMap((part) => columnsOf(part, step)),
    );
  }

  /**
   * Writes what the slots are shown. Nothing is allocated.
   * @param raw f32 [numEnvs, 22], as OBSERVATION_FIELDS.
   * @param rawStride 0 for rows; else number k of slot i is at `k * rawStride + i`.
   * @param history the steps so far, the last one among them; null unless the options ask for history.
   * @param out f32 [numEnvs, size]; no view of `raw`'s memory.
   * @param outStride of `out`, as `rawStride` of `raw`.
   * @param mask u8 [numEnvs], the slots to write, the others stay as they are; null for all.
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
    block.slotStep = outStride === 0 ? this.size : 1;
    block.wordStep = outStride === 0 ? 1 : outStride;
    for (let from = 0; from < this.#numEnvs; from += BLOCK) {
      select(block, from, Math.min(from + BLOCK, this.#numEnvs), mask);
      block.source = raw;
      block.sourceStep = rawStride === 0 ? 1 : rawStride;
      for (let m = 0; m < block.count; m++) BASES[m] = SLOTS[m] * rowSize;
      writeAll(block, this.#now);
      if (history !== null) this.#encodePast(block, history);
    }
    // No hold on the caller's arrays.
    block.source = block.out = NONE;
  }

  #encodePast(block: Block, { rings, oldest }: HistoryRows): void {
    block.source = rings;
    block.sourceStep = 1;
    for (let step = 0; step < this.#past.length; step++) {
      for (let m = 0; m < block.count; m++) {
        const entry = (oldest[SLOTS[m]] + step) % HISTORY_STEPS;
        BASES[m] = SLOTS[m] * HISTORY_SIZE + entry * RECORD_SIZE;
      }
      writeAll(block, this.#past[step]);
    }
  }
}

/** The columns of a part, of one step of it if it is past. */
function columnsOf({ field, source, encoding, past }: Part, step: number): Column[] {
  const size = past ? field.size / HISTORY_STEPS : field.size;
  const low = field.rawLow;
  const start = past ? source.offset - RECORD_START : source.offset;
  return Array.from({ length: size }, (_, k) => ({
    encoding,
    target: field.offset + step * size + k,
    source: encoding === 'one_hot' ? start : start + k,
    low,
    inverseSpan: 1 / (field.rawHigh - low),
    code: low + k,
  }));
}

function select(block: Block, from: number, to: number, mask: Uint8Array | null): void {
  const { slotStep } = block;
  let count = 0;
  for (let i = from; i < to; i++) {
    if (mask !== null && mask[i] === 0) continue;
    SLOTS[count] = i;
    TARGETS[count++] = (i - from) * slotStep;
  }
  block.count = count;
  block.start = from * slotStep;
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

/** In float64, rounded once: so `low` is 0 and `high` is 1 exactly, and the middle of bounds around 0 is 0.5. */
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
