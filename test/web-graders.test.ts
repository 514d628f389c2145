/** The grader view in a real Chromium: its ranking is the engine's, whatever is moved, and who can use it. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it, test } from 'vitest';
import { rankPolicies } from '../src/evaluate/ranking.js';
import { weightSensitivity } from '../src/evaluate/sensitivity.js';
import { parseGrader } from '../src/graders/parse.js';
import { createVecEnv } from '../src/index.js';
import { COMPONENT_NAMES } from '../src/world/fields.js';
import { CONTESTANTS } from '../web/src/graders/contestants.js';
import { playAll } from '../web/src/graders/playing.js';
import {
  fractionsOf,
  moveWeight,
  PRESETS,
  slidersAt,
  type Weights,
  weightsFrom,
} from '../web/src/graders/weights.js';
import { whyAbsent } from './browser/chromium.js';
import { screenshot } from './web/screenshots.js';
import { SIZES, TONES } from './web/visit.js';
import { visiting } from './web/visiting.js';

const [FIRST, PEOPLE] = [20_000, 48];
const FEW = `#graders?people=${PEOPLE}`;
const [V1, V2, EQUAL] = PRESETS.map(({ weights }) => weights);

const env = createVecEnv({ numEnvs: PEOPLE });
const seeds = Uint32Array.from({ length: PEOPLE }, (_, i) => FIRST + i);
const policies = playAll(env, seeds).map((components, k) => ({ name: CONTESTANTS[k].name, components }));
env.close();

/** The engine's ranking, to so many digits as are shown. */
const expected = (weights: Weights) =>
  rankPolicies(policies, fractionsOf(weights)).map(({ policy, finalScore: { mean, high }, lead }) => ({
    policy,
    score: `${mean.toFixed(3)} ±${(high! - mean).toFixed(3)}`,
    lead: lead === null ? '–' : `${lead.mean.toFixed(3)} ±${(lead.high! - lead.mean).toFixed(3)}`,
  }));

async function ranking(page: Page) {
  const rows = await page.locator('table.ranking tbody tr').all();
  return Promise.all(
    rows.map(async (row) => {
      const [score, lead] = await row.locator('td').allTextContents();
      return { policy: await row.getAttribute('data-policy'), score, lead };
    }),
  );
}

/** What the address says the weights are. */
function weightsIn(page: Page): Weights {
  const said = /weights=([\d.,]+)/.exec(page.url());
  return said === null ? V2 : weightsFrom(said[1])!;
}

/** When everybody was played with. */
const played = (page: Page): Promise<void> => page.getByText(`${PEOPLE} of ${PEOPLE} people`).waitFor();

const slider = (page: Page, name: string) => page.getByRole('slider', { name });
const verdict = (page: Page) => page.locator('.verdict h2').textContent();

const absent = await whyAbsent();
if (absent !== null) test.skip(`absent here: the page in Chromium: ${absent}`, () => {});

describe.skipIf(absent !== null)('graders', () => {
  const { at, visit } = visiting();

  it('are ranked by as the engine ranks, in every preset', async () => {
    await using visited = await visit(FEW);
    const { page } = visited;
    await played(page);
    for (const { name, weights } of PRESETS) {
      await page.getByRole('button', { name, exact: true }).click();
      await expect.poll(() => ranking(page)).toEqual(expected(weights));
    }
    await expect.poll(() => weightsIn(page)).toEqual(EQUAL);
    expect(visited.foreign).toEqual([]);
    expect(visited.said).toEqual([]);
  });

  it('are moved by keyboard, typed and locked, and ranked by at once', async () => {
    await using visited = await visit(FEW);
    const { page } = visited;
    await played(page);
    await slider(page, 'Belief accuracy').focus();
    for (let k = 0; k < 20; k++) await page.keyboard.press('ArrowRight');
    let weights = moveWeight(slidersAt(V2), 5, 300).weights;
    await expect.poll(() => weightsIn(page)).toEqual(weights);
    await expect.poll(() => ranking(page)).toEqual(expected(weights));
    await page.keyboard.press('End');
    await expect.poll(() => ranking(page)).toEqual(expected([0, 0, 0, 0, 0, 1000]));
    await page.getByRole('button', { name: 'v1', exact: true }).click();
    await page.getByRole('button', { name: 'lock Progress' }).press('Enter');
    await expect.poll(() => slider(page, 'Progress').isDisabled()).toBe(true);
    const typed = page.getByRole('textbox', { name: 'Crash free as a number' });
    await typed.fill('0.9');
    await expect.poll(() => typed.getAttribute('aria-invalid')).toBe('true');
    await page.getByText('Expected 0.00 to 0.75.').waitFor();
    await typed.fill('0.4');
    await page.keyboard.press('Enter');
    weights = moveWeight({ ...slidersAt(V1), locked: V1.map((_, k) => k === 1) }, 0, 400).weights;
    expect(weights[1]).toBe(250);
    await expect.poll(() => weightsIn(page)).toEqual(weights);
    await expect.poll(() => ranking(page)).toEqual(expected(weights));
  });

  it('say what they pay for, and who is beaten', async () => {
    await using visited = await visit(FEW);
    const { page } = visited;
    await played(page);
    expect(await verdict(page)).toBe(
      'This grader pays for a blind tape with a constant belief, more than for some that infer',
    );
    const marked = page.locator('tr', { has: page.getByText('beaten by what infers nothing') });
    const names = await Promise.all((await marked.all()).map((row) => row.getAttribute('data-policy')));
    expect(names).toEqual(['heuristic+inference', 'random+inference']);
    await page.getByRole('button', { name: 'v1', exact: true }).click();
    await expect.poll(() => verdict(page)).toBe('This grader pays nothing for inference');
    await slider(page, 'Belief accuracy').press('End');
    await expect.poll(() => verdict(page)).toBe('This grader pays for inference');
    await expect
      .poll(() => page.locator('.verdict [role="status"]').textContent())
      .toBe('This grader pays for inference');
  });

  it('say at which weight who changes places', async () => {
    await using visited = await visit(FEW);
    const { page } = visited;
    await played(page);
    const rows = page.locator('table.flips tbody tr');
    const found = weightSensitivity(policies, fractionsOf(V2)).map(({ below, above }) =>
      [below, above].map((flip) =>
        flip === null ? 'changes nothing' : `${flip.weight.toFixed(3)}${flip.policy} passes ${flip.passed}`,
      ),
    );
    const shown = async () =>
      Promise.all(
        (await rows.all()).map(async (row) => (await row.locator('td').allTextContents()).slice(1)),
      );
    await expect.poll(shown).toEqual(found);
    expect(found).toHaveLength(COMPONENT_NAMES.length);
  });

  it('are kept by the address, and by the way back', async () => {
    const weights = moveWeight(slidersAt(V2), 0, 512).weights;
    await using one = await visit(FEW);
    const { page } = one;
    await played(page);
    const typed = page.getByRole('textbox', { name: 'Crash free as a number' });
    await typed.fill('0.512');
    await page.keyboard.press('Enter');
    await expect.poll(() => weightsIn(page)).toEqual(weights);
    await using other = await visit(new URL(page.url()).hash);
    await played(other.page);
    expect(await ranking(other.page)).toEqual(expected(weights));
    await page.goBack();
    await expect.poll(() => ranking(page)).toEqual(expected(V2));
    await page.getByRole('combobox', { name: 'People' }).selectOption('120');
    await page.waitForURL(at('#graders?people=120'));
    await page.getByText('120 of 120 people').waitFor();
    await page.getByRole('combobox', { name: 'People' }).selectOption(String(PEOPLE));
    await expect.poll(() => ranking(page)).toEqual(expected(V2));
  });

  it('refuse a link whose weights are none', async () => {
    await using visited = await visit(`${FEW}&weights=0.5,0.5,0.5,0,0,0`);
    const notice = visited.page.locator('.notice');
    await notice.waitFor();
    expect(await notice.textContent()).toContain('where six weights from 0 to 1 that sum to 1');
    await played(visited.page);
    expect(await ranking(visited.page)).toEqual(expected(V2));
  });

  it('are downloaded as a file that the command line takes', async () => {
    const weights = [400, 100, 100, 100, 100, 200];
    await using visited = await visit(`${FEW}&weights=${weights.map((weight) => weight / 1000).join(',')}`);
    const { page } = visited;
    await page.getByRole('textbox', { name: 'Name' }).fill('v2');
    await page.getByText('not the name of another grader').waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('calm');
    await page.keyboard.press('Enter');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download calm.json' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('calm.json');
    const text = await readFile(await download.path(), 'utf8');
    const grader = parseGrader(text);
    expect(grader.name).toBe('calm');
    expect(Object.values(grader.weights)).toEqual(fractionsOf(weights));
    expect(await page.locator('.file pre').textContent()).toBe(text);
  });

  it('are said to be copied until another could be', async () => {
    await using visited = await visit(FEW);
    const { page } = visited;
    await page.evaluate('navigator.clipboard.writeText = async () => {}; null');
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied.').waitFor();
    await page.getByRole('button', { name: 'v1', exact: true }).click();
    await page.getByText('Copied.').waitFor({ state: 'detached' });
  });

  it('say so when their worker’s script is missing, and start it again', async () => {
    await using visited = await visit('#crowd?people=1000');
    const { page } = visited;
    await page.locator('.results[aria-busy="false"]').waitFor();
    await page.route(/worker-.*\.js$/, (route) => route.abort());
    await page.getByRole('link', { name: 'Graders' }).click();
    await page.getByRole('heading', { name: 'Something went wrong' }).waitFor();
    expect(await page.getByRole('alert').textContent()).toContain(
      'The worker that plays the policies stopped',
    );
    await page.unroute(/worker-.*\.js$/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('table.ranking').waitFor();
  });

  const sizes = Object.keys(SIZES) as (keyof typeof SIZES)[];
  it.each(sizes.flatMap((size) => TONES.map((tone) => [size, tone] as const)))(
    'are for those with a %s, in the %s',
    async (size, tone) => {
      await using visited = await visit(FEW, { size, tone });
      const { page } = visited;
      await played(page);
      await page.locator('table.flips').waitFor();
      expect(await visited.barriers()).toEqual([]);
      expect(await visited.overhang()).toBeLessThanOrEqual(0);
      await screenshot(page, `graders-${size}-${tone}`);
      await page.getByRole('button', { name: 'v1', exact: true }).click();
      await expect.poll(() => verdict(page)).toBe('This grader pays nothing for inference');
      await page.locator('table.flips').waitFor();
      expect(await visited.barriers()).toEqual([]);
      await screenshot(page, `graders-v1-${size}-${tone}`);
      expect(visited.foreign).toEqual([]);
      expect(visited.said).toEqual([]);
    },
  );
});
