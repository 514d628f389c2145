/** Tests the graders view in Chromium: ranking, sliders, addresses, files, failures, accessibility. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { parseGrader } from '../../src/engine/graders/parse-grader.js';
import { shippedAnchors } from '../../src/evaluation/audit/read-anchors.js';
import { shareOf } from '../../src/evaluation/bracket.js';
import { rankPolicies } from '../../src/evaluation/ranking.js';
import { weightSensitivity } from '../../src/evaluation/weight-sensitivity.js';
import { createVecEnv } from '../../src/index.js';
import { COMPONENT_NAMES } from '../../src/world/fields.js';
import { playPolicies } from '../../web/src/graders/play-policies.js';
import { placesOf, RANKED_POLICIES } from '../../web/src/graders/verdict.js';
import {
  decimalOf,
  fractionsOf,
  moveWeight,
  PRESETS,
  slidersAt,
  type Weights,
  weightsFrom,
} from '../../web/src/graders/weights.js';
import { policyName } from '../../web/src/words.js';
import { SIZES, type Visit } from '../support/web/visit.js';
import { describePage } from '../support/web/visits.js';

const [FIRST_SEED, NUM_EPISODES] = [20_000, 48];
const FEW = `#graders?people=${NUM_EPISODES}`;
const [V1, V2, , EQUAL] = PRESETS.map(({ weights }) => weights);
/** The weights of v2, in thousandths, after the first slider is moved to 0.512; and the address of the page then. */
const MOVED = moveWeight(slidersAt(V2), 0, 512).weights;
const MOVED_FRAGMENT = `#graders?weights=${MOVED.map(decimalOf).join(',')}&people=${NUM_EPISODES}`;

const env = createVecEnv({ numEnvs: NUM_EPISODES });
const seeds = Uint32Array.from({ length: NUM_EPISODES }, (_, i) => FIRST_SEED + i);
const policies = (await playPolicies(env, seeds)).map((components, k) => ({
  name: RANKED_POLICIES[k].name,
  components,
}));
env.close();

/** Computes the ranking with the engine, rounded like the page. Policies with the same scores share a row. */
const expected = (weights: Weights) =>
  placesOf(rankPolicies(policies, fractionsOf(weights))).map(
    ({ policies, finalScore: { mean, high }, lead }) => ({
      policy: policies.join(' '),
      score: `${mean.toFixed(3)} ±${(high! - mean).toFixed(3)}`,
      lead: lead === null ? '–' : `${lead.mean.toFixed(3)} ±${(lead.high! - lead.mean).toFixed(3)}`,
    }),
  );

/** Reads the ranking in one call of the page, because a wait reads it often. */
const ranking = (page: Page): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll('.ranking li')].map((row) => {
    const [score, lead] = ['.score', '.lead-over-next'].map((part) => row.querySelector(part)?.textContent);
    return { policy: row.dataset.policy, score, lead };
  })`);

/** Reads the weights in the address. */
function weightsIn(page: Page): Weights {
  const match = /weights=([\d.,]+)/.exec(page.url());
  return match === null ? V2 : weightsFrom(match[1])!;
}

/** Waits until all episodes were played. */
const allPlayed = (page: Page): Promise<void> =>
  page.getByText(`mean scores, ${NUM_EPISODES} people`).waitFor();

const slider = (page: Page, name: string) => page.getByRole('slider', { name });
const verdict = (page: Page) => page.locator('.verdict h2').textContent();

describePage('graders', ({ at, share }) => {
  /** The page that most tests share, in a browser with touch. */
  const opened = share(MOVED_FRAGMENT, { size: 'phone' }, ({ page }) => page.setViewportSize(SIZES.laptop));

  /** Unfolds the whole ranking and the folded parts. */
  const unfold = async ({ page }: Visit): Promise<void> => {
    await allPlayed(page);
    await page.getByRole('button', { name: /^Show all/ }).press('Enter');
    for (const fold of await page.locator('.graders summary').all()) await fold.press('Enter');
  };
  /** Leaves the view of the opened page, and shows it again, unfolded. */
  const show = async (fragment = FEW): Promise<Visit> => {
    await unfold(await opened().show(fragment));
    return opened();
  };

  it('are restored from a link', async () => {
    // The first test, because the page was opened with this link. At first it shows the first places alone.
    const { page } = opened();
    await allPlayed(page);
    const places = expected(MOVED).map(({ policy }) => policy);
    const first = page.locator('.ranking li');
    await expect.poll(() => first.count()).toBeLessThan(places.length);
    expect(await first.evaluateAll((rows) => rows.map((row) => row.dataset.policy))).toEqual(
      places.slice(0, 5),
    );
    await unfold(opened());
    await expect.poll(() => ranking(page)).toEqual(expected(MOVED));
  });

  it('rank the policies as the engine does, for every preset, with a verdict', async () => {
    const { page } = await show();
    const verdicts: (string | null)[] = [];
    for (const { name, weights } of PRESETS) {
      await page.getByRole('button', { name, exact: true }).click();
      await expect.poll(() => ranking(page)).toEqual(expected(weights));
      verdicts.push(await verdict(page));
    }
    const lose = expect.stringMatching(/^It pays for reading the person, but \d who read lose/);
    expect(verdicts.slice(0, 3)).toEqual([expect.stringMatching(/^It pays (nothing|more)/), lose, lose]);
    await expect.poll(() => weightsIn(page)).toEqual(EQUAL);
    await slider(page, 'final belief').press('End');
    await expect.poll(() => verdict(page)).toBe('It pays for reading the person');
  });

  it('take weights by keyboard and text field, keep a locked weight, and the ranking follows', async () => {
    const { page } = await show();
    await slider(page, 'final belief').focus();
    for (let k = 0; k < 20; k++) await page.keyboard.press('ArrowRight');
    // Each press adds 0.005 to the 0.2 of v2.
    let weights = moveWeight(slidersAt(V2), 5, 300).weights;
    await expect.poll(() => weightsIn(page)).toEqual(weights);
    await expect.poll(() => ranking(page)).toEqual(expected(weights));
    await page.getByRole('button', { name: 'v1', exact: true }).click();
    await page.getByRole('button', { name: 'lock final progress' }).press('Enter');
    await expect.poll(() => slider(page, 'final progress').isDisabled()).toBe(true);
    const field = page.getByRole('textbox', { name: 'no crashes' });
    await field.fill('0.9');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('0.4');
    await page.keyboard.press('Enter');
    weights = moveWeight({ ...slidersAt(V1), locked: V1.map((_, k) => k === 1) }, 0, 400).weights;
    expect(weights[1]).toBe(250);
    await expect.poll(() => weightsIn(page)).toEqual(weights);
    await expect.poll(() => ranking(page)).toEqual(expected(weights));
  });

  it('show the weights at which policies change places, and the worth of knowing the person, if it was measured', async () => {
    const { page } = await show();
    const expectedFlips = weightSensitivity(policies, fractionsOf(V2)).map(({ below, above }) =>
      [below, above].map((flip) =>
        flip === null
          ? 'changes nothing'
          : `${flip.weight.toFixed(3)} ${policyName(flip.policy)} passes ${policyName(flip.passed)}`,
      ),
    );
    const shownFlips = () =>
      page.evaluate(`[...document.querySelectorAll('.flips li')].map((row) =>
        [...row.children].slice(1).map(({ textContent }) => textContent.replace(/^(smaller|larger): /, '')))`);
    await expect.poll(shownFlips).toEqual(expectedFlips);
    expect(expectedFlips).toHaveLength(COMPONENT_NAMES.length);
    const { anchors } = shippedAnchors('v2')!;
    const shares = placesOf(rankPolicies(policies, fractionsOf(V2))).map(({ finalScore }) => {
      const { mean, high } = shareOf(finalScore, NUM_EPISODES, anchors.sampled)!;
      return `${mean.toFixed(2).replace('-', '−')} ±${(high! - mean).toFixed(2)}`;
    });
    const column = page.locator('.ranking .worth');
    await expect.poll(() => column.allTextContents()).toEqual(shares);
    await page.getByRole('button', { name: 'equal', exact: true }).click();
    await expect.poll(async () => new Set(await column.allTextContents())).toEqual(new Set(['–']));
  });

  it('are changed by touch on a phone: by slider, from the list of weights at which policies change places, and locked', async () => {
    const { page } = await show();
    await page.setViewportSize(SIZES.phone);
    const moved = slider(page, 'beliefs all week');
    await moved.scrollIntoViewIfNeeded();
    // The verdict stays in view.
    await expect
      .poll(async () => (await page.locator('.verdict').boundingBox())!.y)
      .toBeGreaterThanOrEqual(0);
    await moved.tap({ position: { x: 40, y: 12 } });
    await expect.poll(() => weightsIn(page)[7]).toBeGreaterThan(0);
    const weights = moveWeight(slidersAt(V2), 7, Number(await moved.inputValue())).weights;
    await expect.poll(() => weightsIn(page)).toEqual(weights);
    await expect.poll(() => ranking(page)).toEqual(expected(weights));
    await page.getByRole('button', { name: 'v2', exact: true }).tap();
    const flips = weightSensitivity(policies, fractionsOf(V2));
    const k = flips.findIndex(({ above }) => above !== null);
    const { weight } = flips[k].above!;
    await page
      .locator('.flips li')
      .nth(k)
      .getByRole('button', { name: weight.toFixed(3) })
      .tap();
    const above = moveWeight(slidersAt(V2), k, Math.ceil(weight * 1000)).weights;
    await expect.poll(() => weightsIn(page)).toEqual(above);
    await expect.poll(() => ranking(page)).toEqual(expected(above));
    await page.getByRole('button', { name: 'lock final progress' }).tap();
    await expect.poll(() => slider(page, 'final progress').isDisabled()).toBe(true);
    await page.setViewportSize(SIZES.laptop);
  });

  it('are in the address, and are restored from the history', async () => {
    const { page } = await show();
    const field = page.getByRole('textbox', { name: 'no crashes' });
    await field.fill('0.512');
    await page.keyboard.press('Enter');
    await page.waitForURL(at(MOVED_FRAGMENT));
    await expect.poll(() => ranking(page)).toEqual(expected(MOVED));
    await page.goBack();
    await expect.poll(() => ranking(page)).toEqual(expected(V2));
    await page.getByRole('combobox', { name: 'People' }).selectOption('120');
    await page.waitForURL(at('#graders?people=120'));
    // Until more people than before were played. The page plays 24 people at a time.
    await page.getByText(/^mean scores, (72 of 120|96 of 120|120) people$/).waitFor();
    await page.getByRole('combobox', { name: 'People' }).selectOption(String(NUM_EPISODES));
    await expect.poll(() => ranking(page)).toEqual(expected(V2));
  });

  it('are downloaded as a file that the commands accept', async () => {
    const weights = [300, 100, 100, 100, 100, 200, 40, 60];
    const { page } = await show(`${FEW}&weights=${weights.map((weight) => weight / 1000).join(',')}`);
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

  it('are accessible in any size, in light and dark', async () => {
    const visited = await show();
    await visited.page.locator('.flips').waitFor();
    await visited.expectAccessibleInAllSizes('graders');
  });
});
