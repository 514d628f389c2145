/** Tests the daily episode in Chromium: by keyboard, by touch, its result, and that `rhythm-vec replay` reproduces it. */
import type { Page } from 'playwright-core';
import { describe, expect, inject, it, test } from 'vitest';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { movesFrom } from '../../web/src/person/moves-text.js';
import { runCli } from '../support/cli.js';
import { SIZES, slots } from '../support/web/visit.js';
import { setUpVisits } from '../support/web/visits.js';

const DAY = '#daily?day=2026-11-01';
const SEED = 20_261_101;
/** A key for each step, chosen by hand. */
const KEYS = '4571845718457184571845718457';

/** The actions of KEYS as digits. The keys 1 to 9 and 0 play actions 0 to 9. */
const ACTIONS = Array.from(KEYS, (key) => (Number(key) + 9) % 10).join('');

const resultText = async (page: Page): Promise<string> => (await page.locator('.result-text').textContent())!;

/** Scores the week of the page's link with `rhythm-vec replay`. */
async function replayed(address: string): Promise<{ finalScore: number; beliefMae: number }> {
  const fields = new URLSearchParams(address.replace('#person?', ''));
  const moves = movesFrom(fields.get('moves')!)!;
  const row = {
    ...{ seed: Number(fields.get('seed')), grader: fields.get('grader') },
    actions: moves.map(({ action }) => ACTION_NAMES[action]),
    beliefs: moves.map(({ belief }) => belief),
  };
  const { stdout } = await runCli(['replay', '--input', '-', '--output', '-'], `${JSON.stringify(row)}\n`);
  const { final } = JSON.parse(stdout);
  return { finalScore: final.final_score, beliefMae: final.belief_mae };
}

const absent = inject('whyNoChromium');
if (absent !== null) test.skip(`absent here: the page in Chromium: ${absent}`, () => {});

describe.skipIf(absent !== null)('the daily episode', () => {
  const { at, visit } = setUpVisits();

  it('is played by keyboard without undo, is accessible, and rhythm-vec replay has the same score', async () => {
    await using visited = await visit(DAY);
    const { page } = visited;
    await slots(page, 0);
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await page.getByRole('slider', { name: 'Social' }).focus();
    await page.keyboard.press('ArrowRight');
    for (const key of KEYS.slice(0, 10)) await page.keyboard.press(key);
    await slots(page, 10);
    await page.keyboard.press('u');
    await page.getByRole('combobox', { name: 'Against' }).selectOption({ index: 1 });
    await page.locator('.beliefs-race').waitFor();
    // web-person.test.ts checks the same parts in all sizes and in the dark.
    await page.setViewportSize(SIZES.phone);
    expect(await visited.accessibilityViolations()).toEqual([]);
    await expect.poll(() => visited.overflowWidth()).toBeLessThanOrEqual(0);
    await page.setViewportSize(SIZES.laptop);
    const shortcuts = page.getByRole('checkbox', { name: /^Keys/ });
    await shortcuts.press('Space');
    await page.keyboard.press('1');
    await shortcuts.press('Space');
    // Selects the planner, whose episode may not be finished yet.
    await page.getByRole('combobox', { name: 'Against' }).press('p');
    await page.keyboard.press('Tab');
    for (const key of KEYS.slice(10)) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    await page
      .getByText(/^\d.. of 4/)
      .first()
      .waitFor();
    // The planner's belief beside the player's, in each panel of the belief.
    await expect.poll(() => page.locator('.line[stroke*="planner"]').count()).toBe(3);
    const text = await resultText(page);
    expect(text).toMatch(
      /^Can you read a stranger\? 2026-11-01\n([🟦🟩🟧🟨]{7}\n){4}Score 0\.\d{3}, belief error 0\.\d{3}\n/u,
    );
    expect(text).toMatch(/\(heuristic 0\.\d{3}, student-\S+ 0\.\d{3}, planner 0\.\d{3}\)/);
    expect(text).toContain(at(DAY));
    const link = page.getByRole('link', { name: 'Open this week in One person' });
    const { finalScore, beliefMae } = await replayed((await link.getAttribute('href'))!);
    expect(text).toContain(`Score ${finalScore.toFixed(3)}, belief error ${beliefMae.toFixed(3)}`);
    expect(await link.getAttribute('href')).toContain(`seed=${SEED}&`);
    // The key pressed while shortcuts were off played none.
    expect(await link.getAttribute('href')).toContain(`moves=${ACTIONS}-`);
    // A reload continues with the stored moves: see the next test.
    const { moves } = Object.fromEntries(
      new URLSearchParams((await link.getAttribute('href'))!.split('?')[1]),
    );
    expect(await page.evaluate("localStorage.getItem('rhythm-vec.daily.2026-11-01')")).toBe(moves);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the result' }).press('Enter');
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
    await page.context().clearPermissions();
    await visited.expectAccessibleInAllSizes('daily-end');
    expect(visited.foreignRequests).toEqual([]);
    expect(visited.messages).toEqual([]);
  }, 240_000);

  it('is continued by touch after stored moves, and says which rival could not play', async () => {
    const today = new Date().toISOString().slice(0, 10);
    // 25 times sleep, with the belief [0.5, 0.5, 0.5] from the first move on: see movesText.
    const stored = `${'3'.repeat(25)}-0_.5_.5_.5`;
    const scripts = [`localStorage.setItem('rhythm-vec.daily.${today}', '${stored}')`];
    // The file of student-v3, which the page cannot load.
    const missing = /student-v3-(?!clone).*\.js$/;
    await using visited = await visit('#daily', { size: 'phone', scripts, missing });
    const { page } = visited;
    await slots(page, 25);
    await page.getByText(`${today}: one person`).waitFor();
    const entries = await page.evaluate('history.length');
    await page.getByRole('slider', { name: 'Morning' }).tap({ position: { x: 2, y: 12 } });
    const sleep = page.getByRole('button', { name: /^Sleep/ });
    await sleep.tap();
    await slots(page, 26);
    await page.getByRole('combobox', { name: 'Against' }).selectOption('student-v3');
    await page.getByText('student-v3 could not play this episode.').waitFor();
    await page.getByRole('combobox', { name: 'Against' }).selectOption('planner');
    const race = page.getByRole('region', { name: 'Race' });
    await race.getByRole('row', { name: /^Morning 0\.00 0\.\d\d$/ }).waitFor();
    await sleep.tap();
    await slots(page, 27);
    await sleep.tap();
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    await page.getByText('Could not play: student-v3. Reload the page to try again.').waitFor();
    await page.getByText(/\(heuristic 0\.\d{3}, planner 0\.\d{3}\)/).waitFor();
    expect(await page.getByText(/^Still playing/).count()).toBe(0);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the result' }).tap();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`stranger? ${today}\n`);
    await page.context().clearPermissions();
    // No move adds an entry to the history, so the browser's Back button undoes no move.
    expect(await page.evaluate('history.length')).toBe(entries);
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Open this week in One person' }).tap();
    await page.getByRole('heading', { name: 'One person' }).waitFor();
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
  });
});
