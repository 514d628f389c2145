/** The error classes. Every error has a stable `code`; its message may be reworded. */

/** Base class of the package's errors. */
export class RhythmError extends Error {
  /** Stable and machine-readable; see `ErrorCode`. */
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** What is wrong with a value: the parts of an error's message. */
export interface Fault {
  /** What was expected, and where. */
  readonly expected: string;
  readonly got: string;
  /** What to do, as a sentence. */
  readonly remedy: string;
}

/** Words a fault as an error's message. The remedy may begin with a space, as that of `didYouMean` does, or be empty. */
export const sentenceOf = ({ expected, got, remedy }: Fault): string =>
  `Expected ${expected}, got ${got}. ${remedy.trimStart()}`.trimEnd();

/**
 * An invalid argument. The call has changed nothing. Exception: a run with `onProgress` or `signal` plays slices of
 * environments one after the other, and keeps the slices that it has finished.
 */
export class InputError extends RhythmError {
  /** The name of the invalid argument, option, field or column; undefined if the error is about several, or about none. */
  readonly field?: string;
  /** The index of the invalid row, or of the entry of a list; undefined for an error that is not about one row. */
  readonly row?: number;
  /** The parts of the message; undefined for a message that has not these parts. */
  readonly fault?: Fault;

  /**
   * @param fault what is wrong, or the message. @param at the field, or field and row, of the invalid value; a fault may have
   *   it too. A phrase, such as "the number of rows", names no field.
   */
  constructor(
    code: ErrorCode,
    fault: string | (Fault & { readonly at?: At }),
    { at, ...options }: ErrorOptions & { at?: At } = {},
  ) {
    super(code, typeof fault === 'string' ? fault : sentenceOf(fault), options);
    const place = at ?? (typeof fault === 'string' ? undefined : fault.at);
    const { field, row } = typeof place === 'object' ? place : { field: place, row: undefined };
    if (field !== undefined && /^\w+$/.test(field)) this.field = field;
    if (row !== undefined) this.row = row;
    if (typeof fault === 'string') return;
    const { expected, got, remedy } = fault;
    this.fault = { expected, got, remedy };
  }
}

type At = string | Pick<InputError, 'field' | 'row'>;

/** The place of a value, such as an entry of a list or a field of a row. Its text, such as `rows[3].action[1]`, is its name in messages. */
export class Place {
  readonly field: string | undefined;
  readonly row: number | undefined;
  readonly #text: string;

  constructor(field: string | undefined, row: number | undefined, text = `${field}[${row}]`) {
    this.field = field;
    this.row = row;
    this.#text = text;
  }

  /** Returns the place with a longer text: the place of an entry, or with an explanation. */
  plus(text: string): Place {
    return new Place(this.field, this.row, this.#text + text);
  }

  toString(): string {
    return this.#text;
  }
}

/** The name of an argument, or the place of a value, for an error. */
export type Where = string | Place;

/**
 * A call that the environment's current state does not allow. It has changed nothing, unless the code is `outputs_detached`.
 */
export class StateError extends RhythmError {}

/** A backend, kernel or addon that is unavailable here, a lack of memory, or a device that was lost or failed. */
export class BackendError extends RhythmError {}

/** A missing optional package that a call needs. */
export class LibraryError extends RhythmError {}

/**
 * The codes of errors. They are stable; docs/guides/errors.md says when each is thrown, and with which class.
 */
export type ErrorCode =
  | 'wrong_type'
  | 'wrong_length'
  | 'out_of_range'
  | 'unknown_option'
  | 'unknown_name'
  | 'bad_seed'
  | 'bad_belief'
  | 'bad_profile'
  | 'bad_grader'
  | 'bad_world'
  | 'bad_snapshot'
  | 'bad_audit'
  | 'bad_student'
  | 'illegal_action'
  | 'policy_failed'
  | 'not_alike'
  | 'foreign_past'
  | 'not_reset'
  | 'no_snapshot'
  | 'episode_over'
  | 'busy'
  | 'closed'
  | 'outputs_detached'
  | 'backend_unavailable'
  | 'out_of_memory'
  | 'device_lost'
  | 'device_failed'
  | 'addon_missing'
  | 'addon_stale'
  | 'library_missing'
  | 'missing_setting'
  | 'endpoint_failed'
  | 'over_budget'
  | 'hub_failed'
  | 'queue_failed';
