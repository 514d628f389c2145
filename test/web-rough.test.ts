/** The page in rough hands: hostile links, held keys, storms in the history, browsers that refuse, screens that are small. */
import type { Page } from 'playwright-core';
import { describe, expect, it, test } from 'vitest';
import { whyAbsent } from './browser/chromium.js';
import { visiting } from './web/visiting.js';

const WEEK = '01234567899876543';
const FINISHED = `#person?moves=${WEEK}21004826159-0_.5_.25_1~9_.61_.33_0`;

/** Texts that links are attacked with. */
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

const FIELDS = {
  crowd: ['people', 'seed', 'policy', 'against', 'grader', 'persons'],
  person: ['seed', 'person', 'grader', 'by', 'moves', 'at'],
  graders: ['weights', 'people', 'seed'],
};

/** Runs in the page before its own scripts. */
const COUNT_QUESTIONS = `globalThis.asked = {};
globalThis.Worker = class extends Worker {
  constructor(url, options) {
    super(url, options);
    this.called = options.name;
  }
  postMessage(...message) {
    asked[this.called] = (asked[this.called] ?? 0) + 1;
    super.postMessage(...message);
  }
};`;
/** Safari throws when there are too many, and Chromium drops them; this one throws at every other. */
const FEW_ADDRESSES = `globalThis.replaced = 0;
const replaceState = history.replaceState;
history.replaceState = (...state) => {
  replaced += 1;
  if (replaced % 2 === 1) throw new DOMException('too many', 'SecurityError');
  replaceState.apply(history, state);
};`;
const NO_ENGINE = `globalThis.Worker = class extends Worker {
  constructor(url, options) {
    super(options.name === 'engine' ? 'missing.js' : url, options);
  }
};`;
const NO_STORAGE = `Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('none here', 'SecurityError'); },
});`;

/** Runs in the page before its own scripts: a step of a week that plays by itself, which is told after a second, never rests so long. */
const NO_REST = `globalThis.untold = new Set();
const [set, clear] = [setTimeout, clearTimeout];
globalThis.setTimeout = (work, delay, ...rest) => {
  if (delay !== 1000) return set(work, delay, ...rest);
  untold.add(work);
  return work;
};
globalThis.clearTimeout = (timer) => untold.delete(timer) || clear(timer);`;
/** Runs in the page. */
const NOTE_WHAT_IS_TOLD = `globalThis.told = 0;
new MutationObserver(() => { told += 1; }).observe(document.querySelector('.person > p[role="status"]'), {
  childList: true, characterData: true, subtree: true,
});`;

const slots = (page: Page, count: number): Promise<void> =>
  page.getByText(`${count} of 28 slots`, { exact: true }).waitFor();
const historyLength = (page: Page): Promise<number> => page.evaluate('history.length') as Promise<number>;

const absent = await whyAbsent();
if (absent !== null) test.skip(`absent here: the page in Chromium: ${absent}`, () => {});

describe.skipIf(absent !== null)('the page', () => {
  const { at, visit } = visiting();

  describe('with a link of an enemy', () => {
    it.each(Object.entries(FIELDS))('to %s stands', async (view, names) => {
      await using visited = await visit('#person');
      const { page } = visited;
      for (const text of HOSTILE) {
        const address = `#${view}?${names.map((name) => `${name}=${text}`).join('&')}`;
        // The notice of the one before stands there until the page has read this one.
        await page.evaluate(`new Promise((read) => {
          addEventListener('hashchange', () => read(), { once: true });
          location.hash = ${JSON.stringify(address)};
        })`);
        await page.locator('.notice').waitFor();
        expect(await page.locator('main').locator('script, img, iframe').count()).toBe(0);
        expect(await visited.overhang()).toBeLessThanOrEqual(0);
      }
      expect(await page.locator('h1').count()).toBe(1);
      expect(visited.foreign).toEqual([]);
      expect(visited.said).toEqual([]);
    });

    it('that is long and legal shows its week, and has a short address then', async () => {
      await using visited = await visit(`#person?moves=0-${'0_.5_.5_.5~'.repeat(20_000)}`);
      const { page } = visited;
      await slots(page, 1);
      await page.keyboard.press('1');
      await slots(page, 2);
      await page.waitForURL(at('#person?moves=00-0_.5_.5_.5'));
    });
  });

  describe('in hands that do not rest', () => {
    it('takes a key that is held for one press', async () => {
      await using visited = await visit('#person');
      const { page } = visited;
      await slots(page, 0);
      for (let k = 0; k < 10; k++) await page.keyboard.down('1');
      await page.keyboard.up('1');
      await page.keyboard.press('2');
      await page.waitForURL(/moves=01-/);
    });

    it('keeps the focus on a button that has to wait', async () => {
      await using visited = await visit('#person?by=heuristic');
      const { page } = visited;
      const step = page.getByRole('button', { name: 'Step' });
      await step.focus();
      for (let k = 1; k <= 3; k++) {
        await expect.poll(() => step.getAttribute('aria-disabled')).toBe('false');
        await page.keyboard.press('Enter');
        await slots(page, k);
      }
    });

    it('has one place in the history for a slider whose key is held', async () => {
      await using visited = await visit('#graders?people=48');
      const { page } = visited;
      const slider = page.getByRole('slider', { name: 'Crash free' });
      await slider.focus();
      const before = await historyLength(page);
      for (let k = 0; k < 30; k++) await page.keyboard.down('ArrowRight');
      await page.keyboard.up('ArrowRight');
      await page.waitForURL(/weights=0\.30,/);
      expect(await historyLength(page)).toBe(before + 1);
      await page.goBack();
      await expect.poll(() => slider.inputValue()).toBe('150');
    });

    it('has the address of what is seen, however fast a slider was moved', async () => {
      await using visited = await visit('#graders?people=48');
      const { page } = visited;
      await page.addInitScript(FEW_ADDRESSES);
      await page.reload();
      const slider = page.getByRole('slider', { name: 'Crash free' });
      await slider.waitFor();
      await page.evaluate(`for (let k = 1; k <= 600; k++) {
        const slider = document.querySelector('input[type="range"]');
        slider.value = String(k % 200 === 0 ? 700 : (5 * k) % 1000);
        slider.dispatchEvent(new Event('input', { bubbles: true }));
      }`);
      await page.waitForURL(/weights=0\.70,/);
      expect(await slider.inputValue()).toBe('700');
      expect(await page.evaluate('replaced')).toBeLessThan(20);
    });

    it('keeps nothing of weeks that are no longer shown', async () => {
      await using visited = await visit('#crowd?people=1000');
      const { page } = visited;
      const session = await page.context().newCDPSession(page);
      const live = async (first: number, end: number): Promise<number> => {
        for (let seed = first; seed < end; seed++) {
          await page.evaluate(`location.hash = '#crowd?people=1000&seed=${seed}'`);
          await page.getByText(`with the seeds from ${seed} on`).waitFor();
          await expect.poll(() => page.getByRole('img').count()).toBe(3);
        }
        await session.send('HeapProfiler.collectGarbage');
        return (await session.send('Runtime.getHeapUsage')).usedSize;
      };
      const before = await live(1, 6);
      // A week's bands, scores and pictures are 100 kB.
      expect((await live(6, 26)) - before).toBeLessThan(800_000);
    });

    it('shows what was gone to last, after a storm in the history', async () => {
      await using visited = await visit('#crowd?people=20000');
      const { page } = visited;
      const views = ['crowd?people=1000', 'person?by=planner&at=5', 'graders?people=48'];
      for (let k = 0; k < 12; k++) {
        await page.evaluate(`location.hash = '#${views[k % views.length]}&seed=${k}'`);
      }
      for (let k = 0; k < 20; k++) await page.evaluate(`history.go(${[-1, -3, 2, 1][k % 4]})`);
      await page.evaluate("location.hash = '#crowd?people=1000&seed=55'");
      await page.getByText('with the seeds from 55 on').waitFor();
      await page.evaluate("location.hash = '#person?moves=012'");
      await slots(page, 3);
      expect(visited.said).toEqual([]);
    });
  });

  it('does not tell every step of a week that plays by itself to who listens', async () => {
    await using visited = await visit('#person?by=heuristic&at=20');
    const { page } = visited;
    await page.addInitScript(NO_REST);
    await page.reload();
    const told = page.locator('.person > p[role="status"]');
    await expect.poll(() => told.textContent()).toMatch(/^Day 5 night/);
    await page.evaluate(NOTE_WHAT_IS_TOLD);
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    await expect.poll(() => told.textContent()).toMatch(/^Day 7 night.*Final score 0\.\d{3}\.$/);
    expect(await page.evaluate('[told, untold.size]')).toEqual([1, 0]);
  });

  it.each([
    ['graders', '#graders?people=2000', 'table.ranking', 'One person', '.person .now'],
    ['person', '#person?by=planner&at=28', '.person .now', 'Graders', 'table.ranking'],
  ])('asks nothing more for %s when that view is left', async (name, fragment, seen, next, then) => {
    await using visited = await visit('#crowd?people=1000');
    const { page } = visited;
    await page.addInitScript(COUNT_QUESTIONS);
    await page.goto(at(fragment));
    await page.reload();
    await page.locator(seen).waitFor();
    await page.getByRole('link', { name: next }).click();
    await page.locator(then).waitFor();
    const asked = () => page.evaluate(`asked[${JSON.stringify(name)}]`) as Promise<number>;
    const before = await asked();
    expect(before).toBeGreaterThan(0);
    // The worker has answered what it was asked before: were there more to ask, it would be asked by then.
    await page.getByRole('link', { name: 'Crowd' }).click();
    await page.locator('.results[aria-busy="false"]').waitFor();
    await page.getByRole('button', { name: 'Live the week again' }).click();
    await page.locator('.results[aria-busy="false"]').waitFor();
    expect(await asked()).toBe(before);
  });

  describe('in a browser that refuses', () => {
    it('the engine’s worker: other views do without it', async () => {
      await using visited = await visit('#person');
      const { page } = visited;
      await page.addInitScript(NO_ENGINE);
      await page.reload();
      await page.getByText('What computes crowds could not be started.').waitFor();
      await slots(page, 0);
      await page.getByRole('link', { name: 'Crowd' }).click();
      await page.getByRole('heading', { name: 'Something went wrong' }).waitFor();
      await page.getByRole('link', { name: 'Graders' }).click();
      await page.locator('table.ranking').waitFor();
    });

    it('storage: colours can be chosen all the same', async () => {
      await using visited = await visit('#person');
      const { page } = visited;
      await page.addInitScript(NO_STORAGE);
      await page.reload();
      await slots(page, 0);
      await page.getByRole('radio', { name: 'dark' }).check();
      expect(await page.evaluate('document.documentElement.dataset.tone')).toBe('dark');
      expect(visited.said).toEqual([]);
    });
  });

  describe('on a screen', () => {
    it.each(['#crowd?people=1000', `#person?moves=${WEEK}`, FINISHED, '#graders?people=48'])(
      'that is enlarged four times is scrolled one way only: %s',
      async (fragment) => {
        await using visited = await visit(fragment);
        const { page } = visited;
        await page.setViewportSize({ width: 320, height: 256 });
        await page.locator('.results, .person .now, table.flips').first().waitFor();
        expect(await visited.overhang()).toBeLessThanOrEqual(0);
      },
    );

    it('that forces colours shows bars and what is chosen', async () => {
      await using visited = await visit(`#person?moves=${WEEK}`);
      const { page } = visited;
      await page.emulateMedia({ forcedColors: 'active' });
      await slots(page, WEEK.length);
      const ground = (selector: string) =>
        page.evaluate(
          `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor`,
        );
      expect(await ground('.track .fill')).not.toBe(await ground('.track'));
      expect(await ground('nav [aria-current]')).not.toBe(await ground('nav a:not([aria-current])'));
      await page.getByRole('link', { name: 'Graders' }).click();
      await page.locator('table.ranking').waitFor();
      expect(await ground('.stack .segment')).not.toBe(await ground('.stack'));
      expect(await ground('[aria-pressed="true"]')).not.toBe(await ground('[aria-pressed="false"]'));
    });
  });
});
