/** Measures a page's main thread in processor time, which other programs do not lengthen. */
import type { Page } from 'playwright-core';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of the thread's processor time. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** Returns the processor time of the longest task of the main thread during `work`, in milliseconds. */
export async function longestTask(page: Page, work: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel'] },
  });
  await work();
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  const mains = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(threadOf),
  );
  const tasks = events.filter(
    (event) => event.name === 'ThreadControllerImpl::RunTask' && mains.has(threadOf(event)),
  );
  if (tasks.length === 0) throw new Error('Expected tasks of the main thread in the trace, got none.');
  return tasks.reduce((longest, { tdur = 0 }) => Math.max(longest, tdur / 1000), 0);
}

const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
