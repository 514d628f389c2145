/** A word as a shell takes it: what people copy from a card. */
export const shellWord = (word: string): string =>
  /^[\w./,:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
