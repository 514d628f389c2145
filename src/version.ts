/** The package's version: results say by which they were made. */
import { readFileSync } from 'node:fs';

export function packageVersion(): string {
  // From src and dist alike.
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
