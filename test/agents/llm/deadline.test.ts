/** The deadline of a request. */
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Deadline } from '../../../src/agents/llm/deadline.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a deadline passes when its time is over, and not before', () => {
  const deadline = new Deadline(1000, new AbortController().signal);
  vi.advanceTimersByTime(999);
  expect([deadline.passed, deadline.signal.aborted]).toEqual([false, false]);
  vi.advanceTimersByTime(1);
  expect([deadline.passed, deadline.signal.aborted]).toEqual([true, true]);
});

it("a deadline aborts with its caller's signal without having passed", () => {
  const outer = new AbortController();
  const deadline = new Deadline(1000, outer.signal);
  outer.abort();
  expect([deadline.passed, deadline.signal.aborted]).toEqual([false, true]);
});

it('a deadline of an aborted signal is aborted at once, without having passed', () => {
  const deadline = new Deadline(1000, AbortSignal.abort());
  expect([deadline.passed, deadline.signal.aborted]).toEqual([false, true]);
  deadline.end();
  expect(vi.getTimerCount()).toBe(0);
});

it('a deadline removes its timer and listener when it ends', () => {
  const { signal } = new AbortController();
  const deadline = new Deadline(1000, signal);
  expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([1, 1]);
  deadline.end();
  expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
  expect(deadline.signal.aborted).toBe(false);
});
