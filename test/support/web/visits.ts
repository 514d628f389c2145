/** Visits the page in a browser that all files of a process share. */
import type { Browser } from 'playwright-core';
import { beforeAll, inject } from 'vitest';
import { launch } from '../chromium/chromium.js';
import { Site } from './site.js';
import { Visit, type VisitOptions } from './visit.js';

interface Visits {
  visit(fragment: string, options?: VisitOptions): Promise<Visit>;
  /** Returns the address of the page. */
  at(fragment: string): string;
}

/** A browser without WebGPU. Playwright ends it when the process ends. */
let shared: Browser | null = null;

/** Opens the browser before the tests, if it is not open. Never closes it: visits that reuse its pages take half the time. */
export function setUpVisits(): Visits {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    if (shared?.isConnected() !== true) shared = await launch('no webgpu');
    browser = shared;
    site = await Site.at(inject('site'));
  }, 90_000);
  return {
    visit: (fragment, options) => Visit.begin(browser, site, fragment, options),
    at: (fragment) => site.at(fragment),
  };
}
