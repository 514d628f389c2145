/** A student of the page as the page sends it to workers. */
export interface StudentFile {
  readonly name: string;
  /** The bytes of its file, for `readStudent`. */
  readonly file: Uint8Array;
}

/** Returns a text that differs between students, also between those that had the same name one after the other. */
export const keyOf = ({ name, file }: StudentFile): string =>
  `${name} ${file.reduce((sum, byte) => (Math.imul(sum, 31) + byte) >>> 0, 0)}`;
