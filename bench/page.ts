/**
 * `--page`: measures the demo page in Chromium without WebGPU, with a warm cache: the times to the first chart and of a crowd, and
 * the longest task of the main thread while the page is used.
 */
import type { Browser, Page } from 'playwright-core';
import { launch } from '../test/support/chromium/chromium.js';
import { Site, SiteServer } from '../test/support/web/site.js';
import { digits, type Section, table } from './report.js';
import { median, progress } from './runner.js';

/** Chosen by hand: more loads and inputs find rarer delays, and take longer. */
const FULL = {
  /** Loads with a warm cache. */
  loads: 5,
  /** Inputs of each kind: keys, moves of a slider, painted squares. 28 inputs play a whole week. */
  inputs: 28,
  /** The number of people in the crowd whose tasks are measured. */
  people: 10_000,
};
type PagePlan = typeof FULL;
const SMALL: PagePlan = { loads: 1, inputs: 3, people: 1000 };

/** The time limit of a wait, in milliseconds. Chosen by hand: a lower limit could end waits on a busy machine. */
const LIMIT = 300_000;

/** What a load waits for: an address, and a selector of what appears. */
const AWAITED = {
  'the first chart': ['', 'svg.ring.draggable'],
  'a crowd of 100,000 people': ['#crowd', '.results[aria-busy="false"]'],
} as const;

/** Loads the page repeatedly. @returns the seconds until the awaited part of each load but the first. */
async function loadTimes(
  page: Page,
  site: Site,
  { loads }: PagePlan,
  [fragment, selector]: (typeof AWAITED)[keyof typeof AWAITED],
): Promise<number[]> {
  const seconds: number[] = [];
  // The first load fills the cache.
  for (let load = 0; load <= loads; load++) {
    await progress(`page, load ${load} of ${loads}`);
    await page.goto('about:blank');
    const start = performance.now();
    await page.goto(site.at(fragment));
    await page.locator(selector).first().waitFor();
    if (load > 0) seconds.push((performance.now() - start) / 1000);
  }
  return seconds;
}

type Use = (page: Page, site: Site, plan: PagePlan) => Promise<void>;

const waitForResults = (page: Page): Promise<void> => page.locator('.results[aria-busy="false"]').waitFor();

/** Waits until the main thread has nothing to do, for a second at most. */
const waitUntilIdle = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((done) => requestIdleCallback(() => done(null), { timeout: 1000 }))');

/** Loads a view in a new document. */
async function open(page: Page, site: Site, fragment: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(site.at(fragment));
}

/** Presses keys like a person, who waits for the page after each. */
async function press(page: Page, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await page.keyboard.press(key);
    await waitUntilIdle(page);
  }
}

/** The uses of the page, by name. */
const USES: Readonly<Record<string, Use>> = {
  'at the start, in the crowd and between views': async (page, site, { people }) => {
    await open(page, site, `#crowd?people=${people}`);
    await waitForResults(page);
    await page.getByRole('combobox', { name: 'Grader' }).selectOption('v3');
    await waitForResults(page);
    for (const name of ['One person', 'Daily', 'Sequence', 'Train', 'Graders', 'Crowd']) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      await waitUntilIdle(page);
    }
  },
  'while a week is played': async (page, site, { inputs }) => {
    await open(page, site, '#person');
    await page.getByText('0 of 28 slots').waitFor();
    // Each digit plays an action.
    const keys = Array.from('4571845718457184571845718457').slice(0, inputs);
    for (const [k, key] of keys.entries()) {
      await page.keyboard.press(key);
      const after =
        k === 27 ? page.getByRole('heading', { name: 'Who it was' }) : page.getByText(`${k + 1} of 28 slots`);
      await after.waitFor();
      await waitUntilIdle(page);
    }
  },
  'in Graders, while a weight is changed': async (page, site, { inputs }) => {
    await open(page, site, '#graders');
    await page.locator('ul.flips').waitFor({ state: 'attached' });
    await page.getByRole('slider').first().focus();
    await press(page, new Array<string>(inputs).fill('ArrowRight'));
    await page.locator('ul.flips').waitFor({ state: 'attached' });
    await waitUntilIdle(page);
  },
  'in Train, while a student trains': async (page, site) => {
    await open(page, site, '#train?teacher=heuristic%2Binference');
    await page.getByRole('button', { name: 'Start training' }).click();
    await page.getByRole('heading', { name: /student scores 0\.\d{3}, / }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Train another student' }).waitFor();
    await waitUntilIdle(page);
  },
  'in Sequence, while squares are painted': async (page, site, { inputs }) => {
    await open(page, site, '#sequence');
    await page.locator('.scores[aria-busy="false"]').waitFor();
    await page.locator('[data-step="0"]').focus();
    // A digit paints a square with its action. A row has seven squares; Home returns to the first.
    for (let k = 0; k < inputs; k++) await press(page, ['4', k % 7 === 6 ? 'Home' : 'ArrowRight', '6']);
    await page.locator('.scores[aria-busy="false"]').waitFor();
    await waitUntilIdle(page);
  },
};

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of the thread's processor time, which other programs do not lengthen. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** Returns the processor time of the longest task of the main thread during `work`, in milliseconds. */
async function longestTask(page: Page, work: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()));
  const traceConfig = { includedCategories: ['toplevel'] };
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig });
  await work();
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const threads = events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  const mains = new Set(threads.map(threadOf));
  const times = events.flatMap((event) =>
    event.name === 'ThreadControllerImpl::RunTask' && mains.has(threadOf(event)) ? [event.tdur ?? 0] : [],
  );
  if (times.length === 0) throw new Error('Expected tasks of the main thread in the trace, got none.');
  return times.reduce((longest, time) => Math.max(longest, time), 0) / 1000;
}

export const page: Section = {
  help: 'the demo page in Chromium: the times to its first chart and of a crowd, and its longest tasks',
  /** Builds, serves and measures the page. */
  async measure(small) {
    await progress('page, build');
    const plan = small ? SMALL : FULL;
    let browser: Browser;
    try {
      browser = await launch('no webgpu');
    } catch (error) {
      const missing = (error as Error).message;
      return { figures: { missing }, text: `The page was not measured: ${missing}` };
    }
    const server = await SiteServer.open({ cached: true });
    try {
      const site = await Site.at(server.origin);
      // All loads share one context, and so its cache. The context has no routes, because they would disable the cache.
      const page = await (await browser.newContext()).newPage();
      page.setDefaultTimeout(LIMIT);
      const loads: Record<string, number[]> = {};
      for (const [name, awaited] of Object.entries(AWAITED))
        loads[name] = await loadTimes(page, site, plan, awaited);
      const longestTasks = [];
      for (const [use, run] of Object.entries(USES)) {
        await progress(`page, ${use}`);
        longestTasks.push({ use, ms: await longestTask(page, () => run(page, site, plan)) });
      }
      const lines = longestTasks.map(({ use, ms }) => [use, digits(ms, 1)]);
      const times = Object.entries(loads).map(([name, seconds]) => [
        name,
        ...[Math.min(...seconds), median(seconds), Math.max(...seconds)].map((each) => digits(each, 2)),
      ]);
      const text = [
        table(['the page: longest task of the main thread', 'ms of the processor'], lines),
        table(['the page without WebGPU, warm cache: seconds until', 'least', 'median', 'most'], times),
      ].join('\n');
      return { figures: { loads, longestTasks }, text };
    } finally {
      await browser.close();
      await server.close();
    }
  },
};
