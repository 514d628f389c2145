/** The types of figures, which are plain data that `svg.ts` renders, and checks of their data. */
import { InputError } from '../shared/errors.js';
import type { Interval } from '../shared/statistics.js';
import { checkLength, describe, isList, wrongType } from '../shared/values.js';

/** A figure. */
export interface Drawing {
  /** The title, one line. */
  readonly title: string;
  /** A description in words (alternative text). */
  readonly description: string;
  /** A Vega-Lite specification (https://vega.github.io/vega-lite/) as JSON, for use with `CONFIG` of theme.ts. */
  readonly spec: object;
}

/** A figure and the name of its files. */
export interface NamedDrawing {
  /** The name of the figure's files, without extension. */
  readonly name: string;
  readonly drawing: Drawing;
}

/** The texts above a figure. */
export interface Caption {
  /** Default: the subject of the figure. */
  readonly title?: string;
  /** Notes below the title, one line each. Lines are not wrapped. */
  readonly notes?: readonly string[];
}

/** A row, panel or group of a figure. Names are unique within a list of rows, panels or groups. */
export interface Named {
  readonly name: string;
}

/**
 * Checks that there are rows, and that their names are unique.
 * @throws InputError `wrong_type`, `wrong_length` or `out_of_range`.
 */
export function checkNames(what: string, rows: readonly Named[]): void {
  if (!Array.isArray(rows) || rows.length === 0) {
    throw new InputError(Array.isArray(rows) ? 'wrong_length' : 'wrong_type', {
      expected: `${what} to be an array of at least one entry`,
      got: describe(rows),
      remedy: 'Pass an array with entries.',
    });
  }
  const names = new Set<string>();
  rows.forEach((row: Partial<Named> | null, i) => {
    const name = row?.name;
    if (typeof name !== 'string' || name === '') {
      throw new InputError('wrong_type', {
        expected: `a name at ${what}[${i}]`,
        got: describe(name),
        remedy: 'Pass a non-empty string.',
      });
    }
    if (names.has(name)) {
      throw new InputError('out_of_range', {
        expected: `unique names in ${what}`,
        got: `${describe(name)} again at ${what}[${i}]`,
        remedy: 'Rename an entry.',
      });
    }
    names.add(name);
  });
}

/**
 * Checks a list of `count` entries.
 * @param unit what `count` counts, for the error. @throws InputError `wrong_type` or `wrong_length`.
 */
export function checkList(where: string, list: unknown, count: number, unit: string): void {
  if (!isList(list)) {
    throw wrongType(where, 'an array', list, `Pass ${count} numbers (${unit}).`);
  }
  checkLength(`numbers in ${where}`, list.length, count, unit);
}

/** Checks a list of finite numbers. @throws InputError `wrong_type`, `wrong_length` or `out_of_range`. */
export function checkNumbers(where: string, numbers: ArrayLike<number>, count: number, unit: string): void {
  checkList(where, numbers, count, unit);
  for (let i = 0; i < count; i++) checkNumber(`${where}[${i}]`, numbers[i]);
}

/** Checks a finite number. @throws InputError `out_of_range`. */
export function checkNumber(where: string, value: unknown): void {
  if (Number.isFinite(value)) return;
  throw new InputError('out_of_range', {
    expected: `${where} to be a finite number`,
    got: describe(value),
    remedy: 'Omit values that were not measured.',
  });
}

/** Checks a mean and the ends of its interval, which may be null. @throws InputError `out_of_range`. */
export function checkInterval(name: string, what: string, { mean, low, high }: Interval): void {
  checkNumber(`the ${what} of "${name}"`, mean);
  if (low !== null) checkNumber(`the interval's low end of "${name}"`, low);
  if (high !== null) checkNumber(`the interval's high end of "${name}"`, high);
}
