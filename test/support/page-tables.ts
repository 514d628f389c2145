/** Tables of a page's section, as tests compare them with what they describe. */
import { readFileSync } from 'node:fs';

export interface Listed {
  /** "--seeds", sorted: of all rows whose first cell names options. */
  readonly options: readonly string[];
  /** Sorted: of all rows whose first cell is one name. */
  readonly columns: readonly string[];
}

/** @param page "docs/api.md". @param title of a section of the second level. */
export function listedIn(page: string, title: string): Listed {
  const [, rest] = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8').split(`\n## ${title}\n`);
  const [section] = rest.split('\n## ');
  const listed = (pattern: RegExp) => Array.from(section.matchAll(pattern), ([, name]) => name).sort();
  return {
    options: listed(/(?<=^\|[^|]*)`(--[\w-]+)`(?=[^|]*\|)/gm),
    columns: listed(/^\| `(\w+)` \|/gm),
  };
}

/** The options that a command's help lists, sorted. */
export const optionsOf = (help: string): string[] =>
  Array.from(help.matchAll(/^ {2}(--[\w-]+)/gm), ([, name]) => name).sort();
