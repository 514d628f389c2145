/** Checks errors of refused calls: class, code, and a message with the expectation, the received value and the remedy. */
import { expect } from 'vitest';
import { type ErrorCode, RhythmError } from '../../src/shared/errors.js';

/** Matches the beginning of the sentence that states the remedy. */
const REMEDY =
  /(?:^|[.?] )(Pass|Call|Create|Use|Remove|Start|Divide|Leave|Numbers for|Return|Run|Make|Did you mean|Tried:|Ask) ?/;

/** Returns the error of a refused call. @throws Error if the call succeeds, or throws another kind of error. */
export function refusalOf(call: () => unknown): RhythmError {
  try {
    call();
  } catch (error) {
    if (error instanceof RhythmError) return error;
    throw new Error(`Expected a RhythmError, got ${error}`, { cause: error });
  }
  throw new Error('Expected a refusal, got none.');
}

/** Expects `call` to be refused with `code` and a complete message that contains each of `mentions`. */
export function expectRefusal(call: () => unknown, code: ErrorCode, ...mentions: string[]): void {
  const error = refusalOf(call);
  expect(error.message).toMatch(/^Expected /);
  expect(error.message).toMatch(/, got /);
  expect(error.message).toMatch(REMEDY);
  expect(error.message).toMatch(/[.?]$/);
  for (const mention of mentions) expect(error.message).toContain(mention);
  expect({ code: error.code, name: error.name }).toEqual({ code, name: classOf(code) });
}

/** Expects a promise to reject with an error that `expectRefusal` accepts. */
export async function expectRejection(
  promise: Promise<unknown>,
  code: ErrorCode,
  ...mentions: string[]
): Promise<void> {
  const error = await promise.then(
    () => new Error('Expected a refusal, got none.'),
    (reason: unknown) => reason,
  );
  expectRefusal(
    () => {
      throw error;
    },
    code,
    ...mentions,
  );
}

const STATE_CODES: readonly ErrorCode[] = [
  'not_reset',
  'no_snapshot',
  'episode_over',
  'closed',
  'busy',
  'outputs_detached',
  'foreign_past',
];

function classOf(code: ErrorCode): string {
  if (STATE_CODES.includes(code)) return 'StateError';
  return /^addon|unavailable|^device/.test(code) ? 'BackendError' : 'InputError';
}
