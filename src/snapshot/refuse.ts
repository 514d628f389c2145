/** What is said of bytes that are no good snapshot. */
import { InputError } from '../errors.js';

/** For damage of any kind: nothing else helps. */
const UNCHANGED = 'Pass the bytes as snapshot() returned them.';

/** @throws InputError `bad_snapshot`: "Expected `expected`, got `got`. `remedy`" */
export function refuse(expected: string, got: string | number, remedy = UNCHANGED): never {
  throw new InputError('bad_snapshot', `Expected ${expected}, got ${got}. ${remedy}`);
}
