/** Tests the page under stress, such as hostile links, fast input, missing features and small screens, and what it loads at first. */
import { gzipSync } from 'node:zlib';
import type { Page, Response } from 'playwright-core';
import { expect, it } from 'vitest';
import { screenshot } from '../support/web/screenshots.js';
import { SIZES, slots, type Visit } from '../support/web/visit.js';
import { describePage } from '../support/web/visits.js';

/** Moves as `web/src/person/episode.ts` writes them: a digit per action. */
const MOVES = '01234567899876543';
/** A link to a finished episode. "-" comes before the changes of the belief. */
const FINISHED = `#person?moves=${MOVES}21004826159-0_.5_.25_1~9_.61_.33_0`;

/** The limit of the first load, compressed, in bytes. */
const LIMIT = 350_000;

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '\u202e\u0000\uffff',
  '💥'.repeat(500),
  'x'.repeat(100_000),
  '%',
  '%E0%A4%A',
  '__proto__',
  'NaN',
  '-0',
  '1e309',
  '٣',
];

/** The fields of links, by view. Two views have few people, because the default numbers of people take long to play. */
const FIELDS = {
  'crowd?people=1000&': ['seed', 'policy', 'against', 'grader', 'persons'],
  'person?': ['seed', 'person', 'grader', 'by', 'moves', 'at'],
  'daily?': ['day'],
  'sequence?': ['actions', 'grader'],
  'graders?people=48&': ['weights', 'seed'],
};

/** Runs in the page before its own scripts: counts the calls and the answers of each worker. */
const COUNT_CALLS = `globalThis.counts = {};
globalThis.Worker = class extends Worker {
  constructor(url, options) {
    super(url, options);
    this.counts = counts[options.name] = { calls: 0, answers: 0 };
    this.addEventListener('message', () => { this.counts.answers += 1; });
  }
  postMessage(...message) {
    this.counts.calls += 1;
    super.postMessage(...message);
  }
};`;
/**
 * Runs in the page: makes every other change of the address throw, until `history.replaceState` is deleted. If a page
 * changes its address too often, Safari throws and Chromium ignores changes.
 */
const THROWING_HISTORY = `globalThis.replaced = 0;
history.replaceState = (...state) => {
  replaced += 1;
  if (replaced % 2 === 1) throw new DOMException('too many', 'SecurityError');
  History.prototype.replaceState.apply(history, state);
};
null;`;
/** Makes the engine's worker fail to load. */
const NO_ENGINE = `globalThis.Worker = class extends Worker {
  constructor(url, options) {
    super(options.name === 'engine' ? 'missing.js' : url, options);
  }
};`;
/** Makes every access to the browser's storage throw. */
const NO_STORAGE = `Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('none here', 'SecurityError'); },
});`;

const historyLength = (page: Page): Promise<number> => page.evaluate('history.length') as Promise<number>;

describePage('the page', ({ at, visit, share }) => {
  const opened = share('#train');
  const show = (fragment: string): Promise<Visit> => opened().show(fragment);

  it.each(Object.entries(FIELDS))('works after hostile links to #%s', async (view, names) => {
    await using visited = await visit('#person');
    const { page } = visited;
    for (const text of HOSTILE) {
      const address = `#${view}${names.map((name) => `${name}=${text}`).join('&')}`;
      await visited.follow(address);
      const [notices, foreign, overflow] = (await page.evaluate(`[
        document.querySelectorAll('.notice').length,
        document.querySelectorAll('main :is(script, img, iframe)').length,
        document.documentElement.scrollWidth - document.documentElement.clientWidth,
      ]`)) as number[];
      expect({ notices, foreign }, text.slice(0, 20)).toEqual({ notices: 1, foreign: 0 });
      expect(overflow).toBeLessThanOrEqual(0);
    }
    expect(await page.locator('h1').count()).toBe(1);
  });

  it('shows the week of a long link, and the next address is short', async () => {
    const { page } = await show(`#person?moves=0-${'0_.5_.5_.5~'.repeat(20_000)}`);
    await slots(page, 1);
    await page.keyboard.press('1');
    await slots(page, 2);
    await page.waitForURL(at('#person?moves=00-0_.5_.5_.5'));
  });

  it('counts a held key once', async () => {
    const { page } = await show('#person');
    await slots(page, 0);
    for (let k = 0; k < 10; k++) await page.keyboard.down('1');
    await page.keyboard.up('1');
    await page.keyboard.press('2');
    await page.waitForURL(/moves=01$/);
  });

  it('adds one history entry for a slider whose key is held, and has the address of its last place after fast moves', async () => {
    const { page } = await show('#graders?people=48');
    const slider = page.getByRole('slider', { name: 'no crashes' });
    await slider.focus();
    const before = await historyLength(page);
    for (let k = 0; k < 30; k++) await page.keyboard.down('ArrowRight');
    await page.keyboard.up('ArrowRight');
    await page.waitForURL(/weights=0\.30,/);
    expect(await historyLength(page)).toBe(before + 1);
    await page.goBack();
    await expect.poll(() => slider.inputValue()).toBe('150');
    await page.evaluate(THROWING_HISTORY);
    await page.evaluate(`for (let k = 1; k <= 600; k++) {
      const slider = document.querySelector('input[type="range"]');
      slider.value = String(k % 200 === 0 ? 700 : (5 * k) % 1000);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }`);
    await page.waitForURL(/weights=0\.70,/);
    expect(await slider.inputValue()).toBe('700');
    // The page writes the address at most every 250 ms (address.ts), not at each of the 600 moves. The bound is
    // chosen by hand: it allows five seconds.
    expect(await page.evaluate('delete history.replaceState && replaced')).toBeLessThan(20);
  });

  it('frees the memory of crowds that are no longer shown', async () => {
    const { page } = await show('#crowd?people=1000');
    const session = await page.context().newCDPSession(page);
    const showCrowds = async (first: number, end: number): Promise<number> => {
      for (let seed = first; seed < end; seed++) {
        await page.evaluate(`location.hash = '#crowd?people=1000&seed=${seed}'`);
        await page.getByText(`with the seeds from ${seed} on`).waitFor();
        await expect.poll(() => page.getByRole('img').count()).toBe(3);
      }
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    };
    const before = await showCrowds(1, 4);
    // The bands, scores and pictures of a crowd take 100 kB, so six crowds would take 600 kB. The bound is chosen by hand.
    expect((await showCrowds(4, 10)) - before).toBeLessThan(300_000);
  });

  it('shows the view of the last address after fast changes of the history', async () => {
    const { page } = await show('#crowd?people=1000');
    const views = ['crowd?people=1000', 'person?by=planner&at=1', 'graders?people=48'];
    for (let k = 0; k < 6; k++) {
      await page.evaluate(`location.hash = '#${views[k % views.length]}&seed=${k}'`);
    }
    for (let k = 0; k < 12; k++) await page.evaluate(`history.go(${[-1, -3, 2, 1][k % 4]})`);
    await page.evaluate("location.hash = '#crowd?people=1000&seed=55'");
    await page.getByText('with the seeds from 55 on').waitFor();
    await page.evaluate("location.hash = '#person?moves=012'");
    await slots(page, 3);
  });

  it('stops calling a worker when its view is left', async () => {
    await using visited = await visit('#graders?people=2000', { scripts: [COUNT_CALLS] });
    const { page } = visited;
    const counts = (name: string) =>
      page.evaluate(`counts['${name}']`) as Promise<{ calls: number; answers: number }>;
    for (const [name, fragment, selector, next, nextSelector] of [
      ['graders', '#graders?people=2000', '.ranking li', 'One person', '.person .now'],
      ['person', '#person?by=planner&at=28', '.person .now', 'Train', '#training-settings'],
    ]) {
      await visited.follow(fragment);
      await page.locator(selector).first().waitFor();
      await page.getByRole('link', { name: next }).click();
      await page.locator(nextSelector).waitFor();
      const { calls } = await counts(name);
      expect(calls).toBeGreaterThan(0);
      // A further call would follow the last answer at once.
      await expect.poll(async () => (await counts(name)).answers).toBe(calls);
      await visited.follow('#crowd?people=1000');
      await page.locator('.results[aria-busy="false"]').waitFor();
      expect(await counts(name)).toEqual({ calls, answers: calls });
    }
  });

  it.each([
    ['crowd?people=1000', '.results[aria-busy="false"]'],
    ['person', '.person .now'],
    ['sequence', '.scores[aria-busy="false"]'],
    ['graders?people=48', '.ranking li'],
  ])('reports that #%s cannot load its worker, and starts it again', async (view, part) => {
    const missing = /worker-.*\.js$/;
    await using visited = await visit(`#${view}`, { missing });
    const { page } = visited;
    await page.getByRole('heading', { name: 'Something went wrong' }).waitFor();
    await screenshot(page, `state-${view.split('?')[0]}-error`);
    await page.unroute(missing);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator(part).first().waitFor();
  });

  it('works in a browser that refuses the engine’s worker and storage, without the crowd', async () => {
    // Chromium reports the missing file.
    const allowed = /404/;
    await using visited = await visit('#person', { scripts: [NO_ENGINE, NO_STORAGE], allowed });
    const { page } = visited;
    await slots(page, 0);
    await page.getByRole('button', { name: 'dark' }).click();
    expect(await page.evaluate('document.documentElement.dataset.scheme')).toBe('dark');
    await page.getByRole('link', { name: 'Crowd' }).click();
    await page.getByRole('heading', { name: 'Something went wrong' }).waitFor();
    await page.getByRole('link', { name: 'Graders' }).click();
    await page.locator('.ranking li').first().waitFor();
  });

  it('keeps the light colours that the user chose, after a reload', async () => {
    const { page } = await show('#train');
    const background = () => page.evaluate('getComputedStyle(document.body.parentElement).backgroundColor');
    const light = await background();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(background).not.toBe(light);
    await page.getByRole('button', { name: 'light' }).press('Space');
    await expect.poll(background).toBe(light);
    await page.reload();
    await page.getByRole('button', { name: 'light' }).waitFor();
    expect(await background()).toBe(light);
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('has a content security policy without other sites, inline code or eval, before its scripts', async () => {
    const html = await (await fetch(at(''))).text();
    const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html)!;
    const rules = policy.replaceAll('&#39;', "'").split('; ');
    expect(rules).toEqual(
      expect.arrayContaining(["default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'"]),
    );
    expect(rules.join().replace('wasm-unsafe-eval', '')).not.toMatch(/unsafe|\*|http/);
    expect(html.indexOf('Content-Security-Policy')).toBeLessThan(html.indexOf('<script'));
    // The picture that services show for a link: its size in the header of a PNG.
    const [, image] = /property="og:image" content="([^"]*)"/.exec(html)!;
    const bytes = new DataView(await (await fetch(at(image))).arrayBuffer());
    expect([bytes.getUint32(16), bytes.getUint32(20)]).toEqual([1200, 630]);
  });

  it('loads at most 350 kB with gzip until the first chart, without shaders, students and planner', async () => {
    // Another context, because the files of the page are in the cache of the shared one.
    await using context = await opened().page.context().browser()!.newContext();
    const loaded = new Map<string, Response>();
    // The context also has the requests of workers.
    context.on('response', (response: Response) => void loaded.set(response.url(), response));
    const page = await context.newPage();
    await page.goto(at(''));
    await page.locator('svg.ring.draggable').waitFor();
    let size = 0;
    for (const [url, response] of loaded) {
      const body = await response.body();
      // Servers send compressed files as they are.
      size += /\.(woff2|png)$/.test(url) ? body.length : gzipSync(body, { level: 9 }).length;
    }
    const names = Array.from(loaded.keys(), (url) => url.split('/').at(-1)!);
    expect(names.filter((name) => /^(worker|engine|world|index)-.*\.js$/.test(name)).length).toBe(4);
    expect(names.filter((name) => /\.woff2$/.test(name))).toHaveLength(2);
    const later = /^(student-v|planner|checked-program|crowd|graders|training)/;
    expect(names.filter((name) => later.test(name))).toEqual([]);
    expect(size).toBeLessThan(LIMIT);
  });

  it('scrolls in one direction only at 400 % zoom: crowd, one person, its result and graders', async () => {
    const { page } = await show('#crowd?people=1000');
    await page.setViewportSize({ width: 320, height: 256 });
    const parts = {
      '#crowd?people=1000': '.results',
      [`#person?moves=${MOVES}`]: '.person .now',
      [FINISHED]: '#who',
      '#graders?people=48': '.ranking li',
    };
    for (const [fragment, part] of Object.entries(parts)) {
      await opened().follow(fragment);
      await page.locator(part).first().waitFor();
      // Else the page may still show the week of the test before.
      if (part === '.person .now') await slots(page, MOVES.length);
      // Charts take their new width after the page's.
      await expect.poll(() => opened().overflowWidth(), { message: fragment }).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize(SIZES.laptop);
  });
});
