/** Reads the option and column tables of a documentation page. */
import { readFileSync } from 'node:fs';

export interface PageNames {
  /** Options such as "--seeds" in first cells, sorted. */
  readonly options: readonly string[];
  /** First cells with one name in backticks and nothing else, sorted. */
  readonly columns: readonly string[];
}

/** Lists a section's options and columns. @param page such as "docs/commands.md". @param title of a second-level section. */
export function listedIn(page: string, title: string): PageNames {
  const [, rest] = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8').split(`\n## ${title}\n`);
  const [section] = rest.split('\n## ');
  const namesOf = (pattern: RegExp) => Array.from(section.matchAll(pattern), ([, name]) => name).sort();
  return {
    options: namesOf(/(?<=^\|[^|]*)`(--[\w-]+)`(?=[^|]*\|)/gm),
    columns: namesOf(/^\| `(\w+)` \|/gm),
  };
}

/** Returns the options in a command's help, sorted, except global options and options with a short form. */
export const optionsOf = (help: string): string[] =>
  Array.from(help.split('Global Options:')[0].matchAll(/^ {2}(--[\w-]+)/gm), ([, name]) => name).sort();

/** Returns the console blocks of a page, each without its last line break. */
export const consoleBlocks = (page: string): string[] => {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  return Array.from(text.matchAll(/^```console\n(.*?)\n```$/gms), ([, block]) => block);
};
