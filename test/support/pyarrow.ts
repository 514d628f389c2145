/** PyArrow, in a Python process: what it reads out of a Parquet file. */
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

/** Why PyArrow cannot be asked here; null if it can. @throws if `RHYTHM_REQUIRE` names it and it cannot. */
export const whyAbsent = (): string | null => python.whyAbsent('pyarrow', '15 or later', SCRIPT, null);

/** What PyArrow, and which, reads. */
export const askPyArrow = (path: string): Read => python.askPython(SCRIPT, path);
