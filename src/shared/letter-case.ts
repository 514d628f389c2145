/** Converts names between snake_case (files and protocols) and camelCase (code). */

/** Returns `earlyMean` for `early_mean`. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/** Returns `early_mean` for `earlyMean`. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
