/** Tests that the page draws the results of a crowd in parts, each in a task of its own. `bench --page` measures the tasks. */
import { describe, expect, inject, it, test } from 'vitest';
import { setUpVisits } from '../support/web/visits.js';

/** Runs in the page before its own scripts: notes the number of sections of the results after each task that changed it. */
const NOTE_SECTIONS = `globalThis.drawn = [];
new MutationObserver(() => {
  const { length } = document.querySelectorAll('.results > section');
  if (drawn.at(-1) !== length) drawn.push(length);
}).observe(document, { childList: true, subtree: true });`;

const absent = inject('whyNoChromium');
if (absent !== null) test.skip(`absent here: the page in Chromium: ${absent}`, () => {});

describe.skipIf(absent !== null)('the results of a crowd', () => {
  const { visit } = setUpVisits();

  it('are drawn one section after the other', async () => {
    await using visited = await visit('#crowd?people=1000', { scripts: [NOTE_SECTIONS] });
    const { page } = visited;
    await page.locator('.results[aria-busy="false"]').waitFor();
    expect(await page.evaluate('drawn')).toEqual([0, 1, 2, 3, 4]);
  });
});
