/** Global setup of a test run: starts one server of the page for all tests. The first request builds the page. */
import type { TestProject } from 'vitest/node';
import { SiteServer } from './site.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The origin of the page's server. */
    site: string;
  }
}

/** @returns the teardown. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await SiteServer.open();
  project.provide('site', server.origin);
  return () => server.close();
}
