/** Before and after all tests of a run: one server of the page for all of them. The first who asks has it built. */
import type { TestProject } from 'vitest/node';
import { SiteServer } from './site.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The origin of the page's server. */
    site: string;
  }
}

/** @returns what ends it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await SiteServer.open();
  project.provide('site', server.origin);
  return () => server.close();
}
