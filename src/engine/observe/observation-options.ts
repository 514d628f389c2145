/** Options of observations, and their validation. */
import { InputError } from '../../shared/errors.js';
import { didYouMean } from '../../shared/names.js';
import { checkBoolean, checkOptions, describe } from '../../shared/values.js';
import { OBSERVATION_FIELDS } from '../../world/fields.js';

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
    throw new InputError(
      'wrong_type',
      `Expected observation.fields to be an array of names, got ${describe(fields)}. Pass some of ${NAMES.join(', ')}.`,
    );
  }
  if (fields.length === 0) {
    throw new InputError(
      'wrong_length',
      'Expected at least one name in observation.fields, got an empty array. Leave out fields for all of them.',
    );
  }
  // Array.from makes holes visible.
  const names = Array.from(fields, toName);
  const repeated = names.findIndex((name, index) => names.indexOf(name) < index);
  if (repeated < 0) return Object.freeze(names);
  throw new InputError(
    'out_of_range',
    `Expected each name once in observation.fields, got "${names[repeated]}" again at observation.fields[${repeated}]. Remove it.`,
  );
}

function toName(name: unknown, index: number): string {
  if (typeof name !== 'string') {
    throw new InputError(
      'wrong_type',
      `Expected a name at observation.fields[${index}], got ${describe(name)}. Pass one of ${NAMES.join(', ')}.`,
    );
  }
  if (NAMES.includes(name)) return name;
  throw new InputError(
    'unknown_name',
    `Expected one of ${NAMES.join(', ')} at observation.fields[${index}], got ${describe(name)}.${didYouMean(name, NAMES)}`,
  );
}
