/** Rows that cannot be replayed, and what is wrong with each. */
import { InputError } from '../../errors.js';

/** What is wrong with a row. The others are scored as if it were not there. */
export interface RowFault {
  readonly index: number;
  readonly code: InputError['code'];
  /** As of the error: what was expected, what came, where, and what to do. */
  readonly message: string;
}

/** Takes note of a fault: the row is left out. */
export type Blame = (index: number, fault: InputError) => void;

/** The first fault of each row. */
export class Faults {
  readonly #throws: boolean;
  readonly #found = new Map<number, RowFault>();

  /** @param throws whether the first fault of all is thrown instead. */
  constructor(throws: boolean) {
    this.#throws = throws;
  }

  readonly blame: Blame = (index, fault) => {
    if (this.#throws) throw fault;
    const { code, message } = fault;
    if (!this.#found.has(index)) this.#found.set(index, { index, code, message });
  };

  get size(): number {
    return this.#found.size;
  }

  has(index: number): boolean {
    return this.#found.has(index);
  }

  /** Their indices, in no order. */
  get rows(): IterableIterator<number> {
    return this.#found.keys();
  }

  inOrder(): RowFault[] {
    return [...this.#found.values()].sort((a, b) => a.index - b.index);
  }
}

/** What is done with one row; that it refuses the row is the row's fault. */
export function attempt(index: number, blame: Blame, act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    blame(index, error);
  }
}
