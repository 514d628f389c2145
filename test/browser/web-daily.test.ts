/** Tests the daily episode in Chromium: by keyboard, by touch, its result, and that `rhythm-vec replay` reproduces it. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { movesFrom } from '../../web/src/person/episode.js';
import { runCli } from '../support/cli.js';
import { SIZES, slots } from '../support/web/visit.js';
import { describePage } from '../support/web/visits.js';

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

describePage('the daily episode', ({ at, visit }) => {
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
    // Nobody can copy the planner's belief.
    expect(await page.getByText('the planner, from').count()).toBe(0);
    await page.getByText('Race and keys').press('Enter');
    await page.getByRole('combobox', { name: 'Against' }).selectOption('heuristic+inference');
    await page.getByText('in its own week').first().waitFor();
    // web-person.test.ts checks the same parts in all sizes and in the dark.
    await page.setViewportSize(SIZES.phone);
    expect(await visited.accessibilityViolations()).toEqual([]);
    await expect.poll(() => visited.overflowWidth()).toBeLessThanOrEqual(0);
    await page.setViewportSize(SIZES.laptop);
    const shortcuts = page.getByRole('checkbox', { name: /^Keys/ });
    await shortcuts.press('Space');
    await page.keyboard.press('1');
    await shortcuts.press('Space');
    for (const key of KEYS.slice(10)) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    const others = page.locator('.standings tbody tr');
    await expect
      .poll(async () => (await others.allTextContents()).join())
      .toMatch(/heuristic.*student-v3.*planner/);
    // The planner, which is the slowest, has a bar until it has finished.
    await expect.poll(() => page.locator('.standings progress').count()).toBe(0);
    const text = await resultText(page);
    expect(text).toMatch(
      new RegExp(
        '^Can you read a stranger\\? 2026-11-01\nI read this stranger to within 0\\.\\d\\d; the planner, from the same week, to ' +
          'within 0\\.\\d\\d\\.\nLived: .*\\. Read: .*\\. (Score 0\\.\\d{3}|Nothing scored)\\.\n([🟦🟨🟧] [🟦🟨🟧]{4}\n){7}http',
        'u',
      ),
    );
    expect(text).toContain(at(DAY));
    const link = page.getByRole('link', { name: 'Open this week in One person' });
    const { finalScore, beliefMae } = await replayed((await link.getAttribute('href'))!);
    expect(text).toContain(`Score ${finalScore.toFixed(3)}.`);
    expect(text).toContain(`I read this stranger to within ${beliefMae.toFixed(2)};`);
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
  }, 240_000);

  it('is continued by touch after stored moves, and says which rival could not play', async () => {
    const today = new Date().toISOString().slice(0, 10);
    // 25 times sleep, with the belief [0.5, 0.5, 0.5] from the first move on: see movesText.
    const stored = `${'3'.repeat(25)}-0_.5_.5_.5`;
    const scripts = [
      `localStorage.setItem('rhythm-vec.daily.${today}', '${stored}')`,
      'navigator.share = async ({ text }) => { globalThis.shared = text; };',
    ];
    // The file of student-v3, which the page cannot load.
    const missing = /student-v3-(?!clone).*\.js$/;
    await using visited = await visit('#daily', { size: 'phone', scripts, missing });
    const { page } = visited;
    await slots(page, 25);
    await page.getByText(`${today}: one stranger`).waitFor();
    const entries = await page.evaluate('history.length');
    await page.getByRole('button', { name: /^Who is this/ }).tap();
    await page.getByRole('slider', { name: 'Morning' }).tap({ position: { x: 2, y: 12 } });
    await page.getByRole('button', { name: /^Back to the actions/ }).tap();
    const sleep = page.getByRole('button', { name: /^Sleep/ });
    for (let played = 26; played <= 27; played++) {
      await sleep.tap();
      await slots(page, played);
    }
    await page.getByText('Race and keys').tap();
    await page.getByRole('combobox', { name: 'Against' }).selectOption('student-v3');
    await page.getByText('student trained for v3 could not play this episode.').waitFor();
    await sleep.tap();
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
    await page
      .getByRole('row', { name: 'student-v3 could not play; reload the page to try again' })
      .waitFor();
    await page.getByRole('row', { name: /^planner \d+ \d+$/ }).waitFor();
    await page.getByText('the planner, from the same week').first().waitFor();
    await page.getByRole('button', { name: 'Share' }).tap();
    expect(await page.evaluate('shared')).toBe(await resultText(page));
    expect(await page.evaluate('shared')).toContain(`stranger? ${today}\n`);
    // No move adds an entry to the history, so the browser's Back button undoes no move.
    expect(await page.evaluate('history.length')).toBe(entries);
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Open this week in One person' }).tap();
    await page.getByRole('heading', { name: /^You have one week/ }).waitFor();
    await page.getByRole('heading', { name: 'Who it was' }).waitFor();
  });
});
