/**
 * Global setup of a test run: starts one server of the demo page for all tests, and looks for Chromium. The first request
 * builds the page.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { whyAbsent } from '../chromium/chromium.js';
import { SiteServer } from './site.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The origin of the page's server. */
    site: string;
    /** The reason why Chromium has no WebGPU here; null if it has. */
    whyNoChromium: string | null;
  }
}

/** @returns the teardown. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await SiteServer.open({ cached: true, shortTraining: true });
  project.provide('site', server.origin);
  project.provide('whyNoChromium', await whyAbsent());
  // Chromium leaves files if the process of the tests is killed before it ends.
  const files = mkdtempSync(join(tmpdir(), 'rhythm-browser-'));
  project.config.env.TMPDIR = files;
  return async () => {
    await server.close();
    rmSync(files, { recursive: true, force: true, maxRetries: 10 });
  };
}
