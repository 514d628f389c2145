/** Collects the faults of invalid rows, and names the places of rows in errors. */
import { InputError, Place } from '../../shared/errors.js';

/** The error of an invalid row. It does not affect other rows. */
export interface RowFault {
  /** The index of the row. */
  readonly index: number;
  /** The code of the error. */
  readonly code: InputError['code'];
  /** The message of the error. */
  readonly message: string;
}

/** Names the places of rows in errors. */
export class RowNaming {
  readonly #names: Readonly<Record<string, string>> | null;
  readonly #from: number;

  /**
   * @param names other names of fields and columns, for rows that come from columns with these names; null: the rows are the
   *   caller's own. @param from the index of the first row among the caller's rows.
   */
  constructor(names: Readonly<Record<string, string>> | null = null, from = 0) {
    this.#names = names;
    this.#from = from;
  }

  /** Returns the name of a field or column. */
  of(field: string): string {
    return this.#names?.[field] ?? field;
  }

  /** Returns the place of a field of a row that is an object. */
  inObject(row: number, field: string): Place {
    return this.#names === null ? new Place(field, row, `rows[${row}].${field}`) : this.inColumn(row, field);
  }

  /** Returns the place of an entry of a column. @param width entries per row. @param k the entry's index in its row. */
  inColumn(row: number, field: string, width = 1, k = 0): Place {
    const [name, index] = [this.of(field), row + this.#from];
    return new Place(name, index, `${name}[${index * width + k}]`);
  }
}

/** The names of rows that a caller passed itself. */
export const OWN_ROWS = new RowNaming();

/** Called with the fault of a row. The row is then left out. */
export type ReportFault = (index: number, fault: InputError) => void;

/** Collects the first error of each row, or throws the first error of all. */
export class Faults {
  readonly #throws: boolean;
  readonly #found = new Map<number, RowFault>();

  /** @param throws whether the first fault is thrown instead of recorded. */
  constructor(throws: boolean) {
    this.#throws = throws;
  }

  readonly reportFault: ReportFault = (index, fault) => {
    if (this.#throws) throw fault;
    const { code, message } = fault;
    if (!this.#found.has(index)) this.#found.set(index, { index, code, message });
  };

  /** The number of invalid rows. */
  get size(): number {
    return this.#found.size;
  }

  /** Returns whether the row at this index is invalid. */
  has(index: number): boolean {
    return this.#found.has(index);
  }

  /** The indices of invalid rows, in the order found. */
  get rowIndices(): IterableIterator<number> {
    return this.#found.keys();
  }

  /** Returns the faults of rows `from` to `to - 1`, numbered from 0. */
  slice(from: number, to: number): Faults {
    const faults = new Faults(this.#throws);
    for (let row = from; row < to && this.size > 0; row++) {
      const fault = this.#found.get(row);
      if (fault !== undefined) faults.#found.set(row - from, { ...fault, index: row - from });
    }
    return faults;
  }

  /** Returns the faults in the order of their rows. */
  inOrder(): RowFault[] {
    return [...this.#found.values()].sort((a, b) => a.index - b.index);
  }
}

/** Calls `check`. An InputError that it throws is reported as the row's fault. */
export function catchFault(index: number, reportFault: ReportFault, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    reportFault(index, error);
  }
}
