/** Visits to the page in a browser of their own, for the tests of the `describe` that calls it. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';
import { launch } from '../browser/chromium.js';
import { Site } from './site.js';
import { Visit, type VisitOptions } from './visit.js';

interface Visiting {
  visit(fragment: string, options?: VisitOptions): Promise<Visit>;
  /** The page's address. */
  at(fragment: string): string;
}

/** Opens the browser before the tests, without WebGPU, and ends it after them. */
export function visiting(): Visiting {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([Site.at(inject('site')), launch('no webgpu')]);
  }, 90_000);
  afterAll(() => browser?.close(), 60_000);
  return {
    visit: (fragment, options) => Visit.begin(browser, site, fragment, options),
    at: (fragment) => site.at(fragment),
  };
}
