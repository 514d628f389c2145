/** Checks the links of a built site. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** The paths of a site's pages, each with the page's text. */
function readPages(site: string): Map<string, string> {
  const names = readdirSync(site, { recursive: true, encoding: 'utf8' });
  const pages = names.filter((name) => name.endsWith('.html'));
  return new Map(pages.map((page) => [page, readFileSync(join(site, page), 'utf8')]));
}

const all = (text: string, pattern: RegExp): string[] =>
  Array.from(text.matchAll(pattern), ([, found]) => found);

/**
 * Checks that every link inside the site leads to a file of it and, after "#", to an element of that page.
 * @param site the folder of the built site.
 * @returns how many pages and links there are, in words.
 * @throws Error that lists the links that lead nowhere, or that there are none.
 */
export function checkLinks(site: string): string {
  const pages = readPages(site);
  const anchors = new Map(Array.from(pages, ([page, text]) => [page, new Set(all(text, /\bid="([^"]+)"/g))]));
  const faults = new Set<string>();
  let count = 0;
  for (const [page, text] of pages) {
    for (const href of all(text, /<a\b[^>]*\bhref="([^"]+)"/g)) {
      if (/^\w+:/.test(href)) continue;
      count++;
      const [path, anchor] = decodeURIComponent(href.replaceAll('&amp;', '&')).split('#');
      const from = path.startsWith('/') ? '.' : posix.dirname(page);
      const target = path === '' ? page : posix.join(from, path.replace(/\/$/, '/index.html'));
      const leads = anchor ? anchors.get(target)?.has(anchor) : existsSync(join(site, target));
      if (!leads) faults.add(`${page}: ${href}`);
    }
  }
  if (count > 0 && faults.size === 0) return `${pages.size} pages, ${count} links: each leads somewhere.`;
  throw new Error(
    `Expected every link of the site to lead somewhere, got ${faults.size} of ${count} that do not. Correct them in the Markdown:\n${[...faults].join('\n')}`,
  );
}
