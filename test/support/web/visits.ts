/** Opens a browser for the tests of a `describe`, and visits the page in it. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';
import { launch } from '../chromium/chromium.js';
import { Site } from './site.js';
import { Visit, type VisitOptions } from './visit.js';

interface Visits {
  visit(fragment: string, options?: VisitOptions): Promise<Visit>;
  /** Returns the address of the page. */
  at(fragment: string): string;
}

/** Opens a browser without WebGPU before the tests, and closes it after them. */
export function setUpVisits(): Visits {
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
