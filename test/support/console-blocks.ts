/** Reads the console blocks of a documentation page. */
import { readFileSync } from 'node:fs';

/** Returns the console blocks of a page, each without its last line break. */
export const consoleBlocks = (page: string): string[] => {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  return Array.from(text.matchAll(/^```console\n(.*?)\n```$/gms), ([, block]) => block);
};
