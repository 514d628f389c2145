/** Checks the links of a built site. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Returns the text of each page of a site by the page's path. */
function readPages(site: string): Map<string, string> {
  const names = readdirSync(site, { recursive: true, encoding: 'utf8' });
  const pages = names.filter((name) => name.endsWith('.html'));
  return new Map(pages.map((page) => [page, readFileSync(join(site, page), 'utf8')]));
}

/** Returns the first group of every match. */
const groupsOf = (text: string, pattern: RegExp): string[] =>
  Array.from(text.matchAll(pattern), ([, group]) => group);

/**
 * Checks that every link inside the site leads to an existing file and, after "#", to an element of that page.
 * @param site the folder of the built site.
 * @returns a sentence with the numbers of pages and links.
 * @throws Error that lists the broken links; also if the site has no links.
 */
export function checkLinks(site: string): string {
  const pages = readPages(site);
  const anchors = new Map(
    Array.from(pages, ([page, text]) => [page, new Set(groupsOf(text, /\bid="([^"]+)"/g))]),
  );
  const broken = new Set<string>();
  let count = 0;
  for (const [page, text] of pages) {
    for (const href of groupsOf(text, /<a\b[^>]*\bhref="([^"]+)"/g)) {
      if (/^\w+:/.test(href)) continue;
      count++;
      const [path, anchor] = decodeURIComponent(href.replaceAll('&amp;', '&')).split('#');
      const from = path.startsWith('/') ? '.' : posix.dirname(page);
      const target = path === '' ? page : posix.join(from, path.replace(/\/$/, '/index.html'));
      const exists = anchor ? anchors.get(target)?.has(anchor) : existsSync(join(site, target));
      if (!exists) broken.add(`${page}: ${href}`);
    }
  }
  if (count > 0 && broken.size === 0) return `${pages.size} pages, ${count} links: no link is broken.`;
  throw new Error(
    `Expected every link of the site to work, got ${broken.size} broken ones of ${count}. Correct them in the Markdown:\n${[...broken].join('\n')}`,
  );
}
