/** Encodes observations: computes the table of their fields (names, offsets, bounds, meanings), and copies, scales or one-hot
 * encodes their numbers. */

import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import { checkBoolean, checkOptions, describe, wrongType } from '../../shared/values.js';
import {
  ACTION_NAMES,
  EVENT_NAMES,
  type Field,
  METER_NAMES,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
  sizeOf,
} from '../../world/fields.js';
import { RHYTHM } from '../../world/numbers.js';
import type { World } from '../../world/world.js';
import { arrays } from '../arrays.js';
import { largestMagnitudes, type Magnitudes } from './bounds.js';
import { HISTORY_STEPS, type HistoryRows, historyOffset, RECORD_FIELDS } from './history.js';

/** The fields of an observation and their encoding. No option changes an episode. */
export interface ObservationOptions {
  /** Names of OBSERVATION_FIELDS, each at most once. The observation has its fields in the order of this list. Default: all. */
  fields?: readonly string[];
  /** Whether codes of day, slot, event and action are one-hot blocks. Default false. */
  oneHot?: boolean;
  /** Whether every number is scaled to [0, 1]. Default false. */
  scale?: boolean;
  /**
   * Whether the last seven steps follow the fields. Default false. Takes 336 bytes for each environment (twelve floats for each
   * step), besides the memory of the array of encoded observations.
   */
  history?: boolean;
}

const OPTIONS: readonly (keyof ObservationOptions)[] = ['fields', 'oneHot', 'scale', 'history'];
const NAMES: readonly string[] = OBSERVATION_FIELDS.map((field) => field.name);

/**
 * Checks options and fills in the defaults. The result is frozen, and valid as options.
 * @throws InputError `unknown_option`, `unknown_name`, `wrong_type`, `wrong_length` (no field at all) or
 *   `out_of_range` (a field twice).
 */
export function toObservationOptions(
  options: ObservationOptions = {},
): Readonly<Required<ObservationOptions>> {
  checkOptions('observation options', options, OPTIONS);
  const { fields, oneHot = false, scale = false, history = false } = options;
  return Object.freeze({
    fields: fields === undefined ? Object.freeze([...NAMES]) : toNames(fields),
    oneHot: checkBoolean('observation.oneHot', oneHot),
    scale: checkBoolean('observation.scale', scale),
    history: checkBoolean('observation.history', history),
  });
}

/** Returns whether observations with these options are raw rows, without encoding. */
export function isRaw(options?: ObservationOptions): boolean {
  const { fields, oneHot, scale, history } = toObservationOptions(options);
  return !oneHot && !scale && !history && NAMES.every((name, k) => fields[k] === name);
}

function toNames(fields: unknown): readonly string[] {
  if (!Array.isArray(fields)) {
    throw wrongType('observation.fields', 'an array of names', fields, `Pass some of ${NAMES.join(', ')}.`);
  }
  if (fields.length === 0) {
    throw new InputError('wrong_length', {
      expected: 'at least one name in observation.fields',
      got: 'an empty array',
      remedy: 'Leave out fields for all of them.',
    });
  }
  // Array.from makes holes visible.
  const names = Array.from(fields, toName);
  const repeated = names.findIndex((name, index) => names.indexOf(name) < index);
  if (repeated < 0) return Object.freeze(names);
  throw new InputError('out_of_range', {
    expected: 'each name once in observation.fields',
    got: `"${names[repeated]}" again at observation.fields[${repeated}]`,
    remedy: 'Remove it.',
  });
}

function toName(name: unknown, index: number): string {
  if (typeof name !== 'string') {
    throw new InputError('wrong_type', {
      expected: `a name at observation.fields[${index}]`,
      got: describe(name),
      remedy: `Pass one of ${NAMES.join(', ')}.`,
    });
  }
  if (NAMES.includes(name)) return name;
  throw new InputError('unknown_name', {
    expected: `one of ${NAMES.join(', ')} at observation.fields[${index}]`,
    got: describe(name),
    remedy: didYouMean(name, NAMES),
  });
}

/** A field of an encoded observation. */
export interface EncodedField extends Field {
  /** The raw value that is encoded as `low`; for a one-hot block, its first code. */
  readonly rawLow: number;
  /** The raw value that is encoded as `high`; for a one-hot block, its last code. */
  readonly rawHigh: number;
}

/** The fields of an observation without encoding. */
export const RAW_FIELDS: readonly EncodedField[] = Object.freeze(
  OBSERVATION_FIELDS.map((field) => Object.freeze({ ...field, rawLow: field.low, rawHigh: field.high })),
);

/** How a value is encoded: as it is, scaled to [0, 1], or as a one-hot block. */
export type Encoding = 'copy' | 'scale' | 'one_hot';

/** @internal An encoded field and its source. */
export interface FieldEncoding {
  readonly field: EncodedField;
  readonly source: Field;
  readonly encoding: Encoding;
  /** Whether the field belongs to the history, which has one entry for each of the last seven steps. */
  readonly isPast: boolean;
}

/** The values of `day`: 0 to 6, and 7 after the last step. */
const days = Array.from({ length: RHYTHM.days + 1 }, (_, day) => String(day));
/** The names of codes, by field. The first name belongs to the field's `low`. */
const CODES: Readonly<Record<string, readonly string[]>> = {
  day: days,
  slot: RHYTHM.slots,
  event: ['none', ...EVENT_NAMES],
  last_action: ['none', ...ACTION_NAMES],
};

/**
 * @internal Returns the fields of encoded observations in order, with their sources. Names are those of
 *   OBSERVATION_FIELDS. The history follows in four fields, `history_action`, `history_reward`, `history_deltas` and
 *   `history_anomalies`, each [7, size of one entry], the oldest step first.
 * @throws InputError as `toObservationOptions`.
 */
export function encodingOf(world: World, options?: ObservationOptions): readonly FieldEncoding[] {
  const { fields, oneHot, scale, history } = toObservationOptions(options);
  const magnitudes = scale ? largestMagnitudes(world.params) : null;
  const current = fields.map((name) => ({ source: fieldOf(name), isPast: false }));
  const past = history ? RECORD_FIELDS.map((source) => ({ source, isPast: true })) : [];
  let offset = 0;
  return [...current, ...past].map(({ source, isPast }) => {
    const encoding = oneHot && CODES[source.name] !== undefined ? 'one_hot' : scale ? 'scale' : 'copy';
    const encoded = {
      source,
      isPast,
      encoding,
      field: encode(source, encoding, isPast, offset, magnitudes),
    } as const;
    offset += encoded.field.size;
    return encoded;
  });
}

const fieldOf = (name: string): Field => OBSERVATION_FIELDS.find((field) => field.name === name)!;

/** Returns the encoded field of a source. @param offset its offset in the observation. */
function encode(
  source: Field,
  encoding: Encoding,
  isPast: boolean,
  offset: number,
  magnitudes: Magnitudes | null,
): EncodedField {
  const { name, word, low: rawLow, high: rawHigh } = { ...source, ...worldBounds(source.name, magnitudes) };
  const entrySize = encoding === 'one_hot' ? CODES[name].length : source.size;
  const [low, high] = encoding === 'copy' ? [rawLow, rawHigh] : [0, 1];
  const size = isPast ? HISTORY_STEPS * entrySize : entrySize;
  const field = isPast ? `history_${name.replace(/^last_/, '')}` : name;
  const meaning = meaningOf(source, encoding, isPast, entrySize);
  return Object.freeze({ name: field, offset, size, word, low, high, meaning, rawLow, rawHigh });
}

/**
 * Returns the world's bounds of the reward or the anomalies, and null for other fields or without scaling. The bounds of
 * the field table hold in every world, so they are too wide to scale by.
 */
function worldBounds(name: string, magnitudes: Magnitudes | null): { low: number; high: number } | null {
  if (magnitudes === null || (name !== 'reward' && name !== 'anomalies')) return null;
  return { low: -magnitudes[name], high: magnitudes[name] };
}

/** Describes an encoded field. @param entrySize the number of floats per step. */
function meaningOf(
  { name, meaning, size }: Field,
  encoding: Encoding,
  isPast: boolean,
  entrySize: number,
): string {
  // One-hot: the meaning up to the first comma or colon, because what follows explains the codes.
  const what = {
    copy: meaning,
    scale: `${meaning}; scaled from [rawLow, rawHigh] to [0, 1], clamped`,
    one_hot: `${meaning.replace(/[,:].*/, '')}, one-hot: ${CODES[name]?.join(', ')}`,
  }[encoding];
  if (!isPast) return what;
  const missing = encoding === 'one_hot' ? 'none' : name === 'last_action' ? '-1' : '0';
  const order = size === 1 ? '' : `, by meter (${METER_NAMES.join(', ')})`;
  return `the last ${HISTORY_STEPS} steps, oldest first, [${HISTORY_STEPS}, ${entrySize}], missing steps as ${missing}: ${what}${order}`;
}

/** Encodes the observations of a batch. */
export class ObservationEncoder {
  readonly fields: readonly EncodedField[];
  /** The size of an observation. */
  readonly size: number;
  readonly #numEnvs: number;
  /** f64 [fields, 6]: see `Encoder` in native/encoder.h. */
  readonly #parts: Float64Array;

  /** Creates the encoder of a batch's observations. @throws InputError as `toObservationOptions`. */
  constructor(world: World, options: ObservationOptions, numEnvs: number) {
    const encodings = encodingOf(world, options);
    this.fields = Object.freeze(encodings.map(({ field }) => field));
    this.size = sizeOf(this.fields);
    this.#numEnvs = numEnvs;
    this.#parts = Float64Array.from(encodings.flatMap(partOf));
  }

  /**
   * Writes the observations.
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
    const past = history === null ? null : history.rows;
    const count = this.fields.length;
    arrays().encode(this.#numEnvs, this.#parts, count, this.size, raw, rawStride, past, out, outStride, mask);
  }
}

/** Returns the numbers of a part (`Encoder` in native/encoder.h). */
function partOf({ field, source, encoding, isPast }: FieldEncoding): number[] {
  const { offset, rawLow, rawHigh } = field;
  const from = isPast ? OBSERVATION_SIZE + historyOffset(source) : source.offset;
  const size = isPast ? HISTORY_STEPS * source.size : source.size;
  const codes = encoding === 'one_hot' ? rawHigh - rawLow + 1 : 0;
  return [from, size, offset, codes, rawLow, encoding === 'scale' ? 1 / (rawHigh - rawLow) : 0];
}
