/** Tests the graders view in Chromium: ranking, sliders, addresses, files, failures, accessibility. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it, test } from 'vitest';
import { parseGrader } from '../../src/engine/graders/parse-grader.js';
import { shippedAnchors } from '../../src/evaluation/audit/shipped-anchors.js';
import { shareOf } from '../../src/evaluation/bracket.js';
import { rankPolicies } from '../../src/evaluation/ranking.js';
import { weightSensitivity } from '../../src/evaluation/weight-sensitivity.js';
import { createVecEnv } from '../../src/index.js';
import { COMPONENT_NAMES } from '../../src/world/fields.js';
import { playPolicies } from '../../web/src/graders/play-policies.js';
import { RANKED_POLICIES } from '../../web/src/graders/ranked-policies.js';
import { ticksOf } from '../../web/src/graders/ticks.js';
import { placesOf } from '../../web/src/graders/ties.js';
import {
  decimalOf,
  fractionsOf,
  moveWeight,
  PRESETS,
  slidersAt,
  type Weights,
  weightsFrom,
} from '../../web/src/graders/weights.js';
import { SIZES, type Visit } from '../support/web/visit.js';
import { setUpVisits } from '../support/web/visits.js';

const [FIRST_SEED, NUM_EPISODES] = [20_000, 48];
const FEW = `#graders?people=${NUM_EPISODES}`;
const [V1, V2, V3, EQUAL] = PRESETS.map(({ weights }) => weights);
/** The weights of v2, in thousandths, after the first slider is moved to 0.512; and the address of the page then. */
const MOVED = moveWeight(slidersAt(V2), 0, 512).weights;
const MOVED_FRAGMENT = `#graders?weights=${MOVED.map(decimalOf).join(',')}&people=${NUM_EPISODES}`;

const env = createVecEnv({ numEnvs: NUM_EPISODES });
const seeds = Uint32Array.from({ length: NUM_EPISODES }, (_, i) => FIRST_SEED + i);
const policies = playPolicies(env, seeds).map((components, k) => ({
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
  page.evaluate(`[...document.querySelectorAll('table.ranking tbody tr')].map((row) => {
    const [score, lead] = [...row.querySelectorAll('td')].map(({ textContent }) => textContent);
    return { policy: row.dataset.policy, score, lead };
  })`);

/** Runs in the page before its own scripts: notes the moves of rows, and ends them at once. */
const NOTE_MOVES = `globalThis.moves = [];
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, options) {
  moves.push([this.dataset.row, Number.parseFloat(frames[0].transform.slice('translateY('.length))]);
  const animation = animate.call(this, frames, options);
  animation.finish();
  return animation;
};`;

/** Returns the place of each row below the top of the table's body, in pixels. */
const placesIn = (page: Page): Promise<Record<string, number>> =>
  page.evaluate(`(() => {
    const body = document.querySelector('table.ranking tbody');
    const { top } = body.getBoundingClientRect();
    return Object.fromEntries([...body.rows].map((row) => [row.dataset.row, row.getBoundingClientRect().top - top]));
  })()`) as never;

/** Reads the weights in the address. */
function weightsIn(page: Page): Weights {
  const match = /weights=([\d.,]+)/.exec(page.url());
  return match === null ? V2 : weightsFrom(match[1])!;
}

/** Waits until all episodes were played. */
const allPlayed = (page: Page): Promise<void> =>
  page.getByText(`${NUM_EPISODES} of ${NUM_EPISODES} people`).waitFor();

const slider = (page: Page, name: string) => page.getByRole('slider', { name });
const verdict = (page: Page) => page.locator('.verdict h2').textContent();

const absent = inject('whyNoChromium');
if (absent !== null) test.skip(`absent here: the page in Chromium: ${absent}`, () => {});

describe.skipIf(absent !== null)('graders', () => {
  const { at, visit } = setUpVisits();

  /** The page that most tests share, in a browser with touch. */
  let opened: Visit;
  beforeAll(async () => {
    opened = await visit(MOVED_FRAGMENT, { size: 'phone', scripts: [NOTE_MOVES] });
    await opened.page.setViewportSize(SIZES.laptop);
  }, 90_000);
  afterAll(() => opened?.end(), 60_000);

  /** Leaves the view of the opened page, and shows it again. */
  const show = async (fragment = FEW): Promise<Visit> => {
    await opened.follow('#person');
    await opened.follow(fragment);
    await allPlayed(opened.page);
    return opened;
  };

  it('are restored from a link, and move the rows to their new places, unless the visitor prefers reduced motion', async () => {
    // The first test, because the page was opened with this link.
    const { page } = opened;
    await allPlayed(page);
    await expect.poll(() => ranking(page)).toEqual(expected(MOVED));
    const moves = (): Promise<[row: string, by: number][]> => page.evaluate('moves') as never;
    await page.getByRole('button', { name: 'v1', exact: true }).press('Enter');
    await expect.poll(() => ranking(page)).toEqual(expected(V1));
    expect(await moves()).toEqual([]);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    const before = await placesIn(page);
    await page.getByRole('button', { name: 'v3', exact: true }).press('Enter');
    await expect.poll(() => ranking(page)).toEqual(expected(V3));
    const after = await placesIn(page);
    const moved = Object.keys(after).filter((row) => row in before && before[row] !== after[row]);
    expect(moved.length).toBeGreaterThan(0);
    expect(await moves()).toEqual(moved.map((row) => [row, before[row] - after[row]]));
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });

  it('rank the policies as the engine does, for every preset', async () => {
    const visited = await show();
    const { page } = visited;
    for (const { name, weights } of PRESETS) {
      await page.getByRole('button', { name, exact: true }).click();
      await expect.poll(() => ranking(page)).toEqual(expected(weights));
    }
    await expect.poll(() => weightsIn(page)).toEqual(EQUAL);
    expect(visited.foreignRequests).toEqual([]);
    expect(visited.messages).toEqual([]);
  });

  it('take weights by keyboard and text field, keep a locked weight, and the ranking follows', async () => {
    const { page } = await show();
    await slider(page, 'Belief accuracy').focus();
    for (let k = 0; k < 20; k++) await page.keyboard.press('ArrowRight');
    // Each press adds 0.005 to the 0.2 of v2.
    let weights = moveWeight(slidersAt(V2), 5, 300).weights;
    await expect.poll(() => weightsIn(page)).toEqual(weights);
    await expect.poll(() => ranking(page)).toEqual(expected(weights));
    await page.keyboard.press('End');
    await expect.poll(() => ranking(page)).toEqual(expected([0, 0, 0, 0, 0, 1000, 0, 0]));
    await page.getByRole('button', { name: 'v1', exact: true }).click();
    await page.getByRole('button', { name: 'lock Progress' }).press('Enter');
    await expect.poll(() => slider(page, 'Progress').isDisabled()).toBe(true);
    const field = page.getByRole('textbox', { name: 'Crash free as a number' });
    await field.fill('0.9');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await page.getByText('Expected 0.00 to 0.75.').waitFor();
    await field.fill('0.4');
    await page.keyboard.press('Enter');
    weights = moveWeight({ ...slidersAt(V1), locked: V1.map((_, k) => k === 1) }, 0, 400).weights;
    expect(weights[1]).toBe(250);
    await expect.poll(() => weightsIn(page)).toEqual(weights);
    await expect.poll(() => ranking(page)).toEqual(expected(weights));
  });

  it('show the verdict and the beaten policies', async () => {
    const { page } = await show();
    expect(await verdict(page)).toBe(
      'This grader pays for inference, but an open-loop sequence with a constant belief beats some policies that infer',
    );
    const marked = page.locator('tr', { has: page.getByText('beaten without inference') });
    const names = await Promise.all((await marked.all()).map((row) => row.getAttribute('data-policy')));
    expect(names).toEqual(['open-loop-v3+inference', 'heuristic+inference', 'random+inference']);
    await page.getByRole('button', { name: 'v1', exact: true }).click();
    await expect.poll(() => verdict(page)).toBe('This grader pays nothing for inference');
    await slider(page, 'Belief accuracy').press('End');
    await expect.poll(() => verdict(page)).toBe('This grader pays for inference');
    await expect
      .poll(() => page.locator('.verdict [role="status"]').textContent())
      .toBe('This grader pays for inference');
  });

  it('show the share of what knowing the person is worth, and the scores whose shares are 0 and 1', async () => {
    const { page } = await show();
    const { anchors } = shippedAnchors('v2')!;
    const shares = placesOf(rankPolicies(policies, fractionsOf(V2))).map(({ finalScore }) => {
      const { mean, high } = shareOf(finalScore, NUM_EPISODES, anchors.sampled)!;
      return `${mean.toFixed(2).replace('-', '−')} ±${(high! - mean).toFixed(2)}`;
    });
    const column = page.locator('table.ranking tbody tr td:nth-child(4)');
    await expect.poll(() => column.allTextContents()).toEqual(shares);
    const note = page.locator('.bracket');
    expect(await note.textContent()).toContain(`(${anchors.sampled.sequence.mean.toFixed(3)})`);
    expect(await note.textContent()).toContain(`(${anchors.sampled.oracle.mean.toFixed(3)})`);
    await page.getByRole('button', { name: 'equal', exact: true }).click();
    await page.getByText('What knowing the person is worth has been measured for v1, v2 and v3.').waitFor();
    expect(new Set(await column.allTextContents())).toEqual(new Set(['–']));
  });

  it('show the weights at which policies change places', async () => {
    const { page } = await show();
    const rows = page.locator('table.flips tbody tr');
    const expectedFlips = weightSensitivity(policies, fractionsOf(V2)).map(({ below, above }) =>
      [below, above].map((flip) =>
        flip === null ? 'changes nothing' : `${flip.weight.toFixed(3)}${flip.policy} passes ${flip.passed}`,
      ),
    );
    const shownFlips = async () =>
      Promise.all(
        (await rows.all()).map(async (row) => (await row.locator('td').allTextContents()).slice(1)),
      );
    await expect.poll(shownFlips).toEqual(expectedFlips);
    expect(expectedFlips).toHaveLength(COMPONENT_NAMES.length);
  });

  it('take the weights at which policies change places, from the table or from a mark below a slider', async () => {
    const { page } = await show();
    const rows = weightSensitivity(policies, fractionsOf(V2));
    const k = rows.findIndex((row) => ticksOf(row).length > 0 && row.above !== null);
    const [jumped] = [moveWeight(slidersAt(V2), k, Math.ceil(rows[k].above!.weight * 1000)).weights];
    const cell = page.locator('table.flips tbody tr').nth(k).locator('td').nth(2);
    await cell.getByRole('button').press('Enter');
    await expect.poll(() => weightsIn(page)).toEqual(jumped);
    await expect.poll(() => ranking(page)).toEqual(expected(jumped));
    await page.getByRole('button', { name: 'v2', exact: true }).click();
    const marks = page.locator('.weight').nth(k).locator('.ticks span');
    await expect.poll(() => marks.count()).toBe(ticksOf(rows[k]).length);
    await marks.first().click({ force: true });
    const { to } = ticksOf(rows[k])[0];
    await expect.poll(() => weightsIn(page)).toEqual(moveWeight(slidersAt(V2), k, to).weights);
  });

  it('are changed by touch on a phone, where the verdict and the first three places stay in view', async () => {
    const { page } = await show();
    await page.setViewportSize(SIZES.phone);
    const strip = page.locator('.verdict-strip');
    await strip.waitFor();
    await slider(page, 'Belief skill').scrollIntoViewIfNeeded();
    await expect.poll(async () => (await strip.boundingBox())!.y).toBe(0);
    await expect.poll(() => strip.locator('li').count()).toBe(3);
    expect((await strip.boundingBox())!.height).toBeLessThan(150);
    const moved = slider(page, 'Belief skill');
    await moved.tap({ position: { x: 40, y: 12 } });
    await expect.poll(() => weightsIn(page)[7]).toBeGreaterThan(0);
    const weights = moveWeight(slidersAt(V2), 7, Number(await moved.inputValue())).weights;
    await expect.poll(() => weightsIn(page)).toEqual(weights);
    await expect.poll(() => ranking(page)).toEqual(expected(weights));
    await page.getByRole('button', { name: 'v2', exact: true }).tap();
    await expect.poll(() => weightsIn(page)).toEqual(V2);
    const flips = weightSensitivity(policies, fractionsOf(V2));
    const k = flips.findIndex((row) => ticksOf(row).length > 0 && row.above !== null);
    const marks = page.locator('.weight').nth(k).locator('.ticks span');
    await expect.poll(() => marks.count()).toBe(ticksOf(flips[k]).length);
    await marks.first().tap({ force: true });
    const { to } = ticksOf(flips[k])[0];
    await expect.poll(() => weightsIn(page)).toEqual(moveWeight(slidersAt(V2), k, to).weights);
    await page.getByRole('button', { name: 'v2', exact: true }).tap();
    const { weight } = flips[k].above!;
    const cell = page.locator('table.flips tbody tr').nth(k).locator('td').nth(2);
    await expect.poll(() => cell.textContent()).toContain(weight.toFixed(3));
    await cell.getByRole('button').tap();
    const above = moveWeight(slidersAt(V2), k, Math.ceil(weight * 1000)).weights;
    await expect.poll(() => weightsIn(page)).toEqual(above);
    await page.getByRole('button', { name: 'lock Progress' }).tap();
    await expect.poll(() => slider(page, 'Progress').isDisabled()).toBe(true);
    await page.setViewportSize(SIZES.laptop);
  });

  it('are in the address, and are restored from the history', async () => {
    const { page } = await show();
    const field = page.getByRole('textbox', { name: 'Crash free as a number' });
    await field.fill('0.512');
    await page.keyboard.press('Enter');
    await page.waitForURL(at(MOVED_FRAGMENT));
    await expect.poll(() => ranking(page)).toEqual(expected(MOVED));
    await page.goBack();
    await expect.poll(() => ranking(page)).toEqual(expected(V2));
    await page.getByRole('combobox', { name: 'People' }).selectOption('120');
    await page.waitForURL(at('#graders?people=120'));
    // Until more people than before were played. The page plays 24 people at a time.
    await page.getByText(/^(72|96|120) of 120 people$/).waitFor();
    await page.getByRole('combobox', { name: 'People' }).selectOption(String(NUM_EPISODES));
    await expect.poll(() => ranking(page)).toEqual(expected(V2));
  });

  it('report a link with invalid weights', async () => {
    const { page } = await show(`${FEW}&weights=0.5,0.5,0.5,0,0,0`);
    const notice = page.locator('.notice');
    await notice.waitFor();
    expect(await notice.textContent()).toContain('where 8 weights from 0 to 1 that sum to 1');
    expect(await ranking(page)).toEqual(expected(V2));
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

  it('show that the file is copied, until the weights change', async () => {
    const { page } = await show();
    await page.evaluate('navigator.clipboard.writeText = async () => {}; null');
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied.').waitFor();
    await page.getByRole('button', { name: 'v1', exact: true }).click();
    await page.getByText('Copied.').waitFor({ state: 'detached' });
  });

  it('report a worker whose script is missing, and start it again', async () => {
    await using visited = await visit('#train');
    const { page } = visited;
    // Until the engine's worker has started.
    await page.getByText('by the reference').waitFor();
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

  it('are accessible in any size, in light and dark', async () => {
    const visited = await show();
    const { page } = visited;
    await page.locator('table.flips').waitFor();
    await visited.expectAccessibleInAllSizes('graders');
    await page.getByRole('button', { name: 'v1', exact: true }).click();
    await expect.poll(() => verdict(page)).toBe('This grader pays nothing for inference');
    await page.locator('table.flips').waitFor();
    // Another verdict has other texts and colours. The window still has the size of a phone.
    await visited.expectAccessible('graders-v1', ['color-contrast']);
    expect(visited.foreignRequests).toEqual([]);
    expect(visited.messages).toEqual([]);
  });
});
