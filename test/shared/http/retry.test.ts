/** retry: the number of attempts, the waits between them, and the error at the end. */
import { expect, it } from 'vitest';
import { backOff, type RetryOptions, retry } from '../../../src/shared/http/retry.js';
import { FakeClock } from '../../support/fake-clock.js';

/** Retries a call that fails `failures` times. @returns its result or error message, the attempts and the waits. */
async function outcomeOf(failures: number, options: Partial<RetryOptions>) {
  const clock = new FakeClock();
  const { signal } = new AbortController();
  let attempts = 0;
  const request = async () => {
    attempts++;
    if (attempts <= failures) throw new Error(`failure ${attempts}`);
    return `answer ${attempts}`;
  };
  const waitAfter: RetryOptions['waitAfter'] = ({ attempt }) => attempt;
  const pending = retry(request, { retries: 3, signal, clock, waitAfter, ...options });
  const outcome = await pending.catch((error: Error) => error.message);
  return { outcome, attempts, waits: clock.waits };
}

it('retry waits after each failure, until a call succeeds or no attempt is left', async () => {
  expect(await outcomeOf(3, {})).toEqual({ outcome: 'answer 4', attempts: 4, waits: [1, 2, 3] });
  expect(await outcomeOf(9, {})).toEqual({ outcome: 'failure 4', attempts: 4, waits: [1, 2, 3] });
  expect(await outcomeOf(9, { retries: 0 })).toEqual({ outcome: 'failure 1', attempts: 1, waits: [] });
});

it('retry ends with the error for which waitAfter returns null, or with the error that waitAfter throws', async () => {
  const twice: RetryOptions['waitAfter'] = ({ attempt }) => (attempt < 2 ? 7 : null);
  expect(await outcomeOf(9, { waitAfter: twice })).toEqual({ outcome: 'failure 2', attempts: 2, waits: [7] });
  const explained: RetryOptions['waitAfter'] = ({ error, left }) => {
    if (left === 0) throw new Error(`after all: ${error.message}`);
    return 7;
  };
  expect((await outcomeOf(9, { waitAfter: explained })).outcome).toBe('after all: failure 4');
});

it('retry ends with the reason of its signal if it is aborted after a failure', async () => {
  const stop = new AbortController();
  const waitAfter = () => {
    stop.abort(new Error('enough'));
    return 7;
  };
  const aborted = await outcomeOf(9, { signal: stop.signal, waitAfter });
  expect(aborted).toEqual({ outcome: 'enough', attempts: 1, waits: [] });
});

it('backOff doubles the wait after each attempt, up to `last`', () => {
  const waits = [1, 2, 3, 4].map((attempt) => backOff({ first: 500, last: 1500 }, attempt));
  expect(waits).toEqual([500, 1000, 1500, 1500]);
});
