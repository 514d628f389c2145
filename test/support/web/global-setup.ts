/**
 * Global setup of a test run: starts one server of the demo page for all tests, and looks for Chromium. The first request
 * builds the page.
 */
import type { TestProject } from 'vitest/node';
import { whyAbsent } from '../chromium/chromium.js';
import { SiteServer } from './site.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The origin of the page's server. */
    site: string;
    /** The reason why Chromium does not start here or has no WebGPU; null if it starts with WebGPU. */
    whyNoChromium: string | null;
  }
}

/** @returns the teardown. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await SiteServer.open({ cached: true, isShort: true });
  project.provide('site', server.origin);
  project.provide('whyNoChromium', await whyAbsent());
  return () => server.close();
}
