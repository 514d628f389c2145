/** The package's version, which result files record. */
import { readFileSync } from 'node:fs';

export function packageVersion(): string {
  // The path is the same from src and from dist.
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
