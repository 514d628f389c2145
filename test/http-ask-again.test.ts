/** Asking again: as often as there is any use in it, and with waits that somebody else decides on. */
import { expect, it } from 'vitest';
import { type AskAgainOptions, askAgain, backOff } from '../src/http/ask-again.js';
import { PatientClock } from './support/patient-clock.js';

/** Fails so often, by counting; what was asked and waited for until it settled. */
async function outcomeOf(failures: number, options: Partial<AskAgainOptions>) {
  const clock = new PatientClock();
  const { signal } = new AbortController();
  let asked = 0;
  const ask = async () => {
    asked++;
    if (asked <= failures) throw new Error(`failure ${asked}`);
    return `answer ${asked}`;
  };
  const settled = askAgain(ask, {
    retries: 3,
    signal,
    clock,
    waitAfter: ({ attempt }) => attempt,
    ...options,
  });
  const said = await settled.catch((error: Error) => error.message);
  return { said, asked, waits: clock.waits };
}

it('waits as it is told after each failure, until there is an answer', async () => {
  expect(await outcomeOf(3, {})).toEqual({ said: 'answer 4', asked: 4, waits: [1, 2, 3] });
});

it('ends with the last failure, without waiting for nothing', async () => {
  expect(await outcomeOf(9, {})).toEqual({ said: 'failure 4', asked: 4, waits: [1, 2, 3] });
  expect(await outcomeOf(9, { retries: 0 })).toEqual({ said: 'failure 1', asked: 1, waits: [] });
});

it('ends where there is no use in another attempt, with the failure or with words for it', async () => {
  const twice: AskAgainOptions['waitAfter'] = ({ attempt }) => (attempt < 2 ? 7 : null);
  expect(await outcomeOf(9, { waitAfter: twice })).toEqual({ said: 'failure 2', asked: 2, waits: [7] });
  const told: AskAgainOptions['waitAfter'] = ({ error, left }) => {
    if (left === 0) throw new Error(`after all: ${error.message}`);
    return 7;
  };
  expect((await outcomeOf(9, { waitAfter: told })).said).toBe('after all: failure 4');
});

it('ends with the reason of its signal, also after a failure', async () => {
  const stop = new AbortController();
  const waitAfter = () => {
    stop.abort(new Error('enough'));
    return 7;
  };
  const outcome = await outcomeOf(9, { signal: stop.signal, waitAfter });
  expect(outcome).toEqual({ said: 'enough', asked: 1, waits: [] });
});

it('backs off by doubling', () => {
  const waits = [1, 2, 3, 4].map((attempt) => backOff({ first: 500, last: 1500 }, attempt));
  expect(waits).toEqual([500, 1000, 1500, 1500]);
});
