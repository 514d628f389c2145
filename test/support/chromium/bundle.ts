/** Bundles a module and its imports for browsers, in memory. */
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/** Returns the text of the bundle of a file of the repository. @throws if it imports a module of Node or a missing one. */
export function bundleFor(entry: string): string {
  const { outputFiles } = buildSync({
    absWorkingDir: fileURLToPath(new URL('../../..', import.meta.url)),
    entryPoints: [entry],
    write: false,
    logLevel: 'silent',
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
  });
  return outputFiles[0].text;
}
