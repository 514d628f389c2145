/** Tests that no task of the page's main thread takes long, at the start and during play. */
import type { Page } from 'playwright-core';
import { describe, expect, inject, it, test } from 'vitest';
import { longestTask } from '../support/web/main-thread.js';
import { setUpVisits } from '../support/web/visits.js';

/** The longest task that is allowed, in milliseconds of processor time. */
const LIMIT = 50;
const KEYS = '4571845718457184571845718457';

const results = (page: Page): Promise<void> => page.locator('.results[aria-busy="false"]').waitFor();

/** Acts like a person who reads for a moment after each key. */
async function press(page: Page, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await page.keyboard.press(key);
    await page.waitForTimeout(50);
  }
}

const absent = inject('whyNoChromium');
if (absent !== null) test.skip(`absent here: the page in Chromium: ${absent}`, () => {});

describe.skipIf(absent !== null)('no task of the main thread is long', () => {
  const { at, visit } = setUpVisits();

  it('at the start, in the crowd, and when the view changes', async () => {
    await using visited = await visit('#train');
    const { page } = visited;
    const longest = await longestTask(page, async () => {
      await page.goto('about:blank');
      await page.goto(at('#crowd?people=10000'));
      await results(page);
      await page.getByRole('combobox', { name: 'Grader' }).selectOption('v3');
      await results(page);
      for (const name of ['One person', 'Daily', 'Train', 'Graders', 'Crowd']) {
        await page.getByRole('link', { name, exact: true }).first().click();
        await page.waitForTimeout(500);
      }
    });
    expect(longest).toBeLessThan(LIMIT);
  });

  it('while a week is played', async () => {
    await using visited = await visit('#person');
    const { page } = visited;
    await page.getByText('0 of 28 slots').waitFor();
    const longest = await longestTask(page, async () => {
      await press(page, Array.from(KEYS));
      await page.getByRole('heading', { name: 'Who it was' }).waitFor();
      await page.waitForTimeout(300);
    });
    expect(longest).toBeLessThan(LIMIT);
  });

  it('while a grader is changed', async () => {
    await using visited = await visit('#graders');
    const { page } = visited;
    await page.locator('table.flips').waitFor();
    const longest = await longestTask(page, async () => {
      await page.getByRole('slider').first().focus();
      await press(page, new Array<string>(20).fill('ArrowRight'));
      await page.waitForTimeout(1000);
    });
    expect(longest).toBeLessThan(LIMIT);
  });

  it('while a student trains', async () => {
    await using visited = await visit('#train?teacher=heuristic%2Binference');
    const { page } = visited;
    const longest = await longestTask(page, async () => {
      await page.getByRole('button', { name: 'Start training' }).click();
      await page.getByRole('heading', { name: /student scores/ }).waitFor();
      await page.waitForTimeout(2000);
      await page.getByRole('button', { name: 'Stop' }).click();
    });
    expect(longest).toBeLessThan(LIMIT);
  });
});
