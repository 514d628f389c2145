/** Tests how much Chromium loads until the first chart of the page, and that views load their own files only when they are shown. */
import { gzipSync } from 'node:zlib';
import type { Response } from 'playwright-core';
import { expect, inject, it } from 'vitest';
import { launch } from '../support/chromium/chromium.js';
import { Site } from '../support/web/site.js';
import { describeInChromium } from '../support/web/visits.js';

/** The limit of the first load, compressed, in bytes. */
const LIMIT = 350_000;

/** Files that are compressed already, which servers send as they are. */
const COMPRESSED = /\.(woff2|png)$/;

describeInChromium('the page', 'the files of the page', () => {
  it('that are loaded until the first chart have at most 350 kB with gzip, without shaders, students and planner', async () => {
    const browser = await launch('no webgpu');
    try {
      const site = await Site.at(inject('site'));
      const context = await browser.newContext();
      const loaded = new Map<string, Response>();
      // The context also has the requests of workers.
      context.on('response', (response: Response) => {
        loaded.set(response.url(), response);
      });
      const page = await context.newPage();
      await page.goto(site.at());
      await page.locator('svg.ring.draggable').waitFor();
      const files = await Promise.all(
        Array.from(loaded, async ([url, response]) => ({
          name: url.split('/').at(-1)!,
          body: await response.body(),
        })),
      );
      const sizes = files.map(({ name, body }) =>
        COMPRESSED.test(name) ? body.length : gzipSync(body, { level: 9 }).length,
      );
      const names = files.map(({ name }) => name);
      expect(names.filter((name) => /^(worker|engine|world|index)-.*\.js$/.test(name)).length).toBe(4);
      expect(names.filter((name) => /\.woff2$/.test(name))).toHaveLength(2);
      expect(
        names.filter((name) => /^(student-v|planner|checked-program|crowd|graders|training)/.test(name)),
      ).toEqual([]);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(LIMIT);
    } finally {
      await browser.close();
    }
  });
});
