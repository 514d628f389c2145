/** Quotes a word for a shell. */
export const shellWord = (word: string): string =>
  /^[\w./,:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
