/** Parts of requests to a model: deadlines, names of the token limit, pauses and tallies. */
import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { UsageTally } from '../../../src/agents/llm/ledger.js';
import { LimitNames } from '../../../src/agents/llm/request-faults.js';
import { Deadline, RateLimiter } from '../../../src/agents/llm/request-timing.js';
import { FakeClock } from '../../support/fake-clock.js';
import { NEVER } from '../../support/llm.js';

it('a deadline passes when its time is over or aborts with its signal, and leaves no timer or listener', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const outer = new AbortController();
  const { signal } = outer;
  const stateOf = ({ passed, signal: { aborted } }: Deadline) => [passed, aborted];
  const leftOver = () => [vi.getTimerCount(), getEventListeners(signal, 'abort').length];
  const passing = new Deadline(1000, signal);
  vi.advanceTimersByTime(999);
  expect(stateOf(passing)).toEqual([false, false]);
  vi.advanceTimersByTime(1);
  expect(stateOf(passing)).toEqual([true, true]);
  passing.end();
  const ended = new Deadline(1000, signal);
  expect(leftOver()).toEqual([1, 1]);
  ended.end();
  expect([...leftOver(), ...stateOf(ended)]).toEqual([0, 0, false, false]);
  const aborted = new Deadline(1000, signal);
  outer.abort();
  const late = new Deadline(1000, signal);
  expect([stateOf(aborted), stateOf(late)]).toEqual([
    [false, true],
    [false, true],
  ]);
  aborted.end();
  late.end();
  expect(leftOver()).toEqual([0, 0]);
});

it('a refused name of the token limit is never used again, even if an answer exceeds its limit', () => {
  const names = new LimitNames();
  expect([names.refuse('max_completion_tokens'), names.current]).toEqual([true, 'max_tokens']);
  expect(names.refuse('max_tokens')).toBe(false);
  const ignoring = new LimitNames();
  ignoring.exceeded();
  expect(ignoring.current).toBe('max_tokens');
  expect([ignoring.refuse('max_tokens'), ignoring.current]).toEqual([true, 'max_completion_tokens']);
  ignoring.exceeded();
  expect(ignoring.current).toBe('max_completion_tokens');
});

describe('a rate limiter', () => {
  /** Returns a limiter whose waits also run `duringWait`, and its clock. */
  function limiterWith(
    duringWait: (limiter: RateLimiter, waits: number) => void = () => {},
    setBack = () => 0,
  ) {
    const clock = new FakeClock();
    const limiter: RateLimiter = new RateLimiter({
      now: () => clock.now() - setBack(),
      wait: async (ms, signal) => {
        await clock.wait(ms, signal);
        duringWait(limiter, clock.waits.length);
      },
    });
    return { clock, limiter };
  }

  it('pauses for the longest requested wait, and longer if a wait is requested during the pause', async () => {
    const { clock, limiter } = limiterWith((limiter, waits) => waits === 1 && limiter.pause(300));
    limiter.pause(5000);
    limiter.pause(1000);
    await limiter.wait(NEVER);
    await limiter.wait(NEVER);
    expect(clock.waits).toEqual([5000, 300]);
  });

  it.each(['before', 'during'])('ends its pause if the clock is set back %s the wait', async (moment) => {
    let back = 0;
    const setBack = () => {
      back = 86_400_000;
    };
    const { clock, limiter } = limiterWith(setBack, () => back);
    limiter.pause(1000);
    if (moment === 'before') setBack();
    await limiter.wait(NEVER);
    expect(clock.waits).toEqual(moment === 'before' ? [] : [1000]);
  });
});

it('a tally sums the usage of answers, with and without token counts, and counts unanswered requests', () => {
  const tally = new UsageTally();
  tally.requests = 7;
  tally.addAnswer({ requests: 2, prompt_tokens: 100, completion_tokens: 30, cut_off: 1, refused: 0 });
  tally.addAnswer({ requests: 3, prompt_tokens: 1000, completion_tokens: 5, cut_off: 1, refused: 1 });
  tally.addAnswer({ requests: 1 });
  const counts = { requests: 7, answers: 3, promptTokens: 1100, completionTokens: 35, cutOff: 2, refused: 1 };
  expect({ ...tally, unanswered: tally.unanswered }).toEqual({ ...counts, unanswered: 4 });
});
