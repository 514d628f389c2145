/** What an agent is shown, as a caller may choose it. */
import { InputError } from '../errors.js';
import { didYouMean } from '../suggest.js';
import { checkBoolean, checkOptions, describe } from '../validate/values.js';
import { OBSERVATION_FIELDS } from '../world/fields.js';

export interface ObservationOptions {
  /** Names of OBSERVATION_FIELDS, each at most once, in the order in which they are shown. Default: all. */
  fields?: readonly string[];
  /** Day, slot, event and action codes as one-hot blocks. Default false. */
  oneHot?: boolean;
  /** Every number scaled to [0, 1]. Default false. */
  scale?: boolean;
  /** The last seven steps after the fields. Default false. It takes 337 bytes more for each slot. */
  history?: boolean;
}

const OPTIONS: readonly (keyof ObservationOptions)[] = ['fields', 'oneHot', 'scale', 'history'];
const NAMES: readonly string[] = OBSERVATION_FIELDS.map((field) => field.name);

/**
 * Checks options and fills in the defaults. What it returns is frozen, and passes again.
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

/** Whether the options ask for the raw rows: nothing has to be encoded then. @throws as `toObservationOptions`. */
export function isPlain(options?: ObservationOptions): boolean {
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
      'Expected at least one name in observation.fields, got an empty array. Leave it out to show all.',
    );
  }
  // Array.from makes holes visible.
  const names = Array.from(fields, toName);
  const again = names.findIndex((name, index) => names.indexOf(name) < index);
  if (again < 0) return Object.freeze(names);
  throw new InputError(
    'out_of_range',
    `Expected each name once in observation.fields, got "${names[again]}" again at observation.fields[${again}]. Remove it.`,
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
