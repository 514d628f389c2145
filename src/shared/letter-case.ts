/** Converts names between snake_case (files and protocols) and camelCase (code). */

/** Returns `earlyMean` for `early_mean`. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/** Returns `early_mean` for `earlyMean`. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the name of a field in files and messages: `early_mean` for `firstHalfMean`, else that of `snakeCase`. */
export const storedField = (name: string): string =>
  snakeCase(name)
    .replace(/^first_half_mean/, 'early_mean')
    .replace(/^second_half_mean/, 'late_mean');
