/** Reads Parquet files with PyArrow, in a Python process. */
import * as python from './python.js';

/** What a file contains, and PyArrow's version. */
export interface ParquetContents {
  readonly version: string;
  /** The type of each column, by name. */
  readonly types: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly rowGroups: number;
  readonly rows: readonly unknown[];
}

const SCRIPT = 'parquet/rows.py';

/** Returns the reason why PyArrow cannot run here, or null. @throws Error instead if `RHYTHM_REQUIRE` names pyarrow. */
export const whyAbsent = (): string | null =>
  python.whyAbsent('pyarrow', '15 or later', SCRIPT, null, python.PYARROW);

/** Reads a file. @returns its contents and PyArrow's version. */
export const askPyArrow = (path: string): ParquetContents =>
  python.askPython(SCRIPT, { path }, python.PYARROW);

/** Copies a file with another compression, as `write_table` names it. */
export const recompress = (path: string, output: string, compression: string): void =>
  void python.askPython(SCRIPT, { path, output, compression }, python.PYARROW);
