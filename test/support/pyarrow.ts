/** Reads Parquet files with PyArrow, in a Python process. */
import * as python from './python.js';

export interface Read {
  readonly version: string;
  /** By column. */
  readonly types: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly rowGroups: number;
  readonly rows: readonly unknown[];
}

const SCRIPT = 'parquet/rows.py';

/** Returns why PyArrow cannot run here; null if it can. @throws if `RHYTHM_REQUIRE` names it and it cannot. */
export const whyAbsent = (): string | null => python.whyAbsent('pyarrow', '15 or later', SCRIPT, null);

/** Reads a file. @returns its contents and PyArrow's version. */
export const askPyArrow = (path: string): Read => python.askPython(SCRIPT, path);
