/** Quotes a word for a shell: returns it in single quotes, unless it consists of ASCII letters, digits and ./,:=+-_ */
export const shellWord = (word: string): string =>
  /^[\w./,:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
