/** Quotes a word for a shell: returns it in single quotes if it has characters that a shell interprets. */
export const shellWord = (word: string): string =>
  /^[\w./,:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
