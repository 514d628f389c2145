/** The package's version, which result files record. */
import { readFileSync } from 'node:fs';

/** The version in a bundle, which scripts/bundle.js inserts. */
declare const RHYTHM_VERSION: string | undefined;

/** Returns the version, such as "1.2.3". */
export function packageVersion(): string {
  if (typeof RHYTHM_VERSION === 'string') return RHYTHM_VERSION;
  // The path is the same from src and from dist.
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
