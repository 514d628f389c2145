/** Visits the page in a browser that all files of a process share. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, inject, test } from 'vitest';
import { launch } from '../chromium/chromium.js';
import { Site } from './site.js';
import { Visit, type VisitOptions } from './visit.js';

interface Visits {
  visit(fragment: string, options?: VisitOptions): Promise<Visit>;
  /** Returns the address of the page. */
  at(fragment: string): string;
  /**
   * Opens an address before the tests of a block, which share the visit.
   * @param prepare further steps before the tests.
   * @returns a function that returns the visit.
   */
  share(fragment: string, options?: VisitOptions, prepare?: (visit: Visit) => Promise<void>): () => Visit;
}

/** A browser without WebGPU. Playwright ends it when the process ends. */
let shared: Browser | null = null;

/** Describes tests in Chromium. Without Chromium a skipped test names the reason, and what is not tested. */
export function describeInChromium(what: string, name: string, tests: () => void): void {
  const absent = inject('whyNoChromium');
  if (absent !== null) test.skip(`absent here: ${what} in Chromium: ${absent}`, () => {});
  describe.skipIf(absent !== null)(name, tests);
}

/**
 * Describes tests that visit the page. Opens the browser before them, if it is not open. Never closes it: visits that reuse its
 * pages take half the time.
 */
export function describePage(name: string, tests: (visits: Visits) => void): void {
  describeInChromium('the page', name, () => {
    let site: Site;
    let browser: Browser;
    beforeAll(async () => {
      if (shared?.isConnected() !== true) shared = await launch('no webgpu');
      browser = shared;
      site = await Site.at(inject('site'));
    }, 90_000);
    const visit: Visits['visit'] = (fragment, options) => Visit.begin(browser, site, fragment, options);
    tests({
      visit,
      at: (fragment) => site.at(fragment),
      share(fragment, options, prepare) {
        let opened: Visit;
        beforeAll(async () => {
          opened = await visit(fragment, options);
          await prepare?.(opened);
        }, 90_000);
        afterAll(() => opened?.end(), 60_000);
        return () => opened;
      },
    });
  });
}
