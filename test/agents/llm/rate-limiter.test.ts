/** The pauses of the rate limiter. */
import { expect, it } from 'vitest';
import { RateLimiter } from '../../../src/agents/llm/rate-limiter.js';
import { FakeClock } from '../../support/fake-clock.js';
import { NEVER } from '../../support/llm.js';

it('a rate limiter pauses for the longest requested wait', async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter(clock);
  limiter.pause(5000);
  limiter.pause(1000);
  await limiter.wait(NEVER);
  await limiter.wait(NEVER);
  expect(clock.waits).toEqual([5000]);
});

it('a rate limiter extends a pause in progress', async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({
    now: clock.now,
    wait: async (ms, signal) => {
      await clock.wait(ms, signal);
      if (clock.waits.length === 1) limiter.pause(300);
    },
  });
  limiter.pause(1000);
  await limiter.wait(NEVER);
  expect(clock.waits).toEqual([1000, 300]);
});

it('a rate limiter ends its pause if the clock is set back to a time before the pause', async () => {
  const waits: number[] = [];
  let now = 10_000;
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms);
    now += ms;
  };
  const limiter = new RateLimiter({ now: () => now, wait });
  limiter.pause(5000);
  now = 9999;
  await limiter.wait(NEVER);
  expect(waits).toEqual([]);
});
