/** Faults of rows that cannot be replayed. */
import { InputError } from '../../shared/errors.js';

/** The fault of a row. Invalid rows do not affect the others. */
export interface RowFault {
  /** The index of the row. */
  readonly index: number;
  /** The code of the error. */
  readonly code: InputError['code'];
  /** The error's message: what was expected, what came, where, and what to do. */
  readonly message: string;
}

/** Records a fault, so that its row is left out. */
export type Blame = (index: number, fault: InputError) => void;

/** The first fault of each row. */
export class Faults {
  readonly #throws: boolean;
  readonly #found = new Map<number, RowFault>();

  /** @param throws whether the first fault is thrown instead of recorded. */
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

  /** The indices of invalid rows, in the order found. */
  get rows(): IterableIterator<number> {
    return this.#found.keys();
  }

  inOrder(): RowFault[] {
    return [...this.#found.values()].sort((a, b) => a.index - b.index);
  }
}

/** Runs `act` for one row. An InputError is recorded as the row's fault. */
export function attempt(index: number, blame: Blame, act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    blame(index, error);
  }
}
