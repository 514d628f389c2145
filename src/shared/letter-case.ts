/** Converts names between snake_case (files and protocols) and camelCase (code). */

/** Returns `earlyMean` for `early_mean`. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/** Returns `early_mean` for `earlyMean`. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Fields whose name in files and messages is not the snake_case of their name in code. */
const STORED_FIELDS: ReadonlyMap<string, string> = new Map([
  ['firstHalfMean', 'early_mean'],
  ['firstHalfMeans', 'early_means'],
  ['secondHalfMean', 'late_mean'],
  ['secondHalfMeans', 'late_means'],
  ['sequenceGrader', 'tape'],
  ['sequences', 'tapes'],
  ['gains', 'prices'],
  ['openLoop', 'blind_tape'],
  ['openLoopWithConstant', 'blind_tape_with_constant'],
]);

/** Returns the name of a field in files and messages. */
export const storedField = (name: string): string => STORED_FIELDS.get(name) ?? snakeCase(name);
