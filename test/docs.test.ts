/** The pages of documentation are true as far as a machine can tell: examples print what is said, links lead somewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Consumer, examplesOf } from './support/examples.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGES = [
  'README.md',
  'docs/api.md',
  'docs/commands.md',
  'docs/compatibility.md',
  'docs/exactness.md',
  'docs/graders.md',
  'docs/installing.md',
  'docs/language-models.md',
  'docs/page.md',
  'docs/publishing.md',
  'docs/report.md',
  'docs/server.md',
  'docs/speed.md',
  'docs/trajectories.md',
  'python/recipe/README.md',
];
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

it('every page of docs is looked at, and linked from the README', () => {
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  expect(PAGES).toEqual(expect.arrayContaining(pages.map((name) => `docs/${name}`)));
  for (const name of pages) expect(read('README.md')).toContain(`](docs/${name})`);
});

const examples = PAGES.flatMap((path) => examplesOf(read(path)).map((each) => ({ ...each, path })));

describe('examples are compiled strictly, run beside the compiled package, and print what is said', () => {
  let consumer: Consumer;
  beforeAll(() => {
    consumer = new Consumer(examples);
  });
  afterAll(() => consumer?.remove());

  it.each(examples.map((example, k) => ({ ...example, k })))('$path: $name', ({ prints, k }) => {
    expect(consumer.run(k)).toBe(prints);
  });

  it('are all found', () => {
    const blocks = PAGES.flatMap((path) => read(path).match(/^```(ts|text)$/gm) ?? []);
    const texts = examples.filter(({ prints }) => prints !== '');
    expect(blocks).toHaveLength(examples.length + texts.length);
    expect(texts.length).toBeGreaterThan(20);
  });

  it('one that does not compile is named', () => {
    const wrong = { name: 'Wrong, 1', code: "export const numEnvs: number = 'many';\n", prints: '' };
    expect(() => new Consumer([wrong])).toThrow(/example "Wrong, 1"\(1,14\).*TS2322/);
  });
});

/** A headline as a link names it. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

const anchorsOf = (path: string): string[] =>
  Array.from(read(path).matchAll(/^#+ (.*)$/gm), ([, title]) => anchorOf(title));

/** Whether an entry of package.json's `files` is a path, a folder around it, or a pattern that it follows. */
const packs = (entry: string, path: string): boolean =>
  path === entry ||
  path.startsWith(`${entry}/`) ||
  new RegExp(`^${entry.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`).test(path);

it.each(PAGES)('%s: links lead somewhere, in an installed package too', (path) => {
  const { files } = JSON.parse(read('package.json')) as { files: string[] };
  const links = Array.from(read(path).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link);
  for (const link of new Set(links)) {
    const [file, anchor] = link.split('#');
    const target = file === '' ? path : join(dirname(path), file);
    expect(existsSync(join(ROOT, target)), link).toBe(true);
    expect(
      files.some((entry) => packs(entry, target)),
      link,
    ).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(target)).toContain(anchor);
  }
});
