/** The error for an invalid snapshot. */
import { InputError } from '../../shared/errors.js';

/** The default remedy. */
const UNCHANGED = 'Pass the bytes as snapshot() returned them.';

/**
 * Throws the error for an invalid snapshot: "Expected `expected`, got `got`. `remedy`". @throws InputError
 * `bad_snapshot`.
 */
export function refuse(expected: string, got: string | number, remedy = UNCHANGED): never {
  throw new InputError('bad_snapshot', `Expected ${expected}, got ${got}. ${remedy}`);
}
