/** The error for an invalid snapshot. */
import { InputError } from '../../shared/errors.js';

/** The default remedy. */
const UNCHANGED = 'Pass the bytes as snapshot() returned them.';

/** @throws InputError `bad_snapshot`: "Expected `expected`, got `got`. `remedy`" */
export function refuse(expected: string, got: string | number, remedy = UNCHANGED): never {
  throw new InputError('bad_snapshot', `Expected ${expected}, got ${got}. ${remedy}`);
}
