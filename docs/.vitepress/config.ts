/** The site: the README, the pages of docs and of the folder python, and the generated reference, with local search. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { linkReference } from './link-reference.js';

/** The pages, as build.ts has gathered them. */
const PAGES = fileURLToPath(new URL('../.site', import.meta.url));

const guides = (...names: string[]): string[] => names.map((name) => `docs/guides/${name}`);
const docs = (...names: string[]): string[] => names.map((name) => `docs/${name}`);

/** Pages by group, in the order of the sidebar, without ".md". */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Start: [...docs('tutorial', 'installing', 'page'), 'python/README', ...guides('python')],
  Play: guides('step', 'async-and-webgpu', 'snapshots-and-forks', 'policies', 'evaluation'),
  Train: [
    ...guides('rollouts', 'rewards', 'text'),
    ...docs('trajectories', 'students', 'language-models', 'publishing', 'scaling'),
    ...['python/recipe/README', 'python/rhythm_vec_env/README'],
  ],
  Reference: [
    ...docs('world', 'graders', 'grader-audit', 'commands', 'server'),
    ...guides('errors'),
    ...docs('exactness', 'speed'),
  ],
};

/** Returns a page's headline without backticks. */
function titleOf(page: string): string {
  const [, title] = /^# (.*)$/m.exec(readFileSync(join(PAGES, `${page}.md`), 'utf8'))!;
  return title.replaceAll('`', '');
}

const toLink = (page: string) => ({ text: titleOf(page), link: `/${page}` });

const REFERENCE = '/docs/reference/';

/** Returns the links to the pages of a subpath in the reference. */
function membersOf(subpath: string) {
  const files = readdirSync(join(PAGES, REFERENCE, subpath), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.md') && file !== 'index.md')
    .map((file) => ({ text: basename(file, '.md'), link: `${REFERENCE}${subpath}/${file.slice(0, -3)}` }))
    .sort((a, b) => a.text.localeCompare(b.text));
}

/**
 * Returns the sidebars of the reference by path. Each links to all subpaths, but only to the pages of its own subpath: all 250
 * links would be most of the text of each page.
 */
function referenceSidebars() {
  const entries = readdirSync(join(PAGES, REFERENCE), { withFileTypes: true });
  const subpaths = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const sidebarOf = (shown: string | null) => [
    {
      text: 'Reference',
      link: REFERENCE,
      items: subpaths.map((subpath) => ({
        text: `rhythm-vec/${subpath}`,
        link: `${REFERENCE}${subpath}/`,
        ...(subpath === shown && { items: membersOf(subpath) }),
      })),
    },
  ];
  return Object.fromEntries([
    [REFERENCE, sidebarOf(null)],
    ...subpaths.map((subpath) => [`${REFERENCE}${subpath}/`, sidebarOf(subpath)]),
  ]);
}

/** Checks that each page of docs is in a group, so that the site links to it. @throws Error for a page that is in no group. */
function checkListed(): void {
  const listed = new Set(Object.values(GROUPS).flat());
  for (const folder of ['docs', 'docs/guides']) {
    for (const file of readdirSync(join(PAGES, folder)).filter((name) => name.endsWith('.md'))) {
      const page = `${folder}/${basename(file, '.md')}`;
      if (!listed.has(page))
        throw new Error(`Expected ${page}.md in GROUPS of ${import.meta.url}, got none. Add it.`);
    }
  }
}

checkListed();

export default defineConfig({
  title: 'rhythm-vec',
  description: 'A batched simulation engine for the Rhythm life simulator',
  // An empty icon: without a link, browsers request /favicon.ico.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: '.site',
  rewrites: { 'README.md': 'index.md' },
  ignoreDeadLinks: false,
  markdown: { config: (md) => linkReference(md, join(PAGES, 'docs/reference')) },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/docs/tutorial' },
      { text: 'Guides', link: '/docs/guides/step' },
      { text: 'Reference', link: REFERENCE },
      { text: 'The world', link: '/docs/world' },
      { text: 'Commands', link: '/docs/commands' },
      // Not a page of VitePress, so the browser loads it.
      { text: 'Try it', link: '/page/index.html', target: '_self' },
    ],
    sidebar: {
      ...referenceSidebars(),
      '/': Object.entries(GROUPS).map(([text, pages]) => ({ text, items: pages.map(toLink) })),
    },
  },
});
