/** Checks the documentation: examples print the stated output, and links have targets. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Consumer, examplesOf } from '../support/examples.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = [
  'README.md',
  'python/README.md',
  'python/recipe/README.md',
  'python/rhythm_vec_env/README.md',
  ...['docs', 'docs/guides'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

it('the README links every page', () => {
  expect(PAGES.length).toBeGreaterThan(20);
  for (const path of PAGES.slice(1)) expect(read('README.md')).toContain(`](${path}`);
});

const examples = PAGES.flatMap((path) => examplesOf(read(path)).map((each) => ({ ...each, path })));

describe('examples', () => {
  let consumer: Consumer;
  beforeAll(() => {
    consumer = new Consumer(examples);
  });
  afterAll(() => consumer?.remove());

  it.each(examples.map((example, k) => ({ ...example, k })))(
    'print the stated output: $path, $name',
    ({ prints, k }) => {
      expect(consumer.run(k)).toBe(prints);
    },
  );

  it('are found in all ts and text blocks of the pages', () => {
    const blocks = PAGES.flatMap((path) => read(path).match(/^```(ts|text)$/gm) ?? []);
    const texts = examples.filter(({ prints }) => prints !== '');
    expect(blocks).toHaveLength(examples.length + texts.length);
    expect(texts.length).toBeGreaterThan(20);
  });
});

/** Returns the anchor of a heading. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

const anchorsOf = (path: string): string[] =>
  Array.from(read(path).matchAll(/^#+ (.*)$/gm), ([, title]) => anchorOf(title));

/** Returns whether an entry of package.json's `files` is a path, its folder, or a pattern that matches it. */
const isPacked = (entry: string, path: string): boolean =>
  path === entry ||
  path.startsWith(`${entry}/`) ||
  new RegExp(`^${entry.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`).test(path);

it.each(PAGES)('%s: links have targets, which are part of the package', (path) => {
  const { files } = JSON.parse(read('package.json')) as { files: string[] };
  const links = Array.from(read(path).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link);
  for (const link of new Set(links)) {
    const [file, anchor] = link.split('#');
    const target = file === '' ? path : join(dirname(path), file);
    expect(existsSync(join(ROOT, target)), link).toBe(true);
    expect(
      files.some((entry) => isPacked(entry, target)),
      link,
    ).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(target)).toContain(anchor);
  }
});
