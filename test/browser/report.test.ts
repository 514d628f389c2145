/** Tests a report in Chromium: no further requests, console messages, horizontal scrolling or accessibility violations. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import { evaluationToJson } from '../../src/evaluation/result-json.js';
import { episodeLine } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { launch } from '../support/chromium/chromium.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { AUDIT } from '../support/report.js';
import { episodeStarts, playerOf, recordEpisodes, TEST_POLICIES } from '../support/trajectories.js';
import { describeInChromium } from '../support/web/visits.js';

describeInChromium('a report', 'a report', () => {
  const pathOf = temporaryDirectory();
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const messages: string[] = [];
  const requests: string[] = [];
  let browser: Awaited<ReturnType<typeof launch>>;
  /** One page for all cases, so that the report and axe are loaded once. */
  let page: Page;

  beforeAll(async () => {
    const evaluation = await evaluate({ conditions: ['in-distribution', 'discrete'], episodes: 5 });
    writeFileSync(pathOf('results.json'), JSON.stringify(evaluationToJson(evaluation)));
    writeFileSync(pathOf('audit.json'), JSON.stringify(AUDIT));
    const player = playerOf({
      teacher: 'llm',
      model: 'a model of a rather long name, so that it may not fit',
    });
    const episodes = recordEpisodes(episodeStarts([1, 2], 'in-distribution'), {
      player,
      policy: TEST_POLICIES.incompleteText,
    });
    writeFileSync(pathOf('episodes.jsonl'), episodes.map(episodeLine).join(''));
    const results = ['results.json', 'audit.json', 'episodes.jsonl'].map(pathOf);
    const { code, stderr } = await runCli(['report', ...results, '--output', pathOf('report')]);
    expect([code, stderr]).toEqual([0, '']);
    browser = await launch('no webgpu');
    // The content policy of the page forbids axe.
    page = await browser.newPage({ bypassCSP: true });
    page.on('console', (message) => messages.push(message.text()));
    page.on('pageerror', (error) => messages.push(String(error)));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(pathToFileURL(`${pathOf('report')}/report.html`).href);
    await page.addScriptTag({ content: axe });
  }, 120_000);
  afterAll(() => browser?.close());

  // A report has the same parts in every width, and the schemes differ only in colours. So one case checks all
  // rules of axe, the dark case only the contrast, and the other widths the only rule that depends on the width.
  test.each([
    ['light', 1440, null],
    ['light', 768, ['scrollable-region-focusable']],
    ['light', 360, ['scrollable-region-focusable']],
    ['dark', 360, ['color-contrast']],
  ] as const)(
    'is accessible, fits the width and makes no further requests: %s, %i pixels wide',
    async (colorScheme, width, rules) => {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme, media: 'screen' });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      // What is wider than the page scrolls within its frame, which the keyboard reaches.
      for (const frame of await page.locator('.frame').all()) {
        const box = (await frame.boundingBox())!;
        expect(box.x + box.width).toBeLessThanOrEqual(width);
        expect(await frame.getAttribute('tabindex')).toBe('0');
      }
      const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
      const violations = await page.evaluate(
        `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
      );
      expect(violations).toEqual([]);
      expect(messages).toEqual([]);
      expect(requests).toEqual([pathToFileURL(`${pathOf('report')}/report.html`).href]);
      // Also in the dark, paper is white.
      await page.emulateMedia({ media: 'print' });
      const paper = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(paper).toBe('rgb(255, 255, 255)');
    },
    60_000,
  );
});
