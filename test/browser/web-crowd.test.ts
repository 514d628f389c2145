/** Tests the crowd view in Chromium: results in WebAssembly and on WebGPU, addresses, stops, accessibility. */
import { createHash } from 'node:crypto';
import type { Locator } from 'playwright-core';
import { expect, inject, it } from 'vitest';
import { findPolicy } from '../../src/agents/policies/fixed-policies.js';
import { createVecEnv } from '../../src/index.js';
import { launch } from '../support/chromium/chromium.js';
import { HOLD_REPORTS } from '../support/web/fast-input.js';
import { screenshot } from '../support/web/screenshots.js';
import { Site } from '../support/web/site.js';
import { SIZES, Visit } from '../support/web/visit.js';
import { describePage } from '../support/web/visits.js';

interface Setting {
  readonly people: number;
  readonly seed: number;
  readonly grader: string;
  readonly persons: string;
}

/** Computes scores, mean and digest in Node, on the fastest backend. */
function expected(policy: string, { people, seed, grader, persons }: Setting) {
  const { choice, options } = findPolicy(policy);
  using env = createVecEnv({ numEnvs: people, grader });
  env.reset({ seed, profiles: persons });
  const { finalScores } = env.run(choice(people, grader), options);
  const digest = createHash('sha256').update(
    new Uint8Array(finalScores.buffer, finalScores.byteOffset, finalScores.byteLength),
  );
  const mean = finalScores.reduce((sum, score) => sum + score, 0) / people;
  return { scores: finalScores.slice(), mean, digest: digest.digest('hex') };
}

const results = ({ page }: Visit): Locator => page.locator('.results[aria-busy="false"]');

/** Reads the means and digests on the page, one row per policy. */
async function shownPolicies(visit: Visit): Promise<{ policy: string; mean: number; digest: string }[]> {
  const rows = results(visit).getByRole('table', { name: 'Means and digests' }).locator('tbody tr');
  await rows.first().waitFor();
  const texts = await rows.evaluateAll((shown) =>
    shown.map((row) => Array.from(row.children, ({ textContent }) => textContent!)),
  );
  return texts.map(([policy, mean, digest]) => ({ policy, mean: Number(mean), digest }));
}

const FEW = '#crowd?people=1000';

/** Runs in the page before its own scripts: notes the number of sections of the results after each task that changed it. */
const NOTE_SECTIONS = `globalThis.drawn = [];
new MutationObserver(() => {
  const { length } = document.querySelectorAll('.results > section');
  if (drawn.at(-1) !== length) drawn.push(length);
}).observe(document, { childList: true, subtree: true });`;

describePage('the crowd', ({ at, visit, share }) => {
  /** A page with the results of a crowd, in a browser with touch. The tests that start no other run share it. */
  const opened = share(FEW, { size: 'phone', scripts: [NOTE_SECTIONS] }, async (visited) => {
    await visited.page.setViewportSize(SIZES.laptop);
    await shownPolicies(visited);
  });

  /** Expects the page to show the same results as Node. */
  async function expectResults(visited: Visit, policies: readonly string[], setting: Setting): Promise<void> {
    const rows = policies.map((name) => ({ policy: name, ...expected(name, setting) }));
    expect(await shownPolicies(visited)).toEqual(
      rows.map(({ policy, mean, digest }) => ({ policy, mean: expect.closeTo(mean, 11), digest })),
    );
    if (rows.length === 2) {
      const [first, second] = rows.map(({ scores }) => scores);
      const better = first.filter((score, i) => score > second[i]).length / setting.people;
      const worse = second.filter((score, i) => score > first[i]).length / setting.people;
      const higher = visited.page.locator('.finding dl > div', { hasText: 'Higher score' }).locator('dd');
      const gain = Math.abs(rows[0].mean - rows[1].mean).toFixed(4);
      expect(await higher.textContent()).toMatch(
        new RegExp(`^${(100 * Math.max(better, worse)).toFixed(1)} %.* by ${gain} ±`),
      );
    } else expect(await visited.page.getByText('Higher score').count()).toBe(0);
  }

  const linkOf = (policy: string, against: string, setting: Setting): string =>
    `#crowd?${new URLSearchParams({ policy, against, ...setting, people: `${setting.people}`, seed: `${setting.seed}` })}`;

  it.each<[string, string, Setting]>([
    [
      'random+constant',
      'open-loop+constant',
      // The largest seed that an address may have (`CROWD_FIELDS`).
      { people: 2345, seed: 4_293_967_296, grader: 'v1', persons: 'discrete' },
    ],
    // More than BAND_EPISODES people, in chunks of three sizes (CHUNK in run-crowd.ts).
    ['heuristic+constant', 'none', { people: 20_001, seed: 77, grader: 'v2', persons: 'workaholic_stoic' }],
  ])('shows the same results as Node for %s and %s', async (policy, against, setting) => {
    await using visited = await visit(linkOf(policy, against, setting));
    await expectResults(
      visited,
      [policy, against].filter((name) => name !== 'none'),
      setting,
    );
    expect(await visited.page.locator('footer').textContent()).toMatch(
      /by WebAssembly in .*worker.*bit-exact.*Why not WebGPU\?.*offers no graphics device/,
    );
    await screenshot(visited.page, 'state-no-webgpu');
  });

  it('plays later crowds on a graphics device that is faster, and continues with workers after its loss', async () => {
    const browser = await launch();
    try {
      const visited = await Visit.begin(browser, await Site.at(inject('site')), FEW);
      const { page } = visited;
      const pair = ['heuristic', 'open-loop'];
      await expectResults(visited, pair, { people: 1000, seed: 0, grader: 'v2', persons: 'sampled' });
      // The workers play the first crowd; then the device is measured. In this build every device counts as faster.
      const footer = page.locator('footer');
      expect(await footer.textContent()).toContain('by WebAssembly');
      const setting = { people: 20_001, seed: 5, grader: 'v3', persons: 'discrete' };
      await expect
        .poll(async () => {
          await visited.follow(FEW);
          await visited.follow(linkOf('heuristic', 'open-loop', setting));
          await shownPolicies(visited);
          return footer.textContent();
        })
        .toMatch(/by WebGPU on .*swiftshader.*bit-exact/i);
      await expectResults(visited, pair, setting);
      await page.getByRole('combobox', { name: 'People' }).selectOption('250,000');
      const session = await browser.newBrowserCDPSession();
      await session.send('Browser.crashGpuProcess').catch(() => {});
      await expectResults(visited, pair, { ...setting, people: 250_000 });
      expect(await footer.textContent()).toMatch(/by WebAssembly in .*Why not WebGPU\?/);
      expect(visited.messages).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  it('has an address that follows the settings, and is restored from the history and after a visit to another view', async () => {
    await using visited = await visit(FEW);
    const { page } = visited;
    await page.getByRole('combobox', { name: 'Policy' }).selectOption('random');
    await page.getByText('Which people').click();
    await page.getByRole('textbox', { name: 'First seed' }).fill('42');
    await page.keyboard.press('Enter');
    const address = at('#crowd?people=1000&seed=42&policy=random');
    await page.waitForURL(address);
    const setting = { people: 1000, seed: 42, grader: 'v2', persons: 'sampled' };
    const digests = ['random', 'open-loop'].map((policy) => expected(policy, setting).digest);
    const shown = async () => (await shownPolicies(visited)).map(({ digest }) => digest);
    await expect.poll(shown).toEqual(digests);
    await page.goBack();
    await page.waitForURL(at('#crowd?people=1000&policy=random'));
    await expect.poll(() => page.getByRole('textbox', { name: 'First seed' }).inputValue()).toBe('0');
    await page.goForward();
    await page.getByRole('link', { name: 'One person' }).click();
    await page.waitForURL(at('#person'));
    await page.getByRole('link', { name: 'Crowd' }).click();
    await page.waitForURL(address);
    await expect.poll(shown).toEqual(digests);
  });

  it('reports invalid parts of a link until the user dismisses the report', async () => {
    await using visited = await visit('#crowd?people=12&colour=red', { scripts: [HOLD_REPORTS] });
    const { page } = visited;
    const notice = page.locator('.notice');
    expect(await notice.locator('p').allTextContents()).toHaveLength(2);
    expect(await page.getByRole('combobox', { name: 'People' }).inputValue()).toBe('100000');
    await screenshot(page, 'state-bad-link');
    // The results of the first people are shown early. They are 1,024, or more if the second worker was faster.
    await page.evaluate('answer(1)');
    await page.getByText(/n = \d,\d{3} so far\.$/).waitFor();
    expect(await page.getByRole('img').count()).toBe(3);
    await notice.getByRole('button', { name: 'Dismiss' }).click();
    await notice.waitFor({ state: 'detached' });
    await page.waitForURL(at('#crowd'));
    await page.goto(at('#garden?people=1000'));
    await notice.waitFor();
  });

  it('works by keyboard alone, is accessible during a run, and shows the weeks so far after a stop', async () => {
    await using visited = await visit(FEW);
    const { page } = visited;
    await shownPolicies(visited);
    const focused = () => page.evaluate('document.activeElement.textContent') as Promise<string>;
    // The first link skips to the view.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('as you meet one');
    await page.getByRole('combobox', { name: 'Grader' }).focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('People');
    for (let k = 0; k < 4; k++) await page.keyboard.press('ArrowDown');
    await page.waitForURL(at('#crowd?people=1000000'));
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Which people');
    expect(await page.getByRole('textbox', { name: 'First seed' }).isVisible()).toBe(false);
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'First seed' }).focus();
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Stop');
    await page.getByText(/^[1-9].* of 1,000,000 people$/).waitFor();
    await screenshot(page, 'state-under-way');
    expect(await visited.accessibilityViolations()).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText(/n = [1-9].*, then stopped\.$/).waitFor();
    expect(await page.getByRole('img').count()).toBe(3);
    expect(await visited.accessibilityViolations()).toEqual([]);
    await expect.poll(focused).toBe('Run the week again');
    await page.getByRole('combobox', { name: 'People' }).press('Home');
    await page.waitForURL(at(FEW));
    await shownPolicies(visited);
    await page.getByRole('button', { name: 'Run the week again' }).press('Enter');
    await shownPolicies(visited);
    await page.locator('summary').first().press('Enter');
    await page.getByRole('table', { name: /^Share of the people/ }).waitFor();
  });

  it('draws results one section after the other, in words too, and has crosshairs by keyboard, pointer and touch', async () => {
    const { page } = opened();
    await expect.poll(() => page.getByRole('img').count()).toBe(3);
    expect(await page.evaluate('drawn')).toEqual([0, 1, 2, 3]);
    expect(await page.locator('main > .visually-hidden[role="status"]').textContent()).toMatch(
      /^The weeks of 1,000 people are computed: Same week for everybody beats .*daily rules of thumb 0\.\d{4}, same week for everybody 0\.\d{4}\.$/,
    );
    const slider = page.getByRole('slider', { name: 'Read the chart at' });
    await slider.press('Home');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^Day 1 morning: vitality 0\.\d\d and /);
    await expect.poll(() => page.locator('.crosshair circle').count()).toBe(10);
    const [histogram, panels] = [page.getByRole('img').first(), page.getByRole('img').nth(1)];
    await panels.hover({ position: { x: 120, y: 80 } });
    await expect.poll(() => slider.inputValue()).not.toBe('0');
    await panels.tap({ position: { x: 60, y: 60 } });
    await expect.poll(async () => Number(await slider.inputValue())).toBeLessThan(10);
    await histogram.tap({ position: { x: 180, y: 60 } });
    await page
      .getByText(/^0\.\d\d to 0\.\d\d: daily rules of thumb \d+\.\d %, same week for everybody /)
      .waitFor();
  });

  it('has no violations in any size, in light and dark', async () => {
    const visited = opened();
    await expect.poll(() => visited.page.getByRole('img').count()).toBe(3);
    await visited.expectAccessibleInAllSizes('crowd');
    // With the tables open, whose rows take most of the time of a check, only a phone is checked.
    for (const summary of await visited.page.locator('summary').all()) await summary.click();
    expect(await visited.accessibilityViolations()).toEqual([]);
    await expect.poll(() => visited.overflowWidth()).toBeLessThanOrEqual(0);
  });
});
