/** What every picture is checked for before it is drawn. */
import { InputError } from '../errors.js';
import { checkLength, describe, isList } from '../validate/values.js';

/** One line or row of a picture, by a name that no other has. */
export interface Named {
  readonly name: string;
}

/** @throws InputError `wrong_type`, `wrong_length` or `out_of_range`. */
export function checkNames(what: string, rows: readonly Named[]): void {
  if (!Array.isArray(rows) || rows.length === 0) {
    throw new InputError(
      'wrong_length',
      `Expected ${what} to be at least one, got ${describe(rows)}. Pass an array of them.`,
    );
  }
  const seen = new Set<string>();
  rows.forEach((row: Partial<Named> | null, i) => {
    const name = row?.name;
    if (typeof name !== 'string' || name === '') {
      throw new InputError('wrong_type', `Expected a name at ${what}[${i}], got ${describe(name)}. Name it.`);
    }
    if (seen.has(name)) {
      throw new InputError(
        'out_of_range',
        `Expected each of ${what} to have a name of its own, got ${describe(name)} again at ${what}[${i}]. Rename one.`,
      );
    }
    seen.add(name);
  });
}

/** A list of `count` entries. @throws InputError `wrong_type` or `wrong_length`. */
export function checkList(where: string, list: unknown, count: number, unit: string): void {
  if (!isList(list)) {
    throw new InputError(
      'wrong_type',
      `Expected ${where} to be an array, got ${describe(list)}. Pass ${count} numbers (${unit}).`,
    );
  }
  checkLength(`numbers in ${where}`, list.length, count, unit);
}

/** The same of finite numbers. @throws InputError `wrong_type`, `wrong_length` or `out_of_range`. */
export function checkNumbers(where: string, numbers: ArrayLike<number>, count: number, unit: string): void {
  checkList(where, numbers, count, unit);
  for (let i = 0; i < count; i++) checkNumber(`${where}[${i}]`, numbers[i]);
}

/** @throws InputError `out_of_range`. */
export function checkNumber(where: string, value: unknown): void {
  if (Number.isFinite(value)) return;
  throw new InputError(
    'out_of_range',
    `Expected ${where} to be a finite number, got ${describe(value)}. Leave out what was not measured.`,
  );
}
